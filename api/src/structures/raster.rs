//! Features and properties of vertices, primitives and their rasterization beyond those of Vulkan's versions.

use ash::vk;
use vitric_backend::raster::SUBPIXEL_BITS;

use super::Structures;

pub(super) fn features(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceDepthBiasControlFeaturesEXT::default()
            .depth_bias_control(true)
            .least_representable_value_force_unorm_representation(true)
            .float_representation(true)
            .depth_bias_exact(true),
    );
    to.put(vk::PhysicalDeviceDepthClipControlFeaturesEXT::default().depth_clip_control(true));
    to.put(vk::PhysicalDeviceDepthClipEnableFeaturesEXT::default().depth_clip_enable(true));
    // There are no patches.
    to.put(vk::PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT::default().primitive_topology_list_restart(true));
    // There is no transform feedback.
    to.put(vk::PhysicalDeviceProvokingVertexFeaturesEXT::default().provoking_vertex_last(true));
    to.put(vk::PhysicalDeviceIndexTypeUint8FeaturesKHR::default().index_type_uint8(true));
    to.put(
        vk::PhysicalDeviceVertexAttributeDivisorFeaturesKHR::default()
            .vertex_attribute_instance_rate_divisor(true)
            .vertex_attribute_instance_rate_zero_divisor(true),
    );
    to.put(
        vk::PhysicalDeviceLineRasterizationFeaturesKHR::default()
            .rectangular_lines(true)
            .bresenham_lines(true)
            .smooth_lines(true)
            .stippled_rectangular_lines(true)
            .stippled_bresenham_lines(true)
            .stippled_smooth_lines(true),
    );
}

pub(super) fn properties(to: &mut impl Structures) {
    // Exact, with nothing added to polygons. Lines and points are covered by samples.
    to.put(vk::PhysicalDeviceConservativeRasterizationPropertiesEXT::default().primitive_underestimation(true));
    to.put(vk::PhysicalDeviceLineRasterizationPropertiesKHR::default().line_sub_pixel_precision_bits(SUBPIXEL_BITS));
    to.put(vk::PhysicalDeviceProvokingVertexPropertiesEXT::default().provoking_vertex_mode_per_pipeline(true));
    to.put(vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default().max_vertex_attrib_divisor(u32::MAX));
    to.put(
        vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR::default()
            .max_vertex_attrib_divisor(u32::MAX)
            .supports_non_zero_first_instance(true),
    );
}
