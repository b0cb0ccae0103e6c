//! Operations on uniform values in general registers.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{BinaryOp, UnaryOp, Value};

use super::super::machine::{Operand, SCALAR};
use super::super::table::{self, Compare};
use super::{Lower, ValueLocation};

impl Lower<'_> {
    pub(super) fn scalar_unary(&mut self, result: Value, op: UnaryOp, a: Value) {
        let register = self.scalar(a);
        let register = match op {
            UnaryOp::LogicalNot => self.change(Code::Xor_rm32_imm8, register, &[Operand::Imm(1)]),
            UnaryOp::INeg => self.change(Code::Neg_rm32, register, &[]),
            UnaryOp::BitNot => self.change(Code::Not_rm32, register, &[]),
            UnaryOp::BitCount => self.define(SCALAR, Code::Popcnt_r32_rm32, &[Operand::Use(register)]),
            UnaryOp::AsBool => {
                self.plain(Code::Test_rm32_r32, &[Operand::Use(register), Operand::Use(register)]);
                self.flag(Code::Setne_rm8)
            }
            _ => register,
        };
        self.set_location(result, ValueLocation::Scalar(register));
    }

    /// Returns 1 or 0 depending on the flags.
    fn flag(&mut self, set: Code) -> VReg {
        let byte = self.define(SCALAR, set, &[]);
        self.define(SCALAR, Code::Movzx_r32_rm8, &[Operand::Use(byte)])
    }

    /// Returns a uniform value as the second operand of a general instruction, with the encoding
    /// to use. `codes` are the encodings with an immediate and with a register.
    fn scalar_source(&mut self, value: Value, codes: (Code, Code)) -> (Code, Operand) {
        match self.constant(value) {
            Some(word) => (codes.0, Operand::Imm(word as i32)),
            None => (codes.1, Operand::Use(self.scalar(value))),
        }
    }

    pub(super) fn scalar_binary(&mut self, result: Value, op: BinaryOp, a: Value, b: Value) {
        if let Some(compare) = table::comparison(op) {
            if self.forms.uses.only_branches[result.0 as usize] {
                return self.set_location(result, ValueLocation::Flags(compare, a, b));
            }
            let register = self.scalar_compare(compare, a, b);
            return self.set_location(result, ValueLocation::Scalar(register));
        }
        let register = match op {
            BinaryOp::Shl | BinaryOp::ShrLogical | BinaryOp::ShrArithmetic => self.scalar_shift(op, a, b),
            BinaryOp::IMul => self.scalar_multiply(a, b),
            BinaryOp::LogicalEq => self.scalar_compare(Compare::Signed(table::Order::Equal), a, b),
            _ => {
                let codes = match op {
                    BinaryOp::IAdd => (Code::Add_rm32_imm32, Code::Add_r32_rm32),
                    BinaryOp::ISub => (Code::Sub_rm32_imm32, Code::Sub_r32_rm32),
                    BinaryOp::And | BinaryOp::LogicalAnd => (Code::And_rm32_imm32, Code::And_r32_rm32),
                    BinaryOp::Or | BinaryOp::LogicalOr => (Code::Or_rm32_imm32, Code::Or_r32_rm32),
                    _ => (Code::Xor_rm32_imm32, Code::Xor_r32_rm32),
                };
                let first = self.scalar(a);
                let (code, second) = self.scalar_source(b, codes);
                self.change(code, first, &[second])
            }
        };
        self.set_location(result, ValueLocation::Scalar(register));
    }

    fn scalar_compare(&mut self, compare: Compare, a: Value, b: Value) -> VReg {
        self.set_flags(a, b);
        self.flag(table::set(compare))
    }

    /// Compares two uniform values and sets the flags.
    pub(super) fn set_flags(&mut self, a: Value, b: Value) {
        let first = self.scalar(a);
        let (code, second) = self.scalar_source(b, (Code::Cmp_rm32_imm32, Code::Cmp_r32_rm32));
        self.plain(code, &[Operand::Use(first), second]);
    }

    fn scalar_shift(&mut self, op: BinaryOp, a: Value, b: Value) -> VReg {
        let first = self.scalar(a);
        let count = self.constant(b).unwrap_or(0);
        let code = match op {
            BinaryOp::Shl => Code::Shl_rm32_imm8,
            BinaryOp::ShrLogical => Code::Shr_rm32_imm8,
            _ => Code::Sar_rm32_imm8,
        };
        self.change(code, first, &[Operand::Imm(count as i32)])
    }

    fn scalar_multiply(&mut self, a: Value, b: Value) -> VReg {
        let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
        let first = self.scalar(a);
        match self.constant(b) {
            Some(word) => {
                let sources = [Operand::Use(first), Operand::Imm(word as i32)];
                self.define(SCALAR, Code::Imul_r32_rm32_imm32, &sources)
            }
            None => {
                let second = Operand::Use(self.scalar(b));
                self.change(Code::Imul_r32_rm32, first, &[second])
            }
        }
    }

    pub(super) fn scalar_select(&mut self, result: Value, [condition, b, c]: [Value; 3]) {
        let (b, c) = (self.scalar(b), self.scalar(c));
        let condition = Operand::Use(self.scalar(condition));
        self.plain(Code::Test_rm32_r32, &[condition, condition]);
        let register = self.change(Code::Cmovne_r32_rm32, c, &[Operand::Use(b)]);
        self.set_location(result, ValueLocation::Scalar(register));
    }
}
