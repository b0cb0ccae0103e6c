//! Copies whose regions are read from memory. Source: `VK_KHR_copy_memory_indirect`.

use ash::vk::{self, Handle};
use vitric_vulkan::names::KHR_COPY_MEMORY_INDIRECT_NAME;
use vitric_vulkan::sys::Handle as _;
use vitric_vulkan::{Newer, PhysicalDeviceCopyMemoryIndirectPropertiesKHR, sys};

use crate::cases::support::transfer_images::{GENERAL, ImageShape, equal, image};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::render::address_commands::address;

const SECTION: &str = "Indirect Copies";
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

/// Distance of regions in bytes, which is larger than a region.
const STRIDE: u64 = 72;

/// Creates a buffer of regions, each of some dwords.
fn regions(gpu: &Gpu, regions: &[Vec<u32>]) -> Result<(Buffer, sys::StridedDeviceAddressRangeKHR), Outcome> {
    let size = STRIDE * regions.len() as u64;
    let buffer = gpu.addressed(size.max(4))?;
    let mut bytes = vec![0xee; size as usize];
    for (region, target) in regions.iter().zip(bytes.chunks_exact_mut(STRIDE as usize)) {
        let region: Vec<u8> = region.iter().flat_map(|word| word.to_le_bytes()).collect();
        target[..region.len()].copy_from_slice(&region);
    }
    buffer.write(&bytes);
    let range = sys::StridedDeviceAddressRangeKHR { address: address(gpu, &buffer), size, stride: STRIDE };
    Ok((buffer, range))
}

/// Returns the dwords of a 64-bit number.
fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Returns true if the device copies regions that are read from memory.
fn supported(gpu: &Gpu) -> Case {
    gpu.need(KHR_COPY_MEMORY_INDIRECT_NAME)?;
    match gpu.extension_features.indirect_copies.indirect_memory_copy {
        0 => Err(Outcome::NotSupported("indirectMemoryCopy".into())),
        _ => Ok(()),
    }
}

case!("copies.indirect.memory", SECTION, memory);

/// Copies several ranges between buffers, one of which has no bytes. The number of copies may be 0.
fn memory(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut properties = PhysicalDeviceCopyMemoryIndirectPropertiesKHR::default();
    gpu.properties2(&mut properties);
    check(!properties.supported_queues.is_empty(), || "no queue is supported".into())?;
    let (source, target) = (gpu.addressed(256)?, gpu.addressed(256)?);
    let content: Vec<u8> = (0..=255).collect();
    source.write(&content);
    let (from, to) = (address(gpu, &source), address(gpu, &target));
    let copies = [(0, 128, 64), (100, 4, 28), (8, 8, 0), (252, 252, 4)];
    let region = |(from_offset, to_offset, size): (u64, u64, u64)| {
        [words(from + from_offset), words(to + to_offset), words(size)].concat()
    };
    let (_kept, copy_address_range) = regions(gpu, &copies.map(region))?;
    let command = gpu.command::<sys::PFN_vkCmdCopyMemoryIndirectKHR>(c"vkCmdCopyMemoryIndirectKHR")?;
    let run = |copy_count: u32| {
        let info = Newer(sys::CopyMemoryIndirectInfoKHR { copy_count, copy_address_range, ..Default::default() });
        // SAFETY: the command buffer is recording, and the regions are alive.
        gpu.run(|commands| unsafe {
            command(commands, &raw const info);
            gpu.barrier(commands, None);
        })
    };
    run(0)?;
    check(target.read(0, 256).iter().all(|&byte| byte == 0), || "no copies write bytes".into())?;
    run(copies.len() as u32)?;
    let mut expected = vec![0; 256];
    for (from, to, size) in copies.map(|(from, to, size)| (from as usize, to as usize, size as usize)) {
        expected[to..to + size].copy_from_slice(&content[from..from + size]);
    }
    equal(&target.read(0, 256), &expected)
}

/// A region of an image: offset in the buffer, row length, layer, and offset and extent in texels.
struct Region {
    offset: u64,
    row_length: u32,
    layer: u32,
    at: [u32; 2],
    extent: [u32; 2],
}

