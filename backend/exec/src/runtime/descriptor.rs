//! Descriptors: what a program's resource declarations are resolved to when it runs; layouts of sets.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vitric_memory::{BufferRange, BufferView, SurfaceView};

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
    #[inline]
    pub fn elements(&self) -> u32 {
        if self.is_inline() { self.count.min(1) } else { self.count }
    }

    /// The sampler that the layout fixes for descriptor `index` of the flat list, which is one of this binding.
    #[inline]
    pub fn immutable_sampler(&self, index: u32) -> Option<&Arc<Sampler>> {
        self.immutable_samplers.get(index.checked_sub(self.first)? as usize)
    }

    /// Whether it is a block whose bytes are in the set itself.
    #[inline]
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
    /// End of the places that hold something in every set: inline uniform blocks, and samplers that the layout fixes.
    pub filled: u32,
    /// Whether each set has its own count of the last binding, at most that of the layout.
    pub variable: bool,
    /// Whether any binding has immutable samplers.
    pub fixes_samplers: bool,
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
        let fixes_samplers = bindings.iter().any(|binding| !binding.immutable_samplers.is_empty());
        let filled = bindings.iter().filter(|binding| binding.is_inline() || !binding.immutable_samplers.is_empty());
        let filled = filled.map(|binding| binding.first + binding.elements()).max().unwrap_or(0);
        Self { bindings, total, filled, fixes_samplers, variable: false, pushed: false }
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
    #[inline]
    pub fn find(&self, binding: u32) -> Option<&SetBinding> {
        let index = self.bindings.binary_search_by_key(&binding, |entry| entry.binding).ok()?;
        Some(&self.bindings[index])
    }

    /// Places in a set of `count` descriptors from array element `element` of `binding` on: what is longer than the binding goes on with
    /// the next one, and what lies behind the set is left out.
    #[inline]
    pub fn places(&self, binding: u32, element: u32, count: u32) -> Range<usize> {
        // Most layouts number their bindings from 0 on.
        let first = match self.bindings.get(binding as usize) {
            Some(entry) if entry.binding == binding => entry.first,
            _ => self.first_from(binding),
        };
        let first = first.saturating_add(element);
        let end = first.saturating_add(count).min(self.total);
        first.min(end) as usize..end as usize
    }

    /// The first place of the bindings from a number on.
    #[cold]
    fn first_from(&self, binding: u32) -> u32 {
        let at = self.bindings.partition_point(|entry| entry.binding < binding);
        self.bindings.get(at).map_or(self.total, |entry| entry.first)
    }

    /// Whether a binding is an inline uniform block.
    #[inline]
    pub fn has_inline(&self) -> bool {
        self.bindings.iter().any(SetBinding::is_inline)
    }

    /// Dynamic uniform and storage buffers of the layout: how many dynamic offsets a bind takes.
    #[inline]
    pub fn dynamic_count(&self) -> u32 {
        self.bindings.iter().filter(|binding| is_dynamic(binding.kind)).map(|binding| binding.count).sum()
    }
}

/// Whether a descriptor of this kind takes an offset when its set is bound.
#[inline]
pub fn is_dynamic(kind: vk::DescriptorType) -> bool {
    matches!(kind, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC)
}
