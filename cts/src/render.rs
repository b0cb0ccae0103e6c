//! Rendering for cases: one colour attachment, optional depth or stencil, rectangles and vertex
//! lists, read back as RGBA8.

pub mod address_commands;
mod chains;
mod draw;
mod dynamic_state3;
mod extension_commands;
mod extension_state;
mod libraries;
mod pipeline;

use ash::vk;

use crate::harness::{Buffer, Gpu, Image, ImageDesc, Outcome, Transition, range};
use pipeline::pipeline;

pub use draw::{
    COLOR, COMPARE, Capture, CaptureQuery, CaptureRange, Draw, FLAT, FLAT_COLOR, FULL, INSTANCES, Kind, POINTS, Part,
    RECT, ROUTED, SIZE, SampledImage, State, TEXTURE, TRIANGLES, Target, WIDE_VERTICES, vertices,
};
pub use extension_state::{ExtensionState, Lines, Locations, Patches, VertexLayout};

/// Renders draws and returns the pixels row by row, four bytes each. Larger pixels take several
/// entries, and an entry holds several smaller pixels.
pub fn render(gpu: &Gpu, target: &Target, draws: &[Draw]) -> Result<Vec<[u8; 4]>, Outcome> {
    render_parts(gpu, target, &[Part { draws, ..Part::default() }])
}

/// Renders several render passes, one after the other.
pub fn render_parts(gpu: &Gpu, target: &Target, parts: &[Part<'_>]) -> Result<Vec<[u8; 4]>, Outcome> {
    let multisampled = target.samples != vk::SampleCountFlags::TYPE_1;
    let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let mut depth_usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST;
    if parts.iter().flat_map(|part| part.draws).any(|draw| !draw.state.feedback.is_empty()) {
        let sampled = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT;
        usage |= sampled;
        depth_usage |= sampled;
    }
    let color = ImageDesc { samples: target.samples, ..ImageDesc::color(target.format, target.size, usage) };
    let mut images = vec![match target.rows {
        Some(rows) => gpu.image_in_rows(&color, rows)?,
        None => gpu.image(&color)?,
    }];
    if multisampled {
        images.push(gpu.image(&ImageDesc { samples: vk::SampleCountFlags::TYPE_1, ..color })?);
    }
    let has_depth = target.depth != vk::Format::UNDEFINED;
    if has_depth {
        images.push(gpu.image(&ImageDesc {
            format: target.depth,
            usage: depth_usage,
            aspects: depth_aspects(target.depth),
            ..color
        })?);
    }
    let passes = [(vk::AttachmentLoadOp::CLEAR, false), (vk::AttachmentLoadOp::LOAD, true)]
        .map(|(load, keeps)| render_pass(gpu, target, PassDesc { load, keeps, multisampled, has_depth }));
    let [first, next] = passes;
    let (first, next) = (first?, next?);
    let views: Vec<vk::ImageView> = images.iter().map(|image| image.view).collect();
    let [width, height] = target.size;
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(first)
        .attachments(&views)
        .width(width)
        .height(height)
        .layers(1);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info, None) }?;
    // Passes with different load operations are compatible.
    let prepare = |part: &Part<'_>| part.draws.iter().map(|draw| prepare(gpu, target, (first, &views), draw)).collect();
    let prepared = parts.iter().map(prepare).collect::<Result<Vec<Vec<_>>, Outcome>>()?;
    let clears = clear_values(target, multisampled);
    gpu.run(|commands| {
        let area = vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() };
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            for pool in parts.iter().flat_map(|part| part.draws).filter_map(|draw| draw.query) {
                gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
            }
            let captures = parts.iter().flat_map(|part| part.draws).filter_map(|draw| draw.capture.as_ref());
            for CaptureQuery { pool, query, .. } in captures.flat_map(|capture| capture.queries.iter().copied()) {
                gpu.device.cmd_reset_query_pool(commands, pool, query, 1);
            }
            for (number, (part, prepared)) in parts.iter().zip(&prepared).enumerate() {
                if let (Some(depth), true) = (part.clear, has_depth) {
                    clear_depth(gpu, commands, &images[images.len() - 1], depth);
                }
                if let (Some(buffer), true) = (part.depths, has_depth) {
                    copy_depths(gpu, commands, &images[images.len() - 1], (buffer, target.size));
                }
                if let Some((buffer, image, region)) = part.copy {
                    let layout = vk::ImageLayout::GENERAL;
                    gpu.device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &[region]);
                    gpu.barrier(commands, None);
                }
                let pass = if number == 0 { first } else { next };
                let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
                let begin = begin.render_area(area).clear_values(&clears);
                gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                for (draw, prepared) in part.draws.iter().zip(prepared) {
                    record(gpu, commands, draw, prepared);
                }
                gpu.device.cmd_end_render_pass(commands);
                gpu.barrier(commands, None);
            }
        }
    })?;
    let result: &Image = &images[usize::from(multisampled)];
    let texel = match target.format {
        vk::Format::R32G32B32A32_SFLOAT | vk::Format::R32G32B32A32_UINT => 16,
        vk::Format::R16G16B16A16_SFLOAT => 8,
        vk::Format::R8_UNORM => 1,
        vk::Format::R8G8_UNORM | vk::Format::R16_UNORM | vk::Format::R16_SFLOAT => 2,
        _ => 4,
    };
    let bytes = gpu.read_image(result, vk::ImageAspectFlags::COLOR, texel)?;
    Ok(bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect())
}

