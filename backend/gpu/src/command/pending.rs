//! Draws that are queued for the tile pass.
//!
//! Windows of primitives collect over the draws of a pass, until a command must see their results.

use std::slice::SliceIndex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ash::vk;
use vitric_base::counters::DrawSample;
use vitric_base::knobs::BatchLimit;
use vitric_exec::bindings::Bindings;

use super::pass::{LoadClear, UndrawnTiles};
use super::pixel_state::{FragmentState, PixelState};
use super::state::PUSH_BYTES;
use crate::geometry::{MAX_TRIANGLES, Triangles};
use crate::hiz::{DepthDirection, DepthFormat, EarlyBounds, Hierarchy, HizHeuristic, KnownTile};
use crate::raster::Grid;
use crate::tiling::{
    self, Batch, DrawId, EarlyHizTest, EarlyTests, Run, RunUpdates, Runs, TileParts, Window, WindowSorter,
};

/// Minimum number of primitives of a draw that has windows of its own.
const MIN_OWN_WINDOWS: usize = 256;

/// Number of tiles whose bounds are read for early tests, for each queued primitive. To read the
/// bounds of a tile takes about as long as to draw a primitive.
const TILES_PER_PRIMITIVE: usize = 8;

/// Divisor of a pass's tiles that gives the least undrawn tiles whose clears are recorded.
const MIN_UNDRAWN: usize = 8;

/// Maximum number of draw states before a tile pass runs.
const MAX_DRAWS: usize = 1 << 14;

/// Number of recent pixel states that are searched for the state of a draw.
const MAX_RECENT: usize = 16;

/// Queued [`FragmentState`]. Consecutive draws with equal state share one.
pub(super) struct QueuedDraw {
    /// Index of the pixel state.
    pub(super) pixel: usize,
    pub(super) bindings: Option<Arc<Bindings>>,
    /// Index of the push constants, if the fragment program reads any.
    pub(super) push: Option<usize>,
}

/// Clears on load, which are deferred until the tile pass.
pub(super) struct Clears {
    pub(super) attachments: Vec<LoadClear>,
    /// For each tile, true if it was cleared.
    pub(super) done: Vec<AtomicBool>,
}

/// Closed windows, and the states of their draws.
#[derive(Default)]
pub(super) struct TileQueue {
    pub(super) draws: Vec<QueuedDraw>,
    pub(super) pixels: Vec<PixelState>,
    /// Push constants of draws.
    pub(super) push_constants: Vec<[u8; PUSH_BYTES]>,
    pub(super) windows: Vec<Window>,
}

impl TileQueue {
    /// Returns true if depths may be farther after some of the draws than before, in a direction.
    fn recedes(&self, draws: impl SliceIndex<[QueuedDraw], Output = [QueuedDraw]>, direction: DepthDirection) -> bool {
        let recedes = |draw: &QueuedDraw| self.pixels[draw.pixel].visibility.recedes(direction);
        self.draws.get(draws).is_some_and(|draws| draws.iter().any(recedes))
    }
}

/// Draws that are queued for the tile pass, and the tiles that they are drawn to.
#[derive(Default)]
pub(super) struct PendingDraws {
    grid: Grid,
    queue: TileQueue,
    /// Number of the command, or the deferred draw, that currently adds primitives.
    command: u32,
    /// Sample of the draw that currently adds primitives, if the GPU counts.
    pub(super) sample: Option<DrawSample>,
    /// The window that is being filled, if there is one.
    open: Vec<Triangles>,
    /// The draws of the triangles in the open window.
    runs: Runs,
    /// Limit of the primitives that tile passes process together.
    limit: BatchLimit,
    /// Size of the closed windows, in the unit of the limit.
    closed: usize,
    /// Number of primitives of the closed windows.
    queued: usize,
    /// Hi-Z structures of the depth attachment's layers, from the first layer of the render area
    /// on.
    pub(super) depths: Vec<Arc<Hierarchy>>,
    /// Bits of depth.
    depth_bits: u32,
    /// Depth bounds that include the effect of queued draws.
    early_bounds: EarlyDepths,
    pub(super) clears: Option<Clears>,
    /// True if hidden parts of primitives are recorded.
    records: bool,
    /// For each tile, one more than the number of the last subpass that processed it, or 0. Empty
    /// unless the GPU counts.
    pub(super) processed: Vec<AtomicU32>,
}

