//! Execution of workgroups. The waves of a workgroup run to each barrier in turn and use the same
//! shared memory.

use std::ops::Range;

use vitric_base::simd::{Lanes, Mask, WAVE, each};
use vitric_ir::interface::{Builtin, Slot};

use super::Program;
use super::bindings::Bindings;
use super::interp::{Deadline, Environment, Stop, Wave, run_together};
use super::runtime::SharedMemory;

/// Workgroups of a dispatch, and the state they run with.
#[derive(Clone, Copy)]
pub struct Workgroups<'a> {
    /// Program that runs.
    pub program: &'a Program,
    /// Bindings of the program.
    pub bindings: &'a Bindings,
    /// Push constants, followed by internal parameters of the program.
    pub push: &'a [u8],
    /// Time limit of the dispatch.
    pub deadline: &'a Deadline,
    /// Index of the first workgroup along x, y and z.
    pub base: [u32; 3],
    /// Number of workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Index of the draw.
    pub draw: u32,
}

/// Memory that a worker reuses from workgroup to workgroup.
#[derive(Default)]
pub struct WorkgroupScratch {
    /// Properties the memory was set up for: size of the workgroup, whether its quads are 2×2
    /// squares, bytes of shared memory, and workgroups per wave.
    shape: ([u32; 3], bool, u32, u32),
    waves: Vec<Wave>,
    /// For each wave of a workgroup, the x, y and z positions of its invocations in the group, and
    /// their index.
    positions: Vec<[Lanes; 4]>,
    shared: SharedMemory,
}

impl WorkgroupScratch {
    /// Returns the shared memory of the workgroup that ran last.
    #[inline]
    pub fn memory(&mut self) -> &[u32] {
        self.shared.lanes_mut().as_flattened()
    }

    /// Sets up the memory for workgroups of a program.
    fn prepare(&mut self, program: &Program) {
        let shape = (program.local_size, program.in_squares, program.shared_bytes, program.groups_in_wave);
        if self.shape == shape && !self.waves.is_empty() {
            return;
        }
        let invocations: u32 = program.local_size.iter().product();
        self.positions = (0..invocations.div_ceil(WAVE as u32)).map(|wave| positions(program, wave)).collect();
        self.waves.resize_with(self.positions.len(), Wave::default);
        self.shared = SharedMemory::new(program.shared_bytes);
        self.shape = shape;
    }
}

