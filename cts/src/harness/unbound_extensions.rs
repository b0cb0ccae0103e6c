//! Extensions that the bindings of `ash` lack. Each structure of features begins with a flag that
//! a device with the extension must support.
//!
//! Source: Vulkan's registry (`vk.xml`).

use std::ffi::{CStr, c_void};

use ash::vk;

/// `VK_EXT_shader_replicated_composites`.
pub const REPLICATED_COMPOSITES: &CStr = c"VK_EXT_shader_replicated_composites";
/// `VK_KHR_shader_relaxed_extended_instruction`.
pub const RELAXED_INSTRUCTION: &CStr = c"VK_KHR_shader_relaxed_extended_instruction";
/// `VK_KHR_compute_shader_derivatives`.
pub const COMPUTE_DERIVATIVES: &CStr = c"VK_KHR_compute_shader_derivatives";
/// `VK_KHR_maintenance7`.
pub const MAINTENANCE7: &CStr = c"VK_KHR_maintenance7";
/// `VK_KHR_maintenance8`.
pub const MAINTENANCE8: &CStr = c"VK_KHR_maintenance8";
/// `VK_KHR_maintenance9`.
pub const MAINTENANCE9: &CStr = c"VK_KHR_maintenance9";
/// `VK_EXT_shader_subgroup_partitioned`.
pub const PARTITIONED: &CStr = c"VK_EXT_shader_subgroup_partitioned";
/// `VK_EXT_primitive_restart_index`.
pub const RESTART_INDEX: &CStr = c"VK_EXT_primitive_restart_index";
/// `VK_KHR_unified_image_layouts`.
pub const UNIFIED_LAYOUTS: &CStr = c"VK_KHR_unified_image_layouts";

/// Extensions with the numbers of their structures of features.
pub const ALL: [(&CStr, i32); 8] = [
    (REPLICATED_COMPOSITES, 1_000_564_000),
    (RELAXED_INSTRUCTION, 1_000_558_000),
    (MAINTENANCE7, 1_000_562_000),
    (MAINTENANCE8, 1_000_574_000),
    (MAINTENANCE9, 1_000_584_000),
    (PARTITIONED, 1_000_662_000),
    (RESTART_INDEX, 1_000_678_000),
    (UNIFIED_LAYOUTS, 1_000_527_000),
];

/// A structure of features with one flag.
#[repr(C)]
struct Flag {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    flag: vk::Bool32,
    /// A second flag of some structures, which is not required.
    other: vk::Bool32,
}

/// `VkAttachmentFeedbackLoopInfoEXT`: an attachment is in a feedback loop.
#[repr(C)]
pub struct FeedbackLoop {
    s_type: vk::StructureType,
    p_next: *const c_void,
    enable: vk::Bool32,
}

impl FeedbackLoop {
    /// Returns the structure with the flag set.
    pub const fn enabled() -> Self {
        Self { s_type: vk::StructureType::from_raw(1_000_527_001), p_next: std::ptr::null(), enable: vk::TRUE }
    }
}

/// Feature structures of the supported extensions.
pub struct UnboundFeatures(Vec<Flag>);

impl UnboundFeatures {
    /// Returns the structures of the extensions in `names`, with their first flags set.
    pub fn of(names: &[&CStr]) -> Self {
        let found = ALL.iter().filter(|(name, _)| names.contains(name));
        let flag = |&(_, number): &(&CStr, i32)| Flag {
            s_type: vk::StructureType::from_raw(number),
            p_next: std::ptr::null_mut(),
            flag: vk::TRUE,
            other: vk::FALSE,
        };
        Self(found.map(flag).collect())
    }

    /// Links the structures in front of `first`.
    pub fn chain(&mut self, first: *mut c_void) -> *mut c_void {
        let mut next = first;
        for flag in &mut self.0 {
            flag.p_next = next;
            next = (&raw mut *flag).cast();
        }
        next
    }
}
