//! Targets and state of cases of shading rates and density maps: attachments of several layers, one
//! of them with rates.

use ash::vk;

use crate::cases::support::{compute, pairs::secondary};
use crate::harness::{Buffer, Case, Compute, Gpu, Image, Outcome, STORAGE, range};

/// Pixels of a side of the viewport. Targets may be smaller.
pub const SIDE: u32 = 64;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;
const COPIED: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);
const SAMPLED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
const KEEP: vk::FragmentShadingRateCombinerOpKHR = vk::FragmentShadingRateCombinerOpKHR::KEEP;

/// Texels of a rate attachment.
#[derive(Clone)]
pub struct Texels {
    /// Pixels of a side of the area of one texel.
    pub size: [u32; 2],
    /// Sizes of fragments as shaders see them, layer by layer.
    pub layers: Vec<Vec<u8>>,
    pub kind: TexelKind,
}

/// Meaning of the texels of a rate attachment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TexelKind {
    /// Sizes of `VK_KHR_fragment_shading_rate`.
    Sizes,
    /// Densities of `VK_EXT_fragment_density_map`, and when they are read.
    Densities(ReadTime),
}

/// Time at which a density map is read. It is written before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadTime {
    /// The pass is recorded.
    Recorded,
    /// The recording of the command buffer ends.
    Deferred,
    /// The pass is executed.
    Dynamic,
}

/// Bytes of densities for fragments of 1, 2 and 4 pixels along an axis.
const DENSITIES: [[u8; 3]; 3] = [[255, 200, 128], [127, 100, 64], [63, 40, 1]];

impl Texels {
    /// Returns the bytes of all texels.
    fn bytes(&self) -> Vec<u8> {
        let sizes = self.layers.concat();
        if self.kind == TexelKind::Sizes {
            return sizes;
        }
        let densities = |(index, word): (usize, &u8)| {
            [word >> 2 & 3, word & 3].map(|log2| DENSITIES[usize::from(log2)][index % DENSITIES.len()])
        };
        sizes.iter().enumerate().flat_map(densities).collect()
    }

    fn format(&self) -> vk::Format {
        if self.kind == TexelKind::Sizes { vk::Format::R8_UINT } else { vk::Format::R8G8_UNORM }
    }

    /// Returns the flags of a view of the texels.
    fn view(&self) -> vk::ImageViewCreateFlags {
        match self.kind {
            TexelKind::Densities(ReadTime::Deferred) => vk::ImageViewCreateFlags::FRAGMENT_DENSITY_MAP_DEFERRED_EXT,
            TexelKind::Densities(ReadTime::Dynamic) => vk::ImageViewCreateFlags::FRAGMENT_DENSITY_MAP_DYNAMIC_EXT,
            _ => vk::ImageViewCreateFlags::empty(),
        }
    }

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
    /// The first version of render passes. It has no shading rates and no view masks.
    pub first_version: bool,
    /// The colours are a subsampled image, which is sampled.
    pub subsampled: bool,
    /// First pixel of the render area, which extends to the end of the attachments.
    pub first: [u32; 2],
    /// A secondary command buffer draws.
    pub secondary: bool,
}

impl Scene {
    /// Returns true if the render area includes a pixel.
    pub fn includes(&self, pixel: [u32; 2]) -> bool {
        (0..2).all(|axis| (self.first[axis]..self.size[axis]).contains(&pixel[axis]))
    }

