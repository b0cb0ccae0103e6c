//! Commands of the scenes, as methods of an open command buffer.
//!
//! Barriers change the [`Use`] of images. Each use defines its layout, stages and accesses once.
//! Source: Vulkan 1.0 chapters 6, 7, 18 to 20 and 27.

use super::Gpu;
use super::pass::Target;
use super::pipeline::{Layout, Pipeline, Set};
use super::resource::{Buffer, Image, whole};
use super::usage::Use;
use ash::vk;
use vk::{AccessFlags as Access, ImageLayout, PipelineStageFlags as Stage};

/// An open command buffer.
pub struct Commands<'a> {
    gpu: &'a Gpu,
    raw: vk::CommandBuffer,
}

/// Returns the layers of a level, for copies.
fn layers(image: &Image, level: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: image.desc.aspect(),
        mip_level: level,
        base_array_layer: 0,
        layer_count: image.desc.layers(),
    }
}

/// Returns the far corner of a level, for blits.
fn corner(extent: vk::Extent2D) -> vk::Offset3D {
    vk::Offset3D { x: extent.width as i32, y: extent.height as i32, z: 1 }
}

// SAFETY of this whole block: `raw` is in the recording state (`Gpu::submit` opened it and closes
// it later), and all handles belong to the same live `Gpu`. Each block below relies on exactly
// this and says only what it adds.
impl<'a> Commands<'a> {
    pub(super) fn new(gpu: &'a Gpu, raw: vk::CommandBuffer) -> Commands<'a> {
        Commands { gpu, raw }
    }

    fn device(&self) -> &ash::Device {
        &self.gpu.device
    }

    /// Copies a whole buffer.
    pub fn copy_buffer(&self, from: &Buffer, to: &Buffer) {
        let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.size.min(to.size) };
        // SAFETY: the region lies inside both buffers; recording state as stated above.
        unsafe { self.device().cmd_copy_buffer(self.raw, from.handle, to.handle, &[region]) };
    }

    /// Copies tightly packed texels into the base level of an image in the transfer-destination
    /// layout.
    pub fn copy_to_image(&self, from: &Buffer, to: &Image) {
        let region = base_region(to);
        let layout = ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: the region is the whole base level; recording state as stated above.
        unsafe { self.device().cmd_copy_buffer_to_image(self.raw, from.handle, to.handle, layout, &[region]) };
    }

    /// Copies the tightly packed base level of an image in the transfer-source layout to a buffer
    /// for the host.
    pub fn copy_from_image(&self, from: &Image, to: &Buffer) {
        let region = base_region(from);
        let layout = ImageLayout::TRANSFER_SRC_OPTIMAL;
        let visible = vk::BufferMemoryBarrier::default()
            .src_access_mask(Access::TRANSFER_WRITE)
            .dst_access_mask(Access::HOST_READ)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .buffer(to.handle)
            .size(vk::WHOLE_SIZE);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the region is the whole base level; recording state as stated above.
        unsafe {
            self.device().cmd_copy_image_to_buffer(self.raw, from.handle, layout, to.handle, &[region]);
            self.device().cmd_pipeline_barrier(self.raw, Stage::TRANSFER, Stage::HOST, none, &[], &[visible], &[]);
        }
    }

    /// Halves level `level - 1` (transfer source) into `level` (transfer destination), in every
    /// layer.
    pub fn blit_down(&self, image: &Image, level: u32) {
        let (from, to) = (image.desc.level_extent(level - 1), image.desc.level_extent(level));
        let region = vk::ImageBlit {
            src_subresource: layers(image, level - 1),
            src_offsets: [vk::Offset3D::default(), corner(from)],
            dst_subresource: layers(image, level),
            dst_offsets: [vk::Offset3D::default(), corner(to)],
        };
        let (source, target) = (ImageLayout::TRANSFER_SRC_OPTIMAL, ImageLayout::TRANSFER_DST_OPTIMAL);
        let (image, linear) = (image.handle, vk::Filter::LINEAR);
        // SAFETY: both regions are whole levels of the image; recording state as stated above.
        unsafe { self.device().cmd_blit_image(self.raw, image, source, image, target, &[region], linear) };
    }

