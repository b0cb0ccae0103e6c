//! Layout of surfaces in memory.
//!
//! Optimal tiling stores *lines*: 8x8 texels (1D: 64x1) of one plane, sample after sample. A line
//! stores its 2x2 quads row by row. A quad stores its texels in the order of a wave's lanes, (0,0)
//! (1,0) (0,1) (1,1), so two rows of a line are one fragment wave. A slice stores its lines row by
//! row, and a 32-bit single-sampled line is 256 bytes (DESIGN 2). Linear tiling stores rows. The
//! nesting from the outside in is plane, layer, level, slice. Compressed formats count blocks
//! instead of texels. Depth of 24 bits and stencil share the words of one plane. A write of one
//! aspect keeps the bits of the other.

use std::ops::Range;

use ash::vk;
use smallvec::SmallVec;
use vitric_format as format;

/// Alignment of surfaces in memory, in bytes.
pub const SURFACE_ALIGNMENT: u64 = 256;

/// Description of a surface. Extents are texels, at least 1 each. `levels`, `layers` and `samples`
/// are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceDesc {
    /// Dimensionality.
    pub kind: vk::ImageType,
    /// Format of a texel.
    pub format: vk::Format,
    /// Size of level 0.
    pub extent: vk::Extent3D,
    /// Number of mip levels.
    pub levels: u32,
    /// Number of array layers (6 for each cube).
    pub layers: u32,
    /// Samples per texel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// True if texels are stored in rows that the host can read (`VK_IMAGE_TILING_LINEAR`) instead
    /// of in lines.
    pub linear: bool,
    /// True if the format is compressed and the driver may cache decoded texels
    /// ([`crate::DecodedTexels`]). No view exposes the blocks of such a surface.
    pub decoded: bool,
}

/// Returns the size of `level` in texels; at least 1 each.
pub fn level_extent(extent: vk::Extent3D, level: u32) -> vk::Extent3D {
    let scaled = |texels: u32| texels.checked_shr(level).unwrap_or(0).max(1);
    vk::Extent3D { width: scaled(extent.width), height: scaled(extent.height), depth: scaled(extent.depth) }
}

/// Layout that `vkGetImageSubresourceLayout` reports, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubresourceLayout {
    /// Offset from the start of the surface.
    pub offset: u64,
    /// Size of the subresource.
    pub size: u64,
    /// Distance between rows.
    pub row_pitch: u64,
    /// Distance between layers.
    pub array_pitch: u64,
    /// Distance between slices.
    pub depth_pitch: u64,
}

#[derive(Debug, Clone, Copy)]
struct LevelLayout {
    offset: u64,
    slice_bytes: u64,
    row_bytes: u64,
    /// Width in texels or blocks.
    width: u32,
    height: u32,
    depth: u32,
}

#[derive(Debug, Clone)]
struct PlaneLayout {
    /// Aspect of the plane, or both aspects that share its words.
    aspects: vk::ImageAspectFlags,
    /// Bytes of a texel or block.
    stride: u32,
    offset: u64,
    layer_bytes: u64,
    levels: SmallVec<[LevelLayout; 1]>,
}

/// Placement of a plane whose texels are stored in rows, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanePlacement {
    /// Offset of the first texel from the start of the surface.
    pub offset: u64,
    /// Distance between rows.
    pub row_pitch: u64,
}

/// Alignment of rows of surfaces that other devices may access, in bytes. The display engines of
/// all common GPUs accept it.
const SHARED_ROW_ALIGNMENT: u64 = 256;

/// Maximum number of planes of a surface.
const MAX_PLANES: usize = 3;

/// Layout of a surface.
#[derive(Debug, Clone)]
pub struct SurfaceLayout {
    planes: SmallVec<[PlaneLayout; 1]>,
    size: u64,
    layers: u32,
    volume: bool,
    grid: Grid,
}

/// Grouping of the texels of a slice. A line is `1 << width_log2` by `1 << height_log2` texels
/// with all samples; both numbers are 0 for rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) width_log2: u32,
    pub(super) height_log2: u32,
    pub(super) samples: u32,
}

