//! Interface variables, flattened to components with their location and component or their
//! built-in.

use spirv::{BuiltIn, Decoration, ExecutionModel};
use vitric_ir::Type;
use vitric_ir::interface::{Builtin, Feedback, Interpolation, Place, Slot};

use super::constants::Constants;
use super::module::{Module, Ty};
use super::number::Number;
use super::{Error, Result};

/// Component of an interface variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) slot: Slot,
    pub(super) ty: Type,
    pub(super) interpolation: Interpolation,
    pub(super) place: Place,
    /// Destination in transform feedback.
    pub(super) feedback: Option<Feedback>,
    /// Type of a signed integer of fewer than 32 bits. Attachments get it with its sign extended.
    pub(super) narrow_signed: Option<Number>,
}

/// Returns the components of a variable of pointee type `ty`.
pub(super) fn words(
    module: &Module,
    constants: &Constants,
    model: ExecutionModel,
    variable: u32,
    ty: u32,
) -> Result<Vec<Word>> {
    // Bounds size and nesting before anything is flattened.
    constants.flat_words(module, ty)?;
    let mut flattener = Flattener { module, constants, model, offset: None, out: Vec::new() };
    let target = (variable, None);
    flattener.target(target, ty, Cursor::default())?;
    Ok(flattener.out)
}

/// Position of the next component.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    location: u32,
    component: u32,
    index: u32,
    builtin: Option<(Builtin, u32)>,
    interpolation: Interpolation,
    place: Place,
    /// Buffer, stride and stream of transform feedback.
    captured: [Option<u32>; 3],
}

impl Default for Cursor {
    fn default() -> Self {
        Self {
            location: 0,
            component: 0,
            index: 0,
            builtin: None,
            interpolation: Interpolation::Smooth,
            place: Place::Center,
            captured: [None; 3],
        }
    }
}

struct Flattener<'a> {
    module: &'a Module,
    constants: &'a Constants,
    model: ExecutionModel,
    /// Offset of the next component in transform feedback, if captured. Components are tightly
    /// packed.
    offset: Option<u32>,
    out: Vec<Word>,
}

