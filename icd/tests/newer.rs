//! Invalid input to commands of extensions: the result is an error, a message or no effect, and
//! the device still works.

mod common;

use ash::khr;
use ash::vk::{self, Handle};
use common::Driver;

fn heard(driver: &Driver) -> usize {
    let mut messages = driver.messages.lock().unwrap();
    std::mem::take(&mut *messages).len()
}

#[test]
fn render_passes_of_the_second_version_are_checked() {
    let driver =
        Driver::open_with(&[vk::KHR_MULTIVIEW_NAME, vk::KHR_MAINTENANCE2_NAME, vk::KHR_CREATE_RENDERPASS2_NAME]);
    let second = khr::create_renderpass2::Device::new(&driver.instance, &driver.device);
    let make = |subpasses: &[vk::SubpassDescription2<'_>]| {
        let info = vk::RenderPassCreateInfo2::default().subpasses(subpasses);
        // SAFETY: usage is valid except for values that the driver must refuse.
        unsafe { second.create_render_pass2(&info, None) }
    };
    assert_eq!(make(&[]).unwrap_err(), vk::Result::ERROR_UNKNOWN);
    let missing = [vk::AttachmentReference2::default().attachment(3)];
    let named = vk::SubpassDescription2::default().color_attachments(&missing);
    assert_eq!(make(&[named]).unwrap_err(), vk::Result::ERROR_UNKNOWN);
    let mut resolve =
        vk::SubpassDescriptionDepthStencilResolve::default().depth_stencil_resolve_attachment(&missing[0]);
    assert!(make(&[vk::SubpassDescription2::default().push_next(&mut resolve)]).is_err());
    let views = vk::SubpassDescription2::default().view_mask(3);
    assert!(make(&[views, vk::SubpassDescription2::default()]).is_err());
    assert_eq!(heard(&driver), 4);
    assert!(make(&[views, views]).is_ok());
    driver.close();
}

#[test]
fn an_extension_without_what_it_needs_is_warned_of() {
    let driver = Driver::open_with(&[vk::KHR_CREATE_RENDERPASS2_NAME]);
    let messages = driver.messages.lock().unwrap().clone();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages.iter().any(|message| message.contains("VK_KHR_multiview")), "{messages:?}");
    driver.close();
}

