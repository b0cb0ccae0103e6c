//! Invalid input to commands of extensions: the result is an error, a message or no effect, and
//! the device still works.

mod common;

use std::ffi::CStr;

use ash::khr;
use ash::vk::{self, Handle};
use common::Driver;
use vitric_vulkan::names::{
    EXT_CUSTOM_RESOLVE_NAME, EXT_DEPTH_CLAMP_CONTROL_NAME, KHR_COPY_MEMORY_INDIRECT_NAME,
    KHR_DEVICE_ADDRESS_COMMANDS_NAME, KHR_MAINTENANCE10_NAME,
};
use vitric_vulkan::{Newer, Vocabulary, commands, sys};

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

/// Density maps that do not exist, and views and samplers that density maps do not allow.
#[test]
fn density_maps_may_be_anything() {
    let names = [
        vk::KHR_DYNAMIC_RENDERING_NAME,
        vk::KHR_MULTIVIEW_NAME,
        vk::KHR_MAINTENANCE2_NAME,
        vk::KHR_CREATE_RENDERPASS2_NAME,
        vk::EXT_FRAGMENT_DENSITY_MAP_NAME,
        vk::EXT_FRAGMENT_DENSITY_MAP2_NAME,
    ];
    let driver = Driver::open_with(&names);
    heard(&driver);
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    let stale = vk::ImageView::from_raw(0x0500_0000_1000_0007);
    let mut map = vk::RenderingFragmentDensityMapAttachmentInfoEXT::default().image_view(stale);
    // SAFETY: usage is valid except for values that the driver checks.
    driver
        .run(|_, commands| unsafe {
            rendering.cmd_begin_rendering(commands, &vk::RenderingInfo::default().push_next(&mut map));
            rendering.cmd_end_rendering(commands);
        })
        .unwrap();
    assert_eq!(heard(&driver), 1);
    let missing = vk::AttachmentReference { attachment: 3, ..Default::default() };
    let mut map = vk::RenderPassFragmentDensityMapCreateInfoEXT::default().fragment_density_map_attachment(missing);
    let subpasses = [vk::SubpassDescription::default()];
    let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses).push_next(&mut map);
    // SAFETY: the info is valid except for values that the driver checks.
    assert_eq!(unsafe { driver.device.create_render_pass(&info, None) }.unwrap_err(), vk::Result::ERROR_UNKNOWN);
    assert_eq!(heard(&driver), 1);
    let clamp = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let sampler = vk::SamplerCreateInfo::default().flags(vk::SamplerCreateFlags::SUBSAMPLED_EXT);
    let sampler = sampler.address_mode_u(clamp).address_mode_v(clamp);
    let wrong = [
        (sampler.min_filter(vk::Filter::LINEAR), "minFilter"),
        (sampler.mipmap_mode(vk::SamplerMipmapMode::LINEAR), "mipmapMode"),
        (sampler.max_lod(1.0), "maxLod"),
        (sampler.address_mode_v(vk::SamplerAddressMode::REPEAT), "addressModeV"),
        (sampler.anisotropy_enable(true), "anisotropyEnable"),
        (sampler.compare_enable(true), "compareEnable"),
        (sampler.unnormalized_coordinates(true), "unnormalizedCoordinates"),
    ];
    let flags = vk::ImageViewCreateFlags::FRAGMENT_DENSITY_MAP_DYNAMIC_EXT
        | vk::ImageViewCreateFlags::FRAGMENT_DENSITY_MAP_DEFERRED_EXT;
    let view = vk::ImageViewCreateInfo::default().format(vk::Format::R8G8_UNORM).flags(flags);
    // SAFETY: the infos are valid except for values that the driver checks.
    unsafe {
        driver.device.create_sampler(&sampler, None).unwrap();
        for (info, field) in wrong {
            assert!(driver.device.create_sampler(&info, None).is_err(), "{field}");
            assert!(driver.last_message().contains(field), "{}", driver.last_message());
        }
        assert!(driver.device.create_image_view(&view, None).is_err());
    }
    assert!(driver.last_message().contains("at most one of"), "{}", driver.last_message());
    driver.close();
}

