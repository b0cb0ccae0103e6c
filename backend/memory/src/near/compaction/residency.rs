//! Near memory of a device: the slots of compacted spans, the running submissions, and the
//! residency thread, which compacts idle spans.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{self, Arc, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use vitric_base::host_thread;
use vitric_base::workers::Workers;

use super::idle::{Limits, Outcome, compact_idle};
use super::pressure::IdleHistory;
use super::span::{Submission, Submissions};
use super::{CompactableMemory, FarError, GROUPS, Lines, SPAN, SpanStorage};
use crate::heap::{Heap, OutOfMemory};
use crate::near::codec::{Codec, Line};
use crate::near::{Config, FarFile, LINES, NearMemory, PAGE, Stat, Stats};

/// Interval of the residency thread while memory is short.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);
/// Further time after which the residency thread looks at the host's memory while memory is not
/// known to be short.
const LONG_INTERVAL: Duration = Duration::from_millis(900);
/// Groups of the compaction buffer: two rows of tiles of an image that is 2048 four-byte texels
/// wide.
const BUFFERED_GROUPS: usize = 64;
/// Approximate limit of bytes that the residency thread codes in one interval. It leaves most of a
/// processor to the program and keeps the order of compaction effective.
const MAX_INTERVAL_BYTES: usize = 256 << 20;

/// Fraction of the heap that freed pages of near memory may occupy until the next trim. A trim
/// takes time, so uses of images leave it to the residency thread if they free fewer pages.
const VACANT_FRACTION: u64 = 64;

/// Configuration of the compaction of a device's images.
#[derive(Debug, Clone)]
pub struct NearConfig {
    /// Bytes of near memory. Spans that do not fit are evicted to far memory.
    pub bytes: u64,
    /// File of far memory. Without a file, far memory is anonymous memory.
    pub far: Option<Arc<FarFile>>,
    /// Returns the bytes that the process should return to the host, which has too few.
    pub wanted_by_host: fn() -> u64,
    /// True if every submission ends with the compaction of all idle spans, without an idle
    /// period. For tests.
    pub always: bool,
}

/// Near memory of a device's images, with the residency thread, which ends on drop.
#[derive(Debug)]
pub struct Residency {
    state: Arc<ResidencyState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// State shared by the compactable memories of a device.
#[derive(Debug)]
pub(crate) struct ResidencyState {
    config: NearConfig,
    heap: Arc<Heap>,
    /// Near memory, created at the first compaction. `None` if the system cannot provide it.
    memory: OnceLock<Option<NearMemory>>,
    slots: Mutex<SlotAllocator>,
    /// Number of spans of all memories that may be compacted.
    capacity: Mutex<usize>,
    pub(super) submissions: Submissions,
    /// Locked for reading by compactions.
    compactions: RwLock<()>,
    /// Number of times that contents of images were lost or cleared.
    losses: AtomicU64,
    listed: Mutex<Vec<Weak<CompactableMemory>>>,
    /// True once `listed` had an element.
    has_listed: AtomicBool,
    /// Number of the residency thread's intervals so far.
    interval: AtomicU64,
    pub(super) history: Mutex<IdleHistory>,
    /// True if memory was short when the residency thread or a submission last looked.
    is_short: AtomicBool,
    /// True if spans may become idle and the residency thread runs or was notified.
    is_active: AtomicBool,
    /// Stop flag of the residency thread. It uses the standard library's locks: see `Calls::came`
    /// in `workers.rs`.
    stop: (sync::Mutex<bool>, sync::Condvar),
    /// Bytes of compacted spans.
    compacted_bytes: AtomicU64,
    /// Saved bytes as last reported to the heap.
    reported: Mutex<i64>,
    /// True once contents of images were lost outside of submissions.
    has_failed: AtomicBool,
    stats: Stats,
}

/// Slot of near memory that holds a span.
pub(super) struct Slot {
    /// Number of the slot.
    pub(super) number: u32,
    /// Bytes of the process's memory that the coded span occupies.
    pub(super) bytes: u32,
}

/// Allocator of slots for spans in near memory.
#[derive(Debug, Default)]
struct SlotAllocator {
    free: Vec<u32>,
    /// First slot that was never allocated. All later slots are unused, too.
    fresh: u32,
}

impl ResidencyState {
    /// Locks the stop flag of the residency thread.
    pub(super) fn lock_stop(&self) -> sync::MutexGuard<'_, bool> {
        self.stop.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> Option<&NearMemory> {
        let make = || {
            let groups = usize::try_from(self.heap.capacity()).ok()?.div_ceil(SPAN) * GROUPS;
            let pages = usize::try_from(self.config.bytes).ok()? / PAGE;
            let config = Config {
                pages,
                groups,
                far: self.config.far.clone(),
                buffer: BUFFERED_GROUPS,
                low_pages: 0,
                max_vacant_bytes: usize::try_from(self.heap.size() / VACANT_FRACTION).ok()?,
            };
            NearMemory::new(&config)
                .inspect_err(|error| log::warn!("no near memory, all images stay resident: {error}"))
                .ok()
        };
        self.memory.get_or_init(make).as_ref()
    }

