//! Dispatchable objects, and the tables of non-dispatchable handles.
//!
//! A dispatchable handle points to a slot ([`crate::slots`]). Instances own tables of what belongs to them, devices theirs.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use parking_lot::Mutex;
use vitric_api::command::CommandBuffer;
use vitric_api::debug::{Messages, Names};
use vitric_api::descriptor::{DescriptorPool, Share};
use vitric_api::device::Device;
use vitric_api::pipeline::{PipelineCache, Programs, ShaderModule};
use vitric_api::queue::Queue;
use vitric_api::sync::{Fence, Semaphore};
use vitric_exec::runtime::{self, DescriptorSet, SetLayout};
use vitric_exec::texture::{Conversion, Sampler};
use vitric_gpu::command::{Event, QueryPool};
use vitric_gpu::pipeline::CompiledPipeline;
use vitric_gpu::state::{ComputePipeline, DepthLimits, PassDesc};
use vitric_memory::{Allocation, Buffer, BufferView, Heap, Surface, SurfaceView};

use crate::debug::Witness;
use crate::handles::{Retired, Table};
use crate::pipeline::graphics::Parts;
use crate::private::PrivateData;
pub use crate::slots::Marked;
use crate::{process, raw};

/// An instance.
pub struct InstanceObject {
    /// Its number among the instances of the process.
    pub number: u32,
    /// Messengers.
    pub messages: Arc<Messages>,
    /// The messenger of the instance's creation and destruction.
    pub witness: Witness,
    /// The one physical device, as a handle.
    pub physical: u64,
    /// Enabled extensions.
    pub extensions: Vec<String>,
    /// The version of Vulkan that the application is written for, without patch.
    pub version: u32,
    /// Numbers of messengers.
    pub messengers: Table<Arc<u64>>,
}

/// The physical device.
pub struct PhysicalObject {
    /// Number of the instance.
    pub instance: u32,
    /// Memory, which all its devices take from.
    pub heap: Arc<Heap>,
    /// Messengers of the instance.
    pub messages: Arc<Messages>,
    /// Extensions of the instance.
    pub extensions: Vec<String>,
    /// The instance's version of Vulkan.
    pub version: u32,
}

/// A queue.
pub struct QueueObject {
    /// The device, as a handle.
    pub device: u64,
    /// The queue itself.
    pub queue: Arc<Queue>,
}

/// A command buffer.
pub struct CommandObject {
    /// The device, as a handle.
    pub device: u64,
    /// The command buffer itself.
    pub buffer: Arc<CommandBuffer>,
}

/// A framebuffer.
pub struct Framebuffer {
    /// Attachments.
    pub views: Vec<Arc<SurfaceView>>,
    /// Layers.
    pub layers: u32,
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

/// A set, with its place in the pool that it came from.
#[derive(Clone)]
pub struct PoolSet {
    /// The set.
    pub set: Arc<DescriptorSet>,
    /// Number of its place.
    pub place: u32,
}

/// A pool, with the handles of its sets.
pub struct SetPool {
    /// Limits.
    pub pool: DescriptorPool,
    /// Sets that were allocated.
    pub sets: Places,
    /// Sets that were freed, for the next ones.
    pub retired: Vec<Retired>,
    /// The layout that was named last, and what one of its sets takes.
    pub last: Option<(vk::DescriptorSetLayout, Arc<SetLayout>, Share)>,
}

/// Handles of sets in their places, 0 where one was freed.
#[derive(Default)]
pub struct Places {
    handles: Vec<u64>,
    free: Vec<u32>,
}

impl Places {
    /// A place for a set.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.handles.push(0);
            self.handles.len() as u32 - 1
        })
    }

    /// Puts a set where its place is.
    pub fn put(&mut self, place: u32, handle: u64) {
        self.handles[place as usize] = handle;
    }

    /// Gives the place of a set back, if it is one of these.
    pub fn give_back(&mut self, place: u32, handle: u64) {
        if self.handles.get(place as usize) == Some(&handle) {
            self.put(place, 0);
            self.free.push(place);
        }
    }

    /// Takes all sets out.
    pub fn drain(&mut self) -> impl Iterator<Item = u64> {
        self.free.clear();
        self.handles.drain(..).filter(|&handle| handle != 0)
    }
}

