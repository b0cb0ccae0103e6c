//! The one table of entry points: level, extension, the version of Vulkan that took the command over, name, type, function. Each
//! function is checked against ash's type for its name when this file is compiled.
//!
//! A name with an extension's suffix is found where the extension is enabled, one without where the application's version of
//! Vulkan (`VkApplicationInfo::apiVersion`) has it. Source: Vulkan specification, "Command Function Pointers".

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::LazyLock;

use ash::vk;
use vitric_api::extensions;
use vitric_api::physical::API_VERSION;

use crate::objects::{DeviceObject, InstanceObject, Marked};
use crate::{
    address, command, command2, debug, descriptor, device, draws, dynamic, external, feedback, host, instance, memory,
    pass, physical, pipeline, private, push, query, rendering, sampler, sync, transfer, wsi,
};

/// What a command's first parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// None: works without an instance.
    Global,
    /// An instance.
    Instance,
    /// A physical device.
    Physical,
    /// A device or a child of one.
    Device,
}

/// One row.
struct Entry {
    name: &'static str,
    level: Level,
    /// Extension that brings the command; empty for those that Vulkan has of its own.
    extension: &'static str,
    /// The version of Vulkan that has the command, or took it over: there its name has no suffix.
    core: Option<u32>,
    function: unsafe extern "system" fn(),
}

const V1_1: u32 = vk::API_VERSION_1_1;
const V1_2: u32 = vk::API_VERSION_1_2;
const V1_3: u32 = vk::API_VERSION_1_3;

/// Erases a function's type.
macro_rules! erase {
    ($pfn:ident, $function:path) => {{
        let typed: vk::$pfn = $function;
        // SAFETY: function pointers have one size; callers cast back to the type that the name stands for.
        unsafe { std::mem::transmute::<vk::$pfn, unsafe extern "system" fn()>(typed) }
    }};
}

/// A row is a level, an extension (with `=>` the version that took the command over), a name, its type and the function.
macro_rules! entries {
    ($($level:ident, $extension:literal $(=> $core:ident)?, $name:ident, $pfn:ident, $function:path;)*) => {
        const ENTRIES: &[Entry] = &[$(Entry {
            name: stringify!($name),
            level: Level::$level,
            extension: $extension,
            core: core_version($extension, &[$($core)?]),
            function: erase!($pfn, $function),
        }),*];
    };
}

/// Commands without extension are of Vulkan 1.0, unless their row says otherwise.
const fn core_version(extension: &str, named: &[u32]) -> Option<u32> {
    match named {
        [version, ..] => Some(*version),
        [] if extension.is_empty() => Some(vk::API_VERSION_1_0),
        [] => None,
    }
}

