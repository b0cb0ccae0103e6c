//! Surfaces of display planes. A surface has two buffers in the memory of the display's node. A
//! frame is copied to the buffer that is not shown, which the controller shows from its next
//! refresh on. The first frame sets the display's mode.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use drm::buffer::{Buffer as _, DrmFourcc};
use drm::control::dumbbuffer::DumbBuffer;
use drm::control::{Device as _, Mode, connector, crtc, framebuffer};
use parking_lot::Mutex;
use vitric_api::swapchain::timing::{FrameReport, driver_stages};
use vitric_api::swapchain::{FIFO_LATEST_READY, Frame, PresentTarget, Refresh};
use vitric_api::{Error, Result};
use vitric_base::clock;
use vitric_vulkan::sys;

use super::card::{Card, Claim};
use super::mode;

/// Longest wait for a flip that the kernel has accepted. After that, a frame is dropped.
const MAX_FLIP_WAIT: Duration = Duration::from_secs(1);
/// Bytes of a pixel: blue, green, red and one that is ignored.
const PIXEL_BYTES: usize = 4;

/// Where a surface is shown.
pub struct Output {
    /// Node of the display.
    pub card: Arc<Card>,
    /// Connector of the display.
    pub connector: connector::Handle,
    /// Controller, which is the plane of the surface.
    pub controller: crtc::Handle,
    /// Mode of the display.
    pub mode: Mode,
}

/// A surface of a display plane.
pub struct PlaneSurface {
    output: Output,
    state: Mutex<State>,
}

/// State from the first swapchain on.
#[derive(Default)]
struct State {
    claim: Option<Claim>,
    buffers: Vec<Buffer>,
    /// State of the controller before the first frame.
    previous: Option<crtc::Info>,
    /// Number of the next frame's buffer.
    next: usize,
}

/// Memory of a frame.
struct Buffer {
    memory: DumbBuffer,
    handle: framebuffer::Handle,
}

impl Buffer {
    fn new(card: &Card, extent: vk::Extent2D) -> io::Result<Self> {
        let memory = card.create_dumb_buffer((extent.width, extent.height), DrmFourcc::Xrgb8888, 32)?;
        match card.add_framebuffer(&memory, 24, 32) {
            Ok(handle) => Ok(Self { memory, handle }),
            Err(error) => {
                card.destroy_dumb_buffer(memory)?;
                Err(error)
            }
        }
    }

    /// Writes a frame, whose rows follow each other without gaps.
    fn write(&mut self, card: &Card, read: &dyn Fn(&mut [u8])) -> io::Result<()> {
        let ((width, height), pitch) = (self.memory.size(), self.memory.pitch() as usize);
        let row = width as usize * PIXEL_BYTES;
        let mut map = card.map_dumb_buffer(&mut self.memory)?;
        if pitch == row {
            read(&mut map[..row * height as usize]);
        } else {
            let mut pixels = vec![0; row * height as usize];
            read(&mut pixels);
            map.chunks_mut(pitch).zip(pixels.chunks(row)).for_each(|(to, from)| to[..row].copy_from_slice(from));
        }
        Ok(())
    }

    /// Frees the memory. Errors are ignored, because an unplugged node has no memory.
    fn release(self, card: &Card) {
        let _ = card.destroy_framebuffer(self.handle);
        let _ = card.destroy_dumb_buffer(self.memory);
    }
}

impl PlaneSurface {
    /// Returns a surface of the mode's size. The display is not changed.
    pub fn new(output: Output) -> Self {
        Self { output, state: Mutex::default() }
    }

    fn size(&self) -> vk::Extent2D {
        let (width, height) = self.output.mode.size();
        vk::Extent2D { width: width.into(), height: height.into() }
    }

    /// Shows a buffer: the first one by setting the mode, later ones by flips.
    fn show(&self, state: &mut State, buffer: framebuffer::Handle, report: Option<FrameReport>) -> io::Result<()> {
        let Output { card, connector, controller, mode } = &self.output;
        if state.previous.is_some() {
            return card.flip(*controller, buffer, report);
        }
        let previous = card.get_crtc(*controller)?;
        card.set_crtc(*controller, Some(buffer), (0, 0), &[*connector], Some(*mode))?;
        state.previous = Some(previous);
        report.into_iter().for_each(|report| report.visible(clock::monotonic()));
        Ok(())
    }
}

impl PresentTarget for PlaneSurface {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        let display = self.output.card.get_connector(self.output.connector, false);
        let is_plugged = display.is_ok_and(|display| display.state() != connector::State::Disconnected);
        is_plugged.then(|| Some(self.size())).ok_or(Error::SurfaceLost)
    }

    fn present_modes(&self) -> &'static [vk::PresentModeKHR] {
        &[vk::PresentModeKHR::FIFO, FIFO_LATEST_READY]
    }

    fn claim(&self) -> Result<()> {
        let Output { card, connector, controller, .. } = &self.output;
        let state = &mut *self.state.lock();
        if state.claim.is_none() {
            state.claim = Some(card.claim(*controller, *connector)?);
        }
        while state.buffers.len() < 2 {
            let buffer = Buffer::new(card, self.size()).map_err(|error| {
                log::error!("no buffer of {:?} for a display: {error}", self.output.mode.size());
                Error::OutOfDeviceMemory
            })?;
            state.buffers.push(buffer);
        }
        Ok(())
    }

    fn present(&self, Frame { extent, read, report, .. }: Frame<'_>) -> Result<()> {
        if extent != self.size() {
            return Err(Error::OutOfDate);
        }
        let state = &mut *self.state.lock();
        if !self.output.card.wait_for_flip(self.output.controller, MAX_FLIP_WAIT) {
            return Ok(());
        }
        let next = state.next;
        let buffer = state.buffers.get_mut(next).ok_or(Error::SurfaceLost)?;
        let handle = buffer.handle;
        let written = buffer.write(&self.output.card, read);
        written.and_then(|()| self.show(state, handle, report)).map_err(|error| {
            log::error!("a frame cannot be shown by a display: {error}");
            Error::SurfaceLost
        })?;
        state.next = 1 - next;
        Ok(())
    }

    fn refresh(&self) -> Refresh {
        Refresh::Reported(mode::period(&self.output.mode))
    }

    fn wait_until_shown(&self, timeout: Duration) -> bool {
        self.output.card.wait_for_flip(self.output.controller, timeout)
    }

    fn stages(&self) -> sys::PresentStageFlagsEXT {
        match self.output.card.has_times() {
            true => driver_stages() | sys::PresentStageFlagsEXT::IMAGE_FIRST_PIXEL_VISIBLE,
            false => driver_stages(),
        }
    }

    fn poll(&self) -> Result<()> {
        self.output.card.receive();
        Ok(())
    }
}

/// Lets the controller show what it showed before the first frame, and frees the buffers.
impl Drop for PlaneSurface {
    fn drop(&mut self) {
        let Output { card, connector, controller, .. } = &self.output;
        let state = self.state.get_mut();
        if let Some(previous) = state.previous {
            card.wait_for_flip(*controller, MAX_FLIP_WAIT);
            let connectors = previous.mode().map_or(&[][..], |_| std::slice::from_ref(connector));
            let buffer = previous.mode().and_then(|_| previous.framebuffer());
            // Errors are ignored, because the display or its previous buffer may be gone.
            let _ = card.set_crtc(*controller, buffer, previous.position(), connectors, previous.mode());
        }
        state.buffers.drain(..).for_each(|buffer| buffer.release(card));
    }
}
