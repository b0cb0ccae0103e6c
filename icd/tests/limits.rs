//! Knobs that bound what a program may take: memory, and the time of its shaders. One process, so that the knobs are set
//! before anything reads them.

use ash::vk;

const ENDLESS: &[u8] = include_bytes!("shaders/endless.comp.spv");

struct Driver {
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
}

fn open() -> Driver {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own; all create infos are valid.
    unsafe {
        let instance = ash::Entry::from_static_fn(functions).create_instance(&Default::default(), None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None).unwrap();
        let queue = device.get_device_queue(0, 0);
        Driver { instance, device, queue }
    }
}

impl Driver {
    fn allocate(&self, size: u64) -> Result<vk::DeviceMemory, vk::Result> {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(1);
        // SAFETY: the info is valid.
        unsafe { self.device.allocate_memory(&info, None) }
    }

    fn close(self) {
        // SAFETY: nothing is used afterwards.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }

    /// Dispatches the endless shader and waits; what waiting returned.
    fn run_endless(&self) -> Result<(), vk::Result> {
        let words: Vec<u32> =
            ENDLESS.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let device = &self.device;
        // SAFETY: valid usage throughout; the objects live until the device is closed.
        unsafe {
            let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(256), None)?;
            device.bind_buffer_memory(buffer, self.allocate(256)?, 0)?;
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [device.create_descriptor_set_layout(&info, None)?];
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 1 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info)?[0];
            let buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).buffer_info(&buffers);
            device.update_descriptor_sets(&[write], &[]);
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let layout = device.create_pipeline_layout(&info, None)?;
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = pipelines.map_err(|(_, code)| code)?[0];
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            let point = vk::PipelineBindPoint::COMPUTE;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            device.cmd_bind_pipeline(commands[0], point, pipeline);
            device.cmd_bind_descriptor_sets(commands[0], point, layout, 0, &[set], &[]);
            device.cmd_dispatch(commands[0], 1, 1, 1);
            device.end_command_buffer(commands[0])?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            device.queue_wait_idle(self.queue)
        }
    }
}

#[test]
fn memory_and_time_are_bounded_and_a_new_device_goes_on() {
    // SAFETY: this is the process's only test, and no other thread runs yet.
    unsafe {
        std::env::set_var("VITRIC_HEAP_MIB", "16");
        std::env::set_var("VITRIC_TIMEOUT_MS", "200");
    }
    let driver = open();
    assert_eq!(driver.allocate(17 << 20).unwrap_err(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    let most = driver.allocate(10 << 20).unwrap();
    assert_eq!(driver.allocate(10 << 20).unwrap_err(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    // SAFETY: the memory is in no use.
    unsafe { driver.device.free_memory(most, None) };
    assert!(driver.allocate(10 << 20).is_ok(), "freed memory can be had again");

    assert_eq!(driver.run_endless().unwrap_err(), vk::Result::ERROR_DEVICE_LOST);
    // SAFETY: an empty submission is valid; the device is lost.
    let after = unsafe { driver.device.queue_submit(driver.queue, &[], vk::Fence::null()) };
    assert_eq!(after.unwrap_err(), vk::Result::ERROR_DEVICE_LOST, "a lost device stays lost");
    driver.close();

    let next = open();
    // SAFETY: an empty submission is valid.
    unsafe { next.device.queue_submit(next.queue, &[], vk::Fence::null()).unwrap() };
    next.close();
}
