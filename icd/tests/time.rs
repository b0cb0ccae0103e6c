//! The time limit: for any endless command, the device is lost soon after the limit, and the next
//! device works. The file has one test, so that the knob is set before the driver reads it.

mod common;

use std::time::{Duration, Instant};

use ash::vk;
use common::{Drawing, Driver, Layout};

/// Time limit of the tests in milliseconds.
const LIMIT: u64 = 300;

/// Longest time until a loss. It allows for a busy machine. On an idle machine, a loss takes the
/// time limit and about 0.1 s.
const LONGEST: Duration = Duration::from_secs(15);

const VERTEX: (vk::ShaderStageFlags, &[u8]) = (vk::ShaderStageFlags::VERTEX, include_bytes!("shaders/small.vert.spv"));
const COVERING: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::VERTEX, include_bytes!("shaders/large.vert.spv"));
const GEOMETRY: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::GEOMETRY, include_bytes!("shaders/strip.geom.spv"));
const FRAGMENT: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/count.frag.spv"));
const LONG: (vk::ShaderStageFlags, &[u8]) = (vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/long.frag.spv"));
const ENDLESS: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/endless.frag.spv"));
const CONTROL: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::TESSELLATION_CONTROL, include_bytes!("shaders/fine.tesc.spv"));
const EVALUATION: (vk::ShaderStageFlags, &[u8]) =
    (vk::ShaderStageFlags::TESSELLATION_EVALUATION, include_bytes!("shaders/fine.tese.spv"));
const TASK: (vk::ShaderStageFlags, &[u8]) = (vk::ShaderStageFlags::TASK_EXT, include_bytes!("shaders/many.task.spv"));
const MESH: (vk::ShaderStageFlags, &[u8]) = (vk::ShaderStageFlags::MESH_EXT, include_bytes!("shaders/one.mesh.spv"));

const TRIANGLES: vk::PrimitiveTopology = vk::PrimitiveTopology::TRIANGLE_LIST;

type Done = Result<(), vk::Result>;

/// Creates a buffer that begins with these words, followed by zeros.
fn buffer_of(driver: &Driver, words: &[u32]) -> Result<vk::Buffer, vk::Result> {
    let (buffer, memory) = driver.buffer(4096)?;
    // SAFETY: the memory is visible to the host and larger than the words.
    unsafe {
        let start = driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        std::slice::from_raw_parts_mut(start.cast::<u32>(), 1024).fill(0);
        std::slice::from_raw_parts_mut(start.cast::<u32>(), words.len()).copy_from_slice(words);
    }
    Ok(buffer)
}

/// Function that records commands.
type Record = Box<dyn FnOnce(&ash::Device, vk::CommandBuffer)>;

/// Returns a function that records a draw.
fn vertices(vertices: u32, instances: u32) -> Record {
    // SAFETY: called between the begin and the end of a pass, with a pipeline bound.
    Box::new(move |device, commands| unsafe { device.cmd_draw(commands, vertices, instances, 0, 0) })
}

/// Returns a function that records draws with parameters in a buffer.
fn vertices_of(numbers: vk::Buffer, draws: u32) -> Record {
    // SAFETY: the draw is recorded inside a pass with a pipeline bound; draws beyond the
    // buffer read zeros.
    Box::new(move |device, commands| unsafe { device.cmd_draw_indirect(commands, numbers, 0, draws, 16) })
}

/// Returns a function that records a dispatch.
fn groups([x, y, z]: [u32; 3]) -> Record {
    // SAFETY: called with a pipeline bound.
    Box::new(move |device, commands| unsafe { device.cmd_dispatch(commands, x, y, z) })
}

/// Returns a function that records a dispatch with parameters in a buffer.
fn groups_of(numbers: vk::Buffer) -> Record {
    // SAFETY: the dispatch is recorded with a pipeline bound.
    Box::new(move |device, commands| unsafe { device.cmd_dispatch_indirect(commands, numbers, 0) })
}

/// Dispatches a compute shader with the command of `record`.
fn compute(driver: &Driver, bytes: &[u8], record: Record) -> Done {
    common::compute(driver, bytes, buffer_of(driver, &[])?, record)
}

/// Draws with some stages and the command of `record`.
fn draw(
    driver: &Driver,
    (stages, topology): (&[(vk::ShaderStageFlags, &[u8])], vk::PrimitiveTopology),
    record: Record,
) -> Done {
    let layout = Layout::new(driver, buffer_of(driver, &[])?)?;
    let drawing = Drawing::new(driver, &layout, stages, topology, false)?;
    driver.run(|device, commands| {
        drawing.begin(device, commands, &layout);
        record(device, commands);
        // SAFETY: valid usage.
        unsafe { device.cmd_end_render_pass(commands) };
    })
}

