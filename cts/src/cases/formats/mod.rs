//! Chapter "Formats": required, compressed, multi-planar and uncommon formats.

mod compressed;
pub(super) mod conversion;
mod features;
pub(super) mod maintenance5;
mod planar;
mod uncommon;
