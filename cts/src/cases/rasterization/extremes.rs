//! Extremes of rasterization: positions that are NaN or far away, slivers, the largest targets, no
//! attachments.

use ash::vk;
use ash::vk::PrimitiveTopology as T;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{COLOR, Draw, Kind, State, TRIANGLES, Target, render};

static EARLY: &[u8] = shader!("early.frag");

/// Pixels of a side of a small target.
const SIDE: u32 = 16;

type Vertex = [f32; 4];

/// A triangle that covers all of clip space.
const ALL: [Vertex; 3] = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    // Vertices of one triangle, and the number of 256 pixels that it covers.
    let single: [(&str, [Vertex; 3], usize); 9] = [
        ("far_corners", [[-1e6, -1e6, 0.5, 1.0], [3e6, -1e6, 0.5, 1.0], [-1e6, 3e6, 0.5, 1.0]], 256),
        ("far_corners_in_half", [[0.0, -1e7, 0.5, 1.0], [1e7, 0.0, 0.5, 1.0], [0.0, 1e7, 0.5, 1.0]], 128),
        // The corner behind the eye appears in the opposite direction: everything under the line y
        // = 0 is covered.
        ("behind_the_eye", [[-1.0, 0.0, 0.5, 1.0], [1.0, 0.0, 0.5, 1.0], [0.0, -9.0, -4.0, -9.0]], 128),
        ("all_behind_the_eye", ALL.map(|[x, y, z, w]| [-x, -y, -z, -w]), 0),
        ("w_is_zero", [[0.0, 0.0, 0.0, 0.0]; 3], 0),
        ("not_a_number", [[nan, 0.0, 0.5, 1.0], ALL[1], ALL[2]], 0),
        ("no_w", [[-1.0, -1.0, 0.5, nan], ALL[1], ALL[2]], 0),
        ("infinite_w", ALL.map(|[x, y, z, _]| [x, y, z, inf]), 0),
        ("no_area", [[-1.0, -1.0, 0.5, 1.0], [0.0, 0.0, 0.5, 1.0], [1.0, 1.0, 0.5, 1.0]], 0),
    ];
    for (name, vertices, pixels) in single {
        let run = move |gpu: &Gpu| covers(gpu, &vertices, pixels);
        cases.push(Entry::new(format!("extremes.positions.{name}"), "Primitive Clipping", run));
    }
}

