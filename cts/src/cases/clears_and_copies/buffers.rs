//! Copies, fills and updates of buffers.

use ash::vk;

use crate::harness::{Case, Gpu, check};

case!("copies.buffers.copy", "Copying Data Between Buffers", copy_buffer);

fn copy_buffer(gpu: &Gpu) -> Case {
    let source = gpu.buffer_with(&(0..64u32).collect::<Vec<_>>())?;
    let target = gpu.buffer(256)?;
    let region = vk::BufferCopy { src_offset: 16, dst_offset: 32, size: 40 };
    // SAFETY: the region lies in both buffers.
    gpu.run(|commands| unsafe { gpu.device.cmd_copy_buffer(commands, source.handle, target.handle, &[region]) })?;
    let words = target.words();
    let expected = |index: usize| if (8..18).contains(&index) { index as u32 - 4 } else { 0 };
    check(words.iter().enumerate().all(|(index, &word)| word == expected(index)), || format!("{words:?}"))
}

case!("copies.buffers.fill", "Filling Buffers", fill_buffer);

fn fill_buffer(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(64)?;
    // SAFETY: the range lies in the buffer.
    gpu.run(|commands| unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 8, 16, 0xabcd_1234) })?;
    let words = buffer.words();
    let filled = |index: usize| if (2..6).contains(&index) { 0xabcd_1234 } else { 0 };
    check(words.iter().enumerate().all(|(index, &word)| word == filled(index)), || format!("{words:x?}"))
}

case!("copies.buffers.update", "Updating Buffers", update_buffer);

fn update_buffer(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(16)?;
    // SAFETY: the range lies in the buffer.
    gpu.run(|commands| unsafe { gpu.device.cmd_update_buffer(commands, buffer.handle, 4, &[1, 0, 0, 0, 2, 0, 0, 0]) })?;
    check(buffer.words() == [0, 1, 2, 0], || format!("{:?}", buffer.words()))
}
