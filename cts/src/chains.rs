//! Structures of extensions in the chains of pipelines, as far as their state asks for them.

use ash::vk;

use crate::render::{Lines, State};

/// State of extensions; the default asks for nothing.
#[derive(Clone, Copy, Default)]
#[expect(missing_docs, reason = "the fields are Vulkan's state")]
pub struct More {
    pub conservative: Option<vk::ConservativeRasterizationModeEXT>,
    pub lines: Option<Lines>,
    pub provoking_last: bool,
    pub depth_clip: Option<bool>,
    pub negative_one_to_one: bool,
    pub bias_unit: Option<vk::DepthBiasRepresentationEXT>,
    /// Vertices are taken by instances, each for so many.
    pub divisor: Option<u32>,
    /// What does not lie in vertex and index buffers as a whole is read as zeros.
    pub exact: bool,
    /// Where lines and others have what is not in their structures: whether colour is written.
    pub color_write: Option<bool>,
    /// A geometry shader.
    pub geometry: Option<&'static [u8]>,
}

/// The structures.
#[derive(Default)]
pub struct Chains {
    conservative: vk::PipelineRasterizationConservativeStateCreateInfoEXT<'static>,
    lines: vk::PipelineRasterizationLineStateCreateInfoKHR<'static>,
    provoking: vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'static>,
    depth_clip: vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'static>,
    bias: vk::DepthBiasRepresentationInfoEXT<'static>,
}

impl Chains {
    /// The rasterization state with what follows it.
    pub fn raster(&mut self, state: &State) -> vk::PipelineRasterizationStateCreateInfo<'_> {
        let (mut raster, more) = (state.raster, &state.more);
        if let Some(mode) = more.conservative {
            self.conservative = self.conservative.conservative_rasterization_mode(mode);
            raster = raster.push_next(&mut self.conservative);
        }
        if let Some(Lines { mode, stipple }) = more.lines {
            let (factor, pattern) = stipple.unwrap_or_default();
            self.lines = self.lines.line_rasterization_mode(mode).stippled_line_enable(stipple.is_some());
            self.lines = self.lines.line_stipple_factor(factor).line_stipple_pattern(pattern);
            raster = raster.push_next(&mut self.lines);
        }
        if more.provoking_last {
            self.provoking = self.provoking.provoking_vertex_mode(vk::ProvokingVertexModeEXT::LAST_VERTEX);
            raster = raster.push_next(&mut self.provoking);
        }
        if let Some(clips) = more.depth_clip {
            self.depth_clip = self.depth_clip.depth_clip_enable(clips);
            raster = raster.push_next(&mut self.depth_clip);
        }
        if let Some(unit) = more.bias_unit {
            self.bias = self.bias.depth_bias_representation(unit).depth_bias_exact(true);
            raster = raster.push_next(&mut self.bias);
        }
        raster
    }
}

impl More {
    /// Dynamic state besides that of 1.0.
    pub fn dynamic(&self) -> Option<vk::DynamicState> {
        self.lines.map(|_| vk::DynamicState::LINE_STIPPLE_KHR)
    }

    /// Sets it, and depth bias with its unit.
    ///
    /// # Safety
    /// The command buffer is recording.
    pub unsafe fn set(&self, gpu: &crate::harness::Gpu, commands: vk::CommandBuffer, bias: [f32; 3]) {
        // SAFETY: as this function demands; the extensions are enabled.
        unsafe {
            if let Some(Lines { stipple: Some((factor, pattern)), .. }) = self.lines {
                let lines = ash::khr::line_rasterization::Device::new(&gpu.instance, &gpu.device);
                lines.cmd_set_line_stipple(commands, factor, pattern);
            }
            if let Some(unit) = self.bias_unit {
                let mut unit = vk::DepthBiasRepresentationInfoEXT::default().depth_bias_representation(unit);
                let info = vk::DepthBiasInfoEXT::default().push_next(&mut unit);
                let info =
                    info.depth_bias_constant_factor(bias[0]).depth_bias_clamp(bias[1]).depth_bias_slope_factor(bias[2]);
                let name = c"vkCmdSetDepthBias2EXT";
                if let Some(found) = gpu.instance.get_device_proc_addr(gpu.device.handle(), name.as_ptr()) {
                    let set: vk::PFN_vkCmdSetDepthBias2EXT = std::mem::transmute(found);
                    set(commands, &raw const info);
                }
            }
        }
    }
}
