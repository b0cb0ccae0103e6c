//! Tests of values with many words, arrays of images, and constants that index out of range.

use ash::vk;
use vitric_spirv::{compile, parse};

use super::images::{nearest, texel, view};
use super::scene::{Scene, check_lanes, shader};
use crate::Program;
use crate::runtime::Descriptor;

/// Number of words in each buffer that the test uses.
const WORDS: u32 = 1024;

#[test]
fn values_of_many_words_are_copied_as_wholes() {
    let many: Vec<u32> = (0..WORDS).map(|word| if word < 4 { 0 } else { word - 4 + 100 }).collect();
    let colours: Vec<u32> = (0..WORDS).collect();
    let scene = Scene::new("../modules/large.comp.spv").only_as_compiled().buffer(1, &many).uniforms(2, &colours);
    check_lanes(&scene.run(), |lane| {
        let made = |seed: u32, at: u32| at * seed + 1;
        let swapped = lane % 2 == 1;
        let [one, other] = [made(lane, 2), made(lane + 1, 2)];
        let (one, other) = if swapped { (other, one) } else { (one, other) };
        [
            lane + 100 + 5000,
            lane * 4 + 1,
            made(lane, 4999) + made(lane + 1, lane),
            made(if lane < 5 { lane + 1 } else { lane }, 3),
            one + other * 1000,
            2 * lane * lane + 1000,
            2 * lane + 7700,
            9 + lane * 100 + lane * 70_000,
            2499 + lane,
        ]
    });
}

#[test]
fn composites_of_many_words_are_taken_apart_and_changed() {
    let input: Vec<u32> = (0..WORDS).map(|word| word * 3).collect();
    let out = Scene::new("../modules/parts.comp.spv").only_as_compiled().buffer(1, &input).run();
    for lane in 0..16 {
        // The array's words are every second one, starting with the fifth.
        let second = if lane == 3 { 0 } else { lane };
        let tag = if lane % 2 == 1 { 7 } else { 0 };
        let expected = [0, 30, 30, lane, second, tag, lane + 10_000];
        let found = &out[lane as usize * 8..][..7];
        assert_eq!(found[..2], expected[..2], "lane {lane}");
        // One lane stores a value that other lanes may load before or after.
        assert!(found[2] == 30 || found[2] == 7, "lane {lane}");
        assert_eq!(found[3..], expected[3..], "lane {lane}");
    }
}

#[test]
fn arrays_of_images_are_values() {
    let scene = Scene::new("../modules/arrays.comp.spv").only_as_compiled();
    let images: Vec<_> = (0..3u32)
        .map(|image| view(&scene, vk::Format::R32_SFLOAT, |x, y| (texel(x, y) + 100.0 * image as f32).to_bits()))
        .collect();
    let pairs: Vec<_> =
        (0..4u32).map(|image| view(&scene, vk::Format::R32_SFLOAT, |_, _| (1000.0 * image as f32).to_bits())).collect();
    let scene = images.into_iter().fold(scene, |scene, image| scene.descriptor(1, Descriptor::SampledImage(image)));
    let scene = scene.descriptor(2, Descriptor::Sampler(nearest()));
    let scene = pairs
        .into_iter()
        .fold(scene, |scene, image| scene.descriptor(3, Descriptor::CombinedImageSampler(image, nearest())));
    check_lanes(&scene.run(), |lane| [200.0 + lane as f32, 100.0, 3000.0, 1000.0].map(|value: f32| value.to_bits()));
}

#[test]
fn constants_that_index_out_of_range_give_zeros() {
    let module = parse(&shader("../modules/outside.frag.spv")).unwrap();
    let shader = compile(&module, "main", vk::ShaderStageFlags::FRAGMENT, &Vec::new()).unwrap();
    let program = Program::new(shader, "main");
    let text = program.code.function().to_string();
    assert!(!text.contains("Input"), "nothing of another input is read: {text}");
    assert_eq!(program.outputs.len(), 4);
}
