//! `VK_KHR_maintenance5` to `VK_KHR_maintenance7`, and `VK_EXT_pipeline_protected_access`.

use ash::vk::{self, DescriptorType as T};

use super::robust::{pipeline, range};
use crate::Entry;
use crate::harness::{Case, Compute, Gpu, ImageDesc, Outcome, check, layers};
use crate::newest::MAINTENANCE7;
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, prepare, record, render, render_pass};

const FILL: &[u8] = include_bytes!("../../shaders/fill.comp.spv");
const PAIR: &[u8] = include_bytes!("../../shaders/pair.comp.spv");
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add =
        |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(format!("maintenance.{name}"), section, run));
    add("five.index_ranges", "VK_KHR_maintenance5", index_ranges);
    add("five.layouts", "VK_KHR_maintenance5", subresource_layouts);
    add("five.granularity", "VK_KHR_maintenance5", granularity);
    add("five.formats", "VK_KHR_maintenance5", formats);
    add("five.remaining_layers", "VK_KHR_maintenance5", remaining_layers);
    add("five.flags", "VK_KHR_maintenance5", flags);
    add("six.binds", "VK_KHR_maintenance6", binds);
    add("six.null_indices", "VK_KHR_maintenance6", null_indices);
    add("six.bind_status", "VK_KHR_maintenance6", bind_status);
    add("seven.query_bits", "VK_KHR_maintenance7", query_bits);
    add("seven.contents", "VK_KHR_maintenance7", contents);
    add("seven.properties", "VK_KHR_maintenance7", properties7);
    add("protected.pipelines", "VK_EXT_pipeline_protected_access", unprotected);
}

fn need5(gpu: &Gpu) -> Result<ash::khr::maintenance5::Device, Outcome> {
    match gpu.more.maintenance5.maintenance5 {
        vk::TRUE => Ok(ash::khr::maintenance5::Device::new(&gpu.instance, &gpu.device)),
        _ => Err(Outcome::NotSupported("VK_KHR_maintenance5".into())),
    }
}

fn need6(gpu: &Gpu) -> Result<ash::khr::maintenance6::Device, Outcome> {
    match gpu.more.maintenance6.maintenance6 {
        vk::TRUE => Ok(ash::khr::maintenance6::Device::new(&gpu.instance, &gpu.device)),
        _ => Err(Outcome::NotSupported("VK_KHR_maintenance6".into())),
    }
}

/// A triangle by indices at the start of a buffer; `range` is how they are bound.
fn indexed(gpu: &Gpu, numbers: &[u32], range: Option<(u64, u64)>) -> Result<Vec<[u8; 4]>, Outcome> {
    let corners: [[f32; 2]; 4] = [[-0.8, -0.9], [0.9, -0.5], [0.1, 0.8], [-0.9, 0.9]];
    let vertices: Vec<f32> =
        corners.iter().flat_map(|[x, y]| [*x, *y, 0.5, 1.0, (x + 1.0) / 2.0, 0.5, 1.0, 1.0]).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let indices = gpu.buffer_with(numbers)?;
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.more.exact = range.is_some();
    let mut draw = Draw::rect(state, FULL, [0.0; 4]);
    draw.kind = Kind::Indexed { buffer, indices, count: 3, kind: vk::IndexType::UINT32 };
    draw.index_range = range;
    render(gpu, &Target::default(), &[draw])
}

/// Indices of a range of a buffer; what lies behind it is 0, where that is asked for.
fn index_ranges(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let expected = indexed(gpu, &[1, 2, 0], None)?;
    let whole = indexed(gpu, &[3, 1, 2, 0], Some((4, vk::WHOLE_SIZE)))?;
    check(whole == expected, || "the whole size is not the rest of the buffer".into())?;
    let cut = indexed(gpu, &[3, 1, 2, 3], Some((4, 8)))?;
    check(cut == expected, || "an index behind the range is not 0".into())
}

/// What an image's layout will be is what it is.
fn subresource_layouts(gpu: &Gpu) -> Case {
    let commands = need5(gpu)?;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 37, height: 5, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(vk::ImageUsageFlags::TRANSFER_DST);
    let subresource = vk::ImageSubresource { aspect_mask: COLOR, mip_level: 0, array_layer: 0 };
    let part = vk::ImageSubresource2KHR::default().image_subresource(subresource);
    let (mut before, mut after) = (vk::SubresourceLayout2KHR::default(), vk::SubresourceLayout2KHR::default());
    // SAFETY: the structures are alive; the image is valid.
    let plain = unsafe {
        let asked = vk::DeviceImageSubresourceInfoKHR::default().create_info(&info).subresource(&part);
        commands.get_device_image_subresource_layout(&asked, &mut before);
        let image = gpu.device.create_image(&info, None)?;
        commands.get_image_subresource_layout2(image, &part, &mut after);
        gpu.device.get_image_subresource_layout(image, subresource)
    };
    let numbers = |layout: &vk::SubresourceLayout| (layout.offset, layout.size, layout.row_pitch);
    let all = [&before.subresource_layout, &after.subresource_layout, &plain].map(numbers);
    check(all[0] == all[1] && all[1] == all[2] && all[0].2 >= 37 * 4, || format!("{all:?}"))
}

