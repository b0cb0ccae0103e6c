//! The error type of the samples: the failed step, and the answer of the device or the file
//! system.

use ash::vk;

/// An error that stops a scene from being rendered or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A Vulkan call failed.
    #[error("{what} failed: {result:?}")]
    Vulkan {
        /// The call or the step.
        what: &'static str,
        /// The driver's result.
        result: vk::Result,
    },
    /// The system's Vulkan loader could not be opened.
    #[error("the Vulkan loader cannot be opened: {0}: install it (libvulkan.so.1)")]
    Loader(#[from] ash::LoadingError),
    /// No device with a graphics and compute queue.
    #[error("no Vulkan device has a queue for graphics and compute: install a driver for one")]
    NoDevice,
    /// A layer or extension that was asked for is not installed.
    #[error("{0} is not available in this Vulkan installation: install it")]
    Missing(&'static str),
    /// No wanted format supports the wanted features.
    #[error("no format is supported: expected one of {0:?} with the features {1:?}")]
    NoFormat(Vec<vk::Format>, vk::FormatFeatureFlags),
    /// No memory type fits.
    #[error("no memory type is supported: expected one with {0:?}")]
    NoMemoryType(vk::MemoryPropertyFlags),
    /// The generated model could not be read back as glTF.
    #[error("the model cannot be read: {0}")]
    Model(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file's path.
        path: std::path::PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A PNG could not be written.
    #[error("the picture cannot be encoded as PNG: {0}")]
    PngEncode(#[from] png::EncodingError),
    /// A PNG could not be read.
    #[error("the picture cannot be decoded from PNG: {0}")]
    PngDecode(#[from] png::DecodingError),
    /// Pictures that cannot be compared or stored (size or layout).
    #[error("{0}")]
    Picture(String),
    /// A scene name that does not exist.
    #[error("'{0}' is not a scene: expected one of `vitric gallery --list`")]
    UnknownScene(String),
}

/// Result type of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Names the step in which a Vulkan call failed.
pub(crate) trait Named<T> {
    /// Converts a Vulkan result, and names the step.
    fn named(self, what: &'static str) -> Result<T>;
}

impl<T> Named<T> for std::result::Result<T, vk::Result> {
    fn named(self, what: &'static str) -> Result<T> {
        self.map_err(|result| Error::Vulkan { what, result })
    }
}
