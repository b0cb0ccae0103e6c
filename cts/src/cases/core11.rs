//! What became a part of Vulkan 1.1, by the extensions that brought it: memory and binding, descriptor templates, groups of devices,
//! external handles, maintenance, small numbers in memory, the numbers of draws.

use ash::khr;
use ash::vk::{self, DescriptorType as D};

use crate::Entry;
use crate::harness::{Buffer, Case, Gpu, Image, ImageDesc, Outcome, check, range, whole};
use crate::render::{Draw, FULL, Kind, SIZE, State, TEXTURE, Target, render};

const NARROW: &[u8] = include_bytes!("../../shaders/narrow.comp.spv");
const BASE: &[u8] = include_bytes!("../../shaders/base.comp.spv");
const PARAMETERS: &[u8] = include_bytes!("../../shaders/parameters.vert.spv");
const BLOCKS: &[u8] = include_bytes!("../../shaders/blocks.comp.spv");

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add =
        |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(format!("core11.{name}"), section, run));
    add("memory.requirements2", "VK_KHR_get_memory_requirements2", requirements2);
    add("memory.bind2", "VK_KHR_bind_memory2", bind2);
    add("descriptors.template", "VK_KHR_descriptor_update_template", template);
    add("descriptors.layout_support", "VK_KHR_maintenance3", layout_support);
    add("groups.enumerate", "VK_KHR_device_group_creation", groups);
    add("groups.dispatch_base", "VK_KHR_device_group", dispatch_base);
    add("external.queries", "VK_KHR_external_memory_capabilities", external);
    add("maintenance.negative_viewport", "VK_KHR_maintenance1", negative_viewport);
    add("maintenance.slices", "VK_KHR_maintenance1", slices);
    add("maintenance.copy_to_slices", "VK_KHR_maintenance1", copy_to_slices);
    add("maintenance.block_views", "VK_KHR_maintenance2", block_views);
    add("maintenance.properties", "VK_KHR_maintenance3", properties);
    add("draws.parameters", "VK_KHR_shader_draw_parameters", draw_parameters);
    narrow_cases(all);
}

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

/// A buffer and an image bound by one call each, with memory of their own; a copy from one to the other.
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
            gpu.barrier(commands, Some((&image, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)));
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

/// Two storage buffers whose infos lie apart in a structure, the second not at its beginning.
fn template(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME)?;
    let second = khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
    let [input, output, unused] = [0, 1, 2].map(|number| gpu.buffer_with(&vec![number * 0x0101_0101u32; 64]));
    let (input, output, unused) = (input?, output?, unused?);
    let kinds = [(D::STORAGE_BUFFER, unused), (D::STORAGE_BUFFER, unused), (D::UNIFORM_BUFFER, unused)];
    let compute = gpu.compute_pipeline(PLAIN, 0, &kinds[..2])?;
    let (layout, _) = gpu.set(&[D::STORAGE_BUFFER; 2])?;
    input.write(&[7; 64 * 4]);
    let info = |buffer: Buffer| vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE };
    #[repr(C)]
    struct Data {
        before: [u64; 3],
        infos: [(vk::DescriptorBufferInfo, u64); 2],
    }
    let data = Data { before: [u64::MAX; 3], infos: [(info(input), u64::MAX), (info(output), u64::MAX)] };
    let entry = vk::DescriptorUpdateTemplateEntry {
        dst_binding: 0,
        dst_array_element: 0,
        // Goes on in the next binding.
        descriptor_count: 2,
        descriptor_type: D::STORAGE_BUFFER,
        offset: size_of_val(&data.before),
        stride: size_of::<(vk::DescriptorBufferInfo, u64)>(),
    };
    let entries = [entry];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(layout);
    // SAFETY: the info is valid, and the data are as its entry says.
    unsafe {
        let (device, commands) = (gpu.device.handle(), second.fp());
        let mut template = vk::DescriptorUpdateTemplate::null();
        (commands.create_descriptor_update_template_khr)(device, &raw const info, std::ptr::null(), &raw mut template)
            .result()?;
        let data = (&raw const data).cast();
        (commands.update_descriptor_set_with_template_khr)(device, compute.set, template, data);
        (commands.destroy_descriptor_update_template_khr)(device, template, std::ptr::null());
    }
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    let words = output.words();
    check(words != vec![0x0101_0101; 64], || "nothing was written to the buffer".into())?;
    check(unused.words() == vec![0x0202_0202; 64], || "another buffer was written to".into())
}

