//! The table of structures that report features and properties beyond Vulkan 1.0, and that enable
//! features.
//!
//! The functions pass values to a [`Structures`] receiver, which decides how to use them. The C
//! interface copies them into an application's chain, or compares them with requested features.
//! Source: Vulkan specification, "Features" and "Limits".

mod images;
mod raster;
mod shaders;
mod state;
mod versions;

use std::fmt::Debug;

use ash::vk::{self, TaggedStructure};
use vitric_gpu::raster::SUBPIXEL_BITS;

pub use self::versions::properties14;
use crate::heap;
use crate::physical::{self, DEVICE_UUID, MAX_PUSH_DESCRIPTORS, MAX_SET_DESCRIPTORS, MAX_TYPE_DESCRIPTORS};

/// A receiver of the structures of a table.
pub trait Structures {
    /// Receives one structure with the device's values. Its `p_next` is null.
    fn put<T: TaggedStructure + Debug>(&mut self, value: T);
}

/// Returns the name of the first flag that is set in `wanted` and not in `supported`.
pub fn missing<T: Debug>(wanted: &T, supported: &T) -> Option<String> {
    // `Debug` prints every field with its name in order, which avoids a separate list of fields.
    let (wanted, supported) = (format!("{wanted:?}"), format!("{supported:?}"));
    let mut pairs = wanted.split(", ").zip(supported.split(", "));
    let (wanted, _) = pairs.find(|(wanted, supported)| is_set(wanted) && !is_set(supported))?;
    let (name, _) = wanted.split_once(": ")?;
    Some(name.rsplit(' ').next().unwrap_or_default().to_owned())
}

/// Returns true if a printed field is a flag that is set.
fn is_set(field: &str) -> bool {
    field.split_once(": ").is_some_and(|(_, value)| value.trim_end_matches([' ', '}']) == "1")
}

/// Passes the structures of features. They consist of flags, which are set for supported features.
pub fn features(to: &mut impl Structures) {
    features11(to);
    features12(to);
    features13(to);
    features14(to);
    images::features(to);
    raster::features(to);
    shaders::features(to);
    state::features(to);
}

/// Passes the features of Vulkan 1.1, and of the extensions that it includes.
fn features11(to: &mut impl Structures) {
    to.put(storage16());
    to.put(multiview());
    to.put(variable_pointers());
    to.put(ycbcr_conversion());
    to.put(draw_parameters());
    to.put(protected_memory());
    to.put(versions::features11());
}

/// Passes the features of Vulkan 1.2, and of the extensions that it includes.
fn features12(to: &mut impl Structures) {
    to.put(storage8());
    to.put(atomic_int64());
    to.put(float16_int8());
    to.put(descriptor_indexing());
    to.put(scalar_block_layout());
    to.put(imageless_framebuffer());
    to.put(uniform_buffer_standard_layout());
    to.put(separate_depth_stencil_layouts());
    to.put(host_query_reset());
    to.put(timeline_semaphore());
    to.put(buffer_device_address());
    to.put(buffer_device_address_ext());
    to.put(memory_model());
    to.put(subgroup_extended_types());
    to.put(versions::features12());
}

/// Passes the features of Vulkan 1.3, and of the extensions that it includes.
fn features13(to: &mut impl Structures) {
    to.put(dynamic_rendering());
    to.put(vk::PhysicalDeviceExtendedDynamicStateFeaturesEXT::default().extended_dynamic_state(true));
    to.put(
        vk::PhysicalDeviceExtendedDynamicState2FeaturesEXT::default()
            .extended_dynamic_state2(true)
            .extended_dynamic_state2_logic_op(true)
            .extended_dynamic_state2_patch_control_points(true),
    );
    to.put(image_robustness());
    to.put(inline_uniform_block());
    to.put(maintenance4());
    to.put(pipeline_creation_cache_control());
    to.put(integer_dot_product());
    to.put(vk::PhysicalDeviceTexelBufferAlignmentFeaturesEXT::default().texel_buffer_alignment(true));
    to.put(private_data());
    to.put(demote_to_helper_invocation());
    to.put(terminate_invocation());
    to.put(subgroup_size_control());
    to.put(synchronization2());
    to.put(zero_initialize_workgroup_memory());
    to.put(versions::features13());
}

