//! Render passes of several subpasses and attachments: input attachments, several colours, load
//! operations, secondary command buffers.

use std::ops::Deref;

use ash::vk;

use crate::Entry;
use crate::cases::support::pipelines::{DUAL, PipelineDesc, RGBA, pipeline_of, whole};
use crate::cases::support::stages::compare;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome};
use crate::render::{COLOR, RECT, SIZE};

const INPUT: &[u8] = shader!("input.frag");
const SEVERAL: &[u8] = shader!("several.frag");

/// Name, section, and function of a case.
type Row = (&'static str, &'static str, fn(&Versioned<'_>) -> Case);

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let rows: [Row; 7] = [
        ("subpasses.input_attachment", "Render Pass: Input Attachments", |gpu| input_attachment(gpu, false)),
        ("subpasses.secondary", "Secondary Command Buffer Execution", |gpu| input_attachment(gpu, true)),
        ("attachments.several_colors", "Render Pass: Color Attachments", several_colors),
        ("attachments.dual_source", "Dual-Source Blending", dual_source),
        ("attachments.unused", "Render Pass: Unused Attachments", unused_color),
        ("load.kept", "Render Pass Load Operations", load_keeps),
        ("load.area", "Render Pass Load Operations", clear_area),
    ];
    for (name, section, run) in rows {
        cases.push(Entry::new(format!("render_pass.{name}"), section, move |gpu: &Gpu| {
            run(&Versioned { gpu, second: None })
        }));
        let second = move |gpu: &Gpu| {
            gpu.need(vk::KHR_CREATE_RENDERPASS2_NAME)?;
            let second = ash::khr::create_renderpass2::Device::new(&gpu.instance, &gpu.device);
            run(&Versioned { gpu, second: Some(second) })
        };
        cases.push(Entry::new(format!("render_pass2.{name}"), section, second));
    }
}

/// A device, and the version of the render pass commands in use.
struct Versioned<'a> {
    gpu: &'a Gpu,
    /// `VK_KHR_create_renderpass2`.
    second: Option<ash::khr::create_renderpass2::Device>,
}

impl Deref for Versioned<'_> {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        self.gpu
    }
}

impl Versioned<'_> {
    fn begin(&self, commands: vk::CommandBuffer, info: &vk::RenderPassBeginInfo<'_>, contents: vk::SubpassContents) {
        let begin = vk::SubpassBeginInfo::default().contents(contents);
        match &self.second {
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            None => unsafe { self.device.cmd_begin_render_pass(commands, info, contents) },
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            Some(second) => unsafe { second.cmd_begin_render_pass2(commands, info, &begin) },
        }
    }

    fn next(&self, commands: vk::CommandBuffer, contents: vk::SubpassContents) {
        let (begin, end) = (vk::SubpassBeginInfo::default().contents(contents), vk::SubpassEndInfo::default());
        match &self.second {
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            None => unsafe { self.device.cmd_next_subpass(commands, contents) },
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            Some(second) => unsafe { second.cmd_next_subpass2(commands, &begin, &end) },
        }
    }

    fn end(&self, commands: vk::CommandBuffer) {
        match &self.second {
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            None => unsafe { self.device.cmd_end_render_pass(commands) },
            // SAFETY: the command buffer is recording, and everything named is
            // alive.
            Some(second) => unsafe { second.cmd_end_render_pass2(commands, &vk::SubpassEndInfo::default()) },
        }
    }
}

/// An attachment of the pass: its image and how it starts.
#[derive(Clone, Copy)]
struct Attachment {
    image: Image,
    format: vk::Format,
    load: vk::AttachmentLoadOp,
    initial: vk::ImageLayout,
}

fn attachment(gpu: &Gpu, format: vk::Format) -> Result<Attachment, Outcome> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(format, [SIZE; 2], usage))?;
    Ok(Attachment { image, format, load: vk::AttachmentLoadOp::CLEAR, initial: vk::ImageLayout::UNDEFINED })
}

/// A subpass: colour and input attachments by number.
struct Subpass<'a> {
    colors: &'a [u32],
    inputs: &'a [u32],
}

