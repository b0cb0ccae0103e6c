//! The physical device: its identity, features, limits, memory types and formats.
//!
//! Source: Vulkan specification, "Devices and Queues", "Features", "Limits", "Formats",
//! "Additional Capabilities".

use ash::vk;
use vitric_exec::runtime::{MAX_ANISOTROPY, MAX_LOD_BIAS};
use vitric_format as format;
use vitric_format::features as format_features;
use vitric_gpu::BUILD;
use vitric_gpu::command::MAX_SETS;
use vitric_gpu::geometry::LINE_WIDTHS;
use vitric_gpu::geometry::tessellation::MAX_LEVEL;
use vitric_gpu::raster::{MAX_SAMPLES, Rate};
use vitric_gpu::state::MAX_BINDINGS;
use vitric_gpu::state::MAX_VIEWPORTS;
use vitric_ir::interface::MAX_PATCH_VERTICES;
use vitric_vulkan::sys;

use crate::families::PRIORITIES;
use crate::heap;

/// Version of Vulkan, with the patch version of the bindings.
pub const API_VERSION: u32 = vitric_vulkan::HEADER_VERSION;
/// Vendor id outside of the PCI range. It is not registered with Khronos, unlike the id of Mesa's
/// software drivers.
const VENDOR_ID: u32 = 0x1_0000 + 0x56;
/// Maximum width and height of an image in texels.
pub const MAX_EXTENT_2D: u32 = 16384;
const MAX_EXTENT_3D: u32 = 4096;
/// Maximum size of a cube-compatible image in texels. It exceeds the maximum framebuffer size.
const MAX_EXTENT_CUBE: u32 = 32768;
const MAX_LAYERS: u32 = 2048;
/// Maximum number of colour attachments of a subpass. Each may use dual-source blending.
const MAX_COLORS: u32 = vitric_ir::interface::MAX_COLORS as u32;
/// Granularity of point sizes and line widths in pixels.
const SIZE_GRANULARITY: f32 = 1.0 / 256.0;
/// Number of invocations of a subgroup, in every program.
pub const SUBGROUP_SIZE: u32 = vitric_base::simd::WAVE as u32;
/// Maximum number of live samplers.
pub const MAX_SAMPLERS: u32 = 1 << 20;
/// Alignment in bytes of buffers, and of uniform buffer offsets. WebGPU requires an alignment of at
/// least 32 bytes, and GPUs have up to 256 bytes.
pub const BUFFER_ALIGNMENT: u64 = 64;
/// Alignment of storage buffer offsets in bytes. VKD3D-Proton needs at most this alignment to use
/// storage buffers. In texel buffers, its shaders check only the first component of an access.
const STORAGE_BUFFER_ALIGNMENT: u64 = 16;
/// Alignment of texel buffer offsets in bytes.
pub const TEXEL_BUFFER_ALIGNMENT: u64 = 16;

/// Alignment of imported host memory and of its size in bytes.
pub const HOST_POINTER_ALIGNMENT: u64 = 4096;

/// Maximum size of a buffer or an image in bytes, for any heap. It keeps sums of offsets from
/// overflowing.
const MAX_RESOURCE_BYTES: u64 = 1 << 40;
/// Maximum number of descriptors of one type in an update-after-bind set.
pub const MAX_TYPE_DESCRIPTORS: u32 = 1 << 20;
/// Maximum number of descriptors in a set: above the limits of all types together.
pub const MAX_SET_DESCRIPTORS: u32 = 1 << 23;
/// Maximum number of dynamic uniform buffers, and of dynamic storage buffers, in a pipeline
/// layout.
const MAX_DYNAMIC_BUFFERS: u32 = 1024;
/// Maximum size of an inline uniform block in bytes.
pub const MAX_INLINE_BYTES: u32 = 1 << 16;
/// Maximum number of push descriptors in a set.
pub const MAX_PUSH_DESCRIPTORS: u32 = 32;
/// Maximum number of draws of one `vkCmdDrawMulti*` command. Each draw is recorded as one command.
pub const MAX_MULTI_DRAWS: u32 = 1 << 16;
/// UUID that distinguishes the device from the devices of other drivers, on any machine.
pub const DEVICE_UUID: [u8; 16] = *b"vitric emulated\0";

