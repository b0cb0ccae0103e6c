//! Draws: vertices are read, shaded, assembled and set up, and become windows of primitives for
//! the tile pass.
//!
//! A draw command goes through these files in order. `params.rs` reads its draws, `state.rs`
//! derives state of the front end, and `lookahead.rs` may defer the draw (`deferred.rs`) until
//! `replay.rs` draws it. `front_end.rs` assembles primitives (`indices.rs`, `strips.rs`),
//! `mesh.rs` and `patches.rs` run further programs, and `windows.rs` sets primitives up.

mod deferred;
mod front_end;
mod indices;
mod lookahead;
mod mesh;
mod params;
mod patches;
mod replay;
mod state;
mod strips;
mod windows;

use std::sync::Arc;

use vitric_exec::bindings::Bindings;

use super::context::PassContext;
use super::pass::Pass;
use super::sets::{BoundSets, DeviceContext};
use super::state::{GraphicsState, PUSH_BYTES};
use super::{Command, depth, tile_pass};
use crate::geometry::Assembled;
use crate::gpu::{DeviceLost, PipelineStage};
use crate::hiz::HizCache;
use crate::pipeline::CompiledPipeline;
use front_end::{DrawJob, FrontEndContext};
use lookahead::DeferredDraws;
use params::DrawParams;
use state::DrawState;
use windows::AssembledDraw;

/// Number of draws of one command between two checks of the deadline.
const DRAWS_PER_CHECK: u32 = 64;

/// Bound state and objects of the device that draws read.
pub(super) struct DrawInputs<'p> {
    pub(super) graphics: &'p mut GraphicsState,
    pub(super) push: &'p [u8; PUSH_BYTES],
    pub(super) device: &'p DeviceContext<'p>,
}

/// Memory of the draw unit between commands.
#[derive(Default)]
pub(super) struct DrawUnit {
    /// State of the last draw, if there was one.
    state: Option<Arc<DrawState>>,
    /// Deferred draws of the pass.
    deferred: DeferredDraws,
}

/// Resources of the programs of a draw.
struct DrawBindings {
    /// Resources of the programs before rasterization, except those of a task program.
    vertex: Arc<Bindings>,
    fragment: Option<Arc<Bindings>>,
    task: Option<Arc<Bindings>>,
}

impl DrawBindings {
    fn resolve(pipeline: &CompiledPipeline, sets: &mut BoundSets, device: &DeviceContext<'_>, pass: &Pass) -> Self {
        let fragment = |program| sets.resolve(1, program, device, Some(pass));
        Self {
            fragment: pipeline.fragment.as_ref().map(fragment),
            vertex: sets.resolve(0, pipeline.front(), device, None),
            task: pipeline.task.as_ref().map(|task| sets.resolve(2, task, device, None)),
        }
    }

    /// Reports the memory that the programs may write.
    fn report_writes(&self, kept: &HizCache, pipeline: &CompiledPipeline, device: &DeviceContext<'_>) {
        let addresses = &device.addresses;
        if pipeline.has_side_effects() {
            depth::written_by_programs(kept, pipeline.before_rasterization(), &self.vertex, addresses);
        }
        for (program, bindings) in [(&pipeline.fragment, &self.fragment), (&pipeline.task, &self.task)] {
            if let Some((program, bindings)) = program.as_deref().zip(bindings.as_ref()) {
                depth::written_by_programs(kept, std::iter::once(program), bindings, addresses);
            }
        }
    }
}

impl DrawUnit {
    /// Begins a pass, without deferred draws.
    pub(super) fn begin_pass(&mut self) {
        self.deferred.begin_pass();
    }

