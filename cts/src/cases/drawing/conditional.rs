//! Conditional rendering of draws and dispatches.

use ash::vk;

use crate::cases::support::pairs::{bound_pair, secondary};
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// Expected sum of the bound buffers.
const SUM: u32 = 1 + 2 * 16 + 3 * 256;

case!("commands.conditional.dispatches", "VK_EXT_conditional_rendering", conditional_dispatches);

/// Dispatches under conditions that hold and that do not hold. An earlier command writes one
/// condition, and a secondary command buffer inherits one.
fn conditional_dispatches(gpu: &Gpu) -> Case {
    if gpu.extension_features.conditional.inherited_conditional_rendering == vk::FALSE {
        return Err(Outcome::NotSupported("conditions".into()));
    }
    let (pair, set) = bound_pair(gpu)?;
    let conditions = gpu.buffer_with(&[0u32, 1, 0, 0x8000_0000])?;
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let (begin_condition, end_condition) =
        (extension.fp().cmd_begin_conditional_rendering_ext, extension.fp().cmd_end_conditional_rendering_ext);
    let inner = secondary(gpu)?;
    // SAFETY: valid usage.
    unsafe {
        let mut inherits = vk::CommandBufferInheritanceConditionalRenderingInfoEXT {
            conditional_rendering_enable: vk::TRUE,
            ..Default::default()
        };
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut inherits);
        let flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance).flags(flags);
        gpu.device.begin_command_buffer(inner, &begin)?;
        pair.bind(gpu, inner);
        gpu.device.cmd_bind_descriptor_sets(inner, COMPUTE, pair.layout, 0, &[set], &[]);
        pair.dispatch(gpu, inner, 8);
        gpu.device.end_command_buffer(inner)?;
    }
    let inverted = vk::ConditionalRenderingFlagsEXT::INVERTED;
    let (plain, words) = (vk::ConditionalRenderingFlagsEXT::empty(), [0u64, 4, 8, 12]);
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_fill_buffer(commands, conditions.handle, 8, 4, 5);
            gpu.barrier(commands, None);
            pair.bind(gpu, commands);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
            let mut at = 0;
            for flags in [plain, inverted] {
                for offset in words {
                    let info = vk::ConditionalRenderingBeginInfoEXT::default();
                    let info = info.buffer(conditions.handle).offset(offset).flags(flags);
                    begin_condition(commands, &raw const info);
                    pair.dispatch(gpu, commands, at);
                    if flags == inverted && offset == 4 {
                        gpu.device.cmd_execute_commands(commands, &[inner]);
                        pair.bind(gpu, commands);
                        gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
                    }
                    end_condition(commands);
                    at += 1;
                }
            }
            pair.dispatch(gpu, commands, 9);
            let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(conditions.handle);
            begin_condition(commands, &raw const info);
            // Conditions do not affect fills.
            gpu.device.cmd_fill_buffer(commands, pair.out.handle, 40, 4, 11);
            end_condition(commands);
        }
        gpu.barrier(commands, None);
    })?;
    let expected = [0, SUM, SUM, SUM, SUM, 0, 0, 0, 0, SUM, 11];
    check(pair.out.words()[..11] == expected, || format!("{:?}", pair.out.words()))?;
    // The condition holds.
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(conditions.handle).offset(4);
            begin_condition(commands, &raw const info);
            gpu.device.cmd_execute_commands(commands, &[inner]);
            end_condition(commands);
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[8] == SUM, || format!("{:?}", pair.out.words()))
}

case!("commands.conditional.draws", "VK_EXT_conditional_rendering", conditional_draws);

/// Draws and clears attachments under a condition that does not hold.
fn conditional_draws(gpu: &Gpu) -> Case {
    if gpu.extension_features.conditional.conditional_rendering == vk::FALSE {
        return Err(Outcome::NotSupported("conditions".into()));
    }
    let condition = gpu.buffer_with(&[0u32, 1])?;
    for (offset, skips) in [(0, true), (4, false)] {
        let mut draw = Draw::rect(State::default(), FULL, [1.0, 0.0, 0.0, 1.0]);
        draw.condition = Some((condition, offset));
        let second = Draw::rect(State::default(), [0.0, -1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
        let pixels = render(gpu, &Target::default(), &[draw, second])?;
        let left = if skips { [0; 4] } else { [255, 0, 0, 255] };
        let (first, last) = (pixels[0], pixels[SIZE as usize - 1]);
        check(first == left && last == [0, 255, 0, 255], || format!("{first:?}, {last:?}"))?;
        // A clear of the lower half follows the draw of the left half.
        let lower = pixels[(SIZE * SIZE - SIZE) as usize];
        let expected = if skips { [0; 4] } else { [0, 0, 255, 255] };
        check(lower == expected, || format!("{lower:?}, not {expected:?}"))?;
    }
    Ok(())
}