/// Version of the driver: 0.1.0.
const DRIVER_VERSION: u32 = vk::make_api_version(0, 0, 1, 0);

/// Returns the supported features.
pub fn features() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: vk::TRUE,
        full_draw_index_uint32: vk::TRUE,
        image_cube_array: vk::TRUE,
        independent_blend: vk::TRUE,
        sample_rate_shading: vk::TRUE,
        dual_src_blend: vk::TRUE,
        logic_op: vk::TRUE,
        multi_draw_indirect: vk::TRUE,
        draw_indirect_first_instance: vk::TRUE,
        depth_clamp: vk::TRUE,
        depth_bias_clamp: vk::TRUE,
        fill_mode_non_solid: vk::TRUE,
        depth_bounds: vk::TRUE,
        wide_lines: vk::TRUE,
        large_points: vk::TRUE,
        multi_viewport: vk::TRUE,
        alpha_to_one: vk::TRUE,
        sampler_anisotropy: vk::TRUE,
        texture_compression_etc2: vk::TRUE,
        texture_compression_astc_ldr: vk::TRUE,
        texture_compression_bc: vk::TRUE,
        occlusion_query_precise: vk::TRUE,
        vertex_pipeline_stores_and_atomics: vk::TRUE,
        fragment_stores_and_atomics: vk::TRUE,
        shader_tessellation_and_geometry_point_size: vk::TRUE,
        shader_image_gather_extended: vk::TRUE,
        shader_storage_image_extended_formats: vk::TRUE,
        shader_storage_image_multisample: vk::TRUE,
        shader_storage_image_read_without_format: vk::TRUE,
        shader_storage_image_write_without_format: vk::TRUE,
        shader_uniform_buffer_array_dynamic_indexing: vk::TRUE,
        shader_sampled_image_array_dynamic_indexing: vk::TRUE,
        shader_storage_buffer_array_dynamic_indexing: vk::TRUE,
        shader_storage_image_array_dynamic_indexing: vk::TRUE,
        shader_clip_distance: vk::TRUE,
        shader_cull_distance: vk::TRUE,
        shader_float64: vk::TRUE,
        shader_int64: vk::TRUE,
        shader_int16: vk::TRUE,
        pipeline_statistics_query: vk::TRUE,
        inherited_queries: vk::TRUE,
        variable_multisample_rate: vk::TRUE,
        geometry_shader: vk::TRUE,
        tessellation_shader: vk::TRUE,
        // Sparse resources are not supported.
        ..Default::default()
    }
}

/// Returns the maximum size of a buffer in bytes: the size of the heap, which no allocation
/// exceeds.
pub fn max_buffer_bytes() -> u64 {
    heap::heap().size().min(MAX_RESOURCE_BYTES)
}

type Limits = vk::PhysicalDeviceLimits;

/// Returns the limits. None is below the specification's table "Required Limits".
pub fn limits() -> vk::PhysicalDeviceLimits {
    [image_limits, descriptor_limits, stage_limits, raster_limits, sample_limits, transfer_limits]
        .into_iter()
        .fold(Limits::default(), |rest, add| add(rest))
}

/// Adds the limits of images, samplers and memory.
fn image_limits(rest: Limits) -> Limits {
    Limits {
        max_image_dimension1_d: MAX_EXTENT_2D,
        max_image_dimension2_d: MAX_EXTENT_2D,
        max_image_dimension3_d: MAX_EXTENT_3D,
        max_image_dimension_cube: MAX_EXTENT_CUBE,
        max_image_array_layers: MAX_LAYERS,
        max_texel_buffer_elements: 1 << 27,
        max_memory_allocation_count: u32::MAX,
        max_sampler_allocation_count: MAX_SAMPLERS,
        buffer_image_granularity: 1,
        sub_texel_precision_bits: 8,
        mipmap_precision_bits: 8,
        max_sampler_lod_bias: MAX_LOD_BIAS,
        max_sampler_anisotropy: MAX_ANISOTROPY,
        min_texel_offset: -32,
        max_texel_offset: 31,
        min_texel_gather_offset: -32,
        max_texel_gather_offset: 31,
        ..rest
    }
}

