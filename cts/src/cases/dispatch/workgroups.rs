//! Workgroups of different sizes, shared memory, empty dispatches.

use crate::Entry;
use crate::harness::{Case, Gpu, check};

const SHARED: &[u8] = shader!("shared.comp");
const FEW: &[u8] = shader!("few.comp");
const AWAITED: &[u8] = shader!("awaited.comp");

case!("dispatching.workgroups.none", "Dispatching Commands", |gpu| {
    let buffers = [gpu.buffer_with(&[7u32; 64])?, gpu.buffer(256)?];
    gpu.compute(SHARED, 0, &0u32.to_le_bytes(), &buffers, [0, 1, 1])?;
    check(buffers[1].words().iter().all(|&word| word == 0), || "an empty dispatch wrote".into())
});

cases!(append_workgroups);

fn append_workgroups(cases: &mut Vec<Entry>) {
    for size in [1, 2, 3, 5, 8, 9] {
        let run = move |gpu: &Gpu| few_invocations(gpu, size);
        cases.push(Entry::new(format!("dispatching.workgroups.of{size}"), "Dispatching Commands", run));
    }
}

/// Returns the words that an invocation of `few.comp` stores. `size` and `all` are the invocations
/// of a workgroup and the workgroups of the dispatch.
fn left_by(group: [u32; 3], lane: u32, (size, all): (u32, [u32; 3])) -> [u32; 4] {
    let ([x, y, z], number) = (group, group[0] + all[0] * (group[1] + all[1] * group[2]));
    let at = x * size + lane;
    let sum = (0..number % 7).filter(|i| i & 1 != lane & 1).map(|i| i * x + at).sum::<u32>() + 100;
    if number % 3 == 1 { [0; 4] } else { [at | y << 16 | z << 24, x | y << 8 | z << 16, lane, sum] }
}

fn few_invocations(gpu: &Gpu, size: u32) -> Case {
    let all = [7, 3, 2];
    let groups = (0..all[2]).flat_map(|z| (0..all[1]).flat_map(move |y| (0..all[0]).map(move |x| [x, y, z])));
    let expected: Vec<[u32; 4]> =
        groups.flat_map(|group| (0..size).map(move |lane| left_by(group, lane, (size, all)))).collect();
    let buffers = [gpu.buffer(256)?, gpu.buffer(16 * expected.len() as u64)?];
    gpu.compute(FEW, size as i32, &100u32.to_le_bytes(), &buffers, all)?;
    let count = expected.iter().filter(|words| words[3] != 0).count();
    check(buffers[0].words()[0] == count as u32, || format!("{} instead of {count}", buffers[0].words()[0]))?;
    let got = buffers[1].words();
    let wrong = got.as_chunks::<4>().0.iter().zip(&expected).position(|(got, expected)| got != expected);
    check(wrong.is_none(), || {
        let number = wrong.unwrap_or(0);
        format!("invocation {number}: {:x?} instead of {:x?}", &got[number * 4..][..4], expected[number])
    })
}

case!("dispatching.workgroups.awaited", "Dispatching Commands", awaited);

/// Checks that workgroups end while later ones wait for them. Vulkan does not promise this, but
/// programs with tickets and chained sums rely on it.
fn awaited(gpu: &Gpu) -> Case {
    let buffers = [gpu.buffer(256)?, gpu.buffer(4 * 100)?];
    gpu.compute(AWAITED, 0, &[], &buffers, [100, 1, 1])?;
    let expected: Vec<u32> = (0..100)
        .scan(0u32, |sum, _| {
            *sum = sum.wrapping_mul(3).wrapping_add(1);
            Some(*sum)
        })
        .collect();
    check(buffers[1].words() == expected, || format!("{:?}", buffers[1].words()))
}

case!("dispatching.workgroups.shared_memory", "Dispatching Commands", prefix_sum);

fn prefix_sum(gpu: &Gpu) -> Case {
    let inputs: Vec<u32> = (0..64).map(|index| index * 3 + 1).collect();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(3 * 256)?];
    gpu.compute(SHARED, 0, &10u32.to_le_bytes(), &buffers, [3, 1, 1])?;
    let out = buffers[1].words();
    for group in 0..3usize {
        let mut sum = 0;
        for (lane, input) in inputs.iter().enumerate() {
            sum += input + 10;
            let got = out[group * 64 + lane];
            check(got == sum + group as u32, || format!("group {group}, lane {lane}: {got}"))?;
        }
    }
    Ok(())
}