/// Checks that the device is lost at the limit, and that a message contains the texts in `why`.
fn loses(name: &str, why: [&str; 2], run: impl FnOnce(&Driver) -> Done) {
    let mut meshes = vk::PhysicalDeviceMeshShaderFeaturesEXT::default().task_shader(true).mesh_shader(true);
    let driver = Driver::open_by(vk::API_VERSION_1_2, &[ash::ext::mesh_shader::NAME], &mut meshes);
    let begin = Instant::now();
    assert_eq!(run(&driver), Err(vk::Result::ERROR_DEVICE_LOST), "{name}");
    let elapsed = begin.elapsed();
    println!("{name}: lost after {} ms", elapsed.as_millis());
    assert!(elapsed >= Duration::from_millis(LIMIT * 9 / 10), "{name}: too soon, {elapsed:?}");
    assert!(elapsed < LONGEST, "{name}: {elapsed:?}");
    let messages = driver.messages.lock().unwrap().join("\n");
    assert!(why.iter().all(|why| messages.contains(why)), "{name}: {messages:?} does not say {why:?}");
    driver.close();
}

fn dispatches_are_lost() {
    const BARRIERS: &[u8] = include_bytes!("shaders/barrier_loop.comp.spv");
    const SHORT: &[u8] = include_bytes!("shaders/short.comp.spv");
    let why = ["compute shader", "vkCmdDispatch(1, 1, 1)"];
    loses("barriers", why, |driver| compute(driver, BARRIERS, groups([1; 3])));
    let why = ["VITRIC_TIMEOUT_MS", "vkCmdDispatch(65535, 65535, 65535)"];
    loses("dispatch", why, |driver| compute(driver, SHORT, groups([65535; 3])));
    loses("indirect dispatch", ["compute shader", "vkCmdDispatchIndirect"], |driver| {
        compute(driver, SHORT, groups_of(buffer_of(driver, &[65535; 3])?))
    });
}

fn draws_are_lost() {
    let stages = (&[VERTEX, FRAGMENT][..], TRIANGLES);
    let why = ["VITRIC_TIMEOUT_MS", "vkCmdDraw(4294967295 vertices"];
    loses("vertices", why, |driver| draw(driver, stages, vertices(u32::MAX, 1)));
    let why = ["VITRIC_TIMEOUT_MS", "4294967295 instances"];
    loses("instances", why, |driver| draw(driver, stages, vertices(3, u32::MAX)));
    loses("strips", ["VITRIC_TIMEOUT_MS", "vkCmdDraw("], |driver| {
        draw(driver, (stages.0, vk::PrimitiveTopology::TRIANGLE_STRIP), vertices(u32::MAX, 3))
    });
    loses("indirect draw", ["VITRIC_TIMEOUT_MS", "vkCmdDrawIndirect"], |driver| {
        draw(driver, stages, vertices_of(buffer_of(driver, &[u32::MAX, u32::MAX, 0, 0])?, 1))
    });
    loses("draws of nothing", ["vertex shader", "vkCmdDrawIndirect"], |driver| {
        draw(driver, stages, vertices_of(buffer_of(driver, &[])?, u32::MAX))
    });
}

fn later_stages_are_lost() {
    loses("geometry", ["VITRIC_TIMEOUT_MS", "vkCmdDraw("], |driver| {
        draw(driver, (&[VERTEX, GEOMETRY, FRAGMENT], TRIANGLES), vertices(u32::MAX, 1))
    });
    loses("tessellation", ["VITRIC_TIMEOUT_MS", "vkCmdDraw("], |driver| {
        let stages = &[VERTEX, CONTROL, EVALUATION, FRAGMENT];
        draw(driver, (stages, vk::PrimitiveTopology::PATCH_LIST), vertices(u32::MAX, 1))
    });
    loses("fragments", ["fragment shader", "command buffer 1"], |driver| {
        draw(driver, (&[COVERING, LONG], TRIANGLES), vertices(3, 1))
    });
    loses("fragments of one of many draws", ["fragment shader", "vkCmdEndRenderPass"], |driver| {
        let record: Record = Box::new(|device, commands| (0..1000).for_each(|_| vertices(3, 1)(device, commands)));
        draw(driver, (&[COVERING, ENDLESS], TRIANGLES), record)
    });
    for (name, stages, groups) in
        [("tasks", &[TASK, MESH, FRAGMENT][..], 4), ("meshes", &[MESH, FRAGMENT][..], 1 << 30)]
    {
        loses(name, ["VITRIC_TIMEOUT_MS", "vkCmdDrawMeshTasksEXT("], |driver| {
            let meshes = ash::ext::mesh_shader::Device::new(&driver.instance, &driver.device);
            // SAFETY: called between the begin and the end of a pass, with a pipeline bound.
            let record = move |_: &ash::Device, commands| unsafe { meshes.cmd_draw_mesh_tasks(commands, groups, 1, 1) };
            draw(driver, (stages, TRIANGLES), Box::new(record))
        });
    }
}

#[test]
fn every_command_is_lost_at_the_limit_and_a_new_device_goes_on() {
    // SAFETY: this is the process's only test, and no other thread runs yet.
    unsafe { std::env::set_var("VITRIC_TIMEOUT_MS", LIMIT.to_string()) };
    dispatches_are_lost();
    draws_are_lost();
    later_stages_are_lost();
    let next = Driver::open();
    next.run(|_, _| ()).unwrap();
    next.close();
}
