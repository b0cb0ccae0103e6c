//! Reports of device memory: images of swapchains, callbacks that call the driver, and wrong
//! callbacks.

use std::ffi::c_void;
use std::sync::{Mutex, OnceLock};

use ash::vk::{self, DeviceMemoryReportEventTypeEXT as Event, Handle};

/// Receiver of reports, which calls the driver if it knows a device.
#[derive(Default)]
struct Receiver {
    reports: Mutex<Vec<(Event, vk::ObjectType, u64)>>,
    application: OnceLock<Application>,
}

/// A device with a headless surface.
#[derive(Clone)]
struct Application {
    entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    surface: vk::SurfaceKHR,
}

unsafe extern "system" fn receive(data: *const vk::DeviceMemoryReportCallbackDataEXT<'_>, user: *mut c_void) {
    // SAFETY: the driver passes its data and the pointer of the create info, which outlives the
    // device.
    let (data, receiver) = unsafe { (&*data, &*user.cast::<Receiver>()) };
    receiver.reports.lock().unwrap().push((data.ty, data.object_type, data.object_handle));
    // Vulkan forbids calls here. They must not hang.
    let application = receiver.application.get();
    if let Some(application) = application.filter(|_| data.ty == Event::ALLOCATE) {
        let memory = vk::DeviceMemory::from_raw(data.object_handle);
        // SAFETY: the device lives as long as its callbacks are called.
        let _ = unsafe { application.device.get_device_memory_commitment(memory) };
        let again = application.swapchain(32);
        assert_eq!(again, Err(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR));
    }
}

impl Application {
    /// Opens a device with a callback.
    fn start(callback: vk::PFN_vkDeviceMemoryReportCallbackEXT, receiver: &Receiver) -> Result<Self, vk::Result> {
        let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
        // SAFETY: the function is the driver's own, and all infos are valid apart from the
        // callback.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let names = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME].map(|name| name.as_ptr());
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info.enabled_extension_names(&names), None)?;
            let physical = instance.enumerate_physical_devices()?[0];
            let names = [ash::khr::swapchain::NAME, ash::ext::device_memory_report::NAME].map(|name| name.as_ptr());
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let mut feature = vk::PhysicalDeviceDeviceMemoryReportFeaturesEXT::default().device_memory_report(true);
            let mut report = vk::DeviceDeviceMemoryReportCreateInfoEXT::default()
                .pfn_user_callback(callback)
                .user_data(std::ptr::from_ref(receiver).cast_mut().cast());
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut feature)
                .push_next(&mut report);
            let device = match instance.create_device(physical, &info, None) {
                Ok(device) => device,
                Err(code) => {
                    instance.destroy_instance(None);
                    return Err(code);
                }
            };
            let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
            let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None)?;
            Ok(Self { entry, instance, device, surface })
        }
    }

    fn swapchains(&self) -> ash::khr::swapchain::Device {
        ash::khr::swapchain::Device::new(&self.instance, &self.device)
    }

    /// Creates a swapchain of images of `size` by `size` texels.
    fn swapchain(&self, size: u32) -> Result<vk::SwapchainKHR, vk::Result> {
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(self.surface)
            .min_image_count(3)
            .image_format(vk::Format::B8G8R8A8_UNORM)
            .image_extent(vk::Extent2D { width: size, height: size })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        // SAFETY: the info is valid.
        unsafe { self.swapchains().create_swapchain(&info, None) }
    }

    fn close(self) {
        let surfaces = ash::khr::surface::Instance::new(&self.entry, &self.instance);
        // SAFETY: no object is in use.
        unsafe {
            self.device.destroy_device(None);
            surfaces.destroy_surface(self.surface, None);
            self.instance.destroy_instance(None);
        }
    }
}

#[test]
fn images_of_swapchains_are_reported_and_callbacks_may_call() {
    let receiver = Receiver::default();
    let application = Application::start(Some(receive), &receiver).unwrap();
    assert!(receiver.application.set(application.clone()).is_ok());
    let chain = application.swapchain(32).unwrap();
    // SAFETY: handles are alive, and nothing uses them.
    let images = unsafe {
        let images = application.swapchains().get_swapchain_images(chain).unwrap();
        application.swapchains().destroy_swapchain(chain, None);
        images
    };
    assert_eq!(images.len(), 3);
    let of = |event| images.iter().map(move |image| (event, vk::ObjectType::IMAGE, image.as_raw()));
    let expected: Vec<_> = of(Event::ALLOCATE).chain(of(Event::FREE)).collect();
    assert_eq!(*receiver.reports.lock().unwrap(), expected);
    application.close();
}

#[test]
fn a_null_callback_is_refused() {
    let refused = Application::start(None, &Receiver::default());
    assert_eq!(refused.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
}
