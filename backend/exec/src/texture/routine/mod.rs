//! Image routines: filtered sampling, gathering, queries of the level of detail, and access to single texels, written as IR.
//!
//! A routine is compiled for one kind of image instruction, and for what of a view and a sampler is worth specialising: format,
//! filters, addressing. What changes from image to image (sizes, where levels lie, clamps) it reads as push constants. Its
//! input words are the instruction's operands; resource 0 is the image's memory, resource 1 the image for texels that it does
//! not decode itself. Source: Vulkan specification, "Image Operations".

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
pub(super) use address::FARTHEST;
#[cfg(test)]
pub(super) use lod::ROUND;

use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Builder, Image, Inst, Space, Token, Type, Value};
use vitric_memory::{
    BufferRange, BufferView, DECODED, DecodedCache, LevelPlace, SurfaceView, SurfaceViewDesc, Swizzle, ViewMemory,
};

use super::access::outside_buffer;
use super::texel::Reader;
use super::{Conversion, MAX_ANISOTROPY, Sampler};
use crate::Program;
use crate::runtime::{Bindings, Bound, Descriptor};

/// Operands of an image instruction, at most.
const MAX_OPERANDS: usize = 32;

/// Bytes of an image that offsets reach.
const MAX_BYTES: u64 = 0x7fff_ff00;

/// Push constants of a routine, by word.
mod word {
    /// The sampler's bias.
    pub const BIAS: u32 = 0;
    /// Least level of detail.
    pub const MIN_LOD: u32 = 1;
    /// Greatest level of detail.
    pub const MAX_LOD: u32 = 2;
    /// Number of the last level.
    pub const LAST_LEVEL: u32 = 3;
    /// Number of the last layer, or cube.
    pub const LAST_LAYER: u32 = 4;
    /// The border colour, or what single texels outside of the view are: four words.
    pub const BORDER: u32 = 5;
    /// Most samples of anisotropic filtering, squared.
    pub const ANISOTROPY: u32 = 9;
    /// Least level that is read.
    pub const MIN_LEVEL: u32 = 10;
    /// First word of level 0.
    pub const LEVELS: u32 = 12;
    /// Words of a level.
    pub const LEVEL: u32 = 15;
    /// In a level: width, height, depth.
    pub const SIZE: u32 = 0;
    /// In a level: first byte.
    pub const OFFSET: u32 = 3;
    /// In a level: bytes from one row of lines (or of texels) to the next.
    pub const ROW: u32 = 4;
    /// In a level: bytes from one layer or slice to the next.
    pub const SLICE: u32 = 5;
    /// In a level: width, height, depth as floats.
    pub const LENGTH: u32 = 6;
    /// In a level: last column, row, slice.
    pub const LAST: u32 = 9;
    /// In a level: the negative inverses of width, height, depth.
    pub const INVERSE: u32 = 12;
}

/// How texels come from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Layout {
    /// Lines of 8x8 texels.
    Lines,
    /// Rows.
    Rows,
    /// One at a time by the runtime, which decodes blocks to words of the uncompressed format.
    Blocks,
    /// One at a time by the runtime: images beyond what offsets reach or memory holds.
    Fetched,
}

impl Layout {
    /// Of a view with memory.
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

    /// Of a view whose texels routines decode.
    fn in_memory(reader: &Reader<'_>) -> Self {
        if reader.view.surface.layout().is_in_lines() { Self::Lines } else { Self::Rows }
    }
}

/// The last byte of a view's texels in its memory. Routines do not ask whether what they sample is there.
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

/// What of a view and a sampler routines are specialised to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
    layout: Layout,
    /// 1 to 3.
    dimensions: usize,
    is_cube: bool,
    swizzle: [Swizzle; 4],
    /// There is one level, or none but the first is ever read.
    single_level: bool,
    mag_filter: vk::Filter,
    min_filter: vk::Filter,
    mipmap_mode: vk::SamplerMipmapMode,
    address_mode: [vk::SamplerAddressMode; 3],
    /// Logarithm of the samples of a texel.
    samples_log2: u32,
    /// Sizes of all levels along an axis are powers of two, where that matters.
    powers_of_two: [bool; 3],
    compare: Option<vk::CompareOp>,
    unnormalized: bool,
    /// Several samples follow long footprints.
    is_anisotropic: bool,
    reduction: vk::SamplerReductionMode,
    /// Faces of cubes end at their edges.
    separate_faces: bool,
    /// There are levels that are not read.
    has_least_level: bool,
    /// The first one is.
    hides_base: bool,
    conversion: Option<Conversion>,
}

