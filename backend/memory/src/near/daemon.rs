//! The compaction daemon: a thread that packs page groups when free pages become few, or when the driver says so.
//!
//! It takes groups whose lines lie apart and that would take fewer pages: first those that the driver expects to be read only, then those that
//! were not written for longest, then, by the render control surface, those that pack best. A group is copied into free pages while
//! everybody goes on; then the table is switched, unless somebody has written meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::table::{PAGES, Place, State};
use super::{NearMemory, SUB_BLOCK, Stat, pages_for, words};

/// Groups that are chosen at once: after so many the choice is made anew.
const BATCH: usize = 256;

/// What the daemon is to do.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Pages are few.
    work: bool,
    /// Everything is to be packed.
    all: bool,
    stop: bool,
}

/// The thread, of which a memory has one at most. It ends when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    memory: Arc<NearMemory>,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts it.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(memory: &Arc<NearMemory>) -> std::io::Result<Self> {
        memory.reserve.store(PAGES - 1, Ordering::Relaxed);
        let other = memory.clone();
        let thread = std::thread::Builder::new().name("vitric-compaction".into()).spawn(move || other.serve())?;
        Ok(Self { memory: memory.clone(), thread: Some(thread) })
    }

    /// Has it pack what there is, whatever is free.
    pub fn call(&self) {
        self.memory.wanted.0.lock().all = true;
        self.memory.wanted.1.notify_one();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.memory.wanted.0.lock().stop = true;
        self.memory.wanted.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // It can only have panicked, which its message said.
            let _ = thread.join();
        }
        self.memory.reserve.store(0, Ordering::Relaxed);
    }
}

impl NearMemory {
    /// Has the daemon work, if there is one, when pages are few.
    pub(super) fn call_daemon(&self) {
        if self.pages.free_count() < self.low {
            self.wanted.0.lock().work = true;
            self.wanted.1.notify_one();
        }
    }

    fn serve(&self) {
        loop {
            let mut wanted = self.wanted.0.lock();
            while !wanted.work && !wanted.all && !wanted.stop {
                self.wanted.1.wait(&mut wanted);
            }
            if wanted.stop {
                wanted.stop = false;
                return;
            }
            let all = std::mem::take(&mut *wanted).all;
            drop(wanted);
            self.packing.store(true, Ordering::Relaxed);
            // Twice as many as few, so that it need not be called again at once.
            let has_enough = || !all && self.pages.free_count() >= 2 * self.low;
            while !has_enough() && self.pack(BATCH) > 0 && !self.wanted.0.lock().stop {}
            self.packing.store(false, Ordering::Relaxed);
        }
    }

    /// Packs up to so many groups, and says how many it did.
    pub fn pack(&self, most: usize) -> usize {
        self.choice().into_iter().take(most).filter(|&group| self.pack_group(group)).count()
    }

    /// Groups that packing makes smaller, in the order in which the daemon takes them.
    fn choice(&self) -> Vec<usize> {
        let can = |state: State| {
            state.place() == Place::Near && !state.is_contiguous() && pages_for(state.sub_blocks()) < PAGES
        };
        let mut chosen: Vec<_> = self
            .groups
            .iter()
            .map(|(number, group)| (number, group.state()))
            .filter(|(_, state)| can(*state))
            .map(|(number, state)| {
                let written = self.groups.written(number).load(Ordering::Relaxed);
                ((!state.is_read_only(), written, pages_for(state.sub_blocks())), number)
            })
            .collect();
        chosen.sort_unstable();
        chosen.into_iter().map(|(_, number)| number).collect()
    }

    /// Packs a group that lies in near memory. False when it is not worth it, somebody has written, or no page is free.
    fn pack_group(&self, number: usize) -> bool {
        let group = &self.groups[number];
        let old = group.snapshot();
        let state = old.state.with_surfaces(false, true);
        if old.state.place() != Place::Near || old.state.is_contiguous() || state.pages() >= PAGES {
            return false;
        }
        let Ok(contents) = self.contents(number, &old) else { return false };
        let (mut pages, needs) = ([0; PAGES], state.pages());
        if !group.still_holds(&old) || !self.pages.take(&mut pages[..needs], 0) {
            return false;
        }
        for (line, coded) in contents.lines.iter().enumerate() {
            self.pages.write(&pages, state.start(line), words(coded, state.control(line)));
        }
        let Some(locked) = group.lock_if(&old) else {
            self.stats.count(Stat::PacksAbandoned, 1);
            self.pages.give(&pages[..needs]);
            return false;
        };
        self.stats.count(Stat::GroupsPacked, 1);
        self.stats.count(Stat::NearIn, state.sub_blocks() * SUB_BLOCK);
        self.note(&old, state);
        locked.switch(state, pages);
        self.pages.give(&old.pages);
        true
    }
}
