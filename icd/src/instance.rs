//! Instances. Source: Vulkan specification, "Initialization".

use std::ffi::c_char;
use std::sync::Arc;

use ash::vk;
use vitric_api::debug::Messages;
use vitric_api::extensions::{self, Extension, Level};
use vitric_api::physical::API_VERSION;
use vitric_api::{Error, Result, heap};

use crate::debug::Witness;
use crate::handles::Table;
use crate::objects::{InstanceObject, Marked, PhysicalObject};
use crate::{check, debug, logging, process, raw};

pub extern "system" fn enumerate_extensions(
    _layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    raw::guard(|| Ok(raw::enumerate(&extension_properties(Level::Instance), count, out)))
}

/// Properties of the extensions of instances or devices.
pub fn extension_properties(level: Level) -> Vec<vk::ExtensionProperties> {
    let property = |extension: &Extension| {
        let mut property = vk::ExtensionProperties { spec_version: extension.version, ..Default::default() };
        raw::put_name(&mut property.extension_name, extension.name);
        property
    };
    extensions::of(level).map(property).collect()
}

pub extern "system" fn enumerate_layers(count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
    raw::enumerate(&[], count, out)
}

pub extern "system" fn version(out: *mut u32) -> vk::Result {
    let Some(out) = raw::output(out) else { return Error::Unknown.code() };
    *out = API_VERSION;
    vk::Result::SUCCESS
}

pub extern "system" fn create(
    info: *const vk::InstanceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    raw::create(out, || {
        logging::start();
        process::watch_forks();
        let info = raw::input(info).ok_or(Error::InitializationFailed)?;
        let (messages, witness) = (Arc::new(Messages::default()), Witness::new(info.p_next));
        let (extensions, version) = witness.hear(&messages, || {
            check::checked(&messages, info).map_err(|_| Error::InitializationFailed)?;
            let version = requested_version(&messages, raw::input(info.p_application_info));
            Ok((enabled_extensions(&messages, info)?, version))
        })?;
        let (heap, enabled) = (heap::heap(), extensions.clone());
        let number = debug::enlist(&messages);
        let physical =
            PhysicalObject { instance: number, heap, messages: messages.clone(), extensions: enabled, version };
        let (physical, messengers) = (physical.into_handle(number), Table::new(31));
        let object = InstanceObject { number, messages, witness, physical, extensions, version, messengers };
        Ok(object.into_handle(number))
    })
}

/// The extensions that an instance is created with.
fn enabled_extensions(messages: &Messages, info: &vk::InstanceCreateInfo<'_>) -> Result<Vec<String>> {
    let names = raw::slice(info.pp_enabled_extension_names, info.enabled_extension_count);
    let known = |name: &String| extensions::find(name).is_some_and(|found| found.level == Level::Instance);
    let checked = |name| match known(&name) {
        true => Ok(name),
        false => {
            messages.error(&format!("the instance extension {name} is not supported"));
            Err(Error::ExtensionNotPresent)
        }
    };
    names.iter().map(|&name| checked(raw::string(name))).collect()
}

/// The version of Vulkan that an application is written for, without patch: 1.0 where it says none. There is none that the driver could
/// not be used with: since 1.1 that is so of newer ones, and of variants of Vulkan.
fn requested_version(messages: &Messages, application: Option<&vk::ApplicationInfo<'_>>) -> u32 {
    let version = application.map_or(0, |application| application.api_version);
    if vk::api_version_variant(version) != 0 {
        messages.warn("another variant of Vulkan is asked for");
    }
    match version {
        0 => vk::API_VERSION_1_0,
        _ => vk::make_api_version(0, vk::api_version_major(version), vk::api_version_minor(version), 0),
    }
}

pub extern "system" fn destroy(instance: vk::Instance, _: *const vk::AllocationCallbacks<'_>) {
    raw::guard_void(|| {
        if let Some(object) = InstanceObject::from_handle(instance) {
            object.witness.hear(&object.messages, || match object.messengers.count() {
                0 => {}
                left => object.messages.warn(&format!("the instance is destroyed before {left} of its messengers")),
            });
            PhysicalObject::destroy(<vk::PhysicalDevice as vk::Handle>::from_raw(object.physical));
            InstanceObject::destroy(instance);
        }
    });
}

pub extern "system" fn enumerate_physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDevice,
) -> vk::Result {
    raw::guard(|| {
        let object = InstanceObject::from_handle(instance).ok_or(Error::InitializationFailed)?;
        let device = <vk::PhysicalDevice as vk::Handle>::from_raw(object.physical);
        Ok(raw::enumerate(&[device], count, out))
    })
}

pub extern "system" fn enumerate_groups(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    raw::guard(|| {
        let object = InstanceObject::from_handle(instance).ok_or(Error::InitializationFailed)?;
        let count = raw::output(count).ok_or(Error::Unknown)?;
        let room = if out.is_null() { 1 } else { (*count).min(1) };
        *count = room;
        for out in raw::slice_mut(out, room as usize) {
            let mut group = vk::PhysicalDeviceGroupProperties { physical_device_count: 1, ..Default::default() };
            group.physical_devices[0] = <vk::PhysicalDevice as vk::Handle>::from_raw(object.physical);
            raw::fill(out, group);
        }
        Ok(if room == 0 { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS })
    })
}
