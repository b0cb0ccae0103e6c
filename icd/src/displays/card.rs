//! Nodes of the kernel's displays (DRM primary nodes). Only the master of a node may change what
//! its displays show. The driver is the master while a swapchain of one of its displays exists, so
//! that other programs can use the displays before and after. Sources: the kernel's documentation,
//! "Kernel Mode Setting (KMS)"; drm(7), drm-kms(7).

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drm::control::{Device as _, Event, PageFlipFlags, connector, crtc, framebuffer};
use drm::{Device as _, DriverCapability, control};
use parking_lot::Mutex;
use vitric_api::swapchain::timing::FrameReport;
use vitric_api::{Error, Result};

use crate::poll::is_readable;

/// Folder of the nodes.
const NODES: &str = "/dev/dri";
/// Longest wait for an event that another thread may receive.
const EVENT_STEP: Duration = Duration::from_millis(2);

/// A node whose displays can show buffers of memory.
pub struct Card {
    file: File,
    /// Claimed parts of the node. This process is the master while there are any.
    claimed: Mutex<HashSet<u32>>,
    /// Pending page flips, with the receivers of their times.
    flips: Mutex<HashMap<crtc::Handle, Option<FrameReport>>>,
    /// True if the times of events are of `CLOCK_MONOTONIC`.
    has_times: bool,
}

impl AsFd for Card {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl drm::Device for Card {}
impl control::Device for Card {}

impl Card {
    /// Opens a node, and reads the state of its displays. The node is not opened if it has no
    /// display or no buffers that the processor can write.
    fn open(path: &Path) -> io::Result<Self> {
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = File::options().read(true).write(true).custom_flags(flags).open(path)?;
        let mut card = Self { file, claimed: Mutex::default(), flips: Mutex::default(), has_times: false };
        let resources = card.resource_handles()?;
        let has_buffers = card.get_driver_capability(DriverCapability::DumbBuffer)? != 0;
        if !has_buffers || resources.connectors().is_empty() || resources.crtcs().is_empty() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        card.has_times = card.get_driver_capability(DriverCapability::MonotonicTimestamp).is_ok_and(|value| value != 0);
        Ok(card)
    }

    /// Opens all nodes that the process can use. Their displays are probed where the process is
    /// the master, which it is not afterwards.
    pub fn open_all() -> Vec<Arc<Self>> {
        let open = |path: PathBuf| {
            let card = Self::open(&path).inspect_err(|error| log::debug!("{} is not used: {error}", path.display()));
            card.ok().inspect(Self::probe)
        };
        nodes().into_iter().filter_map(open).map(Arc::new).collect()
    }

    /// Returns true if the process can be the master of a node now.
    pub fn can_use_any() -> bool {
        nodes().iter().any(|path| Self::open(path).is_ok_and(|card| card.acquire_master_lock().is_ok()))
    }

    /// Looks for connected displays, if the process can be the master.
    fn probe(&self) {
        if self.acquire_master_lock().is_ok() {
            self.connectors().into_iter().for_each(|connector| drop(self.get_connector(connector, true)));
            // Fails only if the node was unplugged.
            let _ = self.release_master_lock();
        }
    }

    /// Returns the connectors, to which displays are plugged; none if the node was unplugged.
    pub fn connectors(&self) -> Vec<connector::Handle> {
        self.resource_handles().map_or_else(|_| Vec::new(), |resources| resources.connectors().to_vec())
    }

    /// Returns the controllers that show buffers; none if the node was unplugged.
    pub fn controllers(&self) -> Vec<crtc::Handle> {
        self.resource_handles().map_or_else(|_| Vec::new(), |resources| resources.crtcs().to_vec())
    }

    /// Returns true if a controller can drive the display of a connector.
    pub fn can_drive(&self, controller: crtc::Handle, display: &connector::Info) -> bool {
        let Ok(resources) = self.resource_handles() else { return false };
        let encoders = display.encoders().iter().filter_map(|&encoder| self.get_encoder(encoder).ok());
        encoders.into_iter().any(|encoder| resources.filter_crtcs(encoder.possible_crtcs()).contains(&controller))
    }