    /// Executes a draw command.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn draw(
        &mut self,
        context: &mut PassContext<'_>,
        inputs: DrawInputs<'_>,
        command: &Command,
    ) -> Result<(), DeviceLost> {
        let state = DrawState::update(self.state.take(), inputs.graphics, context.pass);
        let Some(state) = state else { return Ok(()) };
        let has_effect = context.counts_vertices() || !state.has_no_effect;
        let done = if has_effect { self.draw_all(context, inputs, &state, command) } else { Ok(()) };
        self.state = Some(state);
        done
    }

    /// Replays deferred draws, and adds their primitives to windows.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn replay_deferred(&mut self, context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
        self.deferred.replay(context)
    }

    /// Replays deferred draws and runs a tile pass for all queued draws. The attachments then
    /// contain the results of all earlier commands.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn flush(&mut self, context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
        self.replay_deferred(context)?;
        tile_pass::finish(context)
    }

    /// Executes the draws of a command.
    fn draw_all(
        &mut self,
        context: &mut PassContext<'_>,
        inputs: DrawInputs<'_>,
        state: &Arc<DrawState>,
        command: &Command,
    ) -> Result<(), DeviceLost> {
        let DrawInputs { graphics, push, device } = inputs;
        let (gpu, pipeline) = (context.gpu, &*state.pipeline);
        let bindings = DrawBindings::resolve(pipeline, &mut graphics.sets, device, context.pass);
        bindings.report_writes(gpu.depths(), pipeline, device);
        depth::written_by_feedback(gpu.depths(), context.feedback);
        if pipeline.reads_attachments {
            self.flush(context)?;
        }
        let inlined = pipeline.with_routines(bindings.fragment.as_deref(), gpu.config().inlining);
        let mesh_draws = params::mesh_draw_count(command);
        if mesh_draws.is_some() != pipeline.mesh().is_some() {
            return Ok(());
        }
        context.queued_time.begin_draws();
        context.pending.begin_command();
        for number in 0..mesh_draws.unwrap_or_else(|| params::draw_count(command)) {
            if number % DRAWS_PER_CHECK == DRAWS_PER_CHECK - 1 && context.deadline.expired() {
                return Err(DeviceLost::TimedOut(PipelineStage::before_rasterization(pipeline)));
            }
            let params = DrawParams::of(command, number);
            let job = DrawJob {
                state,
                pixel_pipeline: inlined.as_ref().unwrap_or(&state.pipeline),
                vertex_bindings: &bindings.vertex,
                fragment_bindings: bindings.fragment.as_ref(),
                push,
                dynamic: &graphics.dynamic,
                index_buffer: graphics.index_buffer.as_ref().filter(|_| params.first_index.is_some()),
                params: &params,
            };
            let role = if mesh_draws.is_none() { self.deferred.deferrable(context, &job) } else { None };
            if let Some(role) = role {
                self.deferred.defer(context, &job, &role)?;
                continue;
            }
            self.replay_deferred(context)?;
            let sample = context.queries.begin_draw_sample();
            context.pending.sample = sample;
            match mesh_draws {
                None => run(context, &job)?,
                Some(_) => mesh::run(context, &job, bindings.task.as_deref(), params::mesh_groups(command, number))?,
            }
            tile_pass::end_draw(context)?;
            context.queries.add_to_sample(sample);
        }
        self.keep_unused_time(context);
        Ok(())
    }

    /// Ends a draw command. Its queued work keeps the time that the command has left.
    fn keep_unused_time(&self, context: &mut PassContext<'_>) {
        let left = context.queued_time.end_draws(context.deadline);
        if !self.deferred.is_empty() {
            context.queued_time.add_deferred(left);
        } else if !context.pending.is_idle() {
            context.queued_time.add_tiles(left);
        }
    }
}

/// Runs one draw of vertices and adds its primitives to windows.
fn run(context: &mut PassContext<'_>, job: &DrawJob<'_>) -> Result<(), DeviceLost> {
    let pipeline = &job.state.pipeline;
    if pipeline.raster.discard && !pipeline.has_side_effects() && !context.counts_vertices() {
        return Ok(());
    }
    let (deadline, counters) = (context.deadline, context.queries.counters().cloned());
    let environment = job.environment(deadline);
    let captures = context.capture_plan(pipeline);
    let front_end = FrontEndContext {
        gpu: context.gpu,
        layers: context.pass.layers,
        counters: counters.as_deref(),
        is_capturing: context.feedback.is_active(),
        captures: captures.as_ref(),
    };
    let Some(mut assembled) = job.assemble(&environment, front_end) else { return Ok(()) };
    if job.chunks().is_none() {
        return run_assembled(context, job, &mut assembled);
    }
    // Strips, fans and draws with restarts are assembled again for each instance.
    (assembled.instances, assembled.source.instance) = (1, job.params.numbers.base_instance);
    for _ in 0..job.params.instances {
        assembled.strips = None;
        let mut chunks = job.chunks();
        while let Some((chunk, vertices)) = chunks.as_mut().and_then(|chunks| chunks.next()) {
            job.assemble_chunk(&mut assembled, chunk, vertices);
            if deadline.expired() {
                return Err(DeviceLost::TimedOut(PipelineStage::before_rasterization(pipeline)));
            }
            run_assembled(context, job, &mut assembled)?;
        }
        assembled.source.instance = assembled.source.instance.wrapping_add(1);
    }
    Ok(())
}

/// Runs the assembled primitives of a draw and adds them to windows.
fn run_assembled<'a>(
    context: &mut PassContext<'_>,
    job: &DrawJob<'a>,
    assembled: &mut Assembled<'a>,
) -> Result<(), DeviceLost> {
    // Pipeline statistics are those of a machine that shades every vertex.
    let (posh, pipeline) = (context.gpu.config().posh, &job.state.pipeline);
    let is_culled = posh.takes_draw(assembled.count()) && assembled.suits_posh() && !context.counts_vertices();
    assembled.posh = is_culled.then(|| (posh, pipeline.vertex_kernel.positions(pipeline)));
    let draw = AssembledDraw { fragments: &job.fragments_in(context), assembled };
    match assembled.patches {
        None => windows::add(context, draw),
        Some(_) => patches::add(context, draw),
    }
}
