//! Resolved bindings: for each resource of a program, the descriptors of its array, with buffers
//! resolved to memory.
//!
//! A set is resolved once, for all draws until it is written again. The bindings of a draw only
//! say which set holds the descriptors of a resource, and where. A set with dynamic offsets is
//! resolved separately for each combination of offsets.
//!
//! Buffer accesses are robust. A word outside of the bound range, rounded up to whole words, reads
//! 0 and is not written. Source: Vulkan specification, "robustBufferAccess",
//! `robustStorageBufferAccessSizeAlignment`.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use smallvec::SmallVec;
use vitric_base::simd::Lanes;
use vitric_memory::{Addresses, Allocation, BufferRange, InUse, Surface};

use super::frame::{BufferEntry, NOTHING, ResourceEntry};
use super::lookups::Found;
use super::rows::{CACHE_LINE, prefetch_at};
use super::{Descriptor, Lookups};
use crate::Program;
use crate::texture::Routines;

/// One resolved descriptor.
#[derive(Debug, Clone)]
pub enum Bound {
    /// Buffer: its memory, first byte, and size in bytes. Without memory all accesses are out of
    /// bounds.
    Buffer(Option<Arc<Allocation>>, u64, u64),
    /// Any other descriptor.
    Other(Descriptor),
}

impl Bound {
    /// Resolves a descriptor. `dynamic_offset`, in bytes, is added to a buffer's offset.
    #[inline]
    pub fn new(descriptor: Descriptor, dynamic_offset: u32) -> Self {
        match descriptor {
            Descriptor::UniformBuffer(range) | Descriptor::StorageBuffer(range) => Self::buffer(&range, dynamic_offset),
            other => Self::Other(other),
        }
    }

    /// Returns the surface of an image descriptor.
    fn image(&self) -> Option<&Surface> {
        match self {
            Self::Other(
                Descriptor::SampledImage(view)
                | Descriptor::CombinedImageSampler(view, _)
                | Descriptor::StorageImage(view)
                | Descriptor::InputAttachment(view),
            ) => Some(&view.surface),
            _ => None,
        }
    }

    fn buffer(range: &BufferRange, dynamic_offset: u32) -> Self {
        let offset = range.offset + u64::from(dynamic_offset);
        let size = range.size.min(range.buffer.size().saturating_sub(offset));
        match range.buffer.binding() {
            Some((memory, start)) => Self::Buffer(Some(memory.clone()), start + offset, size),
            None => Self::Buffer(None, 0, 0),
        }
    }
}

/// Descriptors of a set or of another source, resolved once for all draws and dispatches that use
/// them.
#[derive(Debug, Default)]
pub struct ResolvedSet {
    bounds: Box<[Bound]>,
    /// Descriptors in the layout that generated code reads.
    entries: Box<[BufferEntry]>,
    /// Indices of descriptors whose images can be compacted.
    may_rest: Box<[u32]>,
    /// Last submission that used these descriptors, and the count of images with lost contents at
    /// that time.
    used: [AtomicU64; 2],
    /// Results of image instructions' routine lookups.
    pub(super) found: Found,
}

impl ResolvedSet {
    /// Resolves descriptors in order.
    pub fn new(bounds: impl IntoIterator<Item = Bound>) -> Arc<Self> {
        let bounds: Box<[Bound]> = bounds.into_iter().collect();
        let entries = bounds.iter().map(entry).collect();
        let rests = |bound: &Bound| bound.image().is_some_and(Surface::may_rest);
        let may_rest = (0..).zip(&bounds).filter(|(_, bound)| rests(bound)).map(|(number, _)| number).collect();
        Arc::new(Self { bounds, entries, may_rest, used: Default::default(), found: Found::default() })
    }
}

/// Location of a resource's descriptors.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Index into the bindings' sets.
    set: u32,
    first: u32,
    count: u32,
}

