//! Typed pipeline and pass state: everything a pipeline or render pass fixes, as plain owned data.
//!
//! `ash::vk` enums and flags are the vocabulary. State that a pipeline declares dynamic is taken
//! from the command stream instead of the value here. Source: Vulkan specification, "Pipelines",
//! "Render Pass".

mod depth_limits;
mod dynamic_state3;
mod extended;
mod patches;
mod set;
mod topology;

use std::sync::Arc;

use ash::vk;

pub use depth_limits::{DepthClampRange, DepthLimits};
pub use dynamic_state3::{BlendEquation, SetBlend, VertexInput};
pub use extended::{ExtendedState, MAX_BINDINGS};
pub use patches::{PatchPrograms, PatchState, Subdivision};
pub use set::{SetState, StencilOps};
pub use topology::{corners, is_list, vertices};

use vitric_exec::Program;
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_ir::interface::{Builtin, MeshFacts, Slot};

pub use crate::raster::MultisampleState;
use crate::raster::{Criterion, RateState, SampleLocations};

/// Maximum number of viewports of a draw: `maxViewports`.
pub const MAX_VIEWPORTS: usize = 16;

/// A viewport. Two viewports are equal if all their numbers are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viewport(pub vk::Viewport);

impl PartialEq for Viewport {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |of: &vk::Viewport| [of.x, of.y, of.width, of.height, of.min_depth, of.max_depth];
        numbers(&self.0) == numbers(&other.0)
    }
}

/// Clear value: four 32-bit words, read as the format's class says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClearValue(pub [u32; 4]);

impl ClearValue {
    /// Returns the depth, if the cleared aspect is depth.
    pub fn depth(self) -> f32 {
        f32::from_bits(self.0[0])
    }

    /// Returns the stencil value, if the cleared aspect is stencil.
    pub fn stencil(self) -> u32 {
        self.0[1]
    }
}

/// One attachment of a render pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentDesc {
    /// Format.
    pub format: vk::Format,
    /// Number of samples of a pixel.
    pub samples: u32,
    /// Load operation of colour or depth, at the first use in the pass.
    pub load: vk::AttachmentLoadOp,
    /// Store operation of colour or depth, after the last use in the pass.
    pub store: vk::AttachmentStoreOp,
    /// Load operation of stencil.
    pub stencil_load: vk::AttachmentLoadOp,
    /// Store operation of stencil.
    pub stencil_store: vk::AttachmentStoreOp,
    /// Layout after the pass; undefined if the pass does not name one.
    pub final_layout: vk::ImageLayout,
    /// True if resolves to the attachment average sRGB samples as they are encoded.
    pub skips_transfer: bool,
}

/// One subpass: indices into the pass's attachments, `None` where unused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubpassDesc {
    /// Input attachments by input attachment index.
    pub inputs: Vec<Option<u32>>,
    /// Colour attachments by location.
    pub colors: Vec<Option<u32>>,
    /// Resolve targets, as many as `colors` or none at all.
    pub resolves: Vec<Option<u32>>,
    /// Depth/stencil attachment.
    pub depth_stencil: Option<u32>,
    /// Attachment to which depth and stencil are resolved.
    pub depth_resolve: Option<DepthResolve>,
    /// Aspects that the depth/stencil attachment has, but the subpass does not use.
    pub unused_aspects: vk::ImageAspectFlags,
    /// Mask of the views that are rendered; 0 without multiview.
    pub view_mask: u32,
    /// Attachment that sets fragment sizes.
    pub rate: Option<RateAttachment>,
    /// Samples with which attachments of one sample are rendered to.
    pub implicit: Option<ImplicitSamples>,
    /// True if colours are dithered.
    pub dithers: bool,
}

/// Samples of single-sampled attachments during a pass. At its end a colour is the average of its
/// samples, or sample 0 of integers. Source: `VK_EXT_multisampled_render_to_single_sampled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImplicitSamples {
    /// Number of samples.
    pub samples: u32,
    /// Resolve mode of depth; none leaves depth as it was.
    pub depth: vk::ResolveModeFlags,
    /// Resolve mode of stencil, never an average.
    pub stencil: vk::ResolveModeFlags,
}

/// Attachment whose texels set fragment sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateAttachment {
    /// The attachment, which is only read.
    pub attachment: u32,
    /// Meaning of its texels.
    pub texels: RateTexels,
}

