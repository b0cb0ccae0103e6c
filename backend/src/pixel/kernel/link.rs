//! Puts a fragment program into a kernel: its inputs become what they are computed from, its outputs values.

use super::Linker;
use super::inputs::Inputs;
use crate::shader::Program;
use crate::shader::ir::{Inst, Local, Table, Value, map_operands, map_results, results};

/// Appends a fragment program. Returns its output words; they are 0 where the program wrote none.
pub(super) fn append(linker: &mut Linker, program: &Program, inputs: &mut Inputs<'_>) -> Vec<Value> {
    let function = program.code.function();
    let locals: Vec<Local> = function.locals.iter().map(|&words| linker.b.local(words)).collect();
    let tables: Vec<Table> = function.tables.iter().map(|words| linker.b.table(words.clone())).collect();
    let outputs = linker.b.local(program.outputs.len() as u32);
    let mut values: Vec<Option<Value>> = vec![None; function.types.len()];
    for inst in &function.insts {
        let ty = |result: &Value| function.types[result.0 as usize];
        let of = |value: Value| values[value.0 as usize].unwrap_or(value);
        match inst {
            Inst::Const { result, word } => {
                values[result.0 as usize] = Some(linker.b.constant(*word, ty(result)));
            }
            Inst::Input { result, slot } => {
                values[result.0 as usize] = Some(inputs.word(linker, *slot as usize, ty(result)));
            }
            Inst::Interpolate { result, slot, at } => {
                let value = inputs.interpolated(linker, *slot as usize, at.map(of), ty(result));
                values[result.0 as usize] = Some(value);
            }
            Inst::Output { slot, value } => linker.b.local_store(outputs, *slot, None, of(*value)),
            _ => {
                let mut inst = inst.clone();
                map_operands(&mut inst, of);
                let fresh: Vec<Value> = results(&inst).iter().map(|result| linker.b.value(ty(result))).collect();
                for (result, &fresh) in results(&inst).into_iter().zip(&fresh) {
                    values[result.0 as usize] = Some(fresh);
                }
                map_results(&mut inst, |_| fresh[0]);
                map_places(&mut inst, &locals, &tables);
                linker.b.push(inst);
            }
        }
    }
    let load = |(word, output): (u32, &crate::shader::OutputSlot)| linker.b.local_load(outputs, word, None, output.ty);
    (0..).zip(&program.outputs).map(load).collect()
}

fn map_places(inst: &mut Inst, locals: &[Local], tables: &[Table]) {
    match inst {
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => *local = locals[local.0 as usize],
        Inst::TableLoad { table, .. } => *table = tables[table.0 as usize],
        _ => {}
    }
}
