//! Surfaces and swapchains, without the parts that depend on the window system.
//!
//! A present target receives finished pixels. Images are acquired in order. A frame is shown after
//! its rendering, on a separate thread of the queue. Source: `VK_KHR_surface`, `VK_KHR_swapchain`,
//! `VK_KHR_present_id2`, `VK_KHR_present_wait2`, `VK_KHR_present_mode_fifo_latest_ready`,
//! `VK_EXT_present_timing`.

mod target;
pub mod timing;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::{Condvar, Mutex, RwLock};
use vitric_base::clock;
use vitric_base::knobs::{self, Vsync};
use vitric_gpu::transfer::read_frame;
use vitric_memory::Surface;
use vitric_vulkan::sys;

use crate::device::Device;
use crate::health::Health;
use crate::image::{self, ImageDesc};
use crate::physical::ImageKind;
use crate::sync::{POLL_INTERVAL, Payload, deadline};
use crate::{Error, Result};

pub use self::target::{Frame, PresentTarget};
pub use self::timing::Refresh;
use self::timing::{FrameReport, PastTiming, TimingQueue, TimingRequest};

/// Formats of presentable images, all in the colour space `SRGB_NONLINEAR`.
pub const FORMATS: [vk::Format; 4] =
    [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB];

/// Present mode that shows one frame in each refresh, the last one that is rendered then.
pub const FIFO_LATEST_READY: vk::PresentModeKHR =
    vk::PresentModeKHR::from_raw(sys::PresentModeKHR::FIFO_LATEST_READY.as_raw());

/// Supported present modes.
pub const PRESENT_MODES: [vk::PresentModeKHR; 5] = [
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::FIFO_RELAXED,
    FIFO_LATEST_READY,
    vk::PresentModeKHR::MAILBOX,
    vk::PresentModeKHR::IMMEDIATE,
];

/// Returns the possible usage of swapchain images. Their format may allow less.
pub fn usage() -> vk::ImageUsageFlags {
    vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::STORAGE
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
}

const MIN_IMAGES: u32 = 2;
const MAX_IMAGES: u32 = 8;
/// Longest wait for a display that reports shown frames. It may show no frame of a hidden window.
const MAX_DISPLAY_WAIT: Duration = Duration::from_millis(250);
/// Time between two looks for a report of the display.
const REPORT_INTERVAL: Duration = Duration::from_millis(1);
/// Longest wait of [`Swapchain::close`] for pending frames.
const MAX_CLOSING_WAIT: Duration = Duration::from_secs(1);

/// Returns the current capabilities of a surface: 2 to 8 images of one layer. Their extent is that
/// of the window, or 1 to 16384 pixels a side if the surface has no fixed size.
///
/// # Errors
/// [`Error::SurfaceLost`] if the window is gone.
pub fn capabilities(target: &dyn PresentTarget) -> Result<vk::SurfaceCapabilitiesKHR> {
    let supported_composite_alpha = target.composite_alpha();
    Ok(vk::SurfaceCapabilitiesKHR { supported_composite_alpha, ..capabilities_with(target.extent()?) })
}

/// Returns the capabilities that all surfaces with the size `fixed` have, or with any size for
/// `None`.
fn capabilities_with(fixed: Option<vk::Extent2D>) -> vk::SurfaceCapabilitiesKHR {
    let largest = vk::Extent2D { width: 16384, height: 16384 };
    let smallest = vk::Extent2D { width: 1, height: 1 };
    vk::SurfaceCapabilitiesKHR {
        min_image_count: MIN_IMAGES,
        max_image_count: MAX_IMAGES,
        current_extent: fixed.unwrap_or(vk::Extent2D { width: u32::MAX, height: u32::MAX }),
        min_image_extent: fixed.unwrap_or(smallest),
        max_image_extent: fixed.unwrap_or(largest),
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
        current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::OPAQUE,
        supported_usage_flags: usage(),
    }
}

