//! Features and properties of formats, images and samplers beyond Vulkan's core versions.

use ash::vk;

use super::Structures;
use crate::physical;

pub(super) fn features(to: &mut impl Structures) {
    to.put(vk::PhysicalDevice4444FormatsFeaturesEXT::default().format_a4r4g4b4(true).format_a4b4g4r4(true));
    to.put(
        vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT::default()
            .border_color_swizzle(true)
            .border_color_swizzle_from_image(true),
    );
    to.put(
        vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default()
            .custom_border_colors(true)
            .custom_border_color_without_format(true),
    );
    to.put(
        vk::PhysicalDeviceImage2DViewOf3DFeaturesEXT::default().image2_d_view_of3_d(true).sampler2_d_view_of3_d(true),
    );
    to.put(vk::PhysicalDeviceImageSlicedViewOf3DFeaturesEXT::default().image_sliced_view_of3_d(true));
    to.put(vk::PhysicalDeviceImageViewMinLodFeaturesEXT::default().min_lod(true));
    // Images are compacted without loss while they are idle. No image has a fixed rate.
    to.put(vk::PhysicalDeviceImageCompressionControlFeaturesEXT::default().image_compression_control(true));
    to.put(
        vk::PhysicalDeviceImageCompressionControlSwapchainFeaturesEXT::default()
            .image_compression_control_swapchain(true),
    );
    to.put(vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT::default().non_seamless_cube_map(true));
    to.put(vk::PhysicalDeviceRGBA10X6FormatsFeaturesEXT::default().format_rgba10x6_without_y_cb_cr_sampler(true));
    // Shared exponents are not a decode mode.
    to.put(vk::PhysicalDeviceASTCDecodeFeaturesEXT::default());
    to.put(astc_hdr());
    to.put(vk::PhysicalDeviceYcbcrImageArraysFeaturesEXT::default().ycbcr_image_arrays(true));
    to.put(vk::PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT::default().ycbcr2plane444_formats(true));
}

pub(super) fn astc_hdr() -> vk::PhysicalDeviceTextureCompressionASTCHDRFeatures<'static> {
    vk::PhysicalDeviceTextureCompressionASTCHDRFeatures::default().texture_compression_astc_hdr(true)
}

pub(super) fn properties(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default()
            .max_custom_border_color_samplers(physical::MAX_SAMPLERS),
    );
    to.put(filter_minmax());
}

/// Returns the properties of filter reduction. Every filterable format supports it.
pub(super) fn filter_minmax() -> vk::PhysicalDeviceSamplerFilterMinmaxProperties<'static> {
    vk::PhysicalDeviceSamplerFilterMinmaxProperties::default()
        .filter_minmax_single_component_formats(true)
        .filter_minmax_image_component_mapping(true)
}
