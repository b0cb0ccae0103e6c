//! Programs with routines in them: what image instructions look up becomes a part of the program, so that instructions which take texels
//! of one image share what they compute of coordinates, and nothing goes through memory between a program and its routines.
//!
//! An instruction's routine is known only when descriptors are. So a program is given routines when it has run for a while with such
//! descriptors, and where there are others the program as it was serves them. What an instruction finds (texels, sizes, clamps) stays with
//! the bindings ([`Space::OfImage`]): a program with routines serves all bindings in which its instructions find the same routines.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use vitric_codegen::Target;
use vitric_ir::{
    Builder, Function, Image, ImageOp, Inst, InterpolateAt, Lod, Part, Space, Token, Type, Value, numbered, passes,
};

use super::Program;
use super::link::{self, Linker};
use super::runtime::Bindings;
use crate::texture::Routine;

/// Which programs get routines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inlining {
    /// None.
    Off,
    /// Those that run often, where they stay short.
    Auto,
    /// All that can, at once.
    Always,
}

/// Passes in which a program was drawn with before it gets routines, and more of them for each image instruction: compiling takes time by
/// these, and not all programs of a frame shall do that in one.
const PASSES_BEFORE: u32 = 4;
const PASSES_BY_IMAGE: u32 = 2;

/// Bindings that a program has in a pass on average, at most: its instructions are looked up for all of them.
const MAX_BINDINGS: u32 = 32;

/// Instructions of a program with routines in it, at most.
const LONGEST: usize = 4000;

/// Combinations of routines of one program.
const MAX_VARIANTS: usize = 8;

/// What a program has become with routines in it.
#[derive(Debug, Default)]
pub struct Inlined {
    uses: Arc<Uses>,
    /// Its image instructions in whose place routines may stand.
    images: OnceLock<Vec<Image>>,
    variants: Mutex<Vec<Variant>>,
}

/// How much a program is used, with routines in it or without.
#[derive(Debug, Default)]
struct Uses {
    /// Passes that drew with it, or dispatches.
    passes: AtomicU32,
    /// Bindings that it was given.
    bindings: AtomicU32,
}

/// Routines by the numbers of image instructions, and the program with them; none where that does not serve.
type Variant = (Vec<Option<Token>>, Option<Arc<Program>>);

impl Inlined {
    /// Of the same program with routines in it.
    pub(super) fn of_variant(&self) -> Self {
        Self { uses: self.uses.clone(), ..Self::default() }
    }

    /// A pass draws with the program, or it is dispatched.
    pub fn begin_pass(&self) {
        self.uses.passes.fetch_add(1, Ordering::Relaxed);
    }

    /// It was given other bindings.
    pub fn bind(&self) {
        self.uses.bindings.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a program of so many image instructions runs often enough, with few bindings.
    fn is_wanted(&self, images: u32) -> bool {
        let [passes, bindings] = [&self.uses.passes, &self.uses.bindings].map(|count| count.load(Ordering::Relaxed));
        passes >= PASSES_BY_IMAGE.saturating_mul(images).saturating_add(PASSES_BEFORE)
            && bindings / MAX_BINDINGS <= passes
    }
}

impl Program {
    /// The program with those routines in it that its image instructions find in these bindings, if that serves.
    pub fn inlined(&self, bindings: &Bindings, inlining: Inlining) -> Option<Arc<Self>> {
        let is_wanted = || match inlining {
            Inlining::Off => false,
            Inlining::Auto => Target::chosen().is_some() && self.inlined.is_wanted(self.images),
            Inlining::Always => true,
        };
        if self.images == 0 || !is_wanted() {
            return None;
        }
        bindings.lookups().inlined.get_or_init(|| self.find_inlined(bindings, inlining)).clone()
    }

