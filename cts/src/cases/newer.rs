//! `VK_KHR_maintenance8`, `VK_KHR_maintenance9`, `VK_EXT_primitive_restart_index` and `VK_EXT_shader_subgroup_partitioned`.

use std::ffi::c_void;

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check, layers};
use crate::newest::{MAINTENANCE8, MAINTENANCE9, PARTITIONED, RESTART_INDEX};
use crate::render::{Draw, FULL, Kind, State, TRIANGLES, Target, render};

const SUBSETS: &[u8] = include_bytes!("../../shaders/subgroup_subsets.comp.spv");
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(name, section, run));
    add("maintenance.eight.depth_copies", "VK_KHR_maintenance8", depth_copies);
    add("maintenance.eight.blit_layers", "VK_KHR_maintenance8", blit_layers);
    add("maintenance.nine.no_queues", "VK_KHR_maintenance9", no_queues);
    add("maintenance.nine.ownership", "VK_KHR_maintenance9", ownership);
    add("maintenance.nine.fresh_queries", "VK_KHR_maintenance9", fresh_queries);
    add("subgroups.partitioned.sums", "VK_EXT_shader_subgroup_partitioned", partitioned);
    add("assembly.restart.index", "VK_EXT_primitive_restart_index", restart_index);
}

/// Numbers go from a colour to depths and stencils, and back.
fn depth_copies(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE8)?;
    type Way = (vk::Format, u32, vk::Format, vk::ImageAspectFlags);
    let ways: [Way; 3] = [
        (vk::Format::R32_SFLOAT, 4, vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH),
        (vk::Format::R16_UNORM, 2, vk::Format::D16_UNORM, vk::ImageAspectFlags::DEPTH),
        (vk::Format::R8_UINT, 1, vk::Format::D32_SFLOAT_S8_UINT, vk::ImageAspectFlags::STENCIL),
    ];
    for (color, bytes, depth, aspect) in ways {
        let words: Vec<u8> = match bytes {
            4 => (0..256).flat_map(|texel| (texel as f32 / 256.0).to_le_bytes()).collect(),
            _ => (0..256 * bytes).map(|byte| (byte * 37 % 251) as u8).collect(),
        };
        let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let [from, to] = [(); 2].map(|()| gpu.image(&ImageDesc::color(color, [16; 2], usage)));
        let (from, to) = (from?, to?);
        let aspects = match depth {
            vk::Format::D32_SFLOAT_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            _ => aspect,
        };
        let between = gpu.image(&ImageDesc { aspects, ..ImageDesc::color(depth, [16; 2], usage) })?;
        gpu.write_image(&from, COLOR, &words, GENERAL)?;
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.run(|commands| {
            for image in [&between, &to] {
                gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, GENERAL)));
            }
            copy(gpu, commands, (&from, COLOR), (&between, aspect));
            gpu.barrier(commands, None);
            copy(gpu, commands, (&between, aspect), (&to, COLOR));
            gpu.barrier(commands, Some((&to, GENERAL, source)));
        })?;
        let found = gpu.read_image(&to, COLOR, bytes)?;
        check(found == words, || format!("{color:?} by {depth:?}: {:?}, not {:?}", &found[..16], &words[..16]))?;
    }
    Ok(())
}

fn copy(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    from: (&Image, vk::ImageAspectFlags),
    to: (&Image, vk::ImageAspectFlags),
) {
    let region = vk::ImageCopy {
        src_subresource: layers(from.1),
        dst_subresource: layers(to.1),
        extent: from.0.extent,
        ..Default::default()
    };
    // SAFETY: the images are in the general layout, and the region is all of both.
    unsafe { gpu.device.cmd_copy_image(commands, from.0.handle, GENERAL, to.0.handle, GENERAL, &[region]) };
}

