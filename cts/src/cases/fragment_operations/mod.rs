//! Chapter "Fragment Operations": depth, stencil and depth bounds tests, coverage, interlock.

mod coverage;
mod depth_and_stencil;
mod depth_contents;
mod depth_range;
mod fragment_stage;
mod interlock;
mod ordered_access;
mod packed_depth_stencil;
mod stencil_export;
mod tile_images;
