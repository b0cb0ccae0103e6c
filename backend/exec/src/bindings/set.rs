//! Descriptor sets. They hold names of objects, which are looked up when a draw or dispatch needs
//! them.
//!
//! Writing, copying and freeing descriptors therefore only stores words, without reference counts,
//! allocations or locks. A set keeps no object alive until its descriptors are resolved. A name
//! whose object was destroyed is a null descriptor.
//!
//! The host may write a set while a command processor reads it. The command processor then reads
//! the old or the new words. A mixture of both is handled like any other name.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, DescriptorType as T};
use bytemuck::Zeroable;
use parking_lot::Mutex;
use smallvec::SmallVec;
use vitric_memory::{Allocation, Buffer, BufferRange, BufferView, Heap, SurfaceView, SurfaceViewDesc};

use super::ResolvedSet;
use crate::runtime::{Bound, Descriptor, Sampler, SetBinding, SetLayout, is_dynamic};

/// Resolver of the names that descriptors and commands use for objects. Objects that were
/// destroyed or never existed have no name, and 0 names nothing.
pub trait DescriptorResolver: Debug + Send + Sync {
    /// Returns the buffer with this name.
    fn buffer(&self, name: u64) -> Option<Arc<Buffer>>;
    /// Returns the buffer view with this name.
    fn buffer_view(&self, name: u64) -> Option<Arc<BufferView>>;
    /// Returns the image view with this name.
    fn image_view(&self, name: u64) -> Option<Arc<SurfaceView>>;
    /// Returns the sampler with this name.
    fn sampler(&self, name: u64) -> Option<Arc<Sampler>>;
    /// Returns the descriptor set with this name.
    fn set(&self, name: u64) -> Option<Arc<DescriptorSet>>;
}

/// Resolver without any objects.
#[derive(Debug)]
pub struct NoDescriptors;

impl DescriptorResolver for NoDescriptors {
    fn buffer(&self, _: u64) -> Option<Arc<Buffer>> {
        None
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

    fn set(&self, _: u64) -> Option<Arc<DescriptorSet>> {
        None
    }
}

/// Descriptor by the names of its objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DescriptorName {
    /// Descriptor type.
    pub kind: T,
    /// Name of a buffer, a view, or a sampler without an image. 0 names nothing.
    pub object: u64,
    /// Name of an image's sampler, or first byte of a buffer.
    pub other: u64,
    /// Size of a buffer range in bytes, or `vk::WHOLE_SIZE`.
    pub size: u64,
}

/// Storage of one descriptor in a set.
#[derive(Debug, Default, Zeroable)]
pub struct DescriptorSlot([AtomicU64; 4]);

