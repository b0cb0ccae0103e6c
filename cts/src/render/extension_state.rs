//! Extension state of pipelines, and commands that set it.

use ash::vk;
use vitric_vulkan::sys;

use crate::harness::Gpu;

/// Dynamic state of the range to which depths are clamped.
const CLAMP_RANGE: vk::DynamicState = vk::DynamicState::from_raw(sys::DynamicState::DEPTH_CLAMP_RANGE_EXT.as_raw());

/// State of extensions. The default enables none.
#[derive(Clone, Copy, Default)]
#[expect(missing_docs, reason = "the fields are Vulkan's state")]
pub struct ExtensionState {
    pub conservative: Option<vk::ConservativeRasterizationModeEXT>,
    pub lines: Option<Lines>,
    pub provoking_last: bool,
    pub depth_clip: Option<bool>,
    pub negative_one_to_one: bool,
    /// Range to which depths are clamped, instead of the viewport's.
    pub clamp_range: Option<[f32; 2]>,
    pub bias_unit: Option<vk::DepthBiasRepresentationEXT>,
    /// Vertices advance by instance, with this divisor.
    pub divisor: Option<u32>,
    /// Places of positions and colours in vertex buffers, instead of those of the vertex shader.
    pub layout: Option<VertexLayout>,
    /// Attributes and indices that lie partly outside of their buffers are read as zeros.
    pub exact: bool,
    /// Enables or disables colour writes by `VK_EXT_color_write_enable`.
    pub color_write: Option<bool>,
    /// Parameters of advanced blend operations.
    pub advanced: Option<vk::ColorBlendAdvancedEXT>,
    /// Tessellation shaders.
    pub patches: Option<Patches>,
    /// A geometry shader.
    pub geometry: Option<&'static [u8]>,
    /// Task and mesh shader, which replace the vertex shader.
    pub mesh: Option<(Option<&'static [u8]>, &'static [u8])>,
    /// The vertex stream that is rasterized.
    pub stream: u32,
    pub locations: Option<Locations>,
    /// Width and height of fragments in pixels.
    pub fragment_size: Option<[u32; 2]>,
}

/// Places of positions and colours in a vertex buffer, in bytes.
#[derive(Clone, Copy)]
pub struct VertexLayout {
    /// Offset of the binding.
    pub start: u64,
    /// Distance of vertices.
    pub stride: u32,
    /// Format and offset of the position.
    pub position: (vk::Format, u32),
    /// Format and offset of the colour.
    pub color: (vk::Format, u32),
}

/// Tessellation shaders and their state.
#[derive(Clone, Copy)]
pub struct Patches {
    /// The control shader.
    pub control: &'static [u8],
    /// The evaluation shader.
    pub evaluation: &'static [u8],
    /// Vertices of a patch.
    pub vertices: u32,
    /// The domain origin is in the lower left corner.
    pub lower_left: bool,
}

impl Patches {
    /// Returns the domain origin.
    pub fn origin(&self) -> vk::TessellationDomainOrigin {
        match self.lower_left {
            true => vk::TessellationDomainOrigin::LOWER_LEFT,
            false => vk::TessellationDomainOrigin::UPPER_LEFT,
        }
    }
}

/// Sample locations, in pixels.
#[derive(Clone, Copy)]
pub struct Locations {
    places: [[f32; 2]; 16],
    samples: usize,
}

impl Locations {
    /// Returns the locations of up to 16 samples.
    pub fn new(places: impl Iterator<Item = [f32; 2]>) -> Self {
        let mut locations = Self { places: [[0.0; 2]; 16], samples: 0 };
        for (slot, place) in locations.places.iter_mut().zip(places) {
            *slot = place;
            locations.samples += 1;
        }
        locations
    }

    /// Returns the locations mirrored in both directions.
    pub fn mirrored(self) -> Self {
        Self { places: self.places.map(|place| place.map(|pixels| 0.9375 - pixels)), ..self }
    }

    pub(crate) fn list(&self) -> Vec<vk::SampleLocationEXT> {
        self.places[..self.samples].iter().map(|&[x, y]| vk::SampleLocationEXT { x, y }).collect()
    }

    pub(crate) fn info(list: &[vk::SampleLocationEXT]) -> vk::SampleLocationsInfoEXT<'_> {
        vk::SampleLocationsInfoEXT::default()
            .sample_locations_per_pixel(vk::SampleCountFlags::from_raw(list.len() as u32))
            .sample_location_grid_size(vk::Extent2D { width: 1, height: 1 })
            .sample_locations(list)
    }

    /// Sets the locations.
    ///
    /// # Safety
    /// The command buffer is recording, and the extension is enabled.
    pub unsafe fn set(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let extension = ash::ext::sample_locations::Device::new(&gpu.instance, &gpu.device);
        let list = self.list();
        // SAFETY: as this function demands.
        unsafe { extension.cmd_set_sample_locations(commands, &Self::info(&list)) };
    }
}

/// Line rasterization state.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the fields are Vulkan's state")]
pub struct Lines {
    pub mode: vk::LineRasterizationModeKHR,
    /// Factor and pattern.
    pub stipple: Option<(u32, u16)>,
}

impl ExtensionState {
    /// Returns the structure of the fragment size, if a case sets one.
    pub fn rate(&self) -> Option<vk::PipelineFragmentShadingRateStateCreateInfoKHR<'static>> {
        let [width, height] = self.fragment_size?;
        let info = vk::PipelineFragmentShadingRateStateCreateInfoKHR::default();
        Some(info.fragment_size(vk::Extent2D { width, height }))
    }

    /// Returns dynamic states beside those of Vulkan 1.0.
    pub fn dynamic_states(&self) -> impl Iterator<Item = vk::DynamicState> {
        let stipple = self.lines.map(|_| vk::DynamicState::LINE_STIPPLE_KHR);
        stipple.into_iter().chain(self.locations.map(|_| vk::DynamicState::SAMPLE_LOCATIONS_EXT))
    }

    /// Returns optional dynamic states of `VK_EXT_extended_dynamic_state3`.
    pub fn dynamic3_states(&self) -> impl Iterator<Item = vk::DynamicState> {
        let mode = self.lines.map(|_| vk::DynamicState::LINE_RASTERIZATION_MODE_EXT);
        let locations = self
            .locations
            .map(|_| [vk::DynamicState::SAMPLE_LOCATIONS_EXT, vk::DynamicState::SAMPLE_LOCATIONS_ENABLE_EXT]);
        let origin = self.patches.map(|_| vk::DynamicState::TESSELLATION_DOMAIN_ORIGIN_EXT);
        let stream = (self.stream != 0).then_some(vk::DynamicState::RASTERIZATION_STREAM_EXT);
        let advanced = self.advanced.map(|_| vk::DynamicState::COLOR_BLEND_ADVANCED_EXT);
        let range = self.clamp_range.map(|_| CLAMP_RANGE);
        let mode = mode.into_iter().chain(range);
        mode.into_iter().chain(locations.into_iter().flatten()).chain(origin).chain(stream).chain(advanced)
    }

    /// Sets the state of `dynamic_states`, and depth bias with its representation.
    ///
    /// # Safety
    /// The command buffer is recording.
    pub unsafe fn set(&self, gpu: &Gpu, commands: vk::CommandBuffer, bias: [f32; 3]) {
        // SAFETY: as this function demands; the extensions are enabled.
        unsafe {
            if let Some(locations) = &self.locations {
                locations.set(gpu, commands);
            }
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
