//! Vertex fetch: attributes from vertex buffers, decoded; what lies outside a buffer reads as zero.
//!
//! Source: Vulkan specification, "Fixed-Function Vertex Processing".

use std::sync::Arc;

use ash::vk;

use crate::format::{self, FormatInfo, Texel};
use crate::memory::Buffer;
use crate::shader::{Program, Slot};
use crate::state::GraphicsPipeline;

/// An attribute, resolved for one draw.
pub(super) struct Attribute<'a> {
    info: &'static FormatInfo,
    buffer: Option<&'a (Arc<Buffer>, u64)>,
    stride: u64,
    offset: u64,
    per_instance: bool,
    /// Input slots of the vertex program by component.
    slots: [Option<usize>; 4],
}

/// The attributes of a pipeline that its program reads.
pub(super) fn attributes<'a>(
    pipeline: &GraphicsPipeline,
    program: &Program,
    buffers: &'a [Option<(Arc<Buffer>, u64)>],
) -> Vec<Attribute<'a>> {
    let resolve = |attribute: &crate::state::VertexAttribute| {
        let binding = pipeline.bindings.iter().find(|binding| binding.binding == attribute.binding)?;
        let slot = |component| {
            let slot = Slot::Location { location: attribute.location, component, index: 0 };
            program.inputs.iter().position(|input| input.slot == slot)
        };
        Some(Attribute {
            info: format::info(attribute.format)?,
            buffer: buffers.get(attribute.binding as usize).and_then(Option::as_ref),
            stride: u64::from(binding.stride),
            offset: u64::from(attribute.offset),
            per_instance: binding.rate == vk::VertexInputRate::INSTANCE,
            slots: [slot(0), slot(1), slot(2), slot(3)],
        })
    };
    pipeline.attributes.iter().filter_map(resolve).collect()
}

impl Attribute<'_> {
    /// Fetches the attribute for a vertex and calls `put` with each input slot and its word.
    pub(super) fn fetch(&self, vertex: u32, instance: u32, mut put: impl FnMut(usize, u32)) {
        let texel = self.texel(if self.per_instance { instance } else { vertex });
        for (slot, word) in self.slots.iter().zip(texel) {
            if let Some(slot) = slot {
                put(*slot, word);
            }
        }
    }

    fn texel(&self, element: u32) -> Texel {
        let mut bytes = [0; 16];
        if let Some((buffer, start)) = self.buffer {
            let offset = start + self.offset + u64::from(element) * self.stride;
            buffer.read(offset, &mut bytes[..self.info.bytes as usize]);
        }
        format::decode(self.info, &bytes)
    }
}
