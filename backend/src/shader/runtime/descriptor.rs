//! Descriptors: what a program's resource declarations are resolved to when it runs.
//!
//! A set is written by the host and read by the command processor when a draw or dispatch starts, so its contents sit
//! behind a lock that the recording path never takes. Source: Vulkan specification, "Resource Descriptors".

use std::sync::Arc;

use ash::vk;
use parking_lot::RwLock;
use smallvec::SmallVec;

use super::{Bound, ResolvedSet};
use crate::memory::{Allocation, Buffer, BufferRange, BufferView, Heap, SurfaceView};
use crate::texture::Sampler;

/// One resource of a descriptor set.
#[derive(Debug, Clone, Default)]
pub enum Descriptor {
    /// Never written, or null: reads give zero, writes are dropped.
    #[default]
    None,
    /// A sampler alone.
    Sampler(Arc<Sampler>),
    /// An image to be sampled with a sampler from elsewhere.
    SampledImage(Arc<SurfaceView>),
    /// An image with its sampler.
    CombinedImageSampler(Arc<SurfaceView>, Arc<Sampler>),
    /// An image to load from and store to.
    StorageImage(Arc<SurfaceView>),
    /// A formatted buffer to load from.
    UniformTexelBuffer(Arc<BufferView>),
    /// A formatted buffer to load from and store to.
    StorageTexelBuffer(Arc<BufferView>),
    /// A uniform block. For a dynamic one the offset is added when the set is bound.
    UniformBuffer(BufferRange),
    /// A storage block. For a dynamic one the offset is added when the set is bound.
    StorageBuffer(BufferRange),
    /// An attachment of the running subpass.
    InputAttachment(Arc<SurfaceView>),
}

/// One binding of a set layout.
#[derive(Debug, Clone)]
pub struct SetBinding {
    /// Binding number.
    pub binding: u32,
    /// Kind of the descriptors.
    pub kind: vk::DescriptorType,
    /// Length of the array, or bytes of an inline uniform block; 0 reserves the number without a descriptor.
    pub count: u32,
    /// Stages that may use it.
    pub stages: vk::ShaderStageFlags,
    /// Samplers fixed by the layout: empty, or `count` of them.
    pub immutable_samplers: Vec<Arc<Sampler>>,
    /// Index of element 0 in the set's flat list of descriptors.
    pub first: u32,
}

impl SetBinding {
    /// Descriptors: an inline uniform block is one, whatever its size.
    pub fn elements(&self) -> u32 {
        if self.is_inline() { self.count.min(1) } else { self.count }
    }

    /// The sampler that the layout fixes for descriptor `index` of the flat list, which is one of this binding.
    pub fn immutable_sampler(&self, index: u32) -> Option<&Arc<Sampler>> {
        self.immutable_samplers.get(index.checked_sub(self.first)? as usize)
    }

    /// Whether it is a block whose bytes are in the set itself.
    pub fn is_inline(&self) -> bool {
        self.kind == vk::DescriptorType::INLINE_UNIFORM_BLOCK
    }
}

/// A set layout: its bindings, ascending by number, and where their descriptors lie.
#[derive(Debug, Clone, Default)]
pub struct SetLayout {
    /// Bindings, ascending by number.
    pub bindings: Vec<SetBinding>,
    /// Descriptors in a set of this layout.
    pub total: u32,
    /// Whether each set has its own count of the last binding, at most that of the layout.
    pub variable: bool,
    /// Whether its descriptors are pushed by commands, and no set is allocated.
    pub pushed: bool,
}

impl SetLayout {
    /// Lays out `bindings`: sorts them by number and numbers their descriptors from 0. `first` is overwritten.
    pub fn new(mut bindings: Vec<SetBinding>) -> Self {
        bindings.sort_by_key(|binding| binding.binding);
        let mut total = 0;
        for binding in &mut bindings {
            binding.first = total;
            total += binding.elements();
        }
        Self { bindings, total, variable: false, pushed: false }
    }

    /// The layout of a set that has `count` descriptors in the last binding.
    pub fn with_count(&self, count: u32) -> Self {
        let mut bindings = self.bindings.clone();
        if let Some(last) = bindings.last_mut() {
            last.count = last.count.min(count);
        }
        Self { variable: self.variable, pushed: self.pushed, ..Self::new(bindings) }
    }

