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
mod pass;
mod quad;
mod rates;
mod scoreboard;
mod teaching;
mod tile;
mod tiny;
mod wave;

pub use draw::{DrawContext, PixelContext, Segment, visibility};
pub use kernel::{ByProgram, Kernels};
pub(crate) use pass::TileClears;
pub use pass::{Beside, Bin, PrimitiveId, SetUpScratch, Stretch, Visit, Walk, walk};
pub use rates::Rates;
pub use tile::{TileScratch, process_tile};
