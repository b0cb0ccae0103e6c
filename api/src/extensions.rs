//! The one table of extensions: what their names and versions are, which version of Vulkan took them in, and what they need.
//!
//! Source: Vulkan specification, "Layers & Extensions" (appendix) for versions, promotion and dependencies.

use ash::vk;

/// Whom an extension is enabled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Instances.
    Instance,
    /// Devices.
    Device,
}

/// One extension.
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// Name.
    pub name: &'static str,
    /// Version of its specification.
    pub version: u32,
    /// Whom it is enabled for.
    pub level: Level,
    /// The version of Vulkan that it became a part of: its commands have names without suffix from there on.
    pub core: Option<u32>,
    /// Extensions that it builds upon, where Vulkan itself has not got them.
    pub needs: &'static [&'static str],
}

const fn row(
    name: &'static str,
    version: u32,
    level: Level,
    core: Option<u32>,
    needs: &'static [&'static str],
) -> Extension {
    Extension { name, version, level, core, needs }
}

use Level::{Device, Instance};

const V1_1: Option<u32> = Some(vk::API_VERSION_1_1);
const V1_2: Option<u32> = Some(vk::API_VERSION_1_2);
const PROPERTIES2: &str = "VK_KHR_get_physical_device_properties2";

/// Every extension of instances and devices.
pub const TABLE: &[Extension] = &[
    row(PROPERTIES2, 2, Instance, V1_1, &[]),
    row("VK_KHR_surface", 25, Instance, None, &[]),
    row("VK_KHR_xcb_surface", 6, Instance, None, &["VK_KHR_surface"]),
    row("VK_EXT_headless_surface", 1, Instance, None, &["VK_KHR_surface"]),
    row("VK_EXT_debug_utils", 2, Instance, None, &[]),
    row("VK_KHR_swapchain", 70, Device, None, &["VK_KHR_surface"]),
    row("VK_KHR_create_renderpass2", 1, Device, V1_2, &[]),
    row("VK_EXT_conservative_rasterization", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_bias_control", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clip_control", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clip_enable", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_primitive_topology_list_restart", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_provoking_vertex", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_shader_viewport_index_layer", 1, Device, None, &[]),
    row("VK_KHR_index_type_uint8", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_index_type_uint8", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_vertex_attribute_divisor", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_vertex_attribute_divisor", 3, Device, None, &[PROPERTIES2]),
    row("VK_KHR_line_rasterization", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_line_rasterization", 1, Device, None, &[PROPERTIES2]),
];

/// The extension of a name.
pub fn find(name: &str) -> Option<&'static Extension> {
    TABLE.iter().find(|extension| extension.name == name)
}

/// The extensions of instances, or of devices.
pub fn of(level: Level) -> impl Iterator<Item = &'static Extension> {
    TABLE.iter().filter(move |extension| extension.level == level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_what_is_needed_is_there() {
        for (number, extension) in TABLE.iter().enumerate() {
            assert!(TABLE[..number].iter().all(|other| other.name != extension.name), "{}", extension.name);
            for need in extension.needs {
                let found = find(need).unwrap_or_else(|| panic!("{} needs {need}", extension.name));
                assert!(extension.level == Device || found.level == Instance, "{} needs {need}", extension.name);
            }
        }
    }
}
