//! Meshes of small triangles, most of a few pixels or less: costs of vertices, triangle set-up and
//! fragments. The throughput's element is one triangle.
//!
//! Variants shade each of four samples, have one normal everywhere, overwrite or blend large
//! triangles with four samples, or use targets with one byte a texel.

mod device;

use ash::vk;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::Result;
use vitric_samples::gpu::{
    Attachment, Blend, Buffer, Gpu, GraphicsDesc, ImageDesc, Layout, PassDesc, Pipeline, Target,
};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 1024, height: 1024 };

struct Scene {
    target: Target,
    layout: Layout,
    pipeline: Pipeline,
}

impl Scene {
    /// Creates a scene with a colour format, a sample count, a fragment shader and blending.
    fn new(
        gpu: &Gpu,
        (format, samples): (vk::Format, vk::SampleCountFlags),
        fragment: &[u8],
        blend: Blend,
    ) -> Result<Self> {
        let (width, height) = (EXTENT.width, EXTENT.height);
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = gpu.image(ImageDesc::new(format, width, height, usage).with_samples(samples))?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let depth = gpu.image(ImageDesc::new(vk::Format::D32_SFLOAT, width, height, usage).with_samples(samples))?;
        let [stored, tested] =
            [&color, &depth].map(|image| Attachment::stored(image, vk::ImageLayout::TRANSFER_SRC_OPTIMAL));
        let pass = gpu.pass(&PassDesc::simple(stored, Some(tested)))?;
        let target = gpu.target(&pass, &[color.view, depth.view], EXTENT)?;
        let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::VERTEX, 16)))?;
        let mut desc = GraphicsDesc::new(include_bytes!("shaders/mesh.vert.spv"), fragment, &layout, &pass);
        (desc.depth, desc.samples, desc.blends) = ((true, true), samples, vec![blend]);
        Ok(Self { target, pipeline: gpu.graphics(&desc)?, layout })
    }

    fn draw(&self, gpu: &Gpu, (side, is_flat): (u32, bool), indices: &Buffer) -> Result<()> {
        let depth_stencil = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
        gpu.submit(|commands| {
            commands.begin(&self.target, &[vk::ClearValue::default(), vk::ClearValue { depth_stencil }]);
            commands.pipeline(&self.pipeline);
            commands.push(&self.layout, &[side as f32, f32::from(is_flat), 0.0, 0.0]);
            commands.indices(indices);
            commands.draw_indexed(side * side * 6, 1);
            commands.end();
            Ok(())
        })
    }
}

/// Returns indices of two triangles for each square of a grid, row by row.
fn grid(gpu: &Gpu, side: u32) -> Result<Buffer> {
    let corners = side + 1;
    let square = |number: u32| {
        let first = number / side * corners + number % side;
        [first, first + 1, first + corners, first + 1, first + corners + 1, first + corners]
    };
    let indices: Vec<u32> = (0..side * side).flat_map(square).collect();
    let buffer = gpu.host_buffer(indices.len() as u64 * 4, vk::BufferUsageFlags::INDEX_BUFFER)?;
    gpu.write(&buffer, 0, &indices)?;
    Ok(buffer)
}

fn meshes(criterion: &mut Criterion) {
    let gpu = device::open();
    let mut group = criterion.benchmark_group("meshes");
    let shaded = &include_bytes!("shaders/mesh.frag.spv")[..];
    let by_sample = &include_bytes!("shaders/mesh_samples.frag.spv")[..];
    let (words, bytes) = (vk::Format::R8G8B8A8_UNORM, vk::Format::R8_UNORM);
    let (one, four) = ((words, vk::SampleCountFlags::TYPE_1), (words, vk::SampleCountFlags::TYPE_4));
    let narrow = (bytes, vk::SampleCountFlags::TYPE_1);
    let (small, large, all) = (&[1, 2, 4, 8][..], &[16, 64, 1024][..], &[4, 64, 1024][..]);
    for (name, target, fragment, blend, sides) in [
        ("grid", one, shaded, Blend::Off, small),
        ("flat", one, shaded, Blend::Off, small),
        ("samples", four, by_sample, Blend::Off, small),
        ("overwritten", four, shaded, Blend::Off, large),
        ("blended", four, shaded, Blend::Alpha, large),
        ("narrow", narrow, shaded, Blend::Off, all),
        ("narrow_blended", narrow, shaded, Blend::Alpha, all),
    ] {
        let scene = Scene::new(&gpu, target, fragment, blend).expect("the scene can be made");
        for &pixels in sides {
            let side = EXTENT.width / pixels;
            let indices = grid(&gpu, side).expect("the mesh can be made");
            group.throughput(Throughput::Elements(u64::from(side * side * 2))).sample_size(10);
            group.bench_function(BenchmarkId::new(name, format!("{pixels}x{pixels}")), |bencher| {
                bencher.iter(|| scene.draw(&gpu, (side, name == "flat"), &indices).expect("it is drawn"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, meshes);
criterion_main!(benches);
