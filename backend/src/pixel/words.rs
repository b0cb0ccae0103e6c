//! Colours of a whole wave as words: export to attachments of four 8-bit channels, with and without blending.
//!
//! Everything computes what `blend` and `format` compute of one fragment.

use ash::vk;

use super::ColorTarget;
use crate::format::{Class, FormatInfo};
use crate::shader::interp::{Lanes, WAVE};
use crate::shader::runtime::math::within;
use crate::state::BlendState;

/// From here on single floats are integers: 1.5 * 2^23.
const INTEGERS: f32 = 12_582_912.0;

/// How the words of an attachment are made of a wave's outputs.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Bits by which the codes of red to alpha are shifted.
    shifts: [u32; 4],
    /// How stored colours take part.
    pub(super) blend: Option<BlendState>,
}

/// A value of each lane.
type Floats = [f32; WAVE];

/// Red to alpha of each lane.
type Colors = [Floats; 4];

impl Words {
    /// For an attachment all of whose components are written, without a second source; `None` for every other.
    pub fn new(info: &FormatInfo, blend: &BlendState, logic_op: Option<vk::LogicOp>, samples: u32) -> Option<Self> {
        let factors = [blend.src_color, blend.dst_color, blend.src_alpha, blend.dst_alpha];
        let second = blend.enable && factors.iter().any(|factor| is_of_second_source(*factor));
        let plain = blend.write_mask == vk::ColorComponentFlags::RGBA && logic_op.is_none() && !second;
        if !plain || samples != 1 || info.class != Class::Unorm || info.bytes != 4 || info.channels.len() != 4 {
            return None;
        }
        let mut shifts = [0; 4];
        for channel in info.channels {
            if channel.bits != 8 {
                return None;
            }
            *shifts.get_mut(usize::from(channel.component))? = u32::from(channel.offset);
        }
        Some(Self { shifts, blend: blend.enable.then_some(*blend) })
    }

    /// The words of all lanes.
    pub(super) fn encode(self, target: &ColorTarget<'_>, outputs: &[Lanes]) -> Lanes {
        let mut words = [0; WAVE];
        for (output, shift) in target.outputs.iter().zip(self.shifts) {
            if let Some(output) = output {
                add_codes(&mut words, &outputs[*output], shift);
            }
        }
        words
    }

    /// The words of all lanes, blended with what is stored.
    pub(super) fn encode_blended(
        self,
        (target, constants): (&ColorTarget<'_>, [f32; 4]),
        outputs: &[Lanes],
        stored: &Lanes,
    ) -> Lanes {
        let Some(state) = &self.blend else { return self.encode(target, outputs) };
        let mut source: Colors = [[0.0; WAVE]; 4];
        for (color, output) in source.iter_mut().zip(target.outputs) {
            if let Some(output) = output {
                *color = outputs[output].map(f32::from_bits);
            }
        }
        let mut words = [0; WAVE];
        let constants = constants.map(|value| within(value, 0.0, 1.0));
        blended_words(&mut words, state, &mut source, stored, &self.shifts, &constants);
        words
    }
}

fn is_of_second_source(factor: vk::BlendFactor) -> bool {
    use vk::BlendFactor as F;
    matches!(factor, F::SRC1_COLOR | F::ONE_MINUS_SRC1_COLOR | F::SRC1_ALPHA | F::ONE_MINUS_SRC1_ALPHA)
}

/// Blends all lanes and encodes the result.
#[inline(always)]
fn blended_lanes(
    words: &mut Lanes,
    state: &BlendState,
    source: &mut Colors,
    stored: &Lanes,
    shifts: &[u32; 4],
    constants: &[f32; 4],
) {
    let mut destination: Colors = [[0.0; WAVE]; 4];
    for component in 0..4 {
        for lane in 0..WAVE {
            // Fixed-point attachments clamp what blending combines; NaN is 0.
            let value = source[component][lane];
            let value = if value > 0.0 { value } else { 0.0 };
            source[component][lane] = if value < 1.0 { value } else { 1.0 };
            destination[component][lane] = (stored[lane] >> shifts[component] & 0xff) as f32 / 255.0;
        }
    }
    for component in 0..4 {
        let (from, to, op) = match component {
            3 => (state.src_alpha, state.dst_alpha, state.alpha_op),
            _ => (state.src_color, state.dst_color, state.color_op),
        };
        let operands = (&*source, &destination, constants);
        let (left, right) = (factors(from, component, operands), factors(to, component, operands));
        let (s, d) = (&source[component], &destination[component]);
        let color = each(|lane| match op {
            vk::BlendOp::ADD => s[lane] * left[lane] + d[lane] * right[lane],
            vk::BlendOp::SUBTRACT => s[lane] * left[lane] - d[lane] * right[lane],
            vk::BlendOp::REVERSE_SUBTRACT => d[lane] * right[lane] - s[lane] * left[lane],
            vk::BlendOp::MIN => s[lane].min(d[lane]),
            _ => s[lane].max(d[lane]),
        });
        add_codes_lanes(words, &color.map(f32::to_bits), shifts[component]);
    }
}

#[inline(always)]
fn each(value: impl Fn(usize) -> f32) -> Floats {
    let mut out = [0.0; WAVE];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = value(lane);
    }
    out
}

