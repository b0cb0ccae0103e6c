//! Descriptors, which a program's resource declarations resolve to when it runs, and layouts of
//! descriptor sets.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vitric_memory::{BufferRange, BufferView, SurfaceView};

use super::Sampler;

/// One resource of a descriptor set.
#[derive(Debug, Clone, Default)]
pub enum Descriptor {
    /// Null descriptor, or one that was never written. Reads return zero and writes are dropped.
    #[default]
    None,
    /// Sampler without an image.
    Sampler(Arc<Sampler>),
    /// Image that is sampled with a separate sampler.
    SampledImage(Arc<SurfaceView>),
    /// Image with its sampler.
    CombinedImageSampler(Arc<SurfaceView>, Arc<Sampler>),
    /// Image for loads and stores.
    StorageImage(Arc<SurfaceView>),
    /// Formatted buffer for loads.
    UniformTexelBuffer(Arc<BufferView>),
    /// Formatted buffer for loads and stores.
    StorageTexelBuffer(Arc<BufferView>),
    /// Uniform block. The offset of a dynamic block is added when the set is bound.
    UniformBuffer(BufferRange),
    /// Storage block. The offset of a dynamic block is added when the set is bound.
    StorageBuffer(BufferRange),
    /// Attachment of the current subpass.
    InputAttachment(Arc<SurfaceView>),
}

impl Descriptor {
    /// Returns the image view of a descriptor that has one.
    pub fn view(&self) -> Option<&Arc<SurfaceView>> {
        match self {
            Self::SampledImage(view)
            | Self::CombinedImageSampler(view, _)
            | Self::StorageImage(view)
            | Self::InputAttachment(view) => Some(view),
            _ => None,
        }
    }

    /// Returns true if the descriptor's buffer or image is protected.
    pub fn is_protected(&self) -> bool {
        match self {
            Self::None | Self::Sampler(_) => false,
            Self::SampledImage(view)
            | Self::CombinedImageSampler(view, _)
            | Self::StorageImage(view)
            | Self::InputAttachment(view) => view.surface.is_protected(),
            Self::UniformTexelBuffer(view) | Self::StorageTexelBuffer(view) => view.range.buffer.is_protected(),
            Self::UniformBuffer(range) | Self::StorageBuffer(range) => range.buffer.is_protected(),
        }
    }
}

/// One binding of a set layout.
#[derive(Debug, Clone)]
pub struct SetBinding {
    /// Binding number.
    pub binding: u32,
    /// Type of the descriptors.
    pub kind: vk::DescriptorType,
    /// Length of the array, or size of an inline uniform block in bytes. 0 reserves the number
    /// without a descriptor.
    pub count: u32,
    /// Stages that may use the binding.
    pub stages: vk::ShaderStageFlags,
    /// Immutable samplers: empty, or `count` of them.
    pub immutable_samplers: Vec<Arc<Sampler>>,
    /// Index of element 0 in the set's flat list of descriptors.
    pub first: u32,
}

impl SetBinding {
    /// Returns the number of descriptors. An inline uniform block of any size is one descriptor.
    #[inline]
    pub fn elements(&self) -> u32 {
        if self.is_inline() { self.count.min(1) } else { self.count }
    }

    /// Returns the immutable sampler of descriptor `index` of the flat list. The descriptor must
    /// belong to this binding.
    #[inline]
    pub fn immutable_sampler(&self, index: u32) -> Option<&Arc<Sampler>> {
        self.immutable_samplers.get(index.checked_sub(self.first)? as usize)
    }

    /// Returns true if the binding is an inline uniform block, whose bytes are stored in the set.
    #[inline]
    pub fn is_inline(&self) -> bool {
        self.kind == vk::DescriptorType::INLINE_UNIFORM_BLOCK
    }
}

