//! Device groups, and dispatches with base workgroups.

use ash::vk::DescriptorType as D;
use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

const BASE: &[u8] = shader!("base.comp");

case!("core11.groups.enumerate", "VK_KHR_device_group_creation", groups);

fn groups(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DEVICE_GROUP_NAME)?;
    let query = khr::device_group_creation::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension.
    let groups = unsafe {
        let count = query.enumerate_physical_device_groups_len()?;
        let mut groups = vec![vk::PhysicalDeviceGroupProperties::default(); count];
        query.enumerate_physical_device_groups(&mut groups)?;
        groups
    };
    let in_group = |group: &vk::PhysicalDeviceGroupProperties<'_>| {
        group.physical_devices[..group.physical_device_count as usize].contains(&gpu.physical)
    };
    let count = groups.iter().filter(|group| in_group(group)).count();
    check(count == 1, || format!("the device is in {count} of {} groups", groups.len()))
}

case!("core11.groups.dispatch_base", "VK_KHR_device_group", dispatch_base);

/// Dispatches the workgroups of a part of a grid.
fn dispatch_base(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DEVICE_GROUP_NAME)?;
    let second = khr::device_group::Device::new(&gpu.instance, &gpu.device);
    let out = gpu.buffer(512 * 4)?;
    let compute = gpu.compute_pipeline(BASE, 0, &[(D::STORAGE_BUFFER, out)])?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording, and the pipeline was made for bases.
        unsafe {
            second.cmd_set_device_mask(commands, 1);
            second.cmd_dispatch_base(commands, (1, 2, 3), (4, 3, 2));
        }
        gpu.barrier(commands, None);
    })?;
    for (at, &word) in out.words().iter().enumerate() {
        let (x, y, z) = (at % 8, at / 8 % 8, at / 64);
        let inside = (1..5).contains(&x) && (2..5).contains(&y) && (3..5).contains(&z);
        let expected = if inside { 3 + 4 * (4 + 8 * 3 + 64 * 2) } else { 0 };
        check(word == expected, || format!("({x}, {y}, {z}) is {word}, not {expected}"))?;
    }
    Ok(())
}
