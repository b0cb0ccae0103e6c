//! The layout of the results that task and mesh programs leave in their workgroup's memory.

/// Maximum number of vertices, and of primitives, of a workgroup. It is far above the limits that
/// the device reports.
const MAX_ITEMS: u32 = 1 << 12;

/// Maximum number of output words of a vertex and a primitive together.
const MAX_WORDS: usize = 1 << 10;

/// Layout of a workgroup's memory when a task or mesh program ends.
///
/// Memory begins with the payload in both stages, as far as each program declares it. A task
/// program leaves the number of mesh workgroups along x, y and z. A mesh program leaves its
/// numbers of vertices and primitives, their output words, and the vertex indices of each
/// primitive. Source: Vulkan specification, "Mesh Shading"; `SPV_EXT_mesh_shader`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshFacts {
    /// Size of the payload in bytes.
    pub payload: u32,
    /// First byte of the counts, which are three words.
    pub counts: u32,
    /// Number of vertices of a primitive: 1 for points, 2 for lines, 3 for triangles.
    pub corners: u32,
    /// Maximum number of vertices of a workgroup.
    pub vertices: u32,
    /// Maximum number of primitives of a workgroup.
    pub primitives: u32,
    /// First byte of the primitives' vertex indices. `None` if the program writes none.
    pub indices: Option<u32>,
    /// Location of each output word of the program: vertex words first, then primitive words.
    pub words: Vec<MeshWord>,
    /// Number of vertex words in `words`.
    pub of_vertices: usize,
    /// Location of the primitives' cull flags. `None` if the program writes none.
    pub culls: Option<MeshWord>,
}

/// Location of one output word of all vertices, or of all primitives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeshWord {
    /// First byte of the first item's word.
    pub first: u32,
    /// Bytes from one item's word to the next.
    pub stride: u32,
}

impl MeshWord {
    /// Returns the first byte of the word of the vertex or primitive with this number.
    pub fn of(self, number: u32) -> u32 {
        self.first + number * self.stride
    }

    /// Returns true if the words of `count` items lie in `memory` bytes of memory.
    fn fits(self, count: u32, memory: u32) -> bool {
        let last = self.stride.checked_mul(count.saturating_sub(1)).and_then(|last| last.checked_add(self.first));
        self.first.is_multiple_of(4)
            && self.stride.is_multiple_of(4)
            && last.and_then(|last| last.checked_add(4)).is_some_and(|end| end <= memory)
    }
}

impl MeshFacts {
    /// Returns the location of the index of vertex `corner` of each primitive.
    pub fn index(&self, corner: u32) -> Option<MeshWord> {
        Some(MeshWord { first: self.indices? + 4 * corner, stride: 4 * self.corners })
    }

    /// Returns the locations of the vertex words and of the primitive words.
    pub fn split(&self) -> (&[MeshWord], &[MeshWord]) {
        self.words.split_at(self.of_vertices.min(self.words.len()))
    }

    /// Returns true if the layout is valid for a program with `outputs` output words and `memory`
    /// bytes of memory.
    pub fn is_possible(&self, outputs: usize, memory: u32) -> bool {
        let (of_vertices, of_primitives) = self.split();
        let is_small = self.vertices <= MAX_ITEMS && self.primitives <= MAX_ITEMS && self.words.len() <= MAX_WORDS;
        let is_placed = |first: u32| first.is_multiple_of(4) && first <= memory;
        is_small
            && self.words.len() == outputs
            && self.of_vertices <= outputs
            && self.corners <= 3
            && self.payload <= memory
            && is_placed(self.payload.next_multiple_of(4))
            && self.indices.is_none_or(is_placed)
            && MeshWord { first: self.counts, stride: 4 }.fits(3, memory)
            && of_vertices.iter().all(|word| word.fits(self.vertices, memory))
            && of_primitives.iter().chain(&self.culls).all(|word| word.fits(self.primitives, memory))
            && (0..self.corners).filter_map(|corner| self.index(corner)).all(|word| word.fits(self.primitives, memory))
    }
}
