//! Names of objects (`VK_EXT_debug_utils`): the driver's messages name objects, also destroyed
//! ones.

mod common;

use std::ffi::CStr;

use ash::vk::{self, Handle};
use common::Driver;

const ENDLESS: &[u8] = include_bytes!("shaders/endless.comp.spv");

/// Returns the message that a call sends.
fn message(driver: &Driver, call: impl FnOnce()) -> String {
    driver.messages.lock().unwrap().clear();
    call();
    let messages = driver.messages.lock().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].clone()
}

fn set_name<H: Handle>(driver: &Driver, handle: H, name: &CStr) {
    let functions = ash::ext::debug_utils::Device::new(&driver.instance, &driver.device);
    let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(name);
    // SAFETY: the extension is enabled, and the handle is live.
    unsafe { functions.set_debug_utils_object_name(&info) }.unwrap();
}

#[test]
fn messages_call_objects_by_their_names() {
    let driver = Driver::open();
    // SAFETY: usage is valid except for stale handles, which the driver detects.
    unsafe {
        let device = &driver.device;
        let event = device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        set_name(&driver, event, c"end of frame");
        device.destroy_event(event, None);
        let stale = format!("EVENT handle {:#x} \"end of frame\" is", event.as_raw());
        let used = message(&driver, || assert!(device.set_event(event).is_err()));
        assert_eq!(used, format!("{stale} null, stale or foreign: expected a live handle of the device"));
        let destroyed = message(&driver, || device.destroy_event(event, None));
        assert_eq!(destroyed, format!("{stale} stale or foreign: expected a live handle of the device, or null"));

        let other = device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        set_name(&driver, other, c"not for long");
        set_name(&driver, other, c"");
        device.destroy_event(other, None);
        let destroyed = message(&driver, || device.destroy_event(other, None));
        assert!(
            destroyed.starts_with(&format!("EVENT handle {:#x} is stale or foreign", other.as_raw())),
            "{destroyed}"
        );
    }
    driver.close();
}

#[test]
fn shaders_that_do_not_compile_are_named() {
    let driver = Driver::open();
    let words = ash::util::read_spv(&mut std::io::Cursor::new(ENDLESS)).unwrap();
    // SAFETY: all create infos are valid except for the entry point, which the driver checks.
    unsafe {
        let device = &driver.device;
        let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None).unwrap();
        set_name(&driver, module, c"sky");
        let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage.module(module).name(c"missing")).layout(layout);
        let refused = message(&driver, || {
            assert!(device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).is_err());
        });
        assert!(refused.starts_with("entry point \"missing\" of shader module \"sky\": "), "{refused}");
        device.destroy_pipeline_layout(layout, None);
        device.destroy_shader_module(module, None);
    }
    driver.close();
}

#[test]
fn a_messenger_of_the_create_info_hears_of_creation_and_destruction_only() {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    let messages = common::Messages::default();
    let heard = || std::mem::take(&mut *messages.lock().unwrap());
    // SAFETY: the function belongs to the driver. The infos are valid except for three errors that
    // the driver checks: an unknown extension, a stale handle, and a messenger that is not
    // destroyed.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let all = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        let messenger = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(all)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(common::receive))
            .user_data(std::sync::Arc::as_ptr(&messages).cast_mut().cast());
        let create = |name: &CStr| {
            let (mut messenger, names) = (messenger, [name.as_ptr()]);
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
            entry.create_instance(&info.push_next(&mut messenger), None)
        };
        assert_eq!(create(c"VK_EXT_unheard_of").err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        assert_eq!(
            heard(),
            [
                "the instance extension VK_EXT_unheard_of is not supported: expected one of vkEnumerateInstanceExtensionProperties"
            ]
        );
        let instance = create(ash::ext::debug_utils::NAME).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let names = [c"VK_EXT_unheard_of".as_ptr()];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        assert!(instance.create_device(physical, &info, None).is_err());
        assert!(heard().is_empty(), "that is for messengers of the instance");
        let messengers = ash::ext::debug_utils::Instance::new(&entry, &instance);
        let silent = messenger.message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::INFO);
        messengers.create_debug_utils_messenger(&silent, None).unwrap();
        instance.destroy_instance(None);
        assert_eq!(heard(), ["the instance is destroyed before 1 of its messengers: destroy messengers first"]);
    }
}