/// Meaning of the texels of a rate attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateTexels {
    /// Sizes, which are combined with those of draws and primitives. Source:
    /// `VK_KHR_fragment_shading_rate`.
    Sizes {
        /// Width and height in pixels of the area of a texel, powers of two.
        area: [u32; 2],
    },
    /// Densities, which alone set the sizes. The attachment is stretched over the framebuffer.
    /// Source: `VK_EXT_fragment_density_map`.
    Densities,
}

/// Resolve of depth and stencil. Source: `VK_KHR_depth_stencil_resolve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthResolve {
    /// The attachment that is written.
    pub attachment: u32,
    /// Resolve mode of depth; none leaves depth as it is.
    pub depth: vk::ResolveModeFlags,
    /// Resolve mode of stencil, never an average.
    pub stencil: vk::ResolveModeFlags,
}

impl SubpassDesc {
    /// Returns the attachments that the subpass uses, in the order in which they are loaded.
    pub fn attachments(&self) -> impl Iterator<Item = u32> {
        let all = self.inputs.iter().chain(&self.colors).chain(&self.resolves).chain([&self.depth_stencil]);
        let others = [self.depth_resolve.map(|resolve| resolve.attachment), self.rate.map(|rate| rate.attachment)];
        all.copied().flatten().chain(others.into_iter().flatten())
    }
}

/// A render pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassDesc {
    /// Attachments.
    pub attachments: Vec<AttachmentDesc>,
    /// Subpasses, at least one.
    pub subpasses: Vec<SubpassDesc>,
}

impl PassDesc {
    /// Returns a render pass. Returns `None` if there is no subpass, if a subpass names an
    /// attachment that does not exist, or if only some subpasses have views.
    pub fn new(attachments: Vec<AttachmentDesc>, subpasses: Vec<SubpassDesc>) -> Option<Self> {
        let exists = |attachment: u32| (attachment as usize) < attachments.len();
        let has_views = |subpass: &SubpassDesc| subpass.view_mask != 0;
        let all_have = subpasses.first().is_some_and(has_views);
        let good = |subpass: &SubpassDesc| subpass.attachments().all(exists) && has_views(subpass) == all_have;
        (!subpasses.is_empty() && subpasses.iter().all(good)).then_some(Self { attachments, subpasses })
    }

    /// Returns the formats of a subpass's colour attachments by location, `None` for unused ones.
    pub fn color_formats(&self, subpass: u32) -> Vec<Option<&'static FormatInfo>> {
        let format = |attachment: &Option<u32>| format::info(self.attachments.get((*attachment)? as usize)?.format);
        let subpass = self.subpasses.get(subpass as usize);
        subpass.map_or_else(Vec::new, |subpass| subpass.colors.iter().map(format).collect())
    }

    /// Returns true if a subpass dithers colours.
    pub fn dithers(&self, subpass: u32) -> bool {
        self.subpasses.get(subpass as usize).is_some_and(|subpass| subpass.dithers)
    }

    /// Returns true if a subpass reads its own depth/stencil attachment as an input attachment.
    pub fn reads_depths(&self, subpass: u32) -> bool {
        let subpass = self.subpasses.get(subpass as usize);
        subpass
            .is_some_and(|subpass| subpass.depth_stencil.is_some() && subpass.inputs.contains(&subpass.depth_stencil))
    }
}

/// A vertex buffer binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VertexBinding {
    /// Binding number.
    pub binding: u32,
    /// Stride in bytes.
    pub stride: u32,
    /// Rate at which elements advance: by vertex or by instance.
    pub rate: vk::VertexInputRate,
    /// Number of instances that share an element; 0 for all instances.
    pub divisor: u32,
}

/// A vertex attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// Shader location.
    pub location: u32,
    /// Number of the binding from which it is fetched.
    pub binding: u32,
    /// Format in memory.
    pub format: vk::Format,
    /// Offset in the element, in bytes.
    pub offset: u32,
}

