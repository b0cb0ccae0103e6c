//! The logical device: its GPU, its heap and its queues.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::vk;
use vitric_base::knobs;
use vitric_exec::Inlining;
use vitric_gpu::geometry::{MergedMode, Posh};
use vitric_gpu::gpu::{FarMemoryFailed, Gpu, GpuConfig};
use vitric_gpu::hiz::Hiz;
use vitric_gpu::raster::Coverage;
use vitric_memory::{Allocation, FarFile, Heap, NearConfig, OutOfMemory, Residency};

use crate::debug::Messages;
use crate::extensions::{self, Level};
use crate::families::{self, QueueRequest};
use crate::health::Health;
use crate::protection::Protection;
use crate::queue::{self, Queue};
use crate::{Error, Result, host, physical, report, structures};

/// A logical device.
#[derive(Debug)]
pub struct Device {
    gpu: Arc<Gpu>,
    heap: Arc<Heap>,
    health: Arc<Health>,
    queues: Arc<[Arc<Queue>]>,
}

impl Drop for Device {
    fn drop(&mut self) {
        report::leave(&self.gpu);
    }
}

/// Parameters of `vkCreateDevice`.
#[derive(Debug, Clone, Copy)]
pub struct DeviceDesc<'a> {
    /// Version of Vulkan that the application is written for.
    pub version: u32,
    /// Requested queues.
    pub queues: &'a [QueueRequest],
    /// Enabled features of Vulkan 1.0.
    pub features: &'a vk::PhysicalDeviceFeatures,
    /// Names of the enabled extensions.
    pub extensions: &'a [String],
}

impl Device {
    /// Creates a device with the requested queues, which allocates memory from a heap.
    ///
    /// # Errors
    /// [`Error::FeatureNotPresent`] and [`Error::ExtensionNotPresent`] for an unsupported feature
    /// or extension, [`Error::InitializationFailed`] for unsupported queues,
    /// [`Error::OutOfHostMemory`] if the host has no room for a thread.
    pub fn new(messages: Arc<Messages>, heap: Arc<Heap>, desc: &DeviceDesc<'_>) -> Result<Self> {
        let &DeviceDesc { version, queues, features, extensions } = desc;
        check_features(&messages, features, &physical::features())?;
        check_extensions(&messages, version, extensions)?;
        families::check(&messages, queues)?;
        let values = knobs::values();
        let threads = match values.number("VITRIC_THREADS") as usize {
            0 => host::processors(Path::new(host::ROOT)),
            threads => threads,
        };
        let config = GpuConfig {
            threads,
            timeout: Duration::from_millis(values.number("VITRIC_TIMEOUT_MS")),
            tbimr: values.text("VITRIC_TBIMR") == "on",
            batch: knobs::batch_limit(values.text("VITRIC_WINDOW")).unwrap_or_default(),
            chunk: values.number("VITRIC_CHUNK") as usize,
            hiz: match values.text("VITRIC_HIZ") {
                "off" => Hiz::Off,
                "always" => Hiz::Always,
                _ => Hiz::Auto,
            },
            coverage: match values.text("VITRIC_COVERAGE") {
                "flat" => Coverage::Flat,
                _ => Coverage::Hierarchical,
            },
            scoreboard: values.text("VITRIC_SCOREBOARD") == "on",
            inlining: match values.text("VITRIC_INLINE") {
                "off" => Inlining::Off,
                "always" => Inlining::Always,
                _ => Inlining::Auto,
            },
            packs_always: values.text("VITRIC_PACKING") == "always",
            merged: match values.text("VITRIC_MERGED") {
                "off" => Some(MergedMode::Off),
                "plain" => Some(MergedMode::Plain),
                "replicated" => Some(MergedMode::Replicated),
                _ => None,
            },
            posh: match values.text("VITRIC_POSH") {
                "off" => Posh::Off,
                "always" => Posh::Always,
                _ => Posh::Auto,
            },
            lookahead: values.number("VITRIC_LOOKAHEAD") as usize,
            counts: !values.text("VITRIC_COUNTERS").is_empty(),
            decoded_bytes: knobs::decoded_bytes(values.text("VITRIC_DECODED"), heap.size()).unwrap_or(0),
        };
        let gpu = Gpu::with_near(config, near_memory(values, &messages, &heap));
        let health = Arc::new(Health::new(messages));
        let queues = queues.iter().flat_map(|wanted| wanted.priorities.iter().map(move |priority| (wanted, *priority)));
        let start =
            |(wanted, priority)| Queue::new(gpu.with_weight(families::weight(priority)), health.clone(), wanted);
        let queues = queues.map(start).collect::<Result<Vec<_>>>()?.into();
        report::watch(&gpu);
        Ok(Self { gpu, heap, health, queues })
    }

