//! Maps of memory in the host's addresses. Source: Vulkan specification, "Memory Allocation";
//! `VK_KHR_map_memory2`, `VK_EXT_map_memory_placed`.
//!
//! All memory is coherent and stays mapped: there is nothing to flush or invalidate. The kernel
//! knows of accesses to a dma-buf from the mapping to the end of the mapping. A device on which
//! maps can be placed allocates host-visible memory that can be mapped twice.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use ash::vk::{self, Handle};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_memory::{Allocation, PLACED_ALIGNMENT};

use super::{DeviceObject, check, device, need};
use crate::call::{Array, Call, In, Out};

/// Enabled features of placed maps.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlacedMaps {
    /// Maps of whole memory objects can be placed.
    pub is_enabled: bool,
    /// Maps of parts can be placed.
    pub ranges: bool,
    /// Addresses can stay reserved.
    pub reserves: bool,
}

impl PlacedMaps {
    /// Returns the features in the chain of a device's create info.
    pub fn new(call: Call<'_>, next: *const c_void) -> Self {
        let found: Option<&vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT<'_>> = call.find(next);
        found.map_or_else(Self::default, |found| Self {
            is_enabled: found.memory_map_placed != 0,
            ranges: found.memory_map_range_placed != 0,
            reserves: found.memory_unmap_reserve != 0,
        })
    }

    /// Returns true if host-visible memory must be able to have further maps.
    pub fn needs_shared_memory(self) -> bool {
        self.is_enabled || self.reserves
    }
}

/// A requested map.
struct Map {
    memory: vk::DeviceMemory,
    offset: u64,
    size: u64,
    /// Requested address; null for any.
    address: *mut u8,
}

/// Sends the message that memory cannot be mapped or unmapped.
#[cold]
fn refuse(object: &DeviceObject, memory: vk::DeviceMemory, text: &str) -> Error {
    object.messages().error(&format!("{} {text}", object.describe(memory)));
    Error::MemoryMapFailed
}

#[entry(vkMapMemory)]
fn map_memory(
    object: &DeviceObject,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    flags: vk::MemoryMapFlags,
    out: Out<'_, *mut c_void>,
) -> Result<vk::Result> {
    if flags.contains(vk::MemoryMapFlags::PLACED_EXT) {
        return Err(refuse(object, memory, "cannot be placed by vkMapMemory: call vkMapMemory2"));
    }
    map(object, &Map { memory, offset, size, address: std::ptr::null_mut() }, out)
}

#[entry(vkMapMemory2KHR)]
fn map_memory2(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::MemoryMapInfoKHR<'_>>,
    out: Out<'_, *mut c_void>,
) -> Result<vk::Result> {
    let vk::MemoryMapInfoKHR { memory, offset, size, .. } = *info;
    let mut address = std::ptr::null_mut();
    if info.flags.contains(vk::MemoryMapFlags::PLACED_EXT) {
        let placed: Option<&vk::MemoryMapPlacedInfoEXT<'_>> = call.find(info.p_next);
        address = placed.map_or(address, |placed| placed.p_placed_address.cast());
        check_address(object, memory, address)?;
    }
    map(object, &Map { memory, offset, size, address }, out)
}

/// Checks that maps can be placed at an address.
fn check_address(object: &DeviceObject, memory: vk::DeviceMemory, address: *mut u8) -> Result<()> {
    if !object.placed_maps.is_enabled {
        return Err(refuse(object, memory, "cannot be placed: enable the feature memoryMapPlaced"));
    }
    if address.is_null() || !(address.addr() as u64).is_multiple_of(PLACED_ALIGNMENT) {
        let text = format!("cannot be placed at {address:?}: expected a multiple of {PLACED_ALIGNMENT} above 0");
        return Err(refuse(object, memory, &text));
    }
    Ok(())
}

/// Maps memory, and writes the address of the map.
fn map(object: &DeviceObject, wanted: &Map, mut out: Out<'_, *mut c_void>) -> Result<vk::Result> {
    let memory = need(object, &object.memory, wanted.memory)?;
    if memory.is_protected() {
        return Err(refuse(object, wanted.memory, "cannot be mapped: protected memory is not visible to the host"));
    }
    if wanted.offset >= memory.size() {
        return Err(Error::MemoryMapFailed);
    }
    let pointer = match wanted.address.is_null() {
        true if object.placed_maps.reserves && memory.can_be_placed() => place(object, wanted, &memory)?,
        true => memory.host_pointer().wrapping_add(wanted.offset as usize),
        false => place(object, wanted, &memory)?,
    };
    memory.set_mapped(true);
    memory.begin_access();
    // Valid usage forbids this for memory of a type that is not host-visible.
    memory.keep_resident(0..memory.size());
    *out = pointer.cast();
    Ok(vk::Result::SUCCESS)
}