/// Returns the capabilities without a surface (`VK_GOOGLE_surfaceless_query`). Numbers that depend
/// on the surface are all ones.
pub fn capabilities_of_any() -> vk::SurfaceCapabilitiesKHR {
    vk::SurfaceCapabilitiesKHR {
        min_image_count: u32::MAX,
        max_image_count: u32::MAX,
        current_transform: vk::SurfaceTransformFlagsKHR::INHERIT,
        ..capabilities_with(None)
    }
}

/// Parameters of `vkCreateSwapchainKHR`. `images` is clamped to the range in [`capabilities`]; the
/// extent is in pixels.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are those of VkSwapchainCreateInfoKHR")]
pub struct SwapchainDesc {
    pub images: u32,
    pub format: vk::Format,
    pub extent: vk::Extent2D,
    pub usage: vk::ImageUsageFlags,
    pub mode: vk::PresentModeKHR,
    pub alpha: vk::CompositeAlphaFlagsKHR,
    pub is_mutable: bool,
    pub has_timing: bool,
}

#[derive(Debug)]
struct SwapchainState {
    /// Indices of free images, the next one to acquire first.
    free: std::collections::VecDeque<u32>,
    last: Option<Instant>,
    failed: Option<Error>,
    mode: vk::PresentModeKHR,
    /// Number of frames that were queued and are not shown yet.
    waiting: u32,
    /// Number of these frames by image.
    waiting_by_image: [u32; MAX_IMAGES as usize],
    /// Number of frames that were rendered.
    rendered: u64,
    /// True if pending frames are shown without waiting for their periods, because the swapchain
    /// is closing.
    closing: bool,
    /// Greatest present id of a shown frame.
    shown: u64,
    /// Time at which the last frame was shown, if frames have timing.
    previous: Option<u64>,
    /// Requests of rendered frames with a target time, by the numbers of the frames.
    scheduled: HashMap<u64, TimingRequest>,
    timings: TimingQueue,
    /// Number of frames about which a report may come.
    reports: u32,
    /// Period of the refresh that the application has last seen.
    period: Option<Duration>,
    /// Number of periods that the application has seen.
    periods: u64,
}

/// Refresh of the display as an application sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshCycle {
    /// Period; 0 if the display has none, `None` if it is not known yet.
    pub period: Option<Duration>,
    /// Number that grows when the period changes.
    pub counter: u64,
}

/// A swapchain.
pub struct Swapchain {
    /// Health of the device.
    health: Arc<Health>,
    /// Destination of frames, until the swapchain is closed.
    target: RwLock<Option<Arc<dyn PresentTarget>>>,
    desc: SwapchainDesc,
    images: Vec<Arc<Surface>>,
    state: Mutex<SwapchainState>,
    freed: Condvar,
    retired: AtomicBool,
}

impl Swapchain {
    /// Creates a swapchain and its images. `old` is retired, also on failure.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::OutOfDeviceMemory`], and [`Error::FormatNotSupported`] for
    /// a format outside [`FORMATS`] or an extent or usage that the format does not support.
    pub fn new(
        device: &Device,
        target: Arc<dyn PresentTarget>,
        desc: SwapchainDesc,
        old: Option<&Swapchain>,
    ) -> Result<Arc<Self>> {
        if let Some(old) = old {
            old.retired.store(true, Ordering::Release);
        }
        device.health().check()?;
        if !FORMATS.contains(&desc.format) {
            return Err(Error::FormatNotSupported);
        }
        let count = desc.images.clamp(MIN_IMAGES, MAX_IMAGES);
        let images = (0..count).map(|_| create_image(device, &desc)).collect::<Result<_>>()?;
        let state = SwapchainState {
            free: (0..count).collect(),
            last: None,
            failed: None,
            mode: desc.mode,
            waiting: 0,
            waiting_by_image: Default::default(),
            rendered: 0,
            closing: false,
            shown: 0,
            previous: None,
            scheduled: HashMap::new(),
            timings: TimingQueue::default(),
            reports: 0,
            period: None,
            periods: 0,
        };
        let (state, retired) = (Mutex::new(state), AtomicBool::new(false));
        let (health, target) = (device.health().clone(), RwLock::new(Some(target)));
        Ok(Arc::new(Self { health, target, desc, images, state, freed: Condvar::new(), retired }))
    }

