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

use super::{Allocation, Held, Rest, SPAN};
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

impl Allocation {
    /// Returns how often clears of any image were noted in the allocation. Other images in the
    /// same bytes must observe the clears, too.
    pub(crate) fn noted(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.noted.load(Ordering::Acquire))
    }

    /// Clears bytes that belong to one optimal image only and that a submission has begun to use.
    /// Every `LINE` bytes from the first on become `line`. Whole spans are noted, and the
    /// remaining bytes are written. Returns false and does nothing if the range contains no whole
    /// span.
    pub(super) fn note_clear(&self, range: Range<u64>, number: u64, line: &Line) -> bool {
        let Some(rest) = &self.rest else { return false };
        let spans = rest.touched(&range);
        let whole = range.start.div_ceil(SPAN as u64)..range.end.min(self.length as u64) / SPAN as u64;
        if whole.is_empty() {
            return false;
        }
        let (line, mut moved) = (Arc::new(*line), rest.moved.lock());
        for span in spans {
            if whole.contains(&(span as u64)) && rest.spans[span].clear(number) {
                moved.held[span] = Held::Cleared(line.clone());
                rest.shared.count(Stat::SpansCleared, 1);
            } else {
                // The span is only partly in the range, or is excluded because a buffer was bound
                // to it.
                let all = Rest::bytes(span, self.length);
                let start = all.start.max(usize::try_from(range.start).unwrap_or(usize::MAX));
                self.write_lines(start..all.end.min(usize::try_from(range.end).unwrap_or(usize::MAX)), &line);
            }
        }
        rest.noted.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Writes copies of a line to bytes that nothing else uses.
    pub(super) fn write_lines(&self, range: Range<usize>, line: &Line) {
        for start in range.clone().step_by(LINE) {
            self.write(start as u64, &line.bytes()[..LINE.min(range.end - start)]);
        }
    }
}
