//! Near memory: coded lines of surfaces, in a bounded memory of pages in front of a larger far
//! memory.
//!
//! The driver stores idle images here (`compaction`), whole page groups at a time. Copies into idle
//! images pass through the compaction buffer. Only tests use the daemon of `daemon`, which packs
//! groups that writers of single lines left apart.
//!
//! Conventions: a *line* is 256 bytes, and a *sub-block* is 64 bytes. Eight consecutive lines are
//! a *page group* of 2 KiB. Near memory consists of *pages* of 512 bytes. A group whose lines lie
//! at their uncoded offsets has four pages. A group whose coded lines are *contiguous* has fewer.
//! The caller of a read or write names the codec, which must be the same for both: all lines of a
//! group belong to one surface.
//!
//! - `codec`: conversion of lines to sub-blocks and back. The sizes in sub-blocks form the *render
//!   control surface* (RCS), two bits a line.
//! - `compaction_buffer`: the compaction buffer, technique one. It gathers the lines of a group.
//!   An evicted group occupies as few pages as possible. A group with fewer than four pages has
//!   its bit set in the *compaction control surface* (CCS).
//! - `daemon`: technique two, a thread that packs groups when free pages become few. Packed groups
//!   have bits in the *page group control surface* (PGCS).
//! - `table`: the translation table, which contains the three surfaces and the places of groups,
//!   and defines the concurrent accesses.
//! - `compaction`: spans of images that no submission uses, coded in near memory by the driver.
//! - `pages`, `far`: storage. A group without pages is void (all lines have a clear value), or
//!   lies in far memory.
//!
//! Lock order: the compaction buffer, then one group. While a group is locked, other groups are
//! only locked if they are free. Source: DESIGN 3.6.

pub mod codec;
mod compaction;
mod compaction_buffer;
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
use smallvec::SmallVec;

use self::codec::{Codec, Control, LINE, Line, SUB_BLOCK};
use self::compaction_buffer::{BufferedGroup, CompactionBuffer};
use self::far::Far;
use self::groups::Groups;
use self::pages::{Pages, SUB_BLOCK_WORDS};
use self::table::{GroupState, Locked, MAX_CLEARS, MAX_PAGES, Place, Snapshot};

pub(crate) use self::compaction::{CompactableMemory, Evict, ImageClass, ImageHints};
pub use self::compaction::{Hint, ImageAccess, InUse, NearConfig, Reading, Residency, Writing};
pub use self::daemon::Daemon;
pub use self::far::FarFile;
pub use self::stats::{Stat, Stats};
pub use self::table::LINES;

/// Bytes of a page.
pub const PAGE: usize = 512;
/// Bytes of a page group.
pub const GROUP: usize = LINES * LINE;

/// Returns the number of pages that contiguous sub-blocks occupy.
pub fn pages_for(sub_blocks: usize) -> usize {
    (sub_blocks * SUB_BLOCK).div_ceil(PAGE)
}

/// Parameters of a near memory.
#[derive(Debug, Clone)]
pub struct Config {
    /// Pages of near memory, at least 4.
    pub pages: usize,
    /// Number of page groups: near, far and void.
    pub groups: usize,
    /// File of far memory. Without a file, far memory is anonymous memory.
    pub far: Option<Arc<FarFile>>,
    /// Groups in the compaction buffer; 0 disables technique one, and lines are written
    /// immediately.
    pub buffer: usize,
    /// Number of free pages below which the daemon is notified.
    pub low_pages: usize,
    /// Approximate number of bytes of freed pages that may stay resident until the next trim, of
    /// near memory and of anonymous far memory each.
    pub max_vacant_bytes: usize,
}

/// Value of the lines of whole groups without pages.
#[derive(Debug)]
struct ClearValue {
    line: Line,
    control: Control,
    coded: Line,
}

/// Origin of lines that are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// A writer of single lines. A packed group stays packed while the lines fit.
    Lines,
    /// The compaction buffer, which stores groups in as few pages as possible.
    Buffer,
    /// The compaction daemon, which stores whole groups in as few pages as possible.
    Daemon,
}

/// Coded lines of a group.
#[derive(Debug, Clone)]
struct GroupContents {
    lines: [Line; LINES],
    controls: [Control; LINES],
}

/// Numbers of groups that became void, by their place before.
#[derive(Debug, Default)]
struct EmptiedGroups {
    near: usize,
    far: usize,
}

