//! Vertex reuse: lists each vertex of a group of primitives once, so that each is shaded once.

/// Numbering of the vertices of a chunk of a draw. Its buffers are reused from chunk to chunk.
#[derive(Debug, Default)]
pub struct Reuse {
    /// Vertices, in the order of their first use.
    pub vertices: Vec<u32>,
    /// For each corner of a primitive its place in `vertices`.
    pub places: Vec<u32>,
    /// Places plus one, or 0 for empty entries. The table is indexed by vertex if the indices are
    /// close together, or else it is an open-addressing hash table.
    table: Vec<u32>,
}

impl Reuse {
    /// Removes all vertices.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.places.clear();
    }

    /// Numbers `count` consecutive vertices from `first` on.
    pub fn number_all(&mut self, first: u32, count: u32) {
        self.clear();
        self.vertices.extend((0..count).map(|place| first.wrapping_add(place)));
        self.places.extend(0..count);
    }

    /// Numbers the vertices of these corners without reuse.
    pub fn number_each(&mut self, corners: &[u32]) {
        self.vertices.clear();
        self.places.clear();
        self.vertices.extend_from_slice(corners);
        self.places.extend(0..corners.len() as u32);
    }

    /// Numbers the vertices of these corners.
    pub fn number(&mut self, corners: &[u32]) {
        self.clear();
        // The hash table is at most half full.
        let size = (corners.len() * 2).next_power_of_two();
        self.table.clear();
        let (least, greatest) = corners.iter().fold((u32::MAX, 0), |(a, b), &vertex| (a.min(vertex), b.max(vertex)));
        let span = greatest.saturating_sub(least) as usize;
        if span < size {
            self.table.resize(span + 1, 0);
            return self.number_near(corners, least);
        }
        self.table.resize(size, 0);
        for &vertex in corners {
            let place = self.place(vertex);
            self.places.push(place);
        }
    }

    /// Numbers vertices that are close to the lowest index. Each has its own entry in the table.
    fn number_near(&mut self, corners: &[u32], least: u32) {
        let Self { vertices, places, table } = self;
        places.extend(corners.iter().map(|&vertex| {
            let known = &mut table[(vertex - least) as usize];
            if *known == 0 {
                vertices.push(vertex);
                *known = vertices.len() as u32;
            }
            *known - 1
        }));
    }

    fn place(&mut self, vertex: u32) -> u32 {
        let mask = self.table.len() - 1;
        let mut slot = (vertex.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        loop {
            match self.table[slot] {
                0 => {
                    self.vertices.push(vertex);
                    self.table[slot] = self.vertices.len() as u32;
                    return self.vertices.len() as u32 - 1;
                }
                known if self.vertices[known as usize - 1] == vertex => return known - 1,
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vertices_come_in_the_order_of_first_use() {
        let mut reuse = Reuse::default();
        reuse.number(&[9, 4, 9, 5, 4, u32::MAX]);
        assert_eq!((&reuse.vertices[..], &reuse.places[..]), (&[9, 4, 5, u32::MAX][..], &[0, 1, 0, 2, 1, 3][..]));
        reuse.number_all(u32::MAX, 3);
        assert_eq!((&reuse.vertices[..], &reuse.places[..]), (&[u32::MAX, 0, 1][..], &[0, 1, 2][..]));
        reuse.number(&[]);
        assert!(reuse.vertices.is_empty() && reuse.places.is_empty());
    }

    proptest! {
        #[test]
        fn places_name_what_the_corners_named(
            pieces in prop::collection::vec(prop::collection::vec(prop_oneof![0..20u32, any::<u32>()], 0..60), 1..4),
        ) {
            let mut reuse = Reuse::default();
            for corners in pieces {
                reuse.number(&corners);
                let back: Vec<u32> = reuse.places.iter().map(|&place| reuse.vertices[place as usize]).collect();
                prop_assert_eq!(&back, &corners);
                let mut once = reuse.vertices.clone();
                once.sort_unstable();
                once.dedup();
                prop_assert_eq!(once.len(), reuse.vertices.len());
            }
        }
    }
}
