//! Tests of the export against the specification's equations, one fragment at a time.

use vitric_exec::runtime::math::within;
use vitric_exec::testing::run_everywhere;
use vitric_format::{Texel, decode, encode};
use vitric_ir::Inst;

use super::*;
use crate::state::AdvancedBlend;

/// Input words of a fragment: source, second source, constants, stored words.
const INPUTS: usize = 16;

fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*state >> 32) as u32
}

fn pick<T: Copy>(state: &mut u64, all: &[T]) -> T {
    all[random(state) as usize % all.len()]
}

fn any_blend(state: &mut u64) -> BlendState {
    let mut factor = || vk::BlendFactor::from_raw((random(state) % 19) as i32);
    let [src_color, dst_color, src_alpha, dst_alpha] = [factor(), factor(), factor(), factor()];
    let mut op = || vk::BlendOp::from_raw((random(state) % 5) as i32);
    let [color_op, alpha_op] = [op(), op()];
    let mask = if random(state).is_multiple_of(3) { random(state) & 15 } else { 15 };
    let write_mask = vk::ColorComponentFlags::from_raw(mask);
    let enable = !random(state).is_multiple_of(4);
    BlendState {
        enable,
        src_color,
        dst_color,
        color_op,
        src_alpha,
        dst_alpha,
        alpha_op,
        write_mask,
        advanced: AdvancedBlend::default(),
    }
}

fn any_export(state: &mut u64) -> Export {
    use vk::Format as F;
    let formats = [
        F::R8G8B8A8_UNORM,
        F::B8G8R8A8_SRGB,
        F::R5G6B5_UNORM_PACK16,
        F::A2B10G10R10_UNORM_PACK32,
        F::R16G16B16A16_SFLOAT,
        F::R32G32B32A32_SFLOAT,
        F::R8_SNORM,
        F::R16G16_UINT,
        F::R32_SINT,
        F::B10G11R11_UFLOAT_PACK32,
    ];
    let logic_op = random(state).is_multiple_of(4).then(|| vk::LogicOp::from_raw((random(state) % 16) as i32));
    let info = format::info(pick(state, &formats)).unwrap();
    let alpha_to_one = random(state).is_multiple_of(8);
    Export { info, blend: any_blend(state), logic_op, alpha_to_one, dithers: false }
}

fn function(export: &Export) -> (vitric_ir::Function, usize) {
    let mut b = Builder::new();
    let ty = if export.info.class.is_integer() { Type::I32 } else { Type::F32 };
    let inputs: Vec<Value> =
        (0..INPUTS as u32).map(|slot| b.input(slot, [ty, ty, Type::F32, Type::I32][slot as usize / 4])).collect();
    let four = |first: usize| std::array::from_fn(|index| inputs[first + index]);
    let colors = Colors { source: four(0), second: four(4), constants: four(8), dither: None };
    let words = export.words(&mut b, colors, &inputs[12..]).unwrap();
    let count = words.len();
    for (slot, value) in (0..).zip(words) {
        b.push(Inst::Output { slot, value });
    }
    (b.finish(), count)
}

