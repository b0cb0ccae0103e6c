//! Typed pipeline and pass state: everything a pipeline or render pass fixes, as plain owned data.
//!
//! `ash::vk` enums and flags are the vocabulary. State that a pipeline declares dynamic is taken from the command stream
//! instead of the value here. Source: Vulkan specification, "Pipelines", "Render Pass".

mod dynamic_state3;
mod extended;
mod patches;
mod set;
mod topology;

use std::sync::Arc;

use ash::vk;

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

/// Most viewports of a draw: `maxViewports`.
pub const MAX_VIEWPORTS: usize = 16;

/// A viewport. Two of them are the same if all their numbers are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viewport(pub vk::Viewport);

impl PartialEq for Viewport {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |of: &vk::Viewport| [of.x, of.y, of.width, of.height, of.min_depth, of.max_depth];
        numbers(&self.0) == numbers(&other.0)
    }
}

/// A value for clearing: four 32-bit words, to be read as the format's class says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClearValue(pub [u32; 4]);

impl ClearValue {
    /// Depth, when the cleared aspect is depth.
    pub fn depth(self) -> f32 {
        f32::from_bits(self.0[0])
    }

    /// Stencil, when the cleared aspect is stencil.
    pub fn stencil(self) -> u32 {
        self.0[1]
    }
}

/// One attachment of a render pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentDesc {
    /// Format.
    pub format: vk::Format,
    /// Samples per pixel.
    pub samples: u32,
    /// What happens to colour or depth when the attachment is first used.
    pub load: vk::AttachmentLoadOp,
    /// What happens to colour or depth after its last use.
    pub store: vk::AttachmentStoreOp,
    /// The same for stencil.
    pub stencil_load: vk::AttachmentLoadOp,
    /// The same for stencil.
    pub stencil_store: vk::AttachmentStoreOp,
    /// The layout it has behind the pass; undefined, where the pass does not say.
    pub final_layout: vk::ImageLayout,
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
    /// What depth and stencil are resolved to.
    pub depth_resolve: Option<DepthResolve>,
    /// Aspects that the depth/stencil attachment has, but the subpass does not use.
    pub unused_aspects: vk::ImageAspectFlags,
    /// Views that are rendered, a bit each; 0: without multiview.
    pub view_mask: u32,
    /// What says how large fragments are.
    pub rate: Option<RateAttachment>,
    /// How attachments of one sample are rendered to with several.
    pub implicit: Option<ImplicitSamples>,
}

/// Samples that attachments have while they are rendered to, where they have one otherwise; colours become their average, or that of
/// sample 0 where they are integers. Source: `VK_EXT_multisampled_render_to_single_sampled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImplicitSamples {
    /// How many.
    pub samples: u32,
    /// What becomes of a pixel's depths; none: they stay as they were.
    pub depth: vk::ResolveModeFlags,
    /// What becomes of a pixel's stencils: never their average.
    pub stencil: vk::ResolveModeFlags,
}

/// An attachment whose texels say how large fragments are. Source: `VK_KHR_fragment_shading_rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateAttachment {
    /// The attachment, which is only read.
    pub attachment: u32,
    /// Pixels along the sides of what a texel is for, powers of two.
    pub texel: [u32; 2],
}

/// How depth and stencil are resolved. Source: `VK_KHR_depth_stencil_resolve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthResolve {
    /// The attachment that is written.
    pub attachment: u32,
    /// What becomes of a pixel's depths; none: they stay as they are.
    pub depth: vk::ResolveModeFlags,
    /// What becomes of a pixel's stencils: never their average.
    pub stencil: vk::ResolveModeFlags,
}

impl SubpassDesc {
    /// All attachments that it uses, in the order in which they are loaded.
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
    /// A render pass; `None` when it has no subpass, one names an attachment that there is not, or only some have views.
    pub fn new(attachments: Vec<AttachmentDesc>, subpasses: Vec<SubpassDesc>) -> Option<Self> {
        let exists = |attachment: u32| (attachment as usize) < attachments.len();
        let has_views = |subpass: &SubpassDesc| subpass.view_mask != 0;
        let all_have = subpasses.first().is_some_and(has_views);
        let good = |subpass: &SubpassDesc| subpass.attachments().all(exists) && has_views(subpass) == all_have;
        (!subpasses.is_empty() && subpasses.iter().all(good)).then_some(Self { attachments, subpasses })
    }

