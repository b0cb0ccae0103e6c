//! The text form of functions, with one instruction per line, indented by nesting.
//! [`parse`](super::parse) reads it.
//!
//! ```text
//! local 2                              ; locals and constant arrays first, numbered l0, t0, ...
//! table 1 2 3
//! %0: i32 = Const 0x5                  ; scalar operations have their names in `ops`
//! %1: f32 = Load buffer 0[%0], %0      ; an array's element is in brackets; also `push`, `shared`
//! LocalStore l0[1 + %0], %1
//! %2+4: f32 = Image sample resource=(0) dim=(D2) coords=(%1 %1) lod=(implicit)
//! ```

use std::fmt;

use super::notation::write_list;
use super::{Function, Inst, Type, Value};

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", self.0)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.locals.iter().try_for_each(|words| writeln!(formatter, "local {words}"))?;
        self.tables.iter().try_for_each(|words| {
            formatter.write_str("table ")?;
            write_list(words, formatter)?;
            writeln!(formatter)
        })?;
        let mut indent = 0usize;
        for inst in &self.insts {
            let closes = matches!(inst, Inst::Else | Inst::EndIf | Inst::EndBlock | Inst::EndLoop | Inst::Continuing);
            let opens = matches!(inst, Inst::If { .. } | Inst::Else | Inst::Block | Inst::Loop | Inst::Continuing);
            indent = indent.saturating_sub(usize::from(closes));
            write!(formatter, "{:1$}", "", indent * 2)?;
            self.write_results(inst, formatter)?;
            writeln!(formatter, "{inst}")?;
            indent += usize::from(opens);
        }
        Ok(())
    }
}

impl Function {
    /// Writes the left-hand side of an instruction's line.
    fn write_results(&self, inst: &Inst, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let results = inst.results();
        let count = results.len();
        let Some(first) = results.into_iter().next() else { return Ok(()) };
        let ty = match self.types.get(first.0 as usize) {
            Some(Type::Bool) => "bool",
            Some(Type::F32) => "f32",
            Some(Type::I32 | Type::I64 | Type::F64) | None => "i32",
        };
        if count > 1 { write!(out, "{first}+{count}: {ty} = ") } else { write!(out, "{first}: {ty} = ") }
    }
}
