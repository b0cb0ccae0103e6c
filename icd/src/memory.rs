//! Memory, buffers, images and their views. Source: Vulkan specification, "Memory Allocation", "Resource Creation".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::families::check_sharing;
use vitric_api::image::{self, ImageDesc};
use vitric_api::physical::{BUFFER_ALIGNMENT, ImageKind, LAZY, max_buffer_bytes};
use vitric_api::{Error, Result};
use vitric_format as format;
use vitric_memory::{Buffer, BufferRange, BufferView, Surface, SurfaceView, SurfaceViewDesc, Swizzle};

use crate::objects::{DeviceObject, destroy, device, need};
use crate::{address, check, external, host, raw};

/// Every memory type serves every resource, but for the one of transient images.
const MAX_TYPES: u32 = 0b111;
/// Alignment of images in memory.
const IMAGE_ALIGNMENT: u64 = 256;

pub extern "system" fn allocate(
    handle: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DeviceMemory,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let memory = external::allocate(object, info)?;
        address::of_allocation(object, &memory, info)?;
        let made = object.memory.insert(memory);
        external::dedicate(object, made, info);
        address::report_memory(object, vk::Handle::from_raw(made), true);
        Ok(made)
    })
}

// No memory is moved for other memory: all have the same priority.

pub extern "system" fn set_priority(_: vk::Device, _: vk::DeviceMemory, _: f32) {}

pub extern "system" fn free(handle: vk::Device, memory: vk::DeviceMemory, _: *const vk::AllocationCallbacks<'_>) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        object.dedicated.lock().remove(&vk::Handle::as_raw(memory));
        address::report_memory(object, memory, false);
        if let Some(memory) = object.memory.get(vk::Handle::as_raw(memory)) {
            object.device.gpu().addresses().withdraw(&memory);
        }
    });
    destroy(handle, |object| &object.memory, memory);
}

pub extern "system" fn map(
    handle: vk::Device,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    _size: vk::DeviceSize,
    _: vk::MemoryMapFlags,
    out: *mut *mut c_void,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let memory = need(object, &object.memory, memory)?;
        let out = raw::output(out).ok_or(Error::Unknown)?;
        if offset >= memory.size() {
            return Err(Error::MemoryMapFailed);
        }
        memory.set_mapped(true);
        // Of a type that the host does not see, which valid usage forbids.
        memory.keep_awake(0..memory.size());
        *out = memory.host_pointer().wrapping_add(offset as usize).cast();
        Ok(vk::Result::SUCCESS)
    })
}

// All memory is coherent and stays where it is: nothing to flush or invalidate.

pub extern "system" fn unmap(handle: vk::Device, memory: vk::DeviceMemory) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        if let Some(memory) = object.memory.get(vk::Handle::as_raw(memory)) {
            object.device.gpu().depths().wrote_any(|written| Arc::ptr_eq(written, &memory));
            memory.set_mapped(false);
        }
    });
}

pub extern "system" fn map2(
    handle: vk::Device,
    info: *const vk::MemoryMapInfoKHR<'_>,
    out: *mut *mut c_void,
) -> vk::Result {
    let Some(info) = raw::input(info) else { return Error::Unknown.code() };
    map(handle, info.memory, info.offset, info.size, info.flags, out)
}

pub extern "system" fn unmap2(handle: vk::Device, info: *const vk::MemoryUnmapInfoKHR<'_>) -> vk::Result {
    let Some(info) = raw::input(info) else { return Error::Unknown.code() };
    unmap(handle, info.memory);
    vk::Result::SUCCESS
}