    /// Returns the images, by the index that [`Swapchain::acquire`] returns.
    pub fn images(&self) -> &[Arc<Surface>] {
        &self.images
    }

    /// Acquires an image and returns its index; `None` if no image becomes free in `timeout`
    /// nanoseconds. The semaphore and the fence are signaled at once, because nothing reads a free
    /// image.
    ///
    /// # Errors
    /// Errors of [`Swapchain::check`] and [`Error::DeviceLost`], also if they occur during the
    /// wait.
    pub fn acquire(
        &self,
        timeout: u64,
        semaphore: Option<&Arc<Payload>>,
        fence: Option<&Arc<Payload>>,
    ) -> Result<Option<u32>> {
        self.check()?;
        let until = deadline(timeout);
        let mut state = self.state.lock();
        while state.free.is_empty() {
            self.health.check()?;
            if state.closing {
                return Err(Error::SurfaceLost);
            }
            if self.retired.load(Ordering::Acquire) {
                return Err(Error::OutOfDate);
            }
            let step = Instant::now() + POLL_INTERVAL;
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            self.freed.wait_until(&mut state, until.map_or(step, |until| until.min(step)));
        }
        let image = state.free.pop_front();
        drop(state);
        semaphore.into_iter().for_each(|semaphore| semaphore.signal(0));
        fence.into_iter().for_each(|fence| fence.signal(1));
        Ok(image)
    }

    /// Fails if the swapchain can no longer be used.
    ///
    /// # Errors
    /// [`Error::OutOfDate`] if the window's size changed or the swapchain is retired,
    /// [`Error::SurfaceLost`] if the window is gone or the swapchain is closed, and the error of
    /// the last frame that could not be shown.
    pub fn check(&self) -> Result<()> {
        if self.retired.load(Ordering::Acquire) {
            return Err(Error::OutOfDate);
        }
        if let Some(error) = self.state.lock().failed {
            return Err(error);
        }
        let target = self.target.read();
        match target.as_ref().ok_or(Error::SurfaceLost)?.extent()? {
            Some(extent) if extent != self.desc.extent => Err(Error::OutOfDate),
            _ => Ok(()),
        }
    }

    /// Returns true if other swapchains cannot use the target: until this one is retired or
    /// closed.
    pub fn is_in_use(&self) -> bool {
        !self.retired.load(Ordering::Acquire) && self.target.read().is_some()
    }

