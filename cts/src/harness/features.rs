//! Extensions that cases use, and their features, which devices are created with.
//!
//! Source: Vulkan's registry (`vk.xml`).

use std::ffi::{CStr, c_void};

use ash::vk;
use vitric_vulkan::names;

/// Instance extensions that the device extensions require.
const INSTANCE_EXTENSIONS: &[&CStr] = &[
    vk::KHR_GET_PHYSICAL_DEVICE_PROPERTIES2_NAME,
    vk::KHR_DEVICE_GROUP_CREATION_NAME,
    vk::KHR_EXTERNAL_FENCE_CAPABILITIES_NAME,
    vk::KHR_EXTERNAL_MEMORY_CAPABILITIES_NAME,
    vk::KHR_EXTERNAL_SEMAPHORE_CAPABILITIES_NAME,
    vk::KHR_SURFACE_NAME,
    vk::KHR_GET_SURFACE_CAPABILITIES2_NAME,
    vk::EXT_HEADLESS_SURFACE_NAME,
];

/// Device extensions without a structure of features.
const EXTENSIONS: &[&CStr] = &[
    vk::EXT_SAMPLER_FILTER_MINMAX_NAME,
    vk::EXT_CONSERVATIVE_RASTERIZATION_NAME,
    vk::EXT_SAMPLE_LOCATIONS_NAME,
    vk::EXT_DEPTH_RANGE_UNRESTRICTED_NAME,
    vk::KHR_CALIBRATED_TIMESTAMPS_NAME,
    vk::KHR_SWAPCHAIN_NAME,
    vk::KHR_GLOBAL_PRIORITY_NAME,
    names::KHR_COMPUTE_SHADER_DERIVATIVES_NAME,
    vk::EXT_EXTERNAL_MEMORY_DMA_BUF_NAME,
    vk::EXT_EXTERNAL_MEMORY_HOST_NAME,
    vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME,
    vk::AMD_BUFFER_MARKER_NAME,
    vk::EXT_POST_DEPTH_COVERAGE_NAME,
    vk::EXT_SHADER_STENCIL_EXPORT_NAME,
    vk::EXT_MEMORY_BUDGET_NAME,
    vk::EXT_PIPELINE_CREATION_FEEDBACK_NAME,
    vk::EXT_SEPARATE_STENCIL_USAGE_NAME,
    vk::EXT_TOOLING_INFO_NAME,
    vk::EXT_INDEX_TYPE_UINT8_NAME,
    vk::EXT_LINE_RASTERIZATION_NAME,
    vk::EXT_SHADER_VIEWPORT_INDEX_LAYER_NAME,
    vk::EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME,
    vk::EXT_LOAD_STORE_OP_NONE_NAME,
    vk::KHR_PIPELINE_LIBRARY_NAME,
    vk::KHR_PUSH_DESCRIPTOR_NAME,
    vk::KHR_BIND_MEMORY2_NAME,
    vk::KHR_MAP_MEMORY2_NAME,
    vk::EXT_QUEUE_FAMILY_FOREIGN_NAME,
    vk::GOOGLE_DECORATE_STRING_NAME,
    vk::GOOGLE_HLSL_FUNCTIONALITY1_NAME,
    vk::GOOGLE_USER_TYPE_NAME,
    vk::KHR_COPY_COMMANDS2_NAME,
    vk::KHR_FORMAT_FEATURE_FLAGS2_NAME,
    vk::KHR_SHADER_NON_SEMANTIC_INFO_NAME,
    vk::KHR_CREATE_RENDERPASS2_NAME,
    vk::KHR_DEDICATED_ALLOCATION_NAME,
    vk::KHR_DESCRIPTOR_UPDATE_TEMPLATE_NAME,
    vk::KHR_DEPTH_STENCIL_RESOLVE_NAME,
    vk::KHR_DEVICE_GROUP_NAME,
    vk::KHR_DRAW_INDIRECT_COUNT_NAME,
    vk::KHR_DRIVER_PROPERTIES_NAME,
    vk::KHR_IMAGE_FORMAT_LIST_NAME,
    vk::KHR_SAMPLER_MIRROR_CLAMP_TO_EDGE_NAME,
    vk::KHR_SHADER_FLOAT_CONTROLS_NAME,
    vk::KHR_SPIRV_1_4_NAME,
    vk::KHR_EXTERNAL_FENCE_FD_NAME,
    vk::KHR_EXTERNAL_FENCE_NAME,
    vk::KHR_EXTERNAL_MEMORY_FD_NAME,
    vk::KHR_EXTERNAL_SEMAPHORE_FD_NAME,
    vk::KHR_EXTERNAL_MEMORY_NAME,
    vk::KHR_EXTERNAL_SEMAPHORE_NAME,
    vk::KHR_GET_MEMORY_REQUIREMENTS2_NAME,
    vk::KHR_MAINTENANCE1_NAME,
    vk::KHR_MAINTENANCE2_NAME,
    vk::KHR_MAINTENANCE3_NAME,
    vk::KHR_RELAXED_BLOCK_LAYOUT_NAME,
    vk::KHR_SHADER_DRAW_PARAMETERS_NAME,
    vk::KHR_STORAGE_BUFFER_STORAGE_CLASS_NAME,
];

