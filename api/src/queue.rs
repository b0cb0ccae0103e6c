//! Queues. Each has a worker thread that executes submissions in order. A thread of the application
//! that waits for a submission executes it itself if the worker has not begun it.
//!
//! Source: Vulkan specification, "Devices and Queues" and "Command Buffer Submission".

mod jobs;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ash::vk;
use crossbeam::channel::{Sender, unbounded};
use parking_lot::Mutex;
use vitric_base::host_thread;
use vitric_gpu::command::CommandList;
use vitric_gpu::gpu::Gpu;

use self::jobs::{Job, Jobs};
use crate::command::Pending;
use crate::families::QueueRequest;
use crate::health::Health;
use crate::sync::{self, POLL_INTERVAL, Payload, PayloadKind};
use crate::{Error, Result};

/// A batch of a submission.
#[derive(Debug, Default)]
pub struct Batch {
    /// Semaphores that the batch waits for before it executes, with the values of timelines. A
    /// wait for a binary semaphore unsignals it.
    pub waits: Vec<(Arc<Payload>, u64)>,
    /// Command lists, executed in order.
    pub lists: Vec<Arc<CommandList>>,
    /// Command buffers that are pending until the batch is complete.
    pub pending: Vec<Pending>,
    /// Semaphores that are signaled when the lists are complete, with the values of timelines.
    pub signals: Vec<(Arc<Payload>, u64)>,
}

impl Batch {
    fn signal(&self) {
        self.signals.iter().for_each(|(semaphore, value)| semaphore.signal(*value));
    }
}

/// Function that shows a frame.
pub type ShowFrame = Box<dyn FnOnce() + Send>;

/// Function that is called when a frame is rendered, and returns the one that shows it.
pub type FrameReady = Box<dyn FnOnce() -> ShowFrame + Send>;

/// Thread that shows a queue's frames, so that the next frame can be rendered meanwhile. Dropping
/// the presenter waits until the last frame is shown and ends the thread.
struct Presenter {
    frames: Option<Sender<ShowFrame>>,
    thread: Option<JoinHandle<()>>,
}

impl Presenter {
    /// Starts the thread. If the host has no room for a thread, [`Self::show`] shows frames on the
    /// calling thread.
    fn new(health: Arc<Health>) -> Self {
        let (frames, received) = unbounded::<ShowFrame>();
        let run = move || received.into_iter().for_each(|show| health.guard("presentation", show));
        Self { frames: Some(frames), thread: host_thread::spawn("vitric-present", run).ok() }
    }

    fn show(&self, frame: ShowFrame) {
        match &self.frames {
            Some(frames) if self.thread.is_some() => drop(frames.send(frame)),
            _ => frame(),
        }
    }
}

