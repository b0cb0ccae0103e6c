//! Operand kinds of an instruction, parsed from the name of its encoding.
//!
//! The name of an iced `Code` is the mnemonic and the operands in encoding order, for example
//! `EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er`. The iced crate has a table of the operands too, but
//! building it costs 2 ms in every process that compiles a shader. A test compares the two.

use iced_x86::{Code, OpKind, Register};
use smallvec::SmallVec;

/// OperandKind of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// A register of the file whose first register this is, or memory.
    File(Register),
    /// An 8-bit register, or memory.
    Byte,
    /// Memory whose index is a register of the file whose first register this is.
    Memory(Register),
    /// An immediate.
    Immediate(OpKind),
}

impl OperandKind {
    /// Returns register `number` of the operand's register file.
    pub fn register(self, number: u32) -> Register {
        match self {
            Self::File(first) | Self::Memory(first) => first + number,
            Self::Byte if number < 4 => Register::AL + number,
            Self::Byte => Register::SPL + (number - 4),
            Self::Immediate(_) => Register::None,
        }
    }

    /// Returns the first register of the file of a memory operand's index.
    pub fn index(self) -> Register {
        match self {
            Self::Memory(first) => first,
            _ => Register::RAX,
        }
    }
}

/// Returns the operand kinds of an encoding, without its optional mask.
pub fn kinds(code: Code) -> SmallVec<[OperandKind; 5]> {
    let name = format!("{code:?}");
    let plain = name.strip_prefix("EVEX_").or_else(|| name.strip_prefix("VEX_")).unwrap_or(&name);
    let mut parts = plain.split('_');
    let mnemonic = parts.next().unwrap_or_default();
    parts.filter_map(|part| kind(mnemonic, plain, part)).collect()
}

fn kind(mnemonic: &str, name: &str, part: &str) -> Option<OperandKind> {
    let file = |first| Some(OperandKind::File(first));
    match part {
        "rm8" | "r8" => Some(OperandKind::Byte),
        "r16" | "rm16" => file(Register::AX),
        "r32" | "rm32" => file(Register::EAX),
        "r64" | "rm64" => file(Register::RAX),
        "kr" | "km16" => file(Register::K0),
        "vm32y" => Some(OperandKind::Memory(Register::YMM0)),
        "vm32z" => Some(OperandKind::Memory(Register::ZMM0)),
        "imm8" => Some(OperandKind::Immediate(immediate8(mnemonic, name))),
        "imm32" if name.contains("rm64") => Some(OperandKind::Immediate(OpKind::Immediate32to64)),
        "imm32" => Some(OperandKind::Immediate(OpKind::Immediate32)),
        _ if part.starts_with("xmm") => file(Register::XMM0),
        _ if part.starts_with("ymm") => file(Register::YMM0),
        _ if part.starts_with("zmm") => file(Register::ZMM0),
        _ if part.starts_with('m') => Some(OperandKind::Memory(Register::RAX)),
        // Masks, rounding modes and repeated parts are not operands.
        _ => None,
    }
}

/// Returns the kind of an 8-bit immediate, which arithmetic instructions sign-extend.
fn immediate8(mnemonic: &str, name: &str) -> OpKind {
    match mnemonic {
        "Add" | "And" | "Cmp" | "Or" | "Sub" | "Xor" if name.contains("rm64") => OpKind::Immediate8to64,
        "Add" | "And" | "Cmp" | "Or" | "Sub" | "Xor" => OpKind::Immediate8to32,
        _ => OpKind::Immediate8,
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::OpCodeOperandKind as K;

    use super::*;

    fn of_table(kind: K) -> Option<OperandKind> {
        Some(match kind {
            K::r8_or_mem | K::r8_reg => OperandKind::Byte,
            K::r16_or_mem | K::r16_reg => OperandKind::File(Register::AX),
            K::r32_or_mem | K::r32_reg | K::r32_rm | K::r32_opcode => OperandKind::File(Register::EAX),
            K::r64_or_mem | K::r64_reg | K::r64_rm | K::r64_opcode => OperandKind::File(Register::RAX),
            K::k_or_mem | K::k_reg | K::k_rm | K::k_vvvv => OperandKind::File(Register::K0),
            K::xmm_or_mem | K::xmm_reg | K::xmm_rm | K::xmm_vvvv => OperandKind::File(Register::XMM0),
            K::ymm_or_mem | K::ymm_reg | K::ymm_rm | K::ymm_vvvv | K::ymm_is4 => OperandKind::File(Register::YMM0),
            K::zmm_or_mem | K::zmm_reg | K::zmm_rm | K::zmm_vvvv => OperandKind::File(Register::ZMM0),
            K::mem => OperandKind::Memory(Register::RAX),
            K::mem_vsib32y => OperandKind::Memory(Register::YMM0),
            K::mem_vsib32z => OperandKind::Memory(Register::ZMM0),
            K::imm8 => OperandKind::Immediate(OpKind::Immediate8),
            K::imm8sex32 => OperandKind::Immediate(OpKind::Immediate8to32),
            K::imm8sex64 => OperandKind::Immediate(OpKind::Immediate8to64),
            K::imm32 => OperandKind::Immediate(OpKind::Immediate32),
            K::imm32sex64 => OperandKind::Immediate(OpKind::Immediate32to64),
            _ => return None,
        })
    }

    /// Returns the encodings that the sources of this crate name.
    fn used() -> Vec<Code> {
        let mut names = std::collections::HashSet::new();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let sources = [folder.clone(), folder.join("lower")].map(|folder| std::fs::read_dir(folder).unwrap());
        for file in sources.into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            for name in text.split("Code::").skip(1) {
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
                names.insert(name[..end].to_owned());
            }
        }
        Code::values().filter(|code| names.contains(&format!("{code:?}"))).collect()
    }

    #[test]
    fn names_say_what_the_table_says() {
        let used = used();
        assert!(used.len() > 190, "{}", used.len());
        for code in used {
            let table = code.op_code();
            let expected: Option<Vec<OperandKind>> =
                (0..table.op_count()).map(|index| of_table(table.op_kind(index))).collect();
            // Jumps and calls are built without operands.
            let Some(expected) = expected else { continue };
            assert_eq!(kinds(code).to_vec(), expected, "{code:?}");
        }
    }
}
