//! The descriptor sets of a bind point, and the resources of programs. Attachments that fragment
//! programs read are resources of a set of their own, which changes with the subpass.
//!
//! Resources are resolved at the first draw or dispatch after a bind, and stay resolved until the
//! next bind. A bound set must therefore not be updated until the commands are done. The resources
//! of a program are resolved again only when a set that it uses, or the program itself, has
//! changed. Source: Vulkan specification, "Descriptor Set Updates", "Descriptor Set Binding".

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::Program;
use vitric_exec::bindings::{
    AccessibleMemory, Bindings, DescriptorName, DescriptorResolver, DescriptorSet, NoDescriptors, ResolvedSet,
};
use vitric_exec::runtime::{Bound, Descriptor, SetLayout, is_dynamic};
use vitric_exec::texture::Routines;
use vitric_ir::interface::{MAX_COLORS, Resource};
use vitric_memory::{Addresses, InUse, SurfaceView};

use super::pass::Pass;

/// `maxBoundDescriptorSets`.
pub const MAX_SETS: usize = 16;

/// Maximum number of programs of a bind point: those of all graphics stages.
const MAX_PROGRAMS: usize = 5;

/// State that all programs of a device share.
pub(super) struct DeviceContext<'g> {
    pub(super) routines: Arc<Routines>,
    pub(super) addresses: Arc<Addresses>,
    /// Resolver of the names in descriptor sets.
    pub(super) resolver: Arc<dyn DescriptorResolver>,
    /// Keeps images resident, if images may be compacted.
    pub(super) in_use: Option<InUse<'g>>,
    /// Memory that the submission may access.
    pub(super) protection: Protection<'g>,
}

/// Rules of protected memory for a submission.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Protection<'g> {
    /// True if the submission is protected.
    pub(super) is_protected: bool,
    /// True if the device has protected resources.
    pub(super) has_resources: Option<&'g AtomicBool>,
}

impl Protection<'_> {
    /// Returns true if there may be resources that the submission must not access.
    pub(super) fn applies(self) -> bool {
        self.is_protected || self.has_resources.is_some_and(|has| has.load(Ordering::Acquire))
    }

    /// Returns the memory that a program may access through a resource. Protected submissions read
    /// all memory, and write protected memory only.
    fn of_resource(self, program: &Program, resource: u32) -> AccessibleMemory {
        match self.is_protected {
            true if !program.writes(resource) => AccessibleMemory::All,
            protected => AccessibleMemory::Only { protected },
        }
    }
}

impl Default for DeviceContext<'_> {
    fn default() -> Self {
        let (routines, addresses, in_use, protection) = Default::default();
        Self { routines, addresses, resolver: Arc::new(NoDescriptors), in_use, protection }
    }
}

/// A bound set with its dynamic offsets.
#[derive(Clone)]
struct BoundSet {
    /// Name of the set; 0 if its descriptors were pushed.
    name: u64,
    set: Arc<DescriptorSet>,
    offsets: SmallVec<[u32; 4]>,
    /// Contents of the set when it was first resolved.
    resolved: Option<Arc<ResolvedSet>>,
    /// Dynamic buffers of the set, in order, with their offsets.
    with_offsets: Option<Arc<ResolvedSet>>,
}

/// Resources of a program.
#[derive(Clone)]
struct ResolvedProgram {
    program: Arc<Program>,
    bindings: Arc<Bindings>,
    /// Sets that were bound since the resources were resolved, one bit per set.
    changed: u32,
    /// Number of times images had lost contents when the images in the bindings began to be used.
    losses: u64,
    /// Number of times decoded texels in use had become out of date.
    decoded_losses: u64,
}

/// The sets of a bind point, and the resources of the bound pipeline's programs.
#[derive(Clone, Default)]
pub(super) struct BoundSets {
    sets: [Option<BoundSet>; MAX_SETS],
    /// Resources by stage.
    programs: [Option<ResolvedProgram>; MAX_PROGRAMS],
}

