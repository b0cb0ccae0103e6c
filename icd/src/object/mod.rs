//! Dispatchable objects, and the tables of non-dispatchable handles. The files of this folder
//! create and destroy the objects.
//!
//! A dispatchable handle points to a slot ([`crate::slots`]). Instances and devices own tables of
//! their child objects.

pub mod address;
pub mod check;
pub mod command;
pub mod compression;
pub mod debug;
pub mod debug_report;
pub mod descriptor;
pub mod dynamic_state;
pub mod external;
pub mod host;
pub mod map;
pub mod memory;
pub mod memory_report;
pub mod modifier;
pub mod pass;
pub mod pipeline;
pub mod private;
pub mod protection;
pub mod query;
pub mod sampler;
pub mod sync;
pub mod time_domain;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use parking_lot::Mutex;
use vitric_api::command::CommandBuffer;
use vitric_api::debug::{Messages, Names};
use vitric_api::descriptor::{DescriptorCounts, DescriptorPool};
use vitric_api::device::Device;
use vitric_api::pipeline::{PipelineBinary, PipelineCache, Programs, ShaderModule};
use vitric_api::queue;
use vitric_api::swapchain::Swapchain;
use vitric_api::sync::{Fence, Semaphore};
use vitric_api::{Error, Result};
use vitric_base::panics;
use vitric_exec::bindings::{DescriptorResolver, DescriptorSet};
use vitric_exec::runtime::{Conversion, Sampler, SetLayout};
use vitric_gpu::command::{Event, QueryPool};
use vitric_gpu::pipeline::CompiledPipeline;
use vitric_gpu::state::{ComputePipeline, DepthLimits, PassDesc};
use vitric_memory::{Allocation, Buffer, BufferView, Heap, Surface, SurfaceView};

use self::map::PlacedMaps;
use self::memory_report::MemoryReports;
use self::pipeline::graphics::Parts;
use self::private::PrivateData;
use crate::call::{Call, PanicTarget, Param, Typed};
use crate::displays::Displays;
use crate::handles::{Retired, Table};
use crate::messengers::CreationMessenger;
use crate::process;
use crate::slots::{Marked, marked};

marked!(InstanceObject, Instance, 64);
marked!(PhysicalObject, PhysicalDevice, 64);
marked!(DeviceObject, Device, 16);
marked!(QueueObject, Queue, 256);
marked!(CommandObject, CommandBuffer, 4096);

/// An instance.
pub struct InstanceObject {
    /// Number of the instance in the process.
    pub number: u32,
    /// Messengers.
    pub messages: Arc<Messages>,
    /// The messenger of the instance's creation and destruction.
    pub creation_messenger: CreationMessenger,
    /// Handle of the only physical device.
    pub physical: u64,
    /// Enabled extensions.
    pub extensions: Vec<String>,
    /// Version of Vulkan that the application is written for, without the patch version.
    pub version: u32,
    /// Numbers of the registered messengers and report callbacks.
    pub messengers: Table<Arc<u64>>,
}

/// The physical device.
pub struct PhysicalObject {
    /// Number of the instance.
    pub instance: u32,
    /// Memory heap that all devices allocate from.
    pub heap: Arc<Heap>,
    /// Messengers of the instance.
    pub messages: Arc<Messages>,
    /// Extensions of the instance.
    pub extensions: Vec<String>,
    /// The instance's version of Vulkan.
    pub version: u32,
    /// Displays that the instance can use.
    pub displays: Displays,
}

/// A queue.
pub struct QueueObject {
    /// Handle of the device.
    pub device: u64,
    /// The queue.
    pub queue: Arc<queue::Queue>,
}

/// A command buffer.
pub struct CommandObject {
    /// Handle of the device.
    pub device: u64,
    /// The command buffer.
    pub buffer: Arc<CommandBuffer>,
}

/// A framebuffer.
pub struct Framebuffer {
    /// Attachments.
    pub views: Vec<Arc<SurfaceView>>,
    /// Layers.
    pub layers: u32,
    /// Width and height.
    pub extent: [u32; 2],
}

/// A swapchain with the handles of its images.
pub struct SwapchainEntry {
    /// The swapchain.
    pub chain: Arc<Swapchain>,
    /// Handles of its images.
    pub images: Vec<u64>,
}

