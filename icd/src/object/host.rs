//! Copies by the host between images and memory, and between images.
//!
//! The memory of a copy is accessed through a buffer of the driver, so that the copies use the
//! code of recorded commands. Data of `VK_HOST_IMAGE_COPY_MEMCPY_EXT` copies are tightly packed.
//! Source: `VK_EXT_host_image_copy`.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result, structures};
use vitric_entry::entry;
use vitric_format as format;
use vitric_gpu::transfer::CopyDirection;
use vitric_memory::{Allocation, Buffer, Heap, Surface};
use vitric_vulkan::PhysicalDeviceVulkan14Properties;

use super::{DeviceObject, check, device, need};
use crate::call::{Array, Call, In};

/// Layouts that host copies support: all that the general layout can replace, because a layout
/// does not change an image's bytes. Source: Vulkan specification,
/// `VkPhysicalDeviceHostImageCopyProperties`.
pub const LAYOUTS: [vk::ImageLayout; 21] = [
    vk::ImageLayout::GENERAL,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::READ_ONLY_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
    vk::ImageLayout::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR,
    vk::ImageLayout::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT,
    vk::ImageLayout::RENDERING_LOCAL_READ_KHR,
    vk::ImageLayout::PREINITIALIZED,
    vk::ImageLayout::PRESENT_SRC_KHR,
];

/// A region of a copy in either direction: the address of its memory, and its part of an image.
struct Region {
    memory: *mut u8,
    copy: vk::BufferImageCopy,
}

macro_rules! region {
    ($info:ident) => {
        Region {
            memory: {
                let memory: *const c_void = $info.p_host_pointer;
                memory.cast_mut().cast()
            },
            copy: vk::BufferImageCopy {
                buffer_offset: 0,
                buffer_row_length: $info.memory_row_length,
                buffer_image_height: $info.memory_image_height,
                image_subresource: $info.image_subresource,
                image_offset: $info.image_offset,
                image_extent: $info.image_extent,
            },
        }
    };
}

/// Memory layout of a region: size and pitch of its rows, number and pitch of its slices, in
/// bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rows {
    bytes: usize,
    pitch: usize,
    count: usize,
    slice: usize,
    slices: usize,
}

impl Rows {
    fn new(image: &Surface, copy: &vk::BufferImageCopy) -> Option<Self> {
        let (info, desc, part) = (format::info(image.desc().format)?, image.desc(), copy.image_subresource);
        let plane = info.planes().find(|plane| part.aspect_mask.contains(plane.aspect))?;
        let ([width, height], extent) = (info.block_extent(), copy.image_extent);
        let or = |length: u32, default: u32| if length == 0 { default } else { length };
        let bytes = |texels: u32| texels.div_ceil(width) as usize * plane.bytes as usize;
        let slices = match desc.kind {
            vk::ImageType::TYPE_3D => extent.depth,
            _ => part.layer_count.min(desc.layers.saturating_sub(part.base_array_layer)),
        };
        Some(Self {
            bytes: bytes(extent.width),
            pitch: bytes(or(copy.buffer_row_length, extent.width)),
            count: extent.height.div_ceil(height) as usize,
            slice: or(copy.buffer_image_height, extent.height).div_ceil(height) as usize,
            slices: slices as usize,
        })
    }

    /// Returns the byte offset of each row.
    fn starts(self) -> impl Iterator<Item = usize> {
        let rows = (0..self.slices).flat_map(move |slice| (0..self.count).map(move |row| slice * self.slice + row));
        rows.map(move |row| row * self.pitch)
    }

    /// Returns the number of bytes up to the end of the last row.
    fn size(self) -> usize {
        match (self.slices, self.count) {
            (0, _) | (_, 0) => 0,
            (slices, count) => ((slices - 1) * self.slice + count - 1) * self.pitch + self.bytes,
        }
    }
}

