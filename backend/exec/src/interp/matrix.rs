//! Instructions on matrices, for the interpreter and for generated code.

use std::array;

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::{
    BLOCK, BinaryOp, MatrixForm, MatrixLoad, MatrixMultiply, MatrixOp, MatrixStore, PACKED_BLOCK, Space, TernaryOp,
    UnaryOp, Value,
};

use super::environment::Access;
use super::memory::OFFSET_BITS;
use crate::runtime::frame::RESULTS;
use crate::runtime::kernels;

/// Offset outside of all memory except that which is accessed by address.
const OUTSIDE: u64 = 0xffff_fffc;

/// Placement of a strip in memory.
#[derive(Clone, Copy)]
struct Strip {
    form: MatrixForm,
    space: Space,
    offset: Value,
    stride: Value,
}

impl Strip {
    /// Returns the memory, with the first operand as the value that selects it, and the registers
    /// of that operand and of the lanes' byte offsets of element `i`.
    fn element(self, access: &Access<'_>, i: u32) -> (Space, [Lanes; 2]) {
        let first = |value| u64::from(access.word(value, 0));
        let (offset, stride) = (first(self.offset), first(self.stride));
        let place = |lane: usize| {
            let (rows, bytes) = self.form.place(i, lane as u32);
            offset + u64::from(rows) * stride + u64::from(bytes)
        };
        let words = |location: &dyn Fn(usize) -> u64| {
            let word = |shift: u32| array::from_fn(|lane| (location(lane) >> shift) as u32);
            [word(32), word(0)]
        };
        match self.space {
            Space::Address { high } => {
                let address = |lane| (first(high) << 32).wrapping_add(place(lane));
                (Space::Address { high: Value(0) }, words(&address))
            }
            Space::Far { resource, high } => {
                let location = first(high) << 32;
                let offset = |lane| ((location & OFFSET_BITS) + place(lane)).min(OFFSET_BITS);
                (Space::Far { resource, high: Value(0) }, words(&|lane| location & !OFFSET_BITS | offset(lane)))
            }
            mut space => {
                let selected = space.operand().map_or([0; WAVE], |element| [access.word(element, 0); WAVE]);
                space.operand_mut().into_iter().for_each(|element| *element = Value(0));
                (space, [selected, array::from_fn(|lane| place(lane).min(OUTSIDE) as u32)])
            }
        }
    }
}

impl Access<'_> {
    /// Copies a strip of a matrix in memory, row after row.
    pub(super) fn copy_matrix(&self, load: &MatrixLoad) -> [Lanes; RESULTS] {
        let form = load.form;
        let mut copy = [[0; WAVE]; RESULTS];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(copy.as_flattened_mut());
        for i in 0..form.elements() {
            for (lane, part) in self.element_of(load, i).into_iter().enumerate() {
                let (rows, column) = form.place(i, lane as u32);
                let at = (rows * form.line_bytes() + column) as usize;
                let size = form.bytes() as usize;
                bytes[at..at + size].copy_from_slice(&part.to_le_bytes()[..size]);
            }
        }
        copy
    }

    /// Loads element `i` of the lanes, whose upper bits are undefined.
    fn element_of(&self, load: &MatrixLoad, i: u32) -> Lanes {
        let &MatrixLoad { form, space, offset, stride, .. } = load;
        let (space, [selected, offsets]) = Strip { form, space, offset, stride }.element(self, i);
        // A part of a dword is loaded with its dword, as by other loads.
        let aligned = if form.bytes() < 4 { offsets.map(|offset| offset & !3) } else { offsets };
        let registers = [selected, aligned];
        let words = Access { registers: &registers, ..*self }.load(Mask::MAX, space, Value(1));
        array::from_fn(|lane| if form.bytes() < 4 { words[lane] >> (8 * (offsets[lane] % 4)) } else { words[lane] })
    }

    /// Loads a strip of a matrix in all lanes.
    pub(super) fn load_matrix(&self, load: &MatrixLoad) -> [Lanes; RESULTS] {
        let mut results = [[0; WAVE]; RESULTS];
        for i in 0..load.form.elements() {
            let part = self.element_of(load, i);
            match load.form {
                MatrixForm::Words | MatrixForm::Columns | MatrixForm::Quads => results[i as usize] = part,
                MatrixForm::Halves => results[i as usize] = kernels::unary(UnaryOp::HalfToFloat, &part),
                MatrixForm::Bfloats => results[i as usize] = part.map(|part| part << 16),
                MatrixForm::Bytes => {
                    let packed = &mut results[0];
                    (0..WAVE).for_each(|lane| packed[lane] |= (part[lane] & 0xff) << (8 * i));
                }
            }
        }
        results
    }

    /// Stores a strip of a matrix in the active lanes.
    pub(super) fn store_matrix(&self, store: &MatrixStore) {
        let MatrixStore { form, space, offset, stride, ref words } = *store;
        let strip = Strip { form, space, offset, stride };
        for i in 0..form.elements() {
            let (space, [selected, offsets]) = strip.element(self, i);
            let word = self.lanes(words[if form == MatrixForm::Bytes { 0 } else { i as usize }]);
            let value = match form {
                MatrixForm::Words | MatrixForm::Columns | MatrixForm::Quads => *word,
                MatrixForm::Halves => kernels::unary(UnaryOp::FloatToHalf, word),
                MatrixForm::Bfloats => word.map(|word| word >> 16),
                MatrixForm::Bytes => word.map(|word| word >> (8 * i)),
            };
            let registers = [selected, offsets, value];
            let access = Access { registers: &registers, ..*self };
            access.store(space, Value(1), Value(2), form.bytes() as usize);
        }
    }
}

/// Returns the sum of a block and a product of matrices.
///
/// # Panics
/// Panics if the product did not pass the verifier.
pub(super) fn multiply(product: &MatrixMultiply, registers: &[Lanes]) -> Vec<Lanes> {
    let lanes = |value: &Value| &registers[value.0 as usize];
    let [left, right, addend] = product.parts().expect("the verifier checks the shape");
    let mut sums: Vec<Lanes> = addend.iter().map(|value| *lanes(value)).collect();
    for (row, sum) in sums.iter_mut().enumerate() {
        if product.op == MatrixOp::Floats {
            for (k, factor) in right.iter().enumerate() {
                let left = [lanes(&left[row])[k]; WAVE];
                *sum = kernels::ternary(TernaryOp::Fma, &left, lanes(factor), sum);
            }
            continue;
        }
        let (is_left_signed, is_right_signed) = product.op.signs();
        for (k, factor) in right.iter().enumerate() {
            let (block, quad) = (k / PACKED_BLOCK, k % PACKED_BLOCK);
            let packed = lanes(&left[block * PACKED_BLOCK + row / 4])[row % 4 * 4 + quad];
            for i in 0..4 {
                let left = [extended(packed, i, is_left_signed); WAVE];
                let right = lanes(factor).map(|packed| extended(packed, i, is_right_signed));
                *sum = kernels::binary(BinaryOp::IAdd, sum, &kernels::binary(BinaryOp::IMul, &left, &right));
            }
        }
    }
    debug_assert_eq!(sums.len(), BLOCK);
    sums
}

/// Returns byte `i` of a dword.
fn extended(packed: u32, i: u32, is_signed: bool) -> u32 {
    let byte = (packed >> (8 * i)) as u8;
    if is_signed { byte as i8 as u32 } else { byte.into() }
}
