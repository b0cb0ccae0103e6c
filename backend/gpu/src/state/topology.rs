//! How many vertices primitives of a topology have. Source: Vulkan specification, "Drawing Commands", Primitive Topologies.

use ash::vk;

/// Vertices of a primitive.
pub fn corners(topology: vk::PrimitiveTopology) -> usize {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST => 1,
        T::LINE_LIST | T::LINE_STRIP | T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => 2,
        _ => 3,
    }
}

/// Vertices of a primitive as geometry programs get it.
pub fn vertices(topology: vk::PrimitiveTopology) -> usize {
    use vk::PrimitiveTopology as T;
    match topology {
        T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => 4,
        T::TRIANGLE_LIST_WITH_ADJACENCY | T::TRIANGLE_STRIP_WITH_ADJACENCY => 6,
        other => corners(other),
    }
}

/// Whether each primitive has vertices of its own, one after the other, where so many are taken of each.
pub fn is_list(topology: vk::PrimitiveTopology, of_each: usize) -> bool {
    use vk::PrimitiveTopology as T;
    match topology {
        T::POINT_LIST | T::LINE_LIST | T::TRIANGLE_LIST | T::PATCH_LIST => true,
        // Adjacent ones are part of it for geometry programs only.
        T::LINE_LIST_WITH_ADJACENCY | T::TRIANGLE_LIST_WITH_ADJACENCY => of_each == vertices(topology),
        _ => false,
    }
}
