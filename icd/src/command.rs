//! Command pools, command buffers, and most of `vkCmd*`. Source: Vulkan specification, "Command Buffers" and those that
//! describe the commands.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use vitric_api::command::CommandBuffer;
use vitric_api::{Error, Result};
use vitric_gpu::command::{Command, InlineData, PassBegin};
use vitric_gpu::state::{DepthBias, DepthBiasUnit, LineStipple};
use vitric_memory::{Buffer, BufferRange, SurfaceView};

use crate::objects::{
    CommandObject, CommandPool, DeviceObject, Marked, Pipeline, destroy, device, good, need, optional,
};
use crate::pipeline::{depth_bias_unit, rate_of};
use crate::transfer::clear_value;
use crate::{check, feedback, raw, transition};

pub extern "system" fn create_pool(
    handle: vk::Device,
    info: *const vk::CommandPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::CommandPool,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let family = check::info(object, info)?.queue_family_index;
        if !object.queues().iter().any(|(of, _)| *of == family) {
            object.messages().error(&format!("the device has no queues of family {family}"));
            return Err(Error::Unknown);
        }
        Ok(object.command_pools.insert(Arc::new(CommandPool { family, buffers: Default::default() })))
    })
}

pub extern "system" fn destroy_pool(handle: vk::Device, pool: vk::CommandPool, _: *const vk::AllocationCallbacks<'_>) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        if let Some(found) = object.command_pools.get(pool.as_raw()) {
            found.take().for_each(|buffer| destroy_buffer(handle, buffer));
        }
        destroy(handle, |object| &object.command_pools, pool);
    });
}

fn destroy_buffer(handle: vk::Device, buffer: vk::CommandBuffer) {
    if let Ok(object) = device(handle) {
        object.private.forget(vk::ObjectType::COMMAND_BUFFER, buffer.as_raw());
    }
    CommandObject::destroy(buffer);
}

pub extern "system" fn reset_pool(
    handle: vk::Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        for &buffer in need(object, &object.command_pools, pool)?.buffers.lock().iter() {
            if let Some(found) = CommandObject::from_handle(vk::CommandBuffer::from_raw(buffer)) {
                found.buffer.reset();
                if flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES) {
                    found.buffer.release();
                }
            }
        }
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn trim_pool(handle: vk::Device, pool: vk::CommandPool, _: vk::CommandPoolTrimFlags) {
    raw::guard_void(|| {
        let Some(pool) = device(handle).ok().and_then(|object| object.command_pools.get(pool.as_raw())) else { return };
        let buffers = pool.buffers.lock();
        let buffers = buffers.iter().map(|&buffer| vk::CommandBuffer::from_raw(buffer));
        buffers.filter_map(CommandObject::from_handle).for_each(|found| found.buffer.release());
    });
}

// A device is a group of its own: there is nothing to choose.

pub extern "system" fn set_device_mask(_: vk::CommandBuffer, _: u32) {}

pub extern "system" fn allocate(
    handle: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let pool = need(object, &object.command_pools, info.command_pool)?;
        let secondary = info.level == vk::CommandBufferLevel::SECONDARY;
        for slot in check::output(object, "pCommandBuffers", out, info.command_buffer_count)? {
            raw::room_for(0)?;
            let buffer = CommandBuffer::new(secondary, pool.family)?;
            let made = CommandObject { device: handle.as_raw(), buffer }.into_handle(object.instance);
            pool.buffers.lock().insert(made);
            *slot = vk::CommandBuffer::from_raw(made);
        }
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn free(handle: vk::Device, pool: vk::CommandPool, count: u32, buffers: *const vk::CommandBuffer) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        let Ok(found) = need(object, &object.command_pools, pool) else { return };
        for &buffer in raw::slice(buffers, count).iter().filter(|buffer| !buffer.is_null()) {
            let is_of_pool = found.buffers.lock().remove(&buffer.as_raw());
            match is_of_pool {
                true => destroy_buffer(handle, buffer),
                false => not_of_pool(handle, buffer),
            }
        }
    });
}

/// Tells of a command buffer that is to be freed, and that is stale, foreign or of another pool.
#[cold]
fn not_of_pool(handle: vk::Device, buffer: vk::CommandBuffer) {
    if let (Ok(object), Some(_)) = (device(handle), CommandObject::from_handle(buffer)) {
        object.messages().error(&format!("{} is not of the pool that it is to be freed from", object.describe(buffer)));
    }
}

