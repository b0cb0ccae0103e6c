//! Descriptor pools, and updates of sets.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use ash::vk;
use smallvec::{SmallVec, smallvec};
use vitric_backend::shader::runtime::{DescriptorSet, SetLayout};

use crate::{Error, Result};

/// Descriptors of each of a pool's types, in their order.
pub type Share = SmallVec<[u32; 12]>;

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

    /// What a set of a layout takes of the pool; `None` when it has a descriptor of a type that the pool has none of.
    pub fn share(&self, layout: &SetLayout) -> Option<Share> {
        let mut counts: Share = smallvec![0; self.sizes.len()];
        for binding in layout.bindings.iter().filter(|binding| binding.count > 0) {
            let place = self.sizes.iter().position(|&(kind, _)| kind == binding.kind)?;
            counts[place] = counts[place].saturating_add(binding.count);
        }
        Some(counts)
    }

    /// Takes room for a set.
    ///
    /// # Errors
    /// [`Error::OutOfPoolMemory`] when the pool has none.
    pub fn take(&mut self, share: &Share) -> Result<()> {
        let used = &mut self.used;
        let fits = |((&used, &wanted), &(_, size)): ((&u32, &u32), &(_, u32))| used.saturating_add(wanted) <= size;
        if used.0 >= self.max_sets || !used.1.iter().zip(share).zip(&self.sizes).all(fits) {
            return Err(Error::OutOfPoolMemory);
        }
        used.0 += 1;
        used.1.iter_mut().zip(share).for_each(|(used, wanted)| *used += wanted);
        Ok(())
    }

    /// Gives back the room of one set.
    pub fn give_back(&mut self, share: &Share) {
        let used = &mut self.used;
        used.0 = used.0.saturating_sub(1);
        used.1.iter_mut().zip(share).for_each(|(used, wanted)| *used = used.saturating_sub(*wanted));
    }

    /// Gives the room of all sets back.
    pub fn reset(&mut self) {
        self.used.0 = 0;
        self.used.1.fill(0);
    }
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
    let from = source.0.layout().places(source.1, source.2, count);
    let to = target.0.layout().places(target.1, target.2, count);
    // Of one set they are different ones.
    for (from, to) in source.0.slots()[from].iter().zip(&target.0.slots()[to]) {
        to.put(from.get());
    }
    target.0.wrote();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use vitric_backend::shader::runtime::SetBinding;

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
        let share = pool.share(&layout(&[2])).unwrap();
        pool.take(&share).unwrap();
        pool.take(&share).unwrap();
        assert_eq!(pool.take(&share).unwrap_err(), Error::OutOfPoolMemory);
        pool.give_back(&share);
        pool.take(&share).unwrap();
        pool.reset();
        assert!(pool.take(&share).is_ok());
    }

    #[test]
    fn updates_go_on_with_the_next_binding() {
        let layout = layout(&[2, 0, 3]);
        assert_eq!(layout.places(0, 1, 3), 1..4);
        assert_eq!(layout.places(2, 1, 9), 3..5);
        assert_eq!(layout.places(3, 0, 1), 5..5);
        assert_eq!(layout.places(0, u32::MAX, u32::MAX), 5..5);
    }
}