impl Grid {
    fn new(desc: &SurfaceDesc) -> Self {
        let (width_log2, height_log2) = match (desc.linear, desc.kind) {
            (true, _) => (0, 0),
            (false, vk::ImageType::TYPE_1D) => (6, 0),
            (false, _) => (3, 3),
        };
        Self { width_log2, height_log2, samples: desc.samples }
    }

    /// Returns the index of a texel in its line.
    #[inline]
    pub(super) fn texel_index(self, x: u32, y: u32) -> u32 {
        let (in_x, in_y) = (x & ((1 << self.width_log2) - 1), y & ((1 << self.height_log2) - 1));
        match self.height_log2 {
            0 => in_x,
            _ => (in_y >> 1) << (self.width_log2 + 1) | (in_x >> 1) << 2 | (in_y & 1) << 1 | in_x & 1,
        }
    }

    /// Returns true if lines consist of quads.
    pub(super) fn has_quads(self) -> bool {
        self.height_log2 > 0
    }

    fn line_bytes(self, bytes: u32) -> u64 {
        (u64::from(bytes) * u64::from(self.samples)) << (self.width_log2 + self.height_log2)
    }
}

impl SurfaceLayout {
    /// Lays a surface out. Returns `None` if its format is not supported or its size overflows.
    pub fn new(desc: &SurfaceDesc) -> Option<Self> {
        let info = format::info(desc.format)?;
        let grid = Grid::new(desc);
        let mut size = 0u64;
        let mut planes = SmallVec::new();
        for plane in info.planes_of(info.aspects()) {
            let mut layer_bytes = 0u64;
            let mut levels = SmallVec::new();
            for level in 0..desc.levels {
                let layout = level_layout((desc, grid), &plane, level, layer_bytes)?;
                layer_bytes = layer_bytes.checked_add(layout.slice_bytes.checked_mul(u64::from(layout.depth))?)?;
                layer_bytes = layer_bytes.checked_next_multiple_of(SURFACE_ALIGNMENT)?;
                levels.push(layout);
            }
            let (aspects, stride) = (plane.aspect, plane.stride);
            planes.push(PlaneLayout { aspects, stride, offset: size, layer_bytes, levels });
            size = size.checked_add(layer_bytes.checked_mul(u64::from(desc.layers))?)?;
        }
        let volume = desc.kind == vk::ImageType::TYPE_3D;
        Some(Self { planes, size, layers: desc.layers, volume, grid })
    }

    /// Lays out a surface of one level and layer with rows of texels, by one placement for each
    /// plane of its format. Without placements, rows are aligned as other devices expect.
    ///
    /// Returns `None` if the number of placements is wrong, if a row is shorter than its texels, if
    /// a texel of `2^n` bytes, or a plane, is not aligned, or if the size overflows.
    pub fn in_rows(desc: &SurfaceDesc, placements: Option<&[PlanePlacement]>) -> Option<Self> {
        let info = format::info(desc.format)?;
        if !desc.linear || desc.kind != vk::ImageType::TYPE_2D || (desc.levels, desc.layers, desc.samples) != (1, 1, 1)
        {
            return None;
        }
        let planes: SmallVec<[_; MAX_PLANES]> = info.planes_of(info.aspects()).collect();
        if placements.is_some_and(|placements| placements.len() != planes.len()) {
            return None;
        }
        let (mut size, mut placed) = (0u64, SmallVec::new());
        for (number, plane) in planes.into_iter().enumerate() {
            let (width, height) =
                (desc.extent.width.div_ceil(plane.block[0]), desc.extent.height.div_ceil(plane.block[1]));
            let used = u64::from(width).checked_mul(plane.stride.into())?;
            let PlanePlacement { offset, row_pitch } = match placements {
                Some(placements) => placements[number],
                None => PlanePlacement {
                    offset: size.checked_next_multiple_of(SHARED_ROW_ALIGNMENT)?,
                    row_pitch: used.checked_next_multiple_of(SHARED_ROW_ALIGNMENT)?,
                },
            };
            // Atomic operations and words of memory need aligned addresses.
            let alignment = 1u64 << plane.stride.trailing_zeros();
            if row_pitch < used || !row_pitch.is_multiple_of(alignment) || !offset.is_multiple_of(alignment.max(4)) {
                return None;
            }
            // The last row ends with its last texel.
            let bytes = row_pitch.checked_mul(u64::from(height) - 1)?.checked_add(used)?;
            size = size.max(offset.checked_add(bytes)?);
            let level = LevelLayout { offset: 0, slice_bytes: bytes, row_bytes: row_pitch, width, height, depth: 1 };
            let levels = SmallVec::from_elem(level, 1);
            placed.push(PlaneLayout {
                aspects: plane.aspect,
                stride: plane.stride,
                offset,
                layer_bytes: bytes,
                levels,
            });
        }
        Some(Self { planes: placed, size, layers: 1, volume: false, grid: Grid::new(desc) })
    }

