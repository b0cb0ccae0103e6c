//! The table of entry points: level, extension, version of Vulkan that promoted the command, name,
//! type and function. Each function is checked at compile time against ash's type for its name.
//!
//! A name with an extension's suffix is available if the extension is enabled. A name without a
//! suffix is available if the application's version of Vulkan (`VkApplicationInfo::apiVersion`)
//! includes the command. Source: Vulkan specification, "Command Function Pointers".

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use ash::vk;
use vitric_api::extensions;
use vitric_api::physical::API_VERSION;
use vitric_entry::entry;

use super::{device, instance, physical};
use crate::call::Call;
use crate::object::{DeviceObject, InstanceObject};
use crate::slots::Marked;
use crate::{cmd, object, wsi};

/// First parameter of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// No parent: the command works without an instance.
    Global,
    /// An instance.
    Instance,
    /// A physical device.
    Physical,
    /// A device or a child of one.
    Device,
}

/// A row of the table.
struct Entry {
    name: &'static str,
    level: Level,
    /// Extension that defines the command; empty for core commands.
    extension: &'static str,
    /// Version of Vulkan that introduced or promoted the command, where its name has no suffix.
    core: Option<u32>,
    function: unsafe extern "system" fn(),
}

const V1_1: u32 = vk::API_VERSION_1_1;
const V1_2: u32 = vk::API_VERSION_1_2;
const V1_3: u32 = vk::API_VERSION_1_3;
const V1_4: u32 = vitric_vulkan::API_VERSION_1_4;

/// Commands with another extension that also defines them.
const SHARED: &[(&str, &str)] = &[("vkGetImageSubresourceLayout2EXT", "VK_EXT_image_compression_control")];

/// Erases a function's type.
macro_rules! erase {
    ($pfn:ty, $function:path) => {{
        let typed: $pfn = $function;
        // SAFETY: function pointers have one size. Callers cast back to the type that belongs to
        // the name.
        unsafe { std::mem::transmute::<$pfn, unsafe extern "system" fn()>(typed) }
    }};
}

/// A row is a level, an extension (with `=>` the version that promoted the command), a name, its
/// type and the function. Rows with `@newer` are commands that are newer than `ash`.
macro_rules! entries {
    (
        $($level:ident, $extension:literal $(=> $core:ident)?, $name:ident, $pfn:ident, $function:path;)*
        $(@newer $newer_level:ident, $newer_extension:literal, $newer:ident, $newer_pfn:ident, $newer_function:path;)*
    ) => {
        const ENTRIES: &[Entry] = &[
            $(Entry {
                name: stringify!($name),
                level: Level::$level,
                extension: $extension,
                core: core_version($extension, &[$($core)?]),
                function: erase!(vk::$pfn, $function),
            },)*
            $(Entry {
                name: stringify!($newer),
                level: Level::$newer_level,
                extension: $newer_extension,
                core: None,
                function: erase!(<vitric_vulkan::commands::$newer_pfn as vitric_vulkan::Vocabulary>::Own, $newer_function),
            },)*
        ];
    };
}

/// Returns the core version of a command. Commands without an extension are from Vulkan 1.0,
/// unless their row names another version.
const fn core_version(extension: &str, named: &[u32]) -> Option<u32> {
    match named {
        [version, ..] => Some(*version),
        [] if extension.is_empty() => Some(vk::API_VERSION_1_0),
        [] => None,
    }
}

