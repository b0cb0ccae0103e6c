//! Atomic operations on one word, and of a wave's lanes on words of one range.
//!
//! Lanes act in ascending order. If all lanes name one word, a single atomic operation combines
//! them, and each lane's result is computed from it. The specification permits that no other
//! invocation's operation comes between them. Source: Vulkan specification, "Memory Model",
//! "Modification Order".

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::AtomicOp;

use super::kernels::per_operation;
use super::lanes_of;

/// Performs an operation on a word and returns the old value, with one instruction if the machine
/// has it.
macro_rules! performed {
    ($word:expr, $op:expr, $value:expr, $comparator:expr) => {{
        const ORDER: Ordering = Ordering::SeqCst;
        match $op {
            AtomicOp::Load => $word.load(ORDER),
            AtomicOp::Store | AtomicOp::Exchange => $word.swap($value, ORDER),
            AtomicOp::CompareExchange => {
                let done = $word.compare_exchange($comparator, $value, ORDER, ORDER);
                done.unwrap_or_else(|old| old)
            }
            AtomicOp::Add => $word.fetch_add($value, ORDER),
            AtomicOp::Sub => $word.fetch_sub($value, ORDER),
            op => {
                let update = |old| op.apply(old, $value, $comparator);
                $word.fetch_update(ORDER, ORDER, update).unwrap_or_else(|old| old)
            }
        }
    }};
}

/// Performs `op` on a word and returns the old value.
#[inline(always)]
pub fn perform(word: &AtomicU32, op: AtomicOp, value: u32, comparator: u32) -> u32 {
    performed!(word, op, value, comparator)
}

/// Performs `op` on a 64-bit word and returns the old value, as [`perform`] does.
#[inline]
pub fn perform_wide(word: &AtomicU64, op: AtomicOp, value: u64, comparator: u64) -> u64 {
    performed!(word, op, value, comparator)
}

/// Performs `op` on a word that no other thread accesses and returns the old value.
#[inline(always)]
fn perform_alone(word: &AtomicU32, op: AtomicOp, value: u32, comparator: u32) -> u32 {
    let old = word.load(Ordering::Relaxed);
    if let Some(new) = op.apply(old, value, comparator) {
        word.store(new, Ordering::Relaxed);
    }
    old
}

/// Atomic operations of a wave's lanes on words.
#[derive(Clone, Copy)]
pub struct Atomics<'a> {
    /// Operation of all lanes.
    pub op: AtomicOp,
    /// Lanes that execute the operation.
    pub lanes: Mask,
    /// Byte offsets from the first word. An offset that is out of bounds or not a multiple of 4
    /// accesses nothing, and its result is 0.
    pub offsets: &'a Lanes,
    /// Operands.
    pub values: &'a Lanes,
    /// Values to compare the words with.
    pub comparators: Option<&'a Lanes>,
}

