//! Features, limits and format features that the specification requires of every device of its
//! version.
//!
//! Source: Vulkan specification, "Feature Requirements", "Limit Requirements", "Required Format
//! Support".

use ash::khr::get_physical_device_properties2;
use ash::vk;
use ash::vk::{Format as F, FormatFeatureFlags as U};
use vitric_vulkan::{API_VERSION_1_4, PhysicalDeviceVulkan14Features, PhysicalDeviceVulkan14Properties, sys};

use crate::cases::support::conditions::need_version;
use crate::harness::{Case, Gpu, Outcome, check};

const V1_1: u32 = vk::API_VERSION_1_1;
const V1_2: u32 = vk::API_VERSION_1_2;
const V1_3: u32 = vk::API_VERSION_1_3;
const V1_4: u32 = API_VERSION_1_4;

/// Features of Vulkan 1.0 and of the versions that the device supports.
type All = (
    vk::PhysicalDeviceFeatures,
    vk::PhysicalDeviceVulkan11Features<'static>,
    vk::PhysicalDeviceVulkan12Features<'static>,
    vk::PhysicalDeviceVulkan13Features<'static>,
);

fn all_features(gpu: &Gpu) -> Result<All, Outcome> {
    need_version(gpu, V1_2)?;
    let mut first = vk::PhysicalDeviceVulkan11Features::default();
    let mut second = vk::PhysicalDeviceVulkan12Features::default();
    let mut third = vk::PhysicalDeviceVulkan13Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut first).push_next(&mut second);
    if gpu.properties.api_version >= V1_3 {
        all = all.push_next(&mut third);
    }
    let query = get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension, and the chain is valid.
    unsafe { query.get_physical_device_features2(gpu.physical, &mut all) };
    let zero = all.features;
    first.p_next = std::ptr::null_mut();
    second.p_next = std::ptr::null_mut();
    third.p_next = std::ptr::null_mut();
    Ok((zero, first, second, third))
}

/// Lists names and values of fields.
macro_rules! fields {
    ($of:expr; $($field:ident),+ $(,)?) => { [$((stringify!($field), $of.$field)),+] };
}

fn are_set(rows: &[(&str, vk::Bool32)]) -> Case {
    rows.iter().try_for_each(|(name, value)| check(*value == vk::TRUE, || format!("{name} is required")))
}

case!("required.features.always", "Feature Requirements", features);

fn features(gpu: &Gpu) -> Case {
    let (zero, first, second, third) = all_features(gpu)?;
    are_set(&fields!(zero; robust_buffer_access))?;
    are_set(&fields!(first; multiview))?;
    are_set(&fields!(second; subgroup_broadcast_dynamic_id, imageless_framebuffer, uniform_buffer_standard_layout,
        shader_subgroup_extended_types, separate_depth_stencil_layouts, host_query_reset, timeline_semaphore))?;
    need_version(gpu, V1_3)?;
    are_set(&fields!(second; vulkan_memory_model, vulkan_memory_model_device_scope, buffer_device_address))?;
    are_set(&fields!(third; robust_image_access, inline_uniform_block, pipeline_creation_cache_control, private_data,
        shader_demote_to_helper_invocation, shader_terminate_invocation, subgroup_size_control,
        compute_full_subgroups, synchronization2, shader_zero_initialize_workgroup_memory, dynamic_rendering,
        shader_integer_dot_product, maintenance4))
}

case!("required.features.version_1_4", "Feature Requirements", features14);

