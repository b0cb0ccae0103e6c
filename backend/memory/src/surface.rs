//! Surfaces: images as the GPU stores them, and views of them.
//!
//! `decoded` caches the texels of surfaces of compressed formats. Source: Vulkan specification,
//! "Resource Creation" (Images, Image Views); DESIGN 2 (lines).

mod decoded;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use ash::vk;
use parking_lot::Mutex;
use vitric_format::{self as format, Class, FormatInfo, PLANE_ASPECTS};

use super::Allocation;
use super::layout::{PlanePlacement, SurfaceDesc, SurfaceLayout, level_extent};
use super::near::codec::{Codec, LINE, Line};
use super::near::{CompactableMemory, Hint, ImageAccess, ImageClass, ImageHints, InUse, Reading, Writing};
use super::plane::PlaneRef;

pub use self::decoded::{DecodedCache, DecodedTexels, DecodedUse};

/// Aspect of the texels decoded from blocks, as words of the uncompressed format. Only views that
/// the driver creates internally use it.
pub const DECODED: vk::ImageAspectFlags = vk::ImageAspectFlags::METADATA;

/// Image: description, layout, and the memory to which it is bound.
#[derive(Debug)]
pub struct Surface {
    desc: SurfaceDesc,
    layout: SurfaceLayout,
    binding: OnceLock<(Arc<Allocation>, u64)>,
    /// Greatest number of a submission that made the whole surface resident.
    used: AtomicU64,
    /// Number of clears noted in its memory when a submission last made the surface resident.
    known_clears: AtomicU64,
    /// Surface that was rendered to in place of this one, kept for reuse.
    stand_in: Mutex<Option<Arc<Surface>>>,
    /// Facts about the contents that commands have stated.
    hints: Arc<ImageHints>,
    is_transient: bool,
    /// True if the surface may only be bound to protected memory.
    is_protected: AtomicBool,
    /// True if the surface is never compacted, whatever its memory is.
    stays_resident: AtomicBool,
    /// Decoded texels, once an image instruction has requested them.
    decoded: OnceLock<Option<Arc<DecodedTexels>>>,
}

/// Plane whose clear is noted.
struct ClearedPlane<'a> {
    memory: &'a CompactableMemory,
    /// Bytes of the plane in the memory.
    bytes: Range<u64>,
    line: Line,
}

impl Surface {
    /// Creates an unbound surface. Returns `None` if the format is not supported or the size
    /// exceeds the address range.
    pub fn new(desc: SurfaceDesc) -> Option<Arc<Self>> {
        Some(Self::made(desc, SurfaceLayout::new(&desc)?, false))
    }

    /// Creates an unbound surface whose texels are stored in rows, by [`SurfaceLayout::in_rows`].
    pub fn in_rows(desc: SurfaceDesc, placements: Option<&[PlanePlacement]>) -> Option<Arc<Self>> {
        Some(Self::made(desc, SurfaceLayout::in_rows(&desc, placements)?, false))
    }

    /// Creates an unbound surface that is used as an attachment only, and may lie in lazily
    /// allocated memory.
    pub fn transient(desc: SurfaceDesc) -> Option<Arc<Self>> {
        Some(Self::made(desc, SurfaceLayout::new(&desc)?, true))
    }

    fn made(desc: SurfaceDesc, layout: SurfaceLayout, is_transient: bool) -> Arc<Self> {
        let binding = OnceLock::new();
        let (used, hints, stand_in) = (AtomicU64::new(0), Arc::default(), Mutex::new(None));
        let known_clears = AtomicU64::new(0);
        // The host reads and writes texels in rows at their addresses.
        let (stays_resident, decoded) = (AtomicBool::new(desc.linear), OnceLock::new());
        let is_protected = AtomicBool::new(false);
        Arc::new(Self {
            desc,
            layout,
            binding,
            used,
            known_clears,
            stand_in,
            hints,
            is_transient,
            is_protected,
            stays_resident,
            decoded,
        })
    }

    /// Returns the decoded texels, if an image instruction has requested them.
    fn decoded(&self) -> Option<&Arc<DecodedTexels>> {
        self.decoded.get()?.as_ref()
    }

