//! Routine lookups of image instructions: the routine, image and sampler of each instruction, by
//! its number. If image and sampler are in one set, the set caches the lookup for later draws.

use std::sync::{Arc, OnceLock, Weak};

use foldhash::HashMap;
use parking_lot::Mutex;
use vitric_codegen::Target;
use vitric_ir::{Image, ImageOp};
use vitric_memory::{DecodedUse, SurfaceView};

use super::{Bindings, ResolvedSet};
use crate::Program;
use crate::runtime::Descriptor;
use crate::runtime::frame::RoutineEntry;
use crate::texture::{BoundRoutine, Routine, Routines};

/// Image and sampler prepared for one kind of instruction.
#[derive(Debug)]
pub struct Lookup {
    /// Routine that executes the instruction.
    pub routine: Arc<Routine>,
    /// Resources of the routine.
    pub bindings: Bindings,
    /// Push constants of the routine.
    pub push: Vec<u8>,
}

impl Lookup {
    /// Creates the bindings of a routine.
    pub(crate) fn new(BoundRoutine { routine, resources, push }: BoundRoutine) -> Self {
        // The routine's own image instruction fetches texels that it does not decode.
        let bindings = Bindings::new(resources).with_routines(Arc::default(), 1);
        Self { routine, bindings, push }
    }

    /// Makes the routine available to generated code. The lookup must live as long as the entry.
    fn publish(&self, entry: &RoutineEntry) {
        if let Some(native) = self.routine.program.code.native() {
            native.publish(entry, &self.routine.token, &self.push, self.bindings.table());
        }
    }
}

/// Array elements of an instruction's image and sampler in the bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ArrayElements {
    /// Element of the image.
    pub image: u32,
    /// Element of the sampler.
    pub sampler: u32,
}

/// Image instruction of a program with the array elements that it was executed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LookupKey {
    /// Number of the instruction.
    instruction: u32,
    elements: ArrayElements,
}

/// Lookup, or `None` if there is nothing to sample.
type LookupResult = Option<Arc<Lookup>>;

/// Lookup together with its use of decoded texels, which stay in place as long as this value
/// lives.
#[derive(Debug)]
struct LookupEntry {
    lookup: LookupResult,
    _decoded: Option<DecodedUse>,
}

/// Key of a lookup in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SetKey {
    /// Address of the program.
    program: usize,
    key: LookupKey,
    /// True if the lookup uses decoded texels rather than their blocks.
    is_decoded: bool,
}

/// Lookups in a set. Each entry holds a weak reference to its program.
#[derive(Debug, Default)]
pub(super) struct SetLookups(Mutex<HashMap<SetKey, (Weak<Program>, LookupResult)>>);

/// Maximum number of lookups that a set caches.
const MAX_SET_LOOKUPS: usize = 1 << 12;

