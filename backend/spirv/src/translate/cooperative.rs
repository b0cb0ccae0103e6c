//! Cooperative matrices, which are distributed over the lanes of a subgroup. Source:
//! `SPV_KHR_cooperative_matrix`.
//!
//! A matrix is a grid of blocks of 16 rows and 16 columns, in row-major order. Lane `n` has column
//! `n` of a block in 16 scalars, a row each. A matrix of bytes that is a left factor has another
//! distribution, for which products of bytes need no transposition: scalar `4 * j + i` of lane `l`
//! is in row `4 * j + l / 4` and column `l % 4 * 4 + i`.

use std::rc::Rc;

use spirv::{CooperativeMatrixLayout, CooperativeMatrixOperands, Op};
use vitric_ir::{
    BLOCK, BinaryOp, Builder, Inst, MatrixForm, MatrixLoad, MatrixMultiply, MatrixOp, MatrixStore, Space, Type, Value,
};

use super::memory::Pointer;
use super::{Translator, dot};
use crate::module::{MatrixType, MatrixUse, Ty};
use crate::number::{self, Number};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Number of bytes that a strip has of each row or column in memory that lanes do not share.
const STRIP_BYTES: u32 = 16;

/// Shape of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    number: Number,
    rows: u32,
    columns: u32,
    usage: MatrixUse,
}

impl Shape {
    /// Returns true for matrices of bytes that are left factors.
    fn is_left_of_bytes(self) -> bool {
        self.usage == MatrixUse::Left && self.number == Number::Int(8)
    }

    /// Returns the first row and the first column of each block.
    fn blocks(self) -> impl Iterator<Item = (u32, u32)> {
        let step = BLOCK as u32;
        let (rows, columns) = (self.rows / step, self.columns / step);
        (0..rows * columns).map(move |block| (block / columns * step, block % columns * step))
    }
}

/// Place of a matrix in memory.
#[derive(Debug, Clone, Copy)]
struct Place {
    space: Space,
    offset: Value,
    /// Bytes between rows, or columns.
    stride: Value,
    is_by_columns: bool,
    /// Size of an element in bytes. Elements of four bytes are scalars of the IR.
    bytes: u32,
}

/// Part of a block in memory.
#[derive(Debug, Clone, Copy)]
struct StripPlace {
    form: MatrixForm,
    /// Offset from the block, in strides and in bytes.
    from: (u32, u32),
}

/// Returns true for instructions on cooperative matrices.
pub(super) fn is_cooperative(op: Op) -> bool {
    matches!(
        op,
        Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixMulAddKHR
            | Op::CooperativeMatrixLengthKHR
    )
}