/// Copies one region.
fn copy(
    call: Call<'_>,
    object: &DeviceObject,
    image: &Surface,
    region: &Region,
    direction: CopyDirection,
) -> Result<()> {
    let rows = Rows::new(image, &region.copy).ok_or(Error::Unknown)?;
    let size = rows.size();
    let buffer = Buffer::new(size as u64);
    let memory = Allocation::new(&Heap::new(size as u64), size as u64).map_err(|_| Error::OutOfHostMemory)?;
    buffer.bind(memory, 0);
    let at = |start: usize| region.memory.wrapping_add(start);
    if direction == CopyDirection::ToImage {
        for start in rows.starts() {
            buffer.write(start as u64, call.bytes(at(start).cast(), rows.bytes));
        }
    }
    let device = &object.device;
    device.check_host_copy(device.gpu().copy_buffer_image(&buffer, image, &[region.copy], direction))?;
    if direction == CopyDirection::ToBuffer {
        for start in rows.starts() {
            buffer.read(start as u64, call.outputs(at(start), rows.bytes));
        }
    }
    Ok(())
}

/// Returns an image that the host may access.
fn visible_image(object: &DeviceObject, handle: vk::Image) -> Result<Arc<Surface>> {
    let image = need(object, &object.images, handle)?;
    if image.is_protected() {
        let name = object.describe(handle);
        object.messages().error(&format!("{name} is protected: expected an image that is visible to the host"));
        return Err(Error::MemoryMapFailed);
    }
    Ok(image)
}

/// A copy between memory and an image.
struct HostCopy {
    image: vk::Image,
    direction: CopyDirection,
    flags: vk::HostImageCopyFlagsEXT,
}

/// Copies regions. With the memcpy flag, rows are tightly packed.
fn copy_all(
    call: Call<'_>,
    object: &DeviceObject,
    of: &HostCopy,
    regions: impl Iterator<Item = Region>,
) -> Result<vk::Result> {
    let &HostCopy { image, direction, flags } = of;
    let image = visible_image(object, image)?;
    for mut region in regions {
        if flags.contains(vk::HostImageCopyFlagsEXT::MEMCPY) {
            (region.copy.buffer_row_length, region.copy.buffer_image_height) = (0, 0);
        }
        copy(call, object, &image, &region, direction)?;
    }
    Ok(vk::Result::SUCCESS)
}

/// Returns the regions of a copy.
///
/// # Errors
/// [`Error::Unknown`] if the count is not 0 but the array is null.
fn all_of<T>(regions: Array<'_, T>) -> Result<&[T]> {
    if regions.is_missing() { Err(Error::Unknown) } else { Ok(regions.get()) }
}

#[entry(vkCopyMemoryToImageEXT)]
fn copy_memory_to_image(
    call: Call<'_>,
    handle: vk::Device,
    info: In<'_, vk::CopyMemoryToImageInfoEXT<'_>>,
) -> Result<vk::Result> {
    let regions = all_of(call.array(info.p_regions, info.region_count))?;
    let regions = regions.iter().map(|region| region!(region));
    let copy = HostCopy { image: info.dst_image, direction: CopyDirection::ToImage, flags: info.flags };
    copy_all(call, device(call, handle)?, &copy, regions)
}

#[entry(vkCopyImageToMemoryEXT)]
fn copy_image_to_memory(
    call: Call<'_>,
    handle: vk::Device,
    info: In<'_, vk::CopyImageToMemoryInfoEXT<'_>>,
) -> Result<vk::Result> {
    let regions = all_of(call.array(info.p_regions, info.region_count))?;
    let regions = regions.iter().map(|region| region!(region));
    let copy = HostCopy { image: info.src_image, direction: CopyDirection::ToBuffer, flags: info.flags };
    copy_all(call, device(call, handle)?, &copy, regions)
}

#[entry(vkCopyImageToImageEXT)]
fn copy_image_to_image(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::CopyImageToImageInfoEXT<'_>>,
) -> Result<vk::Result> {
    let source = visible_image(object, info.src_image)?;
    let target = visible_image(object, info.dst_image)?;
    let region = |region: &vk::ImageCopy2<'_>| vk::ImageCopy {
        src_subresource: region.src_subresource,
        src_offset: region.src_offset,
        dst_subresource: region.dst_subresource,
        dst_offset: region.dst_offset,
        extent: region.extent,
    };
    let regions = check::array(object, "pRegions", call.array(info.p_regions, info.region_count))?;
    let regions: Vec<_> = regions.iter().map(region).collect();
    object.device.check_host_copy(object.device.gpu().copy_image(&source, &target, &regions))?;
    Ok(vk::Result::SUCCESS)
}

