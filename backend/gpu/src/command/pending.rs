//! Draws that are queued for the tile pass.
//!
//! Windows of primitives collect over the draws of a pass, until a command must see their results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::bindings::Bindings;

use super::draw::pixel_context;
use super::pass::LoadClear;
use super::processor::{Dynamic, PUSH_BYTES, Processor};
use super::viewports::touched;
use crate::geometry::Triangles;
use crate::gpu::{DeviceLost, Stage};
use crate::hiz::UpdateRules;
use crate::hiz::{Bounds, DepthDirection, DepthFormat, EarlyBounds, Hierarchy, Visibility};
use crate::pipeline::CompiledPipeline;
use crate::pixel::{self, Beside, TileClears, TilePass};
use crate::pixel::{DrawContext, PixelContext};
use crate::raster::Grid;
use crate::tiling::{self, Clip, EarlyHizTest, Run, Runs, TileParts, Window};

/// Maximum number of queued primitives before a tile pass runs. Their data should stay in the
/// caches.
pub(super) const MAX_PENDING: usize = 1 << 15;

/// Minimum number of primitives of a window that is tested against early Hi-Z bounds. A tested
/// window also has at least as many primitives as there are tiles.
const MIN_TESTED: usize = 256;

/// Maximum number of draw states before a tile pass runs.
const MAX_DRAWS: usize = 1 << 14;

/// Number of recent pixel unit states that are searched for the state of a draw.
const MAX_RECENT: usize = 16;

/// State of the pixel units for draws, without resources and push constants. A pass has few of
/// them.
pub(super) struct PixelState {
    pub(super) pipeline: Arc<CompiledPipeline>,
    pub(super) dynamic: Dynamic,
    /// The layer of the attachments.
    pub(super) layer: u32,
    /// Use of the visibility structures, if there are any.
    visibility: Visibility,
    /// Number of commands that have draws with this state, and the number of the last one.
    commands: u32,
    last_command: u32,
}

/// State that a draw's fragments depend on, borrowed from the command processor.
pub(super) struct FragmentState<'a> {
    pub(super) pipeline: &'a Arc<CompiledPipeline>,
    pub(super) dynamic: &'a Dynamic,
    pub(super) visibility: Visibility,
    /// Resources of the fragment program.
    pub(super) bindings: Option<&'a Arc<Bindings>>,
    pub(super) push: &'a [u8; PUSH_BYTES],
}

/// Queued [`FragmentState`]. Consecutive draws with equal state share one.
struct DrawState {
    /// Index of the pixel unit state.
    pixel: usize,
    bindings: Option<Arc<Bindings>>,
    /// Index of the push constants, if the fragment program reads any.
    push: Option<usize>,
}

impl PixelState {
    /// Returns the state of draws to the first layer. The use of visibility structures is left at
    /// its default.
    pub(super) fn of(dynamic: &Dynamic, pipeline: &Arc<CompiledPipeline>) -> Self {
        let (visibility, commands, last_command) = Default::default();
        Self { pipeline: pipeline.clone(), dynamic: *dynamic, layer: 0, visibility, commands, last_command }
    }

    fn update_rules(&self, depth: &Hierarchy, depth_bits: u32) -> UpdateRules {
        UpdateRules {
            visibility: self.visibility,
            scissor: touched(&self.dynamic, &self.pipeline),
            format: DepthFormat { bits: depth_bits, samples: self.pipeline.multisample.samples },
            extent: depth.extent(),
        }
    }

    /// Records that a command has draws with this state.
    fn draw_by(&mut self, command: u32) {
        if std::mem::replace(&mut self.last_command, command) != command {
            self.commands = self.commands.saturating_add(1);
        }
    }

    fn serves(&self, drawn: &FragmentState<'_>, layer: u32) -> bool {
        Arc::ptr_eq(&self.pipeline, drawn.pipeline)
            && self.layer == layer
            && self.dynamic.is_same_for_fragments(drawn.dynamic)
    }
}

/// Clears on load, which are deferred until the tile pass.
struct Clears {
    attachments: Vec<LoadClear>,
    /// For each tile, true if it was cleared.
    done: Vec<AtomicBool>,
}

