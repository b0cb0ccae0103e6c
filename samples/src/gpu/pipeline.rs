//! Descriptor layouts and sets, pipeline layouts, graphics and compute pipelines.
//!
//! Viewport and scissor are always dynamic. Source: Vulkan 1.0 chapters 9, 13 and 14.

use super::{Buffer, Gpu, Owned, Pass};
use crate::error::{Error, Named, Result};
use ash::vk;
use vk::ShaderStageFlags as Stages;

/// One binding of a set: number, kind and stages.
pub type Binding = (u32, vk::DescriptorType, Stages);

/// A pipeline layout with its set layouts.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The Vulkan handle.
    pub handle: vk::PipelineLayout,
    /// Stages that see the push constants.
    pub push_stages: Stages,
    sets: Vec<(vk::DescriptorSetLayout, Vec<Binding>)>,
}

/// A descriptor set.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The Vulkan handle.
    pub handle: vk::DescriptorSet,
}

/// Resource of a binding.
#[derive(Clone, Copy)]
pub enum Bind<'a> {
    /// A whole buffer, as whatever buffer kind the binding has; for dynamic kinds, the range of
    /// one element.
    Buffer(&'a Buffer, Option<u64>),
    /// An image to sample, in the shader-read layout.
    Texture(vk::ImageView, vk::Sampler),
    /// A depth image to sample, in the depth-read layout.
    DepthTexture(vk::ImageView, vk::Sampler),
    /// A storage image, in the general layout.
    Storage(vk::ImageView),
    /// An input attachment, in the shader-read layout.
    Input(vk::ImageView),
}

/// A graphics or compute pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// The Vulkan handle.
    pub handle: vk::Pipeline,
    /// Graphics or compute.
    pub point: vk::PipelineBindPoint,
}

/// One vertex buffer binding: stride, rate, and its attributes as (location, format, offset).
#[derive(Clone, Debug)]
pub struct VertexInput {
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Per vertex or per instance.
    pub rate: vk::VertexInputRate,
    /// (location, format, byte offset).
    pub attributes: Vec<(u32, vk::Format, u32)>,
}

/// How a colour attachment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blend {
    /// Replaces.
    Off,
    /// Source alpha over destination.
    Alpha,
    /// Adds, source weighted by its alpha.
    Add,
    /// Nothing is written.
    Masked,
}

impl Blend {
    fn state(self) -> vk::PipelineColorBlendAttachmentState {
        use vk::BlendFactor as F;
        let target = if self == Blend::Alpha { F::ONE_MINUS_SRC_ALPHA } else { F::ONE };
        let mask = if self == Blend::Masked { vk::ColorComponentFlags::empty() } else { vk::ColorComponentFlags::RGBA };
        vk::PipelineColorBlendAttachmentState {
            blend_enable: vk::Bool32::from(matches!(self, Blend::Alpha | Blend::Add)),
            src_color_blend_factor: F::SRC_ALPHA,
            dst_color_blend_factor: target,
            color_blend_op: vk::BlendOp::ADD,
            src_alpha_blend_factor: F::ONE,
            dst_alpha_blend_factor: target,
            alpha_blend_op: vk::BlendOp::ADD,
            color_write_mask: mask,
        }
    }
}

/// The stages of patches.
#[derive(Clone, Copy)]
pub struct Patches<'a> {
    /// SPIR-V of the control shader.
    pub control: &'a [u8],
    /// SPIR-V of the evaluation shader.
    pub evaluation: &'a [u8],
    /// Vertices of a patch.
    pub points: u32,
}

