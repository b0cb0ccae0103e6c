//! The numbers that a word consists of, and arithmetic on all of them at once.
//!
//! Numbers count modulo 2^n, and residuals are *folded*: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4, so that small ones of either sign need
//! few bits, the lowest. Where numbers are bytes, halves or words the machine has instructions. Words of other numbers are added and
//! subtracted as they are; what they borrow from each other is given back when residuals are folded.

use smallvec::SmallVec;

use super::lanes::Lanes;
use crate::format::FormatInfo;

/// Most numbers of a word.
const MOST: usize = 8;
/// Bits of a line's header that say how wide residuals are.
const HEADER_BITS: u32 = 24;

/// How the numbers of a word are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Four of 8 bits.
    Bytes,
    /// Two of 16.
    Halves,
    /// One of 32.
    Words,
    /// Others, of at most two widths.
    Packed,
}

/// A word's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    pub(super) kind: Kind,
    packed: Packed,
}

/// Masks of numbers of any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packed {
    /// First bit and bits of each, ascending, without gaps.
    list: [(u8, u8); MOST],
    count: usize,
    /// Bits of the header for each.
    width_bits: u32,
    /// Highest and lowest bits.
    high: u32,
    low: u32,
    /// Those of numbers of the first width.
    first_high: u32,
    first_low: u32,
    /// From the lowest to the highest bit, of numbers of the first width and the other.
    steps: [u32; 2],
}

impl Fields {
    /// Numbers of equal widths: 8, 16 or 32 bits.
    fn equal(kind: Kind, bits: u8) -> Self {
        let numbers: SmallVec<[(u8, u8); MOST]> = (0..32 / bits).map(|number| (number * bits, bits)).collect();
        Self { kind, ..Self::packed(&numbers) }
    }

    fn packed(numbers: &[(u8, u8)]) -> Self {
        let mut list = [(0, 0); MOST];
        list[..numbers.len()].copy_from_slice(numbers);
        let mask = |first: Option<u8>, high: bool| {
            let counted = numbers.iter().filter(|(_, bits)| first.is_none_or(|first| first == *bits));
            counted.fold(0, |mask, (offset, bits)| mask | 1u32 << (offset + if high { bits - 1 } else { 0 }))
        };
        let width = numbers.first().map_or(1, |(_, bits)| *bits);
        let other = numbers.iter().map(|(_, bits)| *bits).find(|bits| *bits != width).unwrap_or(width);
        let packed = Packed {
            list,
            count: numbers.len(),
            width_bits: HEADER_BITS / numbers.len() as u32,
            high: mask(None, true),
            low: mask(None, false),
            first_high: mask(Some(width), true),
            first_low: mask(Some(width), false),
            steps: [u32::from(width) - 1, u32::from(other) - 1],
        };
        Self { kind: Kind::Packed, packed }
    }

    /// Bytes, of formats that nothing better is known of.
    pub fn bytes() -> Self {
        Self::equal(Kind::Bytes, 8)
    }

    /// The numbers of depths of so many bits, as planes store them.
    pub fn of_depth(bits: u32) -> Self {
        if bits == 16 { Self::equal(Kind::Halves, 16) } else { Self::equal(Kind::Words, 32) }
    }

    /// The numbers of a colour format's words: its components, what is between them, and smaller texels one after the other.
    pub fn of_color(info: &FormatInfo) -> Self {
        if info.compression.is_some() || info.is_planar() || info.channels.is_empty() {
            return Self::bytes();
        }
        let mut ends: SmallVec<[u8; MOST]> = SmallVec::new();
        let texel = (info.bytes * 8).min(32) as u8;
        for start in (0..32).step_by(texel.max(8).into()) {
            let inside = info.channels.iter().flat_map(|channel| [channel.offset, channel.offset + channel.bits]);
            ends.extend(inside.filter(|&end| end < texel).map(|end| start + end));
            ends.push(start + texel);
        }
        ends.sort_unstable();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let numbers: SmallVec<[(u8, u8); MOST]> =
            starts.zip(&ends).filter(|(start, end)| start != *end).map(|(start, &end)| (start, end - start)).collect();
        let mut widths: SmallVec<[u8; MOST]> = numbers.iter().map(|(_, bits)| *bits).collect();
        widths.sort_unstable();
        widths.dedup();
        match widths[..] {
            [8] => Self::bytes(),
            [16] => Self::equal(Kind::Halves, 16),
            // Fewer bits than a half, at its upper end.
            [4, 12] | [6, 10] if info.bytes >= 2 && info.channels[0].offset > 0 => Self::equal(Kind::Halves, 16),
            [32] => Self::equal(Kind::Words, 32),
            [_] | [_, _] if numbers.len() <= MOST => Self::packed(&numbers),
            _ => Self::bytes(),
        }
    }

