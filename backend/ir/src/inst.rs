//! The table of instructions. Each row gives an instruction's fields, its results, its effect and
//! its text.
//!
//! Operands are the values in an instruction's fields, in the order of the fields. The result is
//! not one of them. The fields stand in the order of the text, whose pieces [`notation`] describes.
//!
//! [`notation`]: super::notation

use std::fmt::{self, Formatter};
use std::sync::LazyLock;

use foldhash::HashMap;

use super::cursor::{Cursor, Result};
use super::notation::{Notation, read_piece, write_row};
use super::operands::{Field, operands};
use super::{
    AtomicOp, BinaryOp, Image, InterpolateAt, Local, MatrixLoad, MatrixMultiply, MatrixStore, Space, Table, TernaryOp,
    UnaryOp, Value, WideOp,
};

/// Effect of an instruction besides the computation of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// No effect.
    None,
    /// Store to a local.
    Local,
    /// Store to an output of the program.
    Output,
    /// Store to memory or an image. Atomics have this effect, including atomic loads.
    Memory,
    /// End of the lane's effects.
    Lane,
    /// Wait for other waves.
    Barrier,
    /// Marker or jump, which decides which lanes execute other instructions.
    Flow,
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
}

impl Wide {
    /// Returns the number of results.
    pub const fn results(&self) -> u32 {
        self.op.shape().1
    }
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

impl Atomic64 {
    /// Returns the number of results.
    pub const fn results(&self) -> u32 {
        2
    }
}

/// Defines [`Inst`] and what follows from its rows. Rows stand in groups by their effect.
///
/// `operations` have the name of their operation in the text. `boxed` rows are instructions whose
/// fields stand in a structure of the instruction's name. `boxed_effects` rows have no results.
macro_rules! instructions {
    (
        $(#[$meta:meta])*
        pub enum Inst;
        operations { $($Operation:ident -> result { op: $Op:ident, $($operand:ident: Value),* };)* }
        boxed {$(
            $Boxed:ident: $boxed_effect:ident -> $boxed_result:ident { $($inner:ident),* } = ($($inner_piece:tt)+);
        )*}
        boxed_effects {$(
            $Effect:ident: $effect_of:ident { $($member:ident),* } = ($($member_piece:tt)+);
        )*}
        $($effect:ident {$(
            $(#[$doc:meta])*
            $Row:ident
            $(-> $result:ident { $($input:ident: $Input:ty),* })?
            $({ $($field:ident: $Field:ty),* })?
            $(= ($($piece:tt)+))?;
        )*})*
    ) => {
        $(#[$meta])*
        pub enum Inst {
            $($Operation { result: Value, op: $Op, $($operand: Value),* },)*
            $($(
                $(#[$doc])*
                $Row $({ $result: Value, $($input: $Input),* })? $({ $($field: $Field),* })?,
            )*)*
            $($Boxed(Box<$Boxed>),)*
            $($Effect(Box<$Effect>),)*
            Image(Box<Image>),
        }

        operands! { Inst {
            $(Self::$Operation { $($operand,)* .. } => $($operand)*;)*
            $($(
                Self::$Row { $($($input,)* ..)? $($($field,)*)? } => $($($input)*)? $($($field)*)?;
            )*)*
            $(Self::$Boxed(inner) => inner;)*
            $(Self::$Effect(inner) => inner;)*
            Self::Image(image) => image;
        } }

        $(operands! { $Boxed { Self { $($inner,)* .. } => $($inner)*; } })*
        $(operands! { $Effect { Self { $($member,)* } => $($member)*; } })*

        impl Inst {
            /// Returns the effect.
            pub fn effect(&self) -> Effect {
                match self {
                    $(Self::$Operation { .. } => Effect::None,)*
                    $($(Self::$Row { .. } => Effect::$effect,)*)*
                    $(Self::$Boxed(_) => Effect::$boxed_effect,)*
                    $(Self::$Effect(_) => Effect::$effect_of,)*
                    Self::Image(image) if image.op.has_effect() => Effect::Memory,
                    Self::Image(_) => Effect::None,
                }
            }

            /// Returns the first result and the number of results, which have consecutive numbers.
            fn first_result(&self) -> (Option<&Value>, u32) {
                match self {
                    $(Self::$Operation { result, .. } => (Some(result), 1),)*
                    $($($(Self::$Row { $result, .. } => (Some($result), 1),)?)*)*
                    $(Self::$Boxed(inner) => (Some(&inner.$boxed_result), inner.results()),)*
                    Self::Image(image) => (Some(&image.result), image.results),
                    _ => (None, 0),
                }
            }

            fn first_result_mut(&mut self) -> Option<&mut Value> {
                match self {
                    $(Self::$Operation { result, .. } => Some(result),)*
                    $($($(Self::$Row { $result, .. } => Some($result),)?)*)*
                    $(Self::$Boxed(inner) => Some(&mut inner.$boxed_result),)*
                    Self::Image(image) => (image.results > 0).then_some(&mut image.result),
                    _ => None,
                }
            }
        }

        impl Notation for Inst {
            fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$Operation { op, $($operand,)* .. } => {
                        write!(out, "{op:?}")?;
                        let [first, others @ ..] = [$($operand),*];
                        write!(out, " {first}")?;
                        others.into_iter().try_for_each(|value| write!(out, ", {value}"))?;
                    })*
                    $($(Self::$Row { $($($input,)* ..)? $($($field,)*)? } => {
                        write_row!(out, stringify!($Row), $($($piece)+)?);
                    })*)*
                    $(Self::$Boxed(inner) => {
                        let $Boxed { $($inner,)* .. } = &**inner;
                        write_row!(out, stringify!($Boxed), $($inner_piece)+);
                    })*
                    $(Self::$Effect(inner) => {
                        let $Effect { $($member,)* } = &**inner;
                        write_row!(out, stringify!($Effect), $($member_piece)+);
                    })*
                    Self::Image(image) => image.write(out)?,
                }
                Ok(())
            }

            fn read(line: &mut Cursor<'_>) -> Result<Self> {
                let name = line.next()?;
                Ok(match OPERATIONS.get(name) {
                    $(Some(Operation::$Operation(op)) => {
                        Self::$Operation { result: line.result, op: *op, $($operand: Value::read(line)?),* }
                    })*
                    None => match name {
                        $($(stringify!($Row) => {
                            $($(read_piece!(line, $piece);)+)?
                            Self::$Row { $($result: line.result, $($input),*)? $($($field),*)? }
                        })*)*
                        $(stringify!($Boxed) => {
                            $(read_piece!(line, $inner_piece);)+
                            Self::$Boxed(Box::new($Boxed { $boxed_result: line.result, $($inner),* }))
                        })*
                        $(stringify!($Effect) => {
                            $(read_piece!(line, $member_piece);)+
                            Self::$Effect(Box::new($Effect { $($member),* }))
                        })*
                        "Image" => Self::Image(Box::new(Image::read(line)?)),
                        _ => return Err("no such instruction"),
                    },
                })
            }
        }

        /// Operation whose name identifies its instruction.
        enum Operation {
            $($Operation($Op),)*
        }

        static OPERATIONS: LazyLock<HashMap<String, Operation>> = LazyLock::new(|| {
            let mut all = HashMap::default();
            $(all.extend($Op::ALL.iter().map(|op| (format!("{op:?}"), Operation::$Operation(*op))));)*
            all
        });
    };
}

instructions! {
    /// IR instruction.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    #[expect(missing_docs, reason = "the crate's documentation and the operands' types say what each does")]
    pub enum Inst;

    operations {
        Unary -> result { op: UnaryOp, a: Value };
        Binary -> result { op: BinaryOp, a: Value, b: Value };
        Ternary -> result { op: TernaryOp, a: Value, b: Value, c: Value };
    }

    boxed {
        Wide: None -> result { op, words } = (op " " words);
        Atomic64: Memory -> result { op, space, offset, value, comparator }
            = (op " " space ", " offset ", " value [" " comparator]);
        MatrixLoad: None -> result { form, space, offset, stride } = (form " " space ", " offset ", " stride);
        MatrixMultiply: None -> result { op, words } = (op " " words);
    }

    boxed_effects {
        MatrixStore: Memory { form, space, offset, stride, words }
            = (form " " space ", " offset ", " stride ", " words);
    }

    None {
        Const -> result { word: u32 } = ({hex word});
        LocalLoad -> result { local: Local, base: u32, index: Option<Value> }
            = (local "[" {decimal base} [" + " index] "]");
        TableLoad -> result { table: Table, index: Value } = (table ", " index);
        Input -> result { slot: u32 } = (slot);
        /// Word `word` of the parameters that the host passes with a wave's run. Without `of`, all
        /// lanes read the same word. With `of`, the host passes the parameters of 16 items, and the
        /// low four bits of `of` select the item.
        Parameter -> result { word: u32, of: Option<Value> } = (word [" of " of]);
        /// Fragment input at another position. It equals `Input` until the program becomes part of
        /// a kernel.
        Interpolate -> result { slot: u32, at: InterpolateAt } = (slot " " at);
        Load -> result { space: Space, offset: Value } = (space ", " offset);
        /// Size of a buffer's bound range in bytes: the low or high word (0 or 1) of the 64-bit
        /// size, or without `word` the largest 32-bit number for larger sizes.
        BufferLength -> result { resource: u32, element: Option<Value>, word: Option<u32> }
            = (resource ["[" element "]"] [" word " word]);
        /// Number of the lane in its wave.
        Lane -> result {};
        /// 1 if the lane is active at this instruction, else 0.
        IsActive -> result {};
        /// 1 if the lane is a helper, else 0.
        IsHelper -> result {};
        /// Bit mask of `a` with one bit for each lane of the wave, active or not.
        Ballot -> result { a: Value } = (a);
        /// Value of `a` in the lane that the low four bits of `index` select, active or not.
        Shuffle -> result { a: Value, index: Value } = (a ", " index);
    }

    Local {
        /// Store to word `base + index` of a local: to all lanes if `all` is true and any lane is
        /// active, else to active lanes only.
        LocalStore { all: bool, local: Local, base: u32, index: Option<Value>, value: Value }
            = (["all " all] local "[" {decimal base} [" + " index] "], " value);
    }

    Output {
        Output { slot: u32, value: Value } = (slot ", " value);
    }

    Memory {
        Store { space: Space, offset: Value, value: Value } = (space ", " offset ", " value);
        /// Store of the low 1 or 2 bytes of a word.
        StorePart { bytes: u32, space: Space, offset: Value, value: Value }
            = (bytes " " space ", " offset ", " value);
        Atomic -> result { op: AtomicOp, space: Space, offset: Value, value: Value, comparator: Option<Value> }
            = (op " " space ", " offset ", " value [", " comparator]);
    }

    Lane {
        /// End of the lane: it has no further effects and exports no fragment.
        Kill;
        /// Change of the lane to a helper: it continues without effects and exports no fragment.
        Demote;
    }

    Barrier {
        /// Barrier that waits until every wave of the workgroup reaches it.
        Barrier;
    }

    Flow {
        If { condition: Value } = (condition);
        Else;
        EndIf;
        Block;
        EndBlock;
        Loop;
        Continuing;
        EndLoop;
        Break { depth: u32 } = (depth);
        Continue { depth: u32 } = (depth);
    }
}

/// Writes the text after the results.
impl fmt::Display for Inst {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.write(formatter)
    }
}

impl Inst {
    /// Returns the values that the instruction defines.
    pub fn results(&self) -> impl ExactSizeIterator<Item = Value> + use<> {
        let (first, count) = self.first_result();
        let first = first.map_or(0, |first| first.0);
        (first..first + count).map(Value)
    }

