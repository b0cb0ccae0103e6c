//! Vertex input extensions: provoking vertices, restarts in lists, 8-bit indices, divisors, depth
//! clipping, depth bias units.

use ash::vk;
use ash::vk::{DepthBiasRepresentationEXT as Unit, PrimitiveTopology as T};

use crate::Entry;
use crate::cases::support::conditions::need_last_provoking;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FLAT, FLAT_COLOR, FULL, INSTANCES, Kind, POINTS, SIZE, State, TRIANGLES, Target, render};

const COUNT_IDS: &[u8] = shader!("count_ids.frag");

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let topologies = [
        ("point_list", T::POINT_LIST),
        ("line_list", T::LINE_LIST),
        ("line_strip", T::LINE_STRIP),
        ("triangle_list", T::TRIANGLE_LIST),
        ("triangle_strip", T::TRIANGLE_STRIP),
        ("triangle_fan", T::TRIANGLE_FAN),
    ];
    for (name, topology) in topologies {
        for (mode, last) in [("first", false), ("last", true)] {
            let run = move |gpu: &Gpu| provoking(gpu, topology, last);
            cases.push(Entry::new(format!("vertices.provoking.{name}_{mode}"), "Flat Shading", run));
        }
    }
    let kinds =
        [("uint8", vk::IndexType::UINT8_KHR), ("uint16", vk::IndexType::UINT16), ("uint32", vk::IndexType::UINT32)];
    for (name, kind) in kinds {
        let run = move |gpu: &Gpu| list_restart(gpu, kind);
        cases.push(Entry::new(format!("vertices.list_restart.{name}"), "Primitive Restart", run));
    }
    for divisor in [0, 1, 2, 3, 7, u32::MAX] {
        let run = move |gpu: &Gpu| instances(gpu, divisor);
        cases.push(Entry::new(format!("vertices.divisor.by_{divisor}"), "Vertex Attribute Divisor", run));
    }
    for unit in [Unit::LEAST_REPRESENTABLE_VALUE_FORMAT, Unit::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM, Unit::FLOAT] {
        for format in [vk::Format::D16_UNORM, vk::Format::D32_SFLOAT] {
            let run = move |gpu: &Gpu| bias(gpu, unit, format);
            let name = format!(
                "vertices.depth_bias.unit{}_{}",
                unit.as_raw(),
                if format == vk::Format::D16_UNORM { "d16" } else { "d32" }
            );
            cases.push(Entry::new(name, "Depth Bias", run));
        }
    }
    for (name, topology) in [("strip", T::TRIANGLE_STRIP), ("fan", T::TRIANGLE_FAN)] {
        let run = move |gpu: &Gpu| long_stream(gpu, topology, false);
        cases.push(Entry::new(format!("vertices.long.{name}"), "Primitive Topologies", run));
        let run = move |gpu: &Gpu| long_stream(gpu, topology, true);
        cases.push(Entry::new(format!("vertices.long.{name}_restarts"), "Primitive Restart", run));
    }
}

/// Returns true if a triangle of these vertices covers the point (0.3, 0.2) of the rectangle.
fn covers(triangle: [u32; 3]) -> bool {
    let corner = |vertex: u32| [(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)][vertex as usize % 6];
    let side = |from: u32, to: u32| {
        let ((x0, y0), (x1, y1)) = (corner(from), corner(to));
        (x1 - x0) * (2 - 10 * y0) - (y1 - y0) * (3 - 10 * x0)
    };
    let [a, b, c] = triangle;
    let sides = [side(a, b), side(b, c), side(c, a)];
    sides.iter().all(|&side| side > 0) || sides.iter().all(|&side| side < 0)
}

