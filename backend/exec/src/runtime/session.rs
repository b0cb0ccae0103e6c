//! Transitions between generated code and the runtime.
//!
//! A wave runs in its own frame. Generated code calls back into the runtime through two functions
//! whose addresses are in the frame. The environment of the code executes the instructions that the
//! code leaves to it, so that this module knows no bindings and no programs.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use vitric_base::host_memory;
use vitric_base::simd::{Lanes, Mask, Vector, WAVE};
use vitric_codegen::{Site, Target};
use vitric_ir::Token;

use super::frame::{
    ARGUMENTS, BufferEntry, CACHED_RANGES, CachedRange, Frame, MIN_ITERATION_WORK, NOTHING, RESULTS,
    ROUTINE_FRAME_BYTES, ResourceEntry, RoutineEntry, STOP_BARRIER, STOP_DONE, STOP_INTERRUPTED,
};
use super::native::Native;
use super::{Deadline, Masks, SharedMemory};

/// Number of instructions in loops between two deadline checks. This is about 4,000 iterations of
/// the shortest loops, which take microseconds to milliseconds.
const WORK_PER_CHECK: i32 = 4096 * MIN_ITERATION_WORK as i32;

/// Reason why a wave stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The program ended.
    Done,
    /// The wave reached a barrier. It resumes once the other waves have reached it too.
    Barrier,
    /// The deadline passed.
    Interrupted,
}

/// Environment that generated code runs in, with the instructions that the code leaves to it.
pub trait CodeEnvironment {
    /// State that runs the routines which generated code does not enter itself.
    type Nested: Default;

    /// Returns the time limit.
    fn deadline(&self) -> &Deadline;

    /// Executes the instruction of a call site. `nested` is kept from call to call. For a load or
    /// store by address, returns the memory that its first lane accesses.
    fn execute(&self, call: SiteCall<'_>, nested: &mut Option<Box<Self::Nested>>) -> Option<CachedRange>;
}

impl<E: CodeEnvironment> CodeEnvironment for &E {
    type Nested = E::Nested;

    #[inline]
    fn deadline(&self) -> &Deadline {
        (**self).deadline()
    }

    #[inline]
    fn execute(&self, call: SiteCall<'_>, nested: &mut Option<Box<Self::Nested>>) -> Option<CachedRange> {
        (**self).execute(call, nested)
    }
}

/// Data that generated code accesses directly. The memory of all entries must stay in place as long
/// as this value lives.
pub struct CodeTables<'a> {
    /// Parameters.
    pub parameters: &'a [u32],
    /// Resources, by number.
    pub resources: &'a [ResourceEntry],
    /// Routines of image instructions, by number.
    pub routines: &'a [RoutineEntry],
    /// Number of the table of addresses, which differs from that of every other table.
    pub address_table: u64,
    /// Memory ranges, by number.
    pub ranges: &'a [BufferEntry],
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
}

/// Call of generated code to a site whose instruction it does not contain.
pub struct SiteCall<'a> {
    /// Site with the instruction.
    pub site: &'a Site,
    /// Lanes that execute the instruction.
    pub masks: Masks,
    /// Operands, indexed by value number from 0.
    pub operands: &'a [Lanes; ARGUMENTS],
    /// Results, which the environment writes.
    pub results: &'a mut [Lanes; RESULTS],
}

/// Memory of a wave's frame.
#[derive(Debug, Default)]
pub struct FrameMemory {
    vectors: Vec<Vector>,
    resume: u64,
    /// Number of the address table that the ranges in the header come from.
    address_table: u64,
    /// Push constants padded with zeros, for a program that reads more than are set.
    padded_push: Vec<u8>,
    /// Frame of routines that generated code enters directly.
    routine: RoutineFrame,
}

/// Frame of the routines that generated code enters one after the other. Most of its header is
/// common to all of them.
#[derive(Debug, Default)]
struct RoutineFrame {
    vectors: Vec<Vector>,
}