/// Number of reports, and the last one: flags, type and handle of its object, number and text.
type Reports = std::sync::Mutex<Vec<(vk::DebugReportFlagsEXT, vk::DebugReportObjectTypeEXT, u64, i32, String)>>;

/// # Safety
/// `data` points to [`Reports`], and the text is a C string.
unsafe extern "system" fn report(
    flags: vk::DebugReportFlagsEXT,
    kind: vk::DebugReportObjectTypeEXT,
    object: u64,
    _: usize,
    number: i32,
    _: *const std::ffi::c_char,
    text: *const std::ffi::c_char,
    data: *mut std::ffi::c_void,
) -> vk::Bool32 {
    // SAFETY: the contract of this function.
    let (reports, text) = unsafe { (&*data.cast::<Reports>(), std::ffi::CStr::from_ptr(text)) };
    reports.lock().unwrap().push((flags, kind, object, number, text.to_string_lossy().into_owned()));
    vk::FALSE
}

/// Reports of the flags that a callback wants arrive, from the driver and from the application, and
/// those of other flags do not.
#[test]
#[expect(deprecated, reason = "the extension is older")]
fn reports_are_messages_in_their_older_form() {
    use vk::DebugReportFlagsEXT as Flags;
    let reports = Reports::default();
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    let names = [ash::ext::debug_report::NAME.as_ptr()];
    // SAFETY: infos are valid. The reports outlive the instance. Usage is valid but for a stale
    // callback, which is ignored.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let mut info = vk::DebugReportCallbackCreateInfoEXT::default()
            .flags(Flags::ERROR | Flags::PERFORMANCE_WARNING)
            .pfn_callback(Some(report))
            .user_data((&raw const reports).cast_mut().cast());
        let known = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let unknown = [c"VK_EXT_no_such_extension".as_ptr()];
        let wrong = vk::InstanceCreateInfo::default().enabled_extension_names(&unknown).push_next(&mut info);
        assert!(entry.create_instance(&wrong, None).is_err());
        let created = std::mem::take(&mut *reports.lock().unwrap());
        assert!(created.len() == 1 && created[0].0 == Flags::ERROR && created[0].4.contains("no_such"), "{created:?}");
        let instance = entry.create_instance(&known, None).unwrap();
        let extension = ash::ext::debug_report::Instance::new(&entry, &instance);
        let callback = extension.create_debug_report_callback(&info, None).unwrap();
        let send = |flags| {
            let kind = vk::DebugReportObjectTypeEXT::SURFACE_KHR;
            let (own, hello) = (c"own".as_ptr(), c"hello".as_ptr());
            (extension.fp().debug_report_message_ext)(instance.handle(), flags, kind, 7, 99, -5, own, hello);
        };
        [Flags::ERROR, Flags::WARNING, Flags::PERFORMANCE_WARNING, Flags::INFORMATION, Flags::DEBUG]
            .into_iter()
            .for_each(send);
        let expected = |flags| (flags, vk::DebugReportObjectTypeEXT::SURFACE_KHR, 7, -5, "hello".to_owned());
        assert_eq!(*reports.lock().unwrap(), [expected(Flags::ERROR), expected(Flags::PERFORMANCE_WARNING)]);
        extension.destroy_debug_report_callback(callback, None);
        extension.destroy_debug_report_callback(callback, None);
        send(Flags::ERROR);
        assert_eq!(reports.lock().unwrap().len(), 2);
        instance.destroy_instance(None);
    }
}

/// Names of `VK_EXT_debug_marker` are those of messages.
#[test]
#[expect(deprecated, reason = "the extension is older")]
fn markers_name_objects() {
    let driver = Driver::open_with(&[ash::ext::debug_marker::NAME]);
    let markers = ash::ext::debug_marker::Device::new(&driver.instance, &driver.device);
    // SAFETY: usage is valid except for a stale handle, which the driver detects.
    unsafe {
        let event = driver.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let info = vk::DebugMarkerObjectNameInfoEXT::default()
            .object_type(vk::DebugReportObjectTypeEXT::EVENT)
            .object(event.as_raw())
            .object_name(c"marked");
        markers.debug_marker_set_object_name(&info).unwrap();
        driver.device.destroy_event(event, None);
        let stale = message(&driver, || driver.device.destroy_event(event, None));
        assert!(stale.starts_with(&format!("EVENT handle {:#x} \"marked\" is stale", event.as_raw())), "{stale}");
    }
    driver.close();
}
