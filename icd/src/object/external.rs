//! Memory, fences and semaphores that processes share by opaque file descriptors, memory that
//! devices share by dma-bufs, and imported memory of the application.
//!
//! A successful import transfers a descriptor's ownership to the driver, which closes it. After a
//! failed import the application still owns the descriptor. Sources: `VK_KHR_external_memory_fd`,
//! `VK_KHR_external_semaphore_fd`, `VK_KHR_external_fence_fd`, `VK_EXT_external_memory_host`,
//! `VK_EXT_external_memory_dma_buf`, `VK_KHR_dedicated_allocation`.

use std::ffi::{c_int, c_void};
use std::fmt::Debug;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use ash::vk::{
    self, ExternalFenceFeatureFlags as FF, ExternalFenceHandleTypeFlags as FT, ExternalMemoryFeatureFlags as MF,
    ExternalMemoryHandleTypeFlags as MT, ExternalSemaphoreFeatureFlags as SF, ExternalSemaphoreHandleTypeFlags as ST,
    Handle,
};
use vitric_api::physical::{HOST_POINTER_ALIGNMENT, HOST_VISIBLE, PROTECTED};
use vitric_api::sync::Primitive;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_memory::{Allocation, DescriptorType, Heap, ImportFailed, can_make_dma_bufs};

use super::{DeviceObject, need, protection};
use crate::call::{Call, In, Out};

/// Handle types of host memory that the application owns.
const OF_HOST: MT = MT::from_raw(MT::HOST_ALLOCATION_EXT.as_raw() | MT::HOST_MAPPED_FOREIGN_MEMORY_EXT.as_raw());

/// Memory types of all unprotected resources except transient images, one bit for each.
pub const ALL_TYPES: u32 = 0b111;

/// Handle types of file descriptors.
const OF_FILES: MT = MT::from_raw(MT::OPAQUE_FD.as_raw() | MT::DMA_BUF_EXT.as_raw());

/// Returns the supported uses of memory of a handle type; `None` for an unsupported type.
pub fn memory_properties(kind: MT) -> Option<vk::ExternalMemoryProperties> {
    let of = |features, from_imported| vk::ExternalMemoryProperties {
        external_memory_features: features,
        export_from_imported_handle_types: from_imported,
        compatible_handle_types: kind,
    };
    match kind {
        MT::OPAQUE_FD => Some(of(MF::EXPORTABLE | MF::IMPORTABLE, kind)),
        MT::DMA_BUF_EXT if can_make_dma_bufs() => Some(of(MF::EXPORTABLE | MF::IMPORTABLE, kind)),
        MT::DMA_BUF_EXT => Some(of(MF::IMPORTABLE, kind)),
        _ if kind == MT::HOST_ALLOCATION_EXT || kind == MT::HOST_MAPPED_FOREIGN_MEMORY_EXT => {
            Some(of(MF::IMPORTABLE, MT::empty()))
        }
        _ => None,
    }
}

#[entry(vkGetPhysicalDeviceExternalBufferProperties)]
fn get_physical_device_external_buffer_properties(
    _: vk::PhysicalDevice,
    info: Option<&vk::PhysicalDeviceExternalBufferInfo<'_>>,
    out: Out<'_, vk::ExternalBufferProperties<'_>>,
) {
    let is_sparse = |info: &vk::PhysicalDeviceExternalBufferInfo<'_>| {
        info.flags.intersects(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::PROTECTED)
    };
    let kind = info.filter(|info| !is_sparse(info)).map_or(MT::empty(), |info| info.handle_type);
    let found = memory_properties(kind).unwrap_or_default();
    out.fill(vk::ExternalBufferProperties::default().external_memory_properties(found));
}

#[entry(vkGetPhysicalDeviceExternalFenceProperties)]
fn get_physical_device_external_fence_properties(
    _: vk::PhysicalDevice,
    info: Option<&vk::PhysicalDeviceExternalFenceInfo<'_>>,
    out: Out<'_, vk::ExternalFenceProperties<'_>>,
) {
    let found = match info.map(|info| info.handle_type) {
        Some(kind @ FT::OPAQUE_FD) => vk::ExternalFenceProperties::default()
            .export_from_imported_handle_types(kind)
            .compatible_handle_types(kind)
            .external_fence_features(FF::EXPORTABLE | FF::IMPORTABLE),
        _ => vk::ExternalFenceProperties::default(),
    };
    out.fill(found);
}

