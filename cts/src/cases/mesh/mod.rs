//! Chapter "Mesh Shading": task and mesh shaders.

mod shading;
