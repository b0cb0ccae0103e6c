//! Facts that tessellation programs declare about their patches. Source: Vulkan specification,
//! "Tessellation".

use super::Slot;

/// Maximum number of vertices of a patch (`maxTessellationPatchSize`).
pub const MAX_PATCH_VERTICES: u32 = 32;

/// Maximum number of words of a patch, or of each of its vertices.
pub const MAX_PATCH_WORDS: usize = 512;

/// Shape that is subdivided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Domain {
    /// Triangle.
    #[default]
    Triangles,
    /// Square that is divided into triangles.
    Quads,
    /// Square that is divided into lines along u.
    Isolines,
}

/// Rule by which an edge is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal segments.
    #[default]
    Equal,
    /// Even number of segments, two of which may be shorter.
    FractionalEven,
    /// Odd number of segments, two of which may be shorter.
    FractionalOdd,
}

/// Properties of a tessellation program, and the layout of the memory that it accesses.
///
/// A patch has a *block* in local memory ([`Space::Shared`](crate::Space::Shared)). The control
/// program writes the block and the evaluation program reads it. The block contains the words of
/// the patch, followed by the words of its vertices, vertex after vertex.
///
/// The block begins at [`Builtin::PatchBase`](super::Builtin::PatchBase). The program numbers its
/// patch words and vertex words. Patch word `k` lies
/// [`Builtin::PatchOffset`](super::Builtin::PatchOffset) `k` bytes after the base. Word `k` of
/// vertex `v` lies [`Builtin::VertexOffset`](super::Builtin::VertexOffset) `k`, plus `v` times
/// [`Builtin::VertexBytes`](super::Builtin::VertexBytes), bytes after the base. All of these
/// numbers except the base are known when programs are linked. The two programs may therefore
/// number words differently.
///
/// A control program accesses its input vertices as geometry programs do
/// ([`GeometryFacts`](super::GeometryFacts)). Address `v` is word `v` of a table at
/// [`Builtin::VertexTable`](super::Builtin::VertexTable).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchFacts {
    /// Words of a control program's input vertex. `None` stands for a word that is not read.
    pub inputs: Vec<Option<Slot>>,
    /// Patch words that the program accesses.
    pub patch: Vec<Slot>,
    /// Words of the patch's vertices that the program accesses.
    pub vertex: Vec<Slot>,
    /// Number of vertices of the block's patch. Either program may declare this mode and the modes
    /// below.
    pub vertices: Option<u32>,
    /// Shape that is subdivided.
    pub domain: Option<Domain>,
    /// Rule by which edges are divided.
    pub spacing: Option<Spacing>,
    /// True if triangles are clockwise.
    pub clockwise: Option<bool>,
    /// True if each vertex becomes a point.
    pub points: bool,
}

impl PatchFacts {
    /// Returns true if a tessellation shader is within the limits of the tessellation unit.
    pub fn is_possible(&self) -> bool {
        [&self.inputs.len(), &self.patch.len(), &self.vertex.len()].iter().all(|&&words| words <= MAX_PATCH_WORDS)
            && self.vertices.is_none_or(|vertices| (1..=MAX_PATCH_VERTICES).contains(&vertices))
    }
}
