//! Surfaces and swapchains: the part that does not depend on the window system.
//!
//! A target takes finished pixels. Images are handed out in order; presentation happens on the queue's thread, so it follows
//! the rendering. Source: `VK_KHR_surface`, `VK_KHR_swapchain`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::{Condvar, Mutex};
use vitric_backend::memory::Surface;

use crate::device::Device;
use crate::image::{self, ImageDesc};
use crate::physical::ImageKind;
use crate::sync::{Payload, deadline};
use crate::{Error, Result};

/// Where frames are shown: a window, or nowhere. Called from any thread, also from several at once.
pub trait PresentTarget: Send + Sync {
    /// Size of the window in pixels; `None` when the swapchain chooses.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] when the window is gone.
    fn extent(&self) -> Result<Option<vk::Extent2D>>;

    /// Shows a frame of `extent` pixels: rows from the top without gaps, 4 bytes a pixel, blue, green, red, unused.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] when the window is gone, [`Error::OutOfDate`] when its size changed.
    fn present(&self, extent: vk::Extent2D, pixels: &[u8]) -> Result<()>;
}

/// Formats that can be presented, all in the colour space `SRGB_NONLINEAR`.
pub const FORMATS: [vk::Format; 4] =
    [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB];

/// Ways to present.
pub const PRESENT_MODES: [vk::PresentModeKHR; 3] =
    [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE];

/// Uses that swapchain images may have.
pub fn usage() -> vk::ImageUsageFlags {
    vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST
        | vk::ImageUsageFlags::SAMPLED
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
}

const MIN_IMAGES: u32 = 2;
const MAX_IMAGES: u32 = 8;
/// Time between frames of FIFO: 60 a second.
const FRAME: Duration = Duration::from_nanos(16_666_667);

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
    pub is_mutable: bool,
}

#[derive(Debug)]
struct Turns {
    /// Free images, the one to hand out next first.
    free: std::collections::VecDeque<u32>,
    last: Option<Instant>,
    failed: Option<Error>,
    mode: vk::PresentModeKHR,
}

/// A swapchain.
pub struct Swapchain {
    target: Arc<dyn PresentTarget>,
    desc: SwapchainDesc,
    images: Vec<Arc<Surface>>,
    turns: Mutex<Turns>,
    freed: Condvar,
    retired: AtomicBool,
    /// What was shown last: memory for what comes next.
    pixels: Mutex<Vec<u8>>,
}

impl Swapchain {
    /// Creates a swapchain and its images; `old` is retired, also on failure.
    ///
    /// # Errors
    /// [`Error::FormatNotSupported`] for a format that is not in [`FORMATS`] or an extent or usage that images of it cannot
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
        if !FORMATS.contains(&desc.format) {
            return Err(Error::FormatNotSupported);
        }
        let count = desc.images.clamp(MIN_IMAGES, MAX_IMAGES);
        let images = (0..count).map(|_| create_image(device, &desc)).collect::<Result<_>>()?;
        let turns = Turns { free: (0..count).collect(), last: None, failed: None, mode: desc.mode };
        let (turns, retired, pixels) = (Mutex::new(turns), AtomicBool::new(false), Mutex::default());
        Ok(Arc::new(Self { target, desc, images, turns, freed: Condvar::new(), retired, pixels }))
    }

    /// The images, by the index that [`Swapchain::acquire`] returns.
    pub fn images(&self) -> &[Arc<Surface>] {
        &self.images
    }

    /// Hands out an image's index; `None` when none got free in `timeout` nanoseconds. Semaphore and fence are signaled at
    /// once: nobody reads an image that was handed out.
    ///
    /// # Errors
    /// Those of [`Swapchain::check`].
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
            let step = Instant::now() + Duration::from_millis(50);
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
        match self.target.extent()? {
            Some(extent) if extent != self.desc.extent => Err(Error::OutOfDate),
            _ => Ok(()),
        }
    }

    /// Presents in another way from now on. Called on the queue's thread.
    pub fn set_mode(&self, mode: vk::PresentModeKHR) {
        self.turns.lock().mode = mode;
    }

    /// Takes images back that were handed out and are not shown.
    pub fn release(&self, images: &[u32]) {
        let mut turns = self.turns.lock();
        for &image in images {
            if (image as usize) < self.images.len() && !turns.free.contains(&image) {
                turns.free.push_back(image);
            }
        }
        drop(turns);
        self.freed.notify_all();
    }

    /// Shows an image and frees it, in FIFO mode not before its period. An error of the target is what
    /// [`Swapchain::check`] returns from then on. Called on the queue's thread, after rendering.
    pub fn show(&self, image: u32) {
        if let Some(surface) = self.images.get(image as usize) {
            self.pace();
            let mut pixels = self.pixels.lock();
            read_pixels(surface, self.desc.format, &mut pixels);
            if let Err(error) = self.target.present(self.desc.extent, &pixels) {
                self.turns.lock().failed = Some(error);
            }
        }
        self.turns.lock().free.push_back(image);
        self.freed.notify_all();
    }

    /// FIFO shows at most one frame in each period.
    fn pace(&self) {
        let (mode, last) = {
            let turns = self.turns.lock();
            (turns.mode, turns.last)
        };
        if mode != vk::PresentModeKHR::FIFO {
            return;
        }
        let now = Instant::now();
        let due = last.map_or(now, |last| last + FRAME);
        if due > now {
            std::thread::sleep(due - now);
        }
        self.turns.lock().last = Some(due.max(now));
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

/// Puts rows of blue, green, red, alpha bytes in `out`.
fn read_pixels(surface: &Surface, format: vk::Format, out: &mut Vec<u8>) {
    let Some(plane) = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0) else { return out.clear() };
    let swap = matches!(format, vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB);
    let [width, height] = [plane.width(), plane.height()].map(|side| side as usize);
    out.resize(width * height * 4, 0);
    let (texels, _) = out.as_chunks_mut::<4>();
    for (y, rows) in (0..).step_by(2).zip(texels.chunks_mut(2 * width.max(1))) {
        let (upper, lower) = rows.split_at_mut(width);
        for x in (0..width).step_by(2) {
            let mut quad = plane.read_quad(x as u32, y).map(u32::to_le_bytes);
            if swap {
                quad.iter_mut().for_each(|texel| texel.swap(0, 2));
            }
            for (row, pair) in [&mut *upper, &mut *lower].into_iter().zip(quad.chunks(2)) {
                row.iter_mut().skip(x).zip(pair).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