fn description(attachment: &Attachment) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(attachment.format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(attachment.load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(attachment.initial)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
}

fn description2(attachment: &Attachment) -> vk::AttachmentDescription2<'static> {
    let first = description(attachment);
    vk::AttachmentDescription2::default()
        .format(first.format)
        .samples(first.samples)
        .load_op(first.load_op)
        .store_op(first.store_op)
        .initial_layout(first.initial_layout)
        .final_layout(first.final_layout)
}

/// Returns the dependency of a subpass that reads the previous one's colour as input attachment.
fn dependency(number: u32) -> vk::SubpassDependency {
    vk::SubpassDependency {
        src_subpass: number,
        dst_subpass: number + 1,
        src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
        dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
        src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
        dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
        dependency_flags: vk::DependencyFlags::BY_REGION,
    }
}

fn dependency2(number: u32) -> vk::SubpassDependency2<'static> {
    let first = dependency(number);
    vk::SubpassDependency2::default()
        .src_subpass(first.src_subpass)
        .dst_subpass(first.dst_subpass)
        .src_stage_mask(first.src_stage_mask)
        .dst_stage_mask(first.dst_stage_mask)
        .src_access_mask(first.src_access_mask)
        .dst_access_mask(first.dst_access_mask)
        .dependency_flags(first.dependency_flags)
}

const COLOR_LAYOUT: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const INPUT_LAYOUT: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

fn render_pass(
    gpu: &Versioned<'_>,
    attachments: &[Attachment],
    subpasses: &[Subpass<'_>],
) -> Result<vk::RenderPass, Outcome> {
    if let Some(second) = &gpu.second {
        return render_pass2(second, attachments, subpasses);
    }
    let descriptions: Vec<_> = attachments.iter().map(description).collect();
    let references = |numbers: &[u32], layout| -> Vec<_> {
        numbers.iter().map(|&attachment| vk::AttachmentReference { attachment, layout }).collect()
    };
    let colors: Vec<_> = subpasses.iter().map(|subpass| references(subpass.colors, COLOR_LAYOUT)).collect();
    let inputs: Vec<_> = subpasses.iter().map(|subpass| references(subpass.inputs, INPUT_LAYOUT)).collect();
    let described: Vec<_> = colors
        .iter()
        .zip(&inputs)
        .map(|(colors, inputs)| vk::SubpassDescription::default().color_attachments(colors).input_attachments(inputs))
        .collect();
    let dependencies: Vec<_> = (1..subpasses.len() as u32).map(|number| dependency(number - 1)).collect();
    let info = vk::RenderPassCreateInfo::default();
    let info = info.attachments(&descriptions).subpasses(&described).dependencies(&dependencies);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_render_pass(&info, None) }?)
}

fn render_pass2(
    second: &ash::khr::create_renderpass2::Device,
    attachments: &[Attachment],
    subpasses: &[Subpass<'_>],
) -> Result<vk::RenderPass, Outcome> {
    let descriptions: Vec<_> = attachments.iter().map(description2).collect();
    let references = |numbers: &[u32], layout| -> Vec<_> {
        let aspects = vk::ImageAspectFlags::COLOR;
        let reference = vk::AttachmentReference2::default().layout(layout).aspect_mask(aspects);
        numbers.iter().map(|&attachment| reference.attachment(attachment)).collect()
    };
    let colors: Vec<_> = subpasses.iter().map(|subpass| references(subpass.colors, COLOR_LAYOUT)).collect();
    let inputs: Vec<_> = subpasses.iter().map(|subpass| references(subpass.inputs, INPUT_LAYOUT)).collect();
    let described: Vec<_> = colors
        .iter()
        .zip(&inputs)
        .map(|(colors, inputs)| vk::SubpassDescription2::default().color_attachments(colors).input_attachments(inputs))
        .collect();
    let dependencies: Vec<_> = (1..subpasses.len() as u32).map(|number| dependency2(number - 1)).collect();
    let info = vk::RenderPassCreateInfo2::default();
    let info = info.attachments(&descriptions).subpasses(&described).dependencies(&dependencies);
    // SAFETY: the info is valid.
    Ok(unsafe { second.create_render_pass2(&info, None) }?)
}

/// Describes a pipeline that fills rectangles in a subpass with what a fragment shader writes.
fn filling<'a>(
    pass: (vk::RenderPass, u32),
    layout: vk::PipelineLayout,
    fragment: &'a [u8],
    masks: &'a [vk::ColorComponentFlags],
) -> PipelineDesc<'a> {
    PipelineDesc { pass, shaders: [RECT, fragment], masks, ..PipelineDesc::plain(layout) }
}

