//! Geometry programs in every mode of `VITRIC_MERGED`, over the declared and the emitted number of
//! vertices and the length of the program. A table has the time of each mode and how many times as
//! long as the fastest fixed mode `auto` takes.
//!
//! The knob is read once a process, so the benchmark starts itself once for each mode and round.

mod device;

use std::process::Command;
use std::time::Instant;

use ash::vk;
use vitric_samples::Result;
use vitric_samples::gpu::{
    Attachment, Commands, Gpu, GraphicsDesc, ImageDesc, Layout, Pass, PassDesc, Pipeline, Target,
};

/// Values of the knob. The last is compared with the others.
const MODES: [&str; 4] = ["off", "plain", "replicated", "auto"];

/// Argument of a process that measures one mode.
const MEASURE: &str = "--measure";

const SIDE: u32 = 512;

/// Number of vertices that all points of a draw emit.
const VERTICES: u32 = 1 << 16;

/// Number of processes for each mode.
const ROUNDS: usize = 3;

/// Number of timed submissions of a process for each cell, after one that is not timed.
const SUBMISSIONS: usize = 5;

/// Program of a geometry stage.
#[derive(Clone, Copy)]
struct Cell {
    /// Maximum number of vertices that the program declares.
    declared: u32,
    /// Number of vertices that it emits.
    emitted: u32,
    /// Iterations of its loop for each vertex.
    steps: u32,
}

fn cells() -> impl Iterator<Item = Cell> {
    let sizes = [4, 16, 64, 256, 1024];
    let of_declared = move |declared| sizes.into_iter().filter(move |&emitted| emitted <= declared);
    let sizes =
        sizes.into_iter().flat_map(move |declared| of_declared(declared).map(move |emitted| (declared, emitted)));
    sizes.flat_map(|(declared, emitted)| [0, 64].map(|steps| Cell { declared, emitted, steps }))
}

/// Returns the shader with another declared maximum of vertices: the operand of the execution mode
/// `OutputVertices`.
fn declaring(vertices: u32) -> Vec<u8> {
    let mut shader = include_bytes!("shaders/emit.geom.spv").to_vec();
    let mode = [(4 << 16) | 16, 26_u32].map(u32::to_le_bytes);
    let at = (0..shader.len() - 16)
        .step_by(4)
        .find(|&at| shader[at..at + 4] == mode[0] && shader[at + 8..at + 12] == mode[1]);
    let at = at.expect("the shader declares a maximum") + 12;
    shader[at..at + 4].copy_from_slice(&vertices.to_le_bytes());
    shader
}

/// Device, target and layout of all pipelines.
struct Bench {
    gpu: Gpu,
    pass: Pass,
    target: Target,
    layout: Layout,
}

impl Bench {
    fn new() -> Result<Self> {
        let gpu = device::open();
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let image = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, usage))?;
        let stored = Attachment::stored(&image, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let pass = gpu.pass(&PassDesc::simple(stored, None))?;
        let target = gpu.target(&pass, &[image.view], vk::Extent2D { width: SIDE, height: SIDE })?;
        let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::GEOMETRY, 8)))?;
        Ok(Self { gpu, pass, target, layout })
    }

    fn pipeline(&self, declared: u32) -> Result<Pipeline> {
        let (vertex, fragment) = (include_bytes!("shaders/emit.vert.spv"), include_bytes!("shaders/emit.frag.spv"));
        let mut desc = GraphicsDesc::new(vertex, fragment, &self.layout, &self.pass);
        let geometry = declaring(declared);
        desc.geom = Some(&geometry);
        desc.topology = vk::PrimitiveTopology::POINT_LIST;
        self.gpu.graphics(&desc)
    }

    /// Returns the median time of a submission, in milliseconds.
    fn measure(&self, pipeline: &Pipeline, Cell { emitted, steps, .. }: Cell) -> Result<f64> {
        let record = |commands: &Commands<'_>| {
            commands.begin(&self.target, &[vk::ClearValue::default()]);
            commands.pipeline(pipeline);
            commands.push(&self.layout, &[emitted, steps]);
            commands.draw(VERTICES / emitted, 1);
            commands.end();
            Ok(())
        };
        self.gpu.submit(record)?;
        let mut times = Vec::new();
        for _ in 0..SUBMISSIONS {
            let start = Instant::now();
            self.gpu.submit(record)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(median(times))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures all cells in this process's mode and prints a line for each.
fn measure_all() -> Result<()> {
    let bench = Bench::new()?;
    let mut last = None;
    for cell in cells() {
        let pipeline = match last {
            Some((declared, pipeline)) if declared == cell.declared => pipeline,
            _ => bench.pipeline(cell.declared)?,
        };
        last = Some((cell.declared, pipeline));
        println!("{:.4}", bench.measure(&pipeline, cell)?);
    }
    Ok(())
}

/// Runs a process in a mode and returns its times.
fn times_of(mode: &str) -> Vec<f64> {
    let program = std::env::current_exe().expect("the benchmark's own path");
    let run = Command::new(program).arg(MEASURE).env("VITRIC_MERGED", mode).output().expect("the benchmark starts");
    assert!(run.status.success(), "{mode}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).lines().map(|line| line.parse().expect("a time")).collect()
}

fn main() {
    if std::env::args().any(|argument| argument == MEASURE) {
        return measure_all().expect("it is drawn");
    }
    let rounds: Vec<_> = (0..ROUNDS).map(|_| MODES.map(times_of)).collect();
    println!("declared emitted steps {} ms, auto/best", MODES.map(|mode| format!("{mode:>11}")).concat());
    for (number, Cell { declared, emitted, steps }) in cells().enumerate() {
        let times: Vec<f64> =
            (0..MODES.len()).map(|mode| median(rounds.iter().map(|round| round[mode][number]).collect())).collect();
        let best = times[..MODES.len() - 1].iter().copied().fold(f64::INFINITY, f64::min);
        let columns: String = times.iter().map(|time| format!("{time:11.2}")).collect();
        println!("{declared:8} {emitted:7} {steps:5} {columns} {:14.2}", times[MODES.len() - 1] / best);
    }
}
