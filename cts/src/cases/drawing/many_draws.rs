//! Many draws in changing states, and several draws by one command (`VK_EXT_multi_draw`).

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{
    ClearedTarget, Draw, FULL, Kind, Prepared, SIZE, State, Target, clear_values, cleared_target, prepare, render,
};

const PARAMETERS: &[u8] = shader!("parameters.vert");
const WORD: &[u8] = shader!("word.frag");

case!("commands.draws.multi", "VK_EXT_multi_draw", multi);

/// Checks the parameters that each of several draws sees.
fn multi(gpu: &Gpu) -> Case {
    if gpu.extension_features.multi_draw.multi_draw == vk::FALSE {
        return Err(Outcome::NotSupported("several draws".into()));
    }
    let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
    draw.kind = Kind::Multi { draws: &[[12, 6], [60, 6], [0, 6]], instances: 2, indices: None };
    let target = Target { clear: [1.0; 4], ..Target::default() };
    let pixels = render(gpu, &target, &[draw.clone()])?;
    let expected = [[12, 18, 0, 255], [60, 18, 1, 255], [0, 18, 2, 255], [255; 4]];
    numbers(&pixels, expected)?;
    draw.kind = Kind::Multi { draws: &[], instances: 2, indices: None };
    check(render(gpu, &target, &[draw])?.iter().all(|pixel| *pixel == [255; 4]), || "no draw drew".into())
}

/// Pixels of each side of the target of [`states`]: several tiles.
const STATES_SIDE: u32 = 160;

/// A small draw of [`states`].
#[derive(Clone, Copy)]
struct Small {
    /// The pipeline (one of two), the set and the push constants differ from the previous draw's.
    changes: [bool; 3],
    /// The draw adds to the attachment.
    adds: bool,
    /// First pixel, and pixels along each axis.
    place: [u32; 2],
    side: u32,
    set: usize,
    color: [u8; 4],
}

impl Small {
    fn new(random: &mut impl FnMut(u32) -> u32, before: &Self) -> Self {
        let mut next = *before;
        next.changes = [random(3) == 0, random(2) == 0, random(2) == 0];
        next.adds ^= next.changes[0];
        if next.changes[1] {
            next.set = random(8) as usize;
        }
        if next.changes[2] {
            next.side = 1 + random(24);
            next.place = [random(STATES_SIDE - next.side), random(STATES_SIDE - next.side)];
            next.color = [0; 4].map(|_| random(256) as u8);
        }
        next
    }

    /// Returns the push constants.
    fn push(&self) -> [f32; 12] {
        let clip = |pixel: u32| pixel as f32 * 2.0 / STATES_SIDE as f32 - 1.0;
        let [x, y] = self.place;
        let [_, g, b, a] = self.color.map(|channel| f32::from(channel) / 255.0);
        [clip(x), clip(y), clip(x + self.side), clip(y + self.side), 0.0, g, b, a, 0.5, 1.0, 0.0, 0.0]
    }

    /// Draws into the pixels of the model.
    fn model(&self, word: u8, pixels: &mut [[u8; 4]]) {
        let [_, g, b, a] = self.color;
        for y in self.place[1]..self.place[1] + self.side {
            for x in self.place[0]..self.place[0] + self.side {
                let pixel = &mut pixels[(y * STATES_SIDE + x) as usize];
                let old = if self.adds { *pixel } else { [0; 4] };
                let channel = |number: usize| old[number].saturating_add([word, g, b, a][number]);
                *pixel = [0, 1, 2, 3].map(channel);
            }
        }
    }
}

case!("commands.draws.states", "Descriptor Sets, Push Constant Updates", states);

