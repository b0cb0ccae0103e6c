//! Operations of the codec on eight words, for the widest instruction set of the machine.
//!
//! The codec is written once, for any [`Lanes`]. [`Portable`] defines the result of each
//! operation, and `Wide` returns identical bits. A line is eight [`Rows`] of eight words. A
//! *plane* of 64 bits consists of one bit of every word in all rows. Lane `x` of row `y` has bit
//! `32 (y / 4) + 16 (x / 4) + 4 (y % 4) + x % 4` of a plane.

use super::shape::{ROW, Shape};

/// Eight rows.
pub type Rows<L> = [L; ROW];

/// Eight words.
pub trait Lanes: Copy {
    /// Loads words from memory.
    fn load(words: &[u32; ROW]) -> Self;
    /// Stores words to memory.
    fn store(self) -> [u32; ROW];
    /// Returns eight copies of a word.
    fn splat(word: u32) -> Self;
    /// Returns the bitwise AND.
    fn and(self, other: Self) -> Self;
    /// Returns the bitwise OR.
    fn or(self, other: Self) -> Self;
    /// Returns the bitwise XOR.
    fn xor(self, other: Self) -> Self;
    /// Selects bits of `self` where the mask is set, and bits of `other` elsewhere.
    fn select(self, mask: Self, other: Self) -> Self;
    /// Adds modulo 2^8, in four fields a word.
    fn add8(self, other: Self) -> Self;
    /// Subtracts modulo 2^8, in four fields a word.
    fn sub8(self, other: Self) -> Self;
    /// Adds modulo 2^16, in two fields a word.
    fn add16(self, other: Self) -> Self;
    /// Subtracts modulo 2^16, in two fields a word.
    fn sub16(self, other: Self) -> Self;
    /// Adds modulo 2^32.
    fn add32(self, other: Self) -> Self;
    /// Subtracts modulo 2^32.
    fn sub32(self, other: Self) -> Self;
    /// Shifts words right by fewer than 32 bits and fills with zeros.
    fn shr(self, bits: u32) -> Self;
    /// Moves lanes up by 1, 2 or 4. Zeros enter at lane 0, and also at lane 4 if the row is
    /// `split`.
    fn up<const LANES: usize>(self, split: bool) -> Self;
    /// Compares lanes, and returns a bit for each, set if they are equal.
    fn equal(self, other: Self) -> u32;
    /// Returns the OR of all lanes.
    fn any(self) -> u32;
    /// Arranges a line's words in rows, by the neighbours of the shape.
    fn arrange(shape: Shape, words: &[[u32; ROW]; ROW]) -> Rows<Self>;
    /// Arranges rows as the words of a line, the inverse of [`Self::arrange`].
    fn restore(shape: Shape, rows: &Rows<Self>) -> [[u32; ROW]; ROW];
    /// Writes the planes of the bits in `used`, from the lowest on, to the same number of elements
    /// of `planes`. `LOW` means that in each byte of `used` only the lowest bits are set.
    fn gather<const LOW: bool>(rows: &Rows<Self>, used: u32, planes: &mut [[u8; 8]]);
    /// Returns the rows with these planes, which are the first elements of `planes`. At least
    /// [`SPARE`] further elements must follow, which are ignored.
    fn scatter<const LOW: bool>(used: u32, planes: &[[u8; 8]]) -> Rows<Self>;
}

/// Number of elements read behind the planes. It allows the code to always read the eight planes
/// of a byte, however many are used.
pub const SPARE: usize = 7;

/// Implementation for any machine.
#[derive(Debug, Clone, Copy)]
pub struct Portable([u32; ROW]);

/// Applies an operation to parts of words. Each part has `BYTES` bytes.
fn by_parts<const BYTES: u32>(a: u32, b: u32, op: impl Fn(u32, u32) -> u32) -> u32 {
    let bits = 8 * BYTES;
    let mask = u32::MAX >> (32 - bits);
    (0..4 / BYTES).fold(0, |word, part| word | (op(a >> (part * bits), b >> (part * bits)) & mask) << (part * bits))
}

