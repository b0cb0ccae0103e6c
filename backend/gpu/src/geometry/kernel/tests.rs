//! Tests of vertex kernels against fetch, clip distances and the viewport transform of single
//! vertices.

use std::sync::Arc;
use std::time::Duration;

use vitric_base::simd::WAVE;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::Environment;
use vitric_exec::runtime::{Bound, Deadline, Ranges};
use vitric_ir::Function;
use vitric_ir::interface::{InputSlot, Interpolation, OutputSlot, Place};
use vitric_memory::{Allocation, Heap};
use vitric_spirv as spirv;

use super::*;
use crate::geometry::clip::Volume;
use crate::geometry::plan::{Plan, VaryingSource};
use crate::geometry::shading::{ShadeScratch, shade};
use crate::geometry::{DrawNumbers, GUARD_BAND, Triangles, Vertex, VertexSource, clip, vertex_parameters};

fn location(location: u32, component: u32) -> Slot {
    Slot::Location { location, component, index: 0 }
}

/// Returns a vertex program that writes attribute 0 as its position, and attribute 1 and its
/// built-in indices as varyings.
fn program() -> Program {
    let mut b = Builder::new();
    let mut inputs: Vec<Slot> = (0..4).map(|component| location(0, component)).collect();
    inputs.extend((0..4).map(|component| location(1, component)));
    inputs.extend([Slot::Builtin(Builtin::VertexIndex, 0), Slot::Builtin(Builtin::InstanceIndex, 0)]);
    let mut outputs: Vec<Slot> = (0..4).map(|component| Slot::Builtin(Builtin::Position, component)).collect();
    outputs.extend((0..6).map(|component| location(component / 4, component % 4)));
    outputs.extend([Slot::Builtin(Builtin::ClipDistance, 0), Slot::Builtin(Builtin::CullDistance, 0)]);
    let values: Vec<Value> =
        (0..10u32).map(|slot| b.input(slot, if slot < 4 { Type::F32 } else { Type::I32 })).collect();
    for (slot, &value) in (0..).zip(&values) {
        b.push(Inst::Output { slot, value });
    }
    let half = b.float(0.5);
    let distance = b.binary(B::FSub, values[0], half);
    b.push(Inst::Output { slot: 10, value: distance });
    let culled = b.binary(B::FSub, half, values[1]);
    b.push(Inst::Output { slot: 11, value: culled });
    of(b.finish(), vk::ShaderStageFlags::VERTEX, &inputs, &outputs)
}

fn of(function: Function, stage: vk::ShaderStageFlags, inputs: &[Slot], outputs: &[Slot]) -> Program {
    let mut program = Program::routine(function, &vec![LaneVariance::Divergent; inputs.len()], outputs.len());
    let input =
        |&slot: &Slot| InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center };
    program.stage = stage;
    program.inputs = inputs.iter().map(input).collect();
    program.outputs = outputs.iter().map(|&slot| OutputSlot { slot, ty: Type::I32, feedback: None }).collect();
    program
}

fn pipeline(vertex: Program, attributes: Vec<VertexAttribute>, bindings: Vec<VertexBinding>) -> PipelineState {
    let inputs: Vec<Slot> = (0..6).map(|component| location(component / 4, component % 4)).collect();
    let fragment = of(Builder::new().finish(), vk::ShaderStageFlags::FRAGMENT, &inputs, &[]);
    PipelineState {
        attributes,
        bindings,
        fragment: Some(Arc::new(fragment)),
        ..PipelineState::of_vertex(Arc::new(vertex))
    }
}

/// Returns the plan of draws with six varyings.
fn plan() -> Plan {
    let mut plan = Plan::default();
    plan.sources.extend([VaryingSource::Linear; 6]);
    plan
}

fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*state >> 33) as u32
}

const VIEWPORT: vk::Viewport =
    vk::Viewport { x: 10.0, y: 20.0, width: 640.0, height: -480.0, min_depth: 0.25, max_depth: 0.75 };

