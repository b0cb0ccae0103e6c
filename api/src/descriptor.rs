//! Descriptor pools, and updates of sets.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::sync::Arc;

use ash::vk;
use smallvec::{SmallVec, smallvec};
use vitric_backend::shader::runtime::{Descriptor, DescriptorSet, SetBinding, SetLayout};
use vitric_backend::texture::Sampler;

use crate::{Error, Result};

/// A pool: how many sets and descriptors of each type it can hold.
#[derive(Debug)]
pub struct DescriptorPool {
    max_sets: u32,
    sizes: Vec<(vk::DescriptorType, u32)>,
    /// Sets, and descriptors of each type.
    used: (u32, Vec<u32>),
}

impl DescriptorPool {
    /// A pool for `max_sets` sets and so many descriptors of each type. Sizes of one type add up.
    pub fn new(max_sets: u32, sizes: &[(vk::DescriptorType, u32)]) -> Self {
        let mut merged: Vec<(vk::DescriptorType, u32)> = Vec::new();
        for &(kind, count) in sizes {
            match merged.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, total)) => *total = total.saturating_add(count),
                None => merged.push((kind, count)),
            }
        }
        let used = (0, vec![0; merged.len()]);
        Self { max_sets, sizes: merged, used }
    }

    /// Descriptors that a set has of each of the pool's types, in their order; `None` when it has one of another type.
    fn counts(&self, layout: &SetLayout) -> Option<SmallVec<[u32; 16]>> {
        let mut counts: SmallVec<[u32; 16]> = smallvec![0; self.sizes.len()];
        for binding in layout.bindings.iter().filter(|binding| binding.count > 0) {
            let place = self.sizes.iter().position(|&(kind, _)| kind == binding.kind)?;
            counts[place] = counts[place].saturating_add(binding.count);
        }
        Some(counts)
    }

    /// Allocates a set.
    ///
    /// # Errors
    /// [`Error::OutOfPoolMemory`] when the pool has no room for the set, or none at all for one of its types.
    pub fn allocate(&mut self, layout: Arc<SetLayout>) -> Result<Arc<DescriptorSet>> {
        let counts = self.counts(&layout).ok_or(Error::OutOfPoolMemory)?;
        let used = &mut self.used;
        let fits = |((&used, &wanted), &(_, size)): ((&u32, &u32), &(_, u32))| used.saturating_add(wanted) <= size;
        if used.0 >= self.max_sets || !used.1.iter().zip(&counts).zip(&self.sizes).all(fits) {
            return Err(Error::OutOfPoolMemory);
        }
        used.0 += 1;
        used.1.iter_mut().zip(counts).for_each(|(used, wanted)| *used += wanted);
        Ok(DescriptorSet::new(layout))
    }

    /// Gives back the room of one set that was allocated from here with this layout.
    pub fn free(&mut self, layout: &SetLayout) {
        let counts = self.counts(layout).unwrap_or_default();
        let used = &mut self.used;
        used.0 = used.0.saturating_sub(1);
        used.1.iter_mut().zip(counts).for_each(|(used, wanted)| *used = used.saturating_sub(wanted));
    }

    /// Gives the room of all sets back.
    pub fn reset(&mut self) {
        self.used.0 = 0;
        self.used.1.fill(0);
    }
}

/// The descriptors from array element `element` of `binding` on, `count` of them: an update that is longer than the
/// binding goes on with the next one. Flat index and binding of each.
pub fn targets(
    layout: &SetLayout,
    binding: u32,
    element: u32,
    count: u32,
) -> impl Iterator<Item = (u32, &SetBinding)> + Clone {
    let start = layout.bindings.partition_point(|entry| entry.binding < binding);
    let following = &layout.bindings[start..];
    let first = following.first().map_or(u32::MAX, |entry| entry.first.saturating_add(element));
    let range = move |entry: &SetBinding| {
        let end = entry.first + entry.elements();
        entry.first.max(first).min(end)..end.min(first.saturating_add(count))
    };
    let end = first.saturating_add(count);
    let reached = following.iter().take_while(move |entry| entry.first < end);
    reached.flat_map(move |entry| range(entry).map(move |index| (index, entry)))
}

/// `VkCopyDescriptorSet`: copies `count` descriptors from one set to another, which may be the same. Source and target are
/// set, binding and array element; what lies outside of a set is left out. Of inline uniform blocks elements are bytes. Samplers that
/// the target's layout fixes stay.
pub fn copy(source: (&DescriptorSet, u32, u32), target: (&DescriptorSet, u32, u32), count: u32) {
    if let (Some(from), Some(to)) = (source.0.inline_block(source.1), target.0.inline_block(target.1)) {
        // No block has more bytes than its buffer.
        let mut bytes = vec![0; u64::from(count).min(from.size()) as usize];
        from.read(source.2.into(), &mut bytes);
        to.write(target.2.into(), &bytes);
        return;
    }
    let from = targets(source.0.layout(), source.1, source.2, count);
    let to = targets(target.0.layout(), target.1, target.2, count);
    // The sets may be the same.
    let copied: SmallVec<[Descriptor; 4]> = from.map(|(index, _)| source.0.get(index).unwrap_or_default()).collect();
    target.0.update(|slots| {
        for ((index, entry), descriptor) in to.zip(copied) {
            slots[index as usize] = with_sampler(descriptor, entry.immutable_sampler(index));
        }
    });
}

/// A descriptor with a layout's sampler, where that has one, instead of its own.
fn with_sampler(descriptor: Descriptor, immutable: Option<&Arc<Sampler>>) -> Descriptor {
    match (descriptor, immutable.cloned()) {
        (Descriptor::CombinedImageSampler(view, _), Some(sampler)) => Descriptor::CombinedImageSampler(view, sampler),
        (Descriptor::Sampler(_), Some(sampler)) => Descriptor::Sampler(sampler),
        (descriptor, _) => descriptor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(counts: &[u32]) -> Arc<SetLayout> {
        let binding = |(number, &count): (usize, &u32)| SetBinding {
            binding: number as u32,
            kind: vk::DescriptorType::UNIFORM_BUFFER,
            count,
            stages: vk::ShaderStageFlags::ALL,
            immutable_samplers: Vec::new(),
            first: 0,
        };
        Arc::new(SetLayout::new(counts.iter().enumerate().map(binding).collect()))
    }

    #[test]
    fn pools_run_out_and_refill() {
        let kind = vk::DescriptorType::UNIFORM_BUFFER;
        let mut pool = DescriptorPool::new(3, &[(kind, 2), (kind, 2)]);
        let layout = layout(&[2]);
        let first = pool.allocate(layout.clone()).unwrap();
        pool.allocate(layout.clone()).unwrap();
        assert_eq!(pool.allocate(layout.clone()).unwrap_err(), Error::OutOfPoolMemory);
        pool.free(first.layout());
        pool.allocate(layout.clone()).unwrap();
        pool.reset();
        assert!(pool.allocate(layout.clone()).is_ok());
    }

    #[test]
    fn updates_go_on_with_the_next_binding() {
        let set = DescriptorSet::new(layout(&[2, 0, 3]));
        let found: Vec<(u32, u32)> =
            targets(set.layout(), 0, 1, 3).map(|(index, entry)| (index, entry.binding)).collect();
        assert_eq!(found, [(1, 0), (2, 2), (3, 2)]);
        assert_eq!(targets(set.layout(), 2, 1, 9).map(|(index, _)| index).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(targets(set.layout(), 3, 0, 1).count(), 0);
        assert_eq!(targets(set.layout(), 0, u32::MAX, u32::MAX).count(), 0);
    }
}