impl Translator<'_> {
    pub(super) fn cooperative(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::CooperativeMatrixLoadKHR => self.load_cooperative(inst),
            Op::CooperativeMatrixStoreKHR => self.store_cooperative(inst),
            Op::CooperativeMatrixMulAddKHR => self.multiply_cooperative(inst),
            _ => {
                let length = self.words_of(inst.word(2)?)?;
                let length = self.builder.int(length);
                self.define_words(inst.word(1)?, inst.word(0)?, vec![length])
            }
        }
    }

    fn shape(&self, ty: u32) -> Result<Shape> {
        let &Ty::Cooperative(matrix) = self.module.ty(ty)? else {
            return Err(Error::Malformed("not a cooperative matrix"));
        };
        let MatrixType { rows, columns, usage } = self.constants.matrix(self.module, matrix)?;
        Ok(Shape { number: Number::of(self.module, ty)?, rows, columns, usage })
    }

    // ---- memory --------------------------------------------------------------------------------

    fn load_cooperative(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let (shape, pointer) = (self.shape(ty)?, self.pointer(inst.word(2)?)?);
        let mut found: Option<Vec<Value>> = None;
        let operands = (inst.word(3)?, inst.words.get(4).copied());
        self.for_matrix(&pointer, shape, operands, |this, place| {
            let mut words = Vec::new();
            for (row, column) in shape.blocks() {
                let block = this.block_place(place, row, column);
                words.extend(this.load_block(shape, block)?);
            }
            match found.replace(words) {
                None => Ok(()),
                Some(_) => Err(Error::Unsupported("cooperative matrices in one of several buffers".into())),
            }
        })?;
        self.define_words(id, ty, found.ok_or(Error::Malformed("not in memory"))?)
    }

    fn store_cooperative(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, words) = self.typed_words(inst.word(1)?)?;
        let (shape, pointer) = (self.shape(ty)?, self.pointer(inst.word(0)?)?);
        let operands = (inst.word(2)?, inst.words.get(3).copied());
        self.charge_work(words.len())?;
        self.for_matrix(&pointer, shape, operands, |this, place| {
            this.facts.side_effects |= place.space != Space::Shared;
            for ((row, column), words) in shape.blocks().zip(words.chunks(BLOCK)) {
                let block = this.block_place(place, row, column);
                this.store_block(shape, block, words)?;
            }
            Ok(())
        })
    }

    /// Calls `act` with each place that a pointer to a matrix may mean. The operands are the
    /// layout and the stride in units of the pointee.
    fn for_matrix(
        &mut self,
        pointer: &Rc<Pointer>,
        shape: Shape,
        (layout, stride): (u32, Option<u32>),
        mut act: impl FnMut(&mut Self, Place) -> Result<()>,
    ) -> Result<()> {
        let layout = self.constants.scalar(layout).and_then(CooperativeMatrixLayout::from_u32);
        let is_by_columns = match layout {
            Some(CooperativeMatrixLayout::RowMajorKHR) => false,
            Some(CooperativeMatrixLayout::ColumnMajorKHR) => true,
            other => return Err(Error::Unsupported(format!("cooperative matrices with layout {other:?}"))),
        };
        let (unit, bytes) = self.element_sizes(pointer, shape)?;
        let stride = self.index(stride.ok_or(Error::Malformed("a matrix without a stride"))?)?;
        let unit = self.builder.int(unit);
        let stride = self.builder.binary(BinaryOp::IMul, stride, unit);
        self.for_each_space(pointer, pointer.constant, Type::I32, |this, space, offset| {
            act(this, Place { space, offset, stride, is_by_columns, bytes })?;
            Ok(None)
        })?;
        Ok(())
    }

    /// Returns the sizes in bytes of a pointee and of an element of a matrix in memory.
    fn element_sizes(&self, pointer: &Pointer, shape: Shape) -> Result<(u32, u32)> {
        let (number, count) = match *self.module.ty(pointer.ty)? {
            Ty::Vector(_, count) => (Number::of(self.module, pointer.ty)?, count),
            Ty::Int(_) | Ty::Float(_) | Ty::Encoded(_) => (Number::of(self.module, pointer.ty)?, 1),
            _ => return Err(Error::Malformed("a matrix in memory of another type")),
        };
        // Shared memory without an explicit layout has the scalars of the IR.
        if pointer.is_explicit() || pointer.unit == number.bytes() {
            return Ok((number.bytes() * count, shape.number.bytes()));
        }
        if number != shape.number {
            return Err(Error::Unsupported("cooperative matrices in shared memory of another type".into()));
        }
        Ok((pointer.unit * count, pointer.unit))
    }

    /// Returns the place of the block at a row and a column.
    fn block_place(&mut self, place: Place, row: u32, column: u32) -> Place {
        let (line, first) = if place.is_by_columns { (column, row) } else { (row, column) };
        let (space, offset) = self.moved(place, (line, first * place.bytes));
        Place { space, offset, ..place }
    }

    /// Returns the location at a number of strides and bytes from a place.
    fn moved(&mut self, place: Place, (strides, bytes): (u32, u32)) -> (Space, Value) {
        let b = &mut self.builder;
        let stride = if self.is_far { b.extend(place.stride, false) } else { place.stride };
        let [strides, bytes] = [strides, bytes].map(|number| b.int_like(stride, number.into()));
        let distance = b.binary(BinaryOp::IMul, stride, strides);
        let distance = b.binary(BinaryOp::IAdd, distance, bytes);
        if !place.space.is_located() {
            let [distance, _] = b.split(distance);
            return (place.space, b.binary(BinaryOp::IAdd, place.offset, distance));
        }
        let distance = if b.is_wide(distance) { distance } else { b.extend(distance, false) };
        self.located_behind((place.space, place.offset), distance)
    }

    fn load_block(&mut self, shape: Shape, place: Place) -> Result<Vec<Value>> {
        let mut loaded = Vec::new();
        let ty = if place.bytes == 4 { shape.number.ir() } else { Type::I32 };
        for StripPlace { form, from } in strips(shape, place)? {
            let ty = if form.has_narrow_floats() { Type::F32 } else { ty };
            let (space, offset) = self.moved(place, from);
            let results: Vec<Value> = (0..form.words()).map(|_| self.builder.value(ty)).collect();
            let load = MatrixLoad { form, space, offset, stride: place.stride, result: results[0] };
            self.builder.push(Inst::MatrixLoad(Box::new(load)));
            loaded.extend(results);
        }
        let b = &mut self.builder;
        let words = match (place.bytes, shape.number) {
            (1, _) if shape.is_left_of_bytes() && place.is_by_columns => {
                let packed = quads_of_columns(b, &loaded);
                unpacked(b, &packed)
            }
            (1, number @ Number::Encoded(_)) => {
                let codes = unpacked(b, &loaded);
                codes.into_iter().map(|code| number::decode(b, code, number)).collect()
            }
            (1, _) => unpacked(b, &loaded),
            (2, number) if place.is_by_columns => numbers_of_pairs(b, &loaded, number),
            (4, _) if shape.is_left_of_bytes() => to_left(b, &loaded),
            _ => loaded,
        };
        Ok(words)
    }

    fn store_block(&mut self, shape: Shape, place: Place, words: &[Value]) -> Result<()> {
        let b = &mut self.builder;
        let words = match place.bytes {
            1 if shape.is_left_of_bytes() && place.is_by_columns => {
                let words = from_left(b, words);
                let transposed = transposed(b, &words);
                let transposed = packed(b, &transposed);
                return self.store_strips(Shape { usage: MatrixUse::Right, ..shape }, place.by_rows(), &transposed);
            }
            1 => {
                let codes: Vec<Value> = words.iter().map(|&word| number::code(b, word, shape.number)).collect();
                packed(b, &codes)
            }
            2 if place.is_by_columns => packed_pairs(b, words, shape.number),
            4 if shape.is_left_of_bytes() => from_left(b, words),
            _ => words.to_vec(),
        };
        self.store_strips(shape, place, &words)
    }

    fn store_strips(&mut self, shape: Shape, place: Place, words: &[Value]) -> Result<()> {
        let mut words = words;
        for StripPlace { form, from } in strips(shape, place)? {
            let (space, offset) = self.moved(place, from);
            let (strip, rest) = words.split_at((form.words() as usize).min(words.len()));
            let store = MatrixStore { form, space, offset, stride: place.stride, words: strip.to_vec() };
            self.builder.push(Inst::MatrixStore(Box::new(store)));
            words = rest;
        }
        Ok(())
    }

    // ---- arithmetic ----------------------------------------------------------------------------

    fn multiply_cooperative(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let [(left_type, left), (right_type, right), (sum_type, sum)] =
            [self.typed_words(inst.word(2)?)?, self.typed_words(inst.word(3)?)?, self.typed_words(inst.word(4)?)?];
        let [left_shape, right_shape, sum_shape, shape] =
            [self.shape(left_type)?, self.shape(right_type)?, self.shape(sum_type)?, self.shape(ty)?];
        let usages = [left_shape.usage, right_shape.usage, sum_shape.usage, shape.usage];
        let fits = left_shape.columns == right_shape.rows
            && [sum_shape, shape].iter().all(|sum| (sum.rows, sum.columns) == (left_shape.rows, right_shape.columns));
        if !fits || usages != [MatrixUse::Left, MatrixUse::Right, MatrixUse::Sum, MatrixUse::Sum] {
            return Err(Error::Malformed("a product of matrices of other shapes"));
        }
        let operands = CooperativeMatrixOperands::from_bits_truncate(inst.words.get(5).copied().unwrap_or(0));
        let op = product_of([left_shape, right_shape, sum_shape, shape], operands)?;
        let saturates =
            op != MatrixOp::Floats && operands.contains(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR);
        let (left, right) = match op {
            MatrixOp::Floats => (left.to_vec(), right.to_vec()),
            _ => (packed(&mut self.builder, &left), packed(&mut self.builder, &right)),
        };
        let zeros = vec![self.builder.int(0); BLOCK];
        let mut words = Vec::with_capacity(sum.len());
        let (depth, width) = (left_shape.columns as usize / BLOCK, shape.columns as usize / BLOCK);
        for (block, addend) in sum.chunks(BLOCK).enumerate() {
            let (row, column) = (block / width, block % width);
            let mut sums = if saturates { zeros.clone() } else { addend.to_vec() };
            let mut first = 0;
            while first < depth {
                let next = depth.min(first + op.max_blocks());
                let lefts = (first..next).map(|k| (&left[..], row * depth + k));
                let rights = (first..next).map(|k| (&right[..], k * width + column));
                let of = |(words, at): (&[Value], usize)| words[at * op.block()..][..op.block()].to_vec();
                let mut operands: Vec<Value> = lefts.chain(rights).flat_map(of).collect();
                operands.extend(&sums);
                sums = self.product_of_blocks(op, operands)?;
                first = next;
            }
            if saturates {
                let is_signed = operands.contains(CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR);
                let add =
                    |(sum, &addend)| dot::saturating_add(&mut self.builder, (sum, addend), is_signed, shape.number);
                sums = sums.into_iter().zip(addend).map(add).collect();
            }
            words.extend(sums);
        }
        let words = words.into_iter().map(|word| number::narrow(&mut self.builder, word, shape.number)).collect();
        self.define_words(id, ty, words)
    }

    fn product_of_blocks(&mut self, op: MatrixOp, words: Vec<Value>) -> Result<Vec<Value>> {
        self.charge_work(words.len())?;
        let ty = if op == MatrixOp::Floats { Type::F32 } else { Type::I32 };
        let results: Vec<Value> = (0..BLOCK).map(|_| self.builder.value(ty)).collect();
        self.builder.push(Inst::MatrixMultiply(Box::new(MatrixMultiply { op, words, result: results[0] })));
        Ok(results)
    }

    /// Returns the scalars of a componentwise result in the distribution of its type. `from` is
    /// the operand, whose distribution they have.
    pub(super) fn redistributed(&mut self, from: u32, ty: u32, words: Vec<Value>) -> Result<Vec<Value>> {
        if !matches!(self.module.ty(ty)?, Ty::Cooperative(_)) {
            return Ok(words);
        }
        let (from, _) = self.operand(from)?;
        let is_left = [self.shape(from)?, self.shape(ty)?].map(Shape::is_left_of_bytes);
        let b = &mut self.builder;
        Ok(match is_left {
            [false, true] => words.chunks(BLOCK).flat_map(|block| to_left(b, block)).collect(),
            [true, false] => words.chunks(BLOCK).flat_map(|block| from_left(b, block)).collect(),
            _ => words,
        })
    }
}