    /// Releases the target, because the application may destroy its connection to the window
    /// system afterwards. Pending frames are shown first, without waiting for their periods.
    /// Frames that are still pending after one second, and frames of a lost device, are dropped.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        self.freed.notify_all();
        let until = Instant::now() + MAX_CLOSING_WAIT;
        while state.waiting > 0 && !self.health.is_lost() && Instant::now() < until {
            self.freed.wait_until(&mut state, until.min(Instant::now() + POLL_INTERVAL));
        }
        drop(state);
        // The lock waits for the frame that is being shown.
        let target = self.target.write().take();
        drop(target);
    }

    /// Registers an acquired image as a pending frame. After [`Error::PresentTimingQueueFull`] the
    /// application can also send the image again.
    pub fn send(self: &Arc<Self>, image: u32) -> Presentation {
        let mut state = self.state.lock();
        state.waiting += 1;
        state.waiting_by_image.get_mut(image as usize).into_iter().for_each(|frames| *frames += 1);
        state.free.retain(|free| *free != image);
        drop(state);
        Presentation { chain: self.clone(), image, timing: None, slot: None }
    }

    /// Releases acquired images that are not shown.
    pub fn release(&self, images: &[u32]) {
        let mut state = self.state.lock();
        images.iter().for_each(|&image| self.give_back(&mut state, image));
        drop(state);
        self.freed.notify_all();
    }

    fn give_back(&self, state: &mut SwapchainState, image: u32) {
        if (image as usize) < self.images.len() && !state.free.contains(&image) {
            state.free.push_back(image);
        }
    }

    /// Waits up to `timeout` nanoseconds until a frame with this present id or a greater one was
    /// shown, and returns true if it was. Source: `vkWaitForPresentKHR`.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::SurfaceLost`] if the swapchain is closed, and the error of
    /// a frame that could not be shown, which ends all waits.
    pub fn wait_for(&self, number: u64, timeout: u64) -> Result<bool> {
        let until = deadline(timeout);
        let mut state = self.state.lock();
        while state.shown < number {
            self.health.check()?;
            if let Some(error) = state.failed {
                return Err(error);
            }
            // No frame is pending, so the present id cannot be reached.
            if state.closing && state.waiting == 0 {
                return Err(Error::SurfaceLost);
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return Ok(false);
            }
            self.freed
                .wait_until(&mut state, until.map_or(now + POLL_INTERVAL, |until| until.min(now + POLL_INTERVAL)));
        }
        Ok(true)
    }

    /// Returns true if the swapchain was created for the timing of presentations.
    pub fn has_timing(&self) -> bool {
        self.desc.has_timing
    }

    /// Returns the stages of a frame whose times are known; none if the swapchain is closed.
    pub fn stages(&self) -> sys::PresentStageFlagsEXT {
        self.target.read().as_ref().map_or_else(Default::default, |target| target.stages())
    }

    /// Changes the number of timings that are kept for the application. Returns false if it has
    /// more to read.
    pub fn resize_timings(&self, size: usize) -> bool {
        self.state.lock().timings.resize(size)
    }

    /// Returns the display's refresh.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] if the window is gone or the swapchain is closed.
    pub fn refresh_cycle(&self) -> Result<RefreshCycle> {
        let target = self.target.read();
        let target = target.as_ref().ok_or(Error::SurfaceLost)?;
        target.poll()?;
        let period = match refresh_of(&**target) {
            Refresh::None => Some(Duration::ZERO),
            Refresh::Period(period) => Some(period),
            Refresh::Reported(period) => period,
        };
        let mut state = self.state.lock();
        if state.periods == 0 || state.period != period {
            state.period = period;
            state.periods += 1;
        }
        Ok(RefreshCycle { period, counter: state.periods })
    }

    /// Returns the number of timings that the application can read now. `write` receives up to
    /// `room` of them, with their places.
    ///
    /// # Errors
    /// The first error of `write`. The application can then read all timings again.
    pub fn read_timings(
        &self,
        flags: sys::PastPresentationTimingFlagsEXT,
        room: usize,
        write: impl FnMut(usize, &PastTiming) -> Result<()>,
    ) -> Result<usize> {
        let mut state = self.state.lock();
        let available = state.timings.available(flags);
        state.timings.read(flags, room, write)?;
        Ok(available)
    }

    /// Waits in FIFO modes until the next frame may be shown: at its target time, and one frame in
    /// each refresh of the display. Does not wait if the swapchain is closing, or for a display
    /// without a refresh. Returns false if the mode shows a later frame instead.
    fn pace(
        &self,
        &Rendered { number, mode }: &Rendered,
        timing: Option<&TimingRequest>,
        target: &dyn PresentTarget,
    ) -> bool {
        if ![vk::PresentModeKHR::FIFO, vk::PresentModeKHR::FIFO_RELAXED, FIFO_LATEST_READY].contains(&mode) {
            return true;
        }
        let refresh = refresh_of(target);
        if let Some(timing) = timing {
            self.wait_for_target(timing, refresh, target);
        }
        let due = match refresh {
            Refresh::None => return true,
            Refresh::Period(period) => Some(self.wait_for_period(period)),
            Refresh::Reported(_) => {
                self.wait_until_shown(target);
                None
            }
        };
        let mut state = self.state.lock();
        if mode == FIFO_LATEST_READY && state.rendered > number {
            let next = state.scheduled.get(&(number + 1)).and_then(|timing| timing.due(state.previous, refresh));
            if next.is_none_or(|due| due <= clock::monotonic()) {
                return false;
            }
        }
        state.last = due;
        true
    }

    /// Waits until the target time of a frame. Ends early if the swapchain is closing, its window
    /// is gone, or the device is lost or destroyed.
    fn wait_for_target(&self, timing: &TimingRequest, refresh: Refresh, target: &dyn PresentTarget) {
        // A relative time begins when the previous frame is visible, which its report tells.
        let until = Instant::now() + MAX_DISPLAY_WAIT;
        while target.poll().is_ok() && !self.health.gives_up() {
            let mut state = self.state.lock();
            let due = timing.due(state.previous, refresh).unwrap_or(0);
            let left = Duration::from_nanos(due.saturating_sub(clock::monotonic()));
            let is_early = timing.is_relative() && state.reports > 0 && Instant::now() < until;
            if state.closing || left.is_zero() && !is_early {
                return;
            }
            let step = if is_early { REPORT_INTERVAL } else { left };
            self.freed.wait_for(&mut state, step.min(POLL_INTERVAL));
        }
    }

    /// Waits until the period of the previous frame ends. Returns the begin of the next period: a
    /// late frame is shown at once and starts a new one, so that `FIFO_RELAXED` needs no separate
    /// code.
    fn wait_for_period(&self, period: Duration) -> Instant {
        let mut state = self.state.lock();
        let now = Instant::now();
        let due = state.last.map_or(now, |last| last + period);
        while !state.closing && Instant::now() < due {
            self.freed.wait_until(&mut state, due);
        }
        due.max(now)
    }

    /// Waits until the display has shown the previous frame, at most [`MAX_DISPLAY_WAIT`].
    fn wait_until_shown(&self, target: &dyn PresentTarget) {
        let until = Instant::now() + MAX_DISPLAY_WAIT;
        while !self.state.lock().closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || target.wait_until_shown(left.min(POLL_INTERVAL)) {
                return;
            }
        }
    }
}

