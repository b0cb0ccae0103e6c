//! Surfaces and swapchains: the part that does not depend on the window system.
//!
//! A target takes finished pixels. Images are handed out in order; presentation follows the rendering, on a thread of the queue's own for
//! that. Source: `VK_KHR_surface`, `VK_KHR_swapchain`, `VK_KHR_present_id`, `VK_KHR_present_wait`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::{Condvar, Mutex, RwLock};
use vitric_base::knobs::{self, Vsync};
use vitric_memory::{PlaneRef, Surface};

use crate::device::Device;
use crate::health::Health;
use crate::image::{self, ImageDesc};
use crate::physical::ImageKind;
use crate::sync::{Payload, TURN, deadline};
use crate::{Error, Result};

/// Where frames are shown: a window, or nowhere. Called from any thread, also from several at once.
pub trait PresentTarget: Send + Sync {
    /// Size of the window in pixels; `None` when the swapchain chooses.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] when the window is gone.
    fn extent(&self) -> Result<Option<vk::Extent2D>>;

    /// Shows a frame of `extent` pixels, which `read` puts in memory for as many: rows from the top without gaps, 4 bytes a pixel,
    /// blue, green, red, alpha.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] when the window is gone, [`Error::OutOfDate`] when its size changed.
    fn present(&self, extent: vk::Extent2D, read: &dyn Fn(&mut [u8])) -> Result<()>;

    /// Returns the refresh of the display that the frames are shown on now.
    fn refresh(&self) -> Refresh {
        Refresh::None
    }

    /// Waits up to `timeout` until the display has taken the frame that was last presented, and returns whether it has. Only called
    /// where the refresh is [`Refresh::Told`].
    fn wait_until_taken(&self, _timeout: Duration) -> bool {
        true
    }
}

/// How often a display takes a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// The display has no refresh: it takes frames as they come.
    None,
    /// Once in each period.
    Period(Duration),
    /// The display tells when: [`PresentTarget::wait_until_taken`].
    Told,
}

/// Formats that can be presented, all in the colour space `SRGB_NONLINEAR`.
pub const FORMATS: [vk::Format; 4] =
    [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB];

/// Ways to present.
pub const PRESENT_MODES: [vk::PresentModeKHR; 4] = [
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::FIFO_RELAXED,
    vk::PresentModeKHR::MAILBOX,
    vk::PresentModeKHR::IMMEDIATE,
];

/// Uses that swapchain images may have, as far as their format has them.
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
/// Longest wait for a display that tells when it has taken a frame: of a hidden window it may take none.
const MAX_UNTAKEN: Duration = Duration::from_millis(250);
/// How long a swapchain that is closed waits for frames on their way.
const CLOSING: Duration = Duration::from_secs(1);

/// What a surface can do now: 2 to 8 images of one layer, as large as the window, or 1 to 16384 pixels a side where that is
/// free.
///
/// # Errors
/// [`Error::SurfaceLost`] when the window is gone.
pub fn capabilities(target: &dyn PresentTarget) -> Result<vk::SurfaceCapabilitiesKHR> {
    Ok(capabilities_with(target.extent()?))
}

/// The same of a surface whose size is `fixed`, or free.
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
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::INHERIT,
        supported_usage_flags: usage(),
    }
}

/// What all surfaces can do: numbers that are different from surface to surface are all ones, as `VK_GOOGLE_surfaceless_query` has it.
pub fn capabilities_of_any() -> vk::SurfaceCapabilitiesKHR {
    vk::SurfaceCapabilitiesKHR {
        min_image_count: u32::MAX,
        max_image_count: u32::MAX,
        current_transform: vk::SurfaceTransformFlagsKHR::INHERIT,
        ..capabilities_with(None)
    }
}

/// What `vkCreateSwapchainKHR` asks for. `images` is clamped to what [`capabilities`] says; the extent is in pixels.
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
}

#[derive(Debug)]
struct Turns {
    /// Free images, the one to hand out next first.
    free: std::collections::VecDeque<u32>,
    last: Option<Instant>,
    failed: Option<Error>,
    mode: vk::PresentModeKHR,
    /// Frames on their way to the target.
    waiting: u32,
    /// Whether those are shown as soon as they can be.
    closing: bool,
    /// Greatest number that an image was shown under.
    shown: u64,
}

