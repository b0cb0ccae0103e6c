//! Dispatchable handles (and handles of surfaces): pointers to slots that outlive their objects.
//!
//! A slot begins with the loader's word. The tag after it has the type of the object, and a bit
//! that shows if the object is live. Slots are not freed while the library is loaded. A stale
//! handle is therefore detected by its tag: the use sends a message and has a defined result. A
//! slot is reused only after [`Marked::KEPT`] later slots were freed. Until then its stale handle
//! is detected, and the number of slots is bounded.
//!
//! The application synchronises the destruction of an object with its other uses (Vulkan
//! specification, "Threading Behavior"). A use that races with the destruction is not detected.
//!
//! The loader's trampolines use the first word of a handle as the address of a function table,
//! which the loader frees with the device. Dead handles of a dead device therefore get a table of
//! this library ([`redirect_dead`]), with the loader's layout as far as it is fixed. Source:
//! Vulkan-Loader, `loader_get_dispatch`, and the head of its generated `VkLayerDispatchTable`.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use ash::vk;
use parking_lot::Mutex;
use vitric_api::{Error, Result};

use crate::call::{self, Call};
use crate::handles::Peak;
use crate::{messengers, process};

/// First word of a new dispatchable object, as the loader requires.
const LOADER_MAGIC: usize = 0x01CD_C0DE;
/// Bits that are set in the tag of a dead object. A live object's tag consists of ASCII letters,
/// which are below 128.
const DEAD: u32 = 0x8080_8080;
/// Number of slots of a type in the library's static memory, which is freed when the library is
/// unloaded.
pub const FIRST: usize = 16;

/// Head of every slot, for any type.
#[repr(C)]
struct Head {
    /// The loader's word.
    loader: AtomicUsize,
    tag: AtomicU32,
    /// Number of the instance whose messengers receive messages about the handle.
    instance: AtomicU32,
}

/// Memory of one object.
#[repr(C)]
pub struct Slot<T> {
    head: Head,
    object: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Slot<T> {
    /// Returns a slot of zeros, so that the static slots need no space in the library's file.
    pub const fn empty() -> Self {
        Self {
            head: Head { loader: AtomicUsize::new(0), tag: AtomicU32::new(0), instance: AtomicU32::new(0) },
            object: UnsafeCell::new(MaybeUninit::zeroed()),
        }
    }
}

// SAFETY: an object is written before its tag becomes live. Only the call that changes the tag
// from live to dead drops it.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// Slots after the static ones, and all free slots.
struct Store<T: 'static> {
    /// Chunks of slots. The first has as many slots as there are static ones, and each later one
    /// has twice as many as the previous one.
    chunks: Vec<&'static [Slot<T>]>,
    /// Number of slots that have had an object.
    used: usize,
    /// Freed slots, in the order in which they were freed.
    free: VecDeque<&'static Slot<T>>,
    peak: Peak,
}

/// All slots of one type.
pub struct Slots<T: 'static> {
    first: &'static [Slot<T>; FIRST],
    store: Mutex<Store<T>>,
}

impl<T: Marked> Slots<T> {
    /// Returns a store without objects.
    pub const fn new(first: &'static [Slot<T>; FIRST]) -> Self {
        let store = Store { chunks: Vec::new(), used: 0, free: VecDeque::new(), peak: Peak::new() };
        Self { first, store: Mutex::new(store) }
    }

