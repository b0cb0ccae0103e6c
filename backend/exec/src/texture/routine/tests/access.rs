//! Tests of access to single texels against the functions that process one lane.

use vitric_ir::AtomicOp;
use vitric_memory::{Buffer, BufferRange, BufferView};

use super::*;
use crate::texture::access::{TexelPosition, atomic, read, write};

/// Creates a view of any kind, or a view of a multisampled image.
fn any_texels(dice: &mut Dice) -> Arc<SurfaceView> {
    if dice.below(4) > 0 {
        return any_view(dice);
    }
    let format = dice.pick(&[vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT, vk::Format::R16G16B16A16_SFLOAT]);
    let samples = dice.pick(&[2, 4, 8, 16]);
    let [width, height] = [0, 1].map(|_| dice.pick(&[1, 7, 20]));
    let extent = vk::Extent3D { width, height, depth: 1 };
    let (kind, layers) = (vk::ImageType::TYPE_2D, 2);
    let desc = SurfaceDesc { kind, format, extent, levels: 1, layers, samples, linear: false, decoded: false };
    let surface = bound(dice, desc);
    let (aspects, swizzle, kind) = (vk::ImageAspectFlags::COLOR, Swizzle::IDENTITY, View::TYPE_2D_ARRAY);
    let desc = SurfaceViewDesc {
        kind,
        format,
        swizzle,
        aspects,
        base_level: 0,
        levels: 1,
        base_layer: 0,
        layers,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    };
    Arc::new(SurfaceView { surface, desc })
}

impl Request {
    /// Creates an instruction for a texel whose position is mostly in bounds. Returns it with its
    /// sample operand.
    fn of_texel(view: &SurfaceView, dice: &mut Dice) -> (Self, Option<Value>) {
        let mut request = Self::new(view);
        if request.image.dim == Dim::Cube {
            // Storage images of cubes are addressed with the face as third coordinate.
            request.image.arrayed = false;
        }
        for _ in 0..request.dimensions + usize::from(request.image.arrayed) {
            let value = request.integers(|| dice.below(20).wrapping_sub(2));
            request.image.coords.push(value);
        }
        let samples = view.surface.desc().samples;
        let sample = (samples > 1).then(|| request.integers(|| dice.below(samples + 1)));
        (request, sample)
    }

    fn word(&self, value: Option<Value>, lane: usize) -> u32 {
        value.map_or(0, |value| self.operands[value.0 as usize][lane])
    }

    fn position(&self, sample: Option<Value>, level: Option<Value>, lane: usize) -> TexelPosition {
        let mut coords = [0, 1, 2].map(|index| self.word(self.image.coords.get(index).copied(), lane) as i32);
        let layer = match self.image.dim {
            Dim::Cube => std::mem::take(&mut coords[2]),
            _ if self.image.arrayed => std::mem::take(&mut coords[self.dimensions]),
            _ => 0,
        };
        for (coordinate, &offset) in coords.iter_mut().zip(&self.image.offset) {
            *coordinate += self.word(Some(offset), lane) as i32;
        }
        TexelPosition { coords, layer, level: self.word(level, lane), sample: self.word(sample, lane) }
    }
}

const LANES: Mask = 0xbffd;

#[test]
fn texels_are_fetched_as_one_lane_reads_them() {
    let (mut dice, mut checked) = (Dice(6), 0);
    for _ in 0..600 {
        let view = any_texels(&mut dice);
        let (mut request, sample) = Request::of_texel(&view, &mut dice);
        let level = (sample.is_none() && dice.below(2) == 0).then(|| request.integers(|| dice.below(4)));
        if request.image.dim != Dim::Cube && dice.below(3) == 0 {
            for _ in 0..request.dimensions {
                let offset = request.operand([dice.below(5).wrapping_sub(2); WAVE]);
                request.image.offset.push(offset);
            }
        }
        request.image.op = ImageOp::Fetch { level, sample };
        let Some(lookup) = Routines::default().prepare_texels(&request.image, &view) else {
            assert_eq!(view.desc.format, vk::Format::BC1_RGBA_UNORM_BLOCK);
            continue;
        };
        checked += 1;
        let results = request.run_on(lookup, LANES);
        let descriptor = Descriptor::SampledImage(view.clone());
        for lane in 0..WAVE {
            let position = request.position(sample, level, lane);
            let expected = if LANES >> lane & 1 != 0 { read(Some(&descriptor), position) } else { [7; 4] };
            let got = results.map(|words| words[lane]);
            assert_eq!(got, expected, "{position:?} of {:?}\n{:?}", view.desc, view.surface.desc());
        }
    }
    assert!(checked > 400);
}