/// What sets of a pipeline are made of.
#[derive(Default)]
pub struct PipelineLayout {
    /// Their layouts; none where the layout leaves a set open.
    pub sets: Vec<Option<Arc<SetLayout>>>,
}

/// What an update with a template writes.
pub struct UpdateTemplate {
    /// Rows: where descriptors go, and where their infos lie.
    pub entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// Where descriptors that are pushed with it go.
    pub point: vk::PipelineBindPoint,
}

/// A command pool: its command buffers, as handles.
pub struct CommandPool {
    /// Index of the family of queues that its command buffers are for.
    pub family: u32,
    /// Allocated command buffers.
    pub buffers: Mutex<HashSet<u64>>,
}

impl CommandPool {
    /// Takes all command buffers out.
    pub fn take(&self) -> impl Iterator<Item = vk::CommandBuffer> + use<> {
        std::mem::take(&mut *self.buffers.lock()).into_iter().map(vk::CommandBuffer::from_raw)
    }
}

/// The tables of what descriptors and commands name.
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

impl runtime::DescriptorResolver for NamedObjects {
    fn buffer(&self, name: u64) -> Option<Arc<Buffer>> {
        self.buffers.get(name)
    }

    fn texels(&self, name: u64) -> Option<Arc<BufferView>> {
        self.buffer_views.get(name)
    }

    fn image(&self, name: u64) -> Option<Arc<SurfaceView>> {
        self.image_views.get(name)
    }

    fn sampler(&self, name: u64) -> Option<Arc<Sampler>> {
        self.samplers.get(name)
    }

    fn set(&self, name: u64) -> Option<Arc<DescriptorSet>> {
        self.sets.with(name, |found| found.set.clone())
    }
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
    /// Whether messengers hear of addresses that objects get and lose.
    pub reports_addresses: bool,
    /// Whether layers of a barrier's range may be slices of a volume (`VK_KHR_maintenance9`).
    pub slices_are_layers: bool,
    /// Whether `robustBufferAccess2` is enabled: what pipelines do that do not say.
    pub exact_vertices: bool,
    /// What depths are clamped to where pipelines do not clamp them.
    pub depth_limits: DepthLimits,
    /// What messages call the objects in the tables.
    pub names: Names,
    /// By families, in the order of their indices there.
    pub queues: OnceLock<Vec<(u32, u64)>>,
    pub memory: Table<Arc<Allocation>>,
    /// Memory for one resource, and that resource, as handles.
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
    /// Programs that are alive.
    pub programs: Programs,
    pub pipelines: Table<Pipeline>,
    pub passes: Table<Arc<PassDesc>>,
    pub framebuffers: Table<Arc<Framebuffer>>,
    pub command_pools: Table<Arc<CommandPool>>,
    pub fences: Table<Arc<Fence>>,
    pub semaphores: Table<Arc<Semaphore>>,
    pub events: Table<Arc<Event>>,
    pub queries: Table<Arc<QueryPool>>,
    pub swapchains: Table<Arc<crate::wsi::SwapchainEntry>>,
    pub slots: Table<Arc<()>>,
    /// The application's own data.
    pub private: PrivateData,
}

