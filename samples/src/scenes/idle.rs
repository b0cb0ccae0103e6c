//! Many large idle render targets, and their effect on the process's memory. The gallery does not
//! show this scene.
//!
//! Each target is a multisampled colour image. It is drawn once with a depth image that all
//! targets share. One target is shown, then all are idle until the process's resident memory falls
//! no further, and then this target is shown again. Then all memory that the driver still has is
//! allocated and freed, and the target is shown twice more.

use std::time::{Duration, Instant};

use super::canvas::depth_image_of;
use super::stage::{Object, Stage, View, object_pipeline, place};
use super::{Backdrop, OUTPUT_UNORM, aspect, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::Mesh;
use crate::gpu::{Attachment, Gpu, Image, ImageDesc, Pass, PassDesc, SubpassDesc, Target};
use ash::vk;
use glam::{Vec3, Vec4};
use vk::{ImageLayout, ImageUsageFlags as ImageUse};

/// Time without a change after which resident memory is expected to be constant.
const STABLE_TIME: Duration = Duration::from_secs(2);

/// Bytes of each allocation that fills the memory.
const ALLOCATION: u64 = 8 << 20;

/// Render targets to draw.
#[derive(Clone, Copy, Debug)]
pub struct IdleOptions {
    /// Pixels of a target.
    pub size: vk::Extent2D,
    /// Number of targets.
    pub count: u32,
    /// Samples per pixel.
    pub samples: vk::SampleCountFlags,
}

/// Memory sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// Resident memory of this process (`VmRSS`).
    pub resident: u64,
    /// Used bytes by the driver's budget.
    pub reported: u64,
}

/// Memory sizes, and times of the uses of a target.
#[derive(Clone, Copy, Debug)]
pub struct IdleReport {
    /// Before anything was drawn.
    pub start: Footprint,
    /// When all was drawn.
    pub drawn: Footprint,
    /// When resident memory has fallen.
    pub idle: Footprint,
    /// When all memory was allocated and freed.
    pub filled: Footprint,
    /// When one target was used again.
    pub used: Footprint,
    /// Bytes that could be allocated beside the idle targets.
    pub allocatable: u64,
    /// Milliseconds of the uses of a target: before it was idle, after, after all memory was
    /// allocated, and once more.
    pub use_ms: [f64; 4],
    /// The target showed the same picture each time.
    pub is_same: bool,
}

/// Returns the resident memory of this process in bytes; 0 if the system does not report it.
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Waits until resident memory falls no further.
fn settle() {
    let (mut least, mut since) = (resident(), Instant::now());
    while since.elapsed() < STABLE_TIME {
        std::thread::sleep(Duration::from_millis(50));
        let now = resident();
        if now < least - least / 100 {
            (least, since) = (now, Instant::now());
        }
    }
}

/// The passes of a target: one draws it, the other resolves it.
struct Passes {
    draw: (Pass, Target),
    show: (Pass, Target),
}

fn passes(gpu: &Gpu, size: vk::Extent2D, [color, depth, output]: [&Image; 3]) -> Result<Passes> {
    let layout = ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let desc = PassDesc::simple(
        Attachment::stored(color, layout),
        Some(Attachment::stored(depth, ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)),
    );
    let draw = gpu.pass(&desc)?;
    let shown = Attachment::stored(output, ImageLayout::TRANSFER_SRC_OPTIMAL).overwritten();
    let resolve = SubpassDesc { colors: vec![0], resolves: vec![1], ..Default::default() };
    let show =
        gpu.pass(&PassDesc { attachments: vec![Attachment::loaded(color, layout), shown], subpasses: vec![resolve] })?;
    Ok(Passes {
        draw: (draw, gpu.target(&draw, &[color.view, depth.view], size)?),
        show: (show, gpu.target(&show, &[color.view, output.view], size)?),
    })
}

