//! Hand-written products of matrices, by the instructions of the driver's generated code: AVX-512
//! and VNNI, or AVX2 where `VITRIC_CODEGEN` or the processor permits no more.

mod words;

use std::arch::x86_64::*;

use words::{Factors, Halves, Pairs, Quads};

use super::SIDE;

/// Largest number of rows of a tile, which is a multiple of the others.
const MAX_ROWS: usize = 8;

/// Arithmetic on vectors of 32-bit words. The processor must have its instructions.
trait Arithmetic {
    type Vector: Copy;
    /// Number of words of a vector.
    const LANES: usize;

    /// Reads the words of a vector.
    unsafe fn load(from: *const u32) -> Self::Vector;
    /// Returns a vector of equal words.
    unsafe fn splat(word: u32) -> Self::Vector;
    /// Writes the words of a vector.
    unsafe fn store(to: *mut u32, vector: Self::Vector);
    /// Adds products of words of the right and the left matrix.
    unsafe fn add_product(sum: Self::Vector, right: Self::Vector, left: Self::Vector) -> Self::Vector;
}

/// Defines an arithmetic, and the function that computes rows of sums by it.
macro_rules! arithmetic {
    (
        $name:ident: [$vector:ty; $lanes:literal], $load:ident, $splat:ident, $store:ident, $add_product:expr,
        $function:ident: $features:literal, $rows:literal rows
    ) => {
        struct $name;

        impl Arithmetic for $name {
            type Vector = $vector;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> $vector {
                // SAFETY: the processor has the instructions, and `from` a vector's words.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn splat(word: u32) -> $vector {
                // SAFETY: the processor has the instructions.
                unsafe { $splat(word.cast_signed()) }
            }

            #[inline(always)]
            unsafe fn store(to: *mut u32, vector: $vector) {
                // SAFETY: the processor has the instructions, and `to` a vector's words.
                unsafe { $store(to.cast(), vector) };
            }

            #[inline(always)]
            unsafe fn add_product(sum: $vector, right: $vector, left: $vector) -> $vector {
                // SAFETY: the processor has the instructions.
                unsafe { $add_product(sum, right, left) }
            }
        }

        #[target_feature(enable = $features)]
        fn $function(factors: &impl Factors, first: usize, sums: &mut [u32]) {
            // SAFETY: the processor has the instructions.
            unsafe { rows::<$name, $rows>(factors, first, sums) }
        }
    };
}

arithmetic!(
    Floats512: [__m512i; 16], _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512,
    |sum, right, left| {
        let product = _mm512_fmadd_ps(_mm512_castsi512_ps(right), _mm512_castsi512_ps(left), _mm512_castsi512_ps(sum));
        _mm512_castps_si512(product)
    },
    floats_512: "avx512f", 8 rows
);
arithmetic!(
    Quads512: [__m512i; 16], _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512,
    |sum, right, left| _mm512_dpbusd_epi32(sum, right, left),
    quads_512: "avx512f,avx512vnni", 8 rows
);
arithmetic!(
    Floats256: [__m256i; 8], _mm256_loadu_si256, _mm256_set1_epi32, _mm256_storeu_si256,
    |sum, right, left| {
        let product = _mm256_fmadd_ps(_mm256_castsi256_ps(right), _mm256_castsi256_ps(left), _mm256_castsi256_ps(sum));
        _mm256_castps_si256(product)
    },
    floats_256: "avx2,fma", 4 rows
);
arithmetic!(
    Pairs256: [__m256i; 8], _mm256_loadu_si256, _mm256_set1_epi32, _mm256_storeu_si256,
    |sum, right, left| _mm256_add_epi32(sum, _mm256_madd_epi16(right, left)),
    pairs_256: "avx2", 4 rows
);