/// Adds the limits of descriptors and push constants.
fn descriptor_limits(rest: Limits) -> Limits {
    Limits {
        max_uniform_buffer_range: 1 << 20,
        max_storage_buffer_range: 1 << 30,
        max_push_constants_size: vitric_ir::interface::PUSH_CONSTANT_BYTES as u32,
        max_bound_descriptor_sets: MAX_SETS as u32,
        max_per_stage_descriptor_samplers: 1024,
        max_per_stage_descriptor_uniform_buffers: 1024,
        max_per_stage_descriptor_storage_buffers: 1024,
        max_per_stage_descriptor_sampled_images: 1024,
        max_per_stage_descriptor_storage_images: 1024,
        max_per_stage_descriptor_input_attachments: 1024,
        max_per_stage_resources: 8192,
        max_descriptor_set_samplers: 1 << 15,
        max_descriptor_set_uniform_buffers: 4096,
        max_descriptor_set_uniform_buffers_dynamic: MAX_DYNAMIC_BUFFERS,
        max_descriptor_set_storage_buffers: 4096,
        max_descriptor_set_storage_buffers_dynamic: MAX_DYNAMIC_BUFFERS,
        max_descriptor_set_sampled_images: 4096,
        max_descriptor_set_storage_images: 4096,
        max_descriptor_set_input_attachments: 4096,
        min_texel_buffer_offset_alignment: TEXEL_BUFFER_ALIGNMENT,
        min_uniform_buffer_offset_alignment: BUFFER_ALIGNMENT,
        min_storage_buffer_offset_alignment: STORAGE_BUFFER_ALIGNMENT,
        ..rest
    }
}

/// Adds the limits of shader stages and of their interfaces.
fn stage_limits(rest: Limits) -> Limits {
    Limits {
        max_vertex_input_attributes: 32,
        max_vertex_input_bindings: MAX_BINDINGS as u32,
        max_vertex_input_attribute_offset: 2047,
        max_vertex_input_binding_stride: 2048,
        max_vertex_output_components: 128,
        max_tessellation_generation_level: MAX_LEVEL,
        max_tessellation_patch_size: MAX_PATCH_VERTICES,
        max_tessellation_control_per_vertex_input_components: 128,
        max_tessellation_control_per_vertex_output_components: 128,
        max_tessellation_control_per_patch_output_components: 128,
        max_tessellation_control_total_output_components: 4224,
        max_tessellation_evaluation_input_components: 128,
        max_tessellation_evaluation_output_components: 128,
        max_geometry_shader_invocations: 32,
        max_geometry_input_components: 128,
        max_geometry_output_components: 128,
        max_geometry_output_vertices: 1024,
        max_geometry_total_output_components: 1024,
        max_fragment_input_components: 128,
        max_fragment_output_attachments: MAX_COLORS,
        max_fragment_dual_src_attachments: MAX_COLORS,
        max_fragment_combined_output_resources: 2056,
        max_compute_shared_memory_size: 32768,
        max_compute_work_group_count: [65535; 3],
        max_compute_work_group_invocations: 1024,
        max_compute_work_group_size: [1024; 3],
        max_draw_indexed_index_value: u32::MAX,
        max_draw_indirect_count: u32::MAX,
        max_clip_distances: 8,
        max_cull_distances: 8,
        max_combined_clip_and_cull_distances: 8,
        ..rest
    }
}

/// Adds the limits of viewports, primitives and framebuffers.
fn raster_limits(rest: Limits) -> Limits {
    Limits {
        sub_pixel_precision_bits: vitric_gpu::raster::SUBPIXEL_BITS,
        max_viewports: MAX_VIEWPORTS as u32,
        max_viewport_dimensions: [MAX_EXTENT_2D; 2],
        viewport_bounds_range: [-32768.0, 32767.0],
        viewport_sub_pixel_bits: 8,
        max_framebuffer_width: MAX_EXTENT_2D,
        max_framebuffer_height: MAX_EXTENT_2D,
        max_framebuffer_layers: MAX_LAYERS,
        max_color_attachments: MAX_COLORS,
        point_size_range: [1.0, 1024.0],
        line_width_range: LINE_WIDTHS,
        // Sizes are not rounded to steps, but the corners are on the subpixel grid.
        point_size_granularity: SIZE_GRANULARITY,
        line_width_granularity: SIZE_GRANULARITY,
        strict_lines: vk::TRUE,
        ..rest
    }
}

