//! Tests of routines against the model, which samples one lane after the other.

mod access;
mod blocks;
mod convert;
mod inlined;

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_codegen::Target;
use vitric_ir::{BinaryOp, Dim, ImageOp, Lod};
use vitric_memory::{Allocation, Heap, Surface, SurfaceDesc, SurfaceViewDesc};

use super::*;
use crate::bindings::{Bindings, Lookup};
use crate::interp::{Environment, Stop, Wave};
use crate::runtime::Deadline;
use crate::texture::reference::{self, GatherRequest, LevelOfDetail, SampleRequest, Sampling};

/// Deterministic generator of pseudorandom words.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn share(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    fn coordinate(&mut self) -> f32 {
        match self.below(16) {
            0 => self.pick(&[0.0, 1.0, -1.0, 0.5, 1.0e12, -1.0e12, f32::INFINITY, f32::NAN]),
            _ => self.share() * 5.0 - 2.0,
        }
    }
}

use vk::ImageViewType as View;

const KINDS: [View; 6] =
    [View::TYPE_1D, View::TYPE_2D, View::TYPE_3D, View::CUBE, View::TYPE_2D_ARRAY, View::CUBE_ARRAY];

const FORMATS: [vk::Format; 11] = [
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::R8_UNORM,
    vk::Format::R16_SNORM,
    vk::Format::R5G6B5_UNORM_PACK16,
    vk::Format::R16G16B16A16_SFLOAT,
    vk::Format::R32G32B32A32_SFLOAT,
    vk::Format::R8G8_UINT,
    vk::Format::D16_UNORM,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::BC1_RGBA_UNORM_BLOCK,
];

const REDUCTIONS: [vk::SamplerReductionMode; 3] =
    [vk::SamplerReductionMode::WEIGHTED_AVERAGE, vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX];

/// Creates a surface of pseudorandom bytes.
fn bound(dice: &mut Dice, desc: SurfaceDesc) -> Arc<Surface> {
    let surface = Surface::new(desc).unwrap();
    let memory = Allocation::new(&Heap::new(1 << 24), surface.layout().size() + 64).unwrap();
    let bytes: Vec<u8> = (0..surface.layout().size() + 64).map(|_| dice.word() as u8 & 0x7b).collect();
    memory.write(0, &bytes);
    assert!(surface.bind(memory, 64));
    surface
}

fn any_view(dice: &mut Dice) -> Arc<SurfaceView> {
    let (kind, format) = (dice.pick(&KINDS), dice.pick(&FORMATS));
    any_view_of(dice, kind, format)
}

fn any_view_of(dice: &mut Dice, kind: View, format: vk::Format) -> Arc<SurfaceView> {
    let image = match kind {
        View::TYPE_1D => vk::ImageType::TYPE_1D,
        View::TYPE_3D => vk::ImageType::TYPE_3D,
        _ => vk::ImageType::TYPE_2D,
    };
    let is_cube = matches!(kind, View::CUBE | View::CUBE_ARRAY);
    let [width, height, depth] = [0, 1, 2].map(|_| dice.pick(&[1, 4, 8, 13, 16]));
    let extent = vk::Extent3D {
        width,
        height: if image == vk::ImageType::TYPE_1D {
            1
        } else if is_cube {
            width
        } else {
            height
        },
        depth: if image == vk::ImageType::TYPE_3D { depth } else { 1 },
    };
    let (levels, unused) = (1 + dice.below(3).min(width.ilog2()), dice.below(2));
    let layers = match kind {
        View::CUBE => 6,
        View::CUBE_ARRAY => 12,
        View::TYPE_2D_ARRAY => 3,
        _ => 1,
    };
    let spare = if image == vk::ImageType::TYPE_3D { 0 } else { unused };
    let linear = kind == View::TYPE_2D && levels == 1 && dice.below(4) == 0;
    let (layers_of_all, decoded) = (layers + spare, !linear);
    let desc = SurfaceDesc { kind: image, format, extent, levels, layers: layers_of_all, samples: 1, linear, decoded };
    let surface = bound(dice, desc);
    let aspects: Vec<_> = vitric_format::info(format).unwrap().planes().map(|plane| plane.aspect).collect();
    let aspects = if aspects.len() == 1 { aspects[0] } else { dice.pick(&aspects) };
    let swizzle = match dice.below(3) {
        0 => [Swizzle::Component(2), Swizzle::One, Swizzle::Zero, Swizzle::Component(0)],
        _ => Swizzle::IDENTITY,
    };
    let base_level = dice.below(levels);
    let levels = levels - base_level;
    let min_lod = dice.pick(&[0.0, 0.0, 0.5, 1.0, 1.75f32]).min((levels - 1) as f32);
    let desc = SurfaceViewDesc {
        kind,
        format,
        swizzle,
        aspects,
        base_level,
        levels,
        base_layer: spare,
        layers,
        slices: None,
        min_lod,
        decodes_codes: false,
    };
    Arc::new(SurfaceView { surface, desc })
}

