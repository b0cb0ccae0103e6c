//! What became a part of Vulkan 1.2, by the extensions that brought it: timelines, layouts of blocks, atomics of 64 bits, counts in
//! buffers, framebuffers without images, resolves of depth and stencil.

use ash::khr;
use ash::vk::{self, DescriptorType as D, ResolveModeFlags as Mode};

use super::subpasses::{Depth, PipelineDesc, pipeline_of, whole};
use crate::Entry;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check, range};
use crate::render::{Draw, FULL, Kind, SIZE, State, TEXTURE, Target, render};

const SCALAR: &[u8] = include_bytes!("../../shaders/scalar.comp.spv");
const WIDE_ATOMICS: &[u8] = include_bytes!("../../shaders/wide_atomics.comp.spv");
const DENORMALS: &[u8] = include_bytes!("../../shaders/denormals.comp.spv");
const PARAMETERS: &[u8] = include_bytes!("../../shaders/parameters.vert.spv");

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add =
        |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(format!("core12.{name}"), section, run));
    add("timeline.host", "VK_KHR_timeline_semaphore", timeline_host);
    add("timeline.queue", "VK_KHR_timeline_semaphore", timeline_queue);
    add("queries.host_reset", "VK_EXT_host_query_reset", host_reset);
    add("shaders.scalar_layout", "VK_EXT_scalar_block_layout", scalar_layout);
    add("shaders.wide_atomics", "VK_KHR_shader_atomic_int64, VK_KHR_vulkan_memory_model", wide_atomics);
    add("shaders.denormals", "VK_KHR_shader_float_controls", denormals);
    add("samplers.mirror_clamp", "VK_KHR_sampler_mirror_clamp_to_edge", mirror_clamp);
    add("draws.counted", "VK_KHR_draw_indirect_count", counted);
    add("framebuffers.imageless", "VK_KHR_imageless_framebuffer", imageless);
    add("device.properties", "VK_KHR_driver_properties", driver);
    add("images.stencil_usage", "VK_EXT_separate_stencil_usage", stencil_usage);
    let modes = [("none", Mode::NONE), ("first", Mode::SAMPLE_ZERO), ("min", Mode::MIN), ("max", Mode::MAX)];
    for (first, depth) in modes.into_iter().chain([("average", Mode::AVERAGE)]) {
        for (second, stencil) in modes.into_iter().filter(|(second, _)| (first, *second) != ("none", "none")) {
            let run = move |gpu: &Gpu| depth_resolve(gpu, depth, stencil);
            let name = format!("core12.depth_resolve.{first}_{second}");
            all.push(Entry::new(name, "VK_KHR_depth_stencil_resolve", run));
        }
    }
}

fn timeline(gpu: &Gpu, value: u64) -> Result<vk::Semaphore, Outcome> {
    let mut kind =
        vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(value);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_semaphore(&info, None) }?)
}

/// The host signals and waits, for one and for any.
fn timeline_host(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_TIMELINE_SEMAPHORE_NAME)?;
    let second = khr::timeline_semaphore::Device::new(&gpu.instance, &gpu.device);
    let both = [timeline(gpu, 7)?, timeline(gpu, 0)?];
    let wait = |values: [u64; 2], flags| {
        let info = vk::SemaphoreWaitInfo::default().semaphores(&both).values(&values).flags(flags);
        // SAFETY: the semaphores are valid.
        unsafe { second.wait_semaphores(&info, 1_000_000) }
    };
    let (all, any) = (vk::SemaphoreWaitFlags::empty(), vk::SemaphoreWaitFlags::ANY);
    check(wait([7, 0], all).is_ok(), || "values that are reached were waited for".into())?;
    check(wait([8, 1], any) == Err(vk::Result::TIMEOUT), || "a wait for what nobody does came back".into())?;
    // SAFETY: valid usage: values grow.
    unsafe {
        second.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(both[1]).value(1 << 40))?;
        let value = second.get_semaphore_counter_value(both[1])?;
        check(value == 1 << 40, || format!("the counter is {value}"))?;
    }
    check(wait([8, 1], any).is_ok(), || "one of two is not enough".into())?;
    check(wait([8, 1], all) == Err(vk::Result::TIMEOUT), || "one of two is enough".into())
}