/// Data that the frame's host pointer refers to, for its callback functions.
struct Host<'a, E: CodeEnvironment> {
    native: &'a Native,
    environment: &'a E,
    panic: Cell<Option<Box<dyn Any + Send>>>,
    nested: RefCell<&'a mut Option<Box<E::Nested>>>,
}

/// Lanes of a wave and its interface.
pub struct Launch<'a> {
    /// Lanes that run.
    pub active: Mask,
    /// Lanes that run without side effects.
    pub helpers: Mask,
    /// Input words.
    pub inputs: &'a [Lanes],
    /// Output words.
    pub outputs: &'a mut [Lanes],
}

/// State of a wave whose code has returned.
#[derive(Debug, Clone, Copy)]
pub struct LaunchEnd {
    /// Reason why the wave stopped.
    pub stop: Stop,
    /// Lanes that were killed.
    pub killed: Mask,
    /// Lanes that are helpers from here on.
    pub helpers: Mask,
}

/// Four lanes of ones or zeros for each value of four mask bits.
static FOUR_LANES: [[u32; 4]; 16] = {
    let mut lanes = [[0; 4]; 16];
    let mut at = 0;
    while at < 64 {
        lanes[at / 4][at % 4] = if (at / 4) >> (at % 4) & 1 != 0 { u32::MAX } else { 0 };
        at += 1;
    }
    lanes
};

fn lanes_of_bits(mask: Mask) -> Lanes {
    let mut lanes = [0; WAVE];
    for (number, lanes) in lanes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *lanes = FOUR_LANES[usize::from(mask) >> (number * 4) & 15];
    }
    lanes
}

impl FrameMemory {
    /// Prepares the frame to start `native` from its beginning.
    #[inline]
    pub fn start(&mut self, native: &Native) {
        let vectors = native.frame_bytes.div_ceil(size_of::<Vector>());
        if self.vectors.len() < vectors {
            host_memory::make_room(&mut self.vectors, vectors);
            self.vectors.resize(vectors, Vector([0; WAVE]));
        }
        let first = Frame::BYTES / size_of::<Vector>();
        self.vectors[first..first + native.local_bytes / size_of::<Vector>()].fill(Vector([0; WAVE]));
        self.resume = 0;
    }

    fn header(&mut self) -> *mut Frame {
        self.vectors.as_mut_ptr().cast()
    }

    /// Runs until the end, a barrier or the deadline. `nested` is as in [`Session::new`].
    pub fn run<E: CodeEnvironment>(
        &mut self,
        native: &Native,
        tables: CodeTables<'_>,
        environment: E,
        launch: Launch<'_>,
        nested: &mut Option<Box<E::Nested>>,
    ) -> LaunchEnd {
        let Launch { active, helpers, inputs, outputs } = launch;
        let mut session = Session::new(self, native, tables, environment, nested);
        let stop = session.enter(session.parameters, (active, helpers), inputs, outputs);
        let frame = self.header();
        // SAFETY: the session wrote the header, and its code has returned, so nothing else
        // accesses the frame.
        let (resume, killed, real) = unsafe { ((*frame).resume, (*frame).killed, (*frame).real) };
        self.resume = resume;
        LaunchEnd { stop, killed, helpers: !real }
    }
}

/// Consecutive runs of one program in one environment. The frame must have been started for the
/// program.
///
/// The environment is owned or borrowed. Copying an environment right after it was written word by
/// word would stall on these writes.
pub struct Session<'a, E: CodeEnvironment> {
    memory: &'a mut FrameMemory,
    native: &'a Native,
    parameters: &'a [u32],
    environment: E,
    nested: &'a mut Option<Box<E::Nested>>,
    /// Active lanes and helpers that the header holds as vectors, or `None` if these are out of
    /// date.
    vector_masks: Option<(Mask, Mask)>,
}