    /// Formats of a subpass's colour attachments by location; `None` where there is none.
    pub fn color_formats(&self, subpass: u32) -> Vec<Option<&'static FormatInfo>> {
        let format = |attachment: &Option<u32>| format::info(self.attachments.get((*attachment)? as usize)?.format);
        let subpass = self.subpasses.get(subpass as usize);
        subpass.map_or_else(Vec::new, |subpass| subpass.colors.iter().map(format).collect())
    }

    /// Whether a subpass reads its own depth/stencil attachment as an input attachment.
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
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Whether elements advance by vertex or by instance.
    pub rate: vk::VertexInputRate,
    /// Instances that have an element in common; 0: all of them.
    pub divisor: u32,
}

/// A vertex attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VertexAttribute {
    /// Shader location.
    pub location: u32,
    /// Binding number it is fetched from.
    pub binding: u32,
    /// Format in memory.
    pub format: vk::Format,
    /// Bytes from the start of the element.
    pub offset: u32,
}

/// What depths of fragments are clamped to. Source: Vulkan specification, "Depth Clamping and Range Adjustment".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DepthLimits {
    /// The range of depths of the viewport.
    #[default]
    Viewport,
    /// 0 to 1: `depthClampZeroOne`.
    ZeroOne,
    /// Nothing but what the attachment can hold: `depthClampZeroOne` with `VK_EXT_depth_range_unrestricted`.
    Format,
}

/// Rasterization state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RasterState {
    /// Clip to the near and far planes.
    pub depth_clip: bool,
    /// What depths of fragments are clamped to.
    pub depth_limits: DepthLimits,
    /// Depth goes from -w to w in clip space, not from 0.
    pub negative_one_to_one: bool,
    /// The provoking vertex of a primitive is the last one, not the first.
    pub provoking_last: bool,
    /// Drop every primitive before rasterization.
    pub discard: bool,
    /// Fill, line or point.
    pub polygon_mode: vk::PolygonMode,
    /// Facing that is culled.
    pub cull_mode: vk::CullModeFlags,
    /// Winding of front faces.
    pub front_face: vk::FrontFace,
    /// Whether depth bias applies.
    pub depth_bias_enable: bool,
    /// Depth bias, unless dynamic.
    pub depth_bias: DepthBias,
    /// Line width in pixels, unless dynamic.
    pub line_width: f32,
    /// How lines cover pixels.
    pub line_mode: LineMode,
    /// Stipple of lines, if they have one; its values unless dynamic.
    pub line_stipple: Option<LineStipple>,
    /// How filled polygons cover pixels, where it is not by samples.
    pub conservative: Option<Criterion>,
    /// The stream of vertices that is rasterized.
    pub stream: u32,
}

/// How lines cover pixels. Source: Vulkan specification, "Line Segments".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LineMode {
    /// By a rectangle around the line.
    #[default]
    Rectangular,
    /// By the diamonds that the line leaves.
    Bresenham,
    /// By the part of each pixel that the rectangle covers, which alpha is multiplied by.
    Smooth,
}

/// Which parts of lines are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineStipple {
    /// How often each bit is used, 1 to 256.
    pub factor: u32,
    /// The bits, from the least significant on.
    pub pattern: u16,
}

/// Depth bias factors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DepthBias {
    /// Scale of the format's smallest resolvable difference.
    pub constant: f32,
    /// Largest (or, negative, smallest) bias; 0: no clamp.
    pub clamp: f32,
    /// Scale of the primitive's largest depth slope.
    pub slope: f32,
    /// What the constant is a scale of.
    pub unit: DepthBiasUnit,
}

