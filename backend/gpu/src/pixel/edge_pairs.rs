//! Edge pairs: small triangles that share an edge with the next triangle, as is common in meshes.
//!
//! No sample is covered by both triangles. So a single kernel run may draw both like one
//! primitive, and processes each block of pixels that both touch only once.

use vitric_base::simd::{Lanes, Mask, WAVE, each, highest_bits, kernel, ones};

use super::{SMALL_PIXELS, SMALL_SIDE};
use crate::raster::Shape;

/// Returns the primitives among sixteen that are drawn together with the next one.
///
/// `clip` is the area of the tile that may be touched: `[x0, y0, x1, y1]`, pixels. Both primitives
/// must be small, share an edge, and have equal words at the indices in `common`. Together they
/// must need fewer blocks than one by one.
#[inline]
pub(super) fn find_edge_pairs(words: &[Lanes], common: &[u32], clip: [i64; 4]) -> Mask {
    // The successor of the last primitive belongs to another sixteen.
    find(words, common, &clip.map(|bound| bound as i32)) & Mask::MAX >> 1
}

/// Returns the bounding rectangle of two windows.
#[inline]
pub(super) fn around(a: [i64; 4], b: [i64; 4]) -> [i64; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

/// The words of sixteen primitives, lane by lane, and one word behind them.
type BlockWords = [u32; Shape::WORDS * WAVE + 1];

/// Returns a word of each lane if `next` is 0, or of each lane's successor if `next` is 1.
#[inline(always)]
fn row(words: &[u32], word: u32, next: usize) -> &Lanes {
    words[word as usize * WAVE + next..].first_chunk().expect("other words follow")
}

/// Returns `N` consecutive words from `first` on, of the lanes or of their successors.
#[inline(always)]
fn rows<const N: usize>(words: &BlockWords, first: u32, next: usize) -> [&Lanes; N] {
    std::array::from_fn(|number| row(words, first + number as u32, next))
}

/// Returns ones in lanes whose primitive shares an edge with the next one.
#[inline(always)]
fn share_edges(words: &BlockWords) -> Lanes {
    let (own, next) = (rows::<9>(words, Shape::EDGES, 0), rows::<9>(words, Shape::EDGES, 1));
    let mut shared = [0; WAVE];
    for lane in 0..WAVE {
        // The inside of one triangle is the outside of the other at a shared edge. A point with
        // the value `n` for one edge has `-1 - n` for the other.
        let meet = |edge: usize, other: usize| {
            let sum = |word: usize| own[edge * 3 + word][lane].wrapping_add(next[other * 3 + word][lane]);
            (sum(0) | sum(1) | !sum(2)) == 0
        };
        let any = |edge: usize| meet(edge, 0) | meet(edge, 1) | meet(edge, 2);
        shared[lane] = ones(any(0) | any(1) | any(2));
    }
    shared
}

/// Returns ones in lanes whose primitive and next primitive are small, touch the clip area, and
/// need fewer blocks together.
#[inline(always)]
fn save_blocks(words: &BlockWords, clip: &[i32; 4]) -> Lanes {
    let (own, next) = (rows::<4>(words, Shape::PIXELS, 0), rows::<4>(words, Shape::PIXELS, 1));
    let (side, pixels) = (SMALL_SIDE as i32, SMALL_PIXELS as i32);
    let mut saves = [0; WAVE];
    for lane in 0..WAVE {
        let window = |bounds: &[&Lanes; 4]| {
            let bound = |number: usize| bounds[number][lane] as i32;
            let (width, height) = (bound(2).wrapping_sub(bound(0)), bound(3).wrapping_sub(bound(1)));
            // Lanes without a primitive may contain any bounds. Invisible primitives may have any
            // size.
            let is_small = (width <= side) & (height <= side) & (width.wrapping_mul(height) <= pixels);
            let (left, top) = (bound(0).max(clip[0]), bound(1).max(clip[1]));
            let (right, bottom) = (bound(2).min(clip[2]), bound(3).min(clip[3]));
            ((left, top, right, bottom), is_small & (left < right) & (top < bottom))
        };
        let blocks = |(left, top, right, bottom): (i32, i32, i32, i32)| {
            let along = |first: i32, last: i32| ((last + 3) >> 2).wrapping_sub(first >> 2);
            along(left, right).wrapping_mul(along(top, bottom))
        };
        let ((a, is_small), (b, next_is_small)) = (window(&own), window(&next));
        let both = (a.0.min(b.0), a.1.min(b.1), a.2.max(b.2), a.3.max(b.3));
        // A block of an edge pair costs more, because each lane must select the values of the
        // primitive that covers it.
        let is_less = blocks(both).wrapping_mul(4) <= blocks(a).wrapping_add(blocks(b)).wrapping_mul(3);
        saves[lane] = ones(is_small & next_is_small & is_less);
    }
    saves
}

#[inline(always)]
fn find_lanes(words: &[Lanes], common: &[u32], clip: &[i32; 4]) -> Mask {
    let words = words.as_flattened();
    let all_have = words.first_chunk().expect("other words follow");
    let saves = save_blocks(all_have, clip);
    if highest_bits(&saves) == 0 {
        return 0;
    }
    let shared = share_edges(all_have);
    let mut found = each(|lane| shared[lane] & saves[lane]);
    for &word in common {
        let (own, next) = (row(words, word, 0), row(words, word, 1));
        found = each(|lane| found[lane] & ones(own[lane] == next[lane]));
    }
    highest_bits(&found)
}

kernel!(
    /// Returns the primitives among sixteen that are drawn together with the next one.
    find, find_lanes, (words: &[Lanes], common: &[u32], clip: &[i32; 4]) -> Mask
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of sixteen small primitives without shared edges, and one more row of
    /// words.
    fn primitives() -> Vec<Lanes> {
        let mut words = vec![[0; WAVE]; Shape::WORDS + 1];
        for lane in 0..WAVE as u32 {
            for word in 0..9 {
                words[(Shape::EDGES + word) as usize][lane as usize] = 100 * lane + word + 1;
            }
            for (word, bound) in [(0, 8), (1, 16), (2, 20), (3, 24)] {
                words[(Shape::PIXELS + word) as usize][lane as usize] = bound;
            }
        }
        words
    }

    /// Makes an edge of a lane the reverse of an edge of the previous lane.
    fn join(words: &mut [Lanes], lane: usize, [edge, other]: [usize; 2]) {
        for word in 0..3 {
            let [own, next] = [edge, other].map(|edge| Shape::EDGES as usize + 3 * edge + word);
            let value = words[own][lane - 1];
            words[next][lane] = if word == 2 { !value } else { value.wrapping_neg() };
        }
    }

    const CLIP: [i64; 4] = [0, 0, 64, 64];

    #[test]
    fn edge_pairs_share_an_edge() {
        for (edge, other) in (0..9).map(|pair| (pair / 3, pair % 3)) {
            let mut words = primitives();
            assert_eq!(find_edge_pairs(&words, &[], CLIP), 0);
            join(&mut words, 4, [edge, other]);
            join(&mut words, 15, [edge, other]);
            assert_eq!(find_edge_pairs(&words, &[], CLIP), 1 << 3 | 1 << 14, "{edge}, {other}");
            // Now both triangles cover a common point.
            words[Shape::EDGES as usize + 3 * other + 2][4] += 1;
            assert_eq!(find_edge_pairs(&words, &[], CLIP), 1 << 14);
        }
    }

    #[test]
    fn lanes_without_primitives_hold_anything() {
        let mut words = primitives();
        let ends = [i32::MIN, i32::MAX, -1, 1 << 30];
        for (bound, lane) in (0..4).flat_map(|bound| (8..WAVE).map(move |lane| (bound, lane))) {
            words[Shape::PIXELS as usize + bound][lane] = ends[(bound * 3 + lane) % 4] as u32;
        }
        join(&mut words, 2, [0, 0]);
        assert_eq!(find_edge_pairs(&words, &[], CLIP) & 0x7f, 1 << 1);
    }

    #[test]
    fn edge_pairs_have_words_in_common() {
        let mut words = primitives();
        join(&mut words, 8, [1, 2]);
        words[Shape::FRONT as usize][8] = 1;
        assert_eq!(find_edge_pairs(&words, &[Shape::ID], CLIP), 1 << 7);
        assert_eq!(find_edge_pairs(&words, &[Shape::ID, Shape::FRONT], CLIP), 0);
    }

    #[test]
    fn edge_pairs_are_visible_and_near_each_other() {
        let place = |word: u32, bound: u32| {
            let mut words = primitives();
            join(&mut words, 1, [0, 0]);
            words[(Shape::PIXELS + word) as usize][1] = bound;
            words
        };
        assert_eq!(find_edge_pairs(&place(2, 21), &[], CLIP), 1);
        // The windows have 3 by 2 blocks, 3 by 6 blocks, and together 3 by 6 blocks.
        assert_eq!(find_edge_pairs(&place(3, 40), &[], CLIP), 1);
        assert_eq!(find_edge_pairs(&place(3, 40), &[], [0, 0, 64, 16]), 0);
        assert_eq!(find_edge_pairs(&place(0, 20), &[], CLIP), 0);
        let mut apart = place(0, 40);
        apart[Shape::PIXELS as usize + 2][1] = 52;
        assert_eq!(find_edge_pairs(&apart, &[], CLIP), 0);
        let mut large = place(2, 80);
        large[Shape::PIXELS as usize + 2][0] = 80;
        assert_eq!(find_edge_pairs(&large, &[], [0, 0, 128, 64]), 0);
    }
}
