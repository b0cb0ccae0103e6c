//! Errors, one for each `VkResult` that Vitric returns.

use ash::vk;
use vitric_vulkan::sys;

/// Reason for the failure of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the variants are Vulkan's error codes")]
pub enum Error {
    #[error("out of host memory")]
    OutOfHostMemory,
    #[error("out of device memory")]
    OutOfDeviceMemory,
    #[error("initialization failed")]
    InitializationFailed,
    #[error("the device was lost")]
    DeviceLost,
    #[error("the memory cannot be mapped")]
    MemoryMapFailed,
    #[error("a global queue priority above the default is not permitted")]
    NotPermitted,
    #[error("a layer is not present")]
    LayerNotPresent,
    #[error("an extension is not present")]
    ExtensionNotPresent,
    #[error("a feature is not present")]
    FeatureNotPresent,
    #[error("too many objects")]
    TooManyObjects,
    #[error("the format is not supported")]
    FormatNotSupported,
    #[error("the descriptor pool is fragmented")]
    FragmentedPool,
    #[error("the descriptor pool is exhausted")]
    OutOfPoolMemory,
    #[error("the shader is invalid or uses something unsupported")]
    InvalidShader,
    #[error("the surface was lost")]
    SurfaceLost,
    #[error("the window already has a swapchain")]
    WindowInUse,
    #[error("the swapchain no longer matches its surface")]
    OutOfDate,
    /// A pipeline has a program that is not compiled, and compilation is not allowed.
    #[error("a program is not compiled, and the application forbids compilation")]
    CompileRequired,
    /// A pipeline binary that the internal cache does not have.
    #[error("the internal cache lacks a program of the pipeline")]
    BinaryMissing,
    /// The application's memory is smaller than the data of a pipeline binary.
    #[error("the data need more space")]
    NotEnoughSpace,
    /// The application has not read enough timings of past presentations.
    #[error("the queue of presentation timings is full")]
    PresentTimingQueueFull,
    #[error("an external handle does not have the stated type")]
    InvalidExternalHandle,
    #[error("an image cannot have its planes where the application places them")]
    InvalidPlaneLayout,
    #[error("the requested address is not available")]
    InvalidOpaqueCaptureAddress,
    #[error("the call breaks valid usage")]
    Unknown,
}

impl Error {
    /// Returns the code that Vulkan defines for the error.
    pub fn code(self) -> vk::Result {
        match self {
            Self::OutOfHostMemory => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            Self::OutOfDeviceMemory => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            Self::InitializationFailed => vk::Result::ERROR_INITIALIZATION_FAILED,
            Self::DeviceLost => vk::Result::ERROR_DEVICE_LOST,
            Self::MemoryMapFailed => vk::Result::ERROR_MEMORY_MAP_FAILED,
            Self::NotPermitted => vk::Result::ERROR_NOT_PERMITTED_KHR,
            Self::LayerNotPresent => vk::Result::ERROR_LAYER_NOT_PRESENT,
            Self::ExtensionNotPresent => vk::Result::ERROR_EXTENSION_NOT_PRESENT,
            Self::FeatureNotPresent => vk::Result::ERROR_FEATURE_NOT_PRESENT,
            Self::TooManyObjects => vk::Result::ERROR_TOO_MANY_OBJECTS,
            Self::FormatNotSupported => vk::Result::ERROR_FORMAT_NOT_SUPPORTED,
            Self::FragmentedPool => vk::Result::ERROR_FRAGMENTED_POOL,
            Self::OutOfPoolMemory => vk::Result::ERROR_OUT_OF_POOL_MEMORY,
            Self::InvalidShader => vk::Result::ERROR_INVALID_SHADER_NV,
            Self::SurfaceLost => vk::Result::ERROR_SURFACE_LOST_KHR,
            Self::WindowInUse => vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR,
            Self::OutOfDate => vk::Result::ERROR_OUT_OF_DATE_KHR,
            Self::CompileRequired => vk::Result::PIPELINE_COMPILE_REQUIRED,
            Self::BinaryMissing => vk::Result::from_raw(sys::Result::PIPELINE_BINARY_MISSING_KHR.as_raw()),
            Self::NotEnoughSpace => vk::Result::from_raw(sys::Result::ERROR_NOT_ENOUGH_SPACE_KHR.as_raw()),
            Self::PresentTimingQueueFull => {
                vk::Result::from_raw(sys::Result::ERROR_PRESENT_TIMING_QUEUE_FULL_EXT.as_raw())
            }
            Self::InvalidExternalHandle => vk::Result::ERROR_INVALID_EXTERNAL_HANDLE,
            Self::InvalidPlaneLayout => vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT,
            Self::InvalidOpaqueCaptureAddress => vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS,
            Self::Unknown => vk::Result::ERROR_UNKNOWN,
        }
    }
}

/// Result of a command.
pub type Result<T> = std::result::Result<T, Error>;
