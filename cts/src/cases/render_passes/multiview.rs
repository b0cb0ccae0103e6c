//! `VK_KHR_multiview`: every view is rendered to its layer, with its index, depths, samples,
//! queries and input attachments.

use ash::vk;

use crate::cases::support::fills::Fills;
use crate::cases::support::pipelines::{Between, Depth, PipelineDesc, pipeline_of, pipeline_with, whole};
use crate::harness::{Case, Gpu, Image, Outcome, check, range};
use crate::render::SIZE;

const VERTEX: &[u8] = shader!("views.vert");
const GEOMETRY: &[u8] = shader!("views.geom");
const CONTROL: &[u8] = shader!("views.tesc");
const EVALUATION: &[u8] = shader!("views.tese");
const FRAGMENT: &[u8] = shader!("views.frag");
const INPUT: &[u8] = shader!("input.frag");
const RECT: &[u8] = crate::render::RECT;

/// Layers of the attachments.
pub(in crate::cases) const LAYERS: u32 = 4;

/// The rendered views. Layer 1 is not rendered.
pub(in crate::cases) const VIEWS: u32 = 0b1101;

const ALL: [vk::ColorComponentFlags; 1] = [vk::ColorComponentFlags::RGBA];
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const FULL: [f32; 4] = [-1.0, -1.0, 1.0, 1.0];

case!("multiview.device.limits", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], limits);

fn limits(gpu: &Gpu) -> Case {
    let mut own = vk::PhysicalDeviceMultiviewProperties::default();
    gpu.properties2(&mut own);
    let enough = own.max_multiview_view_count >= 6 && own.max_multiview_instance_index >= (1 << 27) - 1;
    check(enough && gpu.extension_features.multiview.multiview == vk::TRUE, || format!("{own:?}"))
}

/// Creates an image of all layers with a view of them.
pub(in crate::cases) fn layered(
    gpu: &Gpu,
    format: vk::Format,
    samples: vk::SampleCountFlags,
) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };
    let (aspects, usage) = match format {
        vk::Format::D32_SFLOAT => (DEPTH, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
        _ => (COLOR, vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT),
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(LAYERS)
        .samples(samples)
        .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let handle = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(vk::ImageSubresourceRange { layer_count: LAYERS, ..range(aspects, 0, 1) });
        let view = gpu.device.create_image_view(&info, None)?;
        Ok(Image { handle, view, extent, aspects, levels: 1 })
    }
}

/// A pass of one or two subpasses, and its attachments: colour, depth, and the resolved colour or
/// the colour of the second subpass.
struct Scene {
    color: Image,
    depth: Image,
    /// The resolved colour, or that of the second subpass.
    last: Option<Image>,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    samples: vk::SampleCountFlags,
}

