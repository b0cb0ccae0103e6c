//! Routine lookups of image instructions: the routine, image and sampler of each instruction, by
//! its number. If image and sampler are in one set, the set caches the lookup for later draws.

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

/// Array elements of an instruction's image and sampler in the bindings.
pub type Elements = (u32, u32);

/// Lookup, or `None` if there is nothing to sample.
type Looked = Option<Arc<Lookup>>;

/// Lookup together with its use of decoded texels, which stay in place as long as this value
/// lives.
#[derive(Debug)]
struct LookedUp {
    lookup: Looked,
    _decoded: Option<DecodedUse>,
}

/// Key of a program's image instruction: the address of the program and the number of the
/// instruction.
type Instruction = (usize, u32);

/// Lookups in a set, by image instruction, array elements, and whether decoded texels are used.
/// Each entry holds a weak reference to its program. Lookups that use decoded texels differ from
/// those that use their blocks.
#[derive(Debug, Default)]
pub struct Found(Mutex<HashMap<(Instruction, Elements, bool), Remembered>>);

type Remembered = (Weak<Program>, Looked);

/// Maximum number of lookups that a set caches.
const MAX_FOUND: usize = 1 << 12;

impl Found {
    /// Returns the cached lookup of an instruction, or the result of `look`. The weak reference of
    /// the entry ensures that no other program gets the address of its program.
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

/// Lookups of one program's image instructions.
#[derive(Debug, Default)]
pub struct Lookups {
    routines: Arc<Routines>,
    /// Program of the lookups, if sets cache them.
    program: Weak<Program>,
    /// First lookup of each instruction, by its number. Most instructions need no other.
    first: Box<[OnceLock<(Elements, LookedUp)>]>,
    /// Routines of the first lookups, in the layout that generated code reads.
    entries: Box<[RoutineEntry]>,
    others: Others,
    /// Inlined program for the routines of these lookups, once requested. The inner option is
    /// `None` if inlining is not worthwhile.
    pub inlined: OnceLock<Option<Arc<Program>>>,
}

/// Number of an image instruction, and the array elements it was executed with.
type Wanted = (u32, Elements);

/// Number of tables in [`Others`].
const TABLES: usize = 9;
/// Number of slots in the first table. Each following table has four times as many as the one
/// before.
const FIRST_SLOTS: usize = 16;
/// Number of slots in each table that may hold a particular lookup.
const PLACES: usize = 4;

/// Further lookups of instructions that access several images. A slot is written once, so that
/// readers take no lock. If a table has no room, the next one is tried.
#[derive(Debug, Default)]
struct Others([OnceLock<Slots>; TABLES]);

type Slots = Box<[OnceLock<(Wanted, LookedUp)>]>;

impl Others {
    /// Returns an existing lookup of an instruction, or stores a new one. Returns `None` if no
    /// table has room.
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
    /// Creates the lookups of a program with `images` image instructions.
    #[inline]
    pub fn new(routines: Arc<Routines>, images: usize) -> Self {
        let first = (0..images).map(|_| OnceLock::new()).collect();
        let entries = (0..images).map(|_| RoutineEntry::default()).collect();
        let (program, others, inlined) = Default::default();
        Self { routines, program, first, entries, others, inlined }
    }

    /// Creates the lookups of a program. Sets cache them if the program has image instructions.
    pub(super) fn of_program(program: &Arc<Program>, routines: Arc<Routines>) -> Self {
        let lookups = Self::new(routines, program.images as usize);
        program.inlined.bind();
        Self { program: if program.images > 0 { Arc::downgrade(program) } else { Weak::new() }, ..lookups }
    }

    /// Returns the first lookup of each instruction, by its number. For an instruction that names
    /// one image and one sampler, this is the only one.
    pub(super) fn entries(&self) -> &[RoutineEntry] {
        &self.entries
    }

    /// Returns the lookup of an instruction that names one image and one sampler, if it was done
    /// before.
    pub(super) fn found(&self, image: u32) -> Option<&Lookup> {
        self.first.get(image as usize)?.get()?.1.lookup.as_deref()
    }

    /// Looks up instructions that name one image and one sampler. Returns the routine of each one,
    /// if it can be inlined.
    pub fn routines(&self, bindings: &Bindings, images: &[Image]) -> Vec<Option<Arc<Routine>>> {
        let routine = |image: &Image| {
            let found = self.with(bindings, image, (0, 0), |found| found.map(|found| found.routine.clone()))?;
            let entry = self.entries.get(image.number as usize)?;
            // Generated code finds the data of the access only through this entry. The interpreter
            // does not use it.
            (Target::chosen().is_none() || entry.is_of(&found.token)).then_some(found)
        };
        images.iter().map(routine).collect()
    }

    /// Calls `work` with the lookup of an instruction, whose operands are numbered from 0. The
    /// lookup is `None` if nothing is bound.
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
                // Threads that look up at the same time share the decoded texels.
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

    /// Looks up an instruction, in the cache of the set if that holds both image and sampler.
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

    /// Begins to use the decoded texels of an instruction's image, if its format has any and there
    /// is room for them.
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