/// Everything a graphics pipeline is made of; start from [`GraphicsDesc::new`].
#[derive(Clone)]
pub struct GraphicsDesc<'a> {
    /// SPIR-V of the vertex shader.
    pub vert: &'a [u8],
    /// Tessellation of patches, if any: the device must have `tessellationShader`.
    pub patches: Option<Patches<'a>>,
    /// SPIR-V of the geometry shader, if any: the device must have `geometryShader`.
    pub geom: Option<&'a [u8]>,
    /// SPIR-V of the fragment shader, if any.
    pub frag: Option<&'a [u8]>,
    /// The layout.
    pub layout: &'a Layout,
    /// The pass and the subpass in it.
    pub pass: (&'a Pass, u32),
    /// Vertex buffers by binding.
    pub inputs: Vec<VertexInput>,
    /// The primitives that the vertices form.
    pub topology: vk::PrimitiveTopology,
    /// Culled faces. Front faces are counter-clockwise.
    pub cull: vk::CullModeFlags,
    /// Depth: test and write.
    pub depth: (bool, bool),
    /// Depth comparison.
    pub depth_compare: vk::CompareOp,
    /// Depth bias: constant and slope.
    pub bias: Option<(f32, f32)>,
    /// Stencil of both faces; the reference is dynamic.
    pub stencil: Option<vk::StencilOpState>,
    /// Blending by colour attachment.
    pub blends: Vec<Blend>,
    /// Samples per pixel.
    pub samples: vk::SampleCountFlags,
}

impl<'a> GraphicsDesc<'a> {
    /// Describes triangles without vertex buffers, culling, depth or blending, to one colour
    /// attachment.
    pub fn new(vert: &'a [u8], frag: &'a [u8], layout: &'a Layout, pass: &'a Pass) -> GraphicsDesc<'a> {
        GraphicsDesc {
            vert,
            patches: None,
            geom: None,
            frag: Some(frag),
            layout,
            pass: (pass, 0),
            inputs: Vec::new(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            cull: vk::CullModeFlags::NONE,
            depth: (false, false),
            depth_compare: vk::CompareOp::LESS,
            bias: None,
            stencil: None,
            blends: vec![Blend::Off],
            samples: vk::SampleCountFlags::TYPE_1,
        }
    }

    fn rasterization(&self) -> vk::PipelineRasterizationStateCreateInfo<'static> {
        let (constant, slope) = self.bias.unwrap_or_default();
        vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(vk::PolygonMode::FILL)
            .cull_mode(self.cull)
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .depth_bias_enable(self.bias.is_some())
            .depth_bias_constant_factor(constant)
            .depth_bias_slope_factor(slope)
            .line_width(1.0)
    }

    fn depth_stencil(&self) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
        let stencil = self.stencil.unwrap_or_default();
        vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(self.depth.0)
            .depth_write_enable(self.depth.1)
            .depth_compare_op(self.depth_compare)
            .stencil_test_enable(self.stencil.is_some())
            .front(stencil)
            .back(stencil)
            .max_depth_bounds(1.0)
    }

    fn dynamic_states(&self) -> Vec<vk::DynamicState> {
        let reference = self.stencil.map(|_| vk::DynamicState::STENCIL_REFERENCE);
        [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR].into_iter().chain(reference).collect()
    }
}

/// Description of a compute pipeline.
pub struct ComputeDesc<'a> {
    /// SPIR-V of the shader.
    pub shader: &'a [u8],
    /// The layout.
    pub layout: &'a Layout,
    /// 32-bit specialization constants, numbered from 0.
    pub constants: &'a [u32],
}

type VertexState = (Vec<vk::VertexInputBindingDescription>, Vec<vk::VertexInputAttributeDescription>);

fn vertex_state(inputs: &[VertexInput]) -> VertexState {
    let mut state = VertexState::default();
    for (binding, input) in (0..).zip(inputs) {
        state.0.push(vk::VertexInputBindingDescription { binding, stride: input.stride, input_rate: input.rate });
        state.1.extend(input.attributes.iter().map(|&(location, format, offset)| {
            vk::VertexInputAttributeDescription { location, binding, format, offset }
        }));
    }
    state
}

