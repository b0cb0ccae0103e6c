//! Export as IR: blending, logic operations, write masks and encoding, specialised to an
//! attachment's format and state.
//!
//! Source: Vulkan specification, "The Framebuffer".

mod advanced;

use ash::vk;
use vitric_exec::format_ir::{self as routines, Words, clamped};
use vitric_format as format;
use vitric_format::{Class, FormatInfo};
use vitric_ir::elementary::{max_of_numbers, min_of_numbers};
use vitric_ir::{BinaryOp as B, Builder, Type, UnaryOp as U, Value};

use crate::state::BlendState;

/// State that determines how fragments are written to an attachment.
#[derive(Debug, Clone, Copy)]
pub struct Export {
    /// Format of the attachment.
    pub info: &'static FormatInfo,
    /// Blend state and write mask.
    pub blend: BlendState,
    /// Logic operation.
    pub logic_op: Option<vk::LogicOp>,
    /// True if alpha is replaced by one.
    pub alpha_to_one: bool,
    /// True if colours are dithered where the format's codes are coarse.
    pub dithers: bool,
}

/// Colours of a fragment, from red to alpha.
#[derive(Debug, Clone, Copy)]
pub struct Colors {
    /// First output colour.
    pub source: [Value; 4],
    /// Second output colour, for dual-source blending.
    pub second: [Value; 4],
    /// Blend constants.
    pub constants: [Value; 4],
    /// Offset of the pixel's colours in codes, from [`dither`], if they are dithered.
    pub dither: Option<Value>,
}

/// Most bits of a component that is dithered.
const MAX_DITHERED_BITS: u8 = 8;

/// Returns the offset of a pixel's colours for ordered dithering, more than -1/2 and less than 1/2.
/// Squares of 4x4 pixels have all of 16 offsets. A number that is a code stays the same, and others
/// become one of the two next codes.
///
/// Source: `VK_EXT_legacy_dithering`, which leaves the algorithm open.
pub fn dither(b: &mut Builder, place: [Value; 2]) -> Value {
    let [x, y] = place.map(|place| b.unary(U::FToS, place));
    let mixed = b.binary(B::Xor, x, y);
    let one = b.int(1);
    // The order of bits is that of a Bayer matrix: neighbours differ in the highest bit.
    let bits = [(mixed, 0, 3), (y, 0, 2), (mixed, 1, 1), (y, 1, 0)];
    let number = bits.into_iter().fold(None, |sum, (value, from, to)| {
        let (from, to) = (b.int(from), b.int(to));
        let bit = b.binary(B::ShrLogical, value, from);
        let bit = b.binary(B::And, bit, one);
        let bit = b.binary(B::Shl, bit, to);
        Some(sum.map_or(bit, |sum| b.binary(B::Or, sum, bit)))
    });
    let number = number.unwrap_or(one);
    let (number, step, first) = (b.unary(U::SToF, number), b.float(1.0 / 16.0), b.float(-15.0 / 32.0));
    let scaled = b.binary(B::FMul, number, step);
    b.binary(B::FAdd, scaled, first)
}

impl Export {
    /// Returns true if blending takes place.
    fn blends(&self) -> bool {
        self.blend.enable && !self.info.class.is_integer() && self.logic_op.is_none()
    }

    /// Returns true if colours of the attachment are dithered.
    pub fn can_dither(&self) -> bool {
        let is_coarse = self.info.channels.iter().all(|channel| channel.bits <= MAX_DITHERED_BITS);
        self.dithers && self.info.class == Class::Unorm && is_coarse
    }

    /// Adds the pixel's offset to colours.
    fn dithered(&self, b: &mut Builder, mut color: [Value; 4], offset: Value) -> [Value; 4] {
        for channel in self.info.channels {
            let component = &mut color[usize::from(channel.component)];
            let code = b.float(1.0 / ((1u32 << channel.bits) - 1) as f32);
            let step = b.binary(B::FMul, offset, code);
            // The sum must not be outside of the range that encoding clamps to.
            *component = clamped(b, *component, 0.0);
            *component = b.binary(B::FAdd, *component, step);
        }
        color
    }

