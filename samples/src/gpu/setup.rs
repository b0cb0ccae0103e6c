//! Instance, validation layer and device selection for the samples.
//!
//! The first physical device with a queue family for graphics and compute is used. Source: Vulkan
//! 1.0 chapters 4 and 5, VK_EXT_debug_utils, VK_EXT_validation_features.

use crate::error::{Error, Named, Result};
use ash::{ext, vk};
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Options of the instance.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuOptions {
    /// Enables `VK_LAYER_KHRONOS_validation` with synchronisation validation, and collects its
    /// messages.
    pub validation: bool,
    /// Makes passes store attachments that they would discard, so that a tool can examine them.
    pub stores_all: bool,
}

/// The messages of the validation layer, shared with its callback.
#[derive(Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    /// Empties the log.
    pub fn take(&self) -> Vec<String> {
        self.0.lock().map(|mut log| std::mem::take(&mut *log)).unwrap_or_default()
    }

    fn copy(&self) -> Vec<String> {
        self.0.lock().map(|log| log.clone()).unwrap_or_default()
    }

    fn push(&self, message: String) {
        if let Ok(mut log) = self.0.lock() {
            log.push(message);
        }
    }
}

struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
    log: Arc<Log>,
}

/// Objects before the device: the instance, the messenger and the chosen physical device.
pub struct Setup {
    instance: ash::Instance,
    messenger: Option<Messenger>,
    physical: vk::PhysicalDevice,
    /// Index of the queue family with graphics and compute.
    pub family: u32,
    /// The device's name.
    pub name: String,
    /// The device's limits.
    pub limits: vk::PhysicalDeviceLimits,
    /// The enabled features.
    pub features: vk::PhysicalDeviceFeatures,
    /// The device's memory types and heaps.
    pub memory: vk::PhysicalDeviceMemoryProperties,
}

impl Setup {
    /// Creates the instance and chooses the physical device.
    pub fn new(entry: &ash::Entry, options: &GpuOptions) -> Result<Setup> {
        let log = options.validation.then(Arc::<Log>::default);
        let instance = create_instance(entry, log.as_ref())?;
        let messenger = log.map(|log| create_messenger(entry, &instance, log)).transpose()?;
        let (physical, family) = choose_device(&instance)?;
        // SAFETY: the physical device was enumerated from this instance.
        let (properties, has, memory) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_features(physical),
                instance.get_physical_device_memory_properties(physical),
            )
        };
        let name = properties.device_name_as_c_str().unwrap_or(c"unnamed").to_string_lossy().into_owned();
        let features = wanted_features(&has);
        Ok(Setup { instance, messenger, physical, family, name, limits: properties.limits, features, memory })
    }

    /// Creates the logical device with one queue of the chosen family.
    pub fn create_device(&self) -> Result<ash::Device> {
        let priorities = [1.0];
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(self.family).queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_features(&self.features);
        // SAFETY: the queue family and the features were reported by this physical device.
        unsafe { self.instance.create_device(self.physical, &info, None) }.named("vkCreateDevice")
    }

    /// Returns the messages so far.
    pub fn messages(&self) -> Vec<String> {
        self.messenger.as_ref().map(|m| m.log.copy()).unwrap_or_default()
    }

    /// Returns the log, which outlives the instance.
    pub fn log(&self) -> Option<Arc<Log>> {
        self.messenger.as_ref().map(|m| m.log.clone())
    }

    /// Returns the features of `format` with optimal tiling.
    pub fn format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: the physical device belongs to this live instance.
        let properties = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        properties.optimal_tiling_features
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        // SAFETY: `Gpu` destroys its device first; the messenger is destroyed once, before its
        // instance.
        unsafe {
            if let Some(m) = &self.messenger {
                m.functions.destroy_debug_utils_messenger(m.handle, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// Returns the optional features of some scenes, which also run without them, and of benchmarks.
fn wanted_features(has: &vk::PhysicalDeviceFeatures) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        draw_indirect_first_instance: has.draw_indirect_first_instance,
        geometry_shader: has.geometry_shader,
        large_points: has.large_points,
        multi_draw_indirect: has.multi_draw_indirect,
        sample_rate_shading: has.sample_rate_shading,
        sampler_anisotropy: has.sampler_anisotropy,
        shader_clip_distance: has.shader_clip_distance,
        shader_float64: has.shader_float64,
        shader_int64: has.shader_int64,
        tessellation_shader: has.tessellation_shader,
        ..Default::default()
    }
}

fn create_instance(entry: &ash::Entry, log: Option<&Arc<Log>>) -> Result<ash::Instance> {
    let app = vk::ApplicationInfo::default()
        .application_name(c"vitric samples")
        .engine_name(c"vitric samples")
        .api_version(vk::API_VERSION_1_0);
    let info = vk::InstanceCreateInfo::default().application_info(&app);
    let Some(log) = log else {
        // SAFETY: the create info is complete and names no layer or extension.
        return unsafe { entry.create_instance(&info, None) }.named("vkCreateInstance");
    };
    require_validation(entry)?;
    let layers = [VALIDATION.as_ptr()];
    let extensions = [ext::debug_utils::NAME.as_ptr(), ext::validation_features::NAME.as_ptr()];
    let enables = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enables);
    let mut messenger = messenger_info(log);
    let info = info
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions)
        .push_next(&mut features)
        .push_next(&mut messenger);
    // SAFETY: the layer is installed, the names are C strings, and the chained structures live
    // until the call ends.
    unsafe { entry.create_instance(&info, None) }.named("vkCreateInstance with the validation layer")
}

fn require_validation(entry: &ash::Entry) -> Result<()> {
    // SAFETY: the entry's functions are loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.named("vkEnumerateInstanceLayerProperties")?;
    let found = layers.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION));
    if found { Ok(()) } else { Err(Error::Missing("VK_LAYER_KHRONOS_validation")) }
}

fn messenger_info(log: &Arc<Log>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(Kind::VALIDATION | Kind::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(log).cast_mut().cast())
}

fn create_messenger(entry: &ash::Entry, instance: &ash::Instance, log: Arc<Log>) -> Result<Messenger> {
    let functions = ext::debug_utils::Instance::new(entry, instance);
    let info = messenger_info(&log);
    // SAFETY: the extension is enabled; the log outlives the messenger, which `Setup` destroys
    // first.
    let handle =
        unsafe { functions.create_debug_utils_messenger(&info, None) }.named("vkCreateDebugUtilsMessengerEXT")?;
    Ok(Messenger { functions, handle, log })
}

/// Collects one message.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `user` is the log that the messenger was created with, and `data` is valid during
    // the call (VK_EXT_debug_utils).
    unsafe {
        let (log, data) = (&*user.cast::<Log>(), &*data);
        let text = data.message_as_c_str().unwrap_or(c"(no text)");
        log.push(text.to_string_lossy().into_owned());
    }
    vk::FALSE
}

fn choose_device(instance: &ash::Instance) -> Result<(vk::PhysicalDevice, u32)> {
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    // SAFETY: the instance is live, and each physical device comes from it.
    unsafe {
        let devices = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
        devices
            .into_iter()
            .find_map(|device| {
                let families = instance.get_physical_device_queue_family_properties(device);
                let family = families.iter().position(|f| f.queue_flags.contains(wanted))?;
                Some((device, family as u32))
            })
            .ok_or(Error::NoDevice)
    }
}
