//! What was looked up for image instructions: the routine of each, with its image and sampler, by its number. Where both lie in one set,
//! that remembers it for later draws.

use std::sync::{Arc, OnceLock, Weak};

use foldhash::HashMap;
use parking_lot::Mutex;
use vitric_codegen::Target;
use vitric_ir::{Image, ImageOp};
use vitric_memory::{DecodedUse, SurfaceView};

use super::frame::RoutineEntry;
use super::image::is_access;
use super::{Bindings, Descriptor, ResolvedSet, native};
use crate::Program;
use crate::texture::{self, Lookup, Routine, Routines};

/// Elements of the bindings that an instruction takes its image and its sampler from.
pub type Elements = (u32, u32);

/// A look-up that may have found nothing to sample.
type Looked = Option<Arc<Lookup>>;

/// A look-up with its use of decoded texels, which stay where they are as long as this does.
#[derive(Debug)]
struct LookedUp {
    lookup: Looked,
    _decoded: Option<DecodedUse>,
}

/// An image instruction of a program: the address of the program, and the instruction's number.
type Instruction = (usize, u32);

/// Look-ups of programs' image instructions in a set, with the programs, which may be gone. Look-ups of decoded texels and of
/// their blocks differ.
#[derive(Debug, Default)]
pub struct Found(Mutex<HashMap<(Instruction, Elements, bool), Remembered>>);

type Remembered = (Weak<Program>, Looked);

/// Look-ups in a set that are remembered.
const MAX_FOUND: usize = 1 << 12;

impl Found {
    /// What an instruction of a program finds. While its program is remembered no other one has its address.
    fn or_look(
        &self,
        program: &Weak<Program>,
        (number, elements): Wanted,
        is_decoded: bool,
        look: impl Fn() -> Looked,
    ) -> Looked {
        let key = ((program.as_ptr().addr(), number), elements, is_decoded);
        if let Some((_, found)) = self.0.lock().get(&key) {
            return found.clone();
        }
        let found = look();
        let mut all = self.0.lock();
        if all.len() >= MAX_FOUND {
            all.clear();
        }
        all.insert(key, (program.clone(), found.clone()));
        found
    }
}

/// Look-ups of one program's image instructions.
#[derive(Debug, Default)]
pub struct Lookups {
    routines: Arc<Routines>,
    /// Whose they are, where sets remember them.
    program: Weak<Program>,
    /// By the number of the instruction: what it looked up first, which is mostly all it ever does.
    first: Box<[OnceLock<(Elements, LookedUp)>]>,
    /// The routines of those, as generated code enters them.
    entries: Box<[RoutineEntry]>,
    others: Others,
    /// The program with the routines in it that its instructions find, once it was looked for; none where that does not serve.
    pub inlined: OnceLock<Option<Arc<Program>>>,
}

/// The number of an image instruction, and what it was executed with.
type Wanted = (u32, Elements);

/// Tables of [`Others`].
const TABLES: usize = 9;
/// Slots of the first of them; each other one has four times as many as the one before.
const FIRST_SLOTS: usize = 16;
/// Places that a look-up may have in a table.
const PLACES: usize = 4;

/// What instructions that take one of many images looked up beside their first. A slot is written once, so no reader takes a lock; where a
/// table has no room the next one is asked.
#[derive(Debug, Default)]
struct Others([OnceLock<Slots>; TABLES]);

type Slots = Box<[OnceLock<(Wanted, LookedUp)>]>;

impl Others {
    /// What an instruction looked up, now or before; `None` where no table has room.
    fn get(&self, wanted: Wanted, look: impl Fn() -> LookedUp) -> Option<&LookedUp> {
        let (number, (image, sampler)) = wanted;
        let mixed = u64::from(image) << 32 ^ u64::from(sampler) << 8 ^ u64::from(number);
        let start = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        self.0.iter().enumerate().find_map(|(number, table)| {
            let slots = table.get_or_init(|| (0..FIRST_SLOTS << (2 * number)).map(|_| OnceLock::new()).collect());
            (start..start + PLACES).find_map(|place| {
                let (of, found) = slots[place % slots.len()].get_or_init(|| (wanted, look()));
                (*of == wanted).then_some(found)
            })
        })
    }
}

impl Lookups {
    /// Of a program with so many image instructions.
    #[inline]
    pub fn new(routines: Arc<Routines>, images: usize) -> Self {
        let first = (0..images).map(|_| OnceLock::new()).collect();
        let entries = (0..images).map(|_| RoutineEntry::default()).collect();
        let (program, others, inlined) = Default::default();
        Self { routines, program, first, entries, others, inlined }
    }

    /// Of a program, for which sets remember what its image instructions find there, if it has any.
    pub(super) fn of_program(program: &Arc<Program>, routines: Arc<Routines>) -> Self {
        let lookups = Self::new(routines, program.images as usize);
        program.inlined.bind();
        Self { program: if program.images > 0 { Arc::downgrade(program) } else { Weak::new() }, ..lookups }
    }

    /// What instructions found when they were first executed, by their numbers: all that they ever do, if they name one image and one
    /// sampler.
    pub(super) fn entries(&self) -> &[RoutineEntry] {
        &self.entries
    }