/// A shader of two storage buffers.
const PLAIN: &[u8] = include_bytes!("../../shaders/numbers.comp.spv");

fn layout_support(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE3_NAME)?;
    let second = khr::maintenance3::Device::new(&gpu.instance, &gpu.device);
    let mut own = vk::PhysicalDeviceMaintenance3Properties::default();
    properties2(gpu, &mut own);
    let (least, memory) = (own.max_per_set_descriptors, own.max_memory_allocation_size);
    check(least >= 1024, || format!("{least} descriptors of a set, {memory} bytes"))?;
    let support = |count: u32| {
        let binding =
            vk::DescriptorSetLayoutBinding::default().descriptor_type(D::SAMPLED_IMAGE).descriptor_count(count);
        let bindings = [binding.stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let mut support = vk::DescriptorSetLayoutSupport::default();
        // SAFETY: the info is valid.
        unsafe { second.get_descriptor_set_layout_support(&info, &mut support) };
        support.supported == vk::TRUE
    };
    check(support(1) && support(least), || "a layout that must be supported is not".into())?;
    variable_support(gpu, &second)
}

/// The most descriptors of a binding whose count is variable: the same for any count asked for, also for none, and possible.
fn variable_support(gpu: &Gpu, second: &khr::maintenance3::Device) -> Case {
    if gpu.more.descriptor_indexing.descriptor_binding_variable_descriptor_count == 0 {
        return Ok(());
    }
    let support = |kind: D, count: u32| {
        let binding = vk::DescriptorSetLayoutBinding::default().stage_flags(vk::ShaderStageFlags::COMPUTE);
        let first = binding.descriptor_type(D::UNIFORM_BUFFER).descriptor_count(3);
        let bindings = [first, binding.binding(5).descriptor_type(kind).descriptor_count(count)];
        let flags = [vk::DescriptorBindingFlags::empty(), vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT];
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flags);
        let mut most = vk::DescriptorSetVariableDescriptorCountLayoutSupport::default();
        let mut support = vk::DescriptorSetLayoutSupport::default().push_next(&mut most);
        // SAFETY: the info is valid.
        unsafe { second.get_descriptor_set_layout_support(&info, &mut support) };
        (support.supported == vk::TRUE, most.max_variable_descriptor_count)
    };
    let blocks = gpu.more.inline_blocks.descriptor_binding_inline_uniform_block_update_after_bind != 0;
    let kinds = [(D::SAMPLED_IMAGE, 1, u32::MAX), (D::SAMPLER, 1, u32::MAX), (D::INLINE_UNIFORM_BLOCK, 4, 1 << 20)];
    for (kind, one, limit) in kinds.into_iter().filter(|(kind, ..)| blocks || *kind != D::INLINE_UNIFORM_BLOCK) {
        let (is_supported, most) = support(kind, one);
        let same = [0, most].map(|count| support(kind, count));
        let good = is_supported && most >= one && most % one == 0 && most <= limit && same == [(true, most); 2];
        check(good, || format!("{kind:?}: {most}, {same:?}"))?;
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

fn groups(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DEVICE_GROUP_NAME)?;
    let query = khr::device_group_creation::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension.
    let groups = unsafe {
        let count = query.enumerate_physical_device_groups_len()?;
        let mut groups = vec![vk::PhysicalDeviceGroupProperties::default(); count];
        query.enumerate_physical_device_groups(&mut groups)?;
        groups
    };
    let in_group = |group: &vk::PhysicalDeviceGroupProperties<'_>| {
        group.physical_devices[..group.physical_device_count as usize].contains(&gpu.physical)
    };
    let count = groups.iter().filter(|group| in_group(group)).count();
    check(count == 1, || format!("the device is in {count} of {} groups", groups.len()))
}