impl BoundSets {
    /// Binds sets from slot `first` on, with their dynamic offsets. Returns false if all of them
    /// were bound already.
    pub(super) fn bind(
        &mut self,
        first: u32,
        sets: &[u64],
        mut offsets: &[u32],
        resolver: &dyn DescriptorResolver,
    ) -> bool {
        let mut changed = 0;
        for (slot, &name) in (first as usize..MAX_SETS).zip(sets) {
            let set = match &self.sets[slot] {
                Some(bound) if name != 0 && bound.name == name => Some(bound.set.clone()),
                _ => resolver.set(name),
            };
            let count = set.as_ref().map_or(0, |set| set.layout().dynamic_count() as usize);
            let (set_offsets, remaining) = offsets.split_at(count.min(offsets.len()));
            offsets = remaining;
            let is_bound = match (&self.sets[slot], &set) {
                (Some(bound), Some(set)) => {
                    Arc::ptr_eq(&bound.set, set) && bound.name == name && *bound.offsets == *set_offsets
                }
                (None, None) => true,
                _ => false,
            };
            if !is_bound {
                let offsets = SmallVec::from_slice(set_offsets);
                self.sets[slot] = set.map(|set| BoundSet { name, set, offsets, resolved: None, with_offsets: None });
                changed |= 1 << slot;
            }
        }
        self.mark_changed(changed);
        changed != 0
    }

    /// Records that a subpass with other attachments has begun.
    pub(super) fn mark_attachments_changed(&mut self) {
        self.mark_changed(slot_of(Resource::ATTACHMENTS));
    }

    fn mark_changed(&mut self, slots: u32) {
        self.programs.iter_mut().flatten().for_each(|program| program.changed |= slots);
    }

    /// Writes descriptors of a set without an object. Descriptors pushed before are kept if their
    /// set has a like layout.
    pub(super) fn push(&mut self, set: u32, layout: &Arc<SetLayout>, writes: &[(u32, DescriptorName)]) {
        let Some(slot) = self.sets.get_mut(set as usize) else { return };
        let before = slot.take().map(|bound| bound.set).filter(|set| set.layout().is_identical(layout));
        let target = match before {
            // No other owner exists: draws have resolved the resources that they need.
            Some(set) if Arc::strong_count(&set) == 1 => set,
            Some(set) => set.copied(),
            None => DescriptorSet::new(layout.clone()),
        };
        let mut end = 0;
        for (index, named) in writes {
            if let Some(slot) = target.slots().get(*index as usize) {
                slot.put(*named);
                end = end.max(*index as usize + 1);
            }
        }
        target.mark_written(end);
        *slot = Some(BoundSet { name: 0, set: target, offsets: SmallVec::new(), resolved: None, with_offsets: None });
        self.mark_changed(1 << set);
    }

    /// Returns the resources of the program of a stage of the bound pipeline. Stages are numbered
    /// from 0. Programs that read attachments need the `pass`.
    pub(super) fn resolve(
        &mut self,
        stage: usize,
        program: &Arc<Program>,
        device: &DeviceContext<'_>,
        pass: Option<&Pass>,
    ) -> Arc<Bindings> {
        let used = |changed: u32| program.resources.iter().any(|resource| changed & slot_of(resource.set) != 0);
        let decoded_losses = device.routines.decoded().losses();
        if let Some(resolved) = &mut self.programs[stage]
            && Arc::ptr_eq(&resolved.program, program)
            && !used(resolved.changed)
            && resolved.decoded_losses == decoded_losses
        {
            if let Some(in_use) = device.in_use.as_ref().filter(|in_use| in_use.losses() != resolved.losses) {
                resolved.losses = in_use.losses();
                resolved.bindings.begin_use(in_use);
            }
            return resolved.bindings.clone();
        }
        let mut bindings = Bindings::of_program(program, device.routines.clone(), device.addresses.clone());
        for (number, resource) in (0..).zip(&program.resources) {
            if let Some(pass) = pass.filter(|_| resource.is_attachment()) {
                add_attachments(&mut bindings, resource.binding, program, pass);
                continue;
            }
            let Some((set, range)) = self.find(*resource, &*device.resolver) else {
                bindings.add_nothing();
                continue;
            };
            // The descriptors are resolved by now, so that no later one can be protected.
            let restricted = match device.protection.applies() {
                true => device.protection.of_resource(program, number).restrict(set, range.clone()),
                false => None,
            };
            match restricted {
                Some(restricted) => bindings.add(&restricted, 0..range.len()),
                None => bindings.add(set, range),
            }
        }
        let losses = device.in_use.as_ref().map_or(0, InUse::losses);
        if let Some(in_use) = &device.in_use {
            bindings.begin_use(in_use);
        }
        let bindings = Arc::new(bindings);
        let (program, kept) = (program.clone(), bindings.clone());
        self.programs[stage] = Some(ResolvedProgram { program, bindings: kept, changed: 0, losses, decoded_losses });
        bindings
    }