pub extern "system" fn flush(handle: vk::Device, count: u32, ranges: *const vk::MappedMemoryRange<'_>) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        check::array(object, "pMemoryRanges", ranges, count)?;
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn commitment(handle: vk::Device, memory: vk::DeviceMemory, out: *mut vk::DeviceSize) {
    raw::guard_void(|| {
        let size = device(handle).ok().and_then(|object| object.memory.get(vk::Handle::as_raw(memory)));
        if let Some(out) = raw::output(out) {
            *out = size.map_or(0, |memory| memory.resident());
        }
    });
}

pub extern "system" fn create_buffer(
    handle: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Buffer,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        if info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            return Err(Error::FeatureNotPresent);
        }
        let families = raw::slice(info.p_queue_family_indices, info.queue_family_index_count);
        check_sharing(object.messages(), info.sharing_mode, families)?;
        // No memory could hold it.
        if info.size > max_buffer_bytes() {
            return Err(Error::OutOfDeviceMemory);
        }
        Ok(object.buffers.insert(Buffer::with_address(info.size, address::of_buffer_info(info))))
    })
}

pub extern "system" fn destroy_buffer(handle: vk::Device, buffer: vk::Buffer, _: *const vk::AllocationCallbacks<'_>) {
    raw::guard_void(|| {
        if let Ok(object) = device(handle) {
            address::report_buffer(object, buffer, false);
        }
    });
    destroy(handle, |object| &object.buffers, buffer);
}

/// What a buffer needs; nothing, when the handle is bad.
fn needs_of_buffer(handle: vk::Device, buffer: vk::Buffer) -> vk::MemoryRequirements {
    let size = device(handle).and_then(|object| need(object, &object.buffers, buffer)).map_or(0, |b| b.size());
    requirements(size, BUFFER_ALIGNMENT)
}

/// What an image needs; nothing, when the handle is bad.
fn needs_of_image(handle: vk::Device, image: vk::Image) -> vk::MemoryRequirements {
    let image = device(handle).and_then(|object| need(object, &object.images, image));
    image.map_or_else(|_| requirements(0, IMAGE_ALIGNMENT), |image| image_needs(&image))
}

fn image_needs(image: &Surface) -> vk::MemoryRequirements {
    let needs = requirements(image.layout().size(), IMAGE_ALIGNMENT);
    let lazy = u32::from(image.is_transient()) << LAZY;
    vk::MemoryRequirements { memory_type_bits: needs.memory_type_bits | lazy, ..needs }
}

fn requirements(size: u64, alignment: u64) -> vk::MemoryRequirements {
    vk::MemoryRequirements { size: size.next_multiple_of(alignment), alignment, memory_type_bits: MAX_TYPES }
}

pub extern "system" fn buffer_requirements(handle: vk::Device, buffer: vk::Buffer, out: *mut vk::MemoryRequirements) {
    raw::guard_void(|| {
        if let Some(out) = raw::output(out) {
            *out = needs_of_buffer(handle, buffer);
        }
    });
}

pub extern "system" fn buffer_requirements2(
    handle: vk::Device,
    info: *const vk::BufferMemoryRequirementsInfo2<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    raw::guard_void(|| {
        if let Some(info) = raw::input(info) {
            put_requirements2(needs_of_buffer(handle, info.buffer), out);
        }
    });
}

fn put_requirements2(requirements: vk::MemoryRequirements, out: *mut vk::MemoryRequirements2<'_>) {
    let Some(out) = raw::output(out) else { return };
    out.memory_requirements = requirements;
    // Memory of its own is nothing that any resource gains by.
    raw::put(out.p_next, vk::MemoryDedicatedRequirements::default());
}

pub extern "system" fn bind_buffer(
    handle: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    raw::guard(|| device(handle).and_then(|object| bind_one_buffer(object, buffer, memory, offset)))
}

pub extern "system" fn bind_buffers(
    handle: vk::Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    bind_all(handle, (infos, count), |object, info| {
        bind_one_buffer(object, info.buffer, info.memory, info.memory_offset)
    })
}

