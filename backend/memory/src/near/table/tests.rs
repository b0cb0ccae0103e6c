//! Tests of the table, and models of concurrent accesses to a group. Loom explores every
//! interleaving and every value that the memory model allows.

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as Modelled;
use loom::thread;
use vitric_base::sync::model::{Model, explore as model};

use super::*;

/// Model of a memory of three pages of one word each. A group of two lines lies in pages 0 and 1.
/// When packed, both lines lie in page 2, as halves of a word.
struct Memory {
    group: Group<Model>,
    pages: [Modelled; 3],
}

const APART: [u32; MAX_PAGES] = [0, 1, 0, 0];

impl Memory {
    /// Creates a memory whose lines are both 1.
    fn new() -> Arc<Self> {
        let memory = Self { group: Group::default(), pages: [1, 1, 0].map(Modelled::new) };
        let locked = memory.group.try_lock().unwrap();
        locked.switch(GroupState(0).at(Place::Near), APART);
        Arc::new(memory)
    }

    fn load(&self, page: u32) -> u64 {
        self.pages[page as usize].load(Ordering::Relaxed)
    }

    /// Models a write to a page: the fence orders it after the change that freed the page.
    fn store(&self, page: u32, value: u64) {
        Model::fence(Ordering::Release);
        self.pages[page as usize].store(value, Ordering::Relaxed);
    }

    fn lines(&self, snapshot: &Snapshot) -> [u64; 2] {
        let [a, b, ..] = snapshot.pages;
        if snapshot.state.is_contiguous() {
            let both = self.load(a);
            return [both & 0xffff_ffff, both >> 32];
        }
        [self.load(a), self.load(b)]
    }

    /// Reads both lines. To bound the model, it returns `None` after three attempts.
    fn read(&self) -> Option<[u64; 2]> {
        (0..3).find_map(|_| {
            let snapshot = self.group.snapshot();
            let lines = self.lines(&snapshot);
            self.group.still_holds(&snapshot).then_some(lines)
        })
    }

    /// Models the daemon, which packs the group into page 2. Another owner writes the freed pages
    /// immediately.
    fn pack(&self) -> bool {
        let old = self.group.snapshot();
        let [a, b] = self.lines(&old);
        if !self.group.still_holds(&old) || old.state.is_contiguous() {
            return false;
        }
        self.store(2, a | b << 32);
        let Some(locked) = self.group.lock_if(&old) else { return false };
        locked.switch(old.state.with_surfaces(false, true), [2, 0, 0, 0]);
        self.store(0, 98);
        self.store(1, 99);
        true
    }

    /// Models a writer that sets both lines in place.
    fn write(&self, value: u64) {
        let mut locked = self.group.lock();
        let old = locked.snapshot();
        locked.change();
        let [a, b, ..] = old.pages;
        if old.state.is_contiguous() {
            self.store(a, value | value << 32);
        } else {
            self.store(a, value);
            self.store(b, value);
        }
        locked.switch(old.state, old.pages);
    }
}

#[test]
fn readers_see_a_group_before_or_after_it_is_packed() {
    model(3, || {
        let memory = Memory::new();
        let daemon = thread::spawn({
            let memory = memory.clone();
            move || memory.pack()
        });
        assert_eq!(memory.read(), Some([1, 1]), "it is packed once, so the second attempt holds at the latest");
        assert!(daemon.join().unwrap());
        assert_eq!(memory.read(), Some([1, 1]));
    });
}

#[test]
fn lines_written_while_a_group_is_packed_are_kept() {
    model(3, || {
        let memory = Memory::new();
        let daemon = thread::spawn({
            let memory = memory.clone();
            move || memory.pack()
        });
        memory.write(2);
        daemon.join().unwrap();
        assert_eq!(memory.read(), Some([2, 2]));
    });
}