/// Checks the features that Vulkan 1.4 requires.
fn features14(gpu: &Gpu) -> Case {
    need_version(gpu, V1_4)?;
    let (zero, first, second, _) = all_features(gpu)?;
    let mut fourth = PhysicalDeviceVulkan14Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut fourth);
    // SAFETY: the chain is valid, and the device's version has the command.
    unsafe { gpu.instance.get_physical_device_features2(gpu.physical, &mut all) };
    are_set(&fields!(zero; full_draw_index_uint32, image_cube_array, independent_blend, sample_rate_shading,
        draw_indirect_first_instance, depth_clamp, depth_bias_clamp, sampler_anisotropy, fragment_stores_and_atomics,
        shader_storage_image_extended_formats, shader_uniform_buffer_array_dynamic_indexing,
        shader_sampled_image_array_dynamic_indexing, shader_storage_buffer_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing, shader_image_gather_extended, shader_int16, large_points))?;
    are_set(&fields!(first; sampler_ycbcr_conversion, storage_buffer16_bit_access, variable_pointers,
        variable_pointers_storage_buffer))?;
    are_set(&fields!(second; sampler_mirror_clamp_to_edge, scalar_block_layout,
        shader_uniform_texel_buffer_array_dynamic_indexing, shader_storage_texel_buffer_array_dynamic_indexing,
        shader_int8, storage_buffer8_bit_access))?;
    are_set(&fields!(fourth; global_priority_query, shader_subgroup_rotate, shader_subgroup_rotate_clustered,
        shader_float_controls2, shader_expect_assume, bresenham_lines, vertex_attribute_instance_rate_divisor,
        index_type_uint8, dynamic_rendering_local_read, maintenance5, maintenance6, pipeline_robustness,
        push_descriptor))?;
    check(fourth.host_image_copy != 0 || has_transfer_family(gpu), || {
        "neither host copies nor a queue of copies".into()
    })
}

/// Returns true if a family of queues only copies.
fn has_transfer_family(gpu: &Gpu) -> bool {
    type Q = vk::QueueFlags;
    // SAFETY: the physical device is valid.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    families.iter().any(|family| {
        family.queue_flags.contains(Q::TRANSFER) && !family.queue_flags.intersects(Q::GRAPHICS | Q::COMPUTE)
    })
}

case!("required.features.together", "Feature Requirements", features_together);

/// Checks features that other features or extensions require.
fn features_together(gpu: &Gpu) -> Case {
    let (zero, first, second, third) = all_features(gpu)?;
    if first.uniform_and_storage_buffer16_bit_access != 0 {
        are_set(&fields!(first; storage_buffer16_bit_access))?;
    }
    if second.uniform_and_storage_buffer8_bit_access != 0 {
        are_set(&fields!(second; storage_buffer8_bit_access))?;
    }
    if second.shader_buffer_int64_atomics | second.shader_shared_int64_atomics != 0 {
        are_set(&fields!(zero; shader_int64))?;
    }
    let brings = |extension, value: vk::Bool32| !gpu.has(extension) || value != 0;
    for (extension, value) in [
        (vk::KHR_SAMPLER_MIRROR_CLAMP_TO_EDGE_NAME, second.sampler_mirror_clamp_to_edge),
        (vk::KHR_DRAW_INDIRECT_COUNT_NAME, second.draw_indirect_count),
        (vk::EXT_SHADER_VIEWPORT_INDEX_LAYER_NAME, second.shader_output_viewport_index & second.shader_output_layer),
        (vk::EXT_SAMPLER_FILTER_MINMAX_NAME, second.sampler_filter_minmax),
        (vk::EXT_DESCRIPTOR_INDEXING_NAME, second.descriptor_indexing),
        (vk::KHR_SHADER_DRAW_PARAMETERS_NAME, first.shader_draw_parameters),
    ] {
        check(brings(extension, value), || format!("{extension:?} is there, and not its feature"))?;
    }
    if second.descriptor_indexing == 0 {
        return Ok(());
    }
    are_set(&fields!(zero; shader_sampled_image_array_dynamic_indexing, shader_storage_buffer_array_dynamic_indexing))?;
    are_set(&fields!(second; shader_uniform_texel_buffer_array_dynamic_indexing,
        shader_storage_texel_buffer_array_dynamic_indexing, shader_sampled_image_array_non_uniform_indexing,
        shader_storage_buffer_array_non_uniform_indexing, shader_uniform_texel_buffer_array_non_uniform_indexing,
        descriptor_binding_sampled_image_update_after_bind, descriptor_binding_storage_image_update_after_bind,
        descriptor_binding_storage_buffer_update_after_bind,
        descriptor_binding_uniform_texel_buffer_update_after_bind,
        descriptor_binding_storage_texel_buffer_update_after_bind, descriptor_binding_update_unused_while_pending,
        descriptor_binding_partially_bound, runtime_descriptor_array))?;
    let inline = fields!(third; descriptor_binding_inline_uniform_block_update_after_bind);
    if gpu.properties.api_version >= V1_3 { are_set(&inline) } else { Ok(()) }
}

