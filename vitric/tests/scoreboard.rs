//! Exact numbers of the fragments that the scoreboard drops.

mod common;

/// Returns the numbers of a case's fragments: those that passed early tests, those that were
/// dropped, and those that were exported.
fn fragments_of(case: &str, knobs: &[(&str, &str)]) -> [u64; 3] {
    let counters = common::counters_of(case, knobs);
    ["fragments", "dropped", "exported"].map(|name| counters[name])
}

/// Layers cover a target of 16x16 pixels, which is four groups, or parts of it.
#[test]
fn superseded_fragments_are_not_shaded() {
    for (name, [fragments, dropped]) in [
        // A half covers the first layer, and a group the half.
        ("small_by_small", [256 + 128 + 64, 128 + 64]),
        ("large_by_small", [256 + 128, 128]),
        ("quads_by_quads", [256 + 128, 128]),
        // Only the group of the layer between them is shaded before the last layer arrives.
        ("around_blended", [256 + 64 + 128, 128]),
        ("around_short", [256 + 64 + 128, 128]),
        // The layer between them needs one of the two groups that the last layer covers.
        ("below_blended", [256 + 64 + 128, 64]),
        // The layer between them writes nothing, so it is not shaded.
        ("around_unwritten", [256 + 128, 128]),
    ] {
        let case = format!("order.superseded.{name}");
        assert_eq!(fragments_of(&case, &[]), [fragments, dropped, fragments - dropped], "{name}");
        assert_eq!(fragments_of(&case, &[("VITRIC_SCOREBOARD", "off")]), [fragments, 0, fragments], "{name}");
    }
}
