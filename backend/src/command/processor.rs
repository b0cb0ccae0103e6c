//! The command processor: walks command lists, keeps state, and hands work to the units.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ash::vk;
use smallvec::SmallVec;

use super::depth;
use super::pass::Pass;
use super::pending::Pending;
use super::query::statistics;
use super::viewports::{self, Views};
use super::{Command, CommandList, QueryKind, QueryPool, dispatch, draw};
use crate::counters::Counters;
use crate::gpu::{DeviceLost, Gpu};
use crate::memory::{Addresses, Buffer, BufferRange};
use crate::raster::RateState;
use crate::shader::PUSH_CONSTANT_BYTES;
use crate::shader::Program;
use crate::shader::interp::Deadline;
use crate::shader::runtime::{Bindings, Bound, Descriptor, DescriptorSet, SetLayout, is_dynamic};
use crate::state::{ComputePipeline, DepthBias, ExtendedState, GraphicsPipeline, LineStipple, MOST_BINDINGS};
use crate::texture::Routines;
use crate::transfer;
use crate::workers::Workers;

/// Bytes of push constants, and of the number of the view behind them.
const PUSH_BYTES: usize = PUSH_CONSTANT_BYTES + 4;
/// `maxBoundDescriptorSets`.
pub const MOST_SETS: usize = 8;
/// `maxCommandBufferNestingLevel`.
pub const MOST_NESTED: u32 = 32;
/// How long a device waits for an event that nobody sets.
const EVENT_TIMEOUT: Duration = Duration::from_secs(10);

/// A bound set with its dynamic offsets.
pub(super) type BoundSet = (Arc<DescriptorSet>, SmallVec<[u32; 4]>);

/// A bound index buffer, and the type of its indices.
pub(super) type IndexBuffer = (Option<BufferRange>, vk::IndexType);

/// State that commands set.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) graphics: Option<Arc<GraphicsPipeline>>,
    pub(super) compute: Option<Arc<ComputePipeline>>,
    pub(super) graphics_sets: BoundSets,
    pub(super) compute_sets: BoundSets,
    pub(super) vertex_buffers: Vec<Option<BufferRange>>,
    pub(super) index_buffer: Option<IndexBuffer>,
    pub(super) push: Vec<u8>,
    pub(super) dynamic: Dynamic,
    extended: ExtendedState,
    /// What the graphics pipeline has become with it, once a draw has asked.
    drawn: Option<Arc<GraphicsPipeline>>,
    /// All viewports and scissors: the first are in `dynamic`, too.
    pub(super) views: Views,
}

/// Values of dynamic state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dynamic {
    pub(super) viewport: vk::Viewport,
    pub(super) scissor: vk::Rect2D,
    pub(super) line_width: f32,
    pub(super) line_stipple: LineStipple,
    pub(super) depth_bias: DepthBias,
    pub(super) blend_constants: [f32; 4],
    pub(super) depth_bounds: [f32; 2],
    pub(super) rate: RateState,
    /// Front and back: compare mask, write mask, reference.
    pub(super) stencil: [[u32; 3]; 2],
}

impl State {
    fn new() -> Self {
        Self { push: vec![0; PUSH_BYTES], ..Self::default() }
    }

    /// The pipeline that draws are made with.
    pub(super) fn pipeline(&mut self) -> Option<Arc<GraphicsPipeline>> {
        if self.drawn.is_none() {
            self.drawn = self.graphics.as_ref().map(|pipeline| pipeline.with(&self.extended));
        }
        self.drawn.clone()
    }

    /// Tells programs the number of the view that is rendered.
    pub(super) fn set_view(&mut self, view: u32) {
        self.push[PUSH_CONSTANT_BYTES..].copy_from_slice(&view.to_le_bytes());
    }

    fn sets(&mut self, point: vk::PipelineBindPoint) -> &mut BoundSets {
        if point == vk::PipelineBindPoint::COMPUTE { &mut self.compute_sets } else { &mut self.graphics_sets }
    }
}

/// What all programs of a device share.
#[derive(Default)]
pub(super) struct OfDevice {
    routines: Arc<Routines>,
    pub(super) addresses: Arc<Addresses>,
}