    /// Returns the resolved set that holds the descriptors of a resource, and their range in it.
    fn find(
        &mut self,
        Resource { set, binding }: Resource,
        resolver: &dyn DescriptorResolver,
    ) -> Option<(&Arc<ResolvedSet>, Range<usize>)> {
        let BoundSet { set, offsets, resolved, with_offsets, .. } = self.sets.get_mut(set as usize)?.as_mut()?;
        let entry = set.layout().find(binding)?;
        let count = entry.elements() as usize;
        if is_dynamic(entry.kind) {
            let before = set.layout().bindings.iter().take_while(|other| other.binding < binding);
            let before = before.filter(|other| is_dynamic(other.kind)).map(|other| other.count as usize).sum();
            let buffers = with_offsets.get_or_insert_with(|| resolve_dynamic(set, offsets, resolver));
            return Some((buffers, before..before + count));
        }
        let first = entry.first as usize;
        Some((resolved.get_or_insert_with(|| set.resolved(resolver)), first..first + count))
    }
}

/// Returns the bit of a set in masks of changed sets. Sets beyond the limit, which are never bound,
/// share bits.
fn slot_of(set: u32) -> u32 {
    1u32.wrapping_shl(set)
}

/// Adds attachments of a pass: the colours from a location on, or depth or stencil.
fn add_attachments(bindings: &mut Bindings, binding: u32, program: &Program, pass: &Pass) {
    let bound =
        |view: Option<Arc<SurfaceView>>| Bound::new(view.map_or(Descriptor::None, Descriptor::InputAttachment), 0);
    let color = |location| pass.color_view(program.fragment.color_attachment(location)).cloned();
    let set = match binding {
        Resource::DEPTH => ResolvedSet::new([bound(pass.view_of_tests(vk::ImageAspectFlags::DEPTH))]),
        Resource::STENCIL => ResolvedSet::new([bound(pass.view_of_tests(vk::ImageAspectFlags::STENCIL))]),
        first => ResolvedSet::new((first..MAX_COLORS as u32).map(|location| bound(color(location)))),
    };
    bindings.add(&set, 0..MAX_COLORS);
}

/// Returns the dynamic buffers of a set, in order, with their offsets.
fn resolve_dynamic(set: &DescriptorSet, offsets: &[u32], resolver: &dyn DescriptorResolver) -> Arc<ResolvedSet> {
    let offsets = offsets.iter().copied().chain(std::iter::repeat(0));
    ResolvedSet::new(set.dynamic_buffers(resolver).zip(offsets).map(|(buffer, offset)| Bound::new(buffer, offset)))
}

#[cfg(test)]
mod tests {
    use super::*;

    use vitric_exec::runtime::{Sampler, SetBinding};
    use vitric_memory::{Allocation, Buffer, BufferView, Heap};
    use vitric_spirv as spirv;

    /// Objects with names. Names of buffers begin with 1, names of sets with 101.
    #[derive(Debug, Default)]
    struct Objects {
        buffers: Vec<Arc<Buffer>>,
        sets: Vec<Arc<DescriptorSet>>,
    }

    impl DescriptorResolver for Objects {
        fn buffer(&self, name: u64) -> Option<Arc<Buffer>> {
            self.buffers.get(name.checked_sub(1)? as usize).cloned()
        }

        fn buffer_view(&self, _: u64) -> Option<Arc<BufferView>> {
            None
        }

        fn image_view(&self, _: u64) -> Option<Arc<SurfaceView>> {
            None
        }

        fn sampler(&self, _: u64) -> Option<Arc<Sampler>> {
            None
        }

        fn set(&self, name: u64) -> Option<Arc<DescriptorSet>> {
            self.sets.get(name.checked_sub(101)? as usize).cloned()
        }
    }