/// Passes the features of Vulkan 1.4, and of the extensions that it includes.
fn features14(to: &mut impl Structures) {
    to.put(global_priority_query());
    to.put(subgroup_rotate());
    to.put(float_controls2());
    to.put(expect_assume());
    to.put(line_rasterization());
    to.put(attribute_divisors());
    to.put(index_type_uint8());
    to.put(local_read());
    to.put(maintenance5());
    to.put(maintenance6());
    to.put(pipeline_protected_access());
    to.put(pipeline_robustness());
    to.put(host_image_copy());
    to.put(versions::features14());
}

/// Passes the structures of properties, except [`properties14`].
pub fn properties(to: &mut impl Structures) {
    to.put(id());
    to.put(maintenance3());
    to.put(multiview_properties());
    to.put(point_clipping());
    to.put(subgroups());
    // Commands that break the rules of protected memory are dropped. They are invalid nonetheless.
    to.put(vk::PhysicalDeviceProtectedMemoryProperties::default());
    to.put(versions::properties11());
    to.put(driver());
    to.put(float_controls());
    to.put(descriptor_indexing_properties());
    to.put(depth_stencil_resolve());
    to.put(timelines());
    to.put(versions::properties12());
    to.put(inline_uniform_blocks());
    to.put(integer_dot_product_properties());
    to.put(texel_buffer_alignment());
    to.put(
        vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default()
            .min_imported_host_pointer_alignment(physical::HOST_POINTER_ALIGNMENT),
    );
    // The device is emulated, so no node of the kernel belongs to it.
    to.put(vk::PhysicalDeviceDrmPropertiesEXT::default());
    to.put(maintenance4_properties());
    to.put(subgroup_sizes());
    to.put(versions::properties13());
    to.put(line_properties());
    to.put(divisor_properties());
    to.put(push_descriptors());
    to.put(maintenance5_properties());
    to.put(maintenance6_properties());
    to.put(robustness());
    images::properties(to);
    raster::properties(to);
    shaders::properties(to);
    state::properties(to);
}

macro_rules! flags {
    ($($name:ident: $ty:ident = $($field:ident),+;)*) => {
        $(
        fn $name() -> vk::$ty<'static> {
            vk::$ty::default()$(.$field(true))+
        }
        )*
    };
}

