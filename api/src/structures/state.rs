//! Features and properties of state, descriptors and commands beyond Vulkan's core versions.

use ash::vk;
use vitric_gpu::command::MAX_NESTED;

use super::Structures;
use crate::physical::{MAX_MULTI_DRAWS, MAX_PUSH_DESCRIPTORS, cache_uuid};

pub(super) fn features(to: &mut impl Structures) {
    pipelines(to);
    to.put(vk::PhysicalDeviceDepthClampZeroOneFeaturesEXT::default().depth_clamp_zero_one(true));
    to.put(vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true));
    to.put(vk::PhysicalDeviceHostImageCopyFeaturesEXT::default().host_image_copy(true));
    to.put(vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true));
    to.put(vk::PhysicalDeviceMaintenance6FeaturesKHR::default().maintenance6(true));
    to.put(vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default().swapchain_maintenance1(true));
    to.put(vk::PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR::default().dynamic_rendering_local_read(true));
    to.put(vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true));
    to.put(vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true));
    to.put(vk::PhysicalDeviceGlobalPriorityQueryFeaturesKHR::default().global_priority_query(true));
    to.put(vk::PhysicalDeviceMemoryPriorityFeaturesEXT::default().memory_priority(true));
    to.put(vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT::default().mutable_descriptor_type(true));
    to.put(vk::PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT::default().pageable_device_local_memory(true));
    to.put(vk::PhysicalDeviceColorWriteEnableFeaturesEXT::default().color_write_enable(true));
    to.put(
        vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default()
            .conditional_rendering(true)
            .inherited_conditional_rendering(true),
    );
    to.put(extended3());
    to.put(vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true));
    to.put(
        vk::PhysicalDeviceNestedCommandBufferFeaturesEXT::default()
            .nested_command_buffer(true)
            .nested_command_buffer_rendering(true)
            .nested_command_buffer_simultaneous_use(true),
    );
    to.put(vk::PhysicalDevicePipelineRobustnessFeaturesEXT::default().pipeline_robustness(true));
    to.put(
        vk::PhysicalDeviceRobustness2FeaturesEXT::default()
            .robust_buffer_access2(true)
            .robust_image_access2(true)
            .null_descriptor(true),
    );
    to.put(vk::PhysicalDeviceVertexInputDynamicStateFeaturesEXT::default().vertex_input_dynamic_state(true));
}

/// Passes the features of pipeline creation.
fn pipelines(to: &mut impl Structures) {
    to.put(vk::PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT::default().attachment_feedback_loop_layout(true));
    to.put(
        vk::PhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT::default()
            .attachment_feedback_loop_dynamic_state(true),
    );
    to.put(
        vk::PhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT::default()
            .rasterization_order_color_attachment_access(true)
            .rasterization_order_depth_attachment_access(true)
            .rasterization_order_stencil_attachment_access(true),
    );
    // Protected memory is not supported, so the pipeline flags of this feature have no effect.
    to.put(vk::PhysicalDevicePipelineProtectedAccessFeaturesEXT::default().pipeline_protected_access(true));
    to.put(vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default().graphics_pipeline_library(true));
    to.put(vk::PhysicalDeviceShaderModuleIdentifierFeaturesEXT::default().shader_module_identifier(true));
}

