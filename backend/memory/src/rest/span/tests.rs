//! Models of a span under concurrent submissions, compaction and release. Loom explores every
//! interleaving and every value that the memory model allows.

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU64 as Modelled;
use loom::sync::{Arc, Mutex};
use loom::thread;
use vitric_base::sync::model::{Model, explore};

use super::*;

/// Model of a span of one word whose bytes loom tracks. Unordered reads and writes fail the test.
struct Memory {
    span: Span<Model>,
    numbers: Numbers<Model>,
    raw: UnsafeCell<u64>,
    /// Compacted value, protected by the allocation's lock.
    held: Mutex<Option<u64>>,
    /// 1 if the contents are lost.
    is_lost: Modelled,
}

// SAFETY: the model accesses the bytes exactly as the driver does, and loom reports unsound
// accesses.
unsafe impl Sync for Memory {}
// SAFETY: the model accesses the bytes exactly as the driver does, and loom reports unsound
// accesses.
unsafe impl Send for Memory {}

/// Value of newly allocated pages.
const FRESH: u64 = 0;

impl Memory {
    /// Creates a resident span with value 1 that no submission uses.
    fn new(places: usize) -> Arc<Self> {
        let (span, numbers) = (Span::default(), Numbers::with_places(places));
        span.set(State::Awake, 0);
        let held = Mutex::new(None);
        Arc::new(Self { span, numbers, raw: UnsafeCell::new(1), held, is_lost: Modelled::new(0) })
    }

    fn read(&self) -> u64 {
        // SAFETY: loom checks the access.
        self.raw.with(|raw| unsafe { *raw })
    }

    fn write(&self, value: u64) {
        // SAFETY: loom checks the access.
        self.raw.with_mut(|raw| unsafe { *raw = value });
    }

    /// Models `Allocation::wake`.
    fn wake(&self, number: u64) {
        self.is_lost.store(0, Ordering::Release);
        if self.span.mark(number) {
            return;
        }
        let mut held = self.held.lock().unwrap();
        if !self.span.mark(number) {
            self.write(held.take().unwrap());
            let before = self.span.get().used();
            self.span.set(State::Awake, before.max(number));
        }
    }

    /// Models `Allocation::claim` of a span that is overwritten wholly.
    fn claim(&self, number: u64) {
        self.is_lost.store(0, Ordering::Release);
        if self.span.mark(number) {
            return;
        }
        let mut held = self.held.lock().unwrap();
        if !self.span.mark(number) {
            held.take();
            let before = self.span.get().used();
            self.span.set(State::Awake, before.max(number));
        }
    }

    /// Models `Allocation::note_clear` by a submission that has claimed the span.
    fn clear(&self, number: u64, value: u64) {
        let mut held = self.held.lock().unwrap();
        assert!(self.span.clear(number), "it is awake as long as the submission runs");
        *held = Some(value);
    }

    /// Models `Allocation::read_line`.
    fn peek(&self, number: u64) -> u64 {
        if !self.span.mark(number) {
            let held = self.held.lock().unwrap();
            if matches!(self.span.get().state(), State::Resting | State::Cleared) {
                return held.unwrap();
            }
            self.span.mark(number);
        }
        self.read()
    }

    /// Models `Allocation::rest_together`.
    fn rest(&self) {
        let before = self.numbers.oldest();
        let mut held = self.held.lock().unwrap();
        let Some(used) = self.span.begin_to_rest(before) else { return };
        let is_lost = self.is_lost.load(Ordering::Acquire) != 0;
        let cleared = held.take();
        *held = Some(if is_lost { FRESH } else { cleared.unwrap_or_else(|| self.read()) });
        self.span.set(State::Resting, used);
        self.write(FRESH);
    }

    /// Runs `work` as a submission that has made the span resident.
    fn use_it<R>(&self, work: impl FnOnce(&Self) -> R) -> R {
        self.submit(|number| {
            self.wake(number);
            work(self)
        })
    }

    /// Checks as a submission that the span has a value.
    fn expect(&self, value: u64) {
        self.use_it(|memory| assert_eq!(memory.read(), value));
    }

    /// Runs `work` as a submission.
    fn submit<R>(&self, work: impl FnOnce(u64) -> R) -> R {
        let running = self.numbers.begin();
        let result = work(running.number);
        self.numbers.end(running);
        result
    }
}

/// Explores a scene beside a thread that compacts the span `rests` times, and then checks the
/// final state.
fn explore_with_rests(
    preemptions: usize,
    rests: usize,
    scene: impl Fn(&Arc<Memory>) + Send + Sync + 'static,
    end: impl Fn(&Memory) + Send + Sync + 'static,
) {
    explore(preemptions, move || {
        let memory = Memory::new(1);
        let rester = beside(&memory, move |memory| (0..rests).for_each(|_| memory.rest()));
        scene(&memory);
        rester.join().unwrap();
        end(&memory);
    });
}

