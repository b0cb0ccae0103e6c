//! State of a wave, and its execution.

use smallvec::SmallVec;
use vitric_base::simd::{Lanes, Mask, Vectors, WAVE};
use vitric_ir::{Image, Inst, UnaryOp, Value};

use super::environment::{Access, Environment};
use super::matrix::multiply;
use crate::bindings::Lookup;
use crate::runtime::frame::{CachedRange, RESULTS};
use crate::runtime::session::{CodeEnvironment, FrameMemory, Launch, LaunchEnd, Session, SiteCall};
use crate::runtime::{Deadline, Masks, Stop, kernels, lanes_of};
use crate::{Executable, Program};

/// Number of instructions between two deadline checks, about 100 microseconds.
const WORK_PER_CHECK: usize = 4096;

#[derive(Debug, Clone, Copy, Default)]
struct Region {
    /// Lanes that entered the region.
    entered: Mask,
    /// For `If`, the lanes that run the `Else`.
    else_lanes: Mask,
    /// Lanes that left for the end of this region.
    broken: Mask,
    /// Lanes that wait for the continuing part of the loop.
    continued: Mask,
    /// True if the depths of `Break` and `Continue` count this region.
    is_target: bool,
}

/// Repeated runs of one program with all lanes. The program has no barriers. Locals and outputs
/// that it does not write are undefined.
pub struct Runs<'a> {
    runner: Runner<'a>,
    inputs: Vectors,
    /// Output words.
    pub outputs: Vectors,
}

enum Runner<'a> {
    Native(Session<'a, Environment<'a>>),
    Interpreter(&'a mut Wave, &'a Program, Environment<'a>),
}

impl Runs<'_> {
    /// Sets an input word that the program declares uniform. The word keeps its value from run to
    /// run.
    #[inline]
    pub fn set(&mut self, slot: usize, word: u32) {
        match self.runner {
            // Generated code reads only the first lane of a uniform word.
            Runner::Native(_) => self.inputs[slot][0] = word,
            Runner::Interpreter(..) => self.inputs[slot] = [word; WAVE],
        }
    }

    /// Returns the number of input words.
    #[inline]
    pub fn words(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the lanes of an input word.
    #[inline]
    pub fn lanes(&mut self, slot: usize) -> &mut Lanes {
        &mut self.inputs[slot]
    }

    /// Runs the program with these parameters until its end or the deadline.
    #[inline]
    pub fn run(&mut self, parameters: &[u32]) -> Stop {
        match &mut self.runner {
            Runner::Native(session) => session.run(parameters, &self.inputs, &mut self.outputs),
            Runner::Interpreter(..) => self.interpret(parameters),
        }
    }

    // A separate cold function keeps the interpreter out of the callers of generated code.
    #[cold]
    fn interpret(&mut self, parameters: &[u32]) -> Stop {
        let Runner::Interpreter(wave, program, environment) = &mut self.runner else { return Stop::Done };
        wave.start(program, Mask::MAX, 0);
        wave.inputs.copy_from_slice(&self.inputs);
        let environment = Environment { parameters, ..*environment };
        let stop = wave.run(program, &environment);
        self.outputs.copy_from_slice(&wave.outputs);
        stop
    }
}

/// Repeated calls of one program without barriers. Each call runs from start to end, for any
/// lanes.
pub struct Calls<'a> {
    program: &'a Program,
    runner: Caller<'a>,
}

enum Caller<'a> {
    Native(Session<'a, &'a Environment<'a>>),
    Interpreter(&'a mut Wave, &'a Environment<'a>),
}

impl Calls<'_> {
    /// Runs the program for these lanes.
    ///
    /// `inputs` holds at least the words that the program reads, and `outputs` at least the words
    /// that it writes. Outputs of lanes that do not run keep their values.
    ///
    /// # Panics
    /// Panics if generated code runs and `outputs` has fewer words than the program's interface.
    pub fn call(&mut self, lanes: Mask, inputs: &[Lanes], outputs: &mut [Lanes]) -> Stop {
        match &mut self.runner {
            Caller::Native(session) => {
                assert!(outputs.len() >= self.program.outputs.len(), "fewer output words than the program has");
                let kept: SmallVec<[Lanes; RESULTS]> =
                    if lanes == Mask::MAX { SmallVec::new() } else { (&*outputs).into() };
                let stop = session.call(lanes, inputs, outputs);
                outputs.iter_mut().zip(&kept).for_each(|(output, kept)| kernels::blend(!lanes, output, kept));
                stop
            }
            Caller::Interpreter(wave, environment) => {
                wave.start(self.program, lanes, 0);
                for (word, input) in wave.inputs.iter_mut().zip(inputs) {
                    *word = *input;
                }
                let stop = wave.run(self.program, environment);
                for (output, word) in outputs.iter_mut().zip(wave.outputs.iter()) {
                    kernels::blend(lanes, output, word);
                }
                stop
            }
        }
    }
}