fn at_least<T: PartialOrd + std::fmt::Debug>(rows: &[(&str, T)], least: T) -> Case {
    rows.iter().try_for_each(|(name, value)| check(*value >= least, || format!("{name} is {value:?}, not {least:?}")))
}

case!("required.limits.version_1_0", "Limit Requirements", limits10);

/// Checks the limits of the specification's table that `devices.limits` leaves out.
fn limits10(gpu: &Gpu) -> Case {
    let limits = &gpu.properties.limits;
    at_least(&fields!(limits; max_per_stage_descriptor_samplers, max_per_stage_descriptor_sampled_images), 16)?;
    at_least(&fields!(limits; max_per_stage_descriptor_uniform_buffers), 12)?;
    at_least(
        &fields!(limits; max_per_stage_descriptor_storage_buffers, max_per_stage_descriptor_storage_images,
        max_per_stage_descriptor_input_attachments, max_descriptor_set_storage_buffers_dynamic,
        max_descriptor_set_input_attachments, max_fragment_combined_output_resources, mipmap_precision_bits),
        4,
    )?;
    at_least(&fields!(limits; max_per_stage_resources), 128)?;
    at_least(&fields!(limits; max_descriptor_set_samplers, max_descriptor_set_sampled_images), 96)?;
    at_least(&fields!(limits; max_descriptor_set_uniform_buffers), 72)?;
    at_least(&fields!(limits; max_descriptor_set_uniform_buffers_dynamic), 8)?;
    at_least(&fields!(limits; max_descriptor_set_storage_buffers, max_descriptor_set_storage_images), 24)?;
    at_least(&fields!(limits; max_vertex_input_attribute_offset), 2047)?;
    at_least(&fields!(limits; max_vertex_input_binding_stride), 2048)?;
    at_least(&limits.max_compute_work_group_count.map(|count| ("max_compute_work_group_count", count)), 65535)?;
    at_least(
        &[(
            "max_compute_work_group_size",
            limits.max_compute_work_group_size[0].min(limits.max_compute_work_group_size[1]),
        )],
        128,
    )?;
    at_least(&[("max_compute_work_group_size", limits.max_compute_work_group_size[2])], 64)?;
    at_least(&limits.max_viewport_dimensions.map(|size| ("max_viewport_dimensions", size)), 4096)?;
    at_least(&fields!(limits; max_framebuffer_width, max_framebuffer_height), 4096)?;
    at_least(&fields!(limits; max_framebuffer_layers), 256)?;
    at_least(&fields!(limits; discrete_queue_priorities), 2)?;
    at_least(&fields!(limits; max_texel_offset), 7)?;
    check(limits.min_texel_offset <= -8, || "min_texel_offset".into())?;
    let (widest, range) =
        (limits.max_viewport_dimensions[0].max(limits.max_viewport_dimensions[1]) as f32, limits.viewport_bounds_range);
    check(range[0] <= -2.0 * widest && range[1] >= 2.0 * widest - 1.0, || format!("{range:?}"))?;
    let most = [
        limits.min_texel_buffer_offset_alignment,
        limits.min_storage_buffer_offset_alignment,
        limits.non_coherent_atom_size,
    ];
    check(most.iter().all(|&alignment| alignment <= 256), || format!("alignments of {most:?}"))?;
    check(limits.buffer_image_granularity <= 131_072, || "buffer_image_granularity".into())?;
    let four = vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4;
    let counts = fields!(limits; framebuffer_depth_sample_counts, framebuffer_stencil_sample_counts,
        framebuffer_no_attachments_sample_counts, sampled_image_color_sample_counts, sampled_image_depth_sample_counts,
        sampled_image_stencil_sample_counts);
    counts.iter().try_for_each(|(name, counts)| check(counts.contains(four), || format!("{name}: {counts:?}")))?;
    limits_of_features(gpu)
}