    /// Returns the texels if they are densities, and when they are read.
    fn densities(&self) -> Option<(&Texels, ReadTime)> {
        let texels = self.texels.as_ref()?;
        match texels.kind {
            TexelKind::Densities(reading) => Some((texels, reading)),
            TexelKind::Sizes => None,
        }
    }
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
            first_version: false,
            subsampled: false,
            first: [0; 2],
            secondary: false,
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
    let inner = if scene.secondary { Some(record_secondary(gpu, scene, pass, &(draws, &made))?) } else { None };
    let map = targets.rates.as_ref().zip(scene.densities());
    let densities = match map {
        Some((_, (texels, _))) => Some(gpu.buffer_with(&texels.bytes())?),
        None => None,
    };
    let mut deferred = Ok(());
    gpu.run(|commands| {
        if let (Some((image, (texels, ReadTime::Dynamic))), Some(buffer)) = (map, &densities) {
            record_upload(gpu, commands, image, (buffer, texels));
        }
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            for pool in draws.iter().filter_map(|draw| draw.query) {
                gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
            }
            begin(gpu, commands, scene, (&targets, pass));
            match inner {
                Some(inner) => gpu.device.cmd_execute_commands(commands, &[inner]),
                None => record_draws(gpu, commands, &(draws, &made)),
            }
            end(gpu, commands, pass);
            gpu.barrier(commands, None);
        }
        if let Some((image, (texels, ReadTime::Deferred))) = map {
            deferred = upload(gpu, image, texels);
        }
    })?;
    deferred?;
    let shown = targets.resolved.as_ref().unwrap_or(&targets.color);
    if scene.subsampled { sample(gpu, scene, shown) } else { read(gpu, scene, shown) }
}

/// Draws with their pipelines and vertices.
type Made<'a> = (&'a [RatedDraw], &'a [(vk::Pipeline, Buffer)]);

/// Records the draws.
///
/// # Safety
/// The command buffer is recording in a pass that fits the pipelines.
unsafe fn record_draws(gpu: &Gpu, commands: vk::CommandBuffer, (draws, made): &Made<'_>) {
    let extension = ash::khr::fragment_shading_rate::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe {
        for (draw, (pipeline, buffer)) in draws.iter().zip(*made) {
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
    }
}

/// Records the draws in a secondary command buffer.
fn record_secondary(
    gpu: &Gpu,
    scene: &Scene,
    pass: Option<(vk::RenderPass, vk::Framebuffer)>,
    draws: &Made<'_>,
) -> Result<vk::CommandBuffer, Outcome> {
    let commands = secondary(gpu)?;
    let formats = [scene.format];
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .view_mask(scene.views)
        .color_attachment_formats(&formats)
        .depth_attachment_format(DEPTH_FORMAT)
        .rasterization_samples(vk::SampleCountFlags::from_raw(scene.samples));
    let mut inherited = vk::CommandBufferInheritanceInfo::default();
    match pass {
        Some((pass, framebuffer)) => inherited = inherited.render_pass(pass).framebuffer(framebuffer),
        None => inherited = inherited.push_next(&mut rendering),
    }
    let info = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inherited);
    // SAFETY: the command buffer is new, and everything named is alive.
    unsafe {
        gpu.device.begin_command_buffer(commands, &info)?;
        record_draws(gpu, commands, draws);
        gpu.device.end_command_buffer(commands)?;
    }
    Ok(commands)
}

/// Returns the vertices in clip coordinates.
fn clip(draw: &RatedDraw) -> Vec<Vertex> {
    let place = |pixels: f32| pixels * 2.0 / SIDE as f32 - 1.0;
    draw.vertices.iter().map(|[[x, y, z, w], more]| [[place(*x) * w, place(*y) * w, z * w, *w], *more]).collect()
}

/// Dimensions and flags of an image.
#[derive(Clone, Copy)]
struct ImageShape {
    size: [u32; 2],
    layers: u32,
    samples: u32,
    flags: vk::ImageCreateFlags,
    view: vk::ImageViewCreateFlags,
}

fn image(gpu: &Gpu, format: vk::Format, shape: ImageShape) -> Result<Image, Outcome> {
    let ImageShape { size, layers, samples, flags, view } = shape;
    use vk::ImageUsageFlags as U;
    let (aspects, usage) = match format {
        DEPTH_FORMAT => (DEPTH, U::DEPTH_STENCIL_ATTACHMENT | COPIED),
        vk::Format::R8_UINT => (COLOR, U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR | COPIED),
        vk::Format::R8G8_UNORM => (COLOR, U::FRAGMENT_DENSITY_MAP_EXT | COPIED),
        // Subsampled images cannot be copied.
        _ if flags.contains(vk::ImageCreateFlags::SUBSAMPLED_EXT) => (COLOR, U::COLOR_ATTACHMENT | U::SAMPLED),
        _ => (COLOR, U::COLOR_ATTACHMENT | COPIED),
    };
    let extent = vk::Extent3D { width: size[0], height: size[1], depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::from_raw(samples))
        .usage(usage)
        .flags(flags);
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let handle = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .flags(view)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(vk::ImageSubresourceRange { layer_count: layers, ..range(aspects, 0, 1) });
        Ok(Image { handle, view: gpu.device.create_image_view(&info, None)?, extent, aspects, levels: 1 })
    }
}