impl Place {
    fn by_rows(self) -> Self {
        Self { is_by_columns: false, ..self }
    }
}

/// Returns the kind of a product.
fn product_of([left, right, sum, result]: [Shape; 4], operands: CooperativeMatrixOperands) -> Result<MatrixOp> {
    use CooperativeMatrixOperands as O;
    let numbers = [left, right, sum, result].map(|shape| shape.number);
    match numbers {
        _ if numbers.iter().all(|number| number.ir() == Type::F32) => Ok(MatrixOp::Floats),
        [Number::Int(8), Number::Int(8), Number::Int(32), Number::Int(32)] => {
            let signs = [O::MATRIX_A_SIGNED_COMPONENTS_KHR, O::MATRIX_B_SIGNED_COMPONENTS_KHR];
            let [left, right] = signs.map(|sign| operands.contains(sign));
            Ok(MatrixOp::of_bytes(left, right))
        }
        _ => Err(Error::Unsupported(format!("products of cooperative matrices of {numbers:?}"))),
    }
}

/// Returns the strips of a block in memory, in the order of its words.
fn strips(shape: Shape, place: Place) -> Result<Vec<StripPlace>> {
    let rows = |form| (0..4).map(move |strip| StripPlace { form, from: (4 * strip, 0) }).collect();
    let columns = |bytes: u32| {
        let strip = |strip| StripPlace { form: MatrixForm::Columns, from: (0, STRIP_BYTES * strip) };
        (0..BLOCK as u32 * bytes / STRIP_BYTES).map(strip).collect()
    };
    match (place.bytes, place.is_by_columns) {
        (1, true) if shape.is_left_of_bytes() => Ok(rows(MatrixForm::Bytes)),
        (1, false) if shape.is_left_of_bytes() => Ok(rows(MatrixForm::Quads)),
        (1, false) => Ok(rows(MatrixForm::Bytes)),
        (2, false) if shape.number == Number::Float(16) => Ok(rows(MatrixForm::Halves)),
        (2, false) => Ok(rows(MatrixForm::Bfloats)),
        (4, false) => Ok(rows(MatrixForm::Words)),
        (bytes @ (1 | 2 | 4), true) => Ok(columns(bytes)),
        (bytes, _) => Err(Error::Unsupported(format!("cooperative matrices with elements of {bytes} bytes"))),
    }
}

