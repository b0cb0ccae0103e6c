//! What tessellation programs declare of their patches. Source: Vulkan specification, "Tessellation".

/// `maxTessellationPatchSize`.
pub const MOST_PATCH_VERTICES: u32 = 32;

/// What is subdivided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Domain {
    /// A triangle.
    #[default]
    Triangles,
    /// A square, into triangles.
    Quads,
    /// A square, into lines along u.
    Isolines,
}

/// How an edge is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Into equal segments.
    #[default]
    Equal,
    /// Into an even number of segments, two of which may be shorter.
    FractionalEven,
    /// Into an odd number of segments, two of which may be shorter.
    FractionalOdd,
}