/// A blend factor of a component in every lane.
#[inline(always)]
fn factors(
    kind: vk::BlendFactor,
    component: usize,
    (source, destination, constants): (&Colors, &Colors, &[f32; 4]),
) -> Floats {
    use vk::BlendFactor as F;
    match kind {
        F::ZERO => [0.0; WAVE],
        F::ONE => [1.0; WAVE],
        F::SRC_COLOR => source[component],
        F::ONE_MINUS_SRC_COLOR => each(|lane| 1.0 - source[component][lane]),
        F::DST_COLOR => destination[component],
        F::ONE_MINUS_DST_COLOR => each(|lane| 1.0 - destination[component][lane]),
        F::SRC_ALPHA => source[3],
        F::ONE_MINUS_SRC_ALPHA => each(|lane| 1.0 - source[3][lane]),
        F::DST_ALPHA => destination[3],
        F::ONE_MINUS_DST_ALPHA => each(|lane| 1.0 - destination[3][lane]),
        F::CONSTANT_COLOR => [constants[component]; WAVE],
        F::ONE_MINUS_CONSTANT_COLOR => [1.0 - constants[component]; WAVE],
        F::CONSTANT_ALPHA => [constants[3]; WAVE],
        F::ONE_MINUS_CONSTANT_ALPHA => [1.0 - constants[3]; WAVE],
        _ if component == 3 => [1.0; WAVE],
        // `SRC_ALPHA_SATURATE`: factors of the second source do not come here.
        _ => each(|lane| source[3][lane].min(1.0 - destination[3][lane])),
    }
}

/// Adds the codes of a channel, as `format::encode` makes them.
#[inline(always)]
fn add_codes_lanes(words: &mut Lanes, channel: &Lanes, shift: u32) {
    for (word, &bits) in words.iter_mut().zip(channel) {
        let value = f32::from_bits(bits);
        // NaN is 0.
        let value = if value > 0.0 { value } else { 0.0 };
        let value = if value < 1.0 { value } else { 1.0 };
        // The unit of this sum is 1: the product, not rounded before, is rounded to nearest even. Half a unit over a code is
        // only 127.5, which goes to 128 either way.
        *word |= (value.mul_add(255.0, INTEGERS).to_bits() & 0xff) << shift;
    }
}

crate::shader::runtime::kernels::kernel!(
    /// Adds the codes of a channel, as `format::encode` makes them.
    add_codes, add_codes_wide, add_codes_lanes, (words: &mut Lanes, channel: &Lanes, shift: u32)
);

crate::shader::runtime::kernels::kernel!(
    /// Blends all lanes and encodes the result.
    blended_words, blended_words_wide, blended_lanes,
    (
        words: &mut Lanes, state: &BlendState, source: &mut Colors, stored: &Lanes, shifts: &[u32; 4], constants: &[f32; 4]
    )
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format;

    /// Any word, numbers in range and out, and those next to the middle of two codes.
    fn word() -> impl Strategy<Value = u32> {
        let middle = |(code, step): (u32, i32)| ((code as f32 + 0.5) / 255.0).to_bits().wrapping_add_signed(step);
        prop_oneof![any::<u32>(), (-0.5f32..1.5).prop_map(f32::to_bits), (0u32..255, -2i32..3).prop_map(middle)]
    }

    fn state(factors: [i32; 4], ops: [i32; 2]) -> BlendState {
        let [src_color, dst_color, src_alpha, dst_alpha] = factors.map(vk::BlendFactor::from_raw);
        let [color_op, alpha_op] = ops.map(vk::BlendOp::from_raw);
        let write_mask = vk::ColorComponentFlags::RGBA;
        BlendState { enable: true, src_color, dst_color, color_op, src_alpha, dst_alpha, alpha_op, write_mask }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn blended_words_are_those_of_one_fragment_after_the_other(
            colors in prop::array::uniform4(prop::array::uniform16(word())), stored in prop::array::uniform16(any::<u32>()),
            factors in prop::array::uniform4(0i32..15), ops in prop::array::uniform2(0i32..5),
            constants in prop::array::uniform4(0.0f32..1.0),
        ) {
            let state = state(factors, ops);
            let info = format::info(vk::Format::R8G8B8A8_UNORM).unwrap();
            let words = Words::new(info, &state, None, 1).unwrap();
            let mut source = colors.map(|lanes| lanes.map(f32::from_bits));
            let mut out = [0; WAVE];
            blended_words(&mut out, &state, &mut source, &stored, &words.shifts, &constants);
            for lane in 0..WAVE {
                let source = colors.map(|lanes| within(f32::from_bits(lanes[lane]), 0.0, 1.0));
                let destination = format::decode(info, &stored[lane].to_le_bytes()).map(f32::from_bits);
                let operands = super::super::blend::Operands { source, second: [0.0; 4], destination, constants };
                let mut bytes = [0; 4];
                format::encode(info, super::super::blend::blend(&state, &operands).map(f32::to_bits), &mut bytes);
                prop_assert_eq!(out[lane], u32::from_le_bytes(bytes), "lane {} of {:?}", lane, state);
            }
        }

        #[test]
        fn words_are_those_of_the_format_table(
            values in prop::array::uniform16(word()), swapped: bool,
        ) {
            let format = if swapped { vk::Format::B8G8R8A8_UNORM } else { vk::Format::R8G8B8A8_UNORM };
            let info = format::info(format).unwrap();
            let (factor, op) = (vk::BlendFactor::ONE, vk::BlendOp::ADD);
            let blend = BlendState {
                enable: false,
                src_color: factor,
                dst_color: factor,
                color_op: op,
                src_alpha: factor,
                dst_alpha: factor,
                alpha_op: op,
                write_mask: vk::ColorComponentFlags::RGBA,
            };
            let words = Words::new(info, &blend, None, 1).unwrap();
            for component in 0..4 {
                let mut sum = [0; WAVE];
                add_codes(&mut sum, &values, words.shifts[component]);
                for (lane, &value) in values.iter().enumerate() {
                    let mut texel = [0; 4];
                    texel[component] = value;
                    let mut out = [0; 4];
                    format::encode(info, texel, &mut out);
                    prop_assert_eq!(sum[lane], u32::from_le_bytes(out));
                }
            }
        }
    }
}
