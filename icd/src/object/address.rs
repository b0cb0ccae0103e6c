//! Addresses of buffers and memory, including captured addresses that are requested again.
//!
//! A buffer's address is its memory's address plus its offset. Sources:
//! `VK_KHR_buffer_device_address`, `VK_EXT_buffer_device_address`,
//! `VK_EXT_device_address_binding_report`.

use std::sync::Arc;

use ash::vk::{self, Handle};
use vitric_api::debug::AddressReport;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_memory::{AddressKind, Allocation, Buffer, BufferAddress};

use super::{DeviceObject, need};
use crate::call::{Call, In};

/// Sets the address that a memory allocation requests, if any.
pub fn of_allocation(
    call: Call<'_>,
    object: &DeviceObject,
    memory: &Arc<Allocation>,
    info: &vk::MemoryAllocateInfo<'_>,
) -> Result<()> {
    use vk::MemoryAllocateFlags as F;
    let flags: Option<&vk::MemoryAllocateFlagsInfo<'_>> = call.find(info.p_next);
    let flags = flags.map_or(F::empty(), |info| info.flags);
    if !flags.contains(F::DEVICE_ADDRESS) {
        return Ok(());
    }
    let asked: Option<&vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>> = call.find(info.p_next);
    let asked = asked.map_or(0, |info| info.opaque_capture_address);
    expose(object, memory, kind(asked, flags.contains(F::DEVICE_ADDRESS_CAPTURE_REPLAY)))
}

fn kind(asked: u64, is_captured: bool) -> AddressKind {
    match (asked, is_captured) {
        (0, false) => AddressKind::Any,
        (0, true) => AddressKind::Captured,
        (address, _) => AddressKind::At(address),
    }
}

/// Reports that an object was bound to its addresses or lost them, if reports are enabled.
fn report<H: Handle + Copy>(object: &DeviceObject, handle: H, (address, size): (u64, u64), is_bound: bool) {
    if address != 0 && object.reports_addresses {
        let object_and_type = (H::TYPE, handle.as_raw());
        object.messages().report(&AddressReport { object: object_and_type, address, size, is_bound });
    }
}

/// Reports the addresses of memory, if it has any.
pub fn report_memory(object: &DeviceObject, handle: vk::DeviceMemory, is_bound: bool) {
    if let Some(memory) = object.memory.get(handle.as_raw()).filter(|_| object.reports_addresses) {
        let address = object.device.gpu().addresses().of(&memory).unwrap_or(0);
        report(object, handle, (address, memory.size()), is_bound);
    }
}

/// Reports the addresses of a buffer, if it has any.
pub fn report_buffer(object: &DeviceObject, handle: vk::Buffer, is_bound: bool) {
    if let Some(buffer) = object.buffers.get(handle.as_raw()).filter(|_| object.reports_addresses) {
        let has_one = matches!(buffer.address(), BufferAddress::Of(_));
        let address = if has_one { address(object, &buffer) } else { 0 };
        report(object, handle, (address, buffer.size()), is_bound);
    }
}

fn expose(object: &DeviceObject, memory: &Arc<Allocation>, kind: AddressKind) -> Result<()> {
    match object.device.gpu().addresses().expose(memory, kind) {
        true => Ok(()),
        false => Err(Error::InvalidOpaqueCaptureAddress),
    }
}

/// Returns the usage of a new buffer. `VkBufferUsageFlags2CreateInfoKHR` has precedence.
fn usage_of(call: Call<'_>, info: &vk::BufferCreateInfo<'_>) -> vk::BufferUsageFlags2KHR {
    let long: Option<&vk::BufferUsageFlags2CreateInfoKHR<'_>> = call.find(info.p_next);
    long.map_or(vk::BufferUsageFlags2KHR::from_raw(info.usage.as_raw().into()), |long| long.usage)
}

/// Returns the address that a new buffer requests, if any.
pub fn of_buffer_info(call: Call<'_>, info: &vk::BufferCreateInfo<'_>) -> BufferAddress {
    if !usage_of(call, info).contains(vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS) {
        return BufferAddress::None;
    }
    let opaque: Option<&vk::BufferOpaqueCaptureAddressCreateInfo<'_>> = call.find(info.p_next);
    let known: Option<&vk::BufferDeviceAddressCreateInfoEXT<'_>> = call.find(info.p_next);
    let asked = opaque.map(|info| info.opaque_capture_address).or(known.map(|info| info.device_address));
    let is_captured = info.flags.contains(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY);
    BufferAddress::Of(kind(asked.unwrap_or(0), is_captured))
}

/// Makes sure that a buffer has its address when it is bound to memory.
pub fn of_binding(object: &DeviceObject, buffer: &Buffer, memory: &Arc<Allocation>, offset: u64) -> Result<()> {
    let BufferAddress::Of(kind) = buffer.address() else { return Ok(()) };
    // The memory already has an address, except with `VK_EXT_buffer_device_address`.
    let of_memory = match kind {
        AddressKind::At(address) => AddressKind::At(address.wrapping_sub(offset)),
        kind => kind,
    };
    expose(object, memory, of_memory)
}

/// Returns the address of a bound buffer, or 0 if it has none.
fn address(object: &DeviceObject, buffer: &Buffer) -> u64 {
    let bound = buffer.binding();
    bound.and_then(|(memory, offset)| Some(object.device.gpu().addresses().of(memory)? + offset)).unwrap_or(0)
}

#[entry(vkGetBufferDeviceAddress)]
fn get_buffer_device_address(
    object: &DeviceObject,
    info: In<'_, vk::BufferDeviceAddressInfo<'_>>,
) -> Result<vk::DeviceAddress> {
    Ok(address(object, &*need(object, &object.buffers, info.buffer)?))
}

// In a later run, a buffer requests its captured address when it is bound.

#[entry(vkGetBufferOpaqueCaptureAddress)]
fn get_buffer_opaque_capture_address(
    object: &DeviceObject,
    info: In<'_, vk::BufferDeviceAddressInfo<'_>>,
) -> Result<u64> {
    let buffer = need(object, &object.buffers, info.buffer)?;
    Ok(match buffer.address() {
        BufferAddress::Of(AddressKind::At(asked)) => asked,
        _ => address(object, &buffer),
    })
}

#[entry(vkGetDeviceMemoryOpaqueCaptureAddress)]
fn get_device_memory_opaque_capture_address(
    object: &DeviceObject,
    info: In<'_, vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>>,
) -> Result<u64> {
    let memory = need(object, &object.memory, info.memory)?;
    Ok(object.device.gpu().addresses().of(&memory).unwrap_or(0))
}
