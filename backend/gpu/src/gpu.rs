//! The GPU as a whole: its configuration, its workers, and memory that its units keep between
//! uses.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ash::vk;
use vitric_base::counters::Counters;
use vitric_base::knobs::BatchLimit;
use vitric_base::object_pool::ObjectPool;
use vitric_base::workers::Workers;
use vitric_exec::Inlining;
use vitric_exec::bindings::{DescriptorResolver, NoDescriptors};
use vitric_exec::texture::Routines;
use vitric_ir::interface::abort::{
    ABORT_ADDRESS, ABORT_AREA_BYTES, ABORT_MESSAGE_OFFSET, ABORT_SIZE_OFFSET, MAX_ABORT_BYTES,
};
use vitric_memory::{
    AddressSpace, Allocation, Buffer, DecodedCache, InUse, OutOfMemory, Residency, Surface, SynchronizedMemory,
};

use crate::geometry::{FrontScratch, MergedMode, Posh, Triangles};
use crate::hiz::{Hiz, HizCache};
use crate::pixel::TileScratch;
use crate::raster::Coverage;
use crate::state::PipelineState;
use crate::transfer::{self, BufferImageTransfer, CopyAccess, CopyDirection};

/// Reason why execution cannot go on. Results of the commands that ran are undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceLost {
    /// A command exceeded the time limit while programs of a stage ran.
    TimedOut(PipelineStage),
    /// An event for which a command waits was not set in time.
    EventNotSet,
    /// Secondary command buffers are nested deeper than `maxCommandBufferNestingLevel`.
    NestedTooDeep,
    /// There is no memory for an image.
    OutOfMemory,
    /// Contents of an image are lost.
    FarMemory(FarMemoryFailed),
}

/// Error: contents of an image are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("far memory (VITRIC_FARMEM) could not be read or written, and contents of an image are lost")]
pub struct FarMemoryFailed;

impl From<FarMemoryFailed> for DeviceLost {
    fn from(failed: FarMemoryFailed) -> Self {
        Self::FarMemory(failed)
    }
}

/// Fails if contents of an image were lost while images were in use.
pub(crate) fn check_contents(in_use: Option<&InUse<'_>>) -> Result<(), FarMemoryFailed> {
    if in_use.is_some_and(InUse::has_failed) { Err(FarMemoryFailed) } else { Ok(()) }
}

/// Stages whose programs run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineStage {
    /// Compute programs.
    Compute,
    /// Vertex programs.
    Vertex,
    /// Vertex and tessellation programs, with geometry programs after them.
    Tessellation,
    /// Vertex and geometry programs.
    Geometry,
    /// Task programs.
    Task,
    /// Mesh programs.
    Mesh,
    /// Fragment programs, with rasterization, tests and blending.
    Fragment,
    /// No program: copies, blits, resolves and clears.
    Transfer,
}

impl PipelineStage {
    /// Returns the stages before rasterization that a pipeline has.
    pub(crate) fn before_rasterization(pipeline: &PipelineState) -> Self {
        match () {
            () if pipeline.mesh().is_some() => Self::Mesh,
            () if pipeline.patches.is_some() => Self::Tessellation,
            () if pipeline.geometry.is_some() => Self::Geometry,
            () => Self::Vertex,
        }
    }

    /// Returns the stage's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute shader",
            Self::Vertex => "vertex shader",
            Self::Tessellation => "vertex, tessellation or geometry shader",
            Self::Geometry => "vertex or geometry shader",
            Self::Task => "task shader",
            Self::Mesh => "mesh shader",
            Self::Fragment => "fragment shader",
            Self::Transfer => "transfer",
        }
    }
}

/// Configuration of a GPU.
#[derive(Debug, Clone, Copy)]
pub struct GpuConfig {
    /// Number of worker threads, at least 1. Images do not depend on it.
    pub threads: usize,
    /// Longest wall time of one command.
    pub timeout: Duration,
    /// True if the tiles of several draws are processed together.
    pub tbimr: bool,
    /// Limit of the primitives whose tiles are processed together.
    pub batch: BatchLimit,
    /// Maximum number of primitives that a thread of the front end processes together.
    pub chunk: usize,
    /// Primitives that are tested against Hi-Z.
    pub hiz: Hiz,
    /// Evaluation of coverage.
    pub coverage: Coverage,
    /// True if fragments that newer fragments cover are dropped before they are shaded.
    pub scoreboard: bool,
    /// True if fragments are packed into waves even where kernels that export themselves are
    /// expected to be faster.
    pub packs_always: bool,
    /// Mode of waves of geometry programs; `None` chooses it by draw.
    pub merged: Option<MergedMode>,
    /// Draws that go through the cull pipe.
    pub posh: Posh,
    /// Maximum number of primitives of a draw that waits for later draws; 0 for no look-ahead.
    pub lookahead: usize,
    /// Programs into which image routines are inlined.
    pub inlining: Inlining,
    /// True if counters are kept.
    pub counts: bool,
    /// Maximum bytes of decoded texels of compressed images; 0 keeps none.
    pub decoded_bytes: u64,
}

