//! Several viewports, and layers of attachments, selected by vertices
//! (`VK_EXT_shader_viewport_index_layer`): rectangles in random order, compared with a model pixel
//! by pixel.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::need_samples;
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::COLOR;

static ROUTING: &[u8] = shader!("routing.vert");

const ROUTING_GEOMETRY: &[u8] = shader!("routing.geom");
const ROUTING_CONTROL: &[u8] = shader!("routing.tesc");
const ROUTING_EVALUATION: &[u8] = shader!("routing.tese");

static ROUTE: &[u8] = shader!("route.vert");

const ROUTED: &[u8] = shader!("routed.frag");
const INPUT: &[u8] = shader!("layer_input.frag");

/// Pixels of a side of the attachments.
const SIDE: u32 = 96;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// A scene of one layer whose vertices select the viewport.
const PLAIN: Scene = Scene {
    layers: 1,
    samples: 1,
    depth: false,
    last: false,
    dynamic: false,
    adds: false,
    lines: false,
    wide: false,
    router: Router::Vertex,
};

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let plain = PLAIN;
    let geometry = Scene { router: Router::Geometry, ..plain };
    let patches = Scene { router: Router::Evaluation, ..plain };
    let scenes = [
        ("viewports.static", plain),
        ("viewports.dynamic", Scene { dynamic: true, ..plain }),
        ("viewports.depth", Scene { depth: true, ..plain }),
        ("viewports.blend", Scene { adds: true, ..plain }),
        ("viewports.last_provoking", Scene { last: true, ..plain }),
        ("viewports.edges", Scene { lines: true, ..plain }),
        ("viewports.wide", Scene { wide: true, depth: true, ..plain }),
        ("layers.plain", Scene { layers: 7, ..plain }),
        ("layers.depth", Scene { layers: 4, depth: true, ..plain }),
        ("layers.samples", Scene { layers: 3, samples: 4, depth: true, ..plain }),
        ("layers.blend", Scene { layers: 3, adds: true, dynamic: true, ..plain }),
        ("layers.many", Scene { layers: 64, depth: true, ..plain }),
        ("viewports.geometry", geometry),
        ("viewports.geometry_depth", Scene { depth: true, dynamic: true, last: true, ..geometry }),
        ("viewports.geometry_edges", Scene { lines: true, ..geometry }),
        ("viewports.geometry_wide", Scene { wide: true, ..geometry }),
        ("layers.geometry", Scene { layers: 5, depth: true, ..geometry }),
        ("layers.geometry_samples", Scene { layers: 3, samples: 4, ..geometry }),
        ("viewports.patches", patches),
        ("viewports.patches_depth", Scene { depth: true, dynamic: true, ..patches }),
        ("viewports.patches_wide", Scene { wide: true, ..patches }),
        ("layers.patches", Scene { layers: 5, depth: true, ..patches }),
        ("layers.patches_samples", Scene { layers: 3, samples: 4, ..patches }),
    ];
    for (name, scene) in scenes {
        for seed in 0..3 {
            let run = move |gpu: &Gpu| random(gpu, scene, seed);
            cases.push(Entry::new(format!("layers.{}{seed}", name), "Controlling the Viewport", run));
        }
    }
}

/// Attachments and state of a case.
#[derive(Clone, Copy)]
struct Scene {
    layers: u32,
    samples: u32,
    depth: bool,
    /// The last vertex selects viewport and layer, not the first.
    last: bool,
    dynamic: bool,
    /// Red is added.
    adds: bool,
    /// Edges of triangles instead of rectangles.
    lines: bool,
    /// Viewports show only a small part of some rectangles.
    wide: bool,
    router: Router,
}

/// The stage that selects viewport and layer.
#[derive(Clone, Copy, PartialEq)]
enum Router {
    Vertex,
    Geometry,
    Evaluation,
}

/// A rectangle in pixels of its viewport, `[x0, y0, x1, y1]`, which may lie outside.
#[derive(Clone, Copy)]
struct Rect {
    viewport: usize,
    layer: u32,
    place: [i32; 4],
    depth: f32,
    red: u8,
}

