//! Compute dispatch: workgroups over the workers; the waves of a workgroup run to each barrier in turn.

use super::processor::Processor;
use crate::counters::Counter;
use crate::gpu::DeviceLost;
use crate::shader::interp::{Deadline, Environment, Lanes, Mask, Stop, WAVE, Wave, run_together};
use crate::shader::runtime::{Bindings, SharedMemory};
use crate::shader::{Builtin, Program, Slot};

/// Dispatches the bound compute pipeline: so many workgroups, from `base` on.
pub(super) fn dispatch(processor: &mut Processor<'_>, base: [u32; 3], groups: [u32; 3]) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.compute.clone() else { return Ok(()) };
    let bindings = &*processor.state.compute_sets.resolve(0, &pipeline.program, &processor.shared);
    processor.wrote_bound(&pipeline.program, bindings);
    let push = &processor.state.push;
    let count = groups.iter().fold(1usize, |all, &count| all.saturating_mul(count as usize));
    let job = Job { program: &pipeline.program, bindings, push, deadline: &processor.deadline, base, groups };
    if let Some(counters) = processor.counters() {
        counters.count(Counter::Invocations, (count as u64).saturating_mul(job.invocations() as u64));
    }
    let chunk = job.groups_at_once();
    let worker = || Scratch::new(job.program);
    processor.gpu.workers().parallel(count.div_ceil(chunk), worker, |scratch, index| {
        if job.deadline.expired() {
            return;
        }
        let first = index * chunk;
        for group in first..(first + chunk).min(count) {
            job.run(scratch, group);
        }
    });
    if job.deadline.was_hit() { Err(DeviceLost) } else { Ok(()) }
}

/// Invocations that a worker takes on at once, about.
const INVOCATIONS_AT_ONCE: usize = 2048;

struct Job<'a> {
    program: &'a Program,
    bindings: &'a Bindings,
    push: &'a [u8],
    deadline: &'a Deadline,
    base: [u32; 3],
    groups: [u32; 3],
}

/// What a worker keeps from workgroup to workgroup.
struct Scratch {
    waves: Vec<Wave>,
    /// For each wave of a workgroup its invocations' place in the group, and their index.
    places: Vec<[Lanes; 4]>,
    shared: SharedMemory,
}

impl Scratch {
    fn new(program: &Program) -> Self {
        let [width, height, depth] = program.local_size;
        let invocations = width * height * depth;
        let place = |wave: u32| {
            let index = |lane: usize| match (wave * WAVE as u32 + lane as u32, program.in_squares) {
                (number, false) => number,
                // Four in a square, squares in two rows.
                (number, true) => {
                    let (rows, rest) = (number / (2 * width), number % (2 * width));
                    (rows * 2 + (rest >> 1 & 1)) * width + rest / 4 * 2 + (rest & 1)
                }
            };
            [
                std::array::from_fn(|lane| index(lane) % width),
                std::array::from_fn(|lane| index(lane) / width % height),
                std::array::from_fn(|lane| index(lane) / width / height),
                std::array::from_fn(index),
            ]
        };
        let places: Vec<[Lanes; 4]> = (0..invocations.div_ceil(WAVE as u32)).map(place).collect();
        let mut waves = Vec::new();
        waves.resize_with(places.len(), Wave::default);
        Self { waves, places, shared: SharedMemory::new(program.shared_bytes) }
    }
}

impl Job<'_> {
    fn invocations(&self) -> usize {
        self.program.local_size.iter().map(|&count| count as usize).product()
    }

    fn groups_at_once(&self) -> usize {
        (INVOCATIONS_AT_ONCE / self.invocations().max(1)).max(1)
    }

    /// Runs a workgroup, by its number.
    fn run(&self, scratch: &mut Scratch, number: usize) {
        let [x, y, _] = self.groups.map(|count| count as usize);
        let group = [number % x, number / x % y, number / x / y];
        let group = std::array::from_fn(|axis| self.base[axis].wrapping_add(group[axis] as u32));
        let Scratch { waves, places, shared } = scratch;
        if let Some(pair) = &self.program.pair {
            return self.run_pairs(pair, group, waves, places);
        }
        shared.clear();
        let environment =
            Environment { push: self.push, shared: Some(shared), ..Environment::new(self.bindings, self.deadline) };
        let invocations = self.invocations();
        for (number, (wave, places)) in waves.iter_mut().zip(places).enumerate() {
            let lanes = (invocations - number * WAVE).min(WAVE);
            wave.start(self.program, ((1u32 << lanes) - 1) as u16, 0);
            self.fill((group, number as u32), places, &mut wave.inputs);
        }
        run_together(self.program, waves, &environment);
    }

    /// Runs two waves at once, which never wait for others.
    fn run_pairs(&self, pair: &Program, group: [u32; 3], waves: &mut [Wave], places: &[[Lanes; 4]]) {
        let environment = Environment { push: self.push, ..Environment::new(self.bindings, self.deadline) };
        let (wave, words) = (&mut waves[0], self.program.inputs.len());
        for (first, both) in (0..).step_by(2).zip(places.as_chunks::<2>().0) {
            wave.start(pair, Mask::MAX, 0);
            for ((number, inputs), places) in (first..).zip(wave.inputs.chunks_exact_mut(words.max(1))).zip(both) {
                self.fill((group, number), places, inputs);
            }
            if wave.run(pair, &environment) == Stop::Interrupted {
                return;
            }
        }
    }

    /// Inputs of a wave, by its number in a workgroup.
    fn fill(&self, (group, number): ([u32; 3], u32), places: &[Lanes; 4], inputs: &mut [Lanes]) {
        for (lanes, input) in inputs.iter_mut().zip(&self.program.inputs) {
            let Slot::Builtin(builtin, component) = input.slot else { continue };
            let axis = component as usize % 3;
            *lanes = match builtin {
                Builtin::NumWorkgroups => [self.groups[axis]; WAVE],
                Builtin::WorkgroupId => [group[axis]; WAVE],
                Builtin::LocalInvocationId => places[axis],
                Builtin::GlobalInvocationId => {
                    let first = group[axis].wrapping_mul(self.program.local_size[axis]);
                    places[axis].map(|place| place.wrapping_add(first))
                }
                Builtin::LocalInvocationIndex => places[3],
                Builtin::SubgroupId => [number; WAVE],
                _ => [0; WAVE],
            };
        }
    }
}

/// Runs one workgroup, for tests of programs.
#[cfg(test)]
pub(crate) fn dispatch_for_test(program: &Program, bindings: &Bindings, push: &[u8], deadline: &Deadline) {
    let job = Job { program, bindings, push, deadline, base: [0; 3], groups: [1; 3] };
    job.run(&mut Scratch::new(program), 0);
}
