//! The statically linked driver, and helpers of the tests with invalid input.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

use ash::vk;

/// Messages that the driver sent.
pub type Messages = Arc<Mutex<Vec<String>>>;

pub struct Driver {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub messages: Messages,
    messenger: vk::DebugUtilsMessengerEXT,
    debug: ash::ext::debug_utils::Instance,
}

pub unsafe extern "system" fn receive(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver passes its data and the messenger's user pointer, which is the test's
    // message list. The list outlives the messenger.
    let (data, messages) = unsafe { (&*data, &*user.cast::<Mutex<Vec<String>>>()) };
    // SAFETY: the message is a C string.
    let text = unsafe { CStr::from_ptr(data.p_message) };
    messages.lock().unwrap().push(text.to_string_lossy().into_owned());
    vk::FALSE
}

impl Driver {
    pub fn open() -> Self {
        Self::open_with(&[])
    }

    /// Opens a device with extensions.
    pub fn open_with(extensions: &[&CStr]) -> Self {
        Self::open_for(vk::API_VERSION_1_0, extensions)
    }

    /// Opens a device with extensions, for an instance of a version of Vulkan.
    pub fn open_for(version: u32, extensions: &[&CStr]) -> Self {
        Self::open_by(version, extensions, &mut vk::PhysicalDeviceMeshShaderFeaturesEXT::default())
    }

    /// Opens a device with mesh shaders and their features.
    pub fn open_by(
        version: u32,
        extensions: &[&CStr],
        meshes: &mut vk::PhysicalDeviceMeshShaderFeaturesEXT<'_>,
    ) -> Self {
        let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
        let messages = Messages::default();
        // SAFETY: the function is the driver's own; all create infos are valid.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let names = [ash::ext::debug_utils::NAME, ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
            let names = names.map(|name| name.as_ptr());
            let application = vk::ApplicationInfo::default().api_version(version);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let info = info.enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).unwrap();
            let debug = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(
                    vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
                )
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                .pfn_user_callback(Some(receive))
                .user_data(Arc::as_ptr(&messages).cast_mut().cast());
            let messenger = debug.create_debug_utils_messenger(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let features = instance.get_physical_device_features(physical);
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .enabled_extension_names(&names)
                .push_next(meshes);
            let device = instance.create_device(physical, &info, None).unwrap();
            let queue = device.get_device_queue(0, 0);
            Self { entry, instance, physical, device, queue, messages, messenger, debug }
        }
    }

    /// Returns the last message.
    pub fn last_message(&self) -> String {
        self.messages.lock().unwrap().last().cloned().unwrap_or_default()
    }

    pub fn close(self) {
        // SAFETY: the objects are not used afterwards.
        unsafe {
            self.device.destroy_device(None);
            self.debug.destroy_debug_utils_messenger(self.messenger, None);
            self.instance.destroy_instance(None);
        }
    }

    /// Destroys a surface and closes the driver.
    pub fn close_after(self, surface: vk::SurfaceKHR) {
        let surfaces = ash::khr::surface::Instance::new(&self.entry, &self.instance);
        // SAFETY: the surface has no swapchain.
        unsafe { surfaces.destroy_surface(surface, None) };
        self.close();
    }

    pub fn allocate(&self, size: u64) -> Result<vk::DeviceMemory, vk::Result> {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(1);
        // SAFETY: the info is valid.
        unsafe { self.device.allocate_memory(&info, None) }
    }

    /// Creates a buffer for all uses and binds memory to it.
    pub fn buffer(&self, size: u64) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST;
        // SAFETY: valid usage.
        unsafe {
            let buffer = self.device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
            let memory = self.allocate(self.device.get_buffer_memory_requirements(buffer).size)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            Ok((buffer, memory))
        }
    }

    pub fn module(&self, bytes: &[u8]) -> Result<vk::ShaderModule, vk::Result> {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        // SAFETY: the driver accepts or refuses any words without undefined behaviour.
        unsafe { self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
    }

    /// Records commands, submits them and waits. Returns the result of the wait.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
        // SAFETY: usage is valid except for the deliberate errors of `record`, which the driver
        // handles.
        unsafe {
            let pool = self.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&info)?;
            self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(&self.device, commands[0]);
            self.device.end_command_buffer(commands[0])?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            self.device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            let waited = self.device.queue_wait_idle(self.queue);
            self.device.destroy_command_pool(pool, None);
            waited
        }
    }
}

