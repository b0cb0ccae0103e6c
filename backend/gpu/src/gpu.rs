//! The GPU as a whole: its set-up, its workers, and the memory that its units keep.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ash::vk;
use vitric_base::counters::Counters;
use vitric_base::object_pool::ObjectPool;
use vitric_base::workers::Workers;
use vitric_exec::Inlining;
use vitric_exec::runtime::{DescriptorResolver, NoDescriptors};
use vitric_exec::texture::Routines;
use vitric_memory::{AddressSpace, Buffer, DecodedCache, InUse, Residency, Surface};

use crate::geometry::{FrontScratch, MergedMode, Posh, Triangles};
use crate::hiz::{Hiz, KeptDepths};
use crate::pixel::TileScratch;
use crate::state::PipelineState;
use crate::transfer::{self, Direction};

/// Why execution cannot go on. What the commands that ran have done is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceLost {
    /// A command took longer than the time limit allows, while programs of a stage ran.
    TimedOut(Stage),
    /// An event that a command waits for was not set in time.
    EventNotSet,
    /// Secondary command buffers are nested deeper than `maxCommandBufferNestingLevel`.
    NestedTooDeep,
    /// There is no memory for an image.
    OutOfMemory,
}

/// The stages whose programs run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Compute programs.
    Compute,
    /// Vertex programs.
    Vertex,
    /// Vertex and tessellation programs, and geometry programs behind them.
    Tessellation,
    /// Vertex and geometry programs.
    Geometry,
    /// Task programs.
    Task,
    /// Mesh programs.
    Mesh,
    /// Fragment programs, and what stands beside them: rasterization, tests, blending.
    Fragment,
    /// No program: copies, blits, resolves and clears.
    Transfer,
}

impl Stage {
    /// Returns the stages before rasterization that a pipeline has.
    pub(crate) fn before_rasterization(pipeline: &PipelineState) -> Self {
        match () {
            () if pipeline.mesh().is_some() => Self::Mesh,
            () if pipeline.patches.is_some() => Self::Tessellation,
            () if pipeline.geometry.is_some() => Self::Geometry,
            () => Self::Vertex,
        }
    }

    /// Returns how messages name it.
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

/// How a GPU is set up.
#[derive(Debug, Clone, Copy)]
pub struct GpuConfig {
    /// Worker threads, at least 1. Images do not depend on it.
    pub threads: usize,
    /// Longest wall time of one command.
    pub timeout: Duration,
    /// Primitives of a window.
    pub window: usize,
    /// Which primitives are tested against the hierarchical visibility structure.
    pub hiz: Hiz,
    /// Whether fragments that newer ones cover are dropped before they are shaded.
    pub scoreboard: bool,
    /// Whether fragments are packed into waves even where kernels that export themselves would serve better.
    pub packs_always: bool,
    /// How waves of geometry programs are made, where that is asked for.
    pub merged: Option<MergedMode>,
    /// Which draws shade positions before they shade vertices.
    pub posh: Posh,
    /// Primitives of draws that wait for later ones, at most; 0: none waits.
    pub lookahead: usize,
    /// Which programs get the routines of their image instructions in them.
    pub inlining: Inlining,
    /// Whether it counts what it does.
    pub counts: bool,
    /// Most bytes of decoded texels of compressed images; 0: none are kept.
    pub decoded_bytes: u64,
}

/// An emulated GPU. Several queues may execute on it at the same time: each has one of these, with the same units.
#[derive(Debug)]
pub struct Gpu {
    units: Arc<Units>,
    workers: Workers,
}

/// What queues share.
#[derive(Debug)]
struct Units {
    config: GpuConfig,
    started: Instant,
    routines: Arc<Routines>,
    addresses: AddressSpace,
    names: OnceLock<Arc<dyn DescriptorResolver>>,
    triangles: ObjectPool<Triangles>,
    tiles: ObjectPool<TileScratch>,
    fronts: ObjectPool<Box<FrontScratch>>,
    depths: KeptDepths,
    counters: Option<Arc<Counters>>,
    near: Option<Residency>,
    /// Submissions that are executed now.
    running: AtomicUsize,
    /// True once commands give up events and queries that have not come.
    ends_waits: AtomicBool,
}

/// Windows of triangles whose memory is kept.
const MAX_KEPT: usize = 32;

impl Gpu {
    /// Starts a GPU with its worker threads, which are joined when the last reference to it goes.
    pub fn new(config: GpuConfig) -> Arc<Self> {
        Self::with_near(config, None)
    }

