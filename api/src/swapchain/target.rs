//! Destinations of frames.

use std::time::Duration;

use ash::vk;
use vitric_vulkan::sys;

use super::PRESENT_MODES;
use super::timing::{FrameReport, Refresh, driver_stages};
#[cfg(doc)]
use crate::Error;
use crate::Result;

/// Destination of frames: a window, a display, or a headless surface. Any threads may call it, also
/// concurrently.
pub trait PresentTarget: Send + Sync {
    /// Returns the size of the window in pixels; `None` if the swapchain chooses its size.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] if the window is gone.
    fn extent(&self) -> Result<Option<vk::Extent2D>>;

    /// Returns the uses of alpha that the window system has for the frames.
    fn composite_alpha(&self) -> vk::CompositeAlphaFlagsKHR {
        vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::INHERIT
    }

    /// Returns the supported present modes. All of them are compatible.
    fn present_modes(&self) -> &'static [vk::PresentModeKHR] {
        &PRESENT_MODES
    }

    /// Prepares for the frames of a swapchain that is about to be created.
    ///
    /// # Errors
    /// [`Error::WindowInUse`] if another program uses the target, [`Error::OutOfDeviceMemory`].
    fn claim(&self) -> Result<()> {
        Ok(())
    }

    /// Shows a frame.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] if the window is gone, [`Error::OutOfDate`] if its size changed.
    fn present(&self, frame: Frame<'_>) -> Result<()>;

    /// Returns the current refresh of the display that shows the frames.
    fn refresh(&self) -> Refresh {
        Refresh::None
    }

    /// Waits up to `timeout` until the display has shown the last presented frame, and returns
    /// true if it has. Only called if the refresh is [`Refresh::Reported`].
    fn wait_until_shown(&self, _timeout: Duration) -> bool {
        true
    }

    /// Returns the stages of a frame whose times are known.
    fn stages(&self) -> sys::PresentStageFlagsEXT {
        driver_stages()
    }

    /// Receives the reports about frames that have arrived.
    ///
    /// # Errors
    /// [`Error::SurfaceLost`] if the window is gone.
    fn poll(&self) -> Result<()> {
        Ok(())
    }
}

/// A frame for a present target.
pub struct Frame<'a> {
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// Function that writes the pixels to memory, which must have room for all of them. Rows are
    /// from the top without gaps. A pixel is 4 bytes in the order blue, green, red, alpha.
    pub read: &'a dyn Fn(&mut [u8]),
    /// True if the window system must ignore alpha, which is 255 in this case.
    pub is_opaque: bool,
    /// Receiver of the display's report, if the swapchain needs it.
    pub report: Option<FrameReport>,
}
