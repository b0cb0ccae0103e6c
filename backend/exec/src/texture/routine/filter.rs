//! Filtering: nearest and linear in each dimension and between levels, and gathering.
//!
//! Lanes that read the same level are filtered together, so that the level's words are uniform.

use ash::vk;
use vitric_ir::{BinaryOp as B, ImageOp, Inst, Local, TernaryOp as T, Type, UnaryOp as U, Value, elementary};

use super::address::{Level, Tap};
use super::cube::Face;
use super::lod::{AnisotropicSamples, LevelSelection};
use super::texel::{FilterInput, Texel, TexelLocation};
use super::{Layout, RoutineBuilder, word};

/// Position in an image.
#[derive(Clone, Copy)]
pub(super) struct SamplePosition {
    pub(super) coords: [Value; 3],
    pub(super) face: Option<Face>,
    /// Layer, or first face of a cube in an array.
    pub(super) layer: Value,
}

impl RoutineBuilder<'_> {
    /// Returns the results of the instruction.
    pub(super) fn results(&mut self) -> Option<Vec<Value>> {
        let request = self.request;
        let mut results = match &request.op {
            ImageOp::QueryLod => self.query().to_vec(),
            ImageOp::Gather { component, offsets, .. } => self.gathered(*component, *offsets).to_vec(),
            ImageOp::Fetch { level, sample } => self.fetched_texel(*level, *sample).to_vec(),
            ImageOp::Read { sample } => self.fetched_texel(None, *sample).to_vec(),
            ImageOp::Write { sample, texel } => self.write(*texel, *sample).map(|()| Vec::new())?,
            ImageOp::Atomic { op, sample, value, comparator } => self.atomic(*op, [value, comparator], *sample)?,
            _ => self.sampled()?.to_vec(),
        };
        results.truncate(request.results as usize);
        Some(results)
    }

    /// Returns the unmodified coordinates, padded with zeros.
    pub(super) fn coordinates(&mut self) -> [Value; 3] {
        let layer = usize::from(self.request.arrayed);
        let dimensions = self.request.coords.len().saturating_sub(layer);
        self.vector(&self.request.coords[..dimensions.min(3)])
    }

    fn sample_position(&mut self) -> SamplePosition {
        let coords = self.coordinates();
        let mut layer = match self.request.coords.last() {
            Some(&layer) if self.request.arrayed => self.layer(layer),
            _ => self.b.int(0),
        };
        if !self.state.is_cube {
            return SamplePosition { coords, face: None, layer };
        }
        let (face, [s, t]) = self.project(coords);
        let (faces, zero) = (self.b.int(6), self.b.float(0.0));
        layer = self.b.binary(B::IMul, layer, faces);
        if self.state.separate_faces {
            let layer = self.b.binary(B::IAdd, layer, face.number);
            return SamplePosition { coords: [s, t, zero], face: None, layer };
        }
        SamplePosition { coords: [s, t, zero], face: Some(face), layer }
    }

    fn sampled(&mut self) -> Option<Texel> {
        let position = self.sample_position();
        if let Some(conversion) = &self.state.conversion {
            return self.converted(&position, conversion);
        }
        if self.state.ignores_lod() {
            let base = self.b.int(0);
            let level = self.level(base);
            let texel = self.filtered_level(&position, &level, self.state.mag_filter);
            return Some(self.finished(texel));
        }
        let selection = self.select_levels();
        let texel = self.for_each_level(selection.first, |builder, number, result| match selection.samples {
            None => builder.filter_levels(&position, number, &selection, result),
            Some(samples) => builder.average_samples(&position, samples, result, |builder, position, sample| {
                builder.filter_levels(position, number, &selection, sample);
            }),
        });
        Some(self.finished(texel))
    }

    /// Stores the filtered texel of a level, mixed with that of the next level.
    fn filter_levels(&mut self, position: &SamplePosition, number: Value, selection: &LevelSelection, result: Local) {
        let level = self.level(number);
        let first = self.filtered(position, &level, selection.magnifies);
        self.store(result, first);
        let Some(weight) = selection.weight else { return };
        let zero = self.b.float(0.0);
        let mixes = self.b.binary(B::FLt, zero, weight);
        self.b.push(Inst::If { condition: mixes });
        let (one, last) = (self.b.int(1), self.word(word::LAST_LEVEL, Type::I32));
        let next = self.b.binary(B::IAdd, number, one);
        let next = self.b.binary(B::UMin, next, last);
        let level = self.level(next);
        let second = self.filtered(position, &level, selection.magnifies);
        let mixed = self.mix(first, second, weight);
        self.store(result, mixed);
        self.b.push(Inst::EndIf);
    }

    /// Stores the average of samples along the longer axis of a footprint, or the minimum or
    /// maximum of each component.
    fn average_samples(
        &mut self,
        position: &SamplePosition,
        samples: AnisotropicSamples,
        result: Local,
        sample: impl FnOnce(&mut Self, &SamplePosition, Local),
    ) {
        let (number, one_sample) = (self.b.local(1), self.b.local(4));
        let (zero, one, half) = (self.b.float(0.0), self.b.float(1.0), self.b.float(0.5));
        self.b.local_store(number, 0, None, zero);
        self.b.push(Inst::Loop);
        let last = self.b.local_load(number, 0, None, Type::F32);
        let number_of_this = self.b.binary(B::FAdd, last, one);
        self.b.local_store(number, 0, None, number_of_this);
        let intervals = self.b.binary(B::FAdd, samples.count, one);
        let fraction = self.b.binary(B::FDiv, number_of_this, intervals);
        let fraction = self.b.binary(B::FSub, fraction, half);
        let several = self.b.binary(B::FLt, one, samples.count);
        let coords = [0, 1, 2].map(|axis| {
            let moved = self.b.ternary(T::Fma, samples.axis[axis], fraction, position.coords[axis]);
            self.b.select(several, moved, position.coords[axis])
        });
        sample(self, &SamplePosition { coords, ..*position }, one_sample);
        let is_first = self.b.binary(B::FEq, last, zero);
        for component in 0..4 {
            let [sum, this] = [result, one_sample].map(|local| self.b.local_load(local, component, None, Type::F32));
            let joined = self.reduced_pair(sum, this);
            let joined = self.b.select(is_first, this, joined);
            self.b.local_store(result, component, None, joined);
        }
        let is_last = self.b.binary(B::FLe, samples.count, number_of_this);
        self.b.push(Inst::If { condition: is_last });
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
        if self.state.reduction == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            for component in 0..4 {
                let sum = self.b.local_load(result, component, None, Type::F32);
                let average = self.b.binary(B::FDiv, sum, samples.count);
                self.b.local_store(result, component, None, average);
            }
        }
    }

    /// Returns the sum, minimum or maximum of two components.
    fn reduced_pair(&mut self, a: Value, b: Value) -> Value {
        match self.state.reduction {
            vk::SamplerReductionMode::MIN => elementary::min_of_numbers(&mut self.b, a, b),
            vk::SamplerReductionMode::MAX => elementary::max_of_numbers(&mut self.b, a, b),
            _ => self.b.binary(B::FAdd, a, b),
        }
    }

    /// Emits `work` once per distinct level that lanes name, and returns the texel that it stores.
    /// `work` receives the number of the level.
    pub(super) fn for_each_level(&mut self, level: Value, work: impl FnOnce(&mut Self, Value, Local)) -> Texel {
        let (ty, result) = (self.component_type(), self.b.local(4));
        self.b.push(Inst::Loop);
        // The loop selects the level of the first remaining lane.
        let active = self.b.is_active();
        let waiting = self.b.ballot(active);
        let lane = elementary::find_lsb(&mut self.b, waiting);
        let number = self.b.shuffle(level, lane);
        let same = self.b.binary(B::IEq, level, number);
        self.b.push(Inst::If { condition: same });
        work(self, number, result);
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
        [0, 1, 2, 3].map(|component| self.b.local_load(result, component, None, ty))
    }

    pub(super) fn store(&mut self, local: Local, texel: Texel) {
        for (word, value) in (0..).zip(texel) {
            self.b.local_store(local, word, None, value);
        }
    }

    /// Returns a texel of a level, by the magnification or minification filter.
    pub(super) fn filtered(&mut self, position: &SamplePosition, level: &Level, magnifies: Value) -> Texel {
        let (mag, min) = (self.state.mag_filter, self.state.min_filter);
        if mag == min {
            return self.filtered_level(position, level, mag);
        }
        let (ty, result) = (self.component_type(), self.b.local(4));
        self.b.push(Inst::If { condition: magnifies });
        let texel = self.filtered_level(position, level, mag);
        self.store(result, texel);
        self.b.push(Inst::Else);
        let texel = self.filtered_level(position, level, min);
        self.store(result, texel);
        self.b.push(Inst::EndIf);
        [0, 1, 2, 3].map(|component| self.b.local_load(result, component, None, ty))
    }

    pub(super) fn filtered_level(&mut self, position: &SamplePosition, level: &Level, filter: vk::Filter) -> Texel {
        match filter {
            vk::Filter::NEAREST => self.nearest_texel(position, level),
            _ => self.linear(position, level),
        }
    }

    fn nearest_texel(&mut self, position: &SamplePosition, level: &Level) -> Texel {
        let axes = self.state.dimensions;
        let indices: Vec<Value> = (0..axes).map(|axis| self.nearest(position.coords[axis], level, axis)).collect();
        match &position.face {
            Some(face) => self.nearest_on_face(face, position.layer, [indices[0], indices[1]], level),
            None => self.unwrapped(position, level, &indices),
        }
    }

    /// Reads one texel of the selected face. Indices are clamped to the edge, so that no other
    /// face is read.
    fn nearest_on_face(&mut self, face: &Face, layer: Value, indices: [Value; 2], level: &Level) -> Texel {
        let (zero, last) = (self.b.int(0), self.last(level, 0));
        let [x, y] = indices.map(|index| {
            let index = self.b.binary(B::SMax, index, zero);
            self.b.binary(B::SMin, index, last)
        });
        let slice = self.b.binary(B::IAdd, layer, face.number);
        self.texel_at([x, y, slice].map(|index| Tap { index, inside: None }), level)
    }

    /// Returns the texel at indices that are not wrapped yet.
    fn unwrapped(&mut self, position: &SamplePosition, level: &Level, indices: &[Value]) -> Texel {
        if let Some(face) = &position.face {
            return self.texel_of_face(face, position.layer, [indices[0], indices[1]], level);
        }
        let inside = |index: Value| Tap { index, inside: None };
        let zero = self.b.int(0);
        let mut taps = [inside(zero), inside(zero), inside(position.layer)];
        for (axis, &index) in indices.iter().enumerate() {
            taps[axis] = self.wrapped(index, level, axis);
        }
        self.texel_at(taps, level)
    }

    fn texel_of_face(&mut self, face: &Face, layer: Value, indices: [Value; 2], level: &Level) -> Texel {
        let location = self.face_location(face, layer, indices, level);
        self.texel(&location, level)
    }

    fn face_location(&mut self, face: &Face, layer: Value, indices: [Value; 2], level: &Level) -> TexelLocation {
        let [number, x, y] = self.across_edge(face, indices, level);
        let slice = self.b.binary(B::IAdd, layer, number);
        self.location([x, y, slice].map(|index| Tap { index, inside: None }), level)
    }

    fn texel_at(&mut self, taps: [Tap; 3], level: &Level) -> Texel {
        let location = self.location(taps, level);
        self.texel(&location, level)
    }

    fn location(&mut self, [x, y, slice]: [Tap; 3], level: &Level) -> TexelLocation {
        let address = self.has_addresses().then(|| self.address([x, y, slice].map(|tap| tap.index), level));
        TexelLocation { x, y, slice, address }
    }

    fn has_addresses(&self) -> bool {
        !matches!(self.state.layout, Layout::Blocks | Layout::Fetched)
    }

    /// Interpolates along each dimension in turn, x first.
    fn linear(&mut self, position: &SamplePosition, level: &Level) -> Texel {
        if let Some(face) = &position.face {
            return self.linear_on_face(face, position, level);
        }
        let x = self.pair(position.coords[0], level, 0);
        let zero = self.b.int(0);
        let nothing = Tap { index: zero, inside: None };
        let (rows, y_weight) = match self.state.dimensions {
            1 => (vec![nothing], None),
            _ => {
                let pair = self.pair(position.coords[1], level, 1);
                (pair.taps.to_vec(), Some(pair.weight))
            }
        };
        let (slices, z_weight) = match self.state.dimensions {
            3 => {
                let pair = self.pair(position.coords[2], level, 2);
                (pair.taps.to_vec(), Some(pair.weight))
            }
            _ => (vec![Tap { index: position.layer, inside: None }], None),
        };
        let weights: Vec<Value> = std::iter::once(x.weight).chain(y_weight).collect();
        let mut planes = Vec::new();
        for &slice in &slices {
            let mut inputs = Vec::new();
            for &row in &rows {
                let texels = x.taps.map(|column| self.location([column, row, slice], level));
                self.put_row(&mut inputs, texels, (level, x.weight));
            }
            planes.push(self.mixed(&inputs, &weights));
        }
        self.mixed_planes(&planes, z_weight)
    }

    /// Adds two texels of a row. Decoded texels are mixed immediately, because they take more
    /// registers.
    fn put_row(&mut self, inputs: &mut Vec<FilterInput>, texels: [TexelLocation; 2], (level, weight): (&Level, Value)) {
        let pair = texels.map(|location| self.filter_input(&location, level));
        match pair {
            [FilterInput::Words(..), _] => inputs.extend(pair),
            _ => inputs.push(FilterInput::Decoded(self.mixed(&pair, &[weight]))),
        }
    }

    /// Mixes inputs in pairs, and the results again, by the weights of the axes. If the first
    /// axes were mixed before, only the last weights apply.
    fn mixed(&mut self, inputs: &[FilterInput], weights: &[Value]) -> Texel {
        let weights = &weights[weights.len() - inputs.len().ilog2() as usize..];
        [0, 1, 2, 3].map(|component| {
            let mut values: Vec<Value> = inputs.iter().map(|input| self.component_of(input, component)).collect();
            for &weight in weights {
                values = values.chunks(2).map(|pair| self.mix_component(pair[0], pair[1], weight)).collect();
            }
            values[0]
        })
    }

    fn mixed_planes(&mut self, texels: &[Texel], weight: Option<Value>) -> Texel {
        match (texels, weight) {
            (&[first, second], Some(weight)) => self.mix(first, second, weight),
            _ => texels[0],
        }
    }

    fn linear_on_face(&mut self, face: &Face, position: &SamplePosition, level: &Level) -> Texel {
        let [x, y] = [0, 1].map(|axis| self.linear_base(position.coords[axis], level, axis));
        let one = self.b.int(1);
        let [columns, rows] = [x.0, y.0].map(|low| [low, self.b.binary(B::IAdd, low, one)]);
        let mut inputs = Vec::new();
        for row in rows {
            let texels = columns.map(|column| self.face_location(face, position.layer, [column, row], level));
            self.put_row(&mut inputs, texels, (level, x.1));
        }
        self.mixed(&inputs, &[x.1, y.1])
    }

    fn mix(&mut self, a: Texel, b: Texel, weight: Value) -> Texel {
        std::array::from_fn(|component| self.mix_component(a[component], b[component], weight))
    }

    /// Returns `a + (b - a) * weight` with one rounding of product and sum. For other reductions,
    /// returns the minimum or maximum of those values whose weight is not 0 at 8 bits of
    /// precision.
    fn mix_component(&mut self, a: Value, b: Value, weight: Value) -> Value {
        if self.state.reduction == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            let difference = self.b.binary(B::FSub, b, a);
            return self.b.ternary(T::Fma, difference, weight, a);
        }
        let [zero, all] = [0.0, 256.0].map(|bound| self.b.float(bound));
        let steps = self.b.binary(B::FMul, weight, all);
        let steps = self.b.unary(U::RoundEven, steps);
        let (no_b, no_a) = (self.b.binary(B::FEq, steps, zero), self.b.binary(B::FEq, steps, all));
        let joined = self.reduced_pair(a, b);
        let joined = self.b.select(no_a, b, joined);
        self.b.select(no_b, a, joined)
    }

    /// Gathers one component, or comparison results, of the four texels that linear filtering of
    /// level 0 would read. Their order is (0,1), (1,1), (1,0), (0,0).
    fn gathered(&mut self, component: Option<Value>, offsets: Option<[[i32; 2]; 4]>) -> Texel {
        if self.state.excludes_base_level {
            return [self.b.constant(0, self.component_type()); 4];
        }
        let position = self.sample_position();
        let base = self.b.int(0);
        let level = self.level(base);
        let [x, y] = [0, 1].map(|axis| self.linear_base(position.coords[axis], &level, axis).0);
        // Each texel is the (0,0) corner at its own offset.
        let corners = offsets.unwrap_or([[0, 1], [1, 1], [1, 0], [0, 0]]);
        let component = component.map(|component| {
            let (component, mask) = (self.operand(component, Type::I32), self.b.int(3));
            self.b.binary(B::And, component, mask)
        });
        corners.map(|[dx, dy]| {
            let indices = [(x, dx), (y, dy)].map(|(index, step)| {
                let step = self.b.int(step as u32);
                self.b.binary(B::IAdd, index, step)
            });
            let texel = self.unwrapped(&position, &level, &indices);
            let texel = self.finished(texel);
            component.map_or(texel[0], |component| self.component(texel, component))
        })
    }

    fn component(&mut self, texel: Texel, number: Value) -> Value {
        let mut value = texel[0];
        for (index, &other) in (0..).zip(&texel).skip(1) {
            let index = self.b.int(index);
            let is_it = self.b.binary(B::IEq, number, index);
            value = self.b.select(is_it, other, value);
        }
        value
    }
}