/// Checks limits that features require.
fn limits_of_features(gpu: &Gpu) -> Case {
    let (limits, features) = (&gpu.properties.limits, &gpu.features);
    let holds = |feature: vk::Bool32, condition: bool, name: &str| {
        check(feature == 0 || condition, || format!("{name} is too small for its feature"))
    };
    holds(features.sampler_anisotropy, limits.max_sampler_anisotropy >= 16.0, "max_sampler_anisotropy")?;
    holds(features.multi_viewport, limits.max_viewports >= 16, "max_viewports")?;
    holds(features.dual_src_blend, limits.max_fragment_dual_src_attachments >= 1, "max_fragment_dual_src_attachments")?;
    holds(
        features.full_draw_index_uint32,
        limits.max_draw_indexed_index_value == u32::MAX,
        "max_draw_indexed_index_value",
    )?;
    holds(features.multi_draw_indirect, limits.max_draw_indirect_count >= 65535, "max_draw_indirect_count")?;
    holds(features.shader_clip_distance, limits.max_clip_distances >= 8, "max_clip_distances")?;
    holds(
        features.shader_cull_distance,
        limits.max_cull_distances >= 8 && limits.max_combined_clip_and_cull_distances >= 8,
        "max_cull_distances",
    )?;
    let offsets = limits.min_texel_gather_offset <= -8 && limits.max_texel_gather_offset >= 7;
    holds(features.shader_image_gather_extended, offsets, "max_texel_gather_offset")?;
    let offsets = limits.min_interpolation_offset <= -0.5 && limits.max_interpolation_offset >= 0.4375;
    holds(
        features.sample_rate_shading,
        offsets && limits.sub_pixel_interpolation_offset_bits >= 4,
        "max_interpolation_offset",
    )?;
    holds(
        features.large_points,
        limits.point_size_range[0] <= 1.0 && limits.point_size_range[1] >= 63.0,
        "point_size_range",
    )?;
    holds(
        features.wide_lines,
        limits.line_width_range[0] <= 1.0 && limits.line_width_range[1] >= 7.0,
        "line_width_range",
    )?;
    let steps = limits.point_size_granularity <= 1.0 && limits.line_width_granularity <= 1.0;
    check(steps, || "steps of sizes and widths".into())
}

/// Returns a structure of properties.
fn properties<T: vk::ExtendsPhysicalDeviceProperties2 + Default>(gpu: &Gpu) -> T {
    let mut own = T::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
    let query = get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension, and the chain is valid.
    unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
    own
}

case!("required.limits.version_1_1", "Limit Requirements", limits11);

fn limits11(gpu: &Gpu) -> Case {
    need_version(gpu, V1_2)?;
    let found: vk::PhysicalDeviceVulkan11Properties<'_> = properties(gpu);
    let size = found.subgroup_size;
    check(size.is_power_of_two() && size <= 128, || format!("subgroups of {size}"))?;
    check(found.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE), || {
        "no subgroups in compute".into()
    })?;
    check(found.subgroup_supported_operations.contains(vk::SubgroupFeatureFlags::BASIC), || "no subgroups".into())?;
    at_least(&fields!(found; max_multiview_view_count), 6)?;
    at_least(&fields!(found; max_multiview_instance_index), (1 << 27) - 1)?;
    at_least(&fields!(found; max_per_set_descriptors), 1024)?;
    at_least(&fields!(found; max_memory_allocation_size), 1 << 30)?;
    check(gpu.properties.api_version >= V1_1, || "an older version has properties of a newer one".into())
}

case!("required.limits.version_1_2", "Limit Requirements", limits12);