/// A viewport and its scissor, both in pixels.
#[derive(Clone, Copy)]
struct View {
    place: [i32; 4],
    scissor: [i32; 4],
}

fn viewports(numbers: &mut Random) -> Vec<View> {
    let mut below = |limit: i32| numbers.below(limit as u32) as i32;
    let view = |_| {
        let size = [1 << (3 + below(4)), 1 << (3 + below(4))];
        let [x, y] = size.map(|size| below((SIDE as i32 - size).max(1)));
        let cut = [below(4), below(4), below(4), below(4)];
        let place = [x, y, x + size[0], y + size[1]];
        View { place, scissor: [x + cut[0], y + cut[1], x + size[0] - cut[2], y + size[1] + cut[3]] }
    };
    (0..16).map(view).collect()
}

fn rectangles(numbers: &mut Random, views: &[View], scene: Scene) -> Vec<Rect> {
    let rect = |_| {
        let viewport = numbers.below(16) as usize;
        let [x0, y0, x1, y1] = views[viewport].place;
        let mut side = |size: i32| {
            let low = numbers.below(size as u32 + 8) as i32 - 8;
            let high = low + 1 + numbers.below(size as u32) as i32;
            let mut beyond =
                |most: u32| if scene.wide && numbers.below(3) == 0 { numbers.below(most) as i32 } else { 0 };
            [low - beyond(900), high + beyond(900)]
        };
        let ([left, right], [top, bottom]) = (side(x1 - x0), side(y1 - y0));
        Rect {
            viewport,
            layer: numbers.below(scene.layers),
            place: [x0 + left, y0 + top, x0 + right, y0 + bottom],
            depth: numbers.below(64) as f32 / 64.0,
            red: if scene.adds { 1 } else { 1 + numbers.below(255) as u8 },
        }
    };
    (0..150).map(rect).collect()
}

/// Returns the vertices of rectangles, two triangles each. Vertices that are not provoking select
/// other viewports and layers.
fn vertices(rects: &[Rect], views: &[View], scene: Scene) -> Vec<[[f32; 4]; 2]> {
    let mut all = Vec::new();
    for rect in rects {
        let [x0, y0, x1, y1] = views[rect.viewport].place;
        let clip = |pixel: i32, low: i32, high: i32| (pixel - low) as f32 * 2.0 / (high - low) as f32 - 1.0;
        let [left, right] = [rect.place[0], rect.place[2]].map(|pixel| clip(pixel, x0, x1));
        let [top, bottom] = [rect.place[1], rect.place[3]].map(|pixel| clip(pixel, y0, y1));
        let corners = [[left, top], [right, top], [left, bottom], [left, bottom], [right, top], [right, bottom]];
        for (number, [x, y]) in corners.into_iter().enumerate() {
            let is_provoking = number % 3 == if scene.last { 2 } else { 0 };
            let route = rect.viewport as u32 + 16 * rect.layer;
            let route = if is_provoking { route } else { (route + 5) % (16 * scene.layers) };
            all.push([[x, y, rect.depth, route as f32], [f32::from(rect.red) / 255.0, 0.0, 0.0, 1.0]]);
        }
    }
    all
}

/// Returns the expected pixels, layer by layer.
fn model(rects: &[Rect], views: &[View], scene: Scene) -> Vec<[u8; 4]> {
    let size = (SIDE * SIDE) as usize;
    let mut pixels = vec![[0u8; 4]; size * scene.layers as usize];
    let mut depths = vec![1.0f32; pixels.len()];
    for rect in rects {
        let view = &views[rect.viewport];
        let low = |axis: usize| rect.place[axis].max(view.place[axis]).max(view.scissor[axis]).max(0);
        let high = |axis: usize| rect.place[axis].min(view.place[axis]).min(view.scissor[axis]).min(SIDE as i32);
        for y in low(1)..high(3) {
            for x in low(0)..high(2) {
                let at = size * rect.layer as usize + (y * SIDE as i32 + x) as usize;
                if scene.depth && rect.depth >= depths[at] {
                    continue;
                }
                depths[at] = rect.depth;
                let red = if scene.adds { pixels[at][0].saturating_add(rect.red) } else { rect.red };
                pixels[at] = [red, rect.layer as u8, rect.viewport as u8, 255];
                if scene.adds {
                    pixels[at] = [red, 0, 0, 255];
                }
            }
        }
    }
    pixels
}

