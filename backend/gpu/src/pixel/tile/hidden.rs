//! Hi-Z tests of the primitives of a tile.

use vitric_base::counters::{Counter, count};

use super::{GroupWindow, SMALL_UPDATES_PER_HIDDEN, SmallPrimitive, Tile, count_hidden};
use crate::geometry::Primitives;
use crate::hiz::{
    Bounds, DepthDirection, DepthRange, GroupCoverage, as_stored, blocks_and_quads, depths_over, group_number,
    groups_of,
};
use crate::pixel::coverage::Part;
use crate::pixel::hiz_updates::{SmallUpdate, group_within, is_worth_updating, update_by_small};
use crate::raster::Shape;
use crate::raster::within;
use crate::raster::{GROUP_LOG2, pixels_inside};

/// Result of a Hi-Z test in the groups that a primitive touches: whether any group hides it, and
/// whether all do.
#[derive(Clone, Copy)]
pub(super) struct Hidden {
    pub(super) any: bool,
    pub(super) all: bool,
}

impl Tile<'_, '_> {
    /// Returns which groups hide a small primitive, and updates the bounds by the primitive if the
    /// draw writes depth.
    #[inline(always)]
    pub(super) fn hidden_of_small(
        &mut self,
        primitives: &Primitives,
        SmallPrimitive { index, depths, window, .. }: SmallPrimitive,
    ) -> Hidden {
        let context = self.context;
        let (Some(direction), Some(bounds)) = (context.visibility.tests, self.bounds.as_deref_mut()) else {
            return Hidden { any: false, all: false };
        };
        let range = as_stored(depths, context.depth_bits);
        self.tests[0] += 1;
        let mut hidden = Hidden { any: false, all: true };
        for group in groups_of(window) {
            let number = group_number(group);
            let hides = bounds.hides_in_group(direction, number, range);
            hidden = Hidden { any: hidden.any | hides, all: hidden.all & hides };
            if context.visibility.updates_hiz {
                bounds.loosen(direction, number, range);
            }
        }
        if self.updates > 0 && !hidden.all && context.visibility.updates_hiz && is_worth_updating(window) {
            self.updates -= 1;
            self.tests[0] += 1;
            let (triangle, locations) = (&primitives.triangle(index), &*context.locations);
            update_by_small(bounds, direction, SmallUpdate { triangle, locations, window, range }, self.counters);
        }
        count(self.counters, Counter::HizSmallQueries, 1);
        hidden
    }

    /// Returns the window of a small primitive without the outer groups that hide it, or `None` if
    /// all groups hide it. `all` is true if that is already known.
    #[cold]
    pub(super) fn visible_window(
        &mut self,
        SmallPrimitive { depths, window, .. }: SmallPrimitive,
        all: bool,
    ) -> Option<[i64; 4]> {
        if all {
            self.count_small_kill(window);
            return None;
        }
        let (range, direction) = (as_stored(depths, self.context.depth_bits), self.context.visibility.tests?);
        let bounds = self.bounds.as_deref()?;
        let (side, mut left) = (1 << GROUP_LOG2, [i64::MAX, i64::MAX, i64::MIN, i64::MIN]);
        for [x, y] in groups_of(window) {
            if !bounds.hides_in_group(direction, group_number([x, y]), range) {
                left = [left[0].min(x), left[1].min(y), left[2].max(x + side), left[3].max(y + side)];
            }
        }
        let visible = within(left, window);
        if left[0] == i64::MAX {
            // The update by the other primitive of an edge pair has hidden the remaining groups.
            self.count_small_kill(window);
            return None;
        }
        if visible != window {
            count(self.counters, Counter::HizSmallCuts, 1);
            // Hidden groups between visible ones are drawn.
            let is_drawn = |group: [i64; 2]| {
                left[0] <= group[0] && left[1] <= group[1] && group[0] < left[2] && group[1] < left[3]
            };
            let omitted = groups_of(window).filter(|group| !is_drawn(*group));
            omitted.for_each(|group| count_hidden(self.counters, group_within(group, window)));
        }
        Some(visible)
    }

    /// Counts a small primitive that all groups hide.
    fn count_small_kill(&mut self, window: [i64; 4]) {
        self.updates += if self.updates > 0 { SMALL_UPDATES_PER_HIDDEN } else { 0 };
        self.tests[1] += 1;
        count(self.counters, Counter::HizSmallKills, 1);
        count_hidden(self.counters, window);
    }

    fn depths_over(&self, shape: &Shape, pixels: [i64; 4]) -> DepthRange {
        depths_over(shape, pixels, self.context.depth_format())
    }

