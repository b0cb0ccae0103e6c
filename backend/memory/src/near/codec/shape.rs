//! Which words of a line are neighbours.
//!
//! A line is 256 bytes of a plane: texels of 8x8 blocks in the order of `memory/layout.rs`, quad by quad, sample by sample. With four bytes a
//! texel it is one block of one sample; smaller texels have two or four blocks (next to each other, or samples of one place) in a
//! line, larger ones half a block or a quarter. The codec looks at it as eight rows of eight words, of one block or several, each a
//! rectangle of words that belong together: so nothing is predicted across samples, channels of different words, or blocks.

/// Words of a row.
pub const ROW: usize = 8;

/// A line's arrangement, by the size of a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One byte: a word is a quad; four blocks of 4x4 words, two by two.
    Singles,
    /// Two bytes: a word is two texels of a row; two blocks of 4x8 words, side by side.
    Pairs,
    /// Four bytes: 8x8 words.
    Words,
    /// Eight bytes: two blocks of 8x4 words, the first and the second words of texels.
    Doubles,
    /// Sixteen bytes: four blocks of 8x2 words.
    Quadruples,
    /// Other sizes: words as they follow each other.
    Rows,
}

impl Shape {
    /// The shape of texels of so many bytes.
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

    /// Which word of the line stands at column `x` of row `y`.
    pub fn word(self, x: usize, y: usize) -> usize {
        let (left, right) = (x % 4, x / 4);
        // Of a texel in its strip of two rows.
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

    /// Whether rows have two blocks side by side.
    pub fn is_split(self) -> bool {
        matches!(self, Self::Singles | Self::Pairs)
    }

    /// Rows of a block.
    pub fn height(self) -> usize {
        match self {
            Self::Pairs | Self::Words | Self::Rows => 8,
            Self::Singles | Self::Doubles => 4,
            Self::Quadruples => 2,
        }
    }

    /// Blocks of a line: at most four.
    pub fn blocks(self) -> usize {
        ROW / self.height() * (1 + usize::from(self.is_split()))
    }

    /// Row and column of a block's first word.
    pub fn corner(self, block: usize) -> (usize, usize) {
        if self.is_split() { (block / 2 * self.height(), block % 2 * (ROW / 2)) } else { (block * self.height(), 0) }
    }

    /// Words of a texel, 1 where it is no whole number of them.
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
        // The texel at (x, y) of a block of 8x8, as the layout numbers it.
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
