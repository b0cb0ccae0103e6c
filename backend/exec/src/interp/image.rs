//! Image instructions. Routines execute the instructions that sample or access texels, for all
//! lanes that name one image and sampler. Texels that routines do not support are accessed lane by
//! lane.

use std::sync::Arc;

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::{Dim, Image, ImageOp, Value};
use vitric_memory::SurfaceView;

use super::environment::{Access, Environment};
use crate::bindings::{ArrayElements, Lookup};
use crate::runtime::{Descriptor, lanes_of};
use crate::texture::{self, TexelPosition};

impl Access<'_> {
    /// Executes an image instruction for the active lanes.
    ///
    /// Writes up to four results, and 0 to all other lanes. `run_routine` runs the routine of a
    /// lookup for some lanes, and writes their results.
    pub(super) fn image(
        &self,
        image: &Image,
        results: &mut [Lanes; 4],
        run_routine: impl FnMut(&Lookup, Mask, &mut [Lanes; 4]),
    ) {
        *results = [[0; WAVE]; 4];
        let lanes = match image.op {
            // Queries may be uniform, so every lane gets the result.
            ImageOp::Size { level } => return self.query(image, level, results),
            ImageOp::Levels | ImageOp::Samples => return self.query(image, None, results),
            ref op if op.has_effect() => self.masks.effective,
            _ => self.masks.active,
        };
        self.by_routines(image, lanes, results, run_routine);
    }

    /// Answers a query in every lane. Runs it once if all lanes have equal operands.
    fn query(&self, image: &Image, level: Option<Value>, results: &mut [Lanes; 4]) {
        let is_same = |value: Value| *self.lanes(value) == [self.word(value, 0); WAVE];
        if image.element.is_none_or(is_same) && level.is_none_or(is_same) {
            *results = LaneAccess { access: *self, image, lane: 0 }.execute().map(|word| [word; WAVE]);
        } else {
            self.lane_by_lane(image, Mask::MAX, results);
        }
    }

    fn lane_by_lane(&self, image: &Image, lanes: Mask, results: &mut [Lanes; 4]) {
        for lane in lanes_of(lanes) {
            let words = LaneAccess { access: *self, image, lane }.execute();
            for (result, word) in results.iter_mut().zip(words) {
                result[lane] = word;
            }
        }
    }

    /// Runs the routine of each image and sampler that lanes name, for these lanes.
    fn by_routines(
        &self,
        image: &Image,
        lanes: Mask,
        results: &mut [Lanes; 4],
        mut run_routine: impl FnMut(&Lookup, Mask, &mut [Lanes; 4]),
    ) {
        let Environment { bindings, .. } = *self.environment;
        let sampler = image.sampler.and_then(|(_, element)| element);
        let elements = |lane: usize| ArrayElements {
            image: self.optional(image.element, lane),
            sampler: self.optional(sampler, lane),
        };
        let is_single = image.element.is_none() && sampler.is_none();
        let mut rest = lanes;
        while let Some(first) = lanes_of(rest).next() {
            let wanted = elements(first);
            let same = match is_single {
                true => rest,
                false => lanes_of(rest).filter(|&lane| elements(lane) == wanted).fold(0, |mask, lane| mask | 1 << lane),
            };
            rest &= !same;
            bindings.lookups().with(bindings, image, wanted, |lookup| match lookup {
                Some(lookup) => run_routine(lookup, same, results),
                None => self.lane_by_lane(image, same, results),
            });
        }
    }
}

/// Execution of one instruction for one lane.
struct LaneAccess<'a> {
    access: Access<'a>,
    image: &'a Image,
    lane: usize,
}

