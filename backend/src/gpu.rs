//! The GPU as a whole: worker threads and the entry point that executes command lists.

use std::sync::Arc;

use crate::command::CommandList;

/// The GPU stopped: a program ran past its time limit or the emulation itself failed. What it was doing is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the device was lost")]
pub struct DeviceLost;

/// How a GPU is set up.
#[derive(Debug, Clone, Copy)]
pub struct GpuConfig {
    /// Worker threads, at least 1. Images do not depend on it.
    pub threads: usize,
}

/// An emulated GPU. Several queues may execute on it at the same time.
#[derive(Debug)]
pub struct Gpu {
    config: GpuConfig,
}

impl Gpu {
    /// Starts a GPU.
    pub fn new(config: GpuConfig) -> Arc<Self> {
        Arc::new(Self { config })
    }

    /// How the GPU is set up.
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// Executes command lists one after the other, and returns when all they do is complete and visible.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub fn execute(&self, lists: &[Arc<CommandList>]) -> Result<(), DeviceLost> {
        // The command processor takes over here.
        let _ = lists;
        Ok(())
    }
}
