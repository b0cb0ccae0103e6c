//! Push descriptors, written directly and by templates.

use ash::vk;

use crate::cases::support::compute::{range, set_layout};
use crate::cases::support::pairs::{COMPUTE, PAIR_KINDS, Pair, write};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};

case!("commands.push.writes", "VK_KHR_push_descriptor", |gpu| pushes(gpu, false));
case!("commands.push.template", "VK_KHR_push_descriptor", |gpu| pushes(gpu, true));

/// Pushes one descriptor between the first two of three dispatches and two before the last. Others
/// keep their values.
fn pushes(gpu: &Gpu, by_template: bool) -> Case {
    gpu.need(vk::KHR_PUSH_DESCRIPTOR_NAME)?;
    let first = set_layout(gpu, &PAIR_KINDS, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)?;
    let pair = Pair::new(gpu, first)?;
    let buffers: Vec<Buffer> = (1..8u32).map(|word| gpu.buffer_with(&[word; 16])).collect::<Result<_, _>>()?;
    let steps: [&[(u32, usize)]; 3] = [&[(0, 0), (1, 1), (2, 2)], &[(1, 3)], &[(0, 4), (2, 5)]];
    let extension = ash::khr::push_descriptor::Device::new(&gpu.instance, &gpu.device);
    let templates = match by_template {
        true => steps.iter().map(|step| template(gpu, pair.layout, step)).collect::<Result<Vec<_>, Outcome>>()?,
        false => Vec::new(),
    };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            for (number, step) in steps.into_iter().enumerate() {
                let infos: Vec<_> = step.iter().map(|(_, of)| range(buffers[*of].handle, vk::WHOLE_SIZE)).collect();
                if by_template {
                    let push = extension.fp().cmd_push_descriptor_set_with_template_khr;
                    push(commands, templates[number], pair.layout, 0, infos.as_ptr().cast());
                } else {
                    let pairs = step.iter().zip(&infos);
                    let writes: Vec<_> = pairs.map(|((binding, _), info)| write(*binding, info)).collect();
                    extension.cmd_push_descriptor_set(commands, COMPUTE, pair.layout, 0, &writes);
                }
                pair.dispatch(gpu, commands, number as u32);
            }
        }
        gpu.barrier(commands, None);
    })?;
    let expected = [1 + 2 * 16 + 3 * 256, 1 + 4 * 16 + 3 * 256, 5 + 4 * 16 + 6 * 256, 0];
    check(pair.out.words()[..4] == expected, || format!("{:?}, not {expected:?}", &pair.out.words()[..4]))
}

/// Creates a template that pushes the descriptors of a step, whose infos lie one behind the other.
fn template(
    gpu: &Gpu,
    layout: vk::PipelineLayout,
    step: &[(u32, usize)],
) -> Result<vk::DescriptorUpdateTemplate, Outcome> {
    let templates = ash::khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
    let mut made = vk::DescriptorUpdateTemplate::null();
    let bytes = size_of::<vk::DescriptorBufferInfo>();
    let entry = |(number, (binding, _)): (usize, &(u32, usize))| vk::DescriptorUpdateTemplateEntry {
        dst_binding: *binding,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: PAIR_KINDS[*binding as usize],
        offset: number * bytes,
        stride: bytes,
    };
    let entries: Vec<_> = step.iter().enumerate().map(entry).collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(COMPUTE)
        .pipeline_layout(layout)
        .set(0);
    // SAFETY: the info is valid.
    unsafe {
        let create = templates.fp().create_descriptor_update_template_khr;
        create(gpu.device.handle(), &raw const info, std::ptr::null(), &raw mut made).result()?;
    }
    Ok(made)
}
