//! Primitive assembly: topologies and primitive restart. The first vertex of each primitive is the provoking one.
//!
//! Source: Vulkan specification, "Drawing Commands", Primitive Topologies. Adjacency vertices are dropped.

use ash::vk;

use super::stream::RESTART;

/// Assembles primitives of one instance from [`VertexStream::order`](super::VertexStream::order); `emit` is called with 1, 2
/// or 3 entries of it.
pub fn assemble(topology: vk::PrimitiveTopology, order: &[u32], mut emit: impl FnMut(&[u32])) {
    order.split(|&index| index == RESTART).for_each(|run| assemble_run(topology, run, &mut emit));
}

fn assemble_run(topology: vk::PrimitiveTopology, v: &[u32], emit: &mut impl FnMut(&[u32])) {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST => v.chunks_exact(1).for_each(emit),
        T::LINE_LIST => v.chunks_exact(2).for_each(emit),
        T::LINE_STRIP => v.windows(2).for_each(emit),
        T::TRIANGLE_LIST => v.chunks_exact(3).for_each(emit),
        T::TRIANGLE_STRIP => {
            for (number, corner) in v.windows(3).enumerate() {
                // Odd triangles swap their last two vertices to keep the winding.
                match number % 2 {
                    0 => emit(corner),
                    _ => emit(&[corner[0], corner[2], corner[1]]),
                }
            }
        }
        T::TRIANGLE_FAN => v.windows(2).skip(1).for_each(|pair| emit(&[pair[0], pair[1], v[0]])),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(topology: vk::PrimitiveTopology, stream: &[i32]) -> Vec<Vec<u32>> {
        let stream: Vec<u32> = stream.iter().map(|&index| u32::try_from(index).unwrap_or(RESTART)).collect();
        let mut out = Vec::new();
        assemble(topology, &stream, |primitive| out.push(primitive.to_vec()));
        out
    }

    #[test]
    fn topologies() {
        use vk::PrimitiveTopology as T;
        assert_eq!(assembled(T::TRIANGLE_STRIP, &[0, 1, 2, 3]), [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(assembled(T::TRIANGLE_FAN, &[0, 1, 2, 3]), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(assembled(T::TRIANGLE_LIST, &[0, 1, 2, 3, 4]), [[0, 1, 2]]);
        assert_eq!(assembled(T::LINE_STRIP, &[0, 1, 2]), [[0, 1], [1, 2]]);
        assert_eq!(assembled(T::POINT_LIST, &[4, 5]), [[4], [5]]);
    }

    #[test]
    fn restart_begins_a_new_strip() {
        let strips = assembled(vk::PrimitiveTopology::TRIANGLE_STRIP, &[0, 1, 2, -1, 3, 4, 5]);
        assert_eq!(strips, [[0, 1, 2], [3, 4, 5]]);
        assert!(assembled(vk::PrimitiveTopology::LINE_STRIP, &[0, -1, 1, -1]).is_empty());
    }
}
