//! Copies whose regions the GPU reads from memory, between device addresses and to images.
//!
//! A region whose addresses no memory has is dropped, and a warning is logged once for a command.
//! Source: Vulkan specification, "Indirect Copies"; `VK_KHR_copy_memory_indirect`.

use std::sync::Arc;

use ash::vk;
use vitric_base::workers::Workers;
use vitric_memory::{Addresses, Allocation, Buffer, InUse, Surface};

use super::{BufferImageTransfer, CopyAccess, CopyDirection, copy_buffer_image};

/// Location of the regions of an indirect copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndirectRegions {
    /// Device address of the first region.
    pub address: u64,
    /// Distance between the begins of two regions, in bytes.
    pub stride: u64,
    /// Number of regions.
    pub count: u32,
}

impl IndirectRegions {
    /// Size in bytes of a region between device addresses (`VkCopyMemoryIndirectCommandKHR`).
    pub const MEMORY_BYTES: u64 = 24;
    /// Size in bytes of a region of an image (`VkCopyMemoryToImageIndirectCommandKHR`).
    pub const IMAGE_BYTES: u64 = 56;
}

/// One of the regions.
#[derive(Clone, Copy)]
pub(crate) struct IndirectRegion<'a> {
    /// Memory by address.
    pub addresses: &'a Addresses,
    /// All regions.
    pub regions: IndirectRegions,
    /// Number of the region.
    pub number: u32,
}

impl IndirectRegion<'_> {
    /// Reads the region's dwords; `None` if no memory has its address.
    fn read<const N: usize>(self) -> Option<[u32; N]> {
        let address = self.regions.stride.checked_mul(self.number.into())?.checked_add(self.regions.address)?;
        let (memory, offset) = self.addresses.locate(address, 4 * N as u64)?;
        Some(std::array::from_fn(|index| {
            let mut bytes = [0; 4];
            memory.read(offset + 4 * index as u64, &mut bytes);
            u32::from_le_bytes(bytes)
        }))
    }
}

/// Returns the 64-bit number in two dwords.
fn wide([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Copies a region between device addresses. Returns false if it is dropped.
pub(crate) fn copy_memory(region: IndirectRegion<'_>) -> bool {
    let Some([source, source_high, target, target_high, size, size_high]) = region.read() else { return false };
    let size = wide([size, size_high]);
    let locate = |address| region.addresses.locate(address, size);
    match (locate(wide([source, source_high])), locate(wide([target, target_high]))) {
        _ if size == 0 => true,
        (Some((from, from_offset)), Some((to, to_offset))) => {
            Allocation::copy(from, from_offset, to, to_offset, size);
            true
        }
        _ => false,
    }
}

/// Copies a region to layers of an image. Returns false if it is dropped.
pub(crate) fn copy_memory_to_image(
    workers: &Workers,
    in_use: Option<&InUse<'_>>,
    source: IndirectRegion<'_>,
    (target, layers): (&Surface, vk::ImageSubresourceLayers),
) -> bool {
    let Some(dwords) = source.read::<14>() else { return false };
    let [low, high, row_length, image_height, _, _, _, _, x, y, z, width, height, depth] = dwords;
    let Some((memory, offset)) = source.addresses.locate(wide([low, high]), 1) else { return false };
    let mut region = vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: row_length,
        buffer_image_height: image_height,
        image_subresource: layers,
        image_offset: vk::Offset3D { x: x as i32, y: y as i32, z: z as i32 },
        image_extent: vk::Extent3D { width, height, depth },
    };
    // Layers name the slices of a 3D image, because they are known when the command is recorded.
    if target.desc().kind == vk::ImageType::TYPE_3D {
        region.image_offset.z = i32::try_from(layers.base_array_layer).unwrap_or(i32::MAX);
        region.image_extent.depth = layers.layer_count;
    }
    let buffer = whole(memory);
    let copy = BufferImageTransfer { buffer: &buffer, image: target, direction: CopyDirection::ToImage };
    let mut access = CopyAccess::of_buffer_image(workers, in_use, copy, &[region]);
    copy_buffer_image(&mut access, copy, &[region]);
    true
}

/// Returns a buffer of all bytes of an allocation.
fn whole(memory: &Arc<Allocation>) -> Arc<Buffer> {
    let buffer = Buffer::new(memory.size());
    buffer.bind(memory.clone(), 0);
    buffer
}

#[cfg(test)]
mod tests {
    use vitric_memory::{AddressKind, AddressSpace, Heap};

    use super::*;

    #[test]
    fn regions_of_unknown_addresses_are_dropped() {
        let (heap, space) = (Heap::new(1 << 20), AddressSpace::default());
        let memory = Allocation::new(&heap, 256).unwrap();
        assert!(space.expose(&memory, AddressKind::Any));
        let (start, addresses) = (space.of(&memory).unwrap(), space.now());
        let region = |address, number| {
            let regions = IndirectRegions { address, stride: 24, count: 1 };
            IndirectRegion { addresses: &addresses, regions, number }
        };
        let copy = |source: u64, target: u64, size: u64| {
            memory.write(0, &[source, target, size].map(u64::to_le_bytes).concat());
            copy_memory(region(start, 0))
        };
        memory.write(64, &[7; 16]);
        assert!(copy(start + 64, start + 128, 16));
        assert!(copy(start + 65, start + 66, 8), "overlapping ranges");
        assert!(copy(0, u64::MAX, 0), "nothing to copy");
        for [source, target, size] in [
            [0, start, 4],
            [start, 8, 4],
            [start + 64, start + 248, 16],
            [start, start, u64::MAX],
            [u64::MAX, start, 4],
        ] {
            assert!(!copy(source, target, size), "{source:#x} to {target:#x}");
        }
        let mut found = [0; 16];
        memory.read(128, &mut found);
        assert_eq!(found, [7; 16]);
        for address in [0, start + 240, u64::MAX] {
            assert!(!copy_memory(region(address, 0)) && !copy_memory(region(address, 9)));
        }
    }
}