    /// Returns the decoded texels. Calls `make` if nobody has requested them yet.
    fn decoded_or_init(&self, make: impl FnOnce() -> Option<Arc<DecodedTexels>>) -> Option<&Arc<DecodedTexels>> {
        let hint = |texels: &Arc<DecodedTexels>| {
            let texels: Weak<DecodedTexels> = Arc::downgrade(texels);
            self.hints.set_decoded(texels);
        };
        let make = || make().inspect(hint);
        self.decoded.get_or_init(make).as_ref()
    }

    /// Returns true if the surface is used as an attachment only.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Makes the surface protected: it may only be bound to protected memory. Must be called before
    /// the surface is used.
    pub fn protect(&self) {
        self.is_protected.store(true, Ordering::Release);
    }

    /// Returns true if the surface may only be bound to protected memory. Other surfaces may only
    /// be bound to unprotected memory.
    pub fn is_protected(&self) -> bool {
        self.is_protected.load(Ordering::Acquire)
    }

    /// Excludes the surface from compaction. Must be called before the surface is bound to memory.
    pub fn stay_resident(&self) {
        self.stays_resident.store(true, Ordering::Release);
    }

    /// Returns true if the surface is never compacted.
    pub fn stays_resident(&self) -> bool {
        self.stays_resident.load(Ordering::Acquire)
    }

    /// Returns the layout.
    pub fn layout(&self) -> &SurfaceLayout {
        &self.layout
    }

    /// Returns the size of a level in texels; at least 1 each.
    pub fn level_extent(&self, level: u32) -> vk::Extent3D {
        level_extent(self.desc.extent, level)
    }

    /// Returns one level, layer and slice of the plane of `aspect`, or `None` if the surface is
    /// unbound or has no such part.
    ///
    /// `slice` is a slice of a 3D surface, or a layer of any other.
    pub fn plane(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<PlaneRef<'_>> {
        let (memory, start) = self.binding()?;
        let part = self.layout.part(aspect, level, slice)?;
        Some(PlaneRef { memory, base: start + part.offset, part })
    }

    /// Returns the description of the surface.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    /// Binds the surface to `memory` at `offset`. Returns true if the surface was unbound before.
    pub fn bind(&self, memory: Arc<Allocation>, offset: u64) -> bool {
        let range = offset..offset.saturating_add(self.layout.size());
        if self.binding.set((memory.clone(), offset)).is_err() {
            return false;
        }
        match memory.compactable() {
            Some(memory) if self.stays_resident() => memory.keep_resident(range),
            Some(memory) => memory.bind_image(&range, self.codecs(offset), self.class(), &self.hints),
            None => {}
        }
        true
    }

    /// Removes and returns the surface kept by [`Self::keep_stand_in`], if there is one. The
    /// caller becomes its only user.
    pub fn take_stand_in(&self) -> Option<Arc<Self>> {
        self.stand_in.lock().take()
    }

    /// Keeps a surface that was rendered to in place of this one, as long as this one lives.
    /// Replaces the surface kept before.
    pub fn keep_stand_in(&self, surface: Arc<Self>) {
        *self.stand_in.lock() = Some(surface);
    }

    /// Returns the codec for the lines of each plane, with the bytes of the plane in memory.
    fn codecs(&self, offset: u64) -> impl Iterator<Item = (Range<u64>, Codec)> {
        let stored = format::info(self.desc.format);
        let codec = move |aspect: vk::ImageAspectFlags| match stored {
            Some(info) if aspect == vk::ImageAspectFlags::COLOR => Codec::of_color(info),
            Some(info) if aspect.contains(vk::ImageAspectFlags::DEPTH) => Codec::of_depth(info.depth_bits),
            _ => Codec::of_bytes(),
        };
        let at = move |byte: u64| offset.saturating_add(byte);
        self.layout.planes().map(move |(aspect, bytes)| (at(bytes.start)..at(bytes.end), codec(aspect)))
    }

    /// Returns the class under which the compression ratio is counted.
    fn class(&self) -> ImageClass {
        let is_float = |info: &FormatInfo| matches!(info.class, Class::Sfloat | Class::Ufloat);
        match format::info(self.desc.format) {
            Some(info) if info.is_depth_stencil() => ImageClass::Depth,
            _ if self.desc.samples > 1 => ImageClass::Samples,
            Some(info) if is_float(info) => ImageClass::Hdr,
            _ => ImageClass::Color,
        }
    }

    /// Returns true if the memory of the surface may be compacted while it is idle.
    pub fn is_compactable(&self) -> bool {
        self.compactable().is_some()
    }

