//! Conversion of luma and chroma to red, green and blue. Each is sampled from its plane.
//!
//! Chroma is reconstructed implicitly: it is filtered at the positions of its samples, by its own
//! filter. Source: Vulkan specification, "Chroma Reconstruction" (implicit) and "Sampler Y'CbCr
//! Conversion"; Khronos Data Format Specification for the models.

use ash::vk::{self, SamplerYcbcrModelConversion as Model};
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_ir::{BinaryOp as B, TernaryOp as T, Value};
use vitric_memory::{SurfaceView, Swizzle};

use super::address::Level;
use super::filter::SamplePosition;
use super::texel::Texel;
use super::{RoutineBuilder, word};
use crate::runtime::{Bound, Conversion, model_weights};

/// Returns the planes as resources, and the words of each plane in the format of a level. Returns
/// `None` if no memory is bound, or if a plane exceeds the range of offsets or the bound memory.
pub(super) fn planes(view: &SurfaceView, info: &FormatInfo) -> Option<(Vec<Bound>, Vec<u32>)> {
    let extent = view.extent(0);
    let mut words = vec![0; (word::LEVELS + word::LEVEL * 3) as usize];
    words[word::LAST_LAYER as usize] = view.desc.layers.saturating_sub(1);
    let mut memories = Vec::new();
    for (number, plane) in (0..).zip(info.planes()) {
        let memory = view.memory(plane.aspect)?;
        let inside = memory.memory.size().saturating_sub(memory.start);
        if memory.bytes > inside.min(super::MAX_BYTES) {
            return None;
        }
        let position = view.level_place(plane.aspect, 0)?;
        let (width, height) = (extent.width.div_ceil(plane.block[0]), extent.height.div_ceil(plane.block[1]));
        super::put_level(&mut words, number, [width, height, 1], position);
        memories.push(Bound::Buffer(Some(memory.memory), memory.start, memory.bytes));
    }
    Some((memories, words))
}

impl RoutineBuilder<'_> {
    /// Returns the result of a sampler with a conversion.
    pub(super) fn converted(&mut self, position: &SamplePosition, conversion: &Conversion) -> Option<Texel> {
        // If the level of detail does not matter, both filters are equal and the condition is not
        // used.
        let magnifies = if self.state.ignores_lod() { self.b.int(0) } else { self.select_levels().magnifies };
        let planar = self.info;
        let [luma, ..] = self.plane_texel(planar, 0, |builder, level| builder.filtered(position, level, magnifies))?;
        let filter = conversion.chroma_filter;
        let chroma = |builder: &mut Self, plane: usize| {
            builder.plane_texel(planar, plane, |builder, level| {
                let position = builder.chroma_position(position, level, conversion, planar);
                builder.filtered_level(&position, level, filter)
            })
        };
        let [blue, second, ..] = chroma(self, 1)?;
        let red = if planar.planar[2].is_some() { chroma(self, 2)?[0] } else { second };
        self.info = planar;
        let one = self.b.float(1.0);
        let texel = self.map_components([red, luma, blue, one], conversion.components);
        Some(self.converted_from_model(texel, conversion, u32::from(planar.channels[0].bits)))
    }

    /// Returns a texel of a plane, decoded from its format.
    fn plane_texel(
        &mut self,
        planar: &FormatInfo,
        plane: usize,
        texel: impl FnOnce(&mut Self, &Level) -> Texel,
    ) -> Option<Texel> {
        self.info = format::info(planar.planar[plane]?.format)?;
        self.resource = plane as u32;
        let number = self.b.int(plane as u32);
        let level = self.level(number);
        let texel = texel(self, &level);
        Some(self.values(texel))
    }

    /// Returns coordinates moved to the positions of the chroma samples. Nearest filtering needs
    /// no move, because it selects the same sample in either case.
    fn chroma_position(
        &mut self,
        position: &SamplePosition,
        level: &Level,
        conversion: &Conversion,
        planar: &FormatInfo,
    ) -> SamplePosition {
        let block = planar.planes().nth(1).map_or([1; 2], |plane| plane.block);
        let mut coords = position.coords;
        for axis in 0..2 {
            let even = conversion.chroma_offsets[axis] == vk::ChromaLocation::COSITED_EVEN;
            if block[axis] == 2 && even && conversion.chroma_filter == vk::Filter::LINEAR {
                // The distance is half a luma texel.
                let (size, quarter) = (self.length(level, axis), self.b.float(0.25));
                let step = self.b.binary(B::FDiv, quarter, size);
                coords[axis] = self.b.binary(B::FAdd, coords[axis], step);
            }
        }
        SamplePosition { coords, ..*position }
    }

    fn map_components(&mut self, texel: Texel, components: [Swizzle; 4]) -> Texel {
        components.map(|swizzle| match swizzle {
            Swizzle::Zero => self.b.float(0.0),
            Swizzle::One => self.b.float(1.0),
            Swizzle::Component(component) => texel[usize::from(component & 3)],
        })
    }

    /// Expands the range of components with `bits` bits and converts them from the model.
    fn converted_from_model(&mut self, [red, green, blue, alpha]: Texel, conversion: &Conversion, bits: u32) -> Texel {
        if conversion.model == Model::RGB_IDENTITY {
            return [red, green, blue, alpha];
        }
        let [luma, chroma] = conversion.expansion(bits);
        let expanded = |builder: &mut Self, value: Value, [scale, start]: [f32; 2]| {
            let (scale, start) = (builder.b.float(scale), builder.b.float(start));
            builder.b.ternary(T::Fma, value, scale, start)
        };
        let (y, cb, cr) = (expanded(self, green, luma), expanded(self, blue, chroma), expanded(self, red, chroma));
        let Some([r_cr, g_cb, g_cr, b_cb]) = model_weights(conversion.model) else { return [cr, y, cb, alpha] };
        let mut plus = |value: Value, weight: f32, sum: Value| {
            let weight = self.b.float(weight);
            self.b.ternary(T::Fma, value, weight, sum)
        };
        let green = plus(cb, g_cb, y);
        [plus(cr, r_cr, y), plus(cr, g_cr, green), plus(cb, b_cb, y), alpha]
    }
}
