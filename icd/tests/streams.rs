//! Fuzz target of command streams: random sequences of commands through the driver's entry points.
//! One stream in four has commands in the wrong place, and counts and offsets that are too large.
//! No stream may panic, hang or lose the device. Images, depths and buffers are equal whatever
//! executes the programs, and with one worker thread or several.
//!
//! The number of streams and the seed are fixed. `VITRIC_FUZZ=COUNT` scales the number, of which a
//! run takes one in [`SHARE`], and `VITRIC_FUZZ_SEED=NUMBER` selects other streams. Seeds in
//! `streams/seeds.txt` once failed and run first.
//!
//! Knobs hold for a process, so the test runs itself in other processes and compares the digests
//! that they print.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ash::vk;
use common::Driver;

const VERTEX: &[u8] = include_bytes!("../../cts/shaders/flat.vert.spv");
const FRAGMENT: &[u8] = include_bytes!("../../cts/shaders/flat.frag.spv");
const COUNTING: &[u8] = include_bytes!("../../cts/shaders/early.frag.spv");
const COMPUTE: &[u8] = include_bytes!("shaders/short.comp.spv");

/// Default number of units of work, as of the other fuzz targets.
const UNITS: u64 = 150_000;
/// Units of work for each stream.
const SHARE: u64 = 300;
/// Width and height of the images in texels.
const SIDE: u32 = 48;
/// Size of a vertex in bytes: position and colour.
const STRIDE: u32 = 32;
/// Size of each buffer in bytes.
const BYTES: u64 = 16 << 10;
/// Number of queries in the pool.
const QUERIES: u32 = 4;
/// Time limit of another process.
const LIMIT: Duration = Duration::from_secs(300);
/// Variable that makes a process print digests only.
const CHILD: &str = "VITRIC_STREAMS_OF_CHILD";

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 20) as u32 % limit
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// Returns a coordinate: mostly near the view, sometimes extreme.
    fn coordinate(&mut self) -> f32 {
        match self.below(40) {
            0 => self.pick(&[f32::NAN, f32::INFINITY, -1e30, 1e30, 0.0, -0.0]),
            1 => self.below(2000) as f32 - 1000.0,
            _ => self.below(1 << 12) as f32 / 1024.0 - 2.0,
        }
    }
}

/// Objects that commands name.
struct Objects<'a> {
    driver: &'a Driver,
    images: [vk::Image; 2],
    buffers: [vk::Buffer; 4],
    memories: Vec<(vk::DeviceMemory, u64)>,
    pipelines: Vec<vk::Pipeline>,
    compute: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    passes: [vk::RenderPass; 2],
    framebuffer: vk::Framebuffer,
    queries: vk::QueryPool,
    /// True if some commands are in the wrong place, and some counts and offsets are too large.
    errs: bool,
}

