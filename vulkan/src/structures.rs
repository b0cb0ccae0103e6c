//! The table of structures that are newer than `ash`.

use std::fmt::{Debug, Formatter};
use std::ops::{Deref, DerefMut};

use ash::vk::{self, TaggedStructure};
use vulkanalia_sys as sys;

/// A structure of the raw bindings with the traits of a structure of `ash`. Its default value has
/// its type's number, and zeros.
#[repr(transparent)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Newer<T>(pub T);

impl<T> Deref for Newer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Newer<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Debug> Debug for Newer<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A row is a structure of the raw bindings and the name of its type's number.
macro_rules! structures {
    ($($name:ident = $number:ident;)*) => {
        $(
        #[doc = concat!("`Vk", stringify!($name), "`.")]
        pub type $name = Newer<sys::$name>;

        // SAFETY: the raw structure has the registry's layout, which begins with the type and the
        // pointer to the next structure. The number is that of its type.
        unsafe impl TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType =
                vk::StructureType::from_raw(sys::StructureType::$number.as_raw());
        }
        )*

        #[cfg(test)]
        fn numbers() -> Vec<[i32; 2]> {
            vec![$([$name::STRUCTURE_TYPE.as_raw(), $name::default().s_type.as_raw()]),*]
        }
    };
}

