//! Helpers of cases: a device, buffers, images, and compute and render helpers that wait for every
//! submission.
//!
//! Objects of a case live until its process ends. A process runs one small group. Source: Vulkan
//! 1.0 core, and extensions.

mod devices;
mod features;

use std::ffi::{CStr, CString};

use ash::vk;

pub use features::Features;
use vitric_vulkan::Vocabulary;

/// Reason why a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The result differs from the specification.
    Fail(String),
    /// The device lacks a feature that the case tests.
    NotSupported(String),
}

impl From<vk::Result> for Outcome {
    fn from(code: vk::Result) -> Self {
        Self::Fail(format!("a command returned {code:?}"))
    }
}

/// Result of a case.
pub type Case = Result<(), Outcome>;

/// Fails a case unless a condition holds.
pub fn check(condition: bool, message: impl FnOnce() -> String) -> Case {
    if condition { Ok(()) } else { Err(Outcome::Fail(message())) }
}

/// A device with everything that cases share.
#[expect(missing_docs, reason = "the fields are Vulkan's objects")]
pub struct Gpu {
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub pool: vk::CommandPool,
    pub features: vk::PhysicalDeviceFeatures,
    pub extension_features: Box<Features>,
    pub properties: vk::PhysicalDeviceProperties,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// Enabled extensions.
    pub extensions: Vec<&'static CStr>,
    /// True if submissions, command buffers and images are protected.
    pub is_protected: bool,
    pub entry: ash::Entry,
}

/// A mapped buffer.
#[derive(Clone, Copy)]
pub struct Buffer {
    /// Handle.
    pub handle: vk::Buffer,
    /// Size in bytes.
    pub size: u64,
    pointer: *mut u8,
}

/// An image with a view of all of it.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    pub extent: vk::Extent3D,
    pub aspects: vk::ImageAspectFlags,
    pub levels: u32,
}

/// A layout transition of every level of an image.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct Transition<'a> {
    pub image: &'a Image,
    pub from: vk::ImageLayout,
    pub to: vk::ImageLayout,
}

/// Objects that are bound to run a compute shader.
#[expect(missing_docs, reason = "the fields are Vulkan's objects")]
pub struct Compute {
    pub pipeline: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
}

/// Description of an image.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "plain description")]
pub struct ImageDesc {
    pub format: vk::Format,
    pub size: [u32; 2],
    pub levels: u32,
    pub samples: vk::SampleCountFlags,
    pub usage: vk::ImageUsageFlags,
    pub aspects: vk::ImageAspectFlags,
}

impl ImageDesc {
    /// Returns the description of a colour image of one level and one sample.
    pub fn color(format: vk::Format, size: [u32; 2], usage: vk::ImageUsageFlags) -> Self {
        let samples = vk::SampleCountFlags::TYPE_1;
        Self { format, size, levels: 1, samples, usage, aspects: vk::ImageAspectFlags::COLOR }
    }
}

/// Type of storage buffer descriptors.
pub const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

impl Gpu {
    /// Returns a command of the device that is newer than `ash`, by its name and raw type.
    ///
    /// # Errors
    /// The device has no such command.
    pub fn command<P: Vocabulary>(&self, name: &CStr) -> Result<P::Own, Outcome> {
        // SAFETY: the name is a C string, and function pointers have one size. Callers name the
        // type that belongs to the name.
        unsafe {
            let found = self.instance.get_device_proc_addr(self.device.handle(), name.as_ptr());
            let found = found.ok_or_else(|| Outcome::Fail(format!("{} is missing", text(name))))?;
            Ok(std::mem::transmute_copy(&found))
        }
    }

    /// Returns true if the device has an extension.
    pub fn has(&self, extension: &CStr) -> bool {
        self.extensions.contains(&extension)
    }

    /// Ends a case unless the device has an extension.
    pub fn need(&self, extension: &CStr) -> Case {
        match self.has(extension) {
            true => Ok(()),
            false => Err(Outcome::NotSupported(text(extension))),
        }
    }

    /// Fills in a structure of properties of an extension or of a version of Vulkan.
    pub fn properties2(&self, own: &mut impl vk::ExtendsPhysicalDeviceProperties2) {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(own);
        let query = ash::khr::get_physical_device_properties2::Instance::new(&self.entry, &self.instance);
        // SAFETY: cases run on instances that have the command, and the chain lives as long as the
        // call.
        unsafe { query.get_physical_device_properties2(self.physical, &mut all) };
    }

    /// Returns the device's name.
    pub fn name(&self) -> String {
        self.properties
            .device_name_as_c_str()
            .map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
    }

