//! Primitive assembly: topologies and primitive restart. The provoking vertex of each primitive is
//! the first or the last.
//!
//! Geometry programs also get adjacent vertices, and the provoking vertex last if the mode says
//! so, which the specification permits and OpenGL demands.
//!
//! Source: Vulkan specification, "Drawing Commands", Primitive Topologies.

use ash::vk;

/// Assembles primitives from the vertices between two restarts. Calls `emit` with [`corners`] of
/// them, the provoking one first, or last if `last`.
pub fn assemble(topology: vk::PrimitiveTopology, v: &[u32], last: bool, mut emit: impl FnMut(&[u32])) {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST => v.chunks_exact(1).for_each(&mut emit),
        T::LINE_LIST => v.chunks_exact(2).for_each(&mut emit),
        T::LINE_STRIP => v.windows(2).for_each(&mut emit),
        T::TRIANGLE_LIST => v.chunks_exact(3).for_each(&mut emit),
        T::TRIANGLE_STRIP => {
            for (number, corner) in v.windows(3).enumerate() {
                // Odd triangles swap the two vertices that are not provoking to keep the winding.
                match number % 2 {
                    0 => emit(corner),
                    _ if last => emit(&[corner[1], corner[0], corner[2]]),
                    _ => emit(&[corner[0], corner[2], corner[1]]),
                }
            }
        }
        T::TRIANGLE_FAN => v.windows(2).skip(1).for_each(|pair| match last {
            false => emit(&[pair[0], pair[1], v[0]]),
            true => emit(&[v[0], pair[0], pair[1]]),
        }),
        T::LINE_LIST_WITH_ADJACENCY => v.chunks_exact(4).for_each(|line| emit(&line[1..3])),
        T::LINE_STRIP_WITH_ADJACENCY => v.windows(4).for_each(|line| emit(&line[1..3])),
        T::TRIANGLE_LIST_WITH_ADJACENCY => v.chunks_exact(6).for_each(|v| emit(&[v[0], v[2], v[4]])),
        T::TRIANGLE_STRIP_WITH_ADJACENCY => {
            // Without the adjacent vertices the corners form a strip. Its last corner has one
            // adjacent vertex after it.
            let corners: Vec<u32> = v.iter().copied().step_by(2).take(v.len() / 2).collect();
            assemble(T::TRIANGLE_STRIP, &corners, last, emit);
        }
        _ => {}
    }
}

/// Assembles primitives as geometry programs get them. Calls `emit` with [`vertices`] of them, the
/// provoking corner first, or last if `last`.
pub fn assemble_whole(topology: vk::PrimitiveTopology, v: &[u32], last: bool, mut emit: impl FnMut(&[u32])) {
    use vk::PrimitiveTopology as T;
    match topology {
        T::LINE_LIST_WITH_ADJACENCY => v.chunks_exact(4).for_each(emit),
        T::LINE_STRIP_WITH_ADJACENCY => v.windows(4).for_each(emit),
        T::TRIANGLE_LIST_WITH_ADJACENCY => v.chunks_exact(6).for_each(emit),
        T::TRIANGLE_STRIP_WITH_ADJACENCY => strip_with_adjacency(v, last, |primitive| emit(primitive)),
        other => assemble(other, v, last, emit),
    }
}

/// Assembles triangles of a strip with adjacency. Corners are at even places, and each is followed
/// by the vertex across its edge.
fn strip_with_adjacency(v: &[u32], last: bool, mut emit: impl FnMut(&[u32; 6])) {
    let count = v.len().saturating_sub(4) / 2;
    for number in 0..count {
        let at = |offset: usize| v[2 * number + offset];
        // The vertex across the edge shared with the previous triangle, and the one across the
        // edge shared with the next.
        let before = if number == 0 { v[1] } else { v[2 * number - 2] };
        let behind = if number == count - 1 { at(5) } else { at(6) };
        emit(&match number % 2 {
            0 => [at(0), before, at(2), behind, at(4), at(3)],
            _ if last => [at(2), before, at(0), at(3), at(4), behind],
            _ => [at(0), at(3), at(4), behind, at(2), before],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::corners;

    fn assembled(topology: vk::PrimitiveTopology, vertices: &[u32]) -> Vec<Vec<u32>> {
        of_mode(topology, vertices, false)
    }

    fn of_mode(topology: vk::PrimitiveTopology, vertices: &[u32], last: bool) -> Vec<Vec<u32>> {
        let mut out = Vec::new();
        assemble(topology, vertices, last, |primitive| out.push(primitive.to_vec()));
        assert!(out.iter().all(|primitive| primitive.len() == corners(topology)));
        out
    }

    #[test]
    fn topologies() {
        use vk::PrimitiveTopology as T;
        assert_eq!(assembled(T::TRIANGLE_STRIP, &[0, 1, 2, 3]), [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(assembled(T::TRIANGLE_FAN, &[0, 1, 2, 3]), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(of_mode(T::TRIANGLE_STRIP, &[0, 1, 2, 3], true), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(of_mode(T::TRIANGLE_FAN, &[0, 1, 2, 3], true), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(assembled(T::TRIANGLE_LIST, &[0, 1, 2, 3, 4]), [[0, 1, 2]]);
        assert_eq!(assembled(T::LINE_STRIP, &[0, 1, 2]), [[0, 1], [1, 2]]);
        assert_eq!(assembled(T::POINT_LIST, &[4, 5]), [[4], [5]]);
        assert!(assembled(T::LINE_STRIP, &[0]).is_empty());
    }

    #[test]
    fn corners_with_adjacent_vertices_end_with_the_provoking_one_if_asked() {
        let of_mode = |last| {
            let mut out = Vec::new();
            let strip: Vec<u32> = (0..8).collect();
            assemble_whole(vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY, &strip, last, |primitive| {
                out.push(primitive.to_vec());
            });
            out
        };
        assert_eq!(of_mode(false), [[0, 1, 2, 6, 4, 3], [2, 5, 6, 7, 4, 0]]);
        assert_eq!(of_mode(true), [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 7]]);
    }
}
