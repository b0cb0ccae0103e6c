//! Several draws by one command, draws of meshes, and conditions of draws. Source: `VK_EXT_multi_draw`, `VK_EXT_mesh_shader`,
//! `VK_EXT_conditional_rendering`.

use ash::vk;
use vitric_api::Error;
use vitric_gpu::command::{Command, MultiDraw};

use crate::command::{indirect, plain, record};
use crate::objects::need;
use crate::raw;

/// Records draws whose infos lie `stride` bytes apart.
fn draws<T>(
    handle: vk::CommandBuffer,
    (infos, count, stride): (*const T, u32, u32),
    [instances, first_instance]: [u32; 2],
    draw: impl Fn(&T) -> MultiDraw,
    indexed: bool,
) {
    raw::guard_void(|| {
        let info = |number: u32| raw::input(infos.wrapping_byte_add(number as usize * stride as usize));
        let draws = (0..count).filter_map(info).map(draw).collect();
        plain(handle, Command::DrawMulti { draws, indexed, instances, first_instance });
    });
}

pub extern "system" fn draw_multi(
    handle: vk::CommandBuffer,
    count: u32,
    infos: *const vk::MultiDrawInfoEXT,
    instances: u32,
    first_instance: u32,
    stride: u32,
) {
    let draw =
        |info: &vk::MultiDrawInfoEXT| MultiDraw { first: info.first_vertex, count: info.vertex_count, offset: 0 };
    draws(handle, (infos, count, stride), [instances, first_instance], draw, false);
}

pub extern "system" fn draw_multi_indexed(
    handle: vk::CommandBuffer,
    count: u32,
    infos: *const vk::MultiDrawIndexedInfoEXT,
    instances: u32,
    first_instance: u32,
    stride: u32,
    offset: *const i32,
) {
    let same = raw::input(offset).copied();
    let draw = |info: &vk::MultiDrawIndexedInfoEXT| MultiDraw {
        first: info.first_index,
        count: info.index_count,
        offset: same.unwrap_or(info.vertex_offset),
    };
    draws(handle, (infos, count, stride), [instances, first_instance], draw, true);
}

pub extern "system" fn draw_mesh(handle: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    plain(handle, Command::DrawMesh { groups: [x, y, z] });
}

pub extern "system" fn draw_mesh_indirect(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    indirect(handle, buffer, None, |buffer, counted| Command::DrawMeshIndirect {
        buffer,
        offset,
        count,
        counted,
        stride,
    });
}

pub extern "system" fn draw_mesh_indirect_count(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    let counts = Some((counts, count_offset));
    indirect(handle, buffer, counts, |buffer, counted| Command::DrawMeshIndirect {
        buffer,
        offset,
        count,
        counted,
        stride,
    });
}

pub extern "system" fn begin_conditional(
    handle: vk::CommandBuffer,
    info: *const vk::ConditionalRenderingBeginInfoEXT<'_>,
) {
    record(handle, |object| {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        Ok(Command::BeginConditional {
            buffer: need(object, &object.buffers, info.buffer)?,
            offset: info.offset,
            inverted: info.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED),
        })
    });
}

pub extern "system" fn end_conditional(handle: vk::CommandBuffer) {
    plain(handle, Command::EndConditional);
}
