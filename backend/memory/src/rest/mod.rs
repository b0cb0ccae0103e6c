//! Images at rest: what no submission uses is coded in near memory, and its pages are given back to the system.
//!
//! Generated code reads and writes texels at addresses, so what is in use lies raw, where it always does. An allocation is cut into
//! *spans* of 64 KiB. A span that only optimal images lie in *rests* when it was idle for a time: its lines are coded, the process's pages
//! behind it are gone. Before a submission uses an image it *wakes* the spans of the image, which others may be doing at the same time.
//!
//! - What may rest: memory of this process that the host cannot map, in spans that no buffer and no linear image was ever bound to. So
//!   nothing that is reached by an address or a pointer ever rests.
//! - Who may need it: a submission has a number while it runs ([`InUse`]), and notes it in each span that it uses. A span is idle when its
//!   number is less than those of all submissions that run.
//! - A span is one word (`span`): its state, and the number of the last submission that used it. Who rests it exchanges the word, which
//!   fails when somebody has just used it; who finds a span that moves waits for the allocation's lock. All else happens under it.
//! - Who only copies from an image reads its lines at rest (`reading`), and wakes nothing.
//! - What is cleared as a whole is *noted* (`clearing`): its bytes are written when somebody needs them, and mostly nobody does.
//! - What commands say of images (`hints`) decides what rests first, and what need not be coded (`idle`).
//! - `device`: near memory of a device, its submissions, and the thread that rests what is idle.
//!
//! Images do not change: what wakes has the bytes it had, whatever the codec thought of them. Source: DESIGN 3.6.

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
/// Looks for which a span may have to be idle, at most.
const LOOKS: usize = 64;
/// The lines of a span, group by group.
type Lines = [[Line; LINES]];

fn lines() -> Box<[[Line; LINES]]> {
    vec![[Line::ZERO; LINES]; GROUPS].into()
}

/// Where the bytes of a span are.
#[derive(Debug, Default)]
enum Held {
    /// Where they always are.
    #[default]
    Raw,
    /// All lines are zeros.
    Zeros,
    /// All lines are this one.
    Uniform(Arc<Line>),
    /// The same, and pages are there whose bytes are anything.
    Cleared(Arc<Line>),
    /// In a slot of near memory, as so many bytes, by this codec of the allocation's.
    Coded { slot: u32, codec: u8, bytes: u32 },
}

impl Held {
    /// Bytes that it takes at rest.
    fn took(&self) -> u32 {
        match self {
            Self::Raw => SPAN as u32,
            Self::Zeros | Self::Uniform(_) | Self::Cleared(_) => 0,
            Self::Coded { bytes, .. } => *bytes,
        }
    }

    /// All lines are this one, and there are no pages.
    fn of_line(line: &Arc<Line>) -> Self {
        if **line == Line::ZERO { Self::Zeros } else { Self::Uniform(line.clone()) }
    }
}

/// Kinds of images that are told apart by how well they are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One sample, of integers.
    Color,
    /// One sample, of floating-point numbers.
    Hdr,
    /// Several samples of colour.
    Samples,
    /// Depth and stencil.
    Depth,
}

impl Kind {
    /// What counts bytes of such images as they are, of those what needs no near memory, and what the others take there.
    fn stats(self) -> [Stat; 3] {
        match self {
            Self::Color => [Stat::RawColor, Stat::VoidColor, Stat::TookColor],
            Self::Hdr => [Stat::RawHdr, Stat::VoidHdr, Stat::TookHdr],
            Self::Samples => [Stat::RawSamples, Stat::VoidSamples, Stat::TookSamples],
            Self::Depth => [Stat::RawDepth, Stat::VoidDepth, Stat::TookDepth],
        }
    }
}

/// An image that lies, or lay, in an allocation.
#[derive(Debug, Clone)]
struct Image {
    spans: Range<usize>,
    hints: Weak<Hints>,
}

impl Image {
    fn covers(&self, span: usize) -> bool {
        self.spans.contains(&span)
    }

    /// Whether nobody needs what is there: that was said, or the image is gone.
    fn is_lost(&self) -> bool {
        self.hints.upgrade().is_none_or(|hints| hints.is_lost())
    }

    /// Drops its decoded texels: it is idle.
    fn drop_decoded(&self) {
        if let Some(hints) = self.hints.upgrade() {
            hints.drop_decoded();
        }
    }

    fn is_read_only(&self) -> bool {
        self.hints.upgrade().is_some_and(|hints| hints.is_read_only())
    }
}

/// What is behind the lock.
#[derive(Debug)]
struct Moved {
    held: Box<[Held]>,
    /// Spans that something else than an optimal image lies in, or did.
    excluded: Box<[bool]>,
    /// Numbers of the codecs that suit the spans.
    codec_of: Box<[u8]>,
    codecs: Vec<(Codec, Kind)>,
    /// Bytes that spans took when they last rested, or may take.
    took: Box<[u32]>,
    images: Vec<Image>,
    /// How many images are looked through for those that are gone.
    most_images: usize,
}

impl Moved {
    /// Images that touch some spans.
    fn images_in(&self, spans: &Range<usize>) -> SmallVec<[Image; 4]> {
        let touches = |image: &&Image| image.spans.start < spans.end && spans.start < image.spans.end;
        self.images.iter().filter(touches).cloned().collect()
    }

