//! Memory, fences and semaphores that go to other processes and come from them, by opaque file descriptors, and memory of the
//! application's own.
//!
//! A descriptor that is imported with success belongs to the driver, which closes it; one that is refused stays the
//! application's. Sources: `VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`, `VK_KHR_external_fence_fd`,
//! `VK_EXT_external_memory_host`, `VK_KHR_dedicated_allocation`.

use std::ffi::{c_int, c_void};
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use ash::vk::{
    self, ExternalFenceFeatureFlags as FF, ExternalFenceHandleTypeFlags as FT, ExternalMemoryFeatureFlags as MF,
    ExternalMemoryHandleTypeFlags as MT, ExternalSemaphoreFeatureFlags as SF, ExternalSemaphoreHandleTypeFlags as ST,
    Handle,
};
use vitric_api::physical::{HOST_POINTER_ALIGNMENT, HOST_VISIBLE};
use vitric_api::sync::Primitive;
use vitric_api::{Error, Result};
use vitric_memory::{Allocation, ImportFailed};

use crate::objects::{DeviceObject, device, need};
use crate::raw;

/// Memory that the application brings.
const OF_HOST: MT = MT::from_raw(MT::HOST_ALLOCATION_EXT.as_raw() | MT::HOST_MAPPED_FOREIGN_MEMORY_EXT.as_raw());

/// What can be done with memory of a kind of handle; `None` when nothing.
pub fn memory_properties(kind: MT) -> Option<vk::ExternalMemoryProperties> {
    let of = |features, from_imported| vk::ExternalMemoryProperties {
        external_memory_features: features,
        export_from_imported_handle_types: from_imported,
        compatible_handle_types: kind,
    };
    match kind {
        MT::OPAQUE_FD => Some(of(MF::EXPORTABLE | MF::IMPORTABLE, kind)),
        _ if kind == MT::HOST_ALLOCATION_EXT || kind == MT::HOST_MAPPED_FOREIGN_MEMORY_EXT => {
            Some(of(MF::IMPORTABLE, MT::empty()))
        }
        _ => None,
    }
}

pub extern "system" fn buffer_properties(
    _: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
    out: *mut vk::ExternalBufferProperties<'_>,
) {
    let is_sparse = |info: &vk::PhysicalDeviceExternalBufferInfo<'_>| {
        info.flags.intersects(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::PROTECTED)
    };
    let kind = raw::input(info).filter(|info| !is_sparse(info)).map_or(MT::empty(), |info| info.handle_type);
    let found = memory_properties(kind).unwrap_or_default();
    raw::fill(out, vk::ExternalBufferProperties::default().external_memory_properties(found));
}

pub extern "system" fn fence_properties(
    _: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalFenceInfo<'_>,
    out: *mut vk::ExternalFenceProperties<'_>,
) {
    let found = match raw::input(info).map(|info| info.handle_type) {
        Some(kind @ FT::OPAQUE_FD) => vk::ExternalFenceProperties::default()
            .export_from_imported_handle_types(kind)
            .compatible_handle_types(kind)
            .external_fence_features(FF::EXPORTABLE | FF::IMPORTABLE),
        _ => vk::ExternalFenceProperties::default(),
    };
    raw::fill(out, found);
}

pub extern "system" fn semaphore_properties(
    _: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
    out: *mut vk::ExternalSemaphoreProperties<'_>,
) {
    let found = match raw::input(info).map(|info| info.handle_type) {
        Some(kind @ ST::OPAQUE_FD) => vk::ExternalSemaphoreProperties::default()
            .export_from_imported_handle_types(kind)
            .compatible_handle_types(kind)
            .external_semaphore_features(SF::EXPORTABLE | SF::IMPORTABLE),
        _ => vk::ExternalSemaphoreProperties::default(),
    };
    raw::fill(out, found);
}

