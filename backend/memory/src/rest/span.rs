//! Words that threads share: the state of each span, and the numbers of submissions.
//!
//! The types are generic over [`World`], so that loom explores exactly the code that runs
//! (`span/tests.rs`).

use std::sync::atomic::Ordering;

use vitric_base::sync::{Machine, Word as _, World};

/// State of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Never compacted: the span contains something other than optimal images, or nothing.
    Never,
    /// Resident: the bytes are stored raw.
    Awake,
    /// Cleared, but the bytes are not written yet.
    Cleared,
    /// Under compaction.
    Moving,
    /// Compacted in near memory.
    Resting,
}

/// Word of a span: the number of the submission that used it last, and its state.
#[derive(Debug)]
pub struct Span<W: World = Machine>(W::Word);

/// Value of a span's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said(u64);

impl Said {
    fn new(state: State, used: u64) -> Self {
        Self(used << 3 | state as u64)
    }

    /// Returns the state of the span.
    pub fn state(self) -> State {
        const ALL: [State; 5] = [State::Never, State::Awake, State::Cleared, State::Moving, State::Resting];
        ALL[(self.0 & 7) as usize]
    }

    /// Returns the number of the submission that used the span last.
    pub fn used(self) -> u64 {
        self.0 >> 3
    }

    /// Returns true if the span may be compacted, because no submission from `before` on has used
    /// it.
    pub fn is_idle(self, before: u64) -> bool {
        matches!(self.state(), State::Awake | State::Cleared) && self.used() < before
    }
}

impl<W: World> Default for Span<W> {
    fn default() -> Self {
        Self(W::Word::new(Said::new(State::Never, 0).0))
    }
}

impl<W: World> Span<W> {
    /// Loads the word.
    pub fn get(&self) -> Said {
        Said(self.0.load(Ordering::Acquire))
    }

    /// Stores a word. The caller holds the allocation's lock.
    pub fn set(&self, state: State, used: u64) {
        self.0.store(Said::new(state, used).0, Ordering::Release);
    }

    fn exchange(&self, known: Said, new: Said) -> bool {
        self.0.exchange(known.0, new.0, Ordering::AcqRel)
    }

    /// Marks the span as used by a submission. Returns false if it is not resident. A caller that
    /// then locks the allocation finds it resident, cleared or compacted.
    pub fn mark(&self, number: u64) -> bool {
        loop {
            let word = self.get();
            match word.state() {
                State::Never => return true,
                State::Awake if word.used() >= number || self.exchange(word, Said::new(State::Awake, number)) => {
                    return true;
                }
                State::Awake => {}
                State::Cleared | State::Moving | State::Resting => return false,
            }
        }
    }

    /// Notes that a submission, which uses the span, clears it. Returns false if the span is not
    /// resident. The caller holds the allocation's lock.
    pub fn clear(&self, number: u64) -> bool {
        loop {
            let word = self.get();
            if word.state() != State::Awake {
                return false;
            }
            if self.exchange(word, Said::new(State::Cleared, word.used().max(number))) {
                return true;
            }
        }
    }

    /// Begins the compaction of the span, and returns its last user, if no submission from
    /// `before` on has used it. The caller holds the allocation's lock until the span is
    /// compacted.
    pub fn begin_to_rest(&self, before: u64) -> Option<u64> {
        let word = self.get();
        let begins = word.is_idle(before) && self.exchange(word, Said::new(State::Moving, word.used()));
        begins.then_some(word.used())
    }
}

/// Maximum number of concurrent submissions that are tracked individually.
const PLACES: usize = 64;

/// Numbers of submissions, from 1 on: the running ones, and the next. No thread waits for another.
#[derive(Debug)]
pub struct Numbers<W: World = Machine> {
    next: W::Word,
    /// For each running submission, a number that is at most its own; 0 for a free place.
    running: Box<[W::Word]>,
    /// Number of running submissions without a place.
    others: W::Word,
}

/// Number of a submission, and its place among the running ones.
#[derive(Debug, Clone, Copy)]
pub struct Running {
    /// Number of the submission.
    pub number: u64,
    place: Option<usize>,
}

fn add<W: World>(word: &W::Word, more: u64) -> u64 {
    loop {
        let value = word.load(Ordering::Relaxed);
        // Release order: a thread that sees this change also sees all earlier marks.
        if word.exchange(value, value.wrapping_add(more), Ordering::AcqRel) {
            return value;
        }
    }
}

impl<W: World> Default for Numbers<W> {
    fn default() -> Self {
        Self::with_places(PLACES)
    }
}

impl<W: World> Numbers<W> {
    fn with_places(places: usize) -> Self {
        let word = |value| W::Word::new(value);
        Self { next: word(1), running: (0..places).map(|_| word(0)).collect(), others: word(0) }
    }

    /// Begins a submission. It claims its place before its number, so a thread that does not see
    /// the place has seen no greater number either.
    pub fn begin(&self) -> Running {
        let least = self.next.load(Ordering::Relaxed);
        let mut places = self.running.iter();
        let place =
            places.position(|place| place.load(Ordering::Relaxed) == 0 && place.exchange(0, least, Ordering::AcqRel));
        if place.is_none() {
            add::<W>(&self.others, 1);
        }
        Running { number: add::<W>(&self.next, 1), place }
    }

    /// Ends a submission.
    pub fn end(&self, running: Running) {
        match running.place {
            Some(place) => self.running[place].store(0, Ordering::Release),
            None => {
                add::<W>(&self.others, 1u64.wrapping_neg());
            }
        }
    }

    /// Returns a number that no running or future submission is below. Returns 0 while a running
    /// submission has no place.
    pub fn oldest(&self) -> u64 {
        let next = self.next.load(Ordering::Acquire);
        if self.others.load(Ordering::Acquire) > 0 {
            return 0;
        }
        let running = self.running.iter().map(|place| place.load(Ordering::Acquire)).filter(|number| *number > 0);
        running.min().map_or(next, |least| least.min(next))
    }
}

#[cfg(test)]
mod tests;
