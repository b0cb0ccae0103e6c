//! Image routines written as IR: filtered sampling, gathering, queries of the level of detail, and
//! access to single texels.
//!
//! A routine is compiled for one kind of image instruction. It is specialised for the properties
//! of view and sampler that affect the code most: format, filters and addressing. Values that
//! change from image to image (sizes, positions of levels, clamps) are push constants.
//!
//! The input words of a routine are the instruction's operands. Resource 0 is the image's memory.
//! Resource 1 is the image, for texels that the routine does not decode itself. Source: Vulkan
//! specification, "Image Operations".

mod access;
mod address;
mod convert;
mod cube;
mod filter;
mod lod;
mod texel;

use std::sync::Arc;

use ash::vk;
use foldhash::HashMap;
use parking_lot::Mutex;

#[cfg(test)]
pub(super) use address::MAX_COORDINATE;
#[cfg(test)]
pub(super) use lod::ANISOTROPY_TOLERANCE;

use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Builder, Image, Inst, Space, Token, Type, Value};
use vitric_memory::{
    BufferRange, BufferView, DECODED, DecodedCache, LevelPlace, SurfaceView, SurfaceViewDesc, Swizzle, ViewMemory,
};

use super::access::outside_buffer;
use super::texel::Reader;
use crate::Program;
use crate::runtime::{Bound, Conversion, Descriptor, MAX_ANISOTROPY, Sampler};

/// Maximum number of operands of an image instruction.
const MAX_OPERANDS: usize = 32;

/// Maximum size of an image that offsets can address, in bytes.
const MAX_BYTES: u64 = 0x7fff_ff00;

/// Push constants of a routine, by word index.
mod word {
    /// Bias of the sampler.
    pub const BIAS: u32 = 0;
    /// Minimum level of detail.
    pub const MIN_LOD: u32 = 1;
    /// Maximum level of detail.
    pub const MAX_LOD: u32 = 2;
    /// Number of the last level.
    pub const LAST_LEVEL: u32 = 3;
    /// Number of the last layer, or of the last cube.
    pub const LAST_LAYER: u32 = 4;
    /// Border colour, or result of reading a single texel out of bounds. Four words.
    pub const BORDER: u32 = 5;
    /// Square of the maximum number of samples of anisotropic filtering.
    pub const ANISOTROPY: u32 = 9;
    /// Minimum level that is read.
    pub const MIN_LEVEL: u32 = 10;
    /// First word of level 0.
    pub const LEVELS: u32 = 12;
    /// Number of words per level.
    pub const LEVEL: u32 = 15;
    /// In a level: width, height, depth, in texels.
    pub const SIZE: u32 = 0;
    /// In a level: offset of the first byte.
    pub const OFFSET: u32 = 3;
    /// In a level: distance between rows of lines, or between rows of texels, in bytes.
    pub const ROW: u32 = 4;
    /// In a level: distance between layers or slices, in bytes.
    pub const SLICE: u32 = 5;
    /// In a level: width, height, depth as floats.
    pub const LENGTH: u32 = 6;
    /// In a level: last column, row, slice.
    pub const LAST: u32 = 9;
    /// In a level: negated inverses of width, height, depth.
    pub const INVERSE: u32 = 12;
}

/// Layout of texels, which determines how they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Layout {
    /// Lines of 8×8 texels.
    Lines,
    /// Rows of texels.
    Rows,
    /// Compressed blocks. The runtime reads one texel at a time and decodes it to words of the
    /// uncompressed format.
    Blocks,
    /// Images that exceed the range of offsets or the bound memory. The runtime reads one texel at
    /// a time.
    Fetched,
}

impl Layout {
    /// Returns the layout of a view with memory.
    fn new(reader: &Reader<'_>, memory: &ViewMemory) -> Self {
        let inside = memory.bytes.min(memory.memory.size().saturating_sub(memory.start));
        if reader.is_compressed() {
            return Self::Blocks;
        }
        if memory.bytes > MAX_BYTES || last_byte(reader).is_none_or(|last| last >= inside) {
            return Self::Fetched;
        }
        Self::in_memory(reader)
    }