flags! {
    storage16: PhysicalDevice16BitStorageFeatures =
        storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16,
        storage_input_output16;
    multiview: PhysicalDeviceMultiviewFeatures = multiview, multiview_geometry_shader, multiview_tessellation_shader;
    variable_pointers: PhysicalDeviceVariablePointersFeatures = variable_pointers, variable_pointers_storage_buffer;
    protected_memory: PhysicalDeviceProtectedMemoryFeatures = protected_memory;
    ycbcr_conversion: PhysicalDeviceSamplerYcbcrConversionFeatures = sampler_ycbcr_conversion;
    draw_parameters: PhysicalDeviceShaderDrawParametersFeatures = shader_draw_parameters;
    storage8: PhysicalDevice8BitStorageFeatures =
        storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access, storage_push_constant8;
    atomic_int64: PhysicalDeviceShaderAtomicInt64Features = shader_buffer_int64_atomics, shader_shared_int64_atomics;
    float16_int8: PhysicalDeviceShaderFloat16Int8Features = shader_float16, shader_int8;
    scalar_block_layout: PhysicalDeviceScalarBlockLayoutFeatures = scalar_block_layout;
    imageless_framebuffer: PhysicalDeviceImagelessFramebufferFeatures = imageless_framebuffer;
    uniform_buffer_standard_layout: PhysicalDeviceUniformBufferStandardLayoutFeatures = uniform_buffer_standard_layout;
    separate_depth_stencil_layouts: PhysicalDeviceSeparateDepthStencilLayoutsFeatures = separate_depth_stencil_layouts;
    host_query_reset: PhysicalDeviceHostQueryResetFeatures = host_query_reset;
    timeline_semaphore: PhysicalDeviceTimelineSemaphoreFeatures = timeline_semaphore;
    // `buffer_device_address_multi_device` is unset: a device group has one device.
    buffer_device_address: PhysicalDeviceBufferDeviceAddressFeatures =
        buffer_device_address, buffer_device_address_capture_replay;
    buffer_device_address_ext: PhysicalDeviceBufferDeviceAddressFeaturesEXT =
        buffer_device_address, buffer_device_address_capture_replay;
    memory_model: PhysicalDeviceVulkanMemoryModelFeatures =
        vulkan_memory_model, vulkan_memory_model_device_scope, vulkan_memory_model_availability_visibility_chains;
    subgroup_extended_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures = shader_subgroup_extended_types;
    dynamic_rendering: PhysicalDeviceDynamicRenderingFeatures = dynamic_rendering;
    image_robustness: PhysicalDeviceImageRobustnessFeatures = robust_image_access;
    inline_uniform_block: PhysicalDeviceInlineUniformBlockFeatures =
        inline_uniform_block, descriptor_binding_inline_uniform_block_update_after_bind;
    maintenance4: PhysicalDeviceMaintenance4Features = maintenance4;
    pipeline_creation_cache_control: PhysicalDevicePipelineCreationCacheControlFeatures =
        pipeline_creation_cache_control;
    integer_dot_product: PhysicalDeviceShaderIntegerDotProductFeatures = shader_integer_dot_product;
    private_data: PhysicalDevicePrivateDataFeatures = private_data;
    demote_to_helper_invocation: PhysicalDeviceShaderDemoteToHelperInvocationFeatures =
        shader_demote_to_helper_invocation;
    terminate_invocation: PhysicalDeviceShaderTerminateInvocationFeatures = shader_terminate_invocation;
    subgroup_size_control: PhysicalDeviceSubgroupSizeControlFeatures = subgroup_size_control, compute_full_subgroups;
    synchronization2: PhysicalDeviceSynchronization2Features = synchronization2;
    zero_initialize_workgroup_memory: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures =
        shader_zero_initialize_workgroup_memory;
    global_priority_query: PhysicalDeviceGlobalPriorityQueryFeaturesKHR = global_priority_query;
    subgroup_rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR =
        shader_subgroup_rotate, shader_subgroup_rotate_clustered;
    // Contraction is decided for each operation. No other floating-point transformation is applied.
    float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR = shader_float_controls2;
    expect_assume: PhysicalDeviceShaderExpectAssumeFeaturesKHR = shader_expect_assume;
    line_rasterization: PhysicalDeviceLineRasterizationFeaturesKHR =
        rectangular_lines, bresenham_lines, smooth_lines, stippled_rectangular_lines, stippled_bresenham_lines,
        stippled_smooth_lines;
    attribute_divisors: PhysicalDeviceVertexAttributeDivisorFeaturesKHR =
        vertex_attribute_instance_rate_divisor, vertex_attribute_instance_rate_zero_divisor;
    index_type_uint8: PhysicalDeviceIndexTypeUint8FeaturesKHR = index_type_uint8;
    local_read: PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR = dynamic_rendering_local_read;
    maintenance5: PhysicalDeviceMaintenance5FeaturesKHR = maintenance5;
    maintenance6: PhysicalDeviceMaintenance6FeaturesKHR = maintenance6;
    pipeline_protected_access: PhysicalDevicePipelineProtectedAccessFeaturesEXT = pipeline_protected_access;
    pipeline_robustness: PhysicalDevicePipelineRobustnessFeaturesEXT = pipeline_robustness;
    host_image_copy: PhysicalDeviceHostImageCopyFeaturesEXT = host_image_copy;
    descriptor_indexing: PhysicalDeviceDescriptorIndexingFeatures =
        shader_input_attachment_array_dynamic_indexing,
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
}

fn id() -> vk::PhysicalDeviceIDProperties<'static> {
    vk::PhysicalDeviceIDProperties::default().device_uuid(DEVICE_UUID).driver_uuid(physical::cache_uuid())
}