/// Returns the refresh that frames follow.
fn refresh_of(target: &dyn PresentTarget) -> Refresh {
    match knobs::vsync(knobs::values().text("VITRIC_VSYNC")).unwrap_or(Vsync::Auto) {
        Vsync::Auto => target.refresh(),
        Vsync::Off => Refresh::None,
        Vsync::Every(period) => Refresh::Period(period),
    }
}

/// A pending frame. Dropping it makes its image free, whether it was shown or not.
pub struct Presentation {
    chain: Arc<Swapchain>,
    image: u32,
    timing: Option<TimingRequest>,
    /// Slot of the timing queue, if the application requests times.
    slot: Option<u64>,
}

/// A frame among the rendered ones of its swapchain.
struct Rendered {
    /// Number of the frame, from 1.
    number: u64,
    mode: vk::PresentModeKHR,
}

impl Presentation {
    /// Sets the timing of the frame, and reserves a slot for the requested times, if any. `id` is
    /// its present id, or 0. Stages that the target does not report have the time 0.
    ///
    /// # Errors
    /// [`Error::PresentTimingQueueFull`]
    pub fn set_timing(&mut self, timing: TimingRequest, id: u64) -> Result<()> {
        if !timing.stages.is_empty() {
            let known = self.chain.stages();
            let mut state = self.chain.state.lock();
            let slot = state.timings.reserve(id, timing)?;
            state.timings.record(slot, !known, 0);
            self.slot = Some(slot);
        }
        self.timing = Some(timing);
        Ok(())
    }

