//! Chapter "Resource Creation": buffers, images and their views.

mod address_commands;
mod compression;
mod device_addresses;
mod image_views;
mod layouts;
mod modifiers;
mod requirements;
mod stencil_usage;
