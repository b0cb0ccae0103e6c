//! Chapter "The Framebuffer": blending, logic operations, write masks, sRGB.

mod blending;
