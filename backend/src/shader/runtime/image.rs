//! Image instructions: gathers operands per lane, and calls the texture unit.

use std::sync::Arc;

use super::kernels::{Lanes, Mask, WAVE};
use super::{Descriptor, Environment, Masks, lanes_of};
use crate::memory::SurfaceView;
use crate::shader::ir::{Dim, Image, ImageOp, Lod, Value};
use crate::texture::{self, GatherRequest, LevelOfDetail, SampleRequest, Sampler, Sampling, TexelPosition};

/// Executes an image instruction for the active lanes: up to four results, 0 in all other lanes. `registers` are the
/// operands, by the number of the value.
pub fn image(registers: &[Lanes], masks: Masks, environment: &Environment<'_>, image: &Image) -> [Lanes; 4] {
    let mut results = [[0; WAVE]; 4];
    let lanes = match image.op {
        ImageOp::Write { .. } | ImageOp::Atomic { .. } => masks.effective,
        // Queries may be uniform: every lane has the answer.
        ImageOp::Size { .. } | ImageOp::Levels | ImageOp::Samples => Mask::MAX,
        _ => masks.active,
    };
    let prepared = Prepared::new(registers, environment, image, lanes);
    let call = |lane: usize| Call { registers, environment, image, lane, prepared: prepared.as_ref() };
    if let Some(words) = prepared.as_ref().and_then(|prepared| prepared.wave(registers, image, lanes, &call)) {
        return words;
    }
    for lane in lanes_of(lanes) {
        let call = call(lane);
        let words = call.execute();
        for (result, word) in results.iter_mut().zip(words) {
            result[lane] = word;
        }
    }
    results
}

/// The image and sampler of all lanes, where they are one and the image is sampled.
struct Prepared<'a>(Option<Sampling<'a>>);

impl<'a> Prepared<'a> {
    fn new(registers: &'a [Lanes], environment: &'a Environment<'a>, image: &'a Image, lanes: Mask) -> Option<Self> {
        if !matches!(image.op, ImageOp::Sample { .. } | ImageOp::Gather { .. }) {
            return None;
        }
        let first = lanes_of(lanes).next()?;
        let same = |value: Option<Value>| {
            value.is_none_or(|value| {
                let words = &registers[value.0 as usize];
                lanes_of(lanes).all(|lane| words[lane] == words[first])
            })
        };
        if !same(image.element) || !same(image.sampler.and_then(|(_, element)| element)) {
            return None;
        }
        let call = Call { registers, environment, image, lane: first, prepared: None };
        Some(Self(call.sampling()))
    }
}

impl Prepared<'_> {
    /// All lanes at once, where the texture unit can.
    fn wave<'c>(
        &self,
        registers: &[Lanes],
        image: &Image,
        lanes: Mask,
        call: &impl Fn(usize) -> Call<'c>,
    ) -> Option<[Lanes; 4]> {
        let ImageOp::Sample { lod, reference: None } = &image.op else { return None };
        let ([u, v], true) = (&image.coords[..], image.offset.is_empty()) else { return None };
        let coordinates = [u, v].map(|value| &registers[value.0 as usize]);
        let chosen = |sampling: &Sampling<'_>, lane: usize| {
            let call = call(lane);
            sampling.levels(&call.request(call.level_of_detail(lod), None))
        };
        self.0.as_ref()?.wave(lanes, coordinates, chosen)
    }
}

/// One lane's execution of one instruction.
struct Call<'a> {
    prepared: Option<&'a Prepared<'a>>,
    registers: &'a [Lanes],
    environment: &'a Environment<'a>,
    image: &'a Image,
    lane: usize,
}

impl<'a> Call<'a> {
    fn execute(&self) -> [u32; 4] {
        match &self.image.op {
            ImageOp::Sample { lod, reference } => self.sample(lod, *reference),
            ImageOp::Gather { component, reference, offsets } => self.gather(*component, *reference, *offsets),
            ImageOp::Fetch { level, sample } => self.fetch(*level, *sample),
            ImageOp::Read { sample } => self.read(*sample),
            ImageOp::Write { sample, texel } => self.write(*sample, texel),
            ImageOp::Atomic { op, sample, value, comparator } => {
                let comparator = comparator.map_or(0, |value| self.word(value));
                let position = self.position(0, *sample);
                let operands = (self.word(*value), comparator);
                [texture::atomic(self.descriptor(), position, *op, operands), 0, 0, 0]
            }
            ImageOp::Size { level } => texture::size(self.descriptor(), self.optional(*level), self.image.arrayed),
            ImageOp::Levels => [self.view().map_or(0, |view| view.desc.levels), 0, 0, 0],
            ImageOp::Samples => [self.view().map_or(0, |view| view.surface.desc().samples), 0, 0, 0],
            ImageOp::QueryLod => self.query_lod(),
        }
    }

    fn word(&self, value: Value) -> u32 {
        self.registers[value.0 as usize][self.lane]
    }

    fn float(&self, value: Value) -> f32 {
        f32::from_bits(self.word(value))
    }

    fn optional(&self, value: Option<Value>) -> u32 {
        value.map_or(0, |value| self.word(value))
    }