/// What depth bias is counted in. Source: Vulkan specification, "Depth Bias Computation".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DepthBiasUnit {
    /// The smallest resolvable difference, of floats near the primitive's depths.
    #[default]
    Resolvable,
    /// The same for all depths, also of floats.
    Constant,
    /// One.
    One,
}

/// Stencil test of one facing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StencilState {
    /// When the stencil test fails.
    pub fail: vk::StencilOp,
    /// When both tests pass.
    pub pass: vk::StencilOp,
    /// When only the depth test fails.
    pub depth_fail: vk::StencilOp,
    /// Comparison.
    pub compare: vk::CompareOp,
    /// Bits compared, unless dynamic.
    pub compare_mask: u32,
    /// Bits written, unless dynamic.
    pub write_mask: u32,
    /// Reference, unless dynamic.
    pub reference: u32,
}

/// Depth and stencil state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthStencilState {
    /// Whether depth is tested.
    pub depth_test: bool,
    /// Whether depth is written when the test passes.
    pub depth_write: bool,
    /// Comparison.
    pub depth_compare: vk::CompareOp,
    /// Depth bounds test, when enabled.
    pub depth_bounds_test: bool,
    /// Bounds, unless dynamic.
    pub depth_bounds: [f32; 2],
    /// Whether stencil is tested.
    pub stencil_test: bool,
    /// Front facing.
    pub front: StencilState,
    /// Back facing.
    pub back: StencilState,
}

impl DepthStencilState {
    /// Whether tests may write depths or stencils, as they are or as commands may set them.
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
    /// Whether blending is on.
    pub enable: bool,
    /// Colour: source factor.
    pub src_color: vk::BlendFactor,
    /// Colour: destination factor.
    pub dst_color: vk::BlendFactor,
    /// Colour: operation.
    pub color_op: vk::BlendOp,
    /// Alpha: source factor.
    pub src_alpha: vk::BlendFactor,
    /// Alpha: destination factor.
    pub dst_alpha: vk::BlendFactor,
    /// Alpha: operation.
    pub alpha_op: vk::BlendOp,
    /// Components that are written.
    pub write_mask: vk::ColorComponentFlags,
}

/// What a pipeline says of state that it has not got as it stands, but may get by commands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DynamicDefaults {
    /// Whether depth is clipped, where the pipeline says so itself: else it is where it is not clamped.
    pub depth_clip: Option<bool>,
    /// Whether depth is clamped.
    pub depth_clamp: bool,
    /// What depths are clamped to where the pipeline does not clamp them itself.
    pub depth_limits: DepthLimits,
    /// The stipple, also where lines have none.
    pub stipple: LineStipple,
    /// The logic operation, also where none is enabled.
    pub logic_op: vk::LogicOp,
    /// Whether colour attachments are written at all; those that are not named are.
    pub writes: Vec<bool>,
    /// Whether sample locations are custom ones.
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
    /// What patches are; nothing without those programs.
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
    /// Whether the largest index starts a new primitive.
    pub primitive_restart: bool,
    /// Viewports (count even when the values are dynamic).
    pub viewports: Vec<Viewport>,
    /// Scissors, as many as viewports.
    pub scissors: Vec<vk::Rect2D>,
    /// Rasterization.
    pub raster: RasterState,
    /// Multisampling.
    pub multisample: MultisampleState,
    /// Sizes of fragments, unless dynamic.
    pub rate: RateState,
    /// Depth and stencil; `None` when the subpass has no such attachment.
    pub depth_stencil: Option<DepthStencilState>,
    /// Logic operation of all colour attachments, when enabled.
    pub logic_op: Option<vk::LogicOp>,
    /// Blending by colour attachment.
    pub blend: Vec<BlendState>,
    /// Formats of the colour attachments by location; `None` where there is none.
    pub color_formats: Vec<Option<&'static FormatInfo>>,
    /// Blend constants, unless dynamic.
    pub blend_constants: [f32; 4],
    /// State taken from the command stream.
    pub dynamic: DynamicState,
    /// Values that matter only with dynamic state.
    pub dynamic_defaults: DynamicDefaults,
    /// Programs may read what they are drawn to.
    pub reads_attachments: bool,
    /// Attributes that do not lie in their buffers wholly read as zeros, and so do indices: `robustBufferAccess2`.
    pub exact_vertices: bool,
}

