//! Input attachments and colour attachment locations of dynamic rendering:
//! `VK_KHR_dynamic_rendering_local_read`, also in the general layout of
//! `VK_KHR_unified_image_layouts`.

use ash::vk::ATTACHMENT_UNUSED as UNUSED;
use ash::{khr, vk};

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::GENERAL;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{COLOR, FULL, RECT, SIZE};
use vitric_vulkan::{names::KHR_UNIFIED_IMAGE_LAYOUTS_NAME, sys};

const INPUT: &[u8] = shader!("input.frag");
const INPUT_DEPTH: &[u8] = shader!("input_depth.frag");
const SEVERAL: &[u8] = shader!("several.frag");
const LOCAL: vk::ImageLayout = vk::ImageLayout::RENDERING_LOCAL_READ_KHR;
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const ALL: vk::ColorComponentFlags = vk::ColorComponentFlags::RGBA;
const LEFT: [f32; 4] = [-1.0, -1.0, 0.0, 1.0];
const TINT: [f32; 4] = [1.0, 0.5, 0.25, 1.0];
const SECTION: &str = "VK_KHR_dynamic_rendering_local_read";

/// Commands of both extensions.
struct Commands {
    rendering: khr::dynamic_rendering::Device,
    local: khr::dynamic_rendering_local_read::Device,
}

impl Commands {
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        if gpu.extension_features.local_read.dynamic_rendering_local_read == 0 {
            return Err(Outcome::NotSupported("local reads".into()));
        }
        Ok(Self {
            rendering: khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device),
            local: khr::dynamic_rendering_local_read::Device::new(&gpu.instance, &gpu.device),
        })
    }

    /// Draws a rectangle with the locations and indices of a pipeline.
    fn draw(&self, gpu: &Gpu, commands: vk::CommandBuffer, desc: &PipelineDesc<'_>, rect: [f32; 4]) -> Case {
        let pipeline = pipeline_of(gpu, desc)?;
        if let Some(locations) = desc.locations {
            let info = vk::RenderingAttachmentLocationInfoKHR::default().color_attachment_locations(locations);
            // SAFETY: the command buffer is recording in an instance of so many attachments.
            unsafe { (self.local.fp().cmd_set_rendering_attachment_locations_khr)(commands, &raw const info) };
        }
        if let Some((colors, [depth, stencil])) = &desc.inputs {
            let mut info = vk::RenderingInputAttachmentIndexInfoKHR::default().color_attachment_input_indices(colors);
            (info.p_depth_input_attachment_index, info.p_stencil_input_attachment_index) = (depth, stencil);
            // SAFETY: the command buffer is recording in an instance of so many
            // attachments.
            unsafe { (self.local.fp().cmd_set_rendering_input_attachment_indices_khr)(commands, &raw const info) };
        }
        Fills { commands, pipeline, layout: desc.layout }.fill(gpu, rect, TINT, [0.5, 1.0, 0.0]);
        Ok(())
    }
}

/// Makes attachment writes visible to later fragments of the same pixel.
pub(in crate::cases) fn by_region(gpu: &Gpu, commands: vk::CommandBuffer) {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    let written = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let memory = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(A::INPUT_ATTACHMENT_READ)];
    let (from, flags) = (S::COLOR_ATTACHMENT_OUTPUT | S::LATE_FRAGMENT_TESTS, vk::DependencyFlags::BY_REGION);
    // SAFETY: the command buffer is recording.
    unsafe { gpu.device.cmd_pipeline_barrier(commands, from, S::FRAGMENT_SHADER, flags, &memory, &[], &[]) };
}

fn color_image(gpu: &Gpu) -> Result<Image, Outcome> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT
        | vk::ImageUsageFlags::TRANSFER_SRC;
    let loops = gpu.extension_features.feedback_loop.attachment_feedback_loop_layout != 0;
    let usage = if loops { usage } else { usage & !vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT };
    gpu.image(&ImageDesc::color(RGBA, [SIZE; 2], usage))
}

/// Creates a layout with a set of input attachments.
pub(in crate::cases) fn inputs(
    gpu: &Gpu,
    views: &[vk::ImageView],
    image_layout: vk::ImageLayout,
) -> Result<(vk::PipelineLayout, vk::DescriptorSet), Outcome> {
    let kind = vk::DescriptorType::INPUT_ATTACHMENT;
    let (set_layout, set) = gpu.set_for(&vec![kind; views.len()], vk::ShaderStageFlags::FRAGMENT)?;
    for (binding, &image_view) in (0..).zip(views) {
        let info = [vk::DescriptorImageInfo { image_view, image_layout, sampler: vk::Sampler::null() }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind);
        // SAFETY: the set is new, and nothing uses it.
        unsafe { gpu.device.update_descriptor_sets(&[write.image_info(&info)], &[]) };
    }
    Ok((gpu.layout(&[set_layout])?, set))
}

