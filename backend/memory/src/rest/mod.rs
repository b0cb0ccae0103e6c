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
//!   submission that used it. Compaction begins with an exchange of the word, which fails if a
//!   submission has just used the span. A submission that finds a span under compaction waits for
//!   the allocation's lock. All other changes happen under that lock.
//! - Copies from an image decode lines of compacted spans (`reading`) and make nothing resident.
//! - Clears of whole images are *noted* (`clearing`): the bytes are written when an access needs
//!   them, which is rare.
//! - Hints from commands about images (`hints`) decide which spans are compacted first and which
//!   need no coding (`idle`).
//! - `device`: near memory of a device, its submissions, and the residency thread, which compacts
//!   idle spans.
//!
//! Compaction is lossless for every codec: a span that becomes resident again has the bytes it had
//! before. Source: DESIGN 3.6.

mod clearing;
mod device;
mod hints;
mod idle;
mod reading;
mod span;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use self::device::Shared;
pub use self::device::{InUse, NearConfig, Residency};
pub use self::hints::Hint;
pub(super) use self::hints::Hints;
pub use self::reading::Reading;
use vitric_base::workers::Workers;

use self::span::{Span, State};
use super::Allocation;
use super::near::codec::{Codec, Line};
use super::near::{GROUP, LINES, Stat};

/// Bytes of a span.
pub(super) const SPAN: usize = 64 << 10;
/// Page groups of a span.
const GROUPS: usize = SPAN / GROUP;
/// Maximum number of the residency thread's intervals for which a span must be idle.
const LOOKS: usize = 64;
/// Lines of a span, by page group.
type Lines = [[Line; LINES]];

fn lines() -> Box<[[Line; LINES]]> {
    vec![[Line::ZERO; LINES]; GROUPS].into()
}

/// Storage of the bytes of a span.
#[derive(Debug, Default)]
enum Held {
    /// Raw, at the span's address.
    #[default]
    Raw,
    /// All lines are zeros. The span has no pages.
    Zeros,
    /// All lines equal this line. The span has no pages.
    Uniform(Arc<Line>),
    /// All lines equal this line. The span still has pages, whose bytes are outdated.
    Cleared(Arc<Line>),
    /// Coded in a slot of near memory, with this size in bytes. `codec` is an index into the
    /// allocation's codecs.
    Coded { slot: u32, codec: u8, bytes: u32 },
}

impl Held {
    /// Returns the bytes that the span occupies while compacted.
    fn took(&self) -> u32 {
        match self {
            Self::Raw => SPAN as u32,
            Self::Zeros | Self::Uniform(_) | Self::Cleared(_) => 0,
            Self::Coded { bytes, .. } => *bytes,
        }
    }

    /// Returns the storage of a span without pages whose lines all equal `line`.
    fn of_line(line: &Arc<Line>) -> Self {
        if **line == Line::ZERO { Self::Zeros } else { Self::Uniform(line.clone()) }
    }
}

/// Kinds of images for which the compression ratio is counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Single-sampled colour with integer or normalized components.
    Color,
    /// Single-sampled colour with floating-point components.
    Hdr,
    /// Multisampled colour.
    Samples,
    /// Depth and stencil.
    Depth,
}

impl Kind {
    /// Returns the counters of raw bytes, of raw bytes that need no near memory, and of the
    /// near-memory bytes of the other spans.
    fn stats(self) -> [Stat; 3] {
        match self {
            Self::Color => [Stat::RawColor, Stat::VoidColor, Stat::TookColor],
            Self::Hdr => [Stat::RawHdr, Stat::VoidHdr, Stat::TookHdr],
            Self::Samples => [Stat::RawSamples, Stat::VoidSamples, Stat::TookSamples],
            Self::Depth => [Stat::RawDepth, Stat::VoidDepth, Stat::TookDepth],
        }
    }
}

/// Image that is or was bound to an allocation.
#[derive(Debug, Clone)]
struct Image {
    spans: Range<usize>,
    hints: Weak<Hints>,
}

impl Image {
    fn covers(&self, span: usize) -> bool {
        self.spans.contains(&span)
    }

