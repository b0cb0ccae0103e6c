//! Exhausted address space leads to errors and does not end the process. The test runs itself
//! again in processes that limit their address space, and then allocate in one way until they get
//! an error.

mod common;

use std::process::Command;

use ash::vk;
use common::{Driver, Layout};

/// Variable of the child processes: the kind of allocation, and the MiB of address space beyond
/// the initial use.
const TAKES: &str = "VITRIC_TEST_TAKES";

/// Kinds of allocation.
const WAYS: [&str; 5] = ["pipelines", "commands", "objects", "memory", "devices"];

/// Maximum number of allocations.
const MAX_TAKEN: u32 = 20_000;

/// Returns a compute shader with 8,000 distinct dependent operations, which also depend on
/// `number`.
fn program(number: u32) -> Vec<u8> {
    use std::iter::once;
    let mut words = vec![0x0723_0203, 0x0001_0000, 0, 20_000, 0];
    let mut push = |op: u32, operands: &[u32]| {
        words.extend(once((operands.len() as u32 + 1) << 16 | op).chain(operands.iter().copied()));
    };
    push(17, &[1]);
    push(14, &[0, 1]);
    push(15, &[5, 1, u32::from_le_bytes(*b"main"), 0]);
    push(16, &[1, 17, 16, 1, 1]);
    // Decorations: the block, its member's offset, the array's stride, set and binding.
    push(71, &[7, 3]);
    push(72, &[7, 0, 35, 0]);
    push(71, &[6, 6, 4]);
    push(71, &[9, 34, 0]);
    push(71, &[9, 33, 0]);
    push(19, &[2]);
    push(33, &[3, 2]);
    push(21, &[4, 32, 0]);
    push(29, &[6, 4]);
    push(30, &[7, 6]);
    push(32, &[8, 2, 7]);
    push(32, &[10, 2, 4]);
    push(43, &[4, 11, 0]);
    push(43, &[4, 12, number]);
    push(59, &[8, 9, 2]);
    push(54, &[2, 1, 0, 3]);
    push(248, &[13]);
    push(65, &[10, 14, 9, 11, 11]);
    push(61, &[4, 100, 14]);
    for id in 101..8101 {
        // Products, sums and exclusive disjunctions (`OpIMul`, `OpIAdd`, `OpBitwiseXor`).
        push([132, 128, 198][id as usize % 3], &[4, id, id - 1, if id % 2 == 0 { 12 } else { 100 }]);
    }
    push(62, &[14, 8100]);
    push(253, &[]);
    push(56, &[]);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn make_pipelines(driver: &Driver) -> Result<(), vk::Result> {
    let layout = Layout::new(driver, driver.buffer(256)?.0)?;
    for number in 1..=200 {
        let module = driver.module(&program(number))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.layout)];
        // SAFETY: valid usage.
        unsafe { driver.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
            .map_err(|(_, code)| code)?;
    }
    Ok(())
}

fn record_commands(driver: &Driver) -> Result<(), vk::Result> {
    let layout = Layout::new(driver, driver.buffer(256)?.0)?;
    let point = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: valid usage.
    unsafe {
        let device = &driver.device;
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        for _ in 0..100 {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            for _ in 0..MAX_TAKEN {
                device.cmd_bind_descriptor_sets(commands, point, layout.layout, 0, &[layout.set], &[]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
            device.end_command_buffer(commands)?;
        }
    }
    Ok(())
}

fn make_objects(driver: &Driver) -> Result<(), vk::Result> {
    let extent = vk::Extent3D { width: 64, height: 64, depth: 1 };
    let image = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(7)
        .array_layers(16)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::SAMPLED);
    for _ in 0..MAX_TAKEN * 30 {
        // SAFETY: valid usage.
        unsafe {
            driver.device.create_image(&image, None)?;
            let buffer = vk::BufferCreateInfo::default().size(256).usage(vk::BufferUsageFlags::UNIFORM_BUFFER);
            driver.device.create_buffer(&buffer, None)?;
        }
    }
    Ok(())
}

fn open_devices(driver: &Driver) -> Result<(), vk::Result> {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: valid usage.
    (0..300).try_for_each(|_| unsafe { driver.instance.create_device(driver.physical, &info, None) }.map(drop))
}

fn allocate_memory(driver: &Driver) -> Result<(), vk::Result> {
    (0..MAX_TAKEN).try_for_each(|_| driver.allocate(1 << 20).map(drop))
}

/// Returns the size of this process's address space in bytes.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// Limits the address space, allocates until the driver returns an error, and exits.
fn take(wanted: &str) -> ! {
    let (way, room) = wanted.split_once(' ').unwrap();
    let driver = Driver::open();
    // After a submission, all threads have started.
    driver.run(|_, _| ()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let limit = address_space() + (room.parse::<u64>().unwrap() << 20);
    let pid = std::process::id().to_string();
    let limited = Command::new("prlimit").args(["--pid", &pid, &format!("--as={limit}")]).status();
    assert!(limited.unwrap().success());
    let taken = match way {
        "pipelines" => make_pipelines(&driver),
        "commands" => record_commands(&driver),
        "objects" => make_objects(&driver),
        "devices" => open_devices(&driver),
        _ => allocate_memory(&driver),
    };
    let refused = [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY];
    std::process::exit(match taken {
        Err(code) if refused.contains(&code) => 3,
        Ok(()) => 4,
        Err(_) => 5,
    })
}

#[test]
fn memory_that_runs_out_is_an_error() {
    if let Ok(wanted) = std::env::var(TAKES) {
        take(&wanted);
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        return eprintln!("skipped: prlimit (Debian: util-linux) is not installed");
    }
    for way in WAYS {
        for room in [20, 40, 90, 150] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "memory_that_runs_out_is_an_error"]).env(TAKES, format!("{way} {room}"));
            let status = child.status().unwrap();
            assert_eq!(status.code(), Some(3), "{way} with {room} MiB: {status}");
        }
    }
}
