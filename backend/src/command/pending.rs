//! Draws whose tiles were not walked yet: windows gather over the draws of a pass, until something must see what they drew.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::draw::draw_context;
use super::pass::LoadClear;
use super::processor::{Dynamic, Processor, State};
use super::viewports::touched;
use crate::geometry::Triangles;
use crate::gpu::DeviceLost;
use crate::hiz::{Early, Hierarchy, Visibility};
use crate::pixel::{DrawContext, visibility};
use crate::shader::runtime::Bindings;
use crate::state::GraphicsPipeline;
use crate::tiling::{self, Ahead, Beside, Grid, Teaching, TileClears, TileParts, Walk, Window};

/// Primitives beyond which tiles are walked: what they hold should stay in the caches.
pub(super) const MOST_PENDING: usize = 1 << 15;

/// Primitives of a window that are tested before they are put into tiles; also at least as many as there are tiles.
const FEWEST_TESTED: usize = 256;

/// Draw states beyond which tiles are walked.
const MOST_DRAWS: usize = 1 << 10;

/// What a draw's fragments depend on.
#[derive(Clone)]
pub(super) struct DrawState {
    pub(super) pipeline: Arc<GraphicsPipeline>,
    pub(super) bindings: Arc<[Bindings]>,
    pub(super) push: Vec<u8>,
    pub(super) dynamic: Dynamic,
    /// The layer of the attachments.
    pub(super) layer: u32,
    /// What it does with visibility structures, if there are any.
    visibility: Visibility,
}

impl DrawState {
    pub(super) fn new(state: &State, pipeline: &Arc<GraphicsPipeline>, bindings: &Arc<[Bindings]>) -> Self {
        let (pipeline, bindings) = (pipeline.clone(), bindings.clone());
        let visibility = visibility(&pipeline, pipeline.depth_stencil.as_ref());
        Self { pipeline, bindings, push: state.push.clone(), dynamic: state.dynamic, layer: 0, visibility }
    }

    fn teaching(&self, depth: &Hierarchy, depth_bits: u32) -> Teaching {
        Teaching {
            visibility: self.visibility,
            scissor: touched(&self.dynamic, &self.pipeline),
            depths: (depth_bits, self.pipeline.multisample.samples),
            extent: depth.extent(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pipeline, &other.pipeline)
            && Arc::ptr_eq(&self.bindings, &other.bindings)
            && self.push == other.push
            && self.dynamic.is_same_for_fragments(&other.dynamic)
    }
}

/// Clears on load, which wait for their tiles.
struct Clears {
    attachments: Vec<LoadClear>,
    /// For each tile whether it was cleared.
    done: Vec<AtomicBool>,
}

/// Windows that wait, and the states of their draws.
#[derive(Default)]
pub(super) struct Pending {
    grid: Grid,
    draws: Vec<DrawState>,
    windows: Vec<Window>,
    /// The window that is being filled, of the last state.
    open: Option<Triangles>,
    /// What closed windows take up, in primitives.
    closed: usize,
    /// The visibility structures of the depth attachment's layers, from the first of the render area's on.
    depths: Vec<Arc<Hierarchy>>,
    /// Bits of depth.
    depth_bits: u32,
    /// What is known ahead of those that wait.
    ahead: Known,
    clears: Option<Clears>,
    /// For each tile, where somebody counts, whether a walk of the pass has worked on it.
    visited: Vec<AtomicBool>,
}

/// What is known of depths behind the draws that wait.
#[derive(Default)]
struct Known {
    early: Early,
    /// Whether it begins with what the last walk has left.
    is_fresh: bool,
    /// Draws and windows that it has followed.
    draws: usize,
    windows: usize,
}

impl Known {
    /// A walk, or a clear, changed depths.
    fn outdated(self) -> Self {
        Self { early: self.early, ..Self::default() }
    }
}

impl Pending {
    /// Nothing yet, of a pass with this render area in some layers.
    pub(super) fn new(area: [i64; 4], layers: u32) -> Self {
        Self { grid: Grid::new(area, layers), ..Self::default() }
    }