    fn groups(slot: u32) -> Range<usize> {
        slot as usize * GROUPS..(slot as usize + 1) * GROUPS
    }

    fn allocate_slot(&self, memory: &NearMemory) -> Option<u32> {
        let mut slots = self.slots.lock();
        slots.free.pop().or_else(|| {
            let slot = slots.fresh;
            let is_there = (slot as usize) < memory.groups() / GROUPS;
            slots.fresh += u32::from(is_there);
            is_there.then_some(slot)
        })
    }

    /// Makes a slot without contents free.
    fn return_slot(&self, slot: u32) {
        self.slots.lock().free.push(slot);
    }

    /// Frees a slot whose contents nobody needs, because its span did not become compacted.
    fn free_slot(&self, memory: &NearMemory, slot: u32) {
        memory.release(Self::groups(slot));
        self.return_slot(slot);
        self.report();
    }

    /// Codes a span. Returns its slot, or `None` if near memory has no room.
    pub(super) fn put(&self, codec: &Codec, lines: &Lines) -> Option<Slot> {
        let memory = self.memory()?;
        let number = self.allocate_slot(memory)?;
        let mut groups = Self::groups(number).zip(lines);
        match groups.try_for_each(|(group, lines)| memory.put(codec, group, lines)) {
            Ok(()) => {
                let bytes = Self::groups(number).map(|group| memory.bytes_of(group)).sum::<usize>() as u32;
                Some(Slot { number, bytes })
            }
            Err(error) => {
                log::debug!("a span stays resident, near memory has no room: {error}");
                self.free_slot(memory, number);
                None
            }
        }
    }

    /// Decodes a span.
    pub(super) fn get(&self, slot: u32, codec: &Codec, lines: &mut Lines) -> io::Result<()> {
        let memory = self.memory().ok_or(io::ErrorKind::NotFound)?;
        Self::groups(slot).zip(lines).try_for_each(|(group, lines)| memory.get(codec, group, lines))
    }

    /// Decodes one line of a page group of a span.
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

    /// Gives a span whose lines are all equal a slot of near memory, without pages. `codec` is the
    /// index of the span's codec, and the codec. Returns false if the span has no slot, because
    /// neither near nor far memory has room.
    pub(super) fn ensure_coded(&self, storage: &mut SpanStorage, (index, codec): (u8, &Codec)) -> bool {
        let line = match storage {
            SpanStorage::Coded { codec, .. } => return *codec == index,
            SpanStorage::Raw | SpanStorage::Cleared(..) => return false,
            SpanStorage::Zeros => Line::ZERO,
            SpanStorage::Uniform(line) => **line,
        };
        let Some((memory, slot)) = self.memory().and_then(|memory| Some((memory, self.allocate_slot(memory)?))) else {
            return false;
        };
        if let Err(error) = memory.clear(codec, Self::groups(slot), &line) {
            log::debug!("a span becomes resident, near memory has no room: {error}");
            self.free_slot(memory, slot);
            return false;
        }
        *storage = SpanStorage::Coded { slot, codec: index, bytes: 0 };
        true
    }

