//! Descriptor sets: what they hold are names of objects, which are looked up when a draw or dispatch asks.
//!
//! So writing, copying and forgetting descriptors is storing words: nothing is counted, allocated or locked, and a set keeps nothing alive
//! that was not asked for. A name whose object is gone is a null descriptor. The host may write a set while a command processor reads it; what
//! it then finds is what was written before or after, and a mixture of both is as good as any other name.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::alloc::Layout;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, DescriptorType as T};
use parking_lot::Mutex;
use smallvec::SmallVec;
use vitric_memory::{Allocation, Buffer, BufferRange, BufferView, Heap, SurfaceView, SurfaceViewDesc};

use super::{Bound, Descriptor, ResolvedSet, SetBinding, SetLayout};
use crate::texture::Sampler;

/// Objects by the names that descriptors and commands have of them. What is gone, or was never there, has none; 0 is nothing's name.
pub trait DescriptorResolver: Debug + Send + Sync {
    /// A buffer.
    fn buffer(&self, name: u64) -> Option<Arc<Buffer>>;
    /// A view of a buffer's texels.
    fn texels(&self, name: u64) -> Option<Arc<BufferView>>;
    /// A view of an image.
    fn image(&self, name: u64) -> Option<Arc<SurfaceView>>;
    /// A sampler.
    fn sampler(&self, name: u64) -> Option<Arc<Sampler>>;
    /// A descriptor set.
    fn set(&self, name: u64) -> Option<Arc<DescriptorSet>>;
}

/// No object has a name.
#[derive(Debug)]
pub struct NoDescriptors;

impl DescriptorResolver for NoDescriptors {
    fn buffer(&self, _: u64) -> Option<Arc<Buffer>> {
        None
    }

    fn texels(&self, _: u64) -> Option<Arc<BufferView>> {
        None
    }

    fn image(&self, _: u64) -> Option<Arc<SurfaceView>> {
        None
    }

    fn sampler(&self, _: u64) -> Option<Arc<Sampler>> {
        None
    }

    fn set(&self, _: u64) -> Option<Arc<DescriptorSet>> {
        None
    }
}

/// A descriptor by names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Named {
    /// Its type.
    pub kind: T,
    /// A buffer, a view, or a sampler without an image; 0: nothing.
    pub object: u64,
    /// The sampler of an image, or the first byte of a buffer.
    pub other: u64,
    /// Bytes of a buffer, or `vk::WHOLE_SIZE`.
    pub size: u64,
}

/// A descriptor's place in a set.
#[derive(Debug, Default)]
pub struct Slot([AtomicU64; 4]);