fn maintenance3() -> vk::PhysicalDeviceMaintenance3Properties<'static> {
    vk::PhysicalDeviceMaintenance3Properties::default()
        .max_per_set_descriptors(MAX_SET_DESCRIPTORS)
        .max_memory_allocation_size(heap::heap().size())
}

fn multiview_properties() -> vk::PhysicalDeviceMultiviewProperties<'static> {
    vk::PhysicalDeviceMultiviewProperties::default()
        .max_multiview_view_count(MAX_VIEWS)
        .max_multiview_instance_index(u32::MAX)
}

fn point_clipping() -> vk::PhysicalDevicePointClippingProperties<'static> {
    vk::PhysicalDevicePointClippingProperties::default()
        .point_clipping_behavior(vk::PointClippingBehavior::ALL_CLIP_PLANES)
}

/// Returns the properties of subgroups. A subgroup is a wave in every stage: of invocations of a
/// workgroup, vertices of an instance, or quads of a draw.
fn subgroups() -> vk::PhysicalDeviceSubgroupProperties<'static> {
    use vk::SubgroupFeatureFlags as F;
    let (basic, shuffles) = (F::BASIC | F::VOTE | F::ARITHMETIC | F::BALLOT, F::SHUFFLE | F::SHUFFLE_RELATIVE);
    let parts = F::CLUSTERED | F::QUAD | F::PARTITIONED_NV;
    vk::PhysicalDeviceSubgroupProperties::default()
        .subgroup_size(physical::SUBGROUP_SIZE)
        .supported_stages(STAGES)
        .supported_operations(basic | shuffles | parts | F::ROTATE_KHR | F::ROTATE_CLUSTERED_KHR)
        .quad_operations_in_all_stages(true)
}

/// Returns the range of subgroup sizes. Every program has the one size, requested or not.
/// Subgroups are filled in the order of the invocations.
fn subgroup_sizes() -> vk::PhysicalDeviceSubgroupSizeControlProperties<'static> {
    let most = physical::limits().max_compute_work_group_invocations;
    vk::PhysicalDeviceSubgroupSizeControlProperties::default()
        .min_subgroup_size(physical::SUBGROUP_SIZE)
        .max_subgroup_size(physical::SUBGROUP_SIZE)
        .max_compute_workgroup_subgroups(most / physical::SUBGROUP_SIZE)
        .required_subgroup_size_stages(STAGES)
}

/// Returns the accelerated operations: those on packed bytes, which have instructions of the IR.
fn integer_dot_product_properties() -> vk::PhysicalDeviceShaderIntegerDotProductProperties<'static> {
    vk::PhysicalDeviceShaderIntegerDotProductProperties::default()
        .integer_dot_product4x8_bit_packed_unsigned_accelerated(true)
        .integer_dot_product4x8_bit_packed_signed_accelerated(true)
        .integer_dot_product4x8_bit_packed_mixed_signedness_accelerated(true)
        .integer_dot_product_accumulating_saturating4x8_bit_packed_unsigned_accelerated(true)
        .integer_dot_product_accumulating_saturating4x8_bit_packed_signed_accelerated(true)
        .integer_dot_product_accumulating_saturating4x8_bit_packed_mixed_signedness_accelerated(true)
}

fn texel_buffer_alignment() -> vk::PhysicalDeviceTexelBufferAlignmentProperties<'static> {
    vk::PhysicalDeviceTexelBufferAlignmentProperties::default()
        .storage_texel_buffer_offset_alignment_bytes(physical::TEXEL_BUFFER_ALIGNMENT)
        .uniform_texel_buffer_offset_alignment_bytes(physical::TEXEL_BUFFER_ALIGNMENT)
        .storage_texel_buffer_offset_single_texel_alignment(true)
        .uniform_texel_buffer_offset_single_texel_alignment(true)
}

fn maintenance4_properties() -> vk::PhysicalDeviceMaintenance4Properties<'static> {
    vk::PhysicalDeviceMaintenance4Properties::default().max_buffer_size(physical::max_buffer_bytes())
}

fn line_properties() -> vk::PhysicalDeviceLineRasterizationPropertiesKHR<'static> {
    vk::PhysicalDeviceLineRasterizationPropertiesKHR::default().line_sub_pixel_precision_bits(SUBPIXEL_BITS)
}