/// Adds the limits of samples and of interpolation.
fn sample_limits(rest: Limits) -> Limits {
    let counts = sample_counts();
    Limits {
        min_interpolation_offset: -2.0,
        max_interpolation_offset: 2.0,
        sub_pixel_interpolation_offset_bits: 8,
        framebuffer_color_sample_counts: counts,
        framebuffer_depth_sample_counts: counts,
        framebuffer_stencil_sample_counts: counts,
        framebuffer_no_attachments_sample_counts: counts,
        sampled_image_color_sample_counts: counts,
        sampled_image_integer_sample_counts: counts,
        sampled_image_depth_sample_counts: counts,
        sampled_image_stencil_sample_counts: counts,
        storage_image_sample_counts: counts,
        max_sample_mask_words: 1,
        standard_sample_locations: vk::TRUE,
        ..rest
    }
}

/// Adds the limits of queues, copies and mapped memory.
fn transfer_limits(rest: Limits) -> Limits {
    Limits {
        min_memory_map_alignment: 64,
        timestamp_compute_and_graphics: vk::TRUE,
        timestamp_period: 1.0,
        discrete_queue_priorities: PRIORITIES,
        optimal_buffer_copy_offset_alignment: 4,
        optimal_buffer_copy_row_pitch_alignment: 4,
        non_coherent_atom_size: 64,
        ..rest
    }
}

/// Returns the properties: name, versions and limits. The device type is CPU.
pub fn properties() -> vk::PhysicalDeviceProperties {
    let mut properties = vk::PhysicalDeviceProperties {
        api_version: API_VERSION,
        driver_version: DRIVER_VERSION,
        vendor_id: VENDOR_ID,
        device_id: 1,
        device_type: vk::PhysicalDeviceType::CPU,
        pipeline_cache_uuid: cache_uuid(),
        limits: limits(),
        ..Default::default()
    };
    for (target, byte) in properties.device_name.iter_mut().zip(b"Vitric (emulated GPU)") {
        *target = *byte as _;
    }
    properties
}

/// Returns the UUID of pipeline cache data of this build.
pub fn cache_uuid() -> [u8; 16] {
    // `BUILD` is a digest of 16 bytes, in hexadecimal digits.
    let byte = |index: usize| u8::from_str_radix(&BUILD[2 * index..2 * index + 2], 16).unwrap_or(0);
    std::array::from_fn(byte)
}

/// Indices of the host-visible memory types.
pub const HOST_VISIBLE: std::ops::Range<u32> = 1..3;

/// Index of the memory type for transient images, whose contents need not be kept.
pub const LAZY: u32 = 3;

/// Index of the memory type for protected resources, the last one.
pub const PROTECTED: u32 = 4;

/// Returns the only heap, of `heap_size` bytes, and its memory types: device-local memory for
/// images, host-visible memory, cached host-visible memory, lazily allocated memory for transient
/// images, and protected memory.
pub fn memory(heap_size: u64) -> vk::PhysicalDeviceMemoryProperties {
    let device = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let visible = device | vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let lazy = device | vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
    let protected = device | vk::MemoryPropertyFlags::PROTECTED;
    let types = [device, visible, visible | vk::MemoryPropertyFlags::HOST_CACHED, lazy, protected];
    let mut memory = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: types.len() as u32,
        memory_heap_count: 1,
        ..Default::default()
    };
    for (slot, property_flags) in memory.memory_types.iter_mut().zip(types) {
        *slot = vk::MemoryType { property_flags, heap_index: 0 };
    }
    memory.memory_heaps[0] = vk::MemoryHeap { size: heap_size, flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
    memory
}

