//! Models of a span under concurrent submissions, compaction and release. Loom explores every
//! interleaving and every value that the memory model allows.

use loom::sync::atomic::AtomicU64 as Modelled;
use loom::sync::{Arc, Mutex};
use loom::thread;
use vitric_base::sync::model::{Model, explore};

use super::*;

/// Model of a span of one word. Accesses to its bytes are unordered. Loom lets each read return any
/// value that the memory model allows, so a missing order shows as a wrong value.
struct Memory {
    span: Span<Model>,
    submissions: Submissions<Model>,
    raw: Modelled,
    /// Compacted value, protected by the memory's lock.
    compacted: Mutex<Option<u64>>,
    /// 1 if the contents are lost.
    is_lost: Modelled,
}

/// Value of newly allocated pages.
const FRESH: u64 = 0;

impl Memory {
    /// Creates a resident span with value 1 that no submission uses.
    fn new(entries: usize) -> Arc<Self> {
        let (span, submissions) = (Span::default(), Submissions::with_entries(entries));
        span.set(SpanState::Resident, 0);
        let compacted = Mutex::new(None);
        Arc::new(Self { span, submissions, raw: Modelled::new(1), compacted, is_lost: Modelled::new(0) })
    }

    fn read(&self) -> u64 {
        self.raw.load(Ordering::Relaxed)
    }

    fn write(&self, value: u64) {
        self.raw.store(value, Ordering::Relaxed);
    }

    /// Models `CompactableMemory::make_resident`.
    fn make_resident(&self, number: u64) {
        self.is_lost.store(0, Ordering::Release);
        if self.span.mark(number) {
            return;
        }
        let mut compacted = self.compacted.lock().unwrap();
        if !self.span.mark(number) {
            self.write(compacted.take().unwrap());
            let before = self.span.get().used();
            self.span.set(SpanState::Resident, before.max(number));
        }
    }

    /// Models `CompactableMemory::make_overwritable` of a span that is overwritten wholly.
    fn make_overwritable(&self, number: u64) {
        self.is_lost.store(0, Ordering::Release);
        if self.span.mark(number) {
            return;
        }
        let mut compacted = self.compacted.lock().unwrap();
        if !self.span.mark(number) {
            compacted.take();
            let before = self.span.get().used();
            self.span.set(SpanState::Resident, before.max(number));
        }
    }

    /// Models `CompactableMemory::note_clear` by a submission that uses the span.
    fn clear(&self, number: u64, value: u64) {
        let mut compacted = self.compacted.lock().unwrap();
        assert!(self.span.clear(number), "it is resident as long as the submission runs");
        *compacted = Some(value);
    }

    /// Models `CompactableMemory::read_line`.
    fn read_line(&self, number: u64) -> u64 {
        if !self.span.mark(number) {
            let compacted = self.compacted.lock().unwrap();
            if matches!(self.span.get().state(), SpanState::Compacted | SpanState::Cleared) {
                return compacted.unwrap();
            }
            self.span.mark(number);
        }
        self.read()
    }

    /// Models `CompactableMemory::compact_spans`.
    fn compact(&self) {
        let before = self.submissions.oldest();
        let Some(used) = self.span.begin_compaction(before) else {
            let mut compacted = self.compacted.lock().unwrap();
            if self.span.compact_cleared(before) {
                let is_lost = self.is_lost.load(Ordering::Acquire) != 0;
                *compacted = if is_lost { Some(FRESH) } else { *compacted };
                self.write(FRESH);
            }
            return;
        };
        let is_lost = self.is_lost.load(Ordering::Acquire) != 0;
        // No lock is held while the bytes are coded.
        let coded = if is_lost { FRESH } else { self.read() };
        let mut compacted = self.compacted.lock().unwrap();
        if self.span.end_compaction(used, true, before) {
            *compacted = Some(coded);
            self.write(FRESH);
        }
    }

    /// Runs `work` as a submission that has made the span resident.
    fn use_it<R>(&self, work: impl FnOnce(&Self) -> R) -> R {
        self.submit(|number| {
            self.make_resident(number);
            work(self)
        })
    }

    /// Checks as a submission that the span has a value.
    fn expect(&self, value: u64) {
        self.use_it(|memory| assert_eq!(memory.read(), value));
    }

    /// Runs `work` as a submission.
    fn submit<R>(&self, work: impl FnOnce(u64) -> R) -> R {
        let running = self.submissions.begin();
        let result = work(running.number);
        self.submissions.end(running);
        result
    }
}

/// Explores a scene beside a thread that compacts the span `compactions` times, and then checks
/// the final state.
fn explore_with_compactions(
    preemptions: usize,
    compactions: usize,
    scene: impl Fn(&Arc<Memory>) + Send + Sync + 'static,
    end: impl Fn(&Memory) + Send + Sync + 'static,
) {
    explore(preemptions, move || {
        let memory = Memory::new(1);
        let compactor = beside(&memory, move |memory| (0..compactions).for_each(|_| memory.compact()));
        scene(&memory);
        compactor.join().unwrap();
        end(&memory);
    });
}

fn beside(memory: &Arc<Memory>, work: impl FnOnce(&Memory) + 'static) -> thread::JoinHandle<()> {
    let memory = memory.clone();
    thread::spawn(move || work(&memory))
}