pub(in crate::cases) fn bind(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    (layout, set): (vk::PipelineLayout, vk::DescriptorSet),
) {
    let point = vk::PipelineBindPoint::GRAPHICS;
    // SAFETY: the command buffer is recording.
    unsafe { gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]) };
}

/// Renders to images in a layout, and leaves them ready to be read.
fn render(
    gpu: &Gpu,
    images: (&[&Image], vk::ImageLayout),
    info: &vk::RenderingInfo<'_>,
    draws: impl FnOnce(&Commands, vk::CommandBuffer) -> Case,
) -> Case {
    let (known, mut drawn) = (Commands::new(gpu)?, Ok(()));
    gpu.run(|commands| {
        for image in images.0 {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: images.1 }));
        }
        // SAFETY: the command buffer is recording.
        unsafe {
            known.rendering.cmd_begin_rendering(commands, &info.render_area(whole()).layer_count(1));
            drawn = draws(&known, commands);
            known.rendering.cmd_end_rendering(commands);
        }
        for image in images.0 {
            gpu.barrier(
                commands,
                Some(Transition { image, from: images.1, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
            );
        }
    })?;
    drawn
}

fn compare(gpu: &Gpu, image: &Image, expected: impl Fn(u32, u32) -> [u8; 4]) -> Case {
    let bytes = gpu.read_image(image, vk::ImageAspectFlags::COLOR, 4)?;
    for (at, texel) in (0..).zip(bytes.chunks(4)) {
        let (x, y) = (at % SIZE, at / SIZE);
        let wanted = expected(x, y);
        let close = texel.iter().zip(wanted).all(|(&found, wanted)| found.abs_diff(wanted) <= 1);
        check(close, || format!("({x}, {y}) is {texel:?}, not {wanted:?}"))?;
    }
    Ok(())
}

case!("local_read.inputs.color", SECTION, |gpu| colors(gpu, false));
case!("local_read.inputs.renumbered", SECTION, |gpu| colors(gpu, true));

/// Writes one attachment, then reads it, drawn or cleared, and writes the other one at the same
/// location.
fn colors(gpu: &Gpu, renumbered: bool) -> Case {
    Commands::new(gpu)?;
    let [first, second] = [color_image(gpu)?, color_image(gpu)?];
    let (plain, with_set) = (gpu.layout(&[])?, inputs(gpu, &[first.view], LOCAL)?);
    let begun = [clear_color([0.0, 0.0, 0.0, 1.0]), clear_color([1.0; 4])];
    let local = |image: &Image, clear| attachment(image, CLEAR, clear).image_layout(LOCAL);
    let mut attachments = [local(&first, begun[0]), local(&second, begun[1])];
    let (mut to_first, mut to_second, mut indices) = ([0, UNUSED], [UNUSED, 0], None);
    if renumbered {
        attachments.reverse();
        (to_first, to_second) = (to_second, to_first);
        indices = Some((&[UNUSED, 0][..], [UNUSED; 2]));
    }
    let masks = &[ALL; 2];
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    render(gpu, (&[&first, &second], LOCAL), &info, |known, commands| {
        let desc = PipelineDesc { masks, locations: Some(&to_first), ..PipelineDesc::plain(plain) };
        known.draw(gpu, commands, &desc, LEFT)?;
        by_region(gpu, commands);
        bind(gpu, commands, with_set);
        let desc = PipelineDesc {
            masks,
            shaders: [RECT, INPUT],
            locations: Some(&to_second),
            inputs: indices,
            ..PipelineDesc::plain(with_set.0)
        };
        known.draw(gpu, commands, &desc, FULL)
    })?;
    compare(gpu, &first, |x, _| if x < 8 { [255, 128, 64, 255] } else { [0, 0, 0, 255] })?;
    compare(gpu, &second, |x, _| if x < 8 { [128, 64, 32 + x as u8, 128] } else { [0, 0, x as u8, 128] })
}

case!("local_read.inputs.depth", SECTION, depths);

