//! Decoding of ETC2 and EAC blocks: 4x4 texels with 64 bits of colour, of alpha, or of one 11-bit
//! channel.
//!
//! A block is one big-endian number, and its texels are numbered column by column. Source: Khronos
//! Data Format Specification, "ETC2 Compressed Texture Image Formats".

/// Texels of a block, row by row.
pub(super) type Block<T> = [T; 16];

/// Small and large brightness step of each table of the modes with two subblocks.
const STEPS: [[i32; 2]; 8] = [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// Distances of the modes T and H.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// Magnitudes of EAC's negative modifiers.
///
/// The positive modifier of the same index is the magnitude less 1.
const MODIFIERS: [[i32; 4]; 16] = [
    [3, 6, 9, 15],
    [3, 7, 10, 13],
    [2, 5, 8, 13],
    [2, 4, 6, 13],
    [3, 6, 8, 12],
    [3, 7, 9, 11],
    [4, 7, 8, 11],
    [3, 5, 8, 11],
    [2, 6, 8, 10],
    [2, 5, 8, 10],
    [2, 4, 8, 10],
    [2, 5, 7, 10],
    [3, 4, 7, 10],
    [1, 2, 3, 10],
    [4, 6, 8, 9],
    [3, 5, 7, 9],
];

type Rgb = [i32; 3];

/// A block as a 64-bit number, for access to its bit fields.
#[derive(Clone, Copy)]
struct Bits(u64);

impl Bits {
    fn field(self, low: u32, count: u32) -> i32 {
        (self.0 >> low) as i32 & ((1 << count) - 1)
    }

    fn signed(self, low: u32, count: u32) -> i32 {
        let unused = 32 - count;
        self.field(low, count) << unused >> unused
    }

    /// Returns the two-bit index of texel (`x`, `y`), which all modes but the planar one use.
    fn index(self, x: u32, y: u32) -> usize {
        let texel = x * 4 + y;
        (self.field(16 + texel, 1) << 1 | self.field(texel, 1)) as usize
    }
}

/// Extends `value` from `bits` bits to 8 bits by repetition of its high bits.
fn extended(value: i32, bits: u32) -> i32 {
    value << (8 - bits) | value >> (2 * bits - 8)
}

fn clamped(color: Rgb, alpha: u8) -> [u8; 4] {
    let [red, green, blue] = color.map(|value| value.clamp(0, 255) as u8);
    [red, green, blue, alpha]
}

fn moved(color: Rgb, by: i32) -> Rgb {
    color.map(|value| value + by)
}

/// Decodes a colour block to texels, red to alpha.
///
/// With `punch_through`, the differential bit is set if all texels are opaque, and the individual
/// mode does not exist.
pub(super) fn color(block: [u8; 8], punch_through: bool) -> Block<[u8; 4]> {
    let bits = Bits(u64::from_be_bytes(block));
    let flag = bits.field(33, 1) == 1;
    if !flag && !punch_through {
        return subblocks(bits, individual(bits), true);
    }
    let opaque = flag || !punch_through;
    let base = [59, 51, 43].map(|low| bits.field(low, 5));
    let sum: Rgb = std::array::from_fn(|channel| base[channel] + bits.signed(56 - 8 * channel as u32, 3));
    let outside = |channel: usize| !(0..32).contains(&sum[channel]);
    if outside(0) {
        return painted(bits, paint_t(bits), opaque);
    }
    if outside(1) {
        return painted(bits, paint_h(bits), opaque);
    }
    if outside(2) {
        return planar(bits);
    }
    subblocks(bits, [base, sum].map(|color| color.map(|value| extended(value, 5))), opaque)
}

fn individual(bits: Bits) -> [Rgb; 2] {
    [60, 56].map(|low| [low, low - 8, low - 16].map(|low| extended(bits.field(low, 4), 4)))
}

/// Decodes two subblocks, each with a colour that the texels make brighter or darker.
fn subblocks(bits: Bits, colors: [Rgb; 2], opaque: bool) -> Block<[u8; 4]> {
    let steps = [37, 34].map(|low| STEPS[bits.field(low, 3) as usize]);
    let flipped = bits.field(32, 1) == 1;
    std::array::from_fn(|texel| {
        let (x, y) = (texel as u32 % 4, texel as u32 / 4);
        let half = usize::from(if flipped { y >= 2 } else { x >= 2 });
        let [small, large] = steps[half];
        let small = if opaque { small } else { 0 };
        match bits.index(x, y) {
            2 if !opaque => [0; 4],
            index => clamped(moved(colors[half], [small, large, -small, -large][index]), 255),
        }
    })
}

/// Returns the four paint colours of mode T.
///
/// They are one colour, and another colour with a brighter and a darker variant.
fn paint_t(bits: Bits) -> [Rgb; 4] {
    let first = [bits.field(59, 2) << 2 | bits.field(56, 2), bits.field(52, 4), bits.field(48, 4)];
    let second = [44, 40, 36].map(|low| bits.field(low, 4));
    let [first, second] = [first, second].map(|color| color.map(|value| extended(value, 4)));
    let distance = DISTANCES[(bits.field(34, 2) << 1 | bits.field(32, 1)) as usize];
    [first, moved(second, distance), second, moved(second, -distance)]
}

/// Returns the four paint colours of mode H: two colours, each brighter and darker.
///
/// The order of the two colours is the lowest bit of the distance's index.
fn paint_h(bits: Bits) -> [Rgb; 4] {
    let green = bits.field(56, 3) << 1 | bits.field(52, 1);
    let blue = bits.field(51, 1) << 3 | bits.field(47, 3);
    let [first, second] = [[bits.field(59, 4), green, blue], [43, 39, 35].map(|low| bits.field(low, 4))];
    let in_order = i32::from(first >= second);
    let distance = DISTANCES[(bits.field(34, 1) << 2 | bits.field(32, 1) << 1 | in_order) as usize];
    let [first, second] = [first, second].map(|color| color.map(|value| extended(value, 4)));
    [moved(first, distance), moved(first, -distance), moved(second, distance), moved(second, -distance)]
}

fn painted(bits: Bits, paints: [Rgb; 4], opaque: bool) -> Block<[u8; 4]> {
    std::array::from_fn(|texel| match bits.index(texel as u32 % 4, texel as u32 / 4) {
        2 if !opaque => [0; 4],
        index => clamped(paints[index], 255),
    })
}

/// Decodes a plane through three colours.
///
/// The first colour is that of the first texel. The others are those of the texels that would
/// follow the last texel of its row and of its column.
fn planar(bits: Bits) -> Block<[u8; 4]> {
    let green = bits.field(56, 1) << 6 | bits.field(49, 6);
    let blue = bits.field(48, 1) << 5 | bits.field(43, 2) << 3 | bits.field(39, 3);
    let across = [bits.field(34, 5) << 1 | bits.field(32, 1), bits.field(25, 7), bits.field(19, 6)];
    let down = [bits.field(13, 6), bits.field(6, 7), bits.field(0, 6)];
    let wide = |[red, green, blue]: Rgb| [extended(red, 6), extended(green, 7), extended(blue, 6)];
    let [origin, across, down] = [[bits.field(57, 6), green, blue], across, down].map(wide);
    std::array::from_fn(|texel| {
        let (x, y) = (texel as i32 % 4, texel as i32 / 4);
        let color: Rgb = std::array::from_fn(|channel| {
            let start = origin[channel];
            (x * (across[channel] - start) + y * (down[channel] - start) + 4 * start + 2) >> 2
        });
        clamped(color, 255)
    })
}

/// Returns each texel's modifier in an EAC block, row by row.
fn modifiers(bits: Bits) -> Block<i32> {
    let table = MODIFIERS[bits.field(48, 4) as usize];
    std::array::from_fn(|texel| {
        let number = texel as u32 % 4 * 4 + texel as u32 / 4;
        let index = bits.field(45 - 3 * number, 3) as usize;
        if index < 4 { -table[index] } else { table[index - 4] - 1 }
    })
}

/// Decodes the alpha block of RGBA ETC2.
pub(super) fn alpha(block: [u8; 8]) -> Block<u8> {
    let bits = Bits(u64::from_be_bytes(block));
    let (base, multiplier) = (bits.field(56, 8), bits.field(52, 4));
    modifiers(bits).map(|modifier| (base + modifier * multiplier).clamp(0, 255) as u8)
}

/// Returns the difference that a modifier adds to an 11-bit channel.
fn step(modifier: i32, multiplier: i32) -> i32 {
    if multiplier == 0 { modifier } else { modifier * multiplier * 8 }
}

/// Decodes an 11-bit unsigned channel, extended to 16 bits by repetition.
pub(super) fn unsigned11(block: [u8; 8]) -> Block<u16> {
    let bits = Bits(u64::from_be_bytes(block));
    let (base, multiplier) = (bits.field(56, 8) * 8 + 4, bits.field(52, 4));
    modifiers(bits).map(|modifier| {
        let value = (base + step(modifier, multiplier)).clamp(0, 2047);
        (value << 5 | value >> 6) as u16
    })
}

/// Decodes an 11-bit signed channel, extended to 16 bits by repetition below the sign.
pub(super) fn signed11(block: [u8; 8]) -> Block<i16> {
    let bits = Bits(u64::from_be_bytes(block));
    let (base, multiplier) = (bits.signed(56, 8).max(-127) * 8, bits.field(52, 4));
    modifiers(bits).map(|modifier| {
        let value = (base + step(modifier, multiplier)).clamp(-1023, 1023);
        let size = value.abs() << 5 | value.abs() >> 5;
        (size * value.signum()) as i16
    })
}

#[cfg(test)]
mod tests;
