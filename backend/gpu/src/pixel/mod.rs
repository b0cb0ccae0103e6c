//! Depth and stencil, quad packing, fragment waves, export and blending.

mod coarse;
mod coverage;
mod crumbs;
mod depth_group;
mod depth_stencil;
mod direct;
mod draw;
mod group_tests;
mod inputs;
mod kernel;
mod neighbours;
mod quad;
mod rates;
mod scoreboard;
mod teaching;
mod tile;
mod tiny;
mod wave;

pub use draw::{DrawContext, PixelContext, Segment, visibility};
pub use kernel::Kernels;
pub use rates::Rates;
pub use tile::{TileScratch, process_tile};