impl<'a, E: CodeEnvironment> Session<'a, E> {
    /// Creates a session for a program whose frame is `memory`. `nested` runs the routines that
    /// the code does not enter itself, and is created when the first one is called.
    ///
    /// # Panics
    /// Panics if the environment has too few ranges, or if the frame was not started. Also panics
    /// if the bindings have other routines than the program has inlined.
    #[inline]
    pub fn new(
        memory: &'a mut FrameMemory,
        native: &'a Native,
        tables: CodeTables<'a>,
        environment: E,
        nested: &'a mut Option<Box<E::Nested>>,
    ) -> Self {
        assert!(tables.ranges.len() >= native.ranges, "fewer ranges than the program has");
        assert!(memory.vectors.len() * size_of::<Vector>() >= native.frame_bytes, "the frame was not started");
        let entries = tables.routines;
        // The routines are code for the chosen target, and their calling convention depends on the
        // target.
        let can_enter = entries.len() >= native.images && Some(native.target) == Target::chosen();
        let is_published =
            |(image, routine): &(u32, Token)| entries.get(*image as usize).is_some_and(|entry| entry.is_of(routine));
        assert!(
            native.routines.is_empty() || can_enter && native.routines.iter().all(is_published),
            "other routines were found"
        );
        let routines = if can_enter { entries.as_ptr() } else { std::ptr::null() };
        let routine_frame = match native.images {
            0 => std::ptr::null_mut(),
            _ => {
                let caller = memory.header();
                memory.routine.begin::<E>(caller)
            }
        };
        let mut push = BufferEntry::new(tables.push.as_ptr().cast_mut(), tables.push.len() as u64);
        if tables.push.len() < native.pushed_bytes {
            memory.padded_push.clear();
            memory.padded_push.extend_from_slice(tables.push);
            memory.padded_push.resize(native.pushed_bytes, 0);
            push.base = memory.padded_push.as_mut_ptr();
        }
        let frame = memory.header();
        let has_moved = std::mem::replace(&mut memory.address_table, tables.address_table) != tables.address_table;
        // Ranges of far resources belong to the bindings of one session.
        if has_moved || native.is_far {
            // SAFETY: the frame has room for the header (`start`), is aligned to 64 bytes, and
            // belongs to this session alone.
            unsafe { (&raw mut (*frame).cached_ranges).write([CachedRange::EMPTY; CACHED_RANGES]) };
        }
        // SAFETY: the frame has room for the header and the data after it (`start`), is aligned to
        // 64 bytes, and belongs to this session alone. This block or `enter` writes every field
        // that the code or the runtime reads, except for `edges`. Any number is valid for `edges`,
        // which starts at zero and continues from the last run. Arguments and results are written
        // before they are read. Every address here outlives the session, because the tables are
        // borrowed for it.
        unsafe {
            (&raw mut (*frame).call).write(call::<E>);
            (&raw mut (*frame).check).write(check::<E>);
            (&raw mut (*frame).resume).write(memory.resume);
            (&raw mut (*frame).push).write(push);
            (&raw mut (*frame).shared).write(tables.shared.map_or(BufferEntry::EMPTY, SharedMemory::entry));
            (&raw mut (*frame).ranges).write(tables.ranges.as_ptr());
            (&raw mut (*frame).nothing).write(&raw const NOTHING);
            (&raw mut (*frame).resources).write(tables.resources.as_ptr());
            (&raw mut (*frame).routines).write(routines);
            (&raw mut (*frame).nested).write(routine_frame);
            (&raw mut (*frame).expired).write(0);
            (&raw mut (*frame).zero).write(0);
        }
        Self { memory, native, parameters: tables.parameters, environment, nested, vector_masks: None }
    }

    /// Runs the program from its start with all lanes, until the end or the deadline. The program
    /// must have no barriers. Locals keep the values of the last run.
    #[inline]
    pub fn run(&mut self, parameters: &[u32], inputs: &[Lanes], outputs: &mut [Lanes]) -> Stop {
        self.enter(parameters, (Mask::MAX, 0), inputs, outputs)
    }