    /// Allocates memory for requirements, host-visible if `visible` is set.
    pub fn allocate(&self, needs: vk::MemoryRequirements, visible: bool) -> Result<vk::DeviceMemory, Outcome> {
        self.allocate_with(needs, visible, vk::MemoryAllocateFlags::empty())
    }

    fn allocate_with(
        &self,
        needs: vk::MemoryRequirements,
        visible: bool,
        flags: vk::MemoryAllocateFlags,
    ) -> Result<vk::DeviceMemory, Outcome> {
        let wanted = match visible {
            true => vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
            false => vk::MemoryPropertyFlags::empty(),
        };
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        let fits = |(index, kind): &(usize, &vk::MemoryType)| {
            needs.memory_type_bits >> index & 1 != 0 && kind.property_flags.contains(wanted)
        };
        let found = types.iter().enumerate().find(fits);
        let (index, _) = found.ok_or(Outcome::Fail("no memory type fits".into()))?;
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
        if !flags.flags.is_empty() {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the info is valid.
        Ok(unsafe { self.device.allocate_memory(&info, None) }?)
    }

    /// Creates a mapped, zeroed buffer of every usage.
    pub fn buffer(&self, size: u64) -> Result<Buffer, Outcome> {
        self.make_buffer(size, false)
    }

    /// Creates a mapped, zeroed buffer of every usage, with a device address.
    pub fn addressed(&self, size: u64) -> Result<Buffer, Outcome> {
        self.make_buffer(size, true)
    }

    fn make_buffer(&self, size: u64, has_address: bool) -> Result<Buffer, Outcome> {
        let mut usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
            | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let mut flags = vk::MemoryAllocateFlags::empty();
        if has_address {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
            flags = vk::MemoryAllocateFlags::DEVICE_ADDRESS;
        }
        if self.has(vk::EXT_CONDITIONAL_RENDERING_NAME) {
            usage |= vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT;
        }
        if self.has(vk::EXT_TRANSFORM_FEEDBACK_NAME) {
            usage |= vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT
                | vk::BufferUsageFlags::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT;
        }
        self.buffer_with_memory(&vk::BufferCreateInfo::default().size(size).usage(usage), flags)
    }

    /// Creates a mapped, zeroed buffer of the given usage.
    pub fn buffer_of(&self, info: &vk::BufferCreateInfo<'_>) -> Result<Buffer, Outcome> {
        self.buffer_with_memory(info, vk::MemoryAllocateFlags::empty())
    }

    /// Creates a mapped, zeroed buffer with memory that is allocated with these flags.
    ///
    /// # Errors
    /// The buffer cannot be created.
    pub fn buffer_with_memory(
        &self,
        info: &vk::BufferCreateInfo<'_>,
        flags: vk::MemoryAllocateFlags,
    ) -> Result<Buffer, Outcome> {
        let size = info.size;
        // SAFETY: valid infos; memory is bound once; the whole buffer is mapped and written before
        // anyone reads it.
        unsafe {
            let handle = self.device.create_buffer(info, None)?;
            let memory = self.allocate_with(self.device.get_buffer_memory_requirements(handle), true, flags)?;
            self.device.bind_buffer_memory(handle, memory, 0)?;
            let pointer = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
            pointer.write_bytes(0, size as usize);
            Ok(Buffer { handle, size, pointer })
        }
    }

    /// Creates a mapped buffer with this content.
    pub fn buffer_with<T: bytemuck::Pod>(&self, data: &[T]) -> Result<Buffer, Outcome> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.buffer(bytes.len() as u64)?;
        buffer.write(bytes);
        Ok(buffer)
    }

    /// Creates a buffer of these words, which may have a device address.
    pub fn buffer_of_words(&self, words: &[u32], has_address: bool) -> Result<Buffer, Outcome> {
        let buffer = self.make_buffer(4 * words.len() as u64, has_address)?;
        buffer.write(bytemuck::cast_slice(words));
        Ok(buffer)
    }

    /// Creates a buffer with this content, and a texel buffer view of it.
    pub fn texel_buffer(&self, format: vk::Format, content: &[u8]) -> Result<vk::BufferView, Outcome> {
        let buffer = self.buffer_with(content)?;
        let info = vk::BufferViewCreateInfo::default().buffer(buffer.handle).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: the info is valid.
        Ok(unsafe { self.device.create_buffer_view(&info, None) }?)
    }