    /// Codes one line of a page group of a span. The line may stay in the compaction buffer.
    ///
    /// # Errors
    /// Neither near nor far memory has room.
    pub(super) fn put_line(
        &self,
        slot: u32,
        (group, line): (usize, usize),
        codec: &Codec,
        data: &Line,
    ) -> io::Result<()> {
        let memory = self.memory().ok_or(io::ErrorKind::NotFound)?;
        memory.write(codec, (Self::groups(slot).start + group) * LINES + line, data)
    }

    /// Empties the compaction buffer.
    ///
    /// # Errors
    /// Neither near nor far memory has room.
    pub(super) fn flush(&self) -> io::Result<()> {
        let flushed = self.created_memory().map_or(Ok(()), NearMemory::flush);
        self.report();
        flushed
    }

    /// Frees the slot of a span that did not become compacted.
    pub(super) fn abandon(&self, storage: SpanStorage) {
        if let (SpanStorage::Coded { slot, .. }, Some(memory)) = (storage, self.memory()) {
            self.free_slot(memory, slot);
        }
    }

    /// Releases the near memory of a span of `bytes` bytes that was written to its address.
    pub(super) fn release(&self, storage: &SpanStorage, bytes: usize) {
        self.free(storage, bytes, |memory, groups| _ = memory.release(groups));
    }

    /// Discards the contents of a span of `bytes` bytes, which nobody needs.
    pub(super) fn discard(&self, storage: &SpanStorage, bytes: usize) {
        self.free(storage, bytes, NearMemory::discard);
    }

    fn free(&self, storage: &SpanStorage, bytes: usize, free: impl FnOnce(&NearMemory, Range<usize>)) {
        if matches!(storage, SpanStorage::Raw | SpanStorage::Cleared(..)) {
            return;
        }
        if let (SpanStorage::Coded { slot, .. }, Some(memory)) = (storage, self.memory()) {
            free(memory, Self::groups(*slot));
            self.return_slot(*slot);
        }
        self.compacted_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.report();
    }

    /// Returns near memory if it was created.
    fn created_memory(&self) -> Option<&NearMemory> {
        self.memory.get().and_then(Option::as_ref)
    }

    /// Returns the bytes of the process's memory that near memory and anonymous far memory occupy.
    pub(super) fn coded_bytes(&self) -> usize {
        self.created_memory().map_or(0, NearMemory::resident_bytes)
    }

    /// Returns freed pages of near memory to the system.
    pub(super) fn trim(&self) {
        if let Some(memory) = self.created_memory() {
            memory.trim();
            self.report();
        }
    }

    /// Reports to the heap how many bytes are saved: those of compacted spans, less those that
    /// near memory and anonymous far memory occupy.
    fn report(&self) {
        // The lock orders reports, so that the last one has the newest values.
        let mut reported = self.reported.lock();
        let coded = self.coded_bytes();
        let saved = self.compacted_bytes.load(Ordering::Relaxed) as i64 - coded as i64;
        self.heap.add_saved(saved - *reported);
        *reported = saved;
    }