fn beside(memory: &Arc<Memory>, work: impl FnOnce(&Memory) + 'static) -> thread::JoinHandle<()> {
    let memory = memory.clone();
    thread::spawn(move || work(&memory))
}

#[test]
fn a_submission_finds_what_was_there_and_keeps_what_it_wrote() {
    let scene = |memory: &Arc<Memory>| {
        memory.use_it(|memory| {
            assert_eq!(memory.read(), 1);
            memory.write(2);
            // The span must not be compacted meanwhile.
            assert_eq!(memory.read(), 2);
        });
    };
    explore_with_rests(3, 2, scene, |memory| memory.expect(2));
}

#[test]
fn two_readers_wake_it_once() {
    explore(2, || {
        let memory = Memory::new(2);
        memory.rest();
        let other = beside(&memory, |memory| memory.expect(1));
        let rester = beside(&memory, Memory::rest);
        memory.expect(1);
        other.join().unwrap();
        rester.join().unwrap();
    });
}

#[test]
fn what_is_overwritten_is_what_was_written() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| {
            memory.claim(number);
            memory.write(3);
        });
    };
    explore_with_rests(3, 1, scene, |memory| {
        memory.rest();
        memory.expect(3);
    });
}

/// All later accesses observe a noted clear: by the same submission, by a copy, and by a
/// submission that makes the span resident.
#[test]
fn what_was_cleared_is_found() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| {
            memory.claim(number);
            memory.clear(number, 6);
            assert_eq!(memory.peek(number), 6);
        });
        memory.submit(|number| assert_eq!(memory.peek(number), 6));
        memory.expect(6);
    };
    explore_with_rests(3, 2, scene, |memory| memory.expect(6));
}

/// One submission uses the span without knowledge of the clear, as a submission does whose
/// programs never read it. Another reads the clear.
#[test]
fn what_was_cleared_is_woken_once() {
    explore(2, || {
        let memory = Memory::new(2);
        let first = memory.numbers.begin();
        memory.claim(first.number);
        memory.clear(first.number, 6);
        let other = beside(&memory, |memory| memory.expect(6));
        let rester = beside(&memory, Memory::rest);
        memory.wake(first.number);
        assert_eq!(memory.read(), 6);
        other.join().unwrap();
        rester.join().unwrap();
        memory.numbers.end(first);
        memory.expect(6);
    });
}

/// A copy reads the span, compacted or resident, without making it resident. Another submission
/// writes it afterwards.
#[test]
fn a_copy_reads_what_is_there() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| assert_eq!(memory.peek(number), 1));
        memory.use_it(|memory| memory.write(2));
        memory.submit(|number| assert_eq!(memory.peek(number), 2));
    };
    explore_with_rests(3, 2, scene, |memory| memory.expect(2));
}

/// A pass loses the contents. The next submission writes new contents, which are kept.
#[test]
fn what_is_written_behind_a_loss_stays() {
    let scene = |memory: &Arc<Memory>| {
        memory.use_it(|memory| {
            memory.write(2);
            memory.is_lost.store(1, Ordering::Release);
        });
        memory.use_it(|memory| {
            let found = memory.read();
            assert!(found == 2 || found == FRESH, "{found}");
            memory.write(4);
        });
    };
    explore_with_rests(3, 2, scene, |memory| {
        memory.rest();
        memory.expect(4);
    });
}

/// A buffer is bound to the span, which becomes resident and stays resident.
#[test]
fn what_is_excluded_stays_awake() {
    let scene = |memory: &Arc<Memory>| {
        let mut held = memory.held.lock().unwrap();
        if let Some(value) = held.take() {
            memory.write(value);
        }
        memory.span.set(State::Never, 0);
        drop(held);
        assert_eq!(memory.read(), 1);
        memory.write(5);
    };
    explore_with_rests(3, 2, scene, |memory| {
        assert_eq!((memory.span.get().state(), memory.read()), (State::Never, 5));
    });
}

/// More submissions than places: no span that one of them uses is compacted.
#[test]
fn submissions_without_a_place_count() {
    explore(2, || {
        let memory = Memory::new(1);
        let first = memory.numbers.begin();
        let other = beside(&memory, |memory| {
            memory.use_it(|memory| {
                assert_eq!(memory.read(), 1);
                memory.write(2);
                assert_eq!(memory.read(), 2);
            });
        });
        memory.rest();
        memory.numbers.end(first);
        memory.rest();
        other.join().unwrap();
        memory.expect(2);
    });
}

#[test]
fn numbers_are_told_apart() {
    let numbers = Numbers::<Machine>::with_places(2);
    assert_eq!(numbers.oldest(), 1);
    let [a, b, c] = [(); 3].map(|()| numbers.begin());
    assert_eq!([a.number, b.number, c.number, numbers.oldest()], [1, 2, 3, 0]);
    numbers.end(c);
    assert_eq!(numbers.oldest(), 1);
    numbers.end(a);
    assert_eq!(numbers.oldest(), 2);
    numbers.end(b);
    assert_eq!(numbers.oldest(), 4);
}
