//! The IR: scalar-per-lane SSA with structured control flow.
//!
//! A function is one list of instructions. Every value is one 32-bit word per lane (a `Bool` is 0 or 1) and is defined
//! once. Control flow is structured by markers that nest: `If`/`Else`/`EndIf`, `Block`/`EndBlock` (left early by `Break`)
//! and `Loop`/`Continuing`/`EndLoop` (left by `Break`, continued by `Continue`). Depths of `Break` and `Continue` count
//! enclosing blocks and loops from 0, the innermost. What changes over time lives in [`Local`]s: arrays of words private to
//! the lane. There is no phi: a front end stores to a local in each predecessor. Numbers of 64 bits exist in the builder only,
//! which makes pairs of words of them (see `wide`).
//!
//! Instructions compute in all 16 lanes, active or not; effects, and results from memory, are those of active lanes. What
//! looks at other lanes (`Ballot`, `Shuffle`, derivatives) sees what they computed last.

#![forbid(unsafe_code)]

mod builder;
pub mod elementary;
pub mod interface;
mod map;
mod ops;
mod parse;
pub mod passes;
#[cfg(feature = "testing")]
pub mod random;
mod regions;
mod strict;
mod text;
mod verify;
mod wide;
mod wide_ops;

pub use builder::Builder;
pub use map::{map_operands, map_results, numbered};
pub use ops::{AtomicOp, BinaryOp, TernaryOp, UnaryOp};
pub use parse::{ParseError, parse};
pub use regions::{Region, RegionKind, Regions};
pub use strict::verify_strictly;
pub use verify::{VerifyError, operands, results, verify};
pub use wide_ops::{LESS_THAN_ONE, WideOp};

use std::sync::Arc;

/// A value: one word per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A function-scope array of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Local(pub u32);

/// A constant array of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table(pub u32);

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// 0 or 1.
    Bool,
    /// 32-bit integer of either sign.
    I32,
    /// 32-bit float.
    F32,
    /// 64-bit integer: in the builder only.
    I64,
    /// 64-bit float: in the builder only.
    F64,
}

impl Type {
    /// Whether a value is a pair of words.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::I64 | Self::F64)
    }
}

/// Memory that loads, stores and atomics reach by byte offset. Offsets are multiples of 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// A uniform or storage buffer: index into the program's resources, and the element of the binding's array.
    Buffer {
        /// Index into the program's resources.
        resource: u32,
        /// Element of the binding's array; `None` is element 0.
        element: Option<Value>,
    },
    /// Push constants.
    Push,
    /// The first buffer of a resource, at offsets of words that are known to lie in it: in linked routines only.
    Texels(u32),
    /// Push constants so many bytes behind the offset, words that are known to be there: in linked routines only.
    Levels(u32),
    /// What was looked up for an image instruction, by its number: in programs only that have its routine in them.
    OfImage {
        /// Number of the instruction.
        image: u32,
        /// What of it.
        part: Part,
    },
    /// A range of memory that the host gives with a run, by number.
    Range(u32),
    /// Such a range, of which each quad of four lanes accesses 16 bytes, lane by lane, that lie in it or outside of it; inside where one of
    /// these lanes stores. A store may write the words of the others, too, as they are: in linked kernels only.
    Quads(u32),
    /// Such a range, of which a wave accesses four quads that are the corners of a block of 4x4 texels in a line of 8x8: 32 bytes from the offset,
    /// which is the same in all lanes, and 32 more 64 behind it. All of these lie in the range or outside of it; otherwise the same.
    Block(u32),
    /// Memory shared by a workgroup.
    Shared,
    /// The device's clock: a 64-bit word that an atomic load reads, at any offset.
    Clock,
    /// Memory of the device by 64-bit address: the offset is the low word.
    Address {
        /// The high word.
        high: Value,
    },
}

/// What routines reach of what was looked up for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The first buffer of a resource of the routine's.
    Buffer(u32),
    /// The same, at offsets of words that are known to lie in it.
    Texels(u32),
    /// The routine's push constants so many bytes behind the offset, words that are known to be there.
    Levels(u32),
}

impl Space {
    /// Bytes from the upper quads of a block to the lower ones.
    pub const BLOCK_ROW: u32 = 64;

    /// Whether nothing writes it while a program runs.
    pub const fn is_pushed(self) -> bool {
        matches!(self, Self::Push | Self::Levels(_) | Self::OfImage { part: Part::Levels(_), .. })
    }

