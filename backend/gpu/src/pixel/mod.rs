//! Pixel back end: depth and stencil tests, quad packing, fragment waves, export and blending.

mod counting;
mod coverage;
mod depth_group;
mod depth_stencil;
mod depths;
mod direct;
mod draw;
mod edge_pairs;
mod group_tests;
mod hiz_updates;
mod inputs;
mod kernel;
mod lookahead;
mod pass;
mod pixel_queue;
mod quad;
mod rates;
mod scoreboard;
mod tile;
mod tiny;
mod view;
mod wave;

pub use draw::{DrawContext, PixelContext, Segment, visibility};
pub use kernel::{ByProgram, Kernels};
pub use lookahead::{LookaheadRole, LookaheadSegment};
pub use pass::{Beside, mark_early_kills, run_tile_pass};
pub use rates::{RateMap, Rates};
pub use tile::{TileScratch, process_tile};
pub use view::{Bin, PrimitiveId, PrimitiveRun, SetUpScratch, TilePass, TileView};
pub(crate) use view::{ProcessedTiles, TileClears};

/// Maximum number of pixels along each axis that a small primitive may touch.
///
/// Beyond twice this size its edge equations are not exact in 32 bits.
const SMALL_SIDE: i64 = 64;

/// Maximum number of pixels in the bounding rectangle of a small primitive.
///
/// For larger primitives it pays to search for fully covered groups.
const SMALL_PIXELS: i64 = 1024;

/// Pixels of a block along each axis.
const BLOCK: i64 = 4;

/// Returns the pixels of which any sample is set.
#[inline]
fn any_of(masks: &[u64]) -> u64 {
    masks.iter().fold(0, |any, mask| any | mask)
}