/// Depth bounds that include the effect of queued draws.
#[derive(Default)]
struct EarlyDepths {
    early: EarlyBounds,
    /// Direction of the bounds if they hold before the queued draws.
    current: Option<DepthDirection>,
    /// Number of the structures' gains that the bounds include.
    gains: u32,
    /// Number of queued draws by which depths are known not to recede.
    draws: usize,
    /// Position up to which the bounds include all updates. They may include later ones.
    applied: WindowPosition,
}

/// Position in the queued windows.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct WindowPosition {
    /// Number of the window.
    window: usize,
    /// Number of the window's next triangle.
    triangle: u32,
}

/// Direction in which primitives of a window are tested.
#[derive(Clone, Copy)]
struct TestedDirection {
    direction: DepthDirection,
    /// Number of the draws up to the first one that is tested.
    draws: usize,
}

/// Early depth bounds that the windows of one draw share.
#[derive(Default)]
pub(super) struct SharedBounds {
    early: EarlyBounds,
    /// How depths are compared and stored; `None` if nothing is tested.
    compared: Option<(DepthDirection, DepthFormat)>,
    heuristic: Option<HizHeuristic>,
    /// True if hidden parts of primitives are recorded.
    records: bool,
}

impl SharedBounds {
    /// Returns the tests of windows against the bounds.
    pub(super) fn tests(&self) -> EarlyTests<'_> {
        let test = self.compared.and_then(|(direction, format)| EarlyHizTest::new(&self.early, direction, format));
        EarlyTests { test, heuristic: self.heuristic, records: self.records }
    }
}

impl EarlyDepths {
    /// Returns true if the bounds can be updated for tests in a direction. A draw that failed has
    /// not returned the bounds that it took.
    fn is_of(&self, direction: DepthDirection) -> bool {
        self.current == Some(direction) && self.early.direction() == self.current
    }

    /// Returns the state after depths were changed other than by queued draws.
    fn outdated(self) -> Self {
        Self { early: self.early, ..Self::default() }
    }

    /// Returns the state after a tile pass for the queued draws.
    fn after_tile_pass(self, queue: &TileQueue) -> Self {
        let holds = |direction: &DepthDirection| !queue.recedes(self.draws.., *direction);
        Self { current: self.current.filter(holds), gains: self.gains, ..self.outdated() }
    }
}

impl PendingDraws {
    /// Creates an empty queue for a pass with a render area and a number of layers. With `records`,
    /// hidden parts of primitives are recorded for maps.
    pub(super) fn new(area: [i64; 4], layers: u32, limit: BatchLimit, records: bool) -> Self {
        Self { grid: Grid::new(area, layers), limit, records, ..Self::default() }
    }

    /// Sets the attachments to clear before tiles are drawn to.
    pub(super) fn begin_clears(&mut self, attachments: Vec<LoadClear>) {
        let done = || (0..self.grid.count()).map(|_| AtomicBool::new(false)).collect();
        self.clears = (!attachments.is_empty()).then(|| Clears { done: done(), attachments });
    }

    /// Sets the aspects that only queued draws need, because the pass discards them. `discarded`
    /// returns them for an attachment.
    pub(super) fn set_discarded(&mut self, discarded: impl Fn(u32) -> vk::ImageAspectFlags) {
        let attachments = self.clears.iter_mut().flat_map(|clears| &mut clears.attachments);
        attachments.for_each(|clear| clear.set_discarded(&discarded));
    }

    /// Calls `record` for each attachment to clear, if nothing was drawn to any tile and no draw is
    /// queued. Attachments without remaining planes are then removed.
    pub(super) fn record_clears(&mut self, record: impl FnMut(&mut LoadClear)) {
        let is_drawn_to = !self.queue.windows.is_empty() || self.open.iter().any(|open| !open.is_empty());
        let is_cleared = |done: &AtomicBool| done.load(Ordering::Relaxed);
        let undrawn = self.clears.take_if(|clears| !is_drawn_to && !clears.done.iter().any(is_cleared));
        let Some(mut clears) = undrawn else { return };
        clears.attachments.iter_mut().for_each(record);
        clears.attachments.retain(|clear| clear.planes().next().is_some());
        self.clears = Some(clears).filter(|clears| !clears.attachments.is_empty());
    }

