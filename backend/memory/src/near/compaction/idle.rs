//! Compaction of idle spans, and its order.
//!
//! A span that was cleared and not used since only loses its pages.
//!
//! Spans that may lie in one large page of the system are compacted together. First come spans
//! whose contents are lost, which need no coding. Then come spans of images that are only read
//! from now on, then the least recently used spans. Among equally recent spans, those with the
//! fewest coded bytes come first, as far as their last compaction shows. Source: DESIGN 3.6, the
//! compaction daemon.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;

use super::span::{Span, SpanState};
use super::{BoundImage, CompactableMemory, Lines, MAX_IDLE_INTERVALS, SPAN, SpanStorage, SpanTable, lines};
use crate::near::Stat;
use crate::near::codec::LINE;

/// Number of spans that are compacted together: 2 MiB, the size of a large page.
const LARGE_PAGE_SPANS: usize = (2 << 20) / SPAN;

/// Priority of a group of spans for compaction. The least value is compacted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Priority {
    is_needed: bool,
    is_written: bool,
    /// Number of the last submission that used any of the spans.
    used: u64,
    /// Estimate of the bytes that the spans occupy while compacted.
    bytes: u64,
}

/// Group of spans of a memory, some of which are idle.
struct IdleSpans<'a> {
    priority: Priority,
    memory: &'a CompactableMemory,
    spans: Range<usize>,
}

/// Result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No resident span is left that may be compacted later.
    AllCompacted,
    /// Some resident spans are left.
    SomeResident,
}

/// Compacts spans of memories, until about `max_bytes` bytes were read. It selects spans that no
/// submission has used since the one that `before` returns for the memory's idle period.
pub(super) fn compact_idle(
    memories: &[Arc<CompactableMemory>],
    before: impl Fn(usize) -> u64,
    interval: u64,
    max_bytes: usize,
) -> Outcome {
    let mut idle: Vec<IdleSpans<'_>> = memories.iter().flat_map(|memory| memory.idle_spans(&before)).collect();
    idle.sort_unstable_by_key(|idle| idle.priority);
    let (mut scratch, mut read) = (None, 0);
    for IdleSpans { memory, spans, .. } in idle {
        if read >= max_bytes {
            return Outcome::SomeResident;
        }
        memory.compacted_at.store(interval, Ordering::Relaxed);
        let scratch = scratch.get_or_insert_with(lines);
        read += memory.compact_spans(spans, before(memory.idle_intervals()), scratch);
    }
    let has_pages = |span: &Span| matches!(span.get().state(), SpanState::Resident | SpanState::Cleared);
    let is_left = memories.iter().any(|memory| memory.spans.iter().any(has_pages));
    if is_left { Outcome::SomeResident } else { Outcome::AllCompacted }
}

/// Returns true if the contents of a span are not needed: all images in the span have lost them or
/// are destroyed.
fn is_lost(images: &[BoundImage], span: usize) -> bool {
    images.iter().filter(|image| image.covers(span)).all(BoundImage::is_lost)
}

