//! Reads of compacted images: copies decode the lines that they read, and make nothing resident.
//!
//! Lines pass through a small direct-mapped cache that lives as long as a command. Copies read
//! texels row by row, so they access each line once per row. Source: DESIGN 3.6.

use std::io;

use super::{Allocation, Held, InUse, LINES, SPAN, State};
use crate::PlaneRef;
use crate::near::Stat;
use crate::near::codec::{LINE, Line};

/// Lines of the cache: one row of lines of an image that is 8192 four-byte texels wide.
const CACHED: usize = 1024;
/// Number of an empty cache entry.
const NONE: u64 = u64::MAX;

/// Reader of texels of a partly compacted image, for a submission or another use of images.
pub struct Reading<'a> {
    in_use: &'a InUse<'a>,
    memory: &'a Allocation,
    lines: Box<[(u64, Line)]>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(in_use: &'a InUse<'a>, memory: &'a Allocation) -> Self {
        Self { in_use, memory, lines: vec![(NONE, Line::ZERO); CACHED].into() }
    }

    /// Reads a rectangle of texels of a plane of the image, as [`PlaneRef::read_rows`] does.
    pub fn read_rows(&mut self, plane: &PlaneRef<'_>, rect: [u32; 4], sample: u32, out: &mut [u8]) {
        plane.read_rows_by(rect, sample, out, |address, out| self.read(address, out));
    }

    /// Reads bytes of the image's memory at an address.
    pub fn read(&mut self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (line, start) = (self.line(address / LINE as u64), (address % LINE as u64) as usize);
            let (now, rest) = out.split_at_mut(out.len().min(LINE - start));
            now.copy_from_slice(&line.bytes()[start..start + now.len()]);
            address += now.len() as u64;
            out = rest;
        }
    }

    fn line(&mut self, number: u64) -> &Line {
        let (held, line) = &mut self.lines[number as usize % CACHED];
        if *held != number {
            *held = number;
            if let Err(error) = self.memory.read_line(number, self.in_use.number(), line) {
                self.in_use.fail(&error);
            }
        }
        line
    }
}

impl Allocation {
    /// Returns true if some of these bytes are compacted. The others stay resident for the
    /// submission.
    pub(crate) fn rests_for(&self, range: std::ops::Range<u64>, number: u64) -> bool {
        let Some(rest) = &self.rest else { return false };
        // Every span must be marked, so the iteration must not stop early.
        rest.spans[rest.touched(&range)].iter().filter(|span| !span.mark(number)).count() > 0
    }

    /// Reads a line for a submission, from compacted or resident spans. Bytes behind the end of
    /// the allocation are zeros.
    fn read_line(&self, line: u64, number: u64, out: &mut Line) -> io::Result<()> {
        let of_span = (SPAN / LINE) as u64;
        let span = self.rest.as_ref().and_then(|rest| Some((rest, usize::try_from(line / of_span).ok()?)));
        let Some((rest, span)) = span.filter(|(rest, span)| *span < rest.spans.len()) else {
            *out = Line::ZERO;
            return Ok(());
        };
        if !rest.spans[span].mark(number) {
            let moved = rest.moved.lock();
            // No span is under compaction now. Another thread may have made this one resident
            // meanwhile.
            let state = rest.spans[span].get().state();
            if matches!(state, State::Resting | State::Cleared) {
                rest.shared.count(Stat::LinesRead, 1);
                match &moved.held[span] {
                    Held::Raw | Held::Zeros => *out = Line::ZERO,
                    Held::Uniform(line) | Held::Cleared(line) => *out = **line,
                    Held::Coded { slot, codec, .. } => {
                        let place = (line % of_span) as usize;
                        let codec = &moved.codecs[usize::from(*codec)].0;
                        return rest.shared.get_line(*slot, (place / LINES, place % LINES), codec, out);
                    }
                }
                return Ok(());
            }
            // The mark must precede the release of the lock, so that the span is not compacted
            // again.
            rest.spans[span].mark(number);
        }
        let start = line * LINE as u64;
        let bytes = LINE.min(usize::try_from(self.size().saturating_sub(start)).unwrap_or(LINE));
        *out = Line::ZERO;
        self.read(start, &mut out.bytes_mut()[..bytes]);
        Ok(())
    }
}