    /// Returns the layout of a view whose texels routines decode.
    fn in_memory(reader: &Reader<'_>) -> Self {
        if reader.view.surface.layout().is_in_lines() { Self::Lines } else { Self::Rows }
    }
}

/// Returns the position of the last byte of a view's texels in its memory. Routines do not check
/// whether sampled texels are inside of the memory.
fn last_byte(reader: &Reader<'_>) -> Option<u64> {
    let (view, aspect) = (reader.view, reader.aspect());
    let plane = reader.info.planes().find(|plane| plane.aspect == aspect);
    let texel = u64::from(plane.map_or(reader.info.bytes, |plane| plane.stride));
    let end_of = |level: u32| {
        let (extent, place) = (view.extent(level), view.level_place(aspect, level)?);
        let slices = match view.desc.kind {
            vk::ImageViewType::TYPE_3D => extent.depth,
            vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => view.desc.layers.next_multiple_of(6),
            _ => view.desc.layers,
        };
        let (rows, in_last) = match view.surface.layout().is_in_lines() {
            true => (extent.height.div_ceil(8), u64::from(extent.width.div_ceil(8) * 64 * view.surface.desc().samples)),
            false => (extent.height, u64::from(extent.width)),
        };
        let before = [(rows, place.row_bytes), (slices, place.slice_bytes)]
            .map(|(count, bytes)| u64::from(count.saturating_sub(1)) * u64::from(bytes));
        Some(u64::from(place.offset) + before[0] + before[1] + in_last * texel)
    };
    (0..view.desc.levels).try_fold(0, |most: u64, level| end_of(level).map(|end| most.max(end)))?.checked_sub(1)
}

/// Properties of a view and a sampler that a routine is specialised for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
    layout: Layout,
    /// Number of dimensions, 1 to 3.
    dimensions: usize,
    is_cube: bool,
    swizzle: [Swizzle; 4],
    /// True if only the first level is ever read.
    single_level: bool,
    mag_filter: vk::Filter,
    min_filter: vk::Filter,
    mipmap_mode: vk::SamplerMipmapMode,
    address_mode: [vk::SamplerAddressMode; 3],
    /// Logarithm to base 2 of the number of samples per texel.
    samples_log2: u32,
    /// True if the sizes of all levels along an axis are powers of two, for axes whose address
    /// mode depends on it.
    powers_of_two: [bool; 3],
    compare: Option<vk::CompareOp>,
    unnormalized: bool,
    /// True if anisotropic filtering may take several samples.
    is_anisotropic: bool,
    reduction: vk::SamplerReductionMode,
    /// True if filtering does not cross the edges of cube faces.
    separate_faces: bool,
    /// True if the view's minimum LOD excludes some levels.
    has_min_level: bool,
    /// True if the view's minimum LOD excludes the first level.
    excludes_base_level: bool,
    /// True if texels are rounded to the precision of 8-bit codes.
    decodes_codes: bool,
    conversion: Option<Conversion>,
}

/// Key of a compiled routine: an instruction with numbered operands, and the state.
type Key = (Image, State);

/// Routines of a device, each compiled once.
#[derive(Debug, Default)]
pub struct Routines {
    compiled: Mutex<HashMap<Key, Arc<Routine>>>,
    /// Decoded texels of compressed images, which image instructions sample if possible.
    decoded: Arc<DecodedCache>,
}

/// Compiled routine.
#[derive(Debug)]
pub struct Routine {
    /// Program of the routine, which can also be inlined into other programs.
    pub program: Program,
    /// Token that identifies the routine in programs that inline it.
    pub token: Token,
}

/// Routine with its resources: an image and a sampler, prepared for one kind of instruction.
#[derive(Debug)]
pub struct BoundRoutine {
    /// Routine that executes the instruction.
    pub routine: Arc<Routine>,
    /// Descriptors of each resource of the routine.
    pub resources: Vec<Vec<Bound>>,
    /// Push constants of the routine.
    pub push: Vec<u8>,
}

impl Routines {
    /// Creates an empty set of routines that uses this cache of decoded texels.
    pub fn new(decoded: Arc<DecodedCache>) -> Self {
        Self { compiled: Mutex::default(), decoded }
    }