    /// Calls `record` for each attachment to clear for which `can_record` holds, with the tiles
    /// that nothing is drawn to. The pass ends afterwards, and has one layer.
    pub(super) fn record_undrawn_tiles(
        &mut self,
        can_record: impl Fn(&LoadClear) -> bool,
        record: impl Fn(&mut LoadClear, &UndrawnTiles),
    ) {
        self.close();
        let Some(clears) = self.clears.as_mut().filter(|_| self.grid.layers() == 1) else { return };
        let mut attachments = clears.attachments.iter_mut().filter(|clear| can_record(clear)).peekable();
        if attachments.peek().is_none() {
            return;
        }
        let mut is_drawn: Vec<bool> = clears.done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
        let windows = &self.queue.windows;
        let parts = TileParts::new(windows, &self.grid, &Batch::all(windows));
        parts.tiles().into_iter().for_each(|tile| is_drawn[tile] = true);
        let tiles = UndrawnTiles::new(&self.grid, is_drawn);
        if tiles.count() < self.grid.count().div_ceil(MIN_UNDRAWN) {
            return;
        }
        attachments.for_each(|clear| record(clear, &tiles));
    }

    /// Sets the Hi-Z structures of the depth attachment's layers that are drawn to. The last
    /// layers may have none.
    pub(super) fn begin_depth(&mut self, depths: Vec<Arc<Hierarchy>>, depth_bits: u32) {
        (self.depths, self.depth_bits) = (depths, depth_bits);
        self.invalidate_early_bounds();
    }

    /// Marks the early depth bounds as outdated, because depths were changed other than by queued
    /// draws.
    pub(super) fn invalidate_early_bounds(&mut self) {
        self.early_bounds = std::mem::take(&mut self.early_bounds).outdated();
    }

    /// Updates the early depth bounds with queued draws, before a number of primitives is tested
    /// against them. Returns the estimate whether tests pay.
    ///
    /// Returns `None` if the bounds are unknown, or if the update is expected to cost more than the
    /// tests save.
    fn prepare_tests(&mut self, tested: TestedDirection, primitives: usize) -> Option<HizHeuristic> {
        let depth = self.depths.first().cloned()?;
        let is_known = self.early_bounds.is_of(tested.direction);
        let is_cheap = (self.queued + primitives).saturating_mul(TILES_PER_PRIMITIVE) >= self.grid.count_all();
        let mut heuristic = depth.heuristic();
        let count = u32::try_from(primitives).unwrap_or(u32::MAX);
        if !(is_known || is_cheap) || heuristic.is_paused_for(count) {
            heuristic.count_primitives(count);
            return None;
        }
        // Updates come first, so a pause that ends within these primitives ends now.
        heuristic.end_pause();
        let updated = self.update_early_bounds(tested, heuristic.max_updates())?;
        heuristic.count_updates(updated);
        Some(*heuristic)
    }

    /// Updates the early depth bounds with queued draws and takes them for the windows of a draw
    /// with a number of primitives. Closes the open window, behind which the draw's windows are
    /// queued.
    pub(super) fn take_early_bounds(&mut self, fragments: &FragmentState<'_>, primitives: usize) -> SharedBounds {
        self.close();
        let format = DepthFormat { bits: self.depth_bits, samples: fragments.pipeline.multisample.samples };
        let direction = fragments.visibility.tests;
        let tested = direction.map(|direction| TestedDirection { direction, draws: self.queue.draws.len() });
        let heuristic = tested.and_then(|tested| self.prepare_tests(tested, primitives));
        let compared = direction.filter(|_| heuristic.is_some()).map(|direction| (direction, format));
        SharedBounds { early: std::mem::take(&mut self.early_bounds.early), compared, heuristic, records: self.records }
    }

    /// Takes back early depth bounds after the windows of the draw were tested, with the last of
    /// these windows.
    ///
    /// Windows that are tested at the same time have estimates of their own. That of the last one
    /// is kept.
    pub(super) fn return_early_bounds(&mut self, bounds: SharedBounds, last: Option<&Window>) {
        self.early_bounds.early = bounds.early;
        if let (Some(heuristic), Some(depth)) = (last.and_then(|last| last.heuristic), self.depths.first()) {
            *depth.heuristic() = heuristic;
        }
    }