/// Returns the bytes of a view's memory.
pub(super) fn bytes_of(view: &SurfaceView) -> Vec<u8> {
    let (memory, start) = view.surface.binding().unwrap();
    let mut bytes = vec![0; view.surface.layout().size() as usize];
    memory.read(start, &mut bytes);
    bytes
}

#[test]
fn texels_are_written_as_one_lane_writes_them() {
    let (mut dice, mut checked) = (Dice(7), 0);
    for _ in 0..600 {
        let view = any_texels(&mut dice);
        let info = vitric_format::info(view.desc.format).unwrap();
        if info.is_depth_stencil() || info.compression.is_some() {
            continue;
        }
        let (mut request, sample) = Request::of_texel(&view, &mut dice);
        let updates = info.bytes == 4 && info.class == vitric_format::Class::Uint && dice.below(2) == 0;
        let texel = [0; 4].map(|_: u32| match info.class.is_integer() {
            true => request.integers(|| dice.word()),
            false => request.floats(|| dice.share() * 3.0 - 1.0),
        });
        request.image.op = match updates {
            true => ImageOp::Atomic { op: AtomicOp::Add, sample, value: vec![texel[0]], comparator: Vec::new() },
            false => ImageOp::Write { sample, texel },
        };
        request.image.results = u32::from(updates);
        let Some(lookup) = Routines::default().prepare_texels(&request.image, &view) else { panic!("no routine") };
        checked += 1;
        let before = bytes_of(&view);
        let results = request.run_on(lookup, LANES);
        let after = bytes_of(&view);
        let (memory, start) = view.surface.binding().unwrap();
        memory.write(start, &before);
        let descriptor = Some(Descriptor::StorageImage(view.clone()));
        for lane in (0..WAVE).filter(|lane| LANES >> lane & 1 != 0) {
            let position = request.position(sample, None, lane);
            let words = texel.map(|value| request.word(Some(value), lane));
            if updates {
                let old = atomic(descriptor.as_ref(), position, AtomicOp::Add, [u64::from(words[0]), 0], 4);
                assert_eq!(u64::from(results[0][lane]), old);
            } else {
                write(descriptor.as_ref(), position, words);
            }
        }
        assert!(after == bytes_of(&view), "{:?}\n{:?}", view.desc, view.surface.desc());
    }
    assert!(checked > 300);
}

#[test]
fn buffers_of_texels_end_where_their_range_ends() {
    let mut dice = Dice(8);
    let formats = FORMATS.into_iter().filter(|format| format.as_raw() < vk::Format::D16_UNORM.as_raw());
    for format in formats.chain([vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32B32_SINT]) {
        let texel_bytes = u64::from(vitric_format::info(format).unwrap().bytes);
        let memory = Allocation::new(&Heap::new(1 << 16), 4096).unwrap();
        memory.write(0, &(0..4096).map(|_| dice.word() as u8 & 0x7b).collect::<Vec<_>>());
        let buffer = Buffer::new(2048);
        assert!(buffer.bind(memory, 64));
        let range = BufferRange::new(buffer, 32, 5 * texel_bytes);
        let view = Arc::new(BufferView { range, format });
        let image = Image { dim: Dim::Buffer, ..Request::new(&any_view(&mut dice)).image };
        let mut request = Request { image, operands: Vec::new(), dimensions: 1 };
        request.image.arrayed = false;
        let index = request.integers(|| dice.below(8).wrapping_sub(1));
        request.image.coords.push(index);
        request.image.op = ImageOp::Read { sample: None };
        let lookup = Routines::default().prepare_buffer(&request.image, &view).unwrap();
        let results = request.run_on(lookup, Mask::MAX);
        let descriptor = Descriptor::StorageTexelBuffer(view);
        for lane in 0..WAVE {
            let expected = read(Some(&descriptor), request.position(None, None, lane));
            assert_eq!(results.map(|words| words[lane]), expected, "{format:?}");
        }
    }
}