/// Returns the features of a format; empty for an unknown one.
pub fn format_properties(format: vk::Format) -> vk::FormatProperties {
    let features = format_features(format);
    vk::FormatProperties {
        linear_tiling_features: features.linear,
        optimal_tiling_features: features.optimal,
        buffer_features: features.buffer,
    }
}

/// Returns the features of a format, including the ones that exceed the 32 bits of
/// [`format_properties`].
pub fn format_properties3(format: vk::Format) -> vk::FormatProperties3<'static> {
    use sys::FormatFeatureFlags2 as New;
    use vk::FormatFeatureFlags2 as Wide;
    let features = format_features(format);
    let info = format::info(format);
    let is_depth = info.is_some_and(|info| info.depth_bits > 0);
    let newer = |features: New| Wide::from_raw(features.bits());
    let wide = |features: F| {
        let mut all = Wide::from_raw(u64::from(features.as_raw()));
        if features.intersects(F::STORAGE_IMAGE | F::STORAGE_TEXEL_BUFFER) {
            all |= Wide::STORAGE_READ_WITHOUT_FORMAT | Wide::STORAGE_WRITE_WITHOUT_FORMAT;
        }
        if features.contains(F::TRANSFER_SRC | F::TRANSFER_DST) {
            all |= Wide::HOST_IMAGE_TRANSFER_EXT;
        }
        if features.contains(F::TRANSFER_DST) {
            all |= newer(New::COPY_IMAGE_INDIRECT_DST_KHR);
        }
        // Queues of every family copy depth and stencil.
        if is_depth && features.intersects(F::TRANSFER_SRC | F::TRANSFER_DST) {
            all |= newer(New::DEPTH_COPY_ON_COMPUTE_QUEUE_KHR | New::DEPTH_COPY_ON_TRANSFER_QUEUE_KHR);
        }
        if info.is_some_and(|info| info.stencil) && features.intersects(F::TRANSFER_SRC | F::TRANSFER_DST) {
            all |= newer(New::STENCIL_COPY_ON_COMPUTE_QUEUE_KHR | New::STENCIL_COPY_ON_TRANSFER_QUEUE_KHR);
        }
        if is_depth && features.contains(F::SAMPLED_IMAGE) {
            all |= Wide::SAMPLED_IMAGE_DEPTH_COMPARISON;
        }
        all
    };
    vk::FormatProperties3::default()
        .linear_tiling_features(wide(features.linear))
        .optimal_tiling_features(wide(features.optimal))
        .buffer_features(wide(features.buffer))
}

/// Kind of an image: the parameters of `vkGetPhysicalDeviceImageFormatProperties`.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are Vulkan's parameters")]
pub struct ImageKind {
    pub format: vk::Format,
    pub kind: vk::ImageType,
    pub tiling: vk::ImageTiling,
    pub usage: vk::ImageUsageFlags,
    pub flags: vk::ImageCreateFlags,
}

impl ImageKind {
    /// Returns true if texels are stored in rows. All images with a modifier are.
    pub fn is_in_rows(self) -> bool {
        matches!(self.tiling, vk::ImageTiling::LINEAR | vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
    }
}

/// Returns the maximum extent in texels, and the limits of levels, layers and samples, of images
/// of a kind. `None` if the kind is not supported (`VK_ERROR_FORMAT_NOT_SUPPORTED`).
pub fn image_format_properties(image: ImageKind) -> Option<vk::ImageFormatProperties> {
    let info = format::info(image.format)?;
    let linear = image.is_in_rows();
    let of = |format| if linear { format_features(format).linear } else { format_features(format).optimal };
    let features = of(image.format);
    let extended = image.flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE);
    let views = format::all().filter(|view| extended && is_view(image, info, view));
    let allowed = views.fold(usages(features), |all, view| all | usages(of(view.format)));
    if !allowed.contains(image.usage) || features.is_empty() || is_refused(image, info) {
        return None;
    }
    let volume = image.kind == vk::ImageType::TYPE_3D;
    let cube = image.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let most = if cube { MAX_EXTENT_CUBE } else { MAX_EXTENT_2D };
    let height = if image.kind == vk::ImageType::TYPE_1D { 1 } else { most };
    let max_extent = match volume {
        true => vk::Extent3D { width: MAX_EXTENT_3D, height: MAX_EXTENT_3D, depth: MAX_EXTENT_3D },
        false => vk::Extent3D { width: most, height, depth: 1 },
    };
    let attachment = F::COLOR_ATTACHMENT | F::DEPTH_STENCIL_ATTACHMENT;
    let multisampled = image.kind == vk::ImageType::TYPE_2D
        && !linear
        && features.intersects(attachment)
        && !cube
        && !image.usage.intersects(RATES);
    let has_modifier = image.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
    let has_one_level = has_modifier || info.is_planar() || image.flags.contains(vk::ImageCreateFlags::SUBSAMPLED_EXT);
    Some(vk::ImageFormatProperties {
        max_extent,
        max_mip_levels: if has_one_level { 1 } else { 32 - max_extent.width.leading_zeros() },
        max_array_layers: if volume || has_modifier { 1 } else { MAX_LAYERS },
        sample_counts: if multisampled { sample_counts() } else { vk::SampleCountFlags::TYPE_1 },
        // The specification requires at least 2^31 bytes, for any heap.
        max_resource_size: max_buffer_bytes().max(1 << 31),
    })
}

