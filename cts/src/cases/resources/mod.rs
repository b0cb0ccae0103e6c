//! Chapter "Resource Creation": buffers, images and their views.

mod device_addresses;
mod image_views;
pub(super) mod layouts;
mod requirements;
mod stencil_usage;
