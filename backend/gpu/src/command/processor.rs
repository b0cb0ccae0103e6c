//! The command processor: executes command lists, tracks state, and dispatches work to the units.
//!
//! The processor owns the state of execution. Units borrow the parts that they need for one
//! command, and do not know the processor.
//!
//! Multiview: the commands of a subpass are executed once for each of its views. A view is a layer
//! of the attachments and a number that programs see. Every view begins with the state with which
//! the first view began, so the commands do not depend on views. Source: `VK_KHR_multiview`.

use std::sync::Arc;

use vitric_base::counters::SampleKind;
use vitric_base::object_pool::PoolGuard;
use vitric_exec::interp::Deadline;

use super::context::PassContext;
use super::dispatch::{self, DispatchContext};
use super::draw::{DrawInputs, DrawUnit};
use super::indirect::read_dwords;
use super::name::RunningCommand;
use super::pass::Pass;
use super::pending::PendingDraws;
use super::query::Queries;
use super::sets::{DeviceContext, Protection};
use super::state::{ChangedState, State};
use super::time::{QueuedTime, WAIT_TIMEOUT};
use super::transfers::{self, TransferContext};
use super::viewports::pixel_area;
use super::{AttachmentsClear, Command, CommandList, Event, PassBegin, depth, residency};
use crate::geometry::FrontScratch;
use crate::gpu::{DeviceLost, Gpu, check_contents};

/// `maxCommandBufferNestingLevel`.
pub const MAX_NESTED: u32 = 32;

/// Executor of command lists.
pub(super) struct Processor<'g> {
    gpu: &'g Gpu,
    /// Time limit of the programs of the running draw or dispatch.
    deadline: Arc<Deadline>,
    /// Unused time of commands whose work is queued.
    queued_time: QueuedTime,
    /// The running command, for messages.
    running: RunningCommand,
    state: State,
    pass: Option<Pass>,
    /// Draws of the pass that are queued for the tile pass.
    pending: PendingDraws,
    draws: DrawUnit,
    /// Scratch memory of the front end.
    front: PoolGuard<'g, Box<FrontScratch>>,
    /// Objects of the device when execution began.
    device: DeviceContext<'g>,
    /// True if draws, dispatches and clears of attachments are skipped.
    skips: bool,
    /// Nesting level of the running list.
    nesting: u32,
    queries: Queries,
}

/// The draw unit and everything that it needs for one command.
struct DrawParts<'p> {
    unit: &'p mut DrawUnit,
    context: PassContext<'p>,
    inputs: DrawInputs<'p>,
}

impl<'g> Processor<'g> {
    /// Creates a processor with default state, for a protected submission or an unprotected one.
    pub(super) fn new(gpu: &'g Gpu, is_protected: bool) -> Self {
        let protection = Protection { is_protected, has_resources: Some(&**gpu.has_protected_resources()) };
        let addresses = gpu.addresses().now();
        Self {
            gpu,
            deadline: Deadline::after(gpu.config().timeout),
            queued_time: QueuedTime::default(),
            running: RunningCommand::default(),
            state: State::default(),
            pass: None,
            pending: PendingDraws::default(),
            draws: DrawUnit::default(),
            front: gpu.fronts().acquire(),
            device: DeviceContext {
                routines: gpu.routines().clone(),
                addresses: match protection.applies() {
                    true => Arc::new(addresses.of_submission(is_protected)),
                    false => addresses,
                },
                resolver: gpu.descriptor_resolver().clone(),
                in_use: gpu.begin_use(),
                protection,
            },
            skips: false,
            nesting: 0,
            queries: Queries::new(gpu),
        }
    }

    /// Returns the running command, or the command at which execution ended.
    pub(super) fn running(&self) -> &RunningCommand {
        &self.running
    }

    /// Executes a primary list.
    ///
    /// # Errors
    /// [`DeviceLost`] when execution cannot go on.
    pub(super) fn execute(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        self.state = State::default();
        self.skips = false;
        self.running.list += 1;
        self.run(list)
    }

    /// Ends the submission and adds its counts to the counters of the GPU.
    ///
    /// # Errors
    /// [`DeviceLost::FarMemory`] if contents of a compacted image are lost.
    pub(super) fn finish(&mut self) -> Result<(), DeviceLost> {
        let in_use = self.device.in_use.as_ref();
        self.queries.finish(self.gpu, in_use);
        Ok(check_contents(in_use)?)
    }

    fn run(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        let mut remaining = list.commands.as_slice();
        while let Some((command, behind)) = remaining.split_first() {
            self.running.begin(command, list.commands.len() - remaining.len());
            self.command(command, &list.bytes).inspect_err(|_| self.running.describe(command))?;
            remaining = match command {
                Command::BeginPass(_) | Command::NextSubpass => self.run_views(behind, &list.bytes)?,
                _ => behind,
            };
        }
        Ok(())
    }

