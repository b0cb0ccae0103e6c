//! Null descriptors, and accesses outside of bound ranges: `VK_EXT_robustness2` and
//! `VK_EXT_pipeline_robustness`.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::compute::{pipeline, range};
use crate::harness::{Buffer, Case, Compute, Gpu, ImageDesc, Outcome, check};
use crate::render::{Draw, FULL, INSTANCES, Kind, SIZE, State, TRIANGLES, Target, render};

const NULL: &[u8] = shader!("null.comp");
const OUTSIDE: &[u8] = shader!("outside.comp");

fn need(gpu: &Gpu) -> Case {
    match gpu.extension_features.robustness.null_descriptor {
        vk::TRUE => Ok(()),
        _ => Err(Outcome::NotSupported("null descriptors".into())),
    }
}

fn dispatch(gpu: &Gpu, compute: &Compute, push: &[u8]) -> Case {
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.bind_compute(commands, compute, push);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
        }
        gpu.barrier(commands, None);
    })
}

case!("robust.null.written", "VK_EXT_robustness2", |gpu| null(gpu, false));
case!("robust.null.template", "VK_EXT_robustness2", |gpu| null(gpu, true));

/// Checks that loads from null descriptors return zeros, that sizes are 0, and that stores have no
/// effect.
fn null(gpu: &Gpu, by_template: bool) -> Case {
    need(gpu)?;
    let kinds = [
        T::UNIFORM_BUFFER,
        T::STORAGE_BUFFER,
        T::UNIFORM_TEXEL_BUFFER,
        T::STORAGE_TEXEL_BUFFER,
        T::COMBINED_IMAGE_SAMPLER,
        T::STORAGE_IMAGE,
        T::SAMPLED_IMAGE,
        T::SAMPLER,
        T::STORAGE_BUFFER,
    ];
    let (set_layout, set) = gpu.set(&kinds)?;
    let layout = gpu.layout(&[set_layout])?;
    let out = gpu.buffer_with(&[u32::MAX; 16])?;
    // SAFETY: valid infos.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let none = range(vk::Buffer::null(), vk::WHOLE_SIZE);
    let images = [vk::DescriptorImageInfo { sampler, ..Default::default() }];
    let results = range(out.handle, vk::WHOLE_SIZE);
    let texels = [vk::BufferView::null()];
    if by_template {
        update_by_template(
            gpu,
            set_layout,
            set,
            &TemplateData { kinds: &kinds, image: images[0], results: results[0] },
        )?;
    } else {
        let write = |(binding, &kind): (usize, &T)| {
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
            let write = write.descriptor_type(kind).descriptor_count(1);
            write
                .buffer_info(if binding == 8 { &results } else { &none })
                .image_info(&images)
                .texel_buffer_view(&texels)
        };
        let writes: Vec<_> = kinds.iter().enumerate().map(write).collect();
        // SAFETY: null is allowed by the feature; the sampler is alive.
        unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    }
    dispatch(gpu, &Compute { pipeline: pipeline(gpu, NULL, layout)?, layout, set }, &[])?;
    check(out.words() == [0; 16], || format!("{:?}", out.words()))
}

/// Types of the bindings of a set, and descriptors of the bindings that are not null.
struct TemplateData<'a> {
    kinds: &'a [T],
    image: vk::DescriptorImageInfo,
    results: vk::DescriptorBufferInfo,
}

