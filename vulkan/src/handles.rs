//! Handles of objects that are newer than `ash`.

use ash::vk;
use vulkanalia_sys as sys;
use vulkanalia_sys::Handle as _;

use crate::{Newer, Vocabulary};

/// A row is a handle of the raw bindings and the name of its object type.
macro_rules! handles {
    ($($name:ident = $number:ident;)*) => { $(
        #[doc = concat!("`Vk", stringify!($name), "`.")]
        pub type $name = Newer<sys::$name>;

        impl vk::Handle for $name {
            const TYPE: vk::ObjectType = vk::ObjectType::from_raw(sys::ObjectType::$number.as_raw());

            fn as_raw(self) -> u64 {
                self.0.as_raw()
            }

            fn from_raw(raw: u64) -> Self {
                Self(sys::$name::from_raw(raw))
            }
        }

        impl Vocabulary for sys::$name {
            type Own = $name;
        }
    )* };
}

handles! {
    PipelineBinaryKHR = PIPELINE_BINARY_KHR;
}
