//! Line codec: codes 256 bytes of a surface in 64, 128 or 192 bytes, or stores them uncoded.
//!
//! The codec is lossless for any bytes, and its output is identical on every machine. Each line is
//! coded independently, so that it can be read and rewritten independently. Its two bits in the
//! render control surface give the number of sub-blocks of 64 bytes ([`Control`]). A coded line
//! begins with a word that contains the mode and the number of significant low bits of each field
//! of a word. The mode's parameters follow, then one plane of 64 bits for each significant bit
//! (`lanes`), then zeros.
//!
//! - *offset*: residuals are differences from the first word of the block. A constant line has no
//!   planes.
//! - *slope*: each word is predicted from its neighbours as `left + upper - upper_left`, which is
//!   exact for any plane. In a block's first row and column, the prediction is one neighbour plus a
//!   slope, which is a parameter. For depth and gradients.
//! - *two values*: each texel is one of two, selected by a mask. For edges between two constant
//!   colours.
//!
//! Source: DESIGN 3.6. The predictor is known from lossless image coders (Lorenzo's; the "plane"
//! of Weinberger, Seroussi and Sapiro, "LOCO-I", 1996).

mod fields;
mod lanes;
mod shape;

use vitric_format::FormatInfo;

use self::fields::{Arithmetic, Bytes, FieldKind, Fields, Halves, Words};
use self::lanes::{Lanes, Portable, Rows};
use self::shape::{ROW, Shape};

/// Bytes of a line.
pub const LINE: usize = 256;
/// Bytes of a sub-block.
pub const SUB_BLOCK: usize = 64;
/// Words of a line.
const LINE_WORDS: usize = LINE / 4;

/// Line, coded or uncoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [u32; LINE_WORDS]);

impl Line {
    /// Line of zeros.
    pub const ZERO: Self = Self([0; LINE_WORDS]);

    /// Creates a line from its bytes in memory order.
    pub fn of_bytes(bytes: &[u8; LINE]) -> Self {
        let mut line = Self::ZERO;
        line.bytes_mut().copy_from_slice(bytes);
        line
    }

    /// Returns the bytes of the line.
    pub fn bytes(&self) -> &[u8; LINE] {
        bytemuck::must_cast_ref(self)
    }

    /// Returns the bytes of the line for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8; LINE] {
        bytemuck::must_cast_mut(self)
    }

    fn rows(&self) -> &[[u32; ROW]; ROW] {
        bytemuck::must_cast_ref(&self.0)
    }
}

/// Value of a line in the render control surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Control {
    /// One sub-block.
    One,
    /// Two sub-blocks.
    Two,
    /// Three sub-blocks.
    Three,
    /// Four sub-blocks: the line is uncoded.
    Raw,
}

impl Control {
    /// All values, in order of the number of sub-blocks.
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Three, Self::Raw];

    /// Converts the two bits of the render control surface.
    pub fn of_bits(bits: u64) -> Self {
        Self::ALL[(bits & 3) as usize]
    }

    /// Returns the least value that holds `bytes` bytes.
    fn of_bytes(bytes: usize) -> Self {
        Self::ALL[bytes.div_ceil(SUB_BLOCK).clamp(1, 4) - 1]
    }

    /// Returns the number of sub-blocks of the line, 1 to 4.
    pub fn sub_blocks(self) -> usize {
        self as usize + 1
    }

    /// Returns the number of bytes of the line.
    pub fn bytes(self) -> usize {
        self.sub_blocks() * SUB_BLOCK
    }
}

/// Mode of a coded line: the lowest byte of its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Mode {
    Offset = 1,
    Slope = 2,
    TwoValues = 3,
}

/// Codec for the lines of a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec {
    shape: Shape,
    fields: Fields,
    width: Width,
}

/// Instruction set for which the codec is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    fn of_machine() -> Self {
        #[cfg(target_arch = "x86_64")]
        match (lanes::has_avx2(), lanes::has_avx512()) {
            (_, true) => return Self::Avx512,
            (true, false) => return Self::Avx2,
            (false, false) => {}
        }
        Self::Portable
    }
}

impl Codec {
    fn new(shape: Shape, fields: Fields) -> Self {
        Self { shape, fields, width: Width::of_machine() }
    }

