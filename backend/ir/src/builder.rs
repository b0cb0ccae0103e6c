//! The builder, which appends instructions and numbers their results.

use foldhash::HashMap;

use super::{
    Atomic64, AtomicOp, BinaryOp, Function, Image, Inst, Local, Space, Table, TernaryOp, Token, Type, UnaryOp, Value,
};

/// First number of the values that are pairs of words (see [`Builder::join`]).
pub(super) const FIRST_PAIR: u32 = 1 << 31;

/// Builder of a function, which appends one instruction after the other.
#[derive(Debug, Default)]
pub struct Builder {
    function: Function,
    constants: HashMap<(u32, Type), Value>,
    /// Inverse of `constants`: the word of each constant.
    words: HashMap<Value, u32>,
    depth: u32,
    /// Type and words of each 64-bit value.
    pub(super) pairs: Vec<(Type, [Value; 2])>,
    /// Locals that hold the high words of locals with 64-bit values.
    highs: HashMap<Local, Local>,
}

impl Builder {
    /// Returns a builder of an empty function.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the finished function. Constants come first, so that they dominate every use.
    pub fn finish(mut self) -> Function {
        let constants = self.constants.iter().map(|(&(word, _), &result)| Inst::Const { result, word });
        let mut insts: Vec<Inst> = constants.collect();
        insts.sort_by_key(|inst| match inst {
            Inst::Const { result, .. } => result.0,
            _ => 0,
        });
        insts.append(&mut self.function.insts);
        self.function.insts = insts;
        self.function
    }

    /// Returns the number of instructions so far, without constants.
    pub fn len(&self) -> usize {
        self.function.insts.len()
    }

    /// Returns true if no instruction was appended yet.
    pub fn is_empty(&self) -> bool {
        self.function.insts.is_empty()
    }

