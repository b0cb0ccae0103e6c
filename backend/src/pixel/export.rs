//! Export: a shaded fragment's colours to its attachments' samples, blended, masked, encoded.

use ash::vk;

use super::blend::{Operands, blend, logic};
use super::{ColorTarget, DrawContext};
use crate::format::{self, Class, Texel};
use crate::shader::runtime::math::within;

/// Colours of one fragment for one attachment.
#[derive(Clone, Copy)]
pub(super) struct Colors {
    pub(super) source: Texel,
    pub(super) second: Texel,
}

/// How fragments get into an attachment.
pub(super) struct Encoder<'a> {
    context: &'a DrawContext<'a>,
    target: &'a ColorTarget<'a>,
    /// Nothing of what is stored is needed.
    overwrites: bool,
    blends: bool,
    writes_all: bool,
}

impl<'a> Encoder<'a> {
    /// Of an attachment of a draw.
    pub(super) fn new(context: &'a DrawContext<'a>, target: &'a ColorTarget<'a>) -> Self {
        let writes_all = target.blend.write_mask == vk::ColorComponentFlags::RGBA;
        let blends = target.blend.enable && !target.info.class.is_integer() && context.logic_op.is_none();
        let overwrites = writes_all && !blends && context.logic_op.is_none();
        Self { context, target, overwrites, blends, writes_all }
    }

    /// Writes one fragment to the samples in `mask`.
    pub(super) fn export(&self, (x, y): (u32, u32), mask: u32, colors: Colors) {
        let bytes = self.target.info.bytes as usize;
        let mut out = [0; 16];
        if self.overwrites {
            // The same for all samples.
            format::encode(self.target.info, colors.source, &mut out);
        }
        let mut remaining = mask;
        while remaining != 0 {
            let sample = remaining.trailing_zeros();
            remaining &= remaining - 1;
            if !self.overwrites {
                out = self.combined((x, y, sample), colors);
            }
            self.target.plane.write(x, y, sample, &out[..bytes]);
        }
    }

    /// A sample's new bytes, of its old ones and the fragment.
    fn combined(&self, (x, y, sample): (u32, u32, u32), colors: Colors) -> [u8; 16] {
        let (context, target) = (self.context, self.target);
        let mut stored = [0; 16];
        target.plane.read(x, y, sample, &mut stored[..target.info.bytes as usize]);
        let destination = format::decode(target.info, &stored);
        let result = if self.blends { blended(context, target, colors, destination) } else { colors.source };
        let mut out = [0; 16];
        format::encode(target.info, result, &mut out);
        let fixed_or_integer = !matches!(target.info.class, Class::Sfloat | Class::Ufloat | Class::Srgb);
        if let Some(op) = context.logic_op.filter(|_| fixed_or_integer) {
            for (byte, &stored) in out.iter_mut().zip(&stored) {
                *byte = logic(op, *byte, stored);
            }
        }
        if !self.writes_all {
            mask_components(target, &stored, &mut out);
        }
        out
    }
}

/// Puts back the bits of components that are not written.
fn mask_components(target: &ColorTarget<'_>, stored: &[u8; 16], out: &mut [u8; 16]) {
    let mut written = 0u128;
    for channel in target.info.channels {
        if target.blend.write_mask.as_raw() >> channel.component & 1 != 0 {
            written |= ((1u128 << channel.bits) - 1) << channel.offset;
        }
    }
    let merged = (u128::from_le_bytes(*stored) & !written) | (u128::from_le_bytes(*out) & written);
    *out = merged.to_le_bytes();
}

fn blended(context: &DrawContext<'_>, target: &ColorTarget<'_>, colors: Colors, destination: Texel) -> Texel {
    let floats = |texel: Texel| texel.map(f32::from_bits);
    // Fixed-point attachments clamp what blending combines.
    let clamp = |color: [f32; 4]| match target.info.class {
        Class::Unorm | Class::Srgb => color.map(|value| within(value, 0.0, 1.0)),
        Class::Snorm => color.map(|value| within(value, -1.0, 1.0)),
        _ => color,
    };
    let operands = Operands {
        source: clamp(floats(colors.source)),
        second: clamp(floats(colors.second)),
        destination: floats(destination),
        constants: clamp(context.blend_constants),
    };
    blend(&target.blend, &operands).map(f32::to_bits)
}