entries! {
    Global, "", vkEnumerateInstanceExtensionProperties, PFN_vkEnumerateInstanceExtensionProperties, instance::vkEnumerateInstanceExtensionProperties;
    Global, "", vkEnumerateInstanceLayerProperties, PFN_vkEnumerateInstanceLayerProperties, instance::vkEnumerateInstanceLayerProperties;
    Global, "", vkCreateInstance, PFN_vkCreateInstance, instance::vkCreateInstance;
    Instance, "", vkDestroyInstance, PFN_vkDestroyInstance, instance::vkDestroyInstance;
    Instance, "", vkEnumeratePhysicalDevices, PFN_vkEnumeratePhysicalDevices, instance::vkEnumeratePhysicalDevices;
    Physical, "", vkGetPhysicalDeviceFeatures, PFN_vkGetPhysicalDeviceFeatures, physical::vkGetPhysicalDeviceFeatures;
    Physical, "", vkGetPhysicalDeviceFormatProperties, PFN_vkGetPhysicalDeviceFormatProperties, physical::vkGetPhysicalDeviceFormatProperties;
    Physical, "", vkGetPhysicalDeviceImageFormatProperties, PFN_vkGetPhysicalDeviceImageFormatProperties, physical::vkGetPhysicalDeviceImageFormatProperties;
    Physical, "", vkGetPhysicalDeviceProperties, PFN_vkGetPhysicalDeviceProperties, physical::vkGetPhysicalDeviceProperties;
    Physical, "", vkGetPhysicalDeviceQueueFamilyProperties, PFN_vkGetPhysicalDeviceQueueFamilyProperties, physical::vkGetPhysicalDeviceQueueFamilyProperties;
    Physical, "", vkGetPhysicalDeviceMemoryProperties, PFN_vkGetPhysicalDeviceMemoryProperties, physical::vkGetPhysicalDeviceMemoryProperties;
    Physical, "", vkGetPhysicalDeviceSparseImageFormatProperties, PFN_vkGetPhysicalDeviceSparseImageFormatProperties, physical::vkGetPhysicalDeviceSparseImageFormatProperties;
    Physical, "", vkEnumerateDeviceExtensionProperties, PFN_vkEnumerateDeviceExtensionProperties, physical::vkEnumerateDeviceExtensionProperties;
    Physical, "", vkEnumerateDeviceLayerProperties, PFN_vkEnumerateDeviceLayerProperties, physical::vkEnumerateDeviceLayerProperties;
    Physical, "", vkCreateDevice, PFN_vkCreateDevice, device::vkCreateDevice;
    Instance, "", vkGetInstanceProcAddr, PFN_vkGetInstanceProcAddr, vkGetInstanceProcAddr;
    Device, "", vkGetDeviceProcAddr, PFN_vkGetDeviceProcAddr, vkGetDeviceProcAddr;
    Device, "", vkDestroyDevice, PFN_vkDestroyDevice, device::vkDestroyDevice;
    Device, "", vkGetDeviceQueue, PFN_vkGetDeviceQueue, device::vkGetDeviceQueue;
    Device, "", vkQueueSubmit, PFN_vkQueueSubmit, device::vkQueueSubmit;
    Device, "", vkQueueWaitIdle, PFN_vkQueueWaitIdle, device::vkQueueWaitIdle;
    Device, "", vkDeviceWaitIdle, PFN_vkDeviceWaitIdle, device::vkDeviceWaitIdle;
    Device, "", vkQueueBindSparse, PFN_vkQueueBindSparse, device::vkQueueBindSparse;
    Device, "", vkAllocateMemory, PFN_vkAllocateMemory, object::memory::vkAllocateMemory;
    Device, "", vkFreeMemory, PFN_vkFreeMemory, object::memory::vkFreeMemory;
    Device, "", vkMapMemory, PFN_vkMapMemory, object::map::vkMapMemory;
    Device, "", vkUnmapMemory, PFN_vkUnmapMemory, object::map::vkUnmapMemory;
    Device, "", vkFlushMappedMemoryRanges, PFN_vkFlushMappedMemoryRanges, object::map::vkFlushMappedMemoryRanges;
    Device, "", vkInvalidateMappedMemoryRanges, PFN_vkInvalidateMappedMemoryRanges, object::map::vkFlushMappedMemoryRanges;
    Device, "", vkGetDeviceMemoryCommitment, PFN_vkGetDeviceMemoryCommitment, object::memory::vkGetDeviceMemoryCommitment;
    Device, "", vkBindBufferMemory, PFN_vkBindBufferMemory, object::memory::vkBindBufferMemory;
    Device, "", vkBindImageMemory, PFN_vkBindImageMemory, object::memory::vkBindImageMemory;
    Device, "", vkGetBufferMemoryRequirements, PFN_vkGetBufferMemoryRequirements, object::memory::vkGetBufferMemoryRequirements;
    Device, "", vkGetImageMemoryRequirements, PFN_vkGetImageMemoryRequirements, object::memory::vkGetImageMemoryRequirements;
    Device, "", vkGetImageSparseMemoryRequirements, PFN_vkGetImageSparseMemoryRequirements, object::memory::vkGetImageSparseMemoryRequirements;
    Device, "", vkCreateFence, PFN_vkCreateFence, object::sync::vkCreateFence;
    Device, "", vkDestroyFence, PFN_vkDestroyFence, object::sync::vkDestroyFence;
    Device, "", vkResetFences, PFN_vkResetFences, object::sync::vkResetFences;
    Device, "", vkGetFenceStatus, PFN_vkGetFenceStatus, object::sync::vkGetFenceStatus;
    Device, "", vkWaitForFences, PFN_vkWaitForFences, object::sync::vkWaitForFences;
    Device, "", vkCreateSemaphore, PFN_vkCreateSemaphore, object::sync::vkCreateSemaphore;
    Device, "", vkDestroySemaphore, PFN_vkDestroySemaphore, object::sync::vkDestroySemaphore;
    Device, "", vkCreateEvent, PFN_vkCreateEvent, object::sync::vkCreateEvent;
    Device, "", vkDestroyEvent, PFN_vkDestroyEvent, object::sync::vkDestroyEvent;
    Device, "", vkGetEventStatus, PFN_vkGetEventStatus, object::sync::vkGetEventStatus;
    Device, "", vkSetEvent, PFN_vkSetEvent, object::sync::vkSetEvent;
    Device, "", vkResetEvent, PFN_vkResetEvent, object::sync::vkResetEvent;
    Device, "", vkCreateQueryPool, PFN_vkCreateQueryPool, object::query::vkCreateQueryPool;
    Device, "", vkDestroyQueryPool, PFN_vkDestroyQueryPool, object::query::vkDestroyQueryPool;
    Device, "", vkGetQueryPoolResults, PFN_vkGetQueryPoolResults, object::query::vkGetQueryPoolResults;
    Device, "", vkCreateBuffer, PFN_vkCreateBuffer, object::memory::vkCreateBuffer;
    Device, "", vkDestroyBuffer, PFN_vkDestroyBuffer, object::memory::vkDestroyBuffer;
    Device, "", vkCreateBufferView, PFN_vkCreateBufferView, object::memory::vkCreateBufferView;
    Device, "", vkDestroyBufferView, PFN_vkDestroyBufferView, object::memory::vkDestroyBufferView;
    Device, "", vkCreateImage, PFN_vkCreateImage, object::memory::vkCreateImage;
    Device, "", vkDestroyImage, PFN_vkDestroyImage, object::memory::vkDestroyImage;
    Device, "", vkGetImageSubresourceLayout, PFN_vkGetImageSubresourceLayout, object::memory::vkGetImageSubresourceLayout;
    Device, "", vkCreateImageView, PFN_vkCreateImageView, object::memory::vkCreateImageView;
    Device, "", vkDestroyImageView, PFN_vkDestroyImageView, object::memory::vkDestroyImageView;
    Device, "", vkCreateShaderModule, PFN_vkCreateShaderModule, object::pipeline::vkCreateShaderModule;
    Device, "", vkDestroyShaderModule, PFN_vkDestroyShaderModule, object::pipeline::vkDestroyShaderModule;
    Device, "", vkCreatePipelineCache, PFN_vkCreatePipelineCache, object::pipeline::vkCreatePipelineCache;
    Device, "", vkDestroyPipelineCache, PFN_vkDestroyPipelineCache, object::pipeline::vkDestroyPipelineCache;
    Device, "", vkGetPipelineCacheData, PFN_vkGetPipelineCacheData, object::pipeline::vkGetPipelineCacheData;
    Device, "", vkMergePipelineCaches, PFN_vkMergePipelineCaches, object::pipeline::vkMergePipelineCaches;
    Device, "", vkCreateGraphicsPipelines, PFN_vkCreateGraphicsPipelines, object::pipeline::vkCreateGraphicsPipelines;
    Device, "", vkCreateComputePipelines, PFN_vkCreateComputePipelines, object::pipeline::vkCreateComputePipelines;
    Device, "", vkDestroyPipeline, PFN_vkDestroyPipeline, object::pipeline::vkDestroyPipeline;
    Device, "", vkCreatePipelineLayout, PFN_vkCreatePipelineLayout, object::descriptor::vkCreatePipelineLayout;
    Device, "", vkDestroyPipelineLayout, PFN_vkDestroyPipelineLayout, object::descriptor::vkDestroyPipelineLayout;
    Device, "", vkCreateSampler, PFN_vkCreateSampler, object::sampler::vkCreateSampler;
    Device, "", vkDestroySampler, PFN_vkDestroySampler, object::sampler::vkDestroySampler;
    Device, "", vkCreateDescriptorSetLayout, PFN_vkCreateDescriptorSetLayout, object::descriptor::vkCreateDescriptorSetLayout;
    Device, "", vkDestroyDescriptorSetLayout, PFN_vkDestroyDescriptorSetLayout, object::descriptor::vkDestroyDescriptorSetLayout;
    Device, "", vkCreateDescriptorPool, PFN_vkCreateDescriptorPool, object::descriptor::vkCreateDescriptorPool;
    Device, "", vkDestroyDescriptorPool, PFN_vkDestroyDescriptorPool, object::descriptor::vkDestroyDescriptorPool;
    Device, "", vkResetDescriptorPool, PFN_vkResetDescriptorPool, object::descriptor::vkResetDescriptorPool;
    Device, "", vkAllocateDescriptorSets, PFN_vkAllocateDescriptorSets, object::descriptor::vkAllocateDescriptorSets;
    Device, "", vkFreeDescriptorSets, PFN_vkFreeDescriptorSets, object::descriptor::vkFreeDescriptorSets;
    Device, "", vkUpdateDescriptorSets, PFN_vkUpdateDescriptorSets, object::descriptor::vkUpdateDescriptorSets;
    Device, "", vkCreateFramebuffer, PFN_vkCreateFramebuffer, object::pass::vkCreateFramebuffer;
    Device, "", vkDestroyFramebuffer, PFN_vkDestroyFramebuffer, object::pass::vkDestroyFramebuffer;
    Device, "", vkCreateRenderPass, PFN_vkCreateRenderPass, object::pass::vkCreateRenderPass;
    Device, "", vkDestroyRenderPass, PFN_vkDestroyRenderPass, object::pass::vkDestroyRenderPass;
    Device, "", vkGetRenderAreaGranularity, PFN_vkGetRenderAreaGranularity, object::pass::vkGetRenderAreaGranularity;
    Device, "", vkCreateCommandPool, PFN_vkCreateCommandPool, object::command::vkCreateCommandPool;
    Device, "", vkDestroyCommandPool, PFN_vkDestroyCommandPool, object::command::vkDestroyCommandPool;
    Device, "", vkResetCommandPool, PFN_vkResetCommandPool, object::command::vkResetCommandPool;
    Device, "", vkAllocateCommandBuffers, PFN_vkAllocateCommandBuffers, object::command::vkAllocateCommandBuffers;
    Device, "", vkFreeCommandBuffers, PFN_vkFreeCommandBuffers, object::command::vkFreeCommandBuffers;
    Device, "", vkBeginCommandBuffer, PFN_vkBeginCommandBuffer, object::command::vkBeginCommandBuffer;
    Device, "", vkEndCommandBuffer, PFN_vkEndCommandBuffer, object::command::vkEndCommandBuffer;
    Device, "", vkResetCommandBuffer, PFN_vkResetCommandBuffer, object::command::vkResetCommandBuffer;
    Device, "", vkCmdBindPipeline, PFN_vkCmdBindPipeline, cmd::bind::vkCmdBindPipeline;
    Device, "", vkCmdSetViewport, PFN_vkCmdSetViewport, cmd::state::vkCmdSetViewport;
    Device, "", vkCmdSetScissor, PFN_vkCmdSetScissor, cmd::state::vkCmdSetScissor;
    Device, "", vkCmdSetLineWidth, PFN_vkCmdSetLineWidth, cmd::state::vkCmdSetLineWidth;
    Device, "", vkCmdSetDepthBias, PFN_vkCmdSetDepthBias, cmd::state::vkCmdSetDepthBias;
    Device, "", vkCmdSetBlendConstants, PFN_vkCmdSetBlendConstants, cmd::state::vkCmdSetBlendConstants;
    Device, "", vkCmdSetDepthBounds, PFN_vkCmdSetDepthBounds, cmd::state::vkCmdSetDepthBounds;
    Device, "", vkCmdSetStencilCompareMask, PFN_vkCmdSetStencilCompareMask, cmd::state::vkCmdSetStencilCompareMask;
    Device, "", vkCmdSetStencilWriteMask, PFN_vkCmdSetStencilWriteMask, cmd::state::vkCmdSetStencilWriteMask;
    Device, "", vkCmdSetStencilReference, PFN_vkCmdSetStencilReference, cmd::state::vkCmdSetStencilReference;
    Device, "", vkCmdBindDescriptorSets, PFN_vkCmdBindDescriptorSets, cmd::bind::vkCmdBindDescriptorSets;
    Device, "", vkCmdBindIndexBuffer, PFN_vkCmdBindIndexBuffer, cmd::bind::vkCmdBindIndexBuffer;
    Device, "", vkCmdBindVertexBuffers, PFN_vkCmdBindVertexBuffers, cmd::bind::vkCmdBindVertexBuffers;
    Device, "", vkCmdDraw, PFN_vkCmdDraw, cmd::draw::vkCmdDraw;
    Device, "", vkCmdDrawIndexed, PFN_vkCmdDrawIndexed, cmd::draw::vkCmdDrawIndexed;
    Device, "", vkCmdDrawIndirect, PFN_vkCmdDrawIndirect, cmd::draw::vkCmdDrawIndirect;
    Device, "", vkCmdDrawIndexedIndirect, PFN_vkCmdDrawIndexedIndirect, cmd::draw::vkCmdDrawIndexedIndirect;
    Device, "", vkCmdDispatch, PFN_vkCmdDispatch, cmd::draw::vkCmdDispatch;
    Device, "", vkCmdDispatchIndirect, PFN_vkCmdDispatchIndirect, cmd::draw::vkCmdDispatchIndirect;
    Device, "", vkCmdCopyBuffer, PFN_vkCmdCopyBuffer, cmd::transfer::vkCmdCopyBuffer;
    Device, "", vkCmdCopyImage, PFN_vkCmdCopyImage, cmd::transfer::vkCmdCopyImage;
    Device, "", vkCmdBlitImage, PFN_vkCmdBlitImage, cmd::transfer::vkCmdBlitImage;
    Device, "", vkCmdCopyBufferToImage, PFN_vkCmdCopyBufferToImage, cmd::transfer::vkCmdCopyBufferToImage;
    Device, "", vkCmdCopyImageToBuffer, PFN_vkCmdCopyImageToBuffer, cmd::transfer::vkCmdCopyImageToBuffer;
    Device, "", vkCmdUpdateBuffer, PFN_vkCmdUpdateBuffer, cmd::transfer::vkCmdUpdateBuffer;
    Device, "", vkCmdFillBuffer, PFN_vkCmdFillBuffer, cmd::transfer::vkCmdFillBuffer;
    Device, "", vkCmdClearColorImage, PFN_vkCmdClearColorImage, cmd::transfer::vkCmdClearColorImage;
    Device, "", vkCmdClearDepthStencilImage, PFN_vkCmdClearDepthStencilImage, cmd::transfer::vkCmdClearDepthStencilImage;
    Device, "", vkCmdClearAttachments, PFN_vkCmdClearAttachments, cmd::transfer::vkCmdClearAttachments;
    Device, "", vkCmdResolveImage, PFN_vkCmdResolveImage, cmd::transfer::vkCmdResolveImage;
    Device, "", vkCmdSetEvent, PFN_vkCmdSetEvent, cmd::sync::vkCmdSetEvent;
    Device, "", vkCmdResetEvent, PFN_vkCmdResetEvent, cmd::sync::vkCmdResetEvent;
    Device, "", vkCmdWaitEvents, PFN_vkCmdWaitEvents, cmd::sync::vkCmdWaitEvents;
    Device, "", vkCmdPipelineBarrier, PFN_vkCmdPipelineBarrier, cmd::sync::vkCmdPipelineBarrier;
    Device, "", vkCmdBeginQuery, PFN_vkCmdBeginQuery, cmd::query::vkCmdBeginQuery;
    Device, "", vkCmdEndQuery, PFN_vkCmdEndQuery, cmd::query::vkCmdEndQuery;
    Device, "", vkCmdResetQueryPool, PFN_vkCmdResetQueryPool, cmd::query::vkCmdResetQueryPool;
    Device, "", vkCmdWriteTimestamp, PFN_vkCmdWriteTimestamp, cmd::query::vkCmdWriteTimestamp;
    Device, "", vkCmdCopyQueryPoolResults, PFN_vkCmdCopyQueryPoolResults, cmd::query::vkCmdCopyQueryPoolResults;
    Device, "", vkCmdPushConstants, PFN_vkCmdPushConstants, cmd::bind::vkCmdPushConstants;
    Device, "", vkCmdBeginRenderPass, PFN_vkCmdBeginRenderPass, cmd::pass::vkCmdBeginRenderPass;
    Device, "", vkCmdNextSubpass, PFN_vkCmdNextSubpass, cmd::pass::vkCmdNextSubpass;
    Device, "", vkCmdEndRenderPass, PFN_vkCmdEndRenderPass, cmd::pass::vkCmdEndRenderPass;
    Device, "", vkCmdExecuteCommands, PFN_vkCmdExecuteCommands, cmd::draw::vkCmdExecuteCommands;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceFeatures2KHR, PFN_vkGetPhysicalDeviceFeatures2, physical::vkGetPhysicalDeviceFeatures2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceProperties2KHR, PFN_vkGetPhysicalDeviceProperties2, physical::vkGetPhysicalDeviceProperties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceFormatProperties2KHR, PFN_vkGetPhysicalDeviceFormatProperties2, physical::vkGetPhysicalDeviceFormatProperties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceImageFormatProperties2KHR, PFN_vkGetPhysicalDeviceImageFormatProperties2, physical::vkGetPhysicalDeviceImageFormatProperties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceQueueFamilyProperties2KHR, PFN_vkGetPhysicalDeviceQueueFamilyProperties2, physical::vkGetPhysicalDeviceQueueFamilyProperties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceMemoryProperties2KHR, PFN_vkGetPhysicalDeviceMemoryProperties2, physical::vkGetPhysicalDeviceMemoryProperties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceSparseImageFormatProperties2KHR, PFN_vkGetPhysicalDeviceSparseImageFormatProperties2, physical::vkGetPhysicalDeviceSparseImageFormatProperties2;
    Instance, "VK_KHR_surface", vkDestroySurfaceKHR, PFN_vkDestroySurfaceKHR, wsi::vkDestroySurfaceKHR;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceSupportKHR, PFN_vkGetPhysicalDeviceSurfaceSupportKHR, wsi::vkGetPhysicalDeviceSurfaceSupportKHR;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceCapabilitiesKHR, PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR, wsi::vkGetPhysicalDeviceSurfaceCapabilitiesKHR;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceFormatsKHR, PFN_vkGetPhysicalDeviceSurfaceFormatsKHR, wsi::vkGetPhysicalDeviceSurfaceFormatsKHR;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfacePresentModesKHR, PFN_vkGetPhysicalDeviceSurfacePresentModesKHR, wsi::vkGetPhysicalDeviceSurfacePresentModesKHR;
    Instance, "VK_KHR_xcb_surface", vkCreateXcbSurfaceKHR, PFN_vkCreateXcbSurfaceKHR, wsi::xcb::vkCreateXcbSurfaceKHR;
    Physical, "VK_KHR_xcb_surface", vkGetPhysicalDeviceXcbPresentationSupportKHR, PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR, wsi::xcb::vkGetPhysicalDeviceXcbPresentationSupportKHR;
    Instance, "VK_KHR_xlib_surface", vkCreateXlibSurfaceKHR, PFN_vkCreateXlibSurfaceKHR, wsi::xlib::vkCreateXlibSurfaceKHR;
    Physical, "VK_KHR_xlib_surface", vkGetPhysicalDeviceXlibPresentationSupportKHR, PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR, wsi::xlib::vkGetPhysicalDeviceXlibPresentationSupportKHR;
    Instance, "VK_KHR_wayland_surface", vkCreateWaylandSurfaceKHR, PFN_vkCreateWaylandSurfaceKHR, wsi::wayland::vkCreateWaylandSurfaceKHR;
    Physical, "VK_KHR_wayland_surface", vkGetPhysicalDeviceWaylandPresentationSupportKHR, PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR, wsi::wayland::vkGetPhysicalDeviceWaylandPresentationSupportKHR;
    Instance, "VK_EXT_headless_surface", vkCreateHeadlessSurfaceEXT, PFN_vkCreateHeadlessSurfaceEXT, wsi::vkCreateHeadlessSurfaceEXT;
    Physical, "VK_KHR_display", vkGetPhysicalDeviceDisplayPropertiesKHR, PFN_vkGetPhysicalDeviceDisplayPropertiesKHR, wsi::display::vkGetPhysicalDeviceDisplayPropertiesKHR;
    Physical, "VK_KHR_display", vkGetPhysicalDeviceDisplayPlanePropertiesKHR, PFN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR, wsi::display::vkGetPhysicalDeviceDisplayPlanePropertiesKHR;
    Physical, "VK_KHR_display", vkGetDisplayPlaneSupportedDisplaysKHR, PFN_vkGetDisplayPlaneSupportedDisplaysKHR, wsi::display::vkGetDisplayPlaneSupportedDisplaysKHR;
    Physical, "VK_KHR_display", vkGetDisplayModePropertiesKHR, PFN_vkGetDisplayModePropertiesKHR, wsi::display::vkGetDisplayModePropertiesKHR;
    Physical, "VK_KHR_display", vkCreateDisplayModeKHR, PFN_vkCreateDisplayModeKHR, wsi::display::vkCreateDisplayModeKHR;
    Physical, "VK_KHR_display", vkGetDisplayPlaneCapabilitiesKHR, PFN_vkGetDisplayPlaneCapabilitiesKHR, wsi::display::vkGetDisplayPlaneCapabilitiesKHR;
    Instance, "VK_KHR_display", vkCreateDisplayPlaneSurfaceKHR, PFN_vkCreateDisplayPlaneSurfaceKHR, wsi::display::vkCreateDisplayPlaneSurfaceKHR;
    Physical, "VK_KHR_get_display_properties2", vkGetPhysicalDeviceDisplayProperties2KHR, PFN_vkGetPhysicalDeviceDisplayProperties2KHR, wsi::display::vkGetPhysicalDeviceDisplayProperties2KHR;
    Physical, "VK_KHR_get_display_properties2", vkGetPhysicalDeviceDisplayPlaneProperties2KHR, PFN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR, wsi::display::vkGetPhysicalDeviceDisplayPlaneProperties2KHR;
    Physical, "VK_KHR_get_display_properties2", vkGetDisplayModeProperties2KHR, PFN_vkGetDisplayModeProperties2KHR, wsi::display::vkGetDisplayModeProperties2KHR;
    Physical, "VK_KHR_get_display_properties2", vkGetDisplayPlaneCapabilities2KHR, PFN_vkGetDisplayPlaneCapabilities2KHR, wsi::display::vkGetDisplayPlaneCapabilities2KHR;
    Instance, "VK_EXT_debug_utils", vkCreateDebugUtilsMessengerEXT, PFN_vkCreateDebugUtilsMessengerEXT, object::debug::vkCreateDebugUtilsMessengerEXT;
    Instance, "VK_EXT_debug_utils", vkDestroyDebugUtilsMessengerEXT, PFN_vkDestroyDebugUtilsMessengerEXT, object::debug::vkDestroyDebugUtilsMessengerEXT;
    Instance, "VK_EXT_debug_utils", vkSubmitDebugUtilsMessageEXT, PFN_vkSubmitDebugUtilsMessageEXT, object::debug::vkSubmitDebugUtilsMessageEXT;
    Instance, "VK_EXT_debug_report", vkCreateDebugReportCallbackEXT, PFN_vkCreateDebugReportCallbackEXT, object::debug_report::vkCreateDebugReportCallbackEXT;
    Instance, "VK_EXT_debug_report", vkDestroyDebugReportCallbackEXT, PFN_vkDestroyDebugReportCallbackEXT, object::debug_report::vkDestroyDebugReportCallbackEXT;
    Instance, "VK_EXT_debug_report", vkDebugReportMessageEXT, PFN_vkDebugReportMessageEXT, object::debug_report::vkDebugReportMessageEXT;
    Device, "VK_EXT_debug_marker", vkDebugMarkerSetObjectNameEXT, PFN_vkDebugMarkerSetObjectNameEXT, object::debug_report::vkDebugMarkerSetObjectNameEXT;
    Device, "VK_EXT_debug_marker", vkDebugMarkerSetObjectTagEXT, PFN_vkDebugMarkerSetObjectTagEXT, object::debug_report::vkDebugMarkerSetObjectTagEXT;
    Device, "VK_EXT_debug_marker", vkCmdDebugMarkerBeginEXT, PFN_vkCmdDebugMarkerBeginEXT, object::debug_report::vkCmdDebugMarkerBeginEXT;
    Device, "VK_EXT_debug_marker", vkCmdDebugMarkerEndEXT, PFN_vkCmdDebugMarkerEndEXT, object::debug_report::vkCmdDebugMarkerEndEXT;
    Device, "VK_EXT_debug_marker", vkCmdDebugMarkerInsertEXT, PFN_vkCmdDebugMarkerInsertEXT, object::debug_report::vkCmdDebugMarkerBeginEXT;
    Device, "VK_EXT_debug_utils", vkSetDebugUtilsObjectNameEXT, PFN_vkSetDebugUtilsObjectNameEXT, object::debug::vkSetDebugUtilsObjectNameEXT;
    Device, "VK_EXT_debug_utils", vkSetDebugUtilsObjectTagEXT, PFN_vkSetDebugUtilsObjectTagEXT, object::debug::vkSetDebugUtilsObjectTagEXT;
    Device, "VK_EXT_debug_utils", vkQueueBeginDebugUtilsLabelEXT, PFN_vkQueueBeginDebugUtilsLabelEXT, object::debug::vkQueueBeginDebugUtilsLabelEXT;
    Device, "VK_EXT_debug_utils", vkQueueEndDebugUtilsLabelEXT, PFN_vkQueueEndDebugUtilsLabelEXT, object::debug::vkQueueEndDebugUtilsLabelEXT;
    Device, "VK_EXT_debug_utils", vkQueueInsertDebugUtilsLabelEXT, PFN_vkQueueInsertDebugUtilsLabelEXT, object::debug::vkQueueBeginDebugUtilsLabelEXT;
    Device, "VK_EXT_debug_utils", vkCmdBeginDebugUtilsLabelEXT, PFN_vkCmdBeginDebugUtilsLabelEXT, object::debug::vkCmdBeginDebugUtilsLabelEXT;
    Device, "VK_EXT_debug_utils", vkCmdEndDebugUtilsLabelEXT, PFN_vkCmdEndDebugUtilsLabelEXT, object::debug::vkCmdEndDebugUtilsLabelEXT;
    Device, "VK_EXT_debug_utils", vkCmdInsertDebugUtilsLabelEXT, PFN_vkCmdInsertDebugUtilsLabelEXT, object::debug::vkCmdBeginDebugUtilsLabelEXT;
    Global, "" => V1_1, vkEnumerateInstanceVersion, PFN_vkEnumerateInstanceVersion, instance::vkEnumerateInstanceVersion;
    Device, "" => V1_1, vkGetDeviceQueue2, PFN_vkGetDeviceQueue2, device::vkGetDeviceQueue2;
    Instance, "VK_KHR_device_group_creation" => V1_1, vkEnumeratePhysicalDeviceGroupsKHR, PFN_vkEnumeratePhysicalDeviceGroups, instance::vkEnumeratePhysicalDeviceGroups;
    Physical, "VK_KHR_external_memory_capabilities" => V1_1, vkGetPhysicalDeviceExternalBufferPropertiesKHR, PFN_vkGetPhysicalDeviceExternalBufferProperties, object::external::vkGetPhysicalDeviceExternalBufferProperties;
    Physical, "VK_KHR_external_fence_capabilities" => V1_1, vkGetPhysicalDeviceExternalFencePropertiesKHR, PFN_vkGetPhysicalDeviceExternalFenceProperties, object::external::vkGetPhysicalDeviceExternalFenceProperties;
    Physical, "VK_KHR_external_semaphore_capabilities" => V1_1, vkGetPhysicalDeviceExternalSemaphorePropertiesKHR, PFN_vkGetPhysicalDeviceExternalSemaphoreProperties, object::external::vkGetPhysicalDeviceExternalSemaphoreProperties;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetBufferMemoryRequirements2KHR, PFN_vkGetBufferMemoryRequirements2, object::memory::vkGetBufferMemoryRequirements2;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetImageMemoryRequirements2KHR, PFN_vkGetImageMemoryRequirements2, object::memory::vkGetImageMemoryRequirements2;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetImageSparseMemoryRequirements2KHR, PFN_vkGetImageSparseMemoryRequirements2, object::memory::vkGetImageSparseMemoryRequirements2;
    Device, "VK_KHR_bind_memory2" => V1_1, vkBindBufferMemory2KHR, PFN_vkBindBufferMemory2, object::memory::vkBindBufferMemory2;
    Device, "VK_KHR_bind_memory2" => V1_1, vkBindImageMemory2KHR, PFN_vkBindImageMemory2, object::memory::vkBindImageMemory2;
    Device, "VK_KHR_maintenance1" => V1_1, vkTrimCommandPoolKHR, PFN_vkTrimCommandPool, object::command::vkTrimCommandPool;
    Device, "VK_KHR_maintenance3" => V1_1, vkGetDescriptorSetLayoutSupportKHR, PFN_vkGetDescriptorSetLayoutSupport, object::descriptor::vkGetDescriptorSetLayoutSupport;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkCreateDescriptorUpdateTemplateKHR, PFN_vkCreateDescriptorUpdateTemplate, object::descriptor::vkCreateDescriptorUpdateTemplate;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkDestroyDescriptorUpdateTemplateKHR, PFN_vkDestroyDescriptorUpdateTemplate, object::descriptor::vkDestroyDescriptorUpdateTemplate;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkUpdateDescriptorSetWithTemplateKHR, PFN_vkUpdateDescriptorSetWithTemplate, object::descriptor::vkUpdateDescriptorSetWithTemplate;
    Device, "VK_KHR_device_group" => V1_1, vkGetDeviceGroupPeerMemoryFeaturesKHR, PFN_vkGetDeviceGroupPeerMemoryFeatures, device::vkGetDeviceGroupPeerMemoryFeatures;
    Device, "VK_KHR_device_group" => V1_1, vkCmdSetDeviceMaskKHR, PFN_vkCmdSetDeviceMask, cmd::draw::vkCmdSetDeviceMask;
    Device, "VK_KHR_device_group" => V1_1, vkCmdDispatchBaseKHR, PFN_vkCmdDispatchBase, cmd::draw::vkCmdDispatchBase;
    Device, "VK_KHR_draw_indirect_count" => V1_2, vkCmdDrawIndirectCountKHR, PFN_vkCmdDrawIndirectCount, cmd::draw::vkCmdDrawIndirectCount;
    Device, "VK_KHR_draw_indirect_count" => V1_2, vkCmdDrawIndexedIndirectCountKHR, PFN_vkCmdDrawIndexedIndirectCount, cmd::draw::vkCmdDrawIndexedIndirectCount;
    Device, "VK_EXT_host_query_reset" => V1_2, vkResetQueryPoolEXT, PFN_vkResetQueryPool, object::query::vkResetQueryPool;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetBufferDeviceAddressKHR, PFN_vkGetBufferDeviceAddress, object::address::vkGetBufferDeviceAddress;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetBufferOpaqueCaptureAddressKHR, PFN_vkGetBufferOpaqueCaptureAddress, object::address::vkGetBufferOpaqueCaptureAddress;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetDeviceMemoryOpaqueCaptureAddressKHR, PFN_vkGetDeviceMemoryOpaqueCaptureAddress, object::address::vkGetDeviceMemoryOpaqueCaptureAddress;
    Device, "VK_EXT_buffer_device_address", vkGetBufferDeviceAddressEXT, PFN_vkGetBufferDeviceAddress, object::address::vkGetBufferDeviceAddress;
    Device, "VK_KHR_external_memory_fd", vkGetMemoryFdKHR, PFN_vkGetMemoryFdKHR, object::external::vkGetMemoryFdKHR;
    Device, "VK_KHR_external_memory_fd", vkGetMemoryFdPropertiesKHR, PFN_vkGetMemoryFdPropertiesKHR, object::external::vkGetMemoryFdPropertiesKHR;
    Device, "VK_EXT_image_drm_format_modifier", vkGetImageDrmFormatModifierPropertiesEXT, PFN_vkGetImageDrmFormatModifierPropertiesEXT, object::modifier::vkGetImageDrmFormatModifierPropertiesEXT;
    Device, "VK_KHR_external_fence_fd", vkGetFenceFdKHR, PFN_vkGetFenceFdKHR, object::external::vkGetFenceFdKHR;
    Device, "VK_KHR_external_fence_fd", vkImportFenceFdKHR, PFN_vkImportFenceFdKHR, object::external::vkImportFenceFdKHR;
    Device, "VK_KHR_external_semaphore_fd", vkGetSemaphoreFdKHR, PFN_vkGetSemaphoreFdKHR, object::external::vkGetSemaphoreFdKHR;
    Device, "VK_KHR_external_semaphore_fd", vkImportSemaphoreFdKHR, PFN_vkImportSemaphoreFdKHR, object::external::vkImportSemaphoreFdKHR;
    Device, "VK_EXT_external_memory_host", vkGetMemoryHostPointerPropertiesEXT, PFN_vkGetMemoryHostPointerPropertiesEXT, object::external::vkGetMemoryHostPointerPropertiesEXT;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkGetSemaphoreCounterValueKHR, PFN_vkGetSemaphoreCounterValue, object::sync::vkGetSemaphoreCounterValue;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkWaitSemaphoresKHR, PFN_vkWaitSemaphores, object::sync::vkWaitSemaphores;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkSignalSemaphoreKHR, PFN_vkSignalSemaphore, object::sync::vkSignalSemaphore;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyBuffer2KHR, PFN_vkCmdCopyBuffer2, cmd::transfer::vkCmdCopyBuffer2;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyImage2KHR, PFN_vkCmdCopyImage2, cmd::transfer::vkCmdCopyImage2;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdBlitImage2KHR, PFN_vkCmdBlitImage2, cmd::transfer::vkCmdBlitImage2;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyBufferToImage2KHR, PFN_vkCmdCopyBufferToImage2, cmd::transfer::vkCmdCopyBufferToImage2;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyImageToBuffer2KHR, PFN_vkCmdCopyImageToBuffer2, cmd::transfer::vkCmdCopyImageToBuffer2;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdResolveImage2KHR, PFN_vkCmdResolveImage2, cmd::transfer::vkCmdResolveImage2;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdSetEvent2KHR, PFN_vkCmdSetEvent2, cmd::sync::vkCmdSetEvent2;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdResetEvent2KHR, PFN_vkCmdResetEvent2, cmd::sync::vkCmdResetEvent2;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdWaitEvents2KHR, PFN_vkCmdWaitEvents2, cmd::sync::vkCmdWaitEvents2;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdPipelineBarrier2KHR, PFN_vkCmdPipelineBarrier2, cmd::sync::vkCmdPipelineBarrier2;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdWriteTimestamp2KHR, PFN_vkCmdWriteTimestamp2, cmd::query::vkCmdWriteTimestamp2;
    Device, "VK_KHR_synchronization2" => V1_3, vkQueueSubmit2KHR, PFN_vkQueueSubmit2, device::vkQueueSubmit2;
    Device, "VK_KHR_dynamic_rendering" => V1_3, vkCmdBeginRenderingKHR, PFN_vkCmdBeginRendering, cmd::rendering::vkCmdBeginRendering;
    Device, "VK_KHR_dynamic_rendering" => V1_3, vkCmdEndRenderingKHR, PFN_vkCmdEndRendering, cmd::rendering::vkCmdEndRendering;
    Device, "VK_KHR_dynamic_rendering_local_read" => V1_4, vkCmdSetRenderingAttachmentLocationsKHR, PFN_vkCmdSetRenderingAttachmentLocationsKHR, cmd::rendering::vkCmdSetRenderingAttachmentLocationsKHR;
    Device, "VK_KHR_dynamic_rendering_local_read" => V1_4, vkCmdSetRenderingInputAttachmentIndicesKHR, PFN_vkCmdSetRenderingInputAttachmentIndicesKHR, cmd::rendering::vkCmdSetRenderingInputAttachmentIndicesKHR;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceBufferMemoryRequirementsKHR, PFN_vkGetDeviceBufferMemoryRequirements, object::memory::vkGetDeviceBufferMemoryRequirements;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceImageMemoryRequirementsKHR, PFN_vkGetDeviceImageMemoryRequirements, object::memory::vkGetDeviceImageMemoryRequirements;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceImageSparseMemoryRequirementsKHR, PFN_vkGetDeviceImageSparseMemoryRequirements, object::memory::vkGetDeviceImageSparseMemoryRequirements;
    Physical, "VK_EXT_tooling_info" => V1_3, vkGetPhysicalDeviceToolPropertiesEXT, PFN_vkGetPhysicalDeviceToolProperties, physical::vkGetPhysicalDeviceToolProperties;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetCullModeEXT, PFN_vkCmdSetCullMode, cmd::state::vkCmdSetCullMode;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetFrontFaceEXT, PFN_vkCmdSetFrontFace, cmd::state::vkCmdSetFrontFace;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetPrimitiveTopologyEXT, PFN_vkCmdSetPrimitiveTopology, cmd::state::vkCmdSetPrimitiveTopology;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetViewportWithCountEXT, PFN_vkCmdSetViewportWithCount, cmd::state::vkCmdSetViewportWithCount;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetScissorWithCountEXT, PFN_vkCmdSetScissorWithCount, cmd::state::vkCmdSetScissorWithCount;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdBindVertexBuffers2EXT, PFN_vkCmdBindVertexBuffers2, cmd::bind::vkCmdBindVertexBuffers2;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthTestEnableEXT, PFN_vkCmdSetDepthTestEnable, cmd::state::vkCmdSetDepthTestEnable;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthWriteEnableEXT, PFN_vkCmdSetDepthWriteEnable, cmd::state::vkCmdSetDepthWriteEnable;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthCompareOpEXT, PFN_vkCmdSetDepthCompareOp, cmd::state::vkCmdSetDepthCompareOp;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthBoundsTestEnableEXT, PFN_vkCmdSetDepthBoundsTestEnable, cmd::state::vkCmdSetDepthBoundsTestEnable;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetStencilTestEnableEXT, PFN_vkCmdSetStencilTestEnable, cmd::state::vkCmdSetStencilTestEnable;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetStencilOpEXT, PFN_vkCmdSetStencilOp, cmd::state::vkCmdSetStencilOp;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetRasterizerDiscardEnableEXT, PFN_vkCmdSetRasterizerDiscardEnable, cmd::state::vkCmdSetRasterizerDiscardEnable;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetDepthBiasEnableEXT, PFN_vkCmdSetDepthBiasEnable, cmd::state::vkCmdSetDepthBiasEnable;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetPrimitiveRestartEnableEXT, PFN_vkCmdSetPrimitiveRestartEnable, cmd::state::vkCmdSetPrimitiveRestartEnable;
    Device, "VK_EXT_extended_dynamic_state2", vkCmdSetLogicOpEXT, PFN_vkCmdSetLogicOpEXT, cmd::state::vkCmdSetLogicOpEXT;
    Device, "VK_EXT_extended_dynamic_state2", vkCmdSetPatchControlPointsEXT, PFN_vkCmdSetPatchControlPointsEXT, cmd::state::vkCmdSetPatchControlPointsEXT;
    Device, "VK_KHR_push_descriptor" => V1_4, vkCmdPushDescriptorSetKHR, PFN_vkCmdPushDescriptorSetKHR, cmd::bind::vkCmdPushDescriptorSetKHR;
    Device, "VK_KHR_push_descriptor" => V1_4, vkCmdPushDescriptorSetWithTemplateKHR, PFN_vkCmdPushDescriptorSetWithTemplateKHR, cmd::bind::vkCmdPushDescriptorSetWithTemplateKHR;
    Device, "VK_EXT_vertex_input_dynamic_state", vkCmdSetVertexInputEXT, PFN_vkCmdSetVertexInputEXT, cmd::state::vkCmdSetVertexInputEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetPolygonModeEXT, PFN_vkCmdSetPolygonModeEXT, cmd::state::vkCmdSetPolygonModeEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetRasterizationSamplesEXT, PFN_vkCmdSetRasterizationSamplesEXT, cmd::state::vkCmdSetRasterizationSamplesEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetSampleMaskEXT, PFN_vkCmdSetSampleMaskEXT, cmd::state::vkCmdSetSampleMaskEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetAlphaToCoverageEnableEXT, PFN_vkCmdSetAlphaToCoverageEnableEXT, cmd::state::vkCmdSetAlphaToCoverageEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetAlphaToOneEnableEXT, PFN_vkCmdSetAlphaToOneEnableEXT, cmd::state::vkCmdSetAlphaToOneEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLogicOpEnableEXT, PFN_vkCmdSetLogicOpEnableEXT, cmd::state::vkCmdSetLogicOpEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorBlendEnableEXT, PFN_vkCmdSetColorBlendEnableEXT, cmd::state::vkCmdSetColorBlendEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorBlendAdvancedEXT, PFN_vkCmdSetColorBlendAdvancedEXT, cmd::state::vkCmdSetColorBlendAdvancedEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorBlendEquationEXT, PFN_vkCmdSetColorBlendEquationEXT, cmd::state::vkCmdSetColorBlendEquationEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorWriteMaskEXT, PFN_vkCmdSetColorWriteMaskEXT, cmd::state::vkCmdSetColorWriteMaskEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetTessellationDomainOriginEXT, PFN_vkCmdSetTessellationDomainOriginEXT, cmd::state::vkCmdSetTessellationDomainOriginEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClampEnableEXT, PFN_vkCmdSetDepthClampEnableEXT, cmd::state::vkCmdSetDepthClampEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClipEnableEXT, PFN_vkCmdSetDepthClipEnableEXT, cmd::state::vkCmdSetDepthClipEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClipNegativeOneToOneEXT, PFN_vkCmdSetDepthClipNegativeOneToOneEXT, cmd::state::vkCmdSetDepthClipNegativeOneToOneEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetProvokingVertexModeEXT, PFN_vkCmdSetProvokingVertexModeEXT, cmd::state::vkCmdSetProvokingVertexModeEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLineRasterizationModeEXT, PFN_vkCmdSetLineRasterizationModeEXT, cmd::state::vkCmdSetLineRasterizationModeEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLineStippleEnableEXT, PFN_vkCmdSetLineStippleEnableEXT, cmd::state::vkCmdSetLineStippleEnableEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetRasterizationStreamEXT, PFN_vkCmdSetRasterizationStreamEXT, cmd::state::vkCmdSetRasterizationStreamEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetConservativeRasterizationModeEXT, PFN_vkCmdSetConservativeRasterizationModeEXT, cmd::state::vkCmdSetConservativeRasterizationModeEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetExtraPrimitiveOverestimationSizeEXT, PFN_vkCmdSetExtraPrimitiveOverestimationSizeEXT, cmd::state::vkCmdSetExtraPrimitiveOverestimationSizeEXT;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetSampleLocationsEnableEXT, PFN_vkCmdSetSampleLocationsEnableEXT, cmd::state::vkCmdSetSampleLocationsEnableEXT;
    Device, "VK_EXT_sample_locations", vkCmdSetSampleLocationsEXT, PFN_vkCmdSetSampleLocationsEXT, cmd::state::vkCmdSetSampleLocationsEXT;
    Physical, "VK_EXT_sample_locations", vkGetPhysicalDeviceMultisamplePropertiesEXT, PFN_vkGetPhysicalDeviceMultisamplePropertiesEXT, physical::vkGetPhysicalDeviceMultisamplePropertiesEXT;
    Device, "VK_EXT_attachment_feedback_loop_dynamic_state", vkCmdSetAttachmentFeedbackLoopEnableEXT, PFN_vkCmdSetAttachmentFeedbackLoopEnableEXT, cmd::state::vkCmdSetAttachmentFeedbackLoopEnableEXT;
    Physical, "VK_KHR_calibrated_timestamps", vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, object::query::vkGetPhysicalDeviceCalibrateableTimeDomainsKHR;
    Device, "VK_KHR_calibrated_timestamps", vkGetCalibratedTimestampsKHR, PFN_vkGetCalibratedTimestampsKHR, object::query::vkGetCalibratedTimestampsKHR;
    Physical, "VK_EXT_calibrated_timestamps", vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, object::query::vkGetPhysicalDeviceCalibrateableTimeDomainsKHR;
    Device, "VK_EXT_calibrated_timestamps", vkGetCalibratedTimestampsEXT, PFN_vkGetCalibratedTimestampsKHR, object::query::vkGetCalibratedTimestampsKHR;
    Physical, "VK_KHR_get_surface_capabilities2", vkGetPhysicalDeviceSurfaceCapabilities2KHR, PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR, wsi::vkGetPhysicalDeviceSurfaceCapabilities2KHR;
    Physical, "VK_KHR_get_surface_capabilities2", vkGetPhysicalDeviceSurfaceFormats2KHR, PFN_vkGetPhysicalDeviceSurfaceFormats2KHR, wsi::vkGetPhysicalDeviceSurfaceFormats2KHR;
    Device, "VK_KHR_swapchain_maintenance1", vkReleaseSwapchainImagesKHR, PFN_vkReleaseSwapchainImagesEXT, wsi::vkReleaseSwapchainImagesKHR;
    Device, "VK_KHR_present_wait", vkWaitForPresentKHR, PFN_vkWaitForPresentKHR, wsi::vkWaitForPresentKHR;
    Device, "VK_EXT_swapchain_maintenance1", vkReleaseSwapchainImagesEXT, PFN_vkReleaseSwapchainImagesEXT, wsi::vkReleaseSwapchainImagesKHR;
    Device, "VK_EXT_color_write_enable", vkCmdSetColorWriteEnableEXT, PFN_vkCmdSetColorWriteEnableEXT, cmd::state::vkCmdSetColorWriteEnableEXT;
    Device, "VK_EXT_conditional_rendering", vkCmdBeginConditionalRenderingEXT, PFN_vkCmdBeginConditionalRenderingEXT, cmd::draw::vkCmdBeginConditionalRenderingEXT;
    Device, "VK_EXT_conditional_rendering", vkCmdEndConditionalRenderingEXT, PFN_vkCmdEndConditionalRenderingEXT, cmd::draw::vkCmdEndConditionalRenderingEXT;
    Device, "VK_EXT_transform_feedback", vkCmdBindTransformFeedbackBuffersEXT, PFN_vkCmdBindTransformFeedbackBuffersEXT, cmd::feedback::vkCmdBindTransformFeedbackBuffersEXT;
    Device, "VK_EXT_transform_feedback", vkCmdBeginTransformFeedbackEXT, PFN_vkCmdBeginTransformFeedbackEXT, cmd::feedback::vkCmdBeginTransformFeedbackEXT;
    Device, "VK_EXT_transform_feedback", vkCmdEndTransformFeedbackEXT, PFN_vkCmdEndTransformFeedbackEXT, cmd::feedback::vkCmdEndTransformFeedbackEXT;
    Device, "VK_EXT_transform_feedback", vkCmdBeginQueryIndexedEXT, PFN_vkCmdBeginQueryIndexedEXT, cmd::query::vkCmdBeginQueryIndexedEXT;
    Device, "VK_EXT_transform_feedback", vkCmdEndQueryIndexedEXT, PFN_vkCmdEndQueryIndexedEXT, cmd::query::vkCmdEndQueryIndexedEXT;
    Device, "VK_EXT_transform_feedback", vkCmdDrawIndirectByteCountEXT, PFN_vkCmdDrawIndirectByteCountEXT, cmd::feedback::vkCmdDrawIndirectByteCountEXT;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksEXT, PFN_vkCmdDrawMeshTasksEXT, cmd::draw::vkCmdDrawMeshTasksEXT;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksIndirectEXT, PFN_vkCmdDrawMeshTasksIndirectEXT, cmd::draw::vkCmdDrawMeshTasksIndirectEXT;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksIndirectCountEXT, PFN_vkCmdDrawMeshTasksIndirectCountEXT, cmd::draw::vkCmdDrawMeshTasksIndirectCountEXT;
    Device, "VK_EXT_multi_draw", vkCmdDrawMultiEXT, PFN_vkCmdDrawMultiEXT, cmd::draw::vkCmdDrawMultiEXT;
    Device, "VK_EXT_multi_draw", vkCmdDrawMultiIndexedEXT, PFN_vkCmdDrawMultiIndexedEXT, cmd::draw::vkCmdDrawMultiIndexedEXT;
    Device, "VK_KHR_map_memory2" => V1_4, vkMapMemory2KHR, PFN_vkMapMemory2KHR, object::map::vkMapMemory2KHR;
    Device, "VK_KHR_map_memory2" => V1_4, vkUnmapMemory2KHR, PFN_vkUnmapMemory2KHR, object::map::vkUnmapMemory2KHR;
    Device, "VK_KHR_maintenance5" => V1_4, vkCmdBindIndexBuffer2KHR, PFN_vkCmdBindIndexBuffer2KHR, cmd::bind::vkCmdBindIndexBuffer2KHR;
    Device, "VK_KHR_maintenance5" => V1_4, vkGetRenderingAreaGranularityKHR, PFN_vkGetRenderingAreaGranularityKHR, object::pass::vkGetRenderingAreaGranularityKHR;
    Device, "VK_KHR_maintenance5" => V1_4, vkGetDeviceImageSubresourceLayoutKHR, PFN_vkGetDeviceImageSubresourceLayoutKHR, object::memory::vkGetDeviceImageSubresourceLayoutKHR;
    Device, "VK_KHR_maintenance5" => V1_4, vkGetImageSubresourceLayout2KHR, PFN_vkGetImageSubresourceLayout2KHR, object::memory::vkGetImageSubresourceLayout2KHR;
    Device, "VK_KHR_maintenance6" => V1_4, vkCmdBindDescriptorSets2KHR, PFN_vkCmdBindDescriptorSets2KHR, cmd::bind::vkCmdBindDescriptorSets2KHR;
    Device, "VK_KHR_maintenance6" => V1_4, vkCmdPushConstants2KHR, PFN_vkCmdPushConstants2KHR, cmd::bind::vkCmdPushConstants2KHR;
    Device, "VK_KHR_maintenance6" => V1_4, vkCmdPushDescriptorSet2KHR, PFN_vkCmdPushDescriptorSet2KHR, cmd::bind::vkCmdPushDescriptorSet2KHR;
    Device, "VK_KHR_maintenance6" => V1_4, vkCmdPushDescriptorSetWithTemplate2KHR, PFN_vkCmdPushDescriptorSetWithTemplate2KHR, cmd::bind::vkCmdPushDescriptorSetWithTemplate2KHR;
    Device, "VK_EXT_shader_module_identifier", vkGetShaderModuleIdentifierEXT, PFN_vkGetShaderModuleIdentifierEXT, object::pipeline::vkGetShaderModuleIdentifierEXT;
    Device, "VK_EXT_shader_module_identifier", vkGetShaderModuleCreateInfoIdentifierEXT, PFN_vkGetShaderModuleCreateInfoIdentifierEXT, object::pipeline::vkGetShaderModuleCreateInfoIdentifierEXT;
    Device, "VK_EXT_device_fault", vkGetDeviceFaultInfoEXT, PFN_vkGetDeviceFaultInfoEXT, device::vkGetDeviceFaultInfoEXT;
    Device, "VK_EXT_pageable_device_local_memory", vkSetDeviceMemoryPriorityEXT, PFN_vkSetDeviceMemoryPriorityEXT, object::memory::vkSetDeviceMemoryPriorityEXT;
    Device, "VK_EXT_host_image_copy" => V1_4, vkCopyMemoryToImageEXT, PFN_vkCopyMemoryToImageEXT, object::host::vkCopyMemoryToImageEXT;
    Device, "VK_EXT_host_image_copy" => V1_4, vkCopyImageToMemoryEXT, PFN_vkCopyImageToMemoryEXT, object::host::vkCopyImageToMemoryEXT;
    Device, "VK_EXT_host_image_copy" => V1_4, vkCopyImageToImageEXT, PFN_vkCopyImageToImageEXT, object::host::vkCopyImageToImageEXT;
    Device, "VK_EXT_host_image_copy" => V1_4, vkTransitionImageLayoutEXT, PFN_vkTransitionImageLayoutEXT, object::host::vkTransitionImageLayoutEXT;
    Device, "VK_EXT_host_image_copy", vkGetImageSubresourceLayout2EXT, PFN_vkGetImageSubresourceLayout2KHR, object::memory::vkGetImageSubresourceLayout2KHR;
    Device, "VK_EXT_private_data" => V1_3, vkCreatePrivateDataSlotEXT, PFN_vkCreatePrivateDataSlot, object::private::vkCreatePrivateDataSlot;
    Device, "VK_EXT_private_data" => V1_3, vkDestroyPrivateDataSlotEXT, PFN_vkDestroyPrivateDataSlot, object::private::vkDestroyPrivateDataSlot;
    Device, "VK_EXT_private_data" => V1_3, vkSetPrivateDataEXT, PFN_vkSetPrivateData, object::private::vkSetPrivateData;
    Device, "VK_EXT_private_data" => V1_3, vkGetPrivateDataEXT, PFN_vkGetPrivateData, object::private::vkGetPrivateData;
    Physical, "VK_KHR_surface", vkGetPhysicalDevicePresentRectanglesKHR, PFN_vkGetPhysicalDevicePresentRectanglesKHR, wsi::vkGetPhysicalDevicePresentRectanglesKHR;
    Device, "VK_KHR_swapchain", vkAcquireNextImage2KHR, PFN_vkAcquireNextImage2KHR, wsi::vkAcquireNextImage2KHR;
    Device, "VK_KHR_swapchain", vkGetDeviceGroupPresentCapabilitiesKHR, PFN_vkGetDeviceGroupPresentCapabilitiesKHR, wsi::vkGetDeviceGroupPresentCapabilitiesKHR;
    Device, "VK_KHR_swapchain", vkGetDeviceGroupSurfacePresentModesKHR, PFN_vkGetDeviceGroupSurfacePresentModesKHR, wsi::vkGetDeviceGroupSurfacePresentModesKHR;
    Device, "VK_KHR_sampler_ycbcr_conversion" => V1_1, vkCreateSamplerYcbcrConversionKHR, PFN_vkCreateSamplerYcbcrConversion, object::sampler::vkCreateSamplerYcbcrConversion;
    Device, "VK_KHR_sampler_ycbcr_conversion" => V1_1, vkDestroySamplerYcbcrConversionKHR, PFN_vkDestroySamplerYcbcrConversion, object::sampler::vkDestroySamplerYcbcrConversion;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCreateRenderPass2KHR, PFN_vkCreateRenderPass2, object::pass::vkCreateRenderPass2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdBeginRenderPass2KHR, PFN_vkCmdBeginRenderPass2, cmd::pass::vkCmdBeginRenderPass2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdNextSubpass2KHR, PFN_vkCmdNextSubpass2, cmd::pass::vkCmdNextSubpass2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdEndRenderPass2KHR, PFN_vkCmdEndRenderPass2, cmd::pass::vkCmdEndRenderPass2;
    Device, "VK_KHR_line_rasterization" => V1_4, vkCmdSetLineStippleKHR, PFN_vkCmdSetLineStippleKHR, cmd::state::vkCmdSetLineStippleKHR;
    // This command is newer than all bindings, which have another command of its type.
    Device, "VK_EXT_primitive_restart_index", vkCmdSetPrimitiveRestartIndexEXT, PFN_vkCmdSetPatchControlPointsEXT, cmd::state::vkCmdSetPrimitiveRestartIndexEXT;
    Device, "VK_EXT_line_rasterization", vkCmdSetLineStippleEXT, PFN_vkCmdSetLineStippleKHR, cmd::state::vkCmdSetLineStippleKHR;
    Device, "VK_EXT_depth_bias_control", vkCmdSetDepthBias2EXT, PFN_vkCmdSetDepthBias2EXT, cmd::state::vkCmdSetDepthBias2EXT;
    Physical, "VK_KHR_fragment_shading_rate", vkGetPhysicalDeviceFragmentShadingRatesKHR, PFN_vkGetPhysicalDeviceFragmentShadingRatesKHR, physical::vkGetPhysicalDeviceFragmentShadingRatesKHR;
    Physical, "VK_KHR_cooperative_matrix", vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR, PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR, physical::vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
    Device, "VK_KHR_fragment_shading_rate", vkCmdSetFragmentShadingRateKHR, PFN_vkCmdSetFragmentShadingRateKHR, cmd::state::vkCmdSetFragmentShadingRateKHR;
    Device, "VK_KHR_swapchain", vkCreateSwapchainKHR, PFN_vkCreateSwapchainKHR, wsi::vkCreateSwapchainKHR;
    Device, "VK_KHR_swapchain", vkDestroySwapchainKHR, PFN_vkDestroySwapchainKHR, wsi::vkDestroySwapchainKHR;
    Device, "VK_KHR_swapchain", vkGetSwapchainImagesKHR, PFN_vkGetSwapchainImagesKHR, wsi::vkGetSwapchainImagesKHR;
    Device, "VK_KHR_swapchain", vkAcquireNextImageKHR, PFN_vkAcquireNextImageKHR, wsi::vkAcquireNextImageKHR;
    Device, "VK_KHR_swapchain", vkQueuePresentKHR, PFN_vkQueuePresentKHR, wsi::vkQueuePresentKHR;
    Device, "VK_EXT_hdr_metadata", vkSetHdrMetadataEXT, PFN_vkSetHdrMetadataEXT, wsi::vkSetHdrMetadataEXT;
    Device, "VK_AMD_buffer_marker", vkCmdWriteBufferMarkerAMD, PFN_vkCmdWriteBufferMarkerAMD, cmd::transfer::vkCmdWriteBufferMarkerAMD;
    Device, "VK_AMD_buffer_marker", vkCmdWriteBufferMarker2AMD, PFN_vkCmdWriteBufferMarker2AMD, cmd::transfer::vkCmdWriteBufferMarker2AMD;
    @newer Device, "VK_EXT_custom_resolve", vkCmdBeginCustomResolveEXT, PFN_vkCmdBeginCustomResolveEXT, cmd::rendering::vkCmdBeginCustomResolveEXT;
    @newer Device, "VK_KHR_copy_memory_indirect", vkCmdCopyMemoryIndirectKHR, PFN_vkCmdCopyMemoryIndirectKHR, cmd::transfer::vkCmdCopyMemoryIndirectKHR;
    @newer Device, "VK_KHR_copy_memory_indirect", vkCmdCopyMemoryToImageIndirectKHR, PFN_vkCmdCopyMemoryToImageIndirectKHR, cmd::transfer::vkCmdCopyMemoryToImageIndirectKHR;
    @newer Device, "VK_EXT_depth_clamp_control", vkCmdSetDepthClampRangeEXT, PFN_vkCmdSetDepthClampRangeEXT, cmd::state::vkCmdSetDepthClampRangeEXT;
    @newer Device, "VK_KHR_maintenance10", vkCmdEndRendering2KHR, PFN_vkCmdEndRendering2KHR, cmd::rendering::vkCmdEndRendering2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdBeginConditionalRendering2EXT, PFN_vkCmdBeginConditionalRendering2EXT, cmd::address::vkCmdBeginConditionalRendering2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdBeginTransformFeedback2EXT, PFN_vkCmdBeginTransformFeedback2EXT, cmd::address::vkCmdBeginTransformFeedback2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdBindIndexBuffer3KHR, PFN_vkCmdBindIndexBuffer3KHR, cmd::address::vkCmdBindIndexBuffer3KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdBindTransformFeedbackBuffers2EXT, PFN_vkCmdBindTransformFeedbackBuffers2EXT, cmd::address::vkCmdBindTransformFeedbackBuffers2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdBindVertexBuffers3KHR, PFN_vkCmdBindVertexBuffers3KHR, cmd::address::vkCmdBindVertexBuffers3KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdCopyImageToMemoryKHR, PFN_vkCmdCopyImageToMemoryKHR, cmd::address::vkCmdCopyImageToMemoryKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdCopyMemoryKHR, PFN_vkCmdCopyMemoryKHR, cmd::address::vkCmdCopyMemoryKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdCopyMemoryToImageKHR, PFN_vkCmdCopyMemoryToImageKHR, cmd::address::vkCmdCopyMemoryToImageKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdCopyQueryPoolResultsToMemoryKHR, PFN_vkCmdCopyQueryPoolResultsToMemoryKHR, cmd::address::vkCmdCopyQueryPoolResultsToMemoryKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDispatchIndirect2KHR, PFN_vkCmdDispatchIndirect2KHR, cmd::address::vkCmdDispatchIndirect2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawIndexedIndirect2KHR, PFN_vkCmdDrawIndexedIndirect2KHR, cmd::address::vkCmdDrawIndexedIndirect2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawIndexedIndirectCount2KHR, PFN_vkCmdDrawIndexedIndirectCount2KHR, cmd::address::vkCmdDrawIndexedIndirectCount2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawIndirect2KHR, PFN_vkCmdDrawIndirect2KHR, cmd::address::vkCmdDrawIndirect2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawIndirectByteCount2EXT, PFN_vkCmdDrawIndirectByteCount2EXT, cmd::address::vkCmdDrawIndirectByteCount2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawIndirectCount2KHR, PFN_vkCmdDrawIndirectCount2KHR, cmd::address::vkCmdDrawIndirectCount2KHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawMeshTasksIndirect2EXT, PFN_vkCmdDrawMeshTasksIndirect2EXT, cmd::address::vkCmdDrawMeshTasksIndirect2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdDrawMeshTasksIndirectCount2EXT, PFN_vkCmdDrawMeshTasksIndirectCount2EXT, cmd::address::vkCmdDrawMeshTasksIndirectCount2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdEndTransformFeedback2EXT, PFN_vkCmdEndTransformFeedback2EXT, cmd::address::vkCmdEndTransformFeedback2EXT;
    @newer Device, "VK_KHR_device_address_commands", vkCmdFillMemoryKHR, PFN_vkCmdFillMemoryKHR, cmd::address::vkCmdFillMemoryKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdUpdateMemoryKHR, PFN_vkCmdUpdateMemoryKHR, cmd::address::vkCmdUpdateMemoryKHR;
    @newer Device, "VK_KHR_device_address_commands", vkCmdWriteMarkerToMemoryAMD, PFN_vkCmdWriteMarkerToMemoryAMD, cmd::address::vkCmdWriteMarkerToMemoryAMD;
    @newer Device, "VK_KHR_device_fault", vkGetDeviceFaultDebugInfoKHR, PFN_vkGetDeviceFaultDebugInfoKHR, device::vkGetDeviceFaultDebugInfoKHR;
    @newer Device, "VK_KHR_device_fault", vkGetDeviceFaultReportsKHR, PFN_vkGetDeviceFaultReportsKHR, device::vkGetDeviceFaultReportsKHR;
    @newer Device, "VK_KHR_pipeline_binary", vkCreatePipelineBinariesKHR, PFN_vkCreatePipelineBinariesKHR, object::pipeline::binary::vkCreatePipelineBinariesKHR;
    @newer Device, "VK_KHR_pipeline_binary", vkDestroyPipelineBinaryKHR, PFN_vkDestroyPipelineBinaryKHR, object::pipeline::binary::vkDestroyPipelineBinaryKHR;
    @newer Device, "VK_KHR_pipeline_binary", vkGetPipelineBinaryDataKHR, PFN_vkGetPipelineBinaryDataKHR, object::pipeline::binary::vkGetPipelineBinaryDataKHR;
    @newer Device, "VK_KHR_pipeline_binary", vkGetPipelineKeyKHR, PFN_vkGetPipelineKeyKHR, object::pipeline::binary::vkGetPipelineKeyKHR;
    @newer Device, "VK_KHR_pipeline_binary", vkReleaseCapturedPipelineDataKHR, PFN_vkReleaseCapturedPipelineDataKHR, object::pipeline::binary::vkReleaseCapturedPipelineDataKHR;
    @newer Device, "VK_EXT_present_timing", vkGetPastPresentationTimingEXT, PFN_vkGetPastPresentationTimingEXT, wsi::timing::vkGetPastPresentationTimingEXT;
    @newer Device, "VK_EXT_present_timing", vkGetSwapchainTimeDomainPropertiesEXT, PFN_vkGetSwapchainTimeDomainPropertiesEXT, wsi::timing::vkGetSwapchainTimeDomainPropertiesEXT;
    @newer Device, "VK_EXT_present_timing", vkGetSwapchainTimingPropertiesEXT, PFN_vkGetSwapchainTimingPropertiesEXT, wsi::timing::vkGetSwapchainTimingPropertiesEXT;
    @newer Device, "VK_EXT_present_timing", vkSetSwapchainPresentTimingQueueSizeEXT, PFN_vkSetSwapchainPresentTimingQueueSizeEXT, wsi::timing::vkSetSwapchainPresentTimingQueueSizeEXT;
    @newer Device, "VK_KHR_present_wait2", vkWaitForPresent2KHR, PFN_vkWaitForPresent2KHR, wsi::vkWaitForPresent2KHR;
}