    /// Creates the codec for colours of a format.
    pub fn of_color(info: &FormatInfo) -> Self {
        let fields = Fields::of_color(info);
        // Formats of more than four bytes with byte fields are compressed blocks. Their bytes
        // cannot be predicted from neighbours, so their lines are plain rows of words.
        let is_known = info.bytes <= 4 || matches!(fields.kind, FieldKind::Halves | FieldKind::Words);
        Self::new(if is_known { Shape::of(info.bytes) } else { Shape::Rows }, fields)
    }

    /// Creates the codec for depths of 16, 24 or 32 bits. Depths of 24 and 32 bits are stored in
    /// four bytes.
    pub fn of_depth(bits: u32) -> Self {
        Self::new(Shape::of(if bits == 16 { 2 } else { 4 }), Fields::of_depth(bits))
    }

    /// Creates the codec for stencil values, and for bytes of unknown format.
    pub fn of_bytes() -> Self {
        Self::new(Shape::Singles, Fields::bytes())
    }

    /// Codes a line. The function writes the sub-blocks that the result counts; the others are
    /// unspecified.
    pub fn encode(&self, line: &Line, out: &mut Line) -> Control {
        match self.width {
            // SAFETY: the machine was found to have the features for which the function is
            // compiled. The function has no other requirements.
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => unsafe { encode_widest(self, line, out) },
            // SAFETY: the machine was found to have the features for which the function is
            // compiled. The function has no other requirements.
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => unsafe { encode_wide(self, line, out) },
            Width::Portable => encode::<Portable>(self, line, out),
        }
    }

    /// Decodes the output of [`Self::encode`]. Any other input gives an unspecified line, which is
    /// identical on every machine.
    pub fn decode(&self, control: Control, coded: &Line, line: &mut Line) {
        match self.width {
            // SAFETY: the machine was found to have the features for which the function is
            // compiled. The function has no other requirements.
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => unsafe { decode_widest(self, control, coded, line) },
            // SAFETY: the machine was found to have the features for which the function is
            // compiled. The function has no other requirements.
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => unsafe { decode_wide(self, control, coded, line) },
            Width::Portable => decode::<Portable>(self, control, coded, line),
        }
    }
}

