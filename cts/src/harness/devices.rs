//! Opens devices for cases: the first one, and others with other queues and features.

use std::ffi::c_void;

use ash::vk;

use super::{Features, Gpu, Outcome, features};

/// The newest version of Vulkan that cases use.
const NEWEST: u32 = vitric_vulkan::API_VERSION_1_4;

/// Returns the info of one queue of the first family.
fn one_queue() -> vk::DeviceQueueCreateInfo<'static> {
    vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])
}

/// Description of a device of all features.
struct DeviceOptions<'a> {
    queues: Vec<vk::DeviceQueueCreateInfo<'a>>,
    /// Structure behind those of the features.
    last: *mut c_void,
    /// Density maps instead of shading rates.
    has_density_maps: bool,
}

impl<'a> DeviceOptions<'a> {
    fn new(queues: Vec<vk::DeviceQueueCreateInfo<'a>>) -> Self {
        Self { queues, last: std::ptr::null_mut(), has_density_maps: false }
    }
}

impl Gpu {
    /// Opens the first device with all its features.
    ///
    /// # Errors
    /// There is no device.
    pub fn new(entry: ash::Entry) -> Result<Self, Outcome> {
        // SAFETY: create infos are valid and outlive the calls, and handles come
        // from the calls before.
        unsafe {
            let version = entry.try_enumerate_instance_version()?.unwrap_or(vk::API_VERSION_1_0);
            let application = vk::ApplicationInfo::default().api_version(version.min(NEWEST));
            let known = entry.enumerate_instance_extension_properties(None)?;
            let names: Vec<_> = features::of_instance(&known).iter().map(|name| name.as_ptr()).collect();
            let info = vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let physical = *devices.first().ok_or(Outcome::Fail("there is no device".into()))?;
            Self::open_one(&entry, &instance, physical, &DeviceOptions::new(vec![one_queue()]))
        }
    }

    /// Opens another device of all features, with queues of these families. A list of priorities
    /// has one for each queue.
    ///
    /// # Errors
    /// The device cannot be created.
    pub fn with_queues(&self, queues: &[(u32, &'static [f32])]) -> Result<Vec<Self>, Outcome> {
        let info = |&(family, priorities): &(u32, &'static [f32])| {
            vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(priorities)
        };
        let options = DeviceOptions::new(queues.iter().map(info).collect());
        Self::open(&self.entry, &self.instance, self.physical, &options)
    }

    /// Opens another device of all features, with an unprotected queue and a protected queue.
    ///
    /// # Errors
    /// The device has no protected memory, or cannot be created.
    pub fn with_protection(&self) -> Result<[Self; 2], Outcome> {
        let mut feature = vk::PhysicalDeviceProtectedMemoryFeatures::default();
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut feature);
        // SAFETY: the chain lives as long as the call.
        unsafe { self.instance.get_physical_device_features2(self.physical, &mut all) };
        if feature.protected_memory == vk::FALSE {
            return Err(Outcome::NotSupported("protectedMemory".into()));
        }
        feature.p_next = std::ptr::null_mut();
        let queues = vec![one_queue(), one_queue().flags(vk::DeviceQueueCreateFlags::PROTECTED)];
        let options = DeviceOptions { last: (&raw mut feature).cast(), ..DeviceOptions::new(queues) };
        let made = Self::open(&self.entry, &self.instance, self.physical, &options)?;
        made.try_into().map_err(|_| Outcome::Fail("a device has other queues than it was asked for".into()))
    }

    /// Opens another device of all features and one queue, with a structure behind those of the
    /// features.
    ///
    /// # Errors
    /// The device cannot be created.
    pub fn with_structure<T: vk::TaggedStructure>(&self, structure: &mut T) -> Result<Self, Outcome> {
        let options = DeviceOptions { last: (&raw mut *structure).cast(), ..DeviceOptions::new(vec![one_queue()]) };
        Self::open_one(&self.entry, &self.instance, self.physical, &options)
    }

    /// Opens another device of one queue that supports density maps, and no shading rates.
    ///
    /// # Errors
    /// The device cannot be created.
    pub fn with_density_maps(&self) -> Result<Self, Outcome> {
        let options = DeviceOptions { has_density_maps: true, ..DeviceOptions::new(vec![one_queue()]) };
        Self::open_one(&self.entry, &self.instance, self.physical, &options)
    }

    fn open_one(
        entry: &ash::Entry,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        options: &DeviceOptions<'_>,
    ) -> Result<Self, Outcome> {
        let mut made = Self::open(entry, instance, physical, options)?;
        made.pop().ok_or(Outcome::Fail("there is no queue".into()))
    }

    fn open(
        entry: &ash::Entry,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        DeviceOptions { queues, last, has_density_maps }: &DeviceOptions<'_>,
    ) -> Result<Vec<Self>, Outcome> {
        // SAFETY: create infos are valid and outlive the calls, and handles come from
        // the calls before.
        unsafe {
            let features = instance.get_physical_device_features(physical);
            let known = instance.enumerate_device_extension_properties(physical)?;
            let extensions = features::of_device(&known);
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let mut enabled = Features::of(entry, instance, physical, &extensions);
            // Pipelines enable robust access where a case tests it. All others are tested without
            // it.
            enabled.robustness.robust_buffer_access2 = vk::FALSE;
            enabled.choose_rates(*has_density_maps);
            let mut info = vk::DeviceCreateInfo::default()
                .queue_create_infos(queues)
                .enabled_features(&features)
                .enabled_extension_names(&names);
            info.p_next = enabled.chain(&extensions, *last);
            let device = instance.create_device(physical, &info, None)?;
            let places = queues.iter().flat_map(|info| (0..info.queue_count).map(move |index| (info, index)));
            let gpu = |(&vk::DeviceQueueCreateInfo { queue_family_index: family, flags, .. }, index)| {
                let is_protected = flags.contains(vk::DeviceQueueCreateFlags::PROTECTED);
                let mut pool = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
                let queue = match is_protected {
                    true => {
                        pool |= vk::CommandPoolCreateFlags::PROTECTED;
                        let info = vk::DeviceQueueInfo2::default().queue_family_index(family).queue_index(index);
                        device.get_device_queue2(&info.flags(flags))
                    }
                    false => device.get_device_queue(family, index),
                };
                let info = vk::CommandPoolCreateInfo::default().queue_family_index(family).flags(pool);
                Ok(Self {
                    instance: instance.clone(),
                    physical,
                    device: device.clone(),
                    queue,
                    pool: device.create_command_pool(&info, None)?,
                    features,
                    extension_features: Features::of(entry, instance, physical, &extensions),
                    properties: instance.get_physical_device_properties(physical),
                    memory: instance.get_physical_device_memory_properties(physical),
                    extensions: extensions.clone(),
                    is_protected,
                    entry: entry.clone(),
                })
            };
            places.map(gpu).collect()
        }
    }
}
