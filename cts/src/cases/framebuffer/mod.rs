//! Chapter "The Framebuffer": blending, logic operations, write masks, sRGB,
//! dithering.

mod blending;
mod dithering;