fn triangles(gpu: &Gpu, size: [u32; 2], positions: &[Vertex]) -> Result<Draw, Outcome> {
    let mut state = State { vertex: TRIANGLES, fragment: COLOR, topology: T::TRIANGLE_LIST, ..State::default() };
    (state.viewport.width, state.viewport.height) = (size[0] as f32, size[1] as f32);
    state.scissor.extent = vk::Extent2D { width: size[0], height: size[1] };
    let vertices: Vec<[Vertex; 2]> = positions.iter().map(|&position| [position, [1.0, 0.0, 0.0, 1.0]]).collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: positions.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

fn red(gpu: &Gpu, size: [u32; 2], positions: &[Vertex], expected: usize) -> Case {
    let target = Target { size, ..Target::default() };
    let pixels = render(gpu, &target, &[triangles(gpu, size, positions)?])?;
    let got = pixels.iter().filter(|&&pixel| pixel == [255, 0, 0, 255]).count();
    check(got == expected, || format!("{got} pixels instead of {expected}"))
}

fn covers(gpu: &Gpu, positions: &[Vertex; 3], pixels: usize) -> Case {
    red(gpu, [SIDE; 2], positions, pixels)
}

case!("extremes.positions.beside_wild_ones", "Rasterization", beside_wild_ones);

/// Checks that invalid triangles do not affect others of the same draw.
fn beside_wild_ones(gpu: &Gpu) -> Case {
    let wild = [f32::NAN, f32::INFINITY, -1e30, 1e30, 0.0, f32::MIN_POSITIVE];
    let mut positions = Vec::new();
    for (index, &value) in wild.iter().cycle().take(90).enumerate() {
        positions.push([value, wild[index / 6 % 6], wild[(index + 2) % 6], wild[index / 3 % 6]]);
    }
    // Invalid triangles may cover anything that clipping leaves. The last triangle covers all in
    // another colour.
    positions.extend(ALL);
    red(gpu, [SIDE; 2], &positions, (SIDE * SIDE) as usize)
}

case!("extremes.primitives.slivers", "Rasterization", slivers);

/// Draws slivers of a sixteenth of a pixel, many times over the pixel centres of each column.
fn slivers(gpu: &Gpu) -> Case {
    let mut positions = Vec::new();
    let place = |pixels: f32| pixels / (SIDE as f32 / 2.0) - 1.0;
    for index in 0..60_000 {
        let centre = (index % SIDE) as f32 + 0.5;
        // Every second sliver lies between centres.
        let middle = if (index / SIDE).is_multiple_of(2) { centre } else { centre + 0.25 };
        let [left, right] = [middle - 1.0 / 32.0, middle + 1.0 / 32.0].map(place);
        positions.extend([[left, -1.0, 0.5, 1.0], [right, -1.0, 0.5, 1.0], [place(middle), 9.0, 0.5, 1.0]]);
    }
    let size = [SIDE; 2];
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let draw = Draw { query: Some(pool), ..triangles(gpu, size, &positions)? };
    render(gpu, &Target { size, ..Target::default() }, &[draw])?;
    let mut samples = [0u32];
    // SAFETY: the query was ended.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut samples, vk::QueryResultFlags::WAIT)? };
    let expected = 30_000 * SIDE;
    check(samples[0] == expected, || format!("{} samples instead of {expected}", samples[0]))
}

case!("extremes.targets.widest", "Rasterization", |gpu| widest(gpu, false));
case!("extremes.targets.highest", "Rasterization", |gpu| widest(gpu, true));

/// Draws the last pixels of a target of the largest width or height.
fn widest(gpu: &Gpu, high: bool) -> Case {
    let limits = &gpu.properties.limits;
    let most = if high { limits.max_framebuffer_height } else { limits.max_framebuffer_width };
    let (size, axis) = if high { ([4, most], 1) } else { ([most, 4], 0) };
    // The last eight pixels along the axis.
    let start = 1.0 - 16.0 / most as f32;
    let corner = |far: [bool; 2]| {
        let place = |a: usize| match (far[a], a == axis) {
            (true, _) => 1.0,
            (false, true) => start,
            (false, false) => -1.0,
        };
        [place(0), place(1), 0.5, 1.0]
    };
    let [a, b, c, d] = [[false, false], [true, false], [false, true], [true, true]].map(corner);
    red(gpu, size, &[a, b, c, c, b, d], 32)
}

case!("extremes.targets.no_attachments", "Rasterization", no_attachments);

/// Counts fragments of a pass without attachments by a program and a query. Pipelines may have
/// different numbers of samples.
fn no_attachments(gpu: &Gpu) -> Case {
    let subpasses = [vk::SubpassDescription::default()];
    let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
    let storage = gpu.buffer(4)?;
    let (layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER])?;
    let buffers = [vk::DescriptorBufferInfo { buffer: storage.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
    let layout = gpu.layout(&[layout])?;
    let draw = triangles(gpu, [20, 10], &ALL)?;
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, gpu.module(TRIANGLES)?),
        stage(vk::ShaderStageFlags::FRAGMENT, gpu.module(EARLY)?),
    ];
    let bindings =
        [vk::VertexInputBindingDescription { binding: 0, stride: 32, input_rate: vk::VertexInputRate::VERTEX }];
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let attribute =
        |location| vk::VertexInputAttributeDescription { location, binding: 0, format, offset: location * 16 };
    let attributes = [attribute(0), attribute(1)];
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(T::TRIANGLE_LIST);
    let (viewports, scissors) = ([draw.state.viewport], [draw.state.scissor]);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let several = gpu.features.variable_multisample_rate != 0;
    let samples = if several {
        &[vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4][..]
    } else {
        &[vk::SampleCountFlags::TYPE_1]
    };
    let multisample = |samples| vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples);
    let multisamples: Vec<_> = samples.iter().map(|&samples| multisample(samples)).collect();
    let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
    let blend = vk::PipelineColorBlendStateCreateInfo::default();
    // SAFETY: valid infos; the set is written before it is used.
    let (pass, framebuffer, pipelines, queries) = unsafe {
        gpu.device.update_descriptor_sets(&[write.buffer_info(&buffers)], &[]);
        let pass = gpu.device.create_render_pass(&info, None)?;
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).width(20).height(10).layers(1);
        let framebuffer = gpu.device.create_framebuffer(&info, None)?;
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&draw.state.raster)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(pass);
        let infos: Vec<_> = multisamples.iter().map(|multisample| info.multisample_state(multisample)).collect();
        let made = gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &infos, None);
        let queries = gpu.device.create_query_pool(&queries, None)?;
        (pass, framebuffer, made.map_err(|(_, code)| code)?, queries)
    };
    let Kind::VertexBuffer { buffer, count } = draw.kind else { return Ok(()) };
    gpu.run(|commands| {
        let area = vk::Rect2D { extent: vk::Extent2D { width: 20, height: 10 }, ..Default::default() };
        let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(area);
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, queries, 0, 1);
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_begin_query(commands, queries, 0, vk::QueryControlFlags::empty());
            gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            gpu.device.cmd_bind_vertex_buffers(commands, 0, &[buffer.handle], &[0]);
            for &pipeline in &pipelines {
                gpu.device.cmd_bind_pipeline(commands, point, pipeline);
                gpu.device.cmd_draw(commands, count, 1, 0, 0);
            }
            gpu.device.cmd_end_query(commands, queries, 0);
            gpu.device.cmd_end_render_pass(commands);
        }
        gpu.barrier(commands, None);
    })?;
    let runs = storage.words()[0];
    let (fragments, passed) = if several { (400, 200 * (1 + 4)) } else { (200, 200) };
    check(runs == fragments, || format!("{runs} fragments instead of {fragments}"))?;
    let mut seen = [0u32];
    // SAFETY: the query was ended.
    unsafe { gpu.device.get_query_pool_results(queries, 0, &mut seen, vk::QueryResultFlags::WAIT)? };
    check(seen == [passed], || format!("{seen:?} samples instead of {passed}"))
}