    /// Returns true if the whole tile hides a primitive.
    pub(super) fn is_hidden_in_tile(&self, direction: DepthDirection, shape: &Shape, window: [i64; 4]) -> bool {
        let range = self.depths_over(shape, window);
        let hidden = self.bounds.as_deref().is_some_and(|bounds| bounds.hides_in_tile(direction, range));
        count(self.counters, Counter::HizTileQueries, 1);
        if hidden {
            count(self.counters, Counter::HizTileKills, 1);
            count_hidden(self.counters, window);
        }
        hidden
    }

    /// Returns the depths of a primitive in a group, or `None` if the group hides it. A primitive
    /// that covers the whole group updates its bounds.
    #[inline]
    pub(super) fn query(
        &mut self,
        direction: DepthDirection,
        shape: &Shape,
        GroupWindow { group, window, full }: GroupWindow,
    ) -> Option<DepthRange> {
        let pixels = group_within(group, window);
        let range = self.depths_over(shape, pixels);
        let bounds = self.bounds.as_deref_mut()?;
        let whole = full && pixels == group_within(group, bounds.pixels());
        let number = group_number(group);
        let hidden = bounds.hides_in_group(direction, number, range);
        self.tests = [self.tests[0] + 1, self.tests[1] + u32::from(hidden)];
        if whole && !hidden && self.context.visibility.updates_hiz {
            bounds.update(direction, number, range);
        }
        count(self.counters, Counter::HizGroupQueries, 1);
        if hidden {
            self.count_killed(pixels);
        }
        (!hidden).then_some(range)
    }

    fn count_killed(&self, pixels: [i64; 4]) {
        count(self.counters, Counter::HizGroupKills, 1);
        count_hidden(self.counters, pixels);
    }

    /// Returns true if the pixels of a group hide a primitive, or if it covers none. Otherwise the
    /// primitive updates the bounds of the group.
    ///
    /// `any` are the pixels with any covered sample, `all` those with all samples covered.
    pub(super) fn is_hidden_in_pixels(&mut self, group: [i64; 2], (any, all): (u64, u64), range: DepthRange) -> bool {
        let (Some(direction), Some(bounds)) = (self.context.visibility.tests, self.bounds.as_deref_mut()) else {
            return false;
        };
        if any == 0 {
            return true;
        }
        let covered = |pixels: u64| GroupCoverage { group: group_number(group), pixels };
        let hidden = bounds.hides_pixels(direction, covered(any), range);
        if hidden {
            self.tests[1] += 1;
            self.count_killed(group_within(group, self.area));
        } else if self.context.visibility.updates_hiz {
            let outside = !pixels_inside(group[0], group[1], bounds.pixels());
            bounds.update_part(direction, covered(all | outside), range);
        }
        hidden
    }

    /// Returns the pixels of quads that hide a sloped primitive of which the group as a whole may
    /// not hide all.
    #[inline]
    pub(super) fn hidden_quads(&self, part: &Part<'_>, covered: u64, range: DepthRange) -> u64 {
        let number = group_number(part.group);
        match (self.context.visibility.tests, self.bounds.as_deref()) {
            (Some(direction), Some(bounds))
                if bounds.may_hide_quads(direction, number, range)
                    && self.benefits_from_quads(part.primitive.shape) =>
            {
                self.query_quads((direction, bounds), part, GroupCoverage { group: number, pixels: covered })
            }
            _ => 0,
        }
    }

    /// Returns true if a test of quads pays.
    ///
    /// The depth test works on two rows at a time. They are seldom fully hidden if depth changes
    /// more in x than in y. Programs that run before the test save work with each hidden quad.
    fn benefits_from_quads(&self, shape: &Shape) -> bool {
        shape.depth.dy.abs() >= shape.depth.dx.abs() || !self.context.tests_early()
    }

    #[inline(never)]
    fn query_quads(
        &self,
        (direction, bounds): (DepthDirection, &Bounds),
        part: &Part<'_>,
        covered: GroupCoverage,
    ) -> u64 {
        let (shape, format) = (part.primitive.shape, self.context.depth_format());
        let hidden = bounds.hidden_quads(direction, covered, shape, part.group, format);
        if let Some(counters) = self.counters {
            let [blocks, quads] = blocks_and_quads(hidden, covered.pixels);
            counters.count(Counter::HizQuadQueries, 1);
            counters.count(Counter::HizBlockKills, blocks.into());
            counters.count(Counter::HizQuadKills, quads.into());
            if blocks + quads > 0 {
                count_hidden(self.counters, group_within(part.group, self.area));
            }
        }
        hidden
    }
}
