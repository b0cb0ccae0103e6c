//! `VK_EXT_debug_report` and `VK_EXT_debug_marker`, the predecessors of `VK_EXT_debug_utils`.
//! Reports are its messages in another form.

use std::ffi::{CString, c_char};
use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use super::{DeviceObject, InstanceObject, debug};
use crate::call::{Call, In, New};
use crate::messengers;
use crate::slots::Marked;

#[entry(vkCreateDebugReportCallbackEXT)]
fn create_debug_report_callback(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::DebugReportCallbackCreateInfoEXT<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DebugReportCallbackEXT>,
) -> Result<vk::Result> {
    let object = InstanceObject::from_handle(call, instance).ok_or(Error::Unknown)?;
    // SAFETY: the extension requires a callback that is valid until it is destroyed.
    let id = unsafe { messengers::add_report(&object.messages, &info) }.ok_or(Error::Unknown)?;
    Ok(out.put(object.messengers.insert(Arc::new(id))))
}

#[entry(vkDestroyDebugReportCallbackEXT)]
fn destroy_debug_report_callback(
    call: Call<'_>,
    instance: vk::Instance,
    callback: vk::DebugReportCallbackEXT,
    _: *const vk::AllocationCallbacks<'_>,
) {
    debug::remove(call, instance, vk::Handle::as_raw(callback));
}

/// Sends a message of the application. Its location is dropped.
#[entry(vkDebugReportMessageEXT)]
#[expect(clippy::too_many_arguments, reason = "the command has these parameters")]
fn debug_report_message(
    call: Call<'_>,
    instance: vk::Instance,
    flags: vk::DebugReportFlagsEXT,
    kind: vk::DebugReportObjectTypeEXT,
    handle: u64,
    _: usize,
    number: i32,
    prefix: *const c_char,
    text: *const c_char,
) {
    let Some(object) = InstanceObject::from_handle(call, instance) else { return };
    let owned = |text| CString::new(call.string(text)).unwrap_or_default();
    let (prefix, text) = (owned(prefix), owned(text));
    let named = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: messengers::type_of_report(kind),
        object_handle: handle,
        ..Default::default()
    }];
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(&prefix)
        .message_id_number(number)
        .message(&text)
        .objects(&named);
    object.messages.send(messengers::kind_of_report(flags), &data);
}

#[entry(vkDebugMarkerSetObjectNameEXT)]
fn debug_marker_set_object_name(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::DebugMarkerObjectNameInfoEXT<'_>>,
) -> Result<vk::Result> {
    let kind = messengers::type_of_report(info.object_type);
    debug::set_name(object, (kind, info.object), &call.string(info.p_object_name));
    Ok(vk::Result::SUCCESS)
}

// Tags and markers are for external tools. They are accepted and ignored.

#[entry(vkDebugMarkerSetObjectTagEXT)]
fn debug_marker_set_object_tag(_: vk::Device, _: *const vk::DebugMarkerObjectTagInfoEXT<'_>) -> vk::Result {
    vk::Result::SUCCESS
}

#[entry(vkCmdDebugMarkerBeginEXT)]
fn debug_marker_begin(_: vk::CommandBuffer, _: *const vk::DebugMarkerMarkerInfoEXT<'_>) {}

#[entry(vkCmdDebugMarkerEndEXT)]
fn debug_marker_end(_: vk::CommandBuffer) {}