fn targets(gpu: &Gpu, scene: &Scene) -> Result<Targets, Outcome> {
    let &Scene { size, layers, samples, format, .. } = scene;
    let (flags, view) = (vk::ImageCreateFlags::empty(), vk::ImageViewCreateFlags::empty());
    let plain = ImageShape { size, layers, samples, flags, view };
    let color = match scene.subsampled {
        true => ImageShape { flags: vk::ImageCreateFlags::SUBSAMPLED_EXT, ..plain },
        false => plain,
    };
    let targets = Targets {
        color: image(gpu, format, color)?,
        depth: image(gpu, DEPTH_FORMAT, plain)?,
        resolved: if samples > 1 { Some(image(gpu, format, ImageShape { samples: 1, ..color })?) } else { None },
        rates: match &scene.texels {
            Some(texels) => {
                let (size, layers) = (texels.extent(), texels.layers.len() as u32);
                let shape = ImageShape { size, layers, samples: 1, flags, view: texels.view() };
                Some(image(gpu, texels.format(), shape)?)
            }
            None => None,
        },
    };
    let is_later = scene.densities().is_some_and(|(_, reading)| reading != ReadTime::Recorded);
    if let (Some(rates), Some(texels), false) = (&targets.rates, &scene.texels, is_later) {
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
    let buffer = gpu.buffer_with(&texels.bytes())?;
    gpu.run(|commands| record_upload(gpu, commands, image, (&buffer, texels)))
}

/// Records a copy of texels from a buffer to all of an image.
fn record_upload(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image, (buffer, texels): (&Buffer, &Texels)) {
    let layers = texels.layers.len() as u32;
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { layer_count: layers, ..crate::harness::layers(COLOR) },
        image_extent: image.extent,
        ..Default::default()
    };
    to_general(gpu, commands, image, layers);
    // SAFETY: the image is in the layout, and the buffer holds all of the region.
    unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, GENERAL, &[region]) };
    gpu.barrier(commands, None);
}

