//! Clears of images and of tiles: they are noted, and written when an access needs the bytes.
//!
//! A noted clear covers page groups of a span, whose bytes in memory are outdated: the noted line
//! replaces them. The next user of the span writes that line to the groups, unless the user
//! overwrites the span, as passes that begin with a clear do. Copies read the line. When all groups
//! of an idle span are noted, its pages are discarded without being read. A clear of 2 KiB thus
//! costs one bit. Source: DESIGN 3.6 (clears cost control bits instead of bytes).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{CompactableMemory, GROUP, GROUPS, SPAN, SpanStorage, SpanTable};
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

/// A bit for each page group of a span.
pub(super) type GroupMask = u32;
/// Mask of all groups of a span.
pub(super) const ALL_GROUPS: GroupMask = GroupMask::MAX;
const _: () = assert!(GROUPS == GroupMask::BITS as usize);

impl CompactableMemory {
    /// Returns how often clears of any image were noted in the memory. Other images in the same
    /// bytes must observe the clears, too.
    pub fn noted_clears(&self) -> u64 {
        self.noted_clears.load(Ordering::Acquire)
    }

    /// Clears bytes that belong to one optimal image only and that a submission has begun to use.
    /// Every `LINE` bytes from the first on become `line`. Whole groups of each of the ascending
    /// ranges are noted, and the remaining bytes are written.
    pub(super) fn note_clears(&self, ranges: impl Iterator<Item = Range<u64>>, number: u64, line: &Line) {
        let (line, mut table) = (Arc::new(*line), self.table.lock());
        let mut noted: (usize, GroupMask) = (0, 0);
        for range in ranges {
            let bytes = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
            for span in self.touched(&range) {
                let all = self.bytes(span);
                let part = all.start.max(bytes(range.start))..all.end.min(bytes(range.end));
                if span != noted.0 {
                    self.note_groups(&mut table, noted, number, &line);
                    noted = (span, 0);
                }
                let first = (part.start - all.start).div_ceil(GROUP);
                let groups = first..((part.end - all.start) / GROUP).max(first);
                // The ends of the part that are no whole groups.
                let (head, tail) = (all.start + groups.start * GROUP, all.start + groups.end * GROUP);
                self.write_lines(part.start..head.min(part.end), &line);
                self.write_lines(tail.clamp(part.start, part.end).max(head.min(part.end))..part.end, &line);
                noted.1 |= groups.fold(0, |mask, group| mask | 1 << group);
            }
        }
        self.note_groups(&mut table, noted, number, &line);
        self.noted_clears.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes that groups of a span are cleared, or writes them if the span is pinned because a
    /// buffer was bound to it.
    fn note_groups(&self, table: &mut SpanTable, (span, groups): (usize, GroupMask), number: u64, line: &Arc<Line>) {
        if groups == 0 {
            return;
        }
        if self.spans[span].clear(number) {
            table.storage[span] = SpanStorage::Cleared(line.clone(), groups);
            self.state.count(Stat::GroupsCleared, groups.count_ones() as usize);
            self.state.count(Stat::SpansCleared, usize::from(groups == ALL_GROUPS));
        } else {
            self.write_groups(span, groups, line);
        }
    }

    /// Writes copies of a line to page groups of a span.
    pub(super) fn write_groups(&self, span: usize, groups: GroupMask, line: &Line) {
        let bytes = self.bytes(span);
        for group in (0..GROUPS).filter(|group| groups >> group & 1 != 0) {
            let start = bytes.start + group * GROUP;
            self.write_lines(start..bytes.end.min(start + GROUP), line);
        }
    }

    /// Returns true if a range contains a whole span, so that noting its clear pays.
    pub fn has_whole_span(&self, range: &Range<u64>) -> bool {
        range.start.div_ceil(SPAN as u64) < range.end.min(self.raw.len() as u64) / SPAN as u64
    }

    /// Writes copies of a line to bytes that nothing else uses.
    pub(super) fn write_lines(&self, range: Range<usize>, line: &Line) {
        for start in range.clone().step_by(LINE) {
            self.copy_from(start, &line.bytes()[..LINE.min(range.end - start)]);
        }
    }
}
