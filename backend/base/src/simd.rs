//! Waves of 16 lanes, and kernels: functions over all lanes, compiled for several instruction
//! sets.
//!
//! The compiler builds each kernel three times from one source: for the target's baseline, for
//! AVX2 with FMA, and for AVX-512. All three execute equal IEEE operations in equal order, so
//! their results are identical bit by bit. With AVX2 a wave fits in two registers, with AVX-512 in
//! one. Rounding and fused multiply-add are then instructions instead of calls.

use std::ops::{Deref, DerefMut};

use crate::host_memory;

/// Number of lanes in a wave.
pub const WAVE: usize = 16;

/// One dword for each lane.
pub type Lanes = [u32; WAVE];

/// The dwords of one wave, aligned to a cache line of 64 bytes.
///
/// The CPU splits each load or store of a vector that crosses a cache line into two.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Vector(pub Lanes);

/// Array of wave-sized vectors, each in a cache line of its own.
#[derive(Debug, Clone, Default)]
pub struct Vectors(Vec<Vector>);

impl Vectors {
    /// Returns `count` vectors of zeros.
    pub fn zeroed(count: usize) -> Self {
        Self(vec![Vector([0; WAVE]); count])
    }

    /// Changes the number of vectors to `count`. New vectors are 0.
    ///
    /// # Panics
    /// Panics if the host has no memory for the vectors.
    #[inline]
    pub fn resize(&mut self, count: usize) {
        host_memory::make_room(&mut self.0, count);
        self.0.resize(count, Vector([0; WAVE]));
    }

    /// Returns the number of vectors that fit without new memory.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Removes all vectors.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends a copy of `words`.
    pub fn extend_from_slice(&mut self, words: &[Lanes]) {
        self.0.extend(words.iter().map(|&word| Vector(word)));
    }
}

impl Deref for Vectors {
    type Target = [Lanes];

    #[inline]
    fn deref(&self) -> &[Lanes] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Vectors {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Lanes] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// One bit for each lane. Lane 0 is the lowest bit.
pub type Mask = u16;

/// Returns the results of `apply` for all lanes, in order.
#[inline(always)]
pub fn each(apply: impl Fn(usize) -> u32) -> Lanes {
    let mut out = [0; WAVE];
    for (lane, word) in out.iter_mut().enumerate() {
        *word = apply(lane);
    }
    out
}

/// Returns a dword of ones if `condition` is true, otherwise 0, like a vector comparison.
#[inline(always)]
pub fn ones(condition: bool) -> u32 {
    u32::from(condition).wrapping_neg()
}

/// Returns the lanes whose highest bit is set.
#[inline(always)]
pub fn highest_bits(lanes: &Lanes) -> Mask {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
        // Saturating conversion keeps the sign bits.
        let [a, b, c, d] = bytemuck::must_cast(*lanes);
        // SAFETY: every x86-64 machine has SSE2, and the intrinsics need no other feature.
        unsafe { _mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) as Mask }
    }
    #[cfg(not(target_arch = "x86_64"))]
    (0..WAVE).fold(0, |bits, lane| bits | ((lanes[lane] >> 31) as Mask) << lane)
}

/// Returns a dword of ones for each lane in `mask`, and 0 for the other lanes.
#[inline(always)]
pub fn spread(mask: u32) -> Lanes {
    each(|lane| ones(mask & 1 << lane != 0))
}

/// Declares a function that runs `$source`, compiled for the widest instruction set of the
/// machine.
///
/// `$source` should be `#[inline(always)]`, so that each variant compiles it with its features.
#[macro_export]
macro_rules! kernel {
    ($(#[$doc:meta])* $vis:vis $name:ident, $source:ident, ($($arg:ident: $ty:ty),+) $(-> $result:ty)?) => {
        $(#[$doc])*
        #[inline]
        $vis fn $name($($arg: $ty),+) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn widest($($arg: $ty),+) $(-> $result)? {
                    $source($($arg),+)
                }
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn wide($($arg: $ty),+) $(-> $result)? {
                    $source($($arg),+)
                }
                // Out of line, so that this variant adds neither code nor register pressure to
                // callers.
                #[cold]
                #[inline(never)]
                fn narrow($($arg: $ty),+) $(-> $result)? {
                    $source($($arg),+)
                }
                if $crate::simd::has_avx512() {
                    // SAFETY: `has_avx512` has checked every feature that `widest` is compiled
                    // for, and `widest` has no other precondition.
                    return unsafe { widest($($arg),+) };
                }
                if $crate::simd::has_avx2() {
                    // SAFETY: `has_avx2` has checked every feature that `wide` is compiled for,
                    // and `wide` has no other precondition.
                    return unsafe { wide($($arg),+) };
                }
                narrow($($arg),+)
            }
            #[cfg(not(target_arch = "x86_64"))]
            $source($($arg),+)
        }
    };
}

