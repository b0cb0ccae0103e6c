//! Subpasses with inline commands and secondary command buffers.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{ClearedTarget, Draw, SIZE, State, Target, cleared_target, prepare, record};
use vitric_vulkan::names::KHR_MAINTENANCE7_NAME;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

case!("maintenance.seven.contents", "VK_KHR_maintenance7", contents);

/// Records a subpass of inline commands and secondary command buffers by turns.
fn contents(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE7_NAME)?;
    let target = Target::default();
    let ClearedTarget { image, pass, framebuffer } = cleared_target(gpu, &target)?;
    let views = [image.view];
    // Each draw covers a part of the one before.
    let parts = [[-1.0, -1.0, 1.0, 1.0], [-1.0, -1.0, 0.5, 1.0], [-1.0, -1.0, 0.0, 1.0], [-1.0, -1.0, -0.5, 1.0]];
    let colors = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]];
    let draws = [0, 1, 2, 3].map(|part| Draw::rect(State::default(), parts[part], colors[part]));
    let prepared = draws.iter().map(|draw| prepare(gpu, &target, (pass, &views), draw));
    let prepared = prepared.collect::<Result<Vec<_>, Outcome>>()?;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(2);
    let inheritance = vk::CommandBufferInheritanceInfo::default().render_pass(pass).framebuffer(framebuffer);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inheritance);
    let clears = [vk::ClearValue::default()];
    let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
    let start = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(area);
    let start = start.clear_values(&clears);
    // SAFETY: command buffers are recorded one after the other, and everything named is alive.
    unsafe {
        let lists = gpu.device.allocate_command_buffers(&info)?;
        for (list, part) in lists.iter().zip([1, 3]) {
            gpu.device.begin_command_buffer(*list, &begin)?;
            record(gpu, *list, &draws[part], &prepared[part]);
            gpu.device.end_command_buffer(*list)?;
        }
        gpu.run(|commands| {
            gpu.device.cmd_begin_render_pass(commands, &start, INLINE_AND_SECONDARY);
            record(gpu, commands, &draws[0], &prepared[0]);
            gpu.device.cmd_execute_commands(commands, &lists[..1]);
            record(gpu, commands, &draws[2], &prepared[2]);
            gpu.device.cmd_execute_commands(commands, &lists[1..]);
            gpu.device.cmd_end_render_pass(commands);
        })?;
    }
    let pixels = gpu.read_image(&image, COLOR, 4)?;
    for (number, pixel) in pixels.chunks_exact(4).enumerate() {
        let wanted = colors[3 - number % SIZE as usize / 4].map(|channel: f32| (channel * 255.0) as u8);
        check(pixel == wanted, || format!("pixel {number}: {pixel:?} instead of {wanted:?}"))?;
    }
    Ok(())
}

/// `VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_KHR`.
const INLINE_AND_SECONDARY: vk::SubpassContents = vk::SubpassContents::from_raw(1_000_451_000);
