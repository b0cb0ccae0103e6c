//! Atomic operations on words: lane after lane, where all lanes of a wave take part and name words of one range; or by one operation, where lanes
//! add one number to one word. Others are the runtime's.
//!
//! The processor has additions and exchanges of a word as one instruction. What only invocations of one workgroup reach is theirs alone, as they
//! run on one thread: it needs no such instruction, and any operation will do. Lanes that all name one word without anybody knowing before are
//! left to the runtime, too, which makes one operation of them. Loads are loads.

use iced_x86::Code;
use regalloc2::VReg;

use super::super::machine::{Mem, Operand, SCALAR};
use super::super::table::{Compare, Order, V};
use super::emit::Source;
use super::memory::Range;
use super::{Held, Lower, Parts, Result};
use crate::shader::ir::{AtomicOp, Inst, Space, Value};
use crate::shader::runtime::frame::{Frame, LANES_BYTES};
use crate::shader::runtime::kernels::WAVE;
use crate::shader::x64::Target;

/// All lanes, as bits.
const ALL: i32 = (1 << WAVE) - 1;

/// How a lane operates on a word.
#[derive(Clone, Copy)]
enum Way {
    /// By an instruction that leaves in a register what was there.
    Locked(Code),
    /// Word and operand give a new word.
    Alone(Code),
    /// The operand stays where a comparison with the word says so.
    Chosen(Code),
    /// The operand is the new word.
    Replaced,
}

impl Way {
    fn of(op: AtomicOp, space: Space) -> Option<Self> {
        use AtomicOp as A;
        let is_alone = match space {
            Space::Shared => true,
            Space::Buffer { .. } => false,
            _ => return None,
        };
        Some(match op {
            // What is subtracted was negated.
            A::Add | A::Sub if !is_alone => Self::Locked(Code::Xadd_rm32_r32),
            A::Store | A::Exchange if !is_alone => Self::Locked(Code::Xchg_rm32_r32),
            _ if !is_alone => return None,
            A::Add => Self::Alone(Code::Add_r32_rm32),
            A::Sub => Self::Alone(Code::Sub_r32_rm32),
            A::And => Self::Alone(Code::And_r32_rm32),
            A::Or => Self::Alone(Code::Or_r32_rm32),
            A::Xor => Self::Alone(Code::Xor_r32_rm32),
            A::SMin => Self::Chosen(Code::Cmovg_r32_rm32),
            A::UMin => Self::Chosen(Code::Cmova_r32_rm32),
            A::SMax => Self::Chosen(Code::Cmovl_r32_rm32),
            A::UMax => Self::Chosen(Code::Cmovb_r32_rm32),
            A::Store | A::Exchange => Self::Replaced,
            A::Load | A::CompareExchange | A::FAdd | A::FMin | A::FMax => return None,
        })
    }
}

