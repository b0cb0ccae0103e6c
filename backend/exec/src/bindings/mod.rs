//! Resolved bindings: for each resource of a program, the descriptors of its array, with buffers
//! resolved to memory.
//!
//! A set is resolved once, for all draws until it is written again. The bindings of a draw only
//! say which set holds the descriptors of a resource, and where. A set with dynamic offsets is
//! resolved separately for each combination of offsets.
//!
//! Bindings also look up the routines of image instructions. A lookup holds the bindings of its
//! routine.

mod lookups;
mod set;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;
use vitric_memory::{Addresses, Allocation, ImageAccess, InUse, Surface};

use crate::Program;
use crate::runtime::frame::{BufferEntry, MAX_OFFSETS, NOTHING, ResourceEntry};
use crate::runtime::{Bound, BoundBuffer, Descriptor};
use crate::texture::Routines;

use lookups::SetLookups;
pub use lookups::{ArrayElements, Lookup, Lookups};
pub use set::{DescriptorName, DescriptorResolver, DescriptorSet, DescriptorSlot, NoDescriptors};

/// Descriptors of a set or of another source, resolved once for all draws and dispatches that use
/// them.
#[derive(Debug, Default)]
pub struct ResolvedSet {
    bounds: Box<[Bound]>,
    /// Descriptors in the layout that generated code reads.
    entries: Box<[BufferEntry]>,
    /// True if a buffer exceeds the range of offsets in generated code.
    has_large_buffer: bool,
    /// Indices of descriptors whose images can be compacted.
    compactable: Box<[u32]>,
    /// Last submission that used these descriptors, and the count of images with lost contents at
    /// that time.
    used: [AtomicU64; 2],
    /// Results of image instructions' routine lookups.
    lookups: SetLookups,
}

impl ResolvedSet {
    /// Resolves descriptors in order.
    pub fn new(bounds: impl IntoIterator<Item = Bound>) -> Arc<Self> {
        let bounds: Box<[Bound]> = bounds.into_iter().collect();
        let entries = bounds.iter().map(Bound::entry).collect();
        let is_large = |bound: &Bound| bound.memory().is_some_and(|buffer| buffer.size > MAX_OFFSETS);
        let has_large_buffer = bounds.iter().any(is_large);
        let is_compactable = |bound: &Bound| bound.surface().is_some_and(Surface::is_compactable);
        let compactable = (0..).zip(&bounds).filter(|(_, bound)| is_compactable(bound));
        let compactable = compactable.map(|(number, _)| number).collect();
        let (used, lookups) = Default::default();
        Arc::new(Self { bounds, entries, has_large_buffer, compactable, used, lookups })
    }
}

/// Memory that a submission may access through a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessibleMemory {
    /// All memory.
    All,
    /// Protected memory, or all other memory.
    Only {
        /// True if the memory is protected.
        protected: bool,
    },
}

impl AccessibleMemory {
    /// Returns the descriptors of a set in `range` with those of other memory replaced by null
    /// descriptors. Returns `None` if all descriptors are accessible.
    pub fn restrict(self, set: &ResolvedSet, range: Range<usize>) -> Option<Arc<ResolvedSet>> {
        let Self::Only { protected } = self else { return None };
        let bounds = set.bounds.get(range.start..range.end.min(set.bounds.len()))?;
        let is_accessible = |bound: &Bound| bound.is_protected() == protected;
        if bounds.iter().all(is_accessible) {
            return None;
        }
        let replace = |bound: &Bound| if is_accessible(bound) { bound.clone() } else { bound.without_memory() };
        Some(ResolvedSet::new(bounds.iter().map(replace)))
    }
}

/// Location of a resource's descriptors.
#[derive(Debug, Clone, Copy)]
struct ResourceLocation {
    /// Index into the bindings' sets.
    set: u32,
    first: u32,
    count: u32,
}

/// Bindings of one draw or dispatch, by resource index and array element.
#[derive(Debug, Default)]
pub struct Bindings {
    sets: SmallVec<[Arc<ResolvedSet>; 2]>,
    locations: SmallVec<[ResourceLocation; 4]>,
    /// Resources in the layout that generated code reads. The sets keep the memory alive that
    /// these entries point to.
    table: SmallVec<[ResourceEntry; 4]>,
    addresses: Arc<Addresses>,
    lookups: Lookups,
    /// True if one of the sets has a buffer that exceeds the range of offsets in generated code.
    has_large_buffer: bool,
}

impl Bindings {
    /// Creates bindings from one list of descriptors per resource of the program.
    pub fn new(resources: Vec<Vec<Bound>>) -> Self {
        let counts: SmallVec<[usize; 8]> = resources.iter().map(Vec::len).collect();
        let set = ResolvedSet::new(resources.into_iter().flatten());
        let mut bindings = Self::default();
        let mut first = 0;
        for count in counts {
            bindings.add(&set, first..first + count);
            first += count;
        }
        bindings
    }

