//! A shader's interface: its words of input and output, its resources, and facts of its stage.

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

/// Most words of a stage's inputs, and of its outputs: far above the limits that the device reports.
pub const MAX_INTERFACE: usize = 1 << 12;

/// Most bytes of a workgroup's shared memory: far above the limit that the device reports.
pub const MAX_SHARED: u32 = 1 << 20;

/// `maxComputeWorkGroupInvocations`.
pub const MAX_INVOCATIONS: u32 = 1 << 10;

/// Most words of all locals of a function together: 256 MiB a wave.
pub const MAX_LOCAL_WORDS: u32 = 1 << 22;

/// Most vertices that a geometry shader emits.
const MAX_EMITTED: u32 = 1 << 10;

/// Most words of all vertices together that a geometry shader emits.
const MAX_EMITTED_WORDS: usize = 1 << 14;

/// Most invocations of a geometry shader for one primitive.
const MAX_GEOMETRY_INVOCATIONS: u32 = 1 << 8;

/// `maxPushConstantsSize`. What draws tell their programs beside push constants follows it in their memory.
pub const PUSH_CONSTANT_BYTES: usize = 256;

macro_rules! builtins {
    ($($builtin:ident,)*) => {
        /// Built-in variables of the stages that Vitric has. Vectors and arrays are numbered by component.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the variants are SPIR-V's BuiltIn")]
        pub enum Builtin { $($builtin,)* }

        impl Builtin {
            /// Every built-in.
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
    FullyCovered,
    BaryCoord,
    BaryCoordNoPersp,
    InvocationId,
    TessCoord,
    TessLevelOuter,
    TessLevelInner,
    PatchVertices,
    // Not SPIR-V's: x and y of the first pixel of a fragment, as floats.
    FirstPixel,
    // Not SPIR-V's either: how geometry programs reach local memory, see `GeometryFacts`.
    VertexAddress,
    EmitBase,
    EmitMask,
    EmitFirst,
    EmitSpan,
    StripStart,
    EmitCount,
    // Of mesh programs; nothing behind them reads it.
    CullPrimitive,
    // Nor these: how tessellation programs do, see `PatchFacts`.
    VertexTable,
    PatchBase,
    VertexBytes,
    PatchOffset,
    VertexOffset,
}

/// Where a word of a program's interface comes from or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A user variable. `index` is the dual-source index of fragment outputs.
    Location {
        /// Location.
        location: u32,
        /// Component, 0 to 3.
        component: u32,
        /// Dual-source index.
        index: u32,
    },
    /// A built-in variable: which, and which word of it.
    Builtin(Builtin, u32),
}

impl Slot {
    /// Whether a fragment input is what a vertex program gave, and not a built-in of its own.
    pub fn is_varying(self) -> bool {
        match self {
            Self::Location { .. } => true,
            Self::Builtin(builtin, _) => {
                use Builtin as B;
                matches!(builtin, B::ClipDistance | B::CullDistance | B::Layer | B::ViewportIndex) || self.is_weight()
            }
        }
    }

    /// Whether it is the weight of a vertex: 1 there and 0 at the others.
    pub fn is_weight(self) -> bool {
        matches!(self, Self::Builtin(Builtin::BaryCoord | Builtin::BaryCoordNoPersp, _))
    }

    /// How an input differs from lane to lane of every wave, given the workgroup size and whether its quads are squares.
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
            // A wave of vertices is of one instance of one draw.
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

/// How a fragment input follows from the values at the vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The provoking vertex's value.
    Flat,
    /// Perspective-correct.
    Smooth,
    /// Linear in window space.
    NoPerspective,
    /// Not at all: the value of the primitive's first vertex.
    Vertex0,
    /// Of its second vertex.
    Vertex1,
    /// Of its third vertex.
    Vertex2,
}

impl Interpolation {
    /// Every way.
    pub const ALL: &[Self] =
        &[Self::Flat, Self::Smooth, Self::NoPerspective, Self::Vertex0, Self::Vertex1, Self::Vertex2];

    /// The vertex whose value an input is, where that is not the provoking one.
    pub fn vertex(self) -> Option<usize> {
        match self {
            Self::Vertex0 => Some(0),
            Self::Vertex1 => Some(1),
            Self::Vertex2 => Some(2),
            Self::Flat | Self::Smooth | Self::NoPerspective => None,
        }
    }
}

/// Where in the pixel a fragment input is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Anywhere: at the centre.
    Center,
    /// Inside the covered part.
    Centroid,
    /// At the sample.
    Sample,
}

/// One word of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputSlot {
    /// What it is.
    pub slot: Slot,
    /// Type.
    pub ty: Type,
    /// Fragment inputs: how it is interpolated.
    pub interpolation: Interpolation,
    /// Fragment inputs: where it is interpolated.
    pub place: Place,
}

impl InputSlot {
    /// Whether it depends on which vertex of a primitive is which: a weight, or the value of one vertex.
    pub fn knows_vertices(&self) -> bool {
        self.slot.is_weight() || self.interpolation.vertex().is_some()
    }
}

/// One word of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSlot {
    /// What it is.
    pub slot: Slot,
    /// Type.
    pub ty: Type,
    /// Where transform feedback writes it, if it does.
    pub feedback: Option<Feedback>,
}

/// Streams of vertices that geometry programs emit.
pub const STREAMS: u32 = 4;

