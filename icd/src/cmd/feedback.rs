//! Transform feedback. Source: `VK_EXT_transform_feedback`.

use ash::vk;
use smallvec::SmallVec;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::{Command, CounterBuffer};
use vitric_memory::BufferRange;

use super::Recorder;
use crate::call::Array;
use crate::object::{DeviceObject, need, optional};

#[entry(vkCmdBindTransformFeedbackBuffersEXT)]
fn bind_transform_feedback_buffers(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
    sizes: Array<'_, vk::DeviceSize>,
) -> Result<()> {
    let object = recorder.device;
    let (buffers, offsets) = (buffers.get(), offsets.get());
    let sizes = sizes.get();
    let range = |(number, (&buffer, &offset)): (usize, (&vk::Buffer, &vk::DeviceSize))| {
        let size = sizes.get(number).copied().unwrap_or(vk::WHOLE_SIZE);
        Ok(BufferRange::new(need(object, &object.buffers, buffer)?, offset, size))
    };
    let buffers = buffers.iter().zip(offsets).enumerate().map(range).collect::<Result<_>>()?;
    recorder.record(Command::BindFeedbackBuffers { first, buffers })
}

/// Returns the counter buffers; none if the array is null.
fn counters(
    object: &DeviceObject,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
) -> Result<SmallVec<[CounterBuffer; 1]>> {
    let offsets = offsets.get();
    let counter = |(number, &buffer): (usize, &vk::Buffer)| {
        let offset = offsets.get(number).copied().unwrap_or(0);
        Ok(optional(object, &object.buffers, buffer)?.map(|buffer| (buffer, offset)))
    };
    buffers.get().iter().enumerate().map(counter).collect()
}

#[entry(vkCmdBeginTransformFeedbackEXT)]
fn begin_transform_feedback(
    recorder: Recorder<'_>,
    first: u32,
    #[len] _: u32,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::BeginFeedback { first, counters: counters(object, buffers, offsets)? })
}

#[entry(vkCmdEndTransformFeedbackEXT)]
fn end_transform_feedback(
    recorder: Recorder<'_>,
    first: u32,
    #[len] _: u32,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::EndFeedback { first, counters: counters(object, buffers, offsets)? })
}

#[entry(vkCmdDrawIndirectByteCountEXT)]
fn draw_indirect_byte_count(
    recorder: Recorder<'_>,
    instances: u32,
    first_instance: u32,
    counter: vk::Buffer,
    counter_buffer_offset: vk::DeviceSize,
    counter_offset: u32,
    stride: u32,
) -> Result<()> {
    let object = recorder.device;
    let counter = need(object, &object.buffers, counter)?;
    recorder.record(Command::DrawByteCount {
        instances,
        first_instance,
        counter,
        counter_buffer_offset,
        counter_offset,
        stride,
    })
}
