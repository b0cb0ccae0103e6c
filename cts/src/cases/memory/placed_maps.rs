//! Maps of memory at addresses that the application chooses. Source: `VK_EXT_map_memory_placed`.

use ash::vk::{self, MemoryMapFlags, MemoryUnmapFlagsKHR};
use ash::{ext, khr};

use crate::harness::{Case, Gpu, Outcome, check};

/// Bytes of the memory that is mapped.
const SIZE: usize = 4 << 16;

/// Addresses that no map of another owner has.
struct Addresses {
    all: Vec<u8>,
    alignment: usize,
}

impl Addresses {
    /// Takes addresses for memory of [`SIZE`] bytes.
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        gpu.need(ext::map_memory_placed::NAME)?;
        let mut limits = vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default();
        gpu.properties2(&mut limits);
        let alignment = limits.min_placed_memory_map_alignment;
        check(alignment.is_power_of_two() && alignment <= 1 << 16, || format!("an alignment of {alignment}"))?;
        // The vector has pages of its own, because it is much larger than a page.
        Ok(Self { all: vec![1; 16 * SIZE], alignment: alignment as usize })
    }

    /// Returns the address in the middle.
    fn middle(&self) -> *mut u8 {
        let start = self.all.as_ptr().cast_mut().wrapping_add(8 * SIZE);
        start.wrapping_add(start.align_offset(self.alignment.max(1 << 16)))
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // The pages in the middle no longer belong to the vector.
        std::mem::forget(std::mem::take(&mut self.all));
    }
}

/// Host-visible memory of each type that a buffer can have, with a buffer.
fn buffers(gpu: &Gpu) -> Result<Vec<(vk::Buffer, vk::DeviceMemory)>, Outcome> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(SIZE as u64).usage(usage);
    let mut made = Vec::new();
    for (index, kind) in gpu.memory.memory_types[..gpu.memory.memory_type_count as usize].iter().enumerate() {
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        if !kind.property_flags.contains(wanted) {
            continue;
        }
        // SAFETY: infos are valid, and handles alive.
        unsafe {
            let buffer = gpu.device.create_buffer(&info, None)?;
            let needs = gpu.device.get_buffer_memory_requirements(buffer);
            if needs.memory_type_bits >> index & 1 == 0 || needs.size != SIZE as u64 {
                gpu.device.destroy_buffer(buffer, None);
                continue;
            }
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
            let memory = gpu.device.allocate_memory(&info, None)?;
            gpu.device.bind_buffer_memory(buffer, memory, 0)?;
            made.push((buffer, memory));
        }
    }
    match made.is_empty() {
        true => Err(Outcome::NotSupported("host-visible memory of the buffer's size".into())),
        false => Ok(made),
    }
}

fn free(gpu: &Gpu, (buffer, memory): (vk::Buffer, vk::DeviceMemory)) {
    // SAFETY: both are in no use.
    unsafe {
        gpu.device.destroy_buffer(buffer, None);
        gpu.device.free_memory(memory, None);
    }
}

/// Maps a range of memory at an address.
fn place(gpu: &Gpu, memory: vk::DeviceMemory, [offset, size]: [u64; 2], address: *mut u8) -> Result<(), Outcome> {
    let maps = khr::map_memory2::Device::new(&gpu.instance, &gpu.device);
    let mut placed = vk::MemoryMapPlacedInfoEXT { p_placed_address: address.cast(), ..Default::default() };
    let info = vk::MemoryMapInfoKHR::default()
        .flags(MemoryMapFlags::PLACED_EXT)
        .memory(memory)
        .offset(offset)
        .size(size)
        .push_next(&mut placed);
    // SAFETY: nothing uses the addresses.
    let found = unsafe {
        let mut found = std::ptr::null_mut();
        (maps.fp().map_memory2_khr)(gpu.device.handle(), &raw const info, &raw mut found).result()?;
        found
    };
    check(found.cast() == address, || format!("mapped at {found:?}, not at {address:?}"))
}

fn unmap(gpu: &Gpu, memory: vk::DeviceMemory, flags: MemoryUnmapFlagsKHR) -> Case {
    let maps = khr::map_memory2::Device::new(&gpu.instance, &gpu.device);
    let info = vk::MemoryUnmapInfoKHR::default().flags(flags).memory(memory);
    // SAFETY: the memory is mapped, and nothing uses the map.
    Ok(unsafe { (maps.fp().unmap_memory2_khr)(gpu.device.handle(), &raw const info) }.result()?)
}

/// Writes words by the device, reads and changes them at an address, and reads them by the device.
fn exchange(gpu: &Gpu, buffer: vk::Buffer, start: usize, mapped: *mut u8, count: usize) -> Case {
    // SAFETY: the command buffer is recording; the address has `count` mapped bytes.
    unsafe {
        gpu.run(|commands| {
            gpu.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0x0403_0201);
            gpu.barrier(commands, None);
        })?;
        let words = std::slice::from_raw_parts_mut(mapped.cast::<u32>(), count / 4);
        check(words.iter().all(|&word| word == 0x0403_0201), || "the map lacks the device's words".into())?;
        words.iter_mut().zip(0..).for_each(|(word, number)| *word = number);
    }
    let copy = gpu.buffer(SIZE as u64)?;
    let region = [vk::BufferCopy { size: SIZE as u64, ..Default::default() }];
    // SAFETY: the command buffer is recording, and both buffers have the bytes.
    gpu.run(|commands| unsafe { gpu.device.cmd_copy_buffer(commands, buffer, copy.handle, &region) })?;
    let expected = |number: usize| {
        let inside = (start / 4..(start + count) / 4).contains(&number);
        if inside { (number - start / 4) as u32 } else { 0x0403_0201 }
    };
    let words = copy.words();
    check(words.iter().enumerate().all(|(number, &word)| word == expected(number)), || {
        "the device lacks the host's words".into()
    })
}

