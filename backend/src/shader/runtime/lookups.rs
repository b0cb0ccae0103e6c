//! What was looked up for image instructions: the routine of each, with its image and sampler, by its number.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::image::is_access;
use super::{Bindings, Descriptor};
use crate::shader::ir::Image;
use crate::texture::{self, Lookup, Routines};

/// Elements of the bindings that an instruction takes its image and its sampler from.
pub type Elements = (u32, u32);

/// A look-up that may have found nothing to sample.
type Found = Option<Arc<Lookup>>;

/// Look-ups of one program's image instructions.
#[derive(Debug, Default)]
pub struct Lookups {
    routines: Arc<Routines>,
    /// By the number of the instruction: what it looked up first, which is mostly all it ever does.
    first: Box<[OnceLock<(Elements, Found)>]>,
    others: Mutex<HashMap<(u32, Elements), Found>>,
}

impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self::new(self.routines.clone(), self.first.len())
    }
}

impl Lookups {
    /// Of a program with so many image instructions.
    pub fn new(routines: Arc<Routines>, images: usize) -> Self {
        Self { routines, first: (0..images).map(|_| OnceLock::new()).collect(), others: Mutex::default() }
    }

    /// Calls `work` with what an instruction samples; its operands are numbered from 0 on. `None` when nothing is bound there.
    pub fn with<R>(
        &self,
        bindings: &Bindings,
        image: &Image,
        elements: Elements,
        work: impl FnOnce(Option<&Lookup>) -> R,
    ) -> R {
        let look = || find(&self.routines, bindings, image, elements);
        if let Some(first) = self.first.get(image.number as usize) {
            let (of, found) = first.get_or_init(|| (elements, look()));
            if *of == elements {
                return work(found.as_deref());
            }
        }
        let known = self.others.lock().get(&(image.number, elements)).cloned();
        let found = known.unwrap_or_else(|| {
            let found = look();
            self.others.lock().insert((image.number, elements), found.clone());
            found
        });
        work(found.as_deref())
    }
}

fn find(routines: &Routines, bindings: &Bindings, image: &Image, (of_image, of_sampler): Elements) -> Found {
    let descriptor = bindings.descriptor(image.resource, of_image)?;
    if is_access(&image.op) {
        return match descriptor {
            Descriptor::UniformTexelBuffer(buffer) | Descriptor::StorageTexelBuffer(buffer) => {
                routines.prepare_buffer(image, buffer)
            }
            descriptor => routines.prepare_texels(image, texture::view(descriptor)?),
        }
        .map(Arc::new);
    }
    let sampler = match image.sampler {
        Some((resource, _)) => bindings.descriptor(resource, of_sampler)?,
        None => descriptor,
    };
    let (Descriptor::Sampler(sampler) | Descriptor::CombinedImageSampler(_, sampler)) = sampler else { return None };
    routines.prepare(image, texture::view(descriptor)?, sampler).map(Arc::new)
}