#[test]
fn density_maps_together_with_shading_rates_are_warned_of() {
    let driver = Driver::open();
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let create = |has_rates| {
        let mut maps = vk::PhysicalDeviceFragmentDensityMapFeaturesEXT::default().fragment_density_map(true);
        let mut rates = vk::PhysicalDeviceFragmentShadingRateFeaturesKHR::default();
        rates = rates.attachment_fragment_shading_rate(has_rates);
        let names = [vk::EXT_FRAGMENT_DENSITY_MAP_NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let info = info.push_next(&mut maps).push_next(&mut rates);
        heard(&driver);
        // SAFETY: usage is valid except for the features, and the device is destroyed at once.
        unsafe {
            driver.instance.create_device(driver.physical, &info, None).unwrap().destroy_device(None);
        }
    };
    create(true);
    assert!(driver.last_message().contains("fragmentDensityMap"), "{}", driver.last_message());
    create(false);
    assert_eq!(driver.last_message(), "");
    driver.close();
}

/// Regions of indirect copies at any address, with any stride and of any number. Regions inside of
/// memory that name unknown addresses are dropped.
#[test]
fn indirect_copies_of_any_address_are_survived() {
    let names = [vk::KHR_BUFFER_DEVICE_ADDRESS_NAME, vk::KHR_DEVICE_GROUP_NAME, KHR_COPY_MEMORY_INDIRECT_NAME];
    let driver = Driver::open_for(vk::API_VERSION_1_1, &names);
    let device = driver.device.handle();
    // SAFETY: usage is valid except for values that the driver checks, and each function has the
    // type that belongs to its name.
    unsafe {
        let find = |name: &std::ffi::CStr| driver.instance.get_device_proc_addr(device, name.as_ptr()).unwrap();
        type Copy = <sys::PFN_vkCmdCopyMemoryIndirectKHR as Vocabulary>::Own;
        let copy: Copy = std::mem::transmute::<unsafe extern "system" fn(), _>(find(c"vkCmdCopyMemoryIndirectKHR"));
        type ToImage = <sys::PFN_vkCmdCopyMemoryToImageIndirectKHR as Vocabulary>::Own;
        let to_image: ToImage =
            std::mem::transmute::<unsafe extern "system" fn(), _>(find(c"vkCmdCopyMemoryToImageIndirectKHR"));
        let usage = vk::BufferUsageFlags::INDIRECT_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let buffer =
            driver.device.create_buffer(&vk::BufferCreateInfo::default().size(4096).usage(usage), None).unwrap();
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(1).push_next(&mut flags);
        let memory = driver.device.allocate_memory(&info, None).unwrap();
        driver.device.bind_buffer_memory(buffer, memory, 0).unwrap();
        let addresses = khr::buffer_device_address::Device::new(&driver.instance, &driver.device);
        let start = addresses.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer));
        let mapped = driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
        mapped.cast::<u8>().write_bytes(0xa5, 4096);
        let range = |address, size, stride| sys::StridedDeviceAddressRangeKHR { address, size, stride };
        let wrong = [
            (1, range(0, 24, 24)),
            (1, range(start + 2, 24, 24)),
            (1, range(u64::MAX - 3, 24, 24)),
            (1, range(start, 24, 0)),
            (1, range(start, 24, 20)),
            (1, range(start, 64, 27)),
            (2, range(start, 47, 24)),
            (u32::MAX, range(start, 4096, 24)),
        ];
        let dropped = [(1, range(start, 24, 24)), (170, range(start, 4080, 24)), (2, range(start + 4072, 48, 24))];
        let dropped = dropped.into_iter().chain([(1000, range(start, u64::MAX, 24)), (0, range(7, 0, 0))]);
        heard(&driver);
        for (copy_count, copy_address_range) in wrong.into_iter().chain(dropped) {
            let info = Newer(sys::CopyMemoryIndirectInfoKHR { copy_count, copy_address_range, ..Default::default() });
            driver.run(|_, commands| copy(commands, &raw const info)).unwrap();
        }
        assert_eq!(heard(&driver), wrong.len());
        driver.run(|_, commands| copy(commands, std::ptr::null())).unwrap();
        driver.run(|_, commands| to_image(commands, std::ptr::null())).unwrap();
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_DST);
        let image = driver.device.create_image(&info, None).unwrap();
        let texels = driver.allocate(driver.device.get_image_memory_requirements(image).size).unwrap();
        driver.device.bind_image_memory(image, texels, 0).unwrap();
        let layers = [sys::ImageSubresourceLayers { layer_count: u32::MAX, ..Default::default() }; 8];
        let described = |copy_count, image_subresources, image: u64| {
            let mut info = Newer(sys::CopyMemoryToImageIndirectInfoKHR::default());
            (info.copy_count, info.image_subresources) = (copy_count, image_subresources);
            info.copy_address_range = range(start, 4096, 56);
            info.dst_image = sys::Handle::from_raw(image);
            info
        };
        let live = image.as_raw();
        let wrong = [
            described(1, layers.as_ptr(), 0),
            described(1, layers.as_ptr(), 0x0400_0000_1000_0007),
            described(8, std::ptr::null(), live),
            described(u32::MAX, std::ptr::null(), live),
        ];
        for info in &wrong {
            driver.run(|_, commands| to_image(commands, &raw const *info)).unwrap();
        }
        assert_eq!(heard(&driver), wrong.len());
        let unknown = described(8, layers.as_ptr(), live);
        driver.run(|_, commands| to_image(commands, &raw const unknown)).unwrap();
        // A source that is known, with an offset and an extent of any size.
        mapped.cast::<u64>().write(start);
        let known = described(1, layers.as_ptr(), live);
        driver.run(|_, commands| to_image(commands, &raw const known)).unwrap();
        assert_eq!(heard(&driver), 0);
    }
    driver.close();
}