fn any_sampler(dice: &mut Dice, is_depth: bool) -> Sampler {
    use vk::SamplerAddressMode as Mode;
    let filters = [vk::Filter::NEAREST, vk::Filter::LINEAR];
    let modes =
        [Mode::REPEAT, Mode::MIRRORED_REPEAT, Mode::CLAMP_TO_EDGE, Mode::CLAMP_TO_BORDER, Mode::MIRROR_CLAMP_TO_EDGE];
    Sampler {
        mag_filter: dice.pick(&filters),
        min_filter: dice.pick(&filters),
        mipmap_mode: dice.pick(&[vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR]),
        address_mode: [0, 1, 2].map(|_| dice.pick(&modes)),
        mip_lod_bias: dice.pick(&[0.0, 0.25]),
        max_anisotropy: None,
        compare: is_depth.then(|| vk::CompareOp::from_raw(dice.below(8) as i32)),
        min_lod: dice.pick(&[0.0, 0.5]),
        max_lod: dice.pick(&[0.25, 100.0]),
        border: dice.pick(&[[1.0f32.to_bits(); 4], [0; 4], [0.25f32, 0.5, 0.75, 0.125].map(f32::to_bits)]),
        unnormalized_coordinates: false,
        reduction: vk::SamplerReductionMode::WEIGHTED_AVERAGE,
        separate_faces: dice.below(3) == 0,
        conversion: None,
    }
}

/// Instruction with its operands numbered in order, and the lanes of each operand.
struct Request {
    image: Image,
    operands: Vec<Lanes>,
    dimensions: usize,
}

impl Request {
    fn new(view: &SurfaceView) -> Self {
        let (dim, dimensions) = match view.desc.kind {
            View::TYPE_1D => (Dim::D1, 1),
            View::TYPE_3D => (Dim::D3, 3),
            View::CUBE | View::CUBE_ARRAY => (Dim::Cube, 3),
            _ => (Dim::D2, 2),
        };
        let arrayed = matches!(view.desc.kind, View::TYPE_2D_ARRAY | View::CUBE_ARRAY);
        let image = Image {
            op: ImageOp::QueryLod,
            resource: 0,
            element: None,
            sampler: None,
            dim,
            arrayed,
            coords: Vec::new(),
            offset: Vec::new(),
            number: 0,
            result: Value(0),
            results: 4,
        };
        Self { image, operands: Vec::new(), dimensions }
    }

    fn operand(&mut self, lanes: Lanes) -> Value {
        self.operands.push(lanes);
        Value(self.operands.len() as u32 - 1)
    }

    fn integers(&mut self, mut value: impl FnMut() -> u32) -> Value {
        let lanes = std::array::from_fn(|_| value());
        self.operand(lanes)
    }

    fn floats(&mut self, mut value: impl FnMut() -> f32) -> Value {
        let lanes = std::array::from_fn(|_| value().to_bits());
        self.operand(lanes)
    }

    fn coordinates(&mut self, dice: &mut Dice) {
        for _ in 0..self.dimensions {
            let value = self.floats(|| dice.coordinate());
            self.image.coords.push(value);
        }
        if self.image.arrayed {
            let value = self.floats(|| dice.share() * 5.0 - 1.0);
            self.image.coords.push(value);
        }
        if self.image.dim != Dim::Cube && dice.below(3) == 0 {
            for _ in 0..self.dimensions {
                let value = self.operand([(dice.below(16) as i32 - 8) as u32; WAVE]);
                self.image.offset.push(value);
            }
        }
    }

    fn float(&self, value: Value, lane: usize) -> f32 {
        f32::from_bits(self.operands[value.0 as usize][lane])
    }

