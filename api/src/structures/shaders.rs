//! Features of shaders and of their memory access beyond Vulkan's core versions.

use ash::vk;
use vitric_ir::interface::abort::MAX_ABORT_BYTES;
use vitric_vulkan::{
    Newer, PhysicalDeviceComputeShaderDerivativesPropertiesKHR, PhysicalDeviceShaderAbortFeaturesKHR,
    PhysicalDeviceShaderAbortPropertiesKHR, PhysicalDeviceShaderConstantDataFeaturesKHR, sys,
};

use super::Structures;

pub(super) fn features(to: &mut impl Structures) {
    to.put(vk::PhysicalDeviceAddressBindingReportFeaturesEXT::default().report_address_binding(true));
    to.put(vk::PhysicalDeviceDeviceMemoryReportFeaturesEXT::default().device_memory_report(true));
    to.put(vk::PhysicalDeviceShaderClockFeaturesKHR::default().shader_subgroup_clock(true).shader_device_clock(true));
    to.put(Newer(sys::PhysicalDeviceShader64BitIndexingFeaturesEXT {
        shader_64bit_indexing: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceShaderReplicatedCompositesFeaturesEXT {
        shader_replicated_composites: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR {
        shader_relaxed_extended_instruction: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceShaderSubgroupPartitionedFeaturesEXT {
        shader_subgroup_partitioned: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceShaderUntypedPointersFeaturesKHR {
        shader_untyped_pointers: vk::TRUE,
        ..Default::default()
    }));
    to.put(PhysicalDeviceShaderConstantDataFeaturesKHR { shader_constant_data: vk::TRUE, ..Default::default() });
    to.put(PhysicalDeviceShaderAbortFeaturesKHR { shader_abort: vk::TRUE, ..Default::default() });
    // Derivatives use quads of four lanes in every stage.
    to.put(
        vk::PhysicalDeviceComputeShaderDerivativesFeaturesNV::default()
            .compute_derivative_group_quads(true)
            .compute_derivative_group_linear(true),
    );
    to.put(vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR::default().shader_maximal_reconvergence(true));
    // Quads are complete: uncovered lanes are helpers.
    to.put(vk::PhysicalDeviceShaderQuadControlFeaturesKHR::default().shader_quad_control(true));
    to.put(
        vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default()
            .workgroup_memory_explicit_layout(true)
            .workgroup_memory_explicit_layout_scalar_block_layout(true)
            .workgroup_memory_explicit_layout8_bit_access(true)
            .workgroup_memory_explicit_layout16_bit_access(true),
    );
    // Lanes of a wave reconverge at the end of each structured region.
    to.put(
        vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR::default()
            .shader_subgroup_uniform_control_flow(true),
    );
    // One worker processes a tile, with its fragments in API order.
    // `fragment_shader_shading_rate_interlock` is not supported.
    to.put(
        vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default()
            .fragment_shader_sample_interlock(true)
            .fragment_shader_pixel_interlock(true),
    );
    to.put(
        vk::PhysicalDeviceShaderTileImageFeaturesEXT::default()
            .shader_tile_image_color_read_access(true)
            .shader_tile_image_depth_read_access(true)
            .shader_tile_image_stencil_read_access(true),
    );
    // Loads and stores of matrices check each element that is not in bounds with its strip.
    to.put(
        vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default()
            .cooperative_matrix(true)
            .cooperative_matrix_robust_buffer_access(true),
    );
    to.put(Newer(sys::PhysicalDeviceShaderBfloat16FeaturesKHR {
        shader_b_float16_type: vk::TRUE,
        shader_b_float_16dot_product: vk::TRUE,
        shader_b_float16_cooperative_matrix: vk::TRUE,
        ..Default::default()
    }));
    to.put(Newer(sys::PhysicalDeviceShaderFloat8FeaturesEXT {
        shader_float8: vk::TRUE,
        shader_float8_cooperative_matrix: vk::TRUE,
        ..Default::default()
    }));
    atomics(to);
}

fn atomics(to: &mut impl Structures) {
    // Sparse images are not supported.
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
    // Sparse images are not supported.
    to.put(vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT::default().shader_image_int64_atomics(true));
    // Atomics of 16-bit floats are not supported.
    to.put(
        vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT::default()
            .shader_buffer_float32_atomic_min_max(true)
            .shader_buffer_float64_atomic_min_max(true)
            .shader_shared_float32_atomic_min_max(true)
            .shader_shared_float64_atomic_min_max(true)
            .shader_image_float32_atomic_min_max(true),
    );
}

pub(super) fn properties(to: &mut impl Structures) {
    to.put(PhysicalDeviceShaderAbortPropertiesKHR {
        max_shader_abort_message_size: MAX_ABORT_BYTES.into(),
        ..Default::default()
    });
    to.put(tile_images());
    // Invocations of mesh and task shaders do not form quads.
    to.put(PhysicalDeviceComputeShaderDerivativesPropertiesKHR::default());
    to.put(
        vk::PhysicalDeviceCooperativeMatrixPropertiesKHR::default()
            .cooperative_matrix_supported_stages(vk::ShaderStageFlags::COMPUTE),
    );
}

/// Returns the properties of tile images. All reads are coherent. They access images at any sample,
/// also for helper invocations.
fn tile_images() -> vk::PhysicalDeviceShaderTileImagePropertiesEXT<'static> {
    vk::PhysicalDeviceShaderTileImagePropertiesEXT::default()
        .shader_tile_image_coherent_read_accelerated(true)
        .shader_tile_image_read_sample_from_pixel_rate_invocation(true)
        .shader_tile_image_read_from_helper_invocation(true)
}