/// Returns the texels of a subsampled image of one layer.
fn sample(gpu: &Gpu, scene: &Scene, image: &Image) -> Result<Vec<[u32; 4]>, Outcome> {
    let [width, height] = scene.size;
    let texels = gpu.buffer(u64::from(width * height) * 16)?;
    let (mode, kinds) = (vk::SamplerAddressMode::CLAMP_TO_EDGE, [SAMPLED, STORAGE]);
    let info = vk::SamplerCreateInfo::default().flags(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
    // SAFETY: the info is valid.
    let sampler = [unsafe { gpu.device.create_sampler(&info.address_mode_u(mode).address_mode_v(mode), None) }?];
    let binding = |number: usize| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kinds[number])
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let (layout, set) = gpu.set_of(&kinds, &[binding(0).immutable_samplers(&sampler), binding(1)])?;
    let images = [vk::DescriptorImageInfo { sampler: sampler[0], image_view: image.view, image_layout: GENERAL }];
    let buffers = [vk::DescriptorBufferInfo { buffer: texels.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = |number: usize| {
        vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number as u32).descriptor_type(kinds[number])
    };
    // SAFETY: the set is new, and nothing uses it.
    unsafe { gpu.device.update_descriptor_sets(&[write(0).image_info(&images), write(1).buffer_info(&buffers)], &[]) };
    let layout = gpu.layout(&[layout])?;
    let pipeline = compute::pipeline(gpu, shader!("density_sampled.comp"), layout)?;
    gpu.dispatch(&Compute { pipeline, layout, set }, &[], [width, height, 1])?;
    Ok(texels_of(&texels))
}

/// Returns the texels of a buffer, four words each.
fn texels_of(buffer: &Buffer) -> Vec<[u32; 4]> {
    buffer.words().chunks_exact(4).map(|words| [words[0], words[1], words[2], words[3]]).collect()
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
    Ok(texels_of(&buffer))
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
    if let (Some(image), Some(texels)) = (targets.rates, &scene.texels) {
        // The contents of density maps are kept whatever the operations are.
        let rates = match texels.kind {
            TexelKind::Sizes => attachment(texels.format(), 1, load),
            TexelKind::Densities(_) => attachment(texels.format(), 1, vk::AttachmentLoadOp::DONT_CARE)
                .store_op(vk::AttachmentStoreOp::DONT_CARE),
        };
        all.push((rates, image.view));
    }
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
    let map = vk::AttachmentReference { attachment: rates.attachment, layout: GENERAL };
    let map = vk::RenderPassFragmentDensityMapCreateInfoEXT::default().fragment_density_map_attachment(map);
    let has_densities = scene.densities().is_some();
    let mut chained = map;
    if targets.rates.is_some() && !has_densities {
        subpass = subpass.push_next(&mut sizes);
    }
    let subpasses = [subpass];
    let mut info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    if has_densities {
        info = info.push_next(&mut chained);
    }
    let extension = ash::khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the infos are valid.
    unsafe {
        let pass = match scene.first_version {
            true => first_version(gpu, &attachments, subpass, map)?,
            false => extension.create_render_pass2(&info, None)?,
        };
        let layers = if scene.views == 0 { scene.layers } else { 1 };
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let info = info.width(scene.size[0]).height(scene.size[1]).layers(layers);
        Ok((pass, gpu.device.create_framebuffer(&info, None)?))
    }
}

/// Creates a render pass with a density map by the first version of the command.
fn first_version(
    gpu: &Gpu,
    attachments: &[vk::AttachmentDescription2<'_>],
    subpass: vk::SubpassDescription2<'_>,
    mut map: vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>,
) -> Result<vk::RenderPass, Outcome> {
    let attachment = |info: &vk::AttachmentDescription2<'_>| {
        vk::AttachmentDescription::default()
            .format(info.format)
            .samples(info.samples)
            .load_op(info.load_op)
            .store_op(info.store_op)
            .initial_layout(info.initial_layout)
            .final_layout(info.final_layout)
    };
    let attachments: Vec<_> = attachments.iter().map(attachment).collect();
    let [color, depth, resolved] = [0, 1, 2].map(|attachment| vk::AttachmentReference { attachment, layout: GENERAL });
    let (colors, resolves) = ([color], [resolved]);
    let mut first = vk::SubpassDescription::default().color_attachments(&colors).depth_stencil_attachment(&depth);
    if !subpass.p_resolve_attachments.is_null() {
        first = first.resolve_attachments(&resolves);
    }
    let subpasses = [first];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_render_pass(&info.push_next(&mut map), None) }?)
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
    let [x, y] = scene.first;
    let extent = vk::Extent2D { width: scene.size[0] - x, height: scene.size[1] - y };
    let area = vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent };
    let clears = clears();
    if let Some((pass, framebuffer)) = pass {
        let info = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
        let info = info.render_area(area).clear_values(&clears);
        let contents = match scene.secondary {
            true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
            false => vk::SubpassContents::INLINE,
        };
        // SAFETY: as this function demands.
        unsafe { gpu.device.cmd_begin_render_pass(commands, &info, contents) };
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
    let mut map =
        vk::RenderingFragmentDensityMapAttachmentInfoEXT::default().image_layout(GENERAL).image_view(sizes.image_view);
    let flags = match scene.secondary {
        true => vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
        false => vk::RenderingFlags::empty(),
    };
    let info = vk::RenderingInfo::default()
        .flags(flags)
        .render_area(area)
        .layer_count(if scene.views == 0 { scene.layers } else { 1 })
        .view_mask(scene.views)
        .color_attachments(&colors)
        .depth_attachment(&depth);
    let info = match scene.densities() {
        Some(_) => info.push_next(&mut map),
        None => info.push_next(&mut sizes),
    };
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
        .render_pass(pass);
    let mut flag = vk::PipelineCreateFlags::RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_EXT;
    if scene.densities().is_none() {
        info = info.push_next(&mut rate);
        flag = vk::PipelineCreateFlags::RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    }
    if scene.rendering {
        info = info.push_next(&mut rendering);
        info.flags |= flag;
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
