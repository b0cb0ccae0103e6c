//! Formats of `VK_KHR_maintenance5`.

use ash::vk;

use crate::cases::support::conditions::need5;
use crate::harness::{Case, Gpu, ImageDesc, Transition, check, layers};
use crate::render::SIZE;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

case!("maintenance.five.formats", "VK_KHR_maintenance5", formats);

/// Blits the new formats to RGBA8: alpha alone becomes black, and packed components stay in order.
pub(in crate::cases) fn formats(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let packed = |[r, g, b, a]: [u16; 4]| a << 15 | b << 10 | g << 5 | r;
    let texels: Vec<u16> = (0..SIZE * SIZE)
        .map(|at| packed([(at % 32) as u16, (at / 7 % 32) as u16, (at / 3 % 32) as u16, (at % 2) as u16]))
        .collect();
    let wide = |code: u16| (f32::from(code) * 255.0 / 31.0).round() as u8;
    let unpacked: Vec<u8> = texels
        .iter()
        .flat_map(|&word| [wide(word & 31), wide(word >> 5 & 31), wide(word >> 10 & 31), (word >> 15) as u8 * 255])
        .collect();
    blitted(gpu, vk::Format::A1B5G5R5_UNORM_PACK16_KHR, bytemuck::cast_slice(&texels), &unpacked)?;
    let alphas: Vec<u8> = (0..SIZE * SIZE).map(|at| (at * 7) as u8).collect();
    let expected: Vec<u8> = alphas.iter().flat_map(|&alpha| [0, 0, 0, alpha]).collect();
    blitted(gpu, vk::Format::A8_UNORM_KHR, &alphas, &expected)
}

fn blitted(gpu: &Gpu, format: vk::Format, texels: &[u8], expected: &[u8]) -> Case {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let from = gpu.image(&ImageDesc::color(format, [SIZE; 2], usage))?;
    let to = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE; 2], usage))?;
    gpu.write_image(&from, COLOR, texels, source)?;
    let ends = [vk::Offset3D::default(), vk::Offset3D { x: SIZE as i32, y: SIZE as i32, z: 1 }];
    let region = vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: ends,
        dst_subresource: layers(COLOR),
        dst_offsets: ends,
    };
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &to, from: vk::ImageLayout::UNDEFINED, to: general }));
        let nearest = vk::Filter::NEAREST;
        // SAFETY: the images are in these layouts, and the region lies in both.
        unsafe {
            gpu.device.cmd_blit_image(commands, from.handle, source, to.handle, general, &[region], nearest);
        }
        gpu.barrier(commands, Some(Transition { image: &to, from: general, to: source }));
    })?;
    let found = gpu.read_image(&to, COLOR, 4)?;
    let is_near = found.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= 1);
    check(is_near, || format!("{format:?}: {:?}, not {:?}", &found[..16], &expected[..16]))
}