    /// Whether it is a buffer, or an image's texels.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Self::Buffer { .. } | Self::Texels(_) | Self::OfImage { .. }) && !self.is_pushed()
    }

    /// The value that says which memory is meant, beside the offset.
    pub const fn operand(mut self) -> Option<Value> {
        match self.operand_mut() {
            Some(value) => Some(*value),
            None => None,
        }
    }

    /// The same to be replaced.
    pub const fn operand_mut(&mut self) -> Option<&mut Value> {
        match self {
            Self::Buffer { element, .. } => element.as_mut(),
            Self::Address { high } => Some(high),
            Self::Push
            | Self::Texels(_)
            | Self::Levels(_)
            | Self::OfImage { .. }
            | Self::Range(_)
            | Self::Quads(_)
            | Self::Block(_)
            | Self::Shared
            | Self::Clock => None,
        }
    }
}

/// How a fragment input is interpolated when the program asks for another place than the declared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InterpolateAt {
    /// At the centroid.
    Centroid,
    /// At a sample, by number.
    Sample(Value),
    /// At an offset from the pixel's centre, pixels.
    Offset(Value, Value),
}

impl InterpolateAt {
    /// The same place with other values.
    pub fn map(self, map: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Centroid => Self::Centroid,
            Self::Sample(sample) => Self::Sample(map(sample)),
            Self::Offset(x, y) => Self::Offset(map(x), map(y)),
        }
    }
}

/// Dimensionality of an image as the program declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are SPIR-V's Dim")]
pub enum Dim {
    D1,
    D2,
    D3,
    Cube,
    Buffer,
    Subpass,
}

/// Level of detail of a sampling operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lod {
    /// From the derivatives of the coordinates in the quad, plus a bias.
    Implicit {
        /// Added to the level of detail.
        bias: Option<Value>,
    },
    /// Given.
    Explicit(Value),
    /// From given derivatives; as many components as the image has dimensions.
    Gradient {
        /// Derivative in x.
        dx: Vec<Value>,
        /// Derivative in y.
        dy: Vec<Value>,
    },
}

/// What an image instruction does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageOp {
    /// Filtered sampling; 4 results, or 1 with a depth reference.
    Sample {
        /// Level of detail.
        lod: Lod,
        /// Depth reference to compare with.
        reference: Option<Value>,
    },
    /// Four texels of one component (or compared with a reference): 4 results.
    Gather {
        /// Component, when not comparing.
        component: Option<Value>,
        /// Depth reference to compare with.
        reference: Option<Value>,
        /// Four offsets, one for each texel, instead of one for all.
        offsets: Option<[[i32; 2]; 4]>,
    },
    /// One texel of a level, and of a sample: 4 results.
    Fetch {
        /// Level; 0 without.
        level: Option<Value>,
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// One texel of a storage image: 4 results.
    Read {
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// Stores one texel; no result.
    Write {
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// The texel, red to alpha.
        texel: [Value; 4],
    },
    /// Atomic on a texel of 32 or 64 bits: 1 result, the word before, or 2, low word first.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// Operand: as many words as the texel has.
        value: Vec<Value>,
        /// Words to compare with, for compare-exchange.
        comparator: Vec<Value>,
    },
    /// Width, height, depth (or layers after the last dimension): 3 results.
    Size {
        /// Level; 0 without.
        level: Option<Value>,
    },
    /// Number of levels: 1 result.
    Levels,
    /// Number of samples: 1 result.
    Samples,
    /// Level that would be accessed and computed level of detail: 2 results.
    QueryLod,
}

impl ImageOp {
    /// Whether it changes the image: helpers must not execute it.
    pub fn has_effect(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Atomic { .. })
    }

    /// Whether it asks for what is the same everywhere in an image.
    pub fn is_query(&self) -> bool {
        matches!(self, Self::Size { .. } | Self::Levels | Self::Samples)
    }
}

/// An image instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Image {
    /// What it does.
    pub op: ImageOp,
    /// Index of the image (or combined image sampler) in the program's resources.
    pub resource: u32,
    /// Element of the binding's array.
    pub element: Option<Value>,
    /// Sampler from another binding: resource and element.
    pub sampler: Option<(u32, Option<Value>)>,
    /// Dimensionality.
    pub dim: Dim,
    /// Whether the last coordinate is a layer.
    pub arrayed: bool,
    /// Coordinates, then the layer of an arrayed image.
    pub coords: Vec<Value>,
    /// Offset in texels, as many as dimensions, or none.
    pub offset: Vec<Value>,
    /// Number of the instruction in its program: what was looked up for it is kept by it.
    pub number: u32,
    /// First of the results, which are numbered one after the other.
    pub result: Value,
    /// How many results.
    pub results: u32,
}

