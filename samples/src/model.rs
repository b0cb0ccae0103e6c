//! The glTF model: made here, as a binary glTF file in memory, and read back through the `gltf`
//! crate.
//!
//! The generator writes what an artist's tool would: three textured meshes with base colour,
//! normal and metallic-roughness maps as embedded PNGs. Nothing of it is committed, so nothing can
//! go stale. Source: glTF 2.0 specification, chapters 3 (concepts) and 4 (GLB).

use crate::error::{Error, Result};
use crate::geometry::{Mesh, Vertex};
use crate::math::Steady;
use crate::picture::Picture;
use crate::textures::{dents, fractal, normal_map, paint, smoothstep, vase_height, vase_paint, wood};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// Texels along the side of every texture.
const TEXTURE: u32 = 256;

/// One textured part of a loaded model.
pub struct Part {
    /// Geometry in world space.
    pub mesh: Mesh,
    /// Base colour, normal and metallic-roughness maps, in this order.
    pub maps: [Map; 3],
}

/// A decoded texture.
pub struct Map {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// RGBA8 texels.
    pub rgba: Vec<u8>,
}

struct Source {
    name: &'static str,
    mesh: Mesh,
    maps: [Vec<u8>; 3],
}

/// The JSON and the binary chunk while they grow.
#[derive(Default)]
struct Writer {
    bin: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
    images: Vec<String>,
    textures: Vec<String>,
    materials: Vec<String>,
    meshes: Vec<String>,
    nodes: Vec<String>,
}

