//! `VK_EXT_shader_tile_image`: fragments read colours, depth and stencil of their pixel, with the
//! results of earlier fragments and without barriers.

use ash::{khr, vk};

use super::ordered_access::{RECTANGLES, VERTEX, check_ordered, fold_colors, fold_depths};
use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use crate::cases::render_passes::multiview::{LAYERS, VIEWS, all_layers, layered};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::GENERAL;
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{FULL, RECT, SIZE};

const ORDERED: &[u8] = shader!("tile_ordered.frag");
const ORDERED_SAMPLES: &[u8] = shader!("tile_ordered_samples.frag");
const ORDERED_DEPTH: &[u8] = shader!("tile_ordered_depth.frag");
const TESTS: &[u8] = shader!("tile_tests.frag");
const ARRAY: &[u8] = shader!("tile_array.frag");
const RESOLVE: &[u8] = shader!("tile_resolve.frag");
const SLOPE: &[u8] = shader!("tile_slope.frag");

const SECTION: &str = "VK_EXT_shader_tile_image";
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const COLOR_ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const BOTH_TESTS: vk::ImageAspectFlags =
    vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());
const ALL: vk::ColorComponentFlags = vk::ColorComponentFlags::RGBA;
const NONE: vk::ColorComponentFlags = vk::ColorComponentFlags::empty();
const LEFT: [f32; 4] = [-1.0, -1.0, 0.0, 1.0];
const RIGHT: [f32; 4] = [0.0, -1.0, 1.0, 1.0];

/// Returns the commands of dynamic rendering, if the device reads tile images.
fn commands_of(gpu: &Gpu) -> Result<khr::dynamic_rendering::Device, Outcome> {
    let own = &gpu.extension_features.tile_images;
    let [color, depth, stencil] = [
        own.shader_tile_image_color_read_access,
        own.shader_tile_image_depth_read_access,
        own.shader_tile_image_stencil_read_access,
    ];
    if [color, depth, stencil].contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("reads of tile images".into()));
    }
    Ok(khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device))
}

/// Returns the properties of tile images.
fn properties(gpu: &Gpu) -> vk::PhysicalDeviceShaderTileImagePropertiesEXT<'static> {
    let mut own = vk::PhysicalDeviceShaderTileImagePropertiesEXT::default();
    gpu.properties2(&mut own);
    own
}

fn image(gpu: &Gpu, format: vk::Format, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let (usage, aspects) = match format {
        DEPTH => (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, BOTH_TESTS),
        _ => (vk::ImageUsageFlags::COLOR_ATTACHMENT, COLOR_ASPECT),
    };
    let usage = usage | vk::ImageUsageFlags::TRANSFER_SRC;
    gpu.image(&ImageDesc { samples, aspects, ..ImageDesc::color(format, [SIZE; 2], usage) })
}