/// An instance of a render pass: attachments, what they are cleared to, the render area, and what
/// each subpass records, in secondary command buffers where `secondary` is set.
struct PassInstance<'a> {
    attachments: &'a [Attachment],
    clears: &'a [[f32; 4]],
    area: vk::Rect2D,
    subpasses: &'a [&'a dyn Fn(vk::CommandBuffer)],
    secondary: bool,
}

impl<'a> PassInstance<'a> {
    /// Returns an instance with the whole render area and inline commands.
    fn whole(
        attachments: &'a [Attachment],
        clears: &'a [[f32; 4]],
        subpasses: &'a [&'a dyn Fn(vk::CommandBuffer)],
    ) -> Self {
        Self { attachments, clears, area: whole(), subpasses, secondary: false }
    }
}

/// Runs a pass whose subpasses are recorded one after the other.
fn run(gpu: &Versioned<'_>, pass: vk::RenderPass, instance: &PassInstance<'_>) -> Case {
    let &PassInstance { attachments, clears, area, subpasses, secondary } = instance;
    let views: Vec<_> = attachments.iter().map(|attachment| attachment.image.view).collect();
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).width(SIZE).height(SIZE);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.layers(1), None) }?;
    let clears: Vec<_> =
        clears.iter().map(|&float32| vk::ClearValue { color: vk::ClearColorValue { float32 } }).collect();
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(area);
    let begin = begin.clear_values(&clears);
    let recorded = match secondary {
        true => (0..).zip(subpasses).map(|(n, record)| record_secondary(gpu, (pass, n), record)).collect(),
        false => Ok(Vec::new()),
    }?;
    let contents = if secondary { vk::SubpassContents::SECONDARY_COMMAND_BUFFERS } else { vk::SubpassContents::INLINE };
    gpu.run(|commands| {
        gpu.begin(commands, &begin, contents);
        for (number, record) in subpasses.iter().enumerate() {
            if number > 0 {
                gpu.next(commands, contents);
            }
            match recorded.get(number) {
                // SAFETY: the command buffer is recording, and the other one was recorded.
                Some(&buffer) => unsafe { gpu.device.cmd_execute_commands(commands, &[buffer]) },
                None => record(commands),
            }
        }
        gpu.end(commands);
        gpu.barrier(commands, None);
    })
}

fn record_secondary(
    gpu: &Gpu,
    (pass, subpass): (vk::RenderPass, u32),
    record: &dyn Fn(vk::CommandBuffer),
) -> Result<vk::CommandBuffer, Outcome> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    let inheritance = vk::CommandBufferInheritanceInfo::default().render_pass(pass).subpass(subpass);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inheritance);
    // SAFETY: valid infos; the buffer is recorded here and executed once.
    unsafe {
        let commands = gpu.device.allocate_command_buffers(&info)?[0];
        gpu.device.begin_command_buffer(commands, &begin)?;
        record(commands);
        gpu.device.end_command_buffer(commands)?;
        Ok(commands)
    }
}

/// Draws a rectangle of a colour.
fn fill(gpu: &Gpu, commands: vk::CommandBuffer, pipeline: vk::Pipeline, layout: vk::PipelineLayout, rect: [f32; 4]) {
    let push: [f32; 12] = [rect[0], rect[1], rect[2], rect[3], 1.0, 0.5, 0.25, 1.0, 0.5, 1.0, 0.0, 0.0];
    // SAFETY: the command buffer is recording in the subpass of the pipeline.
    unsafe {
        gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        let bytes: &[u8] = bytemuck::cast_slice(&push);
        gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
        gpu.device.cmd_draw(commands, 6, 1, 0, 0);
    }
}

fn pixels(gpu: &Gpu, attachment: &Attachment) -> Result<Vec<[u8; 4]>, Outcome> {
    let bytes = gpu.read_image(&attachment.image, vk::ImageAspectFlags::COLOR, 4)?;
    Ok(bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect())
}

