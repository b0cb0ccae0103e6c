//! Tests of all modes of geometry stages on equal primitives, with exact numbers of waves and runs.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use vitric_base::counters::{Counter, Counters};
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::Environment;
use vitric_exec::runtime::Deadline;
use vitric_spirv as spirv;

use super::emit::{Emission, EmitScratch};
use super::*;
use crate::geometry::assembly::assemble_whole;
use crate::geometry::reuse::Reuse;
use crate::geometry::{DrawNumbers, Triangles, VertexSource, vertex_parameters};

fn program(bytes: &[u8], stage: vk::ShaderStageFlags) -> Program {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let shader = spirv::compile(&spirv::parse(&words).unwrap(), "main", stage, &Vec::new()).unwrap();
    Program::new(shader, "main")
}

/// Vertex and geometry programs, with the maximum number of vertices that the latter declares.
struct Programs {
    vertex: &'static [u8],
    geometry: &'static [u8],
    declared: u32,
}

/// Passes triangles through, and declares one more vertex than it emits.
const THROUGH: Programs = Programs {
    vertex: include_bytes!("../../../../../cts/shaders/ids.vert.spv"),
    geometry: include_bytes!("../../../../../cts/shaders/through_triangles.geom.spv"),
    declared: 4,
};

/// Emits 128 vertices for each point.
const MANY: Programs =
    Programs { geometry: include_bytes!("../../../../../cts/shaders/many.geom.spv"), declared: 128, ..THROUGH };

fn pipeline(programs: &Programs) -> PipelineState {
    let mut geometry = program(programs.geometry, vk::ShaderStageFlags::GEOMETRY);
    geometry.geometry.as_mut().unwrap().max_vertices = programs.declared;
    let vertex = Arc::new(program(programs.vertex, vk::ShaderStageFlags::VERTEX));
    PipelineState { geometry: Some(Arc::new(geometry)), ..PipelineState::of_vertex(vertex) }
}

/// Waves of each mode, lanes, shaded and reused vertices, invocations, and dwords of records for
/// each component of a vertex.
#[derive(Debug, PartialEq, Eq)]
struct Runs {
    waves: [u64; 3],
    lanes: u64,
    vertices: [u64; 2],
    invocations: u64,
    stored: u64,
}

/// Emits the primitives of corners in one chunk, as the front end does. Returns the components of
/// all emitted vertices, and the counters.
fn emitted(pipeline: &PipelineState, mode: MergedMode, corners: &[u32]) -> (Vec<u32>, Runs) {
    let kernel = MergedKernel::new(pipeline).unwrap();
    let stage = kernel.stage(pipeline, Some(mode));
    let (bindings, deadline) = (Bindings::default(), Deadline::after(Duration::from_secs(60)));
    let viewport = vk::Viewport { width: 8.0, height: 8.0, max_depth: 1.0, ..Default::default() };
    let parameters = vertex_parameters(&viewport, 1.0);
    let environment = Environment { parameters: parameters.as_flattened(), ..Environment::new(&bindings, &deadline) };
    let source = VertexSource {
        kernel: kernel.finish(),
        environment: &environment,
        instance: 0,
        numbers: DrawNumbers::default(),
    };
    let (counters, mut scratch, mut reuse) = (Counters::default(), EmitScratch::default(), Reuse::default());
    if let Some(stages) = stage.separate {
        reuse.number(corners);
        scratch.shade(&kernel, &stages.vertex, &environment, source.feed(&reuse.vertices)).unwrap();
    }
    let is_shaded = stage.separate.is_some();
    let corners = if is_shaded { &reuse.places } else { corners };
    let numbers = PrimitiveNumbers::From(0);
    let emission = Emission { stage, source, corners, is_shaded, numbers, counters: Some(&counters) };
    let mut words = Vec::new();
    for batch in emission.batches() {
        let vertices = emission.run(&batch, &mut scratch).unwrap();
        let emitted = emission.finish(&batch, &mut scratch, &mut Triangles::default()).unwrap();
        let before = words.len();
        words.extend(emitted.all_words());
        assert_eq!((words.len() - before) % (vertices * kernel.layout.record as usize), 0);
    }
    let value = |counter: Counter| counters.values()[counter as usize];
    let runs = Runs {
        waves: [Counter::MergedOff, Counter::MergedPlain, Counter::MergedReplicated].map(value),
        lanes: value(Counter::MergedLanes),
        vertices: [Counter::Vertices, Counter::Reused].map(value),
        invocations: value(Counter::GeometryInvocations),
        stored: value(Counter::MergedBytes) / 4 / u64::from(kernel.layout.record),
    };
    (words, runs)
}

