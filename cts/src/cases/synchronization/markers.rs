//! Words that commands write to buffers. Source: `VK_AMD_buffer_marker`.

use ash::{khr, vk};

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Transition, check};
use crate::render::FULL;

case!("markers.buffer.stages", "VK_AMD_buffer_marker", stages);

/// Writes a word for each of some stages, and one word twice.
fn stages(gpu: &Gpu) -> Case {
    gpu.need(vk::AMD_BUFFER_MARKER_NAME)?;
    let commands = ash::amd::buffer_marker::Device::new(&gpu.instance, &gpu.device);
    let write = commands.fp().cmd_write_buffer_marker_amd;
    let buffer = gpu.buffer(32)?;
    use vk::PipelineStageFlags as S;
    // SAFETY: the command buffer is recording, and the words are inside of the buffer.
    gpu.run(|commands| unsafe {
        for (number, stage) in (0..).zip([S::TOP_OF_PIPE, S::TRANSFER, S::COMPUTE_SHADER, S::BOTTOM_OF_PIPE]) {
            write(commands, stage, buffer.handle, 4 * u64::from(number), 0x1111_1111 * (number + 1));
        }
        write(commands, S::BOTTOM_OF_PIPE, buffer.handle, 20, 1);
        write(commands, S::BOTTOM_OF_PIPE, buffer.handle, 20, u32::MAX);
        gpu.barrier(commands, None);
    })?;
    let expected = [0x1111_1111, 0x2222_2222, 0x3333_3333, 0x4444_4444, 0, u32::MAX, 0, 0];
    check(buffer.words() == expected, || format!("{:x?}, not {expected:x?}", buffer.words()))
}

case!("markers.buffer.in_pass", "VK_AMD_buffer_marker", in_pass);

/// Writes words between draws, which change nothing else.
fn in_pass(gpu: &Gpu) -> Case {
    gpu.need(vk::AMD_BUFFER_MARKER_NAME)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let markers = ash::amd::buffer_marker::Device::new(&gpu.instance, &gpu.device);
    let write = markers.fp().cmd_write_buffer_marker_amd;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (buffer, target) = (gpu.buffer(16)?, image(gpu, vk::SampleCountFlags::TYPE_1)?);
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline_of(gpu, &PipelineDesc::plain(layout))?;
    let colors = [attachment(&target, CLEAR, clear_color([0.0; 4]))];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &target, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_begin_rendering(commands, &info) };
        for number in 0..3 {
            let color = [0.0, 1.0, number as f32 / 2.0, 1.0];
            Fills { commands, pipeline, layout }.fill(gpu, FULL, color, [0.5, 1.0, 0.0]);
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            // SAFETY: the command buffer is recording, and the word is inside of the buffer.
            unsafe { write(commands, stage, buffer.handle, 4 * u64::from(number), number + 5) };
        }
        // SAFETY: the command buffer is recording in a pass.
        unsafe { rendering.cmd_end_rendering(commands) };
        let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.barrier(commands, Some(Transition { image: &target, from: GENERAL, to }));
    })?;
    check(buffer.words() == [5, 6, 7, 0], || format!("{:?}", buffer.words()))?;
    let bytes = gpu.read_image(&target, vk::ImageAspectFlags::COLOR, 4)?;
    check(bytes.chunks(4).all(|texel| texel == [0, 255, 255, 255]), || format!("{:?}", &bytes[..4]))
}
