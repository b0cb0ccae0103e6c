//! Numbers of vertices of topologies. Source: Vulkan specification, "Drawing Commands", Primitive
//! Topologies.

use ash::vk;

/// Returns the number of vertices of a primitive.
pub fn corners(topology: vk::PrimitiveTopology) -> usize {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST => 1,
        T::LINE_LIST | T::LINE_STRIP | T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => 2,
        _ => 3,
    }
}

/// Returns the number of vertices of a primitive, adjacent ones included.
pub fn vertices(topology: vk::PrimitiveTopology) -> usize {
    use vk::PrimitiveTopology as T;
    match topology {
        T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => 4,
        T::TRIANGLE_LIST_WITH_ADJACENCY | T::TRIANGLE_STRIP_WITH_ADJACENCY => 6,
        other => corners(other),
    }
}

/// Returns true if primitives of `of_each` vertices share no vertices, so that their vertices
/// follow each other.
pub fn is_list(topology: vk::PrimitiveTopology, of_each: usize) -> bool {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST | T::LINE_LIST | T::TRIANGLE_LIST | T::PATCH_LIST => true,
        // Adjacent vertices belong to a primitive for geometry programs only.
        T::LINE_LIST_WITH_ADJACENCY | T::TRIANGLE_LIST_WITH_ADJACENCY => of_each == vertices(topology),
        _ => false,
    }
}
