//! Memory requirements and binding by the structures of Vulkan 1.1.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, Image, ImageDesc, Transition, check, whole};

case!("core11.memory.requirements2", "VK_KHR_get_memory_requirements2", requirements2);

fn requirements2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_GET_MEMORY_REQUIREMENTS2_NAME)?;
    gpu.need(vk::KHR_DEDICATED_ALLOCATION_NAME)?;
    let second = khr::get_memory_requirements2::Device::new(&gpu.instance, &gpu.device);
    let buffer = gpu.buffer(1000)?;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [19, 7], vk::ImageUsageFlags::TRANSFER_DST))?;
    let mut dedicated = vk::MemoryDedicatedRequirements { prefers_dedicated_allocation: 7, ..Default::default() };
    let mut all = vk::MemoryRequirements2::default().push_next(&mut dedicated);
    // SAFETY: the handles are valid, and the chains are.
    let same = unsafe {
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer.handle);
        second.get_buffer_memory_requirements2(&info, &mut all);
        let first = gpu.device.get_buffer_memory_requirements(buffer.handle);
        let buffers = is_same(first, all.memory_requirements);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(image.handle);
        second.get_image_memory_requirements2(&info, &mut all);
        let first = gpu.device.get_image_memory_requirements(image.handle);
        buffers && is_same(first, all.memory_requirements)
    };
    check(same, || "both versions differ".into())?;
    check(dedicated.prefers_dedicated_allocation <= 1, || "the chain was not filled in".into())?;
    let info = vk::ImageSparseMemoryRequirementsInfo2::default().image(image.handle);
    // SAFETY: the image is valid.
    let count = unsafe { second.get_image_sparse_memory_requirements2_len(&info) };
    check(count == 0, || format!("{count} sparse requirements of an image that is not sparse"))
}

fn is_same(a: vk::MemoryRequirements, b: vk::MemoryRequirements) -> bool {
    (a.size, a.alignment, a.memory_type_bits) == (b.size, b.alignment, b.memory_type_bits)
}

case!("core11.memory.bind2", "VK_KHR_bind_memory2", bind2);

/// Binds a buffer and an image by one call each, each with its own memory, and copies between
/// them.
fn bind2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_BIND_MEMORY2_NAME)?;
    gpu.need(vk::KHR_DEDICATED_ALLOCATION_NAME)?;
    let second = khr::bind_memory2::Device::new(&gpu.instance, &gpu.device);
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    // SAFETY: valid infos; each resource is bound once; the copies stay inside.
    unsafe {
        let buffers =
            [0, 1].map(|_| gpu.device.create_buffer(&vk::BufferCreateInfo::default().size(256).usage(usage), None));
        let [a, b] = buffers;
        let (a, b) = (a?, b?);
        let needs = gpu.device.get_buffer_memory_requirements(b);
        let shared = gpu.allocate(vk::MemoryRequirements { size: needs.size * 2 + 4096, ..needs }, false)?;
        let infos = [
            vk::BindBufferMemoryInfo::default().buffer(a).memory(shared),
            vk::BindBufferMemoryInfo::default().buffer(b).memory(shared).memory_offset(4096),
        ];
        (second.fp().bind_buffer_memory2_khr)(gpu.device.handle(), 2, infos.as_ptr()).result()?;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        let mut own = vk::MemoryDedicatedAllocateInfo::default().image(image);
        let index = needs.memory_type_bits.trailing_zeros();
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        let memory = gpu.device.allocate_memory(&info.push_next(&mut own), None)?;
        let info = vk::BindImageMemoryInfo::default().image(image).memory(memory);
        (second.fp().bind_image_memory2_khr)(gpu.device.handle(), 1, &raw const info).result()?;
        let extent = vk::Extent3D { width: 8, height: 8, depth: 1 };
        let image = Image {
            handle: image,
            view: vk::ImageView::null(),
            extent,
            aspects: vk::ImageAspectFlags::COLOR,
            levels: 1,
        };
        let out = gpu.buffer(512)?;
        gpu.run(|commands| {
            gpu.device.cmd_fill_buffer(commands, a, 0, 256, 0x1111_1111);
            gpu.device.cmd_fill_buffer(commands, b, 0, 256, 0x2222_2222);
            gpu.barrier(
                commands,
                Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: vk::ImageLayout::GENERAL }),
            );
            let region = whole(&image, vk::ImageAspectFlags::COLOR);
            gpu.device.cmd_copy_buffer_to_image(commands, b, image.handle, vk::ImageLayout::GENERAL, &[region]);
            gpu.barrier(commands, None);
            gpu.device.cmd_copy_buffer(commands, a, out.handle, &[vk::BufferCopy { size: 256, ..Default::default() }]);
            let region = vk::BufferImageCopy { buffer_offset: 256, ..region };
            gpu.device.cmd_copy_image_to_buffer(
                commands,
                image.handle,
                vk::ImageLayout::GENERAL,
                out.handle,
                &[region],
            );
            gpu.barrier(commands, None);
        })?;
        let words = out.words();
        let good =
            words[..64].iter().all(|&word| word == 0x1111_1111) && words[64..].iter().all(|&word| word == 0x2222_2222);
        check(good, || format!("{words:x?}"))
    }
}
