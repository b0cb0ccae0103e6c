//! Entry points of displays without a window system. Source: `VK_KHR_display`,
//! `VK_KHR_get_display_properties2`.

use std::fmt::Debug;
use std::sync::Arc;

use ash::vk::{self, Handle};
use drm::control::connector;
use vitric_api::debug::Messages;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use super::insert;
use crate::call::{Call, In, Listing, New, Out};
use crate::displays::{ListedMode, Output, Plane, PlaneSurface, mode};
use crate::handles::Table;
use crate::object::{InstanceObject, PhysicalObject};
use crate::slots::Marked;

fn physical(call: Call<'_>, physical: vk::PhysicalDevice) -> Result<&PhysicalObject> {
    PhysicalObject::from_handle(call, physical).ok_or(Error::Unknown)
}

/// Returns the object of a handle. Sends a message if the handle is invalid.
fn need<T: Clone, H: Handle + Copy>(messages: &Messages, table: &Table<T>, handle: H) -> Result<T> {
    table.get(handle.as_raw()).ok_or_else(|| {
        let (kind, handle) = (H::TYPE, handle.as_raw());
        messages.error(&format!("{kind:?} handle {handle:#x} is null or foreign: expected a handle of the instance"));
        Error::Unknown
    })
}

/// Returns the plane with an index. Sends a message if there is none.
fn need_plane(object: &PhysicalObject, index: u32) -> Result<Plane> {
    let mut planes = object.displays.planes();
    if index as usize >= planes.len() {
        object.messages.error(&format!("plane {index} does not exist: expected one of {}", planes.len()));
        return Err(Error::Unknown);
    }
    Ok(planes.swap_remove(index as usize))
}

/// Returns the properties of the connected displays.
fn display_properties(object: &PhysicalObject) -> Vec<vk::DisplayPropertiesKHR<'static>> {
    let displays = &object.displays;
    let properties = |(handle, info): (vk::DisplayKHR, connector::Info)| {
        let display = displays.displays.get(handle.as_raw())?;
        let (width, height) = info.size().unwrap_or_default();
        let preferred = info.modes().iter().find_map(mode::parameters)?;
        Some(vk::DisplayPropertiesKHR {
            display: handle,
            // The handle keeps the name.
            display_name: display.name.as_ptr(),
            physical_dimensions: vk::Extent2D { width, height },
            physical_resolution: preferred.visible_region,
            supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
            plane_reorder_possible: vk::FALSE,
            persistent_content: vk::FALSE,
            ..Default::default()
        })
    };
    displays.connected().into_iter().filter_map(properties).collect()
}

#[entry(vkGetPhysicalDeviceDisplayPropertiesKHR)]
fn get_physical_device_display_properties(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayPropertiesKHR<'_>>,
) -> Result<vk::Result> {
    out.put(&display_properties(physical(call, device)?))
}

#[entry(vkGetPhysicalDeviceDisplayProperties2KHR)]
fn get_physical_device_display_properties2(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayProperties2KHR<'_>>,
) -> Result<vk::Result> {
    let found = display_properties(physical(call, device)?);
    out.put_with(found.into_iter(), |out, properties| out.display_properties = properties)
}

/// Returns the properties of the planes. No two planes overlap, so each is the lowest.
fn plane_properties(object: &PhysicalObject) -> Vec<vk::DisplayPlanePropertiesKHR> {
    let displays = object.displays.connected();
    let properties = |plane: Plane| {
        let shows = |(handle, info): &(vk::DisplayKHR, connector::Info)| {
            let display = object.displays.displays.get(handle.as_raw());
            let is_here = display.is_some_and(|display| Arc::ptr_eq(&display.card, &plane.card));
            is_here && plane.card.controller_of(info) == Some(plane.controller)
        };
        let current = displays.iter().find(|display| shows(display));
        let current_display = current.map_or_else(vk::DisplayKHR::null, |(handle, _)| *handle);
        vk::DisplayPlanePropertiesKHR { current_display, current_stack_index: 0 }
    };
    object.displays.planes().into_iter().map(properties).collect()
}

#[entry(vkGetPhysicalDeviceDisplayPlanePropertiesKHR)]
fn get_physical_device_display_plane_properties(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayPlanePropertiesKHR>,
) -> Result<vk::Result> {
    out.put(&plane_properties(physical(call, device)?))
}

#[entry(vkGetPhysicalDeviceDisplayPlaneProperties2KHR)]
fn get_physical_device_display_plane_properties2(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayPlaneProperties2KHR<'_>>,
) -> Result<vk::Result> {
    let found = plane_properties(physical(call, device)?);
    out.put_with(found.into_iter(), |out, properties| out.display_plane_properties = properties)
}

#[entry(vkGetDisplayPlaneSupportedDisplaysKHR)]
fn get_display_plane_supported_displays(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    index: u32,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayKHR>,
) -> Result<vk::Result> {
    let object = physical(call, device)?;
    let plane = need_plane(object, index)?;
    let supports = |handle: &vk::DisplayKHR| {
        object.displays.displays.get(handle.as_raw()).is_some_and(|display| plane.supports(&display))
    };
    let connected = object.displays.connected().into_iter().map(|(handle, _)| handle);
    out.put(&connected.filter(supports).collect::<Vec<_>>())
}