const FULL: [f32; 4] = [-1.0, -1.0, 1.0, 1.0];
const LEFT: [f32; 4] = [-1.0, -1.0, 0.0, 1.0];
const ALL: vk::ColorComponentFlags = vk::ColorComponentFlags::RGBA;

/// Checks that the second subpass reads the drawn or cleared colour of the first one in the same
/// pixel.
fn input_attachment(gpu: &Versioned<'_>, secondary: bool) -> Case {
    let attachments = [attachment(gpu, RGBA)?, attachment(gpu, RGBA)?];
    let subpasses = [Subpass { colors: &[0], inputs: &[] }, Subpass { colors: &[1], inputs: &[0] }];
    let pass = render_pass(gpu, &attachments, &subpasses)?;
    let kind = vk::DescriptorType::INPUT_ATTACHMENT;
    let (set_layout, set) = gpu.set_for(&[kind], vk::ShaderStageFlags::FRAGMENT)?;
    let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    let info =
        [vk::DescriptorImageInfo { image_view: attachments[0].image.view, image_layout, sampler: vk::Sampler::null() }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).image_info(&info);
    // SAFETY: the set is new, and nothing uses it.
    unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    let (plain, with_set) = (gpu.layout(&[])?, gpu.layout(&[set_layout])?);
    let first = pipeline_of(gpu, &filling((pass, 0), plain, COLOR, &[ALL]))?;
    let second = pipeline_of(gpu, &filling((pass, 1), with_set, INPUT, &[ALL]))?;
    let draw_first = |commands: vk::CommandBuffer| fill(gpu, commands, first, plain, LEFT);
    let draw_second = |commands: vk::CommandBuffer| {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_bind_descriptor_sets(commands, point, with_set, 0, &[set], &[]) };
        fill(gpu, commands, second, with_set, FULL);
    };
    let clears = [[0.0, 0.0, 0.0, 1.0], [1.0; 4]];
    run(
        gpu,
        pass,
        &PassInstance { secondary, ..PassInstance::whole(&attachments, &clears, &[&draw_first, &draw_second]) },
    )?;
    compare(&pixels(gpu, &attachments[1])?, |x, _| match x {
        0..8 => [128, 64, 32 + x as u8, 128],
        _ => [0, 0, x as u8, 128],
    })
}

/// Writes attachments with different formats and write masks.
fn several_colors(gpu: &Versioned<'_>) -> Case {
    if gpu.features.independent_blend != vk::TRUE {
        return Err(Outcome::NotSupported("independent blending".into()));
    }
    let formats = [RGBA, RGBA, vk::Format::R8G8B8A8_UINT, RGBA];
    let attachments = formats.map(|format| attachment(gpu, format));
    let attachments = attachments.into_iter().collect::<Result<Vec<_>, _>>()?;
    let pass = render_pass(gpu, &attachments, &[Subpass { colors: &[0, 1, 2, 3], inputs: &[] }])?;
    let layout = gpu.layout(&[])?;
    let (red, alpha) = (vk::ColorComponentFlags::R, vk::ColorComponentFlags::A);
    let pipeline = pipeline_of(gpu, &filling((pass, 0), layout, SEVERAL, &[ALL, alpha, ALL, ALL & !red]))?;
    let draw = |commands: vk::CommandBuffer| fill(gpu, commands, pipeline, layout, FULL);
    run(gpu, pass, &PassInstance::whole(&attachments, &[[0.0; 4]; 4], &[&draw]))?;
    compare(&pixels(gpu, &attachments[0])?, |_, _| [255, 0, 0, 255])?;
    compare(&pixels(gpu, &attachments[1])?, |_, _| [0, 0, 0, 255])?;
    compare(&pixels(gpu, &attachments[2])?, |_, _| [7, 8, 9, 10])?;
    compare(&pixels(gpu, &attachments[3])?, |_, y| [0, ((y as f32 + 0.5) / 16.0 * 255.0) as u8, 255, 128])
}

