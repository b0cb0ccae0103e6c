//! Structures of whole versions of Vulkan. Each field has the value of the promoted extension's
//! structure.

use ash::vk;
use vitric_vulkan::{Newer, PhysicalDeviceVulkan14Features, PhysicalDeviceVulkan14Properties, sys};

/// Builds a structure from fields of other structures and additional values.
macro_rules! gather {
    ($bindings:ident::$ty:ident { $($part:ident => $($field:ident),+;)* } $($own:ident: $value:expr,)*) => {
        $bindings::$ty { $($($field: $part.$field,)+)* $($own: $value,)* ..Default::default() }
    };
}

pub(super) fn features11() -> vk::PhysicalDeviceVulkan11Features<'static> {
    let (storage, views) = (super::storage16(), super::multiview());
    let (pointers, draws) = (super::variable_pointers(), super::draw_parameters());
    let (conversion, protection) = (super::ycbcr_conversion(), super::protected_memory());
    gather! {
        vk::PhysicalDeviceVulkan11Features {
            storage => storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16,
                storage_input_output16;
            views => multiview, multiview_geometry_shader, multiview_tessellation_shader;
            pointers => variable_pointers, variable_pointers_storage_buffer;
            draws => shader_draw_parameters;
            conversion => sampler_ycbcr_conversion;
            protection => protected_memory;
        }
    }
}

pub(super) fn features12() -> vk::PhysicalDeviceVulkan12Features<'static> {
    let (storage, atomics, numbers) = (super::storage8(), super::atomic_int64(), super::float16_int8());
    let (indexing, scalar) = (super::descriptor_indexing(), super::scalar_block_layout());
    let (imageless, standard) = (super::imageless_framebuffer(), super::uniform_buffer_standard_layout());
    let (layouts, reset) = (super::separate_depth_stencil_layouts(), super::host_query_reset());
    let (timeline, addresses) = (super::timeline_semaphore(), super::buffer_device_address());
    let (model, subgroups) = (super::memory_model(), super::subgroup_extended_types());
    gather! {
        vk::PhysicalDeviceVulkan12Features {
            storage => storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access, storage_push_constant8;
            atomics => shader_buffer_int64_atomics, shader_shared_int64_atomics;
            numbers => shader_float16, shader_int8;
            indexing => shader_input_attachment_array_dynamic_indexing,
                shader_uniform_texel_buffer_array_dynamic_indexing,
                shader_storage_texel_buffer_array_dynamic_indexing,
                shader_uniform_buffer_array_non_uniform_indexing,
                shader_sampled_image_array_non_uniform_indexing,
                shader_storage_buffer_array_non_uniform_indexing,
                shader_storage_image_array_non_uniform_indexing,
                shader_input_attachment_array_non_uniform_indexing,
                shader_uniform_texel_buffer_array_non_uniform_indexing,
                shader_storage_texel_buffer_array_non_uniform_indexing,
                descriptor_binding_uniform_buffer_update_after_bind,
                descriptor_binding_sampled_image_update_after_bind,
                descriptor_binding_storage_image_update_after_bind,
                descriptor_binding_storage_buffer_update_after_bind,
                descriptor_binding_uniform_texel_buffer_update_after_bind,
                descriptor_binding_storage_texel_buffer_update_after_bind,
                descriptor_binding_update_unused_while_pending,
                descriptor_binding_partially_bound,
                descriptor_binding_variable_descriptor_count,
                runtime_descriptor_array;
            scalar => scalar_block_layout;
            imageless => imageless_framebuffer;
            standard => uniform_buffer_standard_layout;
            layouts => separate_depth_stencil_layouts;
            reset => host_query_reset;
            timeline => timeline_semaphore;
            addresses => buffer_device_address, buffer_device_address_capture_replay,
                buffer_device_address_multi_device;
            model => vulkan_memory_model, vulkan_memory_model_device_scope,
                vulkan_memory_model_availability_visibility_chains;
            subgroups => shader_subgroup_extended_types;
        }
        // These features come from extensions without a feature structure.
        sampler_mirror_clamp_to_edge: vk::TRUE,
        draw_indirect_count: vk::TRUE,
        sampler_filter_minmax: vk::TRUE,
        descriptor_indexing: vk::TRUE,
        shader_output_viewport_index: vk::TRUE,
        shader_output_layer: vk::TRUE,
        // The lane id of a broadcast may be any value.
        subgroup_broadcast_dynamic_id: vk::TRUE,
    }
}

