//! Sizes of fragments. A fragment may be a cell of several pixels, which all get its colour.
//!
//! Cells lie on the grid of pixels, groups and tiles. A pixel's cell is its position shifted
//! right. Coverage and depth are those of
//! pixels and samples. A group consists of whole cells. Source: Vulkan specification, "Fragment
//! Shading Rates".

use super::group::pixel_of_bit;

/// Maximum number of samples of a fragment of several pixels: the bits of the word of coverage
/// that programs see.
pub const MAX_COVERAGE: u32 = u32::BITS;

/// Largest width and height of a fragment, as powers of two.
const MAX_LOG2: u8 = 2;

/// Areas that [`Rate::areas`] returns, by log2 of the width and height.
const AREAS: [[[u64; 4]; 3]; 3] = {
    let mut areas = [[[0; 4]; 3]; 3];
    let mut number = 0;
    while number < 9 {
        let [width, height] = [number / 3, number % 3];
        areas[width][height] = areas_of(width, height);
        number += 1;
    }
    areas
};

/// Returns the pixels of each of two by two fragments, as bits of a group, from log2 of their width
/// and height.
const fn areas_of(width: usize, height: usize) -> [u64; 4] {
    let (mut areas, mut bit) = ([0; 4], 0);
    while bit < u64::BITS {
        let [x, y] = pixel_of_bit(bit);
        let [across, down] = [x >> width, y >> height];
        if across < 2 && down < 2 {
            areas[(down * 2 + across) as usize] |= 1 << bit;
        }
        bit += 1;
    }
    areas
}

/// Least and greatest side of the pixels that a texel of a rate attachment is for. A group has one
/// size of fragments.
pub const TEXEL_SIZES: [u32; 2] = [8, 64];

/// Least and greatest side of the pixels that a texel of a density map is for.
pub const DENSITY_TEXEL_SIZES: [u32; 2] = [8, 1024];

/// Density of one fragment per pixel along an axis: the greatest byte of a normalized number.
const MAX_DENSITY: u8 = u8::MAX;

/// Size of a fragment: width and height of 1, 2 or 4 pixels each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rate {
    log2: [u8; 2],
}

impl Rate {
    /// One pixel.
    pub const PIXEL: Self = Self { log2: [0; 2] };

    /// Every size: from the widest to the narrowest, and from the highest to the lowest.
    pub const ALL: [Self; 9] = {
        let mut all = [Self::PIXEL; 9];
        let mut number = 0;
        while number < 9 {
            all[number] = Self { log2: [MAX_LOG2 - number as u8 / 3, MAX_LOG2 - number as u8 % 3] };
            number += 1;
        }
        all
    };

    /// Returns the size of a width and height in pixels, clamped to the largest size.
    pub fn of_size(size: [u32; 2]) -> Self {
        Self { log2: size.map(|pixels| (pixels.max(1).ilog2() as u8).min(MAX_LOG2)) }
    }

    /// Returns the size of a word, clamped to the largest size. [`Self::word`] tells the layout.
    pub fn of_word(word: u32) -> Self {
        Self { log2: [word >> 2 & 3, word & 3].map(|log2| (log2 as u8).min(MAX_LOG2)) }
    }

    /// Returns the size of the horizontal and vertical density of a texel, clamped to the largest
    /// size. The fragment is no larger than the density allows. A density of 0 is undefined, and
    /// means one pixel here.
    ///
    /// Source: Vulkan specification, "Fragment Area Conversion".
    pub fn of_density(density: [u8; 2]) -> Self {
        Self::of_size(density.map(|part| MAX_DENSITY.checked_div(part).unwrap_or(1).into()))
    }

    /// Returns the size that fits into both sizes.
    pub fn min(self, other: Self) -> Self {
        Combiner::Min.combined(self, other)
    }

    /// Returns the size as programs and attachments have it: log2 of the height, and log2 of the
    /// width from bit 2 on.
    pub fn word(self) -> u32 {
        u32::from(self.log2[0]) << 2 | u32::from(self.log2[1])
    }

    /// Returns width and height in pixels.
    pub fn size(self) -> [u32; 2] {
        self.log2.map(|log2| 1 << log2)
    }

    /// Returns the number of pixels.
    pub fn pixels(self) -> u32 {
        1 << (self.log2[0] + self.log2[1])
    }