    /// Returns the logic operation, if the format supports logic operations.
    fn logic(&self) -> Option<vk::LogicOp> {
        self.logic_op.filter(|_| !matches!(self.info.class, Class::Sfloat | Class::Ufloat | Class::Srgb))
    }

    /// Returns the bits of a texel that are written, and all bits of its channels.
    fn written_bits(&self) -> [u128; 2] {
        self.info.channels.iter().fold([0; 2], |[written, all], channel| {
            let bits = ((1u128 << channel.bits) - 1) << channel.offset;
            let is_written = self.blend.write_mask.as_raw() >> channel.component & 1 != 0;
            [written | if is_written { bits } else { 0 }, all | bits]
        })
    }

    /// Returns true if any channel of the format is written.
    pub fn writes_any(&self) -> bool {
        self.written_bits()[0] != 0
    }

    /// Returns true if some channel of the format is not written.
    fn is_masked(&self) -> bool {
        let [written, all] = self.written_bits();
        written != all
    }

    /// Returns true if the result depends on the stored texel.
    pub fn needs_stored(&self) -> bool {
        self.blends() || self.logic().is_some() || self.is_masked()
    }

    /// Returns the new words of the texel, or `None` if the format cannot be an attachment.
    pub fn words(&self, b: &mut Builder, mut colors: Colors, stored: &[Value]) -> Option<Words> {
        let ty = if self.info.class.is_integer() { Type::I32 } else { Type::F32 };
        for color in [&mut colors.source, &mut colors.second] {
            *color = color.map(|value| b.cast(value, ty));
            if self.alpha_to_one {
                color[3] = b.constant(format::one(self.info.class), ty);
            }
        }
        let color = if self.blends() { self.blended(b, &colors, stored) } else { colors.source };
        let color = match colors.dither {
            Some(offset) => self.dithered(b, color, offset),
            None => color,
        };
        let mut words = routines::encode(b, self.info, color)?;
        if let Some(op) = self.logic() {
            words = words.iter().zip(stored).map(|(&source, &stored)| logic(b, op, source, stored)).collect();
        }
        if self.is_masked() {
            words = self.masked(b, &words, stored);
        }
        Some(words)
    }

    /// Keeps the bits of components that are not written.
    fn masked(&self, b: &mut Builder, words: &[Value], stored: &[Value]) -> Words {
        let [written, _] = self.written_bits();
        let mask = |number: usize| (written >> (32 * number)) as u32;
        let merge = |(number, (&new, &old)): (usize, (&Value, &Value))| {
            let (written, kept) = (b.int(mask(number)), b.int(!mask(number)));
            let (new, old) = (b.binary(B::And, new, written), b.binary(B::And, old, kept));
            b.binary(B::Or, new, old)
        };
        words.iter().zip(stored).enumerate().map(merge).collect()
    }

    /// Clamps operands of blending to the range of fixed-point attachments.
    fn clamped(&self, b: &mut Builder, color: [Value; 4]) -> [Value; 4] {
        match self.info.class {
            Class::Unorm | Class::Srgb => color.map(|value| clamped(b, value, 0.0)),
            Class::Snorm => color.map(|value| clamped(b, value, -1.0)),
            _ => color,
        }
    }

    fn blended(&self, b: &mut Builder, colors: &Colors, stored: &[Value]) -> [Value; 4] {
        let operands = Operands {
            source: self.clamped(b, colors.source),
            second: self.clamped(b, colors.second),
            constants: self.clamped(b, colors.constants),
            destination: routines::decode(b, self.info, stored),
        };
        let state = &self.blend;
        if advanced::is_advanced(state.color_op) {
            return advanced::blended(b, state.color_op, state.advanced, [operands.source, operands.destination]);
        }
        [0, 1, 2, 3].map(|component| match component {
            3 => operands.combined(b, 3, (state.src_alpha, state.dst_alpha), state.alpha_op),
            color => operands.combined(b, color, (state.src_color, state.dst_color), state.color_op),
        })
    }
}

/// Operands of blending.
struct Operands {
    source: [Value; 4],
    second: [Value; 4],
    constants: [Value; 4],
    destination: [Value; 4],
}