/// Queued windows, and the states of their draws.
#[derive(Default)]
pub(super) struct Pending {
    grid: Grid,
    draws: Vec<DrawState>,
    pixels: Vec<PixelState>,
    /// Number of the command, or the deferred draw, that currently adds primitives.
    command: u32,
    /// Push constants of draws.
    pushed: Vec<[u8; PUSH_BYTES]>,
    windows: Vec<Window>,
    /// The window that is being filled, if there is one.
    open: Vec<Triangles>,
    /// The draws of the triangles in the open window.
    runs: Runs,
    /// Size of the closed windows, in primitives.
    closed: usize,
    /// Visibility structures of the depth attachment's layers, from the first layer of the render
    /// area on.
    depths: Vec<Arc<Hierarchy>>,
    /// Bits of depth.
    depth_bits: u32,
    /// Depth bounds that include the effect of queued draws.
    lookahead: Known,
    clears: Option<Clears>,
    /// For each tile, true if a tile pass has processed it. Empty unless the GPU counts.
    visited: Vec<AtomicBool>,
}

/// Depth bounds that include the effect of queued draws.
#[derive(Default)]
struct Known {
    early: EarlyBounds,
    /// True if the bounds started from the result of the last tile pass.
    is_fresh: bool,
    /// Number of draws and windows whose effect is included.
    draws: usize,
    windows: usize,
}

impl Known {
    /// Returns the state after a tile pass or a clear has changed depths.
    fn outdated(self) -> Self {
        Self { early: self.early, ..Self::default() }
    }
}

impl Pending {
    /// Creates an empty queue for a pass with a render area and a number of layers.
    pub(super) fn new(area: [i64; 4], layers: u32) -> Self {
        Self { grid: Grid::new(area, layers), ..Self::default() }
    }

    /// Sets the attachments to clear before tiles are drawn to.
    pub(super) fn begin_clears(&mut self, attachments: Vec<LoadClear>) {
        let done = || (0..self.grid.count()).map(|_| AtomicBool::new(false)).collect();
        self.clears = (!attachments.is_empty()).then(|| Clears { done: done(), attachments });
    }

    /// Sets the aspects that only queued draws need. `lost` returns them for an attachment.
    pub(super) fn lose(&mut self, lost: impl Fn(u32) -> vk::ImageAspectFlags) {
        self.clears.iter_mut().flat_map(|clears| &mut clears.attachments).for_each(|clear| clear.lose(&lost));
    }

    /// Calls `note` for each attachment to clear, if nothing was drawn to any tile and no draw is
    /// queued. Attachments without remaining planes are then removed.
    pub(super) fn note_clears(&mut self, note: impl FnMut(&mut LoadClear)) {
        let is_drawn_to = !self.windows.is_empty() || self.open.iter().any(|open| !open.is_empty());
        let is_cleared = |done: &AtomicBool| done.load(Ordering::Relaxed);
        let fresh = self.clears.take_if(|clears| !is_drawn_to && !clears.done.iter().any(is_cleared));
        let Some(mut clears) = fresh else { return };
        clears.attachments.iter_mut().for_each(note);
        clears.attachments.retain(|clear| clear.planes().next().is_some());
        self.clears = Some(clears).filter(|clears| !clears.attachments.is_empty());
    }

    /// Sets the visibility structures of the depth attachment's layers that are drawn to. The last
    /// layers may have none.
    pub(super) fn begin_depth(&mut self, depths: Vec<Arc<Hierarchy>>, depth_bits: u32) {
        (self.depths, self.depth_bits) = (depths, depth_bits);
        self.forget_ahead();
    }

    /// Marks the early depth bounds as outdated, because depths were changed other than by queued
    /// draws.
    pub(super) fn forget_ahead(&mut self) {
        self.lookahead = std::mem::take(&mut self.lookahead).outdated();
    }

    /// Updates the early depth bounds with all queued draws, before `triangles` are tested against
    /// them.
    ///
    /// Returns false if the bounds are unknown, or if the update is expected to cost more than the
    /// test saves.
    fn follow(&mut self, visibility: &Visibility, triangles: &Triangles) -> bool {
        let (Some(direction), Some(depth)) = (visibility.tests, self.depths.first().cloned()) else { return false };
        if triangles.len() < MIN_TESTED.max(self.grid.count_all()) || !EarlyHizTest::takes_any(triangles) {
            return false;
        }
        depth.heuristic().count_primitives(triangles.len() as u32);
        let pays = depth.heuristic().allows_tests();
        let updated = pays.then(|| self.follow_all(direction)).flatten();
        depth.heuristic().count_tests(updated.unwrap_or(0), 0);
        updated.is_some()
    }

