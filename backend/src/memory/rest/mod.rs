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
//! - A span is one word: its state, and the number of the last submission that used it. Who rests it exchanges the word, which
//!   fails when somebody has just used it; who finds a span that moves waits for the allocation's lock. All else happens under it.
//! - `device`: near memory of a device, its submissions, and the thread that rests what is idle.
//!
//! Images do not change: what wakes has the bytes it had, whatever the codec thought of them. Source: DESIGN 3.6.

mod device;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

use self::device::Shared;
pub use self::device::{InUse, NearConfig, Residency};
use super::Allocation;
use super::near::codec::{Codec, LINE, Line};
use super::near::{GROUP, LINES};
use crate::workers::Workers;

/// Bytes of a span.
pub(super) const SPAN: usize = 64 << 10;
/// Page groups of a span.
const GROUPS: usize = SPAN / GROUP;
/// Spans that go to rest together: pages of the system may be as large.
const TOGETHER: usize = (2 << 20) / SPAN;

/// The lines of a span, group by group.
type Lines = [[Line; LINES]];

fn lines() -> Box<[[Line; LINES]]> {
    vec![[Line::ZERO; LINES]; GROUPS].into()
}

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Never at rest: something other than optimal images lies there, or nothing.
    Never,
    /// Raw.
    Awake,
    /// Going to rest.
    Moving,
    /// In near memory.
    Resting,
}

/// A span's word: the number of the submission that used it last, and its state.
#[derive(Debug, Default)]
struct Span(AtomicU64);

/// What a span's word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    fn new(state: State, used: u64) -> Self {
        Self(used << 2 | state as u64)
    }

    fn state(self) -> State {
        [State::Never, State::Awake, State::Moving, State::Resting][(self.0 & 3) as usize]
    }

    fn used(self) -> u64 {
        self.0 >> 2
    }
}