impl Operands {
    fn combined(
        &self,
        b: &mut Builder,
        component: usize,
        (from, to): (vk::BlendFactor, vk::BlendFactor),
        op: vk::BlendOp,
    ) -> Value {
        let (source, destination) = (self.source[component], self.destination[component]);
        match op {
            vk::BlendOp::MIN => return min_of_numbers(b, source, destination),
            vk::BlendOp::MAX => return max_of_numbers(b, source, destination),
            _ => {}
        }
        let (left, right) = (self.factor(b, from, component), self.factor(b, to, component));
        let (left, right) = (product(b, source, left), product(b, destination, right));
        match op {
            vk::BlendOp::SUBTRACT => b.binary(B::FSub, left, right),
            vk::BlendOp::REVERSE_SUBTRACT => b.binary(B::FSub, right, left),
            _ => b.binary(B::FAdd, left, right),
        }
    }

    fn factor(&self, b: &mut Builder, kind: vk::BlendFactor, component: usize) -> Value {
        use vk::BlendFactor as F;
        let Self { source, second, constants, destination } = self;
        let one = b.float(1.0);
        let mut without = |value: Value| b.binary(B::FSub, one, value);
        match kind {
            F::ZERO => b.float(0.0),
            F::ONE => one,
            F::SRC_COLOR => source[component],
            F::ONE_MINUS_SRC_COLOR => without(source[component]),
            F::DST_COLOR => destination[component],
            F::ONE_MINUS_DST_COLOR => without(destination[component]),
            F::SRC_ALPHA => source[3],
            F::ONE_MINUS_SRC_ALPHA => without(source[3]),
            F::DST_ALPHA => destination[3],
            F::ONE_MINUS_DST_ALPHA => without(destination[3]),
            F::CONSTANT_COLOR => constants[component],
            F::ONE_MINUS_CONSTANT_COLOR => without(constants[component]),
            F::CONSTANT_ALPHA => constants[3],
            F::ONE_MINUS_CONSTANT_ALPHA => without(constants[3]),
            F::SRC_ALPHA_SATURATE if component == 3 => one,
            F::SRC_ALPHA_SATURATE => {
                let room = without(destination[3]);
                min_of_numbers(b, source[3], room)
            }
            F::SRC1_COLOR => second[component],
            F::ONE_MINUS_SRC1_COLOR => without(second[component]),
            F::SRC1_ALPHA => second[3],
            _ => without(second[3]),
        }
    }
}

/// Returns `color * factor`.
///
/// A factor of one is omitted. A factor of zero is not, because infinity times zero is NaN.
fn product(b: &mut Builder, color: Value, factor: Value) -> Value {
    if b.as_constant(factor) == Some(1.0f32.to_bits()) { color } else { b.binary(B::FMul, color, factor) }
}

/// Applies a logic operation to words of texels.
fn logic(b: &mut Builder, op: vk::LogicOp, s: Value, d: Value) -> Value {
    use vk::LogicOp as L;
    let ones = b.int(u32::MAX);
    let mut not = |value: Value| b.binary(B::Xor, value, ones);
    let (not_s, not_d) = (not(s), not(d));
    match op {
        L::CLEAR => b.int(0),
        L::AND => b.binary(B::And, s, d),
        L::AND_REVERSE => b.binary(B::And, s, not_d),
        L::COPY => s,
        L::AND_INVERTED => b.binary(B::And, not_s, d),
        L::NO_OP => d,
        L::XOR => b.binary(B::Xor, s, d),
        L::OR => b.binary(B::Or, s, d),
        L::NOR => b.binary(B::And, not_s, not_d),
        L::EQUIVALENT => b.binary(B::Xor, not_s, d),
        L::INVERT => not_d,
        L::OR_REVERSE => b.binary(B::Or, s, not_d),
        L::COPY_INVERTED => not_s,
        L::OR_INVERTED => b.binary(B::Or, not_s, d),
        L::NAND => b.binary(B::Or, not_s, not_d),
        _ => ones,
    }
}

#[cfg(test)]
mod tests;
