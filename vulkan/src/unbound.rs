//! Structures and prototypes that both bindings lack.
//!
//! Each row has the numbers that the registry's layout gives on a 64-bit machine, and the tests
//! compare them with the compiler's. Source: Vulkan's registry (`vk.xml`), version 1.4.360.

use std::ffi::{c_char, c_void};

use ash::vk::{self, TaggedStructure};
use vulkanalia_sys as sys;

use crate::Vocabulary;

/// `VkDeviceAddressRangeKHR`.
pub type DeviceAddressRangeKHR = sys::DeviceAddressRangeEXT;
/// `VkAddressCommandFlagsKHR`.
pub type AddressCommandFlagsKHR = u32;
/// `VkDeviceFaultFlagsKHR`.
pub type DeviceFaultFlagsKHR = u32;

/// `VK_SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT`.
pub const SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT: vk::SwapchainCreateFlagsKHR =
    vk::SwapchainCreateFlagsKHR::from_raw(1 << 8);
/// `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
pub const DEVICE_FAULT_FLAG_DEVICE_LOST_KHR: DeviceFaultFlagsKHR = 1;
/// `VK_DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR`.
pub const DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR: DeviceFaultFlagsKHR = 1 << 4;
/// `VK_IMAGE_CREATE_ALIAS_SINGLE_LAYER_DESCRIPTOR_BIT_KHR`.
pub const IMAGE_CREATE_ALIAS_SINGLE_LAYER_DESCRIPTOR_KHR: vk::ImageCreateFlags =
    vk::ImageCreateFlags::from_raw(1 << 22);

/// A row is a structure, its type's number and its size, and its fields behind their offsets. All
/// sizes and offsets are bytes.
macro_rules! unbound {
    ($($name:ident = $number:literal, $size:literal { $($offset:literal $field:ident: $ty:ty,)* })*) => {
        $(
        #[doc = concat!("`Vk", stringify!($name), "`.")]
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        #[expect(missing_docs, reason = "the fields are Vulkan's")]
        pub struct $name {
            pub s_type: vk::StructureType,
            pub next: *mut c_void,
            $(pub $field: $ty,)*
        }

        // SAFETY: the structure begins with its type and the pointer to the next one, and the
        // number is that of its type in the registry.
        unsafe impl TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
        }

        impl Default for $name {
            fn default() -> Self {
                // SAFETY: all fields are numbers, pointers, and arrays and structures of numbers.
                Self { s_type: Self::STRUCTURE_TYPE, ..unsafe { std::mem::zeroed() } }
            }
        }

        impl Vocabulary for $name {
            type Own = Self;
        }
        )*

        /// Returns the name of each size and offset, with the compiler's and the registry's number.
        #[cfg(test)]
        fn layouts() -> Vec<(&'static str, [usize; 2])> {
            vec![$(
                (stringify!($name), [size_of::<$name>(), $size]),
                $((concat!(stringify!($name), "::", stringify!($field)),
                    [std::mem::offset_of!($name, $field), $offset]),)*
            )*]
        }
    };
}

