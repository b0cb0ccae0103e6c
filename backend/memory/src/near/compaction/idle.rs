//! Compaction of idle spans, and its order.
//!
//! A span that was cleared and not used since only loses its pages.
//!
//! Spans of one large page of the system are compacted together. First come spans whose contents
//! are lost, which need no coding. Then come spans of images that are only read from now on, then
//! the least recently written spans. Among equally recent spans, those with the fewest coded bytes
//! come first, as far as their last compaction shows.
//!
//! Bytes are coded without a lock. A submission that uses a span meanwhile changes the span's word
//! and goes on, and the compaction of this span is abandoned. The memory's lock is held only while
//! spans become compacted and their pages are discarded. Source: DESIGN 3.6, the compaction daemon.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use parking_lot::MutexGuard;
use smallvec::SmallVec;

use super::clearing::ALL_GROUPS;
use super::span::{Span, SpanState};
use super::{
    BoundImage, CompactableMemory, GROUPS, LARGE_PAGE_SPANS, Lines, MAX_IDLE_INTERVALS, SpanStorage, SpanTable, lines,
};
use crate::near::Stat;
use crate::near::codec::{Codec, LINE};

/// Priority of a group of spans for compaction. The least value is compacted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Priority {
    is_needed: bool,
    is_written: bool,
    /// Number of the last submission that wrote any of the images.
    written: u64,
    /// Estimate of the bytes that the spans occupy while compacted.
    bytes: u64,
}

/// Group of spans of a memory, some of which are idle.
struct IdleSpans<'a> {
    priority: Priority,
    memory: &'a Weak<CompactableMemory>,
    spans: Range<usize>,
}

/// Span whose bytes were coded while no submission used it.
pub(super) struct CodedSpan {
    pub(super) span: usize,
    /// Number of the submission that used it last when the compaction began.
    pub(super) used: u64,
    pub(super) is_lost: bool,
    pub(super) storage: SpanStorage,
}

/// Images and codecs of spans, as the memory's table had them before a compaction.
struct CodingInputs {
    images: SmallVec<[BoundImage; 4]>,
    codecs: SmallVec<[(u8, Codec); LARGE_PAGE_SPANS]>,
}

/// Result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No resident span is left that may be compacted later.
    AllCompacted,
    /// Some resident spans are left.
    SomeResident,
}

/// Limits of a compaction.
pub(super) struct Limits<'a> {
    /// Returns the submission since which no other may have used a span, for the memory's idle
    /// period.
    pub before: &'a dyn Fn(usize) -> u64,
    /// Returns true when enough memory is free.
    pub is_enough: &'a dyn Fn() -> bool,
    /// Approximate number of bytes to read at most.
    pub max_bytes: usize,
}

impl Outcome {
    /// Returns the outcome of a compaction of memories that has ended.
    pub fn of(memories: &[Weak<CompactableMemory>]) -> Self {
        let has_pages = |span: &Span| matches!(span.get().state(), SpanState::Resident | SpanState::Cleared);
        let is_left = |memory: Arc<CompactableMemory>| memory.spans.iter().any(has_pages);
        if memories.iter().filter_map(Weak::upgrade).any(is_left) { Self::SomeResident } else { Self::AllCompacted }
    }
}

/// Compacts spans of memories within limits. Memories that are freed meanwhile are skipped.
pub(super) fn compact_idle(memories: &[Weak<CompactableMemory>], interval: u64, limits: &Limits<'_>) -> Outcome {
    let mut idle: Vec<IdleSpans<'_>> = memories.iter().flat_map(|memory| idle_spans(memory, limits.before)).collect();
    idle.sort_unstable_by_key(|idle| idle.priority);
    let (mut scratch, mut read) = (None, 0);
    for IdleSpans { memory, spans, .. } in idle {
        if read >= limits.max_bytes || (limits.is_enough)() {
            return Outcome::SomeResident;
        }
        let Some(memory) = memory.upgrade() else { continue };
        memory.compacted_at.store(interval, Ordering::Relaxed);
        let scratch = scratch.get_or_insert_with(lines);
        read += memory.compact_spans(spans, (limits.before)(memory.idle_intervals()), scratch);
    }
    Outcome::of(memories)
}

