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
//!
//! ```
//! use vitric_ir::{parse, passes, verify};
//!
//! let mut function = parse(
//!     "%0: i32 = Input 0\n\
//!      %1: i32 = Input 0\n\
//!      %2: i32 = IMul %0, %1\n\
//!      %3: i32 = BitNot %1\n\
//!      Output 0, %2\n",
//! )?;
//! verify(&function)?;
//! passes::optimize(&mut function, &mut |_, _| {});
//! let expected = "%0: i32 = Input 0\n%1: i32 = IMul %0, %0\nOutput 0, %1\n";
//! assert_eq!(function.to_string(), expected);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod builder;
mod cursor;
pub mod elementary;
mod image;
mod inst;
pub mod interface;
mod matrix;
mod notation;
mod operands;
mod ops;
mod parse;
pub mod passes;
#[cfg(feature = "testing")]
pub mod random;
mod regions;
mod space;
mod strict;
mod text;
mod verify;
mod wide;
mod wide_ops;

pub use builder::Builder;
pub use image::{Dim, Image, ImageOp, Lod};
pub use inst::{Atomic64, Effect, Inst, Wide};
pub use matrix::{BLOCK, MatrixForm, MatrixLoad, MatrixMultiply, MatrixOp, MatrixStore, PACKED_BLOCK};
pub use ops::{AtomicOp, AtomicWord, BinaryOp, LEAST_HALF, LEAST_SINGLE, TernaryOp, UnaryOp};
pub use parse::{ParseError, parse};
pub use regions::{Region, RegionKind, Regions, reachable};
pub use space::{InterpolateAt, Part, Space};
pub use strict::verify_strictly;
pub use verify::{VerifyError, verify};
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
