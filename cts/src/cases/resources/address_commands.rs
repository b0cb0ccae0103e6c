//! Commands that name memory by addresses. Source: `VK_KHR_device_address_commands`.

use ash::{khr, vk};
use vitric_vulkan::commands;
use vitric_vulkan::names::KHR_DEVICE_ADDRESS_COMMANDS_NAME;

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color};
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{PipelineDesc, VertexLayout, pipeline_of, whole};
use crate::harness::{Buffer, Case, Gpu, Outcome, Transition, check, layers};
use crate::render::address_commands::{range, strided};
use crate::render::{SIZE, TRIANGLES};

const SECTION: &str = "VK_KHR_device_address_commands";
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

case!("address_commands.transfers.memory", SECTION, memory);

/// Copies, fills and updates memory at offsets inside of buffers, and writes the result of a query
/// and a marker.
fn memory(gpu: &Gpu) -> Case {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    gpu.need(vk::AMD_BUFFER_MARKER_NAME)?;
    let (source, target) = (gpu.addressed(64)?, gpu.addressed(64)?);
    source.write(bytemuck::cast_slice(&(100..116).collect::<Vec<u32>>()));
    target.write(&[0xee; 64]);
    let copy = gpu.command::<commands::PFN_vkCmdCopyMemoryKHR>(c"vkCmdCopyMemoryKHR")?;
    let fill = gpu.command::<commands::PFN_vkCmdFillMemoryKHR>(c"vkCmdFillMemoryKHR")?;
    let update = gpu.command::<commands::PFN_vkCmdUpdateMemoryKHR>(c"vkCmdUpdateMemoryKHR")?;
    let region = |from: u64, to: u64, size: u64| commands::DeviceMemoryCopyKHR {
        src_range: range(gpu, &source, from, size),
        dst_range: range(gpu, &target, to, size),
        ..Default::default()
    };
    let regions = [region(8, 0, 12), region(0, 20, 4)];
    let info = commands::CopyDeviceMemoryInfoKHR { region_count: 2, regions: regions.as_ptr(), ..Default::default() };
    let (filled, updated) = (range(gpu, &target, 28, 8), range(gpu, &target, 40, 8));
    let words = [77u32, 88];
    let name = c"vkCmdCopyQueryPoolResultsToMemoryKHR";
    let results = gpu.command::<commands::PFN_vkCmdCopyQueryPoolResultsToMemoryKHR>(name)?;
    let pool = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&pool, None) }?;
    let queried = strided(gpu, &target, 52, 8);
    let mark = gpu.command::<commands::PFN_vkCmdWriteMarkerToMemoryAMD>(c"vkCmdWriteMarkerToMemoryAMD")?;
    let marker = commands::MemoryMarkerInfoAMD {
        stage: vk::PipelineStageFlags2::TRANSFER,
        dst_range: range(gpu, &target, 60, 4),
        marker: 0x3a7c,
        ..Default::default()
    };
    // SAFETY: the command buffer is recording, and the ranges are those of live buffers.
    gpu.run(|list| unsafe {
        copy(list, &raw const info);
        fill(list, &raw const filled, 0, 0x0505_0505);
        update(list, &raw const updated, 0, 8, words.as_ptr().cast());
        mark(list, &raw const marker);
        gpu.device.cmd_reset_query_pool(list, pool, 0, 2);
        gpu.barrier(list, None);
        // The query is not available, so that only a zero for its availability is written.
        results(list, pool, 0, 1, &raw const queried, 0, vk::QueryResultFlags::WITH_AVAILABILITY);
        gpu.barrier(list, None);
    })?;
    let kept = 0xeeee_eeee;
    let written = [102, 103, 104, kept, kept, 100, kept, 0x0505_0505, 0x0505_0505, kept, 77, 88];
    let expected = [&written[..], &[kept, kept, 0, 0x3a7c]].concat();
    check(target.words() == expected, || format!("{:?}, not {expected:?}", target.words()))
}

case!("address_commands.transfers.images", SECTION, images);

