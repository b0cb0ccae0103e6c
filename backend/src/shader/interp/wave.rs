//! The state of one wave, and its execution.

use std::sync::atomic::Ordering;

use super::{Environment, Executable, Lanes, Mask, Stop, WAVE, image};
use crate::shader::Program;
use crate::shader::ir::{AtomicOp, Inst, InterpolateAt, Space, UnaryOp, Value};
use crate::shader::runtime::{bindings_perform as perform, kernels};

/// Back edges between two looks at the clock.
const EDGES_PER_CHECK: u32 = 256;

#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    /// Lanes that entered.
    entered: Mask,
    /// `If`: lanes for the `Else`.
    other: Mask,
    /// Lanes that left for the end of this region.
    broken: Mask,
    /// Lanes that wait for the continuing part.
    continued: Mask,
    /// Whether `Break` and `Continue` count it.
    is_target: bool,
}

/// A wave: 16 lanes of one program.
#[derive(Debug, Default)]
pub struct Wave {
    pc: usize,
    active: Mask,
    gone: Mask,
    killed: Mask,
    helpers: Mask,
    loops: u32,
    edges: u32,
    frames: Vec<Frame>,
    registers: Vec<Lanes>,
    locals: Vec<Lanes>,
    /// The program whose constants are in the registers.
    loaded: usize,
    /// Words of input, filled in before the wave runs.
    pub inputs: Vec<Lanes>,
    /// Words of output.
    pub outputs: Vec<Lanes>,
}

impl Wave {
    /// Gets ready to run `program` from its start with these lanes. `helpers` are lanes that run without effect. Inputs
    /// are to be filled in afterwards; outputs are 0.
    pub fn start(&mut self, program: &Program, lanes: Mask, helpers: Mask) {
        let code = &program.code;
        self.active = lanes;
        self.gone = !lanes;
        self.killed = 0;
        self.helpers = helpers;
        (self.loops, self.edges) = (0, 0);
        self.frames.clear();
        self.locals.clear();
        self.locals.resize(code.local_words as usize, [0; WAVE]);
        self.inputs.resize(program.inputs.len(), [0; WAVE]);
        self.outputs.clear();
        self.outputs.resize(program.outputs.len(), [0; WAVE]);
        self.load_constants(code);
        self.pc = code.constants;
    }

    fn load_constants(&mut self, code: &Executable) {
        let identity = std::ptr::from_ref(code) as usize;
        if self.loaded == identity && self.registers.len() == code.function.types.len() {
            return;
        }
        self.loaded = 0;
        self.registers.clear();
        self.registers.resize(code.function.types.len(), [0; WAVE]);
        for inst in &code.function.insts[..code.constants] {
            if let Inst::Const { result, word } = inst {
                self.registers[result.0 as usize] = [*word; WAVE];
            }
        }
    }

    /// Lanes that were killed.
    pub fn killed(&self) -> Mask {
        self.killed
    }

