//! Extensions of shaders: explicit layouts of shared memory, derivatives in compute,
//! reconvergence, quads, floating-point modes, and shorter forms.

use std::cmp::Ordering;

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, Kind, SIZE, State, TRIANGLES, Target, render};
use vitric_vulkan::names;

const WORKGROUP: &[u8] = shader!("workgroup.comp");
const QUADS: &[u8] = shader!("derivatives_quads.comp");
const LINEAR: &[u8] = shader!("derivatives_linear.comp");
const RECONVERGE: &[u8] = shader!("reconverge.comp");
const WHOLE_QUADS: &[u8] = shader!("quads.frag");
const NEWER: &[u8] = shader!("newer.comp");
const NARROW_DOUBLES: &[u8] = shader!("narrow_doubles.comp");
const DOUBLE_WORDS: &[u8] = shader!("double_words.comp");
const ANNOTATED: &[u8] = shader!("annotated.comp");
const IMPORTS: &[u8] = shader!("imports.comp");
const SIGNED_ZEROS: &[u8] = shader!("signed_zeros.comp");
const NAN_SIGNS: &[u8] = shader!("nan_signs.comp");
const BITS: &[u8] = shader!("bits.comp");
const DISTANCES: &[u8] = shader!("distances.comp");
const NULLS: &[u8] = shader!("nulls.comp");
const INDICES: &[u8] = shader!("indices.comp");

fn lacking(what: &str) -> Case {
    Err(Outcome::NotSupported(what.into()))
}

case!("programs.workgroup.aliased", "VK_KHR_workgroup_memory_explicit_layout", workgroup);

/// Runs a shader with blocks that share their memory, in words, 16-bit values and bytes, and in a
/// scalar layout.
fn workgroup(gpu: &Gpu) -> Case {
    let own = &gpu.extension_features.workgroup_layout;
    let all = own.workgroup_memory_explicit_layout
        & own.workgroup_memory_explicit_layout_scalar_block_layout
        & own.workgroup_memory_explicit_layout8_bit_access
        & own.workgroup_memory_explicit_layout16_bit_access;
    if all & gpu.extension_features.float16_int8.shader_int8 & gpu.features.shader_int16 == 0 {
        return lacking("layouts of shared memory");
    }
    let words: Vec<u32> = (0..64u32).map(|number| number.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995).collect();
    let (source, target) = (gpu.buffer_with(&words)?, gpu.buffer(256)?);
    gpu.compute(WORKGROUP, 0, &[], &[source, target], [1, 1, 1])?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let half = |bytes: &[u8], at: usize| u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let sums: Vec<u32> = (0..64).map(|i| half(&bytes, 4 * i + 2) * 3 + u32::from(bytes[(4 * i + 7) % 256])).collect();
    for i in 0..64 {
        bytes[4 * i + (i & 3)] = i as u8;
        if i % 2 == 0 {
            bytes[4 * i + 2..4 * i + 4].copy_from_slice(&(i as u16 * 5).to_le_bytes());
        }
    }
    let expected = (0..64).map(|i| {
        let word = u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * i + byte]));
        let three = if i < 20 { half(&bytes, 8 + 6 * i) } else { 0 };
        let last = if i == 0 { u32::from(bytes[124]) } else { 0 };
        sums[i] ^ word ^ three << 7 ^ last << 20
    });
    let (found, expected) = (target.words(), expected.collect::<Vec<u32>>());
    check(found == expected, || format!("{found:x?} instead of {expected:x?}"))
}

case!("programs.derivatives.quads", "VK_KHR_compute_shader_derivatives", |gpu| derivatives(gpu, true));
case!("programs.derivatives.linear", "VK_KHR_compute_shader_derivatives", |gpu| derivatives(gpu, false));