fn divisor_properties() -> vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR<'static> {
    vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR::default()
        .max_vertex_attrib_divisor(u32::MAX)
        .supports_non_zero_first_instance(true)
}

fn push_descriptors() -> vk::PhysicalDevicePushDescriptorPropertiesKHR<'static> {
    vk::PhysicalDevicePushDescriptorPropertiesKHR::default().max_push_descriptors(MAX_PUSH_DESCRIPTORS)
}

/// Returns the properties of maintenance 5. Early tests count samples after the pipeline's sample
/// mask and before shaders change the coverage.
fn maintenance5_properties() -> vk::PhysicalDeviceMaintenance5PropertiesKHR<'static> {
    vk::PhysicalDeviceMaintenance5PropertiesKHR::default()
        .early_fragment_multisample_coverage_after_sample_counting(true)
        .early_fragment_sample_mask_test_before_sample_counting(true)
        .depth_stencil_swizzle_one_support(true)
        .polygon_mode_point_size(true)
}

fn maintenance6_properties() -> vk::PhysicalDeviceMaintenance6PropertiesKHR<'static> {
    vk::PhysicalDeviceMaintenance6PropertiesKHR::default()
        .block_texel_view_compatible_multiple_layers(true)
        .fragment_shading_rate_clamp_combiner_inputs(true)
        .max_combined_image_sampler_descriptor_count(1)
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

fn inline_uniform_blocks() -> vk::PhysicalDeviceInlineUniformBlockProperties<'static> {
    vk::PhysicalDeviceInlineUniformBlockProperties::default()
        .max_inline_uniform_block_size(physical::MAX_INLINE_BYTES)
        .max_per_stage_descriptor_inline_uniform_blocks(64)
        .max_per_stage_descriptor_update_after_bind_inline_uniform_blocks(64)
        .max_descriptor_set_inline_uniform_blocks(64)
        .max_descriptor_set_update_after_bind_inline_uniform_blocks(64)
}

fn depth_stencil_resolve() -> vk::PhysicalDeviceDepthStencilResolveProperties<'static> {
    vk::PhysicalDeviceDepthStencilResolveProperties::default()
        .supported_depth_resolve_modes(STENCIL_RESOLVE_MODES | vk::ResolveModeFlags::AVERAGE)
        .supported_stencil_resolve_modes(STENCIL_RESOLVE_MODES)
        .independent_resolve(true)
        .independent_resolve_none(true)
}

fn timelines() -> vk::PhysicalDeviceTimelineSemaphoreProperties<'static> {
    vk::PhysicalDeviceTimelineSemaphoreProperties::default().max_timeline_semaphore_value_difference(u64::MAX)
}

const STENCIL_RESOLVE_MODES: vk::ResolveModeFlags = vk::ResolveModeFlags::from_raw(
    vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
        | vk::ResolveModeFlags::MIN.as_raw()
        | vk::ResolveModeFlags::MAX.as_raw(),
);

/// Maximum number of views in a multiview render pass.
const MAX_VIEWS: u32 = 32;

/// Supported shader stages.
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw()
        | vk::ShaderStageFlags::TESSELLATION_CONTROL.as_raw()
        | vk::ShaderStageFlags::TESSELLATION_EVALUATION.as_raw()
        | vk::ShaderStageFlags::GEOMETRY.as_raw()
        | vk::ShaderStageFlags::TASK_EXT.as_raw()
        | vk::ShaderStageFlags::MESH_EXT.as_raw()
        | vk::ShaderStageFlags::FRAGMENT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);