/// Set layout: its bindings and the positions of their descriptors.
#[derive(Debug, Clone, Default)]
pub struct SetLayout {
    /// Bindings, in ascending order of their numbers.
    pub bindings: Vec<SetBinding>,
    /// Number of descriptors in a set of this layout.
    pub total: u32,
    /// End of the descriptors that are valid in every set without a write: inline uniform blocks
    /// and immutable samplers.
    pub filled: u32,
    /// True if each set has its own count of the last binding, at most the count of the layout.
    pub variable: bool,
    /// True if any binding has immutable samplers.
    pub has_immutable_samplers: bool,
    /// True if commands push the descriptors and no set is allocated.
    pub pushed: bool,
}

impl SetLayout {
    /// Creates a layout from `bindings`. Sorts them by number and numbers their descriptors from
    /// 0, overwriting `first`.
    pub fn new(mut bindings: Vec<SetBinding>) -> Self {
        bindings.sort_by_key(|binding| binding.binding);
        let mut total = 0;
        for binding in &mut bindings {
            binding.first = total;
            total += binding.elements();
        }
        let has_immutable_samplers = bindings.iter().any(|binding| !binding.immutable_samplers.is_empty());
        let filled = bindings.iter().filter(|binding| binding.is_inline() || !binding.immutable_samplers.is_empty());
        let filled = filled.map(|binding| binding.first + binding.elements()).max().unwrap_or(0);
        Self { bindings, total, filled, has_immutable_samplers, variable: false, pushed: false }
    }

    /// Returns the layout of a set that has `count` descriptors in the last binding.
    pub fn with_count(&self, count: u32) -> Self {
        let mut bindings = self.bindings.clone();
        if let Some(last) = bindings.last_mut() {
            last.count = last.count.min(count);
        }
        Self { variable: self.variable, pushed: self.pushed, ..Self::new(bindings) }
    }

    /// Returns true if sets of both layouts have identical descriptors.
    pub fn is_identical(&self, other: &Self) -> bool {
        let of = |binding: &SetBinding| (binding.binding, binding.kind, binding.count, binding.stages);
        let samplers = |a: &SetBinding, b: &SetBinding| {
            a.immutable_samplers.len() == b.immutable_samplers.len()
                && a.immutable_samplers.iter().zip(&b.immutable_samplers).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        self.pushed == other.pushed
            && self.bindings.len() == other.bindings.len()
            && self.bindings.iter().zip(&other.bindings).all(|(a, b)| of(a) == of(b) && samplers(a, b))
    }

    /// Returns the binding with number `binding`.
    #[inline]
    pub fn find(&self, binding: u32) -> Option<&SetBinding> {
        let index = self.bindings.binary_search_by_key(&binding, |entry| entry.binding).ok()?;
        Some(&self.bindings[index])
    }

    /// Returns the positions in a set of `count` descriptors, starting at array element `element`
    /// of `binding`. Descriptors beyond the end of the binding continue in the next one. Positions
    /// beyond the end of the set are cut off.
    #[inline]
    pub fn places(&self, binding: u32, element: u32, count: u32) -> Range<usize> {
        // Most layouts number their bindings consecutively from 0.
        let first = match self.bindings.get(binding as usize) {
            Some(entry) if entry.binding == binding => entry.first,
            _ => self.first_from(binding),
        };
        let first = first.saturating_add(element);
        let end = first.saturating_add(count).min(self.total);
        first.min(end) as usize..end as usize
    }

    /// Returns the first position of the bindings with a number of at least `binding`.
    #[cold]
    fn first_from(&self, binding: u32) -> u32 {
        let at = self.bindings.partition_point(|entry| entry.binding < binding);
        self.bindings.get(at).map_or(self.total, |entry| entry.first)
    }

    /// Returns true if any binding is an inline uniform block.
    #[inline]
    pub fn has_inline(&self) -> bool {
        self.bindings.iter().any(SetBinding::is_inline)
    }

    /// Returns the number of dynamic uniform and storage buffers, which is the number of dynamic
    /// offsets a bind consumes.
    #[inline]
    pub fn dynamic_count(&self) -> u32 {
        self.bindings.iter().filter(|binding| is_dynamic(binding.kind)).map(|binding| binding.count).sum()
    }
}

/// Returns true if descriptors of this type take an offset when their set is bound.
#[inline]
pub fn is_dynamic(kind: vk::DescriptorType) -> bool {
    matches!(kind, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC)
}
