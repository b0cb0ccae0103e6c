//! Vertex shading: 16 vertices a wave, each vertex of a draw's instance once.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Vertex;
use super::fetch::{Attribute, attributes};
use crate::memory::Buffer;
use crate::shader::interp::{Environment, Lanes, Stop, WAVE, Wave};
use crate::shader::{Builtin, Program, Slot};
use crate::state::GraphicsPipeline;

/// Where the vertices of a draw come from.
pub struct VertexSource<'a> {
    /// The pipeline.
    pub pipeline: &'a GraphicsPipeline,
    /// Vertex buffers by binding, with their offsets.
    pub buffers: &'a [Option<(Arc<Buffer>, u64)>],
    /// Vertex indices, base vertex added, to be shaded.
    pub vertices: &'a [u32],
    /// Instance, base instance added.
    pub instance: u32,
    /// What the draw's built-ins say.
    pub numbers: DrawNumbers,
}

/// The numbers of a draw. Source: SPIR-V, `BaseVertex`, `BaseInstance`, `DrawIndex`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawNumbers {
    /// The first vertex, or what is added to indices.
    pub base_vertex: u32,
    /// The first instance.
    pub base_instance: u32,
    /// Number of the draw in its command.
    pub draw: u32,
}

/// Vertices of one instance, in the order of [`VertexSource::vertices`].
pub type Shaded = Vec<Vertex>;

/// Which output words of the vertex program feed which inputs of the fragment program, and the built-ins.
struct Routing {
    position: [Option<usize>; 4],
    point_size: Option<usize>,
    clip: SmallVec<[usize; 8]>,
    cull: SmallVec<[usize; 8]>,
    varyings: SmallVec<[Option<usize>; 16]>,
}

impl Routing {
    fn new(vertex: &Program, fragment: Option<&Program>) -> Self {
        let builtin = |builtin, component| vertex.output_builtin(builtin, component);
        let inputs = fragment.map_or(&[][..], |program| &program.inputs);
        // Clip and cull distances may also be read by the fragment program: they are outputs like any other.
        let varyings = inputs.iter().map(|input| vertex.output(input.slot)).collect();
        Self {
            position: std::array::from_fn(|component| builtin(Builtin::Position, component as u32)),
            point_size: builtin(Builtin::PointSize, 0),
            clip: (0..8).map_while(|index| builtin(Builtin::ClipDistance, index)).collect(),
            cull: (0..8).map_while(|index| builtin(Builtin::CullDistance, index)).collect(),
            varyings,
        }
    }

    fn vertex(&self, outputs: &[Lanes], lane: usize) -> Vertex {
        let float = |slot: Option<usize>| slot.map_or(0.0, |slot| f32::from_bits(outputs[slot][lane]));
        Vertex {
            position: self.position.map(float),
            point_size: self.point_size.map_or(1.0, |slot| f32::from_bits(outputs[slot][lane])),
            clip: self.clip.iter().map(|&slot| f32::from_bits(outputs[slot][lane])).collect(),
            culled: self
                .cull
                .iter()
                .enumerate()
                .fold(0, |bits, (index, &slot)| bits | u8::from(f32::from_bits(outputs[slot][lane]) < 0.0) << index),
            varyings: self.varyings.iter().map(|slot| slot.map_or(0, |slot| outputs[slot][lane])).collect(),
        }
    }
}

/// Shades the vertices of one instance; `None` when the program was interrupted.
pub fn shade(source: &VertexSource<'_>, environment: &Environment<'_>, wave: &mut Wave) -> Option<Shaded> {
    let program = &source.pipeline.vertex;
    let routing = Routing::new(program, source.pipeline.fragment.as_deref());
    let attributes = attributes(source.pipeline, program, source.buffers);
    let mut out = Vec::with_capacity(source.vertices.len());
    for vertices in source.vertices.chunks(WAVE) {
        let lanes = ((1u32 << vertices.len()) - 1) as u16;
        wave.start(program, lanes, 0);
        fill_inputs(program, &attributes, vertices, (source.instance, source.numbers), &mut wave.inputs);
        if wave.run(program, environment) == Stop::Interrupted {
            return None;
        }
        out.extend((0..vertices.len()).map(|lane| routing.vertex(&wave.outputs, lane)));
    }
    Some(out)
}

fn fill_inputs(
    program: &Program,
    attributes: &[Attribute<'_>],
    vertices: &[u32],
    (instance, numbers): (u32, DrawNumbers),
    inputs: &mut [Lanes],
) {
    for (lanes, input) in inputs.iter_mut().zip(&program.inputs) {
        match input.slot {
            Slot::Builtin(Builtin::VertexIndex, _) => lanes[..vertices.len()].copy_from_slice(vertices),
            Slot::Builtin(Builtin::InstanceIndex, _) => lanes.fill(instance),
            Slot::Builtin(Builtin::BaseVertex, _) => lanes.fill(numbers.base_vertex),
            Slot::Builtin(Builtin::BaseInstance, _) => lanes.fill(numbers.base_instance),
            Slot::Builtin(Builtin::DrawIndex, _) => lanes.fill(numbers.draw),
            _ => lanes.fill(0),
        }
    }
    for attribute in attributes {
        for (lane, &vertex) in vertices.iter().enumerate() {
            attribute.fetch(vertex, instance, |slot, word| inputs[slot][lane] = word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::spirv;

    #[test]
    fn draws_are_numbered() {
        let bytes = include_bytes!("../../tests/shaders/draws.vert.spv");
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let module = spirv::parse(&words).unwrap();
        let program = spirv::compile(&module, "main", ash::vk::ShaderStageFlags::VERTEX, &Vec::new()).unwrap();
        let numbers = DrawNumbers { base_vertex: 100, base_instance: 7, draw: 3 };
        let mut inputs = vec![[0; WAVE]; program.inputs.len()];
        fill_inputs(&program, &[], &[105, 101], (9, numbers), &mut inputs);
        let input = |builtin| {
            let slot = program.inputs.iter().position(|input| input.slot == Slot::Builtin(builtin, 0)).unwrap();
            [inputs[slot][0], inputs[slot][1]]
        };
        assert_eq!(input(Builtin::VertexIndex), [105, 101]);
        assert_eq!(input(Builtin::InstanceIndex), [9, 9]);
        assert_eq!(input(Builtin::BaseVertex), [100, 100]);
        assert_eq!(input(Builtin::BaseInstance), [7, 7]);
        assert_eq!(input(Builtin::DrawIndex), [3, 3]);
    }
}
