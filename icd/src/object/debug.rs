//! `VK_EXT_debug_utils`: entry points of messengers, names and labels.

use std::sync::Arc;

use ash::vk;
use vitric_api::debug::MessageKind;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use super::{DeviceObject, InstanceObject};
use crate::call::{Call, In, New};
use crate::messengers;
use crate::slots::Marked;

#[entry(vkCreateDebugUtilsMessengerEXT)]
fn create_debug_utils_messenger(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::DebugUtilsMessengerCreateInfoEXT<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DebugUtilsMessengerEXT>,
) -> Result<vk::Result> {
    let object = InstanceObject::from_handle(call, instance).ok_or(Error::Unknown)?;
    // SAFETY: `VK_EXT_debug_utils` requires a callback that is valid until its messenger is
    // destroyed.
    let id = unsafe { messengers::add(&object.messages, &info) }.ok_or(Error::Unknown)?;
    Ok(out.put(object.messengers.insert(Arc::new(id))))
}

#[entry(vkDestroyDebugUtilsMessengerEXT)]
fn destroy_debug_utils_messenger(
    call: Call<'_>,
    instance: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    _: *const vk::AllocationCallbacks<'_>,
) {
    remove(call, instance, vk::Handle::as_raw(messenger));
}

/// Removes a messenger or report callback. An unknown handle is ignored.
pub fn remove(call: Call<'_>, instance: vk::Instance, handle: u64) {
    if let Some(object) = InstanceObject::from_handle(call, instance)
        && let Some(id) = object.messengers.remove(handle)
    {
        object.messages.remove(*id);
    }
}

#[entry(vkSubmitDebugUtilsMessageEXT)]
fn submit_debug_utils_message(
    call: Call<'_>,
    instance: vk::Instance,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: In<'_, vk::DebugUtilsMessengerCallbackDataEXT<'_>>,
) {
    if let Some(object) = InstanceObject::from_handle(call, instance) {
        object.messages.send(MessageKind { severity, types }, &data);
    }
}

/// Returns true if messages name objects of a type: types in the device's tables.
fn is_named_in_messages(kind: vk::ObjectType) -> bool {
    !matches!(
        kind,
        vk::ObjectType::UNKNOWN
            | vk::ObjectType::INSTANCE
            | vk::ObjectType::PHYSICAL_DEVICE
            | vk::ObjectType::DEVICE
            | vk::ObjectType::QUEUE
            | vk::ObjectType::COMMAND_BUFFER
            | vk::ObjectType::SURFACE_KHR
            | vk::ObjectType::DISPLAY_KHR
            | vk::ObjectType::DISPLAY_MODE_KHR
            | vk::ObjectType::DEBUG_UTILS_MESSENGER_EXT
    )
}

#[entry(vkSetDebugUtilsObjectNameEXT)]
fn set_debug_utils_object_name(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::DebugUtilsObjectNameInfoEXT<'_>>,
) -> Result<vk::Result> {
    set_name(object, (info.object_type, info.object_handle), &call.string(info.p_object_name));
    Ok(vk::Result::SUCCESS)
}

/// Sets the name of an object, by its type and handle.
pub fn set_name(object: &DeviceObject, (kind, handle): (vk::ObjectType, u64), name: &str) {
    if is_named_in_messages(kind) {
        object.names.set(kind, handle, name);
    }
    if kind == vk::ObjectType::SHADER_MODULE
        && let Some(module) = object.shaders.get(handle)
    {
        module.set_name(name);
    }
}

// Tags and labels are for external tools. They are accepted and ignored.

#[entry(vkSetDebugUtilsObjectTagEXT)]
fn set_debug_utils_object_tag(_: vk::Device, _: *const vk::DebugUtilsObjectTagInfoEXT<'_>) -> vk::Result {
    vk::Result::SUCCESS
}

#[entry(vkQueueBeginDebugUtilsLabelEXT)]
fn queue_begin_debug_utils_label(_: vk::Queue, _: *const vk::DebugUtilsLabelEXT<'_>) {}

#[entry(vkQueueEndDebugUtilsLabelEXT)]
fn queue_end_debug_utils_label(_: vk::Queue) {}

#[entry(vkCmdBeginDebugUtilsLabelEXT)]
fn begin_debug_utils_label(_: vk::CommandBuffer, _: *const vk::DebugUtilsLabelEXT<'_>) {}

#[entry(vkCmdEndDebugUtilsLabelEXT)]
fn end_debug_utils_label(_: vk::CommandBuffer) {}
