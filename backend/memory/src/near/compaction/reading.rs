//! Reads of compacted images: copies decode the lines that they read, and make nothing resident.
//!
//! Lines pass through a small direct-mapped cache that lives as long as a command. Copies read
//! texels row by row, so they access each line once per row. Source: DESIGN 3.6.

use std::io;
use std::ops::Range;

use super::span::SpanState;
use super::{CompactableMemory, FarError, InUse, LINES, SPAN, SpanStorage};
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

/// Lines of the cache: one row of lines of an image that is 8192 four-byte texels wide.
const CACHED_LINES: usize = 1024;
/// Number of an empty cache entry.
const EMPTY: u64 = u64::MAX;

/// Reader of texels of a partly compacted image, for a submission or another use of images.
pub struct Reading<'a> {
    in_use: &'a InUse<'a>,
    memory: &'a CompactableMemory,
    /// Lines with their numbers.
    lines: Box<[(u64, Line)]>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(in_use: &'a InUse<'a>, memory: &'a CompactableMemory) -> Self {
        Self { in_use, memory, lines: vec![(EMPTY, Line::ZERO); CACHED_LINES].into() }
    }

    /// Reads bytes of the image's memory at an address.
    pub fn read(&mut self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (line, start) = (self.line(address / LINE as u64), (address % LINE as u64) as usize);
            let (part, remaining) = out.split_at_mut(out.len().min(LINE - start));
            part.copy_from_slice(&line.bytes()[start..start + part.len()]);
            address += part.len() as u64;
            out = remaining;
        }
    }

    fn line(&mut self, number: u64) -> &Line {
        let (cached, line) = &mut self.lines[number as usize % CACHED_LINES];
        if *cached != number {
            *cached = number;
            if let Err(error) = self.memory.read_line(number, self.in_use.number(), line) {
                self.in_use.fail(&FarError::Read(error));
            }
        }
        line
    }
}

impl CompactableMemory {
    /// Returns true if some of these bytes are compacted. The others stay resident for the
    /// submission.
    pub fn has_compacted(&self, range: &Range<u64>, number: u64) -> bool {
        // Every span must be marked, so the iteration must not stop early.
        self.spans[self.touched(range)].iter().filter(|span| !span.mark(number)).count() > 0
    }

    /// Reads a line for a submission, from compacted or resident spans. Bytes behind the end of
    /// the memory are zeros.
    fn read_line(&self, line: u64, number: u64, out: &mut Line) -> io::Result<()> {
        let span_lines = (SPAN / LINE) as u64;
        let span = usize::try_from(line / span_lines).ok().filter(|span| *span < self.spans.len());
        let Some(span) = span else {
            *out = Line::ZERO;
            return Ok(());
        };
        let line = (line % span_lines) as usize;
        if !self.spans[span].mark(number) {
            let table = self.table.lock();
            // Another thread may have made the span resident meanwhile.
            let state = self.spans[span].get().state();
            if matches!(state, SpanState::Compacted | SpanState::Cleared) {
                match &table.storage[span] {
                    SpanStorage::Cleared(_, groups) if groups >> (line / LINES) & 1 == 0 => {
                        self.read_raw(span, line, out);
                        return Ok(());
                    }
                    SpanStorage::Raw | SpanStorage::Zeros => *out = Line::ZERO,
                    SpanStorage::Uniform(line) | SpanStorage::Cleared(line, _) => *out = **line,
                    SpanStorage::Coded { slot, codec, .. } => {
                        let place = (line / LINES, line % LINES);
                        self.state.get_line(*slot, place, table.codec(*codec), out)?;
                    }
                }
                self.state.count(Stat::LinesRead, 1);
                return Ok(());
            }
            // The mark must precede the release of the lock, so that the span is not compacted
            // again.
            self.spans[span].mark(number);
        }
        self.read_raw(span, line, out);
        Ok(())
    }

    /// Reads a line of a span from memory.
    fn read_raw(&self, span: usize, line: usize, out: &mut Line) {
        let bytes = self.bytes(span);
        let start = bytes.start + line * LINE;
        *out = Line::ZERO;
        self.copy_to(start.min(bytes.end)..bytes.end.min(start + LINE), out.bytes_mut());
    }
}
