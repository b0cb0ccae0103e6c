//! Tessellation programs: patches and their vertices in local memory.
//!
//! As [`PatchFacts`] says: what a control program writes and an evaluation program reads lies in the patch's block, wherever the linker
//! puts the words that they name. Source: Vulkan specification, "Tessellation Control Shaders", "Tessellation Evaluation Shaders".

use spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, StorageClass};
use vitric_ir::interface::{
    Builtin, Domain, MAX_PATCH_VERTICES as MAX_VERTICES, MAX_PATCH_WORDS, PatchFacts, Slot, Spacing,
};
use vitric_ir::{BinaryOp as B, Inst, Space, Type, Value};

use super::Translator;
use super::geometry::{is_of_vertices, own_word};
use super::memory::{Base, Pointer};
use crate::module::{EntryPoint, Module, Ty};
use crate::{Error, Result, interface};

/// What a tessellation program has besides.
#[derive(Debug)]
pub(super) struct Tessellation {
    facts: PatchFacts,
    /// Slots of [`Builtin::PatchBase`], [`Builtin::VertexBytes`] and [`Builtin::VertexTable`].
    places: [u32; 3],
    /// Whether outputs have values from the start.
    initializes: bool,
}

/// What a program says of the modes.
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
    /// Declares what a tessellation program finds besides what it declares itself.
    pub(super) fn begin_tessellation(&mut self, point: &EntryPoint) -> Result<()> {
        if !matches!(self.model, ExecutionModel::TessellationControl | ExecutionModel::TessellationEvaluation) {
            return Ok(());
        }
        let facts = facts(self.module, point);
        let first = self.inputs.len() as u32;
        let own = [Builtin::PatchBase, Builtin::VertexBytes, Builtin::VertexTable];
        self.inputs.extend(own.map(|builtin| own_word(builtin, 0)));
        let places = [first, first + 1, first + 2];
        self.tessellation = Some(Tessellation { facts, places, initializes: false });
        Ok(())
    }

    /// Whether a variable lies in the patch's block: outputs of control programs, and what evaluation programs read of these.
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

    /// Whether a variable, or all members of its block, are of the patch and not of its vertices.
    fn is_patch(&self, id: u32, ty: u32) -> Result<bool> {
        let has = |target| self.module.has(target, Decoration::Patch);
        let builtin = self.module.decoration_word((id, None), Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let is_level = matches!(builtin, Some(BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner));
        // Types that nest in circles have no size.
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
            self.inputs.push(own_word(builtin, known.len() as u32));
            known.push(slot);
        };
        for word in &words {
            add(word.slot);
            if unit == 2 {
                // What follows a word of 32 bits is nobody's.
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

    /// Ends the declarations of a control program: what its outputs are initialized with is there before any invocation goes on.
    pub(super) fn end_declarations(&mut self) {
        if self.tessellation.as_ref().is_some_and(|tessellation| tessellation.initializes) {
            self.builder.push(Inst::Barrier);
        }
    }

    /// Pointers to each vertex of what a pointer points to.
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

    /// The address of word `place` of a variable in the patch's block; `None` outside of it.
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

    /// The address of a vertex that a control program is given.
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
    /// What is known of the program.
    pub(super) fn into_facts(self, inputs: Vec<Option<Slot>>) -> PatchFacts {
        PatchFacts { inputs, ..self.facts }
    }
}
