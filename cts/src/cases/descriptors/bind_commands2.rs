//! Bind and push commands of `VK_KHR_maintenance6`, and the status of memory bindings.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::compute::{pipeline, range};
use crate::cases::support::conditions::need6;
use crate::harness::{Case, Gpu, check};

const PAIR: &[u8] = shader!("pair.comp");

case!("maintenance.six.binds", "VK_KHR_maintenance6", binds);

/// Binds and pushes sets, constants and descriptors by the structures of `VK_KHR_maintenance6`.
fn binds(gpu: &Gpu) -> Case {
    let commands6 = need6(gpu)?;
    let kinds = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];
    let ((first, set), (second, results)) = (gpu.set(&kinds)?, gpu.set(&[T::STORAGE_BUFFER])?);
    let layout = gpu.layout(&[first, second])?;
    let (out, made) = (gpu.buffer(64)?, pipeline(gpu, PAIR, layout)?);
    let words = [1u32, 2, 3].map(|word| gpu.buffer_with(&[word; 4]).map(|buffer| range(buffer.handle, 16)));
    let [a, b, c] = words;
    let (words, of_out) = ([a?, b?, c?], range(out.handle, vk::WHOLE_SIZE));
    let write = |set, binding| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    let mut writes: Vec<_> = (0..3u32)
        .map(|at| write(set, at).descriptor_type(kinds[at as usize]).buffer_info(&words[at as usize]))
        .collect();
    writes.push(write(results, 0).descriptor_type(T::STORAGE_BUFFER).buffer_info(&of_out));
    let (stages, sets) = (vk::ShaderStageFlags::COMPUTE, [set, results]);
    // SAFETY: everything that is named is alive; the command buffer is recording.
    unsafe {
        gpu.device.update_descriptor_sets(&writes, &[]);
        gpu.run(|commands| {
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, made);
            let info = vk::BindDescriptorSetsInfoKHR::default().stage_flags(stages).layout(layout);
            commands6.cmd_bind_descriptor_sets2(commands, &info.descriptor_sets(&sets));
            let at = 5u32.to_le_bytes();
            let info = vk::PushConstantsInfoKHR::default().layout(layout).stage_flags(vk::ShaderStageFlags::ALL);
            commands6.cmd_push_constants2(commands, &info.values(&at));
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    let sum = 1 + 2 * 16 + 3 * 256;
    check(out.words()[5] == sum, || format!("{:?}, not {sum}", out.words()))
}

case!("maintenance.six.bind_status", "VK_KHR_maintenance6", bind_status);

/// Checks that each bind of several has its own result.
fn bind_status(gpu: &Gpu) -> Case {
    need6(gpu)?;
    let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    let binds = ash::khr::bind_memory2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the buffer is bound once.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(buffer), false)?;
        let mut code = vk::Result::ERROR_UNKNOWN;
        let mut status = vk::BindMemoryStatusKHR::default().result(&mut code);
        let info = [vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory).push_next(&mut status)];
        (binds.fp().bind_buffer_memory2_khr)(gpu.device.handle(), 1, info.as_ptr()).result()?;
        check(code == vk::Result::SUCCESS, || format!("{code:?}"))
    }
}
