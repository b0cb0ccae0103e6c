//! Commands that name memory by device addresses instead of buffers. Each records the command of
//! buffers, with a buffer that consists of the bytes at the address. Source:
//! `VK_KHR_device_address_commands`.
//!
//! A range that ends behind its memory is invalid. Commands that access the whole range refuse it.
//! For other commands it is cut, and bytes behind the memory read as zeros.

use std::sync::Arc;

use ash::vk;
use smallvec::smallvec;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_gpu::command::{Command, CounterBuffer};
use vitric_memory::{Addresses, Buffer, BufferAddress, BufferRange};
use vitric_vulkan::{
    AddressCommandFlagsKHR, BindIndexBuffer3InfoKHR, BindTransformFeedbackBuffer2InfoEXT, BindVertexBuffer3InfoKHR,
    ConditionalRenderingBeginInfo2EXT, CopyDeviceMemoryImageInfoKHR, CopyDeviceMemoryInfoKHR, DeviceAddressRangeKHR,
    DeviceMemoryImageCopyKHR, DispatchIndirect2InfoKHR, DrawIndirect2InfoKHR, DrawIndirectCount2InfoKHR,
    MemoryMarkerInfoAMD, sys,
};

use super::Recorder;
use crate::call::{Array, Bytes, Call, In};
use crate::object::need;

// Flags of addresses are not used: they say how the application uses the buffers.

/// Finder of the memory that a command names.
#[derive(Clone, Copy)]
struct Memory<'c> {
    call: Call<'c>,
    recorder: Recorder<'c>,
}

impl<'c> Memory<'c> {
    /// Returns a buffer of the bytes at an address, for a command that accesses all of them.
    ///
    /// # Errors
    /// [`Error::Unknown`] if they are not the bytes of one allocation: a message was sent.
    fn buffer(self, range: DeviceAddressRangeKHR) -> Result<Arc<Buffer>> {
        self.buffer_in(&self.recorder.device.device.gpu().addresses().now(), range)
    }

    /// Returns a buffer like [`Self::buffer`], of the allocations that `addresses` has.
    fn buffer_in(self, addresses: &Addresses, range: DeviceAddressRangeKHR) -> Result<Arc<Buffer>> {
        let (address, size) = (range.address, range.size);
        let found = addresses.locate(address, size);
        self.recorder.check(self.call, "VkDeviceAddressRangeKHR", |check| {
            let allowed = format!("the address of {size} bytes of a buffer");
            check.holds("address", format_args!("{address:#x}"), &allowed, found.is_some())
        })?;
        let (memory, offset) = found.ok_or(Error::Unknown)?;
        let make = if memory.is_protected() { Buffer::protected } else { Buffer::with_address };
        let buffer = make(size, BufferAddress::None);
        buffer.bind(memory.clone(), offset);
        Ok(buffer)
    }

    /// Returns a buffer of the bytes at an address, for a command that accesses some of them. Cuts
    /// a range that ends behind its memory.
    ///
    /// # Errors
    /// See [`Self::buffer`].
    fn cut_buffer(self, range: DeviceAddressRangeKHR) -> Result<Arc<Buffer>> {
        let DeviceAddressRangeKHR { address, size } = range;
        let addresses = self.recorder.device.device.gpu().addresses().now();
        let room = addresses.range(address).map_or(0, |(first, memory)| memory.size() - (address - first));
        if !(1..size).contains(&room) {
            return self.buffer_in(&addresses, range);
        }
        self.recorder.device.messages().error(&format!(
            "range of {size} bytes at {address:#x}: expected at most {room}, since the memory ends behind them"
        ));
        self.buffer_in(&addresses, DeviceAddressRangeKHR { address, size: room })
    }

    /// Returns a range of the bytes at an address, which may be cut, or `None` for no bytes.
    fn range(self, range: DeviceAddressRangeKHR) -> Result<Option<BufferRange>> {
        match range.size {
            0 => Ok(None),
            size => Ok(Some(BufferRange::new(self.cut_buffer(range)?, 0, size))),
        }
    }

