//! Access to single texels: fetch, storage load and store, atomics, and size queries. Reads out of
//! bounds return zero, and one for an alpha that the format lacks. Writes out of bounds are
//! dropped. Source: Vulkan specification, "Robust Image Access 2".

use ash::vk;
use vitric_format as format;
use vitric_format::Texel;
use vitric_ir::AtomicOp;
use vitric_memory::{BufferView, SurfaceView};

use super::texel::Reader;
use crate::runtime::{Descriptor, perform, perform_wide};

/// Position of a texel in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelPosition {
    /// Texel coordinates.
    pub coords: [i32; 3],
    /// Layer of an arrayed view, or face of a storage cube.
    pub layer: i32,
    /// Level, relative to the view.
    pub level: u32,
    /// Sample index.
    pub sample: u32,
}

/// Position of a texel in a plane.
struct PlanePosition {
    x: u32,
    y: u32,
    /// Layer, or depth slice of 3D views.
    slice: u32,
}

impl TexelPosition {
    /// Returns the position in a plane, or `None` if a coordinate is negative or the slice is out
    /// of bounds.
    fn in_plane(&self, view: &SurfaceView) -> Option<PlanePosition> {
        let volume = view.desc.kind == vk::ImageViewType::TYPE_3D;
        let slice = if volume { self.coords[2] } else { self.layer };
        let slice = u32::try_from(slice).ok()?;
        let limit = if volume { view.extent(self.level).depth } else { view.desc.layers };
        let inside = slice < limit;
        let (x, y) = (u32::try_from(self.coords[0]).ok()?, u32::try_from(self.coords[1]).ok()?);
        inside.then_some(PlanePosition { x, y, slice })
    }
}

/// Fetches a texel of a sampled image, input attachment or texel buffer.
#[inline]
pub fn fetch(descriptor: Option<&Descriptor>, position: TexelPosition) -> Texel {
    read(descriptor, position)
}

/// Loads a texel of a storage image or texel buffer.
pub fn read(descriptor: Option<&Descriptor>, position: TexelPosition) -> Texel {
    match descriptor {
        Some(Descriptor::UniformTexelBuffer(buffer) | Descriptor::StorageTexelBuffer(buffer)) => {
            read_buffer(buffer, position.coords[0])
        }
        Some(descriptor) => descriptor.view().and_then(|view| read_view(view, position)).unwrap_or([0; 4]),
        None => [0; 4],
    }
}

fn read_view(view: &SurfaceView, position: TexelPosition) -> Option<Texel> {
    let reader = Reader::new(view)?;
    // Levels below the view's minimum LOD are not fetched.
    let exists = (view.desc.min_lod as u32..view.desc.levels).contains(&position.level);
    let texel = if exists { read_inside(&reader, position) } else { None };
    Some(texel.unwrap_or_else(|| reader.outside()))
}

/// Returns a texel of an existing level, or `None` if it is out of bounds.
fn read_inside(reader: &Reader<'_>, position: TexelPosition) -> Option<Texel> {
    let PlanePosition { x, y, slice } = position.in_plane(reader.view)?;
    let extent = reader.view.extent(position.level);
    let plane = reader.plane(position.level, slice)?;
    let inside = x < extent.width && y < extent.height && position.sample < plane.samples();
    inside.then(|| reader.swizzle(reader.texel(&plane, x, y, position.sample)))
}

/// Returns the result of a read outside of a texel buffer.
pub(super) fn outside_buffer(info: &format::FormatInfo) -> Texel {
    let alpha = if info.component_bits(3) > 0 { 0 } else { format::one(info.class) };
    [0, 0, 0, alpha]
}

/// Returns the byte offset in its buffer of a buffer view's texel, or `None` if it is out of
/// bounds.
fn buffer_texel(buffer: &BufferView, index: i32) -> Option<(u64, &'static format::FormatInfo)> {
    let info = format::info(buffer.format)?;
    let offset = u64::try_from(index).ok()? * u64::from(info.bytes);
    (offset + u64::from(info.bytes) <= buffer.range.size).then_some((buffer.range.offset + offset, info))
}

