//! Fences, binary semaphores and timeline semaphores. Each has a payload, which other processes
//! can share and which an import can replace.
//!
//! Source: Vulkan specification, "Synchronization and Cache Control": fences, semaphores, and
//! importing their payloads.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use vitric_memory::{Counter, Shares};

use crate::health::Health;
use crate::{Error, Result};

/// Longest sleep of a waiting thread before it checks whether its wait must end.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Kind of object that a payload belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadKind {
    /// A fence.
    Fence,
    /// A binary semaphore, which is signaled or not.
    Binary,
    /// A timeline semaphore, whose value only grows.
    Timeline,
}

impl PayloadKind {
    fn shares(self) -> Shares {
        match self {
            Self::Fence => Shares::Fence,
            Self::Binary => Shares::Binary,
            Self::Timeline => Shares::Timeline,
        }
    }
}

/// A value that threads wait for. The value of fences and binary semaphores is 0 or 1.
#[derive(Debug)]
pub struct Payload {
    kind: PayloadKind,
    counter: Counter,
}

impl Payload {
    /// Creates a payload of this process with an initial value.
    pub fn new(kind: PayloadKind, value: u64) -> Arc<Self> {
        Arc::new(Self { kind, counter: Counter::new(value) })
    }

    /// Creates a payload that other processes can share.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`] if the host has no memory or no file descriptor for it.
    pub fn shared(kind: PayloadKind, value: u64) -> Result<Arc<Self>> {
        let counter = Counter::shared(kind.shares(), value).map_err(|_| Error::OutOfHostMemory)?;
        Ok(Arc::new(Self { kind, counter }))
    }

    /// Opens the payload behind a file descriptor. The caller keeps ownership of the descriptor.
    ///
    /// # Errors
    /// [`Error::InvalidExternalHandle`] if the descriptor does not refer to a payload of this
    /// kind.
    pub fn open(kind: PayloadKind, descriptor: BorrowedFd<'_>) -> Result<Arc<Self>> {
        let counter = Counter::open(kind.shares(), descriptor).map_err(|_| Error::InvalidExternalHandle)?;
        Ok(Arc::new(Self { kind, counter }))
    }

    /// Returns a new file descriptor for other processes.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a payload that cannot be shared, [`Error::TooManyObjects`] if the
    /// process has no free file descriptors.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        self.counter.descriptor().ok_or(Error::Unknown)?.map_err(|_| Error::TooManyObjects)
    }

    /// Signals the payload and wakes all waiting threads. A timeline is set to `value`, unless its
    /// value is already greater.
    pub fn signal(&self, value: u64) {
        match self.kind {
            PayloadKind::Timeline => self.counter.raise(value),
            PayloadKind::Fence | PayloadKind::Binary => self.counter.set(1),
        }
    }

    /// Unsignals a fence.
    pub fn reset(&self) {
        self.counter.set(0);
    }

    /// Returns the value of a timeline; for other kinds 1 if signaled, else 0.
    pub fn value(&self) -> u64 {
        self.counter.get()
    }

    /// Returns true if a fence is signaled.
    pub fn is_set(&self) -> bool {
        self.value() != 0
    }

    /// Returns the counter value that a wait for `value` needs.
    fn needed(&self, value: u64) -> u64 {
        if self.kind == PayloadKind::Timeline { value } else { 1 }
    }

    /// Returns true if a wait for `value` would not block.
    pub fn has_reached(&self, value: u64) -> bool {
        self.value() >= self.needed(value)
    }

    /// Waits as a queue does, until `value` is reached. A binary semaphore is unsignaled
    /// atomically. If `give_up` returns true, the payload is unchanged and the function returns
    /// false.
    pub fn consume(&self, value: u64, give_up: impl Fn() -> bool) -> bool {
        let needed = self.needed(value);
        let ready = |counter: &Counter| match self.kind {
            PayloadKind::Binary => counter.take(),
            PayloadKind::Fence | PayloadKind::Timeline => counter.get() >= needed,
        };
        self.wait(None, ready, give_up)
    }

    /// Waits as the host does, and returns true if `value` was reached before the deadline.
    /// Without a deadline the wait lasts until the value is reached or `give_up` returns true. A
    /// deadline in the past polls the state.
    pub fn wait_until(&self, value: u64, deadline: Option<Instant>, give_up: impl Fn() -> bool) -> bool {
        let needed = self.needed(value);
        self.wait(deadline, |counter| counter.get() >= needed, give_up)
    }

    /// Waits until `ready` returns true, and calls `give_up` after each [`POLL_INTERVAL`]. The
    /// polling is needed because the loss of a device does not wake threads that wait for its
    /// payloads.
    fn wait(&self, deadline: Option<Instant>, ready: impl Fn(&Counter) -> bool, give_up: impl Fn() -> bool) -> bool {
        loop {
            let turn = Instant::now() + POLL_INTERVAL;
            if self.counter.wait(Some(deadline.map_or(turn, |deadline| deadline.min(turn))), &ready) {
                return true;
            }
            if give_up() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return false;
            }
        }
    }
}

