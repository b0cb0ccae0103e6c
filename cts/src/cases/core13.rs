//! What became a part of Vulkan 1.3, by the extensions that brought it: second versions of commands, rendering without pass objects,
//! private data, queries about what is not made yet, programs that end early.

use ash::khr;
use ash::vk::{self, Handle};

use super::subpasses::{Depth, PipelineDesc, pipeline_of, whole};
use crate::Entry;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check, layers, range};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const ZEROED: &[u8] = include_bytes!("../../shaders/zeroed.comp.spv");
const SIZED: &[u8] = include_bytes!("../../shaders/sized.comp.spv");
const LEAVING: &[u8] = include_bytes!("../../shaders/leaving.frag.spv");
const NARROW: &[u8] = include_bytes!("../../shaders/narrow.comp.spv");
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(super) const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add =
        |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(format!("core13.{name}"), section, run));
    add("sync2.submit", "VK_KHR_synchronization2", submit2);
    add("sync2.events", "VK_KHR_synchronization2", events2);
    add("copies2.chain", "VK_KHR_copy_commands2", copies2);
    add("copies2.resolve", "VK_KHR_copy_commands2", resolve2);
    add("rendering.color", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, ONE, false));
    add("rendering.samples", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, FOUR, false));
    add("rendering.suspended", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, FOUR, true));
    add("rendering.stencil_without_depth", "VK_KHR_dynamic_rendering", |gpu| one_aspect(gpu, true));
    add("rendering.depth_without_stencil", "VK_KHR_dynamic_rendering", |gpu| one_aspect(gpu, false));
    add("pipelines.feedback", "VK_EXT_pipeline_creation_feedback", feedback);
    add("pipelines.cache_control", "VK_EXT_pipeline_creation_cache_control", cache_control);
    add("descriptors.inline_block", "VK_EXT_inline_uniform_block", inline_block);
    add("device.texel_alignment", "VK_EXT_texel_buffer_alignment", texel_alignment);
    add("objects.private_data", "VK_EXT_private_data", private_data);
    add("device.requirements", "VK_KHR_maintenance4", requirements);
    add("device.format_features", "VK_KHR_format_feature_flags2", format_features);
    add("device.tools", "VK_EXT_tooling_info", tools);
    add("shaders.local_size_id", "VK_KHR_maintenance4", local_size);
    add("shaders.zeroed_memory", "VK_KHR_zero_initialize_workgroup_memory", zeroed);
    add("shaders.terminate", "VK_KHR_shader_terminate_invocation", |gpu| {
        gpu.need(vk::KHR_SHADER_TERMINATE_INVOCATION_NAME)?;
        leaving(gpu, 1)
    });
    add("shaders.demote", "VK_EXT_shader_demote_to_helper_invocation", |gpu| {
        gpu.need(vk::EXT_SHADER_DEMOTE_TO_HELPER_INVOCATION_NAME)?;
        leaving(gpu, 2)
    });
}

const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// A dependency of everything on everything.
fn dependency(gpu: &Gpu, commands: vk::CommandBuffer) {
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let memory = [vk::MemoryBarrier2::default()
        .src_stage_mask(ALL)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(ALL)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)];
    // SAFETY: the command buffer is recording outside of a pass.
    unsafe { second.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&memory)) };
}

/// Two submissions in one call, the second of which waits for a semaphore of the first; a fence, and a time stamp.
fn submit2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SYNCHRONIZATION2_NAME)?;
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let (buffer, out) = (gpu.buffer(64)?, gpu.buffer(64)?);
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(2);
    let pool = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
    // SAFETY: valid usage: each wait has its signal.
    unsafe {
        let pool = gpu.device.create_query_pool(&pool, None)?;
        let commands = gpu.device.allocate_command_buffers(&info)?;
        for &commands in &commands {
            gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        }
        gpu.device.cmd_fill_buffer(commands[0], buffer.handle, 0, 64, 77);
        dependency(gpu, commands[0]);
        gpu.device.cmd_reset_query_pool(commands[1], pool, 0, 1);
        let copy = [vk::BufferCopy { size: 64, ..Default::default() }];
        gpu.device.cmd_copy_buffer(commands[1], buffer.handle, out.handle, &copy);
        second.cmd_write_timestamp2(commands[1], vk::PipelineStageFlags2::COPY, pool, 0);
        dependency(gpu, commands[1]);
        for &commands in &commands {
            gpu.device.end_command_buffer(commands)?;
        }
        let semaphore = gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?;
        let fence = gpu.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let between = [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(ALL)];
        let lists = [0, 1].map(|number| [vk::CommandBufferSubmitInfo::default().command_buffer(commands[number])]);
        let submits = [
            vk::SubmitInfo2::default().command_buffer_infos(&lists[0]).signal_semaphore_infos(&between),
            vk::SubmitInfo2::default().command_buffer_infos(&lists[1]).wait_semaphore_infos(&between),
        ];
        second.queue_submit2(gpu.queue, &submits, fence)?;
        gpu.device.wait_for_fences(&[fence], true, u64::MAX)?;
        let mut time = [0u64];
        gpu.device.get_query_pool_results(pool, 0, &mut time, vk::QueryResultFlags::TYPE_64)?;
        gpu.device.queue_wait_idle(gpu.queue)?;
    }
    check(out.words() == [77; 16], || format!("{:?}", out.words()))
}

