//! Loads of dwords from a different address per lane.
//!
//! Gathers are slow with AVX2, and on some processors with AVX-512 too (`Target::loads_by_lane`).
//! There the dwords are loaded lane by lane. With AVX2 all dwords of a texel, which are adjacent
//! in memory, are loaded at once and transposed. With AVX-512 two dwords of a texel are loaded
//! with one 64-bit gather, which halves the number of loads.

use iced_x86::Code;
use regalloc2::VReg;
use smallvec::SmallVec;
use vitric_ir::{BinaryOp, Inst, Space, Value};

use super::super::machine::{MASK, Mem, Operand, SCALAR, VECTOR};
use super::super::table::V;
use super::convert::Of;
use super::emit::Source;
use super::memory::texels_of;
use super::{Lower, ValueLocation, WaveRegs};
use crate::Target;

/// Number of dwords of the largest texel.
const WORDS: usize = 4;

/// Size of a dword in bytes.
const WORD: usize = 4;

/// Number of instructions to search for loads of a texel's other dwords.
const MAX_SEARCHED: usize = 16;

/// Number of lanes in half a wave.
const HALF: usize = 8;

impl Lower<'_> {
    /// Loads all dwords of a texel at the load of its first dword. Returns false if the dwords
    /// must be loaded one by one.
    pub(super) fn load_texel(&mut self, space: Space, offset: Value) -> bool {
        let Some(texels) = texels_of(space).filter(|_| !self.is_uniform(offset)) else { return false };
        let words = self.words_of_texel(space, offset);
        if self.target == Target::Avx512 {
            return self.gather_texel(texels, offset, words);
        }
        let load = match words {
            [Some(_), Some(_), Some(_), Some(_)] => Self::load_fours,
            [Some(_), Some(_), None, None] => Self::load_pairs,
            _ => return false,
        };
        let base = self.first_byte(texels.0, texels.1);
        let (offsets, active) = (self.vector(offset), self.active_mask());
        // Inactive lanes load the first texel.
        let offsets = self.vector2(V::And, offsets, active);
        let loaded = load(self, (base, offsets));
        for (result, parts) in words.into_iter().flatten().zip(loaded) {
            self.set_location(result, ValueLocation::Vector(parts));
        }
        true
    }

    /// Returns the values that are loaded from the texel whose first dword the current instruction
    /// loads, indexed by dword.
    fn words_of_texel(&self, space: Space, first: Value) -> [Option<Value>; WORDS] {
        let (mut words, mut constants) = ([None; WORDS], SmallVec::<[(Value, u32); 4]>::new());
        let mut places = SmallVec::<[(Value, u32); 4]>::from_slice(&[(first, 0)]);
        for inst in self.ir.insts[self.at..].iter().take(MAX_SEARCHED) {
            match *inst {
                Inst::Const { result, word } => constants.push((result, word)),
                Inst::Binary { result, op: BinaryOp::IAdd, a, b } if a == first => {
                    let known = constants.iter().find(|(value, _)| *value == b).map(|(_, word)| *word);
                    places.extend(known.or_else(|| self.constant(b)).map(|bytes| (result, bytes)));
                }
                Inst::Load { result, space: of, offset } if of == space => {
                    let place = places.iter().find(|(value, _)| *value == offset).map(|(_, bytes)| *bytes as usize);
                    if let Some(place) = place.filter(|place| place % WORD == 0 && place / WORD < WORDS) {
                        words[place / WORD].get_or_insert(result);
                    }
                }
                Inst::Unary { .. } | Inst::Binary { .. } | Inst::Ternary { .. } => {}
                _ => break,
            }
        }
        words
    }

    /// Loads the dwords of a texel with AVX-512: pairs with 64-bit gathers, and a third dword with
    /// a 32-bit gather. Returns false if the texel has fewer than two adjacent dwords.
    fn gather_texel(&mut self, (of, resource): (Of, u32), offset: Value, words: [Option<Value>; WORDS]) -> bool {
        if !matches!(words, [Some(_), Some(_), None, None] | [Some(_), Some(_), Some(_), _]) {
            return false;
        }
        let base = self.first_byte(of, resource);
        let (offsets, lanes) = (self.vector(offset), self.active_mask());
        let mut loaded = self.gather_pair((base, 0), offsets, lanes).to_vec();
        match words {
            [_, _, Some(_), Some(_)] => loaded.extend(self.gather_pair((base, 2 * WORD), offsets, lanes)),
            [_, _, Some(_), None] => {
                let third = self.vector2(V::AddI, offsets, Source::Constant(2 * WORD as u32));
                loaded.push(self.gather(base, third, lanes));
            }
            _ => {}
        }
        for (result, parts) in words.into_iter().flatten().zip(loaded) {
            self.set_location(result, ValueLocation::Vector(parts));
        }
        true
    }

    /// Loads two adjacent dwords per lane, starting `at` bytes from each offset. Each gather loads
    /// the pairs of eight lanes, which a permutation then separates.
    fn gather_pair(&mut self, (base, at): (VReg, usize), offsets: WaveRegs, lanes: WaveRegs) -> [WaveRegs; 2] {
        let (all, lanes) = (offsets.at(0), lanes.at(0));
        let behind = [Operand::Use(all), Operand::Imm(1)];
        let behind = self.define(VECTOR, Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, &behind);
        let rest = [Operand::Use(lanes), Operand::Imm(HALF as i32)];
        let rest = self.define(MASK, Code::VEX_Kshiftrw_kr_kr_imm8, &rest);
        let [low, high] = [(all, lanes), (behind, rest)].map(|(offsets, lanes)| {
            let (from, to) = (self.zero_vector().at(0), self.vector_register());
            let memory = Operand::Mem(Mem::at(base, at).indexed(offsets, 1));
            let operands = [Operand::Change { from, to }, memory];
            self.masked_change(Code::EVEX_Vpgatherdq_zmm_k1_vm32y, &operands, lanes);
            to
        });
        [0, 1].map(|word| {
            let which = (0..2 * HALF as u32).flat_map(|lane| (2 * lane + word).to_le_bytes()).collect();
            let which = Operand::Mem(Mem::pool(self.pooled(which), false));
            let which = self.define(VECTOR, Code::EVEX_Vmovups_zmm_k1z_zmmm512, &[which]);
            let both = self.vector_register();
            let operands = [Operand::Change { from: which, to: both }, Operand::Use(low), Operand::Use(high)];
            self.plain(Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, &operands);
            WaveRegs::one(both)
        })
    }

    /// Returns the memory operands of the first dwords of four lanes, whose offsets are a quarter
    /// of the wave's. The offsets are extracted in registers, because a scalar load of a vector
    /// that was just stored is slow.
    fn four_places(&mut self, (base, offsets): (VReg, WaveRegs), quarter: usize) -> [Operand; HALF / 2] {
        let four = Operand::Use(self.quad(offsets, quarter));
        let (first, second) = match self.target {
            Target::Avx512 => (Code::EVEX_Vmovq_rm64_xmm, Code::EVEX_Vpextrq_rm64_xmm_imm8),
            Target::Avx2 => (Code::VEX_Vmovq_rm64_xmm, Code::VEX_Vpextrq_rm64_xmm_imm8),
        };
        let pairs = [self.define(SCALAR, first, &[four]), self.define(SCALAR, second, &[four, Operand::Imm(1)])];
        std::array::from_fn(|lane| {
            let pair = pairs[lane / 2];
            let offset = match lane % 2 {
                0 => self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(pair)]),
                _ => self.change(Code::Shr_rm64_imm8, pair, &[Operand::Imm(32)]),
            };
            Operand::Mem(Mem::at(base, 0).indexed(offset, 1))
        })
    }

    /// Joins a low and a high half of a vector. The high half may be a memory operand.
    fn joined_halves(&mut self, low: VReg, high: Operand) -> VReg {
        let sources = [Operand::Use(low), high, Operand::Imm(1)];
        self.define(VECTOR, Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, &sources)
    }

    /// Loads the dwords of texels of four dwords.
    fn load_fours(&mut self, places: (VReg, WaveRegs)) -> Vec<WaveRegs> {
        let halves = [0, 1].map(|half| {
            let low = self.four_places(places, 2 * half);
            let low = low.map(|place| self.define(VECTOR, Code::VEX_Vmovups_xmm_xmmm128, &[place]));
            let high = self.four_places(places, 2 * half + 1);
            let [a, b, c, d] = std::array::from_fn(|lane| self.joined_halves(low[lane], high[lane]));
            let mut both = |code, a, b| self.define(VECTOR, code, &[Operand::Use(a), Operand::Use(b)]);
            let [low, high] = [Code::VEX_Vunpcklps_ymm_ymm_ymmm256, Code::VEX_Vunpckhps_ymm_ymm_ymmm256]
                .map(|code| [both(code, a, b), both(code, c, d)]);
            [low, high].map(|[a, c]| {
                [Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256].map(|code| both(code, a, c))
            })
        });
        let word = |word: usize| WaveRegs::new(&halves.map(|half| half[word / 2][word % 2]));
        (0..WORDS).map(word).collect()
    }

    /// Loads a dword per lane at its offset. Lanes outside the mask load the first dword.
    pub(super) fn load_by_lane(&mut self, base: VReg, offsets: WaveRegs, lanes: WaveRegs) -> WaveRegs {
        let offsets = self.keep(lanes, offsets);
        match self.target {
            Target::Avx512 => self.load_quarters(base, offsets),
            Target::Avx2 => self.load_halves(base, offsets),
        }
    }

    /// Loads dwords with AVX2. Each dword is broadcast to a separate register, which costs no more
    /// than loading a single lane. Blends then combine the registers, because any vector port
    /// executes blends, whereas shuffles would compete for one port.
    fn load_halves(&mut self, base: VReg, offsets: WaveRegs) -> WaveRegs {
        self.parts(self.target.parts(), |lower, half| {
            let [low, high] = [0, 1].map(|quarter| {
                let [a, b, c, d] = lower.four_places((base, offsets), 2 * half + quarter);
                let [low, high] = [[a, b], [c, d]].map(|pair| {
                    let load = |word| lower.define(VECTOR, Code::VEX_Vpbroadcastd_ymm_xmmm32, &[word]);
                    let [even, odd] = pair.map(load);
                    lower.blended(even, odd, 0xaa)
                });
                lower.blended(low, high, 0xcc)
            });
            lower.blended(low, high, 0xf0)
        })
    }

    /// Loads dwords with AVX-512: four at a time into quarters, which are then joined.
    fn load_quarters(&mut self, base: VReg, offsets: WaveRegs) -> WaveRegs {
        let [first, rest @ ..]: [VReg; 4] = std::array::from_fn(|quarter| {
            let [first, rest @ ..] = self.four_places((base, offsets), quarter);
            let first = self.define(VECTOR, Code::EVEX_Vmovd_xmm_rm32, &[first]);
            (1..).zip(rest).fold(first, |words, (lane, word)| {
                let operands = [Operand::Use(words), word, Operand::Imm(lane)];
                self.define(VECTOR, Code::EVEX_Vpinsrd_xmm_xmm_rm32_imm8, &operands)
            })
        });
        WaveRegs::one((1..).zip(rest).fold(first, |words, (number, quarter)| {
            let operands = [Operand::Use(words), Operand::Use(quarter), Operand::Imm(number)];
            self.define(VECTOR, Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8, &operands)
        }))
    }

    /// Returns the dwords of `b` in the lanes set in `lanes`, and the dwords of `a` in the others.
    fn blended(&mut self, a: VReg, b: VReg, lanes: i32) -> VReg {
        let sources = [Operand::Use(a), Operand::Use(b), Operand::Imm(lanes)];
        self.define(VECTOR, Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8, &sources)
    }

    /// Loads the dwords of texels of two dwords, or the first two dwords of larger texels.
    fn load_pairs(&mut self, places: (VReg, WaveRegs)) -> Vec<WaveRegs> {
        let halves = [0, 1].map(|half| {
            let [low, high] = [0, 1].map(|quarter| {
                let [first, second, third, fourth] = self.four_places(places, 2 * half + quarter);
                [(first, second), (third, fourth)].map(|(first, second)| {
                    let first = self.define(VECTOR, Code::VEX_Vmovq_xmm_xmmm64, &[first]);
                    self.define(VECTOR, Code::VEX_Vmovhps_xmm_xmm_m64, &[Operand::Use(first), second])
                })
            });
            let [a, b] = std::array::from_fn(|pair| self.joined_halves(low[pair], Operand::Use(high[pair])));
            // Select the even dwords of both registers, then the odd ones.
            [0x88, 0xdd].map(|which| {
                let sources = [Operand::Use(a), Operand::Use(b), Operand::Imm(which)];
                self.define(VECTOR, Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, &sources)
            })
        });
        (0..2).map(|word| WaveRegs::new(&halves.map(|half| half[word]))).collect()
    }
}