impl Writer {
    fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.bin.len().is_multiple_of(4) {
            self.bin.push(0);
        }
        let (at, len) = (self.bin.len(), bytes.len());
        self.bin.extend_from_slice(bytes);
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{at},"byteLength":{len}}}"#));
        self.views.len() - 1
    }

    /// Appends an accessor. `kind` is the element type and component type, e.g.
    /// `"type":"VEC3","componentType":5126`.
    fn accessor(&mut self, bytes: &[u8], count: usize, kind: &str) -> usize {
        let view = self.view(bytes);
        self.accessors.push(format!(r#"{{"bufferView":{view},"count":{count},{kind}}}"#));
        self.accessors.len() - 1
    }

    fn texture(&mut self, rgba: &[u8]) -> Result<usize> {
        let picture = Picture { width: TEXTURE, height: TEXTURE, rgba: rgba.to_vec() };
        let view = self.view(&picture.to_png()?);
        let index = self.images.len();
        self.images.push(format!(r#"{{"bufferView":{view},"mimeType":"image/png"}}"#));
        self.textures.push(format!(r#"{{"source":{index},"sampler":0}}"#));
        Ok(index)
    }

    fn material(&mut self, source: &Source) -> Result<usize> {
        let [color, normal, rough] = &source.maps;
        let (color, normal, rough) = (self.texture(color)?, self.texture(normal)?, self.texture(rough)?);
        let name = source.name;
        self.materials.push(format!(
            r#"{{"name":"{name}","normalTexture":{{"index":{normal}}},"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{color}}},"metallicRoughnessTexture":{{"index":{rough}}}}}}}"#
        ));
        Ok(self.materials.len() - 1)
    }

    fn part(&mut self, source: &Source) -> Result<()> {
        let vertices = &source.mesh.vertices;
        let count = vertices.len();
        let floats = |pick: &dyn Fn(&Vertex) -> Vec<f32>| -> Vec<u8> {
            vertices.iter().flat_map(pick).flat_map(f32::to_le_bytes).collect()
        };
        let (low, high) = bounds(vertices);
        let kind = format!(r#""type":"VEC3","componentType":5126,"min":{low},"max":{high}"#);
        let position = self.accessor(&floats(&|v| v.position.to_array().to_vec()), count, &kind);
        let normal = self.accessor(&floats(&|v| v.normal.to_array().to_vec()), count, VEC3);
        let uv = self.accessor(&floats(&|v| v.uv.to_array().to_vec()), count, VEC2);
        let tangent = self.accessor(&floats(&|v| v.tangent.to_array().to_vec()), count, VEC4);
        let indices: Vec<u8> = source.mesh.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        let indices = self.accessor(&indices, source.mesh.indices.len(), SCALAR);
        let material = self.material(source)?;
        let mesh = self.meshes.len();
        self.meshes.push(format!(
            r#"{{"primitives":[{{"attributes":{{"POSITION":{position},"NORMAL":{normal},"TEXCOORD_0":{uv},"TANGENT":{tangent}}},"indices":{indices},"material":{material}}}]}}"#
        ));
        self.nodes.push(format!(r#"{{"name":"{}","mesh":{mesh}}}"#, source.name));
        Ok(())
    }

    fn json(&self) -> String {
        let nodes: Vec<_> = (0..self.nodes.len()).map(|i| i.to_string()).collect();
        format!(
            r#"{{"asset":{{"version":"2.0","generator":"vitric-samples"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"buffers":[{{"byteLength":{}}}],"samplers":[{{"magFilter":9729,"minFilter":9987}}],"bufferViews":[{}],"accessors":[{}],"images":[{}],"textures":[{}],"materials":[{}],"meshes":[{}],"nodes":[{}]}}"#,
            nodes.join(","),
            self.bin.len(),
            self.views.join(","),
            self.accessors.join(","),
            self.images.join(","),
            self.textures.join(","),
            self.materials.join(","),
            self.meshes.join(","),
            self.nodes.join(",")
        )
    }

    /// Returns the file: header, JSON chunk padded with spaces, binary chunk padded with zeros.
    fn glb(mut self) -> Vec<u8> {
        while !self.bin.len().is_multiple_of(4) {
            self.bin.push(0);
        }
        let mut json = self.json().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + json.len() + 8 + self.bin.len();
        let mut glb = Vec::with_capacity(total);
        glb.extend(b"glTF");
        glb.extend(2u32.to_le_bytes());
        glb.extend((total as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &self.bin)] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }
}

const VEC2: &str = r#""type":"VEC2","componentType":5126"#;
const VEC3: &str = r#""type":"VEC3","componentType":5126"#;
const VEC4: &str = r#""type":"VEC4","componentType":5126"#;
const SCALAR: &str = r#""type":"SCALAR","componentType":5125"#;

fn bounds(vertices: &[Vertex]) -> (String, String) {
    let low = vertices.iter().fold(Vec3::MAX, |m, v| m.min(v.position));
    let high = vertices.iter().fold(Vec3::MIN, |m, v| m.max(v.position));
    (format!("[{},{},{}]", low.x, low.y, low.z), format!("[{},{},{}]", high.x, high.y, high.z))
}

fn moved(mesh: Mesh, transform: Mat4) -> Mesh {
    let mut result = Mesh::default();
    result.add(&mesh, transform);
    result
}

/// Returns a texture with roughness in green and metalness in blue, as glTF packs them.
fn surface(size: u32, at: impl Fn(f32, f32) -> (f32, f32)) -> Vec<u8> {
    paint(size, |u, v| {
        let (roughness, metal) = at(u, v);
        Vec3::new(1.0, roughness, metal)
    })
}

fn vase() -> Source {
    // Radius by height as a smooth sum: foot, belly, neck and lip.
    let profile = |v: f32| {
        let belly = 0.62 * (-((v - 0.48) * 4.2).powi(2)).exponential();
        let lip = 0.22 * (-(v * 9.0).powi(2)).exponential();
        let foot = 0.2 * (-((v - 1.0) * 8.0).powi(2)).exponential();
        Vec2::new(0.17 + belly + lip + foot, 2.0 * (1.0 - v))
    };
    let (clay, ink) = (Vec3::new(0.72, 0.36, 0.18), Vec3::new(0.05, 0.045, 0.05));
    let color = paint(TEXTURE, |u, v| (clay * (0.75 + 0.5 * fractal(u, v, 8, 5))).lerp(ink, vase_paint(u, v)));
    let rough = surface(TEXTURE, |u, v| (0.62 - 0.4 * vase_paint(u, v), 0.0));
    Source {
        name: "vase",
        mesh: Mesh::revolved(64, 48, profile),
        maps: [color, normal_map(TEXTURE, 1.2, vase_height), rough],
    }
}

fn knot() -> Source {
    let mut mesh = moved(
        Mesh::knot(2.0, 3.0, 0.19, 240, 20),
        Mat4::from_translation(Vec3::new(1.55, 0.62, 0.35))
            * Mat4::from_rotation_x(1.1)
            * Mat4::from_scale(Vec3::splat(0.52)),
    );
    mesh.vertices.iter_mut().for_each(|v| v.uv *= Vec2::new(11.0, 1.0));
    let color = paint(TEXTURE, |u, v| Vec3::new(1.0, 0.78, 0.36) * (0.8 + 0.2 * dents(u, v)));
    let rough = surface(TEXTURE, |u, v| (0.22 + 0.25 * fractal(u, v, 16, 9), 1.0));
    Source { name: "knot", mesh, maps: [color, normal_map(TEXTURE, 0.9, dents), rough] }
}

fn table() -> Source {
    // A round board with a rounded rim; the profile runs from the centre of the top over the rim.
    let profile = |v: f32| {
        if v < 0.8 {
            Vec2::new(3.1 * v / 0.8, 0.0)
        } else {
            Vec2::new(3.1 + 0.08 * ((v - 0.8) * 5.0 * std::f32::consts::PI).sine(), -(v - 0.8))
        }
    };
    let mut mesh = Mesh::revolved(96, 30, profile);
    mesh.vertices.iter_mut().for_each(|v| {
        // Boards run along x: project the texture from above.
        v.uv = Vec2::new(v.position.x, v.position.z) * 0.22;
        v.tangent = Vec4::new(1.0, 0.0, 0.0, -1.0);
    });
    let (dark, light) = (Vec3::new(0.16, 0.075, 0.035), Vec3::new(0.42, 0.22, 0.10));
    let color = paint(TEXTURE, |u, v| dark.lerp(light, wood(u, v)));
    let rough = surface(TEXTURE, |u, v| (0.32 + 0.25 * smoothstep(0.2, 0.8, wood(u, v)), 0.0));
    Source { name: "table", mesh, maps: [color, normal_map(TEXTURE, 0.2, wood), rough] }
}

fn pearl() -> Source {
    let place = Mat4::from_translation(Vec3::new(-1.45, 0.5, 0.75)) * Mat4::from_scale(Vec3::splat(0.5));
    let color = paint(TEXTURE, |u, v| {
        let band = smoothstep(0.45, 0.55, fractal(u, v, 4, 41));
        Vec3::new(0.02, 0.22, 0.17).lerp(Vec3::new(0.10, 0.55, 0.38), band)
    });
    let rough = surface(TEXTURE, |u, v| (0.12 + 0.2 * fractal(u, v, 8, 43), 0.0));
    let flat = normal_map(TEXTURE, 0.2, |u, v| fractal(u, v, 8, 47));
    Source { name: "jade", mesh: moved(Mesh::sphere(48, 24), place), maps: [color, flat, rough] }
}

/// Returns the model as a `.glb` file.
pub fn glb() -> Result<Vec<u8>> {
    let mut writer = Writer::default();
    for source in [vase(), knot(), table(), pearl()] {
        writer.part(&source)?;
    }
    Ok(writer.glb())
}

/// Reads a `.glb` file whose materials have all three maps.
pub fn load(glb: &[u8]) -> Result<Vec<Part>> {
    let (document, buffers, images) = gltf::import_slice(glb).map_err(|e| Error::Model(e.to_string()))?;
    let primitives = document.meshes().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>());
    primitives.map(|primitive| load_part(&primitive, &buffers, &images)).collect()
}

fn load_part(
    primitive: &gltf::Primitive<'_>,
    buffers: &[gltf::buffer::Data],
    images: &[gltf::image::Data],
) -> Result<Part> {
    let missing = |what: &str| Error::Model(format!("a primitive has no {what}: expected them in every primitive"));
    let reader = primitive.reader(|buffer| buffers.get(buffer.index()).map(|data| &data.0[..]));
    let positions = reader.read_positions().ok_or_else(|| missing("positions"))?;
    let normals = reader.read_normals().ok_or_else(|| missing("normals"))?;
    let uvs = reader.read_tex_coords(0).ok_or_else(|| missing("texture coordinates"))?.into_f32();
    let tangents = reader.read_tangents().ok_or_else(|| missing("tangents"))?;
    let indices = reader.read_indices().ok_or_else(|| missing("indices"))?.into_u32().collect();
    let vertices = positions
        .zip(normals)
        .zip(uvs.zip(tangents))
        .map(|((position, normal), (uv, tangent))| Vertex {
            position: position.into(),
            normal: normal.into(),
            uv: uv.into(),
            tangent: tangent.into(),
        })
        .collect();
    let material = primitive.material();
    let pbr = material.pbr_metallic_roughness();
    let textures = [
        pbr.base_color_texture().map(|t| t.texture()),
        material.normal_texture().map(|t| t.texture()),
        pbr.metallic_roughness_texture().map(|t| t.texture()),
    ];
    let [color, normal, rough] = textures.map(|t| t.and_then(|t| images.get(t.source().index())));
    let map = |image: Option<&gltf::image::Data>, what| image.ok_or_else(|| missing(what)).and_then(decode);
    let maps = [map(color, "base colour map")?, map(normal, "normal map")?, map(rough, "metallic-roughness map")?];
    Ok(Part { mesh: Mesh { vertices, indices }, maps })
}

fn decode(image: &gltf::image::Data) -> Result<Map> {
    let rgba = match image.format {
        gltf::image::Format::R8G8B8A8 => image.pixels.clone(),
        gltf::image::Format::R8G8B8 => image.pixels.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect(),
        other => return Err(Error::Model(format!("texture of format {other:?}: expected 8-bit RGB"))),
    };
    Ok(Map { width: image.width, height: image.height, rgba })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_model_reads_back_as_it_was_made() {
        let parts = load(&glb().unwrap()).unwrap();
        let made = [vase(), knot(), table(), pearl()];
        assert_eq!(parts.len(), made.len());
        for (part, source) in parts.iter().zip(&made) {
            assert_eq!(part.mesh.vertices, source.mesh.vertices, "{}", source.name);
            assert_eq!(part.mesh.indices, source.mesh.indices, "{}", source.name);
            for (map, texels) in part.maps.iter().zip(&source.maps) {
                assert_eq!(&map.rgba, texels, "{}", source.name);
            }
        }
    }

    #[test]
    fn a_damaged_model_is_an_error() {
        let mut bytes = glb().unwrap();
        bytes.truncate(200);
        assert!(matches!(load(&bytes), Err(Error::Model(_))));
    }
}
