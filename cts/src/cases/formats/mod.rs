//! Chapter "Formats": required, compressed, multi-planar and uncommon formats.

mod compressed;
mod conversion;
mod features;
mod maintenance5;
mod planar;
mod planar_arrays;
mod uncommon;