/// Checks which four invocations a derivative is taken of, by index, and what they read of each
/// other.
fn derivatives(gpu: &Gpu, squares: bool) -> Case {
    let own = &gpu.extension_features.compute_derivatives;
    let has = if squares { own.compute_derivative_group_quads } else { own.compute_derivative_group_linear };
    if has == 0 {
        return lacking("rates of change in compute");
    }
    const SIZE: [usize; 3] = [12, 4, 2];
    let place = |index: usize| [index % SIZE[0], index / SIZE[0] % SIZE[1], index / SIZE[0] / SIZE[1]];
    let value = |index: usize| {
        let [x, y, z] = place(index).map(|number| number as f32);
        x * x + y * 100.0 + x * y * 10.0 + z * 1000.0
    };
    let (rates, others) = (gpu.buffer(96 * 16)?, gpu.buffer(96 * 16)?);
    gpu.compute(if squares { QUADS } else { LINEAR }, 0, &[], &[rates, others], [1, 1, 1])?;
    let floats = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect::<Vec<_>>();
    let (rates, others) = (floats(rates.words()), floats(others.words()));
    for index in 0..96 {
        let [x, y, _] = place(index);
        // Its quad: the first row, then the second.
        let (quad, own) = match squares {
            true => {
                let first = index - x % 2 - y % 2 * SIZE[0];
                ([first, first + 1, first + SIZE[0], first + SIZE[0] + 1], x % 2 + y % 2 * 2)
            }
            false => ([0, 1, 2, 3].map(|lane| index / 4 * 4 + lane), index % 4),
        };
        let along = |from: usize, to: usize| value(quad[to]) - value(quad[from]);
        let (fine_x, fine_y) = (along(own & 2, own & 2 | 1), along(own & 1, own & 1 | 2));
        let [dx, dy, coarse, width] = [0, 1, 2, 3].map(|component| rates[index * 4 + component]);
        let good = (dx, dy, width) == (fine_x, fine_y, fine_x.abs() + fine_y.abs());
        check(good && [along(0, 1), along(2, 3)].contains(&coarse), || {
            format!("{index}: {dx}, {dy}, {coarse}, {width} instead of {fine_x}, {fine_y}")
        })?;
        let beside = place(quad[own ^ 1])[0] as f32;
        let below = place(quad[own ^ 2])[1] as f32;
        let seen = [others[index * 4], others[index * 4 + 1]];
        check(seen == [beside, below], || format!("{index} sees {seen:?} instead of {beside}, {below}"))?;
    }
    Ok(())
}

/// Returns the results of each invocation of `reconverge.comp`, for subgroups of `size`
/// invocations.
fn met(trips: &[u32], size: usize) -> Vec<[u32; 4]> {
    let mut out = Vec::new();
    for group in trips.chunks(size) {
        let count = |holds: &dyn Fn(u32) -> bool| group.iter().filter(|&&trips| holds(trips)).count() as u32;
        let all = group.len() as u32;
        for &own in group {
            let mut seen = [0u32; 4];
            for trip in 0..own.min(16) {
                if (own ^ trip) & 1 == 0 {
                    let others = count(&|trips| trip < trips && (trips ^ trip) & 1 == 0);
                    seen[0] = seen[0].wrapping_mul(31).wrapping_add(others);
                }
            }
            let kind = |kind: u32| count(&|trips| trips & 3 == kind);
            match own & 3 {
                0 => seen[2] = kind(0),
                // The first case falls into the second.
                1 => (seen[2], seen[3]) = (100, kind(1) + kind(2)),
                2 => seen[3] = kind(1) + kind(2),
                _ => (seen[2], seen[3]) = (kind(3), if own > 7 { 200 } else { 0 }),
            }
            seen[1] = all + (all << 8);
            out.push(seen);
        }
    }
    out
}

case!("programs.reconvergence.loops_and_cases", "VK_KHR_shader_maximal_reconvergence", reconvergence);

fn reconvergence(gpu: &Gpu) -> Case {
    if gpu.extension_features.reconvergence.shader_maximal_reconvergence == 0 {
        return lacking("maximal reconvergence");
    }
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    let size = own.subgroup_size as usize;
    for seed in 0..4u32 {
        let trips: Vec<u32> = (0..64u32).map(|lane| (lane * 7 + seed * 5 + lane * lane / 3) % 13).collect();
        let (source, target) = (gpu.buffer_with(&trips)?, gpu.buffer(64 * 16)?);
        gpu.compute(RECONVERGE, 0, &[], &[source, target], [1, 1, 1])?;
        let (words, expected) = (target.words(), met(&trips, size));
        for (lane, (seen, expected)) in words.chunks_exact(4).zip(&expected).enumerate() {
            check(seen == expected, || format!("seed {seed}, {lane}: {seen:?} instead of {expected:?}"))?;
        }
    }
    Ok(())
}

