//! Knobs that limit a program's memory and the time of its shaders. The file has one test, so that
//! the knobs are set before the driver reads them.

mod common;

use ash::vk;
use common::{Drawing, Driver, Layout, compute};

const SHORT: &[u8] = include_bytes!("shaders/short.comp.spv");
const COMPUTE: &[u8] = include_bytes!("shaders/endless.comp.spv");
const VERTEX: &[u8] = include_bytes!("shaders/endless.vert.spv");
const GEOMETRY: &[u8] = include_bytes!("shaders/endless.geom.spv");
const FRAGMENT: &[u8] = include_bytes!("shaders/endless.frag.spv");
const LARGE: &[u8] = include_bytes!("shaders/large.vert.spv");

/// Dispatches the endless shader and waits. Returns the result of the wait.
fn run_compute(driver: &Driver) -> Result<(), vk::Result> {
    // SAFETY: called with a pipeline bound.
    compute(driver, COMPUTE, driver.buffer(256)?.0, |device, commands| unsafe {
        device.cmd_dispatch(commands, 1, 1, 1);
    })
}

/// Draws a triangle with an endless stage.
fn run_graphics(driver: &Driver, vertex: &[u8], geometry: Option<&[u8]>) -> Result<(), vk::Result> {
    let layout = Layout::new(driver, driver.buffer(256)?.0)?;
    let mut stages = vec![(vk::ShaderStageFlags::VERTEX, vertex), (vk::ShaderStageFlags::FRAGMENT, FRAGMENT)];
    stages.extend(geometry.map(|geometry| (vk::ShaderStageFlags::GEOMETRY, geometry)));
    let drawing = Drawing::new(driver, &layout, &stages, vk::PrimitiveTopology::TRIANGLE_LIST, false)?;
    driver.run(|device, commands| {
        drawing.begin(device, commands, &layout);
        // SAFETY: valid usage.
        unsafe {
            device.cmd_draw(commands, 3, 1, 0, 0);
            device.cmd_end_render_pass(commands);
        }
    })
}

/// Checks that the device is lost and stays lost, and that a new device works.
fn loses(run: impl FnOnce(&Driver) -> Result<(), vk::Result>) {
    let driver = Driver::open();
    assert_eq!(run(&driver).unwrap_err(), vk::Result::ERROR_DEVICE_LOST);
    // SAFETY: an empty submission is valid, also on a lost device.
    let after = unsafe { driver.device.queue_submit(driver.queue, &[], vk::Fence::null()) };
    assert_eq!(after.unwrap_err(), vk::Result::ERROR_DEVICE_LOST, "a lost device stays lost");
    driver.close();
    let next = Driver::open();
    next.run(|_, _| ()).unwrap();
    next.close();
}

#[test]
fn memory_and_time_are_bounded_and_a_new_device_goes_on() {
    // SAFETY: this is the process's only test, and no other thread runs yet.
    unsafe {
        std::env::set_var("VITRIC_HEAP_MIB", "16");
        std::env::set_var("VITRIC_TIMEOUT_MS", "200");
    }
    let driver = Driver::open();
    assert_eq!(driver.allocate(17 << 20).unwrap_err(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    let most = driver.allocate(10 << 20).unwrap();
    assert_eq!(driver.allocate(10 << 20).unwrap_err(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    // SAFETY: the memory is not in use.
    unsafe { driver.device.free_memory(most, None) };
    let (buffer, memory) = driver.buffer(10 << 20).expect("freed memory can be had again");
    // SAFETY: called with a pipeline bound.
    compute(&driver, SHORT, buffer, |device, commands| unsafe { device.cmd_dispatch(commands, 1, 1, 1) }).unwrap();
    // SAFETY: the buffer and its memory are not in use.
    unsafe {
        driver.device.destroy_buffer(buffer, None);
        driver.device.free_memory(memory, None);
    }
    assert!(driver.allocate(10 << 20).is_ok(), "descriptor sets give freed memory back");
    driver.close();

    loses(run_compute);
    loses(|driver| run_graphics(driver, VERTEX, None));
    loses(|driver| run_graphics(driver, LARGE, None));
    loses(|driver| run_graphics(driver, LARGE, Some(GEOMETRY)));
}