/// Binds all that can be bound; the first error, when something could not.
fn bind_all<I: Chained>(
    handle: vk::Device,
    (infos, count): (*const I, u32),
    bind: impl Fn(&DeviceObject, &I) -> Result<vk::Result>,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let one = |info: &I| {
            let bound = bind(object, info);
            tell_bound(info.chain(), bound.as_ref().map_or_else(|error| error.code(), |code| *code));
            bound.err()
        };
        let infos = check::array(object, "pBindInfos", infos, count)?;
        let failed: Vec<Error> = infos.iter().filter_map(one).collect();
        failed.first().map_or(Ok(vk::Result::SUCCESS), |error| Err(*error))
    })
}

/// A description with a chain of its own.
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

/// Tells what became of one of several, where that was asked for.
fn tell_bound(chain: *const c_void, code: vk::Result) {
    let status: Option<&vk::BindMemoryStatusKHR<'_>> = raw::find(chain);
    if let Some(out) = status.and_then(|status| raw::output(status.p_result)) {
        *out = code;
    }
}

fn bind_one_buffer(
    object: &DeviceObject,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> Result<vk::Result> {
    let found = need(object, &object.buffers, buffer)?;
    external::check_dedicated(object, memory, buffer, offset)?;
    let memory = need(object, &object.memory, memory)?;
    address::of_binding(object, &found, &memory, offset)?;
    let result = bound(object, buffer, found.bind(memory, offset))?;
    address::report_buffer(object, buffer, true);
    Ok(result)
}

fn bound<H: vk::Handle + Copy>(object: &DeviceObject, handle: H, was_unbound: bool) -> Result<vk::Result> {
    if !was_unbound {
        object.messages().error(&format!("{} is bound to memory already", object.describe(handle)));
        return Err(Error::Unknown);
    }
    Ok(vk::Result::SUCCESS)
}

pub extern "system" fn create_buffer_view(
    handle: vk::Device,
    info: *const vk::BufferViewCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::BufferView,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let buffer = need(object, &object.buffers, info.buffer)?;
        let mut range = BufferRange::new(buffer, info.offset, info.range);
        let texels = vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER | vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER;
        if !format::features(info.format).buffer.intersects(texels) {
            return Err(Error::FormatNotSupported);
        }
        let texel = format::info(info.format).map_or(1, |info| u64::from(info.bytes));
        range.size -= range.size % texel;
        Ok(object.buffer_views.insert(Arc::new(BufferView { range, format: info.format })))
    })
}

pub extern "system" fn destroy_buffer_view(
    handle: vk::Device,
    view: vk::BufferView,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.buffer_views, view);
}

pub extern "system" fn create_image(
    handle: vk::Device,
    info: *const vk::ImageCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Image,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let families = raw::slice(info.p_queue_family_indices, info.queue_family_index_count);
        check_sharing(object.messages(), info.sharing_mode, families)?;
        Ok(object.images.insert(image::create(&image_desc(info))?))
    })
}

fn image_desc(info: &vk::ImageCreateInfo<'_>) -> ImageDesc {
    let stencil: Option<&vk::ImageStencilUsageCreateInfo<'_>> = raw::find(info.p_next);
    let kind = ImageKind {
        format: info.format,
        kind: info.image_type,
        tiling: info.tiling,
        usage: info.usage | stencil.map_or(vk::ImageUsageFlags::empty(), |stencil| stencil.stencil_usage),
        flags: info.flags,
    };
    ImageDesc { kind, extent: info.extent, levels: info.mip_levels, layers: info.array_layers, samples: info.samples }
}

pub extern "system" fn destroy_image(handle: vk::Device, image: vk::Image, _: *const vk::AllocationCallbacks<'_>) {
    destroy(handle, |object| &object.images, image);
}

pub extern "system" fn image_requirements(handle: vk::Device, image: vk::Image, out: *mut vk::MemoryRequirements) {
    raw::guard_void(|| {
        if let Some(out) = raw::output(out) {
            *out = needs_of_image(handle, image);
        }
    });
}

pub extern "system" fn image_requirements2(
    handle: vk::Device,
    info: *const vk::ImageMemoryRequirementsInfo2<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    raw::guard_void(|| {
        if let Some(info) = raw::input(info) {
            put_requirements2(needs_of_image(handle, info.image), out);
        }
    });
}

