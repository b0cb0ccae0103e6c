//! Random functions for tests of executors. They are valid by construction, and they terminate.

use crate::{AtomicOp, BinaryOp, Builder, Function, Inst, Local, Space, Table, TernaryOp, Type, UnaryOp, Value};

/// Number of input words that the functions read.
pub const INPUTS: usize = 4;

/// Number of output words that the functions write.
pub const OUTPUTS: u32 = 6;

const DEPTH: u32 = 4;

/// Pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 20) as u32 % limit
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }
}

struct Generator {
    numbers: Numbers,
    b: Builder,
    /// Values in scope with their types, innermost last.
    values: Vec<(Value, Type)>,
    words: Local,
    bools: Local,
    array: Local,
    table: Table,
    counters: Vec<Local>,
    /// Open `Block`s and `Loop`s, innermost last. True for a loop.
    targets: Vec<bool>,
    budget: u32,
}

const WORDS: u32 = 4;
const ARRAY: u32 = 5;

/// Returns the function of a seed.
pub fn function(seed: u64) -> Function {
    let mut b = Builder::new();
    let (words, bools, array) = (b.local(WORDS), b.local(2), b.local(ARRAY));
    let table = b.table(vec![7, 0x3f80_0000, 99, 0xffff_fff0]);
    let numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut generator = Generator {
        numbers,
        b,
        values: Vec::new(),
        words,
        bools,
        array,
        table,
        counters: Vec::new(),
        targets: Vec::new(),
        budget: 120,
    };
    generator.start();
    generator.statements(0, 12);
    generator.outputs();
    generator.b.finish()
}

impl Generator {
    fn start(&mut self) {
        for slot in 0..INPUTS as u32 {
            let ty = if slot % 2 == 0 { Type::I32 } else { Type::F32 };
            let value = self.b.input(slot, ty);
            self.values.push((value, ty));
        }
        for word in [0, 1, 3, 17, 0x3f80_0000, 0x8000_0000] {
            let value = self.b.int(word);
            self.values.push((value, Type::I32));
        }
        let value = self.b.float(0.75);
        self.values.push((value, Type::F32));
        let offset = self.b.int(8);
        let uniform = self.b.load(Space::Push, offset, Type::I32);
        self.values.push((uniform, Type::I32));
    }

    fn outputs(&mut self) {
        for slot in 0..OUTPUTS - 2 {
            let value = self.b.local_load(self.words, slot % WORDS, None, Type::I32);
            self.b.push(Inst::Output { slot, value });
        }
        let flag = self.b.local_load(self.bools, 0, None, Type::Bool);
        let value = self.b.cast(flag, Type::I32);
        self.b.push(Inst::Output { slot: OUTPUTS - 2, value });
    }

    fn pick(&mut self, ty: Type) -> Value {
        let fitting: Vec<Value> = self.values.iter().filter(|(_, of)| *of == ty).map(|(value, _)| *value).collect();
        if fitting.is_empty() {
            let (a, b) = (self.pick(Type::I32), self.pick(Type::I32));
            return self.b.binary(BinaryOp::ULt, a, b);
        }
        // Recent values are chosen more often, so that dependency chains are long.
        let newest = fitting.len().saturating_sub(6);
        let first = if self.numbers.one_in(3) { 0 } else { newest };
        fitting[first + self.numbers.below((fitting.len() - first) as u32) as usize]
    }

    fn define(&mut self, value: Value) {
        let ty = self.b.type_of(value);
        self.values.push((value, ty));
    }