/// Workgroups of a part of a grid.
fn dispatch_base(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DEVICE_GROUP_NAME)?;
    let second = khr::device_group::Device::new(&gpu.instance, &gpu.device);
    let out = gpu.buffer(512 * 4)?;
    let compute = gpu.compute_pipeline(BASE, 0, &[(D::STORAGE_BUFFER, out)])?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording, and the pipeline was made for bases.
        unsafe {
            second.cmd_set_device_mask(commands, 1);
            second.cmd_dispatch_base(commands, (1, 2, 3), (4, 3, 2));
        }
        gpu.barrier(commands, None);
    })?;
    for (at, &word) in out.words().iter().enumerate() {
        let (x, y, z) = (at % 8, at / 8 % 8, at / 64);
        let inside = (1..5).contains(&x) && (2..5).contains(&y) && (3..5).contains(&z);
        let expected = if inside { 3 + 4 * (4 + 8 * 3 + 64 * 2) } else { 0 };
        check(word == expected, || format!("({x}, {y}, {z}) is {word}, not {expected}"))?;
    }
    Ok(())
}

/// What a device says of handles from outside is consistent: nothing it cannot import or export is said to be compatible.
fn external(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_NAME)?;
    let memory = khr::external_memory_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let fences = khr::external_fence_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let semaphores = khr::external_semaphore_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let (fd, win32) = (vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD, vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32);
    for kind in [fd, win32] {
        let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let mut out = vk::ExternalBufferProperties::default();
        // SAFETY: the info is valid.
        unsafe {
            let info = info.handle_type(kind);
            (memory.fp().get_physical_device_external_buffer_properties_khr)(
                gpu.physical,
                &raw const info,
                &raw mut out,
            );
        }
        let found = out.external_memory_properties;
        let usable = !found.external_memory_features.is_empty();
        check(usable || found.compatible_handle_types.is_empty(), || format!("{kind:?}: {found:?}"))?;
    }
    let (mut fence, mut semaphore) =
        (vk::ExternalFenceProperties::default(), vk::ExternalSemaphoreProperties::default());
    // SAFETY: valid infos.
    unsafe {
        let info = vk::PhysicalDeviceExternalFenceInfo::default();
        let info = info.handle_type(vk::ExternalFenceHandleTypeFlags::OPAQUE_WIN32);
        (fences.fp().get_physical_device_external_fence_properties_khr)(gpu.physical, &raw const info, &raw mut fence);
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default();
        let info = info.handle_type(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_WIN32);
        (semaphores.fp().get_physical_device_external_semaphore_properties_khr)(
            gpu.physical,
            &raw const info,
            &raw mut semaphore,
        );
    }
    let none = fence.external_fence_features.is_empty() && semaphore.external_semaphore_features.is_empty();
    check(none, || "handles of another system".into())?;
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    properties2(gpu, &mut ids);
    check(ids.device_uuid != [0; 16] && ids.driver_uuid != [0; 16], || format!("{ids:?}"))
}

/// A viewport of negative height is the other one upside down; what faces the viewer there does not here.
fn negative_viewport(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let (side, up) = (SIZE as f32, State::default());
    let flipped = vk::Viewport { y: side, height: -side, ..up.viewport };
    for cull_mode in [vk::CullModeFlags::NONE, vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT] {
        let picture = |viewport, front_face| {
            let mut state = State { viewport, ..State::default() };
            (state.raster.cull_mode, state.raster.front_face) = (cull_mode, front_face);
            let draws = [
                Draw::rect(state.clone(), [-1.0, -1.0, 0.3, 0.1], [1.0, 0.0, 0.0, 1.0]),
                Draw::rect(state, [-0.45, -0.7, 0.8, 0.0], [0.0, 1.0, 0.0, 1.0]),
            ];
            render(gpu, &Target::default(), &draws)
        };
        let expected = picture(up.viewport, vk::FrontFace::CLOCKWISE)?;
        let found = picture(flipped, vk::FrontFace::COUNTER_CLOCKWISE)?;
        let rows = expected.chunks(SIZE as usize).rev().flatten();
        check(rows.eq(&found), || format!("{cull_mode:?}: the picture is not upside down"))?;
    }
    Ok(())
}

