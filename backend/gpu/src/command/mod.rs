//! The command stream: typed, owned commands, and the command processor that executes them.
//!
//! Commands own every object that they refer to (by `Arc`). A list can therefore be submitted
//! again, by several queues, or be executed from other lists. Source: Vulkan specification,
//! "Command Buffers".

mod context;
mod depth;
mod dispatch;
mod draw;
mod dynamic;
mod event;
mod execute;
mod feedback;
mod implicit;
mod indirect;
mod name;
mod pass;
mod pending;
mod pixel_state;
mod processor;
mod query;
mod residency;
mod sets;
mod state;
mod tile_pass;
mod time;
mod transfers;
mod viewports;

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::bindings::DescriptorName;
use vitric_exec::runtime::SetLayout;
use vitric_memory::{Buffer, BufferRange, Hint, Surface, SurfaceView};

use crate::pipeline::CompiledPipeline;
use crate::raster::{RateState, SampleLocations};
use crate::state::{ClearValue, ComputePipeline, DepthBias, LineStipple, PassDesc, SetBlend, SetState, VertexInput};
use crate::transfer::{IndirectRegions, ResolveModes};

pub use event::Event;
pub use execute::LossReport;
pub use processor::MAX_NESTED;
pub use query::{QueryKind, QueryPool, QueryResult};
pub use sets::MAX_SETS;

/// A recorded sequence of commands.
#[derive(Debug, Default)]
pub struct CommandList {
    /// The commands in the order in which they were recorded.
    pub commands: Vec<Command>,
    /// The concatenated inline data of the commands.
    pub bytes: Vec<u8>,
    /// True if the commands are of a protected command buffer.
    pub is_protected: bool,
}

impl CommandList {
    /// Removes all commands and inline data, and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.commands.clear();
        self.bytes.clear();
    }
}

/// Inline data of a command: a range of bytes in [`CommandList::bytes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InlineData {
    /// Offset of the first byte.
    pub start: usize,
    /// Number of bytes.
    pub count: u32,
}

impl InlineData {
    /// Returns this range of `bytes`, which are the bytes of the list; empty if the range is out
    /// of bounds.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..).and_then(|bytes| bytes.get(..self.count as usize)).unwrap_or_default()
    }
}

/// A clear of an attachment inside a pass.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentClear {
    /// Aspects to clear.
    pub aspects: vk::ImageAspectFlags,
    /// Index of the colour attachment, if the aspect is colour.
    pub color: u32,
    /// The value.
    pub value: ClearValue,
}

/// A clear of attachments inside a pass, in several rectangles.
#[derive(Debug)]
pub struct AttachmentsClear {
    /// Clears of attachments.
    pub attachments: SmallVec<[AttachmentClear; 1]>,
    /// Rectangles and layers to clear.
    pub rects: SmallVec<[vk::ClearRect; 1]>,
}

// Command buffers are long, so a command must fit in one cache line.
const _: () = assert!(size_of::<Command>() <= 64);

/// The start of a render pass instance.
#[derive(Debug)]
pub struct PassBegin {
    /// Description of the pass.
    pub pass: Arc<PassDesc>,
    /// One view per attachment.
    pub views: Vec<Arc<SurfaceView>>,
    /// Pixels that loads, clears, stores and resolves apply to.
    pub area: vk::Rect2D,
    /// Number of layers rendered to.
    pub layers: u32,
    /// Width and height of the framebuffer, over which a density map is stretched.
    pub extent: [u32; 2],
    /// One clear value per attachment. Trailing attachments without a clear may be omitted.
    pub clears: Vec<ClearValue>,
}

/// One draw of a `vkCmdDrawMulti*` command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MultiDraw {
    /// First vertex or first index.
    pub first: u32,
    /// Number of vertices or indices.
    pub count: u32,
    /// Value added to each index.
    pub offset: i32,
}

