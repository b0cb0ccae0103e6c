//! Blits by generated code.
//!
//! Rows of the source are read in memory order, filtered and converted sixteen texels at once, and
//! written as whole lines.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ash::vk;
use parking_lot::Mutex;
use vitric_base::simd::WAVE;
use vitric_base::workers::Workers;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Deadline, Environment, Runs, Wave};
use vitric_exec::{Program, format_ir as routines};
use vitric_format::FormatInfo;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp as B, Builder, Inst, Type, Value};
use vitric_memory::PlaneRef;

/// Number of rows and columns of a line of texels. The rows of a line are read and written
/// together.
const ROWS: u32 = 8;

/// Number of source rows per target row above which only the needed rows are read.
const SPARSE: f32 = 2.0;

/// A conversion program; `None` if both formats are equal and texels are not filtered.
pub(super) type Conversion = Option<Arc<Program>>;

/// Key of a conversion in the cache.
#[derive(PartialEq, Eq, Hash)]
struct ConversionKey {
    from: vk::Format,
    to: vk::Format,
    /// True if four texels are filtered.
    mixes: bool,
}

/// Cache of conversions; `None` for formats without a conversion program.
static CONVERSIONS: LazyLock<Mutex<HashMap<ConversionKey, Option<Conversion>>>> = LazyLock::new(Mutex::default);

/// Returns the conversion of texels between formats, which filters four texels if `mixes` is true.
/// Returns `None` if each texel has to be converted separately.
pub(super) fn conversion(from: &FormatInfo, to: &FormatInfo, mixes: bool) -> Option<Conversion> {
    let mut known = CONVERSIONS.lock();
    known
        .entry(ConversionKey { from: from.format, to: to.format, mixes })
        .or_insert_with(|| made(from, to, mixes))
        .clone()
}

fn made(from: &FormatInfo, to: &FormatInfo, mixes: bool) -> Option<Conversion> {
    if from.format == to.format && !mixes {
        return Some(None);
    }
    let is_plain = |info: &FormatInfo| {
        let is_narrow = info.channels.iter().all(|channel| channel.bits <= 32);
        info.compression.is_none() && !info.is_depth_stencil() && info.planes().count() == 1 && is_narrow
    };
    if !is_plain(from) || !is_plain(to) || from.class.is_integer() != to.class.is_integer() {
        return None;
    }
    let (mut b, texels) = (Builder::new(), if mixes { 4 } else { 1 });
    let words = routines::words(from);
    let ty = if from.class.is_integer() { Type::I32 } else { Type::F32 };
    let mut decoded: Vec<[Value; 4]> = Vec::new();
    for texel in 0..texels {
        let stored: Vec<Value> = (0..words).map(|word| b.input((texel * words + word) as u32, Type::I32)).collect();
        decoded.push(routines::decode(&mut b, from, &stored).map(|value| b.cast(value, ty)));
    }
    let mut texel = decoded[0];
    if mixes {
        let [across, down] = [0, 1].map(|share| b.input((texels * words + share) as u32, Type::F32));
        let rows = [0, 2].map(|row| mixed(&mut b, decoded[row], decoded[row + 1], across));
        texel = mixed(&mut b, rows[0], rows[1], down);
    }
    let encoded = routines::encode(&mut b, to, texel)?;
    for (slot, &value) in (0..).zip(&encoded) {
        b.push(Inst::Output { slot, value });
    }
    let mut function = b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let inputs = vec![LaneVariance::Divergent; texels * words + if mixes { 2 } else { 0 }];
    let mut program = Program::routine(function, &inputs, encoded.len());
    program.code = program.code.with_all_lanes();
    program.code.generate_chosen(program.stage, "blit");
    Some(Some(Arc::new(program)))
}

/// Emits `a + (b - a) * share`, component by component.
fn mixed(b: &mut Builder, first: [Value; 4], second: [Value; 4], share: Value) -> [Value; 4] {
    [0, 1, 2, 3].map(|component: usize| {
        let difference = b.binary(B::FSub, second[component], first[component]);
        let part = b.binary(B::FMul, difference, share);
        b.binary(B::FAdd, first[component], part)
    })
}

/// Source texels of a target texel along an axis.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    /// Nearest source texel, or the first of two.
    pub(super) first: u32,
    pub(super) second: u32,
    /// Weight of the second texel.
    pub(super) share: f32,
}

