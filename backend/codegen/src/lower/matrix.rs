//! Lowering of products of matrices.
//!
//! The left factor is stored to the frame, from where one element at a time is broadcast. Sums are
//! in registers, a row each. So is the right factor if the registers hold it. Otherwise it is
//! stored, too, and a loop goes along both factors. All paths compute the same bits.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{BLOCK, BinaryOp, MatrixMultiply, MatrixOp, PACKED_BLOCK, Value};

use super::super::machine::{MachineInst, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Shift, V};
use super::emit::Source;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::frame::LANES_BYTES;
use crate::{ByteProducts, Target};

/// Size of the frame's memory for one factor, in bytes. Packed blocks need twice their size if
/// their bytes are extended to 16 bits.
const FACTOR_BYTES: usize = 2 * BLOCK * LANES_BYTES;

/// Size of the frame's memory for a left and a right factor, in bytes.
pub(super) const SCRATCH_BYTES: usize = 2 * FACTOR_BYTES;

/// Number of rows that are computed together with AVX-512 and AVX2. The registers hold their sums
/// and the right factor, or with AVX2 their sums.
const ROWS: [usize; 2] = [8, 4];

/// Number of words of a column of the right factor that one iteration of a loop multiplies.
const STEP: usize = 4;

/// Number of bytes by which a loop's pointers are behind the first word that an iteration
/// multiplies. Most displacements fit a signed byte then, which makes the code short.
const BIAS: usize = 128;

/// Side of a product on which a factor is.
#[derive(Debug, Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Factor in the frame, for products that follow with the same one.
#[derive(Debug, Default)]
pub(super) struct StoredFactor {
    values: Vec<Value>,
    form: Option<StoredForm>,
}

/// Form of a factor in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoredForm {
    /// Floats.
    Floats,
    /// Packed bytes, with inverted signs or as they are.
    Packed { is_inverted: bool },
    /// Bytes extended to 16 bits: the even bytes of a word, then the odd ones.
    Extended { is_signed: bool },
}

impl StoredForm {
    /// Returns the number of words in the frame for a word of the factor.
    fn words(self) -> usize {
        if matches!(self, Self::Extended { .. }) { 2 } else { 1 }
    }

    /// Returns the distance of two words of the factor, in bytes.
    fn stride(self) -> usize {
        self.words() * LANES_BYTES
    }

    /// Returns the offset of the dword of a left factor that is multiplied by word `k` of the right
    /// one for a row, in bytes.
    fn place(self, row: usize, k: usize) -> usize {
        match self {
            Self::Floats => row * LANES_BYTES + k * 4,
            Self::Packed { .. } | Self::Extended { .. } => {
                let (word, lane) = (k / PACKED_BLOCK * PACKED_BLOCK + row / 4, row % 4 * 4 + k % PACKED_BLOCK);
                word * self.stride() + lane * 4
            }
        }
    }
}