/// Draws two instances of strips and fans of more vertices than are assembled at once. Each
/// triangle has its number and its fragments. `restarts` ends some primitives by indices.
fn long_stream(gpu: &Gpu, topology: vk::PrimitiveTopology, restarts: bool) -> Case {
    if gpu.features.fragment_stores_and_atomics == 0 || gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("numbers of primitives in fragments that write memory".into()));
    }
    let count = 2 * (1u32 << 20) + 4321;
    let stops = |index: u32| restarts && (index % 7 == 5 || index % 1000 == 77 || index >> 17 == 9);
    let vertices: Vec<Option<u32>> = (0..count).map(|index| (!stops(index)).then_some(index % 11)).collect();
    let (mut number, mut fragments, mut numbers) = (0u32, 0, 0u32);
    for strip in vertices.split(Option::is_none) {
        // Without indices, vertices are numbered by their position.
        let vertex = |at: usize| if restarts { strip[at].unwrap_or(0) } else { at as u32 };
        for at in 2..strip.len() {
            let first = if topology == T::TRIANGLE_FAN { 0 } else { at - 2 };
            if covers([vertex(first), vertex(at - 1), vertex(at)]) {
                fragments += 1;
                numbers = numbers.wrapping_add(number);
            }
            number += 1;
        }
    }
    // A rectangle around the centre of one pixel.
    let rect = [0.0325, 0.0425, 0.1325, 0.1425];
    let state = State { fragment: COUNT_IDS, topology, restart: restarts, ..State::default() };
    let storage = gpu.buffer(8)?;
    let kind = if restarts {
        let indices: Vec<u32> = vertices.iter().map(|vertex| vertex.unwrap_or(u32::MAX)).collect();
        let (buffer, indices) = (gpu.buffer(16)?, gpu.buffer_with(&indices)?);
        Kind::Indexed { buffer, indices, count, kind: vk::IndexType::UINT32 }
    } else {
        Kind::Indirect { buffer: gpu.buffer_with(&[count, 2, 0, 0])?, count: 1 }
    };
    let instances = if restarts { 1 } else { 2 };
    let draw = Draw { kind, storage: Some(storage), ..Draw::rect(state, rect, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let expected = [instances * fragments, numbers.wrapping_mul(instances)];
    check(storage.words()[..2] == expected, || format!("{:?} instead of {expected:?}", &storage.words()[..2]))
}

/// Returns the position of a pixel's centre.
fn place(x: f32, y: f32) -> [f32; 4] {
    [(x + 0.5) / 8.0 - 1.0, (y + 0.5) / 8.0 - 1.0, 0.5, 1.0]
}

/// Positions of vertices, primitives as lists of vertices in the specification's order, and a
/// pixel of each.
type Primitives = (Vec<[f32; 4]>, Vec<Vec<usize>>, Vec<[f32; 2]>);

fn primitives(topology: T) -> Primitives {
    let zigzag: Vec<[f32; 4]> =
        (0..7u8).map(|number| place(f32::from(number) * 2.0 + 1.0, if number % 2 == 0 { 1.0 } else { 9.0 })).collect();
    let middle = |corners: &[usize], places: &[[f32; 4]]| {
        [0, 1].map(|axis: usize| {
            let sum: f32 = corners.iter().map(|&corner| (places[corner][axis] + 1.0) * 8.0 - 0.5).sum();
            sum / corners.len() as f32
        })
    };
    let (places, primitives): (Vec<[f32; 4]>, Vec<Vec<usize>>) = match topology {
        T::POINT_LIST => (zigzag, (0..7).map(|number| vec![number]).collect()),
        T::LINE_LIST => (zigzag, (0..3).map(|number| vec![number * 2, number * 2 + 1]).collect()),
        T::LINE_STRIP => (zigzag, (0..6).map(|number| vec![number, number + 1]).collect()),
        T::TRIANGLE_STRIP => {
            let corners = |number: usize| vec![number, number + 1 + number % 2, number + 2 - number % 2];
            (zigzag, (0..5).map(corners).collect())
        }
        T::TRIANGLE_FAN => {
            let around = [[1.0, 1.0], [13.0, 1.0], [13.0, 5.0], [9.0, 9.0], [5.0, 13.0], [1.0, 13.0]];
            let places = around.map(|[x, y]| place(x, y)).to_vec();
            (places, (0..4).map(|number| vec![number + 1, number + 2, 0]).collect())
        }
        _ => {
            let corners = [[1.0, 1.0], [7.0, 1.0], [1.0, 7.0], [14.0, 8.0], [8.0, 14.0], [8.0, 8.0]];
            (corners.map(|[x, y]| place(x, y)).to_vec(), vec![vec![0, 1, 2], vec![3, 4, 5]])
        }
    };
    let middles = primitives.iter().map(|corners| middle(corners, &places)).collect();
    (places, primitives, middles)
}

/// Checks that each primitive has the colour of its provoking vertex, and that all face the same
/// way.
fn provoking(gpu: &Gpu, topology: T, last: bool) -> Case {
    gpu.need(vk::EXT_PROVOKING_VERTEX_NAME)?;
    if last {
        need_last_provoking(gpu)?;
    }
    let (places, primitives, middles) = primitives(topology);
    let number_of = |vertex: usize| 30 * vertex as u8 + 20;
    let vertices: Vec<[[f32; 4]; 2]> = (0..)
        .zip(&places)
        .map(|(vertex, place)| [*place, [f32::from(number_of(vertex)) / 255.0, 0.0, 0.0, 1.0]])
        .collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
    // Inside of the viewport, and clipped at its edges.
    for zoom in [1.0, 3.0] {
        let mut state = State { vertex: FLAT, fragment: FLAT_COLOR, topology, ..State::default() };
        state.extensions.provoking_last = last;
        state.raster.cull_mode = match topology {
            T::TRIANGLE_FAN | T::TRIANGLE_LIST => vk::CullModeFlags::BACK,
            _ => vk::CullModeFlags::FRONT,
        };
        state.raster.front_face = vk::FrontFace::CLOCKWISE;
        let side = SIZE as f32;
        (state.viewport.x, state.viewport.width) = (side * (1.0 - zoom) / 2.0, side * zoom);
        let pixels = render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [0.0; 4]) }])?;
        for (corners, [x, y]) in primitives.iter().zip(&middles) {
            let x = ((x + 0.5 - side / 2.0) * zoom + side / 2.0 - 0.5).round();
            if !(0.0..side).contains(&x) {
                continue;
            }
            // In every topology, the last provoking vertex is the one with the highest number.
            let provoking = if last { corners.iter().copied().max().unwrap_or(0) } else { corners[0] };
            let wanted = number_of(provoking);
            let got = pixels[(y.round() * side + x) as usize][0];
            check(got == wanted, || format!("{corners:?} at ({x}, {y}), zoom {zoom}: {got}, not {wanted}"))?;
        }
    }
    Ok(())
}