/// Packs four bytes in each dword.
fn packed(b: &mut Builder, words: &[Value]) -> Vec<Value> {
    let mut pack = |bytes: &[Value]| {
        let mut moved = |index: usize| {
            let count = b.int(8 * index as u32);
            b.binary(BinaryOp::Shl, bytes[index], count)
        };
        let [first, second, third] = [moved(1), moved(2), moved(3)];
        let low = b.binary(BinaryOp::Or, bytes[0], first);
        let high = b.binary(BinaryOp::Or, second, third);
        b.binary(BinaryOp::Or, low, high)
    };
    words.chunks_exact(4).map(&mut pack).collect()
}

/// Returns the four bytes of each dword.
fn unpacked(b: &mut Builder, packed: &[Value]) -> Vec<Value> {
    let mut words = Vec::with_capacity(4 * packed.len());
    let mask = b.int(0xff);
    for &word in packed {
        words.push(b.binary(BinaryOp::And, word, mask));
        for index in 1..4 {
            let count = b.int(8 * index);
            let moved = b.binary(BinaryOp::ShrLogical, word, count);
            words.push(b.binary(BinaryOp::And, moved, mask));
        }
    }
    words
}

/// Returns the two 16-bit floats of each dword.
fn numbers_of_pairs(b: &mut Builder, packed: &[Value], number: Number) -> Vec<Value> {
    let mut words = Vec::with_capacity(2 * packed.len());
    let count = b.int(16);
    for &word in packed {
        words.push(number::decode(b, word, number));
        let high = b.binary(BinaryOp::ShrLogical, word, count);
        words.push(number::decode(b, high, number));
    }
    words
}

