//! Chapter "Geometry Shading": inputs by topology, emitted primitives, instances.

pub(super) mod shading;
