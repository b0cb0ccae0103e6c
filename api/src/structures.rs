//! The one table of structures by which features and properties beyond Vulkan 1.0 are asked about, and features enabled.
//!
//! The tables hand over values; who asks decides what becomes of them: the C face writes those that an application has in its
//! chain, or compares them with what it wants. Source: Vulkan specification, "Features" and "Limits".

use std::fmt::Debug;

use ash::vk::{self, TaggedStructure};
use vitric_backend::raster::SUBPIXEL_BITS;

use crate::device;
use crate::physical::{self, DEVICE_UUID, MAX_SET_DESCRIPTORS};

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
    to.put(vk::PhysicalDeviceRGBA10X6FormatsFeaturesEXT::default().format_rgba10x6_without_y_cb_cr_sampler(true));
    to.put(vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default().sampler_ycbcr_conversion(true));
    to.put(vk::PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT::default().ycbcr2plane444_formats(true));
    to.put(vk::PhysicalDeviceImageViewMinLodFeaturesEXT::default().min_lod(true));
    to.put(vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT::default().non_seamless_cube_map(true));
    to.put(vk::PhysicalDeviceTextureCompressionASTCHDRFeatures::default().texture_compression_astc_hdr(true));
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
    to.put(
        // Words of interfaces between stages are 32 bits.
        vk::PhysicalDevice16BitStorageFeatures::default()
            .storage_buffer16_bit_access(true)
            .uniform_and_storage_buffer16_bit_access(true)
            .storage_push_constant16(true),
    );
    to.put(
        vk::PhysicalDevice8BitStorageFeatures::default()
            .storage_buffer8_bit_access(true)
            .uniform_and_storage_buffer8_bit_access(true)
            .storage_push_constant8(true),
    );
    // Not for geometry and tessellation, which are not there.
    to.put(vk::PhysicalDeviceMultiviewFeatures::default().multiview(true));
    to.put(vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_float16(true).shader_int8(true));
    to.put(vk::PhysicalDeviceShaderDrawParametersFeatures::default().shader_draw_parameters(true));
    to.put(vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true));
    to.put(vk::PhysicalDeviceImageRobustnessFeatures::default().robust_image_access(true));
    to.put(vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true));
    to.put(
        vk::PhysicalDeviceShaderDemoteToHelperInvocationFeatures::default().shader_demote_to_helper_invocation(true),
    );
    to.put(vk::PhysicalDeviceShaderTerminateInvocationFeatures::default().shader_terminate_invocation(true));
    to.put(vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true));
    to.put(
        vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
            .shader_zero_initialize_workgroup_memory(true),
    );
    // Not with addresses that were captured, nor for several devices.
    to.put(vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true));
    to.put(descriptor_indexing_features());
    to.put(vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true));
    to.put(vk::PhysicalDeviceImagelessFramebufferFeatures::default().imageless_framebuffer(true));
    to.put(vk::PhysicalDevicePrivateDataFeatures::default().private_data(true));
    to.put(vk::PhysicalDeviceScalarBlockLayoutFeatures::default().scalar_block_layout(true));
    to.put(vk::PhysicalDeviceSeparateDepthStencilLayoutsFeatures::default().separate_depth_stencil_layouts(true));
    to.put(
        vk::PhysicalDeviceShaderAtomicInt64Features::default()
            .shader_buffer_int64_atomics(true)
            .shader_shared_int64_atomics(true),
    );
    to.put(vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true));
    to.put(vk::PhysicalDeviceUniformBufferStandardLayoutFeatures::default().uniform_buffer_standard_layout(true));
    to.put(
        vk::PhysicalDeviceVulkanMemoryModelFeatures::default()
            .vulkan_memory_model(true)
            .vulkan_memory_model_device_scope(true)
            .vulkan_memory_model_availability_visibility_chains(true),
    );
    to.put(
        vk::PhysicalDeviceVariablePointersFeatures::default()
            .variable_pointers(true)
            .variable_pointers_storage_buffer(true),
    );
}

/// The structures of properties.
pub fn properties(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default()
            .max_custom_border_color_samplers(physical::MAX_SAMPLERS),
    );
    to.put(
        vk::PhysicalDeviceSamplerFilterMinmaxProperties::default()
            .filter_minmax_single_component_formats(true)
            .filter_minmax_image_component_mapping(true),
    );
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
    to.put(
        vk::PhysicalDeviceDepthStencilResolveProperties::default()
            .supported_depth_resolve_modes(STENCIL_RESOLVE_MODES | vk::ResolveModeFlags::AVERAGE)
            .supported_stencil_resolve_modes(STENCIL_RESOLVE_MODES)
            .independent_resolve(true)
            .independent_resolve_none(true),
    );
    to.put(driver());
    to.put(float_controls());
    to.put(vk::PhysicalDeviceTimelineSemaphoreProperties::default().max_timeline_semaphore_value_difference(u64::MAX));
    to.put(vk::PhysicalDeviceMaintenance4Properties::default().max_buffer_size(physical::MAX_BUFFER_BYTES));
    to.put(descriptor_indexing_properties());
    to.put(vk::PhysicalDeviceIDProperties::default().device_uuid(DEVICE_UUID).driver_uuid(physical::cache_uuid()));
    to.put(
        vk::PhysicalDeviceMaintenance3Properties::default()
            .max_per_set_descriptors(MAX_SET_DESCRIPTORS)
            .max_memory_allocation_size(device::heap_size()),
    );
    to.put(
        vk::PhysicalDeviceMultiviewProperties::default()
            .max_multiview_view_count(32)
            .max_multiview_instance_index(u32::MAX),
    );
    to.put(
        vk::PhysicalDevicePointClippingProperties::default()
            .point_clipping_behavior(vk::PointClippingBehavior::ALL_CLIP_PLANES),
    );
}