/// Number of wave entries, at the start or after a barrier, between two deadline checks.
const ENTRIES_PER_CHECK: usize = 256;

/// Runs waves of one program to each barrier in turn, until all are done. The waves must have been
/// started. Returns false if one was interrupted.
pub fn run_together(program: &Program, waves: &mut [Wave], environment: &Environment<'_>) -> bool {
    let mut stops: SmallVec<[Stop; 16]> = SmallVec::from_elem(Stop::Barrier, waves.len());
    let mut entries = 0;
    while stops.contains(&Stop::Barrier) {
        // A loop with a barrier in every iteration may leave the wave before it executes enough
        // back edges for a check.
        if entries >= ENTRIES_PER_CHECK && environment.deadline.expired() {
            return false;
        }
        entries = entries % ENTRIES_PER_CHECK + waves.len();
        for (wave, stop) in waves.iter_mut().zip(&mut stops) {
            if *stop == Stop::Barrier {
                *stop = wave.run(program, environment);
            }
        }
        if stops.contains(&Stop::Interrupted) || environment.deadline.is_stopped() {
            return false;
        }
    }
    true
}

/// Wave: 16 lanes of one program.
#[derive(Debug, Default)]
pub struct Wave {
    pc: usize,
    active: Mask,
    /// Lanes that left a region early and wait for the end of the target region.
    exited: Mask,
    killed: Mask,
    helpers: Mask,
    /// Number of instructions until the next deadline check, kept from run to run.
    work_left: usize,
    /// Time of the first deadline check in this run, see `Deadline::expired_in_run`.
    since: u64,
    regions: Vec<Region>,
    registers: Vec<Lanes>,
    locals: Vec<Lanes>,
    frame: FrameMemory,
    /// True if the interpreter has begun the program.
    is_interpreted: bool,
    /// Wave that runs the routines of image instructions.
    nested: Option<Box<Wave>>,
    /// Input words, which the caller writes before the wave runs.
    pub inputs: Vectors,
    /// Output words.
    pub outputs: Vectors,
}

impl Wave {
    /// Prepares the wave to run `program` from its start with these lanes. Lanes in `helpers` run
    /// without side effects. The caller writes the inputs afterwards. All outputs are 0.
    #[inline]
    pub fn start(&mut self, program: &Program, lanes: Mask, helpers: Mask) {
        self.outputs.clear();
        self.start_linked(program, lanes, helpers);
    }

    /// Prepares the wave as [`Self::start`] does, without clearing the outputs. The program must
    /// write all outputs in every lane that reaches its end. Outputs of other lanes are undefined.
    pub fn start_linked(&mut self, program: &Program, lanes: Mask, helpers: Mask) {
        let code = &program.code;
        self.active = lanes;
        self.exited = !lanes;
        self.killed = 0;
        self.helpers = helpers;
        self.inputs.resize(program.inputs.len());
        self.outputs.resize(program.outputs.len());
        self.is_interpreted = false;
        if let Some(native) = code.native() {
            self.frame.start(native);
        }
    }

    fn start_interpreter(&mut self, code: &Executable) {
        self.since = 0;
        self.regions.clear();
        self.locals.clear();
        self.locals.resize(code.local_words as usize, [0; WAVE]);
        self.load_constants(code);
        self.pc = code.constants;
    }

