//! Near memory of a device: the slots of spans at rest, the submissions that run, and the thread that rests what is idle.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{self, Arc, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use vitric_base::workers::Workers;

use super::super::near::codec::{Codec, Line};
use super::super::near::{Config, FarFile, LINES, NearMemory, PAGE, Stat, Stats};
use super::super::{Allocation, Heap};
use super::idle::{self, Outcome};
use super::span::{Numbers, Running};
use super::{GROUPS, Held, LOOKS, Lines, Listed, SPAN};

/// How often the thread looks for what is idle.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Submissions that must have done without what goes to rest, while there are any: frames may take longer than looks.
const SUBMISSIONS: u64 = 4;
/// Bytes that are coded at a look, about; so programs that go on meanwhile keep most of a processor, and order matters.
const AT_ONCE: usize = 256 << 20;

/// How a device's images rest.
#[derive(Debug, Clone)]
pub struct NearConfig {
    /// Bytes of near memory; what does not fit goes to far memory.
    pub bytes: u64,
    /// The file that is far memory; none, and it is anonymous memory.
    pub far: Option<Arc<FarFile>>,
    /// Whether all rests after every submission, instead of what was idle for a time: for tests.
    pub always: bool,
}

/// What a device's images rest in. Its thread ends when this is dropped.
#[derive(Debug)]
pub struct Residency {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What allocations share.
#[derive(Debug)]
pub(crate) struct Shared {
    config: NearConfig,
    heap: Arc<Heap>,
    /// Once something rests; nothing, where the system has none.
    memory: OnceLock<Option<NearMemory>>,
    slots: Mutex<Slots>,
    /// Spans of all allocations where images may rest.
    capacity: Mutex<usize>,
    submissions: Numbers,
    /// How often contents of images were lost, or cleared.
    losses: AtomicU64,
    listed: Mutex<Vec<Listed>>,
    /// Whether there was ever one.
    has_listed: AtomicBool,
    /// Looks of the thread so far.
    look: AtomicU64,
    /// Whether something may come to be idle, and the thread looks, or is to.
    is_active: AtomicBool,
    /// Tells the thread to end. The standard library's locks: see `Calls::came` in `workers.rs`.
    stop: (sync::Mutex<bool>, sync::Condvar),
    /// Bytes of spans at rest.
    resting: AtomicU64,
    stats: Stats,
}

/// Places for spans.
#[derive(Debug, Default)]
struct Slots {
    free: Vec<u32>,
    /// All from here on were never taken.
    fresh: u32,
}

impl Shared {
    fn lock_stop(&self) -> sync::MutexGuard<'_, bool> {
        self.stop.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> Option<&NearMemory> {
        let make = || {
            let groups = usize::try_from(self.heap.size()).ok()?.div_ceil(SPAN) * GROUPS;
            let pages = usize::try_from(self.config.bytes).ok()? / PAGE;
            let config = Config { pages, groups, far: self.config.far.clone(), buffer: 0, low: 0 };
            NearMemory::new(&config)
                .inspect_err(|error| log::warn!("no near memory, all images stay as they are: {error}"))
                .ok()
        };
        self.memory.get_or_init(make).as_ref()
    }

    fn groups(slot: u32) -> Range<usize> {
        slot as usize * GROUPS..(slot as usize + 1) * GROUPS
    }

    fn take_slot(&self, memory: &NearMemory) -> Option<u32> {
        let mut slots = self.slots.lock();
        slots.free.pop().or_else(|| {
            let slot = slots.fresh;
            let is_there = (slot as usize) < memory.groups() / GROUPS;
            slots.fresh += u32::from(is_there);
            is_there.then_some(slot)
        })
    }

    /// Codes a span: its slot, and bytes. `None` when there is no room for it.
    pub(super) fn put(&self, codec: &Codec, lines: &Lines) -> Option<(u32, u32)> {
        let memory = self.memory()?;
        let slot = self.take_slot(memory)?;
        let mut groups = Self::groups(slot).zip(lines);
        match groups.try_for_each(|(group, lines)| memory.put(codec, group, lines)) {
            Ok(()) => {
                let bytes = Self::groups(slot).map(|group| memory.bytes_of(group)).sum::<usize>() as u32;
                self.heap.rests(-i64::from(bytes));
                Some((slot, bytes))
            }
            Err(error) => {
                log::debug!("a span stays as it is, there is no room: {error}");
                memory.discard(Self::groups(slot));
                self.slots.lock().free.push(slot);
                None
            }
        }
    }

    /// Decodes a span.
    pub(super) fn get(&self, slot: u32, codec: &Codec, lines: &mut Lines) -> io::Result<()> {
        let memory = self.memory().ok_or(io::ErrorKind::NotFound)?;
        Self::groups(slot).zip(lines).try_for_each(|(group, lines)| memory.get(codec, group, lines))
    }

