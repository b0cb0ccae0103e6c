//! Threads of the host: those that Vitric starts, and those of the application that call it.
//!
//! A new thread inherits the floating-point environment of the thread that starts it, and an
//! application's thread may have any environment. Results depend on the environment, so all code
//! runs in the standard one: rounding to nearest, subnormal numbers, no traps. Source: Intel SDM,
//! volume 1, "MXCSR Control and Status Register".

use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::thread::JoinHandle;

use crate::host_memory;

/// Starts a thread in the standard floating-point environment.
///
/// # Errors
/// The host has no memory for the thread, or refuses to start it.
pub fn spawn(name: impl Into<String>, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    if !host_memory::has_room_for_threads(1) {
        return Err(Error::new(ErrorKind::OutOfMemory, "the host has no room for the stack of a thread"));
    }
    std::thread::Builder::new().name(name.into()).spawn(move || {
        let _environment = StandardFloats::set();
        work();
    })
}

/// The standard floating-point environment of the thread. Dropping the value restores the previous
/// environment.
#[derive(Debug)]
pub struct StandardFloats {
    /// The previous environment, if it was another one.
    #[cfg(target_arch = "x86_64")]
    previous: Option<u32>,
}

/// Value of the register in a new process: all exceptions masked, rounding to nearest, no flushing
/// to zero.
#[cfg(target_arch = "x86_64")]
const STANDARD: u32 = 0x1F80;

/// Flags that record exceptions. They control nothing, and calls need not preserve them (System V
/// ABI, "Registers and the Stack Frame").
#[cfg(target_arch = "x86_64")]
const RECORDS: u32 = 0x3F;

impl StandardFloats {
    /// Sets the standard environment.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn set() -> Self {
        let previous = Some(mxcsr()).filter(|previous| previous & !RECORDS != STANDARD);
        if previous.is_some() {
            set_mxcsr(STANDARD);
        }
        Self { previous }
    }

    /// Does nothing: the environment of other processors is not known here.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn set() -> Self {
        Self {}
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for StandardFloats {
    #[inline]
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            set_mxcsr(previous);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn mxcsr() -> u32 {
    let mut value = 0_u32;
    // SAFETY: the instruction stores 4 bytes at the address of `value`, and changes nothing else.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn set_mxcsr(value: u32) {
    // SAFETY: the instruction loads 4 bytes from the address of `value`. The value was read from
    // the register or is its initial one, so it sets no reserved bit.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly)) };
}

/// Bytes of stack that [`has_stack`] asks for (1 MiB).
pub const STACK_BYTES: usize = 1 << 20;

/// Bytes by which a stack grows in advance: more than are asked for, so that a somewhat deeper call
/// finds them too.
const GROWTH_BYTES: usize = STACK_BYTES + STACK_BYTES / 4;

/// The current thread's stack.
#[derive(Clone, Copy)]
struct Stack {
    /// Lowest address to which the stack may grow.
    lowest: usize,
    /// Lowest address that is known to be mapped.
    mapped: usize,
    end: usize,
}

/// Returns true if [`STACK_BYTES`] are left on the stack of the current thread. Returns false if
/// the thread runs on another stack than its own, or on one of unknown size.
///
/// The stack of the first thread grows when it is used, and the process ends if the system has no
/// memory for it then. The first call therefore lets it grow, if the host has the memory.
pub fn has_stack() -> bool {
    thread_local! {
        static STACK: Cell<Option<Stack>> = const { Cell::new(None) };
    }
    let local = 0_u8;
    let here = (&raw const local).addr();
    STACK.with(|cell| {
        let mut stack = cell.get().unwrap_or_else(|| Stack::current(here));
        let has_stack = stack.has(here);
        cell.set(Some(stack));
        has_stack
    })
}

impl Stack {
    fn current(here: usize) -> Self {
        let Range { start: lowest, end } = stack();
        // SAFETY: the functions have no preconditions.
        let is_first = unsafe { libc::gettid() == libc::getpid() };
        Self { lowest, mapped: if is_first { here } else { lowest }, end }
    }

    fn has(&mut self, here: usize) -> bool {
        if !(self.lowest..self.end).contains(&here) {
            return false;
        }
        // The frames that let the stack grow need some bytes themselves.
        let grows = here.saturating_sub(self.mapped) < STACK_BYTES && here - self.lowest >= 2 * STACK_BYTES;
        if grows && host_memory::has_room(2 * STACK_BYTES) {
            grow();
            self.mapped = here - GROWTH_BYTES;
        }
        here.saturating_sub(self.mapped) >= STACK_BYTES
    }
}

/// Uses [`GROWTH_BYTES`] of the stack, so that they are mapped.
#[cold]
#[inline(never)]
fn grow() {
    std::hint::black_box(&[0_u8; GROWTH_BYTES]);
}

/// Returns the addresses of the current thread's stack; empty if the system does not know them.
fn stack() -> Range<usize> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the handle is the current thread's, and the function initializes the attributes if
    // it succeeds.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return 0..0;
    }
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are initialized. The second function frees what the first call
    // allocated for them, and nothing uses them afterwards.
    let is_known = unsafe {
        let result = libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        result == 0
    };
    if is_known { lowest.addr()..lowest.addr().saturating_add(size) } else { 0..0 }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn stacks_have_what_their_threads_asked_for() {
        let has_stack = |bytes| std::thread::Builder::new().stack_size(bytes).spawn(has_stack).unwrap().join().unwrap();
        assert_eq!([STACK_BYTES / 2, STACK_BYTES * 3 / 2].map(has_stack), [false, true]);
    }

    #[test]
    fn a_growing_stack_is_used_where_it_is_mapped() {
        let here = 64 << 20;
        let mut small = Stack { lowest: here - STACK_BYTES, mapped: here, end: here + 1 };
        assert!(!small.has(here) && small.mapped == here, "there is no room to grow");
        let large = move || {
            let mut large = Stack { lowest: here - (8 << 20), mapped: here, end: here + 1 };
            assert!(large.has(here) && large.mapped == here - GROWTH_BYTES);
            assert!(large.has(here - 4096) && large.mapped == here - GROWTH_BYTES, "it need not grow again");
            assert!(!large.has(here + 1) && !large.has(large.lowest), "outside of the stack, and at its end");
        };
        // The stack of this thread grows, too, so it must be larger than the default for tests.
        std::thread::Builder::new().stack_size(4 << 20).spawn(large).unwrap().join().unwrap();
    }

    /// Flushes subnormal results and operands to zero.
    #[cfg(target_arch = "x86_64")]
    const FLUSHES: u32 = 0x9FC0;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_environment_of_the_application_is_set_aside_and_restored() {
        let half = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        set_mxcsr(FLUSHES);
        assert_eq!(half(), 0.0);
        {
            let _environment = StandardFloats::set();
            assert!(half() > 0.0);
        }
        assert_eq!((mxcsr() & FLUSHES, half()), (FLUSHES, 0.0));
        let (sends, received) = std::sync::mpsc::channel();
        spawn("vitric-test", move || sends.send(half()).unwrap()).unwrap().join().unwrap();
        set_mxcsr(STANDARD);
        assert!(received.recv().unwrap() > 0.0, "a thread does not inherit the environment");
    }
}
