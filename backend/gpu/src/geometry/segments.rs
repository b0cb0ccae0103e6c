//! Setup of lines: clipping, and the areas that lines cover in each line mode.
//!
//! Attributes come from the rectangle around the clipped line. The covered pixels are determined
//! by the unclipped line if its ends are known, and clipping only removes pixels. Lines wider than
//! one pixel are clipped before they are widened.
//!
//! Source: Vulkan specification, "Line Segments", "Primitive Clipping".

use std::ops::Div;

use super::clip::{self, Volume};
use super::kernel::outside;
use super::lines::{Cover, Diamonds, GridPoint, LINE_WIDTHS, Rectangle, runs, wrapped};
use super::plan::Facing;
use super::plan::PrimitiveContext;
use super::setup::{Extras, Origin, PrimitiveTag, SetUp, WindowVertex};
use super::{Shaded, Vertex};
use crate::raster::snap;
use crate::state::LineMode;

/// `outside` bits of vertices whose window coordinates are not known.
const UNKNOWN: u32 = 1 << outside::PLANE | 1 << outside::NAN;

/// Maximum distance from the origin at which window coordinates are known, pixels. Clipping leaves
/// nothing beyond.
const MAX_KNOWN: f32 = (1 << 17) as f32;

/// Maximum width and height of an attachment, pixels.
const MAX_ATTACHMENT_SIDE: f32 = (1 << 15) as f32;

/// A line in the window.
struct WindowLine<'v> {
    /// The line after clipping.
    left: Option<[WindowVertex<'v>; 2]>,
    /// Ends of the line before clipping, if they are known.
    known: Option<[WindowVertex<'v>; 2]>,
    /// True for each end that clipping removed.
    cuts: [bool; 2],
}

/// Result of clipping a line.
enum Clipped {
    Nothing,
    All,
    Part(Box<[Vertex; 2]>),
}

impl WindowVertex<'_> {
    fn place(&self) -> GridPoint {
        [self.x, self.y].map(|pixels| i64::from(snap(pixels)))
    }

    fn is_near(&self) -> bool {
        self.x.abs() <= MAX_KNOWN && self.y.abs() <= MAX_KNOWN
    }
}

