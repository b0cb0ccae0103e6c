//! Stores of 8-bit and 16-bit values.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{Space, Value};

use super::super::machine::{Mem, Operand, VECTOR};
use super::super::table::{Compare, Order, V};
use super::emit::Source;
use super::{Lower, WaveRegs};
use crate::Target;

impl Lower<'_> {
    /// Stores the low one or two bytes of dwords, at offsets that are multiples of that size.
    pub(super) fn store_part(&mut self, space: Space, offset: Value, (value, bytes): (Value, u32)) {
        if space == Space::Push {
            return;
        }
        let (words, range, offsets, effective) =
            (self.vector(value), self.range(space), self.vector(offset), self.effective());
        // A part is inside the range if its whole dword is. The offset of an aligned part does not
        // cross into another dword.
        let place = self.vector2(V::And, offsets, Source::Constant(3));
        let word = self.vector2(V::Xor, offsets, place);
        let odd = self.vector2(V::And, place, Source::Constant(bytes - 1));
        let aligned = self.compare(Compare::Signed(Order::Equal), odd, Source::Constant(0));
        let aligned = self.mask_and(aligned, effective);
        let lanes = self.inside(range, word, aligned);
        let follow = self.facts.strides[offset.0 as usize] == Some(bytes);
        if !follow {
            return self.scatter_by_lane(range.base, offsets, (words, lanes), bytes);
        }
        let memory = self.first_word(range.base, offsets);
        match self.target {
            Target::Avx2 => self.if_all(lanes, |lower, all| match all {
                true => lower.store_packed(memory, words, bytes),
                false => lower.scatter_by_lane(range.base, offsets, (words, lanes), bytes),
            }),
            Target::Avx512 => {
                let code = match bytes {
                    1 => Code::EVEX_Vpmovdb_xmmm128_k1z_zmm,
                    _ => Code::EVEX_Vpmovdw_ymmm256_k1z_zmm,
                };
                self.masked(code, &[Operand::Mem(memory), Operand::Use(words.at(0))], lanes.at(0), false);
            }
        }
    }

    /// Stores the low one or two bytes of the dwords of all lanes to adjacent addresses (AVX2).
    fn store_packed(&mut self, memory: Mem, words: WaveRegs, bytes: u32) {
        let parts = self.vector2(V::And, words, Source::Constant((1 << (u8::BITS * bytes)) - 1));
        // A pack instruction packs each 128-bit half separately; the permutation restores the lane
        // order.
        let packed = |lower: &mut Self, code, sources: [VReg; 2]| {
            let packed = lower.define(VECTOR, code, &sources.map(Operand::Use));
            let order = [Operand::Use(packed), Operand::Imm(0b11_01_10_00)];
            lower.define(VECTOR, Code::VEX_Vpermq_ymm_ymmm256_imm8, &order)
        };
        let halves = packed(self, Code::VEX_Vpackusdw_ymm_ymm_ymmm256, [parts.at(0), parts.at(1)]);
        if bytes == 2 {
            return self.plain(Code::VEX_Vmovups_ymmm256_ymm, &[Operand::Mem(memory), Operand::Use(halves)]);
        }
        let packed = packed(self, Code::VEX_Vpackuswb_ymm_ymm_ymmm256, [halves, halves]);
        self.plain(Code::VEX_Vmovups_xmmm128_xmm, &[Operand::Mem(memory), Operand::Use(packed)]);
    }
}
