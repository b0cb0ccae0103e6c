//! Features and properties of vertices, primitives and rasterization beyond Vulkan's core
//! versions.

use ash::vk;
use vitric_gpu::raster::{DENSITY_TEXEL_SIZES, MAX_COVERAGE, MAX_SAMPLES, Rate, SUBPIXEL_BITS, TEXEL_SIZES, UNITS};
use vitric_ir::interface::{FEEDBACK_BUFFERS, FEEDBACK_STRIDE, STREAMS};
use vitric_vulkan::{
    Newer, PhysicalDeviceLegacyVertexAttributesPropertiesEXT, PhysicalDevicePrimitiveRestartIndexFeaturesEXT, sys,
};

use super::{MAX_VIEWS, Structures};
use crate::physical;

pub(super) fn features(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceDepthBiasControlFeaturesEXT::default()
            .depth_bias_control(true)
            .least_representable_value_force_unorm_representation(true)
            .float_representation(true)
            .depth_bias_exact(true),
    );
    to.put(
        vk::PhysicalDeviceFragmentShadingRateFeaturesKHR::default()
            .pipeline_fragment_shading_rate(true)
            .primitive_fragment_shading_rate(true)
            .attachment_fragment_shading_rate(true),
    );
    to.put(
        vk::PhysicalDeviceFragmentDensityMapFeaturesEXT::default()
            .fragment_density_map(true)
            .fragment_density_map_dynamic(true)
            .fragment_density_map_non_subsampled_images(true),
    );
    to.put(vk::PhysicalDeviceFragmentDensityMap2FeaturesEXT::default().fragment_density_map_deferred(true));
    to.put(
        vk::PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT::default()
            .multisampled_render_to_single_sampled(true),
    );
    to.put(vk::PhysicalDeviceFragmentShaderBarycentricFeaturesKHR::default().fragment_shader_barycentric(true));
    to.put(Newer(sys::PhysicalDeviceDepthClampControlFeaturesEXT {
        depth_clamp_control: vk::TRUE,
        ..Default::default()
    }));
    to.put(vk::PhysicalDeviceDepthClipControlFeaturesEXT::default().depth_clip_control(true));
    to.put(vk::PhysicalDeviceDepthClipEnableFeaturesEXT::default().depth_clip_enable(true));
    to.put(Newer(sys::PhysicalDeviceLegacyVertexAttributesFeaturesEXT {
        legacy_vertex_attributes: vk::TRUE,
        ..Default::default()
    }));
    to.put(
        vk::PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT::default()
            .primitive_topology_list_restart(true)
            .primitive_topology_patch_list_restart(true),
    );
    to.put(PhysicalDevicePrimitiveRestartIndexFeaturesEXT { primitive_restart_index: vk::TRUE, ..Default::default() });
    to.put(
        vk::PhysicalDeviceProvokingVertexFeaturesEXT::default()
            .provoking_vertex_last(true)
            .transform_feedback_preserves_provoking_vertex(true),
    );
    to.put(vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default().transform_feedback(true).geometry_streams(true));
    to.put(
        vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
            .task_shader(true)
            .mesh_shader(true)
            .multiview_mesh_shader(true)
            .primitive_fragment_shading_rate_mesh_shader(true)
            .mesh_shader_queries(true),
    );
    to.put(
        vk::PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT::default()
            .primitives_generated_query(true)
            .primitives_generated_query_with_rasterizer_discard(true)
            .primitives_generated_query_with_non_zero_streams(true),
    );
}

pub(super) fn properties(to: &mut impl Structures) {
    // Coverage is exact and polygons are not enlarged. Lines and points have no conservative
    // coverage, but use samples.
    to.put(
        vk::PhysicalDeviceConservativeRasterizationPropertiesEXT::default()
            .primitive_underestimation(true)
            .degenerate_triangles_rasterized(true)
            .fully_covered_fragment_shader_input_variable(true),
    );
    // An attribute that is not aligned to 4 bytes takes one load more, and shifts.
    to.put(PhysicalDeviceLegacyVertexAttributesPropertiesEXT::default());
    // Vertices are in the order of primitive assembly, with the provoking vertex first or last.
    to.put(vk::PhysicalDeviceFragmentShaderBarycentricPropertiesKHR::default());
    to.put(fragment_shading_rate());
    let [least, most] = DENSITY_TEXEL_SIZES.map(square);
    to.put(
        vk::PhysicalDeviceFragmentDensityMapPropertiesEXT::default()
            .min_fragment_density_texel_size(least)
            .max_fragment_density_texel_size(most),
    );
    // A subsampled image is stored like others, and loads keep its texels.
    to.put(
        vk::PhysicalDeviceFragmentDensityMap2PropertiesEXT::default()
            .subsampled_loads(true)
            .max_subsampled_array_layers(physical::limits().max_image_array_layers)
            .max_descriptor_set_subsampled_samplers(physical::limits().max_descriptor_set_samplers),
    );
    to.put(mesh_shader());
    to.put(sample_locations());
    to.put(
        vk::PhysicalDeviceProvokingVertexPropertiesEXT::default()
            .provoking_vertex_mode_per_pipeline(true)
            .transform_feedback_preserves_triangle_fan_provoking_vertex(true),
    );
    to.put(transform_feedback());
    to.put(vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default().max_vertex_attrib_divisor(u32::MAX));
}