    fn load_constants(&mut self, code: &Executable) {
        self.registers.clear();
        self.registers.resize(code.function.types.len(), [0; WAVE]);
        for inst in &code.function.insts[..code.constants] {
            if let Inst::Const { result, word } = inst {
                self.registers[result.0 as usize] = [*word; WAVE];
            }
        }
    }

    /// Returns the lanes that were killed.
    #[inline]
    pub fn killed(&self) -> Mask {
        self.killed
    }

    /// Runs until the end, a barrier or the deadline.
    pub fn run(&mut self, program: &Program, environment: &Environment<'_>) -> Stop {
        let code = &program.code;
        if let Some(native) = environment.native(code) {
            let (active, helpers) = (self.active, self.helpers);
            let launch = Launch { active, helpers, inputs: &self.inputs, outputs: &mut self.outputs };
            let LaunchEnd { stop, killed, helpers } =
                self.frame.run(native, environment.tables(), environment, launch, &mut self.nested);
            self.killed |= killed;
            self.helpers = helpers;
            return stop;
        }
        if !std::mem::replace(&mut self.is_interpreted, true) {
            self.start_interpreter(code);
        }
        if self.is_interrupted(code.function.insts.len() - self.pc.min(code.function.insts.len()), environment) {
            return Stop::Interrupted;
        }
        while let Some(inst) = code.function.insts.get(self.pc) {
            match inst {
                Inst::Unary { result, op, a } => self.unary(*result, *op, *a),
                Inst::Binary { result, op, a, b } => {
                    let lanes = kernels::binary(*op, self.register(*a), self.register(*b));
                    self.set(*result, lanes);
                }
                Inst::Ternary { result, op, a, b, c } => {
                    let lanes = kernels::ternary(*op, self.register(*a), self.register(*b), self.register(*c));
                    self.set(*result, lanes);
                }
                Inst::Barrier => {
                    self.pc += 1;
                    return Stop::Barrier;
                }
                Inst::EndLoop => {
                    if self.end_loop(code, environment) {
                        return Stop::Interrupted;
                    }
                    continue;
                }
                _ if self.control(code, inst) => continue,
                _ => self.execute(code, environment, inst),
            }
            self.pc += 1;
        }
        Stop::Done
    }

    /// Prepares repeated calls of a program without barriers in one environment.
    pub fn calls<'a>(&'a mut self, program: &'a Program, environment: &'a Environment<'a>) -> Calls<'a> {
        match environment.native(&program.code) {
            Some(native) => {
                self.frame.start(native);
                let session =
                    Session::new(&mut self.frame, native, environment.tables(), environment, &mut self.nested);
                Calls { program, runner: Caller::Native(session) }
            }
            None => Calls { program, runner: Caller::Interpreter(self, environment) },
        }
    }

    /// Calls a program without barriers once, as `Calls::call` does.
    pub fn call(
        &mut self,
        program: &Program,
        environment: &Environment<'_>,
        lanes: Mask,
        inputs: &[Lanes],
        outputs: &mut [Lanes],
    ) -> Stop {
        self.calls(program, environment).call(lanes, inputs, outputs)
    }

