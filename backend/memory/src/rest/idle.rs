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

use super::super::Allocation;
use super::span::{Span, State};
use super::{Held, LOOKS, Lines, Moved, Rest, SPAN, lines};
use crate::near::Stat;
use crate::near::codec::LINE;

/// Number of spans that are compacted together: 2 MiB, the size of a large page.
const TOGETHER: usize = (2 << 20) / SPAN;

/// Priority of a group of spans for compaction. The least value is compacted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    is_needed: bool,
    is_written: bool,
    /// Number of the last submission that used any of the spans.
    used: u64,
    /// Estimate of the bytes that the spans occupy while compacted.
    bytes: u64,
}

/// Group of spans of an allocation, some of which are idle.
struct Idle<'a> {
    order: Order,
    allocation: &'a Allocation,
    rest: &'a Rest,
    spans: Range<usize>,
}

/// Result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No resident span is left that may be compacted later.
    All,
    /// Some resident spans are left.
    Some,
}

/// Compacts spans of allocations, until about `most` bytes were read. It selects spans that no
/// submission has used since the one that `before` returns for the allocation's idle period.
pub(super) fn rest(allocations: &[Arc<Allocation>], before: impl Fn(usize) -> u64, look: u64, most: usize) -> Outcome {
    let resting = allocations.iter().filter_map(|allocation| Some((&**allocation, allocation.rest.as_ref()?)));
    let mut idle: Vec<Idle<'_>> =
        resting.clone().flat_map(|(allocation, rest)| rest.idle(allocation, &before)).collect();
    idle.sort_unstable_by_key(|idle| idle.order);
    let (mut scratch, mut read) = (None, 0);
    for Idle { allocation, rest, spans, .. } in idle {
        if read >= most {
            return Outcome::Some;
        }
        rest.rested_at.store(look, Ordering::Relaxed);
        let scratch = scratch.get_or_insert_with(lines);
        read += allocation.rest_together(rest, spans, before(rest.patience()), scratch);
    }
    let has_pages = |span: &Span| matches!(span.get().state(), State::Awake | State::Cleared);
    let some = resting.clone().any(|(_, rest)| rest.spans.iter().any(has_pages));
    if some { Outcome::Some } else { Outcome::All }
}

impl Rest {
    /// Returns the groups of spans of which some are idle.
    fn idle<'a>(&'a self, allocation: &'a Allocation, before: &impl Fn(usize) -> u64) -> Vec<Idle<'a>> {
        let before = before(self.patience());
        let page = allocation.pointer.addr() / SPAN % TOGETHER;
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.spans.len() {
            // A group ends at the next boundary of large pages.
            let end = ((start + page) / TOGETHER * TOGETHER + TOGETHER - page).min(self.spans.len());
            if self.spans[start..end].iter().any(|span| span.get().is_idle(before)) {
                let order = self.order(&self.moved.lock(), start..end, before);
                found.push(Idle { order, allocation, rest: self, spans: start..end });
            }
            start = end;
        }
        found
    }

    fn order(&self, moved: &Moved, spans: Range<usize>, before: u64) -> Order {
        let images = moved.images_in(&spans);
        let idle =
            spans.filter_map(|span| Some((span, self.spans[span].get())).filter(|(_, said)| said.is_idle(before)));
        let mut order = Order { is_needed: false, is_written: false, used: 0, bytes: 0 };
        for (span, said) in idle {
            order.is_needed |= !is_lost(&images, span);
            order.is_written |= !images.iter().any(|image| image.covers(span) && image.is_read_only());
            order.used = order.used.max(said.used());
            order.bytes += u64::from(moved.took[span]);
        }
        order
    }
}

impl Rest {
    /// Counts the storage of a compacted span by the kind of its image.
    fn count_coded(&self, moved: &Moved, span: usize, held: &Held, bytes: usize) {
        let [raw, void, took] = moved.codecs[usize::from(moved.codec_of[span])].1.stats();
        self.shared.count(raw, bytes);
        match held {
            Held::Raw => self.shared.count(took, bytes),
            Held::Zeros | Held::Uniform(_) | Held::Cleared(_) => self.shared.count(void, bytes),
            Held::Coded { bytes, .. } => self.shared.count(took, *bytes as usize),
        }
    }
}