impl Scene {
    fn new(gpu: &Gpu, samples: vk::SampleCountFlags, two: bool, first_version: bool) -> Result<Self, Outcome> {
        let format = vk::Format::R8G8B8A8_UNORM;
        let color = layered(gpu, format, samples)?;
        let depth = layered(gpu, vk::Format::D32_SFLOAT, samples)?;
        let last = if two || samples != ONE { Some(layered(gpu, format, ONE)?) } else { None };
        let pass = if first_version { pass1(gpu, samples)? } else { pass2(gpu, samples, two)? };
        let views: Vec<_> = [Some(color), Some(depth), last].iter().flatten().map(|image| image.view).collect();
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        // SAFETY: the info is valid.
        let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None) }?;
        Ok(Self { color, depth, last, pass, framebuffer, samples })
    }

    fn images(&self) -> impl Iterator<Item = &Image> {
        [Some(&self.color), Some(&self.depth), self.last.as_ref()].into_iter().flatten()
    }

    fn pipeline(&self, gpu: &Gpu, layout: vk::PipelineLayout, depth: Depth) -> Result<vk::Pipeline, Outcome> {
        let (shaders, samples) = ([VERTEX, FRAGMENT], self.samples);
        pipeline_of(
            gpu,
            &PipelineDesc { pass: (self.pass, 0), shaders, masks: &ALL, samples, depth, ..PipelineDesc::plain(layout) },
        )
    }

    /// Runs the pass. Every layer holds 0x11 in all bytes before.
    fn run(&self, gpu: &Gpu, contents: vk::SubpassContents, record: impl Fn(vk::CommandBuffer)) -> Case {
        let clears = [
            vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 1.0, 0.0, 1.0] } },
            vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } },
            vk::ClearValue { color: vk::ClearColorValue { float32: [1.0; 4] } },
        ];
        let begin = vk::RenderPassBeginInfo::default().render_pass(self.pass).framebuffer(self.framebuffer);
        let begin = begin.render_area(whole()).clear_values(&clears);
        gpu.run(|commands| {
            for image in self.images() {
                all_layers(gpu, commands, image);
            }
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_begin_render_pass(commands, &begin, contents);
                record(commands);
                gpu.device.cmd_end_render_pass(commands);
            }
            gpu.barrier(commands, None);
        })
    }

    /// Compares with the expected colours by layer, column and row.
    fn compare(&self, gpu: &Gpu, expected: impl Fn(u32, u32, u32) -> [u8; 4]) -> Case {
        let image = self.last.as_ref().unwrap_or(&self.color);
        let out = gpu.buffer(u64::from(SIZE * SIZE * LAYERS * 4))?;
        let whole = crate::harness::whole(image, COLOR);
        let image_subresource = vk::ImageSubresourceLayers { layer_count: LAYERS, ..whole.image_subresource };
        let region = vk::BufferImageCopy { image_subresource, ..whole };
        gpu.run(|commands| {
            // SAFETY: the image is in the layout, and the buffer holds all of it.
            unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, GENERAL, out.handle, &[region]) };
            gpu.barrier(commands, None);
        })?;
        for (at, word) in (0u32..).zip(out.words()) {
            let (layer, y, x) = (at / SIZE / SIZE, at / SIZE % SIZE, at % SIZE);
            let untouched = VIEWS >> layer & 1 == 0;
            let wanted = if untouched { [0x11; 4] } else { expected(layer, y, x) };
            let close = word.to_le_bytes().iter().zip(wanted).all(|(&a, b)| a.abs_diff(b) <= 1);
            check(close, || format!("layer {layer} has {word:08x} at ({x}, {y}), not {wanted:x?}"))?;
        }
        Ok(())
    }
}

/// Moves all layers to the general layout, with 0x11 in all bytes of colours.
pub(in crate::cases) fn all_layers(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image) {
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    let part = vk::ImageSubresourceRange { layer_count: LAYERS, ..range(image.aspects, 0, 1) };
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .new_layout(GENERAL)
        .image(image.handle)
        .subresource_range(part);
    let color = vk::ClearColorValue { float32: [17.0 / 255.0; 4] };
    // SAFETY: the command buffer is recording outside of a pass.
    unsafe {
        let none = vk::DependencyFlags::empty();
        gpu.device.cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &[barrier]);
        if image.aspects == COLOR {
            gpu.device.cmd_clear_color_image(commands, image.handle, GENERAL, &color, &[part]);
        }
    }
    gpu.barrier(commands, None);
}

fn pass1(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<vk::RenderPass, Outcome> {
    let attachment = |format| {
        vk::AttachmentDescription::default()
            .format(format)
            .samples(samples)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .initial_layout(GENERAL)
            .final_layout(GENERAL)
    };
    let attachments = [attachment(vk::Format::R8G8B8A8_UNORM), attachment(vk::Format::D32_SFLOAT)];
    let colors = [vk::AttachmentReference { attachment: 0, layout: GENERAL }];
    let depth = vk::AttachmentReference { attachment: 1, layout: GENERAL };
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors).depth_stencil_attachment(&depth)];
    let masks = [VIEWS];
    let mut views = vk::RenderPassMultiviewCreateInfo::default().view_masks(&masks).correlation_masks(&masks);
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_render_pass(&info.push_next(&mut views), None) }?)
}