/// Resolves with unknown modes, of stale images and of regions of any size, and the end of a pass
/// without a structure.
#[test]
fn resolves_of_any_mode_are_survived() {
    let names = [
        vk::KHR_DYNAMIC_RENDERING_NAME,
        vk::KHR_DEPTH_STENCIL_RESOLVE_NAME,
        vk::KHR_CREATE_RENDERPASS2_NAME,
        vk::KHR_COPY_COMMANDS2_NAME,
        KHR_MAINTENANCE10_NAME,
    ];
    let driver = Driver::open_for(vk::API_VERSION_1_1, &names);
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    let copies = khr::copy_commands2::Device::new(&driver.instance, &driver.device);
    // SAFETY: usage is valid except for values that the driver checks, and the function has the
    // type that belongs to its name.
    unsafe {
        let found = driver.instance.get_device_proc_addr(driver.device.handle(), c"vkCmdEndRendering2KHR".as_ptr());
        type End = <sys::PFN_vkCmdEndRendering2KHR as Vocabulary>::Own;
        let end: End = std::mem::transmute::<unsafe extern "system" fn(), _>(found.unwrap());
        let make = |samples| {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(vk::Format::D32_SFLOAT_S8_UINT)
                .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
                .mip_levels(1)
                .array_layers(1)
                .samples(samples)
                .usage(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
            let image = driver.device.create_image(&info, None).unwrap();
            let memory = driver.allocate(driver.device.get_image_memory_requirements(image).size).unwrap();
            driver.device.bind_image_memory(image, memory, 0).unwrap();
            image
        };
        let images = [make(vk::SampleCountFlags::TYPE_4), make(vk::SampleCountFlags::TYPE_1)];
        let part = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::from_raw(u32::MAX),
            layer_count: u32::MAX,
            ..Default::default()
        };
        let regions = [vk::ImageResolve2::default()
            .src_subresource(part)
            .dst_subresource(part)
            .src_offset(vk::Offset3D { x: i32::MIN, y: 3, z: 0 })
            .dst_offset(vk::Offset3D { x: 2, y: i32::MAX, z: 0 })
            .extent(vk::Extent3D { width: u32::MAX, height: u32::MAX, depth: 1 })];
        let stale = vk::Image::from_raw(0x0400_0000_1000_0007);
        let resolve = |[from, to]: [vk::Image; 2], depth: u32, stencil: u32| {
            let modes = sys::ResolveImageModeInfoKHR {
                resolve_mode: sys::ResolveModeFlags::from_bits_unchecked(depth),
                stencil_resolve_mode: sys::ResolveModeFlags::from_bits_unchecked(stencil),
                ..Default::default()
            };
            let info = vk::ResolveImageInfo2::default().src_image(from).dst_image(to).regions(&regions);
            let info = vk::ResolveImageInfo2 { p_next: (&raw const modes).cast(), ..info };
            driver.run(|_, commands| copies.cmd_resolve_image2(commands, &info)).unwrap();
        };
        heard(&driver);
        resolve(images, 8, 1);
        resolve(images, 0, 0);
        assert_eq!(heard(&driver), 0);
        resolve(images, 1 << 30, 0);
        resolve(images, 1, 2);
        resolve([stale, images[1]], 1, 1);
        resolve([images[0], vk::Image::null()], 1, 1);
        assert_eq!(heard(&driver), 4);
        driver
            .run(|_, commands| {
                end(commands, std::ptr::null());
                rendering.cmd_begin_rendering(commands, &vk::RenderingInfo::default().layer_count(1));
                end(commands, std::ptr::null());
            })
            .unwrap();
    }
    driver.close();
}