    /// Records and logs that contents of an image are lost. Later submissions fail.
    pub(super) fn fail(&self, error: &FarError) {
        log::error!("{error}");
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Counts a span of `bytes` bytes as compacted, unless it is raw.
    pub(super) fn count_compacted(&self, storage: &SpanStorage, bytes: usize) {
        if matches!(storage, SpanStorage::Raw) {
            return;
        }
        self.stats.count(Stat::SpansCompacted, 1);
        self.stats.count(Stat::SpansUniform, usize::from(!matches!(storage, SpanStorage::Coded { .. })));
        let compacted = self.compacted_bytes.fetch_add(bytes as u64, Ordering::Relaxed) as usize + bytes;
        self.stats.peak(Stat::PeakCompactedImages, compacted);
        self.report();
    }

    pub(super) fn count(&self, stat: Stat, many: usize) {
        self.stats.count(stat, many);
    }

    /// Adds a memory to the memories whose idle spans the residency thread compacts.
    pub(super) fn list(&self, memory: Weak<CompactableMemory>) {
        self.listed.lock().push(memory);
        self.has_listed.store(true, Ordering::Release);
    }

    /// Returns the number of the residency thread's intervals so far.
    pub(super) fn interval(&self) -> u64 {
        self.interval.load(Ordering::Relaxed)
    }

    /// Reserves room for `spans` more spans. If near memory cannot hold all spans, a far-memory
    /// file must have room for every span.
    ///
    /// # Errors
    /// The disk of the far-memory file has too little room.
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

    /// Returns the reserved room of `spans` spans, none of which is compacted.
    pub(super) fn unreserve(&self, spans: usize) {
        let mut capacity = self.capacity.lock();
        *capacity -= spans;
        if let Some(far) = self.config.far.as_ref().filter(|_| *capacity == 0) {
            *self.slots.lock() = SlotAllocator::default();
            far.clear();
        }
    }

    /// Returns the memories that may have spans to compact. They are freed as soon as the
    /// application frees them, also during a compaction.
    fn listed(&self) -> Vec<Weak<CompactableMemory>> {
        let mut listed = self.listed.lock();
        listed.retain(|memory| memory.strong_count() > 0);
        listed.clone()
    }

    /// Compacts idle spans within limits. The caller has locked `compactions` and no memory.
    fn compact(&self, limits: &Limits<'_>) -> Outcome {
        compact_idle(&self.listed(), self.interval(), limits)
    }

    /// Compacts spans that no running submission uses if the heap has no room for `bytes` more
    /// bytes. Returns true if the heap has room. The caller must not have locked any memory.
    pub(super) fn make_room(&self, bytes: u64) -> bool {
        self.heap.missing(bytes) == 0 || {
            let _running = self.compactions.read();
            self.compact_for(bytes)
        }
    }

    /// Makes room like [`Self::make_room`] when no other compaction runs. Spans that another thread
    /// compacts at the moment, and memory that it keeps from being freed, are available then.
    fn make_room_alone(&self, bytes: u64) -> bool {
        let _alone = self.compactions.write();
        self.heap.can_hold(bytes) && self.compact_for(bytes)
    }

    /// Compacts spans that no running submission uses until the heap has room for `bytes` more
    /// bytes. Returns true if the heap has room. Spans that were idle for a long time come first.
    /// They also give room for a sixteenth of the heap, so that the next allocations and
    /// submissions need no compaction. The caller has locked `compactions`.
    fn compact_for(&self, bytes: u64) -> bool {
        let has_room = || self.heap.missing(bytes) == 0;
        let has_margin = || self.heap.missing(bytes.saturating_add(self.heap.low_bytes())) == 0;
        self.trim();
        let oldest = self.submissions.oldest();
        if !has_room() {
            let before = |intervals| self.history.lock().before(oldest, intervals);
            self.compact(&Limits { before: &before, is_enough: &has_margin, max_bytes: usize::MAX });
        }
        if !has_room() {
            self.compact(&Limits { before: &|_| oldest, is_enough: &has_room, max_bytes: usize::MAX });
        }
        has_room()
    }

    /// Compacts idle spans if the heap or the host has too little memory. Returns true if memory
    /// is short.
    pub(super) fn compact_if_short(&self) -> bool {
        self.trim();
        let wanted = self.heap.wanted().max((self.config.wanted_by_host)());
        let goal = self.heap.resident().saturating_sub(wanted);
        let now = self.submissions.oldest();
        let before = |intervals| self.history.lock().before(now, intervals);
        let is_enough = || self.heap.resident() <= goal;
        let limits = Limits { before: &before, is_enough: &is_enough, max_bytes: MAX_INTERVAL_BYTES };
        let outcome = if wanted > 0 {
            let _running = self.compactions.read();
            self.compact(&limits)
        } else {
            Outcome::of(&self.listed())
        };
        if outcome == Outcome::SomeResident {
            self.is_active.store(true, Ordering::Release);
        }
        wanted > 0
    }

    /// Runs the residency thread until it is stopped.
    fn run(&self) {
        loop {
            let mut stop = self.lock_stop();
            while !*stop && !self.is_active.load(Ordering::Acquire) {
                stop = self.stop.1.wait(stop).unwrap_or_else(PoisonError::into_inner);
            }
            if *stop {
                return;
            }
            self.history.lock().add(self.submissions.oldest());
            let waited = self.stop.1.wait_timeout_while(stop, INTERVAL, |stop| !*stop);
            let stop = waited.unwrap_or_else(PoisonError::into_inner).0;
            let is_calm = |stop: &mut bool| !*stop && !self.is_short.load(Ordering::Acquire);
            let waited = self.stop.1.wait_timeout_while(stop, LONG_INTERVAL, is_calm);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            self.interval.fetch_add(1, Ordering::Relaxed);
            // From here on, submissions that make spans resident set the flag again.
            self.is_active.store(false, Ordering::Release);
            self.is_short.store(false, Ordering::Release);
            if self.compact_if_short() {
                self.is_short.store(true, Ordering::Release);
            }
            self.trim();
            self.created_memory().into_iter().for_each(NearMemory::sort_free_pages);
        }
    }
}

impl Residency {
    /// Creates the near memory of the images of a heap. The memory is allocated at the first
    /// compaction.
    pub fn new(config: NearConfig, heap: Arc<Heap>) -> Self {
        let state = ResidencyState {
            config,
            heap,
            memory: OnceLock::new(),
            slots: Mutex::default(),
            capacity: Mutex::default(),
            submissions: Submissions::default(),
            compactions: RwLock::default(),
            losses: AtomicU64::new(0),
            listed: Mutex::default(),
            has_listed: AtomicBool::new(false),
            interval: AtomicU64::new(0),
            history: Mutex::default(),
            is_short: AtomicBool::new(false),
            is_active: AtomicBool::new(false),
            stop: Default::default(),
            compacted_bytes: AtomicU64::new(0),
            reported: Mutex::new(0),
            has_failed: AtomicBool::new(false),
            stats: Stats::default(),
        };
        Self { state: Arc::new(state), thread: Mutex::default() }
    }