pub extern "system" fn requirements_of_buffer_info(
    _: vk::Device,
    info: *const vk::DeviceBufferMemoryRequirements<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    raw::guard_void(|| {
        if let Some(info) = raw::input(info).and_then(|info| raw::input(info.p_create_info)) {
            put_requirements2(requirements(info.size, BUFFER_ALIGNMENT), out);
        }
    });
}

pub extern "system" fn requirements_of_image_info(
    _: vk::Device,
    info: *const vk::DeviceImageMemoryRequirements<'_>,
    out: *mut vk::MemoryRequirements2<'_>,
) {
    raw::guard_void(|| {
        let Some(info) = raw::input(info).and_then(|info| raw::input(info.p_create_info)) else { return };
        let image = image::create(&image_desc(info));
        put_requirements2(image.map_or_else(|_| requirements(0, IMAGE_ALIGNMENT), |image| image_needs(&image)), out);
    });
}

pub extern "system" fn sparse_requirements_of_image_info(
    _: vk::Device,
    _: *const vk::DeviceImageMemoryRequirements<'_>,
    count: *mut u32,
    _: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    if let Some(count) = raw::output(count) {
        *count = 0;
    }
}

pub extern "system" fn sparse_requirements2(
    _: vk::Device,
    _: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
    count: *mut u32,
    _: *mut vk::SparseImageMemoryRequirements2<'_>,
) {
    if let Some(count) = raw::output(count) {
        *count = 0;
    }
}

pub extern "system" fn sparse_requirements(
    _: vk::Device,
    _: vk::Image,
    count: *mut u32,
    _: *mut vk::SparseImageMemoryRequirements,
) {
    if let Some(count) = raw::output(count) {
        *count = 0;
    }
}

pub extern "system" fn bind_image(
    handle: vk::Device,
    image: vk::Image,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    raw::guard(|| device(handle).and_then(|object| bind_one_image(object, image, memory, offset)))
}

pub extern "system" fn bind_images(
    handle: vk::Device,
    count: u32,
    infos: *const vk::BindImageMemoryInfo<'_>,
) -> vk::Result {
    bind_all(handle, (infos, count), |object, info| {
        match raw::find::<vk::BindImageMemorySwapchainInfoKHR<'_>>(info.p_next) {
            Some(swapchain) => bind_to_swapchain(object, info.image, swapchain),
            None => bind_one_image(object, info.image, info.memory, info.memory_offset),
        }
    })
}