fn supported(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SHADER_VIEWPORT_INDEX_LAYER_NAME)?;
    match gpu.features.multi_viewport {
        0 => Err(Outcome::NotSupported("multiViewport".into())),
        _ => Ok(()),
    }
}

fn random(gpu: &Gpu, scene: Scene, seed: u64) -> Case {
    match scene.router {
        Router::Vertex => supported(gpu)?,
        Router::Geometry if gpu.features.geometry_shader & gpu.features.multi_viewport == 0 => {
            return Err(Outcome::NotSupported("geometryShader, multiViewport".into()));
        }
        Router::Geometry => {}
        Router::Evaluation => {
            supported(gpu)?;
            if gpu.features.tessellation_shader == 0 {
                return Err(Outcome::NotSupported("tessellationShader".into()));
            }
        }
    }
    need_samples(gpu, scene.samples)?;
    if scene.last {
        gpu.need(vk::EXT_PROVOKING_VERTEX_NAME)?;
    }
    let mut numbers = Random::new(seed + 100);
    let views = viewports(&mut numbers);
    let rects = rectangles(&mut numbers, &views, scene);
    let buffer = gpu.buffer_with(&vertices(&rects, &views, scene))?;
    let pass = Pass::new(gpu, scene, false)?;
    let pipeline = pass.pipeline(gpu, scene, &views)?;
    let got = pass.draw(gpu, scene, &[Step { pipeline, buffer, count: rects.len() as u32 * 6, views: &views }])?;
    if scene.lines {
        return edges(&got, &rects, &views, scene);
    }
    for (index, (got, expected)) in got.iter().zip(model(&rects, &views, scene)).enumerate() {
        let (layer, at) = (index as u32 / (SIDE * SIDE), index as u32 % (SIDE * SIDE));
        check(*got == expected, || {
            format!("({}, {}) of layer {layer}: {got:?}, not {expected:?}", at % SIDE, at / SIDE)
        })?;
    }
    Ok(())
}

/// Checks that lines lie in their viewports: nothing is drawn outside of rectangles, and visible
/// sides are drawn.
fn edges(got: &[[u8; 4]], rects: &[Rect], views: &[View], scene: Scene) -> Case {
    let covered = model(rects, views, scene);
    let outside = got.iter().zip(&covered).filter(|(got, covered)| got[3] != 0 && covered[3] == 0).count();
    let drawn = got.iter().filter(|got| got[3] != 0).count();
    // Lines along the lower and right sides lie on the pixels behind them.
    check(drawn > 500 && outside < drawn / 2, || format!("{drawn} drawn, {outside} of them outside"))?;
    let seen = |index: usize| {
        let place = [(index as u32 % SIDE) as i32, (index as u32 / SIDE) as i32];
        let inside = |area: &[i32; 4]| (0..2).all(|axis| (area[axis]..area[axis + 2]).contains(&place[axis]));
        views.iter().any(|view| inside(&view.place) && inside(&view.scissor))
    };
    check((0..got.len()).all(|index| got[index][3] == 0 || seen(index)), || "a line leaves its viewport".into())
}

case!("layers.inputs.same_layer", "Render Pass: Input Attachments", inputs);

