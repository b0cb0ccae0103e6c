//! Decoding of ASTC blocks: 16 bytes for 4x4 to 12x12 texels, of low and of high range.
//!
//! A block has a grid of weights, packed from the block's end, and up to four pairs of colours
//! (`endpoint`), packed from its beginning. Both are integer sequences (`sequence`). Each texel
//! belongs to one pair (`partition`). The grid's weight at the texel interpolates between the
//! pair's two colours. Source: Khronos Data Format Specification, "ASTC Compressed Texture Image
//! Formats".

mod endpoint;
mod partition;
mod sequence;

use endpoint::{Endpoints, endpoints, value_count};
use partition::Pattern;
use sequence::{Digit, Range};

/// Interpretation and output type of decoded blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Linear, low range: half floats.
    Linear,
    /// sRGB: 8-bit codes that are not converted to linear.
    Srgb,
    /// High range: half floats.
    HighRange,
}

/// Most texels of a block.
const MAX_TEXELS: usize = 144;
/// Most weights of a block, in all planes together.
const MAX_WEIGHTS: u32 = 64;
/// Most values of all colours of a block.
const MAX_VALUES: usize = 18;
/// Weights of a plane.
///
/// A grid has at most 64. Interpolation at its last corner also reads further entries, with a
/// share of 0.
type Plane = [u32; 80];

const HALF_ONE: u16 = 0x3c00;

/// Decodes a block of `size` texels (at most 12x12), row by row.
///
/// Texels are half floats or codes, red to alpha, as `mode` specifies. Invalid blocks are magenta,
/// and so are high-range colours unless the mode is [`Mode::HighRange`].
pub(super) fn decode(block: u128, size: [u32; 2], mode: Mode) -> [[u16; 4]; MAX_TEXELS] {
    let mut out = [magenta(mode); MAX_TEXELS];
    if block & 0x1ff == 0x1fc {
        if let Some(color) = constant(block, mode) {
            out.fill(color);
        }
    } else if let Some(parsed) = Parsed::new(block, size) {
        parsed.texels(size, mode, &mut out);
    }
    out
}

fn magenta(mode: Mode) -> [u16; 4] {
    let one = if mode == Mode::Srgb { 255 } else { HALF_ONE };
    [one, 0, one, one]
}

/// Returns the colour of a void-extent block, or `None` if the block is invalid.
fn constant(block: u128, mode: Mode) -> Option<[u16; 4]> {
    let coordinate = |number: u32| (block >> (12 + 13 * number)) as u32 & 0x1fff;
    let [s_low, s_high, t_low, t_high] = [0, 1, 2, 3].map(coordinate);
    let unspecified = [s_low, s_high, t_low, t_high] == [0x1fff; 4];
    let high_range = block >> 9 & 1 == 1;
    let is_valid = block >> 10 & 3 == 3 && (unspecified || s_low < s_high && t_low < t_high);
    if !is_valid || high_range && mode != Mode::HighRange {
        return None;
    }
    let components = [0, 1, 2, 3].map(|component| (block >> (64 + 16 * component)) as u16);
    Some(if high_range { components } else { components.map(|component| low_range(component, mode)) })
}

/// Converts 16 bits of a low-range component to the output type of `mode`.
fn low_range(value: u16, mode: Mode) -> u16 {
    match (mode, value) {
        (Mode::Srgb, value) => value >> 8,
        (_, u16::MAX) => HALF_ONE,
        // Halves below 2^-14 are denormal.
        (_, 0..4) => value << 8,
        _ => {
            // The result is value / 65536, rounded towards zero.
            let exponent = value.ilog2();
            let mantissa = (u32::from(value) << 10 >> exponent) & 0x3ff;
            ((exponent - 1) << 10 | mantissa) as u16
        }
    }
}

/// Converts a 16-bit logarithm of a high-range component to a finite half float, piecewise
/// linearly.
fn high_range(value: u16) -> u16 {
    let (exponent, mantissa) = (value >> 11, value & 0x7ff);
    let bent = match mantissa {
        ..512 => 3 * mantissa,
        1536.. => 5 * mantissa - 2048,
        _ => 4 * mantissa - 512,
    };
    ((exponent << 10) + (bent >> 3)).min(0x7bff)
}

/// Layout of the grid of weights: the first field of a block.
struct Grid {
    width: u32,
    height: u32,
    range: Range,
    planes: u32,
}

