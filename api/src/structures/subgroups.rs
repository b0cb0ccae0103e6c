//! Features of subgroup operations beyond Vulkan's core versions.

use ash::vk;

use super::Structures;

pub(super) fn features(to: &mut impl Structures) {
    to.put(
        vk::PhysicalDeviceShaderSubgroupRotateFeaturesKHR::default()
            .shader_subgroup_rotate(true)
            .shader_subgroup_rotate_clustered(true),
    );
}