/// A submission waits for a value that the host signals after it, and then signals its own; a second one waits for that.
fn timeline_queue(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_TIMELINE_SEMAPHORE_NAME)?;
    let second = khr::timeline_semaphore::Device::new(&gpu.instance, &gpu.device);
    let semaphore = [timeline(gpu, 1)?];
    let buffer = gpu.buffer(256)?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(2);
    // SAFETY: valid usage: each wait has its signal.
    unsafe {
        let commands = gpu.device.allocate_command_buffers(&info)?;
        for (number, &commands) in commands.iter().enumerate() {
            gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            gpu.device.cmd_fill_buffer(commands, buffer.handle, number as u64 * 128, 256 - 128, number as u32 + 5);
            gpu.barrier(commands, None);
            gpu.device.end_command_buffer(commands)?;
        }
        let values = [[2], [3], [4]];
        let mut timelines = [0, 1].map(|number| {
            vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&values[number])
                .signal_semaphore_values(&values[number + 1])
        });
        let [first, last] = &mut timelines;
        let submit = |number: usize| {
            vk::SubmitInfo::default()
                .wait_semaphores(&semaphore)
                .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
                .signal_semaphores(&semaphore)
                .command_buffers(&commands[number..=number])
        };
        let submits = [submit(0).push_next(first), submit(1).push_next(last)];
        gpu.device.queue_submit(gpu.queue, &submits, vk::Fence::null())?;
        let before = second.get_semaphore_counter_value(semaphore[0])?;
        check(before == 1 && buffer.words()[0] == 0, || "the queue did not wait".into())?;
        second.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore[0]).value(2))?;
        let value = [4];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphore).values(&value);
        second.wait_semaphores(&info, u64::MAX)?;
        let words = buffer.words();
        check(words[0] == 5 && words[63] == 6, || format!("{words:?}"))?;
        gpu.device.queue_wait_idle(gpu.queue)?;
    }
    Ok(())
}

fn host_reset(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_HOST_QUERY_RESET_NAME)?;
    let second = ash::ext::host_query_reset::Device::new(&gpu.instance, &gpu.device);
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(4);
    let mut times = [0u64; 2];
    // SAFETY: valid usage: what is written was reset, and what is read was written.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        (second.fp().reset_query_pool_ext)(gpu.device.handle(), pool, 0, 4);
        gpu.run(|commands| {
            for query in 1..3 {
                gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, query);
            }
        })?;
        gpu.device.get_query_pool_results(pool, 1, &mut times, vk::QueryResultFlags::TYPE_64)?;
        (second.fp().reset_query_pool_ext)(gpu.device.handle(), pool, 1, 1);
        let mut one = [0u64];
        let gone = gpu.device.get_query_pool_results(pool, 1, &mut one, vk::QueryResultFlags::TYPE_64);
        check(gone == Err(vk::Result::NOT_READY), || format!("a query that was reset is {gone:?}"))?;
        gpu.device.get_query_pool_results(pool, 2, &mut one, vk::QueryResultFlags::TYPE_64)?;
        check(one[0] == times[1], || "another query was reset".into())
    }
}

fn scalar_layout(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SCALAR_BLOCK_LAYOUT_NAME)?;
    gpu.need(vk::KHR_UNIFORM_BUFFER_STANDARD_LAYOUT_NAME)?;
    // Small whole numbers, so that every order of operations gives the same.
    let numbers = |count: u32, step: u32| -> Vec<f32> { (0..count).map(|at| (at * step % 17) as f32).collect() };
    let (a, c, d) = (numbers(64, 3), numbers(17, 5), numbers(23, 7));
    // The pairs of C begin at 40 bytes: after 36, on a multiple of 8.
    let mut c_words = c.clone();
    c_words.insert(9, 99.0);
    let out = gpu.buffer(256)?;
    let buffers = [
        (D::STORAGE_BUFFER, gpu.buffer_with(&a)?),
        (D::STORAGE_BUFFER, out),
        (D::UNIFORM_BUFFER, gpu.buffer_with(&c_words)?),
        (D::UNIFORM_BUFFER, gpu.buffer_with(&d)?),
    ];
    let compute = gpu.compute_pipeline(SCALAR, 0, &buffers)?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    for (lane, found) in out.floats().into_iter().enumerate() {
        let part = &a[1 + lane % 10 * 6..];
        let own = part[0] + 2.0 * part[2] + 3.0 * part[3] + 4.0 * part[5] + 5.0 * a[63];
        let others = 6.0 * c[1 + lane % 8] + 7.0 * c[9 + lane % 4 * 2 + 1] + 8.0 * d[3 + lane % 8];
        let expected = own + others + 9.0 * d[11 + lane % 4 * 3 + 2];
        check(found == expected, || format!("lane {lane} gives {found}, not {expected}"))?;
    }
    Ok(())
}