fn events2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SYNCHRONIZATION2_NAME)?;
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let buffer = gpu.buffer(64)?;
    // SAFETY: valid usage.
    unsafe {
        let event = gpu.device.create_event(&vk::EventCreateInfo::default(), None)?;
        gpu.run(|commands| {
            let memory = [vk::MemoryBarrier2::default().src_stage_mask(ALL).dst_stage_mask(ALL)];
            let dependency = vk::DependencyInfo::default().memory_barriers(&memory);
            gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, 64, 5);
            second.cmd_set_event2(commands, event, &dependency);
            second.cmd_wait_events2(commands, &[event], &[dependency]);
            gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, 32, 6);
            gpu.barrier(commands, None);
        })?;
        check(gpu.device.get_event_status(event)?, || "the event is not set".into())?;
        gpu.run(|commands| second.cmd_reset_event2(commands, event, ALL))?;
        check(!gpu.device.get_event_status(event)?, || "the event is still set".into())?;
    }
    check(buffer.words()[7..9] == [6, 5], || format!("{:?}", buffer.words()))
}

fn image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage =
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.image(&ImageDesc { samples, ..ImageDesc::color(RGBA, [SIZE; 2], usage) })
}

const EXTENT: vk::Extent3D = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };

/// Texels go from buffer to buffer, to an image, to another one four columns to the right, mirrored to a third, and back.
fn copies2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_COPY_COMMANDS2_NAME)?;
    let second = khr::copy_commands2::Device::new(&gpu.instance, &gpu.device);
    let words: Vec<u32> = (0..SIZE * SIZE).map(|at| at * 0x0101_0003).collect();
    let (start, staged) = (gpu.buffer_with(&words)?, gpu.buffer(words.len() as u64 * 4)?);
    let out = gpu.buffer(words.len() as u64 * 4)?;
    let images = [image(gpu, ONE)?, image(gpu, ONE)?, image(gpu, ONE)?];
    let [a, b, c] = images.map(|image| image.handle);
    let part = layers(ASPECT);
    let bytes = [vk::BufferCopy2::default().size(staged.size)];
    let texels = [vk::BufferImageCopy2::default().image_subresource(part).image_extent(EXTENT)];
    let moved = [vk::ImageCopy2::default()
        .src_subresource(part)
        .dst_subresource(part)
        .dst_offset(vk::Offset3D { x: 4, y: 0, z: 0 })
        .extent(vk::Extent3D { width: SIZE - 4, ..EXTENT })];
    let corner = |x: i32, y: i32, z: i32| vk::Offset3D { x, y, z };
    let side = SIZE as i32;
    let mirrored = [vk::ImageBlit2::default()
        .src_subresource(part)
        .src_offsets([corner(0, 0, 0), corner(side, side, 1)])
        .dst_subresource(part)
        .dst_offsets([corner(side, 0, 0), corner(0, side, 1)])];
    gpu.run(|commands| {
        for image in &images {
            gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, GENERAL)));
        }
        let (value, all) = (vk::ClearColorValue { uint32: [0; 4] }, [range(ASPECT, 0, 1)]);
        // SAFETY: the command buffer is recording; all copies are inside of what they name.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, b, GENERAL, &value, &all);
            let info = vk::CopyBufferInfo2::default().src_buffer(start.handle).dst_buffer(staged.handle);
            second.cmd_copy_buffer2(commands, &info.regions(&bytes));
            gpu.barrier(commands, None);
            let info = vk::CopyBufferToImageInfo2::default().src_buffer(staged.handle).dst_image(a);
            second.cmd_copy_buffer_to_image2(commands, &info.dst_image_layout(GENERAL).regions(&texels));
            gpu.barrier(commands, None);
            let info = vk::CopyImageInfo2::default().src_image(a).src_image_layout(GENERAL);
            second.cmd_copy_image2(commands, &info.dst_image(b).dst_image_layout(GENERAL).regions(&moved));
            gpu.barrier(commands, None);
            let info = vk::BlitImageInfo2::default().src_image(b).src_image_layout(GENERAL).dst_image(c);
            let info = info.dst_image_layout(GENERAL).filter(vk::Filter::NEAREST);
            second.cmd_blit_image2(commands, &info.regions(&mirrored));
            gpu.barrier(commands, None);
            let info = vk::CopyImageToBufferInfo2::default().src_image(c).src_image_layout(GENERAL);
            second.cmd_copy_image_to_buffer2(commands, &info.dst_buffer(out.handle).regions(&texels));
        }
        gpu.barrier(commands, None);
    })?;
    for (at, found) in (0u32..).zip(out.words()) {
        let (x, y) = (SIZE - 1 - at % SIZE, at / SIZE);
        let expected = if x < 4 { 0 } else { words[(y * SIZE + x - 4) as usize] };
        check(found == expected, || format!("texel {at} is {found:x}, not {expected:x}"))?;
    }
    Ok(())
}

