//! A call from the application, and the types of entry points' parameters and results.
//!
//! By Vulkan's valid usage, a pointer of the application points to as many valid values as its
//! count says, until the call returns. It may be null where that is allowed. The driver cannot
//! check this. The stub that [`entry`](vitric_entry::entry) generates for each entry point
//! therefore creates the token [`Call`] with an unsafe function, whose caller guarantees that the
//! pointers of the call are valid.
//!
//! All memory behind the application's pointers is accessed through the token. References to it
//! have the token's lifetime, which ends before the stub returns. A pointer in a structure is read
//! with the count that the structure's specification names for it.

mod answer;

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use ash::vk::{self, TaggedStructure};
use vitric_api::{Error, Result};
use vitric_base::host_memory;

pub use self::answer::{Answer, PanicTarget, answer};

/// Size in bytes from which on the host's memory is checked for the full size.
const LARGE_BYTES: usize = 1 << 20;

/// Checks that the host has memory for an object of a size in bytes.
///
/// # Errors
/// [`Error::OutOfHostMemory`] if it has not.
pub fn room_for(bytes: usize) -> Result<()> {
    let has_room = if bytes < LARGE_BYTES { host_memory::has_margin() } else { host_memory::has_room(bytes) };
    if has_room { Ok(()) } else { Err(Error::OutOfHostMemory) }
}

/// Token of a call from the application. The application's pointers are valid during its lifetime.
#[derive(Clone, Copy)]
pub struct Call<'c>(PhantomData<&'c ()>);

impl<'c> Call<'c> {
    /// Creates the token of the current call.
    ///
    /// # Safety
    /// For all of `'c`, each pointer that the application passed, directly or in a structure, must
    /// follow Vulkan's valid usage. It is null, or points to as many values as its count says.
    /// Only the driver may write output values, and nothing may write input values. Users of the
    /// token must pass only such pointers to it, each with its count, and must use each output
    /// pointer only once.
    pub const unsafe fn new() -> Self {
        Self(PhantomData)
    }

