//! The verifier. Every value must be defined once and before its use, markers must nest, and
//! indices must be in range.

use super::{Dim, Function, Image, ImageOp, Inst, InterpolateAt, Lod, Space, Value};

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
        for result in results(inst) {
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
    operands(inst, |value| missing |= !defined.get(value.0 as usize).copied().unwrap_or(false));
    if missing {
        return Err("operand is not defined before");
    }
    match inst {
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } if local.0 as usize >= function.locals.len() => {
            Err("no such local")
        }
        Inst::TableLoad { table, .. } if table.0 as usize >= function.tables.len() => Err("no such table"),
        Inst::Image(image) => check_image(image),
        Inst::Wide(wide) if (wide.words.len() as u32, wide.results) != wide.op.shape() => {
            Err("a wide operation of another shape")
        }
        Inst::StorePart { bytes, .. } if !matches!(bytes, 1 | 2) => Err("a part has one or two bytes"),
        Inst::Load { space: Space::OfImage { image, .. }, .. }
        | Inst::Store { space: Space::OfImage { image, .. }, .. }
        | Inst::StorePart { space: Space::OfImage { image, .. }, .. }
        | Inst::Atomic { space: Space::OfImage { image, .. }, .. }
            if !has_routine(function, *image) =>
        {
            Err(NO_ROUTINE)
        }
        Inst::Atomic64(atomic) => match atomic.space {
            Space::OfImage { image, .. } if !has_routine(function, image) => Err(NO_ROUTINE),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

const NO_ROUTINE: &str = "a part of a look-up without its routine";

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

/// Returns the values that an instruction defines.
pub fn results(inst: &Inst) -> Vec<Value> {
    match inst {
        Inst::Const { result, .. }
        | Inst::Unary { result, .. }
        | Inst::Binary { result, .. }
        | Inst::Ternary { result, .. }
        | Inst::LocalLoad { result, .. }
        | Inst::TableLoad { result, .. }
        | Inst::Input { result, .. }
        | Inst::Parameter { result, .. }
        | Inst::Interpolate { result, .. }
        | Inst::Load { result, .. }
        | Inst::Atomic { result, .. }
        | Inst::BufferLength { result, .. }
        | Inst::Lane { result }
        | Inst::IsActive { result }
        | Inst::Ballot { result, .. }
        | Inst::Shuffle { result, .. }
        | Inst::IsHelper { result } => vec![*result],
        Inst::Wide(wide) => (0..wide.results).map(|index| Value(wide.result.0 + index)).collect(),
        Inst::Atomic64(atomic) => vec![atomic.result, Value(atomic.result.0 + 1)],
        Inst::Image(image) => (0..image.results).map(|index| Value(image.result.0 + index)).collect(),
        _ => Vec::new(),
    }
}

/// Calls `visit` with every value that an instruction uses.
pub fn operands(inst: &Inst, mut visit: impl FnMut(Value)) {
    let visit = &mut visit;
    match inst {
        Inst::Unary { a, .. } => visit(*a),
        Inst::Binary { a, b, .. } => [*a, *b].into_iter().for_each(visit),
        Inst::Ternary { a, b, c, .. } => [*a, *b, *c].into_iter().for_each(visit),
        Inst::LocalLoad { index, .. } => index.iter().copied().for_each(visit),
        Inst::LocalStore { index, value, .. } => index.iter().chain([value]).copied().for_each(visit),
        Inst::TableLoad { index, .. } => visit(*index),
        Inst::Parameter { of, .. } => of.iter().copied().for_each(visit),
        Inst::Interpolate { at, .. } => interpolate_operands(*at).into_iter().flatten().for_each(visit),
        Inst::Output { value, .. } => visit(*value),
        Inst::Load { space, offset, .. } => space.operand().into_iter().chain([*offset]).for_each(visit),
        Inst::Store { space, offset, value } | Inst::StorePart { space, offset, value, .. } => {
            space.operand().into_iter().chain([*offset, *value]).for_each(visit);
        }
        Inst::Wide(wide) => wide.words.iter().copied().for_each(visit),
        Inst::Atomic64(atomic) => {
            let words = [atomic.offset].into_iter().chain(atomic.value).chain(atomic.comparator.into_iter().flatten());
            atomic.space.operand().into_iter().chain(words).for_each(visit);
        }
        Inst::Ballot { a, .. } => visit(*a),
        Inst::Shuffle { a, index, .. } => [*a, *index].into_iter().for_each(visit),
        Inst::Atomic { space, offset, value, comparator, .. } => {
            space.operand().into_iter().chain([*offset, *value]).chain(*comparator).for_each(visit);
        }
        Inst::BufferLength { element, .. } => element.iter().copied().for_each(visit),
        Inst::Image(image) => image_operands(image, visit),
        Inst::If { condition } => visit(*condition),
        _ => {}
    }
}

fn interpolate_operands(at: InterpolateAt) -> [Option<Value>; 2] {
    match at {
        InterpolateAt::Centroid => [None, None],
        InterpolateAt::Sample(sample) => [Some(sample), None],
        InterpolateAt::Offset(x, y) => [Some(x), Some(y)],
    }
}

fn image_operands(image: &Image, visit: &mut impl FnMut(Value)) {
    image.coords.iter().chain(&image.offset).chain(&image.element).copied().for_each(&mut *visit);
    image.sampler.iter().filter_map(|(_, element)| *element).for_each(&mut *visit);
    match &image.op {
        ImageOp::Sample { lod, reference } => {
            match lod {
                Lod::Implicit { bias } => bias.iter().copied().for_each(&mut *visit),
                Lod::Explicit(level) => visit(*level),
                Lod::Gradient { dx, dy } => dx.iter().chain(dy).copied().for_each(&mut *visit),
            }
            reference.iter().copied().for_each(visit);
        }
        ImageOp::Gather { component, reference, .. } => component.iter().chain(reference).copied().for_each(visit),
        ImageOp::Fetch { level, sample } => level.iter().chain(sample).copied().for_each(visit),
        ImageOp::Read { sample } => sample.iter().copied().for_each(visit),
        ImageOp::Write { sample, texel } => sample.iter().chain(texel).copied().for_each(visit),
        ImageOp::Atomic { sample, value, comparator, .. } => {
            sample.iter().chain(value).chain(comparator).copied().for_each(visit);
        }
        ImageOp::Size { level } => level.iter().copied().for_each(visit),
        ImageOp::Levels | ImageOp::Samples | ImageOp::QueryLod => {}
    }
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