fn index_buffer(gpu: &Gpu, kind: vk::IndexType, indices: &[Option<u8>]) -> Result<crate::harness::Buffer, Outcome> {
    match kind {
        vk::IndexType::UINT16 => {
            gpu.buffer_with(&indices.iter().map(|index| index.map_or(0xffff, u16::from)).collect::<Vec<_>>())
        }
        vk::IndexType::UINT32 => {
            gpu.buffer_with(&indices.iter().map(|index| index.map_or(u32::MAX, u32::from)).collect::<Vec<_>>())
        }
        _ => gpu.buffer_with(&indices.iter().map(|index| index.unwrap_or(0xff)).collect::<Vec<_>>()),
    }
}

fn supports(gpu: &Gpu, kind: vk::IndexType) -> Case {
    if kind == vk::IndexType::UINT8_KHR {
        gpu.need(vk::EXT_INDEX_TYPE_UINT8_NAME)?;
    }
    Ok(())
}

/// Checks that a restart in a list of lines or triangles drops the incomplete primitive.
fn list_restart(gpu: &Gpu, kind: vk::IndexType) -> Case {
    gpu.need(vk::EXT_PRIMITIVE_TOPOLOGY_LIST_RESTART_NAME)?;
    supports(gpu, kind)?;
    // Rectangles of three columns each: corners 0 to 3, 4 to 7, and so on.
    let corners = |number: u8| {
        let (left, right) = (f32::from(number) * 4.0 / 8.0 - 1.0, (f32::from(number) * 4.0 + 3.0) / 8.0 - 1.0);
        [[left, -1.0], [right, -1.0], [left, 1.0], [right, 1.0]]
    };
    let buffer = gpu.buffer_with(&(0..4).flat_map(corners).collect::<Vec<[f32; 2]>>())?;
    let triangles = [
        &[Some(0), Some(1), Some(2), Some(2), Some(1), Some(3), Some(4), Some(5), None][..],
        &[None, None, Some(8), Some(9), Some(10), None, Some(10), Some(9), Some(11), Some(12), None],
        &[Some(13), None, Some(12), Some(13), Some(14), Some(14), Some(13)],
    ]
    .concat();
    let lines = [Some(8), None, Some(0), Some(1), Some(4), None, Some(12), Some(13)];
    let run = |topology, indices: &[Option<u8>], expected: [i32; 4]| {
        let count = indices.len() as u32;
        let kind = Kind::Indexed { buffer, indices: index_buffer(gpu, kind, indices)?, count, kind };
        let mut state = State { vertex: POINTS, topology, restart: true, ..State::default() };
        // Lines along the upper edge are visible.
        state.viewport.y = if topology == T::LINE_LIST { 0.5 } else { 0.0 };
        let pixels = render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [1.0; 4]) }])?;
        let covered = |number: usize| {
            let inside = |index: &usize| pixels[*index][0] != 0 && index % SIZE as usize / 4 == number;
            (0..pixels.len()).filter(inside).count() as i32
        };
        let got = [0, 1, 2, 3].map(covered);
        check(got == expected, || format!("{topology:?}: {got:?}, not {expected:?}"))
    };
    // The last triangle covers the pixels above its diagonal.
    let half =
        (0..16).map(|row| (0..3).filter(|column| (column * 2 + 1) * 16 + (row * 2 + 1) * 3 < 96).count() as i32).sum();
    run(T::TRIANGLE_LIST, &triangles, [48, 0, 48, half])?;
    run(T::LINE_LIST, &lines, [3, 0, 0, 3])
}