    /// Prepares repeated runs of a program with all lanes in one environment.
    pub fn runs<'a>(&'a mut self, program: &'a Program, environment: Environment<'a>) -> Runs<'a> {
        let (inputs, outputs) = (Vectors::zeroed(program.inputs.len()), Vectors::zeroed(program.outputs.len()));
        let runner = match environment.native(&program.code) {
            Some(native) => {
                self.frame.start(native);
                let tables = environment.tables();
                Runner::Native(Session::new(&mut self.frame, native, tables, environment, &mut self.nested))
            }
            None => Runner::Interpreter(self, program, environment),
        };
        Runs { runner, inputs, outputs }
    }

    /// Executes a control-flow marker and advances the program counter. Returns false if `inst` is
    /// not a marker.
    fn control(&mut self, code: &Executable, inst: &Inst) -> bool {
        let target = code.jumps[self.pc] as usize;
        let next = match inst {
            Inst::If { condition } => self.begin_if(*condition, target),
            Inst::Else => self.begin_else(target),
            Inst::EndIf => self.end_region(),
            Inst::Block => self.begin_target(),
            Inst::Loop => self.begin_target(),
            Inst::EndBlock => self.end_region(),
            Inst::Continuing => self.continuing(),
            Inst::Break { depth } => self.leave(*depth, target, |region, lanes| region.broken |= lanes),
            Inst::Continue { depth } => self.leave(*depth, target, |region, lanes| region.continued |= lanes),
            Inst::Kill => self.kill(target),
            _ => return false,
        };
        self.pc = next;
        true
    }

    fn begin_if(&mut self, condition: Value, target: usize) -> usize {
        let taken = self.active & kernels::nonzero(&self.registers[condition.0 as usize]);
        let region = Region { entered: self.active, else_lanes: self.active & !taken, ..Region::default() };
        self.regions.push(region);
        self.active = taken;
        if taken == 0 { target } else { self.pc + 1 }
    }

    fn begin_else(&mut self, target: usize) -> usize {
        self.active = self.regions.last().map_or(0, |region| region.else_lanes) & !self.exited;
        if self.active == 0 { target } else { self.pc + 1 }
    }

    fn begin_target(&mut self) -> usize {
        self.regions.push(Region { entered: self.active, is_target: true, ..Region::default() });
        self.pc + 1
    }

    fn end_region(&mut self) -> usize {
        let region = self.regions.pop().unwrap_or_default();
        self.exited &= !region.broken;
        self.active = region.entered & !self.exited;
        self.pc + 1
    }

    fn continuing(&mut self) -> usize {
        if let Some(region) = self.regions.last_mut() {
            self.active |= region.continued;
            self.exited &= !region.continued;
            region.continued = 0;
        }
        self.pc + 1
    }

    /// Starts the next iteration or leaves the loop. Returns true if the deadline passed.
    fn end_loop(&mut self, code: &Executable, environment: &Environment<'_>) -> bool {
        if self.active == 0 {
            self.pc = self.end_region();
            return false;
        }
        let first = code.jumps[self.pc] as usize + 1;
        let work = self.pc - first;
        self.pc = first;
        self.is_interrupted(work, environment)
    }

    /// Checks the deadline if enough instructions have run since the last check. `work` is the
    /// number of instructions that run next. Returns true if the deadline passed.
    fn is_interrupted(&mut self, work: usize, environment: &Environment<'_>) -> bool {
        if let Some(left) = self.work_left.checked_sub(work + 1) {
            self.work_left = left;
            return false;
        }
        let is_over = environment.deadline.expired_in_run(&mut self.since);
        self.work_left = if is_over { 0 } else { WORK_PER_CHECK };
        is_over
    }

    fn leave(&mut self, depth: u32, target: usize, note: impl Fn(&mut Region, Mask)) -> usize {
        let lanes = self.active;
        let mut targets = self.regions.iter_mut().rev().filter(|region| region.is_target);
        if let Some(region) = targets.nth(depth as usize) {
            note(region, lanes);
        }
        self.exited |= lanes;
        self.active = 0;
        target
    }

    fn kill(&mut self, target: usize) -> usize {
        self.killed |= self.active;
        self.exited |= self.active;
        self.active = 0;
        target
    }

    fn register(&self, value: Value) -> &Lanes {
        &self.registers[value.0 as usize]
    }

    fn lane(&self, value: Value, lane: usize) -> u32 {
        self.registers[value.0 as usize][lane]
    }

    fn set(&mut self, result: Value, lanes: Lanes) {
        self.registers[result.0 as usize] = lanes;
    }

    fn masks(&self) -> Masks {
        Masks { active: self.active, effective: self.active & !self.helpers }
    }

    fn execute(&mut self, code: &Executable, environment: &Environment<'_>, inst: &Inst) {
        match inst {
            Inst::LocalLoad { .. } | Inst::LocalStore { .. } | Inst::TableLoad { .. } => self.local(code, inst),
            // The interpreter runs no fragment kernels, so an interpolated input is read like any
            // other.
            Inst::Input { result, slot } | Inst::Interpolate { result, slot, .. } => {
                self.set(*result, self.inputs[*slot as usize])
            }
            Inst::Parameter { result, word, of } => {
                let words = &environment.parameters[*word as usize * WAVE..];
                let of = of.map(|of| self.register(of).map(|of| of as usize % WAVE));
                self.set(*result, of.unwrap_or_default().map(|of| words[of]));
            }
            Inst::Output { slot, value } => self.output(*slot, *value),
            Inst::Image(image) => self.image(environment, image),
            Inst::IsHelper { result } => {
                let helpers = self.helpers;
                self.set(*result, std::array::from_fn(|lane| u32::from(helpers >> lane & 1)));
            }
            Inst::Const { result, word } => self.set(*result, [*word; WAVE]),
            Inst::Lane { result } => self.set(*result, std::array::from_fn(|lane| lane as u32)),
            Inst::IsActive { result } => {
                let active = self.active;
                self.set(*result, std::array::from_fn(|lane| u32::from(active >> lane & 1)));
            }
            Inst::Ballot { result, a } => {
                let bits = kernels::nonzero(self.register(*a));
                self.set(*result, [u32::from(bits); WAVE]);
            }
            Inst::Shuffle { result, a, index } => {
                let (words, index) = (self.register(*a), self.register(*index));
                let lanes = index.map(|lane| words[lane as usize % WAVE]);
                self.set(*result, lanes);
            }
            Inst::Demote => {
                self.killed |= self.active;
                self.helpers |= self.active;
            }
            _ => self.access(code, environment, inst),
        }
    }

    fn image(&mut self, environment: &Environment<'_>, image: &Image) {
        let (numbered, operands) = self.numbered(image);
        let mut results = [[0; WAVE]; 4];
        let access = Access { registers: &operands, masks: self.masks(), environment };
        execute_image(access, &numbered, &mut results, self.nested.get_or_insert_default());
        for index in 0..image.results {
            self.set(Value(image.result.0 + index), results[index as usize]);
        }
    }

    /// Returns the operands, and the instruction with its operands numbered as in a call from
    /// generated code.
    fn numbered(&self, image: &Image) -> (Image, Vec<Lanes>) {
        let (inst, values) = Inst::Image(Box::new(image.clone())).numbered();
        let operands = values.iter().map(|&value| *self.register(value)).collect();
        let Inst::Image(image) = inst else { unreachable!("it was made above") };
        (*image, operands)
    }

    fn access(&mut self, code: &Executable, environment: &Environment<'_>, inst: &Inst) {
        let access = Access { registers: &self.registers, masks: self.masks(), environment };
        match inst {
            Inst::Load { result, .. } | Inst::Atomic { result, .. } | Inst::BufferLength { result, .. } => {
                let uniform = code.uniformity.values[result.0 as usize];
                let [lanes, _] = access.execute(inst, uniform);
                self.set(*result, lanes);
            }
            Inst::MatrixLoad(load) => {
                for (result, lanes) in inst.results().zip(access.load_matrix(load)) {
                    self.set(result, lanes);
                }
            }
            Inst::MatrixStore(store) => access.store_matrix(store),
            Inst::MatrixMultiply(product) => {
                for (result, lanes) in inst.results().zip(multiply(product, &self.registers)) {
                    self.set(result, lanes);
                }
            }
            Inst::Wide(_) | Inst::Atomic64(_) => {
                for (result, lanes) in inst.results().zip(access.execute(inst, false)) {
                    self.set(result, lanes);
                }
            }
            _ => drop(access.execute(inst, false)),
        }
    }

    fn unary(&mut self, result: Value, op: UnaryOp, a: Value) {
        let a = *self.register(a);
        let lanes = if op.is_derivative() { derivative(op, &a) } else { kernels::unary(op, &a) };
        self.set(result, lanes);
    }

    fn output(&mut self, slot: u32, value: Value) {
        let lanes = *self.register(value);
        let output = &mut self.outputs[slot as usize];
        kernels::blend(self.active, output, &lanes);
    }

    fn local(&mut self, code: &Executable, inst: &Inst) {
        match inst {
            Inst::LocalLoad { result, local, base, index } => {
                let range = LocalRange::new(code, local.0, *base);
                let lanes = match index {
                    None => range.word(0).map_or([0; WAVE], |word| self.locals[word]),
                    Some(index) => std::array::from_fn(|lane| {
                        range.word(self.lane(*index, lane)).map_or(0, |word| self.locals[word][lane])
                    }),
                };
                self.set(*result, lanes);
            }
            Inst::LocalStore { local, base, index, value, all } => {
                // After a jump of all lanes no lane is active until the region ends, and the store
                // has no effect there.
                let lanes = if *all && self.active != 0 { Mask::MAX } else { self.active };
                self.local_store(LocalRange::new(code, local.0, *base), *index, *value, lanes);
            }
            Inst::TableLoad { result, table, index } => {
                let words = &code.function.tables[table.0 as usize];
                let lanes = self.register(*index).map(|index| words.get(index as usize).copied().unwrap_or(0));
                self.set(*result, lanes);
            }
            _ => {}
        }
    }

    fn local_store(&mut self, range: LocalRange, index: Option<Value>, value: Value, mask: Mask) {
        let lanes = &self.registers[value.0 as usize];
        let Some(index) = index else {
            if let Some(word) = range.word(0) {
                kernels::blend(mask, &mut self.locals[word], lanes);
            }
            return;
        };
        for lane in lanes_of(mask) {
            if let Some(word) = range.word(self.registers[index.0 as usize][lane]) {
                self.locals[word][lane] = lanes[lane];
            }
        }
    }
}

