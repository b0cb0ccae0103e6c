//! Tests of exact sampling results on small surfaces.

use std::sync::Arc;

use vitric_memory::{Allocation, Heap, Surface, SurfaceDesc, SurfaceViewDesc, Swizzle};

use super::*;
use crate::runtime::border;

/// Creates a view of `levels` levels of a surface of this size. `value` returns the bytes of each
/// texel from its level, layer and position.
pub(in crate::texture) fn view(
    kind: vk::ImageViewType,
    format: vk::Format,
    [width, height, layers]: [u32; 3],
    levels: u32,
    value: impl Fn(u32, u32, u32, u32) -> [u8; 4],
) -> Arc<SurfaceView> {
    let volume = kind == vk::ImageViewType::TYPE_3D;
    let (depth, layers) = if volume { (layers, 1) } else { (1, layers) };
    let extent = vk::Extent3D { width, height, depth };
    let image = if volume { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D };
    let desc = SurfaceDesc { kind: image, format, extent, levels, layers, samples: 1, linear: false, decoded: false };
    let surface = Surface::new(desc).unwrap();
    let memory = Allocation::new(&Heap::new(1 << 24), surface.layout().size()).unwrap();
    assert!(surface.bind(memory, 0));
    let info = vitric_format::info(format).unwrap();
    let aspects = info.aspects();
    for level in 0..levels {
        for slice in 0..layers.max(surface.level_extent(level).depth) {
            let plane = surface.plane(aspects, level, slice).unwrap();
            for y in 0..plane.height() {
                for x in 0..plane.width() {
                    plane.write(x, y, 0, &value(level, slice, x, y)[..plane.bytes()]);
                }
            }
        }
    }
    let swizzle = Swizzle::IDENTITY;
    let desc = SurfaceViewDesc {
        kind,
        format,
        swizzle,
        aspects,
        base_level: 0,
        levels,
        base_layer: 0,
        layers,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    };
    Arc::new(SurfaceView { surface, desc })
}

pub(in crate::texture) fn sampler(filter: vk::Filter, mode: vk::SamplerAddressMode) -> Sampler {
    Sampler {
        mag_filter: filter,
        min_filter: filter,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        address_mode: [mode; 3],
        max_lod: 100.0,
        border: border(vk::BorderColor::FLOAT_OPAQUE_WHITE),
        ..Sampler::default()
    }
}