    /// Returns the GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Returns the device's health, which includes the messengers.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// Returns the queues, grouped by family in the order of the request.
    pub fn queues(&self) -> &Arc<[Arc<Queue>]> {
        &self.queues
    }

    /// Waits until all queues are idle (`vkDeviceWaitIdle`).
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when the device was lost.
    pub fn wait_idle(&self) -> Result<()> {
        self.queues.iter().try_for_each(|queue| queue.wait_idle())
    }

    /// Completes the submitted work before the device is destroyed. Waits that nothing can signal
    /// are ended. Later waits for the device find it lost.
    pub fn close(&self) {
        self.gpu.end_waits();
        queue::close(&self.queues, &self.health);
        self.health.end();
    }

    /// Allocates `size` bytes of zeroed memory. Dropping the last reference frees them.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] if the heap or the host has no room. The messengers also
    /// receive a warning.
    pub fn allocate(&self, size: u64) -> Result<Arc<Allocation>> {
        self.allocate_or_warn(size, Allocation::new)
    }

    /// Allocates memory that the host cannot map, so that its images can be compacted.
    ///
    /// # Errors
    /// See [`Self::allocate`].
    pub fn allocate_unseen(&self, size: u64) -> Result<Arc<Allocation>> {
        match self.gpu.near() {
            Some(near) => self.allocate_or_warn(size, |heap, size| Allocation::new_compactable(heap, size, near)),
            None => self.allocate(size),
        }
    }

    /// Allocates protected memory.
    ///
    /// # Errors
    /// See [`Self::allocate`].
    pub fn allocate_protected(&self, size: u64) -> Result<Arc<Allocation>> {
        self.begin_protection();
        self.allocate_or_warn(size, Allocation::protected)
    }

    /// Begins to check the rules of protected memory. Must be called before an application gets a
    /// protected resource.
    pub fn begin_protection(&self) {
        self.gpu.has_protected_resources().store(true, Ordering::Release);
    }

    /// Returns the protection of a command buffer.
    pub fn protection(&self, is_protected: bool) -> Protection {
        Protection::new(is_protected, self.gpu.has_protected_resources().clone())
    }

    /// Allocates memory that the host can map at an address that it chooses.
    ///
    /// # Errors
    /// See [`Self::allocate`].
    pub fn allocate_placeable(&self, size: u64) -> Result<Arc<Allocation>> {
        self.allocate_or_warn(size, Allocation::placeable)
    }

    /// Allocates memory that other processes can import.
    ///
    /// # Errors
    /// See [`Self::allocate`].
    pub fn allocate_shared(&self, size: u64) -> Result<Arc<Allocation>> {
        self.allocate_or_warn(size, Allocation::shared)
    }

    /// Allocates memory that other processes and devices can import as a dma-buf.
    ///
    /// # Errors
    /// See [`Self::allocate`]; also if the kernel makes no dma-buf of this size.
    pub fn allocate_dma_buf(&self, size: u64) -> Result<Arc<Allocation>> {
        self.allocate_or_warn(size, Allocation::shared_by_dma_buf)
    }

    /// Allocates `size` bytes with `make`, and sends a warning if that fails.
    fn allocate_or_warn(
        &self,
        size: u64,
        make: impl Fn(&Arc<Heap>, u64) -> std::result::Result<Arc<Allocation>, OutOfMemory>,
    ) -> Result<Arc<Allocation>> {
        self.allocate_with_room(size, make).map_err(|error| {
            self.health.messages.warn(&error.to_string());
            Error::OutOfDeviceMemory
        })
    }

    /// Allocates or imports `size` bytes with `make`. If the heap has no room for them, compacts
    /// idle images and calls `make` again.
    ///
    /// # Errors
    /// Returns the errors of `make`.
    pub fn allocate_with_room<E: From<OutOfMemory> + PartialEq>(
        &self,
        size: u64,
        make: impl Fn(&Arc<Heap>, u64) -> std::result::Result<Arc<Allocation>, E>,
    ) -> std::result::Result<Arc<Allocation>, E> {
        let made = self.gpu.with_room(size, || make(&self.heap, size));
        if let Ok(memory) = &made {
            self.gpu.synchronized().add(memory);
        }
        // Decoded texels are only a cache, so allocations have precedence.
        self.gpu.decoded().trim(&self.heap);
        made
    }

    /// Returns true if the heap has room for `size` bytes without compaction.
    pub fn has_room(&self, size: u64) -> bool {
        self.heap.free() >= size
    }