    /// Runs the program from its start for these lanes with the environment's parameters, until
    /// the end or the deadline. The program must have no barriers. Locals start at zero.
    #[inline]
    pub fn call(&mut self, lanes: Mask, inputs: &[Lanes], outputs: &mut [Lanes]) -> Stop {
        self.memory.start(self.native);
        self.enter(self.parameters, (lanes, 0), inputs, outputs)
    }

    #[inline]
    fn enter(&mut self, parameters: &[u32], lanes: (Mask, Mask), inputs: &[Lanes], outputs: &mut [Lanes]) -> Stop {
        let (native, environment) = (self.native, &self.environment);
        assert!(parameters.len() >= native.parameters, "fewer parameters than the program has");
        assert!(inputs.len() >= native.inputs, "fewer input words than the program reads");
        assert!(outputs.len() >= native.outputs, "fewer output words than the program stores");
        debug_assert!(!native.with_all_lanes || lanes == (Mask::MAX, 0), "some lanes of a program that runs with all");
        let (frame, (active, helpers)) = (self.memory.header(), lanes);
        let nested = RefCell::new(&mut *self.nested);
        let host = Host { native, environment, panic: Cell::new(None), nested };
        // SAFETY: the frame has room for the header and for all data after it (`start`). It
        // belongs to this session alone. `new` wrote the other fields of the header. The code was
        // generated for this layout. It reads no more parameters and inputs than there are, and
        // stores no more outputs. The parameters, inputs, outputs and host are borrowed for the
        // call. The tables keep buffers alive, and accesses to them are checked against their
        // limits. Races on buffers are the application's responsibility, according to the Vulkan
        // specification.
        let stopped = unsafe {
            if self.vector_masks != Some(lanes) {
                (&raw mut (*frame).active_lanes).write(lanes_of_bits(active));
                (&raw mut (*frame).real_lanes).write(lanes_of_bits(!helpers));
                self.vector_masks = Some(lanes);
            }
            (&raw mut (*frame).inputs).write(inputs.as_ptr());
            (&raw mut (*frame).outputs).write(outputs.as_mut_ptr());
            (&raw mut (*frame).parameters).write(parameters.as_ptr());
            (&raw mut (*frame).host).write(std::ptr::from_ref(&host).cast());
            (&raw mut (*frame).stopped).write(STOP_INTERRUPTED);
            (&raw mut (*frame).since).write(0);
            (&raw mut (*frame).active).write(active);
            (&raw mut (*frame).real).write(!helpers);
            (&raw mut (*frame).killed).write(0);
            native.enter(frame);
            if (*frame).killed != 0 {
                // The code marks lanes that became helpers in the header's vectors.
                self.vector_masks = None;
            }
            (*frame).stopped
        };
        if let Some(panic) = host.panic.take() {
            resume_unwind(panic);
        }
        match stopped {
            STOP_DONE => Stop::Done,
            STOP_BARRIER => Stop::Barrier,
            _ => Stop::Interrupted,
        }
    }
}

/// Executes a call site.
extern "C" fn call<E: CodeEnvironment>(frame: *mut Frame, site: u32) {
    // SAFETY: generated code passes the frame that it was entered with, which is alive and not
    // borrowed. The host that it points to lives until the code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*frame).host.cast::<Host<'_, E>>()) };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| execute(frame, host, site as usize))) {
        // A panic must not unwind through generated code. It resumes after the code has returned.
        host.panic.set(Some(panic));
    }
}

