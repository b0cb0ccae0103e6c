//! Depth and stencil, quad packing, fragment waves, export and blending.
