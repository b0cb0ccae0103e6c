//! The verifier. Every value must be defined once and before its use, markers must nest, and
//! indices must be in range.

use super::{Dim, Function, Image, Inst, Space};

/// Maximum number of result words of an image instruction, which is one texel.
const TEXEL: usize = 4;

/// Problem of a function and the instruction at which it was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("instruction {at}: {problem}")]
pub struct VerifyError {
    /// Index of the instruction.
    pub at: usize,
    /// Description of the problem.
    pub problem: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    If,
    Else,
    Block,
    Loop,
    Continuing,
}

/// Checks a function.
///
/// # Errors
/// Returns the first problem that is found.
pub fn verify(function: &Function) -> Result<(), VerifyError> {
    let mut open = Vec::new();
    let mut defined = vec![false; function.types.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        let fail = |problem| VerifyError { at, problem };
        check_operands(function, inst, &defined).map_err(fail)?;
        check_nesting(inst, &mut open).map_err(fail)?;
        for result in inst.results() {
            let slot = defined.get_mut(result.0 as usize).ok_or(fail("result has no type"))?;
            if std::mem::replace(slot, true) {
                return Err(fail("value defined twice"));
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(VerifyError { at: function.insts.len(), problem: "unclosed region" }) }
}

fn check_operands(function: &Function, inst: &Inst, defined: &[bool]) -> Result<(), &'static str> {
    let mut missing = false;
    inst.operands(|value| missing |= !defined.get(value.0 as usize).copied().unwrap_or(false));
    if missing {
        return Err("operand is not defined before");
    }
    match inst {
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } if local.0 as usize >= function.locals.len() => {
            Err("no such local")
        }
        Inst::TableLoad { table, .. } if table.0 as usize >= function.tables.len() => Err("no such table"),
        Inst::Image(image) => check_image(image),
        Inst::Wide(wide) if wide.words.len() as u32 != wide.op.shape().0 => Err("a wide operation of another shape"),
        Inst::MatrixMultiply(product) => product.parts().map(|_| ()),
        Inst::MatrixStore(store) if store.words.len() as u32 != store.form.words() => {
            Err("a store of a strip of another shape")
        }
        Inst::StorePart { bytes, .. } if !matches!(bytes, 1 | 2) => Err("a part has one or two bytes"),
        _ => match inst.space() {
            Some(Space::OfImage { image, .. }) if !has_routine(function, *image) => {
                Err("a part of an image without the image's routine")
            }
            _ => Ok(()),
        },
    }
}

fn has_routine(function: &Function, image: u32) -> bool {
    function.routines.iter().any(|(number, _)| *number == image)
}

/// Checks that an image instruction has no more coordinates than an executor can hold: three, and
/// a layer.
fn check_image(image: &Image) -> Result<(), &'static str> {
    let dimensions = image.coords.len().saturating_sub(usize::from(image.arrayed));
    let most = if image.arrayed && image.dim != Dim::Cube { 2 } else { 3 };
    if dimensions > most || image.coords.len() > 4 {
        return Err("an image has too many coordinates");
    }
    if image.results as usize > TEXEL { Err("an image instruction has at most four results") } else { Ok(()) }
}

fn check_nesting(inst: &Inst, open: &mut Vec<Open>) -> Result<(), &'static str> {
    match inst {
        Inst::If { .. } => open.push(Open::If),
        Inst::Else => replace(open, &[Open::If], Open::Else)?,
        Inst::EndIf => close(open, &[Open::If, Open::Else])?,
        Inst::Block => open.push(Open::Block),
        Inst::EndBlock => close(open, &[Open::Block])?,
        Inst::Loop => open.push(Open::Loop),
        Inst::Continuing => replace(open, &[Open::Loop], Open::Continuing)?,
        Inst::EndLoop => close(open, &[Open::Continuing])?,
        Inst::Break { depth } if frame(open, *depth).is_none() => return Err("break out of nothing"),
        Inst::Continue { depth } if frame(open, *depth) != Some(Open::Loop) => return Err("continue of no loop"),
        _ => {}
    }
    Ok(())
}

fn frame(open: &[Open], depth: u32) -> Option<Open> {
    let frames = open.iter().rev().filter(|open| !matches!(open, Open::If | Open::Else));
    frames.copied().nth(depth as usize)
}

fn close(open: &mut Vec<Open>, allowed: &[Open]) -> Result<(), &'static str> {
    match open.pop() {
        Some(top) if allowed.contains(&top) => Ok(()),
        _ => Err("regions do not nest"),
    }
}

fn replace(open: &mut Vec<Open>, allowed: &[Open], by: Open) -> Result<(), &'static str> {
    close(open, allowed)?;
    open.push(by);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, UnaryOp};
    use super::*;

    #[test]
    fn unclosed_and_misnested_regions_are_found() {
        let mut builder = Builder::new();
        builder.push(Inst::Block);
        assert_eq!(verify(&builder.finish()).unwrap_err().problem, "unclosed region");
        let misnested = Function { insts: vec![Inst::Loop, Inst::EndLoop], ..Function::default() };
        assert_eq!(verify(&misnested).unwrap_err().problem, "regions do not nest");
        let broken = Function { insts: vec![Inst::Break { depth: 0 }], ..Function::default() };
        assert_eq!(verify(&broken).unwrap_err().problem, "break out of nothing");
    }

    #[test]
    fn images_with_too_many_coordinates_or_results_are_found() {
        let check = |image: &str| {
            let text = format!("%0: i32 = Const 0\n{image}\n");
            verify(&super::super::parse(&text).unwrap()).map_err(|error| error.problem)
        };
        let levels = "%1: i32 = Image levels resource=(0)";
        let many = "an image has too many coordinates";
        assert_eq!(check(&format!("{levels} dim=(D3) arrayed=() coords=(%0 %0 %0 %0)")), Err(many));
        assert_eq!(check(&format!("{levels} dim=(D3) coords=(%0 %0 %0 %0)")), Err(many));
        assert_eq!(check(&format!("{levels} dim=(Cube) arrayed=() coords=(%0 %0 %0 %0)")), Ok(()));
        let mut five = super::super::parse("%0+4: i32 = Image size resource=(0) dim=(D2)\n").unwrap();
        five.types.push(super::super::Type::I32);
        if let Inst::Image(image) = &mut five.insts[0] {
            image.results = 5;
        }
        assert_eq!(verify(&five).unwrap_err().problem, "an image instruction has at most four results");
    }

    #[test]
    fn use_before_definition_is_found() {
        let mut builder = Builder::new();
        let later = builder.value(super::super::Type::I32);
        builder.unary(UnaryOp::INeg, later);
        assert_eq!(verify(&builder.finish()).unwrap_err().problem, "operand is not defined before");
    }
}
