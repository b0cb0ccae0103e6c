//! Frame of a wave: data that generated code and the runtime share, at fixed offsets.
//!
//! A frame is the header [`Frame`], then the indexed locals, then the spill slots.

use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::Token;

/// Maximum number of results of a call.
pub const RESULTS: usize = 4;
/// Maximum number of operands of a call.
pub const ARGUMENTS: usize = 32;
/// Size of one dword per lane of a wave, in bytes.
pub const LANES_BYTES: usize = WAVE * 4;

/// Minimum number of instructions that one loop iteration counts for.
pub const MIN_ITERATION_WORK: u32 = 16;

/// Value of [`Frame::stopped`]: the program ended.
pub const STOP_DONE: u32 = 0;
/// Value of [`Frame::stopped`]: the program is at a barrier.
pub const STOP_BARRIER: u32 = 1;
/// Value of [`Frame::stopped`]: the time limit passed.
pub const STOP_INTERRUPTED: u32 = 2;

/// Maximum number of offsets at which a whole dword is inside a range. Gathers use signed 32-bit
/// indices.
pub const MAX_OFFSETS: u64 = 0x7fff_fff0;

/// Range of memory that code accesses by byte offset.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BufferEntry {
    /// First byte.
    pub base: *mut u8,
    /// Exclusive bound of the offsets of dwords inside the range, whose size is rounded up to
    /// whole dwords.
    pub limit: u32,
    /// Size in bytes.
    pub size: u32,
}

impl BufferEntry {
    /// Empty range.
    pub const EMPTY: Self = Self { base: std::ptr::null_mut(), limit: 0, size: 0 };

    /// Returns the range of `size` bytes from `base` on.
    #[inline]
    pub fn new(base: *mut u8, size: u64) -> Self {
        let limit = size.next_multiple_of(4).saturating_sub(3).min(MAX_OFFSETS) as u32;
        Self { base, limit, size: size.min(u64::from(u32::MAX)) as u32 }
    }
}

/// Mask of the low address bits within one range of a large allocation. Such an allocation is
/// larger than the offsets of a single range can address.
const FAR: u64 = (1 << 30) - 1;

/// Number of address ranges that a frame records for accesses by address.
pub const ADDRESS_RANGES: usize = 16;

/// Number of far resources ([`vitric_ir::Space::Far`]) for which a frame records a range each. The
/// runtime executes accesses of all others.
pub const FAR_RANGES: usize = 8;

/// Number of ranges that a frame records.
pub const CACHED_RANGES: usize = ADDRESS_RANGES + FAR_RANGES;

/// Range of addresses, or of locations in a far resource, in which generated code has found
/// memory. Its addresses have equal high dwords, and its offsets fit the signed indices of gathers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CachedRange {
    /// First address.
    first: u64,
    /// Exclusive bound of the offsets of dwords inside the range, from `first`.
    limit: u64,
    /// Host pointer to the first byte.
    base: *mut u8,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl CachedRange {
    pub const FIRST: usize = offset_of!(Self, first);
    pub const LIMIT: usize = offset_of!(Self, limit);
    pub const BASE: usize = offset_of!(Self, base);
    pub const BYTES: usize = size_of::<Self>();
}

impl CachedRange {
    /// Range without addresses.
    pub const EMPTY: Self = Self { first: 0, limit: 0, base: std::ptr::null_mut() };

    /// Returns the range that contains `address`. The memory has `size` bytes and begins at
    /// address `first` and at host pointer `host`.
    pub fn new(address: u64, first: u64, (host, size): (*mut u8, u64)) -> Self {
        let alike = first.max(address & !u64::from(u32::MAX));
        let start = if address - alike < MAX_OFFSETS { alike } else { address & !FAR };
        let size = (first + size - start).min((1 << 32) - (start & u64::from(u32::MAX)));
        let base = host.wrapping_add((start - first) as usize);
        Self { first: start, limit: BufferEntry::new(base, size).limit.into(), base }
    }
}

