//! Shader interfaces: input and output words, resources, and facts that are specific to a stage.

pub mod abort;
mod mesh;
mod tessellation;
mod text;

use std::ops::{Deref, DerefMut};

use ash::vk;
use vitric_base::simd::WAVE;

use crate::passes::LaneVariance;
use crate::{Function, Type};

pub use mesh::{MeshFacts, MeshWord};
pub use tessellation::{Domain, MAX_PATCH_VERTICES, MAX_PATCH_WORDS, PatchFacts, Spacing};

/// Maximum number of input words, and of output words, of a stage. It is far above the limits that
/// the device reports.
pub const MAX_INTERFACE: usize = 1 << 12;

/// Maximum size of a workgroup's shared memory in bytes. It is far above the limit that the device
/// reports.
pub const MAX_SHARED: u32 = 1 << 20;

/// Maximum number of invocations of a workgroup (`maxComputeWorkGroupInvocations`).
pub const MAX_INVOCATIONS: u32 = 1 << 10;

/// Maximum number of words of all locals of a function together, which is 256 MiB per wave.
pub const MAX_LOCAL_WORDS: u32 = 1 << 22;

/// Maximum number of vertices that an invocation of a geometry shader emits.
const MAX_EMITTED: u32 = 1 << 10;

/// Maximum number of words of all vertices that an invocation of a geometry shader emits.
const MAX_EMITTED_WORDS: usize = 1 << 14;

/// Maximum number of invocations of a geometry shader for one primitive.
const MAX_GEOMETRY_INVOCATIONS: u32 = 1 << 8;

/// Size of the push constants in bytes (`maxPushConstantsSize`). The parameters that a draw passes
/// to its programs follow the push constants in memory.
pub const PUSH_CONSTANT_BYTES: usize = 256;

/// Maximum number of colour attachments of a subpass: `maxColorAttachments`.
pub const MAX_COLORS: usize = 8;

macro_rules! builtins {
    ($($builtin:ident,)*) => {
        /// Built-in variables of the supported stages. Vectors and arrays are numbered by
        /// component.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the variants are SPIR-V's BuiltIn")]
        pub enum Builtin { $($builtin,)* }

        impl Builtin {
            /// List of every built-in variable.
            pub const ALL: &[Self] = &[$(Self::$builtin,)*];
        }
    };
}

builtins! {
    Position,
    PointSize,
    ClipDistance,
    CullDistance,
    VertexIndex,
    InstanceIndex,
    FragCoord,
    FrontFacing,
    PointCoord,
    SampleId,
    SamplePosition,
    SampleMask,
    FragDepth,
    FragStencilRef,
    HelperInvocation,
    Layer,
    ViewportIndex,
    PrimitiveId,
    NumWorkgroups,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
    SubgroupId,
    NumSubgroups,
    SubgroupSize,
    SubgroupLocalInvocationId,
    SubgroupEqMask,
    SubgroupGeMask,
    SubgroupGtMask,
    SubgroupLeMask,
    SubgroupLtMask,
    BaseVertex,
    BaseInstance,
    DrawIndex,
    ViewIndex,
    DeviceIndex,
    PrimitiveShadingRateKhr,
    ShadingRateKhr,
    FragSize,
    FragInvocationCount,
    FullyCovered,
    BaryCoord,
    BaryCoordNoPersp,
    InvocationId,
    TessCoord,
    TessLevelOuter,
    TessLevelInner,
    PatchVertices,
    // Vitric's own: x and y of the first pixel of a fragment, as floats.
    FirstPixel,
    // Vitric's own: how geometry programs access local memory (see `GeometryFacts`).
    VertexAddress,
    EmitBase,
    EmitMask,
    EmitFirst,
    EmitSpan,
    StripStart,
    EmitCount,
    // SPIR-V's, for mesh programs. No later stage reads it.
    CullPrimitive,
    // Vitric's own: how tessellation programs access local memory (see `PatchFacts`).
    VertexTable,
    PatchBase,
    VertexBytes,
    PatchOffset,
    VertexOffset,
}

/// Source or destination of one word of a program's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// User-defined variable.
    Location {
        /// Location.
        location: u32,
        /// Component, 0 to 3.
        component: u32,
        /// Dual-source index of a fragment output.
        index: u32,
    },
    /// Built-in variable and the number of its word.
    Builtin(Builtin, u32),
}

impl Slot {
    /// Returns true if a fragment input follows from the vertices of its primitive. Returns false
    /// for other built-ins of the fragment stage.
    pub fn is_varying(self) -> bool {
        match self {
            Self::Location { .. } => true,
            Self::Builtin(builtin, _) => {
                use Builtin as B;
                matches!(builtin, B::ClipDistance | B::CullDistance | B::Layer | B::ViewportIndex) || self.is_weight()
            }
        }
    }