impl CompactableMemory {
    /// Returns the groups of spans of which some are idle.
    fn idle_spans(&self, before: &impl Fn(usize) -> u64) -> Vec<IdleSpans<'_>> {
        let before = before(self.idle_intervals());
        let first = self.map.as_ptr().addr() / SPAN % LARGE_PAGE_SPANS;
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.spans.len() {
            // A group ends at the next boundary of large pages.
            let end = (start + first) / LARGE_PAGE_SPANS * LARGE_PAGE_SPANS + LARGE_PAGE_SPANS - first;
            let end = end.min(self.spans.len());
            if self.spans[start..end].iter().any(|span| span.get().is_idle(before)) {
                let priority = self.priority(&self.table.lock(), start..end, before);
                found.push(IdleSpans { priority, memory: self, spans: start..end });
            }
            start = end;
        }
        found
    }

    fn priority(&self, table: &SpanTable, spans: Range<usize>, before: u64) -> Priority {
        let images = table.images_in(&spans);
        let idle =
            spans.filter_map(|span| Some((span, self.spans[span].get())).filter(|(_, word)| word.is_idle(before)));
        let mut priority = Priority { is_needed: false, is_written: false, used: 0, bytes: 0 };
        for (span, word) in idle {
            priority.is_needed |= !is_lost(&images, span);
            priority.is_written |= !images.iter().any(|image| image.covers(span) && image.is_read_only());
            priority.used = priority.used.max(word.used());
            priority.bytes += u64::from(table.last_bytes[span]);
        }
        priority
    }

    /// Counts the storage of a compacted span of `bytes` bytes by the class of its image.
    fn count_class(&self, table: &SpanTable, span: usize, storage: &SpanStorage, bytes: usize) {
        let stats = table.codecs[usize::from(table.codec_of[span])].1.stats();
        self.state.count(stats.raw, bytes);
        match storage {
            SpanStorage::Raw => self.state.count(stats.coded, bytes),
            SpanStorage::Zeros | SpanStorage::Uniform(_) | SpanStorage::Cleared(_) => {
                self.state.count(stats.uniform, bytes);
            }
            SpanStorage::Coded { bytes, .. } => self.state.count(stats.coded, *bytes as usize),
        }
    }

    /// Compacts the spans that no submission from `before` on has used. Returns the number of
    /// bytes read.
    fn compact_spans(&self, spans: Range<usize>, before: u64, scratch: &mut Lines) -> usize {
        let mut table = self.table.lock();
        let mut run: Option<Range<usize>> = None;
        let mut read = 0;
        for span in spans {
            let Some(used) = self.spans[span].begin_compaction(before) else { continue };
            let bytes = self.bytes(span);
            // The images are read after the exchange: a new user of an image waits for the lock
            // from here on.
            let images = table.images_in(&(span..span + 1));
            images.iter().for_each(BoundImage::evict_decoded);
            let storage = if is_lost(&images, span) {
                self.state.count(Stat::SpansLost, 1);
                SpanStorage::Zeros
            } else {
                let storage = match &table.storage[span] {
                    SpanStorage::Cleared(line) => SpanStorage::of_line(line),
                    _ => {
                        read += bytes.len();
                        self.encode(&table, span, scratch)
                    }
                };
                self.count_class(&table, span, &storage, bytes.len());
                storage
            };
            if matches!(storage, SpanStorage::Raw) {
                // Near memory has no room. The span stays raw until it was used again and was idle
                // for a long time.
                self.idle_intervals.store(MAX_IDLE_INTERVALS as u32, Ordering::Relaxed);
                self.spans[span].set(SpanState::Resident, before.max(used));
                continue;
            }
            self.state.count_compacted(&storage, bytes.len());
            table.last_bytes[span] = storage.bytes();
            table.storage[span] = storage;
            // A user of the span waits for the lock, and thus until the pages are discarded.
            self.spans[span].set(SpanState::Compacted, used);
            run = match run.take() {
                Some(run) if run.end == bytes.start => Some(run.start..bytes.end),
                other => {
                    self.discard_pages(other);
                    Some(bytes)
                }
            };
        }
        self.discard_pages(run);
        MutexGuard::unlock_fair(table);
        read
    }

    /// Codes a span under compaction, which no submission uses. Returns [`SpanStorage::Raw`] if
    /// near memory has no room.
    fn encode(&self, table: &SpanTable, span: usize, scratch: &mut Lines) -> SpanStorage {
        let bytes = self.bytes(span);
        let target: &mut [u8] = bytemuck::cast_slice_mut(scratch.as_flattened_mut());
        target[bytes.len()..].fill(0);
        self.copy_to(bytes.clone(), target);
        let filled = &target[..bytes.len()];
        if filled.len() <= LINE || filled[LINE..] == filled[..filled.len() - LINE] {
            return SpanStorage::of_line(&scratch[0][0].into());
        }
        let codec = table.codec_of[span];
        let slot = self.state.put(table.codec(codec), scratch);
        slot.map_or(SpanStorage::Raw, |slot| SpanStorage::Coded { slot: slot.number, codec, bytes: slot.bytes })
    }

    /// Returns the pages of a range, which begins at a page boundary, to the system.
    fn discard_pages(&self, range: Option<Range<usize>>) {
        let Some(range) = range else { return };
        // SAFETY: the range lies inside the mapping, and its last page holds no data of another
        // owner. The bytes were saved, and no thread reads the range before it is written again.
        unsafe {
            libc::madvise(self.map.as_mut_ptr().add(range.start).cast(), range.len(), libc::MADV_DONTNEED);
        }
    }
}