    /// Stores an object in a slot.
    fn put(&self, object: T, instance: u32) -> &'static Slot<T> {
        let mut store = self.store.lock();
        store.peak.add();
        let oldest = if store.free.len() > T::KEPT { store.free.pop_front() } else { None };
        let slot = oldest.unwrap_or_else(|| self.fresh(&mut store));
        slot.head.loader.store(LOADER_MAGIC, Ordering::Relaxed);
        slot.head.instance.store(instance, Ordering::Relaxed);
        // SAFETY: the slot was free or never used, and was acquired under the lock, so no other
        // thread writes. Its tag is not live, so no thread reads.
        unsafe { (*slot.object.get()).write(object) };
        slot.head.tag.store(T::TAG, Ordering::Release);
        slot
    }

    /// Returns a slot that never had an object.
    fn fresh(&self, store: &mut Store<T>) -> &'static Slot<T> {
        let number = store.used;
        store.used += 1;
        if number < FIRST {
            return &self.first[number];
        }
        let chunk = (number / FIRST).ilog2() as usize;
        if chunk == store.chunks.len() {
            let slots: Box<[Slot<T>]> = (0..FIRST << chunk).map(|_| Slot::empty()).collect();
            store.chunks.push(Box::leak(slots));
        }
        &store.chunks[chunk][number - (FIRST << chunk)]
    }

    /// Ends the life of an object and frees its slot.
    ///
    /// # Safety
    /// No reference to the object may be used from here on.
    unsafe fn end(&self, slot: &'static Slot<T>, ending: Ending) {
        let ended = slot.head.tag.compare_exchange(T::TAG, T::TAG | DEAD, Ordering::AcqRel, Ordering::Relaxed);
        if ended.is_ok() {
            if ending == Ending::Drop {
                // SAFETY: the object was live, only this call changed the tag, and no reference to
                // the object is used from here on.
                unsafe { (*slot.object.get()).assume_init_drop() };
            }
            let mut store = self.store.lock();
            store.free.push_back(slot);
            let has_fallen = store.peak.remove(1);
            drop(store);
            if has_fallen && ending == Ending::Drop {
                process::give_memory_back();
            }
        }
    }

    /// Replaces the first word `word` of dead objects.
    fn replace(&self, word: usize, by: usize) {
        let store = self.store.lock();
        let all = self.first.iter().chain(store.chunks.iter().copied().flatten()).take(store.used);
        for slot in all.filter(|slot| slot.head.tag.load(Ordering::Relaxed) & DEAD != 0) {
            let _ = slot.head.loader.compare_exchange(word, by, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// End of an object's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The object is dropped.
    Drop,
    /// The object is leaked, because in a forked process it belongs to threads that do not exist.
    Forget,
}

/// Types of objects in slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    Instance,
    PhysicalDevice,
    Device,
    Queue,
    CommandBuffer,
    Surface,
}

/// All tags, with the type of their handles.
const TAGS: [(Tag, vk::ObjectType); 6] = [
    (Tag::Instance, vk::ObjectType::INSTANCE),
    (Tag::PhysicalDevice, vk::ObjectType::PHYSICAL_DEVICE),
    (Tag::Device, vk::ObjectType::DEVICE),
    (Tag::Queue, vk::ObjectType::QUEUE),
    (Tag::CommandBuffer, vk::ObjectType::COMMAND_BUFFER),
    (Tag::Surface, vk::ObjectType::SURFACE_KHR),
];

impl Tag {
    /// Returns the tag of a live object: four ASCII letters.
    pub const fn word(self) -> u32 {
        u32::from_le_bytes(*match self {
            Self::Instance => b"inst",
            Self::PhysicalDevice => b"phys",
            Self::Device => b"devi",
            Self::Queue => b"queu",
            Self::CommandBuffer => b"comm",
            Self::Surface => b"surf",
        })
    }
}

/// Returns the handle type of a tag of a live or dead object.
fn object_type(tag: u32) -> Option<vk::ObjectType> {
    TAGS.iter().find(|(of, _)| of.word() == tag & !DEAD).map(|(_, of)| *of)
}

/// A type that dispatchable handles point to.
pub trait Marked: Sized + Send + Sync + 'static {
    /// Tag of the type: four ASCII letters.
    const TAG: u32;
    /// Number of objects that must be freed before an object's slot is reused.
    const KEPT: usize;

    /// Returns all slots of this type.
    fn slots() -> &'static Slots<Self>;

    /// Stores the object and returns its handle, which belongs to the instance with this number.
    /// The object lives until [`Marked::destroy`].
    fn into_handle(self, instance: u32) -> u64 {
        std::ptr::from_ref(Self::slots().put(self, instance)).addr() as u64
    }

    /// Returns the object of a handle, or `None` if it is null, stale or of another type. Sends a
    /// message for invalid handles other than null.
    #[inline]
    fn from_handle<'c, H: vk::Handle + Copy>(call: Call<'c>, handle: H) -> Option<&'c Self> {
        let slot = slot::<Self, H>(call, handle)?;
        // SAFETY: the tag shows that the object is live. By the contract of `Call::new`, the
        // application destroys no object while a call uses it.
        Some(unsafe { (*slot.object.get()).assume_init_ref() })
    }

    /// Ends the life of a handle's object. A null handle is ignored, and an invalid one is
    /// reported with a message.
    ///
    /// # Safety
    /// No reference to the object may be used from here on.
    unsafe fn end<H: vk::Handle + Copy>(call: Call<'_>, handle: H, ending: Ending) {
        if let Some(slot) = slot::<Self, H>(call, handle) {
            // SAFETY: the caller's contract.
            unsafe { Self::slots().end(slot, ending) };
        }
    }

    /// Destroys the object of a handle.
    ///
    /// # Safety
    /// No reference to the object may be used from here on.
    unsafe fn destroy<H: vk::Handle + Copy>(call: Call<'_>, handle: H) {
        // SAFETY: the caller's contract.
        unsafe { Self::end(call, handle, Ending::Drop) };
    }
}

