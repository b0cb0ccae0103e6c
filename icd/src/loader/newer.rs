//! Structures that are newer than the bindings, with the layouts of Vulkan's registry.
//!
//! Source: Vulkan's registry (`vk.xml`); the extensions in the structures' names.

use std::ffi::c_void;

use ash::vk::{self, TaggedStructure};
use vitric_api::families::FAMILIES;
use vitric_api::physical;
use vitric_api::structures::Structures;

use crate::call::Call;

/// A row has the structure's type number and its fields.
macro_rules! structures {
    ($($name:ident = $number:literal { $($field:ident),* })*) => {
        $(
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        struct $name {
            s_type: vk::StructureType,
            p_next: *mut c_void,
            $($field: u32,)*
        }

        // SAFETY: the number identifies the structure with this layout in the registry.
        unsafe impl TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
        }

        impl Default for $name {
            fn default() -> Self {
                Self { s_type: Self::STRUCTURE_TYPE, p_next: std::ptr::null_mut(), $($field: 0,)* }
            }
        }
        )*
    };
}

structures! {
    ShaderReplicatedCompositesFeatures = 1_000_564_000 { shader_replicated_composites }
    ShaderRelaxedExtendedInstructionFeatures = 1_000_558_000 { shader_relaxed_extended_instruction }
    ComputeShaderDerivativesProperties = 1_000_511_000 { mesh_and_task_shader_derivatives }
    // Only the count is declared. It is 0, so the array is not written.
    LayeredApiPropertiesList = 1_000_562_002 { layered_api_count }
    UnifiedImageLayoutsFeatures = 1_000_527_000 { unified_image_layouts, unified_image_layouts_video }
    Maintenance7Features = 1_000_562_000 { maintenance7 }
    ShaderSubgroupPartitionedFeatures = 1_000_662_000 { shader_subgroup_partitioned }
    PrimitiveRestartIndexFeatures = 1_000_678_000 { primitive_restart_index }
    Maintenance8Features = 1_000_574_000 { maintenance8 }
    Maintenance9Features = 1_000_584_000 { maintenance9 }
    Maintenance9Properties = 1_000_584_001 { image_2d_view_of_3d_sparse, default_vertex_attribute_value }
    QueueFamilyOwnershipTransferProperties = 1_000_584_002 { optimal_image_transfer_to_queue_families }
    Maintenance7Properties = 1_000_562_001 {
        robust_fragment_shading_rate_attachment_access, separate_depth_stencil_attachment_access,
        max_descriptor_set_total_uniform_buffers_dynamic, max_descriptor_set_total_storage_buffers_dynamic,
        max_descriptor_set_total_buffers_dynamic, max_descriptor_set_update_after_bind_total_uniform_buffers_dynamic,
        max_descriptor_set_update_after_bind_total_storage_buffers_dynamic,
        max_descriptor_set_update_after_bind_total_buffers_dynamic
    }
}

/// Writes 0 as the number of implementations below this one.
pub fn put_layered(call: Call<'_>, next: *mut c_void) {
    if let Some(mut list) = call.find_output::<LayeredApiPropertiesList>(next) {
        list.layered_api_count = 0;
    }
}

/// Writes the families that images can move to from a family's queues without a transfer of
/// ownership: all families, because they share one GPU.
pub fn put_ownership(call: Call<'_>, next: *mut c_void) {
    let families = (1 << FAMILIES.len()) - 1;
    let all = QueueFamilyOwnershipTransferProperties::default();
    call.put(
        next,
        QueueFamilyOwnershipTransferProperties { optimal_image_transfer_to_queue_families: families, ..all },
    );
}

/// Passes the features, like `vitric_api::structures::features`.
pub fn features(to: &mut impl Structures) {
    to.put(ShaderReplicatedCompositesFeatures { shader_replicated_composites: vk::TRUE, ..Default::default() });
    to.put(ShaderRelaxedExtendedInstructionFeatures {
        shader_relaxed_extended_instruction: vk::TRUE,
        ..Default::default()
    });
    // Layouts have no effect on images. The layout of a feedback loop only repeats a flag of the
    // pipelines.
    to.put(UnifiedImageLayoutsFeatures { unified_image_layouts: vk::TRUE, ..Default::default() });
    to.put(Maintenance7Features { maintenance7: vk::TRUE, ..Default::default() });
    to.put(ShaderSubgroupPartitionedFeatures { shader_subgroup_partitioned: vk::TRUE, ..Default::default() });
    to.put(PrimitiveRestartIndexFeatures { primitive_restart_index: vk::TRUE, ..Default::default() });
    to.put(Maintenance8Features { maintenance8: vk::TRUE, ..Default::default() });
    to.put(Maintenance9Features { maintenance9: vk::TRUE, ..Default::default() });
}

/// Passes the properties, like `vitric_api::structures::properties`.
pub fn properties(to: &mut impl Structures) {
    // Invocations of mesh and task shaders do not form quads.
    to.put(ComputeShaderDerivativesProperties::default());
    // Undescribed attributes are zero in all components, including the last one.
    to.put(Maintenance9Properties::default());
    let limits = physical::limits();
    let (uniform, storage) =
        (limits.max_descriptor_set_uniform_buffers_dynamic, limits.max_descriptor_set_storage_buffers_dynamic);
    to.put(Maintenance7Properties {
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
    });
}