impl DeviceObject {
    /// A device with empty tables.
    pub fn new(device: Device, physical: &PhysicalObject, mut extensions: Vec<String>) -> Self {
        extensions.extend_from_slice(&physical.extensions);
        let object = Self {
            device,
            instance: physical.instance,
            reports_addresses: false,
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
        object.device.gpu().set_names(Arc::new(NamedObjects::of(&object)));
        object
    }

    /// The queues, by families, in the order of their indices there.
    pub fn queues(&self) -> &[(u32, u64)] {
        self.queues.get().map_or(&[], |queues| queues)
    }

    /// Messengers.
    pub fn messages(&self) -> &Messages {
        &self.device.health().messages
    }

    /// What messages call an object.
    pub fn describe<H: vk::Handle + Copy>(&self, handle: H) -> String {
        self.names.describe(H::TYPE, handle.as_raw())
    }

    /// Removes an object from its table, and its name from those in use.
    pub fn remove<T: Clone, H: vk::Handle + Copy>(&self, table: &Table<T>, handle: H) -> Option<T> {
        let removed = table.remove(handle.as_raw())?;
        self.forget(H::TYPE, handle.as_raw());
        if table.take_fallen() {
            process::give_memory_back();
        }
        Some(removed)
    }

    /// Whether anything is known of objects that is forgotten with them.
    pub fn remembers(&self) -> bool {
        self.private.is_used() || self.names.is_used()
    }

    /// Forgets what is known of an object that was removed.
    pub fn forget(&self, kind: vk::ObjectType, handle: u64) {
        if self.remembers() {
            self.private.forget(kind, handle);
            self.names.retire(kind, handle);
        }
    }
}

/// The device of a handle, which is lost in a forked process, and when it was destroyed.
pub fn device<'a>(handle: vk::Device) -> vitric_api::Result<&'a DeviceObject> {
    DeviceObject::from_handle(handle)
        .filter(|object| !object.device.health().is_forked())
        .ok_or(vitric_api::Error::DeviceLost)
}

/// The queue of a handle, and its device, which are lost as that is.
pub fn queue<'a>(handle: vk::Queue) -> vitric_api::Result<(&'a DeviceObject, &'a QueueObject)> {
    let found = QueueObject::from_handle(handle).ok_or(vitric_api::Error::DeviceLost)?;
    Ok((device(vk::Device::from_raw(found.device))?, found))
}

/// The object of a handle that must be good: a message and an error when it is not.
pub fn need<T: Clone, H: vk::Handle + Copy>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
) -> vitric_api::Result<T> {
    need_with(device, table, handle, T::clone)
}

/// Has something look at the object of a handle that must be good, which is not destroyed before that ends.
pub fn need_with<T: Clone, H: vk::Handle + Copy, R>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
    look: impl FnOnce(&T) -> R,
) -> vitric_api::Result<R> {
    table.with(handle.as_raw(), look).ok_or_else(|| bad_handle(device, handle))
}

/// Sends the message that a handle is not good.
#[cold]
pub fn bad_handle<H: vk::Handle + Copy>(device: &DeviceObject, handle: H) -> vitric_api::Error {
    device.messages().error(&format!("{} is null, stale or foreign", device.describe(handle)));
    vitric_api::Error::Unknown
}

/// The object of a handle that may be null.
pub fn optional<T: Clone, H: vk::Handle + Copy>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
) -> vitric_api::Result<Option<T>> {
    if handle.is_null() { Ok(None) } else { need(device, table, handle).map(Some) }
}

/// The name of a handle that is good, or null.
#[inline]
pub fn good<T: Clone, H: vk::Handle + Copy>(
    device: &DeviceObject,
    table: &Table<T>,
    handle: H,
) -> vitric_api::Result<u64> {
    match handle.is_null() || table.is_good(handle.as_raw()) {
        true => Ok(handle.as_raw()),
        false => Err(bad_handle(device, handle)),
    }
}

/// Destroys the object of a handle; null is ignored, and a bad handle reported.
pub fn destroy<T: Clone, H: vk::Handle + Copy>(
    device: vk::Device,
    table: impl Fn(&DeviceObject) -> &Table<T>,
    handle: H,
) {
    raw::guard_void(|| {
        let Ok(object) = self::device(device) else { return };
        if !handle.is_null() && object.remove(table(object), handle).is_none() {
            object.messages().error(&format!("{} is stale or foreign", object.describe(handle)));
        }
    });
}
