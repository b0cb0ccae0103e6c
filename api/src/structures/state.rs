//! Features and properties of state, descriptors and commands beyond Vulkan's core versions.

use ash::vk;
use vitric_gpu::command::MAX_NESTED;
use vitric_memory::PLACED_ALIGNMENT;
use vitric_vulkan::{
    Newer, PhysicalDeviceDeviceAddressCommandsFeaturesKHR, PhysicalDeviceFaultFeaturesKHR,
    PhysicalDeviceFaultPropertiesKHR, PhysicalDeviceMaintenance7PropertiesKHR, PhysicalDeviceMaintenance9PropertiesKHR,
    PhysicalDeviceMaintenance11FeaturesKHR, PhysicalDeviceMultisampledRenderToSwapchainFeaturesEXT,
    PhysicalDevicePresentTimingFeaturesEXT, sys,
};

use super::Structures;
use crate::physical::{self, MAX_MULTI_DRAWS, cache_uuid};

pub(super) fn features(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT::default()
            .memory_map_placed(true)
            .memory_map_range_placed(true)
            .memory_unmap_reserve(true),
    );
    pipelines(to);
    to.put(vk::PhysicalDeviceDepthClampZeroOneFeaturesEXT::default().depth_clamp_zero_one(true));
    to.put(vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true));
    // Colours of up to 8 bits are dithered when they are encoded.
    to.put(vk::PhysicalDeviceLegacyDitheringFeaturesEXT::default().legacy_dithering(true));
    // Every queue takes submissions of several threads.
    to.put(Newer(sys::PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR {
        internally_synchronized_queues: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceMaintenance7FeaturesKHR { maintenance7: vk::TRUE, ..Default::default() }));
    to.put(Newer(sys::PhysicalDeviceMaintenance8FeaturesKHR { maintenance8: vk::TRUE, ..Default::default() }));
    to.put(Newer(sys::PhysicalDeviceMaintenance9FeaturesKHR { maintenance9: vk::TRUE, ..Default::default() }));
    to.put(Newer(sys::PhysicalDeviceMaintenance10FeaturesKHR { maintenance10: vk::TRUE, ..Default::default() }));
    to.put(PhysicalDeviceMaintenance11FeaturesKHR { maintenance11: vk::TRUE, ..Default::default() });
    to.put(PhysicalDeviceDeviceAddressCommandsFeaturesKHR { device_address_commands: vk::TRUE, ..Default::default() });
    to.put(PhysicalDeviceFaultFeaturesKHR { device_fault: vk::TRUE, ..Default::default() });
    to.put(Newer(sys::PhysicalDeviceCustomResolveFeaturesEXT { custom_resolve: vk::TRUE, ..Default::default() }));
    to.put(PhysicalDeviceMultisampledRenderToSwapchainFeaturesEXT {
        multisampled_render_to_swapchain: vk::TRUE,
        ..Default::default()
    });
    // Attributes without a description read as zeros.
    to.put(Newer(sys::PhysicalDeviceVertexAttributeRobustnessFeaturesEXT {
        vertex_attribute_robustness: vk::TRUE,
        ..Default::default()
    }));
    // The system gives zeroed pages to each allocation.
    to.put(Newer(sys::PhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT {
        zero_initialize_device_memory: vk::TRUE,
        ..Default::default()
    }));
    // Layouts have no effect on images. The layout of a feedback loop only repeats a flag of the
    // pipelines.
    to.put(Newer(sys::PhysicalDeviceUnifiedImageLayoutsFeaturesKHR {
        unified_image_layouts: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceCopyMemoryIndirectFeaturesKHR {
        indirect_memory_copy: vk::TRUE,
        indirect_memory_to_image_copy: vk::TRUE,
        ..Default::default()
    }));
    to.put(vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default().swapchain_maintenance1(true));
    to.put(vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true));
    to.put(vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true));
    to.put(Newer(sys::PhysicalDevicePresentId2FeaturesKHR { present_id2: vk::TRUE, ..Default::default() }));
    to.put(Newer(sys::PhysicalDevicePresentWait2FeaturesKHR { present_wait2: vk::TRUE, ..Default::default() }));
    to.put(present_timing());
    to.put(Newer(sys::PhysicalDevicePresentModeFifoLatestReadyFeaturesKHR {
        present_mode_fifo_latest_ready: vk::TRUE,
        ..Default::default()
    }));
    to.put(vk::PhysicalDeviceMemoryPriorityFeaturesEXT::default().memory_priority(true));
    to.put(vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT::default().mutable_descriptor_type(true));
    to.put(vk::PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT::default().pageable_device_local_memory(true));
    // Fragments of a pixel are blended in order.
    to.put(vk::PhysicalDeviceBlendOperationAdvancedFeaturesEXT::default().advanced_blend_coherent_operations(true));
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
    to.put(
        vk::PhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT::default()
            .dynamic_rendering_unused_attachments(true),
    );
    to.put(vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default().graphics_pipeline_library(true));
    to.put(vk::PhysicalDeviceShaderModuleIdentifierFeaturesEXT::default().shader_module_identifier(true));
    to.put(Newer(sys::PhysicalDevicePipelineBinaryFeaturesKHR { pipeline_binaries: vk::TRUE, ..Default::default() }));
}

