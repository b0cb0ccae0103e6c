//! Targets and state of cases of shading rates: attachments of several layers, one of them with
//! rates.

use ash::vk;

use crate::harness::{Case, Gpu, Image, Outcome, range};

/// Pixels of a side of the viewport. Targets may be smaller.
pub const SIDE: u32 = 64;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;
const KEEP: vk::FragmentShadingRateCombinerOpKHR = vk::FragmentShadingRateCombinerOpKHR::KEEP;

/// Texels of a rate attachment.
#[derive(Clone)]
pub struct Texels {
    /// Pixels of a side of the area of one texel.
    pub size: [u32; 2],
    /// Texels, layer by layer.
    pub layers: Vec<Vec<u8>>,
}

impl Texels {
    /// Returns the texels of a row, and the number of rows.
    pub fn extent(&self) -> [u32; 2] {
        self.size.map(|size| SIDE.div_ceil(size))
    }

    /// Returns the rate of a pixel of a layer.
    pub fn at(&self, [x, y]: [u32; 2], layer: usize) -> u8 {
        let texels = if self.layers.len() > 1 { &self.layers[layer] } else { &self.layers[0] };
        texels[(y / self.size[1] * self.extent()[0] + x / self.size[0]) as usize]
    }
}

/// Attachments and passes of a case.
#[derive(Clone)]
pub struct Scene {
    pub size: [u32; 2],
    /// Layers of the attachments.
    pub layers: u32,
    /// View mask, or 0.
    pub views: u32,
    pub format: vk::Format,
    pub samples: u32,
    pub texels: Option<Texels>,
    /// Dynamic rendering without a render pass.
    pub rendering: bool,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            size: [SIDE; 2],
            layers: 1,
            views: 0,
            format: vk::Format::R32G32B32A32_SFLOAT,
            samples: 1,
            texels: None,
            rendering: false,
        }
    }
}

/// A corner: position in pixels, depth, and further inputs of the shader.
pub type Vertex = [[f32; 4]; 2];

/// One draw.
#[derive(Clone)]
pub struct RatedDraw {
    pub vertex: &'static [u8],
    pub fragment: &'static [u8],
    pub vertices: Vec<Vertex>,
    pub topology: vk::PrimitiveTopology,
    pub size: [u32; 2],
    pub ops: [vk::FragmentShadingRateCombinerOpKHR; 2],
    /// Size and combiners are set by a command, and the pipeline has different ones.
    pub dynamic: bool,
    pub sample_mask: u32,
    pub alpha_to_coverage: bool,
    pub by_sample: bool,
    /// Colours are added.
    pub adds: bool,
    pub depth: vk::CompareOp,
    pub conservative: Option<vk::ConservativeRasterizationModeEXT>,
    pub viewports: u32,
    /// An occlusion or statistics query.
    pub query: Option<vk::QueryPool>,
    pub control: vk::QueryControlFlags,
}

impl RatedDraw {
    /// Returns a draw of triangles with plain state.
    pub fn new(fragment: &'static [u8], vertices: Vec<Vertex>) -> Self {
        Self {
            vertex: shader!("rates.vert"),
            fragment,
            vertices,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            size: [1; 2],
            ops: [KEEP; 2],
            dynamic: false,
            sample_mask: u32::MAX,
            alpha_to_coverage: false,
            by_sample: false,
            adds: false,
            depth: vk::CompareOp::ALWAYS,
            conservative: None,
            viewports: 1,
            query: None,
            control: vk::QueryControlFlags::empty(),
        }
    }
}

/// The attachments.
struct Targets {
    color: Image,
    depth: Image,
    resolved: Option<Image>,
    rates: Option<Image>,
}