    /// Executes a command. `bytes` is the inline data of its list.
    fn command(&mut self, command: &Command, bytes: &[u8]) -> Result<(), DeviceLost> {
        self.deadline.begin();
        match command {
            Command::BeginPass(begin) => self.begin_pass(begin),
            Command::NextSubpass => self.next_subpass(),
            Command::EndPass => self.end_pass(),
            // Conditional rendering skips these commands.
            Command::Dispatch { .. } | Command::DispatchIndirect { .. } | Command::ClearAttachments(_)
                if self.skips =>
            {
                Ok(())
            }
            draw if draw.is_draw() => {
                if self.skips {
                    return Ok(());
                }
                let Some(mut draws) = self.draw_parts() else { return Ok(()) };
                draws.unit.draw(&mut draws.context, draws.inputs, command)
            }
            Command::Dispatch { base, groups } => self.dispatch(*base, *groups),
            Command::DispatchIndirect { buffer, offset } => self.dispatch([0; 3], read_dwords(buffer, *offset)),
            Command::Execute(lists) => self.execute_secondary(lists),
            Command::WaitEvents(events) => self.wait_events(events),
            Command::PipelineBarrier => self.flush(),
            Command::ClearAttachments(clear) => self.clear_attachments(clear),
            _ if self.state.set(command, bytes, &*self.device.resolver) || self.set_control(command) => Ok(()),
            // Queries must count exactly the draws between their begin and end, so queued draws
            // are finished first.
            _ => {
                self.flush()?;
                let in_use = self.device.in_use.as_ref();
                in_use.iter().for_each(|in_use| residency::use_images(in_use, command));
                if !self.queries.execute(self.gpu, command) {
                    let (workers, deadline) = (self.gpu.workers(), &*self.deadline);
                    let addresses = &*self.device.addresses;
                    transfers::execute(&TransferContext { workers, in_use, deadline, bytes, addresses }, command)?;
                }
                depth::written_by(self.gpu.depths(), command);
                Ok(())
            }
        }
    }

    /// Executes a command of events, conditional rendering, hints or transform feedback. Returns
    /// false for all other commands.
    fn set_control(&mut self, command: &Command) -> bool {
        match command {
            Command::HintImage { image, hint } => {
                self.device.in_use.iter().for_each(|in_use| image.hint(in_use, *hint));
            }
            Command::BeginConditional { buffer, offset, inverted } => {
                self.skips = (read_dwords::<1>(buffer, *offset)[0] == 0) != *inverted;
            }
            Command::EndConditional => self.skips = false,
            Command::SetEvent(event) => event.set(),
            Command::ResetEvent(event) => event.reset(),
            _ if self.state.feedback.set(command) => {
                if let Command::EndFeedback { counters, .. } = command {
                    depth::written_counters(self.gpu.depths(), counters);
                }
            }
            _ => return false,
        }
        true
    }