    /// Returns the memory of the surface, if it may be compacted, and the bytes of the surface in
    /// it.
    fn compactable(&self) -> Option<(&Arc<CompactableMemory>, Range<u64>)> {
        let (memory, start) = self.binding().filter(|_| !self.stays_resident())?;
        Some((memory.compactable()?, start..start.saturating_add(self.layout.size())))
    }

    /// Makes the surface resident while a submission uses it. Contents written from then on are
    /// not lost.
    pub fn begin_use(&self, in_use: &InUse<'_>, access: ImageAccess) {
        let Some((memory, range)) = self.compactable() else { return };
        if access != ImageAccess::Read {
            self.hints.begin_write(in_use.number());
        }
        let clears = memory.noted_clears();
        if self.is_in_use(in_use, clears) {
            return;
        }
        self.hints.use_noted_tiles(access);
        let is_lost = self.hints.begin_use() && !memory.has_contents_of_others(&range, &self.hints);
        in_use.make_resident(memory, range, is_lost || access == ImageAccess::Overwrite);
        self.note_use(in_use, clears);
    }

    /// Notes that the whole surface is resident and that a submission has marked all its spans.
    /// `clears` is the number of clears noted in its memory before.
    fn note_use(&self, in_use: &InUse<'_>, clears: u64) {
        self.used.fetch_max(in_use.number(), Ordering::Release);
        self.known_clears.fetch_max(clears, Ordering::Release);
    }

    /// Returns true if the whole surface stays resident while a submission runs. `clears` is the
    /// number of clears noted in its memory.
    fn is_in_use(&self, in_use: &InUse<'_>, clears: u64) -> bool {
        // A use noted by a later submission also covers this one while it runs.
        self.used.load(Ordering::Acquire) >= in_use.number()
            && self.known_clears.load(Ordering::Acquire) == clears
            && !self.hints.is_lost()
    }

    /// Makes some levels and layers of the surface resident while a submission uses them.
    fn begin_use_of(&self, in_use: &InUse<'_>, access: ImageAccess, levels: Range<u32>, layers: Range<u32>) {
        let Some((memory, range)) = self.compactable() else { return };
        if access != ImageAccess::Read {
            self.hints.begin_write(in_use.number());
        }
        if self.is_in_use(in_use, memory.noted_clears()) {
            return;
        }
        self.hints.use_noted_tiles(access);
        let is_lost = self.hints.begin_use() && !memory.has_contents_of_others(&range, &self.hints);
        for bytes in self.layout.bytes_of(levels, layers) {
            let bytes = range.start + bytes.start..range.start + bytes.end;
            in_use.make_resident(memory, bytes, is_lost || access == ImageAccess::Overwrite);
        }
    }

    /// Notes that a plane is cleared at all levels and layers. The texels are written when an
    /// access first needs them. `aspect` must name all aspects of the plane's words. `copies` must
    /// repeat the texel for at least one line. `in_use` must have begun to use the surface.
    /// Returns false and does nothing if the clear cannot be noted.
    pub fn note_clear(&self, in_use: &InUse<'_>, aspect: vk::ImageAspectFlags, copies: &[u8]) -> bool {
        let Some(cleared) = self.cleared_plane(aspect, copies) else { return false };
        let can_note = cleared.memory.has_whole_span(&cleared.bytes);
        if can_note {
            in_use.note_clears(cleared.memory, std::iter::once(cleared.bytes), &cleared.line);
        }
        can_note
    }

    /// Returns true if clears of tiles of the surface should be noted in the pass that ends now.
    pub fn notes_tiles(&self) -> bool {
        self.is_compactable() && self.layout.is_in_lines() && self.hints.notes_tiles()
    }

    /// Notes that parts of the first level and layer of a plane are cleared, like
    /// [`Self::note_clear`]. `rows` are the cleared columns of rows of lines, from the top to the
    /// bottom and from left to right, in texels. Both are multiples of 8, or the size of the
    /// surface.
    pub fn note_cleared_lines(
        &self,
        in_use: &InUse<'_>,
        aspect: vk::ImageAspectFlags,
        copies: &[u8],
        rows: impl Iterator<Item = (u32, Range<u32>)>,
    ) -> bool {
        let part = self.layout.part(aspect, 0, 0).filter(|_| self.layout.is_in_lines());
        let (Some(cleared), Some(part)) = (self.cleared_plane(aspect, copies), part) else { return false };
        let start = cleared.bytes.start;
        let bytes = |(y, columns): (u32, Range<u32>)| {
            let row = start + u64::from(y / 8) * part.row_bytes;
            let line = |x: u32| row + u64::from(x.div_ceil(8)) * part.line_bytes;
            line(columns.start)..line(columns.end)
        };
        in_use.note_clears(cleared.memory, rows.map(bytes), &cleared.line);
        self.hints.note_tiles();
        true
    }

