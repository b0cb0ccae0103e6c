//! Functions that replace the values an instruction uses or defines.

use super::{Atomic64, Image, ImageOp, Inst, InterpolateAt, Lod, Value};

/// Replaces every value that an instruction uses.
pub fn map_operands(inst: &mut Inst, map: impl Fn(Value) -> Value) {
    operands_mut(inst, &mut |value| *value = map(*value));
}

/// Returns a copy of an instruction with operands numbered from 0 on, and the original operands.
/// Calls of the runtime use these numbers.
///
/// Every operand has its own number, even if two operands are the same value. The state that was
/// resolved for an instruction can therefore serve every program that includes the instruction.
pub fn numbered(inst: &Inst) -> (Inst, Vec<Value>) {
    let (mut numbered, mut values) = (inst.clone(), Vec::new());
    operands_mut(&mut numbered, &mut |value| values.push(std::mem::replace(value, Value(values.len() as u32))));
    (numbered, values)
}

/// Replaces every value that an instruction defines. An image instruction's results must stay
/// consecutive.
pub fn map_results(inst: &mut Inst, map: impl Fn(Value) -> Value) {
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
        | Inst::IsHelper { result } => *result = map(*result),
        Inst::Wide(wide) => wide.result = map(wide.result),
        Inst::Atomic64(atomic) => atomic.result = map(atomic.result),
        Inst::Image(image) if image.results > 0 => image.result = map(image.result),
        _ => {}
    }
}

fn operands_mut(inst: &mut Inst, visit: &mut impl FnMut(&mut Value)) {
    match inst {
        Inst::Unary { a, .. } => visit(a),
        Inst::Binary { a, b, .. } => [a, b].into_iter().for_each(visit),
        Inst::Ternary { a, b, c, .. } => [a, b, c].into_iter().for_each(visit),
        Inst::LocalLoad { index, .. } => index.iter_mut().for_each(visit),
        Inst::LocalStore { index, value, .. } => index.iter_mut().chain([value]).for_each(visit),
        Inst::TableLoad { index, .. } => visit(index),
        Inst::Parameter { of, .. } => of.iter_mut().for_each(visit),
        Inst::Interpolate { at, .. } => interpolate_operands(at, visit),
        Inst::Output { value, .. } => visit(value),
        Inst::Load { space, offset, .. } => space.operand_mut().into_iter().chain([offset]).for_each(visit),
        Inst::Store { space, offset, value } | Inst::StorePart { space, offset, value, .. } => {
            space.operand_mut().into_iter().chain([offset, value]).for_each(visit);
        }
        Inst::Wide(wide) => wide.words.iter_mut().for_each(visit),
        Inst::Atomic64(atomic) => {
            let Atomic64 { space, offset, value, comparator, .. } = &mut **atomic;
            let words = [offset].into_iter().chain(value).chain(comparator.iter_mut().flatten());
            space.operand_mut().into_iter().chain(words).for_each(visit);
        }
        Inst::Ballot { a, .. } => visit(a),
        Inst::Shuffle { a, index, .. } => [a, index].into_iter().for_each(visit),
        Inst::Atomic { space, offset, value, comparator, .. } => {
            space.operand_mut().into_iter().chain([offset, value]).chain(comparator).for_each(visit);
        }
        Inst::BufferLength { element, .. } => element.iter_mut().for_each(visit),
        Inst::Image(image) => image_operands(image, visit),
        Inst::If { condition } => visit(condition),
        _ => {}
    }
}

fn interpolate_operands(at: &mut InterpolateAt, visit: &mut impl FnMut(&mut Value)) {
    match at {
        InterpolateAt::Centroid => {}
        InterpolateAt::Sample(sample) => visit(sample),
        InterpolateAt::Offset(x, y) => [x, y].into_iter().for_each(visit),
    }
}

fn image_operands(image: &mut Image, visit: &mut impl FnMut(&mut Value)) {
    image.coords.iter_mut().chain(&mut image.offset).chain(&mut image.element).for_each(&mut *visit);
    image.sampler.iter_mut().filter_map(|(_, element)| element.as_mut()).for_each(&mut *visit);
    match &mut image.op {
        ImageOp::Sample { lod, reference } => {
            lod_operands(lod, visit);
            reference.iter_mut().for_each(visit);
        }
        ImageOp::Gather { component, reference, .. } => component.iter_mut().chain(reference).for_each(visit),
        ImageOp::Fetch { level, sample } => level.iter_mut().chain(sample).for_each(visit),
        ImageOp::Read { sample } => sample.iter_mut().for_each(visit),
        ImageOp::Write { sample, texel } => sample.iter_mut().chain(texel).for_each(visit),
        ImageOp::Atomic { sample, value, comparator, .. } => {
            sample.iter_mut().chain(value).chain(comparator).for_each(visit);
        }
        ImageOp::Size { level } => level.iter_mut().for_each(visit),
        ImageOp::Levels | ImageOp::Samples | ImageOp::QueryLod => {}
    }
}

fn lod_operands(lod: &mut Lod, visit: &mut impl FnMut(&mut Value)) {
    match lod {
        Lod::Implicit { bias } => bias.iter_mut().for_each(visit),
        Lod::Explicit(level) => visit(level),
        Lod::Gradient { dx, dy } => dx.iter_mut().chain(dy).for_each(visit),
    }
}
