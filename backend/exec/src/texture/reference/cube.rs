//! Cube maps: faces, and the texels beyond a face's edge.
//!
//! Source: Vulkan specification, "Cube Map Face Selection" and "Cube Map Edge Handling".

/// Face (0 to 5: +x -x +y -y +z -z) and coordinates on it, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OnFace {
    pub(super) face: u32,
    pub(super) s: f32,
    pub(super) t: f32,
}

/// Returns the components of a direction, or of its derivative, along a face's s, t and major
/// axis.
fn along(face: u32, [x, y, z]: [f32; 3]) -> [f32; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

/// Returns the face of the longest component. If components have equal length, z comes before y,
/// and y before x.
fn face_of([x, y, z]: [f32; 3]) -> u32 {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if az >= ax && az >= ay {
        4 + u32::from(z < 0.0)
    } else if ay >= ax {
        2 + u32::from(y < 0.0)
    } else {
        u32::from(x < 0.0)
    }
}

/// Returns the point where a direction meets the cube. The zero direction meets a face's centre.
pub(super) fn project(direction: [f32; 3]) -> OnFace {
    let face = face_of(direction);
    let [s, t, axis] = along(face, direction);
    let divided = |value: f32| if axis > 0.0 { 0.5 * (value / axis) + 0.5 } else { 0.5 };
    OnFace { face, s: divided(s), t: divided(t) }
}

/// Returns the derivatives of the coordinates on the face, from those of the direction.
pub(super) fn project_gradient(direction: [f32; 3], gradient: [f32; 3]) -> [f32; 3] {
    let face = face_of(direction);
    let [s, t, axis] = along(face, direction);
    let [ds, dt, daxis] = along(face, gradient);
    if axis <= 0.0 {
        return [0.0; 3];
    }
    let derived = |value: f32, change: f32| 0.5 * (change * axis - value * daxis) / (axis * axis);
    [derived(s, ds), derived(t, dt), 0.0]
}

/// Returns the direction through coordinates of a face, -1 to 1 and beyond.
fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// Texel of a cube.
#[derive(Debug, PartialEq)]
pub(super) struct FaceTexel {
    pub(super) face: u32,
    pub(super) x: i32,
    pub(super) y: i32,
}

/// Returns the texel that replaces a texel of a face, which may be beyond its edge.
pub(super) fn across_edge(texel: FaceTexel, size: i32) -> FaceTexel {
    let FaceTexel { face, x, y } = texel;
    if (0..size).contains(&x) && (0..size).contains(&y) {
        return texel;
    }
    let centre = |index: i32| (2.0 * index as f32 + 1.0) / size as f32 - 1.0;
    let met = project(direction(face, centre(x), centre(y)));
    let texel = |coordinate: f32| ((coordinate * size as f32) as i32).clamp(0, size - 1);
    FaceTexel { face: met.face, x: texel(met.s), y: texel(met.t) }
}

/// Directions to the midpoints of the cube's 12 edges and to its 8 corners, with the faces that
/// the specification recommends.
pub(in crate::texture) const TIES: [([f32; 3], u32); 20] = [
    ([1.0, 1.0, 0.0], 2),
    ([1.0, -1.0, 0.0], 3),
    ([-1.0, 1.0, 0.0], 2),
    ([-1.0, -1.0, 0.0], 3),
    ([1.0, 0.0, 1.0], 4),
    ([1.0, 0.0, -1.0], 5),
    ([-1.0, 0.0, 1.0], 4),
    ([-1.0, 0.0, -1.0], 5),
    ([0.0, 1.0, 1.0], 4),
    ([0.0, 1.0, -1.0], 5),
    ([0.0, -1.0, 1.0], 4),
    ([0.0, -1.0, -1.0], 5),
    ([1.0, 1.0, 1.0], 4),
    ([-1.0, 1.0, 1.0], 4),
    ([1.0, -1.0, 1.0], 4),
    ([-1.0, -1.0, 1.0], 4),
    ([1.0, 1.0, -1.0], 5),
    ([-1.0, 1.0, -1.0], 5),
    ([1.0, -1.0, -1.0], 5),
    ([-1.0, -1.0, -1.0], 5),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_face_finds_its_own_texels() {
        for face in 0..6 {
            for (s, t) in [(-0.75f32, -0.25f32), (0.5, 0.75), (0.0, 0.0)] {
                let met = project(direction(face, s, t));
                assert_eq!((met.face, met.s, met.t), (face, 0.5 * s + 0.5, 0.5 * t + 0.5));
            }
        }
    }

    #[test]
    fn ties_prefer_z_then_y() {
        for (direction, face) in TIES {
            assert_eq!(project(direction).face, face, "{direction:?}");
        }
    }

    #[test]
    fn neighbours_share_their_edge() {
        let texel = |face, x, y| FaceTexel { face, x, y };
        // To the left of +z is the right column of -x, with rows in equal order.
        for y in 0..4 {
            assert_eq!(across_edge(texel(4, -1, y), 4), texel(1, 3, y));
            assert_eq!(across_edge(texel(4, 4, y), 4), texel(0, 0, y));
        }
        assert_eq!(across_edge(texel(4, 1, -1), 4), texel(2, 1, 3));
    }
}