#[test]
fn wrong_ranges_of_depths_are_refused() {
    type Set = <sys::PFN_vkCmdSetDepthClampRangeEXT as Vocabulary>::Own;
    let driver = Driver::open_with(&[EXT_DEPTH_CLAMP_CONTROL_NAME]);
    let (viewport, user) = (sys::DepthClampModeEXT::VIEWPORT_RANGE, sys::DepthClampModeEXT::USER_DEFINED_RANGE);
    let range = |min_depth_clamp, max_depth_clamp| sys::DepthClampRangeEXT { min_depth_clamp, max_depth_clamp };
    // SAFETY: handles are alive; the driver must refuse the ranges that are not valid.
    unsafe {
        let name = c"vkCmdSetDepthClampRangeEXT";
        let found = driver.instance.get_device_proc_addr(driver.device.handle(), name.as_ptr()).unwrap();
        let set = std::mem::transmute::<unsafe extern "system" fn(), Set>(found);
        let pool = driver.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = driver.device.allocate_command_buffers(&info).unwrap()[0];
        driver.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
        let point = range(0.25, 0.25);
        set(commands, user, &raw const point);
        set(commands, viewport, std::ptr::null());
        assert_eq!(heard(&driver), 0);
        for (mode, range, message) in [
            (user, None, "vkCmdSetDepthClampRangeEXT::pDepthClampRange = null: expected a pointer to a range"),
            (
                user,
                Some(range(0.75, 0.25)),
                "vkCmdSetDepthClampRangeEXT::minDepthClamp = 0.75: expected at most maxDepthClamp, which is 0.25",
            ),
            (user, Some(range(f32::NAN, 0.25)), "vkCmdSetDepthClampRangeEXT::minDepthClamp = NaN: expected"),
            (
                sys::DepthClampModeEXT::from_raw(7),
                None,
                "vkCmdSetDepthClampRangeEXT::depthClampMode = 7: expected one of",
            ),
        ] {
            set(commands, mode, range.as_ref().map_or(std::ptr::null(), std::ptr::from_ref));
            assert!(driver.last_message().starts_with(message), "{}", driver.last_message());
        }
        let _ = driver.device.end_command_buffer(commands);
        driver.device.destroy_command_pool(pool, None);
    }
    driver.close();
}

#[test]
fn wrong_decode_modes_are_refused() {
    let driver = Driver::open_with(&[ash::ext::astc_decode_mode::NAME]);
    for (format, mode, message) in [
        (
            vk::Format::ASTC_4X4_UNORM_BLOCK,
            vk::Format::E5B9G9R9_UFLOAT_PACK32,
            "VkImageViewASTCDecodeModeEXT::decodeMode = E5B9G9R9_UFLOAT_PACK32: expected one of",
        ),
        (
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R8G8B8A8_UNORM,
            "VkImageViewCreateInfo::format = R8G8B8A8_UNORM: expected a format of ASTC blocks",
        ),
    ] {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED);
        let mut decode = vk::ImageViewASTCDecodeModeEXT::default().decode_mode(mode);
        let subresource_range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        // SAFETY: the infos are valid except for the mode, which the driver must refuse.
        unsafe {
            let image = driver.device.create_image(&info, None).unwrap();
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(subresource_range)
                .push_next(&mut decode);
            assert_eq!(driver.device.create_image_view(&info, None).unwrap_err(), vk::Result::ERROR_UNKNOWN);
            driver.device.destroy_image(image, None);
        }
        assert!(driver.last_message().starts_with(message), "{}", driver.last_message());
    }
    driver.close();
}

