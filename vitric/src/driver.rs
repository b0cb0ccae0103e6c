//! Where this program's own Vulkan comes from.

use crate::Failure;

/// The entry through which this program itself speaks Vulkan.
pub fn entry() -> Result<ash::Entry, Failure> {
    // SAFETY: the system's loader is a well-behaved library; it stays loaded as long as the entry.
    unsafe { ash::Entry::load() }.map_err(|e| Failure::new(format!("the Vulkan loader could not be opened: {e}")))
}
