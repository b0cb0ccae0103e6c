//! Single-sampled attachments that are rendered to with several samples. Source:
//! `VK_EXT_multisampled_render_to_single_sampled`.

use ash::vk::ResolveModeFlags as Mode;
use ash::{khr, vk};

use crate::Entry;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, Outcome, Transition, check, range};
use crate::render::{COLOR, Draw, RECT, SIZE, State, Target, clear_values, depth_aspects, render};

/// The rectangle. No edge lies between pixels.
const PLACE: [f32; 4] = [-0.93, -0.79, 0.71, 0.55];

/// How passes are begun.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Objects,
    Dynamic,
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, how) in [("pass", How::Objects), ("rendering", How::Dynamic)] {
        for samples in [2, 4, 8, 16] {
            let run = move |gpu: &Gpu| resolved(gpu, how, vk::SampleCountFlags::from_raw(samples));
            cases.push(Entry::new(format!("single.{name}.samples_{samples}"), "Render Pass Creation", run));
        }
    }
}

fn supported(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_NAME)?;
    match gpu.extension_features.render_to_single.multisampled_render_to_single_sampled {
        0 => Err(Outcome::NotSupported("multisampledRenderToSingleSampled".into())),
        _ => Ok(()),
    }
}

case!("single.formats.resolve_query", "Format Properties", query);

/// Checks that the query is answered for every attachment format.
fn query(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for format in [vk::Format::R8G8B8A8_UNORM, vk::Format::D32_SFLOAT, vk::Format::R32_UINT] {
        // Neither true nor false.
        let mut performance = vk::SubpassResolvePerformanceQueryEXT { optimal: 77, ..Default::default() };
        let mut properties = vk::FormatProperties2::default().push_next(&mut performance);
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_format_properties2(gpu.physical, format, &mut properties) };
        check(performance.optimal <= 1, || format!("{format:?}: {}", performance.optimal))?;
    }
    Ok(())
}

/// Creates a single-sampled attachment that may be rendered to with several samples.
fn attachment(
    gpu: &Gpu,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    aspects: vk::ImageAspectFlags,
) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT)
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let handle = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range(aspects, 0, 1));
        Ok(Image { handle, view: gpu.device.create_image_view(&info, None)?, extent, aspects, levels: 1 })
    }
}

/// Creates a pass of one subpass that renders to its two attachments with more samples than they
/// have.
fn pass(gpu: &Gpu, target: &Target, load: vk::AttachmentLoadOp, mode: Mode) -> Result<vk::RenderPass, Outcome> {
    let description = |format| {
        vk::AttachmentDescription2::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(load)
            .stencil_store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(vk::ImageLayout::GENERAL)
            .final_layout(vk::ImageLayout::GENERAL)
    };
    let attachments = [description(target.format), description(target.depth)];
    let reference =
        |attachment| vk::AttachmentReference2::default().attachment(attachment).layout(vk::ImageLayout::GENERAL);
    let (colors, depth) = ([reference(0)], reference(1));
    let mut modes =
        vk::SubpassDescriptionDepthStencilResolve::default().depth_resolve_mode(mode).stencil_resolve_mode(mode);
    let mut single = single(target);
    let subpasses = [vk::SubpassDescription2::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&depth)
        .push_next(&mut modes)
        .push_next(&mut single)];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    let second = khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info, None) }?)
}

fn single(target: &Target) -> vk::MultisampledRenderToSingleSampledInfoEXT<'static> {
    vk::MultisampledRenderToSingleSampledInfoEXT::default()
        .multisampled_render_to_single_sampled_enable(true)
        .rasterization_samples(target.samples)
}

/// A render pass instance that may draw a rectangle.
struct Instance<'a> {
    how: How,
    target: &'a Target,
    load: vk::AttachmentLoadOp,
    mode: Mode,
    draws: bool,
}