fn wide_atomics(gpu: &Gpu) -> Case {
    let (atomics, model) = (&gpu.more.atomic_int64, &gpu.more.memory_model);
    let features = [
        gpu.features.shader_int64,
        atomics.shader_buffer_int64_atomics,
        atomics.shader_shared_int64_atomics,
        model.vulkan_memory_model,
        model.vulkan_memory_model_device_scope,
    ];
    if features.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("atomics of 64 bits in the Vulkan memory model".into()));
    }
    let a = gpu.buffer_with(&[5u64, 7, u64::MAX, 1 << 63, 0])?;
    let b = gpu.buffer(256)?;
    gpu.compute(WIDE_ATOMICS, 0, &[], &[a, b], [1, 1, 1])?;
    let words = a.words();
    let found: Vec<u64> = words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
    let sum = ((0..64).sum::<u64>() << 40) + 64;
    let largest = (63 << 40) + 1;
    let expected = [sum + 5, largest, !largest, u64::MAX ^ 1 << 63, sum];
    check(found == expected, || format!("{found:x?}, not {expected:x?}"))?;
    let expected: Vec<u32> = (0..64).map(|lane| (63 - lane) * 3 + 2016 * 1000).collect();
    check(b.words() == expected, || format!("{:?}", b.words()))
}

fn denormals(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SHADER_FLOAT_CONTROLS_NAME)?;
    let mut own = vk::PhysicalDeviceFloatControlsProperties::default();
    properties2(gpu, &mut own);
    let needed = [
        gpu.more.float16_int8.shader_float16,
        own.shader_denorm_preserve_float16,
        own.shader_denorm_preserve_float32,
        own.shader_rounding_mode_rte_float16,
        own.shader_rounding_mode_rte_float32,
        own.shader_signed_zero_inf_nan_preserve_float16,
        own.shader_signed_zero_inf_nan_preserve_float32,
    ];
    if needed.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("kept denormals".into()));
    }
    let singles =
        [0x0080_0000u32, 0x0000_0003, 0x8000_0001, 0x807f_ffff, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x0000_0002];
    let halves = [0x0400u32, 0x0003, 0x8001, 0x83ff, 0x8000, 0x7c00, 0xfc00, 0x0002];
    let input: Vec<u32> =
        (0..64).map(|at| if at % 2 == 0 { singles[at / 2 % 8] } else { halves[at / 2 % 8] }).collect();
    let (a, b) = (gpu.buffer_with(&input)?, gpu.buffer(256)?);
    gpu.compute(DENORMALS, 0, &[], &[a, b], [1, 1, 1])?;
    for (at, (&word, found)) in input.iter().zip(b.words()).enumerate() {
        let expected = match at % 2 {
            0 => (f32::from_bits(word) * 0.5).to_bits(),
            _ => u32::from(half::f16::from_f32(half::f16::from_bits(word as u16).to_f32() * 0.5).to_bits()),
        };
        check(found == expected, || format!("half of {word:x} is {found:x}, not {expected:x}"))?;
    }
    Ok(())
}

/// Fills in a structure of properties.
fn properties2(gpu: &Gpu, own: &mut impl vk::ExtendsPhysicalDeviceProperties2) {
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(own);
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension, and the chain is valid.
    unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
}

