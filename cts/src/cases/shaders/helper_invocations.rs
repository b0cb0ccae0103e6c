//! Subgroup operations of fragment shaders whose quads are covered in part: helper invocations
//! take part. The specification lets a device leave helper invocations out of all operations but
//! quad operations. Programs that count the lanes of a subgroup by a sum or a ballot rely on the
//! behaviour of most devices. Source: Vulkan specification, "Helper Invocations" and "Group
//! Operations".

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, Kind, State, TRIANGLES, Target, render};

const LANES: &[u8] = shader!("helper_lanes.frag");
const OPERATIONS: &[u8] = shader!("helper_operations.frag");
const LEAVING: &[u8] = shader!("helper_leaving.frag");
const EFFECTS: &[u8] = shader!("helper_effects.frag");

/// Checks of `helper_operations.frag`, a bit each.
const ALL_CHECKS: u32 = (1 << 21) - 1;

/// Width and height of the target, in pixels: odd and even, so that quads reach over its edge.
const SIZE: [u32; 2] = [13, 10];

/// Corners of triangles in pixels of the target.
type Triangles = &'static [[[f32; 2]; 3]];

/// A triangle over most of the target, small ones and slivers.
const SHAPES: [(&str, Triangles); 4] = [
    ("picture", &[[[-6.5, 25.0], [-6.5, -15.0], [19.5, 5.0]]]),
    ("small", &[[[2.2, 3.1], [5.6, 3.6], [2.9, 6.4]]]),
    ("sliver", &[[[0.3, 0.2], [12.8, 8.9], [11.9, 9.4]]]),
    (
        "several",
        &[
            [[0.3, 0.4], [2.6, 0.7], [1.1, 2.9]],
            [[3.2, 0.1], [5.9, 1.2], [3.4, 2.8]],
            [[6.4, 0.2], [9.3, 2.2], [6.2, 3.7]],
            [[0.1, 9.8], [8.2, 4.4], [12.9, 9.9]],
            [[10.2, 0.3], [12.9, 0.2], [11.0, 8.7]],
        ],
    ),
];

/// How fragments are made of samples and pixels.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    samples: vk::SampleCountFlags,
    by_sample: bool,
    /// Width and height of a fragment, in pixels.
    fragment: u32,
}

const FORMS: [Form; 4] = [
    Form { name: "plain", samples: vk::SampleCountFlags::TYPE_1, by_sample: false, fragment: 1 },
    Form { name: "samples", samples: vk::SampleCountFlags::TYPE_4, by_sample: false, fragment: 1 },
    Form { name: "by_sample", samples: vk::SampleCountFlags::TYPE_4, by_sample: true, fragment: 1 },
    Form { name: "coarse", samples: vk::SampleCountFlags::TYPE_1, by_sample: false, fragment: 2 },
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: String, run: Box<dyn Fn(&Gpu) -> Case>| {
        let run = move |gpu: &Gpu| has_operations(gpu).and_then(|()| run(gpu));
        cases.push(Entry::new(format!("subgroups.{name}"), "Helper Invocations", run));
    };
    for form in FORMS {
        add(format!("helpers.lanes_{}", form.name), Box::new(move |gpu| lanes(gpu, form)));
        add(format!("helpers.operations_{}", form.name), Box::new(move |gpu| operations(gpu, form)));
        add(format!("helpers.effects_{}", form.name), Box::new(move |gpu| effects(gpu, form)));
        for (name, way) in [("discard", 1.0), ("demote", 2.0), ("terminate", 3.0)] {
            add(format!("helpers.{name}_{}", form.name), Box::new(move |gpu| leaving(gpu, form, way)));
        }
    }
}

fn has_operations(gpu: &Gpu) -> Case {
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    use vk::SubgroupFeatureFlags as F;
    let wanted = F::ARITHMETIC | F::SHUFFLE | F::BALLOT | F::QUAD | F::VOTE | F::CLUSTERED;
    let has =
        own.supported_stages.contains(vk::ShaderStageFlags::FRAGMENT) && own.supported_operations.contains(wanted);
    if has { Ok(()) } else { Err(Outcome::NotSupported("subgroups of fragments".into())) }
}