/// Rasterization state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RasterState {
    /// True if primitives are clipped to the near and far planes.
    pub depth_clip: bool,
    /// Range to which depths of fragments are clamped.
    pub depth_limits: DepthLimits,
    /// True if depth goes from -w to w in clip space, rather than from 0.
    pub negative_one_to_one: bool,
    /// True if the provoking vertex of a primitive is the last one, rather than the first.
    pub provoking_last: bool,
    /// True if every primitive is discarded before rasterization.
    pub discard: bool,
    /// Polygon mode: fill, line or point.
    pub polygon_mode: vk::PolygonMode,
    /// Facing that is culled.
    pub cull_mode: vk::CullModeFlags,
    /// Winding of front faces.
    pub front_face: vk::FrontFace,
    /// True if depth bias is enabled.
    pub depth_bias_enable: bool,
    /// Depth bias, unless dynamic.
    pub depth_bias: DepthBias,
    /// Line width in pixels, unless dynamic.
    pub line_width: f32,
    /// Line rasterization mode.
    pub line_mode: LineMode,
    /// Line stipple, if enabled. Its values are not used if dynamic.
    pub line_stipple: Option<LineStipple>,
    /// Conservative criterion of filled polygons, if enabled.
    pub conservative: Option<Criterion>,
    /// Number of the vertex stream that is rasterized.
    pub stream: u32,
}

/// Line rasterization mode. Source: Vulkan specification, "Line Segments".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LineMode {
    /// A rectangle around the line covers samples.
    #[default]
    Rectangular,
    /// Pixels whose diamond the line leaves are covered.
    Bresenham,
    /// Pixels are covered in part by the rectangle, and alpha is multiplied by that part.
    Smooth,
}

/// Line stipple: the parts of lines that are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineStipple {
    /// Number of times that each bit is used, 1 to 256.
    pub factor: u32,
    /// Pattern, used from the least significant bit on.
    pub pattern: u16,
}

/// Depth bias factors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DepthBias {
    /// Constant factor, in multiples of [`Self::unit`].
    pub constant: f32,
    /// Largest bias, or smallest if negative; 0 for none.
    pub clamp: f32,
    /// Factor of the primitive's largest depth slope.
    pub slope: f32,
    /// Unit of the constant factor.
    pub unit: DepthBiasUnit,
}

/// Unit of depth bias. Source: Vulkan specification, "Depth Bias Computation".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DepthBiasUnit {
    /// The smallest resolvable difference of the format, for floats near the primitive's depths.
    #[default]
    Resolvable,
    /// The smallest resolvable difference of a fixed-point format, also for floats.
    Constant,
    /// One.
    One,
}

/// Stencil test of one facing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StencilState {
    /// Operation if the stencil test fails.
    pub fail: vk::StencilOp,
    /// Operation if both tests pass.
    pub pass: vk::StencilOp,
    /// Operation if only the depth test fails.
    pub depth_fail: vk::StencilOp,
    /// Comparison.
    pub compare: vk::CompareOp,
    /// Compare mask, unless dynamic.
    pub compare_mask: u32,
    /// Write mask, unless dynamic.
    pub write_mask: u32,
    /// Reference, unless dynamic.
    pub reference: u32,
}

/// Depth and stencil state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthStencilState {
    /// True if depth is tested.
    pub depth_test: bool,
    /// True if depth is written where the test passes.
    pub depth_write: bool,
    /// Comparison.
    pub depth_compare: vk::CompareOp,
    /// True if depth is tested against bounds.
    pub depth_bounds_test: bool,
    /// Bounds, unless dynamic.
    pub depth_bounds: [f32; 2],
    /// True if stencil is tested.
    pub stencil_test: bool,
    /// Stencil test of front faces.
    pub front: StencilState,
    /// Stencil test of back faces.
    pub back: StencilState,
}

impl DepthStencilState {
    /// Returns true if tests may write depth or stencil, with this state or with state that
    /// commands may set.
    pub fn may_write(&self, dynamic: DynamicState) -> bool {
        use DynamicState as D;
        let writes = |face: &StencilState| {
            let keeps = [face.fail, face.pass, face.depth_fail].iter().all(|op| *op == vk::StencilOp::KEEP);
            face.write_mask != 0 && !keeps
        };
        let stencil = self.stencil_test && (writes(&self.front) || writes(&self.back));
        let of_stencil = D::STENCIL_TEST | D::STENCIL_OP | D::STENCIL_WRITE_MASK;
        let depth = self.depth_test && self.depth_write;
        depth || stencil || dynamic.intersects(of_stencil | D::DEPTH_TEST | D::DEPTH_WRITE)
    }
}

