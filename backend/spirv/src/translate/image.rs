//! Image instructions: sampling, gathering, fetching, storage access and queries.

use std::rc::Rc;

use spirv::{Dim as SpirvDim, ImageOperands, Op};
use vitric_ir::interface::{Builtin, Interpolation, Place, Slot};
use vitric_ir::{AtomicOp, BinaryOp, Dim, Image, ImageOp, Lod, Type, UnaryOp, Value};

use super::memory::{Base, Pointer};
use super::{Operand, Translator};
use crate::interface::Word;
use crate::module::{ImageType, Ty};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Returns true for image instructions.
pub(super) fn is_image(op: Op) -> bool {
    let number = op as u32;
    (Op::SampledImage as u32..=Op::ImageQuerySamples as u32).contains(&number) || op == Op::ImageTexelPointer
}

/// Optional operands of an image instruction.
#[derive(Default)]
struct OptionalOperands {
    bias: Option<Value>,
    level: Option<Value>,
    gradient: Option<(Vec<Value>, Vec<Value>)>,
    offset: Vec<Value>,
    offsets: Option<[[i32; 2]; 4]>,
    sample: Option<Value>,
}

/// Image and sampler of an instruction.
pub(super) struct Source {
    pub(super) image: Rc<Pointer>,
    pub(super) sampler: Option<Rc<Pointer>>,
    pub(super) ty: ImageType,
}