/// A swapchain.
pub struct Swapchain {
    /// Of the device.
    health: Arc<Health>,
    /// Where images are shown, until the swapchain is closed.
    target: RwLock<Option<Arc<dyn PresentTarget>>>,
    desc: SwapchainDesc,
    images: Vec<Arc<Surface>>,
    turns: Mutex<Turns>,
    freed: Condvar,
    retired: AtomicBool,
}

impl Swapchain {
    /// Creates a swapchain and its images; `old` is retired, also on failure.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::FormatNotSupported`] for a format that is not in [`FORMATS`] or an extent or usage that images of it cannot
    /// have, [`Error::OutOfDeviceMemory`].
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
        let turns = Turns {
            free: (0..count).collect(),
            last: None,
            failed: None,
            mode: desc.mode,
            waiting: 0,
            closing: false,
            shown: 0,
        };
        let (turns, retired) = (Mutex::new(turns), AtomicBool::new(false));
        let (health, target) = (device.health().clone(), RwLock::new(Some(target)));
        Ok(Arc::new(Self { health, target, desc, images, turns, freed: Condvar::new(), retired }))
    }

    /// The images, by the index that [`Swapchain::acquire`] returns.
    pub fn images(&self) -> &[Arc<Surface>] {
        &self.images
    }

    /// Hands out an image's index; `None` when none got free in `timeout` nanoseconds. Semaphore and fence are signaled at
    /// once: nobody reads an image that was handed out.
    ///
    /// # Errors
    /// Errors of [`Swapchain::check`] and [`Error::DeviceLost`], also if they come up during the wait.
    pub fn acquire(
        &self,
        timeout: u64,
        semaphore: Option<&Arc<Payload>>,
        fence: Option<&Arc<Payload>>,
    ) -> Result<Option<u32>> {
        self.check()?;
        let until = deadline(timeout);
        let mut turns = self.turns.lock();
        while turns.free.is_empty() {
            self.health.check()?;
            if turns.closing {
                return Err(Error::SurfaceLost);
            }
            if self.retired.load(Ordering::Acquire) {
                return Err(Error::OutOfDate);
            }
            let step = Instant::now() + TURN;
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            self.freed.wait_until(&mut turns, until.map_or(step, |until| until.min(step)));
        }
        let image = turns.free.pop_front();
        drop(turns);
        semaphore.into_iter().for_each(|semaphore| semaphore.signal(0));
        fence.into_iter().for_each(|fence| fence.signal(1));
        Ok(image)
    }

    /// Whether the swapchain can still be used.
    ///
    /// # Errors
    /// [`Error::OutOfDate`] when the window's size changed or the swapchain is retired, [`Error::SurfaceLost`].
    pub fn check(&self) -> Result<()> {
        if self.retired.load(Ordering::Acquire) {
            return Err(Error::OutOfDate);
        }
        if let Some(error) = self.turns.lock().failed {
            return Err(error);
        }
        let target = self.target.read();
        match target.as_ref().ok_or(Error::SurfaceLost)?.extent()? {
            Some(extent) if extent != self.desc.extent => Err(Error::OutOfDate),
            _ => Ok(()),
        }
    }

    /// Whether it keeps its target from another swapchain: until it is retired or closed.
    pub fn is_in_use(&self) -> bool {
        !self.retired.load(Ordering::Acquire) && self.target.read().is_some()
    }

    /// Gives the target back. Frames on their way are shown before, without waiting for their periods; those that have not come after a
    /// second, or of a lost device, are shown nowhere. What the target is made of, an application's connection to its window system, may
    /// be gone afterwards.
    pub fn close(&self) {
        let mut turns = self.turns.lock();
        turns.closing = true;
        self.freed.notify_all();
        let until = Instant::now() + CLOSING;
        while turns.waiting > 0 && !self.health.is_lost() && Instant::now() < until {
            self.freed.wait_until(&mut turns, until.min(Instant::now() + TURN));
        }
        drop(turns);
        // Waits for the frame that is being shown.
        let target = self.target.write().take();
        drop(target);
    }

    /// Sends an image that was handed out on its way to the target.
    pub fn send(self: &Arc<Self>, image: u32) -> Presentation {
        self.turns.lock().waiting += 1;
        Presentation { chain: self.clone(), image }
    }

    /// Takes images back that were handed out and are not shown.
    pub fn release(&self, images: &[u32]) {
        let mut turns = self.turns.lock();
        images.iter().for_each(|&image| self.give_back(&mut turns, image));
        drop(turns);
        self.freed.notify_all();
    }

    fn give_back(&self, turns: &mut Turns, image: u32) {
        if (image as usize) < self.images.len() && !turns.free.contains(&image) {
            turns.free.push_back(image);
        }
    }

    /// Waits until an image was shown under this number or a greater one, `timeout` nanoseconds at most; whether it was. Source:
    /// `vkWaitForPresentKHR`.
    ///
    /// # Errors
    /// [`Error::DeviceLost`]; [`Error::SurfaceLost`] when the swapchain is closed meanwhile; what showing failed with, after which nothing is
    /// waited for.
    pub fn wait_for(&self, number: u64, timeout: u64) -> Result<bool> {
        let until = deadline(timeout);
        let mut turns = self.turns.lock();
        while turns.shown < number {
            self.health.check()?;
            if let Some(error) = turns.failed {
                return Err(error);
            }
            // No frame comes any more.
            if turns.closing && turns.waiting == 0 {
                return Err(Error::SurfaceLost);
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return Ok(false);
            }
            self.freed.wait_until(&mut turns, until.map_or(now + TURN, |until| until.min(now + TURN)));
        }
        Ok(true)
    }

    /// Waits until a swapchain in FIFO mode may show its next frame: one in each refresh of the display, or at once where the display has
    /// none or the swapchain is being closed.
    fn pace(&self, target: &dyn PresentTarget, vsync: Vsync) {
        if ![vk::PresentModeKHR::FIFO, vk::PresentModeKHR::FIFO_RELAXED].contains(&self.turns.lock().mode) {
            return;
        }
        let refresh = match vsync {
            Vsync::Auto => target.refresh(),
            Vsync::Off => Refresh::None,
            Vsync::Every(period) => Refresh::Period(period),
        };
        match refresh {
            Refresh::None => {}
            Refresh::Period(period) => self.wait_for_period(period),
            Refresh::Told => self.wait_until_taken(target),
        }
    }

    /// Waits for the end of the period that the frame before was shown in. A late frame is shown at once, and the next period begins
    /// with it, so that the relaxed kind of FIFO needs nothing else.
    fn wait_for_period(&self, period: Duration) {
        let mut turns = self.turns.lock();
        let now = Instant::now();
        let due = turns.last.map_or(now, |last| last + period);
        while !turns.closing && Instant::now() < due {
            self.freed.wait_until(&mut turns, due);
        }
        turns.last = Some(due.max(now));
    }

    /// Waits until the display has taken the frame before, at most [`MAX_UNTAKEN`].
    fn wait_until_taken(&self, target: &dyn PresentTarget) {
        let until = Instant::now() + MAX_UNTAKEN;
        while !self.turns.lock().closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || target.wait_until_taken(left.min(TURN)) {
                return;
            }
        }
    }
}

