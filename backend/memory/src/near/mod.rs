//! Compacted near memory: lines of surfaces, coded, in a bounded memory of pages over a larger one.
//!
//! The driver puts images here that rest (`memory/rest`), whole page groups at a time. The compaction buffer and the daemon, which serve who
//! writes line by line, are used by tests only.
//!
//! Conventions: a *line* is 256 bytes, a *sub-block* 64; eight lines that follow each other are a *page group* of 2 KiB. Near
//! memory has *pages* of 512 bytes, four to a group whose lines lie where they would uncoded, fewer to one whose coded lines *follow
//! each other*. Who writes says which codec (so does who reads, the same): a group's lines are of one surface.
//!
//! - `codec`: lines to sub-blocks and back. Their numbers are the *render control surface* (RCS), two bits a line.
//! - `buffer`: the compaction buffer, technique one, where lines wait for the others of their group. A group that leaves it takes as
//!   few pages as it can; one that takes fewer than four has its bit in the *compaction control surface* (CCS).
//! - `daemon`: technique two, a thread that packs groups when pages become few. Those have bits in the *page group control surface* (PGCS).
//! - `table`: the translation table, which holds the three surfaces, and says where groups are; what threads may do at the same time.
//! - `pages`, `far`: storage. A group without pages lies nowhere (all lines have a clear value, no page is taken), or in far memory.
//!
//! Order of locks: the compaction buffer, then one group; of other groups those that nobody has. Source: DESIGN 3.6.

mod buffer;
pub mod codec;
mod daemon;
mod far;
mod groups;
mod pages;
mod stats;
mod table;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};

use self::buffer::{Buffer, Gathered};
use self::codec::{Codec, Control, LINE, Line, SUB_BLOCK};
pub use self::daemon::Daemon;
use self::far::Far;
pub use self::far::FarFile;
use self::groups::Groups;
use self::pages::{Pages, WORDS};
pub use self::stats::{Stat, Stats};
pub use self::table::LINES;
use self::table::{CLEARS, Locked, PAGES, Place, Snapshot, State};

/// Bytes of a page.
pub const PAGE: usize = 512;
/// Bytes of a page group.
pub const GROUP: usize = LINES * LINE;

/// Pages that so many sub-blocks take, one after the other.
pub fn pages_for(sub_blocks: usize) -> usize {
    (sub_blocks * SUB_BLOCK).div_ceil(PAGE)
}

/// What a memory is made of.
#[derive(Debug, Clone)]
pub struct Config {
    /// Pages of near memory, at least 4.
    pub pages: usize,
    /// Page groups that there are, near, far, or nowhere.
    pub groups: usize,
    /// The file that is far memory; none, and it is anonymous memory.
    pub far: Option<Arc<FarFile>>,
    /// Groups in the compaction buffer; 0: lines are written as they come, and technique one is off.
    pub buffer: usize,
    /// The daemon is called when fewer pages are free.
    pub low: usize,
}

/// A value that whole groups have without pages.
#[derive(Debug)]
struct Clear {
    line: Line,
    control: Control,
    coded: Line,
}

/// The coded lines of a group.
#[derive(Debug, Clone)]
struct Contents {
    lines: [Line; LINES],
    controls: [Control; LINES],
}

/// Near and far memory.
#[derive(Debug)]
pub struct NearMemory {
    groups: Groups,
    pages: Pages,
    far: Far,
    clears: [OnceLock<Clear>; CLEARS],
    buffer: Mutex<Buffer>,
    tick: AtomicU64,
    low: usize,
    /// Where eviction looks next.
    hand: AtomicUsize,
    /// Pages that are left to the daemon: what it needs for one group.
    reserve: AtomicUsize,
    /// Whether the daemon is packing, and what wakes it.
    packing: AtomicBool,
    wanted: (Mutex<daemon::Wanted>, Condvar),
    /// Sub-blocks of lines that are somewhere, and groups.
    sub_blocks: AtomicUsize,
    somewhere: AtomicUsize,
    stats: Stats,
}

fn words(line: &Line, control: Control) -> &[u64] {
    &bytemuck::cast_slice(&line.0)[..control.sub_blocks() * WORDS]
}

fn words_mut(line: &mut Line, control: Control) -> &mut [u64] {
    &mut bytemuck::cast_slice_mut(&mut line.0)[..control.sub_blocks() * WORDS]
}