/// Renders to new images, and leaves them ready to be read. Each instance has the same draws.
fn render(
    gpu: &Gpu,
    images: &[&Image],
    instances: &[vk::RenderingInfo<'_>],
    draws: impl Fn(vk::CommandBuffer),
) -> Case {
    let rendering = commands_of(gpu)?;
    gpu.run(|commands| {
        for image in images {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        for info in instances {
            // SAFETY: the command buffer is recording.
            unsafe {
                rendering.cmd_begin_rendering(commands, &info.render_area(whole()).layer_count(1));
                draws(commands);
                rendering.cmd_end_rendering(commands);
            }
        }
        gpu.barrier(commands, None);
        for image in images {
            let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            gpu.barrier(commands, Some(Transition { image, from: GENERAL, to }));
        }
    })
}

/// Draws all rectangles in two draws.
fn draw_rectangles(gpu: &Gpu, commands: vk::CommandBuffer, pipeline: vk::Pipeline) {
    // SAFETY: the command buffer is recording.
    unsafe {
        gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        gpu.device.cmd_draw(commands, 6, RECTANGLES, 0, 0);
        gpu.device.cmd_draw(commands, 6, RECTANGLES, 0, RECTANGLES);
    }
}

/// Returns a description of a pipeline that draws rectangles to a colour.
fn ordered_desc(layout: vk::PipelineLayout) -> PipelineDesc<'static> {
    PipelineDesc { shaders: [VERTEX, ORDERED], format: vk::Format::R32_UINT, ..PipelineDesc::plain(layout) }
}

case!("tile_images.colors.ordered", SECTION, |gpu| ordered(gpu, ORDERED, ONE));
case!("tile_images.colors.samples", SECTION, |gpu| ordered(gpu, ORDERED_SAMPLES, FOUR));

/// Draws rectangles whose fragments compute with the colours of earlier ones.
fn ordered(gpu: &Gpu, shader: &'static [u8], samples: vk::SampleCountFlags) -> Case {
    commands_of(gpu)?;
    let format = vk::Format::R32_UINT;
    let (drawn, single) = (image(gpu, format, samples)?, image(gpu, format, ONE)?);
    let clear = vk::ClearValue { color: vk::ClearColorValue { uint32: [5; 4] } };
    let mut attachments = [attachment(&drawn, CLEAR, clear)];
    if samples != ONE {
        attachments[0] = attachments[0]
            .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
            .resolve_image_view(single.view)
            .resolve_image_layout(GENERAL);
    }
    let desc = PipelineDesc { shaders: [VERTEX, shader], samples, ..ordered_desc(gpu.layout(&[])?) };
    let pipeline = pipeline_of(gpu, &desc)?;
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    render(gpu, &[&drawn, &single], &[info], |commands| draw_rectangles(gpu, commands, pipeline))?;
    let result = if samples == ONE { &drawn } else { &single };
    check_ordered(&gpu.read_image(result, COLOR_ASPECT, 4)?, fold_colors)
}

case!("tile_images.colors.instances", SECTION, instances);

/// Draws the same rectangles to one image after another, with one pipeline.
fn instances(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    let images = [image(gpu, vk::Format::R32_UINT, ONE)?, image(gpu, vk::Format::R32_UINT, ONE)?];
    let clear = vk::ClearValue { color: vk::ClearColorValue { uint32: [5; 4] } };
    let attachments = images.each_ref().map(|image| [attachment(image, CLEAR, clear)]);
    let infos = attachments.each_ref().map(|colors| vk::RenderingInfo::default().color_attachments(colors));
    let pipeline = pipeline_of(gpu, &ordered_desc(gpu.layout(&[])?))?;
    render(gpu, &images.each_ref(), &infos, |commands| draw_rectangles(gpu, commands, pipeline))?;
    images.iter().try_for_each(|image| check_ordered(&gpu.read_image(image, COLOR_ASPECT, 4)?, fold_colors))
}

case!("tile_images.colors.views", SECTION, views);

/// Draws rectangles to layers of which only the last has the contents that [`fold_colors`] expects.
fn views(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    if gpu.extension_features.multiview.multiview == 0 {
        return Err(Outcome::NotSupported("multiview".into()));
    }
    let image = layered(gpu, vk::Format::R32_UINT, ONE)?;
    let attachments = [attachment(&image, vk::AttachmentLoadOp::LOAD, vk::ClearValue::default())];
    let pipeline = pipeline_of(gpu, &PipelineDesc { view_mask: VIEWS, ..ordered_desc(gpu.layout(&[])?) })?;
    let last = vk::ImageSubresourceRange { base_array_layer: LAYERS - 1, ..range(COLOR_ASPECT, 0, 1) };
    gpu.run(|commands| {
        all_layers(gpu, commands, &image);
        gpu.barrier(commands, None);
        let clear = vk::ClearColorValue { uint32: [5; 4] };
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_clear_color_image(commands, image.handle, GENERAL, &clear, &[last]) };
        gpu.barrier(commands, None);
    })?;
    let info = vk::RenderingInfo::default().color_attachments(&attachments).view_mask(VIEWS);
    render(gpu, &[], &[info], |commands| draw_rectangles(gpu, commands, pipeline))?;
    let whole = crate::harness::whole(&image, COLOR_ASPECT);
    let image_subresource =
        vk::ImageSubresourceLayers { base_array_layer: LAYERS - 1, layer_count: 1, ..whole.image_subresource };
    let (region, out) = (vk::BufferImageCopy { image_subresource, ..whole }, gpu.buffer(u64::from(SIZE * SIZE * 4))?);
    gpu.run(|commands| {
        // SAFETY: the image is in the layout, and the buffer holds the layer.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, GENERAL, out.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    check_ordered(&out.read(0, (SIZE * SIZE * 4) as usize), fold_colors)
}

case!("tile_images.colors.arrays", SECTION, |gpu| {
    let formats = [
        (RGBA, 4),
        (vk::Format::R8G8B8A8_SRGB, 4),
        (vk::Format::R8_UNORM, 1),
        (vk::Format::R5G6B5_UNORM_PACK16, 2),
        (vk::Format::A2B10G10R10_UNORM_PACK32, 4),
        (vk::Format::R16G16B16A16_SFLOAT, 8),
        (vk::Format::R32G32B32A32_SFLOAT, 16),
    ];
    formats.into_iter().try_for_each(|(format, bytes)| arrays(gpu, format, bytes, Variant::Plain))
});
case!("tile_images.colors.moved", SECTION, |gpu| arrays(gpu, RGBA, 4, Variant::Moved));
case!("tile_images.colors.rates", SECTION, |gpu| arrays(gpu, RGBA, 4, Variant::Coarse));

/// State of a pipeline that reads an array of colours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    /// The locations are not the numbers of the attachments.
    Moved,
    /// A fragment would span four pixels if the program read no colours.
    Coarse,
}

/// Copies two cleared colours to a third, column by column.
fn arrays(gpu: &Gpu, format: vk::Format, bytes: u32, variant: Variant) -> Case {
    commands_of(gpu)?;
    let features = &gpu.extension_features;
    let is_missing = match variant {
        Variant::Plain => false,
        Variant::Moved => features.local_read.dynamic_rendering_local_read == 0,
        Variant::Coarse => features.fragment_rates.pipeline_fragment_shading_rate == 0,
    };
    if is_missing {
        return Err(Outcome::NotSupported("colours of other locations, or fragments of several pixels".into()));
    }
    let images = [image(gpu, format, ONE)?, image(gpu, format, ONE)?, image(gpu, format, ONE)?];
    // The attachments at locations 0, 1 and 2.
    let [first, second, written] = if variant == Variant::Moved { [1, 2, 0] } else { [0, 1, 2] };
    let (mut attachments, mut masks) =
        (images.map(|image| attachment(&image, CLEAR, clear_color([0.0; 4]))), [NONE; 3]);
    attachments[first].clear_value = clear_color([0.8, 0.3, 0.05, 0.25]);
    attachments[second].clear_value = clear_color([0.1, 0.6, 0.9, 1.0]);
    masks[written] = ALL;
    let rate = vk::PipelineFragmentShadingRateStateCreateInfoKHR::default()
        .fragment_size(vk::Extent2D { width: 2, height: 2 })
        .combiner_ops([vk::FragmentShadingRateCombinerOpKHR::KEEP; 2]);
    let layout = gpu.layout(&[])?;
    let plain = PipelineDesc { shaders: [RECT, ARRAY], masks: &masks, format, ..PipelineDesc::plain(layout) };
    let locations = &[2, 0, 1][..];
    let desc = match variant {
        Variant::Plain => plain,
        Variant::Moved => PipelineDesc { locations: Some(locations), ..plain },
        Variant::Coarse => PipelineDesc { next: (&raw const rate).cast(), ..plain },
    };
    let pipeline = pipeline_of(gpu, &desc)?;
    let local = khr::dynamic_rendering_local_read::Device::new(&gpu.instance, &gpu.device);
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    render(gpu, &[&images[0], &images[1], &images[2]], &[info], |commands| {
        if variant == Variant::Moved {
            let info = vk::RenderingAttachmentLocationInfoKHR::default().color_attachment_locations(locations);
            // SAFETY: the command buffer is recording in an instance of three attachments.
            unsafe { (local.fp().cmd_set_rendering_attachment_locations_khr)(commands, &raw const info) };
        }
        Fills { commands, pipeline, layout }.fill(gpu, FULL, [0.0; 4], [0.5, 1.0, 0.0]);
    })?;
    let read = |attachment: usize| gpu.read_image(&images[attachment], COLOR_ASPECT, bytes);
    let (even, odd, copied) = (read(first)?, read(second)?, read(written)?);
    for (at, texel) in copied.chunks(bytes as usize).enumerate() {
        let source = if at.is_multiple_of(2) { &even } else { &odd };
        let expected = &source[at * bytes as usize..][..bytes as usize];
        check(texel == expected, || format!("{format:?}: pixel {at} is {texel:?}, not {expected:?}"))?;
    }
    Ok(())
}

case!("tile_images.colors.resolved", SECTION, resolved);

/// Resolves samples after a barrier, in fragments that read all samples of their pixel.
fn resolved(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    if properties(gpu).shader_tile_image_read_sample_from_pixel_rate_invocation == 0 {
        return Err(Outcome::NotSupported("samples of fragments that are pixels".into()));
    }
    let (drawn, all, single) = (image(gpu, RGBA, FOUR)?, image(gpu, RGBA, FOUR)?, image(gpu, RGBA, ONE)?);
    let attachments = [
        attachment(&drawn, CLEAR, clear_color([0.0; 4])),
        attachment(&all, CLEAR, clear_color([0.0; 4]))
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)
            .resolve_image_view(single.view)
            .resolve_image_layout(GENERAL),
    ];
    let layout = gpu.layout(&[])?;
    let plain = PipelineDesc { samples: FOUR, ..PipelineDesc::plain(layout) };
    let first = pipeline_of(gpu, &PipelineDesc { masks: &[ALL, NONE], ..plain })?;
    let second = pipeline_of(gpu, &PipelineDesc { masks: &[NONE, ALL], shaders: [RECT, RESOLVE], ..plain })?;
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    render(gpu, &[&drawn, &all, &single], &[info], |commands| {
        // Covers the left eight columns, and two samples of each pixel of the ninth.
        let part = [-1.0, -1.0, 0.0625, 1.0];
        Fills { commands, pipeline: first, layout }.fill(gpu, part, [1.0; 4], [0.5, 1.0, 0.0]);
        let (written, read) = (vk::AccessFlags::COLOR_ATTACHMENT_WRITE, vk::AccessFlags::COLOR_ATTACHMENT_READ);
        let memory = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(read)];
        let (from, to) = (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::PipelineStageFlags::FRAGMENT_SHADER);
        let flags = vk::DependencyFlags::BY_REGION;
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_pipeline_barrier(commands, from, to, flags, &memory, &[], &[]) };
        Fills { commands, pipeline: second, layout }.fill(gpu, FULL, [0.0; 4], [0.5, 1.0, 0.0]);
    })?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&single, COLOR_ASPECT, 4)?.chunks(4)) {
        let expected = match at % SIZE {
            0..=7 => [255; 4],
            8 => [255, 0, 128, 255],
            _ => [0, 0, 0, 255],
        };
        check(texel == expected, || format!("pixel {at} is {texel:?}, not {expected:?}"))?;
    }
    Ok(())
}