/// Custom resolves outside of instances, in instances without the flag, twice, and without the
/// attachments that they would write.
#[test]
fn custom_resolves_out_of_place_are_survived() {
    let names = [
        vk::KHR_DYNAMIC_RENDERING_NAME,
        vk::KHR_DEPTH_STENCIL_RESOLVE_NAME,
        vk::KHR_CREATE_RENDERPASS2_NAME,
        EXT_CUSTOM_RESOLVE_NAME,
    ];
    let driver = Driver::open_for(vk::API_VERSION_1_1, &names);
    let rendering = khr::dynamic_rendering::Device::new(&driver.instance, &driver.device);
    // SAFETY: usage is valid except for the order of commands, and the function has the type that
    // belongs to its name.
    unsafe {
        let found =
            driver.instance.get_device_proc_addr(driver.device.handle(), c"vkCmdBeginCustomResolveEXT".as_ptr());
        type Begin = <sys::PFN_vkCmdBeginCustomResolveEXT as Vocabulary>::Own;
        let begin: Begin = std::mem::transmute::<unsafe extern "system" fn(), _>(found.unwrap());
        let resolves = vk::RenderingFlags::from_raw(sys::RenderingFlags::CUSTOM_RESOLVE_EXT.bits());
        let custom = vk::ResolveModeFlags::from_raw(sys::ResolveModeFlags::CUSTOM_EXT.bits());
        let unused = [vk::RenderingAttachmentInfo::default().resolve_mode(custom); 2];
        heard(&driver);
        driver
            .run(|_, commands| {
                begin(commands, std::ptr::null());
                for flags in [vk::RenderingFlags::empty(), resolves, resolves | vk::RenderingFlags::SUSPENDING] {
                    let info = vk::RenderingInfo::default().layer_count(1).flags(flags).color_attachments(&unused);
                    rendering.cmd_begin_rendering(commands, &info.depth_attachment(&unused[0]));
                    begin(commands, std::ptr::null());
                    begin(commands, std::ptr::null());
                    rendering.cmd_end_rendering(commands);
                }
                begin(commands, std::ptr::null());
            })
            .unwrap();
        assert_eq!(heard(&driver), 0);
    }
    driver.close();
}

/// Returns a command by its name, as a function of the type.
macro_rules! command {
    ($driver:ident, $name:ident, $pfn:ident) => {{
        let name = concat!(stringify!($name), "\0");
        // SAFETY: the name is a C string, and the function has the type that belongs to it.
        unsafe {
            let found = $driver.instance.get_device_proc_addr($driver.device.handle(), name.as_ptr().cast());
            std::mem::transmute::<unsafe extern "system" fn(), <commands::$pfn as Vocabulary>::Own>(found.unwrap())
        }
    }};
}