/// A fence or a semaphore, with its permanent payload and perhaps a temporarily imported one.
#[derive(Debug)]
pub struct Primitive {
    /// Kind of the object.
    pub kind: PayloadKind,
    payloads: Mutex<(Arc<Payload>, Option<Arc<Payload>>)>,
}

/// A fence.
pub type Fence = Primitive;
/// A semaphore.
pub type Semaphore = Primitive;

impl Primitive {
    /// Creates a fence or semaphore with a permanent payload.
    pub fn new(payload: Arc<Payload>) -> Arc<Self> {
        Arc::new(Self { kind: payload.kind, payloads: Mutex::new((payload, None)) })
    }

    /// Returns the current payload: the temporary one, if there is one.
    pub fn payload(&self) -> Arc<Payload> {
        let payloads = self.payloads.lock();
        payloads.1.as_ref().unwrap_or(&payloads.0).clone()
    }

    /// Returns the payload for a wait. A temporary payload is removed: after the wait, the
    /// semaphore uses its permanent payload.
    pub fn take_payload(&self) -> Arc<Payload> {
        let mut payloads = self.payloads.lock();
        payloads.1.take().unwrap_or_else(|| payloads.0.clone())
    }

    /// Unsignals a fence's permanent payload and removes its temporary one.
    pub fn reset(&self) {
        let mut payloads = self.payloads.lock();
        payloads.1 = None;
        payloads.0.reset();
    }

    /// Imports a payload from a file descriptor, temporarily (until the next wait or reset) or
    /// permanently. The caller keeps ownership of the descriptor.
    ///
    /// # Errors
    /// [`Error::InvalidExternalHandle`] if the descriptor does not refer to a payload of this
    /// kind; [`Error::Unknown`] for a temporary import into a timeline.
    pub fn import(&self, descriptor: BorrowedFd<'_>, is_temporary: bool) -> Result<()> {
        if is_temporary && self.kind == PayloadKind::Timeline {
            return Err(Error::Unknown);
        }
        let payload = Payload::open(self.kind, descriptor)?;
        let mut payloads = self.payloads.lock();
        match is_temporary {
            true => payloads.1 = Some(payload),
            false => *payloads = (payload, None),
        }
        Ok(())
    }
}

/// Returns the moment `timeout` nanoseconds from now. `None` means no deadline: for `u64::MAX` and
/// every timeout above 2^61 ns (73 years).
pub fn deadline(timeout: u64) -> Option<Instant> {
    // Larger values could overflow `Instant`.
    if timeout > 1 << 61 { None } else { Instant::now().checked_add(Duration::from_nanos(timeout)) }
}

