//! What task and mesh programs leave in their workgroup's memory.

/// Most vertices, and most primitives, of a workgroup: far above the limits that the device reports.
const MAX_ITEMS: u32 = 1 << 12;

/// Most words of output of a vertex and a primitive together.
const MAX_WORDS: usize = 1 << 10;

/// What is around a task or a mesh program: what it gives lies in its workgroup's memory when it ends.
///
/// Memory begins with the payload, in both, as far as each declares it. A task program leaves how many workgroups of the mesh program follow, along x, y and z; a mesh
/// program how many vertices and primitives it gives, their words, and which vertices each primitive has. Source: Vulkan specification,
/// "Mesh Shading"; `SPV_EXT_mesh_shader`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshFacts {
    /// Bytes of the payload.
    pub payload: u32,
    /// First byte of the numbers, three words.
    pub counts: u32,
    /// Vertices of a primitive: 1, points; 2, lines; 3, triangles.
    pub corners: u32,
    /// Most vertices of a workgroup.
    pub vertices: u32,
    /// Most primitives of a workgroup.
    pub primitives: u32,
    /// First byte of the numbers of the primitives' vertices; none where it writes none.
    pub indices: Option<u32>,
    /// Where each word of the program's output lies: those of vertices, then those of primitives.
    pub words: Vec<MeshWord>,
    /// How many of them are of vertices.
    pub of_vertices: usize,
    /// Which primitives are left out, where it says that of any.
    pub culls: Option<MeshWord>,
}

/// Where a word of the vertices, or of the primitives, of a mesh program lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeshWord {
    /// First byte of that of the first one.
    pub first: u32,
    /// Bytes from one to the next.
    pub stride: u32,
}

impl MeshWord {
    /// The first byte of that of a vertex or a primitive.
    pub fn of(self, number: u32) -> u32 {
        self.first + number * self.stride
    }

    /// Whether the words of so many lie in memory of so many bytes.
    fn fits(self, count: u32, memory: u32) -> bool {
        let last = self.stride.checked_mul(count.saturating_sub(1)).and_then(|last| last.checked_add(self.first));
        self.first.is_multiple_of(4)
            && self.stride.is_multiple_of(4)
            && last.and_then(|last| last.checked_add(4)).is_some_and(|end| end <= memory)
    }
}

impl MeshFacts {
    /// The word of vertex `corner` of each primitive.
    pub fn index(&self, corner: u32) -> Option<MeshWord> {
        Some(MeshWord { first: self.indices? + 4 * corner, stride: 4 * self.corners })
    }

    /// The words of vertices, and those of primitives.
    pub fn split(&self) -> (&[MeshWord], &[MeshWord]) {
        self.words.split_at(self.of_vertices.min(self.words.len()))
    }

    /// Whether a program that has so many words of output, and so many bytes of memory, can be like that.
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
