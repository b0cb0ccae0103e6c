//! Decoded texels of compressed images: a bounded cache of the driver, separate from the memory of
//! the images.
//!
//! Generated code samples texels at addresses, and texels in a block have no addresses. When an
//! image instruction first accesses a compressed image, the driver decodes the levels and layers
//! of its view into a second surface ([`DecodedTexels`]). Image instructions sample this surface
//! instead.
//!
//! - A *part* is one level of one layer. A part is absent (it has no memory), stale (its blocks
//!   may have changed), being decoded, or fresh. All threads that need a stale part decode it
//!   together, some rows of blocks at a time.
//! - Copies into a fresh part immediately decode the blocks that they write. Every other writer of
//!   the image's memory makes its parts stale, by the same calls that notify `hiz/cache.rs` of
//!   written memory. A checksum of the blocks shows if they really changed.
//! - A [`DecodedUse`] keeps an image's texels in memory. The bindings of a submission own one for
//!   each image that they look up.
//! - Unused parts are dropped, the least recently used first, when other parts need their room.
//!   They are also dropped when the heap needs the room and when the blocks are compacted. The
//!   surface keeps its addresses meanwhile, so that earlier lookups stay valid.
//! - If the cache has no room, image instructions decode the blocks that they access. Both paths
//!   return identical bits.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use vitric_base::counters::Counter;
use vitric_base::workers::Workers;
use vitric_format::{self as format, FormatInfo, MAX_DECODED};

use super::{Surface, SurfaceViewDesc};
use crate::near::Evict;
use crate::{Allocation, Heap, PlaneRef, SurfaceDesc};

/// Minimum number of blocks that a thread decodes at a time.
const MIN_BLOCKS: u32 = 256;
/// Divisor of the budget that gives the part kept by the cache when the heap is full.
const MIN_LIMIT_DIVISOR: u64 = 8;
/// Bytes that a checksum reads at a time.
const CHECKSUM_CHUNK_BYTES: usize = 4096;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

/// Statistics of the cache, in the order of its counters.
#[derive(Debug, Clone, Copy)]
enum Stat {
    Decoded,
    Peak,
    Dropped,
    Refused,
}

/// Cache of the decoded texels of all compressed images of a device.
#[derive(Debug, Default)]
pub struct DecodedCache {
    /// Maximum bytes of texels; 0 disables decoding.
    budget: u64,
    used: AtomicU64,
    /// Clock of uses: number of the last use of any image.
    clock: AtomicU64,
    /// Number of times that texels in use became stale.
    losses: AtomicU64,
    images: Mutex<Vec<Entry>>,
    /// Number of images. It lets writers return early if there are none.
    count: AtomicUsize,
    stats: [AtomicU64; 4],
}

/// Image of the cache, with the memory of its blocks.
#[derive(Debug)]
struct Entry {
    memory: Weak<Allocation>,
    bytes: Range<u64>,
    /// True if another allocation or process may contain the same bytes.
    is_foreign: bool,
    texels: Weak<DecodedTexels>,
}

impl DecodedCache {
    /// Creates an empty cache of at most `budget` bytes.
    pub fn new(budget: u64) -> Arc<Self> {
        Arc::new(Self { budget, ..Self::default() })
    }