/// Commands at addresses that no memory has, and without structures. A range that ends behind its
/// memory is refused or cut. A counted draw sends two messages, because it names two ranges.
#[test]
fn addresses_without_memory_are_refused() {
    let driver = with_addresses(&[vk::EXT_TRANSFORM_FEEDBACK_NAME, vk::EXT_CONDITIONAL_RENDERING_NAME]);
    let (size, address) = (64, addressed(&driver, 64).address);
    let wrong = [(0, 4), (4, 4), (u64::MAX, 4), (address + size, 4)].map(|range| (range, 11));
    let long = [(address, size + 1), (address, u64::MAX)].map(|range| (range, 12));
    let fill = command!(driver, vkCmdFillMemoryKHR, PFN_vkCmdFillMemoryKHR);
    let dispatch = command!(driver, vkCmdDispatchIndirect2KHR, PFN_vkCmdDispatchIndirect2KHR);
    let draw = command!(driver, vkCmdDrawIndirectCount2KHR, PFN_vkCmdDrawIndirectCount2KHR);
    let vertices = command!(driver, vkCmdBindVertexBuffers3KHR, PFN_vkCmdBindVertexBuffers3KHR);
    let indices = command!(driver, vkCmdBindIndexBuffer3KHR, PFN_vkCmdBindIndexBuffer3KHR);
    let copy = command!(driver, vkCmdCopyMemoryKHR, PFN_vkCmdCopyMemoryKHR);
    let feedback = command!(driver, vkCmdBeginTransformFeedback2EXT, PFN_vkCmdBeginTransformFeedback2EXT);
    let end_feedback = command!(driver, vkCmdEndTransformFeedback2EXT, PFN_vkCmdEndTransformFeedback2EXT);
    let bind_feedback =
        command!(driver, vkCmdBindTransformFeedbackBuffers2EXT, PFN_vkCmdBindTransformFeedbackBuffers2EXT);
    let condition = command!(driver, vkCmdBeginConditionalRendering2EXT, PFN_vkCmdBeginConditionalRendering2EXT);
    let draw_bytes = command!(driver, vkCmdDrawIndirectByteCount2EXT, PFN_vkCmdDrawIndirectByteCount2EXT);
    heard(&driver);
    for ((address, size), messages) in wrong.into_iter().chain(long) {
        let range = commands::DeviceAddressRangeKHR { address, size };
        let strided = sys::StridedDeviceAddressRangeKHR { address, size, stride: 16 };
        let dispatched = commands::DispatchIndirect2InfoKHR { address_range: range, ..Default::default() };
        let counted = commands::DrawIndirectCount2InfoKHR {
            address_range: strided,
            count_address_range: range,
            max_draw_count: 3,
            ..Default::default()
        };
        let vertex = commands::BindVertexBuffer3InfoKHR { address_range: strided, ..Default::default() };
        let index = commands::BindIndexBuffer3InfoKHR { address_range: range, ..Default::default() };
        let region = commands::DeviceMemoryCopyKHR { src_range: range, dst_range: range, ..Default::default() };
        let copied =
            commands::CopyDeviceMemoryInfoKHR { region_count: 1, regions: &raw const region, ..Default::default() };
        let captured = commands::BindTransformFeedbackBuffer2InfoEXT { address_range: range, ..Default::default() };
        let begun = commands::ConditionalRenderingBeginInfo2EXT { address_range: range, ..Default::default() };
        // SAFETY: usage is valid except for addresses that the driver must refuse.
        let recorded = driver.run(|_, list| unsafe {
            fill(list, &raw const range, 0, 7);
            dispatch(list, &raw const dispatched);
            draw(list, &raw const counted);
            vertices(list, 0, 1, &raw const vertex);
            indices(list, &raw const index);
            copy(list, &raw const copied);
            feedback(list, 0, 1, &raw const captured);
            end_feedback(list, 0, 1, &raw const captured);
            bind_feedback(list, 0, 1, &raw const captured);
            condition(list, &raw const begun);
            draw_bytes(list, 1, 0, &raw const captured, 0, 4);
        });
        recorded.unwrap();
        assert_eq!(heard(&driver), messages, "{address:#x}, {size}");
    }
    // SAFETY: usage is valid except for pointers that are null.
    let recorded = driver.run(|_, list| unsafe {
        fill(list, std::ptr::null(), 0, 7);
        dispatch(list, std::ptr::null());
        draw(list, std::ptr::null());
        vertices(list, 0, 1, std::ptr::null());
        indices(list, std::ptr::null());
        copy(list, std::ptr::null());
        feedback(list, 0, 0, std::ptr::null());
        end_feedback(list, 0, 0, std::ptr::null());
        condition(list, std::ptr::null());
        draw_bytes(list, 1, 0, std::ptr::null(), 0, 4);
    });
    recorded.unwrap();
    driver.close();
}