    /// Decodes a line of a group of a span.
    pub(super) fn get_line(
        &self,
        slot: u32,
        (group, line): (usize, usize),
        codec: &Codec,
        out: &mut Line,
    ) -> io::Result<()> {
        let memory = self.memory().ok_or(io::ErrorKind::NotFound)?;
        memory.read(codec, (Self::groups(slot).start + group) * LINES + line, out)
    }

    /// A span of so many bytes does not rest any more: what it took is free.
    pub(super) fn release(&self, held: Held, bytes: usize) {
        if matches!(held, Held::Raw | Held::Cleared(_)) {
            return;
        }
        self.resting.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.heap.rests(-(bytes as i64));
        if let (Held::Coded { slot, bytes, .. }, Some(memory)) = (held, self.memory()) {
            self.heap.rests(i64::from(bytes));
            memory.discard(Self::groups(slot));
            self.slots.lock().free.push(slot);
        }
    }

    /// A span of so many bytes rests, unless it is raw.
    pub(super) fn count_rested(&self, held: &Held, bytes: usize) {
        if matches!(held, Held::Raw) {
            return;
        }
        self.stats.count(Stat::SpansRested, 1);
        self.stats.count(Stat::SpansVoid, usize::from(!matches!(held, Held::Coded { .. })));
        let resting = self.resting.fetch_add(bytes as u64, Ordering::Relaxed) as usize + bytes;
        self.stats.peak(Stat::PeakResting, resting);
        self.heap.rests(bytes as i64);
    }

    pub(super) fn count(&self, stat: Stat, many: usize) {
        self.stats.count(stat, many);
    }

    /// An allocation may have something to rest from now on.
    pub(super) fn list(&self, allocation: Listed) {
        self.listed.lock().push(allocation);
        self.has_listed.store(true, Ordering::Release);
    }

    /// Looks of the thread so far.
    pub(super) fn look(&self) -> u64 {
        self.look.load(Ordering::Relaxed)
    }

    /// There are so many spans more, all of which may rest at once. Where near memory does not hold them all, a file that is far memory
    /// must: it has a place for each.
    ///
    /// # Errors
    /// Its disk has no room.
    pub(super) fn reserve(&self, spans: usize) -> io::Result<()> {
        let mut capacity = self.capacity.lock();
        let all = *capacity + spans;
        let bytes = (all as u64).saturating_mul(SPAN as u64);
        if let Some(far) = self.config.far.as_ref().filter(|_| bytes > self.config.bytes) {
            far.reserve(bytes).inspect_err(|error| log::warn!("far memory cannot have {bytes} bytes: {error}"))?;
        }
        *capacity = all;
        Ok(())
    }

    /// There are so many fewer, none of which rests.
    pub(super) fn unreserve(&self, spans: usize) {
        let mut capacity = self.capacity.lock();
        *capacity -= spans;
        if let Some(far) = self.config.far.as_ref().filter(|_| *capacity == 0) {
            *self.slots.lock() = Slots::default();
            far.clear();
        }
    }

    /// Rests what is idle; `before` says by an allocation's patience since which submission it must be.
    fn rest(&self, before: impl Fn(usize) -> u64, most: usize) -> Outcome {
        let listed: Vec<Arc<Allocation>> = {
            let mut listed = self.listed.lock();
            listed.retain(|allocation| allocation.strong_count() > 0);
            listed.iter().filter_map(Listed::upgrade).collect()
        };
        idle::rest(&listed, before, self.look(), most)
    }

    /// The thread.
    fn serve(&self) {
        // The oldest submissions at the last looks.
        let mut looks: VecDeque<u64> = VecDeque::with_capacity(LOOKS);
        loop {
            let mut stop = self.lock_stop();
            while !*stop && !self.is_active.load(Ordering::Acquire) {
                stop = self.stop.1.wait(stop).unwrap_or_else(PoisonError::into_inner);
            }
            looks.truncate(LOOKS - 1);
            looks.push_front(self.submissions.oldest());
            let waited = self.stop.1.wait_timeout_while(stop, LOOK, |stop| !*stop);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            self.look.fetch_add(1, Ordering::Relaxed);
            // What submissions wake from here on, they say.
            self.is_active.store(false, Ordering::Release);
            let now = self.submissions.oldest();
            if self.rest(|patience| before(&looks, now, patience), AT_ONCE) == Outcome::Some {
                self.is_active.store(true, Ordering::Release);
            }
            if let Some(Some(memory)) = self.memory.get() {
                memory.trim();
            }
        }
    }
}

/// The submission since which what goes to rest must be idle: the oldest one so many looks ago, of those at the last looks, the latest first, or
/// an older one, if others have run since. None, if nobody can tell yet.
fn before(looks: &VecDeque<u64>, now: u64, patience: usize) -> u64 {
    let Some(&then) = looks.get(patience - 1) else { return 0 };
    if then == now { then } else { then.min(now.saturating_sub(SUBMISSIONS)) }
}

impl Residency {
    /// Near memory for images in a heap, which it takes when something rests.
    pub fn new(config: NearConfig, heap: Arc<Heap>) -> Self {
        let shared = Shared {
            config,
            heap,
            memory: OnceLock::new(),
            slots: Mutex::default(),
            capacity: Mutex::default(),
            submissions: Numbers::default(),
            losses: AtomicU64::new(0),
            listed: Mutex::default(),
            has_listed: AtomicBool::new(false),
            look: AtomicU64::new(0),
            is_active: AtomicBool::new(false),
            stop: Default::default(),
            resting: AtomicU64::new(0),
            stats: Stats::default(),
        };
        Self { shared: Arc::new(shared), thread: Mutex::default() }
    }

