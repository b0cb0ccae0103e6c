//! Instructions on matrices that are distributed over the lanes of a wave.
//!
//! A matrix consists of blocks of 16 rows and 16 columns. Lane `n` has column `n` of a block, one
//! row per word. Blocks of bytes have another distribution if they are left factors of products
//! (see [`MatrixMultiply`]). A strip is the part of a matrix that one instruction loads or stores.

use super::operands::named;
use super::{Space, Value};

/// Number of rows and of columns of a block.
pub const BLOCK: usize = 16;

/// Number of words per lane of a block of bytes, four of which are packed in a word.
pub const PACKED_BLOCK: usize = BLOCK / 4;

named! {
    /// Placement of a strip in memory. Offsets count bytes. `i` is the number of a word, from 0 to
    /// 3. Matrices whose elements follow each other by columns swap rows and columns.
    #[expect(missing_docs, reason = "comments beside the variants describe them")]
    MatrixForm "no such form of a matrix" {
        // Four words: the dword at `i * stride + 4 * lane`.
        Words,
        // Four floats: the half at `i * stride + 2 * lane`.
        Halves,
        // Four floats, whose upper 16 bits are at `i * stride + 2 * lane`. The others are 0.
        Bfloats,
        // One word, whose byte `i` is at `i * stride + lane`.
        Bytes,
        // Four words: the dword at `lane * stride + 4 * i`.
        Columns,
        // One word: the dword at `lane / 4 * stride + lane % 4 * 4`.
        Quads,
    }
}

impl MatrixForm {
    /// Returns the number of words per lane.
    pub const fn words(self) -> u32 {
        if matches!(self, Self::Bytes | Self::Quads) { 1 } else { 4 }
    }

    /// Returns true if the words are floats of 16 bits in memory.
    pub const fn has_narrow_floats(self) -> bool {
        matches!(self, Self::Halves | Self::Bfloats)
    }

    /// Returns the size of an element in memory in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Words | Self::Columns | Self::Quads => 4,
            Self::Halves | Self::Bfloats => 2,
            Self::Bytes => 1,
        }
    }

    /// Returns the number of elements per lane that are accessed one by one.
    pub const fn elements(self) -> u32 {
        if matches!(self, Self::Quads) { 1 } else { 4 }
    }

    /// Returns the factor of the stride and the constant in the byte offset of element `i` of a
    /// lane.
    pub const fn place(self, i: u32, lane: u32) -> (u32, u32) {
        match self {
            Self::Words | Self::Halves | Self::Bfloats | Self::Bytes => (i, lane * self.bytes()),
            Self::Columns => (lane, 4 * i),
            Self::Quads => (lane / 4, lane % 4 * 4),
        }
    }

    /// Returns the distance of rows in a copy of the strip, in bytes.
    pub const fn line_bytes(self) -> u32 {
        if matches!(self, Self::Columns) { 16 } else { 64 }
    }

    /// Returns the largest factor of the stride, and the number of bytes that follow each other.
    pub const fn extent(self) -> (u32, u32) {
        match self {
            Self::Words | Self::Halves | Self::Bfloats | Self::Bytes => (3, 16 * self.bytes()),
            Self::Columns => (15, 16),
            Self::Quads => (3, 16),
        }
    }
}

named! {
    /// Kind of a product of matrices.
    #[expect(missing_docs, reason = "comments beside the variants describe them")]
    MatrixOp "no such product of matrices" {
        // Floats. Each product is fused with the addition to the sum.
        Floats,
        // Signed bytes by signed bytes. Sums of all kinds of bytes wrap around.
        SignedBySigned,
        // Signed bytes by unsigned bytes.
        SignedByUnsigned,
        // Unsigned bytes by signed bytes.
        UnsignedBySigned,
        // Unsigned bytes by unsigned bytes.
        UnsignedByUnsigned,
    }
}

impl MatrixOp {
    /// Returns the product of bytes with these signs.
    pub const fn of_bytes(left_is_signed: bool, right_is_signed: bool) -> Self {
        match (left_is_signed, right_is_signed) {
            (true, true) => Self::SignedBySigned,
            (true, false) => Self::SignedByUnsigned,
            (false, true) => Self::UnsignedBySigned,
            (false, false) => Self::UnsignedByUnsigned,
        }
    }

    /// Returns true if the left factor and the right factor are signed.
    pub const fn signs(self) -> (bool, bool) {
        match self {
            Self::Floats | Self::SignedBySigned => (true, true),
            Self::SignedByUnsigned => (true, false),
            Self::UnsignedBySigned => (false, true),
            Self::UnsignedByUnsigned => (false, false),
        }
    }

    /// Returns the number of words of a block of a factor.
    pub const fn block(self) -> usize {
        if matches!(self, Self::Floats) { BLOCK } else { PACKED_BLOCK }
    }

    /// Returns the maximum number of blocks of a factor.
    pub const fn max_blocks(self) -> usize {
        if matches!(self, Self::Floats) { 1 } else { 4 }
    }
}

/// Load of a strip of a matrix. All lanes load, active or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatrixLoad {
    /// Placement in memory.
    pub form: MatrixForm,
    /// Memory.
    pub space: Space,
    /// Byte offset of the strip, of which lane 0 counts.
    pub offset: Value,
    /// Bytes between rows, of which lane 0 counts.
    pub stride: Value,
    /// First result. The results have consecutive numbers.
    pub result: Value,
}

impl MatrixLoad {
    /// Returns the number of results.
    pub const fn results(&self) -> u32 {
        self.form.words()
    }
}

/// Store of a strip of a matrix by the active lanes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatrixStore {
    /// Placement in memory.
    pub form: MatrixForm,
    /// Memory.
    pub space: Space,
    /// Byte offset of the strip, of which lane 0 counts.
    pub offset: Value,
    /// Bytes between rows, of which lane 0 counts.
    pub stride: Value,
    /// Words to store.
    pub words: Vec<Value>,
}

/// Product of two matrices, added to a third, which is one block.
///
/// Products are added in ascending order of the left factor's columns. Lane `l` of word `j` of a
/// packed block has the bytes of row `4 * j + l / 4` from column `l % 4 * 4` on if the block is of
/// the left factor, and those of column `l` from row `4 * j` on otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatrixMultiply {
    /// Kind of the product.
    pub op: MatrixOp,
    /// Blocks of the left factor from left to right, blocks of the right factor from top to
    /// bottom, and the block to add.
    pub words: Vec<Value>,
    /// First result. The results have consecutive numbers.
    pub result: Value,
}

impl MatrixMultiply {
    /// Returns the number of results.
    pub const fn results(&self) -> u32 {
        BLOCK as u32
    }

    /// Returns the words of the left factor, the right factor and the addend.
    ///
    /// # Errors
    /// Returns an error if the number of words is not that of whole blocks.
    pub fn parts(&self) -> Result<[&[Value]; 3], &'static str> {
        let problem = "a product of matrices of another shape";
        let factors = self.words.len().checked_sub(BLOCK).ok_or(problem)?;
        let blocks = factors / 2 / self.op.block();
        if blocks * 2 * self.op.block() != factors || blocks == 0 || blocks > self.op.max_blocks() {
            return Err(problem);
        }
        let (left, rest) = self.words.split_at(factors / 2);
        let (right, addend) = rest.split_at(factors / 2);
        Ok([left, right, addend])
    }
}