/// A command with one of its names.
#[derive(Clone, Copy)]
struct Named {
    entry: &'static Entry,
    /// True for a core name without an extension's suffix.
    is_core: bool,
}

impl Entry {
    fn core_name(&self) -> Option<&'static str> {
        let suffix = self.extension.split('_').nth(1).unwrap_or_default();
        self.core.map(|_| self.name.strip_suffix(suffix).unwrap_or(self.name))
    }
}

impl Named {
    fn find(name: Option<&CStr>) -> Option<Self> {
        let name = name?.to_str().ok()?;
        // Loaders query every name, so a map is used.
        static NAMES: LazyLock<HashMap<&str, Named>> = LazyLock::new(|| {
            let mut names = HashMap::with_capacity(2 * ENTRIES.len());
            for entry in ENTRIES {
                if let Some(name) = entry.core_name() {
                    names.entry(name).or_insert(Named { entry, is_core: true });
                }
                names.entry(entry.name).or_insert(Named { entry, is_core: false });
            }
            names
        });
        NAMES.get(name).copied()
    }

    /// Returns true if the name is available in `version` of Vulkan with some extensions.
    fn is_known(&self, version: u32, extensions: &[String]) -> bool {
        match self.entry.core {
            Some(core) if self.is_core => core <= version.min(API_VERSION),
            _ => {
                let defines = |name: &str| name == self.entry.extension || SHARED.contains(&(self.entry.name, name));
                extensions.iter().any(|name| defines(name))
            }
        }
    }

