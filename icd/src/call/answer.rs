//! Results of entry points, and the frame in which their bodies run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;
use vitric_api::{Error, Result};
use vitric_base::host_thread::StandardFloats;
use vitric_base::panics;

use super::Call;

/// Result of an entry point.
pub trait Answer {
    /// The type in C.
    type Raw;

    /// Returns the value for C.
    fn into_raw(self) -> Self::Raw;

    /// Returns the value for C of a call that fails before the entry point runs, or that panics.
    fn failed(error: Error) -> Self::Raw;
}

impl Answer for () {
    type Raw = ();

    #[inline]
    fn into_raw(self) {}

    #[inline]
    fn failed(_: Error) {}
}

/// Commands without a result drop the error, because a message was sent.
impl Answer for Result<()> {
    type Raw = ();

    #[inline]
    fn into_raw(self) {}

    #[inline]
    fn failed(_: Error) {}
}

impl Answer for Result<vk::Result> {
    type Raw = vk::Result;

    #[inline]
    fn into_raw(self) -> vk::Result {
        self.unwrap_or_else(Error::code)
    }

    #[inline]
    fn failed(error: Error) -> vk::Result {
        error.code()
    }
}

/// A result code of a command without other errors.
impl Answer for vk::Result {
    type Raw = Self;

    fn into_raw(self) -> Self {
        self
    }

    fn failed(error: Error) -> Self {
        error.code()
    }
}

/// Addresses and Boolean values: 0 for an error.
macro_rules! numbers {
    ($($ty:ty),+) => { $(impl Answer for Result<$ty> {
        type Raw = $ty;

        fn into_raw(self) -> $ty {
            self.unwrap_or(0)
        }

        fn failed(_: Error) -> $ty {
            0
        }
    })+ };
}
numbers!(u32, u64);

/// A function of the driver, or null.
impl Answer for vk::PFN_vkVoidFunction {
    type Raw = Self;

    fn into_raw(self) -> Self {
        self
    }

    fn failed(_: Error) -> Self {
        None
    }
}

/// First parameter of an entry point. A panic of the entry point is reported to it.
pub trait PanicTarget: Copy {
    /// Reports a panic in `command` and returns the result of the call.
    fn report(self, call: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error;
}

/// Entry points without a dispatchable handle report to the log.
impl PanicTarget for () {
    fn report(self, _: Call<'_>, command: &str, panic: &(dyn Any + Send)) -> Error {
        log::error!(target: "vitric", "{command}: {}", panics::describe(panic));
        Error::Unknown
    }
}

/// Runs the body of the entry point `command` in the standard floating-point environment, because
/// it may compile or execute programs. Errors become result codes. A panic is reported to
/// `target`, and does not leave the function.
///
/// # Safety
/// The contract of [`Call::new`], for the duration of this call.
#[inline]
pub unsafe fn answer<R: Answer>(
    command: &'static str,
    target: impl PanicTarget,
    work: impl FnOnce(Call<'_>) -> Result<R>,
) -> R::Raw {
    let _environment = StandardFloats::set();
    // SAFETY: the caller fulfils the contract of `Call::new` for the duration of this call. `work`
    // accepts any lifetime and returns no reference, so no value with the token's lifetime
    // outlives this function.
    let call = unsafe { Call::new() };
    match catch_unwind(AssertUnwindSafe(|| work(call))) {
        Ok(Ok(result)) => result.into_raw(),
        Ok(Err(error)) => R::failed(error),
        Err(panic) => R::failed(report_panic(call, command, target, &*panic)),
    }
}

/// Reports a panic, whose report may panic too.
#[cold]
fn report_panic(call: Call<'_>, command: &str, target: impl PanicTarget, panic: &(dyn Any + Send)) -> Error {
    catch_unwind(AssertUnwindSafe(|| target.report(call, command, panic))).unwrap_or(Error::Unknown)
}
