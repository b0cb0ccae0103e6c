//! Evaluation of routines on the host. The interpreter's kernels execute their IR.

use vitric_base::simd::{Lanes, WAVE};
use vitric_ir::{Builder, Function, Inst, Type, UnaryOp, Value, passes, verify_strictly};

use crate::runtime::kernels;

/// Routine of two operands, ready to run.
#[derive(Debug)]
pub struct Evaluator {
    function: Function,
    registers: Vec<Lanes>,
}

impl Evaluator {
    /// Builds the routine's IR and runs the passes on it. The operands are floats.
    pub fn new(build: impl FnOnce(&mut Builder, [Value; 2]) -> Value) -> Self {
        Self::of([Type::F32; 2], build)
    }

    /// Builds a routine as [`Self::new`] does, for operands of these types.
    pub fn of(types: [Type; 2], build: impl FnOnce(&mut Builder, [Value; 2]) -> Value) -> Self {
        let mut b = Builder::new();
        let operands = [b.input(0, types[0]), b.input(1, types[1])];
        let value = build(&mut b, operands);
        b.push(Inst::Output { slot: 0, value });
        let mut function = b.finish();
        passes::optimize(&mut function, &mut |_, _| {});
        verify_strictly(&function).unwrap();
        let mut registers = vec![[0; WAVE]; function.types.len()];
        for inst in &function.insts {
            if let Inst::Const { result, word } = inst {
                registers[result.0 as usize] = [*word; WAVE];
            }
        }
        Self { function, registers }
    }

    /// Returns the number of operations, without those that only change a type.
    pub fn operations(&self) -> usize {
        let counts = |inst: &&Inst| match inst {
            Inst::Unary { op, .. } => !matches!(op, UnaryOp::Copy | UnaryOp::AsFloat),
            Inst::Binary { .. } | Inst::Ternary { .. } => true,
            _ => false,
        };
        self.function.insts.iter().filter(counts).count()
    }

    /// Returns the results for 16 pairs of operands.
    pub fn run(&mut self, operands: &[Lanes; 2]) -> Lanes {
        for inst in &self.function.insts {
            let of = |value: Value| &self.registers[value.0 as usize];
            let (result, lanes) = match inst {
                Inst::Const { .. } => continue,
                Inst::Input { result, slot } => (result, operands[*slot as usize]),
                Inst::Unary { result, op, a } => (result, kernels::unary(*op, of(*a))),
                Inst::Binary { result, op, a, b } => (result, kernels::binary(*op, of(*a), of(*b))),
                Inst::Ternary { result, op, a, b, c } => (result, kernels::ternary(*op, of(*a), of(*b), of(*c))),
                Inst::Output { value, .. } => return *of(*value),
                other => panic!("a routine has {other:?}"),
            };
            self.registers[result.0 as usize] = lanes;
        }
        panic!("a routine without a result")
    }

    /// Returns the result for two words.
    pub fn word(&mut self, x: u32, y: u32) -> u32 {
        self.run(&[[x; WAVE], [y; WAVE]])[0]
    }
}

/// Deterministic sequence of pseudorandom words.
#[derive(Debug)]
pub struct Sequence(u64);

impl Sequence {
    /// Creates the sequence with number `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the next word (splitmix64).
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }
}