const STENCIL_RESOLVE_MODES: vk::ResolveModeFlags = vk::ResolveModeFlags::from_raw(
    vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
        | vk::ResolveModeFlags::MIN.as_raw()
        | vk::ResolveModeFlags::MAX.as_raw(),
);

fn descriptor_indexing_features() -> vk::PhysicalDeviceDescriptorIndexingFeatures<'static> {
    vk::PhysicalDeviceDescriptorIndexingFeatures::default()
        .shader_input_attachment_array_dynamic_indexing(true)
        .shader_uniform_texel_buffer_array_dynamic_indexing(true)
        .shader_storage_texel_buffer_array_dynamic_indexing(true)
        .shader_uniform_buffer_array_non_uniform_indexing(true)
        .shader_sampled_image_array_non_uniform_indexing(true)
        .shader_storage_buffer_array_non_uniform_indexing(true)
        .shader_storage_image_array_non_uniform_indexing(true)
        .shader_input_attachment_array_non_uniform_indexing(true)
        .shader_uniform_texel_buffer_array_non_uniform_indexing(true)
        .shader_storage_texel_buffer_array_non_uniform_indexing(true)
        .descriptor_binding_uniform_buffer_update_after_bind(true)
        .descriptor_binding_sampled_image_update_after_bind(true)
        .descriptor_binding_storage_image_update_after_bind(true)
        .descriptor_binding_storage_buffer_update_after_bind(true)
        .descriptor_binding_uniform_texel_buffer_update_after_bind(true)
        .descriptor_binding_storage_texel_buffer_update_after_bind(true)
        .descriptor_binding_update_unused_while_pending(true)
        .descriptor_binding_partially_bound(true)
        .descriptor_binding_variable_descriptor_count(true)
        .runtime_descriptor_array(true)
}

/// What is indexed by lanes in different ways is accessed once for each way.
fn descriptor_indexing_properties() -> vk::PhysicalDeviceDescriptorIndexingProperties<'static> {
    let (most, limits) = (MAX_SET_DESCRIPTORS, physical::limits());
    vk::PhysicalDeviceDescriptorIndexingProperties::default()
        .max_update_after_bind_descriptors_in_all_pools(u32::MAX)
        .robust_buffer_access_update_after_bind(true)
        .max_per_stage_descriptor_update_after_bind_samplers(most)
        .max_per_stage_descriptor_update_after_bind_uniform_buffers(most)
        .max_per_stage_descriptor_update_after_bind_storage_buffers(most)
        .max_per_stage_descriptor_update_after_bind_sampled_images(most)
        .max_per_stage_descriptor_update_after_bind_storage_images(most)
        .max_per_stage_descriptor_update_after_bind_input_attachments(limits.max_per_stage_descriptor_input_attachments)
        .max_per_stage_update_after_bind_resources(most)
        .max_descriptor_set_update_after_bind_samplers(most)
        .max_descriptor_set_update_after_bind_uniform_buffers(most)
        .max_descriptor_set_update_after_bind_uniform_buffers_dynamic(limits.max_descriptor_set_uniform_buffers_dynamic)
        .max_descriptor_set_update_after_bind_storage_buffers(most)
        .max_descriptor_set_update_after_bind_storage_buffers_dynamic(limits.max_descriptor_set_storage_buffers_dynamic)
        .max_descriptor_set_update_after_bind_sampled_images(most)
        .max_descriptor_set_update_after_bind_storage_images(most)
        .max_descriptor_set_update_after_bind_input_attachments(limits.max_descriptor_set_input_attachments)
}

/// The driver has no number in the registry, and was not submitted for conformance.
fn driver() -> vk::PhysicalDeviceDriverProperties<'static> {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    for (target, text) in [(&mut driver.driver_name, "Vitric"), (&mut driver.driver_info, env!("CARGO_PKG_VERSION"))] {
        for (target, byte) in target.iter_mut().zip(text.bytes()) {
            *target = byte as _;
        }
    }
    driver
}

/// IEEE arithmetic as the host has it: rounded to nearest even, denormals kept, signed zeros, infinities and NaN kept.
fn float_controls() -> vk::PhysicalDeviceFloatControlsProperties<'static> {
    vk::PhysicalDeviceFloatControlsProperties::default()
        .denorm_behavior_independence(vk::ShaderFloatControlsIndependence::ALL)
        .rounding_mode_independence(vk::ShaderFloatControlsIndependence::ALL)
        .shader_signed_zero_inf_nan_preserve_float16(true)
        .shader_signed_zero_inf_nan_preserve_float32(true)
        .shader_signed_zero_inf_nan_preserve_float64(true)
        .shader_denorm_preserve_float16(true)
        .shader_denorm_preserve_float32(true)
        .shader_denorm_preserve_float64(true)
        .shader_rounding_mode_rte_float16(true)
        .shader_rounding_mode_rte_float32(true)
        .shader_rounding_mode_rte_float64(true)
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