/// Returns the `outside` bits of a vertex by the rules of clipping.
fn outside_of(position: [f32; 4], volume: &Volume) -> u32 {
    let vertex = Vertex { position, clip: [position[0] - 0.5].into_iter().collect(), ..Vertex::default() };
    let clipped = (0..8).fold(0, |bits, plane| bits | u32::from(clip::distance(&vertex, plane, volume) < 0.0) << plane);
    let nowhere = position.iter().any(|coordinate| coordinate.is_nan());
    let [x, y, _, w] = position;
    let inside = [w - x, w + x, w - y, w + y].map(|distance| distance >= 0.0);
    let beside = (0..4).fold(0, |bits, side| bits | u32::from(!inside[side]) << (outside::SIDE as usize + side));
    clipped | u32::from(0.5 - position[1] < 0.0) << outside::CULL | u32::from(nowhere) << outside::NAN | beside
}

/// Returns the window coordinates of a position, and 1/w.
fn in_window([x, y, z, w]: [f32; 4], is_symmetric: bool) -> [f32; 4] {
    let inverse_w = 1.0 / w;
    let vk::Viewport { min_depth: near, max_depth: far, .. } = VIEWPORT;
    let (scale, start) = if is_symmetric { ((far - near) * 0.5, (far + near) * 0.5) } else { (far - near, near) };
    [
        (x * inverse_w + 1.0) * 0.5 * VIEWPORT.width + VIEWPORT.x,
        (y * inverse_w + 1.0) * 0.5 * VIEWPORT.height + VIEWPORT.y,
        z * inverse_w * scale + start,
        inverse_w,
    ]
}

/// Returns memory with floats of all kinds.
fn random_memory(state: &mut u64) -> Arc<Allocation> {
    let memory = Allocation::new(&Heap::new(1 << 20), 4096).unwrap();
    let special = [0.0f32, 1.0, -1.0, 4.0, f32::NAN, f32::INFINITY, -0.0, 1e-8];
    for word in 0..1024u64 {
        let value = match random(state) % 4 {
            0 => special[random(state) as usize % special.len()],
            _ => (random(state) as f32 / (1u32 << 30) as f32 - 1.0) * 3.0,
        };
        memory.write(word * 4, &value.to_bits().to_le_bytes());
    }
    memory
}

