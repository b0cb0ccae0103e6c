//! Features of what programs may do, and of memory, beyond those of Vulkan's versions.

use ash::vk;

use super::Structures;

pub(super) fn features(to: &mut impl Structures) {
    to.put(vk::PhysicalDeviceAddressBindingReportFeaturesEXT::default().report_address_binding(true));
    to.put(vk::PhysicalDeviceShaderClockFeaturesKHR::default().shader_subgroup_clock(true).shader_device_clock(true));
    to.put(vk::PhysicalDeviceShaderExpectAssumeFeaturesKHR::default().shader_expect_assume(true));
    // Rates of change are of four lanes, whatever the stage.
    to.put(
        vk::PhysicalDeviceComputeShaderDerivativesFeaturesNV::default()
            .compute_derivative_group_quads(true)
            .compute_derivative_group_linear(true),
    );
    // What may be fused is decided operation by operation; nothing else is transformed.
    to.put(vk::PhysicalDeviceShaderFloatControls2FeaturesKHR::default().shader_float_controls2(true));
    to.put(vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR::default().shader_maximal_reconvergence(true));
    // Quads are whole: lanes that are not covered are helpers.
    to.put(vk::PhysicalDeviceShaderQuadControlFeaturesKHR::default().shader_quad_control(true));
    to.put(
        vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default()
            .workgroup_memory_explicit_layout(true)
            .workgroup_memory_explicit_layout_scalar_block_layout(true)
            .workgroup_memory_explicit_layout8_bit_access(true)
            .workgroup_memory_explicit_layout16_bit_access(true),
    );
    // Lanes of a wave join again where regions end, whatever they did inside.
    to.put(
        vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR::default()
            .shader_subgroup_uniform_control_flow(true),
    );
    // A tile is one worker's, and its fragments come in order; there are no shading rates.
    to.put(
        vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default()
            .fragment_shader_sample_interlock(true)
            .fragment_shader_pixel_interlock(true),
    );
    // Nothing of sparse images.
    to.put(
        vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default()
            .shader_buffer_float32_atomics(true)
            .shader_buffer_float32_atomic_add(true)
            .shader_buffer_float64_atomics(true)
            .shader_buffer_float64_atomic_add(true)
            .shader_shared_float32_atomics(true)
            .shader_shared_float32_atomic_add(true)
            .shader_shared_float64_atomics(true)
            .shader_shared_float64_atomic_add(true)
            .shader_image_float32_atomics(true)
            .shader_image_float32_atomic_add(true),
    );
    // Nothing of sparse images.
    to.put(vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT::default().shader_image_int64_atomics(true));
    // Nothing of 16 bits.
    to.put(
        vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT::default()
            .shader_buffer_float32_atomic_min_max(true)
            .shader_buffer_float64_atomic_min_max(true)
            .shader_shared_float32_atomic_min_max(true)
            .shader_shared_float64_atomic_min_max(true)
            .shader_image_float32_atomic_min_max(true),
    );
}