impl<'a> Objects<'a> {
    fn new(driver: &'a Driver, numbers: &mut Numbers) -> Result<Self, vk::Result> {
        let device = &driver.device;
        let mut memories = Vec::new();
        let mut allocate = |size: u64| -> Result<vk::DeviceMemory, vk::Result> {
            let memory = driver.allocate(size)?;
            memories.push((memory, size));
            Ok(memory)
        };
        let color = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let depth = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let formats = [(vk::Format::R8G8B8A8_UNORM, color), (vk::Format::D32_SFLOAT_S8_UINT, depth)];
        let aspects = [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL];
        let (mut images, mut views) = ([vk::Image::null(); 2], [vk::ImageView::null(); 2]);
        // SAFETY: valid usage.
        unsafe {
            for (at, (format, usage)) in formats.into_iter().enumerate() {
                let info = vk::ImageCreateInfo::default()
                    .image_type(vk::ImageType::TYPE_2D)
                    .format(format)
                    .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
                    .mip_levels(1)
                    .array_layers(1)
                    .samples(vk::SampleCountFlags::TYPE_1)
                    .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
                images[at] = device.create_image(&info, None)?;
                let memory = allocate(device.get_image_memory_requirements(images[at]).size)?;
                device.bind_image_memory(images[at], memory, 0)?;
                let info = vk::ImageViewCreateInfo::default()
                    .image(images[at])
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(format)
                    .subresource_range(range(aspects[at]));
                views[at] = device.create_image_view(&info, None)?;
            }
            let mut buffers = [vk::Buffer::null(); 4];
            for (at, buffer) in buffers.iter_mut().enumerate() {
                let usage = vk::BufferUsageFlags::from_raw(0x1ff);
                *buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(BYTES).usage(usage), None)?;
                let memory = allocate(BYTES)?;
                device.bind_buffer_memory(*buffer, memory, 0)?;
                let words = device.map_memory(memory, 0, BYTES, vk::MemoryMapFlags::empty())?;
                let words = std::slice::from_raw_parts_mut(words.cast::<u32>(), BYTES as usize / 4);
                words.iter_mut().for_each(|word| *word = numbers.below(SIDE * 4));
                if at == 0 {
                    words.iter_mut().for_each(|word| *word = numbers.coordinate().to_bits());
                }
                device.unmap_memory(memory);
            }
            let driver_layout = common::Layout::new(driver, buffers[2])?;
            let (layout, set) = (driver_layout.layout, driver_layout.set);
            let passes = [vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD];
            let passes = [pass(device, passes[0])?, pass(device, passes[1])?];
            let info = vk::FramebufferCreateInfo::default().render_pass(passes[0]).attachments(&views);
            let framebuffer = device.create_framebuffer(&info.width(SIDE).height(SIDE).layers(1), None)?;
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(QUERIES);
            let queries = device.create_query_pool(&info, None)?;
            let mut objects = Self {
                driver,
                images,
                buffers,
                memories,
                pipelines: Vec::new(),
                compute: vk::Pipeline::null(),
                layout,
                set,
                passes,
                framebuffer,
                queries,
                errs: numbers.one_in(4),
            };
            for _ in 0..3 {
                let pipeline = objects.pipeline(numbers)?;
                objects.pipelines.push(pipeline);
            }
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(driver.module(COMPUTE)?)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            objects.compute = made.map_err(|(_, code)| code)?[0];
            Ok(objects)
        }
    }

    /// Creates a graphics pipeline of random state.
    fn pipeline(&self, numbers: &mut Numbers) -> Result<vk::Pipeline, vk::Result> {
        let device = &self.driver.device;
        let fragment = numbers.pick(&[FRAGMENT, COUNTING]);
        let vertex = self.driver.module(VERTEX)?;
        let fragment = self.driver.module(fragment)?;
        let stage =
            |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
        let stages = [stage(vk::ShaderStageFlags::VERTEX, vertex), stage(vk::ShaderStageFlags::FRAGMENT, fragment)];
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: STRIDE, ..Default::default() }];
        let format = vk::Format::R32G32B32A32_SFLOAT;
        let attributes = [0, 1].map(|location| vk::VertexInputAttributeDescription {
            location,
            binding: 0,
            format,
            offset: location * 16,
        });
        let vertices = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let topologies = [
            vk::PrimitiveTopology::TRIANGLE_LIST,
            vk::PrimitiveTopology::TRIANGLE_LIST,
            vk::PrimitiveTopology::TRIANGLE_STRIP,
            vk::PrimitiveTopology::TRIANGLE_FAN,
            vk::PrimitiveTopology::LINE_STRIP,
            vk::PrimitiveTopology::POINT_LIST,
        ];
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(numbers.pick(&topologies));
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let culls = [vk::CullModeFlags::NONE, vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT];
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .cull_mode(numbers.pick(&culls))
            .depth_clamp_enable(numbers.one_in(4));
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let compare =
            [vk::CompareOp::LESS, vk::CompareOp::GREATER_OR_EQUAL, vk::CompareOp::ALWAYS, vk::CompareOp::EQUAL];
        let operations = [vk::StencilOp::KEEP, vk::StencilOp::INCREMENT_AND_WRAP, vk::StencilOp::REPLACE];
        let face = vk::StencilOpState {
            pass_op: numbers.pick(&operations),
            depth_fail_op: numbers.pick(&operations),
            compare_op: numbers.pick(&compare),
            compare_mask: 0xff,
            write_mask: 0xff,
            ..Default::default()
        };
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(!numbers.one_in(3))
            .depth_write_enable(!numbers.one_in(3))
            .depth_compare_op(numbers.pick(&compare))
            .stencil_test_enable(numbers.one_in(3))
            .front(face)
            .back(face);
        let factors = [vk::BlendFactor::ONE, vk::BlendFactor::SRC_ALPHA, vk::BlendFactor::ONE_MINUS_DST_COLOR];
        let blend = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(numbers.one_in(2))
            .src_color_blend_factor(numbers.pick(&factors))
            .dst_color_blend_factor(numbers.pick(&factors))
            .color_write_mask(vk::ColorComponentFlags::from_raw(15))];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
        let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR, vk::DynamicState::STENCIL_REFERENCE];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .render_pass(self.passes[0])];
        // SAFETY: valid usage.
        unsafe {
            let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None);
            Ok(made.map_err(|(_, code)| code)?[0])
        }
    }

    /// Records a random command. `in_pass` says if a render pass is open, and is kept.
    fn record(&self, numbers: &mut Numbers, commands: vk::CommandBuffer, in_pass: &mut bool) {
        let inside = *in_pass != (self.errs && numbers.one_in(40));
        if inside {
            self.record_inside(numbers, commands, in_pass)
        } else {
            self.record_outside(numbers, commands, in_pass)
        }
    }

    fn record_inside(&self, numbers: &mut Numbers, commands: vk::CommandBuffer, in_pass: &mut bool) {
        let device = &self.driver.device;
        let point = vk::PipelineBindPoint::GRAPHICS;
        let count = |numbers: &mut Numbers| {
            if self.errs && numbers.one_in(20) { numbers.below(1500) } else { numbers.below(60) }
        };
        let offset = |numbers: &mut Numbers| {
            let limit = if self.errs && numbers.one_in(20) { 1 << 15 } else { 256 };
            u64::from(numbers.below(limit)) * 4
        };
        // SAFETY: the driver checks what the specification leaves undefined here.
        unsafe {
            match numbers.below(14) {
                0 => {
                    device.cmd_end_render_pass(commands);
                    *in_pass = false;
                }
                1 | 2 => device.cmd_bind_pipeline(commands, point, numbers.pick(&self.pipelines)),
                3 => {
                    let side = numbers.pick(&[SIDE as f32, 16.0, 0.5, 100.0]);
                    let (x, y) = (numbers.below(40) as f32 - 8.0, numbers.below(40) as f32 - 8.0);
                    let viewport = vk::Viewport { x, y, width: side, height: side, min_depth: 0.0, max_depth: 1.0 };
                    device.cmd_set_viewport(commands, 0, &[viewport]);
                }
                4 => device.cmd_set_scissor(commands, 0, &[area(numbers)]),
                5 => {
                    device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, numbers.below(256))
                }
                6 => {
                    let at = offset(numbers);
                    device.cmd_bind_vertex_buffers(commands, 0, &[self.buffers[0]], &[at]);
                }
                7 => {
                    let at = offset(numbers);
                    device.cmd_bind_index_buffer(
                        commands,
                        self.buffers[1],
                        at,
                        numbers.pick(&[vk::IndexType::UINT16, vk::IndexType::UINT32]),
                    );
                }
                8..=10 => {
                    let (vertices, first) = (count(numbers), count(numbers));
                    device.cmd_draw(commands, vertices, 1 + numbers.below(3), first, 0);
                }
                11 => {
                    let (indices, first) = (count(numbers), count(numbers));
                    device.cmd_draw_indexed(commands, indices, 1, first, numbers.below(8) as i32 - 4, 0);
                }
                12 => {
                    let aspect = numbers.pick(&[vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH]);
                    let clear =
                        vk::ClearAttachment { aspect_mask: aspect, color_attachment: 0, clear_value: clear(numbers) };
                    let rect = vk::ClearRect { rect: area(numbers), base_array_layer: 0, layer_count: 1 };
                    device.cmd_clear_attachments(commands, &[clear], &[rect]);
                }
                _ => {
                    let query = numbers.below(QUERIES);
                    device.cmd_begin_query(commands, self.queries, query, vk::QueryControlFlags::empty());
                    device.cmd_draw(commands, 30, 1, numbers.below(30), 0);
                    device.cmd_end_query(commands, self.queries, query);
                }
            }
        }
    }

    fn record_outside(&self, numbers: &mut Numbers, commands: vk::CommandBuffer, in_pass: &mut bool) {
        let device = &self.driver.device;
        let layout = vk::ImageLayout::GENERAL;
        let word = |numbers: &mut Numbers| u64::from(numbers.below(BYTES as u32 / 8)) * 4;
        let target = numbers.pick(&self.buffers[1..]);
        // SAFETY: the driver checks what the specification leaves undefined here.
        unsafe {
            match numbers.below(12) {
                0..=3 => {
                    let clears = [
                        clear(numbers),
                        vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.5, stencil: 1 } },
                    ];
                    let whole = vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
                    let info = vk::RenderPassBeginInfo::default()
                        .render_pass(numbers.pick(&self.passes))
                        .framebuffer(self.framebuffer)
                        .render_area(if numbers.one_in(3) { area(numbers) } else { whole })
                        .clear_values(&clears);
                    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
                    *in_pass = true;
                }
                4 => device.cmd_fill_buffer(commands, target, word(numbers), word(numbers) + 4, numbers.below(SIDE)),
                5 => {
                    let data: Vec<u8> = (0..4 * (1 + numbers.below(16))).map(|_| numbers.below(64) as u8).collect();
                    device.cmd_update_buffer(commands, target, word(numbers), &data);
                }
                6 => {
                    let copy = vk::BufferCopy { src_offset: word(numbers), dst_offset: word(numbers), size: 64 };
                    device.cmd_copy_buffer(commands, self.buffers[0], target, &[copy]);
                }
                7 => {
                    let color = vk::ClearColorValue { float32: std::array::from_fn(|_| numbers.below(5) as f32 / 4.0) };
                    let ranges = [range(vk::ImageAspectFlags::COLOR)];
                    device.cmd_clear_color_image(commands, self.images[0], layout, &color, &ranges);
                }
                8 | 9 => {
                    let region = region(numbers);
                    if numbers.one_in(2) {
                        device.cmd_copy_image_to_buffer(commands, self.images[0], layout, target, &[region]);
                    } else {
                        device.cmd_copy_buffer_to_image(commands, self.buffers[3], self.images[0], layout, &[region]);
                    }
                }
                10 => {
                    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.compute);
                    device.cmd_dispatch(commands, 1, 1 + numbers.below(3), 1);
                }
                _ => device.cmd_reset_query_pool(commands, self.queries, 0, QUERIES),
            }
            let barrier = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
            if !*in_pass {
                let all = vk::PipelineStageFlags::ALL_COMMANDS;
                device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &barrier, &[], &[]);
            }
        }
    }

    /// Returns a digest of all memory.
    fn digest(&self) -> Result<u64, vk::Result> {
        let mut digest = 0xcbf2_9ce4_8422_2325u64;
        for &(memory, size) in &self.memories {
            // SAFETY: no command is pending. The mapping has this size.
            unsafe {
                let bytes = self.driver.device.map_memory(memory, 0, size, vk::MemoryMapFlags::empty())?;
                for &byte in std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize) {
                    digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
                self.driver.device.unmap_memory(memory);
            }
        }
        Ok(digest)
    }
}

