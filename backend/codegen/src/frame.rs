//! The frame of a wave: what generated code and the runtime share, at fixed offsets.
//!
//! A frame is this header, then the indexed locals, then the spill slots of the code's registers.

use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::Token;

/// Results of calls.
pub const RESULTS: usize = 4;
/// Operands of calls, at most.
pub const ARGUMENTS: usize = 32;
/// Size of a lane's word over a wave, bytes.
pub const LANES_BYTES: usize = WAVE * 4;

/// Instructions that a turn of a loop counts for at least.
pub const MIN_TURN: u32 = 16;

/// [`Frame::stopped`]: the program ended.
pub const STOP_DONE: u32 = 0;
/// [`Frame::stopped`]: the program is at a barrier.
pub const STOP_BARRIER: u32 = 1;
/// [`Frame::stopped`]: the time limit passed.
pub const STOP_INTERRUPTED: u32 = 2;

/// Offsets of words from which on four bytes are inside a range, at most: gathers take signed 32-bit indices.
const MAX_OFFSETS: u64 = 0x7fff_fff0;

/// A range of memory that code accesses by byte offset.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BufferEntry {
    /// First byte.
    pub base: *mut u8,
    /// Offsets under this are of words inside, the size rounded up to whole words.
    pub limit: u32,
    /// Bytes.
    pub size: u32,
}

impl BufferEntry {
    /// A range without a byte.
    pub const EMPTY: Self = Self { base: std::ptr::null_mut(), limit: 0, size: 0 };

    /// `size` bytes from `base` on.
    #[inline]
    pub fn new(base: *mut u8, size: u64) -> Self {
        let limit = size.next_multiple_of(4).saturating_sub(3).min(MAX_OFFSETS) as u32;
        Self { base, limit, size: size.min(u64::from(u32::MAX)) as u32 }
    }
}

/// Bits of addresses that have a common range in memory that is larger than offsets reach.
const FAR: u64 = (1 << 30) - 1;

/// Ranges of addresses that a frame remembers.
pub const REACHES: usize = 16;

/// A range of addresses where generated code found memory: those that have the same high word, and offsets as gathers take them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// The first address.
    first: u64,
    /// Offsets from it under this are of words inside.
    limit: u64,
    /// The first byte.
    base: *mut u8,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl Reach {
    pub const FIRST: usize = offset_of!(Self, first);
    pub const LIMIT: usize = offset_of!(Self, limit);
    pub const BASE: usize = offset_of!(Self, base);
    pub const BYTES: usize = size_of::<Self>();
}

impl Reach {
    /// No address.
    pub const EMPTY: Self = Self { first: 0, limit: 0, base: std::ptr::null_mut() };

    /// Returns the range in which `address` lies, of memory of `size` bytes that begins at address `first` and host pointer `host`.
    pub fn new(address: u64, first: u64, (host, size): (*mut u8, u64)) -> Self {
        let alike = first.max(address & !u64::from(u32::MAX));
        let start = if address - alike < MAX_OFFSETS { alike } else { address & !FAR };
        let size = (first + size - start).min((1 << 32) - (start & u64::from(u32::MAX)));
        let base = host.wrapping_add((start - first) as usize);
        Self { first: start, limit: BufferEntry::new(base, size).limit.into(), base }
    }
}

// SAFETY: an entry is an address; who dereferences it answers for the memory, which its `Bindings` keep alive.
unsafe impl Send for BufferEntry {}
// SAFETY: an entry is an address; who dereferences it answers for the memory, which its
// `Bindings` keep alive.
unsafe impl Sync for BufferEntry {}

/// What programs find where there is no descriptor, and outside of arrays.
pub static NOTHING: BufferEntry = BufferEntry::EMPTY;

/// The buffers of one resource: its descriptors one after the other, of which those that are no buffers are empty.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ResourceEntry {
    /// The first of them; an empty one where there is none.
    pub first: *const BufferEntry,
    /// How many.
    pub count: u32,
}

// SAFETY: an entry is an address; who dereferences it answers for the memory, which its `Bindings` keep alive.
unsafe impl Send for ResourceEntry {}
// SAFETY: an entry is an address; who dereferences it answers for the memory, which its
// `Bindings` keep alive.
unsafe impl Sync for ResourceEntry {}

