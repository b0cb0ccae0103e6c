//! Fields of a word, which hold one number each, and arithmetic on all fields at once.
//!
//! Numbers are modulo 2^n, and residuals are signed. A residual of small magnitude has few
//! significant low bits, of which the highest is the sign. For fields of 8, 16 or 32 bits the
//! machine has instructions. Words with other fields are added and subtracted as whole words.
//! Borrows between fields are undone when the fields of residuals are separated.

use smallvec::SmallVec;
use vitric_format::FormatInfo;

use super::lanes::Lanes;

/// Maximum number of fields of a word.
const MAX_FIELDS: usize = 8;
/// Bits of a line's header for the widths of residuals.
const HEADER_BITS: u32 = 24;

/// Arithmetic for the fields of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Four fields of 8 bits.
    Bytes,
    /// Two fields of 16 bits.
    Halves,
    /// One field of 32 bits.
    Words,
    /// Other fields.
    Packed,
}

/// Fields of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    pub(super) kind: FieldKind,
    packed: Packed,
}

/// Masks of fields of any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packed {
    /// First bit and number of bits of each field, ascending, without gaps.
    list: [(u8, u8); MAX_FIELDS],
    count: usize,
    /// Bits of the header for each field.
    width_bits: u32,
    /// Highest bits of all fields.
    high: u32,
    low: u32,
    /// See [`Above`].
    above: Above,
    /// Number of leading masks of `above` that are not empty.
    steps: usize,
}

/// Masks of all bits of fields except their lowest 1, 2, 4, 8 and 16.
type Above = [u32; 5];

/// Returns the [`Above`] masks of fields, given by first bit and number of bits.
const fn above(list: &[(u8, u8)]) -> Above {
    let (mut above, mut step) = ([u32::MAX; 5], 0);
    while step < above.len() {
        let mut number = 0;
        while number < list.len() {
            let lowest = (1u64 << (1 << step)) - 1;
            // Bits beyond a field's end are among the lowest bits of the next field, which the
            // mask excludes as well.
            above[step] &= !((lowest << list[number].0) as u32);
            number += 1;
        }
        step += 1;
    }
    above
}

impl Fields {
    /// Returns fields of equal widths: 8, 16 or 32 bits.
    fn equal(kind: FieldKind, bits: u8) -> Self {
        let numbers: SmallVec<[(u8, u8); MAX_FIELDS]> = (0..32 / bits).map(|number| (number * bits, bits)).collect();
        Self { kind, ..Self::packed(&numbers) }
    }

    fn packed(numbers: &[(u8, u8)]) -> Self {
        let mut list = [(0, 0); MAX_FIELDS];
        list[..numbers.len()].copy_from_slice(numbers);
        let mask =
            |bit: fn(u8) -> u8| numbers.iter().fold(0, |mask, (offset, bits)| mask | 1u32 << (offset + bit(*bits)));
        let packed = Packed {
            list,
            count: numbers.len(),
            width_bits: HEADER_BITS / numbers.len() as u32,
            high: mask(|bits| bits - 1),
            low: mask(|_| 0),
            above: above(numbers),
            steps: above(numbers).iter().take_while(|above| **above != 0).count(),
        };
        Self { kind: FieldKind::Packed, packed }
    }

    /// Returns fields of 8 bits, for formats without known structure.
    pub fn bytes() -> Self {
        Self::equal(FieldKind::Bytes, 8)
    }

    /// Returns the fields of depths of `bits` bits, as planes store them.
    pub fn of_depth(bits: u32) -> Self {
        if bits == 16 { Self::equal(FieldKind::Halves, 16) } else { Self::equal(FieldKind::Words, 32) }
    }