/// From 0 to -2 a texture is what it is from 0 to 2 with its edge repeated.
fn mirror_clamp(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SAMPLER_MIRROR_CLAMP_TO_EDGE_NAME)?;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [4, 4], usage))?;
    let data: Vec<u8> = (0..64u32).map(|byte| (byte * 41 % 256) as u8).collect();
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, &data, layout)?;
    let picture = |mode, end| {
        let info = vk::SamplerCreateInfo::default().address_mode_u(mode).address_mode_v(mode).address_mode_w(mode);
        // SAFETY: the info is valid.
        let sampler = unsafe { gpu.device.create_sampler(&info, None) }?;
        let mut draw = Draw::rect(State { fragment: TEXTURE, ..State::default() }, FULL, [0.0; 4]);
        (draw.extra, draw.image) = (end, Some((image.view, sampler, layout)));
        render(gpu, &Target::default(), &[draw])
    };
    let expected = picture(vk::SamplerAddressMode::CLAMP_TO_EDGE, 2.0)?;
    let found = picture(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE, -2.0)?;
    check(found == expected, || "the picture is not mirrored at 0".into())?;
    check(picture(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE, 2.0)? == expected, || "it is not clamped at 1".into())
}

/// The number of draws is the smaller one of what a buffer says and what the command says.
fn counted(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DRAW_INDIRECT_COUNT_NAME)?;
    gpu.need(vk::KHR_SHADER_DRAW_PARAMETERS_NAME)?;
    let arguments: Vec<u32> = (0..4).flat_map(|draw| [6, 1, draw * 6, draw]).collect();
    let indexed: Vec<u32> = (0..4u32).flat_map(|draw| [6, 1, 0, draw * 6, draw]).collect();
    let (arguments, indexed) = (gpu.buffer_with(&arguments)?, gpu.buffer_with(&indexed)?);
    let indices = gpu.buffer_with(&[0u32, 1, 2, 3, 4, 5])?;
    for (said, most) in [(3, 4), (4, 2), (0, 4), (u32::MAX, 4)] {
        let counts = gpu.buffer_with(&[99, said])?;
        for with_indices in [false, true] {
            let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
            let buffer = if with_indices { indexed } else { arguments };
            draw.kind = Kind::Counted { buffer, counts, offset: 4, most, indices: with_indices.then_some(indices) };
            let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
            for (at, pixel) in pixels.iter().enumerate() {
                let draw = (at as u32 % SIZE / 4) as u8;
                let drawn = u32::from(draw) < said.min(most);
                let expected = if drawn { [draw * 6, draw, draw, 255] } else { [255; 4] };
                check(*pixel == expected, || format!("{said} of {most}: pixel {at} is {pixel:?}, not {expected:?}"))?;
            }
        }
    }
    Ok(())
}

/// One framebuffer without images clears two.
fn imageless(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_IMAGELESS_FRAMEBUFFER_NAME)?;
    let format = vk::Format::R8G8B8A8_UNORM;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let desc = ImageDesc::color(format, [SIZE; 2], usage);
    let images = [gpu.image(&desc)?, gpu.image(&desc)?];
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let colors = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let formats = [format];
    let described = [vk::FramebufferAttachmentImageInfo::default()
        .usage(usage)
        .width(SIZE)
        .height(SIZE)
        .layer_count(1)
        .view_formats(&formats)];
    let mut described = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&described);
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        let pass = gpu.device.create_render_pass(&info, None)?;
        let mut info = vk::FramebufferCreateInfo::default()
            .flags(vk::FramebufferCreateFlags::IMAGELESS)
            .render_pass(pass)
            .width(SIZE)
            .height(SIZE)
            .layers(1)
            .push_next(&mut described);
        info.attachment_count = 1;
        let framebuffer = gpu.device.create_framebuffer(&info, None)?;
        gpu.run(|commands| {
            for (image, red) in images.iter().zip([0.2, 0.6]) {
                let views = [image.view];
                let mut named = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
                let clears = [vk::ClearValue { color: vk::ClearColorValue { float32: [red, 0.0, 0.0, 0.0] } }];
                let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
                let begin = begin.render_area(whole()).clear_values(&clears).push_next(&mut named);
                gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                gpu.device.cmd_end_render_pass(commands);
            }
            gpu.barrier(commands, None);
        })?;
    }
    for (image, red) in images.iter().zip([51, 153]) {
        let bytes = gpu.read_image(image, vk::ImageAspectFlags::COLOR, 4)?;
        check(bytes.chunks(4).all(|texel| texel == [red, 0, 0, 0]), || format!("{:?}, not {red}", &bytes[..4]))?;
    }
    Ok(())
}