    /// Checks a copy by the host, whose failure loses the device.
    ///
    /// # Errors
    /// [`Error::MemoryMapFailed`] if the copy failed.
    pub fn check_host_copy(&self, copied: std::result::Result<(), FarMemoryFailed>) -> Result<()> {
        copied.map_err(|failed| {
            self.health.lose(&format!("copy by the host: {failed}"));
            // Host copies cannot return that the device is lost.
            Error::MemoryMapFailed
        })
    }
}

/// Returns the residency of compactable images, unless the knob `VITRIC_NEARMEM` turns it off.
fn near_memory(values: &knobs::Values, messages: &Messages, heap: &Arc<Heap>) -> Option<Residency> {
    let (mode, bytes) = knobs::near(values.text("VITRIC_NEARMEM")).filter(|(mode, _)| *mode != "off")?;
    let folder = Some(values.text("VITRIC_FARMEM")).filter(|folder| !folder.is_empty());
    let far = folder.and_then(|folder| {
        let refused =
            |error| format!("VITRIC_FARMEM={folder}: no file can be created: {error}: expected a folder; using memory");
        FarFile::create(Path::new(folder)).map_err(|error| messages.warn(&refused(error))).ok()
    });
    let bytes = bytes.unwrap_or_else(|| heap.size());
    let wanted_by_host = || host::wanted_memory(Path::new(host::ROOT));
    Some(Residency::new(NearConfig { bytes, far, wanted_by_host, always: mode == "always" }, heap.clone()))
}

/// Fails if a requested feature is not supported: a flag that is set in `wanted` and not in
/// `supported`.
///
/// # Errors
/// [`Error::FeatureNotPresent`], with a message that names the feature.
pub fn check_features<T: Debug>(messages: &Messages, wanted: &T, supported: &T) -> Result<()> {
    match structures::missing(wanted, supported) {
        Some(name) => {
            messages
                .error(&format!("the feature {name} is not supported: enable only features that the device reports"));
            Err(Error::FeatureNotPresent)
        }
        None => Ok(()),
    }
}

