//! Tessellation: the tessellator subdivides patches. Nothing runs control and evaluation programs yet, so no device has the stages.

mod tessellator;

pub use tessellator::{Domain, Levels, Mesh, Spacing, Subdivision};