impl DescriptorSlot {
    /// Writes a descriptor.
    #[inline]
    pub fn put(&self, named: DescriptorName) {
        let words = [named.object, named.other, named.size, named.kind.as_raw() as u64];
        for (slot, word) in self.0.iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// Returns the descriptor that was written last.
    #[inline]
    pub fn get(&self) -> DescriptorName {
        let [object, other, size, kind] = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        DescriptorName { kind: T::from_raw(kind as i32), object, other, size }
    }

    fn clear(&self) {
        self.0[0].store(0, Ordering::Relaxed);
    }
}

impl DescriptorName {
    /// Resolves the descriptor, with the layout's immutable sampler if there is one.
    fn resolve(self, names: &dyn DescriptorResolver, immutable: Option<&Arc<Sampler>>) -> Descriptor {
        let Self { kind, object, other, size } = self;
        let sampler = |name| immutable.cloned().or_else(|| names.sampler(name));
        let range = || names.buffer(object).map(|buffer| BufferRange::new(buffer, other, size));
        let found = match kind {
            T::SAMPLER => sampler(object).map(Descriptor::Sampler),
            T::COMBINED_IMAGE_SAMPLER => names
                .image_view(object)
                .zip(sampler(other))
                .map(|(view, sampler)| Descriptor::CombinedImageSampler(with_all_slices(view), sampler)),
            T::SAMPLED_IMAGE => names.image_view(object).map(|view| Descriptor::SampledImage(with_all_slices(view))),
            T::STORAGE_IMAGE => names.image_view(object).map(Descriptor::StorageImage),
            T::INPUT_ATTACHMENT => names.image_view(object).map(Descriptor::InputAttachment),
            T::UNIFORM_TEXEL_BUFFER => names.buffer_view(object).map(Descriptor::UniformTexelBuffer),
            T::STORAGE_TEXEL_BUFFER => names.buffer_view(object).map(Descriptor::StorageTexelBuffer),
            T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC => range().map(Descriptor::UniformBuffer),
            T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => range().map(Descriptor::StorageBuffer),
            _ => None,
        };
        found.unwrap_or_default()
    }
}

/// Returns a view for sampling. A view of some slices of a volume applies only to storage images.
fn with_all_slices(view: Arc<SurfaceView>) -> Arc<SurfaceView> {
    match view.desc.slices {
        None => view,
        Some(_) => {
            let desc = SurfaceViewDesc { slices: None, ..view.desc };
            Arc::new(SurfaceView { surface: view.surface.clone(), desc })
        }
    }
}

/// Returns `count` empty slots. Large lists use the system's zeroed pages, so that a set with a
/// million descriptors uses memory only for those that are written.
fn empty_slots(count: usize) -> SmallVec<[DescriptorSlot; 4]> {
    match count {
        ..=4 => (0..count).map(|_| DescriptorSlot::default()).collect(),
        _ => SmallVec::from_vec(bytemuck::zeroed_vec(count)),
    }
}

/// Creates a block of `bytes` bytes with its own memory. If the allocation fails, reads return
/// zero.
fn inline_block(bytes: u32) -> Arc<Buffer> {
    let buffer = Buffer::new(u64::from(bytes));
    if let Ok(memory) = Allocation::new(&Heap::new(u64::from(bytes)), u64::from(bytes)) {
        buffer.bind(memory, 0);
    }
    buffer
}

/// Descriptor set: a layout and one descriptor for each element of each binding.
#[derive(Debug)]
pub struct DescriptorSet {
    layout: Arc<SetLayout>,
    /// Slots of the descriptors. Most sets have few, which need no separate allocation.
    slots: SmallVec<[DescriptorSlot; 4]>,
    /// Inline uniform blocks, with their positions.
    blocks: Vec<(u32, Arc<Buffer>)>,
    /// End of the slots that may hold a descriptor. Later slots are skipped, so that the cost of a
    /// large set depends on the number of written slots.
    end: AtomicU32,
    /// True if a slot was written since the set was resolved.
    is_written: AtomicBool,
    /// True if the set may hold resolved descriptors.
    is_resolved: AtomicBool,
    /// Descriptors as of the last draw or dispatch that resolved them. They are valid until the
    /// next write.
    resolved: Mutex<Option<Arc<ResolvedSet>>>,
}

impl DescriptorSet {
    /// Creates a set that holds nothing but the layout's immutable samplers.
    pub fn new(layout: Arc<SetLayout>) -> Arc<Self> {
        let slots = empty_slots(layout.total as usize);
        let inline = layout.bindings.iter().filter(|binding| binding.is_inline() && binding.count > 0);
        let blocks = inline.map(|binding| (binding.first, inline_block(binding.count))).collect();
        let (is_written, is_resolved, resolved) = Default::default();
        let end = AtomicU32::new(layout.filled);
        Arc::new(Self { layout, slots, blocks, end, is_written, is_resolved, resolved })
    }

    /// Returns the size of a set of this layout, in bytes.
    #[inline]
    pub fn bytes(layout: &SetLayout) -> usize {
        layout.total as usize * size_of::<DescriptorSlot>()
    }

    /// Resets the set to an empty one of a layout. Replaces it by a new set if it cannot be
    /// reused.
    pub fn reset(this: &mut Arc<Self>, layout: &Arc<SetLayout>) {
        if Arc::ptr_eq(&this.layout, layout) && this.blocks.is_empty() {
            this.used_slots().iter().for_each(DescriptorSlot::clear);
            this.end.store(layout.filled, Ordering::Relaxed);
            this.drop_resolved();
        } else {
            *this = Self::new(layout.clone());
        }
    }

    /// Returns a copy of the set. Both sets share their inline uniform blocks.
    pub fn copied(&self) -> Arc<Self> {
        let copy = |slot: &DescriptorSlot| {
            let copied = DescriptorSlot::default();
            copied.put(slot.get());
            copied
        };
        let (is_written, is_resolved, resolved) = Default::default();
        let (slots, blocks) = (self.slots.iter().map(copy).collect(), self.blocks.clone());
        let end = AtomicU32::new(self.end.load(Ordering::Relaxed));
        Arc::new(Self { layout: self.layout.clone(), slots, blocks, end, is_written, is_resolved, resolved })
    }