/// A descriptor that the application passed.
fn borrowed<'a>(descriptor: RawFd) -> Result<BorrowedFd<'a>> {
    if descriptor < 0 {
        return Err(Error::InvalidExternalHandle);
    }
    // SAFETY: valid usage has it open for the time of the call. What is not open the system refuses.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Closes a descriptor that was imported.
fn close(descriptor: RawFd) {
    // SAFETY: an import that succeeded hands the descriptor over, and nobody else closes it.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
}

fn put_descriptor(out: *mut c_int, made: OwnedFd) -> Result<vk::Result> {
    *raw::output(out).ok_or(Error::Unknown)? = made.into_raw_fd();
    Ok(vk::Result::SUCCESS)
}

/// A message and an error for a kind of handle that is not there.
fn check_kind(object: &DeviceObject, is_there: bool) -> Result<()> {
    if !is_there {
        object.messages().error("a kind of external handle is not supported");
        return Err(Error::InvalidExternalHandle);
    }
    Ok(())
}

/// The memory that an allocation is of: new, or from outside.
pub fn allocate(object: &DeviceObject, info: &vk::MemoryAllocateInfo<'_>) -> Result<Arc<Allocation>> {
    let (size, heap) = (info.allocation_size, object.device.heap());
    let exported: Option<&vk::ExportMemoryAllocateInfo<'_>> = raw::find(info.p_next);
    let exported = exported.map_or(MT::empty(), |info| info.handle_types);
    check_kind(object, (exported & !MT::OPAQUE_FD).is_empty())?;
    let descriptor: Option<&vk::ImportMemoryFdInfoKHR<'_>> = raw::find(info.p_next);
    if let Some(import) = descriptor.filter(|import| !import.handle_type.is_empty()) {
        check_kind(object, import.handle_type == MT::OPAQUE_FD)?;
        let made = Allocation::open(heap, size, borrowed(import.fd)?).map_err(import_error)?;
        close(import.fd);
        return Ok(made);
    }
    let pointer: Option<&vk::ImportMemoryHostPointerInfoEXT<'_>> = raw::find(info.p_next);
    if let Some(import) = pointer.filter(|import| !import.handle_type.is_empty()) {
        check_kind(object, OF_HOST.contains(import.handle_type) && exported.is_empty())?;
        let address = import.p_host_pointer.cast::<u8>();
        let is_aligned = |number: u64| number.is_multiple_of(HOST_POINTER_ALIGNMENT);
        if !is_aligned(address.addr() as u64) || !is_aligned(size) {
            return Err(Error::InvalidExternalHandle);
        }
        // SAFETY: valid usage has the application keep these bytes until the memory is freed.
        return unsafe { Allocation::of_application(heap, size, address) }.map_err(import_error);
    }
    // Where only a buffer lies nothing rests.
    let dedicated: Option<&vk::MemoryDedicatedAllocateInfo<'_>> = raw::find(info.p_next);
    let is_of_buffer = dedicated.is_some_and(|dedicated| !dedicated.buffer.is_null());
    match exported.is_empty() {
        true if is_of_buffer || HOST_VISIBLE.contains(&info.memory_type_index) => object.device.allocate(size),
        true => object.device.allocate_unseen(size),
        false => Allocation::shared(heap, size).map_err(|_| Error::OutOfDeviceMemory),
    }
}

fn import_error(error: ImportFailed) -> Error {
    match error {
        ImportFailed::OutOfMemory(_) => Error::OutOfDeviceMemory,
        ImportFailed::Foreign => Error::InvalidExternalHandle,
    }
}

pub extern "system" fn memory_descriptor(
    handle: vk::Device,
    info: *const vk::MemoryGetFdInfoKHR<'_>,
    out: *mut c_int,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        check_kind(object, info.handle_type == MT::OPAQUE_FD)?;
        let made = need(object, &object.memory, info.memory)?.descriptor().ok_or_else(|| {
            object.messages().error(&format!("{} was not made to be exported", object.describe(info.memory)));
            Error::Unknown
        })?;
        put_descriptor(out, made.map_err(|_| Error::TooManyObjects)?)
    })
}

/// Of opaque descriptors nothing is to be asked, and there are no others.
pub extern "system" fn memory_descriptor_properties(
    _: vk::Device,
    _: MT,
    _: c_int,
    _: *mut vk::MemoryFdPropertiesKHR<'_>,
) -> vk::Result {
    Error::InvalidExternalHandle.code()
}