    /// Creates an image and binds it to memory.
    pub fn image(&self, desc: &ImageDesc) -> Result<Image, Outcome> {
        let extent = vk::Extent3D { width: desc.size[0], height: desc.size[1], depth: 1 };
        let flags = if self.is_protected { vk::ImageCreateFlags::PROTECTED } else { vk::ImageCreateFlags::empty() };
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(extent)
            .mip_levels(desc.levels)
            .array_layers(1)
            .samples(desc.samples)
            .usage(desc.usage);
        self.viewed_image(desc, &info)
    }

    /// Creates an image like [`Self::image`] in rows of texels, whose first texel and distance of
    /// rows are given in bytes.
    pub fn image_in_rows(&self, desc: &ImageDesc, [offset, row_pitch]: [u64; 2]) -> Result<Image, Outcome> {
        self.need(vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME)?;
        let planes = [vk::SubresourceLayout { offset, row_pitch, ..Default::default() }];
        let mut placed = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().plane_layouts(&planes);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(vk::Extent3D { width: desc.size[0], height: desc.size[1], depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
            .usage(desc.usage)
            .push_next(&mut placed);
        self.viewed_image(desc, &info)
    }

    /// Creates an image in memory of its own, with a view if a usage needs one.
    fn viewed_image(&self, desc: &ImageDesc, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Outcome> {
        let extent = info.extent;
        let range = range(desc.aspects, 0, desc.levels);
        let handle = self.bound_image(info)?;
        let needs_view = desc.usage.intersects(
            vk::ImageUsageFlags::SAMPLED
                | vk::ImageUsageFlags::COLOR_ATTACHMENT
                | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
                | vk::ImageUsageFlags::INPUT_ATTACHMENT,
        );
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(desc.format)
            .subresource_range(range);
        // SAFETY: the info is valid.
        let view = if needs_view { unsafe { self.device.create_image_view(&info, None) }? } else { Default::default() };
        Ok(Image { handle, view, extent, aspects: desc.aspects, levels: desc.levels })
    }

    /// Creates an image and binds it to memory of its own.
    pub fn bound_image(&self, info: &vk::ImageCreateInfo<'_>) -> Result<vk::Image, Outcome> {
        // SAFETY: the caller's info is valid.
        let image = unsafe { self.device.create_image(info, None) }?;
        self.bind_image(image)?;
        Ok(image)
    }

    /// Binds an image to memory of its own.
    pub fn bind_image(&self, image: vk::Image) -> Case {
        // SAFETY: callers bind each image once.
        unsafe {
            let memory = self.allocate(self.device.get_image_memory_requirements(image), false)?;
            Ok(self.device.bind_image_memory(image, memory, 0)?)
        }
    }

    /// Records commands with `record`, submits them, and waits for their end.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Outcome> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the command buffer is recorded, submitted once, and waited for.
        unsafe {
            let commands = self.device.allocate_command_buffers(&info)?;
            self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(commands[0]);
            self.device.end_command_buffer(commands[0])?;
            let mut protection = vk::ProtectedSubmitInfo::default().protected_submit(true);
            let mut submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            if self.is_protected {
                submits[0] = submits[0].push_next(&mut protection);
            }
            self.device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queue)?;
            self.device.free_command_buffers(self.pool, &commands);
        }
        Ok(())
    }

    /// Moves all of a new colour image to the general layout.
    pub fn to_general(&self, image: vk::Image) -> Case {
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: vk::REMAINING_MIP_LEVELS,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
            ..Default::default()
        };
        let general = vk::ImageLayout::GENERAL;
        let barrier = vk::ImageMemoryBarrier::default().new_layout(general).image(image).subresource_range(range);
        let (stages, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        self.run(|commands| {
            // SAFETY: the command buffer is recording.
            unsafe { self.device.cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &[barrier]) };
        })
    }

    /// Makes all earlier writes visible to all later commands, and performs a layout transition if
    /// one is given.
    pub fn barrier(&self, commands: vk::CommandBuffer, transition: Option<Transition<'_>>) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let (write, read) =
            (vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let memory = [vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(read)];
        let images: Vec<vk::ImageMemoryBarrier<'_>> = transition
            .into_iter()
            .map(|Transition { image, from, to }| {
                vk::ImageMemoryBarrier::default()
                    .src_access_mask(write)
                    .dst_access_mask(read)
                    .old_layout(from)
                    .new_layout(to)
                    .image(image.handle)
                    .subresource_range(range(image.aspects, 0, image.levels))
            })
            .collect();
        // SAFETY: the command buffer is recording outside of a render pass.
        unsafe {
            let none = vk::DependencyFlags::empty();
            self.device.cmd_pipeline_barrier(commands, all, all, none, &memory, &[], &images);
        }
    }

    /// Creates a shader module.
    pub fn module(&self, code: &[u8]) -> Result<vk::ShaderModule, Outcome> {
        let words: Vec<u32> =
            code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        // SAFETY: the code is a valid module, made by glslang.
        Ok(unsafe { self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }?)
    }

    /// Creates a set layout and a set with the given descriptor types, one for each binding.
    pub fn set(&self, kinds: &[vk::DescriptorType]) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
        self.set_for(kinds, vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT)
    }