    /// Returns the bytes of a plane, and the line that a clear repeats in them. Returns `None` if
    /// clears of the plane cannot be noted.
    fn cleared_plane(&self, aspect: vk::ImageAspectFlags, copies: &[u8]) -> Option<ClearedPlane<'_>> {
        let (memory, Range { start, .. }) = self.compactable()?;
        let (_, bytes) = self.layout.planes().find(|(plane, _)| *plane == aspect)?;
        let texel = self.layout.part(aspect, 0, 0)?.texel_bytes();
        let line = copies.first_chunk().filter(|_| texel > 0 && LINE.is_multiple_of(texel)).map(Line::of_bytes)?;
        let bytes = start.saturating_add(bytes.start)..start.saturating_add(bytes.end);
        Some(ClearedPlane { memory, bytes, line })
    }

    /// Returns a reader for accesses that only read texels, if some of the surface is compacted.
    /// The reader makes nothing resident. Returns `None` if all of the surface is resident. It
    /// then stays resident as long as `in_use` lives.
    pub fn reading<'a>(&'a self, in_use: Option<&'a InUse<'a>>) -> Option<Reading<'a>> {
        let (in_use, (memory, range)) = (in_use?, self.compactable()?);
        let clears = memory.noted_clears();
        if self.is_in_use(in_use, clears) {
            return None;
        }
        if !memory.has_compacted(&range, in_use.number()) {
            self.note_use(in_use, clears);
            return None;
        }
        self.hints.use_noted_tiles(ImageAccess::Read);
        Some(Reading::new(in_use, memory))
    }

    /// Returns a writer for copies into about `texels` texels, a small part of the surface, if some
    /// of the surface is compacted. The writer makes nothing resident. Otherwise makes the surface
    /// resident while the submission uses it, and returns `None`.
    pub fn writing<'a>(&'a self, in_use: &'a InUse<'a>, texels: u64) -> Option<Writing<'a>> {
        let (memory, range) = self.compactable()?;
        // Planes that share words, and decoded texels, need the texels at their addresses.
        let is_plain = |info: &&FormatInfo| info.compression.is_none() && info.planes().count() == 1;
        let info = format::info(self.desc.format).filter(is_plain);
        let can_write = !self.hints.is_lost() && !self.is_in_use(in_use, memory.noted_clears());
        if let Some(info) = info.filter(|_| can_write && memory.has_compacted(&range, in_use.number())) {
            self.hints.begin_write(in_use.number());
            // The lines that are written may become larger.
            let bytes: u64 = info.planes().map(|plane| u64::from(plane.bytes)).sum();
            in_use.make_room(texels.saturating_mul(bytes).saturating_mul(u64::from(self.desc.samples)));
            return Some(Writing::new(in_use, memory));
        }
        self.begin_use(in_use, ImageAccess::Write);
        None
    }

    /// Records a hint of a command that a submission executes.
    pub fn hint(&self, in_use: &InUse<'_>, hint: Hint) {
        self.hints.take(hint);
        if hint == Hint::Lost {
            in_use.count_loss();
        }
    }

    /// Returns the memory of the surface, and the offset of the surface in it, in bytes.
    pub fn binding(&self) -> Option<(&Arc<Allocation>, u64)> {
        self.binding.get().map(|(memory, offset)| (memory, *offset))
    }
}

/// Source of one component of a view's texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Constant zero.
    Zero,
    /// Constant one (1 for integer formats).
    One,
    /// Component 0 to 3 (red, green, blue, alpha) of the texel.
    Component(u8),
}

impl Swizzle {
    /// Swizzle that leaves texels unchanged.
    pub const IDENTITY: [Self; 4] = [Self::Component(0), Self::Component(1), Self::Component(2), Self::Component(3)];
}

