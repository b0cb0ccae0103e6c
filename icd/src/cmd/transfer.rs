//! Commands that copy, fill and clear. Source: Vulkan specification, "Copy Commands", "Clear
//! Commands"; `VK_KHR_copy_commands2`.

use ash::vk::{self, Handle};
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::{AttachmentClear, AttachmentsClear, Command};
use vitric_gpu::state::ClearValue;
use vitric_gpu::transfer::{IndirectRegions, ResolveModes};
use vitric_vulkan::sys::Handle as _;
use vitric_vulkan::{CopyMemoryIndirectInfoKHR, CopyMemoryToImageIndirectInfoKHR, ResolveImageModeInfoKHR, sys};

use super::Recorder;
use crate::call::{Array, Bytes, Call, In};
use crate::object::need;

/// Defines functions that convert regions of `VK_KHR_copy_commands2` to regions of the original
/// commands.
macro_rules! regions {
    ($($name:ident: $second:ident => $first:ident { $($field:ident),+ })+) => { $(
        fn $name(region: &vk::$second<'_>) -> vk::$first {
            vk::$first { $($field: region.$field),+ }
        }
    )+ };
}
regions! {
    buffer_region: BufferCopy2 => BufferCopy { src_offset, dst_offset, size }
    image_region: ImageCopy2 => ImageCopy { src_subresource, src_offset, dst_subresource, dst_offset, extent }
    blit_region: ImageBlit2 => ImageBlit { src_subresource, src_offsets, dst_subresource, dst_offsets }
    resolve_region: ImageResolve2 => ImageResolve { src_subresource, src_offset, dst_subresource, dst_offset, extent }
    buffer_image_region: BufferImageCopy2 => BufferImageCopy {
        buffer_offset, buffer_row_length, buffer_image_height, image_subresource, image_offset, image_extent
    }
}

#[entry(vkCmdCopyBuffer)]
fn copy_buffer(
    recorder: Recorder<'_>,
    source: vk::Buffer,
    target: vk::Buffer,
    #[len] count: u32,
    regions: Array<'_, vk::BufferCopy>,
) -> Result<()> {
    record_copy_buffer(recorder, [source, target], regions.get().iter().copied())
}

#[entry(vkCmdCopyBuffer2)]
fn copy_buffer2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::CopyBufferInfo2<'_>>) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(buffer_region);
    record_copy_buffer(recorder, [info.src_buffer, info.dst_buffer], regions)
}

/// Records copies between two buffers.
fn record_copy_buffer(
    recorder: Recorder<'_>,
    [source, target]: [vk::Buffer; 2],
    regions: impl Iterator<Item = vk::BufferCopy>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::CopyBuffer {
        source: need(object, &object.buffers, source)?,
        target: need(object, &object.buffers, target)?,
        regions: regions.collect(),
    })
}

#[entry(vkCmdCopyImage)]
fn copy_image(
    recorder: Recorder<'_>,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    #[len] count: u32,
    regions: Array<'_, vk::ImageCopy>,
) -> Result<()> {
    record_copy_image(recorder, [source, target], regions.get().iter().copied())
}

#[entry(vkCmdCopyImage2)]
fn copy_image2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::CopyImageInfo2<'_>>) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(image_region);
    record_copy_image(recorder, [info.src_image, info.dst_image], regions)
}

/// Records copies between two images.
fn record_copy_image(
    recorder: Recorder<'_>,
    [source, target]: [vk::Image; 2],
    regions: impl Iterator<Item = vk::ImageCopy>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::CopyImage {
        source: need(object, &object.images, source)?,
        target: need(object, &object.images, target)?,
        regions: regions.collect(),
    })
}

#[entry(vkCmdBlitImage)]
fn blit_image(
    recorder: Recorder<'_>,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    #[len] count: u32,
    regions: Array<'_, vk::ImageBlit>,
    filter: vk::Filter,
) -> Result<()> {
    record_blit_image(recorder, [source, target], regions.get().iter().copied(), filter)
}

#[entry(vkCmdBlitImage2)]
fn blit_image2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::BlitImageInfo2<'_>>) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(blit_region);
    record_blit_image(recorder, [info.src_image, info.dst_image], regions, info.filter)
}

/// Records blits between two images.
fn record_blit_image(
    recorder: Recorder<'_>,
    [source, target]: [vk::Image; 2],
    regions: impl Iterator<Item = vk::ImageBlit>,
    filter: vk::Filter,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::BlitImage {
        source: need(object, &object.images, source)?,
        target: need(object, &object.images, target)?,
        regions: regions.collect(),
        filter,
    })
}

#[entry(vkCmdCopyBufferToImage)]
fn copy_buffer_to_image(
    recorder: Recorder<'_>,
    source: vk::Buffer,
    target: vk::Image,
    _: vk::ImageLayout,
    #[len] count: u32,
    regions: Array<'_, vk::BufferImageCopy>,
) -> Result<()> {
    record_copy_buffer_to_image(recorder, source, target, regions.get().iter().copied())
}