    /// Returns an input value, or `None` for a null pointer.
    #[inline]
    pub fn get<T>(self, pointer: *const T) -> Option<&'c T> {
        // SAFETY: by the contract of `Call::new`, the pointer is null or points to a value that is
        // valid for `'c`.
        unsafe { pointer.as_ref() }
    }

    /// Returns an input array, which is empty for a null pointer.
    #[inline]
    pub fn slice<T>(self, pointer: *const T, count: u32) -> &'c [T] {
        if pointer.is_null() || count == 0 {
            return &[];
        }
        // SAFETY: by the contract of `Call::new`, the pointer points to `count` values that are
        // valid for `'c`.
        unsafe { std::slice::from_raw_parts(pointer, count as usize) }
    }

    /// Returns an input array with its count. The pointer may be null.
    pub fn array<T>(self, pointer: *const T, count: u32) -> Array<'c, T> {
        Array { pointer, count, call: self }
    }

    /// Returns an output list whose count is in an output structure.
    pub fn list<T>(self, count: &'c mut u32, pointer: *mut T) -> Listing<'c, T> {
        Listing { pointer, count: Some(count), call: self }
    }

    /// Returns an output array with its count. The pointer may be null.
    pub fn array_mut<T>(self, pointer: *mut T, count: u32) -> ArrayMut<'c, T> {
        ArrayMut { pointer, count, call: self }
    }

    /// Returns an output value, or `None` for a null pointer.
    #[inline]
    pub fn output<T>(self, pointer: *mut T) -> Option<Out<'c, T>> {
        NonNull::new(pointer).map(|target| Out { target, life: PhantomData })
    }

    /// Returns an output array, which is empty for a null pointer.
    #[inline]
    pub fn outputs<T>(self, pointer: *mut T, count: usize) -> &'c mut [T] {
        if pointer.is_null() || count == 0 {
            return &mut [];
        }
        // SAFETY: by the contract of `Call::new`, the pointer points to `count` values that only
        // the driver writes during `'c`.
        unsafe { std::slice::from_raw_parts_mut(pointer, count) }
    }

    /// Returns the bytes behind an untyped pointer. The result is empty for a null pointer, and
    /// for sizes of 4 GiB or more.
    #[inline]
    pub fn bytes(self, pointer: *const c_void, count: usize) -> &'c [u8] {
        self.slice(pointer.cast(), u32::try_from(count).unwrap_or(0))
    }

    /// Returns a C string, or `None` for a null pointer.
    pub fn c_str(self, pointer: *const c_char) -> Option<&'c CStr> {
        // SAFETY: by the contract of `Call::new`, the pointer points to a C string that is valid
        // for `'c`.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
    }

    /// Returns a copy of a C string, which is empty for a null pointer.
    pub fn string(self, pointer: *const c_char) -> String {
        self.c_str(pointer).map_or_else(String::new, |text| text.to_string_lossy().into_owned())
    }

    /// Returns the structure of type `T` in a pNext chain. Unknown structures are skipped.
    pub fn find<T: TaggedStructure>(self, mut next: *const c_void) -> Option<&'c T> {
        while let Some(base) = self.get(next.cast::<vk::BaseInStructure<'_>>()) {
            if base.s_type == T::STRUCTURE_TYPE {
                return self.get(next.cast());
            }
            next = base.p_next.cast();
        }
        None
    }

    /// Returns all structures of type `T` in a pNext chain.
    pub fn find_all<T: TaggedStructure + 'c>(self, next: *const c_void) -> impl Iterator<Item = &'c T> {
        let after = move |found: &T| {
            let base: *const vk::BaseInStructure<'_> = std::ptr::from_ref(found).cast();
            self.get(base).and_then(|base| self.find(base.p_next.cast()))
        };
        std::iter::successors(self.find(next), move |found| after(found))
    }

    /// Returns the output structure of type `T` in a pNext chain.
    pub fn find_output<T: TaggedStructure>(self, mut next: *mut c_void) -> Option<Out<'c, T>> {
        while let Some(base) = self.get(next.cast::<vk::BaseOutStructure<'_>>()) {
            if base.s_type == T::STRUCTURE_TYPE {
                return self.output(next.cast());
            }
            next = base.p_next.cast();
        }
        None
    }

    /// Writes the output structure of type `T` in a pNext chain, if there is one. It keeps its
    /// position in the chain.
    pub fn put<T: TaggedStructure>(self, next: *mut c_void, value: T) {
        if let Some(out) = self.find_output::<T>(next) {
            out.fill(value);
        }
    }
}

/// An input structure that must not be null.
pub struct In<'c, T>(&'c T);

impl<'c, T> In<'c, T> {
    /// Returns the structure.
    pub fn get(self) -> &'c T {
        self.0
    }
}

impl<T> Deref for In<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

/// An output value that must not be null.
pub struct Out<'c, T> {
    target: NonNull<T>,
    life: PhantomData<&'c mut T>,
}

impl<'c, T> Out<'c, T> {
    /// Writes the value without reading the previous one.
    #[inline]
    pub fn write(&mut self, value: T) {
        // SAFETY: an output is created from a pointer to a value that only the driver writes
        // during `'c`.
        unsafe { self.target.write(value) };
    }

    /// Returns a mutable reference to the value.
    #[inline]
    pub fn get_mut(self) -> &'c mut T {
        let Self { mut target, .. } = self;
        // SAFETY: an output is created from a pointer to a value that only the driver writes
        // during `'c`, and `self` is consumed.
        unsafe { target.as_mut() }
    }
}

impl<T> Deref for Out<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: an output is created from a pointer to a value that only the driver writes
        // during `'c`.
        unsafe { self.target.as_ref() }
    }
}

impl<T> DerefMut for Out<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: an output is created from a pointer to a value that only the driver writes
        // during `'c`.
        unsafe { self.target.as_mut() }
    }
}

