//! Memory of destroyed objects and devices returns to the operating system.
//!
//! The file has one test, so that no other test allocates memory. The bounds are generous, because
//! the test detects memory that grows with the number of objects.

mod common;

use ash::vk::{self, Handle};
use common::Driver;

const MIB: u64 = 1 << 20;
const COMPUTE: &[u8] = include_bytes!("shaders/endless.comp.spv");

/// Returns the resident memory of the process in bytes.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Function that creates an object and returns its handle.
type Make = fn(&Objects) -> u64;
/// Function that destroys an object.
type End = fn(&Objects, u64);

/// A device, and objects from which others are created.
struct Objects {
    device: ash::Device,
    pool: vk::CommandPool,
    image: vk::Image,
    words: Vec<u32>,
}

fn image_info() -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::SAMPLED)
}

impl Objects {
    fn new(driver: &Driver) -> Self {
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let words = COMPUTE.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        // SAFETY: infos are valid and handles alive, here and below.
        unsafe {
            let device = driver.instance.create_device(driver.physical, &info, None).unwrap();
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let image = device.create_image(&image_info(), None).unwrap();
            let size = device.get_image_memory_requirements(image).size;
            let info = vk::MemoryAllocateInfo::default().allocation_size(size);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_image_memory(image, memory, 0).unwrap();
            Self { device, pool, image, words }
        }
    }
}

/// Types of objects, each with a count, a function that creates an object, and one that destroys
/// it.
#[expect(clippy::undocumented_unsafe_blocks, reason = "infos are valid, and handles alive")]
const KINDS: [(&str, usize, Make, End); 12] = [
    (
        "fences",
        100_000,
        |o| unsafe { o.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap().as_raw() },
        |o, handle| unsafe { o.device.destroy_fence(vk::Fence::from_raw(handle), None) },
    ),
    (
        "semaphores",
        100_000,
        |o| unsafe { o.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap().as_raw() },
        |o, handle| unsafe { o.device.destroy_semaphore(vk::Semaphore::from_raw(handle), None) },
    ),
    (
        "samplers",
        100_000,
        |o| unsafe { o.device.create_sampler(&vk::SamplerCreateInfo::default(), None).unwrap().as_raw() },
        |o, handle| unsafe { o.device.destroy_sampler(vk::Sampler::from_raw(handle), None) },
    ),
    (
        "buffers",
        100_000,
        |o| unsafe {
            let info = vk::BufferCreateInfo::default().size(256).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
            o.device.create_buffer(&info, None).unwrap().as_raw()
        },
        |o, handle| unsafe { o.device.destroy_buffer(vk::Buffer::from_raw(handle), None) },
    ),
    (
        "images",
        100_000,
        |o| unsafe { o.device.create_image(&image_info(), None).unwrap().as_raw() },
        |o, handle| unsafe { o.device.destroy_image(vk::Image::from_raw(handle), None) },
    ),
    (
        "views of images",
        100_000,
        |o| unsafe {
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let info = vk::ImageViewCreateInfo::default().image(o.image).subresource_range(range);
            let info = info.view_type(vk::ImageViewType::TYPE_2D).format(vk::Format::R8G8B8A8_UNORM);
            o.device.create_image_view(&info, None).unwrap().as_raw()
        },
        |o, handle| unsafe { o.device.destroy_image_view(vk::ImageView::from_raw(handle), None) },
    ),
    (
        "pools of queries",
        100_000,
        |o| unsafe {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(4);
            o.device.create_query_pool(&info, None).unwrap().as_raw()
        },
        |o, handle| unsafe { o.device.destroy_query_pool(vk::QueryPool::from_raw(handle), None) },
    ),
    (
        "command pools",
        100_000,
        |o| unsafe { o.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap().as_raw() },
        |o, handle| unsafe { o.device.destroy_command_pool(vk::CommandPool::from_raw(handle), None) },
    ),
    (
        "command buffers",
        20_000,
        |o| unsafe {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(o.pool).command_buffer_count(1);
            let commands = o.device.allocate_command_buffers(&info).unwrap()[0];
            o.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            (0..20).for_each(|_| o.device.cmd_draw(commands, 3, 1, 0, 0));
            commands.as_raw()
        },
        |o, handle| unsafe { o.device.free_command_buffers(o.pool, &[vk::CommandBuffer::from_raw(handle)]) },
    ),
    (
        "pools of descriptors",
        20_000,
        |o| unsafe {
            let kind = vk::DescriptorType::STORAGE_BUFFER;
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 16 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = o.device.create_descriptor_pool(&info, None).unwrap();
            let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(kind).descriptor_count(16);
            let bindings = [binding.stage_flags(vk::ShaderStageFlags::ALL)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [o.device.create_descriptor_set_layout(&info, None).unwrap()];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            o.device.allocate_descriptor_sets(&info).unwrap();
            o.device.destroy_descriptor_set_layout(layouts[0], None);
            pool.as_raw()
        },
        |o, handle| unsafe { o.device.destroy_descriptor_pool(vk::DescriptorPool::from_raw(handle), None) },
    ),
    (
        "shader modules",
        20_000,
        |o| unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&o.words);
            o.device.create_shader_module(&info, None).unwrap().as_raw()
        },
        |o, handle| unsafe { o.device.destroy_shader_module(vk::ShaderModule::from_raw(handle), None) },
    ),
    (
        "memory",
        1_000,
        |o| unsafe {
            let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 16).memory_type_index(1);
            let memory = o.device.allocate_memory(&info, None).unwrap();
            let mapped = o.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            mapped.cast::<u8>().write_bytes(7, 1 << 16);
            memory.as_raw()
        },
        |o, handle| unsafe { o.device.free_memory(vk::DeviceMemory::from_raw(handle), None) },
    ),
];

/// Creates objects of every type and destroys their device without destroying them.
fn leave_children(driver: &Driver) -> u64 {
    let objects = Objects::new(driver);
    for (_, count, make, _) in KINDS {
        (0..count / 10).for_each(|_| _ = make(&objects));
    }
    let most = resident();
    // SAFETY: the driver destroys the device's live children, which is the case under test.
    unsafe { objects.device.destroy_device(None) };
    most
}

#[test]
fn memory_goes_back_to_the_system() {
    let driver = Driver::open();
    driver.run(|_, _| ()).unwrap();
    let objects = Objects::new(&driver);
    let begin = resident();
    for (name, count, make, end) in KINDS {
        let before = resident();
        let all: Vec<u64> = (0..count).map(|_| make(&objects)).collect();
        let most = resident();
        all.iter().rev().for_each(|&handle| end(&objects, handle));
        drop(all);
        let left = resident().saturating_sub(before);
        println!("{count} {name}: {} KiB, {} KiB are left", most.saturating_sub(before) >> 10, left >> 10);
        // Slots of used handles are kept, at 24 bytes each.
        assert!(left < 8 * MIB, "{name}: {left} bytes");
    }
    // SAFETY: the driver destroys the device's live children, which is the case under test.
    unsafe { objects.device.destroy_device(None) };
    let (after, growth) = (resident(), |now: u64| now.saturating_sub(begin));
    println!("the device is destroyed: {} KiB", growth(after) >> 10);
    assert!(growth(after) < 16 * MIB, "{begin} bytes before, {after} after");
    for turn in 0..4 {
        let most = leave_children(&driver);
        let after = resident();
        println!("children live {turn}: {} KiB, {} KiB are left", growth(most) >> 10, growth(after) >> 10);
        assert!(growth(after) < 16 * MIB, "{begin} bytes before, {after} after turn {turn}");
    }
    driver.close();
}