fn pass2(gpu: &Gpu, samples: vk::SampleCountFlags, two: bool) -> Result<vk::RenderPass, Outcome> {
    gpu.need(vk::KHR_CREATE_RENDERPASS2_NAME)?;
    let second = ash::khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    let attachment = |format, samples| {
        vk::AttachmentDescription2::default()
            .format(format)
            .samples(samples)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .initial_layout(GENERAL)
            .final_layout(GENERAL)
    };
    let format = vk::Format::R8G8B8A8_UNORM;
    let attachments =
        [attachment(format, samples), attachment(vk::Format::D32_SFLOAT, samples), attachment(format, ONE)];
    let reference = |attachment, aspects| {
        [vk::AttachmentReference2::default().attachment(attachment).layout(GENERAL).aspect_mask(aspects)]
    };
    let (colors, depth, last) = (reference(0, COLOR), reference(1, DEPTH), reference(2, COLOR));
    let mut first = vk::SubpassDescription2::default()
        .view_mask(VIEWS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&depth[0]);
    if samples != ONE {
        first = first.resolve_attachments(&last);
    }
    let next = vk::SubpassDescription2::default().view_mask(VIEWS).color_attachments(&last).input_attachments(&colors);
    let subpasses = [first, next];
    let dependencies = [vk::SubpassDependency2::default()
        .dst_subpass(1)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER)
        .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)
        .dependency_flags(vk::DependencyFlags::BY_REGION | vk::DependencyFlags::VIEW_LOCAL)];
    let count = if two || samples != ONE { 3 } else { 2 };
    let info = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments[..count])
        .subpasses(&subpasses[..1 + usize::from(two)])
        .dependencies(if two { &dependencies } else { &[] });
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info, None) }?)
}

/// A strip of 4 columns that moves by 4 columns with each view.
const STRIP: [f32; 4] = [-1.0, -1.0, -0.5, 1.0];

/// Returns the colour of a strip of red over green in a view.
fn strip(layer: u32, x: u32) -> [u8; 4] {
    if x / 4 == layer { [255, 0, layer as u8, 255] } else { [0, 255, 0, 255] }
}

case!("multiview.views.index", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], |gpu| index(gpu, ONE, false));
case!("multiview.views.first_version", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], |gpu| index(gpu, ONE, true));
case!("multiview.views.samples", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], |gpu| index(gpu, FOUR, false));

/// Checks that both stages see the view index.
fn index(gpu: &Gpu, samples: vk::SampleCountFlags, first_version: bool) -> Case {
    let scene = Scene::new(gpu, samples, false, first_version)?;
    let layout = gpu.layout(&[])?;
    let pipeline = scene.pipeline(gpu, layout, Depth::Unused)?;
    let red = [1.0, 0.0, 0.0, 0.0];
    let draw = |commands| Fills { commands, pipeline, layout }.fill(gpu, STRIP, red, [0.5, 0.5, 0.0]);
    scene.run(gpu, vk::SubpassContents::INLINE, draw)?;
    scene.compare(gpu, |layer, _, x| strip(layer, x))
}

case!("multiview.views.of_device", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], of_device);

/// Checks that view indices are the device index 0 in all stages where pipelines ask for it.
fn of_device(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let flags = vk::PipelineCreateFlags::VIEW_INDEX_FROM_DEVICE_INDEX;
    let plain = PipelineDesc { pass: (scene.pass, 0), masks: &ALL, ..PipelineDesc::plain(layout) };
    let between_none = PipelineDesc { shaders: [VERTEX, FRAGMENT], ..plain };
    let between_some = PipelineDesc { shaders: [RECT, FRAGMENT], ..plain };
    let mut all = vec![(between_none, Between::Nothing)];
    if gpu.features.geometry_shader != 0 && gpu.extension_features.multiview.multiview_geometry_shader != 0 {
        all.push((between_some, Between::Geometry(GEOMETRY)));
    }
    if gpu.features.tessellation_shader != 0 && gpu.extension_features.multiview.multiview_tessellation_shader != 0 {
        all.push((between_some, Between::Patches([CONTROL, EVALUATION])));
    }
    for (desc, between) in all {
        // An earlier pipeline of the same modules must not be reused.
        pipeline_with(gpu, &desc, between)?;
        let pipeline = pipeline_with(gpu, &PipelineDesc { flags, ..desc }, between)?;
        let red = [1.0, 0.0, 0.0, 0.0];
        let draw = |commands| Fills { commands, pipeline, layout }.fill(gpu, STRIP, red, [0.5, 0.5, 0.0]);
        scene.run(gpu, vk::SubpassContents::INLINE, draw)?;
        scene.compare(gpu, |_, _, x| strip(0, x))?;
    }
    Ok(())
}