    fn find_inlined(&self, bindings: &Bindings, inlining: Inlining) -> Option<Arc<Self>> {
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
        // Long ones gain nothing.
        let serves = |routine: &Arc<Routine>| {
            inlining == Inlining::Always || !routine.program.code.function().insts.contains(&Inst::Loop)
        };
        let found = images.iter().map(|image| image.number).zip(routines);
        let found = found.filter_map(|(image, routine)| Some((image, routine.filter(serves)?)));
        let found: Vec<(u32, Arc<Routine>)> = found.collect();
        let made = with_routines(self, &found)
            .filter(|made| inlining == Inlining::Always || made.code.function().insts.len() <= LONGEST);
        let made = made.map(Arc::new);
        variants.push((key, made.clone()));
        made
    }
}

/// Image instructions in whose place their routine may stand, with operands numbered as for a call: those that name one image and one
/// sampler. Lanes that do not run an instruction have 0 of a call, and anything of a routine that stands in its place: so in programs that
/// look at other lanes an instruction stays where not all lanes may run it.
fn replaceable(function: &Function) -> Vec<Image> {
    let looks = function.insts.iter().any(looks_across);
    let (mut images, mut depth, mut all_run) = (Vec::new(), 0, true);
    for inst in &function.insts {
        match inst {
            Inst::If { .. } | Inst::Block | Inst::Loop => depth += 1,
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => depth -= 1,
            Inst::Kill => all_run = false,
            Inst::Image(image) if is_one(image) && (!looks || depth == 0 && all_run) => {
                if let (Inst::Image(image), _) = numbered(inst) {
                    images.push(*image);
                }
            }
            _ => {}
        }
    }
    images
}

/// Whether an instruction depends on what lanes have that may not run.
fn looks_across(inst: &Inst) -> bool {
    match inst {
        Inst::Unary { op, .. } => op.is_derivative(),
        Inst::Image(image) => matches!(image.op, ImageOp::Sample { lod: Lod::Implicit { .. }, .. } | ImageOp::QueryLod),
        inst => matches!(inst, Inst::Ballot { .. } | Inst::Shuffle { .. }),
    }
}

fn is_one(image: &Image) -> bool {
    let is_one = image.element.is_none() && image.sampler.is_none_or(|(_, element)| element.is_none());
    is_one && !image.op.is_query()
}

/// Whether a routine may stand in a program: it reaches nothing but its texels and what says where they lie.
fn may_stand(routine: &Routine) -> bool {
    let reaches = |space: &Space| part(*space).is_some();
    let function = routine.program.code.function();
    let fits = |inst: &Inst| match inst {
        Inst::Load { space, .. }
        | Inst::Store { space, .. }
        | Inst::StorePart { space, .. }
        | Inst::Atomic { space, .. } => reaches(space),
        Inst::Atomic64(atomic) => reaches(&atomic.space),
        Inst::Image(_) | Inst::BufferLength { .. } | Inst::Kill => false,
        _ => true,
    };
    function.routines.is_empty() && function.insts.iter().all(fits)
}

/// What a routine's memory is of the look-up.
fn part(space: Space) -> Option<Part> {
    match space {
        Space::Push => Some(Part::Levels(0)),
        Space::Levels(behind) => Some(Part::Levels(behind)),
        Space::Texels(resource) => Some(Part::Texels(resource)),
        Space::Buffer { resource, element: None } => Some(Part::Buffer(resource)),
        _ => None,
    }
}

/// A program with routines in it, by the numbers of image instructions; `None` where there is none.
fn with_routines(program: &Program, found: &[(u32, Arc<Routine>)]) -> Option<Program> {
    let found: Vec<_> = found.iter().filter(|(_, routine)| may_stand(routine)).cloned().collect();
    if found.is_empty() || program.groups_in_wave > 1 {
        return None;
    }
    let mut replacer =
        Replacer { b: Builder::new(), function: program.code.function(), found: &found, firsts: Vec::new() };
    let outputs = link::append(&mut replacer, program);
    for (slot, value) in (0..).zip(outputs) {
        replacer.b.push(Inst::Output { slot, value });
    }
    let mut function = replacer.b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let before = Some(Box::new(program.code.function().clone()));
    let mut made = Program { before, inlined: program.inlined.of_variant(), ..program.with_function(function) };
    made.generate_unshared("with routines");
    Some(made)
}

/// Copies a program, with routines in it.
struct Replacer<'a> {
    b: Builder,
    /// The program's.
    function: &'a Function,
    found: &'a [(u32, Arc<Routine>)],
    /// Instructions that came first of those that look up the same.
    firsts: Vec<Image>,
}

impl Replacer<'_> {
    /// The number of the first instruction that finds the same as one does.
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

impl Linker for Replacer<'_> {
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
        let (_, operands) = numbered(&Inst::Image(Box::new(image.clone())));
        let words = link::append_anew(&mut InPlace { b: &mut self.b, operands, image: first }, &routine.program);
        let ty = |word: usize| self.function.types[image.result.0 as usize + word];
        Some(words.into_iter().enumerate().map(|(word, value)| self.b.cast(value, ty(word))).collect())
    }
}

/// Appends a routine in the place of an image instruction.
struct InPlace<'a> {
    b: &'a mut Builder,
    operands: Vec<Value>,
    /// The instruction whose look-up it reaches.
    image: u32,
}

impl Linker for InPlace<'_> {
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