#[test]
fn readers_see_whole_writes_of_packed_and_unpacked_groups() {
    model(2, || {
        let memory = Memory::new();
        let daemon = thread::spawn({
            let memory = memory.clone();
            move || memory.pack()
        });
        let writer = thread::spawn({
            let memory = memory.clone();
            move || memory.write(2)
        });
        let seen = memory.read();
        assert!(matches!(seen, None | Some([1, 1] | [2, 2])), "{seen:?}");
        daemon.join().unwrap();
        writer.join().unwrap();
        assert_eq!(memory.read(), Some([2, 2]));
    });
}

#[test]
fn writers_wait_for_each_other() {
    model(3, || {
        let memory = Memory::new();
        let add = |memory: &Memory| {
            let mut locked = memory.group.lock();
            let old = locked.snapshot();
            locked.change();
            let [a, ..] = old.pages;
            memory.store(a, memory.load(a) + 1);
            locked.switch(old.state, old.pages);
        };
        let other = thread::spawn({
            let memory = memory.clone();
            move || add(&memory)
        });
        add(&memory);
        other.join().unwrap();
        assert_eq!(memory.read(), Some([3, 1]));
    });
}

/// A group is emptied, and another owner writes its page. Readers find the old lines, or void
/// ones.
#[test]
fn readers_detect_freed_pages() {
    model(3, || {
        let memory = Memory::new();
        let other = thread::spawn({
            let memory = memory.clone();
            move || {
                let locked = memory.group.lock();
                let old = locked.snapshot();
                locked.switch(old.state.at(Place::Void(0)), old.pages);
                memory.store(0, 98);
                memory.store(1, 99);
            }
        });
        let snapshot = memory.group.snapshot();
        let lines = memory.lines(&snapshot);
        if memory.group.still_holds(&snapshot) && snapshot.state.place() == Place::Near {
            assert_eq!(lines, [1, 1]);
        }
        other.join().unwrap();
    });
}

#[test]
fn states_return_their_fields() {
    let controls: [Control; LINES] = std::array::from_fn(|line| Control::ALL[line % 4]);
    let state = GroupState(0).at(Place::Near).with_controls(&controls);
    assert_eq!((state.sub_blocks(), state.pages()), (20, 4), "apart");
    assert_eq!((state.start(1), state.start(7)), (4, 28));
    let packed = state.with_surfaces(false, true);
    assert_eq!((packed.pages(), packed.start(1), packed.start(7)), (3, 1, 16));
    assert!(packed.is_packed() && !packed.is_compacted() && packed.is_contiguous());
    assert!((0..LINES).all(|line| packed.control(line) == controls[line]));
    for clear in [0, 5, MAX_CLEARS - 1] {
        let void = packed.at(Place::Void(clear));
        assert_eq!((void.place(), void.pages()), (Place::Void(clear), 0));
        assert_eq!(void.at(Place::Far).place(), Place::Far);
    }
}

#[test]
fn hints_stay_until_lines_are_written() {
    let group = Group::<Machine>::default();
    let switch = |mut locked: Locked<'_>, written: Option<bool>| {
        if let Some(gathered) = written {
            locked.written(gathered);
        }
        let old = locked.snapshot();
        locked.switch(old.state.at(Place::Near), [1, 2, 3, 4]);
    };
    let before = group.snapshot();
    group.lock().set_hints(Some(true), Some(true));
    assert!(group.still_holds(&before), "hints move nothing");
    switch(group.lock(), None);
    assert!(!group.still_holds(&before));
    assert!(group.state().is_read_only() && group.state().is_buffered());
    switch(group.lock(), Some(false));
    assert!(!group.state().is_read_only() && group.state().is_buffered());
    switch(group.lock(), Some(true));
    assert!(!group.state().is_buffered());
    let locked = group.lock();
    assert!(group.try_lock().is_none() && group.lock_if(&group.snapshot()).is_none());
    drop(locked);
    assert!(group.try_lock().is_some());
}