impl Atomics<'_> {
    /// Returns these operations for other lanes.
    #[inline]
    pub fn of(self, lanes: Mask) -> Self {
        Self { lanes, ..self }
    }

    /// Performs the operations on words that other threads may access. Writes the old values of
    /// these lanes to `found`.
    pub fn perform(&self, words: &[AtomicU32], found: &mut Lanes) {
        let one = self.one_word(words);
        let all = |op, found: &mut Lanes| match one {
            Some(word) => self.perform_on_one(op, word, found),
            None => self.perform_each((op, perform), words, found),
        };
        per_operation!(
            self.op,
            AtomicOp [Load, Store, Add, UMin, UMax, And, Or],
            CHOSEN => all(CHOSEN, found),
            other => all(other, found)
        );
    }

    /// Performs the operations on words that no other thread accesses, such as shared memory. A
    /// workgroup runs on one thread.
    pub fn perform_alone(&self, words: &[AtomicU32], found: &mut Lanes) {
        per_operation!(
            self.op,
            AtomicOp [Add, UMin, UMax, And, Or],
            CHOSEN => self.perform_each((CHOSEN, perform_alone), words, found),
            other => self.perform_each((other, perform_alone), words, found)
        );
    }

    /// Returns the word that several lanes all name, if their operations can be combined. Sums of
    /// floats cannot, because combining them changes the rounding.
    #[inline]
    fn one_word<'w>(&self, words: &'w [AtomicU32]) -> Option<&'w AtomicU32> {
        if matches!(self.op, AtomicOp::CompareExchange | AtomicOp::FAdd) {
            return None;
        }
        let mut offsets = lanes_of(self.lanes).map(|lane| self.offsets[lane]);
        let (first, second) = (offsets.next()?, offsets.next()?);
        if first == second && offsets.all(|offset| offset == first) { word_at(words, first) } else { None }
    }

    #[inline(always)]
    fn perform_on_one(&self, op: AtomicOp, word: &AtomicU32, found: &mut Lanes) {
        // Subtracted values combine by addition. All other operations combine by themselves.
        let both = if op == AtomicOp::Sub { AtomicOp::Add } else { op };
        let after = |op: AtomicOp, old: u32, lane: usize| match op.apply(old, self.values[lane], 0) {
            Some(new) if self.lanes >> lane & 1 != 0 => new,
            _ => old,
        };
        let first = self.lanes.trailing_zeros() as usize % WAVE;
        let all = (first + 1..WAVE).fold(self.values[first], |all, lane| after(both, all, lane));
        let mut old = perform(word, op, all, 0);
        for (lane, found) in found.iter_mut().enumerate().skip(first) {
            *found = if self.lanes >> lane & 1 != 0 { old } else { *found };
            old = after(op, old, lane);
        }
    }

    #[inline(always)]
    fn perform_each(
        &self,
        (op, perform): (AtomicOp, impl Fn(&AtomicU32, AtomicOp, u32, u32) -> u32),
        words: &[AtomicU32],
        found: &mut Lanes,
    ) {
        for lane in lanes_of(self.lanes) {
            let comparator = if let Some(lanes) = self.comparators { lanes[lane] } else { 0 };
            found[lane] = match word_at(words, self.offsets[lane]) {
                Some(word) => perform(word, op, self.values[lane], comparator),
                None => 0,
            };
        }
    }
}

/// Returns the word that starts at a byte offset.
#[inline(always)]
fn word_at(words: &[AtomicU32], offset: u32) -> Option<&AtomicU32> {
    if offset.is_multiple_of(4) { words.get(offset as usize / 4) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(words: &[AtomicU32]) -> Vec<u32> {
        words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    proptest! {
        /// The result equals that of one lane after another.
        #[test]
        fn lanes_act_in_their_order(
            op in prop::sample::select(AtomicOp::ALL.to_vec()), lanes: Mask, one in any::<bool>(),
            offsets in prop::array::uniform16(0u32..22), operands in prop::array::uniform16(prop_oneof![0u32..3, any::<u32>()]),
            start in prop::collection::vec(prop_oneof![0u32..3, any::<u32>()], 5),
        ) {
            let offsets = offsets.map(|offset| if one { offsets[0] } else { offset });
            let mut expected = (start.clone(), [7; WAVE]);
            for lane in lanes_of(lanes) {
                let word = expected.0.get_mut(offsets[lane] as usize / 4).filter(|_| offsets[lane] % 4 == 0);
                expected.1[lane] = word.map_or(0, |word| {
                    let old = *word;
                    *word = op.apply(old, operands[lane], operands[15 - lane]).unwrap_or(old);
                    old
                });
            }
            let comparators = std::array::from_fn(|lane| operands[15 - lane]);
            let atomics = Atomics { op, lanes, offsets: &offsets, values: &operands, comparators: Some(&comparators) };
            for alone in [false, true] {
                let (words, mut found): (Vec<_>, _) = (start.iter().copied().map(AtomicU32::new).collect(), [7; WAVE]);
                if alone {
                    atomics.perform_alone(&words, &mut found);
                } else {
                    atomics.perform(&words, &mut found);
                }
                prop_assert_eq!((values(&words), found), expected.clone());
            }
        }
    }
}
