//! The device: its GPU, its memory, its queues.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use vitric_backend::gpu::{Gpu, GpuConfig};
use vitric_backend::knobs;
use vitric_backend::memory::{Allocation, Heap};

use crate::debug::Messages;
use crate::extensions::{self, Level};
use crate::physical;
use crate::queue::{Health, Queue};
use crate::report;
use crate::structures;
use crate::{Error, Result};

/// Bytes of the memory heap: the knob `VITRIC_HEAP_MIB`.
pub fn heap_size() -> u64 {
    knobs::values().number("VITRIC_HEAP_MIB").saturating_mul(1 << 20)
}

/// A device.
#[derive(Debug)]
pub struct Device {
    gpu: Arc<Gpu>,
    heap: Arc<Heap>,
    health: Arc<Health>,
    queues: Vec<Arc<Queue>>,
}

impl Drop for Device {
    fn drop(&mut self) {
        self.report();
    }
}

impl Device {
    /// Creates a device with `queues` queues of the one family, 1 to [`physical::QUEUE_COUNT`], for an application that is
    /// written for `version` of Vulkan.
    ///
    /// # Errors
    /// [`Error::FeatureNotPresent`] and [`Error::ExtensionNotPresent`] when something is asked for that is not there,
    /// [`Error::InitializationFailed`] for another number of queues, [`Error::OutOfHostMemory`] when the host has no thread to
    /// give.
    pub fn new(
        messages: Arc<Messages>,
        version: u32,
        queues: u32,
        features: &vk::PhysicalDeviceFeatures,
        extensions: &[String],
    ) -> Result<Self> {
        check_features(&messages, features, &physical::features())?;
        check_extensions(&messages, version, extensions)?;
        if queues == 0 || queues > physical::QUEUE_COUNT {
            return Err(Error::InitializationFailed);
        }
        let values = knobs::values();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match values.number("VITRIC_THREADS") as usize {
            0 => processors,
            threads => threads,
        };
        let gpu = Gpu::new(GpuConfig {
            threads,
            timeout: Duration::from_millis(values.number("VITRIC_TIMEOUT_MS")),
            window: values.number("VITRIC_WINDOW") as usize,
            hiz: values.text("VITRIC_HIZ") == "on",
            scoreboard: values.text("VITRIC_SCOREBOARD") == "on",
            packs_always: values.text("VITRIC_PACKING") == "always",
            counts: !values.text("VITRIC_COUNTERS").is_empty(),
        });
        let health = Arc::new(Health::new(messages));
        let queues = (0..queues).map(|_| Queue::new(gpu.clone(), health.clone())).collect::<Result<_>>()?;
        Ok(Self { gpu, heap: Heap::new(heap_size()), health, queues })
    }

    /// Leaves a report of what the GPU counted, when it does.
    fn report(&self) {
        if let Some(counters) = self.gpu.counters() {
            report::write(counters, Path::new(knobs::values().text("VITRIC_COUNTERS")));
        }
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Whether the device is lost, and messages.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// The queues.
    pub fn queues(&self) -> &[Arc<Queue>] {
        &self.queues
    }

    /// `vkDeviceWaitIdle`: waits until all queues are idle.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when the device was lost.
    pub fn wait_idle(&self) -> Result<()> {
        self.queues.iter().try_for_each(|queue| queue.wait_idle())
    }

    /// Allocates `size` bytes of zeroed memory; the last reference to them gives them back to the heap.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] when the heap or the host has no room; the messengers hear a warning.
    pub fn allocate(&self, size: u64) -> Result<Arc<Allocation>> {
        Allocation::new(&self.heap, size).map_err(|error| {
            self.health.messages.warn(&error.to_string());
            Error::OutOfDeviceMemory
        })
    }
}

/// Fails when a feature is asked for that is not there: a flag that is set in `wanted` and not in `supported`.
///
/// # Errors
/// [`Error::FeatureNotPresent`], with a message that names the feature.
pub fn check_features<T: Debug>(messages: &Messages, wanted: &T, supported: &T) -> Result<()> {
    match structures::missing(wanted, supported) {
        Some(name) => {
            messages.error(&format!("the feature {name} is not supported"));
            Err(Error::FeatureNotPresent)
        }
        None => Ok(()),
    }
}

/// Fails when an extension is asked for that is not there. Of one that is missing others which it needs, and which `version` of
/// Vulkan has not taken in, a warning tells.
fn check_extensions(messages: &Messages, version: u32, wanted: &[String]) -> Result<()> {
    for name in wanted {
        let Some(found) = extensions::find(name).filter(|found| found.level == Level::Device) else {
            messages.error(&format!("the device extension {name} is not supported"));
            return Err(Error::ExtensionNotPresent);
        };
        let version = version.min(physical::API_VERSION);
        let is_apart = |need: &extensions::Extension| need.core.is_none_or(|core| core > version);
        let of_device =
            |need: &&&str| extensions::find(need).is_some_and(|need| need.level == Level::Device && is_apart(need));
        for need in found.needs.iter().filter(of_device).filter(|need| !wanted.iter().any(|name| name == *need)) {
            messages.warn(&format!("the device extension {name} is enabled, but {need} is not, which it needs"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(features: vk::PhysicalDeviceFeatures, extensions: &[String]) -> Result<Device> {
        Device::new(Arc::new(Messages::default()), vk::API_VERSION_1_0, 2, &features, extensions)
    }

    #[test]
    fn what_is_not_there_is_refused() {
        assert!(device(physical::features(), &["VK_KHR_swapchain".into()]).is_ok());
        let sparse = vk::PhysicalDeviceFeatures { sparse_binding: vk::TRUE, ..Default::default() };
        assert_eq!(device(sparse, &[]).unwrap_err(), Error::FeatureNotPresent);
        let inherited = vk::PhysicalDeviceFeatures { inherited_queries: vk::TRUE, ..Default::default() };
        assert_eq!(device(inherited, &[]).unwrap_err(), Error::FeatureNotPresent);
        let unknown = device(Default::default(), &["VK_KHR_unheard_of".into()]);
        assert_eq!(unknown.unwrap_err(), Error::ExtensionNotPresent);
    }

    #[test]
    fn memory_is_budgeted() {
        let device = device(Default::default(), &[]).unwrap();
        assert_eq!(device.allocate(heap_size() + 1).unwrap_err(), Error::OutOfDeviceMemory);
        assert_eq!(device.allocate(4096).unwrap().size(), 4096);
        device.wait_idle().unwrap();
    }
}
