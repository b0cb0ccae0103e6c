//! Arrangement of a line's words in rows of neighbouring words.
//!
//! A line is 256 bytes of a plane: texels of 8x8 blocks in the order of `memory/layout.rs`, quad
//! by quad, sample by sample. With texels of four bytes a line is one block of one sample. With
//! smaller texels it has two or four blocks, which are adjacent blocks or samples of one block.
//! With larger texels it is half or a quarter of a block. The codec treats a line as eight rows of
//! eight words, which form one or several blocks. Each block is a rectangle of words of one sample
//! and channel group, so prediction never crosses samples, different words of texels, or blocks.

/// Words of a row.
pub const ROW: usize = 8;

/// Arrangement of a line, by the size of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One byte: a word is a quad. Four blocks of 4x4 words, two by two.
    Singles,
    /// Two bytes: a word is two texels of a row. Two blocks of 4x8 words, side by side.
    Pairs,
    /// Four bytes: one block of 8x8 words.
    Words,
    /// Eight bytes: two blocks of 8x4 words, the first and the second words of texels.
    Doubles,
    /// Sixteen bytes: four blocks of 8x2 words.
    Quadruples,
    /// Other sizes: words in memory order.
    Rows,
}

impl Shape {
    /// Returns the shape for texels of `bytes` bytes.
    pub fn of(bytes: u32) -> Self {
        match bytes {
            1 => Self::Singles,
            2 => Self::Pairs,
            4 => Self::Words,
            8 => Self::Doubles,
            16 => Self::Quadruples,
            _ => Self::Rows,
        }
    }

    /// Returns the index in the line of the word at column `x` of row `y`.
    pub fn word(self, x: usize, y: usize) -> usize {
        let (left, right) = (x % 4, x / 4);
        // Index of a texel in its strip of two rows.
        let texel = |x: usize, y: usize| (x / 2) * 4 + (y % 2) * 2 + x % 2;
        match self {
            Self::Singles => (y / 4 * 2 + right) * 16 + y % 4 * 4 + left,
            Self::Pairs => right * 32 + y / 2 * 8 + left * 2 + y % 2,
            Self::Words => y / 2 * 16 + texel(x, y),
            Self::Doubles => (y % 4 / 2 * 16 + texel(x, y)) * 2 + y / 4,
            Self::Quadruples => texel(x, y) * 4 + y / 2,
            Self::Rows => y * ROW + x,
        }
    }

    /// Returns true if rows contain two blocks side by side.
    pub fn is_split(self) -> bool {
        matches!(self, Self::Singles | Self::Pairs)
    }

    /// Returns the number of rows of a block.
    pub fn height(self) -> usize {
        match self {
            Self::Pairs | Self::Words | Self::Rows => 8,
            Self::Singles | Self::Doubles => 4,
            Self::Quadruples => 2,
        }
    }

    /// Returns the number of blocks of a line: at most four.
    pub fn blocks(self) -> usize {
        ROW / self.height() * (1 + usize::from(self.is_split()))
    }

    /// Returns row and column of a block's first word.
    pub fn corner(self, block: usize) -> (usize, usize) {
        if self.is_split() { (block / 2 * self.height(), block % 2 * (ROW / 2)) } else { (block * self.height(), 0) }
    }

    /// Returns the number of words of a texel, or 1 if it is not a whole number of words.
    pub fn period(self) -> usize {
        match self {
            Self::Doubles => 2,
            Self::Quadruples => 4,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const ALL: [Shape; 6] =
        [Shape::Singles, Shape::Pairs, Shape::Words, Shape::Doubles, Shape::Quadruples, Shape::Rows];

    #[test]
    fn every_word_has_one_place() {
        for shape in ALL {
            let mut seen = [false; 64];
            for (x, y) in (0..64).map(|place| (place % 8, place / 8)) {
                assert!(!std::mem::replace(&mut seen[shape.word(x, y)], true), "{shape:?} {x} {y}");
            }
            assert!(shape.blocks() <= 4);
            let (y, x) = shape.corner(shape.blocks() - 1);
            assert!(x < 8 && y + shape.height() == 8);
        }
    }

    /// Neighbours in a row of a block are neighbours in the image.
    #[test]
    fn texels_of_a_row_are_side_by_side() {
        // Index of the texel at (x, y) of a block of 8x8 texels in the surface's layout.
        let place = |x: usize, y: usize| (y / 2) * 16 + (x / 2) * 4 + (y % 2) * 2 + x % 2;
        for (x, y) in (0..64).map(|place| (place % 8, place / 8)) {
            assert_eq!(Shape::Words.word(x, y), place(x, y));
            assert_eq!(Shape::Pairs.word(x / 2, y), place(x, y) / 2);
            assert_eq!(Shape::Singles.word(x / 2, y / 2), place(x, y) / 4);
            if y < 4 {
                assert_eq!(Shape::Doubles.word(x, y), place(x, y) * 2);
                assert_eq!(Shape::Doubles.word(x, y + 4), place(x, y) * 2 + 1);
            }
            if y < 2 {
                assert_eq!(Shape::Quadruples.word(x, y + 4), place(x, y) * 4 + 2);
            }
        }
    }
}
