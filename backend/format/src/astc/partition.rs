//! Partition patterns: the assignment of a block's texels to its colour pairs.
//!
//! Source: Khronos Data Format Specification, "Partition Pattern Generation".

/// A pattern of up to four partitions.
///
/// Each partition has a height that depends on x and y: a factor of x, a factor of y, and the
/// height at the origin. A texel belongs to the partition with the greatest height.
pub(super) struct Pattern {
    planes: [[u32; 3]; 4],
    count: usize,
    /// Left shift of coordinates: 1 in blocks of fewer than 31 texels, otherwise 0.
    scale: u32,
}

impl Pattern {
    /// Returns pattern `index` of `count` partitions, for blocks of `texels` texels.
    pub(super) fn new(index: u32, count: usize, texels: u32) -> Self {
        let seed = index + (count as u32 - 1) * 1024;
        let random = hash(seed);
        let [one, other] = [if seed & 2 != 0 { 4 } else { 5 }, if count == 3 { 6 } else { 5 }];
        let shifts = if seed & 1 != 0 { [one, other] } else { [other, one] };
        let factor = |number: u32, axis: usize| {
            let nibble = random >> (4 * number) & 0xf;
            (nibble * nibble) >> shifts[axis]
        };
        let planes =
            [0, 1, 2, 3].map(|plane| [factor(2 * plane, 0), factor(2 * plane + 1, 1), random >> (14 - 4 * plane)]);
        Self { planes, count, scale: u32::from(texels < 31) }
    }

    /// Returns the partition of a texel.
    pub(super) fn at(&self, x: u32, y: u32) -> usize {
        let height = |plane: usize| {
            let [by_x, by_y, start] = self.planes[plane];
            (by_x * (x << self.scale) + by_y * (y << self.scale) + start) & 0x3f
        };
        let heights: [u32; 4] = std::array::from_fn(|plane| if plane < self.count { height(plane) } else { 0 });
        // The first of equal heights wins. A partition that does not exist has height 0 and thus
        // never wins.
        (1..4).fold(0, |best, plane| if heights[plane] > heights[best] { plane } else { best })
    }
}

fn hash(seed: u32) -> u32 {
    let mut p = seed;
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ p >> 17
}