fn driver(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DRIVER_PROPERTIES_NAME)?;
    let mut own = vk::PhysicalDeviceDriverProperties::default();
    properties2(gpu, &mut own);
    let named = own.driver_name_as_c_str().is_ok_and(|name| !name.is_empty());
    check(named && own.driver_info_as_c_str().is_ok(), || format!("{own:?}"))?;
    let mut timelines = vk::PhysicalDeviceTimelineSemaphoreProperties::default();
    properties2(gpu, &mut timelines);
    let difference = timelines.max_timeline_semaphore_value_difference;
    check(!gpu.has(vk::KHR_TIMELINE_SEMAPHORE_NAME) || difference >= (1 << 31) - 1, || format!("{difference}"))
}

/// Stencil may be used for what depth is not; what neither can be used for is refused.
fn stencil_usage(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SEPARATE_STENCIL_USAGE_NAME)?;
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    let supports = |usage| {
        let mut stencil = vk::ImageStencilUsageCreateInfo::default().stencil_usage(usage);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(vk::Format::D32_SFLOAT_S8_UINT)
            .ty(vk::ImageType::TYPE_2D)
            .usage(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)
            .push_next(&mut stencil);
        // SAFETY: the info is valid.
        unsafe {
            query.get_physical_device_image_format_properties2(
                gpu.physical,
                &info,
                &mut vk::ImageFormatProperties2::default(),
            )
        }
        .is_ok()
    };
    let sampled = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    check(supports(sampled), || "stencil cannot be sampled".into())?;
    check(!supports(vk::ImageUsageFlags::COLOR_ATTACHMENT), || "stencil as colour".into())
}

/// Depths and stencils of the four samples, set one after the other by sample masks.
const SAMPLES: [(f32, u32); 4] = [(0.5, 7), (0.25, 200), (1.0, 3), (0.75, 9)];

fn depth_resolve(gpu: &Gpu, depth: Mode, stencil: Mode) -> Case {
    gpu.need(vk::KHR_DEPTH_STENCIL_RESOLVE_NAME)?;
    let mut own = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    properties2(gpu, &mut own);
    let supported = own.supported_depth_resolve_modes.contains(depth)
        && own.supported_stencil_resolve_modes.contains(stencil)
        && (depth == stencil
            || own.independent_resolve == vk::TRUE
            || (own.independent_resolve_none == vk::TRUE && (depth == Mode::NONE || stencil == Mode::NONE)));
    if !supported {
        return Err(Outcome::NotSupported(format!("resolving {depth:?} and {stencil:?}")));
    }
    let (from, to) = (depth_image(gpu, vk::SampleCountFlags::TYPE_4)?, depth_image(gpu, vk::SampleCountFlags::TYPE_1)?);
    let pass = resolving_pass(gpu, depth, stencil)?;
    let layout = gpu.layout(&[])?;
    let views = [from.view, to.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).width(SIZE).height(SIZE);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.layers(1), None) }?;
    let pipelines = [0, 1, 2, 3].map(|sample| sample_pipeline(gpu, pass, layout, sample));
    let pipelines = pipelines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let value = |depth, stencil| vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } };
    let clears = [value(0.0, 77), value(0.125, 99)];
    // The last row and column are outside.
    let extent = vk::Extent2D { width: SIZE - 1, height: SIZE - 1 };
    let area = vk::Rect2D { extent, ..Default::default() };
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
    let begin = begin.render_area(area).clear_values(&clears);
    gpu.run(|commands| {
        gpu.barrier(commands, Some((&to, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)));
        let (value, ranges) = (vk::ClearDepthStencilValue { depth: 0.0, stencil: 55 }, [range(to.aspects, 0, 1)]);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            let general = vk::ImageLayout::GENERAL;
            gpu.device.cmd_clear_depth_stencil_image(commands, to.handle, general, &value, &ranges);
            gpu.barrier(commands, None);
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            for (&pipeline, (depth, stencil)) in pipelines.iter().zip(SAMPLES) {
                gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                let push: Vec<f32> = [FULL, [0.0; 4], [depth, 0.0, 0.0, 0.0]].concat();
                let bytes: &[u8] = bytemuck::cast_slice(&push);
                gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
                gpu.device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, stencil);
                gpu.device.cmd_draw(commands, 6, 1, 0, 0);
            }
            gpu.device.cmd_end_render_pass(commands);
        }
        gpu.barrier(commands, Some((&to, vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
    })?;
    let depths = gpu.read_image(&to, vk::ImageAspectFlags::DEPTH, 4)?;
    let stencils = gpu.read_image(&to, vk::ImageAspectFlags::STENCIL, 1)?;
    for (at, (bytes, &found)) in depths.chunks(4).zip(&stencils).enumerate() {
        let outside = at as u32 % SIZE == SIZE - 1 || at as u32 / SIZE == SIZE - 1;
        // What is not resolved was cleared as the pass began.
        let (mut wanted, mut wanted_stencil) = if outside { (0.0, 55) } else { (0.125, 99) };
        if !outside {
            wanted = match depth {
                Mode::SAMPLE_ZERO => 0.5,
                Mode::AVERAGE => 0.625,
                Mode::MIN => 0.25,
                Mode::MAX => 1.0,
                _ => wanted,
            };
            wanted_stencil = match stencil {
                Mode::SAMPLE_ZERO => 7,
                Mode::MIN => 3,
                Mode::MAX => 200,
                _ => wanted_stencil,
            };
        }
        let depth = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let good = depth == wanted && found == wanted_stencil;
        check(good, || format!("pixel {at} has {depth} and {found}, not {wanted} and {wanted_stencil}"))?;
    }
    Ok(())
}