fn granularity(gpu: &Gpu) -> Case {
    let commands = need5(gpu)?;
    let formats = [vk::Format::R8G8B8A8_UNORM];
    let info = vk::RenderingAreaInfoKHR::default().color_attachment_formats(&formats);
    // SAFETY: the structure is alive.
    let area = unsafe { commands.get_rendering_area_granularity(&info) };
    check(area.width >= 1 && area.height >= 1, || format!("{area:?}"))
}

/// The new formats can be copied to RGBA8, by the required blit: alpha alone is black, packed components stand where they should.
fn formats(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let packed = |[r, g, b, a]: [u16; 4]| a << 15 | b << 10 | g << 5 | r;
    let texels: Vec<u16> = (0..SIZE * SIZE)
        .map(|at| packed([(at % 32) as u16, (at / 7 % 32) as u16, (at / 3 % 32) as u16, (at % 2) as u16]))
        .collect();
    let wide = |code: u16| (f32::from(code) * 255.0 / 31.0).round() as u8;
    let unpacked: Vec<u8> = texels
        .iter()
        .flat_map(|&word| [wide(word & 31), wide(word >> 5 & 31), wide(word >> 10 & 31), (word >> 15) as u8 * 255])
        .collect();
    blitted(gpu, vk::Format::A1B5G5R5_UNORM_PACK16_KHR, bytemuck::cast_slice(&texels), &unpacked)?;
    let alphas: Vec<u8> = (0..SIZE * SIZE).map(|at| (at * 7) as u8).collect();
    let expected: Vec<u8> = alphas.iter().flat_map(|&alpha| [0, 0, 0, alpha]).collect();
    blitted(gpu, vk::Format::A8_UNORM_KHR, &alphas, &expected)
}

fn blitted(gpu: &Gpu, format: vk::Format, texels: &[u8], expected: &[u8]) -> Case {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let from = gpu.image(&ImageDesc::color(format, [SIZE; 2], usage))?;
    let to = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE; 2], usage))?;
    gpu.write_image(&from, COLOR, texels, source)?;
    let ends = [vk::Offset3D::default(), vk::Offset3D { x: SIZE as i32, y: SIZE as i32, z: 1 }];
    let region = vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: ends,
        dst_subresource: layers(COLOR),
        dst_offsets: ends,
    };
    gpu.run(|commands| {
        gpu.barrier(commands, Some((&to, vk::ImageLayout::UNDEFINED, general)));
        let nearest = vk::Filter::NEAREST;
        // SAFETY: the images are in these layouts, and the region lies in both.
        unsafe {
            gpu.device.cmd_blit_image(commands, from.handle, source, to.handle, general, &[region], nearest);
        }
        gpu.barrier(commands, Some((&to, general, source)));
    })?;
    let found = gpu.read_image(&to, COLOR, 4)?;
    let is_near = found.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= 1);
    check(is_near, || format!("{format:?}: {:?}, not {:?}", &found[..16], &expected[..16]))
}

/// The layers from one on, however many there are.
fn remaining_layers(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 2, height: 2, depth: 1 })
        .mip_levels(1)
        .array_layers(5)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC);
    let (words, out) = (gpu.buffer_with(&(1..=20).collect::<Vec<u32>>())?, gpu.buffer(80)?);
    let part = |base_array_layer, layer_count| vk::ImageSubresourceLayers {
        aspect_mask: COLOR,
        mip_level: 0,
        base_array_layer,
        layer_count,
    };
    let image_extent = vk::Extent3D { width: 2, height: 2, depth: 1 };
    let copy = |image_subresource| vk::BufferImageCopy { image_subresource, image_extent, ..Default::default() };
    let all = vk::REMAINING_ARRAY_LAYERS;
    // SAFETY: the image is bound once, and used in the general layout.
    unsafe {
        let made = [gpu.device.create_image(&info, None)?, gpu.device.create_image(&info, None)?];
        for image in made {
            let memory = gpu.allocate(gpu.device.get_image_memory_requirements(image), false)?;
            gpu.device.bind_image_memory(image, memory, 0)?;
        }
        let general = vk::ImageLayout::GENERAL;
        gpu.run(|commands| {
            gpu.device.cmd_copy_buffer_to_image(commands, words.handle, made[0], general, &[copy(part(0, all))]);
            gpu.barrier(commands, None);
            let region = vk::ImageCopy {
                src_subresource: part(2, all),
                dst_subresource: part(2, all),
                extent: image_extent,
                ..Default::default()
            };
            gpu.device.cmd_copy_image(commands, made[0], general, made[1], general, &[region]);
            gpu.barrier(commands, None);
            gpu.device.cmd_copy_image_to_buffer(commands, made[1], general, out.handle, &[copy(part(2, all))]);
            gpu.barrier(commands, None);
        })?;
    }
    let expected: Vec<u32> = (9..=20).chain([0; 8]).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