case!("memory.placed_maps.whole", "VkMemoryMapPlacedInfoEXT", whole);

/// Maps all of memory at an address, which is later used for other memory.
fn whole(gpu: &Gpu) -> Case {
    let addresses = Addresses::new(gpu)?;
    for (buffer, memory) in buffers(gpu)? {
        let address = addresses.middle();
        place(gpu, memory, [0, vk::WHOLE_SIZE], address)?;
        exchange(gpu, buffer, 0, address, SIZE)?;
        match gpu.extension_features.placed_maps.memory_unmap_reserve {
            // Freed memory is no longer mapped.
            0 => {}
            _ => unmap(gpu, memory, MemoryUnmapFlagsKHR::RESERVE_EXT)?,
        }
        free(gpu, (buffer, memory));
    }
    Ok(())
}

case!("memory.placed_maps.ranges", "VkMemoryMapPlacedInfoEXT", ranges);

/// Maps parts of memory at addresses.
fn ranges(gpu: &Gpu) -> Case {
    let addresses = Addresses::new(gpu)?;
    if gpu.extension_features.placed_maps.memory_map_range_placed == 0 {
        return Err(Outcome::NotSupported("memoryMapRangePlaced".into()));
    }
    let part = addresses.alignment.max(SIZE / 8);
    for (buffer, memory) in buffers(gpu)? {
        for (offset, size) in [(part, 2 * part), (0, part), (SIZE - part, part)] {
            let address = addresses.middle();
            place(gpu, memory, [offset as u64, size as u64], address)?;
            exchange(gpu, buffer, offset, address, size)?;
            unmap(gpu, memory, MemoryUnmapFlagsKHR::empty())?;
        }
        free(gpu, (buffer, memory));
    }
    Ok(())
}

case!("memory.placed_maps.reserved", "VkMemoryUnmapFlagBits", reserved);

/// Unmaps memory whose addresses stay reserved, after maps anywhere and maps at an address.
fn reserved(gpu: &Gpu) -> Case {
    let addresses = Addresses::new(gpu)?;
    if gpu.extension_features.placed_maps.memory_unmap_reserve == 0 {
        return Err(Outcome::NotSupported("memoryUnmapReserve".into()));
    }
    let overlaps = |mapped: *mut u8, reserved: *mut u8| mapped.addr().abs_diff(reserved.addr()) < SIZE;
    for (buffer, memory) in buffers(gpu)? {
        // SAFETY: the memory is not mapped.
        let anywhere =
            unsafe { gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, MemoryMapFlags::empty())?.cast::<u8>() };
        exchange(gpu, buffer, 0, anywhere, SIZE)?;
        unmap(gpu, memory, MemoryUnmapFlagsKHR::RESERVE_EXT)?;
        place(gpu, memory, [0, vk::WHOLE_SIZE], addresses.middle())?;
        unmap(gpu, memory, MemoryUnmapFlagsKHR::RESERVE_EXT)?;
        free(gpu, (buffer, memory));
        // Later maps of the driver and of the system lie elsewhere.
        for _ in 0..8 {
            let (buffer, memory) = buffers(gpu)?.remove(0);
            // SAFETY: the memory is not mapped.
            let other = unsafe { gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, MemoryMapFlags::empty())? }.cast();
            let system = vec![1u8; SIZE];
            let is_free = [other, system.as_ptr().cast_mut()]
                .into_iter()
                .all(|map| !overlaps(map, anywhere) && !overlaps(map, addresses.middle()));
            check(is_free, || "a reserved address is used".into())?;
            free(gpu, (buffer, memory));
        }
        let (again, memory) = buffers(gpu)?.remove(0);
        place(gpu, memory, [0, vk::WHOLE_SIZE], anywhere)?;
        exchange(gpu, again, 0, anywhere, SIZE)?;
        unmap(gpu, memory, MemoryUnmapFlagsKHR::RESERVE_EXT)?;
        free(gpu, (again, memory));
    }
    Ok(())
}

case!("memory.placed_maps.failures", "VkMemoryMapPlacedInfoEXT", failures);

/// Places a map at addresses of the system, which fails and leaves the memory unmapped.
fn failures(gpu: &Gpu) -> Case {
    let addresses = Addresses::new(gpu)?;
    let (buffer, memory) = buffers(gpu)?.remove(0);
    let system = std::ptr::without_provenance_mut(usize::MAX << 16 << 16);
    let failed = place(gpu, memory, [0, vk::WHOLE_SIZE], system);
    check(matches!(failed, Err(Outcome::Fail(_))), || "a map lies in the system's addresses".into())?;
    place(gpu, memory, [0, vk::WHOLE_SIZE], addresses.middle())?;
    exchange(gpu, buffer, 0, addresses.middle(), SIZE)?;
    unmap(gpu, memory, MemoryUnmapFlagsKHR::empty())?;
    free(gpu, (buffer, memory));
    Ok(())
}