    pub(super) fn masks(&self) -> Packed {
        self.packed
    }
}

/// Arithmetic on the numbers of words.
pub trait Arithmetic: Copy {
    /// Whether folding takes so long that it pays to look after half of a line whether the rest is needed.
    const FOLDS_SLOWLY: bool = false;
    /// Sums.
    fn add<L: Lanes>(self, a: L, b: L) -> L;
    /// Differences.
    fn sub<L: Lanes>(self, a: L, b: L) -> L;
    /// Residuals, folded.
    fn fold<L: Lanes>(self, value: L) -> L;
    /// The opposite.
    fn unfold<L: Lanes>(self, value: L) -> L;
    /// The low bits of each number that are needed for these bits: its highest one, and those below.
    fn below(self, any: u32) -> u32;
    /// The least number of bits that offsets need where slopes need those of a mask: a word is predicted from three others, so the range of
    /// its residuals is at most four times that of words.
    fn least_of_offsets(self, used: u32) -> u32;
    /// How many bits of each number such a mask has, as a header says it.
    fn code(self, used: u32) -> u32;
    /// The mask of a header. More than a number has is all of it.
    fn used(self, code: u32) -> u32;
}

/// [`Arithmetic::below`], of numbers by first bit and bits.
#[inline(always)]
fn below_of(list: &[(u8, u8)], any: u32) -> u32 {
    let mut used = 0;
    for &(offset, bits) in list {
        let width = 32 - (any >> offset & (u32::MAX >> (32 - bits))).leading_zeros();
        used |= (((1u64 << width) - 1) << offset) as u32;
    }
    used
}

/// [`Arithmetic::least_of_offsets`].
#[inline(always)]
fn least_of(list: &[(u8, u8)], used: u32) -> u32 {
    let mut least = 0;
    for &(offset, bits) in list {
        least += (used >> offset & (u32::MAX >> (32 - bits))).count_ones().saturating_sub(2);
    }
    least
}

/// [`Arithmetic::code`], with so many bits for each number in the header.
#[inline(always)]
fn code_of(list: &[(u8, u8)], width_bits: u32, used: u32) -> u32 {
    let mut code = 0;
    for (number, &(offset, bits)) in list.iter().enumerate() {
        code |= (used >> offset & (u32::MAX >> (32 - bits))).count_ones() << (number as u32 * width_bits);
    }
    code
}

/// [`Arithmetic::used`].
#[inline(always)]
fn used_of(list: &[(u8, u8)], width_bits: u32, code: u32) -> u32 {
    let mut used = 0;
    for (number, &(offset, bits)) in list.iter().enumerate() {
        let width = code >> (number as u32 * width_bits) & ((1 << width_bits) - 1);
        used |= (((1u64 << width.min(bits.into())) - 1) << offset) as u32;
    }
    used
}

/// [`Kind::Bytes`].
#[derive(Debug, Clone, Copy)]
pub struct Bytes;
/// [`Kind::Halves`].
#[derive(Debug, Clone, Copy)]
pub struct Halves;
/// [`Kind::Words`].
#[derive(Debug, Clone, Copy)]
pub struct Words;