impl Translator<'_> {
    pub(super) fn image_instruction(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::SampledImage => {
                let pair = Operand::Pair(self.pointer(inst.word(2)?)?, self.pointer(inst.word(3)?)?);
                self.define(inst.word(1)?, inst.word(0)?, pair)
            }
            Op::Image => self.image_of(inst),
            Op::ImageTexelPointer => self.texel_pointer(inst),
            Op::ImageRead => self.read(inst),
            Op::ImageWrite => self.write(inst),
            Op::ImageFetch => self.fetch(inst),
            Op::ImageGather | Op::ImageDrefGather => self.gather(inst),
            Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples
            | Op::ImageQueryLod => self.query(inst),
            _ => self.sample(inst),
        }
    }

    fn image_of(&mut self, inst: &Instruction) -> Result<()> {
        let (_, operand) = self.operand(inst.word(2)?)?;
        let image = match operand {
            Operand::Pair(image, _) => Operand::Pointer(image),
            other => other,
        };
        self.define(inst.word(1)?, inst.word(0)?, image)
    }

    pub(super) fn source(&mut self, id: u32) -> Result<Source> {
        let (image, sampler) = match self.operand(id)?.1 {
            Operand::Pair(image, sampler) => (image, Some(sampler)),
            Operand::Pointer(image) => (image, None),
            Operand::Words(_) | Operand::Large(_) | Operand::Parts(_) => return Err(Error::Malformed("not an image")),
        };
        let mut ty = self.module.ty(image.ty)?;
        if let Ty::SampledImage(inner) = ty {
            ty = self.module.ty(*inner)?;
        }
        let Ty::Image(ty) = *ty else { return Err(Error::Malformed("not an image")) };
        Ok(Source { image, sampler, ty })
    }

    /// Returns the image of a storage access. A cube, arrayed or not, is addressed by face with
    /// the index `layer * 6 + face`.
    fn storage(&mut self, id: u32) -> Result<Source> {
        let mut source = self.source(id)?;
        source.ty.arrayed &= source.ty.dim != SpirvDim::DimCube;
        Ok(source)
    }

    fn resource(&self, pointer: &Pointer) -> Result<(u32, Option<Value>)> {
        match pointer.base {
            Base::Resource(resource) => Ok((resource, pointer.element)),
            _ => Err(Error::Malformed("an image that is no resource")),
        }
    }

    /// Appends an image instruction. Its results have the image's component type. Atomics and the
    /// queries of size, levels and samples return `I32`.
    pub(super) fn emit(
        &mut self,
        source: &Source,
        op: ImageOp,
        coords: Vec<Value>,
        offset: Vec<Value>,
    ) -> Result<Vec<Value>> {
        let (resource, element) = self.resource(&source.image)?;
        let sampler = source.sampler.as_ref().map(|sampler| self.resource(sampler)).transpose()?;
        let (results, integer) = match &op {
            ImageOp::Sample { reference: Some(_), .. } => (1, false),
            ImageOp::Sample { .. } | ImageOp::Gather { .. } | ImageOp::Fetch { .. } | ImageOp::Read { .. } => {
                (4, !source.ty.float)
            }
            ImageOp::Atomic { value, .. } => (value.len() as u32, true),
            ImageOp::Write { .. } => (0, false),
            ImageOp::Levels | ImageOp::Samples => (1, true),
            ImageOp::Size { .. } => (3, true),
            ImageOp::QueryLod => (2, false),
        };
        let dim = dim(source.ty.dim)?;
        let image = Image {
            number: 0,
            op,
            resource,
            element,
            sampler,
            dim,
            arrayed: source.ty.arrayed,
            coords,
            offset,
            result: Value(0),
            results,
        };
        let reads = matches!(image.op, ImageOp::Fetch { .. } | ImageOp::Read { .. } | ImageOp::Sample { .. });
        let words = self.builder.image(image, if integer { Type::I32 } else { Type::F32 });
        Ok(if reads && source.ty.wide { self.wide_texel(&words) } else { words })
    }

    /// Returns a texel of a 64-bit integer format, which has only a red component. Its two dwords
    /// are returned as red and green.
    fn wide_texel(&mut self, words: &[Value]) -> Vec<Value> {
        let (red, green) = (self.builder.join(words[0], words[1], Type::I64), self.builder.wide_constant(0, Type::I64));
        let [blue, alpha] = [words[2], words[3]].map(|word| self.builder.extend(word, false));
        vec![red, green, blue, alpha]
    }

    /// Returns the coordinates that an instruction needs: dimensions and layer.
    fn coordinates(&mut self, source: &Source, id: u32) -> Result<Vec<Value>> {
        let words = self.words(id)?;
        let count = dimensions(source.ty.dim) + usize::from(source.ty.arrayed);
        words.get(..count).map(<[Value]>::to_vec).ok_or(Error::Malformed("too few coordinates"))
    }

    fn extra(&mut self, inst: &Instruction, at: usize) -> Result<OptionalOperands> {
        let mut extra = OptionalOperands::default();
        let Some(&mask) = inst.words.get(at) else { return Ok(extra) };
        let mask = ImageOperands::from_bits_truncate(mask);
        let mut next = at + 1;
        let mut take = || {
            next += 1;
            inst.word(next - 1)
        };
        if mask.contains(ImageOperands::BIAS) {
            extra.bias = Some(self.word(take()?)?);
        }
        if mask.contains(ImageOperands::LOD) {
            extra.level = Some(self.word(take()?)?);
        }
        if mask.contains(ImageOperands::GRAD) {
            let (dx, dy) = (self.words(take()?)?, self.words(take()?)?);
            extra.gradient = Some((dx.to_vec(), dy.to_vec()));
        }
        if mask.contains(ImageOperands::CONST_OFFSET) {
            extra.offset = self.words(take()?)?.to_vec();
        }
        if mask.contains(ImageOperands::OFFSET) {
            extra.offset = self.words(take()?)?.to_vec();
        }
        if mask.contains(ImageOperands::CONST_OFFSETS) {
            extra.offsets = Some(self.constant_offsets(take()?)?);
        }
        if mask.contains(ImageOperands::SAMPLE) {
            extra.sample = Some(self.word(take()?)?);
        }
        Ok(extra)
    }

    fn constant_offsets(&self, id: u32) -> Result<[[i32; 2]; 4]> {
        match self.constants.get(id) {
            Some((_, &[a, b, c, d, e, f, g, h])) => {
                Ok([[a, b], [c, d], [e, f], [g, h]].map(|offset| offset.map(|word| word as i32)))
            }
            _ => Err(Error::Malformed("offsets are four constant pairs")),
        }
    }

    fn sample(&mut self, inst: &Instruction) -> Result<()> {
        use Op as O;
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let source = self.source(inst.word(2)?)?;
        let compares = matches!(
            inst.op,
            O::ImageSampleDrefImplicitLod
                | O::ImageSampleDrefExplicitLod
                | O::ImageSampleProjDrefImplicitLod
                | O::ImageSampleProjDrefExplicitLod
        );
        let projects = matches!(
            inst.op,
            O::ImageSampleProjImplicitLod
                | O::ImageSampleProjExplicitLod
                | O::ImageSampleProjDrefImplicitLod
                | O::ImageSampleProjDrefExplicitLod
        );
        let mut coords = self.coordinates(&source, inst.word(3)?)?;
        let mut reference = if compares { Some(self.word(inst.word(4)?)?) } else { None };
        if projects {
            let q = self.words(inst.word(3)?)?.get(coords.len()).copied();
            let q = q.ok_or(Error::Malformed("too few coordinates"))?;
            for value in coords.iter_mut().chain(&mut reference) {
                *value = self.builder.binary(BinaryOp::FDiv, *value, q);
            }
        }
        let extra = self.extra(inst, if compares { 5 } else { 4 })?;
        let lod = self.lod(&extra);
        let words = self.emit(&source, ImageOp::Sample { lod, reference }, coords, extra.offset)?;
        self.define_words(id, ty, words)
    }

    /// Returns the level of detail. In programs without derivatives an implicit level is the base
    /// level.
    fn lod(&mut self, extra: &OptionalOperands) -> Lod {
        match (&extra.gradient, extra.level) {
            (Some((dx, dy)), _) => Lod::Gradient { dx: dx.clone(), dy: dy.clone() },
            (None, Some(level)) => Lod::Explicit(level),
            _ if self.has_derivatives => Lod::Implicit { bias: extra.bias },
            _ => Lod::Explicit(self.builder.float(0.0)),
        }
    }

    fn gather(&mut self, inst: &Instruction) -> Result<()> {
        let source = self.source(inst.word(2)?)?;
        let coords = self.coordinates(&source, inst.word(3)?)?;
        let operand = Some(self.word(inst.word(4)?)?);
        let extra = self.extra(inst, 5)?;
        let compares = inst.op == Op::ImageDrefGather;
        let (component, reference) = if compares { (None, operand) } else { (operand, None) };
        let op = ImageOp::Gather { component, reference, offsets: extra.offsets };
        let words = self.emit(&source, op, coords, extra.offset)?;
        self.define_words(inst.word(1)?, inst.word(0)?, words)
    }

    fn fetch(&mut self, inst: &Instruction) -> Result<()> {
        let source = self.source(inst.word(2)?)?;
        let coords = self.coordinates(&source, inst.word(3)?)?;
        let extra = self.extra(inst, 4)?;
        let op = ImageOp::Fetch { level: extra.level, sample: extra.sample };
        let words = self.emit(&source, op, coords, extra.offset)?;
        self.define_words(inst.word(1)?, inst.word(0)?, words)
    }

    fn read(&mut self, inst: &Instruction) -> Result<()> {
        let ty = inst.word(0)?;
        let mut source = self.storage(inst.word(2)?)?;
        let mut coords = self.coordinates(&source, inst.word(3)?)?;
        let extra = self.extra(inst, 4)?;
        if source.ty.dim == SpirvDim::DimSubpassData {
            coords = self.fragment_position(&coords);
            source.ty.arrayed = true;
        }
        let mut words = self.emit(&source, ImageOp::Read { sample: extra.sample }, coords, Vec::new())?;
        words.truncate(self.words_of(ty)? as usize);
        self.define_words(inst.word(1)?, ty, words)
    }

    /// Returns the fragment's pixel plus an offset, and its layer. With coarse shading the first
    /// pixel of the fragment is used, because it is inside the render area in any case.
    pub(super) fn fragment_position(&mut self, offset: &[Value]) -> Vec<Value> {
        let position = |component: usize| {
            let coordinate = self.builtin_input(Builtin::FirstPixel, component as u32, Type::F32);
            let pixel = self.builder.unary(UnaryOp::FToS, coordinate);
            self.builder.binary(BinaryOp::IAdd, pixel, offset[component])
        };
        let mut coords: Vec<Value> = (0..2).map(position).collect();
        // The layer of an attachment is the view index or the layer written by vertices, and one of
        // them is always 0.
        let (view, layer) = (self.view_index(), self.builtin_input(Builtin::Layer, 0, Type::I32));
        coords.push(self.builder.binary(BinaryOp::IAdd, view, layer));
        coords
    }

    fn builtin_input(&mut self, builtin: Builtin, component: u32, ty: Type) -> Value {
        let slot = Slot::Builtin(builtin, component);
        let found = self.inputs.iter().position(|word| word.slot == slot);
        let found = found.unwrap_or_else(|| {
            let interpolation = if ty == Type::F32 { Interpolation::Smooth } else { Interpolation::Flat };
            self.inputs.push(Word {
                slot,
                ty,
                interpolation,
                place: Place::Center,
                feedback: None,
                narrow_signed: None,
            });
            self.inputs.len() - 1
        });
        self.builder.input(found as u32, ty)
    }

    fn write(&mut self, inst: &Instruction) -> Result<()> {
        let source = self.storage(inst.word(0)?)?;
        let coords = self.coordinates(&source, inst.word(1)?)?;
        let words = self.words(inst.word(2)?)?;
        let extra = self.extra(inst, 3)?;
        let zero = if source.ty.float { self.builder.float(0.0) } else { self.builder.int(0) };
        let mut texel = std::array::from_fn(|component| words.get(component).copied().unwrap_or(zero));
        if source.ty.wide {
            let [low, high] = self.builder.split(texel[0]);
            texel = [low, high, zero, zero];
        }
        self.facts.side_effects = true;
        self.emit(&source, ImageOp::Write { sample: extra.sample, texel }, coords, Vec::new()).map(drop)
    }

    fn texel_pointer(&mut self, inst: &Instruction) -> Result<()> {
        let image = self.pointer(inst.word(2)?)?;
        let coords = self.words(inst.word(3)?)?.to_vec();
        let sample = self.word(inst.word(4)?)?;
        let mut pointer = (*image).clone();
        pointer.texel = Some((coords, sample));
        self.define(inst.word(1)?, inst.word(0)?, Operand::Pointer(Rc::new(pointer)))
    }

    /// Appends an atomic operation on a texel, with operands as dwords. Returns the dwords of the
    /// old value.
    pub(super) fn image_atomic(
        &mut self,
        pointer: &Rc<Pointer>,
        op: AtomicOp,
        value: Vec<Value>,
        comparator: Vec<Value>,
    ) -> Result<Vec<Value>> {
        let (coords, sample) = pointer.texel.clone().ok_or(Error::Malformed("not a texel"))?;
        let Ty::Image(mut ty) = *self.module.ty(pointer.ty)? else { return Err(Error::Malformed("not an image")) };
        ty.arrayed &= ty.dim != SpirvDim::DimCube;
        let source = Source { image: pointer.clone(), sampler: None, ty };
        self.facts.side_effects |= op != AtomicOp::Load;
        let count = dimensions(ty.dim) + usize::from(ty.arrayed);
        let coords = coords.get(..count).ok_or(Error::Malformed("too few coordinates"))?.to_vec();
        let sample = ty.multisampled.then_some(sample);
        self.emit(&source, ImageOp::Atomic { op, sample, value, comparator }, coords, Vec::new())
    }

    fn query(&mut self, inst: &Instruction) -> Result<()> {
        let ty = inst.word(0)?;
        let source = self.source(inst.word(2)?)?;
        let (op, coords) = match inst.op {
            Op::ImageQuerySizeLod => (ImageOp::Size { level: Some(self.word(inst.word(3)?)?) }, Vec::new()),
            Op::ImageQuerySize => (ImageOp::Size { level: None }, Vec::new()),
            Op::ImageQueryLevels => (ImageOp::Levels, Vec::new()),
            Op::ImageQuerySamples => (ImageOp::Samples, Vec::new()),
            _ => {
                // A query of the level of detail ignores the layer.
                let words = self.words(inst.word(3)?)?;
                let mut coords = words.get(..dimensions(source.ty.dim)).map(<[Value]>::to_vec).unwrap_or_default();
                if source.ty.arrayed {
                    coords.push(self.builder.float(0.0));
                }
                (ImageOp::QueryLod, coords)
            }
        };
        let mut words = self.emit(&source, op, coords, Vec::new())?;
        words.truncate(self.words_of(ty)? as usize);
        self.define_words(inst.word(1)?, ty, words)
    }
}

fn dim(dim: SpirvDim) -> Result<Dim> {
    Ok(match dim {
        SpirvDim::Dim1D => Dim::D1,
        SpirvDim::Dim2D => Dim::D2,
        SpirvDim::Dim3D => Dim::D3,
        SpirvDim::DimCube => Dim::Cube,
        SpirvDim::DimBuffer => Dim::Buffer,
        SpirvDim::DimSubpassData => Dim::Subpass,
        other => return Err(Error::Unsupported(format!("images of {other:?}"))),
    })
}

fn dimensions(dim: SpirvDim) -> usize {
    match dim {
        SpirvDim::Dim1D | SpirvDim::DimBuffer => 1,
        SpirvDim::Dim3D | SpirvDim::DimCube => 3,
        _ => 2,
    }
}
