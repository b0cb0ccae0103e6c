//! Resolved bindings: for each resource of a program, the descriptors of its array, with buffers resolved to memory.
//!
//! What a set holds is resolved once, for all draws until it is written again; bindings of a draw only say where in which set the
//! descriptors of a resource lie. Dynamic offsets make sets of their own.
//!
//! Buffer accesses are robust: a word outside of the bound range, rounded up to whole words, reads 0 and is not written.
//! Source: Vulkan specification, "robustBufferAccess", `robustStorageBufferAccessSizeAlignment`.

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
    /// A buffer's bytes: memory, first byte, and bytes; without memory nothing is there.
    Buffer(Option<Arc<Allocation>>, u64, u64),
    /// Anything else.
    Other(Descriptor),
}

impl Bound {
    /// Resolves a descriptor; `dynamic_offset` is added to a buffer's offset.
    #[inline]
    pub fn new(descriptor: Descriptor, dynamic_offset: u32) -> Self {
        match descriptor {
            Descriptor::UniformBuffer(range) | Descriptor::StorageBuffer(range) => Self::buffer(&range, dynamic_offset),
            other => Self::Other(other),
        }
    }

    /// The image that it shows.
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

/// Descriptors of a set, or of what else programs are given, resolved once for all draws and dispatches that find them there.
#[derive(Debug, Default)]
pub struct ResolvedSet {
    bounds: Box<[Bound]>,
    /// The same as generated code sees them.
    entries: Box<[BufferEntry]>,
    /// Numbers of descriptors whose images may rest.
    may_rest: Box<[u32]>,
    /// The submission that used these last, and how often images had lost contents then.
    used: [AtomicU64; 2],
    /// What image instructions found here.
    pub(super) found: Found,
}

impl ResolvedSet {
    /// Of descriptors, in order.
    pub fn new(bounds: impl IntoIterator<Item = Bound>) -> Arc<Self> {
        let bounds: Box<[Bound]> = bounds.into_iter().collect();
        let entries = bounds.iter().map(entry).collect();
        let rests = |bound: &Bound| bound.image().is_some_and(Surface::may_rest);
        let may_rest = (0..).zip(&bounds).filter(|(_, bound)| rests(bound)).map(|(number, _)| number).collect();
        Arc::new(Self { bounds, entries, may_rest, used: Default::default(), found: Found::default() })
    }
}

/// Where the descriptors of a resource lie.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number among the sets.
    set: u32,
    first: u32,
    count: u32,
}

/// The bindings of one draw or dispatch, by resource index and array element.
#[derive(Debug, Default)]
pub struct Bindings {
    sets: SmallVec<[Arc<ResolvedSet>; 2]>,
    places: SmallVec<[Place; 4]>,
    /// As generated code sees them. The sets keep alive what they point to.
    table: SmallVec<[ResourceEntry; 4]>,
    addresses: Arc<Addresses>,
    lookups: Lookups,
}

impl Bindings {
    /// Bindings of one list of descriptors per resource of the program.
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

