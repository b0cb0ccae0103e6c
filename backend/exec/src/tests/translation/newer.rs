//! Tests of additions in SPIR-V 1.4 to 1.6, and of the accepted versions.

use ash::vk;
use vitric_spirv::{compile, parse};

use super::scene::{Scene, check_lanes, shader};

#[test]
fn newer_instructions() {
    let mut input = vec![7, 8, 9, 0];
    input.extend(0..16);
    // A buffer that is only in the interface and not used needs no descriptor.
    let out = Scene::new("newer.comp.spv").specialize(&[(0, 16), (1, 0)]).buffer(1, &input).run();
    check_lanes(&out, |lane| {
        let is_even = lane % 2 == 0;
        [
            if is_even { 7 } else { lane },
            if is_even { 9 } else { lane },
            77,
            if lane == 3 { 1 } else { 2 },
            lane.wrapping_sub(3),
            lane.wrapping_sub(2),
            0,
            15 - lane,
            if is_even { 8 } else { 100 },
            [100, 77, 12, 3][lane as usize % 4],
            (0..lane).sum(),
            lane,
        ]
    });
}

#[test]
fn resources_of_the_interface_that_nothing_uses_are_none() {
    let module = parse(&shader("newer.comp.spv")).unwrap();
    let program = compile(&module, "main", vk::ShaderStageFlags::COMPUTE, &Vec::new()).unwrap();
    let bindings: Vec<(u32, u32)> = program.resources.iter().map(|found| (found.set, found.binding)).collect();
    assert_eq!(bindings, [(0, 0), (0, 1)]);
    // The array has 16 elements of three words. The other workgroup variable is not used and takes
    // no memory.
    assert_eq!((program.local_size, program.shared_bytes), ([3, 1, 1], 16 * 3 * 4));
}

#[test]
fn versions_after_the_newest_are_refused() {
    let mut words = shader("newer.comp.spv");
    assert_eq!(words[1], 0x0001_0600);
    for (version, is_read) in [(0x0001_0700, false), (0x0002_0000, false), (0, false), (0x0001_0500, true)] {
        words[1] = version;
        assert_eq!(parse(&words).is_ok(), is_read, "{version:x}");
    }
}

#[test]
fn lines_and_non_semantic_instructions_stand_anywhere() {
    let out = Scene::new("../modules/lines.comp.spv").only_as_compiled().run();
    check_lanes(&out, |lane| [(1..=lane).sum()]);
}