fn sample(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> [u32; 4] {
    Sampling::new(view, sampler).unwrap().sample(request)
}

fn gather(view: &SurfaceView, sampler: &Sampler, request: &GatherRequest) -> [u32; 4] {
    Sampling::new(view, sampler).unwrap().gather(request)
}

const CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_EDGE;

fn at(coords: [f32; 3]) -> SampleRequest {
    SampleRequest { coords, layer: 0.0, offset: [0; 3], lod: LevelOfDetail::Level(0.0), reference: None }
}

fn floats(texel: [u32; 4]) -> [f32; 4] {
    texel.map(f32::from_bits)
}

fn row() -> Arc<SurfaceView> {
    let value = |_, _, x: u32, _| [[0, 255, 51, 102][x as usize], 0, 0, 0];
    view(vk::ImageViewType::TYPE_2D, vk::Format::R8_UNORM, [4, 1, 1], 1, value)
}

#[test]
fn nearest_and_linear_meet_texel_centres() {
    let view = row();
    for (filter, expected) in [(vk::Filter::NEAREST, 1.0), (vk::Filter::LINEAR, 0.5)] {
        let sampler = sampler(filter, CLAMP);
        assert_eq!(floats(sample(&view, &sampler, &at([0.375, 0.5, 0.0]))), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(floats(sample(&view, &sampler, &at([0.25, 0.5, 0.0]))), [expected, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn borders_have_the_components_of_the_format() {
    let sampler = sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::CLAMP_TO_BORDER);
    assert_eq!(floats(sample(&row(), &sampler, &at([1.25, 0.5, 0.0]))), [1.0, 0.0, 0.0, 1.0]);
    let none = Sampler { border: border(vk::BorderColor::FLOAT_TRANSPARENT_BLACK), ..sampler };
    assert_eq!(floats(sample(&row(), &none, &at([1.25, 0.5, 0.0]))), [0.0, 0.0, 0.0, 1.0]);
    let rgba = view(vk::ImageViewType::TYPE_2D, vk::Format::R8G8B8A8_UNORM, [1, 1, 1], 1, |_, _, _, _| [7; 4]);
    assert_eq!(floats(sample(&rgba, &none, &at([-0.5, 0.5, 0.0]))), [0.0; 4]);
}

#[test]
fn levels_follow_gradient_bias_and_clamps() {
    let value = |level: u32, _, _, _| [level as u8 * 51, 0, 0, 0];
    let view = view(vk::ImageViewType::TYPE_2D, vk::Format::R8_UNORM, [8, 8, 1], 4, value);
    let linear = sampler(vk::Filter::LINEAR, CLAMP);
    let sampled = |sampler: &Sampler, lod| {
        let red = f32::from_bits(sample(&view, sampler, &SampleRequest { lod, ..at([0.5; 3]) })[0]);
        (red * 500.0).round() / 100.0
    };
    let gradient = |step: f32, bias| LevelOfDetail::Gradient { dx: [step, 0.0, 0.0], dy: [0.0, step / 2.0, 0.0], bias };
    assert_eq!(sampled(&linear, LevelOfDetail::Level(1.5)), 1.5);
    assert_eq!(sampled(&linear, gradient(0.25, 0.0)), 1.0);
    assert_eq!(sampled(&linear, gradient(0.25, 0.75)), 1.75);
    assert_eq!(sampled(&Sampler { max_lod: 0.25, ..linear }, gradient(1.0, 0.0)), 0.25);
    assert_eq!(sampled(&Sampler { min_lod: 2.0, ..linear }, gradient(0.01, 0.0)), 2.0);
    let nearest = Sampler { mipmap_mode: vk::SamplerMipmapMode::NEAREST, ..linear };
    for (level, expected) in [(0.0, 0.0), (0.4, 0.0), (0.5, 1.0), (1.4, 1.0), (1.5, 2.0), (2.5, 3.0), (9.0, 3.0)] {
        assert_eq!(sampled(&nearest, LevelOfDetail::Level(level)), expected, "{level}");
    }
    let request = SampleRequest { lod: gradient(4.0, 0.0), ..at([0.5; 3]) };
    assert_eq!(query_lod(&view, &linear, &request), [3.0, 5.0]);
}

#[test]
fn layers_slices_and_faces_are_found() {
    let value = |_, slice: u32, _, _| [slice as u8 * 51, 0, 0, 0];
    let array = view(vk::ImageViewType::TYPE_2D_ARRAY, vk::Format::R8_UNORM, [2, 2, 6], 1, value);
    let nearest = sampler(vk::Filter::NEAREST, CLAMP);
    let layer = |layer| f32::from_bits(sample(&array, &nearest, &SampleRequest { layer, ..at([0.5; 3]) })[0]);
    assert_eq!([layer(-3.0), layer(1.5), layer(2.5), layer(4.4), layer(9.0)], [0.0, 0.4, 0.4, 0.8, 1.0]);
    let volume = view(vk::ImageViewType::TYPE_3D, vk::Format::R8_UNORM, [1, 1, 2], 1, value);
    let linear = sampler(vk::Filter::LINEAR, CLAMP);
    assert_eq!(floats(sample(&volume, &linear, &at([0.5, 0.5, 0.5])))[0], 0.1);
    let cube = view(vk::ImageViewType::CUBE, vk::Format::R8_UNORM, [2, 2, 6], 1, value);
    let face = |direction| f32::from_bits(sample(&cube, &linear, &at(direction))[0]);
    assert_eq!([face([1.0, 0.0, 0.0]), face([0.1, -1.0, 0.1]), face([0.0, 0.2, -3.0])], [0.0, 0.6, 1.0]);
    // The direction meets the edge between +x and +z, whose values are 0 and 0.8.
    assert!((face([1.0, 0.0, 1.0]) - 0.4).abs() < 1e-6);
}

/// Nearest filtering reads one texel of the face that the tie rule selects, with its index
/// clamped. Linear filtering reads texels of both faces at the edge.
#[test]
fn directions_to_edges_and_corners_of_a_cube_stay_on_their_face() {
    let value = |_, slice: u32, x: u32, y: u32| [(slice * 16 + y * 4 + x) as u8, 0, 0, 0];
    let cube = view(vk::ImageViewType::CUBE, vk::Format::R8_UNORM, [4, 4, 6], 1, value);
    let (nearest, linear) = (sampler(vk::Filter::NEAREST, CLAMP), sampler(vk::Filter::LINEAR, CLAMP));
    let code = |word: u32| (f32::from_bits(word) * 255.0).round() as u32;
    for (direction, face) in cube::TIES {
        assert_eq!(code(sample(&cube, &nearest, &at(direction))[0]) / 16, face, "{direction:?}");
        let gathering = GatherRequest { request: at(direction), component: 0, offsets: None };
        let faces = gather(&cube, &linear, &gathering).map(|word| code(word) / 16);
        assert!(faces.contains(&face) && faces.iter().any(|&other| other != face), "{direction:?}: {faces:?}");
    }
    // Last column and third row of +y, then last column and first row of -z.
    let texel = |direction| code(sample(&cube, &nearest, &at(direction))[0]);
    assert_eq!([texel([1.0, 1.0, 0.0]), texel([-1.0, 1.0, -1.0])], [2 * 16 + 2 * 4 + 3, 5 * 16 + 3]);
}

#[test]
fn comparison_filters_results_and_gather_orders_texels() {
    let depth = view(vk::ImageViewType::TYPE_2D, vk::Format::D16_UNORM, [2, 2, 1], 1, |_, _, x, y| {
        let code = [0u16, 0x4000, 0x8000, 0xffff][(y * 2 + x) as usize].to_le_bytes();
        [code[0], code[1], 0, 0]
    });
    let sampler = Sampler { compare: Some(vk::CompareOp::LESS), ..sampler(vk::Filter::LINEAR, CLAMP) };
    let request = SampleRequest { reference: Some(0.4), ..at([0.5; 3]) };
    assert_eq!(floats(sample(&depth, &sampler, &request))[0], 0.5);
    let beyond = SampleRequest { reference: Some(7.0), ..request };
    assert_eq!(floats(sample(&depth, &sampler, &beyond))[0], 0.0);
    let gathering = GatherRequest { request, component: 0, offsets: None };
    assert_eq!(floats(gather(&depth, &sampler, &gathering)), [1.0, 1.0, 0.0, 0.0]);
    let plain = GatherRequest { request: SampleRequest { reference: None, ..request }, ..gathering };
    let codes = floats(gather(&depth, &sampler, &plain)).map(|depth| (depth * 65535.0).round() as u32);
    assert_eq!(codes, [0x8000, 0xffff, 0x4000, 0]);
}

#[test]
fn absurd_coordinates_are_defined() {
    let view = row();
    for mode in [CLAMP, vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::MIRRORED_REPEAT] {
        for filter in [vk::Filter::NEAREST, vk::Filter::LINEAR] {
            for coordinate in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e30] {
                let request = SampleRequest { offset: [i32::MAX; 3], layer: coordinate, ..at([coordinate; 3]) };
                let red = f32::from_bits(sample(&view, &sampler(filter, mode), &request)[0]);
                assert!((0.0..=1.0).contains(&red));
            }
        }
    }
}
