//! Compaction daemon: a thread that packs page groups when free pages become few, or on request of
//! the driver.
//!
//! It selects groups whose lines lie apart and that would occupy fewer pages. Groups that the
//! driver expects to be read only come first. Then come the least recently written groups, and
//! among equally old ones, by the render control surface, those with the fewest pages. The daemon
//! copies a group into free pages without stopping readers and writers. Then it switches the table
//! entry, unless a writer has changed the group meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use vitric_base::host_thread;

use super::table::{GroupState, MAX_PAGES, Place};
use super::{NearMemory, SUB_BLOCK, Stat, pages_for, words};

/// Number of groups per selection. The daemon selects anew after this many.
const MAX_BATCH_GROUPS: usize = 256;

/// Requests to the daemon.
#[derive(Debug, Default)]
pub struct Requests {
    /// Free pages are few.
    low_pages: bool,
    /// All groups are to be packed.
    pack_all: bool,
    stop: bool,
}

/// Thread of the daemon. A memory has at most one. The thread ends on drop.
#[derive(Debug)]
pub struct Daemon {
    memory: Arc<NearMemory>,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts the daemon.
    ///
    /// # Errors
    /// The system cannot create a thread.
    pub fn start(memory: &Arc<NearMemory>) -> std::io::Result<Self> {
        memory.reserved_pages.store(MAX_PAGES - 1, Ordering::Relaxed);
        let other = memory.clone();
        let thread = host_thread::spawn("vitric-compaction", move || other.run_daemon())?;
        Ok(Self { memory: memory.clone(), thread: Some(thread) })
    }

    /// Requests packing of all groups, regardless of the free pages.
    pub fn pack_all(&self) {
        self.memory.requests.0.lock().pack_all = true;
        self.memory.requests.1.notify_one();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.memory.requests.0.lock().stop = true;
        self.memory.requests.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked. Its panic message has already reported
            // this.
            let _ = thread.join();
        }
        self.memory.reserved_pages.store(0, Ordering::Relaxed);
    }
}

impl NearMemory {
    /// Notifies the daemon, if there is one, when free pages are few.
    pub(super) fn notify_daemon(&self) {
        if self.pages.free_count() < self.low_pages {
            self.requests.0.lock().low_pages = true;
            self.requests.1.notify_one();
        }
    }

    fn run_daemon(&self) {
        loop {
            let mut requests = self.requests.0.lock();
            while !requests.low_pages && !requests.pack_all && !requests.stop {
                self.requests.1.wait(&mut requests);
            }
            if requests.stop {
                requests.stop = false;
                return;
            }
            let all = std::mem::take(&mut *requests).pack_all;
            drop(requests);
            self.is_packing.store(true, Ordering::Relaxed);
            // The goal is twice the threshold, so that the daemon is not needed again immediately.
            let has_enough = || !all && self.pages.free_count() >= 2 * self.low_pages;
            while !has_enough() && self.pack(MAX_BATCH_GROUPS) > 0 && !self.requests.0.lock().stop {}
            self.is_packing.store(false, Ordering::Relaxed);
        }
    }

    /// Packs up to `max_groups` groups, and returns the number of packed groups.
    pub fn pack(&self, max_groups: usize) -> usize {
        self.candidates().into_iter().take(max_groups).filter(|&group| self.pack_group(group)).count()
    }

    /// Returns the groups that packing makes smaller, in the daemon's order.
    fn candidates(&self) -> Vec<usize> {
        let can = |state: GroupState| {
            state.place() == Place::Near && !state.is_contiguous() && pages_for(state.sub_blocks()) < MAX_PAGES
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

    /// Packs a group in near memory. Returns false if packing saves no page, a writer has changed
    /// the group, or too few pages are free.
    fn pack_group(&self, number: usize) -> bool {
        let group = &self.groups[number];
        let old = group.snapshot();
        let state = old.state.with_surfaces(false, true);
        if old.state.place() != Place::Near || old.state.is_contiguous() || state.pages() >= MAX_PAGES {
            return false;
        }
        let Ok(contents) = self.contents(number, &old) else { return false };
        let (mut pages, needs) = ([0; MAX_PAGES], state.pages());
        if !group.still_holds(&old) || !self.pages.allocate(&mut pages[..needs], 0) {
            return false;
        }
        for (line, coded) in contents.lines.iter().enumerate() {
            self.pages.write(&pages, state.start(line), words(coded, state.control(line)));
        }
        let Some(locked) = group.lock_if(&old) else {
            self.stats.count(Stat::PacksAbandoned, 1);
            self.pages.free(&pages[..needs]);
            return false;
        };
        self.count_read_all(&old);
        self.stats.count(Stat::GroupsPacked, 1);
        self.stats.count(Stat::NearIn, state.sub_blocks() * SUB_BLOCK);
        self.count_change(&old, state);
        locked.switch(state, pages);
        self.pages.free(&old.pages);
        true
    }
}