/// Draws targets, leaves them idle, and uses one again. `reported` returns the bytes of device
/// memory in use.
///
/// # Errors
/// A Vulkan call fails.
pub fn measure(gpu: &Gpu, options: &IdleOptions, reported: impl Fn() -> u64) -> Result<IdleReport> {
    let IdleOptions { size, count, samples } = *options;
    let footprint = || Footprint { resident: resident(), reported: reported() };
    let start = footprint();
    let image =
        |usage, samples| gpu.image(ImageDesc::new(OUTPUT_UNORM, size.width, size.height, usage).with_samples(samples));
    let depth = depth_image_of(gpu, vk::Format::D32_SFLOAT, size, samples)?;
    let output = image(ImageUse::COLOR_ATTACHMENT | ImageUse::TRANSFER_SRC, vk::SampleCountFlags::TYPE_1)?;
    let colors = (0..count).map(|_| image(ImageUse::COLOR_ATTACHMENT, samples)).collect::<Result<Vec<_>>>()?;
    let passes = colors.iter().map(|color| passes(gpu, size, [color, &depth, &output])).collect::<Result<Vec<_>>>()?;
    for (number, Passes { draw: (pass, target), .. }) in passes.iter().enumerate() {
        draw(gpu, samples, (pass, target), number as f32)?;
    }
    let drawn = footprint();
    let read =
        gpu.host_buffer(u64::from(size.width) * u64::from(size.height) * 4, vk::BufferUsageFlags::TRANSFER_DST)?;
    let last = passes.last().map(|passes| passes.show.1);
    let show = || -> Result<(f64, Vec<u8>)> {
        let begin = Instant::now();
        gpu.submit(|cmd| {
            if let Some(target) = &last {
                cmd.begin(target, &[clear_color(Vec3::ZERO)]);
                cmd.end();
            }
            Ok(())
        })?;
        let time = begin.elapsed().as_secs_f64() * 1e3;
        gpu.submit(|cmd| {
            cmd.copy_from_image(&output, &read);
            Ok(())
        })?;
        Ok((time, gpu.read(&read)?))
    };
    let before = show()?;
    settle();
    let idle = footprint();
    let after = show()?;
    let allocatable = gpu.allocatable(ALLOCATION)?;
    let filled = footprint();
    let (after_full, used, again) = (show()?, footprint(), show()?);
    let is_same = [&after, &after_full, &again].iter().all(|(_, texels)| *texels == before.1);
    let use_ms = [before.0, after.0, after_full.0, again.0];
    Ok(IdleReport { start, drawn, idle, filled, used, allocatable, use_ms, is_same })
}

/// Draws a planet over a gradient, from another side for each target.
fn draw(gpu: &Gpu, samples: vk::SampleCountFlags, (pass, target): (&Pass, &Target), number: f32) -> Result<()> {
    let backdrop = Backdrop::new(gpu, pass, samples, Vec3::new(0.1, 0.2, 0.4), Vec3::new(0.9, 0.7, 0.5))?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let mut desc = object_pipeline(spv!("planet.frag"), &layout, pass);
    desc.samples = samples;
    let (pipeline, set) = (gpu.graphics(&desc)?, stage.set(gpu, &layout, &[])?);
    let ball = Object::new(gpu, &Mesh::sphere(64, 32), place(Vec3::ZERO, Vec3::ONE, number), Vec4::ONE)?;
    let eye = Vec3::new(0.0, 0.3 * number - 1.0, 3.0);
    stage.update(gpu, &View::new(eye, Vec3::ZERO, 0.8, aspect(target.extent), number))?;
    gpu.submit(|cmd| {
        cmd.begin(target, &[clear_color(Vec3::ZERO), clear_depth()]);
        backdrop.draw(cmd);
        cmd.pipeline(&pipeline);
        cmd.graphics_set(&layout, &set);
        ball.draw(cmd, &layout);
        cmd.end();
        Ok(())
    })
}
