//! Clipping of triangles and lines in clip space by the Sutherland-Hodgman algorithm, plane by
//! plane.
//!
//! In x and y a guard band of several view volumes is kept, so that few primitives need clipping
//! there. `w` is kept positive.
//!
//! Source: Vulkan specification, "Primitive Clipping".

use super::Vertex;

/// The part of clip space that primitives are clipped to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Volume {
    /// Size of the guard band in x and y, in view volumes.
    pub(super) band: f32,
    /// True if there are a near and a far plane.
    pub(super) has_depth: bool,
    /// True if depth begins at -w, false if at 0.
    pub(super) is_symmetric: bool,
}

/// Size of the guard band in x and y, in view volumes, if pixels outside of the viewport are
/// dropped later.
pub const GUARD_BAND: f32 = 4.0;
/// Minimum `w`. Vertices behind the eye never reach the division.
pub(super) const MIN_W: f32 = 1e-7;

/// Returns the signed distance of a vertex to plane `plane`. Values that are not negative are
/// inside.
pub(super) fn distance(vertex: &Vertex, plane: usize, volume: &Volume) -> f32 {
    let ([x, y, z, w], band) = (vertex.position, volume.band);
    let distance = match plane {
        0 => w - MIN_W,
        1 if volume.is_symmetric => w + z,
        1 => z,
        2 => w - z,
        3 => band * w - x,
        4 => band * w + x,
        5 => band * w - y,
        6 => band * w + y,
        user => vertex.clip[user - 7],
    };
    // NaN positions are outside of every plane.
    if distance.is_nan() { -1.0 } else { distance }
}

/// Returns the planes that apply to a primitive.
fn planes(vertex: &Vertex, volume: &Volume) -> impl Iterator<Item = usize> + use<> {
    let has_depth = volume.has_depth;
    (0..7 + vertex.clip.len()).filter(move |plane| has_depth || !matches!(plane, 1 | 2))
}

fn between(from: &Vertex, to: &Vertex, share: f32) -> Vertex {
    let mix = |a: f32, b: f32| a + (b - a) * share;
    let words = from.varyings.iter().zip(&to.varyings);
    Vertex {
        position: std::array::from_fn(|index| mix(from.position[index], to.position[index])),
        point_size: mix(from.point_size, to.point_size),
        clip: from.clip.iter().zip(&to.clip).map(|(&a, &b)| mix(a, b)).collect(),
        // Mixing the bits of integer and flat inputs is harmless, because they are read from the
        // provoking vertex later.
        varyings: words.map(|(&a, &b)| mix(f32::from_bits(a), f32::from_bits(b)).to_bits()).collect(),
    }
}

fn crossing(from: (&Vertex, f32), to: (&Vertex, f32)) -> Vertex {
    let share = from.1 / (from.1 - to.1);
    between(from.0, to.0, share)
}

/// Clips a convex polygon. Returns no vertices if nothing remains.
pub(super) fn polygon(mut vertices: Vec<Vertex>, volume: &Volume) -> Vec<Vertex> {
    let Some(first) = vertices.first() else { return vertices };
    for plane in planes(first, volume) {
        let distances: Vec<f32> = vertices.iter().map(|vertex| distance(vertex, plane, volume)).collect();
        if distances.iter().all(|&distance| distance >= 0.0) {
            continue;
        }
        let mut kept = Vec::with_capacity(vertices.len() + 1);
        for index in 0..vertices.len() {
            let next = (index + 1) % vertices.len();
            let here = (&vertices[index], distances[index]);
            let there = (&vertices[next], distances[next]);
            if here.1 >= 0.0 {
                kept.push(here.0.clone());
            }
            match (here.1 >= 0.0, there.1 >= 0.0) {
                (true, false) => kept.push(crossing(here, there)),
                (false, true) => kept.push(crossing(there, here)),
                _ => {}
            }
        }
        vertices = kept;
        if vertices.len() < 3 {
            return Vec::new();
        }
    }
    vertices
}

/// Clips a line. Returns `None` if nothing remains.
pub(super) fn line(mut a: Vertex, mut b: Vertex, volume: &Volume) -> Option<[Vertex; 2]> {
    for plane in planes(&a, volume) {
        let (at_a, at_b) = (distance(&a, plane, volume), distance(&b, plane, volume));
        // The crossing is always computed from the first end to the second. The part on the other
        // side of the plane then begins at exactly this point.
        let crossing = || crossing((&a, at_a), (&b, at_b));
        match (at_a >= 0.0, at_b >= 0.0) {
            (false, false) => return None,
            (true, false) => b = crossing(),
            (false, true) => a = crossing(),
            (true, true) => {}
        }
    }
    Some([a, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(position: [f32; 4]) -> Vertex {
        Vertex { position, ..Vertex::default() }
    }

    const VOLUME: Volume = Volume { band: GUARD_BAND, has_depth: true, is_symmetric: false };

    #[test]
    fn a_triangle_inside_is_left_alone() {
        let corners = vec![vertex([0.0, 0.0, 0.5, 1.0]), vertex([1.0, 0.0, 0.5, 1.0]), vertex([0.0, 1.0, 0.5, 1.0])];
        assert_eq!(polygon(corners, &VOLUME).len(), 3);
    }

    #[test]
    fn the_near_plane_cuts_a_corner_off() {
        let corners = vec![vertex([0.0, 0.0, -1.0, 1.0]), vertex([1.0, 0.0, 1.0, 1.0]), vertex([0.0, 1.0, 1.0, 1.0])];
        let cut = polygon(corners.clone(), &VOLUME);
        assert_eq!(cut.len(), 4);
        assert!(cut.iter().all(|vertex| vertex.position[2] >= 0.0));
        assert_eq!(polygon(corners.clone(), &Volume { has_depth: false, ..VOLUME }).len(), 3);
        assert_eq!(polygon(corners, &Volume { is_symmetric: true, ..VOLUME }).len(), 3);
    }

    #[test]
    fn behind_the_eye_and_nan_vanish() {
        let behind = vec![vertex([0.0, 0.0, 0.0, -1.0]); 3];
        assert!(polygon(behind, &VOLUME).is_empty());
        assert!(polygon(vec![vertex([f32::NAN; 4]); 3], &VOLUME).is_empty());
        assert!(line(vertex([0.0; 4]), vertex([f32::NAN; 4]), &VOLUME).is_none());
    }
}
