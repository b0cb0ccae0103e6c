//! Integers of 8 and 16 bits and floats of 16 bits in storage buffers.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const NARROW: &[u8] = shader!("narrow.comp");
const INTERFACE_VERTEX: &[u8] = shader!("narrow_interface.vert");
const INTERFACE: &[u8] = shader!("narrow_interface.frag");

/// Returns the input of the cases with narrow types.
fn narrow_input() -> Vec<u32> {
    // Two 16-bit floats in each word: not NaN, of moderate size.
    (0..64u32).map(|at| (0x3c00 + at * 77) | (0xb400 + at * 53) << 16).collect()
}

type NarrowCase = (&'static str, fn(&[u8], usize) -> Vec<u8>);

fn half(bytes: &[u8], at: usize) -> f32 {
    half::f16::from_le_bytes([bytes[at * 2], bytes[at * 2 + 1]]).to_f32()
}

fn short(bytes: &[u8], at: usize) -> i16 {
    i16::from_le_bytes([bytes[at * 2], bytes[at * 2 + 1]])
}

/// The bytes that each lane writes.
const NARROW_CASES: [NarrowCase; 7] = [
    ("bytes", |a, lane| vec![a[lane].wrapping_mul(3).wrapping_add(1)]),
    ("shorts", |a, lane| (short(a, 63 - lane) / 3).wrapping_sub(lane as i16).to_le_bytes().to_vec()),
    ("halves", |a, lane| {
        let product = half::f16::from_f32(half(a, lane) * 1.5).to_f32();
        half::f16::from_f32(product + 0.25).to_le_bytes().to_vec()
    }),
    ("uniform", |_, _| (200u32 + 40_000 * 256 + 7 * 16_777_216 + 5).to_le_bytes().to_vec()),
    ("push_constants", |_, _| (-100i32 - 1234 * 2 - 3 * 4 + 250 * 8).to_le_bytes().to_vec()),
    ("vectors", |a, lane| {
        let signed = i32::from(a[lane] as i8) as u32;
        (u32::from(a[lane * 4 + 3]) | signed << 8 & 0xff00 | u32::from(a[lane] < a[63 - lane]) << 16)
            .to_le_bytes()
            .to_vec()
    }),
    ("roots", |a, lane| half::f16::from_f32(half(a, lane).abs().sqrt()).to_f32().to_bits().to_le_bytes().to_vec()),
];

cases!(append_narrow_cases);

fn append_narrow_cases(cases: &mut Vec<Entry>) {
    for (part, (name, expected)) in NARROW_CASES.into_iter().enumerate() {
        let run = move |gpu: &Gpu| narrow(gpu, part, expected);
        cases.push(Entry::new(format!("core11.narrow.{name}"), "VK_KHR_16bit_storage, VK_KHR_8bit_storage", run));
    }
}

fn narrow(gpu: &Gpu, part: usize, expected: fn(&[u8], usize) -> Vec<u8>) -> Case {
    let (numbers, small, smaller) =
        (&gpu.extension_features.float16_int8, &gpu.extension_features.storage16, &gpu.extension_features.storage8);
    let features = [
        numbers.shader_float16,
        numbers.shader_int8,
        gpu.features.shader_int16,
        small.storage_buffer16_bit_access,
        small.uniform_and_storage_buffer16_bit_access,
        small.storage_push_constant16,
        smaller.storage_buffer8_bit_access,
        smaller.uniform_and_storage_buffer8_bit_access,
        smaller.storage_push_constant8,
    ];
    if features.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("numbers of 8 and 16 bits in memory".into()));
    }
    let words = narrow_input();
    let (input, output, uniform) = (gpu.buffer_with(&words)?, gpu.buffer(256)?, gpu.buffer(16)?);
    let half = |value: f32| half::f16::from_f32(value).to_le_bytes();
    let [u16_low, u16_high] = 40_000u16.to_le_bytes();
    let [low, high] = half(5.0);
    uniform.write(&[200, 0, u16_low, u16_high, low, high, 7, 0]);
    let [short_low, short_high] = (-1234i16).to_le_bytes();
    let [low, high] = half(-3.0);
    let push = [(-100i8) as u8, 0, short_low, short_high, low, high, 1, 250];
    let buffers = [(D::STORAGE_BUFFER, input), (D::STORAGE_BUFFER, output), (D::UNIFORM_BUFFER, uniform)];
    let compute = gpu.compute_pipeline(NARROW, part as i32, &buffers)?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &push);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    let input: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let expected: Vec<u8> = (0..64).flat_map(|lane| expected(&input, lane)).collect();
    let found = output.read(0, expected.len());
    let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
    check(wrong.is_none(), || format!("byte {wrong:?} of {found:?} is not as in {expected:?}"))
}

case!("core11.narrow.interfaces", "VK_KHR_16bit_storage", interfaces);

/// Passes numbers of 16 bits from vertices to fragments. Interpolated halves are halves.
fn interfaces(gpu: &Gpu) -> Case {
    let (numbers, small) = (&gpu.extension_features.float16_int8, &gpu.extension_features.storage16);
    if [numbers.shader_float16, gpu.features.shader_int16, small.storage_input_output16].contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("numbers of 16 bits between stages".into()));
    }
    let state = State { vertex: INTERFACE_VERTEX, fragment: INTERFACE, ..State::default() };
    let pixels = render(gpu, &Target::default(), &[Draw::rect(state, FULL, [0.0; 4])])?;
    for (at, pixel) in (0..).zip(pixels) {
        let x = ((at % SIZE) as f32 + 0.5) / SIZE as f32 * 37.7;
        check(pixel == [10, x as u8, 1, 255], || format!("pixel {at} is {pixel:?} at {x}"))?;
    }
    Ok(())
}
