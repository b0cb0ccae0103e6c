//! Draws of cases: state, draws, and render targets.

use ash::vk;

use super::extension_state::ExtensionState;
use crate::harness::Buffer;

/// Width and height of the default target in pixels.
pub const SIZE: u32 = 16;

/// A vertex shader that generates rectangles from push constants.
pub static RECT: &[u8] = shader!("rect.vert");
/// A vertex shader that reads positions from a vertex buffer.
pub static POINTS: &[u8] = shader!("points.vert");
/// A vertex shader that reads positions and colours from a vertex buffer, four floats each.
pub static TRIANGLES: &[u8] = shader!("triangles.vert");
/// A vertex shader like [`TRIANGLES`] that selects viewport and layer by the fourth coordinate.
pub static ROUTED: &[u8] = shader!("route.vert");
/// A vertex shader that reads positions and colours for flat inputs from a vertex buffer.
pub static FLAT: &[u8] = shader!("flat.vert");
/// A vertex shader that writes its 64-bit attributes to a storage buffer.
pub static WIDE_VERTICES: &[u8] = shader!("wide_vertices.vert");
/// A vertex shader that makes a point for each instance, whose colour is an attribute. `extra` is
/// the number of the first instance.
pub static INSTANCES: &[u8] = shader!("instances.vert");
/// A fragment shader that writes its flat colour.
pub const FLAT_COLOR: &[u8] = shader!("flat.frag");
/// A fragment shader that writes its colour.
pub const COLOR: &[u8] = shader!("color.frag");
/// A fragment shader that samples an image.
pub const TEXTURE: &[u8] = shader!("texture.frag");
/// A fragment shader that compares with a depth image.
pub const COMPARE: &[u8] = shader!("compare.frag");

/// State of a pipeline. The default writes colour and nothing else.
#[derive(Clone)]
#[expect(missing_docs, reason = "the fields are Vulkan's state")]
pub struct State {
    pub vertex: &'static [u8],
    pub fragment: &'static [u8],
    pub topology: vk::PrimitiveTopology,
    pub restart: bool,
    pub raster: vk::PipelineRasterizationStateCreateInfo<'static>,
    pub extensions: ExtensionState,
    pub depth_stencil: vk::PipelineDepthStencilStateCreateInfo<'static>,
    pub blend: vk::PipelineColorBlendAttachmentState,
    pub constants: [f32; 4],
    pub logic: Option<vk::LogicOp>,
    pub sample_mask: u32,
    pub alpha_to_coverage: bool,
    /// Enables sample shading.
    pub by_sample: bool,
    pub viewport: vk::Viewport,
    pub scissor: vk::Rect2D,
    /// All dynamic state of Vulkan 1.0 is dynamic: the pipeline has other values, and commands set
    /// these.
    pub dynamic: bool,
    /// The state of `VK_EXT_extended_dynamic_state` and its successor is dynamic.
    pub extended: bool,
    /// The state of `VK_EXT_extended_dynamic_state3` and related extensions is dynamic.
    pub dynamic3: bool,
    /// The pipeline is linked of four libraries.
    pub linked: bool,
    /// Aspects of the attachments that the shader samples.
    pub feedback: vk::ImageAspectFlags,
}

impl Default for State {
    fn default() -> Self {
        let blend = vk::PipelineColorBlendAttachmentState {
            color_write_mask: vk::ColorComponentFlags::RGBA,
            ..Default::default()
        };
        let raster = vk::PipelineRasterizationStateCreateInfo { line_width: 1.0, ..Default::default() };
        let side = SIZE as f32;
        Self {
            vertex: RECT,
            fragment: COLOR,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            raster,
            extensions: ExtensionState::default(),
            depth_stencil: vk::PipelineDepthStencilStateCreateInfo::default(),
            blend,
            constants: [0.0; 4],
            logic: None,
            sample_mask: u32::MAX,
            alpha_to_coverage: false,
            by_sample: false,
            viewport: vk::Viewport { x: 0.0, y: 0.0, width: side, height: side, min_depth: 0.0, max_depth: 1.0 },
            scissor: vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: SIZE, height: SIZE } },
            dynamic: false,
            extended: false,
            dynamic3: false,
            linked: false,
            feedback: vk::ImageAspectFlags::empty(),
        }
    }
}