    /// Returns true if the input is a vertex's barycentric weight, which is 1 at that vertex and 0
    /// at the others.
    pub fn is_weight(self) -> bool {
        matches!(self, Self::Builtin(Builtin::BaryCoord | Builtin::BaryCoordNoPersp, _))
    }

    /// Returns how an input differs from lane to lane of every wave. `in_squares` says whether
    /// quads are 2x2 squares of the workgroup.
    pub fn variance(self, local_size: [u32; 3], in_squares: bool) -> LaneVariance {
        let [x, y, _] = local_size;
        let rows = |axis: u32| match axis {
            0 => false,
            1 => x.is_multiple_of(WAVE as u32),
            _ => x.saturating_mul(y).is_multiple_of(WAVE as u32),
        };
        match self {
            Self::Builtin(Builtin::NumWorkgroups | Builtin::WorkgroupId | Builtin::SubgroupId, _) => {
                LaneVariance::Uniform
            }
            Self::Builtin(Builtin::EmitBase | Builtin::EmitMask, _) => LaneVariance::Uniform,
            // All vertices of a wave belong to one instance of one draw.
            Self::Builtin(
                Builtin::InstanceIndex | Builtin::BaseVertex | Builtin::BaseInstance | Builtin::DrawIndex,
                _,
            ) => LaneVariance::Uniform,
            Self::Builtin(..) if in_squares => LaneVariance::Divergent,
            Self::Builtin(Builtin::LocalInvocationIndex, _) => LaneVariance::Consecutive,
            // A wave lies in one row.
            Self::Builtin(Builtin::LocalInvocationId | Builtin::GlobalInvocationId, 0) if rows(1) => {
                LaneVariance::Consecutive
            }
            Self::Builtin(Builtin::LocalInvocationId | Builtin::GlobalInvocationId, axis) if rows(axis) => {
                LaneVariance::Uniform
            }
            _ => LaneVariance::Divergent,
        }
    }
}

/// Rule by which a fragment input follows from the values at the vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Value of the provoking vertex.
    Flat,
    /// Perspective-correct interpolation.
    Smooth,
    /// Linear interpolation in window space.
    NoPerspective,
    /// Value of the primitive's first vertex, without interpolation.
    Vertex0,
    /// Value of the primitive's second vertex, without interpolation.
    Vertex1,
    /// Value of the primitive's third vertex, without interpolation.
    Vertex2,
}

impl Interpolation {
    /// List of every interpolation.
    pub const ALL: &[Self] =
        &[Self::Flat, Self::Smooth, Self::NoPerspective, Self::Vertex0, Self::Vertex1, Self::Vertex2];

    /// Returns the index of the vertex whose value the input has. Returns `None` for interpolated
    /// inputs and the provoking vertex.
    pub fn vertex(self) -> Option<usize> {
        match self {
            Self::Vertex0 => Some(0),
            Self::Vertex1 => Some(1),
            Self::Vertex2 => Some(2),
            Self::Flat | Self::Smooth | Self::NoPerspective => None,
        }
    }
}

/// Position in the pixel at which a fragment input is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Centre of the pixel.
    Center,
    /// Point inside the covered part of the pixel.
    Centroid,
    /// Position of the sample.
    Sample,
}

/// One word of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputSlot {
    /// Source of the word.
    pub slot: Slot,
    /// Type.
    pub ty: Type,
    /// Interpolation of a fragment input.
    pub interpolation: Interpolation,
    /// Position at which a fragment input is interpolated.
    pub place: Place,
}

impl InputSlot {
    /// Returns true if the input depends on the order of a primitive's vertices: a barycentric
    /// weight or the value of one vertex.
    pub fn knows_vertices(&self) -> bool {
        self.slot.is_weight() || self.interpolation.vertex().is_some()
    }
}

/// One word of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSlot {
    /// Destination of the word.
    pub slot: Slot,
    /// Type.
    pub ty: Type,
    /// Destination in the transform feedback buffers, if the word is captured.
    pub feedback: Option<Feedback>,
}

/// Number of vertex streams to which geometry programs emit.
pub const STREAMS: u32 = 4;

/// Number of transform feedback buffers.
pub const FEEDBACK_BUFFERS: u32 = 4;

/// Maximum number of bytes from vertex to vertex in a transform feedback buffer.
pub const FEEDBACK_STRIDE: u32 = 2048;

