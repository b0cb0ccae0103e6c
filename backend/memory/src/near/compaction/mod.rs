//! Compaction of idle images: spans that no submission uses are coded in near memory, and their
//! pages return to the system.
//!
//! Generated code reads and writes texels at addresses, so images in use are stored raw, at a
//! constant address. An allocation is divided into *spans* of 64 KiB. A span that contains only
//! optimal images is *compacted* after an idle period: its lines are coded, and the process's
//! pages are discarded. Before a submission uses an image, it makes the spans of the image
//! *resident*. Several submissions may do this at the same time.
//!
//! - Spans that may be compacted: spans of private memory that the host cannot map, to which no
//!   buffer and no linear image was ever bound. Memory that is accessed by a device address or a
//!   host pointer is therefore never compacted.
//! - Users: a running submission has a number ([`InUse`]) and writes it to each span that it uses.
//!   A span is idle if its number is less than the numbers of all running submissions.
//! - Synchronisation: a span is one word (`span`) with its state and the number of the last
//!   submission that used it. Compaction begins and ends with an exchange of the word, which fails
//!   if a submission has used the span. A submission that finds a span under compaction exchanges
//!   the word and continues, so it never waits for coding. All other changes happen under the
//!   memory's lock.
//! - Copies from an image decode lines of compacted spans (`reading`) and make nothing resident.
//!   Copies into small parts of an image write lines of compacted spans (`writing`).
//! - Clears of whole images, and of tiles that nothing is drawn to, are *noted* (`clearing`): the
//!   bytes are written when an access needs them.
//! - Hints from commands about images (`hints`) decide which spans are compacted first and which
//!   need no coding (`idle`).
//! - `residency`: near memory of a device, its submissions, and the residency thread, which
//!   compacts idle spans when memory is short (`pressure`).
//!
//! Compaction is lossless for every codec: a span that becomes resident again has the bytes it had
//! before. Source: DESIGN 3.6.

mod clearing;
mod hints;
mod idle;
mod pressure;
mod reading;
mod residency;
mod span;
mod writing;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use vitric_base::workers::Workers;

use self::clearing::GroupMask;
use self::residency::ResidencyState;
use self::span::{Span, SpanState};
use super::codec::{Codec, Line};
use super::{GROUP, LINES, Stat};
use crate::heap::Reservation;
use crate::private::{LARGE_PAGE, PrivateMemory};

pub(crate) use self::hints::{Evict, ImageHints};
pub use self::hints::{Hint, ImageAccess};
pub use self::reading::Reading;
pub use self::residency::{InUse, NearConfig, Residency};
pub use self::writing::Writing;

/// Bytes of a span.
const SPAN: usize = 64 << 10;
/// Page groups of a span.
pub(super) const GROUPS: usize = SPAN / GROUP;
/// Number of spans of a large page, which are compacted and become resident together.
const LARGE_PAGE_SPANS: usize = LARGE_PAGE / SPAN;
/// Minimum number of large pages from which on a thread makes a whole one resident at a time. With
/// fewer, the threads take single spans, so that all of them work until the end.
const MIN_WHOLE_LARGE_PAGES: usize = 4;
/// Maximum number of the residency thread's intervals for which a span must be idle.
const MAX_IDLE_INTERVALS: usize = 64;
/// Lines of a span, by page group.
type Lines = [[Line; LINES]];

/// Failed access to far memory, which loses contents of an image.
#[derive(Debug, thiserror::Error)]
enum FarError {
    /// Coded bytes cannot be read.
    #[error("far memory cannot be read: {0}: contents of an image are lost")]
    Read(io::Error),
    /// Coded bytes can be stored neither in near nor in far memory.
    #[error("far memory cannot be written: {0}: contents of an image are lost")]
    Write(io::Error),
}

/// Returns the number of consecutive spans that a thread makes resident at a time, if `absent`
/// spans are not resident.
///
/// Two threads that touch a large page at the same time both fill it with zeros. So a thread takes
/// a whole large page, or as large a part as leaves work for all threads.
fn part_spans(absent: usize, threads: usize) -> usize {
    if absent < MIN_WHOLE_LARGE_PAGES * LARGE_PAGE_SPANS {
        return 1;
    }
    let threads_of_page = threads.div_ceil(absent.div_ceil(LARGE_PAGE_SPANS)).max(1);
    (LARGE_PAGE_SPANS / threads_of_page).max(1)
}

fn lines() -> Box<[[Line; LINES]]> {
    vec![[Line::ZERO; LINES]; GROUPS].into()
}