    /// Returns the type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        match value.0.checked_sub(FIRST_PAIR) {
            Some(pair) => self.pairs[pair as usize].0,
            None => self.function.types[value.0 as usize],
        }
    }

    /// Returns the number of open blocks and loops.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Creates a value.
    pub fn value(&mut self, ty: Type) -> Value {
        self.function.types.push(ty);
        Value(self.function.types.len() as u32 - 1)
    }

    /// Appends an instruction.
    pub fn push(&mut self, inst: Inst) {
        match inst {
            Inst::Block | Inst::Loop => self.depth += 1,
            Inst::EndBlock | Inst::EndLoop => self.depth -= 1,
            _ => {}
        }
        self.function.insts.push(inst);
    }

    /// Returns a constant word.
    pub fn constant(&mut self, word: u32, ty: Type) -> Value {
        if let Some(&value) = self.constants.get(&(word, ty)) {
            return value;
        }
        let value = self.value(ty);
        self.constants.insert((word, ty), value);
        self.words.insert(value, word);
        value
    }

    /// Returns a constant integer.
    pub fn int(&mut self, value: u32) -> Value {
        self.constant(value, Type::I32)
    }

    /// Returns a constant float.
    pub fn float(&mut self, value: f32) -> Value {
        self.constant(value.to_bits(), Type::F32)
    }

    /// Returns the word of a constant value.
    pub fn as_constant(&self, value: Value) -> Option<u32> {
        self.words.get(&value).copied()
    }

    /// Creates a local of `words` words.
    pub fn local(&mut self, words: u32) -> Local {
        self.function.locals.push(words);
        Local(self.function.locals.len() as u32 - 1)
    }

    /// Returns a constant array with these words, reusing an equal one.
    pub fn table(&mut self, words: Vec<u32>) -> Table {
        let tables = &mut self.function.tables;
        let known = tables.iter().position(|known| *known == words);
        let number = known.unwrap_or_else(|| {
            tables.push(words);
            tables.len() - 1
        });
        Table(number as u32)
    }

    /// Records that the function includes the routine of an image instruction.
    pub fn add_routine(&mut self, image: u32, routine: Token) {
        self.function.routines.push((image, routine));
    }

    /// Appends a load from a table. An index outside of the table loads 0.
    pub fn table_load(&mut self, table: Table, index: Value, ty: Type) -> Value {
        let result = self.value(ty);
        self.push(Inst::TableLoad { result, table, index });
        result
    }

    /// Appends `op(a)`.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        if self.is_wide(a) {
            return self.wide_unary(op, a);
        }
        let result = self.value(op.result());
        self.push(Inst::Unary { result, op, a });
        result
    }

    /// Appends `op(a, b)`.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        if self.is_wide(a) {
            return self.wide_binary(op, a, b);
        }
        // The count of a shift may be 64 bits wide.
        let b = self.split(b)[0];
        let result = self.value(op.result());
        self.push(Inst::Binary { result, op, a, b });
        result
    }

    /// Appends `op(a, b, c)`.
    pub fn ternary(&mut self, op: TernaryOp, a: Value, b: Value, c: Value) -> Value {
        if self.is_wide(a) {
            return self.wide_fma(a, b, c);
        }
        let result = self.value(op.result());
        self.push(Inst::Ternary { result, op, a, b, c });
        result
    }

    /// Appends `condition ? b : c`, whose type is that of `b`.
    pub fn select(&mut self, condition: Value, b: Value, c: Value) -> Value {
        let op = match self.type_of(b) {
            Type::Bool => TernaryOp::SelectBool,
            Type::I32 => TernaryOp::Select,
            Type::F32 => TernaryOp::SelectFloat,
            Type::I64 | Type::F64 => return self.wide_select(condition, b, c),
        };
        self.ternary(op, condition, b, c)
    }

    /// Reinterprets the bits of a value as another type.
    pub fn cast(&mut self, value: Value, ty: Type) -> Value {
        if self.type_of(value) == ty {
            return value;
        }
        if ty.is_wide() || self.is_wide(value) {
            return self.wide_cast(value, ty);
        }
        match ty {
            Type::Bool => self.unary(UnaryOp::AsBool, value),
            Type::I32 => self.unary(UnaryOp::Copy, value),
            _ => self.unary(UnaryOp::AsFloat, value),
        }
    }

    /// Appends a load of word `base + index` of a local.
    pub fn local_load(&mut self, local: Local, base: u32, index: Option<Value>, ty: Type) -> Value {
        if ty.is_wide() {
            let high = self.high_words(local);
            let words = [local, high].map(|local| self.local_load(local, base, index, Type::I32));
            return self.join(words[0], words[1], ty);
        }
        let result = self.value(ty);
        self.push(Inst::LocalLoad { result, local, base, index });
        result
    }

    /// Appends a store to word `base + index` of a local.
    pub fn local_store(&mut self, local: Local, base: u32, index: Option<Value>, value: Value) {
        let [low, high] = self.split(value);
        self.push(Inst::LocalStore { local, base, index, value: low, all: false });
        if self.is_wide(value) {
            let local = self.high_words(local);
            self.push(Inst::LocalStore { local, base, index, value: high, all: false });
        }
    }

    /// Returns the local that holds the high words of `local`'s values, and creates it at the
    /// first call.
    fn high_words(&mut self, local: Local) -> Local {
        if let Some(&high) = self.highs.get(&local) {
            return high;
        }
        let high = self.local(self.function.locals[local.0 as usize]);
        self.highs.insert(local, high);
        high
    }

    /// Returns the number of the lane.
    pub fn lane(&mut self) -> Value {
        let result = self.value(Type::I32);
        self.push(Inst::Lane { result });
        result
    }

    /// Returns true in lanes that are active.
    pub fn is_active(&mut self) -> Value {
        let result = self.value(Type::Bool);
        self.push(Inst::IsActive { result });
        result
    }

    /// Returns a bit mask of `a` with one bit for each lane, active or not.
    pub fn ballot(&mut self, a: Value) -> Value {
        let result = self.value(Type::I32);
        self.push(Inst::Ballot { result, a });
        result
    }

    /// Returns the value of `a` in lane `index` modulo 16, active or not.
    pub fn shuffle(&mut self, a: Value, index: Value) -> Value {
        match self.type_of(a) {
            Type::I64 | Type::F64 => {
                let ty = self.type_of(a);
                let [low, high] = self.split(a).map(|word| self.shuffle(word, index));
                self.join(low, high, ty)
            }
            Type::Bool => {
                let word = self.cast(a, Type::I32);
                let word = self.shuffle(word, index);
                self.cast(word, Type::Bool)
            }
            ty => {
                let result = self.value(ty);
                self.push(Inst::Shuffle { result, a, index });
                result
            }
        }
    }

    /// Appends a load of a word at a byte offset.
    pub fn load(&mut self, space: Space, offset: Value, ty: Type) -> Value {
        let result = self.value(ty);
        self.push(Inst::Load { result, space, offset });
        result
    }

    /// Appends an atomic on the word at a byte offset. Returns the previous word.
    pub fn atomic(
        &mut self,
        space: Space,
        offset: Value,
        op: AtomicOp,
        value: Value,
        comparator: Option<Value>,
    ) -> Value {
        let result = self.value(Type::I32);
        self.push(Inst::Atomic { result, space, offset, op, value, comparator });
        result
    }

    /// Appends an atomic on the 64 bits at a byte offset. Returns the previous 64 bits.
    pub fn atomic64(
        &mut self,
        space: Space,
        offset: Value,
        op: AtomicOp,
        value: Value,
        comparator: Option<Value>,
    ) -> Value {
        let [result, high] = [Type::I32; 2].map(|ty| self.value(ty));
        let (value, comparator) = (self.split(value), comparator.map(|value| self.split(value)));
        self.push(Inst::Atomic64(Box::new(Atomic64 { op, space, offset, value, comparator, result })));
        self.join(result, high, Type::I64)
    }

    /// Appends a read of a program input.
    pub fn input(&mut self, slot: u32, ty: Type) -> Value {
        let result = self.value(ty);
        self.push(Inst::Input { result, slot });
        result
    }

    /// Appends a read of word `word` of the run's parameters. With `of`, it reads the parameters
    /// of one of 16 items.
    pub fn parameter(&mut self, word: u32, of: Option<Value>, ty: Type) -> Value {
        let result = self.value(ty);
        self.push(Inst::Parameter { result, word, of });
        result
    }

    /// Appends an image instruction and returns its results, which have type `ty`.
    pub fn image(&mut self, mut image: Image, ty: Type) -> Vec<Value> {
        let results: Vec<Value> = (0..image.results).map(|_| self.value(ty)).collect();
        if let Some(&first) = results.first() {
            image.result = first;
        }
        self.push(Inst::Image(Box::new(image)));
        results
    }
}
