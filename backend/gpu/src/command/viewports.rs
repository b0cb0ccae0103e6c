//! Viewports and scissors: the pixels that a draw may change, and the guard band of its primitives.
//!
//! Most draws have one viewport and one scissor. If vertices select a viewport, set-up needs all
//! of them. Source: Vulkan specification, "Controlling the Viewport", "Scissor Test".

use ash::vk;

use crate::geometry::GUARD_BAND;
use crate::pipeline::CompiledPipeline;
use crate::state::DynamicState;
use crate::state::{MAX_VIEWPORTS, Viewport};

/// A viewport and its scissor.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ViewportScissor {
    pub(super) viewport: vk::Viewport,
    pub(super) scissor: vk::Rect2D,
}

/// Viewports and scissors that commands set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Viewports([ViewportScissor; MAX_VIEWPORTS]);

impl Viewports {
    /// Sets viewports from number `first` on. Numbers beyond the last viewport are ignored.
    pub(super) fn set_viewports(&mut self, first: u32, viewports: &[vk::Viewport]) {
        let slots = self.0.iter_mut().skip(first as usize);
        slots.zip(viewports).for_each(|(slot, new)| slot.viewport = *new);
    }

    /// Sets scissors from number `first` on. Numbers beyond the last scissor are ignored.
    pub(super) fn set_scissors(&mut self, first: u32, scissors: &[vk::Rect2D]) {
        let slots = self.0.iter_mut().skip(first as usize);
        slots.zip(scissors).for_each(|(slot, new)| slot.scissor = *new);
    }

    /// Returns viewport 0 and scissor 0.
    pub(super) fn first(&self) -> ViewportScissor {
        self.0[0]
    }

    /// Returns the viewports that a draw's vertices may select, or the only one.
    pub(super) fn of_draw(&self, pipeline: &CompiledPipeline) -> Vec<ViewportScissor> {
        let count = if pipeline.last().routes() { pipeline.viewports.len().clamp(1, MAX_VIEWPORTS) } else { 1 };
        (0..count).map(|number| effective(pipeline, number, self.0[number])).collect()
    }
}

/// Returns viewport and scissor `number` of a draw. `set` has the values that commands set, which
/// apply where they are dynamic.
fn effective(pipeline: &CompiledPipeline, number: usize, set: ViewportScissor) -> ViewportScissor {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let Viewport(viewport) = pipeline.viewports.get(number).copied().unwrap_or_default();
    let scissor = pipeline.scissors.get(number).copied().unwrap_or_default();
    ViewportScissor {
        viewport: if dynamic(DynamicState::VIEWPORT) { set.viewport } else { viewport },
        scissor: if dynamic(DynamicState::SCISSOR) { set.scissor } else { scissor },
    }
}

/// Returns the maximum of x and y as a multiple of the view volume's extent.
///
/// Polygons and lines may exceed the view volume if all viewport edges are pixel edges: pixels
/// outside the viewport are then discarded.
pub(super) fn guard_band(pipeline: &CompiledPipeline, viewports: &[ViewportScissor]) -> f32 {
    let is_whole = |slot: &ViewportScissor| {
        let vk::Viewport { x, y, width, height, .. } = slot.viewport;
        [x, y, width, height].iter().all(|edge| edge.fract() == 0.0)
    };
    let may_exceed = pipeline.fills_polygons() || pipeline.draws_lines();
    if may_exceed && viewports.iter().all(is_whole) { GUARD_BAND } else { 1.0 }
}

/// Converts a rectangle to `[x0, y0, x1, y1]` and clips its start to be non-negative.
pub(super) fn pixel_area(rect: vk::Rect2D) -> [i64; 4] {
    let (x, y) = (i64::from(rect.offset.x), i64::from(rect.offset.y));
    [x.max(0), y.max(0), x + i64::from(rect.extent.width), y + i64::from(rect.extent.height)]
}

/// Returns the pixels that primitives may cover: those in the scissor, and also in the viewport if
/// the guard band exceeds the view volume.
pub(super) fn clip_area(&ViewportScissor { viewport, scissor }: &ViewportScissor, band: f32) -> [i64; 4] {
    let scissor = pixel_area(scissor);
    if band == 1.0 {
        return scissor;
    }
    let vk::Viewport { x, y, width, height, .. } = viewport;
    let ends = |start: f32, size: f32| [start.min(start + size) as i64, start.max(start + size) as i64];
    let ([left, right], [top, bottom]) = (ends(x, width), ends(y, height));
    [scissor[0].max(left), scissor[1].max(top), scissor[2].min(right), scissor[3].min(bottom)]
}

/// Returns the pixels that fragments of a draw may change. If vertices select the viewport, set-up
/// applies the scissors instead. `set` has viewport 0 and scissor 0 that commands set.
pub(super) fn fragment_area(set: ViewportScissor, pipeline: &CompiledPipeline) -> [i64; 4] {
    if pipeline.last().routes() {
        return [0, 0, i64::from(i32::MAX), i64::from(i32::MAX)];
    }
    let first = effective(pipeline, 0, set);
    clip_area(&first, guard_band(pipeline, &[first]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewports_are_set_by_number() {
        let (mut set, viewport) = (Viewports::default(), |x: f32| vk::Viewport { x, ..Default::default() });
        set.set_viewports(14, &[1.0, 2.0, 3.0].map(viewport));
        set.set_viewports(u32::MAX, &[viewport(5.0)]);
        let at = |set: &Viewports, number: usize| set.0[number].viewport.x;
        assert_eq!([0, 13, 14, 15].map(|number| at(&set, number)), [0.0, 0.0, 1.0, 2.0]);
        set.set_scissors(0, &[vk::Rect2D { extent: vk::Extent2D { width: 7, height: 9 }, ..Default::default() }]);
        assert_eq!(pixel_area(set.first().scissor), [0, 0, 7, 9]);
        let viewport = vk::Viewport { x: 2.0, y: 8.0, width: 3.0, height: -4.0, ..Default::default() };
        let first = ViewportScissor { viewport, scissor: set.first().scissor };
        assert_eq!((clip_area(&first, GUARD_BAND), clip_area(&first, 1.0)), ([2, 4, 5, 8], [0, 0, 7, 9]));
    }
}
