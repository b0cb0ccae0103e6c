//! Private data that the application stores with objects. Source: `VK_EXT_private_data`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use parking_lot::Mutex;
use vitric_api::Result;
use vitric_entry::entry;

use super::{DeviceObject, check, destroy, need};
use crate::call::{Call, New, Out};

/// An object, by type and handle.
type Key = (vk::ObjectType, u64);

/// Data of a device's objects: by object, and then by slot.
#[derive(Default)]
pub struct PrivateData {
    all: Mutex<HashMap<Key, HashMap<u64, u64>>>,
    is_used: AtomicBool,
}

impl PrivateData {
    /// Returns true if any object ever had private data.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Removes the data of a destroyed object, because a new object may get its handle.
    pub fn forget(&self, kind: vk::ObjectType, handle: u64) {
        let mut all = self.all.lock();
        if kind == vk::ObjectType::PRIVATE_DATA_SLOT {
            all.retain(|_, slots| {
                slots.remove(&handle);
                !slots.is_empty()
            });
        } else if !all.is_empty() {
            all.remove(&(kind, handle));
        }
    }

    fn set(&self, key: Key, slot: u64, value: u64) {
        self.is_used.store(true, Ordering::Release);
        self.all.lock().entry(key).or_default().insert(slot, value);
    }

    fn get(&self, key: Key, slot: u64) -> u64 {
        self.all.lock().get(&key).and_then(|slots| slots.get(&slot)).copied().unwrap_or(0)
    }
}

#[entry(vkCreatePrivateDataSlot)]
fn create_private_data_slot(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::PrivateDataSlotCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::PrivateDataSlot>,
) -> Result<vk::Result> {
    check::info(call, object, info)?;
    Ok(out.put(object.slots.insert(Arc::new(()))))
}

#[entry(vkDestroyPrivateDataSlot)]
fn destroy_private_data_slot(object: &DeviceObject, slot: vk::PrivateDataSlot, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.slots, slot);
}

#[entry(vkSetPrivateData)]
fn set_private_data(
    object: &DeviceObject,
    kind: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    value: u64,
) -> Result<vk::Result> {
    need(object, &object.slots, slot)?;
    object.private.set((kind, handle), slot.as_raw(), value);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetPrivateData)]
fn get_private_data(
    object: &DeviceObject,
    kind: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    mut out: Out<'_, u64>,
) {
    *out = object.private.get((kind, handle), slot.as_raw());
}
