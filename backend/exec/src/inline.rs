//! Inlining of texture routines into programs.
//!
//! The code of a routine replaces an image instruction. Instructions that sample the same image
//! then share their coordinate computations. No values pass through memory between a program and
//! its routines.
//!
//! The routine of an instruction depends on the bound descriptors. A program is therefore inlined
//! only after it has run for some time with such descriptors. For other descriptors the original
//! program runs.
//!
//! The data of an access (texels, sizes, clamps) stays in the bindings, see [`Space::OfImage`].
//! One inlined program thus serves all bindings that resolve its instructions to the same
//! routines.

use std::sync::Arc;

use vitric_codegen::Target;
use vitric_ir::{Builder, Function, Image, ImageOp, Inst, InterpolateAt, Lod, Part, Space, Token, Type, Value, passes};

use crate::Program;
use crate::bindings::Bindings;
use crate::link::{self, Linker};
use crate::texture::Routine;

/// Policy that selects which programs get inlined routines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inlining {
    /// No program.
    Off,
    /// Programs that run often, if the result stays short.
    Auto,
    /// All programs that can be inlined, immediately.
    Always,
}

/// Maximum length of an inlined program, in IR instructions.
const MAX_INLINED_INSTRUCTIONS: usize = 4000;

/// Maximum number of routine combinations for which one program is inlined.
const MAX_VARIANTS: usize = 8;

impl Program {
    /// Returns the program with the routines of these bindings inlined, or `None` if inlining is
    /// off, not yet due or not worthwhile.
    pub fn inlined(&self, bindings: &Bindings, inlining: Inlining) -> Option<Arc<Self>> {
        let is_wanted = || match inlining {
            Inlining::Off => false,
            Inlining::Auto => Target::chosen().is_some() && self.inlined.is_worth_inlining(self.images),
            Inlining::Always => true,
        };
        if self.images == 0 || !is_wanted() {
            return None;
        }
        bindings.lookups().inlined.get_or_init(|| self.make_inlined(bindings, inlining)).clone()
    }

    fn make_inlined(&self, bindings: &Bindings, inlining: Inlining) -> Option<Arc<Self>> {
        let images = self.inlined.images.get_or_init(|| replaceable(self.code.function()));
        let routines = bindings.lookups().routines(bindings, images);
        let key: Vec<Option<Token>> =
            routines.iter().map(|found| found.as_ref().map(|found| found.token.clone())).collect();
        let mut variants = self.inlined.variants.lock();
        if let Some((_, known)) = variants.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        if variants.len() >= MAX_VARIANTS {
            return None;
        }
        // Inlining does not speed up long routines.
        let is_worthwhile = |routine: &Arc<Routine>| {
            inlining == Inlining::Always || !routine.program.code.function().insts.contains(&Inst::Loop)
        };
        let found = images.iter().map(|image| image.number).zip(routines);
        let found = found.filter_map(|(image, routine)| Some((image, routine.filter(is_worthwhile)?)));
        let found: Vec<(u32, Arc<Routine>)> = found.collect();
        let made = with_routines(self, &found).filter(|made| {
            inlining == Inlining::Always || made.code.function().insts.len() <= MAX_INLINED_INSTRUCTIONS
        });
        let made = made.map(Arc::new);
        variants.push((key, made.clone()));
        made
    }
}

/// Returns the image instructions that routines may replace, with operands numbered as for a call.
///
/// An instruction qualifies if it names one image and one sampler. In a lane that does not run the
/// instruction, a call yields 0, but an inlined routine yields an undefined value. If the program
/// reads other lanes, only instructions that all lanes run therefore qualify.
fn replaceable(function: &Function) -> Vec<Image> {
    let reads = function.insts.iter().any(reads_other_lanes);
    let (mut images, mut depth, mut all_run) = (Vec::new(), 0, true);
    for inst in &function.insts {
        match inst {
            Inst::If { .. } | Inst::Block | Inst::Loop => depth += 1,
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => depth -= 1,
            Inst::Kill => all_run = false,
            Inst::Image(image) if is_single(image) && (!reads || depth == 0 && all_run) => {
                if let (Inst::Image(image), _) = inst.numbered() {
                    images.push(*image);
                }
            }
            _ => {}
        }
    }
    images
}

/// Returns true if the result of an instruction depends on values of lanes that may be inactive.
fn reads_other_lanes(inst: &Inst) -> bool {
    match inst {
        Inst::Unary { op, .. } => op.is_derivative(),
        Inst::Image(image) => matches!(image.op, ImageOp::Sample { lod: Lod::Implicit { .. }, .. } | ImageOp::QueryLod),
        inst => matches!(inst, Inst::Ballot { .. } | Inst::Shuffle { .. }),
    }
}