    /// Returns a buffer of parameters of draws, which may be cut, and the distance of the
    /// parameters in bytes.
    fn parameters(self, range: sys::StridedDeviceAddressRangeKHR) -> Result<(Arc<Buffer>, u32)> {
        let sys::StridedDeviceAddressRangeKHR { address, size, stride } = range;
        self.recorder.check(self.call, "VkStridedDeviceAddressRangeKHR", |check| {
            check.within("stride", stride, 0..=u32::MAX.into())
        })?;
        Ok((self.cut_buffer(DeviceAddressRangeKHR { address, size })?, stride as u32))
    }

    /// Returns the counters of transform feedback, each where its range is not empty.
    fn counters<'i>(
        self,
        infos: &'i [BindTransformFeedbackBuffer2InfoEXT],
    ) -> impl Iterator<Item = Result<CounterBuffer>> + use<'i, 'c> {
        infos.iter().map(move |info| Ok(self.range(info.address_range)?.map(|range| (range.buffer, 0))))
    }
}

#[entry(vkCmdBindIndexBuffer3KHR)]
fn bind_index_buffer3(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, BindIndexBuffer3InfoKHR>) -> Result<()> {
    let range = Memory { call, recorder }.range(info.address_range)?;
    recorder.record(Command::BindIndexBuffer { range, index_type: info.index_type })
}

#[entry(vkCmdBindVertexBuffers3KHR)]
fn bind_vertex_buffers3(
    call: Call<'_>,
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    infos: Array<'_, BindVertexBuffer3InfoKHR>,
) -> Result<()> {
    let memory = Memory { call, recorder };
    for (number, info) in (first..).zip(infos.get()) {
        let sys::StridedDeviceAddressRangeKHR { address, size, stride } = info.address_range;
        if info.set_stride != vk::FALSE {
            recorder.record(Command::SetVertexStrides { first: number, strides: smallvec![stride as u32] })?;
        }
        // The other buffers are bound even if an address is invalid.
        if let Ok(range) = memory.range(DeviceAddressRangeKHR { address, size }) {
            recorder.record(Command::BindVertexBuffers { first: number, buffers: smallvec![range] })?;
        }
    }
    Ok(())
}

/// Records a draw whose parameters are at an address.
fn draw_indirect(memory: Memory<'_>, info: &DrawIndirect2InfoKHR, indexed: bool) -> Result<()> {
    if info.draw_count == 0 {
        return Ok(());
    }
    let (buffer, stride) = memory.parameters(info.address_range)?;
    let (offset, count, counted) = (0, info.draw_count, None);
    memory.recorder.record(Command::DrawIndirect { buffer, offset, count, counted, stride, indexed })
}

/// Records a draw whose parameters and number are at addresses.
fn draw_indirect_count(memory: Memory<'_>, info: &DrawIndirectCount2InfoKHR, indexed: bool) -> Result<()> {
    if info.max_draw_count == 0 {
        return Ok(());
    }
    let (buffer, stride) = memory.parameters(info.address_range)?;
    let counted = Some((memory.cut_buffer(info.count_address_range)?, 0));
    let (offset, count) = (0, info.max_draw_count);
    memory.recorder.record(Command::DrawIndirect { buffer, offset, count, counted, stride, indexed })
}

#[entry(vkCmdDrawIndirect2KHR)]
fn draw_indirect2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, DrawIndirect2InfoKHR>) -> Result<()> {
    draw_indirect(Memory { call, recorder }, &info, false)
}

#[entry(vkCmdDrawIndexedIndirect2KHR)]
fn draw_indexed_indirect2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, DrawIndirect2InfoKHR>) -> Result<()> {
    draw_indirect(Memory { call, recorder }, &info, true)
}

#[entry(vkCmdDrawIndirectCount2KHR)]
fn draw_indirect_count2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, DrawIndirectCount2InfoKHR>) -> Result<()> {
    draw_indirect_count(Memory { call, recorder }, &info, false)
}

