//! Tests of swapchains on displays that record frames.

use super::*;
use crate::device::DeviceDesc;
use vitric_memory::Heap;

fn desc_of(format: vk::Format, alpha: vk::CompositeAlphaFlagsKHR) -> SwapchainDesc {
    SwapchainDesc {
        images: 2,
        format,
        extent: vk::Extent2D { width: 4, height: 4 },
        usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
        mode: vk::PresentModeKHR::FIFO,
        alpha,
        is_mutable: false,
        has_timing: false,
    }
}

fn device() -> Device {
    let (queues, features) = (&crate::families::QueueRequest::one(), &Default::default());
    let desc = DeviceDesc { version: vk::API_VERSION_1_0, queues, features, extensions: &[] };
    Device::new(Arc::default(), Heap::new(1 << 20), &desc).unwrap()
}

/// A display that records the first byte of each frame.
struct Display {
    refresh: Refresh,
    frames: Mutex<Vec<u8>>,
    /// Number of calls of `wait_until_shown`. Every third one returns true.
    asked: std::sync::atomic::AtomicU32,
    /// Reports about frames that are kept, if they are.
    reports: Option<Mutex<Vec<FrameReport>>>,
}

impl Display {
    fn new(refresh: Refresh) -> Self {
        Self { refresh, frames: Mutex::default(), asked: 0.into(), reports: None }
    }
}

impl PresentTarget for Display {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    fn present(&self, frame: Frame<'_>) -> Result<()> {
        let mut pixels = vec![0; frame.extent.width as usize * frame.extent.height as usize * 4];
        (frame.read)(&mut pixels);
        self.frames.lock().push(pixels[0]);
        if let Some(reports) = &self.reports {
            reports.lock().extend(frame.report);
        }
        Ok(())
    }

    fn refresh(&self) -> Refresh {
        self.refresh
    }

    fn wait_until_shown(&self, _: Duration) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) % 3 == 2
    }
}

/// Shows nine frames. Returns the elapsed time and the number of calls of `wait_until_shown`.
fn show_nine(refresh: Refresh, mode: vk::PresentModeKHR) -> (Duration, u32) {
    let display = Arc::new(Display::new(refresh));
    let device = device();
    let alpha = vk::CompositeAlphaFlagsKHR::OPAQUE;
    let desc = SwapchainDesc { mode, images: 3, ..desc_of(vk::Format::B8G8R8A8_UNORM, alpha) };
    let chain = Swapchain::new(&device, display.clone(), desc, None).unwrap();
    let begin = Instant::now();
    for frame in 0..9u8 {
        let image = chain.acquire(u64::MAX, None, None).unwrap().unwrap();
        let plane = chain.images()[image as usize].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
        plane.write_word(0, 0, 0, u32::from(frame));
        let sent = chain.send(image);
        device.queues()[0].present(move || Box::new(sent.rendered(None, u64::from(frame) + 1))).unwrap();
    }
    assert!(chain.wait_for(9, u64::MAX).unwrap());
    assert_eq!(*display.frames.lock(), [0, 1, 2, 3, 4, 5, 6, 7, 8], "each frame, in order");
    (begin.elapsed(), display.asked.load(Ordering::Relaxed))
}

#[test]
fn fifo_follows_the_display_and_shows_every_frame() {
    let fifo = vk::PresentModeKHR::FIFO;
    let (elapsed, asked) = show_nine(Refresh::Period(Duration::from_millis(10)), fifo);
    assert!(elapsed >= Duration::from_millis(80) && asked == 0, "{elapsed:?} {asked}");
    assert_eq!(show_nine(Refresh::Reported(None), vk::PresentModeKHR::FIFO_RELAXED).1, 27, "three times each frame");
    assert_eq!(show_nine(Refresh::None, fifo).1, 0);
    for mode in [vk::PresentModeKHR::IMMEDIATE, vk::PresentModeKHR::MAILBOX] {
        assert_eq!(show_nine(Refresh::Reported(None), mode).1, 0, "{mode:?}");
    }
    let (elapsed, _) = show_nine(Refresh::Period(Duration::from_secs(2)), vk::PresentModeKHR::IMMEDIATE);
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
}
#[test]
fn the_latest_rendered_frame_is_shown() {
    let display = Arc::new(Display::new(Refresh::Reported(None)));
    let device = device();
    let alpha = vk::CompositeAlphaFlagsKHR::OPAQUE;
    let desc = SwapchainDesc { mode: FIFO_LATEST_READY, images: 5, ..desc_of(vk::Format::B8G8R8A8_UNORM, alpha) };
    let chain = Swapchain::new(&device, display.clone(), desc, None).unwrap();
    let frame = |number: u32, mode, id| {
        let image = chain.acquire(0, None, None).unwrap().unwrap();
        let plane = chain.images()[image as usize].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
        plane.write_word(0, 0, 0, number);
        chain.send(image).rendered(mode, id)
    };
    let (first, second) = (frame(1, None, 11), frame(2, None, 12));
    first();
    assert!(display.frames.lock().is_empty() && !chain.wait_for(11, 0).unwrap(), "a later frame is rendered");
    second();
    assert!(chain.wait_for(12, 0).unwrap());
    // A frame of another mode is shown though a later one is rendered. Finally, all images are
    // free.
    let frames = [
        Box::new(frame(3, None, 0)) as Box<dyn FnOnce()>,
        Box::new(frame(4, Some(vk::PresentModeKHR::FIFO), 0)),
        Box::new(frame(5, Some(FIFO_LATEST_READY), 0)),
        Box::new(frame(6, None, 0)),
    ];
    frames.into_iter().for_each(|show| show());
    assert_eq!(*display.frames.lock(), [2, 4, 6]);
    assert_eq!((0..6).filter(|_| chain.acquire(0, None, None).unwrap().is_some()).count(), 5);
}