/// Words of an indexed local that an instruction accesses.
#[derive(Clone, Copy)]
struct LocalRange {
    /// Position of the local's first word in the locals of a wave.
    first: u32,
    /// Number of words of the local.
    words: u32,
    /// Word that index 0 accesses.
    base: u32,
}

impl LocalRange {
    fn new(code: &Executable, local: u32, base: u32) -> Self {
        Self { first: code.local_bases[local as usize], words: code.function.locals[local as usize], base }
    }

    /// Returns the position of a word in the locals of a wave, if the index is in bounds.
    fn word(self, index: u32) -> Option<usize> {
        let word = self.base.wrapping_add(index);
        (word < self.words).then(|| (self.first + word) as usize)
    }
}

impl CodeEnvironment for Environment<'_> {
    type Nested = Wave;

    #[inline]
    fn deadline(&self) -> &Deadline {
        self.deadline
    }

    fn execute(&self, call: SiteCall<'_>, nested: &mut Option<Box<Wave>>) -> Option<CachedRange> {
        let SiteCall { site, masks, operands, results } = call;
        let access = Access { registers: operands, masks, environment: self };
        if let Inst::Image(image) = &site.inst {
            execute_image(access, image, results, nested.get_or_insert_default());
            return None;
        }
        match &site.inst {
            Inst::MatrixLoad(load) if site.is_cold => *results = access.copy_matrix(load),
            Inst::MatrixLoad(load) => *results = access.load_matrix(load),
            Inst::MatrixStore(store) => access.store_matrix(store),
            inst => [results[0], results[1]] = access.execute(inst, site.uniform),
        }
        site.cached_range.and_then(|_| access.cached_range(&site.inst))
    }
}

/// Executes an image instruction. `nested` runs routines.
fn execute_image(access: Access<'_>, image: &Image, results: &mut [Lanes; 4], nested: &mut Wave) {
    access.image(image, results, |lookup: &Lookup, lanes, results| {
        let deadline = access.environment.deadline;
        let environment = Environment { push: &lookup.push, ..Environment::new(&lookup.bindings, deadline) };
        nested.call(&lookup.routine.program, &environment, lanes, access.registers, results);
    });
}

/// Returns derivatives in quads, whose lanes are at (0,0), (1,0), (0,1) and (1,1). Coarse
/// derivatives are those of the quad's first row and column.
fn derivative(op: UnaryOp, a: &Lanes) -> Lanes {
    let difference = |to: usize, from: usize| (f32::from_bits(a[to]) - f32::from_bits(a[from])).to_bits();
    std::array::from_fn(|lane| {
        let quad = lane & !3;
        match op {
            UnaryOp::DdxFine => difference(lane | 1, lane & !1),
            UnaryOp::DdyFine => difference(lane | 2, lane & !2),
            UnaryOp::DdxCoarse => difference(quad + 1, quad),
            _ => difference(quad + 2, quad),
        }
    })
}
