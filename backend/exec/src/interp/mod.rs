//! The wave interpreter: the oracle every code generator is checked against.
//!
//! A wave is 16 lanes. Its state (program counter, lane masks, registers) is explicit, so that it stops at a barrier and
//! goes on later. Lanes that leave a region early are *gone* until the region they left for ends; killed lanes stay gone.
//! An instruction under an empty mask is skipped by jumping to the end of its region. Values are computed in all lanes; what
//! a lane keeps while it is inactive is in locals (see `passes::closure`), and stores to them are masked unless marked.

mod jumps;
mod wave;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ash::vk;
use vitric_codegen as x64;
use vitric_ir::passes::uniformity::Uniformity;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Function, Inst, Space};

use super::runtime::native::Native;
use super::runtime::symbols::Tools;

pub use wave::{Runs, Wave, run_together};

pub use super::runtime::{Deadline, Environment, Stop, Working};
use vitric_base::simd::{Lanes, Mask, Vectors, WAVE};

/// A function prepared for interpretation: every marker knows where to jump.
#[derive(Debug, Default)]
pub struct Executable {
    function: Function,
    uniformity: Uniformity,
    native: Option<Native>,
    jumps: Vec<u32>,
    local_bases: Vec<u32>,
    local_words: u32,
    constants: usize,
    has_barrier: bool,
    has_loop: bool,
    reads_push: bool,
    options: x64::CodegenOptions,
}

impl Executable {
    /// Prepares a verified function. `input` tells how the word of an input slot differs from lane to lane.
    pub fn new(mut function: Function, input: impl Fn(u32) -> LaneVariance) -> Self {
        let uniformity = passes::prepare(&mut function, input);
        let jumps = jumps::targets(&function.insts);
        let mut local_words = 0;
        let mut local_bases = Vec::with_capacity(function.locals.len());
        for words in &function.locals {
            local_bases.push(local_words);
            local_words += words;
        }
        let constants = function.insts.iter().take_while(|inst| matches!(inst, Inst::Const { .. })).count();
        let has_barrier = function.insts.contains(&Inst::Barrier);
        let has_loop = function.insts.contains(&Inst::Loop);
        let of_push = |inst: &Inst| matches!(inst, Inst::Load { space: Space::Push | Space::Levels(_), .. });
        let reads_push = function.insts.iter().any(of_push);
        let (native, options) = Default::default();
        Self {
            function,
            uniformity,
            native,
            jumps,
            local_bases,
            local_words,
            constants,
            has_barrier,
            has_loop,
            reads_push,
            options,
        }
    }

    /// Where lanes that do not run to the end have anything as outputs.
    #[inline]
    pub fn with_outputs_filled(self) -> Self {
        let options = x64::CodegenOptions { outputs: x64::Outputs::Filled, ..self.options };
        Self { options, ..self }
    }

    /// Where all lanes run, none of them as a helper.
    #[inline]
    pub fn with_all_lanes(self) -> Self {
        let options = x64::CodegenOptions { with_all_lanes: true, ..self.options };
        Self { options, ..self }
    }

    /// Whether it reads push constants, or what draws tell their programs beside them.
    #[inline]
    pub fn reads_push(&self) -> bool {
        self.reads_push
    }

    /// Generates code for a target, or goes back to being interpreted.
    ///
    /// # Errors
    /// When the function is beyond the generator, or there is no executable memory; it is then interpreted.
    pub fn generate(&mut self, target: Option<x64::Target>) -> Result<(), String> {
        self.native = None;
        if let Some(target) = target {
            let generated = x64::generate(&self.function, &self.uniformity, self.options, target)?;
            let routines = self.function.routines.clone();
            self.native = Some(Native::new(generated, routines).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Generates code for the target that the knob chooses; what is beyond the generator is interpreted, with a warning. The code
    /// is known to tools by its stage and entry point and a digest of its IR, which is the same for all targets.
    pub fn generate_chosen(&mut self, stage: vk::ShaderStageFlags, entry: &str) {
        if let Err(problem) = self.generate(x64::Target::chosen()) {
            log::warn!("entry point {entry:?} is interpreted: {problem}");
        }
        if let Some(native) = self.native.as_mut().filter(|_| Tools::chosen().any()) {
            native.announce(Tools::chosen(), &symbol(stage, entry, &self.function));
        }
    }

    /// The generated code.
    #[inline]
    pub fn native(&self) -> Option<&Native> {
        self.native.as_ref()
    }

    /// The IR.
    #[inline]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// What is the same in all lanes.
    #[inline]
    pub fn uniformity(&self) -> &Uniformity {
        &self.uniformity
    }

    /// Returns true if it has a loop.
    #[inline]
    pub fn has_loop(&self) -> bool {
        self.has_loop
    }

    /// Whether waves of a workgroup wait for each other.
    #[inline]
    pub fn has_barrier(&self) -> bool {
        self.has_barrier
    }
}

/// The name of a program's code.
fn symbol(stage: vk::ShaderStageFlags, entry: &str, function: &Function) -> String {
    let mut hasher = DefaultHasher::new();
    function.to_string().hash(&mut hasher);
    let stage = format!("{stage:?}").to_ascii_lowercase();
    format!("vitric::{stage} {entry} ({:016x})", hasher.finish())
}

#[cfg(test)]
mod tests;
