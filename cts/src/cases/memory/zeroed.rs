//! Memory that is zero when it is allocated, and images of it. Source:
//! `VK_EXT_zero_initialize_device_memory`.

use ash::vk;
use vitric_vulkan::names::EXT_ZERO_INITIALIZE_DEVICE_MEMORY_NAME;
use vitric_vulkan::sys;

use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check};
use crate::render::SIZE;

const ZEROED: vk::ImageLayout = vk::ImageLayout::from_raw(sys::ImageLayout::ZERO_INITIALIZED_EXT.as_raw());
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

fn supported(gpu: &Gpu) -> Case {
    gpu.need(EXT_ZERO_INITIALIZE_DEVICE_MEMORY_NAME)?;
    match gpu.extension_features.zeroed_memory.zero_initialize_device_memory {
        0 => Err(Outcome::NotSupported("zeroInitializeDeviceMemory".into())),
        _ => Ok(()),
    }
}

/// Allocates zeroed memory of the first type that fits.
fn allocate(gpu: &Gpu, needs: vk::MemoryRequirements, visible: bool) -> Result<vk::DeviceMemory, Outcome> {
    let wanted = if visible { vk::MemoryPropertyFlags::HOST_VISIBLE } else { vk::MemoryPropertyFlags::empty() };
    let types = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
    let fits =
        |number: &usize| needs.memory_type_bits >> number & 1 != 0 && types[*number].property_flags.contains(wanted);
    let number = (0..types.len()).find(fits).ok_or(Outcome::Fail("no memory type fits".into()))?;
    let flags = vk::MemoryAllocateFlags::from_raw(sys::MemoryAllocateFlags::ZERO_INITIALIZE_EXT.bits());
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(number as u32);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.allocate_memory(&info.push_next(&mut flags), None) }?)
}

case!("memory.zeroed.mapped", "VK_EXT_zero_initialize_device_memory", mapped);

/// Fills memory, frees it, and allocates as much again.
fn mapped(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let needs = vk::MemoryRequirements { size: 1 << 20, memory_type_bits: u32::MAX, ..Default::default() };
    for _ in 0..3 {
        let memory = allocate(gpu, needs, true)?;
        // SAFETY: the memory is host-visible and has so many bytes.
        let is_zero = unsafe {
            let pointer = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
            let bytes = std::slice::from_raw_parts_mut(pointer, 1 << 20);
            let is_zero = bytes.iter().all(|&byte| byte == 0);
            bytes.fill(0xa5);
            gpu.device.free_memory(memory, None);
            is_zero
        };
        check(is_zero, || "the memory is not zero".into())?;
    }
    Ok(())
}

case!("memory.zeroed.color", "VK_EXT_zero_initialize_device_memory", |gpu| {
    zeroed(gpu, vk::Format::R8G8B8A8_UNORM, COLOR, 4)
});
case!("memory.zeroed.depth", "VK_EXT_zero_initialize_device_memory", |gpu| {
    zeroed(gpu, vk::Format::D16_UNORM, vk::ImageAspectFlags::DEPTH, 2)
});

/// Reads an image whose contents were never written.
fn zeroed(gpu: &Gpu, format: vk::Format, aspects: vk::ImageAspectFlags, bytes: u32) -> Case {
    supported(gpu)?;
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };
    let ImageDesc { samples, .. } = ImageDesc::color(format, [SIZE; 2], vk::ImageUsageFlags::TRANSFER_SRC);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(samples)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC)
        .initial_layout(ZEROED);
    // SAFETY: the info is valid, and the memory is as large as the image needs.
    let handle = unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let memory = allocate(gpu, gpu.device.get_image_memory_requirements(handle), false)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        handle
    };
    let image = Image { handle, view: vk::ImageView::null(), extent, aspects, levels: 1 };
    let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    gpu.run(|commands| gpu.barrier(commands, Some(Transition { image: &image, from: ZEROED, to })))?;
    let found = gpu.read_image(&image, aspects, bytes)?;
    check(found.iter().all(|&byte| byte == 0), || format!("{:?}", &found[..8]))
}