/// Returns the properties of the modes that the kernel lists for a display.
fn mode_properties(object: &PhysicalObject, display: vk::DisplayKHR) -> Result<Vec<vk::DisplayModePropertiesKHR>> {
    let display = need(&object.messages, &object.displays.displays, display)?;
    let properties =
        |ListedMode { handle, parameters }| vk::DisplayModePropertiesKHR { display_mode: handle, parameters };
    Ok(object.displays.modes_of(&display).into_iter().map(properties).collect())
}

#[entry(vkGetDisplayModePropertiesKHR)]
fn get_display_mode_properties(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    display: vk::DisplayKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayModePropertiesKHR>,
) -> Result<vk::Result> {
    out.put(&mode_properties(physical(call, device)?, display)?)
}

#[entry(vkGetDisplayModeProperties2KHR)]
fn get_display_mode_properties2(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    display: vk::DisplayKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::DisplayModeProperties2KHR<'_>>,
) -> Result<vk::Result> {
    let found = mode_properties(physical(call, device)?, display)?;
    out.put_with(found.into_iter(), |out, properties| out.display_mode_properties = properties)
}

/// Returns the listed mode with the parameters. The driver makes no timings of its own, because a
/// display may not support them.
#[entry(vkCreateDisplayModeKHR)]
fn create_display_mode(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    display: vk::DisplayKHR,
    info: In<'_, vk::DisplayModeCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DisplayModeKHR>,
) -> Result<vk::Result> {
    let object = physical(call, device)?;
    let display = need(&object.messages, &object.displays.displays, display)?;
    let modes = object.displays.modes_of(&display);
    let found = modes.iter().find(|mode| mode::are_equal(&mode.parameters, &info.parameters));
    let found = found.ok_or(Error::InitializationFailed)?;
    Ok(out.put(found.handle.as_raw()))
}

/// Returns the capabilities of a plane, which shows all of a mode's pixels.
fn plane_capabilities(
    object: &PhysicalObject,
    mode: vk::DisplayModeKHR,
    index: u32,
) -> Result<vk::DisplayPlaneCapabilitiesKHR> {
    let mode = need(&object.messages, &object.displays.modes, mode)?;
    need_plane(object, index)?;
    let extent = mode.parameters.visible_region;
    Ok(vk::DisplayPlaneCapabilitiesKHR {
        supported_alpha: vk::DisplayPlaneAlphaFlagsKHR::OPAQUE,
        min_src_extent: extent,
        max_src_extent: extent,
        min_dst_extent: extent,
        max_dst_extent: extent,
        ..Default::default()
    })
}

#[entry(vkGetDisplayPlaneCapabilitiesKHR)]
fn get_display_plane_capabilities(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    mode: vk::DisplayModeKHR,
    index: u32,
    mut out: Out<'_, vk::DisplayPlaneCapabilitiesKHR>,
) -> Result<vk::Result> {
    out.write(plane_capabilities(physical(call, device)?, mode, index)?);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetDisplayPlaneCapabilities2KHR)]
fn get_display_plane_capabilities2(
    call: Call<'_>,
    device: vk::PhysicalDevice,
    info: In<'_, vk::DisplayPlaneInfo2KHR<'_>>,
    mut out: Out<'_, vk::DisplayPlaneCapabilities2KHR<'_>>,
) -> Result<vk::Result> {
    out.capabilities = plane_capabilities(physical(call, device)?, info.mode, info.plane_index)?;
    Ok(vk::Result::SUCCESS)
}

/// Checks the parameters of a surface. Returns its mode and plane.
fn output(object: &PhysicalObject, info: &vk::DisplaySurfaceCreateInfoKHR<'_>) -> Result<Output> {
    let mode = need(&object.messages, &object.displays.modes, info.display_mode)?;
    let plane = need_plane(object, info.plane_index)?;
    let extent = mode.parameters.visible_region;
    let supports = plane.supports(&mode.display);
    let (identity, opaque) = (vk::SurfaceTransformFlagsKHR::IDENTITY, vk::DisplayPlaneAlphaFlagsKHR::OPAQUE);
    let rules: [(bool, &str, &dyn Debug, &dyn Debug); 5] = [
        (supports, "planeIndex", &info.plane_index, &"a plane that the display supports"),
        (info.plane_stack_index == 0, "planeStackIndex", &info.plane_stack_index, &0),
        (info.transform == identity, "transform", &info.transform, &identity),
        (info.alpha_mode == opaque, "alphaMode", &info.alpha_mode, &opaque),
        (info.image_extent == extent, "imageExtent", &info.image_extent, &extent),
    ];
    if let Some((_, name, found, expected)) = rules.iter().find(|(is_kept, ..)| !is_kept) {
        object.messages.error(&format!("VkDisplaySurfaceCreateInfoKHR::{name} is {found:?}: expected {expected:?}"));
        return Err(Error::Unknown);
    }
    let (card, connector) = (plane.card, mode.display.connector);
    Ok(Output { card, connector, controller: plane.controller, mode: mode.mode })
}

#[entry(vkCreateDisplayPlaneSurfaceKHR)]
fn create_display_plane_surface(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::DisplaySurfaceCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SurfaceKHR>,
) -> Result<vk::Result> {
    let object = InstanceObject::from_handle(call, instance).ok_or(Error::Unknown)?;
    let output = output(physical(call, vk::PhysicalDevice::from_raw(object.physical))?, &info)?;
    Ok(out.put(insert(call, instance, Arc::new(PlaneSurface::new(output)))?))
}
