//! Memory, buffers, images and their views. Source: Vulkan specification, "Memory Allocation",
//! "Resource Creation".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::families::check_sharing;
use vitric_api::image::ImageDesc;
use vitric_api::physical::{BUFFER_ALIGNMENT, ImageKind, LAZY, PROTECTED, max_buffer_bytes};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_format as format;
use vitric_memory::{Buffer, BufferRange, BufferView, Surface, SurfaceView, SurfaceViewDesc, Swizzle};

use super::{DeviceObject, address, check, compression, destroy, device, external, host, modifier, need, protection};
use crate::call::{Array, Call, In, New, Out};

/// Alignment of images in memory.
const IMAGE_ALIGNMENT: u64 = 256;

#[entry(vkAllocateMemory)]
fn allocate_memory(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::MemoryAllocateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DeviceMemory>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    // Sets may keep the memory of destroyed resources that they were last used with.
    if !object.device.has_room(info.allocation_size) {
        object.sets.all().iter().for_each(|found| found.set.drop_resolved());
    }
    let memory = external::allocate(call, object, info).and_then(|memory| {
        address::of_allocation(call, object, &memory, info)?;
        Ok(memory)
    });
    let reports = &object.memory_reports;
    let memory = memory.inspect_err(|_| reports.failed::<vk::DeviceMemory>(info.allocation_size))?;
    let made = object.memory.insert(memory.clone());
    external::dedicate(call, object, made, info);
    reports.allocated(call, vk::Handle::from_raw(made), &memory, info.p_next);
    address::report_memory(object, vk::Handle::from_raw(made), true);
    Ok(out.put(made))
}

// Memory is not moved for other memory, so all memory has equal priority.

#[entry(vkSetDeviceMemoryPriorityEXT)]
fn set_device_memory_priority(_: vk::Device, _: vk::DeviceMemory, _: f32) {}

#[entry(vkFreeMemory)]
fn free_memory(object: &DeviceObject, memory: vk::DeviceMemory, _: *const vk::AllocationCallbacks<'_>) {
    object.dedicated.lock().remove(&vk::Handle::as_raw(memory));
    address::report_memory(object, memory, false);
    if let Some(memory) = object.memory.get(vk::Handle::as_raw(memory)) {
        object.device.gpu().addresses().withdraw(&memory);
        // Freed memory is no longer mapped, even if a resource keeps it.
        memory.unplace();
    }
    destroy(object, &object.memory, memory);
    object.memory_reports.freed(memory);
}

#[entry(vkGetDeviceMemoryCommitment)]
fn get_device_memory_commitment(
    call: Call<'_>,
    handle: vk::Device,
    memory: vk::DeviceMemory,
    mut out: Out<'_, vk::DeviceSize>,
) {
    let memory = device(call, handle).ok().and_then(|object| object.memory.get(vk::Handle::as_raw(memory)));
    *out = memory.map_or(0, |memory| memory.resident());
}

#[entry(vkCreateBuffer)]
fn create_buffer(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::BufferCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Buffer>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    if info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
        return Err(Error::FeatureNotPresent);
    }
    let families = call.slice(info.p_queue_family_indices, info.queue_family_index_count);
    check_sharing(object.messages(), info.sharing_mode, families)?;
    // No memory could hold the buffer.
    if info.size > max_buffer_bytes() {
        return Err(Error::OutOfDeviceMemory);
    }
    let is_protected = info.flags.contains(vk::BufferCreateFlags::PROTECTED);
    protection::begin(object, "a buffer", is_protected)?;
    let make = if is_protected { Buffer::protected } else { Buffer::with_address };
    Ok(out.put(object.buffers.insert(make(info.size, address::of_buffer_info(call, info)))))
}

#[entry(vkDestroyBuffer)]
fn destroy_buffer(object: &DeviceObject, buffer: vk::Buffer, _: *const vk::AllocationCallbacks<'_>) {
    address::report_buffer(object, buffer, false);
    destroy(object, &object.buffers, buffer);
}

