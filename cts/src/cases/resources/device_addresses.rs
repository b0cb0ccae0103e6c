//! Device addresses of buffers.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::address_commands::address;

const ADDRESSES: &[u8] = shader!("addresses.comp");

fn needs_addresses(gpu: &Gpu) -> Case {
    match gpu.extension_features.addresses.buffer_device_address {
        vk::TRUE => Ok(()),
        _ => Err(Outcome::NotSupported("addresses of buffers".into())),
    }
}

case!("core12.addresses.list", "VK_KHR_buffer_device_address", list);

/// Follows a list of three unordered nodes in one buffer and a fourth in another, which holds the
/// address of the result.
fn list(gpu: &Gpu) -> Case {
    needs_addresses(gpu)?;
    let (near, far, out) = (gpu.addressed(256)?, gpu.addressed(64)?, gpu.addressed(17 * 4)?);
    let (near_at, far_at, out_at) = (address(gpu, &near), address(gpu, &far), address(gpu, &out));
    let order = [(near_at + 128, 5), (near_at, 7), (far_at, 11), (near_at + 64, 13)];
    let node = |next: u64, target: u64, value: u32| -> Vec<u8> {
        let words = [next as u32, (next >> 32) as u32, target as u32, (target >> 32) as u32, value, 0];
        let array = [value, value * 2, value * 3, value * 4];
        words.iter().chain(&array).flat_map(|word| word.to_le_bytes()).collect()
    };
    let mut bytes = vec![0; 256];
    for (number, &(at, value)) in order.iter().enumerate() {
        let next = order.get(number + 1).map_or(0, |(next, _)| *next);
        let node = node(next, if next == 0 { out_at } else { 0 }, value);
        match at.checked_sub(near_at).filter(|&offset| offset < 256) {
            Some(offset) => bytes[offset as usize..][..node.len()].copy_from_slice(&node),
            None => far.write(&node),
        }
    }
    near.write(&bytes);
    let compute = gpu.compute_pipeline(ADDRESSES, 0, &[])?;
    let mut push = order[0].0.to_le_bytes().to_vec();
    push.extend_from_slice(&100u32.to_le_bytes());
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &push);
        // SAFETY: the command buffer is recording, and all addresses are of live buffers.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    let result = |lane: u32| order.iter().fold(0, |sum, (_, value)| sum * 3 + value + value * (lane % 4 + 1));
    let expected: Vec<u32> = (0..16).map(result).chain([16]).collect();
    check(out.words() == expected, || format!("{:?}, not {expected:?}", out.words()))
}

case!("core12.addresses.distinct", "VK_KHR_buffer_device_address", distinct);

/// Checks that buffers with overlapping lifetimes share no address.
fn distinct(gpu: &Gpu) -> Case {
    needs_addresses(gpu)?;
    let sizes = [1u64, 65_536, 7, 1 << 20];
    let buffers = sizes.iter().map(|&size| gpu.addressed(size)).collect::<Result<Vec<_>, _>>()?;
    let mut ranges: Vec<_> = buffers.iter().map(|buffer| (address(gpu, buffer), buffer.size)).collect();
    ranges.sort_unstable();
    let apart = ranges.windows(2).all(|pair| pair[0].0 != 0 && pair[0].0 + pair[0].1 <= pair[1].0);
    check(apart, || format!("{ranges:x?}"))
}