/// Returns the x, y and z positions of a wave's invocations in their workgroup, and their index.
fn positions(program: &Program, wave: u32) -> [Lanes; 4] {
    let [width, height, _] = program.local_size;
    let invocations: u32 = program.local_size.iter().product();
    let index = |lane: usize| match (wave * WAVE as u32 + lane as u32, program.in_squares) {
        (number, false) if program.groups_in_wave > 1 => number % invocations,
        (number, false) => number,
        // Four consecutive invocations form a 2×2 square. The squares of two rows follow one
        // another along x.
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
}

impl Workgroups<'_> {
    /// Returns the number of invocations in a workgroup.
    #[inline]
    pub fn invocations(&self) -> usize {
        self.program.local_size.iter().map(|&count| count as usize).product()
    }

    /// Returns the number of workgroups, saturating.
    #[inline]
    pub fn count(&self) -> usize {
        self.groups.iter().fold(1usize, |all, &count| all.saturating_mul(count as usize))
    }

    /// Runs the workgroups with these numbers. Returns false if one was interrupted.
    pub fn run_all(&self, scratch: &mut WorkgroupScratch, mut numbers: Range<usize>) -> bool {
        match self.program.groups_in_wave as usize {
            1 => numbers.all(|number| self.run(scratch, number, &[])),
            groups => {
                let mut firsts = numbers.clone().step_by(groups);
                firsts.all(|first| self.run_sharing(scratch, first..numbers.end.min(first + groups)))
            }
        }
    }

    /// Runs workgroups that share one wave. Returns false if they were interrupted.
    fn run_sharing(&self, scratch: &mut WorkgroupScratch, numbers: Range<usize>) -> bool {
        scratch.prepare(self.program);
        let (WorkgroupScratch { waves, positions, .. }, invocations) = (scratch, self.invocations());
        let (wave, positions) = (&mut waves[0], &positions[0]);
        wave.start(self.program, ((1u32 << (numbers.len() * invocations)) - 1) as Mask, 0);
        let (mut groups, mut group) = ([[0; WAVE]; 3], self.position(numbers.start));
        for lanes in (0..WAVE).step_by(invocations).take(numbers.len()) {
            for (axis, groups) in groups.iter_mut().enumerate() {
                groups[lanes..lanes + invocations].fill(self.base[axis].wrapping_add(group[axis]));
            }
            group = self.next(group);
        }
        self.fill((&groups, 0), positions, &mut wave.inputs);
        let environment = Environment { push: self.push, ..Environment::new(self.bindings, self.deadline) };
        wave.run(self.program, &environment) != Stop::Interrupted
    }

    /// Returns the position of a workgroup, without the base.
    fn position(&self, number: usize) -> [u32; 3] {
        let [x, y, _] = self.groups.map(|count| count as usize);
        [number % x, number / x % y, number / x / y].map(|position| position as u32)
    }

    /// Returns the position of the workgroup that follows in x, y, z order.
    fn next(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        let [width, height, _] = self.groups;
        match (x + 1 < width, y + 1 < height) {
            (true, _) => [x + 1, y, z],
            (_, true) => [0, y + 1, z],
            _ => [0, 0, z.wrapping_add(1)],
        }
    }

    /// Runs one workgroup. Its shared memory starts with `payload`, and all other words are 0.
    /// Returns false if it was interrupted.
    pub fn run(&self, scratch: &mut WorkgroupScratch, number: usize, payload: &[u32]) -> bool {
        scratch.prepare(self.program);
        let position = self.position(number);
        let group = &[0, 1, 2].map(|axis| [self.base[axis].wrapping_add(position[axis]); WAVE]);
        let WorkgroupScratch { waves, positions, shared, .. } = scratch;
        if let Some(pair) = &self.program.pair {
            return self.run_pairs(pair, group, waves, positions);
        }
        shared.clear();
        shared.fill(payload);
        let environment =
            Environment { push: self.push, shared: Some(shared), ..Environment::new(self.bindings, self.deadline) };
        let invocations = self.invocations();
        for (number, (wave, positions)) in waves.iter_mut().zip(positions).enumerate() {
            let lanes = (invocations - number * WAVE).min(WAVE);
            wave.start(self.program, ((1u32 << lanes) - 1) as u16, 0);
            self.fill((group, number as u32), positions, &mut wave.inputs);
        }
        run_together(self.program, waves, &environment)
    }

    /// Runs a workgroup two waves at a time. The program has no barriers. Returns false if it was
    /// interrupted.
    fn run_pairs(&self, pair: &Program, group: &[Lanes; 3], waves: &mut [Wave], positions: &[[Lanes; 4]]) -> bool {
        let environment = Environment { push: self.push, ..Environment::new(self.bindings, self.deadline) };
        let (wave, words) = (&mut waves[0], self.program.inputs.len());
        for (first, both) in (0..).step_by(2).zip(positions.as_chunks::<2>().0) {
            wave.start(pair, Mask::MAX, 0);
            for ((number, inputs), positions) in (first..).zip(wave.inputs.chunks_exact_mut(words.max(1))).zip(both) {
                self.fill((group, number), positions, inputs);
            }
            if wave.run(pair, &environment) == Stop::Interrupted {
                return false;
            }
        }
        true
    }

    /// Writes the inputs of a wave from the workgroup of each lane and the wave's number in the
    /// group.
    fn fill(&self, (groups, number): (&[Lanes; 3], u32), positions: &[Lanes; 4], inputs: &mut [Lanes]) {
        for (lanes, input) in inputs.iter_mut().zip(&self.program.inputs) {
            let Slot::Builtin(builtin, component) = input.slot else { continue };
            let axis = component as usize % 3;
            *lanes = match builtin {
                Builtin::NumWorkgroups => [self.groups[axis]; WAVE],
                Builtin::WorkgroupId => groups[axis],
                Builtin::LocalInvocationId => positions[axis],
                Builtin::GlobalInvocationId => {
                    let size = self.program.local_size[axis];
                    each(|lane| groups[axis][lane].wrapping_mul(size).wrapping_add(positions[axis][lane]))
                }
                Builtin::LocalInvocationIndex => positions[3],
                Builtin::SubgroupId => [number; WAVE],
                Builtin::DrawIndex => [self.draw; WAVE],
                _ => [0; WAVE],
            };
        }
    }
}