    /// Moves all levels and layers of an image from one use to another.
    pub fn image_barrier(&self, image: &Image, from: Use, to: Use) {
        self.range_barrier(image, whole(&image.desc), from, to);
    }

    /// Moves one level of an image, with all layers, from one use to another.
    pub fn level_barrier(&self, image: &Image, level: u32, from: Use, to: Use) {
        let range = vk::ImageSubresourceRange { base_mip_level: level, level_count: 1, ..whole(&image.desc) };
        self.range_barrier(image, range, from, to);
    }

    fn range_barrier(&self, image: &Image, range: vk::ImageSubresourceRange, from: Use, to: Use) {
        let (before, after) = (from.scope(), to.scope());
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(before.accesses)
            .dst_access_mask(after.accesses)
            .old_layout(before.layout)
            .new_layout(after.layout)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.handle)
            .subresource_range(range);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the range lies inside the image; recording state as stated above.
        unsafe {
            let (source, target) = (before.stages, after.stages);
            self.device().cmd_pipeline_barrier(self.raw, source, target, none, &[], &[], &[barrier]);
        }
    }

    /// Makes what compute shaders wrote to buffers visible to vertex fetch, indirect draws and
    /// later dispatches.
    pub fn compute_barrier(&self) {
        let readers = Stage::COMPUTE_SHADER | Stage::VERTEX_INPUT | Stage::VERTEX_SHADER | Stage::DRAW_INDIRECT;
        let reads = Access::SHADER_READ | Access::VERTEX_ATTRIBUTE_READ | Access::INDIRECT_COMMAND_READ;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(Access::SHADER_WRITE)
            .dst_access_mask(reads | Access::SHADER_WRITE);
        let none = vk::DependencyFlags::empty();
        // SAFETY: recording state as stated above.
        unsafe {
            self.device().cmd_pipeline_barrier(self.raw, Stage::COMPUTE_SHADER, readers, none, &[barrier], &[], &[]);
        }
    }

    /// Begins a render pass over the whole target, with viewport and scissor set to it.
    pub fn begin(&self, target: &Target, clears: &[vk::ClearValue]) {
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: target.extent };
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(target.pass)
            .framebuffer(target.framebuffer)
            .render_area(area)
            .clear_values(clears);
        // SAFETY: pass and framebuffer were made for each other; recording state as stated above.
        unsafe { self.device().cmd_begin_render_pass(self.raw, &info, vk::SubpassContents::INLINE) };
        self.viewport(area);
    }

    /// Sets viewport and scissor to a rectangle, depth 0 to 1.
    pub fn viewport(&self, area: vk::Rect2D) {
        let viewport = vk::Viewport {
            x: area.offset.x as f32,
            y: area.offset.y as f32,
            width: area.extent.width as f32,
            height: area.extent.height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: recording state as stated above.
        unsafe {
            self.device().cmd_set_viewport(self.raw, 0, &[viewport]);
            self.device().cmd_set_scissor(self.raw, 0, &[area]);
        }
    }

    /// Moves on to the next subpass.
    pub fn next_subpass(&self) {
        // SAFETY: recording state as stated above, inside a pass with a further subpass.
        unsafe { self.device().cmd_next_subpass(self.raw, vk::SubpassContents::INLINE) };
    }

    /// Ends the render pass.
    pub fn end(&self) {
        // SAFETY: recording state as stated above, inside a pass.
        unsafe { self.device().cmd_end_render_pass(self.raw) };
    }

    /// Binds a pipeline.
    pub fn pipeline(&self, pipeline: &Pipeline) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_bind_pipeline(self.raw, pipeline.point, pipeline.handle) };
    }

    /// Binds a descriptor set as number `index`, with dynamic offsets in bytes.
    pub fn set(&self, point: vk::PipelineBindPoint, layout: &Layout, index: u32, set: &Set, offsets: &[u32]) {
        let sets = [set.handle];
        // SAFETY: the set was allocated with this layout's set layout; recording state as stated
        // above.
        unsafe { self.device().cmd_bind_descriptor_sets(self.raw, point, layout.handle, index, &sets, offsets) };
    }

    /// Binds a descriptor set as number 0 for drawing.
    pub fn graphics_set(&self, layout: &Layout, set: &Set) {
        self.set(vk::PipelineBindPoint::GRAPHICS, layout, 0, set, &[]);
    }

    /// Binds a descriptor set as number 0 for dispatches.
    pub fn compute_set(&self, layout: &Layout, set: &Set) {
        self.set(vk::PipelineBindPoint::COMPUTE, layout, 0, set, &[]);
    }

    /// Sets the push constants of a layout, from byte 0.
    pub fn push<T: bytemuck::Pod>(&self, layout: &Layout, data: &T) {
        let bytes = bytemuck::bytes_of(data);
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_push_constants(self.raw, layout.handle, layout.push_stages, 0, bytes) };
    }

    /// Binds vertex buffers from binding 0 on, each from its start.
    pub fn vertices(&self, buffers: &[&Buffer]) {
        let handles: Vec<_> = buffers.iter().map(|b| b.handle).collect();
        let offsets = vec![0; handles.len()];
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_bind_vertex_buffers(self.raw, 0, &handles, &offsets) };
    }

    /// Binds a buffer of 32-bit indices.
    pub fn indices(&self, buffer: &Buffer) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_bind_index_buffer(self.raw, buffer.handle, 0, vk::IndexType::UINT32) };
    }

    /// Draws `vertices` vertices, `instances` times.
    pub fn draw(&self, vertices: u32, instances: u32) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_draw(self.raw, vertices, instances, 0, 0) };
    }

    /// Draws `count` indices from the start, `instances` times.
    pub fn draw_indexed(&self, count: u32, instances: u32) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_draw_indexed(self.raw, count, instances, 0, 0, 0) };
    }

    /// Draws `count` indices from `first` on, to which `vertex` is added.
    pub fn draw_indexed_at(&self, count: u32, first: u32, vertex: i32) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_draw_indexed(self.raw, count, 1, first, vertex, 0) };
    }

    /// Draws by one `VkDrawIndexedIndirectCommand` at the start of `buffer`.
    pub fn draw_indexed_indirect(&self, buffer: &Buffer) {
        let stride = size_of::<vk::DrawIndexedIndirectCommand>() as u32;
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_draw_indexed_indirect(self.raw, buffer.handle, 0, 1, stride) };
    }

    /// Draws by `count` packed `VkDrawIndexedIndirectCommand`s of `buffer`, from number `first` on.
    pub fn draw_indexed_indirect_from(&self, buffer: &Buffer, first: u32, count: u32) {
        let stride = size_of::<vk::DrawIndexedIndirectCommand>() as u32;
        let offset = u64::from(first * stride);
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_draw_indexed_indirect(self.raw, buffer.handle, offset, count, stride) };
    }

    /// Draws what a command says, which is read now.
    pub fn draw_indexed_range(&self, c: &vk::DrawIndexedIndirectCommand) {
        let (first, vertex) = (c.first_index, c.vertex_offset);
        // SAFETY: recording state as stated above.
        unsafe {
            self.device().cmd_draw_indexed(self.raw, c.index_count, c.instance_count, first, vertex, c.first_instance);
        }
    }

    /// Runs `x` by `y` by 1 workgroups.
    pub fn dispatch(&self, x: u32, y: u32) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_dispatch(self.raw, x, y, 1) };
    }

    /// Sets the stencil reference of both faces.
    pub fn stencil_reference(&self, value: u32) {
        // SAFETY: recording state as stated above.
        unsafe { self.device().cmd_set_stencil_reference(self.raw, vk::StencilFaceFlags::FRONT_AND_BACK, value) };
    }

    /// Fills every level from the base by halving, from transfer-written to shader-readable.
    pub fn make_mips(&self, image: &Image) {
        for level in 1..image.desc.mips {
            self.level_barrier(image, level - 1, Use::TransferWrite, Use::TransferRead);
            self.blit_down(image, level);
            self.level_barrier(image, level - 1, Use::TransferRead, Use::Sample);
        }
        self.level_barrier(image, image.desc.mips - 1, Use::TransferWrite, Use::Sample);
    }
}

fn base_region(image: &Image) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: 0,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: layers(image, 0),
        image_offset: vk::Offset3D::default(),
        image_extent: vk::Extent3D { width: image.desc.width, height: image.desc.height, depth: 1 },
    }
}
