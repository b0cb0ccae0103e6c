//! Tests of code generation: the machine IR and the assembly of a function for both targets.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind, SymbolResolver, SymbolResult};
use vitric_codegen::{ByteProducts, CodegenOptions, Outputs, ScatteredLoads, Target, generate, machine_text};
use vitric_ir::{parse, passes, verify, verify_strictly};

use crate::file::File;
use crate::scene::{Scene, runs};

/// Generates a file's code and returns its text. If the function needs no image, it also runs on
/// every executor.
pub fn test(file: &File) -> Vec<(String, String)> {
    assert_eq!(file.kind, "lower", "{}", file.name());
    let mut function = parse(&file.head).unwrap_or_else(|problem| panic!("{}: {problem}", file.name()));
    function.number_images();
    let checked = verify(&function).and_then(|()| verify_strictly(&function));
    checked.unwrap_or_else(|problem| panic!("{}: {problem}", file.name()));
    let scene = Scene::new(&function, &file.directives);
    if runs(&function) {
        scene.run_everywhere(&function, &file.name());
    }
    let facts = passes::prepare(&mut function, |slot| scene.variance(slot));
    let mut sections = Vec::new();
    for (target, name) in [(Target::Avx512, "avx512"), (Target::Avx2, "avx2")] {
        let machine = machine_text(&function, &facts, options(file), target);
        let generated = generate(&function, &facts, options(file), target);
        let problem = |problem: String| -> String { panic!("{}: {problem}", file.name()) };
        let code = generated.map(|generated| assembly(&generated.code.bytes, generated.code.entry));
        sections.push((format!("machine {name}"), machine.unwrap_or_else(problem)));
        sections.push((format!("code {name}"), code.unwrap_or_else(problem)));
    }
    sections
}

/// Returns the options of a file. Scattered loads are gathers and bytes are multiplied in pairs by
/// default, so that the code does not depend on the machine.
fn options(file: &File) -> CodegenOptions {
    let (scattered, byte_products) = (ScatteredLoads::Gather, ByteProducts::OfPairs);
    let mut options = CodegenOptions { scattered, byte_products, ..CodegenOptions::default() };
    let named = file.directives.iter().filter(|directive| directive.name == "options");
    for option in named.flat_map(|directive| directive.value.split_whitespace()) {
        match option {
            "all-lanes" => options.with_all_lanes = true,
            "filled" => options.outputs = Outputs::Filled,
            "quads" => options.byte_products = ByteProducts::OfQuads,
            "by-lane" => options.scattered = ScatteredLoads::ByLane,
            _ => panic!("{}: there is no option {option:?}", file.name()),
        }
    }
    options
}

/// Names of the addresses in code: labels of jumps, and places in the constant pool.
struct Names(Vec<u64>);

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        inst: &Instruction,
        _: u32,
        operand: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        match inst.op_kind(operand?) {
            OpKind::NearBranch64 => {
                let number = self.0.iter().position(|&label| label == address)?;
                Some(SymbolResult::with_string(address, format!("L{number}")))
            }
            // The pool starts at address 0.
            OpKind::Memory if inst.is_ip_rel_memory_operand() => Some(SymbolResult::with_str(0, "pool")),
            _ => None,
        }
    }
}

/// Disassembles code, which follows the constant pool in `bytes`. Lines have labels instead of
/// offsets, so that a change shows only where it is.
fn assembly(bytes: &[u8], entry: usize) -> String {
    let decoder = Decoder::with_ip(64, &bytes[entry..], entry as u64, DecoderOptions::NONE);
    let code: Vec<Instruction> = decoder.into_iter().collect();
    let jumps = code.iter().filter(|inst| inst.op0_kind() == OpKind::NearBranch64);
    let mut labels: Vec<u64> = jumps.map(Instruction::near_branch_target).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut formatter = IntelFormatter::with_options(Some(Box::new(Names(labels.clone()))), None);
    formatter.options_mut().set_uppercase_hex(false);
    formatter.options_mut().set_hex_prefix("0x");
    formatter.options_mut().set_hex_suffix("");
    formatter.options_mut().set_space_after_operand_separator(true);
    let (mut out, mut text) = (String::new(), String::new());
    for inst in &code {
        if let Some(number) = labels.iter().position(|&label| label == inst.ip()) {
            out += &format!("L{number}:\n");
        }
        text.clear();
        formatter.format(inst, &mut text);
        out += &format!("  {text}\n");
    }
    out
}