    /// The same with near memory, where images rest that no submission uses.
    pub fn with_near(config: GpuConfig, near: Option<Residency>) -> Arc<Self> {
        let decoded = DecodedCache::new(config.decoded_bytes);
        let units = Arc::new(Units {
            config,
            started: Instant::now(),
            routines: Arc::new(Routines::new(decoded.clone())),
            addresses: AddressSpace::default(),
            names: OnceLock::new(),
            triangles: ObjectPool::new(MAX_KEPT),
            tiles: ObjectPool::new(config.threads),
            // The command processor keeps one.
            fronts: ObjectPool::new(config.threads + 1),
            depths: KeptDepths::new(config.hiz, decoded),
            counters: config.counts.then(Arc::default),
            near,
            running: AtomicUsize::new(0),
            ends_waits: AtomicBool::new(false),
        });
        Arc::new(Self { units, workers: Workers::new(config.threads) })
    }

    /// The same GPU for a queue whose work counts `weight` times beside that of queues which count once; at least 1.
    pub fn with_weight(&self, weight: usize) -> Arc<Self> {
        Arc::new(Self { units: self.units.clone(), workers: self.workers.with_weight(weight) })
    }

    /// How the GPU is set up.
    pub fn config(&self) -> &GpuConfig {
        &self.units.config
    }

    /// Nanoseconds since the GPU was started: what timestamps count.
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

    /// Commands do not wait any more for events and queries, since the device ends.
    pub fn end_waits(&self) {
        self.units.ends_waits.store(true, Ordering::Release);
    }

    /// Returns true if commands give up events and queries that have not come.
    pub(crate) fn ends_waits(&self) -> bool {
        self.units.ends_waits.load(Ordering::Acquire)
    }

    /// Returns true if the calling submission is the only one that is executed.
    pub(crate) fn is_alone(&self) -> bool {
        self.units.running.load(Ordering::Acquire) <= 1
    }

    /// The visibility structures of depth images. Whoever writes memory other than by commands says so here.
    pub fn depths(&self) -> &KeptDepths {
        &self.units.depths
    }

    /// Copies between a buffer and an image, at once: no list that is executed uses the image.
    pub fn copy_buffer_image(
        &self,
        buffer: &Buffer,
        image: &Surface,
        regions: &[vk::BufferImageCopy],
        direction: Direction,
    ) {
        let in_use = self.begin_use();
        if let (Some(in_use), Direction::ToImage) = (&in_use, direction) {
            image.begin_use(in_use, false);
        }
        transfer::copy_buffer_image(&self.workers, in_use.as_ref(), (buffer, image), regions, direction);
        self.depths().copied_to(image);
    }

    /// The same between images.
    pub fn copy_image(&self, source: &Surface, target: &Surface, regions: &[vk::ImageCopy]) {
        let in_use = self.begin_use();
        in_use.iter().for_each(|in_use| target.begin_use(in_use, false));
        transfer::copy_image(&self.workers, in_use.as_ref(), (source, target), regions);
        self.depths().copied_to(target);
    }

    /// Memory that programs reach by address.
    pub fn addresses(&self) -> &AddressSpace {
        &self.units.addresses
    }

    /// Says where sets and commands find what they name, once.
    pub fn set_names(&self, names: Arc<dyn DescriptorResolver>) {
        let _ = self.units.names.set(names);
    }

    /// Where sets and commands find what they name.
    pub(crate) fn names(&self) -> &Arc<dyn DescriptorResolver> {
        self.units.names.get_or_init(|| Arc::new(NoDescriptors))
    }

    /// The sampling routines that were compiled.
    pub(crate) fn routines(&self) -> &Arc<Routines> {
        &self.units.routines
    }

    /// The decoded texels of compressed images.
    pub fn decoded(&self) -> &Arc<DecodedCache> {
        self.units.routines.decoded()
    }

    /// What it counted, when it does.
    pub fn counters(&self) -> Option<&Arc<Counters>> {
        self.units.counters.as_ref()
    }

    /// Adds to it what near memory and the cache of decoded texels have counted; once, when all else has ended.
    pub fn settle_counters(&self) {
        let Some(counters) = self.counters() else { return };
        counters.add_numbered(self.decoded().counted());
        if let Some(near) = self.near() {
            counters.add_numbered(near.counted());
        }
    }

    /// Where images rest, if they do.
    pub fn near(&self) -> Option<&Residency> {
        self.units.near.as_ref()
    }

    /// Begins to use images.
    pub(crate) fn begin_use(&self) -> Option<InUse<'_>> {
        self.near().map(|near| near.begin(&self.workers))
    }

    /// Memory of triangles.
    pub(crate) fn triangles(&self) -> &ObjectPool<Triangles> {
        &self.units.triangles
    }

    /// Memory of the front end.
    pub(crate) fn fronts(&self) -> &ObjectPool<Box<FrontScratch>> {
        &self.units.fronts
    }

    /// What tiles are processed with.
    pub(crate) fn tiles(&self) -> &ObjectPool<TileScratch> {
        &self.units.tiles
    }

    /// The threads that work on tiles and workgroups.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }
}