    /// Runs until the end, a barrier, or the deadline.
    pub fn run(&mut self, program: &Program, environment: &Environment<'_>) -> Stop {
        let code = &program.code;
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

    /// Executes a marker and moves on; false when `inst` is none.
    fn control(&mut self, code: &Executable, inst: &Inst) -> bool {
        let target = code.jumps[self.pc] as usize;
        let next = match inst {
            Inst::If { condition } => self.begin_if(*condition, target),
            Inst::Else => self.begin_else(target),
            Inst::EndIf => self.end_region(),
            Inst::Block => self.begin_target(false),
            Inst::Loop => self.begin_target(true),
            Inst::EndBlock => self.end_region(),
            Inst::Continuing => self.continuing(),
            Inst::Break { depth } => self.leave(*depth, target, |frame, lanes| frame.broken |= lanes),
            Inst::Continue { depth } => self.leave(*depth, target, |frame, lanes| frame.continued |= lanes),
            Inst::Kill => self.kill(target),
            _ => return false,
        };
        self.pc = next;
        true
    }

    fn begin_if(&mut self, condition: Value, target: usize) -> usize {
        let taken = self.active & kernels::nonzero(&self.registers[condition.0 as usize]);
        let frame = Frame { entered: self.active, other: self.active & !taken, ..Frame::default() };
        self.frames.push(frame);
        self.active = taken;
        if taken == 0 { target } else { self.pc + 1 }
    }

    fn begin_else(&mut self, target: usize) -> usize {
        self.active = self.frames.last().map_or(0, |frame| frame.other) & !self.gone;
        if self.active == 0 { target } else { self.pc + 1 }
    }

    fn begin_target(&mut self, is_loop: bool) -> usize {
        self.frames.push(Frame { entered: self.active, is_target: true, ..Frame::default() });
        self.loops += u32::from(is_loop);
        self.pc + 1
    }

    fn end_region(&mut self) -> usize {
        let frame = self.frames.pop().unwrap_or_default();
        self.gone &= !frame.broken;
        self.active = frame.entered & !self.gone;
        self.pc + 1
    }

    fn continuing(&mut self) -> usize {
        if let Some(frame) = self.frames.last_mut() {
            self.active |= frame.continued;
            self.gone &= !frame.continued;
            frame.continued = 0;
        }
        self.pc + 1
    }

    /// Goes round again or leaves the loop. Returns whether the deadline passed.
    fn end_loop(&mut self, code: &Executable, environment: &Environment<'_>) -> bool {
        if self.active == 0 {
            self.pc = self.end_region();
            self.loops -= 1;
            return false;
        }
        self.pc = code.jumps[self.pc] as usize + 1;
        self.edges += 1;
        self.edges.is_multiple_of(EDGES_PER_CHECK) && environment.deadline.expired()
    }

    fn leave(&mut self, depth: u32, target: usize, note: impl Fn(&mut Frame, Mask)) -> usize {
        let lanes = self.active;
        let mut frames = self.frames.iter_mut().rev().filter(|frame| frame.is_target);
        if let Some(frame) = frames.nth(depth as usize) {
            note(frame, lanes);
        }
        self.gone |= lanes;
        self.active = 0;
        target
    }

    fn kill(&mut self, target: usize) -> usize {
        self.killed |= self.active;
        self.gone |= self.active;
        self.active = 0;
        target
    }

    fn register(&self, value: Value) -> &Lanes {
        &self.registers[value.0 as usize]
    }

    pub(super) fn lane(&self, value: Value, lane: usize) -> u32 {
        self.registers[value.0 as usize][lane]
    }

    /// Lanes that run now and whose effects count.
    pub(super) fn effective(&self) -> Mask {
        self.active & !self.helpers
    }

    pub(super) fn active(&self) -> Mask {
        self.active
    }

    pub(super) fn set(&mut self, result: Value, lanes: Lanes) {
        let register = &mut self.registers[result.0 as usize];
        if self.loops == 0 || self.active == Mask::MAX {
            *register = lanes;
            return;
        }
        kernels::blend(self.active, register, &lanes);
    }

    fn execute(&mut self, code: &Executable, environment: &Environment<'_>, inst: &Inst) {
        match inst {
            Inst::LocalLoad { .. } | Inst::LocalStore { .. } | Inst::TableLoad { .. } => self.local(code, inst),
            Inst::Input { result, slot } => self.set(*result, self.inputs[*slot as usize]),
            Inst::Output { slot, value } => self.output(*slot, *value),
            Inst::Interpolate { result, slot, at } => self.interpolate(environment, *result, *slot, *at),
            Inst::Image(op) => image::execute(self, environment, op),
            Inst::IsHelper { result } => {
                let helpers = self.helpers;
                self.set(*result, std::array::from_fn(|lane| u32::from(helpers >> lane & 1)));
            }
            Inst::Const { result, word } => self.set(*result, [*word; WAVE]),
            _ => self.memory(environment, inst),
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
                let (first, words) = self.local_range(code, local.0);
                let lanes = match index {
                    None if *base < words => self.locals[(first + base) as usize],
                    None => [0; WAVE],
                    Some(index) => self.gather_local(first, words, *base, *index),
                };
                self.set(*result, lanes);
            }
            Inst::LocalStore { local, base, index, value } => {
                let range = self.local_range(code, local.0);
                self.local_store(range, *base, *index, *value);
            }
            Inst::TableLoad { result, table, index } => {
                let words = &code.function.tables[table.0 as usize];
                let lanes = self.register(*index).map(|index| words.get(index as usize).copied().unwrap_or(0));
                self.set(*result, lanes);
            }
            _ => {}
        }
    }

    fn local_store(&mut self, (first, words): (u32, u32), base: u32, index: Option<Value>, value: Value) {
        let lanes = &self.registers[value.0 as usize];
        let Some(index) = index else {
            if base < words {
                kernels::blend(self.active, &mut self.locals[(first + base) as usize], lanes);
            }
            return;
        };
        for lane in lanes_of(self.active) {
            let word = base.wrapping_add(self.registers[index.0 as usize][lane]);
            if word < words {
                self.locals[(first + word) as usize][lane] = lanes[lane];
            }
        }
    }

    fn local_range(&self, code: &Executable, local: u32) -> (u32, u32) {
        (code.local_bases[local as usize], code.function.locals[local as usize])
    }

    fn gather_local(&self, first: u32, words: u32, base: u32, index: Value) -> Lanes {
        std::array::from_fn(|lane| {
            let word = base.wrapping_add(self.lane(index, lane));
            if word < words { self.locals[(first + word) as usize][lane] } else { 0 }
        })
    }

