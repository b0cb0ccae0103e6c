//! Pixels of presentable images in the order of window systems.

use ash::vk;
use vitric_memory::{PlaneRef, Surface};

/// Reads a presentable image as rows of blue, green, red, alpha bytes into `out`, up to its length.
/// The alpha of opaque frames is 255, because the window system may use the alpha channel.
pub fn read_frame(surface: &Surface, is_opaque: bool, out: &mut [u8]) {
    let Some(plane) = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0) else { return };
    let swap = matches!(surface.desc().format, vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB);
    let set = if is_opaque { 0xff00_0000 } else { 0 };
    let texel = |word: u32| {
        let [first, second, third, last] = (word | set).to_le_bytes();
        if swap { [third, second, first, last] } else { [first, second, third, last] }
    };
    let width = plane.width().max(1) as usize;
    let (texels, _) = out.as_chunks_mut::<4>();
    for (y, rows) in (0..plane.height()).step_by(2).zip(texels.chunks_mut(2 * width)) {
        let (upper, lower) = rows.split_at_mut(width.min(rows.len()));
        read_rows(&plane, y, texel, [upper, lower]);
    }
}

/// Reads two rows from an even `y` on. The second row may be partial or empty. Whole strips of
/// eight pixels are read at once, the remaining pixels in quads.
fn read_rows(plane: &PlaneRef<'_>, y: u32, texel: impl Fn(u32) -> [u8; 4], mut rows: [&mut [[u8; 4]]; 2]) {
    let strips = if plane.has_line(0, y & !7) { plane.width() / 8 } else { 0 };
    for strip in 0..strips {
        let words = plane.read_strip(strip * 8, y, 0);
        for (row, below) in rows.iter_mut().zip([0, 2]) {
            let Some(eight) = row.as_chunks_mut::<8>().0.get_mut(strip as usize) else { continue };
            *eight = std::array::from_fn(|at| texel(words[at / 2 * 4 + at % 2 + below]));
        }
    }
    for x in (strips * 8..plane.width()).step_by(2) {
        let quad = plane.read_quad(x, y, 0).map(&texel);
        for (row, pair) in rows.iter_mut().zip(quad.chunks(2)) {
            row.iter_mut().skip(x as usize).zip(pair).for_each(|(to, from)| *to = *from);
        }
    }
}

#[cfg(test)]
mod tests {
    use vitric_memory::{Allocation, Heap, SurfaceDesc};

    use super::*;

    #[test]
    fn rows_of_pictures_of_every_size() {
        let heap = Heap::new(1 << 20);
        let formats = [
            vk::Format::B8G8R8A8_UNORM,
            vk::Format::B8G8R8A8_SRGB,
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R8G8B8A8_SRGB,
        ];
        let sizes: [[u32; 2]; 5] = [[16, 8], [19, 13], [1, 1], [8, 3], [9, 16]];
        for (format, [width, height]) in formats.into_iter().flat_map(|format| sizes.map(|size| (format, size))) {
            let extent = vk::Extent3D { width, height, depth: 1 };
            let kind = vk::ImageType::TYPE_2D;
            let desc =
                SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
            let surface = Surface::new(desc).unwrap();
            assert!(surface.bind(Allocation::new(&heap, surface.layout().size()).unwrap(), 0));
            let plane = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
            let places = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let texel = |(x, y): (u32, u32)| [x as u8, y as u8, 77, (x ^ y) as u8];
            places().for_each(|(x, y)| plane.write_word(x, y, 0, u32::from_le_bytes(texel((x, y)))));
            let mut rows = vec![1; width as usize * height as usize * 4];
            let is_red_first = [vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB].contains(&format);
            let order = if is_red_first { [2, 1, 0, 3] } else { [0, 1, 2, 3] };
            for is_opaque in [true, false] {
                read_frame(&surface, is_opaque, &mut rows);
                let set = if is_opaque { [0, 0, 0, 255] } else { [0; 4] };
                let pixel = |place| order.map(|byte: usize| texel(place)[byte] | set[byte]);
                let expected: Vec<u8> = places().flat_map(pixel).collect();
                assert_eq!(rows, expected, "{format:?} {width}x{height} {is_opaque}");
            }
        }
    }
}
