//! What commands say of images, which those need not know who use them: whose contents are lost, and who is only read from now on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use ash::vk::ImageLayout as L;

use crate::DecodedTexels;

/// What a command says of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// Its contents are anything: a transition from the undefined layout, or the end of a pass that stores nothing.
    Lost,
    /// It is read from now on: a transition to a layout for reads only.
    ReadOnly,
    /// Or not any more.
    Written,
}

impl Hint {
    /// What a transition to a layout says; nothing, where that is the undefined one, which stands for none.
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

/// What was said of an image last.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    is_lost: AtomicBool,
    is_read_only: AtomicBool,
    /// The decoded texels of its blocks, if there are any.
    decoded: OnceLock<Weak<DecodedTexels>>,
}

impl Hints {
    /// Takes a hint.
    pub fn take(&self, hint: Hint) {
        match hint {
            Hint::Lost => self.is_lost.store(true, Ordering::Release),
            Hint::ReadOnly => self.is_read_only.store(true, Ordering::Relaxed),
            Hint::Written => self.is_read_only.store(false, Ordering::Relaxed),
        }
    }

    /// The image has decoded texels.
    pub fn set_decoded(&self, texels: &Arc<DecodedTexels>) {
        let _ = self.decoded.set(Arc::downgrade(texels));
    }

    /// Drops the decoded texels unless somebody uses them.
    pub fn drop_decoded(&self) {
        if let Some(texels) = self.decoded.get().and_then(Weak::upgrade) {
            texels.evict();
        }
    }

    /// Whether nobody needs what is there.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// The image is going to be used; whether what is there is lost. What is there then counts.
    pub fn begin_use(&self) -> bool {
        self.is_lost() && self.is_lost.swap(false, Ordering::AcqRel)
    }

    /// Whether it is only read.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }
}
