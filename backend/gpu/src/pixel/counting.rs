//! Counting of waves and of their fragments.

use vitric_base::counters::{Counter, Map, TileCounters};

use crate::hiz::groups_of;
use crate::raster::{SIDE, UNITS, within};

/// Changes of an edge's value from pixel to pixel in x and y, and the value at the centre of pixel
/// (0, 0), modulo 2^32 ([`crate::raster::Shape::EDGES`]).
pub(super) type EdgeWords = [i32; 3];

/// Marks the samples that small primitives cover in a window, in each of its groups.
///
/// `primitives` are the edges of one or two primitives, of which a sample needs one. `samples` are
/// places in a pixel, in units.
pub(super) fn mark_covered(
    counters: &TileCounters,
    primitives: &[[EdgeWords; 3]],
    window: [i64; 4],
    samples: &[[i64; 2]],
) -> u32 {
    let is_inside = |[x, y]: [i64; 2], sample: [i64; 2]| {
        let value = |[dx, dy, origin]: EdgeWords| {
            let moved = |step: i32, axis: usize| step.wrapping_mul((sample[axis] - UNITS / 2) as i32) >> UNITS.ilog2();
            let pixels = dx.wrapping_mul(x as i32).wrapping_add(dy.wrapping_mul(y as i32));
            origin.wrapping_add(pixels).wrapping_add(moved(dx, 0)).wrapping_add(moved(dy, 1))
        };
        primitives.iter().any(|edges| edges.iter().all(|edge| value(*edge) >= 0))
    };
    let mut all = 0;
    for group in groups_of(window) {
        let [x0, y0, x1, y1] = within(window, [group[0], group[1], group[0] + SIDE as i64, group[1] + SIDE as i64]);
        let pixels = (y0..y1).flat_map(|y| (x0..x1).map(move |x| [x, y]));
        let covered = pixels.flat_map(|pixel| samples.iter().filter(move |sample| is_inside(pixel, **sample))).count();
        counters.mark(Map::Overdraw, group.map(|pixel| pixel as u32), covered as u32);
        all += covered as u32;
    }
    all
}

/// Counts waves and the lanes of those waves that have a fragment.
pub(super) fn count_waves(counters: &TileCounters, place: [u32; 2], waves: u32, lanes: u32) {
    counters.mark(Map::Waves, place, waves);
    counters.mark(Map::Lanes, place, lanes);
}

/// Counts exported and discarded fragments among those that were shaded.
pub(super) fn count_exported(counters: &TileCounters, shaded: u32, exported: u32) {
    counters.count(Counter::Exported, exported.into());
    if shaded != exported {
        counters.count(Counter::Discarded, (shaded - exported).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::Triangle;

    /// Places of two samples.
    const SAMPLES: [[i64; 2]; 2] = [[96, 32], [160, 224]];

    #[test]
    fn covered_samples_are_marked_in_their_groups() {
        let corners = [[3, 2], [20, 5], [6, 21]].map(|corner| corner.map(|pixel| pixel * UNITS + 17));
        let triangle = Triangle::clockwise(corners);
        // Both samples of a pixel lie beside its centre.
        let edges = [0, 1, 2].map(|edge| {
            let ([ax, ay], [bx, by]) = (corners[edge], corners[(edge + 1) % 3]);
            let at = |x: i64, y: i64| {
                let [x, y] = [x, y].map(|pixel| pixel * UNITS + UNITS / 2);
                ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) as i32
            };
            [at(1, 0) - at(0, 0), at(0, 1) - at(0, 0), at(0, 0)]
        });
        let window = [3, 2, 18, 22];
        let counters = TileCounters::default();
        let all = mark_covered(&counters, &[edges], window, &SAMPLES);
        let mut expected = 0;
        for group in groups_of(window) {
            let inside = crate::raster::pixels_inside(group[0], group[1], window);
            let covered = SAMPLES.map(|place| (triangle.covers_group(group[0], group[1], place) & inside).count_ones());
            expected += covered.iter().sum::<u32>();
        }
        assert_eq!((all, counters.get(Counter::Covered)), (expected, expected.into()));
        assert_eq!((expected, counters.marked_groups(Map::Overdraw)), (310, 8));
        let twice = mark_covered(&TileCounters::default(), &[edges, edges], window, &SAMPLES);
        assert_eq!(twice, all, "a sample of two primitives counts once");
    }
}
