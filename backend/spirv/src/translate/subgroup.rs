//! Subgroup operations. A subgroup is a wave of 16 lanes.
//!
//! All operations are built from four IR instructions (`Lane`, `IsActive`, `Ballot`, `Shuffle`).
//! Inactive lanes contribute the identity of the operation. Lanes are then combined in steps of 1,
//! 2, 4 and 8.
//!
//! Helper invocations are active. The specification allows devices to exclude them from operations
//! other than quad operations, but programs count the lanes of a subgroup with such operations.
//!
//! Source: SPIR-V specification, "Non-Uniform Instructions"; Vulkan specification, "Group
//! Operations".

use smallvec::SmallVec;
use spirv::{ExecutionModel, GroupOperation, Op};
use vitric_base::simd::WAVE;
use vitric_ir::interface::Builtin;
use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value, elementary};

use super::Translator;
use crate::number::{self, Number};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Links between the lanes of each subset of a partition.
struct SubsetLinks {
    /// For each step, the lane that a lane is combined with, and true if there is none. In the
    /// first step it is the next lower lane of the subset.
    links: SmallVec<[(Value, Value); 4]>,
    /// Highest lane of the subset.
    last: Value,
}

/// Bits of all lanes.
const ALL: u32 = (1 << WAVE) - 1;

/// Returns true for subgroup operations.
pub(super) fn is_subgroup(op: Op) -> bool {
    let number = op as u32;
    (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformQuadSwap as u32).contains(&number)
        || matches!(op, Op::GroupNonUniformQuadAllKHR | Op::GroupNonUniformQuadAnyKHR | Op::GroupNonUniformRotateKHR)
        || op == Op::GroupNonUniformPartitionEXT
        || is_without_scope(op)
}

/// Returns true for operations of extensions before Vulkan 1.1, which have no scope operand.
fn is_without_scope(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::SubgroupBallotKHR
            | O::SubgroupFirstInvocationKHR
            | O::SubgroupAllKHR
            | O::SubgroupAnyKHR
            | O::SubgroupAllEqualKHR
            | O::SubgroupReadInvocationKHR
    )
}