/// Storage of the bytes of a span.
#[derive(Debug, Default)]
enum SpanStorage {
    /// Raw, at the span's address.
    #[default]
    Raw,
    /// All lines are zeros. The span has no pages.
    Zeros,
    /// All lines equal this line. The span has no pages.
    Uniform(Arc<Line>),
    /// All lines of some page groups equal this line. The span still has pages. Their bytes are
    /// outdated in these groups, and raw in the others.
    Cleared(Arc<Line>, GroupMask),
    /// Coded in a slot of near memory, with this size in bytes. `codec` is an index into the
    /// codecs of the memory.
    Coded { slot: u32, codec: u8, bytes: u32 },
}

impl SpanStorage {
    /// Returns the bytes that the span occupies.
    fn bytes(&self) -> u32 {
        match self {
            Self::Raw => SPAN as u32,
            Self::Zeros | Self::Uniform(_) | Self::Cleared(..) => 0,
            Self::Coded { bytes, .. } => *bytes,
        }
    }

    /// Returns the storage of a span without pages whose lines all equal `line`.
    fn of_line(line: &Arc<Line>) -> Self {
        if **line == Line::ZERO { Self::Zeros } else { Self::Uniform(line.clone()) }
    }
}

/// Classes of images for which the compression ratio is counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImageClass {
    /// Single-sampled colour with integer or normalized components.
    Color,
    /// Single-sampled colour with floating-point components.
    Hdr,
    /// Multisampled colour.
    Samples,
    /// Depth and stencil.
    Depth,
}

/// Counters of the bytes of a class of images.
struct ClassStats {
    /// Raw bytes of all compacted spans.
    raw: Stat,
    /// Raw bytes of the spans of one repeated line, which need no near memory.
    uniform: Stat,
    /// Near-memory bytes of the other spans.
    coded: Stat,
}

impl ImageClass {
    fn stats(self) -> ClassStats {
        let (raw, uniform, coded) = match self {
            Self::Color => (Stat::RawColor, Stat::UniformColor, Stat::CodedColor),
            Self::Hdr => (Stat::RawHdr, Stat::UniformHdr, Stat::CodedHdr),
            Self::Samples => (Stat::RawSamples, Stat::UniformSamples, Stat::CodedSamples),
            Self::Depth => (Stat::RawDepth, Stat::UniformDepth, Stat::CodedDepth),
        };
        ClassStats { raw, uniform, coded }
    }
}

/// Number of spans that a submission uses and that are not resident.
#[derive(Debug, Default, Clone, Copy)]
struct AbsentSpans {
    /// Compacted and cleared spans.
    absent: usize,
    /// Compacted spans. The heap counts the bytes of the cleared ones as resident.
    without_pages: usize,
}

/// Image that is or was bound to a memory.
#[derive(Debug, Clone)]
struct BoundImage {
    spans: Range<usize>,
    hints: Weak<ImageHints>,
}

impl BoundImage {
    fn covers(&self, span: usize) -> bool {
        self.spans.contains(&span)
    }

    /// Returns true if the contents are not needed: a command said so, or the image is destroyed.
    fn is_lost(&self) -> bool {
        self.hints.upgrade().is_none_or(|hints| hints.is_lost())
    }

    /// Drops the decoded texels of the image, because it is idle.
    fn evict_decoded(&self) {
        if let Some(hints) = self.hints.upgrade() {
            hints.evict_decoded();
        }
    }

    fn is_read_only(&self) -> bool {
        self.hints.upgrade().is_some_and(|hints| hints.is_read_only())
    }

    /// Returns the number of the last submission that wrote the image, or 0 if it is destroyed.
    fn written(&self) -> u64 {
        self.hints.upgrade().map_or(0, |hints| hints.written())
    }
}

/// State of the spans that the memory's lock protects.
#[derive(Debug)]
struct SpanTable {
    storage: Box<[SpanStorage]>,
    /// Spans to which something other than an optimal image is or was bound.
    pinned: Box<[bool]>,
    /// Indices of the spans' codecs in `codecs`.
    codec_of: Box<[u8]>,
    codecs: Vec<(Codec, ImageClass)>,
    /// Bytes of each span when it was last compacted, or an upper bound before that.
    last_bytes: Box<[u32]>,
    images: Vec<BoundImage>,
    /// Number of images at which destroyed images are removed from `images`.
    max_images: usize,
}

impl SpanTable {
    /// Creates the table of `count` raw spans.
    fn new(count: usize) -> Self {
        Self {
            storage: (0..count).map(|_| SpanStorage::Raw).collect(),
            pinned: vec![false; count].into(),
            codec_of: vec![0; count].into(),
            codecs: vec![(Codec::of_bytes(), ImageClass::Color)],
            last_bytes: vec![SPAN as u32; count].into(),
            images: Vec::new(),
            max_images: 0,
        }
    }