    /// Returns true if no image has decoded texels.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Returns the bytes of texels in the cache.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns how often texels became stale while in use. Image instructions must look images up
    /// again when the number grows.
    pub fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }

    /// Returns the indices of the cache's counters in the counter table, with their values.
    pub fn counted(&self) -> [(usize, u64); 4] {
        let counters = [Counter::DecodedBytes, Counter::DecodedPeak, Counter::DecodedDropped, Counter::DecodedRefused];
        let values = self.stats.each_ref().map(|value| value.load(Ordering::Relaxed));
        std::array::from_fn(|index| (counters[index] as usize, values[index]))
    }

    fn count(&self, stat: Stat, many: u64) {
        self.stats[stat as usize].fetch_add(many, Ordering::Relaxed);
    }

    /// Returns the maximum bytes of texels: the budget, limited by the free bytes of the heap. At
    /// least a part of the budget is allowed.
    fn limit(&self, heap: &Heap) -> u64 {
        let free = heap.free();
        self.budget.min(free.max(self.budget / MIN_LIMIT_DIVISOR))
    }

    /// Drops unused texels until the cache fits its limit for the heap.
    pub fn trim(&self, heap: &Heap) {
        let limit = self.limit(heap);
        if self.used() > limit {
            let mut images = self.images.lock();
            self.drop_until(&mut images, |used| used <= limit);
        }
    }

    /// Drops unused images, the least recently used first, until `fits` returns true for the bytes
    /// in use.
    fn drop_until(&self, images: &mut Vec<Entry>, fits: impl Fn(u64) -> bool) {
        self.forget_destroyed(images);
        let mut known: Vec<_> = images.iter().filter_map(|entry| entry.texels.upgrade()).collect();
        known.sort_unstable_by_key(|texels| texels.last_use.load(Ordering::Relaxed));
        for texels in known {
            if fits(self.used()) {
                return;
            }
            texels.evict();
        }
    }

    fn forget_destroyed(&self, images: &mut Vec<Entry>) {
        images.retain(|entry| entry.texels.strong_count() > 0);
        self.count.store(images.len(), Ordering::Relaxed);
    }

    fn add(&self, entry: Entry) {
        let mut images = self.images.lock();
        if images.len() == images.capacity() {
            self.forget_destroyed(&mut images);
        }
        images.push(entry);
        self.count.store(images.len(), Ordering::Relaxed);
    }

    /// Reserves memory for the wanted parts of an image that have none. Returns false if there is
    /// not enough.
    fn make_room(&self, texels: &DecodedTexels, heap: &Heap, wanted: &Parts) -> bool {
        let mut images = self.images.lock();
        let needed = texels.missing(&texels.state.lock(), wanted);
        let limit = self.limit(heap);
        let fits = |used: u64| used.saturating_add(needed) <= limit;
        if !fits(self.used()) {
            self.drop_until(&mut images, fits);
        }
        let has_room = fits(self.used());
        if has_room {
            texels.claim(wanted);
            let used = self.used.fetch_add(needed, Ordering::Relaxed) + needed;
            self.stats[Stat::Peak as usize].fetch_max(used, Ordering::Relaxed);
        }
        has_room
    }

    /// Marks the texels stale whose blocks lie in memory that was written or may have been
    /// written. Skips the texels of the image `except`.
    pub fn wrote(&self, memory: &Arc<Allocation>, bytes: &Range<u64>, except: Option<&Surface>) {
        if self.is_empty() || !(memory.has_decoded() || memory.is_foreign()) {
            return;
        }
        let except = except.and_then(|surface| surface.decoded()).map(Arc::as_ptr);
        let touches = |entry: &Entry| {
            let is_there = entry.bytes.start < bytes.end && bytes.start < entry.bytes.end;
            is_there && std::ptr::eq(entry.memory.as_ptr(), Arc::as_ptr(memory))
        };
        // Another allocation may map the same file.
        let may_be_same = |entry: &Entry| memory.is_foreign() && entry.is_foreign;
        self.mark_stale(|entry| except != Some(entry.texels.as_ptr()) && (touches(entry) || may_be_same(entry)));
    }

    /// Marks the texels stale whose blocks lie in shared memory for which `wrote` returns true.
    /// Shared memory is memory that another process or device may also access. Nothing else can
    /// write blocks without a command that says so, because the layout of optimal images is
    /// private.
    pub fn wrote_any(&self, wrote: impl Fn(&Arc<Allocation>) -> bool) {
        self.mark_stale(|entry| entry.is_foreign && entry.memory.upgrade().is_some_and(|memory| wrote(&memory)));
    }

    /// Marks all texels stale.
    pub fn wrote_all(&self) {
        self.mark_stale(|_| true);
    }

    fn mark_stale(&self, is_written: impl Fn(&Entry) -> bool) {
        if self.is_empty() {
            return;
        }
        let written = |entry: &Entry| if is_written(entry) { entry.texels.upgrade() } else { None };
        let written: Vec<_> = self.images.lock().iter().filter_map(written).collect();
        if written.iter().filter(|texels| texels.mark_stale()).count() > 0 {
            self.losses.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// State of one level of one layer. The checksum, if known, is the checksum of the blocks from
/// which the texels were decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartState {
    Absent,
    Stale(Option<u64>),
    Decoding,
    Fresh(Option<u64>),
}

/// Levels and layers of an image.
#[derive(Debug, Clone)]
struct Parts {
    levels: Range<u32>,
    layers: Range<u32>,
}

#[derive(Debug)]
struct State {
    /// Number of uses.
    users: u32,
    parts: Box<[PartState]>,
    job: Option<Arc<Job>>,
}

/// Decoded texels of one image.
#[derive(Debug)]
pub struct DecodedTexels {
    cache: Arc<DecodedCache>,
    /// Surface of the texels, in separate memory.
    surface: Arc<Surface>,
    last_use: AtomicU64,
    state: Mutex<State>,
    /// Signalled when a job ends.
    ended: Condvar,
}

/// Parts to decode, in chunks that threads claim one by one.
#[derive(Debug)]
struct Job {
    parts: Vec<(u32, u32)>,
    chunks: Vec<Chunk>,
    next: AtomicUsize,
    /// Number of chunks that are not decoded yet.
    left: AtomicUsize,
}

/// Rectangle of blocks of a level and slice, which one thread decodes.
#[derive(Debug, Clone)]
struct Chunk {
    level: u32,
    slice: u32,
    rows: Range<u32>,
    columns: Range<u32>,
}

impl Job {
    fn new(blocks: &Surface, parts: Vec<(u32, u32)>) -> Self {
        let is_volume = blocks.desc().kind == vk::ImageType::TYPE_3D;
        let slices = |(level, layer): (u32, u32)| {
            let slices = if is_volume { 0..blocks.level_extent(level).depth } else { layer..layer + 1 };
            slices.map(move |slice| (level, slice))
        };
        let chunks: Vec<_> = parts.iter().copied().flat_map(slices).flat_map(|part| chunks_of(blocks, part)).collect();
        let left = AtomicUsize::new(chunks.len());
        Self { parts, chunks, next: AtomicUsize::new(0), left }
    }
}

/// Splits a level and slice into chunks.
fn chunks_of(blocks: &Surface, (level, slice): (u32, u32)) -> impl Iterator<Item = Chunk> + use<> {
    let (width, height) = blocks.plane(COLOR, level, slice).map_or((1, 0), |plane| (plane.width(), plane.height()));
    let rows = rows_at_once(width);
    let firsts = (0..height).step_by(rows as usize);
    firsts.map(move |first| Chunk { level, slice, rows: first..(first + rows).min(height), columns: 0..width })
}

/// Returns the number of rows of blocks that a thread decodes at a time.
fn rows_at_once(columns: u32) -> u32 {
    (MIN_BLOCKS / columns.max(1)).max(1)
}

/// Result of checking the wanted parts.
enum Step {
    Fresh,
    Retry,
    NoRoom,
    Join(Arc<Job>),
}

impl DecodedTexels {
    /// Reserves addresses for the texels of an image. Returns `None` if they exceed the budget or
    /// the host cannot reserve them.
    pub(super) fn new(cache: &Arc<DecodedCache>, blocks: &Surface) -> Option<Arc<Self>> {
        let (desc, (memory, start)) = (*blocks.desc(), blocks.binding()?);
        let format = format::decoded_format(format::info(desc.format)?)?.format;
        let surface = Surface::new(SurfaceDesc { format, decoded: false, ..desc })?;
        let size = surface.layout().size();
        if size > cache.budget {
            return None;
        }
        surface.bind(Allocation::new(&Heap::new(size), size).ok()?, 0);
        let parts = vec![PartState::Absent; (desc.levels * desc.layers) as usize].into();
        let state = Mutex::new(State { users: 0, parts, job: None });
        let (last_use, ended) = (AtomicU64::new(0), Condvar::new());
        let texels = Arc::new(Self { cache: cache.clone(), surface, last_use, state, ended });
        let (bytes, is_foreign) = (start..start.saturating_add(blocks.layout().size()), memory.is_foreign());
        memory.set_decoded();
        let (memory, entry) = (Arc::downgrade(memory), Arc::downgrade(&texels));
        cache.add(Entry { memory, bytes, is_foreign, texels: entry });
        Some(texels)
    }

    fn number(&self, (level, layer): (u32, u32)) -> usize {
        (level * self.surface.desc().layers + layer) as usize
    }

    /// Returns the bytes of the texels of a part.
    fn bytes_of(&self, (level, layer): (u32, u32)) -> u64 {
        self.surface.layout().subresource(COLOR, level, layer).map_or(0, |part| part.size)
    }

    /// Returns the levels and layers of the wanted parts whose state satisfies `has`.
    fn parts_in_state(&self, state: &State, wanted: &Parts, has: impl Fn(PartState) -> bool) -> Vec<(u32, u32)> {
        let all = wanted.levels.clone().flat_map(|level| wanted.layers.clone().map(move |layer| (level, layer)));
        let is_one = |&part: &(u32, u32)| state.parts.get(self.number(part)).is_some_and(|&part| has(part));
        all.filter(is_one).collect()
    }

    fn all(&self) -> Parts {
        Parts { levels: 0..self.surface.desc().levels, layers: 0..self.surface.desc().layers }
    }

    /// Returns the bytes of the wanted parts that have no memory.
    fn missing(&self, state: &State, wanted: &Parts) -> u64 {
        let absent = self.parts_in_state(state, wanted, |part| part == PartState::Absent);
        absent.into_iter().map(|part| self.bytes_of(part)).sum()
    }

    fn claim(&self, wanted: &Parts) {
        let mut state = self.state.lock();
        for part in self.parts_in_state(&state, wanted, |part| part == PartState::Absent) {
            state.parts[self.number(part)] = PartState::Stale(None);
        }
    }

    /// Returns the bytes of all parts that have memory.
    fn resident(&self, state: &State) -> u64 {
        let present = self.parts_in_state(state, &self.all(), |part| part != PartState::Absent);
        present.into_iter().map(|part| self.bytes_of(part)).sum()
    }

    /// Marks all parts stale, because their blocks may have changed. Returns true if a fresh part
    /// became stale while the image is in use.
    fn mark_stale(&self) -> bool {
        let mut state = self.state.lock();
        let mut was_fresh = false;
        for part in &mut state.parts {
            was_fresh |= matches!(part, PartState::Fresh(_));
            *part = match *part {
                PartState::Fresh(checksum) => PartState::Stale(checksum),
                PartState::Decoding => PartState::Stale(None),
                other => other,
            };
        }
        was_fresh && state.users > 0
    }

    /// Makes the wanted parts fresh. Returns false if there is no room for them.
    fn refresh(&self, blocks: &Surface, wanted: &Parts) -> bool {
        self.last_use.store(self.cache.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        loop {
            match self.step(blocks, wanted) {
                Step::Fresh => return true,
                Step::NoRoom => return false,
                Step::Retry => {}
                Step::Join(job) => self.join(&job, blocks),
            }
        }
    }

    fn step(&self, blocks: &Surface, wanted: &Parts) -> Step {
        let mut state = self.state.lock();
        if !self.has_other_than_fresh(&state, wanted) {
            return Step::Fresh;
        }
        if let Some(job) = &state.job {
            return Step::Join(job.clone());
        }
        if self.missing(&state, wanted) > 0 {
            drop(state);
            let heap = blocks.binding().map(|(memory, _)| memory.heap());
            let has_room = heap.is_some_and(|heap| self.cache.make_room(self, heap, wanted));
            return if has_room { Step::Retry } else { Step::NoRoom };
        }
        let mut changed = Vec::new();
        for part in self.parts_in_state(&state, wanted, |part| matches!(part, PartState::Stale(_))) {
            let number = self.number(part);
            let known = match state.parts[number] {
                PartState::Stale(known) => known,
                _ => None,
            };
            let is_same = known.is_some() && known == checksum(blocks, part);
            state.parts[number] = if is_same { PartState::Fresh(known) } else { PartState::Decoding };
            changed.extend((!is_same).then_some(part));
        }
        self.begin(&mut state, Job::new(blocks, changed))
    }

    fn has_other_than_fresh(&self, state: &State, wanted: &Parts) -> bool {
        wanted.levels.clone().any(|level| {
            let first = self.number((level, 0));
            let parts = first + wanted.layers.start as usize..first + wanted.layers.end as usize;
            state.parts.get(parts).is_some_and(|parts| parts.iter().any(|part| !matches!(part, PartState::Fresh(_))))
        })
    }

    fn begin(&self, state: &mut MutexGuard<'_, State>, job: Job) -> Step {
        if job.chunks.is_empty() {
            for &part in &job.parts {
                state.parts[self.number(part)] = PartState::Fresh(None);
            }
            return Step::Retry;
        }
        let job = Arc::new(job);
        state.job = Some(job.clone());
        Step::Join(job)
    }

    /// Decodes chunks of a job until none are left, and waits until all threads have finished
    /// theirs.
    fn join(&self, job: &Arc<Job>, blocks: &Surface) {
        let mut scratch = [0; MAX_DECODED];
        while let Some(chunk) = job.chunks.get(job.next.fetch_add(1, Ordering::Relaxed)) {
            let _guard = ChunkGuard { texels: self, job, blocks };
            self.decode(blocks, chunk, &mut scratch);
        }
        let mut state = self.state.lock();
        while state.job.as_ref().is_some_and(|running| Arc::ptr_eq(running, job)) {
            self.ended.wait(&mut state);
        }
    }

    /// Decodes a rectangle of blocks.
    fn decode(&self, blocks: &Surface, chunk: &Chunk, scratch: &mut [u8]) {
        let info = format::info(blocks.desc().format);
        let blocks = blocks.plane(COLOR, chunk.level, chunk.slice);
        let texels = self.surface.plane(COLOR, chunk.level, chunk.slice);
        let (Some(info), Some(blocks), Some(texels)) = (info, blocks, texels) else { return };
        let decoder = BlockDecoder { info, blocks, texels };
        for y in chunk.rows.clone() {
            decoder.decode_row(y, chunk.columns.clone(), scratch);
        }
    }

    /// Ends a job after its last chunk is decoded.
    fn end(&self, job: &Arc<Job>, blocks: &Surface) {
        let sums: Vec<_> = job.parts.iter().map(|&part| checksum(blocks, part)).collect();
        let mut state = self.state.lock();
        for (&part, sum) in job.parts.iter().zip(sums) {
            let state = &mut state.parts[self.number(part)];
            // A writer may have changed blocks meanwhile.
            if *state == PartState::Decoding {
                *state = PartState::Fresh(sum);
            }
            self.cache.count(Stat::Decoded, self.bytes_of(part));
        }
        state.job = None;
        drop(state);
        self.ended.notify_all();
    }

    /// Decodes written blocks of a level and slice again if the part is fresh. `area` is the
    /// origin and the size of the written area, in blocks.
    fn decode_again(&self, workers: &Workers, blocks: &Surface, (level, slice): (u32, u32), area: [[u32; 2]; 2]) {
        let layer = if blocks.desc().kind == vk::ImageType::TYPE_3D { 0 } else { slice };
        let number = self.number((level, layer));
        let mut state = self.state.lock();
        let Some(part) = state.parts.get_mut(number) else { return };
        match *part {
            PartState::Fresh(_) => *part = PartState::Fresh(None),
            PartState::Decoding => {
                *part = PartState::Stale(None);
                return;
            }
            PartState::Absent | PartState::Stale(_) => return,
        }
        state.users += 1;
        drop(state);
        let Some(plane) = blocks.plane(COLOR, level, slice) else { return self.end_use() };
        let [[left, top], [width, height]] = area;
        let (right, bottom) =
            (left.saturating_add(width).min(plane.width()), top.saturating_add(height).min(plane.height()));
        let rows = rows_at_once(right.saturating_sub(left));
        let count = bottom.saturating_sub(top).div_ceil(rows);
        workers.parallel(
            count as usize,
            || [0; MAX_DECODED],
            |scratch, number| {
                let first = top + number as u32 * rows;
                let rows = first..(first + rows).min(bottom);
                self.decode(blocks, &Chunk { level, slice, rows, columns: left..right }, scratch);
            },
        );
        self.end_use();
    }

    fn end_use(&self) {
        self.state.lock().users -= 1;
    }
}

impl Evict for DecodedTexels {
    fn evict(&self) {
        let mut state = self.state.lock();
        let bytes = self.resident(&state);
        if state.users > 0 || state.job.is_some() || bytes == 0 {
            return;
        }
        state.parts.fill(PartState::Absent);
        if let Some((memory, _)) = self.surface.binding() {
            memory.discard();
        }
        self.cache.used.fetch_sub(bytes, Ordering::Relaxed);
        self.cache.count(Stat::Dropped, 1);
    }
}

impl Drop for DecodedTexels {
    fn drop(&mut self) {
        let bytes = self.resident(&self.state.lock());
        self.cache.used.fetch_sub(bytes, Ordering::Relaxed);
        // Descriptor sets may still contain the addresses of the texels.
        if let Some((memory, _)) = self.surface.binding() {
            memory.discard();
        }
    }
}

/// Chunk that a thread decodes. It counts as decoded on drop.
struct ChunkGuard<'a> {
    texels: &'a DecodedTexels,
    job: &'a Arc<Job>,
    blocks: &'a Surface,
}

impl Drop for ChunkGuard<'_> {
    fn drop(&mut self) {
        if self.job.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.texels.end(self.job, self.blocks);
        }
    }
}