    /// Updates the early depth bounds with all queued draws. Returns the number of triangles that
    /// updated a bound; `None` if the bounds are unknown.
    fn follow_all(&mut self, direction: DepthDirection) -> Option<u32> {
        let mut updated = 0;
        let Known { early, is_fresh, draws, windows } = &mut self.lookahead;
        if !*is_fresh || early.direction() != Some(direction) {
            let bounds = self.grid.places().map(|(layer, pixel)| self.depths.get(layer)?.tile(pixel));
            early.begin(direction, bounds);
            (*is_fresh, *draws, *windows) = (true, 0, 0);
        }
        let recedes =
            |draw: &DrawState| self.pixels[draw.pixel].visibility.writes.is_some_and(|op| direction.may_recede(op));
        if self.draws[*draws..].iter().any(recedes) {
            // The bounds are unknown until these draws have been rendered.
            return None;
        }
        *draws = self.draws.len();
        for window in &self.windows[*windows..] {
            if let Some(depth) = self.depths.get(window.layer() as usize) {
                let update_rules =
                    |draw: usize| self.pixels[self.draws[draw].pixel].update_rules(depth, self.depth_bits);
                updated += tiling::update_hiz(early, window, &self.grid, update_rules);
            }
        }
        *windows = self.windows.len();
        Some(updated)
    }

    /// Copies the depth bounds after all queued draws to `early`, for depths compared in
    /// `direction`.
    pub(super) fn know(&mut self, direction: DepthDirection, early: &mut EarlyBounds) {
        self.close();
        match self.follow_all(direction) {
            Some(_) => early.clone_from(&self.lookahead.early),
            None => early.begin(direction, self.grid.places().map(|_| None::<&Bounds>)),
        }
    }

    /// Returns the number of bits of depth.
    pub(super) fn depth_bits(&self) -> u32 {
        self.depth_bits
    }

    /// Returns the visibility structure of a layer, counted from the first layer of the render
    /// area.
    pub(super) fn depth(&self, layer: usize) -> Option<&Hierarchy> {
        self.depths.get(layer).map(|depth| &**depth)
    }

    /// Returns the tiles of the pass.
    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns true if no work is queued.
    pub(super) fn is_idle(&self) -> bool {
        self.windows.is_empty() && self.open.iter().all(Triangles::is_empty) && self.clears.is_none()
    }

    /// Returns true if a tile pass should run before `primitives` more are queued.
    pub(super) fn is_full(&self, primitives: usize) -> bool {
        let open: usize = self.open.iter().map(Triangles::weight).sum();
        self.closed + open + primitives > MAX_PENDING || self.draws.len() >= MAX_DRAWS
    }

    /// Begins another command, or a draw that was deferred.
    pub(super) fn begin_command(&mut self) {
        self.command = self.command.wrapping_add(1);
    }

    /// Returns the index of a draw's state in a layer.
    pub(super) fn draw(&mut self, drawn: &FragmentState<'_>, layer: u32) -> usize {
        let reads_push = drawn.pipeline.fragment.as_ref().is_some_and(|program| program.code.reads_push());
        if let Some(last) = self.draws.last()
            && self.pixels[last.pixel].serves(drawn, layer)
            && last.bindings.as_ref().map(Arc::as_ptr) == drawn.bindings.map(Arc::as_ptr)
            && (!reads_push || last.push.is_some_and(|push| self.pushed[push] == *drawn.push))
        {
            let pixel = last.pixel;
            self.pixels[pixel].draw_by(self.command);
            return self.draws.len() - 1;
        }
        let draw = DrawState {
            pixel: self.pixel(drawn, layer),
            bindings: drawn.bindings.cloned(),
            push: reads_push.then(|| self.push(drawn.push)),
        };
        self.draws.push(draw);
        self.draws.len() - 1
    }

    /// Returns the index of the pixel unit state.
    fn pixel(&mut self, drawn: &FragmentState<'_>, layer: u32) -> usize {
        let recent = self.pixels.len().saturating_sub(MAX_RECENT);
        if let Some(known) = self.pixels[recent..].iter().position(|state| state.serves(drawn, layer)) {
            self.pixels[recent + known].draw_by(self.command);
            return recent + known;
        }
        let (pipeline, dynamic, visibility) = (drawn.pipeline.clone(), *drawn.dynamic, drawn.visibility);
        pipeline.fragment.iter().for_each(|program| program.inlined.begin_pass());
        let (commands, last_command) = (1, self.command);
        self.pixels.push(PixelState { pipeline, dynamic, layer, visibility, commands, last_command });
        self.pixels.len() - 1
    }