fn resolve2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_COPY_COMMANDS2_NAME)?;
    let second = khr::copy_commands2::Device::new(&gpu.instance, &gpu.device);
    let (from, to) = (image(gpu, FOUR)?, image(gpu, ONE)?);
    let regions =
        [vk::ImageResolve2::default().src_subresource(layers(ASPECT)).dst_subresource(layers(ASPECT)).extent(EXTENT)];
    gpu.run(|commands| {
        for image in [&from, &to] {
            gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, GENERAL)));
        }
        let (value, all) = (vk::ClearColorValue { float32: [0.2, 0.4, 0.6, 1.0] }, [range(ASPECT, 0, 1)]);
        // SAFETY: the command buffer is recording.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, from.handle, GENERAL, &value, &all);
            gpu.barrier(commands, None);
            let info = vk::ResolveImageInfo2::default().src_image(from.handle).src_image_layout(GENERAL);
            let info = info.dst_image(to.handle).dst_image_layout(GENERAL);
            second.cmd_resolve_image2(commands, &info.regions(&regions));
        }
        gpu.barrier(commands, Some((&to, GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
    })?;
    let bytes = gpu.read_image(&to, ASPECT, 4)?;
    check(bytes.chunks(4).all(|texel| texel == [51, 102, 153, 255]), || format!("{:?}", &bytes[..4]))
}

fn depth_image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let aspects = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    gpu.image(&ImageDesc { format, size: [SIZE; 2], levels: 1, samples, usage, aspects })
}

pub(super) fn attachment(
    image: &Image,
    load: vk::AttachmentLoadOp,
    clear_value: vk::ClearValue,
) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(GENERAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear_value)
}

pub(super) const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;

pub(super) fn clear_depth(depth: f32, stencil: u32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } }
}

pub(super) fn clear_color(float32: [f32; 4]) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32 } }
}

/// A pipeline for rendering without pass objects.
fn pipeline(
    gpu: &Gpu,
    layout: vk::PipelineLayout,
    samples: vk::SampleCountFlags,
    depth: Depth,
) -> Result<vk::Pipeline, Outcome> {
    pipeline_of(gpu, &PipelineDesc { samples, depth, ..PipelineDesc::plain(layout) })
}

pub(super) fn fill(
    gpu: &Gpu,
    (commands, pipeline, layout): (vk::CommandBuffer, vk::Pipeline, vk::PipelineLayout),
    rect: [f32; 4],
    color: [f32; 4],
    depth: f32,
) {
    let push: Vec<f32> = [rect, color, [depth, 1.0, 0.0, 0.0]].concat();
    let bytes: &[u8] = bytemuck::cast_slice(&push);
    // SAFETY: the command buffer is recording in an instance that the pipeline is made for.
    unsafe {
        gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
        gpu.device.cmd_draw(commands, 6, 1, 0, 0);
    }
}

