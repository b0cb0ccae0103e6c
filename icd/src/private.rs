//! The application's own data at objects. Source: `VK_EXT_private_data`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use parking_lot::Mutex;

use crate::objects::{destroy, device, need};
use crate::{check, raw};

/// An object, by type and handle.
type Key = (vk::ObjectType, u64);

/// What a device's objects hold: by object, and then by slot.
#[derive(Default)]
pub struct PrivateData {
    all: Mutex<HashMap<Key, HashMap<u64, u64>>>,
    is_used: AtomicBool,
}

impl PrivateData {
    /// Whether an object ever held any.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// An object is destroyed: another one may get its handle, and begins with nothing.
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

pub extern "system" fn create_slot(
    handle: vk::Device,
    info: *const vk::PrivateDataSlotCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::PrivateDataSlot,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        check::info(object, info)?;
        Ok(object.slots.insert(Arc::new(())))
    })
}

pub extern "system" fn destroy_slot(
    handle: vk::Device,
    slot: vk::PrivateDataSlot,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.slots, slot);
}

pub extern "system" fn set(
    handle: vk::Device,
    kind: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    value: u64,
) -> vk::Result {
    raw::guard(|| {
        let owner = device(handle)?;
        need(owner, &owner.slots, slot)?;
        owner.private.set((kind, object), slot.as_raw(), value);
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn get(
    handle: vk::Device,
    kind: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    out: *mut u64,
) {
    raw::guard_void(|| {
        if let (Ok(owner), Some(out)) = (device(handle), raw::output(out)) {
            *out = owner.private.get((kind, object), slot.as_raw());
        }
    });
}