    /// Returns the index of push constants.
    fn push(&mut self, push: &[u8; PUSH_BYTES]) -> usize {
        if self.pushed.last() != Some(push) {
            self.pushed.push(*push);
        }
        self.pushed.len() - 1
    }

    /// Removes and returns the open window, if `primitives` of a draw may be added to it.
    ///
    /// Small draws share windows. Each large draw has its own windows, so that early depth tests
    /// of a window apply to one draw.
    pub(super) fn open(&mut self, draw: usize, primitives: usize) -> Vec<Triangles> {
        let is_large = |count: usize| count >= MIN_TESTED;
        let is_other = self.runs.iter().any(|run| run.draw != draw as u32);
        if is_other && (is_large(primitives) || self.open.iter().any(|open| is_large(open.len()))) {
            self.close();
        }
        std::mem::take(&mut self.open)
    }

    /// Closes the open window.
    pub(super) fn close(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        // Empty triangles are dropped, because their plan may not suit the next draw.
        if let Some(triangles) = self.open.pop().filter(|triangles| !triangles.is_empty()) {
            self.add(triangles, runs);
        }
    }

    /// Appends a window.
    fn add(&mut self, triangles: Triangles, runs: Runs) {
        let state = &self.pixels[self.draws[runs[0].draw as usize].pixel];
        let visibility = state.visibility;
        let format = DepthFormat { bits: self.depth_bits, samples: state.pipeline.multisample.samples };
        let follows = runs.len() == 1 && self.follow(&visibility, &triangles);
        let direction = visibility.tests.filter(|_| follows);
        let lookahead = direction.and_then(|direction| EarlyHizTest::new(&self.lookahead.early, direction, format));
        let clips: SmallVec<[Clip; 2]> = runs.iter().map(|run| self.clip(run)).collect();
        let mut window = Window::new(triangles, &self.grid, &clips, lookahead);
        window.runs = runs;
        if let (true, Some(depth)) = (follows, self.depths.first()) {
            depth.heuristic().count_tests(window.tests.queries, window.tests.kills);
        }
        self.extend(window);
    }

    /// Returns the pixels that triangles of a run may touch.
    fn clip(&self, run: &Run) -> Clip {
        let state = &self.pixels[self.draws[run.draw as usize].pixel];
        Clip { end: run.end, pixels: touched(&state.dynamic, &state.pipeline) }
    }

    /// Returns the window from [`Self::open`] after triangles of a draw were added. The last
    /// window remains open unless it has reached its size.
    pub(super) fn close_full(&mut self, draw: usize, mut filled: Vec<Triangles>, size: usize) {
        if let [only] = &filled[..]
            && only.weight() < size
        {
            add_run(&mut self.runs, only.len(), draw);
            self.open = filled;
            return;
        }
        let last = filled.len().saturating_sub(1);
        let mut runs = std::mem::take(&mut self.runs);
        let mut kept = None;
        for (number, triangles) in filled.drain(..).enumerate() {
            add_run(&mut runs, triangles.len(), draw);
            if number == last && triangles.weight() < size {
                kept = Some((triangles, runs));
                break;
            }
            let runs = std::mem::take(&mut runs);
            if !triangles.is_empty() {
                self.add(triangles, runs);
            }
        }
        self.open = filled;
        if let Some((triangles, runs)) = kept {
            self.open.push(triangles);
            self.runs = runs;
        }
    }

    /// Adds windows of one draw, each in its layer.
    pub(super) fn extend_layers(&mut self, drawn: &FragmentState<'_>, windows: impl Iterator<Item = Window>) {
        for mut window in windows {
            let draw = self.draw(drawn, window.layer());
            add_run(&mut window.runs, window.triangles.len(), draw);
            self.extend(window);
        }
    }

    fn extend(&mut self, window: Window) {
        self.closed += window.triangles.weight();
        self.windows.push(window);
    }
}