impl Slot {
    /// Writes a descriptor.
    #[inline]
    pub fn put(&self, named: Named) {
        let words = [named.object, named.other, named.size, named.kind.as_raw() as u64];
        for (slot, word) in self.0.iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// What was written.
    #[inline]
    pub fn get(&self) -> Named {
        let [object, other, size, kind] = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        Named { kind: T::from_raw(kind as i32), object, other, size }
    }

    fn clear(&self) {
        self.0[0].store(0, Ordering::Relaxed);
    }
}

impl Named {
    /// The descriptor, with the sampler that a layout fixes, where it does.
    fn look_up(self, names: &dyn DescriptorResolver, immutable: Option<&Arc<Sampler>>) -> Descriptor {
        let Self { kind, object, other, size } = self;
        let sampler = |name| immutable.cloned().or_else(|| names.sampler(name));
        let range = || names.buffer(object).map(|buffer| BufferRange::new(buffer, other, size));
        let found = match kind {
            T::SAMPLER => sampler(object).map(Descriptor::Sampler),
            T::COMBINED_IMAGE_SAMPLER => names
                .image(object)
                .zip(sampler(other))
                .map(|(view, sampler)| Descriptor::CombinedImageSampler(of_all_slices(view), sampler)),
            T::SAMPLED_IMAGE => names.image(object).map(|view| Descriptor::SampledImage(of_all_slices(view))),
            T::STORAGE_IMAGE => names.image(object).map(Descriptor::StorageImage),
            T::INPUT_ATTACHMENT => names.image(object).map(Descriptor::InputAttachment),
            T::UNIFORM_TEXEL_BUFFER => names.texels(object).map(Descriptor::UniformTexelBuffer),
            T::STORAGE_TEXEL_BUFFER => names.texels(object).map(Descriptor::StorageTexelBuffer),
            T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC => range().map(Descriptor::UniformBuffer),
            T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => range().map(Descriptor::StorageBuffer),
            _ => None,
        };
        found.unwrap_or_default()
    }
}

/// A view as it is sampled: what shows some slices of a volume does so as a storage image only.
fn of_all_slices(view: Arc<SurfaceView>) -> Arc<SurfaceView> {
    match view.desc.slices {
        None => view,
        Some(_) => {
            let desc = SurfaceViewDesc { slices: None, ..view.desc };
            Arc::new(SurfaceView { surface: view.surface.clone(), desc })
        }
    }
}

/// Returns `count` places in which nothing was written. The system's zeroed pages stay untouched, so that a set with a million descriptors
/// takes memory only for those that are written.
fn empty_slots(count: usize) -> SmallVec<[Slot; 4]> {
    let layout = match Layout::array::<Slot>(count) {
        Ok(layout) if count > 4 => layout,
        _ => return (0..count).map(|_| Slot::default()).collect(),
    };
    // SAFETY: the layout is not empty.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<Slot>();
    if memory.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    // SAFETY: the global allocator gave the memory for just this layout, and zeros are valid values of a slot's atomic words.
    SmallVec::from_vec(unsafe { Vec::from_raw_parts(memory, count, count) })
}

/// A block of so many bytes of its own; without memory reads give zero.
fn inline_block(bytes: u32) -> Arc<Buffer> {
    let buffer = Buffer::new(u64::from(bytes));
    if let Ok(memory) = Allocation::new(&Heap::new(u64::from(bytes)), u64::from(bytes)) {
        buffer.bind(memory, 0);
    }
    buffer
}

/// A descriptor set: a layout and one descriptor for each element of each binding.
#[derive(Debug)]
pub struct DescriptorSet {
    layout: Arc<SetLayout>,
    /// Most sets have few, which need no memory of their own.
    slots: SmallVec<[Slot; 4]>,
    /// Inline uniform blocks, by their places.
    blocks: Vec<(u32, Arc<Buffer>)>,
    /// End of the places that may hold something: the others are not looked at, so that what a large set costs depends on what is written.
    end: AtomicU32,
    /// Whether something was written since it was resolved.
    is_written: AtomicBool,
    /// Whether there may be something resolved.
    is_resolved: AtomicBool,
    /// What it held when a draw or dispatch asked, as long as nothing is written.
    resolved: Mutex<Option<Arc<ResolvedSet>>>,
}

impl DescriptorSet {
    /// A set in which nothing was written but the layout's immutable samplers.
    pub fn new(layout: Arc<SetLayout>) -> Arc<Self> {
        let slots = empty_slots(layout.total as usize);
        let inline = layout.bindings.iter().filter(|binding| binding.is_inline() && binding.count > 0);
        let blocks = inline.map(|binding| (binding.first, inline_block(binding.count))).collect();
        let (is_written, is_resolved, resolved) = Default::default();
        let end = AtomicU32::new(layout.filled);
        Arc::new(Self { layout, slots, blocks, end, is_written, is_resolved, resolved })
    }

    /// Bytes that a set of a layout takes.
    #[inline]
    pub fn bytes(layout: &SetLayout) -> usize {
        layout.total as usize * size_of::<Slot>()
    }

    /// Makes it a set in which nothing was written, of a layout; another one where this one cannot be.
    pub fn renew(this: &mut Arc<Self>, layout: &Arc<SetLayout>) {
        if Arc::ptr_eq(&this.layout, layout) && this.blocks.is_empty() {
            this.used_slots().iter().for_each(Slot::clear);
            this.end.store(layout.filled, Ordering::Relaxed);
            this.forget();
        } else {
            *this = Self::new(layout.clone());
        }
    }

