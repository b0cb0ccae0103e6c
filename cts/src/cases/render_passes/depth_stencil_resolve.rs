//! Resolves of depth and stencil attachments, in every pair of modes.

use ash::vk::ResolveModeFlags as Mode;
use ash::{khr, vk};

use crate::Entry;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{FULL, SIZE};

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let modes = [("none", Mode::NONE), ("first", Mode::SAMPLE_ZERO), ("min", Mode::MIN), ("max", Mode::MAX)];
    for (first, depth) in modes.into_iter().chain([("average", Mode::AVERAGE)]) {
        for (second, stencil) in modes.into_iter().filter(|(second, _)| (first, *second) != ("none", "none")) {
            let run = move |gpu: &Gpu| depth_resolve(gpu, depth, stencil);
            let name = format!("core12.depth_resolve.{first}_{second}");
            cases.push(Entry::new(name, "VK_KHR_depth_stencil_resolve", run));
        }
    }
}

/// Depths and stencils of the four samples, set one after the other by sample masks.
const SAMPLES: [(f32, u32); 4] = [(0.5, 7), (0.25, 200), (1.0, 3), (0.75, 9)];

fn depth_resolve(gpu: &Gpu, depth: Mode, stencil: Mode) -> Case {
    gpu.need(vk::KHR_DEPTH_STENCIL_RESOLVE_NAME)?;
    let mut own = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    gpu.properties2(&mut own);
    let supported = own.supported_depth_resolve_modes.contains(depth)
        && own.supported_stencil_resolve_modes.contains(stencil)
        && (depth == stencil
            || own.independent_resolve == vk::TRUE
            || (own.independent_resolve_none == vk::TRUE && (depth == Mode::NONE || stencil == Mode::NONE)));
    if !supported {
        return Err(Outcome::NotSupported(format!("resolving {depth:?} and {stencil:?}")));
    }
    let (from, to) = (depth_image(gpu, vk::SampleCountFlags::TYPE_4)?, depth_image(gpu, vk::SampleCountFlags::TYPE_1)?);
    let pass = resolving_pass(gpu, depth, stencil)?;
    let layout = gpu.layout(&[])?;
    let views = [from.view, to.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).width(SIZE).height(SIZE);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.layers(1), None) }?;
    let pipelines = [0, 1, 2, 3].map(|sample| sample_pipeline(gpu, pass, layout, sample));
    let pipelines = pipelines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let value = |depth, stencil| vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } };
    let clears = [value(0.0, 77), value(0.125, 99)];
    // The last row and column lie outside of the render area.
    let extent = vk::Extent2D { width: SIZE - 1, height: SIZE - 1 };
    let area = vk::Rect2D { extent, ..Default::default() };
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
    let begin = begin.render_area(area).clear_values(&clears);
    gpu.run(|commands| {
        gpu.barrier(
            commands,
            Some(Transition { image: &to, from: vk::ImageLayout::UNDEFINED, to: vk::ImageLayout::GENERAL }),
        );
        let (value, ranges) = (vk::ClearDepthStencilValue { depth: 0.0, stencil: 55 }, [range(to.aspects, 0, 1)]);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            let general = vk::ImageLayout::GENERAL;
            gpu.device.cmd_clear_depth_stencil_image(commands, to.handle, general, &value, &ranges);
            gpu.barrier(commands, None);
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            for (&pipeline, (depth, stencil)) in pipelines.iter().zip(SAMPLES) {
                gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                let push: Vec<f32> = [FULL, [0.0; 4], [depth, 0.0, 0.0, 0.0]].concat();
                let bytes: &[u8] = bytemuck::cast_slice(&push);
                gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
                gpu.device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, stencil);
                gpu.device.cmd_draw(commands, 6, 1, 0, 0);
            }
            gpu.device.cmd_end_render_pass(commands);
        }
        gpu.barrier(
            commands,
            Some(Transition { image: &to, from: vk::ImageLayout::GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    let depths = gpu.read_image(&to, vk::ImageAspectFlags::DEPTH, 4)?;
    let stencils = gpu.read_image(&to, vk::ImageAspectFlags::STENCIL, 1)?;
    for (at, (bytes, &found)) in depths.chunks(4).zip(&stencils).enumerate() {
        let outside = at as u32 % SIZE == SIZE - 1 || at as u32 / SIZE == SIZE - 1;
        // An aspect without resolve keeps the value that the pass cleared it to.
        let (mut wanted, mut wanted_stencil) = if outside { (0.0, 55) } else { (0.125, 99) };
        if !outside {
            wanted = match depth {
                Mode::SAMPLE_ZERO => 0.5,
                Mode::AVERAGE => 0.625,
                Mode::MIN => 0.25,
                Mode::MAX => 1.0,
                _ => wanted,
            };
            wanted_stencil = match stencil {
                Mode::SAMPLE_ZERO => 7,
                Mode::MIN => 3,
                Mode::MAX => 200,
                _ => wanted_stencil,
            };
        }
        let depth = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let good = depth == wanted && found == wanted_stencil;
        check(good, || format!("pixel {at} has {depth} and {found}, not {wanted} and {wanted_stencil}"))?;
    }
    Ok(())
}

const BOTH: vk::ImageAspectFlags =
    vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());

fn depth_image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    gpu.image(&ImageDesc { format, size: [SIZE; 2], levels: 1, samples, usage, aspects: BOTH })
}

