//! Resolves by draws, to other formats and beside resolves without draws. Source:
//! `VK_EXT_custom_resolve`.

use ash::vk::ResolveModeFlags as Mode;
use ash::{khr, vk};
use vitric_vulkan::names::EXT_CUSTOM_RESOLVE_NAME;
use vitric_vulkan::{Newer, sys};

use super::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use super::local_read::{bind, by_region, inputs};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::GENERAL;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{COLOR, FULL, RECT, SIZE};

const RESOLVE: &[u8] = shader!("custom_resolve.frag");
const SEVERAL: &[u8] = shader!("several.frag");
const RESOLVE_DEPTH: &[u8] = shader!("custom_resolve_depth.frag");
const SECTION: &str = "VK_EXT_custom_resolve";
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const WIDE: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const DEPTHS: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const CUSTOM: Mode = Mode::from_raw(sys::ResolveModeFlags::CUSTOM_EXT.bits());

/// The left eight columns, and two samples of each pixel of the ninth.
const PART: [f32; 4] = [-1.0, -1.0, 0.0625, 1.0];

fn image(gpu: &Gpu, format: vk::Format, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let (usage, aspects) = match format {
        DEPTH => (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, DEPTHS | vk::ImageAspectFlags::STENCIL),
        _ => (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageAspectFlags::COLOR),
    };
    let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::INPUT_ATTACHMENT;
    gpu.image(&ImageDesc { samples, aspects, ..ImageDesc::color(format, [SIZE; 2], usage) })
}

/// Returns the part of a pipeline's chain with the formats of the resolve attachments.
fn described(is_resolve: bool, colors: &[sys::Format], depth: vk::Format) -> Newer<sys::CustomResolveCreateInfoEXT> {
    Newer(sys::CustomResolveCreateInfoEXT {
        custom_resolve: is_resolve.into(),
        color_attachment_count: colors.len() as u32,
        color_attachment_formats: colors.as_ptr(),
        depth_attachment_format: sys::Format::from_raw(depth.as_raw()),
        ..Default::default()
    })
}

/// A render pass instance with a custom resolve.
struct Resolve<'a> {
    info: vk::RenderingInfo<'a>,
    images: &'a [&'a Image],
    /// Pipelines in front of the custom resolve and in it.
    pipelines: [vk::Pipeline; 2],
    layouts: [vk::PipelineLayout; 2],
    set: vk::DescriptorSet,
}

impl Resolve<'_> {
    /// Draws to [`PART`] at a depth of 0.25, and resolves all pixels unless `is_left_out`.
    fn run(&self, gpu: &Gpu, is_left_out: bool) -> Case {
        let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
        let begin = gpu.command::<sys::PFN_vkCmdBeginCustomResolveEXT>(c"vkCmdBeginCustomResolveEXT")?;
        let flags = vk::RenderingFlags::from_raw(sys::RenderingFlags::CUSTOM_RESOLVE_EXT.bits());
        let [draw, resolve] = self.pipelines;
        gpu.run(|commands| {
            for image in self.images {
                gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
            }
            // SAFETY: the command buffer is recording.
            unsafe { rendering.cmd_begin_rendering(commands, &self.info.flags(flags)) };
            Fills { commands, pipeline: draw, layout: self.layouts[0] }.fill(gpu, PART, [1.0; 4], [0.25, 1.0, 0.0]);
            by_region(gpu, commands);
            if !is_left_out {
                let info = Newer(sys::BeginCustomResolveInfoEXT::default());
                // SAFETY: the command buffer is recording in an instance with the flag.
                unsafe { begin(commands, &raw const info) };
                bind(gpu, commands, (self.layouts[1], self.set));
                Fills { commands, pipeline: resolve, layout: self.layouts[1] }.fill(
                    gpu,
                    FULL,
                    [0.0; 4],
                    [0.0, 1.0, 0.0],
                );
            }
            // SAFETY: the command buffer is recording in an instance.
            unsafe { rendering.cmd_end_rendering(commands) };
            for image in self.images {
                let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                gpu.barrier(commands, Some(Transition { image, from: GENERAL, to }));
            }
        })
    }
}