/// Colour and depth are cleared and drawn to, and resolved; in one instance, or in two parts of one.
fn rendering(gpu: &Gpu, samples: vk::SampleCountFlags, suspended: bool) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (color, depth) = (image(gpu, samples)?, depth_image(gpu, samples)?);
    let (resolved, resolved_depth) = (image(gpu, ONE)?, depth_image(gpu, ONE)?);
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline(gpu, layout, samples, Depth::Less)?;
    let mut colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 1.0, 1.0]))];
    let mut depths = attachment(&depth, CLEAR, clear_depth(0.6, 0));
    if samples != ONE {
        let mode = vk::ResolveModeFlags::AVERAGE;
        colors =
            colors.map(|info| info.resolve_mode(mode).resolve_image_view(resolved.view).resolve_image_layout(GENERAL));
        let mode = vk::ResolveModeFlags::MIN;
        depths = depths.resolve_mode(mode).resolve_image_view(resolved_depth.view).resolve_image_layout(GENERAL);
    }
    let info = vk::RenderingInfo::default()
        .render_area(whole())
        .layer_count(1)
        .color_attachments(&colors)
        .depth_attachment(&depths)
        .stencil_attachment(&depths);
    let (result, result_depth) = if samples == ONE { (color, depth) } else { (resolved, resolved_depth) };
    gpu.run(|commands| {
        for image in [&color, &depth, &resolved, &resolved_depth] {
            gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, GENERAL)));
        }
        let draws = (commands, pipeline, layout);
        // SAFETY: the command buffer is recording.
        unsafe {
            let first = if suspended { vk::RenderingFlags::SUSPENDING } else { vk::RenderingFlags::empty() };
            second.cmd_begin_rendering(commands, &info.flags(first));
            fill(gpu, draws, [-1.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], 0.3);
            if suspended {
                second.cmd_end_rendering(commands);
                second.cmd_begin_rendering(commands, &info.flags(vk::RenderingFlags::RESUMING));
            }
            // In front of what was cleared, behind what was drawn.
            fill(gpu, draws, [-1.0, -1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], 0.5);
            // Behind both.
            fill(gpu, draws, FULL, [1.0; 4], 0.7);
            second.cmd_end_rendering(commands);
        }
        for image in [&result, &result_depth] {
            gpu.barrier(commands, Some((image, GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
        }
    })?;
    let bytes = gpu.read_image(&result, ASPECT, 4)?;
    let depths = gpu.read_image(&result_depth, vk::ImageAspectFlags::DEPTH, 4)?;
    for (at, (texel, depth)) in (0u32..).zip(bytes.chunks(4).zip(depths.chunks(4))) {
        let (expected, wanted) = match (at % SIZE < 8, at / SIZE < 8) {
            (true, _) => ([255, 0, 0, 255], 0.3),
            (false, true) => ([0, 255, 0, 255], 0.5),
            (false, false) => ([0, 0, 255, 255], 0.6f32),
        };
        let depth = f32::from_le_bytes([depth[0], depth[1], depth[2], depth[3]]);
        let good = texel == expected && (depth - wanted).abs() < 1e-6;
        check(good, || format!("pixel {at} is {texel:?} at {depth}, not {expected:?} at {wanted}"))?;
    }
    Ok(())
}

