//! Linking: appending a program to a longer internal one, which computes the inputs and uses the
//! outputs.

use vitric_ir::{Builder, Image, Inst, InterpolateAt, Local, Space, Table, Type, Value};

use crate::Program;

/// Target that a program is appended to.
pub trait Linker {
    /// Returns the builder that receives the instructions.
    fn builder(&mut self) -> &mut Builder;
    /// Returns the program's input word `slot`, of type `ty`.
    fn input(&mut self, slot: usize, ty: Type) -> Value;
    /// Returns the program's input word `slot`, interpolated at `at` rather than at its declared
    /// position.
    fn interpolated(&mut self, slot: usize, at: InterpolateAt, ty: Type) -> Value;
    /// Returns the number of resources and image instructions of the programs appended base.
    fn number_base(&self) -> NumberBase {
        NumberBase::default()
    }
    /// Returns the result words of an image instruction, if the linker replaces it.
    fn image(&mut self, _image: &Image) -> Option<Vec<Value>> {
        None
    }
    /// Returns the local that records lanes which discard or demote their fragment. A lane that
    /// discards leaves the appended program but not the program around it.
    fn ended(&self) -> Option<Local> {
        None
    }
    /// Returns the memory space that replaces a space of the program.
    fn space(&self, space: Space) -> Space {
        space
    }
}

/// Counts over the programs appended base. The numbers of the next program start there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberBase {
    /// Number of resources.
    pub resources: u32,
    /// Number of image instructions.
    pub images: u32,
}

/// Appends a program and returns its output words. A word that the program does not write is 0.
pub fn append(linker: &mut impl Linker, program: &Program) -> Vec<Value> {
    let function = program.code.function();
    let locals: Vec<Local> = function.locals.iter().map(|&words| linker.builder().local(words)).collect();
    let outputs = linker.builder().local(program.outputs.len() as u32);
    appended(linker, program, &locals, outputs)
}

/// Appends a program inside of a loop. Each iteration starts with all locals set to 0.
pub fn append_in_loop(linker: &mut impl Linker, program: &Program) -> Vec<Value> {
    let b = linker.builder();
    let zero = b.int(0);
    let mut cleared = |words: u32| {
        let local = b.local(words);
        (0..words).for_each(|word| b.local_store(local, word, None, zero));
        local
    };
    let locals: Vec<Local> = program.code.function().locals.iter().map(|&words| cleared(words)).collect();
    let outputs = cleared(program.outputs.len() as u32);
    appended(linker, program, &locals, outputs)
}

fn appended(linker: &mut impl Linker, program: &Program, locals: &[Local], outputs: Local) -> Vec<Value> {
    let function = program.code.function();
    let tables: Vec<Table> = function.tables.iter().map(|words| linker.builder().table(words.clone())).collect();
    let mut values: Vec<Option<Value>> = vec![None; function.types.len()];
    let base = linker.number_base();
    for (image, routine) in &function.routines {
        linker.builder().add_routine(image + base.images, routine.clone());
    }
    let ended = linker.ended();
    // Lanes that end break out of this block. `open` counts the enclosing regions of the program
    // that a `Break` can target.
    if ended.is_some() {
        linker.builder().push(Inst::Block);
    }
    let mut open = 0;
    for inst in &function.insts {
        match inst {
            Inst::Block | Inst::Loop => open += 1,
            Inst::EndBlock | Inst::EndLoop => open -= 1,
            _ => {}
        }
        let ty = |result: &Value| function.types[result.0 as usize];
        let of = |value: Value| values[value.0 as usize].unwrap_or(value);
        match inst {
            Inst::Const { result, word } => {
                values[result.0 as usize] = Some(linker.builder().constant(*word, ty(result)));
            }
            Inst::Input { result, slot } => {
                values[result.0 as usize] = Some(linker.input(*slot as usize, ty(result)));
            }
            Inst::Interpolate { result, slot, at } => {
                let value = linker.interpolated(*slot as usize, at.map(of), ty(result));
                values[result.0 as usize] = Some(value);
            }
            Inst::Output { slot, value } => linker.builder().local_store(outputs, *slot, None, of(*value)),
            Inst::Kill | Inst::Demote if ended.is_some() => {
                let b = linker.builder();
                let one = b.int(1);
                ended.iter().for_each(|&ended| b.local_store(ended, 0, None, one));
                if *inst == Inst::Kill {
                    b.push(Inst::Break { depth: open });
                }
            }
            _ => {
                let mut inst = inst.clone();
                inst.map_operands(of);
                if let Inst::Image(image) = &inst
                    && let Some(instead) = linker.image(image)
                {
                    for (result, value) in inst.results().zip(instead) {
                        values[result.0 as usize] = Some(value);
                    }
                    continue;
                }
                for result in inst.results() {
                    values[result.0 as usize] = Some(linker.builder().value(ty(&result)));
                }
                inst.map_results(|result| values[result.0 as usize].unwrap_or(result));
                map_locals(&mut inst, locals, &tables);
                map_resources(&mut inst, base);
                if let Some(space) = inst.space_mut() {
                    *space = linker.space(*space);
                }
                linker.builder().push(inst);
            }
        }
    }
    if ended.is_some() {
        linker.builder().push(Inst::EndBlock);
    }
    let load = |(word, output): (u32, &vitric_ir::interface::OutputSlot)| {
        linker.builder().local_load(outputs, word, None, output.ty)
    };
    (0..).zip(&program.outputs).map(load).collect()
}

fn map_locals(inst: &mut Inst, locals: &[Local], tables: &[Table]) {
    match inst {
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => *local = locals[local.0 as usize],
        Inst::TableLoad { table, .. } => *table = tables[table.0 as usize],
        _ => {}
    }
}

fn map_resources(inst: &mut Inst, base: NumberBase) {
    if let Some(space) = inst.space_mut() {
        space.resource_mut().into_iter().for_each(|resource| *resource += base.resources);
        if let Space::OfImage { image, .. } = space {
            *image += base.images;
        }
    }
    match inst {
        Inst::BufferLength { resource, .. } => *resource += base.resources,
        Inst::Image(image) => {
            image.resource += base.resources;
            image.number += base.images;
            if let Some((sampler, _)) = &mut image.sampler {
                *sampler += base.resources;
            }
        }
        _ => {}
    }
}