impl Drop for Presenter {
    fn drop(&mut self) {
        self.frames.take();
        // A function that shows a frame owns no queue, so this code runs on another thread.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A queue.
#[derive(Debug)]
pub struct Queue {
    jobs: Arc<Jobs>,
    gpu: Arc<Gpu>,
    health: Arc<Health>,
    worker: Mutex<Option<JoinHandle<()>>>,
    /// Index of its family.
    pub family: u32,
    /// Flags that it was requested with.
    pub flags: vk::DeviceQueueCreateFlags,
}

/// Shortest timeout of a wait that executes jobs itself. A command cannot be interrupted, so such
/// a wait may outlast its timeout.
const MIN_HELPING_TIMEOUT: Duration = Duration::from_secs(1);

impl Queue {
    /// Creates one of the requested queues and starts its worker.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`] if the host has no room for a thread.
    pub fn new(gpu: Arc<Gpu>, health: Arc<Health>, request: &QueueRequest) -> Result<Arc<Self>> {
        let jobs = Arc::new(Jobs::default());
        let run = {
            let (gpu, health, jobs) = (gpu.clone(), health.clone(), jobs.clone());
            move || work(&gpu, &health, &jobs)
        };
        let worker = host_thread::spawn("vitric-queue", run).map_err(|_| Error::OutOfHostMemory)?;
        let (worker, &QueueRequest { family, flags, .. }) = (Mutex::new(Some(worker)), request);
        Ok(Arc::new(Self { jobs, gpu, health, worker, family, flags }))
    }

    /// Returns true if all submissions are complete.
    pub fn is_idle(&self) -> bool {
        self.jobs.is_idle()
    }

    /// Completes a submission at once if it has no work and all earlier submissions are complete.
    /// Returns true if it did.
    fn complete_empty(&self, batches: &[Batch], fence: Option<&Arc<Payload>>) -> bool {
        let is_empty = batches.iter().all(|batch| batch.waits.is_empty() && batch.lists.is_empty());
        is_empty
            && self.jobs.if_idle(|| {
                batches.iter().for_each(Batch::signal);
                fence.into_iter().for_each(|fence| fence.signal(1));
            })
    }

    /// Submits batches and then the fence, which is signaled when all batches are complete. Does
    /// not wait.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device is lost.
    pub fn submit(&self, batches: Vec<Batch>, fence: Option<Arc<Payload>>) -> Result<()> {
        self.health.check()?;
        if self.complete_empty(&batches, fence.as_ref()) {
            return Ok(());
        }
        self.jobs.push(batches.into_iter().map(Job::Batch).chain(fence.map(Job::Signal)))
    }

    /// Queues a frame. `ready` is called after all earlier submissions are complete, also on a lost
    /// device. The function that it returns shows the frame. Frames are shown in order. Neither
    /// later submissions nor [`Queue::wait_idle`] wait for them. Neither function may own a queue.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the worker has ended.
    pub fn present(&self, ready: impl FnOnce() -> ShowFrame + Send + 'static) -> Result<()> {
        self.jobs.push(std::iter::once(Job::Present(Box::new(ready))))
    }

    /// Executes jobs on the calling thread until `payload` reaches `value`. Returns early if no
    /// job would signal it, if another thread executes a job, or if the next job has to wait.
    ///
    /// A thread that waits for the queue would sleep meanwhile. Its help saves two changes of
    /// threads, and on a machine under load the time until the worker gets a processor.
    fn help(&self, payload: &Arc<Payload>, value: u64, deadline: Option<Instant>) {
        if self.health.is_lost() || payload.has_reached(value) {
            return;
        }
        let Some(last) = self.jobs.find(payload, value) else { return };
        // Half of this stack suffices for all conformance cases, also without optimization.
        if !host_thread::has_stack() {
            return;
        }
        while deadline.is_none_or(|deadline| Instant::now() < deadline)
            && let Some((job, _running)) = self.jobs.try_next(last)
        {
            self.health.guard("queue", || perform(&self.gpu, &self.health, &self.jobs, job));
        }
    }

    /// Waits until all submissions are complete (`vkQueueWaitIdle`). Frames may not be shown yet.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device is lost, also if a submission that was waited for lost
    /// it.
    pub fn wait_idle(&self) -> Result<()> {
        self.wait_idle_or(|| self.health.is_forked())?;
        self.health.check()
    }

    /// Waits until all submissions are complete, or until `give_up` returns true. `give_up` is
    /// called at least once in [`POLL_INTERVAL`].
    fn wait_idle_or(&self, give_up: impl Fn() -> bool) -> Result<()> {
        if self.health.is_forked() {
            return Err(Error::DeviceLost);
        }
        let done = Payload::new(PayloadKind::Fence, 0);
        self.jobs.push(std::iter::once(Job::Signal(done.clone())))?;
        self.help(&done, 1, None);
        // The worker also reaches this job if the device is lost.
        done.wait_until(1, None, give_up);
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.jobs.close();
        if let Some(worker) = self.worker.lock().take()
            && worker.thread().id() != std::thread::current().id()
        {
            let _ = worker.join();
        }
    }
}

/// Waits up to `timeout` nanoseconds until all or any of the payloads reach their values
/// (`vkWaitForFences`, `vkWaitSemaphores`), and returns true if they did in time. A timeout of 0
/// polls. The wait ends early if the device is lost. The calling thread may execute work of the
/// queues that the wait depends on.
pub fn wait(queues: &[Arc<Queue>], health: &Health, payloads: &[(Arc<Payload>, u64)], all: bool, timeout: u64) -> bool {
    let until = sync::deadline(timeout);
    if timeout >= MIN_HELPING_TIMEOUT.as_nanos() as u64 && (all || payloads.len() == 1) {
        let helped =
            payloads.iter().flat_map(|(payload, value)| queues.iter().map(move |queue| (queue, payload, *value)));
        helped.for_each(|(queue, payload, value)| queue.help(payload, value, until));
    }
    sync::wait_until(payloads, all, until, health)
}

/// Longest wait of the host for a query of an idle device. Another thread may be about to submit
/// the commands that end the query.
const MAX_IDLE_WAIT: Duration = Duration::from_secs(1);

/// A wait of the host for queries. It ends when the device is lost, or when no submission is left
/// that could end the queries.
pub struct QueryWait {
    queues: Vec<Arc<Queue>>,
    health: Arc<Health>,
    idle_since: Mutex<Option<Instant>>,
}

impl QueryWait {
    /// Starts a wait for queries that the work of `queues` ends. The device may be destroyed
    /// during the wait.
    pub fn new(queues: &[Arc<Queue>], health: &Arc<Health>) -> Self {
        Self { queues: queues.to_vec(), health: health.clone(), idle_since: Mutex::new(None) }
    }

    /// Fails if the device is lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn check(&self) -> Result<()> {
        self.health.check()
    }

    /// Returns true if the wait must end without a result.
    pub fn is_over(&self) -> bool {
        let mut since = self.idle_since.lock();
        let is_idle = self.queues.iter().all(|queue| queue.is_idle());
        *since = is_idle.then(|| since.unwrap_or_else(Instant::now));
        self.health.is_lost() || since.is_some_and(|since| since.elapsed() >= MAX_IDLE_WAIT)
    }
}

/// Time without progress after which queues that only wait for semaphores count as stuck.
const STUCK: Duration = POLL_INTERVAL.saturating_mul(5);

/// Waits until queues are idle, before their device is destroyed. If all busy queues wait for
/// semaphores, no queue is left to signal them. Their waits then end, and the device is lost.
pub(crate) fn close(queues: &[Arc<Queue>], health: &Health) {
    let states = || queues.iter().map(|queue| queue.jobs.complete()).collect::<Vec<_>>();
    let last = Mutex::new((states(), Instant::now()));
    let give_up = || {
        let is_stuck = |queue: &Arc<Queue>| queue.is_idle() || queue.jobs.waits.load(Ordering::Acquire);
        let (mut last, now) = (last.lock(), states());
        if now != last.0 || !queues.iter().all(is_stuck) {
            *last = (now, Instant::now());
        }
        if last.1.elapsed() >= STUCK {
            health.ends_waits.store(true, Ordering::Release);
        }
        false
    };
    // Without a worker there is nothing to wait for.
    queues.iter().for_each(|queue| _ = queue.wait_idle_or(give_up));
}

/// Executes the jobs of a queue, until it is dropped.
fn work(gpu: &Gpu, health: &Arc<Health>, jobs: &Jobs) {
    // The presenter's thread starts with the first frame.
    let mut presenter = None;
    while let Some((job, _running)) = jobs.next() {
        health.guard("queue", || match job {
            Job::Present(ready) => presenter.get_or_insert_with(|| Presenter::new(health.clone())).show(ready()),
            job => perform(gpu, health, jobs, job),
        });
    }
}

fn perform(gpu: &Gpu, health: &Health, jobs: &Jobs, job: Job) {
    match job {
        Job::Batch(mut batch) => {
            jobs.waits.store(!batch.waits.is_empty(), Ordering::Release);
            let consume = |(semaphore, value): &(Arc<Payload>, u64)| semaphore.consume(*value, || health.gives_up());
            let ready = batch.waits.iter().all(consume);
            jobs.waits.store(false, Ordering::Release);
            if !ready && !health.is_lost() {
                health.lose("it is destroyed while a queue waits for a semaphore that nothing signals: signal it before vkDestroyDevice");
            }
            if ready
                && !health.is_lost()
                && let Err(report) = gpu.execute(&batch.lists)
            {
                health.lose_by_execution(&report);
            }
            // Frees the lists' memory first, so that the next recordings can reuse it.
            batch.lists.clear();
            batch.pending.clear();
            batch.signal();
        }
        // Fences are signaled even on a lost device, so that no wait is endless.
        Job::Signal(fence) => fence.signal(1),
        Job::Present(ready) => ready()(),
    }
}