    /// Creates a device with two sets.
    fn device(heap: &Arc<Heap>, words: [[u32; 2]; 2]) -> DeviceContext<'static> {
        let mut objects = Objects::default();
        words.into_iter().for_each(|words| add(heap, words, &mut objects));
        DeviceContext { resolver: Arc::new(objects), ..DeviceContext::default() }
    }

    /// Adds a set whose dynamic storage buffer at binding 0 holds two words, 16 bytes apart.
    fn add(heap: &Arc<Heap>, words: [u32; 2], objects: &mut Objects) {
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
        objects.buffers.push(buffer);
        let object = objects.buffers.len() as u64;
        set.slots()[0].put(DescriptorName {
            kind: vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
            object,
            other: 0,
            size: vk::WHOLE_SIZE,
        });
        set.mark_written(1);
        objects.sets.push(set);
    }

    /// Returns a program whose resources are the buffers at bindings 0 and 1 of set 0.
    fn program() -> Arc<Program> {
        let bytes = include_bytes!("../../../tests/shaders/atomics.comp.spv");
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let module = spirv::parse(&words).unwrap();
        let shader = spirv::compile(&module, "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).unwrap();
        Arc::new(Program::new(shader, "main"))
    }

    fn first_word(bindings: &Bindings, resource: u32) -> u32 {
        let mut word = [0; 4];
        if let Some((memory, at)) = bindings.locate(resource, 0, 0, 4) {
            memory.read(at, &mut word);
        }
        u32::from_le_bytes(word)
    }

    #[test]
    fn resources_are_resolved_once_for_each_bind() {
        let heap = Heap::new(1 << 16);
        let program = program();
        let resource = program.resources.iter().position(|resource| resource.binding == 0).unwrap() as u32;
        let device = device(&heap, [[11, 12], [21, 22]]);
        let mut bound = BoundSets::default();
        let mut word = |bind: Option<(usize, u32)>| {
            if let Some((number, offset)) = bind {
                bound.bind(0, &[101 + number as u64], &[offset], &*device.resolver);
            }
            let bindings = bound.resolve(0, &program, &device, None);
            (first_word(&bindings, resource), bindings)
        };
        let (nothing, unbound) = word(None);
        assert_eq!(nothing, 0);
        let (first, bindings) = word(Some((0, 0)));
        assert_eq!(first, 11);
        assert!(!Arc::ptr_eq(&bindings, &unbound));
        assert!(Arc::ptr_eq(&bindings, &word(None).1), "a second draw resolves nothing");
        assert!(Arc::ptr_eq(&bindings, &word(Some((0, 0))).1), "binding the bound set again changes nothing");
        assert_eq!(word(Some((0, 16))).0, 12, "another dynamic offset");
        assert_eq!(word(Some((1, 0))).0, 21, "another set");
        let last = word(None).1;
        bound.bind(1, &[101], &[0], &*device.resolver);
        assert!(Arc::ptr_eq(&last, &bound.resolve(0, &program, &device, None)), "a set that it does not use");
        let again = bound.resolve(1, &program, &device, None);
        assert!(!Arc::ptr_eq(&last, &again), "another stage");
        let other = self::program();
        let again = bound.resolve(0, &other, &device, None);
        assert!(!Arc::ptr_eq(&last, &again), "another program");
        assert_eq!(first_word(&again, resource), 21);
        bound.bind(0, &[103], &[0], &*device.resolver);
        assert_eq!(first_word(&bound.resolve(0, &program, &device, None), resource), 0, "a destroyed set is not bound");
    }

    #[test]
    fn pushed_descriptors_replace_earlier_ones() {
        let heap = Heap::new(1 << 16);
        let (program, device) = (program(), device(&heap, [[11, 0], [21, 0]]));
        let resource = program.resources.iter().position(|resource| resource.binding == 0).unwrap() as u32;
        let binding = device.resolver.set(101).unwrap().layout().bindings[0].clone();
        let binding = SetBinding { kind: vk::DescriptorType::STORAGE_BUFFER, ..binding };
        let layout = Arc::new(SetLayout::new(vec![binding]));
        let mut bound = BoundSets::default();
        let words = [1, 2].map(|object| {
            let named =
                DescriptorName { kind: vk::DescriptorType::STORAGE_BUFFER, object, other: 0, size: vk::WHOLE_SIZE };
            bound.push(0, &layout, &[(0, named)]);
            bound.resolve(0, &program, &device, None)
        });
        assert_eq!(words.map(|bindings| first_word(&bindings, resource)), [11, 21]);
    }
}