fn range(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange { aspect_mask, base_mip_level: 0, level_count: 1, base_array_layer: 0, layer_count: 1 }
}

fn clear(numbers: &mut Numbers) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32: std::array::from_fn(|_| numbers.below(5) as f32 / 4.0) } }
}

/// Returns an area inside of the images.
fn area(numbers: &mut Numbers) -> vk::Rect2D {
    let [x, y] = [0; 2].map(|_: u32| numbers.below(SIDE));
    let [width, height] = [x, y].map(|at| 1 + numbers.below(SIDE - at));
    vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent: vk::Extent2D { width, height } }
}

/// Returns a region of a copy between the colour image and a buffer.
fn region(numbers: &mut Numbers) -> vk::BufferImageCopy {
    let area = area(numbers);
    vk::BufferImageCopy {
        buffer_offset: u64::from(numbers.below(64)) * 4,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        },
        image_offset: vk::Offset3D { x: area.offset.x, y: area.offset.y, z: 0 },
        image_extent: vk::Extent3D { width: area.extent.width, height: area.extent.height, depth: 1 },
    }
}

/// Creates a render pass with a colour and a depth attachment that have one load operation.
fn pass(device: &ash::Device, load: vk::AttachmentLoadOp) -> Result<vk::RenderPass, vk::Result> {
    let layout = vk::ImageLayout::GENERAL;
    let initial = if load == vk::AttachmentLoadOp::LOAD { layout } else { vk::ImageLayout::UNDEFINED };
    let attachments = [vk::Format::R8G8B8A8_UNORM, vk::Format::D32_SFLOAT_S8_UINT].map(|format| {
        vk::AttachmentDescription::default()
            .format(format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(load)
            .stencil_store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(initial)
            .final_layout(layout)
    });
    let color = [vk::AttachmentReference { attachment: 0, layout }];
    let depth = vk::AttachmentReference { attachment: 1, layout };
    let subpass = [vk::SubpassDescription::default().color_attachments(&color).depth_stencil_attachment(&depth)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpass);
    // SAFETY: valid usage.
    unsafe { device.create_render_pass(&info, None) }
}

/// Runs the stream of a seed. Returns a digest of the memory afterwards, and the driver's result.
fn stream(seed: u64) -> (u64, Result<(), vk::Result>) {
    let (driver, mut numbers) = (Driver::open(), Numbers::new(seed));
    let objects = Objects::new(&driver, &mut numbers).unwrap();
    let length = 20 + numbers.below(120);
    let done = driver.run(|device, commands| {
        let point = [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE];
        let mut in_pass = false;
        // SAFETY: valid usage.
        unsafe {
            for point in point {
                device.cmd_bind_descriptor_sets(commands, point, objects.layout, 0, &[objects.set], &[]);
            }
            device.cmd_reset_query_pool(commands, objects.queries, 0, QUERIES);
            let [viewport, scissor] = [SIDE as f32, SIDE as f32];
            let viewport = vk::Viewport { width: viewport, height: scissor, max_depth: 1.0, ..Default::default() };
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area(&mut numbers)]);
            device.cmd_bind_pipeline(commands, point[0], objects.pipelines[0]);
            device.cmd_bind_vertex_buffers(commands, 0, &[objects.buffers[0]], &[0]);
            device.cmd_bind_index_buffer(commands, objects.buffers[1], 0, vk::IndexType::UINT32);
        }
        for _ in 0..length {
            objects.record(&mut numbers, commands, &mut in_pass);
        }
        if in_pass {
            // SAFETY: the pass is open.
            unsafe { device.cmd_end_render_pass(commands) };
        }
    });
    // The driver refuses some streams, as a whole or when they end. It never loses the device.
    assert_ne!(done, Err(vk::Result::ERROR_DEVICE_LOST), "stream {seed}: {:?}", driver.messages.lock().unwrap());
    let digest = objects.digest().unwrap();
    driver.close();
    (digest, done)
}

