//! Advanced blend operations as IR: compositing, separable and HSL modes, and sums.
//!
//! Source: Vulkan specification, "Advanced Blend Operations"; W3C, "Compositing and Blending".

use ash::vk::{self, BlendOp as Op};
use vitric_ir::elementary::{max_of_numbers, min_of_numbers};
use vitric_ir::{BinaryOp as B, Builder, UnaryOp as U, Value};

use crate::state::AdvancedBlend;

/// Red, green and blue.
type Rgb = [Value; 3];

/// A colour of red, green, blue and alpha.
type Rgba = [Value; 4];

/// Returns true for an advanced operation.
pub(super) fn is_advanced(op: Op) -> bool {
    (Op::ZERO_EXT.as_raw()..=Op::BLUE_EXT.as_raw()).contains(&op.as_raw())
}

/// Returns the blended colour of a source and a destination.
pub(super) fn blended(b: &mut Builder, op: Op, state: AdvancedBlend, [source, destination]: [Rgba; 2]) -> Rgba {
    let mut a = Arithmetic(b);
    let is_sum = op.as_raw() >= Op::PLUS_EXT.as_raw();
    let result = match is_sum {
        true => {
            let source = if state.src_premultiplied { source } else { a.premultiplied(source) };
            let destination = if state.dst_premultiplied { destination } else { a.premultiplied(destination) };
            a.sum_of(op, source, destination)
        }
        false => {
            let source = if state.src_premultiplied { a.base(source) } else { source };
            let destination = if state.dst_premultiplied { a.base(destination) } else { destination };
            a.weighted(op, state.overlap, [source, destination])
        }
    };
    // All operations yield premultiplied colours.
    let result = if state.dst_premultiplied { result } else { a.base(result) };
    match state.clamps {
        true => result.map(|value| a.clamped(value)),
        false => result,
    }
}

/// Returns the factors X, Y and Z of an operation: the parts of the pixel that the result covers.
fn factors(op: Op) -> [bool; 3] {
    match op {
        Op::ZERO_EXT => [false, false, false],
        Op::SRC_EXT | Op::DST_ATOP_EXT => [true, true, false],
        Op::DST_EXT | Op::SRC_ATOP_EXT | Op::INVERT_EXT | Op::INVERT_RGB_EXT => [true, false, true],
        Op::SRC_IN_EXT | Op::DST_IN_EXT => [true, false, false],
        Op::SRC_OUT_EXT => [false, true, false],
        Op::DST_OUT_EXT => [false, false, true],
        Op::XOR_EXT => [false, true, true],
        _ => [true, true, true],
    }
}

/// Arithmetic of floats on a builder.
struct Arithmetic<'b>(&'b mut Builder);