/// A pipeline of either kind.
#[derive(Clone)]
pub enum Pipeline {
    /// Graphics.
    Graphics(Arc<CompiledPipeline>),
    /// Compute.
    Compute(Arc<ComputePipeline>),
    /// Parts of graphics pipelines.
    Library(Parts),
}

/// A descriptor set with its place in its pool.
#[derive(Clone)]
pub struct PoolSet {
    /// The set.
    pub set: Arc<DescriptorSet>,
    /// Number of its place in the pool.
    pub place: u32,
}

/// A descriptor pool with the handles of its sets.
pub struct SetPool {
    /// The pool's limits and use.
    pub pool: DescriptorPool,
    /// Allocated sets.
    pub sets: SetHandles,
    /// Freed sets, which the next allocations reuse.
    pub retired: Vec<Retired>,
    /// Layout of the last allocation, and the descriptors that one of its sets needs.
    pub last: Option<(vk::DescriptorSetLayout, Arc<SetLayout>, DescriptorCounts)>,
}

/// Handles of sets by place; 0 for a freed set.
#[derive(Default)]
pub struct SetHandles {
    handles: Vec<u64>,
    free: Vec<u32>,
}

impl SetHandles {
    /// Allocates a place for a set and returns its number.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.handles.push(0);
            self.handles.len() as u32 - 1
        })
    }

    /// Stores a set's handle in its place.
    pub fn put(&mut self, place: u32, handle: u64) {
        self.handles[place as usize] = handle;
    }

    /// Frees the place of a set, if the handle is stored there.
    pub fn give_back(&mut self, place: u32, handle: u64) {
        if self.handles.get(place as usize) == Some(&handle) {
            self.put(place, 0);
            self.free.push(place);
        }
    }

    /// Removes and returns all sets.
    pub fn drain(&mut self) -> impl Iterator<Item = u64> {
        self.free.clear();
        self.handles.drain(..).filter(|&handle| handle != 0)
    }
}

/// Layouts of the sets of a pipeline.
#[derive(Default)]
pub struct PipelineLayout {
    /// Set layouts; `None` for a set that the layout leaves undefined.
    pub sets: Vec<Option<Arc<SetLayout>>>,
}

/// Template of a descriptor update.
pub struct UpdateTemplate {
    /// Entries with the descriptors' targets and the offsets of their data.
    pub entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// Bind point for templates of push descriptors.
    pub point: vk::PipelineBindPoint,
}

/// A command pool with the handles of its command buffers.
pub struct CommandPool {
    /// Index of the queue family of its command buffers.
    pub family: u32,
    /// True if its command buffers are protected.
    pub is_protected: bool,
    /// Allocated command buffers.
    pub buffers: Mutex<HashSet<u64>>,
}

impl CommandPool {
    /// Removes and returns all command buffers.
    pub fn take(&self) -> impl Iterator<Item = vk::CommandBuffer> + use<> {
        std::mem::take(&mut *self.buffers.lock()).into_iter().map(vk::CommandBuffer::from_raw)
    }
}

/// Tables of the objects that descriptors and commands refer to.
struct NamedObjects {
    buffers: Arc<Table<Arc<Buffer>>>,
    buffer_views: Arc<Table<Arc<BufferView>>>,
    image_views: Arc<Table<Arc<SurfaceView>>>,
    samplers: Arc<Table<Arc<Sampler>>>,
    sets: Arc<Table<PoolSet>>,
}

impl NamedObjects {
    fn of(object: &DeviceObject) -> Self {
        Self {
            buffers: object.buffers.clone(),
            buffer_views: object.buffer_views.clone(),
            image_views: object.image_views.clone(),
            samplers: object.samplers.clone(),
            sets: object.sets.clone(),
        }
    }
}

impl Debug for NamedObjects {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedObjects").finish_non_exhaustive()
    }
}

impl DescriptorResolver for NamedObjects {
    fn buffer(&self, name: u64) -> Option<Arc<Buffer>> {
        self.buffers.get(name)
    }

    fn buffer_view(&self, name: u64) -> Option<Arc<BufferView>> {
        self.buffer_views.get(name)
    }

    fn image_view(&self, name: u64) -> Option<Arc<SurfaceView>> {
        self.image_views.get(name)
    }

    fn sampler(&self, name: u64) -> Option<Arc<Sampler>> {
        self.samplers.get(name)
    }