/// Checks that the second subpass reads the first one's result in the same layer.
fn inputs(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let scene = Scene { layers: 5, ..PLAIN };
    let mut numbers = Random::new(7);
    let views = viewports(&mut numbers);
    let first = rectangles(&mut numbers, &views, scene);
    let all = [View { place: [0, 0, SIDE as i32, SIDE as i32], scissor: [0, 0, SIDE as i32, SIDE as i32] }; 16];
    let rect = |layer: u32| Rect { viewport: 3, layer, place: all[0].place, depth: 0.5, red: 0 };
    let second: Vec<Rect> = (0..scene.layers).map(rect).collect();
    let buffers = [vertices(&first, &views, scene), vertices(&second, &all, scene)];
    let [one, other] = [gpu.buffer_with(&buffers[0])?, gpu.buffer_with(&buffers[1])?];
    let pass = Pass::new(gpu, scene, true)?;
    let steps = [
        Step {
            pipeline: pass.pipeline(gpu, scene, &views)?,
            buffer: one,
            count: first.len() as u32 * 6,
            views: &views,
        },
        Step { pipeline: pass.reading(gpu, scene, &all)?, buffer: other, count: scene.layers * 6, views: &all },
    ];
    let got = pass.draw(gpu, scene, &steps)?;
    for (index, (got, expected)) in got.iter().zip(model(&first, &views, scene)).enumerate() {
        check(got[..3] == expected[..3], || format!("{index}: {got:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// A render pass with attachments of several layers, and the pass that reads them.
struct Pass {
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    /// The image of the result.
    result: vk::Image,
}

/// A draw in its own subpass.
struct Step<'a> {
    pipeline: vk::Pipeline,
    buffer: Buffer,
    count: u32,
    views: &'a [View],
}

/// Creates an image of all layers, and a view of it.
fn image(gpu: &Gpu, scene: Scene, format: vk::Format, samples: u32) -> Result<(vk::Image, vk::ImageView), Outcome> {
    use vk::ImageUsageFlags as U;
    let (aspects, usage) = match format {
        DEPTH => (vk::ImageAspectFlags::DEPTH, U::DEPTH_STENCIL_ATTACHMENT),
        _ if samples > 1 => (vk::ImageAspectFlags::COLOR, U::COLOR_ATTACHMENT),
        _ => (vk::ImageAspectFlags::COLOR, U::COLOR_ATTACHMENT | U::INPUT_ATTACHMENT | U::TRANSFER_SRC),
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
        .mip_levels(1)
        .array_layers(scene.layers)
        .samples(vk::SampleCountFlags::from_raw(samples))
        .usage(usage);
    let range = vk::ImageSubresourceRange { layer_count: scene.layers, ..crate::harness::range(aspects, 0, 1) };
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let image = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
            .format(format)
            .subresource_range(range);
        Ok((image, gpu.device.create_image_view(&info, None)?))
    }
}

impl Pass {
    /// Creates a pass of one subpass, or of two, of which the second reads the first one's result.
    fn new(gpu: &Gpu, scene: Scene, reads: bool) -> Result<Self, Outcome> {
        let mut images = vec![image(gpu, scene, FORMAT, scene.samples)?];
        if reads || scene.samples > 1 {
            images.push(image(gpu, scene, FORMAT, 1)?);
        }
        let result = images[images.len() - 1].0;
        images.push(image(gpu, scene, DEPTH, scene.samples)?);
        let pass = Self::pass(gpu, scene, reads, images.len() as u32)?;
        let views: Vec<vk::ImageView> = images.iter().map(|(_, view)| *view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(SIDE)
            .height(SIDE)
            .layers(scene.layers);
        let kind = vk::DescriptorType::INPUT_ATTACHMENT;
        let (set_layout, set) = gpu.set_for(&[kind], vk::ShaderStageFlags::FRAGMENT)?;
        let read = [vk::DescriptorImageInfo {
            image_view: views[0],
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            ..Default::default()
        }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).image_info(&read);
        // SAFETY: valid infos; nothing uses the set.
        let framebuffer = unsafe {
            if reads {
                gpu.device.update_descriptor_sets(&[write], &[]);
            }
            gpu.device.create_framebuffer(&info, None)?
        };
        Ok(Self { pass, framebuffer, layout: gpu.layout(&[set_layout])?, set, result })
    }

    fn pass(gpu: &Gpu, scene: Scene, reads: bool, count: u32) -> Result<vk::RenderPass, Outcome> {
        let attachment = |number: u32| {
            let is_depth = number + 1 == count;
            let samples = if is_depth || number == 0 { scene.samples } else { 1 };
            let last = if is_depth {
                vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
            } else {
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL
            };
            vk::AttachmentDescription::default()
                .format(if is_depth { DEPTH } else { FORMAT })
                .samples(vk::SampleCountFlags::from_raw(samples))
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .final_layout(last)
        };
        let attachments: Vec<_> = (0..count).map(attachment).collect();
        let reference = |attachment, layout| [vk::AttachmentReference { attachment, layout }];
        let color = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let (first, second) = (reference(0, color), reference(1, color));
        let inputs = reference(0, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let depth = reference(count - 1, vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
        let mut subpasses =
            vec![vk::SubpassDescription::default().color_attachments(&first).depth_stencil_attachment(&depth[0])];
        if scene.samples > 1 {
            subpasses[0] = subpasses[0].resolve_attachments(&second);
        }
        if reads {
            subpasses.push(vk::SubpassDescription::default().color_attachments(&second).input_attachments(&inputs));
        }
        let dependencies = [vk::SubpassDependency {
            src_subpass: 0,
            dst_subpass: 1,
            src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
            dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
            src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
            dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
            dependency_flags: vk::DependencyFlags::BY_REGION,
        }];
        let dependencies = if reads { &dependencies[..] } else { &[] };
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        // SAFETY: the info is valid.
        Ok(unsafe { gpu.device.create_render_pass(&info.dependencies(dependencies), None) }?)
    }

    fn pipeline(&self, gpu: &Gpu, scene: Scene, views: &[View]) -> Result<vk::Pipeline, Outcome> {
        self.made(gpu, scene, views, (if scene.adds { COLOR } else { ROUTED }, 0))
    }

    /// Creates the pipeline of the second subpass.
    fn reading(&self, gpu: &Gpu, scene: Scene, views: &[View]) -> Result<vk::Pipeline, Outcome> {
        self.made(gpu, scene, views, (INPUT, 1))
    }

    fn made(
        &self,
        gpu: &Gpu,
        scene: Scene,
        views: &[View],
        (fragment, subpass): (&[u8], u32),
    ) -> Result<vk::Pipeline, Outcome> {
        let stage =
            |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
        let vertex = if scene.router == Router::Vertex { ROUTE } else { ROUTING };
        let mut stages = vec![
            stage(vk::ShaderStageFlags::VERTEX, gpu.module(vertex)?),
            stage(vk::ShaderStageFlags::FRAGMENT, gpu.module(fragment)?),
        ];
        let patches = scene.router == Router::Evaluation;
        if scene.router == Router::Geometry {
            stages.push(stage(vk::ShaderStageFlags::GEOMETRY, gpu.module(ROUTING_GEOMETRY)?));
        }
        if patches {
            stages.push(stage(vk::ShaderStageFlags::TESSELLATION_CONTROL, gpu.module(ROUTING_CONTROL)?));
            stages.push(stage(vk::ShaderStageFlags::TESSELLATION_EVALUATION, gpu.module(ROUTING_EVALUATION)?));
        }
        let attributes = attributes();
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: 32, ..Default::default() }];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let topology = match patches {
            true => vk::PrimitiveTopology::PATCH_LIST,
            false => vk::PrimitiveTopology::TRIANGLE_LIST,
        };
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(3);
        let (viewports, scissors) = state_of(views);
        let mut viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(16).scissor_count(16);
        let dynamic: &[_] = if scene.dynamic { &[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR] } else { &[] };
        if !scene.dynamic {
            viewport = viewport.viewports(&viewports).scissors(&scissors);
        }
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(dynamic);
        let mode = if scene.lines { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL };
        let mut provoking = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default()
            .provoking_vertex_mode(vk::ProvokingVertexModeEXT::LAST_VERTEX);
        let mut raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0).polygon_mode(mode);
        if scene.last {
            raster = raster.push_next(&mut provoking);
        }
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::from_raw(scene.samples));
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(scene.depth)
            .depth_write_enable(scene.depth)
            .depth_compare_op(vk::CompareOp::LESS);
        let attachments = [added(scene.adds)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .dynamic_state(&dynamic)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(self.layout)
            .render_pass(self.pass)
            .subpass(subpass);
        if patches {
            info = info.tessellation_state(&tessellation);
        }
        // SAFETY: the info is valid.
        let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        Ok(made.map_err(|(_, code)| code)?[0])
    }

    /// Draws each step in its subpass, and returns the pixels of all layers.
    fn draw(&self, gpu: &Gpu, scene: Scene, steps: &[Step<'_>]) -> Result<Vec<[u8; 4]>, Outcome> {
        let size = u64::from(SIDE * SIDE * 4 * scene.layers);
        let buffer = gpu.buffer(size)?;
        let depth = vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } };
        let mut clears = vec![vk::ClearValue::default(); 1 + usize::from(steps.len() > 1 || scene.samples > 1)];
        clears.push(depth);
        let device = &gpu.device;
        gpu.run(|commands| {
            let extent = vk::Extent2D { width: SIDE, height: SIDE };
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(self.pass)
                .framebuffer(self.framebuffer)
                .render_area(vk::Rect2D { extent, ..Default::default() })
                .clear_values(&clears);
            let layers = vk::ImageSubresourceLayers {
                layer_count: scene.layers,
                ..crate::harness::layers(vk::ImageAspectFlags::COLOR)
            };
            let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
            let region = vk::BufferImageCopy { image_subresource: layers, image_extent: extent, ..Default::default() };
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                for (number, step) in steps.iter().enumerate() {
                    if number > 0 {
                        device.cmd_next_subpass(commands, vk::SubpassContents::INLINE);
                    }
                    let point = vk::PipelineBindPoint::GRAPHICS;
                    device.cmd_bind_pipeline(commands, point, step.pipeline);
                    if number > 0 {
                        device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
                    }
                    if scene.dynamic {
                        let (viewports, scissors) = state_of(step.views);
                        // In two parts, the second first.
                        device.cmd_set_viewport(commands, 5, &viewports[5..]);
                        device.cmd_set_viewport(commands, 0, &viewports[..5]);
                        device.cmd_set_scissor(commands, 0, &scissors);
                    }
                    device.cmd_bind_vertex_buffers(commands, 0, &[step.buffer.handle], &[0]);
                    device.cmd_draw(commands, step.count, 1, 0, 0);
                }
                device.cmd_end_render_pass(commands);
                gpu.barrier(commands, None);
                let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
                device.cmd_copy_image_to_buffer(commands, self.result, layout, buffer.handle, &[region]);
            }
            gpu.barrier(commands, None);
        })?;
        let bytes = buffer.read(0, size as usize);
        Ok(bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect())
    }
}

/// Returns two attributes of four floats.
fn attributes() -> [vk::VertexInputAttributeDescription; 2] {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    [0, 1].map(|location| vk::VertexInputAttributeDescription { location, binding: 0, format, offset: location * 16 })
}

/// Returns the blend state of an attachment that colours are written or added to.
fn added(adds: bool) -> vk::PipelineColorBlendAttachmentState {
    let one = vk::BlendFactor::ONE;
    vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)
        .blend_enable(adds)
        .src_color_blend_factor(one)
        .dst_color_blend_factor(one)
        .src_alpha_blend_factor(one)
}

/// Returns viewports and scissors as Vulkan takes them.
fn state_of(views: &[View]) -> (Vec<vk::Viewport>, Vec<vk::Rect2D>) {
    let viewport = |view: &View| {
        let [x, y, right, bottom] = view.place.map(|pixel| pixel as f32);
        vk::Viewport { x, y, width: right - x, height: bottom - y, min_depth: 0.0, max_depth: 1.0 }
    };
    let scissor = |view: &View| {
        let [x, y, right, bottom] = view.scissor;
        let extent = vk::Extent2D { width: (right - x) as u32, height: (bottom - y) as u32 };
        vk::Rect2D { offset: vk::Offset2D { x, y }, extent }
    };
    (views.iter().map(viewport).collect(), views.iter().map(scissor).collect())
}
