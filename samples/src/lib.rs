//! The samples: real programs written against plain `ash`, rendered off-screen on any Vulkan 1.0
//! device.
//!
//! The caller selects the driver: [`render`] has a parameter of type [`ash::Entry`], which comes
//! from the system's loader or from a driver that is linked into the program. A scene is
//! deterministic: equal sizes and frames lead to equal commands and data.
//!
//! Map: `gpu/` is the helper layer (the only folder with `unsafe`), and `scenes/` has one file for
//! each scene or a folder. `geometry.rs`, `solids.rs`, `textures.rs` and `model.rs` make meshes,
//! textures and models, and `gallery.rs` writes the page.
//!
//! ```
//! use vitric_samples::{Options, find, render};
//!
//! # use vulkan_vitric::vk_icdGetInstanceProcAddr;
//! # let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
//! # // SAFETY: the function has the contract of `vkGetInstanceProcAddr`.
//! # let entry = unsafe { ash::Entry::from_static_fn(functions) };
//! let options = Options { width: 64, height: 48, ..Options::default() };
//! let shot = render(&entry, find("triangle")?, &options)?;
//! assert_eq!(shot.picture.rgba.len(), 64 * 48 * 4);
//! // The triangle covers the middle of the picture, and not its corner.
//! let pixel = |x: usize, y: usize| &shot.picture.rgba[(y * 64 + x) * 4..][..4];
//! assert_ne!(pixel(32, 24), pixel(0, 0));
//! # Ok::<(), vitric_samples::Error>(())
//! ```

pub mod error;
pub mod gallery;
pub mod geometry;
pub mod gpu;
mod math;
pub mod model;
pub mod picture;
pub mod scenes;
mod solids;
mod textures;

pub use error::{Error, Result};
pub use gpu::GpuOptions;
pub use picture::Picture;
pub use scenes::{Scene, SceneInfo, find, scenes};

use ash::vk;
use gpu::{Gpu, Use};
use std::time::Instant;

/// Options of rendering.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Number of consecutive frames that are rendered and timed. The picture is the first frame.
    pub frames: u32,
    /// Options of the instance.
    pub gpu: GpuOptions,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 960, height: 540, frames: 1, gpu: GpuOptions::default() }
    }
}

/// A rendered scene.
#[derive(Debug)]
pub struct Shot {
    /// The scene.
    pub scene: &'static SceneInfo,
    /// The picture of the scene's poster frame.
    pub picture: Picture,
    /// Milliseconds to create the device, the resources and the pipelines.
    pub setup_ms: f64,
    /// Milliseconds from recording each frame to its end on the device.
    pub times: Vec<f64>,
    /// The device's name.
    pub device: String,
    /// Messages of the validation layer, if it is enabled.
    pub messages: Vec<String>,
}

impl Shot {
    /// Returns the mean milliseconds of a frame.
    pub fn frame_ms(&self) -> f64 {
        self.times.iter().sum::<f64>() / self.times.len().max(1) as f64
    }
}

/// Frames per second of the samples' clock.
pub const FRAME_RATE: f32 = 60.0;

/// Renders one scene on a fresh device.
pub fn render(entry: &ash::Entry, scene: &'static SceneInfo, options: &Options) -> Result<Shot> {
    let start = Instant::now();
    let gpu = Gpu::new(entry, &options.gpu)?;
    let mut live = (scene.build)(&gpu, vk::Extent2D { width: options.width, height: options.height })?;
    let setup_ms = millis(start);
    let (mut picture, mut times) = (None, Vec::new());
    for frame in 0..options.frames.max(1) {
        let time = (scene.poster + frame) as f32 / FRAME_RATE;
        let start = Instant::now();
        draw(&gpu, live.as_mut(), time)?;
        times.push(millis(start));
        if picture.is_none() {
            picture = Some(read_back(&gpu, live.as_ref())?);
        }
    }
    let device = gpu.name().to_owned();
    let picture = picture.ok_or_else(|| Error::Picture("no frame was rendered".into()))?;
    drop(live);
    Ok(Shot { scene, picture, setup_ms, times, device, messages: gpu.close() })
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

fn draw(gpu: &Gpu, scene: &mut dyn Scene, time: f32) -> Result<()> {
    scene.update(gpu, time)?;
    gpu.submit(|cmd| {
        scene.record(cmd);
        Ok(())
    })
}

/// Copies the finished image out; scenes leave it in the transfer-source layout.
fn read_back(gpu: &Gpu, scene: &dyn Scene) -> Result<Picture> {
    let image = scene.output();
    let (width, height) = (image.desc.width, image.desc.height);
    let size = u64::from(width) * u64::from(height) * 4;
    let buffer = gpu.host_buffer(size, vk::BufferUsageFlags::TRANSFER_DST)?;
    gpu.submit(|cmd| {
        cmd.image_barrier(image, Use::TransferRead, Use::TransferRead);
        cmd.copy_from_image(image, &buffer);
        Ok(())
    })?;
    Ok(Picture { width, height, rgba: gpu.read(&buffer)? })
}