impl<T: TaggedStructure> Out<'_, T> {
    /// Writes a structure, which keeps its position in its chain.
    pub fn fill(self, value: T) {
        let out = self.target.cast::<vk::BaseOutStructure<'_>>();
        // SAFETY: each structure of a chain begins with a type and the pointer to the next one.
        // The output is created from a pointer to a structure that only the driver writes during
        // `'c`.
        unsafe {
            let next = (*out.as_ptr()).p_next;
            self.target.write(value);
            (*out.as_ptr()).p_next = next;
        }
    }
}

/// An output for the handle of a new object. The handle is null until it is written.
pub struct New<'c, H>(Out<'c, H>);

impl<H: vk::Handle> New<'_, H> {
    /// Writes the handle.
    #[inline]
    pub fn put(mut self, handle: u64) -> vk::Result {
        self.0.write(H::from_raw(handle));
        vk::Result::SUCCESS
    }
}

/// An input array: a count and a pointer.
pub struct Array<'c, T> {
    pointer: *const T,
    count: u32,
    call: Call<'c>,
}

impl<T> Clone for Array<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<'_, T> {}

impl<'c, T> Array<'c, T> {
    /// Returns true if the pointer is null but the count is not 0.
    #[inline]
    pub fn is_missing(self) -> bool {
        self.count > 0 && self.pointer.is_null()
    }

    /// Returns the number of values, even if the pointer is null.
    #[inline]
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns the values; empty for a null pointer.
    #[inline]
    pub fn get(self) -> &'c [T] {
        self.call.slice(self.pointer, self.count)
    }

    /// Returns values that begin `stride` bytes apart; empty for a null pointer.
    pub fn strided(self, stride: u32) -> impl Iterator<Item = &'c T>
    where
        T: 'c,
    {
        let count = if self.pointer.is_null() { 0 } else { self.count as usize };
        (0..count).filter_map(move |number| self.call.get(self.pointer.wrapping_byte_add(number * stride as usize)))
    }
}

/// An output array: a count and a pointer.
pub struct ArrayMut<'c, T> {
    pointer: *mut T,
    count: u32,
    call: Call<'c>,
}

impl<'c, T> ArrayMut<'c, T> {
    /// Returns true if the pointer is null but the count is not 0.
    pub fn is_missing(&self) -> bool {
        self.count > 0 && self.pointer.is_null()
    }

    /// Returns the number of values, even if the pointer is null.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the values; empty for a null pointer.
    pub fn get_mut(self) -> &'c mut [T] {
        self.call.outputs(self.pointer, self.count as usize)
    }
}

/// An output list. The application queries its length with a null pointer, and its values with a
/// second call. Source: Vulkan specification, "Commands for Querying Lists".
pub struct Listing<'c, T> {
    pointer: *mut T,
    count: Option<&'c mut u32>,
    call: Call<'c>,
}

impl<T> Listing<'_, T> {
    /// Writes the length of the list, or as many items as the array has room for.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the count's pointer is null.
    pub fn put(self, items: &[T]) -> Result<vk::Result>
    where
        T: Clone,
    {
        self.put_with(items.iter(), |out, item| *out = item.clone())
    }

    /// Writes the length of the list, or calls a function to write as many items as the array has
    /// room for.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the count's pointer is null.
    pub fn put_with<I>(
        self,
        items: impl ExactSizeIterator<Item = I>,
        mut write: impl FnMut(&mut T, I),
    ) -> Result<vk::Result> {
        let (count, all) = (self.count.ok_or(Error::Unknown)?, items.len());
        if self.pointer.is_null() {
            *count = all as u32;
            return Ok(vk::Result::SUCCESS);
        }
        let room = (*count as usize).min(all);
        self.call.outputs(self.pointer, room).iter_mut().zip(items).for_each(|(out, item)| write(out, item));
        *count = room as u32;
        Ok(if room < all { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS })
    }
}

/// Input bytes: a size and a pointer. They are empty for a null pointer, and for sizes of 4 GiB or
/// more.
pub struct Bytes<'c>(&'c [u8]);