case!("vertices.index_uint8.restart", "Primitive Restart", bytes);

/// Draws with 8-bit indices: 255 ends a strip where restarts are enabled, and is a vertex where
/// they are not.
fn bytes(gpu: &Gpu) -> Case {
    supports(gpu, vk::IndexType::UINT8_KHR)?;
    let mut corners = vec![[9.0f32, 9.0]; 256];
    corners[..4].copy_from_slice(&[[-1.0, -1.0], [0.0, -1.0], [-1.0, 1.0], [0.0, 1.0]]);
    corners[252..].copy_from_slice(&[[0.5, -1.0], [1.0, -1.0], [0.5, 1.0], [1.0, 1.0]]);
    let buffer = gpu.buffer_with(&corners)?;
    let run = |topology, restart, indices: &[u8], expected: usize| {
        let (count, kind) = (indices.len() as u32, vk::IndexType::UINT8_KHR);
        let kind = Kind::Indexed { buffer, indices: gpu.buffer_with(indices)?, count, kind };
        let state = State { vertex: POINTS, topology, restart, ..State::default() };
        let pixels = render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [1.0; 4]) }])?;
        let got = pixels.iter().filter(|pixel| pixel[0] != 0).count();
        check(got == expected, || format!("{got} pixels instead of {expected}"))
    };
    run(T::TRIANGLE_STRIP, true, &[0, 1, 2, 3, 255, 3, 2, 1, 0], 128)?;
    run(T::TRIANGLE_LIST, false, &[0, 1, 2, 2, 1, 3, 252, 253, 254, 254, 253, 255], 128 + 64)
}

