//! Lowering of loads and stores of strips of matrices.
//!
//! A strip that lies in a range of memory as a whole is loaded or stored by vector instructions.
//! The runtime executes all other accesses.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_base::simd::Mask;
use vitric_ir::{Inst, MatrixForm, MatrixLoad, MatrixStore, Space, Value};

use super::super::machine::{MachineInst, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Shift, V};
use super::address::Location;
use super::memory::Range;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::frame::{Frame, LANES_BYTES};
use crate::{Site, Target};

/// Rows of a strip in memory.
#[derive(Clone, Copy)]
struct Rows {
    /// First byte.
    first: VReg,
    /// Bytes between rows.
    stride: VReg,
    /// Bytes between four rows.
    triple: VReg,
}

impl Rows {
    /// Returns the memory of one of four rows.
    fn at(self, row: u32) -> Mem {
        let first = Mem::at(self.first, 0);
        match row {
            0 => first,
            3 => first.indexed(self.triple, 1),
            row => first.indexed(self.stride, row),
        }
    }
}

/// Access whose addresses are checked.
struct CheckedStrip {
    rows: Rows,
    /// Index of the address range that the runtime records, for accesses by address.
    cached_range: Option<u32>,
}

impl Lower<'_> {
    pub(super) fn load_matrix(&mut self, inst: &Inst, load: &MatrixLoad) -> Result<()> {
        let &MatrixLoad { form, space, offset, stride, .. } = load;
        if !self.is_strip_direct(space) {
            return self.call(inst, false);
        }
        let (numbered, arguments) = inst.numbered();
        for (argument, value) in arguments.into_iter().enumerate() {
            let word = self.scalar(value);
            let memory = Operand::Mem(Mem::frame(Frame::ARGUMENT + argument * LANES_BYTES));
            self.plain(Code::Mov_rm32_r32, &[memory, Operand::Use(word)]);
        }
        let copy = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::RESULT))]);
        let line = self.scalar_constant(form.line_bytes());
        let strip = self.check_strip(form, space, [offset, stride], false);
        self.sites.push(Site { cached_range: strip.cached_range, is_cold: true, ..Site::new(numbered, false) });
        self.push(MachineInst::ColdCall { site: self.sites.len() as u32 - 1 });
        // The runtime has copied a strip that is not in a range as a whole.
        let first = self.change(Code::Cmovae_r64_rm64, strip.rows.first, &[Operand::Use(copy)]);
        let stride = self.change(Code::Cmovae_r64_rm64, strip.rows.stride, &[Operand::Use(line)]);
        let twice = Operand::Mem(Mem::at(stride, 0).indexed(stride, 2));
        let triple = self.define(SCALAR, Code::Lea_r64_m, &[twice]);
        let words = self.load_strip(form, Rows { first, stride, triple });
        for (result, word) in inst.results().zip(words) {
            self.set_location(result, ValueLocation::Vector(word));
        }
        Ok(())
    }

    pub(super) fn store_matrix(&mut self, inst: &Inst, store: &MatrixStore) -> Result<()> {
        let MatrixStore { form, space, offset, stride, ref words } = *store;
        let is_short = !matches!(form, MatrixForm::Bfloats | MatrixForm::Bytes) || self.target == Target::Avx512;
        if !self.is_strip_direct(space) || space == Space::Push || !is_short {
            return self.call(inst, false);
        }
        let words: Vec<WaveRegs> = words.iter().map(|&word| self.vector(word)).collect();
        let strip = self.check_strip(form, space, [offset, stride], true);
        let store = |lower: &mut Self| lower.store_strip(form, strip.rows, &words);
        self.call_unless(Code::Jb_rel32_64, inst, strip.cached_range, store)
    }

    /// Returns true if generated code accesses strips in a space.
    fn is_strip_direct(&mut self, space: Space) -> bool {
        match space {
            Space::Buffer { element, .. } => element.is_none_or(|element| self.is_uniform(element)),
            Space::Push | Space::Shared | Space::Address { .. } => true,
            Space::Far { resource, .. } => self.far_range(resource).is_some(),
            _ => false,
        }
    }

    /// Sets the flags to "below" if a strip lies in a range as a whole and, for a store, all lanes
    /// are active.
    fn check_strip(
        &mut self,
        form: MatrixForm,
        space: Space,
        [offset, stride]: [Value; 2],
        is_store: bool,
    ) -> CheckedStrip {
        let active = is_store.then(|| self.effective());
        let (Range { base, limit }, offset, cached_range) = match self.location(space, offset) {
            Some(Location { address, cached_range }) => {
                let (range, offset) = self.offset_in_range(cached_range, address);
                (range, offset, Some(cached_range))
            }
            None => {
                let (range, offset) = (self.range(space), self.scalar(offset));
                let offset = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(offset)]);
                (range, offset, None)
            }
        };
        let stride = self.scalar(stride);
        let stride = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(stride)]);
        let lea = |lower: &mut Self, memory| lower.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(memory)]);
        let triple = lea(self, Mem::at(stride, 0).indexed(stride, 2));
        let (rows, bytes) = form.extent();
        let extent = if rows == 3 {
            triple
        } else {
            let fifth = lea(self, Mem::at(triple, 0).indexed(triple, 4));
            debug_assert_eq!(rows, 15, "no other form exists");
            fifth
        };
        let mut last = lea(self, Mem::at(offset, bytes as usize - 4).indexed(extent, 1));
        if let Some(active) = active {
            let bits = self.mask_bits(active);
            let outside = self.scalar_constant(u32::MAX);
            self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(bits), Operand::Imm(Mask::MAX.into())]);
            last = self.change(Code::Cmovne_r64_rm64, last, &[Operand::Use(outside)]);
        }
        let first = lea(self, Mem::at(base, 0).indexed(offset, 1));
        let limit = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Mem(limit)]);
        self.plain(Code::Cmp_r64_rm64, &[Operand::Use(last), Operand::Use(limit)]);
        CheckedStrip { rows: Rows { first, stride, triple }, cached_range }
    }

    fn load_strip(&mut self, form: MatrixForm, rows: Rows) -> Vec<WaveRegs> {
        match form {
            MatrixForm::Words => (0..4).map(|row| self.load_lanes(rows.at(row), self.target.parts())).collect(),
            MatrixForm::Halves => (0..4).map(|row| self.load_halves_row(rows.at(row))).collect(),
            MatrixForm::Bfloats => (0..4).map(|row| self.load_bfloats_row(rows.at(row))).collect(),
            MatrixForm::Bytes => vec![self.load_bytes(rows)],
            MatrixForm::Columns => {
                let quarters = self.quarters(rows);
                let words = [0, 1, 2, 3].map(|lane| {
                    let lanes = quarters.map(|quarter| quarter.at(lane));
                    self.load_quarters_of(lanes)
                });
                self.transposed(words).to_vec()
            }
            MatrixForm::Quads => vec![self.load_quarters_of([0, 1, 2, 3].map(|row| rows.at(row)))],
        }
    }

    fn store_strip(&mut self, form: MatrixForm, rows: Rows, words: &[WaveRegs]) {
        match form {
            MatrixForm::Words => (0..4).for_each(|row| self.store_wave(rows.at(row), words[row as usize])),
            MatrixForm::Halves => (0..4).for_each(|row| self.store_halves_row(rows.at(row), words[row as usize])),
            MatrixForm::Bfloats => (0..4).for_each(|row| self.store_bfloats_row(rows.at(row), words[row as usize])),
            MatrixForm::Bytes => {
                let order = self.order_of_quarters();
                let columns = self.shuffle_bytes(words[0]);
                let rows_of_words = self.reordered(order, columns);
                self.store_quarters_of([0, 1, 2, 3].map(|row| rows.at(row)), rows_of_words);
            }
            MatrixForm::Columns => {
                let quarters = self.quarters(rows);
                let words = self.transposed([words[0], words[1], words[2], words[3]]);
                for (lane, word) in (0..).zip(words) {
                    self.store_quarters_of(quarters.map(|quarter| quarter.at(lane)), word);
                }
            }
            MatrixForm::Quads => self.store_quarters_of([0, 1, 2, 3].map(|row| rows.at(row)), words[0]),
        }
    }

    /// Returns the rows of each quarter of the lanes, where a row belongs to a lane.
    fn quarters(&mut self, rows: Rows) -> [Rows; 4] {
        let mut first = rows.first;
        [0, 1, 2, 3].map(|quarter| {
            if quarter > 0 {
                let next = Mem::at(first, 0).indexed(rows.stride, 4);
                first = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(next)]);
            }
            Rows { first, ..rows }
        })
    }

    /// Loads 16 bytes for each quarter of the lanes.
    fn load_quarters_of(&mut self, quarters: [Mem; 4]) -> WaveRegs {
        let first = |lower: &mut Self, memory| match lower.target {
            Target::Avx512 => lower.define(VECTOR, Code::EVEX_Vmovdqu32_xmm_k1z_xmmm128, &[Operand::Mem(memory)]),
            Target::Avx2 => lower.define(VECTOR, Code::VEX_Vmovdqu_xmm_xmmm128, &[Operand::Mem(memory)]),
        };
        let in_register = 4 / self.target.parts();
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
            Target::Avx2 => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        };
        self.parts(self.target.parts(), |lower, part| {
            let quarters = &quarters[part * in_register..][..in_register];
            let word = first(lower, quarters[0]);
            (1..).zip(&quarters[1..]).fold(word, |word, (number, &quarter)| {
                let operands = [Operand::Use(word), Operand::Mem(quarter), Operand::Imm(number)];
                lower.define(VECTOR, code, &operands)
            })
        })
    }

    /// Stores the 16 bytes of each quarter of the lanes.
    fn store_quarters_of(&mut self, quarters: [Mem; 4], word: WaveRegs) {
        let in_register = 4 / self.target.parts();
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
            Target::Avx2 => Code::VEX_Vextracti128_xmmm128_ymm_imm8,
        };
        for (number, &quarter) in quarters.iter().enumerate() {
            let source = Operand::Use(word.at(number / in_register));
            self.plain(code, &[Operand::Mem(quarter), source, Operand::Imm((number % in_register) as i32)]);
        }
    }

    /// Transposes each 4x4 dwords of four words and four lanes.
    fn transposed(&mut self, words: [WaveRegs; 4]) -> [WaveRegs; 4] {
        let [a, b, c, d] = words;
        let (low, high) = match self.target {
            Target::Avx512 => {
                (Code::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64, Code::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64)
            }
            Target::Avx2 => (Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256),
        };
        let [first, second] =
            [V::InterleaveLow, V::InterleaveHigh].map(|op| [self.vector2(op, a, b), self.vector2(op, c, d)]);
        let mut pair = |code, [x, y]: [WaveRegs; 2]| {
            self.parts(x.count.max(y.count), |lower, part| {
                lower.define(VECTOR, code, &[Operand::Use(x.at(part)), Operand::Use(y.at(part))])
            })
        };
        [pair(low, first), pair(high, first), pair(low, second), pair(high, second)]
    }

    fn load_halves_row(&mut self, row: Mem) -> WaveRegs {
        self.parts(self.target.parts(), |lower, part| {
            let memory = Mem { displacement: row.displacement + 16 * part as i32, ..row };
            let code = match lower.target {
                Target::Avx512 => Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
                Target::Avx2 => Code::VEX_Vcvtph2ps_ymm_xmmm128,
            };
            lower.define(VECTOR, code, &[Operand::Mem(memory)])
        })
    }

    fn store_halves_row(&mut self, row: Mem, word: WaveRegs) {
        for part in 0..self.target.parts() {
            let memory = Mem { displacement: row.displacement + 16 * part as i32, ..row };
            let code = match self.target {
                Target::Avx512 => Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae,
                Target::Avx2 => Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8,
            };
            self.plain(code, &[Operand::Mem(memory), Operand::Use(word.at(part)), Operand::Imm(0)]);
        }
    }

    fn load_bfloats_row(&mut self, row: Mem) -> WaveRegs {
        let words = self.parts(self.target.parts(), |lower, part| {
            let memory = Mem { displacement: row.displacement + 16 * part as i32, ..row };
            let code = match lower.target {
                Target::Avx512 => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                Target::Avx2 => Code::VEX_Vpmovzxwd_ymm_xmmm128,
            };
            lower.define(VECTOR, code, &[Operand::Mem(memory)])
        });
        self.shift(Shift::Left, words, 16)
    }

    /// Stores the upper halves of dwords (AVX-512).
    fn store_bfloats_row(&mut self, row: Mem, word: WaveRegs) {
        let upper = self.shift(Shift::Right, word, 16);
        self.plain(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, &[Operand::Mem(row), Operand::Use(upper.at(0))]);
    }

    /// Loads four rows of bytes, of which each lane gets a column.
    fn load_bytes(&mut self, rows: Rows) -> WaveRegs {
        let memory = [0, 1, 2, 3].map(|row| rows.at(row));
        if self.target == Target::Avx512 {
            let quarters = self.load_quarters_of(memory);
            let order = self.order_of_quarters();
            let columns = self.reordered(order, quarters);
            return self.shuffle_bytes(columns);
        }
        let [a, b, c, d] =
            memory.map(|memory| self.define(VECTOR, Code::VEX_Vmovdqu_xmm_xmmm128, &[Operand::Mem(memory)]));
        let mut pair = |code, x, y| self.define(VECTOR, code, &[Operand::Use(x), Operand::Use(y)]);
        let halves = [Code::VEX_Vpunpcklbw_xmm_xmm_xmmm128, Code::VEX_Vpunpckhbw_xmm_xmm_xmmm128];
        let registers = halves.map(|code| {
            let (upper, lower) = (pair(code, a, b), pair(code, c, d));
            let low = pair(Code::VEX_Vpunpcklwd_xmm_xmm_xmmm128, upper, lower);
            (low, pair(Code::VEX_Vpunpckhwd_xmm_xmm_xmmm128, upper, lower))
        });
        self.parts(2, |lower, part| {
            let (low, high) = registers[part];
            let operands = [Operand::Use(low), Operand::Use(high), Operand::Imm(1)];
            lower.define(VECTOR, Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, &operands)
        })
    }

    /// Returns the order of dwords that transposes 4x4 dwords of a register (AVX-512).
    fn order_of_quarters(&mut self) -> WaveRegs {
        let order: Vec<u8> = (0..16u32).flat_map(|at| (at % 4 * 4 + at / 4).to_le_bytes()).collect();
        let at = self.pooled(order);
        self.load_lanes(Mem::pool(at, false), 1)
    }

    fn reordered(&mut self, order: WaveRegs, words: WaveRegs) -> WaveRegs {
        let sources = [Operand::Use(order.at(0)), Operand::Use(words.at(0))];
        WaveRegs::one(self.define(VECTOR, Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, &sources))
    }

    /// Transposes 4x4 bytes of each quarter of the lanes (AVX-512).
    fn shuffle_bytes(&mut self, words: WaveRegs) -> WaveRegs {
        let order: Vec<u8> = (0..64u8).map(|at| at % 4 * 4 + at % 16 / 4).collect();
        let at = self.pooled(order);
        let sources = [Operand::Use(words.at(0)), Operand::Mem(Mem::pool(at, false))];
        WaveRegs::one(self.define(VECTOR, Code::EVEX_Vpshufb_zmm_k1z_zmm_zmmm512, &sources))
    }
}