pub(super) fn features13() -> vk::PhysicalDeviceVulkan13Features<'static> {
    let (robust, blocks, cache) =
        (super::image_robustness(), super::inline_uniform_block(), super::pipeline_creation_cache_control());
    let (private, demote, terminate) =
        (super::private_data(), super::demote_to_helper_invocation(), super::terminate_invocation());
    let (sizes, synchronization, zeros) =
        (super::subgroup_size_control(), super::synchronization2(), super::zero_initialize_workgroup_memory());
    let (rendering, products, maintenance) =
        (super::dynamic_rendering(), super::integer_dot_product(), super::maintenance4());
    let blocks_of_high_range = super::images::astc_hdr();
    gather! {
        vk::PhysicalDeviceVulkan13Features {
            robust => robust_image_access;
            blocks => inline_uniform_block, descriptor_binding_inline_uniform_block_update_after_bind;
            cache => pipeline_creation_cache_control;
            private => private_data;
            demote => shader_demote_to_helper_invocation;
            terminate => shader_terminate_invocation;
            sizes => subgroup_size_control, compute_full_subgroups;
            synchronization => synchronization2;
            blocks_of_high_range => texture_compression_astc_hdr;
            zeros => shader_zero_initialize_workgroup_memory;
            rendering => dynamic_rendering;
            products => shader_integer_dot_product;
            maintenance => maintenance4;
        }
    }
}

pub(super) fn properties11() -> vk::PhysicalDeviceVulkan11Properties<'static> {
    let (id, groups, points) = (super::id(), super::subgroups(), super::point_clipping());
    let (views, most) = (super::multiview_properties(), super::maintenance3());
    gather! {
        vk::PhysicalDeviceVulkan11Properties {
            id => device_uuid, driver_uuid, device_luid, device_node_mask, device_luid_valid;
            groups => subgroup_size;
            points => point_clipping_behavior;
            views => max_multiview_view_count, max_multiview_instance_index;
            most => max_per_set_descriptors, max_memory_allocation_size;
        }
        subgroup_supported_stages: groups.supported_stages,
        subgroup_supported_operations: groups.supported_operations,
        subgroup_quad_operations_in_all_stages: groups.quad_operations_in_all_stages,
    }
}

pub(super) fn properties12() -> vk::PhysicalDeviceVulkan12Properties<'static> {
    let (driver, floats, indexing) =
        (super::driver(), super::float_controls(), super::descriptor_indexing_properties());
    let (resolve, timeline) = (super::depth_stencil_resolve(), super::timelines());
    let reduction = super::images::filter_minmax();
    gather! {
        vk::PhysicalDeviceVulkan12Properties {
            driver => driver_id, driver_name, driver_info, conformance_version;
            floats => denorm_behavior_independence, rounding_mode_independence,
                shader_signed_zero_inf_nan_preserve_float16, shader_signed_zero_inf_nan_preserve_float32,
                shader_signed_zero_inf_nan_preserve_float64, shader_denorm_preserve_float16,
                shader_denorm_preserve_float32, shader_denorm_preserve_float64, shader_denorm_flush_to_zero_float16,
                shader_denorm_flush_to_zero_float32, shader_denorm_flush_to_zero_float64,
                shader_rounding_mode_rte_float16, shader_rounding_mode_rte_float32, shader_rounding_mode_rte_float64,
                shader_rounding_mode_rtz_float16, shader_rounding_mode_rtz_float32, shader_rounding_mode_rtz_float64;
            indexing => max_update_after_bind_descriptors_in_all_pools,
                shader_uniform_buffer_array_non_uniform_indexing_native,
                shader_sampled_image_array_non_uniform_indexing_native,
                shader_storage_buffer_array_non_uniform_indexing_native,
                shader_storage_image_array_non_uniform_indexing_native,
                shader_input_attachment_array_non_uniform_indexing_native,
                robust_buffer_access_update_after_bind, quad_divergent_implicit_lod,
                max_per_stage_descriptor_update_after_bind_samplers,
                max_per_stage_descriptor_update_after_bind_uniform_buffers,
                max_per_stage_descriptor_update_after_bind_storage_buffers,
                max_per_stage_descriptor_update_after_bind_sampled_images,
                max_per_stage_descriptor_update_after_bind_storage_images,
                max_per_stage_descriptor_update_after_bind_input_attachments,
                max_per_stage_update_after_bind_resources,
                max_descriptor_set_update_after_bind_samplers,
                max_descriptor_set_update_after_bind_uniform_buffers,
                max_descriptor_set_update_after_bind_uniform_buffers_dynamic,
                max_descriptor_set_update_after_bind_storage_buffers,
                max_descriptor_set_update_after_bind_storage_buffers_dynamic,
                max_descriptor_set_update_after_bind_sampled_images,
                max_descriptor_set_update_after_bind_storage_images,
                max_descriptor_set_update_after_bind_input_attachments;
            resolve => supported_depth_resolve_modes, supported_stencil_resolve_modes, independent_resolve_none,
                independent_resolve;
            timeline => max_timeline_semaphore_value_difference;
            reduction => filter_minmax_single_component_formats, filter_minmax_image_component_mapping;
        }
        framebuffer_integer_color_sample_counts: super::physical::limits().framebuffer_color_sample_counts,
    }
}