unbound! {
    PhysicalDevicePrimitiveRestartIndexFeaturesEXT = 1_000_678_000, 24 {
        16 primitive_restart_index: vk::Bool32,
    }
    PhysicalDeviceMaintenance11FeaturesKHR = 1_000_657_000, 24 {
        16 maintenance11: vk::Bool32,
    }
    QueueFamilyOptimalImageTransferGranularityPropertiesKHR = 1_000_657_001, 32 {
        16 optimal_image_transfer_granularity: vk::Extent3D,
    }
    DeviceMemoryCopyKHR = 1_000_318_000, 64 {
        16 src_range: DeviceAddressRangeKHR,
        32 src_flags: AddressCommandFlagsKHR,
        40 dst_range: DeviceAddressRangeKHR,
        56 dst_flags: AddressCommandFlagsKHR,
    }
    CopyDeviceMemoryInfoKHR = 1_000_318_001, 32 {
        16 region_count: u32,
        24 regions: *const DeviceMemoryCopyKHR,
    }
    DeviceMemoryImageCopyKHR = 1_000_318_002, 88 {
        16 address_range: DeviceAddressRangeKHR,
        32 address_flags: AddressCommandFlagsKHR,
        36 address_row_length: u32,
        40 address_image_height: u32,
        44 image_subresource: vk::ImageSubresourceLayers,
        60 image_layout: vk::ImageLayout,
        64 image_offset: vk::Offset3D,
        76 image_extent: vk::Extent3D,
    }
    CopyDeviceMemoryImageInfoKHR = 1_000_318_003, 40 {
        16 image: vk::Image,
        24 region_count: u32,
        32 regions: *const DeviceMemoryImageCopyKHR,
    }
    MemoryRangeBarriersInfoKHR = 1_000_318_004, 32 {
        16 memory_range_barrier_count: u32,
        24 memory_range_barriers: *const MemoryRangeBarrierKHR,
    }
    MemoryRangeBarrierKHR = 1_000_318_005, 80 {
        16 src_stage_mask: vk::PipelineStageFlags2,
        24 src_access_mask: vk::AccessFlags2,
        32 dst_stage_mask: vk::PipelineStageFlags2,
        40 dst_access_mask: vk::AccessFlags2,
        48 src_queue_family_index: u32,
        52 dst_queue_family_index: u32,
        56 address_range: DeviceAddressRangeKHR,
        72 address_flags: AddressCommandFlagsKHR,
    }
    PhysicalDeviceDeviceAddressCommandsFeaturesKHR = 1_000_318_006, 24 {
        16 device_address_commands: vk::Bool32,
    }
    BindIndexBuffer3InfoKHR = 1_000_318_007, 40 {
        16 address_range: DeviceAddressRangeKHR,
        32 address_flags: AddressCommandFlagsKHR,
        36 index_type: vk::IndexType,
    }
    BindVertexBuffer3InfoKHR = 1_000_318_008, 56 {
        16 set_stride: vk::Bool32,
        24 address_range: sys::StridedDeviceAddressRangeKHR,
        48 address_flags: AddressCommandFlagsKHR,
    }
    DrawIndirect2InfoKHR = 1_000_318_009, 48 {
        16 address_range: sys::StridedDeviceAddressRangeKHR,
        40 address_flags: AddressCommandFlagsKHR,
        44 draw_count: u32,
    }
    DrawIndirectCount2InfoKHR = 1_000_318_010, 72 {
        16 address_range: sys::StridedDeviceAddressRangeKHR,
        40 address_flags: AddressCommandFlagsKHR,
        48 count_address_range: DeviceAddressRangeKHR,
        64 count_address_flags: AddressCommandFlagsKHR,
        68 max_draw_count: u32,
    }
    DispatchIndirect2InfoKHR = 1_000_318_011, 40 {
        16 address_range: DeviceAddressRangeKHR,
        32 address_flags: AddressCommandFlagsKHR,
    }
    ConditionalRenderingBeginInfo2EXT = 1_000_318_012, 40 {
        16 address_range: DeviceAddressRangeKHR,
        32 address_flags: AddressCommandFlagsKHR,
        36 flags: vk::ConditionalRenderingFlagsEXT,
    }
    BindTransformFeedbackBuffer2InfoEXT = 1_000_318_013, 40 {
        16 address_range: DeviceAddressRangeKHR,
        32 address_flags: AddressCommandFlagsKHR,
    }
    MemoryMarkerInfoAMD = 1_000_318_014, 48 {
        16 stage: vk::PipelineStageFlags2,
        24 dst_range: DeviceAddressRangeKHR,
        40 dst_flags: AddressCommandFlagsKHR,
        44 marker: u32,
    }
    PhysicalDeviceFaultFeaturesKHR = 1_000_573_000, 32 {
        16 device_fault: vk::Bool32,
        20 device_fault_vendor_binary: vk::Bool32,
        24 device_fault_report_masked: vk::Bool32,
        28 device_fault_device_lost_on_masked: vk::Bool32,
    }
    PhysicalDeviceFaultPropertiesKHR = 1_000_573_001, 24 {
        16 max_device_fault_count: u32,
    }
    DeviceFaultInfoKHR = 1_000_573_002, 608 {
        16 flags: DeviceFaultFlagsKHR,
        24 group_id: u64,
        32 description: [c_char; vk::MAX_DESCRIPTION_SIZE],
        288 fault_address_info: vk::DeviceFaultAddressInfoEXT,
        312 instruction_address_info: vk::DeviceFaultAddressInfoEXT,
        336 vendor_info: vk::DeviceFaultVendorInfoEXT,
    }
    DeviceFaultDebugInfoKHR = 1_000_573_003, 32 {
        16 vendor_binary_size: u32,
        24 vendor_binary_data: *mut c_void,
    }
    PhysicalDeviceShaderAbortFeaturesKHR = 1_000_233_000, 24 {
        16 shader_abort: vk::Bool32,
    }
    DeviceFaultShaderAbortMessageInfoKHR = 1_000_233_001, 32 {
        16 message_data_size: u64,
        24 message_data: *mut c_void,
    }
    PhysicalDeviceShaderAbortPropertiesKHR = 1_000_233_002, 24 {
        16 max_shader_abort_message_size: u64,
    }
    PhysicalDeviceShaderConstantDataFeaturesKHR = 1_000_231_000, 24 {
        16 shader_constant_data: vk::Bool32,
    }
    PhysicalDeviceMultisampledRenderToSwapchainFeaturesEXT = 1_000_616_000, 24 {
        16 multisampled_render_to_swapchain: vk::Bool32,
    }
    SwapchainFlagsSurfaceCapabilitiesEXT = 1_000_616_001, 24 {
        16 swapchain_supported_flags: vk::SwapchainCreateFlagsKHR,
    }
}