    /// Adds the next resource: the descriptors of a set in `range`, cut off at the set's end.
    pub fn add(&mut self, set: &Arc<ResolvedSet>, range: Range<usize>) {
        // Descriptors after the resolved ones were never written.
        let end = range.end.min(set.entries.len());
        let entries = set.entries.get(range.start..end).filter(|entries| !entries.is_empty());
        let Some(entries) = entries else { return self.add_nothing() };
        self.has_large_buffer |= set.has_large_buffer;
        let known = self.sets.iter().position(|other| Arc::ptr_eq(other, set));
        let number = known.unwrap_or_else(|| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        });
        let count = entries.len() as u32;
        self.locations.push(ResourceLocation { set: number as u32, first: range.start as u32, count });
        self.table.push(ResourceEntry { first: entries.as_ptr(), count });
    }

    /// Adds a resource without descriptors.
    #[inline]
    pub fn add_nothing(&mut self) {
        self.locations.push(ResourceLocation { set: 0, first: 0, count: 0 });
        self.table.push(ResourceEntry { first: &raw const NOTHING, count: 0 });
    }

    /// Returns these bindings with memory that programs access by address.
    #[inline]
    pub fn with_addresses(self, addresses: Arc<Addresses>) -> Self {
        Self { addresses, ..self }
    }

    /// Returns these bindings for a program with `images` image instructions, with the routines of
    /// its device.
    #[inline]
    pub fn with_routines(self, routines: Arc<Routines>, images: u32) -> Self {
        Self { lookups: Lookups::new(routines, images as usize), ..self }
    }

    /// Creates bindings without resources for a program, with the routines and the memory of its
    /// device. Sets cache the lookups of its image instructions.
    #[inline]
    pub fn of_program(program: &Arc<Program>, routines: Arc<Routines>, addresses: Arc<Addresses>) -> Self {
        let (sets, locations, table) = Default::default();
        let lookups = Lookups::of_program(program, routines);
        Self { sets, locations, table, addresses, lookups, has_large_buffer: false }
    }

    /// Returns the routine lookups of image instructions.
    #[inline]
    pub fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// Returns the memory that programs access by address.
    #[inline]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Calls `visit` with the memory, first byte and size in bytes of each range that stores may
    /// reach through resources.
    pub fn for_each_memory(&self, mut visit: impl FnMut(&Arc<Allocation>, u64, u64)) {
        for bound in (0..self.locations.len() as u32).flat_map(|resource| self.bounds(resource)) {
            match bound {
                Bound::Buffer(Some(memory), start, size) => visit(memory, *start, *size),
                Bound::Other(Descriptor::StorageTexelBuffer(view)) => {
                    if let Some((memory, start)) = view.range.buffer.binding() {
                        visit(memory, start + view.range.offset, view.range.size);
                    }
                }
                Bound::Other(Descriptor::StorageImage(view)) => {
                    if let Some((memory, start)) = view.surface.binding() {
                        visit(memory, start, view.surface.layout().size());
                    }
                }
                _ => {}
            }
        }
    }

    /// Makes all images of the sets resident for as long as `in_use` needs them.
    pub fn begin_use(&self, in_use: &InUse<'_>) {
        let (number, losses) = (in_use.number(), in_use.losses());
        for set in self.sets.iter().filter(|set| !set.compactable.is_empty()) {
            // As with a single image, a mark by a later submission also covers this one.
            let [used, known] = &set.used;
            if used.load(Ordering::Acquire) >= number && known.load(Ordering::Acquire) == losses {
                continue;
            }
            for bound in set.compactable.iter().map(|&number| &set.bounds[number as usize]) {
                let is_stored = matches!(bound, Bound::Other(Descriptor::StorageImage(_)));
                let access = if is_stored { ImageAccess::Write } else { ImageAccess::Read };
                bound.view().into_iter().for_each(|view| view.begin_use(in_use, access));
            }
            known.store(losses, Ordering::Release);
            used.fetch_max(number, Ordering::Release);
        }
    }

    /// Returns true if a buffer exceeds the range of offsets in generated code. Such code finds the
    /// words of far resources only.
    #[inline]
    pub(crate) fn has_large_buffer(&self) -> bool {
        self.has_large_buffer
    }

    /// Returns the buffers by resource, in the layout that generated code reads.
    pub(crate) fn table(&self) -> &[ResourceEntry] {
        &self.table
    }

    /// Returns the set that holds a resource.
    fn set_of(&self, resource: u32) -> Option<&Arc<ResolvedSet>> {
        self.sets.get(self.locations.get(resource as usize)?.set as usize)
    }

    /// Returns the descriptors of a resource.
    fn bounds(&self, resource: u32) -> &[Bound] {
        let found = self.locations.get(resource as usize).zip(self.set_of(resource));
        found.map_or(&[], |(location, set)| &set.bounds[location.first as usize..][..location.count as usize])
    }

    /// Returns the memory of a buffer.
    #[inline]
    pub(crate) fn buffer(&self, resource: u32, element: u32) -> Option<BoundBuffer<'_>> {
        self.bounds(resource).get(element as usize)?.memory()
    }

    /// Returns the descriptor of a resource that is not a buffer.
    #[inline]
    pub fn descriptor(&self, resource: u32, element: u32) -> Option<&Descriptor> {
        match self.bounds(resource).get(element as usize)? {
            Bound::Other(descriptor) => Some(descriptor),
            Bound::Buffer(..) => None,
        }
    }

    /// Returns the memory that holds `bytes` bytes at `offset` of a buffer, and their position
    /// there. `bytes` is at most 4, or 8 for an atomic.
    #[inline]
    pub fn locate(&self, resource: u32, element: u32, offset: u32, bytes: u64) -> Option<(&Allocation, u64)> {
        self.buffer(resource, element)?.locate(offset, bytes)
    }

    /// Returns the size of a buffer's bound range, in bytes.
    #[inline]
    pub fn length(&self, resource: u32, element: u32) -> u64 {
        self.buffer(resource, element).map_or(0, |buffer| buffer.size)
    }
}