    /// Returns the fields of a colour format's words: components, gaps between components, and the
    /// fields of consecutive texels smaller than a word.
    pub fn of_color(info: &FormatInfo) -> Self {
        if info.compression.is_some() || info.is_planar() || info.channels.is_empty() {
            return Self::bytes();
        }
        let mut ends: SmallVec<[u8; MAX_FIELDS]> = SmallVec::new();
        let texel = (info.bytes * 8).min(32) as u8;
        for start in (0..32).step_by(texel.max(8).into()) {
            let inside = info.channels.iter().flat_map(|channel| [channel.offset, channel.offset + channel.bits]);
            ends.extend(inside.filter(|&end| end < texel).map(|end| start + end));
            ends.push(start + texel);
        }
        ends.sort_unstable();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let numbers: SmallVec<[(u8, u8); MAX_FIELDS]> =
            starts.zip(&ends).filter(|(start, end)| start != *end).map(|(start, &end)| (start, end - start)).collect();
        let mut widths: SmallVec<[u8; MAX_FIELDS]> = numbers.iter().map(|(_, bits)| *bits).collect();
        widths.sort_unstable();
        widths.dedup();
        match widths[..] {
            [8] => Self::bytes(),
            [16] => Self::equal(FieldKind::Halves, 16),
            // A component of fewer than 16 bits at the upper end of a 16-bit texel.
            [4, 12] | [6, 10] if info.bytes >= 2 && info.channels[0].offset > 0 => Self::equal(FieldKind::Halves, 16),
            [32] => Self::equal(FieldKind::Words, 32),
            _ if numbers.len() <= MAX_FIELDS => Self::packed(&numbers),
            _ => Self::bytes(),
        }
    }

    pub(super) fn masks(&self) -> Packed {
        self.packed
    }
}

/// Arithmetic on the fields of words.
pub trait Arithmetic: Copy {
    /// True if the significant bits are the lowest bits of each byte.
    const IS_LOW: bool;

    /// Adds fields.
    fn add<L: Lanes>(self, a: L, b: L) -> L;
    /// Subtracts fields.
    fn sub<L: Lanes>(self, a: L, b: L) -> L;
    /// Separates the fields of residuals, so that no field contains a borrow of another.
    fn without_borrows<L: Lanes>(self, value: L) -> L;
    /// Returns the bits of each field that differ from the next lower bit, with a zero below the
    /// lowest bit. The highest such bit of a field is its highest significant bit.
    fn changes<L: Lanes>(self, value: L) -> L;
    /// Sign-extends residuals of which only the significant low bits are set. `signs` is the
    /// highest significant bit of each field, its sign.
    #[inline(always)]
    fn sign_extend<L: Lanes>(self, value: L, signs: u32) -> L {
        let signs = L::splat(signs);
        self.sub(value.xor(signs), signs)
    }
    /// Returns the significant bits of each field for the bits that [`Self::changes`] returned:
    /// the highest of them and all lower bits of the field.
    fn significant_bits(self, any: u32) -> u32;
    /// Returns a lower bound of the number of bits that offsets need if slopes need the bits of a
    /// mask. A word is predicted from three others, so the range of its residuals is at most four
    /// times the range of the words.
    fn min_offset_bits(self, used: u32) -> u32;
    /// Returns true if fields are so narrow that slopes gain little over offsets. Offsets are then
    /// tried first, and used if they save half of the line.
    #[inline(always)]
    fn is_coarse(self) -> bool {
        false
    }
    /// Returns the highest bit of each field in a mask of significant bits.
    fn sign_bits(self, used: u32) -> u32;
    /// Returns the header for a mask of significant bits: the number of bits of each field.
    fn header(self, used: u32) -> u32;
    /// Returns the mask of significant bits for a header. Numbers beyond a field's width mean the
    /// whole field.
    fn used(self, code: u32) -> u32;
}

/// Implements [`Arithmetic::significant_bits`].
#[inline(always)]
fn significant_bits_of(above: &[u32], any: u32) -> u32 {
    let mut used = any;
    for (step, above) in above.iter().enumerate() {
        used |= (used & above) >> (1 << step);
    }
    used
}

/// Implements [`Arithmetic::sign_bits`].
#[inline(always)]
fn sign_bits_of(above: &Above, used: u32) -> u32 {
    used & !((used & above[0]) >> 1)
}

/// Implements [`Arithmetic::min_offset_bits`].
#[inline(always)]
fn min_offset_bits_of(above: &Above, used: u32) -> u32 {
    (used & above[1]).count_ones()
}