/// A 3D image of 16x16x4 texels of four bytes.
fn volume(gpu: &Gpu) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 4 };
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
        .image_type(vk::ImageType::TYPE_3D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::COLOR_ATTACHMENT
                | vk::ImageUsageFlags::TRANSFER_SRC
                | vk::ImageUsageFlags::TRANSFER_DST,
        );
    // SAFETY: the info is valid, and memory is bound once.
    unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(handle), false)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        Ok(Image { handle, view: vk::ImageView::null(), extent, aspects: vk::ImageAspectFlags::COLOR, levels: 1 })
    }
}

/// The texels of a volume, slice after slice.
fn slices_of(gpu: &Gpu, image: &Image) -> Result<Vec<u32>, Outcome> {
    let out = gpu.buffer(u64::from(SIZE * SIZE * 4 * 4))?;
    gpu.run(|commands| {
        let region = whole(image, vk::ImageAspectFlags::COLOR);
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the image is in the layout, and the buffer holds all of it.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, layout, out.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    Ok(out.words())
}

/// Two slices of a volume as attachments of one pass, by views of one layer of two dimensions.
fn slices(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let image = volume(gpu)?;
    let view = |slice: u32, kind| {
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(kind)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(vk::ImageSubresourceRange {
                base_array_layer: slice,
                ..range(vk::ImageAspectFlags::COLOR, 0, 1)
            });
        // SAFETY: the info is valid.
        unsafe { gpu.device.create_image_view(&info, None) }
    };
    let views = [view(2, vk::ImageViewType::TYPE_2D)?, view(1, vk::ImageViewType::TYPE_2D_ARRAY)?];
    let description = vk::AttachmentDescription::default()
        .format(vk::Format::R8G8B8A8_UNORM)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .initial_layout(vk::ImageLayout::GENERAL)
        .final_layout(vk::ImageLayout::GENERAL);
    let layout = vk::ImageLayout::GENERAL;
    let colors = [0, 1].map(|attachment| vk::AttachmentReference { attachment, layout });
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let descriptions = [description; 2];
    let info = vk::RenderPassCreateInfo::default().attachments(&descriptions).subpasses(&subpasses);
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        let pass = gpu.device.create_render_pass(&info, None)?;
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let framebuffer = gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None)?;
        let color = |float32| vk::ClearValue { color: vk::ClearColorValue { float32 } };
        let clears = [color([1.0, 0.0, 0.0, 1.0]), color([0.0, 0.0, 1.0, 1.0])];
        let extent = vk::Extent2D { width: SIZE, height: SIZE };
        let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).clear_values(&clears);
        let begin = begin.render_area(vk::Rect2D { extent, ..Default::default() });
        gpu.run(|commands| {
            gpu.barrier(commands, Some((&image, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)));
            let all = [range(vk::ImageAspectFlags::COLOR, 0, 1)];
            let zero = vk::ClearColorValue { float32: [0.0; 4] };
            gpu.device.cmd_clear_color_image(commands, image.handle, vk::ImageLayout::GENERAL, &zero, &all);
            gpu.barrier(commands, None);
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_end_render_pass(commands);
            gpu.barrier(commands, Some((&image, vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
        })?;
    }
    expect_slices(&slices_of(gpu, &image)?, [0, 0xffff_0000, 0xff00_00ff, 0])
}

fn expect_slices(words: &[u32], expected: [u32; 4]) -> Case {
    for (slice, (words, expected)) in words.chunks((SIZE * SIZE) as usize).zip(expected).enumerate() {
        let wrong = words.iter().find(|&&word| word != expected);
        check(wrong.is_none(), || format!("slice {slice} has {wrong:x?}, not {expected:x}"))?;
    }
    Ok(())
}

/// Layers of an array become slices of a volume, and slices become layers.
fn copy_to_slices(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let (image, second) = (volume(gpu)?, volume(gpu)?);
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { depth: 1, ..image.extent })
        .mip_levels(1)
        .array_layers(3)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let color = vk::ImageAspectFlags::COLOR;
    let general = vk::ImageLayout::GENERAL;
    let part = |base_array_layer, layer_count| vk::ImageSubresourceLayers {
        aspect_mask: color,
        mip_level: 0,
        base_array_layer,
        layer_count,
    };
    let copy = |src: (u32, u32, i32), dst: (u32, u32, i32), depth| vk::ImageCopy {
        src_subresource: part(src.0, src.1),
        src_offset: vk::Offset3D { x: 0, y: 0, z: src.2 },
        dst_subresource: part(dst.0, dst.1),
        dst_offset: vk::Offset3D { x: 0, y: 0, z: dst.2 },
        extent: vk::Extent3D { depth, ..image.extent },
    };
    // SAFETY: valid infos; memory is bound once; the copies stay inside.
    unsafe {
        let array = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(array), false)?;
        gpu.device.bind_image_memory(array, memory, 0)?;
        let clear = |commands, handle, layer: u32, layer_count, red: f32| {
            let part = vk::ImageSubresourceRange { base_array_layer: layer, layer_count, ..range(color, 0, 1) };
            let value = vk::ClearColorValue { float32: [red, 0.0, 0.0, 0.0] };
            gpu.device.cmd_clear_color_image(commands, handle, general, &value, &[part]);
        };
        gpu.run(|commands| {
            for image in [&image, &second] {
                gpu.barrier(commands, Some((image, vk::ImageLayout::UNDEFINED, general)));
            }
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            let layers = vk::ImageMemoryBarrier::default()
                .dst_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .new_layout(general)
                .image(array)
                .subresource_range(vk::ImageSubresourceRange { layer_count: 3, ..range(color, 0, 1) });
            gpu.device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[layers]);
            clear(commands, image.handle, 0, 1, 9.0 / 255.0);
            clear(commands, second.handle, 0, 1, 9.0 / 255.0);
            (0..3).for_each(|layer| clear(commands, array, layer, 1, (layer + 1) as f32 / 255.0));
            gpu.barrier(commands, None);
            let regions = [copy((1, 2, 0), (0, 1, 2), 2)];
            gpu.device.cmd_copy_image(commands, array, general, image.handle, general, &regions);
            gpu.barrier(commands, None);
            // Slices 1 and 2, which are 9 and 2, become layers 0 and 1, and those slices 0 and 1 of another volume.
            let regions = [copy((0, 1, 1), (0, 2, 0), 2)];
            gpu.device.cmd_copy_image(commands, image.handle, general, array, general, &regions);
            gpu.barrier(commands, None);
            let regions = [copy((0, 3, 0), (0, 1, 0), 3)];
            gpu.device.cmd_copy_image(commands, array, general, second.handle, general, &regions);
            for image in [&image, &second] {
                gpu.barrier(commands, Some((image, general, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)));
            }
        })?;
    }
    expect_slices(&slices_of(gpu, &image)?, [9, 9, 2, 3])?;
    expect_slices(&slices_of(gpu, &second)?, [9, 2, 3, 9])
}