/// Updates a set by a template with one entry for each binding, 64 bytes apart.
fn update_by_template(
    gpu: &Gpu,
    layout: vk::DescriptorSetLayout,
    set: vk::DescriptorSet,
    data: &TemplateData<'_>,
) -> Case {
    let &TemplateData { kinds, image, results } = data;
    gpu.need(vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME)?;
    let templates = ash::khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
    let entry = |(binding, &kind): (usize, &T)| vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding as u32,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: kind,
        offset: binding * 64,
        stride: 64,
    };
    let entries: Vec<_> = kinds.iter().enumerate().map(entry).collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(layout);
    // Handles have 64 bits. The range of a null buffer is the whole size.
    let mut data = vec![[0u64; 8]; kinds.len()];
    data[0] = [0, 0, vk::WHOLE_SIZE, 0, 0, 0, 0, 0];
    data[1] = data[0];
    for binding in [4, 5, 6, 7] {
        data[binding][0] = vk::Handle::as_raw(image.sampler);
    }
    data[8] = [vk::Handle::as_raw(results.buffer), results.offset, results.range, 0, 0, 0, 0, 0];
    // SAFETY: the data is what the entries say.
    unsafe {
        let (functions, device) = (templates.fp(), gpu.device.handle());
        let mut template = vk::DescriptorUpdateTemplate::null();
        let create = functions.create_descriptor_update_template_khr;
        create(device, &raw const info, std::ptr::null(), &raw mut template).result()?;
        (functions.update_descriptor_set_with_template_khr)(device, set, template, data.as_ptr().cast());
    }
    Ok(())
}

case!("robust.null.vertices", "VK_EXT_robustness2", null_vertices);

/// Checks that attributes are zeros without a vertex buffer: points have a colour of zeros.
fn null_vertices(gpu: &Gpu) -> Case {
    need(gpu)?;
    let none = Buffer::null();
    let mut draw = Draw::rect(points(false), FULL, [0.0; 4]);
    draw.kind = Kind::InstanceBuffer { buffer: none, first: 0, count: 16 };
    draw.extra = 0.0;
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    let row = &pixels[(SIZE / 2 * SIZE) as usize..][..16];
    check(row.iter().all(|pixel| *pixel == [0; 4]), || format!("{row:?}"))
}

case!("robust.outside.resources", "VK_EXT_robustness2", outside);

/// Checks that reads outside of ranges return 0, or 1 in an alpha component that the format lacks,
/// and that writes are dropped, including writes behind a range but within its buffer.
fn outside(gpu: &Gpu) -> Case {
    need(gpu)?;
    let kinds = [
        T::STORAGE_BUFFER,
        T::UNIFORM_TEXEL_BUFFER,
        T::COMBINED_IMAGE_SAMPLER,
        T::COMBINED_IMAGE_SAMPLER,
        T::UNIFORM_BUFFER,
        T::STORAGE_BUFFER,
    ];
    let (set_layout, set) = gpu.set(&kinds)?;
    let layout = gpu.layout(&[set_layout])?;
    let (source, out) = (gpu.buffer_with(&[0x3f80_0000u32; 256])?, gpu.buffer(160)?);
    let uniform = gpu.buffer_with(&[0x3f80_0000u32; 512])?;
    let texels = gpu.texel_buffer(vk::Format::R8_UNORM, &[255; 64])?;
    let image = |format, bytes: usize| {
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let made = gpu.image(&ImageDesc::color(format, [4, 4], usage))?;
        let general = vk::ImageLayout::GENERAL;
        gpu.write_image(&made, vk::ImageAspectFlags::COLOR, &vec![255; 16 * bytes], general)?;
        Ok::<_, Outcome>(made)
    };
    let (red, four) = (image(vk::Format::R8_UNORM, 1)?, image(vk::Format::R8G8B8A8_UNORM, 4)?);
    // SAFETY: valid infos.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let sampled = [red.view, four.view]
        .map(|image_view| [vk::DescriptorImageInfo { sampler, image_view, image_layout: vk::ImageLayout::GENERAL }]);
    let buffers = [range(source.handle, 16), range(uniform.handle, 32), range(out.handle, vk::WHOLE_SIZE)];
    let views = [texels];
    let write =
        |binding: u32, kind| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind);
    let writes = [
        write(0, kinds[0]).buffer_info(&buffers[0]),
        write(1, kinds[1]).texel_buffer_view(&views),
        write(2, kinds[2]).image_info(&sampled[0]),
        write(3, kinds[3]).image_info(&sampled[1]),
        write(4, kinds[4]).buffer_info(&buffers[1]),
        write(5, kinds[5]).buffer_info(&buffers[2]),
    ];
    // SAFETY: everything that is named is alive.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    let compute = Compute { pipeline: pipeline(gpu, OUTSIDE, layout)?, layout, set };
    // The texel buffer has 64 texels, the range 4 words. Uniform blocks of 32 bytes have two
    // elements.
    dispatch(gpu, &compute, &64i32.to_le_bytes())?;
    let found: Vec<[f32; 4]> = out.floats().as_chunks().0.to_vec();
    let one = 0x3f80_0000u32 as f32;
    let expected = [
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0; 4],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 4.0, one],
        [0.0; 4],
        [1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
    ];
    check(found == expected, || format!("{found:?}"))?;
    check(source.words() == [0x3f80_0000; 256], || "something was written outside".into())
}

