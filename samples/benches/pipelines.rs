//! Creation and destruction of shader modules, by the words of their code, and of pipelines whose
//! program another pipeline keeps alive, as programs with many variants of state have them.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const MODULE: &[u8] = include_bytes!("../shaders/vessel.frag.spv");
const PROGRAM: &[u8] = include_bytes!("shaders/atomics.comp.spv");

fn pipelines(criterion: &mut Criterion) {
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
        let mut group = criterion.benchmark_group("pipelines");
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
        group.bench_function("known", |bencher| bencher.iter(|| device.destroy_pipeline(create(), None)));
        group.finish();
    }
}

criterion_group!(benches, pipelines);
criterion_main!(benches);