/// Returns the corners of a strip of six triangles.
fn strip() -> Vec<u32> {
    let (mut corners, strip) = (Vec::new(), (10..18).collect::<Vec<u32>>());
    assemble_whole(vk::PrimitiveTopology::TRIANGLE_STRIP, &strip, false, |corner| corners.extend_from_slice(corner));
    corners
}

/// Golden example of DESIGN on waves of sixteen lanes. `waves` tests it on eight.
#[test]
fn all_modes_emit_the_same_vertices() {
    let pipeline = pipeline(&THROUGH);
    let kernel = MergedKernel::new(&pipeline).unwrap();
    let (plain, runs) = emitted(&pipeline, MergedMode::Plain, &strip());
    let one = Runs { waves: [0, 1, 0], lanes: 6, vertices: [8, 10], invocations: 6, stored: 4 * 16 };
    assert_eq!(runs, one, "one wave, six runs, eight vertices");
    let (replicated, runs) = emitted(&pipeline, MergedMode::Replicated, &strip());
    let two = Runs { waves: [0, 0, 2], lanes: 24, vertices: [18, 0], invocations: 6, stored: 2 * 16 };
    assert_eq!(runs, two, "two waves of four and of two triangles, no reuse");
    let (separate, runs) = emitted(&pipeline, MergedMode::Off, &strip());
    let off = Runs { waves: [1, 0, 0], vertices: [0, 0], ..one };
    assert_eq!(runs, off, "the vertex stage counts its vertices itself");
    assert_eq!((&plain, &plain), (&replicated, &separate));
    assert_eq!(plain.len(), 6 * 3 * kernel.layout.record as usize);
    // The vertices of the second triangle are those of the strip in order. Their indices are the
    // colours' first component.
    let record = kernel.layout.record as usize;
    let color = kernel.record_word(Slot::Location { location: 0, component: 0, index: 0 }).unwrap();
    let ids: Vec<u32> = plain.chunks(record).map(|vertex| vertex[color]).collect();
    assert_eq!(ids[..6], [10, 11, 12, 11, 13, 12]);
}

/// Waves of an invocation run until one has a lane without a vertex. Vertices beyond the declared
/// maximum are dropped.
#[test]
fn replicated_waves_end_behind_the_last_vertex() {
    for (declared, waves, lanes, vertices) in
        [(1, 1, 2, 1), (40, 6, 80, 40), (128, 16, 256, 128), (144, 18, 288, 128), (512, 18, 288, 128)]
    {
        let pipeline = pipeline(&Programs { declared, ..MANY });
        let (plain, runs) = emitted(&pipeline, MergedMode::Plain, &[3, 4]);
        let one =
            Runs { waves: [0, 1, 0], lanes: 2, vertices: [2, 0], invocations: 2, stored: u64::from(declared) * 16 };
        assert_eq!(runs, one, "{declared}");
        let record = MergedKernel::new(&pipeline).unwrap().layout.record as usize;
        assert_eq!(plain.len(), 2 * vertices * record, "{declared}");
        let (replicated, runs) = emitted(&pipeline, MergedMode::Replicated, &[3, 4]);
        let shaded = if declared == 1 { 2 } else { waves };
        let many = Runs { waves: [0, 0, waves], lanes, vertices: [shaded, 0], stored: waves * 16, ..one };
        assert_eq!(runs, many, "{declared}");
        assert_eq!(plain, replicated, "{declared}");
        assert_eq!(plain, emitted(&pipeline, MergedMode::Off, &[3, 4]).0, "{declared}");
    }
}

#[test]
fn programs_with_side_effects_are_not_replicated() {
    let pipeline = pipeline(&THROUGH);
    let kernel = MergedKernel::new(&pipeline).unwrap();
    let [off, plain, replicated] = [MergedMode::Off, MergedMode::Plain, MergedMode::Replicated];
    let modes = [None, Some(off), Some(plain), Some(replicated)];
    assert_eq!(modes.map(|asked| kernel.mode(asked)), [plain, off, plain, replicated]);
    let effects = MergedKernel { may_repeat: false, ..kernel };
    assert_eq!(modes.map(|asked| effects.mode(asked)), [plain, off, plain, plain]);
    let declared = effects.amplification();
    effects.amplification.record(1000, 0);
    assert_eq!(effects.amplification(), declared, "chunks are waves, which must not depend on earlier draws");
    let repeatable = MergedKernel { may_repeat: true, ..effects };
    assert!(repeatable.amplification() <= declared);
}