/// Reads floats of an image.
fn floats(gpu: &Gpu, image: &Image, aspect: vk::ImageAspectFlags, count: u32) -> Result<Vec<f32>, Outcome> {
    let bytes = gpu.read_image(image, aspect, 4 * count)?;
    Ok(bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect())
}

case!("custom_resolve.dynamic.colors", SECTION, colors);

/// Resolves one of two colours by a draw, to a format that stores more, and averages the other.
fn colors(gpu: &Gpu) -> Case {
    gpu.need(EXT_CUSTOM_RESOLVE_NAME)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_LOCAL_READ_NAME)?;
    let (drawn, averaged) = (image(gpu, RGBA, FOUR)?, image(gpu, RGBA, FOUR)?);
    let (wide, plain) = (image(gpu, WIDE, ONE)?, image(gpu, RGBA, ONE)?);
    let (layout, (with_set, set)) = (gpu.layout(&[])?, inputs(gpu, &[drawn.view], GENERAL)?);
    let formats = [WIDE, RGBA].map(|format| sys::Format::from_raw(format.as_raw()));
    let masks = &[vk::ColorComponentFlags::RGBA; 2][..];
    let [first, second] = [false, true].map(|is_resolve| described(is_resolve, &formats, vk::Format::UNDEFINED));
    let desc = PipelineDesc { masks, ..PipelineDesc::plain(layout) };
    let pipelines = [
        pipeline_of(
            gpu,
            &PipelineDesc { shaders: [RECT, SEVERAL], samples: FOUR, next: (&raw const first).cast(), ..desc },
        )?,
        pipeline_of(
            gpu,
            &PipelineDesc { shaders: [RECT, RESOLVE], layout: with_set, next: (&raw const second).cast(), ..desc },
        )?,
    ];
    let black = clear_color([0.0, 0.0, 0.0, 1.0]);
    let target = |info: vk::RenderingAttachmentInfo<'static>, mode, image: &Image| {
        info.resolve_mode(mode).resolve_image_view(image.view).resolve_image_layout(GENERAL)
    };
    let attachments = [
        target(attachment(&drawn, CLEAR, black), CUSTOM, &wide),
        target(attachment(&averaged, CLEAR, black), Mode::AVERAGE, &plain),
    ];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&attachments);
    let (images, layouts) = (&[&drawn, &averaged, &wide, &plain][..], [layout, with_set]);
    Resolve { info, images, pipelines, layouts, set }.run(gpu, false)?;
    check_resolved(gpu, &wide)?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&plain, vk::ImageAspectFlags::COLOR, 4)?.chunks(4)) {
        let wanted = averaged_green(at);
        check(texel[1].abs_diff(wanted) <= 1, || format!("averaged pixel {at} is {texel:?}, not green {wanted}"))?;
    }
    Ok(())
}

/// Checks the maximum, the minimum and the doubled sum of the samples of each pixel.
fn check_resolved(gpu: &Gpu, wide: &Image) -> Case {
    let texels = floats(gpu, wide, vk::ImageAspectFlags::COLOR, 4)?;
    for (at, texel) in (0u32..).zip(texels.chunks(4)) {
        let wanted = match at % SIZE {
            0..=7 => [1.0, 1.0, 8.0, 1.0],
            8 => [1.0, 0.0, 4.0, 1.0],
            _ => [0.0, 0.0, 0.0, 1.0],
        };
        check(texel == wanted, || format!("resolved pixel {at} is {texel:?}, not {wanted:?}"))?;
    }
    Ok(())
}

/// Returns the average of the second colour in a pixel.
fn averaged_green(pixel: u32) -> u8 {
    match pixel % SIZE {
        0..=7 => 255,
        8 => 128,
        _ => 0,
    }
}

case!("custom_resolve.dynamic.depth", SECTION, depth);