impl SetLookups {
    /// Returns the cached lookup of an instruction, or the result of `find`. The weak reference of
    /// the entry ensures that no other program gets the address of its program.
    fn get_or_find(
        &self,
        program: &Weak<Program>,
        key: LookupKey,
        is_decoded: bool,
        find: impl Fn() -> LookupResult,
    ) -> LookupResult {
        let key = SetKey { program: program.as_ptr().addr(), key, is_decoded };
        if let Some((_, found)) = self.0.lock().get(&key) {
            return found.clone();
        }
        let found = find();
        let mut all = self.0.lock();
        if all.len() >= MAX_SET_LOOKUPS {
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
    first: Box<[OnceLock<(ArrayElements, LookupEntry)>]>,
    /// Routines of the first lookups, in the layout that generated code reads.
    entries: Box<[RoutineEntry]>,
    others: LookupTables,
    /// Inlined program for the routines of these lookups, once requested. The inner option is
    /// `None` if inlining is not worthwhile.
    pub inlined: OnceLock<Option<Arc<Program>>>,
}

/// Number of tables in [`LookupTables`].
const TABLES: usize = 9;
/// Number of slots in the first table. Each following table has four times as many as the one
/// before.
const FIRST_SLOTS: usize = 16;
/// Number of slots in each table that may hold a particular lookup.
const PROBES: usize = 4;

/// Further lookups of instructions that access several images. A slot is written once, so that
/// readers take no lock. If a table has no room, the next one is tried.
#[derive(Debug, Default)]
struct LookupTables([OnceLock<Slots>; TABLES]);

type Slots = Box<[OnceLock<(LookupKey, LookupEntry)>]>;

impl LookupTables {
    /// Returns an existing lookup of an instruction, or stores a new one. Returns `None` if no
    /// table has room.
    fn get_or_find(&self, key: LookupKey, find: impl Fn() -> LookupEntry) -> Option<&LookupEntry> {
        let LookupKey { instruction, elements } = key;
        let mixed = u64::from(elements.image) << 32 ^ u64::from(elements.sampler) << 8 ^ u64::from(instruction);
        let start = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        self.0.iter().enumerate().find_map(|(number, table)| {
            let slots = table.get_or_init(|| (0..FIRST_SLOTS << (2 * number)).map(|_| OnceLock::new()).collect());
            (start..start + PROBES).find_map(|slot| {
                let (known, found) = slots[slot % slots.len()].get_or_init(|| (key, find()));
                (*known == key).then_some(found)
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
    pub(crate) fn entries(&self) -> &[RoutineEntry] {
        &self.entries
    }

    /// Returns the lookup of an instruction that names one image and one sampler, if it was done
    /// before.
    pub(crate) fn existing(&self, image: u32) -> Option<&Lookup> {
        self.first.get(image as usize)?.get()?.1.lookup.as_deref()
    }

    /// Looks up instructions that name one image and one sampler. Returns the routine of each one,
    /// if it can be inlined.
    pub fn routines(&self, bindings: &Bindings, images: &[Image]) -> Vec<Option<Arc<Routine>>> {
        let routine = |image: &Image| {
            let found =
                self.with(bindings, image, ArrayElements::default(), |found| found.map(|found| found.routine.clone()))?;
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
        elements: ArrayElements,
        work: impl FnOnce(Option<&Lookup>) -> R,
    ) -> R {
        let find = || self.find(bindings, image, elements);
        if let Some(first) = self.first.get(image.number as usize) {
            let (of, found) = first.get().unwrap_or_else(|| {
                // Threads that look up at the same time share the decoded texels.
                let found = find();
                first.get_or_init(|| {
                    if let Some((entry, lookup)) = self.entries.get(image.number as usize).zip(found.lookup.as_deref())
                    {
                        lookup.publish(entry);
                    }
                    (elements, found)
                })
            });
            if *of == elements {
                return work(found.lookup.as_deref());
            }
        }
        match self.others.get_or_find(LookupKey { instruction: image.number, elements }, find) {
            Some(found) => work(found.lookup.as_deref()),
            None => work(find().lookup.as_deref()),
        }
    }

    /// Looks up an instruction, in the cache of the set if that holds both image and sampler.
    fn find(&self, bindings: &Bindings, image: &Image, elements: ArrayElements) -> LookupEntry {
        let decoded = self.decoded(bindings, image, elements.image);
        let find = || prepare(&self.routines, bindings, image, elements, decoded.as_ref());
        let set = bindings.set_of(image.resource);
        let is_sampler_there = |set: &Arc<ResolvedSet>| {
            let of_sampler = image.sampler.map(|(resource, _)| bindings.set_of(resource));
            of_sampler.is_none_or(|other| other.is_some_and(|other| Arc::ptr_eq(other, set)))
        };
        let lookup = match set.filter(|set| self.program.strong_count() > 0 && is_sampler_there(set)) {
            Some(set) => {
                let key = LookupKey { instruction: image.number, elements };
                set.lookups.get_or_find(&self.program, key, decoded.is_some(), find)
            }
            None => find(),
        };
        LookupEntry { lookup, _decoded: decoded }
    }

    /// Begins to use the decoded texels of an instruction's image, if its format has any and there
    /// is room for them.
    fn decoded(&self, bindings: &Bindings, image: &Image, element: u32) -> Option<DecodedUse> {
        if matches!(image.op, ImageOp::QueryLod) {
            return None;
        }
        let view = bindings.descriptor(image.resource, element)?.view()?;
        view.surface.use_decoded(self.routines.decoded(), &view.desc)
    }
}

/// Returns true if an instruction accesses single texels.
fn is_texel_access(op: &ImageOp) -> bool {
    matches!(op, ImageOp::Fetch { .. } | ImageOp::Read { .. } | ImageOp::Write { .. } | ImageOp::Atomic { .. })
}

/// Prepares the routine of an instruction. `decoded` is the use of decoded texels, if there are
/// any.
fn prepare(
    routines: &Routines,
    bindings: &Bindings,
    image: &Image,
    elements: ArrayElements,
    decoded: Option<&DecodedUse>,
) -> LookupResult {
    let descriptor = bindings.descriptor(image.resource, elements.image)?;
    let view = |descriptor: &Descriptor| {
        let view = descriptor.view()?;
        let of_texels =
            |decoded: &DecodedUse| Arc::new(SurfaceView { surface: decoded.surface().clone(), desc: view.desc });
        Some(decoded.map_or_else(|| view.clone(), of_texels))
    };
    let routine = if is_texel_access(&image.op) {
        match descriptor {
            Descriptor::UniformTexelBuffer(buffer) | Descriptor::StorageTexelBuffer(buffer) => {
                routines.prepare_buffer(image, buffer)
            }
            descriptor => routines.prepare_texels(image, &*view(descriptor)?),
        }
    } else {
        let sampler = match image.sampler {
            Some((resource, _)) => bindings.descriptor(resource, elements.sampler)?,
            None => descriptor,
        };
        let (Descriptor::Sampler(sampler) | Descriptor::CombinedImageSampler(_, sampler)) = sampler else {
            return None;
        };
        routines.prepare(image, &view(descriptor)?, sampler)
    };
    Some(Arc::new(Lookup::new(routine?)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_was_looked_up_is_not_looked_up_again() {
        let tables = LookupTables::default();
        let searches = AtomicU32::new(0);
        let find = || {
            searches.fetch_add(1, Ordering::Relaxed);
            LookupEntry { lookup: None, _decoded: None }
        };
        let key = |instruction, elements| LookupKey { instruction, elements };
        let all = || {
            (0..3)
                .flat_map(|number| (0..2000).map(move |image| key(number, ArrayElements { image, sampler: image / 7 })))
        };
        for _ in 0..2 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| all().for_each(|key| assert!(tables.get_or_find(key, find).is_some())));
                }
            });
            assert_eq!(searches.load(Ordering::Relaxed) as usize, all().count());
        }
    }
}