/// Usages of images whose texels set fragment sizes.
const RATES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR.as_raw()
        | vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT.as_raw(),
);

/// Returns the supported fragment sizes in the order that Vulkan requires, with the sample counts
/// that each supports.
pub fn fragment_shading_rates() -> [(vk::SampleCountFlags, vk::Extent2D); Rate::ALL.len()] {
    Rate::ALL.map(|rate| {
        let [width, height] = rate.size();
        let counts = (0..=MAX_SAMPLES.ilog2()).map(|log2| 1 << log2).filter(|&samples| rate.supports(samples));
        // The specification requires all bits for fragments of one pixel, also for unsupported
        // counts.
        let counts = if rate == Rate::PIXEL { u32::MAX } else { counts.sum() };
        (vk::SampleCountFlags::from_raw(counts), vk::Extent2D { width, height })
    })
}

/// Numbers of rows of the right factor for which products of cooperative matrices are reported.
/// Longer sums of bytes need fewer loads and stores of their results.
const MATRIX_DEPTHS: [u32; 3] = [16, 32, 64];

/// Returns the supported products of cooperative matrices. Programs may prefer the first ones.
pub fn cooperative_matrices() -> Vec<vk::CooperativeMatrixPropertiesKHR<'static>> {
    use sys::ComponentTypeKHR as S;
    use vk::ComponentTypeKHR as T;
    let product = |depth, [a, b, sum]: [T; 3], saturates| {
        vk::CooperativeMatrixPropertiesKHR::default()
            .m_size(SUBGROUP_SIZE)
            .n_size(SUBGROUP_SIZE)
            .k_size(depth)
            .a_type(a)
            .b_type(b)
            .c_type(sum)
            .result_type(sum)
            .saturating_accumulation(saturates)
            .scope(vk::ScopeKHR::SUBGROUP)
    };
    let [bfloat16, e4m3, e5m2] =
        [S::BFLOAT16, S::FLOAT8_E4M3_EXT, S::FLOAT8_E5M2_EXT].map(|ty| T::from_raw(ty.as_raw()));
    let floats = [
        [T::FLOAT16, T::FLOAT16, T::FLOAT32],
        [T::FLOAT16, T::FLOAT16, T::FLOAT16],
        [bfloat16, bfloat16, T::FLOAT32],
        [bfloat16, bfloat16, bfloat16],
        [T::FLOAT32, T::FLOAT32, T::FLOAT32],
        [e4m3, e4m3, T::FLOAT32],
        [e5m2, e5m2, T::FLOAT32],
        [e4m3, e5m2, T::FLOAT32],
        [e5m2, e4m3, T::FLOAT32],
    ];
    let bytes = [
        [T::SINT8, T::SINT8, T::SINT32],
        [T::UINT8, T::UINT8, T::UINT32],
        [T::SINT8, T::UINT8, T::SINT32],
        [T::UINT8, T::SINT8, T::SINT32],
    ];
    let floats = floats.map(|types| product(SUBGROUP_SIZE, types, false));
    let of_bytes = |depth| {
        let each = move |types| [false, true].map(|saturates| product(depth, types, saturates));
        bytes.into_iter().flat_map(each)
    };
    floats.into_iter().chain(MATRIX_DEPTHS.into_iter().flat_map(of_bytes)).collect()
}

