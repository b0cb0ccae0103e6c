//! Pipelines that fill rectangles in a subpass or in dynamic rendering.

use std::ffi::c_void;

use ash::vk;

use crate::harness::{Gpu, Outcome};
use crate::render::{COLOR, RECT, SIZE};

/// Its second colours are factors of the stored colours.
pub(in crate::cases) static DUAL: &[u8] = shader!("dual.frag");

pub(in crate::cases) const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A pipeline of a subpass that fills rectangles.
#[derive(Clone, Copy)]
pub(in crate::cases) struct PipelineDesc<'a> {
    /// Pass and subpass. Without a pass the pipeline is for dynamic rendering.
    pub(in crate::cases) pass: (vk::RenderPass, u32),
    /// Views of dynamic rendering; 0 without multiview.
    pub(in crate::cases) view_mask: u32,
    pub(in crate::cases) layout: vk::PipelineLayout,
    /// Pixels of a side of the target.
    pub(in crate::cases) side: u32,
    /// Vertex and fragment shader.
    pub(in crate::cases) shaders: [&'a [u8]; 2],
    /// Written components of each colour attachment.
    pub(in crate::cases) masks: &'a [vk::ColorComponentFlags],
    pub(in crate::cases) samples: vk::SampleCountFlags,
    /// Format of the colour attachments.
    pub(in crate::cases) format: vk::Format,
    pub(in crate::cases) depth: Depth,
    pub(in crate::cases) flags: vk::PipelineCreateFlags,
    /// The locations of colour attachments, where they differ from their numbers.
    pub(in crate::cases) locations: Option<&'a [u32]>,
    /// The indices of colours, depth and stencil as input attachments.
    pub(in crate::cases) inputs: Option<(&'a [u32], [u32; 2])>,
    /// Vertices of binding 0, if there are any.
    pub(in crate::cases) vertices: Option<VertexLayout<'a>>,
    /// Chain of structures that are newer than `ash`.
    pub(in crate::cases) next: *const c_void,
}

impl PipelineDesc<'_> {
    /// Returns a pipeline that fills rectangles with colours of one sample.
    pub(in crate::cases) fn plain(layout: vk::PipelineLayout) -> Self {
        Self {
            pass: (vk::RenderPass::null(), 0),
            view_mask: 0,
            layout,
            side: SIZE,
            shaders: [RECT, COLOR],
            masks: &[vk::ColorComponentFlags::RGBA],
            samples: vk::SampleCountFlags::TYPE_1,
            format: RGBA,
            depth: Depth::Unused,
            flags: vk::PipelineCreateFlags::empty(),
            locations: None,
            inputs: None,
            vertices: None,
            next: std::ptr::null(),
        }
    }
}

/// Layout of vertices.
#[derive(Clone, Copy)]
pub(in crate::cases) struct VertexLayout<'a> {
    pub(in crate::cases) attributes: &'a [vk::VertexInputAttributeDescription],
    /// Distance in bytes; `None` if commands set it.
    pub(in crate::cases) stride: Option<u32>,
}

/// A format that a device may store with depth and stencil in one word.
pub(in crate::cases) const PACKED: vk::Format = vk::Format::D24_UNORM_S8_UINT;

/// Depth and stencil state of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cases) enum Depth {
    /// There are no depth and stencil attachments.
    Unused,
    /// The attachments are not used.
    Kept,
    /// Nearer fragments are drawn.
    Less,
    /// All fragments write their depth.
    Always,
    /// Nearer fragments are drawn, with depth beside a stencil that is not attached, in an image
    /// of [`PACKED`].
    LessAlone,
    /// Nearer fragments are drawn, but the pipeline has no depth attachment.
    LessUnattached,
    /// Depth is written, and stencil replaced by the dynamic reference, of one sample. The
    /// attachments have these aspects.
    OfSample(u32, vk::ImageAspectFlags),
}

/// Returns the tests of a pipeline.
fn depth_tests(depth: Depth) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    let is_less = matches!(depth, Depth::Less | Depth::LessAlone | Depth::LessUnattached);
    let of_sample = matches!(depth, Depth::OfSample(..));
    let replace = vk::StencilOpState {
        fail_op: vk::StencilOp::REPLACE,
        pass_op: vk::StencilOp::REPLACE,
        compare_op: vk::CompareOp::ALWAYS,
        write_mask: 0xff,
        ..Default::default()
    };
    vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(is_less || of_sample || depth == Depth::Always)
        .depth_write_enable(true)
        .depth_compare_op(if is_less { vk::CompareOp::LESS } else { vk::CompareOp::ALWAYS })
        .stencil_test_enable(of_sample)
        .front(replace)
        .back(replace)
}

/// Creates a pipeline without stages between the vertex and the fragment shader.
pub(in crate::cases) fn pipeline_of(gpu: &Gpu, desc: &PipelineDesc<'_>) -> Result<vk::Pipeline, Outcome> {
    pipeline_with(gpu, desc, Between::Nothing)
}

