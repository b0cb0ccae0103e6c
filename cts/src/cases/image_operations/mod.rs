//! Chapter "Image Operations": sampling, fetches, gathers, queries and storage images.

pub(super) mod image_types;
mod storage_images;
