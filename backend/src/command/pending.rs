//! Draws whose tiles were not walked yet: windows gather over the draws of a pass, until something must see what they drew.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::draw::draw_context;
use super::pass::LoadClear;
use super::processor::{Dynamic, Processor, State};
use crate::geometry::Triangles;
use crate::gpu::DeviceLost;
use crate::hiz::Hierarchy;
use crate::pixel::DrawContext;
use crate::shader::runtime::Bindings;
use crate::state::GraphicsPipeline;
use crate::tiling::{self, Beside, Grid, TileClears, TileParts, Walk, Window};

/// Primitives beyond which tiles are walked: what they hold should stay in the caches.
pub(super) const MOST_PENDING: usize = 1 << 15;

/// Tiles of several layers that a visibility structure is made for.
const MOST_VISIBLE: usize = 1 << 14;

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
}

impl DrawState {
    pub(super) fn new(state: &State, pipeline: &Arc<GraphicsPipeline>, bindings: &Arc<[Bindings]>) -> Self {
        let (pipeline, bindings) = (pipeline.clone(), bindings.clone());
        Self { pipeline, bindings, push: state.push.clone(), dynamic: state.dynamic, layer: 0 }
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
    /// The visibility structure of the depth attachment.
    hierarchy: Option<Hierarchy>,
    clears: Option<Clears>,
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

    /// Begins with a depth attachment all of whose depths are `cleared`, or not known.
    pub(super) fn begin_depth(&mut self, cleared: Option<f32>) {
        // Of many layers the last do without.
        let most = MOST_VISIBLE.max(self.grid.count());
        self.hierarchy = Some(Hierarchy::new(self.grid.count_all().min(most), cleared));
    }

    /// Begins with the structure of a depth attachment, or without.
    pub(super) fn set_depth(&mut self, hierarchy: Option<Hierarchy>) {
        self.hierarchy = hierarchy;
    }

    /// Ends with the structure of the depth attachment.
    pub(super) fn take_depth(&mut self) -> Option<Hierarchy> {
        self.hierarchy.take()
    }

    /// The render area.
    pub(super) fn area(&self) -> [i64; 4] {
        self.grid.area()
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
            self.extend(draw, [Window::new(triangles, &self.grid)].into_iter());
        }
    }

    /// Gives back what was taken: the last is filled on, unless it has reached its size.
    pub(super) fn close_full(&mut self, draw: usize, mut filled: Vec<Triangles>, size: usize) {
        self.open = filled.pop_if(|last| last.weight() < size);
        let windows: Vec<Window> = filled.into_iter().map(|triangles| Window::new(triangles, &self.grid)).collect();
        self.extend(draw, windows.into_iter());
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
        let (grid, hierarchy, clears) = (self.pending.grid, self.pending.hierarchy.take(), self.pending.clears.take());
        let next = Pending { grid, hierarchy, clears, ..Pending::default() };
        let pending = std::mem::replace(&mut self.pending, next);
        if pending.windows.is_empty() && beside.0 == 0 && !clears_all {
            return Ok(());
        }
        self.restart_deadline();
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
        let (hierarchy, scoreboard) = (self.pending.hierarchy.as_ref(), drops && self.gpu.config().scoreboard);
        let (windows, clears) = (&pending.windows, clears.as_ref());
        let parts = &TileParts::new(windows, &grid);
        let walk = Walk {
            grid: &grid,
            draws: &draws,
            windows,
            parts,
            clears,
            hierarchy,
            scoreboard,
            counters: self.counters().map(|counters| &**counters),
        };
        let done = tiling::walk(self.gpu, walk, beside);
        pending.windows.into_iter().for_each(|window| self.gpu.triangles().put(window.triangles));
        if done { Ok(()) } else { Err(DeviceLost) }
    }
}