/// The sets of a bind point, and what the bound pipeline's programs find in them.
///
/// Resources are resolved at the first draw or dispatch after a bind, and stay so until the next one: a set that is bound
/// must not be updated until the commands are done ("Descriptor Set Updates").
#[derive(Clone, Default)]
pub(super) struct BoundSets {
    sets: Vec<Option<BoundSet>>,
    resolved: Option<Arc<[Bindings]>>,
}

impl BoundSets {
    fn bind(&mut self, first: u32, sets: &[Option<Arc<DescriptorSet>>], offsets: &[u32]) {
        self.resolved = None;
        let mut offsets = offsets.iter().copied();
        for (slot, set) in (first as usize..MOST_SETS).zip(sets) {
            if self.sets.len() <= slot {
                self.sets.resize(slot + 1, None);
            }
            self.sets[slot] = set.as_ref().map(|set| {
                let own = offsets.by_ref().take(set.layout().dynamic_count() as usize).collect();
                (set.clone(), own)
            });
        }
    }

    /// Writes descriptors of a set without an object: one that goes on with those pushed before, if they were of such a set.
    fn push(&mut self, set: u32, layout: &Arc<SetLayout>, writes: &[(u32, Descriptor)]) {
        self.resolved = None;
        let slot = set as usize;
        if slot >= MOST_SETS {
            return;
        }
        if self.sets.len() <= slot {
            self.sets.resize(slot + 1, None);
        }
        let before = self.sets[slot].take().filter(|(set, _)| set.layout().is_like(layout));
        let target = match before {
            // Nobody else goes on with it: draws have resolved what they need.
            Some((set, _)) if Arc::strong_count(&set) == 1 => set,
            Some((set, _)) => set.copied(),
            None => DescriptorSet::new(layout.clone()),
        };
        writes.iter().for_each(|(index, descriptor)| target.write(*index, descriptor.clone()));
        self.sets[slot] = Some((target, SmallVec::new()));
    }

    /// Another pipeline was bound.
    fn forget(&mut self) {
        self.resolved = None;
    }

    /// The resources of each of the bound pipeline's programs.
    pub(super) fn resolve<'p>(
        &mut self,
        programs: impl IntoIterator<Item = &'p Program>,
        device: &OfDevice,
    ) -> Arc<[Bindings]> {
        let sets = &self.sets;
        let of_program = |program: &Program| {
            let bindings = resolve(program, sets).with_routines(device.routines.clone(), program.images);
            bindings.with_addresses(device.addresses.clone())
        };
        let resolve = || programs.into_iter().map(of_program).collect();
        self.resolved.get_or_insert_with(resolve).clone()
    }
}

/// Resolves a program's resources against bound sets.
fn resolve(program: &Program, sets: &[Option<BoundSet>]) -> Bindings {
    let resources = program.resources.iter().map(|resource| {
        let bound = sets.get(resource.set as usize).and_then(Option::as_ref);
        bound.map_or_else(Vec::new, |(set, offsets)| resolve_binding(set, offsets, resource.binding))
    });
    Bindings::new(resources.collect())
}

fn resolve_binding(set: &DescriptorSet, offsets: &[u32], binding: u32) -> Vec<Bound> {
    let layout = set.layout();
    let Some(entry) = layout.find(binding) else { return Vec::new() };
    let dynamic_before = layout.bindings.iter().take_while(|other| other.binding < binding);
    let before: u32 = dynamic_before.filter(|other| is_dynamic(other.kind)).map(|other| other.count).sum();
    let element = |index: u32| {
        let offset = if is_dynamic(entry.kind) { offsets.get((before + index) as usize).copied() } else { None };
        Bound::new(set.get(entry.first + index).unwrap_or_default(), offset.unwrap_or(0))
    };
    (0..entry.elements()).map(element).collect()
}