impl<'c> Bytes<'c> {
    /// Returns the bytes.
    #[inline]
    pub fn get(self) -> &'c [u8] {
        self.0
    }
}

/// Output bytes: a size and a pointer.
pub struct BytesMut<'c> {
    pointer: *mut u8,
    size: usize,
    call: Call<'c>,
}

impl<'c> BytesMut<'c> {
    /// Returns true if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.pointer.is_null()
    }

    /// Returns the number of bytes, even if the pointer is null.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the bytes; empty for a null pointer.
    pub fn get_mut(self) -> &'c mut [u8] {
        self.call.outputs(self.pointer, self.size)
    }
}

/// A parameter of an entry point that has another type in C.
pub trait Typed: Sized {
    /// The type in C.
    type Raw;
    /// The token with the lifetime of this type.
    type Scope;
}

/// A parameter that is converted from a C parameter.
pub trait Param: Typed {
    /// Runs before any parameter is converted.
    ///
    /// # Errors
    /// The error that the command returns.
    #[inline]
    fn prepare(_: Self::Raw, _: Self::Scope) -> Result<()> {
        Ok(())
    }

    /// Converts the parameter.
    ///
    /// # Errors
    /// The error that the command returns.
    fn translate(raw: Self::Raw, call: Self::Scope) -> Result<Self>;
}

/// A parameter that is converted from a pointer and from the count of type `L` before it.
pub trait Counted<L>: Typed {
    /// Converts the pointer and the count.
    fn translate(raw: Self::Raw, count: L, call: Self::Scope) -> Self;
}

macro_rules! typed {
    ($($(@$generic:ident)? $ty:ty => $raw:ty;)+) => {
        $(impl<'c $(, $generic)?> Typed for $ty {
            type Raw = $raw;
            type Scope = Call<'c>;
        })+
    };
}
typed! {
    @T Option<&'c T> => *const T;
    @T In<'c, T> => *const T;
    @T Out<'c, T> => *mut T;
    @T Option<Out<'c, T>> => *mut T;
    @H New<'c, H> => *mut H;
    @T Array<'c, T> => *const T;
    @T ArrayMut<'c, T> => *mut T;
    @T Listing<'c, T> => *mut T;
    Bytes<'c> => *const c_void;
    BytesMut<'c> => *mut c_void;
}

impl<'c, T> Param for Option<&'c T> {
    #[inline]
    fn translate(raw: *const T, call: Call<'c>) -> Result<Self> {
        Ok(call.get(raw))
    }
}

impl<'c, T> Param for In<'c, T> {
    #[inline]
    fn translate(raw: *const T, call: Call<'c>) -> Result<Self> {
        call.get(raw).map(Self).ok_or(Error::Unknown)
    }
}

impl<'c, T> Param for Out<'c, T> {
    #[inline]
    fn translate(raw: *mut T, call: Call<'c>) -> Result<Self> {
        call.output(raw).ok_or(Error::Unknown)
    }
}

impl<'c, T> Param for Option<Out<'c, T>> {
    #[inline]
    fn translate(raw: *mut T, call: Call<'c>) -> Result<Self> {
        Ok(call.output(raw))
    }
}

impl<'c, H: vk::Handle> Param for New<'c, H> {
    fn prepare(raw: *mut H, call: Call<'c>) -> Result<()> {
        call.output(raw).ok_or(Error::Unknown)?.write(H::from_raw(0));
        room_for(0)
    }

    #[inline]
    fn translate(raw: *mut H, call: Call<'c>) -> Result<Self> {
        call.output(raw).map(Self).ok_or(Error::Unknown)
    }
}

impl<'c, T> Counted<u32> for Array<'c, T> {
    #[inline]
    fn translate(pointer: *const T, count: u32, call: Call<'c>) -> Self {
        Self { pointer, count, call }
    }
}

impl<'c, T> Counted<u32> for ArrayMut<'c, T> {
    #[inline]
    fn translate(pointer: *mut T, count: u32, call: Call<'c>) -> Self {
        Self { pointer, count, call }
    }
}

