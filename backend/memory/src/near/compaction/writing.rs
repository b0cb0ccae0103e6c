//! Writes to compacted images: copies into a small part of an idle image change the lines that they
//! write, and make nothing resident.
//!
//! Lines pass through the compaction buffer, which gathers those of a page group. The buffer is
//! emptied at the end of the command. Source: DESIGN 3.6, the compaction buffer.

use parking_lot::MutexGuard;

use super::span::SpanState;
use super::{CompactableMemory, FarError, InUse, LINES, SPAN, SpanStorage, SpanTable, lines};
use crate::near::Stat;
use crate::near::codec::{Codec, LINE, Line};

/// Writer of texels of a partly compacted image, for a submission or another use of images.
pub struct Writing<'a> {
    in_use: &'a InUse<'a>,
    memory: &'a CompactableMemory,
}

/// Bytes to write to a line of a span.
struct LineBytes<'a> {
    /// Number of the line in its span.
    line: usize,
    /// First byte in the line.
    start: usize,
    data: &'a [u8],
}

impl<'a> Writing<'a> {
    pub(crate) fn new(in_use: &'a InUse<'a>, memory: &'a CompactableMemory) -> Self {
        Self { in_use, memory }
    }

    /// Writes bytes of the image's memory at an address.
    pub fn write(&self, mut address: u64, mut data: &[u8]) {
        while !data.is_empty() {
            let start = (address % LINE as u64) as usize;
            let (part, remaining) = data.split_at(data.len().min(LINE - start));
            if let Err(error) = self.memory.write_line(address, part, self.in_use.number()) {
                self.in_use.fail(&error);
            }
            address += part.len() as u64;
            data = remaining;
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.memory.state.flush() {
            self.in_use.fail(&FarError::Write(error));
        }
    }
}

impl CompactableMemory {
    /// Writes bytes of one line for a submission, to a compacted or a resident span. Bytes behind
    /// the end of the memory are dropped.
    fn write_line(&self, address: u64, data: &[u8], number: u64) -> Result<(), FarError> {
        let Some(address) = usize::try_from(address).ok().filter(|address| *address < self.raw.len()) else {
            return Ok(());
        };
        let span = address / SPAN;
        if !self.spans[span].mark(number) {
            let table = self.table.lock();
            // Another thread may have made the span resident meanwhile.
            match self.spans[span].get().state() {
                SpanState::Compacted => {
                    let bytes = LineBytes { line: address % SPAN / LINE, start: address % LINE, data };
                    if self.write_compacted(table, span, &bytes)? {
                        return Ok(());
                    }
                    // Near memory has no room for a slot. Compaction locks the memory, so it
                    // happens before the span is restored.
                    self.state.make_room(SPAN as u64);
                    self.restore_absent(self.table.lock(), span, number)?;
                }
                // A noted clear keeps the pages, so they need no room.
                _ => self.restore_absent(table, span, number)?,
            }
        }
        self.copy_from(address, &data[..data.len().min(self.raw.len() - address)]);
        Ok(())
    }

    /// Writes bytes of one line to a compacted span. Returns false if near memory has no room for
    /// the span, and the span must become resident.
    fn write_compacted(
        &self,
        mut table: MutexGuard<'_, SpanTable>,
        span: usize,
        bytes: &LineBytes<'_>,
    ) -> Result<bool, FarError> {
        let index = table.codec_of[span];
        let codec = *table.codec(index);
        let is_coded = self.state.ensure_coded(&mut table.storage[span], (index, &codec));
        if is_coded {
            self.write_coded(&table.storage[span], &codec, bytes)?;
        }
        Ok(is_coded)
    }

    /// Makes a span resident for a submission, unless another thread has done so.
    fn restore_absent(&self, mut table: MutexGuard<'_, SpanTable>, span: usize, number: u64) -> Result<(), FarError> {
        if matches!(self.spans[span].get().state(), SpanState::Compacted | SpanState::Cleared) {
            self.restore(&table, span, &mut lines()).map_err(FarError::Read)?;
            self.state.release(&std::mem::take(&mut table.storage[span]), self.bytes(span).len());
            self.set_resident(span, number);
        }
        // The mark must precede the release of the lock, so that the span is not compacted again.
        self.spans[span].mark(number);
        Ok(())
    }

    fn write_coded(&self, storage: &SpanStorage, codec: &Codec, bytes: &LineBytes<'_>) -> Result<(), FarError> {
        let SpanStorage::Coded { slot, .. } = storage else { return Ok(()) };
        let (mut line, place) = (Line::ZERO, (bytes.line / LINES, bytes.line % LINES));
        if bytes.data.len() < LINE {
            self.state.get_line(*slot, place, codec, &mut line).map_err(FarError::Read)?;
        }
        line.bytes_mut()[bytes.start..bytes.start + bytes.data.len()].copy_from_slice(bytes.data);
        self.state.put_line(*slot, place, codec, &line).map_err(FarError::Write)?;
        self.state.count(Stat::LinesWritten, 1);
        Ok(())
    }
}
