//! Hints from commands about images: lost contents, and images that are only read from now on.
//! Users of the images need not know them.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{OnceLock, Weak};

use ash::vk::ImageLayout as L;

/// Number of passes in which clears of an image's tiles are written, after noted ones had to be.
const WRITTEN_PASSES: u32 = 64;

/// Statement of a command about an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The contents are undefined, after a transition from the undefined layout or a pass that
    /// stores nothing.
    Lost,
    /// The image is only read from now on, after a transition to a read-only layout.
    ReadOnly,
    /// The image may be written from now on.
    Written,
}

impl Hint {
    /// Returns the hint of a transition to a layout. The undefined layout means that there is no
    /// transition and gives `None`.
    pub fn of_layout(layout: L) -> Option<Self> {
        let only_read = [
            L::SHADER_READ_ONLY_OPTIMAL,
            L::TRANSFER_SRC_OPTIMAL,
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            L::DEPTH_READ_ONLY_OPTIMAL,
            L::STENCIL_READ_ONLY_OPTIMAL,
            L::READ_ONLY_OPTIMAL,
        ];
        match layout {
            L::UNDEFINED => None,
            layout if only_read.contains(&layout) => Some(Self::ReadOnly),
            _ => Some(Self::Written),
        }
    }
}

/// Use of an image by a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageAccess {
    /// Texels are only read.
    Read,
    /// Texels may be read and written.
    Write,
    /// All texels are overwritten, and none is read before.
    Overwrite,
}

/// Data derived from an image, which can be made again.
pub(crate) trait Evict: Debug + Send + Sync {
    /// Releases the data unless it is in use.
    fn evict(&self);
}

/// Latest hints about an image.
#[derive(Debug, Default)]
pub(crate) struct ImageHints {
    is_lost: AtomicBool,
    is_read_only: AtomicBool,
    /// Number of the last submission that may have written texels.
    written: AtomicU64,
    /// True if clears of tiles were noted, and the image was not used since.
    has_noted_tiles: AtomicBool,
    /// Number of passes in which clears of tiles are still written.
    written_passes: AtomicU32,
    /// Decoded texels of the image's blocks, if there are any.
    decoded: OnceLock<Weak<dyn Evict>>,
}

impl ImageHints {
    /// Records a hint.
    pub fn take(&self, hint: Hint) {
        match hint {
            Hint::Lost => self.is_lost.store(true, Ordering::Release),
            Hint::ReadOnly => self.is_read_only.store(true, Ordering::Relaxed),
            Hint::Written => self.is_read_only.store(false, Ordering::Relaxed),
        }
    }

    /// Records that the image has decoded texels.
    pub fn set_decoded(&self, texels: Weak<dyn Evict>) {
        let _ = self.decoded.set(texels);
    }

    /// Drops the decoded texels unless they are in use.
    pub fn evict_decoded(&self) {
        if let Some(texels) = self.decoded.get().and_then(Weak::upgrade) {
            texels.evict();
        }
    }

    /// Returns true if the contents are not needed.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Begins a use of the image. Returns true if its contents were lost. Contents written from
    /// now on are needed.
    pub fn begin_use(&self) -> bool {
        self.is_lost() && self.is_lost.swap(false, Ordering::AcqRel)
    }

    /// Records that a submission may write texels.
    pub fn begin_write(&self, number: u64) {
        if self.written() < number {
            self.written.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// Returns the number of the last submission that may have written texels.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Returns true if clears of tiles should be noted in the pass that ends now. They are written
    /// for some passes after noted ones were read, because that is cheaper then.
    pub fn notes_tiles(&self) -> bool {
        let passes = self.written_passes.load(Ordering::Relaxed);
        self.written_passes.store(passes.saturating_sub(1), Ordering::Relaxed);
        passes == 0
    }

    /// Records that clears of tiles were noted.
    pub fn note_tiles(&self) {
        self.has_noted_tiles.store(true, Ordering::Relaxed);
    }

    /// Records a use of the image after clears of tiles may have been noted.
    pub fn use_noted_tiles(&self, access: ImageAccess) {
        if self.has_noted_tiles.load(Ordering::Relaxed) && self.has_noted_tiles.swap(false, Ordering::Relaxed) {
            let passes = if access == ImageAccess::Overwrite { 0 } else { WRITTEN_PASSES };
            self.written_passes.store(passes, Ordering::Relaxed);
        }
    }

    /// Returns true if the image is only read.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }
}
