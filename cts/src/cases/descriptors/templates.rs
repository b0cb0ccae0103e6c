//! Descriptor update templates, and queries of layout support.

use ash::vk::DescriptorType as D;
use ash::{khr, vk};

use crate::harness::{Buffer, Case, Gpu, check};

case!("core11.descriptors.template", "VK_KHR_descriptor_update_template", template);

/// Updates two storage buffers by a template whose infos lie apart in a structure, the second not
/// at its beginning.
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
        // This entry continues in the next binding.
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
const PLAIN: &[u8] = shader!("numbers.comp");

case!("core11.descriptors.layout_support", "VK_KHR_maintenance3", layout_support);

fn layout_support(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE3_NAME)?;
    let second = khr::maintenance3::Device::new(&gpu.instance, &gpu.device);
    let mut own = vk::PhysicalDeviceMaintenance3Properties::default();
    gpu.properties2(&mut own);
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

/// Checks the limit of a binding of variable count: it is the same for every requested count,
/// including 0, and such a set can be created.
fn variable_support(gpu: &Gpu, second: &khr::maintenance3::Device) -> Case {
    if gpu.extension_features.descriptor_indexing.descriptor_binding_variable_descriptor_count == 0 {
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
    let blocks = gpu.extension_features.inline_blocks.descriptor_binding_inline_uniform_block_update_after_bind != 0;
    let kinds = [(D::SAMPLED_IMAGE, 1, u32::MAX), (D::SAMPLER, 1, u32::MAX), (D::INLINE_UNIFORM_BLOCK, 4, 1 << 20)];
    for (kind, one, limit) in kinds.into_iter().filter(|(kind, ..)| blocks || *kind != D::INLINE_UNIFORM_BLOCK) {
        let (is_supported, most) = support(kind, one);
        let same = [0, most].map(|count| support(kind, count));
        let good = is_supported && most >= one && most % one == 0 && most <= limit && same == [(true, most); 2];
        check(good, || format!("{kind:?}: {most}, {same:?}"))?;
    }
    Ok(())
}
