//! Words that threads share: of each span its state, and the numbers of submissions.
//!
//! Written against [`World`], so that loom explores the very code that runs (`span/tests.rs`).

use std::sync::atomic::Ordering;

use vitric_base::sync::{Machine, Word as _, World};

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Never at rest: something other than optimal images lies there, or nothing.
    Never,
    /// Raw.
    Awake,
    /// Cleared, which its bytes do not show yet.
    Cleared,
    /// Going to rest.
    Moving,
    /// In near memory.
    Resting,
}

/// A span's word: the number of the submission that used it last, and its state.
#[derive(Debug)]
pub struct Span<W: World = Machine>(W::Word);

/// What a span's word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said(u64);

impl Said {
    fn new(state: State, used: u64) -> Self {
        Self(used << 3 | state as u64)
    }

    /// What the span is.
    pub fn state(self) -> State {
        const ALL: [State; 5] = [State::Never, State::Awake, State::Cleared, State::Moving, State::Resting];
        ALL[(self.0 & 7) as usize]
    }

    /// The submission that used it last.
    pub fn used(self) -> u64 {
        self.0 >> 3
    }

    /// Whether it may go to rest, since no submission from `before` on has used it.
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
    /// What its word says.
    pub fn get(&self) -> Said {
        Said(self.0.load(Ordering::Acquire))
    }

    /// Another word, of who holds the allocation's lock.
    pub fn set(&self, state: State, used: u64) {
        self.0.store(Said::new(state, used).0, Ordering::Release);
    }

    fn exchange(&self, known: Said, new: Said) -> bool {
        self.0.exchange(known.0, new.0, Ordering::AcqRel)
    }

    /// Notes that a submission uses the span. False when it does not lie raw: who holds the allocation's lock finds it raw or at rest.
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

    /// Notes that a submission, which uses the span, clears it. False when it does not lie raw. Who does holds the allocation's lock.
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

    /// Begins to move the span to rest, if no submission from `before` on has used it. Who does holds the allocation's lock until it rests.
    pub fn begin_to_rest(&self, before: u64) -> Option<u64> {
        let word = self.get();
        let begins = word.is_idle(before) && self.exchange(word, Said::new(State::Moving, word.used()));
        begins.then_some(word.used())
    }
}

/// Submissions that can run at the same time and be told apart.
const PLACES: usize = 64;

/// The numbers of submissions, from 1 on: those that run, and the next. No one waits for anyone.
#[derive(Debug)]
pub struct Numbers<W: World = Machine> {
    next: W::Word,
    /// Of each that runs a number that is not greater; 0 where none does.
    running: Box<[W::Word]>,
    /// How many run beside these.
    others: W::Word,
}

/// A submission's number, and its place among those that run.
#[derive(Debug, Clone, Copy)]
pub struct Running {
    /// The number.
    pub number: u64,
    place: Option<usize>,
}

fn add<W: World>(word: &W::Word, more: u64) -> u64 {
    loop {
        let value = word.load(Ordering::Relaxed);
        // What was noted before is seen by whoever sees the change.
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

    /// The number of a submission that begins. It takes its place first: so whoever does not see it there has seen no greater number either.
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

    /// A submission has ended.
    pub fn end(&self, running: Running) {
        match running.place {
            Some(place) => self.running[place].store(0, Ordering::Release),
            None => {
                add::<W>(&self.others, 1u64.wrapping_neg());
            }
        }
    }

    /// No submission that runs, or will, has a lesser number; 0 while too many run to tell them apart.
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
