//! Generator of modules that are valid by construction: fragment programs of random statements and
//! expressions with control flow.
//!
//! A module is derived from a tape of bytes, each of which is one choice. After the end of the
//! tape every choice is the first one, which is the simplest. A shorter tape, or one with zeros,
//! therefore yields a simpler module. Failures shrink by simplifying the tape.

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, LoopControl, MemoryModel,
    Op, SelectionControl, StorageClass, Word,
};

/// Number of variables of each type.
const VARIABLES: usize = 3;
/// Number of elements in the array.
const ELEMENTS: u32 = 4;
/// Maximum number of statements in a block.
const STATEMENTS: u32 = 5;
/// Maximum nesting depth of regions.
const DEPTH: u32 = 4;
/// Maximum nesting depth of operations.
const HEIGHT: u32 = 4;
/// Number of instructions after which only the simplest choices are made.
const MAX_INSTRUCTIONS: usize = 1500;

/// Types of expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Bool,
}

/// Choices that define a module.
#[derive(Clone)]
pub(crate) struct Tape(pub(crate) Vec<u8>);

impl Tape {
    /// Creates a tape of `length` pseudorandom bytes.
    pub(crate) fn new(seed: u64, length: usize) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut byte = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 40) as u8
        };
        Self((0..length).map(|_| byte()).collect())
    }
}

struct Generator<'t> {
    tape: std::slice::Iter<'t, u8>,
    b: Builder,
    types: [Word; 3],
    index: Word,
    inputs: [Word; 2],
    ints: Vec<Word>,
    floats: Vec<Word>,
    array: Word,
    pointer: Word,
    /// Labels of the innermost loop: its continue target and its merge block.
    labels: Vec<[Word; 2]>,
    instructions: usize,
}

/// Returns the module of a tape.
pub(crate) fn module(tape: &Tape) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, int, float, truth) = (b.type_void(), b.type_int(32, 0), b.type_float(32, None), b.type_bool());
    let [int_in, float_in] = [int, float].map(|of| b.type_pointer(None, StorageClass::Input, of));
    let [int_out, float_out] = [int, float].map(|of| b.type_pointer(None, StorageClass::Output, of));
    let inputs = [int_in, float_in].map(|of| b.variable(of, None, StorageClass::Input, None));
    let outputs = [int_out, float_out].map(|of| b.variable(of, None, StorageClass::Output, None));
    for (location, variable) in (0..).zip(inputs) {
        b.decorate(variable, Decoration::Location, [Operand::LiteralBit32(location)]);
        b.decorate(variable, Decoration::Flat, []);
    }
    for (location, variable) in (0..).zip(outputs) {
        b.decorate(variable, Decoration::Location, [Operand::LiteralBit32(location)]);
    }
    let (count, kind) = (b.constant_bit32(int, ELEMENTS), b.type_function(void, []));
    let array_type = b.type_array(int, count);
    let [int_local, float_local, array_local] =
        [int, float, array_type].map(|of| b.type_pointer(None, StorageClass::Function, of));
    let main = b.begin_function(void, None, FunctionControl::NONE, kind).unwrap();
    b.begin_block(None).unwrap();
    let mut locals = |of: Word| -> Vec<Word> {
        (0..VARIABLES).map(|_| b.variable(of, None, StorageClass::Function, None)).collect()
    };
    let (ints, floats) = (locals(int_local), locals(float_local));
    let array = b.variable(array_local, None, StorageClass::Function, None);
    let index = b.variable(int_local, None, StorageClass::Function, None);
    let mut generator = Generator {
        tape: tape.0.iter(),
        b,
        types: [int, float, truth],
        index,
        inputs,
        ints,
        floats,
        array,
        pointer: int_local,
        labels: Vec::new(),
        instructions: 0,
    };
    generator.start();
    generator.block(DEPTH);
    generator.end(outputs);
    let mut b = generator.b;
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Fragment, main, "main", inputs.into_iter().chain(outputs).collect::<Vec<_>>());
    b.execution_mode(main, ExecutionMode::OriginUpperLeft, []);
    b.module().assemble()
}