/// An emulated GPU. Several queues may execute on it at the same time. Each queue has its own
/// `Gpu`, and all share the same units.
#[derive(Debug)]
pub struct Gpu {
    units: Arc<Units>,
    workers: Workers,
}

/// Units and memory that queues share.
#[derive(Debug)]
struct Units {
    config: GpuConfig,
    started: Instant,
    routines: Arc<Routines>,
    addresses: AddressSpace,
    /// Memory for the message of a program that aborts.
    abort_area: OnceLock<Arc<Allocation>>,
    descriptor_resolver: OnceLock<Arc<dyn DescriptorResolver>>,
    triangles: ObjectPool<Triangles>,
    tiles: ObjectPool<TileScratch>,
    fronts: ObjectPool<Box<FrontScratch>>,
    depths: HizCache,
    counters: Option<Arc<Counters>>,
    near: Option<Residency>,
    synchronized: SynchronizedMemory,
    /// True once the device has a protected resource.
    has_protected_resources: Arc<AtomicBool>,
    /// Number of submissions that execute.
    running: AtomicUsize,
    /// True once commands stop waiting for events and queries.
    ends_waits: AtomicBool,
}

/// Maximum number of bytes that are kept for windows of triangles: a batch and the next one, while
/// they have the default size.
const MAX_WINDOW_BYTES: usize = 32 << 20;

impl Gpu {
    /// Starts a GPU with its worker threads, which are joined when the last reference is dropped.
    pub fn new(config: GpuConfig) -> Arc<Self> {
        Self::with_near(config, None)
    }

    /// Starts a GPU with near memory, in which images that no submission uses are compacted.
    pub fn with_near(config: GpuConfig, near: Option<Residency>) -> Arc<Self> {
        let decoded = DecodedCache::new(config.decoded_bytes);
        let units = Arc::new(Units {
            config,
            started: Instant::now(),
            routines: Arc::new(Routines::new(decoded.clone())),
            addresses: AddressSpace::default(),
            abort_area: OnceLock::new(),
            descriptor_resolver: OnceLock::new(),
            triangles: ObjectPool::bounded(MAX_WINDOW_BYTES, Triangles::capacity_bytes),
            tiles: ObjectPool::new(config.threads),
            // The command processor holds one.
            fronts: ObjectPool::new(config.threads + 1),
            depths: HizCache::new(config.hiz, decoded),
            counters: config.counts.then(Arc::default),
            near,
            synchronized: SynchronizedMemory::default(),
            has_protected_resources: Arc::default(),
            running: AtomicUsize::new(0),
            ends_waits: AtomicBool::new(false),
        });
        Arc::new(Self { units, workers: Workers::new(config.threads) })
    }

    /// Returns the same GPU for a queue whose work has a weight of at least 1 beside that of other
    /// queues.
    pub fn with_weight(&self, weight: usize) -> Arc<Self> {
        Arc::new(Self { units: self.units.clone(), workers: self.workers.with_weight(weight) })
    }

    /// Returns the configuration.
    pub fn config(&self) -> &GpuConfig {
        &self.units.config
    }

    /// Returns the nanoseconds since the GPU was started, the unit of timestamps.
    pub fn now(&self) -> u64 {
        self.units.started.elapsed().as_nanos() as u64
    }

    /// Notes that a submission begins to execute, until [`Self::end_execution`].
    pub(crate) fn begin_execution(&self) {
        self.units.running.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes that a submission does not execute any more.
    pub(crate) fn end_execution(&self) {
        self.units.running.fetch_sub(1, Ordering::AcqRel);
    }

    /// Makes commands stop waiting for events and queries, because the device is destroyed.
    pub fn end_waits(&self) {
        self.units.ends_waits.store(true, Ordering::Release);
    }

    /// Returns true if commands stop waiting for events and queries.
    pub(crate) fn ends_waits(&self) -> bool {
        self.units.ends_waits.load(Ordering::Acquire)
    }

    /// Returns true if the calling submission is the only one that executes.
    pub(crate) fn is_alone(&self) -> bool {
        self.units.running.load(Ordering::Acquire) <= 1
    }

    /// Returns the Hi-Z structures of depth images. Writes of memory other than by commands must
    /// be reported to it.
    pub fn depths(&self) -> &HizCache {
        &self.units.depths
    }

    /// Copies between a buffer and an image at once. No list that executes may use the image.
    ///
    /// # Errors
    /// [`FarMemoryFailed`] if contents of the image are lost.
    pub fn copy_buffer_image(
        &self,
        buffer: &Buffer,
        image: &Surface,
        regions: &[vk::BufferImageCopy],
        direction: CopyDirection,
    ) -> Result<(), FarMemoryFailed> {
        let (in_use, _shared) = (self.begin_use(), self.synchronized().begin());
        let transfer = BufferImageTransfer { buffer, image, direction };
        let mut access = CopyAccess::of_buffer_image(&self.workers, in_use.as_ref(), transfer, regions);
        transfer::copy_buffer_image(&mut access, transfer, regions);
        // The end of the access writes the last lines.
        drop(access);
        self.depths().copied_to(image);
        check_contents(in_use.as_ref())
    }

    /// Copies between images at once. No list that executes may use the images.
    ///
    /// # Errors
    /// [`FarMemoryFailed`] if contents of the image are lost.
    pub fn copy_image(
        &self,
        source: &Surface,
        target: &Surface,
        regions: &[vk::ImageCopy],
    ) -> Result<(), FarMemoryFailed> {
        let (in_use, _shared) = (self.begin_use(), self.synchronized().begin());
        let mut access = CopyAccess::of_images(&self.workers, in_use.as_ref(), (source, target), regions);
        transfer::copy_image(&mut access, (source, target), regions);
        // The end of the access writes the last lines.
        drop(access);
        self.depths().copied_to(target);
        check_contents(in_use.as_ref())
    }

    /// Calls `make`, which reserves `bytes` bytes of the device's heap. While the heap is full,
    /// compacts idle images and calls `make` again.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn with_room<T, E: From<OutOfMemory> + PartialEq>(
        &self,
        bytes: u64,
        mut make: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        match self.near() {
            Some(near) => near.with_room(bytes, make),
            None => make(),
        }
    }