fn bind_one_image(
    object: &DeviceObject,
    image: vk::Image,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> Result<vk::Result> {
    let found = need(object, &object.images, image)?;
    external::check_dedicated(object, memory, image, offset)?;
    let memory = need(object, &object.memory, memory)?;
    bound(object, image, found.bind(memory, offset))
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
    bound(object, image, found.bind(memory.clone(), offset))
}

pub extern "system" fn subresource_layout(
    handle: vk::Device,
    image: vk::Image,
    part: *const vk::ImageSubresource,
    out: *mut vk::SubresourceLayout,
) {
    raw::guard_void(|| {
        let image = device(handle).and_then(|object| need(object, &object.images, image));
        let (Ok(image), Some(part), Some(out)) = (image, raw::input(part), raw::output(out)) else { return };
        put_layout(&image, part, out);
    });
}

fn put_layout(image: &Surface, part: &vk::ImageSubresource, out: &mut vk::SubresourceLayout) {
    if let Some(layout) = image.layout().subresource(part.aspect_mask, part.mip_level, part.array_layer) {
        *out = vk::SubresourceLayout {
            offset: layout.offset,
            size: layout.size,
            row_pitch: layout.row_pitch,
            array_pitch: layout.array_pitch,
            depth_pitch: layout.depth_pitch,
        };
    }
}

pub extern "system" fn subresource_layout2(
    handle: vk::Device,
    image: vk::Image,
    part: *const vk::ImageSubresource2KHR<'_>,
    out: *mut vk::SubresourceLayout2KHR<'_>,
) {
    raw::guard_void(|| {
        let image = device(handle).and_then(|object| need(object, &object.images, image));
        let (Ok(image), Some(part), Some(out)) = (image, raw::input(part), raw::output(out)) else { return };
        put_layout(&image, &part.image_subresource, &mut out.subresource_layout);
        host::put_size(&image, &part.image_subresource, out.p_next);
    });
}

pub extern "system" fn subresource_layout_of_info(
    _: vk::Device,
    info: *const vk::DeviceImageSubresourceInfoKHR<'_>,
    out: *mut vk::SubresourceLayout2KHR<'_>,
) {
    raw::guard_void(|| {
        let (Some(info), Some(out)) = (raw::input(info), raw::output(out)) else { return };
        let (Some(made), Some(part)) = (raw::input(info.p_create_info), raw::input(info.p_subresource)) else { return };
        if let Ok(image) = image::create(&image_desc(made)) {
            put_layout(&image, &part.image_subresource, &mut out.subresource_layout);
            host::put_size(&image, &part.image_subresource, out.p_next);
        }
    });
}

pub extern "system" fn create_image_view(
    handle: vk::Device,
    info: *const vk::ImageViewCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::ImageView,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let surface = need(object, &object.images, info.image)?;
        check_range(object, &surface, info)?;
        let desc = view_desc(&surface, info);
        Ok(object.image_views.insert(Arc::new(SurfaceView { surface, desc })))
    })
}

/// Checks that a view shows no more of its image than there is.
fn check_range(object: &DeviceObject, surface: &Surface, info: &vk::ImageViewCreateInfo<'_>) -> Result<()> {
    let (desc, range) = (surface.desc(), &info.subresource_range);
    let levels = desc.levels;
    check::view_range(object, range, [levels, layers_of(surface, info)])
}

/// Layers that views of an image count: those of a view of slices are the slices of its level.
fn layers_of(surface: &Surface, info: &vk::ImageViewCreateInfo<'_>) -> u32 {
    let is_volume = surface.desc().kind == vk::ImageType::TYPE_3D && info.view_type != vk::ImageViewType::TYPE_3D;
    let level = info.subresource_range.base_mip_level.min(surface.desc().levels.saturating_sub(1));
    if is_volume { surface.level_extent(level).depth } else { surface.desc().layers }
}

fn view_desc(surface: &Surface, info: &vk::ImageViewCreateInfo<'_>) -> SurfaceViewDesc {
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
        slices: slices(info),
        min_lod: least_level(info, surface.desc().levels),
    }
}

/// The slices of a 3D view that shows some of them only: the first, and how many.
fn slices(info: &vk::ImageViewCreateInfo<'_>) -> Option<(u32, u32)> {
    let sliced: Option<&vk::ImageViewSlicedCreateInfoEXT<'_>> = raw::find(info.p_next);
    let sliced = sliced.filter(|_| info.view_type == vk::ImageViewType::TYPE_3D)?;
    Some((sliced.slice_offset, sliced.slice_count))
}

/// The least level that a view of an image of so many levels reads, of its own.
fn least_level(info: &vk::ImageViewCreateInfo<'_>, levels: u32) -> f32 {
    let least = raw::find::<vk::ImageViewMinLodCreateInfoEXT<'_>>(info.p_next).map_or(0.0, |info| info.min_lod);
    let base = info.subresource_range.base_mip_level;
    let last = levels.saturating_sub(base).min(info.subresource_range.level_count).saturating_sub(1);
    // NaN is nothing.
    (least - base as f32).max(0.0).min(last as f32)
}

/// Where each component comes from.
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

pub extern "system" fn destroy_image_view(
    handle: vk::Device,
    view: vk::ImageView,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.image_views, view);
}