/// Copies between an image and memory whose ranges end behind the memory. Only the bytes of the
/// regions count.
#[test]
fn ranges_of_image_copies_are_cut() {
    let driver = with_addresses(&[]);
    let to_image = command!(driver, vkCmdCopyMemoryToImageKHR, PFN_vkCmdCopyMemoryToImageKHR);
    let from_image = command!(driver, vkCmdCopyImageToMemoryKHR, PFN_vkCmdCopyImageToMemoryKHR);
    let extent = vk::Extent3D { width: 4, height: 4, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    let (source, target) = (addressed(&driver, 64), addressed(&driver, 64));
    let texels: Vec<u8> = (100..164).collect();
    // SAFETY: valid usage; the memory is mapped, and has as many bytes.
    let image = unsafe {
        std::ptr::copy_nonoverlapping(texels.as_ptr(), source.mapped, 64);
        let image = driver.device.create_image(&info, None).unwrap();
        driver.device.bind_image_memory(image, driver.allocate(4096).unwrap(), 0).unwrap();
        image
    };
    let region = |address, size| commands::DeviceMemoryImageCopyKHR {
        address_range: commands::DeviceAddressRangeKHR { address, size },
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..Default::default()
        },
        image_layout: vk::ImageLayout::GENERAL,
        image_extent: extent,
        ..Default::default()
    };
    let copied = |region: &commands::DeviceMemoryImageCopyKHR| commands::CopyDeviceMemoryImageInfoKHR {
        image,
        region_count: 1,
        regions: region,
        ..Default::default()
    };
    // The third copy begins in the middle of the memory, so that its last two rows are behind it.
    let (source_at, target_at) = (source.address, target.address);
    let regions = [region(source_at, 65), region(target_at, u64::MAX), region(target_at + 32, 64)];
    let [written, read, cut] = regions.each_ref().map(copied);
    heard(&driver);
    // SAFETY: usage is valid except for the ranges.
    let recorded = driver.run(|_, list| unsafe {
        to_image(list, &raw const written);
        from_image(list, &raw const read);
        from_image(list, &raw const cut);
    });
    recorded.unwrap();
    assert_eq!(heard(&driver), 3);
    // SAFETY: the memory is mapped, and has as many bytes.
    assert_eq!(unsafe { std::slice::from_raw_parts(target.mapped, 64) }, [&texels[..32], &texels[..32]].concat());
    driver.close();
}

/// Copies the results of queries to memory whose range ends behind it. Only the results count.
#[test]
fn ranges_of_query_results_are_cut() {
    let driver = with_addresses(&[]);
    let results = command!(driver, vkCmdCopyQueryPoolResultsToMemoryKHR, PFN_vkCmdCopyQueryPoolResultsToMemoryKHR);
    let target = addressed(&driver, 8);
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(3);
    // SAFETY: valid usage; the memory is mapped.
    let pool = unsafe {
        std::ptr::write_bytes(target.mapped, 0xee, 8);
        driver.device.create_query_pool(&info, None).unwrap()
    };
    let range = sys::StridedDeviceAddressRangeKHR { address: target.address, size: 12, stride: 4 };
    heard(&driver);
    // SAFETY: usage is valid except for the range, which has room for two of three results.
    let recorded = driver.run(|device, list| unsafe {
        device.cmd_reset_query_pool(list, pool, 0, 3);
        results(list, pool, 0, 3, &raw const range, 0, vk::QueryResultFlags::PARTIAL);
    });
    recorded.unwrap();
    assert_eq!(heard(&driver), 1);
    // SAFETY: the memory is mapped, and has as many bytes.
    assert_eq!(unsafe { std::slice::from_raw_parts(target.mapped, 8) }, [0; 8]);
    driver.close();
}

/// Opens a device with commands that name memory by addresses, and with more extensions.
fn with_addresses(more: &[&'static CStr]) -> Driver {
    let names = [
        vk::KHR_BUFFER_DEVICE_ADDRESS_NAME,
        vk::KHR_SYNCHRONIZATION2_NAME,
        vk::EXT_EXTENDED_DYNAMIC_STATE_NAME,
        KHR_DEVICE_ADDRESS_COMMANDS_NAME,
    ];
    Driver::open_for(vk::API_VERSION_1_2, &[&names[..], more].concat())
}

/// A buffer with an address, and its memory.
struct Addressed {
    address: u64,
    mapped: *mut u8,
}

/// Creates a buffer.
fn addressed(driver: &Driver, size: u64) -> Addressed {
    let addresses = khr::buffer_device_address::Device::new(&driver.instance, &driver.device);
    let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags::TRANSFER_DST;
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(1).push_next(&mut flags);
    // SAFETY: valid usage.
    unsafe {
        let buffer =
            driver.device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None).unwrap();
        let memory = driver.device.allocate_memory(&info, None).unwrap();
        driver.device.bind_buffer_memory(buffer, memory, 0).unwrap();
        let mapped = driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
        let address = addresses.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer));
        Addressed { address, mapped: mapped.cast() }
    }
}
