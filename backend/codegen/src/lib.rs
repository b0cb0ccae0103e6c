//! Code generator for x86-64: compiles IR to machine code over waves of 16 lanes.
//!
//! `lower` turns verified IR into machine IR with vectors of the target's width. `allocate`
//! assigns registers (regalloc2). `encode` writes the bytes (iced-x86).
//!
//! There are two targets. AVX-512 keeps a wave in one vector register and lane masks in k
//! registers. AVX2 with FMA keeps a wave in two vector registers and a mask as lanes of all ones
//! or zeros. Uniform values are in general registers, or in one vector register that serves both
//! halves.
//!
//! Generated code computes the same bits as the interpreter, which is the oracle. An operation
//! without a short instruction sequence is a call of the interpreter's routine
//! (`runtime::native`).
//!
//! ```
//! use vitric_codegen::{CodegenOptions, Target, disassemble, generate};
//! use vitric_ir::passes::{self, LaneVariance};
//!
//! let text = "%0: i32 = Input 0\n%1: i32 = BitNot %0\nOutput 0, %1\n";
//! let mut function = vitric_ir::parse(text).unwrap();
//! let uniformity = passes::prepare(&mut function, |_input| LaneVariance::Divergent);
//! let generated = generate(&function, &uniformity, CodegenOptions::default(), Target::Avx2)?;
//! assert_eq!((generated.inputs, generated.outputs), (1, 1));
//! assert!(disassemble(&generated.code.bytes, generated.code.entry).contains("ymm"));
//! # Ok::<(), String>(())
//! ```

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

/// Largest number of IR instructions for which `Ion` allocates registers; larger functions use
/// `Fastalloc`.
const MAX_FOR_ION: usize = 6000;
/// Largest number of IR instructions that compile without a check of the host's free memory.
const MAX_UNCHECKED: usize = 2000;
/// Upper bound of the memory that code generation uses per IR instruction, in bytes.
const GENERATED_BYTES: usize = 2 << 10;

/// Instruction set that code is generated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// AVX-512 F, CD, BW, DQ and VL, and all features of [`Self::Avx2`].
    Avx512,
    /// AVX2, FMA, F16C, BMI1, BMI2 and POPCNT.
    Avx2,
}

impl Target {
    /// Returns true if this machine can run code of the target. The processor must have the
    /// features, and the host must use the System V calling convention.
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

    /// Returns the best target that this machine supports, or `None`.
    pub fn best() -> Option<Self> {
        [Self::Avx512, Self::Avx2].into_iter().find(|target| target.is_supported())
    }

    /// Returns the target that the knob `VITRIC_CODEGEN` selects; `None` selects the interpreter.
    /// An unsupported target is replaced by the best supported one.
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

    /// Returns the size of a vector register in bytes.
    fn vector_bytes(self) -> usize {
        match self {
            Self::Avx512 => 64,
            Self::Avx2 => 32,
        }
    }

    /// Returns the number of vector registers.
    fn vector_count(self) -> usize {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
        }
    }

    /// Returns the number of vector registers that a wave occupies.
    fn parts(self) -> usize {
        match self {
            Self::Avx512 => 1,
            Self::Avx2 => 2,
        }
    }

    /// Returns true if this machine loads 16 scattered dwords faster one by one than with a gather
    /// instruction.
    ///
    /// This holds with AVX2 and on AMD processors, which are recognized by SSE4a. Measured on Zen
    /// 4 for 16 dwords: 10.4 ns with a gather, 6.4 ns with single loads.
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

    /// Returns the encoding that loads a vector from memory.
    fn load(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            Self::Avx2 => Code::VEX_Vmovups_ymm_ymmm256,
        }
    }

    /// Returns the encoding that stores a vector to memory.
    fn store(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            Self::Avx2 => Code::VEX_Vmovups_ymmm256_ymm,
        }
    }

    /// Returns the encoding that copies a vector register.
    fn r#move(self) -> Code {
        match self {
            Self::Avx512 => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
            Self::Avx2 => Code::VEX_Vmovaps_ymm_ymmm256,
        }
    }
}

/// Call site: an instruction that generated code leaves to the runtime.
#[derive(Debug, Clone)]
pub struct Site {
    /// The instruction, with its operands numbered by argument.
    pub inst: Inst,
    /// True if each operand is equal in all lanes.
    pub uniform: bool,
    /// Number of an image instruction if all lanes use one image and one sampler. Generated code
    /// may enter its routine directly.
    pub one_image: Option<u32>,
    /// Index into `Frame::cached_ranges` where the runtime records the address range that it found.
    pub cached_range: Option<u32>,
    /// True if generated code continues with a copy of memory as the result.
    pub is_cold: bool,
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
        Self { inst, uniform, one_image, cached_range: None, is_cold: false }
    }
}