/// Folding where the machine has sums and differences: the lowest and the highest bits of numbers, and bits from one to the other.
macro_rules! equal {
    ($name:ident, $add:ident, $sub:ident, $negative:ident, $low:expr, $list:expr) => {
        impl Arithmetic for $name {
            #[inline(always)]
            fn add<L: Lanes>(self, a: L, b: L) -> L {
                a.$add(b)
            }
            #[inline(always)]
            fn sub<L: Lanes>(self, a: L, b: L) -> L {
                a.$sub(b)
            }
            #[inline(always)]
            fn fold<L: Lanes>(self, value: L) -> L {
                value.$add(value).xor(value.$negative())
            }
            #[inline(always)]
            fn unfold<L: Lanes>(self, value: L) -> L {
                let low = value.and(L::splat($low));
                let half = value.xor(low).shr(1);
                half.xor(L::splat(0).$sub(low))
            }
            #[inline(always)]
            fn below(self, any: u32) -> u32 {
                below_of(&$list, any)
            }
            #[inline(always)]
            fn least_of_offsets(self, used: u32) -> u32 {
                least_of(&$list, used)
            }
            #[inline(always)]
            fn code(self, used: u32) -> u32 {
                code_of(&$list, HEADER_BITS / $list.len() as u32, used)
            }
            #[inline(always)]
            fn used(self, code: u32) -> u32 {
                used_of(&$list, HEADER_BITS / $list.len() as u32, code)
            }
        }
    };
}

equal!(Bytes, add8, sub8, negative8, 0x0101_0101, [(0, 8), (8, 8), (16, 8), (24, 8)]);
equal!(Halves, add16, sub16, negative16, 0x0001_0001, [(0, 16), (16, 16)]);
equal!(Words, add32, sub32, negative32, 1, [(0, 32)]);

impl Packed {
    /// All bits of the numbers whose lowest bits are `low`; `above` are the bits above their highest.
    #[inline(always)]
    fn filled<L: Lanes>(above: L, low: L) -> L {
        // What would be bit 32 is missing, modulo 2^32.
        above.sub32(low)
    }
}

