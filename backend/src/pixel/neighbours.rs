//! Neighbours: small triangles that share an edge with the next one, as those of meshes do. No point is of both, so that one run of a kernel
//! may draw them as if they were one primitive: blocks of pixels that both of them touch are gone through once.

use super::tile::{SMALL_PIXELS, SMALL_SIDE};
use crate::geometry::Shape;
use crate::shader::runtime::kernels::{Lanes, Mask, WAVE, each, highest_bits, kernel, ones};

/// Which of sixteen primitives with these words are drawn together with the next one, in a tile of which `clip` may be touched: `[x0, y0, x1,
/// y1]`, pixels. Both are small, share an edge, have some words in common, and go through fewer blocks that way.
#[inline]
pub(super) fn have_neighbours(words: &[Lanes], common: &[u32], clip: [i64; 4]) -> Mask {
    // The next one of the last is of other sixteen.
    find(words, common, &clip.map(|bound| bound as i32)) & Mask::MAX >> 1
}

/// The pixels that two windows lie in.
#[inline]
pub(super) fn around(a: [i64; 4], b: [i64; 4]) -> [i64; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

/// A word of each lane, and of the one behind the last.
type Row = [u32; WAVE + 1];

/// Words that every primitive has, lane by lane, and the one behind them.
type Words = [u32; Shape::WORDS * WAVE + 1];

#[inline(always)]
fn row(words: &[u32], word: u32) -> &Row {
    words[word as usize * WAVE..].first_chunk().expect("other words follow")
}

/// The words of an edge.
#[inline(always)]
fn edge(words: &Words, number: u32) -> [&Row; 3] {
    let first = Shape::EDGES + number * 3;
    [row(words, first), row(words, first + 1), row(words, first + 2)]
}

/// Lanes for one of whose edges that one of the next lane is the other side.
#[inline(always)]
fn meet([dx, dy, at]: [&Row; 3], [next_dx, next_dy, next_at]: [&Row; 3]) -> Lanes {
    each(|lane| {
        // What is inside of one is outside of the other: where a point has `n` for this one, it has `-1 - n` for that.
        let sum = |own: &Row, next: &Row| own[lane].wrapping_add(next[lane + 1]);
        ones((sum(dx, next_dx) | sum(dy, next_dy) | !sum(at, next_at)) == 0)
    })
}

/// Lanes that share this edge with the next one, which has these.
#[inline(always)]
fn meets_any(edge: [&Row; 3], [a, b, c]: [[&Row; 3]; 3]) -> Lanes {
    let (a, b, c) = (meet(edge, a), meet(edge, b), meet(edge, c));
    each(|lane| a[lane] | b[lane] | c[lane])
}

/// Lanes that share an edge with the next one. It has no loops, so that all lanes become one.
#[inline(always)]
fn share_edges(words: &Words) -> Lanes {
    let edges = [edge(words, 0), edge(words, 1), edge(words, 2)];
    let (a, b, c) = (meets_any(edges[0], edges), meets_any(edges[1], edges), meets_any(edges[2], edges));
    each(|lane| a[lane] | b[lane] | c[lane])
}

/// Lanes that are small, as is the next one, if it is seen, and have fewer blocks together with it.
#[inline(always)]
fn save_blocks(words: &Words, clip: &[i32; 4]) -> Lanes {
    let bound = |bound: u32| row(words, Shape::PIXELS + bound);
    let (x0, y0, x1, y1) = (bound(0), bound(1), bound(2), bound(3));
    let (side, pixels) = (SMALL_SIDE as i32, SMALL_PIXELS as i32);
    each(|lane| {
        let window = |lane: usize| {
            let (left, top, right, bottom) = (x0[lane] as i32, y0[lane] as i32, x1[lane] as i32, y1[lane] as i32);
            let (width, height) = (right - left, bottom - top);
            // Products of others may overflow.
            let area = width.min(side) * height.min(side);
            let is_small = (width <= side) & (height <= side) & (area <= pixels);
            let window = [left.max(clip[0]), top.max(clip[1]), right.min(clip[2]), bottom.min(clip[3])];
            (window, is_small & (window[0] < window[2]) & (window[1] < window[3]))
        };
        let blocks = |[left, top, right, bottom]: [i32; 4]| {
            (((right + 3) >> 2) - (left >> 2)) * (((bottom + 3) >> 2) - (top >> 2))
        };
        let ((a, is_small), (b, next_is_small)) = (window(lane), window(lane + 1));
        let both = [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
        // A block costs more, as each lane has to find what is of its own primitive.
        let saves = blocks(both) * 4 <= (blocks(a) + blocks(b)) * 3;
        ones(is_small & next_is_small & saves)
    })
}

#[inline(always)]
fn find_lanes(words: &[Lanes], common: &[u32], clip: &[i32; 4]) -> Mask {
    let words = words.as_flattened();
    let all_have = words.first_chunk().expect("other words follow");
    let (shared, save) = (share_edges(all_have), save_blocks(all_have, clip));
    let mut found = each(|lane| shared[lane] & save[lane]);
    for word in common {
        let row = row(words, *word);
        found = each(|lane| found[lane] & ones(row[lane] == row[lane + 1]));
    }
    highest_bits(&found)
}

kernel!(
    /// Which of sixteen primitives are drawn together with the next one.
    find, find_lanes, (words: &[Lanes], common: &[u32], clip: &[i32; 4]) -> Mask
);
