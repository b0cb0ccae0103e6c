//! Tests of luma and chroma conversion against the specification's equations. The model samples
//! the planes.

use vitric_format::PLANE_ASPECTS;
use vk::SamplerYcbcrModelConversion as Model;

use super::*;

const PLANAR: [vk::Format; 6] = [
    vk::Format::G8_B8_R8_3PLANE_420_UNORM,
    vk::Format::G8_B8R8_2PLANE_420_UNORM,
    vk::Format::G8_B8R8_2PLANE_422_UNORM,
    vk::Format::G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16,
    vk::Format::G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16,
    vk::Format::G16_B16_R16_3PLANE_444_UNORM,
];

fn any_planar(dice: &mut Dice) -> Arc<SurfaceView> {
    let format = dice.pick(&PLANAR);
    let extent = vk::Extent3D { width: dice.pick(&[2, 8, 18]), height: dice.pick(&[2, 10, 16]), depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    let (levels, layers, samples) = (1, 1, 1);
    let desc = SurfaceDesc { kind, format, extent, levels, layers, samples, linear: false, decoded: false };
    let surface = bound(dice, desc);
    let (aspects, swizzle, kind) = (vk::ImageAspectFlags::COLOR, Swizzle::IDENTITY, View::TYPE_2D);
    let (base_level, base_layer, min_lod) = (0, 0, 0.0);
    let desc = SurfaceViewDesc {
        kind,
        format,
        swizzle,
        aspects,
        base_level,
        levels,
        base_layer,
        layers,
        slices: None,
        min_lod,
        decodes_codes: false,
    };
    Arc::new(SurfaceView { surface, desc })
}

fn any_conversion(dice: &mut Dice) -> Conversion {
    let models = [Model::RGB_IDENTITY, Model::YCBCR_IDENTITY, Model::YCBCR_709, Model::YCBCR_601, Model::YCBCR_2020];
    let identical = Swizzle::IDENTITY;
    let exchanged = [identical[2], identical[1], identical[0], Swizzle::One];
    Conversion {
        model: dice.pick(&models),
        range: dice.pick(&[vk::SamplerYcbcrRange::ITU_FULL, vk::SamplerYcbcrRange::ITU_NARROW]),
        components: dice.pick(&[identical, exchanged]),
        chroma_offsets: [0, 1].map(|_| dice.pick(&[vk::ChromaLocation::COSITED_EVEN, vk::ChromaLocation::MIDPOINT])),
        chroma_filter: dice.pick(&[vk::Filter::NEAREST, vk::Filter::LINEAR]),
    }
}

/// Returns the result of sampling a plane at coordinates.
fn of_plane(view: &SurfaceView, plane: usize, sampler: &Sampler, request: &SampleRequest) -> [f64; 4] {
    let info = vitric_format::info(view.desc.format).unwrap();
    let format = info.planar[plane].unwrap().format;
    let desc = SurfaceViewDesc { format, aspects: PLANE_ASPECTS[plane], ..view.desc };
    let view = SurfaceView { surface: view.surface.clone(), desc };
    let texel = Sampling::new(&view, sampler).unwrap().sample(request);
    texel.map(|word| f64::from(f32::from_bits(word)))
}

fn expected(view: &SurfaceView, sampler: &Sampler, request: &SampleRequest) -> [f64; 4] {
    let conversion = sampler.conversion.unwrap();
    let info = vitric_format::info(view.desc.format).unwrap();
    let luma = of_plane(view, 0, sampler, request)[0];
    let mut at = *request;
    let block = info.planes().nth(1).unwrap().block;
    let size = [view.extent(0).width, view.extent(0).height];
    for axis in 0..2 {
        let even = conversion.chroma_offsets[axis] == vk::ChromaLocation::COSITED_EVEN;
        if block[axis] == 2 && even && conversion.chroma_filter == vk::Filter::LINEAR {
            at.coords[axis] += 0.5 / size[axis] as f32;
        }
    }
    let filter = conversion.chroma_filter;
    let chroma = Sampler { mag_filter: filter, min_filter: filter, ..*sampler };
    let second = of_plane(view, 1, &chroma, &at);
    let red = if info.planar[2].is_some() { of_plane(view, 2, &chroma, &at)[0] } else { second[1] };
    let texel = [red, luma, second[0], 1.0];
    let texel = conversion.components.map(|swizzle| match swizzle {
        Swizzle::Component(component) => texel[usize::from(component)],
        _ => 1.0,
    });
    converted(texel, &conversion, info.component_bits(0))
}

/// Converts a texel by the specification's equations.
fn converted([red, green, blue, alpha]: [f64; 4], conversion: &Conversion, bits: u32) -> [f64; 4] {
    if conversion.model == Model::RGB_IDENTITY {
        return [red, green, blue, alpha];
    }
    let (all, step) = (f64::from((1u32 << bits) - 1), f64::from(1u32 << (bits - 8)));
    let [y, cb, cr] = match conversion.range {
        vk::SamplerYcbcrRange::ITU_FULL => {
            let middle = f64::from(1u32 << (bits - 1)) / all;
            [green, blue - middle, red - middle]
        }
        _ => {
            let chroma = |value: f64| (value * all - 128.0 * step) / (224.0 * step);
            [(green * all - 16.0 * step) / (219.0 * step), chroma(blue), chroma(red)]
        }
    };
    let [r, g, b] = match conversion.model {
        Model::YCBCR_709 => [1.5748 * cr, -0.13397432 / 0.7152 * cb - 0.33480248 / 0.7152 * cr, 1.8556 * cb],
        Model::YCBCR_601 => [1.402 * cr, -0.202008 / 0.587 * cb - 0.419198 / 0.587 * cr, 1.772 * cb],
        Model::YCBCR_2020 => [1.4746 * cr, -0.11156702 / 0.6780 * cb - 0.38737742 / 0.6780 * cr, 1.8814 * cb],
        _ => return [cr, y, cb, alpha],
    };
    [y + r, y + g, y + b, alpha]
}

#[test]
fn luma_and_chroma_are_converted() {
    let mut dice = Dice(9);
    for _ in 0..300 {
        let view = any_planar(&mut dice);
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let sampler = Sampler {
            address_mode: [edge; 3],
            conversion: Some(any_conversion(&mut dice)),
            ..any_sampler(&mut dice, false)
        };
        let mut request = Request::new(&view);
        for _ in 0..2 {
            let value = request.floats(|| dice.share() * 1.4 - 0.2);
            request.image.coords.push(value);
        }
        let lod = Lod::Explicit(request.floats(|| dice.share() * 4.0 - 1.0));
        request.image.op = ImageOp::Sample { lod, reference: None };
        let results = request.run(&view, &sampler, Mask::MAX);
        for lane in 0..WAVE {
            let expected = expected(&view, &sampler, &request.of_lane(lane));
            let got = results.map(|words| f64::from(f32::from_bits(words[lane])));
            let good = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 2e-5);
            assert!(
                good,
                "{got:?} for {expected:?}: {:?}\n{:?} {sampler:?}",
                request.of_lane(lane),
                view.surface.desc()
            );
        }
    }
}