/// Returns the sample counts that support custom sample locations. A single sample has its
/// standard location.
pub fn custom_sample_counts() -> vk::SampleCountFlags {
    sample_counts() & !vk::SampleCountFlags::TYPE_1
}

/// Returns the size in pixels of the grid of custom sample locations: one pixel, because all
/// pixels have equal locations. The size is 0 for counts without custom locations.
pub fn sample_location_grid(samples: vk::SampleCountFlags) -> vk::Extent2D {
    let side = u32::from(custom_sample_counts().contains(samples) && !samples.is_empty());
    vk::Extent2D { width: side, height: side }
}

/// Returns the supported sample counts, which are powers of two.
pub fn sample_counts() -> vk::SampleCountFlags {
    // One bit for each power of two up to the maximum.
    vk::SampleCountFlags::from_raw(2 * MAX_SAMPLES - 1)
}

use vk::FormatFeatureFlags as F;

/// Returns true if views of an image may have a format. `EXTENDED_USAGE` then allows the format's
/// usage for the image.
fn is_view(image: ImageKind, info: &format::FormatInfo, view: &format::FormatInfo) -> bool {
    let as_texels = image.flags.contains(vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE);
    if info.is_planar() {
        return !view.is_planar() && info.planes().any(|plane| plane.bytes == view.bytes);
    }
    !info.is_depth_stencil()
        && !view.is_depth_stencil()
        && view.bytes == info.bytes
        && (view.compression.is_some() == info.compression.is_some() || (as_texels && view.compression.is_none()))
}

/// Returns true if the host or other devices may access an image.
fn is_shared(image: ImageKind) -> bool {
    image.usage.contains(vk::ImageUsageFlags::HOST_TRANSFER_EXT)
        || image.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT
}

