//! Integer sequences: values of one range, packed with trits or quints if it is no power of two.
//!
//! Source: Khronos Data Format Specification, "Integer Sequence Encoding", "Endpoint
//! Unquantization", "Weight Unquantization".

/// Kind of a value's high part, above its low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Bits,
    Trit,
    Quint,
}

/// Range of the values of a sequence, from 0 on. Its size is 2^n, 3 * 2^n or 5 * 2^n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    base: Base,
    bits: u32,
}

/// A packed value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Digit {
    /// High part: the trit or quint.
    high: u32,
    low: u32,
}

/// Number of ranges.
const RANGES: u32 = 21;

impl Range {
    /// Returns a range by number, in the order of size: 2, 3, 4, 5, 6, 8, 10, 12, 16 ... 256.
    pub(super) const fn numbered(number: u32) -> Self {
        match number % 3 {
            _ if number == 0 => Self { base: Base::Bits, bits: 1 },
            0 => Self { base: Base::Quint, bits: number / 3 - 1 },
            1 => Self { base: Base::Trit, bits: number / 3 },
            _ => Self { base: Base::Bits, bits: number / 3 + 2 },
        }
    }

    /// Returns the largest range for which `count` values have at most `bits` bits.
    pub(super) fn largest(count: u32, bits: u32) -> Option<Self> {
        (0..RANGES).rev().map(Self::numbered).find(|range| range.bits_of(count) <= bits)
    }

    /// Returns the size of `count` values in bits.
    pub(super) fn bits_of(self, count: u32) -> u32 {
        let high = match self.base {
            Base::Bits => 0,
            Base::Trit => (count * 8).div_ceil(5),
            Base::Quint => (count * 7).div_ceil(3),
        };
        high + count * self.bits
    }

    /// Unpacks a sequence that begins at the lowest bit.
    pub(super) fn unpack(self, bits: u128, out: &mut [Digit]) {
        let length = self.bits_of(out.len() as u32);
        // The bits after a sequence read as zeros.
        let mut stream = Stream(if length < 128 { bits & ((1 << length) - 1) } else { bits });
        match self.base {
            Base::Bits => out.iter_mut().for_each(|digit| *digit = Digit { high: 0, low: stream.take(self.bits) }),
            Base::Trit => self.unpack_group(&mut stream, out, [2, 2, 1, 2, 1], &TRITS),
            Base::Quint => self.unpack_group(&mut stream, out, [3, 2, 2], &QUINTS),
        }
    }

    /// Unpacks groups of `N` values that share one packed number for their high parts.
    ///
    /// After each value's low bits follow as many bits of the packed number as `widths` specifies.
    /// `table` has the high parts for each packed number.
    fn unpack_group<const N: usize>(self, stream: &mut Stream, out: &mut [Digit], widths: [u32; N], table: &[[u8; N]]) {
        for group in out.chunks_mut(N) {
            let (mut packed, mut position, mut low) = (0, 0, [0; N]);
            for (low, width) in low.iter_mut().zip(widths) {
                *low = stream.take(self.bits);
                packed |= stream.take(width) << position;
                position += width;
            }
            let high = table[packed as usize];
            for (index, digit) in group.iter_mut().enumerate() {
                *digit = Digit { high: u32::from(high[index]), low: low[index] };
            }
        }
    }

    /// Converts a value to a component of an end point, 0 to 255.
    pub(super) fn endpoint(self, digit: Digit) -> i32 {
        if self.base == Base::Bits {
            return replicated(digit.low, self.bits, 8) as i32;
        }
        let (h, is_trit) = (digit.low >> 1, self.base == Base::Trit);
        let spread = match (is_trit, self.bits) {
            (_, 0 | 1) => 0,
            (true, 2) => h << 8 | h << 4 | h << 2 | h << 1,
            (true, 3) => h << 7 | h << 2 | h,
            (true, 4) => h << 6 | h,
            (true, 5) => h << 5 | h >> 2,
            (true, _) => h << 4 | h >> 4,
            (false, 2) => h << 8 | h << 3 | h << 2,
            (false, 3) => h << 7 | h << 1 | h >> 1,
            (false, 4) => h << 6 | h >> 1,
            (false, _) => h << 5 | h >> 3,
        };
        let factors: &[u32] = if is_trit { &[0, 204, 93, 44, 22, 11, 5] } else { &[0, 113, 54, 26, 13, 6] };
        scrambled(digit, factors[self.bits as usize], spread, 9) as i32
    }

    /// Converts a value to a weight, 0 to 64.
    pub(super) fn weight(self, digit: Digit) -> u32 {
        let (h, high) = (digit.low >> 1, digit.high as usize);
        let value = match (self.base, self.bits) {
            (Base::Bits, bits) => replicated(digit.low, bits, 6),
            (Base::Trit, 0) => [0, 32, 63][high],
            (Base::Quint, 0) => [0, 16, 32, 47, 63][high],
            (Base::Trit, 1) => scrambled(digit, 50, 0, 7),
            (Base::Trit, 2) => scrambled(digit, 23, h << 6 | h << 2 | h, 7),
            (Base::Trit, _) => scrambled(digit, 11, h << 5 | h, 7),
            (Base::Quint, 1) => scrambled(digit, 28, 0, 7),
            (Base::Quint, _) => scrambled(digit, 13, h << 6 | h << 1, 7),
        };
        value + u32::from(value > 32)
    }
}