case!("programs.quads.whole", "VK_KHR_shader_quad_control", whole_quads);

/// Checks that every covered invocation of small and long triangles sees three neighbours, also
/// where they are not covered.
fn whole_quads(gpu: &Gpu) -> Case {
    if gpu.extension_features.quad_control.shader_quad_control == 0 {
        return lacking("control over quads");
    }
    let corner = |x: f32, y: f32| [[x / 8.0 - 1.0, y / 8.0 - 1.0, 0.5, 1.0], [1.0f32; 4]];
    let vertices =
        [corner(1.2, 1.1), corner(2.1, 1.4), corner(1.4, 2.2), corner(3.0, 4.0), corner(15.5, 6.3), corner(5.1, 15.2)];
    let state = State { vertex: TRIANGLES, fragment: WHOLE_QUADS, ..State::default() };
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: 6 };
    let pixels = render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) }])?;
    let at = |x: u32, y: u32| pixels[(y * SIZE + x) as usize];
    let mut seen = [0; 2];
    for (x, y) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (x, y))) {
        let [right, below, helpers, rate] = at(x, y);
        if right == 0 {
            continue;
        }
        let expected_rate = if (x / 2 + y / 2) % 2 == 0 { 191 } else { 0 };
        check((right, below) == (255, 255) && rate.abs_diff(expected_rate) <= 1, || {
            format!("{x}, {y}: {:?}", at(x, y))
        })?;
        let (x, y) = (x & !1, y & !1);
        let covered = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)].iter().all(|pixel| pixel[0] != 0);
        check(covered == (helpers == 0), || format!("{x}, {y}: {helpers}, covered: {covered}"))?;
        seen[usize::from(covered)] += 1;
    }
    check(seen[0] > 4 && seen[1] > 8, || format!("{seen:?}"))
}

case!("programs.modes.floats", "VK_KHR_shader_float_controls2", newer);

/// Checks a product that may not be fused with a sum, one that may, and replicated composites.
fn newer(gpu: &Gpu) -> Case {
    if gpu.extension_features.float_controls2.shader_float_controls2 == 0 {
        return lacking("modes of floating point");
    }
    gpu.need(names::EXT_SHADER_REPLICATED_COMPOSITES_NAME)?;
    gpu.need(names::KHR_SHADER_RELAXED_EXTENDED_INSTRUCTION_NAME)?;
    let (x, y) = (1.0 + 1.0 / 4096.0f32, -(1.0 + 1.0 / 2048.0f32));
    let (source, target) = (gpu.buffer_with(&[x, y])?, gpu.buffer(32)?);
    gpu.compute(NEWER, 0, &[], &[source, target], [1, 1, 1])?;
    let found: Vec<f32> = target.words().into_iter().map(f32::from_bits).collect();
    let (apart, fused) = (x * x + y, x.mul_add(x, y));
    check(apart == 0.0 && fused != 0.0, || format!("{apart}, {fused}"))?;
    let is_good = found[0] == apart && [apart, fused].contains(&found[1]) && found[2..5] == [x, 2.5, 0.5];
    check(is_good, || format!("{found:?}"))
}

case!("programs.annotations.hlsl", "VK_GOOGLE_hlsl_functionality1", annotated);

/// Runs a shader with strings and ids that HLSL compilers attach to variables, types and members.
fn annotated(gpu: &Gpu) -> Case {
    for name in [vk::GOOGLE_DECORATE_STRING_NAME, vk::GOOGLE_HLSL_FUNCTIONALITY1_NAME, vk::GOOGLE_USER_TYPE_NAME] {
        gpu.need(name)?;
    }
    let words: Vec<u32> = (0..64).map(|number| number * 7).collect();
    let (source, target) = (gpu.buffer_with(&words)?, gpu.buffer(256)?);
    gpu.compute(ANNOTATED, 0, &[], &[source, target], [1, 1, 1])?;
    let expected: Vec<u32> = words.iter().map(|word| word * 3).collect();
    check(target.words() == expected, || format!("{:?}", target.words()))
}