/// Implements [`Marked`] for a type. The arguments are the type, its [`Tag`], and
/// [`Marked::KEPT`].
macro_rules! marked {
    ($ty:ty, $tag:ident, $kept:literal) => {
        impl $crate::slots::Marked for $ty {
            const TAG: u32 = $crate::slots::Tag::$tag.word();
            const KEPT: usize = $kept;

            fn slots() -> &'static $crate::slots::Slots<Self> {
                use $crate::slots::{FIRST, Slot, Slots};
                static FIRST_SLOTS: [Slot<$ty>; FIRST] = [const { Slot::empty() }; FIRST];
                static SLOTS: Slots<$ty> = Slots::new(&FIRST_SLOTS);
                &SLOTS
            }
        }
    };
}
pub(crate) use marked;

/// Returns the slot of a handle whose object is live.
#[inline]
fn slot<T: Marked, H: vk::Handle + Copy>(call: Call<'_>, handle: H) -> Option<&'static Slot<T>> {
    let head: &Head = call.get(handle.as_raw() as *const Head)?;
    if head.tag.load(Ordering::Acquire) == T::TAG {
        // SAFETY: the tag shows that this is a slot of this type, which is never freed.
        return Some(unsafe { &*(handle.as_raw() as *const Slot<T>) });
    }
    report_invalid(head, H::TYPE, handle.as_raw());
    None
}

/// Sends the message that a handle is invalid to the messengers of its instance and to the log.
#[cold]
fn report_invalid(head: &Head, wanted: vk::ObjectType, handle: u64) {
    let tag = head.tag.load(Ordering::Acquire);
    let text = match object_type(tag) {
        Some(found) if found != wanted => {
            format!("{wanted:?} handle {handle:#x} is a handle of type {found:?}: expected type {wanted:?}")
        }
        Some(_) => {
            format!("{wanted:?} handle {handle:#x} is stale: its object was freed or destroyed, so it must not be used")
        }
        None => format!("{wanted:?} handle {handle:#x} is foreign: expected a handle that this driver returned"),
    };
    let instance = object_type(tag).map(|_| head.instance.load(Ordering::Relaxed));
    messengers::messages_of(instance).error(&text);
}

/// First word of the loader's function tables of devices.
const TABLE_MAGIC: usize = 0x10AD_ED04_0410_ADED;
/// Number of functions in a table: more than Vulkan and its extensions have for devices.
const TABLE_FUNCTIONS: usize = 2048;

/// Sends the message that a handle is dead.
fn report_dead(call: Call<'_>, handle: *const Head) {
    if let Some(head) = call.get(handle) {
        let wanted = object_type(head.tag.load(Ordering::Acquire)).unwrap_or(vk::ObjectType::UNKNOWN);
        report_invalid(head, wanted, handle.addr() as u64);
    }
}

/// Replaces every function of a destroyed device except the two below.
unsafe extern "system" fn dead_function(handle: *const Head) -> i64 {
    // SAFETY: the loader passes the handle through which it found the table.
    unsafe {
        call::answer::<()>("call with a stale handle", (), |call| {
            report_dead(call, handle);
            Ok(())
        });
    }
    Error::DeviceLost.code().as_raw().into()
}

/// Replaces `vkGetDeviceProcAddr` of a destroyed device.
unsafe extern "system" fn dead_proc(handle: *const Head, _: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the loader passes the handle through which it found the table.
    unsafe {
        call::answer("call with a stale handle", (), |call| {
            report_dead(call, handle);
            Ok(None)
        })
    }
}

/// Replaces `vkGetDeviceQueue` of a destroyed device. It writes the output, because the loader
/// reads the queue.
unsafe extern "system" fn dead_queue(handle: *const Head, _: u32, _: u32, out: *mut vk::Queue) {
    // SAFETY: the loader passes the handle through which it found the table, and the application's
    // pointer.
    unsafe {
        call::answer("call with a stale handle", (), |call| {
            report_dead(call, handle);
            call.output(out).ok_or(Error::Unknown)?.write(vk::Queue::null());
            Result::Ok(())
        });
    }
}

/// Returns the address of the function table for dead handles of dead devices.
fn table() -> usize {
    static TABLE: OnceLock<Box<[usize]>> = OnceLock::new();
    let functions = || {
        let mut table = vec![dead_function as unsafe extern "system" fn(_) -> _ as usize; TABLE_FUNCTIONS];
        table[0] = TABLE_MAGIC;
        table[1] = dead_proc as unsafe extern "system" fn(_, _) -> _ as usize;
        table[3] = dead_queue as unsafe extern "system" fn(_, _, _, _) as usize;
        table.into()
    };
    TABLE.get_or_init(functions).as_ptr().addr()
}

/// Returns the loader's word of a handle, which is common to all handles of a device.
pub fn loader_word<T: Marked, H: vk::Handle + Copy>(call: Call<'_>, handle: H) -> usize {
    slot::<T, H>(call, handle).map_or(0, |slot| slot.head.loader.load(Ordering::Relaxed))
}

/// Replaces the function table of dead handles of a type by this library's table. `word` is the
/// table of a device, which the loader is about to free.
pub fn redirect_dead<T: Marked>(word: usize) {
    T::slots().replace(word, table());
}

#[cfg(test)]
mod tests {
    use ash::vk::Handle;

    use super::*;

    struct Thing(#[expect(dead_code, reason = "it counts references")] std::sync::Arc<()>);

    impl Marked for Thing {
        const TAG: u32 = 7;
        const KEPT: usize = 40;

        fn slots() -> &'static Slots<Self> {
            static FIRST_SLOTS: [Slot<Thing>; FIRST] = [const { Slot::empty() }; FIRST];
            static SLOTS: Slots<Thing> = Slots::new(&FIRST_SLOTS);
            &SLOTS
        }
    }

    #[test]
    fn slots_are_reused_in_order_and_late_and_objects_dropped_once() {
        // SAFETY: all handles are null or point to slots, which are never freed.
        let call = unsafe { Call::new() };
        let held = std::sync::Arc::new(());
        let make = || vk::CommandBuffer::from_raw(Thing(held.clone()).into_handle(0));
        let handles: Vec<vk::CommandBuffer> = (0..100).map(|_| make()).collect();
        let apart: std::collections::HashSet<u64> = handles.iter().map(|handle| handle.as_raw()).collect();
        assert_eq!((apart.len(), std::sync::Arc::strong_count(&held)), (100, 101));
        for &handle in &handles {
            assert!(Thing::from_handle(call, handle).is_some());
            // SAFETY: no reference to the object is kept.
            unsafe {
                Thing::destroy(call, handle);
                Thing::destroy(call, handle);
            }
            assert!(Thing::from_handle(call, handle).is_none());
        }
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
        let again: Vec<vk::CommandBuffer> = (0..70).map(|_| make()).collect();
        // 60 of the 100 freed slots are reused, the oldest first. The handles of the last 40 stay
        // stale.
        assert_eq!(again[..60], handles[..60]);
        assert!(again[60..].iter().all(|handle| !apart.contains(&handle.as_raw())));
        assert!(handles[60..].iter().all(|&handle| Thing::from_handle(call, handle).is_none()));
        // SAFETY: no reference to the object is kept.
        unsafe { Thing::end(call, again[0], Ending::Forget) };
        assert!(Thing::from_handle(call, again[0]).is_none());
        assert_eq!(std::sync::Arc::strong_count(&held), 71, "what is forgotten is not dropped");
    }

    #[test]
    fn dead_handles_lead_to_a_table_of_the_loaders_layout() {
        let words = table() as *const usize;
        // SAFETY: the table is never freed.
        let words = unsafe { std::slice::from_raw_parts(words, TABLE_FUNCTIONS) };
        assert_eq!(words[0], TABLE_MAGIC);
        assert!(words[1..].iter().all(|&function| function != 0));
        // SAFETY: a null pointer is allowed.
        assert_eq!(unsafe { dead_function(std::ptr::null()) }, -4);
    }
}