/// Structures of features, each with its extension.
macro_rules! features {
    (
        ash { $($field:ident: $ty:ident = $extension:ident;)* }
        newer { $($newer_field:ident: $newer:ident = $newer_extension:ident;)* }
    ) => {
        const WITH_FEATURES: &[&CStr] = &[$(vk::$extension,)* $(names::$newer_extension,)*];

        /// Supported features of extensions. Structures of unsupported extensions are zero.
        #[derive(Default)]
        #[expect(missing_docs, reason = "the fields are Vulkan's structures")]
        pub struct Features {
            $(pub $field: vk::$ty<'static>,)*
            $(pub $newer_field: vitric_vulkan::$newer,)*
        }

        impl Features {
            /// Returns the features of the device.
            pub(super) fn of(
                entry: &ash::Entry,
                instance: &ash::Instance,
                physical: vk::PhysicalDevice,
                extensions: &[&CStr],
            ) -> Box<Self> {
                let mut features = Box::<Self>::default();
                let p_next = features.chain(extensions, std::ptr::null_mut());
                let mut all = vk::PhysicalDeviceFeatures2 { p_next, ..Default::default() };
                let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
                // SAFETY: the structures of the chain live as long as the call.
                unsafe { query.get_physical_device_features2(physical, &mut all) };
                features
            }

            /// Links the structures of some extensions in front of `first`.
            pub(super) fn chain(&mut self, extensions: &[&CStr], first: *mut c_void) -> *mut c_void {
                let mut next = first;
                $(if extensions.contains(&vk::$extension) {
                    self.$field.p_next = next;
                    next = (&raw mut self.$field).cast();
                })*
                $(if extensions.contains(&names::$newer_extension) {
                    self.$newer_field.next = next;
                    next = (&raw mut self.$newer_field).cast();
                })*
                next
            }
        }
    };
}

features! {
    ash {
        formats_4444: PhysicalDevice4444FormatsFeaturesEXT = EXT_4444_FORMATS_NAME;
        formats_10x6: PhysicalDeviceRGBA10X6FormatsFeaturesEXT = EXT_RGBA10X6_FORMATS_NAME;
        ycbcr: PhysicalDeviceSamplerYcbcrConversionFeatures = KHR_SAMPLER_YCBCR_CONVERSION_NAME;
        ycbcr_arrays: PhysicalDeviceYcbcrImageArraysFeaturesEXT = EXT_YCBCR_IMAGE_ARRAYS_NAME;
        ycbcr_444: PhysicalDeviceYcbcr2Plane444FormatsFeaturesEXT = EXT_YCBCR_2PLANE_444_FORMATS_NAME;
        border_color_swizzle: PhysicalDeviceBorderColorSwizzleFeaturesEXT = EXT_BORDER_COLOR_SWIZZLE_NAME;
        custom_border_color: PhysicalDeviceCustomBorderColorFeaturesEXT = EXT_CUSTOM_BORDER_COLOR_NAME;
        image_2d_view_of_3d: PhysicalDeviceImage2DViewOf3DFeaturesEXT = EXT_IMAGE_2D_VIEW_OF_3D_NAME;
        sliced_view_of_3d: PhysicalDeviceImageSlicedViewOf3DFeaturesEXT = EXT_IMAGE_SLICED_VIEW_OF_3D_NAME;
        compression: PhysicalDeviceImageCompressionControlFeaturesEXT = EXT_IMAGE_COMPRESSION_CONTROL_NAME;
        image_view_min_lod: PhysicalDeviceImageViewMinLodFeaturesEXT = EXT_IMAGE_VIEW_MIN_LOD_NAME;
        non_seamless_cube_map: PhysicalDeviceNonSeamlessCubeMapFeaturesEXT = EXT_NON_SEAMLESS_CUBE_MAP_NAME;
        astc_decode: PhysicalDeviceASTCDecodeFeaturesEXT = EXT_ASTC_DECODE_MODE_NAME;
        astc_high_range: PhysicalDeviceTextureCompressionASTCHDRFeatures = EXT_TEXTURE_COMPRESSION_ASTC_HDR_NAME;
        fragment_rates: PhysicalDeviceFragmentShadingRateFeaturesKHR = KHR_FRAGMENT_SHADING_RATE_NAME;
        density_maps: PhysicalDeviceFragmentDensityMapFeaturesEXT = EXT_FRAGMENT_DENSITY_MAP_NAME;
        density_maps2: PhysicalDeviceFragmentDensityMap2FeaturesEXT = EXT_FRAGMENT_DENSITY_MAP2_NAME;
        bias_control: PhysicalDeviceDepthBiasControlFeaturesEXT = EXT_DEPTH_BIAS_CONTROL_NAME;
        clip_control: PhysicalDeviceDepthClipControlFeaturesEXT = EXT_DEPTH_CLIP_CONTROL_NAME;
        depth_clip: PhysicalDeviceDepthClipEnableFeaturesEXT = EXT_DEPTH_CLIP_ENABLE_NAME;
        list_restart: PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT = EXT_PRIMITIVE_TOPOLOGY_LIST_RESTART_NAME;
        provoking: PhysicalDeviceProvokingVertexFeaturesEXT = EXT_PROVOKING_VERTEX_NAME;
        bytes: PhysicalDeviceIndexTypeUint8FeaturesKHR = KHR_INDEX_TYPE_UINT8_NAME;
        lines: PhysicalDeviceLineRasterizationFeaturesKHR = KHR_LINE_RASTERIZATION_NAME;
        divisors: PhysicalDeviceVertexAttributeDivisorFeaturesKHR = KHR_VERTEX_ATTRIBUTE_DIVISOR_NAME;
        barycentric: PhysicalDeviceFragmentShaderBarycentricFeaturesKHR = KHR_FRAGMENT_SHADER_BARYCENTRIC_NAME;
        cooperative_matrix: PhysicalDeviceCooperativeMatrixFeaturesKHR = KHR_COOPERATIVE_MATRIX_NAME;
        compute_derivatives: PhysicalDeviceComputeShaderDerivativesFeaturesNV = NV_COMPUTE_SHADER_DERIVATIVES_NAME;
        float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR = KHR_SHADER_FLOAT_CONTROLS2_NAME;
        quad_control: PhysicalDeviceShaderQuadControlFeaturesKHR = KHR_SHADER_QUAD_CONTROL_NAME;
        reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR = KHR_SHADER_MAXIMAL_RECONVERGENCE_NAME;
        workgroup_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR = KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_NAME;
        shader_clock: PhysicalDeviceShaderClockFeaturesKHR = KHR_SHADER_CLOCK_NAME;
        expect_assume: PhysicalDeviceShaderExpectAssumeFeaturesKHR = KHR_SHADER_EXPECT_ASSUME_NAME;
        interlock: PhysicalDeviceFragmentShaderInterlockFeaturesEXT = EXT_FRAGMENT_SHADER_INTERLOCK_NAME;
        atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT = EXT_SHADER_ATOMIC_FLOAT_NAME;
        atomic_float2: PhysicalDeviceShaderAtomicFloat2FeaturesEXT = EXT_SHADER_ATOMIC_FLOAT2_NAME;
        image_atomic_int64: PhysicalDeviceShaderImageAtomicInt64FeaturesEXT = EXT_SHADER_IMAGE_ATOMIC_INT64_NAME;
        storage16: PhysicalDevice16BitStorageFeatures = KHR_16BIT_STORAGE_NAME;
        storage8: PhysicalDevice8BitStorageFeatures = KHR_8BIT_STORAGE_NAME;
        float16_int8: PhysicalDeviceShaderFloat16Int8Features = KHR_SHADER_FLOAT16_INT8_NAME;
        atomic_int64: PhysicalDeviceShaderAtomicInt64Features = KHR_SHADER_ATOMIC_INT64_NAME;
        addresses: PhysicalDeviceBufferDeviceAddressFeatures = KHR_BUFFER_DEVICE_ADDRESS_NAME;
        descriptor_indexing: PhysicalDeviceDescriptorIndexingFeatures = EXT_DESCRIPTOR_INDEXING_NAME;
        demote: PhysicalDeviceShaderDemoteToHelperInvocationFeatures = EXT_SHADER_DEMOTE_TO_HELPER_INVOCATION_NAME;
        rendering: PhysicalDeviceDynamicRenderingFeatures = KHR_DYNAMIC_RENDERING_NAME;
        local_read: PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR = KHR_DYNAMIC_RENDERING_LOCAL_READ_NAME;
        inline_blocks: PhysicalDeviceInlineUniformBlockFeatures = EXT_INLINE_UNIFORM_BLOCK_NAME;
        cache_control: PhysicalDevicePipelineCreationCacheControlFeatures = EXT_PIPELINE_CREATION_CACHE_CONTROL_NAME;
        dot_product: PhysicalDeviceShaderIntegerDotProductFeatures = KHR_SHADER_INTEGER_DOT_PRODUCT_NAME;
        texel_alignment: PhysicalDeviceTexelBufferAlignmentFeaturesEXT = EXT_TEXEL_BUFFER_ALIGNMENT_NAME;
        image_robustness: PhysicalDeviceImageRobustnessFeatures = EXT_IMAGE_ROBUSTNESS_NAME;
        maintenance4: PhysicalDeviceMaintenance4Features = KHR_MAINTENANCE4_NAME;
        private_data: PhysicalDevicePrivateDataFeatures = EXT_PRIVATE_DATA_NAME;
        synchronization2: PhysicalDeviceSynchronization2Features = KHR_SYNCHRONIZATION2_NAME;
        terminate: PhysicalDeviceShaderTerminateInvocationFeatures = KHR_SHADER_TERMINATE_INVOCATION_NAME;
        zeroed: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures = KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_NAME;
        dynamic_state: PhysicalDeviceExtendedDynamicStateFeaturesEXT = EXT_EXTENDED_DYNAMIC_STATE_NAME;
        dynamic_state2: PhysicalDeviceExtendedDynamicState2FeaturesEXT = EXT_EXTENDED_DYNAMIC_STATE2_NAME;
        host_reset: PhysicalDeviceHostQueryResetFeatures = EXT_HOST_QUERY_RESET_NAME;
        imageless: PhysicalDeviceImagelessFramebufferFeatures = KHR_IMAGELESS_FRAMEBUFFER_NAME;
        memory_model: PhysicalDeviceVulkanMemoryModelFeatures = KHR_VULKAN_MEMORY_MODEL_NAME;
        scalar_layout: PhysicalDeviceScalarBlockLayoutFeatures = EXT_SCALAR_BLOCK_LAYOUT_NAME;
        separate_layouts: PhysicalDeviceSeparateDepthStencilLayoutsFeatures = KHR_SEPARATE_DEPTH_STENCIL_LAYOUTS_NAME;
        timeline: PhysicalDeviceTimelineSemaphoreFeatures = KHR_TIMELINE_SEMAPHORE_NAME;
        subgroup_sizes: PhysicalDeviceSubgroupSizeControlFeatures = EXT_SUBGROUP_SIZE_CONTROL_NAME;
        subgroup_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures = KHR_SHADER_SUBGROUP_EXTENDED_TYPES_NAME;
        standard_layout: PhysicalDeviceUniformBufferStandardLayoutFeatures = KHR_UNIFORM_BUFFER_STANDARD_LAYOUT_NAME;
        multiview: PhysicalDeviceMultiviewFeatures = KHR_MULTIVIEW_NAME;
        variable_pointers: PhysicalDeviceVariablePointersFeatures = KHR_VARIABLE_POINTERS_NAME;
        feedback_loop: PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT = EXT_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_NAME;
        feedback_dynamic: PhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT =
            EXT_ATTACHMENT_FEEDBACK_LOOP_DYNAMIC_STATE_NAME;
        tile_images: PhysicalDeviceShaderTileImageFeaturesEXT = EXT_SHADER_TILE_IMAGE_NAME;
        ordered: PhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT =
            EXT_RASTERIZATION_ORDER_ATTACHMENT_ACCESS_NAME;
        render_to_single: PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT =
            EXT_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_NAME;
        blend_advanced: PhysicalDeviceBlendOperationAdvancedFeaturesEXT = EXT_BLEND_OPERATION_ADVANCED_NAME;
        color_write: PhysicalDeviceColorWriteEnableFeaturesEXT = EXT_COLOR_WRITE_ENABLE_NAME;
        conditional: PhysicalDeviceConditionalRenderingFeaturesEXT = EXT_CONDITIONAL_RENDERING_NAME;
        zero_one: PhysicalDeviceDepthClampZeroOneFeaturesEXT = EXT_DEPTH_CLAMP_ZERO_ONE_NAME;
        faults: PhysicalDeviceFaultFeaturesEXT = EXT_DEVICE_FAULT_NAME;
        dynamic_state3: PhysicalDeviceExtendedDynamicState3FeaturesEXT = EXT_EXTENDED_DYNAMIC_STATE3_NAME;
        host_copies: PhysicalDeviceHostImageCopyFeaturesEXT = EXT_HOST_IMAGE_COPY_NAME;
        unused_attachments: PhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT =
            EXT_DYNAMIC_RENDERING_UNUSED_ATTACHMENTS_NAME;
        dithering: PhysicalDeviceLegacyDitheringFeaturesEXT = EXT_LEGACY_DITHERING_NAME;
        libraries: PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT = EXT_GRAPHICS_PIPELINE_LIBRARY_NAME;
        maintenance5: PhysicalDeviceMaintenance5FeaturesKHR = KHR_MAINTENANCE5_NAME;
        maintenance6: PhysicalDeviceMaintenance6FeaturesKHR = KHR_MAINTENANCE6_NAME;
        priority: PhysicalDeviceMemoryPriorityFeaturesEXT = EXT_MEMORY_PRIORITY_NAME;
        pageable: PhysicalDevicePageableDeviceLocalMemoryFeaturesEXT = EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_NAME;
        meshes: PhysicalDeviceMeshShaderFeaturesEXT = EXT_MESH_SHADER_NAME;
        multi_draw: PhysicalDeviceMultiDrawFeaturesEXT = EXT_MULTI_DRAW_NAME;
        placed_maps: PhysicalDeviceMapMemoryPlacedFeaturesEXT = EXT_MAP_MEMORY_PLACED_NAME;
        memory_report: PhysicalDeviceDeviceMemoryReportFeaturesEXT = EXT_DEVICE_MEMORY_REPORT_NAME;
        mutable: PhysicalDeviceMutableDescriptorTypeFeaturesEXT = EXT_MUTABLE_DESCRIPTOR_TYPE_NAME;
        nested: PhysicalDeviceNestedCommandBufferFeaturesEXT = EXT_NESTED_COMMAND_BUFFER_NAME;
        protected: PhysicalDevicePipelineProtectedAccessFeaturesEXT = EXT_PIPELINE_PROTECTED_ACCESS_NAME;
        pipeline_robustness: PhysicalDevicePipelineRobustnessFeaturesEXT = EXT_PIPELINE_ROBUSTNESS_NAME;
        robustness: PhysicalDeviceRobustness2FeaturesEXT = EXT_ROBUSTNESS2_NAME;
        identifiers: PhysicalDeviceShaderModuleIdentifierFeaturesEXT = EXT_SHADER_MODULE_IDENTIFIER_NAME;
        generated: PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT = EXT_PRIMITIVES_GENERATED_QUERY_NAME;
        transform_feedback: PhysicalDeviceTransformFeedbackFeaturesEXT = EXT_TRANSFORM_FEEDBACK_NAME;
        vertex_input: PhysicalDeviceVertexInputDynamicStateFeaturesEXT = EXT_VERTEX_INPUT_DYNAMIC_STATE_NAME;
    }
    newer {
        clamp_control: PhysicalDeviceDepthClampControlFeaturesEXT = EXT_DEPTH_CLAMP_CONTROL_NAME;
        far_indices: PhysicalDeviceShader64BitIndexingFeaturesEXT = EXT_SHADER_64BIT_INDEXING_NAME;
        composites: PhysicalDeviceShaderReplicatedCompositesFeaturesEXT = EXT_SHADER_REPLICATED_COMPOSITES_NAME;
        relaxed: PhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR =
            KHR_SHADER_RELAXED_EXTENDED_INSTRUCTION_NAME;
        binaries: PhysicalDevicePipelineBinaryFeaturesKHR = KHR_PIPELINE_BINARY_NAME;
        indirect_copies: PhysicalDeviceCopyMemoryIndirectFeaturesKHR = KHR_COPY_MEMORY_INDIRECT_NAME;
        zeroed_memory: PhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT =
            EXT_ZERO_INITIALIZE_DEVICE_MEMORY_NAME;
        synchronized_queues: PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR =
            KHR_INTERNALLY_SYNCHRONIZED_QUEUES_NAME;
        present_ids: PhysicalDevicePresentId2FeaturesKHR = KHR_PRESENT_ID2_NAME;
        present_timing: PhysicalDevicePresentTimingFeaturesEXT = EXT_PRESENT_TIMING_NAME;
        legacy_attributes: PhysicalDeviceLegacyVertexAttributesFeaturesEXT = EXT_LEGACY_VERTEX_ATTRIBUTES_NAME;
        custom_resolve: PhysicalDeviceCustomResolveFeaturesEXT = EXT_CUSTOM_RESOLVE_NAME;
        maintenance10: PhysicalDeviceMaintenance10FeaturesKHR = KHR_MAINTENANCE10_NAME;
        aborts: PhysicalDeviceShaderAbortFeaturesKHR = KHR_SHADER_ABORT_NAME;
        constant_data: PhysicalDeviceShaderConstantDataFeaturesKHR = KHR_SHADER_CONSTANT_DATA_NAME;
        vertex_robustness: PhysicalDeviceVertexAttributeRobustnessFeaturesEXT = EXT_VERTEX_ATTRIBUTE_ROBUSTNESS_NAME;
        maintenance11: PhysicalDeviceMaintenance11FeaturesKHR = KHR_MAINTENANCE11_NAME;
        address_commands: PhysicalDeviceDeviceAddressCommandsFeaturesKHR = KHR_DEVICE_ADDRESS_COMMANDS_NAME;
        device_faults: PhysicalDeviceFaultFeaturesKHR = KHR_DEVICE_FAULT_NAME;
        maintenance7: PhysicalDeviceMaintenance7FeaturesKHR = KHR_MAINTENANCE7_NAME;
        maintenance8: PhysicalDeviceMaintenance8FeaturesKHR = KHR_MAINTENANCE8_NAME;
        maintenance9: PhysicalDeviceMaintenance9FeaturesKHR = KHR_MAINTENANCE9_NAME;
        bfloats: PhysicalDeviceShaderBfloat16FeaturesKHR = KHR_SHADER_BFLOAT16_NAME;
        floats_of_8_bits: PhysicalDeviceShaderFloat8FeaturesEXT = EXT_SHADER_FLOAT8_NAME;
        partitioned: PhysicalDeviceShaderSubgroupPartitionedFeaturesEXT = EXT_SHADER_SUBGROUP_PARTITIONED_NAME;
        restart_index: PhysicalDevicePrimitiveRestartIndexFeaturesEXT = EXT_PRIMITIVE_RESTART_INDEX_NAME;
        untyped: PhysicalDeviceShaderUntypedPointersFeaturesKHR = KHR_SHADER_UNTYPED_POINTERS_NAME;
        unified_layouts: PhysicalDeviceUnifiedImageLayoutsFeaturesKHR = KHR_UNIFIED_IMAGE_LAYOUTS_NAME;
    }
}

impl Features {
    /// Disables shading rates, or else density maps. A device cannot have both.
    pub(super) fn choose_rates(&mut self, has_density_maps: bool) {
        if !has_density_maps {
            self.density_maps.fragment_density_map = vk::FALSE;
            return;
        }
        let rates = &mut self.fragment_rates;
        rates.pipeline_fragment_shading_rate = vk::FALSE;
        rates.primitive_fragment_shading_rate = vk::FALSE;
        rates.attachment_fragment_shading_rate = vk::FALSE;
        self.meshes.primitive_fragment_shading_rate_mesh_shader = vk::FALSE;
    }
}

/// Returns the supported extensions of some.
fn chosen(wanted: &[&'static CStr], known: &[vk::ExtensionProperties]) -> Vec<&'static CStr> {
    let has = |name: &&CStr| known.iter().any(|known| known.extension_name_as_c_str() == Ok(*name));
    wanted.iter().copied().filter(has).collect()
}

/// Returns the supported instance extensions.
pub(super) fn of_instance(known: &[vk::ExtensionProperties]) -> Vec<&'static CStr> {
    chosen(INSTANCE_EXTENSIONS, known)
}

/// Returns the supported device extensions.
pub(super) fn of_device(known: &[vk::ExtensionProperties]) -> Vec<&'static CStr> {
    chosen(&[EXTENSIONS, WITH_FEATURES].concat(), known)
}