/// Resolves depth by a draw, and stencil as its first sample.
fn depth(gpu: &Gpu) -> Case {
    gpu.need(EXT_CUSTOM_RESOLVE_NAME)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_LOCAL_READ_NAME)?;
    let mut supported = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    gpu.properties2(&mut supported);
    if supported.independent_resolve == 0 {
        return Err(Outcome::NotSupported("independentResolve".into()));
    }
    let (from, to) = (image(gpu, DEPTH, FOUR)?, image(gpu, DEPTH, ONE)?);
    let info = vk::ImageViewCreateInfo::default().image(from.handle).view_type(vk::ImageViewType::TYPE_2D);
    let info = info.format(DEPTH).subresource_range(range(DEPTHS, 0, 1));
    // SAFETY: the info is valid.
    let view = unsafe { gpu.device.create_image_view(&info, None) }?;
    let (layout, (with_set, set)) = (gpu.layout(&[])?, inputs(gpu, &[view], GENERAL)?);
    let [first, second] = [false, true].map(|is_resolve| described(is_resolve, &[], DEPTH));
    let desc = PipelineDesc { masks: &[], ..PipelineDesc::plain(layout) };
    let pipelines = [
        pipeline_of(
            gpu,
            &PipelineDesc {
                shaders: [RECT, COLOR],
                depth: Depth::Less,
                samples: FOUR,
                next: (&raw const first).cast(),
                ..desc
            },
        )?,
        pipeline_of(
            gpu,
            &PipelineDesc {
                shaders: [RECT, RESOLVE_DEPTH],
                depth: Depth::Always,
                layout: with_set,
                inputs: Some((&[], [0, vk::ATTACHMENT_UNUSED])),
                next: (&raw const second).cast(),
                ..desc
            },
        )?,
    ];
    let target = |mode| {
        let info = attachment(&from, CLEAR, clear_depth(0.5, 9)).resolve_mode(mode);
        info.resolve_image_view(to.view).resolve_image_layout(GENERAL)
    };
    let (depths, stencils) = (target(CUSTOM), target(Mode::SAMPLE_ZERO));
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1);
    let info = info.depth_attachment(&depths).stencil_attachment(&stencils);
    let (images, layouts) = (&[&from, &to][..], [layout, with_set]);
    Resolve { info, images, pipelines, layouts, set }.run(gpu, false)?;
    let (depths, stencils) = (floats(gpu, &to, DEPTHS, 1)?, gpu.read_image(&to, vk::ImageAspectFlags::STENCIL, 1)?);
    for (at, (&depth, &stencil)) in (0u32..).zip(depths.iter().zip(&stencils)) {
        let wanted = match at % SIZE {
            0..=7 => 0.0,
            8 => 0.25,
            _ => 0.5,
        };
        check(depth == wanted && stencil == 9, || format!("pixel {at} has {depth} and {stencil}, not {wanted} and 9"))?;
    }
    Ok(())
}

case!("custom_resolve.dynamic.left_out", SECTION, left_out);

/// Ends an instance that never begins its custom resolve: the rendered samples are stored.
fn left_out(gpu: &Gpu) -> Case {
    gpu.need(EXT_CUSTOM_RESOLVE_NAME)?;
    let (drawn, wide, averaged, plain) =
        (image(gpu, RGBA, FOUR)?, image(gpu, WIDE, ONE)?, image(gpu, RGBA, FOUR)?, image(gpu, RGBA, ONE)?);
    let layout = gpu.layout(&[])?;
    let formats = [WIDE, RGBA].map(|format| sys::Format::from_raw(format.as_raw()));
    let info = described(false, &formats, vk::Format::UNDEFINED);
    let desc = PipelineDesc {
        masks: &[vk::ColorComponentFlags::RGBA; 2],
        shaders: [RECT, SEVERAL],
        samples: FOUR,
        next: (&raw const info).cast(),
        ..PipelineDesc::plain(layout)
    };
    let pipeline = pipeline_of(gpu, &desc)?;
    let black = clear_color([0.0, 0.0, 0.0, 1.0]);
    let target = |info: vk::RenderingAttachmentInfo<'static>, mode, image: &Image| {
        info.resolve_mode(mode).resolve_image_view(image.view).resolve_image_layout(GENERAL)
    };
    let attachments = [
        target(attachment(&drawn, CLEAR, black), CUSTOM, &wide),
        target(attachment(&averaged, CLEAR, black), Mode::AVERAGE, &plain),
    ];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&attachments);
    let images = &[&drawn, &averaged, &wide, &plain][..];
    let set = vk::DescriptorSet::null();
    Resolve { info, images, pipelines: [pipeline; 2], layouts: [layout; 2], set }.run(gpu, true)?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&plain, vk::ImageAspectFlags::COLOR, 4)?.chunks(4)) {
        let wanted = averaged_green(at);
        check(texel[1].abs_diff(wanted) <= 1, || format!("pixel {at} is {texel:?}, not green {wanted}"))?;
    }
    Ok(())
}

