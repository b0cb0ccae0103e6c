//! Lowering of products of matrices.
//!
//! The left factor is stored to the frame, from where one element at a time is broadcast. The
//! other operands stay in registers, a row each. All paths compute the same bits.

use iced_x86::Code;
use vitric_ir::{BLOCK, BinaryOp, MatrixMultiply, MatrixOp, PACKED_BLOCK, Value};

use super::super::machine::{Mem, Operand, VECTOR};
use super::super::table::{Shift, V};
use super::emit::Source;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::frame::LANES_BYTES;
use crate::{ByteProducts, Target};

/// Size of the frame's memory for left factors, in bytes. Packed blocks need twice their size if
/// their bytes are extended to 16 bits.
pub(super) const SCRATCH_BYTES: usize = 2 * BLOCK * LANES_BYTES;

/// Number of rows that are computed together with AVX-512 and AVX2. The registers hold their sums
/// and the right factor, or with AVX2 their sums.
const ROWS: [usize; 2] = [8, 4];

/// Left factor in the frame, for products that follow with the same one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StoredFactor {
    values: Vec<Value>,
    form: Option<StoredForm>,
}

/// Form of a left factor in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoredForm {
    /// The words as they are.
    Plain,
    /// Packed bytes with inverted signs.
    Inverted,
    /// Bytes extended to 16 bits: the even bytes of a word, then the odd ones.
    Extended { is_signed: bool },
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

    /// Returns the memory of a dword of the stored left factor.
    fn stored(&self, word: usize, lane: usize) -> Mem {
        Mem::frame(self.scratch + word * LANES_BYTES + lane * 4)
    }

    /// Stores the left factor, unless it is stored already.
    fn store_left(&mut self, left: &[Value], form: StoredForm) {
        if self.stored_left.form == Some(form) && self.stored_left.values == left {
            return;
        }
        for (at, &value) in left.iter().enumerate() {
            let words = self.vector(value);
            match form {
                StoredForm::Plain => self.store_wave(self.stored(at, 0), words),
                StoredForm::Inverted => {
                    let words = self.vector2(V::Xor, words, Source::Constant(0x8080_8080));
                    self.store_wave(self.stored(at, 0), words);
                }
                StoredForm::Extended { is_signed } => {
                    let pair = self.extended(words, is_signed);
                    (0..2).for_each(|odd| self.store_wave(self.stored(2 * at + odd, 0), pair[odd]));
                }
            }
        }
        self.stored_left = StoredFactor { values: left.to_vec(), form: Some(form) };
    }

    fn multiply_floats(&mut self, left: &[Value], right: &[Value], mut sums: Vec<WaveRegs>) -> Vec<WaveRegs> {
        self.store_left(left, StoredForm::Plain);
        let rows = self.rows_at_once();
        for (first, sums) in (0..BLOCK).step_by(rows).zip(sums.chunks_mut(rows)) {
            for (k, &factor) in right.iter().enumerate() {
                let factor = self.vector(factor);
                let factor = self.factor_of_rows(factor);
                for (row, sum) in (first..).zip(&mut *sums) {
                    let element = self.broadcast_source(self.stored(row, k));
                    *sum = self.fused(V::Fma231, *sum, factor, element);
                }
            }
        }
        sums
    }

    /// Returns a right factor for its products with several rows. AVX2's registers do not hold all
    /// right factors, and the allocator loads one from the frame for each use. A copy is loaded
    /// once.
    fn factor_of_rows(&mut self, factor: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => factor,
            Target::Avx2 => self.vector1(Code::VEX_Vmovaps_ymm_ymmm256, factor),
        }
    }

    /// Returns a dword in memory as an operand for all lanes.
    fn broadcast_source(&mut self, memory: Mem) -> Source {
        match self.target {
            Target::Avx512 => Source::Memory(memory.broadcast()),
            Target::Avx2 => Source::WaveRegs(WaveRegs::one(self.load_broadcast(memory))),
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
        self.store_left(left, if is_moved { StoredForm::Inverted } else { StoredForm::Plain });
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
                    let (word, lane) = place_of_left(row, k);
                    let element = self.stored(word, lane);
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
        mut sums: Vec<WaveRegs>,
    ) -> Vec<WaveRegs> {
        let (is_left_signed, is_right_signed) = op.signs();
        self.store_left(left, StoredForm::Extended { is_signed: is_left_signed });
        let rows = self.rows_at_once();
        let right: Vec<[WaveRegs; 2]> = right
            .iter()
            .map(|&value| {
                let words = self.vector(value);
                self.extended(words, is_right_signed)
            })
            .collect();
        for (first, sums) in (0..BLOCK).step_by(rows).zip(sums.chunks_mut(rows)) {
            for (k, &factors) in right.iter().enumerate() {
                let factors = factors.map(|factor| self.factor_of_rows(factor));
                for (row, sum) in (first..).zip(&mut *sums) {
                    let (word, lane) = place_of_left(row, k);
                    for (odd, &factor) in factors.iter().enumerate() {
                        let element = WaveRegs::one(self.load_broadcast(self.stored(2 * word + odd, lane)));
                        let products = self.pair_product(factor, element);
                        *sum = self.vector2(V::AddI, *sum, products);
                    }
                }
            }
        }
        sums
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

/// Returns the word of the left factor with four packed bytes of a row, and their lane.
fn place_of_left(row: usize, k: usize) -> (usize, usize) {
    (k / PACKED_BLOCK * PACKED_BLOCK + row / 4, row % 4 * 4 + k % PACKED_BLOCK)
}