/// Returns the seeds of a run: seeds that once failed, and new ones.
fn seeds() -> Vec<u64> {
    let known =
        include_str!("streams/seeds.txt").lines().filter_map(|line| line.split('#').next()?.trim().parse().ok());
    let (first, count) = (number("VITRIC_FUZZ_SEED", 1) << 32, number("VITRIC_FUZZ", UNITS).div_ceil(SHARE));
    known.chain(first..first + count).collect()
}

/// Runs all streams in another process with some knobs, and returns their digests as text.
fn in_another_process(knobs: &[(&str, &str)]) -> String {
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new(test)
        .args(["--exact", "streams_leave_equal_bits_everywhere", "--nocapture"])
        .env(CHILD, "1")
        .envs(knobs.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The output of all streams fits into the pipe.
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{knobs:?}: a stream hangs: {}", String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{knobs:?}: {} after\n{text}", output.status);
    text.lines().filter(|line| line.starts_with("stream ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn streams_leave_equal_bits_everywhere() {
    let mut digests = String::new();
    let (mut count, mut refused) = (0, 0);
    for seed in seeds() {
        let (digest, done) = stream(seed);
        (count, refused) = (count + 1, refused + u32::from(done.is_err()));
        let line = format!("stream {seed}: {digest:016x} {done:?}\n");
        if std::env::var_os(CHILD).is_some() {
            // The harness writes the test's name without a line's end.
            print!("\n{line}");
        }
        digests += &line;
    }
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    println!("{refused} of {count} streams are refused");
    assert!(refused * 2 <= count, "hardly any stream runs: {refused} of {count} are refused");
    let one_thread = [("VITRIC_THREADS", "1"), ("VITRIC_WINDOW", "16"), ("VITRIC_CHUNK", "16")];
    let plain = [("VITRIC_CODEGEN", "interp"), ("VITRIC_THREADS", "4"), ("VITRIC_HIZ", "always")];
    for knobs in [&one_thread[..], &plain[..]] {
        let other = in_another_process(knobs);
        for (here, there) in digests.lines().zip(other.lines()) {
            assert_eq!(here, there, "{knobs:?} leaves other bits");
        }
        assert_eq!(digests.lines().count(), other.lines().count());
    }
}
