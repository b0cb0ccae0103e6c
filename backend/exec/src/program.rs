//! Programs: shaders and internal routines, ready to run.

mod executable;
mod jumps;
mod variants;

use std::ops::{Deref, DerefMut};

use ash::vk;
use vitric_base::simd::WAVE;
use vitric_codegen::Target;
use vitric_ir::interface::{
    Builtin, FragmentFacts, InputSlot, Interface, Interpolation, OutputSlot, Place, Shader, Slot,
};
use vitric_ir::passes::LaneVariance;
use vitric_ir::passes::pair::{self, Effects};
use vitric_ir::passes::sharing::may_share;
use vitric_ir::{Effect, Function, Inst, Space, Type};

pub use executable::Executable;
pub use variants::Inlined;

/// Program of one stage, ready to run.
#[derive(Debug)]
pub struct Program {
    /// Interface of the program.
    pub interface: Interface,
    /// Code of the program.
    pub code: Executable,
    /// Program that runs two waves at once, if that is faster. The second wave's input words
    /// follow the first wave's.
    pub pair: Option<Box<Program>>,
    /// For compute programs, the number of consecutive workgroups that share a wave, or 1 if each
    /// workgroup has its own waves.
    pub groups_in_wave: u32,
    /// Variants with inlined routines.
    pub inlined: Inlined,
    /// For a program with inlined routines, the function before inlining.
    pub before_inlining: Option<Box<Function>>,
}

impl PartialEq for Program {
    /// Returns true if both are the same object. Two programs with equal text are different.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Deref for Program {
    type Target = Interface;

    fn deref(&self) -> &Interface {
        &self.interface
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut Interface {
        &mut self.interface
    }
}

impl Program {
    /// Creates a program from a shader. It is interpreted until its code is generated.
    #[inline]
    pub fn interpreted(shader: Shader) -> Self {
        let Shader { interface, function } = shader;
        let code = Executable::new(function, |slot| interface.variance(slot));
        Self::with_code(interface, code)
    }

    /// Creates a program from a shader and generates code for the target that the configuration
    /// selects. If the generator does not support the function, the program is interpreted and a
    /// warning is logged. `entry` is the name of the entry point, for tools.
    #[inline]
    pub fn new(shader: Shader, entry: &str) -> Self {
        let mut program = Self::interpreted(shader);
        program.generate_chosen(entry);
        program
    }

    fn with_code(interface: Interface, code: Executable) -> Self {
        Self { interface, code, pair: None, groups_in_wave: 1, inlined: Inlined::default(), before_inlining: None }
    }

    /// Returns the program's shader as text, which [`Shader::from_text`] reads.
    #[inline]
    pub fn to_text(&self) -> String {
        self.interface.to_text(self.code.function())
    }

    /// Creates an internal routine from a verified function. Its code is not generated yet.
    ///
    /// `inputs` says how each input word varies between lanes. `outputs` is the number of output
    /// words. Output words are undefined in lanes that do not run to the end.
    pub fn routine(function: Function, inputs: &[LaneVariance], outputs: usize) -> Self {
        let slot = |word: usize| Slot::Location { location: word as u32, component: 0, index: 0 };
        let input = |word| InputSlot {
            slot: slot(word),
            ty: Type::I32,
            interpolation: Interpolation::Flat,
            place: Place::Center,
        };
        let interface = Interface {
            inputs: (0..inputs.len()).map(input).collect(),
            outputs: (0..outputs).map(|word| OutputSlot { slot: slot(word), ty: Type::I32, feedback: None }).collect(),
            ..Interface::new(vk::ShaderStageFlags::empty())
        };
        Self::with_code(interface, Executable::new(function, |slot| inputs[slot as usize]).with_outputs_filled())
    }

    /// Returns true if programs of a stage run directly. Vertex and fragment programs run as part
    /// of kernels (`geometry::kernel`, `pixel::kernel`).
    #[inline]
    pub fn runs_directly(stage: vk::ShaderStageFlags) -> bool {
        stage
            .intersects(vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT)
    }

    /// Generates code for a target, or sets the program up for interpretation if `target` is
    /// `None`. The program must be one that runs directly.
    ///
    /// # Errors
    /// Returns an error if the generator does not support the function, or if there is no
    /// executable memory. The program is then interpreted.
    pub fn generate(&mut self, target: Option<Target>) -> Result<(), String> {
        self.share_waves();
        self.code.generate(target)?;
        self.pair = self.paired(target);
        match &mut self.pair {
            Some(pair) => pair.code.generate(target),
            None => Ok(()),
        }
    }

    /// Generates code for the target that the configuration selects. If the generator does not
    /// support the function, the program is interpreted and a warning is logged. `entry` is the
    /// name of the entry point, for tools.
    pub(super) fn generate_chosen(&mut self, entry: &str) {
        if Self::runs_directly(self.stage) {
            self.share_waves();
            self.generate_unshared(entry);
        }
    }

    /// Generates code as [`Self::generate_chosen`] does, without letting workgroups share waves.
    pub(super) fn generate_unshared(&mut self, entry: &str) {
        if !Self::runs_directly(self.stage) {
            return;
        }
        self.code.generate_chosen(self.stage, entry);
        self.pair = self.paired(Target::chosen());
        if let Some(pair) = &mut self.pair {
            pair.code.generate_chosen(self.interface.stage, entry);
        }
    }