/// Extends `value` from `bits` bits to `wanted` bits by repetition.
fn replicated(value: u32, bits: u32, wanted: u32) -> u32 {
    let (mut out, mut shift) = (0, wanted as i32);
    while shift > 0 {
        shift -= bits as i32;
        out |= if shift >= 0 { value << shift } else { value >> -shift };
    }
    out
}

/// Returns `high * factor + spread`, a number of `bits` bits, without its two lowest bits.
///
/// If the digit's lowest bit is set, the number is inverted, and the result's top bit is set.
fn scrambled(digit: Digit, factor: u32, spread: u32, bits: u32) -> u32 {
    let ones = if digit.low & 1 == 1 { (1 << bits) - 1 } else { 0 };
    let value = (digit.high * factor + spread) ^ ones;
    ones & 1 << (bits - 2) | value >> 2
}

/// Bit stream that begins at the lowest bit.
struct Stream(u128);

impl Stream {
    fn take(&mut self, count: u32) -> u32 {
        let bits = self.0 as u32 & ((1 << count) - 1);
        self.0 >>= count;
        bits
    }
}

const fn bits(value: u32, high: u32, low: u32) -> u32 {
    value >> low & ((1 << (high - low + 1)) - 1)
}

/// The five trits of each packed byte.
static TRITS: [[u8; 5]; 256] = {
    let mut table = [[0; 5]; 256];
    let mut packed = 0;
    while packed < 256 {
        table[packed as usize] = trits(packed);
        packed += 1;
    }
    table
};

const fn trits(t: u32) -> [u8; 5] {
    let (c, t4, t3) = if bits(t, 4, 2) == 7 {
        (bits(t, 7, 5) << 2 | bits(t, 1, 0), 2, 2)
    } else if bits(t, 6, 5) == 3 {
        (bits(t, 4, 0), 2, bits(t, 7, 7))
    } else {
        (bits(t, 4, 0), bits(t, 7, 7), bits(t, 6, 5))
    };
    let (t2, t1, t0) = if bits(c, 1, 0) == 3 {
        (2, bits(c, 4, 4), bits(c, 3, 3) << 1 | bits(c, 2, 2) & !bits(c, 3, 3) & 1)
    } else if bits(c, 3, 2) == 3 {
        (2, 2, bits(c, 1, 0))
    } else {
        (bits(c, 4, 4), bits(c, 3, 2), bits(c, 1, 1) << 1 | bits(c, 0, 0) & !bits(c, 1, 1) & 1)
    };
    [t0 as u8, t1 as u8, t2 as u8, t3 as u8, t4 as u8]
}

/// The three quints of each packed 7-bit number.
static QUINTS: [[u8; 3]; 128] = {
    let mut table = [[0; 3]; 128];
    let mut packed = 0;
    while packed < 128 {
        table[packed as usize] = quints(packed);
        packed += 1;
    }
    table
};

const fn quints(q: u32) -> [u8; 3] {
    if bits(q, 2, 1) == 3 && bits(q, 6, 5) == 0 {
        let unset = !bits(q, 0, 0) & 1;
        let last = bits(q, 0, 0) << 2 | (bits(q, 4, 4) & unset) << 1 | bits(q, 3, 3) & unset;
        return [4, 4, last as u8];
    }
    let (q2, c) = if bits(q, 2, 1) == 3 {
        (4, bits(q, 4, 3) << 3 | (!bits(q, 6, 5) & 3) << 1 | bits(q, 0, 0))
    } else {
        (bits(q, 6, 5), bits(q, 4, 0))
    };
    if bits(c, 2, 0) == 5 {
        return [bits(c, 4, 3) as u8, 4, q2 as u8];
    }
    [bits(c, 2, 0) as u8, bits(c, 4, 3) as u8, q2 as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow() {
        let size = |number| {
            let Range { base, bits } = Range::numbered(number);
            [1u32, 3, 5][base as usize] << bits
        };
        let sizes: Vec<u32> = (0..RANGES).map(size).collect();
        assert_eq!(sizes[..12], [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32]);
        assert!(sizes.is_sorted() && sizes.last() == Some(&256));
    }

    #[test]
    fn every_combination_of_trits_and_quints_is_there() {
        let mut trits = TRITS.to_vec();
        trits.sort();
        trits.dedup();
        assert!(trits.len() == 243 && trits.iter().flatten().all(|&trit| trit < 3));
        let mut quints = QUINTS.to_vec();
        quints.sort();
        quints.dedup();
        assert!(quints.len() == 125 && quints.iter().flatten().all(|&quint| quint < 5));
    }

    /// Unquantized values have a uniform distribution, in any order, with an error of at most 2.
    #[test]
    fn values_are_spread_over_their_range() {
        for number in 0..RANGES {
            let range = Range::numbered(number);
            let highs = [1, 3, 5][range.base as usize];
            let digits = (0..highs).flat_map(|high| (0..1 << range.bits).map(move |low| Digit { high, low }));
            let digits: Vec<Digit> = digits.collect();
            let check = |mut values: Vec<f32>, greatest: f32| {
                values.sort_by(f32::total_cmp);
                let last = (values.len() - 1) as f32;
                for (index, value) in values.iter().enumerate() {
                    assert!((value - index as f32 * greatest / last).abs() <= 2.0, "{range:?} {values:?}");
                }
            };
            if number >= 4 {
                check(digits.iter().map(|&digit| range.endpoint(digit) as f32).collect(), 255.0);
            }
            if number < 12 {
                check(digits.iter().map(|&digit| range.weight(digit) as f32).collect(), 64.0);
            }
        }
    }
}