    fn set(&self, name: u64) -> Option<Arc<DescriptorSet>> {
        self.sets.with(name, |found| found.set.clone())
    }
}

/// A queue of a device.
#[derive(Clone, Copy)]
pub struct DeviceQueue {
    /// Index of the family.
    pub family: u32,
    /// Flags that it was requested with.
    pub flags: vk::DeviceQueueCreateFlags,
    /// Handle.
    pub handle: u64,
}

/// A device and all its tables.
pub struct DeviceObject {
    pub device: Device,
    /// Number of the instance.
    pub instance: u32,
    /// Enabled extensions, of the device and of its instance.
    pub extensions: Vec<String>,
    /// The instance's version of Vulkan.
    pub version: u32,
    /// True if messengers receive reports of address ranges.
    pub reports_addresses: bool,
    /// Callbacks that receive reports of memory.
    pub memory_reports: MemoryReports,
    /// Enabled features of placed maps.
    pub placed_maps: PlacedMaps,
    /// True if protected memory is enabled.
    pub protects: bool,
    /// True if the layers of a barrier's range may be slices of a 3D image
    /// (`VK_KHR_maintenance9`).
    pub slices_are_layers: bool,
    /// True if `robustBufferAccess2` is enabled, which is the default of pipelines.
    pub exact_vertices: bool,
    /// Range that depths are clamped to in pipelines without depth clamping.
    pub depth_limits: DepthLimits,
    /// Names of objects in messages.
    pub names: Names,
    /// Queues, in the order of the indices in each family.
    pub queues: OnceLock<Vec<DeviceQueue>>,
    pub memory: Table<Arc<Allocation>>,
    /// Dedicated memory, with the resource that it is for, as handles.
    pub dedicated: Mutex<HashMap<u64, u64>>,
    pub buffers: Arc<Table<Arc<Buffer>>>,
    pub buffer_views: Arc<Table<Arc<BufferView>>>,
    pub images: Table<Arc<Surface>>,
    pub image_views: Arc<Table<Arc<SurfaceView>>>,
    pub samplers: Arc<Table<Arc<Sampler>>>,
    pub conversions: Table<Arc<Conversion>>,
    pub set_layouts: Table<Arc<SetLayout>>,
    pub pools: Table<Arc<Mutex<SetPool>>>,
    pub sets: Arc<Table<PoolSet>>,
    pub templates: Table<Arc<UpdateTemplate>>,
    pub pipeline_layouts: Table<Arc<PipelineLayout>>,
    pub shaders: Table<Arc<ShaderModule>>,
    pub caches: Table<Arc<PipelineCache>>,
    /// Live programs.
    pub programs: Programs,
    pub pipelines: Table<Pipeline>,
    pub binaries: Table<Arc<PipelineBinary>>,
    /// Captured binaries of pipelines, by the pipeline's handle.
    pub captured: Mutex<HashMap<u64, Vec<Arc<PipelineBinary>>>>,
    pub passes: Table<Arc<PassDesc>>,
    pub framebuffers: Table<Arc<Framebuffer>>,
    pub command_pools: Table<Arc<CommandPool>>,
    pub fences: Table<Arc<Fence>>,
    pub semaphores: Table<Arc<Semaphore>>,
    pub events: Table<Arc<Event>>,
    pub queries: Table<Arc<QueryPool>>,
    pub swapchains: Table<Arc<SwapchainEntry>>,
    pub slots: Table<Arc<()>>,
    /// The application's private data.
    pub private: PrivateData,
}

