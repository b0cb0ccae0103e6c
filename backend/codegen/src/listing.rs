//! Text listings of machine IR and of generated code, for debugging.

use std::fmt::Write;

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

use super::machine::{Base, Function, MachineInst, Operand};

/// Disassembles code from byte `entry` on. Each line holds one instruction and its offset from the
/// entry in bytes.
pub fn disassemble(bytes: &[u8], entry: usize) -> String {
    let mut decoder = Decoder::with_ip(64, &bytes[entry..], 0, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let (mut out, mut text) = (String::new(), String::new());
    while decoder.can_decode() {
        let inst = decoder.decode();
        text.clear();
        formatter.format(&inst, &mut text);
        out += &format!("{:6x}  {text}\n", inst.ip());
    }
    out
}

/// Returns the machine IR of a function as text, one instruction per line.
pub fn machine(function: &Function) -> String {
    let mut out = String::new();
    for (number, block) in function.blocks.iter().enumerate() {
        let parameters: Vec<String> = block.parameters.iter().map(ToString::to_string).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "block {number}({})", parameters.join(", "));
        for inst in &block.insts {
            let _ = writeln!(out, "  {}", line(inst));
        }
    }
    out
}

fn line(inst: &MachineInst) -> String {
    match inst {
        MachineInst::Plain { code, operands, mask } => {
            let operands: Vec<String> = operands.iter().map(operand).collect();
            let mask = mask.map_or(String::new(), |mask| {
                format!(" {{{}}}{}", operand(&mask.register), if mask.zeroing { "{z}" } else { "" })
            });
            format!("{code:?}{mask} {}", operands.join(", "))
        }
        MachineInst::Jump { to, arguments } => {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            format!("Jump {}({})", to.index(), arguments.join(", "))
        }
        MachineInst::Branch { code, then, otherwise } => {
            format!("{code:?} {} else {}", then.index(), otherwise.index())
        }
        other => format!("{other:?}"),
    }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Use(register) => register.to_string(),
        Operand::Def(register) => format!("={register}"),
        Operand::Change { from, to } => format!("{from}={to}"),
        Operand::Imm(value) => format!("{value:#x}"),
        Operand::Mem(memory) => {
            let base = match memory.base {
                Base::Frame => "frame".into(),
                Base::Pool => "pool".into(),
                Base::Register(register) => register.to_string(),
            };
            let index = memory.index.map_or(String::new(), |(index, scale)| format!(" + {index} * {scale}"));
            let all = if memory.broadcast { " for all lanes" } else { "" };
            format!("[{base}{index} + {:#x}]{all}", memory.displacement)
        }
    }
}