/// Flags of 64 bits: a pipeline that must not be compiled is not, and buffers say there what they are for.
fn flags(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default().usage(vk::BufferUsageFlags2KHR::STORAGE_BUFFER);
    let info = vk::BufferCreateInfo::default().size(64).push_next(&mut usage);
    // SAFETY: valid infos.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        check(gpu.device.get_buffer_memory_requirements(buffer).size >= 64, || "no size".into())?;
        gpu.device.destroy_buffer(buffer, None);
    }
    addressed_by_long_flags(gpu)?;
    let (first, _) = gpu.set(&[T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER])?;
    let (second, _) = gpu.set(&[T::STORAGE_BUFFER])?;
    let layout = gpu.layout(&[first, second])?;
    let code: Vec<u32> = PAIR.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // A constant that the shader has not got makes a program that nobody has compiled.
    let entries = [vk::SpecializationMapEntry { constant_id: 4711, offset: 0, size: 4 }];
    let data = 17u32.to_le_bytes();
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut module = vk::ShaderModuleCreateInfo::default().code(&code);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .specialization_info(&constants)
        .push_next(&mut module);
    let wanted = vk::PipelineCreateFlags2KHR::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    let mut long = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(wanted);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).push_next(&mut long)];
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let code = made.map_err(|(_, code)| code).err();
    check(code == Some(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT), || format!("{code:?}"))
}

/// A buffer has an address when the long flags say so, whatever the short ones do.
fn addressed_by_long_flags(gpu: &Gpu) -> Case {
    if gpu.more.addresses.buffer_device_address == vk::FALSE {
        return Ok(());
    }
    let wanted = vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags2KHR::STORAGE_BUFFER;
    let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default().usage(wanted);
    let info = vk::BufferCreateInfo::default().size(64).push_next(&mut usage);
    let buffer = gpu.buffer_with_memory(&info, vk::MemoryAllocateFlags::DEVICE_ADDRESS)?;
    let addresses = ash::khr::buffer_device_address::Device::new(&gpu.instance, &gpu.device);
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    // SAFETY: the buffer is bound, and has an address.
    let address = unsafe { addresses.get_buffer_device_address(&info) };
    check(address != 0, || "a buffer with an address has none".into())
}