impl SetUp<'_> {
    /// Draws the edges of a triangle as lines, without those that clipping makes. The stipple
    /// continues from one edge to the next.
    pub(super) fn edges(&mut self, shaded: &Shaded<'_>, corners: [u32; 3], tag: PrimitiveTag<'_>) {
        self.counter = 0.0;
        for edge in 0..3 {
            self.line(shaded, [corners[edge], corners[(edge + 1) % 3]], tag);
        }
    }

    /// Draws a separate line, or the next line of a strip.
    #[inline(never)]
    pub(super) fn line_primitive(&mut self, shaded: &Shaded<'_>, ends: [u32; 2], id: u32) {
        if self.strips.is_none_or(|starts| starts.binary_search(&id).is_ok()) {
            self.counter = 0.0;
        }
        let origin = Origin::new(self.context, shaded, ends);
        self.line(shaded, ends, PrimitiveTag { origin, id, facing: Facing::Front });
    }

    fn line(&mut self, shaded: &Shaded<'_>, ends: [u32; 2], tag: PrimitiveTag<'_>) {
        let whole = ends.map(|vertex| self.context.in_window(shaded, vertex));
        let outside = ends.map(|vertex| shaded.outside(vertex));
        // Distant positions have too little precision, and positions behind the eye are undefined.
        let is_known = |end: usize| outside[end] & UNKNOWN == 0 && whole[end].is_near();
        let known = (is_known(0) && is_known(1)).then_some(whole);
        let clipped = self.context.clipped(shaded, ends, outside);
        let left = match &clipped {
            Clipped::Nothing => None,
            Clipped::All => Some(whole),
            Clipped::Part(left) => Some(left.each_ref().map(|vertex| self.context.to_window(vertex))),
        };
        let cuts = outside.map(|bits| bits & outside::CLIPPED != 0);
        if self.context.raster.line_mode == LineMode::Bresenham {
            self.diamonds(&WindowLine { left, known, cuts }, tag);
        } else {
            self.rectangle(&WindowLine { left, known, cuts }, tag);
        }
    }

    /// Advances the stipple counter by `taken`. Returns the value before.
    fn count(&mut self, taken: f64) -> f64 {
        let before = self.counter;
        if let Some(stipple) = self.context.raster.line_stipple {
            self.counter = wrapped(stipple, before + taken);
        }
        before
    }

    /// Draws a Bresenham line. The ends before clipping determine its pixels.
    fn diamonds(&mut self, segment: &WindowLine<'_>, tag: PrimitiveTag<'_>) {
        let width = self.context.line_width().round_ties_even();
        // Lines farther away come from viewports that cannot exist.
        let ends = segment.known.or(segment.left).filter(|ends| ends.iter().all(WindowVertex::is_near));
        let Some(ends) = ends else { return };
        let Some(line) = Diamonds::new(ends.map(|end| end.place()), width as i64) else { return };
        let counter = self.count(line.count as f64);
        let Some([a, b]) = segment.left else { return };
        let cut = |end: usize| (segment.known.is_some() && segment.cuts[end]).then(|| [a, b][end].place()[line.major]);
        let (cut, seen) = (line.between([cut(0), cut(1)]), line.within(self.context.columns(line.major)));
        let (first, end) = (cut.start.max(seen.start), cut.end.min(seen.end));
        let corners = self.context.around([&a, &b], self.offset);
        let reach = [first, end].map(|number| counter + number.max(0) as f64);
        for [from, to] in runs(self.context.raster.line_stipple, reach) {
            let run = (from - counter) as i64..(to - counter) as i64;
            line.covers(run).into_iter().for_each(|cover| self.covered((&corners, None), tag, cover));
        }
    }

    /// Draws a line as a rectangle of the line's width. Attributes change along the line only.
    fn rectangle(&mut self, segment: &WindowLine<'_>, tag: PrimitiveTag<'_>) {
        let (raster, width) = (&self.context.raster, self.context.line_width());
        let (stipple, is_smooth) = (raster.line_stipple, self.context.smooth);
        let length = |ends: [WindowVertex<'_>; 2]| Rectangle::new(ends.map(|end| [end.x, end.y]), width).length;
        let (whole, left) = (segment.known.map(length), segment.left.map(length));
        let counter = self.count(whole.or(left).unwrap_or(0.0));
        let (Some([a, b]), Some(length)) = (segment.left, left) else { return };
        if length <= 0.0 || !length.is_finite() {
            return;
        }
        let corners = self.context.around([&a, &b], self.offset);
        if !is_smooth && stipple.is_none() {
            let [first, second, third, last] = &corners;
            self.filled([first, second, third], tag, &Extras::default());
            self.filled([first, third, last], tag, &Extras::default());
            return;
        }
        if !(a.is_near() && b.is_near()) {
            return;
        }
        let rectangle = Rectangle::new([a, b].map(|end| [end.x, end.y]), width);
        // The stipple also counts the part that clipping removed from the beginning.
        let skipped =
            segment.known.map_or(0.0, |[start, _]| Rectangle::new([[start.x, start.y], [a.x, a.y]], width).length);
        let Some(seen) = rectangle.within(self.context.area()) else { return };
        for run in runs(stipple, seen.map(|distance| counter + skipped + distance)) {
            let run = run.map(|distance| distance - counter - skipped);
            let sides = is_smooth.then(|| rectangle.sides(run));
            let covers = if is_smooth { rectangle.touches(run) } else { rectangle.covers(run, 0.0) };
            covers.into_iter().for_each(|cover| self.covered((&corners, sides.as_ref()), tag, cover));
        }
    }

    /// Adds a covered area with the attributes of a rectangle.
    fn covered(
        &mut self,
        (corners, sides): (&[WindowVertex<'_>; 4], Option<&[[f32; 4]; 4]>),
        tag: PrimitiveTag<'_>,
        cover: Cover,
    ) {
        let sides = sides.map(|[a, b, c, _]| [a, b, c]);
        let extras = Extras { cover: Some(cover), sides, ..Extras::default() };
        self.filled([&corners[0], &corners[1], &corners[2]], tag, &extras);
    }
}

impl PrimitiveContext {
    fn clipped(&self, shaded: &Shaded<'_>, ends: [u32; 2], outside: [u32; 2]) -> Clipped {
        let (any, all) = (outside[0] | outside[1], outside[0] & outside[1]);
        if any >> outside::NAN & 1 != 0 || all & outside::REJECTED != 0 {
            return Clipped::Nothing;
        }
        let is_in_view = |vertex: u32| {
            let [x, y, _, w] = shaded.position(vertex);
            x.abs() <= w && y.abs() <= w
        };
        let is_left = any & outside::CLIPPED == 0;
        if is_left && (self.band == 1.0 || ends.into_iter().all(is_in_view)) {
            return Clipped::All;
        }
        let volume = |band: f32| Volume { band, ..self.volume() };
        let left = |band: f32| {
            let [a, b] = self.unclipped(shaded, ends);
            clip::line(a, b, &volume(band))
        };
        // A wide line outside of the view volume may reach into it, but must not be visible.
        if self.band != 1.0 && left(1.0).is_none() {
            return Clipped::Nothing;
        }
        if is_left {
            Clipped::All
        } else {
            let restored = |mut left: [Vertex; 2]| {
                self.scale_linear(&mut left, Div::div);
                Clipped::Part(Box::new(left))
            };
            left(self.band).map_or(Clipped::Nothing, restored)
        }
    }

    /// Returns the line width, clamped to the supported range.
    fn line_width(&self) -> f32 {
        let [least, most] = LINE_WIDTHS;
        // NaN gives the minimum.
        self.raster.line_width.max(least).min(most)
    }

    /// Returns the corners of the rectangle around a line, with `offset` added to their depth.
    fn around<'v>(&self, [a, b]: [&WindowVertex<'v>; 2], offset: f32) -> [WindowVertex<'v>; 4] {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let half = 0.5 * self.line_width() / (dx * dx + dy * dy).sqrt();
        let (nx, ny) = (-dy * half, dx * half);
        [(a, 1.0), (b, 1.0), (b, -1.0), (a, -1.0)].map(|(base, sign): (&WindowVertex<'_>, f32)| WindowVertex {
            x: base.x + nx * sign,
            y: base.y + ny * sign,
            z: base.z + offset,
            ..*base
        })
    }

    /// Returns the visible area of the viewport, `[x0, y0, x1, y1]`, pixels.
    fn area(&self) -> [f64; 4] {
        let view = &self.viewport;
        let seen = |pixels: f32| f64::from(pixels.clamp(0.0, MAX_ATTACHMENT_SIDE));
        let ends = |start: f32, size: f32| [start.min(start + size), start.max(start + size)].map(seen);
        let ([left, right], [top, bottom]) = (ends(view.x, view.width), ends(view.y, view.height));
        [left, top, right, bottom]
    }

    /// Returns the pixels along an axis that the viewport touches, and one more at each end.
    fn columns(&self, axis: usize) -> [i64; 2] {
        let area = self.area();
        [area[axis].floor() as i64 - 1, area[axis + 2].ceil() as i64 + 1]
    }
}