/// Only one aspect of an image is attached: the other's test passes, and it stays as it is, cleared or drawn.
fn one_aspect(gpu: &Gpu, stencil: bool) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (color, depth) = (image(gpu, FOUR)?, depth_image(gpu, FOUR)?);
    let (resolved, resolved_depth) = (image(gpu, ONE)?, depth_image(gpu, ONE)?);
    let layout = gpu.layout(&[])?;
    // Depth and stencil are written, each where it is attached.
    let only = if stencil { vk::ImageAspectFlags::STENCIL } else { vk::ImageAspectFlags::DEPTH };
    let pipelines = [0, 1, 2, 3].map(|sample| pipeline(gpu, layout, FOUR, Depth::OfSample(sample, only)));
    let pipelines = pipelines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 1.0, 1.0]))
        .resolve_mode(vk::ResolveModeFlags::AVERAGE)
        .resolve_image_view(resolved.view)
        .resolve_image_layout(GENERAL)];
    let one = attachment(&depth, CLEAR, clear_depth(0.25, 9));
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    let info = if stencil { info.stencil_attachment(&one) } else { info.depth_attachment(&one) };
    let both = attachment(&depth, vk::AttachmentLoadOp::LOAD, clear_depth(0.0, 0))
        .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
        .resolve_image_view(resolved_depth.view)
        .resolve_image_layout(GENERAL);
    let last = vk::RenderingInfo::default().render_area(whole()).layer_count(1);
    let last = last.depth_attachment(&both).stencil_attachment(&both);
    let aspects = depth.aspects;
    let clear = vk::ClearAttachment { aspect_mask: aspects, color_attachment: 0, clear_value: clear_depth(0.125, 3) };
    let top = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: 4 }, ..Default::default() };
    let top = vk::ClearRect { rect: top, base_array_layer: 0, layer_count: 1 };
    gpu.run(|commands| {
        for image in [&color, &depth, &resolved, &resolved_depth] {
            gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, GENERAL)));
        }
        // SAFETY: the command buffer is recording.
        unsafe {
            let (value, all) = (vk::ClearDepthStencilValue { depth: 0.75, stencil: 200 }, [range(aspects, 0, 1)]);
            gpu.device.cmd_clear_depth_stencil_image(commands, depth.handle, GENERAL, &value, &all);
            gpu.barrier(commands, None);
            second.cmd_begin_rendering(commands, &info);
            gpu.device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 77);
            for &pipeline in &pipelines {
                fill(gpu, (commands, pipeline, layout), [-1.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], 0.5);
            }
            gpu.device.cmd_clear_attachments(commands, &[vk::ClearAttachment { aspect_mask: only, ..clear }], &[top]);
            second.cmd_end_rendering(commands);
            gpu.barrier(commands, None);
            second.cmd_begin_rendering(commands, &last);
            second.cmd_end_rendering(commands);
        }
        for image in [&resolved, &resolved_depth] {
            gpu.barrier(commands, Some((image, GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
        }
    })?;
    let bytes = gpu.read_image(&resolved, ASPECT, 4)?;
    let depths = gpu.read_image(&resolved_depth, vk::ImageAspectFlags::DEPTH, 4)?;
    let stencils = gpu.read_image(&resolved_depth, vk::ImageAspectFlags::STENCIL, 1)?;
    for (at, texel) in (0u32..).zip(bytes.chunks(4)) {
        let (left, above) = (at % SIZE < 8, at / SIZE < 4);
        let color = if left { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
        let pick = |cleared, drawn, begun| {
            if above {
                cleared
            } else if left {
                drawn
            } else {
                begun
            }
        };
        let (depth, mark) = if stencil { (0.75, pick(3, 77, 9)) } else { (f32::from(pick(1u8, 4, 2)) * 0.125, 200) };
        let place = at as usize * 4;
        let found = f32::from_le_bytes([depths[place], depths[place + 1], depths[place + 2], depths[place + 3]]);
        let good = texel == color && found == depth && stencils[at as usize] == mark;
        check(good, || {
            format!("pixel {at}: {texel:?}, {found}, {}; not {color:?}, {depth}, {mark}", stencils[at as usize])
        })?;
    }
    Ok(())
}

fn private_data(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PRIVATE_DATA_NAME)?;
    let commands = ash::ext::private_data::Device::new(&gpu.instance, &gpu.device);
    let (device, commands) = (gpu.device.handle(), commands.fp());
    let info = vk::PrivateDataSlotCreateInfo::default();
    let usage = vk::BufferUsageFlags::TRANSFER_SRC;
    // SAFETY: valid usage.
    unsafe {
        let slot = || {
            let mut slot = vk::PrivateDataSlot::null();
            let made =
                (commands.create_private_data_slot_ext)(device, &raw const info, std::ptr::null(), &raw mut slot);
            made.result().map(|()| slot)
        };
        let get = |kind, object, slot| {
            let mut value = u64::MAX;
            (commands.get_private_data_ext)(device, kind, object, slot, &raw mut value);
            value
        };
        let set =
            |kind, object, slot, value| (commands.set_private_data_ext)(device, kind, object, slot, value).result();
        let (first, other) = (slot()?, slot()?);
        let buffer = gpu.device.create_buffer(&vk::BufferCreateInfo::default().size(64).usage(usage), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
        let list = gpu.device.allocate_command_buffers(&info)?[0];
        for (kind, object) in [
            (vk::ObjectType::BUFFER, buffer.as_raw()),
            (vk::ObjectType::COMMAND_BUFFER, list.as_raw()),
            (vk::ObjectType::DEVICE, device.as_raw()),
        ] {
            check(get(kind, object, first) == 0, || format!("{kind:?} begins with data"))?;
            set(kind, object, first, 1 << 50)?;
            set(kind, object, other, 7)?;
            let found = (get(kind, object, first), get(kind, object, other));
            check(found == (1 << 50, 7), || format!("{kind:?} has {found:?}"))?;
        }
        (commands.destroy_private_data_slot_ext)(device, other, std::ptr::null());
        let again = slot()?;
        check(get(vk::ObjectType::BUFFER, buffer.as_raw(), again) == 0, || "a new slot has old data".into())?;
        gpu.device.free_command_buffers(gpu.pool, &[list]);
        let lists: Vec<_> = (0..8).map(|_| gpu.device.allocate_command_buffers(&info)).collect();
        for list in lists {
            let found = get(vk::ObjectType::COMMAND_BUFFER, list?[0].as_raw(), first);
            check(found == 0, || "a new command buffer has data of an old one".into())?;
        }
    }
    Ok(())
}

/// What is asked about without being made has the requirements that it has when it is.
fn requirements(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE4_NAME)?;
    let second = khr::maintenance4::Device::new(&gpu.instance, &gpu.device);
    let buffer = vk::BufferCreateInfo::default().size(1234).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    let image = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(RGBA)
        .extent(vk::Extent3D { width: 37, height: 21, depth: 1 })
        .mip_levels(3)
        .array_layers(2)
        .samples(ONE)
        .usage(vk::ImageUsageFlags::SAMPLED);
    let same = |a: vk::MemoryRequirements, b: vk::MemoryRequirements| {
        (a.size, a.alignment, a.memory_type_bits) == (b.size, b.alignment, b.memory_type_bits)
    };
    // SAFETY: valid infos.
    unsafe {
        let made = gpu.device.get_buffer_memory_requirements(gpu.device.create_buffer(&buffer, None)?);
        let mut asked = vk::MemoryRequirements2::default();
        let info = vk::DeviceBufferMemoryRequirements::default().create_info(&buffer);
        second.get_device_buffer_memory_requirements(&info, &mut asked);
        check(same(made, asked.memory_requirements), || format!("{made:?}, {asked:?}"))?;
        let made = gpu.device.get_image_memory_requirements(gpu.device.create_image(&image, None)?);
        let info = vk::DeviceImageMemoryRequirements::default().create_info(&image);
        second.get_device_image_memory_requirements(&info, &mut asked);
        check(same(made, asked.memory_requirements), || format!("{made:?}, {asked:?}"))?;
        let count = second.get_device_image_sparse_memory_requirements_len(&info);
        check(count == 0, || format!("{count} sparse requirements"))?;
        let mut own = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
        let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
        query.get_physical_device_properties2(gpu.physical, &mut all);
        check(own.max_buffer_size >= 1 << 30, || format!("{own:?}"))
    }
}