case!("programs.imports.repeated", "Extended Instructions", imports);

/// Runs a shader that imports a set of extended instructions twice, and uses both imports.
fn imports(gpu: &Gpu) -> Case {
    let words: Vec<u32> = (0..64).collect();
    let (source, target) = (gpu.buffer_with(&words)?, gpu.buffer(256)?);
    gpu.compute(IMPORTS, 0, &[], &[source, target], [1, 1, 1])?;
    let expected: Vec<u32> = words.iter().map(|&word| word.clamp(10, 50)).collect();
    check(target.words() == expected, || format!("{:?}", target.words()))
}

case!("programs.modes.signed_zeros", "VK_KHR_shader_float_controls2", signed_zeros);

/// Checks the lesser and greater of two zeros, single and double, where modes preserve signs, and
/// the sign of parts of a number.
fn signed_zeros(gpu: &Gpu) -> Case {
    let has_doubles = gpu.features.shader_float64 != 0;
    if gpu.extension_features.float_controls2.shader_float_controls2 == 0 || !has_doubles {
        return lacking("modes of floating point");
    }
    let pairs = [[0.0f32, -0.0], [-0.0, 0.0], [-1.0, -0.0], [2.5, -3.25]];
    let (source, target) = (gpu.buffer_with(&pairs)?, gpu.buffer(256)?);
    gpu.compute(SIGNED_ZEROS, 0, &[], &[source, target], [1, 1, 1])?;
    for ([x, y], found) in pairs.into_iter().zip(target.words().chunks(16)) {
        let ordered = |least: bool| if (x.total_cmp(&y) == Ordering::Less) == least { x } else { y };
        let (min, max) = (ordered(true), ordered(false));
        // Clamped from `y` to `y`. Each also in the variants for numbers, and of doubles.
        let functions = [min, max, y, min, max, y].map(f32::to_bits);
        let parts = [x - x.trunc(), x.trunc()].map(|part| part.abs().copysign(x).to_bits());
        let expected = [&functions[..], &functions[..], &parts[..]].concat();
        check(found[..14] == expected, || format!("{x}, {y}: {found:x?} instead of {expected:x?}"))?;
        check(f32::from_bits(found[14]) == min, || format!("{x}, {y}: {:x} where zeros have any sign", found[14]))?;
    }
    Ok(())
}

case!("programs.modes.nan_signs", "VK_KHR_shader_float_controls", nan_signs);

/// Checks that a NaN has a sign, and stays NaN when it is negated.
fn nan_signs(gpu: &Gpu) -> Case {
    let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
    gpu.properties2(&mut controls);
    if controls.shader_signed_zero_inf_nan_preserve_float32 == 0 {
        return lacking("numbers that are none");
    }
    let quiet = f32::NAN.to_bits() & 0x7fff_ffff;
    let numbers = [quiet, quiet | 0x8000_0000, quiet | 0x1234, 0xffff_ffff, 2.5f32.to_bits(), (-0.25f32).to_bits(), 0];
    let padded = [&numbers[..], &[0; 9]].concat();
    let (source, target) = (gpu.buffer_with(&padded)?, gpu.buffer(256)?);
    gpu.compute(NAN_SIGNS, 0, &[], &[source, target], [1, 1, 1])?;
    for (bits, &[sign, negated, size, other]) in numbers.into_iter().zip(target.floats().as_chunks::<4>().0) {
        let x = f32::from_bits(bits);
        let good = match x.is_nan() {
            true => [sign, other].iter().all(|sign| [-1.0, 0.0, 1.0].contains(sign)) && (negated + size).is_nan(),
            false => {
                let expected = if x == 0.0 { 0.0 } else { x.signum() };
                [sign, negated, size, other] == [expected, -x, x.abs(), -expected]
            }
        };
        check(good, || format!("{bits:#x}: {:?}", [sign, negated, size, other]))?;
    }
    Ok(())
}

case!("programs.integers.bits", "VK_KHR_maintenance9", bits);

