//! Commands that copy, fill and clear. Source: Vulkan specification, "Copy Commands", "Clear Commands".

use std::ffi::c_void;

use ash::vk;
use vitric_api::Error;
use vitric_gpu::command::{AttachmentsClear, Command};
use vitric_gpu::state::ClearValue;

use crate::command::{plain, record, record_with};
use crate::objects::need;
use crate::raw;

pub extern "system" fn copy_buffer(
    handle: vk::CommandBuffer,
    source: vk::Buffer,
    target: vk::Buffer,
    count: u32,
    regions: *const vk::BufferCopy,
) {
    record(handle, |object| {
        Ok(Command::CopyBuffer {
            source: need(object, &object.buffers, source)?,
            target: need(object, &object.buffers, target)?,
            regions: raw::slice(regions, count).into(),
        })
    });
}

pub extern "system" fn copy_image(
    handle: vk::CommandBuffer,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageCopy,
) {
    record(handle, |object| {
        Ok(Command::CopyImage {
            source: need(object, &object.images, source)?,
            target: need(object, &object.images, target)?,
            regions: raw::slice(regions, count).to_vec(),
        })
    });
}

pub extern "system" fn blit_image(
    handle: vk::CommandBuffer,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageBlit,
    filter: vk::Filter,
) {
    record(handle, |object| {
        Ok(Command::BlitImage {
            source: need(object, &object.images, source)?,
            target: need(object, &object.images, target)?,
            regions: raw::slice(regions, count).to_vec(),
            filter,
        })
    });
}

pub extern "system" fn copy_buffer_to_image(
    handle: vk::CommandBuffer,
    source: vk::Buffer,
    target: vk::Image,
    _: vk::ImageLayout,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    record(handle, |object| {
        Ok(Command::CopyBufferToImage {
            source: need(object, &object.buffers, source)?,
            target: need(object, &object.images, target)?,
            regions: raw::slice(regions, count).to_vec(),
        })
    });
}

pub extern "system" fn copy_image_to_buffer(
    handle: vk::CommandBuffer,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Buffer,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    record(handle, |object| {
        Ok(Command::CopyImageToBuffer {
            source: need(object, &object.images, source)?,
            target: need(object, &object.buffers, target)?,
            regions: raw::slice(regions, count).to_vec(),
        })
    });
}

pub extern "system" fn update_buffer(
    handle: vk::CommandBuffer,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    data: *const c_void,
) {
    record_with(handle, raw::bytes(data, size as usize), |object| {
        let target = need(object, &object.buffers, target)?;
        Ok(move |data| Command::UpdateBuffer { target, offset, data })
    });
}

pub extern "system" fn fill_buffer(
    handle: vk::CommandBuffer,
    target: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    word: u32,
) {
    record(handle, |object| {
        Ok(Command::FillBuffer { target: need(object, &object.buffers, target)?, offset, size, word })
    });
}

pub extern "system" fn clear_color_image(
    handle: vk::CommandBuffer,
    image: vk::Image,
    _: vk::ImageLayout,
    color: *const vk::ClearColorValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    record(handle, |object| {
        let words = raw::input(color.cast::<[u32; 4]>()).ok_or(Error::Unknown)?;
        Ok(Command::ClearColorImage {
            target: need(object, &object.images, image)?,
            value: ClearValue(*words),
            ranges: raw::slice(ranges, count).into(),
        })
    });
}

pub extern "system" fn clear_depth_stencil_image(
    handle: vk::CommandBuffer,
    image: vk::Image,
    _: vk::ImageLayout,
    value: *const vk::ClearDepthStencilValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    record(handle, |object| {
        let value = raw::input(value).ok_or(Error::Unknown)?;
        Ok(Command::ClearDepthStencilImage {
            target: need(object, &object.images, image)?,
            value: ClearValue([value.depth.to_bits(), value.stencil, 0, 0]),
            ranges: raw::slice(ranges, count).into(),
        })
    });
}

/// A clear value's words; depth and stencil are the first two.
pub fn clear_value(value: &vk::ClearValue) -> ClearValue {
    ClearValue(raw::input(std::ptr::from_ref(value).cast::<[u32; 4]>()).copied().unwrap_or_default())
}

pub extern "system" fn clear_attachments(
    handle: vk::CommandBuffer,
    count: u32,
    attachments: *const vk::ClearAttachment,
    rect_count: u32,
    rects: *const vk::ClearRect,
) {
    let attachments = raw::slice(attachments, count).iter();
    let attachments =
        attachments.map(|clear| (clear.aspect_mask, clear.color_attachment, clear_value(&clear.clear_value)));
    let clear = AttachmentsClear { attachments: attachments.collect(), rects: raw::slice(rects, rect_count).into() };
    plain(handle, Command::ClearAttachments(Box::new(clear)));
}

pub extern "system" fn resolve_image(
    handle: vk::CommandBuffer,
    source: vk::Image,
    _: vk::ImageLayout,
    target: vk::Image,
    _: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageResolve,
) {
    record(handle, |object| {
        Ok(Command::ResolveImage {
            source: need(object, &object.images, source)?,
            target: need(object, &object.images, target)?,
            regions: raw::slice(regions, count).to_vec(),
        })
    });
}