/// Position at which transform feedback writes an output word. Source: SPIR-V, `XfbBuffer`,
/// `XfbStride`, `Offset`, `Stream`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// Number of the buffer, below [`FEEDBACK_BUFFERS`].
    pub buffer: u32,
    /// Bytes from vertex to vertex, at most [`FEEDBACK_STRIDE`].
    pub stride: u32,
    /// Bytes from the start of the vertex. The word lies completely inside the stride.
    pub offset: u32,
    /// Number of the vertex stream, below [`STREAMS`].
    pub stream: u32,
}

impl Feedback {
    /// Returns true if all numbers are within their limits.
    pub fn is_possible(&self) -> bool {
        let end = self.offset.checked_add(4);
        self.buffer < FEEDBACK_BUFFERS
            && self.stride <= FEEDBACK_STRIDE
            && self.stream < STREAMS
            && self.offset.is_multiple_of(4)
            && end.is_some_and(|end| end <= self.stride)
    }
}

/// Resource that a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// Descriptor set, or [`Self::ATTACHMENTS`].
    pub set: u32,
    /// Binding.
    pub binding: u32,
}

impl Resource {
    /// Set number of the attachments of the subpass, which fragment programs read. The bindings of
    /// colour attachments are their locations. The elements after the first are those at the next
    /// locations.
    pub const ATTACHMENTS: u32 = u32::MAX;

    /// Binding of the depth attachment.
    pub const DEPTH: u32 = MAX_COLORS as u32;

    /// Binding of the stencil attachment.
    pub const STENCIL: u32 = Self::DEPTH + 1;

    /// Returns true if the resource is an attachment, and not an array of descriptors.
    #[inline]
    pub fn is_attachment(&self) -> bool {
        self.set == Self::ATTACHMENTS
    }
}

/// Facts about a fragment program that the fragment pipeline needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct FragmentFacts {
    /// True if depth and stencil tests run before the program.
    pub early_tests: bool,
    /// True if the program may discard.
    pub may_discard: bool,
    /// True if the program writes its depth.
    pub writes_depth: bool,
    /// True if the program writes the reference value of its stencil test.
    pub writes_stencil: bool,
    /// True if the program writes its sample mask.
    pub writes_sample_mask: bool,
    /// True if the program reads which samples are covered.
    pub sees_coverage: bool,
    /// True if the coverage that the program reads excludes samples that failed early tests.
    pub post_depth: bool,
    /// True if fragments of a pixel run one at a time and in order. This includes the writes of
    /// their results to attachments.
    pub interlock: bool,
    /// True if the program runs once per sample.
    pub per_sample: bool,
    /// True if the program stores to memory or performs atomics.
    pub side_effects: bool,
    /// Colour attachments by location, if a pipeline has remapped them. Locations without an
    /// attachment have numbers beyond the last attachment.
    pub color_attachments: Option<[u32; MAX_COLORS]>,
}

impl FragmentFacts {
    /// Returns the colour attachment of a location. The alpha of location 0 modifies coverage.
    #[inline]
    pub fn color_attachment(&self, location: u32) -> u32 {
        let moved = self.color_attachments.map(|moved| moved.get(location as usize).copied());
        moved.map_or(location, |moved| moved.unwrap_or(u32::MAX - location))
    }

    /// Returns all boolean facts, in the order in which they are saved. `color_attachments` are not
    /// saved, because only pipelines remap them.
    pub fn flags(&self) -> [bool; 10] {
        let mut facts = *self;
        facts.flags_mut().map(|flag| *flag)
    }

    /// Returns mutable references to all boolean facts, in the order of [`Self::flags`].
    pub fn flags_mut(&mut self) -> [&mut bool; 10] {
        let Self {
            early_tests,
            may_discard,
            writes_depth,
            writes_stencil,
            writes_sample_mask,
            sees_coverage,
            post_depth,
            interlock,
            per_sample,
            side_effects,
            color_attachments: _,
        } = self;
        [
            early_tests,
            may_discard,
            writes_depth,
            writes_stencil,
            writes_sample_mask,
            sees_coverage,
            post_depth,
            interlock,
            per_sample,
            side_effects,
        ]
    }
}

