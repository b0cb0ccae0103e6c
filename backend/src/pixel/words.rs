//! Colours of a whole wave as words: the export of opaque fragments to attachments of four 8-bit channels.

use ash::vk;

use super::ColorTarget;
use crate::format::{Class, FormatInfo};
use crate::shader::interp::{Lanes, WAVE};
use crate::state::BlendState;

/// From here on single floats are integers: 1.5 * 2^23.
const INTEGERS: f32 = 12_582_912.0;

/// How the words of an attachment are made of a wave's outputs.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// Bits by which the codes of red to alpha are shifted.
    shifts: [u32; 4],
}

impl Words {
    /// For an attachment that is overwritten as it is, without blending or masks; `None` for every other.
    pub fn new(info: &FormatInfo, blend: &BlendState, logic_op: Option<vk::LogicOp>, samples: u32) -> Option<Self> {
        let plain = !blend.enable && blend.write_mask == vk::ColorComponentFlags::RGBA && logic_op.is_none();
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
        Some(Self { shifts })
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

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