impl Arithmetic<'_> {
    fn number(&mut self, value: f32) -> Value {
        self.0.float(value)
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.0.binary(B::FAdd, x, y)
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        self.0.binary(B::FSub, x, y)
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        self.0.binary(B::FMul, x, y)
    }

    fn div(&mut self, x: Value, y: Value) -> Value {
        self.0.binary(B::FDiv, x, y)
    }

    fn min(&mut self, x: Value, y: Value) -> Value {
        min_of_numbers(self.0, x, y)
    }

    fn max(&mut self, x: Value, y: Value) -> Value {
        max_of_numbers(self.0, x, y)
    }

    fn scaled(&mut self, factor: f32, x: Value) -> Value {
        let factor = self.number(factor);
        self.mul(factor, x)
    }

    /// Returns `1 - x`.
    fn rest(&mut self, x: Value) -> Value {
        let one = self.number(1.0);
        self.sub(one, x)
    }

    fn clamped(&mut self, x: Value) -> Value {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let x = self.max(zero, x);
        self.min(one, x)
    }

    /// Returns `yes` where `x < y`, else `no`.
    fn if_less(&mut self, x: Value, y: Value, [yes, no]: [Value; 2]) -> Value {
        let is_less = self.0.binary(B::FLt, x, y);
        self.0.select(is_less, yes, no)
    }

    /// Returns `yes` where `x <= y`, else `no`.
    fn if_most(&mut self, x: Value, y: Value, [yes, no]: [Value; 2]) -> Value {
        let is_most = self.0.binary(B::FLe, x, y);
        self.0.select(is_most, yes, no)
    }

    fn premultiplied(&mut self, [red, green, blue, alpha]: Rgba) -> Rgba {
        [self.mul(red, alpha), self.mul(green, alpha), self.mul(blue, alpha), alpha]
    }

    /// Returns a colour that is not premultiplied: black where alpha is zero.
    fn base(&mut self, [red, green, blue, alpha]: Rgba) -> Rgba {
        let zero = self.number(0.0);
        let is_clear = self.0.binary(B::FEq, alpha, zero);
        let mut quotient = |part| {
            let part = self.div(part, alpha);
            self.0.select(is_clear, zero, part)
        };
        [quotient(red), quotient(green), quotient(blue), alpha]
    }

    /// Returns the parts of a pixel that both colours cover, the source alone, and the destination
    /// alone.
    fn parts(&mut self, overlap: vk::BlendOverlapEXT, source: Value, destination: Value) -> [Value; 3] {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let rests = [self.rest(source), self.rest(destination)];
        match overlap {
            vk::BlendOverlapEXT::CONJOINT => {
                let differences = [self.sub(source, destination), self.sub(destination, source)];
                let [first, second] = differences.map(|difference| self.max(difference, zero));
                [self.min(source, destination), first, second]
            }
            vk::BlendOverlapEXT::DISJOINT => {
                let sum = self.add(source, destination);
                let excess = self.sub(sum, one);
                [self.max(excess, zero), self.min(source, rests[1]), self.min(destination, rests[0])]
            }
            _ => [self.mul(source, destination), self.mul(source, rests[1]), self.mul(destination, rests[0])],
        }
    }

    /// Returns a colour of the f/X/Y/Z and HSL operations, from colours that are not premultiplied.
    fn weighted(&mut self, op: Op, overlap: vk::BlendOverlapEXT, [source, destination]: [Rgba; 2]) -> Rgba {
        let zero = self.number(0.0);
        let parts = self.parts(overlap, source[3], destination[3]);
        let [both, first, second] = factors(op);
        let [s, d] = [source, destination].map(|[red, green, blue, _]| [red, green, blue]);
        let mixed = self.mixed(op, s, d);
        let mut result = [zero; 4];
        for (component, value) in result.iter_mut().enumerate() {
            let is_alpha = component == 3;
            let one = self.number(1.0);
            let (mixed, s, d) = if is_alpha { (one, one, one) } else { (mixed[component], s[component], d[component]) };
            for (counts, part, color) in [(both, parts[0], mixed), (first, parts[1], s), (second, parts[2], d)] {
                if counts {
                    let part = self.mul(color, part);
                    *value = self.add(*value, part);
                }
            }
        }
        result
    }

    /// Returns the function f of an operation.
    fn mixed(&mut self, op: Op, s: Rgb, d: Rgb) -> Rgb {
        match op {
            Op::HSL_HUE_EXT => self.with_luminosity_and_saturation(s, d, d),
            Op::HSL_SATURATION_EXT => self.with_luminosity_and_saturation(d, s, d),
            Op::HSL_COLOR_EXT => self.with_luminosity(s, d),
            Op::HSL_LUMINOSITY_EXT => self.with_luminosity(d, s),
            _ => [0, 1, 2].map(|part| self.mixed_part(op, s[part], d[part])),
        }
    }

    fn mixed_part(&mut self, op: Op, s: Value, d: Value) -> Value {
        let (zero, half, one) = (self.number(0.0), self.number(0.5), self.number(1.0));
        match op {
            Op::SRC_EXT | Op::SRC_OVER_EXT | Op::SRC_IN_EXT | Op::SRC_ATOP_EXT => s,
            Op::DST_EXT | Op::DST_OVER_EXT | Op::DST_IN_EXT | Op::DST_ATOP_EXT => d,
            Op::MULTIPLY_EXT => self.mul(s, d),
            Op::SCREEN_EXT => self.screen(s, d),
            Op::OVERLAY_EXT => self.hard_light(d, s),
            Op::HARDLIGHT_EXT => self.hard_light(s, d),
            Op::SOFTLIGHT_EXT => self.soft_light(s, d),
            Op::DARKEN_EXT => self.min(s, d),
            Op::LIGHTEN_EXT => self.max(s, d),
            Op::COLORDODGE_EXT => {
                let dodged = self.dodge(d, s);
                let dodged = self.if_less(s, one, [dodged, one]);
                self.if_most(d, zero, [zero, dodged])
            }
            Op::COLORBURN_EXT => {
                let burnt = self.burn(d, s);
                let burnt = self.if_most(s, zero, [zero, burnt]);
                self.if_less(d, one, [burnt, one])
            }
            Op::DIFFERENCE_EXT => {
                let difference = self.sub(d, s);
                self.0.unary(U::FAbs, difference)
            }
            Op::EXCLUSION_EXT => {
                let (sum, product) = (self.add(s, d), self.mul(s, d));
                let twice = self.scaled(2.0, product);
                self.sub(sum, twice)
            }
            Op::INVERT_EXT => self.rest(d),
            Op::INVERT_RGB_EXT => {
                let rest = self.rest(d);
                self.mul(s, rest)
            }
            Op::LINEARDODGE_EXT => {
                let sum = self.add(s, d);
                self.min(one, sum)
            }
            Op::LINEARBURN_EXT => {
                let sum = self.add(s, d);
                let excess = self.sub(sum, one);
                self.max(zero, excess)
            }
            Op::VIVIDLIGHT_EXT => {
                let (twice, rest) = (self.scaled(2.0, s), self.rest(s));
                let rest = self.scaled(2.0, rest);
                let low = self.burn(d, twice);
                let low = self.if_most(s, zero, [zero, low]);
                let high = self.div(d, rest);
                let high = self.min(one, high);
                let high = self.if_less(s, one, [high, one]);
                self.if_less(s, half, [low, high])
            }
            Op::LINEARLIGHT_EXT => {
                let twice = self.scaled(2.0, s);
                let sum = self.add(twice, d);
                let excess = self.sub(sum, one);
                self.clamped(excess)
            }
            Op::PINLIGHT_EXT => self.pin_light(s, d),
            Op::HARDMIX_EXT => {
                let sum = self.add(s, d);
                self.if_less(sum, one, [zero, one])
            }
            _ => zero,
        }
    }

    /// Returns `s + d - s * d`.
    fn screen(&mut self, s: Value, d: Value) -> Value {
        let (sum, product) = (self.add(s, d), self.mul(s, d));
        self.sub(sum, product)
    }

    fn hard_light(&mut self, s: Value, d: Value) -> Value {
        let (half, one) = (self.number(0.5), self.number(1.0));
        let product = self.mul(s, d);
        let dark = self.scaled(2.0, product);
        let rests = [self.rest(s), self.rest(d)];
        let product = self.mul(rests[0], rests[1]);
        let light = self.scaled(2.0, product);
        let light = self.sub(one, light);
        self.if_most(s, half, [dark, light])
    }

    fn soft_light(&mut self, s: Value, d: Value) -> Value {
        let (half, one, quarter) = (self.number(0.5), self.number(1.0), self.number(0.25));
        let twice = self.scaled(2.0, s);
        let weight = self.sub(twice, one);
        // Below one half: d + (2s - 1) d (1 - d).
        let rest = self.rest(d);
        let dark = self.mul(d, rest);
        // From one half on: ((16d - 12) d + 3) d up to a quarter, and the root above.
        let (twelve, three) = (self.number(12.0), self.number(3.0));
        let steep = self.scaled(16.0, d);
        let steep = self.sub(steep, twelve);
        let steep = self.mul(steep, d);
        let steep = self.add(steep, three);
        let steep = self.mul(steep, d);
        let root = self.0.unary(U::Sqrt, d);
        let root = self.sub(root, d);
        let light = self.if_most(d, quarter, [steep, root]);
        let change = self.if_most(s, half, [dark, light]);
        let change = self.mul(weight, change);
        self.add(d, change)
    }

    /// Returns `min(1, d / (1 - s))`.
    fn dodge(&mut self, d: Value, s: Value) -> Value {
        let (one, rest) = (self.number(1.0), self.rest(s));
        let quotient = self.div(d, rest);
        self.min(one, quotient)
    }

    /// Returns `1 - min(1, (1 - d) / s)`.
    fn burn(&mut self, d: Value, s: Value) -> Value {
        let (one, rest) = (self.number(1.0), self.rest(d));
        let quotient = self.div(rest, s);
        let quotient = self.min(one, quotient);
        self.rest(quotient)
    }

    fn pin_light(&mut self, s: Value, d: Value) -> Value {
        let (zero, half, one) = (self.number(0.0), self.number(0.5), self.number(1.0));
        let (twice, half_of_d) = (self.scaled(2.0, s), self.scaled(0.5, d));
        let excess = self.sub(twice, one);
        let above = self.if_less(s, half, [zero, excess]);
        let below = self.if_less(s, half_of_d, [twice, d]);
        self.if_less(d, excess, [above, below])
    }

    fn luminosity(&mut self, [red, green, blue]: Rgb) -> Value {
        let parts = [self.scaled(0.30, red), self.scaled(0.59, green), self.scaled(0.11, blue)];
        let sum = self.add(parts[0], parts[1]);
        self.add(sum, parts[2])
    }

    fn least(&mut self, [red, green, blue]: Rgb) -> Value {
        let least = self.min(red, green);
        self.min(least, blue)
    }

    fn most(&mut self, [red, green, blue]: Rgb) -> Value {
        let most = self.max(red, green);
        self.max(most, blue)
    }

    /// Returns a colour with the luminosity of another one, moved into the range from 0 to 1.
    fn with_luminosity(&mut self, base: Rgb, of: Rgb) -> Rgb {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let luminosities = [self.luminosity(base), self.luminosity(of)];
        let difference = self.sub(luminosities[1], luminosities[0]);
        let color = base.map(|part| self.add(part, difference));
        let luminosity = self.luminosity(color);
        let (least, most) = (self.least(color), self.most(color));
        let (down, up) = (self.sub(luminosity, least), self.sub(most, luminosity));
        let room = self.rest(luminosity);
        color.map(|part| {
            let distance = self.sub(part, luminosity);
            let low = self.mul(distance, luminosity);
            let low = self.div(low, down);
            let low = self.add(luminosity, low);
            let part = self.if_less(least, zero, [low, part]);
            let distance = self.sub(part, luminosity);
            let high = self.mul(distance, room);
            let high = self.div(high, up);
            let high = self.add(luminosity, high);
            self.if_less(one, most, [high, part])
        })
    }

    /// Returns a colour with the saturation and luminosity of two others.
    fn with_luminosity_and_saturation(&mut self, base: Rgb, saturation: Rgb, luminosity: Rgb) -> Rgb {
        let zero = self.number(0.0);
        let (least, most) = (self.least(base), self.most(base));
        let range = self.sub(most, least);
        let ends = [self.least(saturation), self.most(saturation)];
        let wanted = self.sub(ends[1], ends[0]);
        let color = base.map(|part| {
            let part = self.sub(part, least);
            let part = self.mul(part, wanted);
            let part = self.div(part, range);
            self.if_less(zero, range, [part, zero])
        });
        self.with_luminosity(color, luminosity)
    }

    /// Returns a colour of the additional RGB operations, from premultiplied colours.
    fn sum_of(&mut self, op: Op, s: Rgba, d: Rgba) -> Rgba {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let sums = [0, 1, 2, 3].map(|part| self.add(s[part], d[part]));
        let differences = [0, 1, 2, 3].map(|part| self.sub(d[part], s[part]));
        let cover = self.min(one, sums[3]);
        let rgb = |part: [Value; 3], alpha: Value| [part[0], part[1], part[2], alpha];
        match op {
            Op::PLUS_EXT => sums,
            Op::PLUS_CLAMPED_EXT => sums.map(|sum| self.min(one, sum)),
            Op::PLUS_CLAMPED_ALPHA_EXT => rgb([0, 1, 2].map(|part| self.min(cover, sums[part])), cover),
            Op::PLUS_DARKER_EXT => {
                let darker = [0, 1, 2].map(|part| {
                    let lacks = [self.sub(s[3], s[part]), self.sub(d[3], d[part])];
                    let lack = self.add(lacks[0], lacks[1]);
                    let left = self.sub(cover, lack);
                    self.max(zero, left)
                });
                rgb(darker, cover)
            }
            Op::MINUS_EXT => differences,
            Op::MINUS_CLAMPED_EXT => differences.map(|difference| self.max(zero, difference)),
            Op::CONTRAST_EXT => {
                let halves = [self.scaled(0.5, s[3]), self.scaled(0.5, d[3])];
                let contrast = [0, 1, 2].map(|part| {
                    let distances = [self.sub(d[part], halves[1]), self.sub(s[part], halves[0])];
                    let twice = self.scaled(2.0, distances[0]);
                    let product = self.mul(twice, distances[1]);
                    self.add(halves[1], product)
                });
                rgb(contrast, d[3])
            }
            Op::INVERT_OVG_EXT => {
                let clear = self.rest(s[3]);
                let inverted = [0, 1, 2].map(|part| {
                    let rest = self.rest(d[part]);
                    let parts = [self.mul(s[3], rest), self.mul(clear, d[part])];
                    self.add(parts[0], parts[1])
                });
                let alpha = self.screen(s[3], d[3]);
                rgb(inverted, alpha)
            }
            Op::RED_EXT => [s[0], d[1], d[2], d[3]],
            Op::GREEN_EXT => [d[0], s[1], d[2], d[3]],
            _ => [d[0], d[1], s[2], d[3]],
        }
    }
}

#[cfg(test)]
mod tests;