/// Makes a further map of memory and returns its address.
fn place(object: &DeviceObject, wanted: &Map, memory: &Allocation) -> Result<*mut u8> {
    let refuse = |text: &str| refuse(object, wanted.memory, text);
    let bytes = placed_range(object, wanted, memory)?;
    if !memory.can_be_placed() {
        return Err(refuse("cannot be placed: expected host-visible memory that is not the application's"));
    }
    // SAFETY: by valid usage, the application uses no map at these addresses any more.
    let placed = unsafe { memory.place(bytes, wanted.address) };
    placed.map_err(|error| refuse(&format!("cannot be mapped at {:?}: {error}", wanted.address)))
}

/// Returns the bytes of a further map, in whole pages. Only a placed map must have whole pages.
fn placed_range(object: &DeviceObject, wanted: &Map, memory: &Allocation) -> Result<Range<u64>> {
    let &Map { offset, size, address, .. } = wanted;
    let size = if size == vk::WHOLE_SIZE { memory.size() - offset } else { size };
    let end = offset.checked_add(size).filter(|&end| size > 0 && end <= memory.size());
    let refuse = |allowed: &str| {
        let text = format!("cannot be mapped from byte {offset} on with {size} bytes: expected {allowed}");
        refuse(object, wanted.memory, &text)
    };
    let end = end.ok_or_else(|| refuse("bytes of the memory"))?;
    if address.is_null() {
        return Ok(offset..end);
    }
    if !offset.is_multiple_of(PLACED_ALIGNMENT) || !size.is_multiple_of(PLACED_ALIGNMENT) {
        return Err(refuse(&format!("multiples of {PLACED_ALIGNMENT}")));
    }
    if !object.placed_maps.ranges && (offset, end) != (0, memory.size()) {
        return Err(refuse("all of the memory, or the feature memoryMapRangePlaced"));
    }
    Ok(offset..end)
}

#[entry(vkUnmapMemory)]
fn unmap_memory(object: &DeviceObject, memory: vk::DeviceMemory) {
    if let Some(memory) = object.memory.get(memory.as_raw()) {
        memory.unplace();
        end_map(object, &memory);
    }
}

/// Notes that the host no longer writes to memory.
fn end_map(object: &DeviceObject, memory: &Arc<Allocation>) {
    object.device.gpu().depths().wrote_any(|written| Arc::ptr_eq(written, memory));
    memory.set_mapped(false);
    memory.end_access();
}

#[entry(vkUnmapMemory2KHR)]
fn unmap_memory2(call: Call<'_>, handle: vk::Device, info: In<'_, vk::MemoryUnmapInfoKHR<'_>>) -> vk::Result {
    let Ok(object) = device(call, handle) else { return vk::Result::SUCCESS };
    if !info.flags.contains(vk::MemoryUnmapFlagsKHR::RESERVE_EXT) {
        unmap_memory(object, info.memory);
        return vk::Result::SUCCESS;
    }
    reserve(object, info.memory).map_or_else(|error| error.code(), |()| vk::Result::SUCCESS)
}

/// Unmaps memory and keeps its addresses reserved. The memory stays mapped if that fails.
fn reserve(object: &DeviceObject, handle: vk::DeviceMemory) -> Result<()> {
    let memory = need(object, &object.memory, handle)?;
    if !object.placed_maps.reserves {
        return Err(refuse(object, handle, "keeps no addresses: enable the feature memoryUnmapReserve"));
    }
    memory.unplace_reserved().map_err(|error| refuse(object, handle, &format!("keeps no addresses: {error}")))?;
    end_map(object, &memory);
    Ok(())
}

#[entry(vkFlushMappedMemoryRanges)]
fn flush_mapped_memory_ranges(
    object: &DeviceObject,
    #[len] count: u32,
    ranges: Array<'_, vk::MappedMemoryRange<'_>>,
) -> Result<vk::Result> {
    check::array(object, "pMemoryRanges", ranges)?;
    Ok(vk::Result::SUCCESS)
}