pub extern "system" fn begin(handle: vk::CommandBuffer, info: *const vk::CommandBufferBeginInfo<'_>) -> vk::Result {
    raw::guard(|| {
        let object = CommandObject::from_handle(handle).ok_or(Error::Unknown)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        object.buffer.begin(info.flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT));
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn end(handle: vk::CommandBuffer) -> vk::Result {
    raw::guard(|| {
        let object = CommandObject::from_handle(handle).ok_or(Error::Unknown)?;
        object.buffer.end().map(|()| vk::Result::SUCCESS)
    })
}

pub extern "system" fn reset(handle: vk::CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result {
    raw::guard(|| {
        let buffer = &CommandObject::from_handle(handle).ok_or(Error::Unknown)?.buffer;
        buffer.reset();
        if flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES) {
            buffer.release();
        }
        Ok(vk::Result::SUCCESS)
    })
}

/// Records a command that `make` builds; nothing when it fails (a message was sent).
pub fn record(handle: vk::CommandBuffer, make: impl FnOnce(&DeviceObject) -> Result<Command>) {
    recorded(handle, |owner, buffer| make(owner).map(|command| buffer.record(command)));
}

/// The same for a command that brings bytes along.
pub fn record_with<C: FnOnce(InlineData) -> Command>(
    handle: vk::CommandBuffer,
    bytes: &[u8],
    make: impl FnOnce(&DeviceObject) -> Result<C>,
) {
    recorded(handle, |owner, buffer| make(owner).map(|command| buffer.record_with(bytes, command)));
}

/// Has a command recorded, and tells the messengers when the buffer does not take it.
#[inline]
pub fn recorded(handle: vk::CommandBuffer, record: impl FnOnce(&DeviceObject, &CommandBuffer) -> Result<bool>) {
    raw::guard_void(|| {
        let Some(object) = CommandObject::from_handle(handle) else { return };
        let Some(owner) = DeviceObject::from_handle(vk::Device::from_raw(object.device)) else { return };
        if record(owner, &object.buffer) == Ok(false) {
            owner.messages().error(&format!("queues of family {} do not take a command", object.buffer.family));
        }
    });
}

/// Checks values that a command is given.
///
/// # Errors
/// When one is not allowed, or the command buffer is none: a message was sent where it could be.
pub fn checked(
    handle: vk::CommandBuffer,
    name: &'static str,
    test: impl FnOnce(check::Check<'_>) -> Result<()>,
) -> Result<()> {
    let object = CommandObject::from_handle(handle).ok_or(Error::Unknown)?;
    check::value(device(vk::Device::from_raw(object.device))?, name, test)
}

/// Records a command that names no objects.
pub fn plain(handle: vk::CommandBuffer, command: Command) {
    record(handle, |_| Ok(command));
}

pub extern "system" fn bind_pipeline(handle: vk::CommandBuffer, _: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
    record(handle, |object| {
        Ok(match need(object, &object.pipelines, pipeline)? {
            Pipeline::Graphics(pipeline) => Command::BindGraphicsPipeline(pipeline),
            Pipeline::Compute(pipeline) => Command::BindComputePipeline(pipeline),
            Pipeline::Library(_) => return Err(Error::Unknown),
        })
    });
}

pub extern "system" fn bind_sets(
    handle: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    _: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    record(handle, |object| {
        let sets = raw::slice(sets, count).iter();
        let sets = sets.map(|&set| good(object, &object.sets, set)).collect::<Result<_>>()?;
        let dynamic_offsets = raw::slice(offsets, offset_count).into();
        Ok(Command::BindDescriptorSets { point, first, sets, dynamic_offsets })
    });
}

pub extern "system" fn bind_vertex_buffers(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    bind_vertex_ranges(handle, first, raw::slice(buffers, count), [raw::slice(offsets, count), &[]]);
}

/// Binds vertex buffers from offsets on; where there are sizes, not further than these.
pub fn bind_vertex_ranges(
    handle: vk::CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    [offsets, sizes]: [&[vk::DeviceSize]; 2],
) {
    record(handle, |object| {
        let range = |(number, (&buffer, &offset)): (usize, (&vk::Buffer, &vk::DeviceSize))| {
            let size = sizes.get(number).copied().unwrap_or(vk::WHOLE_SIZE);
            let buffer = optional(object, &object.buffers, buffer)?;
            Ok(buffer.map(|buffer| BufferRange::new(buffer, offset, size)))
        };
        let ranges = buffers.iter().zip(offsets).enumerate().map(range).collect::<Result<_>>()?;
        Ok(Command::BindVertexBuffers { first, buffers: ranges })
    });
}

pub extern "system" fn bind_index_buffer(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    index_type: vk::IndexType,
) {
    bind_index_range(handle, buffer, offset, vk::WHOLE_SIZE, index_type);
}

pub extern "system" fn bind_index_range(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    index_type: vk::IndexType,
) {
    record(handle, |object| {
        let buffer = optional(object, &object.buffers, buffer)?;
        let range = buffer.map(|buffer| BufferRange::new(buffer, offset, size));
        Ok(Command::BindIndexBuffer { range, index_type })
    });
}

pub extern "system" fn push_constants(
    handle: vk::CommandBuffer,
    _: vk::PipelineLayout,
    _: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const c_void,
) {
    record_with(handle, raw::bytes(values, size as usize), |_| Ok(|data| Command::PushConstants { offset, data }));
}

pub extern "system" fn set_viewport(handle: vk::CommandBuffer, first: u32, count: u32, viewports: *const vk::Viewport) {
    plain(handle, Command::SetViewports { first, viewports: raw::slice(viewports, count).into() });
}

pub extern "system" fn set_scissor(handle: vk::CommandBuffer, first: u32, count: u32, scissors: *const vk::Rect2D) {
    plain(handle, Command::SetScissors { first, scissors: raw::slice(scissors, count).into() });
}

pub extern "system" fn set_line_width(handle: vk::CommandBuffer, width: f32) {
    plain(handle, Command::SetLineWidth(width));
}

pub extern "system" fn set_line_stipple(handle: vk::CommandBuffer, factor: u32, pattern: u16) {
    plain(handle, Command::SetLineStipple(LineStipple { factor, pattern }));
}

pub extern "system" fn set_depth_bias(handle: vk::CommandBuffer, constant: f32, clamp: f32, slope: f32) {
    plain(handle, Command::SetDepthBias(DepthBias { constant, clamp, slope, unit: DepthBiasUnit::default() }));
}

pub extern "system" fn set_depth_bias2(handle: vk::CommandBuffer, info: *const vk::DepthBiasInfoEXT<'_>) {
    record(handle, |_| {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        Ok(Command::SetDepthBias(DepthBias {
            constant: info.depth_bias_constant_factor,
            clamp: info.depth_bias_clamp,
            slope: info.depth_bias_slope_factor,
            unit: depth_bias_unit(info.p_next),
        }))
    });
}

pub extern "system" fn set_fragment_shading_rate(
    handle: vk::CommandBuffer,
    size: *const vk::Extent2D,
    ops: *const [vk::FragmentShadingRateCombinerOpKHR; 2],
) {
    if let (Some(&size), Some(&ops)) = (raw::input(size), raw::input(ops)) {
        plain(handle, Command::SetFragmentRate(rate_of(size, ops)));
    }
}

pub extern "system" fn set_blend_constants(handle: vk::CommandBuffer, constants: *const [f32; 4]) {
    plain(handle, Command::SetBlendConstants(raw::input(constants).copied().unwrap_or_default()));
}

pub extern "system" fn set_depth_bounds(handle: vk::CommandBuffer, low: f32, high: f32) {
    plain(handle, Command::SetDepthBounds([low, high]));
}

pub extern "system" fn set_stencil_compare_mask(handle: vk::CommandBuffer, faces: vk::StencilFaceFlags, mask: u32) {
    plain(handle, Command::SetStencilCompareMask { faces, mask });
}

pub extern "system" fn set_stencil_write_mask(handle: vk::CommandBuffer, faces: vk::StencilFaceFlags, mask: u32) {
    plain(handle, Command::SetStencilWriteMask { faces, mask });
}

pub extern "system" fn set_stencil_reference(handle: vk::CommandBuffer, faces: vk::StencilFaceFlags, reference: u32) {
    plain(handle, Command::SetStencilReference { faces, reference });
}

pub extern "system" fn draw(
    handle: vk::CommandBuffer,
    vertices: u32,
    instances: u32,
    first_vertex: u32,
    first_instance: u32,
) {
    plain(handle, Command::Draw { vertices, instances, first_vertex, first_instance });
}

pub extern "system" fn draw_indexed(
    handle: vk::CommandBuffer,
    indices: u32,
    instances: u32,
    first_index: u32,
    vertex_offset: i32,
    first_instance: u32,
) {
    plain(handle, Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance });
}

/// Records a draw whose arguments lie in a buffer, and their number in another one, if it is counted.
pub fn indirect(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    counts: Option<(vk::Buffer, vk::DeviceSize)>,
    command: impl FnOnce(Arc<Buffer>, Option<(Arc<Buffer>, u64)>) -> Command,
) {
    record(handle, |object| {
        let counted = |(counts, offset)| Ok((need(object, &object.buffers, counts)?, offset));
        let counted = counts.map(counted).transpose()?;
        Ok(command(need(object, &object.buffers, buffer)?, counted))
    });
}

pub extern "system" fn draw_indirect(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    indirect(handle, buffer, None, |buffer, counted| Command::DrawIndirect { buffer, offset, count, counted, stride });
}

pub extern "system" fn draw_indexed_indirect(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    indirect(handle, buffer, None, |buffer, counted| Command::DrawIndexedIndirect {
        buffer,
        offset,
        count,
        counted,
        stride,
    });
}

pub extern "system" fn draw_indirect_count(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    let counts = Some((counts, count_offset));
    indirect(handle, buffer, counts, |buffer, counted| Command::DrawIndirect {
        buffer,
        offset,
        count,
        counted,
        stride,
    });
}

pub extern "system" fn draw_indexed_indirect_count(
    handle: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    counts: vk::Buffer,
    count_offset: vk::DeviceSize,
    count: u32,
    stride: u32,
) {
    let counts = Some((counts, count_offset));
    indirect(handle, buffer, counts, |buffer, counted| Command::DrawIndexedIndirect {
        buffer,
        offset,
        count,
        counted,
        stride,
    });
}

pub extern "system" fn dispatch(handle: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    dispatch_base(handle, 0, 0, 0, x, y, z);
}

pub extern "system" fn dispatch_base(
    handle: vk::CommandBuffer,
    base_x: u32,
    base_y: u32,
    base_z: u32,
    x: u32,
    y: u32,
    z: u32,
) {
    plain(handle, Command::Dispatch { base: [base_x, base_y, base_z], groups: [x, y, z] });
}

pub extern "system" fn dispatch_indirect(handle: vk::CommandBuffer, buffer: vk::Buffer, offset: vk::DeviceSize) {
    record(handle, |object| Ok(Command::DispatchIndirect { buffer: need(object, &object.buffers, buffer)?, offset }));
}

pub extern "system" fn set_event(handle: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    record(handle, |object| Ok(Command::SetEvent(need(object, &object.events, event)?)));
}

pub extern "system" fn reset_event(handle: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    record(handle, |object| Ok(Command::ResetEvent(need(object, &object.events, event)?)));
}

pub extern "system" fn wait_events(
    handle: vk::CommandBuffer,
    count: u32,
    events: *const vk::Event,
    _: vk::PipelineStageFlags,
    _: vk::PipelineStageFlags,
    _: u32,
    _: *const vk::MemoryBarrier<'_>,
    _: u32,
    _: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    wait_for(handle, raw::slice(events, count));
    transition::record(handle, raw::slice(images, image_count));
}

/// Waits for events.
pub fn wait_for(handle: vk::CommandBuffer, events: &[vk::Event]) {
    record(handle, |object| {
        let events = events.iter().map(|&event| need(object, &object.events, event));
        Ok(Command::WaitEvents(events.collect::<Result<_>>()?))
    });
}

pub extern "system" fn pipeline_barrier(
    handle: vk::CommandBuffer,
    _: vk::PipelineStageFlags,
    _: vk::PipelineStageFlags,
    _: vk::DependencyFlags,
    _: u32,
    _: *const vk::MemoryBarrier<'_>,
    _: u32,
    _: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    barrier(handle);
    transition::record(handle, raw::slice(images, image_count));
}

/// A dependency of all that follows on all before.
pub fn barrier(handle: vk::CommandBuffer) {
    plain(handle, Command::PipelineBarrier);
}

pub extern "system" fn begin_query(
    handle: vk::CommandBuffer,
    pool: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
) {
    feedback::begin_query(handle, pool, query, flags, 0);
}

pub extern "system" fn end_query(handle: vk::CommandBuffer, pool: vk::QueryPool, query: u32) {
    feedback::end_query(handle, pool, query, 0);
}

pub extern "system" fn reset_query_pool(handle: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) {
    record(handle, |object| Ok(Command::ResetQueryPool { pool: need(object, &object.queries, pool)?, first, count }));
}

pub extern "system" fn write_timestamp(
    handle: vk::CommandBuffer,
    _: vk::PipelineStageFlags,
    pool: vk::QueryPool,
    query: u32,
) {
    record(handle, |object| Ok(Command::WriteTimestamp { pool: need(object, &object.queries, pool)?, query }));
}

pub extern "system" fn copy_query_results(
    handle: vk::CommandBuffer,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) {
    record(handle, |object| {
        let pool = need(object, &object.queries, pool)?;
        let target = need(object, &object.buffers, target)?;
        Ok(Command::CopyQueryPoolResults { pool, first, count, target, offset, stride, flags })
    });
}

pub extern "system" fn begin_pass(
    handle: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    _: vk::SubpassContents,
) {
    record(handle, |object| {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let framebuffer = need(object, &object.framebuffers, info.framebuffer)?;
        let begin = PassBegin {
            pass: need(object, &object.passes, info.render_pass)?,
            views: named_views(object, info)?.unwrap_or_else(|| framebuffer.views.clone()),
            area: device_area(info.p_next).unwrap_or(info.render_area),
            layers: framebuffer.layers,
            clears: raw::slice(info.p_clear_values, info.clear_value_count).iter().map(clear_value).collect(),
        };
        Ok(Command::BeginPass(Box::new(begin)))
    });
}

/// The views that a render pass instance names itself, as its framebuffer has none.
fn named_views(object: &DeviceObject, info: &vk::RenderPassBeginInfo<'_>) -> Result<Option<Vec<Arc<SurfaceView>>>> {
    let named: Option<&vk::RenderPassAttachmentBeginInfo<'_>> = raw::find(info.p_next);
    let Some(named) = named.filter(|named| named.attachment_count > 0) else { return Ok(None) };
    let views = raw::slice(named.p_attachments, named.attachment_count).iter();
    views.map(|&view| need(object, &object.image_views, view)).collect::<Result<_>>().map(Some)
}

/// The render area of the one device of a group, where it has its own.
pub fn device_area(next: *const c_void) -> Option<vk::Rect2D> {
    let group: &vk::DeviceGroupRenderPassBeginInfo<'_> = raw::find(next)?;
    raw::slice(group.p_device_render_areas, group.device_render_area_count).first().copied()
}

pub extern "system" fn begin_pass2(
    handle: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    _: *const vk::SubpassBeginInfo<'_>,
) {
    begin_pass(handle, info, vk::SubpassContents::INLINE);
}

pub extern "system" fn next_subpass(handle: vk::CommandBuffer, _: vk::SubpassContents) {
    plain(handle, Command::NextSubpass);
}

pub extern "system" fn next_subpass2(
    handle: vk::CommandBuffer,
    _: *const vk::SubpassBeginInfo<'_>,
    _: *const vk::SubpassEndInfo<'_>,
) {
    plain(handle, Command::NextSubpass);
}

pub extern "system" fn end_pass(handle: vk::CommandBuffer) {
    plain(handle, Command::EndPass);
}

pub extern "system" fn end_pass2(handle: vk::CommandBuffer, _: *const vk::SubpassEndInfo<'_>) {
    plain(handle, Command::EndPass);
}

pub extern "system" fn execute(handle: vk::CommandBuffer, count: u32, buffers: *const vk::CommandBuffer) {
    let family = CommandObject::from_handle(handle).map(|object| object.buffer.family);
    record(handle, |owner| {
        let list = |&buffer: &vk::CommandBuffer| {
            let found = &CommandObject::from_handle(buffer).ok_or(Error::Unknown)?.buffer;
            if Some(found.family) != family {
                owner.messages().error(&format!("{} is for queues of another family", owner.describe(buffer)));
                return Err(Error::Unknown);
            }
            found.list()
        };
        Ok(Command::Execute(raw::slice(buffers, count).iter().map(list).collect::<Result<_>>()?))
    });
}