/// Returns the state of a row of points whose colours are attributes of instances.
fn points(exact: bool) -> State {
    let mut state = State { vertex: INSTANCES, topology: vk::PrimitiveTopology::POINT_LIST, ..State::default() };
    state.extensions.divisor = Some(1);
    state.extensions.exact = exact;
    state
}

case!("robust.outside.vertices", "VK_EXT_pipeline_robustness", |gpu| vertices(gpu, false));
case!("robust.outside.vertices_of_library", "VK_EXT_pipeline_robustness", |gpu| vertices(gpu, true));

/// Checks that an attribute that lies partly behind the buffer is read as zeros, also where only
/// the vertex input library asks for it.
fn vertices(gpu: &Gpu, linked: bool) -> Case {
    let lacks_libraries = linked && gpu.extension_features.libraries.graphics_pipeline_library == vk::FALSE;
    if gpu.extension_features.pipeline_robustness.pipeline_robustness == vk::FALSE || lacks_libraries {
        return Err(Outcome::NotSupported("robustness of pipelines".into()));
    }
    let buffer = gpu.buffer_with(&[1.0f32; 10])?;
    let mut draw = Draw::rect(State { linked, ..points(true) }, FULL, [0.0; 4]);
    draw.kind = Kind::InstanceBuffer { buffer, first: 0, count: 4 };
    draw.extra = 0.0;
    let pixels = render(gpu, &Target { clear: [0.2; 4], ..Target::default() }, &[draw])?;
    let row = &pixels[(SIZE / 2 * SIZE) as usize..][..5];
    check(row == [[255; 4], [255; 4], [0; 4], [0; 4], [51; 4]], || format!("{row:?}"))
}

case!("robust.outside.indices", "VK_EXT_pipeline_robustness", indices);

/// Checks that indices behind the buffer are 0.
fn indices(gpu: &Gpu) -> Case {
    if gpu.extension_features.pipeline_robustness.pipeline_robustness == vk::FALSE {
        return Err(Outcome::NotSupported("robustness of pipelines".into()));
    }
    let corners: [[f32; 2]; 4] = [[-0.8, -0.9], [0.9, -0.5], [0.1, 0.8], [-0.9, 0.9]];
    let vertices: Vec<f32> =
        corners.iter().flat_map(|[x, y]| [*x, *y, 0.5, 1.0, (x + 1.0) / 2.0, 0.5, 1.0, 1.0]).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let mut all = Vec::new();
    for (numbers, exact) in [(&[1u32, 2, 0, 3, 2, 0][..], false), (&[1, 2, 0, 3, 2], true)] {
        let mut state = State { vertex: TRIANGLES, ..State::default() };
        state.extensions.exact = exact;
        let mut draw = Draw::rect(state, FULL, [0.0; 4]);
        let indices = gpu.buffer_with(numbers)?;
        draw.kind = Kind::Indexed { buffer, indices, count: 6, kind: vk::IndexType::UINT32 };
        all.push(render(gpu, &Target::default(), &[draw])?);
    }
    check(all[0] == all[1], || "an index behind the buffer is not 0".into())
}