impl Grid {
    /// Decodes a block mode. Returns `None` for reserved modes and for invalid grids.
    fn new(mode: u32, size: [u32; 2]) -> Option<Self> {
        let (low, dual, precise) = (mode & 3, mode >> 10 & 1, mode >> 9 & 1);
        let (a, b) = (mode >> 5 & 3, mode >> 7 & 3);
        let upper = mode >> 2 & 3;
        let (width, height, flags) = match (low, upper) {
            (0, 0) => return None,
            (0, _) => match (b, a) {
                (0, _) => (12, a + 2, (dual, precise)),
                (1, _) => (a + 2, 12, (dual, precise)),
                (2, _) => (a + 6, (mode >> 9 & 3) + 6, (0, 0)),
                (_, 0) => (6, 10, (dual, precise)),
                (_, 1) => (10, 6, (dual, precise)),
                _ => return None,
            },
            (_, 0) => (b + 4, a + 2, (dual, precise)),
            (_, 1) => (b + 8, a + 2, (dual, precise)),
            (_, 2) => (a + 2, b + 8, (dual, precise)),
            _ if b & 2 == 0 => (a + 2, (b & 1) + 6, (dual, precise)),
            _ => ((b & 1) + 2, a + 2, (dual, precise)),
        };
        let step = if low == 0 { upper } else { low } << 1 | mode >> 4 & 1;
        let grid = Self { width, height, range: Range::numbered(step - 2 + 6 * flags.1), planes: flags.0 + 1 };
        let fits = width <= size[0] && height <= size[1] && grid.count() <= MAX_WEIGHTS;
        (fits && (24..=96).contains(&grid.bits())).then_some(grid)
    }

    fn count(&self) -> u32 {
        self.width * self.height * self.planes
    }

    fn bits(&self) -> u32 {
        self.range.bits_of(self.count())
    }

    /// Returns the weights of each plane, row by row.
    fn weights(&self, block: u128) -> [Plane; 2] {
        let mut digits = [Digit::default(); MAX_WEIGHTS as usize];
        let digits = &mut digits[..self.count() as usize];
        self.range.unpack(block.reverse_bits(), digits);
        let mut planes = [[0; 80]; 2];
        for (index, &digit) in digits.iter().enumerate() {
            let count = self.planes as usize;
            planes[index % count][index / count] = self.range.weight(digit);
        }
        planes
    }
}

/// Fields of a valid block that is not a void-extent block.
struct Parsed {
    grid: Grid,
    weights: [Plane; 2],
    /// Component that uses the second plane of weights, or `usize::MAX` if there is one plane.
    second: usize,
    pairs: [Option<Endpoints>; 4],
    pattern: Option<Pattern>,
}

impl Parsed {
    fn new(block: u128, size: [u32; 2]) -> Option<Self> {
        let field = |low: u32, count: u32| (block >> low) as u32 & ((1 << count) - 1);
        let grid = Grid::new(field(0, 11), size)?;
        let count = field(11, 2) as usize + 1;
        if grid.planes == 2 && count == 4 {
            return None;
        }
        let mut end = 128 - grid.bits();
        let EndpointModes { modes, start, extra_bits } = EndpointModes::new(&field, count, end);
        end = end.checked_sub(extra_bits)?;
        let mut second = usize::MAX;
        if grid.planes == 2 {
            end -= 2;
            second = field(end, 2) as usize;
        }
        let pairs = pairs(block >> start, end.checked_sub(start)?, &modes[..count])?;
        let pattern = (count > 1).then(|| Pattern::new(field(13, 10), count, size[0] * size[1]));
        let weights = grid.weights(block);
        Some(Self { grid, weights, second, pairs, pattern })
    }

    fn texels(&self, size: [u32; 2], mode: Mode, out: &mut [[u16; 4]]) {
        let places = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y)));
        for (texel, (x, y)) in out.iter_mut().zip(places) {
            let number = self.pattern.as_ref().map_or(0, |pattern| pattern.at(x, y));
            let Some(pair) = &self.pairs[number] else { continue };
            if pair.high_range[0] && mode != Mode::HighRange {
                continue;
            }
            let at = Corner::new([x, y], size, &self.grid);
            let first = at.weight(&self.weights[0]);
            let second = if self.grid.planes == 2 { at.weight(&self.weights[1]) } else { first };
            *texel = std::array::from_fn(|component| {
                let weight = if component == self.second { second } else { first };
                between(pair, component, weight, mode)
            });
        }
    }
}

