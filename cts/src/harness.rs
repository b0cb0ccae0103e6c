//! What cases are written with: one device, buffers, images, compute and render helpers that wait for every submission.
//!
//! Everything a case makes lives until its process or group ends; a group is small. Source: Vulkan 1.0 core.

use std::ffi::{CStr, CString};

use ash::vk;

/// Why a case did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The result is not what the specification says.
    Fail(String),
    /// The device does not offer what the case is about.
    NotSupported(String),
}

impl From<vk::Result> for Outcome {
    fn from(code: vk::Result) -> Self {
        Self::Fail(format!("a command returned {code:?}"))
    }
}

/// What a case returns.
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
    pub more: MoreFeatures,
    pub properties: vk::PhysicalDeviceProperties,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// Extensions that cases use, as far as there are.
    pub extensions: Vec<&'static CStr>,
    pub entry: ash::Entry,
}

/// Features of extensions, all of which are enabled.
#[derive(Default)]
#[expect(missing_docs, reason = "the fields are Vulkan's structures")]
pub struct MoreFeatures {
    pub lines: vk::PhysicalDeviceLineRasterizationFeaturesKHR<'static>,
    pub bias_control: vk::PhysicalDeviceDepthBiasControlFeaturesEXT<'static>,
    pub clip_control: vk::PhysicalDeviceDepthClipControlFeaturesEXT<'static>,
    pub depth_clip: vk::PhysicalDeviceDepthClipEnableFeaturesEXT<'static>,
    pub bytes: vk::PhysicalDeviceIndexTypeUint8FeaturesKHR<'static>,
    pub list_restart: vk::PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT<'static>,
    pub provoking: vk::PhysicalDeviceProvokingVertexFeaturesEXT<'static>,
    pub divisors: vk::PhysicalDeviceVertexAttributeDivisorFeaturesKHR<'static>,
}

impl MoreFeatures {
    /// Calls `with` with the features of 1.0 and the chain of those of these extensions.
    fn chained<T>(&mut self, extensions: &[&CStr], with: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> T) -> T {
        let mut all = vk::PhysicalDeviceFeatures2::default();
        macro_rules! chain {
            ($($field:ident: $($name:ident),+;)*) => {
                $(if [$(vk::$name),+].iter().any(|name| extensions.contains(name)) {
                    all = all.push_next(&mut self.$field);
                })*
                let result = with(&mut all);
                // What is kept is in no chain.
                $(self.$field.p_next = std::ptr::null_mut();)*
                result
            };
        }
        chain! {
            lines: KHR_LINE_RASTERIZATION_NAME, EXT_LINE_RASTERIZATION_NAME;
            bias_control: EXT_DEPTH_BIAS_CONTROL_NAME;
            clip_control: EXT_DEPTH_CLIP_CONTROL_NAME;
            depth_clip: EXT_DEPTH_CLIP_ENABLE_NAME;
            bytes: KHR_INDEX_TYPE_UINT8_NAME, EXT_INDEX_TYPE_UINT8_NAME;
            list_restart: EXT_PRIMITIVE_TOPOLOGY_LIST_RESTART_NAME;
            provoking: EXT_PROVOKING_VERTEX_NAME;
            divisors: KHR_VERTEX_ATTRIBUTE_DIVISOR_NAME, EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME;
        }
    }
}

/// A mapped buffer.
#[derive(Clone, Copy)]
pub struct Buffer {
    /// Handle.
    pub handle: vk::Buffer,
    /// Bytes.
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

/// What an image is made of.
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
    /// A colour image.
    pub fn color(format: vk::Format, size: [u32; 2], usage: vk::ImageUsageFlags) -> Self {
        let samples = vk::SampleCountFlags::TYPE_1;
        Self { format, size, levels: 1, samples, usage, aspects: vk::ImageAspectFlags::COLOR }
    }
}

/// Extensions that cases use.
const EXTENSIONS: &[&CStr] = &[
    vk::EXT_CONSERVATIVE_RASTERIZATION_NAME,
    vk::KHR_CREATE_RENDERPASS2_NAME,
    vk::EXT_DEPTH_BIAS_CONTROL_NAME,
    vk::EXT_DEPTH_CLIP_CONTROL_NAME,
    vk::EXT_DEPTH_CLIP_ENABLE_NAME,
    vk::EXT_INDEX_TYPE_UINT8_NAME,
    vk::EXT_LINE_RASTERIZATION_NAME,
    vk::EXT_PRIMITIVE_TOPOLOGY_LIST_RESTART_NAME,
    vk::EXT_PROVOKING_VERTEX_NAME,
    vk::EXT_SHADER_VIEWPORT_INDEX_LAYER_NAME,
    vk::EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME,
    vk::KHR_INDEX_TYPE_UINT8_NAME,
    vk::KHR_LINE_RASTERIZATION_NAME,
    vk::KHR_VERTEX_ATTRIBUTE_DIVISOR_NAME,
];

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

