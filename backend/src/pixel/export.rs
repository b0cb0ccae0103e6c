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

/// Writes one fragment to the samples in `mask` of an attachment.
pub(super) fn export(
    context: &DrawContext<'_>,
    target: &ColorTarget<'_>,
    (x, y): (u32, u32),
    mask: u32,
    colors: Colors,
) {
    let mut remaining = mask;
    while remaining != 0 {
        let sample = remaining.trailing_zeros();
        remaining &= remaining - 1;
        export_sample(context, target, (x, y, sample), colors);
    }
}

fn export_sample(context: &DrawContext<'_>, target: &ColorTarget<'_>, (x, y, sample): (u32, u32, u32), colors: Colors) {
    let bytes = target.info.bytes as usize;
    let writes_all = target.blend.write_mask == vk::ColorComponentFlags::RGBA;
    let blends = target.blend.enable && !target.info.class.is_integer() && context.logic_op.is_none();
    let mut out = [0; 16];
    if writes_all && !blends && context.logic_op.is_none() {
        format::encode(target.info, colors.source, &mut out);
        target.plane.write(x, y, sample, &out[..bytes]);
        return;
    }
    let mut stored = [0; 16];
    target.plane.read(x, y, sample, &mut stored[..bytes]);
    let destination = format::decode(target.info, &stored);
    let result = if blends { blended(context, target, colors, destination) } else { colors.source };
    format::encode(target.info, result, &mut out);
    let fixed_or_integer = !matches!(target.info.class, Class::Sfloat | Class::Ufloat | Class::Srgb);
    if let Some(op) = context.logic_op.filter(|_| fixed_or_integer) {
        for (byte, &stored) in out.iter_mut().zip(&stored) {
            *byte = logic(op, *byte, stored);
        }
    }
    if !writes_all {
        mask_components(target, &stored, &mut out);
    }
    target.plane.write(x, y, sample, &out[..bytes]);
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
