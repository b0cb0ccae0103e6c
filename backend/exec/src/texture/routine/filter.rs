//! Filtering: nearest and linear in each dimension and between levels, and gathering.
//!
//! Lanes that read the same level are filtered together, so that the level's words are uniform.

use ash::vk;
use vitric_ir::{BinaryOp as B, ImageOp, Inst, Local, TernaryOp as T, Type, UnaryOp as U, Value, elementary};

use super::address::{Level, Tap};
use super::cube::Face;
use super::lod::{Chosen, Steps};
use super::texel::{At, Source, Texel};
use super::{Layout, Unit, word};

/// Position in an image.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) coords: [Value; 3],
    pub(super) face: Option<Face>,
    /// Layer, or first face of a cube in an array.
    pub(super) layer: Value,
}

impl Unit<'_> {
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

    fn place(&mut self) -> Place {
        let coords = self.coordinates();
        let mut layer = match self.request.coords.last() {
            Some(&layer) if self.request.arrayed => self.layer(layer),
            _ => self.b.int(0),
        };
        if !self.state.is_cube {
            return Place { coords, face: None, layer };
        }
        let (face, [s, t]) = self.project(coords);
        let (faces, zero) = (self.b.int(6), self.b.float(0.0));
        layer = self.b.binary(B::IMul, layer, faces);
        if self.state.separate_faces {
            let layer = self.b.binary(B::IAdd, layer, face.number);
            return Place { coords: [s, t, zero], face: None, layer };
        }
        Place { coords: [s, t, zero], face: Some(face), layer }
    }

    fn sampled(&mut self) -> Option<Texel> {
        let place = self.place();
        if let Some(conversion) = &self.state.conversion {
            return self.converted(&place, conversion);
        }
        if self.state.ignores_lod() {
            let base = self.b.int(0);
            let level = self.level(base);
            let texel = self.of_level(&place, &level, self.state.mag_filter);
            return Some(self.finished(texel));
        }
        let chosen = self.chosen();
        let texel = self.by_level(chosen.first, |unit, number, result| match chosen.steps {
            None => unit.of_levels(&place, number, &chosen, result),
            Some(steps) => unit.stepwise(&place, steps, result, |unit, place, sample| {
                unit.of_levels(place, number, &chosen, sample);
            }),
        });
        Some(self.finished(texel))
    }

    /// Stores the filtered texel of a level, mixed with that of the next level.
    fn of_levels(&mut self, place: &Place, number: Value, chosen: &Chosen, result: Local) {
        let level = self.level(number);
        let first = self.filtered(place, &level, chosen.magnifies);
        self.store(result, first);
        let Some(share) = chosen.share else { return };
        let zero = self.b.float(0.0);
        let mixes = self.b.binary(B::FLt, zero, share);
        self.b.push(Inst::If { condition: mixes });
        let (one, last) = (self.b.int(1), self.word(word::LAST_LEVEL, Type::I32));
        let next = self.b.binary(B::IAdd, number, one);
        let next = self.b.binary(B::UMin, next, last);
        let level = self.level(next);
        let second = self.filtered(place, &level, chosen.magnifies);
        let mixed = self.mix(first, second, share);
        self.store(result, mixed);
        self.b.push(Inst::EndIf);
    }

    /// Stores the average of samples along the longer axis of a footprint, or the minimum or
    /// maximum of each component.
    fn stepwise(&mut self, place: &Place, steps: Steps, result: Local, sample: impl FnOnce(&mut Self, &Place, Local)) {
        let (number, one_sample) = (self.b.local(1), self.b.local(4));
        let (zero, one, half) = (self.b.float(0.0), self.b.float(1.0), self.b.float(0.5));
        self.b.local_store(number, 0, None, zero);
        self.b.push(Inst::Loop);
        let last = self.b.local_load(number, 0, None, Type::F32);
        let number_of_this = self.b.binary(B::FAdd, last, one);
        self.b.local_store(number, 0, None, number_of_this);
        let spaces = self.b.binary(B::FAdd, steps.count, one);
        let share = self.b.binary(B::FDiv, number_of_this, spaces);
        let share = self.b.binary(B::FSub, share, half);
        let several = self.b.binary(B::FLt, one, steps.count);
        let coords = [0, 1, 2].map(|axis| {
            let moved = self.b.ternary(T::Fma, steps.axis[axis], share, place.coords[axis]);
            self.b.select(several, moved, place.coords[axis])
        });
        sample(self, &Place { coords, ..*place }, one_sample);
        let is_first = self.b.binary(B::FEq, last, zero);
        for component in 0..4 {
            let [sum, this] = [result, one_sample].map(|local| self.b.local_load(local, component, None, Type::F32));
            let joined = self.joined_pair(sum, this);
            let joined = self.b.select(is_first, this, joined);
            self.b.local_store(result, component, None, joined);
        }
        let is_last = self.b.binary(B::FLe, steps.count, number_of_this);
        self.b.push(Inst::If { condition: is_last });
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
        if self.state.reduction == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            for component in 0..4 {
                let sum = self.b.local_load(result, component, None, Type::F32);
                let average = self.b.binary(B::FDiv, sum, steps.count);
                self.b.local_store(result, component, None, average);
            }
        }
    }

    /// Returns the sum, minimum or maximum of two components.
    fn joined_pair(&mut self, a: Value, b: Value) -> Value {
        match self.state.reduction {
            vk::SamplerReductionMode::MIN => elementary::min_of_numbers(&mut self.b, a, b),
            vk::SamplerReductionMode::MAX => elementary::max_of_numbers(&mut self.b, a, b),
            _ => self.b.binary(B::FAdd, a, b),
        }
    }

    /// Emits `work` once per distinct level that lanes name, and returns the texel that it stores.
    /// `work` receives the number of the level.
    pub(super) fn by_level(&mut self, level: Value, work: impl FnOnce(&mut Self, Value, Local)) -> Texel {
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
    pub(super) fn filtered(&mut self, place: &Place, level: &Level, magnifies: Value) -> Texel {
        let (mag, min) = (self.state.mag_filter, self.state.min_filter);
        if mag == min {
            return self.of_level(place, level, mag);
        }
        let (ty, result) = (self.component_type(), self.b.local(4));
        self.b.push(Inst::If { condition: magnifies });
        let texel = self.of_level(place, level, mag);
        self.store(result, texel);
        self.b.push(Inst::Else);
        let texel = self.of_level(place, level, min);
        self.store(result, texel);
        self.b.push(Inst::EndIf);
        [0, 1, 2, 3].map(|component| self.b.local_load(result, component, None, ty))
    }

    pub(super) fn of_level(&mut self, place: &Place, level: &Level, filter: vk::Filter) -> Texel {
        match filter {
            vk::Filter::NEAREST => self.nearest_texel(place, level),
            _ => self.linear(place, level),
        }
    }

    fn nearest_texel(&mut self, place: &Place, level: &Level) -> Texel {
        let axes = self.state.dimensions;
        let indices: Vec<Value> = (0..axes).map(|axis| self.nearest(place.coords[axis], level, axis)).collect();
        match &place.face {
            Some(face) => self.nearest_on_face(face, place.layer, [indices[0], indices[1]], level),
            None => self.unwrapped(place, level, &indices),
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
    fn unwrapped(&mut self, place: &Place, level: &Level, indices: &[Value]) -> Texel {
        if let Some(face) = &place.face {
            return self.texel_of_face(face, place.layer, [indices[0], indices[1]], level);
        }
        let inside = |index: Value| Tap { index, inside: None };
        let zero = self.b.int(0);
        let mut taps = [inside(zero), inside(zero), inside(place.layer)];
        for (axis, &index) in indices.iter().enumerate() {
            taps[axis] = self.wrapped(index, level, axis);
        }
        self.texel_at(taps, level)
    }

    fn texel_of_face(&mut self, face: &Face, layer: Value, indices: [Value; 2], level: &Level) -> Texel {
        let at = self.at_face(face, layer, indices, level);
        self.texel(&at, level)
    }

    fn at_face(&mut self, face: &Face, layer: Value, indices: [Value; 2], level: &Level) -> At {
        let [number, x, y] = self.across_edge(face, indices, level);
        let slice = self.b.binary(B::IAdd, layer, number);
        self.at([x, y, slice].map(|index| Tap { index, inside: None }), level)
    }

    fn texel_at(&mut self, taps: [Tap; 3], level: &Level) -> Texel {
        let at = self.at(taps, level);
        self.texel(&at, level)
    }

    fn at(&mut self, [x, y, slice]: [Tap; 3], level: &Level) -> At {
        let address = self.has_addresses().then(|| self.address([x, y, slice].map(|tap| tap.index), level));
        At { x, y, slice, address }
    }

    fn has_addresses(&self) -> bool {
        !matches!(self.state.layout, Layout::Blocks | Layout::Fetched)
    }

    /// Interpolates along each dimension in turn, x first.
    fn linear(&mut self, place: &Place, level: &Level) -> Texel {
        if let Some(face) = &place.face {
            return self.linear_on_face(face, place, level);
        }
        let x = self.pair(place.coords[0], level, 0);
        let zero = self.b.int(0);
        let nothing = Tap { index: zero, inside: None };
        let (rows, y_share) = match self.state.dimensions {
            1 => (vec![nothing], None),
            _ => {
                let pair = self.pair(place.coords[1], level, 1);
                (pair.taps.to_vec(), Some(pair.share))
            }
        };
        let (slices, z_share) = match self.state.dimensions {
            3 => {
                let pair = self.pair(place.coords[2], level, 2);
                (pair.taps.to_vec(), Some(pair.share))
            }
            _ => (vec![Tap { index: place.layer, inside: None }], None),
        };
        let shares: Vec<Value> = std::iter::once(x.share).chain(y_share).collect();
        let mut planes = Vec::new();
        for &slice in &slices {
            let mut sources = Vec::new();
            for &row in &rows {
                let texels = x.taps.map(|column| self.at([column, row, slice], level));
                self.put_row(&mut sources, texels, (level, x.share));
            }
            planes.push(self.mixed(&sources, &shares));
        }
        self.joined(&planes, z_share)
    }

    /// Adds two texels of a row. Decoded texels are mixed immediately, because they take more
    /// registers.
    fn put_row(&mut self, sources: &mut Vec<Source>, texels: [At; 2], (level, share): (&Level, Value)) {
        let pair = texels.map(|at| self.source(&at, level));
        match pair {
            [Source::Words(..), _] => sources.extend(pair),
            _ => sources.push(Source::Decoded(self.mixed(&pair, &[share]))),
        }
    }

    /// Mixes sources in pairs, and the results again, by the weights of the axes. If the first
    /// axes were mixed before, only the last weights apply.
    fn mixed(&mut self, sources: &[Source], shares: &[Value]) -> Texel {
        let shares = &shares[shares.len() - sources.len().ilog2() as usize..];
        [0, 1, 2, 3].map(|component| {
            let mut values: Vec<Value> = sources.iter().map(|source| self.component_of(source, component)).collect();
            for &share in shares {
                values = values.chunks(2).map(|pair| self.mix_component(pair[0], pair[1], share)).collect();
            }
            values[0]
        })
    }

    fn joined(&mut self, texels: &[Texel], share: Option<Value>) -> Texel {
        match (texels, share) {
            (&[first, second], Some(share)) => self.mix(first, second, share),
            _ => texels[0],
        }
    }

    fn linear_on_face(&mut self, face: &Face, place: &Place, level: &Level) -> Texel {
        let [x, y] = [0, 1].map(|axis| self.between(place.coords[axis], level, axis));
        let one = self.b.int(1);
        let [columns, rows] = [x.0, y.0].map(|low| [low, self.b.binary(B::IAdd, low, one)]);
        let mut sources = Vec::new();
        for row in rows {
            let texels = columns.map(|column| self.at_face(face, place.layer, [column, row], level));
            self.put_row(&mut sources, texels, (level, x.1));
        }
        self.mixed(&sources, &[x.1, y.1])
    }

    fn mix(&mut self, a: Texel, b: Texel, share: Value) -> Texel {
        std::array::from_fn(|component| self.mix_component(a[component], b[component], share))
    }

    /// Returns `a + (b - a) * share` with one rounding of product and sum. For other reductions,
    /// returns the minimum or maximum of those values whose weight is not 0 at 8 bits of
    /// precision.
    fn mix_component(&mut self, a: Value, b: Value, share: Value) -> Value {
        if self.state.reduction == vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            let difference = self.b.binary(B::FSub, b, a);
            return self.b.ternary(T::Fma, difference, share, a);
        }
        let [zero, all] = [0.0, 256.0].map(|bound| self.b.float(bound));
        let steps = self.b.binary(B::FMul, share, all);
        let steps = self.b.unary(U::RoundEven, steps);
        let (no_b, no_a) = (self.b.binary(B::FEq, steps, zero), self.b.binary(B::FEq, steps, all));
        let joined = self.joined_pair(a, b);
        let joined = self.b.select(no_a, b, joined);
        self.b.select(no_b, a, joined)
    }

    /// Gathers one component, or comparison results, of the four texels that linear filtering of
    /// level 0 would read. Their order is (0,1), (1,1), (1,0), (0,0).
    fn gathered(&mut self, component: Option<Value>, offsets: Option<[[i32; 2]; 4]>) -> Texel {
        if self.state.hides_base {
            return [self.b.constant(0, self.component_type()); 4];
        }
        let place = self.place();
        let base = self.b.int(0);
        let level = self.level(base);
        let [x, y] = [0, 1].map(|axis| self.between(place.coords[axis], &level, axis).0);
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
            let texel = self.unwrapped(&place, &level, &indices);
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
