//! `SampleMask` before and after the fragment tests.

use ash::vk;

use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const COVERAGE: &[u8] = shader!("coverage.frag");
const EARLY_COVERAGE: &[u8] = shader!("early_coverage.frag");
const POST_DEPTH: &[u8] = shader!("post_depth.frag");
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

/// Returns a rectangle with the depth test "less" in the samples of `sample_mask`.
fn at_depth(fragment: &'static [u8], depth: f32, sample_mask: u32, storage: Option<Buffer>) -> Draw {
    let mut state = State { fragment, sample_mask, ..State::default() };
    state.depth_stencil =
        state.depth_stencil.depth_test_enable(true).depth_write_enable(true).depth_compare_op(vk::CompareOp::LESS);
    Draw { storage, ..Draw::rect(state, FULL, [1.0; 4]).at(depth) }
}

/// Returns the mask that the shader sees in every pixel, after a nearer rectangle in samples 0 and
/// 2. Another rectangle follows behind it.
fn coverage(gpu: &Gpu, fragment: &'static [u8], masks: &[(f32, u32)]) -> Result<u32, Outcome> {
    coverage_behind(gpu, 0b0101, fragment, masks)
}

/// Returns the mask behind a nearer rectangle in some samples.
fn coverage_behind(gpu: &Gpu, nearer: u32, fragment: &'static [u8], masks: &[(f32, u32)]) -> Result<u32, Outcome> {
    let storage = gpu.buffer(u64::from(SIZE * SIZE * 4))?;
    let mut draws = vec![at_depth(crate::render::COLOR, 0.25, nearer, None)];
    draws.extend(masks.iter().map(|&(depth, mask)| at_depth(fragment, depth, mask, Some(storage))));
    let target = Target { samples: FOUR, depth: vk::Format::D32_SFLOAT, ..Target::default() };
    render(gpu, &target, &draws)?;
    let words = storage.words();
    check(words.iter().all(|&word| word == words[0]), || format!("{words:?}"))?;
    Ok(words[0])
}

case!("shaders.coverage.before_tests", "SampleMask", coverage_before);

/// Checks that without the extension a fragment sees the samples that the primitive covers, even
/// if tests fail for some.
fn coverage_before(gpu: &Gpu) -> Case {
    let seen = coverage(gpu, COVERAGE, &[(0.5, 0b1111)])?;
    check(seen == 16 + 0b1111, || format!("{seen}"))?;
    let seen = coverage(gpu, COVERAGE, &[(0.5, 0b0011)])?;
    check(seen == 16 + 0b0011, || format!("{seen} with a mask"))
}

case!("shaders.coverage.early_tests", "SampleMask", coverage_early);

/// Checks that early tests change nothing of the mask, except that fragments without samples do
/// not run.
fn coverage_early(gpu: &Gpu) -> Case {
    const RAN: u32 = 1 << 31;
    // Where the triangles of a rectangle meet, one has samples 0 and 2, the other has 1 and 3.
    let seen = |masks: &[(f32, u32)]| coverage_behind(gpu, 0b0001, EARLY_COVERAGE, masks);
    let found = seen(&[(0.5, 0b1111)])?;
    check(found == RAN | 0b1111, || format!("{found:x}"))?;
    let found = seen(&[(0.5, 0b0101)])?;
    check(found == RAN | 0b0101, || format!("{found:x} with a mask"))?;
    let found = seen(&[(0.5, 0b0001)])?;
    check(found == 0, || format!("{found:x} of what is hidden"))?;
    let found = seen(&[(0.5, 0b0101), (0.75, 0b1110)])?;
    check(found == RAN | 0b1111, || format!("{found:x} one behind the other"))
}

case!("shaders.coverage.early_tests_coarse", "VK_KHR_fragment_shading_rate", coverage_early_coarse);

/// Repeats `coverage_early` with fragments of four pixels.
fn coverage_early_coarse(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME)?;
    let storage = gpu.buffer(u64::from(SIZE * SIZE * 4))?;
    let mut draw = at_depth(EARLY_COVERAGE, 0.5, 0b1111, Some(storage));
    draw.state.extensions.fragment_size = Some([2, 2]);
    let target = Target { samples: FOUR, depth: vk::Format::D32_SFLOAT, ..Target::default() };
    render(gpu, &target, &[at_depth(crate::render::COLOR, 0.25, 0b0101, None), draw])?;
    for (at, word) in (0..).zip(storage.words()) {
        // A fragment's position is where its pixels meet.
        let expected = if at % 2 == 1 && at / SIZE % 2 == 1 { 1 << 31 | 0xffff } else { 0 };
        check(word == expected, || format!("{word:x} at {at}"))?;
    }
    Ok(())
}

case!("shaders.coverage.after_tests", "VK_EXT_post_depth_coverage", coverage_after);

/// Checks that with the extension a fragment sees the samples that pass the tests. The pipeline's
/// mask applies after the tests, so depth is written outside of the mask, too.
fn coverage_after(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_POST_DEPTH_COVERAGE_NAME)?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b1111)])?;
    check(seen == 16 + 0b1010, || format!("{seen}"))?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b0011)])?;
    check(seen == 16 + 0b0010, || format!("{seen} with a mask"))?;
    let seen = coverage(gpu, POST_DEPTH, &[(0.5, 0b0011), (0.75, 0b1111)])?;
    check(seen == 16 + 0b0010, || format!("{seen} behind what was masked"))
}
