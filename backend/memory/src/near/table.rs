//! Translation table: the place of each page group's lines, and its bits of the control surfaces.
//!
//! The *state* of a group is one word. It contains the two bits of each of its eight lines (the
//! render control surface), and its bits of the compaction and page group control surfaces. It
//! also contains its place, and a version that grows with every change. Beside the word are two
//! sets of page numbers, and the state selects one. A writer that moves a group fills the other
//! set and then switches with one store.
//!
//! - **Readers** never wait for a group that moves. They load a [`Snapshot`], read the lines to
//!   which it refers, and check if it is still valid. If not, the bytes read are unspecified, and
//!   the reader starts again. Readers wait only while lines change *in place*, which takes as long
//!   as copying them.
//! - **Writers** lock the group against each other, announce changes in place, and switch.
//! - **The daemon** copies the lines of a snapshot without a lock. It switches if the group has
//!   not changed since.
//!
//! Page numbers always refer to existing pages, so the pages of a snapshot can be read at any
//! time. Another group may write freed pages immediately, and a thread that still reads them finds
//! its snapshot invalid. Loom models the concurrent accesses: the table is generic over [`World`].

use std::sync::atomic::Ordering;

use vitric_base::sync::{Machine, Word, World};

use super::codec::Control;

/// Lines of a group.
pub const LINES: usize = 8;
/// Maximum number of pages of a group.
pub const MAX_PAGES: usize = 4;

/// Place of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Void: each line is the clear value with this number.
    Void(usize),
    /// In pages of near memory.
    Near,
    /// In its slot of far memory.
    Far,
}

/// State of a group. A switch replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupState(u64);

const RCS: u64 = 0xffff;
const CLEAR: u32 = 16;
const CCS: u64 = 1 << 20;
const PGCS: u64 = 1 << 21;
const PLACE: u32 = 22;
const SET: u64 = 1 << 24;
/// A writer has locked the group.
const LOCKED: u64 = 1 << 25;
/// Lines change in place.
const CHANGING: u64 = 1 << 26;
/// The driver expects only reads.
const READ_ONLY: u64 = 1 << 27;
/// The compaction buffer may have newer lines.
const BUFFERED: u64 = 1 << 28;
const VERSION: u64 = 1 << 32;
/// Bits that do not affect the place of lines.
const HINTS: u64 = LOCKED | READ_ONLY | BUFFERED;

/// Maximum number of clear values of a table.
pub const MAX_CLEARS: usize = 16;

impl GroupState {
    /// Returns the render control surface's value of a line.
    pub fn control(self, line: usize) -> Control {
        Control::of_bits(self.0 >> (2 * line))
    }

    /// Returns the state with the render control surface's values of all lines.
    pub fn with_controls(self, controls: &[Control; LINES]) -> Self {
        let bits = controls.iter().enumerate().fold(0, |bits, (line, &control)| bits | (control as u64) << (2 * line));
        Self(self.0 & !RCS | bits)
    }

    /// Returns the place of the group.
    pub fn place(self) -> Place {
        match self.0 >> PLACE & 3 {
            0 => Place::Void((self.0 >> CLEAR) as usize % MAX_CLEARS),
            1 => Place::Near,
            _ => Place::Far,
        }
    }

    /// Returns the state with another place.
    pub fn at(self, place: Place) -> Self {
        let (number, clear) = match place {
            Place::Void(clear) => (0, (clear % MAX_CLEARS) as u64),
            Place::Near => (1, 0),
            Place::Far => (2, 0),
        };
        Self(self.0 & !(3 << PLACE | (MAX_CLEARS as u64 - 1) << CLEAR) | number << PLACE | clear << CLEAR)
    }

    /// Returns the group's bit of the compaction control surface: the compaction buffer made its
    /// lines contiguous.
    pub fn is_compacted(self) -> bool {
        self.0 & CCS != 0
    }

    /// Returns the group's bit of the page group control surface: the daemon made its lines
    /// contiguous.
    pub fn is_packed(self) -> bool {
        self.0 & PGCS != 0
    }

    /// Returns the state with these bits of both surfaces.
    pub fn with_surfaces(self, compacted: bool, packed: bool) -> Self {
        let bits = if compacted { CCS } else { 0 } | if packed { PGCS } else { 0 };
        Self(self.0 & !(CCS | PGCS) | bits)
    }

    /// Returns true if the lines in near memory are contiguous, and false if they lie 256 bytes
    /// apart.
    pub fn is_contiguous(self) -> bool {
        self.0 & (CCS | PGCS) != 0
    }

    /// Returns true if the driver expects only reads.
    pub fn is_read_only(self) -> bool {
        self.0 & READ_ONLY != 0
    }

    /// Returns true if the compaction buffer may have newer lines.
    pub fn is_buffered(self) -> bool {
        self.0 & BUFFERED != 0
    }

    /// Returns the number of sub-blocks of all lines.
    pub fn sub_blocks(self) -> usize {
        (0..LINES).map(|line| self.control(line).sub_blocks()).sum()
    }

    /// Returns the first sub-block of a line in its group.
    pub fn start(self, line: usize) -> usize {
        if !self.is_contiguous() && self.place() != Place::Far {
            return line * 4;
        }
        (0..line).map(|line| self.control(line).sub_blocks()).sum()
    }

    /// Returns the number of pages that the group occupies in near memory.
    pub fn pages(self) -> usize {
        match self.place() {
            Place::Near if self.is_contiguous() => super::pages_for(self.sub_blocks()),
            Place::Near => MAX_PAGES,
            Place::Void(_) | Place::Far => 0,
        }
    }