/// Returns true if the contents of a span are not needed: all images in the span have lost them or
/// are destroyed.
fn is_lost(images: &[super::Image], span: usize) -> bool {
    images.iter().filter(|image| image.covers(span)).all(super::Image::is_lost)
}

impl Allocation {
    /// Compacts the spans that no submission from `before` on has used. Returns the number of
    /// bytes read.
    fn rest_together(&self, rest: &Rest, spans: Range<usize>, before: u64, scratch: &mut Lines) -> usize {
        let mut moved = rest.moved.lock();
        let mut run: Option<Range<usize>> = None;
        let mut read = 0;
        for span in spans {
            let Some(used) = rest.spans[span].begin_to_rest(before) else { continue };
            let bytes = Rest::bytes(span, self.length);
            // The images are read after the exchange: a new user of an image waits for the lock
            // from here on.
            let images = moved.images_in(&(span..span + 1));
            images.iter().for_each(super::Image::drop_decoded);
            let held = if is_lost(&images, span) {
                rest.shared.count(Stat::SpansLost, 1);
                Held::Zeros
            } else {
                let held = match &moved.held[span] {
                    Held::Cleared(line) => Held::of_line(line),
                    _ => {
                        read += bytes.len();
                        self.code(rest, &moved, span, scratch)
                    }
                };
                rest.count_coded(&moved, span, &held, bytes.len());
                held
            };
            if matches!(held, Held::Raw) {
                // Near memory has no room. The span stays raw until it was used again and was idle
                // for a long time.
                rest.patience.store(LOOKS as u32, Ordering::Relaxed);
                rest.spans[span].set(State::Awake, before.max(used));
                continue;
            }
            rest.shared.count_rested(&held, bytes.len());
            moved.took[span] = held.took();
            moved.held[span] = held;
            // A user of the span waits for the lock, and thus until the pages are discarded.
            rest.spans[span].set(State::Resting, used);
            run = match run.take() {
                Some(run) if run.end == bytes.start => Some(run.start..bytes.end),
                other => {
                    self.give_back(other);
                    Some(bytes)
                }
            };
        }
        self.give_back(run);
        MutexGuard::unlock_fair(moved);
        read
    }

    /// Codes a span under compaction. Returns [`Held::Raw`] if near memory has no room.
    fn code(&self, rest: &Rest, moved: &Moved, span: usize, scratch: &mut Lines) -> Held {
        let bytes = Rest::bytes(span, self.length);
        let target: &mut [u8] = bytemuck::cast_slice_mut(scratch.as_flattened_mut());
        target[bytes.len()..].fill(0);
        // SAFETY: the span lies inside the mapping, and `target` is at least as long. No
        // submission uses the span.
        unsafe {
            std::ptr::copy_nonoverlapping(self.pointer.add(bytes.start), target.as_mut_ptr(), bytes.len());
        }
        let filled = &target[..bytes.len()];
        if filled.len() <= LINE || filled[LINE..] == filled[..filled.len() - LINE] {
            return Held::of_line(&scratch[0][0].into());
        }
        let codec = moved.codec_of[span];
        let slot = rest.shared.put(&moved.codecs[usize::from(codec)].0, scratch);
        slot.map_or(Held::Raw, |(slot, bytes)| Held::Coded { slot, codec, bytes })
    }

    /// Returns the pages of a range, which begins at a page boundary, to the system.
    fn give_back(&self, range: Option<Range<usize>>) {
        let Some(range) = range else { return };
        // SAFETY: the range lies inside the mapping, and its last page holds no data of another
        // owner. The bytes were saved, and no thread reads the range before it is written again.
        unsafe {
            libc::madvise(self.pointer.add(range.start).cast(), range.len(), libc::MADV_DONTNEED);
        }
    }
}
