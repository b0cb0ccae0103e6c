//! Bilinear filtering of a whole wave: two-dimensional images of four 8-bit fixed-point channels, the commonest of all.
//!
//! Everything computes what `filter` computes of one lane.

use ash::vk;

use super::filter::Sampling;
use super::lod::Levels;
use crate::memory::{PlaneRef, Swizzle};
use crate::shader::runtime::kernels::{Lanes, Mask, WAVE, kernel};
use crate::shader::runtime::lanes_of;

/// A value of each lane.
type Floats = [f32; WAVE];

/// Along one axis: the two texels that are read, and the share of the second.
struct Axis {
    indices: [[i32; WAVE]; 2],
    shares: Floats,
}

/// How indices outside of the image come back inside.
#[derive(Clone, Copy, PartialEq)]
enum Wrap {
    /// Sizes are powers of two.
    Repeat,
    Clamp,
}

fn wrap_of(mode: vk::SamplerAddressMode, size: i32) -> Option<Wrap> {
    match mode {
        vk::SamplerAddressMode::REPEAT if size.count_ones() == 1 => Some(Wrap::Repeat),
        vk::SamplerAddressMode::CLAMP_TO_EDGE => Some(Wrap::Clamp),
        _ => None,
    }
}

#[inline(always)]
fn axis_lanes(axis: &mut Axis, coordinates: &Lanes, size: i32, wrap: Wrap) {
    let wrapped = |index: i32| match wrap {
        Wrap::Repeat => index & (size - 1),
        Wrap::Clamp => index.max(0).min(size - 1),
    };
    for (lane, &bits) in coordinates.iter().enumerate() {
        let coordinate = f32::from_bits(bits);
        let texels = coordinate * size as f32;
        // NaN is 0; what is clamped is in the range of integers.
        let texels = if texels > -1.0e9 { texels } else { -1.0e9 };
        let texels = if texels < 1.0e9 { texels } else { 1.0e9 };
        let centred = if coordinate.is_nan() { 0.0 } else { texels } - 0.5;
        let low = centred.floor();
        axis.shares[lane] = centred - low;
        let low = low as i32;
        axis.indices[0][lane] = wrapped(low);
        axis.indices[1][lane] = wrapped(low.wrapping_add(1));
    }
}

kernel!(
    /// The texels along an axis.
    axis_of, axis_wide, axis_lanes, (axis: &mut Axis, coordinates: &Lanes, size: i32, wrap: Wrap)
);

/// A component of a texel: its code over 255, as `format` divides.
#[inline(always)]
fn component(word: u32, shift: u32) -> f32 {
    (word >> shift & 0xff) as f32 / 255.0
}

#[inline(always)]
fn mixed_lanes(out: &mut [Floats; 4], corners: &[Lanes; 4], shares: [&Floats; 2], shifts: [u32; 4]) {
    for (out, shift) in out.iter_mut().zip(shifts) {
        for lane in 0..WAVE {
            let corner = |number: usize| component(corners[number][lane], shift);
            let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
            let upper = mix(corner(0), corner(1), shares[0][lane]);
            let lower = mix(corner(2), corner(3), shares[0][lane]);
            out[lane] = mix(upper, lower, shares[1][lane]);
        }
    }
}

kernel!(
    /// The four corners mixed, x first.
    mixed, mixed_wide, mixed_lanes, (out: &mut [Floats; 4], corners: &[Lanes; 4], shares: [&Floats; 2], shifts: [u32; 4])
);

impl Sampling<'_> {
    /// Samples the lanes of a mask at the coordinates `u` and `v`, from levels that `chosen` tells of a lane. `None` when it
    /// takes more than this: another kind of image, format, filter or addressing, or lanes that read different levels.
    pub fn wave(
        &self,
        lanes: Mask,
        [u, v]: [&Lanes; 2],
        mut chosen: impl FnMut(&Self, usize) -> Levels,
    ) -> Option<[Lanes; 4]> {
        let shifts = self.plain_shifts()?;
        let first = chosen(self, lanes_of(lanes).next()?);
        let mut shares = [first.share; WAVE];
        if !self.ignores_lod() {
            for lane in lanes_of(lanes) {
                let levels = chosen(self, lane);
                if (levels.first, levels.second, levels.filter) != (first.first, first.second, first.filter) {
                    return None;
                }
                shares[lane] = levels.share;
            }
        }
        if first.filter != vk::Filter::LINEAR {
            return None;
        }
        let mut colors = self.wave_of_level(lanes, [u, v], first.first, shifts)?;
        if first.first != first.second && shares.iter().any(|&share| share != 0.0) {
            let seconds = self.wave_of_level(lanes, [u, v], first.second, shifts)?;
            for (color, second) in colors.iter_mut().zip(seconds) {
                for lane in 0..WAVE {
                    color[lane] += (second[lane] - color[lane]) * shares[lane];
                }
            }
        }
        Some(self.finished(lanes, &colors))
    }

    fn wave_of_level(
        &self,
        lanes: Mask,
        coordinates: [&Lanes; 2],
        number: u32,
        shifts: [u32; 4],
    ) -> Option<[Floats; 4]> {
        let level = self.level(number, 0);
        let plane = level.plane?;
        let modes = self.sampler().address_mode;
        let axis = |index: usize| {
            let mut axis = Axis { indices: [[0; WAVE]; 2], shares: [0.0; WAVE] };
            let size = level.size[index];
            axis_of(&mut axis, coordinates[index], size, wrap_of(modes[index], size)?);
            Some(axis)
        };
        let (x, y) = (axis(0)?, axis(1)?);
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)];
        let corners = corners.map(|(right, lower)| words_at(&plane, lanes, [&x.indices[right], &y.indices[lower]]));
        let mut colors = [[0.0; WAVE]; 4];
        mixed(&mut colors, &corners, [&x.shares, &y.shares], shifts);
        Some(colors)
    }

    /// The view's component mapping, and nothing in lanes that are not sampled.
    fn finished(&self, lanes: Mask, colors: &[Floats; 4]) -> [Lanes; 4] {
        let one = 1.0f32.to_bits();
        self.swizzles().map(|swizzle| {
            std::array::from_fn(|lane| match swizzle {
                _ if lanes >> lane & 1 == 0 => 0,
                Swizzle::Zero => 0,
                Swizzle::One => one,
                Swizzle::Component(component) => colors[usize::from(component & 3)][lane].to_bits(),
            })
        })
    }
}

#[inline(always)]
fn words_at(plane: &PlaneRef<'_>, lanes: Mask, [x, y]: [&[i32; WAVE]; 2]) -> Lanes {
    let mut words = [0; WAVE];
    for lane in lanes_of(lanes) {
        words[lane] = plane.read_word(x[lane] as u32, y[lane] as u32, 0);
    }
    words
}