    /// Registers the frame as rendered, and returns the function that shows it. `mode` changes the
    /// present mode for this and later frames.
    ///
    /// The function does nothing if the swapchain is closed. In FIFO modes it waits for the
    /// refresh. [`FIFO_LATEST_READY`] does not show the image if a later one is rendered by then.
    /// [`Swapchain::check`] returns an error of the target from then on. On success, waits of
    /// [`Swapchain::wait_for`] for `id` end; 0 is no present id.
    pub fn rendered(self, mode: Option<vk::PresentModeKHR>, id: u64) -> impl FnOnce() + Send + use<> {
        let mut state = self.chain.state.lock();
        state.mode = mode.unwrap_or(state.mode);
        state.rendered += 1;
        let rendered = Rendered { number: state.rendered, mode: state.mode };
        if let Some(timing) = self.timing.filter(|timing| timing.target > 0) {
            state.scheduled.insert(rendered.number, timing);
        }
        self.record(&mut state, sys::PresentStageFlagsEXT::QUEUE_OPERATIONS_END);
        drop(state);
        move || self.show(&rendered, id)
    }

    /// Records the current time for a stage, if the application requests times.
    fn record(&self, state: &mut SwapchainState, stage: sys::PresentStageFlagsEXT) {
        if let Some(slot) = self.slot {
            state.timings.record(slot, stage, clock::monotonic());
        }
    }

    fn show(self, rendered: &Rendered, id: u64) {
        let chain = &*self.chain;
        let Some(surface) = chain.images.get(self.image as usize) else { return };
        // The lock is kept until the frame is shown, so that closing waits.
        let target = chain.target.read();
        let Some(target) = &*target else { return };
        let is_next = chain.pace(rendered, self.timing.as_ref(), &**target);
        if self.timing.is_some() {
            let mut state = chain.state.lock();
            state.scheduled.remove(&rendered.number);
            if is_next {
                self.record(&mut state, sys::PresentStageFlagsEXT::REQUEST_DEQUEUED);
            }
        }
        if !is_next {
            return;
        }
        let is_opaque = chain.desc.alpha == vk::CompositeAlphaFlagsKHR::OPAQUE;
        let read = |pixels: &mut [u8]| read_frame(surface, is_opaque, pixels);
        let report = chain.desc.has_timing.then(|| FrameReport::new(&self.chain, self.slot));
        let shown = target.present(Frame { extent: chain.desc.extent, read: &read, is_opaque, report });
        let mut state = chain.state.lock();
        match shown {
            Ok(()) => {
                state.shown = state.shown.max(id);
                if chain.desc.has_timing {
                    state.previous = state.previous.max(Some(clock::monotonic()));
                    self.record(&mut state, sys::PresentStageFlagsEXT::IMAGE_FIRST_PIXEL_OUT);
                }
            }
            Err(error) => state.failed = Some(error),
        }
    }
}

impl Drop for Presentation {
    fn drop(&mut self) {
        let mut state = self.chain.state.lock();
        self.slot.into_iter().for_each(|slot| state.timings.end(slot));
        state.waiting -= 1;
        if let Some(frames) = state.waiting_by_image.get_mut(self.image as usize) {
            *frames -= 1;
            if *frames == 0 {
                self.chain.give_back(&mut state, self.image);
            }
        }
        drop(state);
        self.chain.freed.notify_all();
    }
}

/// Returns the bytes of memory of an image of a swapchain; 0 if there is no such image.
pub fn image_bytes(desc: &SwapchainDesc) -> u64 {
    unbound_image(desc).map_or(0, |image| image.layout().size())
}

fn create_image(device: &Device, desc: &SwapchainDesc) -> Result<Arc<Surface>> {
    let surface = unbound_image(desc)?;
    let memory = device.allocate(surface.layout().size())?;
    surface.stay_resident();
    surface.bind(memory, 0);
    Ok(surface)
}

fn unbound_image(desc: &SwapchainDesc) -> Result<Arc<Surface>> {
    let kind = ImageKind {
        format: desc.format,
        kind: vk::ImageType::TYPE_2D,
        tiling: vk::ImageTiling::OPTIMAL,
        usage: desc.usage,
        flags: match desc.is_mutable {
            true => vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE,
            false => vk::ImageCreateFlags::empty(),
        },
    };
    let extent = vk::Extent3D { width: desc.extent.width, height: desc.extent.height, depth: 1 };
    image::create(&ImageDesc { kind, extent, levels: 1, layers: 1, samples: vk::SampleCountFlags::TYPE_1 })
}

#[cfg(test)]
mod tests;