    /// Another set with the same descriptors; an inline uniform block is shared.
    pub fn copied(&self) -> Arc<Self> {
        let copy = |slot: &Slot| {
            let copied = Slot::default();
            copied.put(slot.get());
            copied
        };
        let (is_written, is_resolved, resolved) = Default::default();
        let (slots, blocks) = (self.slots.iter().map(copy).collect(), self.blocks.clone());
        let end = AtomicU32::new(self.end.load(Ordering::Relaxed));
        Arc::new(Self { layout: self.layout.clone(), slots, blocks, end, is_written, is_resolved, resolved })
    }

    /// The bytes of an inline uniform block.
    #[inline]
    pub fn inline_block(&self, binding: u32) -> Option<&Arc<Buffer>> {
        if self.blocks.is_empty() { None } else { self.block_of(binding) }
    }

    fn block_of(&self, binding: u32) -> Option<&Arc<Buffer>> {
        let first = self.layout.find(binding).filter(|entry| entry.is_inline())?.first;
        self.blocks.iter().find(|(place, _)| *place == first).map(|(_, block)| block)
    }

    /// The set's layout.
    #[inline]
    pub fn layout(&self) -> &Arc<SetLayout> {
        &self.layout
    }

    /// The places of its descriptors. Who writes to them says so with [`Self::wrote`], afterwards.
    #[inline]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The places that may hold something.
    fn used_slots(&self) -> &[Slot] {
        &self.slots[..self.slots.len().min(self.end.load(Ordering::Relaxed) as usize)]
    }

    /// Notes that places before `end` were written: who resolves the set from now on finds what they hold.
    #[inline]
    pub fn wrote(&self, end: usize) {
        if end > self.end.load(Ordering::Relaxed) as usize {
            self.end.fetch_max(end as u32, Ordering::Relaxed);
        }
        self.is_written.store(true, Ordering::Release);
    }

    /// Drops what was resolved.
    #[inline]
    pub fn forget(&self) {
        self.wrote(0);
        if self.is_resolved.load(Ordering::Relaxed) {
            self.resolved.lock().take();
        }
    }

    /// Descriptor `place` of a binding, looked up.
    fn look_up(&self, names: &dyn DescriptorResolver, binding: &SetBinding, place: u32) -> Descriptor {
        if binding.is_inline() {
            let block = self.blocks.iter().find(|(first, _)| *first == place);
            let range = |(_, block): &(u32, Arc<Buffer>)| BufferRange::new(block.clone(), 0, vk::WHOLE_SIZE);
            return block.map_or(Descriptor::None, |block| Descriptor::UniformBuffer(range(block)));
        }
        let immutable = binding.immutable_sampler(place);
        match (binding.kind, immutable) {
            (T::SAMPLER, Some(sampler)) => Descriptor::Sampler(sampler.clone()),
            _ => self.slots.get(place as usize).map_or(Descriptor::None, |slot| slot.get().look_up(names, immutable)),
        }
    }

    /// Its dynamic buffers, in order.
    #[inline]
    pub fn dynamic(&self, names: &dyn DescriptorResolver) -> impl Iterator<Item = Descriptor> {
        let dynamic = self.layout.bindings.iter().filter(|binding| super::is_dynamic(binding.kind));
        let places =
            dynamic.flat_map(|binding| (0..binding.count).map(move |element| (binding, binding.first + element)));
        places.map(|(binding, place)| self.look_up(names, binding, place))
    }

    /// All descriptors as they are now, resolved, up to the last one that was written; dynamic offsets are 0.
    pub fn resolved(&self, names: &dyn DescriptorResolver) -> Arc<ResolvedSet> {
        let mut kept = self.resolved.lock();
        // What is written from here on is found the next time.
        let is_written = self.is_written.load(Ordering::Relaxed) && self.is_written.swap(false, Ordering::Acquire);
        if let Some(resolved) = kept.as_ref().filter(|_| !is_written) {
            return resolved.clone();
        }
        let end = self.end.load(Ordering::Relaxed);
        let places = self.layout.bindings.iter().take_while(|binding| binding.first < end);
        let places = places.flat_map(|binding| {
            (binding.first..end.min(binding.first + binding.elements())).map(move |place| (binding, place))
        });
        let bound = |(binding, place)| Bound::new(self.look_up(names, binding, place), 0);
        self.is_resolved.store(true, Ordering::Relaxed);
        kept.insert(ResolvedSet::new(places.map(bound))).clone()
    }
}
