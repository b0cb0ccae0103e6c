//! Descriptor pools, and copies between descriptor sets.
//!
//! Source: Vulkan specification, "Resource Descriptors".

use std::ops::Range;

use ash::vk;
use smallvec::{SmallVec, smallvec};
use vitric_exec::bindings::DescriptorSet;
use vitric_exec::runtime::SetLayout;

use crate::{Error, Result};

/// Number of descriptors of each of a pool's types, in the pool's order.
pub type DescriptorCounts = SmallVec<[u32; 12]>;

/// A descriptor pool, with its maximum number of sets and its size for each descriptor type.
///
/// Only the number of sets is limited. As in other drivers, a set may use more descriptors than
/// the pool's size, and types that the pool does not list. The pool reports this once.
#[derive(Debug)]
pub struct DescriptorPool {
    max_sets: u32,
    sizes: Vec<(vk::DescriptorType, u32)>,
    /// Number of allocated sets, and of allocated descriptors of each type.
    used: (u32, Vec<u32>),
    has_reported: bool,
}

/// Descriptors of a type that exceed a pool's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortage {
    /// Descriptor type.
    pub kind: vk::DescriptorType,
    /// Number of descriptors that the pool was created for.
    pub size: u32,
    /// Number of allocated descriptors.
    pub used: u32,
}

impl DescriptorPool {
    /// Creates a pool for `max_sets` sets with a size for each descriptor type. Several sizes of
    /// one type are added.
    pub fn new(max_sets: u32, sizes: &[(vk::DescriptorType, u32)]) -> Self {
        let mut merged: Vec<(vk::DescriptorType, u32)> = Vec::new();
        for &(kind, count) in sizes {
            match merged.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, total)) => *total = total.saturating_add(count),
                None => merged.push((kind, count)),
            }
        }
        let used = (0, vec![0; merged.len()]);
        Self { max_sets, sizes: merged, used, has_reported: false }
    }

    /// Returns the number of descriptors of each type that a set of a layout needs. Types that are
    /// missing in the pool are added with size 0.
    pub fn counts(&mut self, layout: &SetLayout) -> DescriptorCounts {
        let mut counts: DescriptorCounts = smallvec![0; self.sizes.len()];
        for binding in layout.bindings.iter().filter(|binding| binding.count > 0) {
            let place = self.sizes.iter().position(|&(kind, _)| kind == binding.kind).unwrap_or_else(|| {
                self.sizes.push((binding.kind, 0));
                self.used.1.push(0);
                counts.push(0);
                self.sizes.len() - 1
            });
            counts[place] = counts[place].saturating_add(binding.count);
        }
        counts
    }

    /// Allocates a set. Once for each pool, returns the first type whose size is exceeded.
    ///
    /// # Errors
    /// [`Error::OutOfPoolMemory`] if the pool has `max_sets` sets.
    pub fn take(&mut self, counts: &DescriptorCounts) -> Result<Option<Shortage>> {
        let used = &mut self.used;
        if used.0 >= self.max_sets {
            return Err(Error::OutOfPoolMemory);
        }
        used.0 += 1;
        let mut is_short = false;
        for ((used, wanted), (_, size)) in used.1.iter_mut().zip(counts).zip(&self.sizes) {
            *used = used.saturating_add(*wanted);
            is_short |= *used > *size;
        }
        Ok(if is_short { self.report_shortage() } else { None })
    }

    /// Returns the first type whose size is exceeded, unless the pool reported one before.
    #[cold]
    fn report_shortage(&mut self) -> Option<Shortage> {
        let mut all = self.used.1.iter().zip(&self.sizes);
        let found = all.find(|&(&used, &(_, size))| used > size && !self.has_reported);
        let found = found.map(|(&used, &(kind, size))| Shortage { kind, size, used });
        self.has_reported = true;
        found
    }

    /// Frees one set.
    pub fn give_back(&mut self, counts: &DescriptorCounts) {
        let used = &mut self.used;
        used.0 = used.0.saturating_sub(1);
        used.1.iter_mut().zip(counts).for_each(|(used, wanted)| *used = used.saturating_sub(*wanted));
    }

    /// Frees all sets.
    pub fn reset(&mut self) {
        self.used.0 = 0;
        self.used.1.fill(0);
    }
}

/// Consecutive descriptors of a set, from an array element of a binding on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorRange {
    /// Binding.
    pub binding: u32,
    /// Array element; for an inline uniform block an offset in bytes.
    pub element: u32,
    /// Number of descriptors; for an inline uniform block of bytes.
    pub count: u32,
}

impl DescriptorRange {
    /// Returns the positions of the descriptors in a set of a layout. Descriptors outside of the
    /// set have none.
    #[inline]
    pub fn places(self, layout: &SetLayout) -> Range<usize> {
        layout.places(self.binding, self.element, self.count)
    }
}

/// Copies descriptors between sets, or within a set (`VkCopyDescriptorSet`). The ranges have equal
/// counts. Elements outside of a set are skipped. Immutable samplers of the target's layout are
/// kept.
pub fn copy(source: &DescriptorSet, from: DescriptorRange, target: &DescriptorSet, to: DescriptorRange) {
    if let (Some(block), Some(copied)) = (source.inline_block(from.binding), target.inline_block(to.binding)) {
        // The copy is limited to the block's buffer.
        let mut bytes = vec![0; u64::from(from.count).min(block.size()) as usize];
        block.read(from.element.into(), &mut bytes);
        copied.write(to.element.into(), &bytes);
        return;
    }
    let (from, to) = (from.places(source.layout()), to.places(target.layout()));
    let end = to.end;
    // The specification does not allow overlapping ranges in one set.
    for (from, to) in source.slots()[from].iter().zip(&target.slots()[to]) {
        to.put(from.get());
    }
    target.mark_written(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use vitric_exec::runtime::SetBinding;

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
        let mut pool = DescriptorPool::new(2, &[(kind, 2), (kind, 2)]);
        let counts = pool.counts(&layout(&[2]));
        assert_eq!(pool.take(&counts), Ok(None));
        assert_eq!(pool.take(&counts), Ok(None));
        assert_eq!(pool.take(&counts).unwrap_err(), Error::OutOfPoolMemory);
        pool.give_back(&counts);
        assert_eq!(pool.take(&counts), Ok(None));
        pool.reset();
        assert!(pool.take(&counts).is_ok());
    }

    #[test]
    fn pools_serve_more_than_they_were_made_for_and_tell_once() {
        let (kind, sampler) = (vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::SAMPLER);
        let mut pool = DescriptorPool::new(9, &[(kind, 3)]);
        let counts = pool.counts(&layout(&[2]));
        assert_eq!(pool.take(&counts), Ok(None));
        assert_eq!(pool.take(&counts), Ok(Some(Shortage { kind, size: 3, used: 4 })));
        assert_eq!(pool.take(&counts), Ok(None));
        let mut pool = DescriptorPool::new(9, &[(sampler, 100)]);
        let counts = pool.counts(&layout(&[0, 1, 1]));
        assert_eq!(pool.take(&counts), Ok(Some(Shortage { kind, size: 0, used: 2 })));
        pool.give_back(&counts);
        assert_eq!(pool.used, (0, vec![0, 0]));
        let huge = pool.counts(&layout(&[u32::MAX]));
        assert_eq!([pool.take(&huge), pool.take(&huge)], [Ok(None); 2]);
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