    /// Replaces the first result by `map` of it. Further results follow it.
    pub fn map_results(&mut self, map: impl Fn(Value) -> Value) {
        self.first_result_mut().into_iter().for_each(|result| *result = map(*result));
    }

    /// Calls `visit` with every value that the instruction uses.
    pub fn operands(&self, mut visit: impl FnMut(Value)) {
        Field::operands(self, &mut visit);
    }

    /// Replaces every value that the instruction uses by `map` of it.
    pub fn map_operands(&mut self, map: impl Fn(Value) -> Value) {
        self.operands_mut(&mut |value| *value = map(*value));
    }

    /// Returns a copy with operands numbered from 0 on, and the original operands. Calls of the
    /// runtime use these numbers.
    ///
    /// Every operand has its own number, even if two operands are the same value. The state that
    /// was resolved for an instruction can therefore serve every program that includes the
    /// instruction.
    pub fn numbered(&self) -> (Self, Vec<Value>) {
        let (mut numbered, mut values) = (self.clone(), Vec::new());
        numbered.operands_mut(&mut |value| values.push(std::mem::replace(value, Value(values.len() as u32))));
        (numbered, values)
    }

    /// Returns the memory that the instruction accesses by byte offset.
    pub fn space(&self) -> Option<&Space> {
        Field::space(self)
    }

    /// Returns a mutable reference to the memory that the instruction accesses by byte offset.
    pub fn space_mut(&mut self) -> Option<&mut Space> {
        Field::space_mut(self)
    }
}