fn limits12(gpu: &Gpu) -> Case {
    need_version(gpu, V1_2)?;
    let found: vk::PhysicalDeviceVulkan12Properties<'_> = properties(gpu);
    let samples = found.framebuffer_integer_color_sample_counts;
    check(samples.contains(vk::SampleCountFlags::TYPE_1), || format!("{samples:?}"))?;
    at_least(&fields!(found; max_timeline_semaphore_value_difference), (1 << 31) - 1)?;
    let modes = [found.supported_depth_resolve_modes, found.supported_stencil_resolve_modes];
    check(modes.iter().all(|modes| modes.contains(vk::ResolveModeFlags::SAMPLE_ZERO)), || format!("{modes:?}"))?;
    check(found.independent_resolve == 0 || found.independent_resolve_none != 0, || "independent_resolve_none".into())?;
    if all_features(gpu)?.2.descriptor_indexing == 0 {
        return Ok(());
    }
    at_least(
        &fields!(found; max_update_after_bind_descriptors_in_all_pools,
        max_per_stage_descriptor_update_after_bind_samplers,
        max_per_stage_descriptor_update_after_bind_storage_buffers,
        max_per_stage_descriptor_update_after_bind_sampled_images,
        max_per_stage_descriptor_update_after_bind_storage_images, max_per_stage_update_after_bind_resources,
        max_descriptor_set_update_after_bind_samplers, max_descriptor_set_update_after_bind_storage_buffers,
        max_descriptor_set_update_after_bind_sampled_images,
        max_descriptor_set_update_after_bind_storage_images),
        500_000,
    )?;
    at_least(&fields!(found; max_per_stage_descriptor_update_after_bind_uniform_buffers), 12)?;
    at_least(&fields!(found; max_descriptor_set_update_after_bind_uniform_buffers), 72)?;
    at_least(&fields!(found; max_descriptor_set_update_after_bind_uniform_buffers_dynamic), 8)?;
    at_least(
        &fields!(found; max_descriptor_set_update_after_bind_storage_buffers_dynamic,
        max_descriptor_set_update_after_bind_input_attachments,
        max_per_stage_descriptor_update_after_bind_input_attachments),
        4,
    )
}

case!("required.limits.version_1_3", "Limit Requirements", limits13);

fn limits13(gpu: &Gpu) -> Case {
    need_version(gpu, V1_3)?;
    let found: vk::PhysicalDeviceVulkan13Properties<'_> = properties(gpu);
    let sizes = [found.min_subgroup_size, found.max_subgroup_size];
    let own = properties::<vk::PhysicalDeviceSubgroupProperties<'_>>(gpu).subgroup_size;
    let ordered = sizes[0] <= own && own <= sizes[1] && sizes.iter().all(|size| size.is_power_of_two());
    check(ordered, || format!("subgroups of {own}, between {sizes:?}"))?;
    let most = found.max_compute_workgroup_subgroups * found.max_subgroup_size;
    let limit = gpu.properties.limits.max_compute_work_group_invocations;
    check(most >= limit.min(128), || format!("{} subgroups of a workgroup", found.max_compute_workgroup_subgroups))?;
    at_least(&fields!(found; max_inline_uniform_block_size, max_inline_uniform_total_size), 256)?;
    at_least(
        &fields!(found; max_per_stage_descriptor_inline_uniform_blocks,
        max_per_stage_descriptor_update_after_bind_inline_uniform_blocks, max_descriptor_set_inline_uniform_blocks,
        max_descriptor_set_update_after_bind_inline_uniform_blocks),
        4,
    )?;
    at_least(&fields!(found; max_buffer_size), 1 << 30)
}

case!("required.limits.version_1_4", "Limit Requirements", limits14);

