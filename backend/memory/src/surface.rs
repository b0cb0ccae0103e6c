//! Surfaces: images as the GPU stores them, and views of them.
//!
//! Source: Vulkan specification, "Resource Creation" (Images, Image Views); DESIGN 2 (lines).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk;
use parking_lot::Mutex;
use vitric_format::{self as format, Class, FormatInfo, PLANE_ASPECTS};

use super::decoded::DecodedTexels;
use super::layout::{SurfaceDesc, SurfaceLayout, level_extent};
use super::near::codec::{Codec, LINE, Line};
use super::plane::PlaneRef;
use super::rest::{Hints, Kind, Reading};
use super::{Allocation, Hint, InUse};

/// The aspect of texels that blocks are decoded to, as words of the uncompressed format. Only views of the driver's own name it.
pub const DECODED: vk::ImageAspectFlags = vk::ImageAspectFlags::METADATA;

/// An image: description, layout, and the memory it is bound to.
#[derive(Debug)]
pub struct Surface {
    desc: SurfaceDesc,
    layout: SurfaceLayout,
    binding: OnceLock<(Arc<Allocation>, u64)>,
    /// The greatest number of a submission that used all of it.
    used: AtomicU64,
    /// How many of the clears that were noted in its memory somebody who used it has seen.
    seen: AtomicU64,
    /// What was rendered to in its place, for the next time.
    stand_in: Mutex<Option<Arc<Surface>>>,
    /// What commands have said of its contents.
    hints: Arc<Hints>,
    is_transient: bool,
    /// Its decoded texels, once an image instruction has looked for them.
    decoded: OnceLock<Option<Arc<DecodedTexels>>>,
}

impl Surface {
    /// An unbound surface; `None` when the format is not supported or the surface is larger than addresses reach.
    pub fn new(desc: SurfaceDesc) -> Option<Arc<Self>> {
        Self::made(desc, false)
    }

    /// The same of an image that is attached only, and may lie in memory that is lazily allocated.
    pub fn transient(desc: SurfaceDesc) -> Option<Arc<Self>> {
        Self::made(desc, true)
    }

    fn made(desc: SurfaceDesc, is_transient: bool) -> Option<Arc<Self>> {
        let (layout, binding) = (SurfaceLayout::new(&desc)?, OnceLock::new());
        let (used, hints, stand_in) = (AtomicU64::new(0), Arc::default(), Mutex::new(None));
        let seen = AtomicU64::new(0);
        let decoded = OnceLock::new();
        Some(Arc::new(Self { desc, layout, binding, used, seen, stand_in, hints, is_transient, decoded }))
    }

    /// Its decoded texels, where an image instruction has looked for them.
    pub(super) fn decoded(&self) -> Option<&Arc<DecodedTexels>> {
        self.decoded.get()?.as_ref()
    }

    /// The same, made where nobody has looked for them yet.
    pub(super) fn decoded_or_init(
        &self,
        make: impl FnOnce() -> Option<Arc<DecodedTexels>>,
    ) -> Option<&Arc<DecodedTexels>> {
        let make = || make().inspect(|texels| self.hints.set_decoded(texels));
        self.decoded.get_or_init(make).as_ref()
    }

    /// Whether it is attached only.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Where everything lies.
    pub fn layout(&self) -> &SurfaceLayout {
        &self.layout
    }

    /// Size in texels of a level; at least 1 each.
    pub fn level_extent(&self, level: u32) -> vk::Extent3D {
        level_extent(self.desc.extent, level)
    }

    /// One level, layer and slice of the plane of `aspect`; `None` when unbound, or when there is no such part.
    ///
    /// `slice` counts slices of a 3D surface, and layers of any other.
    pub fn plane(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<PlaneRef<'_>> {
        let (memory, start) = self.binding()?;
        let part = self.layout.part(aspect, level, slice)?;
        Some(PlaneRef { memory, base: start + part.offset, part })
    }

    /// What the surface is made of.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    /// Binds the surface to `memory` from `offset` on. Returns whether it was unbound before.
    pub fn bind(&self, memory: Arc<Allocation>, offset: u64) -> bool {
        let range = offset..offset.saturating_add(self.layout.size());
        if self.binding.set((memory.clone(), offset)).is_err() {
            return false;
        }
        match self.desc.linear {
            true => memory.keep_awake(range),
            false => memory.adopt(range, self.codecs(offset), self.codec_kind(), &self.hints),
        }
        true
    }

    /// Takes the surface that was kept by [`Self::keep_stand_in`], if there is one; nobody else has it then.
    pub fn take_stand_in(&self) -> Option<Arc<Self>> {
        self.stand_in.lock().take()
    }

    /// Keeps a surface that was rendered to in place of this one, instead of any that is kept, for as long as this one lives.
    pub fn keep_stand_in(&self, surface: Arc<Self>) {
        *self.stand_in.lock() = Some(surface);
    }