/// Returns the bytes of the texel after a fragment, by the equations of the specification.
fn expected(export: &Export, input: &[u32]) -> [u8; 16] {
    let four = |first: usize| -> Texel { std::array::from_fn(|index| input[first + index]) };
    let mut stored = [0; 16];
    for (bytes, word) in stored.as_chunks_mut::<4>().0.iter_mut().zip(four(12)) {
        *bytes = word.to_le_bytes();
    }
    let (mut source, mut second) = (four(0), four(4));
    if export.alpha_to_one {
        (source[3], second[3]) = (format::one(export.info.class), format::one(export.info.class));
    }
    let floats = |texel: Texel| {
        texel.map(f32::from_bits).map(|value| match export.info.class {
            Class::Unorm | Class::Srgb => within(value, 0.0, 1.0),
            Class::Snorm if value.is_nan() => 0.0,
            Class::Snorm => within(value, -1.0, 1.0),
            _ => value,
        })
    };
    if export.blends() {
        let destination = decode(export.info, &stored).map(f32::from_bits);
        source = blend(&export.blend, [floats(source), floats(second), destination, floats(four(8))]).map(f32::to_bits);
    }
    let mut out = [0; 16];
    encode(export.info, source, &mut out);
    let raw = |bytes: [u8; 16]| u128::from_le_bytes(bytes);
    let (mut new, old) = (raw(out), raw(stored));
    if let Some(op) = export.logic() {
        new = logic_of_bits(op, new, old);
    }
    let mut written = 0u128;
    for channel in export.info.channels {
        let bits = ((1u128 << channel.bits) - 1) << channel.offset;
        written |= if export.blend.write_mask.as_raw() >> channel.component & 1 != 0 { bits } else { 0 };
    }
    if export.blend.write_mask != vk::ColorComponentFlags::RGBA {
        new = new & written | old & !written;
    }
    new.to_le_bytes()
}

fn blend(state: &BlendState, operands: [[f32; 4]; 4]) -> [f32; 4] {
    let [source, second, destination, constants] = operands;
    let factor = |kind: vk::BlendFactor, component: usize| match kind.as_raw() {
        0 => 0.0,
        1 => 1.0,
        2 => source[component],
        3 => 1.0 - source[component],
        4 => destination[component],
        5 => 1.0 - destination[component],
        6 => source[3],
        7 => 1.0 - source[3],
        8 => destination[3],
        9 => 1.0 - destination[3],
        10 => constants[component],
        11 => 1.0 - constants[component],
        12 => constants[3],
        13 => 1.0 - constants[3],
        14 if component == 3 => 1.0,
        14 => source[3].min(1.0 - destination[3]),
        15 => second[component],
        16 => 1.0 - second[component],
        17 => second[3],
        _ => 1.0 - second[3],
    };
    std::array::from_fn(|component| {
        let (from, to, op) = match component {
            3 => (state.src_alpha, state.dst_alpha, state.alpha_op),
            _ => (state.src_color, state.dst_color, state.color_op),
        };
        let (s, d) = (source[component], destination[component]);
        match op {
            vk::BlendOp::ADD => s * factor(from, component) + d * factor(to, component),
            vk::BlendOp::SUBTRACT => s * factor(from, component) - d * factor(to, component),
            vk::BlendOp::REVERSE_SUBTRACT => d * factor(to, component) - s * factor(from, component),
            vk::BlendOp::MIN => s.min(d),
            _ => s.max(d),
        }
    })
}

/// Applies a logic operation by its number, which is the truth table.
///
/// From the highest bit on, the number contains the results for the bits 00, 01, 10 and 11 of `s`
/// and `d`.
fn logic_of_bits(op: vk::LogicOp, s: u128, d: u128) -> u128 {
    let bit = |place: u32| op.as_raw() as u128 >> (3 - ((s >> place & 1) << 1 | d >> place & 1)) & 1;
    (0..128).fold(0, |bits, place| bits | bit(place) << place)
}

#[test]
fn fragments_are_exported_as_the_equations_say() {
    let mut state = 3;
    for _ in 0..120 {
        let export = any_export(&mut state);
        let (function, count) = function(&export);
        let mut word = |integer: bool| match random(&mut state) % 6 {
            _ if integer => random(&mut state) >> (random(&mut state) % 32),
            0 => random(&mut state),
            1 => [0.0f32, 0.5, 1.0, -1.0, f32::NAN][random(&mut state) as usize % 5].to_bits(),
            _ => (random(&mut state) as f32 / u32::MAX as f32 * 1.5 - 0.25).to_bits(),
        };
        let integer = export.info.class.is_integer();
        let mut fragment =
            || -> Vec<u32> { (0..INPUTS).map(|slot| if slot < 12 { word(integer) } else { word(true) }).collect() };
        let fragments: Vec<Vec<u32>> = (0..64).map(|_| fragment()).collect();
        run_everywhere(&function, &fragments, count, |input, output| {
            let expected = expected(&export, input);
            let mut bytes: Vec<u8> = output.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.truncate(export.info.bytes as usize);
            let expected = &expected[..bytes.len()];
            assert!(same(&export, &bytes, expected), "{export:?} {input:x?}: {bytes:x?} for {expected:x?}");
        });
    }
}