    fn vector(&self, values: &[Value], lane: usize) -> [f32; 3] {
        std::array::from_fn(|index| values.get(index).map_or(0.0, |&value| self.float(value, lane)))
    }

    /// Returns the request of one lane for the model.
    fn of_lane(&self, lane: usize) -> SampleRequest {
        let coords = &self.image.coords;
        let (reference, lod) = match &self.image.op {
            ImageOp::Sample { lod, reference } => (*reference, lod.clone()),
            ImageOp::Gather { reference, .. } => (*reference, Lod::Explicit(coords[0])),
            _ => (None, Lod::Implicit { bias: None }),
        };
        SampleRequest {
            coords: self.vector(&coords[..self.dimensions], lane),
            layer: coords.get(self.dimensions).map_or(0.0, |&layer| self.float(layer, lane)),
            offset: std::array::from_fn(|index| {
                self.image.offset.get(index).map_or(0, |value| self.operands[value.0 as usize][lane] as i32)
            }),
            lod: self.level_of_detail(&lod, lane),
            reference: reference.map(|value| self.float(value, lane)),
        }
    }

    fn level_of_detail(&self, lod: &Lod, lane: usize) -> LevelOfDetail {
        match lod {
            Lod::Explicit(level) => LevelOfDetail::Level(self.float(*level, lane)),
            Lod::Gradient { dx, dy } => {
                LevelOfDetail::Gradient { dx: self.vector(dx, lane), dy: self.vector(dy, lane), bias: 0.0 }
            }
            Lod::Implicit { bias } => {
                let coords = &self.image.coords[..self.dimensions];
                let at = |lane: usize| self.vector(coords, lane);
                let quad = lane & !3;
                let difference = |to: usize| std::array::from_fn(|index| at(to)[index] - at(quad)[index]);
                let bias = bias.map_or(0.0, |bias| self.float(bias, lane));
                LevelOfDetail::Gradient { dx: difference(quad + 1), dy: difference(quad + 2), bias }
            }
        }
    }

    /// Runs the routine for the lanes of a mask.
    fn run(&self, view: &Arc<SurfaceView>, sampler: &Sampler, lanes: Mask) -> [Lanes; 4] {
        let lookup = Routines::default().prepare(&self.image, view, sampler).unwrap();
        self.run_on(lookup, lanes)
    }

    fn run_on(&self, routine: BoundRoutine, lanes: Mask) -> [Lanes; 4] {
        let lookup = Lookup::new(routine);
        let deadline = Deadline::after(std::time::Duration::from_secs(100));
        let environment = Environment { push: &lookup.push, ..Environment::new(&lookup.bindings, &deadline) };
        let mut inputs = self.operands.clone();
        inputs.resize(MAX_OPERANDS, [0; WAVE]);
        let mut results = [[7; WAVE]; 4];
        Wave::default().call(&lookup.routine.program, &environment, lanes, &inputs, &mut results);
        results
    }
}

fn close(a: u32, b: u32, exact: bool) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || !exact && ((x - y).abs() <= 2e-5 * y.abs().max(1.0) || x.is_nan() && y.is_nan())
}

fn check(request: &Request, view: &Arc<SurfaceView>, sampler: &Sampler, expected: impl Fn(usize) -> [u32; 4]) {
    let lanes = 0xbffd;
    let results = request.run(view, sampler, lanes);
    let integer = vitric_format::info(view.desc.format).unwrap().class.is_integer();
    let exact = integer && request.image.op != ImageOp::QueryLod;
    for lane in 0..WAVE {
        let expected = if lanes >> lane & 1 != 0 { expected(lane) } else { [7; 4] };
        let got = results.map(|words| words[lane]);
        let count = request.image.results as usize;
        let same = (0..count).all(|index| close(got[index], expected[index], exact));
        assert!(
            same,
            "lane {lane}: {:?} for {:?} ({got:x?} for {expected:x?})\n{:?}\n{:?}\n{sampler:?}\n{:?}",
            got.map(f32::from_bits),
            expected.map(f32::from_bits),
            request.of_lane(lane),
            view.desc,
            view.surface.desc(),
        );
    }
}

fn is_depth(view: &SurfaceView) -> bool {
    view.desc.aspects == vk::ImageAspectFlags::DEPTH
}

