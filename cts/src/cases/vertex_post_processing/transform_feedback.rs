//! Transform feedback: captured components of vertices, overflow, and queries.

use ash::vk;
use ash::vk::PrimitiveTopology as T;
use vitric_vulkan::names::KHR_DEVICE_ADDRESS_COMMANDS_NAME;

use crate::Entry;
use crate::cases::geometry::shading::{TOPOLOGIES, primitives};
use crate::cases::support::conditions::need_dynamic3;
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{
    Capture, CaptureQuery, CaptureRange, Draw, FULL, Kind, Part, SIZE, State, TRIANGLES, Target, render, render_parts,
};

/// Captures 32 bytes of a vertex in the first buffer and 8 in the second one, with gaps.
static CAPTURED: &[u8] = shader!("captured.vert");

/// Makes two triangles of each, twice, and captures 12 bytes of a vertex in the third buffer.
const TWICE: &[u8] = shader!("captured_triangles.geom");

/// Emits points in four streams.
const STREAMS: &[u8] = shader!("captured_streams.geom");

/// A word that no vertex has.
const GAP: u32 = 0xdead_beef;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, topology, _, restarts) in TOPOLOGIES {
        let mut add = |group: &str, run: Box<dyn Fn(&Gpu) -> Case + Send + Sync>| {
            cases.push(Entry::new(format!("feedback.{group}.{name}"), "Transform Feedback", move |gpu| run(gpu)));
        };
        add("order", Box::new(move |gpu| order(gpu, (topology, restarts), false)));
        add("last", Box::new(move |gpu| order(gpu, (topology, restarts), true)));
    }
}

fn supported(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_TRANSFORM_FEEDBACK_NAME)
}

fn streams_supported(gpu: &Gpu) -> Case {
    supported(gpu)?;
    match gpu.extension_features.transform_feedback.geometry_streams {
        0 => Err(Outcome::NotSupported("geometryStreams".into())),
        _ => Ok(()),
    }
}

/// Returns a buffer of `words` words without captured data.
fn gaps(gpu: &Gpu, words: usize) -> Result<Buffer, Outcome> {
    gpu.buffer_with(&vec![GAP; words])
}

fn whole(buffer: Buffer) -> CaptureRange {
    CaptureRange { buffer, offset: 0, size: buffer.size }
}

fn pool(gpu: &Gpu, count: u32) -> Result<vk::QueryPool, Outcome> {
    pool_of(gpu, vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT, count)
}

fn pool_of(gpu: &Gpu, query_type: vk::QueryType, count: u32) -> Result<vk::QueryPool, Outcome> {
    let info = vk::QueryPoolCreateInfo::default().query_type(query_type);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info.query_count(count), None) }?)
}

/// Returns the primitives that were written, and those that were needed.
fn results<const N: usize>(gpu: &Gpu, pool: vk::QueryPool) -> Result<[[u64; 2]; N], Outcome> {
    values(gpu, pool)
}

/// Returns the values of queries.
fn values<const V: usize, const N: usize>(gpu: &Gpu, pool: vk::QueryPool) -> Result<[[u64; V]; N], Outcome> {
    let mut values = [[u64::MAX; V]; N];
    let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::TYPE_64;
    // SAFETY: the queries were ended, and have so many values.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut values, flags) }?;
    Ok(values)
}

/// Returns the corners of a primitive with adjacency.
fn corners(primitive: &[u32]) -> Vec<u32> {
    match primitive.len() {
        4 => primitive[1..3].to_vec(),
        6 => primitive.iter().copied().step_by(2).collect(),
        _ => primitive.to_vec(),
    }
}

/// Rotates a primitive so that its provoking vertex comes last.
fn provoked_last(mut primitive: Vec<u32>, provoking: u32) -> Vec<u32> {
    if primitive.len() == 3 {
        while primitive[2] != provoking {
            primitive.rotate_left(1);
        }
    }
    primitive
}