/// Returns all features except the ones of vendor extensions.
fn extended3() -> vk::PhysicalDeviceExtendedDynamicState3FeaturesEXT<'static> {
    vk::PhysicalDeviceExtendedDynamicState3FeaturesEXT::default()
        .extended_dynamic_state3_tessellation_domain_origin(true)
        .extended_dynamic_state3_depth_clamp_enable(true)
        .extended_dynamic_state3_polygon_mode(true)
        .extended_dynamic_state3_rasterization_samples(true)
        .extended_dynamic_state3_sample_mask(true)
        .extended_dynamic_state3_alpha_to_coverage_enable(true)
        .extended_dynamic_state3_alpha_to_one_enable(true)
        .extended_dynamic_state3_logic_op_enable(true)
        .extended_dynamic_state3_color_blend_enable(true)
        .extended_dynamic_state3_color_blend_equation(true)
        .extended_dynamic_state3_color_write_mask(true)
        .extended_dynamic_state3_rasterization_stream(true)
        .extended_dynamic_state3_conservative_rasterization_mode(true)
        .extended_dynamic_state3_extra_primitive_overestimation_size(true)
        .extended_dynamic_state3_depth_clip_enable(true)
        .extended_dynamic_state3_provoking_vertex_mode(true)
        .extended_dynamic_state3_line_rasterization_mode(true)
        .extended_dynamic_state3_line_stipple_enable(true)
        .extended_dynamic_state3_depth_clip_negative_one_to_one(true)
        .extended_dynamic_state3_sample_locations_enable(true)
}

pub(super) fn properties(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceExtendedDynamicState3PropertiesEXT::default().dynamic_primitive_topology_unrestricted(true),
    );
    to.put(vk::PhysicalDeviceMultiDrawPropertiesEXT::default().max_multi_draw_count(MAX_MULTI_DRAWS));
    to.put(vk::PhysicalDeviceNestedCommandBufferPropertiesEXT::default().max_command_buffer_nesting_level(MAX_NESTED));
    to.put(robustness());
    // Linking combines the parts. Code is generated when the pipeline is first used to draw.
    to.put(
        vk::PhysicalDeviceGraphicsPipelineLibraryPropertiesEXT::default()
            .graphics_pipeline_library_fast_linking(true)
            .graphics_pipeline_library_independent_interpolation_decoration(true),
    );
    to.put(maintenance5());
    to.put(
        vk::PhysicalDeviceMaintenance6PropertiesKHR::default()
            .block_texel_view_compatible_multiple_layers(true)
            .fragment_shading_rate_clamp_combiner_inputs(true)
            .max_combined_image_sampler_descriptor_count(1),
    );
    // The algorithm is specific to the build.
    let uuid = cache_uuid();
    to.put(vk::PhysicalDeviceShaderModuleIdentifierPropertiesEXT {
        shader_module_identifier_algorithm_uuid: uuid,
        ..Default::default()
    });
    // Bounds are checked for each 4-byte word.
    to.put(
        vk::PhysicalDeviceRobustness2PropertiesEXT::default()
            .robust_storage_buffer_access_size_alignment(4)
            .robust_uniform_buffer_access_size_alignment(4),
    );
    to.put(vk::PhysicalDevicePushDescriptorPropertiesKHR::default().max_push_descriptors(MAX_PUSH_DESCRIPTORS));
}

/// Returns the properties of maintenance 5. Early tests count samples after the pipeline's sample
/// mask and before shaders change the coverage.
fn maintenance5() -> vk::PhysicalDeviceMaintenance5PropertiesKHR<'static> {
    vk::PhysicalDeviceMaintenance5PropertiesKHR::default()
        .early_fragment_multisample_coverage_after_sample_counting(true)
        .early_fragment_sample_mask_test_before_sample_counting(true)
        .depth_stencil_swizzle_one_support(true)
}

/// Returns the default robustness. Vertex inputs are the only accesses without the second level of
/// robustness: a partly out-of-bounds attribute is not checked as a whole.
fn robustness() -> vk::PhysicalDevicePipelineRobustnessPropertiesEXT<'static> {
    use vk::PipelineRobustnessBufferBehaviorEXT as Buffer;
    vk::PhysicalDevicePipelineRobustnessPropertiesEXT::default()
        .default_robustness_storage_buffers(Buffer::ROBUST_BUFFER_ACCESS_2)
        .default_robustness_uniform_buffers(Buffer::ROBUST_BUFFER_ACCESS_2)
        .default_robustness_vertex_inputs(Buffer::ROBUST_BUFFER_ACCESS)
        .default_robustness_images(vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS_2)
}
