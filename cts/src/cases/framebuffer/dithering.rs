//! Dithering of colours. An implementation may change a component by one code, by the place of the
//! pixel and the component only. Source: `VK_EXT_legacy_dithering`.

use ash::khr;
use ash::vk::{self, Format as F};
use vitric_vulkan::sys;

use crate::Entry;
use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Transition, check};
use crate::render::{Draw, FULL, State, Target, render};

const FORMATS: [(&str, F, [u8; 4]); 3] = [
    ("rgba8", F::R8G8B8A8_UNORM, [8; 4]),
    ("bgra8", F::B8G8R8A8_UNORM, [8; 4]),
    ("rgb10", F::A2B10G10R10_UNORM_PACK32, [10, 10, 10, 2]),
];

/// Components between codes, of codes, and at the ends.
const COLORS: [[f32; 4]; 4] =
    [[0.1234, 0.5678, 0.9012, 1.0], [0.3, 0.7, 0.501, 0.25], [0.0, 1.0, 0.2, 0.4], [0.9985, 0.0015, 0.6005, 0.0]];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format, bits) in FORMATS {
        let run = move |gpu: &Gpu| range_of(gpu, format, bits);
        cases.push(Entry::new(format!("dithering.range.{name}"), "Legacy Dithering", run));
        let run = move |gpu: &Gpu| places(gpu, format);
        cases.push(Entry::new(format!("dithering.places.{name}"), "Legacy Dithering", run));
    }
}

/// Returns the codes of a pixel, from red to alpha.
fn codes(format: F, pixel: [u8; 4]) -> [u32; 4] {
    let word = u32::from_le_bytes(pixel);
    match format {
        F::A2B10G10R10_UNORM_PACK32 => [word & 1023, word >> 10 & 1023, word >> 20 & 1023, word >> 30],
        F::B8G8R8A8_UNORM => [pixel[2], pixel[1], pixel[0], pixel[3]].map(u32::from),
        _ => pixel.map(u32::from),
    }
}

fn target(format: F) -> Target {
    Target { format, dithers: true, ..Target::default() }
}

/// Draws colours, which change by at most a code.
fn range_of(gpu: &Gpu, format: F, bits: [u8; 4]) -> Case {
    gpu.need(vk::EXT_LEGACY_DITHERING_NAME)?;
    for color in COLORS {
        let pixels = render(gpu, &target(format), &[Draw::rect(State::default(), FULL, color)])?;
        for (number, pixel) in pixels.iter().enumerate() {
            for (component, code) in codes(format, *pixel).into_iter().enumerate() {
                let exact = color[component] * ((1u32 << bits[component]) - 1) as f32;
                check((code as f32 - exact).abs() <= 1.5, || {
                    format!("{color:?}, pixel {number}, component {component}: {code}, not {exact}")
                })?;
            }
        }
    }
    Ok(())
}

/// Draws colours by one primitive and by several, blended and not, by fixed and by dynamic state.
/// The pixels are equal.
fn places(gpu: &Gpu, format: F) -> Case {
    gpu.need(vk::EXT_LEGACY_DITHERING_NAME)?;
    for color in COLORS {
        let opaque = [color[0], color[1], color[2], 1.0];
        let state = State::default();
        let mut blended = state.clone();
        blended.blend.blend_enable = vk::TRUE;
        blended.blend.src_color_blend_factor = vk::BlendFactor::SRC_ALPHA;
        blended.blend.dst_color_blend_factor = vk::BlendFactor::ONE_MINUS_SRC_ALPHA;
        blended.blend.src_alpha_blend_factor = vk::BlendFactor::ONE;
        let dynamic = State { dynamic: true, extended: true, dynamic3: true, ..state.clone() };
        let linked = State { linked: true, ..state.clone() };
        let one = render(gpu, &target(format), &[Draw::rect(state.clone(), FULL, opaque)])?;
        for (name, other) in [("blended", blended), ("dynamic", dynamic), ("linked", linked)] {
            let draws = [Draw::rect(other, FULL, opaque)];
            check(render(gpu, &target(format), &draws)? == one, || format!("{opaque:?}: {name} pixels differ"))?;
        }
        let strip = |number: u32| {
            let [left, right] = [number, number + 1].map(|edge| edge as f32 / 8.0 - 1.0);
            Draw::rect(state.clone(), [left, -1.0, right, 1.0], opaque)
        };
        let strips: Vec<Draw> = (0..16).map(strip).collect();
        check(render(gpu, &target(format), &strips)? == one, || format!("{opaque:?}: pixels of strips differ"))?;
    }
    Ok(())
}

case!("dithering.rendering.rgba8", "Legacy Dithering", rendering);

/// Compares pixels of dynamic rendering, where a flag of the pipeline enables dithering, with those
/// of a render pass.
fn rendering(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_LEGACY_DITHERING_NAME)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    gpu.need(vk::KHR_MAINTENANCE5_NAME)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let flag = sys::PipelineCreateFlags2::ENABLE_LEGACY_DITHERING_EXT.bits();
    let flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(vk::PipelineCreateFlags2KHR::from_raw(flag));
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline_of(gpu, &PipelineDesc { next: (&raw const flags).cast(), ..PipelineDesc::plain(layout) })?;
    for color in COLORS {
        let shown = image(gpu, vk::SampleCountFlags::TYPE_1)?;
        let colors = [attachment(&shown, CLEAR, clear_color([0.0; 4]))];
        let info = vk::RenderingInfo::default()
            .flags(vk::RenderingFlags::ENABLE_LEGACY_DITHERING_EXT)
            .render_area(whole())
            .layer_count(1)
            .color_attachments(&colors);
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: &shown, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
            let draws = Fills { commands, pipeline, layout };
            // SAFETY: the command buffer is recording.
            unsafe {
                second.cmd_begin_rendering(commands, &info);
                draws.fill(gpu, FULL, color, [0.5, 1.0, 0.0]);
                second.cmd_end_rendering(commands);
            }
            let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            gpu.barrier(commands, Some(Transition { image: &shown, from: GENERAL, to }));
        })?;
        let found = gpu.read_image(&shown, shown.aspects, 4)?;
        let passed = render(gpu, &target(F::R8G8B8A8_UNORM), &[Draw::rect(State::default(), FULL, color)])?;
        check(found == passed.concat(), || format!("{color:?}: other pixels"))?;
    }
    Ok(())
}