impl Portable {
    fn zip(self, other: Self, op: impl Fn(u32, u32) -> u32) -> Self {
        Self(std::array::from_fn(|lane| op(self.0[lane], other.0[lane])))
    }

    fn bit(rows: &Rows<Self>, place: usize) -> u32 {
        let (y, x) = ((place >> 5) * 4 + (place >> 2 & 3), (place >> 4 & 1) * 4 + (place & 3));
        rows[y].0[x]
    }
}

impl Lanes for Portable {
    fn load(words: &[u32; ROW]) -> Self {
        Self(*words)
    }
    fn store(self) -> [u32; ROW] {
        self.0
    }
    fn splat(word: u32) -> Self {
        Self([word; ROW])
    }
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
    fn select(self, mask: Self, other: Self) -> Self {
        self.and(mask).or(other.and(Self(mask.0.map(|word| !word))))
    }
    fn add8(self, other: Self) -> Self {
        self.zip(other, |a, b| by_parts::<1>(a, b, u32::wrapping_add))
    }
    fn sub8(self, other: Self) -> Self {
        self.zip(other, |a, b| by_parts::<1>(a, b, u32::wrapping_sub))
    }
    fn add16(self, other: Self) -> Self {
        self.zip(other, |a, b| by_parts::<2>(a, b, u32::wrapping_add))
    }
    fn sub16(self, other: Self) -> Self {
        self.zip(other, |a, b| by_parts::<2>(a, b, u32::wrapping_sub))
    }
    fn add32(self, other: Self) -> Self {
        self.zip(other, u32::wrapping_add)
    }
    fn sub32(self, other: Self) -> Self {
        self.zip(other, u32::wrapping_sub)
    }
    fn shr(self, bits: u32) -> Self {
        Self(self.0.map(|word| word >> bits))
    }
    fn up<const LANES: usize>(self, split: bool) -> Self {
        let part = if split { ROW / 2 } else { ROW };
        Self(std::array::from_fn(|lane| if lane % part < LANES { 0 } else { self.0[lane - LANES] }))
    }
    fn equal(self, other: Self) -> u32 {
        (0..ROW).fold(0, |bits, lane| bits | u32::from(self.0[lane] == other.0[lane]) << lane)
    }
    fn any(self) -> u32 {
        self.0.iter().fold(0, |all, word| all | word)
    }
    fn arrange(shape: Shape, words: &[[u32; ROW]; ROW]) -> Rows<Self> {
        let words = words.as_flattened();
        std::array::from_fn(|y| Self(std::array::from_fn(|x| words[shape.word(x, y)])))
    }
    fn restore(shape: Shape, rows: &Rows<Self>) -> [[u32; ROW]; ROW] {
        let mut words = [[0; ROW]; ROW];
        for (y, row) in rows.iter().enumerate() {
            for (x, &word) in row.0.iter().enumerate() {
                words.as_flattened_mut()[shape.word(x, y)] = word;
            }
        }
        words
    }
    fn gather<const LOW: bool>(rows: &Rows<Self>, used: u32, planes: &mut [[u8; 8]]) {
        let bits = (0..32).filter(|bit| used >> bit & 1 != 0);
        for (bit, plane) in bits.zip(planes) {
            let gathered = (0..64).fold(0, |all, place| all | u64::from(Self::bit(rows, place) >> bit & 1) << place);
            *plane = gathered.to_le_bytes();
        }
    }
    fn scatter<const LOW: bool>(used: u32, planes: &[[u8; 8]]) -> Rows<Self> {
        let mut rows = [Self([0; ROW]); ROW];
        let bits = (0..32).filter(|bit| used >> bit & 1 != 0);
        for (bit, plane) in bits.zip(planes) {
            let plane = u64::from_le_bytes(*plane);
            for (y, row) in rows.iter_mut().enumerate() {
                for (x, word) in row.0.iter_mut().enumerate() {
                    let place = 32 * (y / 4) + 16 * (x / 4) + 4 * (y % 4) + x % 4;
                    *word |= ((plane >> place & 1) as u32) << bit;
                }
            }
        }
        rows
    }
}

#[cfg(target_arch = "x86_64")]
pub use wide::{Avx2, Avx512};