/// Returns the parameters of a swapchain of two small images in FIFO mode.
pub fn swapchain_info(surface: vk::SurfaceKHR) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR::default()
        .surface(surface)
        .min_image_count(2)
        .image_format(vk::Format::B8G8R8A8_UNORM)
        .image_extent(vk::Extent2D { width: 16, height: 16 })
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
        .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
        .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
        .present_mode(vk::PresentModeKHR::FIFO)
}

/// Runs a compute shader with a storage buffer and the dispatch that `record` records. Returns the
/// result of the wait.
pub fn compute(
    driver: &Driver,
    code: &[u8],
    buffer: vk::Buffer,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer),
) -> Result<(), vk::Result> {
    let layout = Layout::new(driver, buffer)?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(driver.module(code)?)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.layout)];
    // SAFETY: valid usage.
    let pipelines = unsafe { driver.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipelines.map_err(|(_, code)| code)?[0];
    let point = vk::PipelineBindPoint::COMPUTE;
    driver.run(|device, commands| {
        // SAFETY: valid usage.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout.layout, 0, &[layout.set], &[]);
        }
        record(device, commands);
    })
}

/// A descriptor set with one storage buffer for all stages, and its pipeline layout.
pub struct Layout {
    pub layout: vk::PipelineLayout,
    pub set: vk::DescriptorSet,
}

impl Layout {
    pub fn new(driver: &Driver, buffer: vk::Buffer) -> Result<Self, vk::Result> {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let device = &driver.device;
        // SAFETY: valid usage.
        unsafe {
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::ALL)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [device.create_descriptor_set_layout(&info, None)?];
            let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: 1 }];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info)?[0];
            let buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).buffer_info(&buffers);
            device.update_descriptor_sets(&[write], &[]);
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            Ok(Self { layout: device.create_pipeline_layout(&info, None)?, set })
        }
    }
}

/// A render pass without attachments, with a framebuffer and a graphics pipeline.
pub struct Drawing {
    pub pass: vk::RenderPass,
    pub framebuffer: vk::Framebuffer,
    pub pipeline: vk::Pipeline,
    pub size: u32,
}

/// Values of a graphics pipeline that tests change.
pub struct Described {
    pub samples: vk::SampleCountFlags,
    pub topology: vk::PrimitiveTopology,
    pub polygon_mode: vk::PolygonMode,
    pub cull_mode: vk::CullModeFlags,
    pub front_face: vk::FrontFace,
    pub viewports: u32,
    pub binding: u32,
    pub format: vk::Format,
    pub subpass: u32,
}