/// Generated code of a function and its requirements.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Instruction set that runs the code.
    pub target: Target,
    /// Constant pool and machine code.
    pub code: Encoded,
    /// Call sites, by number.
    pub sites: Vec<Site>,
    /// Size of the indexed locals in bytes. They follow the frame's header and precede the spill
    /// slots.
    pub local_bytes: usize,
    /// Number of dwords of parameters that the caller must supply. A parameter that is uniform is
    /// one dword at a multiple of [`WAVE`].
    pub parameters: usize,
    /// Number of input slots that the code reads.
    pub inputs: usize,
    /// Number of output slots that the code writes.
    pub outputs: usize,
    /// Number of memory ranges that the code accesses.
    pub ranges: usize,
    /// Minimum size of the push constants in bytes.
    pub pushed_bytes: usize,
    /// True if the code accesses far resources.
    pub is_far: bool,
    /// True if the code requires that all lanes run and that none is a helper.
    pub with_all_lanes: bool,
}

/// Assumptions under which code is generated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodegenOptions {
    /// Required contents of the outputs of inactive lanes.
    pub outputs: Outputs,
    /// True if all lanes run and none is a helper.
    pub with_all_lanes: bool,
    /// Instructions that load scattered dwords.
    pub scattered: ScatteredLoads,
    /// Instructions that multiply bytes.
    pub byte_products: ByteProducts,
}

/// Instructions that multiply bytes with AVX-512. AVX2 code always has those of pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ByteProducts {
    /// The faster choice on this machine.
    #[default]
    OfMachine,
    /// `vpmaddwd` on pairs of bytes that are extended to 16 bits.
    OfPairs,
    /// `vpdpbusd` on four bytes (AVX-512 VNNI).
    OfQuads,
}

/// Instructions that load dwords at scattered addresses with AVX-512. AVX2 code always loads them
/// one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScatteredLoads {
    /// The faster choice on this machine.
    #[default]
    OfMachine,
    /// One gather instruction.
    Gather,
    /// One load for each lane.
    ByLane,
}

/// Contents of a program's outputs in lanes that do not reach its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outputs {
    /// The contents before the program ran.
    #[default]
    Kept,
    /// Unspecified contents.
    Filled,
}

/// Generates code for a function that `passes::prepare` prepared.
///
/// # Errors
/// Returns a sentence for the log if the generator does not support the function. The caller then
/// interprets the function.
pub fn generate(
    function: &Function,
    uniformity: &Uniformity,
    options: CodegenOptions,
    target: Target,
) -> Result<Generated, String> {
    // `Ion` allocates better than `Fastalloc`, but its time grows faster than linearly with many
    // spills.
    let algorithm = if function.insts.len() > MAX_FOR_ION { Algorithm::Fastalloc } else { Algorithm::Ion };
    if function.insts.len() > MAX_UNCHECKED && !host_memory::has_room(function.insts.len() * GENERATED_BYTES) {
        return Err("the host has too little memory to generate code".into());
    }
    generate_with(function, uniformity, options, target, algorithm)
}

/// Returns the machine IR of a function as text, before register allocation.
///
/// # Errors
/// Returns the errors of [`generate`].
pub fn machine_text(
    function: &Function,
    uniformity: &Uniformity,
    options: CodegenOptions,
    target: Target,
) -> Result<String, String> {
    let lowered = lower::lower(function, uniformity, options, target)?;
    Ok(listing::machine(&lowered.function))
}

fn generate_with(
    function: &Function,
    uniformity: &Uniformity,
    options: CodegenOptions,
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
        is_far: lowered.is_far,
        with_all_lanes: options.with_all_lanes,
    })
}

/// Returns the number of dwords of parameters that an instruction requires.
fn parameters(inst: &Inst) -> usize {
    match inst {
        Inst::Parameter { word, of: None, .. } => *word as usize * WAVE + 1,
        Inst::Parameter { word, of: Some(_), .. } => (*word as usize + 1) * WAVE,
        _ => 0,
    }
}

/// Returns the number of input slots that an instruction requires.
fn inputs(inst: &Inst) -> usize {
    if let Inst::Input { slot, .. } | Inst::Interpolate { slot, .. } = inst { *slot as usize + 1 } else { 0 }
}

/// Returns the number of output slots that an instruction requires.
fn outputs(inst: &Inst) -> usize {
    if let Inst::Output { slot, .. } = inst { *slot as usize + 1 } else { 0 }
}

/// Returns the number of memory ranges that an instruction requires.
fn ranges(inst: &Inst) -> usize {
    match inst.space() {
        Some(Space::Range(number) | Space::Quads(number) | Space::Block(number)) => *number as usize + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
