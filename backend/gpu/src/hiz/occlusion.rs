//! Tests of primitives in front of the tiler, and updates by triangles for later primitives.

use super::{Direction, Early, Visibility, as_stored, depths_over, groups_of};
use crate::raster::{Criterion, GROUP_LOG2, Grid, Shape, TILE_LOG2, Triangle, UNITS, pixels_inside, within};

/// Rules by which the triangles of a draw update Hi-Z.
#[derive(Clone, Copy)]
pub struct UpdateRules {
    /// Effects of the draw's fragments on the structure.
    pub visibility: Visibility,
    /// Pixels that the triangles may touch.
    pub scissor: [i64; 4],
    /// Number of bits of depth, and of samples.
    pub depths: (u32, u32),
    /// Width and height of the image in pixels.
    pub extent: [i64; 2],
}

/// Update of Hi-Z by a triangle.
#[derive(Debug, Clone, Copy)]
pub struct HizUpdate {
    /// Triangle, for its coverage.
    pub triangle: Triangle,
    /// Shape, for its depths.
    pub shape: Shape,
    /// Pixels that the triangle may cover.
    pub pixels: [i64; 4],
}

/// Applies the updates of triangles of the first layer. Groups that a triangle covers in part are
/// updated, too, for samples at these places in pixels, in units.
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

/// Test of primitives of the first layer in front of the tiler.
#[derive(Clone, Copy)]
pub struct Hiding<'a> {
    early: &'a Early,
    grid: &'a Grid,
    direction: Direction,
    /// Pixels that primitives may touch.
    clip: [i64; 4],
    depth_bits: u32,
    /// Range to which depths are clamped.
    range: [f32; 2],
}

impl<'a> Hiding<'a> {
    /// Returns the test of primitives that may touch pixels of the scissor, for depths of a number
    /// of bits that are clamped to a range. Returns `None` if there are no bounds.
    pub fn new(
        early: &'a Early,
        grid: &'a Grid,
        scissor: [i64; 4],
        (depth_bits, range): (u32, [f32; 2]),
    ) -> Option<Self> {
        let direction = early.direction()?;
        Some(Self { early, grid, direction, clip: within(scissor, grid.area()), depth_bits, range })
    }

    /// Returns the pixels of a rectangle that may be touched, or `None` if there are none.
    #[inline]
    pub fn touchable(&self, pixels: [i64; 4]) -> Option<[i64; 4]> {
        let pixels = within(pixels, self.clip);
        (pixels[0] < pixels[2] && pixels[1] < pixels[3]).then_some(pixels)
    }

    /// Returns true if depths in a range are hidden in all pixels of a rectangle, which must be
    /// touchable.
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

/// Applies the update of a triangle to the pixels in `clip` of all tiles of a layer. Groups that
/// it covers in part are updated if the places of samples are given.
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
