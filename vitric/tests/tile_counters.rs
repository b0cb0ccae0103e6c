//! Counters of tiles for one case whose numbers are known: how many batches and windows, how often
//! tiles are processed, and how many bytes of attachments move.
//!
//! The case draws three rectangles of two triangles each to 2x2 tiles with four bytes of colour and
//! four of depth. Each triangle of the two large rectangles touches three tiles.

mod common;

/// Counters, in the order of the expected numbers.
const NAMES: [&str; 11] = [
    "batches",
    "windows",
    "primitives",
    "bin_entries",
    "tiles_processed",
    "tiles_reprocessed",
    "tiles_culled",
    "attachment_bytes_loaded",
    "attachment_bytes_stored",
    "render_lines_loaded",
    "render_lines_stored",
];

/// Bytes of a tile's attachments.
const TILE: u64 = 64 * 64 * (4 + 4);

/// Lines of a group: one of colour and one of depth.
const LINES: u64 = 2;

/// Runs the case with knobs and returns its counters.
fn count(knobs: &[(&str, &str)]) -> [u64; 11] {
    let counters = common::counters_of("order.batches.counted", knobs);
    NAMES.map(|name| counters[name])
}

#[test]
fn all_draws_share_one_batch() {
    let expected = [1, 1, 6, 14, 4, 0, 0, 0, 4 * TILE, 0, 256 * LINES];
    assert_eq!(count(&[("VITRIC_HIZ", "off")]), expected);
    // The third rectangle is hidden. Its triangles are not put into the two tiles that a triangle
    // of the first one covers wholly.
    let expected = [1, 1, 6, 12, 4, 0, 0, 0, 4 * TILE, 0, 256 * LINES];
    assert_eq!(count(&[("VITRIC_HIZ", "always")]), expected);
}

/// The second draw loads the tile that it touches, and the third one loads all four.
#[test]
fn each_draw_is_a_batch_without_tbimr() {
    let off = ("VITRIC_TBIMR", "off");
    let lines = [36 + 256, 256 + 36 + 256].map(|groups| groups * LINES);
    let expected = [3, 3, 6, 14, 9, 5, 0, 5 * TILE, 9 * TILE, lines[0], lines[1]];
    assert_eq!(count(&[off, ("VITRIC_HIZ", "off")]), expected);
    // The third rectangle is put into no tile.
    let lines = [36, 256 + 36].map(|groups| groups * LINES);
    let expected = [3, 3, 6, 8, 5, 1, 0, TILE, 5 * TILE, lines[0], lines[1]];
    assert_eq!(count(&[off, ("VITRIC_HIZ", "always")]), expected);
}

/// The tiles of each triangle are processed before those of the next one, although the front end
/// makes one window of both triangles of a draw.
#[test]
fn batches_of_one_primitive_divide_windows() {
    // A triangle of a large rectangle covers samples in one whole tile and half of two, one of the
    // small rectangle in half of 6x6 groups.
    let (half, large, small) = (36, 64 + 2 * 36, 21);
    let lines = [2 * half + 2 * small + 2 * large, 4 * large + 2 * small].map(|groups| groups * LINES);
    let expected = [6, 3, 6, 14, 14, 10, 0, 10 * TILE, 14 * TILE, lines[0], lines[1]];
    assert_eq!(count(&[("VITRIC_WINDOW", "1"), ("VITRIC_HIZ", "off")]), expected);
}
