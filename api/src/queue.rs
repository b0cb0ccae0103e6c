//! Queues: each has a worker thread that takes submissions in order.
//!
//! Source: Vulkan specification, "Devices and Queues" and "Command Buffer Submission".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam::channel::{Sender, unbounded};
use parking_lot::Mutex;
use vitric_base::host_memory;
use vitric_gpu::command::CommandList;
use vitric_gpu::gpu::Gpu;

use crate::command::Pending;
use crate::health::Health;
use crate::sync::{Kind, Payload, TURN};
use crate::{Error, Result};

/// One batch of a submission.
#[derive(Debug, Default)]
pub struct Batch {
    /// Waited for before anything else: timelines until they reach a value, binary ones are unsignaled.
    pub waits: Vec<(Arc<Payload>, u64)>,
    /// Executed in order.
    pub lists: Vec<Arc<CommandList>>,
    /// The command buffers that are pending until the batch is complete.
    pub pending: Vec<Pending>,
    /// Signaled when the lists are complete: timelines with a value.
    pub signals: Vec<(Arc<Payload>, u64)>,
}

impl Batch {
    fn signal(&self) {
        self.signals.iter().for_each(|(semaphore, value)| semaphore.signal(*value));
    }
}

/// Work for a queue's thread.
enum Job {
    Batch(Batch),
    Signal(Arc<Payload>),
    Present(Shown),
    /// Signaled behind all frames, too.
    Idle(Arc<Payload>),
}

/// What shows a frame.
type Shown = Box<dyn FnOnce() + Send>;

/// The thread that shows a queue's frames, so that the next one is rendered meanwhile. It ends when this goes, behind the last frame.
struct Presenter {
    frames: Option<Sender<Shown>>,
    thread: Option<JoinHandle<()>>,
}

impl Presenter {
    /// Starts the thread; without one, when the host has none to give, frames are shown at once.
    fn new() -> Self {
        let (frames, received) = unbounded::<Shown>();
        let run = move || received.into_iter().for_each(|show| show());
        let start = || std::thread::Builder::new().name("vitric-present".into()).spawn(run).ok();
        let thread = host_memory::has_room_for_threads(1).then(start).flatten();
        Self { frames: Some(frames), thread }
    }

    fn show(&self, frame: Shown) {
        match &self.frames {
            Some(frames) if self.thread.is_some() => drop(frames.send(frame)),
            _ => frame(),
        }
    }
}