/// Slices of a volume become any layers, one each, and layers slices.
fn blit_layers(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE8)?;
    let words: Vec<u32> = (1..=16).collect();
    let (source, out) = (gpu.buffer_with(&words)?, gpu.buffer(64)?);
    let extent = |depth| vk::Extent3D { width: 2, height: 2, depth };
    let volumes = [bare(gpu, vk::ImageType::TYPE_3D, extent(4), 1)?, bare(gpu, vk::ImageType::TYPE_3D, extent(4), 1)?];
    let flat = bare(gpu, vk::ImageType::TYPE_2D, extent(1), 4)?;
    let all = |depth| vk::BufferImageCopy {
        image_subresource: layers(COLOR),
        image_extent: extent(depth),
        ..Default::default()
    };
    let ends = |z: [i32; 2]| [vk::Offset3D { z: z[0], ..Default::default() }, vk::Offset3D { x: 2, y: 2, z: z[1] }];
    let layer = |layer: u32| vk::ImageSubresourceLayers { base_array_layer: layer, ..layers(COLOR) };
    let to_layers = [0, 1, 2, 3].map(|slice: i32| vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: ends([slice, slice + 1]),
        dst_subresource: layer(3 - slice as u32),
        dst_offsets: ends([0, 1]),
    });
    // Seen from behind a slice is the same.
    let to_slices = [1, 2].map(|slice: i32| vk::ImageBlit {
        src_subresource: layer(3 - slice as u32),
        src_offsets: ends([0, 1]),
        dst_subresource: layers(COLOR),
        dst_offsets: ends([slice + 1, slice]),
    });
    let begin = |image| {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(COLOR)
            .level_count(1)
            .layer_count(vk::REMAINING_ARRAY_LAYERS);
        let barrier = vk::ImageMemoryBarrier::default().image(image).subresource_range(range);
        barrier.new_layout(GENERAL).dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)
    };
    gpu.run(|commands| {
        // SAFETY: the images are used in the general layout, and the regions lie in them.
        unsafe {
            let (transfer, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
            let images = [begin(volumes[0]), begin(volumes[1]), begin(flat)];
            let first = vk::PipelineStageFlags::TOP_OF_PIPE;
            gpu.device.cmd_pipeline_barrier(commands, first, transfer, none, &[], &[], &images);
            gpu.device.cmd_copy_buffer_to_image(commands, source.handle, volumes[0], GENERAL, &[all(4)]);
            gpu.barrier(commands, None);
            let nearest = vk::Filter::NEAREST;
            gpu.device.cmd_blit_image(commands, volumes[0], GENERAL, flat, GENERAL, &to_layers, nearest);
            gpu.barrier(commands, None);
            gpu.device.cmd_blit_image(commands, flat, GENERAL, volumes[1], GENERAL, &to_slices, nearest);
            gpu.barrier(commands, None);
            gpu.device.cmd_copy_image_to_buffer(commands, volumes[1], GENERAL, out.handle, &[all(4)]);
        }
        gpu.barrier(commands, None);
    })?;
    // Of the second volume the slices in the middle were written.
    check(out.words()[4..12] == words[4..12], || format!("{:?}", out.words()))
}

/// An image of words without a view.
fn bare(gpu: &Gpu, kind: vk::ImageType, extent: vk::Extent3D, layers: u32) -> Result<vk::Image, Outcome> {
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(vk::Format::R32_UINT)
        .extent(extent)
        .mip_levels(1)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC);
    // SAFETY: the info is valid, and the image is bound once.
    unsafe {
        let image = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(image), false)?;
        gpu.device.bind_image_memory(image, memory, 0)?;
        Ok(image)
    }
}

/// A device without queues makes what programs are made of.
fn no_queues(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE9)?;
    // SAFETY: the info is valid, and what is made is destroyed before its device.
    unsafe {
        let device = gpu.instance.create_device(gpu.physical, &vk::DeviceCreateInfo::default(), None)?;
        let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let cache = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
        let data = device.get_pipeline_cache_data(cache)?;
        device.destroy_pipeline_cache(cache, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_device(None);
        check(data.len() >= 32, || format!("{} bytes of a cache", data.len()))
    }
}

/// `VkQueueFamilyOwnershipTransferPropertiesKHR`, as the registry lays it out.
#[repr(C)]
struct Ownership {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    families: u32,
}

/// Families that take over images are families that there are.
fn ownership(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE9)?;
    // SAFETY: the structures are laid out as the registry says, and are alive.
    unsafe {
        let count = gpu.instance.get_physical_device_queue_family_properties2_len(gpu.physical);
        let s_type = vk::StructureType::from_raw(1_000_584_002);
        let new = || Ownership { s_type, p_next: std::ptr::null_mut(), families: 0x8000_0000 };
        let mut owners: Vec<Ownership> = (0..count).map(|_| new()).collect();
        let family = |owner: &mut Ownership| vk::QueueFamilyProperties2 {
            p_next: (&raw mut *owner).cast(),
            ..Default::default()
        };
        let mut families: Vec<_> = owners.iter_mut().map(family).collect();
        gpu.instance.get_physical_device_queue_family_properties2(gpu.physical, &mut families);
        let found: Vec<u32> = owners.iter().map(|owner| owner.families).collect();
        check(found.iter().all(|&families| families < 1 << count), || format!("{found:x?}"))
    }
}

