//! The translation table: where the lines of each page group are, and what the control surfaces say of it.
//!
//! A group's *state* is one word: the two bits of each of its eight lines (the render control surface), its bits of the compaction and the
//! page group control surface, where it lies, and a version that grows with every change. Beside it stand two sets of page numbers, of
//! which the state says which one is meant. So who moves a group writes the other set and then switches, with one store.
//!
//! - **Readers** never wait for a group that moves. They take a [`Snapshot`], read what it leads to, and ask whether it still holds; if not, what
//!   they read may be anything, and they begin anew. They wait only while lines are changed *where they lie*, which takes as long as copying them.
//! - **Writers** lock the group against each other, announce changes in place, and switch.
//! - **The daemon** copies what a snapshot leads to without a lock; it switches if nothing has happened since.
//!
//! Page numbers are always those of pages that exist, so that what a snapshot leads to can be read at any time. Pages that are given back
//! may be written by somebody else at once; whoever still reads them finds that the snapshot does not hold. What threads do at the
//! same time is modelled with loom: the table is written against [`World`].

use std::sync::atomic::Ordering;

use vitric_base::sync::{Machine, Word, World};

use super::codec::Control;

/// Lines of a group.
pub const LINES: usize = 8;
/// Most pages of a group.
pub const PAGES: usize = 4;

/// Where a group lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: each of its lines is the clear value that has this number.
    Void(usize),
    /// In pages of near memory.
    Near,
    /// In its slot of far memory.
    Far,
}

/// What a state says. Switching makes a new one of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State(u64);

const RCS: u64 = 0xffff;
const CLEAR: u32 = 16;
const CCS: u64 = 1 << 20;
const PGCS: u64 = 1 << 21;
const PLACE: u32 = 22;
const SET: u64 = 1 << 24;
/// A writer is at work.
const LOCKED: u64 = 1 << 25;
/// Lines change where they lie.
const CHANGING: u64 = 1 << 26;
/// The driver expects reads only.
const READ_ONLY: u64 = 1 << 27;
/// Newer lines may be in the compaction buffer.
const BUFFERED: u64 = 1 << 28;
const VERSION: u64 = 1 << 32;
/// What does not change where lines are.
const HINTS: u64 = LOCKED | READ_ONLY | BUFFERED;

/// Clear values that a table can tell apart.
pub const CLEARS: usize = 16;

impl State {
    /// What the render control surface says of a line.
    pub fn control(self, line: usize) -> Control {
        Control::of_bits(self.0 >> (2 * line))
    }

    /// Its bits for all lines.
    pub fn with_controls(self, controls: &[Control; LINES]) -> Self {
        let bits = controls.iter().enumerate().fold(0, |bits, (line, &control)| bits | (control as u64) << (2 * line));
        Self(self.0 & !RCS | bits)
    }

    /// Where the group lies.
    pub fn place(self) -> Place {
        match self.0 >> PLACE & 3 {
            0 => Place::Void((self.0 >> CLEAR) as usize % CLEARS),
            1 => Place::Near,
            _ => Place::Far,
        }
    }

    /// The same elsewhere.
    pub fn at(self, place: Place) -> Self {
        let (number, clear) = match place {
            Place::Void(clear) => (0, (clear % CLEARS) as u64),
            Place::Near => (1, 0),
            Place::Far => (2, 0),
        };
        Self(self.0 & !(3 << PLACE | (CLEARS as u64 - 1) << CLEAR) | number << PLACE | clear << CLEAR)
    }

    /// The group's bit of the compaction control surface: its lines follow each other, the compaction buffer has put them so.
    pub fn is_compacted(self) -> bool {
        self.0 & CCS != 0
    }

    /// Its bit of the page group control surface: its lines follow each other, the daemon has put them so.
    pub fn is_packed(self) -> bool {
        self.0 & PGCS != 0
    }

    /// Both bits.
    pub fn with_surfaces(self, compacted: bool, packed: bool) -> Self {
        let bits = if compacted { CCS } else { 0 } | if packed { PGCS } else { 0 };
        Self(self.0 & !(CCS | PGCS) | bits)
    }

    /// Whether lines follow each other, instead of lying 256 bytes apart.
    pub fn is_contiguous(self) -> bool {
        self.0 & (CCS | PGCS) != 0
    }

    /// Whether the driver expects reads only.
    pub fn is_read_only(self) -> bool {
        self.0 & READ_ONLY != 0
    }

    /// Whether the compaction buffer may have newer lines.
    pub fn is_buffered(self) -> bool {
        self.0 & BUFFERED != 0
    }

    /// Sub-blocks of all lines.
    pub fn sub_blocks(self) -> usize {
        (0..LINES).map(|line| self.control(line).sub_blocks()).sum()
    }

    /// First sub-block of a line in its group.
    pub fn start(self, line: usize) -> usize {
        if !self.is_contiguous() {
            return line * 4;
        }
        (0..line).map(|line| self.control(line).sub_blocks()).sum()
    }

    /// Pages that the group takes in near memory.
    pub fn pages(self) -> usize {
        match self.place() {
            Place::Near if self.is_contiguous() => super::pages_for(self.sub_blocks()),
            Place::Near => PAGES,
            Place::Void(_) | Place::Far => 0,
        }
    }
}