    /// What suits the lines of its planes, which lie in these bytes of memory from `offset` on.
    fn codecs(&self, offset: u64) -> impl Iterator<Item = (std::ops::Range<u64>, Codec)> {
        let stored = format::info(self.desc.format);
        let codec = move |aspect: vk::ImageAspectFlags| match stored {
            Some(info) if aspect == vk::ImageAspectFlags::COLOR => Codec::of_color(info),
            Some(info) if aspect.contains(vk::ImageAspectFlags::DEPTH) => Codec::of_depth(info.depth_bits),
            _ => Codec::of_bytes(),
        };
        let at = move |byte: u64| offset.saturating_add(byte);
        self.layout.planes().map(move |(aspect, bytes)| (at(bytes.start)..at(bytes.end), codec(aspect)))
    }

    /// How its codecs' work is counted.
    fn codec_kind(&self) -> Kind {
        let is_float = |info: &FormatInfo| matches!(info.class, Class::Sfloat | Class::Ufloat);
        match format::info(self.desc.format) {
            Some(info) if info.is_depth_stencil() => Kind::Depth,
            _ if self.desc.samples > 1 => Kind::Samples,
            Some(info) if is_float(info) => Kind::Hdr,
            _ => Kind::Color,
        }
    }

    /// Whether it lies where images rest.
    pub fn may_rest(&self) -> bool {
        !self.desc.linear && self.binding().is_some_and(|(memory, _)| memory.rest.is_some())
    }

    /// Has it awake as long as something uses it: `overwritten` as a whole, or as it is. What it holds from then on is not lost.
    pub fn begin_use(&self, in_use: &InUse<'_>, overwritten: bool) {
        let Some((memory, start)) = self.binding() else { return };
        if !self.may_rest() {
            return;
        }
        let noted = memory.noted();
        // What a later submission has noted holds for this one, too, as long as it runs.
        let is_known =
            self.used.load(Ordering::Acquire) >= in_use.number() && self.seen.load(Ordering::Acquire) == noted;
        if is_known && !self.hints.is_lost() {
            return;
        }
        let range = start..start.saturating_add(self.layout.size());
        let is_lost = self.hints.begin_use() && !memory.holds_for_others(&range, &self.hints);
        in_use.wake(memory, range, is_lost || overwritten);
        self.used.fetch_max(in_use.number(), Ordering::Release);
        self.seen.fetch_max(noted, Ordering::Release);
    }

    /// Notes that a plane is cleared at all levels and layers: texels are written when something
    /// first needs them. `aspect` must name all aspects of the plane's words, and `copies` hold the
    /// texel often enough for a line. `in_use` must have begun to use the surface. Returns false and
    /// does nothing if the clear cannot be noted.
    pub fn note_clear(&self, in_use: &InUse<'_>, aspect: vk::ImageAspectFlags, copies: &[u8]) -> bool {
        let Some((memory, start)) = self.binding().filter(|_| self.may_rest()) else { return false };
        let plane = self.layout.planes().find(|(plane, _)| *plane == aspect);
        let texel = self.layout.part(aspect, 0, 0).map_or(0, |part| part.texel_bytes());
        let line = copies.first_chunk().filter(|_| texel > 0 && LINE.is_multiple_of(texel)).map(Line::of_bytes);
        let (Some((_, bytes)), Some(line)) = (plane, line) else { return false };
        let bytes = start.saturating_add(bytes.start)..start.saturating_add(bytes.end);
        let is_noted = in_use.note_clear(memory, bytes, &line);
        if is_noted {
            // Who sees this looks at the surface again.
            in_use.count_loss();
        }
        is_noted
    }

    /// How something that only reads texels reads them, where some of the surface rests: nothing wakes. `None` where nothing rests; then
    /// all stays awake for as long as `in_use`.
    pub fn reading<'a>(&'a self, in_use: Option<&'a InUse<'a>>) -> Option<Reading<'a>> {
        let (in_use, (memory, start)) = (in_use?, self.binding()?);
        let rests =
            self.may_rest() && memory.rests_for(start..start.saturating_add(self.layout.size()), in_use.number());
        rests.then(|| Reading::new(in_use, memory))
    }

    /// Takes a hint of a command that a submission executes.
    pub fn hint(&self, in_use: &InUse<'_>, hint: Hint) {
        self.hints.take(hint);
        if hint == Hint::Lost {
            in_use.count_loss();
        }
    }

    /// The memory behind the surface and where in it the surface starts.
    pub fn binding(&self) -> Option<(&Arc<Allocation>, u64)> {
        self.binding.get().map(|(memory, offset)| (memory, *offset))
    }
}

/// Where one component of a view's texel comes from.
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
    /// The swizzle that leaves texels as they are.
    pub const IDENTITY: [Self; 4] = [Self::Component(0), Self::Component(1), Self::Component(2), Self::Component(3)];
}

