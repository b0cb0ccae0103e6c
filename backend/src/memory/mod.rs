//! Allocations and surfaces: raw storage, the line-tiled layout, buffers and views.