    /// Returns the images that touch some spans.
    fn images_in(&self, spans: &Range<usize>) -> SmallVec<[BoundImage; 4]> {
        let touches = |image: &&BoundImage| image.spans.start < spans.end && spans.start < image.spans.end;
        self.images.iter().filter(touches).cloned().collect()
    }

    /// Adds an image to the images of the memory.
    fn add_image(&mut self, image: BoundImage) {
        if self.images.len() >= self.max_images {
            self.images.retain(|image| image.hints.strong_count() > 0);
            self.max_images = (2 * self.images.len()).max(16);
        }
        self.images.push(image);
    }

    /// Returns the index of a codec in `codecs`, and adds the codec if it is new. Returns 0 if
    /// there are more than 256 codecs.
    fn codec_index(&mut self, codec: (Codec, ImageClass)) -> u8 {
        let known = self.codecs.iter().position(|known| *known == codec).unwrap_or_else(|| {
            self.codecs.push(codec);
            self.codecs.len() - 1
        });
        u8::try_from(known).unwrap_or_else(|_| {
            self.codecs.pop();
            0
        })
    }

    fn codec(&self, index: u8) -> &Codec {
        &self.codecs[usize::from(index)].0
    }
}

/// Private memory of an allocation, whose idle spans are compacted.
#[derive(Debug)]
pub(crate) struct CompactableMemory {
    raw: PrivateMemory,
    state: Arc<ResidencyState>,
    spans: Box<[Span]>,
    table: Mutex<SpanTable>,
    /// True once the device lists the memory.
    is_listed: AtomicBool,
    /// Number of the residency thread's intervals for which spans must be idle.
    idle_intervals: AtomicU32,
    /// Interval of the residency thread in which spans were last compacted.
    compacted_at: AtomicU64,
    /// Number of noted clears.
    noted_clears: AtomicU64,
    /// Bytes of the heap. The last field, because the heap gets its bytes back after the memory is
    /// unmapped. A compaction may keep the memory for longer than the allocation lives.
    #[expect(dead_code, reason = "its drop returns the bytes")]
    reservation: Arc<Reservation>,
}

impl CompactableMemory {
    /// Takes over zeroed memory, all of it raw, and keeps its reservation.
    ///
    /// # Errors
    /// Far memory is a file, and its disk has no room for the memory.
    pub fn new(
        state: &Arc<ResidencyState>,
        raw: PrivateMemory,
        reservation: &Arc<Reservation>,
    ) -> io::Result<Arc<Self>> {
        let count = raw.len().div_ceil(SPAN);
        state.reserve(count)?;
        Ok(Arc::new(Self {
            raw,
            state: state.clone(),
            spans: (0..count).map(|_| Span::default()).collect(),
            table: Mutex::new(SpanTable::new(count)),
            is_listed: AtomicBool::new(false),
            idle_intervals: AtomicU32::new(1),
            compacted_at: AtomicU64::new(0),
            noted_clears: AtomicU64::new(0),
            reservation: reservation.clone(),
        }))
    }

    /// Returns the spans that a range of bytes touches.
    fn touched(&self, range: &Range<u64>) -> Range<usize> {
        let span = |byte: u64| usize::try_from(byte / SPAN as u64).unwrap_or(usize::MAX);
        let end = span(range.end.saturating_add(SPAN as u64 - 1)).min(self.spans.len());
        span(range.start).min(end)..end
    }

    /// Returns the bytes of a span, clipped to the memory.
    fn bytes(&self, span: usize) -> Range<usize> {
        span * SPAN..self.raw.len().min((span + 1) * SPAN)
    }

    /// Copies the bytes of a range, which must lie in the memory, to the front of `out`, which must
    /// be at least as long. Bytes that another thread writes meanwhile may be torn.
    fn copy_to(&self, range: Range<usize>, out: &mut [u8]) {
        assert!(range.start <= range.end && range.end <= self.raw.len() && range.len() <= out.len());
        // SAFETY: the range lies in the mapping, and `out` is at least as long and distinct. The
        // bytes are plain data.
        unsafe {
            std::ptr::copy_nonoverlapping(self.raw.as_ptr().add(range.start), out.as_mut_ptr(), range.len());
        }
    }

