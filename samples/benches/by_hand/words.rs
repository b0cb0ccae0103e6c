//! Elements of two matrices in the 32-bit words that an instruction multiplies.

use super::SIDE;

/// Factors of a product, both stored row by row.
pub trait Factors: Sync {
    /// Number of words of a row of the left matrix, and of a column of the right one.
    fn words(&self) -> usize;

    /// Writes the words of a row of the left matrix.
    fn left(&self, row: usize, words: &mut [u32]);

    /// Writes word `k` of the columns from `column` on of the right matrix.
    fn right(&self, k: usize, column: usize, words: &mut [u32]);

    /// Returns the value to which a row's products are added.
    fn start(&self, _row: usize) -> u32 {
        0
    }
}

/// Normal halves, which are converted to floats: one a word.
pub struct Halves<'a> {
    pub left: &'a [u16],
    pub right: &'a [u16],
}

/// Converts a normal half to a float: its exponent is 15 more than the logarithm, a float's 127.
fn float(half: u16) -> u32 {
    let [sign, rest] = [0x8000, 0x7fff].map(|mask| u32::from(half & mask));
    (sign << 16) | ((rest << 13) + (112 << 23))
}

impl Factors for Halves<'_> {
    fn words(&self) -> usize {
        SIDE
    }

    fn left(&self, row: usize, words: &mut [u32]) {
        words.iter_mut().zip(&self.left[row * SIDE..]).for_each(|(word, &half)| *word = float(half));
    }

    fn right(&self, k: usize, column: usize, words: &mut [u32]) {
        words.iter_mut().zip(&self.right[k * SIDE + column..]).for_each(|(word, &half)| *word = float(half));
    }
}

/// Signed bytes, two a word as 16-bit integers.
pub struct Pairs<'a> {
    pub left: &'a [i8],
    pub right: &'a [i8],
}

/// Returns the word of two bytes.
fn pair([low, high]: [i8; 2]) -> u32 {
    let [low, high] = [low, high].map(|byte| u32::from(i16::from(byte).cast_unsigned()));
    low | (high << 16)
}

impl Factors for Pairs<'_> {
    fn words(&self) -> usize {
        SIDE / 2
    }

    fn left(&self, row: usize, words: &mut [u32]) {
        let (bytes, _) = self.left[row * SIDE..].as_chunks();
        words.iter_mut().zip(bytes).for_each(|(word, &bytes)| *word = pair(bytes));
    }

    fn right(&self, k: usize, column: usize, words: &mut [u32]) {
        let [low, high] = [0, 1].map(|row| &self.right[(2 * k + row) * SIDE + column..]);
        let bytes = low.iter().zip(high);
        words.iter_mut().zip(bytes).for_each(|(word, (&low, &high))| *word = pair([low, high]));
    }
}

/// Signed bytes, four a word. The right matrix is moved by 128 to be unsigned.
pub struct Quads<'a> {
    pub left: &'a [i8],
    pub right: &'a [i8],
}

impl Factors for Quads<'_> {
    fn words(&self) -> usize {
        SIDE / 4
    }

    fn left(&self, row: usize, words: &mut [u32]) {
        let (bytes, _) = self.left[row * SIDE..].as_chunks();
        words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u32::from_le_bytes(bytes.map(i8::cast_unsigned)));
    }

    fn right(&self, k: usize, column: usize, words: &mut [u32]) {
        let rows = [0, 1, 2, 3].map(|row| &self.right[(4 * k + row) * SIDE + column..][..words.len()]);
        for (lane, word) in words.iter_mut().enumerate() {
            *word = u32::from_le_bytes(rows.map(|row| row[lane].cast_unsigned())) ^ 0x8080_8080;
        }
    }

    /// Takes back the products of a row with 128.
    fn start(&self, row: usize) -> u32 {
        let row = &self.left[row * SIDE..][..SIDE];
        (-128 * row.iter().map(|&byte| i32::from(byte)).sum::<i32>()).cast_unsigned()
    }
}
