//! The helper layer of the samples: a device, its objects and its commands, with no `unsafe` left
//! for the scenes.
//!
//! A [`Gpu`] owns every object until it is dropped, so a handle in a scene cannot dangle.
//! Submissions are waited for, so no object is destroyed while it is in use. The tests run every
//! scene under the validation layer, which checks what this layer cannot: layouts, usage flags and
//! synchronisation. Source: Vulkan 1.0 specification, core only.

mod commands;
mod pass;
mod pipeline;
mod resource;
mod setup;
mod usage;

pub use commands::Commands;
pub use pass::{Attachment, Pass, PassDesc, SubpassDesc, Target};
pub use pipeline::{Bind, Binding, Blend, ComputeDesc, GraphicsDesc, Layout, Patches, Pipeline, Set, VertexInput};
pub use resource::{Buffer, Image, ImageDesc, SamplerDesc};
pub use setup::GpuOptions;
pub use usage::Use;

use crate::error::{Named, Result};
use ash::vk;
use std::cell::RefCell;

/// A device with one queue, and the owner of everything made on it.
pub struct Gpu {
    setup: setup::Setup,
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    fence: vk::Fence,
    owned: RefCell<Vec<Owned>>,
    /// Passes store all attachments.
    stores_all: bool,
}

/// An object to be destroyed with the device, in the reverse order of creation.
enum Owned {
    Buffer(vk::Buffer),
    Image(vk::Image),
    View(vk::ImageView),
    Memory(vk::DeviceMemory),
    Sampler(vk::Sampler),
    Pipeline(vk::Pipeline),
    Layout(vk::PipelineLayout),
    SetLayout(vk::DescriptorSetLayout),
    DescriptorPool(vk::DescriptorPool),
    RenderPass(vk::RenderPass),
    Framebuffer(vk::Framebuffer),
}

impl Gpu {
    /// Creates an instance and a device on the first physical device that can draw and compute.
    pub fn new(entry: &ash::Entry, options: &GpuOptions) -> Result<Gpu> {
        let setup = setup::Setup::new(entry, options)?;
        let device = setup.create_device()?;
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(setup.family);
        // SAFETY: the device is live and has one queue in this family; the create infos are
        // complete.
        let (queue, pool, fence) = unsafe {
            (
                device.get_device_queue(setup.family, 0),
                device.create_command_pool(&pool_info, None).named("vkCreateCommandPool")?,
                device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?,
            )
        };
        Ok(Gpu { setup, device, queue, pool, fence, owned: RefCell::new(Vec::new()), stores_all: options.stores_all })
    }

    /// Returns the device's name from the driver.
    pub fn name(&self) -> &str {
        &self.setup.name
    }

    /// Returns the device's limits.
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.setup.limits
    }

    /// Returns the enabled features: the wanted features in `setup.rs` that the device supports.
    pub fn features(&self) -> &vk::PhysicalDeviceFeatures {
        &self.setup.features
    }

    /// Returns the messages of the validation layer, if it is enabled.
    pub fn messages(&self) -> Vec<String> {
        self.setup.messages()
    }

    /// Records one command buffer, runs it and waits for its end.
    pub fn submit<F>(&self, record: F) -> Result<()>
    where
        F: FnOnce(&Commands<'_>) -> Result<()>,
    {
        let raw = self.begin_commands()?;
        let recorded = record(&Commands::new(self, raw));
        let done = recorded.and_then(|()| self.finish(raw));
        // SAFETY: the command buffer is no longer pending: `finish` waited for it, or it was never
        // submitted.
        unsafe { self.device.free_command_buffers(self.pool, &[raw]) };
        done
    }

    fn begin_commands(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool is live and used from this thread only (`Gpu` is not `Sync`).
        unsafe {
            let raw = self.device.allocate_command_buffers(&info).named("vkAllocateCommandBuffers")?[0];
            self.device.begin_command_buffer(raw, &begin).named("vkBeginCommandBuffer")?;
            Ok(raw)
        }
    }

    fn finish(&self, raw: vk::CommandBuffer) -> Result<()> {
        let buffers = [raw];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the buffer is in the recording state, the fence unsignalled; both stay live
        // until the wait ends.
        unsafe {
            self.device.end_command_buffer(raw).named("vkEndCommandBuffer")?;
            self.device.queue_submit(self.queue, &[submit], self.fence).named("vkQueueSubmit")?;
            self.device.wait_for_fences(&[self.fence], true, u64::MAX).named("vkWaitForFences")?;
            self.device.reset_fences(&[self.fence]).named("vkResetFences")
        }
    }

    fn own(&self, object: Owned) {
        self.owned.borrow_mut().push(object);
    }

    fn destroy(&self, object: Owned) {
        let d = &self.device;
        // SAFETY: called from `drop` after the device became idle, once per object, dependants
        // first.
        unsafe {
            match object {
                Owned::Buffer(x) => d.destroy_buffer(x, None),
                Owned::Image(x) => d.destroy_image(x, None),
                Owned::View(x) => d.destroy_image_view(x, None),
                Owned::Memory(x) => d.free_memory(x, None),
                Owned::Sampler(x) => d.destroy_sampler(x, None),
                Owned::Pipeline(x) => d.destroy_pipeline(x, None),
                Owned::Layout(x) => d.destroy_pipeline_layout(x, None),
                Owned::SetLayout(x) => d.destroy_descriptor_set_layout(x, None),
                Owned::DescriptorPool(x) => d.destroy_descriptor_pool(x, None),
                Owned::RenderPass(x) => d.destroy_render_pass(x, None),
                Owned::Framebuffer(x) => d.destroy_framebuffer(x, None),
            }
        }
    }

    /// Destroys the device and its objects now, and returns every message of the validation layer,
    /// including those about the destruction itself.
    pub fn close(self) -> Vec<String> {
        let log = self.setup.log();
        drop(self);
        log.map(|log| log.take()).unwrap_or_default()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the device is live; a failure (a lost device) still allows destruction.
        let _ = unsafe { self.device.device_wait_idle() };
        let owned = std::mem::take(&mut *self.owned.borrow_mut());
        owned.into_iter().rev().for_each(|object| self.destroy(object));
        // SAFETY: the device is idle and everything else made from it is gone; `setup` drops the
        // instance after.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}