/// Returns the requirements of a buffer; the size is 0 for an invalid handle.
fn buffer_requirements(call: Call<'_>, handle: vk::Device, buffer: vk::Buffer) -> vk::MemoryRequirements {
    let buffer = device(call, handle).and_then(|object| need(object, &object.buffers, buffer));
    let found = buffer.map_or((0, false), |buffer| (buffer.size(), buffer.is_protected()));
    requirements(found.0, BUFFER_ALIGNMENT, types(found.1))
}

/// Returns the requirements of an image; the size is 0 for an invalid handle.
fn image_requirements(call: Call<'_>, handle: vk::Device, image: vk::Image) -> vk::MemoryRequirements {
    let image = device(call, handle).and_then(|object| need(object, &object.images, image));
    image.map_or_else(|_| requirements(0, IMAGE_ALIGNMENT, types(false)), |image| surface_requirements(&image))
}

fn surface_requirements(image: &Surface) -> vk::MemoryRequirements {
    let is_protected = image.is_protected();
    let lazy = u32::from(image.is_transient() && !is_protected) << LAZY;
    requirements(image.layout().size(), IMAGE_ALIGNMENT, types(is_protected) | lazy)
}

/// Returns the memory types of a resource, one bit for each.
fn types(is_protected: bool) -> u32 {
    if is_protected { 1 << PROTECTED } else { external::ALL_TYPES }
}

fn requirements(size: u64, alignment: u64, memory_type_bits: u32) -> vk::MemoryRequirements {
    vk::MemoryRequirements { size: size.next_multiple_of(alignment), alignment, memory_type_bits }
}

#[entry(vkGetBufferMemoryRequirements)]
fn get_buffer_memory_requirements(
    call: Call<'_>,
    handle: vk::Device,
    buffer: vk::Buffer,
    mut out: Out<'_, vk::MemoryRequirements>,
) {
    *out = buffer_requirements(call, handle, buffer);
}

#[entry(vkGetBufferMemoryRequirements2)]
fn get_buffer_memory_requirements2(
    call: Call<'_>,
    handle: vk::Device,
    info: In<'_, vk::BufferMemoryRequirementsInfo2<'_>>,
    out: Out<'_, vk::MemoryRequirements2<'_>>,
) {
    put_requirements2(call, buffer_requirements(call, handle, info.buffer), out);
}

fn put_requirements2(
    call: Call<'_>,
    requirements: vk::MemoryRequirements,
    mut out: Out<'_, vk::MemoryRequirements2<'_>>,
) {
    out.memory_requirements = requirements;
    // Dedicated memory has no advantage for any resource.
    call.put(out.p_next, vk::MemoryDedicatedRequirements::default());
}

#[entry(vkBindBufferMemory)]
fn bind_buffer_memory(
    object: &DeviceObject,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> Result<vk::Result> {
    let found = need(object, &object.buffers, buffer)?;
    external::check_dedicated(object, memory, buffer, offset)?;
    let memory = need(object, &object.memory, memory)?;
    protection::check_binding(object, buffer, found.is_protected(), &memory)?;
    address::of_binding(object, &found, &memory, offset)?;
    let result = bound(object, buffer, found.bind(memory, offset))?;
    address::report_buffer(object, buffer, true);
    Ok(result)
}

#[entry(vkBindBufferMemory2)]
fn bind_buffer_memory2(
    call: Call<'_>,
    object: &DeviceObject,
    #[len] count: u32,
    infos: Array<'_, vk::BindBufferMemoryInfo<'_>>,
) -> Result<vk::Result> {
    bind_all(call, object, infos, |info| bind_buffer_memory(object, info.buffer, info.memory, info.memory_offset))
}

/// Binds all resources whose binding is valid.
///
/// # Errors
/// The first error of a binding.
fn bind_all<I: Chained>(
    call: Call<'_>,
    object: &DeviceObject,
    infos: Array<'_, I>,
    bind: impl Fn(&I) -> Result<vk::Result>,
) -> Result<vk::Result> {
    let one = |info: &I| {
        let bound = bind(info);
        put_bind_status(call, info.chain(), bound.as_ref().map_or_else(|error| error.code(), |code| *code));
        bound.err()
    };
    let infos = check::array(object, "pBindInfos", infos)?;
    let failed: Vec<Error> = infos.iter().filter_map(one).collect();
    failed.first().map_or(Ok(vk::Result::SUCCESS), |error| Err(*error))
}

/// A structure with a `pNext` chain.
trait Chained {
    fn chain(&self) -> *const c_void;
}

impl Chained for vk::BindBufferMemoryInfo<'_> {
    fn chain(&self) -> *const c_void {
        self.p_next
    }
}