/// Clears a depth image between passes.
fn clear_depth(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image, depth: f32) {
    let (attachment, target) =
        (vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    gpu.barrier(commands, Some(Transition { image, from: attachment, to: target }));
    let value = vk::ClearDepthStencilValue { depth, stencil: 0 };
    let ranges = [range(image.aspects, 0, 1)];
    // SAFETY: the command buffer is recording outside of a pass, and the image is in the layout.
    unsafe { gpu.device.cmd_clear_depth_stencil_image(commands, image.handle, target, &value, &ranges) };
    gpu.barrier(commands, Some(Transition { image, from: target, to: attachment }));
}

/// Records a copy of depths from a buffer to all of an image of a size, which was an attachment.
fn copy_depths(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    image: &Image,
    (buffer, [width, height]): (vk::Buffer, [u32; 2]),
) {
    let (attachment, target) =
        (vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    gpu.barrier(commands, Some(Transition { image, from: attachment, to: target }));
    let layers =
        vk::ImageSubresourceLayers { aspect_mask: vk::ImageAspectFlags::DEPTH, layer_count: 1, ..Default::default() };
    let extent = vk::Extent3D { width, height, depth: 1 };
    let region = vk::BufferImageCopy { image_subresource: layers, image_extent: extent, ..Default::default() };
    // SAFETY: the command buffer is recording outside of a pass, the image is in the layout, and
    // the buffer has a depth for each texel.
    unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer, image.handle, target, &[region]) };
    gpu.barrier(commands, Some(Transition { image, from: target, to: attachment }));
}

/// Returns the aspects of a depth or stencil format.
pub fn depth_aspects(format: vk::Format) -> vk::ImageAspectFlags {
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    match format {
        vk::Format::S8_UINT => stencil,
        vk::Format::D16_UNORM | vk::Format::D32_SFLOAT | vk::Format::X8_D24_UNORM_PACK32 => depth,
        _ => depth | stencil,
    }
}

/// Returns the clear values of a pass.
pub(crate) fn clear_values(target: &Target, multisampled: bool) -> Vec<vk::ClearValue> {
    let color = vk::ClearValue { color: vk::ClearColorValue { float32: target.clear } };
    let depth = vk::ClearValue { depth_stencil: target.clear_depth };
    if multisampled { vec![color, color, depth] } else { vec![color, depth] }
}

/// A render pass of one subpass.
#[derive(Clone, Copy)]
pub(crate) struct PassDesc {
    /// Load operation of the attachments.
    pub(crate) load: vk::AttachmentLoadOp,
    /// Attachments keep their contents outside of the render area.
    pub(crate) keeps: bool,
    pub(crate) multisampled: bool,
    pub(crate) has_depth: bool,
}