entries! {
    Global, "", vkEnumerateInstanceExtensionProperties, PFN_vkEnumerateInstanceExtensionProperties, instance::enumerate_extensions;
    Global, "", vkEnumerateInstanceLayerProperties, PFN_vkEnumerateInstanceLayerProperties, instance::enumerate_layers;
    Global, "", vkCreateInstance, PFN_vkCreateInstance, instance::create;
    Instance, "", vkDestroyInstance, PFN_vkDestroyInstance, instance::destroy;
    Instance, "", vkEnumeratePhysicalDevices, PFN_vkEnumeratePhysicalDevices, instance::enumerate_physical_devices;
    Physical, "", vkGetPhysicalDeviceFeatures, PFN_vkGetPhysicalDeviceFeatures, physical::features;
    Physical, "", vkGetPhysicalDeviceFormatProperties, PFN_vkGetPhysicalDeviceFormatProperties, physical::format_properties;
    Physical, "", vkGetPhysicalDeviceImageFormatProperties, PFN_vkGetPhysicalDeviceImageFormatProperties, physical::image_format_properties;
    Physical, "", vkGetPhysicalDeviceProperties, PFN_vkGetPhysicalDeviceProperties, physical::properties;
    Physical, "", vkGetPhysicalDeviceQueueFamilyProperties, PFN_vkGetPhysicalDeviceQueueFamilyProperties, physical::queue_families;
    Physical, "", vkGetPhysicalDeviceMemoryProperties, PFN_vkGetPhysicalDeviceMemoryProperties, physical::memory;
    Physical, "", vkGetPhysicalDeviceSparseImageFormatProperties, PFN_vkGetPhysicalDeviceSparseImageFormatProperties, physical::sparse_formats;
    Physical, "", vkEnumerateDeviceExtensionProperties, PFN_vkEnumerateDeviceExtensionProperties, physical::extensions;
    Physical, "", vkEnumerateDeviceLayerProperties, PFN_vkEnumerateDeviceLayerProperties, physical::layers;
    Physical, "", vkCreateDevice, PFN_vkCreateDevice, device::create;
    Instance, "", vkGetInstanceProcAddr, PFN_vkGetInstanceProcAddr, get_instance_proc;
    Device, "", vkGetDeviceProcAddr, PFN_vkGetDeviceProcAddr, device_proc;
    Device, "", vkDestroyDevice, PFN_vkDestroyDevice, device::destroy;
    Device, "", vkGetDeviceQueue, PFN_vkGetDeviceQueue, device::queue;
    Device, "", vkQueueSubmit, PFN_vkQueueSubmit, device::queue_submit;
    Device, "", vkQueueWaitIdle, PFN_vkQueueWaitIdle, device::queue_wait_idle;
    Device, "", vkDeviceWaitIdle, PFN_vkDeviceWaitIdle, device::wait_idle;
    Device, "", vkQueueBindSparse, PFN_vkQueueBindSparse, device::queue_bind_sparse;
    Device, "", vkAllocateMemory, PFN_vkAllocateMemory, memory::allocate;
    Device, "", vkFreeMemory, PFN_vkFreeMemory, memory::free;
    Device, "", vkMapMemory, PFN_vkMapMemory, memory::map;
    Device, "", vkUnmapMemory, PFN_vkUnmapMemory, memory::unmap;
    Device, "", vkFlushMappedMemoryRanges, PFN_vkFlushMappedMemoryRanges, memory::flush;
    Device, "", vkInvalidateMappedMemoryRanges, PFN_vkInvalidateMappedMemoryRanges, memory::flush;
    Device, "", vkGetDeviceMemoryCommitment, PFN_vkGetDeviceMemoryCommitment, memory::commitment;
    Device, "", vkBindBufferMemory, PFN_vkBindBufferMemory, memory::bind_buffer;
    Device, "", vkBindImageMemory, PFN_vkBindImageMemory, memory::bind_image;
    Device, "", vkGetBufferMemoryRequirements, PFN_vkGetBufferMemoryRequirements, memory::buffer_requirements;
    Device, "", vkGetImageMemoryRequirements, PFN_vkGetImageMemoryRequirements, memory::image_requirements;
    Device, "", vkGetImageSparseMemoryRequirements, PFN_vkGetImageSparseMemoryRequirements, memory::sparse_requirements;
    Device, "", vkCreateFence, PFN_vkCreateFence, sync::create_fence;
    Device, "", vkDestroyFence, PFN_vkDestroyFence, sync::destroy_fence;
    Device, "", vkResetFences, PFN_vkResetFences, sync::reset_fences;
    Device, "", vkGetFenceStatus, PFN_vkGetFenceStatus, sync::fence_status;
    Device, "", vkWaitForFences, PFN_vkWaitForFences, sync::wait;
    Device, "", vkCreateSemaphore, PFN_vkCreateSemaphore, sync::create_semaphore;
    Device, "", vkDestroySemaphore, PFN_vkDestroySemaphore, sync::destroy_semaphore;
    Device, "", vkCreateEvent, PFN_vkCreateEvent, sync::create_event;
    Device, "", vkDestroyEvent, PFN_vkDestroyEvent, sync::destroy_event;
    Device, "", vkGetEventStatus, PFN_vkGetEventStatus, sync::event_status;
    Device, "", vkSetEvent, PFN_vkSetEvent, sync::set_event;
    Device, "", vkResetEvent, PFN_vkResetEvent, sync::reset_event;
    Device, "", vkCreateQueryPool, PFN_vkCreateQueryPool, query::create;
    Device, "", vkDestroyQueryPool, PFN_vkDestroyQueryPool, query::destroy;
    Device, "", vkGetQueryPoolResults, PFN_vkGetQueryPoolResults, query::results;
    Device, "", vkCreateBuffer, PFN_vkCreateBuffer, memory::create_buffer;
    Device, "", vkDestroyBuffer, PFN_vkDestroyBuffer, memory::destroy_buffer;
    Device, "", vkCreateBufferView, PFN_vkCreateBufferView, memory::create_buffer_view;
    Device, "", vkDestroyBufferView, PFN_vkDestroyBufferView, memory::destroy_buffer_view;
    Device, "", vkCreateImage, PFN_vkCreateImage, memory::create_image;
    Device, "", vkDestroyImage, PFN_vkDestroyImage, memory::destroy_image;
    Device, "", vkGetImageSubresourceLayout, PFN_vkGetImageSubresourceLayout, memory::subresource_layout;
    Device, "", vkCreateImageView, PFN_vkCreateImageView, memory::create_image_view;
    Device, "", vkDestroyImageView, PFN_vkDestroyImageView, memory::destroy_image_view;
    Device, "", vkCreateShaderModule, PFN_vkCreateShaderModule, pipeline::create_module;
    Device, "", vkDestroyShaderModule, PFN_vkDestroyShaderModule, pipeline::destroy_module;
    Device, "", vkCreatePipelineCache, PFN_vkCreatePipelineCache, pipeline::create_cache;
    Device, "", vkDestroyPipelineCache, PFN_vkDestroyPipelineCache, pipeline::destroy_cache;
    Device, "", vkGetPipelineCacheData, PFN_vkGetPipelineCacheData, pipeline::get_cache_data;
    Device, "", vkMergePipelineCaches, PFN_vkMergePipelineCaches, pipeline::merge_caches;
    Device, "", vkCreateGraphicsPipelines, PFN_vkCreateGraphicsPipelines, pipeline::create_graphics;
    Device, "", vkCreateComputePipelines, PFN_vkCreateComputePipelines, pipeline::create_compute;
    Device, "", vkDestroyPipeline, PFN_vkDestroyPipeline, pipeline::destroy;
    Device, "", vkCreatePipelineLayout, PFN_vkCreatePipelineLayout, descriptor::create_pipeline_layout;
    Device, "", vkDestroyPipelineLayout, PFN_vkDestroyPipelineLayout, descriptor::destroy_pipeline_layout;
    Device, "", vkCreateSampler, PFN_vkCreateSampler, sampler::create;
    Device, "", vkDestroySampler, PFN_vkDestroySampler, sampler::destroy;
    Device, "", vkCreateDescriptorSetLayout, PFN_vkCreateDescriptorSetLayout, descriptor::create_layout;
    Device, "", vkDestroyDescriptorSetLayout, PFN_vkDestroyDescriptorSetLayout, descriptor::destroy_layout;
    Device, "", vkCreateDescriptorPool, PFN_vkCreateDescriptorPool, descriptor::create_pool;
    Device, "", vkDestroyDescriptorPool, PFN_vkDestroyDescriptorPool, descriptor::destroy_pool;
    Device, "", vkResetDescriptorPool, PFN_vkResetDescriptorPool, descriptor::reset_pool;
    Device, "", vkAllocateDescriptorSets, PFN_vkAllocateDescriptorSets, descriptor::allocate;
    Device, "", vkFreeDescriptorSets, PFN_vkFreeDescriptorSets, descriptor::free;
    Device, "", vkUpdateDescriptorSets, PFN_vkUpdateDescriptorSets, descriptor::update;
    Device, "", vkCreateFramebuffer, PFN_vkCreateFramebuffer, pass::create_framebuffer;
    Device, "", vkDestroyFramebuffer, PFN_vkDestroyFramebuffer, pass::destroy_framebuffer;
    Device, "", vkCreateRenderPass, PFN_vkCreateRenderPass, pass::create;
    Device, "", vkDestroyRenderPass, PFN_vkDestroyRenderPass, pass::destroy_pass;
    Device, "", vkGetRenderAreaGranularity, PFN_vkGetRenderAreaGranularity, pass::granularity;
    Device, "", vkCreateCommandPool, PFN_vkCreateCommandPool, command::create_pool;
    Device, "", vkDestroyCommandPool, PFN_vkDestroyCommandPool, command::destroy_pool;
    Device, "", vkResetCommandPool, PFN_vkResetCommandPool, command::reset_pool;
    Device, "", vkAllocateCommandBuffers, PFN_vkAllocateCommandBuffers, command::allocate;
    Device, "", vkFreeCommandBuffers, PFN_vkFreeCommandBuffers, command::free;
    Device, "", vkBeginCommandBuffer, PFN_vkBeginCommandBuffer, command::begin;
    Device, "", vkEndCommandBuffer, PFN_vkEndCommandBuffer, command::end;
    Device, "", vkResetCommandBuffer, PFN_vkResetCommandBuffer, command::reset;
    Device, "", vkCmdBindPipeline, PFN_vkCmdBindPipeline, command::bind_pipeline;
    Device, "", vkCmdSetViewport, PFN_vkCmdSetViewport, command::set_viewport;
    Device, "", vkCmdSetScissor, PFN_vkCmdSetScissor, command::set_scissor;
    Device, "", vkCmdSetLineWidth, PFN_vkCmdSetLineWidth, command::set_line_width;
    Device, "", vkCmdSetDepthBias, PFN_vkCmdSetDepthBias, command::set_depth_bias;
    Device, "", vkCmdSetBlendConstants, PFN_vkCmdSetBlendConstants, command::set_blend_constants;
    Device, "", vkCmdSetDepthBounds, PFN_vkCmdSetDepthBounds, command::set_depth_bounds;
    Device, "", vkCmdSetStencilCompareMask, PFN_vkCmdSetStencilCompareMask, command::set_stencil_compare_mask;
    Device, "", vkCmdSetStencilWriteMask, PFN_vkCmdSetStencilWriteMask, command::set_stencil_write_mask;
    Device, "", vkCmdSetStencilReference, PFN_vkCmdSetStencilReference, command::set_stencil_reference;
    Device, "", vkCmdBindDescriptorSets, PFN_vkCmdBindDescriptorSets, command::bind_sets;
    Device, "", vkCmdBindIndexBuffer, PFN_vkCmdBindIndexBuffer, command::bind_index_buffer;
    Device, "", vkCmdBindVertexBuffers, PFN_vkCmdBindVertexBuffers, command::bind_vertex_buffers;
    Device, "", vkCmdDraw, PFN_vkCmdDraw, command::draw;
    Device, "", vkCmdDrawIndexed, PFN_vkCmdDrawIndexed, command::draw_indexed;
    Device, "", vkCmdDrawIndirect, PFN_vkCmdDrawIndirect, command::draw_indirect;
    Device, "", vkCmdDrawIndexedIndirect, PFN_vkCmdDrawIndexedIndirect, command::draw_indexed_indirect;
    Device, "", vkCmdDispatch, PFN_vkCmdDispatch, command::dispatch;
    Device, "", vkCmdDispatchIndirect, PFN_vkCmdDispatchIndirect, command::dispatch_indirect;
    Device, "", vkCmdCopyBuffer, PFN_vkCmdCopyBuffer, transfer::copy_buffer;
    Device, "", vkCmdCopyImage, PFN_vkCmdCopyImage, transfer::copy_image;
    Device, "", vkCmdBlitImage, PFN_vkCmdBlitImage, transfer::blit_image;
    Device, "", vkCmdCopyBufferToImage, PFN_vkCmdCopyBufferToImage, transfer::copy_buffer_to_image;
    Device, "", vkCmdCopyImageToBuffer, PFN_vkCmdCopyImageToBuffer, transfer::copy_image_to_buffer;
    Device, "", vkCmdUpdateBuffer, PFN_vkCmdUpdateBuffer, transfer::update_buffer;
    Device, "", vkCmdFillBuffer, PFN_vkCmdFillBuffer, transfer::fill_buffer;
    Device, "", vkCmdClearColorImage, PFN_vkCmdClearColorImage, transfer::clear_color_image;
    Device, "", vkCmdClearDepthStencilImage, PFN_vkCmdClearDepthStencilImage, transfer::clear_depth_stencil_image;
    Device, "", vkCmdClearAttachments, PFN_vkCmdClearAttachments, transfer::clear_attachments;
    Device, "", vkCmdResolveImage, PFN_vkCmdResolveImage, transfer::resolve_image;
    Device, "", vkCmdSetEvent, PFN_vkCmdSetEvent, command::set_event;
    Device, "", vkCmdResetEvent, PFN_vkCmdResetEvent, command::reset_event;
    Device, "", vkCmdWaitEvents, PFN_vkCmdWaitEvents, command::wait_events;
    Device, "", vkCmdPipelineBarrier, PFN_vkCmdPipelineBarrier, command::pipeline_barrier;
    Device, "", vkCmdBeginQuery, PFN_vkCmdBeginQuery, command::begin_query;
    Device, "", vkCmdEndQuery, PFN_vkCmdEndQuery, command::end_query;
    Device, "", vkCmdResetQueryPool, PFN_vkCmdResetQueryPool, command::reset_query_pool;
    Device, "", vkCmdWriteTimestamp, PFN_vkCmdWriteTimestamp, command::write_timestamp;
    Device, "", vkCmdCopyQueryPoolResults, PFN_vkCmdCopyQueryPoolResults, command::copy_query_results;
    Device, "", vkCmdPushConstants, PFN_vkCmdPushConstants, command::push_constants;
    Device, "", vkCmdBeginRenderPass, PFN_vkCmdBeginRenderPass, command::begin_pass;
    Device, "", vkCmdNextSubpass, PFN_vkCmdNextSubpass, command::next_subpass;
    Device, "", vkCmdEndRenderPass, PFN_vkCmdEndRenderPass, command::end_pass;
    Device, "", vkCmdExecuteCommands, PFN_vkCmdExecuteCommands, command::execute;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceFeatures2KHR, PFN_vkGetPhysicalDeviceFeatures2, physical::features2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceProperties2KHR, PFN_vkGetPhysicalDeviceProperties2, physical::properties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceFormatProperties2KHR, PFN_vkGetPhysicalDeviceFormatProperties2, physical::format_properties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceImageFormatProperties2KHR, PFN_vkGetPhysicalDeviceImageFormatProperties2, physical::image_format_properties2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceQueueFamilyProperties2KHR, PFN_vkGetPhysicalDeviceQueueFamilyProperties2, physical::queue_families2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceMemoryProperties2KHR, PFN_vkGetPhysicalDeviceMemoryProperties2, physical::memory2;
    Physical, "VK_KHR_get_physical_device_properties2" => V1_1, vkGetPhysicalDeviceSparseImageFormatProperties2KHR, PFN_vkGetPhysicalDeviceSparseImageFormatProperties2, physical::sparse_formats2;
    Instance, "VK_KHR_surface", vkDestroySurfaceKHR, PFN_vkDestroySurfaceKHR, wsi::destroy_surface;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceSupportKHR, PFN_vkGetPhysicalDeviceSurfaceSupportKHR, wsi::surface_support;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceCapabilitiesKHR, PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR, wsi::surface_capabilities;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfaceFormatsKHR, PFN_vkGetPhysicalDeviceSurfaceFormatsKHR, wsi::surface_formats;
    Physical, "VK_KHR_surface", vkGetPhysicalDeviceSurfacePresentModesKHR, PFN_vkGetPhysicalDeviceSurfacePresentModesKHR, wsi::surface_modes;
    Instance, "VK_KHR_xcb_surface", vkCreateXcbSurfaceKHR, PFN_vkCreateXcbSurfaceKHR, wsi::create_xcb;
    Physical, "VK_KHR_xcb_surface", vkGetPhysicalDeviceXcbPresentationSupportKHR, PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR, wsi::xcb_support;
    Instance, "VK_KHR_xlib_surface", vkCreateXlibSurfaceKHR, PFN_vkCreateXlibSurfaceKHR, wsi::create_xlib;
    Physical, "VK_KHR_xlib_surface", vkGetPhysicalDeviceXlibPresentationSupportKHR, PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR, wsi::xlib_support;
    Instance, "VK_KHR_wayland_surface", vkCreateWaylandSurfaceKHR, PFN_vkCreateWaylandSurfaceKHR, wsi::create_wayland;
    Physical, "VK_KHR_wayland_surface", vkGetPhysicalDeviceWaylandPresentationSupportKHR, PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR, wsi::wayland_support;
    Instance, "VK_EXT_headless_surface", vkCreateHeadlessSurfaceEXT, PFN_vkCreateHeadlessSurfaceEXT, wsi::create_headless;
    Instance, "VK_EXT_debug_utils", vkCreateDebugUtilsMessengerEXT, PFN_vkCreateDebugUtilsMessengerEXT, debug::create;
    Instance, "VK_EXT_debug_utils", vkDestroyDebugUtilsMessengerEXT, PFN_vkDestroyDebugUtilsMessengerEXT, debug::destroy;
    Instance, "VK_EXT_debug_utils", vkSubmitDebugUtilsMessageEXT, PFN_vkSubmitDebugUtilsMessageEXT, debug::submit;
    Device, "VK_EXT_debug_utils", vkSetDebugUtilsObjectNameEXT, PFN_vkSetDebugUtilsObjectNameEXT, debug::set_name;
    Device, "VK_EXT_debug_utils", vkSetDebugUtilsObjectTagEXT, PFN_vkSetDebugUtilsObjectTagEXT, debug::set_tag;
    Device, "VK_EXT_debug_utils", vkQueueBeginDebugUtilsLabelEXT, PFN_vkQueueBeginDebugUtilsLabelEXT, debug::queue_label;
    Device, "VK_EXT_debug_utils", vkQueueEndDebugUtilsLabelEXT, PFN_vkQueueEndDebugUtilsLabelEXT, debug::queue_end_label;
    Device, "VK_EXT_debug_utils", vkQueueInsertDebugUtilsLabelEXT, PFN_vkQueueInsertDebugUtilsLabelEXT, debug::queue_label;
    Device, "VK_EXT_debug_utils", vkCmdBeginDebugUtilsLabelEXT, PFN_vkCmdBeginDebugUtilsLabelEXT, debug::command_label;
    Device, "VK_EXT_debug_utils", vkCmdEndDebugUtilsLabelEXT, PFN_vkCmdEndDebugUtilsLabelEXT, debug::command_end_label;
    Device, "VK_EXT_debug_utils", vkCmdInsertDebugUtilsLabelEXT, PFN_vkCmdInsertDebugUtilsLabelEXT, debug::command_label;
    Global, "" => V1_1, vkEnumerateInstanceVersion, PFN_vkEnumerateInstanceVersion, instance::version;
    Device, "" => V1_1, vkGetDeviceQueue2, PFN_vkGetDeviceQueue2, device::queue2;
    Instance, "VK_KHR_device_group_creation" => V1_1, vkEnumeratePhysicalDeviceGroupsKHR, PFN_vkEnumeratePhysicalDeviceGroups, instance::enumerate_groups;
    Physical, "VK_KHR_external_memory_capabilities" => V1_1, vkGetPhysicalDeviceExternalBufferPropertiesKHR, PFN_vkGetPhysicalDeviceExternalBufferProperties, external::buffer_properties;
    Physical, "VK_KHR_external_fence_capabilities" => V1_1, vkGetPhysicalDeviceExternalFencePropertiesKHR, PFN_vkGetPhysicalDeviceExternalFenceProperties, external::fence_properties;
    Physical, "VK_KHR_external_semaphore_capabilities" => V1_1, vkGetPhysicalDeviceExternalSemaphorePropertiesKHR, PFN_vkGetPhysicalDeviceExternalSemaphoreProperties, external::semaphore_properties;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetBufferMemoryRequirements2KHR, PFN_vkGetBufferMemoryRequirements2, memory::buffer_requirements2;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetImageMemoryRequirements2KHR, PFN_vkGetImageMemoryRequirements2, memory::image_requirements2;
    Device, "VK_KHR_get_memory_requirements2" => V1_1, vkGetImageSparseMemoryRequirements2KHR, PFN_vkGetImageSparseMemoryRequirements2, memory::sparse_requirements2;
    Device, "VK_KHR_bind_memory2" => V1_1, vkBindBufferMemory2KHR, PFN_vkBindBufferMemory2, memory::bind_buffers;
    Device, "VK_KHR_bind_memory2" => V1_1, vkBindImageMemory2KHR, PFN_vkBindImageMemory2, memory::bind_images;
    Device, "VK_KHR_maintenance1" => V1_1, vkTrimCommandPoolKHR, PFN_vkTrimCommandPool, command::trim_pool;
    Device, "VK_KHR_maintenance3" => V1_1, vkGetDescriptorSetLayoutSupportKHR, PFN_vkGetDescriptorSetLayoutSupport, descriptor::layout_support;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkCreateDescriptorUpdateTemplateKHR, PFN_vkCreateDescriptorUpdateTemplate, descriptor::create_template;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkDestroyDescriptorUpdateTemplateKHR, PFN_vkDestroyDescriptorUpdateTemplate, descriptor::destroy_template;
    Device, "VK_KHR_descriptor_update_template" => V1_1, vkUpdateDescriptorSetWithTemplateKHR, PFN_vkUpdateDescriptorSetWithTemplate, descriptor::update_with_template;
    Device, "VK_KHR_device_group" => V1_1, vkGetDeviceGroupPeerMemoryFeaturesKHR, PFN_vkGetDeviceGroupPeerMemoryFeatures, device::peer_memory;
    Device, "VK_KHR_device_group" => V1_1, vkCmdSetDeviceMaskKHR, PFN_vkCmdSetDeviceMask, command::set_device_mask;
    Device, "VK_KHR_device_group" => V1_1, vkCmdDispatchBaseKHR, PFN_vkCmdDispatchBase, command::dispatch_base;
    Device, "VK_KHR_draw_indirect_count" => V1_2, vkCmdDrawIndirectCountKHR, PFN_vkCmdDrawIndirectCount, command::draw_indirect_count;
    Device, "VK_KHR_draw_indirect_count" => V1_2, vkCmdDrawIndexedIndirectCountKHR, PFN_vkCmdDrawIndexedIndirectCount, command::draw_indexed_indirect_count;
    Device, "VK_EXT_host_query_reset" => V1_2, vkResetQueryPoolEXT, PFN_vkResetQueryPool, query::reset;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetBufferDeviceAddressKHR, PFN_vkGetBufferDeviceAddress, address::buffer_address;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetBufferOpaqueCaptureAddressKHR, PFN_vkGetBufferOpaqueCaptureAddress, address::captured_buffer;
    Device, "VK_KHR_buffer_device_address" => V1_2, vkGetDeviceMemoryOpaqueCaptureAddressKHR, PFN_vkGetDeviceMemoryOpaqueCaptureAddress, address::captured_memory;
    Device, "VK_EXT_buffer_device_address", vkGetBufferDeviceAddressEXT, PFN_vkGetBufferDeviceAddress, address::buffer_address;
    Device, "VK_KHR_external_memory_fd", vkGetMemoryFdKHR, PFN_vkGetMemoryFdKHR, external::memory_descriptor;
    Device, "VK_KHR_external_memory_fd", vkGetMemoryFdPropertiesKHR, PFN_vkGetMemoryFdPropertiesKHR, external::memory_descriptor_properties;
    Device, "VK_KHR_external_fence_fd", vkGetFenceFdKHR, PFN_vkGetFenceFdKHR, external::fence_descriptor;
    Device, "VK_KHR_external_fence_fd", vkImportFenceFdKHR, PFN_vkImportFenceFdKHR, external::import_fence;
    Device, "VK_KHR_external_semaphore_fd", vkGetSemaphoreFdKHR, PFN_vkGetSemaphoreFdKHR, external::semaphore_descriptor;
    Device, "VK_KHR_external_semaphore_fd", vkImportSemaphoreFdKHR, PFN_vkImportSemaphoreFdKHR, external::import_semaphore;
    Device, "VK_EXT_external_memory_host", vkGetMemoryHostPointerPropertiesEXT, PFN_vkGetMemoryHostPointerPropertiesEXT, external::host_pointer_properties;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkGetSemaphoreCounterValueKHR, PFN_vkGetSemaphoreCounterValue, sync::semaphore_value;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkWaitSemaphoresKHR, PFN_vkWaitSemaphores, sync::wait_semaphores;
    Device, "VK_KHR_timeline_semaphore" => V1_2, vkSignalSemaphoreKHR, PFN_vkSignalSemaphore, sync::signal_semaphore;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyBuffer2KHR, PFN_vkCmdCopyBuffer2, command2::copy_buffer;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyImage2KHR, PFN_vkCmdCopyImage2, command2::copy_image;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdBlitImage2KHR, PFN_vkCmdBlitImage2, command2::blit_image;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyBufferToImage2KHR, PFN_vkCmdCopyBufferToImage2, command2::copy_buffer_to_image;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdCopyImageToBuffer2KHR, PFN_vkCmdCopyImageToBuffer2, command2::copy_image_to_buffer;
    Device, "VK_KHR_copy_commands2" => V1_3, vkCmdResolveImage2KHR, PFN_vkCmdResolveImage2, command2::resolve_image;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdSetEvent2KHR, PFN_vkCmdSetEvent2, command2::set_event;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdResetEvent2KHR, PFN_vkCmdResetEvent2, command2::reset_event;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdWaitEvents2KHR, PFN_vkCmdWaitEvents2, command2::wait_events;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdPipelineBarrier2KHR, PFN_vkCmdPipelineBarrier2, command2::pipeline_barrier;
    Device, "VK_KHR_synchronization2" => V1_3, vkCmdWriteTimestamp2KHR, PFN_vkCmdWriteTimestamp2, command2::write_timestamp;
    Device, "VK_KHR_synchronization2" => V1_3, vkQueueSubmit2KHR, PFN_vkQueueSubmit2, device::queue_submit2;
    Device, "VK_KHR_dynamic_rendering" => V1_3, vkCmdBeginRenderingKHR, PFN_vkCmdBeginRendering, rendering::begin;
    Device, "VK_KHR_dynamic_rendering" => V1_3, vkCmdEndRenderingKHR, PFN_vkCmdEndRendering, rendering::end;
    Device, "VK_KHR_dynamic_rendering_local_read", vkCmdSetRenderingAttachmentLocationsKHR, PFN_vkCmdSetRenderingAttachmentLocationsKHR, rendering::set_locations;
    Device, "VK_KHR_dynamic_rendering_local_read", vkCmdSetRenderingInputAttachmentIndicesKHR, PFN_vkCmdSetRenderingInputAttachmentIndicesKHR, rendering::set_input_indices;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceBufferMemoryRequirementsKHR, PFN_vkGetDeviceBufferMemoryRequirements, memory::requirements_of_buffer_info;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceImageMemoryRequirementsKHR, PFN_vkGetDeviceImageMemoryRequirements, memory::requirements_of_image_info;
    Device, "VK_KHR_maintenance4" => V1_3, vkGetDeviceImageSparseMemoryRequirementsKHR, PFN_vkGetDeviceImageSparseMemoryRequirements, memory::sparse_requirements_of_image_info;
    Physical, "VK_EXT_tooling_info" => V1_3, vkGetPhysicalDeviceToolPropertiesEXT, PFN_vkGetPhysicalDeviceToolProperties, physical::tools;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetCullModeEXT, PFN_vkCmdSetCullMode, dynamic::cull_mode;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetFrontFaceEXT, PFN_vkCmdSetFrontFace, dynamic::front_face;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetPrimitiveTopologyEXT, PFN_vkCmdSetPrimitiveTopology, dynamic::topology;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetViewportWithCountEXT, PFN_vkCmdSetViewportWithCount, dynamic::viewports;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetScissorWithCountEXT, PFN_vkCmdSetScissorWithCount, dynamic::scissors;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdBindVertexBuffers2EXT, PFN_vkCmdBindVertexBuffers2, dynamic::bind_vertex_buffers;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthTestEnableEXT, PFN_vkCmdSetDepthTestEnable, dynamic::depth_test;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthWriteEnableEXT, PFN_vkCmdSetDepthWriteEnable, dynamic::depth_write;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthCompareOpEXT, PFN_vkCmdSetDepthCompareOp, dynamic::depth_compare;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetDepthBoundsTestEnableEXT, PFN_vkCmdSetDepthBoundsTestEnable, dynamic::depth_bounds_test;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetStencilTestEnableEXT, PFN_vkCmdSetStencilTestEnable, dynamic::stencil_test;
    Device, "VK_EXT_extended_dynamic_state" => V1_3, vkCmdSetStencilOpEXT, PFN_vkCmdSetStencilOp, dynamic::stencil_op;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetRasterizerDiscardEnableEXT, PFN_vkCmdSetRasterizerDiscardEnable, dynamic::discard;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetDepthBiasEnableEXT, PFN_vkCmdSetDepthBiasEnable, dynamic::depth_bias;
    Device, "VK_EXT_extended_dynamic_state2" => V1_3, vkCmdSetPrimitiveRestartEnableEXT, PFN_vkCmdSetPrimitiveRestartEnable, dynamic::restart;
    Device, "VK_EXT_extended_dynamic_state2", vkCmdSetLogicOpEXT, PFN_vkCmdSetLogicOpEXT, dynamic::logic_op;
    Device, "VK_EXT_extended_dynamic_state2", vkCmdSetPatchControlPointsEXT, PFN_vkCmdSetPatchControlPointsEXT, dynamic::patch_control_points;
    Device, "VK_KHR_push_descriptor", vkCmdPushDescriptorSetKHR, PFN_vkCmdPushDescriptorSetKHR, push::push_descriptors;
    Device, "VK_KHR_push_descriptor", vkCmdPushDescriptorSetWithTemplateKHR, PFN_vkCmdPushDescriptorSetWithTemplateKHR, push::push_with_template;
    Device, "VK_EXT_vertex_input_dynamic_state", vkCmdSetVertexInputEXT, PFN_vkCmdSetVertexInputEXT, dynamic::vertex_input;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetPolygonModeEXT, PFN_vkCmdSetPolygonModeEXT, dynamic::polygon_mode;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetRasterizationSamplesEXT, PFN_vkCmdSetRasterizationSamplesEXT, dynamic::samples;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetSampleMaskEXT, PFN_vkCmdSetSampleMaskEXT, dynamic::sample_mask;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetAlphaToCoverageEnableEXT, PFN_vkCmdSetAlphaToCoverageEnableEXT, dynamic::alpha_to_coverage;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetAlphaToOneEnableEXT, PFN_vkCmdSetAlphaToOneEnableEXT, dynamic::alpha_to_one;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLogicOpEnableEXT, PFN_vkCmdSetLogicOpEnableEXT, dynamic::logic_op_enable;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorBlendEnableEXT, PFN_vkCmdSetColorBlendEnableEXT, dynamic::blend_enable;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorBlendEquationEXT, PFN_vkCmdSetColorBlendEquationEXT, dynamic::blend_equation;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetColorWriteMaskEXT, PFN_vkCmdSetColorWriteMaskEXT, dynamic::write_mask;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetTessellationDomainOriginEXT, PFN_vkCmdSetTessellationDomainOriginEXT, dynamic::domain_origin;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClampEnableEXT, PFN_vkCmdSetDepthClampEnableEXT, dynamic::depth_clamp;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClipEnableEXT, PFN_vkCmdSetDepthClipEnableEXT, dynamic::depth_clip;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetDepthClipNegativeOneToOneEXT, PFN_vkCmdSetDepthClipNegativeOneToOneEXT, dynamic::negative_one_to_one;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetProvokingVertexModeEXT, PFN_vkCmdSetProvokingVertexModeEXT, dynamic::provoking;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLineRasterizationModeEXT, PFN_vkCmdSetLineRasterizationModeEXT, dynamic::line_rasterization;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetLineStippleEnableEXT, PFN_vkCmdSetLineStippleEnableEXT, dynamic::line_stipple_enable;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetRasterizationStreamEXT, PFN_vkCmdSetRasterizationStreamEXT, dynamic::rasterization_stream;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetConservativeRasterizationModeEXT, PFN_vkCmdSetConservativeRasterizationModeEXT, dynamic::conservative;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetExtraPrimitiveOverestimationSizeEXT, PFN_vkCmdSetExtraPrimitiveOverestimationSizeEXT, dynamic::extra_overestimation;
    Device, "VK_EXT_extended_dynamic_state3", vkCmdSetSampleLocationsEnableEXT, PFN_vkCmdSetSampleLocationsEnableEXT, dynamic::sample_locations_enable;
    Device, "VK_EXT_sample_locations", vkCmdSetSampleLocationsEXT, PFN_vkCmdSetSampleLocationsEXT, dynamic::sample_locations;
    Physical, "VK_EXT_sample_locations", vkGetPhysicalDeviceMultisamplePropertiesEXT, PFN_vkGetPhysicalDeviceMultisamplePropertiesEXT, physical::multisample_properties;
    Device, "VK_EXT_attachment_feedback_loop_dynamic_state", vkCmdSetAttachmentFeedbackLoopEnableEXT, PFN_vkCmdSetAttachmentFeedbackLoopEnableEXT, dynamic::feedback_loop;
    Physical, "VK_KHR_calibrated_timestamps", vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, query::time_domains;
    Device, "VK_KHR_calibrated_timestamps", vkGetCalibratedTimestampsKHR, PFN_vkGetCalibratedTimestampsKHR, query::calibrated_timestamps;
    Physical, "VK_EXT_calibrated_timestamps", vkGetPhysicalDeviceCalibrateableTimeDomainsEXT, PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsKHR, query::time_domains;
    Device, "VK_EXT_calibrated_timestamps", vkGetCalibratedTimestampsEXT, PFN_vkGetCalibratedTimestampsKHR, query::calibrated_timestamps;
    Physical, "VK_KHR_get_surface_capabilities2", vkGetPhysicalDeviceSurfaceCapabilities2KHR, PFN_vkGetPhysicalDeviceSurfaceCapabilities2KHR, wsi::surface_capabilities2;
    Physical, "VK_KHR_get_surface_capabilities2", vkGetPhysicalDeviceSurfaceFormats2KHR, PFN_vkGetPhysicalDeviceSurfaceFormats2KHR, wsi::surface_formats2;
    Device, "VK_KHR_swapchain_maintenance1", vkReleaseSwapchainImagesKHR, PFN_vkReleaseSwapchainImagesEXT, wsi::release_images;
    Device, "VK_KHR_present_wait", vkWaitForPresentKHR, PFN_vkWaitForPresentKHR, wsi::wait_for_present;
    Device, "VK_EXT_swapchain_maintenance1", vkReleaseSwapchainImagesEXT, PFN_vkReleaseSwapchainImagesEXT, wsi::release_images;
    Device, "VK_EXT_color_write_enable", vkCmdSetColorWriteEnableEXT, PFN_vkCmdSetColorWriteEnableEXT, dynamic::color_write;
    Device, "VK_EXT_conditional_rendering", vkCmdBeginConditionalRenderingEXT, PFN_vkCmdBeginConditionalRenderingEXT, draws::begin_conditional;
    Device, "VK_EXT_conditional_rendering", vkCmdEndConditionalRenderingEXT, PFN_vkCmdEndConditionalRenderingEXT, draws::end_conditional;
    Device, "VK_EXT_transform_feedback", vkCmdBindTransformFeedbackBuffersEXT, PFN_vkCmdBindTransformFeedbackBuffersEXT, feedback::bind_buffers;
    Device, "VK_EXT_transform_feedback", vkCmdBeginTransformFeedbackEXT, PFN_vkCmdBeginTransformFeedbackEXT, feedback::begin;
    Device, "VK_EXT_transform_feedback", vkCmdEndTransformFeedbackEXT, PFN_vkCmdEndTransformFeedbackEXT, feedback::end;
    Device, "VK_EXT_transform_feedback", vkCmdBeginQueryIndexedEXT, PFN_vkCmdBeginQueryIndexedEXT, feedback::begin_query;
    Device, "VK_EXT_transform_feedback", vkCmdEndQueryIndexedEXT, PFN_vkCmdEndQueryIndexedEXT, feedback::end_query;
    Device, "VK_EXT_transform_feedback", vkCmdDrawIndirectByteCountEXT, PFN_vkCmdDrawIndirectByteCountEXT, feedback::draw_byte_count;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksEXT, PFN_vkCmdDrawMeshTasksEXT, draws::draw_mesh;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksIndirectEXT, PFN_vkCmdDrawMeshTasksIndirectEXT, draws::draw_mesh_indirect;
    Device, "VK_EXT_mesh_shader", vkCmdDrawMeshTasksIndirectCountEXT, PFN_vkCmdDrawMeshTasksIndirectCountEXT, draws::draw_mesh_indirect_count;
    Device, "VK_EXT_multi_draw", vkCmdDrawMultiEXT, PFN_vkCmdDrawMultiEXT, draws::draw_multi;
    Device, "VK_EXT_multi_draw", vkCmdDrawMultiIndexedEXT, PFN_vkCmdDrawMultiIndexedEXT, draws::draw_multi_indexed;
    Device, "VK_KHR_map_memory2", vkMapMemory2KHR, PFN_vkMapMemory2KHR, memory::map2;
    Device, "VK_KHR_map_memory2", vkUnmapMemory2KHR, PFN_vkUnmapMemory2KHR, memory::unmap2;
    Device, "VK_KHR_maintenance5", vkCmdBindIndexBuffer2KHR, PFN_vkCmdBindIndexBuffer2KHR, command::bind_index_range;
    Device, "VK_KHR_maintenance5", vkGetRenderingAreaGranularityKHR, PFN_vkGetRenderingAreaGranularityKHR, pass::granularity_of_info;
    Device, "VK_KHR_maintenance5", vkGetDeviceImageSubresourceLayoutKHR, PFN_vkGetDeviceImageSubresourceLayoutKHR, memory::subresource_layout_of_info;
    Device, "VK_KHR_maintenance5", vkGetImageSubresourceLayout2KHR, PFN_vkGetImageSubresourceLayout2KHR, memory::subresource_layout2;
    Device, "VK_KHR_maintenance6", vkCmdBindDescriptorSets2KHR, PFN_vkCmdBindDescriptorSets2KHR, push::bind_sets2;
    Device, "VK_KHR_maintenance6", vkCmdPushConstants2KHR, PFN_vkCmdPushConstants2KHR, push::push_constants2;
    Device, "VK_KHR_maintenance6", vkCmdPushDescriptorSet2KHR, PFN_vkCmdPushDescriptorSet2KHR, push::push_descriptors2;
    Device, "VK_KHR_maintenance6", vkCmdPushDescriptorSetWithTemplate2KHR, PFN_vkCmdPushDescriptorSetWithTemplate2KHR, push::push_with_template2;
    Device, "VK_EXT_shader_module_identifier", vkGetShaderModuleIdentifierEXT, PFN_vkGetShaderModuleIdentifierEXT, pipeline::module_identifier;
    Device, "VK_EXT_shader_module_identifier", vkGetShaderModuleCreateInfoIdentifierEXT, PFN_vkGetShaderModuleCreateInfoIdentifierEXT, pipeline::module_info_identifier;
    Device, "VK_EXT_device_fault", vkGetDeviceFaultInfoEXT, PFN_vkGetDeviceFaultInfoEXT, device::fault_info;
    Device, "VK_EXT_pageable_device_local_memory", vkSetDeviceMemoryPriorityEXT, PFN_vkSetDeviceMemoryPriorityEXT, memory::set_priority;
    Device, "VK_EXT_host_image_copy", vkCopyMemoryToImageEXT, PFN_vkCopyMemoryToImageEXT, host::memory_to_image;
    Device, "VK_EXT_host_image_copy", vkCopyImageToMemoryEXT, PFN_vkCopyImageToMemoryEXT, host::image_to_memory;
    Device, "VK_EXT_host_image_copy", vkCopyImageToImageEXT, PFN_vkCopyImageToImageEXT, host::image_to_image;
    Device, "VK_EXT_host_image_copy", vkTransitionImageLayoutEXT, PFN_vkTransitionImageLayoutEXT, host::transition;
    Device, "VK_EXT_host_image_copy", vkGetImageSubresourceLayout2EXT, PFN_vkGetImageSubresourceLayout2KHR, memory::subresource_layout2;
    Device, "VK_EXT_private_data" => V1_3, vkCreatePrivateDataSlotEXT, PFN_vkCreatePrivateDataSlot, private::create_slot;
    Device, "VK_EXT_private_data" => V1_3, vkDestroyPrivateDataSlotEXT, PFN_vkDestroyPrivateDataSlot, private::destroy_slot;
    Device, "VK_EXT_private_data" => V1_3, vkSetPrivateDataEXT, PFN_vkSetPrivateData, private::set;
    Device, "VK_EXT_private_data" => V1_3, vkGetPrivateDataEXT, PFN_vkGetPrivateData, private::get;
    Physical, "VK_KHR_surface", vkGetPhysicalDevicePresentRectanglesKHR, PFN_vkGetPhysicalDevicePresentRectanglesKHR, wsi::present_rectangles;
    Device, "VK_KHR_swapchain", vkAcquireNextImage2KHR, PFN_vkAcquireNextImage2KHR, wsi::acquire2;
    Device, "VK_KHR_swapchain", vkGetDeviceGroupPresentCapabilitiesKHR, PFN_vkGetDeviceGroupPresentCapabilitiesKHR, wsi::group_capabilities;
    Device, "VK_KHR_swapchain", vkGetDeviceGroupSurfacePresentModesKHR, PFN_vkGetDeviceGroupSurfacePresentModesKHR, wsi::group_modes;
    Device, "VK_KHR_sampler_ycbcr_conversion" => V1_1, vkCreateSamplerYcbcrConversionKHR, PFN_vkCreateSamplerYcbcrConversion, sampler::create_conversion;
    Device, "VK_KHR_sampler_ycbcr_conversion" => V1_1, vkDestroySamplerYcbcrConversionKHR, PFN_vkDestroySamplerYcbcrConversion, sampler::destroy_conversion;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCreateRenderPass2KHR, PFN_vkCreateRenderPass2, pass::create2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdBeginRenderPass2KHR, PFN_vkCmdBeginRenderPass2, command::begin_pass2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdNextSubpass2KHR, PFN_vkCmdNextSubpass2, command::next_subpass2;
    Device, "VK_KHR_create_renderpass2" => V1_2, vkCmdEndRenderPass2KHR, PFN_vkCmdEndRenderPass2, command::end_pass2;
    Device, "VK_KHR_line_rasterization", vkCmdSetLineStippleKHR, PFN_vkCmdSetLineStippleKHR, command::set_line_stipple;
    // Newer than the bindings, which have other commands of the same type.
    Device, "VK_EXT_primitive_restart_index", vkCmdSetPrimitiveRestartIndexEXT, PFN_vkCmdSetPatchControlPointsEXT, dynamic::restart_index;
    Device, "VK_EXT_line_rasterization", vkCmdSetLineStippleEXT, PFN_vkCmdSetLineStippleKHR, command::set_line_stipple;
    Device, "VK_EXT_depth_bias_control", vkCmdSetDepthBias2EXT, PFN_vkCmdSetDepthBias2EXT, command::set_depth_bias2;
    Physical, "VK_KHR_fragment_shading_rate", vkGetPhysicalDeviceFragmentShadingRatesKHR, PFN_vkGetPhysicalDeviceFragmentShadingRatesKHR, physical::fragment_shading_rates;
    Device, "VK_KHR_fragment_shading_rate", vkCmdSetFragmentShadingRateKHR, PFN_vkCmdSetFragmentShadingRateKHR, command::set_fragment_shading_rate;
    Device, "VK_KHR_swapchain", vkCreateSwapchainKHR, PFN_vkCreateSwapchainKHR, wsi::create_swapchain;
    Device, "VK_KHR_swapchain", vkDestroySwapchainKHR, PFN_vkDestroySwapchainKHR, wsi::destroy_swapchain;
    Device, "VK_KHR_swapchain", vkGetSwapchainImagesKHR, PFN_vkGetSwapchainImagesKHR, wsi::swapchain_images;
    Device, "VK_KHR_swapchain", vkAcquireNextImageKHR, PFN_vkAcquireNextImageKHR, wsi::acquire;
    Device, "VK_KHR_swapchain", vkQueuePresentKHR, PFN_vkQueuePresentKHR, wsi::present;
}

