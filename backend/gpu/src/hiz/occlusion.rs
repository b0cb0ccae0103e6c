//! What hides primitives that have not come to the tiler, and what triangles hide of those that come later.

use super::{Direction, Early, Visibility, as_stored, depths_over, groups_of};
use crate::raster::{Criterion, GROUP_LOG2, Grid, Shape, TILE_LOG2, Triangle, UNITS, pixels_inside, within};

/// How a draw's triangles update.
#[derive(Clone, Copy)]
pub struct UpdateRules {
    /// What its fragments do with the structure.
    pub visibility: Visibility,
    /// Pixels that they may touch.
    pub scissor: [i64; 4],
    /// Bits of depth, and samples.
    pub depths: (u32, u32),
    /// Pixels of the image along each axis.
    pub extent: [i64; 2],
}

/// What a triangle may update.
#[derive(Debug, Clone, Copy)]
pub struct HizUpdate {
    /// Its coverage.
    pub triangle: Triangle,
    /// Where it lies and how its depths change.
    pub shape: Shape,
    /// The pixels that it may cover.
    pub pixels: [i64; 4],
}

/// Triangles of the first layer, whose draw updates, update also what they cover of groups in part, where samples lie at these places in
/// pixels.
pub fn apply_updates(
    early: &mut Early,
    updates: &[HizUpdate],
    grid: &Grid,
    (update_rules, locations): (&UpdateRules, &[[i64; 2]]),
) {
    let Some(direction) = early.direction() else { return };
    let clip = within(update_rules.scissor, grid.area());
    for update in updates {
        apply_update((early, direction), update, (grid, 0, clip), (update_rules, locations));
    }
}

/// What primitives are tested against that did not come to the tiler, of the first layer.
#[derive(Clone, Copy)]
pub struct Hiding<'a> {
    early: &'a Early,
    grid: &'a Grid,
    direction: Direction,
    /// Pixels that they may touch.
    clip: [i64; 4],
    depth_bits: u32,
    /// What depths are clamped to.
    range: [f32; 2],
}

impl<'a> Hiding<'a> {
    /// By what is known, where anything is; primitives may touch pixels of the scissor, and depths have so many bits and are clamped to a
    /// range.
    pub fn new(
        early: &'a Early,
        grid: &'a Grid,
        scissor: [i64; 4],
        (depth_bits, range): (u32, [f32; 2]),
    ) -> Option<Self> {
        let direction = early.direction()?;
        Some(Self { early, grid, direction, clip: within(scissor, grid.area()), depth_bits, range })
    }

    /// The pixels of these that may be touched at all; `None` where none may.
    #[inline]
    pub fn touchable(&self, pixels: [i64; 4]) -> Option<[i64; 4]> {
        let pixels = within(pixels, self.clip);
        (pixels[0] < pixels[2] && pixels[1] < pixels[3]).then_some(pixels)
    }

    /// Whether what lies in some pixels, which may be touched, is hidden. None of it is outside of these depths.
    pub fn hides(&self, [x0, y0, x1, y1]: [i64; 4], depths: [f32; 2]) -> bool {
        let [near, far] = self.range;
        let depths = as_stored(depths.map(|depth| depth.max(near).min(far)), self.depth_bits);
        let nearness = self.direction.nearness(self.direction.front(depths));
        if !self.early.may_hide(nearness) {
            return false;
        }
        let [first, last] = Grid::corners([x0, y0, x1, y1]);
        (first[1]..=last[1]).all(|row| {
            (first[0]..=last[0]).all(|column| {
                let tile = self.grid.number([column, row]);
                let pixels = within([x0, y0, x1, y1], self.grid.pixels(tile));
                self.early.may_hide_in(tile, nearness) && self.early.hides(tile, pixels, nearness)
            })
        })
    }
}

/// A triangle updates what it covers of the pixels in `clip` in all tiles of a layer, and of groups in part where the places of samples are
/// given.
pub fn apply_update(
    (early, direction): (&mut Early, Direction),
    HizUpdate { triangle, shape, pixels }: &HizUpdate,
    (grid, layer, clip): (&Grid, u32, [i64; 4]),
    (&UpdateRules { depths: (bits, samples), extent, .. }, locations): (&UpdateRules, &[[i64; 2]]),
) {
    let touched = within(*pixels, clip);
    let far = |pixels| direction.nearness(direction.far(depths_over(shape, pixels, bits, samples)));
    let covers =
        |[x, y]: [i64; 2], log2: u32| triangle.covers_cell(x * UNITS, y * UNITS, UNITS << log2, Criterion::Inner);
    let image = [0, 0, extent[0], extent[1]];
    let of_image = |[x, y]: [i64; 2], log2: u32| within([x, y, x + (1 << log2), y + (1 << log2)], image);
    let layer = layer as usize * grid.count();
    grid.touched_by(
        *pixels,
        &grid.tiles_within(clip),
        || *triangle,
        |tile| {
            let [left, top, ..] = grid.pixels(tile);
            let corner = [left, top].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
            let whole = of_image(corner, TILE_LOG2);
            let here = within(touched, whole);
            if here == whole && covers(corner, TILE_LOG2) {
                return early.update_tile(layer + tile, far(whole));
            }
            if here[0] >= here[2] || here[1] >= here[3] {
                return;
            }
            for group in groups_of(here) {
                let whole = of_image(group, GROUP_LOG2);
                if within(whole, here) == whole && covers(group, GROUP_LOG2) {
                    early.update_group(layer + tile, group, far(whole));
                } else if !locations.is_empty() {
                    let all =
                        locations.iter().fold(u64::MAX, |all, at| all & triangle.covers_group(group[0], group[1], *at));
                    let inside = all & pixels_inside(group[0], group[1], here);
                    if inside != 0 {
                        let mask = inside | !pixels_inside(group[0], group[1], image);
                        early.update_part(layer + tile, group, (mask, far(within(whole, here))));
                    }
                }
            }
        },
    );
}