/// A frame on its way to the target. Its image is free when this ends, however that happens: shown, or dropped.
pub struct Presentation {
    chain: Arc<Swapchain>,
    image: u32,
}

impl Presentation {
    /// Shows the image, unless the swapchain is closed, in FIFO mode not before its refresh. An error of the target is what
    /// [`Swapchain::check`] returns from then on; without one [`Swapchain::wait_for`] has waited for `number`, if it is not 0. A `mode` is how
    /// the swapchain presents from now on. Called after rendering.
    pub fn show(self, mode: Option<vk::PresentModeKHR>, number: u64) {
        let chain = &*self.chain;
        if let Some(mode) = mode {
            chain.turns.lock().mode = mode;
        }
        let Some(surface) = chain.images.get(self.image as usize) else { return };
        // Held until the frame is shown: closing waits.
        let target = chain.target.read();
        let Some(target) = &*target else { return };
        let vsync = knobs::vsync(knobs::values().text("VITRIC_VSYNC")).unwrap_or(Vsync::Auto);
        chain.pace(&**target, vsync);
        let read = |pixels: &mut [u8]| read_pixels(surface, &chain.desc, pixels);
        let shown = target.present(chain.desc.extent, &read);
        let mut turns = chain.turns.lock();
        match shown {
            Ok(()) => turns.shown = turns.shown.max(number),
            Err(error) => turns.failed = Some(error),
        }
    }
}