case!("tile_images.colors.helpers", SECTION, helpers);

/// Computes differences to pixels that the fragments do not cover, and that a later draw hides.
fn helpers(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    if properties(gpu).shader_tile_image_read_from_helper_invocation == 0 {
        return Err(Outcome::NotSupported("reads of helper invocations".into()));
    }
    let (color, slopes, depth) = (image(gpu, RGBA, ONE)?, image(gpu, RGBA, ONE)?, image(gpu, DEPTH, ONE)?);
    let attachments = [&color, &slopes].map(|image| attachment(image, CLEAR, clear_color([0.0; 4])));
    let depths = attachment(&depth, CLEAR, clear_depth(1.0, 0));
    let info = vk::RenderingInfo::default().color_attachments(&attachments);
    let info = info.depth_attachment(&depths).stencil_attachment(&depths);
    let layout = gpu.layout(&[])?;
    let plain = PipelineDesc { depth: Depth::Less, ..PipelineDesc::plain(layout) };
    let opaque = pipeline_of(gpu, &PipelineDesc { masks: &[ALL, NONE], ..plain })?;
    let reading = pipeline_of(gpu, &PipelineDesc { masks: &[NONE, ALL], shaders: [RECT, SLOPE], ..plain })?;
    let column = |number: u32| {
        let edge = |number: u32| number as f32 / 8.0 - 1.0;
        [edge(number), -1.0, edge(number + 1), 1.0]
    };
    render(gpu, &[&color, &slopes, &depth], &[info], |commands| {
        let opaque = Fills { commands, pipeline: opaque, layout };
        for number in 0..SIZE {
            opaque.fill(gpu, column(number), [(number * number) as f32 / 255.0; 4], [0.5, 1.0, 0.0]);
        }
        for number in (1..SIZE).step_by(2) {
            let reading = Fills { commands, pipeline: reading, layout };
            reading.fill(gpu, column(number), [0.0; 4], [0.25, 1.0, 0.0]);
        }
        opaque.fill(gpu, FULL, [1.0; 4], [0.125, 1.0, 0.0]);
    })?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&slopes, COLOR_ASPECT, 4)?.chunks(4)) {
        let number = at % SIZE;
        let expected = if number % 2 == 1 { 2 * number - 1 } else { 0 };
        let is_near = u32::from(texel[0]).abs_diff(expected) <= 1;
        check(is_near, || format!("pixel {at} is {texel:?}, not {expected}"))?;
    }
    Ok(())
}

