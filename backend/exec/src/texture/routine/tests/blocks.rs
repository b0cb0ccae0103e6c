//! Tests of sampling compressed images. Results have equal bits for texels that are decoded in
//! advance and for texels that are decoded one at a time.

use vitric_memory::DecodedCache;

use super::*;

const COMPRESSED: [vk::Format; 8] = [
    vk::Format::BC1_RGB_UNORM_BLOCK,
    vk::Format::BC2_SRGB_BLOCK,
    vk::Format::BC4_UNORM_BLOCK,
    vk::Format::BC5_SNORM_BLOCK,
    vk::Format::BC6H_UFLOAT_BLOCK,
    vk::Format::EAC_R11G11_UNORM_BLOCK,
    vk::Format::EAC_R11_SNORM_BLOCK,
    vk::Format::ASTC_5X4_UNORM_BLOCK,
];

/// Returns a view of the decoded texels of another view's surface.
fn decoded(view: &SurfaceView) -> Option<Arc<SurfaceView>> {
    let used = view.surface.use_decoded(&DecodedCache::new(1 << 20), &view.desc)?;
    Some(Arc::new(SurfaceView { surface: used.surface().clone(), desc: view.desc }))
}

#[test]
fn blocks_are_sampled_like_their_decoded_texels() {
    let (mut dice, mut compared) = (Dice(11), 0);
    for number in 0..600 {
        let kind = dice.pick(&[View::TYPE_2D, View::TYPE_3D, View::CUBE, View::TYPE_2D_ARRAY]);
        let view = any_view_of(&mut dice, kind, COMPRESSED[number % COMPRESSED.len()]);
        let is_astc = view.desc.format == vk::Format::ASTC_5X4_UNORM_BLOCK;
        let desc = SurfaceViewDesc { decodes_codes: is_astc && dice.below(2) == 0, ..view.desc };
        let view = Arc::new(SurfaceView { surface: view.surface.clone(), desc });
        let Some(texels) = decoded(&view) else { continue };
        let max_anisotropy = dice.pick(&[None, Some(4.0)]);
        let sampler = Sampler { reduction: dice.pick(&REDUCTIONS), max_anisotropy, ..any_sampler(&mut dice, false) };
        let mut request = Request::new(&view);
        request.coordinates(&mut dice);
        request.image.op = match dice.below(3) {
            0 if !matches!(kind, View::TYPE_3D) => {
                let component = Some(request.operand([dice.below(4); WAVE]));
                ImageOp::Gather { component, reference: None, offsets: None }
            }
            1 => ImageOp::Sample { lod: Lod::Implicit { bias: None }, reference: None },
            _ => {
                let lod = Lod::Explicit(request.floats(|| dice.share() * 4.0 - 1.0));
                ImageOp::Sample { lod, reference: None }
            }
        };
        request.image.results = 4;
        let [one, other] = [&view, &texels].map(|view| request.run(view, &sampler, 0xbffd));
        assert_eq!(one, other, "{:?}\n{sampler:?}\n{:?}", view.desc, view.surface.desc());
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}