pub extern "system" fn host_pointer_properties(
    handle: vk::Device,
    kind: MT,
    pointer: *const c_void,
    out: *mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> vk::Result {
    raw::guard(|| {
        check_kind(device(handle)?, !kind.is_empty() && OF_HOST.contains(kind))?;
        if pointer.is_null() || !(pointer.addr() as u64).is_multiple_of(HOST_POINTER_ALIGNMENT) {
            return Err(Error::InvalidExternalHandle);
        }
        // The types that the host sees.
        raw::fill(out, vk::MemoryHostPointerPropertiesEXT::default().memory_type_bits(0b110));
        Ok(vk::Result::SUCCESS)
    })
}

/// A descriptor of what a fence or semaphore has now.
fn export(object: &DeviceObject, primitive: &Primitive, is_opaque: bool, out: *mut c_int) -> Result<vk::Result> {
    check_kind(object, is_opaque)?;
    let made = primitive.payload().descriptor();
    put_descriptor(out, made.inspect_err(|_| object.messages().error("what is exported was not made to be"))?)
}

fn import(
    object: &DeviceObject,
    primitive: &Primitive,
    is_opaque: bool,
    descriptor: RawFd,
    for_a_time: bool,
) -> Result<vk::Result> {
    check_kind(object, is_opaque)?;
    primitive.import(borrowed(descriptor)?, for_a_time)?;
    close(descriptor);
    Ok(vk::Result::SUCCESS)
}

pub extern "system" fn fence_descriptor(
    handle: vk::Device,
    info: *const vk::FenceGetFdInfoKHR<'_>,
    out: *mut c_int,
) -> vk::Result {
    raw::guard(|| {
        let (object, info) = (device(handle)?, raw::input(info).ok_or(Error::Unknown)?);
        export(object, &*need(object, &object.fences, info.fence)?, info.handle_type == FT::OPAQUE_FD, out)
    })
}

pub extern "system" fn import_fence(handle: vk::Device, info: *const vk::ImportFenceFdInfoKHR<'_>) -> vk::Result {
    raw::guard(|| {
        let (object, info) = (device(handle)?, raw::input(info).ok_or(Error::Unknown)?);
        let for_a_time = info.flags.contains(vk::FenceImportFlags::TEMPORARY);
        let fence = need(object, &object.fences, info.fence)?;
        import(object, &fence, info.handle_type == FT::OPAQUE_FD, info.fd, for_a_time)
    })
}

pub extern "system" fn semaphore_descriptor(
    handle: vk::Device,
    info: *const vk::SemaphoreGetFdInfoKHR<'_>,
    out: *mut c_int,
) -> vk::Result {
    raw::guard(|| {
        let (object, info) = (device(handle)?, raw::input(info).ok_or(Error::Unknown)?);
        export(object, &*need(object, &object.semaphores, info.semaphore)?, info.handle_type == ST::OPAQUE_FD, out)
    })
}

pub extern "system" fn import_semaphore(
    handle: vk::Device,
    info: *const vk::ImportSemaphoreFdInfoKHR<'_>,
) -> vk::Result {
    raw::guard(|| {
        let (object, info) = (device(handle)?, raw::input(info).ok_or(Error::Unknown)?);
        let for_a_time = info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
        let semaphore = need(object, &object.semaphores, info.semaphore)?;
        import(object, &semaphore, info.handle_type == ST::OPAQUE_FD, info.fd, for_a_time)
    })
}

/// Remembers for which resource memory is, if it is for one.
pub fn dedicate(object: &DeviceObject, memory: u64, info: &vk::MemoryAllocateInfo<'_>) {
    let Some(info) = raw::find::<vk::MemoryDedicatedAllocateInfo<'_>>(info.p_next) else { return };
    let resource = if info.image.is_null() { info.buffer.as_raw() } else { info.image.as_raw() };
    if resource != 0 {
        object.dedicated.lock().insert(memory, resource);
    }
}

/// Fails when memory is for another resource, or this one does not begin where it does.
pub fn check_dedicated<H: Handle + Copy>(
    object: &DeviceObject,
    memory: vk::DeviceMemory,
    resource: H,
    offset: u64,
) -> Result<()> {
    match object.dedicated.lock().get(&memory.as_raw()) {
        Some(&other) if other != resource.as_raw() || offset != 0 => {
            object.messages().error(&format!("{} is dedicated to another resource", object.describe(memory)));
            Err(Error::Unknown)
        }
        _ => Ok(()),
    }
}