impl Generator<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        if self.instructions > MAX_INSTRUCTIONS {
            return 0;
        }
        self.tape.next().map_or(0, |&byte| u32::from(byte) % limit)
    }

    fn ty(&self, kind: Kind) -> Word {
        self.types[kind as usize]
    }

    /// Appends an instruction with a result.
    fn op(&mut self, op: Op, kind: Kind, operands: &[Word]) -> Word {
        self.instructions += 1;
        let (id, ty) = (self.b.id(), self.ty(kind));
        let operands = operands.iter().map(|&id| Operand::IdRef(id)).collect();
        let inst = Instruction::new(op, Some(ty), Some(id), operands);
        self.b.insert_into_block(InsertPoint::End, inst).unwrap();
        id
    }

    fn store(&mut self, pointer: Word, value: Word) {
        self.b.store(pointer, value, None, []).unwrap();
    }

    fn int(&mut self, value: u32) -> Word {
        let ty = self.ty(Kind::Int);
        self.b.constant_bit32(ty, value)
    }

    fn float(&mut self, value: f32) -> Word {
        let ty = self.ty(Kind::Float);
        self.b.constant_bit32(ty, value.to_bits())
    }

    /// Assigns an initial value to every variable.
    fn start(&mut self) {
        for number in 0..VARIABLES {
            let [x, y] = self.inputs;
            let (int, float) = (self.op(Op::Load, Kind::Int, &[x]), self.op(Op::Load, Kind::Float, &[y]));
            let (more, scaled) = (self.int(number as u32 * 7), self.float(number as f32 + 0.5));
            let int = self.op(Op::IAdd, Kind::Int, &[int, more]);
            let float = self.op(Op::FMul, Kind::Float, &[float, scaled]);
            self.store(self.ints[number], int);
            self.store(self.floats[number], float);
        }
        for element in 0..ELEMENTS {
            let (place, value) = (self.int(element), self.int(element * 11));
            let pointer = self.element(place);
            self.store(pointer, value);
        }
    }

    fn end(&mut self, [int, float]: [Word; 2]) {
        let mut sum = self.int(0);
        for variable in self.ints.clone() {
            let value = self.op(Op::Load, Kind::Int, &[variable]);
            sum = self.op(Op::BitwiseXor, Kind::Int, &[sum, value]);
        }
        for element in 0..ELEMENTS {
            let place = self.int(element);
            let pointer = self.element(place);
            let value = self.op(Op::Load, Kind::Int, &[pointer]);
            sum = self.op(Op::IAdd, Kind::Int, &[sum, value]);
        }
        self.store(int, sum);
        let mut sum = self.float(0.0);
        for variable in self.floats.clone() {
            let value = self.op(Op::Load, Kind::Float, &[variable]);
            sum = self.op(Op::FAdd, Kind::Float, &[sum, value]);
        }
        self.store(float, sum);
        self.b.ret().unwrap();
    }

    fn element(&mut self, place: Word) -> Word {
        self.b.access_chain(self.pointer, None, self.array, [place]).unwrap()
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..self.below(STATEMENTS) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.below(if depth > 0 { 10 } else { 4 }) {
            0 | 1 => {
                let (variable, value) = (self.below(VARIABLES as u32) as usize, self.expression(Kind::Int, HEIGHT));
                self.store(self.ints[variable], value);
            }
            2 => {
                let (variable, value) = (self.below(VARIABLES as u32) as usize, self.expression(Kind::Float, HEIGHT));
                self.store(self.floats[variable], value);
            }
            3 => {
                let pointer = self.chosen_element();
                let value = self.expression(Kind::Int, HEIGHT);
                self.store(pointer, value);
            }
            4 | 5 => self.selection(depth - 1),
            6 | 7 => self.repetition(depth - 1),
            8 => self.switch(depth - 1),
            _ => self.leave(),
        }
    }

    /// Returns a pointer to an array element whose index is computed.
    fn chosen_element(&mut self) -> Word {
        let (value, mask) = (self.expression(Kind::Int, 1), self.int(ELEMENTS - 1));
        let place = self.op(Op::BitwiseAnd, Kind::Int, &[value, mask]);
        self.element(place)
    }

    /// Appends an `if`, with or without `else`, and a phi of its branches.
    fn selection(&mut self, depth: u32) {
        let condition = self.expression(Kind::Bool, HEIGHT);
        let [then, other, merge] = [(); 3].map(|()| self.b.id());
        self.b.selection_merge(merge, SelectionControl::NONE).unwrap();
        self.b.branch_conditional(condition, then, other, []).unwrap();
        let mut values = Vec::new();
        for label in [then, other] {
            self.b.begin_block(Some(label)).unwrap();
            self.block(depth);
            let value = self.expression(Kind::Int, 1);
            // A nested region may end in another block, so a new block is the predecessor of the
            // merge.
            let last = self.b.id();
            self.b.branch(last).unwrap();
            self.b.begin_block(Some(last)).unwrap();
            self.b.branch(merge).unwrap();
            values.push((value, last));
        }
        self.b.begin_block(Some(merge)).unwrap();
        let ty = self.ty(Kind::Int);
        let value = self.b.phi(ty, None, values).unwrap();
        let variable = self.below(VARIABLES as u32) as usize;
        self.store(self.ints[variable], value);
    }

    /// Appends a loop of a few iterations. Each loop has its own counter, which is reset when the
    /// loop starts, so that nested loops terminate too.
    fn repetition(&mut self, depth: u32) {
        let turns = self.below(5);
        let [header, test, body, next, merge] = [(); 5].map(|()| self.b.id());
        let before = self.b.id();
        self.b.branch(before).unwrap();
        self.b.begin_block(Some(before)).unwrap();
        let (start, limit, one) = (self.int(0), self.int(turns), self.int(1));
        self.b.branch(header).unwrap();
        self.b.begin_block(Some(header)).unwrap();
        let (ty, step) = (self.ty(Kind::Int), self.b.id());
        let count = self.b.phi(ty, None, [(start, before), (step, next)]).unwrap();
        self.b.loop_merge(merge, next, LoopControl::NONE, []).unwrap();
        self.b.branch(test).unwrap();
        self.b.begin_block(Some(test)).unwrap();
        let goes_on = self.op(Op::ULessThan, Kind::Bool, &[count, limit]);
        self.b.branch_conditional(goes_on, body, merge, []).unwrap();
        self.b.begin_block(Some(body)).unwrap();
        self.store(self.index, count);
        self.labels.push([next, merge]);
        self.block(depth);
        self.labels.pop();
        self.b.branch(next).unwrap();
        self.b.begin_block(Some(next)).unwrap();
        let int = self.ty(Kind::Int);
        let operands = vec![Operand::IdRef(count), Operand::IdRef(one)];
        let add = Instruction::new(Op::IAdd, Some(int), Some(step), operands);
        self.b.insert_into_block(InsertPoint::End, add).unwrap();
        self.b.branch(header).unwrap();
        self.b.begin_block(Some(merge)).unwrap();
    }

    fn switch(&mut self, depth: u32) {
        let (value, mask) = (self.expression(Kind::Int, 1), self.int(3));
        let selector = self.op(Op::BitwiseAnd, Kind::Int, &[value, mask]);
        let [first, second, other, merge] = [(); 4].map(|()| self.b.id());
        self.b.selection_merge(merge, SelectionControl::NONE).unwrap();
        let cases = [(Operand::LiteralBit32(0), first), (Operand::LiteralBit32(2), second)];
        self.b.switch(selector, other, cases).unwrap();
        // The first case may fall through to the second.
        let falls = self.below(2) == 1;
        for (label, target) in [(first, if falls { second } else { merge }), (second, merge), (other, merge)] {
            self.b.begin_block(Some(label)).unwrap();
            self.block(depth);
            self.b.branch(target).unwrap();
        }
        self.b.begin_block(Some(merge)).unwrap();
    }

    /// Leaves the loop, continues with its next iteration, or ends the fragment, in lanes where a
    /// condition holds.
    fn leave(&mut self) {
        let condition = self.expression(Kind::Bool, 2);
        let way = self.below(3);
        let [gone, stays] = [(); 2].map(|()| self.b.id());
        self.b.selection_merge(stays, SelectionControl::NONE).unwrap();
        self.b.branch_conditional(condition, gone, stays, []).unwrap();
        self.b.begin_block(Some(gone)).unwrap();
        match (self.labels.last(), way) {
            (Some(&[next, merge]), 0 | 1) => self.b.branch(if way == 0 { merge } else { next }).unwrap(),
            (_, 2) => self.b.kill().unwrap(),
            _ => self.b.branch(stays).unwrap(),
        }
        self.b.begin_block(Some(stays)).unwrap();
    }

    fn expression(&mut self, kind: Kind, height: u32) -> Word {
        if height == 0 || self.below(4) == 0 {
            return self.leaf(kind);
        }
        match kind {
            Kind::Int => self.int_expression(height - 1),
            Kind::Float => self.float_expression(height - 1),
            Kind::Bool => self.bool_expression(height - 1),
        }
    }

    fn leaf(&mut self, kind: Kind) -> Word {
        let variable = self.below(VARIABLES as u32) as usize;
        match (kind, self.below(4)) {
            (Kind::Int, 0) => self.int(variable as u32),
            (Kind::Int, 1) if !self.labels.is_empty() => self.op(Op::Load, Kind::Int, &[self.index]),
            (Kind::Int, _) => self.op(Op::Load, Kind::Int, &[self.ints[variable]]),
            (Kind::Float, 0) => self.float([0.0, -1.5, 1e20][variable]),
            (Kind::Float, _) => self.op(Op::Load, Kind::Float, &[self.floats[variable]]),
            (Kind::Bool, _) => {
                let (value, limit) = (self.op(Op::Load, Kind::Int, &[self.ints[variable]]), self.int(20));
                self.op(Op::ULessThan, Kind::Bool, &[value, limit])
            }
        }
    }

    fn two(&mut self, op: Op, kind: Kind, of: Kind, height: u32) -> Word {
        let operands = [self.expression(of, height), self.expression(of, height)];
        self.op(op, kind, &operands)
    }

    fn int_expression(&mut self, height: u32) -> Word {
        const OPS: [Op; 8] =
            [Op::IAdd, Op::ISub, Op::IMul, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor, Op::UDiv, Op::UMod];
        match self.below(14) {
            choice @ 0..8 => {
                let op = OPS[choice as usize];
                if !matches!(op, Op::UDiv | Op::UMod) {
                    return self.two(op, Kind::Int, Kind::Int, height);
                }
                // The result of a division by 0 is undefined.
                let [a, b] = [(); 2].map(|()| self.expression(Kind::Int, height));
                let one = self.int(1);
                let divisor = self.op(Op::BitwiseOr, Kind::Int, &[b, one]);
                self.op(op, Kind::Int, &[a, divisor])
            }
            choice @ 8..11 => {
                let op = [Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic][choice as usize - 8];
                let [a, b] = [(); 2].map(|()| self.expression(Kind::Int, height));
                let mask = self.int(31);
                let count = self.op(Op::BitwiseAnd, Kind::Int, &[b, mask]);
                self.op(op, Kind::Int, &[a, count])
            }
            11 => {
                let pointer = self.chosen_element();
                self.op(Op::Load, Kind::Int, &[pointer])
            }
            12 => self.choice(Kind::Int, height),
            _ => {
                let value = self.expression(Kind::Int, height);
                self.op(Op::BitCount, Kind::Int, &[value])
            }
        }
    }

    fn float_expression(&mut self, height: u32) -> Word {
        match self.below(8) {
            0 => self.two(Op::FAdd, Kind::Float, Kind::Float, height),
            1 => self.two(Op::FSub, Kind::Float, Kind::Float, height),
            2 | 3 => self.two(Op::FMul, Kind::Float, Kind::Float, height),
            4 => self.two(Op::FDiv, Kind::Float, Kind::Float, height),
            5 => {
                let value = self.expression(Kind::Float, height);
                self.op(Op::FNegate, Kind::Float, &[value])
            }
            6 => {
                let value = self.expression(Kind::Int, height);
                self.op(Op::ConvertUToF, Kind::Float, &[value])
            }
            _ => self.choice(Kind::Float, height),
        }
    }

    fn bool_expression(&mut self, height: u32) -> Word {
        match self.below(9) {
            0 => self.two(Op::IEqual, Kind::Bool, Kind::Int, height),
            1 => self.two(Op::SLessThan, Kind::Bool, Kind::Int, height),
            2 => self.two(Op::UGreaterThanEqual, Kind::Bool, Kind::Int, height),
            3 => self.two(Op::FOrdLessThan, Kind::Bool, Kind::Float, height),
            4 => self.two(Op::FUnordGreaterThan, Kind::Bool, Kind::Float, height),
            5 => self.two(Op::LogicalAnd, Kind::Bool, Kind::Bool, height),
            6 => self.two(Op::LogicalOr, Kind::Bool, Kind::Bool, height),
            7 => self.choice(Kind::Bool, height),
            _ => {
                let value = self.expression(Kind::Bool, height);
                self.op(Op::LogicalNot, Kind::Bool, &[value])
            }
        }
    }

    fn choice(&mut self, kind: Kind, height: u32) -> Word {
        let condition = self.expression(Kind::Bool, height);
        let values = [self.expression(kind, height), self.expression(kind, height)];
        self.op(Op::Select, kind, &[condition, values[0], values[1]])
    }
}

/// Returns the simplest tape that still fails. Repeatedly cuts off, removes and zeroes parts of
/// the tape.
pub(crate) fn shrunk(tape: Tape, fails: impl Fn(&Tape) -> bool) -> Tape {
    let mut best = tape;
    let mut size = best.0.len();
    while size > 0 {
        let mut at = 0;
        while at < best.0.len() {
            let end = (at + size).min(best.0.len());
            let mut without = best.clone();
            without.0.drain(at..end);
            let mut zeroed = best.clone();
            zeroed.0[at..end].fill(0);
            if fails(&without) {
                best = without;
            } else if zeroed.0 != best.0 && fails(&zeroed) {
                best = zeroed;
                at = end;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    best
}