/// Returns true if the contents of a span are not needed: all images in the span have lost them or
/// are destroyed.
fn is_lost(images: &[BoundImage], span: usize) -> bool {
    images.iter().filter(|image| image.covers(span)).all(BoundImage::is_lost)
}

/// Returns the groups of spans of a memory of which some are idle.
fn idle_spans<'a>(memory: &'a Weak<CompactableMemory>, before: &dyn Fn(usize) -> u64) -> Vec<IdleSpans<'a>> {
    let Some(owner) = memory.upgrade() else { return Vec::new() };
    let (before, count) = (before(owner.idle_intervals()), owner.spans.len());
    let groups = (0..count).step_by(LARGE_PAGE_SPANS).map(|start| start..(start + LARGE_PAGE_SPANS).min(count));
    let is_idle = |spans: &Range<usize>| owner.spans[spans.clone()].iter().any(|span| span.get().is_idle(before));
    let idle = groups.filter(is_idle).map(|spans| {
        let priority = owner.priority(&owner.table.lock(), spans.clone(), before);
        IdleSpans { priority, memory, spans }
    });
    idle.collect()
}

impl CompactableMemory {
    fn priority(&self, table: &SpanTable, spans: Range<usize>, before: u64) -> Priority {
        let images = table.images_in(&spans);
        let idle = spans.filter(|&span| self.spans[span].get().is_idle(before));
        let mut priority = Priority { is_needed: false, is_written: false, written: 0, bytes: 0 };
        for span in idle {
            priority.is_needed |= !is_lost(&images, span);
            priority.is_written |= !images.iter().any(|image| image.covers(span) && image.is_read_only());
            let written = images.iter().filter(|image| image.covers(span)).map(BoundImage::written);
            priority.written = written.fold(priority.written, u64::max);
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
            SpanStorage::Zeros | SpanStorage::Uniform(_) | SpanStorage::Cleared(..) => {
                self.state.count(stats.uniform, bytes);
            }
            SpanStorage::Coded { bytes, .. } => self.state.count(stats.coded, *bytes as usize),
        }
    }

    /// Returns the images and codecs of spans. Idle spans of which some groups are cleared become
    /// resident, so that they can be coded.
    fn prepare_coding(&self, spans: &Range<usize>, before: u64) -> CodingInputs {
        let mut table = self.table.lock();
        for span in spans.clone() {
            let word = self.spans[span].get();
            let is_partly =
                |storage: &SpanStorage| matches!(storage, SpanStorage::Cleared(_, groups) if *groups != ALL_GROUPS);
            if word.state() == SpanState::Cleared && word.is_idle(before) && is_partly(&table.storage[span]) {
                if let SpanStorage::Cleared(line, groups) = std::mem::take(&mut table.storage[span]) {
                    self.write_groups(span, groups, &line);
                }
                self.spans[span].set(SpanState::Resident, word.used());
            }
        }
        let codec = |span: usize| (table.codec_of[span], *table.codec(table.codec_of[span]));
        CodingInputs { images: table.images_in(spans), codecs: spans.clone().map(codec).collect() }
    }

    /// Compacts the spans that no submission from `before` on has used. Returns the number of
    /// bytes read.
    fn compact_spans(&self, spans: Range<usize>, before: u64, scratch: &mut Lines) -> usize {
        let CodingInputs { images, codecs } = self.prepare_coding(&spans, before);
        let mut coded: SmallVec<[CodedSpan; LARGE_PAGE_SPANS]> = SmallVec::new();
        let mut read = 0;
        for (span, codec) in spans.clone().zip(&codecs) {
            let Some(used) = self.spans[span].begin_compaction(before) else { continue };
            images.iter().filter(|image| image.covers(span)).for_each(BoundImage::evict_decoded);
            // The hints are read after the exchange: a new user of an image changes the word from
            // here on.
            let is_lost = is_lost(&images, span);
            let storage = if is_lost {
                SpanStorage::Zeros
            } else {
                read += self.bytes(span).len();
                self.encode(span, codec, scratch)
            };
            coded.push(CodedSpan { span, used, is_lost, storage });
        }
        self.discard_coded(spans, before, &images, coded);
        read
    }