/// The wide flags say what the narrow ones do, for every format of 1.0.
fn format_features(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_FORMAT_FEATURE_FLAGS2_NAME)?;
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    for format in (1..=184).map(vk::Format::from_raw) {
        let mut wide = vk::FormatProperties3::default();
        let mut all = vk::FormatProperties2::default().push_next(&mut wide);
        // SAFETY: the chain is valid.
        unsafe { query.get_physical_device_format_properties2(gpu.physical, format, &mut all) };
        let narrow = all.format_properties;
        let pairs = [
            (narrow.linear_tiling_features, wide.linear_tiling_features),
            (narrow.optimal_tiling_features, wide.optimal_tiling_features),
            (narrow.buffer_features, wide.buffer_features),
        ];
        for (narrow, wide) in pairs {
            let same = u64::from(narrow.as_raw()) == wide.as_raw() & 0x7fff_ffff;
            check(same, || format!("{format:?}: {narrow:?} and {wide:?}"))?;
            let without = vk::FormatFeatureFlags2::STORAGE_READ_WITHOUT_FORMAT;
            let stores = narrow.contains(vk::FormatFeatureFlags::STORAGE_IMAGE);
            let promised = gpu.features.shader_storage_image_read_without_format == vk::TRUE;
            check(!(stores && promised) || wide.contains(without), || format!("{format:?}: {wide:?}"))?;
        }
    }
    Ok(())
}

fn tools(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_TOOLING_INFO_NAME)?;
    let query = ash::ext::tooling_info::Instance::new(&gpu.entry, &gpu.instance);
    let mut count = u32::MAX;
    // SAFETY: the count is asked for.
    let code = unsafe {
        (query.fp().get_physical_device_tool_properties_ext)(gpu.physical, &raw mut count, std::ptr::null_mut())
    };
    check(code == vk::Result::SUCCESS && count < 16, || format!("{code:?}, {count} tools"))
}

/// Invocations of 5 by 2, of which a specialization constant says the 5.
fn local_size(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE4_NAME)?;
    let out = gpu.buffer_with(&[u32::MAX; 32])?;
    gpu.compute(SIZED, 5, &[], &[out], [2, 1, 1])?;
    let one = |at: u32| if at < 10 { at % 5 + 100 * (at / 5) } else { u32::MAX };
    let expected: Vec<u32> = (0..32).map(|at| one(at % 16)).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

fn zeroed(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_NAME)?;
    let groups = 64;
    let out = gpu.buffer(u64::from(groups * 64 * 4))?;
    gpu.compute(ZEROED, 0, &[], &[out], [groups, 1, 1])?;
    let wrong = out.words().into_iter().zip(0u32..).find(|(found, at)| *found != at % 64 + 1);
    check(wrong.is_none(), || format!("{wrong:?}"))
}