/// Renders, and returns the words of the pixels, four each, layer by layer.
pub fn render(gpu: &Gpu, scene: &Scene, draws: &[RatedDraw]) -> Result<Vec<[u32; 4]>, Outcome> {
    let targets = targets(gpu, scene)?;
    let pass = if scene.rendering { None } else { Some(pass(gpu, scene, &targets)?) };
    let none = vk::RenderPass::null();
    let of_pass = pass.map_or(none, |(pass, _)| pass);
    let layout = gpu.layout(&[])?;
    let make = |draw: &RatedDraw| Ok((pipeline(gpu, scene, (of_pass, layout), draw)?, gpu.buffer_with(&clip(draw))?));
    let made = draws.iter().map(make).collect::<Result<Vec<_>, Outcome>>()?;
    let extension = ash::khr::fragment_shading_rate::Device::new(&gpu.instance, &gpu.device);
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            for pool in draws.iter().filter_map(|draw| draw.query) {
                gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
            }
            begin(gpu, commands, scene, (&targets, pass));
            for (draw, (pipeline, buffer)) in draws.iter().zip(&made) {
                gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, *pipeline);
                if draw.dynamic {
                    let [width, height] = draw.size;
                    let set = extension.fp().cmd_set_fragment_shading_rate_khr;
                    set(commands, &vk::Extent2D { width, height }, &draw.ops);
                }
                gpu.device.cmd_bind_vertex_buffers(commands, 0, &[buffer.handle], &[0]);
                if let Some(pool) = draw.query {
                    gpu.device.cmd_begin_query(commands, pool, 0, draw.control);
                }
                gpu.device.cmd_draw(commands, draw.vertices.len() as u32, 1, 0, 0);
                if let Some(pool) = draw.query {
                    gpu.device.cmd_end_query(commands, pool, 0);
                }
            }
            end(gpu, commands, pass);
            gpu.barrier(commands, None);
        }
    })?;
    read(gpu, scene, targets.resolved.as_ref().unwrap_or(&targets.color))
}

/// Returns the vertices in clip coordinates.
fn clip(draw: &RatedDraw) -> Vec<Vertex> {
    let place = |pixels: f32| pixels * 2.0 / SIDE as f32 - 1.0;
    draw.vertices.iter().map(|[[x, y, z, w], more]| [[place(*x) * w, place(*y) * w, z * w, *w], *more]).collect()
}

/// Dimensions of an image.
#[derive(Clone, Copy)]
struct ImageShape {
    size: [u32; 2],
    layers: u32,
    samples: u32,
}

fn image(gpu: &Gpu, format: vk::Format, shape: ImageShape) -> Result<Image, Outcome> {
    let ImageShape { size, layers, samples } = shape;
    use vk::ImageUsageFlags as U;
    let (aspects, usage) = match format {
        DEPTH_FORMAT => (DEPTH, U::DEPTH_STENCIL_ATTACHMENT),
        vk::Format::R8_UINT => (COLOR, U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR),
        _ => (COLOR, U::COLOR_ATTACHMENT),
    };
    let extent = vk::Extent3D { width: size[0], height: size[1], depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::from_raw(samples))
        .usage(usage | U::TRANSFER_SRC | U::TRANSFER_DST);
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let handle = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(vk::ImageSubresourceRange { layer_count: layers, ..range(aspects, 0, 1) });
        Ok(Image { handle, view: gpu.device.create_image_view(&info, None)?, extent, aspects, levels: 1 })
    }
}

fn targets(gpu: &Gpu, scene: &Scene) -> Result<Targets, Outcome> {
    let &Scene { size, layers, samples, format, .. } = scene;
    let targets = Targets {
        color: image(gpu, format, ImageShape { size, layers, samples })?,
        depth: image(gpu, DEPTH_FORMAT, ImageShape { size, layers, samples })?,
        resolved: if samples > 1 { Some(image(gpu, format, ImageShape { size, layers, samples: 1 })?) } else { None },
        rates: match &scene.texels {
            Some(texels) => Some(image(
                gpu,
                vk::Format::R8_UINT,
                ImageShape { size: texels.extent(), layers: texels.layers.len() as u32, samples: 1 },
            )?),
            None => None,
        },
    };
    if let (Some(rates), Some(texels)) = (&targets.rates, &scene.texels) {
        upload(gpu, rates, texels)?;
    }
    gpu.run(|commands| {
        for (image, layers) in
            [(Some(&targets.color), layers), (Some(&targets.depth), layers), (targets.resolved.as_ref(), layers)]
        {
            image.into_iter().for_each(|image| to_general(gpu, commands, image, layers));
        }
    })?;
    Ok(targets)
}

/// Moves all layers of a new image to the general layout.
fn to_general(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image, layers: u32) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .new_layout(GENERAL)
        .image(image.handle)
        .subresource_range(vk::ImageSubresourceRange { layer_count: layers, ..range(image.aspects, 0, 1) });
    let none = vk::DependencyFlags::empty();
    // SAFETY: the command buffer is recording outside of a render pass.
    unsafe { gpu.device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]) };
}

fn upload(gpu: &Gpu, image: &Image, texels: &Texels) -> Case {
    let buffer = gpu.buffer_with(&texels.layers.concat())?;
    let layers = texels.layers.len() as u32;
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { layer_count: layers, ..crate::harness::layers(COLOR) },
        image_extent: image.extent,
        ..Default::default()
    };
    gpu.run(|commands| {
        to_general(gpu, commands, image, layers);
        // SAFETY: the image is in the layout, and the buffer holds all of the region.
        unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, GENERAL, &[region]) };
        gpu.barrier(commands, None);
    })
}

