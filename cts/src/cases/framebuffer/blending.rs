//! Blending, logic operations, write masks, sRGB.

use ash::vk;
use ash::vk::BlendFactor as B;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{COLOR, Draw, FLAT, FLAT_COLOR, FULL, Kind, State, TRIANGLES, Target, render};

const FACTORS: [(&str, B); 15] = [
    ("zero", B::ZERO),
    ("one", B::ONE),
    ("src_color", B::SRC_COLOR),
    ("one_minus_src_color", B::ONE_MINUS_SRC_COLOR),
    ("dst_color", B::DST_COLOR),
    ("one_minus_dst_color", B::ONE_MINUS_DST_COLOR),
    ("src_alpha", B::SRC_ALPHA),
    ("one_minus_src_alpha", B::ONE_MINUS_SRC_ALPHA),
    ("dst_alpha", B::DST_ALPHA),
    ("one_minus_dst_alpha", B::ONE_MINUS_DST_ALPHA),
    ("constant_color", B::CONSTANT_COLOR),
    ("one_minus_constant_color", B::ONE_MINUS_CONSTANT_COLOR),
    ("constant_alpha", B::CONSTANT_ALPHA),
    ("one_minus_constant_alpha", B::ONE_MINUS_CONSTANT_ALPHA),
    ("src_alpha_saturate", B::SRC_ALPHA_SATURATE),
];

const OPS: [(&str, vk::BlendOp); 5] = [
    ("add", vk::BlendOp::ADD),
    ("subtract", vk::BlendOp::SUBTRACT),
    ("reverse_subtract", vk::BlendOp::REVERSE_SUBTRACT),
    ("min", vk::BlendOp::MIN),
    ("max", vk::BlendOp::MAX),
];

const SOURCE: [f32; 4] = [0.8, 0.2, 0.6, 0.4];
const DESTINATION: [f32; 4] = [0.2, 0.6, 0.4, 0.8];
const CONSTANT: [f32; 4] = [0.6, 0.4, 0.2, 0.5];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let section = "Blend Factors";
    for (name, factor) in FACTORS {
        let source = move |gpu: &Gpu| blend(gpu, factor, B::ZERO, vk::BlendOp::ADD);
        cases.push(Entry::new(format!("framebuffer.source_factor.{name}"), section, source));
        let destination = move |gpu: &Gpu| blend(gpu, B::ZERO, factor, vk::BlendOp::ADD);
        cases.push(Entry::new(format!("framebuffer.destination_factor.{name}"), section, destination));
    }
    for (name, op) in OPS {
        let run = move |gpu: &Gpu| blend(gpu, B::ONE, B::ONE, op);
        cases.push(Entry::new(format!("framebuffer.blend_op.{name}"), "Blend Operations", run));
    }
    for (name, op, mix) in ADVANCED {
        for (of_overlap, overlap) in OVERLAPS {
            let run = move |gpu: &Gpu| advanced(gpu, (op, mix), overlap);
            cases.push(Entry::new(
                format!("framebuffer.advanced.{name}_{of_overlap}"),
                "Advanced Blend Operations",
                run,
            ));
        }
    }
    for number in 0..16 {
        let run = move |gpu: &Gpu| logic(gpu, number);
        cases.push(Entry::new(format!("framebuffer.logic_op.op{number}"), "Logical Operations", run));
    }
    for mask in [0u32, 1, 2, 4, 8, 5, 10, 15] {
        let run = move |gpu: &Gpu| write_mask(gpu, mask);
        cases.push(Entry::new(format!("framebuffer.write_mask.mask{mask}"), "Color Write Mask", run));
    }
    for (name, format) in [("halves", vk::Format::R16G16B16A16_SFLOAT), ("floats", vk::Format::R32G32B32A32_SFLOAT)] {
        for samples in [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4] {
            let run = move |gpu: &Gpu| wide_texels(gpu, format, samples);
            let name = format!("framebuffer.wide_texels.{name}_{}", samples.as_raw());
            cases.push(Entry::new(name, "The Framebuffer", run));
        }
    }
}