fn is_single(image: &Image) -> bool {
    let is_single = image.element.is_none() && image.sampler.is_none_or(|(_, element)| element.is_none());
    is_single && !image.op.is_query()
}

/// Returns true if a routine may be inlined: it accesses no memory besides its texels and the data
/// that locates them.
fn can_inline(routine: &Routine) -> bool {
    let function = routine.program.code.function();
    let fits = |inst: &Inst| match inst {
        Inst::Image(_) | Inst::BufferLength { .. } | Inst::Kill => false,
        _ => inst.space().is_none_or(|space| part(*space).is_some()),
    };
    function.routines.is_empty() && function.insts.iter().all(fits)
}

/// Returns the part of an image access that a memory space of a routine corresponds to.
fn part(space: Space) -> Option<Part> {
    match space {
        Space::Push => Some(Part::Levels(0)),
        Space::Levels(behind) => Some(Part::Levels(behind)),
        Space::Texels(resource) => Some(Part::Texels(resource)),
        Space::Buffer { resource, element: None } => Some(Part::Buffer(resource)),
        _ => None,
    }
}

/// Returns the program with the routines in `found` inlined, or `None` if none of them can be.
/// Each routine is paired with the number of its image instruction.
fn with_routines(program: &Program, found: &[(u32, Arc<Routine>)]) -> Option<Program> {
    let found: Vec<_> = found.iter().filter(|(_, routine)| can_inline(routine)).cloned().collect();
    if found.is_empty() || program.groups_in_wave > 1 {
        return None;
    }
    let mut linker =
        InliningLinker { b: Builder::new(), function: program.code.function(), found: &found, firsts: Vec::new() };
    let outputs = link::append(&mut linker, program);
    for (slot, value) in (0..).zip(outputs) {
        linker.b.push(Inst::Output { slot, value });
    }
    let mut function = linker.b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let before_inlining = Some(Box::new(program.code.function().clone()));
    let mut made =
        Program { before_inlining, inlined: program.inlined.of_variant(), ..program.with_function(function) };
    made.generate_unshared("with routines");
    Some(made)
}

/// Linker that copies a program and inlines its routines.
struct InliningLinker<'a> {
    b: Builder,
    /// Function of the program.
    function: &'a Function,
    found: &'a [(u32, Arc<Routine>)],
    /// First instruction of each group that performs the same access.
    firsts: Vec<Image>,
}

impl InliningLinker<'_> {
    /// Returns the number of the first instruction that has the image, sampler and routine of this
    /// one.
    fn first(&mut self, image: &Image, routine: &Routine) -> u32 {
        let source = |image: &Image| (image.resource, image.sampler.map(|(resource, _)| resource));
        let is_same = |first: &&Image| {
            source(first) == source(image)
                && self.found.iter().any(|(number, other)| *number == first.number && other.token == routine.token)
        };
        if let Some(first) = self.firsts.iter().find(is_same) {
            return first.number;
        }
        self.firsts.push(image.clone());
        self.b.add_routine(image.number, routine.token.clone());
        image.number
    }
}

impl Linker for InliningLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        self.b.input(slot as u32, ty)
    }

    fn interpolated(&mut self, slot: usize, at: InterpolateAt, ty: Type) -> Value {
        let result = self.b.value(ty);
        self.b.push(Inst::Interpolate { result, slot: slot as u32, at });
        result
    }

    fn image(&mut self, image: &Image) -> Option<Vec<Value>> {
        let (_, routine) = self.found.iter().find(|(number, _)| *number == image.number)?;
        let first = self.first(image, routine);
        let (_, operands) = Inst::Image(Box::new(image.clone())).numbered();
        let words =
            link::append_in_loop(&mut RoutineLinker { b: &mut self.b, operands, image: first }, &routine.program);
        let ty = |word: usize| self.function.types[image.result.0 as usize + word];
        Some(words.into_iter().enumerate().map(|(word, value)| self.b.cast(value, ty(word))).collect())
    }
}

/// Linker that appends a routine in place of an image instruction.
struct RoutineLinker<'a> {
    b: &'a mut Builder,
    operands: Vec<Value>,
    /// Number of the instruction whose image the routine accesses.
    image: u32,
}

impl Linker for RoutineLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        self.b.cast(self.operands[slot], ty)
    }

    fn interpolated(&mut self, slot: usize, _: InterpolateAt, ty: Type) -> Value {
        self.input(slot, ty)
    }

    fn space(&self, space: Space) -> Space {
        part(space).map_or(space, |part| Space::OfImage { image: self.image, part })
    }
}