    /// An image lies in spans from now on.
    fn add_image(&mut self, image: Image) {
        if self.images.len() >= self.most_images {
            self.images.retain(|image| image.hints.strong_count() > 0);
            self.most_images = (2 * self.images.len()).max(16);
        }
        self.images.push(image);
    }
}

/// What an allocation knows of its rest.
#[derive(Debug)]
pub(super) struct Rest {
    shared: Arc<Shared>,
    spans: Box<[Span]>,
    moved: Mutex<Moved>,
    /// Whether the device knows of it.
    is_listed: AtomicBool,
    /// For how many looks of the thread spans must be idle.
    patience: AtomicU32,
    /// The look at which spans were last put to rest.
    rested_at: AtomicU64,
    /// How often clears were noted.
    noted: AtomicU64,
}

impl Rest {
    /// # Errors
    /// Far memory is a file, and its disk has no room for so many bytes.
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

    /// Spans that a range of bytes touches.
    fn touched(&self, range: &Range<u64>) -> Range<usize> {
        let span = |byte: u64| usize::try_from(byte / SPAN as u64).unwrap_or(usize::MAX);
        let end = span(range.end.saturating_add(SPAN as u64 - 1)).min(self.spans.len());
        span(range.start).min(end)..end
    }

    /// The same, of the bytes that the span has in the allocation.
    fn bytes(span: usize, length: usize) -> Range<usize> {
        span * SPAN..length.min((span + 1) * SPAN)
    }

    /// Frees what spans take in near memory.
    pub(super) fn release(&mut self, length: usize) {
        for (span, held) in self.moved.get_mut().held.iter_mut().enumerate() {
            self.shared.release(std::mem::take(held), Self::bytes(span, length).len());
        }
        self.shared.unreserve(self.spans.len());
    }
}

/// A number for a codec among those of an allocation; that of the first where there are too many.
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
    /// An optimal image lies in these bytes, whose parts suit codecs: from now on it may rest there. Nothing of it counts before it is used.
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

    /// Returns true if an image other than the one with these hints holds data in spans that lie wholly in a range. Images
    /// created alike may share their memory and its contents.
    pub(super) fn holds_for_others(&self, range: &Range<u64>, hints: &Arc<Hints>) -> bool {
        let (Some(rest), span) = (&self.rest, SPAN as u64) else { return false };
        let is_last = range.end >= self.length as u64;
        let end = if is_last { range.end.div_ceil(span) } else { range.end / span };
        let whole = range.start.div_ceil(span) as usize..end as usize;
        let is_other = |image: &Image| !std::ptr::eq(image.hints.as_ptr(), Arc::as_ptr(hints)) && !image.is_lost();
        !whole.is_empty() && rest.moved.lock().images_in(&whole).iter().any(is_other)
    }

    /// Something else lies in these bytes, which is reached by who says nothing of it: they stay awake.
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

    /// Wakes what rests of a range that a submission is going to use. Returns how many spans that were.
    ///
    /// # Errors
    /// Those of a file that is far memory.
    pub(super) fn wake(&self, range: Range<u64>, number: u64, workers: &Workers) -> io::Result<usize> {
        let Some(rest) = &self.rest else { return Ok(0) };
        let touched = rest.touched(&range);
        // All of them, so that none goes to rest now.
        let asleep = rest.spans[touched.clone()].iter().filter(|span| !span.mark(number)).count();
        if asleep == 0 {
            return Ok(0);
        }
        let mut moved = rest.moved.lock();
        // None moves now. What others have woken meanwhile is noted as used by this submission, too.
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

    /// The same for what is going to be overwritten wholly: its bytes may be anything.
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

    /// Writes the bytes of a span at rest where they belong.
    fn restore(&self, rest: &Rest, moved: &Moved, span: usize, scratch: &mut Lines) -> io::Result<()> {
        let bytes = Rest::bytes(span, self.length);
        match &moved.held[span] {
            // Pages that come anew are zeros.
            Held::Raw | Held::Zeros => return Ok(()),
            Held::Uniform(line) | Held::Cleared(line) => {
                self.write_lines(bytes, line);
                return Ok(());
            }
            Held::Coded { slot, codec, .. } => rest.shared.get(*slot, &moved.codecs[usize::from(*codec)].0, scratch)?,
        }
        let source: &[u8] = bytemuck::cast_slice(scratch.as_flattened());
        // SAFETY: the span lies inside the mapping, and `source` is as long at least. Nobody who uses the span goes on before it is awake.
        unsafe {
            std::ptr::copy_nonoverlapping(source.as_ptr(), self.pointer.add(bytes.start), bytes.len());
        }
        Ok(())
    }
}

impl Rest {
    /// A span of who holds the lock lies raw from now on, for a submission and those after it that use it.
    fn wake(&self, span: usize, number: u64) {
        let before = self.spans[span].get().used();
        self.spans[span].set(State::Awake, before.max(number));
    }

    /// Spans are needed. If they had just gone to rest, others wait longer from now on.
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

/// An allocation that may have something to rest.
type Listed = Weak<Allocation>;

#[cfg(test)]
mod tests;