impl Flattener<'_> {
    /// Flattens a variable or block member with its decorations. Returns the location after it.
    fn target(&mut self, target: (u32, Option<u32>), ty: u32, mut cursor: Cursor) -> Result<u32> {
        let word = |decoration| self.module.decoration_word(target, decoration);
        if let Some(builtin) = word(Decoration::BuiltIn) {
            let builtin = self.builtin(builtin)?;
            if builtin == Builtin::BaryCoordNoPersp {
                cursor.interpolation = Interpolation::NoPerspective;
            }
            cursor.builtin = Some((builtin, 0));
        }
        cursor.location = word(Decoration::Location).unwrap_or(cursor.location);
        cursor.component = word(Decoration::Component).unwrap_or(cursor.component);
        cursor.index = word(Decoration::Index).unwrap_or(cursor.index);
        let captured = [Decoration::XfbBuffer, Decoration::XfbStride, Decoration::Stream].map(word);
        for (own, given) in captured.into_iter().zip(&mut cursor.captured) {
            *given = own.or(*given);
        }
        self.offset = word(Decoration::Offset).or(self.offset);
        let has = |decoration| self.module.has(target, decoration);
        if cursor.interpolation.vertex().is_some() {
            // The interpolation already names one vertex, so decorations do not matter.
        } else if has(Decoration::PerVertexKHR) {
            return self.of_vertices(ty, cursor);
        } else if has(Decoration::Flat) || has(Decoration::PerPrimitiveEXT) {
            cursor.interpolation = Interpolation::Flat;
        } else if has(Decoration::NoPerspective) {
            cursor.interpolation = Interpolation::NoPerspective;
        }
        if has(Decoration::Centroid) {
            cursor.place = Place::Centroid;
        } else if has(Decoration::Sample) {
            cursor.place = Place::Sample;
        }
        self.value(ty, cursor)
    }

    /// Flattens an array with a value for each vertex of the primitive. All have the same
    /// location.
    fn of_vertices(&mut self, ty: u32, cursor: Cursor) -> Result<u32> {
        let &Ty::Array(element, length) = self.module.ty(ty)? else {
            return Err(Error::Malformed("an input of vertices that is no array"));
        };
        let vertices = [Interpolation::Vertex0, Interpolation::Vertex1, Interpolation::Vertex2];
        let mut location = cursor.location;
        for vertex in 0..self.constants.length(length)? as usize {
            // Vertex indices above 2 are undefined.
            let interpolation = vertices[vertex.min(2)];
            location = self.value(element, Cursor { interpolation, ..cursor })?;
        }
        Ok(location)
    }

    fn value(&mut self, ty: u32, cursor: Cursor) -> Result<u32> {
        // Empty elements could be repeated endlessly.
        if self.constants.words(self.module, ty)? == 0 {
            return Ok(cursor.location);
        }
        // A captured value with 64-bit scalars begins and ends at multiples of 8 bytes. Source:
        // GLSL specification, "Transform Feedback Layout Qualifiers".
        let is_wide = self.offset.is_some() && self.has_wide(ty)?;
        let aligned = |offset: Option<u32>| offset.and_then(|offset| offset.checked_next_multiple_of(8));
        self.offset = if is_wide { aligned(self.offset) } else { self.offset };
        let location = self.parts(ty, cursor)?;
        self.offset = if is_wide { aligned(self.offset) } else { self.offset };
        Ok(location)
    }

    /// Returns true if a type has 64-bit scalars.
    fn has_wide(&self, ty: u32) -> Result<bool> {
        match self.module.ty(ty)? {
            Ty::Struct(members) => members.iter().try_fold(false, |wide, &member| Ok(wide || self.has_wide(member)?)),
            Ty::Array(part, _) | Ty::Matrix(part, _) | Ty::Vector(part, _) => self.has_wide(*part),
            _ => Ok(scalar_type(self.module, ty)?.is_wide()),
        }
    }

    fn parts(&mut self, ty: u32, cursor: Cursor) -> Result<u32> {
        match self.module.ty(ty)? {
            Ty::Struct(members) => {
                let mut location = cursor.location;
                // Members of a block are captured individually, unless the whole block is
                // captured.
                let is_whole = self.offset.is_some() || !self.module.has((ty, None), Decoration::Block);
                for (index, &member) in members.iter().enumerate() {
                    self.offset = self.offset.filter(|_| is_whole);
                    location = self.target((ty, Some(index as u32)), member, Cursor { location, ..cursor })?;
                }
                Ok(location)
            }
            Ty::Array(element, length) => self.repeat(*element, self.constants.length(*length)?, cursor),
            Ty::Matrix(column, count) => self.repeat(*column, *count, cursor),
            Ty::Vector(part, count) => {
                for component in 0..*count {
                    self.word(*part, cursor, component)?;
                }
                let is_wide = scalar_type(self.module, *part)?.is_wide();
                Ok(cursor.location.saturating_add(if is_wide && *count > 2 { 2 } else { 1 }))
            }
            _ => {
                self.word(ty, cursor, 0)?;
                Ok(cursor.location.saturating_add(1))
            }
        }
    }

    fn repeat(&mut self, element: u32, count: u32, cursor: Cursor) -> Result<u32> {
        let words = self.constants.words(self.module, element)?;
        let (mut location, blocks, offset) = (cursor.location, self.blocks(element)?, self.offset);
        for index in 0..count {
            let builtin = cursor.builtin.map(|(builtin, word)| (builtin, word + index * words));
            let mut cursor = Cursor { location, builtin, ..cursor };
            if blocks > 0 {
                // Blocks of an array are captured in consecutive buffers.
                cursor.captured[0] =
                    cursor.captured[0].and_then(|buffer| buffer.checked_add(index.saturating_mul(blocks)));
                self.offset = offset;
            }
            location = self.value(element, cursor)?;
        }
        Ok(location)
    }

    /// Returns the number of blocks in an element of an array.
    fn blocks(&self, ty: u32) -> Result<u32> {
        match *self.module.ty(ty)? {
            Ty::Struct(_) => Ok(u32::from(self.module.has((ty, None), Decoration::Block))),
            Ty::Array(element, length) => Ok(self.blocks(element)?.saturating_mul(self.constants.length(length)?)),
            _ => Ok(0),
        }
    }

    fn word(&mut self, ty: u32, cursor: Cursor, component: u32) -> Result<()> {
        let is_signed = self.module.is_signed(ty);
        let narrow_signed = Number::of(self.module, ty).ok().filter(|number| is_signed && number.bytes() < 4);
        let ty = scalar_type(self.module, ty)?;
        if ty.is_wide() {
            return self.wide_word(ty, cursor, component);
        }
        let slot = match cursor.builtin {
            Some((builtin, word)) => Slot::Builtin(builtin, word + component),
            None => Slot::Location {
                location: cursor.location,
                component: cursor.component.wrapping_add(component),
                index: cursor.index,
            },
        };
        let is_flat = ty != Type::F32 && cursor.builtin.is_none() && cursor.interpolation.vertex().is_none();
        let interpolation = if is_flat { Interpolation::Flat } else { cursor.interpolation };
        let feedback = self.feedback(&cursor, 1)?;
        self.out.push(Word { slot, ty, interpolation, place: cursor.place, feedback, narrow_signed });
        Ok(())
    }

    /// Returns the destination of the next `words` dwords in transform feedback, and advances the
    /// offset.
    fn feedback(&mut self, cursor: &Cursor, words: u32) -> Result<Option<Feedback>> {
        let ([Some(buffer), stride, stream], Some(offset)) = (cursor.captured, self.offset) else { return Ok(None) };
        let feedback = Feedback { buffer, stride: stride.unwrap_or(0), offset, stream: stream.unwrap_or(0) };
        self.offset = offset.checked_add(4 * words);
        let last = Feedback { offset: offset.saturating_add(4 * (words - 1)), ..feedback };
        match feedback.is_possible() && last.is_possible() {
            true => Ok(Some(feedback)),
            false => Err(Error::Malformed("an output that transform feedback has no room for")),
        }
    }

    /// Appends the low dword of a 64-bit scalar, which occupies two components. [`high_word`]
    /// returns the high dword.
    fn wide_word(&mut self, ty: Type, cursor: Cursor, component: u32) -> Result<()> {
        if cursor.builtin.is_some() {
            return Err(Error::Malformed("a built-in of 64 bits"));
        }
        let first = cursor.component.wrapping_add(2 * component);
        let slot = Slot::Location {
            location: cursor.location.saturating_add(first / 4),
            component: first % 4,
            index: cursor.index,
        };
        let interpolation =
            if cursor.interpolation.vertex().is_some() { cursor.interpolation } else { Interpolation::Flat };
        let feedback = self.feedback(&cursor, 2)?;
        self.out.push(Word { slot, ty, interpolation, place: cursor.place, feedback, narrow_signed: None });
        Ok(())
    }

    fn builtin(&self, word: u32) -> Result<Builtin> {
        use ExecutionModel as M;
        let builtin = BuiltIn::from_u32(word).ok_or(Error::Malformed("unknown built-in"))?;
        if is_of_compute(builtin) && !matches!(self.model, M::GLCompute | M::TaskEXT | M::MeshEXT) {
            return Err(Error::Malformed("a built-in of another stage"));
        }
        Ok(match builtin {
            BuiltIn::Position => Builtin::Position,
            BuiltIn::PointSize => Builtin::PointSize,
            BuiltIn::ClipDistance => Builtin::ClipDistance,
            BuiltIn::CullDistance => Builtin::CullDistance,
            BuiltIn::VertexIndex => Builtin::VertexIndex,
            BuiltIn::InstanceIndex => Builtin::InstanceIndex,
            BuiltIn::FragCoord => Builtin::FragCoord,
            BuiltIn::FrontFacing => Builtin::FrontFacing,
            BuiltIn::PointCoord => Builtin::PointCoord,
            BuiltIn::SampleId => Builtin::SampleId,
            BuiltIn::SamplePosition => Builtin::SamplePosition,
            BuiltIn::SampleMask => Builtin::SampleMask,
            BuiltIn::FragDepth => Builtin::FragDepth,
            BuiltIn::FragStencilRefEXT => Builtin::FragStencilRef,
            BuiltIn::HelperInvocation => Builtin::HelperInvocation,
            BuiltIn::Layer => Builtin::Layer,
            BuiltIn::ViewportIndex => Builtin::ViewportIndex,
            BuiltIn::PrimitiveId => Builtin::PrimitiveId,
            BuiltIn::InvocationId => Builtin::InvocationId,
            BuiltIn::TessCoord => Builtin::TessCoord,
            BuiltIn::TessLevelOuter => Builtin::TessLevelOuter,
            BuiltIn::TessLevelInner => Builtin::TessLevelInner,
            BuiltIn::PatchVertices => Builtin::PatchVertices,
            BuiltIn::NumWorkgroups => Builtin::NumWorkgroups,
            BuiltIn::WorkgroupId => Builtin::WorkgroupId,
            BuiltIn::LocalInvocationId => Builtin::LocalInvocationId,
            BuiltIn::GlobalInvocationId => Builtin::GlobalInvocationId,
            BuiltIn::LocalInvocationIndex => Builtin::LocalInvocationIndex,
            BuiltIn::SubgroupId => Builtin::SubgroupId,
            BuiltIn::NumSubgroups => Builtin::NumSubgroups,
            BuiltIn::SubgroupSize => Builtin::SubgroupSize,
            BuiltIn::SubgroupLocalInvocationId => Builtin::SubgroupLocalInvocationId,
            BuiltIn::SubgroupEqMask => Builtin::SubgroupEqMask,
            BuiltIn::SubgroupGeMask => Builtin::SubgroupGeMask,
            BuiltIn::SubgroupGtMask => Builtin::SubgroupGtMask,
            BuiltIn::SubgroupLeMask => Builtin::SubgroupLeMask,
            BuiltIn::SubgroupLtMask => Builtin::SubgroupLtMask,
            BuiltIn::BaseVertex => Builtin::BaseVertex,
            BuiltIn::BaseInstance => Builtin::BaseInstance,
            BuiltIn::DrawIndex => Builtin::DrawIndex,
            BuiltIn::ViewIndex => Builtin::ViewIndex,
            BuiltIn::DeviceIndex => Builtin::DeviceIndex,
            BuiltIn::PrimitiveShadingRateKHR => Builtin::PrimitiveShadingRateKhr,
            BuiltIn::ShadingRateKHR => Builtin::ShadingRateKhr,
            BuiltIn::FragSizeEXT => Builtin::FragSize,
            BuiltIn::FragInvocationCountEXT => Builtin::FragInvocationCount,
            BuiltIn::CullPrimitiveEXT => Builtin::CullPrimitive,
            BuiltIn::FullyCoveredEXT => Builtin::FullyCovered,
            BuiltIn::BaryCoordKHR => Builtin::BaryCoord,
            BuiltIn::BaryCoordNoPerspKHR => Builtin::BaryCoordNoPersp,
            other => return Err(Error::Unsupported(format!("built-in {other:?}"))),
        })
    }
}

/// Returns true if a built-in exists only in compute, task and mesh programs.
fn is_of_compute(builtin: BuiltIn) -> bool {
    use BuiltIn as B;
    matches!(
        builtin,
        B::NumWorkgroups
            | B::WorkgroupId
            | B::LocalInvocationId
            | B::GlobalInvocationId
            | B::LocalInvocationIndex
            | B::SubgroupId
            | B::NumSubgroups
    )
}

/// Returns the high dword of a 64-bit scalar, given its low dword.
pub(super) fn high_word(low: &Word) -> Word {
    let slot = match low.slot {
        Slot::Location { location, component, index } => Slot::Location { location, component: component + 1, index },
        builtin @ Slot::Builtin(..) => builtin,
    };
    let feedback = low.feedback.map(|feedback| Feedback { offset: feedback.offset + 4, ..feedback });
    Word { slot, ty: Type::I32, feedback, ..*low }
}

/// Returns the IR type of a scalar type.
pub(super) fn scalar_type(module: &Module, ty: u32) -> Result<Type> {
    match module.ty(ty)? {
        Ty::Vector(..) | Ty::Matrix(..) => Err(Error::Malformed("not a scalar type")),
        _ => Number::of(module, ty).map(Number::ir),
    }
}
