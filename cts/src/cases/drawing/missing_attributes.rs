//! Attributes that shaders read and that no description has. Source:
//! `VK_EXT_vertex_attribute_robustness`.

use ash::{khr, vk};
use vitric_vulkan::names::EXT_VERTEX_ATTRIBUTE_ROBUSTNESS_NAME;

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color};
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{PipelineDesc, VertexLayout, pipeline_of, whole};
use crate::harness::{Case, Gpu, Transition, check};
use crate::render::{COLOR, TRIANGLES};

case!("vertex_input.missing.attribute", "VK_EXT_vertex_attribute_robustness", missing);

/// Draws a triangle over all pixels, whose colours no attribute describes.
fn missing(gpu: &Gpu) -> Case {
    gpu.need(EXT_VERTEX_ATTRIBUTE_ROBUSTNESS_NAME)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let (target, layout) = (image(gpu, vk::SampleCountFlags::TYPE_1)?, gpu.layout(&[])?);
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let attributes = [vk::VertexInputAttributeDescription { location: 0, binding: 0, format, offset: 0 }];
    let desc = PipelineDesc {
        shaders: [TRIANGLES, COLOR],
        vertices: Some(VertexLayout { attributes: &attributes, stride: Some(16) }),
        ..PipelineDesc::plain(layout)
    };
    let pipeline = pipeline_of(gpu, &desc)?;
    let corners = [[-1.0f32, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];
    let vertices = gpu.buffer_with(&corners)?;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let colors = [attachment(&target, CLEAR, clear_color([0.5; 4]))];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    gpu.run(|list| {
        gpu.barrier(list, Some(Transition { image: &target, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        // SAFETY: the command buffer is recording, and the buffer is alive.
        unsafe {
            rendering.cmd_begin_rendering(list, &info);
            gpu.device.cmd_bind_pipeline(list, vk::PipelineBindPoint::GRAPHICS, pipeline);
            gpu.device.cmd_bind_vertex_buffers(list, 0, &[vertices.handle], &[0]);
            gpu.device.cmd_draw(list, 3, 1, 0, 0);
            rendering.cmd_end_rendering(list);
        }
        let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.barrier(list, Some(Transition { image: &target, from: GENERAL, to }));
    })?;
    for texel in gpu.read_image(&target, vk::ImageAspectFlags::COLOR, 4)?.chunks(4) {
        let good = texel[..3] == [0; 3] && [0, 255].contains(&texel[3]);
        check(good, || format!("{texel:?}: neither 0, 0, 0, 0 nor 0, 0, 0, 1"))?;
    }
    Ok(())
}