    /// What an allocation of so many bytes shares; nothing, where it is too small to gain anything.
    pub(crate) fn shared(&self, bytes: usize) -> Option<&Arc<Shared>> {
        (bytes >= SPAN || self.shared.config.always).then_some(&self.shared)
    }

    /// Numbers in the table of counters, and what they are: all that near memory counts itself.
    pub fn counted(&self) -> Vec<(usize, u64)> {
        let none = Stats::default();
        let of_memory = self.shared.memory.get().and_then(Option::as_ref).map_or(&none, NearMemory::stats);
        let pages = self.shared.config.bytes / PAGE as u64;
        let free = pages.saturating_sub(of_memory.get(Stat::PeakCompacted) / PAGE as u64);
        let all = self.shared.stats.all().zip(of_memory.all()).map(|((number, own), (_, other))| match number {
            // Nobody counts them.
            number if number == Stat::PagesFree as usize => (number, free),
            number => (number, own + other),
        });
        all.collect()
    }

    /// Begins a submission, or anything else that uses images, until the end of what is returned.
    pub fn begin<'r>(&'r self, workers: &'r Workers) -> InUse<'r> {
        let running = self.shared.submissions.begin();
        InUse { residency: self, workers, running, woken: AtomicU64::new(0), has_failed: AtomicBool::new(false) }
    }

    fn end(&self, running: Running) {
        let shared = &self.shared;
        shared.submissions.end(running);
        if shared.config.always {
            let oldest = shared.submissions.oldest();
            shared.rest(|_| oldest, usize::MAX);
        } else if shared.has_listed.load(Ordering::Acquire)
            && !shared.is_active.load(Ordering::Acquire)
            && !shared.is_active.swap(true, Ordering::AcqRel)
        {
            self.call();
        }
    }

    /// Has the thread look, which is started for the first time that there is something to see.
    fn call(&self) {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let shared = self.shared.clone();
            let started = std::thread::Builder::new().name("vitric-near".into()).spawn(move || shared.serve());
            *thread = started.inspect_err(|error| log::warn!("no thread, images do not rest: {error}")).ok();
        }
        let _stop = self.shared.lock_stop();
        self.shared.stop.1.notify_one();
    }
}

impl Drop for Residency {
    fn drop(&mut self) {
        *self.shared.lock_stop() = true;
        self.shared.stop.1.notify_one();
        if let Some(thread) = self.thread.get_mut().take() {
            // It can only have panicked, which its message said.
            let _ = thread.join();
        }
    }
}

/// A submission that runs, or something else that uses images. What it uses stays awake until this is dropped.
#[derive(Debug)]
pub struct InUse<'r> {
    residency: &'r Residency,
    workers: &'r Workers,
    running: Running,
    woken: AtomicU64,
    has_failed: AtomicBool,
}

impl InUse<'_> {
    /// Its number.
    pub fn number(&self) -> u64 {
        self.running.number
    }

    /// How often contents of images were lost or cleared so far. What was used before the last time, and is used after it, is used anew.
    pub fn losses(&self) -> u64 {
        self.residency.shared.losses.load(Ordering::Acquire)
    }

    /// Contents of an image are lost, or cleared.
    pub fn count_loss(&self) {
        self.residency.shared.losses.fetch_add(1, Ordering::AcqRel);
    }

    /// Spans that it has woken.
    pub fn woken(&self) -> u64 {
        self.woken.load(Ordering::Relaxed)
    }

    /// Whether something that rested could not be had back: far memory is a file that cannot be read.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Wakes bytes of an allocation, which are `overwritten` wholly or used as they are.
    pub(crate) fn wake(&self, allocation: &Allocation, range: Range<u64>, overwritten: bool) {
        let woken = match overwritten {
            true => allocation.claim(range, self.number(), self.workers),
            false => allocation.wake(range, self.number(), self.workers),
        };
        match woken {
            Ok(spans) => {
                self.woken.fetch_add(spans as u64, Ordering::Relaxed);
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Notes that bytes of an allocation are cleared, see [`Allocation::note_clear`].
    pub(crate) fn note_clear(&self, allocation: &Allocation, range: Range<u64>, line: &Line) -> bool {
        allocation.note_clear(range, self.number(), line)
    }

    /// Something that rests cannot be had.
    pub(super) fn fail(&self, error: &io::Error) {
        log::error!("far memory cannot be read: {error}");
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.residency.end(self.running);
    }
}