case!("tile_images.tests.ordered", SECTION, ordered_depths);

/// Draws rectangles whose depths follow from the depths of earlier ones.
fn ordered_depths(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    let depth = image(gpu, DEPTH, ONE)?;
    let depths = attachment(&depth, CLEAR, clear_depth(0.75, 0));
    let shaders = [VERTEX, ORDERED_DEPTH];
    let desc = PipelineDesc { shaders, masks: &[], depth: Depth::Always, ..PipelineDesc::plain(gpu.layout(&[])?) };
    let pipeline = pipeline_of(gpu, &desc)?;
    let info = vk::RenderingInfo::default().depth_attachment(&depths).stencil_attachment(&depths);
    render(gpu, &[&depth], &[info], |commands| draw_rectangles(gpu, commands, pipeline))?;
    check_ordered(&gpu.read_image(&depth, vk::ImageAspectFlags::DEPTH, 4)?, fold_depths)
}

case!("tile_images.tests.both", SECTION, both_tests);

/// Turns depth and stencil into colours, as they were before the tests of the same fragments.
fn both_tests(gpu: &Gpu) -> Case {
    commands_of(gpu)?;
    let (color, depth) = (image(gpu, RGBA, ONE)?, image(gpu, DEPTH, ONE)?);
    let colors = [attachment(&color, CLEAR, clear_color([1.0; 4]))];
    let depths = attachment(&depth, CLEAR, clear_depth(0.25, 9));
    let info = vk::RenderingInfo::default().color_attachments(&colors);
    let info = info.depth_attachment(&depths).stencil_attachment(&depths);
    let layout = gpu.layout(&[])?;
    let plain = PipelineDesc { depth: Depth::OfSample(0, BOTH_TESTS), ..PipelineDesc::plain(layout) };
    let (opaque, reading) =
        (pipeline_of(gpu, &plain)?, pipeline_of(gpu, &PipelineDesc { shaders: [RECT, TESTS], ..plain })?);
    render(gpu, &[&color, &depth], &[info], |commands| {
        let draws = [(opaque, LEFT, 77, 0.5), (reading, FULL, 5, 0.75), (reading, RIGHT, 6, 0.0)];
        for (pipeline, rect, reference, depth) in draws {
            let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
            // SAFETY: the command buffer is recording.
            unsafe { gpu.device.cmd_set_stencil_reference(commands, faces, reference) };
            Fills { commands, pipeline, layout }.fill(gpu, rect, [1.0; 4], [depth, 1.0, 0.0]);
        }
    })?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&color, COLOR_ASPECT, 4)?.chunks(4)) {
        let expected = if at % SIZE < 8 { [128, 77, 0, 255] } else { [191, 5, 0, 255] };
        check(texel == expected, || format!("pixel {at} is {texel:?}, not {expected:?}"))?;
    }
    Ok(())
}
