//! Instances. Source: Vulkan specification, "Initialization".

use std::ffi::c_char;
use std::sync::Arc;

use ash::vk;
use vitric_api::debug::Messages;
use vitric_api::extensions::{self, Extension, Level};
use vitric_api::heap;
use vitric_api::physical::API_VERSION;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use crate::call::{Call, Listing, New, Out, put_name};
use crate::displays::{self, Displays};
use crate::handles::Table;
use crate::messengers::{self, CreationMessenger};
use crate::object::{InstanceObject, PhysicalObject, check};
use crate::slots::Marked;
use crate::{logging, process};

#[entry(vkEnumerateInstanceExtensionProperties)]
fn enumerate_instance_extension_properties(
    _: *const c_char,
    #[len] count: *mut u32,
    out: Listing<'_, vk::ExtensionProperties>,
) -> Result<vk::Result> {
    out.put(&extension_properties(Level::Instance))
}

/// Returns the properties of the extensions of instances or devices.
pub fn extension_properties(level: Level) -> Vec<vk::ExtensionProperties> {
    let property = |extension: &Extension| {
        let mut property = vk::ExtensionProperties { spec_version: extension.version, ..Default::default() };
        put_name(&mut property.extension_name, extension.name);
        property
    };
    extensions::of(level).filter(|extension| displays::is_available(extension.name)).map(property).collect()
}

#[entry(vkEnumerateInstanceLayerProperties)]
fn enumerate_instance_layer_properties(
    #[len] count: *mut u32,
    out: Listing<'_, vk::LayerProperties>,
) -> Result<vk::Result> {
    out.put(&[])
}

#[entry(vkEnumerateInstanceVersion)]
fn enumerate_instance_version(mut out: Out<'_, u32>) -> vk::Result {
    *out = API_VERSION;
    vk::Result::SUCCESS
}

#[entry(vkCreateInstance)]
fn create_instance(
    call: Call<'_>,
    info: Option<&vk::InstanceCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Instance>,
) -> Result<vk::Result> {
    logging::start();
    process::watch_forks();
    let info = info.ok_or(Error::InitializationFailed)?;
    let messages = Arc::new(Messages::default());
    // SAFETY: `VK_EXT_debug_utils` requires a callback that is valid until the instance is
    // destroyed.
    let creation_messenger = unsafe { CreationMessenger::new(call, info.p_next) };
    let (extensions, version) = creation_messenger.register_during(&messages, || {
        check::checked(call, &messages, Some(info)).map_err(|_| Error::InitializationFailed)?;
        let version = requested_version(&messages, call.get(info.p_application_info));
        Ok((enabled_extensions(call, &messages, info)?, version))
    })?;
    let (heap, enabled, displays) = (heap::heap(), extensions.clone(), Displays::open(&extensions));
    let number = messengers::enlist(&messages);
    let physical =
        PhysicalObject { instance: number, heap, messages: messages.clone(), extensions: enabled, version, displays };
    let (physical, messengers) = (physical.into_handle(number), Table::new(31));
    let object = InstanceObject { number, messages, creation_messenger, physical, extensions, version, messengers };
    Ok(out.put(object.into_handle(number)))
}

/// Returns the enabled extensions of an instance.
fn enabled_extensions(call: Call<'_>, messages: &Messages, info: &vk::InstanceCreateInfo<'_>) -> Result<Vec<String>> {
    let names = call.slice(info.pp_enabled_extension_names, info.enabled_extension_count);
    let known = |name: &String| {
        extensions::find(name).is_some_and(|found| found.level == Level::Instance && displays::is_available(name))
    };
    let checked = |name| match known(&name) {
        true => Ok(name),
        false => {
            messages.error(&format!(
                "the instance extension {name} is not supported: expected one of vkEnumerateInstanceExtensionProperties"
            ));
            Err(Error::ExtensionNotPresent)
        }
    };
    names.iter().map(|&name| checked(call.string(name))).collect()
}

/// Returns the version of Vulkan that an application is written for, without the patch version;
/// 1.0 if none is set. No version is refused: Vulkan 1.1 and later allow newer versions, and
/// variants of Vulkan are allowed, too.
fn requested_version(messages: &Messages, application: Option<&vk::ApplicationInfo<'_>>) -> u32 {
    let version = application.map_or(0, |application| application.api_version);
    let variant = vk::api_version_variant(version);
    if variant != 0 {
        messages.warn(&format!("VkApplicationInfo::apiVersion has variant {variant}: expected 0, which is Vulkan"));
    }
    match version {
        0 => vk::API_VERSION_1_0,
        _ => vk::make_api_version(0, vk::api_version_major(version), vk::api_version_minor(version), 0),
    }
}

#[entry(vkDestroyInstance)]
fn destroy_instance(call: Call<'_>, instance: vk::Instance, _: *const vk::AllocationCallbacks<'_>) {
    if let Some(object) = InstanceObject::from_handle(call, instance) {
        object.creation_messenger.register_during(&object.messages, || match object.messengers.count() {
            0 => {}
            left => object
                .messages
                .warn(&format!("the instance is destroyed before {left} of its messengers: destroy messengers first")),
        });
        let physical = <vk::PhysicalDevice as vk::Handle>::from_raw(object.physical);
        // SAFETY: this call uses neither object from here on, and by valid usage no other call
        // uses them.
        unsafe {
            PhysicalObject::destroy(call, physical);
            InstanceObject::destroy(call, instance);
        }
    }
}

#[entry(vkEnumeratePhysicalDevices)]
fn enumerate_physical_devices(
    call: Call<'_>,
    instance: vk::Instance,
    #[len] count: *mut u32,
    out: Listing<'_, vk::PhysicalDevice>,
) -> Result<vk::Result> {
    let object = InstanceObject::from_handle(call, instance).ok_or(Error::InitializationFailed)?;
    let device = <vk::PhysicalDevice as vk::Handle>::from_raw(object.physical);
    out.put(&[device])
}

#[entry(vkEnumeratePhysicalDeviceGroups)]
fn enumerate_physical_device_groups(
    call: Call<'_>,
    instance: vk::Instance,
    #[len] count: *mut u32,
    out: Listing<'_, vk::PhysicalDeviceGroupProperties<'_>>,
) -> Result<vk::Result> {
    let object = InstanceObject::from_handle(call, instance).ok_or(Error::InitializationFailed)?;
    let device = <vk::PhysicalDevice as vk::Handle>::from_raw(object.physical);
    out.put_with([device].into_iter(), |out, device| {
        let p_next = out.p_next;
        *out = vk::PhysicalDeviceGroupProperties { p_next, physical_device_count: 1, ..Default::default() };
        out.physical_devices[0] = device;
    })
}