/// Returns the numbers of captured vertices, which must agree between both buffers and lie without
/// gaps.
fn numbers(first: &[u32], second: Option<&[u32]>) -> Result<Vec<u32>, Outcome> {
    let mut numbers = Vec::new();
    for (vertex, words) in first.chunks_exact(8).enumerate() {
        let number = words[5];
        let value = ((number % 1_000_000) as f32).to_bits();
        if words == [GAP; 8] {
            break;
        }
        let expected = [GAP, value, 0.5f32.to_bits(), (-2.0f32).to_bits(), GAP, number, 1.0f32.to_bits(), GAP];
        // Without the value, which has an offset only where the shader's compiler assigns one.
        check(words[..4] == expected[..4] && words[4..6] == expected[4..6] && words[6..] == expected[6..], || {
            format!("vertex {vertex}: {words:x?} instead of {expected:x?}")
        })?;
        if let Some(second) = second {
            check(second[2 * vertex..2 * vertex + 2] == [GAP, !number], || format!("vertex {vertex} differs"))?;
        }
        numbers.push(number);
    }
    check(first[8 * numbers.len()..].iter().all(|&word| word == GAP), || "more than one run was written".into())?;
    Ok(numbers)
}

fn state(topology: T) -> State {
    State { topology, vertex: CAPTURED, ..State::default() }
}

