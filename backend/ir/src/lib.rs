//! The intermediate representation (IR): scalar-per-lane SSA with structured control flow.
//!
//! A function is one list of instructions. Every value is one 32-bit word per lane and is defined
//! once. A `Bool` is 0 or 1. Nested markers structure the control flow: `If`/`Else`/`EndIf`,
//! `Block`/`EndBlock` and `Loop`/`Continuing`/`EndLoop`. `Break` leaves a block or a loop, and
//! `Continue` jumps to a loop's continuing part. The depth of a `Break` or `Continue` counts
//! enclosing blocks and loops from 0, the innermost.
//!
//! Mutable state lives in [`Local`]s, which are arrays of words private to the lane. There are no
//! phi nodes: a front end stores to a local in each predecessor. 64-bit numbers exist in the
//! builder only, which turns them into pairs of words (see `wide`).
//!
//! Instructions compute in all 16 lanes of a wave, active or not. Effects, and results loaded from
//! memory, are limited to active lanes. Instructions that read other lanes (`Ballot`, `Shuffle`,
//! derivatives) see the values that those lanes computed last.

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

/// SSA value: one 32-bit word per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Function-scope array of words, private to the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Local(pub u32);

/// Constant array of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table(pub u32);

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Boolean, 0 or 1.
    Bool,
    /// 32-bit integer, signed or unsigned.
    I32,
    /// 32-bit float.
    F32,
    /// 64-bit integer, in the builder only.
    I64,
    /// 64-bit float, in the builder only.
    F64,
}

impl Type {
    /// Returns true if a value of this type is a pair of words.
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::I64 | Self::F64)
    }
}

/// Memory that loads, stores and atomics access by byte offset. Offsets are multiples of 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Uniform or storage buffer.
    Buffer {
        /// Index into the program's resources.
        resource: u32,
        /// Element of the binding's array. `None` is element 0.
        element: Option<Value>,
    },
    /// Push constants.
    Push,
    /// First buffer of the resource with this index, at word offsets known to lie in it. Occurs in
    /// linked routines only.
    Texels(u32),
    /// Push constants at this number of bytes after the offset, known to be in bounds. Occurs in
    /// linked routines only.
    Levels(u32),
    /// Memory that was resolved for an image instruction. Occurs only in programs that include the
    /// instruction's routine.
    OfImage {
        /// Number of the image instruction.
        image: u32,
        /// Part of the resolved state.
        part: Part,
    },
    /// Memory range with this number, which the host passes with a run.
    Range(u32),
    /// Memory range of which each quad of four lanes accesses 16 consecutive bytes, one word per
    /// lane. Occurs in linked kernels only.
    ///
    /// The 16 bytes lie completely inside or completely outside of the range, and inside if a lane
    /// of the quad stores. A store may also rewrite the words of the quad's other lanes with their
    /// current values.
    Quads(u32),
    /// Memory range of which a wave accesses a block of 4x4 texels in a tile of 8x8 texels. Occurs
    /// in linked kernels only.
    ///
    /// The block's four quads are 32 bytes at the offset and 32 bytes at 64 bytes after it. The
    /// offset is uniform. All of these bytes lie inside or all lie outside of the range. As with
    /// [`Self::Quads`], they lie inside if a lane stores, and a store may rewrite other words.
    Block(u32),
    /// Memory shared by a workgroup.
    Shared,
    /// The device's clock: a 64-bit counter that an atomic load reads at any offset.
    Clock,
    /// Device memory at a 64-bit address, whose low word is the offset.
    Address {
        /// High word of the address.
        high: Value,
    },
}

/// Part of the state that was resolved for an image instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// First buffer of the routine's resource with this index.
    Buffer(u32),
    /// First buffer of the routine's resource with this index, at word offsets known to lie in it.
    Texels(u32),
    /// The routine's push constants at this number of bytes after the offset, known to be in
    /// bounds.
    Levels(u32),
}

impl Space {
    /// Bytes from the upper quads of a block to its lower quads.
    pub const BLOCK_ROW: u32 = 64;

    /// Returns true if nothing writes the memory while a program runs.
    pub const fn is_pushed(self) -> bool {
        matches!(self, Self::Push | Self::Levels(_) | Self::OfImage { part: Part::Levels(_), .. })
    }

    /// Returns true for buffers and for texels of images.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Self::Buffer { .. } | Self::Texels(_) | Self::OfImage { .. }) && !self.is_pushed()
    }

    /// Returns the value that selects the memory, in addition to the offset.
    pub const fn operand(mut self) -> Option<Value> {
        match self.operand_mut() {
            Some(value) => Some(*value),
            None => None,
        }
    }

    /// Returns a mutable reference to the value that selects the memory, in addition to the
    /// offset.
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

/// Position at which a program interpolates a fragment input instead of the declared position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InterpolateAt {
    /// The centroid.
    Centroid,
    /// The sample with this number.
    Sample(Value),
    /// An offset from the pixel's centre, in pixels.
    Offset(Value, Value),
}

impl InterpolateAt {
    /// Returns this position with each operand replaced by `map` of it.
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
    /// Level from the derivatives of the coordinates in the quad, plus a bias.
    Implicit {
        /// Bias that is added to the level of detail.
        bias: Option<Value>,
    },
    /// Explicit level.
    Explicit(Value),
    /// Level from explicit derivatives, which have as many components as the image has dimensions.
    Gradient {
        /// Derivative in x.
        dx: Vec<Value>,
        /// Derivative in y.
        dy: Vec<Value>,
    },
}