/// Implements [`Arithmetic::header`], with `width_bits` bits for each field in the header.
#[inline(always)]
fn header_of(list: &[(u8, u8)], width_bits: u32, used: u32) -> u32 {
    let mut code = 0;
    for (number, &(offset, bits)) in list.iter().enumerate() {
        code |= (used >> offset & (u32::MAX >> (32 - bits))).count_ones() << (number as u32 * width_bits);
    }
    code
}

/// Implements [`Arithmetic::used`], with `width_bits` bits for each field in the header.
#[inline(always)]
fn used_of(list: &[(u8, u8)], width_bits: u32, code: u32) -> u32 {
    let mut used = 0;
    for (number, &(offset, bits)) in list.iter().enumerate() {
        let width = code >> (number as u32 * width_bits) & ((1 << width_bits) - 1);
        used |= (((1u64 << width.min(bits.into())) - 1) << offset) as u32;
    }
    used
}

/// Arithmetic of [`FieldKind::Bytes`].
#[derive(Debug, Clone, Copy)]
pub struct Bytes;
/// Arithmetic of [`FieldKind::Halves`].
#[derive(Debug, Clone, Copy)]
pub struct Halves;
/// Arithmetic of [`FieldKind::Words`].
#[derive(Debug, Clone, Copy)]
pub struct Words;

/// Implements [`Arithmetic`] for fields that the machine can add and subtract directly.
macro_rules! equal {
    ($name:ident, $add:ident, $sub:ident, $list:expr) => {
        impl Arithmetic for $name {
            const IS_LOW: bool = true;

            #[inline(always)]
            fn add<L: Lanes>(self, a: L, b: L) -> L {
                a.$add(b)
            }
            #[inline(always)]
            fn sub<L: Lanes>(self, a: L, b: L) -> L {
                a.$sub(b)
            }
            #[inline(always)]
            fn without_borrows<L: Lanes>(self, value: L) -> L {
                value
            }
            #[inline(always)]
            fn changes<L: Lanes>(self, value: L) -> L {
                value.xor(value.$add(value))
            }
            #[inline(always)]
            fn significant_bits(self, any: u32) -> u32 {
                significant_bits_of(&const { above(&$list) }, any)
            }
            #[inline(always)]
            fn min_offset_bits(self, used: u32) -> u32 {
                min_offset_bits_of(&const { above(&$list) }, used)
            }
            #[inline(always)]
            fn sign_bits(self, used: u32) -> u32 {
                sign_bits_of(&const { above(&$list) }, used)
            }
            #[inline(always)]
            fn header(self, used: u32) -> u32 {
                header_of(&$list, HEADER_BITS / $list.len() as u32, used)
            }
            #[inline(always)]
            fn used(self, code: u32) -> u32 {
                used_of(&$list, HEADER_BITS / $list.len() as u32, code)
            }
        }
    };
}

equal!(Bytes, add8, sub8, [(0, 8), (8, 8), (16, 8), (24, 8)]);
equal!(Halves, add16, sub16, [(0, 16), (16, 16)]);
equal!(Words, add32, sub32, [(0, 32)]);

impl Arithmetic for Packed {
    const IS_LOW: bool = false;

