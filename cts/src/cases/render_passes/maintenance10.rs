//! Resolves with and without the transfer function of sRGB, and of depth between images. Source:
//! `VK_KHR_maintenance10`.

use ash::vk::ResolveModeFlags as Mode;
use ash::{khr, vk};
use vitric_vulkan::names::KHR_MAINTENANCE10_NAME;
use vitric_vulkan::{Newer, PhysicalDeviceMaintenance10PropertiesKHR, sys};

use super::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::GENERAL;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, layers, range};
use crate::render::SIZE;

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const SRGB: vk::Format = vk::Format::R8G8B8A8_SRGB;
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const BOTH: vk::ImageAspectFlags =
    vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());

/// The left eight columns, and two samples of each pixel of the ninth.
const PART: [f32; 4] = [-1.0, -1.0, 0.0625, 1.0];

/// Averages of black and white in a byte: of the encoded values, and of the linear values.
const AVERAGES: [u8; 2] = [128, 188];

/// Control of the transfer function by a resolve.
#[derive(Clone, Copy, PartialEq)]
enum Transfer {
    Default,
    Skip,
    Enable,
}

/// Returns the properties of the extension.
fn properties(gpu: &Gpu) -> Result<PhysicalDeviceMaintenance10PropertiesKHR, Outcome> {
    gpu.need(KHR_MAINTENANCE10_NAME)?;
    let mut properties = PhysicalDeviceMaintenance10PropertiesKHR::default();
    gpu.properties2(&mut properties);
    Ok(properties)
}

/// Returns the average that a resolve must compute, if the device supports the control.
fn expected(gpu: &Gpu, transfer: Transfer) -> Result<u8, Outcome> {
    let properties = properties(gpu)?;
    if transfer != Transfer::Default && properties.resolve_srgb_format_supports_transfer_function_control == 0 {
        return Err(Outcome::NotSupported("resolveSrgbFormatSupportsTransferFunctionControl".into()));
    }
    Ok(AVERAGES[match transfer {
        Transfer::Default => usize::from(properties.resolve_srgb_format_applies_transfer_function != 0),
        Transfer::Skip => 0,
        Transfer::Enable => 1,
    }])
}