impl Chained for vk::BindImageMemoryInfo<'_> {
    fn chain(&self) -> *const c_void {
        self.p_next
    }
}

/// Writes the result of one of several bindings, if the application requests it.
fn put_bind_status(call: Call<'_>, chain: *const c_void, code: vk::Result) {
    let status: Option<&vk::BindMemoryStatusKHR<'_>> = call.find(chain);
    if let Some(mut out) = status.and_then(|status| call.output(status.p_result)) {
        *out = code;
    }
}

fn bound<H: vk::Handle + Copy>(object: &DeviceObject, handle: H, was_unbound: bool) -> Result<vk::Result> {
    if !was_unbound {
        object
            .messages()
            .error(&format!("{} is bound to memory already: bind a resource only once", object.describe(handle)));
        return Err(Error::Unknown);
    }
    Ok(vk::Result::SUCCESS)
}

#[entry(vkCreateBufferView)]
fn create_buffer_view(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::BufferViewCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::BufferView>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let buffer = need(object, &object.buffers, info.buffer)?;
    let mut range = BufferRange::new(buffer, info.offset, info.range);
    let texels = vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER | vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER;
    if !format::features(info.format).buffer.intersects(texels) {
        return Err(Error::FormatNotSupported);
    }
    let texel = format::info(info.format).map_or(1, |info| u64::from(info.bytes));
    range.size -= range.size % texel;
    Ok(out.put(object.buffer_views.insert(Arc::new(BufferView { range, format: info.format }))))
}

#[entry(vkDestroyBufferView)]
fn destroy_buffer_view(object: &DeviceObject, view: vk::BufferView, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.buffer_views, view);
}

#[entry(vkCreateImage)]
fn create_image(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::ImageCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Image>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let families = call.slice(info.p_queue_family_indices, info.queue_family_index_count);
    check_sharing(object.messages(), info.sharing_mode, families)?;
    protection::begin(object, "an image", info.flags.contains(vk::ImageCreateFlags::PROTECTED))?;
    let made = new_image(call, info);
    Ok(out.put(object.images.insert(made.inspect_err(|error| modifier::report(object, info, *error))?)))
}

/// Creates an image that is not bound to memory.
fn new_image(call: Call<'_>, info: &vk::ImageCreateInfo<'_>) -> Result<Arc<Surface>> {
    let made = modifier::create_image(call, info, &image_desc(call, info))?;
    if compression::is_disabled(call, info.p_next) {
        made.stay_resident();
    }
    Ok(made)
}

fn image_desc(call: Call<'_>, info: &vk::ImageCreateInfo<'_>) -> ImageDesc {
    let stencil: Option<&vk::ImageStencilUsageCreateInfo<'_>> = call.find(info.p_next);
    let kind = ImageKind {
        format: info.format,
        kind: info.image_type,
        tiling: info.tiling,
        usage: info.usage | stencil.map_or(vk::ImageUsageFlags::empty(), |stencil| stencil.stencil_usage),
        flags: info.flags,
    };
    ImageDesc { kind, extent: info.extent, levels: info.mip_levels, layers: info.array_layers, samples: info.samples }
}

