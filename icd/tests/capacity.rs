//! Pools and command buffers as real programs use them, beyond the specification's guarantees.

mod common;

use ash::vk::{self, DescriptorType as T};
use common::Driver;

/// Creates the layout of a set with `count` descriptors of a type.
fn layout(driver: &Driver, kind: T, count: u32) -> vk::DescriptorSetLayout {
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(kind).descriptor_count(count);
    let bindings = [binding.stage_flags(vk::ShaderStageFlags::ALL)];
    // SAFETY: the info is valid.
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        driver.device.create_descriptor_set_layout(&info, None).unwrap()
    }
}

fn pool(driver: &Driver, max_sets: u32, kind: T, count: u32) -> vk::DescriptorPool {
    let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: count }];
    let info = vk::DescriptorPoolCreateInfo::default().max_sets(max_sets).pool_sizes(&sizes);
    let info = info.flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET);
    // SAFETY: the info is valid.
    unsafe { driver.device.create_descriptor_pool(&info, None) }.unwrap()
}

fn allocate(
    driver: &Driver,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
) -> Result<vk::DescriptorSet, vk::Result> {
    let layouts = [layout];
    let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
    // SAFETY: the info is valid.
    unsafe { driver.device.allocate_descriptor_sets(&info) }.map(|sets| sets[0])
}

#[test]
fn pools_serve_types_that_they_have_too_few_of_and_say_so_once() {
    let driver = Driver::open();
    let made = pool(&driver, 4, T::COMBINED_IMAGE_SAMPLER, 100);
    let one = layout(&driver, T::UNIFORM_BUFFER, 1);
    let sets: Vec<_> = (0..4).map(|_| allocate(&driver, made, one).unwrap()).collect();
    assert_eq!(allocate(&driver, made, one), Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY), "sets are limited");
    let said = driver.messages.lock().unwrap().clone();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("has 1 descriptors of type UNIFORM_BUFFER in use, but was created for 0"), "{said:?}");
    // SAFETY: no command uses the sets.
    unsafe { driver.device.free_descriptor_sets(made, &sets[1..3]) }.unwrap();
    // Freed sets make room for sets of any size.
    for count in [1000, 3] {
        allocate(&driver, made, layout(&driver, T::STORAGE_BUFFER, count)).unwrap();
    }
    assert_eq!(driver.messages.lock().unwrap().len(), 1);
    let enough = pool(&driver, 4, T::SAMPLER, 4);
    let one = layout(&driver, T::SAMPLER, 1);
    for _ in 0..4 {
        allocate(&driver, enough, one).unwrap();
    }
    assert_eq!(driver.messages.lock().unwrap().len(), 1, "a pool that has enough has nothing to say");
    driver.close();
}

/// Buffers of a large pool are freed one at a time. Buffers that are freed again are reported.
#[test]
fn many_command_buffers_are_freed_one_at_a_time() {
    const COUNT: u32 = 100_000;
    let driver = Driver::open();
    // SAFETY: usage is valid except for the buffers that are freed twice, which the driver
    // detects.
    unsafe {
        let pool = driver.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(COUNT);
        let buffers = driver.device.allocate_command_buffers(&info).unwrap();
        buffers.iter().for_each(|&buffer| driver.device.free_command_buffers(pool, &[buffer]));
        driver.device.free_command_buffers(pool, &buffers[..2]);
        assert_eq!(driver.messages.lock().unwrap().len(), 2, "what is not of the pool is told of");
        driver.device.destroy_command_pool(pool, None);
    }
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

/// Returns the resident memory of the process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Sets of a million descriptors only use memory for written descriptors.
#[test]
fn large_sets_take_the_memory_of_what_is_written() {
    const SETS: u32 = 32;
    let driver = Driver::open();
    let large = layout(&driver, T::STORAGE_BUFFER, 1 << 20);
    let pool = pool(&driver, SETS, T::STORAGE_BUFFER, SETS << 20);
    let before = resident();
    let (buffer, _) = driver.buffer(64).unwrap();
    for _ in 0..SETS {
        let buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default().dst_set(allocate(&driver, pool, large).unwrap());
        let write = write.descriptor_type(T::STORAGE_BUFFER).buffer_info(&buffers).dst_array_element(5);
        // SAFETY: no command uses the set.
        unsafe { driver.device.update_descriptor_sets(&[write], &[]) };
    }
    // All descriptors would take 1 GiB. Concurrent tests also allocate some memory.
    let grown = resident().saturating_sub(before);
    assert!(grown < 512 << 20, "{} MiB", grown >> 20);
    driver.close();
}
