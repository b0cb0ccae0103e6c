//! The machine IR: x86-64 instructions over virtual registers, in blocks with parameters (SSA).
//!
//! An instruction is an encoding (iced's `Code`) with its operands in the encoding's order, so that allocation and encoding
//! need no table of their own; lowering chooses encodings. What needs more than one machine instruction and must not be
//! torn apart is a [`Kind`] of its own.

use iced_x86::Code;
use regalloc2::{Block, RegClass, VReg};
use smallvec::SmallVec;

/// Register classes: general registers, AVX-512 masks, vectors.
pub const SCALAR: RegClass = RegClass::Int;
/// Mask registers k1 to k7.
pub const MASK: RegClass = RegClass::Float;
/// Vector registers.
pub const VECTOR: RegClass = RegClass::Vector;

/// Where a memory operand starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The wave's frame, which a general register always points to.
    Frame,
    /// The constant pool, bytes from its start.
    Pool,
    /// A register.
    Register(VReg),
}

/// A memory operand: `base + index * scale + displacement`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mem {
    /// Where it starts.
    pub base: Base,
    /// A general register, or a vector for gathers and scatters; and its scale 1, 2, 4 or 8.
    pub index: Option<(VReg, u32)>,
    /// Bytes.
    pub displacement: i32,
    /// One element for all lanes.
    pub broadcast: bool,
}

impl Mem {
    /// Bytes of the wave's frame.
    pub fn frame(displacement: usize) -> Self {
        Self { base: Base::Frame, index: None, displacement: displacement as i32, broadcast: false }
    }

    /// Bytes of the constant pool.
    pub fn pool(displacement: u32, broadcast: bool) -> Self {
        Self { base: Base::Pool, index: None, displacement: displacement as i32, broadcast }
    }

    /// What a register points to.
    pub fn at(base: VReg, displacement: usize) -> Self {
        Self { base: Base::Register(base), index: None, displacement: displacement as i32, broadcast: false }
    }

    /// With an index.
    pub fn indexed(self, index: VReg, scale: u32) -> Self {
        Self { index: Some((index, scale)), ..self }
    }

    /// One element for all lanes.
    pub fn broadcast(self) -> Self {
        Self { broadcast: true, ..self }
    }
}

/// One operand of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Read.
    Use(VReg),
    /// Written.
    Def(VReg),
    /// One register that is read and written.
    Change {
        /// What is read.
        from: VReg,
        /// What is written.
        to: VReg,
    },
    /// Immediate.
    Imm(i32),
    /// Memory.
    Mem(Mem),
}

/// The mask of an AVX-512 instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masking {
    /// A `Use`, or a `Change` for gathers and scatters.
    pub register: Operand,
    /// Lanes that are off become 0 instead of staying.
    pub zeroing: bool,
}

/// What an instruction is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// One machine instruction.
    Plain {
        /// Encoding.
        code: Code,
        /// Operands in its order.
        operands: SmallVec<[Operand; 4]>,
        /// Mask.
        mask: Option<Masking>,
    },
    /// Calls the runtime for a call site.
    Call {
        /// Its number.
        site: u32,
        /// An image instruction, by its number, whose routine is entered if it was found.
        routine: Option<u32>,
    },
    /// Looks at the time limit now and then, at a back edge.
    BackEdge {
        /// Instructions of a turn, about.
        work: u32,
    },
    /// Returns to the host until the workgroup is here; goes on behind it.
    Barrier,
    /// To a block, with arguments for its parameters.
    Jump {
        /// Where to.
        to: Block,
        /// One register for each parameter.
        arguments: Vec<VReg>,
    },
    /// To one of two blocks without parameters, by the flags.
    Branch {
        /// Conditional jump.
        code: Code,
        /// When it jumps.
        then: Block,
        /// Else.
        otherwise: Block,
    },
    /// The program's end.
    Return,
}

/// A block: parameters and instructions, the last of which leaves it.
#[derive(Debug, Clone, Default)]
pub struct BlockData {
    /// Parameters.
    pub parameters: Vec<VReg>,
    /// Instructions.
    pub insts: Vec<Kind>,
}

/// A function over virtual registers.
#[derive(Debug, Clone, Default)]
pub struct Function {
    /// Blocks; the first is the entry.
    pub blocks: Vec<BlockData>,
    /// Virtual registers so far.
    pub registers: usize,
    /// The constant pool.
    pub pool: Vec<u8>,
}

impl Function {
    /// A fresh register.
    pub fn register(&mut self, class: RegClass) -> VReg {
        self.registers += 1;
        VReg::new(self.registers - 1, class)
    }

    /// A fresh block.
    pub fn block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }
}
