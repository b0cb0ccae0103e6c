//! Structures of extensions in the chains of pipelines, where their state requires them.

use ash::vk;
use vitric_vulkan::{PipelineViewportDepthClampControlCreateInfoEXT, sys};

use super::draw::State;
use super::extension_state::{Lines, Locations};

/// Storage of the structures, which must outlive the pipeline's creation.
#[derive(Default)]
pub struct Chains {
    conservative: vk::PipelineRasterizationConservativeStateCreateInfoEXT<'static>,
    lines: vk::PipelineRasterizationLineStateCreateInfoKHR<'static>,
    provoking: vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'static>,
    stream: vk::PipelineRasterizationStateStreamCreateInfoEXT<'static>,
    depth_clip: vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'static>,
    bias: vk::DepthBiasRepresentationInfoEXT<'static>,
    locations: vk::PipelineSampleLocationsStateCreateInfoEXT<'static>,
    depth_range: vk::PipelineViewportDepthClipControlCreateInfoEXT<'static>,
    clamp: PipelineViewportDepthClampControlCreateInfoEXT,
    clamp_range: sys::DepthClampRangeEXT,
    origin: vk::PipelineTessellationDomainOriginStateCreateInfo<'static>,
    places: Vec<vk::SampleLocationEXT>,
}

impl Chains {
    /// Returns the tessellation state, if there are tessellation shaders. Without a structure the
    /// domain origin is in the upper left corner.
    pub fn tessellation(&mut self, state: &State) -> Option<vk::PipelineTessellationStateCreateInfo<'_>> {
        let patches = state.extensions.patches?;
        let info = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(patches.vertices);
        self.origin = self.origin.domain_origin(patches.origin());
        Some(if patches.lower_left { info.push_next(&mut self.origin) } else { info })
    }

    /// Returns the viewport state without viewports, with its chain.
    pub fn viewport(&mut self, state: &State) -> vk::PipelineViewportStateCreateInfo<'_> {
        let mut next = std::ptr::null();
        if let Some([min_depth_clamp, max_depth_clamp]) = state.extensions.clamp_range {
            self.clamp_range = sys::DepthClampRangeEXT { min_depth_clamp, max_depth_clamp };
            self.clamp.depth_clamp_mode = sys::DepthClampModeEXT::USER_DEFINED_RANGE;
            self.clamp.depth_clamp_range = &raw const self.clamp_range;
            next = (&raw const self.clamp).cast();
        }
        if state.extensions.negative_one_to_one {
            self.depth_range = self.depth_range.negative_one_to_one(true);
            self.depth_range.p_next = next;
            next = (&raw const self.depth_range).cast();
        }
        vk::PipelineViewportStateCreateInfo { p_next: next, ..Default::default() }
    }

    /// Returns the multisample state with its chain. Where commands enable sample locations, the
    /// pipeline does not.
    pub fn multisample<'a>(
        &'a mut self,
        state: &State,
        info: vk::PipelineMultisampleStateCreateInfo<'a>,
    ) -> vk::PipelineMultisampleStateCreateInfo<'a> {
        let Some(locations) = state.extensions.locations else { return info };
        self.places = locations.list();
        let vk::SampleLocationsInfoEXT { sample_locations_per_pixel, sample_location_grid_size, .. } =
            Locations::info(&self.places);
        self.locations.sample_locations_enable = vk::Bool32::from(!state.dynamic3);
        let own = &mut self.locations.sample_locations_info;
        (own.sample_locations_per_pixel, own.sample_location_grid_size) =
            (sample_locations_per_pixel, sample_location_grid_size);
        (own.sample_locations_count, own.p_sample_locations) = (self.places.len() as u32, self.places.as_ptr());
        info.push_next(&mut self.locations)
    }

    /// Returns the rasterization state with its chain.
    pub fn raster(&mut self, state: &State) -> vk::PipelineRasterizationStateCreateInfo<'_> {
        let (mut raster, extensions) = (state.raster, &state.extensions);
        if let Some(mode) = extensions.conservative {
            self.conservative = self.conservative.conservative_rasterization_mode(mode);
            raster = raster.push_next(&mut self.conservative);
        }
        if let Some(Lines { mode, stipple }) = extensions.lines {
            let (factor, pattern) = stipple.unwrap_or_default();
            self.lines = self.lines.line_rasterization_mode(mode).stippled_line_enable(stipple.is_some());
            self.lines = self.lines.line_stipple_factor(factor).line_stipple_pattern(pattern);
            raster = raster.push_next(&mut self.lines);
        }
        if extensions.provoking_last {
            self.provoking = self.provoking.provoking_vertex_mode(vk::ProvokingVertexModeEXT::LAST_VERTEX);
            raster = raster.push_next(&mut self.provoking);
        }
        if extensions.stream != 0 {
            self.stream = self.stream.rasterization_stream(extensions.stream);
            raster = raster.push_next(&mut self.stream);
        }
        if let Some(clips) = extensions.depth_clip {
            self.depth_clip = self.depth_clip.depth_clip_enable(clips);
            raster = raster.push_next(&mut self.depth_clip);
        }
        if let Some(unit) = extensions.bias_unit {
            self.bias = self.bias.depth_bias_representation(unit).depth_bias_exact(true);
            raster = raster.push_next(&mut self.bias);
        }
        raster
    }
}