#[test]
fn sampling_at_given_levels() {
    let mut dice = Dice(1);
    for _ in 0..600 {
        let view = any_view(&mut dice);
        let compares = is_depth(&view) && dice.below(2) == 0;
        let sampler = any_sampler(&mut dice, compares);
        let sampler = Sampler { reduction: dice.pick(&REDUCTIONS[..if compares { 1 } else { 3 }]), ..sampler };
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        let lod = Lod::Explicit(request.floats(|| dice.share() * 4.0 - 1.0));
        let reference = compares.then(|| request.floats(|| dice.share() * 1.5 - 0.25));
        request.image.op = ImageOp::Sample { lod, reference };
        request.image.results = if compares { 1 } else { 4 };
        let sampling = Sampling::new(&view, &sampler).unwrap();
        check(&request, &view, &sampler, |lane| sampling.sample(&request.of_lane(lane)));
    }
}

/// Creates a view of a row of texels.
fn row(dice: &mut Dice, format: vk::Format, width: u32) -> Arc<SurfaceView> {
    let (image, extent) = (vk::ImageType::TYPE_1D, vk::Extent3D { width, height: 1, depth: 1 });
    let surface =
        SurfaceDesc { kind: image, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
    let desc = SurfaceViewDesc {
        kind: View::TYPE_1D,
        format,
        swizzle: Swizzle::IDENTITY,
        aspects: vk::ImageAspectFlags::COLOR,
        base_level: 0,
        levels: 1,
        base_layer: 0,
        layers: 1,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    };
    Arc::new(SurfaceView { surface: bound(dice, surface), desc })
}

/// Sizes that are not powers of two use estimated quotients. The test checks indices at multiples
/// of the size and next to them.
#[test]
fn repeated_images_turn_after_whole_sizes() {
    let mut dice = Dice(9);
    let kinds = [(vk::Format::R32_UINT, vk::Filter::NEAREST), (vk::Format::R16_UNORM, vk::Filter::LINEAR)];
    let modes = [vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::MIRRORED_REPEAT];
    for width in [1, 3, 5, 7, 13, 100, 641, 1023, 2049, 4095, 12345, 16383] {
        for ((format, filter), mode) in kinds.into_iter().flat_map(|kind| modes.map(|mode| (kind, mode))) {
            let (view, any) = (row(&mut dice, format, width), any_sampler(&mut dice, false));
            let sampler = Sampler {
                mag_filter: filter,
                min_filter: filter,
                address_mode: [mode; 3],
                unnormalized_coordinates: true,
                ..any
            };
            let sampling = Sampling::new(&view, &sampler).unwrap();
            for reach in [3, (1 << 22) / width as i32 - 1] {
                let mut request = Request::new(&view);
                let mut texel =
                    || (dice.below(2 * reach as u32) as i32 - reach) * width as i32 + dice.below(3) as i32 - 1;
                let place = request.floats(|| texel() as f32 + 0.5);
                request.image.coords.push(place);
                let offset = request.operand([dice.pick(&[0, 63, -64i32 as u32]); WAVE]);
                request.image.offset.push(offset);
                let lod = Lod::Explicit(request.floats(|| 0.0));
                request.image.op = ImageOp::Sample { lod, reference: None };
                check(&request, &view, &sampler, |lane| sampling.sample(&request.of_lane(lane)));
            }
        }
    }
}

#[test]
fn sampling_by_gradients() {
    let mut dice = Dice(2);
    for _ in 0..400 {
        let view = any_view(&mut dice);
        let sampler = any_sampler(&mut dice, false);
        // The computed logarithms may differ in their last bits, which must not select another
        // level or filter.
        let (min_filter, mipmap_mode) = (sampler.mag_filter, vk::SamplerMipmapMode::LINEAR);
        let max_anisotropy = dice.pick(&[None, Some(1.0), Some(3.5), Some(16.0)]);
        // With several levels, the weight decides which levels a minimum or maximum includes, and
        // weights differ slightly.
        let reduction = dice.pick(&REDUCTIONS[..if view.desc.levels > 1 { 1 } else { 3 }]);
        let sampler = Sampler { min_filter, mipmap_mode, max_anisotropy, reduction, ..sampler };
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        let implicit = dice.below(2) == 0;
        let lod = if implicit {
            let bias = (dice.below(2) == 0).then(|| request.floats(|| dice.share() * 2.0 - 1.0));
            Lod::Implicit { bias }
        } else {
            let mut gradient =
                || -> Vec<Value> { (0..request.dimensions).map(|_| request.floats(|| dice.share() - 0.5)).collect() };
            let dx = gradient();
            Lod::Gradient { dx, dy: gradient() }
        };
        request.image.op = ImageOp::Sample { lod, reference: None };
        let sampling = Sampling::new(&view, &sampler).unwrap();
        check(&request, &view, &sampler, |lane| sampling.sample(&request.of_lane(lane)));
    }
}

/// Checks that samples and gathers at edges and corners of cubes equal those of the model.
#[test]
fn cube_edges_and_corners() {
    let (mut dice, ties) = (Dice(16), reference::TIES);
    let at = |lane: usize, component: usize| ties[(lane * 7 + 3) % ties.len()].0[component];
    for _ in 0..200 {
        let view = any_view(&mut dice);
        if !matches!(view.desc.kind, View::CUBE | View::CUBE_ARRAY) {
            continue;
        }
        let sampler = Sampler { separate_faces: false, ..any_sampler(&mut dice, false) };
        let (mut request, scale) = (Request::new(&view), dice.pick(&[1.0f32, 0.37, 12.5]));
        let first = dice.below(ties.len() as u32) as usize;
        for component in 0..3 {
            let mut lane = first;
            let value = request.floats(|| {
                lane += 1;
                at(lane, component) * scale
            });
            request.image.coords.push(value);
        }
        if request.image.arrayed {
            let layer = request.floats(|| 1.0);
            request.image.coords.push(layer);
        }
        let lod = Lod::Explicit(request.floats(|| 0.0));
        request.image.op = ImageOp::Sample { lod, reference: None };
        let sampling = Sampling::new(&view, &sampler).unwrap();
        check(&request, &view, &sampler, |lane| sampling.sample(&request.of_lane(lane)));
        request.image.op = ImageOp::Gather { component: None, reference: None, offsets: None };
        check(&request, &view, &sampler, |lane| {
            sampling.gather(&GatherRequest { request: request.of_lane(lane), component: 0, offsets: None })
        });
    }
}

#[test]
fn gathering() {
    let mut dice = Dice(3);
    for _ in 0..400 {
        let view = any_view(&mut dice);
        if matches!(view.desc.kind, View::TYPE_1D | View::TYPE_3D) {
            continue;
        }
        let compares = is_depth(&view) && dice.below(2) == 0;
        let sampler = any_sampler(&mut dice, compares);
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        let number = dice.below(4);
        let component = (!compares).then(|| request.operand([number; WAVE]));
        let reference = compares.then(|| request.floats(|| dice.share()));
        let apart = request.image.dim == Dim::D2 && dice.below(3) == 0;
        let offsets = apart.then(|| [0, 1, 2, 3].map(|_| [0, 1].map(|_| dice.below(16) as i32 - 8)));
        request.image.op = ImageOp::Gather { component, reference, offsets };
        let sampling = Sampling::new(&view, &sampler).unwrap();
        check(&request, &view, &sampler, |lane| {
            sampling.gather(&GatherRequest { request: request.of_lane(lane), component: number, offsets })
        });
    }
}

#[test]
fn queries_of_the_level_of_detail() {
    let mut dice = Dice(4);
    for _ in 0..100 {
        let view = any_view(&mut dice);
        let max_anisotropy = dice.pick(&[None, Some(4.0)]);
        let mipmap_mode = vk::SamplerMipmapMode::LINEAR;
        let sampler = Sampler { mipmap_mode, max_anisotropy, ..any_sampler(&mut dice, false) };
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        request.image.offset.clear();
        request.image.results = 2;
        check(&request, &view, &sampler, |lane| {
            let [accessed, lod] = reference::query_lod(&view, &sampler, &request.of_lane(lane));
            [accessed.to_bits(), lod.to_bits(), 0, 0]
        });
    }
}

#[test]
fn routines_are_compiled_once() {
    let mut dice = Dice(5);
    let (view, sampler) = (any_view(&mut dice), any_sampler(&mut dice, false));
    let mut request = Request::new(&view);
    request.coordinates(&mut dice);
    let routines = Routines::default();
    let programs = [(); 2].map(|()| routines.prepare(&request.image, &view, &sampler).unwrap().routine);
    assert!(Arc::ptr_eq(&programs[0], &programs[1]));
    request.image.resource = 9;
    assert!(Arc::ptr_eq(&programs[0], &routines.prepare(&request.image, &view, &sampler).unwrap().routine));
}

/// Returns a program that samples in a region that some lanes skip, and again after it. It writes
/// twelve words.
fn sampling_twice(request: &Request) -> Program {
    let mut b = Builder::new();
    (0..request.operands.len() as u32).for_each(|slot| assert_eq!(b.input(slot, Type::I32), Value(slot)));
    let (lane, one, zero, kept) = (b.lane(), b.int(1), b.int(0), b.local(8));
    let odd = b.binary(BinaryOp::And, lane, one);
    let condition = b.binary(BinaryOp::INe, odd, zero);
    b.push(Inst::If { condition });
    let neighbour = b.binary(BinaryOp::Xor, lane, one);
    for (word, result) in (0..).zip(b.image(request.image.clone(), Type::I32)) {
        b.local_store(kept, word, None, result);
        // The value comes from a lane that did not sample.
        let other = b.shuffle(result, neighbour);
        b.local_store(kept, 4 + word, None, other);
    }
    b.push(Inst::EndIf);
    let kept = [0, 1, 2, 3, 4, 5, 6, 7].map(|word| b.local_load(kept, word, None, Type::I32));
    let again = b.image(Image { number: 1, ..request.image.clone() }, Type::I32);
    for (slot, value) in (0..).zip(kept.into_iter().chain(again)) {
        b.push(Inst::Output { slot, value });
    }
    Program::routine(b.finish(), &vec![LaneVariance::Divergent; request.operands.len()], 12)
}

/// The runtime looks up the routine at the first call. Afterwards code for the chosen target
/// enters the routine directly. Code for other targets calls the runtime each time.
#[test]
fn code_enters_the_routines_that_were_found() {
    let mut dice = Dice(8);
    let deadline = Deadline::after(std::time::Duration::from_secs(100));
    for _ in 0..40 {
        let view = any_view(&mut dice);
        let sampler = any_sampler(&mut dice, is_depth(&view));
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        let level = request.floats(|| dice.share() * 6.0 - 1.0);
        request.image.op = ImageOp::Sample { lod: Lod::Explicit(level), reference: None };
        let mut program = sampling_twice(&request);
        let descriptor = Bound::Other(Descriptor::CombinedImageSampler(view.clone(), Arc::new(sampler)));
        let (lanes, mut expected) = (0xbffd, None);
        let targets = [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported()).map(Some);
        for target in std::iter::once(None).chain(targets) {
            program.code.generate(target).unwrap();
            let bindings = Bindings::new(vec![vec![descriptor.clone()]]).with_routines(Arc::default(), 2);
            let mut wave = Wave::default();
            for _ in 0..3 {
                wave.start(&program, lanes, 0);
                wave.inputs.copy_from_slice(&request.operands);
                assert_eq!(wave.run(&program, &Environment::new(&bindings, &deadline)), Stop::Done);
                let lane_of = |words: &Lanes, lane: usize| if lanes >> lane & 1 != 0 { words[lane] } else { 0 };
                let of_lanes = |words: &Lanes| -> Lanes { std::array::from_fn(|lane| lane_of(words, lane)) };
                let outputs: Vec<Lanes> = wave.outputs.iter().map(of_lanes).collect();
                let expected = expected.get_or_insert_with(|| outputs.clone());
                assert_eq!(&outputs, expected, "{target:?}, {:?}, {sampler:?}", view.desc);
            }
        }
    }
}

#[test]
fn views_that_reach_beyond_their_memory_are_found() {
    let mut dice = Dice(6);
    for _ in 0..300 {
        let view = any_view(&mut dice);
        let reader = Reader::new(&view).unwrap();
        let memory = view.memory(reader.aspect()).unwrap();
        let end = memory.start + last_byte(&reader).unwrap() + 1;
        let of_size = |size: u64| {
            let surface = Surface::new(*view.surface.desc()).unwrap();
            assert!(surface.bind(Allocation::new(&Heap::new(1 << 24), size).unwrap(), 64));
            let view = SurfaceView { surface, desc: view.desc };
            let reader = Reader::new(&view).unwrap();
            Layout::new(&reader, &view.memory(reader.aspect()).unwrap())
        };
        let expected = match reader.is_compressed() {
            true => [Layout::Blocks; 2],
            false => [Layout::in_memory(&reader), Layout::Fetched],
        };
        assert_eq!([end, end - 1].map(of_size), expected);
    }
}
