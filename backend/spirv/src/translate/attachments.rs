//! Tile images: reads of a fragment's pixel in the attachments that the fragment is written to.
//!
//! Attachments are resources of a reserved set ([`Resource::ATTACHMENTS`]), and a read is that of
//! an input attachment. Fragments of a pixel run in order (`FragmentFacts::interlock`), also if the
//! program declares that its reads need not be coherent.
//!
//! Source: `SPV_EXT_shader_tile_image`.

use std::rc::Rc;

use spirv::{Capability, Decoration, Dim as SpirvDim, ExecutionModel, Op};
use vitric_ir::interface::{MAX_COLORS, Resource};
use vitric_ir::{ImageOp, Value};

use super::Translator;
use super::image::Source;
use super::memory::{Base, Pointer};
use crate::module::{ImageType, Ty};
use crate::parse::Instruction;
use crate::{Error, Result};

impl Translator<'_> {
    /// Adds the facts that follow from reads of attachments.
    pub(super) fn add_facts_of_attachments(&mut self) {
        use Capability as C;
        let declares = |capability| self.model == ExecutionModel::Fragment && self.module.declares(capability);
        let reads_tests = declares(C::TileImageDepthReadAccessEXT) || declares(C::TileImageStencilReadAccessEXT);
        let locks = reads_tests || declares(C::TileImageColorReadAccessEXT);
        self.facts.interlock |= locks;
        // The program reads depth and stencil before the fragment's own tests write them.
        self.facts.side_effects |= reads_tests;
    }

    /// Declares the resource of a variable of tile images.
    pub(super) fn declare_tile_image(&mut self, id: u32, ty: u32) -> Result<u32> {
        let image = match *self.module.ty(ty)? {
            Ty::Array(element, _) => element,
            _ => ty,
        };
        let is_tile_image = |ty: &Ty| matches!(ty, Ty::Image(image) if image.dim == SpirvDim::DimTileImageDataEXT);
        if self.model != ExecutionModel::Fragment || !is_tile_image(self.module.ty(image)?) {
            return Err(Error::Malformed("a tile image of another stage or type"));
        }
        let location = self.module.decoration_word((id, None), Decoration::Location);
        let location = location.ok_or(Error::Malformed("a tile image without a location"))?;
        if location as usize >= MAX_COLORS {
            return Err(Error::Unsupported(format!("a tile image at location {location}")));
        }
        Ok(self.attachment(location))
    }

    /// Returns the resource of an attachment.
    fn attachment(&mut self, binding: u32) -> u32 {
        let resource = Resource { set: Resource::ATTACHMENTS, binding };
        let known = self.resources.iter().position(|known| *known == resource);
        known.unwrap_or_else(|| {
            self.resources.push(resource);
            self.resources.len() - 1
        }) as u32
    }

    /// Translates `OpColorAttachmentReadEXT`.
    pub(super) fn read_color(&mut self, inst: &Instruction) -> Result<()> {
        let source = self.source(inst.word(2)?)?;
        if source.ty.dim != SpirvDim::DimTileImageDataEXT {
            return Err(Error::Malformed("a read of a colour that is no tile image"));
        }
        let ty = inst.word(0)?;
        let mut words = self.read_attachment(source, inst.words.get(3).copied())?;
        words.truncate(self.words_of(ty)? as usize);
        self.define_words(inst.word(1)?, ty, words)
    }

    /// Translates `OpDepthAttachmentReadEXT` and `OpStencilAttachmentReadEXT`.
    pub(super) fn read_depth_or_stencil(&mut self, inst: &Instruction) -> Result<()> {
        let is_depth = inst.op == Op::DepthAttachmentReadEXT;
        let resource = self.attachment(if is_depth { Resource::DEPTH } else { Resource::STENCIL });
        let ty = ImageType {
            dim: SpirvDim::DimTileImageDataEXT,
            arrayed: false,
            multisampled: false,
            float: is_depth,
            wide: false,
        };
        let image = Rc::new(Pointer::new(Base::Resource(resource), inst.word(0)?));
        let words = self.read_attachment(Source { image, sampler: None, ty }, inst.words.get(2).copied())?;
        self.define_words(inst.word(1)?, inst.word(0)?, vec![words[0]])
    }

    /// Appends a read of an attachment at the fragment's pixel. `sample` is the id of the sample's
    /// number; the first sample is read without one.
    fn read_attachment(&mut self, mut source: Source, sample: Option<u32>) -> Result<Vec<Value>> {
        let is_attachment = match source.image.base {
            Base::Resource(resource) => self.resources[resource as usize].is_attachment(),
            _ => false,
        };
        if !is_attachment || self.model != ExecutionModel::Fragment {
            return Err(Error::Malformed("a tile image of another stage or storage class"));
        }
        let zero = self.builder.int(0);
        let sample = match sample {
            Some(id) => self.index(id)?,
            None => zero,
        };
        let coords = self.fragment_position(&[zero; 2]);
        (source.ty.dim, source.ty.arrayed) = (SpirvDim::DimSubpassData, true);
        self.emit(&source, ImageOp::Read { sample: Some(sample) }, coords, Vec::new())
    }
}