    /// Returns the shared state for an allocation of `bytes` bytes, or `None` if it is too small
    /// to benefit from compaction.
    pub(crate) fn state_for(&self, bytes: usize) -> Option<&Arc<ResidencyState>> {
        (bytes >= SPAN || self.state.config.always).then_some(&self.state)
    }

    /// Returns the indices of near memory's counters in the counter table, with their values.
    pub fn counted(&self) -> Vec<(usize, u64)> {
        let none = Stats::default();
        let of_memory = self.state.created_memory().map_or(&none, NearMemory::stats);
        let pages = self.state.config.bytes / PAGE as u64;
        let free = pages.saturating_sub(of_memory.get(Stat::PeakCompacted) / PAGE as u64);
        let all = self.state.stats.all().zip(of_memory.all()).map(|((number, own), (_, other))| match number {
            // No code counts free pages. They are computed here.
            number if number == Stat::PagesFree as usize => (number, free),
            number => (number, own + other),
        });
        all.collect()
    }

    /// Begins a submission, or another use of images, that ends when the result is dropped.
    pub fn begin<'r>(&'r self, workers: &'r Workers) -> InUse<'r> {
        let submission = self.state.submissions.begin();
        let (restored, has_failed) = (AtomicU64::new(0), AtomicBool::new(false));
        InUse { residency: self, workers, submission, restored, has_failed }
    }

    fn end(&self, submission: Submission) {
        let state = &self.state;
        state.submissions.end(submission);
        if state.config.always {
            let _running = state.compactions.read();
            let oldest = state.submissions.oldest();
            state.compact(&Limits { before: &|_| oldest, is_enough: &|| false, max_bytes: usize::MAX });
        } else if state.has_listed.load(Ordering::Acquire) {
            let set = |flag: &AtomicBool| !flag.load(Ordering::Acquire) && !flag.swap(true, Ordering::AcqRel);
            let (is_new, is_short) = (set(&state.is_active), state.heap.wanted() > 0 && set(&state.is_short));
            if is_new || is_short {
                self.notify_thread();
            }
        }
    }