case!("multiview.views.geometry", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], geometry);

/// Moves the strip by view in a geometry shader.
fn geometry(gpu: &Gpu) -> Case {
    if gpu.features.geometry_shader == 0 || gpu.extension_features.multiview.multiview_geometry_shader == 0 {
        return Err(Outcome::NotSupported("multiviewGeometryShader".into()));
    }
    moved(gpu, Between::Geometry(GEOMETRY))
}

case!("multiview.views.patches", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], patches);

fn patches(gpu: &Gpu) -> Case {
    if gpu.features.tessellation_shader == 0 || gpu.extension_features.multiview.multiview_tessellation_shader == 0 {
        return Err(Outcome::NotSupported("multiviewTessellationShader".into()));
    }
    moved(gpu, Between::Patches([CONTROL, EVALUATION]))
}

/// Moves triangles by view in the stages between the vertex and the fragment shader.
fn moved(gpu: &Gpu, between: Between) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let (shaders, depth) = ([RECT, FRAGMENT], Depth::Unused);
    let desc = PipelineDesc { pass: (scene.pass, 0), shaders, masks: &ALL, depth, ..PipelineDesc::plain(layout) };
    let pipeline = pipeline_with(gpu, &desc, between)?;
    let red = [1.0, 0.0, 0.0, 0.0];
    let draw = |commands| Fills { commands, pipeline, layout }.fill(gpu, STRIP, red, [0.5, 0.5, 0.0]);
    scene.run(gpu, vk::SubpassContents::INLINE, draw)?;
    scene.compare(gpu, |layer, _, x| strip(layer, x))
}

case!("multiview.views.secondary", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], secondary);

fn secondary(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let pipeline = scene.pipeline(gpu, layout, Depth::Unused)?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool);
    let info = info.level(vk::CommandBufferLevel::SECONDARY).command_buffer_count(1);
    let inheritance = vk::CommandBufferInheritanceInfo::default().render_pass(scene.pass);
    let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
    let begin = begin.flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE);
    // SAFETY: valid infos; the buffer is recorded here and executed once.
    unsafe {
        let inner = gpu.device.allocate_command_buffers(&info)?[0];
        gpu.device.begin_command_buffer(inner, &begin)?;
        Fills { commands: inner, pipeline, layout }.fill(gpu, STRIP, [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0]);
        gpu.device.end_command_buffer(inner)?;
        scene.run(gpu, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS, |commands| {
            gpu.device.cmd_execute_commands(commands, &[inner]);
        })?;
    }
    scene.compare(gpu, |layer, _, x| strip(layer, x))
}

case!("multiview.views.depth", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], depth);

/// Draws a strip that is farther in later views, and a second rectangle between the depths.
fn depth(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let pipeline = scene.pipeline(gpu, layout, Depth::Less)?;
    scene.run(gpu, vk::SubpassContents::INLINE, |commands| {
        Fills { commands, pipeline, layout }.fill(gpu, STRIP, [1.0, 0.0, 0.0, 0.0], [0.1, 0.5, 0.2]);
        Fills { commands, pipeline, layout }.fill(gpu, FULL, [0.5, 0.0, 100.0, 0.0], [0.4, 0.0, 0.0]);
    })?;
    scene.compare(gpu, |layer, _, x| match x / 4 == layer && layer < 2 {
        true => [255, 0, layer as u8, 255],
        false => [128, 0, 100 + layer as u8, 255],
    })
}

case!("multiview.views.clear", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], clear);

