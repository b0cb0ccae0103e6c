//! Names of extensions that are newer than `ash`.

use std::ffi::CStr;

macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(
        #[doc = concat!("Name of `", stringify!($constant), "`.")]
        pub const $constant: &CStr = $name;
        )*
    };
}

names! {
    EXT_DEPTH_CLAMP_CONTROL_NAME = c"VK_EXT_depth_clamp_control";
    EXT_LEGACY_VERTEX_ATTRIBUTES_NAME = c"VK_EXT_legacy_vertex_attributes";
    EXT_CUSTOM_RESOLVE_NAME = c"VK_EXT_custom_resolve";
    EXT_MULTISAMPLED_RENDER_TO_SWAPCHAIN_NAME = c"VK_EXT_multisampled_render_to_swapchain";
    EXT_PRESENT_TIMING_NAME = c"VK_EXT_present_timing";
    EXT_PRIMITIVE_RESTART_INDEX_NAME = c"VK_EXT_primitive_restart_index";
    EXT_SHADER_64BIT_INDEXING_NAME = c"VK_EXT_shader_64bit_indexing";
    EXT_SHADER_FLOAT8_NAME = c"VK_EXT_shader_float8";
    EXT_SHADER_REPLICATED_COMPOSITES_NAME = c"VK_EXT_shader_replicated_composites";
    EXT_SHADER_SUBGROUP_PARTITIONED_NAME = c"VK_EXT_shader_subgroup_partitioned";
    EXT_VERTEX_ATTRIBUTE_ROBUSTNESS_NAME = c"VK_EXT_vertex_attribute_robustness";
    EXT_ZERO_INITIALIZE_DEVICE_MEMORY_NAME = c"VK_EXT_zero_initialize_device_memory";
    KHR_COMPUTE_SHADER_DERIVATIVES_NAME = c"VK_KHR_compute_shader_derivatives";
    KHR_COPY_MEMORY_INDIRECT_NAME = c"VK_KHR_copy_memory_indirect";
    KHR_INTERNALLY_SYNCHRONIZED_QUEUES_NAME = c"VK_KHR_internally_synchronized_queues";
    KHR_DEVICE_ADDRESS_COMMANDS_NAME = c"VK_KHR_device_address_commands";
    KHR_DEVICE_FAULT_NAME = c"VK_KHR_device_fault";
    KHR_MAINTENANCE10_NAME = c"VK_KHR_maintenance10";
    KHR_MAINTENANCE11_NAME = c"VK_KHR_maintenance11";
    KHR_MAINTENANCE7_NAME = c"VK_KHR_maintenance7";
    KHR_MAINTENANCE8_NAME = c"VK_KHR_maintenance8";
    KHR_MAINTENANCE9_NAME = c"VK_KHR_maintenance9";
    KHR_PIPELINE_BINARY_NAME = c"VK_KHR_pipeline_binary";
    KHR_PRESENT_ID2_NAME = c"VK_KHR_present_id2";
    KHR_PRESENT_MODE_FIFO_LATEST_READY_NAME = c"VK_KHR_present_mode_fifo_latest_ready";
    KHR_PRESENT_WAIT2_NAME = c"VK_KHR_present_wait2";
    KHR_SHADER_BFLOAT16_NAME = c"VK_KHR_shader_bfloat16";
    KHR_SHADER_ABORT_NAME = c"VK_KHR_shader_abort";
    KHR_SHADER_CONSTANT_DATA_NAME = c"VK_KHR_shader_constant_data";
    KHR_SHADER_RELAXED_EXTENDED_INSTRUCTION_NAME = c"VK_KHR_shader_relaxed_extended_instruction";
    KHR_SHADER_UNTYPED_POINTERS_NAME = c"VK_KHR_shader_untyped_pointers";
    KHR_UNIFIED_IMAGE_LAYOUTS_NAME = c"VK_KHR_unified_image_layouts";
}