// SAFETY: an entry is only an address. Code that dereferences it is responsible for the memory,
// which its `Bindings` keep alive.
unsafe impl Send for BufferEntry {}
// SAFETY: an entry is only an address. Code that dereferences it is responsible for the memory,
// which its `Bindings` keep alive.
unsafe impl Sync for BufferEntry {}

/// Buffer that programs access in place of a missing descriptor or an array element out of bounds.
pub static NOTHING: BufferEntry = BufferEntry::EMPTY;

/// Buffers of one resource, one entry per descriptor. Entries of other descriptor types are empty.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ResourceEntry {
    /// First entry; points to an empty entry if the resource has no descriptor.
    pub first: *const BufferEntry,
    /// Number of entries.
    pub count: u32,
}

// SAFETY: an entry is only an address. Code that dereferences it is responsible for the memory,
// which its `Bindings` keep alive.
unsafe impl Send for ResourceEntry {}
// SAFETY: an entry is only an address. Code that dereferences it is responsible for the memory,
// which its `Bindings` keep alive.
unsafe impl Sync for ResourceEntry {}

/// Routine of an image instruction, which generated code enters or contains inline. It is written
/// once, when the runtime has found the routine.
#[repr(C)]
#[derive(Debug, Default)]
pub struct RoutineEntry {
    /// First byte of the routine's push constants.
    push: AtomicPtr<u8>,
    /// Size (high dword) and limit (low dword) of the push constants' [`BufferEntry`].
    limits: AtomicU64,
    /// Resources of the routine.
    resources: AtomicPtr<ResourceEntry>,
    /// Entry of the code; null before the routine is found, or if only the runtime may enter it.
    code: AtomicPtr<()>,
    /// Token by which programs that contain the routine inline recognize it; null before it is
    /// found.
    token: AtomicPtr<()>,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl RoutineEntry {
    pub const PUSH: usize = offset_of!(Self, push);
    pub const RESOURCES: usize = offset_of!(Self, resources);
    pub const CODE: usize = offset_of!(Self, code);
    pub const BYTES: usize = size_of::<Self>();

    /// Records the routine, its push constants and its resources. All of them must live as long as
    /// the entry.
    pub fn set(&self, (code, token): (*const (), &Token), push: BufferEntry, resources: &[ResourceEntry]) {
        self.push.store(push.base, Ordering::Relaxed);
        self.limits.store(u64::from(push.size) << 32 | u64::from(push.limit), Ordering::Relaxed);
        self.resources.store(resources.as_ptr().cast_mut(), Ordering::Relaxed);
        // Generated code that reads one of these two pointers must also see the fields above. Its
        // loads are not reordered on x86-64.
        self.code.store(code.cast_mut(), Ordering::Release);
        self.token.store(token.as_ptr().cast_mut(), Ordering::Release);
    }
}

impl RoutineEntry {
    /// Returns true if the entry is of `routine` and completely written.
    #[inline]
    pub fn is_of(&self, routine: &Token) -> bool {
        self.token.load(Ordering::Acquire).cast_const() == routine.as_ptr()
    }
}

/// Maximum size of the spill slots of routines that share a frame, in bytes.
const ROUTINE_SPILLS: usize = 8 << 10;

/// Size in bytes of the frame that all routines entered by a program share.
pub const ROUTINE_FRAME_BYTES: usize = Frame::BYTES + ROUTINE_SPILLS;

/// Header of a frame.
#[repr(C, align(64))]
pub struct Frame {
    /// Active lanes at the start: all bits of a lane are set or clear.
    pub active_lanes: Lanes,
    /// Lanes that are not helpers: all bits of a lane are set or clear.
    pub real_lanes: Lanes,
    /// Operands of the current call.
    pub arguments: [Lanes; ARGUMENTS],
    /// Results of the current call.
    pub results: [Lanes; RESULTS],
    /// Address ranges that were found, which belong to the current table of addresses (`session`).
    pub cached_ranges: [CachedRange; CACHED_RANGES],
    /// Function that executes a call site.
    pub call: extern "C" fn(*mut Frame, u32),
    /// Function that checks the time limit.
    pub check: extern "C" fn(*mut Frame),
    /// Inputs, one entry per slot.
    pub inputs: *const Lanes,
    /// Outputs, one entry per slot.
    pub outputs: *mut Lanes,
    /// Parameters.
    pub parameters: *const u32,
    /// Data of the host: see `session`.
    pub host: *const (),
    /// Offset from the entry at which the program resumes, in bytes; 0 starts it.
    pub resume: u64,
    /// Push constants.
    pub push: BufferEntry,
    /// Shared memory.
    pub shared: BufferEntry,
    /// Array of memory ranges, by number.
    pub ranges: *const BufferEntry,
    /// Empty buffer for array elements out of bounds.
    pub nothing: *const BufferEntry,
    /// Array of resources, by number.
    pub resources: *const ResourceEntry,
    /// Routines of image instructions, by number; null if only the runtime may enter routines.
    pub routines: *const RoutineEntry,
    /// Frame in which the routines run.
    pub nested: *mut Frame,
    /// Time of this run's first clock read; see `Deadline::expired_in_run`.
    pub since: u64,
    /// Instructions of loops until the next check of the time limit, carried over between runs.
    pub edges: i32,
    /// Nonzero if the time limit passed.
    pub expired: u32,
    /// Reason why the program stopped (`STOP_...`).
    pub stopped: u32,
    /// Zero, for loads without a valid address.
    pub zero: u32,
    /// Number of the call site of the current cold call.
    pub cold_site: u32,
    /// Active lanes at the start.
    pub active: Mask,
    /// Lanes that are not helpers.
    pub real: Mask,
    /// Lanes that were killed.
    pub killed: Mask,
    /// Active lanes of the current call.
    pub call_active: Mask,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl Frame {
    pub const ACTIVE_LANES: usize = offset_of!(Self, active_lanes);
    pub const REAL_LANES: usize = offset_of!(Self, real_lanes);
    pub const ARGUMENT: usize = offset_of!(Self, arguments);
    pub const RESULT: usize = offset_of!(Self, results);
    pub const CACHED_RANGES: usize = offset_of!(Self, cached_ranges);
    pub const CALL: usize = offset_of!(Self, call);
    pub const CHECK: usize = offset_of!(Self, check);
    pub const INPUTS: usize = offset_of!(Self, inputs);
    pub const OUTPUTS: usize = offset_of!(Self, outputs);
    pub const PARAMETERS: usize = offset_of!(Self, parameters);
    pub const RESUME: usize = offset_of!(Self, resume);
    pub const PUSH: usize = offset_of!(Self, push);
    pub const SHARED: usize = offset_of!(Self, shared);
    pub const RANGES: usize = offset_of!(Self, ranges);
    pub const NOTHING: usize = offset_of!(Self, nothing);
    pub const RESOURCES: usize = offset_of!(Self, resources);
    pub const ROUTINES: usize = offset_of!(Self, routines);
    pub const NESTED: usize = offset_of!(Self, nested);
    pub const EDGES: usize = offset_of!(Self, edges);
    pub const EXPIRED: usize = offset_of!(Self, expired);
    pub const STOPPED: usize = offset_of!(Self, stopped);
    pub const ZERO: usize = offset_of!(Self, zero);
    pub const COLD_SITE: usize = offset_of!(Self, cold_site);
    pub const ACTIVE: usize = offset_of!(Self, active);
    pub const REAL: usize = offset_of!(Self, real);
    pub const KILLED: usize = offset_of!(Self, killed);
    pub const CALL_ACTIVE: usize = offset_of!(Self, call_active);
    /// Size of the header in bytes, which is the offset of the locals.
    pub const BYTES: usize = size_of::<Self>();
}