/// Part of a surface that a view shows, and its interpretation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceViewDesc {
    /// Dimensionality in shaders.
    pub kind: vk::ImageViewType,
    /// Format in shaders and attachments, of the same compatibility class as the surface's format.
    pub format: vk::Format,
    /// Component mapping, with identity resolved.
    pub swizzle: [Swizzle; 4],
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// First level.
    pub base_level: u32,
    /// Number of levels, with `vk::REMAINING_MIP_LEVELS` resolved.
    pub levels: u32,
    /// First layer.
    pub base_layer: u32,
    /// Number of layers, with `vk::REMAINING_ARRAY_LAYERS` resolved.
    pub layers: u32,
    /// First slice and number of slices of a 3D view that shows only some slices
    /// (`VK_EXT_image_sliced_view_of_3d`).
    pub slices: Option<(u32, u32)>,
    /// Least level of the view that sampling reads. Levels below it are never fetched.
    pub min_lod: f32,
    /// True if texels of ASTC blocks have the precision of 8-bit codes, rather than that of half
    /// floats. Never set for other formats and for sRGB, whose blocks always decode to codes.
    pub decodes_codes: bool,
}

/// Memory of one aspect of a view's layers.
#[derive(Debug, Clone)]
pub struct ViewMemory {
    /// Memory.
    pub memory: Arc<Allocation>,
    /// Offset of the first byte.
    pub start: u64,
    /// Bytes of all layers.
    pub bytes: u64,
}

/// Placement of a level, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelPlace {
    /// Offset from the first byte of the first layer.
    pub offset: u32,
    /// Distance between rows of lines, or of texels.
    pub row_bytes: u32,
    /// Distance between layers, or between slices of a volume.
    pub slice_bytes: u32,
}

/// View of a surface.
#[derive(Debug)]
pub struct SurfaceView {
    /// Surface.
    pub surface: Arc<Surface>,
    /// Part of the surface that the view shows, and its interpretation.
    pub desc: SurfaceViewDesc,
}

impl SurfaceView {
    /// Makes the levels and layers of the view resident while a submission uses them. Contents of
    /// the surface that are written from then on are not lost.
    pub fn begin_use(&self, in_use: &InUse<'_>, access: ImageAccess) {
        let surface = self.surface.desc();
        let is_volume = surface.kind == vk::ImageType::TYPE_3D;
        if self.desc.levels >= surface.levels && (is_volume || self.desc.layers >= surface.layers) {
            return self.surface.begin_use(in_use, access);
        }
        let levels = self.desc.base_level..self.desc.base_level.saturating_add(self.desc.levels);
        let layers = self.desc.base_layer..self.desc.base_layer.saturating_add(self.desc.layers);
        self.surface.begin_use_of(in_use, access, levels, layers);
    }

    /// Returns the size in texels of level `level`, counted from the view's first level.
    pub fn extent(&self, level: u32) -> vk::Extent3D {
        let extent = self.extent_of_all_slices(level);
        match self.desc.slices {
            Some((first, count)) => vk::Extent3D { depth: extent.depth.saturating_sub(first).min(count), ..extent },
            None => extent,
        }
    }

    fn extent_of_all_slices(&self, level: u32) -> vk::Extent3D {
        let extent = self.surface.level_extent(self.desc.base_level + level);
        // Most views return here without a lookup in the table of formats. Shaders call this
        // function for each texel.
        let is_plane = PLANE_ASPECTS.iter().any(|&plane| self.desc.aspects.contains(plane));
        if self.desc.format == self.surface.desc().format && !is_plane {
            return extent;
        }
        let seen = format::info(self.desc.format).map_or([1; 2], |info| info.block_extent());
        let mut planes = format::info(self.surface.desc().format).into_iter().flat_map(|info| info.planes());
        let aspects = if self.desc.aspects == DECODED { vk::ImageAspectFlags::COLOR } else { self.desc.aspects };
        let stored = planes.find(|plane| aspects.contains(plane.aspect)).map_or([1; 2], |plane| plane.block);
        if seen == stored {
            return extent;
        }
        // The view shows blocks as texels, or shows a plane that is smaller than the image.
        let (width, height) = (extent.width.div_ceil(stored[0]), extent.height.div_ceil(stored[1]));
        vk::Extent3D { width, height, depth: extent.depth }
    }

