//! Compiled programs: IR plus what the units around a program must know of it.

use ash::vk;

use super::inline::Inlined;
use super::interp::Executable;
use super::ir::{Function, Inst, Space, Type};
use super::mesh::MeshFacts;
use super::passes::Across;
use super::passes::pair::{self, Effects};
use super::passes::sharing::may_share;
use super::x64::Target;
use crate::shader::tessellation::{Domain, Spacing};
use crate::simd::WAVE;

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
    pub fn across(self, local_size: [u32; 3], in_squares: bool) -> Across {
        let [x, y, _] = local_size;
        let rows = |axis: u32| match axis {
            0 => false,
            1 => x.is_multiple_of(WAVE as u32),
            _ => x.saturating_mul(y).is_multiple_of(WAVE as u32),
        };
        match self {
            Self::Builtin(Builtin::NumWorkgroups | Builtin::WorkgroupId | Builtin::SubgroupId, _) => Across::Same,
            Self::Builtin(Builtin::EmitBase | Builtin::EmitMask, _) => Across::Same,
            // A wave of vertices is of one instance of one draw.
            Self::Builtin(
                Builtin::InstanceIndex | Builtin::BaseVertex | Builtin::BaseInstance | Builtin::DrawIndex,
                _,
            ) => Across::Same,
            Self::Builtin(..) if in_squares => Across::Varies,
            Self::Builtin(Builtin::LocalInvocationIndex, _) => Across::Counts,
            // A wave lies in one row.
            Self::Builtin(Builtin::LocalInvocationId | Builtin::GlobalInvocationId, 0) if rows(1) => Across::Counts,
            Self::Builtin(Builtin::LocalInvocationId | Builtin::GlobalInvocationId, axis) if rows(axis) => Across::Same,
            _ => Across::Varies,
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
    pub(super) fn is_possible(&self) -> bool {
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
    pub(super) fn flags(&self) -> [bool; 10] {
        let mut facts = *self;
        facts.flags_mut().map(|flag| *flag)
    }

    /// The same, to be read back.
    pub(super) fn flags_mut(&mut self) -> [&mut bool; 10] {
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

/// What is around a tessellation program, and how it reaches what is.
///
/// A patch has a *block* in local memory ([`Space::Shared`]), which the control program writes and the evaluation program reads: words of
/// the patch, and the words of its vertices, vertex after vertex. It begins at [`Builtin::PatchBase`]. Word `k` of the patch that a program
/// names lies [`Builtin::PatchOffset`] `k` bytes behind; that of vertex `v` lies [`Builtin::VertexOffset`] `k` and `v` times
/// [`Builtin::VertexBytes`] behind. All but the base are known when programs are linked, so both may name words in an order of their own.
/// Vertices that come are reached as by geometry programs ([`GeometryFacts`]); address `v` is word `v` of a table at
/// [`Builtin::VertexTable`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchFacts {
    /// Control programs: the words of vertices that come; none where nobody reads one.
    pub inputs: Vec<Option<Slot>>,
    /// Words of the patch that the program names.
    pub patch: Vec<Slot>,
    /// Words of its vertices that the program names.
    pub vertex: Vec<Slot>,
    /// What the program says of the modes, which either of the two may: vertices of the block's patch.
    pub vertices: Option<u32>,
    /// What is subdivided.
    pub domain: Option<Domain>,
    /// How edges are.
    pub spacing: Option<Spacing>,
    /// Whether triangles are clockwise.
    pub clockwise: Option<bool>,
    /// Whether each vertex is a point.
    pub points: bool,
}

/// Bytes from word to word in local memory: a word of each lane.
pub const LOCAL_WORD: u32 = 4 * WAVE as u32;

/// A program of one stage, ready to run.
#[derive(Debug)]
pub struct Program {
    /// Stage.
    pub stage: vk::ShaderStageFlags,
    /// The code.
    pub code: Executable,
    /// The same for two waves at once, where that pays: input words of the second wave follow those of the first.
    pub pair: Option<Box<Program>>,
    /// Words of input.
    pub inputs: Vec<InputSlot>,
    /// Words of output.
    pub outputs: Vec<OutputSlot>,
    /// Resources, as the code numbers them.
    pub resources: Vec<Resource>,
    /// Image instructions.
    pub images: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Workgroup size.
    pub local_size: [u32; 3],
    /// Whether four lanes are a square of the workgroup, of two rows, and not a part of a row: rows and columns are even then.
    pub in_squares: bool,
    /// Compute programs: workgroups that share a wave, one behind the other; 1 where each has its own.
    pub groups_in_wave: u32,
    /// What it has become with routines in it.
    pub inlined: Inlined,
    /// Programs with routines in them: the function that it was before.
    pub before: Option<Box<Function>>,
    /// Fragment programs: what the pipeline must know.
    pub fragment: FragmentFacts,
    /// Geometry programs: what is around them.
    pub geometry: Option<Box<GeometryFacts>>,
    /// Task and mesh programs: what they leave, and where.
    pub mesh: Option<Box<MeshFacts>>,
    /// Tessellation programs: the same.
    pub patch: Option<Box<PatchFacts>>,
}

impl Program {
    /// A routine of the driver's own: a verified function, how its input words differ from lane to lane, and how many output
    /// words it has, which are anything for lanes that do not run to its end. Its code is not generated yet.
    pub fn routine(function: Function, inputs: &[Across], outputs: usize) -> Self {
        let slot = |word: usize| Slot::Location { location: word as u32, component: 0, index: 0 };
        let input = |word| InputSlot {
            slot: slot(word),
            ty: Type::I32,
            interpolation: Interpolation::Flat,
            place: Place::Center,
        };
        Self {
            stage: vk::ShaderStageFlags::empty(),
            code: Executable::new(function, |slot| inputs[slot as usize]).with_outputs_filled(),
            pair: None,
            inputs: (0..inputs.len()).map(input).collect(),
            outputs: (0..outputs).map(|word| OutputSlot { slot: slot(word), ty: Type::I32, feedback: None }).collect(),
            resources: Vec::new(),
            images: 0,
            shared_bytes: 0,
            local_size: [1; 3],
            in_squares: false,
            groups_in_wave: 1,
            inlined: Inlined::default(),
            before: None,
            fragment: FragmentFacts::default(),
            geometry: None,
            mesh: None,
            patch: None,
        }
    }

    /// Whether programs of a stage run as they are. Of vertex and fragment programs kernels are made (`geometry::kernel`,
    /// `pixel::kernel`).
    pub fn runs_itself(stage: vk::ShaderStageFlags) -> bool {
        stage
            .intersects(vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT)
    }

    /// Generates the code of a program that runs as it is, for a target; without one it is interpreted.
    ///
    /// # Errors
    /// When the function is beyond the generator, or there is no executable memory; it is then interpreted.
    pub fn generate(&mut self, target: Option<Target>) -> Result<(), String> {
        self.share_waves();
        self.code.generate(target)?;
        self.pair = self.paired(target);
        match &mut self.pair {
            Some(pair) => pair.code.generate(target),
            None => Ok(()),
        }
    }

    /// The same for the target that the knob chooses; what is beyond the generator is interpreted, with a warning. `entry` is
    /// the entry point's name, for tools.
    pub(super) fn generate_chosen(&mut self, entry: &str) {
        if Self::runs_itself(self.stage) {
            self.share_waves();
            self.generate_unshared(entry);
        }
    }

    /// The same where workgroups have waves of their own.
    pub(super) fn generate_unshared(&mut self, entry: &str) {
        if !Self::runs_itself(self.stage) {
            return;
        }
        self.code.generate_chosen(self.stage, entry);
        self.pair = self.paired(Target::chosen());
        if let Some(pair) = &mut self.pair {
            pair.code.generate_chosen(self.stage, entry);
        }
    }

    /// Lets workgroups of few invocations share waves, where they may.
    fn share_waves(&mut self) {
        let invocations: u32 = self.local_size.iter().product();
        let groups = WAVE as u32 / invocations.max(1);
        let knows_waves = |input: &InputSlot| matches!(input.slot, Slot::Builtin(Builtin::SubgroupId, _));
        let is_plain = self.stage == vk::ShaderStageFlags::COMPUTE && self.shared_bytes == 0 && !self.in_squares;
        if groups < 2 || !is_plain || self.inputs.iter().any(knows_waves) || !may_share(&self.code.function().insts) {
            return;
        }
        self.groups_in_wave = groups;
        let across = |slot: u32| match self.inputs[slot as usize].slot {
            Slot::Builtin(Builtin::NumWorkgroups, _) => Across::Same,
            _ => Across::Varies,
        };
        self.code = Executable::new(self.code.function().clone(), across);
    }

    /// Two waves of a workgroup as one, where groups are made of such pairs.
    fn paired(&self, target: Option<Target>) -> Option<Box<Self>> {
        let invocations: u32 = self.local_size.iter().product();
        // Two registers hold a wave of AVX2, which so is a pair already.
        if target != Some(Target::Avx512) || self.shared_bytes > 0 || !invocations.is_multiple_of(2 * WAVE as u32) {
            return None;
        }
        let words = (self.inputs.len() as u32, self.outputs.len() as u32);
        let same = |slot: u32| {
            let slot = self.inputs[slot as usize].slot;
            matches!(slot, Slot::Builtin(Builtin::NumWorkgroups | Builtin::WorkgroupId, _))
        };
        let function = pair::run(self.code.function(), words, Effects::Allowed, same)?;
        let across: Vec<Across> =
            self.inputs.iter().map(|input| input.slot.across(self.local_size, self.in_squares)).collect();
        let program = Self::routine(function, &across.repeat(2), 2 * self.outputs.len());
        Some(Box::new(Self { stage: self.stage, images: self.images, ..program }))
    }

    /// The same fragment program, whose fragments of a pixel follow one another: each is shaded, tested and written before the next one is
    /// shaded, as if it locked its pixel for something that others see.
    pub fn in_order(&self) -> Self {
        let facts = FragmentFacts { interlock: true, side_effects: true, ..self.fragment };
        self.as_fragment(facts, self.outputs.clone())
    }

    /// The same fragment program, whose colours go to other attachments: that of location `locations[n]` to attachment `n`, one that is not
    /// named to none. Source: `VkRenderingAttachmentLocationInfo`.
    pub fn with_colors_moved(&self, locations: &[u32]) -> Self {
        let attachment = |location: u32| locations.iter().position(|&named| named == location);
        // Behind all attachments there are.
        let moved = |location: u32| attachment(location).map_or(u32::MAX - location, |attachment| attachment as u32);
        let output = |output: &OutputSlot| match output.slot {
            Slot::Location { location, component, index } => {
                OutputSlot { slot: Slot::Location { location: moved(location), component, index }, ..*output }
            }
            Slot::Builtin(..) => *output,
        };
        let facts = FragmentFacts { first_color: moved(self.fragment.first_color), ..self.fragment };
        self.as_fragment(facts, self.outputs.iter().map(output).collect())
    }

    /// The same fragment program with other facts and outputs.
    fn as_fragment(&self, fragment: FragmentFacts, outputs: Vec<OutputSlot>) -> Self {
        Self { fragment, outputs, ..self.with_function(self.code.function().clone()) }
    }

    /// A program of fragments, or of workgroups that share no waves, that does the same by another function.
    pub(super) fn with_function(&self, function: Function) -> Self {
        let input = |slot: u32| self.inputs[slot as usize].slot.across(self.local_size, self.in_squares);
        Self {
            stage: self.stage,
            code: Executable::new(function, input),
            pair: None,
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            resources: self.resources.clone(),
            images: self.images,
            shared_bytes: self.shared_bytes,
            local_size: self.local_size,
            in_squares: self.in_squares,
            groups_in_wave: 1,
            inlined: Inlined::default(),
            before: None,
            fragment: self.fragment,
            geometry: None,
            mesh: None,
            patch: None,
        }
    }

    /// Its function, or what that was before routines were put into it: what those do shows nowhere but in their results.
    pub fn without_routines(&self) -> &Function {
        self.before.as_deref().unwrap_or(self.code.function())
    }

    /// Whether it writes memory that it finds by address.
    pub fn stores_by_address(&self) -> bool {
        let stores = |inst: &Inst| match inst {
            Inst::Store { space, .. } | Inst::StorePart { space, .. } | Inst::Atomic { space, .. } => {
                matches!(space, Space::Address { .. })
            }
            Inst::Atomic64(atomic) => matches!(atomic.space, Space::Address { .. }),
            _ => false,
        };
        self.code.function().insts.iter().any(stores)
    }

    /// The output word that is `slot`.
    pub fn output(&self, slot: Slot) -> Option<usize> {
        self.outputs.iter().position(|output| output.slot == slot)
    }

    /// Whether what it computes depends on which invocations share its wave.
    pub fn looks_across(&self) -> bool {
        let sees = |input: &InputSlot| {
            let Slot::Builtin(builtin, _) = input.slot else { return false };
            use Builtin as B;
            matches!(
                builtin,
                B::SubgroupLocalInvocationId
                    | B::SubgroupEqMask
                    | B::SubgroupGeMask
                    | B::SubgroupGtMask
                    | B::SubgroupLeMask
                    | B::SubgroupLtMask
            )
        };
        let looks = |inst: &Inst| matches!(inst, Inst::IsActive { .. } | Inst::Ballot { .. } | Inst::Shuffle { .. });
        self.inputs.iter().any(sees) || self.code.function().insts.iter().any(looks)
    }

    /// Whether it says which viewport and layer its primitives go to.
    pub fn routes(&self) -> bool {
        [Builtin::ViewportIndex, Builtin::Layer].iter().any(|&builtin| self.output_builtin(builtin, 0).is_some())
    }

    /// The output word that is word `component` of a built-in.
    pub fn output_builtin(&self, builtin: Builtin, component: u32) -> Option<usize> {
        self.output(Slot::Builtin(builtin, component))
    }
}
