//! Depth and stencil, quad packing, fragment waves, export and blending.

mod counting;
mod coverage;
mod crumbs;
mod depth_group;
mod depth_stencil;
mod depths;
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
mod view;
mod wave;

pub use draw::{DrawContext, PixelContext, Segment, visibility};
pub use kernel::{ByProgram, Kernels};
pub use pass::{Beside, walk};
pub use rates::Rates;
pub use tile::{TileScratch, process_tile};
pub(crate) use view::TileClears;
pub use view::{Bin, PrimitiveId, SetUpScratch, Stretch, Visit, Walk};

/// Most pixels along each axis that a small primitive may touch: beyond twice as many its edges are not exact in 32 bits.
const SMALL_SIDE: i64 = 64;

/// Most pixels of the rectangle that a small primitive may touch: of larger ones whole groups are worth looking for.
const SMALL_PIXELS: i64 = 1024;

/// Pixels of a block along an axis.
const BLOCK: i64 = 4;

/// The pixels where any sample is.
#[inline]
fn any_of(masks: &[u64]) -> u64 {
    masks.iter().fold(0, |any, mask| any | mask)
}
