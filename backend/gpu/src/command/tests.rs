//! Tests of commands and of copies by the host while images are compacted in near memory.

use std::time::Duration;

use vitric_base::counters::Counter;
use vitric_base::knobs::BatchLimit;
use vitric_base::workers::Workers;
use vitric_exec::Inlining;
use vitric_memory::{
    Allocation, FarFile, Heap, ImageAccess, NearConfig, Residency, SurfaceDesc, SurfaceViewDesc, Swizzle,
};

use super::*;
use crate::geometry::Posh;
use crate::gpu::{FarMemoryFailed, Gpu, GpuConfig};
use crate::hiz::Hiz;
use crate::raster::Coverage;
use crate::transfer::CopyDirection;

const CONFIG: GpuConfig = GpuConfig {
    threads: 2,
    timeout: Duration::from_secs(60),
    tbimr: true,
    batch: BatchLimit::Bytes(16 << 20),
    chunk: 8192,
    hiz: Hiz::Auto,
    coverage: Coverage::Hierarchical,
    scoreboard: true,
    packs_always: false,
    merged: None,
    posh: Posh::Auto,
    lookahead: 0,
    inlining: Inlining::Auto,
    counts: false,
    decoded_bytes: 0,
};

/// Bytes of an image of [`DESC`].
const IMAGE_BYTES: u64 = 1 << 18;
const DESC: SurfaceDesc = SurfaceDesc {
    kind: vk::ImageType::TYPE_2D,
    format: vk::Format::R8G8B8A8_UNORM,
    extent: vk::Extent3D { width: 256, height: 256, depth: 1 },
    levels: 1,
    layers: 1,
    samples: 1,
    linear: false,
    decoded: false,
};
const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

/// Creates a GPU that compacts all images after each use, or only when the heap is full.
fn gpu(heap: &Arc<Heap>, far: Option<Arc<FarFile>>, always: bool) -> Arc<Gpu> {
    let near = NearConfig { bytes: 64 << 10, far, wanted_by_host: || 0, always };
    Gpu::with_near(CONFIG, Some(Residency::new(near, heap.clone())))
}

/// Creates an image with memory that can be compacted, and uses it once.
fn image(gpu: &Gpu, heap: &Arc<Heap>) -> Arc<Surface> {
    let image = Surface::new(DESC).unwrap();
    let memory = Allocation::new_compactable(heap, IMAGE_BYTES, gpu.near().unwrap()).unwrap();
    assert!(image.bind(memory, 0));
    image.begin_use(&gpu.near().unwrap().begin(&Workers::new(1)), ImageAccess::Overwrite);
    image
}

/// Returns a buffer of incompressible texels for an image.
fn noise() -> Arc<Buffer> {
    let buffer = Buffer::new(IMAGE_BYTES);
    assert!(buffer.bind(Allocation::new(&Heap::new(IMAGE_BYTES), IMAGE_BYTES).unwrap(), 0));
    let words = (1u32..=1 << 16).map(|word| word.wrapping_mul(0x9e37_79b9).rotate_right(word % 31));
    buffer.write(0, &words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    buffer
}

fn whole_image() -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: LAYERS, image_extent: DESC.extent, ..Default::default() }
}

/// A copy in 16 regions changes more than an eighth of the image. The command makes it resident,
/// though its first batches are small.
#[test]
fn commands_decide_once_if_their_copies_make_images_resident() {
    for (height, is_resident) in [(2, false), (3, true)] {
        let heap = Heap::new(1 << 24);
        let gpu = gpu(&heap, None, true);
        let target = image(&gpu, &heap);
        let region = |row: u32| vk::BufferImageCopy {
            image_offset: vk::Offset3D { x: 0, y: (row * 16) as i32, z: 0 },
            image_extent: vk::Extent3D { width: 256, height, depth: 1 },
            ..whole_image()
        };
        let regions: Vec<_> = (0..16).map(region).collect();
        let copy = Command::CopyBufferToImage { source: noise(), target, regions };
        let list = CommandList { commands: vec![copy], ..Default::default() };
        gpu.execute(&[Arc::new(list)]).unwrap();
        let counted = gpu.near().unwrap().counted();
        let written = counted.iter().find(|(number, _)| *number == Counter::LinesWritten as usize).unwrap().1;
        assert_eq!(written > 0, !is_resident, "{height} rows: {written}");
    }
}

/// The far-memory file loses its contents. Copies by the host report that, and so do command lists.
#[test]
fn copies_report_failures_of_far_memory() {
    let (far, heap) = (FarFile::create(&std::env::temp_dir()).unwrap(), Heap::new(1 << 24));
    let gpu = gpu(&heap, Some(far.clone()), true);
    let [source, target] = [(); 2].map(|()| image(&gpu, &heap));
    let (buffer, region) = (noise(), whole_image());
    let copy =
        vk::ImageCopy { src_subresource: LAYERS, dst_subresource: LAYERS, extent: DESC.extent, ..Default::default() };
    assert_eq!(gpu.copy_buffer_image(&buffer, &source, &[region], CopyDirection::ToImage), Ok(()));
    assert_eq!(gpu.copy_buffer_image(&buffer, &source, &[region], CopyDirection::ToBuffer), Ok(()));
    far.clear();
    let (from, to, regions) = (source.clone(), buffer.clone(), vec![region]);
    let read = Command::CopyImageToBuffer { source: from, target: to, regions };
    let list = CommandList { commands: vec![read], ..Default::default() };
    let lost = gpu.execute(&[Arc::new(list)]).unwrap_err().to_string();
    assert!(lost.ends_with(&FarMemoryFailed.to_string()), "{lost}");
    let copied = gpu.copy_buffer_image(&buffer, &source, &[region], CopyDirection::ToBuffer);
    assert_eq!(copied, Err(FarMemoryFailed));
    assert_eq!(gpu.copy_image(&source, &target, &[copy]), Err(FarMemoryFailed));
}

/// An implicit multisampled image takes the place of idle images in a full heap.
#[test]
fn implicit_images_make_room() {
    let heap = Heap::with_far(2 * IMAGE_BYTES, 4 * IMAGE_BYTES);
    let gpu = gpu(&heap, None, false);
    let [attachment, _idle] = [(); 2].map(|()| image(&gpu, &heap));
    let (format, kind, aspects) = (DESC.format, vk::ImageViewType::TYPE_2D, vk::ImageAspectFlags::COLOR);
    let desc = SurfaceViewDesc {
        kind,
        format,
        swizzle: Swizzle::IDENTITY,
        aspects,
        base_level: 0,
        levels: 1,
        base_layer: 0,
        layers: 1,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    };
    let view = SurfaceView { surface: attachment, desc };
    let implicit = implicit::create_view(&gpu, &view, 2).unwrap();
    assert_eq!((implicit.surface.desc().samples, heap.used()), (2, 4 * IMAGE_BYTES));
    assert_eq!(heap.resident(), 2 * IMAGE_BYTES, "both images are zeros");
    assert!(implicit::create_view(&gpu, &view, 8).is_none(), "the heap is too small");
}