/// An operation on 64-bit numbers that pairs of words have no short sequence for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wide {
    /// Operation.
    pub op: WideOp,
    /// Words of the operands, low ones first.
    pub words: Vec<Value>,
    /// First of the results, which are numbered one after the other.
    pub result: Value,
    /// How many.
    pub results: u32,
}

/// An atomic on 64 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Atomic64 {
    /// Operation.
    pub op: AtomicOp,
    /// Memory.
    pub space: Space,
    /// Byte offset, a multiple of 8.
    pub offset: Value,
    /// Operand, low word first.
    pub value: [Value; 2],
    /// What to compare with, for compare-exchange.
    pub comparator: Option<[Value; 2]>,
    /// The low word before; the high one follows it.
    pub result: Value,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the module header and the operands' types say what each does")]
pub enum Inst {
    Const {
        result: Value,
        word: u32,
    },
    Unary {
        result: Value,
        op: UnaryOp,
        a: Value,
    },
    Binary {
        result: Value,
        op: BinaryOp,
        a: Value,
        b: Value,
    },
    Ternary {
        result: Value,
        op: TernaryOp,
        a: Value,
        b: Value,
        c: Value,
    },
    LocalLoad {
        result: Value,
        local: Local,
        base: u32,
        index: Option<Value>,
    },
    LocalStore {
        local: Local,
        base: u32,
        index: Option<Value>,
        value: Value,
        /// To all lanes if any is active, not only to the active ones.
        all: bool,
    },
    TableLoad {
        result: Value,
        table: Table,
        index: Value,
    },
    Input {
        result: Value,
        slot: u32,
    },
    /// Word `word` of what the host gives a wave's run: the same in all lanes; or with `of`, where it gives what sixteen things have,
    /// of that one which the low four bits name.
    Parameter {
        result: Value,
        word: u32,
        of: Option<Value>,
    },
    /// A fragment input at another place; as `Input`, until a kernel is made of the program.
    Interpolate {
        result: Value,
        slot: u32,
        at: InterpolateAt,
    },
    Output {
        slot: u32,
        value: Value,
    },
    Load {
        result: Value,
        space: Space,
        offset: Value,
    },
    Store {
        space: Space,
        offset: Value,
        value: Value,
    },
    Atomic {
        result: Value,
        space: Space,
        offset: Value,
        op: AtomicOp,
        value: Value,
        comparator: Option<Value>,
    },
    /// Stores the low 1 or 2 bytes of a word.
    StorePart {
        space: Space,
        offset: Value,
        value: Value,
        bytes: u32,
    },
    Atomic64(Box<Atomic64>),
    Wide(Box<Wide>),
    /// Bytes of a buffer's bound range.
    BufferLength {
        result: Value,
        resource: u32,
        element: Option<Value>,
    },
    Image(Box<Image>),
    /// Number of the lane in its wave.
    Lane {
        result: Value,
    },
    /// Whether the lane is active here.
    IsActive {
        result: Value,
    },
    /// A bit for each lane of the wave, active or not.
    Ballot {
        result: Value,
        a: Value,
    },
    /// The word of the lane that the low four bits of `index` name, active or not.
    Shuffle {
        result: Value,
        a: Value,
        index: Value,
    },
    /// Whether the lane is a helper.
    IsHelper {
        result: Value,
    },
    If {
        condition: Value,
    },
    Else,
    EndIf,
    Block,
    EndBlock,
    Loop,
    Continuing,
    EndLoop,
    Break {
        depth: u32,
    },
    Continue {
        depth: u32,
    },
    /// Ends the lane: it writes nothing from here on and exports no fragment.
    Kill,
    /// Makes the lane a helper: it runs on without effect and exports no fragment.
    Demote,
    /// Waits until every wave of the workgroup is here.
    Barrier,
}

/// A function: what a program's entry point became, calls inlined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Type of each value.
    pub types: Vec<Type>,
    /// Words of each local.
    pub locals: Vec<u32>,
    /// Constant arrays.
    pub tables: Vec<Vec<u32>>,
    /// Image instructions whose routines are in it: their numbers, and which routines.
    pub routines: Vec<(u32, Token)>,
}

/// A name of its own: nothing else has it as long as anybody knows it.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<()>);

impl Token {
    /// What tells it from all others.
    pub fn as_ptr(&self) -> *const () {
        Arc::as_ptr(&self.0)
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Token {}

impl Function {
    /// Numbers the image instructions. Returns how many there are.
    pub fn number_images(&mut self) -> u32 {
        let mut count = 0;
        for inst in &mut self.insts {
            if let Inst::Image(image) = inst {
                image.number = count;
                count += 1;
            }
        }
        count
    }
}
