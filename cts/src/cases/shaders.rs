//! What programs may do with extensions: clocks, floats in atomics, tests that they take part in, fragments in order.

use ash::vk::{self, DescriptorType as D};

use crate::Entry;
use crate::cases::images::texel_view;
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

const CLOCK: &[u8] = include_bytes!("../../shaders/clock.comp.spv");
const ASSUME: &[u8] = include_bytes!("../../shaders/assume.comp.spv");
const FLOAT_ATOMICS: &[u8] = include_bytes!("../../shaders/float_atomics.comp.spv");
const INTERLOCK: &[u8] = include_bytes!("../../shaders/interlock.frag.spv");
const INTERLOCK_SAMPLES: &[u8] = include_bytes!("../../shaders/interlock_samples.frag.spv");
const INTERLOCK_UNORDERED: &[u8] = include_bytes!("../../shaders/interlock_unordered.frag.spv");
const STENCIL_REF: &[u8] = include_bytes!("../../shaders/stencil_ref.frag.spv");
const COVERAGE: &[u8] = include_bytes!("../../shaders/coverage.frag.spv");
const EARLY_COVERAGE: &[u8] = include_bytes!("../../shaders/early_coverage.frag.spv");
const POST_DEPTH: &[u8] = include_bytes!("../../shaders/post_depth.frag.spv");

const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(name, section, run));
    add("shaders.clock.ascends", "VK_KHR_shader_clock", clock);
    add("shaders.assume.changes_nothing", "VK_KHR_shader_expect_assume", assume);
    add("shaders.atomics.floats", "VK_EXT_shader_atomic_float2", float_atomics);
    add("shaders.interlock.pixels", "VK_EXT_fragment_shader_interlock", |gpu| interlock(gpu, INTERLOCK, false));
    add("shaders.interlock.samples", "VK_EXT_fragment_shader_interlock", |gpu| interlock(gpu, INTERLOCK_SAMPLES, true));
    add("shaders.interlock.unordered", "VK_EXT_fragment_shader_interlock", |gpu| {
        interlock(gpu, INTERLOCK_UNORDERED, false)
    });
    add("shaders.stencil.replaced", "VK_EXT_shader_stencil_export", |gpu| stencil_replaced(gpu, ONE));
    add("shaders.stencil.replaced_samples", "VK_EXT_shader_stencil_export", |gpu| stencil_replaced(gpu, FOUR));
    add("shaders.stencil.coarse", "VK_EXT_shader_stencil_export", stencil_coarse);
    add("shaders.stencil.compared", "VK_EXT_shader_stencil_export", stencil_compared);
    add("shaders.coverage.before_tests", "SampleMask", coverage_before);
    add("shaders.coverage.after_tests", "VK_EXT_post_depth_coverage", coverage_after);
    add("shaders.coverage.early_tests", "SampleMask", coverage_early);
    add("shaders.coverage.early_tests_coarse", "VK_KHR_fragment_shading_rate", coverage_early_coarse);
}

/// Clocks never go back: neither around some work, nor from one dispatch to the next.
fn clock(gpu: &Gpu) -> Case {
    let features = &gpu.more.shader_clock;
    if features.shader_device_clock == 0 || features.shader_subgroup_clock == 0 {
        return Err(Outcome::NotSupported("clocks in shaders".into()));
    }
    let mut latest = 0;
    for _ in 0..2 {
        let (state, times) = (gpu.buffer(8)?, gpu.buffer(64 * 16)?);
        gpu.compute(CLOCK, 0, &[], &[state, times], [1, 1, 1])?;
        check(state.words()[0] == 0, || format!("a clock went back: {}", state.words()[0]))?;
        let words = times.words();
        let times: Vec<u64> = words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
        let first = times.iter().copied().min().unwrap_or(0);
        check(first >= latest && first != 0, || format!("{first} after {latest}"))?;
        latest = times.iter().copied().max().unwrap_or(0);
    }
    Ok(())
}

fn assume(gpu: &Gpu) -> Case {
    if gpu.more.expect_assume.shader_expect_assume == 0 {
        return Err(Outcome::NotSupported("assumptions".into()));
    }
    let numbers: Vec<u32> = (0..64).map(|number| number * 7 % 11).collect();
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(256)?);
    gpu.compute(ASSUME, 0, &[], &[source, target], [1, 1, 1])?;
    let expected: Vec<u32> = (0..).zip(&numbers).map(|(lane, number)| lane + number).collect();
    check(target.words() == expected, || format!("{:?}", target.words()))
}

