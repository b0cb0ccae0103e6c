//! Tests of image instructions in a compute program. It samples a 4×4 float image and stores to an
//! integer image.

use std::sync::Arc;

use ash::vk;
use vitric_memory::{Surface, SurfaceDesc, SurfaceView, SurfaceViewDesc, Swizzle};

use super::scene::{Scene, check_lanes};
use crate::runtime::{Descriptor, Sampler};

/// Returns texel (x, y) of the sampled image.
pub(super) fn texel(x: u32, y: u32) -> f32 {
    (y * 4 + x) as f32
}

pub(super) fn view(scene: &Scene, format: vk::Format, word: impl Fn(u32, u32) -> u32) -> Arc<SurfaceView> {
    let extent = vk::Extent3D { width: 4, height: 4, depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    let desc = SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
    let surface = Surface::new(desc).unwrap();
    assert!(surface.bind(scene.memory(), 0));
    for index in 0..16 {
        let (x, y) = (index % 4, index / 4);
        surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap().write_word(x, y, 0, word(x, y));
    }
    let desc = SurfaceViewDesc {
        kind: vk::ImageViewType::TYPE_2D,
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
    Arc::new(SurfaceView { surface, desc })
}

pub(super) fn nearest() -> Arc<Sampler> {
    Arc::new(Sampler {
        mag_filter: vk::Filter::NEAREST,
        min_filter: vk::Filter::NEAREST,
        mipmap_mode: vk::SamplerMipmapMode::NEAREST,
        address_mode: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
        max_lod: 16.0,
        ..Sampler::default()
    })
}

fn run() -> Vec<u32> {
    let scene = Scene::new("images.comp.spv");
    let picture = view(&scene, vk::Format::R32_SFLOAT, |x, y| texel(x, y).to_bits());
    let target = view(&scene, vk::Format::R32_UINT, |_, _| 0);
    let scene = scene.descriptor(2, Descriptor::CombinedImageSampler(picture, nearest()));
    scene.descriptor(3, Descriptor::StorageImage(target)).run()
}

#[test]
fn images_are_fetched_sampled_and_stored() {
    check_lanes(&run(), |lane| {
        let (x, y) = (lane % 4, lane / 4);
        let (right, down) = ((x + 1).min(3), (y + 1).min(3));
        // The gathered texels are at (0,1), (1,1) and (1,0) of the footprint.
        let gathered = texel(x, down) + texel(right, down) * 100.0 + texel(right, y) * 10000.0;
        [
            texel(x, y).to_bits(),
            if x == 0 { 0 } else { texel(x - 1, y).to_bits() },
            texel(x, y).to_bits(),
            texel(x, y).to_bits(),
            gathered.to_bits(),
            44 + 100 + 4000,
            lane * 5,
            lane * 5 + (lane * 5 + 3) * 1000,
        ]
    });
}

#[test]
fn image_atomics_change_the_texel() {
    assert_eq!(run()[128..144], [9; 16]);
}

#[test]
fn texels_of_floats_take_atomics() {
    let scene = Scene::new("texels.comp.spv");
    let view = view(&scene, vk::Format::R32_SFLOAT, |x, y| (x as f32 + y as f32 * 10.0).to_bits());
    let fill = view.clone();
    let start = move || {
        let plane = fill.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
        for (x, y) in (0..plane.height()).flat_map(|y| (0..plane.width()).map(move |x| (x, y))) {
            plane.write_word(x, y, 0, (x as f32 + y as f32 * 10.0).to_bits());
        }
    };
    let out = scene.descriptor(1, Descriptor::StorageImage(view)).addresses(Arc::default(), start).run();
    for lane in 0..16 {
        let texel = (lane % 4) as f32 + (lane / 4) as f32 * 10.0;
        assert_eq!(out[lane * 2..][..2], [texel, texel + 0.25].map(f32::to_bits), "lane {lane}");
    }
    assert_eq!(out[32], 0, "outside of the image nothing is added");
}
