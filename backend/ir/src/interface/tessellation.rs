//! What tessellation programs declare of their patches. Source: Vulkan specification, "Tessellation".

use super::Slot;

/// `maxTessellationPatchSize`.
pub const MAX_PATCH_VERTICES: u32 = 32;

/// Most words of a patch, or of each of its vertices.
pub const MAX_PATCH_WORDS: usize = 512;

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

/// What is around a tessellation program, and how it reaches what is.
///
/// A patch has a *block* in local memory ([`Space::Shared`](crate::Space::Shared)), which the control program writes and the evaluation program reads: words of
/// the patch, and the words of its vertices, vertex after vertex. It begins at [`Builtin::PatchBase`](super::Builtin::PatchBase). Word `k` of the patch that a program
/// names lies [`Builtin::PatchOffset`](super::Builtin::PatchOffset) `k` bytes behind; that of vertex `v` lies [`Builtin::VertexOffset`](super::Builtin::VertexOffset) `k` and `v` times
/// [`Builtin::VertexBytes`](super::Builtin::VertexBytes) behind. All but the base are known when programs are linked, so both may name words in an order of their own.
/// Vertices that come are reached as by geometry programs ([`GeometryFacts`](super::GeometryFacts)); address `v` is word `v` of a table at
/// [`Builtin::VertexTable`](super::Builtin::VertexTable).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchFacts {
    /// Control programs: the words of vertices that come; none where nobody reads one.
    pub inputs: Vec<Option<Slot>>,
    /// Words of the patch that the program names.
    pub patch: Vec<Slot>,
    /// Words of its vertices that the program names.
    pub vertex: Vec<Slot>,
    /// What the program says of the modes, which either of the two may: vertices of the block's patch.
    pub vertices: Option<u32>,
    /// What is subdivided.
    pub domain: Option<Domain>,
    /// How edges are.
    pub spacing: Option<Spacing>,
    /// Whether triangles are clockwise.
    pub clockwise: Option<bool>,
    /// Whether each vertex is a point.
    pub points: bool,
}

impl PatchFacts {
    /// Returns true if a tessellation shader stays within what the tessellation unit can run.
    pub fn is_possible(&self) -> bool {
        [&self.inputs.len(), &self.patch.len(), &self.vertex.len()].iter().all(|&&words| words <= MAX_PATCH_WORDS)
            && self.vertices.is_none_or(|vertices| (1..=MAX_PATCH_VERTICES).contains(&vertices))
    }
}
