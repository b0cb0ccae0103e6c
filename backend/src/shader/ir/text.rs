//! The text form: one instruction a line, indented by nesting, for people who debug programs.

use std::fmt;

use super::verify::{operands, results};
use super::{Function, Inst, Value};

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "%{}", self.0)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut indent = 0usize;
        for inst in &self.insts {
            let closes = matches!(inst, Inst::Else | Inst::EndIf | Inst::EndBlock | Inst::EndLoop | Inst::Continuing);
            let opens = matches!(inst, Inst::If { .. } | Inst::Else | Inst::Block | Inst::Loop | Inst::Continuing);
            indent -= usize::from(closes);
            writeln!(formatter, "{:1$}{2}", "", indent * 2, Line(inst))?;
            indent += usize::from(opens);
        }
        Ok(())
    }
}

struct Line<'a>(&'a Inst);

impl fmt::Display for Line<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let results: Vec<String> = results(self.0).iter().map(Value::to_string).collect();
        if !results.is_empty() {
            write!(formatter, "{} = ", results.join(", "))?;
        }
        let mut used = Vec::new();
        operands(self.0, |value| used.push(value.to_string()));
        write!(formatter, "{} {}", mnemonic(self.0), used.join(", "))
    }
}

fn mnemonic(inst: &Inst) -> String {
    match inst {
        Inst::Const { word, .. } => format!("const {word:#x}"),
        Inst::Unary { op, .. } => format!("{op:?}"),
        Inst::Binary { op, .. } => format!("{op:?}"),
        Inst::Ternary { op, .. } => format!("{op:?}"),
        Inst::LocalLoad { local, base, .. } => format!("local.load {}[{base}]", local.0),
        Inst::LocalStore { local, base, .. } => format!("local.store {}[{base}]", local.0),
        Inst::TableLoad { table, .. } => format!("table.load {}", table.0),
        Inst::Input { slot, .. } => format!("input {slot}"),
        Inst::Interpolate { slot, .. } => format!("interpolate {slot}"),
        Inst::Output { slot, .. } => format!("output {slot}"),
        Inst::Load { space, .. } => format!("load {space:?}"),
        Inst::Store { space, .. } => format!("store {space:?}"),
        Inst::Atomic { op, space, .. } => format!("atomic {op:?} {space:?}"),
        Inst::Break { depth } => format!("break {depth}"),
        Inst::Continue { depth } => format!("continue {depth}"),
        Inst::Image(image) => format!("image {:?}", image.op),
        other => format!("{other:?}"),
    }
}
