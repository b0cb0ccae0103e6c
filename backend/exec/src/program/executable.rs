//! Functions with their code.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ash::vk;
use vitric_codegen as x64;
use vitric_ir::passes::uniformity::Uniformity;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Function, Inst, Space};

use super::jumps;
use crate::runtime::native::Native;
use crate::runtime::symbols::Tools;

/// Function prepared for execution, with the jump target of every marker.
#[derive(Debug, Default)]
pub struct Executable {
    pub(crate) function: Function,
    pub(crate) uniformity: Uniformity,
    native: Option<Native>,
    /// Jump targets by instruction, for the interpreter.
    pub(crate) jumps: Vec<u32>,
    /// First word of each local in the locals of a wave.
    pub(crate) local_bases: Vec<u32>,
    /// Number of words of all locals.
    pub(crate) local_words: u32,
    /// Number of constants, which are the first instructions.
    pub(crate) constants: usize,
    has_barrier: bool,
    has_loop: bool,
    reads_push: bool,
    options: x64::CodegenOptions,
}

impl Executable {
    /// Prepares a verified function. `input` returns how the word of an input slot varies between
    /// lanes.
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

    /// Makes output words undefined in lanes that do not run to the end.
    #[inline]
    pub fn with_outputs_filled(self) -> Self {
        let options = x64::CodegenOptions { outputs: x64::Outputs::Filled, ..self.options };
        Self { options, ..self }
    }

    /// Assumes that all lanes run and that none is a helper.
    #[inline]
    pub fn with_all_lanes(self) -> Self {
        let options = x64::CodegenOptions { with_all_lanes: true, ..self.options };
        Self { options, ..self }
    }

    /// Returns true if the function reads push constants or the internal parameters after them.
    #[inline]
    pub fn reads_push(&self) -> bool {
        self.reads_push
    }

    /// Generates code for a target, or returns to interpretation if `target` is `None`.
    ///
    /// # Errors
    /// Returns an error if the generator does not support the function, or if there is no
    /// executable memory. The function is then interpreted.
    pub fn generate(&mut self, target: Option<x64::Target>) -> Result<(), String> {
        self.native = None;
        if let Some(target) = target {
            let generated = x64::generate(&self.function, &self.uniformity, self.options, target)?;
            let routines = self.function.routines.clone();
            self.native = Some(Native::new(generated, routines).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Generates code for the target that the configuration selects. If the generator does not
    /// support the function, it is interpreted and a warning is logged.
    ///
    /// The code's name in tools consists of the stage, the entry point and a digest of the IR. It
    /// does not depend on the target.
    pub fn generate_chosen(&mut self, stage: vk::ShaderStageFlags, entry: &str) {
        if let Err(problem) = self.generate(x64::Target::chosen()) {
            log::warn!("entry point {entry:?} is interpreted: {problem}");
        }
        if let Some(native) = self.native.as_mut().filter(|_| Tools::chosen().any()) {
            native.announce(Tools::chosen(), &symbol(stage, entry, &self.function));
        }
    }

    /// Returns the generated code, if there is any.
    #[inline]
    pub fn native(&self) -> Option<&Native> {
        self.native.as_ref()
    }

    /// Returns the IR.
    #[inline]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Returns which values are equal in all lanes.
    #[inline]
    pub fn uniformity(&self) -> &Uniformity {
        &self.uniformity
    }

    /// Returns true if the function has a loop.
    #[inline]
    pub fn has_loop(&self) -> bool {
        self.has_loop
    }

    /// Returns true if the function has a barrier.
    #[inline]
    pub fn has_barrier(&self) -> bool {
        self.has_barrier
    }
}

/// Returns the name of a program's code in tools.
fn symbol(stage: vk::ShaderStageFlags, entry: &str, function: &Function) -> String {
    let mut hasher = DefaultHasher::new();
    function.to_string().hash(&mut hasher);
    let stage = format!("{stage:?}").to_ascii_lowercase();
    format!("vitric::{stage} {entry} ({:016x})", hasher.finish())
}