/// Turns drawn and cleared depth and stencil into colours.
fn depths(gpu: &Gpu) -> Case {
    Commands::new(gpu)?;
    let (color, aspects) = (color_image(gpu)?, [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL]);
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC;
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let depth =
        gpu.image(&ImageDesc { aspects: aspects[0] | aspects[1], ..ImageDesc::color(format, [SIZE; 2], usage) })?;
    let view = |aspect| {
        let info = vk::ImageViewCreateInfo::default().image(depth.handle).view_type(vk::ImageViewType::TYPE_2D);
        let info = info.format(format).subresource_range(range(aspect, 0, 1));
        // SAFETY: the info is valid.
        unsafe { gpu.device.create_image_view(&info, None) }
    };
    let views = [view(aspects[0])?, view(aspects[1])?];
    let (plain, with_set) = (gpu.layout(&[])?, inputs(gpu, &views, LOCAL)?);
    let colors = [attachment(&color, CLEAR, clear_color([1.0; 4])).image_layout(LOCAL)];
    let depths = attachment(&depth, CLEAR, clear_depth(0.25, 9)).image_layout(LOCAL);
    let info = vk::RenderingInfo::default().color_attachments(&colors);
    let info = info.depth_attachment(&depths).stencil_attachment(&depths);
    render(gpu, (&[&color, &depth], LOCAL), &info, |known, commands| {
        let both = Depth::OfSample(0, depth.aspects);
        let desc = PipelineDesc { depth: both, shaders: [RECT, COLOR], ..PipelineDesc::plain(plain) };
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 77) };
        known.draw(gpu, commands, &desc, LEFT)?;
        by_region(gpu, commands);
        bind(gpu, commands, with_set);
        let desc = PipelineDesc {
            depth: Depth::Kept,
            shaders: [RECT, INPUT_DEPTH],
            inputs: Some((&[UNUSED], [3, 5])),
            ..PipelineDesc::plain(with_set.0)
        };
        known.draw(gpu, commands, &desc, FULL)
    })?;
    compare(gpu, &color, |x, _| if x < 8 { [128, 77, 0, 255] } else { [64, 9, 0, 255] })
}

case!("local_read.colors.moved", SECTION, moved);

/// Moves the last colour to the first attachment and the first to the last, and none to the one
/// between.
fn moved(gpu: &Gpu) -> Case {
    Commands::new(gpu)?;
    let images = [color_image(gpu)?, color_image(gpu)?, color_image(gpu)?];
    let attachments = images.map(|image| attachment(&image, CLEAR, clear_color([0.2, 0.4, 0.6, 0.8])));
    let layout = gpu.layout(&[])?;
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    let [first, second, third] = &images;
    render(gpu, (&[first, second, third], GENERAL), &info, |known, commands| {
        let desc = PipelineDesc {
            masks: &[ALL, ALL, vk::ColorComponentFlags::R],
            shaders: [RECT, SEVERAL],
            locations: Some(&[3, UNUSED, 0]),
            ..PipelineDesc::plain(layout)
        };
        known.draw(gpu, commands, &desc, LEFT)
    })?;
    let cleared = [51, 102, 153, 204];
    let coordinate = |number: u32| ((number as f32 + 0.5) / 16.0 * 255.0).round() as u8;
    compare(gpu, first, |x, y| if x < 8 { [coordinate(x), coordinate(y), 255, 128] } else { cleared })?;
    compare(gpu, second, |_, _| cleared)?;
    compare(gpu, third, |x, _| if x < 8 { [255, 102, 153, 204] } else { cleared })
}

case!("local_read.loops.local", SECTION, |gpu| looped(gpu, LOCAL));
case!("local_read.loops.general", "VK_KHR_unified_image_layouts", |gpu| looped(gpu, GENERAL));

/// Computes in two draws with the contents of the attachment that they write.
fn looped(gpu: &Gpu, layout: vk::ImageLayout) -> Case {
    Commands::new(gpu)?;
    if layout == GENERAL {
        gpu.need(KHR_UNIFIED_IMAGE_LAYOUTS_NAME)?;
        gpu.need(vk::EXT_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_NAME)?;
    }
    let image = color_image(gpu)?;
    let with_set = inputs(gpu, &[image.view], layout)?;
    let mut attachments = [attachment(&image, CLEAR, clear_color([0.8, 0.4, 0.0, 1.0])).image_layout(layout)];
    let loops = sys::AttachmentFeedbackLoopInfoEXT { feedback_loop_enable: vk::TRUE, ..Default::default() };
    let mut flags = vk::PipelineCreateFlags::empty();
    if layout == GENERAL {
        attachments[0].p_next = (&raw const loops).cast();
        flags = vk::PipelineCreateFlags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT;
    }
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    render(gpu, (&[&image], layout), &info, |known, commands| {
        bind(gpu, commands, with_set);
        let desc = PipelineDesc { flags, shaders: [RECT, INPUT], ..PipelineDesc::plain(with_set.0) };
        known.draw(gpu, commands, &desc, FULL)?;
        by_region(gpu, commands);
        known.draw(gpu, commands, &desc, LEFT)
    })?;
    compare(gpu, &image, |x, _| {
        let once = [102, 51, x as u8, 128];
        if x < 8 { [51, 26, (x / 2 + x) as u8, 64] } else { once }
    })
}