structures! {
    AttachmentFeedbackLoopInfoEXT = ATTACHMENT_FEEDBACK_LOOP_INFO_EXT;
    BeginCustomResolveInfoEXT = BEGIN_CUSTOM_RESOLVE_INFO_EXT;
    CopyMemoryIndirectInfoKHR = COPY_MEMORY_INDIRECT_INFO_KHR;
    CopyMemoryToImageIndirectInfoKHR = COPY_MEMORY_TO_IMAGE_INDIRECT_INFO_KHR;
    CustomResolveCreateInfoEXT = CUSTOM_RESOLVE_CREATE_INFO_EXT;
    DevicePipelineBinaryInternalCacheControlKHR = DEVICE_PIPELINE_BINARY_INTERNAL_CACHE_CONTROL_KHR;
    PastPresentationTimingInfoEXT = PAST_PRESENTATION_TIMING_INFO_EXT;
    PastPresentationTimingPropertiesEXT = PAST_PRESENTATION_TIMING_PROPERTIES_EXT;
    PhysicalDeviceComputeShaderDerivativesPropertiesKHR = PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_PROPERTIES_KHR;
    PhysicalDeviceCopyMemoryIndirectFeaturesKHR = PHYSICAL_DEVICE_COPY_MEMORY_INDIRECT_FEATURES_KHR;
    PhysicalDeviceCopyMemoryIndirectPropertiesKHR = PHYSICAL_DEVICE_COPY_MEMORY_INDIRECT_PROPERTIES_KHR;
    PhysicalDeviceDepthClampControlFeaturesEXT = PHYSICAL_DEVICE_DEPTH_CLAMP_CONTROL_FEATURES_EXT;
    PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR =
        PHYSICAL_DEVICE_INTERNALLY_SYNCHRONIZED_QUEUES_FEATURES_KHR;
    PhysicalDeviceCustomResolveFeaturesEXT = PHYSICAL_DEVICE_CUSTOM_RESOLVE_FEATURES_EXT;
    PhysicalDeviceLayeredApiPropertiesListKHR = PHYSICAL_DEVICE_LAYERED_API_PROPERTIES_LIST_KHR;
    PhysicalDeviceLegacyVertexAttributesFeaturesEXT = PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_FEATURES_EXT;
    PhysicalDeviceLegacyVertexAttributesPropertiesEXT = PHYSICAL_DEVICE_LEGACY_VERTEX_ATTRIBUTES_PROPERTIES_EXT;
    PhysicalDeviceMaintenance10FeaturesKHR = PHYSICAL_DEVICE_MAINTENANCE_10_FEATURES_KHR;
    PhysicalDeviceMaintenance10PropertiesKHR = PHYSICAL_DEVICE_MAINTENANCE_10_PROPERTIES_KHR;
    PhysicalDeviceMaintenance7FeaturesKHR = PHYSICAL_DEVICE_MAINTENANCE_7_FEATURES_KHR;
    PhysicalDeviceMaintenance7PropertiesKHR = PHYSICAL_DEVICE_MAINTENANCE_7_PROPERTIES_KHR;
    PhysicalDeviceMaintenance8FeaturesKHR = PHYSICAL_DEVICE_MAINTENANCE_8_FEATURES_KHR;
    PhysicalDeviceMaintenance9FeaturesKHR = PHYSICAL_DEVICE_MAINTENANCE_9_FEATURES_KHR;
    PhysicalDeviceMaintenance9PropertiesKHR = PHYSICAL_DEVICE_MAINTENANCE_9_PROPERTIES_KHR;
    PhysicalDevicePipelineBinaryFeaturesKHR = PHYSICAL_DEVICE_PIPELINE_BINARY_FEATURES_KHR;
    PhysicalDevicePipelineBinaryPropertiesKHR = PHYSICAL_DEVICE_PIPELINE_BINARY_PROPERTIES_KHR;
    PhysicalDevicePresentId2FeaturesKHR = PHYSICAL_DEVICE_PRESENT_ID_2_FEATURES_KHR;
    PhysicalDevicePresentModeFifoLatestReadyFeaturesKHR = PHYSICAL_DEVICE_PRESENT_MODE_FIFO_LATEST_READY_FEATURES_KHR;
    PhysicalDevicePresentTimingFeaturesEXT = PHYSICAL_DEVICE_PRESENT_TIMING_FEATURES_EXT;
    PhysicalDevicePresentWait2FeaturesKHR = PHYSICAL_DEVICE_PRESENT_WAIT_2_FEATURES_KHR;
    PhysicalDeviceShader64BitIndexingFeaturesEXT = PHYSICAL_DEVICE_SHADER_64_BIT_INDEXING_FEATURES_EXT;
    PhysicalDeviceShaderBfloat16FeaturesKHR = PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR;
    PhysicalDeviceShaderFloat8FeaturesEXT = PHYSICAL_DEVICE_SHADER_FLOAT8_FEATURES_EXT;
    PhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR =
        PHYSICAL_DEVICE_SHADER_RELAXED_EXTENDED_INSTRUCTION_FEATURES_KHR;
    PhysicalDeviceShaderReplicatedCompositesFeaturesEXT = PHYSICAL_DEVICE_SHADER_REPLICATED_COMPOSITES_FEATURES_EXT;
    PhysicalDeviceShaderSubgroupPartitionedFeaturesEXT = PHYSICAL_DEVICE_SHADER_SUBGROUP_PARTITIONED_FEATURES_EXT;
    PhysicalDeviceShaderUntypedPointersFeaturesKHR = PHYSICAL_DEVICE_SHADER_UNTYPED_POINTERS_FEATURES_KHR;
    PhysicalDeviceUnifiedImageLayoutsFeaturesKHR = PHYSICAL_DEVICE_UNIFIED_IMAGE_LAYOUTS_FEATURES_KHR;
    PhysicalDeviceVertexAttributeRobustnessFeaturesEXT = PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_ROBUSTNESS_FEATURES_EXT;
    PhysicalDeviceVulkan14Features = PHYSICAL_DEVICE_VULKAN_1_4_FEATURES;
    PhysicalDeviceVulkan14Properties = PHYSICAL_DEVICE_VULKAN_1_4_PROPERTIES;
    PhysicalDeviceZeroInitializeDeviceMemoryFeaturesEXT = PHYSICAL_DEVICE_ZERO_INITIALIZE_DEVICE_MEMORY_FEATURES_EXT;
    PipelineBinaryCreateInfoKHR = PIPELINE_BINARY_CREATE_INFO_KHR;
    PipelineBinaryDataInfoKHR = PIPELINE_BINARY_DATA_INFO_KHR;
    PipelineBinaryHandlesInfoKHR = PIPELINE_BINARY_HANDLES_INFO_KHR;
    PipelineBinaryInfoKHR = PIPELINE_BINARY_INFO_KHR;
    PipelineBinaryKeyKHR = PIPELINE_BINARY_KEY_KHR;
    PipelineCreateInfoKHR = PIPELINE_CREATE_INFO_KHR;
    PipelineViewportDepthClampControlCreateInfoEXT = PIPELINE_VIEWPORT_DEPTH_CLAMP_CONTROL_CREATE_INFO_EXT;
    PresentId2KHR = PRESENT_ID_2_KHR;
    PresentTimingSurfaceCapabilitiesEXT = PRESENT_TIMING_SURFACE_CAPABILITIES_EXT;
    PresentTimingsInfoEXT = PRESENT_TIMINGS_INFO_EXT;
    PresentWait2InfoKHR = PRESENT_WAIT_2_INFO_KHR;
    QueueFamilyOwnershipTransferPropertiesKHR = QUEUE_FAMILY_OWNERSHIP_TRANSFER_PROPERTIES_KHR;
    ReleaseCapturedPipelineDataInfoKHR = RELEASE_CAPTURED_PIPELINE_DATA_INFO_KHR;
    RenderingAttachmentFlagsInfoKHR = RENDERING_ATTACHMENT_FLAGS_INFO_KHR;
    RenderingEndInfoKHR = RENDERING_END_INFO_KHR;
    ResolveImageModeInfoKHR = RESOLVE_IMAGE_MODE_INFO_KHR;
    SurfaceCapabilitiesPresentId2KHR = SURFACE_CAPABILITIES_PRESENT_ID_2_KHR;
    SurfaceCapabilitiesPresentWait2KHR = SURFACE_CAPABILITIES_PRESENT_WAIT_2_KHR;
    SwapchainCalibratedTimestampInfoEXT = SWAPCHAIN_CALIBRATED_TIMESTAMP_INFO_EXT;
    SwapchainTimeDomainPropertiesEXT = SWAPCHAIN_TIME_DOMAIN_PROPERTIES_EXT;
    SwapchainTimingPropertiesEXT = SWAPCHAIN_TIMING_PROPERTIES_EXT;
}

/// Structures that [`vk::PhysicalDeviceProperties2`] may be chained to.
macro_rules! properties {
    ($($name:ident),*) => { $(
        // SAFETY: the registry says that the structure extends the other.
        unsafe impl vk::ExtendsPhysicalDeviceProperties2 for $name {}
    )* };
}

properties! {
    PhysicalDeviceCopyMemoryIndirectPropertiesKHR,
    PhysicalDeviceLayeredApiPropertiesListKHR,
    PhysicalDeviceLegacyVertexAttributesPropertiesEXT,
    PhysicalDeviceMaintenance10PropertiesKHR,
    PhysicalDeviceMaintenance7PropertiesKHR,
    PhysicalDeviceMaintenance9PropertiesKHR,
    PhysicalDevicePipelineBinaryPropertiesKHR,
    PhysicalDeviceVulkan14Properties
}

// SAFETY: the registry says that the structure extends the other.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for PhysicalDeviceVulkan14Features {}

// SAFETY: the registry says that the structure extends the other.
unsafe impl vk::ExtendsDeviceCreateInfo for PhysicalDeviceVulkan14Features {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_numbers_of_their_types() {
        for [row, own] in numbers() {
            assert_eq!(row, own);
        }
    }
}