/// Sums of small integers are exact in any order.
fn float_atomics(gpu: &Gpu) -> Case {
    let (first, second) = (&gpu.more.atomic_float, &gpu.more.atomic_float2);
    let has = first.shader_buffer_float32_atomic_add
        & first.shader_buffer_float64_atomic_add
        & first.shader_shared_float64_atomic_add
        & first.shader_image_float32_atomic_add
        & second.shader_buffer_float64_atomic_min_max
        & second.shader_shared_float32_atomic_min_max
        & second.shader_image_float32_atomic_min_max;
    if has == 0 {
        return Err(Outcome::NotSupported("atomics on floats".into()));
    }
    let state = gpu.buffer(48)?;
    let texels = vec![0u32; 80];
    let usage = vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
    let view = [texel_view(gpu, usage, vk::Format::R32_SFLOAT, &texels)?];
    let out = gpu.buffer(256)?;
    let (kind, texel) = (D::STORAGE_BUFFER, D::STORAGE_TEXEL_BUFFER);
    let (set_layout, set) = gpu.set(&[kind, kind, texel])?;
    let infos = [state, out]
        .map(|buffer| [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }]);
    let write = |binding: u32| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    let writes = [
        write(0).descriptor_type(kind).buffer_info(&infos[0]),
        write(1).descriptor_type(kind).buffer_info(&infos[1]),
        write(2).descriptor_type(texel).texel_buffer_view(&view),
    ];
    let layout = gpu.layout(&[set_layout])?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(FLOAT_ATOMICS)?)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: valid infos; descriptors are written before they are used; everything named is alive.
    unsafe {
        gpu.device.update_descriptor_sets(&writes, &[]);
        let made = gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        let pipeline = made.map_err(|(_, code)| code)?[0];
        gpu.run(|commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            gpu.device.cmd_bind_pipeline(commands, point, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    let sum = 2016.0;
    let floats = &state.floats()[..4];
    check(floats == [sum, -53.0, 189.0, 7.5], || format!("of single precision: {floats:?}"))?;
    let wide = state.read(16, 32);
    let wide: Vec<f64> =
        wide.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or([0; 8]))).collect();
    let halves = 0.25 + f64::from(sum) * 0.5;
    check(wide == [f64::from(sum) + 8.0, -63.0, 63e100, halves], || format!("of double precision: {wide:?}"))?;
    let shared = sum + 0.5 + 630_000.0 + halves as f32;
    check(out.floats().iter().all(|&value| value == shared), || format!("{:?}, not {shared}", out.floats()))
}

/// Rectangles of whole pixels: x and y from and to, and the colour that each adds.
fn rectangles() -> Vec<([u32; 4], u32)> {
    let mut seed = 12345u32;
    let mut next = |limit: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % limit
    };
    let mut rectangle = |_| {
        let (x, y) = (next(SIZE - 1), next(SIZE - 1));
        ([x, y, x + 1 + next(SIZE - x), y + 1 + next(SIZE - y)], next(256))
    };
    (0..60).map(&mut rectangle).collect()
}

/// The vertices of rectangles, for the shader that takes positions and colours: two triangles each.
fn vertices(rectangles: &[([u32; 4], u32)]) -> Vec<f32> {
    let clip = |pixel: u32| pixel as f32 / (SIZE as f32 / 2.0) - 1.0;
    let corners = [(0, 1), (2, 1), (0, 3), (2, 1), (2, 3), (0, 3)];
    let vertex = |(place, value): &([u32; 4], u32), (x, y): (usize, usize)| {
        [clip(place[x]), clip(place[y]), 0.5, 1.0, *value as f32 / 255.0, 0.0, 0.0, 1.0]
    };
    rectangles.iter().flat_map(|rect| corners.into_iter().flat_map(move |corner| vertex(rect, corner))).collect()
}