impl Drawing {
    /// Creates another pipeline for the pass, with values that `change` modifies.
    pub fn again(
        &self,
        driver: &Driver,
        layout: &Layout,
        stages: &[(vk::ShaderStageFlags, &[u8])],
        change: impl FnOnce(&mut Described),
    ) -> Result<(), vk::Result> {
        let mut described = Described {
            samples: vk::SampleCountFlags::TYPE_1,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            polygon_mode: vk::PolygonMode::FILL,
            cull_mode: vk::CullModeFlags::NONE,
            front_face: vk::FrontFace::CLOCKWISE,
            viewports: 1,
            binding: 0,
            format: vk::Format::R32G32B32A32_SFLOAT,
            subpass: 0,
        };
        change(&mut described);
        let device = &driver.device;
        let modules = stages.iter().map(|(_, bytes)| driver.module(bytes)).collect::<Result<Vec<_>, _>>()?;
        let stage = |((stage, _), &module): (&(vk::ShaderStageFlags, &[u8]), &vk::ShaderModule)| {
            vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(module).name(c"main")
        };
        let stages: Vec<_> = stages.iter().zip(&modules).map(stage).collect();
        let Described { binding, format, viewports, .. } = described;
        let bindings = [vk::VertexInputBindingDescription { binding, stride: 16, ..Default::default() }];
        let attributes = [vk::VertexInputAttributeDescription { binding, format, ..Default::default() }];
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let vertices = vertices.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(described.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(viewports).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .polygon_mode(described.polygon_mode)
            .cull_mode(described.cull_mode)
            .front_face(described.front_face);
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(described.samples);
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .dynamic_state(&dynamic)
            .layout(layout.layout)
            .render_pass(self.pass)
            .subpass(described.subpass)];
        // SAFETY: usage is valid except for the modified values, which the driver checks.
        unsafe {
            let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
            made.iter().flatten().for_each(|&pipeline| device.destroy_pipeline(pipeline, None));
            modules.iter().for_each(|&module| device.destroy_shader_module(module, None));
            made.map(drop).map_err(|(_, code)| code)
        }
    }

    /// Creates the objects. With `fetches`, vertices have one attribute of four floats.
    pub fn new(
        driver: &Driver,
        layout: &Layout,
        stages: &[(vk::ShaderStageFlags, &[u8])],
        topology: vk::PrimitiveTopology,
        fetches: bool,
    ) -> Result<Self, vk::Result> {
        let (device, size) = (&driver.device, 64);
        let modules = stages.iter().map(|(_, bytes)| driver.module(bytes)).collect::<Result<Vec<_>, _>>()?;
        let stages: Vec<_> = stages
            .iter()
            .zip(&modules)
            .map(|((stage, _), &module)| {
                vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(module).name(c"main")
            })
            .collect();
        let subpasses = [vk::SubpassDescription::default()];
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: 16, ..Default::default() }];
        let format = vk::Format::R32G32B32A32_SFLOAT;
        let attributes = [vk::VertexInputAttributeDescription { format, ..Default::default() }];
        let mut vertices = vk::PipelineVertexInputStateCreateInfo::default();
        if fetches {
            vertices = vertices.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let viewports = [vk::Viewport { width: 64.0, height: 64.0, max_depth: 1.0, ..Default::default() }];
        let scissors = [vk::Rect2D { extent: vk::Extent2D { width: size, height: size }, ..Default::default() }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let patches = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(1);
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        // SAFETY: valid usage.
        unsafe {
            let pass = device.create_render_pass(&vk::RenderPassCreateInfo::default().subpasses(&subpasses), None)?;
            let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(size).height(size).layers(1);
            let framebuffer = device.create_framebuffer(&info, None)?;
            let info = [vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&vertices)
                .input_assembly_state(&assembly)
                .tessellation_state(&patches)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .multisample_state(&samples)
                .dynamic_state(&dynamic)
                .layout(layout.layout)
                .render_pass(pass)];
            let pipelines = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
            Ok(Self { pass, framebuffer, pipeline: pipelines.map_err(|(_, code)| code)?[0], size })
        }
    }

    /// Begins the pass and binds all objects. Viewport and scissor cover the framebuffer.
    pub fn begin(&self, device: &ash::Device, commands: vk::CommandBuffer, layout: &Layout) {
        let extent = vk::Extent2D { width: self.size, height: self.size };
        let area = vk::Rect2D { extent, ..Default::default() };
        let info =
            vk::RenderPassBeginInfo::default().render_pass(self.pass).framebuffer(self.framebuffer).render_area(area);
        let point = vk::PipelineBindPoint::GRAPHICS;
        let side = self.size as f32;
        let viewport = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
        // SAFETY: valid usage.
        unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout.layout, 0, &[layout.set], &[]);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
        }
    }
}