impl Drop for Presentation {
    fn drop(&mut self) {
        let mut turns = self.chain.turns.lock();
        self.chain.give_back(&mut turns, self.image);
        turns.waiting -= 1;
        drop(turns);
        self.chain.freed.notify_all();
    }
}

fn create_image(device: &Device, desc: &SwapchainDesc) -> Result<Arc<Surface>> {
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
    let surface =
        image::create(&ImageDesc { kind, extent, levels: 1, layers: 1, samples: vk::SampleCountFlags::TYPE_1 })?;
    let memory = device.allocate(surface.layout().size())?;
    surface.bind(memory, 0);
    Ok(surface)
}

/// Puts rows of blue, green, red, alpha bytes in `out`, as far as it reaches. Where windows are opaque, so are all pixels: a window may
/// have room for alpha.
fn read_pixels(surface: &Surface, desc: &SwapchainDesc, out: &mut [u8]) {
    let Some(plane) = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0) else { return };
    let swap = matches!(desc.format, vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB);
    let set = if desc.alpha == vk::CompositeAlphaFlagsKHR::OPAQUE { 0xff00_0000 } else { 0 };
    let texel = |word: u32| {
        let [first, second, third, last] = (word | set).to_le_bytes();
        if swap { [third, second, first, last] } else { [first, second, third, last] }
    };
    let width = plane.width().max(1) as usize;
    let (texels, _) = out.as_chunks_mut::<4>();
    for (y, rows) in (0..plane.height()).step_by(2).zip(texels.chunks_mut(2 * width)) {
        let (upper, lower) = rows.split_at_mut(width.min(rows.len()));
        read_rows(&plane, y, texel, [upper, lower]);
    }
}

