//! The command stream: typed, owned commands, and the command processor that walks them.
//!
//! Commands own (by `Arc`) everything they name, so a list can be submitted again, by several queues, or be executed
//! from other lists. Source: Vulkan specification, "Command Buffers".

mod depth;
mod dispatch;
mod draw;
mod event;
mod execute;
mod feedback;
mod implicit;
mod lookahead;
mod mesh;
mod name;
mod pass;
mod patches;
mod pending;
mod processor;
mod query;
mod residency;
mod sets;
mod streams;
mod time;
mod viewports;
mod views;

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::runtime::{Named, SetLayout};
use vitric_memory::{Buffer, BufferRange, Hint, Surface, SurfaceView};

use crate::pipeline::CompiledPipeline;
use crate::raster::{RateState, SampleLocations};
use crate::state::{ClearValue, ComputePipeline, DepthBias, LineStipple, PassDesc, SetBlend, SetState, VertexInput};

pub use event::Event;
pub use execute::LossReport;
pub(crate) use name::Running;
pub use processor::{MAX_NESTED, Processor};
pub use query::{QueryKind, QueryPool, QueryResult};
pub use sets::MAX_SETS;

/// A recorded sequence of commands.
#[derive(Debug, Default)]
pub struct CommandList {
    /// The commands in the order in which they were recorded.
    pub commands: Vec<Command>,
    /// Bytes that commands bring along, one after the other.
    pub bytes: Vec<u8>,
}

impl CommandList {
    /// Forgets what was recorded, but not its memory.
    pub fn clear(&mut self) {
        self.commands.clear();
        self.bytes.clear();
    }
}

/// Bytes that a command brings along: where they begin in its list, and how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlineData {
    /// The first.
    pub start: usize,
    /// How many.
    pub count: u32,
}

impl InlineData {
    /// The bytes, among those of the list.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..).and_then(|bytes| bytes.get(..self.count as usize)).unwrap_or_default()
    }
}

/// A clear of attachments inside of a pass.
#[derive(Debug)]
pub struct AttachmentsClear {
    /// `(aspects, colour attachment index, value)`.
    pub attachments: SmallVec<[(vk::ImageAspectFlags, u32, ClearValue); 1]>,
    /// Where.
    pub rects: SmallVec<[vk::ClearRect; 1]>,
}

// Command buffers are long: a command is one line of a cache.
const _: () = assert!(size_of::<Command>() <= 64);

/// The start of a render pass instance.
#[derive(Debug)]
pub struct PassBegin {
    /// The pass.
    pub pass: Arc<PassDesc>,
    /// One view per attachment.
    pub views: Vec<Arc<SurfaceView>>,
    /// Pixels that loads, clears, stores and resolves touch.
    pub area: vk::Rect2D,
    /// Layers rendered to.
    pub layers: u32,
    /// One value per attachment; fewer when the last ones are not cleared.
    pub clears: Vec<ClearValue>,
}

/// One draw of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MultiDraw {
    /// First vertex, or first index.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// What is added to indices.
    pub offset: i32,
}

/// Where a byte offset of transform feedback is kept, if it is.
pub type CounterBuffer = Option<(Arc<Buffer>, u64)>;

/// One command. Sizes and offsets are bytes unless said otherwise.
#[derive(Debug)]
#[expect(missing_docs, reason = "fields carry the names of the Vulkan command's parameters")]
pub enum Command {
    // Render passes.
    BeginPass(Box<PassBegin>),
    NextSubpass,
    EndPass,

    // State.
    BindGraphicsPipeline(Arc<CompiledPipeline>),
    BindComputePipeline(Arc<ComputePipeline>),
    /// What has the name `sets[i]` becomes set `first + i`, nothing where there is none; `dynamic_offsets` are in the order of sets, bindings
    /// and array elements.
    BindDescriptorSets {
        point: vk::PipelineBindPoint,
        first: u32,
        sets: SmallVec<[u64; 2]>,
        dynamic_offsets: SmallVec<[u32; 4]>,
    },
    /// Descriptors of a set that has no object, by their places: the others stay as they are.
    PushDescriptors {
        point: vk::PipelineBindPoint,
        set: u32,
        layout: Arc<SetLayout>,
        writes: Vec<(u32, Named)>,
    },
    /// Without a buffer, vertices are zeros.
    BindVertexBuffers {
        first: u32,
        buffers: SmallVec<[Option<BufferRange>; 2]>,
    },
    /// Without a buffer, indices are 0.
    BindIndexBuffer {
        range: Option<BufferRange>,
        index_type: vk::IndexType,
    },
    /// The index that restarts primitives, until indices are bound again.
    SetRestartIndex(u32),
    PushConstants {
        offset: u32,
        data: InlineData,
    },
    SetViewports {
        first: u32,
        viewports: SmallVec<[vk::Viewport; 1]>,
    },
    SetScissors {
        first: u32,
        scissors: SmallVec<[vk::Rect2D; 1]>,
    },
    SetState(SetState),
    /// Of the colour attachments from `first` on.
    SetBlend {
        first: u32,
        values: Vec<SetBlend>,
    },
    SetVertexInput(Arc<VertexInput>),
    SetSampleLocations(Box<Option<SampleLocations>>),
    SetVertexStrides {
        first: u32,
        strides: SmallVec<[u32; 2]>,
    },
    SetLineWidth(f32),
    SetLineStipple(LineStipple),
    SetDepthBias(DepthBias),
    SetFragmentRate(RateState),
    SetBlendConstants([f32; 4]),
    SetDepthBounds([f32; 2]),
    SetStencilCompareMask {
        faces: vk::StencilFaceFlags,
        mask: u32,
    },
    SetStencilWriteMask {
        faces: vk::StencilFaceFlags,
        mask: u32,
    },
    SetStencilReference {
        faces: vk::StencilFaceFlags,
        reference: u32,
    },