/// An image that a draw samples.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the fields are those of VkDescriptorImageInfo")]
pub struct SampledImage {
    pub view: vk::ImageView,
    pub sampler: vk::Sampler,
    pub layout: vk::ImageLayout,
}

/// One draw: state, push constants, and vertices.
#[derive(Clone)]
#[expect(missing_docs, reason = "plain description")]
pub struct Draw {
    pub state: State,
    pub rect: [f32; 4],
    pub color: [f32; 4],
    pub depth: f32,
    pub extra: f32,
    /// Value that the shaders of `support::stages` show.
    pub show: f32,
    pub kind: Kind,
    pub image: Option<SampledImage>,
    /// The image's sampler is an immutable one of the set's layout.
    pub fixed_sampler: bool,
    pub query: Option<vk::QueryPool>,
    /// Flags of the query.
    pub control: vk::QueryControlFlags,
    /// A storage buffer at binding 0.
    pub storage: Option<Buffer>,
    /// Offset and size of the indices in their buffer.
    pub index_range: Option<(u64, u64)>,
    /// The first index, and the vertex offset.
    pub first_index: (u32, i32),
    /// The index that restarts primitives, if it is not the greatest.
    pub restart_index: Option<u32>,
    /// A condition of the draw, and of a clear of the lower half to blue behind it.
    pub condition: Option<(Buffer, u64)>,
    /// Transform feedback around the draw.
    pub capture: Option<Capture>,
    /// Commands name parameters, counters and captured vertices by addresses
    /// (`VK_KHR_device_address_commands`).
    pub by_address: bool,
}

/// A range of a buffer that takes captured vertices.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct CaptureRange {
    pub buffer: Buffer,
    pub offset: u64,
    pub size: u64,
}

/// A query of a vertex stream.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct CaptureQuery {
    pub pool: vk::QueryPool,
    pub query: u32,
    pub stream: u32,
}

/// Transform feedback.
#[derive(Clone, Default)]
pub struct Capture {
    /// Buffers from binding 0 on.
    pub buffers: Vec<CaptureRange>,
    /// Positions of the byte counters, by buffer.
    pub counters: Vec<Option<(Buffer, u64)>>,
    /// Resumes at the counters.
    pub resumes: bool,
    /// Queries of vertex streams.
    pub queries: Vec<CaptureQuery>,
    /// Begins and ends only the queries.
    pub only_queries: bool,
}

/// Vertices of a draw.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the variants are Vulkan's commands")]
pub enum Kind {
    Vertices(u32),
    Instances {
        first: u32,
        count: u32,
    },
    InstanceBuffer {
        buffer: Buffer,
        first: u32,
        count: u32,
    },
    VertexBuffer {
        buffer: Buffer,
        count: u32,
    },
    Indexed {
        buffer: Buffer,
        indices: Buffer,
        count: u32,
        kind: vk::IndexType,
    },
    Indirect {
        buffer: Buffer,
        count: u32,
    },
    /// Workgroups along each axis.
    Meshes([u32; 3]),
    /// Draws of workgroups. With `counts`, a buffer limits their number.
    MeshesIndirect {
        buffer: Buffer,
        counts: Option<Buffer>,
        count: u32,
    },
    /// Vertices of a buffer, as many as the captured bytes behind an offset.
    ByteCount {
        buffer: Buffer,
        counter: (Buffer, u64),
        offset: u32,
        stride: u32,
    },
    Counted {
        buffer: Buffer,
        counts: Buffer,
        offset: u64,
        most: u32,
        indices: Option<Buffer>,
    },
    /// First vertices and counts of several draws of `instances` instances, optionally with
    /// indices and a vertex offset.
    Multi {
        draws: &'static [[u32; 2]],
        instances: u32,
        indices: Option<(Buffer, Option<i32>)>,
    },
}