    /// Returns the cell of a pixel, and the pixel's place in the cell.
    #[inline]
    pub fn cell_of(self, place: [u32; 2]) -> ([u32; 2], [u32; 2]) {
        let each = |of_axis: fn(u32, u8) -> u32| [0, 1].map(|axis: usize| of_axis(place[axis], self.log2[axis]));
        (each(|pixel, log2| pixel >> log2), each(|pixel, log2| pixel & ((1 << log2) - 1)))
    }

    /// Returns the pixels of each of two by two fragments, as bits of a group. The first fragment
    /// begins at the group's first pixel.
    pub fn areas(self) -> [u64; 4] {
        AREAS[usize::from(self.log2[0])][usize::from(self.log2[1])]
    }

    /// Returns true if pixels of a number of samples may be shaded with this size.
    pub fn supports(self, samples: u32) -> bool {
        self == Self::PIXEL || self.pixels() * samples <= MAX_COVERAGE
    }

    /// Returns the size that replaces this one where pixels have a number of samples. It
    /// is the size with the most pixels among the sizes that fit into this one. Ties prefer the
    /// size nearest to a square, then the wide one.
    fn clamped(self, samples: u32) -> Self {
        // A product of sizes may be larger than any size.
        let mut rate = Self { log2: self.log2.map(|log2| log2.min(MAX_LOG2)) };
        while !rate.supports(samples) {
            let [width, height] = rate.log2;
            rate.log2[usize::from(height >= width)] -= 1;
        }
        rate
    }

    /// Returns the number of the bit of coverage of a pixel's first sample, given the pixel's
    /// offset in the fragment. The last pixel comes first.
    pub fn first_bit(self, [x, y]: [u32; 2], samples: u32) -> u32 {
        (self.pixels() - 1 - (x + (y << self.log2[0]))) * samples
    }

    /// Returns the offset of the pixel to which a bit of coverage belongs, and the number of its
    /// sample.
    pub fn sample_of_bit(self, bit: u32, samples: u32) -> ([u32; 2], u32) {
        let pixel = self.pixels() - 1 - bit / samples;
        ([pixel & ((1 << self.log2[0]) - 1), pixel >> self.log2[0]], bit % samples)
    }

    /// Returns the coverage of all samples, given the number of samples of a pixel.
    pub fn all_samples(self, samples: u32) -> u32 {
        u32::MAX >> (u32::BITS - self.pixels() * samples)
    }

    /// Returns the coverage that has a mask of samples of every pixel.
    pub fn of_every_pixel(self, mask: u32, samples: u32) -> u32 {
        (0..self.pixels()).fold(0, |all, pixel| all | mask << (pixel * samples))
    }

    /// Returns the mask of the samples that are covered in any pixel.
    pub fn of_any_pixel(self, coverage: u32, samples: u32) -> u32 {
        let any = (0..self.pixels()).fold(0, |any, pixel| any | coverage >> (pixel * samples));
        any & Self::PIXEL.all_samples(samples)
    }
}

/// Operation that combines two sizes, along each axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Combiner {
    /// The first size.
    #[default]
    Keep,
    /// The second size.
    Replace,
    /// The smaller size.
    Min,
    /// The larger size.
    Max,
    /// The product of the sizes.
    Multiply,
}

impl Combiner {
    fn combined(self, a: Rate, b: Rate) -> Rate {
        let both = |pick: fn(u8, u8) -> u8| Rate { log2: [0, 1].map(|axis: usize| pick(a.log2[axis], b.log2[axis])) };
        match self {
            Self::Keep => a,
            Self::Replace => b,
            Self::Min => both(u8::min),
            Self::Max => both(u8::max),
            Self::Multiply => both(|a, b| a + b),
        }
    }
}

/// State of fragment sizes, set by commands or pipelines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateState {
    /// Size of a draw's fragments.
    pub size: Rate,
    /// Operations that combine the draw's size with the primitive's, and the result with the
    /// attachment's.
    pub combiners: [Combiner; 2],
}

impl RateState {
    /// State with which the attachment alone sets the sizes.
    pub const OF_ATTACHMENT: Self = Self { size: Rate::PIXEL, combiners: [Combiner::Keep, Combiner::Replace] };

