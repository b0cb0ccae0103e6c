//! Jobs of a queue. They are executed in order, one at a time: by the queue's worker, or by a
//! thread of the application that waits for their end.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
// A fork copies the table of sleeping threads of `parking_lot`, perhaps while it is locked.
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Batch, FrameReady};
use crate::sync::Payload;
use crate::{Error, Result};

/// Work of a queue.
pub enum Job {
    /// Executes a batch of a submission.
    Batch(Batch),
    /// Signals a fence.
    Signal(Arc<Payload>),
    /// Shows a frame.
    Present(FrameReady),
}

impl Job {
    /// Returns true if the job's end lets `payload` reach `value`.
    fn signals(&self, payload: &Arc<Payload>, value: u64) -> bool {
        match self {
            Self::Batch(batch) => {
                batch.signals.iter().any(|(signaled, to)| Arc::ptr_eq(signaled, payload) && *to >= value)
            }
            Self::Signal(signaled) => Arc::ptr_eq(signaled, payload),
            Self::Present(_) => false,
        }
    }
}

/// Jobs that are not complete.
#[derive(Default)]
pub struct Jobs {
    state: Mutex<State>,
    /// Notified when the worker has something to do.
    changed: Condvar,
    /// Number of jobs that are not complete. It grows only while `state` is locked.
    outstanding: AtomicUsize,
    /// Number of jobs that are complete.
    complete: AtomicUsize,
    /// True while the worker waits for semaphores.
    pub waits: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Jobs that no thread has begun.
    waiting: VecDeque<Job>,
    /// Number of jobs that were begun.
    begun: u64,
    /// True while a thread executes a job.
    is_busy: bool,
    is_closed: bool,
}

/// A job that the current thread executes. The next job can begin when the value is dropped.
pub struct Running<'a>(&'a Jobs);

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("outstanding", &self.outstanding).finish_non_exhaustive()
    }
}

