//! Texts of the parts of instructions, and the macros that tables of them use.
//!
//! A row of a table has a variant with its fields, and the text after the variant's name as a list
//! of pieces. One list serves for printing and for parsing:
//!
//! | piece | text |
//! |---|---|
//! | `field` | the field's own text |
//! | `{hex field}`, `{decimal field}` | any 32-bit number; other numbers are limited |
//! | `", "` | this sign |
//! | `["[" field "]"]` | an optional field with the signs around it, or nothing |
//! | `["all " field]` | the sign if the field is true |
//!
//! The parser skips spaces and commas, and expects the rest of each sign.

use std::fmt::{self, Formatter};

use super::cursor::{Cursor, Result};
use super::{Local, Table, Value};

/// Part of an instruction that has a text.
pub(crate) trait Notation: Sized {
    /// Writes the text.
    fn write(&self, out: &mut Formatter<'_>) -> fmt::Result;

    /// Parses the text.
    ///
    /// # Errors
    /// Returns the problem if the line goes on with another text.
    fn read(line: &mut Cursor<'_>) -> Result<Self>;
}

/// Implements [`Notation`] for numbers with a prefix.
macro_rules! prefixed {
    ($($Name:ident $prefix:literal)*) => {
        $(impl Notation for $Name {
            fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
                write!(out, concat!($prefix, "{}"), self.0)
            }

            fn read(line: &mut Cursor<'_>) -> Result<Self> {
                line.prefixed($prefix).map($Name)
            }
        })*
    };
}

prefixed! { Value "%" Local "l" Table "t" }

impl Notation for u32 {
    fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }

    fn read(line: &mut Cursor<'_>) -> Result<Self> {
        line.prefixed("")
    }
}

impl<const N: usize> Notation for [Value; N] {
    fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_list(self, out)
    }

    fn read(line: &mut Cursor<'_>) -> Result<Self> {
        let mut values = [Value(0); N];
        values.iter_mut().try_for_each(|value| Value::read(line).map(|read| *value = read))?;
        Ok(values)
    }
}

/// All values up to the end of the line.
impl Notation for Vec<Value> {
    fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write_list(self, out)
    }

    fn read(line: &mut Cursor<'_>) -> Result<Self> {
        let mut values = Self::new();
        while line.peek().is_some() {
            values.push(Value::read(line)?);
        }
        Ok(values)
    }
}

/// Writes items with spaces between them.
pub(crate) fn write_list<T: fmt::Display>(items: &[T], out: &mut Formatter<'_>) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        write!(out, "{space}{item}")?;
    }
    Ok(())
}

/// Field that is written only in some of its states, with signs around it.
pub(crate) trait Optional: Sized {
    /// Writes the field and the signs, or nothing.
    fn write_between(&self, before: &str, after: &str, out: &mut Formatter<'_>) -> fmt::Result;

    /// Parses the field and the signs, or nothing.
    ///
    /// # Errors
    /// Returns the problem if another text follows the first sign.
    fn read_between(before: &str, after: &str, line: &mut Cursor<'_>) -> Result<Self>;
}

impl<T: Notation> Optional for Option<T> {
    fn write_between(&self, before: &str, after: &str, out: &mut Formatter<'_>) -> fmt::Result {
        let Some(field) = self else { return Ok(()) };
        out.write_str(before)?;
        field.write(out)?;
        out.write_str(after)
    }

    fn read_between(before: &str, after: &str, line: &mut Cursor<'_>) -> Result<Self> {
        if !line.eat_sign(before) {
            return Ok(None);
        }
        let field = T::read(line)?;
        line.sign(after)?;
        Ok(Some(field))
    }
}

impl Optional for bool {
    fn write_between(&self, before: &str, after: &str, out: &mut Formatter<'_>) -> fmt::Result {
        if *self { write!(out, "{before}{after}") } else { Ok(()) }
    }

    fn read_between(before: &str, _: &str, line: &mut Cursor<'_>) -> Result<Self> {
        Ok(line.eat_sign(before))
    }
}

/// Writes the name and the pieces of a row.
macro_rules! write_row {
    ($out:ident, $name:expr,) => {
        $out.write_str($name)?;
    };
    ($out:ident, $name:expr, $($piece:tt)+) => {
        $out.write_str($name)?;
        $out.write_str(" ")?;
        $($crate::notation::write_piece!($out, $piece);)+
    };
}

macro_rules! write_piece {
    ($out:ident, $sign:literal) => {
        $out.write_str($sign)?
    };
    ($out:ident, {hex $field:ident}) => {
        write!($out, "{:#x}", $field)?
    };
    ($out:ident, {decimal $field:ident}) => {
        write!($out, "{}", $field)?
    };
    ($out:ident, [$before:literal $field:ident $($after:literal)?]) => {
        $crate::notation::Optional::write_between($field, $before, concat!($($after)?), $out)?
    };
    ($out:ident, $field:ident) => {
        $crate::notation::Notation::write($field, $out)?
    };
}

/// Parses one piece of a row and defines a variable for its field.
macro_rules! read_piece {
    ($line:ident, $sign:literal) => {
        $line.sign($sign)?;
    };
    ($line:ident, {hex $field:ident}) => {
        let $field = $line.word()?;
    };
    ($line:ident, {decimal $field:ident}) => {
        let $field = $line.word()?;
    };
    ($line:ident, [$before:literal $field:ident $($after:literal)?]) => {
        let $field = $crate::notation::Optional::read_between($before, concat!($($after)?), $line)?;
    };
    ($line:ident, $field:ident) => {
        let $field = $crate::notation::Notation::read($line)?;
    };
}

/// Implements [`Notation`] for an enum. The string is the problem of a name that no row has.
macro_rules! notation {
    ($Name:ident $unknown:literal { $(
        $Variant:ident $({ $($field:ident),* })? $(( $($item:ident),* ))? = $name:literal $(($($piece:tt)+))?;
    )* }) => {
        impl $crate::notation::Notation for $Name {
            fn write(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $(
                    Self::$Variant $({ $($field),* })? $(( $($item),* ))? => {
                        $crate::notation::write_row!(out, $name, $($($piece)+)?);
                    }
                )* }
                Ok(())
            }

            fn read(line: &mut $crate::cursor::Cursor<'_>) -> $crate::cursor::Result<Self> {
                Ok(match line.next()? {
                    $($name => {
                        $($($crate::notation::read_piece!(line, $piece);)+)?
                        Self::$Variant $({ $($field),* })? $(( $($item),* ))?
                    })*
                    _ => return Err($unknown),
                })
            }
        }
    };
}

pub(crate) use {notation, read_piece, write_piece, write_row};
