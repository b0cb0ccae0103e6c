//! Draws, dispatches, mesh draws, conditional rendering, and secondary command buffers. Source:
//! Vulkan specification, "Drawing Commands", "Dispatching Commands"; `VK_EXT_multi_draw`,
//! `VK_EXT_mesh_shader`, `VK_EXT_conditional_rendering`.

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::{Command, MultiDraw};

use super::Recorder;
use crate::call::{Array, Call, In};
use crate::object::need;

#[entry(vkCmdDraw)]
fn draw(recorder: Recorder<'_>, vertices: u32, instances: u32, first_vertex: u32, first_instance: u32) -> Result<()> {
    recorder.record(Command::Draw { vertices, instances, first_vertex, first_instance })
}

#[entry(vkCmdDrawIndexed)]
fn draw_indexed(
    recorder: Recorder<'_>,
    indices: u32,
    instances: u32,
    first_index: u32,
    vertex_offset: i32,
    first_instance: u32,
) -> Result<()> {
    recorder.record(Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance })
}

/// Pipeline of an indirect draw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndirectKind {
    Vertices,
    Indexed,
    Mesh,
}

/// Draws whose parameters are in a buffer.
struct IndirectDraw {
    kind: IndirectKind,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    /// Number of draws; the maximum if a buffer holds the number.
    count: u32,
    /// Buffer and offset of the number of draws.
    counts: Option<(vk::Buffer, vk::DeviceSize)>,
    stride: u32,
}

impl IndirectDraw {
    fn record(self, recorder: Recorder<'_>) -> Result<()> {
        let find = |buffer| need(recorder.device, &recorder.device.buffers, buffer);
        let counted = self.counts.map(|(buffer, offset)| Ok((find(buffer)?, offset))).transpose()?;
        let Self { kind, offset, count, stride, .. } = self;
        let buffer = find(self.buffer)?;
        recorder.record(match kind {
            IndirectKind::Mesh => Command::DrawMeshIndirect { buffer, offset, count, counted, stride },
            _ => {
                let indexed = kind == IndirectKind::Indexed;
                Command::DrawIndirect { buffer, offset, count, counted, stride, indexed }
            }
        })
    }
}

#[entry(vkCmdDrawIndirect)]
fn draw_indirect(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Vertices, buffer, offset, count, counts: None, stride }.record(recorder)
}

#[entry(vkCmdDrawIndirectCount)]
fn draw_indirect_count(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Vertices, buffer, offset, count, counts: Some((counts, count_offset)), stride }
        .record(recorder)
}

#[entry(vkCmdDrawIndexedIndirect)]
fn draw_indexed_indirect(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Indexed, buffer, offset, count, counts: None, stride }.record(recorder)
}

#[entry(vkCmdDrawIndexedIndirectCount)]
fn draw_indexed_indirect_count(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Indexed, buffer, offset, count, counts: Some((counts, count_offset)), stride }
        .record(recorder)
}

#[entry(vkCmdDrawMultiEXT)]
fn draw_multi(
    recorder: Recorder<'_>,
    #[len] count: u32,
    infos: Array<'_, vk::MultiDrawInfoEXT>,
    instances: u32,
    first_instance: u32,
    stride: u32,
) -> Result<()> {
    let draw =
        |info: &vk::MultiDrawInfoEXT| MultiDraw { first: info.first_vertex, count: info.vertex_count, offset: 0 };
    let draws = infos.strided(stride).map(draw).collect();
    recorder.record(Command::DrawMulti { draws, indexed: false, instances, first_instance })
}

#[entry(vkCmdDrawMultiIndexedEXT)]
fn draw_multi_indexed(
    recorder: Recorder<'_>,
    #[len] count: u32,
    infos: Array<'_, vk::MultiDrawIndexedInfoEXT>,
    instances: u32,
    first_instance: u32,
    stride: u32,
    offset: Option<&i32>,
) -> Result<()> {
    let draw = |info: &vk::MultiDrawIndexedInfoEXT| MultiDraw {
        first: info.first_index,
        count: info.index_count,
        offset: offset.copied().unwrap_or(info.vertex_offset),
    };
    let draws = infos.strided(stride).map(draw).collect();
    recorder.record(Command::DrawMulti { draws, indexed: true, instances, first_instance })
}

#[entry(vkCmdDrawMeshTasksEXT)]
fn draw_mesh_tasks(recorder: Recorder<'_>, x: u32, y: u32, z: u32) -> Result<()> {
    recorder.record(Command::DrawMesh { groups: [x, y, z] })
}

#[entry(vkCmdDrawMeshTasksIndirectEXT)]
fn draw_mesh_tasks_indirect(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Mesh, buffer, offset, count, counts: None, stride }.record(recorder)
}

#[entry(vkCmdDrawMeshTasksIndirectCountEXT)]
fn draw_mesh_tasks_indirect_count(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) -> Result<()> {
    IndirectDraw { kind: IndirectKind::Mesh, buffer, offset, count, counts: Some((counts, count_offset)), stride }
        .record(recorder)
}

#[entry(vkCmdDispatch)]
fn dispatch(recorder: Recorder<'_>, x: u32, y: u32, z: u32) -> Result<()> {
    dispatch_base(recorder, 0, 0, 0, x, y, z)
}

#[entry(vkCmdDispatchBase)]
fn dispatch_base(recorder: Recorder<'_>, base_x: u32, base_y: u32, base_z: u32, x: u32, y: u32, z: u32) -> Result<()> {
    recorder.record(Command::Dispatch { base: [base_x, base_y, base_z], groups: [x, y, z] })
}

#[entry(vkCmdDispatchIndirect)]
fn dispatch_indirect(recorder: Recorder<'_>, buffer: vk::Buffer, offset: vk::DeviceSize) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::DispatchIndirect { buffer: need(object, &object.buffers, buffer)?, offset })
}

#[entry(vkCmdBeginConditionalRenderingEXT)]
fn begin_conditional_rendering(
    recorder: Recorder<'_>,
    info: In<'_, vk::ConditionalRenderingBeginInfoEXT<'_>>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::BeginConditional {
        buffer: need(object, &object.buffers, info.buffer)?,
        offset: info.offset,
        inverted: info.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED),
    })
}

#[entry(vkCmdEndConditionalRenderingEXT)]
fn end_conditional_rendering(recorder: Recorder<'_>) -> Result<()> {
    recorder.record(Command::EndConditional)
}

// A device group has one device, so the mask has no effect.

#[entry(vkCmdSetDeviceMask)]
fn set_device_mask(_: vk::CommandBuffer, _: u32) {}

#[entry(vkCmdExecuteCommands)]
fn execute_commands(
    call: Call<'_>,
    recorder: Recorder<'_>,
    #[len] count: u32,
    buffers: Array<'_, vk::CommandBuffer>,
) -> Result<()> {
    let object = recorder.device;
    let list = |&buffer: &vk::CommandBuffer| {
        object.report_unless_executable(buffer, object.command_buffer(call, buffer, recorder.buffer.family)?.list())
    };
    recorder.record(Command::Execute(buffers.get().iter().map(list).collect::<Result<_>>()?))
}
