//! A deferred draw: everything that the draw depends on, until it is replayed.

use std::sync::Arc;

use vitric_exec::bindings::Bindings;

use super::super::dynamic::DynamicValues;
use super::super::state::{IndexBuffer, PUSH_BYTES};
use super::super::viewports::fragment_area;
use super::front_end::DrawJob;
use super::params::DrawParams;
use super::state::DrawState;
use crate::pipeline::CompiledPipeline;
use crate::pixel::LookaheadRole;

/// A deferred draw.
pub(super) struct DeferredDraw {
    pub(super) state: Arc<DrawState>,
    pixel_pipeline: Arc<CompiledPipeline>,
    vertex_bindings: Arc<Bindings>,
    fragment_bindings: Option<Arc<Bindings>>,
    push: [u8; PUSH_BYTES],
    dynamic: DynamicValues,
    index_buffer: Option<IndexBuffer>,
    pub(super) params: DrawParams,
}

impl DeferredDraw {
    /// Returns a draw with everything that it depends on.
    pub(super) fn new(job: &DrawJob<'_>) -> Self {
        Self {
            state: job.state.clone(),
            pixel_pipeline: job.pixel_pipeline.clone(),
            vertex_bindings: job.vertex_bindings.clone(),
            fragment_bindings: job.fragment_bindings.cloned(),
            push: *job.push,
            dynamic: *job.dynamic,
            index_buffer: job.index_buffer.cloned(),
            params: *job.params,
        }
    }

    /// Returns the draw as input of the front end.
    pub(super) fn job(&self) -> DrawJob<'_> {
        DrawJob {
            state: &self.state,
            pixel_pipeline: &self.pixel_pipeline,
            vertex_bindings: &self.vertex_bindings,
            fragment_bindings: self.fragment_bindings.as_ref(),
            push: &self.push,
            dynamic: &self.dynamic,
            index_buffer: self.index_buffer.as_ref(),
            params: &self.params,
        }
    }

    /// Returns the role of the draw in its segment. Deferred draws have one.
    pub(super) fn role(&self) -> Option<&LookaheadRole> {
        self.state.role.get()?.as_ref().ok()
    }

    /// Returns the pixels that the draw's fragments may change.
    pub(super) fn fragment_area(&self) -> [i64; 4] {
        fragment_area(self.dynamic.first_viewport, &self.state.pipeline)
    }
}