    /// Adds the next resource: descriptors of a set, as far as it has them.
    pub fn add(&mut self, set: &Arc<ResolvedSet>, range: Range<usize>) {
        // Behind what was resolved nothing was ever written.
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

    /// The same with memory that programs reach by address.
    #[inline]
    pub fn with_addresses(self, addresses: Arc<Addresses>) -> Self {
        Self { addresses, ..self }
    }

    /// The same for a program with so many image instructions, with the routines of its device.
    #[inline]
    pub fn with_routines(self, routines: Arc<Routines>, images: u32) -> Self {
        Self { lookups: Lookups::new(routines, images as usize), ..self }
    }

    /// Without a resource yet, for a program with the routines and the memory of its device. Sets remember what its image instructions
    /// find in them.
    #[inline]
    pub fn of_program(program: &Arc<Program>, routines: Arc<Routines>, addresses: Arc<Addresses>) -> Self {
        let (sets, places, table) = Default::default();
        Self { sets, places, table, addresses, lookups: Lookups::of_program(program, routines) }
    }

    /// What was looked up for image instructions.
    #[inline]
    pub fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// Memory that programs reach by address.
    #[inline]
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Calls `visit` with memory, first byte and bytes of what stores may reach through resources.
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

    /// Has all images of the sets awake as long as something uses them.
    pub fn begin_use(&self, in_use: &InUse<'_>) {
        let (number, losses) = (in_use.number(), in_use.losses());
        for set in self.sets.iter().filter(|set| !set.may_rest.is_empty()) {
            // As with an image, what a later submission has noted holds for this one, too.
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

    /// The buffers as generated code sees them, by resource.
    pub(super) fn table(&self) -> &[ResourceEntry] {
        &self.table
    }

    /// The set that a resource lies in.
    pub(super) fn set_of(&self, resource: u32) -> Option<&Arc<ResolvedSet>> {
        self.sets.get(self.places.get(resource as usize)?.set as usize)
    }

    /// The descriptors of a resource.
    fn bounds(&self, resource: u32) -> &[Bound] {
        let found = self.places.get(resource as usize).zip(self.set_of(resource));
        found.map_or(&[], |(place, set)| &set.bounds[place.first as usize..][..place.count as usize])
    }

    /// A buffer: memory, first byte, and bytes.
    #[inline]
    pub(super) fn buffer(&self, resource: u32, element: u32) -> Option<(&Allocation, u64, u64)> {
        match self.bounds(resource).get(element as usize)? {
            Bound::Buffer(Some(memory), start, size) => Some((memory, *start, *size)),
            _ => None,
        }
    }

    /// The descriptor of a resource that is not a buffer.
    #[inline]
    pub fn descriptor(&self, resource: u32, element: u32) -> Option<&Descriptor> {
        match self.bounds(resource).get(element as usize)? {
            Bound::Other(descriptor) => Some(descriptor),
            Bound::Buffer(..) => None,
        }
    }

    /// The memory that holds `bytes` bytes at `offset` of a buffer, and where. `bytes` is at most 4, or 8 for an atomic.
    #[inline]
    pub fn place(&self, resource: u32, element: u32, offset: u32, bytes: u64) -> Option<(&Allocation, u64)> {
        place_in(self.buffer(resource, element)?, offset, bytes)
    }

    /// Bytes of a buffer's bound range.
    #[inline]
    pub fn length(&self, resource: u32, element: u32) -> u32 {
        self.buffer(resource, element).map_or(0, |(_, _, size)| size.min(u64::from(u32::MAX)) as u32)
    }
}

/// Ranges of memory that a program of the driver's own reaches by number.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    bounds: Vec<Bound>,
    entries: Vec<BufferEntry>,
}

impl Ranges {
    /// Of these buffers.
    #[inline]
    pub fn new(bounds: Vec<Bound>) -> Self {
        let entries = bounds.iter().map(entry).collect();
        Self { bounds, entries }
    }

    /// No range.
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: Ranges = Ranges { bounds: Vec::new(), entries: Vec::new() };
        &NONE
    }

    /// The ranges as generated code sees them.
    pub(super) fn entries(&self) -> &[BufferEntry] {
        &self.entries
    }

    /// Has the machine bring some bytes of a range to its caches, which are soon needed.
    #[inline]
    pub fn expect(&self, number: u32, bytes: Range<usize>) {
        let Some(entry) = self.entries.get(number as usize).filter(|entry| bytes.end <= entry.size as usize) else {
            return;
        };
        let first = entry.base.wrapping_add(bytes.start);
        (0..bytes.len()).step_by(CACHE_LINE).for_each(|line| prefetch_at(first.wrapping_add(line)));
    }

    /// A range: memory, first byte, and bytes.
    pub(super) fn buffer(&self, number: u32) -> Option<(&Allocation, u64, u64)> {
        match self.bounds.get(number as usize)? {
            Bound::Buffer(Some(memory), start, size) => Some((memory, *start, *size)),
            _ => None,
        }
    }
}

/// The place of `bytes` bytes at `offset` of a buffer, rounded up to whole words.
#[inline]
fn place_in((memory, start, size): (&Allocation, u64, u64), offset: u32, bytes: u64) -> Option<(&Allocation, u64)> {
    let inside = u64::from(offset) + bytes <= size.next_multiple_of(4);
    inside.then_some((memory, start + u64::from(offset)))
}

/// Words of a line of [`SharedMemory`].
const LINE: usize = 8;

/// A word of each lane of a wave, aligned as vectors want it.
#[repr(C, align(64))]
#[derive(Debug, Default)]
struct Line([AtomicU64; LINE]);

/// Memory shared by the waves of a workgroup, or of what takes part in a wave of a merged program.
#[derive(Debug, Default)]
pub struct SharedMemory {
    lines: Vec<Line>,
}

impl SharedMemory {
    /// `bytes` of zeroed memory, rounded up to lines of 64.
    #[inline]
    pub fn new(bytes: u32) -> Self {
        let mut memory = Self::default();
        memory.reserve(bytes);
        memory
    }

    /// Makes it at least so large.
    #[inline]
    pub fn reserve(&mut self, bytes: u32) {
        let lines = (bytes as usize).div_ceil(size_of::<Line>());
        self.lines.resize_with(self.lines.len().max(lines), Line::default);
    }

    /// Words of lanes.
    #[inline]
    pub fn lanes_mut(&mut self) -> &mut [Lanes] {
        // SAFETY: a line is as large as a word of each lane and aligned better, all bits are valid for both, and the slice borrows
        // the memory, so that nobody else reaches it.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.lines.len()) }
    }

    /// Zeroes it.
    #[inline]
    pub fn clear(&mut self) {
        self.lines.iter_mut().flat_map(|line| &mut line.0).for_each(|word| *word.get_mut() = 0);
    }

    /// Writes words at its start.
    #[inline]
    pub fn fill(&mut self, words: &[u32]) {
        self.lanes_mut().as_flattened_mut().iter_mut().zip(words).for_each(|(to, &word)| *to = word);
    }

    /// First byte, and bytes, for generated code.
    pub(super) fn raw(&self) -> (*mut u8, u64) {
        (self.lines.as_ptr().cast_mut().cast(), (self.lines.len() * size_of::<Line>()) as u64)
    }

    /// The word at byte `offset`, a multiple of 4.
    #[inline]
    pub fn word(&self, offset: u32) -> Option<&AtomicU32> {
        self.words().get(offset as usize / 4)
    }

    /// The 64-bit word at byte `offset`, a multiple of 8.
    #[inline]
    pub fn wide_word(&self, offset: u32) -> Option<&AtomicU64> {
        self.lines.get(offset as usize / size_of::<Line>()).map(|line| &line.0[offset as usize / 8 % LINE])
    }

    /// All words.
    pub(super) fn words(&self) -> &[AtomicU32] {
        // SAFETY: a 64-bit atomic has the size of two 32-bit ones and at least their alignment, all bits are valid for both,
        // and the slice borrows the memory.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * LINE * 2) }
    }
}

/// A bound buffer as generated code sees it. The entry must not outlive what it was made of.
fn entry(bound: &Bound) -> BufferEntry {
    match bound {
        Bound::Buffer(Some(memory), start, size) => {
            // Memory is padded to whole words.
            let inside = (*size).min(memory.size().saturating_sub(*start));
            BufferEntry::new(memory.host_pointer().wrapping_add(*start as usize), inside)
        }
        _ => BufferEntry::EMPTY,
    }
}