impl Gpu {
    /// Opens the first device with all its features.
    ///
    /// # Errors
    /// When there is no device.
    pub fn new(entry: ash::Entry) -> Result<Self, Outcome> {
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_0);
        // What 1.0 needs for extensions of devices.
        let needed = [vk::KHR_GET_PHYSICAL_DEVICE_PROPERTIES2_NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&needed);
        // SAFETY: here and below, create infos are valid and outlive the calls, and handles come from the calls before.
        unsafe {
            let instance = entry.create_instance(&info, None)?;
            let devices = instance.enumerate_physical_devices()?;
            let physical = *devices.first().ok_or(Outcome::Fail("there is no device".into()))?;
            let properties = instance.get_physical_device_properties(physical);
            let memory = instance.get_physical_device_memory_properties(physical);
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let known = instance.enumerate_device_extension_properties(physical)?;
            let has = |name: &&CStr| known.iter().any(|known| known.extension_name_as_c_str() == Ok(*name));
            let extensions: Vec<&CStr> = EXTENSIONS.iter().copied().filter(has).collect();
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let (mut more, mut features) = (MoreFeatures::default(), vk::PhysicalDeviceFeatures::default());
            let queries = ash::khr::get_physical_device_properties2::Instance::new(&entry, &instance);
            let device = more.chained(&extensions, |all| {
                queries.get_physical_device_features2(physical, all);
                features = all.features;
                let info = vk::DeviceCreateInfo::default()
                    .queue_create_infos(&queues)
                    .enabled_extension_names(&names)
                    .push_next(all);
                instance.create_device(physical, &info, None)
            })?;
            let queue = device.get_device_queue(0, 0);
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None)?;
            Ok(Self { instance, physical, device, queue, pool, features, more, properties, memory, extensions, entry })
        }
    }

    /// Ends a case unless the device has an extension.
    pub fn need(&self, extension: &CStr) -> Case {
        match self.extensions.contains(&extension) {
            true => Ok(()),
            false => Err(Outcome::NotSupported(text(extension))),
        }
    }

    /// The device's name.
    pub fn name(&self) -> String {
        self.properties
            .device_name_as_c_str()
            .map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
    }

    /// Allocates memory for requirements, host-visible when asked.
    pub fn allocate(&self, needs: vk::MemoryRequirements, visible: bool) -> Result<vk::DeviceMemory, Outcome> {
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
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        // SAFETY: the info is valid.
        Ok(unsafe { self.device.allocate_memory(&info, None) }?)
    }

    /// A mapped, zeroed buffer for every use.
    pub fn buffer(&self, size: u64) -> Result<Buffer, Outcome> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: valid infos; memory is bound once; the whole buffer is mapped and written before anyone reads it.
        unsafe {
            let handle = self.device.create_buffer(&info, None)?;
            let memory = self.allocate(self.device.get_buffer_memory_requirements(handle), true)?;
            self.device.bind_buffer_memory(handle, memory, 0)?;
            let pointer = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
            pointer.write_bytes(0, size as usize);
            Ok(Buffer { handle, size, pointer })
        }
    }

    /// A mapped buffer with this content.
    pub fn buffer_with<T: bytemuck::Pod>(&self, data: &[T]) -> Result<Buffer, Outcome> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.buffer(bytes.len() as u64)?;
        buffer.write(bytes);
        Ok(buffer)
    }

    /// An image, bound to memory.
    pub fn image(&self, desc: &ImageDesc) -> Result<Image, Outcome> {
        let extent = vk::Extent3D { width: desc.size[0], height: desc.size[1], depth: 1 };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(extent)
            .mip_levels(desc.levels)
            .array_layers(1)
            .samples(desc.samples)
            .usage(desc.usage);
        let range = range(desc.aspects, 0, desc.levels);
        // SAFETY: valid infos; memory is bound once.
        unsafe {
            let handle = self.device.create_image(&info, None)?;
            let memory = self.allocate(self.device.get_image_memory_requirements(handle), false)?;
            self.device.bind_image_memory(handle, memory, 0)?;
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
            let view = if needs_view { self.device.create_image_view(&info, None)? } else { vk::ImageView::null() };
            Ok(Image { handle, view, extent, aspects: desc.aspects, levels: desc.levels })
        }
    }

    /// Records with `record`, submits, waits.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<(), Outcome> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the command buffer is recorded, submitted once, and waited for.
        unsafe {
            let commands = self.device.allocate_command_buffers(&info)?;
            self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(commands[0]);
            self.device.end_command_buffer(commands[0])?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            self.device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queue)?;
            self.device.free_command_buffers(self.pool, &commands);
        }
        Ok(())
    }

    /// Makes everything before visible to everything after, and moves an image between layouts when given.
    pub fn barrier(&self, commands: vk::CommandBuffer, image: Option<(&Image, vk::ImageLayout, vk::ImageLayout)>) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let (write, read) =
            (vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let memory = [vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(read)];
        let images: Vec<vk::ImageMemoryBarrier<'_>> = image
            .into_iter()
            .map(|(image, old, new)| {
                vk::ImageMemoryBarrier::default()
                    .src_access_mask(write)
                    .dst_access_mask(read)
                    .old_layout(old)
                    .new_layout(new)
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

    /// A shader module.
    pub fn module(&self, code: &[u8]) -> Result<vk::ShaderModule, Outcome> {
        let words: Vec<u32> =
            code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        // SAFETY: the code is a valid module, made by glslang.
        Ok(unsafe { self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }?)
    }

    /// A set layout and a set with the given descriptor types, one a binding.
    pub fn set(&self, kinds: &[vk::DescriptorType]) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
        self.set_for(kinds, vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT)
    }

    /// The same for these stages only.
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
        let sizes: Vec<_> = kinds.iter().map(|&ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 }).collect();
        // SAFETY: valid infos.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = self.device.create_descriptor_set_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = self.device.create_descriptor_pool(&info, None)?;
            let layouts = [layout];
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            Ok((layout, self.device.allocate_descriptor_sets(&info)?[0]))
        }
    }

    /// A pipeline layout with 48 bytes of push constants for every stage.
    pub fn layout(&self, sets: &[vk::DescriptorSetLayout]) -> Result<vk::PipelineLayout, Outcome> {
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::ALL, offset: 0, size: 48 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets).push_constant_ranges(&push);
        // SAFETY: the info is valid.
        Ok(unsafe { self.device.create_pipeline_layout(&info, None) }?)
    }

    /// Runs a compute shader with storage buffers at bindings 0 and up, specialization constant 0, and push constants.
    pub fn compute(&self, code: &[u8], constant: i32, push: &[u8], buffers: &[Buffer], groups: [u32; 3]) -> Case {
        let (set_layout, set) = self.set(&vec![STORAGE; buffers.len()])?;
        let layout = self.layout(&[set_layout])?;
        let infos: Vec<[vk::DescriptorBufferInfo; 1]> = buffers
            .iter()
            .map(|buffer| [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }])
            .collect();
        let writes: Vec<_> = infos
            .iter()
            .enumerate()
            .map(|(binding, info)| {
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
                write.descriptor_type(STORAGE).buffer_info(info)
            })
            .collect();
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let data = constant.to_le_bytes();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module(code)?)
            .name(c"main")
            .specialization_info(&specialization);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        // SAFETY: valid infos; descriptors are written before they are used.
        let pipeline = unsafe {
            self.device.update_descriptor_sets(&writes, &[]);
            self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).map_err(|(_, code)| code)?[0]
        };
        self.run(|commands| {
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                let point = vk::PipelineBindPoint::COMPUTE;
                self.device.cmd_bind_pipeline(commands, point, pipeline);
                self.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                if !push.is_empty() {
                    self.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, push);
                }
                self.device.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
            }
            self.barrier(commands, None);
        })
    }

    /// The tightly packed texels of level 0 of one aspect of an image in the transfer source layout.
    pub fn read_image(
        &self,
        image: &Image,
        aspect: vk::ImageAspectFlags,
        texel_bytes: u32,
    ) -> Result<Vec<u8>, Outcome> {
        let size = u64::from(image.extent.width) * u64::from(image.extent.height) * u64::from(texel_bytes);
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
            self.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, target)));
            // SAFETY: the image is in the target layout, and the buffer holds all of the region.
            unsafe { self.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, target, &[region]) };
            self.barrier(commands, Some((image, target, layout)));
        })
    }
}

impl Buffer {
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

    /// All of it as words.
    pub fn words(&self) -> Vec<u32> {
        let bytes = self.read(0, self.size as usize);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// All of it as floats.
    pub fn floats(&self) -> Vec<f32> {
        self.words().into_iter().map(f32::from_bits).collect()
    }
}

/// A range of levels of the one layer.
pub fn range(aspect_mask: vk::ImageAspectFlags, base_mip_level: u32, level_count: u32) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask, base_mip_level, level_count, base_array_layer: 0, layer_count: 1 }
}

/// Level 0 of an image, tightly packed.
pub fn whole(image: &Image, aspect: vk::ImageAspectFlags) -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: layers(aspect), image_extent: image.extent, ..Default::default() }
}

/// Level 0 and layer 0.
pub fn layers(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer: 0, layer_count: 1 }
}

/// A name as Vulkan takes it.
pub fn c_name(name: &str) -> CString {
    CString::new(name).unwrap_or_default()
}

/// A fixed array of characters as text.
pub fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