/// Buffers that transform feedback writes.
pub const FEEDBACK_BUFFERS: u32 = 4;

/// Most bytes from vertex to vertex in such a buffer.
pub const FEEDBACK_STRIDE: u32 = 2048;

/// Where transform feedback writes a word of output. Source: SPIR-V, `XfbBuffer`, `XfbStride`, `Offset`, `Stream`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// Number of the buffer, below [`FEEDBACK_BUFFERS`].
    pub buffer: u32,
    /// Bytes from vertex to vertex, at most [`FEEDBACK_STRIDE`].
    pub stride: u32,
    /// Bytes from the start of the vertex: the word lies within the stride.
    pub offset: u32,
    /// Number of the stream of vertices, below [`STREAMS`].
    pub stream: u32,
}

impl Feedback {
    /// Whether all numbers are within their limits.
    pub fn is_possible(&self) -> bool {
        let end = self.offset.checked_add(4);
        self.buffer < FEEDBACK_BUFFERS
            && self.stride <= FEEDBACK_STRIDE
            && self.stream < STREAMS
            && self.offset.is_multiple_of(4)
            && end.is_some_and(|end| end <= self.stride)
    }
}

/// A resource that a program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
}

/// What the fragment pipeline must know of a fragment program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct FragmentFacts {
    /// Depth and stencil tests come before the program.
    pub early_tests: bool,
    /// The program may discard.
    pub may_discard: bool,
    /// The program writes its depth.
    pub writes_depth: bool,
    /// The program writes the reference of its stencil test.
    pub writes_stencil: bool,
    /// The program writes its sample mask.
    pub writes_sample_mask: bool,
    /// The program sees which samples are covered.
    pub sees_coverage: bool,
    /// What it sees of them is what early tests leave.
    pub post_depth: bool,
    /// Fragments of a pixel exclude each other, and come in order.
    pub interlock: bool,
    /// The program runs once per sample.
    pub per_sample: bool,
    /// The program stores to memory or performs atomics.
    pub side_effects: bool,
    /// The location of the colour whose alpha coverage has to do with, which pipelines may move.
    pub first_color: u32,
}

impl FragmentFacts {
    /// All facts in order, to be saved: what pipelines move is not.
    pub fn flags(&self) -> [bool; 10] {
        let mut facts = *self;
        facts.flags_mut().map(|flag| *flag)
    }

    /// The same, to be read back.
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
            first_color: _,
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

/// What is around a geometry program, and how it reaches what is.
///
/// Its vertices, and those that it emits, lie in local memory ([`Space::Shared`]): a word every [`LOCAL_WORD`] bytes, so that those of
/// sixteen lanes stand side by side. Word `n` of input vertex `v` lies `n` words behind address `v` ([`Builtin::VertexAddress`]). A
/// vertex is emitted as a *record*: the words of the program's outputs but the last one, the last of them telling whether a strip begins
/// with it (bit 0) and of which stream it is (the bits above). Records lie behind [`Builtin::EmitBase`], a word for each lane; of a lane's
/// vertices those are stored that are numbered from [`Builtin::EmitFirst`] on, so many as [`Builtin::EmitSpan`] says, each in the record
/// of its number masked by [`Builtin::EmitMask`]. The one real output is how many were emitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeometryFacts {
    /// Vertices of a primitive that comes: 1, 2, 3; with adjacency 4 or 6.
    pub vertices: u32,
    /// Points, or strips of lines or triangles.
    pub output: vk::PrimitiveTopology,
    /// Most vertices that an invocation emits.
    pub max_vertices: u32,
    /// Invocations of each primitive, at least 1.
    pub invocations: u32,
    /// The words of its vertices; none where nobody reads one.
    pub inputs: Vec<Option<Slot>>,
}

impl GeometryFacts {
    /// Returns true if a geometry shader with `outputs` words of output stays within what the geometry unit can run.
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

/// Bytes from word to word in local memory: a word of each lane.
pub const LOCAL_WORD: u32 = 4 * WAVE as u32;

/// Interface of a shader of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Stage.
    pub stage: vk::ShaderStageFlags,
    /// Words of input.
    pub inputs: Vec<InputSlot>,
    /// Words of output.
    pub outputs: Vec<OutputSlot>,
    /// Resources, in the order in which the function numbers them.
    pub resources: Vec<Resource>,
    /// Number of image instructions.
    pub images: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Workgroup size; 1 in each direction in stages without workgroups.
    pub local_size: [u32; 3],
    /// Four lanes are a square of the workgroup, in two rows, rather than a part of one row: rows and columns are even then.
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

    /// Returns the output word that is `slot`.
    pub fn output(&self, slot: Slot) -> Option<usize> {
        self.outputs.iter().position(|output| output.slot == slot)
    }

    /// Returns the output word that is word `component` of a built-in.
    pub fn output_builtin(&self, builtin: Builtin, component: u32) -> Option<usize> {
        self.output(Slot::Builtin(builtin, component))
    }

    /// Returns true for shaders that write the viewport or the layer of their primitives.
    pub fn routes(&self) -> bool {
        [Builtin::ViewportIndex, Builtin::Layer].iter().any(|&builtin| self.output_builtin(builtin, 0).is_some())
    }
}

/// A shader of one stage as its front end leaves it: a verified, optimized function and its interface.
#[derive(Debug, Clone)]
pub struct Shader {
    /// Interface.
    pub interface: Interface,
    /// The code.
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