/// Source texels of the target texels along an axis.
pub(super) struct Taps {
    /// Target texels.
    pub(super) range: Range<u32>,
    /// Source texels of each target texel.
    pub(super) taps: Vec<Tap>,
    /// Number of source texels per target texel.
    pub(super) scale: f32,
}

/// Fills the target texels in the ranges of both axes from a source, on all threads.
pub(super) fn scale(
    workers: &Workers,
    (from, to): (&PlaneRef<'_>, &PlaneRef<'_>),
    [across, down]: [&Taps; 2],
    conversion: &Conversion,
) {
    let columns = || across.taps.iter().flat_map(|tap| [tap.first, tap.second]);
    let (Some(left), Some(right)) = (columns().min(), columns().max()) else { return };
    let scaling = Scaling { from, to, across, down, conversion, columns: left..right + 1 };
    let (first, end) = (down.range.start / ROWS, down.range.end.div_ceil(ROWS));
    let rows = |number: u32| {
        let start = (first + number) * ROWS;
        start.max(down.range.start)..(start + ROWS).min(down.range.end)
    };
    let count = end.saturating_sub(first) as usize;
    workers.parallel(count, Scratch::default, |scratch, number| scaling.rows(scratch, rows(number as u32)));
}

struct Scaling<'a> {
    from: &'a PlaneRef<'a>,
    to: &'a PlaneRef<'a>,
    across: &'a Taps,
    down: &'a Taps,
    conversion: &'a Conversion,
    /// Columns of the source that are read.
    columns: Range<u32>,
}

/// Buffers that a thread reuses.
#[derive(Default)]
struct Scratch {
    wave: Wave,
    bands: [Band; 2],
    bytes: Vec<u8>,
    out: Vec<u8>,
}

/// Rows of the source.
#[derive(Default)]
struct Band {
    /// Range of the rows.
    rows: Range<u32>,
    /// Texels of the rows as words. Each texel has [`words_of`] words.
    words: Vec<u32>,
}

/// Returns the number of words of a texel of `bytes` bytes.
fn words_of(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

impl Scaling<'_> {
    /// Fills rows of the target that lie in one row of lines.
    fn rows(&self, scratch: &mut Scratch, rows: Range<u32>) {
        let Scratch { wave, bands, bytes, out } = scratch;
        let pitch = self.across.range.len() * self.to.bytes();
        out.clear();
        out.resize(pitch * rows.len(), 0);
        let (none, deadline) = (Bindings::default(), Deadline::after(Duration::MAX));
        let environment = Environment::new(&none, &deadline);
        let mut runs = self.conversion.as_ref().map(|program| wave.runs(program, environment));
        for (y, out) in rows.clone().zip(out.chunks_exact_mut(pitch.max(1))) {
            let Tap { first: upper, second: lower, share } = self.down.taps[(y - self.down.range.start) as usize];
            [upper, lower].into_iter().for_each(|row| self.read(bands, bytes, row));
            let rows = [upper, lower].map(|row| self.row(bands, row));
            match &mut runs {
                Some(runs) => self.convert(runs, (rows, share), out),
                None => self.take(rows[0], out),
            }
        }
        self.to.write_rows([self.across.range.start, rows.start, self.across.range.end, rows.end], 0, out);
    }

    /// Returns the rows that are read together with `row`.
    fn band(&self, row: u32) -> Range<u32> {
        match self.down.scale.abs() > SPARSE {
            true => row..row + 1,
            false => row / ROWS * ROWS..((row / ROWS + 1) * ROWS).min(self.from.height()),
        }
    }

    /// Returns the index of the band that contains a row. If the upper and the lower row of a
    /// target row are not read together, they are in different bands.
    fn place(&self, row: u32) -> usize {
        let rows = if self.down.scale.abs() > SPARSE { 1 } else { ROWS };
        (row / rows % 2) as usize
    }

    /// Reads a row and the other rows of its band, unless the band contains them already.
    fn read(&self, bands: &mut [Band; 2], bytes: &mut Vec<u8>, row: u32) {
        let band = &mut bands[self.place(row)];
        if band.rows.contains(&row) {
            return;
        }
        band.rows = self.band(row);
        let (texel, count) = (self.from.bytes(), self.columns.len() * band.rows.len());
        let rect = [self.columns.start, band.rows.start, self.columns.end, band.rows.end];
        band.words.resize(count * words_of(texel), 0);
        if texel.is_multiple_of(4) {
            self.from.read_rows(rect, 0, bytemuck::cast_slice_mut(&mut band.words));
            band.words.iter_mut().for_each(|word| *word = u32::from_le(*word));
            return;
        }
        bytes.resize(count * texel, 0);
        self.from.read_rows(rect, 0, bytes);
        unpack(&mut band.words, bytes, texel);
    }

    /// Returns the words of a row that was read.
    fn row<'b>(&self, bands: &'b [Band; 2], row: u32) -> &'b [u32] {
        let (band, length) = (&bands[self.place(row)], self.columns.len() * words_of(self.from.bytes()));
        &band.words[(row - band.rows.start) as usize * length..][..length]
    }

    /// Converts a row, sixteen texels at once.
    fn convert(&self, runs: &mut Runs<'_>, ([upper, lower], share): ([&[u32]; 2], f32), out: &mut [u8]) {
        let (words, texel) = (words_of(self.from.bytes()), self.to.bytes());
        let mixes = runs.words() > words;
        if mixes {
            runs.lanes(4 * words + 1).fill(share.to_bits());
        }
        for (taps, out) in self.across.taps.chunks(WAVE).zip(out.chunks_mut(WAVE * texel)) {
            for word in 0..words {
                let place = |column: u32| (column - self.columns.start) as usize * words + word;
                let mut fill = |slot: usize, row: &[u32], pick: fn(&Tap) -> u32| {
                    let lanes = runs.lanes(slot * words + word).iter_mut();
                    lanes.zip(taps).for_each(|(lane, tap)| *lane = row[place(pick(tap))]);
                };
                fill(0, upper, |tap| tap.first);
                if mixes {
                    fill(1, upper, |tap| tap.second);
                    fill(2, lower, |tap| tap.first);
                    fill(3, lower, |tap| tap.second);
                }
            }
            if mixes {
                runs.lanes(4 * words).iter_mut().zip(taps).for_each(|(lane, tap)| *lane = tap.share.to_bits());
            }
            // The program has no loops, so nothing can interrupt it.
            runs.run(&[]);
            put(out, texel, |number, word| runs.outputs[word][number]);
        }
    }

    /// Copies the texels of a row unchanged.
    fn take(&self, row: &[u32], out: &mut [u8]) {
        let (words, taps) = (words_of(self.from.bytes()), &self.across.taps);
        let first = |number: usize| (taps[number].first - self.columns.start) as usize * words;
        put(out, self.to.bytes(), |number, word| row[first(number) + word]);
    }
}