/// Blocks of a compressed image are written as texels by a shader, and then sampled.
fn block_views(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE2_NAME)?;
    let (blocks, texels) = (vk::Format::BC1_RGB_UNORM_BLOCK, vk::Format::R32G32_UINT);
    let flags = vk::ImageCreateFlags::MUTABLE_FORMAT
        | vk::ImageCreateFlags::EXTENDED_USAGE
        | vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE;
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(blocks)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED);
    // SAFETY: valid infos; memory is bound once; descriptors are written before they are used.
    let (image, sampled) = unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(handle), false)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        let view = |format, usage| {
            let mut usage = vk::ImageViewUsageCreateInfo::default().usage(usage);
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range(vk::ImageAspectFlags::COLOR, 0, 1))
                .push_next(&mut usage);
            gpu.device.create_image_view(&info, None)
        };
        let stored = view(texels, vk::ImageUsageFlags::STORAGE)?;
        let image = Image { handle, view: stored, extent, aspects: vk::ImageAspectFlags::COLOR, levels: 1 };
        (image, view(blocks, vk::ImageUsageFlags::SAMPLED)?)
    };
    let (set_layout, set) = gpu.set(&[D::STORAGE_IMAGE])?;
    let info = [vk::DescriptorImageInfo {
        image_view: image.view,
        image_layout: vk::ImageLayout::GENERAL,
        ..Default::default()
    }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(D::STORAGE_IMAGE).image_info(&info);
    let stage = vk::PipelineShaderStageCreateInfo::default();
    let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).module(gpu.module(BLOCKS)?).name(c"main");
    let layout = gpu.layout(&[set_layout])?;
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        gpu.device.update_descriptor_sets(&[write], &[]);
        let made = gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        let pipeline = made.map_err(|(_, code)| code)?[0];
        gpu.run(|commands| {
            gpu.barrier(commands, Some((&image, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL)));
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
        let sampler = gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?;
        let mut draw = Draw::rect(State { fragment: TEXTURE, ..State::default() }, FULL, [0.0; 4]);
        draw.image = Some((sampled, sampler, vk::ImageLayout::GENERAL));
        let pixels = render(gpu, &Target::default(), &[draw])?;
        for (at, pixel) in (0u32..).zip(pixels) {
            let (x, y) = (at % SIZE / 4, at / SIZE / 4);
            let (red, green) = (x * 8 * 255 / 31, y * 16 * 255 / 63);
            let near = pixel[0].abs_diff(red as u8) <= 1 && pixel[1].abs_diff(green as u8) <= 1 && pixel[2] == 0;
            check(near, || format!("block ({x}, {y}) is {pixel:?}, not of {red} and {green}"))?;
        }
    }
    Ok(())
}

