//! Second versions of commands, which take structures instead of parameters: transfers and synchronisation.
//!
//! Each says what the first version says. Source: `VK_KHR_copy_commands2`, `VK_KHR_synchronization2`.

use ash::vk;

use crate::{command, raw, transfer, transition};

/// Records the first version of a command with the regions of a structure of the second, each made a region of the first.
fn with_regions<I, S, R>(
    info: *const I,
    regions: impl Fn(&I) -> (*const S, u32),
    first: impl Fn(&S) -> R,
    record: impl Fn(&I, u32, *const R),
) {
    raw::guard_void(|| {
        let Some(info) = raw::input(info) else { return };
        let (pointer, count) = regions(info);
        let regions: Vec<R> = raw::slice(pointer, count).iter().map(first).collect();
        record(info, regions.len() as u32, regions.as_ptr());
    });
}

pub extern "system" fn copy_buffer(handle: vk::CommandBuffer, info: *const vk::CopyBufferInfo2<'_>) {
    let first = |region: &vk::BufferCopy2<'_>| vk::BufferCopy {
        src_offset: region.src_offset,
        dst_offset: region.dst_offset,
        size: region.size,
    };
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        first,
        |info, count, regions| {
            transfer::copy_buffer(handle, info.src_buffer, info.dst_buffer, count, regions);
        },
    );
}

pub extern "system" fn copy_image(handle: vk::CommandBuffer, info: *const vk::CopyImageInfo2<'_>) {
    let first = |region: &vk::ImageCopy2<'_>| vk::ImageCopy {
        src_subresource: region.src_subresource,
        src_offset: region.src_offset,
        dst_subresource: region.dst_subresource,
        dst_offset: region.dst_offset,
        extent: region.extent,
    };
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        first,
        |info, count, regions| {
            let (from, to) = (info.src_image_layout, info.dst_image_layout);
            transfer::copy_image(handle, info.src_image, from, info.dst_image, to, count, regions);
        },
    );
}

pub extern "system" fn blit_image(handle: vk::CommandBuffer, info: *const vk::BlitImageInfo2<'_>) {
    let first = |region: &vk::ImageBlit2<'_>| vk::ImageBlit {
        src_subresource: region.src_subresource,
        src_offsets: region.src_offsets,
        dst_subresource: region.dst_subresource,
        dst_offsets: region.dst_offsets,
    };
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        first,
        |info, count, regions| {
            let (from, to) = (info.src_image_layout, info.dst_image_layout);
            transfer::blit_image(handle, info.src_image, from, info.dst_image, to, count, regions, info.filter);
        },
    );
}

pub extern "system" fn resolve_image(handle: vk::CommandBuffer, info: *const vk::ResolveImageInfo2<'_>) {
    let first = |region: &vk::ImageResolve2<'_>| vk::ImageResolve {
        src_subresource: region.src_subresource,
        src_offset: region.src_offset,
        dst_subresource: region.dst_subresource,
        dst_offset: region.dst_offset,
        extent: region.extent,
    };
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        first,
        |info, count, regions| {
            let (from, to) = (info.src_image_layout, info.dst_image_layout);
            transfer::resolve_image(handle, info.src_image, from, info.dst_image, to, count, regions);
        },
    );
}

fn buffer_image(region: &vk::BufferImageCopy2<'_>) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: region.buffer_offset,
        buffer_row_length: region.buffer_row_length,
        buffer_image_height: region.buffer_image_height,
        image_subresource: region.image_subresource,
        image_offset: region.image_offset,
        image_extent: region.image_extent,
    }
}

pub extern "system" fn copy_buffer_to_image(handle: vk::CommandBuffer, info: *const vk::CopyBufferToImageInfo2<'_>) {
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        buffer_image,
        |info, count, regions| {
            let to = info.dst_image_layout;
            transfer::copy_buffer_to_image(handle, info.src_buffer, info.dst_image, to, count, regions);
        },
    );
}

pub extern "system" fn copy_image_to_buffer(handle: vk::CommandBuffer, info: *const vk::CopyImageToBufferInfo2<'_>) {
    with_regions(
        info,
        |info| (info.p_regions, info.region_count),
        buffer_image,
        |info, count, regions| {
            let from = info.src_image_layout;
            transfer::copy_image_to_buffer(handle, info.src_image, from, info.dst_buffer, count, regions);
        },
    );
}

// Dependencies are between everything before and everything after: what they name adds nothing.

const NO_STAGE: vk::PipelineStageFlags = vk::PipelineStageFlags::empty();

pub extern "system" fn set_event(handle: vk::CommandBuffer, event: vk::Event, _: *const vk::DependencyInfo<'_>) {
    command::set_event(handle, event, NO_STAGE);
}

pub extern "system" fn reset_event(handle: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags2) {
    command::reset_event(handle, event, NO_STAGE);
}

pub extern "system" fn wait_events(
    handle: vk::CommandBuffer,
    count: u32,
    events: *const vk::Event,
    infos: *const vk::DependencyInfo<'_>,
) {
    command::wait_for(handle, raw::slice(events, count));
    raw::slice(infos, count).iter().for_each(|info| hint(handle, info));
}

pub extern "system" fn pipeline_barrier(handle: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
    command::barrier(handle);
    raw::input(info).into_iter().for_each(|info| hint(handle, info));
}

fn hint(handle: vk::CommandBuffer, info: &vk::DependencyInfo<'_>) {
    transition::record(handle, raw::slice(info.p_image_memory_barriers, info.image_memory_barrier_count));
}

pub extern "system" fn write_timestamp(
    handle: vk::CommandBuffer,
    _: vk::PipelineStageFlags2,
    pool: vk::QueryPool,
    query: u32,
) {
    command::write_timestamp(handle, NO_STAGE, pool, query);
}
