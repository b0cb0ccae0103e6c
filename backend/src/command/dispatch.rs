//! Compute dispatch: workgroups over the workers; the waves of a workgroup run to each barrier in turn.

use super::processor::{Processor, resolve};
use crate::gpu::DeviceLost;
use crate::shader::interp::{Deadline, Environment, Lanes, Stop, WAVE, Wave};
use crate::shader::runtime::{Bindings, SharedMemory};
use crate::shader::{Builtin, Program, Slot};

/// Dispatches the bound compute pipeline.
pub(super) fn dispatch(processor: &mut Processor<'_>, groups: [u32; 3]) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.compute.clone() else { return Ok(()) };
    let bindings = resolve(&pipeline.program, &processor.state.compute_sets);
    let push = &processor.state.push;
    let count = groups.iter().fold(1usize, |all, &count| all.saturating_mul(count as usize));
    let deadline: &Deadline = &processor.deadline;
    processor.gpu.parallel(count, Vec::new, |waves, index| {
        if deadline.expired() {
            return;
        }
        let [x, y, _] = groups.map(|count| count as usize);
        let group = [index % x, index / x % y, index / x / y].map(|coordinate| coordinate as u32);
        let job = Workgroup { program: &pipeline.program, bindings: &bindings, push, deadline, groups, group };
        job.run(waves);
    });
    if deadline.was_hit() { Err(DeviceLost) } else { Ok(()) }
}

struct Workgroup<'a> {
    program: &'a Program,
    bindings: &'a Bindings,
    push: &'a [u8],
    deadline: &'a Deadline,
    groups: [u32; 3],
    group: [u32; 3],
}

impl Workgroup<'_> {
    fn run(&self, waves: &mut Vec<Wave>) {
        let size = self.program.local_size.map(|count| count as usize);
        let invocations: usize = size.iter().product();
        let count = invocations.div_ceil(WAVE);
        waves.resize_with(count, Wave::default);
        let shared = SharedMemory::new(self.program.shared_bytes);
        let environment = Environment {
            bindings: self.bindings,
            push: self.push,
            shared: Some(&shared),
            interpolator: None,
            deadline: self.deadline,
        };
        for (number, wave) in waves.iter_mut().enumerate() {
            let first = number * WAVE;
            let lanes = (invocations - first).min(WAVE);
            wave.start(self.program, ((1u32 << lanes) - 1) as u16, 0);
            self.fill(first as u32, &mut wave.inputs);
        }
        let mut running: Vec<&mut Wave> = waves.iter_mut().collect();
        while !running.is_empty() {
            let mut interrupted = false;
            running.retain_mut(|wave| match wave.run(self.program, &environment) {
                Stop::Barrier => true,
                Stop::Done => false,
                Stop::Interrupted => {
                    interrupted = true;
                    false
                }
            });
            if interrupted || self.deadline.was_hit() {
                return;
            }
        }
    }

    fn fill(&self, first: u32, inputs: &mut [Lanes]) {
        let [width, height, _] = self.program.local_size;
        for (lanes, input) in inputs.iter_mut().zip(&self.program.inputs) {
            let Slot::Builtin(builtin, component) = input.slot else { continue };
            let axis = component as usize % 3;
            *lanes = std::array::from_fn(|lane| {
                let index = first + lane as u32;
                let local = [index % width, index / width % height, index / width / height];
                match builtin {
                    Builtin::NumWorkgroups => self.groups[axis],
                    Builtin::WorkgroupId => self.group[axis],
                    Builtin::LocalInvocationId => local[axis],
                    Builtin::GlobalInvocationId => {
                        self.group[axis].wrapping_mul(self.program.local_size[axis]).wrapping_add(local[axis])
                    }
                    Builtin::LocalInvocationIndex => index,
                    _ => 0,
                }
            });
        }
    }
}

/// Runs one workgroup, for tests of programs.
#[cfg(test)]
pub(crate) fn dispatch_for_test(program: &Program, bindings: &Bindings, push: &[u8], deadline: &Deadline) {
    let job = Workgroup { program, bindings, push, deadline, groups: [1; 3], group: [0; 3] };
    job.run(&mut Vec::new());
}