/// Maximum number of pages of the groups of a span, which become void together.
const MAX_SPAN_PAGES: usize = compaction::GROUPS * MAX_PAGES;

/// Near memory with its far memory.
#[derive(Debug)]
pub struct NearMemory {
    groups: Groups,
    pages: Pages,
    far: Far,
    clears: [OnceLock<ClearValue>; MAX_CLEARS],
    buffer: Mutex<CompactionBuffer>,
    tick: AtomicU64,
    low_pages: usize,
    /// Number of the group that eviction checks next.
    next_evicted: AtomicUsize,
    /// Free pages that only the daemon may use: the number that it needs for one group.
    reserved_pages: AtomicUsize,
    /// True while the daemon is packing.
    is_packing: AtomicBool,
    requests: (Mutex<daemon::Requests>, Condvar),
    /// Sub-blocks of lines in near and far memory.
    sub_blocks: AtomicUsize,
    /// Number of groups with lines in near or far memory.
    stored_groups: AtomicUsize,
    stats: Stats,
}

fn words(line: &Line, control: Control) -> &[u64] {
    &bytemuck::cast_slice(&line.0)[..control.sub_blocks() * SUB_BLOCK_WORDS]
}

/// Returns the words of all coded lines of a group, one line after the other.
fn contiguous(contents: &GroupContents, state: GroupState) -> [u64; GROUP / 8] {
    let (mut all, mut end) = ([0; GROUP / 8], 0);
    for (line, coded) in contents.lines.iter().enumerate() {
        let (coded, start) = (words(coded, state.control(line)), end);
        end = start + coded.len();
        all[start..end].copy_from_slice(coded);
    }
    all
}

fn words_mut(line: &mut Line, control: Control) -> &mut [u64] {
    &mut bytemuck::cast_slice_mut(&mut line.0)[..control.sub_blocks() * SUB_BLOCK_WORDS]
}

impl NearMemory {
    /// Creates a memory whose lines are all zeros.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(config: &Config) -> io::Result<Self> {
        let far = match &config.far {
            Some(file) => Far::File(file.clone()),
            None => Far::anonymous(config.groups, config.max_vacant_bytes)?,
        };
        let clears: [OnceLock<ClearValue>; MAX_CLEARS] = std::array::from_fn(|_| OnceLock::new());
        // Every codec codes zeros identically: as offsets without planes, with bases of zero.
        let mut coded = Line::ZERO;
        let control = Codec::of_bytes().encode(&Line::ZERO, &mut coded);
        let _ = clears[0].set(ClearValue { line: Line::ZERO, control, coded });
        Ok(Self {
            groups: Groups::new(config.groups),
            pages: Pages::new(config.pages.max(MAX_PAGES), config.max_vacant_bytes)?,
            far,
            clears,
            buffer: Mutex::new(CompactionBuffer::new(config.buffer)),
            tick: AtomicU64::new(0),
            low_pages: config.low_pages,
            next_evicted: AtomicUsize::new(0),
            reserved_pages: AtomicUsize::new(0),
            is_packing: AtomicBool::new(false),
            requests: Default::default(),
            sub_blocks: AtomicUsize::new(0),
            stored_groups: AtomicUsize::new(0),
            stats: Stats::default(),
        })
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the statistics.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the number of free pages and the number of all pages.
    pub fn free_pages(&self) -> (usize, usize) {
        (self.pages.free_count(), self.pages.count())
    }

    /// Returns the render control surface's value of a line. It does not cover lines in the
    /// compaction buffer.
    pub fn control(&self, line: usize) -> Control {
        self.groups[line / LINES].state().control(line % LINES)
    }

    /// Returns a group's bits of the compaction control surface and of the page group control
    /// surface.
    pub fn surfaces(&self, group: usize) -> (bool, bool) {
        let state = self.groups[group].state();
        (state.is_compacted(), state.is_packed())
    }

    /// Returns the number of pages that a group occupies.
    pub fn pages_of(&self, group: usize) -> usize {
        self.groups[group].state().pages()
    }

    /// Returns the bytes of the process's memory that a group occupies.
    pub fn bytes_of(&self, group: usize) -> usize {
        let state = self.groups[group].state();
        match (state.place(), &self.far) {
            (Place::Near, _) => state.pages() * PAGE,
            (Place::Far, Far::Anonymous(_)) => state.far_pages() * PAGE,
            (Place::Far, Far::File(_)) | (Place::Void(_), _) => 0,
        }
    }