/// Walks command lists.
pub struct Processor<'g> {
    pub(super) gpu: &'g Gpu,
    /// When the programs of the running draw or dispatch must stop.
    pub(super) deadline: Arc<Deadline>,
    pub(super) state: State,
    pub(super) pass: Option<Pass>,
    /// Draws of the pass whose tiles were not walked yet.
    pub(super) pending: Pending,
    /// As it was when execution began.
    pub(super) shared: OfDevice,
    /// How many of the subpass's views were rendered before this one: each has queries of its own.
    pub(super) view_number: u32,
    /// Whether draws, dispatches and clears of attachments are left out.
    skips: bool,
    /// How deep in lists of lists execution is.
    depth: u32,
    /// Occlusion query that counts now.
    pub(super) occlusion: Option<(Arc<QueryPool>, u32, AtomicU64)>,
    /// Query of pipeline statistics that counts now.
    pub(super) statistics: Option<(Arc<QueryPool>, u32, Arc<Counters>)>,
}

impl<'g> Processor<'g> {
    /// A processor with fresh state.
    pub fn new(gpu: &'g Gpu) -> Self {
        let deadline = Deadline::after(gpu.config().timeout);
        Self {
            gpu,
            deadline,
            state: State::new(),
            pass: None,
            pending: Pending::default(),
            shared: OfDevice { routines: gpu.routines().clone(), addresses: gpu.addresses().now() },
            view_number: 0,
            skips: false,
            depth: 0,
            occlusion: None,
            statistics: None,
        }
    }

    /// Executes a primary list.
    pub fn execute(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        self.state = State::new();
        self.skips = false;
        self.run(list)
    }

    fn run(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        let mut rest = list.commands.as_slice();
        while let Some((command, behind)) = rest.split_first() {
            self.command(command)?;
            rest = match command {
                Command::BeginPass(_) | Command::NextSubpass => self.views(behind)?,
                _ => behind,
            };
        }
        Ok(())
    }

    pub(super) fn command(&mut self, command: &Command) -> Result<(), DeviceLost> {
        match command {
            Command::BeginPass(begin) => {
                let mut pass = Pass::begin(begin, self.gpu.workers());
                self.pending = Pending::new(viewports::rect(pass.area), pass.layers);
                self.pending.begin_clears(pass.take_clears());
                self.begin_subpass(pass);
            }
            Command::NextSubpass => {
                self.flush()?;
                if let Some(mut pass) = self.pass.take() {
                    self.end_depth(&pass);
                    pass.next_subpass(self.gpu.workers());
                    self.pending.begin_clears(pass.take_clears());
                    self.begin_subpass(pass);
                }
            }
            Command::EndPass => {
                self.flush()?;
                if let Some(pass) = self.pass.take() {
                    self.end_depth(&pass);
                    pass.end(self.gpu.workers());
                }
            }
            // What a condition decides on.
            Command::Draw { .. }
            | Command::DrawIndexed { .. }
            | Command::DrawIndirect { .. }
            | Command::DrawIndexedIndirect { .. }
            | Command::DrawMulti { .. }
            | Command::Dispatch { .. }
            | Command::DispatchIndirect { .. }
            | Command::ClearAttachments { .. }
                if self.skips => {}
            Command::Draw { .. }
            | Command::DrawIndexed { .. }
            | Command::DrawIndirect { .. }
            | Command::DrawIndexedIndirect { .. }
            | Command::DrawMulti { .. } => {
                self.restart_deadline();
                return draw::draw(self, command);
            }
            Command::Dispatch { base, groups } => return self.dispatch(*base, *groups),
            Command::DispatchIndirect { buffer, offset } => return self.dispatch([0; 3], words(buffer, *offset)),
            Command::Execute(lists) => return self.execute_secondary(lists),
            Command::WaitEvents(events) => {
                self.flush()?;
                if !events.iter().all(|event| event.wait(EVENT_TIMEOUT)) {
                    return Err(DeviceLost);
                }
                // The host may have written what it sees.
                self.gpu.depths().wrote_any(|memory| memory.is_mapped());
            }
            Command::PipelineBarrier => self.flush()?,
            Command::BeginConditional { buffer, offset, inverted } => {
                self.skips = (words::<1>(buffer, *offset)[0] == 0) != *inverted;
            }
            Command::EndConditional => self.skips = false,
            Command::SetEvent(event) => event.set(),
            Command::ResetEvent(event) => event.reset(),
            Command::ClearAttachments { attachments, rects } => {
                self.flush()?;
                if let Some(pass) = &self.pass {
                    pass.clear_attachments(attachments, rects, self.gpu.workers(), |layer, area, depth| {
                        self.clear_depth(pass, layer, area, depth);
                    });
                }
                self.pending.forget_ahead();
            }
            _ if self.set_state(command) => {}
            // What a query counts, and when, must be known.
            _ => {
                self.flush()?;
                if !self.query(command) {
                    transfer(self.gpu.workers(), command);
                }
                depth::written_by(self.gpu.depths(), command);
            }
        }
        Ok(())
    }

