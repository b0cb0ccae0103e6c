//! The table of extensions: their names, versions, promotion to core versions of Vulkan, and
//! dependencies.
//!
//! Source: Vulkan specification, "Layers & Extensions" (appendix) for versions, promotion and
//! dependencies.

use ash::vk;
use vitric_vulkan::API_VERSION_1_4;

use crate::physical::API_VERSION;

/// Kind of object that an extension is enabled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Instances.
    Instance,
    /// Devices.
    Device,
}

/// An extension.
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// Name.
    pub name: &'static str,
    /// Version of its specification.
    pub version: u32,
    /// Kind of object that it is enabled for.
    pub level: Level,
    /// Version of Vulkan that it was promoted to. From this version on, its commands also have
    /// names without a suffix.
    pub core: Option<u32>,
    /// Extensions that it depends on, unless they are part of the version of Vulkan; also
    /// [`VERSION_1_1`], if it depends on Vulkan 1.1.
    pub needs: &'static [&'static str],
    /// Unsupported parts and notable limits, as sentences. Empty if all of it is supported.
    pub limits: &'static str,
}

const fn row(
    name: &'static str,
    version: u32,
    level: Level,
    core: Option<u32>,
    needs: &'static [&'static str],
) -> Extension {
    Extension { name, version, level, core, needs, limits: "" }
}

use Level::{Device, Instance};

const V1_1: Option<u32> = Some(vk::API_VERSION_1_1);
const V1_2: Option<u32> = Some(vk::API_VERSION_1_2);
const V1_3: Option<u32> = Some(vk::API_VERSION_1_3);
const V1_4: Option<u32> = Some(API_VERSION_1_4);
const PROPERTIES2: &str = "VK_KHR_get_physical_device_properties2";

const YCBCR_NEEDS: &[&str] =
    &["VK_KHR_maintenance1", "VK_KHR_bind_memory2", "VK_KHR_get_memory_requirements2", PROPERTIES2];

/// Pseudo-extension that stands for Vulkan 1.1 in [`Extension::needs`].
pub const VERSION_1_1: &str = "VK_VERSION_1_1";

