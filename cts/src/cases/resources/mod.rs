//! Chapter "Resource Creation": buffers, images and their views.

mod device_addresses;
mod image_views;
mod layouts;
mod requirements;
mod stencil_usage;
