//! Input that no valid program has: invalid handles, malformed modules, sizes beyond limits,
//! positions that are NaN, and indices out of range. The driver returns errors or has defined
//! results. The process and the device still work afterwards.

mod common;

use ash::vk::{self, Handle};
use common::{Drawing, Driver, Layout};

const LARGE: &[u8] = include_bytes!("shaders/large.vert.spv");
const WILD: &[u8] = include_bytes!("shaders/wild.vert.spv");
const COUNT: &[u8] = include_bytes!("shaders/count.frag.spv");
const ENDLESS: &[u8] = include_bytes!("shaders/endless.comp.spv");

/// Calls with an invalid handle.
type Call = fn(&Driver, u64) -> Result<(), vk::Result>;

/// Calls that destroy or free objects and ignore invalid handles.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is wrong on purpose, which the driver promises to survive"
)]
const DESTROYS: &[fn(&Driver, u64)] = &[
    |d, h| unsafe { d.device.destroy_buffer(vk::Buffer::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_buffer_view(vk::BufferView::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_image(vk::Image::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_image_view(vk::ImageView::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_sampler(vk::Sampler::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_shader_module(vk::ShaderModule::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_pipeline(vk::Pipeline::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_pipeline_layout(vk::PipelineLayout::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_pipeline_cache(vk::PipelineCache::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_render_pass(vk::RenderPass::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_framebuffer(vk::Framebuffer::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_descriptor_pool(vk::DescriptorPool::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_descriptor_set_layout(vk::DescriptorSetLayout::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_command_pool(vk::CommandPool::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_query_pool(vk::QueryPool::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_fence(vk::Fence::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_semaphore(vk::Semaphore::from_raw(h), None) },
    |d, h| unsafe { d.device.destroy_event(vk::Event::from_raw(h), None) },
    |d, h| unsafe { d.device.free_memory(vk::DeviceMemory::from_raw(h), None) },
    |d, h| unsafe { d.device.unmap_memory(vk::DeviceMemory::from_raw(h)) },
    |d, h| unsafe {
        let _ = d.device.get_buffer_memory_requirements(vk::Buffer::from_raw(h));
    },
    |d, h| unsafe {
        let _ = d.device.get_image_memory_requirements(vk::Image::from_raw(h));
    },
    |d, h| unsafe {
        let _ = d.device.get_image_subresource_layout(vk::Image::from_raw(h), Default::default());
    },
    |d, h| unsafe {
        let _ = d.device.get_render_area_granularity(vk::RenderPass::from_raw(h));
    },
    |d, h| unsafe {
        let write = vk::WriteDescriptorSet::default().dst_set(vk::DescriptorSet::from_raw(h));
        let buffers = [vk::DescriptorBufferInfo { buffer: vk::Buffer::from_raw(h), offset: 0, range: 4 }];
        let write = write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&buffers);
        d.device.update_descriptor_sets(&[write], &[]);
    },
];

/// Calls that return an error for an invalid handle.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is wrong on purpose, which the driver promises to survive"
)]
const NEEDS: &[Call] = &[
    |d, h| unsafe { d.device.get_fence_status(vk::Fence::from_raw(h)).map(drop) },
    |d, h| unsafe { d.device.reset_fences(&[vk::Fence::from_raw(h)]) },
    |d, h| unsafe { d.device.wait_for_fences(&[vk::Fence::from_raw(h)], true, 0) },
    |d, h| unsafe { d.device.get_event_status(vk::Event::from_raw(h)).map(drop) },
    |d, h| unsafe { d.device.set_event(vk::Event::from_raw(h)) },
    |d, h| unsafe { d.device.reset_event(vk::Event::from_raw(h)) },
    |d, h| unsafe { d.device.map_memory(vk::DeviceMemory::from_raw(h), 0, 4, Default::default()).map(drop) },
    |d, h| unsafe { d.device.bind_buffer_memory(vk::Buffer::from_raw(h), vk::DeviceMemory::from_raw(h), 0) },
    |d, h| unsafe { d.device.bind_image_memory(vk::Image::from_raw(h), vk::DeviceMemory::from_raw(h), 0) },
    |d, h| unsafe { d.device.reset_command_pool(vk::CommandPool::from_raw(h), Default::default()) },
    |d, h| unsafe { d.device.reset_descriptor_pool(vk::DescriptorPool::from_raw(h), Default::default()) },
    |d, h| unsafe {
        let mut out = [0u32; 4];
        d.device.get_query_pool_results(vk::QueryPool::from_raw(h), 0, &mut out, Default::default())
    },
    |d, h| unsafe {
        let info = vk::BufferViewCreateInfo::default().buffer(vk::Buffer::from_raw(h)).format(vk::Format::R32_UINT);
        d.device.create_buffer_view(&info.range(4), None).map(drop)
    },
    |d, h| unsafe {
        let info = vk::ImageViewCreateInfo::default().image(vk::Image::from_raw(h));
        d.device.create_image_view(&info, None).map(drop)
    },
    |d, h| unsafe {
        let views = [vk::ImageView::from_raw(h)];
        let pass = vk::RenderPass::from_raw(h);
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).width(1).height(1);
        d.device.create_framebuffer(&info.layers(1), None).map(drop)
    },
    |d, h| unsafe {
        let layouts = [vk::DescriptorSetLayout::from_raw(h)];
        d.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts), None).map(drop)
    },
    |d, h| unsafe {
        let layouts = [vk::DescriptorSetLayout::from_raw(h)];
        let pool = vk::DescriptorPool::from_raw(h);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        d.device.allocate_descriptor_sets(&info).map(drop)
    },
    |d, h| unsafe {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(vk::CommandPool::from_raw(h));
        d.device.allocate_command_buffers(&info.command_buffer_count(1)).map(drop)
    },
    |d, h| unsafe {
        let stage = vk::PipelineShaderStageCreateInfo::default().module(vk::ShaderModule::from_raw(h)).name(c"main");
        let stage = stage.stage(vk::ShaderStageFlags::COMPUTE);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(vk::PipelineLayout::from_raw(h))];
        let made = d.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        made.map(drop).map_err(|(_, code)| code)
    },
    |d, h| unsafe {
        let conversion = vk::SamplerYcbcrConversion::from_raw(h);
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        d.device.create_sampler(&vk::SamplerCreateInfo::default().push_next(&mut chained), None).map(drop)
    },
    |d, h| unsafe {
        let semaphores = [vk::Semaphore::from_raw(h)];
        let submit = vk::SubmitInfo::default().signal_semaphores(&semaphores);
        d.device.queue_submit(d.queue, &[submit], vk::Fence::null())
    },
];

type Record = fn(&ash::Device, vk::CommandBuffer, u64);

/// Commands that do nothing with an invalid handle.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is wrong on purpose, which the driver promises to survive"
)]
const COMMANDS: &[Record] = &[
    |d, c, h| unsafe { d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, vk::Pipeline::from_raw(h)) },
    |d, c, h| unsafe { d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, vk::Pipeline::from_raw(h)) },
    |d, c, h| unsafe {
        let (layout, set) = (vk::PipelineLayout::from_raw(h), vk::DescriptorSet::from_raw(h));
        d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
    },
    |d, c, h| unsafe { d.cmd_bind_vertex_buffers(c, 0, &[vk::Buffer::from_raw(h)], &[0]) },
    |d, c, h| unsafe { d.cmd_bind_index_buffer(c, vk::Buffer::from_raw(h), 0, vk::IndexType::UINT32) },
    |d, c, h| unsafe {
        d.cmd_push_constants(c, vk::PipelineLayout::from_raw(h), vk::ShaderStageFlags::ALL, 0, &[0; 4])
    },
    |d, c, _| unsafe { d.cmd_draw(c, 3, 1, 0, 0) },
    |d, c, _| unsafe { d.cmd_draw_indexed(c, 3, 1, 0, 0, 0) },
    |d, c, _| unsafe { d.cmd_dispatch(c, 1, 1, 1) },
    |d, c, h| unsafe { d.cmd_draw_indirect(c, vk::Buffer::from_raw(h), 0, 1, 16) },
    |d, c, h| unsafe { d.cmd_draw_indexed_indirect(c, vk::Buffer::from_raw(h), 0, 1, 20) },
    |d, c, h| unsafe { d.cmd_dispatch_indirect(c, vk::Buffer::from_raw(h), 0) },
    |d, c, h| unsafe { d.cmd_fill_buffer(c, vk::Buffer::from_raw(h), 0, 4, 0) },
    |d, c, h| unsafe { d.cmd_update_buffer(c, vk::Buffer::from_raw(h), 0, &[0; 4]) },
    |d, c, h| unsafe {
        let region = vk::BufferCopy { size: 4, ..Default::default() };
        d.cmd_copy_buffer(c, vk::Buffer::from_raw(h), vk::Buffer::from_raw(h), &[region]);
    },
    |d, c, h| unsafe {
        let (image, layout) = (vk::Image::from_raw(h), vk::ImageLayout::GENERAL);
        d.cmd_copy_image(c, image, layout, image, layout, &[Default::default()]);
        d.cmd_blit_image(c, image, layout, image, layout, &[Default::default()], vk::Filter::NEAREST);
        d.cmd_resolve_image(c, image, layout, image, layout, &[Default::default()]);
    },
    |d, c, h| unsafe {
        let (image, buffer, layout) = (vk::Image::from_raw(h), vk::Buffer::from_raw(h), vk::ImageLayout::GENERAL);
        d.cmd_copy_buffer_to_image(c, buffer, image, layout, &[Default::default()]);
        d.cmd_copy_image_to_buffer(c, image, layout, buffer, &[Default::default()]);
    },
    |d, c, h| unsafe {
        let (image, layout) = (vk::Image::from_raw(h), vk::ImageLayout::GENERAL);
        d.cmd_clear_color_image(c, image, layout, &Default::default(), &[Default::default()]);
        d.cmd_clear_depth_stencil_image(c, image, layout, &Default::default(), &[Default::default()]);
    },
    |d, c, h| unsafe {
        d.cmd_set_event(c, vk::Event::from_raw(h), vk::PipelineStageFlags::ALL_COMMANDS);
        d.cmd_reset_event(c, vk::Event::from_raw(h), vk::PipelineStageFlags::ALL_COMMANDS);
    },
    |d, c, h| unsafe {
        let pool = vk::QueryPool::from_raw(h);
        d.cmd_reset_query_pool(c, pool, 0, 1);
        d.cmd_begin_query(c, pool, 0, Default::default());
        d.cmd_end_query(c, pool, 0);
        d.cmd_write_timestamp(c, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
        d.cmd_copy_query_pool_results(c, pool, 0, 1, vk::Buffer::from_raw(h), 0, 4, Default::default());
    },
    |d, c, h| unsafe {
        let info = vk::RenderPassBeginInfo::default().render_pass(vk::RenderPass::from_raw(h));
        let info = info.framebuffer(vk::Framebuffer::from_raw(h));
        d.cmd_begin_render_pass(c, &info, vk::SubpassContents::INLINE);
        d.cmd_next_subpass(c, vk::SubpassContents::INLINE);
        d.cmd_end_render_pass(c);
    },
    |d, c, _| unsafe { d.cmd_execute_commands(c, &[vk::CommandBuffer::null()]) },
];

/// Returns null, random handles, a stale one, one of another type, and one of another device.
fn wrong_handles(driver: &Driver, other: &Driver) -> Vec<u64> {
    // SAFETY: valid usage.
    unsafe {
        let (stale, memory) = driver.buffer(64).unwrap();
        driver.device.destroy_buffer(stale, None);
        driver.device.free_memory(memory, None);
        let (foreign, _) = other.buffer(64).unwrap();
        // No call in the tables accepts a live handle of this type.
        let info = vk::SamplerCreateInfo::default();
        let another = driver.device.create_sampler(&info, None).unwrap();
        let mut handles = vec![0, 1, 0x1234, u64::MAX, 0xdead_beef_dead_beef, 1 << 63];
        handles.extend([stale.as_raw(), memory.as_raw(), foreign.as_raw(), another.as_raw()]);
        handles
    }
}

#[test]
fn wrong_handles_are_errors_or_ignored_everywhere() {
    let (driver, other) = (Driver::open(), Driver::open());
    for handle in wrong_handles(&driver, &other) {
        for (number, call) in NEEDS.iter().enumerate() {
            let result = call(&driver, handle);
            // Null is allowed where it has a meaning.
            assert!(result.is_err() || handle == 0, "call {number} with {handle:#x}");
        }
        for (number, record) in COMMANDS.iter().enumerate() {
            let ran = driver.run(|device, commands| record(device, commands, handle));
            assert_eq!(ran, Ok(()), "command {number} with {handle:#x}");
        }
    }
    for handle in wrong_handles(&driver, &other) {
        DESTROYS.iter().for_each(|call| call(&driver, handle));
    }
    assert!(!driver.messages.lock().unwrap().is_empty(), "wrong handles are told of");
    driver.run(|_, _| ()).unwrap();
    other.close();
    driver.close();
}

/// Returns the next number of a generator (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Creates a module and a compute pipeline with it.
fn try_module(driver: &Driver, layout: &Layout, bytes: &[u8]) -> Result<(), vk::Result> {
    let module = driver.module(bytes)?;
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
    let stage = stage.module(module).name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.layout)];
    // SAFETY: the driver accepts or refuses any module without undefined behaviour.
    unsafe {
        let made = driver.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        made.iter().flatten().for_each(|&pipeline| driver.device.destroy_pipeline(pipeline, None));
        driver.device.destroy_shader_module(module, None);
        made.map(drop).map_err(|(_, code)| code)
    }
}

#[test]
fn modules_that_are_none_are_refused_with_a_message() {
    let driver = Driver::open();
    let layout = Layout::new(&driver, driver.buffer(64).unwrap().0).unwrap();
    let (mut state, mut refused) = (0x1234_5678_9abc_def1, 0);
    for turn in 0..600u64 {
        let mut bytes = ENDLESS.to_vec();
        match turn % 3 {
            0 => bytes.truncate(next(&mut state) as usize % bytes.len() / 4 * 4),
            1 => {
                let bit = next(&mut state) as usize % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            _ => bytes.iter_mut().skip(20).for_each(|byte| *byte = next(&mut state) as u8),
        }
        refused += u32::from(try_module(&driver, &layout, &bytes).is_err());
    }
    assert!(refused >= 400, "{refused}");
    let messages = driver.messages.lock().unwrap().len();
    assert!(messages >= refused as usize, "{messages} messages for {refused} modules");
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

#[test]
fn sizes_beyond_every_limit_are_errors() {
    let driver = Driver::open();
    let device = &driver.device;
    let image = |width: u32, height: u32, depth: u32, levels: u32, layers: u32| {
        let kind = if depth > 1 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D };
        let info = vk::ImageCreateInfo::default()
            .image_type(kind)
            .format(vk::Format::R32G32B32A32_SFLOAT)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(levels)
            .array_layers(layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED);
        // SAFETY: the driver accepts or refuses any size without undefined behaviour.
        unsafe { device.create_image(&info, None).map(|image| device.destroy_image(image, None)) }
    };
    assert!(image(16, 16, 1, 1, 1).is_ok());
    let most = u32::MAX;
    let sizes =
        [(0, 1, 1, 1, 1), (most, 1, 1, 1, 1), (most, most, 1, 1, 1), (most, most, most, 1, 1), (1, 1, 1, most, 1)];
    for (width, height, depth, levels, layers) in
        sizes.into_iter().chain([(1, 1, 1, 1, most), (1, 1, 1, 0, 1), (1, 1, 1, 1, 0)])
    {
        assert!(image(width, height, depth, levels, layers).is_err(), "{width} {height} {depth} {levels} {layers}");
    }
    assert!(driver.allocate(u64::MAX).is_err());
    assert!(driver.allocate(1 << 50).is_err());
    // SAFETY: the driver accepts or refuses any size without undefined behaviour.
    unsafe {
        for size in [0, u64::MAX] {
            let made = device.create_buffer(&vk::BufferCreateInfo::default().size(size), None);
            if let Ok(buffer) = made {
                let needs = device.get_buffer_memory_requirements(buffer).size;
                assert!(needs == 0 || driver.allocate(needs).is_err(), "{size}");
                device.destroy_buffer(buffer, None);
            }
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(u32::MAX);
        assert!(device.create_query_pool(&info, None).is_err());
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::SAMPLER, descriptor_count: u32::MAX }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(u32::MAX).pool_sizes(&sizes);
        if let Ok(pool) = device.create_descriptor_pool(&info, None) {
            device.destroy_descriptor_pool(pool, None);
        }
    }
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

/// Draws with a buffer whose first word counts fragments, and returns the count.
fn count_fragments(
    driver: &Driver,
    vertex: &[u8],
    fetches: bool,
    draw: impl FnOnce(&ash::Device, vk::CommandBuffer),
) -> Result<u32, vk::Result> {
    let (buffer, memory) = driver.buffer(64)?;
    let layout = Layout::new(driver, buffer)?;
    let stages = [(vk::ShaderStageFlags::VERTEX, vertex), (vk::ShaderStageFlags::FRAGMENT, COUNT)];
    let drawing = Drawing::new(driver, &layout, &stages, vk::PrimitiveTopology::TRIANGLE_LIST, fetches)?;
    driver.run(|device, commands| {
        drawing.begin(device, commands, &layout);
        draw(device, commands);
        // SAFETY: valid usage.
        unsafe { device.cmd_end_render_pass(commands) };
    })?;
    // SAFETY: this is the only mapping of the memory, and no submission is pending.
    unsafe {
        let pointer = driver.device.map_memory(memory, 0, 64, Default::default())?.cast::<u32>();
        let count = pointer.read();
        driver.device.unmap_memory(memory);
        Ok(count)
    }
}

/// Draws triangles with the given positions, and returns the number of fragments.
fn draw_positions(driver: &Driver, positions: &[[f32; 4]]) -> u32 {
    let (vertices, memory) = driver.buffer(size_of_val(positions) as u64).unwrap();
    // SAFETY: usage is valid, and the buffer has room for the positions.
    unsafe {
        let pointer = driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).unwrap();
        pointer.cast::<[f32; 4]>().copy_from_nonoverlapping(positions.as_ptr(), positions.len());
        driver.device.unmap_memory(memory);
    }
    let count = positions.len() as u32;
    // SAFETY: valid usage.
    let draw = |device: &ash::Device, commands: vk::CommandBuffer| unsafe {
        device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
        device.cmd_draw(commands, count, 1, 0, 0);
    };
    count_fragments(driver, WILD, true, draw).unwrap()
}

#[test]
fn positions_that_are_no_numbers_draw_nothing_and_large_ones_are_clipped() {
    let driver = Driver::open();
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let whole = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];
    assert_eq!(draw_positions(&driver, &whole), 64 * 64);
    for wild in [[nan; 4], [nan, 0.0, 0.5, 1.0], [0.0, 0.0, nan, 1.0], [0.0, 0.0, 0.5, nan]] {
        assert_eq!(draw_positions(&driver, &[wild, whole[1], whole[2]]), 0, "{wild:?}");
    }
    // Only two properties are defined: the draw ends, and no pixel is drawn twice.
    for wild in [
        [infinity; 4],
        [-infinity, 0.0, 0.0, 1.0],
        [f32::MAX; 4],
        [f32::MIN_POSITIVE; 4],
        [0.0; 4],
        [1.0, 1.0, 1.0, -1.0],
    ] {
        assert!(draw_positions(&driver, &[wild, whole[1], whole[2]]) <= 64 * 64, "{wild:?}");
        assert!(draw_positions(&driver, &[wild, wild, wild]) <= 64 * 64, "{wild:?}");
    }
    let large = whole.map(|[x, y, z, w]| [x * 1e3, y * 1e3, z, w]);
    assert_eq!(draw_positions(&driver, &large), 64 * 64);
    driver.close();
}

#[test]
fn viewports_and_scissors_may_be_anything() {
    let driver = Driver::open();
    let largest = i32::MAX;
    let count = |viewport: [f32; 4], scissor: ([i32; 2], [u32; 2])| {
        // SAFETY: the draw has defined results for any parameters.
        let draw = |device: &ash::Device, commands: vk::CommandBuffer| unsafe {
            let [x, y, width, height] = viewport;
            let viewport = vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 };
            device.cmd_set_viewport(commands, 0, &[viewport]);
            let ([x, y], [width, height]) = scissor;
            let rect = vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } };
            device.cmd_set_scissor(commands, 0, &[rect]);
            device.cmd_draw(commands, 3, 1, 0, 0);
        };
        count_fragments(&driver, LARGE, false, draw).unwrap()
    };
    let (window, everything) = ([0.0, 0.0, 64.0, 64.0], ([0, 0], [64, 64]));
    assert_eq!(count(window, everything), 64 * 64);
    assert_eq!(count(window, ([10, 20], [5, 4])), 20);
    assert_eq!(count(window, ([0, 0], [u32::MAX, u32::MAX])), 64 * 64);
    assert_eq!(count(window, ([largest, largest], [u32::MAX, u32::MAX])), 0);
    assert_eq!(count(window, ([0, 0], [0, 0])), 0);
    assert_eq!(count([0.0, 0.0, 0.0, 0.0], everything), 0);
    assert_eq!(count([-16384.0, -16384.0, 32768.0, 32768.0], everything), 64 * 64);
    for wild in [[f32::NAN; 4], [f32::INFINITY; 4], [f32::MAX; 4], [0.0, 0.0, -64.0, -64.0]] {
        assert!(count(wild, everything) <= 64 * 64, "{wild:?}");
    }
    driver.close();
}

#[test]
fn indices_out_of_range_and_draws_of_a_hostile_length_end() {
    let driver = Driver::open();
    let (indices, memory) = driver.buffer(64).unwrap();
    // SAFETY: the buffer has 16 words. Usage is valid except for the indices, which the driver
    // checks.
    unsafe {
        let pointer = driver.device.map_memory(memory, 0, 64, Default::default()).unwrap().cast::<u32>();
        (0..16).for_each(|index| pointer.add(index).write(u32::MAX - 7 * index as u32));
        driver.device.unmap_memory(memory);
    }
    let (vertices, _) = driver.buffer(48).unwrap();
    for (count, first, offset) in [(16, 0, 0), (16, 8, 0), (300, 0, i32::MAX), (3, u32::MAX, i32::MIN)] {
        // SAFETY: robust buffer access is enabled, so out-of-range fetches are defined.
        let draw = |device: &ash::Device, commands: vk::CommandBuffer| unsafe {
            device.cmd_bind_vertex_buffers(commands, u32::MAX, &[vertices], &[0]);
            device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, count, 1, first, offset, 0);
        };
        assert_eq!(count_fragments(&driver, WILD, true, draw), Ok(0), "{count} {first} {offset}");
    }
    // SAFETY: the draw has defined results for any count.
    let endless = |device: &ash::Device, commands: vk::CommandBuffer| unsafe {
        device.cmd_draw(commands, u32::MAX, u32::MAX, u32::MAX, u32::MAX);
    };
    let ran = count_fragments(&driver, LARGE, false, endless);
    assert!(matches!(ran, Ok(_) | Err(vk::Result::ERROR_DEVICE_LOST)), "{ran:?}");
    driver.close();
    let next = Driver::open();
    next.run(|_, _| ()).unwrap();
    next.close();
}