/// A checkerboard of fragments that end (1) or are demoted to helpers (2).
fn leaving(gpu: &Gpu, how: u32) -> Case {
    let mut draw = Draw::rect(State { fragment: LEAVING, ..State::default() }, FULL, [0.0; 4]);
    draw.show = how as f32;
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    for (at, pixel) in (0u32..).zip(pixels) {
        let (x, y) = (at % SIZE, at / SIZE);
        // The derivative of x squared in the pair of columns.
        let step = if how == 2 { 2 * (x & !1) + 1 } else { 3 };
        let expected = if (x + y) % 2 == 1 { [255; 4] } else { [step as u8, 0, 0, 255] };
        check(pixel == expected, || format!("({x}, {y}) is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// What a pipeline's making says, without a cache, and with one that has its program.
fn feedback(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_CREATION_FEEDBACK_NAME)?;
    // SAFETY: the info is valid.
    let cache = unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    for (number, cache) in [vk::PipelineCache::null(), cache, cache].into_iter().enumerate() {
        let marked =
            vk::PipelineCreationFeedback { flags: vk::PipelineCreationFeedbackFlags::from_raw(64), duration: 9 };
        let (mut whole, mut stage) = (marked, [marked]);
        let mut asked = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut whole)
            .pipeline_stage_creation_feedbacks(&mut stage);
        zeroed_pipeline(gpu, cache, vk::PipelineCreateFlags::empty(), Some(&mut asked))??;
        let known = vk::PipelineCreationFeedbackFlags::VALID
            | vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT
            | vk::PipelineCreationFeedbackFlags::BASE_PIPELINE_ACCELERATION;
        check(known.contains(whole.flags) && known.contains(stage[0].flags), || format!("{whole:?}, {stage:?}"))?;
        let hit = whole.flags.contains(vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT);
        check(!hit || number == 2, || format!("pipeline {number} was found in a cache"))?;
    }
    Ok(())
}

/// A pipeline of a compute shader; the code when there is none.
fn zeroed_pipeline(
    gpu: &Gpu,
    cache: vk::PipelineCache,
    flags: vk::PipelineCreateFlags,
    asked: Option<&mut vk::PipelineCreationFeedbackCreateInfo<'_>>,
) -> Result<Result<vk::Pipeline, vk::Result>, Outcome> {
    let (set_layout, _) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER])?;
    let stage = vk::PipelineShaderStageCreateInfo::default();
    let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).module(gpu.module(ZEROED)?).name(c"main");
    let mut info =
        vk::ComputePipelineCreateInfo::default().stage(stage).layout(gpu.layout(&[set_layout])?).flags(flags);
    if let Some(asked) = asked {
        info.p_next = std::ptr::from_mut(asked).cast();
    }
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(cache, &[info], None) };
    Ok(made.map(|made| made[0]).map_err(|(_, code)| code))
}

/// A pipeline that must not be compiled is there when its program is in a cache, and else says so.
fn cache_control(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_CREATION_CACHE_CONTROL_NAME)?;
    // What is said of a pipeline that was not made is not valid.
    let marked = vk::PipelineCreationFeedback { flags: vk::PipelineCreationFeedbackFlags::from_raw(!0), duration: 9 };
    let (mut whole, mut stage) = (marked, [marked]);
    let mut asked = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut whole)
        .pipeline_stage_creation_feedbacks(&mut stage);
    let (fail, any) = (vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED, vk::PipelineCreateFlags::empty());
    // SAFETY: the info is valid.
    let cache = unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    match zeroed_pipeline(gpu, cache, fail, Some(&mut asked))? {
        Err(vk::Result::PIPELINE_COMPILE_REQUIRED) => {
            let valid = vk::PipelineCreationFeedbackFlags::VALID;
            let all = [whole, stage[0]];
            check(!all.iter().any(|told| told.flags.contains(valid)), || format!("of no pipeline: {all:?}"))?;
        }
        Ok(_) => {}
        Err(code) => return Err(code.into()),
    }
    zeroed_pipeline(gpu, cache, any, None)??;
    match zeroed_pipeline(gpu, cache, fail, None)? {
        Ok(pipeline) => check(!pipeline.is_null(), || "there is no pipeline, and no error".into()),
        Err(vk::Result::PIPELINE_COMPILE_REQUIRED) => Ok(()),
        Err(code) => Err(code.into()),
    }
}