    #[inline(always)]
    fn add<L: Lanes>(self, a: L, b: L) -> L {
        a.add32(b)
    }
    #[inline(always)]
    fn sub<L: Lanes>(self, a: L, b: L) -> L {
        a.sub32(b)
    }
    #[inline(always)]
    fn without_borrows<L: Lanes>(self, value: L) -> L {
        // Adding half of each field's range cancels the borrow that a negative field took from the
        // next field.
        let halves = L::splat(self.high);
        value.add32(halves).xor(halves)
    }
    #[inline(always)]
    fn changes<L: Lanes>(self, value: L) -> L {
        value.xor(value.add32(value).and(L::splat(!self.low)))
    }
    #[inline(always)]
    fn significant_bits(self, any: u32) -> u32 {
        significant_bits_of(&self.above[..self.steps], any)
    }
    #[inline(always)]
    fn min_offset_bits(self, used: u32) -> u32 {
        min_offset_bits_of(&self.above, used)
    }
    #[inline(always)]
    fn is_coarse(self) -> bool {
        // The word holds several texels.
        self.count > 4
    }
    #[inline(always)]
    fn sign_bits(self, used: u32) -> u32 {
        sign_bits_of(&self.above, used)
    }
    #[inline(always)]
    fn header(self, used: u32) -> u32 {
        header_of(&self.list[..self.count], self.width_bits, used)
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
    use vitric_format as format;

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
            (vk::Format::R8_UNORM, FieldKind::Bytes),
            (vk::Format::B8G8R8A8_SRGB, FieldKind::Bytes),
            (vk::Format::R8G8B8_UNORM, FieldKind::Bytes),
            (vk::Format::R16G16B16A16_SFLOAT, FieldKind::Halves),
            (vk::Format::R10X6_UNORM_PACK16, FieldKind::Halves),
            (vk::Format::R32G32_SFLOAT, FieldKind::Words),
            (vk::Format::R4G4_UNORM_PACK8, FieldKind::Packed),
            (vk::Format::BC1_RGB_UNORM_BLOCK, FieldKind::Bytes),
        ] {
            assert_eq!(of(format).kind, kind, "{format:?}");
        }
    }

    /// Every format's fields fill words, and its header fits them.
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
            assert_eq!(fields.packed.used(fields.packed.header(fields.packed.significant_bits(u32::MAX))), u32::MAX);
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
            let difference = masks.without_borrows(masks.sub(x, y));
            let used = masks.significant_bits(one(masks.changes(difference)));
            let kept = one(difference) & used;
            let whole = masks.sign_extend(Portable::splat(kept), masks.sign_bits(used));
            proptest::prop_assert_eq!(one(masks.add(whole, y)), a);
            for &(offset, bits) in &fields.packed.list[..fields.packed.count] {
                let mask = u32::MAX >> (32 - bits);
                let part = |word: u32| word >> offset & mask;
                // A field contains exactly the difference if it and all lower fields differ by
                // less than half of their range.
                let difference_of = |offset: u8, bits: u8| {
                    let [a, b] = [a, b].map(|word| i64::from(word >> offset & (u32::MAX >> (32 - bits))));
                    a - b
                };
                let expected = difference_of(offset, bits);
                let half = 1i64 << (bits - 1);
                let list = &fields.packed.list[..fields.packed.count];
                let below = list.iter().filter(|other| other.0 <= offset);
                if below.into_iter().all(|&(offset, bits)| (-(1 << (bits - 1))..1 << (bits - 1)).contains(&difference_of(offset, bits))) {
                    proptest::prop_assert!((-half..half).contains(&expected));
                    proptest::prop_assert_eq!(i64::from(part(one(difference))), expected & i64::from(mask));
                    // The magnitude's bits plus a sign bit are needed.
                    let magnitude = if expected < 0 { !expected } else { expected };
                    let needed = if expected == 0 { 0 } else { 65 - magnitude.leading_zeros() };
                    proptest::prop_assert_eq!(part(used).count_ones(), needed);
                }
            }
        }

        #[test]
        fn equal_numbers_need_few_bits(a: u32, shift in 0u32..32) {
            let value = (a as i32 >> shift) as u32;
            let bits = |arithmetic: &dyn Fn(Portable) -> [u32; 3]| arithmetic(Portable::splat(value));
            fn of<A: Arithmetic>(arithmetic: A, value: Portable) -> [u32; 3] {
                let used = arithmetic.significant_bits(arithmetic.changes(value).store()[0]);
                let kept = Portable::splat(value.store()[0] & used);
                [used, arithmetic.sign_bits(used), arithmetic.sign_extend(kept, arithmetic.sign_bits(used)).store()[0]]
            }
            let [used, signs, back] = bits(&|value| of(Words, value));
            let magnitude = value ^ (value as i32 >> 31) as u32;
            let needed = if value == 0 { 0 } else { 33 - magnitude.leading_zeros() };
            proptest::prop_assert_eq!((used.count_ones(), used.trailing_ones(), back), (needed, needed, value));
            proptest::prop_assert_eq!(signs, used & !(used >> 1));
            proptest::prop_assert_eq!(bits(&|value| of(Halves, value))[2], value);
            proptest::prop_assert_eq!(bits(&|value| of(Bytes, value))[2], value);
        }
    }
}