/// Rectangles over each other, in two draws: each pixel's word tells in which order they came.
fn interlock(gpu: &Gpu, fragment: &'static [u8], by_samples: bool) -> Case {
    let features = &gpu.more.interlock;
    if features.fragment_shader_pixel_interlock & features.fragment_shader_sample_interlock == 0 {
        return Err(Outcome::NotSupported("fragments that exclude each other".into()));
    }
    let samples = if by_samples { 4 } else { 1 };
    let storage = gpu.buffer(u64::from(SIZE * SIZE * samples * 4))?;
    let all = rectangles();
    let state = State { vertex: TRIANGLES, fragment, by_sample: by_samples, ..State::default() };
    let mut draws = Vec::new();
    for part in all.chunks(all.len() / 2) {
        let buffer = gpu.buffer_with(&vertices(part))?;
        let kind = Kind::VertexBuffer { buffer, count: part.len() as u32 * 6 };
        draws.push(Draw { kind, storage: Some(storage), ..Draw::rect(state.clone(), FULL, [1.0; 4]) });
    }
    let target = Target { samples: if by_samples { FOUR } else { ONE }, ..Target::default() };
    render(gpu, &target, &draws)?;
    let factor = if std::ptr::eq(fragment, INTERLOCK_UNORDERED) { 1u32 } else { 3 };
    for (index, word) in (0..).zip(storage.words()) {
        let pixel = index / samples;
        let (x, y) = (pixel % SIZE, pixel / SIZE);
        let covers = |[left, top, right, bottom]: [u32; 4]| (left..right).contains(&x) && (top..bottom).contains(&y);
        let over = all.iter().filter(|(place, _)| covers(*place));
        let expected = over.fold(0u32, |word, (_, value)| word.wrapping_mul(factor).wrapping_add(*value));
        check(word == expected, || format!("({x}, {y}): {word:#x}, not {expected:#x}"))?;
    }
    Ok(())
}

fn need_export(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SHADER_STENCIL_EXPORT_NAME)
}

fn stencil(fragment: &'static [u8], compare_op: vk::CompareOp, pass_op: vk::StencilOp, reference: u32) -> State {
    let face = vk::StencilOpState {
        pass_op,
        compare_op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference,
        ..Default::default()
    };
    let mut state = State { fragment, ..State::default() };
    state.depth_stencil = state.depth_stencil.stencil_test_enable(true).front(face).back(face);
    state
}

fn stencil_target(samples: vk::SampleCountFlags, stencil: u32) -> Target {
    let clear_depth = vk::ClearDepthStencilValue { depth: 1.0, stencil };
    Target { samples, depth: vk::Format::D32_SFLOAT_S8_UINT, clear_depth, ..Target::default() }
}

/// Columns in which something was drawn.
fn columns(pixels: &[[u8; 4]]) -> Vec<u32> {
    let is_lit = |x: &u32| pixels.iter().skip(*x as usize).step_by(SIZE as usize).all(|pixel| pixel[0] == 255);
    (0..SIZE).filter(is_lit).collect()
}

/// The shader's reference is stored; another draw finds it.
fn stencil_replaced(gpu: &Gpu, samples: vk::SampleCountFlags) -> Case {
    need_export(gpu)?;
    for column in [0, 5, 15] {
        let (always, replace) = (vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE);
        let first = Draw::rect(stencil(STENCIL_REF, always, replace, 0x5a), FULL, [0.0; 4]);
        let (equal, keep) = (vk::CompareOp::EQUAL, vk::StencilOp::KEEP);
        let second = Draw::rect(stencil(crate::render::COLOR, equal, keep, column), FULL, [1.0; 4]);
        let pixels = render(gpu, &stencil_target(samples, 99), &[first, second])?;
        check(columns(&pixels) == [column], || format!("{:?}, not {column}", columns(&pixels)))?;
    }
    Ok(())
}

/// Fragments of several pixels give all of these one reference: that of the column in their middle.
fn stencil_coarse(gpu: &Gpu) -> Case {
    need_export(gpu)?;
    gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME)?;
    for (size, samples) in [([2, 1], ONE), ([2, 2], ONE), ([2, 2], FOUR)] {
        let (always, replace) = (vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE);
        let mut state = stencil(STENCIL_REF, always, replace, 0x5a);
        state.more.fragment_size = Some(size);
        let first = Draw::rect(state, FULL, [0.0; 4]);
        for column in [0, 1, 7, 15] {
            let (equal, keep) = (vk::CompareOp::EQUAL, vk::StencilOp::KEEP);
            let second = Draw::rect(stencil(crate::render::COLOR, equal, keep, column), FULL, [1.0; 4]);
            let pixels = render(gpu, &stencil_target(samples, 99), &[first.clone(), second])?;
            let expected = if column % 2 == 0 { vec![] } else { vec![column - 1, column] };
            check(columns(&pixels) == expected, || format!("{size:?}: {:?} of {column}", columns(&pixels)))?;
        }
    }
    Ok(())
}

/// The shader's reference is compared.
fn stencil_compared(gpu: &Gpu) -> Case {
    need_export(gpu)?;
    let draw = Draw::rect(stencil(STENCIL_REF, vk::CompareOp::LESS, vk::StencilOp::KEEP, 200), FULL, [1.0; 4]);
    let pixels = render(gpu, &stencil_target(ONE, 7), &[draw])?;
    check(columns(&pixels) == [0, 1, 2, 3, 4, 5, 6], || format!("{:?}", columns(&pixels)))
}