/// A command by one of its names.
#[derive(Clone, Copy)]
struct Named {
    entry: &'static Entry,
    /// Whether the name is Vulkan's own: without the suffix of the extension that the command comes from.
    is_core: bool,
}

impl Entry {
    fn core_name(&self) -> Option<&'static str> {
        let suffix = self.extension.split('_').nth(1).unwrap_or_default();
        self.core.map(|_| self.name.strip_suffix(suffix).unwrap_or(self.name))
    }
}

impl Named {
    fn find(name: *const c_char) -> Option<Self> {
        if name.is_null() {
            return None;
        }
        // SAFETY: the loader and applications pass C strings.
        let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
        // Loaders ask for every name.
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

    /// Whether the name is known to who uses `version` of Vulkan with extensions.
    fn is_known(&self, version: u32, extensions: &[String]) -> bool {
        match self.entry.core {
            Some(core) if self.is_core => core <= version.min(API_VERSION),
            _ => extensions.iter().any(|name| name == self.entry.extension),
        }
    }

    /// Whether a device's extension brings the name: instances know what is available there.
    fn is_of_device(&self) -> bool {
        let found = extensions::find(self.entry.extension);
        !self.is_core && found.is_some_and(|extension| extension.level == extensions::Level::Device)
    }
}

/// A command by name, as an instance sees it: those of devices are found, too.
pub fn instance_proc(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let named = Named::find(name)?;
    let visible = match InstanceObject::from_handle(handle) {
        None => is_global(named.entry),
        Some(_) if named.entry.level == Level::Global => false,
        Some(instance) => named.is_of_device() || named.is_known(instance.version, &instance.extensions),
    };
    visible.then_some(named.entry.function)
}

/// A function of the interface between loader and driver by name: loaders that do not look at a library's symbols ask for them.
/// Source: the loader's documentation, "Loader and Driver Interface", version 7.
pub fn loader_proc(name: *const c_char) -> vk::PFN_vkVoidFunction {
    type GetProc = unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;
    type Negotiate = unsafe extern "system" fn(*mut u32) -> vk::Result;
    let negotiate: Negotiate = crate::vk_icdNegotiateLoaderICDInterfaceVersion;
    let physical: GetProc = crate::vk_icdGetPhysicalDeviceProcAddr;
    // SAFETY: the loader passes C strings, or null.
    let name = if name.is_null() { return None } else { unsafe { CStr::from_ptr(name) } };
    // SAFETY: function pointers have one size; callers cast back to the type that the name stands for.
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

/// Whether a command is found without an instance.
fn is_global(entry: &Entry) -> bool {
    let finds_itself = API_VERSION >= vk::API_VERSION_1_2 && entry.name == "vkGetInstanceProcAddr";
    finds_itself || (entry.level == Level::Global && entry.core.is_some_and(|version| version <= API_VERSION))
}

/// A physical device's command by name.
pub fn physical_device_proc(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    Named::find(name).filter(|named| named.entry.level == Level::Physical)?;
    instance_proc(handle, name)
}

extern "system" fn get_instance_proc(handle: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    instance_proc(handle, name)
}

pub extern "system" fn device_proc(handle: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let named = Named::find(name).filter(|named| named.entry.level == Level::Device)?;
    let device = DeviceObject::from_handle(handle)?;
    named.is_known(device.version, &device.extensions).then_some(named.entry.function)
}

#[cfg(test)]
mod tests;