/// Waits until all or any of the payloads reach their values, and returns true if they did before
/// the deadline. A deadline in the past polls. The wait ends early if the device is lost.
pub fn wait_until(payloads: &[(Arc<Payload>, u64)], all: bool, until: Option<Instant>, health: &Health) -> bool {
    let wait = |(payload, value): &(Arc<Payload>, u64), until| payload.wait_until(*value, until, || health.is_lost());
    if all || payloads.len() == 1 {
        return payloads.iter().all(|payload| wait(payload, until));
    }
    loop {
        let now = Instant::now();
        if payloads.iter().any(|payload| wait(payload, Some(now))) {
            return true;
        }
        if health.is_lost() || until.is_some_and(|until| now >= until) {
            return false;
        }
        // Waits shortly for the first payload, because the payloads share no condition variable.
        let step = now + Duration::from_micros(200);
        wait(&payloads[0], Some(until.map_or(step, |until| until.min(step))));
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn waiting_for_any_and_all() {
        let health = Health::default();
        let fences = [0, 1].map(|value| (Payload::new(PayloadKind::Fence, value), 1));
        let wait = |all, timeout| wait_until(&fences, all, deadline(timeout), &health);
        assert!(wait(false, 0) && !wait(true, 1_000_000));
        fences[0].0.signal(0);
        assert!(wait(true, u64::MAX));
        fences[0].0.reset();
        assert!(!fences[0].0.is_set());
    }

    #[test]
    fn nobody_waits_for_a_lost_device() {
        let health = Health::default();
        let payloads = [PayloadKind::Fence, PayloadKind::Timeline].map(|kind| (Payload::new(kind, 0), 1));
        std::thread::scope(|scope| {
            let wait = |all| wait_until(&payloads, all, None, &health);
            let waiters = [scope.spawn(move || wait(true)), scope.spawn(move || wait(false))];
            std::thread::sleep(POLL_INTERVAL * 2);
            assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
            health.lose("a test");
            assert!(waiters.into_iter().all(|waiter| !waiter.join().unwrap()));
        });
    }

    #[test]
    fn consuming_a_binary_semaphore_unsets_it() {
        let semaphore = Payload::new(PayloadKind::Binary, 0);
        semaphore.signal(0);
        assert!(semaphore.consume(0, || false));
        assert!(!semaphore.consume(0, || true));
    }

    #[test]
    fn timelines_only_go_on() {
        let health = Health::default();
        let semaphore = Payload::new(PayloadKind::Timeline, 5);
        assert!(semaphore.consume(5, || false) && !semaphore.consume(6, || true));
        semaphore.signal(9);
        semaphore.signal(7);
        assert_eq!(semaphore.value(), 9);
        assert!(semaphore.consume(8, || false) && semaphore.consume(8, || false));
        let pair = [(semaphore.clone(), 9), (Payload::new(PayloadKind::Timeline, 0), 1)];
        let wait = |all, timeout| wait_until(&pair, all, deadline(timeout), &health);
        assert!(wait(false, 0) && !wait(true, 1_000_000));
        pair[1].0.signal(1);
        assert!(wait(true, 0));
    }

    #[test]
    fn imported_payloads_stay_for_good_or_for_a_wait() {
        let [kept, given] = [0, 1].map(|_| Primitive::new(Payload::new(PayloadKind::Binary, 0)));
        let shared = Payload::shared(PayloadKind::Binary, 1).unwrap();
        let descriptor = shared.descriptor().unwrap();
        given.import(descriptor.as_fd(), true).unwrap();
        assert!(given.payload().is_set() && given.take_payload().consume(0, || true));
        assert!(!shared.is_set() && !given.payload().is_set());
        given.payload().signal(0);
        assert!(!shared.is_set(), "it has its own payload again");
        kept.import(descriptor.as_fd(), false).unwrap();
        kept.take_payload();
        kept.payload().signal(0);
        assert!(shared.is_set());
        assert_eq!(kept.payload().descriptor().is_ok(), given.payload().descriptor().is_err());
    }

    #[test]
    fn a_fence_that_is_reset_has_its_own_payload_again() {
        let fence = Primitive::new(Payload::new(PayloadKind::Fence, 1));
        let shared = Payload::shared(PayloadKind::Fence, 1).unwrap();
        let descriptor = shared.descriptor().unwrap();
        fence.import(descriptor.as_fd(), true).unwrap();
        fence.reset();
        assert!(!fence.payload().is_set() && shared.is_set());
        let line = Primitive::new(Payload::new(PayloadKind::Timeline, 0));
        assert_eq!(line.import(descriptor.as_fd(), false), Err(Error::InvalidExternalHandle));
        assert_eq!(line.import(descriptor.as_fd(), true), Err(Error::Unknown));
    }
}
