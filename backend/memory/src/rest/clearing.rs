//! Clears of whole images: they are noted, and written when somebody needs the bytes.
//!
//! A span that is cleared wholly keeps its pages, but what is in them counts no more: its line does. Who uses it next writes that line, unless it
//! overwrites the span anyway, as passes do that begin with a clear; copies read the line; and when the span is idle its pages go without being
//! read. So a clear costs a word for 64 KiB. Source: DESIGN 3.6 (clears cost control bits instead of bytes).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Allocation, Held, Rest, SPAN};
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

impl Allocation {
    /// How often clears were noted in it, of whatever image: who uses another one of the same bytes must see that, too.
    pub(crate) fn noted(&self) -> u64 {
        self.rest.as_ref().map_or(0, |rest| rest.noted.load(Ordering::Acquire))
    }

    /// Clears bytes that an optimal image has for itself, and that a submission has begun to use: each `LINE` of them, from the first on, is to be
    /// `line`. Whole spans are noted, the rest is written. False, and nothing is done, where there is no whole span.
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
                // A buffer was bound there, or it is another image's, too.
                let all = Rest::bytes(span, self.length);
                let start = all.start.max(usize::try_from(range.start).unwrap_or(usize::MAX));
                self.write_lines(start..all.end.min(usize::try_from(range.end).unwrap_or(usize::MAX)), &line);
            }
        }
        rest.noted.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Writes a line again and again to bytes that nobody else uses.
    pub(super) fn write_lines(&self, range: Range<usize>, line: &Line) {
        for start in range.clone().step_by(LINE) {
            self.write(start as u64, &line.bytes()[..LINE.min(range.end - start)]);
        }
    }
}