/// Computes rows of the sums from `first` on: tiles of `ROWS` rows and two vectors in registers.
///
/// # Safety
/// The processor must have the instructions of the arithmetic.
#[inline(always)]
unsafe fn rows<A: Arithmetic, const ROWS: usize>(factors: &impl Factors, first: usize, sums: &mut [u32]) {
    let (count, words, width) = (sums.len() / SIDE, factors.words(), 2 * A::LANES);
    assert!(count.is_multiple_of(ROWS) && SIDE.is_multiple_of(width));
    let starts: Vec<u32> = (first..first + count).map(|row| factors.start(row)).collect();
    let mut left = vec![0; count * words];
    left.chunks_exact_mut(words).enumerate().for_each(|(row, left)| factors.left(first + row, left));
    let mut panel = vec![0; words * width];
    for column in (0..SIDE).step_by(width) {
        panel.chunks_exact_mut(width).enumerate().for_each(|(k, panel)| factors.right(k, column, panel));
        for row in (0..count).step_by(ROWS) {
            // SAFETY: the processor has the instructions. All words are in rows of `left` and
            // `sums`, whose number is a multiple of `ROWS`, or in the panel.
            unsafe {
                let mut tile = [[A::splat(0); 2]; ROWS];
                for (sums, &start) in tile.iter_mut().zip(&starts[row..]) {
                    *sums = [A::splat(start); 2];
                }
                for k in 0..words {
                    let panel = panel.as_ptr().add(k * width);
                    let pair = [A::load(panel), A::load(panel.add(A::LANES))];
                    for (at, [low, high]) in tile.iter_mut().enumerate() {
                        let factor = A::splat(*left.as_ptr().add((row + at) * words + k));
                        *low = A::add_product(*low, pair[0], factor);
                        *high = A::add_product(*high, pair[1], factor);
                    }
                }
                for (at, [low, high]) in tile.into_iter().enumerate() {
                    let to = sums.as_mut_ptr().add((row + at) * SIDE + column);
                    A::store(to, low);
                    A::store(to.add(A::LANES), high);
                }
            }
        }
    }
}

/// Calls `rows` on each thread with its first row and its rows of the sums.
fn on_threads(sums: &mut [u32], rows: impl Fn(usize, &mut [u32]) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let of_thread = (SIDE / threads).next_multiple_of(MAX_ROWS);
    std::thread::scope(|scope| {
        for (thread, sums) in sums.chunks_mut(of_thread * SIDE).enumerate() {
            let rows = &rows;
            scope.spawn(move || rows(thread * of_thread, sums));
        }
    });
}

/// Returns false if the driver's generated code has no AVX-512, although the processor may.
fn permits_avx512() -> bool {
    std::env::var_os("VITRIC_CODEGEN").is_none_or(|codegen| codegen != "avx2")
}

/// Multiplies normal halves. The sums are floats.
pub fn halves(left: &[u16], right: &[u16], sums: &mut [u32]) {
    assert_eq!([left.len(), right.len(), sums.len()], [SIDE * SIDE; 3], "numbers of elements");
    let factors = Halves { left, right };
    if permits_avx512() && is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512.
        on_threads(sums, |first, sums| unsafe { floats_512(&factors, first, sums) });
    } else {
        assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"), "the loop needs AVX2");
        // SAFETY: the processor has AVX2.
        on_threads(sums, |first, sums| unsafe { floats_256(&factors, first, sums) });
    }
}

/// Multiplies signed bytes.
pub fn bytes(left: &[i8], right: &[i8], sums: &mut [u32]) {
    assert_eq!([left.len(), right.len(), sums.len()], [SIDE * SIDE; 3], "numbers of elements");
    if permits_avx512() && is_x86_feature_detected!("avx512vnni") {
        let factors = Quads { left, right };
        // SAFETY: the processor has AVX-512 VNNI.
        on_threads(sums, |first, sums| unsafe { quads_512(&factors, first, sums) });
    } else {
        assert!(is_x86_feature_detected!("avx2"), "the loop needs AVX2");
        let factors = Pairs { left, right };
        // SAFETY: the processor has AVX2.
        on_threads(sums, |first, sums| unsafe { pairs_256(&factors, first, sums) });
    }
}