/// Checks the limits that Vulkan 1.4 raises, and its new ones.
fn limits14(gpu: &Gpu) -> Case {
    need_version(gpu, V1_4)?;
    let limits = &gpu.properties.limits;
    at_least(&fields!(limits; max_image_dimension1_d, max_image_dimension2_d, max_image_dimension_cube), 8192)?;
    at_least(&fields!(limits; max_image_dimension3_d), 512)?;
    at_least(&fields!(limits; max_image_array_layers), 2048)?;
    at_least(&fields!(limits; max_uniform_buffer_range), 65536)?;
    at_least(&fields!(limits; max_push_constants_size), 256)?;
    at_least(&fields!(limits; max_bound_descriptor_sets), 7)?;
    at_least(&fields!(limits; max_per_stage_descriptor_uniform_buffers), 15)?;
    at_least(&fields!(limits; max_per_stage_resources), 200)?;
    at_least(&fields!(limits; max_descriptor_set_uniform_buffers), 90)?;
    at_least(&fields!(limits; max_descriptor_set_storage_buffers), 96)?;
    at_least(&fields!(limits; max_descriptor_set_storage_images), 144)?;
    at_least(&fields!(limits; max_fragment_combined_output_resources), 16)?;
    at_least(&fields!(limits; max_compute_work_group_invocations), 256)?;
    let [width, height, _] = limits.max_compute_work_group_size;
    at_least(&[("max_compute_work_group_size", width.min(height))], 256)?;
    at_least(&fields!(limits; sub_texel_precision_bits), 8)?;
    at_least(&fields!(limits; mipmap_precision_bits), 6)?;
    at_least(&fields!(limits; max_sampler_lod_bias), 14.0)?;
    at_least(&limits.max_viewport_dimensions.map(|size| ("max_viewport_dimensions", size)), 7680)?;
    at_least(&fields!(limits; max_framebuffer_width, max_framebuffer_height), 7680)?;
    at_least(&fields!(limits; max_color_attachments), 8)?;
    at_least(&[("point_size_range", limits.point_size_range[1])], 256.0 - limits.point_size_granularity)?;
    are_set(&fields!(limits; timestamp_compute_and_graphics, standard_sample_locations))?;
    let steps = limits.point_size_granularity <= 0.125 && limits.line_width_granularity <= 0.5;
    check(steps && limits.buffer_image_granularity <= 4096, || "granularities".into())?;
    let floats: vk::PhysicalDeviceFloatControlsProperties<'_> = properties(gpu);
    are_set(
        &fields!(floats; shader_signed_zero_inf_nan_preserve_float16, shader_signed_zero_inf_nan_preserve_float32),
    )?;
    let groups: vk::PhysicalDeviceSubgroupProperties<'_> = properties(gpu);
    let operations = vk::SubgroupFeatureFlags::ROTATE_KHR | vk::SubgroupFeatureFlags::ROTATE_CLUSTERED_KHR;
    check(groups.supported_operations.contains(operations), || format!("{:?}", groups.supported_operations))?;
    let own: PhysicalDeviceVulkan14Properties = properties(gpu);
    at_least(&fields!(own; max_push_descriptors), 32)?;
    at_least(&fields!(own; line_sub_pixel_precision_bits), 4)?;
    at_least(&fields!(own; max_vertex_attrib_divisor), (1 << 16) - 1)?;
    at_least(&fields!(own; max_combined_image_sampler_descriptor_count), 1)
}

case!("required.limits.host_layouts", "VkPhysicalDeviceVulkan14Properties", host_layouts);

/// Checks that the properties of Vulkan 1.4 list the layouts of host copies that the extension's
/// structure lists, with counts that are too small, large enough and too large.
fn host_layouts(gpu: &Gpu) -> Case {
    need_version(gpu, V1_4)?;
    let counted: PhysicalDeviceVulkan14Properties = properties(gpu);
    let extension: vk::PhysicalDeviceHostImageCopyPropertiesEXT<'_> = properties(gpu);
    let counts = [counted.copy_src_layout_count, counted.copy_dst_layout_count];
    check(counts == [extension.copy_src_layout_count, extension.copy_dst_layout_count], || format!("{counts:?}"))?;
    let uuid = *counted.optimal_tiling_layout_uuid;
    check(uuid == extension.optimal_tiling_layout_uuid, || format!("{uuid:?}"))?;
    let mut known = vec![vk::ImageLayout::UNDEFINED; counts[0] as usize];
    let mut all = vk::PhysicalDeviceHostImageCopyPropertiesEXT::default().copy_src_layouts(&mut known);
    gpu.properties2(&mut all);
    for room in [1, counts[0], counts[0] + 1] {
        let mut layouts = vec![sys::ImageLayout::UNDEFINED; room as usize];
        let mut own = PhysicalDeviceVulkan14Properties::default();
        (own.copy_src_layouts, own.copy_src_layout_count) = (layouts.as_mut_ptr(), room);
        gpu.properties2(&mut own);
        let written = room.min(counts[0]);
        check(own.copy_src_layout_count == written, || format!("{} of {room}", own.copy_src_layout_count))?;
        let expected = known.iter().map(|layout| layout.as_raw()).take(written as usize);
        let found = layouts.iter().map(|layout| layout.as_raw()).take(written as usize);
        check(found.eq(expected), || format!("{layouts:?}"))?;
    }
    Ok(())
}

