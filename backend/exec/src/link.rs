//! Linking: a program becomes a part of a longer one of the driver's own, in which its inputs are computed and its outputs used.

use vitric_ir::{
    Builder, Image, Inst, InterpolateAt, Local, Space, Table, Type, Value, map_operands, map_results, results,
};

use super::Program;

/// What a program is appended to.
pub trait Linker {
    /// Where the instructions go.
    fn builder(&mut self) -> &mut Builder;
    /// The program's input word `slot`, of a type.
    fn input(&mut self, slot: usize, ty: Type) -> Value;
    /// The same at another place than the declared one.
    fn interpolated(&mut self, slot: usize, at: InterpolateAt, ty: Type) -> Value;
    /// Resources and image instructions of the programs that were appended before.
    fn before(&self) -> Before {
        Before::default()
    }
    /// What an image instruction gives, where something else takes its place.
    fn image(&mut self, _image: &Image) -> Option<Vec<Value>> {
        None
    }
    /// Where lanes are noted that discard their fragment: they leave the program then, but not what it is appended to.
    fn ended(&self) -> Option<Local> {
        None
    }
    /// The memory that one of the program becomes.
    fn space(&self, space: Space) -> Space {
        space
    }
}

/// What a program has of the programs that were appended before: the numbers of its own follow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before {
    /// Resources.
    pub resources: u32,
    /// Image instructions.
    pub images: u32,
}

/// Appends a program. Returns its output words; they are 0 where the program wrote none.
pub fn append(linker: &mut impl Linker, program: &Program) -> Vec<Value> {
    let function = program.code.function();
    let locals: Vec<Local> = function.locals.iter().map(|&words| linker.builder().local(words)).collect();
    let outputs = linker.builder().local(program.outputs.len() as u32);
    appended(linker, program, &locals, outputs)
}

/// The same inside of a loop: each turn begins with all locals 0.
pub fn append_anew(linker: &mut impl Linker, program: &Program) -> Vec<Value> {
    let b = linker.builder();
    let zero = b.int(0);
    let mut anew = |words: u32| {
        let local = b.local(words);
        (0..words).for_each(|word| b.local_store(local, word, None, zero));
        local
    };
    let locals: Vec<Local> = program.code.function().locals.iter().map(|&words| anew(words)).collect();
    let outputs = anew(program.outputs.len() as u32);
    appended(linker, program, &locals, outputs)
}

fn appended(linker: &mut impl Linker, program: &Program, locals: &[Local], outputs: Local) -> Vec<Value> {
    let function = program.code.function();
    let tables: Vec<Table> = function.tables.iter().map(|words| linker.builder().table(words.clone())).collect();
    let mut values: Vec<Option<Value>> = vec![None; function.types.len()];
    let before = linker.before();
    for (image, routine) in &function.routines {
        linker.builder().add_routine(image + before.images, routine.clone());
    }
    let ended = linker.ended();
    // What lanes that end break out of, and how many regions that may be left are open in it.
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
                map_operands(&mut inst, of);
                if let Inst::Image(image) = &inst
                    && let Some(instead) = linker.image(image)
                {
                    for (result, value) in results(&inst).into_iter().zip(instead) {
                        values[result.0 as usize] = Some(value);
                    }
                    continue;
                }
                let fresh: Vec<Value> =
                    results(&inst).iter().map(|result| linker.builder().value(ty(result))).collect();
                for (result, &fresh) in results(&inst).into_iter().zip(&fresh) {
                    values[result.0 as usize] = Some(fresh);
                }
                map_results(&mut inst, |_| fresh[0]);
                map_places(&mut inst, locals, &tables);
                map_resources(&mut inst, before);
                map_space(&mut inst, |space| linker.space(space));
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

fn map_places(inst: &mut Inst, locals: &[Local], tables: &[Table]) {
    match inst {
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => *local = locals[local.0 as usize],
        Inst::TableLoad { table, .. } => *table = tables[table.0 as usize],
        _ => {}
    }
}

fn map_space(inst: &mut Inst, map: impl Fn(Space) -> Space) {
    match inst {
        Inst::Load { space, .. }
        | Inst::Store { space, .. }
        | Inst::StorePart { space, .. }
        | Inst::Atomic { space, .. } => *space = map(*space),
        Inst::Atomic64(atomic) => atomic.space = map(atomic.space),
        _ => {}
    }
}

fn map_resources(inst: &mut Inst, before: Before) {
    map_space(inst, |space| match space {
        Space::Buffer { resource, element } => Space::Buffer { resource: resource + before.resources, element },
        Space::OfImage { image, part } => Space::OfImage { image: image + before.images, part },
        space => space,
    });
    match inst {
        Inst::BufferLength { resource, .. } => *resource += before.resources,
        Inst::Image(image) => {
            image.resource += before.resources;
            image.number += before.images;
            if let Some((sampler, _)) = &mut image.sampler {
                *sampler += before.resources;
            }
        }
        _ => {}
    }
}