impl Drop for Presenter {
    fn drop(&mut self) {
        self.frames.take();
        // What shows a frame owns no queue, so this is another thread.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How far a queue is.
#[derive(Debug, Default)]
struct Progress {
    /// Jobs that were sent and are not complete. It grows only while `jobs` is locked.
    outstanding: AtomicUsize,
    /// Jobs that are complete.
    complete: AtomicUsize,
    /// True while the worker waits for semaphores.
    waits: AtomicBool,
}

/// A queue.
#[derive(Debug)]
pub struct Queue {
    jobs: Mutex<Option<Sender<Job>>>,
    worker: Mutex<Option<JoinHandle<()>>>,
    progress: Arc<Progress>,
    health: Arc<Health>,
    /// Index of its family.
    pub family: u32,
}

impl Queue {
    /// Starts the worker of a queue of a family.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`] when the host has no thread to give.
    pub fn new(gpu: Arc<Gpu>, health: Arc<Health>, family: u32) -> Result<Arc<Self>> {
        let (jobs, received) = unbounded();
        let (worker_health, progress) = (health.clone(), Arc::new(Progress::default()));
        let made = progress.clone();
        let run = move || {
            // The thread for frames comes with the first one.
            let mut presenter = None;
            for job in received {
                match (job, &presenter) {
                    (Job::Present(frame), _) => presenter.get_or_insert_with(Presenter::new).show(frame),
                    (Job::Idle(done), Some(presenter)) => presenter.show(Box::new(move || done.signal(1))),
                    (job, _) => perform(&gpu, (&worker_health, &made), job),
                }
                made.complete.fetch_add(1, Ordering::Relaxed);
                made.outstanding.fetch_sub(1, Ordering::Release);
            }
        };
        if !host_memory::has_room_for_threads(1) {
            return Err(Error::OutOfHostMemory);
        }
        let worker = std::thread::Builder::new().name("vitric-queue".into()).spawn(run);
        let worker = worker.map_err(|_| Error::OutOfHostMemory)?;
        let (jobs, worker) = (Mutex::new(Some(jobs)), Mutex::new(Some(worker)));
        Ok(Arc::new(Self { jobs, worker, progress, health, family }))
    }

    /// Returns true if all submissions are complete.
    pub fn is_idle(&self) -> bool {
        self.progress.outstanding.load(Ordering::Acquire) == 0
    }

    fn send(&self, job: Job) -> Result<()> {
        self.send_all(std::iter::once(job))
    }

    fn send_all(&self, mut all: impl Iterator<Item = Job>) -> Result<()> {
        let jobs = self.jobs.lock();
        let sender = jobs.as_ref().ok_or(Error::DeviceLost)?;
        all.try_for_each(|job| {
            self.progress.outstanding.fetch_add(1, Ordering::Relaxed);
            sender.send(job).map_err(|_| Error::DeviceLost)
        })
    }

    /// Completes a submission at once when it has nothing to do and nothing was submitted before it that is not complete.
    fn complete_empty(&self, batches: &[Batch], fence: Option<&Arc<Payload>>) -> bool {
        // While this is locked nothing else is submitted.
        let _jobs = self.jobs.lock();
        let is_empty = batches.iter().all(|batch| batch.waits.is_empty() && batch.lists.is_empty());
        let completes = is_empty && self.is_idle();
        if completes {
            batches.iter().for_each(Batch::signal);
            fence.into_iter().for_each(|fence| fence.signal(1));
        }
        completes
    }

    /// Submits batches, and then the fence, which is signaled when all of them are complete. Returns at once.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when the device was lost before.
    pub fn submit(&self, batches: Vec<Batch>, fence: Option<Arc<Payload>>) -> Result<()> {
        self.health.check()?;
        if self.complete_empty(&batches, fence.as_ref()) {
            return Ok(());
        }
        self.send_all(batches.into_iter().map(Job::Batch).chain(fence.map(Job::Signal)))
    }

    /// Has a frame shown, in order with others, when what was submitted before is complete, also on a lost device. What is submitted
    /// afterwards does not wait for that; [`Queue::wait_idle`] does. What shows it must own no queue.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when the worker has ended.
    pub fn present(&self, show: impl FnOnce() + Send + 'static) -> Result<()> {
        self.send(Job::Present(Box::new(show)))
    }

    /// `vkQueueWaitIdle`: waits until all that was submitted is complete, and frames are shown.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when the device was lost, also by what was waited for.
    pub fn wait_idle(&self) -> Result<()> {
        self.wait_idle_or(|| self.health.is_forked())?;
        self.health.check()
    }

    /// Waits until all that was submitted is complete, and frames are shown, or `give_up` returns true, which is asked now and then.
    fn wait_idle_or(&self, give_up: impl Fn() -> bool) -> Result<()> {
        if self.health.is_forked() {
            return Err(Error::DeviceLost);
        }
        let done = Payload::new(Kind::Fence, 0);
        self.send(Job::Idle(done.clone()))?;
        // Its worker comes to it also when the device is lost.
        done.wait_until(1, None, give_up);
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Without a sender the worker ends.
        self.jobs.lock().take();
        if let Some(worker) = self.worker.lock().take()
            && worker.thread().id() != std::thread::current().id()
        {
            let _ = worker.join();
        }
    }
}

/// How long the host waits for a query of a device that has nothing to do: another thread may be about to submit what ends it.
const IDLE_PATIENCE: Duration = Duration::from_secs(1);

/// A wait of the host for queries. It is given up when the device is lost, and when nothing that was submitted is left to end them.
pub struct QueryWait {
    queues: Vec<Arc<Queue>>,
    health: Arc<Health>,
    idle_since: Mutex<Option<Instant>>,
}

impl QueryWait {
    /// For queries of a device, which may be destroyed meanwhile: those that the work of some queues ends.
    pub fn new(queues: &[Arc<Queue>], health: &Arc<Health>) -> Self {
        Self { queues: queues.to_vec(), health: health.clone(), idle_since: Mutex::new(None) }
    }

    /// Fails when the device was lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn check(&self) -> Result<()> {
        self.health.check()
    }

    /// Returns true if the wait is to be given up.
    pub fn is_over(&self) -> bool {
        let mut since = self.idle_since.lock();
        let is_idle = self.queues.iter().all(|queue| queue.is_idle());
        *since = is_idle.then(|| since.unwrap_or_else(Instant::now));
        self.health.is_lost() || since.is_some_and(|since| since.elapsed() >= IDLE_PATIENCE)
    }
}

/// How long queues make no progress before they are given up, as they wait for semaphores and nothing else happens.
const STUCK: Duration = TURN.saturating_mul(5);

/// Waits until queues are idle, before their device is destroyed. Where all that are not only wait for semaphores, nobody is left who
/// could signal these: then the device is lost, and the waits end.
pub(crate) fn close(queues: &[Arc<Queue>], health: &Health) {
    let states = || queues.iter().map(|queue| queue.progress.complete.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let last = Mutex::new((states(), Instant::now()));
    let give_up = || {
        let is_stuck = |queue: &Arc<Queue>| queue.is_idle() || queue.progress.waits.load(Ordering::Acquire);
        let (mut last, now) = (last.lock(), states());
        if now != last.0 || !queues.iter().all(is_stuck) {
            *last = (now, Instant::now());
        }
        if last.1.elapsed() >= STUCK {
            health.ends_waits.store(true, Ordering::Release);
        }
        false
    };
    // Where a worker has ended there is nothing to wait for.
    queues.iter().for_each(|queue| _ = queue.wait_idle_or(give_up));
}

fn perform(gpu: &Gpu, (health, progress): (&Health, &Progress), job: Job) {
    match job {
        Job::Batch(mut batch) => {
            progress.waits.store(!batch.waits.is_empty(), Ordering::Release);
            let consume = |(semaphore, value): &(Arc<Payload>, u64)| semaphore.consume(*value, || health.gives_up());
            let ready = batch.waits.iter().all(consume);
            progress.waits.store(false, Ordering::Release);
            if !ready && !health.is_lost() {
                health.lose("it is destroyed while a queue waits for a semaphore that nothing signals");
            }
            if ready
                && !health.is_lost()
                && let Err(report) = gpu.execute(&batch.lists)
            {
                health.lose(&report.to_string());
            }
            // Their memory is that of what is recorded next.
            batch.lists.clear();
            batch.pending.clear();
            batch.signal();
        }
        // Fences are signaled even when the device is lost, so that nobody waits for ever.
        Job::Signal(fence) | Job::Idle(fence) => fence.signal(1),
        Job::Present(show) => show(),
    }
}
