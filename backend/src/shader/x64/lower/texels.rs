//! Texels of several words, which lie side by side: AVX2 loads each lane's at once and turns them round, which takes less than gathering
//! word by word.

use iced_x86::Code;
use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::machine::{Mem, Operand, SCALAR, VECTOR};
use super::super::table::V;
use super::{Held, Lower, Parts};
use crate::shader::ir::{BinaryOp, Inst, Space, Value};
use crate::shader::runtime::frame::Frame;
use crate::shader::x64::Target;

/// Words of the largest texels.
const WORDS: usize = 4;

/// Bytes of a word.
const WORD: usize = 4;

/// Instructions that are looked through for the other words of a texel.
const AHEAD: usize = 16;

/// Lanes of half a wave.
const HALF: usize = 8;

impl Lower<'_> {
    /// Loads all words of a texel where its first one is loaded; false where it is loaded word by word.
    pub(super) fn load_texel(&mut self, resource: u32, offset: Value) -> bool {
        if self.target != Target::Avx2 || self.is_uniform(offset) {
            return false;
        }
        let words = self.words_of_texel(Space::Texels(resource), offset);
        let are_four = match words {
            [Some(_), Some(_), Some(_), Some(_)] => true,
            [Some(_), Some(_), None, None] => false,
            _ => return false,
        };
        let base = self.first_byte(resource);
        let (offsets, active) = (self.vector(offset), self.active_mask());
        // Lanes that are off load the first texel.
        let offsets = self.vector2(V::And, offsets, active);
        self.store_argument(0, offsets);
        let loaded = if are_four { self.load_fours(base) } else { self.load_pairs(base) };
        for (result, parts) in words.into_iter().flatten().zip(loaded) {
            self.hold(result, Held::Vector(parts));
        }
        true
    }

    /// The values that are loaded, word by word, behind an offset which the instruction that is being lowered loads.
    fn words_of_texel(&self, space: Space, first: Value) -> [Option<Value>; WORDS] {
        let (mut words, mut constants) = ([None; WORDS], SmallVec::<[(Value, u32); 4]>::new());
        let mut places = SmallVec::<[(Value, u32); 4]>::from_slice(&[(first, 0)]);
        for inst in self.ir.insts[self.at..].iter().take(AHEAD) {
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

    /// Where a lane's texel lies, whose offset is in the frame's first argument.
    fn texel_of(&mut self, base: VReg, lane: usize) -> Operand {
        let offset = Operand::Mem(Mem::frame(Frame::ARGUMENT + lane * WORD));
        let offset = self.define(SCALAR, Code::Mov_r32_rm32, &[offset]);
        Operand::Mem(Mem::at(base, 0).indexed(offset, 1))
    }

    /// Vectors made of a lane's texel, or of several, and of those four lanes behind: `COUNT` for each half of the wave.
    fn rows<const COUNT: usize>(&mut self, half: usize, row: impl Fn(&mut Self, usize) -> VReg) -> [VReg; COUNT] {
        let lanes = HALF / 2 / COUNT;
        std::array::from_fn(|number| {
            let [low, high] = [0, HALF / 2].map(|behind| row(self, half * HALF + behind + number * lanes));
            let sources = [Operand::Use(low), Operand::Use(high), Operand::Imm(1)];
            self.define(VECTOR, Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, &sources)
        })
    }

    /// The words of texels of four.
    fn load_fours(&mut self, base: VReg) -> Vec<Parts> {
        let halves = [0, 1].map(|half| {
            let [a, b, c, d] = self.rows(half, |lower, lane| {
                let texel = lower.texel_of(base, lane);
                lower.define(VECTOR, Code::VEX_Vmovups_xmm_xmmm128, &[texel])
            });
            let mut both = |code, a, b| self.define(VECTOR, code, &[Operand::Use(a), Operand::Use(b)]);
            let [low, high] = [Code::VEX_Vunpcklps_ymm_ymm_ymmm256, Code::VEX_Vunpckhps_ymm_ymm_ymmm256]
                .map(|code| [both(code, a, b), both(code, c, d)]);
            [low, high].map(|[a, c]| {
                [Code::VEX_Vunpcklpd_ymm_ymm_ymmm256, Code::VEX_Vunpckhpd_ymm_ymm_ymmm256].map(|code| both(code, a, c))
            })
        });
        let word = |word: usize| Parts::new(&halves.map(|half| half[word / 2][word % 2]));
        (0..WORDS).map(word).collect()
    }

    /// The words of texels of two, or the first two words of larger ones.
    fn load_pairs(&mut self, base: VReg) -> Vec<Parts> {
        let halves = [0, 1].map(|half| {
            let [a, b] = self.rows(half, |lower, lane| {
                let [first, second] = [lane, lane + 1].map(|lane| lower.texel_of(base, lane));
                let first = lower.define(VECTOR, Code::VEX_Vmovq_xmm_xmmm64, &[first]);
                lower.define(VECTOR, Code::VEX_Vmovhps_xmm_xmm_m64, &[Operand::Use(first), second])
            });
            // Even words of both, and odd ones.
            [0x88, 0xdd].map(|which| {
                let sources = [Operand::Use(a), Operand::Use(b), Operand::Imm(which)];
                self.define(VECTOR, Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, &sources)
            })
        });
        (0..2).map(|word| Parts::new(&halves.map(|half| half[word]))).collect()
    }
}