#[entry(vkGetPhysicalDeviceExternalSemaphoreProperties)]
fn get_physical_device_external_semaphore_properties(
    _: vk::PhysicalDevice,
    info: Option<&vk::PhysicalDeviceExternalSemaphoreInfo<'_>>,
    out: Out<'_, vk::ExternalSemaphoreProperties<'_>>,
) {
    let found = match info.map(|info| info.handle_type) {
        Some(kind @ ST::OPAQUE_FD) => vk::ExternalSemaphoreProperties::default()
            .export_from_imported_handle_types(kind)
            .compatible_handle_types(kind)
            .external_semaphore_features(SF::EXPORTABLE | SF::IMPORTABLE),
        _ => vk::ExternalSemaphoreProperties::default(),
    };
    out.fill(found);
}

/// Borrows a file descriptor of the application.
fn borrowed<'c>(_: Call<'c>, descriptor: RawFd) -> Result<BorrowedFd<'c>> {
    if descriptor < 0 {
        return Err(Error::InvalidExternalHandle);
    }
    // SAFETY: by valid usage, the descriptor is open during the call. The system refuses
    // descriptors that are not open.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Closes a file descriptor.
///
/// # Safety
/// The descriptor must be open, and the caller must own it.
unsafe fn close(descriptor: RawFd) {
    // SAFETY: the caller's contract.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
}

fn put_descriptor(mut out: Out<'_, c_int>, made: OwnedFd) -> vk::Result {
    *out = made.into_raw_fd();
    vk::Result::SUCCESS
}

/// Sends a message and returns an error for a handle type, or a set of them, that has others than
/// the allowed ones.
fn check_kind<K: Debug>(object: &DeviceObject, kind: K, allowed: K, is_allowed: bool) -> Result<()> {
    if !is_allowed {
        object.messages().error(&format!("external handle type {kind:?}: expected {allowed:?}"));
        return Err(Error::InvalidExternalHandle);
    }
    Ok(())
}

/// Returns the type of descriptors of a handle type of memory.
///
/// # Errors
/// [`Error::InvalidExternalHandle`] for handle types without descriptors: a message was sent.
fn descriptor_type(object: &DeviceObject, kind: MT) -> Result<DescriptorType> {
    check_kind(object, kind, OF_FILES, kind == MT::OPAQUE_FD || kind == MT::DMA_BUF_EXT)?;
    Ok(if kind == MT::DMA_BUF_EXT { DescriptorType::DmaBuf } else { DescriptorType::Opaque })
}

/// Imports the memory behind a descriptor, which the driver owns afterwards.
fn import_memory(
    call: Call<'_>,
    object: &DeviceObject,
    size: u64,
    import: &vk::ImportMemoryFdInfoKHR<'_>,
) -> Result<Arc<Allocation>> {
    let kind = descriptor_type(object, import.handle_type)?;
    let descriptor = borrowed(call, import.fd)?;
    let open = |heap: &Arc<Heap>, size| match kind {
        DescriptorType::Opaque => Allocation::open(heap, size, descriptor),
        DescriptorType::DmaBuf => Allocation::open_dma_buf(heap, size, descriptor),
    };
    let made = object.device.allocate_with_room(size, open).map_err(import_error)?;
    // SAFETY: a successful import transfers the descriptor's ownership to the driver.
    unsafe { close(import.fd) };
    Ok(made)
}