/// A rectangle of a depth that asks for less, in some samples.
fn at_depth(fragment: &'static [u8], depth: f32, sample_mask: u32, storage: Option<Buffer>) -> Draw {
    let mut state = State { fragment, sample_mask, ..State::default() };
    state.depth_stencil =
        state.depth_stencil.depth_test_enable(true).depth_write_enable(true).depth_compare_op(vk::CompareOp::LESS);
    Draw { storage, ..Draw::rect(state, FULL, [1.0; 4]).at(depth) }
}

/// What the shader says of every pixel after a nearer rectangle in samples 0 and 2, and another behind it.
fn coverage(gpu: &Gpu, fragment: &'static [u8], masks: &[(f32, u32)]) -> Result<u32, Outcome> {
    coverage_behind(gpu, 0b0101, fragment, masks)
}

/// The same with a nearer rectangle in some samples.
fn coverage_behind(gpu: &Gpu, nearer: u32, fragment: &'static [u8], masks: &[(f32, u32)]) -> Result<u32, Outcome> {
    let storage = gpu.buffer(u64::from(SIZE * SIZE * 4))?;
    let mut draws = vec![at_depth(crate::render::COLOR, 0.25, nearer, None)];
    draws.extend(masks.iter().map(|&(depth, mask)| at_depth(fragment, depth, mask, Some(storage))));
    let target = Target { samples: FOUR, depth: vk::Format::D32_SFLOAT, ..Target::default() };
    render(gpu, &target, &draws)?;
    let words = storage.words();
    check(words.iter().all(|&word| word == words[0]), || format!("{words:?}"))?;
    Ok(words[0])
}

/// Without the extension a fragment sees what the primitive covers, whatever tests leave of it.
fn coverage_before(gpu: &Gpu) -> Case {
    let seen = coverage(gpu, COVERAGE, &[(0.5, 0b1111)])?;
    check(seen == 16 + 0b1111, || format!("{seen}"))?;
    let seen = coverage(gpu, COVERAGE, &[(0.5, 0b0011)])?;
    check(seen == 16 + 0b0011, || format!("{seen} with a mask"))
}

/// That tests come first changes nothing of it, but for fragments of which they leave nothing.
fn coverage_early(gpu: &Gpu) -> Case {
    const RAN: u32 = 1 << 31;
    // Where the triangles of a rectangle meet, one has samples 0 and 2, the other has 1 and 3.
    let seen = |masks: &[(f32, u32)]| coverage_behind(gpu, 0b0001, EARLY_COVERAGE, masks);
    let found = seen(&[(0.5, 0b1111)])?;
    check(found == RAN | 0b1111, || format!("{found:x}"))?;
    let found = seen(&[(0.5, 0b0101)])?;
    check(found == RAN | 0b0101, || format!("{found:x} with a mask"))?;
    let found = seen(&[(0.5, 0b0001)])?;
    check(found == 0, || format!("{found:x} of what is hidden"))?;
    let found = seen(&[(0.5, 0b0101), (0.75, 0b1110)])?;
    check(found == RAN | 0b1111, || format!("{found:x} one behind the other"))
}

/// The same of fragments of four pixels.
fn coverage_early_coarse(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME)?;
    let storage = gpu.buffer(u64::from(SIZE * SIZE * 4))?;
    let mut draw = at_depth(EARLY_COVERAGE, 0.5, 0b1111, Some(storage));
    draw.state.more.fragment_size = Some([2, 2]);
    let target = Target { samples: FOUR, depth: vk::Format::D32_SFLOAT, ..Target::default() };
    render(gpu, &target, &[at_depth(crate::render::COLOR, 0.25, 0b0101, None), draw])?;
    for (at, word) in (0..).zip(storage.words()) {
        // A fragment's place is where its pixels meet.
        let expected = if at % 2 == 1 && at / SIZE % 2 == 1 { 1 << 31 | 0xffff } else { 0 };
        check(word == expected, || format!("{word:x} at {at}"))?;
    }
    Ok(())
}

/// With it, what tests leave; the pipeline's mask comes after them, so that depth is written where it is not set, too.
fn coverage_after(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_POST_DEPTH_COVERAGE_NAME)?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b1111)])?;
    check(seen == 16 + 0b1010, || format!("{seen}"))?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b0011)])?;
    check(seen == 16 + 0b0010, || format!("{seen} with a mask"))?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b0011), (0.75, 0b1111)])?;
    check(seen == 16 + 0b0010, || format!("{seen} behind what was masked"))
}
