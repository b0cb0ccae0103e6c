//! Chapter "Image Operations": sampling, fetches, gathers, queries and storage images.

pub(super) mod image_types;
mod single_layers;
mod storage_images;