#[entry(vkCmdCopyBufferToImage2)]
fn copy_buffer_to_image2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, vk::CopyBufferToImageInfo2<'_>>,
) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(buffer_image_region);
    record_copy_buffer_to_image(recorder, info.src_buffer, info.dst_image, regions)
}

/// Records copies from a buffer to an image.
fn record_copy_buffer_to_image(
    recorder: Recorder<'_>,
    source: vk::Buffer,
    target: vk::Image,
    regions: impl Iterator<Item = vk::BufferImageCopy>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::CopyBufferToImage {
        source: need(object, &object.buffers, source)?,
        target: need(object, &object.images, target)?,
        regions: regions.collect(),
    })
}

/// Checks the location of the regions of an indirect copy, each of at least `bytes` bytes. Without
/// a region, the location is not used.
fn indirect_regions(
    call: Call<'_>,
    recorder: Recorder<'_>,
    range: sys::StridedDeviceAddressRangeKHR,
    [count, bytes]: [u32; 2],
) -> Result<Option<IndirectRegions>> {
    let sys::StridedDeviceAddressRangeKHR { address, size, stride } = range;
    if count == 0 {
        return Ok(None);
    }
    recorder.check(call, "VkStridedDeviceAddressRangeKHR", |check| {
        let is_stride = stride.is_multiple_of(4) && stride >= bytes.into();
        check.holds("stride", stride, &format!("a multiple of 4 from {bytes} on"), is_stride)?;
        check.within("copy_count", count.into(), 0..=size / stride)?;
        let addresses = recorder.device.device.gpu().addresses().now();
        let is_known = address.is_multiple_of(4) && addresses.locate(address, bytes.into()).is_some();
        check.holds("address", format_args!("{address:#x}"), "a multiple of 4 and the address of a buffer", is_known)
    })?;
    Ok(Some(IndirectRegions { address, stride, count }))
}

#[entry(vkCmdCopyMemoryIndirectKHR)]
fn copy_memory_indirect(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, CopyMemoryIndirectInfoKHR>) -> Result<()> {
    let size = [info.copy_count, IndirectRegions::MEMORY_BYTES as u32];
    match indirect_regions(call, recorder, info.copy_address_range, size)? {
        Some(regions) => recorder.record(Command::CopyMemoryIndirect(regions)),
        None => Ok(()),
    }
}

#[entry(vkCmdCopyMemoryToImageIndirectKHR)]
fn copy_memory_to_image_indirect(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, CopyMemoryToImageIndirectInfoKHR>,
) -> Result<()> {
    let (object, count) = (recorder.device, info.copy_count);
    let target = need(object, &object.images, vk::Image::from_raw(info.dst_image.as_raw()))?;
    let size = [count, IndirectRegions::IMAGE_BYTES as u32];
    let Some(regions) = indirect_regions(call, recorder, info.copy_address_range, size)? else { return Ok(()) };
    recorder.check(call, "VkCopyMemoryToImageIndirectInfoKHR", |check| {
        check.points("p_image_subresources", info.image_subresources, count)
    })?;
    let layers = |layers: &sys::ImageSubresourceLayers| vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::from_raw(layers.aspect_mask.bits()),
        mip_level: layers.mip_level,
        base_array_layer: layers.base_array_layer,
        layer_count: layers.layer_count,
    };
    let layers = call.slice(info.image_subresources, count).iter().map(layers).collect();
    recorder.record(Command::CopyMemoryToImageIndirect { regions, target, layers })
}

#[entry(vkCmdCopyImageToBuffer)]
fn copy_image_to_buffer(
    recorder: Recorder<'_>,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Buffer,
    #[len] count: u32,
    regions: Array<'_, vk::BufferImageCopy>,
) -> Result<()> {
    record_copy_image_to_buffer(recorder, source, target, regions.get().iter().copied())
}

#[entry(vkCmdCopyImageToBuffer2)]
fn copy_image_to_buffer2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, vk::CopyImageToBufferInfo2<'_>>,
) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(buffer_image_region);
    record_copy_image_to_buffer(recorder, info.src_image, info.dst_buffer, regions)
}

/// Records copies from an image to a buffer.
fn record_copy_image_to_buffer(
    recorder: Recorder<'_>,
    source: vk::Image,
    target: vk::Buffer,
    regions: impl Iterator<Item = vk::BufferImageCopy>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::CopyImageToBuffer {
        source: need(object, &object.images, source)?,
        target: need(object, &object.buffers, target)?,
        regions: regions.collect(),
    })
}

#[entry(vkCmdResolveImage)]
fn resolve_image(
    recorder: Recorder<'_>,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    #[len] count: u32,
    regions: Array<'_, vk::ImageResolve>,
) -> Result<()> {
    record_resolve_image(recorder, [source, target], regions.get().iter().copied(), ResolveModes::default())
}