/// Checks that clearing a part of the attachments clears it in each view.
fn clear(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let pipeline = scene.pipeline(gpu, layout, Depth::Unused)?;
    let value = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 0.0, 1.0, 1.0] } };
    let attachment = vk::ClearAttachment { aspect_mask: COLOR, color_attachment: 0, clear_value: value };
    let rect = vk::Rect2D { offset: vk::Offset2D { x: 0, y: 3 }, extent: vk::Extent2D { width: SIZE, height: 5 } };
    let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    scene.run(gpu, vk::SubpassContents::INLINE, |commands| {
        Fills { commands, pipeline, layout }.fill(gpu, STRIP, [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0]);
        // SAFETY: the command buffer is recording in the pass.
        unsafe { gpu.device.cmd_clear_attachments(commands, &[attachment], &[rect]) };
    })?;
    scene.compare(gpu, |layer, y, x| if (3..8).contains(&y) { [0, 0, 255, 255] } else { strip(layer, x) })
}

case!("multiview.views.input_attachment", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], input_attachment);

/// Checks that the second subpass reads the layer of its view.
fn input_attachment(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, true, false)?;
    let kind = vk::DescriptorType::INPUT_ATTACHMENT;
    let (set_layout, set) = gpu.set_for(&[kind], vk::ShaderStageFlags::FRAGMENT)?;
    let info = [vk::DescriptorImageInfo { image_view: scene.color.view, image_layout: GENERAL, ..Default::default() }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).image_info(&info);
    // SAFETY: the set is new, and nothing uses it.
    unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    let (plain, with_set) = (gpu.layout(&[])?, gpu.layout(&[set_layout])?);
    let first = scene.pipeline(gpu, plain, Depth::Unused)?;
    let (shaders, samples) = ([RECT, INPUT], ONE);
    let desc = PipelineDesc { pass: (scene.pass, 1), shaders, masks: &ALL, samples, ..PipelineDesc::plain(with_set) };
    let second = pipeline_of(gpu, &desc)?;
    scene.run(gpu, vk::SubpassContents::INLINE, |commands| {
        Fills { commands, pipeline: first, layout: plain }.fill(gpu, STRIP, [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0]);
        // SAFETY: the command buffer is recording in the pass.
        unsafe {
            gpu.device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
            let point = vk::PipelineBindPoint::GRAPHICS;
            gpu.device.cmd_bind_descriptor_sets(commands, point, with_set, 0, &[set], &[]);
        }
        Fills { commands, pipeline: second, layout: with_set }.fill(gpu, FULL, [1.0; 4], [0.5, 1.0, 0.0]);
    })?;
    // The shader returns half of its input, with the column as blue and half of alpha.
    scene.compare(gpu, |layer, _, x| match strip(layer, x) {
        [255, ..] => [128, 0, (layer / 2 + x) as u8, 128],
        _ => [0, 128, x as u8, 128],
    })
}

case!("multiview.views.queries", "VK_KHR_multiview", [vk::KHR_MULTIVIEW_NAME], queries);

/// Checks that the queries of all views add up.
fn queries(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu, ONE, false, false)?;
    let layout = gpu.layout(&[])?;
    let pipeline = scene.pipeline(gpu, layout, Depth::Unused)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(8);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    // SAFETY: the command buffer is recording outside of a pass.
    gpu.run(|commands| unsafe { gpu.device.cmd_reset_query_pool(commands, pool, 0, 8) })?;
    let precise = vk::QueryControlFlags::PRECISE;
    scene.run(gpu, vk::SubpassContents::INLINE, |commands| {
        // SAFETY: the command buffer is recording in the pass.
        unsafe { gpu.device.cmd_begin_query(commands, pool, 2, precise) };
        // In the last view, half of the strip is outside.
        Fills { commands, pipeline, layout }.fill(gpu, STRIP, [1.0, 0.0, 0.0, 0.0], [0.5, 1.75 / 3.0, 0.0]);
        // SAFETY: the command buffer is recording in the pass.
        unsafe { gpu.device.cmd_end_query(commands, pool, 2) };
    })?;
    let mut counts = [0u64; 3];
    // SAFETY: the queries of all views are complete.
    unsafe { gpu.device.get_query_pool_results(pool, 2, &mut counts, vk::QueryResultFlags::TYPE_64) }?;
    let covered = u64::from(SIZE * (4 + 4 + 2));
    check(counts.iter().sum::<u64>() == covered, || format!("{counts:?} for {covered} pixels"))
}