    /// Goes on with a subpass that has begun.
    fn begin_subpass(&mut self, pass: Pass) {
        pass.fresh_others().for_each(|view| self.gpu.depths().wrote_surface(&view.surface));
        if pass.subpass().view_mask == 0 {
            self.begin_depth(&pass);
        }
        self.pass = Some(pass);
    }

    pub(super) fn restart_deadline(&mut self) {
        self.deadline = Deadline::after(self.gpu.config().timeout);
    }

    fn dispatch(&mut self, base: [u32; 3], groups: [u32; 3]) -> Result<(), DeviceLost> {
        self.restart_deadline();
        dispatch::dispatch(self, base, groups)
    }

    fn execute_secondary(&mut self, lists: &[Arc<CommandList>]) -> Result<(), DeviceLost> {
        // The first level is no nesting yet.
        if self.depth > MOST_NESTED {
            return Err(DeviceLost);
        }
        self.depth += 1;
        let (kept, skips) = (std::mem::replace(&mut self.state, State::new()), self.skips);
        for list in lists {
            self.state = State::new();
            self.state.set_view(self.pass.as_ref().map_or(0, Pass::view_index));
            self.run(list)?;
            self.skips = skips;
        }
        self.state = kept;
        self.depth -= 1;
        Ok(())
    }

    /// Executes a command that only sets state; false when it is another.
    fn set_state(&mut self, command: &Command) -> bool {
        let state = &mut self.state;
        match command {
            Command::BindGraphicsPipeline(pipeline) => {
                (state.graphics, state.drawn) = (Some(pipeline.clone()), None);
                state.graphics_sets.forget();
            }
            Command::SetViewports { first, viewports } => {
                state.views.set_viewports(*first, viewports);
                (state.dynamic.viewport, state.dynamic.scissor) = state.views.first();
            }
            Command::SetScissors { first, scissors } => {
                state.views.set_scissors(*first, scissors);
                (state.dynamic.viewport, state.dynamic.scissor) = state.views.first();
            }
            Command::BindComputePipeline(pipeline) => {
                state.compute = Some(pipeline.clone());
                state.compute_sets.forget();
            }
            Command::BindDescriptorSets { point, first, sets, dynamic_offsets } => {
                state.sets(*point).bind(*first, sets, dynamic_offsets);
            }
            Command::BindVertexBuffers { first, buffers } => {
                for (binding, buffer) in (*first as usize..MOST_BINDINGS).zip(buffers) {
                    if state.vertex_buffers.len() <= binding {
                        state.vertex_buffers.resize(binding + 1, None);
                    }
                    state.vertex_buffers[binding] = buffer.clone();
                }
            }
            Command::PushDescriptors { point, set, layout, writes } => state.sets(*point).push(*set, layout, writes),
            Command::BindIndexBuffer { range, index_type } => {
                state.index_buffer = Some((range.clone(), *index_type));
            }
            Command::PushConstants { offset, data } => {
                let constants = state.push.get_mut(*offset as usize..PUSH_CONSTANT_BYTES);
                if let Some(target) = constants.and_then(|rest| rest.get_mut(..data.len())) {
                    target.copy_from_slice(data);
                }
            }
            Command::SetState(value) => {
                state.extended.set(*value);
                state.drawn = None;
            }
            Command::SetBlend { first, values } => {
                state.extended.set_blend(*first, values);
                state.drawn = None;
            }
            Command::SetVertexInput(input) => {
                state.extended.set_input(input);
                state.drawn = None;
            }
            Command::SetVertexStrides { first, strides } => {
                state.extended.set_strides(*first, strides);
                state.drawn = None;
            }
            _ => return state.dynamic.set(command),
        }
        true
    }

