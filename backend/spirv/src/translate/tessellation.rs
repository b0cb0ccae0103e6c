//! Tessellation programs: patches and their vertices in local memory ([`Space::Shared`]).
//!
//! Outputs of a control program and inputs of an evaluation program are in the patch's block. The
//! linker assigns the offsets of the components, which [`PatchFacts`] names. Source: Vulkan
//! specification, "Tessellation Control Shaders", "Tessellation Evaluation Shaders".

use spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, StorageClass};
use vitric_ir::interface::{
    Builtin, Domain, MAX_PATCH_VERTICES as MAX_VERTICES, MAX_PATCH_WORDS, PatchFacts, Slot, Spacing,
};
use vitric_ir::{BinaryOp as B, Inst, Space, Type, Value};

use super::Translator;
use super::geometry::{is_of_vertices, undeclared_word};
use super::memory::{Base, Pointer};
use crate::module::{EntryPoint, Module, Ty};
use crate::{Error, Result, interface};

/// Additional state of a tessellation program.
#[derive(Debug)]
pub(super) struct Tessellation {
    facts: PatchFacts,
    /// Input slots of [`Builtin::PatchBase`], [`Builtin::VertexBytes`] and
    /// [`Builtin::VertexTable`].
    places: [u32; 3],
    /// True if an output has an initializer.
    initializes: bool,
}

/// Returns the facts that the execution modes declare.
fn facts(module: &Module, point: &EntryPoint) -> PatchFacts {
    use ExecutionMode as M;
    let has = |mode| module.mode(point.function, mode).is_some();
    let domains = [(M::Triangles, Domain::Triangles), (M::Quads, Domain::Quads), (M::Isolines, Domain::Isolines)];
    let spacings = [
        (M::SpacingEqual, Spacing::Equal),
        (M::SpacingFractionalEven, Spacing::FractionalEven),
        (M::SpacingFractionalOdd, Spacing::FractionalOdd),
    ];
    let orders = [(M::VertexOrderCw, true), (M::VertexOrderCcw, false)];
    PatchFacts {
        vertices: module.mode(point.function, M::OutputVertices).and_then(|words| words.first().copied()),
        domain: domains.into_iter().find(|&(mode, _)| has(mode)).map(|(_, domain)| domain),
        spacing: spacings.into_iter().find(|&(mode, _)| has(mode)).map(|(_, spacing)| spacing),
        clockwise: orders.into_iter().find(|&(mode, _)| has(mode)).map(|(_, clockwise)| clockwise),
        points: has(M::PointMode),
        ..PatchFacts::default()
    }
}