    /// Returns true if the contents are not needed: a command said so, or the image is destroyed.
    fn is_lost(&self) -> bool {
        self.hints.upgrade().is_none_or(|hints| hints.is_lost())
    }

    /// Drops the decoded texels of the image, because it is idle.
    fn drop_decoded(&self) {
        if let Some(hints) = self.hints.upgrade() {
            hints.drop_decoded();
        }
    }

    fn is_read_only(&self) -> bool {
        self.hints.upgrade().is_some_and(|hints| hints.is_read_only())
    }
}

/// State protected by the allocation's lock.
#[derive(Debug)]
struct Moved {
    held: Box<[Held]>,
    /// Spans to which something other than an optimal image is or was bound.
    excluded: Box<[bool]>,
    /// Indices of the spans' codecs in `codecs`.
    codec_of: Box<[u8]>,
    codecs: Vec<(Codec, Kind)>,
    /// Bytes of each span when it was last compacted, or an upper bound before that.
    took: Box<[u32]>,
    images: Vec<Image>,
    /// Number of images at which destroyed images are removed from `images`.
    most_images: usize,
}

impl Moved {
    /// Returns the images that touch some spans.
    fn images_in(&self, spans: &Range<usize>) -> SmallVec<[Image; 4]> {
        let touches = |image: &&Image| image.spans.start < spans.end && spans.start < image.spans.end;
        self.images.iter().filter(touches).cloned().collect()
    }

    /// Adds an image to the images of the allocation.
    fn add_image(&mut self, image: Image) {
        if self.images.len() >= self.most_images {
            self.images.retain(|image| image.hints.strong_count() > 0);
            self.most_images = (2 * self.images.len()).max(16);
        }
        self.images.push(image);
    }
}

/// Compaction state of an allocation.
#[derive(Debug)]
pub(super) struct Rest {
    shared: Arc<Shared>,
    spans: Box<[Span]>,
    moved: Mutex<Moved>,
    /// True once the device lists the allocation.
    is_listed: AtomicBool,
    /// Number of the residency thread's intervals for which spans must be idle.
    patience: AtomicU32,
    /// Interval of the residency thread in which spans were last compacted.
    rested_at: AtomicU64,
    /// Number of noted clears.
    noted: AtomicU64,
}

impl Rest {
    /// Creates the state of an allocation of `bytes` bytes, all of it raw.
    ///
    /// # Errors
    /// Far memory is a file, and its disk has no room for the allocation.
    pub(super) fn new(shared: &Arc<Shared>, bytes: usize) -> io::Result<Self> {
        let count = bytes.div_ceil(SPAN);
        shared.reserve(count)?;
        let moved = Moved {
            held: (0..count).map(|_| Held::Raw).collect(),
            excluded: vec![false; count].into(),
            codec_of: vec![0; count].into(),
            codecs: vec![(Codec::of_bytes(), Kind::Color)],
            took: vec![SPAN as u32; count].into(),
            images: Vec::new(),
            most_images: 0,
        };
        Ok(Self {
            shared: shared.clone(),
            spans: (0..count).map(|_| Span::default()).collect(),
            moved: Mutex::new(moved),
            is_listed: AtomicBool::new(false),
            patience: AtomicU32::new(1),
            rested_at: AtomicU64::new(0),
            noted: AtomicU64::new(0),
        })
    }

    /// Returns the spans that a range of bytes touches.
    fn touched(&self, range: &Range<u64>) -> Range<usize> {
        let span = |byte: u64| usize::try_from(byte / SPAN as u64).unwrap_or(usize::MAX);
        let end = span(range.end.saturating_add(SPAN as u64 - 1)).min(self.spans.len());
        span(range.start).min(end)..end
    }

    /// Returns the bytes of a span, clipped to an allocation of `length` bytes.
    fn bytes(span: usize, length: usize) -> Range<usize> {
        span * SPAN..length.min((span + 1) * SPAN)
    }

    /// Frees the near memory of all spans.
    pub(super) fn release(&mut self, length: usize) {
        for (span, held) in self.moved.get_mut().held.iter_mut().enumerate() {
            self.shared.release(std::mem::take(held), Self::bytes(span, length).len());
        }
        self.shared.unreserve(self.spans.len());
    }
}