    /// Lets several small workgroups share a wave, where the program permits it.
    fn share_waves(&mut self) {
        let invocations: u32 = self.local_size.iter().product();
        let groups = WAVE as u32 / invocations.max(1);
        let knows_waves = |input: &InputSlot| matches!(input.slot, Slot::Builtin(Builtin::SubgroupId, _));
        let is_plain = self.stage == vk::ShaderStageFlags::COMPUTE && self.shared_bytes == 0 && !self.in_squares;
        if groups < 2 || !is_plain || self.inputs.iter().any(knows_waves) || !may_share(&self.code.function().insts) {
            return;
        }
        self.groups_in_wave = groups;
        let variance = |slot: u32| match self.inputs[slot as usize].slot {
            Slot::Builtin(Builtin::NumWorkgroups, _) => LaneVariance::Uniform,
            _ => LaneVariance::Divergent,
        };
        self.code = Executable::new(self.code.function().clone(), variance);
    }

    /// Returns a program that runs two waves of a workgroup at once, if every workgroup has an
    /// even number of full waves.
    fn paired(&self, target: Option<Target>) -> Option<Box<Self>> {
        let invocations: u32 = self.local_size.iter().product();
        // On AVX2 a value of one wave already takes two registers, so pairs gain nothing.
        if target != Some(Target::Avx512) || self.shared_bytes > 0 || !invocations.is_multiple_of(2 * WAVE as u32) {
            return None;
        }
        let words = (self.inputs.len() as u32, self.outputs.len() as u32);
        let same = |slot: u32| {
            let slot = self.inputs[slot as usize].slot;
            matches!(slot, Slot::Builtin(Builtin::NumWorkgroups | Builtin::WorkgroupId, _))
        };
        let function = pair::run(self.code.function(), words, Effects::Allowed, same)?;
        let variance: Vec<LaneVariance> = (0..self.inputs.len() as u32).map(|slot| self.variance(slot)).collect();
        let mut program = Self::routine(function, &variance.repeat(2), 2 * self.outputs.len());
        (program.stage, program.images) = (self.stage, self.images);
        Some(Box::new(program))
    }

    /// Returns this fragment program with pixel interlock. A fragment is shaded, tested and
    /// written before the next one of its pixel, as if the program locked its pixel for side
    /// effects.
    #[inline]
    pub fn with_interlock(&self) -> Self {
        let facts = FragmentFacts { interlock: true, side_effects: true, ..self.fragment };
        self.as_fragment(facts, self.outputs.clone())
    }

    /// Returns this fragment program with its colours redirected. Location `locations[n]` goes to
    /// attachment `n`, and the colours of other locations are dropped. Source:
    /// `VkRenderingAttachmentLocationInfo`.
    pub fn with_colors_moved(&self, locations: &[u32]) -> Self {
        let attachment = |location: u32| locations.iter().position(|&named| named == location);
        // Dropped colours get locations beyond the last attachment.
        let moved = |location: u32| attachment(location).map_or(u32::MAX - location, |attachment| attachment as u32);
        let output = |output: &OutputSlot| match output.slot {
            Slot::Location { location, component, index } => {
                OutputSlot { slot: Slot::Location { location: moved(location), component, index }, ..*output }
            }
            Slot::Builtin(..) => *output,
        };
        let attachments = std::array::from_fn(|location| moved(location as u32));
        let facts = FragmentFacts { color_attachments: Some(attachments), ..self.fragment };
        self.as_fragment(facts, self.outputs.iter().map(output).collect())
    }

    /// Returns this fragment program with other facts and outputs.
    fn as_fragment(&self, fragment: FragmentFacts, outputs: Vec<OutputSlot>) -> Self {
        let mut program = self.with_function(self.code.function().clone());
        (program.fragment, program.outputs) = (fragment, outputs);
        program
    }

    /// Returns this program with another function of the same effect. The program must be a
    /// fragment program, or its workgroups must not share waves.
    pub(super) fn with_function(&self, function: Function) -> Self {
        let interface = Interface { geometry: None, mesh: None, patch: None, ..self.interface.clone() };
        let code = Executable::new(function, |slot| interface.variance(slot));
        Self::with_code(interface, code)
    }

    /// Returns the program's function before routines were inlined. The routines have no effect
    /// besides their results.
    #[inline]
    pub fn without_routines(&self) -> &Function {
        self.before_inlining.as_deref().unwrap_or(self.code.function())
    }

    /// Returns true if the program writes memory by address.
    pub fn stores_by_address(&self) -> bool {
        let stores =
            |inst: &Inst| inst.effect() == Effect::Memory && matches!(inst.space(), Some(Space::Address { .. }));
        self.code.function().insts.iter().any(stores)
    }

    /// Returns true if the program may write a resource. Programs before rasterization list
    /// resources of other programs, so that each of their resources counts as written if one of
    /// the programs has side effects.
    pub fn writes(&self, resource: u32) -> bool {
        let has_own_code = vk::ShaderStageFlags::FRAGMENT | vk::ShaderStageFlags::COMPUTE;
        if !self.stage.intersects(has_own_code) {
            return self.fragment.side_effects;
        }
        let writes = |inst: &Inst| match inst {
            Inst::Image(image) => image.resource == resource,
            _ => inst.space().and_then(|space| space.resource()) == Some(resource),
        };
        let mut insts = self.code.function().insts.iter();
        insts.any(|inst| inst.effect() == Effect::Memory && writes(inst))
    }

    /// Returns true if the program's results depend on which invocations share its wave.
    pub fn depends_on_wave(&self) -> bool {
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
        let looks = |inst: &Inst| {
            let is_matrix = matches!(inst, Inst::MatrixLoad(_) | Inst::MatrixStore(_) | Inst::MatrixMultiply(_));
            is_matrix || matches!(inst, Inst::IsActive { .. } | Inst::Ballot { .. } | Inst::Shuffle { .. })
        };
        self.inputs.iter().any(sees) || self.code.function().insts.iter().any(looks)
    }
}