/// Checks which element each instance reads, by divisor.
fn instances(gpu: &Gpu, divisor: u32) -> Case {
    gpu.need(vk::EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME)?;
    if divisor == 0 && gpu.extension_features.divisors.vertex_attribute_instance_rate_zero_divisor == 0 {
        return Err(Outcome::NotSupported("vertexAttributeInstanceRateZeroDivisor".into()));
    }
    let colors: Vec<[f32; 4]> = (0..32u8).map(|number| [f32::from(number) / 255.0, 0.0, 0.0, 1.0]).collect();
    for first in [0u32, 5] {
        let kind = Kind::InstanceBuffer { buffer: gpu.buffer_with(&colors)?, first, count: SIZE };
        let mut state = State { vertex: INSTANCES, topology: T::POINT_LIST, ..State::default() };
        state.extensions.divisor = Some(divisor);
        let draw = Draw { kind, extra: first as f32, ..Draw::rect(state, FULL, [0.0; 4]) };
        let pixels = render(gpu, &Target::default(), &[draw])?;
        for instance in 0..SIZE {
            let wanted = first + instance.checked_div(divisor).unwrap_or(0);
            let got = pixels[(8 * SIZE + instance) as usize];
            check(u32::from(got[0]) == wanted && got[3] == 255, || {
                format!("{instance} from {first} on: {got:?}, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn covered(gpu: &Gpu, target: &Target, draws: &[Draw]) -> Result<usize, Outcome> {
    Ok(render(gpu, target, draws)?.iter().filter(|pixel| pixel[0] != 0).count())
}

case!("vertices.depth_clip.enable", "Primitive Clipping", depth_clip);

/// Checks depth clipping and depth clamping, each enabled on its own.
fn depth_clip(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DEPTH_CLIP_ENABLE_NAME)?;
    for clamp in [false, true] {
        for clip in [None, Some(false), Some(true)] {
            let is_clipped = clip.unwrap_or(!clamp);
            for (depth, is_inside) in [(-0.25, false), (0.5, true), (1.5, false)] {
                let mut state = State::default();
                state.raster.depth_clamp_enable = clamp.into();
                state.extensions.depth_clip = clip;
                let expected = if is_inside || !is_clipped { 256 } else { 0 };
                let plain = Draw::rect(state.clone(), FULL, [1.0; 4]).at(depth);
                let got = covered(gpu, &Target::default(), &[plain])?;
                check(got == expected, || format!("clamp {clamp}, clip {clip:?}, depth {depth}: {got}"))?;
                if !clamp {
                    continue;
                }
                // Clamped fragments pass where the depth that they are clamped to would pass.
                (state.viewport.min_depth, state.viewport.max_depth) = (0.25, 0.75);
                let clamped = (depth * 0.5 + 0.25).clamp(0.25, 0.75);
                let target = Target {
                    depth: vk::Format::D32_SFLOAT,
                    clear_depth: vk::ClearDepthStencilValue { depth: clamped, stencil: 0 },
                    ..Target::default()
                };
                state.depth_stencil.depth_test_enable = vk::TRUE;
                state.depth_stencil.depth_compare_op = vk::CompareOp::EQUAL;
                let got = covered(gpu, &target, &[Draw::rect(state, FULL, [1.0; 4]).at(depth)])?;
                check(got == expected, || format!("clip {clip:?}, depth {depth} is not clamped to {clamped}: {got}"))?;
            }
        }
    }
    Ok(())
}

case!("vertices.depth_clip.control", "Primitive Clipping", clip_control);

/// Checks depths from -1 to 1: clipping, also in part, and the resulting depths.
fn clip_control(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DEPTH_CLIP_CONTROL_NAME)?;
    let mut state = State::default();
    state.extensions.negative_one_to_one = true;
    (state.viewport.min_depth, state.viewport.max_depth) = (0.125, 0.625);
    state.depth_stencil.depth_test_enable = vk::TRUE;
    state.depth_stencil.depth_compare_op = vk::CompareOp::EQUAL;
    for (depth, expected) in
        [(-1.0, Some(0.125)), (-0.5, Some(0.25)), (0.0, Some(0.375)), (1.0, Some(0.625)), (-1.25, None), (1.25, None)]
    {
        let clear_depth = vk::ClearDepthStencilValue { depth: expected.unwrap_or(0.125), stencil: 0 };
        let target = Target { depth: vk::Format::D32_SFLOAT, clear_depth, ..Target::default() };
        let got = covered(gpu, &target, &[Draw::rect(state.clone(), FULL, [1.0; 4]).at(depth)])?;
        check(got == if expected.is_some() { 256 } else { 0 }, || format!("depth {depth}: {got} pixels"))?;
    }
    // Depth is x * 2: clipping leaves the middle half of the triangle.
    let vertices =
        [[-1.0f32, -1.0, -2.0, 1.0], [3.0, -1.0, 6.0, 1.0], [-1.0, 3.0, -2.0, 1.0]].map(|place| [place, [1.0; 4]]);
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.extensions.negative_one_to_one = true;
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: 3 };
    let got = covered(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [0.0; 4]) }])?;
    check(got == 128, || format!("{got} pixels"))
}

/// Compares a draw that writes depth with a bias with one at the expected depth, by fixed and by
/// dynamic state.
fn bias(gpu: &Gpu, unit: Unit, format: vk::Format) -> Case {
    gpu.need(vk::EXT_DEPTH_BIAS_CONTROL_NAME)?;
    let features = &gpu.extension_features.bias_control;
    let supported = match unit {
        Unit::FLOAT => features.float_representation,
        Unit::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM => features.least_representable_value_force_unorm_representation,
        _ => vk::TRUE,
    };
    if supported == 0 || features.depth_bias_exact == 0 {
        return Err(Outcome::NotSupported(format!("{unit:?}")));
    }
    let depth = 0.125f32;
    // The float 1/8 has the exponent -3 and a mantissa of 23 bits.
    let (constant, step) = match (unit, format) {
        (Unit::FLOAT, _) => (0.25, 1.0),
        (_, vk::Format::D16_UNORM) => (1024.0, (-16f32).exp2()),
        (Unit::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM, _) => (1024.0, (-24f32).exp2()),
        _ => (1024.0, (-26f32).exp2()),
    };
    let target = Target { depth: format, ..Target::default() };
    for dynamic in [false, true] {
        let mut first = State { dynamic, ..State::default() };
        first.extensions.bias_unit = Some(unit);
        first.raster.depth_bias_enable = vk::TRUE;
        first.raster.depth_bias_constant_factor = constant;
        first.depth_stencil.depth_test_enable = vk::TRUE;
        first.depth_stencil.depth_write_enable = vk::TRUE;
        first.depth_stencil.depth_compare_op = vk::CompareOp::ALWAYS;
        let mut second = State::default();
        second.depth_stencil.depth_test_enable = vk::TRUE;
        second.depth_stencil.depth_compare_op = vk::CompareOp::EQUAL;
        let draws = [
            Draw::rect(first, FULL, [0.0; 4]).at(depth),
            Draw::rect(second, FULL, [1.0; 4]).at(depth + constant * step),
        ];
        let got = covered(gpu, &target, &draws)?;
        check(got == 256, || format!("{got} pixels have the depth, dynamic: {dynamic}"))?;
    }
    Ok(())
}