fn execute<E: CodeEnvironment>(frame: &mut Frame, host: &Host<'_, E>, number: usize) {
    let site = &host.native.sites[number];
    let masks = Masks { active: frame.call_active, effective: frame.call_active & frame.real };
    let Frame { arguments: operands, results, .. } = &mut *frame;
    let reached = host.environment.execute(SiteCall { site, masks, operands, results }, &mut host.nested.borrow_mut());
    if let Some((number, range)) = site.cached_range.zip(reached) {
        frame.cached_ranges[number as usize % CACHED_RANGES] = range;
    }
}

impl RoutineFrame {
    /// Prepares the frame for routines that `caller` enters. The caller's frame holds their
    /// operands and receives their results.
    fn begin<E: CodeEnvironment>(&mut self, caller: *mut Frame) -> *mut Frame {
        if self.vectors.is_empty() {
            self.vectors = vec![Vector([0; WAVE]); ROUTINE_FRAME_BYTES.div_ceil(size_of::<Vector>())];
        }
        let frame: *mut Frame = self.vectors.as_mut_ptr().cast();
        // SAFETY: there is room for a header, and nothing else accesses it now. The caller's
        // header is in separate memory. A routine that generated code enters must stand alone
        // (`Native::publish`). It has no parameters, ranges, locals or call sites. It reads no more
        // operands and writes no more results than the caller's frame has. It uses the host only
        // for the time limit. The entering code writes all fields that are not written here:
        // active lanes, resources and push constants.
        unsafe {
            (&raw mut (*frame).real_lanes).write([u32::MAX; WAVE]);
            (&raw mut (*frame).real).write(Mask::MAX);
            (&raw mut (*frame).call).write(call::<E>);
            (&raw mut (*frame).check).write(check_of_routine::<E>);
            (&raw mut (*frame).inputs).write((&raw const (*caller).arguments).cast());
            (&raw mut (*frame).outputs).write((&raw mut (*caller).results).cast());
            (&raw mut (*frame).parameters).write(std::ptr::dangling());
            (&raw mut (*frame).host).write(caller.cast_const().cast());
            (&raw mut (*frame).resume).write(0);
            (&raw mut (*frame).shared).write(BufferEntry::EMPTY);
            (&raw mut (*frame).ranges).write(std::ptr::dangling());
            (&raw mut (*frame).nothing).write(&raw const NOTHING);
            (&raw mut (*frame).routines).write(std::ptr::null());
            (&raw mut (*frame).nested).write(std::ptr::null_mut());
            (&raw mut (*frame).since).write(0);
            (&raw mut (*frame).expired).write(0);
            (&raw mut (*frame).zero).write(0);
            (&raw mut (*frame).killed).write(0);
        }
        frame
    }
}

/// Checks the time limit.
extern "C" fn check<E: CodeEnvironment>(frame: *mut Frame) {
    // SAFETY: generated code passes the frame that it was entered with, which is alive and not
    // borrowed. The host that it points to lives until the code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*frame).host.cast::<Host<'_, E>>()) };
    check_deadline(frame, host);
}

/// Checks the time limit in a routine that generated code has entered. The routine's host pointer
/// is the caller's frame.
extern "C" fn check_of_routine<E: CodeEnvironment>(frame: *mut Frame) {
    // SAFETY: generated code passes the frame of the routine that it has entered, which is alive
    // and not borrowed. The caller's frame that it points to is alive and not borrowed either. The
    // host of the caller's frame lives until the caller's code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*(*frame).host.cast::<Frame>()).host.cast::<Host<'_, E>>()) };
    check_deadline(frame, host);
}

fn check_deadline<E: CodeEnvironment>(frame: &mut Frame, host: &Host<'_, E>) {
    frame.edges = WORK_PER_CHECK;
    let since = &mut frame.since;
    let is_expired = || host.environment.deadline().expired_in_run(since);
    if catch_unwind(AssertUnwindSafe(is_expired)).unwrap_or(true) {
        // With `edges` at 0, later runs check immediately.
        frame.edges = 0;
        frame.expired = 1;
        frame.stopped = STOP_INTERRUPTED;
    }
}