/// Reads two rows from an even `y` on, the second one as far as there is one: strips of eight pixels, and quads where those are not whole.
fn read_rows(plane: &PlaneRef<'_>, y: u32, texel: impl Fn(u32) -> [u8; 4], mut rows: [&mut [[u8; 4]]; 2]) {
    let strips = if plane.has_line(0, y & !7) { plane.width() / 8 } else { 0 };
    for strip in 0..strips {
        let words = plane.read_strip(strip * 8, y, 0);
        for (row, below) in rows.iter_mut().zip([0, 2]) {
            let Some(eight) = row.as_chunks_mut::<8>().0.get_mut(strip as usize) else { continue };
            *eight = std::array::from_fn(|at| texel(words[at / 2 * 4 + at % 2 + below]));
        }
    }
    for x in (strips * 8..plane.width()).step_by(2) {
        let quad = plane.read_quad(x, y, 0).map(&texel);
        for (row, pair) in rows.iter_mut().zip(quad.chunks(2)) {
            row.iter_mut().skip(x as usize).zip(pair).for_each(|(to, from)| *to = *from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vitric_memory::{Allocation, Heap, SurfaceDesc};

    fn desc_of(format: vk::Format, alpha: vk::CompositeAlphaFlagsKHR) -> SwapchainDesc {
        SwapchainDesc {
            images: 2,
            format,
            extent: vk::Extent2D { width: 4, height: 4 },
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            mode: vk::PresentModeKHR::FIFO,
            alpha,
            is_mutable: false,
        }
    }

    #[test]
    fn rows_of_pictures_of_every_size() {
        let heap = Heap::new(1 << 20);
        for (format, [width, height]) in FORMATS
            .iter()
            .flat_map(|format| [[16, 8], [19, 13], [1, 1], [8, 3], [9, 16]].map(|size: [u32; 2]| (*format, size)))
        {
            let extent = vk::Extent3D { width, height, depth: 1 };
            let kind = vk::ImageType::TYPE_2D;
            let desc =
                SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
            let surface = Surface::new(desc).unwrap();
            assert!(surface.bind(Allocation::new(&heap, surface.layout().size()).unwrap(), 0));
            let plane = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
            let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let texel = |(x, y): (u32, u32)| [x as u8, y as u8, 77, (x ^ y) as u8];
            places().for_each(|(x, y)| plane.write_word(x, y, 0, u32::from_le_bytes(texel((x, y)))));
            let mut rows = vec![1; width as usize * height as usize * 4];
            let is_red_first = [vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB].contains(&format);
            let order = if is_red_first { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
            for alpha in [vk::CompositeAlphaFlagsKHR::OPAQUE, vk::CompositeAlphaFlagsKHR::INHERIT] {
                read_pixels(&surface, &desc_of(format, alpha), &mut rows);
                let set = if alpha == vk::CompositeAlphaFlagsKHR::OPAQUE { [0, 0, 0, 255] } else { [0; 4] };
                let pixel = |place| order.map(|byte: usize| texel(place)[byte] | set[byte]);
                let expected: Vec<u8> = places().flat_map(pixel).collect();
                assert_eq!(rows, expected, "{format:?} {width}x{height} {alpha:?}");
            }
        }
    }

    /// A display that notes the first byte of each frame.
    struct Display {
        refresh: Refresh,
        frames: Mutex<Vec<u8>>,
        /// Frames before which it is asked once more whether it has taken one.
        asked: std::sync::atomic::AtomicU32,
    }

    impl PresentTarget for Display {
        fn extent(&self) -> Result<Option<vk::Extent2D>> {
            Ok(None)
        }

        fn present(&self, extent: vk::Extent2D, read: &dyn Fn(&mut [u8])) -> Result<()> {
            let mut pixels = vec![0; extent.width as usize * extent.height as usize * 4];
            read(&mut pixels);
            self.frames.lock().push(pixels[0]);
            Ok(())
        }

        fn refresh(&self) -> Refresh {
            self.refresh
        }

        fn wait_until_taken(&self, _: Duration) -> bool {
            self.asked.fetch_add(1, Ordering::Relaxed) % 3 == 2
        }
    }

    /// Shows nine frames, and returns how long that took and how often the display was asked.
    fn show_nine(refresh: Refresh, mode: vk::PresentModeKHR) -> (Duration, u32) {
        let display = Arc::new(Display { refresh, frames: Mutex::default(), asked: Default::default() });
        let (messages, heap) = (Arc::default(), Heap::new(1 << 20));
        let wanted = crate::families::Wanted::one();
        let device = Device::new(messages, vk::API_VERSION_1_0, heap, &wanted, &Default::default(), &[]).unwrap();
        let alpha = vk::CompositeAlphaFlagsKHR::OPAQUE;
        let desc = SwapchainDesc { mode, images: 3, ..desc_of(vk::Format::B8G8R8A8_UNORM, alpha) };
        let chain = Swapchain::new(&device, display.clone(), desc, None).unwrap();
        let begin = Instant::now();
        for frame in 0..9u8 {
            let image = chain.acquire(u64::MAX, None, None).unwrap().unwrap();
            let plane = chain.images()[image as usize].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
            plane.write_word(0, 0, 0, u32::from(frame));
            let sent = chain.send(image);
            device.queues()[0].present(move || sent.show(None, 0)).unwrap();
        }
        device.wait_idle().unwrap();
        assert_eq!(*display.frames.lock(), [0, 1, 2, 3, 4, 5, 6, 7, 8], "each frame, in order");
        (begin.elapsed(), display.asked.load(Ordering::Relaxed))
    }

    #[test]
    fn fifo_follows_the_display_and_shows_every_frame() {
        let fifo = vk::PresentModeKHR::FIFO;
        let (elapsed, asked) = show_nine(Refresh::Period(Duration::from_millis(10)), fifo);
        assert!(elapsed >= Duration::from_millis(80) && asked == 0, "{elapsed:?} {asked}");
        assert_eq!(show_nine(Refresh::Told, vk::PresentModeKHR::FIFO_RELAXED).1, 27, "three times each frame");
        assert_eq!(show_nine(Refresh::None, fifo).1, 0);
        for mode in [vk::PresentModeKHR::IMMEDIATE, vk::PresentModeKHR::MAILBOX] {
            assert_eq!(show_nine(Refresh::Told, mode).1, 0, "{mode:?}");
        }
        let (elapsed, _) = show_nine(Refresh::Period(Duration::from_secs(2)), vk::PresentModeKHR::IMMEDIATE);
        assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
    }
}