impl Jobs {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends jobs.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] after [`Jobs::close`].
    pub fn push(&self, jobs: impl Iterator<Item = Job>) -> Result<()> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Error::DeviceLost);
        }
        let before = state.waiting.len();
        state.waiting.extend(jobs);
        self.outstanding.fetch_add(state.waiting.len() - before, Ordering::Relaxed);
        let is_busy = state.is_busy;
        drop(state);
        if !is_busy {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Returns true if all jobs are complete.
    pub fn is_idle(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }

    /// Calls `work` if all jobs are complete, and returns true if it did. No job is appended
    /// meanwhile.
    pub fn if_idle(&self, work: impl FnOnce()) -> bool {
        let _state = self.state();
        let is_idle = self.is_idle();
        if is_idle {
            work();
        }
        is_idle
    }

    /// Returns the number of jobs that are complete.
    pub fn complete(&self) -> usize {
        self.complete.load(Ordering::Relaxed)
    }

    /// Waits for the next job and begins it. Returns `None` after [`Jobs::close`], when no job is
    /// left.
    pub fn next(&self) -> Option<(Job, Running<'_>)> {
        let mut state = self.state();
        loop {
            if !state.is_busy {
                if let Some(job) = state.begin() {
                    return Some((job, Running(self)));
                }
                if state.is_closed {
                    return None;
                }
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the number of the waiting job that lets `payload` reach `value`, for
    /// [`Jobs::try_next`].
    pub fn find(&self, payload: &Arc<Payload>, value: u64) -> Option<u64> {
        let state = self.state();
        let place = state.waiting.iter().position(|job| job.signals(payload, value))?;
        Some(state.begun + place as u64)
    }

    /// Begins the next job if its number is at most `last`, no thread executes a job, and the job
    /// does not have to wait.
    pub fn try_next(&self, last: u64) -> Option<(Job, Running<'_>)> {
        let mut state = self.state();
        let is_ready = match state.waiting.front() {
            Some(Job::Batch(batch)) => batch.waits.iter().all(|(semaphore, value)| semaphore.has_reached(*value)),
            Some(Job::Signal(_)) => true,
            Some(Job::Present(_)) | None => false,
        };
        let begins = is_ready && !state.is_busy && state.begun <= last;
        begins.then(|| state.begin()).flatten().map(|job| (job, Running(self)))
    }

    /// Ends the worker after the jobs that are waiting.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_one();
    }
}

impl State {
    fn begin(&mut self) -> Option<Job> {
        let job = self.waiting.pop_front()?;
        self.begun += 1;
        self.is_busy = true;
        Some(job)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.complete.fetch_add(1, Ordering::Relaxed);
        self.0.outstanding.fetch_sub(1, Ordering::Release);
        let mut state = self.0.state();
        state.is_busy = false;
        let has_next = state.is_closed || !state.waiting.is_empty();
        drop(state);
        // The thread that takes the next job itself need not be woken, but another one may be.
        if has_next {
            self.0.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::PayloadKind;

    fn fence() -> Arc<Payload> {
        Payload::new(PayloadKind::Fence, 0)
    }

    fn push(jobs: &Jobs, job: Job) {
        jobs.push(std::iter::once(job)).unwrap();
    }

    fn batch(waits: &[(Arc<Payload>, u64)], signals: &[(Arc<Payload>, u64)]) -> Job {
        Job::Batch(Batch { waits: waits.to_vec(), signals: signals.to_vec(), ..Batch::default() })
    }

    #[test]
    fn a_waiting_thread_takes_jobs_up_to_the_one_it_needs() {
        let (jobs, fences) = (Jobs::default(), [fence(), fence(), fence()]);
        fences.iter().for_each(|fence| push(&jobs, Job::Signal(fence.clone())));
        let last = jobs.find(&fences[1], 1).unwrap();
        let first = jobs.try_next(last).unwrap();
        assert!(jobs.try_next(last).is_none(), "another thread executes a job");
        drop(first);
        assert!(matches!(jobs.try_next(last), Some((Job::Signal(fence), _)) if Arc::ptr_eq(&fence, &fences[1])));
        assert!(jobs.try_next(last).is_none(), "the third fence is not needed");
        assert!(!jobs.is_idle() && jobs.complete() == 2);
        assert!(jobs.find(&fences[1], 1).is_none());
    }

    #[test]
    fn a_waiting_thread_takes_no_job_that_has_to_wait() {
        let (jobs, line) = (Jobs::default(), Payload::new(PayloadKind::Timeline, 1));
        push(&jobs, batch(&[(line.clone(), 1)], &[(line.clone(), 4)]));
        push(&jobs, batch(&[(line.clone(), 3)], &[(line.clone(), 6)]));
        assert_eq!((jobs.find(&line, 2), jobs.find(&line, 5), jobs.find(&line, 7)), (Some(0), Some(1), None));
        assert!(jobs.try_next(1).is_some());
        assert!(jobs.try_next(1).is_none(), "nothing has signaled the timeline");
        line.signal(3);
        assert!(jobs.try_next(1).is_some());
    }

    #[test]
    fn frames_are_left_to_the_worker() {
        let jobs = Jobs::default();
        push(&jobs, Job::Present(Box::new(|| Box::new(|| ()))));
        assert!(jobs.try_next(u64::MAX).is_none());
        assert!(matches!(jobs.next(), Some((Job::Present(_), _))));
    }

    #[test]
    fn what_is_pushed_before_the_end_is_executed() {
        let jobs = Jobs::default();
        push(&jobs, Job::Signal(fence()));
        jobs.close();
        assert_eq!(jobs.push(std::iter::once(Job::Signal(fence()))), Err(Error::DeviceLost));
        assert!(jobs.next().is_some());
        assert!(jobs.next().is_none() && jobs.if_idle(|| ()));
    }
}
