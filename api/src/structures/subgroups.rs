//! Features of subgroups beyond those of Vulkan's versions.

use ash::vk;

use super::Structures;

pub(super) fn features(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR::default()
            .shader_subgroup_rotate(true)
            .shader_subgroup_rotate_clustered(true),
    );
    // Lanes that part join again at the end of the region in which they did.
    to.put(
        vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR::default()
            .shader_subgroup_uniform_control_flow(true),
    );
}