impl<'a> LaneAccess<'a> {
    fn execute(&self) -> [u32; 4] {
        match &self.image.op {
            ImageOp::Fetch { level, sample } => self.fetch(*level, *sample),
            ImageOp::Read { sample } => self.read(*sample),
            ImageOp::Write { sample, texel } => self.write(*sample, texel),
            ImageOp::Atomic { op, sample, value, comparator } => {
                let position = self.position(0, *sample);
                let operands = [self.operand(value), self.operand(comparator)];
                let before = texture::atomic(self.descriptor(), position, *op, operands, value.len() as u32 * 4);
                [before as u32, (before >> 32) as u32, 0, 0]
            }
            ImageOp::Size { level } => texture::size(self.descriptor(), self.optional(*level), self.image.arrayed),
            ImageOp::Levels => [self.view().map_or(0, |view| view.desc.levels), 0, 0, 0],
            ImageOp::Samples => [self.view().map_or(0, |view| view.surface.desc().samples), 0, 0, 0],
            ImageOp::Sample { .. } | ImageOp::Gather { .. } | ImageOp::QueryLod => [0; 4],
        }
    }

    fn word(&self, value: Value) -> u32 {
        self.access.word(value, self.lane)
    }

    /// Returns a number of one or two words, or 0 for an empty slice.
    fn operand(&self, words: &[Value]) -> u64 {
        words.iter().rev().fold(0, |number, &word| number << 32 | u64::from(self.word(word)))
    }

    fn optional(&self, value: Option<Value>) -> u32 {
        self.access.optional(value, self.lane)
    }

    fn descriptor(&self) -> Option<&'a Descriptor> {
        let element = self.optional(self.image.element);
        self.access.environment.bindings.descriptor(self.image.resource, element)
    }

    fn view(&self) -> Option<&'a Arc<SurfaceView>> {
        self.descriptor().and_then(Descriptor::view)
    }

    /// Returns the number of coordinate dimensions, without the layer.
    fn dimensions(&self) -> usize {
        self.image.coords.len().saturating_sub(usize::from(self.image.arrayed))
    }

    fn offset(&self) -> [i32; 3] {
        let mut out = [0; 3];
        for (slot, &value) in out.iter_mut().zip(&self.image.offset) {
            *slot = self.word(value) as i32;
        }
        out
    }

    /// Returns the texel's position. `level` is relative to the view.
    fn position(&self, level: u32, sample: Option<Value>) -> TexelPosition {
        let mut coords = [0i32; 3];
        for (slot, &value) in coords.iter_mut().zip(&self.image.coords) {
            *slot = self.word(value) as i32;
        }
        let mut position = TexelPosition { coords: [coords[0], 0, 0], layer: 0, level, sample: self.optional(sample) };
        // A storage cube's third coordinate is its layer and face, whether it is an array or not.
        let dimensions = if self.image.dim == Dim::Cube { 3 } else { self.dimensions() };
        for (index, &coordinate) in coords.iter().enumerate().take(dimensions).skip(1) {
            position.coords[index] = coordinate;
        }
        if self.image.arrayed && self.image.dim != Dim::Cube {
            position.layer = coords[dimensions];
        }
        for (slot, offset) in position.coords.iter_mut().zip(self.offset()) {
            *slot = slot.wrapping_add(offset);
        }
        if self.image.dim == Dim::Cube {
            // Storage cubes are addressed by face, plus 6 times the layer.
            position.layer = std::mem::take(&mut position.coords[2]);
        }
        position
    }

    fn fetch(&self, level: Option<Value>, sample: Option<Value>) -> [u32; 4] {
        let position = self.position(self.optional(level), sample);
        texture::fetch(self.descriptor(), position)
    }

    fn read(&self, sample: Option<Value>) -> [u32; 4] {
        // A single-sampled attachment of a multisampled pass has the same value for every sample.
        let is_one = || self.view().is_some_and(|view| view.surface.desc().samples == 1);
        let sample = sample.filter(|_| self.image.dim != Dim::Subpass || !is_one());
        texture::read(self.descriptor(), self.position(0, sample))
    }

    fn write(&self, sample: Option<Value>, texel: &[Value; 4]) -> [u32; 4] {
        let words = texel.map(|value| self.word(value));
        texture::write(self.descriptor(), self.position(0, sample), words);
        [0; 4]
    }
}