/// Blending of one colour attachment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlendState {
    /// True if blending is enabled.
    pub enable: bool,
    /// Source factor of colour.
    pub src_color: vk::BlendFactor,
    /// Destination factor of colour.
    pub dst_color: vk::BlendFactor,
    /// Operation of colour.
    pub color_op: vk::BlendOp,
    /// Source factor of alpha.
    pub src_alpha: vk::BlendFactor,
    /// Destination factor of alpha.
    pub dst_alpha: vk::BlendFactor,
    /// Operation of alpha.
    pub alpha_op: vk::BlendOp,
    /// Parameters of advanced operations.
    pub advanced: AdvancedBlend,
    /// Components that are written.
    pub write_mask: vk::ColorComponentFlags,
}

/// Parameters of advanced blend operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AdvancedBlend {
    /// True if source colours are premultiplied by alpha.
    pub src_premultiplied: bool,
    /// True if destination colours are premultiplied by alpha.
    pub dst_premultiplied: bool,
    /// Correlation of the parts of a pixel that source and destination cover.
    pub overlap: vk::BlendOverlapEXT,
    /// True if results are clamped to the range from 0 to 1.
    pub clamps: bool,
}

impl Default for AdvancedBlend {
    fn default() -> Self {
        let overlap = vk::BlendOverlapEXT::UNCORRELATED;
        Self { src_premultiplied: true, dst_premultiplied: true, overlap, clamps: false }
    }
}

/// Values of a pipeline that take effect only if commands enable the state they belong to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DynamicDefaults {
    /// Depth clipping, if the pipeline sets it. Otherwise depth is clipped where it is not
    /// clamped.
    pub depth_clip: Option<bool>,
    /// True if depth is clamped.
    pub depth_clamp: bool,
    /// Range to which depths are clamped where clamping is not enabled.
    pub depth_limits: DepthLimits,
    /// Range to which depths are clamped where clamping is enabled, instead of the viewport's.
    pub clamp_range: Option<DepthClampRange>,
    /// Line stipple, also where it is not enabled.
    pub stipple: LineStipple,
    /// Logic operation, also where it is not enabled.
    pub logic_op: vk::LogicOp,
    /// Color write enables; attachments beyond the end are written.
    pub writes: Vec<bool>,
    /// True if custom sample locations are enabled.
    pub custom_locations: bool,
    /// Custom sample locations, also where they are not enabled.
    pub locations: Option<SampleLocations>,
}

/// State of a graphics pipeline: its programs and everything that is fixed at its creation.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineState {
    /// Vertex program, or mesh program.
    pub vertex: Arc<Program>,
    /// Task program, before a mesh program.
    pub task: Option<Arc<Program>>,
    /// Tessellation programs.
    pub patches: Option<PatchPrograms>,
    /// State of patches, unused without tessellation programs.
    pub patch_state: PatchState,
    /// Geometry program.
    pub geometry: Option<Arc<Program>>,
    /// Fragment program; without one only depth and stencil are written.
    pub fragment: Option<Arc<Program>>,
    /// Vertex buffer bindings.
    pub bindings: Vec<VertexBinding>,
    /// Vertex attributes.
    pub attributes: Vec<VertexAttribute>,
    /// Topology.
    pub topology: vk::PrimitiveTopology,
    /// True if the largest index restarts primitives.
    pub primitive_restart: bool,
    /// Viewports, whose number counts even if their values are dynamic.
    pub viewports: Vec<Viewport>,
    /// Scissors, as many as viewports.
    pub scissors: Vec<vk::Rect2D>,
    /// Rasterization state.
    pub raster: RasterState,
    /// Multisample state.
    pub multisample: MultisampleState,
    /// True if colours are dithered, see `VK_EXT_legacy_dithering`.
    pub dithers: bool,
    /// Sizes of fragments, unless dynamic.
    pub rate: RateState,
    /// Depth and stencil; `None` when the subpass has no such attachment.
    pub depth_stencil: Option<DepthStencilState>,
    /// Logic operation of all colour attachments, if enabled.
    pub logic_op: Option<vk::LogicOp>,
    /// Blending by colour attachment.
    pub blend: Vec<BlendState>,
    /// Formats of the colour attachments by location; `None` where there is none.
    pub color_formats: Vec<Option<&'static FormatInfo>>,
    /// Blend constants, unless dynamic.
    pub blend_constants: [f32; 4],
    /// State that is taken from the command stream.
    pub dynamic: DynamicState,
    /// Values that matter only with dynamic state.
    pub dynamic_defaults: DynamicDefaults,
    /// True if programs may read their attachments.
    pub reads_attachments: bool,
    /// True if attributes and indices that are not wholly inside of their buffers read as zeros:
    /// `robustBufferAccess2`.
    pub exact_vertices: bool,
}