/// Properties of a geometry program, and the layout of the memory that it accesses.
///
/// Input vertices and emitted vertices lie in local memory
/// ([`Space::Shared`](crate::Space::Shared)). Each word is stored for all 16 lanes side by side,
/// in [`LOCAL_WORD`] bytes. Word `n` of input vertex `v` lies `n * LOCAL_WORD` bytes after address
/// `v` ([`Builtin::VertexAddress`]).
///
/// A vertex is emitted as a *record*, which holds the words of all of the program's outputs except
/// the last output. Bit 0 of a record's last word says whether the vertex begins a strip. The bits
/// above hold the number of the vertex stream.
///
/// Records begin at [`Builtin::EmitBase`], with one word per lane. A lane stores only
/// [`Builtin::EmitSpan`] of its vertices, from number [`Builtin::EmitFirst`] on. A vertex is
/// stored in the record whose index is the vertex's number masked by [`Builtin::EmitMask`]. With a
/// mask of 0, a lane stores one vertex and ends the program after it. The program's last output,
/// the only one that it writes as an output, is the number of vertices that the lane emitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeometryFacts {
    /// Number of vertices of an input primitive: 1, 2 or 3, or with adjacency 4 or 6.
    pub vertices: u32,
    /// Topology of the output: points, line strips or triangle strips.
    pub output: vk::PrimitiveTopology,
    /// Maximum number of vertices that an invocation emits.
    pub max_vertices: u32,
    /// Number of invocations for each primitive, at least 1.
    pub invocations: u32,
    /// Words of an input vertex. `None` stands for a word that is not read.
    pub inputs: Vec<Option<Slot>>,
}

impl GeometryFacts {
    /// Returns true if a geometry shader with `outputs` output words is within the limits of the
    /// geometry unit.
    pub fn is_possible(&self, outputs: usize) -> bool {
        use vk::PrimitiveTopology as T;
        matches!(self.output, T::POINT_LIST | T::LINE_STRIP | T::TRIANGLE_STRIP)
            && matches!(self.vertices, 1..=4 | 6)
            && self.max_vertices <= MAX_EMITTED
            && (1..=MAX_GEOMETRY_INVOCATIONS).contains(&self.invocations)
            && outputs >= 2
            && (outputs - 1).saturating_mul(self.max_vertices as usize) <= MAX_EMITTED_WORDS
    }
}

/// Bytes from word to word in local memory, which stores each word for all lanes.
pub const LOCAL_WORD: u32 = 4 * WAVE as u32;

/// Interface of a shader of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Shader stage.
    pub stage: vk::ShaderStageFlags,
    /// Words of input.
    pub inputs: Vec<InputSlot>,
    /// Words of output.
    pub outputs: Vec<OutputSlot>,
    /// Resources, in the order in which the function numbers them.
    pub resources: Vec<Resource>,
    /// Number of image instructions.
    pub images: u32,
    /// Size of shared memory in bytes.
    pub shared_bytes: u32,
    /// Workgroup size in invocations. It is 1 in each direction in stages without workgroups.
    pub local_size: [u32; 3],
    /// True if a quad of lanes is a 2x2 square of the workgroup instead of four invocations of one
    /// row. The workgroup's width and height are even in this case.
    pub in_squares: bool,
    /// Facts of fragment shaders.
    pub fragment: FragmentFacts,
    /// Facts of geometry shaders.
    pub geometry: Option<Box<GeometryFacts>>,
    /// Facts of task and mesh shaders.
    pub mesh: Option<Box<MeshFacts>>,
    /// Facts of tessellation shaders.
    pub patch: Option<Box<PatchFacts>>,
}

impl Interface {
    /// Returns an interface without any words and resources.
    pub fn new(stage: vk::ShaderStageFlags) -> Self {
        Self {
            stage,
            inputs: Vec::new(),
            outputs: Vec::new(),
            resources: Vec::new(),
            images: 0,
            shared_bytes: 0,
            local_size: [1; 3],
            in_squares: false,
            fragment: FragmentFacts::default(),
            geometry: None,
            mesh: None,
            patch: None,
        }
    }

    /// Returns how the word of an input slot differs from lane to lane of every wave.
    pub fn variance(&self, slot: u32) -> LaneVariance {
        self.inputs[slot as usize].slot.variance(self.local_size, self.in_squares)
    }

    /// Returns the index of the output word with this slot.
    pub fn output(&self, slot: Slot) -> Option<usize> {
        self.outputs.iter().position(|output| output.slot == slot)
    }

    /// Returns the index of the output word with this component of a built-in.
    pub fn output_builtin(&self, builtin: Builtin, component: u32) -> Option<usize> {
        self.output(Slot::Builtin(builtin, component))
    }

    /// Returns true for shaders that write the viewport index or the layer of their primitives.
    pub fn routes(&self) -> bool {
        [Builtin::ViewportIndex, Builtin::Layer].iter().any(|&builtin| self.output_builtin(builtin, 0).is_some())
    }
}

/// Shader of one stage, as the front end produces it: a verified, optimized function and its
/// interface.
#[derive(Debug, Clone)]
pub struct Shader {
    /// Interface.
    pub interface: Interface,
    /// Optimized code.
    pub function: Function,
}

impl Deref for Shader {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.interface
    }
}

impl DerefMut for Shader {
    fn deref_mut(&mut self) -> &mut Interface {
        &mut self.interface
    }
}