/// Dwords that lanes append to a queue: for each lane in `lanes`, one dword for each bit of the
/// lane's mask, in order. The dword is the lane's entry of `firsts` plus the entry of `steps` at
/// that bit.
#[derive(Debug, Clone, Copy)]
pub struct LaneSteps<'a> {
    /// Lanes that append dwords.
    pub lanes: Mask,
    /// First dword of each lane.
    pub firsts: &'a Lanes,
    /// Mask of the steps of each lane.
    pub masks: &'a Lanes,
    /// Differences of dwords from the first.
    pub steps: &'a Lanes,
}

/// Appends dwords to the first `end` dwords of `out`, and returns the new end.
///
/// The function may overwrite up to 16 dwords after the new end.
///
/// # Panics
/// May panic if `out` has no room for 16 dwords after the new end.
#[inline]
pub fn append_steps(out: &mut [u32], end: usize, appended: LaneSteps<'_>) -> usize {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: `has_avx512` has checked every feature that `append_widest` is compiled for, and
        // `append_widest` has no other precondition.
        return unsafe { append_widest(out, end, appended) };
    }
    append_lanes(out, end, appended)
}

fn append_lanes(out: &mut [u32], mut end: usize, appended: LaneSteps<'_>) -> usize {
    let LaneSteps { lanes, firsts, masks, steps } = appended;
    for lane in (0..WAVE).filter(|&lane| lanes >> lane & 1 != 0) {
        for step in (0..WAVE).filter(|&step| masks[lane] >> step & 1 != 0) {
            out[end] = firsts[lane].wrapping_add(steps[step]);
            end += 1;
        }
    }
    end
}

/// Appends like [`append_lanes`], with a few AVX-512 instructions per lane.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn append_widest(out: &mut [u32], mut end: usize, appended: LaneSteps<'_>) -> usize {
    use std::arch::x86_64::*;
    let LaneSteps { mut lanes, firsts, masks, steps } = appended;
    let steps = bytemuck::must_cast(*steps);
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let all = _mm512_add_epi32(steps, _mm512_set1_epi32(firsts[lane] as i32));
        let some: Lanes = bytemuck::must_cast(_mm512_maskz_compress_epi32(masks[lane] as Mask, all));
        out[end..end + WAVE].copy_from_slice(&some);
        end += (masks[lane] as Mask).count_ones() as usize;
    }
    end
}

/// Instruction set of the machine. Detection costs more than a short kernel, so it runs only once.
#[cfg(target_arch = "x86_64")]
mod level {
    use std::sync::atomic::{AtomicU8, Ordering};

    pub const AVX2: u8 = 2;
    pub const AVX512: u8 = 3;
    const UNKNOWN: u8 = 0;
    const BASELINE: u8 = 1;

    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline]
    pub fn level() -> u8 {
        match LEVEL.load(Ordering::Relaxed) {
            UNKNOWN => find(),
            level => level,
        }
    }

    #[cold]
    fn find() -> u8 {
        // All machines with AVX2 also have these features.
        let counts_bits = std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt");
        let has_avx2 = counts_bits && std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        let has_avx512 = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512vl");
        let level = match (has_avx2, has_avx512) {
            (true, true) => AVX512,
            (true, false) => AVX2,
            _ => BASELINE,
        };
        LEVEL.store(level, Ordering::Relaxed);
        level
    }
}

/// Returns true if the machine has AVX2, FMA, BMI1, BMI2, LZCNT and POPCNT.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx2() -> bool {
    level::level() >= level::AVX2
}

/// Returns true if the machine has AVX-512 F, BW, DQ and VL, and all features of [`has_avx2`].
///
/// Skylake-X has this set.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx512() -> bool {
    level::level() >= level::AVX512
}

pub use crate::kernel;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// All variants append dwords lane by lane and step by step.
        #[test]
        fn steps_are_appended_in_order(firsts: Lanes, masks: Lanes, lanes: Mask, steps: Lanes, end in 0..WAVE) {
            let of_lane = |lane: usize| {
                let steps = (0..WAVE).filter(move |step| masks[lane] >> step & 1 != 0).map(|step| steps[step]);
                steps.map(move |step| firsts[lane].wrapping_add(step))
            };
            let expected: Vec<u32> = (0..WAVE).filter(|lane| lanes >> lane & 1 != 0).flat_map(of_lane).collect();
            let mut out = [7; WAVE * WAVE + 2 * WAVE];
            let appended = LaneSteps { lanes, firsts: &firsts, masks: &masks, steps: &steps };
            for append in [append_steps, append_lanes] {
                let behind = append(&mut out, end, appended);
                prop_assert_eq!(&out[end..behind], &expected[..]);
                prop_assert!(out[..end].iter().all(|&word| word == 7));
            }
        }
    }
}