impl PipelineState {
    /// A pipeline of triangles with a vertex program and nothing else.
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

    /// The last program before rasterization: what it gives goes to set-up and to fragments.
    pub fn last(&self) -> &Program {
        let evaluation = self.patches.as_ref().map(|programs| &*programs.evaluation);
        self.geometry.as_deref().or(evaluation).unwrap_or(&self.vertex)
    }

    /// Whether programs before rasterization store to memory.
    pub fn has_side_effects(&self) -> bool {
        self.before_rasterization().any(|program| program.fragment.side_effects)
    }

    /// The programs before rasterization.
    pub fn before_rasterization(&self) -> impl Iterator<Item = &Program> + Clone {
        let patches = self.patches.iter().flat_map(|programs| [&programs.control, &programs.evaluation]);
        patches.chain(&self.geometry).chain(&self.task).chain([&self.vertex]).map(|program| &**program)
    }

    /// What is known of its mesh program, where it has one instead of a vertex program.
    pub fn mesh(&self) -> Option<&MeshFacts> {
        self.vertex.mesh.as_deref()
    }

    /// Vertices of what is rasterized: 1, points; 2, lines; 3, polygons.
    pub fn corners(&self) -> usize {
        let facts = self.geometry.as_ref().and_then(|program| program.geometry.as_deref());
        match (facts, self.subdivision()) {
            (Some(facts), _) => corners(facts.output),
            (None, Some(subdivision)) => subdivision.corners(),
            (None, None) => corners(self.topology),
        }
    }

    /// Whether it draws filled polygons, not lines or points.
    pub fn fills_polygons(&self) -> bool {
        self.corners() == 3 && self.raster.polygon_mode == vk::PolygonMode::FILL
    }

    /// Whether it draws lines, or polygons as lines.
    pub fn draws_lines(&self) -> bool {
        match self.corners() {
            2 => true,
            3 => self.raster.polygon_mode == vk::PolygonMode::LINE,
            _ => false,
        }
    }

    /// Whether alpha is multiplied by how much of a pixel a line covers.
    pub fn smooths_lines(&self) -> bool {
        self.draws_lines() && self.raster.line_mode == LineMode::Smooth
    }

    /// Whether it draws lines that have a stipple.
    pub fn stipples_lines(&self) -> bool {
        self.draws_lines() && self.raster.line_stipple.is_some()
    }

    /// How its primitives cover pixels, where it is not by samples.
    pub fn criterion(&self) -> Option<Criterion> {
        match self.raster.line_mode {
            LineMode::Bresenham | LineMode::Smooth if self.draws_lines() => Some(Criterion::Centre),
            _ => self.raster.conservative.filter(|_| self.fills_polygons()),
        }
    }

    /// Whether primitives say how large their fragments are: a word beside the inputs of the fragment program.
    pub fn gives_rate(&self) -> bool {
        self.fragment.is_some() && self.last().output_builtin(Builtin::PrimitiveShadingRateKhr, 0).is_some()
    }

    /// What vertices hand over to fragments: the inputs of their program, and then the size of fragments.
    pub fn varyings(&self) -> impl Iterator<Item = Slot> {
        let rate = self.gives_rate().then_some(Slot::Builtin(Builtin::PrimitiveShadingRateKhr, 0));
        self.fragment.iter().flat_map(|program| &program.inputs).map(|input| input.slot).chain(rate)
    }