/// Returns the index of a codec in an allocation's codecs, and adds the codec if it is new.
/// Returns 0 if there are more than 256 codecs.
fn number_of(codec: (Codec, Kind), codecs: &mut Vec<(Codec, Kind)>) -> u8 {
    let known = codecs.iter().position(|known| *known == codec).unwrap_or_else(|| {
        codecs.push(codec);
        codecs.len() - 1
    });
    u8::try_from(known).unwrap_or_else(|_| {
        codecs.pop();
        0
    })
}

impl Allocation {
    /// Records that an optimal image is bound to these bytes, so that they may be compacted.
    /// `parts` are the codecs of parts of the range. The contents of the image are lost until its
    /// first use.
    pub(super) fn adopt(
        self: &Arc<Self>,
        range: Range<u64>,
        parts: impl Iterator<Item = (Range<u64>, Codec)>,
        kind: Kind,
        hints: &Arc<Hints>,
    ) {
        let Some(rest) = &self.rest else { return };
        hints.take(Hint::Lost);
        let mut moved = rest.moved.lock();
        let moved = &mut *moved;
        for (part, codec) in parts {
            let number = number_of((codec, kind), &mut moved.codecs);
            moved.codec_of[rest.touched(&part)].fill(number);
        }
        moved.add_image(Image { spans: rest.touched(&range), hints: Arc::downgrade(hints) });
        for span in rest.touched(&range) {
            let word = rest.spans[span].get();
            if word.state() == State::Never && !moved.excluded[span] {
                rest.spans[span].set(State::Awake, word.used());
            }
        }
        if !rest.is_listed.swap(true, Ordering::Relaxed) {
            rest.shared.list(Arc::downgrade(self));
        }
    }

    /// Returns true if an image other than the one with these hints holds data in spans that lie
    /// wholly in a range. Images created identically may share their memory and its contents.
    pub(super) fn holds_for_others(&self, range: &Range<u64>, hints: &Arc<Hints>) -> bool {
        let (Some(rest), span) = (&self.rest, SPAN as u64) else { return false };
        let is_last = range.end >= self.length as u64;
        let end = if is_last { range.end.div_ceil(span) } else { range.end / span };
        let whole = range.start.div_ceil(span) as usize..end as usize;
        let is_other = |image: &Image| !std::ptr::eq(image.hints.as_ptr(), Arc::as_ptr(hints)) && !image.is_lost();
        !whole.is_empty() && rest.moved.lock().images_in(&whole).iter().any(is_other)
    }

    /// Keeps these bytes resident for ever, because their uses are not tracked. Spans that are
    /// compacted become resident.
    pub fn keep_awake(&self, range: Range<u64>) {
        let Some(rest) = &self.rest else { return };
        let mut moved = rest.moved.lock();
        for span in rest.touched(&range) {
            moved.excluded[span] = true;
            let is_raw = matches!(rest.spans[span].get().state(), State::Never | State::Awake);
            if !is_raw && let Err(error) = self.wake_span(rest, &mut moved, span) {
                log::error!("far memory cannot be read: {error}");
            }
            rest.spans[span].set(State::Never, 0);
        }
    }

    /// Makes a range that a submission will use resident. Returns the number of spans that were
    /// not resident.
    ///
    /// # Errors
    /// An error of a file that is far memory.
    pub(super) fn wake(&self, range: Range<u64>, number: u64, workers: &Workers) -> io::Result<usize> {
        let Some(rest) = &self.rest else { return Ok(0) };
        let touched = rest.touched(&range);
        // Every span must be marked, so that none is compacted from now on. `any` would stop
        // early.
        let asleep = rest.spans[touched.clone()].iter().filter(|span| !span.mark(number)).count();
        if asleep == 0 {
            return Ok(0);
        }
        let mut moved = rest.moved.lock();
        // No span is under compaction now. Spans that other threads have made resident meanwhile
        // are marked for this submission, too.
        let asleep: Vec<usize> = touched.filter(|&span| !rest.spans[span].mark(number)).collect();
        rest.woken(&asleep);
        let (failed, known): (_, &Moved) = (Mutex::new(None), &moved);
        workers.parallel(asleep.len(), lines, |scratch, index| {
            let span = asleep[index];
            if let Err(error) = self.restore(rest, known, span, scratch) {
                *failed.lock() = Some(error);
            }
        });
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        for &span in &asleep {
            rest.shared.release(std::mem::take(&mut moved.held[span]), Rest::bytes(span, self.length).len());
            rest.wake(span, number);
        }
        Ok(asleep.len())
    }