    /// Returns the aspects of each plane with its bytes from the start of the surface. Depth and
    /// stencil are one plane if they share words.
    pub fn planes(&self) -> impl Iterator<Item = (vk::ImageAspectFlags, Range<u64>)> {
        let bytes = |plane: &PlaneLayout| plane.offset..plane.offset + plane.layer_bytes * u64::from(self.layers);
        self.planes.iter().map(move |plane| (plane.aspects, bytes(plane)))
    }

    /// Returns the bytes of some levels and layers from the start of the surface, of all planes.
    /// Slices of a volume belong to its one layer.
    pub(super) fn bytes_of(&self, levels: Range<u32>, layers: Range<u32>) -> impl Iterator<Item = Range<u64>> {
        let layers = if self.volume { 0..1 } else { layers.start..layers.end.min(self.layers) };
        self.planes.iter().flat_map(move |plane| {
            let levels = plane.levels.get(levels.start as usize..plane.levels.len().min(levels.end as usize));
            let of_layer = match levels.unwrap_or_default() {
                [first, .., last] => first.offset..last.offset + last.slice_bytes * u64::from(last.depth),
                [only] => only.offset..only.offset + only.slice_bytes * u64::from(only.depth),
                [] => 0..0,
            };
            layers.clone().map(move |layer| {
                let start = plane.offset + u64::from(layer) * plane.layer_bytes;
                start + of_layer.start..start + of_layer.end
            })
        })
    }

    /// Returns the bytes of the whole surface.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the layout of one subresource, as the host sees linear surfaces, or `None` if it
    /// does not exist. For an aspect that shares words with another aspect this is the layout of
    /// the words.
    pub fn subresource(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32) -> Option<SubresourceLayout> {
        let plane = self.planes.iter().find(|plane| aspect.intersects(plane.aspects))?;
        let layout = plane.levels.get(level as usize)?;
        Some(SubresourceLayout {
            offset: plane.offset + u64::from(layer) * plane.layer_bytes + layout.offset,
            size: layout.slice_bytes * u64::from(layout.depth),
            row_pitch: layout.row_bytes,
            array_pitch: plane.layer_bytes,
            depth_pitch: layout.slice_bytes,
        })
    }

    /// Returns true if texels are stored in lines of 8x8.
    pub fn is_in_lines(&self) -> bool {
        self.grid.has_quads()
    }

    pub(super) fn part(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<Part> {
        let plane = self.planes.iter().find(|plane| plane.aspects.contains(aspect))?;
        let layout = plane.levels.get(level as usize)?;
        let (layer, z) = if self.volume { (0, slice) } else { (slice, 0) };
        if layer >= self.layers || z >= layout.depth {
            return None;
        }
        let offset =
            plane.offset + u64::from(layer) * plane.layer_bytes + layout.offset + u64::from(z) * layout.slice_bytes;
        let (share, line_bytes) = (Share::of(aspect, plane.aspects), self.grid.line_bytes(plane.stride));
        Some(Part {
            offset,
            row_bytes: layout.row_bytes,
            line_bytes,
            stride: plane.stride,
            share,
            width: layout.width,
            height: layout.height,
            grid: self.grid,
        })
    }
}

fn level_layout(
    (desc, grid): (&SurfaceDesc, Grid),
    &format::Plane { stride, block, .. }: &format::Plane,
    level: u32,
    offset: u64,
) -> Option<LevelLayout> {
    let extent = level_extent(desc.extent, level);
    let (width, height) = (extent.width.div_ceil(block[0]), extent.height.div_ceil(block[1]));
    let lines_across = u64::from(width.div_ceil(1 << grid.width_log2));
    let lines_down = u64::from(height.div_ceil(1 << grid.height_log2));
    let row_bytes = lines_across.checked_mul(grid.line_bytes(stride))?;
    let slice_bytes = row_bytes.checked_mul(lines_down)?;
    Some(LevelLayout { offset, slice_bytes, row_bytes, width, height, depth: extent.depth })
}

/// Bits of a word that belong to a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// All bits.
    Whole,
    /// Low 24 bits: depth that shares words with stencil.
    Depth,
    /// High byte: stencil that shares words with depth.
    Stencil,
}