/// Creates a render pass of one subpass.
pub(crate) fn render_pass(gpu: &Gpu, target: &Target, desc: PassDesc) -> Result<vk::RenderPass, Outcome> {
    let PassDesc { load, keeps, multisampled, has_depth } = desc;
    let initial = |layout| if keeps { layout } else { vk::ImageLayout::UNDEFINED };
    let attachment = |format, samples, load| {
        vk::AttachmentDescription::default()
            .format(format)
            .samples(samples)
            .load_op(load)
            .stencil_load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(initial(vk::ImageLayout::TRANSFER_SRC_OPTIMAL))
            .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
    };
    let mut attachments = vec![attachment(target.format, target.samples, load)];
    if multisampled {
        let one = vk::SampleCountFlags::TYPE_1;
        attachments.push(attachment(target.format, one, vk::AttachmentLoadOp::DONT_CARE));
    }
    let depth_layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    if has_depth {
        attachments.push(vk::AttachmentDescription {
            initial_layout: initial(depth_layout),
            final_layout: depth_layout,
            ..attachment(target.depth, target.samples, load)
        });
    }
    // Shaders may sample the attachments.
    let layout = vk::ImageLayout::GENERAL;
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let resolves = [vk::AttachmentReference { attachment: 1, layout }];
    let depth = vk::AttachmentReference { attachment: attachments.len() as u32 - 1, layout };
    let mut subpass = vk::SubpassDescription::default().color_attachments(&colors);
    if multisampled {
        subpass = subpass.resolve_attachments(&resolves);
    }
    if has_depth {
        subpass = subpass.depth_stencil_attachment(&depth);
    }
    if target.dithers {
        subpass = subpass.flags(vk::SubpassDescriptionFlags::ENABLE_LEGACY_DITHERING_EXT);
    }
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_render_pass(&info, None) }?)
}

/// A colour image, with a render pass that clears it and stores its contents.
pub(crate) struct ClearedTarget {
    pub(crate) image: Image,
    pub(crate) pass: vk::RenderPass,
    pub(crate) framebuffer: vk::Framebuffer,
}

/// Creates the colour image of a target, with a render pass that clears it.
pub(crate) fn cleared_target(gpu: &Gpu, target: &Target) -> Result<ClearedTarget, Outcome> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc::color(target.format, target.size, usage))?;
    let load = vk::AttachmentLoadOp::CLEAR;
    let pass = render_pass(gpu, target, PassDesc { load, keeps: false, multisampled: false, has_depth: false })?;
    let (views, [width, height]) = ([image.view], target.size);
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(width).height(height).layers(1), None) }?;
    Ok(ClearedTarget { image, pass, framebuffer })
}

/// Objects that a draw binds.
pub(crate) struct Prepared {
    pub(crate) pipeline: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) set: Option<vk::DescriptorSet>,
    samples: vk::SampleCountFlags,
}

