//! Exact numbers of the primitives that the look-ahead drops.
//!
//! In the case, a far mesh of 30x26 cells and a near one of 24x16 cells, each of two triangles,
//! come before a wall of two triangles between them.

mod common;

const NAMES: [&str; 5] = ["primitives", "posh_hidden_kills", "vertices", "clip_inputs", "clip_outputs"];

/// Triangles of the far mesh, of the near mesh, and of the wall.
const TRIANGLES: [u64; 3] = [2 * 30 * 26, 2 * 24 * 16, 2];

/// Runs a conformance case, and returns its counters.
fn count(case: &str, posh: &str) -> [u64; 5] {
    let counters = common::counters_of(case, &[("VITRIC_POSH", posh)]);
    NAMES.map(|name| counters[name])
}

#[test]
fn a_wall_hides_the_mesh_behind_it() {
    let [far, near, wall] = TRIANGLES;
    let all = far + near + wall;
    // Three corners a triangle, because the meshes have no indices.
    assert_eq!(count("lookahead.opaque.d32", "off"), [all, 0, 3 * all, all, all]);
    assert_eq!(count("lookahead.opaque.d32", "always"), [near + wall, far, 3 * (near + wall), all, all]);
    // A near mesh that only tests keeps its place in the segment, and one that blends and writes
    // depth ends it.
    assert_eq!(count("lookahead.glass.d32", "always"), [near + wall, far, 3 * (near + wall), all, all]);
    assert_eq!(count("lookahead.added.d32", "always"), [all, 0, 3 * all, all, all]);
    assert_eq!(count("lookahead.holed_early.d32", "always"), [all, 0, 3 * all, all, all]);
}