    fn interpolate(&mut self, environment: &Environment<'_>, result: Value, slot: u32, at: InterpolateAt) {
        let Some(interpolator) = environment.interpolator else {
            return self.set(result, self.inputs[slot as usize]);
        };
        let offset = |lane: usize| match at {
            InterpolateAt::Centroid => interpolator.centroid_offset(lane),
            InterpolateAt::Sample(sample) => interpolator.sample_offset(self.lane(sample, lane)),
            InterpolateAt::Offset(x, y) => [x, y].map(|value| f32::from_bits(self.lane(value, lane))),
        };
        let lanes = std::array::from_fn(|lane| interpolator.at_offset(slot, lane, offset(lane)));
        self.set(result, lanes);
    }

    fn memory(&mut self, environment: &Environment<'_>, inst: &Inst) {
        match inst {
            Inst::Load { result, space, offset } => {
                let lanes = self.load_lanes(environment, *space, *offset);
                self.set(*result, lanes);
            }
            Inst::Store { space, offset, value } => {
                for lane in lanes_of(self.effective()) {
                    self.store(environment, *space, self.lane(*offset, lane), self.lane(*value, lane), lane);
                }
            }
            Inst::Atomic { result, space, offset, op, value, comparator } => {
                let mut lanes = [0; WAVE];
                for lane in lanes_of(self.effective()) {
                    let operands = (self.lane(*value, lane), comparator.map_or(0, |word| self.lane(word, lane)));
                    lanes[lane] = self.atomic(environment, *space, self.lane(*offset, lane), (*op, operands), lane);
                }
                self.set(*result, lanes);
            }
            Inst::BufferLength { result, resource, element } => {
                let length = |lane| environment.bindings.length(*resource, self.element(*element, lane));
                self.set(*result, std::array::from_fn(length));
            }
            _ => {}
        }
    }

    pub(super) fn element(&self, element: Option<Value>, lane: usize) -> u32 {
        element.map_or(0, |element| self.lane(element, lane))
    }

    /// A word that is the same in all active lanes.
    fn uniform(&self, value: Value) -> Option<u32> {
        let lanes = self.register(value);
        let word = lanes[self.active.trailing_zeros() as usize % WAVE];
        (kernels::differing(lanes, word) & self.active == 0).then_some(word)
    }

    /// Loads for the active lanes: once when all of them load the same word, else lane by lane.
    fn load_lanes(&self, environment: &Environment<'_>, space: Space, offset: Value) -> Lanes {
        let mut lanes = [0; WAVE];
        if self.active == 0 {
            return lanes;
        }
        let same_buffer = match space {
            Space::Buffer { element: Some(element), .. } => self.uniform(element).is_some(),
            _ => true,
        };
        if let (true, Some(offset)) = (same_buffer, self.uniform(offset)) {
            return [self.load(environment, space, offset, self.active.trailing_zeros() as usize); WAVE];
        }
        for lane in lanes_of(self.active) {
            lanes[lane] = self.load(environment, space, self.lane(offset, lane), lane);
        }
        lanes
    }

    #[inline]
    fn load(&self, environment: &Environment<'_>, space: Space, offset: u32, lane: usize) -> u32 {
        match space {
            Space::Buffer { resource, element } => {
                environment.bindings.load(resource, self.element(element, lane), offset)
            }
            Space::Push => push_word(environment.push, offset),
            Space::Shared => {
                let word = environment.shared.and_then(|shared| shared.word(offset));
                word.map_or(0, |word| word.load(Ordering::Relaxed))
            }
        }
    }

    fn store(&self, environment: &Environment<'_>, space: Space, offset: u32, word: u32, lane: usize) {
        match space {
            Space::Buffer { resource, element } => {
                environment.bindings.store(resource, self.element(element, lane), offset, word);
            }
            Space::Shared => {
                if let Some(slot) = environment.shared.and_then(|shared| shared.word(offset)) {
                    slot.store(word, Ordering::Relaxed);
                }
            }
            Space::Push => {}
        }
    }

    fn atomic(
        &self,
        environment: &Environment<'_>,
        space: Space,
        offset: u32,
        (op, (value, comparator)): (AtomicOp, (u32, u32)),
        lane: usize,
    ) -> u32 {
        let word = match space {
            Space::Buffer { resource, element } => {
                environment.bindings.atomic(resource, self.element(element, lane), offset)
            }
            Space::Shared => environment.shared.and_then(|shared| shared.word(offset)),
            Space::Push => None,
        };
        word.map_or(0, |word| perform(word, op, value, comparator))
    }
}

fn push_word(push: &[u8], offset: u32) -> u32 {
    let bytes = push.get(offset as usize..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The lanes of a mask, ascending.
pub(super) fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            lane
        })
    })
}

/// Derivatives in a quad of lanes (0,0) (1,0) (0,1) (1,1). Coarse ones are those of the first row and column.
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