    /// Makes coded spans and cleared spans compacted, unless a submission has used them meanwhile,
    /// and discards their pages.
    pub(super) fn discard_coded(
        &self,
        spans: Range<usize>,
        before: u64,
        images: &[BoundImage],
        coded: SmallVec<[CodedSpan; LARGE_PAGE_SPANS]>,
    ) {
        let mut table = self.table.lock();
        let (mut coded, mut run) = (coded.into_iter().peekable(), None);
        for span in spans {
            let is_compacted = match coded.next_if(|coded| coded.span == span) {
                Some(coded) => self.end_compaction(&mut table, coded, before),
                None => self.compact_cleared(&mut table, span, before, images),
            };
            if is_compacted {
                let bytes = self.bytes(span);
                run = match run.take() {
                    Some(Range { start, end }) if end == bytes.start => Some(start..bytes.end),
                    other => {
                        self.discard_pages(other);
                        Some(bytes)
                    }
                };
            }
        }
        // A user of a span waits for the lock, and thus until the pages are discarded.
        self.discard_pages(run);
        MutexGuard::unlock_fair(table);
    }

    /// Makes a coded span compacted. Returns false if it stays resident.
    fn end_compaction(&self, table: &mut SpanTable, coded: CodedSpan, before: u64) -> bool {
        let CodedSpan { span, used, is_lost, storage } = coded;
        let is_stored = !matches!(storage, SpanStorage::Raw);
        if !self.spans[span].end_compaction(used, is_stored, before) {
            self.state.count(Stat::PacksAbandoned, GROUPS);
            self.state.abandon(storage);
            return false;
        }
        if !is_stored {
            // Near memory has no room. The span stays raw until it was used again and was idle for
            // a long time.
            self.idle_intervals.store(MAX_IDLE_INTERVALS as u32, Ordering::Relaxed);
            return false;
        }
        self.note_compacted(table, span, storage, is_lost);
        true
    }

    /// Makes a span compacted if it is cleared. Returns false if it is not, or is in use.
    fn compact_cleared(&self, table: &mut SpanTable, span: usize, before: u64, images: &[BoundImage]) -> bool {
        let is_whole = matches!(table.storage[span], SpanStorage::Cleared(_, ALL_GROUPS));
        if !is_whole || !self.spans[span].compact_cleared(before) {
            return false;
        }
        let is_lost = is_lost(images, span);
        let storage = match &table.storage[span] {
            SpanStorage::Cleared(line, _) if !is_lost => SpanStorage::of_line(line),
            _ => SpanStorage::Zeros,
        };
        self.note_compacted(table, span, storage, is_lost);
        true
    }

    /// Records the storage of a span that has become compacted.
    fn note_compacted(&self, table: &mut SpanTable, span: usize, storage: SpanStorage, is_lost: bool) {
        let bytes = self.bytes(span).len();
        if is_lost {
            self.state.count(Stat::SpansLost, 1);
        } else {
            self.count_class(table, span, &storage, bytes);
        }
        self.state.count_compacted(&storage, bytes);
        table.last_bytes[span] = storage.bytes();
        table.storage[span] = storage;
    }

    /// Codes a span under compaction. Returns [`SpanStorage::Raw`] if
    /// near memory has no room.
    pub(super) fn encode(&self, span: usize, (index, codec): &(u8, Codec), scratch: &mut Lines) -> SpanStorage {
        let bytes = self.bytes(span);
        let target: &mut [u8] = bytemuck::cast_slice_mut(scratch.as_flattened_mut());
        target[bytes.len()..].fill(0);
        self.copy_to(bytes.clone(), target);
        let filled = &target[..bytes.len()];
        if filled.len() <= LINE || filled[LINE..] == filled[..filled.len() - LINE] {
            return SpanStorage::of_line(&scratch[0][0].into());
        }
        let slot = self.state.put(codec, scratch);
        slot.map_or(SpanStorage::Raw, |slot| SpanStorage::Coded { slot: slot.number, codec: *index, bytes: slot.bytes })
    }

    /// Returns the pages of a range, which begins at a page boundary, to the system.
    fn discard_pages(&self, range: Option<Range<usize>>) {
        let Some(range) = range else { return };
        // SAFETY: the range lies inside the mapping, and its last page holds no data of another
        // owner. The bytes were saved, and no thread reads the range before it is written again.
        unsafe {
            libc::madvise(self.raw.as_mut_ptr().add(range.start).cast(), range.len(), libc::MADV_DONTNEED);
        }
    }
}