fn properties(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE3_NAME)?;
    let mut most = vk::PhysicalDeviceMaintenance3Properties::default();
    properties2(gpu, &mut most);
    check(most.max_memory_allocation_size >= 1 << 30, || format!("{most:?}"))?;
    let mut clipping = vk::PhysicalDevicePointClippingProperties {
        point_clipping_behavior: vk::PointClippingBehavior::from_raw(9),
        ..Default::default()
    };
    properties2(gpu, &mut clipping);
    let known = [vk::PointClippingBehavior::ALL_CLIP_PLANES, vk::PointClippingBehavior::USER_CLIP_PLANES_ONLY];
    check(known.contains(&clipping.point_clipping_behavior), || format!("{clipping:?}"))
}

/// Each draw of an indirect command says its numbers.
fn draw_parameters(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SHADER_DRAW_PARAMETERS_NAME)?;
    let commands: Vec<u32> = [[6, 1, 12, 3], [6, 2, 60, 1], [6, 1, 0, 0], [0, 1, 6, 0]].concat();
    let buffer = gpu.buffer_with(&commands)?;
    let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
    draw.kind = Kind::Indirect { buffer, count: 4 };
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    let expected = [[12, 3, 0, 255], [60, 17, 1, 255], [0, 0, 2, 255], [255; 4]];
    for (at, pixel) in pixels.iter().enumerate() {
        let expected = expected[at % SIZE as usize / 4];
        check(*pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// Words of the input of the cases with small numbers.
fn narrow_input() -> Vec<u32> {
    // Halves in each half: not NaN, of moderate size.
    (0..64u32).map(|at| (0x3c00 + at * 77) | (0xb400 + at * 53) << 16).collect()
}

type NarrowCase = (&'static str, fn(&[u8], usize) -> Vec<u8>);

fn half(bytes: &[u8], at: usize) -> f32 {
    half::f16::from_le_bytes([bytes[at * 2], bytes[at * 2 + 1]]).to_f32()
}

fn short(bytes: &[u8], at: usize) -> i16 {
    i16::from_le_bytes([bytes[at * 2], bytes[at * 2 + 1]])
}

/// What each lane writes: bytes of the output.
const NARROW_CASES: [NarrowCase; 7] = [
    ("bytes", |a, lane| vec![a[lane].wrapping_mul(3).wrapping_add(1)]),
    ("shorts", |a, lane| (short(a, 63 - lane) / 3).wrapping_sub(lane as i16).to_le_bytes().to_vec()),
    ("halves", |a, lane| {
        let product = half::f16::from_f32(half(a, lane) * 1.5).to_f32();
        half::f16::from_f32(product + 0.25).to_le_bytes().to_vec()
    }),
    ("uniform", |_, _| (200u32 + 40_000 * 256 + 7 * 16_777_216 + 5).to_le_bytes().to_vec()),
    ("push_constants", |_, _| (-100i32 - 1234 * 2 - 3 * 4 + 250 * 8).to_le_bytes().to_vec()),
    ("vectors", |a, lane| {
        let signed = i32::from(a[lane] as i8) as u32;
        (u32::from(a[lane * 4 + 3]) | signed << 8 & 0xff00 | u32::from(a[lane] < a[63 - lane]) << 16)
            .to_le_bytes()
            .to_vec()
    }),
    ("roots", |a, lane| half::f16::from_f32(half(a, lane).abs().sqrt()).to_f32().to_bits().to_le_bytes().to_vec()),
];

fn narrow_cases(all: &mut Vec<Entry>) {
    for (part, (name, expected)) in NARROW_CASES.into_iter().enumerate() {
        let run = move |gpu: &Gpu| narrow(gpu, part, expected);
        all.push(Entry::new(format!("core11.narrow.{name}"), "VK_KHR_16bit_storage, VK_KHR_8bit_storage", run));
    }
}

fn narrow(gpu: &Gpu, part: usize, expected: fn(&[u8], usize) -> Vec<u8>) -> Case {
    let (numbers, small, smaller) = (&gpu.more.float16_int8, &gpu.more.storage16, &gpu.more.storage8);
    let features = [
        numbers.shader_float16,
        numbers.shader_int8,
        gpu.features.shader_int16,
        small.storage_buffer16_bit_access,
        small.uniform_and_storage_buffer16_bit_access,
        small.storage_push_constant16,
        smaller.storage_buffer8_bit_access,
        smaller.uniform_and_storage_buffer8_bit_access,
        smaller.storage_push_constant8,
    ];
    if features.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("numbers of 8 and 16 bits in memory".into()));
    }
    let words = narrow_input();
    let (input, output, uniform) = (gpu.buffer_with(&words)?, gpu.buffer(256)?, gpu.buffer(16)?);
    let half = |value: f32| half::f16::from_f32(value).to_le_bytes();
    let [u16_low, u16_high] = 40_000u16.to_le_bytes();
    let [low, high] = half(5.0);
    uniform.write(&[200, 0, u16_low, u16_high, low, high, 7, 0]);
    let [short_low, short_high] = (-1234i16).to_le_bytes();
    let [low, high] = half(-3.0);
    let push = [(-100i8) as u8, 0, short_low, short_high, low, high, 1, 250];
    let buffers = [(D::STORAGE_BUFFER, input), (D::STORAGE_BUFFER, output), (D::UNIFORM_BUFFER, uniform)];
    let compute = gpu.compute_pipeline(NARROW, part as i32, &buffers)?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &push);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    let input: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let expected: Vec<u8> = (0..64).flat_map(|lane| expected(&input, lane)).collect();
    let found = output.read(0, expected.len());
    let wrong = found.iter().zip(&expected).position(|(a, b)| a != b);
    check(wrong.is_none(), || format!("byte {wrong:?} of {found:?} is not as in {expected:?}"))
}
