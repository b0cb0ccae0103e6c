//! Structures and prototypes of Vulkan that are newer than `ash`.
//!
//! `ash` is the vocabulary of the project. Types that its release lacks come from `vulkanalia-sys`,
//! which is generated from the same registry. [`Newer`] wraps such a structure and gives it the
//! traits of ash's structures, so that chains of structures treat both alike. The table in
//! [`structures`] lists the structures. [`Vocabulary`] translates prototypes of commands.
//!
//! [`unbound`] has the few structures and prototypes that both bindings lack.
//!
//! Source: Vulkan's registry (`vk.xml`).

pub mod handles;
pub mod names;
pub mod prototypes;
pub mod structures;
pub mod unbound;

use ash::vk;
pub use handles::*;
pub use prototypes::Vocabulary;
pub use structures::*;
pub use unbound::*;
/// The raw bindings.
pub use vulkanalia_sys as sys;

/// Prototypes of commands that are newer than `ash`, in the form of the raw bindings.
pub mod commands {
    pub use vulkanalia_sys::*;

    pub use super::unbound::*;
}

/// Newest version of Vulkan that the raw bindings contain.
pub const HEADER_VERSION: u32 = vk::make_api_version(0, 1, 4, 343);

/// Vulkan 1.4, for which `ash` has no constant.
pub const API_VERSION_1_4: u32 = vk::make_api_version(0, 1, 4, 0);
