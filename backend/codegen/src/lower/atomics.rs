//! Atomic operations on dwords of one range. They run lane by lane, or as a single operation if
//! all lanes add a uniform number to one dword. The runtime executes all others.
//!
//! The processor has atomic addition and exchange of a dword as single instructions. Other
//! operations compute a new dword and store it with a compare-and-exchange loop. Shared memory
//! needs neither, because all invocations of a workgroup run on one thread. If all lanes turn out
//! to address one dword at run time, the runtime combines them to one operation. Atomic loads are
//! plain loads.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_base::simd::WAVE;
use vitric_ir::{AtomicOp, Inst, Space, Value};

use super::super::machine::{MachineInst, Mem, Operand, SCALAR};
use super::super::table::{Compare, Order, V};
use super::address::{Location, RangeOffsets};
use super::emit::Source;
use super::memory::Range;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::{Frame, LANES_BYTES};

/// Bits of all lanes.
const ALL: i32 = (1 << WAVE) - 1;

/// Lowering of an atomic operation of one lane.
#[derive(Clone, Copy)]
enum AtomicLowering {
    /// One locked instruction, which returns the old dword in a register.
    Locked(Code),
    /// A loop that computes a new dword, until no other thread has changed the old one meanwhile.
    Computed(NewDword),
    /// A store of the operand if the dword equals the comparator.
    Compared,
}

/// Computation of the new dword.
#[derive(Clone, Copy)]
enum NewDword {
    /// The result of an instruction on the old dword and the operand.
    Computed(Code),
    /// The operand or the old dword, selected by a comparison and this conditional move.
    Chosen(Code),
    /// The operand.
    Operand,
}

impl AtomicLowering {
    /// Returns the lowering of an operation, if it has one. `is_private` is true if no other thread
    /// can access the dword.
    fn of(op: AtomicOp, is_private: bool) -> Option<Self> {
        use AtomicOp as A;
        Some(match op {
            // `atomic` has negated the operand of a subtraction.
            A::Add | A::Sub if !is_private => Self::Locked(Code::Xadd_rm32_r32),
            A::Store | A::Exchange if !is_private => Self::Locked(Code::Xchg_rm32_r32),
            A::Add => Self::Computed(NewDword::Computed(Code::Add_r32_rm32)),
            A::Sub => Self::Computed(NewDword::Computed(Code::Sub_r32_rm32)),
            A::And => Self::Computed(NewDword::Computed(Code::And_r32_rm32)),
            A::Or => Self::Computed(NewDword::Computed(Code::Or_r32_rm32)),
            A::Xor => Self::Computed(NewDword::Computed(Code::Xor_r32_rm32)),
            A::SMin => Self::Computed(NewDword::Chosen(Code::Cmovg_r32_rm32)),
            A::UMin => Self::Computed(NewDword::Chosen(Code::Cmova_r32_rm32)),
            A::SMax => Self::Computed(NewDword::Chosen(Code::Cmovl_r32_rm32)),
            A::UMax => Self::Computed(NewDword::Chosen(Code::Cmovb_r32_rm32)),
            A::Store | A::Exchange => Self::Computed(NewDword::Operand),
            A::CompareExchange => Self::Compared,
            A::Load | A::FAdd | A::FMin | A::FMax => return None,
        })
    }
}

/// Dwords that lanes operate on.
#[derive(Clone, Copy)]
struct AtomicTargets {
    /// First byte of the range.
    base: VReg,
    /// Offsets from `base` in bytes.
    offsets: WaveRegs,
    /// Lanes whose dwords are in the range.
    lanes: WaveRegs,
    /// True if no other thread can access the dwords.
    is_private: bool,
    /// Bits of the lanes that the runtime must handle; `None` if there cannot be such lanes.
    outside: Option<VReg>,
}

/// Number of a lane.
#[derive(Clone, Copy)]
enum Lane {
    Known(usize),
    Of(VReg),
}

impl Lane {
    /// Returns the lane's dword in an array that starts at byte `first` of the frame.
    fn word(self, first: usize) -> Operand {
        Operand::Mem(match self {
            Self::Known(lane) => Mem::frame(first + lane * 4),
            Self::Of(lane) => Mem::frame(first).indexed(lane, 4),
        })
    }

    /// Returns the lane's dword of an argument.
    fn argument(self, number: usize) -> Operand {
        self.word(Frame::ARGUMENT + number * LANES_BYTES)
    }
}

