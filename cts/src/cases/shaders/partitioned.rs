//! Partitioned subgroup operations.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use vitric_vulkan::names::EXT_SHADER_SUBGROUP_PARTITIONED_NAME;

const SUBSETS: &[u8] = shader!("subgroup_subsets.comp");

case!("subgroups.partitioned.sums", "VK_EXT_shader_subgroup_partitioned", partitioned);

/// Checks that sums over partitions of a subgroup are those of their invocations.
fn partitioned(gpu: &Gpu) -> Case {
    gpu.need(EXT_SHADER_SUBGROUP_PARTITIONED_NAME)?;
    const COUNT: u32 = 64;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    let buffer = gpu.buffer(u64::from(COUNT) * 16)?;
    gpu.compute(SUBSETS, 0, &[], &[buffer], [1, 1, 1])?;
    let size = own.subgroup_size;
    let is_there = |lane: u32| lane % 4 != 1;
    for (number, found) in (0..COUNT).zip(buffer.words().chunks_exact(4)) {
        let (lane, first) = (number % size, number / size * size);
        let of_subset = |lane: u32| (lane * 7 + 3) % 5;
        let members = || (0..size).filter(|&other| is_there(other) && of_subset(other) == of_subset(lane));
        let expected = if is_there(lane) {
            let bits = members().filter(|&other| other < 32).fold(0, |bits, other| bits | 1 << other);
            let sum: u32 = members().map(|other| first + other).sum();
            let most = members().filter(|&other| other <= lane).map(|other| (first + other) ^ 5).max().unwrap_or(0);
            let below: u32 = members().filter(|&other| other < lane).map(|other| first + other).sum();
            [bits, sum, most, (below as f32).to_bits()]
        } else {
            [0; 4]
        };
        check(found == expected, || format!("invocation {number}: {found:?}, not {expected:?}"))?;
    }
    Ok(())
}