/// Format features in the order of the tables' columns. The last four are buffer features.
const COLUMNS: [U; 13] = [
    U::SAMPLED_IMAGE,
    U::BLIT_SRC,
    U::SAMPLED_IMAGE_FILTER_LINEAR,
    U::STORAGE_IMAGE,
    U::STORAGE_IMAGE_ATOMIC,
    U::COLOR_ATTACHMENT,
    U::BLIT_DST,
    U::COLOR_ATTACHMENT_BLEND,
    U::DEPTH_STENCIL_ATTACHMENT,
    U::VERTEX_BUFFER,
    U::UNIFORM_TEXEL_BUFFER,
    U::STORAGE_TEXEL_BUFFER,
    U::STORAGE_TEXEL_BUFFER_ATOMIC,
];

const BUFFER_COLUMNS: usize = 9;

/// Tables of mandatory formats: a bit for each required column, and for each column that the
/// feature of more storage image formats requires.
const FORMATS: &[(F, u16, u16)] = &[
    (F::B4G4R4A4_UNORM_PACK16, 0x0007, 0x0),
    (F::R5G6B5_UNORM_PACK16, 0x00e7, 0x0),
    (F::A1R5G5B5_UNORM_PACK16, 0x00e7, 0x0),
    (F::R8_UNORM, 0x06e7, 0x8),
    (F::R8_SNORM, 0x0607, 0x8),
    (F::R8_UINT, 0x0663, 0x8),
    (F::R8_SINT, 0x0663, 0x8),
    (F::R8G8_UNORM, 0x06e7, 0x8),
    (F::R8G8_SNORM, 0x0607, 0x8),
    (F::R8G8_UINT, 0x0663, 0x8),
    (F::R8G8_SINT, 0x0663, 0x8),
    (F::R8G8B8A8_UNORM, 0x0eef, 0x0),
    (F::R8G8B8A8_SNORM, 0x0e0f, 0x0),
    (F::R8G8B8A8_UINT, 0x0e6b, 0x0),
    (F::R8G8B8A8_SINT, 0x0e6b, 0x0),
    (F::R8G8B8A8_SRGB, 0x00e7, 0x0),
    (F::B8G8R8A8_UNORM, 0x06e7, 0x0),
    (F::B8G8R8A8_SRGB, 0x00e7, 0x0),
    (F::A8B8G8R8_UNORM_PACK32, 0x0ee7, 0x0),
    (F::A8B8G8R8_SNORM_PACK32, 0x0e07, 0x0),
    (F::A8B8G8R8_UINT_PACK32, 0x0e63, 0x0),
    (F::A8B8G8R8_SINT_PACK32, 0x0e63, 0x0),
    (F::A8B8G8R8_SRGB_PACK32, 0x00e7, 0x0),
    (F::A2B10G10R10_UNORM_PACK32, 0x06e7, 0x8),
    (F::A2B10G10R10_UINT_PACK32, 0x0463, 0x8),
    (F::R16_UNORM, 0x0200, 0x8),
    (F::R16_SNORM, 0x0200, 0x8),
    (F::R16_UINT, 0x0663, 0x8),
    (F::R16_SINT, 0x0663, 0x8),
    (F::R16_SFLOAT, 0x06e7, 0x8),
    (F::R16G16_UNORM, 0x0200, 0x8),
    (F::R16G16_SNORM, 0x0200, 0x8),
    (F::R16G16_UINT, 0x0663, 0x8),
    (F::R16G16_SINT, 0x0663, 0x8),
    (F::R16G16_SFLOAT, 0x06e7, 0x8),
    (F::R16G16B16A16_UNORM, 0x0200, 0x8),
    (F::R16G16B16A16_SNORM, 0x0200, 0x8),
    (F::R16G16B16A16_UINT, 0x0e6b, 0x0),
    (F::R16G16B16A16_SINT, 0x0e6b, 0x0),
    (F::R16G16B16A16_SFLOAT, 0x0eef, 0x0),
    (F::R32_UINT, 0x0e7b, 0x0),
    (F::R32_SINT, 0x0e7b, 0x0),
    (F::R32_SFLOAT, 0x0e6b, 0x0),
    (F::R32G32_UINT, 0x0e6b, 0x0),
    (F::R32G32_SINT, 0x0e6b, 0x0),
    (F::R32G32_SFLOAT, 0x0e6b, 0x0),
    (F::R32G32B32_UINT, 0x0200, 0x0),
    (F::R32G32B32_SINT, 0x0200, 0x0),
    (F::R32G32B32_SFLOAT, 0x0200, 0x0),
    (F::R32G32B32A32_UINT, 0x0e6b, 0x0),
    (F::R32G32B32A32_SINT, 0x0e6b, 0x0),
    (F::R32G32B32A32_SFLOAT, 0x0e6b, 0x0),
    (F::B10G11R11_UFLOAT_PACK32, 0x0407, 0x8),
    (F::E5B9G9R9_UFLOAT_PACK32, 0x0007, 0x0),
    (F::D16_UNORM, 0x0103, 0x0),
    (F::D32_SFLOAT, 0x0003, 0x0),
];

