//! Addressing: texel indices outside of an image are wrapped or map to the border.

use ash::vk;

use crate::texture::routine::MAX_COORDINATE;

/// Maps `index` into `0..size`. Returns `None` for the border.
#[inline]
pub(super) fn wrap(mode: vk::SamplerAddressMode, index: i32, size: i32) -> Option<i32> {
    if (0..size).contains(&index) {
        return Some(index);
    }
    match mode {
        vk::SamplerAddressMode::REPEAT => Some(index.rem_euclid(size)),
        vk::SamplerAddressMode::MIRRORED_REPEAT => {
            let turn = index.rem_euclid(size.saturating_mul(2));
            Some(if turn < size { turn } else { 2 * size - 1 - turn })
        }
        vk::SamplerAddressMode::CLAMP_TO_BORDER => None,
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => {
            Some((if index < 0 { -1 - index } else { index }).min(size - 1))
        }
        _ => Some(index.clamp(0, size - 1)),
    }
}

/// Returns `coordinate * size`, clamped to the range in which single-precision floats represent
/// every half. NaN is far outside.
#[inline]
pub(super) fn to_texels(coordinate: f32, size: i32, unnormalized: bool) -> f32 {
    let texels = if unnormalized { coordinate } else { coordinate * size as f32 };
    if texels.is_nan() { -MAX_COORDINATE } else { texels.clamp(-MAX_COORDINATE, MAX_COORDINATE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let wrapped = |mode| [-5, -1, 0, 3, 4, 9].map(|index| wrap(mode, index, 4).unwrap_or(-99));
        assert_eq!(wrapped(vk::SamplerAddressMode::REPEAT), [3, 3, 0, 3, 0, 1]);
        assert_eq!(wrapped(vk::SamplerAddressMode::MIRRORED_REPEAT), [3, 0, 0, 3, 3, 1]);
        assert_eq!(wrapped(vk::SamplerAddressMode::CLAMP_TO_EDGE), [0, 0, 0, 3, 3, 3]);
        assert_eq!(wrapped(vk::SamplerAddressMode::CLAMP_TO_BORDER), [-99, -99, 0, 3, -99, -99]);
        assert_eq!(wrapped(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE), [3, 0, 0, 3, 3, 3]);
    }
}