    /// Returns true if a device extension defines the name. Instances return functions of all
    /// supported device extensions.
    fn is_of_device(&self) -> bool {
        let found = extensions::find(self.entry.extension);
        !self.is_core && found.is_some_and(|extension| extension.level == extensions::Level::Device)
    }
}

/// Returns a command by name for an instance, including commands of devices.
pub fn instance_proc(call: Call<'_>, handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let named = Named::find(call.c_str(name))?;
    let visible = match InstanceObject::from_handle(call, handle) {
        None => is_global(named.entry),
        Some(_) if named.entry.level == Level::Global => false,
        Some(instance) => named.is_of_device() || named.is_known(instance.version, &instance.extensions),
    };
    visible.then_some(named.entry.function)
}

/// Returns a function of the interface between loader and driver by name, for loaders that do not
/// read a library's symbols. Source: the loader's documentation, "Loader and Driver Interface",
/// version 7.
pub fn loader_proc(name: &CStr) -> vk::PFN_vkVoidFunction {
    type GetProc = unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;
    type Negotiate = unsafe extern "system" fn(*mut u32) -> vk::Result;
    let negotiate: Negotiate = super::vk_icdNegotiateLoaderICDInterfaceVersion;
    let physical: GetProc = super::vk_icdGetPhysicalDeviceProcAddr;
    // SAFETY: function pointers have one size. Callers cast back to the type that belongs to the
    // name.
    unsafe {
        match name.to_bytes() {
            b"vk_icdNegotiateLoaderICDInterfaceVersion" => {
                std::mem::transmute::<Negotiate, vk::PFN_vkVoidFunction>(negotiate)
            }
            b"vk_icdGetPhysicalDeviceProcAddr" => std::mem::transmute::<GetProc, vk::PFN_vkVoidFunction>(physical),
            _ => None,
        }
    }
}

/// Returns true if a command is available without an instance.
fn is_global(entry: &Entry) -> bool {
    let finds_itself = API_VERSION >= vk::API_VERSION_1_2 && entry.name == "vkGetInstanceProcAddr";
    finds_itself || (entry.level == Level::Global && entry.core.is_some_and(|version| version <= API_VERSION))
}

/// Returns a physical device's command by name.
pub fn physical_device_proc(call: Call<'_>, handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    Named::find(call.c_str(name)).filter(|named| named.entry.level == Level::Physical)?;
    instance_proc(call, handle, name)
}

#[entry(vkGetInstanceProcAddr)]
fn get_instance_proc_addr(call: Call<'_>, instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    instance_proc(call, instance, name)
}

#[entry(vkGetDeviceProcAddr)]
fn get_device_proc_addr(call: Call<'_>, device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let named = Named::find(call.c_str(name)).filter(|named| named.entry.level == Level::Device)?;
    let device = DeviceObject::from_handle(call, device)?;
    named.is_known(device.version, &device.extensions).then_some(named.entry.function)
}

#[cfg(test)]
mod tests;