#[test]
fn features_that_are_missing_are_refused_by_name() {
    let driver = Driver::open();
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let create = |many_devices| {
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default()
            .buffer_device_address(true)
            .buffer_device_address_multi_device(many_devices);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut addresses);
        // SAFETY: the info is valid except for the feature.
        unsafe { driver.instance.create_device(driver.physical, &info, None) }
    };
    assert_eq!(create(true).err(), Some(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    assert!(driver.messages.lock().unwrap()[0].contains("buffer_device_address_multi_device"));
    let device = create(false).unwrap();
    // SAFETY: the device is not in use.
    unsafe { device.destroy_device(None) };
    driver.close();
}

#[test]
fn stale_handles_in_structures_drop_the_command() {
    let names = [
        vk::KHR_DYNAMIC_RENDERING_NAME,
        vk::KHR_COPY_COMMANDS2_NAME,
        vk::KHR_TIMELINE_SEMAPHORE_NAME,
        vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME,
        vk::KHR_SYNCHRONIZATION2_NAME,
        vk::KHR_DRAW_INDIRECT_COUNT_NAME,
    ];
    let driver = Driver::open_with(&names);
    heard(&driver);
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    let copies = khr::copy_commands2::Device::new(&driver.instance, &driver.device);
    let timelines = khr::timeline_semaphore::Device::new(&driver.instance, &driver.device);
    let synchronization = khr::synchronization2::Device::new(&driver.instance, &driver.device);
    let counts = khr::draw_indirect_count::Device::new(&driver.instance, &driver.device);
    let stale = 0x0500_0000_1000_0007;
    let view = vk::RenderingAttachmentInfo::default().image_view(vk::ImageView::from_raw(stale));
    let colors = [view];
    // SAFETY: the driver checks the handles under test.
    driver
        .run(|_, commands| unsafe {
            rendering.cmd_begin_rendering(commands, &vk::RenderingInfo::default().color_attachments(&colors));
            rendering.cmd_end_rendering(commands);
            let regions = [vk::BufferCopy2::default().size(16)];
            let info = vk::CopyBufferInfo2::default().src_buffer(vk::Buffer::from_raw(stale)).regions(&regions);
            copies.cmd_copy_buffer2(commands, &info);
            synchronization.cmd_set_event2(commands, vk::Event::from_raw(stale), &vk::DependencyInfo::default());
            let buffer = vk::Buffer::from_raw(stale);
            counts.cmd_draw_indirect_count(commands, buffer, 0, buffer, 0, 4, 16);
        })
        .unwrap();
    assert_eq!(heard(&driver), 4);
    let (semaphores, values) = ([vk::Semaphore::from_raw(stale)], [1]);
    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: the driver checks the handles under test.
    assert_eq!(unsafe { timelines.wait_semaphores(&info, 0) }, Err(vk::Result::ERROR_UNKNOWN));
    let template = khr::descriptor_update_template::Device::new(&driver.instance, &driver.device);
    let set = vk::DescriptorSet::from_raw(stale);
    // SAFETY: the driver checks the handles under test.
    unsafe {
        let device = driver.device.handle();
        let none = vk::DescriptorUpdateTemplate::null();
        (template.fp().update_descriptor_set_with_template_khr)(device, set, none, std::ptr::null());
    }
    assert_eq!(heard(&driver), 3, "a semaphore, a set and a template");
    driver.close();
}

/// Invalid layer counts and workgroup bases access no memory out of bounds.
#[test]
fn sizes_without_measure_are_survived() {
    let driver = Driver::open_with(&[vk::KHR_DYNAMIC_RENDERING_NAME, vk::KHR_MAINTENANCE3_NAME]);
    heard(&driver);
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    let area = vk::Rect2D {
        offset: vk::Offset2D { x: i32::MIN, y: i32::MAX },
        extent: vk::Extent2D { width: u32::MAX, height: u32::MAX },
    };
    // SAFETY: the driver checks the handles under test.
    driver
        .run(|_, commands| unsafe {
            let info = vk::RenderingInfo::default().layer_count(u32::MAX).view_mask(u32::MAX).render_area(area);
            rendering.cmd_begin_rendering(commands, &info);
            rendering.cmd_end_rendering(commands);
        })
        .unwrap();
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
    let bindings = [binding.descriptor_count(u32::MAX), binding.binding(1).descriptor_count(u32::MAX)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: usage is valid except for the size, which the driver refuses.
    let made = unsafe { driver.device.create_descriptor_set_layout(&info, None) };
    assert_eq!(made.unwrap_err(), vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    let mut support = vk::DescriptorSetLayoutSupport::default();
    let queries = khr::maintenance3::Device::new(&driver.instance, &driver.device);
    // SAFETY: the info is valid except for the size, which the driver refuses.
    unsafe { queries.get_descriptor_set_layout_support(&info, &mut support) };
    assert_eq!(support.supported, vk::FALSE);
    driver.close();
}

/// Unsupported fragment sizes, and images that are no shading-rate attachments.
#[test]
fn sizes_of_fragments_may_be_anything() {
    let names = [
        vk::KHR_DYNAMIC_RENDERING_NAME,
        vk::KHR_MULTIVIEW_NAME,
        vk::KHR_MAINTENANCE2_NAME,
        vk::KHR_CREATE_RENDERPASS2_NAME,
        vk::KHR_FRAGMENT_SHADING_RATE_NAME,
    ];
    let driver = Driver::open_with(&names);
    heard(&driver);
    let rates = khr::fragment_shading_rate::Device::new(&driver.instance, &driver.device);
    let set = rates.fp().cmd_set_fragment_shading_rate_khr;
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    let stale = vk::ImageView::from_raw(0x0500_0000_1000_0007);
    let mut attachment = vk::RenderingFragmentShadingRateAttachmentInfoKHR::default().image_view(stale);
    // SAFETY: usage is valid except for values that the driver checks.
    driver
        .run(|_, commands| unsafe {
            for size in [0, 3, u32::MAX] {
                let extent = vk::Extent2D { width: size, height: !size };
                set(commands, &extent, &[vk::FragmentShadingRateCombinerOpKHR::from_raw(77); 2]);
            }
            set(commands, std::ptr::null(), std::ptr::null());
            rendering.cmd_begin_rendering(commands, &vk::RenderingInfo::default().push_next(&mut attachment));
            rendering.cmd_end_rendering(commands);
        })
        .unwrap();
    assert_eq!(heard(&driver), 1);
    let second = khr::create_renderpass2::Device::new(&driver.instance, &driver.device);
    let missing = vk::AttachmentReference2::default().attachment(3);
    let mut named = vk::FragmentShadingRateAttachmentInfoKHR::default().fragment_shading_rate_attachment(&missing);
    let subpasses = [vk::SubpassDescription2::default().push_next(&mut named)];
    let info = vk::RenderPassCreateInfo2::default().subpasses(&subpasses);
    // SAFETY: the info is valid except for values that the driver checks.
    assert_eq!(unsafe { second.create_render_pass2(&info, None) }.unwrap_err(), vk::Result::ERROR_UNKNOWN);
    driver.close();
}