/// Checks bits of integers of 8, 16 and 64 bits: reversed, counted, searched and extracted.
fn bits(gpu: &Gpu) -> Case {
    gpu.need(names::KHR_MAINTENANCE9_NAME)?;
    let features =
        [gpu.features.shader_int16, gpu.features.shader_int64, gpu.extension_features.float16_int8.shader_int8];
    if features.contains(&0) {
        return lacking("integers of all widths");
    }
    let least = [0, 1, 0x80, 0xff, 0x8000, 0xffff, 0x1_0000, 1 << 31, 1 << 32, 1 << 63, !0, !0 << 40];
    let numbers = [&least[..], &[0x1234_5678_9abc_def0u64, 0x0f0f_0000_0000_0024, !0x1_0000, !(1 << 45)]].concat();
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(16 * 4 * 21)?);
    gpu.compute(BITS, 0, &[], &[source, target], [1, 1, 1])?;
    for (number, found) in numbers.into_iter().zip(target.words().chunks(21)) {
        let mut expected = Vec::new();
        for width in [8, 16, 64] {
            let all = u64::MAX >> (64 - width);
            let x = number & all;
            let reversed = x.reverse_bits() >> (64 - width);
            expected.push(reversed as u32);
            expected.extend((width == 64).then_some((reversed >> 32) as u32));
            expected.extend([x.count_ones(); 2]);
            let highest = |x: u64| x.checked_ilog2().unwrap_or(u32::MAX);
            let lowest = if x == 0 { u32::MAX } else { x.trailing_zeros() };
            let magnitude = if x >> (width - 1) == 0 { x } else { !x & all };
            expected.extend([lowest, highest(magnitude), highest(x)]);
        }
        let field = (number as u8 as i8) << 2 >> 4;
        expected.extend([(number >> 5) as u32 & 7, field as i32 as u32]);
        check(found == expected, || format!("{number:#x}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

case!("programs.pointers.distances", "VK_KHR_variable_pointers", distances);

/// Checks distances between array elements whose pointer types have no stride.
fn distances(gpu: &Gpu) -> Case {
    if gpu.extension_features.variable_pointers.variable_pointers_storage_buffer == 0 {
        return lacking("pointers that are chosen");
    }
    gpu.need(vk::KHR_SPIRV_1_4_NAME)?;
    let (source, target) = (gpu.buffer(16 * 64)?, gpu.buffer(16 * 4 * 4)?);
    gpu.compute(DISTANCES, 0, &[], &[source, target], [1, 1, 1])?;
    for (lane, found) in (0i32..).zip(target.words().chunks(4)) {
        let chosen = if lane & 1 == 0 { [-4 * lane, -4 * lane] } else { [0, 4 * lane] };
        let expected = [lane - 3, (lane & 7) - 2, chosen[0], chosen[1]].map(i32::cast_unsigned);
        check(found == expected, || format!("{lane}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

case!("programs.pointers.nulls", "VK_KHR_variable_pointers", nulls);

/// Compares pointers with null, also pointers to the first byte of shared memory.
fn nulls(gpu: &Gpu) -> Case {
    if gpu.extension_features.variable_pointers.variable_pointers == 0 {
        return lacking("pointers that are chosen");
    }
    gpu.need(vk::KHR_SPIRV_1_4_NAME)?;
    let target = gpu.buffer(16 * 4 * 4)?;
    gpu.compute(NULLS, 0, &[], &[target], [1, 1, 1])?;
    for (lane, found) in (0u32..).zip(target.words().chunks(4)) {
        let is_odd = lane & 1;
        let expected = [0, is_odd, is_odd | u32::from(lane == 0), 4 * lane * is_odd];
        check(found == expected, || format!("{lane}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

case!("programs.integers.indices", "Precision and Operation of SPIR-V Instructions", indices);

/// Checks indices of 8, 16 and 64 bits, and 16-bit angles that are multiplied by a 16-bit number.
fn indices(gpu: &Gpu) -> Case {
    let features =
        [gpu.features.shader_int16, gpu.features.shader_int64, gpu.extension_features.float16_int8.shader_int8];
    if features.contains(&0) || gpu.extension_features.float16_int8.shader_float16 == 0 {
        return lacking("integers of all widths and halves");
    }
    let numbers: Vec<u32> = (0..16).map(|lane| if lane == 0 { 0x03f0 } else { 0x3c00 + lane * 37 }).collect();
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(16 * 4 * 8)?);
    gpu.compute(INDICES, 0, &[], &[source, target], [1, 1, 1])?;
    let times = |number: u32, factor: f32| {
        let product = half::f16::from_bits(number as u16).to_f32() * half::f16::from_f32(factor).to_f32();
        u32::from(half::f16::from_f32(product).to_bits())
    };
    for (lane, (&number, found)) in numbers.iter().zip(target.words().chunks(8)).enumerate() {
        let rest = lane as u32 & 3;
        let first = if rest == 0 { 7 } else { number };
        let last = if rest == 3 { 7 } else { number + 3 };
        let (degrees, radians) = (times(number, 1f32.to_degrees()), times(number, 1f32.to_radians()));
        let expected = [number, number, number, number + rest, number + rest, first * last, degrees, radians];
        check(found == expected, || format!("{number:#x}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

/// Returns the value of a 16-bit float that is not negative. Infinity counts as the successor of
/// the greatest.
fn below(code: u16) -> f64 {
    if code == 0x7c00 { 65536.0 } else { half::f16::from_bits(code).to_f64() }
}

case!("programs.modes.narrow_doubles", "Precision and Operation of SPIR-V Instructions", narrow_doubles);

/// Checks that doubles are converted to 16-bit floats in one step: a value nearly halfway between
/// two becomes exactly halfway as a single float.
fn narrow_doubles(gpu: &Gpu) -> Case {
    if gpu.features.shader_float64 & gpu.extension_features.float16_int8.shader_float16 == 0 {
        return lacking("doubles and halves");
    }
    let (step, little) = (2.0f64.powi(-10), 2.0f64.powi(-40));
    let numbers = [
        [1.0, 1.0 + step / 2.0, 1.0 + step / 2.0 + little, 1.0 + step / 2.0 - little],
        [1.0 + step * 1.5, 1.0 + step * 1.5 - little, -1.0 - step + little, 65504.0 + 15.99],
        [0.1, -1.0 / 3.0, 1e5, -1e300],
        [f64::INFINITY, 0.0, -0.0, 3.0f64.sqrt()],
    ]
    .concat();
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(128)?);
    gpu.compute(NARROW_DOUBLES, 0, &[], &[source, target], [1, 1, 1])?;
    for (number, found) in numbers.into_iter().zip(target.words().chunks(2)) {
        // The 16-bit floats on both sides. The successor of the greatest would be 65536.
        let size = number.abs();
        let mut code = 0;
        while code < 0x7c00 && below(code + 1) <= size {
            code += 1;
        }
        let (under, over) = (size - below(code), below(code + 1) - size);
        let rounds_up = code < 0x7c00 && (over < under || (over == under && code % 2 == 1));
        let cut = if size.is_finite() { code.min(0x7bff) } else { code };
        let expected = [code + u16::from(rounds_up), cut].map(|code| {
            half::f16::from_bits(code | if number.is_sign_negative() { 0x8000 } else { 0 }).to_f32().to_bits()
        });
        check(found == expected, || format!("{number}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

case!("programs.integers.of_doubles", "Precision and Operation of SPIR-V Instructions", integers_of_doubles);

/// Checks that values out of range become the nearest integer. SPIR-V leaves this open, and
/// Khronos' suite expects it.
fn integers_of_doubles(gpu: &Gpu) -> Case {
    if gpu.features.shader_float64 == 0 {
        return lacking("doubles");
    }
    let numbers: [f64; 16] = [
        0.0,
        -0.9,
        1.5,
        -7.25,
        2_147_483_647.5,
        2_147_483_648.0,
        -2_147_483_648.5,
        -2_147_483_649.0,
        4_294_967_295.5,
        4_294_967_296.0,
        -1.220_268_134_4e10,
        3.1e19,
        -2.8e256,
        1.8e236,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(128)?);
    gpu.compute(DOUBLE_WORDS, 0, &[], &[source, target], [1, 1, 1])?;
    for (number, found) in numbers.into_iter().zip(target.words().chunks(2)) {
        let expected = [number as i32 as u32, number as u32];
        check(found == expected, || format!("{number}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}
