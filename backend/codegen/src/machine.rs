//! Machine IR: x86-64 instructions over virtual registers, in blocks with parameters (SSA).
//!
//! An instruction is an encoding (iced's `Code`) with its operands in the encoding's order.
//! Lowering chooses the encodings, so allocation and encoding need no instruction table. A
//! sequence of machine instructions that must stay together is a separate variant of
//! [`MachineInst`].

use iced_x86::Code;
use regalloc2::{Block, RegClass, VReg};
use smallvec::SmallVec;

/// Register class of general registers.
pub const SCALAR: RegClass = RegClass::Int;
/// Register class of the AVX-512 mask registers k1 to k7.
pub const MASK: RegClass = RegClass::Float;
/// Register class of vector registers.
pub const VECTOR: RegClass = RegClass::Vector;

/// Base of a memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The wave's frame, to which r15 always points.
    Frame,
    /// The start of the constant pool.
    Pool,
    /// A general register.
    Register(VReg),
}

/// Memory operand: `base + index * scale + displacement`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mem {
    /// Base of the address.
    pub base: Base,
    /// Index register and scale (1, 2, 4 or 8). The register is a general register, or a vector
    /// for gathers and scatters.
    pub index: Option<(VReg, u32)>,
    /// Displacement in bytes.
    pub displacement: i32,
    /// True if one element is broadcast to all lanes.
    pub broadcast: bool,
}

impl Mem {
    /// Returns the operand at `displacement` bytes from the start of the wave's frame.
    pub fn frame(displacement: usize) -> Self {
        Self { base: Base::Frame, index: None, displacement: displacement as i32, broadcast: false }
    }

    /// Returns the operand at `displacement` bytes from the start of the constant pool.
    pub fn pool(displacement: u32, broadcast: bool) -> Self {
        Self { base: Base::Pool, index: None, displacement: displacement as i32, broadcast }
    }

    /// Returns the operand at `displacement` bytes from the address in `base`.
    pub fn at(base: VReg, displacement: usize) -> Self {
        Self { base: Base::Register(base), index: None, displacement: displacement as i32, broadcast: false }
    }

    /// Adds an index register and its scale.
    pub fn indexed(self, index: VReg, scale: u32) -> Self {
        Self { index: Some((index, scale)), ..self }
    }

    /// Marks the operand as one element that is broadcast to all lanes.
    pub fn broadcast(self) -> Self {
        Self { broadcast: true, ..self }
    }
}

/// Operand of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A register that is read.
    Use(VReg),
    /// A register that is written.
    Def(VReg),
    /// A register that is read and written.
    Change {
        /// Virtual register that is read.
        from: VReg,
        /// Virtual register that is written.
        to: VReg,
    },
    /// An immediate.
    Imm(i32),
    /// A memory operand.
    Mem(Mem),
}

/// Mask of an AVX-512 instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masking {
    /// Mask register: a `Use`, or a `Change` for gathers and scatters.
    pub register: Operand,
    /// True if masked-off lanes become 0; otherwise they keep their value.
    pub zeroing: bool,
}

/// Instruction of the machine IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineInst {
    /// One machine instruction.
    Plain {
        /// Encoding.
        code: Code,
        /// Operands in the encoding's order.
        operands: SmallVec<[Operand; 4]>,
        /// Lane mask.
        mask: Option<Masking>,
    },
    /// A call of the runtime for a call site.
    Call {
        /// Number of the call site.
        site: u32,
        /// Number of an image instruction whose routine is entered directly, if the runtime has
        /// found one.
        routine: Option<u32>,
    },
    /// A call of the runtime for a call site if the carry flag is clear. It preserves all registers
    /// and the carry flag. The operands are in the frame's arguments.
    ColdCall {
        /// Number of the call site.
        site: u32,
    },
    /// A loop's back edge, at which the runtime checks the time limit periodically.
    BackEdge {
        /// Approximate number of instructions of one iteration.
        work: u32,
    },
    /// A workgroup barrier. The code returns to the host and continues behind the barrier when the
    /// whole workgroup has reached it.
    Barrier,
    /// A jump to a block, with arguments for its parameters.
    Jump {
        /// Target block.
        to: Block,
        /// Arguments, one register per parameter of the target.
        arguments: Vec<VReg>,
    },
    /// A branch by the flags to one of two blocks without parameters.
    Branch {
        /// Conditional jump.
        code: Code,
        /// Target if the condition holds.
        then: Block,
        /// Target if the condition does not hold.
        otherwise: Block,
    },
    /// The end of the program.
    Return,
}

/// Block: parameters and instructions. The last instruction is a terminator.
#[derive(Debug, Clone, Default)]
pub struct BlockData {
    /// Parameters.
    pub parameters: Vec<VReg>,
    /// Instructions.
    pub insts: Vec<MachineInst>,
}

/// Function over virtual registers.
#[derive(Debug, Clone, Default)]
pub struct Function {
    /// Blocks; the first is the entry.
    pub blocks: Vec<BlockData>,
    /// Number of virtual registers.
    pub registers: usize,
    /// Constant pool.
    pub pool: Vec<u8>,
}

impl Function {
    /// Returns a new virtual register.
    pub fn register(&mut self, class: RegClass) -> VReg {
        self.registers += 1;
        VReg::new(self.registers - 1, class)
    }

    /// Returns a new block.
    pub fn block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }
}