/// Use of an image's decoded texels, which keep their addresses until it is dropped.
#[derive(Debug)]
pub struct DecodedUse(Arc<DecodedTexels>);

impl DecodedUse {
    /// Returns the surface of the texels.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.0.surface
    }
}

impl Drop for DecodedUse {
    fn drop(&mut self) {
        self.0.end_use();
    }
}

impl Surface {
    /// Decodes the parts of a view that are not fresh yet. Returns `None` if the surface is not
    /// compressed, the cache has no room, or the view's format decodes to other texels than the
    /// surface's format.
    pub fn use_decoded(&self, cache: &Arc<DecodedCache>, view: &SurfaceViewDesc) -> Option<DecodedUse> {
        let desc = self.desc();
        if !desc.decoded || cache.budget == 0 {
            return None;
        }
        if !format::decode_alike(format::info(view.format)?, format::info(desc.format)?) {
            return None;
        }
        let refuse = || {
            cache.count(Stat::Refused, 1);
            None
        };
        let Some(texels) = self.decoded_or_init(|| DecodedTexels::new(cache, self)) else { return refuse() };
        let layers = match desc.kind {
            vk::ImageType::TYPE_3D => 0..1,
            _ => view.base_layer..view.base_layer.saturating_add(view.layers).min(desc.layers),
        };
        // Levels below the view's minimum LOD are never read.
        let hidden = (view.min_lod.max(0.0) as u32).min(view.levels.saturating_sub(1));
        let end = view.base_level.saturating_add(view.levels).min(desc.levels);
        let levels = view.base_level.saturating_add(hidden)..end;
        texels.state.lock().users += 1;
        let used = DecodedUse(texels.clone());
        if texels.refresh(self, &Parts { levels, layers }) { Some(used) } else { refuse() }
    }