    /// Returns the size of the fragments of a primitive, given the size of the attachment.
    pub fn combined(&self, primitive: Rate, attachment: Rate, samples: u32) -> Rate {
        let [a, b, c] = [self.size, primitive, attachment].map(|rate| rate.clamped(samples));
        let first = self.combiners[0].combined(a, b).clamped(samples);
        self.combiners[1].combined(first, c).clamped(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(width: u32, height: u32) -> Rate {
        Rate::of_size([width, height])
    }

    #[test]
    fn words_name_sizes() {
        for size in Rate::ALL {
            assert_eq!(Rate::of_word(size.word()), size);
        }
        assert_eq!((rate(4, 2).word(), rate(1, 4).word()), (0b1001, 0b0010));
        assert_eq!((Rate::of_word(0xffff_ffff), Rate::of_size([0, 100])), (rate(4, 4), rate(1, 4)));
        assert!(Rate::ALL.is_sorted_by_key(|size| std::cmp::Reverse(size.size())));
    }

    #[test]
    fn sizes_are_cut_to_what_the_samples_allow() {
        for (size, samples) in Rate::ALL.into_iter().flat_map(|size| [1, 2, 4, 8, 16].map(|samples| (size, samples))) {
            let fits = |rate: &Rate| (0..2).all(|axis| rate.log2[axis] <= size.log2[axis]) && rate.supports(samples);
            let square = |rate: &Rate| u8::MAX - rate.log2[0].abs_diff(rate.log2[1]);
            let best =
                Rate::ALL.into_iter().filter(fits).max_by_key(|rate| (rate.pixels(), square(rate), rate.log2[0]));
            assert_eq!(Some(size.clamped(samples)), best, "{size:?}, {samples} samples");
        }
        let cut = |width, height, samples| rate(width, height).clamped(samples).size();
        assert_eq!([1, 2, 4, 8, 16].map(|samples| cut(4, 4, samples)), [[4, 4], [4, 4], [4, 2], [2, 2], [2, 1]]);
        assert_eq!([1, 4, 16].map(|samples| cut(1, 4, samples)), [[1, 4], [1, 4], [1, 2]]);
        assert_eq!(cut(2, 4, 8), [2, 2]);
    }

    #[test]
    fn combiners_follow_the_specification() {
        use Combiner as C;
        let with = |size, combiners| RateState { size, combiners };
        let pixel = Rate::PIXEL;
        assert_eq!(with(rate(4, 2), [C::Keep, C::Keep]).combined(rate(2, 2), rate(1, 4), 1), rate(4, 2));
        assert_eq!(with(rate(4, 2), [C::Replace, C::Keep]).combined(rate(2, 2), rate(1, 4), 1), rate(2, 2));
        assert_eq!(with(rate(4, 2), [C::Replace, C::Min]).combined(rate(2, 2), rate(1, 4), 1), rate(1, 2));
        assert_eq!(with(rate(4, 1), [C::Max, C::Max]).combined(rate(2, 2), rate(1, 4), 1), rate(4, 4));
        assert_eq!(with(rate(2, 1), [C::Multiply, C::Multiply]).combined(rate(2, 1), rate(2, 2), 1), rate(4, 2));
        assert_eq!(with(pixel, [C::Multiply, C::Multiply]).combined(pixel, pixel, 1), pixel);
        assert_eq!(with(rate(4, 4), [C::Keep, C::Keep]).combined(pixel, pixel, 4), rate(4, 2));
        assert_eq!(RateState::OF_ATTACHMENT.combined(rate(4, 1), rate(2, 2), 1), rate(2, 2));
        assert_eq!(rate(4, 1).min(rate(2, 2)), rate(2, 1));
    }

    #[test]
    fn densities_are_upper_bounds_of_sizes() {
        let bytes = [(255, 1), (128, 1), (127, 2), (64, 2), (63, 4), (1, 4), (0, 1)];
        for ((x, width), (y, height)) in bytes.into_iter().flat_map(|x| bytes.map(|y| (x, y))) {
            assert_eq!(Rate::of_density([x, y]).size(), [width, height], "{x}, {y}");
        }
    }

    #[test]
    fn bits_of_coverage_name_samples() {
        for (size, samples) in [(rate(4, 2), 4), (rate(1, 1), 16), (rate(4, 4), 2), (rate(2, 1), 8)] {
            let mut all = 0;
            for bit in 0..size.pixels() * samples {
                let (place, sample) = size.sample_of_bit(bit, samples);
                assert_eq!(size.first_bit(place, samples) + sample, bit);
                all |= 1 << bit;
                assert_eq!(size.of_any_pixel(1 << bit, samples), 1 << sample);
            }
            assert_eq!((size.all_samples(samples), size.of_every_pixel((1 << samples) - 1, samples)), (all, all));
        }
        // The first pixel has the highest bits of the coverage.
        assert_eq!(rate(2, 2).first_bit([0, 0], 4), 12);
    }
}