/// Packs two 16-bit floats in each dword.
fn packed_pairs(b: &mut Builder, words: &[Value], number: Number) -> Vec<Value> {
    let count = b.int(16);
    let pack = |pair: &[Value]| {
        let [low, high] = [pair[0], pair[1]].map(|word| number::code(b, word, number));
        let high = b.binary(BinaryOp::Shl, high, count);
        b.binary(BinaryOp::Or, low, high)
    };
    words.chunks_exact(2).map(pack).collect()
}

/// Numbers of the lanes, divided by 4: quotient and remainder.
fn lanes_by_four(b: &mut Builder) -> (Value, Value) {
    let (lane, two, three) = (b.lane(), b.int(2), b.int(3));
    (b.binary(BinaryOp::ShrLogical, lane, two), b.binary(BinaryOp::And, lane, three))
}

/// Returns `scale * value + constant`.
fn scaled(b: &mut Builder, value: Value, (scale, constant): (u32, u32)) -> Value {
    let (scale, constant) = (b.int(scale), b.int(constant));
    let product = b.binary(BinaryOp::IMul, value, scale);
    b.binary(BinaryOp::IAdd, product, constant)
}

/// Returns, in each lane, the word of `words` that `choice` selects, from lane `lane`.
fn chosen(b: &mut Builder, words: &[Value], choice: Value, lane: Value) -> Value {
    let mut out = b.shuffle(words[0], lane);
    for (number, &word) in (1..).zip(&words[1..]) {
        let (word, number) = (b.shuffle(word, lane), b.int(number));
        let here = b.binary(BinaryOp::IEq, choice, number);
        out = b.select(here, word, out);
    }
    out
}

/// Converts a block to the distribution of left factors of bytes.
fn to_left(b: &mut Builder, words: &[Value]) -> Vec<Value> {
    let (quotient, remainder) = lanes_by_four(b);
    let word = |at: usize| {
        let lane = scaled(b, remainder, (4, at as u32 % 4));
        chosen(b, &words[at / 4 * 4..][..4], quotient, lane)
    };
    (0..BLOCK).map(word).collect()
}

/// Converts a block from the distribution of left factors of bytes.
fn from_left(b: &mut Builder, words: &[Value]) -> Vec<Value> {
    let (quotient, remainder) = lanes_by_four(b);
    let word = |row: usize| {
        let lane = scaled(b, quotient, (1, row as u32 % 4 * 4));
        chosen(b, &words[row / 4 * 4..][..4], remainder, lane)
    };
    (0..BLOCK).map(word).collect()
}

/// Converts packed bytes, of which each lane has a row, to the distribution of left factors.
fn quads_of_columns(b: &mut Builder, packed: &[Value]) -> Vec<Value> {
    let (quotient, remainder) = lanes_by_four(b);
    let word = |at: u32| {
        let lane = scaled(b, quotient, (1, 4 * at));
        chosen(b, packed, remainder, lane)
    };
    (0..4).map(word).collect()
}

/// Transposes a block.
fn transposed(b: &mut Builder, words: &[Value]) -> Vec<Value> {
    let lane = b.lane();
    let word = |column: usize| {
        let column = b.int(column as u32);
        chosen(b, words, lane, column)
    };
    (0..BLOCK).map(word).collect()
}
