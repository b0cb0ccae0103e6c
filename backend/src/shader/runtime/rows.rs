//! Rows of words become lanes of waves, and lanes rows: the words of one vertex or primitive lie together in memory, those of
//! sixteen in vectors.
//!
//! Words are turned by blocks of 8x8, in registers where the machine has AVX2. Where rows are no multiple of a block, their last block
//! begins earlier and does some words twice.

use super::kernels::{Lanes, WAVE};

/// Words along a block's side, which are the fewest of a row.
pub const BLOCK: usize = 8;

type Block = [[u32; BLOCK]; BLOCK];

fn turned(block: &Block) -> Block {
    std::array::from_fn(|row| std::array::from_fn(|column| block[column][row]))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn turned_wide(block: &Block) -> Block {
    use std::arch::x86_64::*;
    let [a, b, c, d, e, f, g, h]: [__m256; BLOCK] = bytemuck::must_cast(*block);
    let pairs = |a: __m256, b: __m256| {
        let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        (_mm256_castps_pd(low), _mm256_castps_pd(high))
    };
    let fours = |(a, b): (__m256d, __m256d), (c, d): (__m256d, __m256d)| {
        let rows =
            [_mm256_unpacklo_pd(a, c), _mm256_unpackhi_pd(a, c), _mm256_unpacklo_pd(b, d), _mm256_unpackhi_pd(b, d)];
        [_mm256_castpd_ps(rows[0]), _mm256_castpd_ps(rows[1]), _mm256_castpd_ps(rows[2]), _mm256_castpd_ps(rows[3])]
    };
    let [low, high] = [fours(pairs(a, b), pairs(c, d)), fours(pairs(e, f), pairs(g, h))];
    let front = |row: usize| _mm256_permute2f128_ps::<0x20>(low[row], high[row]);
    let back = |row: usize| _mm256_permute2f128_ps::<0x31>(low[row], high[row]);
    bytemuck::must_cast([front(0), front(1), front(2), front(3), back(0), back(1), back(2), back(3)])
}

/// Where the blocks of so many words begin.
#[inline(always)]
fn blocks(words: usize) -> impl Iterator<Item = usize> {
    assert!(words >= BLOCK, "rows of at least a block");
    (0..words.div_ceil(BLOCK)).map(move |block| (block * BLOCK).min(words - BLOCK))
}

#[inline(always)]
fn gather_by(turn: impl Fn(&Block) -> Block, rows: &[&[u32]; WAVE], lanes: &mut [Lanes]) {
    for start in blocks(lanes.len()) {
        for first in [0, BLOCK] {
            let mut block = [[0; BLOCK]; BLOCK];
            for (to, row) in block.iter_mut().zip(&rows[first..]) {
                to.copy_from_slice(&row[start..start + BLOCK]);
            }
            for (lanes, words) in lanes[start..start + BLOCK].iter_mut().zip(turn(&block)) {
                lanes[first..first + BLOCK].copy_from_slice(&words);
            }
        }
    }
}

#[inline(always)]
fn scatter_by(turn: impl Fn(&Block) -> Block, lanes: &[Lanes], (rows, places): (&mut [u32], &[usize; WAVE])) {
    for start in blocks(lanes.len()) {
        for first in [0, BLOCK] {
            let mut block = [[0; BLOCK]; BLOCK];
            for (to, lanes) in block.iter_mut().zip(&lanes[start..]) {
                to.copy_from_slice(&lanes[first..first + BLOCK]);
            }
            for (place, words) in places[first..].iter().zip(turn(&block)) {
                rows[place + start..][..BLOCK].copy_from_slice(&words);
            }
        }
    }
}

/// Declares a function that turns blocks, and its AVX2 twin.
macro_rules! turning {
    ($(#[$doc:meta])* $name:ident, $wide:ident, $by:ident, ($($arg:ident: $ty:ty),+)) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $wide($($arg: $ty),+) {
            $by(|block| turned_wide(block), $($arg),+);
        }

        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),+) {
            #[cfg(target_arch = "x86_64")]
            if super::kernels::has_avx2() {
                // SAFETY: the machine has the features that the function is compiled for; it needs nothing else.
                return unsafe { $wide($($arg),+) };
            }
            $by(turned, $($arg),+);
        }
    };
}

turning!(
    /// `lanes[word][lane] = rows[lane][word]`.
    ///
    /// # Panics
    /// When there are fewer than [`BLOCK`] words, or rows have fewer than there are.
    gather, gather_wide, gather_by, (rows: &[&[u32]; WAVE], lanes: &mut [Lanes])
);
turning!(
    /// `rows[places[lane] + word] = lanes[word][lane]`. Rows that are not wanted may lie where a later lane's do: each block of words is
    /// written lane after lane.
    ///
    /// # Panics
    /// When there are fewer than [`BLOCK`] words, or a row reaches beyond the end.
    scatter, scatter_wide, scatter_by, (lanes: &[Lanes], rows: (&mut [u32], &[usize; WAVE]))
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_and_lanes_hold_the_same_words(words in BLOCK..40usize, seed: u32) {
            let word = |row: usize, word: usize| seed.wrapping_mul(row as u32 * 97 + word as u32 + 1);
            let rows: Vec<Vec<u32>> = (0..WAVE).map(|row| (0..words + 3).map(|at| word(row, at)).collect()).collect();
            let expected: Vec<Lanes> = (0..words).map(|at| std::array::from_fn(|lane| word(lane, at))).collect();
            let slices: [&[u32]; WAVE] = std::array::from_fn(|row| &rows[row][..]);
            let [mut fast, mut plain] = [0, 1].map(|_| vec![[0; WAVE]; words]);
            gather(&slices, &mut fast);
            gather_by(turned, &slices, &mut plain);
            prop_assert!(fast == expected && plain == expected);
            // Every other lane is not wanted.
            let places: [usize; WAVE] = std::array::from_fn(|lane| lane.div_ceil(2) * words);
            let [mut fast, mut plain] = [0, 1].map(|_| vec![0; (WAVE / 2 + 1) * words]);
            scatter(&expected, (&mut fast, &places));
            scatter_by(turned, &expected, (&mut plain, &places));
            prop_assert_eq!(&fast, &plain);
            for lane in (0..WAVE).step_by(2) {
                prop_assert_eq!(&fast[places[lane]..][..words], &rows[lane][..words]);
            }
        }
    }
}