    /// Returns the cache of decoded texels of compressed images.
    pub fn decoded(&self) -> &Arc<DecodedCache> {
        &self.decoded
    }

    /// Prepares a view and a sampler for an instruction whose operands are numbered from 0.
    /// Returns `None` if the view's format is not supported or its memory is not bound. All
    /// results are then 0.
    pub fn prepare(&self, request: &Image, view: &Arc<SurfaceView>, sampler: &Sampler) -> Option<BoundRoutine> {
        let reader = Reader::new(view)?;
        if let Some(conversion) = sampler.conversion.filter(|_| reader.info.is_planar()) {
            let (planes, mut push) = convert::planes(view, reader.info)?;
            put_sampler(&mut push, sampler);
            let state = State::new(&reader, sampler, Layout::in_memory(&reader));
            let state = State { conversion: Some(conversion), ..state };
            return self.bound(request, state, planes.into_iter().map(|plane| vec![plane]).collect(), &push);
        }
        let memory = view.memory(reader.aspect())?;
        let state = State::new(&reader, sampler, Layout::new(&reader, &memory));
        let layers = if state.is_cube { view.desc.layers / 6 } else { view.desc.layers };
        let mut push = level_words(&reader, layers);
        put_sampler(&mut push, sampler);
        push[word::BORDER as usize..][..4].copy_from_slice(&reader.border(sampler.border));
        let image = if state.layout == Layout::Blocks { as_words(view) } else { view.clone() };
        let image = Bound::Other(Descriptor::SampledImage(image));
        let memory = Bound::Buffer(Some(memory.memory), memory.start, memory.bytes);
        self.bound(request, state, vec![vec![memory], vec![image]], &push)
    }

    /// Prepares a view for an instruction that accesses single texels. Returns `None` if nothing
    /// is bound, or if no routine can decode or encode the texels.
    pub fn prepare_texels(&self, request: &Image, view: &SurfaceView) -> Option<BoundRoutine> {
        let reader = Reader::new(view)?;
        let memory = view.memory(reader.aspect())?;
        let state = State::texels(&reader, Layout::new(&reader, &memory));
        if matches!(state.layout, Layout::Blocks | Layout::Fetched) {
            return None;
        }
        let mut push = level_words(&reader, view.desc.layers);
        push[word::BORDER as usize..][..4].copy_from_slice(&reader.outside());
        self.bound(request, state, vec![vec![Bound::Buffer(Some(memory.memory), memory.start, memory.bytes)]], &push)
    }

    /// Prepares a texel buffer for an instruction that accesses single texels.
    pub fn prepare_buffer(&self, request: &Image, view: &BufferView) -> Option<BoundRoutine> {
        let info = vitric_format::info(view.format)?;
        let state = State::one_level(view.format, vk::ImageAspectFlags::COLOR);
        if view.range.size > MAX_BYTES {
            return None;
        }
        let mut push = vec![0; (word::LEVELS + word::LEVEL) as usize];
        let texels = (view.range.size / u64::from(info.bytes)) as u32;
        push[word::BORDER as usize..][..4].copy_from_slice(&outside_buffer(info));
        // Words are aligned relative to the buffer, so a view may start in the middle of one.
        let before = view.range.offset % 4;
        put_level(&mut push, 0, [texels, 1, 1], LevelPlace { offset: before as u32, row_bytes: 0, slice_bytes: 0 });
        let BufferRange { offset, size, .. } = view.range;
        let range = BufferRange { offset: offset - before, size: size + before, ..view.range.clone() };
        let range = Bound::new(Descriptor::StorageBuffer(range), 0);
        self.bound(request, state, vec![vec![range]], &push)
    }

    fn bound(&self, request: &Image, state: State, resources: Vec<Vec<Bound>>, push: &[u32]) -> Option<BoundRoutine> {
        // The number of the instruction and the sources of image and sampler do not affect the
        // routine.
        let request =
            Image { resource: 0, element: None, sampler: None, number: 0, result: Value(0), ..request.clone() };
        let routine = self.routine((request, state))?;
        let push = push.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(BoundRoutine { routine, resources, push })
    }