/// A buffer and the offset in it at which a byte count of transform feedback is stored, if any.
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
    /// Binding of descriptor sets: the set named `sets[i]` becomes set `first + i`. A name without
    /// an object unbinds the slot. `dynamic_offsets` are in the order of sets, bindings and array
    /// elements.
    BindDescriptorSets {
        point: vk::PipelineBindPoint,
        first: u32,
        sets: SmallVec<[u64; 2]>,
        dynamic_offsets: SmallVec<[u32; 4]>,
    },
    /// Writes of descriptors of a set without an object, each with its index in the set. Other
    /// descriptors of the set are unchanged.
    PushDescriptors {
        point: vk::PipelineBindPoint,
        set: u32,
        layout: Arc<SetLayout>,
        writes: Vec<(u32, DescriptorName)>,
    },
    /// Binding of vertex buffers. Bindings without a buffer read zeros.
    BindVertexBuffers {
        first: u32,
        buffers: SmallVec<[Option<BufferRange>; 2]>,
    },
    /// Binding of the index buffer. Without a buffer, all indices are 0.
    BindIndexBuffer {
        range: Option<BufferRange>,
        index_type: vk::IndexType,
    },
    /// Primitive restart index, until the next index buffer is bound.
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
    /// Blend state of the colour attachments from `first` on.
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
        /// Number of draws; the maximum if a buffer holds the number.
        count: u32,
        /// Buffer and offset of the number of draws.
        counted: Option<(Arc<Buffer>, u64)>,
        stride: u32,
        /// True if the draws are indexed.
        indexed: bool,
    },
    DrawMulti {
        draws: Box<[MultiDraw]>,
        /// True if the draws are indexed.
        indexed: bool,
        instances: u32,
        first_instance: u32,
    },
    /// Draw of the vertices that transform feedback has written between `counter_offset` and the
    /// byte count stored in the counter buffer.
    DrawByteCount {
        instances: u32,
        first_instance: u32,
        counter: Arc<Buffer>,
        counter_buffer_offset: u64,
        counter_offset: u32,
        stride: u32,
    },
    /// Launch of workgroups of the task program, or of the mesh program if there is no task
    /// program.
    DrawMesh {
        groups: [u32; 3],
    },
    DrawMeshIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
        /// Number of draws; the maximum if a buffer holds the number.
        count: u32,
        /// Buffer and offset of the number of draws.
        counted: Option<(Arc<Buffer>, u64)>,
        stride: u32,
    },
    /// Dispatch of workgroups, numbered from `base` on.
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
    /// Copies between device addresses, with regions that are read from memory.
    CopyMemoryIndirect(IndirectRegions),
    /// Copies from device addresses to an image, with regions that are read from memory.
    CopyMemoryToImageIndirect {
        regions: IndirectRegions,
        target: Arc<Surface>,
        /// Layers of each region.
        layers: Box<[vk::ImageSubresourceLayers]>,
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
    /// Clear of attachments inside a pass.
    ClearAttachments(Box<AttachmentsClear>),
    ResolveImage {
        source: Arc<Surface>,
        target: Arc<Surface>,
        regions: Vec<vk::ImageResolve>,
        modes: ResolveModes,
    },

    // Synchronisation.
    PipelineBarrier,
    /// Hint for near memory, from a layout transition of a whole image.
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
        /// The vertex stream that is counted.
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

    /// Begin of conditional rendering, up to the matching end. Draws, dispatches and clears of
    /// attachments are executed if the 32-bit word is not 0. With `inverted`, they are executed if
    /// it is 0.
    BeginConditional {
        buffer: Arc<Buffer>,
        offset: u64,
        inverted: bool,
    },
    EndConditional,

    /// Executes secondary lists, inside or outside a pass. State does not carry over in either
    /// direction; the pass does.
    Execute(SmallVec<[Arc<CommandList>; 2]>),
}

impl Command {
    /// Returns true if the command draws primitives.
    fn is_draw(&self) -> bool {
        matches!(
            self,
            Self::Draw { .. }
                | Self::DrawIndexed { .. }
                | Self::DrawIndirect { .. }
                | Self::DrawMulti { .. }
                | Self::DrawByteCount { .. }
                | Self::DrawMesh { .. }
                | Self::DrawMeshIndirect { .. }
        )
    }
}

#[cfg(test)]
mod tests;