fn factor(kind: B, index: usize) -> f32 {
    let (source, destination) = (SOURCE, DESTINATION);
    match kind {
        B::ZERO => 0.0,
        B::ONE => 1.0,
        B::SRC_COLOR => source[index],
        B::ONE_MINUS_SRC_COLOR => 1.0 - source[index],
        B::DST_COLOR => destination[index],
        B::ONE_MINUS_DST_COLOR => 1.0 - destination[index],
        B::SRC_ALPHA => source[3],
        B::ONE_MINUS_SRC_ALPHA => 1.0 - source[3],
        B::DST_ALPHA => destination[3],
        B::ONE_MINUS_DST_ALPHA => 1.0 - destination[3],
        B::CONSTANT_COLOR => CONSTANT[index],
        B::ONE_MINUS_CONSTANT_COLOR => 1.0 - CONSTANT[index],
        B::CONSTANT_ALPHA => CONSTANT[3],
        B::ONE_MINUS_CONSTANT_ALPHA => 1.0 - CONSTANT[3],
        _ if index == 3 => 1.0,
        _ => source[3].min(1.0 - destination[3]),
    }
}

fn blend(gpu: &Gpu, source: B, destination: B, op: vk::BlendOp) -> Case {
    let mut state = State { constants: CONSTANT, ..State::default() };
    state.blend.blend_enable = vk::TRUE;
    state.blend.src_color_blend_factor = source;
    state.blend.dst_color_blend_factor = destination;
    state.blend.color_blend_op = op;
    state.blend.src_alpha_blend_factor = source;
    state.blend.dst_alpha_blend_factor = destination;
    state.blend.alpha_blend_op = op;
    let target = Target { clear: DESTINATION, ..Target::default() };
    let pixels = render(gpu, &target, &[Draw::rect(state, FULL, SOURCE)])?;
    for (index, &got) in pixels[100].iter().enumerate() {
        let (s, d) = (SOURCE[index], DESTINATION[index]);
        let (fs, fd) = (s * factor(source, index), d * factor(destination, index));
        let expected = match op {
            vk::BlendOp::ADD => fs + fd,
            vk::BlendOp::SUBTRACT => fs - fd,
            vk::BlendOp::REVERSE_SUBTRACT => fd - fs,
            vk::BlendOp::MIN => s.min(d),
            _ => s.max(d),
        };
        let code = expected.clamp(0.0, 1.0) * 255.0;
        check((f32::from(got) - code).abs() <= 1.01, || format!("component {index}: {got} instead of {code}"))?;
    }
    Ok(())
}

/// Mixes colours that are not premultiplied.
type Mix = fn(f32, f32) -> f32;

/// Operations that keep the parts of the pixel that one colour covers alone.
const ADVANCED: [(&str, vk::BlendOp, Mix); 6] = [
    ("src_over", vk::BlendOp::SRC_OVER_EXT, |s, _| s),
    ("multiply", vk::BlendOp::MULTIPLY_EXT, |s, d| s * d),
    ("screen", vk::BlendOp::SCREEN_EXT, |s, d| s + d - s * d),
    ("difference", vk::BlendOp::DIFFERENCE_EXT, |s, d| (s - d).abs()),
    ("exclusion", vk::BlendOp::EXCLUSION_EXT, |s, d| s + d - 2.0 * s * d),
    ("color_dodge", vk::BlendOp::COLORDODGE_EXT, |s, d| (d / (1.0 - s)).min(1.0)),
];

const OVERLAPS: [(&str, vk::BlendOverlapEXT); 3] = [
    ("uncorrelated", vk::BlendOverlapEXT::UNCORRELATED),
    ("disjoint", vk::BlendOverlapEXT::DISJOINT),
    ("conjoint", vk::BlendOverlapEXT::CONJOINT),
];

