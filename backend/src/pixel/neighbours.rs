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

/// Words that every primitive has, lane by lane, and the one behind them.
type Words = [u32; Shape::WORDS * WAVE + 1];

/// A word of each lane; of the one behind each where `next` is 1.
#[inline(always)]
fn row(words: &[u32], word: u32, next: usize) -> &Lanes {
    words[word as usize * WAVE + next..].first_chunk().expect("other words follow")
}

/// Words that follow each other.
#[inline(always)]
fn rows<const N: usize>(words: &Words, first: u32, next: usize) -> [&Lanes; N] {
    std::array::from_fn(|number| row(words, first + number as u32, next))
}

/// Lanes that share an edge with the next one.
#[inline(always)]
fn share_edges(words: &Words) -> Lanes {
    let (own, next) = (rows::<9>(words, Shape::EDGES, 0), rows::<9>(words, Shape::EDGES, 1));
    let mut shared = [0; WAVE];
    for lane in 0..WAVE {
        // What is inside of one is outside of the other: where a point has `n` for this edge, it has `-1 - n` for that.
        let meet = |edge: usize, other: usize| {
            let sum = |word: usize| own[edge * 3 + word][lane].wrapping_add(next[other * 3 + word][lane]);
            (sum(0) | sum(1) | !sum(2)) == 0
        };
        let any = |edge: usize| meet(edge, 0) | meet(edge, 1) | meet(edge, 2);
        shared[lane] = ones(any(0) | any(1) | any(2));
    }
    shared
}

/// Lanes that are small, as is the next one, both are seen, and have fewer blocks together.
#[inline(always)]
fn save_blocks(words: &Words, clip: &[i32; 4]) -> Lanes {
    let (own, next) = (rows::<4>(words, Shape::PIXELS, 0), rows::<4>(words, Shape::PIXELS, 1));
    let (side, pixels) = (SMALL_SIDE as i32, SMALL_PIXELS as i32);
    let mut saves = [0; WAVE];
    for lane in 0..WAVE {
        let window = |bounds: &[&Lanes; 4]| {
            let bound = |number: usize| bounds[number][lane] as i32;
            let (width, height) = (bound(2) - bound(0), bound(3) - bound(1));
            // Products of others may overflow.
            let is_small = (width <= side) & (height <= side) & (width.min(side) * height.min(side) <= pixels);
            let (left, top) = (bound(0).max(clip[0]), bound(1).max(clip[1]));
            let (right, bottom) = (bound(2).min(clip[2]), bound(3).min(clip[3]));
            ((left, top, right, bottom), is_small & (left < right) & (top < bottom))
        };
        let blocks = |(left, top, right, bottom): (i32, i32, i32, i32)| {
            (((right + 3) >> 2) - (left >> 2)) * (((bottom + 3) >> 2) - (top >> 2))
        };
        let ((a, is_small), (b, next_is_small)) = (window(&own), window(&next));
        let both = (a.0.min(b.0), a.1.min(b.1), a.2.max(b.2), a.3.max(b.3));
        // A block costs more, as each lane has to find what is of its own primitive.
        let is_less = blocks(both) * 4 <= (blocks(a) + blocks(b)) * 3;
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
    /// Which of sixteen primitives are drawn together with the next one.
    find, find_lanes, (words: &[Lanes], common: &[u32], clip: &[i32; 4]) -> Mask
);
