//! Access to single texels: fetches, loads, stores and atomics. Out-of-bounds reads return the
//! value in the push constants, and out-of-bounds writes are dropped.

use vitric_ir::{AtomicOp, BinaryOp as B, Dim, Inst, Space, Type, UnaryOp as U, Value};

use super::address::Level;
use super::texel::Texel;
use super::{RoutineBuilder, word};
use crate::format_ir;

impl RoutineBuilder<'_> {
    /// Returns a texel of the level that each lane names.
    pub(super) fn fetched_texel(&mut self, level: Option<Value>, sample: Option<Value>) -> Texel {
        let Some(level) = level else {
            if self.state.excludes_base_level {
                return self.outside();
            }
            let base = self.b.int(0);
            return self.read_level(base, sample);
        };
        let (level, last) = (self.operand(level, Type::I32), self.word(word::LAST_LEVEL, Type::I32));
        let mut number = self.b.binary(B::UMin, level, last);
        if self.state.excludes_base_level {
            let least = self.word(word::MIN_LEVEL, Type::F32);
            let least = self.b.unary(U::FToS, least);
            number = self.b.binary(B::UMax, number, least);
        }
        let texel = if self.state.single_level {
            let base = self.b.int(0);
            self.read_level(base, sample)
        } else {
            self.for_each_level(number, |builder, number, result| {
                let texel = builder.read_level(number, sample);
                builder.store(result, texel);
            })
        };
        let exists = self.b.binary(B::IEq, number, level);
        self.or_outside(exists, texel)
    }

    fn read_level(&mut self, level: Value, sample: Option<Value>) -> Texel {
        let level = self.level(level);
        let (inside, address) = self.bounds_and_address(&level, sample);
        let texel = self.loaded(address);
        let texel = self.finished(texel);
        self.or_outside(inside, texel)
    }

    /// Returns the result of reading a missing texel or level.
    fn outside(&mut self) -> Texel {
        let ty = self.component_type();
        std::array::from_fn(|component| self.word(word::BORDER + component as u32, ty))
    }

    fn or_outside(&mut self, condition: Value, texel: Texel) -> Texel {
        let outside = self.outside();
        std::array::from_fn(|component| self.b.select(condition, texel[component], outside[component]))
    }

    /// Stores a texel. Returns `None` for formats that are never written.
    pub(super) fn write(&mut self, texel: [Value; 4], sample: Option<Value>) -> Option<()> {
        let ty = self.component_type();
        let texel = texel.map(|component| self.operand(component, ty));
        let words = format_ir::encode(&mut self.b, self.info, texel)?;
        self.if_inside(sample, |builder, space, address| {
            let bytes = builder.texel_bytes();
            if bytes < 4 {
                builder.b.push(Inst::StorePart { space, offset: address, value: words[0], bytes });
                return;
            }
            for (index, &value) in (0..).zip(&words) {
                let at = builder.b.int(index * 4);
                let offset = builder.b.binary(B::IAdd, address, at);
                builder.b.push(Inst::Store { space, offset, value });
            }
        });
        Some(())
    }

    /// Performs an atomic operation on a texel with as many words as the operands, and returns the
    /// old words. Returns `None` for formats of other sizes.
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        operands: [&[Value]; 2],
        sample: Option<Value>,
    ) -> Option<Vec<Value>> {
        let count = operands[0].len() as u32;
        if self.texel_bytes() != count * 4 {
            return None;
        }
        let old = self.b.local(count);
        self.if_inside(sample, |builder, space, offset| {
            let [value, comparator] = operands.map(|words| builder.number(words));
            let value = value.unwrap_or(offset);
            let before = match count {
                2 => builder.b.atomic64(space, offset, op, value, comparator),
                _ => builder.b.atomic(space, offset, op, value, comparator),
            };
            for (word, value) in (0..count).zip(builder.b.split(before)) {
                builder.b.local_store(old, word, None, value);
            }
        });
        Some((0..count).map(|word| self.b.local_load(old, word, None, Type::I32)).collect())
    }

    /// Returns an operand of one or two words.
    fn number(&mut self, words: &[Value]) -> Option<Value> {
        let low = self.operand(*words.first()?, Type::I32);
        let Some(&high) = words.get(1) else { return Some(low) };
        let high = self.operand(high, Type::I32);
        Some(self.b.join(low, high, Type::I64))
    }

    /// Emits `work` for the lanes whose texel is in bounds. `work` receives the memory and the
    /// texel's address.
    fn if_inside(&mut self, sample: Option<Value>, work: impl FnOnce(&mut Self, Space, Value)) {
        let base = self.b.int(0);
        let level = self.level(base);
        let (inside, address) = self.bounds_and_address(&level, sample);
        self.b.push(Inst::If { condition: inside });
        work(self, Space::Buffer { resource: 0, element: None }, address);
        self.b.push(Inst::EndIf);
    }

    /// Returns a condition that the texel is in bounds, and its address.
    fn bounds_and_address(&mut self, level: &Level, sample: Option<Value>) -> (Value, Value) {
        let ([x, y, slice], limits) = (self.position(), self.limits(level));
        let mut inside = self.b.binary(B::ULt, x, limits[0]);
        for (index, limit) in [(y, limits[1]), (slice, limits[2])] {
            let also = self.b.binary(B::ULt, index, limit);
            inside = self.b.binary(B::LogicalAnd, inside, also);
        }
        let mut address = self.address([x, y, slice], level);
        if let Some(sample) = sample.filter(|_| !self.is_replicated()) {
            let sample = self.operand(sample, Type::I32);
            let count = self.b.int(1 << self.state.samples_log2);
            let exists = self.b.binary(B::ULt, sample, count);
            inside = self.b.binary(B::LogicalAnd, inside, exists);
            let bytes = self.b.int(64 * self.texel_bytes());
            let step = self.b.binary(B::IMul, sample, bytes);
            address = self.b.binary(B::IAdd, address, step);
        }
        (inside, address)
    }

    /// Returns true if all samples have one value. This is the case for a single-sampled
    /// attachment of a multisampled pass.
    fn is_replicated(&self) -> bool {
        self.request.dim == Dim::Subpass && self.state.samples_log2 == 0
    }

    /// Returns column, row, and slice or layer.
    fn position(&mut self) -> [Value; 3] {
        let request = self.request;
        let mut coords: Vec<Value> = request.coords.iter().map(|&value| self.operand(value, Type::I32)).collect();
        // A storage cube's third coordinate is its face, plus 6 times the layer.
        let has_layer = request.arrayed || request.dim == Dim::Cube;
        let layer = if has_layer { coords.pop() } else { None };
        for (coordinate, &offset) in coords.iter_mut().zip(&request.offset) {
            let offset = self.operand(offset, Type::I32);
            *coordinate = self.b.binary(B::IAdd, *coordinate, offset);
        }
        coords.resize(3, self.b.int(0));
        if self.state.dimensions < 3 {
            coords[2] = layer.unwrap_or_else(|| self.b.int(0));
        }
        [coords[0], coords[1], coords[2]]
    }

    fn limits(&mut self, level: &Level) -> [Value; 3] {
        let [width, height, depth] = level.size;
        if self.state.dimensions == 3 {
            return [width, height, depth];
        }
        let (last, one) = (self.word(word::LAST_LAYER, Type::I32), self.b.int(1));
        [width, height, self.b.binary(B::IAdd, last, one)]
    }
}