impl Lower<'_> {
    /// Lowers an atomic operation on dwords of one range or at addresses.
    pub(super) fn atomic(&mut self, inst: &Inst) -> Result<()> {
        let &Inst::Atomic { result, space, offset, op, value, comparator } = inst else { return Ok(()) };
        if op == AtomicOp::Load && !space.is_located() {
            self.atomic_load(result, space, offset);
            return Ok(());
        }
        let is_private = space == Space::Shared;
        let Some(lowering) = AtomicLowering::of(op, is_private) else { return self.call(inst, false) };
        let (targets, cached_range) = match self.location(space, offset) {
            Some(Location { address, cached_range }) => {
                let effective = self.effective();
                let RangeOffsets { range, offsets, inside } = self.in_cached_range(cached_range, address);
                let outside = self.mask_and_not(inside, effective);
                let outside = self.mask_bits(outside);
                let lanes = self.aligned(offsets, effective);
                (
                    AtomicTargets { base: range.base, offsets, lanes, is_private, outside: Some(outside) },
                    Some(cached_range),
                )
            }
            _ if self.is_uniform(offset) => {
                return match op {
                    AtomicOp::Add | AtomicOp::Sub if self.is_uniform(value) => self.add_to_one(inst),
                    _ => self.call(inst, false),
                };
            }
            _ => {
                let (range, offsets, effective) = (self.range(space), self.vector(offset), self.effective());
                let lanes = self.aligned_inside(range, offsets, effective);
                (AtomicTargets { base: range.base, offsets, lanes, is_private, outside: None }, None)
            }
        };
        let mut operands = [Some(value), comparator].map(|operand| operand.map(|operand| self.vector(operand)));
        if let ([Some(value), _], AtomicOp::Sub, AtomicLowering::Locked(_)) = (&mut operands, op, lowering) {
            let zero = self.zero_vector();
            *value = self.vector2(V::SubI, zero, Source::WaveRegs(*value));
        }
        let arguments = [Some(targets.offsets), operands[0], operands[1]];
        for (number, argument) in arguments.into_iter().enumerate() {
            argument.into_iter().for_each(|words| self.store_argument(number, words));
        }
        let bits = self.test_distinct(&targets);
        let each = |lower: &mut Self| {
            lower.atomic_of_lanes(lowering, &targets, bits);
            let found = lower.load_lanes(Mem::frame(Frame::RESULT), lower.target.parts());
            // Lanes outside the mask return 0.
            let found = lower.keep(targets.lanes, found);
            lower.set_location(result, ValueLocation::Vector(found));
        };
        self.call_unless(Code::Jne_rel32_64, inst, cached_range, each)
    }

    /// Returns the lanes of a mask whose offsets are of aligned dwords inside a range.
    fn aligned_inside(&mut self, range: Range, offsets: WaveRegs, lanes: WaveRegs) -> WaveRegs {
        let inside = self.inside(range, offsets, lanes);
        self.aligned(offsets, inside)
    }

    /// Returns the lanes of a mask whose offsets are aligned to dwords.
    fn aligned(&mut self, offsets: WaveRegs, lanes: WaveRegs) -> WaveRegs {
        let in_word = self.vector2(V::And, offsets, Source::Constant(3));
        let aligned = self.compare(Compare::Signed(Order::Equal), in_word, Source::Constant(0));
        self.mask_and(lanes, aligned)
    }

    /// Loads dwords atomically, by one instruction each or as lanes of a gather. The processor
    /// loads an aligned dword atomically and in order.
    fn atomic_load(&mut self, result: Value, space: Space, offset: Value) {
        let (range, offsets, effective) = (self.range(space), self.vector(offset), self.effective());
        let lanes = self.aligned_inside(range, offsets, effective);
        let words = self.load_lanes_of(range, (offsets, false), lanes);
        self.set_location(result, ValueLocation::Vector(words));
    }

    /// Adds a uniform number to one dword, or subtracts it, once per active lane. Each lane
    /// returns the value that the lanes before it have left.
    fn add_to_one(&mut self, inst: &Inst) -> Result<()> {
        let &Inst::Atomic { result, space, offset, op, value, .. } = inst else { return Ok(()) };
        let (range, effective) = (self.range(space), self.effective());
        let (place, number) = (self.scalar(offset), self.scalar(value));
        let bits = self.mask_bits(effective);
        let count = self.define(SCALAR, Code::Popcnt_r32_rm32, &[Operand::Use(bits)]);
        let mut sum = self.change(Code::Imul_r32_rm32, count, &[Operand::Use(number)]);
        if op == AtomicOp::Sub {
            sum = self.change(Code::Neg_rm32, sum, &[]);
        }
        // An offset that is not aligned is treated as out of bounds.
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
            let [old, number] = [old, number].map(|word| WaveRegs::one(lower.broadcast(word)));
            let ranks = lower.ranks(effective);
            let before = lower.vector2(V::MulI, ranks, Source::WaveRegs(number));
            let found =
                lower.vector2(if op == AtomicOp::Add { V::AddI } else { V::SubI }, old, Source::WaveRegs(before));
            // Helpers return 0.
            let found = lower.keep(effective, found);
            lower.set_location(result, ValueLocation::Vector(found));
        };
        self.call_unless(Code::Jb_rel32_64, inst, None, add)
    }

    /// Returns for each lane of a mask how many lanes of the mask precede it. With AVX2 the mask
    /// has all lanes.
    fn ranks(&mut self, lanes: WaveRegs) -> WaveRegs {
        let numbers = self.numbers_of_lanes();
        if self.target == Target::Avx2 {
            return numbers;
        }
        let ranks = self.vector_register();
        let operands = [Operand::Def(ranks), Operand::Use(numbers.at(0))];
        self.masked(Code::EVEX_Vpexpandd_zmm_k1z_zmmm512, &operands, lanes.at(0), true);
        WaveRegs::one(ranks)
    }

    /// Returns the active lanes as bits; their offsets are in the frame's arguments. Sets the
    /// flags to "not equal" if generated code can execute the operation.
    ///
    /// This requires that at least one lane is active and that the runtime need not handle any.
    /// Unless the memory is private to the thread, the base must be aligned, and several lanes
    /// must not all address one dword.
    fn test_distinct(&mut self, targets: &AtomicTargets) -> VReg {
        let bits = self.mask_bits(targets.lanes);
        if targets.is_private {
            self.plain(Code::Test_rm32_r32, &[Operand::Use(bits), Operand::Use(bits)]);
            return bits;
        }
        let rest = self.define(SCALAR, Code::VEX_Blsr_r32_rm32, &[Operand::Use(bits)]);
        let first = self.define(SCALAR, Code::Tzcnt_r32_rm32, &[Operand::Use(bits)]);
        let first = self.define(SCALAR, Code::Mov_r32_rm32, &[Lane::Of(first).argument(0)]);
        let first = WaveRegs::one(self.broadcast(first));
        let others = self.compare(Compare::Signed(Order::NotEqual), targets.offsets, Source::WaveRegs(first));
        let others = self.mask_and(others, targets.lanes);
        let others = self.mask_bits(others);
        self.plain(Code::Test_rm32_r32, &[Operand::Use(rest), Operand::Use(rest)]);
        let mut distinct = self.change(Code::Cmove_r32_rm32, others, &[Operand::Use(bits)]);
        let nothing = Operand::Use(self.scalar_constant(0));
        self.plain(Code::Test_rm32_imm32, &[Operand::Use(targets.base), Operand::Imm(3)]);
        distinct = self.change(Code::Cmovne_r32_rm32, distinct, &[nothing]);
        if let Some(outside) = targets.outside {
            self.plain(Code::Test_rm32_r32, &[Operand::Use(outside), Operand::Use(outside)]);
            distinct = self.change(Code::Cmovne_r32_rm32, distinct, &[nothing]);
        }
        self.plain(Code::Test_rm32_r32, &[Operand::Use(distinct), Operand::Use(distinct)]);
        bits
    }

    /// Executes the operation of each lane in `bits` and stores the results to the frame. If all
    /// lanes are active and the operation is a single instruction, they run without a loop.
    fn atomic_of_lanes(&mut self, lowering: AtomicLowering, targets: &AtomicTargets, bits: VReg) {
        let each =
            |lower: &mut Self| lower.each_lane(bits, |lower, lane| lower.atomic_of_lane(lowering, targets, lane));
        if !matches!(lowering, AtomicLowering::Locked(_)) {
            return each(self);
        }
        let [all, some] = [0; 2].map(|_| self.out.block());
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(bits), Operand::Imm(ALL)]);
        self.push(MachineInst::Branch { code: Code::Jne_rel32_64, then: some, otherwise: all });
        self.block = Some(all);
        (0..WAVE).for_each(|lane| self.atomic_of_lane(lowering, targets, Lane::Known(lane)));
        let all = self.block.replace(some);
        each(self);
        let join = self.out.block();
        for block in [all, self.block] {
            self.block = block;
            self.push(MachineInst::Jump { to: join, arguments: Vec::new() });
        }
        self.block = Some(join);
    }

    /// Emits a loop that calls `act` for each lane in `bits`. At least one bit must be set.
    fn each_lane(&mut self, bits: VReg, act: impl FnOnce(&mut Self, Lane)) {
        let (head, rest) = (self.out.block(), self.scalar_register());
        self.out.blocks[head.index()].parameters = vec![rest];
        self.push(MachineInst::Jump { to: head, arguments: vec![bits] });
        self.block = Some(head);
        let lane = self.define(SCALAR, Code::Tzcnt_r32_rm32, &[Operand::Use(rest)]);
        act(self, Lane::Of(lane));
        let next = self.define(SCALAR, Code::VEX_Blsr_r32_rm32, &[Operand::Use(rest)]);
        let [again, done] = [0; 2].map(|_| self.out.block());
        self.push(MachineInst::Branch { code: Code::Jne_rel32_64, then: again, otherwise: done });
        self.block = Some(again);
        self.push(MachineInst::Jump { to: head, arguments: vec![next] });
        self.block = Some(done);
    }

    /// Executes the operation of a lane. Its operands are in the frame, and its result goes there.
    fn atomic_of_lane(&mut self, lowering: AtomicLowering, targets: &AtomicTargets, lane: Lane) {
        let offset = self.define(SCALAR, Code::Mov_r32_rm32, &[lane.argument(0)]);
        let value = self.define(SCALAR, Code::Mov_r32_rm32, &[lane.argument(1)]);
        let word = Operand::Mem(Mem::at(targets.base, 0).indexed(offset, 1));
        let old = match lowering {
            AtomicLowering::Locked(code) => {
                let old = self.scalar_register();
                self.plain(code, &[word, Operand::Change { from: value, to: old }]);
                old
            }
            AtomicLowering::Compared => {
                let comparator = self.define(SCALAR, Code::Mov_r32_rm32, &[lane.argument(2)]);
                self.exchange_if(word, comparator, value)
            }
            AtomicLowering::Computed(new) if targets.is_private => {
                let old = self.define(SCALAR, Code::Mov_r32_rm32, &[word]);
                let new = self.new_word(new, old, value);
                self.plain(Code::Mov_rm32_r32, &[word, Operand::Use(new)]);
                old
            }
            AtomicLowering::Computed(new) => self.exchange(word, new, value),
        };
        self.plain(Code::Mov_rm32_r32, &[lane.word(Frame::RESULT), Operand::Use(old)]);
    }

    /// Returns the new dword.
    fn new_word(&mut self, new: NewDword, old: VReg, value: VReg) -> VReg {
        match new {
            NewDword::Computed(code) => {
                let copy = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(old)]);
                self.change(code, copy, &[Operand::Use(value)])
            }
            NewDword::Chosen(code) => {
                self.plain(Code::Cmp_r32_rm32, &[Operand::Use(value), Operand::Use(old)]);
                self.change(code, value, &[Operand::Use(old)])
            }
            NewDword::Operand => value,
        }
    }

    /// Stores the new dword, and computes it again if another thread has changed the dword
    /// meanwhile. Returns the old dword.
    fn exchange(&mut self, word: Operand, new: NewDword, value: VReg) -> VReg {
        let (retry, old) = (self.out.block(), self.scalar_register());
        self.out.blocks[retry.index()].parameters = vec![old];
        let seen = self.define(SCALAR, Code::Mov_r32_rm32, &[word]);
        self.push(MachineInst::Jump { to: retry, arguments: vec![seen] });
        self.block = Some(retry);
        let new = self.new_word(new, old, value);
        let found = self.exchange_if(word, old, new);
        let [lost, done] = [0; 2].map(|_| self.out.block());
        self.push(MachineInst::Branch { code: Code::Jne_rel32_64, then: lost, otherwise: done });
        self.block = Some(lost);
        self.push(MachineInst::Jump { to: retry, arguments: vec![found] });
        self.block = Some(done);
        found
    }

    /// Stores a new dword if the dword equals `old`. Returns the dword that was found, and sets
    /// the flags to "equal" if the store took place.
    fn exchange_if(&mut self, word: Operand, old: VReg, new: VReg) -> VReg {
        let found = self.scalar_register();
        let change = Operand::Change { from: old, to: found };
        self.plain(Code::Cmpxchg_rm32_r32, &[word, Operand::Use(new), change]);
        found
    }
}