/// Queries of a pool that says so are reset when it is made.
fn fresh_queries(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE9)?;
    const RESET: vk::QueryPoolCreateFlags = vk::QueryPoolCreateFlags::from_raw(1);
    let info = vk::QueryPoolCreateInfo::default().flags(RESET).query_type(vk::QueryType::TIMESTAMP).query_count(2);
    let mut results = [[7u64; 2]; 2];
    // SAFETY: the info is valid, and the pool is alive.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        gpu.run(|commands| {
            gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 1);
        })?;
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        match gpu.device.get_query_pool_results(pool, 0, &mut results, flags) {
            Err(vk::Result::NOT_READY) => {}
            other => other?,
        }
        gpu.device.destroy_query_pool(pool, None);
    }
    check(results[0][1] == 0 && results[1][1] != 0, || format!("{results:?}"))
}

/// Sums of subsets of a subgroup are those of the invocations that are there.
fn partitioned(gpu: &Gpu) -> Case {
    gpu.need(PARTITIONED)?;
    const COUNT: u32 = 64;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
    // SAFETY: the structures are alive.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let buffer = gpu.buffer(u64::from(COUNT) * 16)?;
    gpu.compute(SUBSETS, 0, &[], &[buffer], [1, 1, 1])?;
    let size = own.subgroup_size;
    let is_there = |lane: u32| lane % 4 != 1;
    for (number, found) in (0..COUNT).zip(buffer.words().chunks_exact(4)) {
        let (lane, first) = (number % size, number / size * size);
        let of_subset = |lane: u32| (lane * 7 + 3) % 5;
        let members = || (0..size).filter(|&other| is_there(other) && of_subset(other) == of_subset(lane));
        let expected = if is_there(lane) {
            let bits = members().filter(|&other| other < 32).fold(0, |bits, other| bits | 1 << other);
            let sum: u32 = members().map(|other| first + other).sum();
            let most = members().filter(|&other| other <= lane).map(|other| (first + other) ^ 5).max().unwrap_or(0);
            let below: u32 = members().filter(|&other| other < lane).map(|other| first + other).sum();
            [bits, sum, most, (below as f32).to_bits()]
        } else {
            [0; 4]
        };
        check(found == expected, || format!("invocation {number}: {found:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// A strip that a number of its own restarts is one that the greatest does, until indices are bound again.
fn restart_index(gpu: &Gpu) -> Case {
    gpu.need(RESTART_INDEX)?;
    let corners: [[f32; 2]; 7] =
        [[-0.9, -0.9], [-0.1, -0.9], [-0.5, 0.8], [0.1, -0.9], [0.9, -0.9], [0.5, 0.8], [0.0, 1.0]];
    let vertices: Vec<f32> =
        corners.iter().flat_map(|[x, y]| [*x, *y, 0.5, 1.0, (x + 1.0) / 2.0, 0.5, 1.0, 1.0]).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let picture = |numbers: &[u16], restart: Option<u32>| {
        let indices = gpu.buffer_with(numbers)?;
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let state = State { vertex: TRIANGLES, topology, restart: true, ..State::default() };
        let mut draw = Draw::rect(state, FULL, [0.0; 4]);
        let count = numbers.len() as u32;
        draw.kind = Kind::Indexed { buffer, indices, count, kind: vk::IndexType::UINT16 };
        draw.restart_index = restart;
        render(gpu, &Target::default(), &[draw])
    };
    let expected = picture(&[0, 1, 2, u16::MAX, 3, 4, 5], None)?;
    let custom = picture(&[0, 1, 2, 6, 3, 4, 5], Some(6))?;
    check(custom == expected, || "an index of its own restarts nothing".into())?;
    let whole = picture(&[0, 1, 2, 6, 3, 4, 5], None)?;
    check(whole != expected, || "an index restarts where none is set".into())?;
    let out_of_reach = picture(&[0, 1, 2, 6, 3, 4, 5], Some(0x1_0006))?;
    check(out_of_reach == whole, || "an index beyond the type's restarts".into())
}