/// Blends a source that is premultiplied with a destination that is not.
fn advanced(gpu: &Gpu, (op, mix): (vk::BlendOp, Mix), overlap: vk::BlendOverlapEXT) -> Case {
    gpu.need(vk::EXT_BLEND_OPERATION_ADVANCED_NAME)?;
    const OPAQUE: [f32; 3] = [0.75, 0.25, 0.5];
    let (source, destination) = (0.6f32, 0.8f32);
    let mut state = State::default();
    state.blend.blend_enable = vk::TRUE;
    (state.blend.color_blend_op, state.blend.alpha_blend_op) = (op, op);
    let parameters = vk::ColorBlendAdvancedEXT::default().advanced_blend_op(op).src_premultiplied(true);
    state.extensions.advanced = Some(parameters.blend_overlap(overlap));
    let [red, green, blue] = OPAQUE.map(|part| part * source);
    let target = Target { clear: [DESTINATION[0], DESTINATION[1], DESTINATION[2], destination], ..Target::default() };
    let pixels = render(gpu, &target, &[Draw::rect(state, FULL, [red, green, blue, source])])?;
    let (both, first, second) = match overlap {
        vk::BlendOverlapEXT::UNCORRELATED => {
            (source * destination, source * (1.0 - destination), destination * (1.0 - source))
        }
        vk::BlendOverlapEXT::DISJOINT => (source + destination - 1.0, 1.0 - destination, 1.0 - source),
        _ => (source, 0.0, destination - source),
    };
    let alpha = both + first + second;
    for (index, &got) in pixels[100].iter().enumerate() {
        let expected = match index {
            3 => alpha,
            _ => {
                let (s, d) = (OPAQUE[index], DESTINATION[index]);
                (mix(s, d) * both + s * first + d * second) / alpha
            }
        };
        let code = expected.clamp(0.0, 1.0) * 255.0;
        check((f32::from(got) - code).abs() <= 1.01, || format!("component {index}: {got} instead of {code}"))?;
    }
    Ok(())
}

fn logic(gpu: &Gpu, number: i32) -> Case {
    if gpu.features.logic_op == 0 {
        return Err(Outcome::NotSupported("logicOp".into()));
    }
    let state = State { logic: Some(vk::LogicOp::from_raw(number)), ..State::default() };
    let code = |value: u8| f32::from(value) / 255.0;
    let (s, d) = (0b1100_1010u8, 0b1010_0110u8);
    let target = Target { clear: [code(d); 4], ..Target::default() };
    let pixels = render(gpu, &target, &[Draw::rect(state, FULL, [code(s); 4])])?;
    let table =
        [0, s & d, s & !d, s, !s & d, d, s ^ d, s | d, !(s | d), !(s ^ d), !d, s | !d, !s, !s | d, !(s & d), 255];
    let expected = table[number as usize];
    check(pixels.iter().all(|pixel| *pixel == [expected; 4]), || format!("{:?} instead of {expected}", pixels[0]))
}

fn write_mask(gpu: &Gpu, mask: u32) -> Case {
    let mut state = State::default();
    state.blend.color_write_mask = vk::ColorComponentFlags::from_raw(mask);
    let pixels = render(gpu, &Target::default(), &[Draw::rect(state, FULL, [1.0; 4])])?;
    let expected: [u8; 4] = std::array::from_fn(|index| if mask >> index & 1 != 0 { 255 } else { 0 });
    check(pixels.iter().all(|pixel| *pixel == expected), || format!("{:?}", pixels[0]))
}

case!("framebuffer.srgb.encode", "sRGB Conversion", srgb);

fn srgb(gpu: &Gpu) -> Case {
    let target = Target { format: vk::Format::R8G8B8A8_SRGB, ..Target::default() };
    let pixels = render(gpu, &target, &[Draw::rect(State::default(), FULL, [0.5, 0.0, 1.0, 0.5])])?;
    let near = |got: u8, expected: i32| (i32::from(got) - expected).abs() <= 1;
    let [red, green, blue, alpha] = pixels[0];
    check(near(red, 188) && green == 0 && blue == 255 && near(alpha, 128), || format!("{:?}", pixels[0]))
}