impl Region {
    fn layers(&self) -> sys::ImageSubresourceLayers {
        sys::ImageSubresourceLayers {
            aspect_mask: sys::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: self.layer,
            layer_count: 1,
        }
    }

    fn words(&self, start: u64) -> Vec<u32> {
        let layers = [COLOR.as_raw(), 0, self.layer, 1];
        let [width, height] = self.extent;
        let place = [self.at[0], self.at[1], 0, width, height, 1];
        [&words(start + self.offset)[..], &[self.row_length, 0], &layers, &place].concat()
    }
}

/// Copies regions of memory to an image of two layers or slices, and reads it.
fn to_image(gpu: &Gpu, shape: ImageShape) -> Case {
    supported(gpu)?;
    if gpu.extension_features.indirect_copies.indirect_memory_to_image_copy == 0 {
        return Err(Outcome::NotSupported("indirectMemoryToImageCopy".into()));
    }
    let target = image(gpu, shape, COLOR)?;
    let source = gpu.addressed(4 * 256)?;
    let texels: Vec<u32> = (0..256).map(|texel| 0x0101_0101_u32.wrapping_mul(texel) ^ 0x1234_5678).collect();
    source.write(bytemuck::cast_slice(&texels));
    // The first two regions cover the image. The others replace parts of it.
    let described = [
        Region { offset: 0, row_length: 0, layer: 0, at: [0, 0], extent: [8, 8] },
        Region { offset: 256, row_length: 8, layer: 1, at: [0, 0], extent: [8, 8] },
        Region { offset: 512, row_length: 16, layer: 1, at: [2, 3], extent: [4, 2] },
        Region { offset: 0, row_length: 0, layer: 0, at: [7, 7], extent: [1, 1] },
    ];
    let start = address(gpu, &source);
    let (_kept, range) = regions(gpu, &described.each_ref().map(|region| region.words(start)))?;
    let layers = described.each_ref().map(Region::layers);
    let info = Newer(sys::CopyMemoryToImageIndirectInfoKHR {
        copy_count: described.len() as u32,
        copy_address_range: range,
        dst_image: sys::Image::from_raw(target.as_raw()),
        dst_image_layout: sys::ImageLayout::GENERAL,
        image_subresources: layers.as_ptr(),
        ..Default::default()
    });
    let command = gpu.command::<sys::PFN_vkCmdCopyMemoryToImageIndirectKHR>(c"vkCmdCopyMemoryToImageIndirectKHR")?;
    let out = gpu.buffer(2 * 8 * 8 * 4)?;
    let is_volume = shape.extent[2] > 1;
    let whole = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: COLOR,
            layer_count: shape.layers,
            ..Default::default()
        },
        image_extent: vk::Extent3D { width: 8, height: 8, depth: if is_volume { 2 } else { 1 } },
        ..Default::default()
    };
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        command(commands, &raw const info);
        gpu.barrier(commands, None);
        gpu.device.cmd_copy_image_to_buffer(commands, target, GENERAL, out.handle, &[whole]);
        gpu.barrier(commands, None);
    })?;
    let mut expected = vec![0u32; 128];
    for region in &described {
        let row = if region.row_length == 0 { region.extent[0] } else { region.row_length };
        for (y, x) in (0..region.extent[1]).flat_map(|y| (0..region.extent[0]).map(move |x| (y, x))) {
            let place = region.layer * 64 + (region.at[1] + y) * 8 + region.at[0] + x;
            expected[place as usize] = texels[(region.offset / 4) as usize + (y * row + x) as usize];
        }
    }
    equal(&out.words(), &expected)
}

case!("copies.indirect.layers", SECTION, |gpu| {
    to_image(gpu, ImageShape { layers: 2, ..ImageShape::new(vk::Format::R8G8B8A8_UNORM, [8, 8, 1]) })
});

case!("copies.indirect.slices", SECTION, |gpu| {
    to_image(gpu, ImageShape::new(vk::Format::R8G8B8A8_UNORM, [8, 8, 2]))
});