impl PipelineState {
    /// Returns the state of a pipeline of triangles with a vertex program only.
    #[cfg(test)]
    pub(crate) fn of_vertex(vertex: Arc<Program>) -> Self {
        Self {
            vertex,
            task: None,
            patches: None,
            patch_state: PatchState::default(),
            geometry: None,
            fragment: None,
            bindings: Vec::new(),
            attributes: Vec::new(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            primitive_restart: false,
            viewports: Vec::new(),
            scissors: Vec::new(),
            raster: RasterState {
                depth_clip: true,
                depth_limits: DepthLimits::Viewport,
                negative_one_to_one: false,
                provoking_last: false,
                discard: false,
                polygon_mode: vk::PolygonMode::FILL,
                cull_mode: vk::CullModeFlags::NONE,
                front_face: vk::FrontFace::CLOCKWISE,
                depth_bias_enable: false,
                depth_bias: DepthBias::default(),
                line_width: 1.0,
                line_mode: LineMode::Rectangular,
                line_stipple: None,
                conservative: None,
                stream: 0,
            },
            multisample: MultisampleState {
                samples: 1,
                min_sample_shading: None,
                sample_mask: u32::MAX,
                alpha_to_coverage: false,
                alpha_to_one: false,
                custom: None,
            },
            dithers: false,
            rate: RateState::default(),
            depth_stencil: None,
            logic_op: None,
            blend: Vec::new(),
            color_formats: Vec::new(),
            blend_constants: [0.0; 4],
            dynamic: DynamicState::empty(),
            dynamic_defaults: DynamicDefaults::default(),
            reads_attachments: false,
            exact_vertices: false,
        }
    }

    /// Returns the last program before rasterization, whose outputs go to set-up and to fragments.
    pub fn last(&self) -> &Program {
        let evaluation = self.patches.as_ref().map(|programs| &*programs.evaluation);
        self.geometry.as_deref().or(evaluation).unwrap_or(&self.vertex)
    }

    /// Returns true if programs before rasterization store to memory.
    pub fn has_side_effects(&self) -> bool {
        self.before_rasterization().any(|program| program.fragment.side_effects)
    }

    /// Returns the programs before rasterization.
    pub fn before_rasterization(&self) -> impl Iterator<Item = &Program> + Clone {
        let patches = self.patches.iter().flat_map(|programs| [&programs.control, &programs.evaluation]);
        patches.chain(&self.geometry).chain(&self.task).chain([&self.vertex]).map(|program| &**program)
    }

    /// Returns the facts of the mesh program, if there is one instead of a vertex program.
    pub fn mesh(&self) -> Option<&MeshFacts> {
        self.vertex.mesh.as_deref()
    }

    /// Returns the vertices of a primitive that is rasterized: 1 for points, 2 for lines, 3 for
    /// polygons.
    pub fn corners(&self) -> usize {
        let facts = self.geometry.as_ref().and_then(|program| program.geometry.as_deref());
        match (facts, self.subdivision()) {
            (Some(facts), _) => corners(facts.output),
            (None, Some(subdivision)) => subdivision.corners(),
            (None, None) => corners(self.topology),
        }
    }

    /// Returns true if primitives are filled polygons.
    pub fn fills_polygons(&self) -> bool {
        self.corners() == 3 && self.raster.polygon_mode == vk::PolygonMode::FILL
    }

    /// Returns true if primitives are lines, or polygons that are drawn as lines.
    pub fn draws_lines(&self) -> bool {
        match self.corners() {
            2 => true,
            3 => self.raster.polygon_mode == vk::PolygonMode::LINE,
            _ => false,
        }
    }

    /// Returns true if alpha is multiplied by the part of a pixel that a line covers.
    pub fn smooths_lines(&self) -> bool {
        self.draws_lines() && self.raster.line_mode == LineMode::Smooth
    }

    /// Returns true if primitives are lines with a stipple.
    pub fn stipples_lines(&self) -> bool {
        self.draws_lines() && self.raster.line_stipple.is_some()
    }

    /// Returns the criterion by which primitives cover pixels, or `None` if samples decide.
    pub fn criterion(&self) -> Option<Criterion> {
        match self.raster.line_mode {
            LineMode::Bresenham | LineMode::Smooth if self.draws_lines() => Some(Criterion::Centre),
            _ => self.raster.conservative.filter(|_| self.fills_polygons()),
        }
    }

    /// Returns true if primitives set the size of their fragments, a word beside the inputs of the
    /// fragment program.
    pub fn gives_rate(&self) -> bool {
        self.fragment.is_some() && self.last().output_builtin(Builtin::PrimitiveShadingRateKhr, 0).is_some()
    }

    /// Returns the slots that vertices pass to fragments: the inputs of the fragment program, then
    /// the size of fragments.
    pub fn varyings(&self) -> impl Iterator<Item = Slot> {
        let rate = self.gives_rate().then_some(Slot::Builtin(Builtin::PrimitiveShadingRateKhr, 0));
        self.fragment.iter().flat_map(|program| &program.inputs).map(|input| input.slot).chain(rate)
    }

    /// Returns true if samples are shaded separately, or would be if there were several. Fragments
    /// are single pixels then.
    pub fn has_sample_shading(&self) -> bool {
        let of_program = self.fragment.as_ref().is_some_and(|program| program.fragment.per_sample);
        self.multisample.min_sample_shading.is_some() || of_program
    }
}

bitflags::bitflags! {
    /// State that a pipeline takes from the command stream.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct DynamicState: u64 {
        /// Viewports.
        const VIEWPORT = 1 << 0;
        /// Scissors.
        const SCISSOR = 1 << 1;
        /// Line width.
        const LINE_WIDTH = 1 << 2;
        /// Depth bias.
        const DEPTH_BIAS = 1 << 3;
        /// Blend constants.
        const BLEND_CONSTANTS = 1 << 4;
        /// Depth bounds.
        const DEPTH_BOUNDS = 1 << 5;
        /// Stencil compare mask.
        const STENCIL_COMPARE_MASK = 1 << 6;
        /// Stencil write mask.
        const STENCIL_WRITE_MASK = 1 << 7;
        /// Stencil reference.
        const STENCIL_REFERENCE = 1 << 8;
        /// Line stipple.
        const LINE_STIPPLE = 1 << 9;
        /// Culled facing.
        const CULL_MODE = 1 << 10;
        /// Winding of front faces.
        const FRONT_FACE = 1 << 11;
        /// Topology of any class.
        const TOPOLOGY = 1 << 12;
        /// Enable of the depth test.
        const DEPTH_TEST = 1 << 13;
        /// Enable of depth writes.
        const DEPTH_WRITE = 1 << 14;
        /// Comparison of depths.
        const DEPTH_COMPARE = 1 << 15;
        /// Enable of the depth bounds test.
        const DEPTH_BOUNDS_TEST = 1 << 16;
        /// Enable of the stencil test.
        const STENCIL_TEST = 1 << 17;
        /// Operations of the stencil test.
        const STENCIL_OP = 1 << 18;
        /// Strides of vertex buffers.
        const STRIDES = 1 << 19;
        /// Enable of rasterizer discard.
        const DISCARD = 1 << 20;
        /// Enable of depth bias.
        const DEPTH_BIAS_ENABLE = 1 << 21;
        /// Enable of primitive restart.
        const RESTART = 1 << 22;
        /// Logic operation.
        const LOGIC_OP = 1 << 23;
        /// Number of viewports and scissors.
        const VIEWPORT_COUNT = 1 << 24;
        /// Bindings and attributes of vertices.
        const VERTEX_INPUT = 1 << 25;
        /// Polygon mode.
        const POLYGON_MODE = 1 << 26;
        /// Number of samples of a pixel.
        const SAMPLES = 1 << 27;
        /// Sample mask.
        const SAMPLE_MASK = 1 << 28;
        /// Enable of coverage from alpha.
        const ALPHA_TO_COVERAGE = 1 << 29;
        /// Enable of alpha to one.
        const ALPHA_TO_ONE = 1 << 30;
        /// Enable of the logic operation.
        const LOGIC_OP_ENABLE = 1 << 31;
        /// Enable of depth clamping.
        const DEPTH_CLAMP = 1 << 32;
        /// Enable of depth clipping.
        const DEPTH_CLIP = 1 << 33;
        /// Range of depth in clip space: from -w or from 0.
        const NEGATIVE_ONE_TO_ONE = 1 << 34;
        /// Provoking vertex mode.
        const PROVOKING = 1 << 35;
        /// Line rasterization mode.
        const LINE_MODE = 1 << 36;
        /// Enable of line stipple.
        const LINE_STIPPLE_ENABLE = 1 << 37;
        /// Conservative rasterization mode.
        const CONSERVATIVE = 1 << 38;
        /// Enables of blending.
        const BLEND_ENABLE = 1 << 39;
        /// Blend equations.
        const BLEND_EQUATION = 1 << 40;
        /// Color write masks.
        const WRITE_MASK = 1 << 41;
        /// Color write enables.
        const COLOR_WRITE = 1 << 42;
        /// Custom sample locations.
        const SAMPLE_LOCATIONS = 1 << 43;
        /// Enable of custom sample locations.
        const SAMPLE_LOCATIONS_ENABLE = 1 << 44;
        /// Attachment feedback loops.
        const FEEDBACK_LOOP = 1 << 45;
        /// Number of vertices of a patch.
        const PATCH_VERTICES = 1 << 46;
        /// Origin of the domain of patches.
        const DOMAIN_ORIGIN = 1 << 47;
        /// Number of the vertex stream that is rasterized.
        const STREAM = 1 << 48;
        /// Advanced blend operations with their parameters.
        const BLEND_ADVANCED = 1 << 49;
        /// Range to which depths are clamped.
        const CLAMP_RANGE = 1 << 50;
        /// All state that became dynamic after Vulkan 1.0.
        const EXTENDED = ((1 << 51) - 1) & !((1 << 10) - 1);
        /// All state that became dynamic after `VK_EXT_extended_dynamic_state2`, and state of
        /// tessellation.
        const LATE = ((1 << 51) - 1) & !((1 << 25) - 1);
        /// Sizes of fragments and their combination, which need no other variant of the pipeline.
        const FRAGMENT_RATE = 1 << 63;
    }
}