/// Draws small rectangles over each other, of which some change the pipeline, some the set, some
/// the push constants. Each must see its own state.
fn states(gpu: &Gpu) -> Case {
    let target = Target { size: [STATES_SIDE; 2], ..Target::default() };
    let ClearedTarget { image, pass, framebuffer } = cleared_target(gpu, &target)?;
    let words = [3u8, 40, 77, 114, 151, 188, 225, 255];
    let opaque = {
        let side = STATES_SIDE as f32;
        let viewport = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
        let extent = vk::Extent2D { width: STATES_SIDE, height: STATES_SIDE };
        State { fragment: WORD, viewport, scissor: extent.into(), ..State::default() }
    };
    let mut adding = opaque.clone();
    adding.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        src_alpha_blend_factor: vk::BlendFactor::ONE,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        ..opaque.blend
    };
    let prepare = |(state, word): (&State, u8)| {
        let mut draw = Draw::rect(state.clone(), FULL, [0.0; 4]);
        draw.storage = Some(gpu.buffer_with(&[u32::from(word)])?);
        prepare(gpu, &target, (pass, &[image.view]), &draw)
    };
    let made: Vec<Prepared> = words
        .iter()
        .zip([&opaque, &adding].into_iter().cycle())
        .map(|(&word, state)| prepare((state, word)))
        .collect::<Result<_, _>>()?;
    let sets: Vec<vk::DescriptorSet> = made.iter().filter_map(|prepared| prepared.set).collect();
    let mut seed = 7u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let mut last =
        Small { changes: [true; 3], adds: false, place: [9, 9], side: 5, set: 2, color: [200, 100, 50, 255] };
    let mut draws = vec![last];
    for _ in 0..1500 {
        last = Small::new(&mut random, &last);
        draws.push(last);
    }
    gpu.run(|commands| {
        let clears = clear_values(&target, false);
        let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
        let begin = begin.render_area(opaque.scissor).clear_values(&clears);
        let (device, point) = (&gpu.device, vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            for draw in &draws {
                let Prepared { pipeline, layout, .. } = made[usize::from(draw.adds)];
                if draw.changes[0] {
                    device.cmd_bind_pipeline(commands, point, pipeline);
                }
                if draw.changes[1] {
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[sets[draw.set]], &[]);
                }
                if draw.changes[2] {
                    let push = draw.push();
                    let stages = vk::ShaderStageFlags::ALL;
                    device.cmd_push_constants(commands, layout, stages, 0, bytemuck::cast_slice(&push));
                }
                device.cmd_draw(commands, 6, 1, 0, 0);
            }
            device.cmd_end_render_pass(commands);
            gpu.barrier(commands, None);
        }
    })?;
    let mut model = vec![[0; 4]; (STATES_SIDE * STATES_SIDE) as usize];
    draws.iter().for_each(|draw| draw.model(words[draw.set], &mut model));
    let bytes = gpu.read_image(&image, vk::ImageAspectFlags::COLOR, 4)?;
    for (at, (pixel, expected)) in bytes.chunks_exact(4).zip(&model).enumerate() {
        check(pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// Compares the columns of pixels, a quarter of the target each.
fn numbers(pixels: &[[u8; 4]], expected: [[u8; 4]; 4]) -> Case {
    for (at, pixel) in pixels.iter().enumerate() {
        let expected = expected[at % SIZE as usize / 4];
        check(*pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

case!("commands.draws.multi_indexed", "VK_EXT_multi_draw", multi_indexed);

/// Repeats `multi` by indices, with one vertex offset for each draw or for all.
fn multi_indexed(gpu: &Gpu) -> Case {
    if gpu.extension_features.multi_draw.multi_draw == vk::FALSE {
        return Err(Outcome::NotSupported("several draws".into()));
    }
    let indices = gpu.buffer_with(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])?;
    let target = Target { clear: [1.0; 4], ..Target::default() };
    for (offset, base) in [(None, 1), (Some(30), 30)] {
        let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
        draw.kind = Kind::Multi { draws: &[[0, 6], [6, 6]], instances: 1, indices: Some((indices, offset)) };
        let pixels = render(gpu, &target, &[draw])?;
        numbers(&pixels, [[base, 2, 0, 255], [base, 2, 1, 255], [255; 4], [255; 4]])?;
    }
    Ok(())
}