/// Copies memory to parts of an image, and the image to memory.
fn images(gpu: &Gpu) -> Case {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    let target = image(gpu, vk::SampleCountFlags::TYPE_1)?;
    let count = SIZE * SIZE;
    let (source, out) = (gpu.addressed(8 + 4 * u64::from(count))?, gpu.addressed(4 * u64::from(count))?);
    let texels: Vec<u32> = (0..count + 2).collect();
    source.write(bytemuck::cast_slice(&texels));
    let to_image = gpu.command::<commands::PFN_vkCmdCopyMemoryToImageKHR>(c"vkCmdCopyMemoryToImageKHR")?;
    let from_image = gpu.command::<commands::PFN_vkCmdCopyImageToMemoryKHR>(c"vkCmdCopyImageToMemoryKHR")?;
    let region = |buffer: &Buffer, offset: u64, at: i32, side: u32| commands::DeviceMemoryImageCopyKHR {
        address_range: range(gpu, buffer, offset, buffer.size - offset),
        address_row_length: SIZE,
        image_subresource: layers(COLOR),
        image_layout: GENERAL,
        image_offset: vk::Offset3D { x: at, y: at, z: 0 },
        image_extent: vk::Extent3D { width: side, height: side, depth: 1 },
        ..Default::default()
    };
    let info = |regions: &[commands::DeviceMemoryImageCopyKHR]| commands::CopyDeviceMemoryImageInfoKHR {
        image: target.handle,
        region_count: regions.len() as u32,
        regions: regions.as_ptr(),
        ..Default::default()
    };
    let (written, read) = ([region(&source, 8, 0, SIZE), region(&source, 0, 4, 2)], [region(&out, 0, 0, SIZE)]);
    let (first, second) = (info(&written), info(&read));
    gpu.run(|list| {
        gpu.barrier(list, Some(Transition { image: &target, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        // SAFETY: the command buffer is recording, and the ranges are those of live buffers.
        unsafe {
            to_image(list, &raw const first);
            gpu.barrier(list, None);
            from_image(list, &raw const second);
        }
        gpu.barrier(list, None);
    })?;
    for (at, found) in (0u32..).zip(out.words()) {
        let inside = [at % SIZE, at / SIZE].map(|axis| axis.wrapping_sub(4));
        let wanted = if inside.iter().all(|axis| *axis < 2) { inside[1] * SIZE + inside[0] } else { at + 2 };
        check(found == wanted, || format!("texel {at} is {found}, not {wanted}"))?;
    }
    Ok(())
}

case!("address_commands.dispatches.indirect", SECTION, dispatch);

/// Dispatches workgroups whose numbers are behind others in memory.
fn dispatch(gpu: &Gpu) -> Case {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    let (arguments, result) = (gpu.addressed(24)?, gpu.buffer(16)?);
    arguments.write(bytemuck::cast_slice(&[9u32, 9, 9, 5, 3, 2]));
    let compute = gpu.compute_pipeline(shader!("counted_groups.comp"), 0, &[(crate::harness::STORAGE, result)])?;
    let run = gpu.command::<commands::PFN_vkCmdDispatchIndirect2KHR>(c"vkCmdDispatchIndirect2KHR")?;
    let info =
        commands::DispatchIndirect2InfoKHR { address_range: range(gpu, &arguments, 12, 12), ..Default::default() };
    gpu.run(|list| {
        gpu.bind_compute(list, &compute, &[]);
        // SAFETY: the command buffer is recording, and the range is that of a live buffer.
        unsafe { run(list, &raw const info) };
        gpu.barrier(list, None);
    })?;
    check(result.words() == [30, 5, 3, 2], || format!("{:?}", result.words()))
}

/// Returns the vertices of a rectangle of a colour, each with 16 bytes behind it.
fn rectangle(rect: [f32; 4], color: [f32; 4]) -> Vec<f32> {
    let [left, top, right, bottom] = rect;
    let corners = [[left, top], [right, top], [left, bottom], [right, bottom]];
    corners.iter().flat_map(|[x, y]| [&[*x, *y, 0.0, 1.0][..], &color, &[9.0; 4]].concat()).collect()
}

/// Vertices, indices and parameters of draws in memory.
struct Content {
    vertices: Buffer,
    indices: Buffer,
    indexed: Buffer,
    plain: Buffer,
    condition: Buffer,
}

impl Content {
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        let (red, green) = ([1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
        let mut vertices = vec![5.0; 4];
        vertices.extend(rectangle([-1.0, -1.0, 0.0, 1.0], red));
        vertices.extend(rectangle([0.0, -1.0, 1.0, 1.0], green));
        vertices.extend(rectangle([0.5, 0.5, 1.0, 1.0], red));
        let buffer = |words: &[u32]| gpu.buffer_of_words(words, true);
        Ok(Self {
            vertices: buffer(&vertices.iter().map(|value: &f32| value.to_bits()).collect::<Vec<_>>())?,
            // The first two of these 16-bit indices are not used.
            indices: buffer(&[0xffff_ffff, 0x0001_0000, 0x0002_0002, 0x0003_0001])?,
            // Two indexed draws, of the left and of the right half, and their number.
            indexed: buffer(&[6, 1, 0, 0, 0, 0, 6, 1, 0, 4, 0, 0, 1])?,
            plain: buffer(&[0, 3, 1, 8, 0])?,
            condition: buffer(&[1, 0])?,
        })
    }
}

case!("address_commands.draws.indexed", SECTION, draws);

/// Draws the left half with a number of draws from memory, the right half under a condition that
/// does not hold, and its lower quarter without indices.
fn draws(gpu: &Gpu) -> Case {
    gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    gpu.need(vk::EXT_CONDITIONAL_RENDERING_NAME)?;
    let Content { vertices, indices, indexed, plain, condition } = Content::new(gpu)?;
    let bind_indices = gpu.command::<commands::PFN_vkCmdBindIndexBuffer3KHR>(c"vkCmdBindIndexBuffer3KHR")?;
    let bind_vertices = gpu.command::<commands::PFN_vkCmdBindVertexBuffers3KHR>(c"vkCmdBindVertexBuffers3KHR")?;
    let counted =
        gpu.command::<commands::PFN_vkCmdDrawIndexedIndirectCount2KHR>(c"vkCmdDrawIndexedIndirectCount2KHR")?;
    let uncounted = gpu.command::<commands::PFN_vkCmdDrawIndexedIndirect2KHR>(c"vkCmdDrawIndexedIndirect2KHR")?;
    let unindexed = gpu.command::<commands::PFN_vkCmdDrawIndirect2KHR>(c"vkCmdDrawIndirect2KHR")?;
    let name = c"vkCmdBeginConditionalRendering2EXT";
    let begin = gpu.command::<commands::PFN_vkCmdBeginConditionalRendering2EXT>(name)?;
    let conditional = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (target, layout) = (image(gpu, vk::SampleCountFlags::TYPE_1)?, gpu.layout(&[])?);
    let four = vk::Format::R32G32B32A32_SFLOAT;
    let attribute =
        |location, offset| vk::VertexInputAttributeDescription { location, binding: 0, format: four, offset };
    let attributes = [attribute(0, 0), attribute(1, 16)];
    let pipeline = pipeline_of(
        gpu,
        &PipelineDesc {
            shaders: [TRIANGLES, crate::render::COLOR],
            vertices: Some(VertexLayout { attributes: &attributes, stride: None }),
            ..PipelineDesc::plain(layout)
        },
    )?;
    let colors = [attachment(&target, CLEAR, clear_color([0.0, 0.0, 1.0, 1.0]))];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    let index_info = commands::BindIndexBuffer3InfoKHR {
        address_range: range(gpu, &indices, 4, 12),
        index_type: vk::IndexType::UINT16,
        ..Default::default()
    };
    let vertex_info = commands::BindVertexBuffer3InfoKHR {
        set_stride: vk::TRUE,
        address_range: strided(gpu, &vertices, 16, 48),
        ..Default::default()
    };
    let count_info = commands::DrawIndirectCount2InfoKHR {
        address_range: strided(gpu, &indexed, 0, 24),
        count_address_range: range(gpu, &indexed, 48, 4),
        max_draw_count: 2,
        ..Default::default()
    };
    let both = commands::DrawIndirect2InfoKHR {
        address_range: strided(gpu, &indexed, 0, 24),
        draw_count: 2,
        ..Default::default()
    };
    let one = commands::DrawIndirect2InfoKHR {
        address_range: strided(gpu, &plain, 4, 16),
        draw_count: 1,
        ..Default::default()
    };
    let condition_info = commands::ConditionalRenderingBeginInfo2EXT {
        address_range: range(gpu, &condition, 4, 4),
        ..Default::default()
    };
    gpu.run(|list| {
        gpu.barrier(list, Some(Transition { image: &target, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        // SAFETY: the command buffer is recording, and the ranges are those of live buffers.
        unsafe {
            rendering.cmd_begin_rendering(list, &info);
            gpu.device.cmd_bind_pipeline(list, vk::PipelineBindPoint::GRAPHICS, pipeline);
            bind_indices(list, &raw const index_info);
            bind_vertices(list, 0, 1, &raw const vertex_info);
            counted(list, &raw const count_info);
            begin(list, &raw const condition_info);
            uncounted(list, &raw const both);
            (conditional.fp().cmd_end_conditional_rendering_ext)(list);
            unindexed(list, &raw const one);
            rendering.cmd_end_rendering(list);
        }
        gpu.barrier(
            list,
            Some(Transition { image: &target, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    for (at, texel) in (0u32..).zip(gpu.read_image(&target, COLOR, 4)?.chunks(4)) {
        let (x, y) = (at % SIZE, at / SIZE);
        // The triangle covers the upper left part of the lower right square of 4 pixels a side.
        let in_corner = x >= 12 && y >= 12 && x - 12 + (y - 12) < 3;
        let on_edge = x >= 12 && y >= 12 && x - 12 + (y - 12) == 3;
        let wanted = if x < 8 || in_corner { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
        check(on_edge || texel == wanted, || format!("({x}, {y}) is {texel:?}, not {wanted:?}"))?;
    }
    Ok(())
}