/// Blends each attachment with its own two colours.
fn dual_source(gpu: &Versioned<'_>) -> Case {
    if gpu.features.dual_src_blend == 0 || gpu.properties.limits.max_fragment_dual_src_attachments < 2 {
        return Err(Outcome::NotSupported("two colours for blending in two attachments".into()));
    }
    let attachments = [attachment(gpu, RGBA)?, attachment(gpu, RGBA)?];
    let pass = render_pass(gpu, &attachments, &[Subpass { colors: &[0, 1], inputs: &[] }])?;
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline_of(gpu, &filling((pass, 0), layout, DUAL, &[ALL, ALL]))?;
    let draw = |commands: vk::CommandBuffer| fill(gpu, commands, pipeline, layout, FULL);
    run(gpu, pass, &PassInstance::whole(&attachments, &[[0.4; 4]; 2], &[&draw]))?;
    // 102 times the factor, and 64 or 128 more.
    compare(&pixels(gpu, &attachments[0])?, |_, _| [166, 115, 64, 166])?;
    compare(&pixels(gpu, &attachments[1])?, |_, _| [0, 230, 51, 102])
}

/// Checks that an unused reference does not move the outputs behind it.
fn unused_color(gpu: &Versioned<'_>) -> Case {
    let attachments = [attachment(gpu, RGBA)?, attachment(gpu, RGBA)?];
    let unused = vk::ATTACHMENT_UNUSED;
    let pass = render_pass(gpu, &attachments, &[Subpass { colors: &[0, unused, unused, 1], inputs: &[] }])?;
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline_of(gpu, &filling((pass, 0), layout, SEVERAL, &[ALL; 4]))?;
    let draw = |commands: vk::CommandBuffer| fill(gpu, commands, pipeline, layout, FULL);
    run(gpu, pass, &PassInstance::whole(&attachments, &[[0.0; 4]; 2], &[&draw]))?;
    compare(&pixels(gpu, &attachments[0])?, |_, _| [255, 0, 0, 255])?;
    let part = |place: u32| ((place as f32 + 0.5) / 16.0 * 255.0) as u8;
    compare(&pixels(gpu, &attachments[1])?, |x, y| [part(x), part(y), 255, 128])
}

/// Returns an attachment that a pass has cleared to green.
fn green(gpu: &Versioned<'_>) -> Result<Attachment, Outcome> {
    let first = attachment(gpu, RGBA)?;
    let pass = render_pass(gpu, &[first], &[Subpass { colors: &[0], inputs: &[] }])?;
    run(gpu, pass, &PassInstance::whole(&[first], &[[0.0, 1.0, 0.0, 1.0]], &[&|_| ()]))?;
    Ok(first)
}

/// Checks that old contents stay where nothing is drawn.
fn load_keeps(gpu: &Versioned<'_>) -> Case {
    let layout = gpu.layout(&[])?;
    let first = green(gpu)?;
    let again =
        Attachment { load: vk::AttachmentLoadOp::LOAD, initial: vk::ImageLayout::TRANSFER_SRC_OPTIMAL, ..first };
    let pass = render_pass(gpu, &[again], &[Subpass { colors: &[0], inputs: &[] }])?;
    let pipeline = pipeline_of(gpu, &filling((pass, 0), layout, COLOR, &[ALL]))?;
    let draw = |commands: vk::CommandBuffer| fill(gpu, commands, pipeline, layout, LEFT);
    run(gpu, pass, &PassInstance::whole(&[again], &[], &[&draw]))?;
    compare(&pixels(gpu, &again)?, |x, _| if x < 8 { [255, 128, 64, 255] } else { [0, 255, 0, 255] })
}

/// Checks that clears and draws stay inside of the render area.
fn clear_area(gpu: &Versioned<'_>) -> Case {
    let first = green(gpu)?;
    let again = Attachment { initial: vk::ImageLayout::TRANSFER_SRC_OPTIMAL, ..first };
    let pass = render_pass(gpu, &[again], &[Subpass { colors: &[0], inputs: &[] }])?;
    let area = vk::Rect2D { offset: vk::Offset2D { x: 3, y: 5 }, extent: vk::Extent2D { width: 6, height: 7 } };
    run(gpu, pass, &PassInstance { area, ..PassInstance::whole(&[again], &[[1.0, 0.0, 0.0, 1.0]], &[&|_| ()]) })?;
    compare(&pixels(gpu, &again)?, |x, y| {
        if (3..9).contains(&x) && (5..12).contains(&y) { [255, 0, 0, 255] } else { [0, 255, 0, 255] }
    })
}