/// Fails if a requested extension is not supported. Sends a warning if an extension needs one that
/// is neither requested nor part of `version` of Vulkan.
fn check_extensions(messages: &Messages, version: u32, wanted: &[String]) -> Result<()> {
    for name in wanted {
        let Some(found) = extensions::find(name).filter(|found| found.level == Level::Device) else {
            messages.error(&format!(
                "the device extension {name} is not supported: expected one of vkEnumerateDeviceExtensionProperties"
            ));
            return Err(Error::ExtensionNotPresent);
        };
        let version = version.min(physical::API_VERSION);
        let is_apart = |need: &extensions::Extension| need.core.is_none_or(|core| core > version);
        let of_device =
            |need: &&&str| extensions::find(need).is_some_and(|need| need.level == Level::Device && is_apart(need));
        for need in found.needs.iter().filter(of_device).filter(|need| !wanted.iter().any(|name| name == *need)) {
            messages.warn(&format!("the device extension {name} needs {need}: enable both"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use crossbeam::channel::{RecvError, unbounded};
    use vitric_base::workers::Workers;
    use vitric_memory::{DescriptorType, ImageAccess, Surface, SurfaceDesc};

    use super::*;
    use crate::queue::Batch;
    use crate::sync::{Payload, PayloadKind};

    fn device(features: vk::PhysicalDeviceFeatures, extensions: &[String]) -> Result<Device> {
        device_of(Heap::new(1 << 20), features, extensions)
    }

    fn device_of(heap: Arc<Heap>, features: vk::PhysicalDeviceFeatures, extensions: &[String]) -> Result<Device> {
        let (messages, version, queues) = (Arc::new(Messages::default()), vk::API_VERSION_1_0, &QueueRequest::one());
        Device::new(messages, heap, &DeviceDesc { version, queues, features: &features, extensions })
    }

    #[test]
    fn what_is_not_there_is_refused() {
        assert!(device(physical::features(), &["VK_KHR_swapchain".into()]).is_ok());
        let sparse = vk::PhysicalDeviceFeatures { sparse_binding: vk::TRUE, ..Default::default() };
        assert_eq!(device(sparse, &[]).unwrap_err(), Error::FeatureNotPresent);
        let resident = vk::PhysicalDeviceFeatures { shader_resource_residency: vk::TRUE, ..Default::default() };
        assert_eq!(device(resident, &[]).unwrap_err(), Error::FeatureNotPresent);
        let unknown = device(Default::default(), &["VK_KHR_unheard_of".into()]);
        assert_eq!(unknown.unwrap_err(), Error::ExtensionNotPresent);
    }

    #[test]
    fn memory_is_budgeted() {
        let device = device(Default::default(), &[]).unwrap();
        assert_eq!(device.allocate((1 << 20) + 1).unwrap_err(), Error::OutOfDeviceMemory);
        assert_eq!(device.allocate(4096).unwrap().size(), 4096);
        device.wait_idle().unwrap();
    }

    /// An idle image fills the heap. Each kind of allocation, and the import of shared memory,
    /// compacts it. `imports_of_application_memory_make_room` and `implicit_images_make_room` are
    /// the tests of the other kinds.
    #[test]
    fn shared_and_imported_memory_takes_the_place_of_idle_images() {
        const SIZE: u64 = 1 << 19;
        let make: [fn(&Device) -> bool; 4] = [
            |device| device.allocate(SIZE).is_ok(),
            |device| device.allocate_unseen(SIZE).is_ok(),
            |device| device.allocate_shared(SIZE).is_ok(),
            |device| {
                let exported = Allocation::shared(&Heap::new(SIZE), SIZE)
                    .unwrap()
                    .descriptor(DescriptorType::Opaque)
                    .unwrap()
                    .unwrap();
                let import = |heap: &Arc<Heap>, size| Allocation::open(heap, size, exported.as_fd());
                device.allocate_with_room(SIZE, import).is_ok()
            },
        ];
        for (number, make) in make.into_iter().enumerate() {
            let heap = Heap::with_far(1 << 20, 1 << 20);
            let device = device_of(heap.clone(), Default::default(), &[]).unwrap();
            // Without near memory nothing is compacted.
            let Some(near) = device.gpu().near() else { return };
            let extent = vk::Extent3D { width: 512, height: 512, depth: 1 };
            let (kind, format) = (vk::ImageType::TYPE_2D, vk::Format::R8G8B8A8_UNORM);
            let desc =
                SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
            let image = Surface::new(desc).unwrap();
            let memory = device.allocate_unseen(1 << 20).unwrap();
            assert!(image.bind(memory, 0));
            image.begin_use(&near.begin(&Workers::new(1)), ImageAccess::Overwrite);
            assert!(make(&device), "{number}");
            assert_eq!(heap.resident(), 0, "{number}: the zeros of the image take nothing");
        }
    }

    #[test]
    fn neither_submissions_nor_waits_for_queues_wait_for_frames() {
        let device = device(Default::default(), &[]).unwrap();
        let ((shows, shown), (go_on, held)) = (unbounded(), unbounded::<()>());
        for number in 0..3 {
            let (shows, held) = (shows.clone(), held.clone());
            let show = move || held.recv().and_then(|()| shows.send(number).map_err(|_| RecvError)).unwrap();
            device.queues()[0].present(move || Box::new(show)).unwrap();
        }
        // Submissions after the frames are complete before the first frame is shown.
        let fence = Payload::new(PayloadKind::Fence, 0);
        device.queues()[0].submit(Vec::new(), Some(fence.clone())).unwrap();
        assert!(queue::wait(device.queues(), device.health(), &[(fence, 1)], true, u64::MAX));
        device.wait_idle().unwrap();
        assert!(shown.is_empty());
        (0..3).for_each(|_| go_on.send(()).unwrap());
        assert_eq!(shown.iter().take(3).collect::<Vec<_>>(), [0, 1, 2], "frames are shown in order");
    }

    #[test]
    fn threads_that_wait_execute_work_in_order() {
        let queues = &[QueueRequest { priorities: vec![1.0, 1.0], ..QueueRequest::one().remove(0) }];
        let (messages, heap) = (Arc::new(Messages::default()), Heap::new(1 << 20));
        let (version, features) = (vk::API_VERSION_1_0, &Default::default());
        let device = Device::new(messages, heap, &DeviceDesc { version, queues, features, extensions: &[] }).unwrap();
        std::thread::scope(|scope| {
            for queue in device.queues().iter().flat_map(|queue| [queue, queue]) {
                let (device, line) = (&device, Payload::new(PayloadKind::Timeline, 0));
                scope.spawn(move || {
                    for value in 1..=200 {
                        let batch = Batch {
                            waits: vec![(line.clone(), value - 1)],
                            lists: vec![Arc::default()],
                            signals: vec![(line.clone(), value)],
                            ..Batch::default()
                        };
                        let fence = Payload::new(PayloadKind::Fence, 0);
                        queue.submit(vec![batch], Some(fence.clone())).unwrap();
                        let payload = if value % 2 == 0 { (line.clone(), value) } else { (fence, 1) };
                        assert!(queue::wait(device.queues(), device.health(), &[payload], true, u64::MAX));
                        assert_eq!(line.value(), value);
                        queue.wait_idle().unwrap();
                    }
                });
            }
        });
    }
}