    /// Whether samples are shaded on their own, or would be if there were several: then fragments are pixels.
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
        /// Topology, of any kind of primitives.
        const TOPOLOGY = 1 << 12;
        /// Whether depth is tested.
        const DEPTH_TEST = 1 << 13;
        /// Whether depth is written.
        const DEPTH_WRITE = 1 << 14;
        /// Comparison of depths.
        const DEPTH_COMPARE = 1 << 15;
        /// Whether depth is tested against bounds.
        const DEPTH_BOUNDS_TEST = 1 << 16;
        /// Whether stencil is tested.
        const STENCIL_TEST = 1 << 17;
        /// What the stencil test does.
        const STENCIL_OP = 1 << 18;
        /// Strides of vertex buffers.
        const STRIDES = 1 << 19;
        /// Whether primitives are dropped.
        const DISCARD = 1 << 20;
        /// Whether depth bias applies.
        const DEPTH_BIAS_ENABLE = 1 << 21;
        /// Whether the largest index starts a new primitive.
        const RESTART = 1 << 22;
        /// Logic operation.
        const LOGIC_OP = 1 << 23;
        /// How many viewports and scissors there are.
        const VIEWPORT_COUNT = 1 << 24;
        /// Bindings and attributes of vertices.
        const VERTEX_INPUT = 1 << 25;
        /// How polygons are drawn.
        const POLYGON_MODE = 1 << 26;
        /// Samples per pixel.
        const SAMPLES = 1 << 27;
        /// Samples that may be written.
        const SAMPLE_MASK = 1 << 28;
        /// Whether coverage is derived from alpha.
        const ALPHA_TO_COVERAGE = 1 << 29;
        /// Whether alpha becomes one.
        const ALPHA_TO_ONE = 1 << 30;
        /// Whether there is a logic operation.
        const LOGIC_OP_ENABLE = 1 << 31;
        /// Whether depth is clamped.
        const DEPTH_CLAMP = 1 << 32;
        /// Whether depth is clipped.
        const DEPTH_CLIP = 1 << 33;
        /// Whether depth goes from -w on.
        const NEGATIVE_ONE_TO_ONE = 1 << 34;
        /// Which vertex provokes.
        const PROVOKING = 1 << 35;
        /// How lines cover pixels.
        const LINE_MODE = 1 << 36;
        /// Whether lines have a stipple.
        const LINE_STIPPLE_ENABLE = 1 << 37;
        /// Whether coverage is conservative.
        const CONSERVATIVE = 1 << 38;
        /// Whether attachments are blended.
        const BLEND_ENABLE = 1 << 39;
        /// How attachments are blended.
        const BLEND_EQUATION = 1 << 40;
        /// Components of attachments that are written.
        const WRITE_MASK = 1 << 41;
        /// Whether attachments are written at all.
        const COLOR_WRITE = 1 << 42;
        /// Custom sample locations.
        const SAMPLE_LOCATIONS = 1 << 43;
        /// Whether sample locations are custom ones.
        const SAMPLE_LOCATIONS_ENABLE = 1 << 44;
        /// Whether programs may read what they are drawn to.
        const FEEDBACK_LOOP = 1 << 45;
        /// Vertices of a patch.
        const PATCH_VERTICES = 1 << 46;
        /// Where the origin of the domain of patches is.
        const DOMAIN_ORIGIN = 1 << 47;
        /// The stream of vertices that is rasterized.
        const STREAM = 1 << 48;
        /// All that is newer than Vulkan 1.0.
        const EXTENDED = ((1 << 49) - 1) & !((1 << 10) - 1);
        /// All that is newer than `VK_EXT_extended_dynamic_state2`, and what comes with tessellation.
        const LATE = ((1 << 49) - 1) & !((1 << 25) - 1);
        /// Sizes of fragments, and how they are combined: nothing that makes another pipeline.
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
            let subpasses = [
                SubpassDesc { inputs: one(), ..none.clone() },
                SubpassDesc { colors: one(), ..none.clone() },
                SubpassDesc { resolves: one(), ..none.clone() },
                SubpassDesc { depth_stencil: Some(number), ..none.clone() },
                SubpassDesc { rate: Some(RateAttachment { attachment: number, texel: [8; 2] }), ..none.clone() },
            ];
            for subpass in subpasses {
                assert_eq!(pass(&[none.clone(), subpass.clone()]).is_some(), good, "{subpass:?}");
            }
        }
    }
}