/// All extensions of instances and devices, including the ones that need a newer version of Vulkan
/// than [`API_VERSION`].
pub const TABLE: &[Extension] = &[
    row(PROPERTIES2, 2, Instance, V1_1, &[]),
    row("VK_KHR_device_group_creation", 1, Instance, V1_1, &[]).limited("A group has one device."),
    row("VK_KHR_external_memory_capabilities", 1, Instance, V1_1, &[PROPERTIES2])
        .limited("Handle types: opaque file descriptors, dma-bufs, host allocations."),
    row("VK_KHR_external_fence_capabilities", 1, Instance, V1_1, &[PROPERTIES2])
        .limited("Handle type: opaque file descriptors."),
    row("VK_KHR_external_semaphore_capabilities", 1, Instance, V1_1, &[PROPERTIES2])
        .limited("Handle type: opaque file descriptors."),
    row("VK_KHR_surface", 25, Instance, None, &[]),
    row("VK_KHR_xcb_surface", 6, Instance, None, &["VK_KHR_surface"]),
    row("VK_KHR_xlib_surface", 6, Instance, None, &["VK_KHR_surface"]),
    row("VK_KHR_wayland_surface", 6, Instance, None, &["VK_KHR_surface"]),
    row("VK_EXT_headless_surface", 1, Instance, None, &["VK_KHR_surface"]),
    row("VK_KHR_display", 23, Instance, None, &["VK_KHR_surface"])
        .limited("Where the process can be the master of a DRM node with displays. No scaling, no blending of planes."),
    row("VK_KHR_get_display_properties2", 1, Instance, None, &["VK_KHR_display"]).limited("Where `VK_KHR_display` is."),
    row("VK_KHR_get_surface_capabilities2", 1, Instance, None, &["VK_KHR_surface"]),
    row("VK_KHR_surface_protected_capabilities", 1, Instance, None, &[VERSION_1_1, "VK_KHR_get_surface_capabilities2"])
        .limited("No surface supports protected swapchains."),
    row("VK_EXT_surface_maintenance1", 1, Instance, None, &["VK_KHR_surface", "VK_KHR_get_surface_capabilities2"])
        .limited("No scaling. All present modes are compatible."),
    row("VK_KHR_surface_maintenance1", 1, Instance, None, &["VK_KHR_surface", "VK_KHR_get_surface_capabilities2"])
        .limited("No scaling. All present modes are compatible."),
    row("VK_GOOGLE_surfaceless_query", 2, Instance, None, &["VK_KHR_surface"]),
    row("VK_EXT_debug_utils", 2, Instance, None, &[]),
    row("VK_EXT_debug_report", 10, Instance, None, &[]).limited("Messages have no location."),
    row("VK_EXT_debug_marker", 4, Device, None, &["VK_EXT_debug_report"]).limited("Tags and markers have no effect."),
    row("VK_EXT_swapchain_colorspace", 5, Instance, None, &["VK_KHR_surface"])
        .limited("Colour spaces: nonlinear sRGB, and values that pass through as they are."),
    row("VK_KHR_swapchain", 70, Device, None, &["VK_KHR_surface"])
        .limited("Present modes: immediate, mailbox, FIFO, FIFO relaxed."),
    row("VK_EXT_hdr_metadata", 3, Device, None, &["VK_KHR_swapchain"]).limited("No surface uses the metadata."),
    row("VK_KHR_incremental_present", 2, Device, None, &["VK_KHR_swapchain"])
        .limited("The whole image is presented, which the extension permits."),
    row(
        "VK_EXT_swapchain_maintenance1",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_EXT_surface_maintenance1", PROPERTIES2],
    )
    .limited("No scaling."),
    row(
        "VK_KHR_swapchain_maintenance1",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_KHR_surface_maintenance1", PROPERTIES2],
    )
    .limited("No scaling."),
    row("VK_KHR_present_id", 1, Device, None, &["VK_KHR_swapchain", PROPERTIES2]),
    row("VK_KHR_present_wait", 1, Device, None, &["VK_KHR_swapchain", "VK_KHR_present_id"]),
    row(
        "VK_KHR_present_id2",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_KHR_get_surface_capabilities2", "VK_KHR_surface"],
    ),
    row(
        "VK_KHR_present_wait2",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_KHR_get_surface_capabilities2", "VK_KHR_surface", "VK_KHR_present_id2"],
    ),
    row(
        "VK_EXT_present_timing",
        3,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_KHR_present_id2", "VK_KHR_get_surface_capabilities2", "VK_KHR_calibrated_timestamps"],
    )
    .limited("Times of visible pixels only on Wayland and displays."),
    row("VK_KHR_present_mode_fifo_latest_ready", 1, Device, None, &["VK_KHR_swapchain"]),
    row("VK_EXT_present_mode_fifo_latest_ready", 1, Device, None, &["VK_KHR_swapchain"]),
    // Vulkan 1.1.
    row("VK_KHR_16bit_storage", 1, Device, V1_1, &[PROPERTIES2, "VK_KHR_storage_buffer_storage_class"]),
    row("VK_KHR_bind_memory2", 1, Device, V1_1, &[]),
    row("VK_KHR_dedicated_allocation", 3, Device, V1_1, &["VK_KHR_get_memory_requirements2"]),
    row("VK_KHR_descriptor_update_template", 1, Device, V1_1, &[]),
    row("VK_KHR_device_group", 4, Device, V1_1, &["VK_KHR_device_group_creation"]).limited("A group has one device."),
    row("VK_KHR_external_fence", 1, Device, V1_1, &["VK_KHR_external_fence_capabilities"])
        .limited("Handle type: opaque file descriptors."),
    row("VK_KHR_external_memory", 1, Device, V1_1, &["VK_KHR_external_memory_capabilities"])
        .limited("Handle types: opaque file descriptors, dma-bufs, host allocations."),
    row("VK_KHR_external_semaphore", 1, Device, V1_1, &["VK_KHR_external_semaphore_capabilities"])
        .limited("Handle type: opaque file descriptors."),
    row("VK_KHR_get_memory_requirements2", 1, Device, V1_1, &[]),
    row("VK_KHR_maintenance1", 2, Device, V1_1, &[]),
    row("VK_KHR_maintenance2", 1, Device, V1_1, &[]),
    row("VK_KHR_maintenance3", 1, Device, V1_1, &[PROPERTIES2]),
    row("VK_KHR_multiview", 1, Device, V1_1, &[PROPERTIES2]),
    row("VK_KHR_relaxed_block_layout", 1, Device, V1_1, &[]),
    row("VK_KHR_sampler_ycbcr_conversion", 14, Device, V1_1, YCBCR_NEEDS).limited("No disjoint images."),
    row("VK_KHR_shader_draw_parameters", 1, Device, V1_1, &[]),
    row("VK_KHR_storage_buffer_storage_class", 1, Device, V1_1, &[]),
    row("VK_KHR_variable_pointers", 1, Device, V1_1, &[PROPERTIES2, "VK_KHR_storage_buffer_storage_class"]),
    // Vulkan 1.2.
    row("VK_KHR_8bit_storage", 1, Device, V1_2, &[PROPERTIES2, "VK_KHR_storage_buffer_storage_class"]),
    row("VK_KHR_buffer_device_address", 1, Device, V1_2, &[PROPERTIES2, "VK_KHR_device_group"])
        .limited("A group has one device (`bufferDeviceAddressMultiDevice` is false)."),
    row("VK_KHR_create_renderpass2", 1, Device, V1_2, &["VK_KHR_multiview", "VK_KHR_maintenance2"]),
    row("VK_EXT_descriptor_indexing", 2, Device, V1_2, &[PROPERTIES2, "VK_KHR_maintenance3"]),
    row("VK_EXT_host_query_reset", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_EXT_scalar_block_layout", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_EXT_separate_stencil_usage", 1, Device, V1_2, &[]),
    row("VK_KHR_depth_stencil_resolve", 1, Device, V1_2, &["VK_KHR_create_renderpass2"]),
    row("VK_KHR_draw_indirect_count", 1, Device, V1_2, &[]),
    row("VK_KHR_driver_properties", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_image_format_list", 1, Device, V1_2, &[]),
    row("VK_KHR_imageless_framebuffer", 1, Device, V1_2, &["VK_KHR_maintenance2", "VK_KHR_image_format_list"]),
    row("VK_KHR_sampler_mirror_clamp_to_edge", 3, Device, V1_2, &[]),
    row("VK_KHR_separate_depth_stencil_layouts", 1, Device, V1_2, &["VK_KHR_create_renderpass2"]),
    row("VK_KHR_shader_atomic_int64", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_shader_float_controls", 4, Device, V1_2, &[PROPERTIES2]).limited("No rounding toward zero."),
    row("VK_KHR_timeline_semaphore", 2, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_uniform_buffer_standard_layout", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_vulkan_memory_model", 3, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_shader_float16_int8", 1, Device, V1_2, &[PROPERTIES2]),
    row("VK_KHR_shader_subgroup_extended_types", 1, Device, V1_2, &[VERSION_1_1]),
    row("VK_KHR_spirv_1_4", 1, Device, V1_2, &[VERSION_1_1, "VK_KHR_shader_float_controls"]),
    // Vulkan 1.3.
    row("VK_EXT_extended_dynamic_state", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_extended_dynamic_state2", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_image_robustness", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_inline_uniform_block", 1, Device, V1_3, &[PROPERTIES2, "VK_KHR_maintenance1"]),
    row("VK_EXT_pipeline_creation_cache_control", 3, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_pipeline_creation_feedback", 1, Device, V1_3, &[]),
    row("VK_EXT_private_data", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_shader_demote_to_helper_invocation", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_subgroup_size_control", 2, Device, V1_3, &[VERSION_1_1]).limited("The only size is 16."),
    row("VK_EXT_texel_buffer_alignment", 1, Device, V1_3, &[PROPERTIES2])
        .limited("Offsets are multiples of 16 bytes or of one texel."),
    row("VK_EXT_tooling_info", 1, Device, V1_3, &[]).limited("The driver reports no tool."),
    row("VK_KHR_copy_commands2", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_KHR_dynamic_rendering", 1, Device, V1_3, &[PROPERTIES2, "VK_KHR_depth_stencil_resolve"]),
    row("VK_KHR_format_feature_flags2", 2, Device, V1_3, &[PROPERTIES2]),
    row("VK_KHR_maintenance4", 2, Device, V1_3, &[VERSION_1_1]),
    row("VK_KHR_shader_integer_dot_product", 1, Device, V1_3, &[PROPERTIES2])
        .limited("Products of packed bytes are accelerated."),
    row("VK_KHR_shader_non_semantic_info", 1, Device, V1_3, &[]),
    row("VK_KHR_shader_terminate_invocation", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_KHR_synchronization2", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_KHR_zero_initialize_workgroup_memory", 1, Device, V1_3, &[PROPERTIES2]),
    // Others.
    row("VK_EXT_shader_subgroup_ballot", 1, Device, None, &[]),
    row("VK_EXT_shader_subgroup_vote", 1, Device, None, &[]),
    row("VK_EXT_shader_subgroup_partitioned", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_NV_shader_subgroup_partitioned", 1, Device, None, &[VERSION_1_1]),
    row("VK_KHR_shader_subgroup_rotate", 2, Device, V1_4, &[PROPERTIES2]),
    row("VK_EXT_buffer_device_address", 2, Device, None, &[PROPERTIES2])
        .limited("A group has one device (`bufferDeviceAddressMultiDevice` is false)."),
    row("VK_EXT_device_address_binding_report", 1, Device, None, &[PROPERTIES2, "VK_EXT_debug_utils"]),
    row("VK_EXT_device_memory_report", 2, Device, None, &[PROPERTIES2])
        .limited("Of allocated and imported memory, and of images of swapchains."),
    row("VK_EXT_external_memory_host", 1, Device, None, &["VK_KHR_external_memory"])
        .limited("Pointers and sizes are multiples of 4096 bytes."),
    row("VK_EXT_queue_family_foreign", 1, Device, None, &["VK_KHR_external_memory"]),
    row("VK_EXT_external_memory_dma_buf", 1, Device, None, &["VK_KHR_external_memory_fd"])
        .limited("Exports need `/dev/udmabuf`."),
    row("VK_EXT_external_memory_acquire_unmodified", 1, Device, None, &["VK_KHR_external_memory"])
        .limited("Without effect: barriers copy nothing."),
    row(
        "VK_EXT_image_drm_format_modifier",
        2,
        Device,
        None,
        &["VK_KHR_bind_memory2", PROPERTIES2, "VK_KHR_image_format_list", "VK_KHR_sampler_ycbcr_conversion"],
    )
    .limited("The linear modifier. No disjoint images."),
    row("VK_EXT_physical_device_drm", 1, Device, None, &[PROPERTIES2])
        .limited("The device has neither a primary nor a render node."),
    row("VK_KHR_global_priority", 1, Device, V1_4, &[PROPERTIES2])
        .limited("Priorities: low, medium. They have an equal effect."),
    row("VK_EXT_global_priority", 2, Device, None, &[PROPERTIES2])
        .limited("Priorities: low, medium. They have an equal effect."),
    row("VK_EXT_global_priority_query", 1, Device, None, &["VK_EXT_global_priority", PROPERTIES2])
        .limited("Priorities: low, medium. They have an equal effect."),
    row("VK_EXT_memory_budget", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_sample_locations", 1, Device, None, &[PROPERTIES2])
        .limited("All pixels of a draw have equal locations (a grid of 1x1)."),
    row("VK_EXT_conservative_rasterization", 1, Device, None, &[PROPERTIES2])
        .limited("Triangles only. Overestimation adds no extra size."),
    row("VK_KHR_fragment_shading_rate", 2, Device, None, &["VK_KHR_create_renderpass2", PROPERTIES2])
        .limited("Fragments of up to 4x4 pixels. Not together with interlock or tile images."),
    row("VK_EXT_fragment_density_map", 3, Device, None, &[PROPERTIES2]).limited(
        "Fragments of up to 4x4 pixels, or one pixel with sample shading, conservative rasterization, Bresenham or \
         smooth lines, interlock or tile images. Subsampled images are stored in full.",
    ),
    row("VK_EXT_fragment_density_map2", 1, Device, None, &["VK_EXT_fragment_density_map"])
        .limited("Subsampled images are stored in full."),
    row("VK_KHR_external_fence_fd", 1, Device, None, &["VK_KHR_external_fence"])
        .limited("Handle type: opaque file descriptors."),
    row("VK_KHR_external_memory_fd", 1, Device, None, &["VK_KHR_external_memory"])
        .limited("Handle types: opaque file descriptors, dma-bufs."),
    row("VK_KHR_external_semaphore_fd", 1, Device, None, &["VK_KHR_external_semaphore"])
        .limited("Handle type: opaque file descriptors."),
    // Shaders. The first three extensions only add decorations that the driver ignores.
    row("VK_GOOGLE_decorate_string", 1, Device, None, &[]).limited("The decorations have no effect."),
    row("VK_GOOGLE_hlsl_functionality1", 1, Device, None, &[]).limited("The decorations have no effect."),
    row("VK_GOOGLE_user_type", 1, Device, None, &[]).limited("The decorations have no effect."),
    row("VK_EXT_fragment_shader_interlock", 1, Device, None, &[PROPERTIES2])
        .limited("Not for shading rates (`fragmentShaderShadingRateInterlock`)."),
    row("VK_EXT_post_depth_coverage", 1, Device, None, &[]),
    row("VK_EXT_shader_atomic_float", 1, Device, None, &[PROPERTIES2]).limited("No sparse images."),
    row("VK_EXT_shader_image_atomic_int64", 1, Device, None, &[PROPERTIES2]).limited("No sparse images."),
    row("VK_EXT_shader_atomic_float2", 1, Device, None, &["VK_EXT_shader_atomic_float"])
        .limited("No 16-bit floats, no sparse images."),
    row("VK_EXT_shader_stencil_export", 1, Device, None, &[]),
    row("VK_KHR_fragment_shader_barycentric", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_shader_clock", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_shader_expect_assume", 1, Device, V1_4, &[PROPERTIES2]),
    row("VK_EXT_shader_64bit_indexing", 1, Device, None, &[PROPERTIES2])
        .limited("Strides of cooperative matrices have 32 bits in bytes."),
    row("VK_EXT_shader_replicated_composites", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_cooperative_matrix", 2, Device, None, &[PROPERTIES2]).limited("Of subgroups, in compute shaders."),
    row("VK_KHR_shader_bfloat16", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_shader_float8", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_compute_shader_derivatives", 1, Device, None, &[PROPERTIES2]).limited("Not in mesh and task shaders."),
    row("VK_NV_compute_shader_derivatives", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_shader_float_controls2", 1, Device, V1_4, &[VERSION_1_1, "VK_KHR_shader_float_controls"]),
    row("VK_KHR_shader_maximal_reconvergence", 1, Device, None, &[VERSION_1_1]),
    row(
        "VK_KHR_shader_quad_control",
        1,
        Device,
        None,
        &[VERSION_1_1, "VK_KHR_vulkan_memory_model", "VK_KHR_shader_maximal_reconvergence"],
    ),
    row("VK_KHR_shader_relaxed_extended_instruction", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_shader_constant_data", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_KHR_shader_abort", 1, Device, None, &["VK_KHR_device_fault", "VK_KHR_shader_constant_data"]),
    row("VK_KHR_shader_untyped_pointers", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_workgroup_memory_explicit_layout", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_shader_subgroup_uniform_control_flow", 1, Device, None, &[VERSION_1_1]),
    // State and commands.
    row("VK_EXT_attachment_feedback_loop_layout", 2, Device, None, &[PROPERTIES2]),
    row(
        "VK_EXT_attachment_feedback_loop_dynamic_state",
        1,
        Device,
        None,
        &[PROPERTIES2, "VK_EXT_attachment_feedback_loop_layout"],
    ),
    row("VK_ARM_rasterization_order_attachment_access", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_rasterization_order_attachment_access", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_shader_tile_image", 1, Device, None, &["VK_KHR_dynamic_rendering", "VK_KHR_synchronization2"]),
    row("VK_EXT_calibrated_timestamps", 2, Device, None, &[PROPERTIES2])
        .limited("Domains: device, monotonic clock, raw monotonic clock."),
    row("VK_KHR_calibrated_timestamps", 1, Device, None, &[PROPERTIES2])
        .limited("Domains: device, monotonic clock, raw monotonic clock."),
    row("VK_EXT_pipeline_protected_access", 1, Device, V1_4, &[PROPERTIES2])
        .limited("Without effect: all pipelines keep the rules of protected memory."),
    row("VK_EXT_blend_operation_advanced", 2, Device, None, &[PROPERTIES2]),
    row("VK_EXT_color_write_enable", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_transform_feedback", 1, Device, None, &[PROPERTIES2]).limited("4 buffers, 4 streams."),
    row("VK_EXT_primitives_generated_query", 1, Device, None, &["VK_EXT_transform_feedback", PROPERTIES2]),
    row("VK_EXT_conditional_rendering", 2, Device, None, &[PROPERTIES2]),
    row("VK_KHR_depth_clamp_zero_one", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clamp_zero_one", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_custom_resolve", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_EXT_depth_range_unrestricted", 1, Device, None, &[]),
    row("VK_EXT_device_fault", 2, Device, None, &[PROPERTIES2])
        .limited("A description without addresses and vendor data."),
    row("VK_KHR_device_fault", 1, Device, None, &[PROPERTIES2, VERSION_1_1])
        .limited("A description without addresses and vendor data."),
    row("VK_EXT_dynamic_rendering_unused_attachments", 1, Device, None, &[PROPERTIES2, "VK_KHR_dynamic_rendering"]),
    row("VK_AMD_buffer_marker", 1, Device, None, &[]),
    row("VK_EXT_extended_dynamic_state3", 2, Device, None, &[PROPERTIES2]).limited("No state of NVIDIA's extensions."),
    row("VK_EXT_graphics_pipeline_library", 1, Device, None, &[PROPERTIES2, "VK_KHR_pipeline_library"])
        .limited("Code of a linked pipeline is generated when it first draws."),
    row(
        "VK_EXT_host_image_copy",
        1,
        Device,
        V1_4,
        &[PROPERTIES2, "VK_KHR_copy_commands2", "VK_KHR_format_feature_flags2"],
    ),
    row("VK_EXT_legacy_dithering", 2, Device, None, &[PROPERTIES2, VERSION_1_1])
        .limited("Of unsigned normalized formats with up to 8 bits a component."),
    row("VK_EXT_load_store_op_none", 1, Device, None, &[]),
    row("VK_EXT_memory_priority", 1, Device, None, &[PROPERTIES2]).limited("Priorities have no effect."),
    row(
        "VK_EXT_multisampled_render_to_single_sampled",
        1,
        Device,
        None,
        &["VK_KHR_create_renderpass2", "VK_KHR_depth_stencil_resolve"],
    ),
    row(
        "VK_EXT_multisampled_render_to_swapchain",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_EXT_multisampled_render_to_single_sampled"],
    ),
    row("VK_EXT_mesh_shader", 1, Device, None, &["VK_KHR_spirv_1_4"]),
    row("VK_EXT_multi_draw", 1, Device, None, &[PROPERTIES2]).limited("65,536 draws a command."),
    row("VK_EXT_mutable_descriptor_type", 1, Device, None, &["VK_KHR_maintenance3"]),
    row("VK_EXT_nested_command_buffer", 1, Device, None, &[PROPERTIES2]).limited("32 levels."),
    row("VK_EXT_pageable_device_local_memory", 1, Device, None, &["VK_EXT_memory_priority"])
        .limited("Priorities have no effect."),
    row("VK_EXT_pipeline_robustness", 1, Device, V1_4, &[PROPERTIES2]),
    row("VK_KHR_robustness2", 1, Device, None, &[PROPERTIES2]).limited("Bounds are checked for each 4 bytes."),
    row("VK_EXT_robustness2", 1, Device, None, &[PROPERTIES2]).limited("Bounds are checked for each 4 bytes."),
    row("VK_EXT_shader_module_identifier", 1, Device, None, &[PROPERTIES2, "VK_EXT_pipeline_creation_cache_control"]),
    row("VK_EXT_zero_initialize_device_memory", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_vertex_attribute_robustness", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_EXT_vertex_input_dynamic_state", 2, Device, None, &[PROPERTIES2]),
    row("VK_KHR_load_store_op_none", 1, Device, V1_4, &[]),
    row("VK_KHR_dynamic_rendering_local_read", 1, Device, V1_4, &["VK_KHR_dynamic_rendering"]),
    row("VK_KHR_map_memory2", 1, Device, V1_4, &[]),
    row("VK_EXT_map_memory_placed", 1, Device, None, &["VK_KHR_map_memory2"])
        .limited("At multiples of 4096 bytes. Not for memory of the application."),
    row("VK_KHR_maintenance5", 1, Device, V1_4, &[VERSION_1_1, "VK_KHR_dynamic_rendering"]),
    row("VK_KHR_maintenance6", 1, Device, V1_4, &[VERSION_1_1]),
    row("VK_KHR_copy_memory_indirect", 1, Device, None, &[PROPERTIES2, "VK_KHR_buffer_device_address"])
        .limited("No sparse memory."),
    row("VK_KHR_internally_synchronized_queues", 1, Device, None, &[VERSION_1_1]),
    row("VK_KHR_maintenance7", 1, Device, None, &[VERSION_1_1])
        .limited("There is no layered implementation below the driver."),
    row("VK_KHR_maintenance8", 1, Device, None, &[VERSION_1_1]),
    row("VK_KHR_maintenance9", 1, Device, None, &[PROPERTIES2, VERSION_1_1])
        .limited("No sparse images. Missing attributes read as zeros."),
    row("VK_KHR_maintenance10", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_KHR_maintenance11", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row(
        "VK_KHR_device_address_commands",
        1,
        Device,
        None,
        &[PROPERTIES2, "VK_KHR_buffer_device_address", "VK_KHR_synchronization2", "VK_EXT_extended_dynamic_state"],
    ),
    row("VK_KHR_unified_image_layouts", 1, Device, None, &[PROPERTIES2]).limited("No video."),
    row("VK_KHR_pipeline_binary", 1, Device, None, &["VK_KHR_maintenance5"]),
    row("VK_KHR_pipeline_library", 1, Device, None, &[]),
    row("VK_KHR_push_descriptor", 2, Device, V1_4, &[PROPERTIES2]).limited("32 descriptors."),
    row(
        "VK_KHR_swapchain_mutable_format",
        1,
        Device,
        None,
        &["VK_KHR_swapchain", "VK_KHR_maintenance2", "VK_KHR_image_format_list"],
    ),
    // Formats, images and samplers.
    row("VK_EXT_4444_formats", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_astc_decode_mode", 1, Device, None, &[PROPERTIES2])
        .limited("No shared exponents (`decodeModeSharedExponent`)."),
    row("VK_EXT_border_color_swizzle", 1, Device, None, &["VK_EXT_custom_border_color"]),
    row("VK_EXT_custom_border_color", 12, Device, None, &[PROPERTIES2]),
    row("VK_EXT_image_2d_view_of_3d", 1, Device, None, &["VK_KHR_maintenance1", PROPERTIES2]),
    row("VK_EXT_image_compression_control", 1, Device, None, &[PROPERTIES2])
        .limited("No fixed rates. Idle images are compacted without loss."),
    row(
        "VK_EXT_image_compression_control_swapchain",
        1,
        Device,
        None,
        &["VK_EXT_image_compression_control", "VK_KHR_swapchain", "VK_KHR_get_surface_capabilities2", PROPERTIES2],
    )
    .limited("Images of swapchains are not compressed."),
    row("VK_EXT_image_sliced_view_of_3d", 1, Device, None, &["VK_KHR_maintenance1", PROPERTIES2]),
    row("VK_EXT_image_view_min_lod", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_non_seamless_cube_map", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_rgba10x6_formats", 1, Device, None, &["VK_KHR_sampler_ycbcr_conversion"]),
    row("VK_EXT_sampler_filter_minmax", 2, Device, V1_2, &[PROPERTIES2]),
    row("VK_EXT_texture_compression_astc_hdr", 1, Device, V1_3, &[PROPERTIES2]),
    row("VK_EXT_ycbcr_2plane_444_formats", 1, Device, V1_3, &["VK_KHR_sampler_ycbcr_conversion"]),
    row("VK_EXT_ycbcr_image_arrays", 1, Device, None, &["VK_KHR_sampler_ycbcr_conversion"]),
    row("VK_EXT_depth_bias_control", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clamp_control", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clip_control", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_depth_clip_enable", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_legacy_vertex_attributes", 1, Device, None, &["VK_EXT_vertex_input_dynamic_state"])
        .limited("Components of another type are taken as bits."),
    row("VK_EXT_primitive_restart_index", 1, Device, None, &[PROPERTIES2, VERSION_1_1]),
    row("VK_EXT_primitive_topology_list_restart", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_provoking_vertex", 1, Device, None, &[PROPERTIES2]),
    row("VK_EXT_shader_viewport_index_layer", 1, Device, V1_2, &[]),
    row("VK_KHR_index_type_uint8", 1, Device, V1_4, &[PROPERTIES2]),
    row("VK_EXT_index_type_uint8", 1, Device, None, &[PROPERTIES2]),
    row("VK_KHR_vertex_attribute_divisor", 1, Device, V1_4, &[PROPERTIES2]),
    row("VK_EXT_vertex_attribute_divisor", 3, Device, None, &[PROPERTIES2]),
    row("VK_KHR_line_rasterization", 1, Device, V1_4, &[PROPERTIES2]),
    row("VK_EXT_line_rasterization", 1, Device, None, &[PROPERTIES2]),
];

impl Extension {
    const fn limited(self, limits: &'static str) -> Self {
        Self { limits, ..self }
    }

    fn is_there(&self) -> bool {
        API_VERSION >= vk::API_VERSION_1_1 || !self.needs.contains(&VERSION_1_1)
    }
}

/// Returns the supported extension with a name.
pub fn find(name: &str) -> Option<&'static Extension> {
    TABLE.iter().find(|extension| extension.name == name && extension.is_there())
}

/// Returns the supported extensions of instances or of devices.
pub fn of(level: Level) -> impl Iterator<Item = &'static Extension> {
    TABLE.iter().filter(move |extension| extension.level == level && extension.is_there())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_what_is_needed_is_there() {
        for (number, extension) in TABLE.iter().enumerate() {
            assert!(TABLE[..number].iter().all(|other| other.name != extension.name), "{}", extension.name);
            for need in extension.needs.iter().filter(|need| **need != VERSION_1_1) {
                let found = find(need).unwrap_or_else(|| panic!("{} needs {need}", extension.name));
                assert!(extension.level == Device || found.level == Instance, "{} needs {need}", extension.name);
            }
        }
    }
}