/// Creates a pass with depth and stencil of four samples that are resolved at its end, with
/// separate layouts.
fn resolving_pass(gpu: &Gpu, depth: Mode, stencil: Mode) -> Result<vk::RenderPass, Outcome> {
    let second = khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    let (clear, store) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE);
    let attachment = |samples| {
        vk::AttachmentDescription2::default()
            .format(vk::Format::D32_SFLOAT_S8_UINT)
            .samples(samples)
            .load_op(clear)
            .stencil_load_op(clear)
            .store_op(store)
            .stencil_store_op(store)
            .initial_layout(vk::ImageLayout::GENERAL)
            .final_layout(vk::ImageLayout::GENERAL)
    };
    let from = attachment(vk::SampleCountFlags::TYPE_4).initial_layout(vk::ImageLayout::UNDEFINED);
    let attachments = [from, attachment(vk::SampleCountFlags::TYPE_1)];
    let mut apart =
        vk::AttachmentReferenceStencilLayout::default().stencil_layout(vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL);
    let mut reference =
        vk::AttachmentReference2::default().attachment(0).layout(vk::ImageLayout::GENERAL).aspect_mask(BOTH);
    if gpu.has(vk::KHR_SEPARATE_DEPTH_STENCIL_LAYOUTS_NAME) {
        reference = reference.layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL).push_next(&mut apart);
    }
    let target = vk::AttachmentReference2::default().attachment(1).layout(vk::ImageLayout::GENERAL).aspect_mask(BOTH);
    let mut resolve = vk::SubpassDescriptionDepthStencilResolve::default()
        .depth_resolve_mode(depth)
        .stencil_resolve_mode(stencil)
        .depth_stencil_resolve_attachment(&target);
    let subpass = vk::SubpassDescription2::default().depth_stencil_attachment(&reference);
    let subpasses = [subpass.push_next(&mut resolve)];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info, None) }?)
}

/// Creates a pipeline that writes depth and stencil of one sample.
fn sample_pipeline(
    gpu: &Gpu,
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
    sample: u32,
) -> Result<vk::Pipeline, Outcome> {
    let desc = PipelineDesc {
        pass: (pass, 0),
        masks: &[],
        samples: vk::SampleCountFlags::TYPE_4,
        depth: Depth::OfSample(sample, BOTH),
        ..PipelineDesc::plain(layout)
    };
    pipeline_of(gpu, &desc)
}