/// Returns the limits of task and mesh shaders. Their workgroups have the limits of compute
/// workgroups, and their outputs are stored in workgroup memory.
fn mesh_shader() -> vk::PhysicalDeviceMeshShaderPropertiesEXT<'static> {
    let limits = physical::limits();
    let (groups, size) = (limits.max_compute_work_group_count, limits.max_compute_work_group_size);
    let (invocations, memory) = (limits.max_compute_work_group_invocations, limits.max_compute_shared_memory_size);
    vk::PhysicalDeviceMeshShaderPropertiesEXT::default()
        .max_task_work_group_total_count(MESH_WORKGROUPS)
        .max_task_work_group_count(groups)
        .max_task_work_group_invocations(invocations)
        .max_task_work_group_size(size)
        .max_task_payload_size(MESH_PAYLOAD)
        .max_task_shared_memory_size(memory)
        .max_task_payload_and_shared_memory_size(memory + MESH_PAYLOAD)
        .max_mesh_work_group_total_count(MESH_WORKGROUPS)
        .max_mesh_work_group_count(groups)
        .max_mesh_work_group_invocations(invocations)
        .max_mesh_work_group_size(size)
        .max_mesh_shared_memory_size(memory)
        .max_mesh_payload_and_shared_memory_size(memory + MESH_PAYLOAD)
        .max_mesh_output_memory_size(MESH_OUTPUTS)
        .max_mesh_payload_and_output_memory_size(MESH_OUTPUTS + MESH_PAYLOAD)
        .max_mesh_output_components(128)
        .max_mesh_output_vertices(256)
        .max_mesh_output_primitives(256)
        .max_mesh_output_layers(limits.max_framebuffer_layers)
        .max_mesh_multiview_view_count(MAX_VIEWS)
        .mesh_output_per_vertex_granularity(1)
        .mesh_output_per_primitive_granularity(1)
        .max_preferred_task_work_group_invocations(physical::SUBGROUP_SIZE)
        .max_preferred_mesh_work_group_invocations(128)
        .prefers_compact_vertex_output(true)
        .prefers_compact_primitive_output(true)
}

/// Maximum number of workgroups in a mesh draw, of bytes in a payload, and of bytes of a mesh
/// shader's outputs.
const MESH_WORKGROUPS: u32 = 1 << 22;
const MESH_PAYLOAD: u32 = 1 << 14;
const MESH_OUTPUTS: u32 = 1 << 17;

/// Returns the limits of transform feedback. The data of a vertex are limited by the outputs of a
/// shader.
fn transform_feedback() -> vk::PhysicalDeviceTransformFeedbackPropertiesEXT<'static> {
    vk::PhysicalDeviceTransformFeedbackPropertiesEXT::default()
        .max_transform_feedback_streams(STREAMS)
        .max_transform_feedback_buffers(FEEDBACK_BUFFERS)
        .max_transform_feedback_buffer_size(u64::from(u32::MAX))
        .max_transform_feedback_stream_data_size(FEEDBACK_STRIDE)
        .max_transform_feedback_buffer_data_size(FEEDBACK_STRIDE)
        .max_transform_feedback_buffer_data_stride(FEEDBACK_STRIDE)
        .transform_feedback_queries(true)
        .transform_feedback_streams_lines_triangles(true)
        .transform_feedback_rasterization_stream_select(true)
        .transform_feedback_draw(true)
}

/// Returns the properties of sample locations. They use one bit less than the subpixel grid of
/// positions, so that triangles can surround each location. Each draw may have other locations,
/// because no stored data depend on them.
fn sample_locations() -> vk::PhysicalDeviceSampleLocationsPropertiesEXT<'static> {
    let counts = physical::custom_sample_counts();
    vk::PhysicalDeviceSampleLocationsPropertiesEXT::default()
        .sample_location_sample_counts(counts)
        .max_sample_location_grid_size(physical::sample_location_grid(counts))
        .sample_location_coordinate_range([0.0, 1.0 - 1.0 / UNITS as f32])
        .sample_location_sub_pixel_bits(SUBPIXEL_BITS - 1)
        .variable_sample_locations(true)
}

fn square(side: u32) -> vk::Extent2D {
    vk::Extent2D { width: side, height: side }
}

/// Returns the properties of fragment shading rates. All combinations are supported except
/// fragment shader interlocks.
fn fragment_shading_rate() -> vk::PhysicalDeviceFragmentShadingRatePropertiesKHR<'static> {
    let [width, height] = Rate::ALL[0].size();
    let [least, most] = TEXEL_SIZES;
    vk::PhysicalDeviceFragmentShadingRatePropertiesKHR::default()
        .min_fragment_shading_rate_attachment_texel_size(square(least))
        .max_fragment_shading_rate_attachment_texel_size(square(most))
        .max_fragment_shading_rate_attachment_texel_size_aspect_ratio(most / least)
        .primitive_fragment_shading_rate_with_multiple_viewports(true)
        .layered_shading_rate_attachments(true)
        .fragment_shading_rate_non_trivial_combiner_ops(true)
        .max_fragment_size(vk::Extent2D { width, height })
        .max_fragment_size_aspect_ratio(width)
        .max_fragment_shading_rate_coverage_samples(MAX_COVERAGE)
        .max_fragment_shading_rate_rasterization_samples(vk::SampleCountFlags::from_raw(MAX_SAMPLES))
        .fragment_shading_rate_with_shader_depth_stencil_writes(true)
        .fragment_shading_rate_with_sample_mask(true)
        .fragment_shading_rate_with_shader_sample_mask(true)
        .fragment_shading_rate_with_conservative_rasterization(true)
        .fragment_shading_rate_with_custom_sample_locations(true)
        .fragment_shading_rate_strict_multiply_combiner(true)
}