fn read(gpu: &Gpu, scene: &Scene, image: &Image) -> Result<Vec<[u32; 4]>, Outcome> {
    let pixels = scene.size[0] * scene.size[1] * scene.layers;
    let buffer = gpu.buffer(u64::from(pixels) * 16)?;
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { layer_count: scene.layers, ..crate::harness::layers(COLOR) },
        image_extent: image.extent,
        ..Default::default()
    };
    gpu.run(|commands| {
        // SAFETY: the image is in the layout, and the buffer holds all of the region.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, GENERAL, buffer.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    Ok(buffer.words().chunks_exact(4).map(|words| [words[0], words[1], words[2], words[3]]).collect())
}

fn reference(attachment: u32, aspect_mask: vk::ImageAspectFlags) -> vk::AttachmentReference2<'static> {
    vk::AttachmentReference2::default().attachment(attachment).layout(GENERAL).aspect_mask(aspect_mask)
}

/// Returns the attachments of a render pass in order: colour, depth, resolved colour, rates.
fn attachments(scene: &Scene, targets: &Targets) -> (Vec<vk::AttachmentDescription2<'static>>, Vec<vk::ImageView>) {
    let attachment = |format, samples, load| {
        vk::AttachmentDescription2::default()
            .format(format)
            .samples(vk::SampleCountFlags::from_raw(samples))
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(GENERAL)
            .final_layout(GENERAL)
    };
    let (clear, load) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD);
    let samples = scene.samples;
    let mut all = vec![
        (attachment(scene.format, samples, clear), targets.color.view),
        (attachment(DEPTH_FORMAT, samples, clear), targets.depth.view),
    ];
    all.extend(
        targets.resolved.map(|image| (attachment(scene.format, 1, vk::AttachmentLoadOp::DONT_CARE), image.view)),
    );
    all.extend(targets.rates.map(|image| (attachment(vk::Format::R8_UINT, 1, load), image.view)));
    all.into_iter().unzip()
}

fn pass(gpu: &Gpu, scene: &Scene, targets: &Targets) -> Result<(vk::RenderPass, vk::Framebuffer), Outcome> {
    let (attachments, views) = attachments(scene, targets);
    let (colors, depth, resolves) = ([reference(0, COLOR)], reference(1, DEPTH), [reference(2, COLOR)]);
    let rates = reference(attachments.len() as u32 - 1, COLOR);
    let [width, height] = scene.texels.as_ref().map_or([0; 2], |texels| texels.size);
    let mut sizes = vk::FragmentShadingRateAttachmentInfoKHR::default()
        .fragment_shading_rate_attachment(&rates)
        .shading_rate_attachment_texel_size(vk::Extent2D { width, height });
    let mut subpass = vk::SubpassDescription2::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&depth)
        .view_mask(scene.views);
    if targets.resolved.is_some() {
        subpass = subpass.resolve_attachments(&resolves);
    }
    if targets.rates.is_some() {
        subpass = subpass.push_next(&mut sizes);
    }
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    let extension = ash::khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the infos are valid.
    unsafe {
        let pass = extension.create_render_pass2(&info, None)?;
        let layers = if scene.views == 0 { scene.layers } else { 1 };
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let info = info.width(scene.size[0]).height(scene.size[1]).layers(layers);
        Ok((pass, gpu.device.create_framebuffer(&info, None)?))
    }
}

fn clears() -> [vk::ClearValue; 2] {
    let color = vk::ClearValue { color: vk::ClearColorValue { uint32: [0; 4] } };
    [color, vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } }]
}