/// A rectangle over the whole target.
pub const FULL: [f32; 4] = [-1.0, -1.0, 1.0, 1.0];

impl Draw {
    /// Returns a draw of a rectangle in clip coordinates.
    pub fn rect(state: State, rect: [f32; 4], color: [f32; 4]) -> Self {
        Self {
            state,
            rect,
            color,
            depth: 0.5,
            extra: 1.0,
            show: -1.0,
            kind: Kind::Vertices(6),
            image: None,
            fixed_sampler: false,
            query: None,
            control: vk::QueryControlFlags::PRECISE,
            storage: None,
            index_range: None,
            first_index: (0, 0),
            restart_index: None,
            condition: None,
            capture: None,
            by_address: false,
        }
    }

    /// Returns the draw at another depth.
    pub fn at(self, depth: f32) -> Self {
        Self { depth, ..self }
    }
}

/// Attachments of a render pass.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct Target {
    pub size: [u32; 2],
    pub format: vk::Format,
    pub samples: vk::SampleCountFlags,
    pub depth: vk::Format,
    pub clear: [f32; 4],
    pub clear_depth: vk::ClearDepthStencilValue,
    /// The subpass dithers colours.
    pub dithers: bool,
    /// Offset, and distance of rows, of a colour image that is stored in rows, in bytes.
    pub rows: Option<[u64; 2]>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            size: [SIZE; 2],
            format: vk::Format::R8G8B8A8_UNORM,
            samples: vk::SampleCountFlags::TYPE_1,
            depth: vk::Format::UNDEFINED,
            clear: [0.0; 4],
            clear_depth: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 },
            dithers: false,
            rows: None,
        }
    }
}

/// Draws of one render pass. The first pass clears its attachments, later ones load them.
#[derive(Clone, Copy, Default)]
pub struct Part<'a> {
    /// The draws of the pass.
    pub draws: &'a [Draw],
    /// Depth of a clear by a transfer command before the pass.
    pub clear: Option<f32>,
    /// A buffer with depths to copy to the depth image before the pass.
    pub depths: Option<vk::Buffer>,
    /// A copy before the pass, from a buffer to an image in the general layout.
    pub copy: Option<(vk::Buffer, vk::Image, vk::BufferImageCopy)>,
}

/// Returns the bytes of a vertex, and its attributes.
pub fn vertices(state: &State) -> (u32, Vec<vk::VertexInputAttributeDescription>) {
    let attribute =
        |location, format, offset| vk::VertexInputAttributeDescription { location, binding: 0, format, offset };
    if let Some(layout) = state.extensions.layout {
        let [position, color] = [layout.position, layout.color];
        return (layout.stride, vec![attribute(0, position.0, position.1), attribute(1, color.0, color.1)]);
    }
    let (two, four) = (vk::Format::R32G32_SFLOAT, vk::Format::R32G32B32A32_SFLOAT);
    match state.vertex {
        vertex if std::ptr::eq(vertex, POINTS) => (8, vec![attribute(0, two, 0)]),
        vertex if std::ptr::eq(vertex, INSTANCES) => (16, vec![attribute(0, four, 0)]),
        vertex if [TRIANGLES, ROUTED, FLAT].iter().any(|own| std::ptr::eq(vertex, *own)) => {
            (32, vec![attribute(0, four, 0), attribute(1, four, 16)])
        }
        vertex if std::ptr::eq(vertex, WIDE_VERTICES) => {
            let attributes = vec![
                attribute(0, vk::Format::R64G64B64A64_SFLOAT, 8),
                attribute(2, vk::Format::R32_SFLOAT, 88),
                attribute(3, vk::Format::R64G64B64_SINT, 48),
                attribute(5, vk::Format::R64G64_UINT, 72),
                attribute(6, vk::Format::R64_SFLOAT, 40),
            ];
            (96, attributes)
        }
        _ => (0, Vec::new()),
    }
}