/// Draws triangles with a fragment shader and returns the words of all pixels, row by row.
fn draw(
    gpu: &Gpu,
    form: Form,
    (fragment, triangles): (&'static [u8], Triangles),
    change: &dyn Fn(&mut Draw),
) -> Result<Vec<[u32; 4]>, Outcome> {
    let corner = |[x, y]: [f32; 2]| {
        let [width, height] = SIZE.map(|pixels| pixels as f32);
        [[x / width * 2.0 - 1.0, y / height * 2.0 - 1.0, 0.5, 1.0], [1.0f32; 4]]
    };
    let vertices: Vec<_> = triangles.iter().flatten().map(|&place| corner(place)).collect();
    let [width, height] = SIZE;
    let mut state = State { vertex: TRIANGLES, fragment, by_sample: form.by_sample, ..State::default() };
    state.viewport = vk::Viewport { width: width as f32, height: height as f32, ..state.viewport };
    state.scissor.extent = vk::Extent2D { width, height };
    if form.fragment > 1 {
        gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME)?;
        state.extensions.fragment_size = Some([form.fragment; 2]);
    }
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
    let mut draw = Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) };
    change(&mut draw);
    let target =
        Target { size: SIZE, format: vk::Format::R32G32B32A32_UINT, samples: form.samples, ..Target::default() };
    let texels = render(gpu, &target, &[draw])?;
    let words: Vec<u32> = texels.into_iter().map(u32::from_le_bytes).collect();
    Ok(words.as_chunks::<4>().0.to_vec())
}

/// Calls `holds` with the position and the words of each drawn pixel, of which there must be some.
fn each_drawn(pixels: &[[u32; 4]], name: &str, holds: &dyn Fn([u32; 2], [u32; 4]) -> bool) -> Case {
    let mut drawn = 0;
    for (at, &words) in (0..).zip(pixels).filter(|(_, words)| **words != [0; 4]) {
        let place = [at % SIZE[0], at / SIZE[0]];
        check(holds(place, words), || format!("{name}, {place:?}: {words:?}"))?;
        drawn += 1;
    }
    check(drawn > 0, || format!("{name}: nothing was drawn"))
}

/// Checks that every lane is below the sum of all lanes, and that a shuffle with itself returns a
/// lane's own value.
fn lanes(gpu: &Gpu, form: Form) -> Case {
    for (name, triangles) in SHAPES {
        let pixels = draw(gpu, form, (LANES, triangles), &|_| ())?;
        each_drawn(&pixels, name, &|_, [count, lane, shuffled, own]| lane < count && shuffled == own)?;
    }
    Ok(())
}

/// Checks that all operations agree, and that quads have as many helper invocations as uncovered
/// pixels.
fn operations(gpu: &Gpu, form: Form) -> Case {
    for (name, triangles) in SHAPES {
        let pixels = draw(gpu, form, (OPERATIONS, triangles), &|_| ())?;
        let is_drawn = |[x, y]: [u32; 2]| x < SIZE[0] && y < SIZE[1] && pixels[(y * SIZE[0] + x) as usize] != [0; 4];
        let uncovered = |[x, y]: [u32; 2]| {
            let quad = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| [(x & !1) + dx, (y & !1) + dy]);
            quad.into_iter().filter(|&place| !is_drawn(place)).count() as u32
        };
        // Several triangles may hide each other's pixels.
        let is_exact = triangles.len() == 1 && form.name == "plain";
        each_drawn(&pixels, name, &|place, [passed, count, helpers, _]| {
            let good = passed == ALL_CHECKS && count.is_multiple_of(4) && helpers < 4;
            good && (!is_exact || helpers == uncovered(place))
        })?;
    }
    Ok(())
}

/// Checks that terminated invocations leave operations, and that demoted ones do not.
fn leaving(gpu: &Gpu, form: Form, way: f32) -> Case {
    gpu.need(vk::EXT_SHADER_DEMOTE_TO_HELPER_INVOCATION_NAME)?;
    gpu.need(vk::KHR_SHADER_TERMINATE_INVOCATION_NAME)?;
    for (name, triangles) in SHAPES {
        let pixels = draw(gpu, form, (LEAVING, triangles), &|draw| draw.show = way)?;
        each_drawn(&pixels, name, &|[x, y], [before, after, left, more]| {
            let stays = form.fragment > 1 || (x + y) % 3 != 1;
            let expected = if way == 2.0 { before } else { before - left };
            stays && before.is_multiple_of(4) && after == expected && more >= 1 && (way != 2.0 || more <= 1 + left)
        })?;
    }
    Ok(())
}

/// Checks that atomics count covered invocations, whether each adds 1 or an elected one adds the
/// number of all, and that broadcasts of the first invocation agree with ballots.
fn effects(gpu: &Gpu, form: Form) -> Case {
    for (name, triangles) in SHAPES {
        let counts = gpu.buffer(16)?;
        let pixels = draw(gpu, form, (EFFECTS, triangles), &|draw| draw.storage = Some(counts))?;
        let drawn = pixels.iter().filter(|words| **words != [0; 4]).count() as u32;
        let words = counts.words();
        check(words[0] > 0 && words[1] == words[0] && words[2] == 0, || format!("{name}: {words:?}"))?;
        let is_exact = triangles.len() == 1 && form.name == "plain";
        check(!is_exact || words[0] == drawn, || format!("{name}: {words:?} of {drawn} pixels"))?;
    }
    Ok(())
}
