//! Viewports and scissors: the pixels that a draw may touch, and the guard band of its primitives.
//!
//! Most draws have one viewport and one scissor. If vertices select a viewport, set-up needs all
//! of them. Source: Vulkan specification, "Controlling the Viewport", "Scissor Test".

use ash::vk;

use super::processor::{Dynamic, State};
use crate::geometry::GUARD_BAND;
use crate::pipeline::CompiledPipeline;
use crate::state::DynamicState;
use crate::state::{MAX_VIEWPORTS, Viewport};

/// A viewport and its scissor.
pub(super) type View = (vk::Viewport, vk::Rect2D);

/// Viewports and scissors that commands set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Views([View; MAX_VIEWPORTS]);

impl Views {
    /// Sets viewports from number `first` on. Numbers beyond the last viewport are ignored.
    pub(super) fn set_viewports(&mut self, first: u32, viewports: &[vk::Viewport]) {
        let slots = self.0.iter_mut().skip(first as usize);
        slots.zip(viewports).for_each(|((viewport, _), new)| *viewport = *new);
    }

    /// Sets scissors from number `first` on. Numbers beyond the last scissor are ignored.
    pub(super) fn set_scissors(&mut self, first: u32, scissors: &[vk::Rect2D]) {
        let slots = self.0.iter_mut().skip(first as usize);
        slots.zip(scissors).for_each(|((_, scissor), new)| *scissor = *new);
    }

    /// Returns viewport and scissor 0.
    pub(super) fn first(&self) -> View {
        self.0[0]
    }
}

/// Returns viewport and scissor `number` of a draw; the dynamic ones are those that commands set.
fn view(pipeline: &CompiledPipeline, number: usize, (viewport, scissor): View) -> View {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let Viewport(fixed) = pipeline.viewports.get(number).copied().unwrap_or_default();
    let viewport = if dynamic(DynamicState::VIEWPORT) { viewport } else { fixed };
    let fixed = pipeline.scissors.get(number).copied().unwrap_or_default();
    (viewport, if dynamic(DynamicState::SCISSOR) { scissor } else { fixed })
}

/// Returns the viewports that a draw's vertices may select, or the only one.
pub(super) fn views(state: &State, pipeline: &CompiledPipeline) -> Vec<View> {
    let count = if pipeline.last().routes() { pipeline.viewports.len().clamp(1, MAX_VIEWPORTS) } else { 1 };
    (0..count).map(|number| view(pipeline, number, state.views.0[number])).collect()
}

/// Returns the maximum of x and y as a multiple of the view volume's extent.
///
/// Polygons and lines may exceed the view volume if all viewport edges are pixel edges: pixels
/// outside the viewport are then discarded.
pub(super) fn guard_band(pipeline: &CompiledPipeline, views: &[View]) -> f32 {
    let is_whole = |&(vk::Viewport { x, y, width, height, .. }, _): &View| {
        [x, y, width, height].iter().all(|edge| edge.fract() == 0.0)
    };
    if (pipeline.fills_polygons() || pipeline.draws_lines()) && views.iter().all(is_whole) { GUARD_BAND } else { 1.0 }
}

/// Converts a rectangle to `[x0, y0, x1, y1]` and clips its start to be non-negative.
pub(super) fn rect(rect: vk::Rect2D) -> [i64; 4] {
    let (x, y) = (i64::from(rect.offset.x), i64::from(rect.offset.y));
    [x.max(0), y.max(0), x + i64::from(rect.extent.width), y + i64::from(rect.extent.height)]
}

/// Returns the pixels that may be touched: those in the scissor, and also in the viewport if the
/// guard band exceeds the view volume.
pub(super) fn touchable(&(viewport, scissor): &View, band: f32) -> [i64; 4] {
    let scissor = rect(scissor);
    if band == 1.0 {
        return scissor;
    }
    let vk::Viewport { x, y, width, height, .. } = viewport;
    let ends = |start: f32, size: f32| [start.min(start + size) as i64, start.max(start + size) as i64];
    let ([left, right], [top, bottom]) = (ends(x, width), ends(y, height));
    [scissor[0].max(left), scissor[1].max(top), scissor[2].min(right), scissor[3].min(bottom)]
}

/// Returns the pixels that fragments of a draw may touch. If vertices select the viewport, set-up
/// applies the scissors instead.
pub(super) fn touched(state: &Dynamic, pipeline: &CompiledPipeline) -> [i64; 4] {
    if pipeline.last().routes() {
        return [0, 0, i64::from(i32::MAX), i64::from(i32::MAX)];
    }
    let view = view(pipeline, 0, (state.viewport, state.scissor));
    touchable(&view, guard_band(pipeline, &[view]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_set_by_number() {
        let (mut views, viewport) = (Views::default(), |x: f32| vk::Viewport { x, ..Default::default() });
        views.set_viewports(14, &[1.0, 2.0, 3.0].map(viewport));
        views.set_viewports(u32::MAX, &[viewport(5.0)]);
        let at = |views: &Views, number: usize| views.0[number].0.x;
        assert_eq!([0, 13, 14, 15].map(|number| at(&views, number)), [0.0, 0.0, 1.0, 2.0]);
        views.set_scissors(0, &[vk::Rect2D { extent: vk::Extent2D { width: 7, height: 9 }, ..Default::default() }]);
        assert_eq!(rect(views.first().1), [0, 0, 7, 9]);
        let view = (vk::Viewport { x: 2.0, y: 8.0, width: 3.0, height: -4.0, ..Default::default() }, views.first().1);
        assert_eq!((touchable(&view, GUARD_BAND), touchable(&view, 1.0)), ([2, 4, 5, 8], [0, 0, 7, 9]));
    }
}