#[test]
fn masks_count_by_the_channels_of_the_format() {
    use vk::{ColorComponentFlags as C, Format as F};
    let rgb = C::R | C::G | C::B;
    for (format, write_mask, writes_any, needs_stored) in [
        (F::R8G8B8A8_UNORM, C::RGBA, true, false),
        (F::R8G8B8A8_UNORM, rgb, true, true),
        (F::R8G8B8A8_UNORM, C::empty(), false, true),
        (F::B10G11R11_UFLOAT_PACK32, rgb, true, false),
        (F::R8_SNORM, C::R, true, false),
        (F::R8_SNORM, C::G | C::A, false, true),
    ] {
        let info = format::info(format).unwrap();
        let blend = BlendState { write_mask, ..BlendState::default() };
        let export = Export { info, blend, logic_op: None, alpha_to_one: false, dithers: false };
        assert_eq!(
            (export.writes_any(), export.needs_stored()),
            (writes_any, needs_stored),
            "{format:?} {write_mask:?}"
        );
    }
}

/// The pixels of a square have the two next codes, in shares that the colour decides. A colour that
/// is a code stays the same.
#[test]
fn squares_of_dithered_pixels_have_the_mean() {
    let info = format::info(vk::Format::R8_UNORM).unwrap();
    let export =
        |info| Export { info, blend: BlendState::default(), logic_op: None, alpha_to_one: false, dithers: true };
    let fine = format::info(vk::Format::R16_UNORM).unwrap();
    assert!(export(info).can_dither() && !export(fine).can_dither());
    let blend = BlendState { write_mask: vk::ColorComponentFlags::RGBA, ..BlendState::default() };
    let export = Export { blend, ..export(info) };
    let mut b = Builder::new();
    let place = [0, 1].map(|slot| b.input(slot, Type::F32));
    let color = b.input(2, Type::F32);
    let dither = Some(dither(&mut b, place));
    let colors = Colors { source: [color; 4], second: [color; 4], constants: [color; 4], dither };
    let words = export.words(&mut b, colors, &[]).unwrap();
    b.push(Inst::Output { slot: 0, value: words[0] });
    let function = b.finish();
    for (color, low, high) in
        [(100.25, 12, 4), (100.5, 8, 8), (7.0, 16, 0), (0.0, 16, 0), (255.0, 16, 0), (f32::NAN, 16, 0)]
    {
        let pixel = |number: u8| {
            let place = [number % 4 + 160, number / 4 + 96].map(|axis| f32::from(axis) + 0.5);
            vec![place[0].to_bits(), place[1].to_bits(), (color / 255.0f32).to_bits()]
        };
        let pixels: Vec<_> = (0..16).map(pixel).collect();
        let sum = std::cell::Cell::new(0);
        run_everywhere(&function, &pixels, 1, |_, output| sum.set(sum.get() + (output[0] & 255)));
        let one = low * color as u32 + high * (color as u32 + 1);
        assert!(sum.get() > 0 || one == 0, "{color}");
        assert!(sum.get().is_multiple_of(one.max(1)), "{color}: {} is no multiple of {one}", sum.get());
    }
}

/// Returns true if texels are equal, where any NaN equals any other.
fn same(export: &Export, a: &[u8], b: &[u8]) -> bool {
    let floats = |bytes: &[u8]| decode(export.info, bytes).map(f32::from_bits);
    let is_float = matches!(export.info.class, Class::Sfloat | Class::Ufloat);
    a == b || is_float && floats(a).iter().zip(floats(b)).all(|(a, b)| a.is_nan() && b.is_nan() || *a == b)
}
