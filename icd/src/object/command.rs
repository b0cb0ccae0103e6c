//! Command pools and command buffers. Source: Vulkan specification, "Command Buffers".

use std::sync::Arc;

use ash::vk::{self, Handle};
use vitric_api::command::CommandBuffer;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use super::{CommandObject, CommandPool, DeviceObject, check, destroy, device, need, protection};
use crate::call::{Array, Call, In, New, room_for};
use crate::slots::Marked;

#[entry(vkCreateCommandPool)]
fn create_command_pool(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::CommandPoolCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::CommandPool>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let family = info.queue_family_index;
    if !object.queues().iter().any(|queue| queue.family == family) {
        object.messages().error(&format!(
            "VkCommandPoolCreateInfo::queueFamilyIndex = {family}: expected a family of the device's queues"
        ));
        return Err(Error::Unknown);
    }
    let is_protected = info.flags.contains(vk::CommandPoolCreateFlags::PROTECTED);
    if is_protected {
        protection::check_enabled(object, "a command pool")?;
    }
    let pool = CommandPool { family, is_protected, buffers: Default::default() };
    Ok(out.put(object.command_pools.insert(Arc::new(pool))))
}

#[entry(vkDestroyCommandPool)]
fn destroy_command_pool(
    call: Call<'_>,
    object: &DeviceObject,
    pool: vk::CommandPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    if let Some(found) = object.command_pools.get(pool.as_raw()) {
        found.take().for_each(|buffer| destroy_buffer(call, object, buffer));
    }
    destroy(object, &object.command_pools, pool);
}

/// Destroys a command buffer that was removed from its pool.
fn destroy_buffer(call: Call<'_>, object: &DeviceObject, buffer: vk::CommandBuffer) {
    object.private.forget(vk::ObjectType::COMMAND_BUFFER, buffer.as_raw());
    // SAFETY: this call keeps no reference to the object, and by valid usage no other call uses
    // it.
    unsafe { CommandObject::destroy(call, buffer) };
}

#[entry(vkResetCommandPool)]
fn reset_command_pool(
    call: Call<'_>,
    object: &DeviceObject,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> Result<vk::Result> {
    for &buffer in need(object, &object.command_pools, pool)?.buffers.lock().iter() {
        if let Some(found) = CommandObject::from_handle(call, vk::CommandBuffer::from_raw(buffer)) {
            found.buffer.reset();
            if flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES) {
                found.buffer.release();
            }
        }
    }
    Ok(vk::Result::SUCCESS)
}

#[entry(vkTrimCommandPool)]
fn trim_command_pool(call: Call<'_>, object: &DeviceObject, pool: vk::CommandPool, _: vk::CommandPoolTrimFlags) {
    let Some(pool) = object.command_pools.get(pool.as_raw()) else { return };
    let buffers = pool.buffers.lock();
    let buffers = buffers.iter().map(|&buffer| vk::CommandBuffer::from_raw(buffer));
    buffers.filter_map(|buffer| CommandObject::from_handle(call, buffer)).for_each(|found| found.buffer.release());
}

#[entry(vkAllocateCommandBuffers)]
fn allocate_command_buffers(
    call: Call<'_>,
    handle: vk::Device,
    info: Option<&vk::CommandBufferAllocateInfo<'_>>,
    out: *mut vk::CommandBuffer,
) -> Result<vk::Result> {
    let object = device(call, handle)?;
    let info = check::info(call, object, info)?;
    let pool = need(object, &object.command_pools, info.command_pool)?;
    let secondary = info.level == vk::CommandBufferLevel::SECONDARY;
    for slot in check::output(object, "pCommandBuffers", call.array_mut(out, info.command_buffer_count))? {
        room_for(0)?;
        let buffer = CommandBuffer::new(secondary, pool.family, object.device.protection(pool.is_protected))?;
        let made = CommandObject { device: handle.as_raw(), buffer }.into_handle(object.instance);
        pool.buffers.lock().insert(made);
        *slot = vk::CommandBuffer::from_raw(made);
    }
    Ok(vk::Result::SUCCESS)
}

#[entry(vkFreeCommandBuffers)]
fn free_command_buffers(
    call: Call<'_>,
    object: &DeviceObject,
    pool: vk::CommandPool,
    #[len] count: u32,
    buffers: Array<'_, vk::CommandBuffer>,
) {
    let Ok(found) = need(object, &object.command_pools, pool) else { return };
    for &buffer in buffers.get().iter().filter(|buffer| !buffer.is_null()) {
        let is_of_pool = found.buffers.lock().remove(&buffer.as_raw());
        match is_of_pool {
            true => destroy_buffer(call, object, buffer),
            false => not_of_pool(call, object, buffer),
        }
    }
}

/// Sends a message about a freed command buffer that is stale, foreign or of another pool.
#[cold]
fn not_of_pool(call: Call<'_>, object: &DeviceObject, buffer: vk::CommandBuffer) {
    if CommandObject::from_handle(call, buffer).is_some() {
        object.messages().error(&format!(
            "{} is not of the pool in the call: expected the pool that allocated it",
            object.describe(buffer)
        ));
    }
}

#[entry(vkBeginCommandBuffer)]
fn begin_command_buffer(object: &CommandObject, info: In<'_, vk::CommandBufferBeginInfo<'_>>) -> Result<vk::Result> {
    object.buffer.begin(info.flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT));
    Ok(vk::Result::SUCCESS)
}

#[entry(vkEndCommandBuffer)]
fn end_command_buffer(object: &CommandObject) -> Result<vk::Result> {
    object.buffer.end().map(|()| vk::Result::SUCCESS)
}

#[entry(vkResetCommandBuffer)]
fn reset_command_buffer(object: &CommandObject, flags: vk::CommandBufferResetFlags) -> Result<vk::Result> {
    let buffer = &object.buffer;
    buffer.reset();
    if flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES) {
        buffer.release();
    }
    Ok(vk::Result::SUCCESS)
}
