//! Inline uniform blocks.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, Outcome, check};

const NARROW: &[u8] = shader!("narrow.comp");

case!("core13.descriptors.inline_block", "VK_EXT_inline_uniform_block", inline_block);

/// Writes a uniform block into the set itself in two parts, one by a template, and copies it to
/// another set.
fn inline_block(gpu: &Gpu) -> Case {
    use vk::DescriptorType as D;
    gpu.need(vk::EXT_INLINE_UNIFORM_BLOCK_NAME)?;
    gpu.need(vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME)?;
    let narrow = &gpu.extension_features;
    if narrow.storage8.uniform_and_storage_buffer8_bit_access == vk::FALSE
        || narrow.float16_int8.shader_int8 == vk::FALSE
    {
        return Err(Outcome::NotSupported("small numbers in uniform blocks".into()));
    }
    let kinds = [(D::STORAGE_BUFFER, 1), (D::STORAGE_BUFFER, 1), (D::INLINE_UNIFORM_BLOCK, 16)];
    let bindings = [0, 1, 2].map(|number: usize| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kinds[number].0)
            .descriptor_count(kinds[number].1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let sizes = kinds.map(|(ty, count)| vk::DescriptorPoolSize { ty, descriptor_count: count * 2 });
    let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default().max_inline_uniform_block_bindings(2);
    let (input, out) = (gpu.buffer(256)?, gpu.buffer(256)?);
    let info = |buffer: crate::harness::Buffer| {
        [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }]
    };
    let (input, result) = (info(input), info(out));
    // The block of `narrow.comp`: bytes, 16-bit floats and 16-bit integers.
    let [u16_low, u16_high] = 40_000u16.to_le_bytes();
    let [low, high] = half::f16::from_f32(5.0).to_le_bytes();
    let (first, rest) = ([200, 0, u16_low, u16_high], [99, 99, 99, 99, low, high, 7, 0]);
    // SAFETY: valid infos; the data are as the entry says.
    unsafe {
        let layout_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = gpu.device.create_descriptor_set_layout(&layout_info, None)?;
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes).push_next(&mut blocks);
        let pool = gpu.device.create_descriptor_pool(&info, None)?;
        let layouts = [set_layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = gpu.device.allocate_descriptor_sets(&info)?;
        let mut bytes = vk::WriteDescriptorSetInlineUniformBlock::default().data(&first);
        let write = vk::WriteDescriptorSet::default().dst_set(sets[0]).dst_binding(2);
        let mut write = write.descriptor_type(D::INLINE_UNIFORM_BLOCK).push_next(&mut bytes);
        write.descriptor_count = 4;
        gpu.device.update_descriptor_sets(&[write], &[]);
        let entries = [vk::DescriptorUpdateTemplateEntry {
            dst_binding: 2,
            dst_array_element: 4,
            descriptor_count: 4,
            descriptor_type: D::INLINE_UNIFORM_BLOCK,
            offset: 4,
            stride: 0,
        }];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(set_layout);
        let second = khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
        let (device, mut template) = (gpu.device.handle(), vk::DescriptorUpdateTemplate::null());
        (second.fp().create_descriptor_update_template_khr)(
            device,
            &raw const info,
            std::ptr::null(),
            &raw mut template,
        )
        .result()?;
        (second.fp().update_descriptor_set_with_template_khr)(device, sets[0], template, rest.as_ptr().cast());
        let write = vk::WriteDescriptorSet::default().dst_set(sets[1]).descriptor_type(D::STORAGE_BUFFER);
        let writes = [write.buffer_info(&input), write.dst_binding(1).buffer_info(&result)];
        let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).src_binding(2).dst_set(sets[1]).dst_binding(2);
        gpu.device.update_descriptor_sets(&writes, &[]);
        gpu.device.update_descriptor_sets(&[], &[copy.descriptor_count(16)]);
        gpu.dispatch(&gpu.compute_with(NARROW, Some(3), (set_layout, sets[1]))?, &[0; 8], [1; 3])?;
    }
    let expected = 200u32 + 40_000 * 256 + 7 * 16_777_216 + 5;
    check(out.words() == [expected; 64], || format!("{:?}, not {expected}", &out.words()[..4]))
}
