//! Generated code in executable memory, and transitions between it and the runtime.
//!
//! A mapping with code is first written and then made executable, never both at once. A wave runs
//! in its own frame. Generated code calls back into the runtime through two functions whose
//! addresses are in the frame.

use std::any::Any;
use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use vitric_base::host_memory;
use vitric_base::simd::{Lanes, Mask, Vector, WAVE};
use vitric_codegen::{Generated, Site, Target};
use vitric_ir::{Inst, Token};

use super::frame::{
    ARGUMENTS, BufferEntry, Frame, MIN_TURN, NOTHING, REACHES, RESULTS, ROUTINE_FRAME_BYTES, Reach, RoutineEntry,
    STOP_BARRIER, STOP_DONE, STOP_INTERRUPTED,
};
use super::symbols::{self, Registered, Tools};
use super::{Access, Environment, Masks, SharedMemory, Stop, image};
use crate::interp::Wave;
use crate::texture::Lookup;

/// Number of instructions in loops between two deadline checks. This is about 4,000 iterations of
/// the shortest loops, which take microseconds to milliseconds.
const WORK_PER_CHECK: i32 = 4096 * MIN_TURN as i32;

/// Executable code.
#[derive(Debug)]
pub struct Native {
    symbol: Option<Registered>,
    target: Target,
    map: Arc<memmap2::Mmap>,
    entry: usize,
    sites: Vec<Site>,
    /// End of the numbers of image instructions whose routines the code enters.
    images: usize,
    /// True if a routine needs only resources, push constants, inputs and the deadline check. Its
    /// inputs and outputs must fit in those of a call site.
    stands_alone: bool,
    local_bytes: usize,
    frame_bytes: usize,
    /// Number of words that the parameters must have.
    parameters: usize,
    /// Number of input words that the code reads.
    inputs: usize,
    /// Number of output words that the code stores.
    outputs: usize,
    /// Number of memory ranges that the code accesses.
    ranges: usize,
    /// Minimum size of the push constants, in bytes.
    pushed_bytes: usize,
    /// True if the code runs only with all lanes, none of them a helper.
    with_all_lanes: bool,
    /// Inlined routines, by the numbers of the image instructions whose data they access.
    routines: Vec<(u32, Token)>,
}

impl Native {
    /// Places generated code in executable memory, with the routines of its function.
    ///
    /// # Errors
    /// Returns an error if the host provides no memory, or does not permit making it executable.
    pub fn new(generated: Generated, routines: Vec<(u32, Token)>) -> std::io::Result<Self> {
        let mut map = memmap2::MmapMut::map_anon(generated.code.bytes.len().max(1))?;
        map[..generated.code.bytes.len()].copy_from_slice(&generated.code.bytes);
        let Generated { sites, parameters, ranges, local_bytes, inputs, .. } = &generated;
        let needs_little = sites.is_empty() && routines.is_empty() && (*parameters, *ranges, *local_bytes) == (0, 0, 0);
        Ok(Self {
            images: sites.iter().filter_map(|site| site.one_image).max().map_or(0, |number| number as usize + 1),
            stands_alone: needs_little && *inputs <= ARGUMENTS && generated.outputs <= RESULTS,
            symbol: None,
            target: generated.target,
            map: Arc::new(map.make_exec()?),
            entry: generated.code.entry,
            sites: generated.sites,
            local_bytes: generated.local_bytes,
            parameters: generated.parameters,
            inputs: generated.inputs,
            outputs: generated.outputs,
            ranges: generated.ranges,
            pushed_bytes: generated.pushed_bytes,
            with_all_lanes: generated.with_all_lanes,
            routines,
            frame_bytes: Frame::BYTES + generated.local_bytes + generated.code.spill_bytes,
        })
    }

    /// Tells tools the code's name. Code that perf knows stays mapped until the process ends. perf
    /// cannot remove a name, and would use it for other code at that address.
    pub fn announce(&mut self, tools: Tools, name: &str) {
        if tools.perf {
            std::mem::forget(self.map.clone());
        }
        let code = &self.map[self.entry..];
        self.symbol = symbols::announce(tools, code.as_ptr().addr(), code.len(), name);
    }