    /// Whether sets of both layouts have the same descriptors.
    pub fn is_like(&self, other: &Self) -> bool {
        let of = |binding: &SetBinding| (binding.binding, binding.kind, binding.count, binding.stages);
        let samplers = |a: &SetBinding, b: &SetBinding| {
            a.immutable_samplers.len() == b.immutable_samplers.len()
                && a.immutable_samplers.iter().zip(&b.immutable_samplers).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        self.pushed == other.pushed
            && self.bindings.len() == other.bindings.len()
            && self.bindings.iter().zip(&other.bindings).all(|(a, b)| of(a) == of(b) && samplers(a, b))
    }

    /// The binding of that number.
    pub fn find(&self, binding: u32) -> Option<&SetBinding> {
        let index = self.bindings.binary_search_by_key(&binding, |entry| entry.binding).ok()?;
        Some(&self.bindings[index])
    }

    /// The bytes of an inline uniform block of a set that has these descriptors.
    pub fn inline_block<'a>(&self, descriptors: &'a [Descriptor], binding: u32) -> Option<&'a Arc<Buffer>> {
        let entry = self.find(binding).filter(|entry| entry.is_inline())?;
        match descriptors.get(entry.first as usize)? {
            Descriptor::UniformBuffer(range) => Some(&range.buffer),
            _ => None,
        }
    }

    /// Dynamic uniform and storage buffers of the layout: how many dynamic offsets a bind takes.
    pub fn dynamic_count(&self) -> u32 {
        self.bindings.iter().filter(|binding| is_dynamic(binding.kind)).map(|binding| binding.count).sum()
    }
}

/// Whether a descriptor of this kind takes an offset when its set is bound.
pub fn is_dynamic(kind: vk::DescriptorType) -> bool {
    matches!(kind, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC)
}

/// A block of so many bytes of its own; without memory reads give zero.
fn inline_block(bytes: u32) -> Descriptor {
    let buffer = Buffer::new(u64::from(bytes));
    if let Ok(memory) = Allocation::new(&Heap::new(u64::from(bytes)), u64::from(bytes)) {
        buffer.bind(memory, 0);
    }
    Descriptor::UniformBuffer(BufferRange::new(buffer, 0, vk::WHOLE_SIZE))
}

/// A descriptor set: a layout and one descriptor for each element of each binding.
#[derive(Debug)]
pub struct DescriptorSet {
    layout: Arc<SetLayout>,
    contents: RwLock<Contents>,
}

/// What a set holds.
#[derive(Debug, Default)]
struct Contents {
    /// Most sets have few, which need no memory of their own.
    descriptors: SmallVec<[Descriptor; 4]>,
    /// The same resolved, once a draw or dispatch has asked, until one is written.
    resolved: Option<Arc<ResolvedSet>>,
}

impl Contents {
    fn new(descriptors: SmallVec<[Descriptor; 4]>) -> RwLock<Self> {
        RwLock::new(Self { descriptors, resolved: None })
    }
}

impl DescriptorSet {
    /// A set in which nothing was written but the layout's immutable samplers.
    pub fn new(layout: Arc<SetLayout>) -> Arc<Self> {
        let mut descriptors = SmallVec::new();
        descriptors.resize(layout.total as usize, Descriptor::None);
        for binding in layout.bindings.iter().filter(|binding| binding.kind == vk::DescriptorType::SAMPLER) {
            for (slot, sampler) in descriptors[binding.first as usize..].iter_mut().zip(&binding.immutable_samplers) {
                *slot = Descriptor::Sampler(sampler.clone());
            }
        }
        for binding in layout.bindings.iter().filter(|binding| binding.is_inline()) {
            if let Some(slot) = descriptors.get_mut(binding.first as usize) {
                *slot = inline_block(binding.count);
            }
        }
        Arc::new(Self { layout, contents: Contents::new(descriptors) })
    }

    /// Another set with the same descriptors; an inline uniform block is shared.
    pub fn copied(&self) -> Arc<Self> {
        Arc::new(Self { layout: self.layout.clone(), contents: Contents::new(self.snapshot()) })
    }

    /// The bytes of an inline uniform block.
    pub fn inline_block(&self, binding: u32) -> Option<Arc<Buffer>> {
        self.layout.inline_block(&self.contents.read().descriptors, binding).cloned()
    }

    /// The set's layout.
    pub fn layout(&self) -> &Arc<SetLayout> {
        &self.layout
    }

    /// Replaces descriptor `index` of the flat list; dropped when out of range.
    pub fn write(&self, index: u32, descriptor: Descriptor) {
        self.update(|slots| {
            if let Some(slot) = slots.get_mut(index as usize) {
                *slot = descriptor;
            }
        });
    }

    /// Has something change the flat list of descriptors.
    pub fn update<R>(&self, change: impl FnOnce(&mut [Descriptor]) -> R) -> R {
        let mut contents = self.contents.write();
        contents.resolved = None;
        change(&mut contents.descriptors)
    }

    /// A copy of descriptor `index` of the flat list; `None` when out of range.
    pub fn get(&self, index: u32) -> Option<Descriptor> {
        self.contents.read().descriptors.get(index as usize).cloned()
    }

    /// A copy of all descriptors, flat.
    pub fn snapshot(&self) -> SmallVec<[Descriptor; 4]> {
        self.contents.read().descriptors.clone()
    }

    /// All descriptors as they are now, resolved; dynamic offsets are 0.
    pub fn resolved(&self) -> Arc<ResolvedSet> {
        if let Some(resolved) = &self.contents.read().resolved {
            return resolved.clone();
        }
        let contents = &mut *self.contents.write();
        let resolve =
            || ResolvedSet::new(contents.descriptors.iter().map(|descriptor| Bound::new(descriptor.clone(), 0)));
        contents.resolved.get_or_insert_with(resolve).clone()
    }
}