// SAFETY: the registry says that the structure extends the other.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for PhysicalDeviceShaderAbortPropertiesKHR {}

// SAFETY: the registry says that the structure extends the other.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for PhysicalDeviceFaultPropertiesKHR {}

macro_rules! own_types {
    ($($ty:ty),*) => { $(impl Vocabulary for $ty { type Own = Self; })* };
}

own_types! { DeviceAddressRangeKHR, sys::StridedDeviceAddressRangeKHR }

/// Prototypes in the form of the raw bindings.
macro_rules! prototypes {
    ($($name:ident($($ty:ty),*) $(-> $result:ty)?;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[expect(non_camel_case_types, reason = "the names are Vulkan's")]
        pub type $name = unsafe extern "system" fn($($ty),*) $(-> $result)?;
    )* };
}

prototypes! {
    PFN_vkGetDeviceFaultReportsKHR(sys::Device, u64, *mut u32, *mut DeviceFaultInfoKHR) -> sys::Result;
    PFN_vkGetDeviceFaultDebugInfoKHR(sys::Device, *mut DeviceFaultDebugInfoKHR) -> sys::Result;
    PFN_vkCmdCopyMemoryKHR(sys::CommandBuffer, *const CopyDeviceMemoryInfoKHR);
    PFN_vkCmdCopyMemoryToImageKHR(sys::CommandBuffer, *const CopyDeviceMemoryImageInfoKHR);
    PFN_vkCmdCopyImageToMemoryKHR(sys::CommandBuffer, *const CopyDeviceMemoryImageInfoKHR);
    PFN_vkCmdUpdateMemoryKHR(
        sys::CommandBuffer, *const DeviceAddressRangeKHR, AddressCommandFlagsKHR, u64, *const c_void
    );
    PFN_vkCmdFillMemoryKHR(sys::CommandBuffer, *const DeviceAddressRangeKHR, AddressCommandFlagsKHR, u32);
    PFN_vkCmdCopyQueryPoolResultsToMemoryKHR(
        sys::CommandBuffer, sys::QueryPool, u32, u32, *const sys::StridedDeviceAddressRangeKHR,
        AddressCommandFlagsKHR, sys::QueryResultFlags
    );
    PFN_vkCmdBeginConditionalRendering2EXT(sys::CommandBuffer, *const ConditionalRenderingBeginInfo2EXT);
    PFN_vkCmdBindTransformFeedbackBuffers2EXT(
        sys::CommandBuffer, u32, u32, *const BindTransformFeedbackBuffer2InfoEXT
    );
    PFN_vkCmdBeginTransformFeedback2EXT(sys::CommandBuffer, u32, u32, *const BindTransformFeedbackBuffer2InfoEXT);
    PFN_vkCmdEndTransformFeedback2EXT(sys::CommandBuffer, u32, u32, *const BindTransformFeedbackBuffer2InfoEXT);
    PFN_vkCmdDrawIndirectByteCount2EXT(
        sys::CommandBuffer, u32, u32, *const BindTransformFeedbackBuffer2InfoEXT, u32, u32
    );
    PFN_vkCmdWriteMarkerToMemoryAMD(sys::CommandBuffer, *const MemoryMarkerInfoAMD);
    PFN_vkCmdBindIndexBuffer3KHR(sys::CommandBuffer, *const BindIndexBuffer3InfoKHR);
    PFN_vkCmdBindVertexBuffers3KHR(sys::CommandBuffer, u32, u32, *const BindVertexBuffer3InfoKHR);
    PFN_vkCmdDrawIndirect2KHR(sys::CommandBuffer, *const DrawIndirect2InfoKHR);
    PFN_vkCmdDrawIndexedIndirect2KHR(sys::CommandBuffer, *const DrawIndirect2InfoKHR);
    PFN_vkCmdDrawIndirectCount2KHR(sys::CommandBuffer, *const DrawIndirectCount2InfoKHR);
    PFN_vkCmdDrawIndexedIndirectCount2KHR(sys::CommandBuffer, *const DrawIndirectCount2InfoKHR);
    PFN_vkCmdDrawMeshTasksIndirect2EXT(sys::CommandBuffer, *const DrawIndirect2InfoKHR);
    PFN_vkCmdDrawMeshTasksIndirectCount2EXT(sys::CommandBuffer, *const DrawIndirectCount2InfoKHR);
    PFN_vkCmdDispatchIndirect2KHR(sys::CommandBuffer, *const DispatchIndirect2InfoKHR);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_layout_of_the_registry() {
        let layouts = layouts();
        assert!(layouts.len() > 60, "{}", layouts.len());
        for (name, [own, registry]) in layouts {
            assert_eq!(own, registry, "{name}");
        }
    }

    #[test]
    fn a_default_is_zero_behind_its_type() {
        let info = DeviceFaultInfoKHR::default();
        assert_eq!((info.s_type.as_raw(), info.group_id, info.description), (1_000_573_002, 0, [0; 256]));
    }
}