/// Returns true if the machine has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[cfg(target_arch = "x86_64")]
pub fn has_avx2() -> bool {
    use std::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

/// Returns true if the machine also has the AVX-512 features of Ice Lake and Zen 4. They add
/// registers, and instructions that transpose bits.
#[cfg(target_arch = "x86_64")]
pub fn has_avx512() -> bool {
    use std::is_x86_feature_detected as has;
    let has_512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    has_avx2() && has_512 && has!("avx512vbmi") && has!("gfni")
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Lanes, ROW, Rows, SPARE, Shape};

    /// Register of AVX2. If `WIDEST` is true, planes are computed with AVX-512. Values exist only
    /// in code that runs after the feature check. The codec creates them in functions compiled for
    /// the features, and the values do not leave these functions.
    #[derive(Debug, Clone, Copy)]
    pub struct Wide<const WIDEST: bool>(__m256i);

    /// Implementation for machines accepted by [`super::has_avx2`].
    pub type Avx2 = Wide<false>;
    /// Implementation for machines accepted by [`super::has_avx512`].
    pub type Avx512 = Wide<true>;

    /// Executes instructions on values of [`Wide`].
    macro_rules! wide {
        ($instructions:expr) => {{
            // SAFETY: code with values of [`Wide`] runs only on machines that have these
            // instructions, see [`Wide`].
            unsafe { $instructions }
        }};
    }

    /// Exchanges the 64-bit parts 1 and 2. This turns the unpacked halves into a row, and back.
    #[inline(always)]
    fn crossed(value: __m256i) -> __m256i {
        wide!(_mm256_permute4x64_epi64::<0b11_01_10_00>(value))
    }

    #[inline(always)]
    fn low_pairs(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_unpacklo_epi64(a, b))
    }

    #[inline(always)]
    fn high_pairs(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_unpackhi_epi64(a, b))
    }

    #[inline(always)]
    fn low_words(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_unpacklo_epi32(a, b))
    }

    #[inline(always)]
    fn high_words(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_unpackhi_epi32(a, b))
    }

    #[inline(always)]
    fn low_halves(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_permute2x128_si256::<0x20>(a, b))
    }

    #[inline(always)]
    fn high_halves(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_permute2x128_si256::<0x31>(a, b))
    }

    /// Returns, in each half, words 0 and 2 of `a` and then of `b`.
    #[inline(always)]
    fn even(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_castps_si256(_mm256_shuffle_ps::<0x88>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b))))
    }

    /// Returns, in each half, words 1 and 3 of `a` and then of `b`.
    #[inline(always)]
    fn odd(a: __m256i, b: __m256i) -> __m256i {
        wide!(_mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b))))
    }

    /// Transposes the 4x4 words of four registers in each half.
    #[inline(always)]
    fn transposed(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> [__m256i; 4] {
        let (low, high) = (low_words(a, b), high_words(a, b));
        let (other_low, other_high) = (low_words(c, d), high_words(c, d));
        [
            low_pairs(low, other_low),
            high_pairs(low, other_low),
            low_pairs(high, other_high),
            high_pairs(high, other_high),
        ]
    }

    type Line = [__m256i; ROW];

    // The code below uses loops instead of closures. Closures would be compiled without AVX2, and
    // each instruction would be a call.

    #[inline(always)]
    fn words_to_rows(p: &Line) -> Line {
        let mut rows = *p;
        for (y, row) in rows.iter_mut().enumerate() {
            let (a, b) = (p[y & !1], p[y | 1]);
            *row = crossed(if y & 1 == 0 { low_pairs(a, b) } else { high_pairs(a, b) });
        }
        rows
    }

    #[inline(always)]
    fn rows_to_words(rows: &Line) -> Line {
        let mut p = *rows;
        for (number, part) in p.iter_mut().enumerate() {
            let (a, b) = (crossed(rows[number & !1]), crossed(rows[number | 1]));
            *part = if number & 1 == 0 { low_pairs(a, b) } else { high_pairs(a, b) };
        }
        p
    }

    #[inline(always)]
    fn doubles_to_rows(p: &Line) -> Line {
        let mut rows = *p;
        for (number, row) in rows.iter_mut().enumerate() {
            let (block, y) = (number / 4, number % 4);
            let first = y / 2 * 4;
            let (a, b) = match y & 1 {
                0 => (low_halves(p[first], p[first + 1]), low_halves(p[first + 2], p[first + 3])),
                _ => (high_halves(p[first], p[first + 1]), high_halves(p[first + 2], p[first + 3])),
            };
            *row = crossed(if block == 0 { even(a, b) } else { odd(a, b) });
        }
        rows
    }

    #[inline(always)]
    fn rows_to_doubles(rows: &Line) -> Line {
        let mut p = *rows;
        for (number, part) in p.iter_mut().enumerate() {
            let (strip, quad) = (number / 4, number % 4);
            // Both words of four texels from each of two rows.
            let (a, b) = (crossed(rows[strip * 2]), crossed(rows[4 + strip * 2]));
            let (c, d) = (crossed(rows[strip * 2 + 1]), crossed(rows[5 + strip * 2]));
            let (upper, lower) = match quad / 2 {
                0 => (low_words(a, b), low_words(c, d)),
                _ => (high_words(a, b), high_words(c, d)),
            };
            *part = if quad & 1 == 0 { low_halves(upper, lower) } else { high_halves(upper, lower) };
        }
        p
    }

    #[inline(always)]
    fn quadruples_to_rows(p: &Line) -> Line {
        let order = wide!(_mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        let (upper, lower) = (transposed(p[0], p[2], p[4], p[6]), transposed(p[1], p[3], p[5], p[7]));
        let mut rows = *p;
        for (number, row) in rows.iter_mut().enumerate() {
            let texels = if number & 1 == 0 { upper[number / 2] } else { lower[number / 2] };
            *row = wide!(_mm256_permutevar8x32_epi32(texels, order));
        }
        rows
    }

    #[inline(always)]
    fn rows_to_quadruples(rows: &Line) -> Line {
        let order = wide!(_mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
        let mut apart = *rows;
        for row in &mut apart {
            *row = wide!(_mm256_permutevar8x32_epi32(*row, order));
        }
        let [a, b, c, d, e, f, g, h] = apart;
        let (upper, lower) = (transposed(a, c, e, g), transposed(b, d, f, h));
        [upper[0], lower[0], upper[1], lower[1], upper[2], lower[2], upper[3], lower[3]]
    }

    #[inline(always)]
    fn pairs_to_rows(p: &Line) -> Line {
        let mut rows = *p;
        for (y, row) in rows.iter_mut().enumerate() {
            let (a, b) = (p[y / 2], p[4 + y / 2]);
            *row = crossed(if y & 1 == 0 { even(a, b) } else { odd(a, b) });
        }
        rows
    }

    #[inline(always)]
    fn rows_to_pairs(rows: &Line) -> Line {
        let mut p = *rows;
        for (number, part) in p.iter_mut().enumerate() {
            let (block, strip) = (number / 4, number % 4);
            let (upper, lower) = (rows[strip * 2], rows[strip * 2 + 1]);
            let (front, back) = (low_words(upper, lower), high_words(upper, lower));
            *part = if block == 0 { low_halves(front, back) } else { high_halves(front, back) };
        }
        p
    }

    #[inline(always)]
    fn singles_to_rows(p: &Line) -> Line {
        let mut rows = *p;
        for (number, row) in rows.iter_mut().enumerate() {
            let (pair, y) = (number / 4, number % 4);
            let (a, b) = (p[pair * 4 + y / 2], p[pair * 4 + 2 + y / 2]);
            *row = if y & 1 == 0 { low_halves(a, b) } else { high_halves(a, b) };
        }
        rows
    }

    #[inline(always)]
    fn rows_to_singles(rows: &Line) -> Line {
        let mut p = *rows;
        for (number, part) in p.iter_mut().enumerate() {
            let (pair, block, half) = (number / 4, (number / 2) & 1, number & 1);
            let (a, b) = (rows[pair * 4 + half * 2], rows[pair * 4 + half * 2 + 1]);
            *part = if block == 0 { low_halves(a, b) } else { high_halves(a, b) };
        }
        p
    }

    /// Orders the bytes of words by their index in the word, in each half. The operation is its
    /// own inverse.
    #[inline(always)]
    fn split_bytes(row: __m256i) -> __m256i {
        wide!(_mm256_shuffle_epi8(
            row,
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15))
        ))
    }

    /// Returns the bytes of words, of four rows each: `[byte][rows]`.
    #[inline(always)]
    fn bytes_of(rows: &Line) -> [[__m256i; 2]; 4] {
        let front = transposed(split_bytes(rows[0]), split_bytes(rows[1]), split_bytes(rows[2]), split_bytes(rows[3]));
        let back = transposed(split_bytes(rows[4]), split_bytes(rows[5]), split_bytes(rows[6]), split_bytes(rows[7]));
        [[front[0], back[0]], [front[1], back[1]], [front[2], back[2]], [front[3], back[3]]]
    }

    /// Returns the rows of words from their bytes, the inverse of [`bytes_of`].
    #[inline(always)]
    fn of_bytes([a, b, c, d]: &[[__m256i; 2]; 4]) -> Line {
        let front = transposed(a[0], b[0], c[0], d[0]);
        let back = transposed(a[1], b[1], c[1], d[1]);
        [
            split_bytes(front[0]),
            split_bytes(front[1]),
            split_bytes(front[2]),
            split_bytes(front[3]),
            split_bytes(back[0]),
            split_bytes(back[1]),
            split_bytes(back[2]),
            split_bytes(back[3]),
        ]
    }

    /// Unwraps the registers of all rows.
    #[inline(always)]
    fn plain<const WIDEST: bool>(rows: &Rows<Wide<WIDEST>>) -> Line {
        let [a, b, c, d, e, f, g, h] = *rows;
        [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]
    }

    #[inline(always)]
    fn wrapped<const WIDEST: bool>([a, b, c, d, e, f, g, h]: Line) -> Rows<Wide<WIDEST>> {
        [Wide(a), Wide(b), Wide(c), Wide(d), Wide(e), Wide(f), Wide(g), Wide(h)]
    }

    /// Bytes of four rows, and bytes of the other four.
    type Halves = [__m256i; 2];

    /// Returns the highest bit of each byte.
    #[inline(always)]
    fn plane_of(bytes: Halves) -> [u8; 8] {
        let front = wide!(_mm256_movemask_epi8(bytes[0])) as u32;
        let back = wide!(_mm256_movemask_epi8(bytes[1])) as u32;
        (u64::from(back) << 32 | u64::from(front)).to_le_bytes()
    }

    /// Shifts bits of bytes left. Bits that enter from the byte below are unspecified.
    #[inline(always)]
    fn moved_up(bytes: Halves, bits: u32) -> Halves {
        let count = wide!(_mm_cvtsi32_si128(bits as i32));
        [wide!(_mm256_sll_epi16(bytes[0], count)), wide!(_mm256_sll_epi16(bytes[1], count))]
    }

    /// Implements [`Lanes::gather`] for one byte of words, from the highest used bit down.
    #[inline(always)]
    fn planes_of<const LOW: bool>(bytes: Halves, used: u32, planes: &mut [[u8; 8]]) {
        let mut left = used;
        let mut moved = moved_up(bytes, used.leading_zeros() - 24);
        for plane in planes.iter_mut().rev() {
            if LOW {
                *plane = plane_of(moved);
                moved = [wide!(_mm256_add_epi8(moved[0], moved[0])), wide!(_mm256_add_epi8(moved[1], moved[1]))];
            } else {
                let bit = 31 - left.leading_zeros();
                *plane = plane_of(moved_up(bytes, 7 - bit));
                left ^= 1 << bit;
            }
        }
    }

    /// Number of planes of a byte from which the code transposes eight planes instead of adding
    /// the planes one by one.
    const MIN_TRANSPOSED: usize = 4;

    /// Returns the index of the plane for each bit of a byte, if the bits in `used` have planes.
    #[inline(always)]
    fn plane_indices<const LOW: bool>(used: u32) -> [usize; 8] {
        let (mut indices, mut next) = ([0, 1, 2, 3, 4, 5, 6, 7], 0);
        if !LOW {
            for (bit, index) in indices.iter_mut().enumerate() {
                *index = next & 7;
                next += (used >> bit & 1) as usize;
            }
        }
        indices
    }

    /// Returns bytes from a few planes of the bits in `used`.
    #[inline(always)]
    fn of_few_planes(used: u32, planes: &[[u8; 8]]) -> Halves {
        let mut bytes = [wide!(_mm256_setzero_si256()); 2];
        let mut left = used;
        for plane in planes {
            let one = wide!(_mm256_set1_epi8((left & left.wrapping_neg()) as i8));
            left &= left - 1;
            let plane = u64::from_le_bytes(*plane);
            bytes[0] = wide!(_mm256_or_si256(bytes[0], _mm256_and_si256(spread(plane as u32), one)));
            bytes[1] = wide!(_mm256_or_si256(bytes[1], _mm256_and_si256(spread((plane >> 32) as u32), one)));
        }
        bytes
    }

    /// Returns bytes that are all ones where a bit of `bits` is set.
    #[inline(always)]
    fn spread(bits: u32) -> __m256i {
        wide!({
            let places = _mm256_setr_epi64x(
                0x0000_0000_0000_0000,
                0x0101_0101_0101_0101,
                0x0202_0202_0202_0202,
                0x0303_0303_0303_0303,
            );
            let each = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), places);
            _mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each)
        })
    }

    /// Returns bytes from many planes of the bits in `used`, all at once.
    #[inline(always)]
    fn of_planes<const LOW: bool>(used: u32, planes: &[[u8; 8]]) -> Halves {
        let planes = planes.first_chunk::<{ SPARE + 1 }>().expect("spare elements follow the planes");
        let [a, b, c, d, e, f, g, h] = plane_indices::<LOW>(used);
        wide!({
            let [ab, cd, ef, gh]: [__m128i; 4] = if LOW {
                bytemuck::must_cast(*planes)
            } else {
                [
                    two(planes[a], planes[b]),
                    two(planes[c], planes[d]),
                    two(planes[e], planes[f]),
                    two(planes[g], planes[h]),
                ]
            };
            // Transposes 8x8 bytes: the first bytes of all planes come first.
            let order =
                _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
            let abef = _mm256_shuffle_epi8(_mm256_set_m128i(ef, ab), order);
            let cdgh = _mm256_shuffle_epi8(_mm256_set_m128i(gh, cd), order);
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            let front = _mm256_permutevar8x32_epi32(_mm256_unpacklo_epi16(abef, cdgh), order);
            let back = _mm256_permutevar8x32_epi32(_mm256_unpackhi_epi16(abef, cdgh), order);
            let used = _mm256_set1_epi8(used as i8);
            [_mm256_and_si256(turned_narrow(front), used), _mm256_and_si256(turned_narrow(back), used)]
        })
    }

    /// Combines two planes.
    #[inline(always)]
    fn two(a: [u8; 8], b: [u8; 8]) -> __m128i {
        wide!(_mm_set_epi64x(i64::from_le_bytes(b), i64::from_le_bytes(a)))
    }

    /// Transposes 8x8 bits in each eight bytes: it exchanges single bits, then 2x2 squares, then
    /// 4x4 squares.
    #[inline(always)]
    fn turned_narrow(bytes: __m256i) -> __m256i {
        let bytes = exchanged::<7>(bytes, 0x00aa_00aa_00aa_00aa);
        let bytes = exchanged::<14>(bytes, 0x0000_cccc_0000_cccc);
        exchanged::<28>(bytes, 0x0000_0000_f0f0_f0f0)
    }

    /// Exchanges the bits of a mask with the bits that are `BITS` higher.
    #[inline(always)]
    fn exchanged<const BITS: i32>(value: __m256i, mask: i64) -> __m256i {
        wide!({
            let other = _mm256_xor_si256(value, _mm256_srli_epi64::<BITS>(value));
            let change = _mm256_and_si256(other, _mm256_set1_epi64x(mask));
            _mm256_xor_si256(_mm256_xor_si256(value, change), _mm256_slli_epi64::<BITS>(change))
        })
    }

    /// Transposes 8x8 bits in each eight bytes: bit `n` of byte `m` becomes bit `m` of byte `n`.
    #[inline(always)]
    fn turned_bits(bytes: __m512i) -> __m512i {
        wide!({
            // The affine instruction takes matrix rows from the last to the first. With `ones` as
            // the left operand, it transposes the right operand. With `ones` as the right operand,
            // it reverses the bits of bytes.
            let ones = _mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64);
            _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_gf2p8affine_epi64_epi8::<0>(ones, bytes), ones)
        })
    }

    /// Transposes 8x8 bytes.
    #[inline(always)]
    fn turned_bytes(bytes: __m512i) -> __m512i {
        const ORDER: [u8; 64] = {
            let (mut order, mut place) = ([0; 64], 0);
            while place < 64 {
                order[place] = (place % 8 * 8 + place / 8) as u8;
                place += 1;
            }
            order
        };
        wide!(_mm512_permutexvar_epi8(_mm512_loadu_si512(ORDER.as_ptr().cast()), bytes))
    }

    /// Implements [`Lanes::gather`] for all planes of a byte at once.
    #[inline(always)]
    fn gather_widest(rows: &Line, used: u32, planes: &mut [[u8; 8]]) {
        assert!(planes.len() >= used.count_ones() as usize, "each plane has an element");
        let mut next = planes.as_mut_ptr();
        for (byte, [front, back]) in bytes_of(rows).into_iter().enumerate() {
            let used = (used >> (8 * byte)) as u8;
            let mask = ((1u32 << used.count_ones()) - 1) as u8;
            // The instruction stores as many elements as `used` has bits. The assertion above
            // guarantees room for them.
            next = wide!({
                let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);
                let all = _mm512_maskz_compress_epi64(used, turned_bytes(turned_bits(bytes)));
                _mm512_mask_storeu_epi64(next.cast(), mask, all);
                next.add(used.count_ones() as usize)
            });
        }
    }

    /// Implements [`Lanes::scatter`] with AVX-512.
    #[inline(always)]
    fn scatter_widest(used: u32, planes: &[[u8; 8]]) -> Line {
        assert!(planes.len() >= used.count_ones() as usize, "each is there");
        let mut next = planes.as_ptr();
        let mut bytes = [[wide!(_mm256_setzero_si256()); 2]; 4];
        for (byte, halves) in bytes.iter_mut().enumerate() {
            let used = (used >> (8 * byte)) as u8;
            // The instruction loads as many elements as `used` has bits. The assertion above
            // guarantees that they exist.
            next = wide!({
                let all = turned_bits(turned_bytes(_mm512_maskz_expandloadu_epi64(used, next.cast())));
                *halves = [_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64::<1>(all)];
                next.add(used.count_ones() as usize)
            });
        }
        of_bytes(&bytes)
    }

    impl<const WIDEST: bool> Lanes for Wide<WIDEST> {
        #[inline(always)]
        fn load(words: &[u32; ROW]) -> Self {
            Self(bytemuck::must_cast(*words))
        }
        #[inline(always)]
        fn store(self) -> [u32; ROW] {
            bytemuck::must_cast(self.0)
        }
        #[inline(always)]
        fn splat(word: u32) -> Self {
            Self(wide!(_mm256_set1_epi32(word as i32)))
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            Self(wide!(_mm256_and_si256(self.0, other.0)))
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            Self(wide!(_mm256_or_si256(self.0, other.0)))
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            Self(wide!(_mm256_xor_si256(self.0, other.0)))
        }
        #[inline(always)]
        fn select(self, mask: Self, other: Self) -> Self {
            Self(wide!(_mm256_blendv_epi8(other.0, self.0, mask.0)))
        }
        #[inline(always)]
        fn add8(self, other: Self) -> Self {
            Self(wide!(_mm256_add_epi8(self.0, other.0)))
        }
        #[inline(always)]
        fn sub8(self, other: Self) -> Self {
            Self(wide!(_mm256_sub_epi8(self.0, other.0)))
        }
        #[inline(always)]
        fn add16(self, other: Self) -> Self {
            Self(wide!(_mm256_add_epi16(self.0, other.0)))
        }
        #[inline(always)]
        fn sub16(self, other: Self) -> Self {
            Self(wide!(_mm256_sub_epi16(self.0, other.0)))
        }
        #[inline(always)]
        fn add32(self, other: Self) -> Self {
            Self(wide!(_mm256_add_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn sub32(self, other: Self) -> Self {
            Self(wide!(_mm256_sub_epi32(self.0, other.0)))
        }
        #[inline(always)]
        fn shr(self, bits: u32) -> Self {
            Self(wide!(_mm256_srl_epi32(self.0, _mm_cvtsi32_si128(bits as i32))))
        }
        #[inline(always)]
        fn up<const LANES: usize>(self, split: bool) -> Self {
            // The half below each half, or zeros.
            let below = if split {
                wide!(_mm256_setzero_si256())
            } else {
                wide!(_mm256_permute2x128_si256::<0x08>(self.0, self.0))
            };
            Self(match LANES {
                1 => wide!(_mm256_alignr_epi8::<12>(self.0, below)),
                2 => wide!(_mm256_alignr_epi8::<8>(self.0, below)),
                _ => below,
            })
        }
        #[inline(always)]
        fn equal(self, other: Self) -> u32 {
            wide!(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(self.0, other.0)))) as u32
        }
        #[inline(always)]
        fn any(self) -> u32 {
            wide!({
                let four = _mm_or_si128(_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0));
                let two = _mm_or_si128(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
                _mm_cvtsi128_si32(_mm_or_si128(two, _mm_shuffle_epi32::<0b10_11_00_01>(two))) as u32
            })
        }
        #[inline(always)]
        fn arrange(shape: Shape, words: &[[u32; ROW]; ROW]) -> Rows<Self> {
            let line: Line = bytemuck::must_cast(*words);
            let rows = match shape {
                Shape::Singles => singles_to_rows(&line),
                Shape::Pairs => pairs_to_rows(&line),
                Shape::Words => words_to_rows(&line),
                Shape::Doubles => doubles_to_rows(&line),
                Shape::Quadruples => quadruples_to_rows(&line),
                Shape::Rows => line,
            };
            wrapped(rows)
        }
        #[inline(always)]
        fn restore(shape: Shape, rows: &Rows<Self>) -> [[u32; ROW]; ROW] {
            let rows = plain(rows);
            bytemuck::must_cast(match shape {
                Shape::Singles => rows_to_singles(&rows),
                Shape::Pairs => rows_to_pairs(&rows),
                Shape::Words => rows_to_words(&rows),
                Shape::Doubles => rows_to_doubles(&rows),
                Shape::Quadruples => rows_to_quadruples(&rows),
                Shape::Rows => rows,
            })
        }
        #[inline(always)]
        fn gather<const LOW: bool>(rows: &Rows<Self>, used: u32, planes: &mut [[u8; 8]]) {
            if WIDEST {
                return gather_widest(&plain(rows), used, planes);
            }
            let bytes = bytes_of(&plain(rows));
            let mut next = 0;
            for (byte, halves) in bytes.into_iter().enumerate() {
                let used = used >> (8 * byte) & 0xff;
                if used != 0 {
                    let count = used.count_ones() as usize;
                    planes_of::<LOW>(halves, used, &mut planes[next..][..count]);
                    next += count;
                }
            }
        }
        #[inline(always)]
        fn scatter<const LOW: bool>(used: u32, planes: &[[u8; 8]]) -> Rows<Self> {
            if WIDEST {
                return wrapped(scatter_widest(used, planes));
            }
            let mut next = 0;
            let mut bytes = [[wide!(_mm256_setzero_si256()); 2]; 4];
            for (byte, halves) in bytes.iter_mut().enumerate() {
                let used = used >> (8 * byte) & 0xff;
                let count = used.count_ones() as usize;
                *halves = if count < MIN_TRANSPOSED {
                    of_few_planes(used, &planes[next..][..count])
                } else {
                    of_planes::<LOW>(used, &planes[next..])
                };
                next += count;
            }
            wrapped(of_bytes(&bytes))
        }
    }
}