    /// Returns the bytes, which start with the constant pool.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Returns the number of input words that the code reads.
    #[inline]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the offset of the entry, in bytes.
    #[inline]
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// Runs the code from the position in `frame`.
    ///
    /// # Safety
    /// All of the frame's header must be written for this code. Everything it points to must live
    /// until the code returns.
    #[inline]
    unsafe fn enter(&self, frame: *mut Frame) {
        // SAFETY: the entry is in the map, which is executable, and a function of this type starts
        // there.
        let entry: extern "C" fn(*mut Frame) = unsafe { std::mem::transmute(self.map.as_ptr().add(self.entry)) };
        entry(frame);
    }
}

/// Memory of a wave's frame.
#[derive(Debug, Default)]
pub struct FrameMemory {
    vectors: Vec<Vector>,
    resume: u64,
    /// Number of the address table that the ranges in the header come from.
    reached: u64,
    /// Push constants padded with zeros, for a program that reads more than are set.
    pushed: Vec<u8>,
    /// State that runs the routines the code calls.
    nested: Option<Box<Nested>>,
}

/// State that runs routines of generated code.
#[derive(Debug, Default)]
struct Nested {
    /// Frame of routines that generated code enters directly.
    routine: RoutineFrame,
    /// Wave for all other routines.
    wave: Wave,
}

/// Frame of the routines that generated code enters one after the other. Most of its header is
/// common to all of them.
#[derive(Debug, Default)]
struct RoutineFrame {
    vectors: Vec<Vector>,
}

/// Data that the frame's host pointer refers to, for its callback functions.
struct Host<'a> {
    native: &'a Native,
    environment: &'a Environment<'a>,
    panic: Cell<Option<Box<dyn Any + Send>>>,
    nested: &'a RefCell<Option<Box<Nested>>>,
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

    /// Runs until the end, a barrier or the deadline. Returns why it stopped, the killed lanes,
    /// and the lanes that are helpers from there on.
    pub fn run(&mut self, native: &Native, environment: &Environment<'_>, launch: Launch<'_>) -> (Stop, Mask, Mask) {
        let Launch { active, helpers, inputs, outputs } = launch;
        let mut session = Session::new(self, native, environment);
        let stop = session.enter(environment.parameters, (active, helpers), inputs, outputs);
        let frame = session.memory.header();
        // SAFETY: the session wrote the header, and its code has returned, so nothing else
        // accesses the frame.
        let (resume, killed, real) = unsafe { ((*frame).resume, (*frame).killed, (*frame).real) };
        drop(session);
        self.resume = resume;
        (stop, killed, !real)
    }
}

/// Consecutive runs of one program in one environment. The frame must have been started for the
/// program.
///
/// The environment is owned or borrowed. Copying an environment right after it was written word by
/// word would stall on these writes.
pub struct Session<'a, E: Borrow<Environment<'a>>> {
    memory: &'a mut FrameMemory,
    native: &'a Native,
    environment: E,
    nested: RefCell<Option<Box<Nested>>>,
    /// Active lanes and helpers that the header holds as vectors, or `None` if these are out of
    /// date.
    spread: Option<(Mask, Mask)>,
}