/// What a routine is compiled for: an instruction with its operands numbered, and the state.
type Key = (Image, State);

/// The routines of a device, compiled once each.
#[derive(Debug, Default)]
pub struct Routines {
    compiled: Mutex<HashMap<Key, Arc<Routine>>>,
    /// The decoded texels of compressed images, which image instructions sample where they can.
    decoded: Arc<DecodedCache>,
}

/// A routine, compiled.
#[derive(Debug)]
pub struct Routine {
    /// Its code, which may also become a part of a program.
    pub program: Program,
    /// By which it is known there.
    pub token: Token,
}

/// An image and a sampler, ready for one kind of instruction.
#[derive(Debug)]
pub struct Lookup {
    /// The routine.
    pub routine: Arc<Routine>,
    /// What it works on.
    pub bindings: Bindings,
    /// The same, as push constants.
    pub push: Vec<u8>,
}

impl Routines {
    /// None yet, beside a cache of decoded texels.
    pub fn new(decoded: Arc<DecodedCache>) -> Self {
        Self { compiled: Mutex::default(), decoded }
    }

    /// The decoded texels of compressed images.
    pub fn decoded(&self) -> &Arc<DecodedCache> {
        &self.decoded
    }

    /// Gets a view and a sampler ready for an instruction whose operands are numbered from 0 on. `None` when the view's format
    /// is not supported, or its memory is not bound: everything is 0.
    pub fn prepare(&self, request: &Image, view: &Arc<SurfaceView>, sampler: &Sampler) -> Option<Lookup> {
        let reader = Reader::new(view)?;
        if let Some(conversion) = sampler.conversion.filter(|_| reader.info.is_planar()) {
            let (planes, mut push) = convert::planes(view, reader.info)?;
            put_sampler(&mut push, sampler);
            let state = State::new(&reader, sampler, Layout::in_memory(&reader));
            let state = State { conversion: Some(conversion), ..state };
            return self.lookup(request, state, planes.into_iter().map(|plane| vec![plane]).collect(), &push);
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
        self.lookup(request, state, vec![vec![memory], vec![image]], &push)
    }

    /// Gets a view ready for an instruction that accesses single texels. `None` when nothing is bound, and for texels that
    /// no routine decodes or encodes.
    pub fn prepare_texels(&self, request: &Image, view: &SurfaceView) -> Option<Lookup> {
        let reader = Reader::new(view)?;
        let memory = view.memory(reader.aspect())?;
        let state = State::texels(&reader, Layout::new(&reader, &memory));
        if matches!(state.layout, Layout::Blocks | Layout::Fetched) {
            return None;
        }
        let mut push = level_words(&reader, view.desc.layers);
        push[word::BORDER as usize..][..4].copy_from_slice(&reader.outside());
        self.lookup(request, state, vec![vec![Bound::Buffer(Some(memory.memory), memory.start, memory.bytes)]], &push)
    }

    /// The same for a buffer of texels.
    pub fn prepare_buffer(&self, request: &Image, view: &BufferView) -> Option<Lookup> {
        let info = vitric_format::info(view.format)?;
        let state = State::one_level(view.format, vk::ImageAspectFlags::COLOR);
        if view.range.size > MAX_BYTES {
            return None;
        }
        let mut push = vec![0; (word::LEVELS + word::LEVEL) as usize];
        let texels = (view.range.size / u64::from(info.bytes)) as u32;
        push[word::BORDER as usize..][..4].copy_from_slice(&outside_buffer(info));
        // Words are those of the buffer, wherever in one of them the view begins.
        let before = view.range.offset % 4;
        put_level(&mut push, 0, [texels, 1, 1], LevelPlace { offset: before as u32, row_bytes: 0, slice_bytes: 0 });
        let BufferRange { offset, size, .. } = view.range;
        let range = BufferRange { offset: offset - before, size: size + before, ..view.range.clone() };
        let range = Bound::new(Descriptor::StorageBuffer(range), 0);
        self.lookup(request, state, vec![vec![range]], &push)
    }

    fn lookup(&self, request: &Image, state: State, resources: Vec<Vec<Bound>>, push: &[u32]) -> Option<Lookup> {
        // What does not tell routines apart: where the instruction stands, and where image and sampler come from.
        let request =
            Image { resource: 0, element: None, sampler: None, number: 0, result: Value(0), ..request.clone() };
        let routine = self.routine((request, state))?;
        let push = push.iter().flat_map(|word| word.to_le_bytes()).collect();
        // Its own image instructions fetch texels that it does not decode.
        let bindings = Bindings::new(resources).with_routines(Arc::default(), 1);
        Some(Lookup { routine, bindings, push })
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
    /// Of texels in a row.
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
            has_least_level: false,
            hides_base: false,
            conversion: None,
        }
    }