/// Modes of the colour pairs of a block, and places of the pairs' bits.
struct EndpointModes {
    /// Modes, as many as there are pairs.
    modes: [u32; 4],
    /// First bit of the pairs.
    start: u32,
    /// Number of mode bits directly below the weights.
    extra_bits: u32,
}

impl EndpointModes {
    /// Decodes the modes of `count` pairs. The weights begin at bit `end`.
    fn new(field: &impl Fn(u32, u32) -> u32, count: usize, end: u32) -> Self {
        if count == 1 {
            return Self { modes: [field(13, 4); 4], start: 17, extra_bits: 0 };
        }
        let class = field(23, 2);
        if class == 0 {
            return Self { modes: [field(25, 4); 4], start: 29, extra_bits: 0 };
        }
        let extra_bits = 3 * count as u32 - 4;
        let bits = field(25, 4) | field(end.saturating_sub(extra_bits), extra_bits) << 4;
        let mode = |pair: u32| {
            let (class_step, low) = (bits >> pair & 1, bits >> (count as u32 + 2 * pair) & 3);
            (class - 1 + class_step) << 2 | low
        };
        let modes = [0, 1, 2, 3].map(|pair| if pair < count as u32 { mode(pair) } else { 0 });
        Self { modes, start: 29, extra_bits }
    }
}

/// Decodes the colour pairs of `modes` from the lowest `available` bits.
///
/// Returns `None` if the values do not fit in these bits.
fn pairs(bits: u128, available: u32, modes: &[u32]) -> Option<[Option<Endpoints>; 4]> {
    let count: usize = modes.iter().map(|&mode| value_count(mode)).sum();
    if count > MAX_VALUES || available < (13 * count as u32).div_ceil(5) {
        return None;
    }
    let range = Range::largest(count as u32, available)?;
    let mut digits = [Digit::default(); MAX_VALUES];
    range.unpack(bits, &mut digits[..count]);
    let values = digits.map(|digit| range.endpoint(digit));
    let (mut pairs, mut first) = ([None; 4], 0);
    for (pair, &mode) in pairs.iter_mut().zip(modes) {
        let next = first + value_count(mode);
        *pair = Some(endpoints(mode, &values[first..next]));
        first = next;
    }
    Some(pairs)
}

/// Position of a texel in the grid of weights: a cell, and the shares of its corners in 16ths.
struct Corner {
    first: usize,
    width: usize,
    shares: [u32; 4],
}

impl Corner {
    fn new(texel: [u32; 2], size: [u32; 2], grid: &Grid) -> Self {
        let along = |axis: usize, points: u32| {
            let scale = (1024 + size[axis] / 2) / (size[axis] - 1);
            (scale * texel[axis] * (points - 1) + 32) >> 6
        };
        let (s, t) = (along(0, grid.width), along(1, grid.height));
        let (fs, ft) = (s & 15, t & 15);
        let both = (fs * ft + 8) >> 4;
        let shares = [16 + both - fs - ft, fs - both, ft - both, both];
        Self { first: ((s >> 4) + (t >> 4) * grid.width) as usize, width: grid.width as usize, shares }
    }

    fn weight(&self, plane: &Plane) -> u32 {
        let corners = [0, 1, self.width, self.width + 1].map(|step| plane[self.first + step]);
        let sum: u32 = corners.iter().zip(self.shares).map(|(weight, share)| weight * share).sum();
        (sum + 8) >> 4
    }
}

/// Interpolates a component between a pair's colours, `weight` 64ths away from the first.
fn between(pair: &Endpoints, component: usize, weight: u32, mode: Mode) -> u16 {
    let is_high = pair.high_range[usize::from(component == 3)];
    let [first, second] = pair.colors.map(|color| match (is_high, color[component] as u32) {
        (true, code) => code << 4,
        (false, code) if mode == Mode::Srgb => code << 8 | 0x80,
        (false, code) => code << 8 | code,
    });
    let value = ((first * (64 - weight) + second * weight + 32) >> 6) as u16;
    if is_high { high_range(value) } else { low_range(value, mode) }
}

#[cfg(test)]
mod tests;
