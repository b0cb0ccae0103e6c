//! Preparation of texels for filtering: loading, decoding, border replacement and comparison.

use ash::vk;
use vitric_format as format;
use vitric_format::Class;
use vitric_ir::{BinaryOp as B, Dim, Image, ImageOp, Space, Type, UnaryOp as U, Value};
use vitric_memory::Swizzle;

use super::address::{Level, Tap};
use super::{Layout, RoutineBuilder, word};
use crate::format_ir;

/// Four components of each lane.
pub(super) type Texel = [Value; 4];

/// Texel that filtering combines with others component by component.
pub(super) enum FilterInput {
    /// Words of the texel, which take fewer registers than its components, and its position.
    Words(format_ir::Words, TexelLocation),
    /// Components of the texel.
    Decoded(Texel),
}

/// Position of a texel.
#[derive(Clone, Copy)]
pub(super) struct TexelLocation {
    pub(super) x: Tap,
    pub(super) y: Tap,
    /// Layer, slice or face.
    pub(super) slice: Tap,
    /// Address, if the routine loads the texel itself.
    pub(super) address: Option<Value>,
}

impl RoutineBuilder<'_> {
    /// Returns true if components are integers.
    pub(super) fn is_integer(&self) -> bool {
        self.state.aspect == vk::ImageAspectFlags::STENCIL || self.info.class.is_integer()
    }

    pub(super) fn component_type(&self) -> Type {
        if self.is_integer() { Type::I32 } else { Type::F32 }
    }

    /// Returns the reference that texels are compared with, if there is one.
    pub(super) fn reference(&self) -> Option<Value> {
        match &self.request.op {
            ImageOp::Sample { reference, .. } | ImageOp::Gather { reference, .. } => *reference,
            _ => None,
        }
    }

    /// Returns the largest code of components that are filtered as codes.
    pub(super) fn scale(&self) -> Option<u32> {
        let plain = self.state.aspect == vk::ImageAspectFlags::COLOR && self.state.layout != Layout::Fetched;
        if plain && self.reference().is_none() { format_ir::filterable_max_code(self.info) } else { None }
    }

    /// Returns a texel in the form that filtering combines: decoded, with border and comparison
    /// applied.
    pub(super) fn texel(&mut self, location: &TexelLocation, level: &Level) -> Texel {
        let texel = match location.address {
            Some(address) => self.loaded(address),
            None if self.state.layout == Layout::Blocks => {
                let words = self.fetched(location, level, Type::I32);
                self.decoded(&words[..self.texel_bytes().div_ceil(4) as usize])
            }
            None => {
                let ty = self.component_type();
                self.fetched(location, level, ty)
            }
        };
        let texel = self.or_border(texel, location);
        match self.reference() {
            Some(reference) => self.compared(texel[0], reference),
            None => texel,
        }
    }

    /// Returns a texel for filtering. A colour texel of at most one word is decoded later, one
    /// component at a time.
    pub(super) fn filter_input(&mut self, location: &TexelLocation, level: &Level) -> FilterInput {
        let plain = self.state.aspect == vk::ImageAspectFlags::COLOR && self.reference().is_none();
        let is_short = self.texel_bytes() <= 4 && format_ir::has_components(self.info);
        match location.address.filter(|_| plain && is_short) {
            Some(address) => FilterInput::Words(self.words(address), *location),
            None => FilterInput::Decoded(self.texel(location, level)),
        }
    }

    /// Returns component 0 to 3 of a texel.
    pub(super) fn component_of(&mut self, input: &FilterInput, component: u8) -> Value {
        match input {
            FilterInput::Decoded(texel) => texel[usize::from(component)],
            FilterInput::Words(words, location) => {
                let value = self.decoded_component(words, component);
                match self.is_inside(location) {
                    Some(inside) => {
                        let border = self.border_component(component);
                        self.b.select(inside, value, border)
                    }
                    None => value,
                }
            }
        }
    }

    pub(super) fn loaded(&mut self, address: Value) -> Texel {
        let words = self.words(address);
        self.decoded(&words)
    }

    fn words(&mut self, address: Value) -> format_ir::Words {
        let bytes = self.texel_bytes();
        let buffer = self.memory();
        match bytes {
            3 | 6 => self.straddling(buffer, address, bytes),
            1 | 2 => {
                let (word, shift) = self.word_and_shift(address);
                let word = self.b.load(buffer, word, Type::I32);
                std::iter::once(self.b.binary(B::ShrLogical, word, shift)).collect()
            }
            _ => self.words_at(buffer, address, bytes / 4),
        }
    }

    /// Returns the memory space of texels. Filtered texels are always in bounds (`last_byte`), so
    /// their space has no bounds check.
    ///
    /// Three cases need the check: single texels, planes of converted formats, and texels of 3 or
    /// 6 bytes. The second word of the latter may be out of bounds.
    fn memory(&self) -> Space {
        let filters = matches!(self.request.op, ImageOp::Sample { .. } | ImageOp::Gather { .. });
        let is_known = filters && self.state.conversion.is_none() && !matches!(self.texel_bytes(), 3 | 6);
        match is_known {
            true => Space::Texels(self.resource),
            false => Space::Buffer { resource: self.resource, element: None },
        }
    }

    /// Returns the address of the word that contains a byte, and the byte's offset in the word in
    /// bits.
    fn word_and_shift(&mut self, address: Value) -> (Value, Value) {
        let [word, byte] = [!3, 3].map(|mask| {
            let mask = self.b.int(mask);
            self.b.binary(B::And, address, mask)
        });
        let three = self.b.int(3);
        (word, self.b.binary(B::Shl, byte, three))
    }

    fn words_at(&mut self, buffer: Space, address: Value, count: u32) -> format_ir::Words {
        let word = |index: u32| {
            let at = self.b.int(index * 4);
            let offset = self.b.binary(B::IAdd, address, at);
            self.b.load(buffer, offset, Type::I32)
        };
        (0..count).map(word).collect()
    }

    /// Loads a texel of three components of one or two bytes, which may start at any component and
    /// end in the next word.
    fn straddling(&mut self, buffer: Space, address: Value, bytes: u32) -> format_ir::Words {
        let (first, shift) = self.word_and_shift(address);
        let (words, all) = (self.words_at(buffer, first, 2), self.b.int(32));
        let back = self.b.binary(B::ISub, all, shift);
        // Shifts by 32 return 0.
        let [low, high] = [words[0], words[1]].map(|word| self.b.binary(B::ShrLogical, word, shift));
        let crossed = self.b.binary(B::Shl, words[1], back);
        let low = self.b.binary(B::Or, low, crossed);
        if bytes > 4 { [low, high].into_iter().collect() } else { std::iter::once(low).collect() }
    }

    fn decoded(&mut self, words: &[Value]) -> Texel {
        let (zero, one) = (self.b.float(0.0), self.b.float(1.0));
        match self.state.aspect {
            vk::ImageAspectFlags::DEPTH => {
                let depth = format_ir::decode_depth(&mut self.b, self.info.depth_bits, words[0]);
                [depth, zero, zero, one]
            }
            vk::ImageAspectFlags::STENCIL => {
                let (zero, one) = (self.b.int(0), self.b.int(1));
                [self.stencil(words[0]), zero, zero, one]
            }
            _ if self.scale().is_some() => [0, 1, 2, 3].map(|component| self.decoded_component(words, component)),
            _ if self.state.decodes_codes => {
                let texel = format_ir::decode(&mut self.b, self.info, words);
                texel.map(|component| self.rounded_to_code(component))
            }
            _ => format_ir::decode(&mut self.b, self.info, words),
        }
    }

    /// Rounds a component like [`format::rounded_to_code`].
    fn rounded_to_code(&mut self, component: Value) -> Value {
        let [codes, zero, last] = [256.0, 0.0, 255.0].map(|value| self.b.float(value));
        let code = self.b.binary(B::FMul, component, codes);
        let code = self.b.unary(U::Floor, code);
        let code = self.b.binary(B::FMax, code, zero);
        let code = self.b.binary(B::FMin, code, last);
        format_ir::normalize_code(&mut self.b, code, 255)
    }

    /// Returns the stencil value of a word: the high byte if depth is in the same word, otherwise
    /// the low byte.
    fn stencil(&mut self, word: Value) -> Value {
        let (op, operand) = if self.info.is_packed() { (B::ShrLogical, 24) } else { (B::And, 0xff) };
        let operand = self.b.int(operand);
        self.b.binary(op, word, operand)
    }

    fn decoded_component(&mut self, words: &[Value], component: u8) -> Value {
        match self.scale() {
            Some(_) => format_ir::decode_code(&mut self.b, self.info, words, component),
            None => format_ir::decode_component(&mut self.b, self.info, words, component),
        }
    }

    /// Returns a texel that the runtime reads, as components or as words.
    fn fetched(&mut self, location: &TexelLocation, level: &Level, ty: Type) -> Texel {
        let (dim, arrayed) = match (self.state.dimensions, self.state.is_cube) {
            (1, _) => (Dim::D1, true),
            (3, _) => (Dim::D3, false),
            _ => (Dim::D2, true),
        };
        let mut coords = vec![location.x.index, location.y.index, location.slice.index];
        if self.state.dimensions == 1 {
            coords.remove(1);
        }
        let image = Image {
            op: ImageOp::Fetch { level: Some(level.number), sample: None },
            resource: 1,
            element: None,
            sampler: None,
            dim,
            arrayed,
            coords,
            offset: Vec::new(),
            number: 0,
            result: Value(0),
            results: 4,
        };
        let texel = self.b.image(image, ty);
        // The runtime has applied the view's component mapping, except for words.
        [texel[0], texel[1], texel[2], texel[3]]
    }

    /// Returns a condition that a texel is in bounds, if it may be out of bounds.
    fn is_inside(&mut self, location: &TexelLocation) -> Option<Value> {
        let known = [location.x.inside, location.y.inside, location.slice.inside].into_iter().flatten();
        known.reduce(|inside, known| self.b.binary(B::LogicalAnd, inside, known))
    }

    fn or_border(&mut self, texel: Texel, location: &TexelLocation) -> Texel {
        let Some(inside) = self.is_inside(location) else { return texel };
        let border = [0, 1, 2, 3].map(|component| self.border_component(component));
        // The runtime has applied the component mapping to fetched texels, so the border needs it
        // too.
        let border = if self.state.layout == Layout::Fetched { self.swizzled(border) } else { border };
        std::array::from_fn(|component| self.b.select(inside, texel[component], border[component]))
    }

    fn border_component(&mut self, component: u8) -> Value {
        let (ty, scale) = (self.component_type(), self.scale());
        let value = self.word(word::BORDER + u32::from(component), ty);
        match scale {
            Some(scale) => {
                let scale = self.b.float(scale as f32);
                self.b.binary(B::FMul, value, scale)
            }
            None => value,
        }
    }

    /// Returns 1 if the depth passes the comparison with the reference, otherwise 0.
    fn compared(&mut self, depth: Value, reference: Value) -> Texel {
        let (zero, one) = (self.b.float(0.0), self.b.float(1.0));
        let mut reference = self.operand(reference, Type::F32);
        if self.info.class == Class::Unorm {
            let clamped = self.b.binary(B::FMax, reference, zero);
            reference = self.b.binary(B::FMin, clamped, one);
        }
        let (a, d) = (reference, depth);
        let passes = match self.state.compare.unwrap_or(vk::CompareOp::NEVER) {
            vk::CompareOp::LESS => self.b.binary(B::FLt, a, d),
            vk::CompareOp::EQUAL => self.b.binary(B::FEq, a, d),
            vk::CompareOp::LESS_OR_EQUAL => self.b.binary(B::FLe, a, d),
            vk::CompareOp::GREATER => self.b.binary(B::FLt, d, a),
            vk::CompareOp::NOT_EQUAL => self.b.binary(B::FNe, a, d),
            vk::CompareOp::GREATER_OR_EQUAL => self.b.binary(B::FLe, d, a),
            vk::CompareOp::ALWAYS => return [one, zero, zero, one],
            _ => return [zero, zero, zero, one],
        };
        [self.b.select(passes, one, zero), zero, zero, one]
    }

    /// Converts the result of filtering to the result of the instruction.
    pub(super) fn finished(&mut self, texel: Texel) -> Texel {
        let texel = self.values(texel);
        // Comparison results have a single component.
        if self.reference().is_some() || self.state.layout == Layout::Fetched { texel } else { self.swizzled(texel) }
    }

    /// Converts codes to values, if texels are filtered as codes.
    pub(super) fn values(&mut self, texel: Texel) -> Texel {
        match self.scale() {
            Some(scale) => texel.map(|code| format_ir::normalize_code(&mut self.b, code, scale)),
            None => texel,
        }
    }

    fn swizzled(&mut self, texel: Texel) -> Texel {
        let ty = self.component_type();
        let class = if ty == Type::I32 { Class::Uint } else { Class::Unorm };
        self.state.swizzle.map(|swizzle| match swizzle {
            Swizzle::Zero => self.b.constant(0, ty),
            Swizzle::One => self.b.constant(format::one(class), ty),
            Swizzle::Component(component) => texel[usize::from(component & 3)],
        })
    }

    /// Converts a layer operand from float to a clamped layer number.
    pub(super) fn layer(&mut self, layer: Value) -> Value {
        let layer = self.operand(layer, Type::F32);
        let rounded = self.b.unary(U::RoundEven, layer);
        let index = self.b.unary(U::FToS, rounded);
        let (last, zero) = (self.word(word::LAST_LAYER, Type::I32), self.b.int(0));
        let index = self.b.binary(B::SMax, index, zero);
        self.b.binary(B::SMin, index, last)
    }
}