    /// Copies `data` to the bytes from `start` on, which must lie in the memory.
    fn copy_from(&self, start: usize, data: &[u8]) {
        assert!(start <= self.raw.len() && data.len() <= self.raw.len() - start);
        // SAFETY: the range lies in the mapping, and `data` is distinct. The bytes are plain data.
        // A concurrent reader can only see torn values.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), self.raw.as_mut_ptr().add(start), data.len());
        }
    }

    /// Records that an optimal image is bound to these bytes, so that they may be compacted.
    /// `parts` are the codecs of parts of the range. The contents of the image are lost until its
    /// first use.
    pub fn bind_image(
        self: &Arc<Self>,
        range: &Range<u64>,
        parts: impl Iterator<Item = (Range<u64>, Codec)>,
        class: ImageClass,
        hints: &Arc<ImageHints>,
    ) {
        hints.take(Hint::Lost);
        let mut table = self.table.lock();
        let table = &mut *table;
        for (part, codec) in parts {
            let index = table.codec_index((codec, class));
            table.codec_of[self.touched(&part)].fill(index);
        }
        table.add_image(BoundImage { spans: self.touched(range), hints: Arc::downgrade(hints) });
        for span in self.touched(range) {
            let word = self.spans[span].get();
            if word.state() == SpanState::Pinned && !table.pinned[span] {
                self.spans[span].set(SpanState::Resident, word.used());
            }
        }
        if !self.is_listed.swap(true, Ordering::Relaxed) {
            self.state.list(Arc::downgrade(self));
        }
    }

    /// Returns true if an image other than the one with these hints holds data in spans that lie
    /// wholly in a range. Images created identically may share their memory and its contents.
    pub fn has_contents_of_others(&self, range: &Range<u64>, hints: &Arc<ImageHints>) -> bool {
        let span = SPAN as u64;
        let is_last = range.end >= self.raw.len() as u64;
        let end = if is_last { range.end.div_ceil(span) } else { range.end / span };
        let whole = range.start.div_ceil(span) as usize..end as usize;
        let is_other = |image: &BoundImage| !std::ptr::eq(image.hints.as_ptr(), Arc::as_ptr(hints)) && !image.is_lost();
        !whole.is_empty() && self.table.lock().images_in(&whole).iter().any(is_other)
    }

    /// Keeps these bytes resident for ever, because their uses are not tracked. Spans that are
    /// compacted become resident.
    pub fn keep_resident(&self, range: Range<u64>) {
        let touched = self.touched(&range);
        let compacted = self.pin(touched.clone(), |state| state != SpanState::Compacted);
        if compacted > 0 {
            // Compaction locks the memory, so it happens while no span is restored.
            self.state.make_room((compacted * SPAN) as u64);
            self.pin(touched, |_| true);
        }
    }

    /// Pins the spans in which `can_pin` is true for their state, and restores their bytes. Returns
    /// the number of the other spans.
    fn pin(&self, spans: Range<usize>, can_pin: impl Fn(SpanState) -> bool) -> usize {
        let (mut table, mut others) = (self.table.lock(), 0);
        for span in spans {
            table.pinned[span] = true;
            let state = self.spans[span].get().state();
            if !can_pin(state) {
                others += 1;
                continue;
            }
            if matches!(state, SpanState::Compacted | SpanState::Cleared) {
                match self.restore(&table, span, &mut lines()) {
                    Ok(()) => self.state.release(&std::mem::take(&mut table.storage[span]), self.bytes(span).len()),
                    Err(error) => self.state.fail(&FarError::Read(error)),
                }
            }
            self.spans[span].pin();
        }
        others
    }

    /// Marks all spans of a range as used by a submission, so that none that is resident is
    /// compacted from now on. Returns the number of the other spans.
    fn mark(&self, spans: Range<usize>, number: u64) -> AbsentSpans {
        let mut counts = AbsentSpans::default();
        for span in self.spans[spans].iter().filter(|span| !span.mark(number)) {
            counts.absent += 1;
            counts.without_pages += usize::from(span.get().state() == SpanState::Compacted);
        }
        counts
    }

    /// Marks spans as used by a submission, like [`Self::mark`]. If some of them are not resident,
    /// makes room for them and returns the locked table.
    fn lock_absent(&self, spans: Range<usize>, number: u64) -> Option<MutexGuard<'_, SpanTable>> {
        let AbsentSpans { absent, without_pages } = self.mark(spans, number);
        (absent > 0).then(|| {
            self.state.make_room((without_pages * SPAN) as u64);
            self.table.lock()
        })
    }

    /// Makes a range that a submission will use resident. Returns the number of spans that were
    /// not resident.
    ///
    /// # Errors
    /// An error of a file that is far memory.
    pub fn make_resident(&self, range: Range<u64>, number: u64, workers: &Workers) -> io::Result<usize> {
        let touched = self.touched(&range);
        let Some(mut table) = self.lock_absent(touched.clone(), number) else { return Ok(0) };
        // Spans that other threads have made resident meanwhile are marked for this submission,
        // too.
        let absent: Vec<usize> = touched.filter(|&span| !self.spans[span].mark(number)).collect();
        self.adapt_idle_intervals(&absent);
        let (failed, known): (_, &SpanTable) = (Mutex::new(Vec::new()), &table);
        let part = part_spans(absent.len(), workers.threads());
        let parts: Vec<&[usize]> = absent.chunk_by(|a, b| a / part == b / part).collect();
        workers.parallel(parts.len(), lines, |scratch, part| {
            for &span in parts[part] {
                match self.restore(known, span, scratch) {
                    Ok(()) => self.state.release(&known.storage[span], self.bytes(span).len()),
                    Err(error) => failed.lock().push((span, error)),
                }
            }
        });
        let mut failed = failed.into_inner();
        for &span in absent.iter().filter(|&span| failed.iter().all(|(failed, _)| failed != span)) {
            table.storage[span] = SpanStorage::Raw;
            self.set_resident(span, number);
        }
        failed.pop().map_or(Ok(absent.len()), |(_, error)| Err(error))
    }

    /// Makes a range that a submission will overwrite wholly resident. Its bytes are unspecified.
    ///
    /// # Errors
    /// Returns the errors of [`Self::make_resident`].
    pub fn make_overwritable(&self, range: Range<u64>, number: u64, workers: &Workers) -> io::Result<usize> {
        let touched = self.touched(&range);
        if let Some(mut table) = self.lock_absent(touched.clone(), number) {
            for span in touched {
                let bytes = self.bytes(span);
                let is_whole = range.start <= bytes.start as u64 && bytes.end as u64 <= range.end;
                let state = self.spans[span].get().state();
                if is_whole && matches!(state, SpanState::Compacted | SpanState::Cleared) {
                    self.state.discard(&std::mem::take(&mut table.storage[span]), bytes.len());
                    self.state.count(Stat::SpansOverwritten, usize::from(state == SpanState::Compacted));
                    self.set_resident(span, number);
                }
            }
        }
        self.make_resident(range, number, workers)
    }

    /// Writes the bytes of a compacted span to its address. No user of the span continues before
    /// the span is resident.
    fn restore(&self, table: &SpanTable, span: usize, scratch: &mut Lines) -> io::Result<()> {
        let bytes = self.bytes(span);
        match &table.storage[span] {
            // New pages are zeros.
            SpanStorage::Raw | SpanStorage::Zeros => return Ok(()),
            SpanStorage::Uniform(line) => {
                self.write_lines(bytes, line);
                return Ok(());
            }
            SpanStorage::Cleared(line, groups) => {
                self.write_groups(span, *groups, line);
                return Ok(());
            }
            SpanStorage::Coded { slot, codec, .. } => self.state.get(*slot, table.codec(*codec), scratch)?,
        }
        let source: &[u8] = bytemuck::cast_slice(scratch.as_flattened());
        self.copy_from(bytes.start, &source[..bytes.len()]);
        Ok(())
    }

    /// Marks a span resident for a submission and all later ones. The caller holds the memory's
    /// lock.
    fn set_resident(&self, span: usize, number: u64) {
        let before = self.spans[span].get().used();
        self.spans[span].set(SpanState::Resident, before.max(number));
    }

    /// Adapts the idle period of the memory when compacted spans are needed. The period doubles if
    /// they were compacted within the last period, and halves otherwise.
    fn adapt_idle_intervals(&self, spans: &[usize]) {
        if !spans.iter().any(|&span| self.spans[span].get().state() == SpanState::Compacted) {
            return;
        }
        let intervals = self.idle_intervals.load(Ordering::Relaxed);
        let since = self.state.interval().saturating_sub(self.compacted_at.load(Ordering::Relaxed));
        let adapted = if since <= u64::from(intervals) { intervals * 2 } else { intervals / 2 };
        self.idle_intervals.store(adapted.clamp(1, MAX_IDLE_INTERVALS as u32), Ordering::Relaxed);
    }

    fn idle_intervals(&self) -> usize {
        self.idle_intervals.load(Ordering::Relaxed) as usize
    }
}

impl Drop for CompactableMemory {
    fn drop(&mut self) {
        let storage = std::mem::take(&mut self.table.get_mut().storage);
        for (span, storage) in storage.into_iter().enumerate() {
            self.state.discard(&storage, self.bytes(span).len());
        }
        // The residency thread may sleep.
        self.state.trim();
        self.state.unreserve(self.spans.len());
    }
}

#[cfg(test)]
mod tests;
