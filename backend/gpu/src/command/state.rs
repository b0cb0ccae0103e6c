//! State that commands set for later draws and dispatches of their list.

use std::sync::Arc;

use ash::vk;
use vitric_exec::bindings::DescriptorResolver;
use vitric_ir::interface::PUSH_CONSTANT_BYTES;
use vitric_memory::BufferRange;

use super::Command;
use super::dynamic::DynamicValues;
use super::feedback::FeedbackState;
use super::sets::BoundSets;
use super::viewports::Viewports;
use crate::pipeline::CompiledPipeline;
use crate::state::{ComputePipeline, ExtendedState, MAX_BINDINGS};

/// Bytes of push constants, followed by the number of the view.
pub(super) const PUSH_BYTES: usize = PUSH_CONSTANT_BYTES + 4;

/// State that commands set.
#[derive(Clone)]
pub(super) struct State {
    pub(super) graphics: GraphicsState,
    pub(super) compute: ComputeState,
    pub(super) push: [u8; PUSH_BYTES],
    pub(super) feedback: FeedbackState,
}

/// State of dispatches.
#[derive(Clone, Default)]
pub(super) struct ComputeState {
    pub(super) pipeline: Option<Arc<ComputePipeline>>,
    pub(super) sets: BoundSets,
}

/// State of draws.
#[derive(Clone, Default)]
pub(super) struct GraphicsState {
    bound: Option<Arc<CompiledPipeline>>,
    extended: ExtendedState,
    /// The bound pipeline combined with the dynamic state, once a draw has used it.
    combined: Option<Arc<CompiledPipeline>>,
    pub(super) sets: BoundSets,
    pub(super) vertex_buffers: Vec<Option<BufferRange>>,
    pub(super) index_buffer: Option<IndexBuffer>,
    pub(super) dynamic: DynamicValues,
    /// All viewports and scissors. The first ones are also in `dynamic`.
    pub(super) viewports: Viewports,
    /// Parts of the state that were set after the last draw.
    pub(super) changed: ChangedState,
}

/// A bound index buffer, and the type of its indices.
#[derive(Debug, Clone)]
pub(super) struct IndexBuffer {
    pub(super) range: Option<BufferRange>,
    pub(super) index_type: vk::IndexType,
    /// The index that restarts primitives, if it is not the maximum of the index type.
    pub(super) restart: Option<u32>,
}

/// Parts of the state on which the draw state depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangedState {
    /// Pipelines, dynamic state, or the pass.
    pub(super) fixed: bool,
    /// Vertex buffers.
    pub(super) buffers: bool,
}

impl Default for ChangedState {
    /// Returns the value before the first draw: all parts have changed.
    fn default() -> Self {
        Self { fixed: true, buffers: true }
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            graphics: GraphicsState::default(),
            compute: ComputeState::default(),
            push: [0; PUSH_BYTES],
            feedback: FeedbackState::default(),
        }
    }
}

impl State {
    /// Sets the number of the current view that programs read.
    pub(super) fn set_view(&mut self, view: u32) {
        self.push[PUSH_CONSTANT_BYTES..].copy_from_slice(&view.to_le_bytes());
    }

    /// Executes a command that only sets state, except state of transform feedback. `bytes` is the
    /// inline data of the command's list. Returns false for all other commands.
    pub(super) fn set(&mut self, command: &Command, bytes: &[u8], resolver: &dyn DescriptorResolver) -> bool {
        match command {
            Command::BindComputePipeline(pipeline) => self.compute.pipeline = Some(pipeline.clone()),
            Command::BindDescriptorSets { point, first, sets, dynamic_offsets } => {
                self.sets(*point).bind(*first, sets, dynamic_offsets, resolver);
            }
            Command::PushDescriptors { point, set, layout, writes } => self.sets(*point).push(*set, layout, writes),
            Command::PushConstants { offset, data } => {
                let data = data.of(bytes);
                let constants = self.push.get_mut(*offset as usize..PUSH_CONSTANT_BYTES);
                if let Some(target) = constants.and_then(|constants| constants.get_mut(..data.len())) {
                    target.copy_from_slice(data);
                }
            }
            _ => return self.graphics.set(command),
        }
        true
    }

    fn sets(&mut self, point: vk::PipelineBindPoint) -> &mut BoundSets {
        if point == vk::PipelineBindPoint::COMPUTE { &mut self.compute.sets } else { &mut self.graphics.sets }
    }
}

impl GraphicsState {
    /// Returns the pipeline that draws use.
    pub(super) fn pipeline(&mut self) -> Option<Arc<CompiledPipeline>> {
        if self.combined.is_none() {
            self.combined = self.bound.as_ref().map(|pipeline| pipeline.with(&self.extended));
        }
        self.combined.clone()
    }

    fn set(&mut self, command: &Command) -> bool {
        match command {
            Command::BindGraphicsPipeline(pipeline) => {
                if !self.bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, pipeline)) {
                    (self.bound, self.combined) = (Some(pipeline.clone()), None);
                    self.changed.fixed = true;
                }
            }
            Command::SetViewports { first, viewports } => {
                self.viewports.set_viewports(*first, viewports);
                self.dynamic.first_viewport = self.viewports.first();
                self.changed.fixed = true;
            }
            Command::SetScissors { first, scissors } => {
                self.viewports.set_scissors(*first, scissors);
                self.dynamic.first_viewport = self.viewports.first();
                self.changed.fixed = true;
            }
            Command::BindVertexBuffers { first, buffers } => {
                for (binding, buffer) in (*first as usize..MAX_BINDINGS).zip(buffers) {
                    if self.vertex_buffers.len() <= binding {
                        self.vertex_buffers.resize(binding + 1, None);
                    }
                    self.vertex_buffers[binding] = buffer.clone();
                }
                self.changed.buffers = true;
            }
            Command::BindIndexBuffer { range, index_type } => {
                self.index_buffer = Some(IndexBuffer { range: range.clone(), index_type: *index_type, restart: None });
            }
            Command::SetRestartIndex(index) => {
                if let Some(buffer) = &mut self.index_buffer {
                    buffer.restart = Some(*index);
                }
            }
            Command::SetState(value) => {
                self.extended.set(*value);
                (self.combined, self.changed.fixed) = (None, true);
            }
            Command::SetBlend { first, values } => {
                self.extended.set_blend(*first, values);
                (self.combined, self.changed.fixed) = (None, true);
            }
            Command::SetSampleLocations(locations) => {
                self.extended.set_locations(**locations);
                (self.combined, self.changed.fixed) = (None, true);
            }
            Command::SetVertexInput(input) => {
                self.extended.set_input(input);
                (self.combined, self.changed.fixed) = (None, true);
            }
            Command::SetVertexStrides { first, strides } => {
                self.extended.set_strides(*first, strides);
                (self.combined, self.changed.fixed) = (None, true);
            }
            _ => {
                let is_dynamic = self.dynamic.set(command);
                self.changed.fixed |= is_dynamic;
                return is_dynamic;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;

    use super::*;

    #[test]
    fn commands_that_change_the_pipeline_change_the_draw_state() {
        let commands = [
            Command::SetSampleLocations(Box::new(None)),
            Command::SetBlend { first: 0, values: Vec::new() },
            Command::SetVertexStrides { first: 0, strides: SmallVec::new() },
        ];
        for command in commands {
            let unchanged = ChangedState { fixed: false, buffers: false };
            let mut state = GraphicsState { changed: unchanged, ..GraphicsState::default() };
            assert!(state.set(&command) && state.changed.fixed, "{command:?}");
        }
    }
}