/// Function that changes a value of a pipeline's description.
type Change = fn(&mut common::Described);

/// Unsupported values in create infos: each is refused with a message that names it.
#[test]
fn values_that_are_not_advertised_are_refused_by_name() {
    let driver = Driver::open();
    let layout = Layout::new(&driver, driver.buffer(256).unwrap().0).unwrap();
    let stages = [(vk::ShaderStageFlags::VERTEX, LARGE), (vk::ShaderStageFlags::FRAGMENT, COUNT)];
    let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
    let drawing = Drawing::new(&driver, &layout, &stages, topology, false).unwrap();
    for samples in [0, 3, 32, 64, 1 << 20, 1 << 30, u32::MAX] {
        let samples = vk::SampleCountFlags::from_raw(samples);
        let refused = drawing.again(&driver, &layout, &stages, |info| info.samples = samples);
        assert_eq!(refused, Err(vk::Result::ERROR_UNKNOWN), "{samples:?}");
        assert!(driver.last_message().contains("rasterizationSamples"), "{}", driver.last_message());
    }
    let wrong: [(&str, Change); 8] = [
        ("topology", |info| info.topology = vk::PrimitiveTopology::from_raw(11)),
        ("polygonMode", |info| info.polygon_mode = vk::PolygonMode::from_raw(3)),
        ("cullMode", |info| info.cull_mode = vk::CullModeFlags::from_raw(4)),
        ("frontFace", |info| info.front_face = vk::FrontFace::from_raw(-1)),
        ("viewportCount", |info| info.viewports = 17),
        ("binding", |info| info.binding = 32),
        ("format", |info| info.format = vk::Format::BC1_RGBA_UNORM_BLOCK),
        ("subpass", |info| info.subpass = 1),
    ];
    for (name, change) in wrong {
        let refused = drawing.again(&driver, &layout, &stages, change);
        assert_eq!(refused, Err(vk::Result::ERROR_UNKNOWN), "{name}");
        assert!(driver.last_message().contains(name), "{name}: {}", driver.last_message());
    }
    assert_eq!(drawing.again(&driver, &layout, &stages, |_| ()), Ok(()));
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

/// Images and views with unsupported values, which a test against a mask of allowed bits would
/// accept.
#[test]
fn samples_levels_and_layers_that_are_none_are_refused() {
    let driver = Driver::open();
    let device = &driver.device;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
        .mip_levels(5)
        .array_layers(6)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED);
    // SAFETY: the driver checks all values.
    unsafe {
        for samples in [0, 3, 32, 1 << 30] {
            let samples = vk::SampleCountFlags::from_raw(samples);
            assert!(device.create_image(&info.mip_levels(1).samples(samples), None).is_err(), "{samples:?}");
        }
        assert!(device.create_image(&info.mip_levels(6), None).is_err());
        assert!(device.create_image(&info.tiling(vk::ImageTiling::from_raw(9)), None).is_err());
        let image = device.create_image(&info, None).unwrap();
        let view = |base_mip_level, level_count, base_array_layer, layer_count| {
            let aspect_mask = vk::ImageAspectFlags::COLOR;
            let range =
                vk::ImageSubresourceRange { aspect_mask, base_mip_level, level_count, base_array_layer, layer_count };
            let info = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D_ARRAY);
            let info = info.format(vk::Format::R8G8B8A8_UNORM).subresource_range(range);
            device.create_image_view(&info, None).map(|view| device.destroy_image_view(view, None))
        };
        let all = vk::REMAINING_MIP_LEVELS;
        assert!(view(0, 5, 0, 6).is_ok() && view(4, 1, 5, 1).is_ok() && view(1, all, 2, all).is_ok());
        for (level, levels, layer, layers) in [
            (5, 1, 0, 1),
            (4, 2, 0, 1),
            (0, 0, 0, 1),
            (0, 1, 6, 1),
            (0, 1, 5, 2),
            (u32::MAX, all, 0, all),
            (0, 1, 0, 0),
        ] {
            assert!(view(level, levels, layer, layers).is_err(), "{level} {levels} {layer} {layers}");
        }
    }
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