    /// What an instruction that names one image and one sampler has found, if it has been looked for.
    pub(super) fn found(&self, image: u32) -> Option<&Lookup> {
        self.first.get(image as usize)?.get()?.1.lookup.as_deref()
    }

    /// Looks for what instructions find that name one image and one sampler. Returns the routine of each, where code may have it in it.
    pub fn routines(&self, bindings: &Bindings, images: &[Image]) -> Vec<Option<Arc<Routine>>> {
        let routine = |image: &Image| {
            let found = self.with(bindings, image, (0, 0), |found| found.map(|found| found.routine.clone()))?;
            let entry = self.entries.get(image.number as usize)?;
            // Code finds it only by what is said there; the interpreter by itself.
            (Target::chosen().is_none() || entry.is_of(&found.token)).then_some(found)
        };
        images.iter().map(routine).collect()
    }

    /// Calls `work` with what an instruction samples; its operands are numbered from 0 on. `None` when nothing is bound there.
    pub fn with<R>(
        &self,
        bindings: &Bindings,
        image: &Image,
        elements: Elements,
        work: impl FnOnce(Option<&Lookup>) -> R,
    ) -> R {
        let look = || self.look(bindings, image, elements);
        if let Some(first) = self.first.get(image.number as usize) {
            let (of, found) = first.get().unwrap_or_else(|| {
                // Threads that look at the same time decode the same texels together.
                let found = look();
                first.get_or_init(|| {
                    if let Some((entry, lookup)) = self.entries.get(image.number as usize).zip(found.lookup.as_deref())
                    {
                        native::set_entry(entry, lookup);
                    }
                    (elements, found)
                })
            });
            if *of == elements {
                return work(found.lookup.as_deref());
            }
        }
        match self.others.get((image.number, elements), look) {
            Some(found) => work(found.lookup.as_deref()),
            None => work(look().lookup.as_deref()),
        }
    }

    /// Looks in the set that image and sampler are in, if it is one, and then at them.
    fn look(&self, bindings: &Bindings, image: &Image, elements: Elements) -> LookedUp {
        let decoded = self.decoded(bindings, image, elements.0);
        let look = || find(&self.routines, (bindings, decoded.as_ref()), image, elements);
        let set = bindings.set_of(image.resource);
        let is_sampler_there = |set: &Arc<ResolvedSet>| {
            let of_sampler = image.sampler.map(|(resource, _)| bindings.set_of(resource));
            of_sampler.is_none_or(|other| other.is_some_and(|other| Arc::ptr_eq(other, set)))
        };
        let lookup = match set.filter(|set| self.program.strong_count() > 0 && is_sampler_there(set)) {
            Some(set) => set.found.or_look(&self.program, (image.number, elements), decoded.is_some(), look),
            None => look(),
        };
        LookedUp { lookup, _decoded: decoded }
    }

    /// Begins to use the decoded texels of an instruction's image, where it has any and there is room for them.
    fn decoded(&self, bindings: &Bindings, image: &Image, element: u32) -> Option<DecodedUse> {
        if matches!(image.op, ImageOp::QueryLod) {
            return None;
        }
        let view = texture::view(bindings.descriptor(image.resource, element)?)?;
        view.surface.use_decoded(self.routines.decoded(), &view.desc)
    }
}

fn find(
    routines: &Routines,
    (bindings, decoded): (&Bindings, Option<&DecodedUse>),
    image: &Image,
    (of_image, of_sampler): Elements,
) -> Looked {
    let descriptor = bindings.descriptor(image.resource, of_image)?;
    let view = |descriptor| {
        let view: &Arc<SurfaceView> = texture::view(descriptor)?;
        let of_texels =
            |decoded: &DecodedUse| Arc::new(SurfaceView { surface: decoded.surface().clone(), desc: view.desc });
        Some(decoded.map_or_else(|| view.clone(), of_texels))
    };
    if is_access(&image.op) {
        return match descriptor {
            Descriptor::UniformTexelBuffer(buffer) | Descriptor::StorageTexelBuffer(buffer) => {
                routines.prepare_buffer(image, buffer)
            }
            descriptor => routines.prepare_texels(image, &*view(descriptor)?),
        }
        .map(Arc::new);
    }
    let sampler = match image.sampler {
        Some((resource, _)) => bindings.descriptor(resource, of_sampler)?,
        None => descriptor,
    };
    let (Descriptor::Sampler(sampler) | Descriptor::CombinedImageSampler(_, sampler)) = sampler else { return None };
    routines.prepare(image, &view(descriptor)?, sampler).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_was_looked_up_is_not_looked_up_again() {
        let others = Others::default();
        let looks = AtomicU32::new(0);
        let look = || {
            looks.fetch_add(1, Ordering::Relaxed);
            LookedUp { lookup: None, _decoded: None }
        };
        let all = || (0..3).flat_map(|number| (0..2000).map(move |element| (number, (element, element / 7))));
        for _ in 0..2 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| all().for_each(|wanted| assert!(others.get(wanted, look).is_some())));
                }
            });
            assert_eq!(looks.load(Ordering::Relaxed) as usize, all().count());
        }
    }
}
