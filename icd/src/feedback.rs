//! Transform feedback, and queries of streams. Source: `VK_EXT_transform_feedback`.

use ash::vk;
use smallvec::SmallVec;
use vitric_api::Result;
use vitric_gpu::command::{Command, CounterBuffer};
use vitric_memory::BufferRange;

use crate::command::record;
use crate::objects::{DeviceObject, need, optional};
use crate::raw;

pub extern "system" fn bind_buffers(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
    sizes: *const vk::DeviceSize,
) {
    record(handle, |object| {
        let (buffers, offsets) = (raw::slice(buffers, count), raw::slice(offsets, count));
        let sizes = if sizes.is_null() { &[] } else { raw::slice(sizes, count) };
        let range = |(number, (&buffer, &offset)): (usize, (&vk::Buffer, &vk::DeviceSize))| {
            let size = sizes.get(number).copied().unwrap_or(vk::WHOLE_SIZE);
            Ok(BufferRange::new(need(object, &object.buffers, buffer)?, offset, size))
        };
        let buffers = buffers.iter().zip(offsets).enumerate().map(range).collect::<Result<_>>()?;
        Ok(Command::BindFeedbackBuffers { first, buffers })
    });
}

/// Buffers of counters; there are none where the arrays are null.
fn counters(
    object: &DeviceObject,
    count: u32,
    (buffers, offsets): (*const vk::Buffer, *const vk::DeviceSize),
) -> Result<SmallVec<[CounterBuffer; 1]>> {
    let list = |count| if buffers.is_null() { &[] } else { raw::slice(buffers, count) };
    let offsets = if offsets.is_null() { &[] } else { raw::slice(offsets, count) };
    let counter = |(number, &buffer): (usize, &vk::Buffer)| {
        let offset = offsets.get(number).copied().unwrap_or(0);
        Ok(optional(object, &object.buffers, buffer)?.map(|buffer| (buffer, offset)))
    };
    list(count).iter().enumerate().map(counter).collect()
}

pub extern "system" fn begin(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    record(handle, |object| {
        Ok(Command::BeginFeedback { first, counters: counters(object, count, (buffers, offsets))? })
    });
}

pub extern "system" fn end(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    record(handle, |object| Ok(Command::EndFeedback { first, counters: counters(object, count, (buffers, offsets))? }));
}

pub extern "system" fn begin_query(
    handle: vk::CommandBuffer,
    pool: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
    stream: u32,
) {
    record(handle, |object| {
        let precise = flags.contains(vk::QueryControlFlags::PRECISE);
        Ok(Command::BeginQuery { pool: need(object, &object.queries, pool)?, query, precise, stream })
    });
}

pub extern "system" fn end_query(handle: vk::CommandBuffer, pool: vk::QueryPool, query: u32, stream: u32) {
    record(handle, |object| Ok(Command::EndQuery { pool: need(object, &object.queries, pool)?, query, stream }));
}

pub extern "system" fn draw_byte_count(
    handle: vk::CommandBuffer,
    instances: u32,
    first_instance: u32,
    counter: vk::Buffer,
    counter_place: vk::DeviceSize,
    counter_offset: u32,
    stride: u32,
) {
    record(handle, |object| {
        let counter = need(object, &object.buffers, counter)?;
        Ok(Command::DrawByteCount { instances, first_instance, counter, counter_place, counter_offset, stride })
    });
}