    /// Who counts, if anybody does: a query, which gives the GPU's counters what it has counted when it ends.
    pub(super) fn counters(&self) -> Option<&Arc<Counters>> {
        self.statistics.as_ref().map(|(_, _, counters)| counters).or(self.gpu.counters())
    }

    fn end_statistics(&mut self, named: vk::QueryPipelineStatisticFlags) {
        let Some((pool, query, counters)) = self.statistics.take() else { return };
        pool.write(query, &statistics(named, &counters.values()));
        if let (Some(all), Some(counters)) = (self.gpu.counters(), Arc::into_inner(counters)) {
            all.add(counters);
        }
    }

    fn query(&mut self, command: &Command) -> bool {
        match command {
            Command::BeginQuery { pool, query, .. } => {
                let (pool, query) = (pool.clone(), query.saturating_add(self.view_number));
                match pool.kind() {
                    QueryKind::Statistics(_) => self.statistics = Some((pool, query, Arc::default())),
                    _ => self.occlusion = Some((pool, query, AtomicU64::new(0))),
                }
            }
            Command::EndQuery { pool, .. } => match pool.kind() {
                QueryKind::Statistics(named) => self.end_statistics(named),
                _ => {
                    if let Some((pool, query, count)) = self.occlusion.take() {
                        pool.write(query, &[count.into_inner()]);
                    }
                }
            },
            Command::ResetQueryPool { pool, first, count } => pool.reset(*first, *count),
            Command::WriteTimestamp { pool, query } => {
                pool.write(query.saturating_add(self.view_number), &[self.gpu.now()])
            }
            Command::CopyQueryPoolResults { pool, first, count, target, offset, stride, flags } => {
                for index in 0..*count {
                    let (at, bytes) = pool.result_bytes(first + index, *flags);
                    target.write(offset + u64::from(index) * stride + at as u64, &bytes);
                }
            }
            _ => return false,
        }
        true
    }
}

impl Dynamic {
    /// Whether fragments see the same state: what set-up has used does not count.
    pub(super) fn is_same_for_fragments(&self, other: &Self) -> bool {
        let viewport = |of: &Self| (of.viewport.x, of.viewport.y, of.viewport.width, of.viewport.height);
        let state = |of: &Self| (viewport(of), of.scissor, of.blend_constants, of.depth_bounds, of.stencil, of.rate);
        state(self) == state(other)
    }

    fn set(&mut self, command: &Command) -> bool {
        match command {
            Command::SetLineWidth(width) => self.line_width = *width,
            Command::SetLineStipple(stipple) => self.line_stipple = *stipple,
            Command::SetDepthBias(bias) => self.depth_bias = *bias,
            Command::SetFragmentRate(rate) => self.rate = *rate,
            Command::SetBlendConstants(constants) => self.blend_constants = *constants,
            Command::SetDepthBounds(bounds) => self.depth_bounds = *bounds,
            Command::SetStencilCompareMask { faces, mask } => self.set_stencil(*faces, 0, *mask),
            Command::SetStencilWriteMask { faces, mask } => self.set_stencil(*faces, 1, *mask),
            Command::SetStencilReference { faces, reference } => self.set_stencil(*faces, 2, *reference),
            _ => return false,
        }
        true
    }

    fn set_stencil(&mut self, faces: vk::StencilFaceFlags, field: usize, value: u32) {
        for (face, flag) in [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK].into_iter().enumerate() {
            if faces.contains(flag) {
                self.stencil[face][field] = value;
            }
        }
    }
}

/// `N` words of a buffer; zeros outside.
pub(super) fn words<const N: usize>(buffer: &Buffer, offset: u64) -> [u32; N] {
    std::array::from_fn(|index| {
        let mut bytes = [0; 4];
        buffer.read(offset + 4 * index as u64, &mut bytes);
        u32::from_le_bytes(bytes)
    })
}