impl Gpu {
    /// Creates a pipeline layout from the bindings of each set, and the push constants' stages and
    /// size.
    pub fn layout(&self, sets: &[&[Binding]], push: Option<(Stages, u32)>) -> Result<Layout> {
        let sets = sets.iter().map(|set| Ok((self.set_layout(set)?, set.to_vec()))).collect::<Result<Vec<_>>>()?;
        let handles: Vec<_> = sets.iter().map(|s| s.0).collect();
        let ranges: Vec<_> =
            push.iter().map(|&(stage_flags, size)| vk::PushConstantRange { stage_flags, offset: 0, size }).collect();
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles).push_constant_ranges(&ranges);
        // SAFETY: the set layouts are live, the arrays outlive the call.
        let handle = unsafe { self.device.create_pipeline_layout(&info, None) }.named("vkCreatePipelineLayout")?;
        self.own(Owned::Layout(handle));
        Ok(Layout { handle, push_stages: push.map(|p| p.0).unwrap_or_default(), sets })
    }

    fn set_layout(&self, bindings: &[Binding]) -> Result<vk::DescriptorSetLayout> {
        let bindings: Vec<_> = bindings
            .iter()
            .map(|&(binding, kind, stages)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kind)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the array outlives the call.
        let handle =
            unsafe { self.device.create_descriptor_set_layout(&info, None) }.named("vkCreateDescriptorSetLayout")?;
        self.own(Owned::SetLayout(handle));
        Ok(handle)
    }

    /// Allocates set number `index` of a layout and fills its bindings in order.
    pub fn set(&self, layout: &Layout, index: usize, binds: &[Bind<'_>]) -> Result<Set> {
        let (set_layout, bindings) = &layout.sets[index];
        let sizes: Vec<_> = bindings.iter().map(|b| vk::DescriptorPoolSize { ty: b.1, descriptor_count: 1 }).collect();
        let pool_info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let layouts = [*set_layout];
        // SAFETY: the pool has room for exactly this set; the arrays outlive the calls.
        let handle = unsafe {
            let pool = self.device.create_descriptor_pool(&pool_info, None).named("vkCreateDescriptorPool")?;
            self.own(Owned::DescriptorPool(pool));
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            self.device.allocate_descriptor_sets(&info).named("vkAllocateDescriptorSets")?[0]
        };
        bindings.iter().zip(binds).for_each(|(binding, bind)| self.write_binding(handle, binding, bind));
        Ok(Set { handle })
    }

    fn write_binding(&self, set: vk::DescriptorSet, &(binding, kind, _): &Binding, bind: &Bind<'_>) {
        use vk::ImageLayout as L;
        let none = vk::Sampler::null();
        let image = |sampler, image_view, image_layout| vk::DescriptorImageInfo { sampler, image_view, image_layout };
        let (mut images, mut buffers) = (Vec::new(), Vec::new());
        match *bind {
            Bind::Buffer(b, range) => {
                let range = range.unwrap_or(vk::WHOLE_SIZE);
                buffers.push(vk::DescriptorBufferInfo { buffer: b.handle, offset: 0, range });
            }
            Bind::Texture(view, sampler) => images.push(image(sampler, view, L::SHADER_READ_ONLY_OPTIMAL)),
            Bind::DepthTexture(view, sampler) => images.push(image(sampler, view, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL)),
            Bind::Storage(view) => images.push(image(none, view, L::GENERAL)),
            Bind::Input(view) => images.push(image(none, view, L::SHADER_READ_ONLY_OPTIMAL)),
        }
        let mut write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind);
        write = if images.is_empty() { write.buffer_info(&buffers) } else { write.image_info(&images) };
        // SAFETY: the set is live and not in use; the infos outlive the call.
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Calls `make` with a temporary shader module. Pipelines do not need it after their creation.
    fn with_shader<T>(&self, code: &[u8], make: impl FnOnce(vk::ShaderModule) -> Result<T>) -> Result<T> {
        let words = ash::util::read_spv(&mut std::io::Cursor::new(code))
            .map_err(|e| Error::Model(format!("a shader of the scene is not SPIR-V: {e}")))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are SPIR-V from glslang, committed beside their source.
        let module = unsafe { self.device.create_shader_module(&info, None) }.named("vkCreateShaderModule")?;
        let made = make(module);
        // SAFETY: the module is live and no pipeline is being created from it any more.
        unsafe { self.device.destroy_shader_module(module, None) };
        made
    }

    /// Creates a graphics pipeline.
    pub fn graphics(&self, desc: &GraphicsDesc<'_>) -> Result<Pipeline> {
        let all = [
            (Stages::VERTEX, Some(desc.vert)),
            (Stages::TESSELLATION_CONTROL, desc.patches.map(|patches| patches.control)),
            (Stages::TESSELLATION_EVALUATION, desc.patches.map(|patches| patches.evaluation)),
            (Stages::GEOMETRY, desc.geom),
            (Stages::FRAGMENT, desc.frag),
        ];
        let shaders: Vec<_> = all.into_iter().filter_map(|(kind, code)| Some((kind, code?))).collect();
        self.graphics_of(desc, &shaders, &[])
    }

    /// Creates a graphics pipeline from existing shader modules and from SPIR-V that is not a
    /// module yet.
    fn graphics_of(
        &self,
        desc: &GraphicsDesc<'_>,
        shaders: &[(Stages, &[u8])],
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    ) -> Result<Pipeline> {
        let Some((&(kind, code), rest)) = shaders.split_first() else { return self.link(desc, stages) };
        self.with_shader(code, |module| self.graphics_of(desc, rest, &[stages, &[stage(kind, module)]].concat()))
    }

    fn link(&self, desc: &GraphicsDesc<'_>, stages: &[vk::PipelineShaderStageCreateInfo<'_>]) -> Result<Pipeline> {
        let (bindings, attributes) = vertex_state(&desc.inputs);
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(desc.topology);
        let points = desc.patches.map(|patches| patches.points);
        let tessellation =
            vk::PipelineTessellationStateCreateInfo::default().patch_control_points(points.unwrap_or_default());
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let rasterization = desc.rasterization();
        let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(desc.samples);
        let depth_stencil = desc.depth_stencil();
        let blends: Vec<_> = desc.blends.iter().map(|b| b.state()).collect();
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic_states = desc.dynamic_states();
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth_stencil)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(desc.layout.handle)
            .render_pass(desc.pass.0.handle)
            .subpass(desc.pass.1);
        if points.is_some() {
            info = info.tessellation_state(&tessellation);
        }
        // SAFETY: every state above lives until the call ends; modules, layout and pass are live.
        let made = unsafe { self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        self.adopt(made, vk::PipelineBindPoint::GRAPHICS, "vkCreateGraphicsPipelines")
    }

    /// Creates a compute pipeline.
    pub fn compute(&self, desc: &ComputeDesc<'_>) -> Result<Pipeline> {
        let entries: Vec<_> = (0..desc.constants.len() as u32)
            .map(|i| vk::SpecializationMapEntry { constant_id: i, offset: i * 4, size: 4 })
            .collect();
        let special =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(desc.constants));
        self.with_shader(desc.shader, |module| {
            let stage = stage(Stages::COMPUTE, module).specialization_info(&special);
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(desc.layout.handle);
            // SAFETY: module and layout are live, the constants outlive the call.
            let made = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
            self.adopt(made, vk::PipelineBindPoint::COMPUTE, "vkCreateComputePipelines")
        })
    }

    fn adopt(
        &self,
        made: std::result::Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
        point: vk::PipelineBindPoint,
        what: &'static str,
    ) -> Result<Pipeline> {
        let handle = made.map_err(|(_, result)| result).named(what)?[0];
        self.own(Owned::Pipeline(handle));
        Ok(Pipeline { handle, point })
    }
}

fn stage(stage: Stages, module: vk::ShaderModule) -> vk::PipelineShaderStageCreateInfo<'static> {
    vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
}