#[entry(vkCmdResolveImage2)]
fn resolve_image2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::ResolveImageInfo2<'_>>) -> Result<()> {
    let regions = call.slice(info.p_regions, info.region_count).iter().map(resolve_region);
    let mut modes = ResolveModes::default();
    if let Some(info) = call.find::<ResolveImageModeInfoKHR>(info.p_next) {
        recorder.check(call, "VkResolveImageModeInfoKHR", |check| {
            check.bits("resolve_mode", info.resolve_mode.bits().into(), DEPTH_MODES.as_raw().into())?;
            check.bits("stencil_resolve_mode", info.stencil_resolve_mode.bits().into(), STENCIL_MODES.as_raw().into())
        })?;
        modes = ResolveModes {
            depth: vk::ResolveModeFlags::from_raw(info.resolve_mode.bits()),
            stencil: vk::ResolveModeFlags::from_raw(info.stencil_resolve_mode.bits()),
            skips_transfer: info.flags.contains(sys::ResolveImageFlagsKHR::SKIP_TRANSFER_FUNCTION),
        };
    }
    record_resolve_image(recorder, [info.src_image, info.dst_image], regions, modes)
}

/// Resolve modes of stencil.
const STENCIL_MODES: vk::ResolveModeFlags = vk::ResolveModeFlags::from_raw(
    vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
        | vk::ResolveModeFlags::MIN.as_raw()
        | vk::ResolveModeFlags::MAX.as_raw(),
);

/// Resolve modes of depth and colour.
const DEPTH_MODES: vk::ResolveModeFlags =
    vk::ResolveModeFlags::from_raw(STENCIL_MODES.as_raw() | vk::ResolveModeFlags::AVERAGE.as_raw());

/// Records resolves of a multisampled image.
fn record_resolve_image(
    recorder: Recorder<'_>,
    [source, target]: [vk::Image; 2],
    regions: impl Iterator<Item = vk::ImageResolve>,
    modes: ResolveModes,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::ResolveImage {
        source: need(object, &object.images, source)?,
        target: need(object, &object.images, target)?,
        regions: regions.collect(),
        modes,
    })
}

#[entry(vkCmdUpdateBuffer)]
fn update_buffer(
    recorder: Recorder<'_>,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    #[len] size: vk::DeviceSize,
    data: Bytes<'_>,
) -> Result<()> {
    let object = recorder.device;
    let target = need(object, &object.buffers, target)?;
    recorder.record_with(data.get(), |data| Command::UpdateBuffer { target, offset, data })
}

#[entry(vkCmdFillBuffer)]
fn fill_buffer(
    recorder: Recorder<'_>,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    word: u32,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::FillBuffer { target: need(object, &object.buffers, target)?, offset, size, word })
}

#[entry(vkCmdWriteBufferMarkerAMD)]
fn write_buffer_marker(
    recorder: Recorder<'_>,
    _: vk::PipelineStageFlags,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    marker: u32,
) -> Result<()> {
    fill_buffer(recorder, target, offset, 4, marker)
}

#[entry(vkCmdWriteBufferMarker2AMD)]
fn write_buffer_marker2(
    recorder: Recorder<'_>,
    _: vk::PipelineStageFlags2,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    marker: u32,
) -> Result<()> {
    fill_buffer(recorder, target, offset, 4, marker)
}

#[entry(vkCmdClearColorImage)]
fn clear_color_image(
    recorder: Recorder<'_>,
    image: vk::Image,
    _: vk::ImageLayout,
    color: In<'_, vk::ClearColorValue>,
    #[len] count: u32,
    ranges: Array<'_, vk::ImageSubresourceRange>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::ClearColorImage {
        target: need(object, &object.images, image)?,
        value: color_value(&color),
        ranges: ranges.get().into(),
    })
}

#[entry(vkCmdClearDepthStencilImage)]
fn clear_depth_stencil_image(
    recorder: Recorder<'_>,
    image: vk::Image,
    _: vk::ImageLayout,
    value: In<'_, vk::ClearDepthStencilValue>,
    #[len] count: u32,
    ranges: Array<'_, vk::ImageSubresourceRange>,
) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::ClearDepthStencilImage {
        target: need(object, &object.images, image)?,
        value: ClearValue([value.depth.to_bits(), value.stencil, 0, 0]),
        ranges: ranges.get().into(),
    })
}

/// Returns the four 32-bit components of a clear colour of any type.
fn color_value(value: &vk::ClearColorValue) -> ClearValue {
    // SAFETY: each member of the union is an array of four 32-bit numbers.
    ClearValue(unsafe { value.uint32 })
}

/// Returns the four 32-bit components of a clear value. Depth and stencil are the first two.
pub fn clear_value(value: &vk::ClearValue) -> ClearValue {
    // SAFETY: the colour is the largest member of the union, and each member consists of 32-bit
    // numbers.
    color_value(unsafe { &value.color })
}

#[entry(vkCmdClearAttachments)]
fn clear_attachments(
    recorder: Recorder<'_>,
    #[len] count: u32,
    attachments: Array<'_, vk::ClearAttachment>,
    #[len] rect_count: u32,
    rects: Array<'_, vk::ClearRect>,
) -> Result<()> {
    let attachments = attachments.get().iter().map(|clear| AttachmentClear {
        aspects: clear.aspect_mask,
        color: clear.color_attachment,
        value: clear_value(&clear.clear_value),
    });
    let clear = AttachmentsClear { attachments: attachments.collect(), rects: rects.get().into() };
    recorder.record(Command::ClearAttachments(Box::new(clear)))
}