/// Declares encoding and decoding functions compiled for more instruction sets.
macro_rules! compiled_for {
    ($lanes:ty, $features:literal, $encode:ident, $decode:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $encode(codec: &Codec, line: &Line, out: &mut Line) -> Control {
            encode::<$lanes>(codec, line, out)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        fn $decode(codec: &Codec, control: Control, coded: &Line, line: &mut Line) {
            decode::<$lanes>(codec, control, coded, line);
        }
    };
}

compiled_for!(lanes::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt", encode_wide, decode_wide);
compiled_for!(
    lanes::Avx512,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,avx2,bmi1,bmi2,lzcnt,popcnt",
    encode_widest,
    decode_widest
);

/// Calls a function with the shape and the arithmetic of a codec as compile-time constants, so
/// that loops over rows are unrolled.
macro_rules! with_known {
    ($codec:expr, $function:ident::<$lanes:ty>($($arg:expr),*)) => {
        match ($codec.shape, $codec.fields.kind) {
            (Shape::Singles, _) => $function::<$lanes, _>(Bytes, Shape::Singles, $($arg),*),
            (Shape::Pairs, FieldKind::Bytes) => $function::<$lanes, _>(Bytes, Shape::Pairs, $($arg),*),
            (Shape::Pairs, FieldKind::Packed) => $function::<$lanes, _>($codec.fields.masks(), Shape::Pairs, $($arg),*),
            (Shape::Pairs, _) => $function::<$lanes, _>(Halves, Shape::Pairs, $($arg),*),
            (Shape::Words, FieldKind::Bytes) => $function::<$lanes, _>(Bytes, Shape::Words, $($arg),*),
            (Shape::Words, FieldKind::Halves) => $function::<$lanes, _>(Halves, Shape::Words, $($arg),*),
            (Shape::Words, FieldKind::Packed) => $function::<$lanes, _>($codec.fields.masks(), Shape::Words, $($arg),*),
            (Shape::Words, FieldKind::Words) => $function::<$lanes, _>(Words, Shape::Words, $($arg),*),
            (Shape::Doubles, FieldKind::Words) => $function::<$lanes, _>(Words, Shape::Doubles, $($arg),*),
            (Shape::Doubles, _) => $function::<$lanes, _>(Halves, Shape::Doubles, $($arg),*),
            (Shape::Quadruples, _) => $function::<$lanes, _>(Words, Shape::Quadruples, $($arg),*),
            (Shape::Rows, _) => $function::<$lanes, _>(Bytes, Shape::Rows, $($arg),*),
        }
    };
}

#[inline(always)]
fn encode<L: Lanes>(codec: &Codec, line: &Line, out: &mut Line) -> Control {
    with_known!(codec, encode_with::<L>(line, out))
}

#[inline(always)]
fn decode<L: Lanes>(codec: &Codec, control: Control, coded: &Line, line: &mut Line) {
    if control == Control::Raw {
        *line = *coded;
        return;
    }
    with_known!(codec, decode_with::<L>(control, coded, line));
}

/// Returns the bytes of a coded line with `parameters` words of parameters and `planes` planes.
#[inline(always)]
fn bytes_of(parameters: usize, planes: u32) -> usize {
    4 + 4 * parameters + 8 * planes as usize
}

/// Parameters of all blocks, in words.
#[derive(Clone, Copy)]
struct Parameters {
    words: [u32; 12],
    count: usize,
}

impl Parameters {
    /// Returns the first word of each block.
    #[inline(always)]
    fn of_offsets(shape: Shape, line: &Line) -> Self {
        let mut parameters = Self { words: [0; 12], count: shape.blocks() };
        for block in 0..shape.blocks() {
            let (y, x) = shape.corner(block);
            parameters.words[block] = line.0[shape.word(x, y)];
        }
        parameters
    }

    /// Returns the first word and the slopes of a block.
    #[inline(always)]
    fn of_block(&self, block: usize) -> [u32; 3] {
        [self.words[block * 3], self.words[block * 3 + 1], self.words[block * 3 + 2]]
    }
}

/// Residuals and the significant bits of their fields. `used` may lack bits if the residuals are
/// too large to be coded anyway.
struct Residuals<L> {
    rows: Rows<L>,
    parameters: Parameters,
    mode: Mode,
    used: u32,
}

impl<L: Lanes> Residuals<L> {
    /// Separates the fields of residuals, and finds the significant bits. If the first half of the
    /// rows already needs more than three sub-blocks, the line is noise, and the function skips
    /// the other rows.
    #[inline(always)]
    fn new(arithmetic: impl Arithmetic, mode: Mode, rows: Rows<L>, parameters: Parameters) -> Self {
        let mut residuals = Self { rows, parameters, mode, used: 0 };
        let mut changes = L::splat(0);
        for y in 0..ROW {
            let row = arithmetic.without_borrows(residuals.rows[y]);
            residuals.rows[y] = row;
            changes = changes.or(arithmetic.changes(row));
            if y == ROW / 2 - 1 {
                // A lower bound of the significant bits. The bits below the highest are added at
                // the end.
                residuals.used = changes.any();
                if residuals.bytes() > LINE - SUB_BLOCK {
                    return residuals;
                }
            }
        }
        residuals.used = arithmetic.significant_bits(changes.any());
        residuals
    }

    /// Returns the residuals of a constant line: offsets of zero.
    #[inline(always)]
    fn constant(parameters: Parameters) -> Self {
        Self { rows: [L::splat(0); ROW], parameters, mode: Mode::Offset, used: 0 }
    }

    #[inline(always)]
    fn bytes(&self) -> usize {
        bytes_of(self.parameters.count, self.used.count_ones())
    }

    #[inline(always)]
    fn write<A: Arithmetic>(&self, arithmetic: A, out: &mut Line) -> Control {
        let control = Control::of_bytes(self.bytes());
        // Copies of constant length compile to a few instructions: zeros, then all parameter
        // words, which are zero behind the last parameter.
        let blocks: &mut [[u32; SUB_BLOCK / 4]; 4] = bytemuck::must_cast_mut(&mut out.0);
        blocks[..control.sub_blocks()].iter_mut().for_each(|block| *block = [0; SUB_BLOCK / 4]);
        out.0[0] = self.mode as u32 | arithmetic.header(self.used) << 8;
        out.0[1..13].copy_from_slice(&self.parameters.words);
        let end = 1 + self.parameters.count;
        if self.used != 0 {
            let start = end + self.used.count_ones() as usize * 2;
            let planes = bytemuck::cast_slice_mut::<u32, u8>(&mut out.0[end..start]).as_chunks_mut().0;
            if A::IS_LOW {
                L::gather::<true>(&self.rows, self.used, planes);
            } else {
                L::gather::<false>(&self.rows, self.used, planes);
            }
        }
        control
    }
}

#[inline(always)]
fn encode_with<L: Lanes, A: Arithmetic>(arithmetic: A, shape: Shape, line: &Line, out: &mut Line) -> Control {
    let rows = L::arrange(shape, line.rows());
    let bases = Parameters::of_offsets(shape, line);
    if is_constant(shape, &rows, &bases) {
        return Residuals::<L>::constant(bases).write(arithmetic, out);
    }
    if arithmetic.is_coarse() {
        let offsets = offset_residuals(arithmetic, shape, &rows, bases);
        let control = Control::of_bytes(offsets.bytes());
        let is_noise = offsets.used == u32::MAX;
        let is_last = control == Control::Two || is_noise;
        if is_last && may_be_two_values(line) && encode_two_values::<L>(shape, line, out) {
            return Control::One;
        }
        if control <= Control::Two {
            return offsets.write(arithmetic, out);
        }
        if is_noise {
            *out = *line;
            return Control::Raw;
        }
    }
    let slopes = slope_residuals(arithmetic, shape, &rows);
    let by_slopes = Control::of_bytes(slopes.bytes());
    if by_slopes == Control::One {
        return slopes.write(arithmetic, out);
    }
    if may_be_two_values(line) && encode_two_values::<L>(shape, line, out) {
        return Control::One;
    }
    if Control::of_bytes(min_offset_bytes(arithmetic, shape, slopes.used)) < by_slopes {
        let offsets = offset_residuals(arithmetic, shape, &rows, bases);
        if Control::of_bytes(offsets.bytes()) < by_slopes {
            return offsets.write(arithmetic, out);
        }
    }
    if by_slopes < Control::Raw {
        return slopes.write(arithmetic, out);
    }
    *out = *line;
    Control::Raw
}

/// Returns a lower bound of the bytes of offset residuals if slope residuals need these bits.
#[inline(always)]
fn min_offset_bytes(arithmetic: impl Arithmetic, shape: Shape, used: u32) -> usize {
    bytes_of(shape.blocks(), arithmetic.min_offset_bits(used))
}

#[inline(always)]
fn decode_with<L: Lanes, A: Arithmetic>(arithmetic: A, shape: Shape, control: Control, coded: &Line, line: &mut Line) {
    let (mode, code) = (coded.0[0] & 0xff, coded.0[0] >> 8);
    if mode == Mode::TwoValues as u32 {
        decode_two_values::<L>(shape, coded, line);
        return;
    }
    let is_slope = mode == Mode::Slope as u32;
    let used = if code == 0 { 0 } else { arithmetic.used(code) };
    let head = 1 + shape.blocks() * if is_slope { 3 } else { 1 };
    let planes = used.count_ones() as usize;
    if 4 * head + 8 * planes > control.bytes() {
        *line = Line::ZERO;
        return;
    }
    // At most three sub-blocks are coded, so there are enough spare elements behind the last
    // plane.
    let planes = bytemuck::cast_slice::<u32, u8>(&coded.0[head..]).as_chunks().0;
    let mut parameters = Parameters { words: [0; 12], count: head - 1 };
    parameters.words.copy_from_slice(&coded.0[1..13]);
    let mut rows = [L::splat(0); ROW];
    if used != 0 {
        rows = if A::IS_LOW { L::scatter::<true>(used, planes) } else { L::scatter::<false>(used, planes) };
        let signs = arithmetic.sign_bits(used);
        for row in &mut rows {
            *row = arithmetic.sign_extend(*row, signs);
        }
    }
    if is_slope {
        from_slopes(arithmetic, shape, &mut rows, &parameters);
    } else {
        from_offsets(arithmetic, shape, &mut rows, &parameters);
    }
    *bytemuck::must_cast_mut(&mut line.0) = L::restore(shape, &rows);
}

// The code below uses loops instead of closures, for the reason given in `lanes`.

/// Returns the first word of each lane's block, along a row.
#[inline(always)]
fn base<L: Lanes>(shape: Shape, parameters: &Parameters, y: usize) -> L {
    let block = y / shape.height() * (1 + usize::from(shape.is_split()));
    across_blocks(shape, parameters.words[block], parameters.words[block + usize::from(shape.is_split())])
}

/// Returns a row with one word for the left block and one for the right.
#[inline(always)]
fn across_blocks<L: Lanes>(shape: Shape, left: u32, right: u32) -> L {
    const LEFT: [u32; ROW] = [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0, 0, 0, 0];
    if shape.is_split() { L::splat(left).select(L::load(&LEFT), L::splat(right)) } else { L::splat(left) }
}

#[inline(always)]
fn offset_residuals<L: Lanes, A: Arithmetic>(
    arithmetic: A,
    shape: Shape,
    rows: &Rows<L>,
    parameters: Parameters,
) -> Residuals<L> {
    let mut offsets = *rows;
    for (y, row) in offsets.iter_mut().enumerate() {
        *row = arithmetic.sub(*row, base::<L>(shape, &parameters, y));
    }
    Residuals::new(arithmetic, Mode::Offset, offsets, parameters)
}

#[inline(always)]
fn is_constant<L: Lanes>(shape: Shape, rows: &Rows<L>, parameters: &Parameters) -> bool {
    let mut differ = L::splat(0);
    for (y, row) in rows.iter().enumerate() {
        differ = differ.or(row.xor(base::<L>(shape, parameters, y)));
    }
    differ.any() == 0
}

#[inline(always)]
fn from_offsets<L: Lanes, A: Arithmetic>(arithmetic: A, shape: Shape, rows: &mut Rows<L>, parameters: &Parameters) {
    for (y, row) in rows.iter_mut().enumerate() {
        *row = arithmetic.add(*row, base::<L>(shape, parameters, y));
    }
}

/// Returns the part of a row's prediction that is independent of neighbours. It consists of each
/// block's first word and its slopes along the first row and the first column.
#[inline(always)]
fn expected<L: Lanes>(shape: Shape, parameters: &Parameters, y: usize) -> L {
    let block = y / shape.height() * (1 + usize::from(shape.is_split()));
    let [base, along, down] = parameters.of_block(block);
    let [other_base, other_along, other_down] = parameters.of_block(block + usize::from(shape.is_split()));
    let first_column = [u32::MAX, 0, 0, 0, if shape.is_split() { u32::MAX } else { 0 }, 0, 0, 0];
    let first_column = L::load(&first_column);
    if y.is_multiple_of(shape.height()) {
        let bases = across_blocks::<L>(shape, base, other_base);
        bases.select(first_column, across_blocks(shape, along, other_along))
    } else {
        across_blocks::<L>(shape, down, other_down).and(first_column)
    }
}

#[inline(always)]
fn slope_residuals<L: Lanes, A: Arithmetic>(arithmetic: A, shape: Shape, rows: &Rows<L>) -> Residuals<L> {
    let height = shape.height();
    let mut across = *rows;
    for (y, row) in across.iter_mut().enumerate() {
        if !y.is_multiple_of(height) {
            *row = arithmetic.sub(*row, rows[y - 1]);
        }
        *row = arithmetic.sub(*row, row.up::<1>(shape.is_split()));
    }
    let mut parameters = Parameters { words: [0; 12], count: 3 * shape.blocks() };
    for block in 0..shape.blocks() {
        let (y, x) = shape.corner(block);
        let (first, middle) = (across[y].store(), across[y + height / 2].store());
        // The slopes are measured in the middle of the first row and column. Other positions are
        // equally good.
        let along = if shape.is_split() { 2 } else { 4 };
        parameters.words[block * 3..][..3].copy_from_slice(&[first[x], first[x + along], middle[x]]);
    }
    for (y, row) in across.iter_mut().enumerate() {
        *row = arithmetic.sub(*row, expected::<L>(shape, &parameters, y));
    }
    Residuals::new(arithmetic, Mode::Slope, across, parameters)
}

#[inline(always)]
fn from_slopes<L: Lanes, A: Arithmetic>(arithmetic: A, shape: Shape, rows: &mut Rows<L>, parameters: &Parameters) {
    let split = shape.is_split();
    for (y, row) in rows.iter_mut().enumerate() {
        let sum = arithmetic.add(*row, expected::<L>(shape, parameters, y));
        let sum = arithmetic.add(sum, sum.up::<1>(split));
        let sum = arithmetic.add(sum, sum.up::<2>(split));
        *row = if split { sum } else { arithmetic.add(sum, sum.up::<4>(false)) };
    }
    for y in 1..ROW {
        if !y.is_multiple_of(shape.height()) {
            rows[y] = arithmetic.add(rows[y], rows[y - 1]);
        }
    }
}

/// Returns eight words of repeated texels of up to four words.
#[inline(always)]
fn repeated<L: Lanes>(texel: [u32; 4]) -> L {
    let [a, b, c, d] = texel;
    L::load(&[a, b, c, d, a, b, c, d])
}

/// Returns true if four sampled words of the line have at most two values. This test rejects most
/// lines cheaply.
#[inline(always)]
fn may_be_two_values(line: &Line) -> bool {
    let [a, b, c, d] = [0, 20, 40, 60].map(|word: usize| line.0[word]);
    let other = if a != b { b } else { c };
    (c == a || c == other) && (d == a || d == other || other == a)
}

/// Codes a line of two texels. Returns false and leaves `out` unchanged if the line has other
/// texels.
#[inline(always)]
fn encode_two_values<L: Lanes>(shape: Shape, line: &Line, out: &mut Line) -> bool {
    let period = shape.period();
    let mut first = [0; 4];
    for (word, first) in first.iter_mut().enumerate() {
        *first = line.0[word % period];
    }
    let pattern = repeated::<L>(first);
    let mut others = 0u64;
    for (number, words) in line.rows().iter().enumerate() {
        others |= u64::from(!L::load(words).equal(pattern) & 0xff) << (8 * number);
    }
    // The words with index `word` in their texels are every `period`th word.
    let every = u64::MAX / ((1u64 << period) - 1);
    let mut second = first;
    for (word, second) in second.iter_mut().enumerate() {
        let place = (others & every << (word % period)).trailing_zeros();
        if place < 64 {
            *second = line.0[place as usize];
        }
    }
    let pattern = repeated::<L>(second);
    for (number, words) in line.rows().iter().enumerate() {
        let is_other = (others >> (8 * number)) as u32 & 0xff;
        if L::load(words).equal(pattern) & is_other != is_other {
            return false;
        }
    }
    out.0[..16].fill(0);
    out.0[0] = Mode::TwoValues as u32;
    out.0[1..5].copy_from_slice(&first);
    out.0[5..9].copy_from_slice(&second);
    out.0[9] = others as u32;
    out.0[10] = (others >> 32) as u32;
    true
}

#[inline(always)]
fn decode_two_values<L: Lanes>(shape: Shape, coded: &Line, line: &mut Line) {
    let texel = |start: usize| repeated::<L>(std::array::from_fn(|word| coded.0[start + word % shape.period()]));
    let (first, second) = (texel(1), texel(5));
    let change = first.xor(second);
    let places = L::load(&std::array::from_fn(|lane| 1 << lane));
    let words: &mut [[u32; ROW]; ROW] = bytemuck::must_cast_mut(&mut line.0);
    for (number, words) in words.iter_mut().enumerate() {
        let mask = coded.0[9 + number / 4] >> (8 * (number % 4)) & 0xff;
        // All ones in lanes whose mask bit is set: negation propagates the bit to the sign, which
        // is then spread to all bits.
        let chosen = L::splat(mask).and(places);
        let ones = L::splat(0).sub32(chosen).or(chosen);
        let ones = L::splat(0).sub32(ones.shr(31));
        *words = first.xor(change.and(ones)).store();
    }
}

#[cfg(test)]
mod tests;