    /// Records that a copy wrote blocks of a level and slice. `area` is the origin and the size of
    /// the written area, in blocks.
    pub fn wrote_blocks(&self, workers: &Workers, part: (u32, u32), area: [[u32; 2]; 2]) {
        if let Some(texels) = self.decoded() {
            texels.decode_again(workers, self, part, area);
        }
    }
}

/// Computes a checksum of the blocks of a level and layer. Returns `None` if the surface is
/// unbound or has no such part.
fn checksum(blocks: &Surface, (level, layer): (u32, u32)) -> Option<u64> {
    let (memory, start) = blocks.binding()?;
    let part = blocks.layout().subresource(COLOR, level, layer)?;
    let mut hasher = foldhash::quality::FixedState::default().build_hasher();
    let mut bytes = [0; CHECKSUM_CHUNK_BYTES];
    for at in (0..part.size).step_by(CHECKSUM_CHUNK_BYTES) {
        let bytes = &mut bytes[..(part.size - at).min(CHECKSUM_CHUNK_BYTES as u64) as usize];
        memory.read(start + part.offset + at, bytes);
        hasher.write(bytes);
    }
    Some(hasher.finish())
}

/// Planes of blocks and of their decoded texels.
struct BlockDecoder<'a> {
    info: &'a FormatInfo,
    blocks: PlaneRef<'a>,
    texels: PlaneRef<'a>,
}

impl BlockDecoder<'_> {
    /// Decodes some blocks of a row.
    fn decode_row(&self, y: u32, columns: Range<u32>, scratch: &mut [u8]) {
        let [width, height] = self.info.block_extent();
        let mut block = [0; 16];
        let block = &mut block[..self.info.bytes as usize];
        for x in columns {
            self.blocks.read(x, y, 0, block);
            format::decode_block(self.info, block, scratch);
            put(&self.texels, [x * width, y * height], [width, height], scratch);
        }
    }
}

/// Writes a block's texels row by row, clipped to the image.
fn put(texels: &PlaneRef<'_>, [left, top]: [u32; 2], [width, height]: [u32; 2], decoded: &[u8]) {
    let bytes = texels.bytes();
    let rows = decoded.chunks_exact(width as usize * bytes);
    for (y, row) in (top..(top + height).min(texels.height())).zip(rows) {
        let mut x = left;
        let end = (left + width).min(texels.width());
        while x < end {
            let count = texels.run(x).min(end - x);
            let first = (x - left) as usize * bytes;
            texels.write_run(x, y, 0, &row[first..first + count as usize * bytes]);
            x += count;
        }
    }
}

#[cfg(test)]
mod tests;