fn present_timing() -> PhysicalDevicePresentTimingFeaturesEXT {
    Newer(sys::PhysicalDevicePresentTimingFeaturesEXT {
        present_timing: vk::TRUE,
        present_at_absolute_time: vk::TRUE,
        present_at_relative_time: vk::TRUE,
        ..Default::default()
    })
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
        .extended_dynamic_state3_color_blend_advanced(true)
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
    to.put(vk::PhysicalDeviceMapMemoryPlacedPropertiesEXT::default().min_placed_memory_map_alignment(PLACED_ALIGNMENT));
    to.put(
        vk::PhysicalDeviceBlendOperationAdvancedPropertiesEXT::default()
            .advanced_blend_max_color_attachments(physical::limits().max_color_attachments)
            .advanced_blend_independent_blend(true)
            .advanced_blend_non_premultiplied_src_color(true)
            .advanced_blend_non_premultiplied_dst_color(true)
            .advanced_blend_correlated_overlap(true)
            .advanced_blend_all_operations(true),
    );
    to.put(
        vk::PhysicalDeviceExtendedDynamicState3PropertiesEXT::default().dynamic_primitive_topology_unrestricted(true),
    );
    to.put(vk::PhysicalDeviceMultiDrawPropertiesEXT::default().max_multi_draw_count(MAX_MULTI_DRAWS));
    to.put(vk::PhysicalDeviceNestedCommandBufferPropertiesEXT::default().max_command_buffer_nesting_level(MAX_NESTED));
    // Linking combines the parts. Code is generated when the pipeline is first used to draw.
    to.put(
        vk::PhysicalDeviceGraphicsPipelineLibraryPropertiesEXT::default()
            .graphics_pipeline_library_fast_linking(true)
            .graphics_pipeline_library_independent_interpolation_decoration(true),
    );
    // The internal cache is in memory: live programs, and the last pipelines.
    to.put(Newer(sys::PhysicalDevicePipelineBinaryPropertiesKHR {
        pipeline_binary_internal_cache: vk::TRUE,
        pipeline_binary_internal_cache_control: vk::TRUE,
        pipeline_binary_prefers_internal_cache: vk::FALSE,
        pipeline_binary_precompiled_internal_cache: vk::FALSE,
        pipeline_binary_compressed_data: vk::FALSE,
        ..Default::default()
    }));
    to.put(maintenance7());
    // A device is lost by its first fault.
    to.put(PhysicalDeviceFaultPropertiesKHR { max_device_fault_count: 1, ..Default::default() });
    to.put(Newer(sys::PhysicalDeviceMaintenance10PropertiesKHR {
        rgba4_opaque_black_swizzled: vk::TRUE,
        resolve_srgb_format_applies_transfer_function: vk::TRUE,
        resolve_srgb_format_supports_transfer_function_control: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceCopyMemoryIndirectPropertiesKHR {
        supported_queues: sys::QueueFlags::GRAPHICS | sys::QueueFlags::COMPUTE | sys::QueueFlags::TRANSFER,
        ..Default::default()
    }));
    // Undescribed attributes are zero in all components, including the last one.
    to.put(PhysicalDeviceMaintenance9PropertiesKHR::default());
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
}

fn maintenance7() -> PhysicalDeviceMaintenance7PropertiesKHR {
    let limits = physical::limits();
    let (uniform, storage) =
        (limits.max_descriptor_set_uniform_buffers_dynamic, limits.max_descriptor_set_storage_buffers_dynamic);
    Newer(sys::PhysicalDeviceMaintenance7PropertiesKHR {
        // Texels outside of an attachment read as zero.
        robust_fragment_shading_rate_attachment_access: vk::TRUE,
        // Depth of 24 bits and stencil of 8 bits share a 32-bit word.
        separate_depth_stencil_attachment_access: vk::FALSE,
        max_descriptor_set_total_uniform_buffers_dynamic: uniform,
        max_descriptor_set_total_storage_buffers_dynamic: storage,
        max_descriptor_set_total_buffers_dynamic: uniform + storage,
        max_descriptor_set_update_after_bind_total_uniform_buffers_dynamic: uniform,
        max_descriptor_set_update_after_bind_total_storage_buffers_dynamic: storage,
        max_descriptor_set_update_after_bind_total_buffers_dynamic: uniform + storage,
        ..Default::default()
    })
}