    /// Returns the buffer of an inline uniform block.
    #[inline]
    pub fn inline_block(&self, binding: u32) -> Option<&Arc<Buffer>> {
        if self.blocks.is_empty() { None } else { self.block_of(binding) }
    }

    fn block_of(&self, binding: u32) -> Option<&Arc<Buffer>> {
        let first = self.layout.find(binding).filter(|entry| entry.is_inline())?.first;
        self.blocks.iter().find(|(place, _)| *place == first).map(|(_, block)| block)
    }

    /// Returns the set's layout.
    #[inline]
    pub fn layout(&self) -> &Arc<SetLayout> {
        &self.layout
    }

    /// Returns the slots of the descriptors. A caller that writes to them must call
    /// [`Self::mark_written`] afterwards.
    #[inline]
    pub fn slots(&self) -> &[DescriptorSlot] {
        &self.slots
    }

    /// Returns the slots that may hold a descriptor.
    fn used_slots(&self) -> &[DescriptorSlot] {
        &self.slots[..self.slots.len().min(self.end.load(Ordering::Relaxed) as usize)]
    }

    /// Records that slots before `end` were written, so that the next resolution reads them.
    #[inline]
    pub fn mark_written(&self, end: usize) {
        if end > self.end.load(Ordering::Relaxed) as usize {
            self.end.fetch_max(end as u32, Ordering::Relaxed);
        }
        self.is_written.store(true, Ordering::Release);
    }

    /// Drops the resolved descriptors.
    #[inline]
    pub fn drop_resolved(&self) {
        self.mark_written(0);
        if self.is_resolved.load(Ordering::Relaxed) {
            self.resolved.lock().take();
        }
    }

    /// Resolves descriptor `place` of a binding.
    fn descriptor(&self, names: &dyn DescriptorResolver, binding: &SetBinding, place: u32) -> Descriptor {
        if binding.is_inline() {
            let block = self.blocks.iter().find(|(first, _)| *first == place);
            let range = |(_, block): &(u32, Arc<Buffer>)| BufferRange::new(block.clone(), 0, vk::WHOLE_SIZE);
            return block.map_or(Descriptor::None, |block| Descriptor::UniformBuffer(range(block)));
        }
        let immutable = binding.immutable_sampler(place);
        match (binding.kind, immutable) {
            (T::SAMPLER, Some(sampler)) => Descriptor::Sampler(sampler.clone()),
            _ => self.slots.get(place as usize).map_or(Descriptor::None, |slot| slot.get().resolve(names, immutable)),
        }
    }

    /// Returns the dynamic buffers, in order.
    #[inline]
    pub fn dynamic_buffers(&self, names: &dyn DescriptorResolver) -> impl Iterator<Item = Descriptor> {
        let dynamic = self.layout.bindings.iter().filter(|binding| is_dynamic(binding.kind));
        let places =
            dynamic.flat_map(|binding| (0..binding.count).map(move |element| (binding, binding.first + element)));
        places.map(|(binding, place)| self.descriptor(names, binding, place))
    }

    /// Returns all current descriptors, resolved, up to the last one that was written. Dynamic
    /// offsets are 0.
    pub fn resolved(&self, names: &dyn DescriptorResolver) -> Arc<ResolvedSet> {
        let mut kept = self.resolved.lock();
        // Writes after this point are seen by the next call.
        let is_written = self.is_written.load(Ordering::Relaxed) && self.is_written.swap(false, Ordering::Acquire);
        if let Some(resolved) = kept.as_ref().filter(|_| !is_written) {
            return resolved.clone();
        }
        let end = self.end.load(Ordering::Relaxed);
        let places = self.layout.bindings.iter().take_while(|binding| binding.first < end);
        let places = places.flat_map(|binding| {
            (binding.first..end.min(binding.first + binding.elements())).map(move |place| (binding, place))
        });
        let bound = |(binding, place)| Bound::new(self.descriptor(names, binding, place), 0);
        self.is_resolved.store(true, Ordering::Relaxed);
        kept.insert(ResolvedSet::new(places.map(bound))).clone()
    }
}
