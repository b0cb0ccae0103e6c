//! Parameters of the draws of a command.

use super::super::indirect::{read_draw_count, read_dwords};
use super::super::{Command, MultiDraw};
use crate::geometry::DrawNumbers;

/// Parameters of one draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawParams {
    pub(super) instances: u32,
    pub(super) numbers: DrawNumbers,
    /// Number of vertices or indices.
    pub(super) count: u32,
    /// The first index; `None` without indexing, where `numbers` holds the first vertex.
    pub(super) first_index: Option<u32>,
}

/// Returns the number of draws of a command that draws vertices.
pub(super) fn draw_count(command: &Command) -> u32 {
    match command {
        Command::DrawIndirect { count, counted, .. } => read_draw_count(*count, counted.as_ref()),
        Command::DrawMulti { draws, .. } => draws.len() as u32,
        _ => 1,
    }
}

/// Returns the number of draws of a command that draws meshes; `None` for all other commands.
pub(super) fn mesh_draw_count(command: &Command) -> Option<u32> {
    match command {
        Command::DrawMesh { .. } => Some(1),
        Command::DrawMeshIndirect { count, counted, .. } => Some(read_draw_count(*count, counted.as_ref())),
        _ => None,
    }
}

/// Returns the number of workgroups of one draw of a command that draws meshes, along each axis.
pub(super) fn mesh_groups(command: &Command, draw: u32) -> [u32; 3] {
    match command {
        Command::DrawMesh { groups } => *groups,
        Command::DrawMeshIndirect { buffer, offset, stride, .. } => {
            read_dwords(buffer, offset.saturating_add(u64::from(draw) * u64::from(*stride)))
        }
        _ => [0; 3],
    }
}

impl DrawParams {
    /// Returns the parameters of one draw of a command.
    pub(super) fn of(command: &Command, draw: u32) -> Self {
        let direct = |[count, instances, first_vertex, first_instance]: [u32; 4]| {
            let numbers = DrawNumbers { base_vertex: first_vertex, base_instance: first_instance, draw };
            Self { instances, numbers, count, first_index: None }
        };
        let indexed = |[count, instances, first, offset, first_instance]: [u32; 5]| {
            let numbers = DrawNumbers { base_vertex: offset, base_instance: first_instance, draw };
            Self { instances, numbers, count, first_index: Some(first) }
        };
        let at = |offset: u64, stride: u32| offset.saturating_add(u64::from(draw) * u64::from(stride));
        match command {
            Command::Draw { vertices, instances, first_vertex, first_instance } => {
                direct([*vertices, *instances, *first_vertex, *first_instance])
            }
            Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance } => {
                indexed([*indices, *instances, *first_index, *vertex_offset as u32, *first_instance])
            }
            Command::DrawIndirect { buffer, offset, stride, indexed: false, .. } => {
                direct(read_dwords(buffer, at(*offset, *stride)))
            }
            Command::DrawIndirect { buffer, offset, stride, .. } => indexed(read_dwords(buffer, at(*offset, *stride))),
            Command::DrawByteCount {
                instances,
                first_instance,
                counter,
                counter_buffer_offset,
                counter_offset,
                stride,
            } => {
                let bytes = read_dwords::<1>(counter, *counter_buffer_offset)[0].saturating_sub(*counter_offset);
                direct([bytes.checked_div(*stride).unwrap_or(0), *instances, 0, *first_instance])
            }
            Command::DrawMulti { draws, indexed: is_indexed, instances, first_instance } => {
                let MultiDraw { first, count, offset } = draws.get(draw as usize).copied().unwrap_or_default();
                match is_indexed {
                    true => indexed([count, *instances, first, offset as u32, *first_instance]),
                    false => direct([count, *instances, first, *first_instance]),
                }
            }
            // Mesh draws only need the number of the draw.
            _ => direct([0; 4]),
        }
    }

    /// Returns the approximate number of primitives of the draw.
    pub(super) fn primitives(&self) -> usize {
        (self.count as usize / 3).saturating_mul(self.instances as usize)
    }
}