    /// Of a view's texels, without a sampler.
    fn texels(reader: &Reader<'_>, layout: Layout) -> Self {
        let view = reader.view;
        let dimensions = match view.desc.kind {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        };
        let aspect = if reader.is_color() { vk::ImageAspectFlags::COLOR } else { reader.aspect() };
        // Blocks are decoded by the runtime, their texels by the routine.
        let info = vitric_format::decoded_format(reader.info).unwrap_or(reader.info);
        Self {
            layout,
            dimensions,
            swizzle: view.desc.swizzle,
            single_level: view.desc.levels == 1,
            samples_log2: view.surface.desc().samples.ilog2(),
            has_least_level: view.desc.min_lod > 0.0,
            hides_base: view.desc.min_lod >= 1.0,
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
        // Seamless cubes' texels are never wrapped.
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

    /// Whether nothing depends on the level of detail.
    fn ignores_lod(&self) -> bool {
        self.single_level && self.mag_filter == self.min_filter && !self.is_anisotropic
    }
}

/// A view of the words of decoded texels, by its own levels and layers.
fn as_words(view: &SurfaceView) -> Arc<SurfaceView> {
    let desc = SurfaceViewDesc { aspects: DECODED, swizzle: Swizzle::IDENTITY, ..view.desc };
    Arc::new(SurfaceView { surface: view.surface.clone(), desc })
}

/// The push constants of a sampler, but for the border.
fn put_sampler(push: &mut [u32], sampler: &Sampler) {
    push[word::BIAS as usize] = sampler.mip_lod_bias.to_bits();
    push[word::MIN_LOD as usize] = sampler.min_lod.to_bits();
    push[word::MAX_LOD as usize] = sampler.max_lod.to_bits();
    let most = sampler.max_anisotropy.unwrap_or(1.0).clamp(1.0, MAX_ANISOTROPY);
    push[word::ANISOTROPY as usize] = (most * most).to_bits();
}

/// The push constants of a view, `layers` of layers or cubes.
fn level_words(reader: &Reader<'_>, layers: u32) -> Vec<u32> {
    let view = reader.view;
    let mut words = vec![0; (word::LEVELS + word::LEVEL * view.desc.levels) as usize];
    words[word::LAST_LEVEL as usize] = view.desc.levels.saturating_sub(1);
    words[word::LAST_LAYER as usize] = layers.saturating_sub(1);
    // Levels are numbers of those that there are, whatever a view says of the least.
    let last = view.desc.levels.saturating_sub(1) as f32;
    words[word::MIN_LEVEL as usize] = view.desc.min_lod.max(0.0).min(last).to_bits();
    for level in 0..view.desc.levels {
        let extent = view.extent(level);
        let place = view.level_place(reader.aspect(), level).unwrap_or_default();
        put_level(&mut words, level, [extent.width, extent.height, extent.depth], place);
    }
    words
}

/// The words of a level: its size in texels, and where it lies.
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
    let mut unit = Unit::new(request, state)?;
    let results = unit.results()?;
    for (slot, value) in (0..).zip(results) {
        unit.b.push(Inst::Output { slot, value });
    }
    let mut function = unit.b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let mut program = Program::routine(function, &[LaneVariance::Divergent; MAX_OPERANDS], request.results as usize);
    program.code.generate_chosen(program.stage, "image");
    Some(program)
}

/// Builds a routine.
struct Unit<'a> {
    b: Builder,
    request: &'a Image,
    state: &'a State,
    info: &'static vitric_format::FormatInfo,
    /// The memory that texels are loaded from.
    resource: u32,
    /// Indices, and what they were as floats.
    whole: Vec<(Value, Value)>,
}

impl<'a> Unit<'a> {
    fn new(request: &'a Image, state: &'a State) -> Option<Self> {
        Some(Self {
            b: Builder::new(),
            request,
            state,
            info: vitric_format::info(state.format)?,
            resource: 0,
            whole: Vec::new(),
        })
    }

    /// An operand, by its number.
    fn operand(&mut self, operand: Value, ty: Type) -> Value {
        self.b.input(operand.0, ty)
    }

    /// A push constant.
    fn word(&mut self, word: u32, ty: Type) -> Value {
        let offset = self.b.int(word * 4);
        self.b.load(Space::Push, offset, ty)
    }
}

#[cfg(test)]
mod tests;
