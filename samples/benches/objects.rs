//! Creation and destruction of objects of which programs have many: shader modules, by the words of
//! their code, pipelines whose program another pipeline keeps alive, as with variants of state, and
//! command buffers of a large pool, which are freed one at a time.

mod device;

use ash::vk;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const MODULE: &[u8] = include_bytes!("../shaders/vessel.frag.spv");
const PROGRAM: &[u8] = include_bytes!("shaders/atomics.comp.spv");

/// Number of command buffers of the pool.
const COMMAND_BUFFERS: u32 = 100_000;

fn objects(criterion: &mut Criterion) {
    let entry = device::entry();
    let code = |bytes: &[u8]| ash::util::read_spv(&mut std::io::Cursor::new(bytes)).expect("whole words");
    let (module, program) = (code(MODULE), code(PROGRAM));
    // SAFETY: infos are valid and handles alive. The instance lives as long as the process.
    unsafe {
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).expect("an instance");
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None).expect("a device");
        let mut group = criterion.benchmark_group("objects");
        group.throughput(Throughput::Elements(module.len() as u64));
        let info = vk::ShaderModuleCreateInfo::default().code(&module);
        group.bench_function("modules", |bencher| {
            bencher.iter(|| {
                let module = device.create_shader_module(&info, None).expect("a module");
                device.destroy_shader_module(module, None);
            });
        });
        let info = vk::ShaderModuleCreateInfo::default().code(&program);
        let module = device.create_shader_module(&info, None).expect("a module");
        let stages = vk::ShaderStageFlags::COMPUTE;
        let binding = |number| vk::DescriptorSetLayoutBinding::default().binding(number).stage_flags(stages);
        let buffer = binding(0).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(1);
        let bindings = [buffer];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sets = [device.create_descriptor_set_layout(&info, None).expect("a layout of sets")];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        let layout = device.create_pipeline_layout(&info, None).expect("a layout");
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stages).module(module).name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let create = || device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).expect("a pipeline")[0];
        let _kept = create();
        group.throughput(Throughput::Elements(1));
        group.bench_function("pipelines", |bencher| bencher.iter(|| device.destroy_pipeline(create(), None)));
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(COMMAND_BUFFERS);
        group.throughput(Throughput::Elements(COMMAND_BUFFERS.into())).sample_size(10);
        group.bench_function("command_buffers", |bencher| {
            let allocate = || device.allocate_command_buffers(&info).expect("command buffers");
            let free = |buffers: Vec<vk::CommandBuffer>| {
                buffers.iter().for_each(|&buffer| device.free_command_buffers(pool, &[buffer]));
            };
            bencher.iter_batched(allocate, free, BatchSize::PerIteration);
        });
        group.finish();
    }
}

criterion_group!(benches, objects);
criterion_main!(benches);