impl Translator<'_> {
    pub(super) fn subgroup(&mut self, inst: &Instruction) -> Result<()> {
        // Operands follow the scope. Quad votes and the operations of older extensions have no
        // scope.
        let quad = matches!(inst.op, Op::GroupNonUniformQuadAllKHR | Op::GroupNonUniformQuadAnyKHR);
        let at = if is_without_scope(inst.op) || quad { 2 } else { 3 };
        let words = match inst.op {
            Op::GroupNonUniformElect => {
                let candidates = self.may_be_elected();
                let (lane, elected) = (self.builder.lane(), self.lowest(candidates));
                vec![self.builder.binary(B::IEq, lane, elected)]
            }
            Op::GroupNonUniformAll | Op::SubgroupAllKHR => vec![self.all(inst.word(at)?)?],
            Op::GroupNonUniformAny | Op::SubgroupAnyKHR => {
                let condition = self.word(inst.word(at)?)?;
                vec![self.any(condition)]
            }
            Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => vec![self.all_equal(inst.word(at)?)?],
            Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => {
                let condition = self.word(inst.word(at)?)?;
                let (bits, zero) = (self.ballot(condition), self.builder.int(0));
                vec![bits, zero, zero, zero]
            }
            Op::GroupNonUniformInverseBallot
            | Op::GroupNonUniformBallotBitExtract
            | Op::GroupNonUniformBallotBitCount
            | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB => vec![self.of_ballot(inst)?],
            Op::GroupNonUniformPartitionEXT => {
                let (bits, zero) = (self.partition(inst.word(2)?)?, self.builder.int(0));
                vec![bits, zero, zero, zero]
            }
            _ if operation(inst.op).is_some() => self.arithmetic_of_group(inst)?,
            Op::GroupNonUniformQuadAllKHR | Op::GroupNonUniformQuadAnyKHR => vec![self.quad_vote(inst)?],
            _ => {
                let index = self.source_lane(inst, at)?;
                let words = self.words(inst.word(at)?)?;
                words.iter().map(|&word| self.builder.shuffle(word, index)).collect()
            }
        };
        self.define_words(inst.word(1)?, inst.word(0)?, words)
    }

    /// Returns true in the active lanes. They include the helper lanes of partly covered quads, as
    /// on other devices.
    fn participates(&mut self) -> Value {
        self.builder.is_active()
    }

    /// Returns true in the lanes whose lowest one is elected.
    ///
    /// In fragment programs, helper lanes are excluded unless all active lanes are helpers. The
    /// elected lane usually stores to memory, which helper lanes cannot do. Maximal reconvergence
    /// requires the lowest active lane.
    fn may_be_elected(&mut self) -> Value {
        let active = self.builder.is_active();
        if self.model != ExecutionModel::Fragment || self.is_maximal {
            return active;
        }
        let helper = self.builder.value(Type::Bool);
        self.builder.push(Inst::IsHelper { result: helper });
        let covered = self.builder.unary(U::LogicalNot, helper);
        let covered = self.builder.binary(B::LogicalAnd, active, covered);
        let (bits, zero) = (self.builder.ballot(covered), self.builder.int(0));
        let any = self.builder.binary(B::INe, bits, zero);
        self.builder.select(any, covered, active)
    }

    fn ballot(&mut self, condition: Value) -> Value {
        let active = self.participates();
        let counted = self.builder.binary(B::LogicalAnd, active, condition);
        self.builder.ballot(counted)
    }

    fn any(&mut self, condition: Value) -> Value {
        let (bits, zero) = (self.ballot(condition), self.builder.int(0));
        self.builder.binary(B::INe, bits, zero)
    }

    fn all(&mut self, id: u32) -> Result<Value> {
        let condition = self.word(id)?;
        let other = self.builder.unary(U::LogicalNot, condition);
        let any = self.any(other);
        Ok(self.builder.unary(U::LogicalNot, any))
    }

    /// Returns the lowest active lane, which is also the lowest one of ballots.
    fn first_active(&mut self) -> Value {
        let active = self.participates();
        self.lowest(active)
    }

    /// Returns the lowest lane in which a condition is true.
    fn lowest(&mut self, condition: Value) -> Value {
        let bits = self.builder.ballot(condition);
        elementary::find_lsb(&mut self.builder, bits)
    }

    fn all_equal(&mut self, id: u32) -> Result<Value> {
        let (ty, words) = self.typed_words(id)?;
        let compare = match Number::of(self.module, ty)? {
            Number::Bool => B::LogicalNe,
            Number::Int(_) => B::INe,
            Number::Float(_) | Number::Encoded(_) => B::FNe,
        };
        let first = self.first_active();
        let mut differs = self.builder.constant(0, Type::Bool);
        for &word in words.iter() {
            let others = self.builder.shuffle(word, first);
            let different = self.builder.binary(compare, word, others);
            differs = self.builder.binary(B::LogicalOr, differs, different);
        }
        let any = self.any(differs);
        Ok(self.builder.unary(U::LogicalNot, any))
    }

    /// Returns the bits of the active lanes whose value has the same bits as this lane's.
    fn partition(&mut self, id: u32) -> Result<Value> {
        let words: Vec<Value> = self.words(id)?.iter().flat_map(|&word| self.words_in(word)).collect();
        let mut same = self.builder.int(0);
        for lane in 0..WAVE as u32 {
            let (index, bit, zero) = (self.builder.int(lane), self.builder.int(1 << lane), self.builder.int(0));
            let mut equal = self.builder.constant(1, Type::Bool);
            for &word in &words {
                let other = self.builder.shuffle(word, index);
                let part = self.builder.binary(B::IEq, word, other);
                equal = self.builder.binary(B::LogicalAnd, equal, part);
            }
            let bit = self.builder.select(equal, bit, zero);
            same = self.builder.binary(B::Or, same, bit);
        }
        let active = self.participates();
        let active = self.builder.ballot(active);
        Ok(self.builder.binary(B::And, same, active))
    }

    /// Returns the dwords of a scalar's bits.
    fn words_in(&mut self, value: Value) -> SmallVec<[Value; 2]> {
        let words = self.builder.split(value);
        let count = if self.builder.is_wide(value) { 2 } else { 1 };
        words[..count].iter().map(|&word| self.builder.cast(word, Type::I32)).collect()
    }

    /// Translates an operation on the result of a ballot.
    fn of_ballot(&mut self, inst: &Instruction) -> Result<Value> {
        let at = if inst.op == Op::GroupNonUniformBallotBitCount { 4 } else { 3 };
        let words = self.words(inst.word(at)?)?;
        let [first, ..] = words[..] else { return Err(Error::Malformed("a ballot of four words")) };
        let all = self.builder.int(ALL);
        let bits = self.builder.binary(B::And, first, all);
        match inst.op {
            Op::GroupNonUniformInverseBallot => {
                let lane = self.builder.lane();
                Ok(self.bit(bits, lane))
            }
            Op::GroupNonUniformBallotBitExtract => {
                let index = self.word(inst.word(4)?)?;
                Ok(self.bit(bits, index))
            }
            Op::GroupNonUniformBallotFindLSB => Ok(elementary::find_lsb(&mut self.builder, bits)),
            Op::GroupNonUniformBallotFindMSB => Ok(elementary::find_msb_unsigned(&mut self.builder, bits)),
            _ => {
                let counted = match GroupOperation::from_u32(inst.word(3)?) {
                    Some(GroupOperation::InclusiveScan) => self.lanes_below(true),
                    Some(GroupOperation::ExclusiveScan) => self.lanes_below(false),
                    _ => all,
                };
                let bits = self.builder.binary(B::And, bits, counted);
                Ok(self.builder.unary(U::BitCount, bits))
            }
        }
    }

    fn bit(&mut self, bits: Value, index: Value) -> Value {
        let b = &mut self.builder;
        let (shifted, one) = (b.binary(B::ShrLogical, bits, index), b.int(1));
        let bit = b.binary(B::And, shifted, one);
        b.unary(U::AsBool, bit)
    }

    /// Returns the bits of the lanes below this one, including this one if `inclusive`.
    fn lanes_below(&mut self, inclusive: bool) -> Value {
        let lane = self.builder.lane();
        let ones = self.builder.int(if inclusive { !1 } else { !0 });
        let above = self.builder.binary(B::Shl, ones, lane);
        self.builder.unary(U::BitNot, above)
    }

    /// Returns the bits of the lanes that a mask built-in selects: equal to, above or below this
    /// one.
    pub(super) fn lane_mask(&mut self, builtin: Builtin) -> Value {
        let (below, up_to, all) = (self.lanes_below(false), self.lanes_below(true), self.builder.int(ALL));
        match builtin {
            Builtin::SubgroupLtMask => below,
            Builtin::SubgroupLeMask => up_to,
            Builtin::SubgroupGeMask => self.builder.binary(B::Xor, all, below),
            Builtin::SubgroupGtMask => self.builder.binary(B::Xor, all, up_to),
            _ => self.builder.binary(B::Xor, up_to, below),
        }
    }

    /// Returns the lane from which a shuffle reads.
    fn source_lane(&mut self, inst: &Instruction, at: usize) -> Result<Value> {
        if matches!(inst.op, Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR) {
            return Ok(self.first_active());
        }
        let operand = self.word(inst.word(at + 1)?)?;
        let operand = self.builder.split(operand)[0];
        let direction = self.constants.scalar(inst.word(at + 1)?);
        let cluster = inst.words.get(at + 2).and_then(|&id| self.constants.scalar(id)).unwrap_or(WAVE as u32);
        let lane = self.builder.lane();
        let b = &mut self.builder;
        Ok(match inst.op {
            Op::GroupNonUniformShuffleXor => b.binary(B::Xor, lane, operand),
            Op::GroupNonUniformShuffleUp => b.binary(B::ISub, lane, operand),
            Op::GroupNonUniformShuffleDown => b.binary(B::IAdd, lane, operand),
            Op::GroupNonUniformQuadBroadcast => {
                let (quad, three) = (b.int(!3), b.int(3));
                let (first, index) = (b.binary(B::And, lane, quad), b.binary(B::And, operand, three));
                b.binary(B::Or, first, index)
            }
            Op::GroupNonUniformQuadSwap => {
                let across = b.int(direction.unwrap_or(0).min(2) + 1);
                b.binary(B::Xor, lane, across)
            }
            Op::GroupNonUniformRotateKHR => {
                let (low, high) = (b.int(cluster.wrapping_sub(1)), b.int(!cluster.wrapping_sub(1)));
                let moved = b.binary(B::IAdd, lane, operand);
                let (moved, first) = (b.binary(B::And, moved, low), b.binary(B::And, lane, high));
                b.binary(B::Or, moved, first)
            }
            _ => operand,
        })
    }

    fn quad_vote(&mut self, inst: &Instruction) -> Result<Value> {
        let condition = self.word(inst.word(2)?)?;
        let is_all = inst.op == Op::GroupNonUniformQuadAllKHR;
        let (op, identity) = if is_all { (B::LogicalAnd, 1) } else { (B::LogicalOr, 0) };
        let identity = self.builder.constant(identity, Type::Bool);
        let own = self.active_or(condition, identity);
        Ok(self.reduce(op, own, 4))
    }

    fn active_or(&mut self, value: Value, identity: Value) -> Value {
        let active = self.participates();
        self.builder.select(active, value, identity)
    }

    fn arithmetic_of_group(&mut self, inst: &Instruction) -> Result<Vec<Value>> {
        let (ty, words) = self.typed_words(inst.word(4)?)?;
        let number = Number::of(self.module, ty)?;
        let op = operation(inst.op).ok_or(Error::Malformed("no operation of a group"))?;
        let scan = GroupOperation::from_u32(inst.word(3)?).ok_or(Error::Malformed("unknown group operation"))?;
        let size = match scan {
            GroupOperation::ClusteredReduce => self.constants.scalar(inst.word(5)?).unwrap_or(1),
            _ => WAVE as u32,
        };
        let chain = match scan {
            GroupOperation::PartitionedReduceEXT
            | GroupOperation::PartitionedInclusiveScanEXT
            | GroupOperation::PartitionedExclusiveScanEXT => Some(self.subset_links(inst.word(5)?)?),
            _ => None,
        };
        let is_signed = matches!(op, B::SMin | B::SMax);
        let one = |this: &mut Self, word: Value| {
            let word = if is_signed { number::signed(&mut this.builder, word, number) } else { word };
            let identity = this.identity(op, number);
            // Replace NaN by the identity, because an extremum of numbers and NaN is a number.
            let word = match op {
                B::FMin | B::FMax => this.builder.binary(op, identity, word),
                _ => word,
            };
            let own = this.active_or(word, identity);
            let value = match scan {
                GroupOperation::InclusiveScan => this.scan(op, own),
                GroupOperation::ExclusiveScan => {
                    let inclusive = this.scan(op, own);
                    this.value_of_lane_below(inclusive, identity)
                }
                _ => match &chain {
                    Some(chain) => this.combine_chain(op, (own, identity), chain, scan),
                    None => this.reduce(op, own, size),
                },
            };
            number::narrow(&mut this.builder, value, number)
        };
        Ok(words.iter().map(|&word| one(self, word)).collect())
    }

    /// Combines the lanes of each cluster of `size` lanes, a power of two. Every lane has the
    /// result.
    fn reduce(&mut self, op: B, own: Value, size: u32) -> Value {
        let mut value = own;
        let mut step = 1;
        while step < size.min(WAVE as u32) {
            let (lane, across) = (self.builder.lane(), self.builder.int(step));
            let index = self.builder.binary(B::Xor, lane, across);
            let other = self.builder.shuffle(value, index);
            value = self.builder.binary(op, value, other);
            step *= 2;
        }
        if step < WAVE as u32 {
            return value;
        }
        // All lanes have the result. Reading it from one lane makes it known to be uniform.
        let zero = self.builder.int(0);
        self.builder.shuffle(value, zero)
    }

    /// Combines each lane with the lanes below it.
    fn scan(&mut self, op: B, own: Value) -> Value {
        [1, 2, 4, 8].into_iter().fold(own, |value, step| {
            let (lane, distance) = (self.builder.lane(), self.builder.int(step));
            let index = self.builder.binary(B::ISub, lane, distance);
            let below = self.builder.shuffle(value, index);
            let combined = self.builder.binary(op, below, value);
            let is_first = self.builder.binary(B::ULt, lane, distance);
            self.builder.select(is_first, value, combined)
        })
    }

    /// Returns the value of the lane below, or `first` in the first lane.
    fn value_of_lane_below(&mut self, value: Value, first: Value) -> Value {
        let (lane, one) = (self.builder.lane(), self.builder.int(1));
        let index = self.builder.binary(B::ISub, lane, one);
        let below = self.builder.shuffle(value, index);
        let is_first = self.builder.binary(B::ULt, lane, one);
        self.builder.select(is_first, first, below)
    }

    /// Returns the chain of the lanes of each subset of a partition. `ballot` is the result of
    /// `OpGroupNonUniformPartition`.
    fn subset_links(&mut self, ballot: u32) -> Result<SubsetLinks> {
        let words = self.words(ballot)?;
        let &[first, ..] = &words[..] else { return Err(Error::Malformed("a ballot of four words")) };
        let active = self.participates();
        let active = self.builder.ballot(active);
        let subset = self.builder.binary(B::And, first, active);
        let (below, zero) = (self.lanes_below(false), self.builder.int(0));
        let below = self.builder.binary(B::And, subset, below);
        let mut link = elementary::find_msb_unsigned(&mut self.builder, below);
        let mut links = SmallVec::new();
        for _ in 0..WAVE.ilog2() {
            let ends = self.builder.binary(B::SLt, link, zero);
            links.push((link, ends));
            let next = self.builder.shuffle(link, link);
            link = self.builder.select(ends, link, next);
        }
        Ok(SubsetLinks { links, last: elementary::find_msb_unsigned(&mut self.builder, subset) })
    }

    /// Combines the lanes of subsets. Each step combines a lane with the value of the lane at the
    /// end of its link. Each step doubles the number of lanes that a value covers.
    fn combine_chain(
        &mut self,
        op: B,
        (own, identity): (Value, Value),
        chain: &SubsetLinks,
        scan: GroupOperation,
    ) -> Value {
        let mut value = own;
        for &(link, ends) in &chain.links {
            let below = self.builder.shuffle(value, link);
            let combined = self.builder.binary(op, below, value);
            value = self.builder.select(ends, value, combined);
        }
        match scan {
            GroupOperation::PartitionedReduceEXT => self.builder.shuffle(value, chain.last),
            GroupOperation::PartitionedExclusiveScanEXT => {
                let (link, ends) = chain.links[0];
                let below = self.builder.shuffle(value, link);
                self.builder.select(ends, identity, below)
            }
            _ => value,
        }
    }

    /// Returns the identity of an operation on a type.
    fn identity(&mut self, op: B, number: Number) -> Value {
        let float = match op {
            B::LogicalAnd => return self.builder.constant(1, Type::Bool),
            B::LogicalOr | B::LogicalNe => return self.builder.constant(0, Type::Bool),
            B::FAdd => Some(0.0),
            B::FMul => Some(1.0),
            B::FMin => Some(f64::INFINITY),
            B::FMax => Some(f64::NEG_INFINITY),
            _ => None,
        };
        match (float, number) {
            (Some(value), Number::Float(64)) => self.builder.wide_constant(value.to_bits(), Type::F64),
            (Some(value), _) => self.builder.float(value as f32),
            (None, Number::Int(64)) => self.builder.wide_constant(integer_identity(op, 64), Type::I64),
            (None, _) => {
                // A narrow integer is a dword, extended by the sign with which the operation reads
                // it.
                let bits = if let Number::Int(bits) = number { bits } else { 32 };
                let least = integer_identity(op, bits) << (64 - bits);
                let is_signed = matches!(op, B::SMin | B::SMax);
                let word = if is_signed { (least as i64 >> (64 - bits)) as u64 } else { least >> (64 - bits) };
                self.builder.int(word as u32)
            }
        }
    }
}