/// A compute pipeline.
#[derive(Debug)]
pub struct ComputePipeline {
    /// Compute program.
    pub program: Arc<Program>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_passes_that_name_what_is_not_there_are_refused() {
        let attachment = AttachmentDesc {
            format: vk::Format::R8G8B8A8_UNORM,
            samples: 1,
            load: vk::AttachmentLoadOp::CLEAR,
            store: vk::AttachmentStoreOp::STORE,
            stencil_load: vk::AttachmentLoadOp::DONT_CARE,
            stencil_store: vk::AttachmentStoreOp::DONT_CARE,
            final_layout: vk::ImageLayout::UNDEFINED,
            skips_transfer: false,
        };
        let pass = |subpasses: &[SubpassDesc]| PassDesc::new(vec![attachment; 2], subpasses.to_vec());
        assert!(pass(&[]).is_none());
        let none = SubpassDesc::default();
        assert!(pass(std::slice::from_ref(&none)).is_some());
        let views = SubpassDesc { view_mask: 2, ..none.clone() };
        assert!(pass(&[views.clone(), views.clone()]).is_some());
        assert!(pass(&[views, none.clone()]).is_none());
        for (number, good) in [(1, true), (2, false), (u32::MAX - 1, false)] {
            let one = || vec![None, Some(number)];
            let rate = RateAttachment { attachment: number, texels: RateTexels::Densities };
            let subpasses = [
                SubpassDesc { inputs: one(), ..none.clone() },
                SubpassDesc { colors: one(), ..none.clone() },
                SubpassDesc { resolves: one(), ..none.clone() },
                SubpassDesc { depth_stencil: Some(number), ..none.clone() },
                SubpassDesc { rate: Some(rate), ..none.clone() },
            ];
            for subpass in subpasses {
                assert_eq!(pass(&[none.clone(), subpass.clone()]).is_some(), good, "{subpass:?}");
            }
        }
    }
}