impl Lower<'_> {
    /// An atomic operation on words of one range.
    pub(super) fn atomic(
        &mut self,
        inst: &Inst,
        (result, space, offset): (Value, Space, Value),
        (op, value): (AtomicOp, Value),
    ) -> Result<()> {
        let uniform = self.is_uniform(result);
        if op == AtomicOp::Load && !uniform && matches!(space, Space::Buffer { .. } | Space::Shared) {
            self.atomic_load(result, space, offset);
            return Ok(());
        }
        let way = match Way::of(op, space).filter(|_| !uniform) {
            Some(_) if self.is_uniform(offset) => {
                return match op {
                    AtomicOp::Add | AtomicOp::Sub if self.is_uniform(value) => {
                        self.add_to_one(inst, (result, space, offset), (op, value))
                    }
                    _ => self.call(inst, uniform),
                };
            }
            Some(way) => way,
            None => return self.call(inst, uniform),
        };
        let (range, offsets, effective) = (self.range(space), self.vector(offset), self.effective());
        let mut values = self.vector(value);
        if let (AtomicOp::Sub, Way::Locked(_)) = (op, way) {
            let zero = self.zero_vector();
            values = self.vector2(V::SubI, zero, Source::Parts(values));
        }
        let fit = self.fitting(range, offsets, effective);
        let mut fit = self.mask_bits(fit);
        if let Way::Locked(_) = way {
            fit = self.zero_unless_apart(fit, (range.base, offsets));
        }
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(fit), Operand::Imm(ALL)]);
        let each = |lower: &mut Self| {
            lower.store_argument(0, offsets);
            lower.store_argument(1, values);
            (0..WAVE).for_each(|lane| lower.atomic_of_lane(way, range.base, lane));
            lower.load_result(result, 0);
        };
        self.call_unless((Code::Je_rel32_64, inst, None), each, Some(result))
    }

    /// The lanes of a mask that name words of a range.
    fn fitting(&mut self, range: Range, offsets: Parts, lanes: Parts) -> Parts {
        let inside = self.inside(range, offsets, lanes);
        let in_word = self.vector2(V::And, offsets, Source::Constant(3));
        let aligned = self.compare(Compare::Signed(Order::Equal), in_word, Source::Constant(0));
        self.mask_and(inside, aligned)
    }

    /// Loads words, each by an instruction of its own, or as a lane of one: the processor loads aligned words at once, in order.
    fn atomic_load(&mut self, result: Value, space: Space, offset: Value) {
        let (range, offsets, effective) = (self.range(space), self.vector(offset), self.effective());
        let lanes = self.fitting(range, offsets, effective);
        let words = self.load_lanes_of(range, (offsets, false), lanes);
        self.hold(result, Held::Vector(words));
    }

    /// Adds a number to a word, or takes it away, as often as there are lanes that do: each finds what those before it have left.
    fn add_to_one(
        &mut self,
        inst: &Inst,
        (result, space, offset): (Value, Space, Value),
        (op, value): (AtomicOp, Value),
    ) -> Result<()> {
        let (range, effective) = (self.range(space), self.effective());
        let (place, number) = (self.scalar(offset), self.scalar(value));
        let bits = self.mask_bits(effective);
        let count = self.define(SCALAR, Code::Popcnt_r32_rm32, &[Operand::Use(bits)]);
        let mut sum = self.change(Code::Imul_r32_rm32, count, &[Operand::Use(number)]);
        if op == AtomicOp::Sub {
            sum = self.change(Code::Neg_rm32, sum, &[]);
        }
        // What is not aligned is outside of everything.
        let outside = self.scalar_constant(u32::MAX);
        let low = self.change(Code::Or_r64_rm64, range.base, &[Operand::Use(place)]);
        self.plain(Code::Test_rm32_imm32, &[Operand::Use(low), Operand::Imm(3)]);
        let mut inside = self.change(Code::Cmovne_r32_rm32, place, &[Operand::Use(outside)]);
        if self.target == Target::Avx2 {
            self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(bits), Operand::Imm(ALL)]);
            inside = self.change(Code::Cmovne_r32_rm32, inside, &[Operand::Use(outside)]);
        }
        self.plain(Code::Cmp_r32_rm32, &[Operand::Use(inside), Operand::Mem(range.limit)]);
        let add = |lower: &mut Self| {
            let word = Operand::Mem(Mem::at(range.base, 0).indexed(place, 1));
            let old = if space == Space::Shared {
                let old = lower.define(SCALAR, Code::Mov_r32_rm32, &[word]);
                let new = lower.change(Code::Add_r32_rm32, sum, &[Operand::Use(old)]);
                lower.plain(Code::Mov_rm32_r32, &[word, Operand::Use(new)]);
                old
            } else {
                let old = lower.scalar_register();
                lower.plain(Code::Xadd_rm32_r32, &[word, Operand::Change { from: sum, to: old }]);
                old
            };
            let [old, number] = [old, number].map(|word| Parts::one(lower.broadcast(word)));
            let ranks = lower.ranks(effective);
            let before = lower.vector2(V::MulI, ranks, Source::Parts(number));
            let found = lower.vector2(if op == AtomicOp::Add { V::AddI } else { V::SubI }, old, Source::Parts(before));
            // Helpers find nothing.
            let found = lower.keep(effective, found);
            lower.hold(result, Held::Vector(found));
        };
        self.call_unless((Code::Jb_rel32_64, inst, None), add, Some(result))
    }

    /// How many lanes of a mask come before each of them; with AVX2 all lanes are in it.
    fn ranks(&mut self, lanes: Parts) -> Parts {
        let numbers = self.numbers_of_lanes();
        if self.target == Target::Avx2 {
            return numbers;
        }
        let ranks = self.vector_register();
        let operands = [Operand::Def(ranks), Operand::Use(numbers.at(0))];
        self.masked(Code::EVEX_Vpexpandd_zmm_k1z_zmmm512, &operands, lanes.at(0), true);
        Parts::one(ranks)
    }

    /// No lanes where all name one word, or where words are not aligned.
    fn zero_unless_apart(&mut self, lanes: VReg, (base, offsets): (VReg, Parts)) -> VReg {
        let first = self.first_lane(offsets.at(0));
        let first = Parts::one(self.broadcast(first));
        let others = self.compare(Compare::Signed(Order::NotEqual), offsets, Source::Parts(first));
        let others = self.mask_bits(others);
        self.plain(Code::Test_rm32_r32, &[Operand::Use(others), Operand::Use(others)]);
        let lanes = self.change(Code::Cmove_r32_rm32, lanes, &[Operand::Use(others)]);
        let nothing = self.define(SCALAR, Code::Mov_r32_imm32, &[Operand::Imm(0)]);
        self.plain(Code::Test_rm32_imm32, &[Operand::Use(base), Operand::Imm(3)]);
        self.change(Code::Cmovne_r32_rm32, lanes, &[Operand::Use(nothing)])
    }

    /// The operation of a lane whose operands are in the frame, with its result there.
    fn atomic_of_lane(&mut self, way: Way, base: VReg, lane: usize) {
        let word_of = |argument: usize| Operand::Mem(Mem::frame(Frame::ARGUMENT + argument * LANES_BYTES + lane * 4));
        let offset = self.define(SCALAR, Code::Mov_r32_rm32, &[word_of(0)]);
        let word = Operand::Mem(Mem::at(base, 0).indexed(offset, 1));
        let value = self.define(SCALAR, Code::Mov_r32_rm32, &[word_of(1)]);
        let old = match way {
            Way::Locked(code) => {
                let old = self.scalar_register();
                self.plain(code, &[word, Operand::Change { from: value, to: old }]);
                old
            }
            _ => {
                let old = self.define(SCALAR, Code::Mov_r32_rm32, &[word]);
                let new = match way {
                    Way::Alone(code) => {
                        let copy = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(old)]);
                        self.change(code, copy, &[Operand::Use(value)])
                    }
                    Way::Chosen(code) => {
                        self.plain(Code::Cmp_r32_rm32, &[Operand::Use(value), Operand::Use(old)]);
                        self.change(code, value, &[Operand::Use(old)])
                    }
                    _ => value,
                };
                self.plain(Code::Mov_rm32_r32, &[word, Operand::Use(new)]);
                old
            }
        };
        let found = Operand::Mem(Mem::frame(Frame::RESULT + lane * 4));
        self.plain(Code::Mov_rm32_r32, &[found, Operand::Use(old)]);
    }
}