    fn descriptor(&self) -> Option<&'a Descriptor> {
        let element = self.optional(self.image.element);
        self.environment.bindings.descriptor(self.image.resource, element)
    }

    fn view(&self) -> Option<&'a Arc<SurfaceView>> {
        self.descriptor().and_then(texture::view)
    }

    fn sampler(&self) -> Option<&'a Sampler> {
        let descriptor = match self.image.sampler {
            Some((resource, element)) => self.environment.bindings.descriptor(resource, self.optional(element)),
            None => self.descriptor(),
        };
        match descriptor? {
            Descriptor::Sampler(sampler) | Descriptor::CombinedImageSampler(_, sampler) => Some(sampler),
            _ => None,
        }
    }

    /// Dimensions of a coordinate, without the layer.
    fn dimensions(&self) -> usize {
        self.image.coords.len().saturating_sub(usize::from(self.image.arrayed))
    }

    fn floats(&self, values: &[Value]) -> [f32; 3] {
        let mut out = [0.0; 3];
        for (slot, &value) in out.iter_mut().zip(values) {
            *slot = self.float(value);
        }
        out
    }

    fn offset(&self) -> [i32; 3] {
        let mut out = [0; 3];
        for (slot, &value) in out.iter_mut().zip(&self.image.offset) {
            *slot = self.word(value) as i32;
        }
        out
    }

    fn request(&self, lod: LevelOfDetail, reference: Option<Value>) -> SampleRequest {
        let dimensions = self.dimensions();
        SampleRequest {
            coords: self.floats(&self.image.coords[..dimensions]),
            layer: self.image.coords.get(dimensions).map_or(0.0, |&value| self.float(value)),
            offset: self.offset(),
            lod,
            reference: reference.map(|value| self.float(value)),
        }
    }

    fn level_of_detail(&self, lod: &Lod) -> LevelOfDetail {
        match lod {
            Lod::Explicit(level) => LevelOfDetail::Level(self.float(*level)),
            Lod::Gradient { dx, dy } => LevelOfDetail::Gradient { dx: self.floats(dx), dy: self.floats(dy), bias: 0.0 },
            Lod::Implicit { bias } => {
                let (dx, dy) = self.quad_gradient();
                LevelOfDetail::Gradient { dx, dy, bias: bias.map_or(0.0, |value| self.float(value)) }
            }
        }
    }

    /// Differences of the coordinates along the first row and column of the lane's quad.
    fn quad_gradient(&self) -> ([f32; 3], [f32; 3]) {
        let quad = self.lane & !3;
        let coords = &self.image.coords[..self.dimensions()];
        let mut gradient = ([0.0; 3], [0.0; 3]);
        for (index, &value) in coords.iter().enumerate() {
            let at = |lane: usize| f32::from_bits(self.registers[value.0 as usize][lane]);
            gradient.0[index] = at(quad + 1) - at(quad);
            gradient.1[index] = at(quad + 2) - at(quad);
        }
        gradient
    }

    fn sample(&self, lod: &Lod, reference: Option<Value>) -> [u32; 4] {
        let request = self.request(self.level_of_detail(lod), reference);
        self.with_sampling(|sampling| sampling.sample(&request))
    }

    /// What the lane samples from; `None` where nothing is bound, or of another kind.
    fn sampling(&self) -> Option<Sampling<'a>> {
        Sampling::new(self.view()?, self.sampler()?)
    }

    fn with_sampling(&self, words: impl FnOnce(&Sampling<'_>) -> [u32; 4]) -> [u32; 4] {
        match self.prepared {
            Some(prepared) => prepared.0.as_ref().map_or([0; 4], words),
            None => self.sampling().as_ref().map_or([0; 4], words),
        }
    }

    fn gather(&self, component: Option<Value>, reference: Option<Value>, offsets: Option<[[i32; 2]; 4]>) -> [u32; 4] {
        let request = self.request(LevelOfDetail::Level(0.0), reference);
        let request = GatherRequest { request, component: self.optional(component), offsets };
        self.with_sampling(|sampling| sampling.gather(&request))
    }

    /// Texel coordinates; `level` is of the view.
    fn position(&self, level: u32, sample: Option<Value>) -> TexelPosition {
        let mut coords = [0i32; 3];
        for (slot, &value) in coords.iter_mut().zip(&self.image.coords) {
            *slot = self.word(value) as i32;
        }
        let mut position = TexelPosition { coords: [coords[0], 0, 0], layer: 0, level, sample: self.optional(sample) };
        // A storage cube's third coordinate is its layer and face, arrayed or not.
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
            // Storage cubes are addressed by face (and layer times 6).
            position.layer = std::mem::take(&mut position.coords[2]);
        }
        position
    }

    fn fetch(&self, level: Option<Value>, sample: Option<Value>) -> [u32; 4] {
        let position = self.position(self.optional(level), sample);
        texture::fetch(self.descriptor(), position)
    }

    fn read(&self, sample: Option<Value>) -> [u32; 4] {
        texture::read(self.descriptor(), self.position(0, sample))
    }

    fn write(&self, sample: Option<Value>, texel: &[Value; 4]) -> [u32; 4] {
        let words = texel.map(|value| self.word(value));
        texture::write(self.descriptor(), self.position(0, sample), words);
        [0; 4]
    }

    fn query_lod(&self) -> [u32; 4] {
        let (Some(view), Some(sampler)) = (self.view(), self.sampler()) else { return [0; 4] };
        let request = self.request(self.level_of_detail(&Lod::Implicit { bias: None }), None);
        let [accessed, computed] = texture::query_lod(view, sampler, &request);
        [accessed.to_bits(), computed.to_bits(), 0, 0]
    }
}
