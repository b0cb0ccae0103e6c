//! Operands of the parts of instructions.

use super::space::{InterpolateAt, Space};
use super::{Local, Table, Value};

/// Part of an instruction that may have operands and may be a memory space.
pub(crate) trait Field {
    /// Calls `visit` with every operand.
    fn operands(&self, _visit: &mut impl FnMut(Value)) {}

    /// Calls `visit` with a mutable reference to every operand, in the order of [`Self::operands`].
    fn operands_mut(&mut self, _visit: &mut impl FnMut(&mut Value)) {}

    /// Returns the memory space that this is or has.
    fn space(&self) -> Option<&Space> {
        None
    }

    /// Returns a mutable reference to the memory space that this is or has.
    fn space_mut(&mut self) -> Option<&mut Space> {
        None
    }
}

impl Field for Value {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        visit(*self);
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        visit(self);
    }
}

impl Field for Space {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        self.operand().operands(visit);
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.operand_mut().into_iter().for_each(visit);
    }

    fn space(&self) -> Option<&Space> {
        Some(self)
    }

    fn space_mut(&mut self) -> Option<&mut Space> {
        Some(self)
    }
}

impl Field for u32 {}
impl Field for bool {}
impl Field for Local {}
impl Field for Table {}

impl<T: Field> Field for Option<T> {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        self.iter().for_each(|field| field.operands(visit));
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(|field| field.operands_mut(visit));
    }
}

impl<const N: usize> Field for [Value; N] {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        self.iter().copied().for_each(visit);
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(visit);
    }
}

impl Field for Vec<Value> {
    fn operands(&self, visit: &mut impl FnMut(Value)) {
        self.iter().copied().for_each(visit);
    }

    fn operands_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.iter_mut().for_each(visit);
    }
}

/// Implements [`Field`] for a type from the fields that may have operands, in the operands' order.
macro_rules! operands {
    ($Name:ident { $($pattern:pat => $($field:ident)*;)* }) => {
        impl $crate::operands::Field for $Name {
            fn operands(&self, visit: &mut impl FnMut($crate::Value)) {
                match self { $($pattern => { $($field.operands(visit);)* })* }
            }

            fn operands_mut(&mut self, visit: &mut impl FnMut(&mut $crate::Value)) {
                match self { $($pattern => { $($field.operands_mut(visit);)* })* }
            }

            fn space(&self) -> Option<&$crate::Space> {
                match self { $($pattern => None$(.or($field.space()))*,)* }
            }

            fn space_mut(&mut self) -> Option<&mut $crate::Space> {
                match self { $($pattern => None$(.or($field.space_mut()))*,)* }
            }
        }
    };
}

operands! { InterpolateAt {
    Self::Centroid => ;
    Self::Sample(sample) => sample;
    Self::Offset(x, y) => x y;
} }

/// Defines an enum whose variants are written by their names. The string is the problem of a name
/// that no variant has.
macro_rules! named {
    ($(#[$meta:meta])* $Name:ident $unknown:literal { $($Variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $Name { $($Variant,)* }

        impl $Name {
            /// List of every variant.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];
        }

        impl $crate::operands::Field for $Name {}

        impl $crate::notation::Notation for $Name {
            fn write(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, out)
            }

            fn read(line: &mut $crate::cursor::Cursor<'_>) -> $crate::cursor::Result<Self> {
                match line.next()? {
                    $(stringify!($Variant) => Ok(Self::$Variant),)*
                    _ => Err($unknown),
                }
            }
        }
    };
}

pub(crate) use {named, operands};
