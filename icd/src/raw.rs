//! What the application's pointers point to.
//!
//! Vulkan's valid usage is the contract of this file: a pointer parameter is null where that is allowed, or points to as
//! many valid values as its count says, for the time of the call. Nothing can check that, so the functions are safe to call
//! in the same sense in which the entry points are: they trust the C side of the boundary, and check for null.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk::{self, TaggedStructure};
use vitric_api::{Error, Result};
use vitric_base::host_memory;

/// An input structure.
pub fn input<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: by the contract of this file the pointer is null or points to a valid value.
    unsafe { pointer.as_ref() }
}

/// An output value.
pub fn output<'a, T>(pointer: *mut T) -> Option<&'a mut T> {
    // SAFETY: by the contract of this file the pointer is null or points to a value that is ours to write.
    unsafe { pointer.as_mut() }
}

/// An input array; empty when null.
pub fn slice<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by the contract of this file the pointer is to `count` valid values.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// An output array; empty when null.
pub fn slice_mut<'a, T>(pointer: *mut T, count: usize) -> &'a mut [T] {
    if pointer.is_null() || count == 0 {
        return &mut [];
    }
    // SAFETY: by the contract of this file the pointer is to `count` values that are ours to write.
    unsafe { std::slice::from_raw_parts_mut(pointer, count) }
}

/// Bytes behind an untyped pointer; empty when null.
pub fn bytes<'a>(pointer: *const c_void, count: usize) -> &'a [u8] {
    slice(pointer.cast(), u32::try_from(count).unwrap_or(0))
}

/// A C string; empty when null.
pub fn string(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: by the contract of this file the pointer is to a C string.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The structure of type `T` in a pNext chain. Unknown structures are passed over.
pub fn find<'a, T: TaggedStructure>(mut next: *const c_void) -> Option<&'a T> {
    while let Some(base) = input(next.cast::<vk::BaseInStructure<'_>>()) {
        if base.s_type == T::STRUCTURE_TYPE {
            return input(next.cast());
        }
        next = base.p_next.cast();
    }
    None
}

/// Writes a structure of output, if the chain has one of its type. It stays in its place in the chain.
pub fn put<T: TaggedStructure>(mut next: *mut c_void, value: T) {
    while let Some(base) = output(next.cast::<vk::BaseOutStructure<'_>>()) {
        let (kind, behind) = (base.s_type, base.p_next);
        if kind == T::STRUCTURE_TYPE {
            fill(next.cast(), value);
            return;
        }
        next = behind.cast();
    }
}

/// The structure of output of type `T` in a chain.
pub fn find_out<'a, T: TaggedStructure>(mut next: *mut c_void) -> Option<&'a mut T> {
    while let Some(base) = output(next.cast::<vk::BaseOutStructure<'_>>()) {
        if base.s_type == T::STRUCTURE_TYPE {
            return output(next.cast());
        }
        next = base.p_next.cast();
    }
    None
}

/// Writes a structure of output. It stays in its place in the chain.
pub fn fill<T: TaggedStructure>(out: *mut T, value: T) {
    let Some(behind) = output(out.cast::<vk::BaseOutStructure<'_>>()).map(|base| base.p_next) else { return };
    if let Some(out) = output(out) {
        *out = value;
    }
    if let Some(base) = output(out.cast::<vk::BaseOutStructure<'_>>()) {
        base.p_next = behind;
    }
}

/// The two-call idiom: tells the count, or writes as many items as there is room for.
pub fn enumerate<T: Clone>(items: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    let Some(count) = output(count) else { return vk::Result::ERROR_UNKNOWN };
    if out.is_null() {
        *count = items.len() as u32;
        return vk::Result::SUCCESS;
    }
    let room = (*count as usize).min(items.len());
    slice_mut(out, room).clone_from_slice(&items[..room]);
    *count = room as u32;
    if room < items.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

/// Copies a name into a fixed array of characters, with its end.
pub fn put_name(target: &mut [c_char], name: &str) {
    let room = target.len() - 1;
    target.fill(0);
    for (slot, byte) in target[..room].iter_mut().zip(name.bytes()) {
        *slot = byte as c_char;
    }
}

/// Runs the inside of an entry point: errors become codes, and panics end here.
pub fn guard(work: impl FnOnce() -> Result<vk::Result>) -> vk::Result {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => error.code(),
        Err(_) => Error::Unknown.code(),
    }
}

/// Runs the inside of an entry point that returns nothing.
pub fn guard_void(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}

/// Bytes from which on each allocation is asked for beforehand.
const LARGE: usize = 1 << 20;

/// Checks that the host has memory for something of some bytes.
///
/// # Errors
/// [`Error::OutOfHostMemory`] when it has not.
pub fn room_for(bytes: usize) -> Result<()> {
    let is_there = if bytes < LARGE { host_memory::has_margin() } else { host_memory::has_room(bytes) };
    if is_there { Ok(()) } else { Err(Error::OutOfHostMemory) }
}

/// Runs the inside of an entry point that creates something.
pub fn create<H: vk::Handle>(out: *mut H, work: impl FnOnce() -> Result<u64>) -> vk::Result {
    guard(|| {
        let out = output(out).ok_or(Error::Unknown)?;
        *out = H::from_raw(0);
        room_for(0)?;
        *out = H::from_raw(work()?);
        Ok(vk::Result::SUCCESS)
    })
}