    /// Creates a set layout and a set for the given stages.
    pub fn set_for(
        &self,
        kinds: &[vk::DescriptorType],
        stages: vk::ShaderStageFlags,
    ) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
        let binding = |(number, &kind): (usize, &vk::DescriptorType)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number as u32)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(stages)
        };
        let bindings: Vec<_> = kinds.iter().enumerate().map(binding).collect();
        self.set_of(kinds, &bindings)
    }

    /// Creates a set of one image with an immutable sampler, for fragments.
    pub fn set_with_sampler(
        &self,
        sampler: vk::Sampler,
    ) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
        let (kind, samplers) = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, [sampler]);
        let binding = vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)
            .immutable_samplers(&samplers);
        self.set_of(&[kind], &[binding.descriptor_count(1)])
    }

    /// Creates a set of these bindings, each of one descriptor.
    ///
    /// # Errors
    /// The set cannot be created.
    pub fn set_of(
        &self,
        kinds: &[vk::DescriptorType],
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    ) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
        let sizes: Vec<_> = kinds.iter().map(|&ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 }).collect();
        // SAFETY: valid infos.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
            let layout = self.device.create_descriptor_set_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.device.create_descriptor_pool(&info, None)?;
            let layouts = [layout];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            Ok((layout, self.device.allocate_descriptor_sets(&info)?[0]))
        }
    }

    /// Creates a pipeline layout with 48 bytes of push constants for every stage.
    pub fn layout(&self, sets: &[vk::DescriptorSetLayout]) -> Result<vk::PipelineLayout, Outcome> {
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::ALL, offset: 0, size: 48 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets).push_constant_ranges(&push);
        // SAFETY: the info is valid.
        Ok(unsafe { self.device.create_pipeline_layout(&info, None) }?)
    }

    /// Runs a compute shader with storage buffers at bindings 0 and up, specialization constant 0,
    /// and push constants.
    pub fn compute(&self, code: &[u8], constant: i32, push: &[u8], buffers: &[Buffer], groups: [u32; 3]) -> Case {
        let buffers: Vec<_> = buffers.iter().map(|&buffer| (STORAGE, buffer)).collect();
        self.dispatch(&self.compute_pipeline(code, constant, &buffers)?, push, groups)
    }

    /// Runs a compute pipeline once, with push constants.
    pub fn dispatch(&self, compute: &Compute, push: &[u8], groups: [u32; 3]) -> Case {
        self.run(|commands| {
            self.bind_compute(commands, compute, push);
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe { self.device.cmd_dispatch(commands, groups[0], groups[1], groups[2]) };
            self.barrier(commands, None);
        })
    }

    /// Creates a compute pipeline with buffers of these types at bindings 0 and up, and
    /// specialization constant 0.
    pub fn compute_pipeline(
        &self,
        code: &[u8],
        constant: i32,
        buffers: &[(vk::DescriptorType, Buffer)],
    ) -> Result<Compute, Outcome> {
        let kinds: Vec<_> = buffers.iter().map(|(kind, _)| *kind).collect();
        let (set_layout, set) = self.set(&kinds)?;
        let infos: Vec<[vk::DescriptorBufferInfo; 1]> = buffers
            .iter()
            .map(|(_, buffer)| [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }])
            .collect();
        let writes: Vec<_> = infos
            .iter()
            .zip(&kinds)
            .enumerate()
            .map(|(binding, (info, &kind))| {
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
                write.descriptor_type(kind).buffer_info(info)
            })
            .collect();
        // SAFETY: the set is new.
        unsafe { self.device.update_descriptor_sets(&writes, &[]) };
        self.compute_with(code, Some(constant), (set_layout, set))
    }

    /// Creates a compute pipeline for a set, with a value of specialization constant 0.
    pub fn compute_with(
        &self,
        code: &[u8],
        constant: Option<i32>,
        (set_layout, set): (vk::DescriptorSetLayout, vk::DescriptorSet),
    ) -> Result<Compute, Outcome> {
        let layout = self.layout(&[set_layout])?;
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let data = constant.unwrap_or_default().to_le_bytes();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module(code)?)
            .name(c"main");
        if constant.is_some() {
            stage = stage.specialization_info(&specialization);
        }
        let flags = match self.has(vk::KHR_DEVICE_GROUP_NAME) {
            true => vk::PipelineCreateFlags::DISPATCH_BASE,
            false => vk::PipelineCreateFlags::empty(),
        };
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).flags(flags)];
        // SAFETY: the info is valid.
        let made = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        Ok(Compute { pipeline: made.map_err(|(_, code)| code)?[0], layout, set })
    }

    /// Binds a compute pipeline and its set, with push constants.
    pub fn bind_compute(&self, commands: vk::CommandBuffer, compute: &Compute, push: &[u8]) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, compute.pipeline);
            self.device.cmd_bind_descriptor_sets(commands, point, compute.layout, 0, &[compute.set], &[]);
            if !push.is_empty() {
                self.device.cmd_push_constants(commands, compute.layout, vk::ShaderStageFlags::ALL, 0, push);
            }
        }
    }

    /// Returns the tightly packed texels of level 0 of one aspect of an image in the transfer
    /// source layout.
    pub fn read_image(
        &self,
        image: &Image,
        aspect: vk::ImageAspectFlags,
        texel_bytes: u32,
    ) -> Result<Vec<u8>, Outcome> {
        let vk::Extent3D { width, height, depth } = image.extent;
        let size = [width, height, depth, texel_bytes].into_iter().map(u64::from).product();
        let buffer = self.buffer(size)?;
        let region = whole(image, aspect);
        self.run(|commands| {
            // SAFETY: the image is in the source layout, and the buffer holds all of the region.
            unsafe {
                let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                self.device.cmd_copy_image_to_buffer(commands, image.handle, layout, buffer.handle, &[region]);
            }
            self.barrier(commands, None);
        })?;
        Ok(buffer.read(0, size as usize))
    }

    /// Fills level 0 of an image and leaves it in `layout`.
    pub fn write_image(
        &self,
        image: &Image,
        aspect: vk::ImageAspectFlags,
        data: &[u8],
        layout: vk::ImageLayout,
    ) -> Case {
        let buffer = self.buffer_with(data)?;
        let region = whole(image, aspect);
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        self.run(|commands| {
            self.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: target }));
            // SAFETY: the image is in the target layout, and the buffer holds all of the region.
            unsafe { self.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, target, &[region]) };
            self.barrier(commands, Some(Transition { image, from: target, to: layout }));
        })
    }
}