/// The routine of an image instruction as generated code enters it, or has it in it: written once, when it was found.
#[repr(C)]
#[derive(Debug, Default)]
pub struct RoutineEntry {
    /// First byte of its push constants.
    push: AtomicPtr<u8>,
    /// The rest of their [`BufferEntry`].
    limits: AtomicU64,
    /// Its resources.
    resources: AtomicPtr<ResourceEntry>,
    /// Its entry; null as long as there is none, or where the runtime must enter it.
    code: AtomicPtr<()>,
    /// By which programs know it that have it in them; null as long as it was not found.
    token: AtomicPtr<()>,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl RoutineEntry {
    pub const PUSH: usize = offset_of!(Self, push);
    pub const RESOURCES: usize = offset_of!(Self, resources);
    pub const CODE: usize = offset_of!(Self, code);
    pub const BYTES: usize = size_of::<Self>();

    /// Says where the routine lies, if it may be entered, and what it works on: all of that must live as long as the entry.
    pub fn set(&self, (code, token): (*const (), &Token), push: BufferEntry, resources: &[ResourceEntry]) {
        self.push.store(push.base, Ordering::Relaxed);
        self.limits.store(u64::from(push.size) << 32 | u64::from(push.limit), Ordering::Relaxed);
        self.resources.store(resources.as_ptr().cast_mut(), Ordering::Relaxed);
        // Who finds one of these finds the rest: loads are not reordered where generated code runs.
        self.code.store(code.cast_mut(), Ordering::Release);
        self.token.store(token.as_ptr().cast_mut(), Ordering::Release);
    }
}

impl RoutineEntry {
    /// Whether it is of a routine, and all of it is there.
    #[inline]
    pub fn is_of(&self, routine: &Token) -> bool {
        self.token.load(Ordering::Acquire).cast_const() == routine.as_ptr()
    }
}

/// Spill slots that routines may have whose frames are shared, bytes.
const ROUTINE_SPILLS: usize = 8 << 10;

/// Bytes of the frame that the routines which a program enters share.
pub const ROUTINE_FRAME_BYTES: usize = Frame::BYTES + ROUTINE_SPILLS;

/// The header of a frame.
#[repr(C, align(64))]
pub struct Frame {
    /// The active lanes at the start, all bits of a lane set or none.
    pub active_lanes: Lanes,
    /// The lanes that are no helpers, likewise.
    pub real_lanes: Lanes,
    /// Operands of the call that is running.
    pub arguments: [Lanes; ARGUMENTS],
    /// Its results.
    pub results: [Lanes; RESULTS],
    /// Where addresses were found: of the table of addresses that is known to belong to them (`native`).
    pub reaches: [Reach; REACHES],
    /// Executes a call site.
    pub call: extern "C" fn(*mut Frame, u32),
    /// Looks at the time limit.
    pub check: extern "C" fn(*mut Frame),
    /// Words of input.
    pub inputs: *const Lanes,
    /// Words of output.
    pub outputs: *mut Lanes,
    /// Parameters.
    pub parameters: *const u32,
    /// What belongs to the host: see `native`.
    pub host: *const (),
    /// Where the program goes on, bytes from its entry; 0 starts it.
    pub resume: u64,
    /// Push constants.
    pub push: BufferEntry,
    /// Shared memory.
    pub shared: BufferEntry,
    /// Ranges, one after the other.
    pub ranges: *const BufferEntry,
    /// A buffer without a byte, for elements that are outside of their arrays.
    pub nothing: *const BufferEntry,
    /// The buffers of each resource.
    pub resources: *const ResourceEntry,
    /// The routines of image instructions, by their numbers; null where the runtime must enter them all.
    pub routines: *const RoutineEntry,
    /// The frame in which they run.
    pub nested: *mut Frame,
    /// Time of the first look at the clock in this run, see `Deadline::expired_in_run`.
    pub since: u64,
    /// Work of loops until the next look at the time limit, in instructions, from run to run.
    pub edges: i32,
    /// Whether the time limit passed.
    pub expired: u32,
    /// How the program stopped.
    pub stopped: u32,
    /// Zeros, to load from where nothing is.
    pub zero: u32,
    /// The active lanes at the start.
    pub active: Mask,
    /// The lanes that are no helpers.
    pub real: Mask,
    /// The lanes that were killed.
    pub killed: Mask,
    /// The active lanes of the call that is running.
    pub call_active: Mask,
}

#[expect(missing_docs, reason = "offsets of the fields they are named after, bytes")]
impl Frame {
    pub const ACTIVE_LANES: usize = offset_of!(Self, active_lanes);
    pub const REAL_LANES: usize = offset_of!(Self, real_lanes);
    pub const ARGUMENT: usize = offset_of!(Self, arguments);
    pub const RESULT: usize = offset_of!(Self, results);
    pub const REACHES: usize = offset_of!(Self, reaches);
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
    pub const ACTIVE: usize = offset_of!(Self, active);
    pub const REAL: usize = offset_of!(Self, real);
    pub const KILLED: usize = offset_of!(Self, killed);
    pub const CALL_ACTIVE: usize = offset_of!(Self, call_active);
    /// Bytes of the header: where the locals start.
    pub const BYTES: usize = size_of::<Self>();
}