#[test]
fn vertices_are_fetched_transformed_and_told_apart() {
    let formats = [
        vk::Format::R8G8B8A8_UNORM,
        vk::Format::R8_SNORM,
        vk::Format::R16G16_SFLOAT,
        vk::Format::R16G16B16_SINT,
        vk::Format::R32G32B32_UINT,
        vk::Format::R8G8_USCALED,
        vk::Format::A2B10G10R10_SNORM_PACK32,
        vk::Format::R64_SFLOAT,
    ];
    let mut state = 11;
    let memory = random_memory(&mut state);
    for (number, format) in formats.into_iter().enumerate().filter(|(_, format)| format::info(*format).is_some()) {
        let info = format::info(format).unwrap();
        let (stride, offset) = [(20, 4), (23, 1), (7, 0)][number % 3];
        let divisor = [1, 0, 3][number % 3];
        let rate = if number % 2 == 0 { vk::VertexInputRate::VERTEX } else { vk::VertexInputRate::INSTANCE };
        let position = VertexAttribute { location: 0, binding: 3, format: vk::Format::R32G32B32A32_SFLOAT, offset: 0 };
        let other = VertexAttribute { location: 1, binding: 5, format, offset };
        let bindings = vec![
            VertexBinding { binding: 3, stride: 16, rate: vk::VertexInputRate::VERTEX, divisor: 1 },
            VertexBinding { binding: 5, stride, rate, divisor },
        ];
        let mut pipeline = pipeline(program(), vec![position, other], bindings);
        let is_symmetric = number % 4 == 1;
        pipeline.raster.negative_one_to_one = is_symmetric;
        let size = 600;
        let ranges = Ranges::new(vec![
            Bound::Buffer(Some(memory.clone()), 64, 4000),
            Bound::Buffer(Some(memory.clone()), 8, size),
        ]);
        let vertices: Vec<u32> = (0..40).map(|_| random(&mut state) % 60).chain([u32::MAX, 1 << 28]).collect();
        let (none, deadline) = (Bindings::default(), Deadline::after(Duration::from_secs(100)));
        let words = vertex_parameters(&VIEWPORT, GUARD_BAND);
        let environment =
            Environment { parameters: words.as_flattened(), ranges: &ranges, ..Environment::new(&none, &deadline) };
        let kernels = LazyVertexKernel::default();
        let kernel = kernels.get(&pipeline);
        let numbers = DrawNumbers { base_instance: 2, ..DrawNumbers::default() };
        let source = VertexSource { kernel, environment: &environment, instance: 9, numbers };
        let (mut scratch, mut triangles) = (ShadeScratch::default(), Triangles::default());
        triangles.start(plan(), 0, 0);
        let shaded = shade(&source, &vertices, &mut scratch, &mut triangles).unwrap();
        for (place, &vertex) in (0..).zip(&vertices) {
            let read = |at: u64, bytes: usize, size: u64, base: u64| {
                let mut out = [0; 16];
                // Dwords that do not fit in the buffer read as zero.
                for (byte, slot) in out.iter_mut().enumerate().take(bytes) {
                    let at = at + byte as u64;
                    if at / 4 * 4 + 4 <= size {
                        let mut one = [0];
                        memory.read(base + at, &mut one);
                        *slot = one[0];
                    }
                }
                out
            };
            let bytes = read(u64::from(vertex) * 16, 16, 4000, 64);
            let position: [f32; 4] =
                std::array::from_fn(|index| f32::from_le_bytes(std::array::from_fn(|byte| bytes[index * 4 + byte])));
            // The eighth instance, counted from instance 2.
            let of_instance = [9, 2, 4][number % 3];
            let element = if rate == vk::VertexInputRate::INSTANCE { of_instance } else { u64::from(vertex) };
            let at = element * u64::from(stride) + u64::from(offset);
            let attribute = format::decode(info, &read(at, info.bytes as usize, size, 8));
            let row = triangles.row(shaded.row(place)).as_flattened();
            let got = &row[output::VARYINGS..][..6];
            assert!((0..6).all(|index| shaded.varying(place, index) == got[index]));
            assert_eq!(got[..4], attribute, "{format:?}, vertex {vertex}");
            assert_eq!(got[4..], [vertex, 9]);
            assert_eq!(
                shaded.outside(place),
                outside_of(position, &Volume { band: GUARD_BAND, has_depth: true, is_symmetric }),
                "{position:?}"
            );
            for (got, expected) in shaded.window(place).into_iter().zip(in_window(position, is_symmetric)) {
                assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
            }
        }
        assert!(vertices.len() > WAVE);
    }
}

#[test]
fn draws_are_numbered() {
    let bytes = include_bytes!("../../../../tests/shaders/draws.vert.spv");
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let module = spirv::parse(&words).unwrap();
    let shader = spirv::compile(&module, "main", vk::ShaderStageFlags::VERTEX, &Vec::new()).unwrap();
    let vertex = Program::new(shader, "main");
    let slots: Vec<Slot> = (0..6).map(|component| location(component / 4, component % 4)).collect();
    let fragment = of(Builder::new().finish(), vk::ShaderStageFlags::FRAGMENT, &slots, &[]);
    let pipeline = PipelineState { fragment: Some(Arc::new(fragment)), ..PipelineState::of_vertex(Arc::new(vertex)) };
    let (none, deadline) = (Bindings::default(), Deadline::after(Duration::from_secs(100)));
    let words = vertex_parameters(&VIEWPORT, GUARD_BAND);
    let environment = Environment { parameters: words.as_flattened(), ..Environment::new(&none, &deadline) };
    let numbers = DrawNumbers { base_vertex: 100, base_instance: 7, draw: 3 };
    let kernels = LazyVertexKernel::default();
    let kernel = kernels.get(&pipeline);
    let source = VertexSource { kernel, environment: &environment, instance: 9, numbers };
    let (mut scratch, mut triangles) = (ShadeScratch::default(), Triangles::default());
    triangles.start(plan(), 0, 0);
    let shaded = shade(&source, &[105, 101], &mut scratch, &mut triangles).unwrap();
    for (place, vertex) in [(0, 105), (1, 101)] {
        let got = &triangles.row(shaded.row(place)).as_flattened()[output::VARYINGS..][..6];
        assert_eq!(got, [100, 7, 3, vertex, 0, 9]);
    }
}