impl Span {
    fn get(&self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    fn set(&self, state: State, used: u64) {
        self.0.store(Word::new(state, used).0, Ordering::Release);
    }

    fn exchange(&self, known: Word, new: Word) -> bool {
        self.0.compare_exchange(known.0, new.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Notes that a submission uses the span. False when it does not lie raw.
    fn mark(&self, number: u64) -> bool {
        loop {
            let word = self.get();
            match word.state() {
                State::Never => return true,
                State::Awake if word.used() >= number || self.exchange(word, Word::new(State::Awake, number)) => {
                    return true;
                }
                State::Awake => {}
                State::Moving | State::Resting => return false,
            }
        }
    }

    /// Begins to move the span to rest, if no submission from `before` on has used it.
    fn begin_to_rest(&self, before: u64) -> Option<u64> {
        let word = self.get();
        let is_idle = word.state() == State::Awake && word.used() < before;
        (is_idle && self.exchange(word, Word::new(State::Moving, word.used()))).then_some(word.used())
    }
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
    Uniform(Box<Line>),
    /// In a slot of near memory, as so many bytes, by this codec of the allocation's.
    Coded { slot: u32, codec: u8, bytes: u32 },
}

/// What is behind the lock.
#[derive(Debug)]
struct Moved {
    held: Box<[Held]>,
    /// Spans that something else than an optimal image lies in, or did.
    excluded: Box<[bool]>,
    /// Numbers of the codecs that suit the spans.
    codec_of: Box<[u8]>,
    codecs: Vec<Codec>,
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
}

impl Rest {
    pub(super) fn new(shared: Arc<Shared>, bytes: usize) -> Self {
        let count = bytes.div_ceil(SPAN);
        let moved = Moved {
            held: (0..count).map(|_| Held::Raw).collect(),
            excluded: vec![false; count].into(),
            codec_of: vec![0; count].into(),
            codecs: vec![Codec::of_bytes()],
        };
        Self {
            shared,
            spans: (0..count).map(|_| Span::default()).collect(),
            moved: Mutex::new(moved),
            is_listed: AtomicBool::new(false),
            patience: AtomicU32::new(1),
            rested_at: AtomicU64::new(0),
        }
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
    }
}

/// A number for a codec among those of an allocation; that of the first where there are too many.
fn number_of(codec: Codec, codecs: &mut Vec<Codec>) -> u8 {
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
    /// An optimal image lies in these bytes, whose parts suit codecs: from now on it may rest there.
    pub(super) fn adopt(self: &Arc<Self>, range: Range<u64>, parts: impl Iterator<Item = (Range<u64>, Codec)>) {
        let Some(rest) = &self.rest else { return };
        let mut moved = rest.moved.lock();
        let moved = &mut *moved;
        for (part, codec) in parts {
            let number = number_of(codec, &mut moved.codecs);
            moved.codec_of[rest.touched(&part)].fill(number);
        }
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

    /// Something else lies in these bytes, which is reached by who says nothing of it: they stay awake.
    pub fn keep_awake(&self, range: Range<u64>) {
        let Some(rest) = &self.rest else { return };
        let mut moved = rest.moved.lock();
        for span in rest.touched(&range) {
            moved.excluded[span] = true;
            let is_resting = rest.spans[span].get().state() == State::Resting;
            if is_resting && let Err(error) = self.wake_span(rest, &mut moved, span) {
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
        rest.woken();
        // None moves now. What others have woken meanwhile is noted as used by this submission, too.
        let asleep: Vec<usize> = touched.filter(|&span| !rest.spans[span].mark(number)).collect();
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
            rest.spans[span].set(State::Awake, number);
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
                if is_whole && rest.spans[span].get().state() == State::Resting {
                    rest.shared.release(std::mem::take(&mut moved.held[span]), bytes.len());
                    rest.shared.count_claimed();
                    rest.spans[span].set(State::Awake, number);
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
        match &moved.held[span] {
            // Pages that come anew are zeros.
            Held::Raw | Held::Zeros => return Ok(()),
            Held::Uniform(line) => scratch.as_flattened_mut().fill(**line),
            Held::Coded { slot, codec, .. } => rest.shared.get(*slot, &moved.codecs[usize::from(*codec)], scratch)?,
        }
        let bytes = Rest::bytes(span, self.length);
        let source: &[u8] = bytemuck::cast_slice(scratch.as_flattened());
        // SAFETY: the span lies inside the mapping, and `source` is as long at least. Nobody who uses the span goes on before it is awake.
        unsafe {
            std::ptr::copy_nonoverlapping(source.as_ptr(), self.pointer.add(bytes.start), bytes.len());
        }
        Ok(())
    }

    /// Puts spans to rest that no submission from `before` on has used. Returns whether some are left that may rest later.
    fn rest(&self, before: u64, look: u64) -> bool {
        let Some(rest) = &self.rest else { return false };
        let is_awake = |span: &Span| span.get().state() == State::Awake;
        let is_idle = |span: &Span| is_awake(span) && span.get().used() < before;
        let mut scratch = None;
        let page = self.pointer.addr() / SPAN % TOGETHER;
        let mut start = 0;
        while start < rest.spans.len() {
            // To the next boundary of large pages.
            let end = ((start + page) / TOGETHER * TOGETHER + TOGETHER - page).min(rest.spans.len());
            if rest.spans[start..end].iter().any(is_idle) {
                rest.rested_at.store(look, Ordering::Relaxed);
                let scratch = scratch.get_or_insert_with(lines);
                self.rest_together(rest, start..end, before, scratch);
            }
            start = end;
        }
        rest.spans.iter().any(is_awake)
    }

    fn rest_together(&self, rest: &Rest, spans: Range<usize>, before: u64, scratch: &mut Lines) {
        let mut moved = rest.moved.lock();
        let mut run: Option<Range<usize>> = None;
        for span in spans {
            let Some(used) = rest.spans[span].begin_to_rest(before) else { continue };
            let bytes = Rest::bytes(span, self.length);
            let held = self.code(rest, &moved, span, scratch);
            if matches!(held, Held::Raw) {
                // There is no room: not before it was used again, and idle for long.
                rest.patience.store(device::LOOKS as u32, Ordering::Relaxed);
                rest.spans[span].set(State::Awake, before.max(used));
                continue;
            }
            moved.held[span] = held;
            // Who needs the span waits for the lock, and so until its pages are gone.
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
    }

    /// Codes a span that moves; [`Held::Raw`] where there is no room for it.
    fn code(&self, rest: &Rest, moved: &Moved, span: usize, scratch: &mut Lines) -> Held {
        let bytes = Rest::bytes(span, self.length);
        let target: &mut [u8] = bytemuck::cast_slice_mut(scratch.as_flattened_mut());
        target[bytes.len()..].fill(0);
        // SAFETY: the span lies inside the mapping, and `target` is as long at least. No submission uses the span.
        unsafe {
            std::ptr::copy_nonoverlapping(self.pointer.add(bytes.start), target.as_mut_ptr(), bytes.len());
        }
        let filled = &target[..bytes.len()];
        let held = if filled.len() <= LINE || filled[LINE..] == filled[..filled.len() - LINE] {
            let line = scratch[0][0];
            if line == Line::ZERO { Held::Zeros } else { Held::Uniform(line.into()) }
        } else {
            let codec = moved.codec_of[span];
            let slot = rest.shared.put(&moved.codecs[usize::from(codec)], scratch);
            slot.map_or(Held::Raw, |(slot, bytes)| Held::Coded { slot, codec, bytes })
        };
        rest.shared.count_rested(&held, bytes.len());
        held
    }

    /// Gives the pages of a range, which begins with one, back to the system.
    fn give_back(&self, range: Option<Range<usize>>) {
        let Some(range) = range else { return };
        // SAFETY: the range lies inside the mapping, of whose last page nothing belongs to anybody else. The bytes were saved, and nobody
        // reads them before they are written again.
        unsafe {
            libc::madvise(self.pointer.add(range.start).cast(), range.len(), libc::MADV_DONTNEED);
        }
    }
}

impl Rest {
    /// Spans were needed. If they had just gone to rest, others wait longer from now on.
    fn woken(&self) {
        let patience = self.patience.load(Ordering::Relaxed);
        let since = self.shared.look().saturating_sub(self.rested_at.load(Ordering::Relaxed));
        let grown = if since <= u64::from(patience) { patience * 2 } else { patience / 2 };
        self.patience.store(grown.clamp(1, device::LOOKS as u32), Ordering::Relaxed);
    }

    fn patience(&self) -> usize {
        self.patience.load(Ordering::Relaxed) as usize
    }
}

/// An allocation that may have something to rest.
type Listed = Weak<Allocation>;

#[cfg(test)]
mod tests;