impl Share {
    /// Returns the share of `aspect` in words of `aspects`.
    fn of(aspect: vk::ImageAspectFlags, aspects: vk::ImageAspectFlags) -> Self {
        match aspect {
            _ if aspect == aspects => Self::Whole,
            vk::ImageAspectFlags::STENCIL => Self::Stencil,
            _ => Self::Depth,
        }
    }

    /// Returns the mask of the plane's bits in a word.
    pub(super) const fn mask(self) -> u32 {
        match self {
            Self::Whole => !0,
            Self::Depth => 0x00ff_ffff,
            Self::Stencil => 0xff00_0000,
        }
    }

    /// Returns the number of the lowest bit of the plane.
    pub(super) const fn shift(self) -> u32 {
        self.mask().trailing_zeros()
    }

    /// Returns how many of a texel's first `bytes` bytes a write may change.
    pub(super) fn written(self, bytes: usize) -> usize {
        if matches!(self, Self::Depth) { bytes.min(3) } else { bytes }
    }
}

/// One slice of one level of one plane, without its memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) row_bytes: u64,
    pub(super) line_bytes: u64,
    /// Distance from a texel or block to the next, in bytes.
    pub(super) stride: u32,
    pub(super) share: Share,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) grid: Grid,
}

impl Part {
    /// Returns the bytes of a texel or block, as copies move them.
    pub(super) fn texel_bytes(&self) -> usize {
        if self.share == Share::Stencil { 1 } else { self.stride as usize }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Allocation, Heap, PlaneRef, Surface, TexelSample};
    use super::*;

    fn desc(kind: vk::ImageType, format: vk::Format, size: [u32; 3], levels: u32, layers: u32) -> SurfaceDesc {
        let extent = vk::Extent3D { width: size[0], height: size[1], depth: size[2] };
        SurfaceDesc { kind, format, extent, levels, layers, samples: 1, linear: false, decoded: false }
    }

    /// Checks that every texel of every part has distinct bytes inside the surface.
    fn check_disjoint(desc: SurfaceDesc) {
        let surface = Surface::new(desc).unwrap();
        let memory = Allocation::new(&Heap::new(1 << 30), surface.layout().size()).unwrap();
        assert!(surface.bind(memory, 0));
        let mut seen = HashSet::new();
        let info = format::info(desc.format).unwrap();
        for aspect in info.planes().map(|plane| plane.aspect) {
            for level in 0..desc.levels {
                let depth = surface.level_extent(level).depth;
                for slice in 0..desc.layers.max(depth) {
                    let part = surface.plane(aspect, level, slice).unwrap();
                    check_runs(&part);
                    for (x, y, sample) in positions(&part) {
                        let address = part.address(x, y, sample);
                        assert!(address + part.bytes() as u64 <= surface.layout().size());
                        let written = part.part.share.written(part.bytes()) as u64;
                        assert!((0..written).all(|byte| seen.insert(address + byte)));
                    }
                }
            }
        }
    }

