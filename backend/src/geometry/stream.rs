//! Vertex streams: the vertices that a draw shades, each once, and the order in which primitives take them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// In [`VertexStream::order`]: starts a new strip or fan.
pub const RESTART: u32 = u32::MAX;

/// A table of the vertices that were seen may have this many entries beyond one for each index.
const SPARE_ENTRIES: u64 = 1 << 12;

/// The vertices of one instance of a draw.
#[derive(Debug, PartialEq, Eq)]
pub struct VertexStream {
    /// Vertex indices to be shaded, base vertex added, in the order of their first use.
    pub vertices: Vec<u32>,
    /// Places in `vertices`, and [`RESTART`]s.
    pub order: Vec<u32>,
}

impl VertexStream {
    /// `count` vertices from `first` on, one after the other; the numbers wrap.
    pub fn consecutive(first: u32, count: u32) -> Self {
        Self { vertices: (0..count).map(|index| first.wrapping_add(index)).collect(), order: (0..count).collect() }
    }

    /// The vertices that indices name; `None` is a restart. Fewer than 2^32 - 1 indices.
    pub fn indexed(indices: &[Option<u32>]) -> Self {
        let named = || indices.iter().copied().flatten();
        let (Some(low), Some(high)) = (named().min(), named().max()) else {
            return Self { vertices: Vec::new(), order: vec![RESTART; indices.len()] };
        };
        let span = u64::from(high - low) + 1;
        if span <= indices.len() as u64 * 4 + SPARE_ENTRIES {
            let mut table = vec![RESTART; span as usize];
            Self::numbered(indices, |vertex, next| {
                let number = &mut table[(vertex - low) as usize];
                let is_new = *number == RESTART;
                if is_new {
                    *number = next;
                }
                (*number, is_new)
            })
        } else {
            let mut table = HashMap::new();
            Self::numbered(indices, |vertex, next| match table.entry(vertex) {
                Entry::Occupied(number) => (*number.get(), false),
                Entry::Vacant(room) => (*room.insert(next), true),
            })
        }
    }

    /// Numbers vertices; `number` is called with a vertex and the number that it gets if it is new, and returns its number
    /// and whether it was.
    fn numbered(indices: &[Option<u32>], mut number: impl FnMut(u32, u32) -> (u32, bool)) -> Self {
        let mut vertices = Vec::new();
        let place = |index: &Option<u32>| {
            let Some(vertex) = *index else { return RESTART };
            let (place, is_new) = number(vertex, vertices.len() as u32);
            if is_new {
                vertices.push(vertex);
            }
            place
        };
        let order = indices.iter().map(place).collect();
        Self { vertices, order }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn consecutive_vertices_wrap() {
        let stream = VertexStream::consecutive(u32::MAX, 3);
        assert_eq!(stream, VertexStream { vertices: vec![u32::MAX, 0, 1], order: vec![0, 1, 2] });
        assert_eq!(VertexStream::consecutive(7, 0).vertices, [0u32; 0]);
    }

    #[test]
    fn vertices_are_shaded_once_in_the_order_of_first_use() {
        let stream = VertexStream::indexed(&[Some(9), Some(4), Some(9), None, Some(5), Some(4)]);
        assert_eq!(stream, VertexStream { vertices: vec![9, 4, 5], order: vec![0, 1, 0, RESTART, 2, 1] });
        assert_eq!(VertexStream::indexed(&[None]), VertexStream { vertices: vec![], order: vec![RESTART] });
    }

    #[test]
    fn far_and_the_last_vertices_are_numbered_too() {
        let stream = VertexStream::indexed(&[Some(u32::MAX), Some(0), Some(u32::MAX)]);
        assert_eq!(stream, VertexStream { vertices: vec![u32::MAX, 0], order: vec![0, 1, 0] });
        let stream = VertexStream::indexed(&[Some(u32::MAX), Some(u32::MAX - 1)]);
        assert_eq!(stream, VertexStream { vertices: vec![u32::MAX, u32::MAX - 1], order: vec![0, 1] });
    }

    proptest! {
        #[test]
        fn the_order_names_what_the_indices_named(
            indices in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![0..20u32, any::<u32>()]), 0..60),
            offset: u32,
        ) {
            let indices: Vec<Option<u32>> = indices.iter().map(|i| i.map(|i| i.wrapping_add(offset))).collect();
            let stream = VertexStream::indexed(&indices);
            let back = stream.order.iter().map(|&at| (at != RESTART).then(|| stream.vertices[at as usize]));
            prop_assert_eq!(back.collect::<Vec<_>>(), indices);
            let mut once = stream.vertices.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), stream.vertices.len());
        }
    }
}
