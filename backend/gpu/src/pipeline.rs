//! Graphics pipelines with their kernels, and with their variants for state and image routines
//! that are known only when drawing.
//!
//! Kernels are compiled when they are first needed, and pipelines of the same state share them.

use std::ops::Deref;
use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;
use vitric_exec::bindings::Bindings;
use vitric_exec::{Inlining, Program};

use crate::geometry::tessellation::LazyTessellationKernel;
use crate::geometry::{LazyMergedKernel, LazyVertexKernel, MergedKernel};
use crate::pixel::{ByProgram, Kernels};
use crate::raster::Rate;
use crate::state::{DynamicState, ExtendedState, PipelineState};

/// Maximum number of variants of a pipeline that are kept.
const MAX_VARIANTS: usize = 1 << 10;

/// A graphics pipeline: its state, kernels and variants.
#[derive(Debug, Clone)]
pub struct CompiledPipeline {
    state: PipelineState,
    /// Kernels of the vertex program, used without a geometry program.
    pub vertex_kernel: Arc<LazyVertexKernel>,
    /// Kernels of the tessellation programs.
    pub tessellation_kernel: Arc<LazyTessellationKernel>,
    /// Kernel of vertex and geometry program.
    pub merged_kernel: Arc<LazyMergedKernel>,
    /// Kernels of the fragment program.
    pub kernels: Arc<Kernels>,
    variants: Variants,
    /// Variants with image routines in the fragment program.
    inlined: ByProgram<CompiledPipeline>,
}

/// Variants of a pipeline, by the state that commands had set.
#[derive(Debug, Default)]
struct Variants(Mutex<HashMap<ExtendedState, Arc<CompiledPipeline>>>);

impl Clone for Variants {
    /// Returns no variants: a copy has none yet.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Deref for CompiledPipeline {
    type Target = PipelineState;

    #[inline]
    fn deref(&self) -> &PipelineState {
        &self.state
    }
}

impl CompiledPipeline {
    /// Returns a pipeline of which nothing is compiled yet.
    pub fn new(state: PipelineState) -> Self {
        Self {
            state,
            vertex_kernel: Arc::default(),
            tessellation_kernel: Arc::default(),
            merged_kernel: Arc::default(),
            kernels: Arc::default(),
            variants: Variants::default(),
            inlined: ByProgram::default(),
        }
    }

    /// Returns the state of the pipeline.
    #[inline]
    pub fn state(&self) -> &PipelineState {
        &self.state
    }

    /// Takes over the kernels of a pipeline of the same state, those that are not compiled yet
    /// included.
    pub fn share_kernels(&mut self, other: &Self) {
        self.vertex_kernel = other.vertex_kernel.clone();
        self.tessellation_kernel = other.tessellation_kernel.clone();
        self.merged_kernel = other.merged_kernel.clone();
        self.kernels = other.kernels.clone();
    }

    /// Returns the program whose resources are those of all programs before rasterization: the
    /// control program, the merged vertex and geometry program, or the vertex program.
    pub fn front(&self) -> &Arc<Program> {
        if let Some(kernel) = self.tessellation_kernel.get(self) {
            return kernel.program();
        }
        self.merged_kernel.get(self).map_or(&self.vertex, MergedKernel::program)
    }

    /// Returns the pipeline with dynamic state that commands have set.
    pub fn with(self: &Arc<Self>, state: &ExtendedState) -> Arc<Self> {
        if !self.dynamic.intersects(DynamicState::EXTENDED) {
            return self.clone();
        }
        let taken = state.taken(self.dynamic);
        let mut variants = self.variants.0.lock();
        if let Some(known) = variants.get(&taken) {
            return known.clone();
        }
        if variants.len() >= MAX_VARIANTS {
            variants.clear();
        }
        let made = Arc::new(self.variant(&taken));
        variants.insert(taken, made.clone());
        made
    }

    fn variant(&self, state: &ExtendedState) -> Self {
        let made = self.state.with(state);
        let exports_like = made.exports_like(&self.state);
        let shades_like = made.shades_vertices_like(&self.state);
        let mut made = Self { state: made, ..self.clone() };
        if !exports_like {
            made.kernels = Arc::default();
        }
        if !shades_like {
            made.vertex_kernel = Arc::default();
            made.merged_kernel = Arc::default();
            made.tessellation_kernel = Arc::default();
        }
        made
    }

    /// Returns the pipeline whose fragment program contains the image routines that it finds in
    /// these bindings, or `None` if the pipeline needs no change.
    pub fn with_routines(&self, bindings: Option<&Bindings>, inlining: Inlining) -> Option<Arc<Self>> {
        let program = self.fragment.as_deref()?.inlined(bindings?, inlining)?;
        let kernels = || self.kernels.inlined.or_make(&program, || Arc::new(Kernels::default()));
        let made = || {
            Arc::new(Self {
                state: PipelineState { fragment: Some(program.clone()), ..self.state.clone() },
                kernels: kernels(),
                ..self.clone()
            })
        };
        Some(self.inlined.or_make(&program, made))
    }

    /// Compiles the kernels that most draws run, so that the first draw does not wait for them.
    pub fn prepare(&self) {
        let is_of_patches = self.tessellation_kernel.get(self).is_some();
        if self.merged_kernel.get(self).is_none() && !is_of_patches {
            self.vertex_kernel.get(self);
        }
        if self.rate.size != Rate::PIXEL && !self.has_sample_shading() {
            self.kernels.coarse(self);
        } else if self.kernels.traits(self).exports_whole {
            self.kernels.whole(self);
        } else {
            self.kernels.get(self, false);
        }
    }
}