/// Returns the structure in a memory allocation's chain that imports a descriptor, if there is one.
fn descriptor_import(call: Call<'_>, next: *const c_void) -> Option<&vk::ImportMemoryFdInfoKHR<'_>> {
    call.find(next).filter(|import: &&vk::ImportMemoryFdInfoKHR<'_>| !import.handle_type.is_empty())
}

/// Returns the structure in a memory allocation's chain that imports memory of the application, if
/// there is one.
fn pointer_import(call: Call<'_>, next: *const c_void) -> Option<&vk::ImportMemoryHostPointerInfoEXT<'_>> {
    call.find(next).filter(|import: &&vk::ImportMemoryHostPointerInfoEXT<'_>| !import.handle_type.is_empty())
}

/// Returns true if a memory allocation with this chain is an import.
pub fn has_import(call: Call<'_>, next: *const c_void) -> bool {
    descriptor_import(call, next).is_some() || pointer_import(call, next).is_some()
}

/// Returns the memory of an allocation: new or imported.
pub fn allocate(call: Call<'_>, object: &DeviceObject, info: &vk::MemoryAllocateInfo<'_>) -> Result<Arc<Allocation>> {
    let (size, device) = (info.allocation_size, &object.device);
    let exported: Option<&vk::ExportMemoryAllocateInfo<'_>> = call.find(info.p_next);
    let exported = exported.map_or(MT::empty(), |info| info.handle_types);
    check_kind(object, exported, OF_FILES, OF_FILES.contains(exported))?;
    if info.memory_type_index == PROTECTED {
        return allocate_protected(call, object, info);
    }
    if let Some(import) = descriptor_import(call, info.p_next) {
        return import_memory(call, object, size, import);
    }
    if let Some(import) = pointer_import(call, info.p_next) {
        check_kind(object, import.handle_type, OF_HOST, OF_HOST.contains(import.handle_type))?;
        check_kind(object, exported, MT::empty(), exported.is_empty())?;
        let address = import.p_host_pointer.cast::<u8>();
        let is_aligned = |number: u64| number.is_multiple_of(HOST_POINTER_ALIGNMENT);
        if !is_aligned(address.addr() as u64) || !is_aligned(size) {
            return Err(Error::InvalidExternalHandle);
        }
        // SAFETY: by valid usage, the application keeps these bytes until the memory is freed.
        let open = |heap: &Arc<Heap>, size| unsafe { Allocation::of_application(heap, size, address) };
        return device.allocate_with_room(size, open).map_err(import_error);
    }
    // Memory that only holds a buffer is not compacted.
    let dedicated: Option<&vk::MemoryDedicatedAllocateInfo<'_>> = call.find(info.p_next);
    let is_of_buffer = dedicated.is_some_and(|dedicated| !dedicated.buffer.is_null());
    match exported.is_empty() {
        true if HOST_VISIBLE.contains(&info.memory_type_index) && object.placed_maps.needs_shared_memory() => {
            device.allocate_placeable(size)
        }
        true if is_of_buffer || HOST_VISIBLE.contains(&info.memory_type_index) => device.allocate(size),
        true => device.allocate_unseen(size),
        // Programs that do not ask whether dma-bufs can be exported get memory without one. They
        // handle a failed export, but not a failed allocation.
        false if exported.contains(MT::DMA_BUF_EXT) && can_make_dma_bufs() => device.allocate_dma_buf(size),
        false => device.allocate_shared(size),
    }
}

/// Returns new protected memory, which is neither imported nor exported.
fn allocate_protected(
    call: Call<'_>,
    object: &DeviceObject,
    info: &vk::MemoryAllocateInfo<'_>,
) -> Result<Arc<Allocation>> {
    protection::check_enabled(object, "memory")?;
    let exported: Option<&vk::ExportMemoryAllocateInfo<'_>> = call.find(info.p_next);
    let exported = exported.map_or(MT::empty(), |info| info.handle_types);
    check_kind(object, exported, MT::empty(), exported.is_empty())?;
    if has_import(call, info.p_next) {
        object.messages().error(&format!(
            "memory cannot be imported as memory of type {PROTECTED}, which is protected: expected another type"
        ));
        return Err(Error::InvalidExternalHandle);
    }
    object.device.allocate_protected(info.allocation_size)
}

fn import_error(error: ImportFailed) -> Error {
    match error {
        ImportFailed::OutOfMemory(_) => Error::OutOfDeviceMemory,
        ImportFailed::Foreign => Error::InvalidExternalHandle,
    }
}

#[entry(vkGetMemoryFdKHR)]
fn get_memory_fd(
    object: &DeviceObject,
    info: In<'_, vk::MemoryGetFdInfoKHR<'_>>,
    out: Out<'_, c_int>,
) -> Result<vk::Result> {
    let kind = descriptor_type(object, info.handle_type)?;
    let made = need(object, &object.memory, info.memory)?.descriptor(kind).ok_or_else(|| {
        object.messages().error(&format!(
            "{} cannot be exported as {:?}: allocate it with VkExportMemoryAllocateInfo, \
             and allow the process to open /dev/udmabuf for dma-bufs",
            object.describe(info.memory),
            info.handle_type
        ));
        Error::Unknown
    })?;
    Ok(put_descriptor(out, made.map_err(|_| Error::TooManyObjects)?))
}

// Opaque descriptors have no properties.
#[entry(vkGetMemoryFdPropertiesKHR)]
fn get_memory_fd_properties(
    call: Call<'_>,
    object: &DeviceObject,
    kind: MT,
    descriptor: c_int,
    mut out: Out<'_, vk::MemoryFdPropertiesKHR<'_>>,
) -> Result<vk::Result> {
    check_kind(object, kind, MT::DMA_BUF_EXT, kind == MT::DMA_BUF_EXT)?;
    if Allocation::size_of_dma_buf(borrowed(call, descriptor)?).is_none() {
        object.messages().error(&format!("descriptor {descriptor}: expected a dma-buf, or a sealed memory file"));
        return Err(Error::InvalidExternalHandle);
    }
    out.memory_type_bits = ALL_TYPES;
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetMemoryHostPointerPropertiesEXT)]
fn get_memory_host_pointer_properties(
    object: &DeviceObject,
    kind: MT,
    pointer: *const c_void,
    out: Out<'_, vk::MemoryHostPointerPropertiesEXT<'_>>,
) -> Result<vk::Result> {
    check_kind(object, kind, OF_HOST, !kind.is_empty() && OF_HOST.contains(kind))?;
    if pointer.is_null() || !(pointer.addr() as u64).is_multiple_of(HOST_POINTER_ALIGNMENT) {
        return Err(Error::InvalidExternalHandle);
    }
    // The host-visible memory types.
    out.fill(vk::MemoryHostPointerPropertiesEXT::default().memory_type_bits(0b110));
    Ok(vk::Result::SUCCESS)
}

/// Exports the current payload of a fence or semaphore.
fn export<H: Handle + Copy>(
    object: &DeviceObject,
    handle: H,
    primitive: &Primitive,
    out: Out<'_, c_int>,
) -> Result<vk::Result> {
    let made = primitive.payload().descriptor().inspect_err(|_| {
        let name = object.describe(handle);
        object.messages().error(&format!("{name} cannot be exported: create it with an export structure in its chain"));
    });
    Ok(put_descriptor(out, made?))
}

/// Replaces the payload of a fence or semaphore by the one behind a file descriptor.
fn import(call: Call<'_>, primitive: &Primitive, descriptor: RawFd, is_temporary: bool) -> Result<vk::Result> {
    primitive.import(borrowed(call, descriptor)?, is_temporary)?;
    // SAFETY: a successful import transfers the descriptor's ownership to the driver.
    unsafe { close(descriptor) };
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetFenceFdKHR)]
fn get_fence_fd(
    object: &DeviceObject,
    info: In<'_, vk::FenceGetFdInfoKHR<'_>>,
    out: Out<'_, c_int>,
) -> Result<vk::Result> {
    let fence = need(object, &object.fences, info.fence)?;
    check_kind(object, info.handle_type, FT::OPAQUE_FD, info.handle_type == FT::OPAQUE_FD)?;
    export(object, info.fence, &fence, out)
}

#[entry(vkImportFenceFdKHR)]
fn import_fence_fd(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::ImportFenceFdInfoKHR<'_>>,
) -> Result<vk::Result> {
    let fence = need(object, &object.fences, info.fence)?;
    check_kind(object, info.handle_type, FT::OPAQUE_FD, info.handle_type == FT::OPAQUE_FD)?;
    import(call, &fence, info.fd, info.flags.contains(vk::FenceImportFlags::TEMPORARY))
}

#[entry(vkGetSemaphoreFdKHR)]
fn get_semaphore_fd(
    object: &DeviceObject,
    info: In<'_, vk::SemaphoreGetFdInfoKHR<'_>>,
    out: Out<'_, c_int>,
) -> Result<vk::Result> {
    let semaphore = need(object, &object.semaphores, info.semaphore)?;
    check_kind(object, info.handle_type, ST::OPAQUE_FD, info.handle_type == ST::OPAQUE_FD)?;
    export(object, info.semaphore, &semaphore, out)
}

#[entry(vkImportSemaphoreFdKHR)]
fn import_semaphore_fd(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::ImportSemaphoreFdInfoKHR<'_>>,
) -> Result<vk::Result> {
    let semaphore = need(object, &object.semaphores, info.semaphore)?;
    check_kind(object, info.handle_type, ST::OPAQUE_FD, info.handle_type == ST::OPAQUE_FD)?;
    import(call, &semaphore, info.fd, info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY))
}

/// Records the resource that memory is dedicated to, if there is one.
pub fn dedicate(call: Call<'_>, object: &DeviceObject, memory: u64, info: &vk::MemoryAllocateInfo<'_>) {
    let Some(info) = call.find::<vk::MemoryDedicatedAllocateInfo<'_>>(info.p_next) else { return };
    let resource = if info.image.is_null() { info.buffer.as_raw() } else { info.image.as_raw() };
    if resource != 0 {
        object.dedicated.lock().insert(memory, resource);
    }
}

/// Fails if memory is dedicated to another resource, or the resource is not at offset 0.
pub fn check_dedicated<H: Handle + Copy>(
    object: &DeviceObject,
    memory: vk::DeviceMemory,
    resource: H,
    offset: u64,
) -> Result<()> {
    match object.dedicated.lock().get(&memory.as_raw()) {
        Some(&other) if other != resource.as_raw() || offset != 0 => {
            object.messages().error(&format!(
                "{} is dedicated memory: expected its own resource at offset 0",
                object.describe(memory)
            ));
            Err(Error::Unknown)
        }
        _ => Ok(()),
    }
}
