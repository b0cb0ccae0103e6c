//! Clears of whole images: they are noted, and written when an access needs the bytes.
//!
//! A span that is cleared wholly keeps its pages, but the pages are outdated and the noted line
//! replaces their bytes. The next user of the span writes that line, unless the user overwrites
//! the span, as passes that begin with a clear do. Copies read the line. When the span becomes
//! idle, its pages are discarded without being read. A clear thus costs one word for 64 KiB.
//! Source: DESIGN 3.6 (clears cost control bits instead of bytes).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{CompactableMemory, SPAN, SpanStorage};
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

impl CompactableMemory {
    /// Returns how often clears of any image were noted in the memory. Other images in the same
    /// bytes must observe the clears, too.
    pub fn noted_clears(&self) -> u64 {
        self.noted_clears.load(Ordering::Acquire)
    }

    /// Clears bytes that belong to one optimal image only and that a submission has begun to use.
    /// Every `LINE` bytes from the first on become `line`. Whole spans are noted, and the
    /// remaining bytes are written. Returns false and does nothing if the range contains no whole
    /// span.
    pub(super) fn note_clear(&self, range: &Range<u64>, number: u64, line: &Line) -> bool {
        let whole = range.start.div_ceil(SPAN as u64)..range.end.min(self.map.len() as u64) / SPAN as u64;
        if whole.is_empty() {
            return false;
        }
        let bytes = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
        let (line, mut table) = (Arc::new(*line), self.table.lock());
        for span in self.touched(range) {
            if whole.contains(&(span as u64)) && self.spans[span].clear(number) {
                table.storage[span] = SpanStorage::Cleared(line.clone());
                self.state.count(Stat::SpansCleared, 1);
            } else {
                // The span is only partly in the range, or is pinned because a buffer was bound to
                // it.
                let all = self.bytes(span);
                self.write_lines(all.start.max(bytes(range.start))..all.end.min(bytes(range.end)), &line);
            }
        }
        self.noted_clears.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Writes copies of a line to bytes that nothing else uses.
    pub(super) fn write_lines(&self, range: Range<usize>, line: &Line) {
        for start in range.clone().step_by(LINE) {
            self.copy_from(start, &line.bytes()[..LINE.min(range.end - start)]);
        }
    }
}