fn transfer(workers: &Workers, command: &Command) {
    match command {
        Command::CopyBuffer { source, target, regions } => transfer::copy_buffer(source, target, regions),
        Command::CopyImage { source, target, regions } => {
            transfer::copy_image(workers, source, target, regions);
        }
        Command::BlitImage { source, target, regions, filter } => transfer::blit(source, target, regions, *filter),
        Command::CopyBufferToImage { source, target, regions } => {
            transfer::copy_buffer_image(workers, source, target, regions, transfer::Direction::ToImage);
        }
        Command::CopyImageToBuffer { source, target, regions } => {
            transfer::copy_buffer_image(workers, target, source, regions, transfer::Direction::ToBuffer);
        }
        Command::UpdateBuffer { target, offset, data } => target.write(*offset, data),
        Command::FillBuffer { target, offset, size, word } => transfer::fill_buffer(target, *offset, *size, *word),
        Command::ClearColorImage { target, value, ranges }
        | Command::ClearDepthStencilImage { target, value, ranges } => {
            transfer::clear_image(target, *value, ranges);
        }
        Command::ResolveImage { source, target, regions } => transfer::resolve(source, target, regions),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocation, BufferRange, Heap};
    use crate::shader::runtime::{Descriptor, SetBinding, SetLayout};
    use crate::shader::spirv;

    /// A set whose dynamic storage buffer at binding 0 holds two words, 16 bytes apart.
    fn set(heap: &Arc<Heap>, words: [u32; 2]) -> Arc<DescriptorSet> {
        let memory = Allocation::new(heap, 32).unwrap();
        memory.write(0, &words[0].to_le_bytes());
        memory.write(16, &words[1].to_le_bytes());
        let buffer = Buffer::new(32);
        assert!(buffer.bind(memory, 0));
        let binding = SetBinding {
            binding: 0,
            kind: vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
            count: 1,
            stages: vk::ShaderStageFlags::COMPUTE,
            immutable_samplers: Vec::new(),
            first: 0,
        };
        let set = DescriptorSet::new(Arc::new(SetLayout::new(vec![binding])));
        set.write(0, Descriptor::StorageBuffer(BufferRange::new(buffer, 0, vk::WHOLE_SIZE)));
        set
    }

    /// A program whose resources are the buffers at bindings 0 and 1 of set 0.
    fn program() -> Arc<Program> {
        let bytes = include_bytes!("../../tests/shaders/atomics.comp.spv");
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let module = spirv::parse(&words).unwrap();
        Arc::new(spirv::compile(&module, "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).unwrap())
    }

    fn first_word(bindings: &Bindings, resource: u32) -> u32 {
        let mut word = [0; 4];
        if let Some((memory, at)) = bindings.place(resource, 0, 0, 4) {
            memory.read(at, &mut word);
        }
        u32::from_le_bytes(word)
    }

    #[test]
    fn resources_are_resolved_once_for_each_bind() {
        let heap = Heap::new(1 << 16);
        let program = program();
        let resource = program.resources.iter().position(|resource| resource.binding == 0).unwrap() as u32;
        let sets = [set(&heap, [11, 12]), set(&heap, [21, 22])];
        let mut bound = BoundSets::default();
        let mut word = |bind: Option<(usize, u32)>| {
            if let Some((number, offset)) = bind {
                bound.bind(0, &[Some(sets[number].clone())], &[offset]);
            }
            let bindings = bound.resolve([&*program], &OfDevice::default());
            (first_word(&bindings[0], resource), bindings)
        };
        let (nothing, unbound) = word(None);
        assert_eq!(nothing, 0);
        let (first, bindings) = word(Some((0, 0)));
        assert_eq!(first, 11);
        assert!(!Arc::ptr_eq(&bindings, &unbound));
        assert!(Arc::ptr_eq(&bindings, &word(None).1), "a second draw resolves nothing");
        assert_eq!(word(Some((0, 16))).0, 12, "another dynamic offset");
        assert_eq!(word(Some((1, 0))).0, 21, "another set");
        let last = word(None).1;
        bound.forget();
        let again = bound.resolve([&*program, &*program], &OfDevice::default());
        assert!(!Arc::ptr_eq(&last, &again), "another pipeline");
        assert_eq!(again.iter().map(|bindings| first_word(bindings, resource)).collect::<Vec<_>>(), [21, 21]);
    }
}