    /// Updates the early depth bounds with queued draws, by at most `max` triangles. Returns the
    /// number of triangles that updated a bound.
    ///
    /// Returns `None` if the bounds are unknown, because depths may recede by one of the draws
    /// before the first that is tested. Bounds of another direction are then kept.
    fn update_early_bounds(&mut self, TestedDirection { direction, draws }: TestedDirection, max: u32) -> Option<u32> {
        let is_known = self.early_bounds.is_of(direction);
        let checked = if is_known { self.early_bounds.draws } else { 0 };
        if self.queue.recedes(checked..draws, direction) {
            return None;
        }
        let gains = self.depths.iter().fold(0, |gains: u32, depth| gains.wrapping_add(depth.gains()));
        if !is_known {
            self.early_bounds.early.begin(direction, known_tiles(&self.depths, &self.grid));
            (self.early_bounds.current, self.early_bounds.applied) = (Some(direction), WindowPosition::default());
        } else if self.early_bounds.gains != gains {
            self.early_bounds.early.tighten(known_tiles(&self.depths, &self.grid));
        }
        self.early_bounds.gains = gains;
        self.early_bounds.draws = checked.max(draws);
        let EarlyDepths { early, applied, .. } = &mut self.early_bounds;
        let mut updated = 0;
        while let Some(window) = self.queue.windows.get(applied.window) {
            if let Some(depth) = self.depths.get(window.layer() as usize) {
                let update_rules =
                    |draw: usize| self.queue.pixels[self.queue.draws[draw].pixel].update_rules(depth, self.depth_bits);
                let (triangles, runs) = (&window.triangles, &window.runs);
                let updates = RunUpdates { triangles, runs, start: applied.triangle, max: max - updated };
                let progress = tiling::update_hiz(early, updates, &self.grid, update_rules);
                updated += progress.updated;
                if (progress.end as usize) < triangles.len() {
                    applied.triangle = progress.end;
                    break;
                }
            }
            *applied = WindowPosition { window: applied.window + 1, triangle: 0 };
        }
        Some(updated)
    }

    /// Copies the depth bounds after all queued draws to `early`, for depths compared in
    /// `direction`.
    pub(super) fn copy_early_bounds(&mut self, direction: DepthDirection, early: &mut EarlyBounds) {
        self.close();
        let draws = self.queue.draws.len();
        match self.update_early_bounds(TestedDirection { direction, draws }, u32::MAX) {
            Some(_) => early.clone_from(&self.early_bounds.early),
            None => early.begin(direction, self.grid.places().map(|_| None)),
        }
    }

    /// Tightens `early` by the bounds that the last tile pass left.
    pub(super) fn tighten_early_bounds(&self, early: &mut EarlyBounds) {
        early.tighten(known_tiles(&self.depths, &self.grid));
    }

    /// Returns the number of bits of depth.
    pub(super) fn depth_bits(&self) -> u32 {
        self.depth_bits
    }