/// Which part of a surface a view shows, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceViewDesc {
    /// Dimensionality as shaders see it.
    pub kind: vk::ImageViewType,
    /// Format as shaders and attachments see it; of the same compatibility class as the surface's.
    pub format: vk::Format,
    /// Component mapping, identity resolved.
    pub swizzle: [Swizzle; 4],
    /// Aspects.
    pub aspects: vk::ImageAspectFlags,
    /// First level.
    pub base_level: u32,
    /// Levels, `vk::REMAINING_MIP_LEVELS` resolved.
    pub levels: u32,
    /// First layer.
    pub base_layer: u32,
    /// Layers, `vk::REMAINING_ARRAY_LAYERS` resolved.
    pub layers: u32,
    /// First of the slices of a 3D view that shows some of them only, and how many (`VK_EXT_image_sliced_view_of_3d`).
    pub slices: Option<(u32, u32)>,
    /// Least level that is read, of the view's, where levels are sampled; of those below it nothing is fetched.
    pub min_lod: f32,
}

/// The memory of a view's layers, of one aspect.
#[derive(Debug, Clone)]
pub struct ViewMemory {
    /// Memory.
    pub memory: Arc<Allocation>,
    /// First byte.
    pub start: u64,
    /// Bytes of all layers.
    pub bytes: u64,
}

/// Where a level lies, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelPlace {
    /// From the first byte of the first layer.
    pub offset: u32,
    /// From one row of lines (or of texels) to the next.
    pub row_bytes: u32,
    /// From one layer, or slice of a volume, to the next.
    pub slice_bytes: u32,
}

/// A view of a surface.
#[derive(Debug)]
pub struct SurfaceView {
    /// The surface.
    pub surface: Arc<Surface>,
    /// Which part of it, and how.
    pub desc: SurfaceViewDesc,
}

impl SurfaceView {
    /// Size in texels of the view's level `level` (counted from its first).
    pub fn extent(&self, level: u32) -> vk::Extent3D {
        let extent = self.extent_of_all_slices(level);
        match self.desc.slices {
            Some((first, count)) => vk::Extent3D { depth: extent.depth.saturating_sub(first).min(count), ..extent },
            None => extent,
        }
    }

    fn extent_of_all_slices(&self, level: u32) -> vk::Extent3D {
        let extent = self.surface.level_extent(self.desc.base_level + level);
        // What most views are costs no look at the table of formats; shaders ask for each texel.
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
        // A view of blocks as texels, or of a plane that is smaller than the image.
        let (width, height) = (extent.width.div_ceil(stored[0]), extent.height.div_ceil(stored[1]));
        vk::Extent3D { width, height, depth: extent.depth }
    }

    /// One plane of the view: `level` and `slice` count from the view's first. `slice` is of depth for 3D views, and a
    /// layer for all others: of a 3D surface its slices are the layers.
    pub fn plane(&self, aspect: vk::ImageAspectFlags, level: u32, slice: u32) -> Option<PlaneRef<'_>> {
        if level >= self.desc.levels {
            return None;
        }
        let is_volume = self.desc.kind == vk::ImageViewType::TYPE_3D;
        let first = if is_volume { self.first_slice() } else { self.desc.base_layer };
        self.surface.plane(self.stored(aspect), self.desc.base_level + level, first.checked_add(slice)?)
    }

    /// The slice that a 3D view begins with.
    fn first_slice(&self) -> u32 {
        self.desc.slices.map_or(0, |(first, _)| first)
    }

    /// The aspect that a view's colour is of its surface: a plane, where the view shows one.
    fn stored(&self, aspect: vk::ImageAspectFlags) -> vk::ImageAspectFlags {
        if aspect == DECODED {
            return vk::ImageAspectFlags::COLOR;
        }
        let plane = PLANE_ASPECTS.into_iter().find(|plane| self.desc.aspects.contains(*plane));
        plane.filter(|_| aspect == vk::ImageAspectFlags::COLOR).unwrap_or(aspect)
    }

    /// The memory from the view's first layer on, of one aspect; `None` when nothing is bound.
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

    /// Where a level of the view lies in [`Self::memory`]; `None` where 32 bits do not reach.
    pub fn level_place(&self, aspect: vk::ImageAspectFlags, level: u32) -> Option<LevelPlace> {
        let (layout, aspect) = (self.surface.layout(), self.stored(aspect));
        let first = layout.subresource(aspect, 0, 0)?;
        let part = layout.subresource(aspect, self.desc.base_level + level, 0)?;
        let volume = self.surface.desc().kind == vk::ImageType::TYPE_3D;
        let slice = if volume { part.depth_pitch } else { part.array_pitch };
        // Layers of a view of slices begin at one of them.
        let is_of_slices = volume && self.desc.kind != vk::ImageViewType::TYPE_3D;
        let skipped = if is_of_slices { self.desc.base_layer } else { self.first_slice() };
        let skipped = u64::from(skipped).checked_mul(slice)?;
        Some(LevelPlace {
            offset: u32::try_from((part.offset - first.offset).checked_add(skipped)?).ok()?,
            row_bytes: u32::try_from(part.row_pitch).ok()?,
            slice_bytes: u32::try_from(slice).ok()?,
        })
    }

    /// The format as which shaders read texels, and the aspect: colour, depth, or stencil when it is the only one, or a plane. A
    /// view of a surface of decoded texels has the format of the blocks. `None` when the view's format is not supported.
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
