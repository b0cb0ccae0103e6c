//! Translation of prototypes from the raw bindings' types to the project's.
//!
//! A command that is newer than `ash` is declared with `ash`'s handles and with
//! [`Newer`](crate::Newer) structures. [`Vocabulary`] derives this declaration from the raw
//! prototype, so that the compiler checks each function against the registry.

use std::ffi::c_void;

use ash::vk;
use vulkanalia_sys as sys;

/// A type of the raw bindings that has an equivalent of the same layout.
pub trait Vocabulary {
    /// The equivalent.
    type Own;
}

macro_rules! own {
    ($($raw:ty => $own:ty;)*) => { $(impl Vocabulary for $raw { type Own = $own; })* };
}

own! {
    () => ();
    u32 => u32;
    u64 => u64;
    usize => usize;
    c_void => c_void;
    sys::CommandBuffer => vk::CommandBuffer;
    sys::QueryPool => vk::QueryPool;
    sys::QueryResultFlags => vk::QueryResultFlags;
    sys::Device => vk::Device;
    sys::PhysicalDevice => vk::PhysicalDevice;
    sys::Queue => vk::Queue;
    sys::SwapchainKHR => vk::SwapchainKHR;
    sys::DepthClampModeEXT => sys::DepthClampModeEXT;
    sys::DepthClampRangeEXT => sys::DepthClampRangeEXT;
    sys::AllocationCallbacks => vk::AllocationCallbacks<'static>;
    sys::Result => vk::Result;
}

impl<T: Vocabulary> Vocabulary for *const T {
    type Own = *const T::Own;
}

impl<T: Vocabulary> Vocabulary for *mut T {
    type Own = *mut T::Own;
}

macro_rules! prototypes {
    ($(($($parameter:ident)*))*) => { $(
        impl<R: Vocabulary, $($parameter: Vocabulary),*> Vocabulary
            for unsafe extern "system" fn($($parameter),*) -> R
        {
            type Own = unsafe extern "system" fn($($parameter::Own),*) -> R::Own;
        }
    )* };
}

prototypes! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) }

/// Structures of commands' parameters.
macro_rules! parameters {
    ($($name:ident),*) => { $(impl Vocabulary for sys::$name { type Own = crate::Newer<sys::$name>; })* };
}

parameters! {
    BeginCustomResolveInfoEXT,
    CopyMemoryIndirectInfoKHR,
    CopyMemoryToImageIndirectInfoKHR,
    PastPresentationTimingInfoEXT,
    PastPresentationTimingPropertiesEXT,
    PipelineBinaryCreateInfoKHR,
    PipelineBinaryDataInfoKHR,
    PipelineBinaryHandlesInfoKHR,
    PipelineBinaryKeyKHR,
    PipelineCreateInfoKHR,
    PresentWait2InfoKHR,
    ReleaseCapturedPipelineDataInfoKHR,
    RenderingEndInfoKHR,
    SwapchainTimeDomainPropertiesEXT,
    SwapchainTimingPropertiesEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands that `ash` also knows have equal prototypes in both.
    #[test]
    fn prototypes_translate_to_those_of_ash() {
        fn same<T: Vocabulary<Own = U>, U>() -> usize {
            size_of::<T>()
        }
        assert_eq!(same::<sys::PFN_vkDeviceWaitIdle, vk::PFN_vkDeviceWaitIdle>(), size_of::<usize>());
        assert_eq!(same::<sys::PFN_vkCmdSetPatchControlPointsEXT, vk::PFN_vkCmdSetPatchControlPointsEXT>(), 8);
    }
}