/// Creates the objects that a draw binds. `own` are the views of the attachments, colour first and
/// depth last.
pub(crate) fn prepare(
    gpu: &Gpu,
    target: &Target,
    (pass, own): (vk::RenderPass, &[vk::ImageView]),
    draw: &Draw,
) -> Result<Prepared, Outcome> {
    let mut layouts = Vec::new();
    let mut set = None;
    let feedback = match draw.state.feedback {
        vk::ImageAspectFlags::COLOR => own.first(),
        vk::ImageAspectFlags::DEPTH => own.last(),
        _ => None,
    };
    let image = match feedback {
        Some(&own) => {
            // SAFETY: the info is valid.
            let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
            Some(SampledImage { view: own, sampler, layout: vk::ImageLayout::GENERAL })
        }
        None => draw.image,
    };
    if let Some(SampledImage { view, sampler, layout }) = image {
        let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let (set_layout, made) = if draw.fixed_sampler { gpu.set_with_sampler(sampler)? } else { gpu.set(&[kind])? };
        let info = [vk::DescriptorImageInfo { sampler, image_view: view, image_layout: layout }];
        let write = vk::WriteDescriptorSet::default().dst_set(made).descriptor_type(kind).image_info(&info);
        // SAFETY: the set is new, and nothing uses it.
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
        layouts.push(set_layout);
        set = Some(made);
    }
    if let Some(buffer) = draw.storage {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let (set_layout, made) = gpu.set_for(&[kind], vk::ShaderStageFlags::ALL_GRAPHICS)?;
        let info = [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default().dst_set(made).descriptor_type(kind).buffer_info(&info);
        // SAFETY: the set is new, and nothing uses it.
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
        layouts.push(set_layout);
        set = Some(made);
    }
    let layout = gpu.layout(&layouts)?;
    Ok(Prepared { pipeline: pipeline(gpu, target, pass, layout, &draw.state)?, layout, set, samples: target.samples })
}

/// Sets the dynamic state of `VK_EXT_extended_dynamic_state` and `VK_EXT_extended_dynamic_state2`.
///
/// # Safety
/// The command buffer is recording.
unsafe fn set_extended(gpu: &Gpu, commands: vk::CommandBuffer, state: &State) {
    let first = ash::ext::extended_dynamic_state::Device::new(&gpu.instance, &gpu.device);
    let second = ash::ext::extended_dynamic_state2::Device::new(&gpu.instance, &gpu.device);
    let (raster, tests) = (&state.raster, &state.depth_stencil);
    // SAFETY: as this function demands.
    unsafe {
        first.cmd_set_cull_mode(commands, raster.cull_mode);
        first.cmd_set_front_face(commands, raster.front_face);
        first.cmd_set_primitive_topology(commands, state.topology);
        first.cmd_set_viewport_with_count(commands, &[state.viewport]);
        first.cmd_set_scissor_with_count(commands, &[state.scissor]);
        first.cmd_set_depth_test_enable(commands, tests.depth_test_enable != 0);
        first.cmd_set_depth_write_enable(commands, tests.depth_write_enable != 0);
        first.cmd_set_depth_compare_op(commands, tests.depth_compare_op);
        first.cmd_set_depth_bounds_test_enable(commands, tests.depth_bounds_test_enable != 0);
        first.cmd_set_stencil_test_enable(commands, tests.stencil_test_enable != 0);
        for (faces, face) in [(vk::StencilFaceFlags::FRONT, &tests.front), (vk::StencilFaceFlags::BACK, &tests.back)] {
            let (fail, pass, depth_fail) = (face.fail_op, face.pass_op, face.depth_fail_op);
            first.cmd_set_stencil_op(commands, faces, fail, pass, depth_fail, face.compare_op);
        }
        second.cmd_set_rasterizer_discard_enable(commands, raster.rasterizer_discard_enable != 0);
        second.cmd_set_depth_bias_enable(commands, raster.depth_bias_enable != 0);
        second.cmd_set_primitive_restart_enable(commands, state.restart);
        if let Some(patches) = state.extensions.patches {
            (second.fp().cmd_set_patch_control_points_ext)(commands, patches.vertices);
        }
        if let Some(op) = state.logic {
            second.cmd_set_logic_op(commands, op);
        }
    }
}

/// Binds a vertex buffer. The command sets the stride where it is dynamic.
///
/// # Safety
/// The command buffer is recording.
unsafe fn bind_vertices(gpu: &Gpu, commands: vk::CommandBuffer, draw: &Draw, buffer: Buffer) {
    let stride = if std::ptr::eq(draw.state.vertex, POINTS) { 8 } else { 32 };
    // SAFETY: as this function demands.
    unsafe {
        if draw.state.extended {
            let first = ash::ext::extended_dynamic_state::Device::new(&gpu.instance, &gpu.device);
            first.cmd_bind_vertex_buffers2(commands, 0, &[buffer.handle], &[0], Some(&[buffer.size]), Some(&[stride]));
        } else {
            let start = draw.state.extensions.layout.map_or(0, |layout| layout.start);
            gpu.device.cmd_bind_vertex_buffers(commands, 0, &[buffer.handle], &[start]);
        }
    }
}

/// Sets all dynamic state of Vulkan 1.0.
///
/// # Safety
/// The command buffer is recording.
unsafe fn set_dynamic(gpu: &Gpu, commands: vk::CommandBuffer, state: &State) {
    let device = &gpu.device;
    let (raster, depth) = (&state.raster, &state.depth_stencil);
    // SAFETY: as this function demands.
    unsafe {
        device.cmd_set_viewport(commands, 0, &[state.viewport]);
        device.cmd_set_scissor(commands, 0, &[state.scissor]);
        device.cmd_set_line_width(commands, raster.line_width);
        let (constant, clamp, slope) =
            (raster.depth_bias_constant_factor, raster.depth_bias_clamp, raster.depth_bias_slope_factor);
        device.cmd_set_depth_bias(commands, constant, clamp, slope);
        state.extensions.set(gpu, commands, [constant, clamp, slope]);
        device.cmd_set_blend_constants(commands, &state.constants);
        device.cmd_set_depth_bounds(commands, depth.min_depth_bounds, depth.max_depth_bounds);
        for (flags, face) in [(vk::StencilFaceFlags::FRONT, &depth.front), (vk::StencilFaceFlags::BACK, &depth.back)] {
            device.cmd_set_stencil_compare_mask(commands, flags, face.compare_mask);
            device.cmd_set_stencil_write_mask(commands, flags, face.write_mask);
            device.cmd_set_stencil_reference(commands, flags, face.reference);
        }
    }
}

/// Records one draw.
///
/// # Safety
/// The command buffer is recording inside the pass that the pipeline was created for.
pub(crate) unsafe fn record(gpu: &Gpu, commands: vk::CommandBuffer, draw: &Draw, prepared: &Prepared) {
    let push = [draw.rect, draw.color, [draw.depth, draw.extra, draw.show, 0.0]].concat();
    let device = &gpu.device;
    // SAFETY: as this function demands; everything named is alive.
    unsafe {
        let point = vk::PipelineBindPoint::GRAPHICS;
        device.cmd_bind_pipeline(commands, point, prepared.pipeline);
        if let Some(set) = prepared.set {
            device.cmd_bind_descriptor_sets(commands, point, prepared.layout, 0, &[set], &[]);
        }
        let bytes: &[u8] = bytemuck::cast_slice(&push);
        device.cmd_push_constants(commands, prepared.layout, vk::ShaderStageFlags::ALL, 0, bytes);
        if draw.state.dynamic {
            set_dynamic(gpu, commands, &draw.state);
        }
        if draw.state.extended {
            set_extended(gpu, commands, &draw.state);
        }
        if draw.state.dynamic3 {
            dynamic_state3::set(gpu, commands, (&draw.state, prepared.samples));
        }
        if let Some(pool) = draw.query {
            device.cmd_begin_query(commands, pool, 0, draw.control);
        }
        if let Some(condition) = draw.condition {
            extension_commands::begin_condition(gpu, commands, condition);
        }
        if let Some(capture) = &draw.capture {
            extension_commands::begin_capture(gpu, commands, capture, draw.by_address);
        }
        match draw.kind {
            Kind::Vertices(count) => device.cmd_draw(commands, count, 1, 0, 0),
            Kind::Instances { first, count } => device.cmd_draw(commands, 6, count, 0, first),
            Kind::InstanceBuffer { buffer, first, count } => {
                device.cmd_bind_vertex_buffers(commands, 0, &[buffer.handle], &[0]);
                device.cmd_draw(commands, 1, count, 0, first);
            }
            Kind::VertexBuffer { buffer, count } => {
                bind_vertices(gpu, commands, draw, buffer);
                device.cmd_draw(commands, count, 1, 0, 0);
            }
            Kind::Indexed { buffer, indices, count, kind } => {
                bind_vertices(gpu, commands, draw, buffer);
                if let Some((offset, size)) = draw.index_range {
                    let second = ash::khr::maintenance5::Device::new(&gpu.instance, device);
                    second.cmd_bind_index_buffer2(commands, indices.handle, offset, size, kind);
                } else {
                    device.cmd_bind_index_buffer(commands, indices.handle, 0, kind);
                }
                if let Some(index) = draw.restart_index {
                    extension_commands::restart_index(gpu, commands, index);
                }
                let (first, added) = draw.first_index;
                device.cmd_draw_indexed(commands, count, 1, first, added, 0);
            }
            Kind::Counted { .. } => extension_commands::draw_counted(gpu, commands, draw),
            Kind::ByteCount { buffer, counter, offset, stride } => {
                bind_vertices(gpu, commands, draw, buffer);
                if draw.by_address {
                    address_commands::draw_indirect(gpu, commands, draw.kind);
                } else {
                    extension_commands::draw_byte_count(gpu, commands, counter, [offset, stride]);
                }
            }
            Kind::MeshesIndirect { .. } | Kind::Indirect { .. } if draw.by_address => {
                address_commands::draw_indirect(gpu, commands, draw.kind);
            }
            Kind::Meshes(_) | Kind::MeshesIndirect { .. } => extension_commands::draw_meshes(gpu, commands, draw.kind),
            Kind::Multi { draws, instances, indices } => {
                extension_commands::draw_multi(gpu, commands, (draws, instances), indices)
            }
            Kind::Indirect { buffer, count } => device.cmd_draw_indirect(commands, buffer.handle, 0, count, 16),
        }
        if let Some(capture) = &draw.capture {
            extension_commands::end_capture(gpu, commands, capture, draw.by_address);
        }
        if draw.condition.is_some() {
            extension_commands::end_condition(gpu, commands);
        }
        if let Some(pool) = draw.query {
            device.cmd_end_query(commands, pool, 0);
        }
    }
}
