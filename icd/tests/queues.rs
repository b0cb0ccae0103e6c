//! Commands that a queue family does not support are dropped, and invalid calls are refused, each
//! with a message.

mod common;

use ash::vk;
use common::Driver;

fn heard(driver: &Driver) -> Vec<String> {
    std::mem::take(&mut *driver.messages.lock().unwrap())
}

/// Opens a device with a queue of each of the three families.
fn open(driver: &Driver) -> ash::Device {
    let priorities = [0.5];
    let queues = [2, 0, 1]
        .map(|family| vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priorities));
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: the info is valid.
    unsafe { driver.instance.create_device(driver.physical, &info, None).unwrap() }
}

fn pool(device: &ash::Device, family: u32) -> Result<vk::CommandPool, vk::Result> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: usage is valid except for unknown families, which the driver checks.
    unsafe { device.create_command_pool(&info, None) }
}

/// Records a command buffer of a family.
fn record(device: &ash::Device, family: u32, work: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
    let info =
        vk::CommandBufferAllocateInfo::default().command_pool(pool(device, family).unwrap()).command_buffer_count(1);
    // SAFETY: usage is valid except for the deliberate errors of `work`, which the driver handles.
    unsafe {
        let commands = device.allocate_command_buffers(&info).unwrap()[0];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        work(commands);
        device.end_command_buffer(commands).unwrap();
        commands
    }
}

fn submit(device: &ash::Device, family: u32, commands: vk::CommandBuffer) -> Result<(), vk::Result> {
    let commands = [commands];
    let info = [vk::SubmitInfo::default().command_buffers(&commands)];
    // SAFETY: usage is valid except for the family, which the driver checks.
    unsafe {
        let queue = device.get_device_queue(family, 0);
        device.queue_submit(queue, &info, vk::Fence::null())?;
        device.queue_wait_idle(queue)
    }
}

#[test]
fn commands_go_to_queues_that_take_them() {
    let driver = Driver::open();
    let device = open(&driver);
    let computing = record(&device, 1, |commands| {
        // SAFETY: the driver drops draws on these queues.
        unsafe {
            device.cmd_set_line_width(commands, 1.0);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
    });
    assert_eq!(heard(&driver).len(), 2, "a state and a draw");
    let copying = record(&device, 2, |commands| {
        // SAFETY: the driver drops dispatches on these queues.
        unsafe { device.cmd_dispatch(commands, 1, 1, 1) }
    });
    assert_eq!(heard(&driver).len(), 1);
    assert_eq!(submit(&device, 0, copying), Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(submit(&device, 2, computing), Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(heard(&driver).len(), 2);
    submit(&device, 2, copying).unwrap();
    submit(&device, 1, computing).unwrap();
    // SAFETY: the device is idle.
    unsafe { device.destroy_device(None) };
    driver.close();
}

#[test]
fn families_that_a_device_has_not_got() {
    let driver = Driver::open();
    // The device only has queues of the first family.
    assert_eq!(pool(&driver.device, 1), Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(pool(&driver.device, u32::MAX), Err(vk::Result::ERROR_UNKNOWN));
    // SAFETY: the driver returns null for unknown queues.
    unsafe {
        assert_eq!(driver.device.get_device_queue(1, 0), vk::Queue::null());
        assert_eq!(driver.device.get_device_queue(0, 1), vk::Queue::null());
    }
    let shared = [1, 1];
    let info = vk::BufferCreateInfo::default()
        .size(64)
        .usage(vk::BufferUsageFlags::TRANSFER_DST)
        .sharing_mode(vk::SharingMode::CONCURRENT)
        .queue_family_indices(&shared);
    // SAFETY: usage is valid except for the families, which the driver checks.
    assert_eq!(unsafe { driver.device.create_buffer(&info, None) }, Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(heard(&driver).len(), 3);
    driver.close();
}

#[test]
fn devices_with_queues_that_cannot_be() {
    let driver = Driver::open();
    let create = |family: u32, priorities: &[f32], flags| {
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(priorities).flags(flags)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // SAFETY: usage is valid except for the queues, which the driver checks.
        unsafe { driver.instance.create_device(driver.physical, &info, None) }.err()
    };
    let none = vk::DeviceQueueCreateFlags::empty();
    let failed = Some(vk::Result::ERROR_INITIALIZATION_FAILED);
    assert_eq!(create(9, &[1.0], none), failed);
    assert_eq!(create(0, &[1.0; 5], none), failed);
    assert_eq!(create(0, &[2.0], none), failed);
    assert_eq!(heard(&driver).len(), 3);
    let protected = create(0, &[1.0], vk::DeviceQueueCreateFlags::PROTECTED);
    assert_eq!(protected, Some(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    driver.close();
}

#[test]
fn queues_with_flags_that_are_not_enabled() {
    let driver = Driver::open_for(vk::API_VERSION_1_1, &[]);
    for flag in [vk::DeviceQueueCreateFlags::PROTECTED.as_raw(), 1 << 2, 1 << 9] {
        let flags = vk::DeviceQueueCreateFlags::from_raw(flag);
        let queues = [vk::DeviceQueueCreateInfo::default().flags(flags).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // SAFETY: the info is valid except for the flags, which the driver must refuse.
        let made = unsafe { driver.instance.create_device(driver.physical, &info, None) };
        assert_eq!(made.err(), Some(vk::Result::ERROR_FEATURE_NOT_PRESENT), "{flags:?}");
        // SAFETY: the device has no queue with flags.
        let found = unsafe {
            let mut found = vk::Queue::null();
            let get = driver.device.fp_v1_1().get_device_queue2;
            get(driver.device.handle(), &vk::DeviceQueueInfo2::default().flags(flags), &mut found);
            found
        };
        assert_eq!(found, vk::Queue::null());
    }
    driver.close();
}