    /// Returns the controller that drives the display of a connector now.
    pub fn controller_of(&self, display: &connector::Info) -> Option<crtc::Handle> {
        self.get_encoder(display.current_encoder()?).ok()?.crtc()
    }

    /// Reserves a controller and a connector for a surface.
    ///
    /// # Errors
    /// [`Error::WindowInUse`] if another surface has one of them, or if another program is the
    /// master.
    pub fn claim(self: &Arc<Self>, controller: crtc::Handle, connector: connector::Handle) -> Result<Claim> {
        let parts = [u32::from(controller), u32::from(connector)];
        let mut claimed = self.claimed.lock();
        if parts.iter().any(|part| claimed.contains(part)) {
            return Err(Error::WindowInUse);
        }
        if claimed.is_empty() {
            self.acquire_master_lock().map_err(|error| {
                log::error!("the displays of a DRM node cannot be used: {error}: expected no other master of the node");
                Error::WindowInUse
            })?;
        }
        claimed.extend(parts);
        Ok(Claim { card: self.clone(), parts })
    }

    /// Requests that a controller shows another buffer from its next refresh on.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn flip(
        &self,
        controller: crtc::Handle,
        buffer: framebuffer::Handle,
        report: Option<FrameReport>,
    ) -> io::Result<()> {
        let mut flips = self.flips.lock();
        self.page_flip(controller, buffer, PageFlipFlags::EVENT, None)?;
        flips.insert(controller, report);
        Ok(())
    }

    /// Waits up to `timeout` until a controller has no pending flip, and returns true if it has
    /// none.
    pub fn wait_for_flip(&self, controller: crtc::Handle, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        loop {
            self.receive();
            let left = until.saturating_duration_since(Instant::now());
            if !self.flips.lock().contains_key(&controller) {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            // A thread of another display may receive the event instead.
            is_readable(&self.file, left.min(EVENT_STEP));
        }
    }

    /// Handles the events that have arrived.
    pub fn receive(&self) {
        let mut flips = self.flips.lock();
        let mut shown = Vec::new();
        // Reading fails if no event has arrived.
        for event in self.receive_events().into_iter().flatten() {
            if let Event::PageFlip(flip) = event {
                shown.push((flips.remove(&flip.crtc).flatten(), flip.duration));
            }
        }
        // A report may drop a swapchain, which waits for its flips.
        drop(flips);
        for (report, time) in shown {
            if let Some(report) = report.filter(|_| self.has_times) {
                report.visible(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            }
        }
    }

    /// Returns true if the times at which buffers become visible are known.
    pub fn has_times(&self) -> bool {
        self.has_times
    }
}

/// Parts of a node that belong to a surface. Dropping it gives them back.
pub struct Claim {
    card: Arc<Card>,
    parts: [u32; 2],
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = self.card.claimed.lock();
        claimed.retain(|part| !self.parts.contains(part));
        if claimed.is_empty() {
            // Fails only if the node was unplugged.
            let _ = self.card.release_master_lock();
        }
    }
}

/// Returns the paths of the primary nodes of the system, in order of their numbers.
fn nodes() -> Vec<PathBuf> {
    let entries = fs::read_dir(NODES).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| number_of(&entry.file_name());
    let mut numbers: Vec<u32> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| Path::new(NODES).join(format!("card{number}"))).collect()
}

/// Returns the number in the name of a primary node; `None` for other names.
fn number_of(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix("card")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_nodes_are_told_from_others() {
        let numbers = ["card0", "card12", "card", "cardX", "renderD128", "controlD64", "by-path"];
        let numbers = numbers.map(|name| number_of(OsStr::new(name)));
        assert_eq!(numbers, [Some(0), Some(12), None, None, None, None, None]);
    }
}
