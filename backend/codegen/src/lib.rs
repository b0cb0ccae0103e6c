//! The code generator for x86-64: IR to machine code over waves of 16 lanes.
//!
//! `lower` turns verified IR into machine IR in native widths, `allocate` assigns registers (regalloc2), `encode` writes
//! bytes (iced-x86). Two targets: AVX-512 holds a wave in one vector register and lane masks in k registers; AVX2 with FMA
//! holds it in two and masks as lanes of ones. What is uniform lies in general registers, or in one vector for both halves.
//!
//! Everything computes the same bits as the interpreter, which is the oracle; what has no short sequence of instructions
//! is a call to the interpreter's own routine (`runtime::native`).

mod allocate;
mod encode;
pub mod frame;
mod listing;
mod lower;
mod machine;
mod operands;
mod table;

use std::sync::OnceLock;

use iced_x86::{Code, Register};
use regalloc2::Algorithm;
use vitric_base::simd::WAVE;
use vitric_base::{host_memory, knobs};
use vitric_ir::passes::uniformity::Uniformity;
use vitric_ir::{Function, Inst, Space};

pub use encode::Encoded;
pub use listing::disassemble;

/// Instructions of IR from which on registers are allocated the fast way.
const MAX_FOR_ION: usize = 6000;
/// Instructions that the margin of the host's memory is enough for.
const FEW: usize = 2000;
/// Bytes that generating code takes for an instruction, at most.
const GENERATED_BYTES: usize = 2 << 10;

/// What code is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// AVX-512 F, CD, BW, DQ, VL, with what AVX2 machines have.
    Avx512,
    /// AVX2, FMA, F16C, BMI1, BMI2 and POPCNT.
    Avx2,
}

impl Target {
    /// Whether this machine runs it: the processor's features, and a host whose calls are the System V ABI's.
    pub fn is_supported(self) -> bool {
        #[cfg(all(target_arch = "x86_64", unix))]
        {
            use std::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("popcnt");
            let avx512 =
                has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("avx512cd");
            avx2 && (self == Self::Avx2 || avx512)
        }
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        false
    }

    /// The best target of this machine.
    pub fn best() -> Option<Self> {
        [Self::Avx512, Self::Avx2].into_iter().find(|target| target.is_supported())
    }

    /// The target that the knob `VITRIC_CODEGEN` chooses; none means the interpreter. A target that the machine does not
    /// have gives way to the best it has.
    #[inline]
    pub fn chosen() -> Option<Self> {
        static CHOSEN: OnceLock<Option<Target>> = OnceLock::new();
        *CHOSEN.get_or_init(Self::choose)
    }

    fn choose() -> Option<Self> {
        let wanted = match knobs::values().text("VITRIC_CODEGEN") {
            "interp" => return None,
            "avx512" => Some(Self::Avx512),
            "avx2" => Some(Self::Avx2),
            _ => Self::best(),
        };
        if let Some(target) = wanted.filter(|target| !target.is_supported()) {
            log::warn!("this machine does not run {target:?} code: VITRIC_CODEGEN falls back to {:?}", Self::best());
            return Self::best();
        }
        wanted
    }

    /// Bytes of a vector register.
    fn vector_bytes(self) -> usize {
        match self {
            Self::Avx512 => 64,
            Self::Avx2 => 32,
        }
    }

    /// Vector registers.
    fn vector_count(self) -> usize {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
        }
    }

    /// Vectors that a wave takes.
    fn parts(self) -> usize {
        match self {
            Self::Avx512 => 1,
            Self::Avx2 => 2,
        }
    }

    /// Whether words at sixteen places are loaded one by one, since gathers take longer: with AVX2, and on AMD's processors, which alone
    /// have SSE4a (Zen 4: sixteen words 10.4 ns by a gather, 6.4 by loads).
    fn loads_by_lane(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let is_amd = std::is_x86_feature_detected!("sse4a");
        #[cfg(not(target_arch = "x86_64"))]
        let is_amd = false;
        self == Self::Avx2 || is_amd
    }

    fn vector(self, number: usize) -> Register {
        let first = match self {
            Self::Avx512 => Register::ZMM0,
            Self::Avx2 => Register::YMM0,
        };
        first + number as u32
    }

    /// Vector from memory.
    fn load(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            Self::Avx2 => Code::VEX_Vmovups_ymm_ymmm256,
        }
    }

    /// Vector to memory.
    fn store(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            Self::Avx2 => Code::VEX_Vmovups_ymmm256_ymm,
        }
    }

    /// Vector to vector.
    fn r#move(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
            Self::Avx2 => Code::VEX_Vmovaps_ymm_ymmm256,
        }
    }
}

/// An instruction that generated code leaves to the runtime.
#[derive(Debug, Clone)]
pub struct Site {
    /// The instruction; its operands are numbered by argument.
    pub inst: Inst,
    /// Whether its operands are the same in all lanes.
    pub uniform: bool,
    /// The number of an image instruction whose lanes all name one image and one sampler: its routine may be entered from here.
    pub one_image: Option<u32>,
    /// Where the frame is to remember in which range of addresses it found memory.
    pub reach: Option<u32>,
}