    /// Borrows the draw unit with its context. Returns `None` outside of passes.
    fn draw_parts(&mut self) -> Option<DrawParts<'_>> {
        let context = PassContext {
            gpu: self.gpu,
            pass: self.pass.as_ref()?,
            pending: &mut self.pending,
            deadline: &self.deadline,
            queued_time: &mut self.queued_time,
            queries: &mut self.queries,
            feedback: &mut self.state.feedback,
            front: &mut self.front,
        };
        let inputs = DrawInputs { graphics: &mut self.state.graphics, push: &self.state.push, device: &self.device };
        Some(DrawParts { unit: &mut self.draws, context, inputs })
    }

    /// Finishes all draws of the pass. The attachments then contain their results.
    fn flush(&mut self) -> Result<(), DeviceLost> {
        let Some(mut draws) = self.draw_parts() else { return Ok(()) };
        draws.unit.flush(&mut draws.context)
    }

    fn begin_pass(&mut self, begin: &PassBegin) -> Result<(), DeviceLost> {
        // With invalid usage a pass can begin inside another. The draws of the other are not lost.
        if self.pass.is_some() {
            self.end_pass()?;
        }
        self.device.in_use.iter().for_each(|in_use| residency::use_attachments(in_use, begin));
        let mut pass = Pass::begin(begin, self.gpu)?;
        self.draws.begin_pass();
        self.queries.begin_sample(SampleKind::Pass, self.gpu);
        let records = self.queries.counters().is_some();
        self.pending = PendingDraws::new(pixel_area(pass.area), pass.layers, self.gpu.config().batch, records);
        self.pending.begin_clears(pass.take_clears());
        self.begin_subpass(pass);
        Ok(())
    }

    fn next_subpass(&mut self) -> Result<(), DeviceLost> {
        self.flush()?;
        if let Some(mut pass) = self.pass.take() {
            depth::end_subpass(self.gpu.depths(), &pass);
            pass.next_subpass(self.gpu)?;
            self.pending.begin_clears(pass.take_clears());
            self.begin_subpass(pass);
        }
        Ok(())
    }

    fn end_pass(&mut self) -> Result<(), DeviceLost> {
        if let Some(pass) = &self.pass {
            // Discarded aspects are cleared only in tiles that are drawn to.
            self.pending.set_discarded(|attachment| pass.discarded(attachment));
        }
        if let Some(mut draws) = self.draw_parts() {
            draws.unit.replay_deferred(&mut draws.context)?;
        }
        if let (Some(in_use), Some(pass)) = (&self.device.in_use, &self.pass) {
            residency::record_clears(in_use, pass, &mut self.pending);
        }
        self.flush()?;
        if let Some(pass) = self.pass.take() {
            depth::end_subpass(self.gpu.depths(), &pass);
            self.device.in_use.iter().for_each(|in_use| residency::hint_attachments(in_use, &pass));
            pass.end(self.gpu.workers());
            self.queries.end_sample(self.gpu);
        }
        Ok(())
    }

    /// Makes a pass current after one of its subpasses has begun.
    fn begin_subpass(&mut self, pass: Pass) {
        self.state.graphics.changed.fixed = true;
        self.state.graphics.sets.mark_attachments_changed();
        pass.first_used_others().for_each(|view| self.gpu.depths().wrote_surface(&view.surface));
        if pass.subpass().view_mask == 0 {
            depth::begin_subpass(self.gpu, &pass, &mut self.pending);
        }
        self.pass = Some(pass);
    }

    /// Executes the commands of the subpass that has just begun once per view, if the subpass has
    /// views.
    ///
    /// `bytes` is the inline data of the list. Returns the commands that are left to execute.
    fn run_views<'c>(&mut self, commands: &'c [Command], bytes: &[u8]) -> Result<&'c [Command], DeviceLost> {
        let mask = self.pass.as_ref().map_or(0, |pass| pass.subpass().view_mask);
        if mask == 0 {
            return Ok(commands);
        }
        let ends = |command: &Command| matches!(command, Command::NextSubpass | Command::EndPass);
        let end = commands.iter().position(ends).unwrap_or(commands.len());
        let (inside, behind) = commands.split_at(end);
        let begun = self.state.clone();
        for (number, view) in (0..u32::BITS).filter(|view| mask >> view & 1 != 0).enumerate() {
            self.resume_state(begun.clone());
            self.begin_view(number as u32, view);
            inside.iter().try_for_each(|command| self.command(command, bytes))?;
            self.deadline.begin();
            self.flush()?;
        }
        self.queries.view_number = 0;
        self.state.set_view(0);
        Ok(behind)
    }

    fn begin_view(&mut self, number: u32, view: u32) {
        self.queries.view_number = number;
        self.state.set_view(view);
        if let Some(pass) = &mut self.pass {
            pass.set_view(view);
            // Each view has its own layer of attachments.
            self.pending.processed.clear();
            depth::begin_subpass(self.gpu, pass, &mut self.pending);
        }
    }

    /// Replaces the state and marks all of it as changed.
    fn resume_state(&mut self, state: State) {
        self.state = state;
        self.state.graphics.changed = ChangedState::default();
    }

    fn execute_secondary(&mut self, lists: &[Arc<CommandList>]) -> Result<(), DeviceLost> {
        // Execution of a primary list is level 0, which does not count as nesting.
        if self.nesting > MAX_NESTED {
            return Err(DeviceLost::NestedTooDeep);
        }
        self.nesting += 1;
        let (state, skips) = (std::mem::take(&mut self.state), self.skips);
        for list in lists {
            self.state = State::default();
            self.state.set_view(self.pass.as_ref().map_or(0, Pass::view_index));
            self.run(list)?;
            self.skips = skips;
        }
        self.resume_state(state);
        self.nesting -= 1;
        Ok(())
    }

    fn dispatch(&mut self, base: [u32; 3], groups: [u32; 3]) -> Result<(), DeviceLost> {
        self.queries.begin_sample(SampleKind::Dispatch, self.gpu);
        let context = DispatchContext {
            gpu: self.gpu,
            device: &self.device,
            deadline: &self.deadline,
            counters: self.queries.counters().map(|counters| &**counters),
            push: &self.state.push,
        };
        let done = dispatch::dispatch(context, &mut self.state.compute, base, groups);
        self.queries.end_sample(self.gpu);
        done
    }

    fn wait_events(&mut self, events: &[Arc<Event>]) -> Result<(), DeviceLost> {
        self.flush()?;
        if !events.iter().all(|event| event.wait(WAIT_TIMEOUT, || self.gpu.ends_waits())) {
            return Err(DeviceLost::EventNotSet);
        }
        // The host may have written mapped memory.
        self.gpu.depths().wrote_any(|memory| memory.is_mapped());
        Ok(())
    }

    fn clear_attachments(&mut self, clear: &AttachmentsClear) -> Result<(), DeviceLost> {
        self.flush()?;
        if let Some(pass) = &self.pass {
            pass.clear_attachments(&clear.attachments, &clear.rects, self.gpu.workers(), |cleared| {
                depth::clear(&self.pending, pass, cleared);
            });
        }
        self.pending.invalidate_early_bounds();
        Ok(())
    }
}