const BOTH: vk::ImageAspectFlags =
    vk::ImageAspectFlags::from_raw(vk::ImageAspectFlags::DEPTH.as_raw() | vk::ImageAspectFlags::STENCIL.as_raw());

fn depth_image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    gpu.image(&ImageDesc { format, size: [SIZE; 2], levels: 1, samples, usage, aspects: BOTH })
}

/// A pass with depth and stencil of four samples, resolved at its end; layouts of both are given apart.
fn resolving_pass(gpu: &Gpu, depth: Mode, stencil: Mode) -> Result<vk::RenderPass, Outcome> {
    let second = khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
    let (clear, store) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE);
    let attachment = |samples| {
        vk::AttachmentDescription2::default()
            .format(vk::Format::D32_SFLOAT_S8_UINT)
            .samples(samples)
            .load_op(clear)
            .stencil_load_op(clear)
            .store_op(store)
            .stencil_store_op(store)
            .initial_layout(vk::ImageLayout::GENERAL)
            .final_layout(vk::ImageLayout::GENERAL)
    };
    let from = attachment(vk::SampleCountFlags::TYPE_4).initial_layout(vk::ImageLayout::UNDEFINED);
    let attachments = [from, attachment(vk::SampleCountFlags::TYPE_1)];
    let mut apart =
        vk::AttachmentReferenceStencilLayout::default().stencil_layout(vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL);
    let mut reference =
        vk::AttachmentReference2::default().attachment(0).layout(vk::ImageLayout::GENERAL).aspect_mask(BOTH);
    if gpu.has(vk::KHR_SEPARATE_DEPTH_STENCIL_LAYOUTS_NAME) {
        reference = reference.layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL).push_next(&mut apart);
    }
    let target = vk::AttachmentReference2::default().attachment(1).layout(vk::ImageLayout::GENERAL).aspect_mask(BOTH);
    let mut resolve = vk::SubpassDescriptionDepthStencilResolve::default()
        .depth_resolve_mode(depth)
        .stencil_resolve_mode(stencil)
        .depth_stencil_resolve_attachment(&target);
    let subpass = vk::SubpassDescription2::default().depth_stencil_attachment(&reference);
    let subpasses = [subpass.push_next(&mut resolve)];
    let info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info, None) }?)
}

/// A pipeline that writes depth and stencil of one sample.
fn sample_pipeline(
    gpu: &Gpu,
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
    sample: u32,
) -> Result<vk::Pipeline, Outcome> {
    let desc = PipelineDesc {
        pass: (pass, 0),
        masks: &[],
        samples: vk::SampleCountFlags::TYPE_4,
        depth: Depth::OfSample(sample, BOTH),
        ..PipelineDesc::plain(layout)
    };
    pipeline_of(gpu, &desc)
}