/// Returns the limits of descriptor indexing. No `*_native` flag is set, because an access with a
/// non-uniform index is executed once for each distinct index.
fn descriptor_indexing_properties() -> vk::PhysicalDeviceDescriptorIndexingProperties<'static> {
    let (most, limits) = (MAX_TYPE_DESCRIPTORS, physical::limits());
    vk::PhysicalDeviceDescriptorIndexingProperties::default()
        .max_update_after_bind_descriptors_in_all_pools(u32::MAX)
        .robust_buffer_access_update_after_bind(true)
        .max_per_stage_descriptor_update_after_bind_samplers(most)
        .max_per_stage_descriptor_update_after_bind_uniform_buffers(most)
        .max_per_stage_descriptor_update_after_bind_storage_buffers(most)
        .max_per_stage_descriptor_update_after_bind_sampled_images(most)
        .max_per_stage_descriptor_update_after_bind_storage_images(most)
        .max_per_stage_descriptor_update_after_bind_input_attachments(most)
        .max_per_stage_update_after_bind_resources(MAX_SET_DESCRIPTORS)
        .max_descriptor_set_update_after_bind_samplers(most)
        .max_descriptor_set_update_after_bind_uniform_buffers(most)
        .max_descriptor_set_update_after_bind_uniform_buffers_dynamic(limits.max_descriptor_set_uniform_buffers_dynamic)
        .max_descriptor_set_update_after_bind_storage_buffers(most)
        .max_descriptor_set_update_after_bind_storage_buffers_dynamic(limits.max_descriptor_set_storage_buffers_dynamic)
        .max_descriptor_set_update_after_bind_sampled_images(most)
        .max_descriptor_set_update_after_bind_storage_images(most)
        .max_descriptor_set_update_after_bind_input_attachments(most)
}

/// Version of Khronos' conformance suite that passed, by the table in
/// `cts/expectations/deqp/RUNS.md`. The project ran the suite itself and did not submit the
/// results to Khronos.
const CONFORMANCE: vk::ConformanceVersion = vk::ConformanceVersion { major: 1, minor: 4, subminor: 6, patch: 1 };

/// Returns the driver's name and version. `driver_id` is unset: the driver has no number in
/// Vulkan's registry.
fn driver() -> vk::PhysicalDeviceDriverProperties<'static> {
    let mut driver = vk::PhysicalDeviceDriverProperties::default().conformance_version(CONFORMANCE);
    for (target, text) in [(&mut driver.driver_name, "Vitric"), (&mut driver.driver_info, env!("CARGO_PKG_VERSION"))] {
        for (target, byte) in target.iter_mut().zip(text.bytes()) {
            *target = byte as _;
        }
    }
    driver
}

/// Returns the float controls. Arithmetic follows IEEE 754 as on the host: it rounds to nearest
/// even, and keeps denormals, signed zeros, infinities and NaN. Programs may request zeros instead
/// of denormals.
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
        .shader_denorm_flush_to_zero_float16(true)
        .shader_denorm_flush_to_zero_float32(true)
        .shader_denorm_flush_to_zero_float64(true)
        .shader_rounding_mode_rte_float16(true)
        .shader_rounding_mode_rte_float32(true)
        .shader_rounding_mode_rte_float64(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed fields of all structures, grouped by structure.
    #[derive(Default)]
    struct Printed(Vec<Vec<String>>);

    impl Structures for Printed {
        fn put<T: TaggedStructure + Debug>(&mut self, value: T) {
            let text = format!("{value:?}");
            // An array's elements have the separator of fields, but contain no colon.
            self.0.push(text.split(", ").filter(|field| field.contains(": ")).map(str::to_owned).collect());
        }
    }

    /// A field that is in two structures has equal values in both.
    #[test]
    fn structures_of_versions_say_what_those_of_extensions_say() {
        let mut printed = Printed::default();
        features(&mut printed);
        properties(&mut printed);
        printed.put(properties14());
        let mut known = std::collections::HashMap::new();
        let mut shared = 0;
        for field in printed.0.iter().flatten() {
            let (name, value) = field.trim_end_matches([' ', '}']).rsplit_once(": ").unwrap();
            // Fields of a nested structure are not fields of the outer structure.
            if ["p_next", "next", "_marker", "height"].contains(&name) || name.ends_with("s_type") {
                continue;
            }
            // Properties of subgroups have longer names in the structures of versions.
            let before = known.insert(name.to_owned(), value.to_owned());
            shared += usize::from(before.is_some());
            assert!(before.is_none_or(|before| before == value), "{field}");
        }
        assert!(shared > 100, "{shared} fields are in two structures");
    }

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