/// Bindings of one draw or dispatch, by resource index and array element.
#[derive(Debug, Default)]
pub struct Bindings {
    sets: SmallVec<[Arc<ResolvedSet>; 2]>,
    places: SmallVec<[Place; 4]>,
    /// Resources in the layout that generated code reads. The sets keep the memory alive that
    /// these entries point to.
    table: SmallVec<[ResourceEntry; 4]>,
    addresses: Arc<Addresses>,
    lookups: Lookups,
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
        let known = self.sets.iter().position(|other| Arc::ptr_eq(other, set));
        let number = known.unwrap_or_else(|| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        });
        let count = entries.len() as u32;
        self.places.push(Place { set: number as u32, first: range.start as u32, count });
        self.table.push(ResourceEntry { first: entries.as_ptr(), count });
    }

    /// Adds a resource without descriptors.
    #[inline]
    pub fn add_nothing(&mut self) {
        self.places.push(Place { set: 0, first: 0, count: 0 });
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
        let (sets, places, table) = Default::default();
        Self { sets, places, table, addresses, lookups: Lookups::of_program(program, routines) }
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
        for bound in (0..self.places.len() as u32).flat_map(|resource| self.bounds(resource)) {
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
        for set in self.sets.iter().filter(|set| !set.may_rest.is_empty()) {
            // As with a single image, a mark by a later submission also covers this one.
            let [used, known] = &set.used;
            if used.load(Ordering::Acquire) >= number && known.load(Ordering::Acquire) == losses {
                continue;
            }
            let images = set.may_rest.iter().filter_map(|&number| set.bounds[number as usize].image());
            images.for_each(|image| image.begin_use(in_use, false));
            known.store(losses, Ordering::Release);
            used.fetch_max(number, Ordering::Release);
        }
    }

    /// Returns the buffers by resource, in the layout that generated code reads.
    pub(super) fn table(&self) -> &[ResourceEntry] {
        &self.table
    }

    /// Returns the set that holds a resource.
    pub(super) fn set_of(&self, resource: u32) -> Option<&Arc<ResolvedSet>> {
        self.sets.get(self.places.get(resource as usize)?.set as usize)
    }

    /// Returns the descriptors of a resource.
    fn bounds(&self, resource: u32) -> &[Bound] {
        let found = self.places.get(resource as usize).zip(self.set_of(resource));
        found.map_or(&[], |(place, set)| &set.bounds[place.first as usize..][..place.count as usize])
    }

    /// Returns a buffer's memory, first byte, and size in bytes.
    #[inline]
    pub(super) fn buffer(&self, resource: u32, element: u32) -> Option<(&Allocation, u64, u64)> {
        match self.bounds(resource).get(element as usize)? {
            Bound::Buffer(Some(memory), start, size) => Some((memory, *start, *size)),
            _ => None,
        }
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
    pub fn place(&self, resource: u32, element: u32, offset: u32, bytes: u64) -> Option<(&Allocation, u64)> {
        place_in(self.buffer(resource, element)?, offset, bytes)
    }

    /// Returns the size of a buffer's bound range, in bytes.
    #[inline]
    pub fn length(&self, resource: u32, element: u32) -> u32 {
        self.buffer(resource, element).map_or(0, |(_, _, size)| size.min(u64::from(u32::MAX)) as u32)
    }
}

/// Memory ranges that an internal program accesses by number.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    bounds: Vec<Bound>,
    entries: Vec<BufferEntry>,
}

impl Ranges {
    /// Creates ranges from these buffers.
    #[inline]
    pub fn new(bounds: Vec<Bound>) -> Self {
        let entries = bounds.iter().map(entry).collect();
        Self { bounds, entries }
    }

    /// Returns an empty list of ranges.
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: Ranges = Ranges { bounds: Vec::new(), entries: Vec::new() };
        &NONE
    }

    /// Returns the ranges in the layout that generated code reads.
    pub(super) fn entries(&self) -> &[BufferEntry] {
        &self.entries
    }

    /// Prefetches bytes of a range into the caches.
    #[inline]
    pub fn expect(&self, number: u32, bytes: Range<usize>) {
        let Some(entry) = self.entries.get(number as usize).filter(|entry| bytes.end <= entry.size as usize) else {
            return;
        };
        let first = entry.base.wrapping_add(bytes.start);
        (0..bytes.len()).step_by(CACHE_LINE).for_each(|line| prefetch_at(first.wrapping_add(line)));
    }

    /// Returns a range's memory, first byte, and size in bytes.
    pub(super) fn buffer(&self, number: u32) -> Option<(&Allocation, u64, u64)> {
        match self.bounds.get(number as usize)? {
            Bound::Buffer(Some(memory), start, size) => Some((memory, *start, *size)),
            _ => None,
        }
    }
}