impl DeviceObject {
    /// Creates a device with empty tables.
    pub fn new(device: Device, physical: &PhysicalObject, mut extensions: Vec<String>) -> Self {
        extensions.extend_from_slice(&physical.extensions);
        let object = Self {
            device,
            instance: physical.instance,
            reports_addresses: false,
            memory_reports: MemoryReports::default(),
            placed_maps: PlacedMaps::default(),
            protects: false,
            slices_are_layers: extensions.iter().any(|name| name == "VK_KHR_maintenance9"),
            extensions,
            version: physical.version,
            exact_vertices: false,
            depth_limits: DepthLimits::default(),
            names: Names::default(),
            queues: OnceLock::new(),
            memory: Table::new(1),
            dedicated: Mutex::default(),
            buffers: Arc::new(Table::new(2)),
            buffer_views: Arc::new(Table::new(3)),
            images: Table::new(4),
            image_views: Arc::new(Table::new(5)),
            samplers: Arc::new(Table::new(6)),
            conversions: Table::new(24),
            set_layouts: Table::new(7),
            pools: Table::new(8),
            sets: Arc::new(Table::new(9)),
            pipeline_layouts: Table::new(10),
            shaders: Table::new(11),
            caches: Table::new(12),
            programs: Programs::default(),
            pipelines: Table::new(13),
            binaries: Table::new(25),
            captured: Mutex::default(),
            passes: Table::new(14),
            framebuffers: Table::new(15),
            command_pools: Table::new(16),
            fences: Table::new(17),
            semaphores: Table::new(18),
            events: Table::new(19),
            queries: Table::new(20),
            swapchains: Table::new(21),
            templates: Table::new(22),
            slots: Table::new(23),
            private: PrivateData::default(),
        };
        object.device.gpu().set_descriptor_resolver(Arc::new(NamedObjects::of(&object)));
        object
    }

    /// Returns the queues, in the order of the indices in each family.
    pub fn queues(&self) -> &[DeviceQueue] {
        self.queues.get().map_or(&[], |queues| queues)
    }

    /// Returns the messengers.
    pub fn messages(&self) -> &Messages {
        &self.device.health().messages
    }

    /// Returns the description of an object in messages.
    pub fn describe<H: vk::Handle + Copy>(&self, handle: H) -> String {
        self.names.describe(H::TYPE, handle.as_raw())
    }

    /// Returns a command buffer that queues of a family are to execute.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is no such command buffer, or if it is for another family: a
    /// message was sent.
    pub fn command_buffer<'c>(
        &self,
        call: Call<'c>,
        buffer: vk::CommandBuffer,
        family: u32,
    ) -> Result<&'c CommandBuffer> {
        let found = &CommandObject::from_handle(call, buffer).ok_or(Error::Unknown)?.buffer;
        if found.family != family {
            let (name, own) = (self.describe(buffer), found.family);
            self.messages().error(&format!("{name} is for queues of family {own}: expected family {family}"));
            return Err(Error::Unknown);
        }
        Ok(found)
    }

    /// Returns the commands of a command buffer unchanged, and sends a message if it was not
    /// executable.
    pub fn report_unless_executable<T>(&self, buffer: vk::CommandBuffer, commands: Result<T>) -> Result<T> {
        commands.inspect_err(|_| {
            self.messages().error(&format!(
                "{} is not executable: expected a command buffer whose recording ended, and which was not submitted \
                 yet if it is for one submission",
                self.describe(buffer)
            ));
        })
    }

    /// Removes an object from its table, and its name from the names of live objects.
    pub fn remove<T: Clone, H: vk::Handle + Copy>(&self, table: &Table<T>, handle: H) -> Option<T> {
        let removed = table.remove(handle.as_raw())?;
        self.forget(H::TYPE, handle.as_raw());
        if table.take_fallen() {
            process::give_memory_back();
        }
        Some(removed)
    }

    /// Returns true if objects have names or private data, which must be removed with them.
    pub fn has_notes(&self) -> bool {
        self.private.is_used() || self.names.is_used()
    }

    /// Removes the name and the private data of a removed object.
    pub fn forget(&self, kind: vk::ObjectType, handle: u64) {
        if self.has_notes() {
            self.private.forget(kind, handle);
            self.names.retire(kind, handle);
        }
    }
}

/// Returns the device of a handle.
///
/// # Errors
/// [`Error::DeviceLost`] if the handle is invalid, or the device belongs to a parent process.
pub fn device<'c>(call: Call<'c>, handle: vk::Device) -> Result<&'c DeviceObject> {
    let found = DeviceObject::from_handle(call, handle).filter(|object| !object.device.health().is_forked());
    found.ok_or(Error::DeviceLost)
}

impl<'c> Typed for &'c DeviceObject {
    type Raw = vk::Device;
    type Scope = Call<'c>;
}

impl<'c> Param for &'c DeviceObject {
    #[inline]
    fn translate(handle: vk::Device, call: Call<'c>) -> Result<Self> {
        device(call, handle)
    }
}

/// A queue with its device.
#[derive(Clone, Copy)]
pub struct Queue<'c> {
    /// The device.
    pub device: &'c DeviceObject,
    /// The queue.
    pub queue: &'c queue::Queue,
}