/// Runs a pass that draws a rectangle if `draws` is set.
fn run(gpu: &Gpu, images: &[Image; 2], instance: &Instance<'_>) -> Case {
    let &Instance { how, target, load, mode, draws } = instance;
    let clears = clear_values(target, false);
    let views = images.map(|image| image.view);
    let object = pass(gpu, target, load, mode)?;
    let info = vk::FramebufferCreateInfo::default().render_pass(object).attachments(&views);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None) }?;
    let layout = gpu.layout(&[])?;
    let pass = if how == How::Objects { (object, 0) } else { (vk::RenderPass::null(), 0) };
    let (masks, samples) = (&[vk::ColorComponentFlags::RGBA], target.samples);
    let shaders = [RECT, COLOR];
    let pipeline = pipeline_of(
        gpu,
        &PipelineDesc { pass, shaders, masks, samples, depth: Depth::Less, ..PipelineDesc::plain(layout) },
    )?;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let attachment = |number: usize, mode| {
        vk::RenderingAttachmentInfo::default()
            .image_view(views[number])
            .image_layout(vk::ImageLayout::GENERAL)
            .resolve_mode(mode)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(clears[number])
    };
    let (colors, depth) = ([attachment(0, Mode::AVERAGE)], attachment(1, mode));
    let mut single = single(target);
    let info = vk::RenderingInfo::default()
        .render_area(whole())
        .layer_count(1)
        .color_attachments(&colors)
        .depth_attachment(&depth)
        .stencil_attachment(&depth)
        .push_next(&mut single);
    let begin = vk::RenderPassBeginInfo::default().render_pass(object).framebuffer(framebuffer);
    let begin = begin.render_area(whole()).clear_values(&clears);
    let push: Vec<f32> = [PLACE, [1.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.0, 0.0]].concat();
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            match how {
                How::Objects => gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE),
                How::Dynamic => rendering.cmd_begin_rendering(commands, &info),
            }
            if draws {
                gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                let bytes = bytemuck::cast_slice(&push);
                gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
                gpu.device.cmd_draw(commands, 6, 1, 0, 0);
            }
            match how {
                How::Objects => gpu.device.cmd_end_render_pass(commands),
                How::Dynamic => rendering.cmd_end_rendering(commands),
            }
        }
        gpu.barrier(commands, None);
    })
}

/// Clears both attachments by commands outside of passes, to the clear values of the passes.
fn clear_outside(gpu: &Gpu, target: &Target, [color, depth]: &[Image; 2]) -> Case {
    let (layout, values) = (vk::ImageLayout::GENERAL, clear_values(target, false));
    // SAFETY: `clear_values` gives a colour and then depth and stencil.
    let (of_color, of_depth) = unsafe { (values[0].color, values[1].depth_stencil) };
    let (colors, depths) = ([range(color.aspects, 0, 1)], [range(depth.aspects, 0, 1)]);
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and the images are alive.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, color.handle, layout, &of_color, &colors);
            gpu.device.cmd_clear_depth_stencil_image(commands, depth.handle, layout, &of_depth, &depths);
        }
        gpu.barrier(commands, None);
    })
}

/// Checks that the result equals that of a multisampled attachment. Each pixel has the least or
/// greatest depth of its samples. Old contents load as the value of all samples.
fn resolved(gpu: &Gpu, how: How, samples: vk::SampleCountFlags) -> Case {
    supported(gpu)?;
    if how == How::Dynamic {
        gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    }
    // SAFETY: the physical device is valid.
    let limits = unsafe { gpu.instance.get_physical_device_properties(gpu.physical) }.limits;
    if !(limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts).contains(samples) {
        return Err(Outcome::NotSupported(format!("{samples:?}")));
    }
    let clear = [0.0, 0.0, 1.0, 1.0];
    let target = Target { samples, depth: vk::Format::D32_SFLOAT_S8_UINT, clear, ..Target::default() };
    let expected = render(gpu, &target, &[Draw::rect(State::default(), PLACE, [1.0, 0.0, 0.0, 1.0])])?;
    let edges = expected.iter().filter(|pixel| pixel[0] > 0 && pixel[2] > 0).count();
    check(edges > 10, || format!("{edges} pixels at edges"))?;
    for mode in [Mode::MIN, Mode::MAX] {
        let (color, depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        let images = [
            attachment(gpu, target.format, vk::ImageUsageFlags::COLOR_ATTACHMENT, color)?,
            attachment(gpu, target.depth, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, depth_aspects(target.depth))?,
        ];
        let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let to = |from, to| {
            gpu.run(|commands| {
                images.iter().for_each(|image| gpu.barrier(commands, Some(Transition { image, from, to })))
            })
        };
        to(vk::ImageLayout::UNDEFINED, general)?;
        run(gpu, &images, &Instance { how, target: &target, load: vk::AttachmentLoadOp::CLEAR, mode, draws: true })?;
        // The next draw must not meet depths of the previous pass.
        clear_outside(gpu, &target, &images)?;
        run(gpu, &images, &Instance { how, target: &target, load: vk::AttachmentLoadOp::LOAD, mode, draws: true })?;
        run(gpu, &images, &Instance { how, target: &target, load: vk::AttachmentLoadOp::LOAD, mode, draws: false })?;
        to(general, source)?;
        let (colors, depths) = (gpu.read_image(&images[0], color, 4)?, gpu.read_image(&images[1], depth, 4)?);
        for (index, wanted) in expected.iter().enumerate() {
            let got = &colors[index * 4..][..4];
            check(got == wanted, || format!("pixel {index}: {got:?} instead of {wanted:?}"))?;
            let got = f32::from_le_bytes(depths[index * 4..][..4].try_into().unwrap_or([0; 4]));
            let is_near = if mode == Mode::MIN { wanted[0] > 0 } else { wanted[2] == 0 };
            check(got == if is_near { 0.5 } else { 1.0 }, || format!("pixel {index}, {mode:?}: a depth of {got}"))?;
        }
    }
    Ok(())
}
