//! Tests of both modes of merged programs on equal primitives.

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
use crate::geometry::{DrawNumbers, Triangles, VertexSource, vertex_parameters};

fn program(bytes: &[u8], stage: vk::ShaderStageFlags) -> Program {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let shader = spirv::compile(&spirv::parse(&words).unwrap(), "main", stage, &Vec::new()).unwrap();
    Program::new(shader, "main")
}

/// Returns a pipeline whose geometry program passes triangles through, and declares one more
/// vertex than it emits.
fn pipeline() -> PipelineState {
    let vertex = include_bytes!("../../../../../cts/shaders/ids.vert.spv");
    let geometry = include_bytes!("../../../../../cts/shaders/through_triangles.geom.spv");
    let mut geometry = program(geometry, vk::ShaderStageFlags::GEOMETRY);
    geometry.geometry.as_mut().unwrap().max_vertices = 4;
    let vertex = Arc::new(program(vertex, vk::ShaderStageFlags::VERTEX));
    PipelineState { geometry: Some(Arc::new(geometry)), ..PipelineState::of_vertex(vertex) }
}

/// Returns the components of all vertices that a strip of eight vertices becomes, and the
/// counters.
fn emitted(kernel: &MergedKernel, mode: MergedMode) -> (Vec<u32>, Vec<u64>) {
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
    let (mut corners, counters) = (Vec::new(), Counters::default());
    let strip: Vec<u32> = (10..18).collect();
    assemble_whole(vk::PrimitiveTopology::TRIANGLE_STRIP, &strip, |corner| corners.extend_from_slice(corner));
    let (numbers, counted) = (PrimitiveNumbers::From(0), Some(&counters));
    let emission = Emission { kernel, mode, source, corners: &corners, numbers, shaded: None, counters: counted };
    let (mut scratch, mut words) = (EmitScratch::default(), Vec::new());
    for batch in emission.batches() {
        let emitted = emission.run(&batch, &mut scratch, &mut Triangles::default()).unwrap();
        assert_eq!(emitted.primitives(), batch.items.len() as u64);
        words.extend(emitted.all_words());
    }
    let named = [
        Counter::MergedPlain,
        Counter::MergedReplicated,
        Counter::MergedLanes,
        Counter::Vertices,
        Counter::Reused,
        Counter::GeometryInvocations,
    ];
    (words, named.map(|counter| counters.values()[counter as usize]).to_vec())
}

/// Golden example of DESIGN on waves of sixteen lanes. `waves` tests it on eight.
#[test]
fn both_modes_emit_the_same_vertices() {
    let pipeline = pipeline();
    let kernels = LazyMergedKernel::default();
    let kernel = kernels.get(&pipeline).unwrap();
    let (plain, counts) = emitted(kernel, MergedMode::Plain);
    assert_eq!(counts, [1, 0, 6, 8, 10, 6], "one wave, six runs, eight vertices");
    let (replicated, counts) = emitted(kernel, MergedMode::Replicated);
    assert_eq!(counts, [0, 2, 24, 18, 0, 6], "two waves of four and of two triangles, no reuse");
    assert_eq!(plain, replicated);
    assert_eq!(plain.len(), 6 * 3 * kernel.layout.record as usize);
    // The vertices of the second triangle are those of the strip in order. Their indices are the
    // colours' first component.
    let record = kernel.layout.record as usize;
    let color = kernel.record_word(Slot::Location { location: 0, component: 0, index: 0 }).unwrap();
    let ids: Vec<u32> = plain.chunks(record).map(|vertex| vertex[color]).collect();
    assert_eq!(ids[..6], [10, 11, 12, 11, 13, 12]);
}

#[test]
fn the_mode_is_chosen_by_what_a_wave_stores() {
    let pipeline = pipeline();
    let kernels = LazyMergedKernel::default();
    let kernel = kernels.get(&pipeline).unwrap();
    assert_eq!(
        (kernel.mode(None), kernel.mode(Some(MergedMode::Replicated))),
        (MergedMode::Plain, MergedMode::Replicated)
    );
    let large = MergedKernel::new(&pipeline).map(|mut kernel| {
        kernel.facts.max_vertices = 1 << 10;
        kernel
    });
    assert_eq!(large.unwrap().mode(None), MergedMode::Replicated);
    let effects = MergedKernel::new(&pipeline).map(|kernel| MergedKernel { may_repeat: false, ..kernel });
    assert_eq!(effects.unwrap().mode(Some(MergedMode::Replicated)), MergedMode::Plain);
}