/// Returns the identity of an operation on integers of `bits` bits. The bits above are
/// unspecified.
fn integer_identity(op: B, bits: u32) -> u64 {
    match op {
        B::IMul => 1,
        B::And | B::UMin => u64::MAX,
        B::SMin => (1 << (bits - 1)) - 1,
        B::SMax => 1 << (bits - 1),
        _ => 0,
    }
}

/// Returns the operation that combines two lanes.
fn operation(op: Op) -> Option<B> {
    Some(match op {
        Op::GroupNonUniformIAdd => B::IAdd,
        Op::GroupNonUniformFAdd => B::FAdd,
        Op::GroupNonUniformIMul => B::IMul,
        Op::GroupNonUniformFMul => B::FMul,
        Op::GroupNonUniformSMin => B::SMin,
        Op::GroupNonUniformUMin => B::UMin,
        Op::GroupNonUniformFMin => B::FMin,
        Op::GroupNonUniformSMax => B::SMax,
        Op::GroupNonUniformUMax => B::UMax,
        Op::GroupNonUniformFMax => B::FMax,
        Op::GroupNonUniformBitwiseAnd => B::And,
        Op::GroupNonUniformBitwiseOr => B::Or,
        Op::GroupNonUniformBitwiseXor => B::Xor,
        Op::GroupNonUniformLogicalAnd => B::LogicalAnd,
        Op::GroupNonUniformLogicalOr => B::LogicalOr,
        Op::GroupNonUniformLogicalXor => B::LogicalNe,
        _ => return None,
    })
}