impl Buffer {
    /// Wraps a buffer that is not mapped. It can be bound, but not read or written here.
    pub fn of(handle: vk::Buffer, size: u64) -> Self {
        Self { handle, size, pointer: std::ptr::null_mut() }
    }

    /// Returns the null buffer.
    pub fn null() -> Self {
        Self { handle: vk::Buffer::null(), size: 0, pointer: std::ptr::null_mut() }
    }

    /// Writes bytes at the start.
    pub fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() as u64 <= self.size);
        // SAFETY: the buffer is mapped for its whole size, and no submission is running.
        unsafe { self.pointer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Reads bytes.
    pub fn read(&self, offset: usize, count: usize) -> Vec<u8> {
        assert!((offset + count) as u64 <= self.size);
        // SAFETY: the buffer is mapped for its whole size, and no submission is running.
        unsafe { std::slice::from_raw_parts(self.pointer.add(offset), count) }.to_vec()
    }

    /// Returns the contents as words.
    pub fn words(&self) -> Vec<u32> {
        let bytes = self.read(0, self.size as usize);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// Returns the contents as floats.
    pub fn floats(&self) -> Vec<f32> {
        self.words().into_iter().map(f32::from_bits).collect()
    }
}

/// Returns a range of levels of the first layer.
pub fn range(aspect_mask: vk::ImageAspectFlags, base_mip_level: u32, level_count: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask, base_mip_level, level_count, base_array_layer: 0, layer_count: 1 }
}

/// Returns the copy of level 0 of an image, tightly packed.
pub fn whole(image: &Image, aspect: vk::ImageAspectFlags) -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: layers(aspect), image_extent: image.extent, ..Default::default() }
}

/// Returns level 0 of layer 0.
pub fn layers(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer: 0, layer_count: 1 }
}

/// Converts a name to a C string.
pub fn c_name(name: &str) -> CString {
    CString::new(name).unwrap_or_default()
}

/// Converts a C string to text.
pub fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