impl NearMemory {
    /// A memory all of whose lines are zeros.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(config: &Config) -> io::Result<Self> {
        let far = match &config.far {
            Some(file) => Far::File(file.clone()),
            None => Far::anonymous(config.groups)?,
        };
        let clears: [OnceLock<Clear>; CLEARS] = std::array::from_fn(|_| OnceLock::new());
        // Every codec says zeros the same way: offsets, no planes, bases of zero.
        let mut coded = Line::ZERO;
        let control = Codec::of_bytes().encode(&Line::ZERO, &mut coded);
        let _ = clears[0].set(Clear { line: Line::ZERO, control, coded });
        Ok(Self {
            groups: Groups::new(config.groups),
            pages: Pages::new(config.pages.max(PAGES))?,
            far,
            clears,
            buffer: Mutex::new(Buffer::new(config.buffer)),
            tick: AtomicU64::new(0),
            low: config.low,
            hand: AtomicUsize::new(0),
            reserve: AtomicUsize::new(0),
            packing: AtomicBool::new(false),
            wanted: Default::default(),
            sub_blocks: AtomicUsize::new(0),
            somewhere: AtomicUsize::new(0),
            stats: Stats::default(),
        })
    }

    /// Groups that there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// What it counts.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Pages that are free now, and pages that there are.
    pub fn free_pages(&self) -> (usize, usize) {
        (self.pages.free_count(), self.pages.count())
    }

    /// What the render control surface says of a line. Lines in the compaction buffer are not in it yet.
    pub fn control(&self, line: usize) -> Control {
        self.groups[line / LINES].state().control(line % LINES)
    }

    /// A group's bits of the compaction and of the page group control surface.
    pub fn surfaces(&self, group: usize) -> (bool, bool) {
        let state = self.groups[group].state();
        (state.is_compacted(), state.is_packed())
    }

    /// Pages that a group takes now.
    pub fn pages_of(&self, group: usize) -> usize {
        self.groups[group].state().pages()
    }

    /// Bytes of the process's memory that a group takes now.
    pub fn bytes_of(&self, group: usize) -> usize {
        let state = self.groups[group].state();
        match (state.place(), &self.far) {
            (Place::Near, _) => state.pages() * PAGE,
            (Place::Far, Far::Anonymous(_)) => state.sub_blocks() * SUB_BLOCK,
            (Place::Far, Far::File(_)) | (Place::Void(_), _) => 0,
        }
    }

    /// A tile or a submission has ended: what is written from now on is newer.
    pub fn tick(&self) {
        self.tick.fetch_add(1, Ordering::Relaxed);
        self.buffer.lock().tick();
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Those of a file that is far memory.
    ///
    /// # Panics
    /// There is no such line; so do all functions that name lines and groups.
    pub fn read(&self, codec: &Codec, line: usize, out: &mut Line) -> io::Result<()> {
        let (number, line) = (line / LINES, line % LINES);
        let group = &self.groups[number];
        loop {
            let mut snapshot = group.snapshot();
            if snapshot.state.is_buffered() {
                let buffer = self.buffer.lock();
                if let Some((control, coded)) = buffer.find(number, line) {
                    codec.decode(*control, coded, out);
                    return Ok(());
                }
                snapshot = group.snapshot();
            }
            let mut coded = Line::ZERO;
            let read = self.read_coded(number, &snapshot, line, &mut coded);
            if group.still_holds(&snapshot) {
                let control = read?;
                self.count_line(&snapshot, control);
                match snapshot.state.place() {
                    Place::Void(clear) => *out = self.clears[clear].get().map_or(Line::ZERO, |clear| clear.line),
                    Place::Near | Place::Far => codec.decode(control, &coded, out),
                }
                return Ok(());
            }
        }
    }

    fn count_line(&self, snapshot: &Snapshot, control: Control) {
        match snapshot.state.place() {
            Place::Void(_) => {}
            Place::Near => self.stats.count(Stat::NearOut, control.bytes()),
            Place::Far => self.stats.count(Stat::FarOut, control.bytes()),
        }
    }

    /// Reads what a snapshot leads to of a line. It is anything where the snapshot does not hold afterwards.
    fn read_coded(&self, group: usize, snapshot: &Snapshot, line: usize, coded: &mut Line) -> io::Result<Control> {
        let state = snapshot.state;
        let (control, start) = (state.control(line), state.start(line));
        match state.place() {
            Place::Void(clear) => {
                let Some(clear) = self.clears[clear].get() else { return Ok(control) };
                *coded = clear.coded;
                return Ok(clear.control);
            }
            Place::Near => self.pages.read(&snapshot.pages, start, words_mut(coded, control)),
            Place::Far => self.far.read(group, start, words_mut(coded, control))?,
        }
        Ok(control)
    }

    fn contents(&self, group: usize, snapshot: &Snapshot) -> io::Result<Contents> {
        let mut contents = Contents { lines: [Line::ZERO; LINES], controls: [Control::Raw; LINES] };
        for (line, (coded, control)) in contents.lines.iter_mut().zip(&mut contents.controls).enumerate() {
            *control = self.read_coded(group, snapshot, line, coded)?;
            self.count_line(snapshot, *control);
        }
        Ok(contents)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// Neither near nor far memory has room. The line, or another that had to make room, may then be lost only if the caller gives up:
    /// what waited still waits.
    pub fn write(&self, codec: &Codec, line: usize, data: &Line) -> io::Result<()> {
        let mut coded = Line::ZERO;
        let control = codec.encode(data, &mut coded);
        let sizes = [Stat::LinesOne, Stat::LinesTwo, Stat::LinesThree, Stat::LinesRaw];
        self.stats.count(sizes[control as usize], 1);
        let (group, line) = (line / LINES, line % LINES);
        self.groups.written(group).store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut buffer = self.buffer.lock();
        if !buffer.is_used() {
            drop(buffer);
            return self.store(&Gathered::one(group, line, control, &coded), false);
        }
        while !buffer.put(group, line, control, &coded) {
            self.evict_next(&mut buffer)?;
        }
        let mut locked = self.groups[group].lock();
        locked.set_hints(Some(false), Some(true));
        Ok(())
    }

    /// Empties the compaction buffer.
    ///
    /// # Errors
    /// As for [`Self::write`].
    pub fn flush(&self) -> io::Result<()> {
        let mut buffer = self.buffer.lock();
        while self.evict_next(&mut buffer)? {}
        Ok(())
    }

    /// Has a group leave the compaction buffer. False when there is none.
    fn evict_next(&self, buffer: &mut Buffer) -> io::Result<bool> {
        let Some(gathered) = buffer.next() else { return Ok(false) };
        let stored = self.store(&gathered, true);
        if stored.is_err() {
            buffer.restore(gathered);
        }
        stored.map(|()| true)
    }

    /// Stores lines of a group, in as few pages as they take together if it comes from the compaction buffer.
    fn store(&self, gathered: &Gathered, compact: bool) -> io::Result<()> {
        let mut locked = self.groups[gathered.group].lock();
        let old = locked.snapshot();
        locked.written(compact);
        if !compact && old.state.place() == Place::Near && !old.state.is_contiguous() {
            self.store_in_place(locked, gathered);
            return Ok(());
        }
        let mut contents = self.contents(gathered.group, &old)?;
        for (line, new) in gathered.lines.iter().enumerate() {
            if let Some((control, coded)) = new {
                (contents.controls[line], contents.lines[line]) = (*control, *coded);
            }
        }
        let state = self.arranged(&old, &contents, compact);
        self.move_to_near(locked, gathered.group, &contents, state)
    }

    /// Lines that lie 256 bytes apart in near memory are overwritten.
    fn store_in_place(&self, mut locked: Locked<'_>, gathered: &Gathered) {
        let old = locked.snapshot();
        locked.change();
        let mut controls: [Control; LINES] = std::array::from_fn(|line| old.state.control(line));
        for (line, new) in gathered.lines.iter().enumerate() {
            if let Some((control, coded)) = new {
                self.pages.write(&old.pages, old.state.start(line), words(coded, *control));
                self.stats.count(Stat::NearIn, control.bytes());
                controls[line] = *control;
            }
        }
        let state = old.state.with_controls(&controls);
        self.note(&old, state);
        locked.switch(state, old.pages);
    }

    /// How a group is to lie in near memory that has new contents.
    fn arranged(&self, old: &Snapshot, contents: &Contents, compact: bool) -> State {
        let state = old.state.at(Place::Near).with_controls(&contents.controls);
        let pages = pages_for(state.sub_blocks());
        let was_contiguous = old.state.is_contiguous();
        let before = pages_for(old.state.sub_blocks());
        let arranged = if compact {
            state.with_surfaces(pages < PAGES, false)
        } else if was_contiguous && pages <= before {
            // What was packed stays so while it fits.
            state
        } else {
            state.with_surfaces(false, false)
        };
        if was_contiguous && arranged.pages() > before {
            self.stats.count(Stat::GroupsExpanded, 1);
        }
        if old.state.is_packed() && !arranged.is_contiguous() {
            self.stats.count(Stat::GroupsUnpacked, 1);
        }
        if compact && arranged.is_compacted() {
            self.stats.count(Stat::GroupsCompacted, 1);
        }
        arranged
    }

    /// Writes a group's contents to near memory, in the pages that it has and others, or to far memory where there is no room.
    fn move_to_near(&self, mut locked: Locked<'_>, group: usize, contents: &Contents, state: State) -> io::Result<()> {
        let old = locked.snapshot();
        let (had, needs) = (old.state.pages(), state.pages());
        let mut pages = old.pages;
        if needs > had && !self.make_room(&mut pages[had..needs]) {
            return self.move_to_far(locked, group, contents, state.at(Place::Far));
        }
        locked.change();
        for (line, coded) in contents.lines.iter().enumerate() {
            self.pages.write(&pages, state.start(line), words(coded, state.control(line)));
        }
        self.stats.count(Stat::NearIn, state.sub_blocks() * SUB_BLOCK);
        self.note(&old, state);
        locked.switch(state, pages);
        self.pages.give(&pages[needs..had.max(needs)]);
        self.call_daemon();
        Ok(())
    }

    /// Writes a group's contents to far memory. Pages that it had are free then.
    fn move_to_far(&self, mut locked: Locked<'_>, group: usize, contents: &Contents, state: State) -> io::Result<()> {
        let old = locked.snapshot();
        let before = if old.state.place() == Place::Far { Some(self.contents(group, &old)?) } else { None };
        if before.is_some() {
            locked.change();
        }
        if let Err(error) = self.write_far(group, contents, state) {
            // What was there had its blocks of the file.
            if let Some(before) = before {
                self.write_far(group, &before, old.state)?;
            }
            return Err(error);
        }
        self.stats.count(Stat::FarIn, state.sub_blocks() * SUB_BLOCK);
        self.note(&old, state);
        locked.switch(state, old.pages);
        self.pages.give(&old.pages[..old.state.pages()]);
        Ok(())
    }

    /// One write: lines that lie apart have zeros between them.
    fn write_far(&self, group: usize, contents: &Contents, state: State) -> io::Result<()> {
        let mut all = [0; GROUP / 8];
        let mut end = 0;
        for (line, coded) in contents.lines.iter().enumerate() {
            let (coded, start) = (words(coded, state.control(line)), state.start(line) * WORDS);
            end = start + coded.len();
            all[start..end].copy_from_slice(coded);
        }
        self.far.write(group, 0, &all[..end])
    }

    /// Takes free pages; where there are too few, groups go to far memory. False when that does not help.
    fn make_room(&self, pages: &mut [u32]) -> bool {
        let leave = self.reserve.load(Ordering::Relaxed);
        // The daemon may be about to free pages, which costs less.
        for _ in 0..16 {
            if self.pages.take(pages, leave) {
                return true;
            }
            if !self.packing.load(Ordering::Relaxed) {
                break;
            }
            std::thread::yield_now();
        }
        let reach = self.groups.reach();
        for _ in 0..reach {
            let number = self.hand.fetch_add(1, Ordering::Relaxed) % reach;
            if self.evict(number) && self.pages.take(pages, leave) {
                return true;
            }
        }
        false
    }

    /// Moves a group from near to far memory as it is, if nobody has it.
    fn evict(&self, number: usize) -> bool {
        let group = &self.groups[number];
        if group.state().place() != Place::Near {
            return false;
        }
        let Some(locked) = group.try_lock() else { return false };
        let old = locked.snapshot();
        if old.state.place() != Place::Near {
            return false;
        }
        let moved = self.contents(number, &old);
        let moved = moved.and_then(|contents| self.move_to_far(locked, number, &contents, old.state.at(Place::Far)));
        self.stats.count(Stat::GroupsEvicted, usize::from(moved.is_ok()));
        moved.is_ok()
    }

    /// Keeps account of what a switch changes.
    fn note(&self, old: &Snapshot, new: State) {
        let size = |state: State| match state.place() {
            Place::Void(_) => 0,
            Place::Near | Place::Far => state.sub_blocks(),
        };
        let (before, after) = (size(old.state), size(new));
        let sub_blocks = self.sub_blocks.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        let more = usize::from(after > 0).wrapping_sub(usize::from(before > 0));
        let somewhere = self.somewhere.fetch_add(more, Ordering::Relaxed);
        self.stats.peak(Stat::PeakCompressed, sub_blocks.wrapping_add(after).wrapping_sub(before) * SUB_BLOCK);
        self.stats.peak(Stat::PeakRaw, somewhere.wrapping_add(more) * GROUP);
        self.stats.peak(Stat::PeakCompacted, (self.pages.count() - self.pages.free_count()) * PAGE);
    }

    /// Clears groups to a line, by their control bits where a value of the table is free, else line by line.
    ///
    /// # Errors
    /// As for [`Self::write`], and only where lines are written.
    pub fn clear(&self, codec: &Codec, groups: Range<usize>, line: &Line) -> io::Result<()> {
        let Some(clear) = self.clear_value(codec, line) else {
            return groups
                .flat_map(|group| group * LINES..(group + 1) * LINES)
                .try_for_each(|number| self.write(codec, number, line));
        };
        self.stats.count(Stat::GroupsCleared, groups.len());
        for group in groups {
            self.empty(group, clear);
        }
        Ok(())
    }

    /// Nothing of these groups is needed: their pages are free. They read as zeros.
    pub fn discard(&self, groups: Range<usize>) {
        self.stats.count(Stat::GroupsDiscarded, groups.len());
        let far = groups.clone().filter(|&group| self.empty(group, 0) == Place::Far).count();
        if far > 0 {
            self.far.discard(groups);
        }
    }

    /// Writes all lines of a group at once: it is compacted as it comes, and the compaction buffer has nothing to gather.
    ///
    /// # Errors
    /// Neither near nor far memory has room; the group is as it was.
    pub fn put(&self, codec: &Codec, group: usize, lines: &[Line; LINES]) -> io::Result<()> {
        let mut gathered = Gathered::one(group, 0, Control::Raw, &Line::ZERO);
        let sizes = [Stat::LinesOne, Stat::LinesTwo, Stat::LinesThree, Stat::LinesRaw];
        for (line, stored) in lines.iter().zip(&mut gathered.lines) {
            let mut coded = Line::ZERO;
            let control = codec.encode(line, &mut coded);
            self.stats.count(sizes[control as usize], 1);
            *stored = Some((control, coded));
        }
        self.groups.written(group).store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        self.store(&gathered, true)
    }

    /// Reads all lines of a group.
    ///
    /// # Errors
    /// Those of a file that is far memory.
    pub fn get(&self, codec: &Codec, group: usize, lines: &mut [Line; LINES]) -> io::Result<()> {
        let first = group * LINES;
        lines.iter_mut().zip(first..).try_for_each(|(line, number)| self.read(codec, number, line))
    }

    /// Gives pages of the system that no page group has back to it.
    pub fn trim(&self) {
        self.pages.trim();
    }

    fn clear_value(&self, codec: &Codec, line: &Line) -> Option<usize> {
        self.clears.iter().position(|clear| {
            let value = clear.get_or_init(|| {
                let mut coded = Line::ZERO;
                let control = codec.encode(line, &mut coded);
                Clear { line: *line, control, coded }
            });
            // Codes of other codecs are no use where lines of a group are stored.
            let mut back = Line::ZERO;
            codec.decode(value.control, &value.coded, &mut back);
            value.line == *line && back == *line
        })
    }

    /// Makes a group void, and says where it was.
    fn empty(&self, number: usize, clear: usize) -> Place {
        let mut buffer = self.buffer.lock();
        buffer.discard(number);
        let mut locked = self.groups[number].lock();
        locked.set_hints(Some(false), Some(false));
        drop(buffer);
        let old = locked.snapshot();
        let state = old.state.at(Place::Void(clear)).with_surfaces(false, false);
        self.note(&old, state);
        locked.switch(state, old.pages);
        self.pages.give(&old.pages[..old.state.pages()]);
        old.state.place()
    }

    /// The driver expects no writes to these groups: a finished render target that is bound as a texture, a finished tile. The next
    /// write ends that.
    pub fn expect_reads(&self, groups: Range<usize>) {
        for number in groups {
            self.groups[number].lock().set_hints(Some(true), None);
        }
    }
}

#[cfg(test)]
mod stress;
#[cfg(test)]
mod tests;