    /// Attachments are to be cleared before they are drawn to.
    pub(super) fn begin_clears(&mut self, attachments: Vec<LoadClear>) {
        let done = || (0..self.grid.count()).map(|_| AtomicBool::new(false)).collect();
        self.clears = (!attachments.is_empty()).then(|| Clears { done: done(), attachments });
    }

    /// Begins with the visibility structures of the depth attachment's layers that are drawn to; the last ones may have none.
    pub(super) fn begin_depth(&mut self, depths: Vec<Arc<Hierarchy>>, depth_bits: u32) {
        (self.depths, self.depth_bits) = (depths, depth_bits);
        self.forget_ahead();
    }

    /// Depths changed other than by draws that wait.
    pub(super) fn forget_ahead(&mut self) {
        self.ahead = std::mem::take(&mut self.ahead).outdated();
    }

    /// Follows the draws that wait so far, for triangles that come behind them. False where nothing is known for these, or
    /// following costs more than it may be worth.
    fn follow(&mut self, visibility: &Visibility, triangles: &Triangles) -> bool {
        let Some(direction) = visibility.tests.filter(|_| !self.depths.is_empty()) else { return false };
        if triangles.len() < FEWEST_TESTED.max(self.grid.count_all()) || !Ahead::takes_any(triangles) {
            return false;
        }
        let Known { early, is_fresh, draws, windows } = &mut self.ahead;
        if !*is_fresh || early.direction() != Some(direction) {
            let bounds = self.grid.places().map(|(layer, pixel)| self.depths.get(layer)?.tile(pixel));
            early.begin(direction, bounds);
            (*is_fresh, *draws, *windows) = (true, 0, 0);
        }
        let recedes = |draw: &DrawState| draw.visibility.writes.is_some_and(|op| direction.may_recede(op));
        if self.draws[*draws..].iter().any(recedes) {
            // Until these are walked.
            return false;
        }
        *draws = self.draws.len();
        for window in &self.windows[*windows..] {
            if let Some(depth) = self.depths.get(window.layer() as usize) {
                tiling::teach(early, window, &self.grid, &self.draws[window.draw].teaching(depth, self.depth_bits));
            }
        }
        *windows = self.windows.len();
        true
    }

    /// The visibility structure of one of those layers.
    pub(super) fn depth(&self, layer: usize) -> Option<&Hierarchy> {
        self.depths.get(layer).map(|depth| &**depth)
    }

    /// The tiles of the pass.
    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether tiles should be walked before so many primitives more come.
    pub(super) fn is_full(&self, primitives: usize) -> bool {
        let open = self.open.as_ref().map_or(0, Triangles::weight);
        self.closed + open + primitives > MOST_PENDING || self.draws.len() >= MOST_DRAWS
    }

    /// The number of a draw's state in a layer; a new one ends the window of the last.
    pub(super) fn draw(&mut self, state: &DrawState, layer: u32) -> usize {
        if self.draws.last().is_some_and(|last| last.layer == layer && last.is_same(state)) {
            return self.draws.len() - 1;
        }
        if let Some(last) = self.draws.len().checked_sub(1) {
            self.close(last);
        }
        self.draws.push(DrawState { layer, ..state.clone() });
        self.draws.len() - 1
    }

    /// Takes the window that is being filled, if there is one, to be gone on with.
    pub(super) fn open(&mut self) -> Vec<Triangles> {
        self.open.take().into_iter().collect()
    }

    /// Ends the window that is being filled.
    pub(super) fn close(&mut self, draw: usize) {
        if let Some(triangles) = self.open.take().filter(|triangles| !triangles.is_empty()) {
            self.add(draw, triangles);
        }
    }

    /// Adds a window of a draw, the last of all.
    fn add(&mut self, draw: usize, triangles: Triangles) {
        let visibility = self.draws[draw].visibility;
        let samples = self.draws[draw].pipeline.multisample.samples;
        let direction = visibility.tests.filter(|_| self.follow(&visibility, &triangles));
        let ahead =
            direction.and_then(|direction| Ahead::new(&self.ahead.early, direction, (self.depth_bits, samples)));
        let window = Window::new(triangles, &self.grid, ahead);
        self.extend(draw, std::iter::once(window));
    }