impl Translator<'_> {
    /// Declares the implicit inputs of a tessellation program.
    pub(super) fn begin_tessellation(&mut self, point: &EntryPoint) -> Result<()> {
        if !matches!(self.model, ExecutionModel::TessellationControl | ExecutionModel::TessellationEvaluation) {
            return Ok(());
        }
        let facts = facts(self.module, point);
        let first = self.inputs.len() as u32;
        let own = [Builtin::PatchBase, Builtin::VertexBytes, Builtin::VertexTable];
        self.inputs.extend(own.map(|builtin| undeclared_word(builtin, 0)));
        let places = [first, first + 1, first + 2];
        self.tessellation = Some(Tessellation { facts, places, initializes: false });
        Ok(())
    }

    /// Returns true if a variable is in the patch's block: outputs of control programs, and inputs
    /// of evaluation programs that come from them.
    pub(super) fn is_of_patch(&self, id: u32, class: StorageClass) -> bool {
        let builtin = self.module.decoration_word((id, None), Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let is_level = matches!(builtin, Some(BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner));
        match (self.model, class) {
            (ExecutionModel::TessellationControl, StorageClass::Output) => true,
            (ExecutionModel::TessellationEvaluation, StorageClass::Input) => {
                is_level || builtin.is_none_or(is_of_vertices)
            }
            _ => false,
        }
    }

    /// Returns true if a variable, or all members of its block, are per patch. Other variables are
    /// per vertex.
    fn is_patch(&self, id: u32, ty: u32) -> Result<bool> {
        let has = |target| self.module.has(target, Decoration::Patch);
        let builtin = self.module.decoration_word((id, None), Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let is_level = matches!(builtin, Some(BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner));
        // Computing the size rejects types that contain themselves.
        self.words_of(ty)?;
        let mut block = ty;
        while let Ty::Array(element, _) = *self.module.ty(block)? {
            block = element;
        }
        Ok(is_level || has((id, None)) || has((block, Some(0))))
    }

    /// Declares a variable in the patch's block.
    pub(super) fn declare_patch(&mut self, (id, ty): (u32, u32), initializer: Option<u32>) -> Result<Base> {
        let of_vertices = !self.is_patch(id, ty)?;
        let of_one = match (of_vertices, self.module.ty(ty)?) {
            (false, _) => ty,
            (true, &Ty::Array(element, _)) => element,
            _ => return Err(Error::Malformed("a variable of vertices that is no array")),
        };
        let words = interface::words(self.module, &self.constants, self.model, id, of_one)?;
        let unit = if words.iter().any(|word| word.ty.is_wide()) { 2 } else { 1 };
        let Some(tessellation) = &mut self.tessellation else {
            return Err(Error::Malformed("a patch of another stage"));
        };
        let (known, builtin) = match of_vertices {
            true => (&mut tessellation.facts.vertex, Builtin::VertexOffset),
            false => (&mut tessellation.facts.patch, Builtin::PatchOffset),
        };
        let first = self.inputs.len() as u32;
        let mut add = |slot: Slot| {
            self.inputs.push(undeclared_word(builtin, known.len() as u32));
            known.push(slot);
        };
        for word in &words {
            add(word.slot);
            if unit == 2 {
                // The slot after a 32-bit component is unused.
                add(if word.ty.is_wide() { interface::high_word(word).slot } else { word.slot });
            }
        }
        if known.len() > MAX_PATCH_WORDS {
            return Err(Error::Unsupported("this many words of a patch".into()));
        }
        let base = Base::Patch { first, unit, of_vertices };
        // Only outputs have initializers.
        tessellation.initializes |= initializer.is_some();
        self.initialize(base, ty, initializer)?;
        Ok(base)
    }

    /// Ends the declarations of a control program. A barrier makes initialized outputs visible
    /// before any invocation continues.
    pub(super) fn end_declarations(&mut self) {
        if self.tessellation.as_ref().is_some_and(|tessellation| tessellation.initializes) {
            self.builder.push(Inst::Barrier);
        }
    }

    /// Returns a pointer to each vertex of a pointer to an array of vertices.
    pub(super) fn each_vertex(&mut self, pointer: &Pointer) -> Result<Vec<Pointer>> {
        let Ty::Array(ty, length) = *self.module.ty(pointer.ty)? else {
            return Err(Error::Malformed("a variable of vertices that is no array"));
        };
        let count = self.constants.length(length)?.min(MAX_VERTICES);
        let vertex = |vertex| {
            let mut of_one = pointer.clone();
            (of_one.ty, of_one.element) = (ty, Some(self.builder.int(vertex)));
            of_one
        };
        Ok((0..count).map(vertex).collect())
    }

    /// Returns the address of component `place` of a variable in the patch's block, or `None` if
    /// it is out of bounds.
    pub(super) fn patch_place(&mut self, pointer: &Pointer, place: u32) -> Result<Option<Value>> {
        let (Base::Patch { first, of_vertices, .. }, Some(tessellation)) = (pointer.base, &self.tessellation) else {
            return Err(Error::Malformed("not in a patch"));
        };
        let [base, bytes, _] = tessellation.places;
        let slot = first.checked_add(place).filter(|&slot| {
            let word = self.inputs.get(slot as usize).map(|input| input.slot);
            matches!(word, Some(Slot::Builtin(Builtin::PatchOffset | Builtin::VertexOffset, _)))
        });
        let Some(slot) = slot else { return Ok(None) };
        let b = &mut self.builder;
        let (base, offset) = (b.input(base, Type::I32), b.input(slot, Type::I32));
        let mut at = b.binary(B::IAdd, base, offset);
        if of_vertices {
            let element = pointer.element.ok_or(Error::Malformed("a word of no vertex"))?;
            let bytes = b.input(bytes, Type::I32);
            let start = b.binary(B::IMul, element, bytes);
            at = b.binary(B::IAdd, at, start);
        }
        if let Some(dynamic) = pointer.dynamic {
            let two = b.int(2);
            let bytes = b.binary(B::Shl, dynamic, two);
            at = b.binary(B::IAdd, at, bytes);
        }
        Ok(Some(at))
    }

    /// Returns the address of an input vertex of a control program.
    pub(super) fn tabled_vertex(&mut self, element: Value) -> Result<Value> {
        let Some(tessellation) = &self.tessellation else { return Err(Error::Malformed("an input of no vertex")) };
        let table = tessellation.places[2];
        let b = &mut self.builder;
        let (table, two) = (b.input(table, Type::I32), b.int(2));
        let offset = b.binary(B::Shl, element, two);
        let at = b.binary(B::IAdd, table, offset);
        Ok(b.load(Space::Shared, at, Type::I32))
    }
}

impl Tessellation {
    /// Returns the facts of the program.
    pub(super) fn into_facts(self, inputs: Vec<Option<Slot>>) -> PatchFacts {
        PatchFacts { inputs, ..self.facts }
    }
}