case!("custom_resolve.pass.colors", SECTION, pass);

/// Resolves a colour in the last subpass of a render pass object.
fn pass(gpu: &Gpu) -> Case {
    gpu.need(EXT_CUSTOM_RESOLVE_NAME)?;
    gpu.need(vk::KHR_CREATE_RENDERPASS2_NAME)?;
    let (drawn, wide) = (image(gpu, RGBA, FOUR)?, image(gpu, WIDE, ONE)?);
    let (layout, (with_set, set)) = (gpu.layout(&[])?, inputs(gpu, &[drawn.view], GENERAL)?);
    let pass = render_pass(gpu)?;
    let desc = PipelineDesc { pass: (pass, 0), samples: FOUR, ..PipelineDesc::plain(layout) };
    let draw = pipeline_of(gpu, &desc)?;
    let shaders = [RECT, RESOLVE];
    let desc = PipelineDesc { pass: (pass, 1), shaders, format: WIDE, ..PipelineDesc::plain(with_set) };
    let resolve = pipeline_of(gpu, &desc)?;
    let views = [drawn.view, wide.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None) }?;
    let clears = [clear_color([0.0, 0.0, 0.0, 1.0]); 2];
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
    let begin = begin.render_area(whole()).clear_values(&clears);
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) };
        Fills { commands, pipeline: draw, layout }.fill(gpu, PART, [1.0; 4], [0.25, 1.0, 0.0]);
        // SAFETY: the command buffer is recording in the first subpass.
        unsafe { gpu.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE) };
        bind(gpu, commands, (with_set, set));
        Fills { commands, pipeline: resolve, layout: with_set }.fill(gpu, FULL, [0.0; 4], [0.0, 1.0, 0.0]);
        // SAFETY: the command buffer is recording in the last subpass.
        unsafe { gpu.device.cmd_end_render_pass(commands) };
        let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.barrier(commands, Some(Transition { image: &wide, from: GENERAL, to }));
    })?;
    check_resolved(gpu, &wide)
}

/// Creates a pass whose last subpass resolves the colour of the first one by draws.
fn render_pass(gpu: &Gpu) -> Result<vk::RenderPass, Outcome> {
    let attachment = |format, samples, load| {
        vk::AttachmentDescription2::default()
            .format(format)
            .samples(samples)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(vk::ImageLayout::UNDEFINED)
            .final_layout(GENERAL)
    };
    let attachments = [attachment(RGBA, FOUR, CLEAR), attachment(WIDE, ONE, vk::AttachmentLoadOp::DONT_CARE)];
    let reference = |number| {
        let color = vk::ImageAspectFlags::COLOR;
        [vk::AttachmentReference2::default().attachment(number).layout(GENERAL).aspect_mask(color)]
    };
    let (drawn, wide) = (reference(0), reference(1));
    let resolves = sys::SubpassDescriptionFlags::CUSTOM_RESOLVE_EXT.bits();
    let subpasses = [
        vk::SubpassDescription2::default().color_attachments(&drawn),
        vk::SubpassDescription2::default()
            .flags(vk::SubpassDescriptionFlags::from_raw(resolves))
            .input_attachments(&drawn)
            .color_attachments(&wide),
    ];
    let dependencies = [vk::SubpassDependency2::default()
        .src_subpass(0)
        .dst_subpass(1)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)
        .dependency_flags(vk::DependencyFlags::BY_REGION)];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    let second = khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info.dependencies(&dependencies), None) }?)
}
