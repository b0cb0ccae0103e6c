//! Incremental assembly of strips, fans and restarted primitives, so that draws of any length are
//! assembled in bounded memory.

use ash::vk;

use super::assembly::{assemble, assemble_whole};
use crate::state::vertices;

/// Rules by which vertices become primitives.
#[derive(Debug, Clone, Copy)]
pub struct Assembly {
    /// Topology of the draw's vertices.
    pub topology: vk::PrimitiveTopology,
    /// Number of vertices of a primitive.
    pub of_each: usize,
    /// True if primitives have adjacent vertices, for geometry programs.
    pub adjacent: bool,
    /// True if the last vertex is the provoking one.
    pub last: bool,
}

impl Assembly {
    fn assemble(&self, vertices: &[u32], emit: impl FnMut(&[u32])) {
        match self.adjacent {
            _ if self.topology == vk::PrimitiveTopology::PATCH_LIST => {
                vertices.chunks_exact(self.of_each).for_each(emit);
            }
            true => assemble_whole(self.topology, vertices, self.last, emit),
            false => assemble(self.topology, vertices, self.last, emit),
        }
    }

    /// Returns the number of vertices from one primitive to the next.
    fn stride(&self) -> usize {
        use vk::PrimitiveTopology as T;
        match self.topology {
            T::LINE_STRIP | T::LINE_STRIP_WITH_ADJACENCY | T::TRIANGLE_STRIP | T::TRIANGLE_FAN => 1,
            T::TRIANGLE_STRIP_WITH_ADJACENCY => 2,
            T::PATCH_LIST => self.of_each,
            list => vertices(list),
        }
    }
}

/// Primitives of a chunk of a draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssembledChunk {
    /// Corners of the primitives.
    pub corners: Vec<u32>,
    /// Number of the first primitive in the draw's instance.
    pub first: usize,
    /// Numbers of the first primitives of strips and fans in the draw's instance.
    pub starts: Vec<u32>,
}

/// Assembler of consecutive vertices.
#[derive(Debug)]
pub struct Stream {
    assembly: Assembly,
    /// Vertices since the last restart that later primitives need.
    open: Vec<u32>,
    /// Number of primitives of `open` that were already emitted.
    emitted: usize,
    /// Number of primitives of all earlier chunks.
    before: usize,
    chunk: AssembledChunk,
}

impl Stream {
    /// Creates a stream before its first vertex.
    pub fn new(assembly: Assembly) -> Self {
        Self { assembly, open: Vec::new(), emitted: 0, before: 0, chunk: AssembledChunk::default() }
    }

    /// Appends vertices.
    pub fn extend(&mut self, vertices: impl IntoIterator<Item = u32>) {
        self.open.extend(vertices);
    }

    /// Ends the strip or fan.
    pub fn restart(&mut self) {
        self.emit(usize::MAX);
        self.open.clear();
        self.emitted = 0;
    }

    /// Returns the primitives that are complete and were not returned before. After a restart that
    /// is all of them.
    pub fn take(&mut self) -> AssembledChunk {
        // The last primitive may still change. An even number is emitted so that the remaining
        // ones begin with an even primitive, like the first.
        let known = (self.primitives().saturating_sub(1)) & !1;
        if known > self.emitted {
            self.emit(known);
        }
        if known > 2 {
            // Two emitted primitives stay in `open`, because primitives of a strip with adjacency
            // use vertices of the previous one.
            let gone = (known - 2) * self.assembly.stride();
            let first = self.open[0];
            self.open.drain(..gone);
            if self.assembly.topology == vk::PrimitiveTopology::TRIANGLE_FAN {
                self.open[0] = first;
            }
            self.emitted = 2;
        }
        let chunk = std::mem::take(&mut self.chunk);
        self.before += chunk.corners.len() / self.assembly.of_each;
        chunk
    }

    fn primitives(&self) -> usize {
        let mut count = 0;
        self.assembly.assemble(&self.open, |_| count += 1);
        count
    }

    /// Adds the primitives from the first that was not emitted up to `end` to the chunk.
    fn emit(&mut self, end: usize) {
        let Self { assembly, open, emitted, before, chunk } = self;
        chunk.first = *before;
        if *emitted == 0 {
            chunk.starts.push((*before + chunk.corners.len() / assembly.of_each) as u32);
        }
        let mut number = 0;
        assembly.assemble(open, |primitive| {
            if number >= *emitted && number < end {
                chunk.corners.extend_from_slice(primitive);
            }
            number += 1;
        });
        *emitted = end.min(number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::corners;

    fn topologies() -> impl Strategy<Value = vk::PrimitiveTopology> {
        (0..=10).prop_map(vk::PrimitiveTopology::from_raw)
    }

    fn all(stream: &mut Stream) -> AssembledChunk {
        stream.restart();
        stream.take()
    }

    proptest! {
        /// Parts add up to the whole, wherever the stream is split.
        #[test]
        fn parts_are_the_whole(
            topology in topologies(), adjacent: bool, last: bool, of_patch in 1usize..5,
            pieces in prop::collection::vec((0u32..9, any::<bool>(), any::<bool>()), 1..12),
        ) {
            let of_each = match topology {
                vk::PrimitiveTopology::PATCH_LIST => of_patch,
                topology if adjacent => vertices(topology),
                topology => corners(topology),
            };
            let assembly = Assembly { topology, of_each, adjacent, last: last && !adjacent };
            let (mut whole, mut parted) = (Stream::new(assembly), Stream::new(assembly));
            let (mut vertex, mut found) = (100, AssembledChunk::default());
            let mut add = |chunk: AssembledChunk| {
                assert!(chunk.corners.is_empty() || chunk.first == found.corners.len() / of_each);
                found.corners.extend(chunk.corners);
                found.starts.extend(chunk.starts);
            };
            for (count, restarts, chunks) in pieces {
                for stream in [&mut whole, &mut parted] {
                    stream.extend(vertex..vertex + count);
                    if restarts {
                        stream.restart();
                    }
                }
                vertex += count;
                if chunks {
                    add(parted.take());
                    // At most four primitives are kept, and the vertices with which the next one
                    // begins.
                    let bound = 5 * assembly.stride().max(of_each);
                    prop_assert!(parted.open.len() < bound, "little is kept: {}", parted.open.len());
                }
            }
            add(all(&mut parted));
            let mut whole = all(&mut whole);
            // If a strip without lines begins at a number, the next strip begins there too.
            whole.starts.dedup();
            found.starts.dedup();
            prop_assert_eq!(found, whole);
        }
    }

    #[test]
    fn a_strip_is_what_assembly_makes_of_it() {
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let mut stream = Stream::new(Assembly { topology, of_each: 3, adjacent: false, last: false });
        stream.extend(0..4);
        assert_eq!(stream.take(), AssembledChunk::default(), "the second one may be the last");
        stream.extend(4..6);
        assert_eq!(stream.take(), AssembledChunk { corners: vec![0, 1, 2, 1, 3, 2], first: 0, starts: vec![0] });
        stream.restart();
        stream.extend(9..12);
        let chunk = all(&mut stream);
        assert_eq!(chunk.corners, [2, 3, 4, 3, 5, 4, 9, 10, 11]);
        assert_eq!((chunk.first, &chunk.starts[..]), (2, &[4][..]));
    }
}