impl<'c, T> Counted<*mut u32> for Listing<'c, T> {
    #[inline]
    fn translate(pointer: *mut T, count: *mut u32, call: Call<'c>) -> Self {
        Self { pointer, count: call.output(count).map(Out::get_mut), call }
    }
}

impl<'c> Counted<u32> for Bytes<'c> {
    #[inline]
    fn translate(pointer: *const c_void, size: u32, call: Call<'c>) -> Self {
        Self(call.slice(pointer.cast(), size))
    }
}

impl<'c> Counted<u64> for Bytes<'c> {
    #[inline]
    fn translate(pointer: *const c_void, size: u64, call: Call<'c>) -> Self {
        Self(call.bytes(pointer, size as usize))
    }
}

impl<'c> Counted<usize> for BytesMut<'c> {
    #[inline]
    fn translate(pointer: *mut c_void, size: usize, call: Call<'c>) -> Self {
        Self { pointer: pointer.cast(), size, call }
    }
}

/// Copies a name with its terminator into a fixed array of characters.
pub fn put_name(target: &mut [c_char], name: &str) {
    let room = target.len() - 1;
    target.fill(0);
    for (slot, byte) in target[..room].iter_mut().zip(name.bytes()) {
        *slot = byte as c_char;
    }
}

#[cfg(test)]
mod tests {
    use ash::vk::Handle;
    use vitric_entry::entry;

    use super::*;

    /// A handle that cannot be converted.
    struct Refused;

    impl<'c> Typed for &'c Refused {
        type Raw = u64;
        type Scope = Call<'c>;
    }

    impl<'c> Param for &'c Refused {
        fn translate(_: u64, _: Call<'c>) -> Result<Self> {
            Err(Error::DeviceLost)
        }
    }

    #[entry(vkCreate)]
    fn create(_object: &Refused, out: New<'_, vk::Fence>) -> Result<vk::Result> {
        Ok(out.put(7))
    }

    #[entry(vkSum)]
    fn sum(
        _: u32,
        #[len] count: u32,
        values: Array<'_, u32>,
        others: Array<'_, u32>,
        #[len] size: u64,
        bytes: Bytes<'_>,
        mut out: Out<'_, u32>,
    ) -> Result<()> {
        let bytes = bytes.get().iter().map(|&byte| u32::from(byte));
        *out = values.get().iter().chain(others.get()).copied().chain(bytes).sum();
        Ok(())
    }

    #[entry(vkList)]
    fn list(#[len] count: *mut u32, out: Listing<'_, u32>) -> Result<vk::Result> {
        out.put(&[1, 2, 3])
    }

    #[entry(vkPanic)]
    fn panic(value: u32) -> Result<vk::Result> {
        assert!(value == 0);
        Ok(vk::Result::SUCCESS)
    }

    #[test]
    fn a_new_handle_is_null_when_another_parameter_is_refused() {
        let mut made = vk::Fence::from_raw(9);
        // SAFETY: the pointers are null or point to a handle.
        let codes = unsafe { [vkCreate(0, &raw mut made), vkCreate(0, std::ptr::null_mut())] };
        assert_eq!(codes, [vk::Result::ERROR_DEVICE_LOST, vk::Result::ERROR_UNKNOWN]);
        assert_eq!(made, vk::Fence::null());
        // SAFETY: the pointer points to a handle.
        let call = unsafe { Call::new() };
        assert_eq!(create(&Refused, New(call.output(&raw mut made).unwrap())), Ok(vk::Result::SUCCESS));
        assert_eq!(made, vk::Fence::from_raw(7));
    }

