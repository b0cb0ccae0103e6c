//! Tests of the tessellator against an exact model: areas, edges and orientations in integers.

use std::collections::{HashMap, HashSet};

use super::*;

const LEVELS: [f32; 22] = [
    1.0, 1.0001, 1.5, 1.999, 2.0, 2.0001, 2.5, 3.0, 3.3, 3.999, 4.0, 4.5, 5.0, 6.1, 7.0, 8.0, 15.5, 31.0, 33.3, 62.5,
    63.5, 64.0,
];
const SPACINGS: [Spacing; 3] = [Spacing::Equal, Spacing::FractionalEven, Spacing::FractionalOdd];

/// Pseudo-random numbers.
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

fn mesh(domain: Domain, spacing: Spacing, levels: &Levels) -> TessellatedPatch {
    let mut mesh = TessellatedPatch::default();
    Subdivision { domain, spacing, points: false, positive: true }.subdivide(levels, &mut mesh);
    mesh
}

/// Returns twice the area of a triangle.
fn area([a, b, c]: [[u32; 2]; 3]) -> i128 {
    let [a, b, c] = [a, b, c].map(|[u, v]| [i128::from(u), i128::from(v)]);
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// Returns the number of segments of an edge by the rules of the specification.
fn expected_segments(spacing: Spacing, level: f32) -> u32 {
    match spacing {
        Spacing::Equal => level.ceil() as u32,
        Spacing::FractionalEven => 2 * (level.max(2.0) / 2.0).ceil() as u32,
        Spacing::FractionalOdd => 2 * ((level.min(63.0) - 1.0) / 2.0).ceil() as u32 + 1,
    }
}

/// Returns the coordinates on an edge of the domain, in order.
fn on_edge(mesh: &TessellatedPatch, is_on: impl Fn([u32; 2]) -> bool, place: impl Fn([u32; 2]) -> u32) -> Vec<u32> {
    let used: HashSet<u32> = mesh.corners.iter().copied().collect();
    // Inner vertices may lie on an edge too. Vertices of the edge belong to sides that only one
    // triangle has.
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
            // Rounding of coordinates may turn over slivers that are one unit wide.
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

/// Returns the triangles of a patch with equal spacing, with the coordinates of their corners in
/// fractions of a segment.
fn triangles_of(domain: Domain, outer: [f32; 4], inner: [f32; 2], parts: u32) -> Vec<[[u32; 2]; 3]> {
    let mesh = mesh(domain, Spacing::Equal, &Levels { outer, inner });
    let place = |at: u32| (u64::from(at) * u64::from(parts) + u64::from(ONE / 2)) / u64::from(ONE);
    let corner = |&corner: &u32| mesh.vertices[corner as usize].map(|at| place(at) as u32);
    mesh.corners.chunks(3).map(|t| [corner(&t[0]), corner(&t[1]), corner(&t[2])]).collect()
}

/// Returns the diagonal of each quad of a square with as many segments along u and v inside as
/// outside. `\\` goes from u low, v low to u high, v high. Rows have v low first.
fn diagonals(columns: u32, rows: u32) -> Vec<String> {
    let mut picture = vec![vec!['?'; columns as usize]; rows as usize];
    let (u, v) = (columns as f32, rows as f32);
    let mesh = mesh(Domain::Quads, Spacing::Equal, &Levels { outer: [v, u, v, u], inner: [u, v] });
    for t in mesh.corners.chunks(3) {
        let at = |corner: u32| {
            let [u, v] = mesh.vertices[corner as usize];
            let place = |at: u32, parts: u32| (f64::from(at) / f64::from(ONE) * f64::from(parts)).round() as u32;
            [place(u, columns), place(v, rows)]
        };
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (at(t[a]), at(t[b]));
            let (column, row) = (a[0].min(b[0]) as usize, a[1].min(b[1]) as usize);
            if a[0].abs_diff(b[0]) == 1 && a[1].abs_diff(b[1]) == 1 {
                picture[row][column] = if (a[0] < b[0]) == (a[1] < b[1]) { '\\' } else { '/' };
            }
        }
    }
    picture.into_iter().map(|row| row.into_iter().collect()).collect()
}

/// Triangles of small patches have the order and first corners of the reference.
#[test]
fn golden_triangles() {
    let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
    let [a, b, c, d] = corners;
    assert_eq!(triangles_of(Domain::Quads, [1.0; 4], [1.0; 2], 1), [[a, b, d], [b, c, d]]);
    let (top, bottom) = ([[0, 1], [0, 0], [1, 0]], Domain::Triangles);
    assert_eq!(triangles_of(bottom, [1.0; 4], [1.0; 2], 1), [top]);
    // Triangles around a vertex in the middle, from u = 0, v = 1 on.
    let m = [1, 1];
    let around = [[0, 2], [0, 1], [0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [1, 2], [0, 2]];
    let expected: Vec<_> = around.windows(2).map(|pair| [pair[0], pair[1], m]).collect();
    assert_eq!(triangles_of(Domain::Quads, [2.0; 4], [2.0; 2], 2), expected);
    // An outer edge of one segment makes one triangle with the middle.
    let expected = [[m, [0, 2], [0, 0]], [m, [0, 0], [2, 0]], [m, [2, 0], [2, 2]], [m, [2, 2], [0, 2]]];
    assert_eq!(triangles_of(Domain::Quads, [1.0; 4], [2.0; 2], 2), expected);
    let quads = triangles_of(Domain::Quads, [3.0; 4], [3.0; 2], 3);
    let first_edge =
        [[[0, 3], [0, 2], [1, 2]], [[1, 2], [0, 2], [1, 1]], [[1, 1], [0, 2], [0, 1]], [[0, 1], [0, 0], [1, 1]]];
    assert_eq!(quads[..4], first_edge);
    assert_eq!(quads[16..], [[[1, 2], [2, 1], [2, 2]], [[1, 2], [1, 1], [2, 1]]]);
    let m = [2, 2];
    let around = [[0, 6], [0, 3], [0, 0], [3, 0], [6, 0], [3, 3], [0, 6]];
    let expected: Vec<_> = around.windows(2).map(|pair| [pair[0], pair[1], m]).collect();
    assert_eq!(triangles_of(Domain::Triangles, [2.0; 4], [2.0; 2], 6), expected);
}

/// Triangles of squares with different outer and inner levels match digests of their corners'
/// coordinates, in order.
#[test]
fn golden_transitions() {
    for (inner, outer, expected) in [
        ([4.0, 3.0], [3.0, 4.0, 5.0, 2.0], 0x0cc4_a3a2),
        ([2.0, 2.0], [5.0, 1.0, 6.0, 3.0], 0x7600_967c),
        ([6.0, 6.0], [1.0, 2.0, 3.0, 4.0], 0xcb93_f780),
        ([3.0, 5.0], [6.0, 6.0, 1.0, 5.0], 0x5338_b8bc),
        ([5.0, 4.0], [5.0, 5.0, 5.0, 5.0], 0x6b6e_0e40),
        ([10.0, 6.0], [12.0, 15.0, 4.0, 3.0], 0x8798_d6e0),
    ] {
        let triangles = triangles_of(Domain::Quads, outer, inner, 60);
        let words = triangles.iter().flatten().flatten();
        let digest = words.fold(0u32, |digest, &word| digest.wrapping_mul(31).wrapping_add(word));
        assert_eq!(digest, expected, "{inner:?} {outer:?}");
    }
}

/// Diagonals of quads are those of the reference, for odd and even levels.
#[test]
fn golden_diagonals() {
    assert_eq!(diagonals(1, 1), ["/"]);
    assert_eq!(diagonals(2, 2), ["\\/", "/\\"]);
    assert_eq!(diagonals(3, 3), ["\\\\/", "///", "/\\\\"]);
    assert_eq!(diagonals(4, 4), ["\\\\//", "\\\\//", "//\\\\", "//\\\\"]);
    assert_eq!(diagonals(5, 5), ["\\\\\\//", "\\\\\\//", "/////", "//\\\\\\", "//\\\\\\"]);
    assert_eq!(diagonals(5, 3), ["\\\\\\//", "/////", "//\\\\\\"]);
    assert_eq!(diagonals(3, 5), ["\\\\/", "\\\\/", "///", "/\\\\", "/\\\\"]);
    assert_eq!(diagonals(6, 3), ["\\\\\\///", "//////", "///\\\\\\"]);
    assert_eq!(diagonals(3, 6), ["\\\\/", "\\\\/", "\\\\/", "/\\\\", "/\\\\", "/\\\\"]);
    assert_eq!(diagonals(6, 5), ["\\\\\\///", "\\\\\\///", "//////", "///\\\\\\", "///\\\\\\"]);
    assert_eq!(diagonals(4, 6), ["\\\\//", "\\\\//", "\\\\//", "//\\\\", "//\\\\", "//\\\\"]);
    assert_eq!(
        diagonals(7, 7),
        ["\\\\\\\\///", "\\\\\\\\///", "\\\\\\\\///", "///////", "///\\\\\\\\", "///\\\\\\\\", "///\\\\\\\\"]
    );
}

/// Vertices are in the order of the reference: around from v = 1, and from the outside in.
#[test]
fn golden_vertices() {
    let all = |domain, outer: [f32; 4], inner| mesh(domain, Spacing::Equal, &Levels { outer, inner }).vertices;
    let part = |of: u32, parts: u32| ((u64::from(ONE) * u64::from(of) * 2 / u64::from(parts)).div_ceil(2)) as u32;
    let square = all(Domain::Quads, [1.0, 2.0, 1.0, 1.0], [4.0, 2.0]);
    let [one, half, quarter] = [ONE, ONE / 2, ONE / 4];
    let row = [quarter, half, half + quarter].map(|u| [u, half]);
    assert_eq!(square, [[[0, one], [0, 0], [half, 0], [one, 0], [one, one]].as_slice(), &row].concat());
    let square = all(Domain::Quads, [1.0; 4], [2.0, 4.0]);
    let row = [half + quarter, half, quarter].map(|v| [half, v]);
    assert_eq!(square[4..], row);
    let square = all(Domain::Quads, [1.0; 4], [3.0; 2]);
    let [low, high] = [part(1, 3), ONE - part(1, 3)];
    assert_eq!(square[4..], [[low, high], [low, low], [high, low], [high, high]]);
    let triangle = all(Domain::Triangles, [1.0; 4], [3.0; 2]);
    assert_eq!(triangle[..3], [[0, one], [0, 0], [one, 0]]);
    assert!(triangle[3][1] > half && triangle[4] == [triangle[4][0]; 2] && triangle[5][0] > half, "{triangle:?}");
}

/// Edges of fractional levels lie between uniform ones. New vertices appear at the next mark of
/// the ruler.
#[test]
fn golden_places() {
    let places = |spacing: Spacing, level: f32| {
        let mut places = Vec::new();
        spacing.subdivide(level, spacing.segments(level), &mut places);
        places.into_iter().map(|place| f64::from(place) / f64::from(ONE)).collect::<Vec<_>>()
    };
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
    };
    near(places(Spacing::FractionalEven, 3.0), &[0.0, 0.375, 0.5, 0.625, 1.0]);
    near(places(Spacing::FractionalOdd, 2.0), &[0.0, 1.0 / 6.0, 5.0 / 6.0, 1.0]);
    let [a, b] = [(1.0 / 4.0 + 1.0 / 6.0) / 2.0, (1.0 / 4.0 + 2.0 / 6.0) / 2.0];
    near(places(Spacing::FractionalEven, 5.0), &[0.0, a, b, 0.5, 1.0 - b, 1.0 - a, 1.0]);
    assert_eq!((0..9).map(last_before_shorter).collect::<Vec<_>>(), [0, 1, 1, 3, 1, 3, 5, 7, 1]);
    let turns: Vec<u32> = (1..32).map(turn_of_mark).collect();
    assert_eq!(turns[..8], [16, 8, 17, 4, 18, 9, 19, 2]);
    let mut sorted = turns.clone();
    sorted.sort_unstable();
    assert_eq!((turns[15], sorted), (1, (1..32).collect()));
}

#[test]
fn counts_are_those_of_the_mesh() {
    let mut picks = Picks(5);
    let mut mesh = TessellatedPatch::default();
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