/// A uniform block in the set itself: written in two pieces, one of them by a template, and copied to another set.
fn inline_block(gpu: &Gpu) -> Case {
    use vk::DescriptorType as D;
    gpu.need(vk::EXT_INLINE_UNIFORM_BLOCK_NAME)?;
    gpu.need(vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME)?;
    let narrow = &gpu.more;
    if narrow.storage8.uniform_and_storage_buffer8_bit_access == vk::FALSE
        || narrow.float16_int8.shader_int8 == vk::FALSE
    {
        return Err(Outcome::NotSupported("small numbers in uniform blocks".into()));
    }
    let kinds = [(D::STORAGE_BUFFER, 1), (D::STORAGE_BUFFER, 1), (D::INLINE_UNIFORM_BLOCK, 16)];
    let bindings = [0, 1, 2].map(|number: usize| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kinds[number].0)
            .descriptor_count(kinds[number].1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let sizes = kinds.map(|(ty, count)| vk::DescriptorPoolSize { ty, descriptor_count: count * 2 });
    let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(2);
    let (input, out) = (gpu.buffer(256)?, gpu.buffer(256)?);
    let info = |buffer: crate::harness::Buffer| {
        [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }]
    };
    let (input, result) = (info(input), info(out));
    // The block of `narrow.comp`: bytes, halves and shorts.
    let [u16_low, u16_high] = 40_000u16.to_le_bytes();
    let [low, high] = half::f16::from_f32(5.0).to_le_bytes();
    let (first, rest) = ([200, 0, u16_low, u16_high], [99, 99, 99, 99, low, high, 7, 0]);
    // SAFETY: valid infos; the data are as the entry says.
    unsafe {
        let layout_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = gpu.device.create_descriptor_set_layout(&layout_info, None)?;
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes).push_next(&mut blocks);
        let pool = gpu.device.create_descriptor_pool(&info, None)?;
        let layouts = [set_layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = gpu.device.allocate_descriptor_sets(&info)?;
        let mut bytes = vk::WriteDescriptorSetInlineUniformBlock::default().data(&first);
        let write = vk::WriteDescriptorSet::default().dst_set(sets[0]).dst_binding(2);
        let mut write = write.descriptor_type(D::INLINE_UNIFORM_BLOCK).push_next(&mut bytes);
        write.descriptor_count = 4;
        gpu.device.update_descriptor_sets(&[write], &[]);
        let entries = [vk::DescriptorUpdateTemplateEntry {
            dst_binding: 2,
            dst_array_element: 4,
            descriptor_count: 4,
            descriptor_type: D::INLINE_UNIFORM_BLOCK,
            offset: 4,
            stride: 0,
        }];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(set_layout);
        let second = khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
        let (device, mut template) = (gpu.device.handle(), vk::DescriptorUpdateTemplate::null());
        (second.fp().create_descriptor_update_template_khr)(
            device,
            &raw const info,
            std::ptr::null(),
            &raw mut template,
        )
        .result()?;
        (second.fp().update_descriptor_set_with_template_khr)(device, sets[0], template, rest.as_ptr().cast());
        let write = vk::WriteDescriptorSet::default().dst_set(sets[1]).descriptor_type(D::STORAGE_BUFFER);
        let writes = [write.buffer_info(&input), write.dst_binding(1).buffer_info(&result)];
        let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).src_binding(2).dst_set(sets[1]).dst_binding(2);
        gpu.device.update_descriptor_sets(&writes, &[]);
        gpu.device.update_descriptor_sets(&[], &[copy.descriptor_count(16)]);
        let layout = gpu.layout(&[set_layout])?;
        let constant = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let part = 3u32.to_le_bytes();
        let special = vk::SpecializationInfo::default().map_entries(&constant).data(&part);
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
        let stage = stage.module(gpu.module(NARROW)?).name(c"main").specialization_info(&special);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made = gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        let pipeline = made.map_err(|(_, code)| code)?[0];
        gpu.run(|commands| {
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, layout, 0, &[sets[1]], &[]);
            gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, &[0; 8]);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    let expected = 200u32 + 40_000 * 256 + 7 * 16_777_216 + 5;
    check(out.words() == [expected; 64], || format!("{:?}, not {expected}", &out.words()[..4]))
}

/// Alignments are powers of two, and no larger than 256.
fn texel_alignment(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_TEXEL_BUFFER_ALIGNMENT_NAME)?;
    let mut own = vk::PhysicalDeviceTexelBufferAlignmentProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the chain is valid.
    unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
    let both = [own.storage_texel_buffer_offset_alignment_bytes, own.uniform_texel_buffer_offset_alignment_bytes];
    check(both.iter().all(|bytes| bytes.is_power_of_two() && *bytes <= 256), || format!("{own:?}"))
}