    fn statements(&mut self, depth: u32, most: u32) {
        for _ in 0..=self.numbers.below(most) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.numbers.below(20) {
                0..=8 => self.operation(),
                9 => self.load_local(),
                10 | 11 => self.store_local(),
                12 => self.memory(),
                13 | 14 if depth < DEPTH => self.branch(depth),
                15 if depth < DEPTH => self.block(depth),
                16 if depth < DEPTH => self.repeat(depth),
                17 if !self.targets.is_empty() => self.jump(),
                18 if self.numbers.one_in(4) => self.kill(),
                _ => self.output(),
            }
        }
    }

    fn operation(&mut self) {
        let value = match self.numbers.below(10) {
            0..=2 => {
                let op = UnaryOp::ALL[self.numbers.below(UnaryOp::ALL.len() as u32) as usize];
                let ty = operand_type(&format!("{op:?}"), 0);
                let a = self.pick(ty);
                self.b.unary(op, a)
            }
            3..=7 => {
                let op = BinaryOp::ALL[self.numbers.below(BinaryOp::ALL.len() as u32) as usize];
                let ty = operand_type(&format!("{op:?}"), 0);
                let (a, b) = (self.pick(ty), self.pick(ty));
                self.b.binary(op, a, b)
            }
            _ => {
                let op = TernaryOp::ALL[self.numbers.below(TernaryOp::ALL.len() as u32) as usize];
                let [a, b, c] = [0, 1, 2].map(|position| self.pick(operand_type(&format!("{op:?}"), position)));
                self.b.ternary(op, a, b, c)
            }
        };
        self.define(value);
    }

    /// Returns an index that is often, but not always, inside of a small array.
    fn index(&mut self) -> Value {
        let (a, mask) = (self.pick(Type::I32), self.b.int(7));
        self.b.binary(BinaryOp::And, a, mask)
    }

    fn load_local(&mut self) {
        let value = match self.numbers.below(4) {
            0 => {
                let index = self.index();
                self.b.local_load(self.array, 0, Some(index), Type::I32)
            }
            1 => {
                let index = self.index();
                let result = self.b.value(Type::I32);
                self.b.push(Inst::TableLoad { result, table: self.table, index });
                result
            }
            2 => {
                let base = self.numbers.below(2);
                self.b.local_load(self.bools, base, None, Type::Bool)
            }
            _ => {
                let base = self.numbers.below(WORDS);
                let ty = if self.numbers.one_in(3) { Type::F32 } else { Type::I32 };
                self.b.local_load(self.words, base, None, ty)
            }
        };
        self.define(value);
    }

    fn store_local(&mut self) {
        match self.numbers.below(5) {
            0 => {
                let (index, value) = (self.index(), self.pick(Type::I32));
                self.b.local_store(self.array, 0, Some(index), value);
            }
            1 => {
                let (base, value) = (self.numbers.below(ARRAY), self.pick(Type::I32));
                self.b.local_store(self.array, base, None, value);
            }
            2 => {
                let (base, value) = (self.numbers.below(2), self.pick(Type::Bool));
                self.b.local_store(self.bools, base, None, value);
            }
            _ => {
                let base = self.numbers.below(WORDS);
                let ty = if self.numbers.one_in(3) { Type::F32 } else { Type::I32 };
                let value = self.pick(ty);
                self.b.local_store(self.words, base, None, value);
            }
        }
    }

    /// Returns a byte offset that is sometimes outside of the range.
    fn offset(&mut self) -> Value {
        let (a, mask, two) = (self.pick(Type::I32), self.b.int(63), self.b.int(2));
        let small = self.b.binary(BinaryOp::And, a, mask);
        self.b.binary(BinaryOp::Shl, small, two)
    }

    /// Returns the high word of a location in a far resource, which is sometimes outside of it.
    fn high(&mut self) -> Value {
        let mask = self.b.int(if self.numbers.one_in(2) { 0 } else { 1 << (Space::FAR_BITS - 32) | 1 });
        let any = self.pick(Type::I32);
        self.b.binary(BinaryOp::And, any, mask)
    }

    fn memory(&mut self) {
        let space = match self.numbers.below(4) {
            0 => Space::Shared,
            1 => Space::Push,
            2 => Space::Far { resource: 0, high: self.high() },
            _ => Space::Buffer { resource: 0, element: None },
        };
        let offset = self.offset();
        match self.numbers.below(5) {
            0 | 1 => {
                let ty = if self.numbers.one_in(2) { Type::F32 } else { Type::I32 };
                let value = self.b.load(space, offset, ty);
                self.define(value);
            }
            2 | 3 => {
                let value = self.pick(Type::I32);
                self.b.push(Inst::Store { space, offset, value });
            }
            _ => {
                let (value, op) = (self.pick(Type::I32), AtomicOp::ALL[self.numbers.below(13) as usize]);
                let comparator = (op == AtomicOp::CompareExchange).then(|| self.pick(Type::I32));
                let value = self.b.atomic(space, offset, op, value, comparator);
                self.define(value);
            }
        }
    }

    fn condition(&mut self) -> Value {
        if self.numbers.one_in(4) {
            // Uniform condition, from a push constant and a constant.
            let (offset, limit) = (self.b.int(12), self.numbers.next() as u32);
            let (word, limit) = (self.b.load(Space::Push, offset, Type::I32), self.b.int(limit));
            return self.b.binary(BinaryOp::ULt, word, limit);
        }
        let (a, b) = (self.pick(Type::I32), self.pick(Type::I32));
        self.b.binary(if self.numbers.one_in(2) { BinaryOp::SLt } else { BinaryOp::INe }, a, b)
    }

    /// Runs `body`, whose values are not visible outside of its region.
    fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        let outside = self.values.len();
        body(self);
        self.values.truncate(outside);
    }

    fn branch(&mut self, depth: u32) {
        let condition = self.condition();
        self.b.push(Inst::If { condition });
        self.scoped(|generator| generator.statements(depth + 1, 6));
        if self.numbers.one_in(2) {
            self.b.push(Inst::Else);
            self.scoped(|generator| generator.statements(depth + 1, 6));
        }
        self.b.push(Inst::EndIf);
    }

    fn block(&mut self, depth: u32) {
        self.b.push(Inst::Block);
        self.targets.push(false);
        self.scoped(|generator| generator.statements(depth + 1, 6));
        self.targets.pop();
        self.b.push(Inst::EndBlock);
    }

    /// Appends a loop that ends after a small number of iterations, which a local counts.
    fn repeat(&mut self, depth: u32) {
        let counter = self.b.local(1);
        let (zero, one, most) = (self.b.int(0), self.b.int(1), self.numbers.below(5) + 1);
        let most = if self.numbers.one_in(2) { self.b.int(most) } else { self.index() };
        self.b.local_store(counter, 0, None, zero);
        self.b.push(Inst::Loop);
        self.targets.push(true);
        self.counters.push(counter);
        self.scoped(|generator| {
            let turn = generator.b.local_load(counter, 0, None, Type::I32);
            let next = generator.b.binary(BinaryOp::IAdd, turn, one);
            generator.b.local_store(counter, 0, None, next);
            let done = generator.b.binary(BinaryOp::ULe, most, turn);
            generator.b.push(Inst::If { condition: done });
            generator.b.push(Inst::Break { depth: 0 });
            generator.b.push(Inst::EndIf);
            generator.define(turn);
            // A `Continue` may skip the body's definitions, so the continuing part must not use
            // them.
            generator.scoped(|generator| generator.statements(depth + 1, 6));
            generator.b.push(Inst::Continuing);
            generator.store_local();
        });
        self.counters.pop();
        self.targets.pop();
        self.b.push(Inst::EndLoop);
    }

    /// Appends a conditional jump.
    fn jump(&mut self) {
        let depth = self.numbers.below(self.targets.len() as u32);
        let is_loop = self.targets[self.targets.len() - 1 - depth as usize];
        let condition = self.condition();
        self.b.push(Inst::If { condition });
        if is_loop && self.numbers.one_in(2) {
            self.b.push(Inst::Continue { depth });
        } else {
            self.b.push(Inst::Break { depth });
        }
        self.b.push(Inst::EndIf);
    }

    fn kill(&mut self) {
        let condition = self.condition();
        self.b.push(Inst::If { condition });
        self.b.push(Inst::Kill);
        self.b.push(Inst::EndIf);
    }

    fn output(&mut self) {
        let slot = OUTPUTS - 1;
        let value = self.pick(Type::I32);
        self.b.push(Inst::Output { slot, value });
    }
}

/// Returns the type that operand `position` of the operation called `name` must have.
pub fn operand_type(name: &str, position: usize) -> Type {
    let of_integers = ["SToF", "UToF", "HalfToFloat", "BitCount", "BitNot"];
    if name.starts_with("Logical") || (name.starts_with("Select") && (position == 0 || name == "SelectBool")) {
        Type::Bool
    } else if name == "SelectFloat"
        || (name.starts_with('F')
            || ["Floor", "Ceil", "Trunc", "RoundEven", "Sqrt", "IsNan"].contains(&name)
            || name.starts_with("Dd"))
            && !of_integers.contains(&name)
    {
        Type::F32
    } else {
        Type::I32
    }
}