    #[test]
    fn arrays_share_their_count_and_null_pointers_are_empty() {
        let (values, bytes, mut out) = ([1, 20, 300], [1_u8, 2], 0);
        let null = std::ptr::null();
        // SAFETY: each pointer is null or points to as many values as its count says.
        unsafe {
            vkSum(0, 3, values.as_ptr(), values.as_ptr(), 2, bytes.as_ptr().cast(), &raw mut out);
            assert_eq!(out, 645);
            vkSum(0, 3, null, values.as_ptr(), 2, std::ptr::null(), &raw mut out);
            assert_eq!(out, 321);
            vkSum(0, 3, values.as_ptr(), values.as_ptr(), 0, std::ptr::null(), std::ptr::null_mut());
        }
    }

    #[test]
    fn lists_tell_their_length_and_fill_what_room_there_is() {
        let (mut count, mut room) = (0, [0; 4]);
        // SAFETY: each pointer is null or points to as many values as its count says.
        let ask = |count: &mut u32, out: Option<&mut [u32; 4]>| unsafe {
            vkList(count, out.map_or(std::ptr::null_mut(), |out| out.as_mut_ptr()))
        };
        assert_eq!((ask(&mut count, None), count), (vk::Result::SUCCESS, 3));
        count = 2;
        assert_eq!(ask(&mut count, Some(&mut room)), vk::Result::INCOMPLETE);
        assert_eq!((count, room), (2, [1, 2, 0, 0]));
        count = 4;
        assert_eq!(ask(&mut count, Some(&mut room)), vk::Result::SUCCESS);
        assert_eq!((count, room), (3, [1, 2, 3, 0]));
        // SAFETY: the function refuses null pointers.
        assert_eq!(unsafe { vkList(std::ptr::null_mut(), room.as_mut_ptr()) }, vk::Result::ERROR_UNKNOWN);
    }

    #[test]
    fn panics_end_at_the_stub() {
        // SAFETY: there are no pointers.
        assert_eq!(unsafe { [vkPanic(0), vkPanic(1)] }, [vk::Result::SUCCESS, vk::Result::ERROR_UNKNOWN]);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn bodies_run_in_the_standard_floating_point_environment() {
        use std::hint::black_box;
        let is_exact = || black_box(f32::MIN_POSITIVE) * black_box(0.5) > 0.0;
        // SAFETY: the values set no reserved bit: the first flushes subnormal numbers, as audio
        // programs do, and the second is the initial value. The body does not use its token.
        let exact = unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &0x9FC0_u32);
            let exact = (is_exact(), answer("vkTest", (), |_| Ok(Ok(u32::from(is_exact())))));
            std::arch::asm!("ldmxcsr [{}]", in(reg) &0x1F80_u32);
            exact
        };
        assert_eq!(exact, (false, 1));
    }

    #[test]
    fn structures_of_output_stay_in_their_chain() {
        let mut last = vk::PhysicalDeviceVulkan12Features::default();
        let next = (&raw mut last).cast();
        let mut middle = vk::PhysicalDeviceVulkan11Features { p_next: next, ..Default::default() };
        let first = vk::PhysicalDeviceFeatures2 { p_next: (&raw mut middle).cast(), ..Default::default() };
        // SAFETY: the chain lives until the end of the test, and is only used through the token.
        let call = unsafe { Call::new() };
        call.put(first.p_next, vk::PhysicalDeviceVulkan11Features::default().multiview(true));
        let found: &vk::PhysicalDeviceVulkan11Features<'_> = call.find(first.p_next).unwrap();
        assert_eq!(found.multiview, vk::TRUE);
        assert!(call.find::<vk::PhysicalDeviceVulkan12Features<'_>>(first.p_next).is_some());
        assert!(call.find::<vk::PhysicalDeviceVulkan13Features<'_>>(first.p_next).is_none());
    }

    #[test]
    fn values_may_lie_further_apart_than_their_size() {
        let values = [1_u32, 2, 3, 4, 5];
        // SAFETY: the array has three values that begin 8 bytes apart.
        let call = unsafe { Call::new() };
        let strided = |pointer, count| call.array(pointer, count).strided(8).copied().collect::<Vec<u32>>();
        assert_eq!(strided(values.as_ptr(), 3), [1, 3, 5]);
        assert!(strided(std::ptr::null(), 3).is_empty());
    }
}
