//! Reports of device memory: allocations, imports, their ends, and failed allocations.
//!
//! Memory has a report if it is allocated or imported by the application, or if an image of a
//! swapchain has it. Memory that other devices or processes may share is identified by its file.
//! The handle of its object identifies all other memory. No lock is held while a callback runs.
//! Source: `VK_EXT_device_memory_report`.

use std::collections::HashMap;
use std::ffi::c_void;

use ash::vk::{self, DeviceMemoryReportEventTypeEXT as Event, Handle};
use parking_lot::Mutex;
use vitric_api::debug::Messages;
use vitric_api::{Error, Result};
use vitric_memory::Allocation;

use super::external;
use crate::call::Call;

/// Bits of the number of memory that is identified by its file. Handles do not have all of them.
const OF_FILE: u64 = 0xff << 56;

/// An application's callback with its pointer.
struct Receiver {
    callback: unsafe extern "system" fn(*const vk::DeviceMemoryReportCallbackDataEXT<'_>, *mut c_void),
    data: *mut c_void,
}

// SAFETY: this code never dereferences the pointer. The extension requires that the callback can
// use it in any thread.
unsafe impl Send for Receiver {}
// SAFETY: this code never dereferences the pointer. The extension requires that the callback can
// use it in any thread.
unsafe impl Sync for Receiver {}

/// Memory whose allocation or import was reported.
#[derive(Clone, Copy)]
struct Known {
    id: u64,
    size: u64,
    is_imported: bool,
}

/// The callbacks of a device, and the reported memory that is alive.
#[derive(Default)]
pub struct MemoryReports {
    receivers: Vec<Receiver>,
    /// Reported memory by the handle of its object.
    known: Mutex<HashMap<u64, Known>>,
}

impl MemoryReports {
    /// Returns the callbacks in the chain of a device's create info.
    ///
    /// # Errors
    /// [`Error::InitializationFailed`] for a null callback: a message was sent.
    pub fn new(call: Call<'_>, messages: &Messages, next: *const c_void) -> Result<Self> {
        let receiver = |info: &vk::DeviceDeviceMemoryReportCreateInfoEXT<'_>| {
            let callback = info.pfn_user_callback.ok_or_else(|| {
                messages.error(
                    "VkDeviceDeviceMemoryReportCreateInfoEXT::pfnUserCallback = null: expected a pointer to a function",
                );
                Error::InitializationFailed
            })?;
            Ok(Receiver { callback, data: info.p_user_data })
        };
        Ok(Self { receivers: call.find_all(next).map(receiver).collect::<Result<_>>()?, ..Self::default() })
    }

    /// Reports memory of an object of the application: new memory, or an import if the chain of
    /// its info has one.
    pub fn allocated(&self, call: Call<'_>, made: vk::DeviceMemory, memory: &Allocation, next: *const c_void) {
        if !self.receivers.is_empty() {
            let id = memory.file_number().map_or(made.as_raw(), |number| number | OF_FILE);
            self.begun(made, Known { id, size: memory.size(), is_imported: external::has_import(call, next) });
        }
    }

    /// Reports new memory that only an image of a swapchain has.
    pub fn allocated_for_image(&self, image: vk::Image, size: u64) {
        if !self.receivers.is_empty() {
            self.begun(image, Known { id: image.as_raw(), size, is_imported: false });
        }
    }

    fn begun<H: Handle + Copy>(&self, object: H, known: Known) {
        self.known.lock().insert(object.as_raw(), known);
        let event = if known.is_imported { Event::IMPORT } else { Event::ALLOCATE };
        self.send(event, object, known);
    }

    /// Reports that the memory of an object is freed, if its allocation was reported.
    pub fn freed<H: Handle + Copy>(&self, object: H) {
        if self.receivers.is_empty() {
            return;
        }
        let found = self.known.lock().remove(&object.as_raw());
        if let Some(known) = found {
            let event = if known.is_imported { Event::UNIMPORT } else { Event::FREE };
            self.send(event, object, known);
        }
    }

    /// Reports that memory for an object of type `H` could not be allocated or imported.
    pub fn failed<H: Handle + Copy>(&self, size: u64) {
        self.send(Event::ALLOCATION_FAILED, H::from_raw(0), Known { id: 0, size, is_imported: false });
    }

    fn send<H: Handle + Copy>(&self, event: Event, object: H, known: Known) {
        let report = vk::DeviceMemoryReportCallbackDataEXT::default()
            .ty(event)
            .memory_object_id(known.id)
            .size(known.size)
            .object_handle(object)
            .heap_index(0);
        for receiver in &self.receivers {
            // SAFETY: the callback and its pointer are valid while the device lives, and the
            // report lives during the call.
            unsafe { (receiver.callback)(&raw const report, receiver.data) };
        }
    }
}