    fn positions(part: &PlaneRef<'_>) -> Vec<(u32, u32, u32)> {
        let (width, height, samples) = (part.width(), part.height(), part.samples());
        let rows = (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)));
        rows.flat_map(|(x, y)| (0..samples).map(move |sample| (x, y, sample))).collect()
    }

    #[test]
    fn texels_never_share_bytes() {
        let (one, two, three) = (vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D);
        check_disjoint(desc(two, vk::Format::R8G8B8A8_UNORM, [19, 13, 1], 5, 3));
        check_disjoint(desc(two, vk::Format::D24_UNORM_S8_UINT, [9, 17, 1], 2, 2));
        check_disjoint(desc(one, vk::Format::R16_UINT, [100, 1, 1], 7, 2));
        check_disjoint(desc(three, vk::Format::R32G32_SFLOAT, [9, 5, 7], 4, 1));
        check_disjoint(desc(two, vk::Format::BC1_RGB_UNORM_BLOCK, [21, 9, 1], 3, 1));
        check_disjoint(SurfaceDesc { samples: 4, ..desc(two, vk::Format::R8G8B8A8_UNORM, [10, 9, 1], 1, 2) });
        check_disjoint(SurfaceDesc { linear: true, ..desc(two, vk::Format::R8G8B8A8_UNORM, [10, 9, 1], 1, 1) });
    }

    #[test]
    fn lines_are_filled_that_are_whole() {
        let two = vk::ImageType::TYPE_2D;
        let all = [0, 11, 100, 100];
        for (linear, samples, asked, whole) in [
            (false, 1, all, [0, 16, 13, 19]),
            (false, 4, all, [0, 16, 13, 19]),
            (true, 1, all, [0, 11, 13, 19]),
            (false, 1, [3, 0, 13, 17], [8, 0, 13, 16]),
            (false, 4, [0, 7, 12, 16], [0, 8, 8, 16]),
            (true, 1, [3, 2, 9, 4], [3, 2, 9, 4]),
        ] {
            let desc = SurfaceDesc { linear, samples, ..desc(two, vk::Format::R8G8B8A8_UNORM, [13, 19, 1], 1, 2) };
            let surface = Surface::new(desc).unwrap();
            surface.bind(Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap(), 0);
            let [plane, other] = [0, 1].map(|layer| surface.plane(vk::ImageAspectFlags::COLOR, 0, layer).unwrap());
            assert_eq!(plane.fill_lines(asked, &[1, 2, 3, 4]), whole);
            let [x0, y0, x1, y1] = whole;
            for (x, y, sample) in positions(&plane) {
                let expected = if (x0..x1).contains(&x) && (y0..y1).contains(&y) { 0x0403_0201 } else { 0 };
                assert_eq!(plane.read_word(x, y, sample), expected, "({x}, {y})");
                assert_eq!(other.read_word(x, y, sample), 0, "another layer");
            }
            for nothing in [[0, 3, 13, 3], [1, 1, 7, 7], [0, 30, 13, 40]].into_iter().skip(usize::from(linear) * 2) {
                let [x0, y0, x1, y1] = plane.fill_lines(nothing, &[9; 4]);
                assert!(x0 == x1 || y0 == y1);
            }
        }
    }

    #[test]
    fn quads_are_written_like_their_texels() {
        let two = vk::ImageType::TYPE_2D;
        let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R16_UINT, vk::Format::R8_UINT];
        for (linear, format) in [false, true].into_iter().flat_map(|linear| formats.map(|format| (linear, format))) {
            let desc = SurfaceDesc { linear, ..desc(two, format, [11, 9, 1], 1, 1) };
            let surfaces = [(); 2].map(|()| {
                let surface = Surface::new(desc).unwrap();
                surface.bind(Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap(), 0);
                surface
            });
            let [quads, texels] =
                [0, 1].map(|index: usize| surfaces[index].plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap());
            for (number, (x, y)) in (0..6).flat_map(|y| (0..7).map(move |x| (x * 2, y * 2))).enumerate() {
                let words = [1, 2, 3, 4].map(|word| word + number as u32 * 16);
                let mask = if number % 3 == 0 { 0xf } else { number as u32 % 16 };
                quads.write_quad(x, y, 0, &words, mask);
                for index in (0..4).filter(|index| mask >> index & 1 != 0) {
                    texels.write_word(x + (index & 1), y + (index >> 1), 0, words[index as usize]);
                }
            }
            for (x, y, _) in positions(&texels) {
                assert_eq!(quads.read_word(x, y, 0), texels.read_word(x, y, 0), "({x}, {y})");
                let (left, upper) = (x & !1, y & !1);
                let word = |index: u32| texels.read_word(left + (index & 1), upper + (index >> 1), 0);
                assert_eq!(quads.read_quad(left, upper, 0), [0, 1, 2, 3].map(word));
            }
        }
    }

    #[test]
    fn samples_of_quads_are_written_like_their_texels() {
        let kinds =
            [(vk::ImageType::TYPE_2D, false, 4), (vk::ImageType::TYPE_2D, true, 1), (vk::ImageType::TYPE_1D, false, 1)];
        let formats = [vk::Format::R8_UINT, vk::Format::R8G8B8A8_UINT, vk::Format::R32G32B32A32_UINT];
        for ((kind, linear, samples), format) in kinds.into_iter().flat_map(|kind| formats.map(|format| (kind, format)))
        {
            let rows = if kind == vk::ImageType::TYPE_1D { 1 } else { 5 };
            let surface =
                Surface::new(SurfaceDesc { linear, samples, ..desc(kind, format, [11, rows, 1], 1, 1) }).unwrap();
            surface.bind(Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap(), 0);
            let plane = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
            let masks = |x: u32, y: u32, sample: u32| if sample == 1 { 0xf } else { (x * 5 + y * 3 + sample) & 0xf };
            for [x, y] in (0..3).flat_map(|y| (0..6).map(move |x| [x * 2, y * 2])) {
                let texels: Vec<u8> =
                    (0..4).flat_map(|pixel| vec![(x * 16 + y * 4 + pixel + 1) as u8; plane.bytes()]).collect();
                plane.write_quad_samples([x, y], &texels, |sample| masks(x, y, sample));
            }
            for (x, y, sample) in positions(&plane) {
                let (left, upper, pixel) = (x & !1, y & !1, x & 1 | (y & 1) << 1);
                let is_written = masks(left, upper, sample) >> pixel & 1 != 0;
                let expected = if is_written { (left * 16 + upper * 4 + pixel + 1) as u8 } else { 0 };
                let mut found = vec![0; plane.bytes()];
                plane.read(x, y, sample, &mut found);
                assert!(found.iter().all(|byte| *byte == expected), "{format:?}, ({x}, {y}), {sample}: {found:?}");
            }
        }
    }

    #[test]
    fn a_line_of_32_bits_is_256_bytes() {
        let surface = Surface::new(desc(vk::ImageType::TYPE_2D, vk::Format::R8G8B8A8_UNORM, [16, 8, 1], 1, 1)).unwrap();
        assert_eq!(surface.layout().size(), 512);
    }

    #[test]
    fn rows_lie_where_the_application_places_them() {
        let nv12 = desc(vk::ImageType::TYPE_2D, vk::Format::G8_B8R8_2PLANE_420_UNORM, [10, 6, 1], 1, 1);
        let nv12 = SurfaceDesc { linear: true, ..nv12 };
        let place = |offset, row_pitch| PlanePlacement { offset, row_pitch };
        let of = |placements: &[PlanePlacement]| SurfaceLayout::in_rows(&nv12, Some(placements));
        let layout = of(&[place(64, 12), place(4, 14)]).unwrap();
        let plane = |aspect| layout.subresource(aspect, 0, 0).map(|plane| (plane.offset, plane.row_pitch, plane.size));
        assert_eq!(plane(vk::ImageAspectFlags::PLANE_0), Some((64, 12, 70)));
        assert_eq!(plane(vk::ImageAspectFlags::PLANE_1), Some((4, 14, 38)));
        assert_eq!(layout.size(), 134);
        for wrong in [
            vec![],
            vec![place(0, 10)],
            vec![place(0, 10), place(64, 10), place(128, 10)],
            vec![place(0, 9), place(64, 10)],
            vec![place(0, 0), place(64, 10)],
            vec![place(0, 10), place(64, 11)],
            vec![place(2, 10), place(64, 10)],
            vec![place(0, u64::MAX), place(64, 10)],
            vec![place(u64::MAX - 3, 10), place(64, 10)],
        ] {
            assert!(of(&wrong).is_none(), "{wrong:?}");
        }
        let chosen = SurfaceLayout::in_rows(&nv12, None).unwrap();
        let chroma = chosen.subresource(vk::ImageAspectFlags::PLANE_1, 0, 0).unwrap();
        assert_eq!((chroma.offset, chroma.row_pitch, chosen.size()), (1536, 256, 1536 + 512 + 10));
        assert!(SurfaceLayout::in_rows(&SurfaceDesc { linear: false, ..nv12 }, None).is_none());
        assert!(SurfaceLayout::in_rows(&SurfaceDesc { layers: 2, ..nv12 }, None).is_none());
    }

    /// Texels of rows with padding between them do not share bytes, and fills leave the padding.
    #[test]
    fn padding_between_rows_is_not_written() {
        let two = desc(vk::ImageType::TYPE_2D, vk::Format::R8G8B8A8_UNORM, [13, 7, 1], 1, 1);
        let placements = [PlanePlacement { offset: 8, row_pitch: 68 }];
        let surface = Surface::in_rows(SurfaceDesc { linear: true, ..two }, Some(&placements)).unwrap();
        let memory = Allocation::new(&Heap::new(1 << 20), 512).unwrap();
        assert!(surface.bind(memory.clone(), 0));
        let plane = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
        check_runs(&plane);
        assert_eq!(plane.fill_lines([0, 0, 13, 7], &[7; 8]), [0, 0, 13, 7]);
        let mut bytes = [0; 512];
        memory.read(0, &mut bytes);
        let is_texel = |at: usize| at.checked_sub(8).is_some_and(|at| at / 68 < 7 && at % 68 < 52);
        assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == if is_texel(at) { 7 } else { 0 }));
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let absurd = desc(vk::ImageType::TYPE_3D, vk::Format::R32G32B32A32_SFLOAT, [u32::MAX; 3], 1, 1);
        assert!(Surface::new(absurd).is_none());
        assert!(Surface::new(desc(vk::ImageType::TYPE_2D, vk::Format::UNDEFINED, [1; 3], 1, 1)).is_none());
    }

    /// Checks that a run covers exactly the bytes of its texels and ends within the row.
    fn check_runs(part: &PlaneRef<'_>) {
        for (x, y, sample) in positions(part) {
            let run = part.run(x);
            assert!(run >= 1 && x + run <= part.width());
            let mut next = 0;
            for (address, piece) in part.contiguous_parts(TexelSample { x, y, sample }, run as usize * part.bytes()) {
                assert_eq!(piece.start, next);
                for byte in piece.clone() {
                    let texel = (byte / part.bytes()) as u32;
                    let expected = part.address(x + texel, y, sample) + (byte % part.bytes()) as u64;
                    assert_eq!(address + (byte - piece.start) as u64, expected);
                }
                next = piece.end;
            }
            assert_eq!(next, run as usize * part.bytes());
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn layouts_are_disjoint_and_inside(
            kind in 0usize..3, format in 0usize..9, size in [1u32..40, 1u32..20, 1u32..6],
            levels in 1u32..4, layers in 1u32..4, shape in 0u32..3,
        ) {
            let formats = [
                vk::Format::R8_UNORM, vk::Format::R16G16B16A16_SFLOAT, vk::Format::D16_UNORM_S8_UINT,
                vk::Format::D32_SFLOAT_S8_UINT, vk::Format::BC3_UNORM_BLOCK, vk::Format::R32G32B32A32_UINT,
                vk::Format::ASTC_10X6_UNORM_BLOCK, vk::Format::EAC_R11_SNORM_BLOCK, vk::Format::G8_B8R8_2PLANE_420_UNORM,
            ];
            let (kind, size, layers) = match kind {
                0 => (vk::ImageType::TYPE_1D, [size[0], 1, 1], layers),
                1 => (vk::ImageType::TYPE_2D, [size[0], size[1], 1], layers),
                _ => (vk::ImageType::TYPE_3D, size, 1),
            };
            let desc = desc(kind, formats[format], size, levels, layers);
            // Only 2D surfaces of one level can have several samples.
            let desc = match shape {
                1 if kind == vk::ImageType::TYPE_2D => SurfaceDesc { samples: 4, levels: 1, ..desc },
                2 => SurfaceDesc { linear: true, ..desc },
                _ => desc,
            };
            check_disjoint(desc);
        }
    }
}