/// Operation of an image instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ImageOp {
    /// Filtered sampling; 4 results, or 1 with a depth reference.
    Sample {
        /// Level of detail.
        lod: Lod,
        /// Depth reference to compare with.
        reference: Option<Value>,
    },
    /// Four texels of one component, or their comparisons with a reference; 4 results.
    Gather {
        /// Component to gather, unless the texels are compared with a reference.
        component: Option<Value>,
        /// Depth reference to compare with.
        reference: Option<Value>,
        /// Four offsets, one for each texel, that replace the single offset.
        offsets: Option<[[i32; 2]; 4]>,
    },
    /// One texel of a level and sample; 4 results.
    Fetch {
        /// Level, by default 0.
        level: Option<Value>,
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// One texel of a storage image; 4 results.
    Read {
        /// Sample of a multisampled image.
        sample: Option<Value>,
    },
    /// Store of one texel; no result.
    Write {
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// Components of the texel, red to alpha.
        texel: [Value; 4],
    },
    /// Atomic on a texel of 32 or 64 bits. The result is the previous texel: 1 word, or 2 with the
    /// low word first.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Sample of a multisampled image.
        sample: Option<Value>,
        /// Operand, with as many words as the texel has.
        value: Vec<Value>,
        /// Words to compare with, for compare-exchange.
        comparator: Vec<Value>,
    },
    /// Width, height and depth, with the layers after the last dimension; 3 results.
    Size {
        /// Level, by default 0.
        level: Option<Value>,
    },
    /// Number of levels; 1 result.
    Levels,
    /// Number of samples; 1 result.
    Samples,
    /// Accessed level and computed level of detail; 2 results.
    QueryLod,
}

impl ImageOp {
    /// Returns true if the operation changes the image. Helper lanes must not execute it.
    pub fn has_effect(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Atomic { .. })
    }

    /// Returns true if the operation queries a property of the whole image.
    pub fn is_query(&self) -> bool {
        matches!(self, Self::Size { .. } | Self::Levels | Self::Samples)
    }
}

/// Image instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Image {
    /// Operation.
    pub op: ImageOp,
    /// Index of the image (or combined image sampler) in the program's resources.
    pub resource: u32,
    /// Element of the binding's array.
    pub element: Option<Value>,
    /// Sampler from another binding, as its resource and array element.
    pub sampler: Option<(u32, Option<Value>)>,
    /// Dimensionality.
    pub dim: Dim,
    /// True if the last coordinate is a layer.
    pub arrayed: bool,
    /// Coordinates, followed by the layer of an arrayed image.
    pub coords: Vec<Value>,
    /// Offset in texels, with one component per dimension. Empty without an offset.
    pub offset: Vec<Value>,
    /// Number of the instruction in its program. It identifies the state that was resolved for the
    /// instruction.
    pub number: u32,
    /// First result. The results have consecutive numbers.
    pub result: Value,
    /// Number of results.
    pub results: u32,
}

/// Operation on 64-bit numbers that has no short sequence of 32-bit operations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wide {
    /// Operation.
    pub op: WideOp,
    /// Words of the operands, each with its low word first.
    pub words: Vec<Value>,
    /// First result. The results have consecutive numbers.
    pub result: Value,
    /// Number of results.
    pub results: u32,
}

/// 64-bit atomic operation.
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
    /// Words to compare with, for compare-exchange.
    pub comparator: Option<[Value; 2]>,
    /// Low word of the previous memory contents. The high word is the next value.
    pub result: Value,
}

/// IR instruction.
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
        /// True to store to all lanes if any lane is active. False to store to active lanes only.
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
    /// Word `word` of the parameters that the host passes with a wave's run. Without `of`, all
    /// lanes read the same word. With `of`, the host passes the parameters of 16 items, and the
    /// low four bits of `of` select the item.
    Parameter {
        result: Value,
        word: u32,
        of: Option<Value>,
    },
    /// Fragment input at another position. It equals `Input` until the program becomes part of a
    /// kernel.
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
    /// Store of the low 1 or 2 bytes of a word.
    StorePart {
        space: Space,
        offset: Value,
        value: Value,
        bytes: u32,
    },
    Atomic64(Box<Atomic64>),
    Wide(Box<Wide>),
    /// Size of a buffer's bound range in bytes.
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
    /// 1 if the lane is active at this instruction, else 0.
    IsActive {
        result: Value,
    },
    /// Bit mask of `a` with one bit for each lane of the wave, active or not.
    Ballot {
        result: Value,
        a: Value,
    },
    /// Value of `a` in the lane that the low four bits of `index` select, active or not.
    Shuffle {
        result: Value,
        a: Value,
        index: Value,
    },
    /// 1 if the lane is a helper, else 0.
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
    /// End of the lane: it has no further effects and exports no fragment.
    Kill,
    /// Change of the lane to a helper: it continues without effects and exports no fragment.
    Demote,
    /// Barrier that waits until every wave of the workgroup reaches it.
    Barrier,
}

/// Function: a program's entry point with all calls inlined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Type of each value.
    pub types: Vec<Type>,
    /// Size of each local in words.
    pub locals: Vec<u32>,
    /// Constant arrays.
    pub tables: Vec<Vec<u32>>,
    /// Image instructions whose routines are inlined, as pairs of instruction number and routine.
    pub routines: Vec<(u32, Token)>,
}

/// Unique identity: no other token compares equal to it while it or a clone exists.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<()>);

impl Token {
    /// Returns the address that distinguishes this token from all others.
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
    /// Numbers the image instructions in order, and returns their count.
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