#[entry(vkDestroyImage)]
fn destroy_image(object: &DeviceObject, image: vk::Image, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.images, image);
}

#[entry(vkGetImageMemoryRequirements)]
fn get_image_memory_requirements(
    call: Call<'_>,
    handle: vk::Device,
    image: vk::Image,
    mut out: Out<'_, vk::MemoryRequirements>,
) {
    *out = image_requirements(call, handle, image);
}

#[entry(vkGetImageMemoryRequirements2)]
fn get_image_memory_requirements2(
    call: Call<'_>,
    handle: vk::Device,
    info: In<'_, vk::ImageMemoryRequirementsInfo2<'_>>,
    out: Out<'_, vk::MemoryRequirements2<'_>>,
) {
    put_requirements2(call, image_requirements(call, handle, info.image), out);
}

#[entry(vkGetDeviceBufferMemoryRequirements)]
fn get_device_buffer_memory_requirements(
    call: Call<'_>,
    _: vk::Device,
    info: In<'_, vk::DeviceBufferMemoryRequirements<'_>>,
    out: Out<'_, vk::MemoryRequirements2<'_>>,
) {
    if let Some(info) = call.get(info.p_create_info) {
        let types = types(info.flags.contains(vk::BufferCreateFlags::PROTECTED));
        put_requirements2(call, requirements(info.size, BUFFER_ALIGNMENT, types), out);
    }
}

#[entry(vkGetDeviceImageMemoryRequirements)]
fn get_device_image_memory_requirements(
    call: Call<'_>,
    _: vk::Device,
    info: In<'_, vk::DeviceImageMemoryRequirements<'_>>,
    out: Out<'_, vk::MemoryRequirements2<'_>>,
) {
    let Some(info) = call.get(info.p_create_info) else { return };
    let image = new_image(call, info);
    let none = || requirements(0, IMAGE_ALIGNMENT, types(false));
    let found = image.map_or_else(|_| none(), |image| surface_requirements(&image));
    put_requirements2(call, found, out);
}

#[entry(vkGetDeviceImageSparseMemoryRequirements)]
fn get_device_image_sparse_memory_requirements(
    _: vk::Device,
    _: *const vk::DeviceImageMemoryRequirements<'_>,
    mut count: Out<'_, u32>,
    _: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    *count = 0;
}

#[entry(vkGetImageSparseMemoryRequirements2)]
fn get_image_sparse_memory_requirements2(
    _: vk::Device,
    _: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
    mut count: Out<'_, u32>,
    _: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    *count = 0;
}

#[entry(vkGetImageSparseMemoryRequirements)]
fn get_image_sparse_memory_requirements(
    _: vk::Device,
    _: vk::Image,
    mut count: Out<'_, u32>,
    _: *mut vk::SparseImageMemoryRequirements,
) {
    *count = 0;
}

#[entry(vkBindImageMemory)]
fn bind_image_memory(
    object: &DeviceObject,
    image: vk::Image,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> Result<vk::Result> {
    let found = need(object, &object.images, image)?;
    external::check_dedicated(object, memory, image, offset)?;
    let memory = need(object, &object.memory, memory)?;
    protection::check_binding(object, image, found.is_protected(), &memory)?;
    bound(object, image, found.bind(memory, offset))
}

#[entry(vkBindImageMemory2)]
fn bind_image_memory2(
    call: Call<'_>,
    object: &DeviceObject,
    #[len] count: u32,
    infos: Array<'_, vk::BindImageMemoryInfo<'_>>,
) -> Result<vk::Result> {
    bind_all(call, object, infos, |info| match call.find::<vk::BindImageMemorySwapchainInfoKHR<'_>>(info.p_next) {
        Some(swapchain) => bind_to_swapchain(object, info.image, swapchain),
        None => bind_image_memory(object, info.image, info.memory, info.memory_offset),
    })
}