fn uses(gpu: &Gpu, format: F) -> vk::FormatProperties {
    // SAFETY: the physical device is valid.
    unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) }
}

case!("required.formats.uses", "Required Format Support", formats);

fn formats(gpu: &Gpu) -> Case {
    let of = |columns: u16, range: std::ops::Range<usize>| {
        range.filter(|&column| columns >> column & 1 != 0).fold(U::empty(), |all, column| all | COLUMNS[column])
    };
    for &(format, always, extended) in FORMATS {
        let columns = always | if gpu.features.shader_storage_image_extended_formats != 0 { extended } else { 0 };
        let found = uses(gpu, format);
        let (mut image, buffer) = (of(columns, 0..BUFFER_COLUMNS), of(columns, BUFFER_COLUMNS..COLUMNS.len()));
        if image.contains(U::SAMPLED_IMAGE) && gpu.properties.api_version >= V1_1 {
            image |= U::TRANSFER_SRC | U::TRANSFER_DST;
        }
        let missing = image & !found.optimal_tiling_features;
        check(missing.is_empty(), || format!("images of {format:?} lack {missing:?}"))?;
        let missing = buffer & !found.buffer_features;
        check(missing.is_empty(), || format!("buffers of {format:?} lack {missing:?}"))?;
    }
    let depth = |format| uses(gpu, format).optimal_tiling_features.contains(U::DEPTH_STENCIL_ATTACHMENT);
    check(depth(F::X8_D24_UNORM_PACK32) || depth(F::D32_SFLOAT), || "no depth of 24 bits or more".into())?;
    check(depth(F::D24_UNORM_S8_UINT) || depth(F::D32_SFLOAT_S8_UINT), || "no depth with stencil".into())
}

case!("required.formats.compressed", "Required Format Support", compressed_formats);

/// Checks that at least one family of compressed formats is supported as a whole.
fn compressed_formats(gpu: &Gpu) -> Case {
    let families = [
        (gpu.features.texture_compression_bc, F::BC1_RGB_UNORM_BLOCK, F::BC7_SRGB_BLOCK),
        (gpu.features.texture_compression_etc2, F::ETC2_R8G8B8_UNORM_BLOCK, F::EAC_R11G11_SNORM_BLOCK),
        (gpu.features.texture_compression_astc_ldr, F::ASTC_4X4_UNORM_BLOCK, F::ASTC_12X12_SRGB_BLOCK),
    ];
    check(families.iter().any(|(feature, ..)| *feature != 0), || "there is no compression".into())?;
    let wanted = U::SAMPLED_IMAGE | U::BLIT_SRC | U::SAMPLED_IMAGE_FILTER_LINEAR;
    for (_, first, last) in families.into_iter().filter(|(feature, ..)| *feature != 0) {
        for format in (first.as_raw()..=last.as_raw()).map(F::from_raw) {
            let missing = wanted & !uses(gpu, format).optimal_tiling_features;
            check(missing.is_empty(), || format!("images of {format:?} lack {missing:?}"))?;
        }
    }
    Ok(())
}