/// What a group was at some time.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Its state.
    pub state: State,
    /// Numbers of its pages, as many as [`State::pages`] says.
    pub pages: [u32; PAGES],
}

/// A group of the table.
#[derive(Debug)]
pub struct Group<W: World = Machine> {
    state: W::Word,
    sets: [[W::Word; 2]; 2],
}

impl<W: World> Default for Group<W> {
    /// A group that lies nowhere: lines of the first clear value.
    fn default() -> Self {
        let word = || W::Word::new(0);
        Self { state: word(), sets: [[word(), word()], [word(), word()]] }
    }
}

impl<W: World> Group<W> {
    fn at(&self, state: u64) -> Snapshot {
        let set = &self.sets[usize::from(state & SET != 0)];
        let [low, high] = [0, 1].map(|word: usize| set[word].load(Ordering::Relaxed));
        Snapshot { state: State(state), pages: [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32] }
    }

    /// What the group is now, for readers. Waits while its lines change where they lie.
    pub fn snapshot(&self) -> Snapshot {
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & CHANGING == 0 {
                return self.at(state);
            }
            W::wait();
        }
    }

    /// Whether what a snapshot led to was what the group had all the time; to be asked after it was read.
    pub fn still_holds(&self, snapshot: &Snapshot) -> bool {
        W::fence(Ordering::Acquire);
        (self.state.load(Ordering::Relaxed) ^ snapshot.state.0) & !HINTS == 0
    }

    /// What the group is now, whoever is at work; for statistics and choices.
    pub fn state(&self) -> State {
        State(self.state.load(Ordering::Relaxed))
    }

    /// Keeps other writers away, when no one is at work.
    pub fn try_lock(&self) -> Option<Locked<'_, W>> {
        let state = self.state.load(Ordering::Relaxed);
        if state & LOCKED != 0 || !self.state.exchange(state, state | LOCKED, Ordering::Acquire) {
            return None;
        }
        Some(Locked { group: self, state, ended: 0 })
    }

    /// Keeps other writers away.
    pub fn lock(&self) -> Locked<'_, W> {
        loop {
            if let Some(locked) = self.try_lock() {
                return locked;
            }
            W::wait();
        }
    }

    /// Keeps writers away, if nothing has happened since a snapshot was taken.
    pub fn lock_if(&self, snapshot: &Snapshot) -> Option<Locked<'_, W>> {
        let locked = self.try_lock()?;
        let holds = (locked.state ^ snapshot.state.0) & !HINTS == 0;
        holds.then_some(locked)
    }
}

/// A group that is one writer's. When it is dropped, the group is as it was.
#[derive(Debug)]
pub struct Locked<'g, W: World = Machine> {
    group: &'g Group<W>,
    /// Without the lock.
    state: u64,
    /// Hints that end when the group is switched.
    ended: u64,
}

impl<W: World> Locked<'_, W> {
    /// What the group is.
    pub fn snapshot(&self) -> Snapshot {
        self.group.at(self.state)
    }

    /// Lines are going to change where they lie: readers wait from now on until the group is switched.
    pub fn change(&mut self) {
        self.state |= CHANGING;
        self.group.state.store(self.state | LOCKED, Ordering::Relaxed);
        // Who reads what is written from now on finds that it changes.
        W::fence(Ordering::Release);
    }

    /// Whether the driver expects reads only, and whether the compaction buffer has newer lines, where that is not as it was.
    pub fn set_hints(&mut self, read_only: Option<bool>, buffered: Option<bool>) {
        for (bit, value) in [(READ_ONLY, read_only), (BUFFERED, buffered)] {
            match value {
                Some(true) => self.state |= bit,
                Some(false) => self.state &= !bit,
                None => {}
            }
        }
    }

    /// When the group is switched, its lines are written: reads are no longer all that is expected, and the compaction buffer has none of
    /// them, if `gathered`.
    pub fn written(&mut self, gathered: bool) {
        self.ended = READ_ONLY | if gathered { BUFFERED } else { 0 };
    }

    /// Ends with the group elsewhere, or with other lines: `state` is made of the group's own.
    pub fn switch(mut self, state: State, pages: [u32; PAGES]) {
        let old = self.state;
        let set = &self.group.sets[usize::from(old & SET == 0)];
        let [a, b, c, d] = pages.map(u64::from);
        set[0].store(a | b << 32, Ordering::Relaxed);
        set[1].store(c | d << 32, Ordering::Relaxed);
        let kept = old & (READ_ONLY | BUFFERED) & !self.ended;
        let said = state.0 & (RCS | CCS | PGCS | 3 << PLACE | (CLEARS as u64 - 1) << CLEAR);
        let version = (old & !(VERSION - 1)).wrapping_add(VERSION);
        self.state = version | said | kept | old & SET ^ SET;
    }
}

impl<W: World> Drop for Locked<'_, W> {
    fn drop(&mut self) {
        // A change that was announced has ended, too.
        self.group.state.store(self.state & !CHANGING, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
