//! Programs: shaders ready to run, and routines of the driver's own.

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
use vitric_ir::{Function, Inst, Space, Type};

use super::inline::Inlined;
use super::interp::Executable;

/// A program of one stage, ready to run.
#[derive(Debug)]
pub struct Program {
    /// Its interface.
    pub interface: Interface,
    /// The code.
    pub code: Executable,
    /// The same for two waves at once, where that pays: input words of the second wave follow those of the first.
    pub pair: Option<Box<Program>>,
    /// Compute programs: workgroups that share a wave, one behind the other; 1 where each has its own.
    pub groups_in_wave: u32,
    /// What it has become with routines in it.
    pub inlined: Inlined,
    /// Programs with routines in them: the function that it was before.
    pub before: Option<Box<Function>>,
}

impl PartialEq for Program {
    /// Returns true if both are one program: programs of the same text are not the same.
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
    /// Makes a shader ready to run. Its code is not generated yet: it is interpreted.
    #[inline]
    pub fn interpreted(shader: Shader) -> Self {
        let Shader { interface, function } = shader;
        let code = Executable::new(function, |slot| interface.variance(slot));
        Self::with_code(interface, code)
    }

    /// Makes a shader ready to run and generates its code, for the target that the knob chooses. A function that is beyond the
    /// generator is interpreted, with a warning. `entry` is the entry point's name, for tools.
    #[inline]
    pub fn new(shader: Shader, entry: &str) -> Self {
        let mut program = Self::interpreted(shader);
        program.generate_chosen(entry);
        program
    }

    fn with_code(interface: Interface, code: Executable) -> Self {
        Self { interface, code, pair: None, groups_in_wave: 1, inlined: Inlined::default(), before: None }
    }

    /// Returns the program's shader as text, which [`Shader::from_text`] reads.
    #[inline]
    pub fn to_text(&self) -> String {
        self.interface.to_text(self.code.function())
    }

    /// A routine of the driver's own: a verified function, how its input words differ from lane to lane, and how many output
    /// words it has, which are anything for lanes that do not run to its end. Its code is not generated yet.
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

    /// Whether programs of a stage run as they are. Of vertex and fragment programs kernels are made (`geometry::kernel`,
    /// `pixel::kernel`).
    #[inline]
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
            pair.code.generate_chosen(self.interface.stage, entry);
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
        let variance = |slot: u32| match self.inputs[slot as usize].slot {
            Slot::Builtin(Builtin::NumWorkgroups, _) => LaneVariance::Uniform,
            _ => LaneVariance::Divergent,
        };
        self.code = Executable::new(self.code.function().clone(), variance);
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
        let variance: Vec<LaneVariance> = (0..self.inputs.len() as u32).map(|slot| self.variance(slot)).collect();
        let mut program = Self::routine(function, &variance.repeat(2), 2 * self.outputs.len());
        (program.stage, program.images) = (self.stage, self.images);
        Some(Box::new(program))
    }

    /// The same fragment program, whose fragments of a pixel follow one another: each is shaded, tested and written before the next one is
    /// shaded, as if it locked its pixel for something that others see.
    #[inline]
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
        let mut program = self.with_function(self.code.function().clone());
        (program.fragment, program.outputs) = (fragment, outputs);
        program
    }

    /// A program of fragments, or of workgroups that share no waves, that does the same by another function.
    pub(super) fn with_function(&self, function: Function) -> Self {
        let interface = Interface { geometry: None, mesh: None, patch: None, ..self.interface.clone() };
        let code = Executable::new(function, |slot| interface.variance(slot));
        Self::with_code(interface, code)
    }

    /// Its function, or what that was before routines were put into it: what those do shows nowhere but in their results.
    #[inline]
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
}