impl Arithmetic for Packed {
    const FOLDS_SLOWLY: bool = true;
    #[inline(always)]
    fn add<L: Lanes>(self, a: L, b: L) -> L {
        a.add32(b)
    }
    #[inline(always)]
    fn sub<L: Lanes>(self, a: L, b: L) -> L {
        a.sub32(b)
    }
    #[inline(always)]
    fn fold<L: Lanes>(self, value: L) -> L {
        // Half a range more, and no number borrows from the next one.
        let halves = L::splat(self.high);
        let value = value.add32(halves).xor(halves);
        let high = value.and(halves);
        let first = high.and(L::splat(self.first_high));
        let low = first.shr(self.steps[0]).or(high.xor(first).shr(self.steps[1]));
        value.shl(1).and(L::splat(!self.low)).xor(Self::filled(high.shl(1), low))
    }
    #[inline(always)]
    fn unfold<L: Lanes>(self, value: L) -> L {
        let low = value.and(L::splat(self.low));
        let first = low.and(L::splat(self.first_low));
        let above = first.shl(self.steps[0] + 1).or(low.xor(first).shl(self.steps[1] + 1));
        let halves = L::splat(self.high);
        value.xor(low).shr(1).xor(Self::filled(above, low)).xor(halves).sub32(halves)
    }
    #[inline(always)]
    fn below(self, any: u32) -> u32 {
        below_of(&self.list[..self.count], any)
    }
    #[inline(always)]
    fn least_of_offsets(self, used: u32) -> u32 {
        least_of(&self.list[..self.count], used)
    }
    #[inline(always)]
    fn code(self, used: u32) -> u32 {
        code_of(&self.list[..self.count], self.width_bits, used)
    }
    #[inline(always)]
    fn used(self, code: u32) -> u32 {
        used_of(&self.list[..self.count], self.width_bits, code)
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::super::lanes::Portable;
    use super::*;
    use crate::format;

    fn of(format: vk::Format) -> Fields {
        Fields::of_color(format::info(format).unwrap())
    }

    #[test]
    fn numbers_of_formats() {
        let list = |format| of(format).packed.list[..of(format).packed.count].to_vec();
        assert_eq!(list(vk::Format::B10G11R11_UFLOAT_PACK32), [(0, 11), (11, 11), (22, 10)]);
        assert_eq!(list(vk::Format::E5B9G9R9_UFLOAT_PACK32), [(0, 9), (9, 9), (18, 9), (27, 5)]);
        assert_eq!(list(vk::Format::A2B10G10R10_UNORM_PACK32), [(0, 10), (10, 10), (20, 10), (30, 2)]);
        assert_eq!(
            list(vk::Format::R5G6B5_UNORM_PACK16),
            [(0, 5), (5, 6), (11, 5), (16, 5), (21, 6), (27, 5)],
            "two texels"
        );
        for (format, kind) in [
            (vk::Format::R8_UNORM, Kind::Bytes),
            (vk::Format::B8G8R8A8_SRGB, Kind::Bytes),
            (vk::Format::R8G8B8_UNORM, Kind::Bytes),
            (vk::Format::R16G16B16A16_SFLOAT, Kind::Halves),
            (vk::Format::R10X6_UNORM_PACK16, Kind::Halves),
            (vk::Format::R32G32_SFLOAT, Kind::Words),
            (vk::Format::R4G4_UNORM_PACK8, Kind::Packed),
            (vk::Format::BC1_RGB_UNORM_BLOCK, Kind::Bytes),
        ] {
            assert_eq!(of(format).kind, kind, "{format:?}");
        }
    }

    /// Every format's numbers fill words, and its masks fit them.
    #[test]
    fn all_formats_have_numbers() {
        for info in format::all().filter(|info| !info.is_depth_stencil()) {
            let fields = Fields::of_color(info);
            let mut next = 0;
            for &(offset, bits) in &fields.packed.list[..fields.packed.count] {
                assert_eq!(offset, next, "{:?}", info.format);
                assert!(bits > 0 && u32::from(bits) < 1 << fields.packed.width_bits);
                next = offset + bits;
            }
            assert_eq!(next, 32, "{:?}", info.format);
            assert_eq!(fields.packed.used(fields.packed.code(fields.packed.below(u32::MAX))), u32::MAX);
        }
    }

    proptest::proptest! {
        #[test]
        fn packed_numbers_keep_apart(a: u32, b: u32, format in 0usize..6) {
            let formats = [
                vk::Format::B10G11R11_UFLOAT_PACK32, vk::Format::E5B9G9R9_UFLOAT_PACK32, vk::Format::A2B10G10R10_UNORM_PACK32,
                vk::Format::R5G6B5_UNORM_PACK16, vk::Format::A1R5G5B5_UNORM_PACK16, vk::Format::R4G4_UNORM_PACK8,
            ];
            let fields = of(formats[format]);
            let (masks, one) = (fields.masks(), |lanes: Portable| lanes.store()[3]);
            let [x, y] = [a, b].map(Portable::splat);
            let folded = one(masks.fold(masks.sub(x, y)));
            proptest::prop_assert_eq!(one(masks.add(masks.unfold(masks.fold(masks.sub(x, y))), y)), a);
            for &(offset, bits) in &fields.packed.list[..fields.packed.count] {
                let mask = u32::MAX >> (32 - bits);
                let part = |word: u32| word >> offset & mask;
                // Numbers that differ by less than half a range, as all below them do, have the difference folded.
                let apart = |offset: u8, bits: u8| {
                    let [a, b] = [a, b].map(|word| i64::from(word >> offset & (u32::MAX >> (32 - bits))));
                    a - b
                };
                let difference = apart(offset, bits);
                let half = 1i64 << (bits - 1);
                let list = &fields.packed.list[..fields.packed.count];
                let below = list.iter().filter(|other| other.0 <= offset);
                if below.into_iter().all(|&(offset, bits)| (-(1 << (bits - 1))..1 << (bits - 1)).contains(&apart(offset, bits))) {
                    proptest::prop_assert!((-half..half).contains(&difference));
                    proptest::prop_assert_eq!(i64::from(part(folded)), ((difference << 1) ^ (difference >> 63)) & i64::from(mask));
                }
            }
        }

        #[test]
        fn equal_numbers_fold_and_unfold(a: u32) {
            let x = Portable::splat(a);
            proptest::prop_assert_eq!(Bytes.unfold(Bytes.fold(x)).store()[0], a);
            proptest::prop_assert_eq!(Halves.unfold(Halves.fold(x)).store()[0], a);
            proptest::prop_assert_eq!(Words.unfold(Words.fold(x)).store()[0], a);
            proptest::prop_assert_eq!(Words.fold(x).store()[0], ((a as i32) << 1 ^ (a as i32) >> 31) as u32);
        }
    }
}