impl<'a, E: Borrow<Environment<'a>>> Session<'a, E> {
    /// Creates a session for a program whose frame is `memory`.
    ///
    /// # Panics
    /// Panics if the environment has too few ranges, or if the frame was not started. Also panics
    /// if the bindings have other routines than the program has inlined.
    #[inline]
    pub fn new(memory: &'a mut FrameMemory, native: &'a Native, owned: E) -> Self {
        let environment = owned.borrow();
        assert!(environment.ranges.entries().len() >= native.ranges, "fewer ranges than the program has");
        assert!(memory.vectors.len() * size_of::<Vector>() >= native.frame_bytes, "the frame was not started");
        let mut nested = memory.nested.take();
        let entries = environment.bindings.lookups().entries();
        // The routines are code for the chosen target, and their calling convention depends on the
        // target.
        let enters = entries.len() >= native.images && Some(native.target) == Target::chosen();
        let is_there =
            |(image, routine): &(u32, Token)| entries.get(*image as usize).is_some_and(|entry| entry.is_of(routine));
        assert!(
            native.routines.is_empty() || enters && native.routines.iter().all(is_there),
            "other routines were found"
        );
        let routines = if enters { entries.as_ptr() } else { std::ptr::null() };
        let of_routines = match native.images {
            0 => std::ptr::null_mut(),
            _ => nested.get_or_insert_default().routine.begin(memory.header()),
        };
        let nested = RefCell::new(nested);
        let mut push = BufferEntry::new(environment.push.as_ptr().cast_mut(), environment.push.len() as u64);
        if environment.push.len() < native.pushed_bytes {
            memory.pushed.clear();
            memory.pushed.extend_from_slice(environment.push);
            memory.pushed.resize(native.pushed_bytes, 0);
            push.base = memory.pushed.as_mut_ptr();
        }
        let (frame, table) = (memory.header(), environment.bindings.table());
        let table_of_addresses = environment.bindings.addresses().number();
        if std::mem::replace(&mut memory.reached, table_of_addresses) != table_of_addresses {
            // SAFETY: the frame has room for the header (`start`), is aligned to 64 bytes, and
            // belongs to this session alone.
            unsafe { (&raw mut (*frame).reaches).write([Reach::EMPTY; REACHES]) };
        }
        // SAFETY: the frame has room for the header and the data after it (`start`), is aligned to
        // 64 bytes, and belongs to this session alone. This block or `enter` writes every field
        // that the code or the runtime reads, except for `edges`. Any number is valid for `edges`,
        // which starts at zero and continues from the last run. Arguments and results are written
        // before they are read. Every address here outlives the session, because tables and
        // environment are borrowed for it.
        unsafe {
            (&raw mut (*frame).call).write(call);
            (&raw mut (*frame).check).write(check);
            (&raw mut (*frame).resume).write(memory.resume);
            (&raw mut (*frame).push).write(push);
            (&raw mut (*frame).shared).write(environment.shared.map_or(BufferEntry::EMPTY, shared_entry));
            (&raw mut (*frame).ranges).write(environment.ranges.entries().as_ptr());
            (&raw mut (*frame).nothing).write(&raw const NOTHING);
            (&raw mut (*frame).resources).write(table.as_ptr());
            (&raw mut (*frame).routines).write(routines);
            (&raw mut (*frame).nested).write(of_routines);
            (&raw mut (*frame).expired).write(0);
            (&raw mut (*frame).zero).write(0);
        }
        Self { memory, native, environment: owned, nested, spread: None }
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
        let parameters = self.environment.borrow().parameters;
        self.enter(parameters, (lanes, 0), inputs, outputs)
    }

    #[inline]
    fn enter(&mut self, parameters: &[u32], lanes: (Mask, Mask), inputs: &[Lanes], outputs: &mut [Lanes]) -> Stop {
        let native = self.native;
        assert!(parameters.len() >= native.parameters, "fewer parameters than the program has");
        assert!(inputs.len() >= native.inputs, "fewer input words than the program reads");
        assert!(outputs.len() >= native.outputs, "fewer output words than the program stores");
        debug_assert!(!native.with_all_lanes || lanes == (Mask::MAX, 0), "some lanes of a program that runs with all");
        let (frame, (active, helpers)) = (self.memory.header(), lanes);
        let (environment, nested) = (self.environment.borrow(), &self.nested);
        let host = Host { native, environment, panic: Cell::new(None), nested };
        // SAFETY: the frame has room for the header and for all data after it (`start`). It
        // belongs to this session alone. `new` wrote the other fields of the header. The code was
        // generated for this layout. It reads no more parameters and inputs than there are, and
        // stores no more outputs. The parameters, inputs, outputs and host are borrowed for the
        // call. The bindings keep buffers alive, and accesses to them are checked against their
        // limits. Races on buffers are the application's responsibility, according to the Vulkan
        // specification.
        let stopped = unsafe {
            if self.spread != Some(lanes) {
                (&raw mut (*frame).active_lanes).write(lanes_of_bits(active));
                (&raw mut (*frame).real_lanes).write(lanes_of_bits(!helpers));
                self.spread = Some(lanes);
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
                self.spread = None;
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

impl<'a, E: Borrow<Environment<'a>>> Drop for Session<'a, E> {
    fn drop(&mut self) {
        self.memory.nested = self.nested.take();
    }
}

/// Executes a call site.
extern "C" fn call(frame: *mut Frame, site: u32) {
    // SAFETY: generated code passes the frame that it was entered with, which is alive and not
    // borrowed. The host that it points to lives until the code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*frame).host.cast::<Host<'_>>()) };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| execute(frame, host, site as usize))) {
        // A panic must not unwind through generated code. It resumes after the code has returned.
        host.panic.set(Some(panic));
    }
}

fn execute(frame: &mut Frame, host: &Host<'_>, number: usize) {
    let site = &host.native.sites[number];
    let masks = Masks { active: frame.call_active, effective: frame.call_active & frame.real };
    match &site.inst {
        Inst::Image(request) => {
            let mut nested = host.nested.borrow_mut();
            let Nested { wave, .. } = &mut **nested.get_or_insert_default();
            image(&frame.arguments, masks, host.environment, request, wave, &mut frame.results);
        }
        inst => {
            let access = Access { registers: &frame.arguments, masks, environment: host.environment };
            [frame.results[0], frame.results[1]] = access.execute(inst, site.uniform);
            if let Some((reach, found)) = site.reach.zip(access.reach(inst)) {
                frame.reaches[reach as usize % REACHES] = found;
            }
        }
    }
}

impl RoutineFrame {
    /// Prepares the frame for routines that `caller` enters. The caller's frame holds their
    /// operands and receives their results.
    fn begin(&mut self, caller: *mut Frame) -> *mut Frame {
        if self.vectors.is_empty() {
            self.vectors = vec![Vector([0; WAVE]); ROUTINE_FRAME_BYTES.div_ceil(size_of::<Vector>())];
        }
        let frame: *mut Frame = self.vectors.as_mut_ptr().cast();
        // SAFETY: there is room for a header, and nothing else accesses it now. The caller's
        // header is in separate memory. A routine that generated code enters must stand alone
        // (`set_entry`). It has no parameters, ranges, locals or call sites. It reads no more
        // operands and writes no more results than the caller's frame has. It uses the host only
        // for the time limit. The entering code writes all fields that are not written here:
        // active lanes, resources and push constants.
        unsafe {
            (&raw mut (*frame).real_lanes).write([u32::MAX; WAVE]);
            (&raw mut (*frame).real).write(Mask::MAX);
            (&raw mut (*frame).call).write(call);
            (&raw mut (*frame).check).write(check_of_routine);
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

/// Makes the result of a lookup available to generated code, for entering its routine if possible,
/// or for an inlined copy. The lookup must live as long as the entry.
pub(super) fn set_entry(entry: &RoutineEntry, lookup: &Lookup) {
    let Some(native) = lookup.routine.program.code.native() else { return };
    if lookup.push.len() < native.pushed_bytes {
        return;
    }
    let push = BufferEntry::new(lookup.push.as_ptr().cast_mut(), lookup.push.len() as u64);
    let can_be_entered = native.stands_alone && native.frame_bytes <= ROUTINE_FRAME_BYTES;
    let code = if can_be_entered { native.map[native.entry..].as_ptr().cast() } else { std::ptr::null() };
    entry.set((code, &lookup.routine.token), push, lookup.bindings.table());
}

/// Checks the time limit.
extern "C" fn check(frame: *mut Frame) {
    // SAFETY: generated code passes the frame that it was entered with, which is alive and not
    // borrowed. The host that it points to lives until the code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*frame).host.cast::<Host<'_>>()) };
    check_deadline(frame, host);
}

/// Checks the time limit in a routine that generated code has entered. The routine's host pointer
/// is the caller's frame.
extern "C" fn check_of_routine(frame: *mut Frame) {
    // SAFETY: generated code passes the frame of the routine that it has entered, which is alive
    // and not borrowed. The caller's frame that it points to is alive and not borrowed either. The
    // host of the caller's frame lives until the caller's code returns.
    let (frame, host) = unsafe { (&mut *frame, &*(*(*frame).host.cast::<Frame>()).host.cast::<Host<'_>>()) };
    check_deadline(frame, host);
}

fn check_deadline(frame: &mut Frame, host: &Host<'_>) {
    frame.edges = WORK_PER_CHECK;
    let since = &mut frame.since;
    let look = || host.environment.deadline.expired_in_run(since);
    if catch_unwind(AssertUnwindSafe(look)).unwrap_or(true) {
        // With `edges` at 0, later runs check immediately.
        frame.edges = 0;
        frame.expired = 1;
        frame.stopped = STOP_INTERRUPTED;
    }
}

/// Returns the range of a workgroup's shared memory.
fn shared_entry(memory: &SharedMemory) -> BufferEntry {
    let (base, size) = memory.raw();
    BufferEntry::new(base, size)
}
