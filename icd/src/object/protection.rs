//! Checks of protected queues, command pools, memory and resources. Source: Vulkan specification,
//! "Protected Memory".

use std::ffi::c_void;

use ash::vk;
use vitric_api::physical::PROTECTED;
use vitric_api::{Error, Result};
use vitric_memory::Allocation;

use super::DeviceObject;
use crate::call::Call;

/// Returns true if the create info of a device enables protected memory.
pub fn is_enabled(call: Call<'_>, next: *const c_void) -> bool {
    let own: Option<&vk::PhysicalDeviceProtectedMemoryFeatures<'_>> = call.find(next);
    let all: Option<&vk::PhysicalDeviceVulkan11Features<'_>> = call.find(next);
    own.is_some_and(|own| own.protected_memory != 0) || all.is_some_and(|all| all.protected_memory != 0)
}

/// Checks that a device may create something protected. `what` names it.
///
/// # Errors
/// [`Error::FeatureNotPresent`] unless protected memory is enabled: a message was sent.
pub fn check_enabled(object: &DeviceObject, what: &str) -> Result<()> {
    match object.protects {
        true => Ok(()),
        false => {
            object.messages().error(&format!("{what} is protected: enable the feature protectedMemory"));
            Err(Error::FeatureNotPresent)
        }
    }
}

/// Begins to check accesses if a new resource is protected.
///
/// # Errors
/// See [`check_enabled`].
pub fn begin(object: &DeviceObject, what: &str, is_protected: bool) -> Result<()> {
    if is_protected {
        check_enabled(object, what)?;
        object.device.begin_protection();
    }
    Ok(())
}

/// Checks that a resource is bound to memory of its protection.
///
/// # Errors
/// [`Error::Unknown`] if it is not: a message was sent.
pub fn check_binding<H: vk::Handle + Copy>(
    object: &DeviceObject,
    handle: H,
    is_protected: bool,
    memory: &Allocation,
) -> Result<()> {
    if is_protected == memory.is_protected() {
        return Ok(());
    }
    let (kind, expected) = match is_protected {
        true => ("protected", "only"),
        false => ("not protected", "any other than"),
    };
    object.messages().error(&format!(
        "{} is {kind} and cannot be bound to this memory: expected memory of {expected} type {PROTECTED}",
        object.describe(handle)
    ));
    Err(Error::Unknown)
}
