//! Exact numbers of the parts of primitives that each level of Hi-Z removes, in scenes whose
//! pictures are checked by the cases `hidden.exact.*`.

mod common;

use common::counters_of;

/// Runs a case on one thread with tests that never pause, in chunks of a number of primitives, and
/// returns some counters.
fn counters<const N: usize>(case: &str, chunk: &str, names: [&str; N]) -> [u64; N] {
    let knobs = [("VITRIC_HIZ", "always"), ("VITRIC_POSH", "off"), ("VITRIC_THREADS", "1"), ("VITRIC_CHUNK", chunk)];
    let counted = counters_of(&format!("hidden.exact.{case}"), &knobs);
    names.map(|name| counted[name])
}

/// The second half of a draw with small cells lies behind a wall, as does all of the draw before.
#[test]
fn blocks_and_primitives_are_hidden_before_they_are_binned() {
    let names = ["hiz_early_block_kills", "hiz_early_kills", "hiz_small_kills"];
    // Blocks of sixteen triangles are rows of eight cells.
    assert_eq!(counters("early", "8192", names), [(16 * 9 + 8 * 8) / 8, 2 * (16 * 9 + 8 * 8), 0]);
}

#[test]
fn small_primitives_are_hidden_in_their_tile() {
    let names = ["hiz_early_kills", "hiz_small_kills"];
    // The draw that hides them comes after the window was sorted into tiles.
    assert_eq!(counters("small", "8192", names), [0, 2 * 16 * 16]);
}

/// A tile reads the copied depths before it draws, and finds 24 of 32 columns hidden.
#[test]
fn copied_depths_hide_primitives() {
    let names = ["hiz_early_kills", "hiz_small_kills", "hiz_rebuilt_tiles"];
    assert_eq!(counters("copied", "8192", names), [0, 2 * 24 * 16, 2]);
}

/// A tile does not read depths that its first draw overwrites.
#[test]
fn overwritten_depths_are_not_read() {
    let names = ["hiz_small_kills", "hiz_rebuilt_tiles"];
    assert_eq!(counters("overwritten", "8192", names), [0, 0]);
}

/// Depths recede only after the mesh behind the wall.
#[test]
fn later_draws_end_no_tests() {
    let names = ["hiz_early_kills", "hiz_small_kills"];
    assert_eq!(counters("before_receding", "8192", names), [2 * 32 * 16, 0]);
}

/// A window is tested in the direction of its writers, also if its first draw has the other one.
#[test]
fn windows_are_tested_in_the_direction_of_their_writers() {
    assert_eq!(counters("beside_reversed", "8192", ["hiz_early_kills"]), [2 * 16 * 7]);
}

/// The diagonal of the wall runs through two of the three hidden tiles and eight of the hidden
/// groups.
#[test]
fn large_primitives_are_hidden_in_tiles_and_groups() {
    let names = ["hiz_early_kills", "hiz_early_group_kills", "hiz_tile_kills", "hiz_group_kills"];
    let (in_tiles, in_groups) = (3 + 2, 5 * 17 + 8);
    assert_eq!(counters("large", "1", names), [0, 0, in_tiles, in_groups]);
    // A later triangle of the window hides the wall's triangles before they are put into the tiles.
    // Masks have the groups of a triangle's bounds: one triangle lies in two tiles of the second
    // column, the other one in all three.
    assert_eq!(counters("large", "8192", names), [in_tiles, 5 * (16 + 17), 0, 0]);
}