/// Begins the pass, or dynamic rendering.
///
/// # Safety
/// The command buffer is recording, and the objects belong together.
unsafe fn begin(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    scene: &Scene,
    (targets, pass): (&Targets, Option<(vk::RenderPass, vk::Framebuffer)>),
) {
    let extent = vk::Extent2D { width: scene.size[0], height: scene.size[1] };
    let area = vk::Rect2D { extent, ..Default::default() };
    let clears = clears();
    if let Some((pass, framebuffer)) = pass {
        let info = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
        let info = info.render_area(area).clear_values(&clears);
        // SAFETY: as this function demands.
        unsafe { gpu.device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE) };
        return;
    }
    let attachment = |view, value: usize| {
        vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(clears[value])
    };
    let mut color = attachment(targets.color.view, 0);
    if let Some(resolved) = &targets.resolved {
        color = color.resolve_mode(vk::ResolveModeFlags::AVERAGE).resolve_image_view(resolved.view);
        color = color.resolve_image_layout(GENERAL);
    }
    let (colors, depth) = ([color], attachment(targets.depth.view, 1));
    let [width, height] = scene.texels.as_ref().map_or([0; 2], |texels| texels.size);
    let mut sizes = vk::RenderingFragmentShadingRateAttachmentInfoKHR::default()
        .image_layout(GENERAL)
        .image_view(targets.rates.map_or(vk::ImageView::null(), |image| image.view))
        .shading_rate_attachment_texel_size(vk::Extent2D { width, height });
    let info = vk::RenderingInfo::default()
        .render_area(area)
        .layer_count(if scene.views == 0 { scene.layers } else { 1 })
        .view_mask(scene.views)
        .color_attachments(&colors)
        .depth_attachment(&depth)
        .push_next(&mut sizes);
    let extension = ash::khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe { extension.cmd_begin_rendering(commands, &info) };
}

/// Ends the pass or dynamic rendering.
///
/// # Safety
/// The command buffer is recording in a pass that `begin` began.
unsafe fn end(gpu: &Gpu, commands: vk::CommandBuffer, pass: Option<(vk::RenderPass, vk::Framebuffer)>) {
    // SAFETY: as this function demands.
    unsafe {
        match pass {
            Some(_) => gpu.device.cmd_end_render_pass(commands),
            None => {
                ash::khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device).cmd_end_rendering(commands);
            }
        }
    }
}

fn pipeline(
    gpu: &Gpu,
    scene: &Scene,
    (pass, layout): (vk::RenderPass, vk::PipelineLayout),
    draw: &RatedDraw,
) -> Result<vk::Pipeline, Outcome> {
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, gpu.module(draw.vertex)?),
        stage(vk::ShaderStageFlags::FRAGMENT, gpu.module(draw.fragment)?),
    ];
    let attributes = [0, 1].map(attribute);
    let bindings = [vk::VertexInputBindingDescription { stride: 32, ..Default::default() }];
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(draw.topology);
    let viewports: Vec<_> = (0..draw.viewports).map(viewport_of).collect();
    let scissors = vec![everything(); draw.viewports as usize];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let mut conservative = vk::PipelineRasterizationConservativeStateCreateInfoEXT::default()
        .conservative_rasterization_mode(draw.conservative.unwrap_or_default());
    let mut raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    if draw.conservative.is_some() {
        raster = raster.push_next(&mut conservative);
    }
    let mask = [draw.sample_mask];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(scene.samples))
        .sample_mask(&mask)
        .sample_shading_enable(draw.by_sample)
        .min_sample_shading(1.0)
        .alpha_to_coverage_enable(draw.alpha_to_coverage);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(draw.depth);
    let blends = [blend_of(draw)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = [vk::DynamicState::FRAGMENT_SHADING_RATE_KHR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic[..usize::from(draw.dynamic)]);
    let [width, height] = if draw.dynamic { [2, 4] } else { draw.size };
    let mut rate = vk::PipelineFragmentShadingRateStateCreateInfoKHR::default()
        .fragment_size(vk::Extent2D { width, height })
        .combiner_ops(if draw.dynamic { [KEEP; 2] } else { draw.ops });
    let formats = [scene.format];
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(DEPTH_FORMAT)
        .view_mask(scene.views);
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(pass)
        .push_next(&mut rate);
    if scene.rendering {
        info = info.push_next(&mut rendering);
        info.flags |= vk::PipelineCreateFlags::RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    }
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok(made.map_err(|(_, code)| code)?[0])
}

fn attribute(location: u32) -> vk::VertexInputAttributeDescription {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    vk::VertexInputAttributeDescription { location, binding: 0, format, offset: location * 16 }
}

/// Returns the viewport of a number. The second one is moved.
fn viewport_of(number: u32) -> vk::Viewport {
    let (x, side) = (number as f32 * 5.0, SIDE as f32);
    vk::Viewport { x, width: side, height: side, max_depth: 1.0, ..Default::default() }
}

fn everything() -> vk::Rect2D {
    vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() }
}

fn blend_of(draw: &RatedDraw) -> vk::PipelineColorBlendAttachmentState {
    let one = vk::BlendFactor::ONE;
    vk::PipelineColorBlendAttachmentState {
        blend_enable: draw.adds.into(),
        src_color_blend_factor: one,
        dst_color_blend_factor: one,
        src_alpha_blend_factor: one,
        dst_alpha_blend_factor: one,
        color_write_mask: vk::ColorComponentFlags::RGBA,
        ..Default::default()
    }
}