/// Null arrays with a count above zero.
#[test]
fn null_arrays_are_errors() {
    use std::ptr::null;
    let driver = Driver::open_for(vk::API_VERSION_1_1, &[]);
    let (device, functions) = (driver.device.handle(), driver.device.fp_v1_0());
    let newer = driver.device.fp_v1_1();
    // SAFETY: the driver checks null pointers.
    let codes = unsafe {
        let pool = driver.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let layouts = vk::DescriptorSetAllocateInfo { descriptor_set_count: 1, ..Default::default() };
        let query = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
        let queries = driver.device.create_query_pool(&query, None).unwrap();
        let submit = vk::SubmitInfo { command_buffer_count: 1, ..Default::default() };
        [
            (functions.wait_for_fences)(device, 1, null(), vk::TRUE, 0),
            (functions.reset_fences)(device, 1, null()),
            (functions.queue_submit)(driver.queue, 1, null(), vk::Fence::null()),
            (functions.queue_submit)(driver.queue, 1, &raw const submit, vk::Fence::null()),
            (functions.flush_mapped_memory_ranges)(device, 1, null()),
            (functions.invalidate_mapped_memory_ranges)(device, 1, null()),
            (functions.allocate_command_buffers)(device, &raw const info, std::ptr::null_mut()),
            (functions.allocate_command_buffers)(device, null(), std::ptr::null_mut()),
            (functions.allocate_descriptor_sets)(device, &raw const layouts, std::ptr::null_mut()),
            (functions.free_descriptor_sets)(device, vk::DescriptorPool::null(), 1, null()),
            (functions.get_query_pool_results)(
                device,
                queries,
                0,
                1,
                4,
                std::ptr::null_mut(),
                4,
                vk::QueryResultFlags::empty(),
            ),
            (functions.begin_command_buffer)(driver.device.allocate_command_buffers(&info).unwrap()[0], null()),
            (newer.bind_buffer_memory2)(device, 1, null()),
            (newer.bind_image_memory2)(device, 1, null()),
        ]
    };
    for (number, code) in codes.into_iter().enumerate() {
        assert!(code.as_raw() < 0, "call {number}: {code:?}");
    }
    driver.run(|_, _| ()).unwrap();
    driver.close();
}