/// Checks that vertices have the order of primitives, with the provoking vertex first or last.
fn order(gpu: &Gpu, (topology, restarts): (T, bool), last: bool) -> Case {
    supported(gpu)?;
    if last
        && (gpu.extension_features.provoking.provoking_vertex_last == 0
            || gpu.extension_features.provoking.transform_feedback_preserves_provoking_vertex == 0)
    {
        return Err(Outcome::NotSupported("transformFeedbackPreservesProvokingVertex".into()));
    }
    let adjacency = topology.as_raw() >= T::LINE_LIST_WITH_ADJACENCY.as_raw();
    if adjacency && gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("geometryShader".into()));
    }
    for count in [0, 2, 3, 5, 7, 8, 40, 700] {
        let mut random = Random::new(u64::from(count));
        // All indices differ, so that each vertex of a primitive is known by its number.
        let indices: Vec<u16> =
            (0..count).map(|at| if restarts && random.one_in(9) { u16::MAX } else { 1000 - at as u16 }).collect();
        let runs = indices.split(|&index| restarts && index == u16::MAX);
        let provoked = |run: &[u16]| {
            let run: Vec<u32> = run.iter().map(|&index| u32::from(index)).collect();
            let made = primitives(topology, &run).into_iter().map(|primitive| corners(&primitive)).enumerate();
            let last_of = |number: usize| match topology {
                T::TRIANGLE_LIST => run[3 * number + 2],
                T::TRIANGLE_LIST_WITH_ADJACENCY => run[6 * number + 4],
                T::TRIANGLE_STRIP_WITH_ADJACENCY => run[2 * number + 4],
                _ => run[number + 2],
            };
            made.flat_map(|(number, primitive)| match last && primitive.len() == 3 {
                true => provoked_last(primitive, last_of(number)),
                false => first_provokes(topology, primitive, number),
            })
            .collect::<Vec<_>>()
        };
        let expected: Vec<u32> = runs.flat_map(provoked).collect();
        let (first, second) = (gaps(gpu, 8 * 3 * 710)?, gaps(gpu, 2 * 3 * 710)?);
        let buffers = (gpu.buffer(16)?, gpu.buffer_with(&[&indices[..], &[0]].concat())?);
        let kind = Kind::Indexed { buffer: buffers.0, indices: buffers.1, count, kind: vk::IndexType::UINT16 };
        let mut state = State { restart: restarts, ..state(topology) };
        state.extensions.provoking_last = last;
        let capture = Capture { buffers: vec![whole(first), whole(second)], ..Capture::default() };
        render(gpu, &Target::default(), &[Draw { kind, capture: Some(capture), ..Draw::rect(state, FULL, [1.0; 4]) }])?;
        let got = numbers(&first.words(), Some(&second.words()))?;
        check(got == expected, || format!("{count} indices: {got:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Returns a primitive with its provoking vertex first. Strips with adjacency turn every second
/// triangle so that geometry shaders see one winding.
fn first_provokes(topology: T, mut primitive: Vec<u32>, number: usize) -> Vec<u32> {
    if topology == T::TRIANGLE_STRIP_WITH_ADJACENCY && number % 2 == 1 {
        let least = primitive.iter().copied().max().unwrap_or(0);
        while primitive[0] != least {
            primitive.rotate_left(1);
        }
    }
    primitive
}

case!("feedback.draws.many", "Transform Feedback", many);

/// Checks that captures keep their order where threads share a draw.
fn many(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let count = 150_000;
    let first = gaps(gpu, 8 * count)?;
    let (capture, kind) = (Capture { buffers: vec![whole(first)], ..Capture::default() }, Kind::Vertices(count as u32));
    let draw = Draw { kind, capture: Some(capture), ..Draw::rect(state(T::TRIANGLE_LIST), FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let got = numbers(&first.words(), None)?;
    check(got.iter().copied().eq(0..count as u32), || {
        let wrong = got.iter().zip(0..).find(|(got, number)| **got != *number);
        format!("{} vertices, the first wrong one: {wrong:?}", got.len())
    })
}

case!("feedback.draws.instances", "Transform Feedback", instances);

fn instances(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let first = gaps(gpu, 8 * 40)?;
    let capture = Capture { buffers: vec![whole(first)], ..Capture::default() };
    let kind = Kind::Instances { first: 3, count: 5 };
    let draw = Draw { kind, capture: Some(capture), ..Draw::rect(state(T::LINE_LIST), FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let got = numbers(&first.words(), None)?;
    let expected: Vec<u32> =
        (3..8).flat_map(|instance| (0..6).map(move |vertex| vertex + 1_000_000 * instance)).collect();
    check(got == expected, || format!("{got:?}"))
}

case!("feedback.draws.discarded", "Transform Feedback", discarded);

/// Checks that primitives are captured that rasterizer discard drops.
fn discarded(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (first, pool) = (gaps(gpu, 8 * 300)?, pool(gpu, 1)?);
    let queries = vec![CaptureQuery { pool, query: 0, stream: 0 }];
    let capture = Capture { buffers: vec![whole(first)], queries, ..Capture::default() };
    let mut state = state(T::TRIANGLE_STRIP);
    state.raster.rasterizer_discard_enable = vk::TRUE;
    // The scissor affects captures no more than rasterizer discard does.
    state.scissor.extent = vk::Extent2D::default();
    let draw = Draw { kind: Kind::Vertices(20), capture: Some(capture), ..Draw::rect(state, FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let got = numbers(&first.words(), None)?;
    check(got.len() == 18 * 3 && got[..6] == [0, 1, 2, 1, 3, 2], || format!("{got:?}"))?;
    let counts = results(gpu, pool)?;
    check(counts == [[18, 18]], || format!("{counts:?}"))
}

case!("feedback.draws.byte_count", "Transform Feedback", |gpu| byte_count(gpu, false));
case!("feedback.draws.byte_count_at_address", "VK_KHR_device_address_commands", |gpu| {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    byte_count(gpu, true)
});

/// Draws captured vertices by their byte count. Commands may name memory by addresses.
fn byte_count(gpu: &Gpu, by_address: bool) -> Case {
    supported(gpu)?;
    let mut random = Random::new(4);
    let mut float = || random.below(2001) as f32 / 1000.0 - 1.0;
    let vertices: Vec<[f32; 8]> =
        (0..30).map(|_| [float(), float(), 0.5, 1.0, float().abs(), float().abs(), 0.5, 1.0]).collect();
    let (vertices, counter) = (gpu.buffer_with(&vertices)?, gpu.buffer_of_words(&[0; 4], by_address)?);
    let captured = gpu.buffer_of_words(&[GAP; 8 * 30], by_address)?;
    let capture = Capture { buffers: vec![whole(captured)], counters: vec![Some((counter, 8))], ..Capture::default() };
    let count = Draw {
        kind: Kind::Vertices(17),
        capture: Some(capture),
        by_address,
        ..Draw::rect(state(T::TRIANGLE_LIST), FULL, [1.0; 4])
    };
    let drawn = |kind| {
        let state = State { vertex: TRIANGLES, ..State::default() };
        Draw { kind, by_address, ..Draw::rect(state, FULL, [1.0; 4]) }
    };
    let target = Target::default();
    for (offset, stride, vertex_count) in [(0, 32, 15), (0, 64, 7), (3 * 32, 32, 12), (16 * 32, 32, 0), (5, 40, 11)] {
        let kind = Kind::ByteCount { buffer: vertices, counter: (counter, 8), offset, stride };
        let (count, behind) = ([count.clone()], [drawn(kind)]);
        render(gpu, &target, &count)?;
        let words = counter.words();
        check(words == [0, 0, 15 * 32, 0], || format!("{words:?}"))?;
        let got = render_parts(gpu, &target, &[Part { draws: &behind, ..Part::default() }])?;
        let plain = [drawn(Kind::VertexBuffer { buffer: vertices, count: vertex_count })];
        let expected = render(gpu, &target, &plain)?;
        check(got == expected, || format!("{offset} {stride}: not {vertex_count} vertices"))?;
    }
    Ok(())
}

case!("feedback.draws.unbound", "Transform Feedback", unbound);

/// Checks that outputs without a buffer are not captured, and others are.
fn unbound(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (first, pool) = (gaps(gpu, 8 * 30)?, pool(gpu, 1)?);
    let capture = Capture {
        buffers: vec![whole(first)],
        queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
        ..Capture::default()
    };
    let draw = Draw {
        kind: Kind::Vertices(12),
        capture: Some(capture),
        ..Draw::rect(state(T::TRIANGLE_LIST), FULL, [1.0; 4])
    };
    render(gpu, &Target::default(), &[draw])?;
    let (got, counts) = (numbers(&first.words(), None)?, results(gpu, pool)?);
    check(got.iter().copied().eq(0..12) && counts == [[4, 4]], || format!("{got:?}, {counts:?}"))
}

case!("feedback.overflow.whole_primitives", "Transform Feedback", whole_primitives);

/// Checks that only complete primitives are written, and nothing behind the range.
fn whole_primitives(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for (topology, of_each) in [(T::POINT_LIST, 1), (T::LINE_STRIP, 2), (T::TRIANGLE_LIST, 3)] {
        for bytes in [0u64, 28, 32, 60, 96, 100, 188, 192, 400] {
            let (first, pool) = (gaps(gpu, 8 * 300)?, pool(gpu, 1)?);
            // A range of no bytes cannot be bound.
            let (size, offset) = (bytes.max(4), 32);
            let capture = Capture {
                buffers: vec![CaptureRange { buffer: first, offset, size }],
                queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
                ..Capture::default()
            };
            let draw = Draw {
                kind: Kind::Vertices(60),
                capture: Some(capture),
                ..Draw::rect(state(topology), FULL, [1.0; 4])
            };
            render(gpu, &Target::default(), &[draw])?;
            let words = first.words();
            let (before, behind) = words.split_at(8);
            let (got, counts) = (numbers(behind, None)?, results(gpu, pool)?);
            let room = size / 32 / of_each;
            let needed = if of_each == 2 { 59 } else { 60 / of_each };
            let good = counts == [[room, needed]] && got.len() as u64 == room * of_each && *before == [GAP; 8];
            check(good, || format!("{topology:?}, {size} bytes: {counts:?}, {got:?}"))?;
        }
    }
    Ok(())
}

case!("feedback.overflow.of_one_buffer", "Transform Feedback", of_one_buffer);

/// Checks that a primitive without room in one buffer is in none.
fn of_one_buffer(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (first, second, pool) = (gaps(gpu, 8 * 60)?, gaps(gpu, 2 * 60)?, pool(gpu, 1)?);
    let counter = gpu.buffer(16)?;
    let capture = Capture {
        buffers: vec![whole(first), CaptureRange { buffer: second, offset: 0, size: 8 * 10 + 4 }],
        counters: vec![Some((counter, 0)), Some((counter, 4))],
        queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
        ..Capture::default()
    };
    let draw = Draw {
        kind: Kind::Vertices(30),
        capture: Some(capture),
        ..Draw::rect(state(T::TRIANGLE_LIST), FULL, [1.0; 4])
    };
    render(gpu, &Target::default(), &[draw.clone(), draw])?;
    let (got, counts) = (numbers(&first.words(), Some(&second.words()))?, results(gpu, pool)?);
    // The second draw starts over, and its query follows the first one's.
    check(got.iter().copied().eq(0..9) && counts == [[3, 10]], || format!("{got:?}, {counts:?}"))?;
    let words = counter.words();
    check(words[..2] == [9 * 32, 9 * 8], || format!("{words:?}"))
}

case!("feedback.counters.resumed", "Transform Feedback", |gpu| resumed(gpu, false));
case!("feedback.counters.resumed_at_address", "VK_KHR_device_address_commands", |gpu| {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    resumed(gpu, true)
});

/// Checks that draws resume at the counters. Commands may name memory by addresses.
fn resumed(gpu: &Gpu, by_address: bool) -> Case {
    supported(gpu)?;
    let memory = |words: &[u32]| gpu.buffer_of_words(words, by_address);
    let (first, second, counter) = (memory(&[GAP; 8 * 200])?, memory(&[GAP; 2 * 200])?, memory(&[0; 16])?);
    let draw = |vertices, resumes| {
        let capture = Capture {
            buffers: vec![whole(first), whole(second)],
            counters: vec![Some((counter, 16)), Some((counter, 60))],
            resumes,
            ..Capture::default()
        };
        Draw {
            kind: Kind::Vertices(vertices),
            capture: Some(capture),
            by_address,
            ..Draw::rect(state(T::POINT_LIST), FULL, [1.0; 4])
        }
    };
    let (one, two, three) = ([draw(20, false)], [draw(33, true)], [draw(0, true), draw(1, true)]);
    let part = |draws| Part { draws, ..Part::default() };
    render_parts(gpu, &Target::default(), &[part(&one), part(&two), part(&three)])?;
    let got = numbers(&first.words(), Some(&second.words()))?;
    check(got.iter().copied().eq((0..20).chain(0..33).chain(0..1)), || format!("{got:?}"))?;
    let words = counter.words();
    check(words[4] == 54 * 32 && words[15] == 54 * 8, || format!("{words:?}"))?;
    // Without the counters it starts over.
    render(gpu, &Target::default(), &one)?;
    let got = numbers(&first.words(), None)?;
    check(counter.words()[4] == 20 * 32 && got.len() == 54, || format!("{got:?}"))
}

case!("feedback.counters.several", "Transform Feedback", several);

/// Checks that buffers without a counter start over, and that others resume.
fn several(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (first, second, counter) = (gaps(gpu, 8 * 60)?, gaps(gpu, 2 * 60)?, gpu.buffer(16)?);
    counter.write(bytemuck::cast_slice(&[160u32, 0, 0, 0]));
    let capture = Capture {
        buffers: vec![whole(first), whole(second)],
        counters: vec![None, Some((counter, 0))],
        resumes: true,
        ..Capture::default()
    };
    let draw =
        Draw { kind: Kind::Vertices(7), capture: Some(capture), ..Draw::rect(state(T::POINT_LIST), FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let got = numbers(&first.words(), None)?;
    let others: Vec<u32> = second.words()[40..54].chunks(2).map(|vertex| !vertex[1]).collect();
    check(got.iter().copied().eq(0..7) && others == got, || format!("{got:?}, {others:?}"))?;
    let end = counter.words()[0];
    check(end == 160 + 7 * 8, || format!("{end}"))
}

case!("feedback.geometry.strips", "Transform Feedback", strips);

/// Captures strips of geometry shaders as separate primitives, in the order of primitives and
/// invocations.
fn strips(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("geometryShader".into()));
    }
    for count in [1u32, 5, 64, 3000] {
        let captured = gaps(gpu, 3 * 18 * count as usize)?;
        let (unused, pool) = (gaps(gpu, 64)?, pool(gpu, 1)?);
        let mut state = state(T::TRIANGLE_LIST);
        state.extensions.geometry = Some(TWICE);
        let capture = Capture {
            buffers: vec![whole(unused), whole(unused), whole(captured)],
            queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
            ..Capture::default()
        };
        let draw =
            Draw { kind: Kind::Vertices(3 * count), capture: Some(capture), ..Draw::rect(state, FULL, [1.0; 4]) };
        render(gpu, &Target::default(), &[draw])?;
        let mut expected = Vec::new();
        for (primitive, invocation) in (0..count).flat_map(|primitive| [(primitive, 0), (primitive, 1)]) {
            let mut triangles = vec![[0, 1, 2], [1, 0, 2]];
            if primitive % 3 != 1 {
                triangles.push([2, 1, 0]);
            }
            let vertex = |corner: u32| [3 * primitive + corner, 2 * primitive + invocation, (corner as f32).to_bits()];
            expected.extend(triangles.into_iter().flatten().flat_map(vertex));
        }
        let (got, counts) = (captured.words(), results(gpu, pool)?);
        let written = (expected.len() / 9) as u64;
        check(got.starts_with(&expected) && counts == [[written; 2]], || {
            let at = got.iter().zip(&expected).position(|(got, expected)| got != expected);
            format!("{count}: {counts:?} of {written}, word {at:?} differs")
        })?;
        let clean = got[expected.len()..].iter().chain(&unused.words()).all(|&word| word == GAP);
        check(clean, || "other words were written".into())?;
    }
    Ok(())
}

/// Returns the state of a draw of points in four streams.
fn of_streams() -> State {
    let mut state = state(T::POINT_LIST);
    state.extensions.geometry = Some(STREAMS);
    state
}

case!("feedback.geometry.streams", "Transform Feedback", streams);

/// Checks that each stream has its buffers, room and query.
fn streams(gpu: &Gpu) -> Case {
    streams_supported(gpu)?;
    let count = 50u32;
    let buffers: Vec<Buffer> = (0..4).map(|_| gaps(gpu, 1000)).collect::<Result<_, Outcome>>()?;
    let pool = pool(gpu, 4)?;
    let mut ranges: Vec<_> = buffers.iter().map(|buffer| whole(*buffer)).collect();
    // The second stream has room for 31 points in one of its buffers.
    ranges[2].size = 4 * 31 + 3;
    ranges[2].size &= !3;
    let capture = Capture {
        buffers: ranges,
        queries: (0..4).map(|stream| CaptureQuery { pool, query: stream, stream }).collect(),
        ..Capture::default()
    };
    let draw = Draw { kind: Kind::Vertices(count), capture: Some(capture), ..Draw::rect(of_streams(), FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let words: Vec<Vec<u32>> = buffers.iter().map(Buffer::words).collect();
    let of = |most: u32| (0..count).flat_map(move |n| (0..n % most).map(move |turn| (n, turn)));
    let zeroth: Vec<u32> = of(3).map(|(n, turn)| n * 10 + turn).collect();
    let first: Vec<u32> = (0..count).flat_map(|n| [n, 77]).collect();
    let second: Vec<u32> = of(5).map(|(n, turn)| n * 100 + turn).collect();
    let gapped: Vec<u32> = second.iter().take(31).flat_map(|&word| [GAP, word, GAP, GAP]).collect();
    let again: Vec<u32> = second.iter().take(31).map(|word| !word).collect();
    for (number, expected) in [&first, &gapped, &again, &zeroth].into_iter().enumerate() {
        let (got, rest) = words[number].split_at(expected.len());
        check(got == &expected[..] && rest.iter().all(|&word| word == GAP), || {
            format!("buffer {number}: {got:?} instead of {expected:?}")
        })?;
    }
    let counts = results(gpu, pool)?;
    let all = |list: &[u32]| [list.len() as u64; 2];
    let expected = [all(&zeroth), [50; 2], [31, second.len() as u64], [300; 2]];
    check(counts == expected, || format!("{counts:?} instead of {expected:?}"))
}

case!("feedback.queries.generated", "Transform Feedback", generated);

/// Checks that primitive queries count with and without transform feedback, also where primitives
/// are discarded.
fn generated(gpu: &Gpu) -> Case {
    streams_supported(gpu)?;
    gpu.need(vk::EXT_PRIMITIVES_GENERATED_QUERY_NAME)?;
    let features = &gpu.extension_features.generated;
    if features.primitives_generated_query_with_rasterizer_discard == 0
        || features.primitives_generated_query_with_non_zero_streams == 0
    {
        return Err(Outcome::NotSupported("primitivesGeneratedQuery of all kinds".into()));
    }
    for (discards, active) in [(false, false), (true, false), (false, true), (true, true)] {
        for (streams, expected) in [(true, [49, 50, 100, 300]), (false, [48, 0, 0, 0])] {
            let pool = pool_of(gpu, vk::QueryType::PRIMITIVES_GENERATED_EXT, 4)?;
            let mut state = if streams { of_streams() } else { state(T::TRIANGLE_STRIP) };
            state.raster.rasterizer_discard_enable = vk::Bool32::from(discards);
            // There is little room.
            let buffers = (0..4).map(|_| Ok(whole(gpu.buffer(64)?))).collect::<Result<_, Outcome>>()?;
            let queries = (0..4).map(|stream| CaptureQuery { pool, query: stream, stream }).collect();
            let capture = Capture { buffers, queries, only_queries: !active, ..Capture::default() };
            let draw = Draw { kind: Kind::Vertices(50), capture: Some(capture), ..Draw::rect(state, FULL, [1.0; 4]) };
            render(gpu, &Target::default(), &[draw])?;
            let counts: [[u64; 1]; 4] = values(gpu, pool)?;
            let good = counts.as_flattened() == expected;
            check(good, || format!("{discards} {active} {streams}: {counts:?} instead of {expected:?}"))?;
        }
    }
    Ok(())
}

case!("feedback.queries.inactive", "Transform Feedback", inactive);

/// Checks that transform feedback queries count nothing where it is inactive.
fn inactive(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let pool = pool(gpu, 1)?;
    let capture =
        Capture { queries: vec![CaptureQuery { pool, query: 0, stream: 0 }], only_queries: true, ..Capture::default() };
    let kind = Kind::Vertices(12);
    let draw = Draw { kind, capture: Some(capture), ..Draw::rect(state(T::TRIANGLE_LIST), FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let counts = results(gpu, pool)?;
    check(counts == [[0, 0]], || format!("{counts:?}"))
}

case!("feedback.geometry.seen_stream", "Transform Feedback", seen_stream);

/// Checks that the pipeline's stream is rasterized.
fn seen_stream(gpu: &Gpu) -> Case {
    streams_supported(gpu)?;
    only_sees(gpu, false)
}

case!("feedback.geometry.dynamic_stream", "Transform Feedback", dynamic_stream);

/// Checks that the stream set by a command is rasterized instead of the pipeline's.
fn dynamic_stream(gpu: &Gpu) -> Case {
    streams_supported(gpu)?;
    need_dynamic3(gpu)?;
    match gpu.extension_features.dynamic_state3.extended_dynamic_state3_rasterization_stream {
        vk::TRUE => only_sees(gpu, true),
        _ => Err(Outcome::NotSupported("dynamic streams".into())),
    }
}

fn only_sees(gpu: &Gpu, dynamic3: bool) -> Case {
    for stream in [1, 3] {
        let mut state = of_streams();
        (state.extensions.stream, state.dynamic3) = (stream, dynamic3);
        let draw = Draw { kind: Kind::Vertices(5), ..Draw::rect(state, FULL, [1.0; 4]) };
        let got = render(gpu, &Target::default(), &[draw])?;
        for (at, pixel) in (0..).zip(&got) {
            let inside = at / SIZE == 5 && at % SIZE < 5;
            // The other streams have no colour: it is undefined, or that of the last vertex.
            let good = if stream == 1 {
                *pixel == if inside { [0, 255, 0, 255] } else { [0; 4] }
            } else {
                inside || *pixel == [0; 4]
            };
            check(good, || format!("stream {stream}, ({}, {}): {pixel:?}", at % SIZE, at / SIZE))?;
        }
    }
    Ok(())
}