/// Returns the memory and position of `bytes` bytes at `offset` of a buffer, or `None` if they are
/// out of bounds. The buffer's size is rounded up to whole words.
#[inline]
fn place_in((memory, start, size): (&Allocation, u64, u64), offset: u32, bytes: u64) -> Option<(&Allocation, u64)> {
    let inside = u64::from(offset) + bytes <= size.next_multiple_of(4);
    inside.then_some((memory, start + u64::from(offset)))
}

/// Number of 64-bit words in a line of [`SharedMemory`].
const LINE: usize = 8;

/// One 32-bit word for each lane of a wave, aligned for vector loads.
#[repr(C, align(64))]
#[derive(Debug, Default)]
struct Line([AtomicU64; LINE]);

/// Memory shared by the waves of a workgroup, or by the invocations in a wave of a merged program.
#[derive(Debug, Default)]
pub struct SharedMemory {
    lines: Vec<Line>,
}

impl SharedMemory {
    /// Creates `bytes` bytes of zeroed memory, rounded up to lines of 64 bytes.
    #[inline]
    pub fn new(bytes: u32) -> Self {
        let mut memory = Self::default();
        memory.reserve(bytes);
        memory
    }

    /// Grows the memory to at least `bytes` bytes.
    #[inline]
    pub fn reserve(&mut self, bytes: u32) {
        let lines = (bytes as usize).div_ceil(size_of::<Line>());
        self.lines.resize_with(self.lines.len().max(lines), Line::default);
    }

    /// Returns the memory as lanes of words.
    #[inline]
    pub fn lanes_mut(&mut self) -> &mut [Lanes] {
        // SAFETY: a line is as large as a word of each lane, and its alignment is stricter. All
        // bit patterns are valid for both types. The slice mutably borrows the memory, so no other
        // reference exists.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len()) }
    }

    /// Fills the memory with zeros.
    #[inline]
    pub fn clear(&mut self) {
        self.lines.iter_mut().flat_map(|line| &mut line.0).for_each(|word| *word.get_mut() = 0);
    }

    /// Writes words to the start of the memory.
    #[inline]
    pub fn fill(&mut self, words: &[u32]) {
        self.lanes_mut().as_flattened_mut().iter_mut().zip(words).for_each(|(to, &word)| *to = word);
    }

    /// Returns the address of the first byte and the size in bytes, for generated code.
    pub(super) fn raw(&self) -> (*mut u8, u64) {
        (self.lines.as_ptr().cast_mut().cast(), (self.lines.len() * size_of::<Line>()) as u64)
    }

    /// Returns the word at byte `offset`, a multiple of 4.
    #[inline]
    pub fn word(&self, offset: u32) -> Option<&AtomicU32> {
        self.words().get(offset as usize / 4)
    }

    /// Returns the 64-bit word at byte `offset`, a multiple of 8.
    #[inline]
    pub fn wide_word(&self, offset: u32) -> Option<&AtomicU64> {
        self.lines.get(offset as usize / size_of::<Line>()).map(|line| &line.0[offset as usize / 8 % LINE])
    }

    /// Returns all words.
    pub(super) fn words(&self) -> &[AtomicU32] {
        // SAFETY: a 64-bit atomic has the size of two 32-bit atomics and at least their alignment.
        // All bit patterns are valid for both types. The slice borrows the memory.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * LINE * 2) }
    }
}

/// Returns a bound buffer in the layout that generated code reads. The entry must not outlive
/// `bound`.
fn entry(bound: &Bound) -> BufferEntry {
    match bound {
        Bound::Buffer(Some(memory), start, size) => {
            // The allocation is padded to whole words.
            let inside = (*size).min(memory.size().saturating_sub(*start));
            BufferEntry::new(memory.host_pointer().wrapping_add(*start as usize), inside)
        }
        _ => BufferEntry::EMPTY,
    }
}