/// A submission uses a span under compaction without waiting: only the compaction gives up.
#[test]
fn a_use_abandons_a_compaction() {
    let span = Span::<Machine>::default();
    span.set(SpanState::Resident, 3);
    let used = span.begin_compaction(4).unwrap();
    assert_eq!((used, span.get().state()), (3, SpanState::Compacting));
    assert!(span.mark(5) && !span.end_compaction(used, true, 4));
    assert_eq!((span.get().state(), span.get().used()), (SpanState::Resident, 5));
    // Without room, the span counts as used again.
    let used = span.begin_compaction(6).unwrap();
    assert!(span.end_compaction(used, false, 6));
    assert_eq!((span.get().state(), span.get().used()), (SpanState::Resident, 6));
    let used = span.begin_compaction(7).unwrap();
    assert!(span.end_compaction(used, true, 7) && !span.mark(8));
}

#[test]
fn a_submission_finds_earlier_bytes_and_keeps_its_own() {
    let scene = |memory: &Arc<Memory>| {
        memory.use_it(|memory| {
            assert_eq!(memory.read(), 1);
            memory.write(2);
            // The span must not be compacted meanwhile.
            assert_eq!(memory.read(), 2);
        });
    };
    explore_with_compactions(3, 2, scene, |memory| memory.expect(2));
}

#[test]
fn two_readers_restore_a_span_once() {
    explore(2, || {
        let memory = Memory::new(2);
        memory.compact();
        let other = beside(&memory, |memory| memory.expect(1));
        let compactor = beside(&memory, Memory::compact);
        memory.expect(1);
        other.join().unwrap();
        compactor.join().unwrap();
    });
}

#[test]
fn an_overwritten_span_has_the_new_bytes() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| {
            memory.make_overwritable(number);
            memory.write(3);
        });
    };
    explore_with_compactions(3, 1, scene, |memory| {
        memory.compact();
        memory.expect(3);
    });
}

/// All later accesses observe a noted clear: by the same submission, by a copy, and by a
/// submission that makes the span resident.
#[test]
fn a_noted_clear_is_read() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| {
            memory.make_overwritable(number);
            memory.clear(number, 6);
            assert_eq!(memory.read_line(number), 6);
        });
        memory.submit(|number| assert_eq!(memory.read_line(number), 6));
        memory.expect(6);
    };
    explore_with_compactions(3, 2, scene, |memory| memory.expect(6));
}

/// One submission uses the span without knowledge of the clear, as a submission does whose
/// programs never read it. Another reads the clear.
#[test]
fn a_noted_clear_is_written_once() {
    explore(2, || {
        let memory = Memory::new(2);
        let first = memory.submissions.begin();
        memory.make_overwritable(first.number);
        memory.clear(first.number, 6);
        let other = beside(&memory, |memory| memory.expect(6));
        let compactor = beside(&memory, Memory::compact);
        memory.make_resident(first.number);
        assert_eq!(memory.read(), 6);
        other.join().unwrap();
        compactor.join().unwrap();
        memory.submissions.end(first);
        memory.expect(6);
    });
}

/// A copy reads the span, compacted or resident, without making it resident. Another submission
/// writes it afterwards.
#[test]
fn a_copy_reads_compacted_and_resident_spans() {
    let scene = |memory: &Arc<Memory>| {
        memory.submit(|number| assert_eq!(memory.read_line(number), 1));
        memory.use_it(|memory| memory.write(2));
        memory.submit(|number| assert_eq!(memory.read_line(number), 2));
    };
    explore_with_compactions(3, 2, scene, |memory| memory.expect(2));
}

/// A pass loses the contents. The next submission writes new contents, which are kept.
#[test]
fn bytes_written_after_a_loss_are_kept() {
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
    explore_with_compactions(3, 2, scene, |memory| {
        memory.compact();
        memory.expect(4);
    });
}

/// A buffer is bound to the span, which becomes resident and stays resident.
#[test]
fn a_pinned_span_stays_resident() {
    let scene = |memory: &Arc<Memory>| {
        let mut compacted = memory.compacted.lock().unwrap();
        if let Some(value) = compacted.take() {
            memory.write(value);
        }
        memory.span.pin();
        drop(compacted);
        assert_eq!(memory.read(), 1);
        memory.write(5);
    };
    explore_with_compactions(3, 2, scene, |memory| {
        assert_eq!((memory.span.get().state(), memory.read()), (SpanState::Pinned, 5));
    });
}

/// More submissions than entries: no span that one of them uses is compacted.
#[test]
fn untracked_submissions_prevent_compaction() {
    explore(2, || {
        let memory = Memory::new(1);
        let first = memory.submissions.begin();
        let other = beside(&memory, |memory| {
            memory.use_it(|memory| {
                assert_eq!(memory.read(), 1);
                memory.write(2);
                assert_eq!(memory.read(), 2);
            });
        });
        memory.compact();
        memory.submissions.end(first);
        memory.compact();
        other.join().unwrap();
        memory.expect(2);
    });
}

#[test]
fn oldest_is_the_least_running_number() {
    let submissions = Submissions::<Machine>::with_entries(2);
    assert_eq!(submissions.oldest(), 1);
    let [a, b, c] = [(); 3].map(|()| submissions.begin());
    assert_eq!([a.number, b.number, c.number, submissions.oldest()], [1, 2, 3, 0]);
    submissions.end(c);
    assert_eq!(submissions.oldest(), 1);
    submissions.end(a);
    assert_eq!(submissions.oldest(), 2);
    submissions.end(b);
    assert_eq!(submissions.oldest(), 4);
}
