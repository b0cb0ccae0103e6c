//! Vertex fetch and shading, primitive assembly, clipping, culling, viewport.