pub(super) fn properties13() -> vk::PhysicalDeviceVulkan13Properties<'static> {
    let (sizes, blocks, alignment, buffers) = (
        super::subgroup_sizes(),
        super::inline_uniform_blocks(),
        super::texel_buffer_alignment(),
        super::maintenance4_properties(),
    );
    let products = super::integer_dot_product_properties();
    gather! {
        vk::PhysicalDeviceVulkan13Properties {
            sizes => min_subgroup_size, max_subgroup_size, max_compute_workgroup_subgroups,
                required_subgroup_size_stages;
            blocks => max_inline_uniform_block_size, max_per_stage_descriptor_inline_uniform_blocks,
                max_per_stage_descriptor_update_after_bind_inline_uniform_blocks,
                max_descriptor_set_inline_uniform_blocks, max_descriptor_set_update_after_bind_inline_uniform_blocks;
            alignment => storage_texel_buffer_offset_alignment_bytes,
                storage_texel_buffer_offset_single_texel_alignment, uniform_texel_buffer_offset_alignment_bytes,
                uniform_texel_buffer_offset_single_texel_alignment;
            buffers => max_buffer_size;
            products => integer_dot_product4x8_bit_packed_unsigned_accelerated,
                integer_dot_product4x8_bit_packed_signed_accelerated,
                integer_dot_product4x8_bit_packed_mixed_signedness_accelerated,
                integer_dot_product_accumulating_saturating4x8_bit_packed_unsigned_accelerated,
                integer_dot_product_accumulating_saturating4x8_bit_packed_signed_accelerated,
                integer_dot_product_accumulating_saturating4x8_bit_packed_mixed_signedness_accelerated;
        }
        // Total size of all blocks of a pipeline's stages.
        max_inline_uniform_total_size: blocks.max_inline_uniform_block_size
            * blocks.max_descriptor_set_inline_uniform_blocks,
    }
}

pub(super) fn features14() -> PhysicalDeviceVulkan14Features {
    let (priorities, rotation, floats) =
        (super::global_priority_query(), super::subgroup_rotate(), super::float_controls2());
    let (hints, lines, divisors) = (super::expect_assume(), super::line_rasterization(), super::attribute_divisors());
    let (bytes, local, maintenance5) = (super::index_type_uint8(), super::local_read(), super::maintenance5());
    let (maintenance6, protected) = (super::maintenance6(), super::pipeline_protected_access());
    let (robustness, copies) = (super::pipeline_robustness(), super::host_image_copy());
    Newer(gather! {
        sys::PhysicalDeviceVulkan14Features {
            priorities => global_priority_query;
            rotation => shader_subgroup_rotate, shader_subgroup_rotate_clustered;
            floats => shader_float_controls2;
            hints => shader_expect_assume;
            lines => rectangular_lines, bresenham_lines, smooth_lines, stippled_rectangular_lines,
                stippled_bresenham_lines, stippled_smooth_lines;
            divisors => vertex_attribute_instance_rate_divisor, vertex_attribute_instance_rate_zero_divisor;
            bytes => index_type_uint8;
            local => dynamic_rendering_local_read;
            maintenance5 => maintenance5;
            maintenance6 => maintenance6;
            protected => pipeline_protected_access;
            robustness => pipeline_robustness;
            copies => host_image_copy;
        }
        // The promoted extension has no feature structure.
        push_descriptor: vk::TRUE,
    })
}

/// Returns the properties of Vulkan 1.4, except the ones of host image copies: two of them are
/// arrays of the application.
pub fn properties14() -> PhysicalDeviceVulkan14Properties {
    let (lines, divisors, descriptors) =
        (super::line_properties(), super::divisor_properties(), super::push_descriptors());
    let (maintenance5, maintenance6) = (super::maintenance5_properties(), super::maintenance6_properties());
    let robustness = super::robustness();
    let buffers = |behaviour: vk::PipelineRobustnessBufferBehaviorEXT| {
        sys::PipelineRobustnessBufferBehavior::from_raw(behaviour.as_raw())
    };
    let images = robustness.default_robustness_images;
    Newer(gather! {
        sys::PhysicalDeviceVulkan14Properties {
            lines => line_sub_pixel_precision_bits;
            divisors => max_vertex_attrib_divisor, supports_non_zero_first_instance;
            descriptors => max_push_descriptors;
            maintenance5 => early_fragment_multisample_coverage_after_sample_counting,
                early_fragment_sample_mask_test_before_sample_counting, depth_stencil_swizzle_one_support,
                polygon_mode_point_size, non_strict_single_pixel_wide_lines_use_parallelogram,
                non_strict_wide_lines_use_parallelogram;
            maintenance6 => block_texel_view_compatible_multiple_layers,
                max_combined_image_sampler_descriptor_count, fragment_shading_rate_clamp_combiner_inputs;
        }
        // Tiles hold all samples of all attachments.
        dynamic_rendering_local_read_depth_stencil_attachments: vk::TRUE,
        dynamic_rendering_local_read_multisampled_attachments: vk::TRUE,
        default_robustness_storage_buffers: buffers(robustness.default_robustness_storage_buffers),
        default_robustness_uniform_buffers: buffers(robustness.default_robustness_uniform_buffers),
        default_robustness_vertex_inputs: buffers(robustness.default_robustness_vertex_inputs),
        default_robustness_images: sys::PipelineRobustnessImageBehavior::from_raw(images.as_raw()),
    })
}