/// Sets, constants and descriptors that are bound and pushed by structures.
fn binds(gpu: &Gpu) -> Case {
    let commands6 = need6(gpu)?;
    let kinds = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];
    let ((first, set), (second, results)) = (gpu.set(&kinds)?, gpu.set(&[T::STORAGE_BUFFER])?);
    let layout = gpu.layout(&[first, second])?;
    let (out, made) = (gpu.buffer(64)?, pipeline(gpu, PAIR, layout)?);
    let words = [1u32, 2, 3].map(|word| gpu.buffer_with(&[word; 4]).map(|buffer| range(buffer.handle, 16)));
    let [a, b, c] = words;
    let (words, of_out) = ([a?, b?, c?], range(out.handle, vk::WHOLE_SIZE));
    let write = |set, binding| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    let mut writes: Vec<_> = (0..3u32)
        .map(|at| write(set, at).descriptor_type(kinds[at as usize]).buffer_info(&words[at as usize]))
        .collect();
    writes.push(write(results, 0).descriptor_type(T::STORAGE_BUFFER).buffer_info(&of_out));
    let (stages, sets) = (vk::ShaderStageFlags::COMPUTE, [set, results]);
    // SAFETY: everything that is named is alive; the command buffer is recording.
    unsafe {
        gpu.device.update_descriptor_sets(&writes, &[]);
        gpu.run(|commands| {
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, made);
            let info = vk::BindDescriptorSetsInfoKHR::default().stage_flags(stages).layout(layout);
            commands6.cmd_bind_descriptor_sets2(commands, &info.descriptor_sets(&sets));
            let at = 5u32.to_le_bytes();
            let info = vk::PushConstantsInfoKHR::default().layout(layout).stage_flags(vk::ShaderStageFlags::ALL);
            commands6.cmd_push_constants2(commands, &info.values(&at));
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    let sum = 1 + 2 * 16 + 3 * 256;
    check(out.words()[5] == sum, || format!("{:?}, not {sum}", out.words()))
}

/// Without an index buffer all indices are 0, where null is allowed: a point where three would be.
fn null_indices(gpu: &Gpu) -> Case {
    need6(gpu)?;
    if gpu.more.robustness.null_descriptor == vk::FALSE {
        return Err(Outcome::NotSupported("null descriptors".into()));
    }
    let vertices: Vec<f32> = [[-0.9375f32, -0.9375], [0.0625, 0.0625], [0.9375, 0.9375]]
        .iter()
        .flat_map(|[x, y]| [*x, *y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0])
        .collect();
    let topology = vk::PrimitiveTopology::POINT_LIST;
    let state = State { vertex: TRIANGLES, topology, ..State::default() };
    let mut draw = Draw::rect(state, FULL, [0.0; 4]);
    let (buffer, indices) = (gpu.buffer_with(&vertices)?, crate::harness::Buffer::null());
    draw.kind = Kind::Indexed { buffer, indices, count: 3, kind: vk::IndexType::UINT32 };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    let drawn: Vec<usize> = (0..pixels.len()).filter(|&at| pixels[at] != [0; 4]).collect();
    check(drawn == [0], || format!("pixels {drawn:?}"))
}

/// Each bind of several has its own result.
fn bind_status(gpu: &Gpu) -> Case {
    need6(gpu)?;
    let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    let binds = ash::khr::bind_memory2::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the buffer is bound once.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(buffer), false)?;
        let mut code = vk::Result::ERROR_UNKNOWN;
        let mut status = vk::BindMemoryStatusKHR::default().result(&mut code);
        let info = [vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory).push_next(&mut status)];
        (binds.fp().bind_buffer_memory2_khr)(gpu.device.handle(), 1, info.as_ptr()).result()?;
        check(code == vk::Result::SUCCESS, || format!("{code:?}"))
    }
}

/// The 32 bits of a result are the low ones of its 64.
fn query_bits(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE7)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
    let copied = gpu.buffer(24)?;
    let (mut wide, mut narrow) = ([0u64; 2], [0u32; 2]);
    // SAFETY: the info is valid; queries are reset before they are written, and the pool and the buffer are alive.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        gpu.run(|commands| {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            for query in 0..2 {
                gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, query);
            }
            let (waits, all) = (vk::QueryResultFlags::WAIT, vk::QueryResultFlags::WAIT | vk::QueryResultFlags::TYPE_64);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, copied.handle, 0, 8, all);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, copied.handle, 16, 4, waits);
            gpu.barrier(commands, None);
        })?;
        let flags = vk::QueryResultFlags::WAIT;
        gpu.device.get_query_pool_results(pool, 0, &mut wide, flags | vk::QueryResultFlags::TYPE_64)?;
        gpu.device.get_query_pool_results(pool, 0, &mut narrow, flags)?;
    }
    let low = wide.map(|result| result as u32);
    let expected = [wide.map(|result| [result as u32, (result >> 32) as u32]).concat(), low.to_vec()].concat();
    check(wide[1] >= wide[0] && low == narrow && copied.words() == expected, || {
        format!("{wide:x?}, {narrow:x?}, {:x?} copied", copied.words())
    })
}

