//! Indirect draws whose number is read from a buffer.

use ash::vk;
use vitric_vulkan::names::KHR_DEVICE_ADDRESS_COMMANDS_NAME;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, Target, render};

const PARAMETERS: &[u8] = shader!("parameters.vert");

case!("core12.draws.counted", "VK_KHR_draw_indirect_count", |gpu| counted(gpu, false));
case!("address_commands.draws.counted", "VK_KHR_device_address_commands", |gpu| {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    counted(gpu, true)
});

/// Checks that the number of draws is the smaller one of the buffer's and the command's. Commands
/// may name buffers by addresses.
fn counted(gpu: &Gpu, by_address: bool) -> Case {
    gpu.need(vk::KHR_DRAW_INDIRECT_COUNT_NAME)?;
    gpu.need(vk::KHR_SHADER_DRAW_PARAMETERS_NAME)?;
    let arguments: Vec<u32> = (0..4).flat_map(|draw| [6, 1, draw * 6, draw]).collect();
    let indexed: Vec<u32> = (0..4u32).flat_map(|draw| [6, 1, 0, draw * 6, draw]).collect();
    let memory = |words: &[u32]| gpu.buffer_of_words(words, by_address);
    let (arguments, indexed) = (memory(&arguments)?, memory(&indexed)?);
    let indices = gpu.buffer_with(&[0u32, 1, 2, 3, 4, 5])?;
    for (said, most) in [(3, 4), (4, 2), (0, 4), (u32::MAX, 4)] {
        let counts = memory(&[99, said])?;
        for with_indices in [false, true] {
            let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
            let buffer = if with_indices { indexed } else { arguments };
            draw.by_address = by_address;
            draw.kind = Kind::Counted { buffer, counts, offset: 4, most, indices: with_indices.then_some(indices) };
            let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
            for (at, pixel) in pixels.iter().enumerate() {
                let draw = (at as u32 % SIZE / 4) as u8;
                let drawn = u32::from(draw) < said.min(most);
                let expected = if drawn { [draw * 6, draw, draw, 255] } else { [255; 4] };
                check(*pixel == expected, || format!("{said} of {most}: pixel {at} is {pixel:?}, not {expected:?}"))?;
            }
        }
    }
    Ok(())
}