impl Lower<'_> {
    /// Returns true if four bytes are multiplied and added at once (AVX-512 VNNI).
    fn has_byte_products(&self) -> bool {
        let is_chosen = match self.options.byte_products {
            #[cfg(target_arch = "x86_64")]
            ByteProducts::OfMachine => std::is_x86_feature_detected!("avx512vnni"),
            #[cfg(not(target_arch = "x86_64"))]
            ByteProducts::OfMachine => false,
            ByteProducts::OfPairs => false,
            ByteProducts::OfQuads => true,
        };
        is_chosen && self.target == Target::Avx512
    }

    pub(super) fn multiply_matrices(&mut self, product: &MatrixMultiply) -> Result<()> {
        let [left, right, addend] = product.parts()?;
        let sums: Vec<WaveRegs> = addend.iter().map(|&value| self.vector(value)).collect();
        let sums = match product.op {
            MatrixOp::Floats => self.multiply_floats(left, right, sums),
            op if self.has_byte_products() => self.multiply_packed(op, left, right, sums),
            op => self.multiply_extended(op, left, right, sums),
        };
        for (sum, result) in sums.into_iter().zip(product.result.0..) {
            self.set_location(Value(result), ValueLocation::Vector(sum));
        }
        Ok(())
    }

    fn rows_at_once(&self) -> usize {
        ROWS[usize::from(self.target == Target::Avx2)]
    }

    /// Returns the memory of a stored factor, from a byte on.
    fn stored(&self, side: Side, offset: usize) -> Mem {
        Mem::frame(self.scratch + side as usize * FACTOR_BYTES + offset)
    }

    /// Stores a factor, unless it is stored already.
    fn store_factor(&mut self, side: Side, factor: &[Value], form: StoredForm) {
        let stored = &self.stored_factors[side as usize];
        if stored.form == Some(form) && stored.values == factor {
            return;
        }
        for (at, &value) in factor.iter().enumerate() {
            let words = self.vector(value);
            let memory = |lower: &Self, word| lower.stored(side, at * form.stride() + word * LANES_BYTES);
            match form {
                StoredForm::Floats | StoredForm::Packed { is_inverted: false } => {
                    self.store_wave(memory(self, 0), words);
                }
                StoredForm::Packed { is_inverted: true } => {
                    let words = self.vector2(V::Xor, words, Source::Constant(0x8080_8080));
                    self.store_wave(memory(self, 0), words);
                }
                StoredForm::Extended { is_signed } => {
                    let pair = self.extended(words, is_signed);
                    (0..2).for_each(|odd| self.store_wave(memory(self, odd), pair[odd]));
                }
            }
        }
        self.stored_factors[side as usize] = StoredFactor { values: factor.to_vec(), form: Some(form) };
    }

    fn multiply_floats(&mut self, left: &[Value], right: &[Value], mut sums: Vec<WaveRegs>) -> Vec<WaveRegs> {
        let form = StoredForm::Floats;
        self.store_factor(Side::Left, left, form);
        if self.target == Target::Avx2 {
            self.store_factor(Side::Right, right, form);
            return self.multiply_stored(form, right.len(), sums);
        }
        let rows = self.rows_at_once();
        for (first, sums) in (0..BLOCK).step_by(rows).zip(sums.chunks_mut(rows)) {
            for (k, &factor) in right.iter().enumerate() {
                let factor = self.vector(factor);
                for (row, sum) in (first..).zip(&mut *sums) {
                    let element = self.stored(Side::Left, form.place(row, k)).broadcast();
                    *sum = self.fused(V::Fma231, *sum, factor, Source::Memory(element));
                }
            }
        }
        sums
    }

    /// Multiplies stored factors. A column of the right one has `depth` words.
    fn multiply_stored(&mut self, form: StoredForm, depth: usize, mut sums: Vec<WaveRegs>) -> Vec<WaveRegs> {
        let pointer = |lower: &mut Self, side, offset| {
            let memory = lower.stored(side, offset + BIAS);
            lower.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(memory)])
        };
        let [right, end] = [0, depth].map(|k| pointer(self, Side::Right, k * form.stride()));
        let rows = self.rows_at_once();
        for (first, sums) in (0..BLOCK).step_by(rows).zip(sums.chunks_mut(rows)) {
            let left = pointer(self, Side::Left, form.place(first, 0));
            self.multiply_rows(form, [left, right, end], sums);
        }
        sums
    }

    /// Appends a loop that adds the products of some rows to their sums. The pointers are to the
    /// left factor's first row of these, to the right factor, and to the end of the right factor.
    /// All of them are `BIAS` bytes behind.
    fn multiply_rows(&mut self, form: StoredForm, [left, right, end]: [VReg; 3], sums: &mut [WaveRegs]) {
        let [header, again, behind] = [0; 3].map(|_| self.out.block());
        let parts = self.target.parts();
        // The allocator gives a value that loops carry one place. Most sums are in memory around
        // this loop. Copies are values of their own, which the registers hold.
        sums.iter_mut().for_each(|sum| *sum = self.copied(*sum));
        let carried = |pointers: [VReg; 2], sums: &[WaveRegs]| -> Vec<VReg> {
            let sums = sums.iter().flat_map(|sum| (0..parts).map(|part| sum.at(part)));
            pointers.into_iter().chain(sums).collect()
        };
        self.push(MachineInst::Jump { to: header, arguments: carried([left, right], sums) });
        let pointers = [0; 2].map(|_| self.scalar_register());
        sums.fill_with(|| self.parts(parts, |lower, _| lower.vector_register()));
        self.out.blocks[header.index()].parameters = carried(pointers, sums);
        self.block = Some(header);
        self.add_products(form, pointers, sums);
        let steps = [form.place(0, STEP), STEP * form.stride()];
        let next = [0, 1].map(|side| {
            let memory = Operand::Mem(Mem::at(pointers[side], steps[side]));
            self.define(SCALAR, Code::Lea_r64_m, &[memory])
        });
        self.plain(Code::Cmp_r64_rm64, &[Operand::Use(next[1]), Operand::Use(end)]);
        self.push(MachineInst::Branch { code: Code::Jne_rel32_64, then: again, otherwise: behind });
        self.block = Some(again);
        self.push(MachineInst::Jump { to: header, arguments: carried(next, sums) });
        self.block = Some(behind);
        sums.iter_mut().for_each(|sum| *sum = self.copied(*sum));
    }

    /// Returns copies in other registers.
    fn copied(&mut self, words: WaveRegs) -> WaveRegs {
        self.vector1(self.target.r#move(), words)
    }

    /// Adds the products of one iteration of the loop.
    fn add_products(&mut self, form: StoredForm, [left, right]: [VReg; 2], sums: &mut [WaveRegs]) {
        let at = |pointer, offset| Mem { displacement: offset as i32 - BIAS as i32, ..Mem::at(pointer, 0) };
        for k in 0..STEP {
            for word in (0..form.words()).map(|word| word * LANES_BYTES) {
                let factor = self.load_lanes(at(right, k * form.stride() + word), self.target.parts());
                for (row, sum) in sums.iter_mut().enumerate() {
                    let element = WaveRegs::one(self.load_broadcast(at(left, form.place(row, k) + word)));
                    *sum = if form == StoredForm::Floats {
                        self.fused(V::Fma231, *sum, factor, element.into())
                    } else {
                        let products = self.pair_product(factor, element);
                        self.vector2(V::AddI, *sum, products)
                    };
                }
            }
        }
    }

    /// Multiplies packed bytes by an instruction whose first factor is unsigned and whose second
    /// one is signed. Bytes of the wrong kind are moved by 128. The sums of the other factor's
    /// columns, times 128, correct this.
    fn multiply_packed(
        &mut self,
        op: MatrixOp,
        left: &[Value],
        right: &[Value],
        mut sums: Vec<WaveRegs>,
    ) -> Vec<WaveRegs> {
        let (is_left_signed, is_right_signed) = op.signs();
        let is_moved = is_left_signed == is_right_signed;
        let form = StoredForm::Packed { is_inverted: is_moved };
        self.store_factor(Side::Left, left, form);
        let right: Vec<WaveRegs> = right.iter().map(|&value| self.vector(value)).collect();
        if is_moved {
            let correction = self.sums_of_columns(&right, is_right_signed);
            let correct = if is_right_signed { V::SubI } else { V::AddI };
            sums = sums.into_iter().map(|sum| self.vector2(correct, sum, correction)).collect();
        }
        let rows = self.rows_at_once();
        for (first, sums) in (0..BLOCK).step_by(rows).zip(sums.chunks_mut(rows)) {
            for (k, &factor) in right.iter().enumerate() {
                for (row, sum) in (first..).zip(&mut *sums) {
                    let element = self.stored(Side::Left, form.place(row, k));
                    *sum = if is_right_signed {
                        let element = WaveRegs::one(self.load_broadcast(element));
                        self.byte_product(*sum, element, Source::WaveRegs(factor))
                    } else {
                        self.byte_product(*sum, factor, Source::Memory(element.broadcast()))
                    };
                }
            }
        }
        sums
    }

    /// Returns the sums of the columns of the right factor, times 128.
    fn sums_of_columns(&mut self, right: &[WaveRegs], is_signed: bool) -> WaveRegs {
        let mut sum = self.zero_vector();
        for &factor in right {
            sum = if is_signed {
                let factors = self.broadcast_constant(0x8080_8080);
                self.byte_product(sum, factors, Source::WaveRegs(factor))
            } else {
                self.byte_product(sum, factor, Source::Constant(0x0101_0101))
            };
        }
        if is_signed { sum } else { self.shift(Shift::Left, sum, 7) }
    }

    /// Appends `vpdpbusd`, the sum and four products of unsigned by signed bytes.
    fn byte_product(&mut self, sum: WaveRegs, unsigned: WaveRegs, signed: Source) -> WaveRegs {
        let to = self.vector_register();
        let signed = self.source_operand(signed, 0);
        let change = Operand::Change { from: sum.at(0), to };
        self.plain(Code::EVEX_Vpdpbusd_zmm_k1z_zmm_zmmm512b32, &[change, Operand::Use(unsigned.at(0)), signed]);
        WaveRegs::one(to)
    }

    /// Returns the sums of the products of four bytes.
    pub(super) fn dot_of_bytes(&mut self, op: BinaryOp, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        let (is_a_signed, is_b_signed) = op.dot_signs().unwrap_or_default();
        if !self.has_byte_products() {
            let (a, b) = (self.extended(a, is_a_signed), self.extended(b, is_b_signed));
            let [even, odd] = [0, 1].map(|at| self.pair_product(a[at], b[at]));
            return self.vector2(V::AddI, even, Source::WaveRegs(odd));
        }
        let zero = self.zero_vector();
        if is_a_signed != is_b_signed {
            return self.byte_product(zero, b, Source::WaveRegs(a));
        }
        let correction = self.sums_of_columns(&[b], is_b_signed);
        let moved = self.vector2(V::Xor, a, Source::Constant(0x8080_8080));
        if is_b_signed {
            let sum = self.byte_product(zero, moved, Source::WaveRegs(b));
            return self.vector2(V::SubI, sum, Source::WaveRegs(correction));
        }
        let sum = self.byte_product(zero, b, Source::WaveRegs(moved));
        self.vector2(V::AddI, sum, Source::WaveRegs(correction))
    }

    /// Multiplies bytes that are extended to 16 bits.
    fn multiply_extended(
        &mut self,
        op: MatrixOp,
        left: &[Value],
        right: &[Value],
        sums: Vec<WaveRegs>,
    ) -> Vec<WaveRegs> {
        let (is_left_signed, is_right_signed) = op.signs();
        self.store_factor(Side::Left, left, StoredForm::Extended { is_signed: is_left_signed });
        let form = StoredForm::Extended { is_signed: is_right_signed };
        self.store_factor(Side::Right, right, form);
        self.multiply_stored(form, right.len(), sums)
    }

    /// Appends `vpmaddwd`, the sum of two products of signed 16-bit numbers.
    fn pair_product(&mut self, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512,
            Target::Avx2 => Code::VEX_Vpmaddwd_ymm_ymm_ymmm256,
        };
        self.parts(a.count.max(b.count), |lower, part| {
            lower.define(VECTOR, code, &[Operand::Use(a.at(part)), Operand::Use(b.at(part))])
        })
    }

    /// Returns the even bytes and the odd bytes of dwords, extended to 16 bits.
    fn extended(&mut self, words: WaveRegs, is_signed: bool) -> [WaveRegs; 2] {
        let (left, right, signed) = match self.target {
            Target::Avx512 => (
                Code::EVEX_Vpsllw_zmm_k1z_zmmm512_imm8,
                Code::EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8,
                Code::EVEX_Vpsraw_zmm_k1z_zmmm512_imm8,
            ),
            Target::Avx2 => {
                (Code::VEX_Vpsllw_ymm_ymm_imm8, Code::VEX_Vpsrlw_ymm_ymm_imm8, Code::VEX_Vpsraw_ymm_ymm_imm8)
            }
        };
        if is_signed {
            let moved = self.vector_immediate(left, words, 8);
            return [moved, words].map(|words| self.vector_immediate(signed, words, 8));
        }
        let even = self.vector2(V::And, words, Source::Constant(0x00ff_00ff));
        [even, self.vector_immediate(right, words, 8)]
    }
}
