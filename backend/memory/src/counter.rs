//! Counters that threads of one or several processes wait for; fences and semaphores consist of
//! them.
//!
//! A second word counts the changes, and waiting threads sleep on this word (futex(2)). A thread
//! that changes the counter wakes the sleeping threads, if there are any. No thread ever holds a
//! lock, so a process that dies during a change leaves nothing locked. Source: Vulkan
//! specification, "Synchronization and Cache Control".

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use super::shared::{SharedFile, Shares};

/// CounterFields of a counter, as they lie in a shared file.
#[derive(Debug, Default)]
#[repr(C)]
struct CounterFields {
    value: AtomicU64,
    /// Number of changes. Waiting threads sleep on this word.
    changes: AtomicU32,
    /// Number of threads that may be asleep. A process that dies while it waits is never
    /// subtracted. It costs one system call for each later change.
    sleepers: AtomicU32,
}

const BYTES: u64 = size_of::<CounterFields>() as u64;

/// CounterOwner of the fields.
#[derive(Debug)]
enum CounterStorage {
    Private(Box<CounterFields>),
    Shared(SharedFile),
}

/// 64-bit number whose changes threads can wait for.
#[derive(Debug)]
pub struct Counter(CounterStorage);

impl Counter {
    /// Creates a counter that is private to this process.
    pub fn new(value: u64) -> Self {
        Self(CounterStorage::Private(Box::new(CounterFields {
            value: AtomicU64::new(value),
            ..CounterFields::default()
        })))
    }

    /// Creates a counter that other processes can open.
    ///
    /// # Errors
    /// An error of the system.
    pub fn shared(shares: Shares, value: u64) -> io::Result<Self> {
        let made = Self(CounterStorage::Shared(SharedFile::create(shares, BYTES)?));
        made.fields().value.store(value, Ordering::SeqCst);
        Ok(made)
    }

    /// Opens the counter behind a descriptor. The caller keeps the descriptor.
    ///
    /// # Errors
    /// An error of the system, or a descriptor that is not a counter of this type.
    pub fn open(shares: Shares, descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self(CounterStorage::Shared(SharedFile::open(descriptor, shares, BYTES)?)))
    }

    /// Returns a descriptor of the counter, or `None` if the counter is private to this process.
    ///
    /// # Errors
    /// The process has too many open files.
    pub fn descriptor(&self) -> Option<io::Result<OwnedFd>> {
        match &self.0 {
            CounterStorage::Private(_) => None,
            CounterStorage::Shared(file) => Some(file.descriptor()),
        }
    }

    fn fields(&self) -> &CounterFields {
        match &self.0 {
            CounterStorage::Private(fields) => fields,
            // SAFETY: the mapping consists of whole pages, so it is aligned, and it lives as long
            // as `self`. The type consists of atomics, for which any bits are valid, whichever
            // process writes them.
            CounterStorage::Shared(file) => unsafe { &*file.bytes().as_ptr().cast::<CounterFields>() },
        }
    }

    /// Returns the current number.
    pub fn get(&self) -> u64 {
        self.fields().value.load(Ordering::SeqCst)
    }

    /// Sets the number.
    pub fn set(&self, value: u64) {
        self.fields().value.store(value, Ordering::SeqCst);
        self.wake_sleepers();
    }

    /// Raises the number to at least `value`.
    pub fn raise(&self, value: u64) {
        self.fields().value.fetch_max(value, Ordering::SeqCst);
        self.wake_sleepers();
    }

    /// Sets the number to 0 if it is 1. Returns true if it was 1.
    pub fn take(&self) -> bool {
        self.fields().value.compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn wake_sleepers(&self) {
        let fields = self.fields();
        fields.changes.fetch_add(1, Ordering::SeqCst);
        if fields.sleepers.load(Ordering::SeqCst) > 0 {
            self.call(libc::FUTEX_WAKE, i32::MAX as u32, None);
        }
    }

    /// Waits until `ready` returns true or the moment `until` has passed. Without `until` the wait
    /// has no limit. The function calls `ready` after each change and returns its last result.
    pub fn wait(&self, until: Option<Instant>, ready: impl Fn(&Self) -> bool) -> bool {
        if ready(self) {
            return true;
        }
        let fields = self.fields();
        fields.sleepers.fetch_add(1, Ordering::SeqCst);
        let is_ready = loop {
            let seen = fields.changes.load(Ordering::SeqCst);
            if ready(self) {
                break true;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break false;
            }
            let left = left.map(|left| libc::timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(libc::time_t::MAX),
                tv_nsec: left.subsec_nanos().into(),
            });
            self.call(libc::FUTEX_WAIT, seen, left.as_ref());
        };
        fields.sleepers.fetch_sub(1, Ordering::SeqCst);
        is_ready
    }

    /// Calls futex(2) to sleep or to wake sleeping threads. The result is ignored, because a
    /// waiting thread always checks the number again.
    fn call(&self, operation: i32, value: u32, timeout: Option<&libc::timespec>) {
        let operation = match self.0 {
            CounterStorage::Private(_) => operation | libc::FUTEX_PRIVATE_FLAG,
            CounterStorage::Shared(_) => operation,
        };
        let timeout = timeout.map_or(std::ptr::null(), |timeout| timeout as *const libc::timespec);
        // SAFETY: the word lives as long as `self`. The timeout, if there is one, lives as long as
        // the call.
        unsafe { libc::syscall(libc::SYS_futex, self.fields().changes.as_ptr(), operation, value, timeout) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_are_waited_for() {
        for counter in [Counter::new(3), Counter::shared(Shares::Timeline, 3).unwrap()] {
            assert!(counter.wait(None, |counter| counter.get() >= 3));
            let soon = || Some(Instant::now() + Duration::from_millis(2));
            assert!(!counter.wait(soon(), |counter| counter.get() >= 4));
            std::thread::scope(|scope| {
                let waiters = [4, 9].map(|value| {
                    let counter = &counter;
                    scope.spawn(move || counter.wait(None, |counter| counter.get() >= value))
                });
                counter.raise(4);
                counter.raise(2);
                counter.raise(9);
                assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap()));
            });
            assert_eq!(counter.get(), 9);
            counter.set(1);
            assert!(counter.take() && !counter.take());
        }
    }

    #[test]
    fn a_descriptor_leads_to_the_same_number() {
        let counter = Counter::shared(Shares::Binary, 0).unwrap();
        let descriptor = counter.descriptor().unwrap().unwrap();
        let other = Counter::open(Shares::Binary, descriptor.as_fd()).unwrap();
        assert!(Counter::open(Shares::Fence, descriptor.as_fd()).is_err());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| other.wait(None, Counter::take));
            counter.set(1);
            assert!(waiter.join().unwrap());
        });
        assert_eq!(counter.get(), 0);
        assert!(Counter::new(0).descriptor().is_none());
    }
}