    /// Makes a range that a submission will overwrite wholly resident. Its bytes are unspecified.
    pub(super) fn claim(&self, range: Range<u64>, number: u64, workers: &Workers) -> io::Result<usize> {
        let Some(rest) = &self.rest else { return Ok(0) };
        let touched = rest.touched(&range);
        let moved = rest.spans[touched.clone()].iter().any(|span| !span.mark(number)).then(|| rest.moved.lock());
        if let Some(mut moved) = moved {
            for span in touched {
                let bytes = Rest::bytes(span, self.length);
                let is_whole = range.start <= bytes.start as u64 && bytes.end as u64 <= range.end;
                let state = rest.spans[span].get().state();
                if is_whole && matches!(state, State::Resting | State::Cleared) {
                    rest.shared.release(std::mem::take(&mut moved.held[span]), bytes.len());
                    rest.shared.count(Stat::SpansClaimed, usize::from(state == State::Resting));
                    rest.wake(span, number);
                }
            }
        }
        self.wake(range, number, workers)
    }

    fn wake_span(&self, rest: &Rest, moved: &mut MutexGuard<'_, Moved>, span: usize) -> io::Result<()> {
        self.restore(rest, moved, span, &mut lines())?;
        rest.shared.release(std::mem::take(&mut moved.held[span]), Rest::bytes(span, self.length).len());
        Ok(())
    }

    /// Writes the bytes of a compacted span to its address.
    fn restore(&self, rest: &Rest, moved: &Moved, span: usize, scratch: &mut Lines) -> io::Result<()> {
        let bytes = Rest::bytes(span, self.length);
        match &moved.held[span] {
            // New pages are zeros.
            Held::Raw | Held::Zeros => return Ok(()),
            Held::Uniform(line) | Held::Cleared(line) => {
                self.write_lines(bytes, line);
                return Ok(());
            }
            Held::Coded { slot, codec, .. } => rest.shared.get(*slot, &moved.codecs[usize::from(*codec)].0, scratch)?,
        }
        let source: &[u8] = bytemuck::cast_slice(scratch.as_flattened());
        // SAFETY: the span lies inside the mapping, and `source` is at least as long. No user of
        // the span continues before the span is resident.
        unsafe {
            std::ptr::copy_nonoverlapping(source.as_ptr(), self.pointer.add(bytes.start), bytes.len());
        }
        Ok(())
    }
}

impl Rest {
    /// Marks a span resident for a submission and all later ones. The caller holds the
    /// allocation's lock.
    fn wake(&self, span: usize, number: u64) {
        let before = self.spans[span].get().used();
        self.spans[span].set(State::Awake, before.max(number));
    }

    /// Adapts the idle period of the allocation when compacted spans are needed. The period
    /// doubles if they were compacted within the last period, and halves otherwise.
    fn woken(&self, spans: &[usize]) {
        if !spans.iter().any(|&span| self.spans[span].get().state() == State::Resting) {
            return;
        }
        let patience = self.patience.load(Ordering::Relaxed);
        let since = self.shared.look().saturating_sub(self.rested_at.load(Ordering::Relaxed));
        let grown = if since <= u64::from(patience) { patience * 2 } else { patience / 2 };
        self.patience.store(grown.clamp(1, LOOKS as u32), Ordering::Relaxed);
    }

    fn patience(&self) -> usize {
        self.patience.load(Ordering::Relaxed) as usize
    }
}

/// Allocation whose spans may be compacted.
type Listed = Weak<Allocation>;

#[cfg(test)]
mod tests;