impl Site {
    fn new(inst: Inst, uniform: bool) -> Self {
        let one_image = match &inst {
            Inst::Image(image) if !image.op.is_query() => {
                let is_one = image.element.is_none() && image.sampler.is_none_or(|(_, element)| element.is_none());
                is_one.then_some(image.number)
            }
            _ => None,
        };
        Self { inst, uniform, one_image, reach: None }
    }
}

/// A function's code and what it needs.
#[derive(Debug, Clone)]
pub struct Generated {
    /// What runs it.
    pub target: Target,
    /// Bytes.
    pub code: Encoded,
    /// Call sites, by number.
    pub sites: Vec<Site>,
    /// Bytes of indexed locals, which follow the frame's header; the spill slots follow them.
    pub local_bytes: usize,
    /// Words that parameters must have, of which it reads every [`WAVE`]th.
    pub parameters: usize,
    /// Words of input that it reads.
    pub inputs: usize,
    /// Words of output that it writes.
    pub outputs: usize,
    /// Ranges that it reaches.
    pub ranges: usize,
    /// Bytes that push constants must have.
    pub pushed_bytes: usize,
    /// Whether it must run with all lanes, none of them as a helper.
    pub with_all_lanes: bool,
}

/// How code is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodegenOptions {
    /// What is expected of outputs.
    pub outputs: Outputs,
    /// Whether all lanes run, none of them as a helper.
    pub with_all_lanes: bool,
}

/// What lanes that do not run to a program's end find in its outputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outputs {
    /// What was there.
    #[default]
    Kept,
    /// Anything.
    Filled,
}

/// Generates code for a function that `passes::prepare` made ready.
///
/// # Errors
/// When the function is beyond the generator; a sentence for the log. It is then interpreted.
pub fn generate(
    function: &Function,
    uniformity: &Uniformity,
    options: CodegenOptions,
    target: Target,
) -> Result<Generated, String> {
    // The better allocator takes more than linear time when much is spilled.
    let algorithm = if function.insts.len() > MAX_FOR_ION { Algorithm::Fastalloc } else { Algorithm::Ion };
    if function.insts.len() > FEW && !host_memory::has_room(function.insts.len() * GENERATED_BYTES) {
        return Err("the host has too little memory to generate code".into());
    }
    generate_with((function, uniformity, options), target, algorithm)
}

/// The machine IR of a function as text, before registers are allocated.
///
/// # Errors
/// As [`generate`].
pub fn machine_text(function: &Function, uniformity: &Uniformity, target: Target) -> Result<String, String> {
    let lowered = lower::lower(function, uniformity, CodegenOptions::default(), target)?;
    Ok(listing::machine(&lowered.function))
}

fn generate_with(
    (function, uniformity, options): (&Function, &Uniformity, CodegenOptions),
    target: Target,
    algorithm: Algorithm,
) -> Result<Generated, String> {
    let lowered = lower::lower(function, uniformity, options, target)?;
    let input = allocate::Allocatable::new(&lowered.function, target);
    let output = input.run(algorithm)?;
    let spills = crate::frame::Frame::BYTES + lowered.local_bytes;
    let code = encode::encode(&lowered.function, &input, &output, target, spills)?;
    let most = |count: fn(&Inst) -> usize| function.insts.iter().map(count).max().unwrap_or(0);
    Ok(Generated {
        target,
        code,
        sites: lowered.sites,
        local_bytes: lowered.local_bytes,
        parameters: most(parameters),
        inputs: most(inputs),
        outputs: most(outputs),
        ranges: most(ranges),
        pushed_bytes: lowered.pushed_bytes,
        with_all_lanes: options.with_all_lanes,
    })
}

/// Words that parameters must have for an instruction.
fn parameters(inst: &Inst) -> usize {
    match inst {
        Inst::Parameter { word, of: None, .. } => *word as usize * WAVE + 1,
        Inst::Parameter { word, of: Some(_), .. } => (*word as usize + 1) * WAVE,
        _ => 0,
    }
}

/// Words of input that it needs.
fn inputs(inst: &Inst) -> usize {
    if let Inst::Input { slot, .. } | Inst::Interpolate { slot, .. } = inst { *slot as usize + 1 } else { 0 }
}

/// Words of output that it needs.
fn outputs(inst: &Inst) -> usize {
    if let Inst::Output { slot, .. } = inst { *slot as usize + 1 } else { 0 }
}

/// Ranges that it needs.
fn ranges(inst: &Inst) -> usize {
    let (Inst::Load { space, .. } | Inst::Store { space, .. }) = inst else { return 0 };
    match space {
        Space::Range(number) | Space::Quads(number) | Space::Block(number) => *number as usize + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