// Images have no layouts, so a transition has no effect.

#[entry(vkTransitionImageLayoutEXT)]
fn transition_image_layout(
    object: &DeviceObject,
    #[len] count: u32,
    transitions: Array<'_, vk::HostImageLayoutTransitionInfoEXT<'_>>,
) -> Result<vk::Result> {
    check::array(object, "pTransitions", transitions)?;
    Ok(vk::Result::SUCCESS)
}

/// Writes the size in bytes of a layer in a memcpy copy, if the application requests it.
pub fn put_size(call: Call<'_>, image: &Surface, part: &vk::ImageSubresource, chain: *mut c_void) {
    let image_subresource = vk::ImageSubresourceLayers {
        aspect_mask: part.aspect_mask,
        mip_level: part.mip_level,
        base_array_layer: part.array_layer,
        layer_count: 1,
    };
    let mut image_extent = image.level_extent(part.mip_level);
    let info = format::info(image.desc().format).filter(|info| info.is_planar());
    if let Some(plane) = info.and_then(|info| info.planes().find(|plane| part.aspect_mask.contains(plane.aspect))) {
        image_extent.width = image_extent.width.div_ceil(plane.block[0]);
        image_extent.height = image_extent.height.div_ceil(plane.block[1]);
    }
    let copy = vk::BufferImageCopy { image_subresource, image_extent, ..Default::default() };
    let size = Rows::new(image, &copy).map_or(0, Rows::size) as u64;
    call.put(chain, vk::SubresourceHostMemcpySizeEXT { size, ..Default::default() });
}

/// Writes the properties of host image copies, and the ones of Vulkan 1.4, which contain them:
/// the supported layouts, up to the arrays' lengths, and the identifier of the memory layout.
pub fn put_properties(call: Call<'_>, chain: *mut c_void) {
    if let Some(mut out) = call.find_output::<vk::PhysicalDeviceHostImageCopyPropertiesEXT<'_>>(chain) {
        let layouts = out.p_copy_src_layouts;
        let _ = call.list(&mut out.copy_src_layout_count, layouts).put(&LAYOUTS);
        let layouts = out.p_copy_dst_layouts;
        let _ = call.list(&mut out.copy_dst_layout_count, layouts).put(&LAYOUTS);
        (out.optimal_tiling_layout_uuid, out.identical_memory_type_requirements) = (LAYOUT_UUID, vk::TRUE);
    }
    if let Some(out) = call.find_output::<PhysicalDeviceVulkan14Properties>(chain) {
        let mut values = structures::properties14();
        (values.copy_src_layouts, values.copy_src_layout_count) = (out.copy_src_layouts, out.copy_src_layout_count);
        (values.copy_dst_layouts, values.copy_dst_layout_count) = (out.copy_dst_layouts, out.copy_dst_layout_count);
        let layouts = values.copy_src_layouts.cast::<vk::ImageLayout>();
        let _ = call.list(&mut values.copy_src_layout_count, layouts).put(&LAYOUTS);
        let layouts = values.copy_dst_layouts.cast::<vk::ImageLayout>();
        let _ = call.list(&mut values.copy_dst_layout_count, layouts).put(&LAYOUTS);
        values.optimal_tiling_layout_uuid = LAYOUT_UUID.into();
        values.identical_memory_type_requirements = vk::TRUE;
        out.fill(values);
    }
}

/// Identifier of the memory layout of optimal tiling.
const LAYOUT_UUID: [u8; vk::UUID_SIZE] = *b"vitric rows of 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_the_last_texel() {
        let rows = Rows { bytes: 12, pitch: 20, count: 3, slice: 4, slices: 2 };
        assert_eq!(rows.starts().collect::<Vec<_>>(), [0, 20, 40, 80, 100, 120]);
        assert_eq!(rows.size(), 132);
        assert_eq!(Rows { slices: 0, ..rows }.size(), 0);
    }
}