    /// Returns the Hi-Z structure of a layer, counted from the first layer of the render
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
        self.queue.windows.is_empty() && self.open.iter().all(Triangles::is_empty) && self.clears.is_none()
    }

    /// Returns true if a tile pass should run before `primitives` more are queued.
    pub(super) fn is_full(&self, primitives: usize) -> bool {
        let open: usize = self.open.iter().map(|open| self.size(open)).sum();
        let (BatchLimit::Bytes(limit) | BatchLimit::Primitives(limit)) = self.limit;
        // Each window has at least one of the primitives.
        let has_numbers = self.queue.windows.len() + self.open.len() + primitives <= MAX_TRIANGLES;
        self.closed + open >= limit || !has_numbers || self.queue.draws.len() >= MAX_DRAWS
    }

    /// Returns the size of primitives in the unit of the limit.
    fn size(&self, triangles: &Triangles) -> usize {
        match self.limit {
            BatchLimit::Bytes(_) => triangles.bytes(),
            BatchLimit::Primitives(_) => triangles.len(),
        }
    }

    /// Returns the limit of the primitives that tile passes process together.
    pub(super) fn limit(&self) -> BatchLimit {
        self.limit
    }

    /// Begins another command, or a draw that was deferred.
    pub(super) fn begin_command(&mut self) {
        self.command = self.command.wrapping_add(1);
    }

    /// Returns the current draw in a layer, with its state.
    pub(super) fn draw(&mut self, fragments: &FragmentState<'_>, layer: u32) -> DrawId {
        DrawId { state: self.draw_state(fragments, layer) as u32, sample: self.sample }
    }

    /// Returns the index of a draw's state in a layer.
    fn draw_state(&mut self, fragments: &FragmentState<'_>, layer: u32) -> usize {
        let reads_push = fragments.pipeline.fragment.as_ref().is_some_and(|program| program.code.reads_push());
        if let Some(last) = self.queue.draws.last()
            && self.queue.pixels[last.pixel].is_of(fragments, layer)
            && last.bindings.as_ref().map(Arc::as_ptr) == fragments.bindings.map(Arc::as_ptr)
            && (!reads_push || last.push.is_some_and(|push| self.queue.push_constants[push] == *fragments.push))
        {
            let pixel = last.pixel;
            self.queue.pixels[pixel].count_command(self.command);
            return self.queue.draws.len() - 1;
        }
        let draw = QueuedDraw {
            pixel: self.pixel(fragments, layer),
            bindings: fragments.bindings.cloned(),
            push: reads_push.then(|| self.push(fragments.push)),
        };
        self.queue.draws.push(draw);
        self.queue.draws.len() - 1
    }

    /// Returns the index of the pixel state.
    fn pixel(&mut self, fragments: &FragmentState<'_>, layer: u32) -> usize {
        let recent = self.queue.pixels.len().saturating_sub(MAX_RECENT);
        if let Some(known) = self.queue.pixels[recent..].iter().position(|state| state.is_of(fragments, layer)) {
            self.queue.pixels[recent + known].count_command(self.command);
            return recent + known;
        }
        fragments.pipeline.fragment.iter().for_each(|program| program.inlined.begin_pass());
        self.queue.pixels.push(PixelState::of_draw(fragments, layer, self.command));
        self.queue.pixels.len() - 1
    }

    /// Returns the index of push constants.
    fn push(&mut self, push: &[u8; PUSH_BYTES]) -> usize {
        if self.queue.push_constants.last() != Some(push) {
            self.queue.push_constants.push(*push);
        }
        self.queue.push_constants.len() - 1
    }

    /// Removes and returns the open window, if `primitives` of a draw may be added to it.
    ///
    /// Small draws share windows. Each large draw has its own windows.
    pub(super) fn open(&mut self, draw: DrawId, primitives: usize) -> Vec<Triangles> {
        let is_large = |count: usize| count >= MIN_OWN_WINDOWS;
        let is_other = self.runs.iter().any(|run| run.draw.state != draw.state);
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
    ///
    /// Primitives are tested against the bounds after all earlier draws. In a segment they are also
    /// tested against those that its later primitives in the window leave. The first draw after
    /// which depths may recede ends the tests.
    fn add(&mut self, triangles: Triangles, runs: Runs) {
        let tested = self.tested_direction(&runs);
        let heuristic = tested.and_then(|tested| self.prepare_tests(tested, triangles.len()));
        let mut sorter = WindowSorter::new(&triangles, &self.grid, heuristic, self.records);
        let mut tested = tested.filter(|_| heuristic.is_some());
        let (mut start, mut rest) = (0, &runs[..]);
        while let Some(first) = rest.first() {
            tested = tested.filter(|tested| !self.state(first).visibility.recedes(tested.direction));
            let is_tested = tested.is_some();
            let segment = self.state(first).segment.filter(|_| is_tested);
            let is_alike = |run: &Run| segment.is_some() && self.state(run).segment == segment;
            let (runs, after) = rest.split_at(1 + rest[1..].iter().take_while(|run| is_alike(run)).count());
            if segment.is_some() {
                let updates = RunUpdates { triangles: &triangles, runs, start, max: sorter.max_updates() };
                sorter.count_updates(self.update_by_runs(updates));
            }
            runs.iter().for_each(|run| self.sort_run(&triangles, run, is_tested, &mut sorter));
            if is_tested && segment.is_none() {
                let updates = RunUpdates { triangles: &triangles, runs, start, max: sorter.max_updates() };
                sorter.count_updates(self.update_by_runs(updates));
            }
            start = runs.last().map_or(start, |run| run.end);
            rest = after;
        }
        if let (Some(heuristic), Some(depth)) = (sorter.heuristic(), self.depths.first()) {
            *depth.heuristic() = heuristic;
        }
        self.extend(sorter.finish(triangles, runs));
    }

    /// Returns the direction in which a window is tested: that of its writers, if there are any.
    fn tested_direction(&self, runs: &[Run]) -> Option<TestedDirection> {
        let of_writer = |run: &Run| self.state(run).visibility.tests.filter(|_| self.state(run).visibility.updates_hiz);
        let of_any = |run: &Run| self.state(run).visibility.tests;
        let direction = runs.iter().find_map(of_writer).or_else(|| runs.iter().find_map(of_any))?;
        let first = runs.iter().find(|run| of_any(run) == Some(direction))?;
        Some(TestedDirection { direction, draws: first.draw.state as usize + 1 })
    }

    /// Updates the early depth bounds by runs of the window that is being added. Returns the number
    /// of triangles that updated a bound.
    fn update_by_runs(&mut self, updates: RunUpdates<'_>) -> u32 {
        let Self { early_bounds: EarlyDepths { early, applied, .. }, queue, depths, grid, depth_bits, .. } = self;
        let Some(depth) = depths.get(updates.triangles.layer() as usize) else { return 0 };
        let rules = |draw: usize| queue.pixels[queue.draws[draw].pixel].update_rules(depth, *depth_bits);
        let position = WindowPosition { window: queue.windows.len(), triangle: updates.start };
        let progress = tiling::update_hiz(early, updates, grid, rules);
        if *applied == position {
            applied.triangle = progress.end;
        }
        progress.updated
    }

    /// Sorts the triangles of a run into tiles, with early tests if the bounds are known.
    fn sort_run(&self, triangles: &Triangles, run: &Run, is_tested: bool, sorter: &mut WindowSorter) {
        let state = self.state(run);
        let format = DepthFormat { bits: self.depth_bits, samples: state.pipeline.multisample.samples };
        let direction = state.visibility.tests.filter(|_| is_tested);
        let test = direction.and_then(|direction| EarlyHizTest::new(&self.early_bounds.early, direction, format));
        sorter.add_run(triangles, run.end, state.fragment_area(), test);
    }

    /// Returns the pixel state of a run.
    fn state(&self, run: &Run) -> &PixelState {
        &self.queue.pixels[self.queue.draws[run.draw.state as usize].pixel]
    }

    /// Takes back the window from [`Self::open`] after triangles of a draw were added. The last
    /// window remains open unless it has reached its size.
    pub(super) fn close_full(&mut self, draw: DrawId, mut filled: Vec<Triangles>, size: usize) {
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
    pub(super) fn extend_layers(&mut self, fragments: &FragmentState<'_>, windows: impl Iterator<Item = Window>) {
        for mut window in windows {
            let draw = self.draw(fragments, window.layer());
            add_run(&mut window.runs, window.triangles.len(), draw);
            self.extend(window);
        }
    }

    /// Closes the open window, and removes and returns all queued windows for a tile pass.
    pub(super) fn take(&mut self) -> TileQueue {
        self.close();
        self.early_bounds = std::mem::take(&mut self.early_bounds).after_tile_pass(&self.queue);
        (self.closed, self.queued) = (0, 0);
        std::mem::take(&mut self.queue)
    }

    /// Appends a window behind all earlier primitives. No window may be open.
    pub(super) fn extend(&mut self, window: Window) {
        self.closed += self.size(&window.triangles);
        self.queued += window.triangles.len();
        self.queue.windows.push(window);
    }
}

/// Returns what is known of the depths of each tile of a grid.
fn known_tiles<'d>(depths: &'d [Arc<Hierarchy>], grid: &Grid) -> impl Iterator<Item = Option<KnownTile<'d>>> {
    grid.places().map(|(layer, pixel)| depths.get(layer)?.known(pixel))
}

/// Assigns the triangles after the last run, up to `end`, to a draw.
pub(super) fn add_run(runs: &mut Runs, end: usize, draw: DrawId) {
    let end = end as u32;
    let begin = runs.last().map_or(0, |last| last.end);
    match runs.last_mut() {
        Some(last) if last.draw == draw => last.end = end,
        _ if begin < end => runs.push(Run { end, draw }),
        _ => {}
    }
}