    /// Returns the flag that is set once the device has a protected resource. Until then, nothing
    /// checks accesses of unprotected command buffers.
    pub fn has_protected_resources(&self) -> &Arc<AtomicBool> {
        &self.units.has_protected_resources
    }

    /// Returns the memory that programs access by address.
    pub fn addresses(&self) -> &AddressSpace {
        &self.units.addresses
    }

    /// Sets the memory to which programs that abort write, of [`ABORT_AREA_BYTES`]. Without it,
    /// they end without a message. Later calls have no effect.
    pub fn set_abort_area(&self, area: &Arc<Allocation>) {
        if self.units.abort_area.set(area.clone()).is_ok() {
            area.keep_resident(0..ABORT_AREA_BYTES);
            self.addresses().reserve(area, ABORT_ADDRESS);
        }
    }

    /// Returns the message of the first invocation that aborted, if one has.
    pub(crate) fn abort_message(&self) -> Option<Vec<u8>> {
        let area = self.units.abort_area.get()?;
        let dword = |offset: u64| {
            let mut bytes = [0; 4];
            area.read(offset, &mut bytes);
            u32::from_le_bytes(bytes)
        };
        if dword(0) == 0 {
            return None;
        }
        let mut message = vec![0; dword(ABORT_SIZE_OFFSET.into()).min(MAX_ABORT_BYTES) as usize];
        area.read(ABORT_MESSAGE_OFFSET.into(), &mut message);
        Some(message)
    }

    /// Sets the resolver of descriptors. Later calls have no effect.
    pub fn set_descriptor_resolver(&self, descriptor_resolver: Arc<dyn DescriptorResolver>) {
        let _ = self.units.descriptor_resolver.set(descriptor_resolver);
    }

    /// Returns the resolver of descriptors.
    pub(crate) fn descriptor_resolver(&self) -> &Arc<dyn DescriptorResolver> {
        self.units.descriptor_resolver.get_or_init(|| Arc::new(NoDescriptors))
    }

    /// Returns the compiled image routines.
    pub(crate) fn routines(&self) -> &Arc<Routines> {
        &self.units.routines
    }

    /// Returns the cache of decoded texels of compressed images.
    pub fn decoded(&self) -> &Arc<DecodedCache> {
        self.units.routines.decoded()
    }

    /// Returns the counters, if they are kept.
    pub fn counters(&self) -> Option<&Arc<Counters>> {
        self.units.counters.as_ref()
    }

    /// Adds the counts of near memory and of the cache of decoded texels. Must be called once,
    /// after all execution has ended.
    pub fn settle_counters(&self) {
        let Some(counters) = self.counters() else { return };
        counters.add_numbered(self.decoded().counted());
        if let Some(near) = self.near() {
            counters.add_numbered(near.counted());
        }
    }

    /// Returns near memory, if there is any.
    pub fn near(&self) -> Option<&Residency> {
        self.units.near.as_ref()
    }

    /// Begins a use of images, which near memory does not compact until the guard is dropped.
    pub(crate) fn begin_use(&self) -> Option<InUse<'_>> {
        self.near().map(|near| near.begin(&self.workers))
    }

    /// Returns the memory that other devices may access. Each submission and each copy by the host
    /// announces its accesses to the kernel.
    pub fn synchronized(&self) -> &SynchronizedMemory {
        &self.units.synchronized
    }

    /// Returns the pool of triangles of windows.
    pub(crate) fn triangles(&self) -> &ObjectPool<Triangles> {
        &self.units.triangles
    }

    /// Returns the pool of scratch memory of the front end.
    pub(crate) fn fronts(&self) -> &ObjectPool<Box<FrontScratch>> {
        &self.units.fronts
    }

    /// Returns the pool of scratch memory of tiles.
    pub(crate) fn tiles(&self) -> &ObjectPool<TileScratch> {
        &self.units.tiles
    }

    /// Returns the threads that process tiles and workgroups.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }
}