case!("vertices.depth_bias.edges", "Depth Bias", bias_of_edges);

/// Checks that edges and corners of polygons have the polygon's bias, by the slope of its plane.
fn bias_of_edges(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DEPTH_BIAS_CONTROL_NAME)?;
    if gpu.extension_features.bias_control.float_representation == 0 || gpu.features.fill_mode_non_solid == 0 {
        return Err(Outcome::NotSupported("floatRepresentation, fillModeNonSolid".into()));
    }
    // Depth is 0.25, and 1/64 more for each pixel to the right: no edge has all of that slope.
    let corner = |x: f32, y: f32| [x / 8.0 - 1.0, y / 8.0 - 1.0, 0.25 + x / 64.0, 1.0];
    let vertices = [corner(1.5, 1.5), corner(9.5, 5.5), corner(2.5, 13.5)].map(|place| [place, [1.0; 4]]);
    let buffer = gpu.buffer_with(&vertices)?;
    let slope = 1.0f32 / 64.0;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    for mode in [vk::PolygonMode::LINE, vk::PolygonMode::POINT] {
        let draw = |constant: f32, factor: f32, op: vk::CompareOp, red: f32| {
            let mut state = State { vertex: TRIANGLES, ..State::default() };
            state.raster.polygon_mode = mode;
            state.raster.depth_bias_enable = vk::TRUE;
            state.raster.depth_bias_slope_factor = factor;
            state.raster.depth_bias_constant_factor = constant;
            state.extensions.bias_unit = Some(Unit::FLOAT);
            state.depth_stencil.depth_test_enable = vk::TRUE;
            state.depth_stencil.depth_write_enable = (op == vk::CompareOp::ALWAYS).into();
            state.depth_stencil.depth_compare_op = op;
            state.blend.color_write_mask =
                if red > 0.0 { vk::ColorComponentFlags::R } else { vk::ColorComponentFlags::G };
            Draw { kind: Kind::VertexBuffer { buffer, count: 3 }, ..Draw::rect(state, FULL, [0.0; 4]) }
        };
        // The bias by slope lies between a constant bias that is a little smaller and one that is
        // a little larger.
        let draws = |op, share: f32| [draw(0.0, 1.0, vk::CompareOp::ALWAYS, 0.0), draw(slope * share, 0.0, op, 1.0)];
        for (op, share) in [(vk::CompareOp::LESS, 0.9), (vk::CompareOp::GREATER, 1.1)] {
            let pixels = render(gpu, &target, &draws(op, share))?;
            let all = pixels.iter().filter(|pixel| pixel[1] != 0).count();
            let passed = pixels.iter().filter(|pixel| pixel[0] != 0).count();
            check(all >= 3 && passed == all, || format!("{mode:?}, {op:?}: {passed} of {all}"))?;
        }
    }
    Ok(())
}

case!("vertices.device.properties", "Limits", properties);

fn properties(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME)?;
    gpu.need(vk::EXT_PROVOKING_VERTEX_NAME)?;
    let mut provoking = vk::PhysicalDeviceProvokingVertexPropertiesEXT::default();
    let mut divisors = vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut provoking).push_next(&mut divisors);
    let extension = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension, and the chain is valid.
    unsafe { extension.get_physical_device_properties2(gpu.physical, &mut all) };
    let feedback = gpu.extension_features.provoking.transform_feedback_preserves_provoking_vertex;
    let consistent = feedback != 0 || provoking.transform_feedback_preserves_triangle_fan_provoking_vertex == 0;
    check(divisors.max_vertex_attrib_divisor >= 0xffff && consistent, || format!("{divisors:?} {provoking:?}"))
}
