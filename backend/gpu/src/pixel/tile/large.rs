//! Large primitives of a tile: coverage, tests and forwarding of fragments, group by group.

use vitric_base::counters::{Counter, count};

use super::{GroupWindow, Sink, Tile, filling};
use crate::geometry::Primitives;
use crate::hiz::{DepthRange, group_number, groups_of};
use crate::pixel::coverage::{GroupMasks, Part, RasterPrimitive, count_groups, covers_tile};
use crate::pixel::group_tests::GroupTests;
use crate::pixel::quad::{MAX_SAMPLES, Quad};
use crate::pixel::scoreboard::Fragments;
use crate::pixel::{PrimitiveId, any_of};
use crate::raster::{
    Coverage, GROUP_LOG2, SIDE, TILE_LOG2, Triangle, UNITS, has_all_samples, pixel_of_bit, pixels_inside, sample_mask,
};

impl<'a: 's, 's> Tile<'a, 's> {
    /// Draws the part of a primitive in a window of the tile, group by group.
    pub(super) fn large(&mut self, primitives: &Primitives, id: PrimitiveId, index: u32, window: [i64; 4]) {
        let (parts, shape) = (self.polygon(primitives, index), &primitives.shape(index));
        let (triangle, rest) = match parts {
            [first, rest @ ..] => (first, rest),
            [] => (&primitives.triangle(index), &[][..]),
        };
        let tests = self.context.visibility.tests.filter(|_| self.bounds.is_some());
        let small = window[2] - window[0] <= 1 << GROUP_LOG2 && window[3] - window[1] <= 1 << GROUP_LOG2;
        if let (false, Some(direction)) = (small, tests)
            && self.is_hidden_in_tile(direction, shape, window)
        {
            // Each group would have been tested next.
            self.tests[1] += groups_of(window).count() as u32;
            return;
        }
        let primitive = RasterPrimitive { id, triangle, rest, shape };
        let (is_triangle, outer) = (rest.is_empty(), self.context.outer_criterion());
        let inner = self.context.inner_criterion();
        let is_hierarchical = !small && self.context.coverage == Coverage::Hierarchical;
        let covers = |pixel| covers_tile(triangle, pixel, inner, self.counters);
        let visible = self.view.bins[(id >> 16) as usize].visible_groups(index);
        let whole = is_hierarchical && is_triangle && window == self.area && covers([window[0], window[1]]);
        let whole = whole && visible == u64::MAX;
        if whole && tests.is_none() && self.whole(id, window) {
            return;
        }
        let GroupMasks { mut touched, covered } = match is_hierarchical && !whole {
            true => GroupMasks::new(triangle, window, (outer, Some(inner).filter(|_| is_triangle)), self.counters),
            false => GroupMasks { touched: GroupMasks::of_window(window), covered: if whole { u64::MAX } else { 0 } },
        };
        let corner = [window[0], window[1]].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        while touched != 0 {
            let number = touched.trailing_zeros();
            touched &= touched - 1;
            let [x, y] = pixel_of_bit(number).map(|groups| i64::from(groups) << GROUP_LOG2);
            let (group, full) = ([corner[0] + x, corner[1] + y], covered >> number & 1 != 0);
            if visible >> group_number(group) & 1 == 0 {
                continue;
            }
            let at = GroupWindow { group, window, full };
            let range = match tests.map(|direction| self.query(direction, shape, at)) {
                Some(None) => continue,
                range => range.flatten(),
            };
            self.group(primitive, at, range);
        }
    }

    /// Shades all groups of a tile that a primitive covers. Returns false if tests or partial
    /// coverage prevent that.
    fn whole(&mut self, id: PrimitiveId, window @ [x0, y0, x1, y1]: [i64; 4]) -> bool {
        let (context, side) = (self.context, SIDE as i64);
        let is_tested = context.tests.is_some() && !self.is_filling(id);
        let is_plain = !is_tested && !context.masks_late() && context.rates.is_none();
        let is_aligned = window.iter().all(|pixel| pixel % side == 0);
        if !is_plain || !has_all_samples(&context.multisample) || !is_aligned {
            return false;
        }
        let [first, last] = [[x0, y0], [x1 - side, y1 - side]].map(|place| place.map(|pixel| pixel as u32));
        match &mut self.sink {
            _ if !context.shades() => {}
            Sink::Waves(waves) => {
                if !waves.shade_groups(id, first, last) {
                    return false;
                }
            }
            Sink::Board => {
                self.board.supersede_all(self.view);
                for place in groups_of(window).map(|group| group.map(|pixel| pixel as u32)) {
                    self.ok &= self.board.make_room(self.view);
                    for sample in 0..context.multisample.samples {
                        self.board.push(Fragments { primitive: id, place, sample, pixels: u64::MAX });
                    }
                }
            }
        }
        let (pixels, samples) = (((x1 - x0) * (y1 - y0)) as u32, context.multisample.samples);
        if context.shades() {
            let each = if context.shades_samples() { samples } else { 1 };
            count(self.counters, Counter::Fragments, (pixels * each).into());
        }
        if let Some(counters) = self.counters {
            (0..samples).for_each(|_| count_groups(counters, [first, last]));
        }
        self.pass(true, pixels * samples);
        true
    }

    /// Returns true if a primitive overwrites all of the tile and its depths are already written.
    fn is_filling(&self, id: PrimitiveId) -> bool {
        self.has_filling && id == filling::ID
    }

    /// Returns the triangles of a primitive that is a polygon, else an empty slice.
    fn polygon<'p>(&self, primitives: &'p Primitives, index: u32) -> &'p [Triangle] {
        if self.context.criterion.is_some() { primitives.polygon(index) } else { &[] }
    }

    /// Tests and forwards one group of pixels, sample by sample, with all 64 pixels at once.
    fn group(&mut self, primitive: RasterPrimitive<'_>, at: GroupWindow, range: Option<DepthRange>) {
        let (context, id, GroupWindow { group, window, full }) = (self.context, primitive.id, at);
        let (samples, late) = (context.multisample.samples, context.masks_late());
        let allowed = if late { u32::MAX } else { sample_mask(&context.multisample) };
        let place = group.map(|pixel| pixel as u32);
        let is_filling = self.is_filling(id);
        let tests = if is_filling { None } else { GroupTests::of(context, place) };
        let inside = pixels_inside(group[0], group[1], window);
        let part = Part { primitive, group, inside, full, tests };
        let tested = is_filling || tests.is_some() || !context.tests_early() || context.tests.is_none();
        // The coverage that a coarse fragment sees must not depend on Hi-Z.
        let quad_range = range.filter(|_| context.rates.is_none());
        // A primitive that covers the whole group has already updated the bounds.
        let range = range.filter(|_| !full || part.inside != u64::MAX);
        if samples == 1 {
            let at = [UNITS / 2; 2];
            let pixels = if allowed != 0 { part.coverage(context.criterion, at, self.counters) } else { 0 };
            if range.is_some_and(|range| self.is_hidden_in_pixels(group, (pixels, pixels), range)) {
                return;
            }
            let pixels = pixels & !quad_range.map_or(0, |range| self.hidden_quads(&part, pixels, range));
            let pixels = part.tested(0, at, pixels);
            return self.pixels(Fragments { primitive: id, place, sample: 0, pixels }, tested);
        }
        let places = || (0..samples).zip(&*context.locations).filter(|(sample, _)| allowed >> sample & 1 != 0);
        let mut masks = [0; MAX_SAMPLES];
        for (sample, &at) in places() {
            masks[sample as usize] = part.coverage(context.criterion, at, self.counters);
        }
        let masks = &mut masks[..samples as usize];
        let any = any_of(masks);
        let all = masks.iter().fold(u64::MAX, |all, mask| all & mask);
        if range.is_some_and(|range| self.is_hidden_in_pixels(group, (any, all), range)) {
            return;
        }
        let hidden = quad_range.map_or(0, |range| self.hidden_quads(&part, any, range));
        for (sample, &at) in places() {
            masks[sample as usize] = part.tested(sample, at, masks[sample as usize] & !hidden);
        }
        if context.rates.is_some() {
            return self.cells((id, place), masks, tested);
        }
        self.pass(tested, masks.iter().map(|mask| mask.count_ones()).sum());
        if let (true, Sink::Board) = (tested, &self.sink) {
            if context.shades() {
                count(self.counters, Counter::Fragments, context.fragments_of(masks).into());
            }
            return self.queue_samples((id, place), masks);
        }
        let mut rest = any_of(masks);
        if tested && self.shades_at_once((id, place), masks) {
            return count(self.counters, Counter::Fragments, self.context.fragments_of(masks).into());
        }
        while rest != 0 {
            let first = rest.trailing_zeros() & !3;
            let [dx, dy] = pixel_of_bit(first);
            let samples = masks.iter().map(|mask| mask >> first & 15);
            self.covered_quad(Quad::of_samples(id, [place[0] + dx, place[1] + dy], samples), tested);
            rest &= !(15 << first);
        }
    }

    /// Shades the samples of a group at once. Returns false if that is not possible.
    fn shades_at_once(&mut self, at: (PrimitiveId, [u32; 2]), masks: &[u64]) -> bool {
        let Sink::Waves(waves) = &mut self.sink else { return false };
        let shades = any_of(masks) != 0 && self.context.shades() && waves.can_shade_group(at.1, masks);
        if shades {
            waves.shade(at, masks);
        }
        shades
    }
}