impl<'c> Typed for Queue<'c> {
    type Raw = vk::Queue;
    type Scope = Call<'c>;
}

impl<'c> Param for Queue<'c> {
    fn translate(handle: vk::Queue, call: Call<'c>) -> Result<Self> {
        let found = QueueObject::from_handle(call, handle).ok_or(Error::DeviceLost)?;
        Ok(Self { device: device(call, vk::Device::from_raw(found.device))?, queue: &found.queue })
    }
}

impl<'c> Typed for &'c CommandObject {
    type Raw = vk::CommandBuffer;
    type Scope = Call<'c>;
}

impl<'c> Param for &'c CommandObject {
    fn translate(handle: vk::CommandBuffer, call: Call<'c>) -> Result<Self> {
        CommandObject::from_handle(call, handle).ok_or(Error::Unknown)
    }
}

impl PanicTarget for vk::Device {
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        match DeviceObject::from_handle(call, self) {
            Some(object) => object.device.health().lose_by_panic(command, panic),
            None => return ().report(call, command, panic),
        }
        Error::DeviceLost
    }
}

impl PanicTarget for vk::Queue {
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        let device = QueueObject::from_handle(call, self).map_or(0, |object| object.device);
        vk::Device::from_raw(device).report(call, command, panic)
    }
}

impl PanicTarget for vk::CommandBuffer {
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        let device = CommandObject::from_handle(call, self).map_or(0, |object| object.device);
        vk::Device::from_raw(device).report(call, command, panic)
    }
}

impl PanicTarget for vk::PhysicalDevice {
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        match PhysicalObject::from_handle(call, self) {
            Some(object) => object.messages.error(&format!("{command}: {}", panics::describe(panic))),
            None => return ().report(call, command, panic),
        }
        Error::Unknown
    }
}

impl PanicTarget for vk::Instance {
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        let physical = InstanceObject::from_handle(call, self).map_or(0, |object| object.physical);
        vk::PhysicalDevice::from_raw(physical).report(call, command, panic)
    }
}

/// Returns the object of a handle.
///
/// # Errors
/// [`Error::Unknown`] if the handle is invalid: a message was sent.
pub fn need<T: Clone, H: vk::Handle + Copy>(device: &DeviceObject, table: &Table<T>, handle: H) -> Result<T> {
    need_with(device, table, handle, T::clone)
}

/// Calls `look` with the object of a handle. The object is not destroyed during the call.
///
/// # Errors
/// [`Error::Unknown`] if the handle is invalid: a message was sent.
pub fn need_with<T: Clone, H: vk::Handle + Copy, R>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
    look: impl FnOnce(&T) -> R,
) -> Result<R> {
    table.with(handle.as_raw(), look).ok_or_else(|| bad_handle(device, handle))
}

/// Sends the message that a handle is invalid.
#[cold]
pub fn bad_handle<H: vk::Handle + Copy>(device: &DeviceObject, handle: H) -> Error {
    device
        .messages()
        .error(&format!("{} is null, stale or foreign: expected a live handle of the device", device.describe(handle)));
    Error::Unknown
}

/// Returns the object of a handle, or `None` for a null handle.
///
/// # Errors
/// [`Error::Unknown`] if the handle is neither null nor valid: a message was sent.
pub fn optional<T: Clone, H: vk::Handle + Copy>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
) -> Result<Option<T>> {
    if handle.is_null() { Ok(None) } else { need(device, table, handle).map(Some) }
}

/// Returns the number of a handle that is valid or null.
///
/// # Errors
/// [`Error::Unknown`] if it is neither: a message was sent.
#[inline]
pub fn good<T: Clone, H: vk::Handle + Copy>(device: &DeviceObject, table: &Table<T>, handle: H) -> Result<u64> {
    match handle.is_null() || table.is_good(handle.as_raw()) {
        true => Ok(handle.as_raw()),
        false => Err(bad_handle(device, handle)),
    }
}

/// Destroys the object of a handle. A null handle is ignored, and an invalid one is reported.
pub fn destroy<T: Clone, H: vk::Handle + Copy>(device: &DeviceObject, table: &Table<T>, handle: H) {
    if !handle.is_null() && device.remove(table, handle).is_none() {
        device.messages().error(&format!(
            "{} is stale or foreign: expected a live handle of the device, or null",
            device.describe(handle)
        ));
    }
}