/// Binds an image to the memory of one of a swapchain's images.
fn bind_to_swapchain(
    object: &DeviceObject,
    image: vk::Image,
    info: &vk::BindImageMemorySwapchainInfoKHR<'_>,
) -> Result<vk::Result> {
    let found = need(object, &object.images, image)?;
    let chain = need(object, &object.swapchains, info.swapchain)?;
    let shown = chain.chain.images().get(info.image_index as usize).ok_or(Error::Unknown)?;
    let (memory, offset) = shown.binding().ok_or(Error::Unknown)?;
    protection::check_binding(object, image, found.is_protected(), memory)?;
    bound(object, image, found.bind(memory.clone(), offset))
}

#[entry(vkGetImageSubresourceLayout)]
fn get_image_subresource_layout(
    object: &DeviceObject,
    image: vk::Image,
    part: In<'_, vk::ImageSubresource>,
    mut out: Out<'_, vk::SubresourceLayout>,
) -> Result<()> {
    put_layout(&*need(object, &object.images, image)?, &part, &mut out);
    Ok(())
}

fn put_layout(image: &Surface, part: &vk::ImageSubresource, out: &mut vk::SubresourceLayout) {
    let aspect = modifier::stored_aspect(image, part.aspect_mask);
    if let Some(layout) = image.layout().subresource(aspect, part.mip_level, part.array_layer) {
        *out = vk::SubresourceLayout {
            offset: layout.offset,
            size: layout.size,
            row_pitch: layout.row_pitch,
            array_pitch: layout.array_pitch,
            depth_pitch: layout.depth_pitch,
        };
    }
}

#[entry(vkGetImageSubresourceLayout2KHR)]
fn get_image_subresource_layout2(
    call: Call<'_>,
    object: &DeviceObject,
    image: vk::Image,
    part: In<'_, vk::ImageSubresource2KHR<'_>>,
    mut out: Out<'_, vk::SubresourceLayout2KHR<'_>>,
) -> Result<()> {
    let image = need(object, &object.images, image)?;
    put_layout(&image, &part.image_subresource, &mut out.subresource_layout);
    host::put_size(call, &image, &part.image_subresource, out.p_next);
    compression::put(call, image.stays_resident(), out.p_next);
    Ok(())
}

#[entry(vkGetDeviceImageSubresourceLayoutKHR)]
fn get_device_image_subresource_layout(
    call: Call<'_>,
    _: vk::Device,
    info: In<'_, vk::DeviceImageSubresourceInfoKHR<'_>>,
    mut out: Out<'_, vk::SubresourceLayout2KHR<'_>>,
) {
    let (Some(made), Some(part)) = (call.get(info.p_create_info), call.get(info.p_subresource)) else { return };
    if let Ok(image) = new_image(call, made) {
        put_layout(&image, &part.image_subresource, &mut out.subresource_layout);
        host::put_size(call, &image, &part.image_subresource, out.p_next);
        compression::put(call, image.stays_resident(), out.p_next);
    }
}

#[entry(vkCreateImageView)]
fn create_image_view(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::ImageViewCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::ImageView>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let surface = need(object, &object.images, info.image)?;
    check_range(call, object, &surface, info)?;
    let desc = view_desc(call, &surface, info);
    Ok(out.put(object.image_views.insert(Arc::new(SurfaceView { surface, desc }))))
}

/// Checks that a view's range is inside its image.
fn check_range(
    call: Call<'_>,
    object: &DeviceObject,
    surface: &Surface,
    info: &vk::ImageViewCreateInfo<'_>,
) -> Result<()> {
    let (desc, range) = (surface.desc(), &info.subresource_range);
    let levels = desc.levels;
    check::view_range(call, object, range, [levels, layers_of(surface, info)])
}