/// A subpass of commands and lists of commands, one after the other.
fn contents(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE7)?;
    let target = Target::default();
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc::color(target.format, target.size, usage))?;
    let pass = render_pass(gpu, &target, (vk::AttachmentLoadOp::CLEAR, false), false, false)?;
    let views = [image.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).layers(1);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE), None) }?;
    // Each draw covers a part of what the one before it has drawn.
    let parts = [[-1.0, -1.0, 1.0, 1.0], [-1.0, -1.0, 0.5, 1.0], [-1.0, -1.0, 0.0, 1.0], [-1.0, -1.0, -0.5, 1.0]];
    let colors = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]];
    let draws = [0, 1, 2, 3].map(|part| Draw::rect(State::default(), parts[part], colors[part]));
    let prepared = draws.iter().map(|draw| prepare(gpu, &target, (pass, &views), draw));
    let prepared = prepared.collect::<Result<Vec<_>, Outcome>>()?;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(2);
    let inheritance = vk::CommandBufferInheritanceInfo::default().render_pass(pass).framebuffer(framebuffer);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inheritance);
    let clears = [vk::ClearValue::default()];
    let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
    let start = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(area);
    let start = start.clear_values(&clears);
    // SAFETY: command buffers are recorded one after the other, and everything named is alive.
    unsafe {
        let lists = gpu.device.allocate_command_buffers(&info)?;
        for (list, part) in lists.iter().zip([1, 3]) {
            gpu.device.begin_command_buffer(*list, &begin)?;
            record(gpu, *list, &draws[part], &prepared[part]);
            gpu.device.end_command_buffer(*list)?;
        }
        gpu.run(|commands| {
            gpu.device.cmd_begin_render_pass(commands, &start, INLINE_AND_SECONDARY);
            record(gpu, commands, &draws[0], &prepared[0]);
            gpu.device.cmd_execute_commands(commands, &lists[..1]);
            record(gpu, commands, &draws[2], &prepared[2]);
            gpu.device.cmd_execute_commands(commands, &lists[1..]);
            gpu.device.cmd_end_render_pass(commands);
        })?;
    }
    let pixels = gpu.read_image(&image, COLOR, 4)?;
    for (number, pixel) in pixels.chunks_exact(4).enumerate() {
        let wanted = colors[3 - number % SIZE as usize / 4].map(|channel: f32| (channel * 255.0) as u8);
        check(pixel == wanted, || format!("pixel {number}: {pixel:?} instead of {wanted:?}"))?;
    }
    Ok(())
}

/// `VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_KHR`.
const INLINE_AND_SECONDARY: vk::SubpassContents = vk::SubpassContents::from_raw(1_000_451_000);

/// `VkPhysicalDeviceMaintenance7PropertiesKHR`, as the registry lays it out.
#[repr(C)]
struct Properties7 {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    flags: [vk::Bool32; 2],
    totals: [u32; 6],
}

/// `VkPhysicalDeviceLayeredApiPropertiesListKHR`, as the registry lays it out.
#[repr(C)]
struct LayeredList {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    count: u32,
    list: *mut std::ffi::c_void,
}

/// Totals are no less than what one kind may have; a list of layered implementations has its own number.
fn properties7(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE7)?;
    let mut list = LayeredList {
        s_type: vk::StructureType::from_raw(1_000_562_002),
        p_next: std::ptr::null_mut(),
        count: 77,
        list: std::ptr::null_mut(),
    };
    let mut own = Properties7 {
        s_type: vk::StructureType::from_raw(1_000_562_001),
        p_next: (&raw mut list).cast(),
        flags: [77; 2],
        totals: [0; 6],
    };
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut own).cast(), ..Default::default() };
    // SAFETY: the structures are laid out as the registry says, and are alive.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let limits = all.properties.limits;
    let (uniform, storage) =
        (limits.max_descriptor_set_uniform_buffers_dynamic, limits.max_descriptor_set_storage_buffers_dynamic);
    let [uniforms, storages, both, later_uniforms, later_storages, later] = own.totals;
    let good = own.flags.iter().all(|&flag| flag <= 1)
        && uniforms >= uniform.min(8)
        && storages >= storage.min(4)
        && both >= uniforms.max(storages)
        && later_uniforms >= uniforms
        && later_storages >= storages
        && later >= both;
    check(good, || format!("{:?}, {:?}", own.flags, own.totals))?;
    check(list.count < 77, || format!("{} layered implementations", list.count))
}

/// Pipelines that say that they reach no protected memory, or nothing else, where there is none, are pipelines like others.
fn unprotected(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_PROTECTED_ACCESS_NAME)?;
    let target = gpu.buffer(256)?;
    let compute = gpu.compute_pipeline(FILL, 77, &[(T::STORAGE_BUFFER, target)])?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(FILL)?)
        .name(c"main");
    let flags = vk::PipelineCreateFlags::NO_PROTECTED_ACCESS_EXT;
    let info = [vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(compute.layout)];
    let run = |pipeline| {
        gpu.run(|commands| {
            gpu.bind_compute(commands, &Compute { pipeline, ..compute }, &[]);
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
            gpu.barrier(commands, None);
        })?;
        Ok::<_, Outcome>(target.words())
    };
    let plain = run(compute.pipeline)?;
    check(plain == [77; 64], || format!("{plain:?}"))?;
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let got = run(made.map_err(|(_, code)| code)?[0])?;
    // Without a constant of its own the word is 0.
    check(got == [0; 64], || format!("{got:?}"))
}
