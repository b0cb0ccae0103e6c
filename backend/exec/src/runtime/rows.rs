//! Transposition between rows of words and lanes of waves. The words of one vertex or primitive
//! are contiguous in memory, while vectors hold one word of 16 of them.
//!
//! Rows are multiples of eight words. Blocks of 8×8 words are transposed in registers if the
//! machine has AVX2.

use vitric_base::simd::{Lanes, WAVE};

/// Number of words along a block's side. The length of a row is a multiple of it.
pub const BLOCK: usize = 8;

/// Part of a row.
pub type Chunk = [u32; BLOCK];

type Block = [Chunk; BLOCK];

/// Prefetches a value into the nearest cache.
#[inline(always)]
pub fn prefetch<T>(wanted: &T) {
    prefetch_at(std::ptr::from_ref(wanted).cast());
}

/// Size of a cache line, in bytes.
pub const CACHE_LINE: usize = 64;

/// Prefetches the memory at an address, which need not be valid.
#[inline(always)]
pub fn prefetch_at(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no architectural effect, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
}

fn transposed(block: &Block) -> Block {
    std::array::from_fn(|row| std::array::from_fn(|column| block[column][row]))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn transposed_avx2(block: &Block) -> Block {
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

#[inline(always)]
fn gather_by(transpose: impl Fn(&Block) -> Block, rows: &[&[Chunk]; WAVE], lanes: &mut [Lanes]) {
    for (number, lanes) in lanes.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        for (rows, first) in rows.as_chunks::<BLOCK>().0.iter().zip([0, BLOCK]) {
            let mut block = [[0; BLOCK]; BLOCK];
            for (to, row) in block.iter_mut().zip(rows) {
                *to = row[number];
            }
            for (lanes, words) in lanes.iter_mut().zip(transpose(&block)) {
                lanes[first..first + BLOCK].copy_from_slice(&words);
            }
        }
    }
}

#[inline(always)]
fn scatter_by(transpose: impl Fn(&Block) -> Block, lanes: &[Lanes], rows: &mut [Chunk]) {
    let chunks = lanes.len() / BLOCK;
    for (number, lanes) in lanes.as_chunks::<BLOCK>().0.iter().enumerate() {
        for first in [0, BLOCK] {
            let mut block = [[0; BLOCK]; BLOCK];
            for (to, lanes) in block.iter_mut().zip(lanes) {
                to.copy_from_slice(&lanes[first..first + BLOCK]);
            }
            for (lane, words) in (first..).zip(transpose(&block)) {
                rows[lane * chunks + number] = words;
            }
        }
    }
}

/// Declares a function that transposes blocks, and its AVX2 variant.
macro_rules! transposing {
    ($(#[$doc:meta])* $name:ident, $wide:ident, $by:ident, ($($arg:ident: $ty:ty),+)) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $wide($($arg: $ty),+) {
            $by(|block| transposed_avx2(block), $($arg),+);
        }

        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),+) {
            #[cfg(target_arch = "x86_64")]
            if vitric_base::simd::has_avx2() {
                // SAFETY: the machine has the features that the function is compiled for, and the
                // function has no other requirement.
                return unsafe { $wide($($arg),+) };
            }
            $by(transposed, $($arg),+);
        }
    };
}

transposing!(
    /// Transposes rows to lanes: `lanes[word][lane] = rows[lane][word]`. The number of words must
    /// be a multiple of [`BLOCK`].
    ///
    /// # Panics
    /// Panics if a row has fewer words than `lanes`.
    gather, gather_wide, gather_by, (rows: &[&[Chunk]; WAVE], lanes: &mut [Lanes])
);
transposing!(
    /// Writes the rows of all lanes one after the other. The number of words must be a multiple of
    /// [`BLOCK`].
    ///
    /// # Panics
    /// Panics if `rows` is too short.
    scatter, scatter_wide, scatter_by, (lanes: &[Lanes], rows: &mut [Chunk])
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_and_lanes_hold_the_same_words(chunks in 1..5usize, seed: u32) {
            let word = |row: usize, word: usize| seed.wrapping_mul(row as u32 * 97 + word as u32 + 1);
            let rows: Vec<Chunk> = (0..WAVE * chunks)
                .map(|chunk| std::array::from_fn(|at| word(chunk / chunks, chunk % chunks * BLOCK + at)))
                .collect();
            let lanes: Vec<Lanes> =
                (0..chunks * BLOCK).map(|at| std::array::from_fn(|lane| word(lane, at))).collect();
            let slices: [&[Chunk]; WAVE] = std::array::from_fn(|row| &rows[row * chunks..]);
            let [mut fast, mut plain] = [0, 1].map(|_| vec![[0; WAVE]; chunks * BLOCK]);
            gather(&slices, &mut fast);
            gather_by(transposed, &slices, &mut plain);
            prop_assert!(fast == lanes && plain == lanes);
            let [mut fast, mut plain] = [0, 1].map(|_| vec![[0; BLOCK]; WAVE * chunks]);
            scatter(&lanes, &mut fast);
            scatter_by(transposed, &lanes, &mut plain);
            prop_assert!(fast == rows && plain == rows);
        }
    }
}