/// Returns a swapchain with timing on a display that records frames.
fn timed(device: &Device, refresh: Refresh, mode: vk::PresentModeKHR) -> (Arc<Display>, Arc<Swapchain>) {
    timed_on(device, Display::new(refresh), mode)
}

fn timed_on(device: &Device, display: Display, mode: vk::PresentModeKHR) -> (Arc<Display>, Arc<Swapchain>) {
    let display = Arc::new(display);
    let desc = desc_of(vk::Format::B8G8R8A8_UNORM, vk::CompositeAlphaFlagsKHR::OPAQUE);
    let desc = SwapchainDesc { mode, has_timing: true, ..desc };
    (display.clone(), Swapchain::new(device, display, desc, None).unwrap())
}

/// Sends a frame with a target time, and returns the function that shows it.
fn frame_at(chain: &Arc<Swapchain>, target: u64) -> impl FnOnce() + Send + use<> {
    frame_of(chain, target, Default::default())
}

fn frame_of(
    chain: &Arc<Swapchain>,
    target: u64,
    flags: sys::PresentTimingInfoFlagsEXT,
) -> impl FnOnce() + Send + use<> {
    let image = chain.acquire(0, None, None).unwrap().unwrap();
    let plane = chain.images()[image as usize].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    plane.write_word(0, 0, 0, image + 1);
    let mut sent = chain.send(image);
    let domain = timing::SWAPCHAIN_LOCAL;
    sent.set_timing(TimingRequest { target, flags, stages: Default::default(), domain }, 0).unwrap();
    sent.rendered(None, 0)
}

/// A time that no test waits for.
const NEVER: u64 = u64::MAX;

#[test]
fn a_frame_waits_for_its_target_time_unless_the_wait_must_end() {
    let device = device();
    let (display, chain) = timed(&device, Refresh::None, vk::PresentModeKHR::FIFO);
    let target = clock::monotonic() + 30_000_000;
    frame_at(&chain, target)();
    assert!(clock::monotonic() >= target && display.frames.lock().len() == 1);
    // Other modes have no target times.
    let (free, immediate) = timed(&device, Refresh::None, vk::PresentModeKHR::IMMEDIATE);
    frame_at(&immediate, NEVER)();
    assert_eq!(free.frames.lock().len(), 1);
    let shows = std::thread::spawn(frame_at(&chain, NEVER));
    while chain.state.lock().scheduled.is_empty() {
        std::thread::yield_now();
    }
    chain.close();
    shows.join().unwrap();
    assert_eq!(display.frames.lock().len(), 2, "a closed swapchain shows its last frames");
    let (_, lost) = timed(&device, Refresh::None, vk::PresentModeKHR::FIFO);
    let shows = std::thread::spawn(frame_at(&lost, NEVER));
    device.health().lose("for a test");
    shows.join().unwrap();
}

#[test]
fn a_later_frame_that_is_not_due_replaces_none() {
    let device = device();
    for (target, shown) in [(NEVER, 2), (1, 1)] {
        let (display, chain) = timed(&device, Refresh::Reported(None), FIFO_LATEST_READY);
        let (first, second) = (frame_at(&chain, 1), frame_at(&chain, target));
        first();
        let shows = std::thread::spawn(second);
        chain.close();
        shows.join().unwrap();
        assert_eq!(display.frames.lock().len(), shown);
    }
}

#[test]
fn a_relative_time_begins_when_the_previous_frame_is_visible() {
    let device = device();
    let display = Display { reports: Some(Mutex::default()), ..Display::new(Refresh::Reported(None)) };
    let (display, chain) = timed_on(&device, display, vk::PresentModeKHR::FIFO);
    let relative = sys::PresentTimingInfoFlagsEXT::PRESENT_AT_RELATIVE_TIME;
    frame_of(&chain, 1, relative)();
    let shows = std::thread::spawn(frame_of(&chain, 20_000_000, relative));
    std::thread::sleep(Duration::from_millis(40));
    assert_eq!(display.frames.lock().len(), 1, "the report of the first frame has not come");
    let visible = clock::monotonic();
    display.reports.as_ref().unwrap().lock().drain(..).for_each(|report| report.visible(visible));
    shows.join().unwrap();
    assert!(clock::monotonic() >= visible + 20_000_000);
    // Reports that never come end the wait, too.
    frame_of(&chain, 1, relative)();
    assert_eq!(display.frames.lock().len(), 3);
}