    /// Returns one plane of the view. `level` and `slice` count from the view's first. `slice` is
    /// a depth slice for 3D views, and a layer for all other views. A 2D view of a 3D surface has
    /// the slices of the surface as layers.
    pub fn plane(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<PlaneRef<'_>> {
        if level >= self.desc.levels {
            return None;
        }
        let is_volume = self.desc.kind == vk::ImageViewType::TYPE_3D;
        let first = if is_volume { self.first_slice() } else { self.desc.base_layer };
        self.surface.plane(self.stored(aspect), self.desc.base_level + level, first.checked_add(slice)?)
    }

    /// Returns the first slice of a 3D view.
    fn first_slice(&self) -> u32 {
        self.desc.slices.map_or(0, |(first, _)| first)
    }

    /// Returns the aspect of the surface that `aspect` of the view refers to. Colour is one plane
    /// of the surface if the view shows a plane.
    fn stored(&self, aspect: vk::ImageAspectFlags) -> vk::ImageAspectFlags {
        if aspect == DECODED {
            return vk::ImageAspectFlags::COLOR;
        }
        let plane = PLANE_ASPECTS.into_iter().find(|plane| self.desc.aspects.contains(*plane));
        plane.filter(|_| aspect == vk::ImageAspectFlags::COLOR).unwrap_or(aspect)
    }

    /// Returns the memory of one aspect from the view's first layer on, or `None` if the surface
    /// is unbound.
    pub fn memory(&self, aspect: vk::ImageAspectFlags) -> Option<ViewMemory> {
        let (memory, start) = self.surface.binding()?;
        let part = self.surface.layout().subresource(self.stored(aspect), 0, 0)?;
        let volume = self.surface.desc().kind == vk::ImageType::TYPE_3D;
        let (first, layers) = if volume { (0, 1) } else { (self.desc.base_layer, self.desc.layers) };
        Some(ViewMemory {
            memory: memory.clone(),
            start: start + part.offset + u64::from(first) * part.array_pitch,
            bytes: u64::from(layers) * part.array_pitch,
        })
    }

    /// Returns the placement of a level of the view in [`Self::memory`], or `None` if a number
    /// exceeds 32 bits.
    pub fn level_place(&self, aspect: vk::ImageAspectFlags, level: u32) -> Option<LevelPlace> {
        let (layout, aspect) = (self.surface.layout(), self.stored(aspect));
        let first = layout.subresource(aspect, 0, 0)?;
        let part = layout.subresource(aspect, self.desc.base_level + level, 0)?;
        let volume = self.surface.desc().kind == vk::ImageType::TYPE_3D;
        let slice = if volume { part.depth_pitch } else { part.array_pitch };
        // The layers of such a view are slices of the surface and begin at `base_layer`.
        let is_of_slices = volume && self.desc.kind != vk::ImageViewType::TYPE_3D;
        let skipped = if is_of_slices { self.desc.base_layer } else { self.first_slice() };
        let skipped = u64::from(skipped).checked_mul(slice)?;
        Some(LevelPlace {
            offset: u32::try_from((part.offset - first.offset).checked_add(skipped)?).ok()?,
            row_bytes: u32::try_from(part.row_pitch).ok()?,
            slice_bytes: u32::try_from(slice).ok()?,
        })
    }

    /// Returns the format with which shaders read texels, and the aspect: colour, depth, a plane,
    /// or stencil if it is the only one. A view of a surface of decoded texels has the format of
    /// the blocks. Returns `None` if the view's format is not supported.
    pub fn sampled(&self) -> Option<(&'static FormatInfo, vk::ImageAspectFlags)> {
        let seen = format::info(self.desc.format)?;
        if self.desc.aspects == DECODED {
            return Some((seen, DECODED));
        }
        let is_compressed = |format: vk::Format| format::info(format).is_some_and(|info| info.compression.is_some());
        if seen.compression.is_some() && !is_compressed(self.surface.desc().format) {
            return Some((format::decoded_format(seen)?, self.sampled_aspect()));
        }
        Some((seen, self.sampled_aspect()))
    }

    fn sampled_aspect(&self) -> vk::ImageAspectFlags {
        let aspects = self.desc.aspects;
        let [first, second, third] = PLANE_ASPECTS;
        for aspect in [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, first, second, third] {
            if aspects.contains(aspect) {
                return aspect;
            }
        }
        vk::ImageAspectFlags::STENCIL
    }
}
