//! The tessellator against an exact model: areas, edges and orientations in integers.

use std::collections::{HashMap, HashSet};

use super::*;

const LEVELS: [f32; 22] = [
    1.0, 1.0001, 1.5, 1.999, 2.0, 2.0001, 2.5, 3.0, 3.3, 3.999, 4.0, 4.5, 5.0, 6.1, 7.0, 8.0, 15.5, 31.0, 33.3, 62.5,
    63.5, 64.0,
];
const SPACINGS: [Spacing; 3] = [Spacing::Equal, Spacing::FractionalEven, Spacing::FractionalOdd];

/// Pseudo-random picks.
struct Picks(u64);

impl Picks {
    fn level(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        LEVELS[(self.0 >> 33) as usize % LEVELS.len()]
    }

    fn levels(&mut self) -> Levels {
        Levels { outer: [0; 4].map(|_| self.level()), inner: [0; 2].map(|_| self.level()) }
    }
}

fn mesh(domain: Domain, spacing: Spacing, levels: &Levels) -> Mesh {
    let mut mesh = Mesh::default();
    Subdivision { domain, spacing, points: false, positive: true }.subdivide(levels, &mut mesh);
    mesh
}

/// Twice the area of a triangle.
fn area([a, b, c]: [[u32; 2]; 3]) -> i128 {
    let [a, b, c] = [a, b, c].map(|[u, v]| [i128::from(u), i128::from(v)]);
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// The segments of an edge as the specification says, from the level.
fn expected_segments(spacing: Spacing, level: f32) -> u32 {
    match spacing {
        Spacing::Equal => level.ceil() as u32,
        Spacing::FractionalEven => 2 * (level.max(2.0) / 2.0).ceil() as u32,
        Spacing::FractionalOdd => 2 * ((level.min(63.0) - 1.0) / 2.0).ceil() as u32 + 1,
    }
}

/// The coordinates on an edge of the domain, in order.
fn on_edge(mesh: &Mesh, is_on: impl Fn([u32; 2]) -> bool, place: impl Fn([u32; 2]) -> u32) -> Vec<u32> {
    let used: HashSet<u32> = mesh.corners.iter().copied().collect();
    // Inner vertices may lie on an edge, too: those of the edge are those that only one triangle's side has.
    let mut sides: HashMap<(u32, u32), i32> = HashMap::new();
    for triangle in mesh.corners.chunks(3) {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (triangle[a], triangle[b]);
            *sides.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    let border: HashSet<u32> = sides.iter().filter(|(_, sum)| **sum != 0).flat_map(|((a, b), _)| [*a, *b]).collect();
    assert!(border.iter().all(|vertex| used.contains(vertex)));
    let of_border = border.into_iter().map(|vertex| mesh.vertices[vertex as usize]);
    let mut places: Vec<u32> = of_border.filter(|&vertex| is_on(vertex)).map(place).collect();
    places.sort_unstable();
    places
}

fn check_edge(places: &[u32], spacing: Spacing, level: f32) {
    let n = expected_segments(spacing, level);
    assert_eq!(places.len() as u32, n + 1, "{spacing:?} {level} {places:?}");
    let mirrored: Vec<u32> = places.iter().rev().map(|place| ONE - place).collect();
    assert_eq!(places, mirrored, "{spacing:?} {level}");
    let lengths: Vec<u32> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (longest, shortest) = (*lengths.iter().max().unwrap(), *lengths.iter().min().unwrap());
    if spacing == Spacing::Equal || level == n as f32 {
        assert!(longest - shortest <= 2, "{spacing:?} {level} {lengths:?}");
        return;
    }
    let short = lengths.iter().filter(|&&length| longest - length > 2).count();
    assert!(short <= 2, "{spacing:?} {level} {lengths:?}");
}

#[test]
fn triangles_cover_their_domain_exactly_once() {
    let mut picks = Picks(1);
    for turn in 0..4000 {
        let (spacing, levels) = (SPACINGS[turn % 3], picks.levels());
        for (domain, whole) in [(Domain::Triangles, 1), (Domain::Quads, 2)] {
            let mesh = mesh(domain, spacing, &levels);
            let one = i128::from(ONE);
            let areas: Vec<i128> = mesh
                .corners
                .chunks(3)
                .map(|t| area([0, 1, 2].map(|corner| mesh.vertices[t[corner] as usize])))
                .collect();
            assert_eq!(areas.iter().sum::<i128>(), whole * one * one, "{domain:?} {spacing:?} {levels:?}");
            // Slivers of a unit may turn over where coordinates are rounded.
            assert!(areas.iter().all(|&area| area >= -(one * 2)), "{domain:?} {spacing:?} {levels:?}");
            let used: HashSet<u32> = mesh.corners.iter().copied().collect();
            assert_eq!(used.len(), mesh.vertices.len(), "{domain:?} {spacing:?} {levels:?}");
            let mut sides = HashSet::new();
            for triangle in mesh.corners.chunks(3) {
                for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                    assert!(sides.insert((triangle[a], triangle[b])), "{domain:?} {spacing:?} {levels:?}");
                }
            }
        }
    }
}

#[test]
fn edges_are_those_of_their_levels() {
    let mut picks = Picks(7);
    for turn in 0..1500 {
        let (spacing, levels) = (SPACINGS[turn % 3], picks.levels());
        let triangle = mesh(Domain::Triangles, spacing, &levels);
        let w = |[u, v]: [u32; 2]| ONE - u - v;
        check_edge(&on_edge(&triangle, |at| at[0] == 0, |at| at[1]), spacing, levels.outer[0]);
        check_edge(&on_edge(&triangle, |at| at[1] == 0, |at| at[0]), spacing, levels.outer[1]);
        check_edge(&on_edge(&triangle, |at| w(at) == 0, |at| at[0]), spacing, levels.outer[2]);
        let square = mesh(Domain::Quads, spacing, &levels);
        check_edge(&on_edge(&square, |at| at[0] == 0, |at| at[1]), spacing, levels.outer[0]);
        check_edge(&on_edge(&square, |at| at[1] == 0, |at| at[0]), spacing, levels.outer[1]);
        check_edge(&on_edge(&square, |at| at[0] == ONE, |at| at[1]), spacing, levels.outer[2]);
        check_edge(&on_edge(&square, |at| at[1] == ONE, |at| at[0]), spacing, levels.outer[3]);
    }
}

#[test]
fn patches_that_touch_have_the_same_edges() {
    let mut picks = Picks(3);
    for turn in 0..1000 {
        let (spacing, mut a, mut b) = (SPACINGS[turn % 3], picks.levels(), picks.levels());
        b.outer[1] = a.outer[0];
        a.outer[2] = a.outer[0];
        let (a, b) = (mesh(Domain::Triangles, spacing, &a), mesh(Domain::Quads, spacing, &b));
        let first = on_edge(&a, |at| at[0] == 0, |at| at[1]);
        assert_eq!(first, on_edge(&a, |at| at[0] + at[1] == ONE, |at| at[1]));
        assert_eq!(first, on_edge(&b, |at| at[1] == 0, |at| at[0]));
    }
}

#[test]
fn shorter_segments_grow_with_the_level() {
    for spacing in [Spacing::FractionalEven, Spacing::FractionalOdd] {
        let mut before = (0, 0.0);
        for step in 0..6200 {
            let level = spacing.clamp(1.0 + step as f32 * 0.01);
            let segments = spacing.segments(level);
            let mut places = Vec::new();
            spacing.subdivide(level, segments, &mut places);
            let lengths: Vec<u32> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let share = f64::from(*lengths.iter().min().unwrap()) / f64::from(*lengths.iter().max().unwrap());
            if before.0 == segments {
                assert!(share >= before.1 - 1e-4, "{spacing:?} {level}: {share} after {}", before.1);
            }
            before = (segments, share);
        }
    }
}

#[test]
fn golden_patches() {
    let all = |level| Levels { outer: [level; 4], inner: [level; 2] };
    let counts = |domain, level| {
        let mesh = mesh(domain, Spacing::Equal, &all(level));
        (mesh.vertices.len(), mesh.corners.len() / 3)
    };
    assert_eq!(counts(Domain::Triangles, 1.0), (3, 1));
    assert_eq!(counts(Domain::Triangles, 2.0), (7, 6));
    assert_eq!(counts(Domain::Triangles, 3.0), (12, 13));
    assert_eq!(counts(Domain::Triangles, 4.0), (19, 24));
    assert_eq!(counts(Domain::Quads, 1.0), (4, 2));
    assert_eq!(counts(Domain::Quads, 2.0), (9, 8));
    assert_eq!(counts(Domain::Quads, 64.0), (65 * 65, 64 * 64 * 2));
    let lines = Levels { outer: [3.0, 4.0, 0.0, 0.0], inner: [0.0; 2] };
    let lines = mesh(Domain::Isolines, Spacing::Equal, &lines);
    assert_eq!((lines.vertices.len(), lines.corners.len()), (15, 24));
    assert!(lines.vertices.iter().all(|&[_, v]| v < ONE));
    for discarded in [0.0, -1.0, f32::NAN] {
        let levels = Levels { outer: [1.0, discarded, 1.0, 1.0], inner: [4.0; 2] };
        for domain in [Domain::Triangles, Domain::Quads, Domain::Isolines] {
            assert!(mesh(domain, Spacing::Equal, &levels).corners.is_empty());
        }
    }
    let inside = Levels { outer: [1.0; 4], inner: [f32::NAN, -3.0] };
    assert_eq!(mesh(Domain::Quads, Spacing::Equal, &inside).corners.len(), 6);
}

#[test]
fn counts_are_those_of_the_mesh() {
    let mut picks = Picks(5);
    let mut mesh = Mesh::default();
    for turn in 0..6000 {
        let mut levels = picks.levels();
        match turn % 50 {
            7 => levels.outer[turn % 4] = 0.0,
            8 => levels.outer[1] = f32::NAN,
            9 => levels = Levels { outer: [1.0; 4], inner: [1.0; 2] },
            10 => levels = Levels { outer: [f32::INFINITY; 4], inner: [-3.0, f32::NAN] },
            _ => {}
        }
        for domain in [Domain::Triangles, Domain::Quads, Domain::Isolines] {
            for points in [false, true] {
                let subdivision = Subdivision { domain, spacing: SPACINGS[turn % 3], points, positive: true };
                subdivision.subdivide(&levels, &mut mesh);
                let found = (mesh.vertices.len(), mesh.corners.len() / subdivision.corners());
                assert_eq!(found, subdivision.count(&levels), "{subdivision:?} {levels:?}");
            }
        }
    }
}