/// Assigns the triangles after the last run, up to `end`, to a draw.
fn add_run(runs: &mut Runs, end: usize, draw: usize) {
    let (end, draw) = (end as u32, draw as u32);
    let begin = runs.last().map_or(0, |last| last.end);
    match runs.last_mut() {
        Some(last) if last.draw == draw => last.end = end,
        _ if begin < end => runs.push(Run { end, draw }),
        _ => {}
    }
}

impl Processor<'_> {
    /// Runs a tile pass for all queued draws, and clears tiles that nothing was drawn to. The
    /// attachments then contain the results of all earlier commands.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn flush(&mut self) -> Result<(), DeviceLost> {
        self.drain()?;
        if self.pending.is_idle() {
            return Ok(());
        }
        let clears = self.pending.clears.is_some();
        self.run_tile_pass(clears, (0, &|_| ()))?;
        self.pending.clears = None;
        Ok(())
    }

    /// Runs a tile pass for all queued draws, concurrently with other work.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn flush_beside(&mut self, beside: Beside<'_>) -> Result<(), DeviceLost> {
        self.run_tile_pass(false, beside)
    }

    /// Runs a tile pass over the tiles of queued draws. With `clears_all`, it also covers tiles
    /// that were not cleared.
    fn run_tile_pass(&mut self, clears_all: bool, beside: Beside<'_>) -> Result<(), DeviceLost> {
        self.pending.close();
        let pending = &mut self.pending;
        let (grid, depths, clears) = (pending.grid, std::mem::take(&mut pending.depths), pending.clears.take());
        let (depth_bits, lookahead) = (pending.depth_bits, std::mem::take(&mut pending.lookahead).outdated());
        let visited = std::mem::take(&mut pending.visited);
        let next = Pending { grid, depths, depth_bits, lookahead, clears, visited, ..Pending::default() };
        let pending = std::mem::replace(&mut self.pending, next);
        if pending.windows.is_empty() && beside.0 == 0 && !clears_all {
            return Ok(());
        }
        let suspended = self.begin_tiles();
        if self.counters().is_some() {
            self.pending.visited.resize_with(grid.count_all(), AtomicBool::default);
        }
        let Some(pass) = &self.pass else { return Ok(()) };
        let (none, occlusion) = (Bindings::default(), self.occlusion.counter());
        let packs = self.gpu.config().packs_always;
        // Pipeline statistics also count fragments that later draws hide.
        let drops = self.statistics.counters().is_none();
        // A single state has the time of all queued commands.
        let several = pending.pixels.iter().filter(|_| pending.pixels.len() > 1);
        let parts: Vec<_> = several.map(|state| self.deadline.part(state.commands)).collect();
        let context = |(number, state)| {
            let deadline = parts.get(number).unwrap_or(&*self.deadline);
            PixelContext { drops, ..pixel_context(state, pass, deadline, occlusion) }.complete(packs)
        };
        let pixels: Vec<_> = pending.pixels.iter().enumerate().map(context).collect();
        let of_draw = pending.draws.iter().map(|draw| DrawContext {
            pixel: &pixels[draw.pixel],
            bindings: draw.bindings.as_deref().unwrap_or(&none),
            push: draw.push.map_or(&[], |push| &pending.pushed[push]),
        });
        let draws: Vec<_> = of_draw.collect();
        let clears = self.pending.clears.as_ref().map(|Clears { attachments, done }| {
            let planes = attachments.iter().flat_map(LoadClear::planes).collect();
            let kept = attachments.iter().flat_map(LoadClear::kept_planes).collect();
            TileClears { planes, kept, done, all: clears_all }
        });
        let (depths, scoreboard) = (&self.pending.depths, drops && self.gpu.config().scoreboard);
        let (windows, clears) = (&pending.windows, clears.as_ref());
        let parts = &TileParts::new(windows, &grid);
        let run_tile_pass = TilePass {
            grid: &grid,
            draws: &draws,
            windows,
            parts,
            clears,
            depths,
            scoreboard,
            counters: self.counters().map(|counters| &**counters),
            processed: &self.pending.visited,
        };
        let done = pixel::run_tile_pass((self.gpu.workers(), self.gpu.tiles()), run_tile_pass, beside);
        pending.windows.into_iter().for_each(|window| self.gpu.triangles().put(window.triangles));
        self.end_tiles(&suspended);
        if done { Ok(()) } else { Err(DeviceLost::TimedOut(Stage::Fragment)) }
    }
}