    /// Returns the bytes of the process's memory that all groups, and freed pages that were not
    /// trimmed, occupy.
    pub fn resident_bytes(&self) -> usize {
        self.pages.resident_bytes() + self.far.resident_bytes()
    }

    /// Ends a tile or a submission: later writes are newer.
    pub fn tick(&self) {
        self.tick.fetch_add(1, Ordering::Relaxed);
        self.buffer.lock().tick();
    }

    /// Reads a line.
    ///
    /// # Errors
    /// An error of the far-memory file.
    ///
    /// # Panics
    /// Panics if there is no such line. All functions with a line or group number panic likewise.
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
                self.count_read(&snapshot, control.bytes());
                match snapshot.state.place() {
                    Place::Void(clear) => *out = self.clears[clear].get().map_or(Line::ZERO, |clear| clear.line),
                    Place::Near | Place::Far => codec.decode(control, &coded, out),
                }
                return Ok(());
            }
        }
    }

    /// Counts bytes that were read from the place of a group.
    fn count_read(&self, snapshot: &Snapshot, bytes: usize) {
        match snapshot.state.place() {
            Place::Void(_) => {}
            Place::Near => self.stats.count(Stat::NearOut, bytes),
            Place::Far => self.stats.count(Stat::FarOut, bytes),
        }
    }

    /// Counts the bytes of all coded lines of a group, which were read from its place.
    fn count_read_all(&self, snapshot: &Snapshot) {
        self.count_read(snapshot, snapshot.state.sub_blocks() * SUB_BLOCK);
    }

    /// Reads the coded line to which a snapshot refers. The result is unspecified if the snapshot
    /// is invalid afterwards.
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
            Place::Far => self.far.read(group, snapshot, start, words_mut(coded, control))?,
        }
        Ok(control)
    }

    /// Reads all coded lines of a group to which a snapshot refers. The result is unspecified if
    /// the snapshot is invalid afterwards.
    fn contents(&self, group: usize, snapshot: &Snapshot) -> io::Result<GroupContents> {
        let mut contents = GroupContents { lines: [Line::ZERO; LINES], controls: [Control::Raw; LINES] };
        for (line, (coded, control)) in contents.lines.iter_mut().zip(&mut contents.controls).enumerate() {
            *control = self.read_coded(group, snapshot, line, coded)?;
        }
        Ok(contents)
    }

    /// Reads and counts all coded lines of a group that this thread has locked.
    fn locked_contents(&self, group: usize, locked: &Locked<'_>) -> io::Result<GroupContents> {
        let snapshot = locked.snapshot();
        let contents = self.contents(group, &snapshot)?;
        self.count_read_all(&snapshot);
        Ok(contents)
    }

    /// Codes a line, and counts it by its coded size.
    fn encode(&self, codec: &Codec, line: &Line) -> (Control, Line) {
        let mut coded = Line::ZERO;
        let control = codec.encode(line, &mut coded);
        let sizes = [Stat::LinesOne, Stat::LinesTwo, Stat::LinesThree, Stat::LinesRaw];
        self.stats.count(sizes[control as usize], 1);
        (control, coded)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// Neither near nor far memory has room. The line, or another line that was evicted for it, is
    /// lost only if the caller does not retry. Lines in the compaction buffer stay there.
    pub fn write(&self, codec: &Codec, line: usize, data: &Line) -> io::Result<()> {
        let (control, coded) = self.encode(codec, data);
        let (group, line) = (line / LINES, line % LINES);
        self.groups.written(group).store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut buffer = self.buffer.lock();
        if !buffer.is_enabled() {
            drop(buffer);
            return self.store(&BufferedGroup::one(group, line, control, &coded), Writer::Lines);
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
    /// Returns the errors of [`Self::write`].
    pub fn flush(&self) -> io::Result<()> {
        let mut buffer = self.buffer.lock();
        while self.evict_next(&mut buffer)? {}
        Ok(())
    }

    /// Evicts a group from the compaction buffer. Returns false if there is none.
    fn evict_next(&self, buffer: &mut CompactionBuffer) -> io::Result<bool> {
        let Some(buffered) = buffer.take_next() else { return Ok(false) };
        let stored = self.store(&buffered, Writer::Buffer);
        if stored.is_err() {
            buffer.restore(buffered);
        }
        stored.map(|()| true)
    }

    /// Stores lines of a group.
    fn store(&self, buffered: &BufferedGroup, writer: Writer) -> io::Result<()> {
        let mut locked = self.groups[buffered.group].lock();
        let old = locked.snapshot();
        locked.written(writer != Writer::Lines);
        if writer == Writer::Lines && old.state.place() == Place::Near && !old.state.is_contiguous() {
            self.store_in_place(locked, buffered);
            return Ok(());
        }
        let mut contents = self.locked_contents(buffered.group, &locked)?;
        for (line, new) in buffered.lines.iter().enumerate() {
            if let Some((control, coded)) = new {
                (contents.controls[line], contents.lines[line]) = (*control, *coded);
            }
        }
        let state = self.state_in_near(&old, &contents, writer);
        self.move_to_near(locked, buffered.group, &contents, state)
    }

    /// Overwrites lines that lie 256 bytes apart in near memory.
    fn store_in_place(&self, mut locked: Locked<'_>, buffered: &BufferedGroup) {
        let old = locked.snapshot();
        locked.change();
        let mut controls: [Control; LINES] = std::array::from_fn(|line| old.state.control(line));
        for (line, new) in buffered.lines.iter().enumerate() {
            if let Some((control, coded)) = new {
                self.pages.write(&old.pages, old.state.start(line), words(coded, *control));
                self.stats.count(Stat::NearIn, control.bytes());
                controls[line] = *control;
            }
        }
        let state = old.state.with_controls(&controls);
        self.count_change(&old, state);
        locked.switch(state, old.pages);
    }

    /// Returns the new state in near memory of a group with new contents.
    fn state_in_near(&self, old: &Snapshot, contents: &GroupContents, writer: Writer) -> GroupState {
        let state = old.state.at(Place::Near).with_controls(&contents.controls);
        let pages = pages_for(state.sub_blocks());
        let was_contiguous = old.state.is_contiguous();
        let before = pages_for(old.state.sub_blocks());
        let new = match writer {
            Writer::Buffer => state.with_surfaces(pages < MAX_PAGES, false),
            Writer::Daemon => state.with_surfaces(false, pages < MAX_PAGES),
            // A packed group stays packed while it fits its pages.
            Writer::Lines if was_contiguous && pages <= before => state,
            Writer::Lines => state.with_surfaces(false, false),
        };
        if was_contiguous && new.pages() > before {
            self.stats.count(Stat::GroupsExpanded, 1);
        }
        if old.state.is_packed() && !new.is_contiguous() {
            self.stats.count(Stat::GroupsUnpacked, 1);
        }
        self.stats.count(Stat::GroupsCompacted, usize::from(writer == Writer::Buffer && new.is_compacted()));
        self.stats.count(Stat::GroupsPacked, usize::from(writer == Writer::Daemon && new.is_packed()));
        new
    }

    /// Writes a group's contents to near memory, in its pages and additional ones. Writes them to
    /// far memory if near memory has no room.
    fn move_to_near(
        &self,
        mut locked: Locked<'_>,
        group: usize,
        contents: &GroupContents,
        state: GroupState,
    ) -> io::Result<()> {
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
        self.count_change(&old, state);
        locked.switch(state, pages);
        self.pages.free(&pages[needs..had.max(needs)]);
        self.far.free(&old.pages[..old.state.far_pages()]);
        self.notify_daemon();
        Ok(())
    }

    /// Writes a group's contents to far memory, and frees its pages.
    fn move_to_far(
        &self,
        mut locked: Locked<'_>,
        group: usize,
        contents: &GroupContents,
        state: GroupState,
    ) -> io::Result<()> {
        let old = locked.snapshot();
        let pages = match &self.far {
            Far::Anonymous(far) => {
                let mut pages = [0; MAX_PAGES];
                if !far.allocate(&mut pages[..state.far_pages()], 0) {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                far.write(&pages, 0, &contiguous(contents, state)[..state.sub_blocks() * SUB_BLOCK_WORDS]);
                pages
            }
            Far::File(file) => {
                self.write_slot(file, &mut locked, group, (contents, state))?;
                old.pages
            }
        };
        self.stats.count(Stat::FarIn, state.sub_blocks() * SUB_BLOCK);
        self.count_change(&old, state);
        locked.switch(state, pages);
        self.free(&old);
        Ok(())
    }

    /// Writes a group to its slot of the far-memory file, which may contain the present lines.
    fn write_slot(
        &self,
        file: &FarFile,
        locked: &mut Locked<'_>,
        group: usize,
        (contents, state): (&GroupContents, GroupState),
    ) -> io::Result<()> {
        let old = locked.snapshot();
        let before = if old.state.place() == Place::Far { Some(self.locked_contents(group, locked)?) } else { None };
        if before.is_some() {
            locked.change();
        }
        let write = |contents: &GroupContents, state: GroupState| {
            file.write(group * GROUP, &contiguous(contents, state)[..state.sub_blocks() * SUB_BLOCK_WORDS])
        };
        if let Err(error) = write(contents, state) {
            // The old contents occupied allocated blocks of the file, so writing them back needs
            // no disk space.
            if let Some(before) = before {
                write(&before, old.state)?;
            }
            return Err(error);
        }
        Ok(())
    }

    /// Frees the pages that a group had before its place changed.
    fn free(&self, old: &Snapshot) {
        self.pages.free(&old.pages[..old.state.pages()]);
        self.far.free(&old.pages[..old.state.far_pages()]);
    }

    /// Allocates pages, and evicts groups to far memory if too few are free. Returns false if
    /// eviction frees too few pages.
    fn make_room(&self, pages: &mut [u32]) -> bool {
        let leave = self.reserved_pages.load(Ordering::Relaxed);
        // The daemon may be about to free pages, which is cheaper than eviction.
        for _ in 0..16 {
            if self.pages.allocate(pages, leave) {
                return true;
            }
            if !self.is_packing.load(Ordering::Relaxed) {
                break;
            }
            std::thread::yield_now();
        }
        let end = self.groups.end();
        for _ in 0..end {
            let number = self.next_evicted.fetch_add(1, Ordering::Relaxed) % end;
            if self.evict(number) && self.pages.allocate(pages, leave) {
                return true;
            }
        }
        false
    }

    /// Moves a group unchanged from near to far memory, unless it is locked. Returns true if it
    /// moved.
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
        let moved = self.locked_contents(number, &locked);
        let moved = moved.and_then(|contents| self.move_to_far(locked, number, &contents, old.state.at(Place::Far)));
        self.stats.count(Stat::GroupsEvicted, usize::from(moved.is_ok()));
        moved.is_ok()
    }

    /// Updates the statistics for a change of a group's state.
    fn count_change(&self, old: &Snapshot, new: GroupState) {
        let size = |state: GroupState| match state.place() {
            Place::Void(_) => 0,
            Place::Near | Place::Far => state.sub_blocks(),
        };
        let (before, after) = (size(old.state), size(new));
        let sub_blocks = self.sub_blocks.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        let more = usize::from(after > 0).wrapping_sub(usize::from(before > 0));
        let stored = self.stored_groups.fetch_add(more, Ordering::Relaxed);
        self.stats.peak(Stat::PeakCompressed, sub_blocks.wrapping_add(after).wrapping_sub(before) * SUB_BLOCK);
        self.stats.peak(Stat::PeakRaw, stored.wrapping_add(more) * GROUP);
        self.stats.peak(Stat::PeakCompacted, (self.pages.count() - self.pages.free_count()) * PAGE);
    }

    /// Clears groups to a line. Sets only control bits if the table of clear values has the line
    /// or a free entry. Writes every line otherwise.
    ///
    /// # Errors
    /// Returns the errors of [`Self::write`] if it writes lines, otherwise none.
    pub fn clear(&self, codec: &Codec, groups: Range<usize>, line: &Line) -> io::Result<()> {
        let Some(clear) = self.clear_value(codec, line) else {
            return groups
                .flat_map(|group| group * LINES..(group + 1) * LINES)
                .try_for_each(|number| self.write(codec, number, line));
        };
        self.empty(groups, clear);
        Ok(())
    }

    /// Discards contents of groups that nobody needs, and frees their pages. The groups read as
    /// zeros.
    pub fn discard(&self, groups: Range<usize>) {
        let stored = self.release(groups);
        self.stats.count(Stat::GroupsDiscarded, stored);
    }

    /// Frees the pages of groups whose contents are stored elsewhere now. The groups read as zeros.
    /// Returns the number of groups that had lines in near or far memory.
    pub fn release(&self, groups: Range<usize>) -> usize {
        let EmptiedGroups { near, far } = self.empty(groups.clone(), 0);
        if far > 0 {
            self.far.discard(groups);
        }
        near + far
    }

    /// Writes all lines of a group at once, as the compaction daemon does with idle images. The
    /// group is packed immediately and bypasses the compaction buffer.
    ///
    /// # Errors
    /// Neither near nor far memory has room. The group is then unchanged.
    pub fn put(&self, codec: &Codec, group: usize, lines: &[Line; LINES]) -> io::Result<()> {
        let mut buffered = BufferedGroup::one(group, 0, Control::Raw, &Line::ZERO);
        for (line, stored) in lines.iter().zip(&mut buffered.lines) {
            *stored = Some(self.encode(codec, line));
        }
        self.groups.written(group).store(self.tick.load(Ordering::Relaxed), Ordering::Relaxed);
        self.store(&buffered, Writer::Daemon)
    }

    /// Reads all lines of a group.
    ///
    /// # Errors
    /// An error of the far-memory file.
    pub fn get(&self, codec: &Codec, group: usize, lines: &mut [Line; LINES]) -> io::Result<()> {
        let (first, entry) = (group * LINES, &self.groups[group]);
        let snapshot = entry.snapshot();
        if !snapshot.state.is_buffered() && !matches!(snapshot.state.place(), Place::Void(_)) {
            let contents = self.contents(group, &snapshot);
            if entry.still_holds(&snapshot) {
                let GroupContents { lines: coded, controls } = contents?;
                self.count_read_all(&snapshot);
                for ((line, coded), control) in lines.iter_mut().zip(&coded).zip(controls) {
                    codec.decode(control, coded, line);
                }
                return Ok(());
            }
        }
        lines.iter_mut().zip(first..).try_for_each(|(line, number)| self.read(codec, number, line))
    }

    /// Returns pages of the system that contain no page of a group to the system.
    pub fn trim(&self) {
        self.pages.trim();
        self.far.trim();
    }

    /// Sorts the free pages, so that later allocations lie together.
    pub fn sort_free_pages(&self) {
        self.pages.sort();
        self.far.sort();
    }

    fn clear_value(&self, codec: &Codec, line: &Line) -> Option<usize> {
        self.clears.iter().position(|clear| {
            let value = clear.get_or_init(|| {
                let mut coded = Line::ZERO;
                let control = codec.encode(line, &mut coded);
                ClearValue { line: *line, control, coded }
            });
            // A clear value coded by another codec is unusable where lines of a group are stored.
            let mut back = Line::ZERO;
            codec.decode(value.control, &value.coded, &mut back);
            value.line == *line && back == *line
        })
    }

    /// Makes groups void with a clear value.
    fn empty(&self, groups: Range<usize>, clear: usize) -> EmptiedGroups {
        let (mut emptied, mut sub_blocks) = (EmptiedGroups::default(), 0);
        let [mut near_pages, mut far_pages] = [(); 2].map(|()| SmallVec::<[u32; MAX_SPAN_PAGES]>::new());
        let mut buffer = self.buffer.lock();
        buffer.discard(&groups);
        for number in groups {
            let mut locked = self.groups[number].lock();
            locked.set_hints(Some(false), Some(false));
            let old = locked.snapshot();
            locked.switch(old.state.at(Place::Void(clear)).with_surfaces(false, false), old.pages);
            match old.state.place() {
                Place::Void(_) => continue,
                Place::Near => emptied.near += 1,
                Place::Far => emptied.far += 1,
            }
            sub_blocks += old.state.sub_blocks();
            near_pages.extend_from_slice(&old.pages[..old.state.pages()]);
            far_pages.extend_from_slice(&old.pages[..old.state.far_pages()]);
        }
        drop(buffer);
        self.sub_blocks.fetch_sub(sub_blocks, Ordering::Relaxed);
        self.stored_groups.fetch_sub(emptied.near + emptied.far, Ordering::Relaxed);
        self.pages.free(&near_pages);
        self.far.free(&far_pages);
        emptied
    }

    /// Records that the driver expects no writes to these groups, such as a finished render target
    /// that is bound as a texture, or a finished tile. The next write of a group resets this.
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