/// Width and height of the target of [`wide_texels`]: no multiples of a group of pixels.
const WIDE: [u32; 2] = [61, 45];

/// Compares opaque and blended triangles of all sizes with those of an attachment with 8-bit
/// components.
fn wide_texels(gpu: &Gpu, format: vk::Format, samples: vk::SampleCountFlags) -> Case {
    let (one, mut seed) = (vk::SampleCountFlags::TYPE_1, 1u32);
    let mut share = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32
    };
    let mut triangle = |size: f32, strength: f32| -> [[[f32; 4]; 2]; 3] {
        let place = [0, 1].map(|_| share() * 2.0 - 1.0);
        std::array::from_fn(|_| {
            let [x, y] = [0, 1].map(|axis: usize| place[axis] + (share() - 0.5) * size);
            [[x, y, 0.5, 1.0], [share(), share(), share(), share()].map(|value| value * strength)]
        })
    };
    let mut draw = |sizes: &[f32], strength: f32, blend: bool| {
        // Colours are extrapolated where pixel centres are not covered, beyond the range of an
        // attachment with 8-bit components.
        let (vertex, fragment) = if samples == one { (TRIANGLES, COLOR) } else { (FLAT, FLAT_COLOR) };
        let mut state = State { vertex, fragment, ..State::default() };
        (state.viewport.width, state.viewport.height) = (WIDE[0] as f32, WIDE[1] as f32);
        state.scissor.extent = vk::Extent2D { width: WIDE[0], height: WIDE[1] };
        state.blend.blend_enable = blend.into();
        (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) = (B::ONE, B::ONE);
        (state.blend.src_alpha_blend_factor, state.blend.dst_alpha_blend_factor) = (B::ONE, B::ONE);
        let vertices: Vec<_> = sizes.iter().flat_map(|&size| triangle(size, strength)).collect();
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
        Ok::<_, Outcome>(Draw { kind, ..Draw::rect(state, FULL, [0.0; 4]) })
    };
    let small: Vec<f32> = (0..120).map(|number| 0.02 + number as f32 * 0.003).collect();
    let draws = [
        draw(&[8.0, 3.0, 2.0], 0.5, false)?,
        draw(&small, 0.5, false)?,
        draw(&[6.0, 1.0], 0.1, true)?,
        draw(&small[..40], 0.1, true)?,
    ];
    let target = Target { size: WIDE, samples, ..Target::default() };
    let expected = render(gpu, &target, &draws)?;
    let wide = render(gpu, &Target { format, ..target }, &draws)?;
    let bytes: Vec<u8> = wide.into_iter().flatten().collect();
    let values: Vec<f32> = match format {
        vk::Format::R32G32B32A32_SFLOAT => {
            bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word)).collect()
        }
        _ => bytes.as_chunks::<2>().0.iter().map(|&half| from_half(u16::from_le_bytes(half))).collect(),
    };
    let codes: Vec<u8> = expected.into_iter().flatten().collect();
    check(codes.len() == values.len(), || format!("{} components instead of {}", values.len(), codes.len()))?;
    check(codes.iter().any(|&code| code > 100), || "nothing was drawn".into())?;
    // Each blend in 8 bits is rounded.
    for (index, (&code, value)) in codes.iter().zip(values).enumerate() {
        let (x, y) = (index / 4 % WIDE[0] as usize, index / 4 / WIDE[0] as usize);
        let near = (value.clamp(0.0, 1.0) * 255.0 - f32::from(code)).abs() <= 3.0;
        check(near, || format!("{value} instead of {code}/255 at {x}, {y}"))?;
    }
    Ok(())
}

/// Returns the value of a 16-bit float that is no special value.
fn from_half(half: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(half & 0x7fff) << 13) * 2.0f32.powi(112);
    if half >> 15 == 0 { magnitude } else { -magnitude }
}
