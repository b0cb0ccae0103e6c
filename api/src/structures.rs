//! The one table of structures by which features and properties beyond Vulkan 1.0 are asked about, and features enabled.
//!
//! The tables hand over values; who asks decides what becomes of them: the C face writes those that an application has in its
//! chain, or compares them with what it wants. Source: Vulkan specification, "Features" and "Limits".

use std::fmt::Debug;

use ash::vk::{self, TaggedStructure};
use vitric_backend::raster::SUBPIXEL_BITS;

/// Takes the structures of a table, one after the other.
pub trait Structures {
    /// Takes one: its flags and values are those of the device, and it is in no chain.
    fn put<T: TaggedStructure + Debug>(&mut self, value: T);
}

/// The first flag that is set in a structure of features and not in the one that says what is supported.
pub fn missing<T: Debug>(wanted: &T, supported: &T) -> Option<String> {
    // `Debug` prints every field with its name in order, so that no list of fields has to be kept.
    let (wanted, supported) = (format!("{wanted:?}"), format!("{supported:?}"));
    let mut pairs = wanted.split(", ").zip(supported.split(", "));
    let (wanted, _) = pairs.find(|(wanted, supported)| is_set(wanted) && !is_set(supported))?;
    let (name, _) = wanted.split_once(": ")?;
    Some(name.rsplit(' ').next().unwrap_or_default().to_owned())
}

/// Whether a printed field is a flag that is set.
fn is_set(field: &str) -> bool {
    field.split_once(": ").is_some_and(|(_, value)| value.trim_end_matches([' ', '}']) == "1")
}

/// The structures of features: nothing but flags, set where the device has the feature.
pub fn features(to: &mut impl Structures) {
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

/// The structures of properties.
pub fn properties(to: &mut impl Structures) {
    to.put(vk::PhysicalDeviceProvokingVertexPropertiesEXT::default().provoking_vertex_mode_per_pipeline(true));
    to.put(vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default().max_vertex_attrib_divisor(u32::MAX));
    to.put(
        vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR::default()
            .max_vertex_attrib_divisor(u32::MAX)
            .supports_non_zero_first_instance(true),
    );
    // Exact, with nothing added to polygons. Lines and points are covered by samples.
    to.put(vk::PhysicalDeviceConservativeRasterizationPropertiesEXT::default().primitive_underestimation(true));
    to.put(vk::PhysicalDeviceLineRasterizationPropertiesKHR::default().line_sub_pixel_precision_bits(SUBPIXEL_BITS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_are_missing_are_named() {
        type F = vk::PhysicalDeviceFeatures;
        let some = F { robust_buffer_access: 1, depth_clamp: 1, inherited_queries: 1, ..F::default() };
        assert_eq!(missing(&F::default(), &F::default()), None);
        assert_eq!(missing(&some, &some), None);
        for (name, supported) in [
            ("robust_buffer_access", F { robust_buffer_access: 0, ..some }),
            ("depth_clamp", F { depth_clamp: 0, ..some }),
            ("inherited_queries", F { inherited_queries: 0, ..some }),
        ] {
            assert_eq!(missing(&some, &supported).as_deref(), Some(name));
            assert_eq!(missing(&supported, &some), None);
        }
        let wanted = vk::PhysicalDeviceMultiviewFeatures::default().multiview_tessellation_shader(true);
        let name = missing(&wanted, &vk::PhysicalDeviceMultiviewFeatures::default());
        assert_eq!(name.as_deref(), Some("multiview_tessellation_shader"));
    }
}