fn is_refused(image: ImageKind, info: &format::FormatInfo) -> bool {
    let sparse = vk::ImageCreateFlags::SPARSE_BINDING;
    let two_dimensional = image.kind == vk::ImageType::TYPE_2D;
    let linear = image.is_in_rows();
    let has = |flags| image.flags.contains(flags);
    let cube = has(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    has(sparse)
        || (has(vk::ImageCreateFlags::PROTECTED) && is_shared(image))
        || (image.usage.intersects(RATES) && !two_dimensional)
        || (has(vk::ImageCreateFlags::SUBSAMPLED_EXT) && (linear || cube || !two_dimensional))
        || (has(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE) && image.kind != vk::ImageType::TYPE_3D)
        || (has(vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT) && image.kind != vk::ImageType::TYPE_3D)
        || (has(vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE) && info.compression.is_none())
        || (info.is_planar() && (!two_dimensional || has(vk::ImageCreateFlags::DISJOINT)))
        || (cube && !two_dimensional)
        || (info.is_depth_stencil() && image.kind == vk::ImageType::TYPE_3D)
        || (info.compression.is_some() && image.kind == vk::ImageType::TYPE_1D)
        || (image.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT && !two_dimensional)
}

/// Returns the image usage that format features allow.
fn usages(features: F) -> vk::ImageUsageFlags {
    use vk::ImageUsageFlags as U;
    let attachment = U::INPUT_ATTACHMENT | U::TRANSIENT_ATTACHMENT | U::ATTACHMENT_FEEDBACK_LOOP_EXT;
    let table = [
        (F::SAMPLED_IMAGE, U::SAMPLED),
        (F::STORAGE_IMAGE, U::STORAGE),
        (F::COLOR_ATTACHMENT, U::COLOR_ATTACHMENT | attachment),
        (F::DEPTH_STENCIL_ATTACHMENT, U::DEPTH_STENCIL_ATTACHMENT | attachment),
        (F::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR, U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR),
        (F::FRAGMENT_DENSITY_MAP_EXT, U::FRAGMENT_DENSITY_MAP_EXT),
        (F::TRANSFER_SRC, U::TRANSFER_SRC),
        (F::TRANSFER_DST, U::TRANSFER_DST | U::HOST_TRANSFER_EXT),
    ];
    let allowed = table.iter().filter(|(feature, _)| features.contains(*feature));
    allowed.fold(U::empty(), |all, (_, usage)| all | *usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_meet_what_the_specification_requires() {
        let limits = limits();
        assert!(limits.max_image_dimension2_d >= 4096 && limits.max_image_array_layers >= 256);
        assert!(limits.max_push_constants_size >= 128 && limits.max_bound_descriptor_sets >= 4);
        assert!(limits.max_vertex_output_components >= 64 && limits.max_compute_shared_memory_size >= 16384);
        assert!(limits.viewport_bounds_range[0] <= -2.0 * limits.max_viewport_dimensions[0] as f32);
        assert!(limits.framebuffer_color_sample_counts.contains(vk::SampleCountFlags::TYPE_4));
        assert!(limits.max_texel_gather_offset >= 7 && limits.min_texel_gather_offset <= -8);
        assert!(limits.point_size_range[1] >= 64.0 - 1.0 && limits.line_width_range[1] >= 8.0 - 1.0);
    }

    #[test]
    fn depth_volumes_and_unknown_formats_are_refused() {
        let kind = ImageKind {
            format: vk::Format::D32_SFLOAT,
            kind: vk::ImageType::TYPE_2D,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            flags: vk::ImageCreateFlags::empty(),
        };
        assert!(image_format_properties(kind).unwrap().sample_counts.contains(vk::SampleCountFlags::TYPE_4));
        assert!(image_format_properties(ImageKind { kind: vk::ImageType::TYPE_3D, ..kind }).is_none());
        assert!(image_format_properties(ImageKind { format: vk::Format::UNDEFINED, ..kind }).is_none());
        let storage = vk::ImageUsageFlags::STORAGE;
        assert!(image_format_properties(ImageKind { usage: storage, ..kind }).is_none());
        let extended = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
        let blocks = ImageKind { format: vk::Format::BC1_RGBA_UNORM_BLOCK, usage: storage, ..kind };
        assert!(image_format_properties(blocks).is_none());
        assert!(image_format_properties(ImageKind { flags: extended, ..blocks }).is_none());
        let flags = extended | vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE;
        assert!(image_format_properties(ImageKind { flags, ..blocks }).is_some());
        assert!(image_format_properties(ImageKind { flags, usage: storage, ..kind }).is_none());
        let srgb = ImageKind { format: vk::Format::R8G8B8A8_SRGB, usage: storage, ..kind };
        assert!(image_format_properties(srgb).is_none());
        assert!(image_format_properties(ImageKind { flags: extended, ..srgb }).is_some());
    }

    #[test]
    fn density_maps_and_subsampled_images_are_flat() {
        let map = ImageKind {
            format: vk::Format::R8G8_UNORM,
            kind: vk::ImageType::TYPE_2D,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT,
            flags: vk::ImageCreateFlags::empty(),
        };
        let found = image_format_properties(map).unwrap();
        assert_eq!(found.sample_counts, vk::SampleCountFlags::TYPE_1);
        assert!(found.max_array_layers > 1 && found.max_mip_levels > 1);
        assert!(image_format_properties(ImageKind { kind: vk::ImageType::TYPE_3D, ..map }).is_none());
        assert!(image_format_properties(ImageKind { format: vk::Format::R8_UNORM, ..map }).is_none());
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let subsampled = ImageKind { usage, flags: vk::ImageCreateFlags::SUBSAMPLED_EXT, ..map };
        assert_eq!(image_format_properties(subsampled).unwrap().max_mip_levels, 1);
        for refused in [
            ImageKind { tiling: vk::ImageTiling::LINEAR, ..subsampled },
            ImageKind { kind: vk::ImageType::TYPE_3D, ..subsampled },
            ImageKind { flags: subsampled.flags | vk::ImageCreateFlags::CUBE_COMPATIBLE, ..subsampled },
        ] {
            assert!(image_format_properties(refused).is_none(), "{:?} {:?}", refused.kind, refused.flags);
        }
    }
}