    fn routine(&self, key: Key) -> Option<Arc<Routine>> {
        if let Some(known) = self.compiled.lock().get(&key) {
            return Some(known.clone());
        }
        let routine = Arc::new(Routine { program: compile(&key)?, token: Token::default() });
        Some(self.compiled.lock().entry(key).or_insert(routine).clone())
    }
}

impl State {
    /// Returns the state of texels in a row.
    fn one_level(format: vk::Format, aspect: vk::ImageAspectFlags) -> Self {
        Self {
            format,
            aspect,
            layout: Layout::Rows,
            dimensions: 1,
            is_cube: false,
            swizzle: Swizzle::IDENTITY,
            single_level: true,
            mag_filter: vk::Filter::NEAREST,
            min_filter: vk::Filter::NEAREST,
            mipmap_mode: vk::SamplerMipmapMode::NEAREST,
            address_mode: [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3],
            samples_log2: 0,
            powers_of_two: [false; 3],
            compare: None,
            unnormalized: false,
            is_anisotropic: false,
            reduction: vk::SamplerReductionMode::WEIGHTED_AVERAGE,
            separate_faces: false,
            has_min_level: false,
            excludes_base_level: false,
            decodes_codes: false,
            conversion: None,
        }
    }

    /// Returns the state of a view's texels without a sampler.
    fn texels(reader: &Reader<'_>, layout: Layout) -> Self {
        let view = reader.view;
        let dimensions = match view.desc.kind {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        };
        let aspect = if reader.is_color() { vk::ImageAspectFlags::COLOR } else { reader.aspect() };
        // The runtime decodes blocks, and the routine decodes the resulting texels.
        let info = vitric_format::decoded_format(reader.info).unwrap_or(reader.info);
        Self {
            layout,
            dimensions,
            swizzle: view.desc.swizzle,
            single_level: view.desc.levels == 1,
            samples_log2: view.surface.desc().samples.ilog2(),
            has_min_level: view.desc.min_lod > 0.0,
            excludes_base_level: view.desc.min_lod >= 1.0,
            decodes_codes: view.desc.decodes_codes,
            ..Self::one_level(info.format, aspect)
        }
    }

    fn new(reader: &Reader<'_>, sampler: &Sampler, layout: Layout) -> Self {
        let (view, texels) = (reader.view, Self::texels(reader, layout));
        let turns = |mode| matches!(mode, vk::SamplerAddressMode::REPEAT | vk::SamplerAddressMode::MIRRORED_REPEAT);
        let size = |level: u32| {
            let extent = view.extent(level);
            [extent.width, extent.height, extent.depth]
        };
        let all_powers = |axis: usize| (0..view.desc.levels).all(|level| size(level)[axis].is_power_of_two());
        let is_cube = matches!(view.desc.kind, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY);
        let integer = reader.class().is_integer();
        let filter = |filter| if integer { vk::Filter::NEAREST } else { filter };
        // Texels of seamless cubes are never wrapped.
        let modes = if is_cube && !sampler.separate_faces {
            [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3]
        } else {
            sampler.address_mode
        };
        Self {
            is_cube,
            mag_filter: filter(sampler.mag_filter),
            min_filter: filter(sampler.min_filter),
            mipmap_mode: sampler.mipmap_mode,
            address_mode: modes,
            powers_of_two: [0, 1, 2].map(|axis| axis < texels.dimensions && turns(modes[axis]) && all_powers(axis)),
            compare: sampler.compare,
            unnormalized: sampler.unnormalized_coordinates,
            is_anisotropic: !integer && sampler.max_anisotropy.is_some_and(|most| most > 1.0),
            reduction: sampler.reduction,
            separate_faces: is_cube && sampler.separate_faces,
            ..texels
        }
    }

    /// Returns true if the result does not depend on the level of detail.
    fn ignores_lod(&self) -> bool {
        self.single_level && self.mag_filter == self.min_filter && !self.is_anisotropic
    }
}

