//! Chapter "Tessellation": control and evaluation shaders, and primitive generation.

mod draws;
mod model;
mod patches;
