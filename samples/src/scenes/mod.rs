//! The scenes, and their table.
//!
//! A scene creates its objects once, updates its uniforms to a time, and records a frame. The
//! frame leaves the finished picture in one RGBA8 image in the transfer-source layout.

mod canvas;
mod compute;
mod cube;
mod cubemap;
mod deferred;
mod fjord;
mod glass;
mod gltf_model;
pub mod idle;
mod instancing;
mod interior;
mod meadow;
mod particles;
mod post;
mod shadow;
mod stage;
mod stencil;
mod street;
mod triangle;
mod wire;

use crate::error::{Error, Result};
use crate::gpu::{Commands, Gpu, Image};
use ash::vk::Extent2D;

pub(crate) use canvas::{Backdrop, Canvas, OUTPUT, OUTPUT_UNORM, aspect, clear_color, clear_depth, detail};

/// The SPIR-V that `cargo xtask shaders` compiled from a shader, by the source file's name.
macro_rules! spv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}
pub(crate) use spv;

/// A scene on a device.
pub trait Scene {
    /// Updates the scene's data to `time`, in seconds. The device is idle.
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()>;
    /// Records one frame.
    fn record(&self, cmd: &Commands<'_>);
    /// Returns the finished picture, RGBA8, in the transfer-source layout after every frame.
    fn output(&self) -> &Image;
}

/// Builds a scene for a picture size.
pub type Build = fn(&Gpu, Extent2D) -> Result<Box<dyn Scene>>;

/// Properties of a scene that are known without running it.
#[derive(Debug)]
pub struct SceneInfo {
    /// Name on the command line and of the files.
    pub name: &'static str,
    /// Name on the page.
    pub title: &'static str,
    /// The visible scene, and the parts of Vulkan that it exercises.
    pub about: &'static str,
    /// The frame that is shown.
    pub poster: u32,
    /// Makes the scene.
    pub build: Build,
}

/// Returns all scenes, in the order of the page.
pub fn scenes() -> &'static [SceneInfo] {
    SCENES
}

/// Returns the scene with a name.
pub fn find(name: &str) -> Result<&'static SceneInfo> {
    SCENES.iter().find(|s| s.name == name).ok_or_else(|| Error::UnknownScene(name.to_owned()))
}

static SCENES: &[SceneInfo] = &[
    SceneInfo {
        name: "triangle",
        title: "Triangle",
        about: "The first program of everyone: one vertex buffer, two shaders, smoothly interpolated colours.",
        poster: 0,
        build: triangle::build,
    },
    SceneInfo {
        name: "cube",
        title: "Glazed cube",
        about: "A turning cube with a tiled texture over a floor that runs to the horizon: perspective, depth test, \
                mip chains made by blits, trilinear filtering.",
        poster: 40,
        build: cube::build,
    },
    SceneInfo {
        name: "gltf",
        title: "Still life",
        about: "A glTF model read from a binary file: metallic-roughness shading with base colour, normal and \
                roughness maps, all mipmapped; clay, gold, jade and wood.",
        poster: 20,
        build: gltf_model::build,
    },
    SceneInfo {
        name: "instancing",
        title: "Ring of rocks",
        about: "2,400 rocks of 80 triangles in one indexed, instanced draw, each with its own orbit, spin and tint \
                from a per-instance vertex buffer; derivatives give the facets their normals.",
        poster: 30,
        build: instancing::build,
    },
    SceneInfo {
        name: "particles",
        title: "Spiral galaxy",
        about: "15,000 particles made from their instance number alone, added up by blending in a half-float image, \
                then brought to the screen's range by a second pass.",
        poster: 60,
        build: particles::build,
    },
    SceneInfo {
        name: "shadow",
        title: "Court at sunset",
        about: "A depth pass as seen from the sun with slope-scaled bias, then sampled through a comparing sampler, \
                nine times a pixel.",
        poster: 45,
        build: shadow::build,
    },
    SceneInfo {
        name: "post",
        title: "Neon",
        about: "Eleven passes: a scene in high dynamic range, three widths of bloom each reduced and blurred twice, \
                then lens colour, tone mapping and vignette.",
        poster: 50,
        build: post::build,
    },
    SceneInfo {
        name: "cubemap",
        title: "Chrome at dusk",
        about: "A cube map drawn face by face, its levels made by blits; metals reflect it at a level chosen by \
                their roughness.",
        poster: 100,
        build: cubemap::build,
    },
    SceneInfo {
        name: "stencil",
        title: "Gems on a mirror",
        about: "The stencil buffer limits reflections to the mirror and draws an outline around one stone; the mirror \
                is blended over what it reflects.",
        poster: 35,
        build: stencil::build,
    },
    SceneInfo {
        name: "deferred",
        title: "Twenty-four lamps",
        about: "Deferred shading inside one render pass: a subpass fills three attachments, the next reads them as \
                input attachments and lights every pixel.",
        poster: 25,
        build: deferred::build,
    },
    SceneInfo {
        name: "wire",
        title: "Geodesic",
        about: "Lines and points with four samples a pixel, blended, and resolved at the end of the pass.",
        poster: 70,
        build: wire::build,
    },
    SceneInfo {
        name: "meadow",
        title: "Meadow",
        about: "16,000 blades of grass in the wind and 90 fireflies, which geometry shaders make of points: strips of nine \
                vertices, and squares that are added up.",
        poster: 30,
        build: meadow::build,
    },
    SceneInfo {
        name: "fjord",
        title: "Fjord",
        about: "Mountains that tessellation makes of 3,072 flat patches, finer where they are nearer; patches outside of the \
                picture are left out. They stand on their heads below the water, which is blended over them.",
        poster: 40,
        build: fjord::build,
    },
    SceneInfo {
        name: "street",
        title: "Boulevard",
        about: "A city at eye level, object by object as its scene graph holds it: buildings of several materials, cars, \
                lamps, and trees whose leaves are cut out by discard; most of it is hidden behind facades.",
        poster: 0,
        build: street::build,
    },
    SceneInfo {
        name: "interior",
        title: "Pump hall",
        about: "A hall of machines from a library of parts, down to the threads of bolts, as a viewer for mechanical \
                design draws it: instanced and indirect draws in the order of insertion, then ambient occlusion.",
        poster: 0,
        build: interior::build,
    },
    SceneInfo {
        name: "glass",
        title: "Apothecary",
        about: "Bottles, flasks and jars before a window, with labels and leaves cut out by discard, steam and dust: \
                blended and discarding draws between opaque ones, thing by thing.",
        poster: 0,
        build: glass::build,
    },
    SceneInfo {
        name: "compute",
        title: "Julia set",
        about: "A compute shader writes a storage image, with specialization constants for its steps and workgroup \
                size; a second pass samples and shows it.",
        poster: 90,
        build: compute::build,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scene_names_are_distinct_and_can_be_found() {
        for scene in scenes() {
            assert!(std::ptr::eq(find(scene.name).unwrap(), scene), "{} is there twice", scene.name);
        }
        assert!(matches!(find("nothing"), Err(Error::UnknownScene(_))));
    }
}