#[entry(vkCmdDrawIndexedIndirectCount2KHR)]
fn draw_indexed_indirect_count2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, DrawIndirectCount2InfoKHR>,
) -> Result<()> {
    draw_indirect_count(Memory { call, recorder }, &info, true)
}

#[entry(vkCmdDrawMeshTasksIndirect2EXT)]
fn draw_mesh_tasks_indirect2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, DrawIndirect2InfoKHR>) -> Result<()> {
    if info.draw_count == 0 {
        return Ok(());
    }
    let (buffer, stride) = Memory { call, recorder }.parameters(info.address_range)?;
    recorder.record(Command::DrawMeshIndirect { buffer, offset: 0, count: info.draw_count, counted: None, stride })
}

#[entry(vkCmdDrawMeshTasksIndirectCount2EXT)]
fn draw_mesh_tasks_indirect_count2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, DrawIndirectCount2InfoKHR>,
) -> Result<()> {
    if info.max_draw_count == 0 {
        return Ok(());
    }
    let memory = Memory { call, recorder };
    let (buffer, stride) = memory.parameters(info.address_range)?;
    let counted = Some((memory.cut_buffer(info.count_address_range)?, 0));
    recorder.record(Command::DrawMeshIndirect { buffer, offset: 0, count: info.max_draw_count, counted, stride })
}

#[entry(vkCmdDispatchIndirect2KHR)]
fn dispatch_indirect2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, DispatchIndirect2InfoKHR>) -> Result<()> {
    let buffer = Memory { call, recorder }.cut_buffer(info.address_range)?;
    recorder.record(Command::DispatchIndirect { buffer, offset: 0 })
}

#[entry(vkCmdCopyMemoryKHR)]
fn copy_memory(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, CopyDeviceMemoryInfoKHR>) -> Result<()> {
    let memory = Memory { call, recorder };
    for region in call.slice(info.regions, info.region_count) {
        let (source, target) = (memory.buffer(region.src_range)?, memory.buffer(region.dst_range)?);
        let regions = smallvec![vk::BufferCopy { src_offset: 0, dst_offset: 0, size: region.src_range.size }];
        recorder.record(Command::CopyBuffer { source, target, regions })?;
    }
    Ok(())
}

/// Returns the region of a copy between an image and the start of a buffer.
fn image_region(region: &DeviceMemoryImageCopyKHR) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: 0,
        buffer_row_length: region.address_row_length,
        buffer_image_height: region.address_image_height,
        image_subresource: region.image_subresource,
        image_offset: region.image_offset,
        image_extent: region.image_extent,
    }
}

#[entry(vkCmdCopyMemoryToImageKHR)]
fn copy_memory_to_image(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, CopyDeviceMemoryImageInfoKHR>,
) -> Result<()> {
    let target = need(recorder.device, &recorder.device.images, info.image)?;
    for region in call.slice(info.regions, info.region_count) {
        let source = Memory { call, recorder }.cut_buffer(region.address_range)?;
        let (target, regions) = (target.clone(), vec![image_region(region)]);
        recorder.record(Command::CopyBufferToImage { source, target, regions })?;
    }
    Ok(())
}

#[entry(vkCmdCopyImageToMemoryKHR)]
fn copy_image_to_memory(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, CopyDeviceMemoryImageInfoKHR>,
) -> Result<()> {
    let source = need(recorder.device, &recorder.device.images, info.image)?;
    for region in call.slice(info.regions, info.region_count) {
        let target = Memory { call, recorder }.cut_buffer(region.address_range)?;
        let (source, regions) = (source.clone(), vec![image_region(region)]);
        recorder.record(Command::CopyImageToBuffer { source, target, regions })?;
    }
    Ok(())
}

#[entry(vkCmdUpdateMemoryKHR)]
fn update_memory(
    call: Call<'_>,
    recorder: Recorder<'_>,
    range: In<'_, DeviceAddressRangeKHR>,
    _: AddressCommandFlagsKHR,
    #[len] size: vk::DeviceSize,
    data: Bytes<'_>,
) -> Result<()> {
    let target = Memory { call, recorder }.buffer(*range)?;
    recorder.record_with(data.get(), |data| Command::UpdateBuffer { target, offset: 0, data })
}