fn image(gpu: &Gpu, samples: vk::SampleCountFlags, aspects: vk::ImageAspectFlags) -> Result<Image, Outcome> {
    let (format, usage) = match aspects {
        COLOR => (SRGB, vk::ImageUsageFlags::COLOR_ATTACHMENT),
        _ => (vk::Format::D32_SFLOAT_S8_UINT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
    };
    let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.image(&ImageDesc { samples, aspects, ..ImageDesc::color(format, [SIZE; 2], usage) })
}

/// Draws white, or a depth of 0.25, to [`PART`] in a pass that ends with `vkCmdEndRendering2KHR`.
fn draw(gpu: &Gpu, info: &vk::RenderingInfo<'_>, images: [&Image; 2], after: impl FnOnce(vk::CommandBuffer)) -> Case {
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let end = gpu.command::<sys::PFN_vkCmdEndRendering2KHR>(c"vkCmdEndRendering2KHR")?;
    let layout = gpu.layout(&[])?;
    let is_color = info.color_attachment_count > 0;
    let desc = PipelineDesc { samples: FOUR, format: SRGB, ..PipelineDesc::plain(layout) };
    let desc = if is_color { desc } else { PipelineDesc { masks: &[], depth: Depth::Less, ..desc } };
    let pipeline = pipeline_of(gpu, &desc)?;
    gpu.run(|commands| {
        for image in images {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        // SAFETY: the command buffer is recording.
        unsafe { second.cmd_begin_rendering(commands, info) };
        Fills { commands, pipeline, layout }.fill(gpu, PART, [1.0; 4], [0.25, 1.0, 0.0]);
        let ending = Newer(sys::RenderingEndInfoKHR::default());
        // SAFETY: the command buffer is recording in a pass.
        unsafe { end(commands, &raw const ending) };
        gpu.barrier(commands, None);
        after(commands);
        let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.barrier(commands, Some(Transition { image: images[1], from: GENERAL, to }));
    })
}

/// Checks the pixels of a resolved image.
fn check_average(gpu: &Gpu, resolved: &Image, average: u8) -> Case {
    let bytes = gpu.read_image(resolved, COLOR, 4)?;
    for (at, texel) in (0u32..).zip(bytes.chunks(4)) {
        let wanted = match at % SIZE {
            0..=7 => 255,
            8 => average,
            _ => 0,
        };
        let good = texel[..3].iter().all(|byte| byte.abs_diff(wanted) <= 1);
        check(good, || format!("pixel {at} is {texel:?}, not {wanted}"))?;
    }
    Ok(())
}

case!("maintenance.ten.pass_default", "VK_KHR_maintenance10", |gpu| in_pass(gpu, Transfer::Default));
case!("maintenance.ten.pass_skip", "VK_KHR_maintenance10", |gpu| in_pass(gpu, Transfer::Skip));
case!("maintenance.ten.pass_enable", "VK_KHR_maintenance10", |gpu| in_pass(gpu, Transfer::Enable));

/// Resolves an attachment at the end of a pass.
fn in_pass(gpu: &Gpu, transfer: Transfer) -> Case {
    let average = expected(gpu, transfer)?;
    let (color, resolved) = (image(gpu, FOUR, COLOR)?, image(gpu, ONE, COLOR)?);
    let flags = match transfer {
        Transfer::Default => sys::RenderingAttachmentFlagsKHR::empty(),
        Transfer::Skip => sys::RenderingAttachmentFlagsKHR::RESOLVE_SKIP_TRANSFER_FUNCTION,
        Transfer::Enable => sys::RenderingAttachmentFlagsKHR::RESOLVE_ENABLE_TRANSFER_FUNCTION,
    };
    let flags = sys::RenderingAttachmentFlagsInfoKHR { flags, ..Default::default() };
    let mut colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 0.0, 1.0]))];
    colors = colors
        .map(|info| info.resolve_mode(Mode::AVERAGE).resolve_image_view(resolved.view).resolve_image_layout(GENERAL));
    colors[0].p_next = (&raw const flags).cast();
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    draw(gpu, &info, [&color, &resolved], |_| ())?;
    check_average(gpu, &resolved, average)
}

case!("maintenance.ten.command_default", "VK_KHR_maintenance10", |gpu| by_command(gpu, Transfer::Default));
case!("maintenance.ten.command_skip", "VK_KHR_maintenance10", |gpu| by_command(gpu, Transfer::Skip));
case!("maintenance.ten.command_enable", "VK_KHR_maintenance10", |gpu| by_command(gpu, Transfer::Enable));

/// Resolves an image by `vkCmdResolveImage2`.
fn by_command(gpu: &Gpu, transfer: Transfer) -> Case {
    let average = expected(gpu, transfer)?;
    let (color, resolved) = (image(gpu, FOUR, COLOR)?, image(gpu, ONE, COLOR)?);
    let flags = match transfer {
        Transfer::Default => sys::ResolveImageFlagsKHR::empty(),
        Transfer::Skip => sys::ResolveImageFlagsKHR::SKIP_TRANSFER_FUNCTION,
        Transfer::Enable => sys::ResolveImageFlagsKHR::ENABLE_TRANSFER_FUNCTION,
    };
    let resolve_mode = sys::ResolveModeFlags::AVERAGE;
    let modes = sys::ResolveImageModeInfoKHR { flags, resolve_mode, ..Default::default() };
    let colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 0.0, 1.0]))];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    draw(gpu, &info, [&color, &resolved], |commands| resolve(gpu, commands, [&color, &resolved], &modes))?;
    check_average(gpu, &resolved, average)
}

/// Records a resolve of all texels.
fn resolve(gpu: &Gpu, commands: vk::CommandBuffer, [from, to]: [&Image; 2], modes: &sys::ResolveImageModeInfoKHR) {
    let second = khr::copy_commands2::Device::new(&gpu.instance, &gpu.device);
    let part = layers(from.aspects);
    let regions = [vk::ImageResolve2::default().src_subresource(part).dst_subresource(part).extent(from.extent)];
    let mut info = vk::ResolveImageInfo2::default().src_image(from.handle).src_image_layout(GENERAL);
    info.p_next = (&raw const *modes).cast();
    // SAFETY: the command buffer is recording, and the images are in the general layout.
    unsafe {
        second.cmd_resolve_image2(commands, &info.dst_image(to.handle).dst_image_layout(GENERAL).regions(&regions));
    }
}