fn read_buffer(buffer: &BufferView, index: i32) -> Texel {
    let Some((offset, info)) = buffer_texel(buffer, index) else {
        return format::info(buffer.format).map_or([0; 4], outside_buffer);
    };
    let mut bytes = [0; 16];
    buffer.range.buffer.read(offset, &mut bytes[..info.bytes as usize]);
    format::decode(info, &bytes)
}

/// Stores a texel to a storage image or texel buffer.
pub fn write(descriptor: Option<&Descriptor>, position: TexelPosition, texel: Texel) {
    let mut bytes = [0; 16];
    match descriptor {
        Some(Descriptor::StorageTexelBuffer(buffer)) => {
            if let Some((offset, info)) = buffer_texel(buffer, position.coords[0]) {
                format::encode(info, texel, &mut bytes);
                buffer.range.buffer.write(offset, &bytes[..info.bytes as usize]);
            }
        }
        Some(Descriptor::StorageImage(view)) => {
            let Some(info) = format::info(view.desc.format) else { return };
            let Some(PlanePosition { x, y, slice }) = position.in_plane(view) else { return };
            if let Some(plane) = view.plane(vk::ImageAspectFlags::COLOR, 0, slice) {
                format::encode(info, texel, &mut bytes);
                plane.write(x, y, position.sample, &bytes[..info.bytes as usize]);
            }
        }
        _ => {}
    }
}

/// Performs an atomic operation on a texel of `bytes` bytes, 4 or 8. Returns the old value, or 0
/// if there is no such texel. `operands` are the value and the comparator.
pub fn atomic(
    descriptor: Option<&Descriptor>,
    position: TexelPosition,
    op: AtomicOp,
    operands: [u64; 2],
    bytes: u32,
) -> u64 {
    let located = match descriptor {
        Some(Descriptor::StorageTexelBuffer(buffer)) => {
            let place = buffer_texel(buffer, position.coords[0]).filter(|(_, info)| info.bytes == bytes);
            place.and_then(|(offset, _)| buffer.range.buffer.locate(offset, u64::from(bytes)))
        }
        Some(Descriptor::StorageImage(view)) => position.in_plane(view).and_then(|PlanePosition { x, y, slice }| {
            let plane = view.plane(vk::ImageAspectFlags::COLOR, 0, slice)?;
            plane.locate(x, y, position.sample).filter(|_| plane.bytes() == bytes as usize)
        }),
        _ => None,
    };
    let [value, comparator] = operands;
    let narrow = |word: &_| u64::from(perform(word, op, value as u32, comparator as u32));
    let before = located.and_then(|(memory, offset)| match bytes {
        8 => memory.atomic_u64(offset).map(|word| perform_wide(word, op, value, comparator)),
        _ => memory.atomic_u32(offset).map(narrow),
    });
    before.unwrap_or(0)
}

/// Returns the size of a level: its dimensions, followed by the layers of an arrayed view. A cube
/// counts as one layer. For a texel buffer returns the number of texels.
pub fn size(descriptor: Option<&Descriptor>, level: u32, arrayed: bool) -> [u32; 4] {
    if let Some(Descriptor::UniformTexelBuffer(buffer) | Descriptor::StorageTexelBuffer(buffer)) = descriptor {
        let bytes = format::info(buffer.format).map_or(1, |info| info.bytes);
        return [(buffer.range.size / u64::from(bytes)) as u32, 0, 0, 0];
    }
    let Some(view) = descriptor.and_then(Descriptor::view).filter(|view| level < view.desc.levels) else {
        return [0; 4];
    };
    let extent = view.extent(level);
    let layers = if arrayed { view.desc.layers } else { 0 };
    match view.desc.kind {
        vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => [extent.width, layers, 0, 0],
        vk::ImageViewType::TYPE_3D => [extent.width, extent.height, extent.depth, 0],
        vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => [extent.width, extent.height, layers / 6, 0],
        _ => [extent.width, extent.height, layers, 0],
    }
}