#[entry(vkCmdFillMemoryKHR)]
fn fill_memory(
    call: Call<'_>,
    recorder: Recorder<'_>,
    range: In<'_, DeviceAddressRangeKHR>,
    _: AddressCommandFlagsKHR,
    word: u32,
) -> Result<()> {
    let target = Memory { call, recorder }.buffer(*range)?;
    recorder.record(Command::FillBuffer { target, offset: 0, size: range.size, word })
}

#[entry(vkCmdWriteMarkerToMemoryAMD)]
fn write_marker_to_memory(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, MemoryMarkerInfoAMD>) -> Result<()> {
    let range = DeviceAddressRangeKHR { size: 4, ..info.dst_range };
    let target = Memory { call, recorder }.buffer(range)?;
    recorder.record(Command::FillBuffer { target, offset: 0, size: 4, word: info.marker })
}

#[entry(vkCmdCopyQueryPoolResultsToMemoryKHR)]
fn copy_query_pool_results_to_memory(
    call: Call<'_>,
    recorder: Recorder<'_>,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    range: In<'_, sys::StridedDeviceAddressRangeKHR>,
    _: AddressCommandFlagsKHR,
    flags: vk::QueryResultFlags,
) -> Result<()> {
    let pool = need(recorder.device, &recorder.device.queries, pool)?;
    let sys::StridedDeviceAddressRangeKHR { address, size, stride } = *range;
    let target = Memory { call, recorder }.cut_buffer(DeviceAddressRangeKHR { address, size })?;
    recorder.record(Command::CopyQueryPoolResults { pool, first, count, target, offset: 0, stride, flags })
}

#[entry(vkCmdBeginConditionalRendering2EXT)]
fn begin_conditional_rendering2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, ConditionalRenderingBeginInfo2EXT>,
) -> Result<()> {
    let buffer = Memory { call, recorder }.cut_buffer(info.address_range)?;
    let inverted = info.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED);
    recorder.record(Command::BeginConditional { buffer, offset: 0, inverted })
}

#[entry(vkCmdBindTransformFeedbackBuffers2EXT)]
fn bind_transform_feedback_buffers2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    infos: Array<'_, BindTransformFeedbackBuffer2InfoEXT>,
) -> Result<()> {
    let memory = Memory { call, recorder };
    let range = |info: &BindTransformFeedbackBuffer2InfoEXT| {
        Ok(BufferRange::new(memory.cut_buffer(info.address_range)?, 0, info.address_range.size))
    };
    let buffers = infos.get().iter().map(range).collect::<Result<_>>()?;
    recorder.record(Command::BindFeedbackBuffers { first, buffers })
}

#[entry(vkCmdBeginTransformFeedback2EXT)]
fn begin_transform_feedback2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    infos: Array<'_, BindTransformFeedbackBuffer2InfoEXT>,
) -> Result<()> {
    let counters = Memory { call, recorder }.counters(infos.get()).collect::<Result<_>>()?;
    recorder.record(Command::BeginFeedback { first, counters })
}

#[entry(vkCmdEndTransformFeedback2EXT)]
fn end_transform_feedback2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    infos: Array<'_, BindTransformFeedbackBuffer2InfoEXT>,
) -> Result<()> {
    let counters = Memory { call, recorder }.counters(infos.get()).collect::<Result<_>>()?;
    recorder.record(Command::EndFeedback { first, counters })
}

#[entry(vkCmdDrawIndirectByteCount2EXT)]
fn draw_indirect_byte_count2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    instances: u32,
    first_instance: u32,
    info: In<'_, BindTransformFeedbackBuffer2InfoEXT>,
    counter_offset: u32,
    stride: u32,
) -> Result<()> {
    let counter = Memory { call, recorder }.cut_buffer(info.address_range)?;
    let counter_buffer_offset = 0;
    recorder.record(Command::DrawByteCount {
        instances,
        first_instance,
        counter,
        counter_buffer_offset,
        counter_offset,
        stride,
    })
}