case!("maintenance.ten.depth_first", "VK_KHR_maintenance10", |gpu| depth(gpu, Mode::SAMPLE_ZERO));
case!("maintenance.ten.depth_min", "VK_KHR_maintenance10", |gpu| depth(gpu, Mode::MIN));
case!("maintenance.ten.depth_max", "VK_KHR_maintenance10", |gpu| depth(gpu, Mode::MAX));
case!("maintenance.ten.depth_average", "VK_KHR_maintenance10", |gpu| depth(gpu, Mode::AVERAGE));

/// Resolves depth and stencil by `vkCmdResolveImage2`.
fn depth(gpu: &Gpu, mode: Mode) -> Case {
    properties(gpu)?;
    let mut supported = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    gpu.properties2(&mut supported);
    if !supported.supported_depth_resolve_modes.contains(mode) {
        return Err(Outcome::NotSupported(format!("resolving {mode:?}")));
    }
    let (from, to) = (image(gpu, FOUR, BOTH)?, image(gpu, ONE, BOTH)?);
    let depths = attachment(&from, CLEAR, clear_depth(1.0, 9));
    let info = vk::RenderingInfo::default()
        .render_area(whole())
        .layer_count(1)
        .depth_attachment(&depths)
        .stencil_attachment(&depths);
    let modes = sys::ResolveImageModeInfoKHR {
        resolve_mode: sys::ResolveModeFlags::from_bits_truncate(mode.as_raw()),
        stencil_resolve_mode: sys::ResolveModeFlags::SAMPLE_ZERO,
        ..Default::default()
    };
    draw(gpu, &info, [&from, &to], |commands| {
        let (value, ranges) = (vk::ClearDepthStencilValue { depth: 0.5, stencil: 55 }, [range(BOTH, 0, 1)]);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_clear_depth_stencil_image(commands, to.handle, GENERAL, &value, &ranges) };
        gpu.barrier(commands, None);
        resolve(gpu, commands, [&from, &to], &modes);
    })?;
    let depths = gpu.read_image(&to, vk::ImageAspectFlags::DEPTH, 4)?;
    let stencils = gpu.read_image(&to, vk::ImageAspectFlags::STENCIL, 1)?;
    for (at, (bytes, &stencil)) in (0u32..).zip(depths.chunks(4).zip(&stencils)) {
        let wanted = match (at % SIZE, mode) {
            (0..=7, _) | (8, Mode::MIN | Mode::SAMPLE_ZERO) => 0.25,
            (8, Mode::AVERAGE) => 0.625,
            _ => 1.0,
        };
        let depth = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let good = depth == wanted && stencil == 9;
        check(good, || format!("pixel {at} has {depth} and {stencil}, not {wanted} and 9"))?;
    }
    Ok(())
}

case!("maintenance.ten.queue_features", "VK_KHR_maintenance10", queue_features);

/// Checks that only depth and stencil formats have the features of their copies.
fn queue_features(gpu: &Gpu) -> Case {
    properties(gpu)?;
    use sys::FormatFeatureFlags2 as F;
    let depth = F::DEPTH_COPY_ON_COMPUTE_QUEUE_KHR | F::DEPTH_COPY_ON_TRANSFER_QUEUE_KHR;
    let stencil = F::STENCIL_COPY_ON_COMPUTE_QUEUE_KHR | F::STENCIL_COPY_ON_TRANSFER_QUEUE_KHR;
    let kinds = [
        (vk::Format::R8G8B8A8_UNORM, F::empty()),
        (vk::Format::D32_SFLOAT, depth),
        (vk::Format::S8_UINT, stencil),
        (vk::Format::D32_SFLOAT_S8_UINT, depth | stencil),
    ];
    for (format, allowed) in kinds {
        let mut wide = vk::FormatProperties3::default();
        let mut all = vk::FormatProperties2::default().push_next(&mut wide);
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_format_properties2(gpu.physical, format, &mut all) };
        let found = F::from_bits_truncate(wide.optimal_tiling_features.as_raw()) & (depth | stencil);
        check(allowed.contains(found), || format!("{format:?} has {found:?}"))?;
    }
    Ok(())
}
