//! Words that threads share: the state of each span, and the numbers of submissions.
//!
//! The types are generic over [`World`], so that loom explores exactly the code that runs
//! (`span/tests.rs`).

use std::sync::atomic::Ordering;

use vitric_base::sync::{Machine, Word as _, World};

/// State of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanState {
    /// Never compacted: the span contains something other than optimal images, or nothing.
    Pinned,
    /// The bytes are stored raw.
    Resident,
    /// Cleared, but the bytes are not written yet.
    Cleared,
    /// Under compaction.
    Compacting,
    /// Compacted in near memory.
    Compacted,
}

/// Word of a span: the number of the submission that used it last, and its state.
#[derive(Debug)]
pub struct Span<W: World = Machine>(W::Word);

/// Value of a span's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanWord(u64);

impl SpanWord {
    fn new(state: SpanState, used: u64) -> Self {
        Self(used << 3 | state as u64)
    }

    /// Returns the state of the span.
    pub fn state(self) -> SpanState {
        use SpanState::{Cleared, Compacted, Compacting, Pinned, Resident};
        const ALL: [SpanState; 5] = [Pinned, Resident, Cleared, Compacting, Compacted];
        ALL[(self.0 & 7) as usize]
    }

    /// Returns the number of the submission that used the span last.
    pub fn used(self) -> u64 {
        self.0 >> 3
    }

    /// Returns true if the span may be compacted, because no submission from `before` on has used
    /// it.
    pub fn is_idle(self, before: u64) -> bool {
        matches!(self.state(), SpanState::Resident | SpanState::Cleared) && self.used() < before
    }
}

impl<W: World> Default for Span<W> {
    fn default() -> Self {
        Self(W::Word::new(SpanWord::new(SpanState::Pinned, 0).0))
    }
}

impl<W: World> Span<W> {
    /// Loads the word.
    pub fn get(&self) -> SpanWord {
        SpanWord(self.0.load(Ordering::Acquire))
    }

    /// Stores a word. The caller holds the memory's lock, and the span is compacted, cleared or
    /// pinned.
    pub fn set(&self, state: SpanState, used: u64) {
        self.0.store(SpanWord::new(state, used).0, Ordering::Release);
    }

    fn exchange(&self, known: SpanWord, new: SpanWord) -> bool {
        self.0.exchange(known.0, new.0, Ordering::AcqRel)
    }

    /// Marks the span as used by a submission. Returns false if it is not resident. A compaction
    /// of the span that is under way is abandoned, so no submission waits for one.
    pub fn mark(&self, number: u64) -> bool {
        loop {
            let word = self.get();
            match word.state() {
                SpanState::Pinned => return true,
                SpanState::Resident if word.used() >= number => return true,
                SpanState::Resident | SpanState::Compacting => {
                    if self.exchange(word, SpanWord::new(SpanState::Resident, word.used().max(number))) {
                        return true;
                    }
                }
                SpanState::Cleared | SpanState::Compacted => return false,
            }
        }
    }

    /// Makes the span resident for ever. A compaction that is under way is abandoned. The caller
    /// holds the memory's lock and has written the bytes of a compacted or cleared span.
    pub fn pin(&self) {
        while !self.exchange(self.get(), SpanWord::new(SpanState::Pinned, 0)) {}
    }

    /// Notes that a submission, which uses the span, clears it. Returns false if the span is not
    /// resident. The caller holds the memory's lock.
    pub fn clear(&self, number: u64) -> bool {
        loop {
            let word = self.get();
            if word.state() != SpanState::Resident {
                return false;
            }
            if self.exchange(word, SpanWord::new(SpanState::Cleared, word.used().max(number))) {
                return true;
            }
        }
    }

    /// Begins the compaction of the span, and returns its last user, if the span is resident and no
    /// submission from `before` on has used it. The caller holds no lock while it codes the bytes.
    /// A submission that uses the span meanwhile changes the word, and its writes may tear the
    /// bytes.
    pub fn begin_compaction(&self, before: u64) -> Option<u64> {
        let word = self.get();
        let begins = word.state() == SpanState::Resident
            && word.is_idle(before)
            && self.exchange(word, SpanWord::new(SpanState::Compacting, word.used()));
        begins.then_some(word.used())
    }

    /// Ends a compaction that began with `used` as the last user. `is_stored` is false if near
    /// memory has no room for the span, which then stays resident as if submission `before` had
    /// used it. Returns false if a submission has used the span meanwhile, and the coded bytes are
    /// invalid. The caller holds the memory's lock.
    pub fn end_compaction(&self, used: u64, is_stored: bool, before: u64) -> bool {
        let new = match is_stored {
            true => SpanWord::new(SpanState::Compacted, used),
            false => SpanWord::new(SpanState::Resident, used.max(before)),
        };
        self.exchange(SpanWord::new(SpanState::Compacting, used), new)
    }

    /// Makes the span compacted if it is cleared and no submission from `before` on has used it.
    /// The caller holds the memory's lock.
    pub fn compact_cleared(&self, before: u64) -> bool {
        let word = self.get();
        word.state() == SpanState::Cleared
            && word.is_idle(before)
            && self.exchange(word, SpanWord::new(SpanState::Compacted, word.used()))
    }
}

/// Maximum number of concurrent submissions that are tracked individually.
const MAX_TRACKED: usize = 64;

/// Numbers of submissions, from 1 on: the running ones, and the next. No thread waits for another.
#[derive(Debug)]
pub struct Submissions<W: World = Machine> {
    next: W::Word,
    /// For each tracked submission, a number that is at most its own; 0 for a free entry.
    tracked: Box<[W::Word]>,
    /// Number of running submissions without an entry.
    untracked: W::Word,
}

/// Number of a running submission, and its entry among the tracked ones.
#[derive(Debug, Clone, Copy)]
pub struct Submission {
    /// Number of the submission.
    pub number: u64,
    entry: Option<usize>,
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

impl<W: World> Default for Submissions<W> {
    fn default() -> Self {
        Self::with_entries(MAX_TRACKED)
    }
}

impl<W: World> Submissions<W> {
    fn with_entries(entries: usize) -> Self {
        let word = |value| W::Word::new(value);
        Self { next: word(1), tracked: (0..entries).map(|_| word(0)).collect(), untracked: word(0) }
    }

    /// Begins a submission. It takes its entry before its number, so a thread that does not see
    /// the entry has seen no greater number either.
    pub fn begin(&self) -> Submission {
        let least = self.next.load(Ordering::Relaxed);
        let mut entries = self.tracked.iter();
        let entry =
            entries.position(|entry| entry.load(Ordering::Relaxed) == 0 && entry.exchange(0, least, Ordering::AcqRel));
        if entry.is_none() {
            add::<W>(&self.untracked, 1);
        }
        Submission { number: add::<W>(&self.next, 1), entry }
    }

    /// Ends a submission.
    pub fn end(&self, submission: Submission) {
        match submission.entry {
            Some(entry) => self.tracked[entry].store(0, Ordering::Release),
            None => {
                add::<W>(&self.untracked, 1u64.wrapping_neg());
            }
        }
    }

    /// Returns a number that no running or future submission is below. Returns 0 while a running
    /// submission has no entry.
    pub fn oldest(&self) -> u64 {
        let next = self.next.load(Ordering::Acquire);
        if self.untracked.load(Ordering::Acquire) > 0 {
            return 0;
        }
        let tracked = self.tracked.iter().map(|entry| entry.load(Ordering::Acquire)).filter(|number| *number > 0);
        tracked.min().map_or(next, |least| least.min(next))
    }
}

#[cfg(test)]
mod tests;