/// Writes texels of `texel` bytes from their words.
#[inline(always)]
fn put(out: &mut [u8], texel: usize, word: impl Fn(usize, usize) -> u32) {
    match texel {
        1 => out.iter_mut().enumerate().for_each(|(number, out)| *out = word(number, 0) as u8),
        2 => put_of::<2>(out, word),
        4 => put_of::<4>(out, word),
        8 => put_of::<8>(out, word),
        16 => put_of::<16>(out, word),
        _ => out
            .chunks_exact_mut(texel)
            .enumerate()
            .for_each(|(number, out)| put_words(out, |index| word(number, index))),
    }
}

#[inline(always)]
fn put_of<const TEXEL: usize>(out: &mut [u8], word: impl Fn(usize, usize) -> u32) {
    let texels = out.as_chunks_mut::<TEXEL>().0.iter_mut().enumerate();
    texels.for_each(|(number, out)| put_words(out, |index| word(number, index)));
}

/// Writes one texel from its words.
#[inline(always)]
fn put_words(out: &mut [u8], word: impl Fn(usize) -> u32) {
    for (index, out) in out.chunks_mut(4).enumerate() {
        out.copy_from_slice(&word(index).to_le_bytes()[..out.len()]);
    }
}

/// Converts the bytes of texels to words.
fn unpack(words: &mut [u32], bytes: &[u8], texel: usize) {
    match texel {
        1 => words.iter_mut().zip(bytes).for_each(|(word, &byte)| *word = byte.into()),
        2 => {
            let halves = bytes.as_chunks::<2>().0.iter();
            words.iter_mut().zip(halves).for_each(|(word, half)| *word = u16::from_le_bytes(*half).into());
        }
        _ => {
            for (words, bytes) in words.chunks_exact_mut(words_of(texel)).zip(bytes.chunks_exact(texel)) {
                for (word, bytes) in words.iter_mut().zip(bytes.chunks(4)) {
                    *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
                }
            }
        }
    }
}