/// Returns the number of layers that a view may select from. A 2D view of a 3D image selects
/// slices of its level.
fn layers_of(surface: &Surface, info: &vk::ImageViewCreateInfo<'_>) -> u32 {
    let is_volume = surface.desc().kind == vk::ImageType::TYPE_3D && info.view_type != vk::ImageViewType::TYPE_3D;
    let level = info.subresource_range.base_mip_level.min(surface.desc().levels.saturating_sub(1));
    if is_volume { surface.level_extent(level).depth } else { surface.desc().layers }
}

fn view_desc(call: Call<'_>, surface: &Surface, info: &vk::ImageViewCreateInfo<'_>) -> SurfaceViewDesc {
    let range = info.subresource_range;
    let remaining =
        |count: u32, first: u32, all: u32| if count == u32::MAX { all.saturating_sub(first) } else { count };
    let layers = layers_of(surface, info);
    SurfaceViewDesc {
        kind: info.view_type,
        format: info.format,
        swizzle: component_mapping(info.components),
        aspects: range.aspect_mask,
        base_level: range.base_mip_level,
        levels: remaining(range.level_count, range.base_mip_level, surface.desc().levels),
        base_layer: range.base_array_layer,
        layers: remaining(range.layer_count, range.base_array_layer, layers),
        slices: slices(call, info),
        min_lod: min_level(call, info, surface.desc().levels),
        decodes_codes: decodes_codes(call, info),
    }
}

/// Returns the first slice and the number of slices of a 3D view that shows a part of its image.
fn slices(call: Call<'_>, info: &vk::ImageViewCreateInfo<'_>) -> Option<(u32, u32)> {
    let sliced: Option<&vk::ImageViewSlicedCreateInfoEXT<'_>> = call.find(info.p_next);
    let sliced = sliced.filter(|_| info.view_type == vk::ImageViewType::TYPE_3D)?;
    Some((sliced.slice_offset, sliced.slice_count))
}

/// Returns true if a view decodes ASTC blocks to 8-bit codes. Blocks of sRGB always decode to
/// codes.
fn decodes_codes(call: Call<'_>, info: &vk::ImageViewCreateInfo<'_>) -> bool {
    let is_linear = format::info(info.format).is_some_and(|info| info.class != format::Class::Srgb);
    let mode: Option<&vk::ImageViewASTCDecodeModeEXT<'_>> = call.find(info.p_next);
    is_linear && mode.is_some_and(|mode| mode.decode_mode == vk::Format::R8G8B8A8_UNORM)
}

/// Returns the lowest level that a view of an image with `levels` levels reads, relative to the
/// view's first level.
fn min_level(call: Call<'_>, info: &vk::ImageViewCreateInfo<'_>, levels: u32) -> f32 {
    let least = call.find::<vk::ImageViewMinLodCreateInfoEXT<'_>>(info.p_next).map_or(0.0, |info| info.min_lod);
    let base = info.subresource_range.base_mip_level;
    let last = levels.saturating_sub(base).min(info.subresource_range.level_count).saturating_sub(1);
    // NaN becomes 0.
    (least - base as f32).max(0.0).min(last as f32)
}

/// Returns the source of each component.
pub fn component_mapping(map: vk::ComponentMapping) -> [Swizzle; 4] {
    let swizzle = [map.r, map.g, map.b, map.a];
    std::array::from_fn(|index| component(swizzle[index], index as u8))
}

fn component(swizzle: vk::ComponentSwizzle, own: u8) -> Swizzle {
    match swizzle {
        vk::ComponentSwizzle::ZERO => Swizzle::Zero,
        vk::ComponentSwizzle::ONE => Swizzle::One,
        vk::ComponentSwizzle::R => Swizzle::Component(0),
        vk::ComponentSwizzle::G => Swizzle::Component(1),
        vk::ComponentSwizzle::B => Swizzle::Component(2),
        vk::ComponentSwizzle::A => Swizzle::Component(3),
        _ => Swizzle::Component(own),
    }
}

#[entry(vkDestroyImageView)]
fn destroy_image_view(object: &DeviceObject, view: vk::ImageView, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.image_views, view);
}