    /// Calls `make`, which reserves `bytes` bytes of the heap. While that fails because the heap is
    /// full, compacts images that no running submission uses and calls `make` again, because other
    /// threads may reserve the room first.
    ///
    /// # Errors
    /// Returns the errors of `make`: [`OutOfMemory::Heap`] if compaction cannot make room.
    pub fn with_room<T, E: From<OutOfMemory> + PartialEq>(
        &self,
        bytes: u64,
        mut make: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let made = make();
            let is_full = made.as_ref().is_err_and(|error| *error == E::from(OutOfMemory::Heap(bytes)));
            if !is_full || !self.make_room(bytes) {
                return made;
            }
        }
    }

    /// Compacts images that no running submission uses if the heap has no room for `bytes` more
    /// bytes. Returns true if the heap has room. Compacts nothing if the heap could not have the
    /// room.
    pub(super) fn make_room(&self, bytes: u64) -> bool {
        let state = &self.state;
        state.heap.can_hold(bytes) && state.make_room(bytes) || state.make_room_alone(bytes)
    }

    /// Notifies the residency thread, and starts it at the first call.
    fn notify_thread(&self) {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let state = self.state.clone();
            let started = host_thread::spawn("vitric-near", move || state.run());
            *thread = started.inspect_err(|error| log::warn!("no thread compacts idle images: {error}")).ok();
        }
        let _stop = self.state.lock_stop();
        self.state.stop.1.notify_one();
    }
}

impl Drop for Residency {
    fn drop(&mut self) {
        *self.state.lock_stop() = true;
        self.state.stop.1.notify_one();
        if let Some(thread) = self.thread.get_mut().take() {
            // An error means that the thread panicked. Its panic message has already reported
            // this.
            let _ = thread.join();
        }
    }
}

/// Running submission, or another use of images. Spans that it uses stay resident until it is
/// dropped.
#[derive(Debug)]
pub struct InUse<'r> {
    residency: &'r Residency,
    workers: &'r Workers,
    submission: Submission,
    restored: AtomicU64,
    has_failed: AtomicBool,
}

impl InUse<'_> {
    /// Returns the number of the submission.
    pub fn number(&self) -> u64 {
        self.submission.number
    }

    /// Returns how often contents of images were lost or cleared so far. A caller must begin the
    /// use of an image again if the number has grown since.
    pub fn losses(&self) -> u64 {
        self.residency.state.losses.load(Ordering::Acquire)
    }

    /// Records that the contents of an image are lost or cleared.
    pub fn count_loss(&self) {
        self.residency.state.losses.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the number of spans that the submission has made resident.
    pub fn restored(&self) -> u64 {
        self.restored.load(Ordering::Relaxed)
    }

    /// Returns true if contents of images are lost, because the far-memory file cannot be read or
    /// written. They may be those of images that another use made resident.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) || self.residency.state.has_failed.load(Ordering::Relaxed)
    }

    /// Compacts images that no running submission uses if the heap has no room for `bytes` more
    /// bytes.
    pub(crate) fn make_room(&self, bytes: u64) {
        self.residency.state.make_room(bytes);
    }

    /// Makes bytes of a memory resident. `overwritten` means that the submission overwrites all of
    /// them.
    pub(crate) fn make_resident(&self, memory: &CompactableMemory, range: Range<u64>, overwritten: bool) {
        let restored = match overwritten {
            true => memory.make_overwritable(range, self.number(), self.workers),
            false => memory.make_resident(range, self.number(), self.workers),
        };
        match restored {
            Ok(spans) => {
                self.restored.fetch_add(spans as u64, Ordering::Relaxed);
            }
            Err(error) => self.fail(&FarError::Read(error)),
        }
    }

    /// Notes that bytes of a memory are cleared, see [`CompactableMemory::note_clears`].
    pub(crate) fn note_clears(
        &self,
        memory: &CompactableMemory,
        ranges: impl Iterator<Item = Range<u64>>,
        line: &Line,
    ) {
        memory.note_clears(ranges, self.number(), line);
        // The increased loss count makes other users look at the surface again.
        self.count_loss();
    }

    /// Records and logs that contents of an image are lost.
    pub(super) fn fail(&self, error: &FarError) {
        log::error!("{error}");
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.residency.end(self.submission);
    }
}