/// Stages between the vertex and the fragment shader.
#[derive(Clone, Copy)]
pub(in crate::cases) enum Between {
    Nothing,
    Geometry(&'static [u8]),
    /// A control and an evaluation shader, of patches of three vertices.
    Patches([&'static [u8]; 2]),
}

/// Returns the stages of a pipeline, and the topology that they take.
fn stages<'a>(
    gpu: &Gpu,
    desc: &PipelineDesc<'_>,
    between: Between,
) -> Result<(Vec<vk::PipelineShaderStageCreateInfo<'a>>, vk::PrimitiveTopology), Outcome> {
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    // Without code, the stage has no module.
    let module = |code: &[u8]| if code.is_empty() { Ok(vk::ShaderModule::null()) } else { gpu.module(code) };
    let mut stages = vec![
        stage(vk::ShaderStageFlags::VERTEX, module(desc.shaders[0])?),
        stage(vk::ShaderStageFlags::FRAGMENT, module(desc.shaders[1])?),
    ];
    let mut topology = vk::PrimitiveTopology::TRIANGLE_LIST;
    match between {
        Between::Nothing => {}
        Between::Geometry(geometry) => stages.push(stage(vk::ShaderStageFlags::GEOMETRY, gpu.module(geometry)?)),
        Between::Patches([control, evaluation]) => {
            topology = vk::PrimitiveTopology::PATCH_LIST;
            stages.push(stage(vk::ShaderStageFlags::TESSELLATION_CONTROL, gpu.module(control)?));
            stages.push(stage(vk::ShaderStageFlags::TESSELLATION_EVALUATION, gpu.module(evaluation)?));
        }
    }
    Ok((stages, topology))
}

/// Returns the states that commands set.
fn dynamic_states(desc: &PipelineDesc<'_>) -> Vec<vk::DynamicState> {
    let has_dynamic_stride = desc.vertices.is_some_and(|vertices| vertices.stride.is_none());
    let states = [
        (matches!(desc.depth, Depth::OfSample(..)), vk::DynamicState::STENCIL_REFERENCE),
        (has_dynamic_stride, vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE_EXT),
    ];
    states.into_iter().filter(|(is_set, _)| *is_set).map(|(_, state)| state).collect()
}

/// Creates a pipeline with other stages between.
pub(in crate::cases) fn pipeline_with(
    gpu: &Gpu,
    desc: &PipelineDesc<'_>,
    between: Between,
) -> Result<vk::Pipeline, Outcome> {
    let (stages, topology) = stages(gpu, desc, between)?;
    let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(3);
    let bindings = desc.vertices.map(|vertices| vk::VertexInputBindingDescription {
        stride: vertices.stride.unwrap_or(0),
        ..Default::default()
    });
    let attributes = desc.vertices.map_or(&[][..], |vertices| vertices.attributes);
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(bindings.as_slice())
        .vertex_attribute_descriptions(attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    let side = desc.side as f32;
    let viewports = [vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() }];
    let scissors = [square(desc.side)];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let mask = [if let Depth::OfSample(sample, _) = desc.depth { 1 << sample } else { u32::MAX }];
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(desc.samples).sample_mask(&mask);
    let blends: Vec<_> = desc
        .masks
        .iter()
        .map(|&color_write_mask| vk::PipelineColorBlendAttachmentState {
            color_write_mask,
            ..if std::ptr::eq(desc.shaders[1], DUAL) { dual_blend() } else { Default::default() }
        })
        .collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let depth = depth_tests(desc.depth);
    let dynamic = dynamic_states(desc);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let info = vk::GraphicsPipelineCreateInfo { p_next: desc.next, ..Default::default() }
        .flags(desc.flags)
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .tessellation_state(&tessellation)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .dynamic_state(&dynamic)
        .color_blend_state(&blend)
        .layout(desc.layout)
        .render_pass(desc.pass.0)
        .subpass(desc.pass.1);
    let formats = vec![desc.format; desc.masks.len()];
    let has = |aspect| match desc.depth {
        Depth::Unused | Depth::LessUnattached => false,
        Depth::Less | Depth::Always | Depth::Kept => true,
        Depth::LessAlone => aspect == vk::ImageAspectFlags::DEPTH,
        Depth::OfSample(_, aspects) => aspects.contains(aspect),
    };
    let whole = if desc.depth == Depth::LessAlone { PACKED } else { vk::Format::D32_SFLOAT_S8_UINT };
    let format = |aspect| if has(aspect) { whole } else { vk::Format::UNDEFINED };
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .view_mask(desc.view_mask)
        .color_attachment_formats(&formats)
        .depth_attachment_format(format(vk::ImageAspectFlags::DEPTH))
        .stencil_attachment_format(format(vk::ImageAspectFlags::STENCIL));
    let without_pass = desc.pass.0 == vk::RenderPass::null();
    let info = if without_pass { info.push_next(&mut rendering) } else { info };
    let mut moved = vk::RenderingAttachmentLocationInfoKHR::default();
    let info = match desc.locations {
        Some(locations) => {
            moved = moved.color_attachment_locations(locations);
            info.push_next(&mut moved)
        }
        None => info,
    };
    let mut indices = vk::RenderingInputAttachmentIndexInfoKHR::default();
    let info = match &desc.inputs {
        Some((colors, [depth, stencil])) => {
            indices = indices.color_attachment_input_indices(colors);
            (indices.p_depth_input_attachment_index, indices.p_stencil_input_attachment_index) = (depth, stencil);
            info.push_next(&mut indices)
        }
        None => info,
    };
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok(made.map_err(|(_, code)| code)?[0])
}

/// Returns the pixels of a square.
pub(in crate::cases) fn square(side: u32) -> vk::Rect2D {
    vk::Rect2D { extent: vk::Extent2D { width: side, height: side }, ..Default::default() }
}

/// Returns the pixels of the default target.
pub(in crate::cases) fn whole() -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: SIZE, height: SIZE } }
}

fn dual_blend() -> vk::PipelineColorBlendAttachmentState {
    vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::SRC1_COLOR,
        src_alpha_blend_factor: vk::BlendFactor::ONE,
        dst_alpha_blend_factor: vk::BlendFactor::SRC1_ALPHA,
        ..Default::default()
    }
}