    /// Gives back what was taken: the last is filled on, unless it has reached its size.
    pub(super) fn close_full(&mut self, draw: usize, mut filled: Vec<Triangles>, size: usize) {
        self.open = filled.pop_if(|last| last.weight() < size);
        filled.into_iter().for_each(|triangles| self.add(draw, triangles));
    }

    /// Adds windows of a draw's state, each in its layer.
    pub(super) fn extend_layers(&mut self, state: &DrawState, windows: impl Iterator<Item = Window>) {
        for window in windows {
            let draw = self.draw(state, window.layer());
            self.extend(draw, std::iter::once(window));
        }
    }

    /// Adds windows of a draw.
    pub(super) fn extend(&mut self, draw: usize, windows: impl Iterator<Item = Window>) {
        for mut window in windows {
            window.draw = draw;
            self.closed += window.triangles.weight();
            self.windows.push(window);
        }
    }
}

impl Processor<'_> {
    /// Walks the tiles of all draws that wait, and clears those that nothing was drawn to: the attachments are as the commands left
    /// them.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn flush(&mut self) -> Result<(), DeviceLost> {
        let clears = self.pending.clears.is_some();
        self.walk(clears, (0, &|_| ()))?;
        self.pending.clears = None;
        Ok(())
    }

    /// Walks the tiles of all draws that wait, while something else is done, too.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn flush_beside(&mut self, beside: Beside<'_>) -> Result<(), DeviceLost> {
        self.walk(false, beside)
    }

    /// Walks tiles: those of all draws that wait, or all that were not cleared, too.
    fn walk(&mut self, clears_all: bool, beside: Beside<'_>) -> Result<(), DeviceLost> {
        if let Some(last) = self.pending.draws.len().checked_sub(1) {
            self.pending.close(last);
        }
        let pending = &mut self.pending;
        let (grid, depths, clears) = (pending.grid, std::mem::take(&mut pending.depths), pending.clears.take());
        let (depth_bits, ahead) = (pending.depth_bits, std::mem::take(&mut pending.ahead).outdated());
        let visited = std::mem::take(&mut pending.visited);
        let next = Pending { grid, depths, depth_bits, ahead, clears, visited, ..Pending::default() };
        let pending = std::mem::replace(&mut self.pending, next);
        if pending.windows.is_empty() && beside.0 == 0 && !clears_all {
            return Ok(());
        }
        self.restart_deadline();
        if self.counters().is_some() {
            self.pending.visited.resize_with(grid.count_all(), AtomicBool::default);
        }
        let Some(pass) = &self.pass else { return Ok(()) };
        let (none, occlusion) = (Bindings::default(), self.occlusion.as_ref().map(|(_, _, count)| count));
        let packs = self.gpu.config().packs_always;
        // Statistics are those of a machine that drops nothing.
        let drops = self.statistics.is_none();
        let context = |draw| {
            DrawContext { drops, ..draw_context(draw, pass, (&none, &self.deadline), occlusion) }.complete(packs)
        };
        let draws: Vec<_> = pending.draws.iter().map(context).collect();
        let clears = self.pending.clears.as_ref().map(|Clears { attachments, done }| {
            let planes = attachments.iter().flat_map(LoadClear::planes).collect();
            TileClears { planes, done, all: clears_all }
        });
        let (depths, scoreboard) = (&self.pending.depths, drops && self.gpu.config().scoreboard);
        let (windows, clears) = (&pending.windows, clears.as_ref());
        let parts = &TileParts::new(windows, &grid);
        let walk = Walk {
            grid: &grid,
            draws: &draws,
            windows,
            parts,
            clears,
            depths,
            scoreboard,
            counters: self.counters().map(|counters| &**counters),
            visited: &self.pending.visited,
        };
        let done = tiling::walk(self.gpu, walk, beside);
        pending.windows.into_iter().for_each(|window| self.gpu.triangles().put(window.triangles));
        if done { Ok(()) } else { Err(DeviceLost) }
    }
}