/// Returns a view of the words of decoded texels, with the levels and layers of `view`.
fn as_words(view: &SurfaceView) -> Arc<SurfaceView> {
    let desc = SurfaceViewDesc { aspects: DECODED, swizzle: Swizzle::IDENTITY, ..view.desc };
    Arc::new(SurfaceView { surface: view.surface.clone(), desc })
}

/// Writes the push constants of a sampler, except for the border colour.
fn put_sampler(push: &mut [u32], sampler: &Sampler) {
    push[word::BIAS as usize] = sampler.mip_lod_bias.to_bits();
    push[word::MIN_LOD as usize] = sampler.min_lod.to_bits();
    push[word::MAX_LOD as usize] = sampler.max_lod.to_bits();
    let most = sampler.max_anisotropy.unwrap_or(1.0).clamp(1.0, MAX_ANISOTROPY);
    push[word::ANISOTROPY as usize] = (most * most).to_bits();
}

/// Returns the push constants of a view with `layers` layers or cubes.
fn level_words(reader: &Reader<'_>, layers: u32) -> Vec<u32> {
    let view = reader.view;
    let mut words = vec![0; (word::LEVELS + word::LEVEL * view.desc.levels) as usize];
    words[word::LAST_LEVEL as usize] = view.desc.levels.saturating_sub(1);
    words[word::LAST_LAYER as usize] = layers.saturating_sub(1);
    // The minimum level is clamped to the existing levels, whatever the view's minimum LOD is.
    let last = view.desc.levels.saturating_sub(1) as f32;
    words[word::MIN_LEVEL as usize] = view.desc.min_lod.max(0.0).min(last).to_bits();
    for level in 0..view.desc.levels {
        let extent = view.extent(level);
        let place = view.level_place(reader.aspect(), level).unwrap_or_default();
        put_level(&mut words, level, [extent.width, extent.height, extent.depth], place);
    }
    words
}

/// Writes the words of a level: its size in texels, and its position in memory.
fn put_level(push: &mut [u32], level: u32, size: [u32; 3], place: LevelPlace) {
    let words = &mut push[(word::LEVELS + word::LEVEL * level) as usize..];
    let mut put = |first: u32, three: [u32; 3]| words[first as usize..][..3].copy_from_slice(&three);
    put(word::SIZE, size);
    put(word::OFFSET, [place.offset, place.row_bytes, place.slice_bytes]);
    put(word::LENGTH, size.map(|length| (length as f32).to_bits()));
    put(word::LAST, size.map(|length| length.saturating_sub(1)));
    put(word::INVERSE, size.map(|length| (-1.0 / length.max(1) as f32).to_bits()));
}

fn compile(key: &Key) -> Option<Program> {
    let (request, state) = key;
    let mut builder = RoutineBuilder::new(request, state)?;
    let results = builder.results()?;
    for (slot, value) in (0..).zip(results) {
        builder.b.push(Inst::Output { slot, value });
    }
    let mut function = builder.b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let mut program = Program::routine(function, &[LaneVariance::Divergent; MAX_OPERANDS], request.results as usize);
    program.code.generate_chosen(program.stage, "image");
    Some(program)
}

/// Builder of a routine.
struct RoutineBuilder<'a> {
    b: Builder,
    request: &'a Image,
    state: &'a State,
    info: &'static vitric_format::FormatInfo,
    /// Index of the resource that texels are loaded from.
    resource: u32,
    /// Integer indices, with the floats that they were converted from.
    index_floats: Vec<(Value, Value)>,
}

impl<'a> RoutineBuilder<'a> {
    fn new(request: &'a Image, state: &'a State) -> Option<Self> {
        Some(Self {
            b: Builder::new(),
            request,
            state,
            info: vitric_format::info(state.format)?,
            resource: 0,
            index_floats: Vec::new(),
        })
    }

    /// Returns the operand with this number.
    fn operand(&mut self, operand: Value, ty: Type) -> Value {
        self.b.input(operand.0, ty)
    }

    /// Returns a push constant.
    fn word(&mut self, word: u32, ty: Type) -> Value {
        let offset = self.b.int(word * 4);
        self.b.load(Space::Push, offset, ty)
    }
}

#[cfg(test)]
mod tests;