    /// Returns the number of pages that the group occupies in anonymous far memory, where lines are
    /// always contiguous.
    pub fn far_pages(self) -> usize {
        if self.place() == Place::Far { super::pages_for(self.sub_blocks()) } else { 0 }
    }
}

/// State and pages of a group at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// State.
    pub state: GroupState,
    /// Numbers of its pages. The first [`GroupState::pages`] elements are valid, or in anonymous
    /// far memory the first [`GroupState::far_pages`].
    pub pages: [u32; MAX_PAGES],
}

/// Group of the table.
#[derive(Debug)]
pub struct Group<W: World = Machine> {
    state: W::Word,
    sets: [[W::Word; 2]; 2],
}

impl<W: World> Default for Group<W> {
    /// Creates a void group, whose lines are the first clear value.
    fn default() -> Self {
        let word = || W::Word::new(0);
        Self { state: word(), sets: [[word(), word()], [word(), word()]] }
    }
}

impl<W: World> Group<W> {
    fn at(&self, state: u64) -> Snapshot {
        let set = &self.sets[usize::from(state & SET != 0)];
        let [low, high] = [0, 1].map(|word: usize| set[word].load(Ordering::Relaxed));
        Snapshot { state: GroupState(state), pages: [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32] }
    }

    /// Returns the current state and pages, for readers. Waits while lines change in place.
    pub fn snapshot(&self) -> Snapshot {
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & CHANGING == 0 {
                return self.at(state);
            }
            W::wait();
        }
    }

    /// Returns true if the data of a snapshot was valid all the time. Must be called after the
    /// data was read.
    pub fn still_holds(&self, snapshot: &Snapshot) -> bool {
        W::fence(Ordering::Acquire);
        (self.state.load(Ordering::Relaxed) ^ snapshot.state.0) & !HINTS == 0
    }

    /// Returns the current state without waiting for writers, for statistics and selection.
    pub fn state(&self) -> GroupState {
        GroupState(self.state.load(Ordering::Relaxed))
    }

    /// Locks the group against other writers. Returns `None` if another writer has locked it.
    pub fn try_lock(&self) -> Option<Locked<'_, W>> {
        let state = self.state.load(Ordering::Relaxed);
        if state & LOCKED != 0 || !self.state.exchange(state, state | LOCKED, Ordering::Acquire) {
            return None;
        }
        Some(Locked { group: self, state, ended: 0 })
    }

    /// Locks the group against other writers.
    pub fn lock(&self) -> Locked<'_, W> {
        loop {
            if let Some(locked) = self.try_lock() {
                return locked;
            }
            W::wait();
        }
    }

    /// Locks the group against other writers. Returns `None` if it is locked or has changed since
    /// a snapshot.
    pub fn lock_if(&self, snapshot: &Snapshot) -> Option<Locked<'_, W>> {
        let locked = self.try_lock()?;
        let holds = (locked.state ^ snapshot.state.0) & !HINTS == 0;
        holds.then_some(locked)
    }
}

/// Group locked by one writer. Without a switch, a drop keeps the group's place and lines.
#[derive(Debug)]
pub struct Locked<'g, W: World = Machine> {
    group: &'g Group<W>,
    /// State without the lock bit.
    state: u64,
    /// Hint bits that a switch clears.
    ended: u64,
}

impl<W: World> Locked<'_, W> {
    /// Returns the state and pages of the group.
    pub fn snapshot(&self) -> Snapshot {
        self.group.at(self.state)
    }

    /// Announces that lines change in place: readers wait from now on until the switch.
    pub fn change(&mut self) {
        self.state |= CHANGING;
        self.group.state.store(self.state | LOCKED, Ordering::Relaxed);
        // A thread that reads a later write also sees the announcement.
        W::fence(Ordering::Release);
    }

    /// Sets the hints that the driver expects only reads, and that the compaction buffer has newer
    /// lines. `None` keeps a hint.
    pub fn set_hints(&mut self, read_only: Option<bool>, buffered: Option<bool>) {
        for (bit, value) in [(READ_ONLY, read_only), (BUFFERED, buffered)] {
            match value {
                Some(true) => self.state |= bit,
                Some(false) => self.state &= !bit,
                None => {}
            }
        }
    }

    /// Records that the next switch writes lines. The switch ends the expectation of reads only,
    /// and with `gathered` it marks the compaction buffer as empty for this group.
    pub fn written(&mut self, gathered: bool) {
        self.ended = READ_ONLY | if gathered { BUFFERED } else { 0 };
    }

    /// Ends the lock with a new place or new lines. `state` must be derived from the group's
    /// state.
    pub fn switch(mut self, state: GroupState, pages: [u32; MAX_PAGES]) {
        let old = self.state;
        let set = &self.group.sets[usize::from(old & SET == 0)];
        let [a, b, c, d] = pages.map(u64::from);
        set[0].store(a | b << 32, Ordering::Relaxed);
        set[1].store(c | d << 32, Ordering::Relaxed);
        let kept = old & (READ_ONLY | BUFFERED) & !self.ended;
        let stored = state.0 & (RCS | CCS | PGCS | 3 << PLACE | (MAX_CLEARS as u64 - 1) << CLEAR);
        let version = (old & !(VERSION - 1)).wrapping_add(VERSION);
        self.state = version | stored | kept | old & SET ^ SET;
    }
}

impl<W: World> Drop for Locked<'_, W> {
    fn drop(&mut self) {
        // The announcement of a change in place ends with the lock.
        self.group.state.store(self.state & !CHANGING, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