    // Work.
    Draw {
        vertices: u32,
        instances: u32,
        first_vertex: u32,
        first_instance: u32,
    },
    DrawIndexed {
        indices: u32,
        instances: u32,
        first_index: u32,
        vertex_offset: i32,
        first_instance: u32,
    },
    DrawIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
        /// Draws; at most, where a buffer has their number.
        count: u32,
        /// Where their number is.
        counted: Option<(Arc<Buffer>, u64)>,
        stride: u32,
    },
    DrawIndexedIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
        /// Draws; at most, where a buffer has their number.
        count: u32,
        /// Where their number is.
        counted: Option<(Arc<Buffer>, u64)>,
        stride: u32,
    },
    DrawMulti {
        draws: Box<[MultiDraw]>,
        /// Whether they are of indices.
        indexed: bool,
        instances: u32,
        first_instance: u32,
    },
    /// Vertices that transform feedback has written: so many as fit between an offset and the counter.
    DrawByteCount {
        instances: u32,
        first_instance: u32,
        counter: Arc<Buffer>,
        counter_place: u64,
        counter_offset: u32,
        stride: u32,
    },
    /// Workgroups of task programs, or of mesh programs.
    DrawMesh {
        groups: [u32; 3],
    },
    DrawMeshIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
        /// Draws; at most, where a buffer has their number.
        count: u32,
        /// Where their number is.
        counted: Option<(Arc<Buffer>, u64)>,
        stride: u32,
    },
    /// Workgroups are numbered from `base` on.
    Dispatch {
        base: [u32; 3],
        groups: [u32; 3],
    },
    DispatchIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
    },

    // Transfers.
    CopyBuffer {
        source: Arc<Buffer>,
        target: Arc<Buffer>,
        regions: SmallVec<[vk::BufferCopy; 1]>,
    },
    CopyImage {
        source: Arc<Surface>,
        target: Arc<Surface>,
        regions: Vec<vk::ImageCopy>,
    },
    BlitImage {
        source: Arc<Surface>,
        target: Arc<Surface>,
        regions: Vec<vk::ImageBlit>,
        filter: vk::Filter,
    },
    CopyBufferToImage {
        source: Arc<Buffer>,
        target: Arc<Surface>,
        regions: Vec<vk::BufferImageCopy>,
    },
    CopyImageToBuffer {
        source: Arc<Surface>,
        target: Arc<Buffer>,
        regions: Vec<vk::BufferImageCopy>,
    },
    UpdateBuffer {
        target: Arc<Buffer>,
        offset: u64,
        data: InlineData,
    },
    FillBuffer {
        target: Arc<Buffer>,
        offset: u64,
        size: u64,
        word: u32,
    },
    ClearColorImage {
        target: Arc<Surface>,
        value: ClearValue,
        ranges: SmallVec<[vk::ImageSubresourceRange; 1]>,
    },
    ClearDepthStencilImage {
        target: Arc<Surface>,
        value: ClearValue,
        ranges: SmallVec<[vk::ImageSubresourceRange; 1]>,
    },
    /// Inside a pass.
    ClearAttachments(Box<AttachmentsClear>),
    ResolveImage {
        source: Arc<Surface>,
        target: Arc<Surface>,
        regions: Vec<vk::ImageResolve>,
    },

    // Synchronisation.
    PipelineBarrier,
    /// What a transition of all of an image says of it, for near memory.
    HintImage {
        image: Arc<Surface>,
        hint: Hint,
    },
    SetEvent(Arc<Event>),
    ResetEvent(Arc<Event>),
    WaitEvents(SmallVec<[Arc<Event>; 2]>),

    // Queries.
    BeginQuery {
        pool: Arc<QueryPool>,
        query: u32,
        precise: bool,
        /// The stream of vertices that is counted.
        stream: u32,
    },
    EndQuery {
        pool: Arc<QueryPool>,
        query: u32,
        stream: u32,
    },
    ResetQueryPool {
        pool: Arc<QueryPool>,
        first: u32,
        count: u32,
    },
    WriteTimestamp {
        pool: Arc<QueryPool>,
        query: u32,
    },
    CopyQueryPoolResults {
        pool: Arc<QueryPool>,
        first: u32,
        count: u32,
        target: Arc<Buffer>,
        offset: u64,
        stride: u64,
        flags: vk::QueryResultFlags,
    },

    // Transform feedback.
    BindFeedbackBuffers {
        first: u32,
        buffers: SmallVec<[BufferRange; 1]>,
    },
    BeginFeedback {
        first: u32,
        counters: SmallVec<[CounterBuffer; 1]>,
    },
    EndFeedback {
        first: u32,
        counters: SmallVec<[CounterBuffer; 1]>,
    },

    /// What draws, dispatches and clears of attachments depend on until the end: whether a word is not 0, or is when `inverted`.
    BeginConditional {
        buffer: Arc<Buffer>,
        offset: u64,
        inverted: bool,
    },
    EndConditional,

    /// Secondary lists, inside or outside a pass. State does not carry over in either direction, the pass does.
    Execute(SmallVec<[Arc<CommandList>; 2]>),
}

impl Command {
    /// Whether it draws primitives.
    fn is_draw(&self) -> bool {
        matches!(
            self,
            Self::Draw { .. }
                | Self::DrawIndexed { .. }
                | Self::DrawIndirect { .. }
                | Self::DrawIndexedIndirect { .. }
                | Self::DrawMulti { .. }
                | Self::DrawByteCount { .. }
                | Self::DrawMesh { .. }
                | Self::DrawMeshIndirect { .. }
        )
    }
}
