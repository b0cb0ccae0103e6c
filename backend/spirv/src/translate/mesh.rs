//! Task and mesh programs: payloads, and outputs that are in the workgroup's memory.
//!
//! All of them are shared variables, and [`MeshFacts`] has their offsets. Source: Vulkan
//! specification, "Mesh Shading"; `SPV_EXT_mesh_shader`.

use std::rc::Rc;

use spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};
use vitric_ir::interface::{Builtin, MeshFacts, MeshWord, Slot};
use vitric_ir::{BinaryOp as B, Inst, Space, Type};

use super::geometry::undeclared_word;
use super::memory::Pointer;
use super::{Operand, Translator};
use crate::interface::{self, Word};
use crate::module::{EntryPoint, Ty};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Number of dwords of the counts that a program outputs.
const COUNTS: u32 = 3;

/// Declarations of a task or mesh program.
#[derive(Debug, Default)]
pub(super) struct Mesh {
    facts: MeshFacts,
    /// Input slot of the invocation's number in its workgroup.
    invocation: u32,
    /// Components of primitives and their offsets. They follow the components of vertices.
    of_primitives: Vec<(Word, MeshWord)>,
}

impl Translator<'_> {
    /// Returns true if invocations belong to workgroups.
    pub(super) fn has_workgroups(&self) -> bool {
        matches!(self.model, ExecutionModel::GLCompute | ExecutionModel::TaskEXT | ExecutionModel::MeshEXT)
    }

    /// Declares the payload, which comes first, and the counts that the program outputs.
    pub(super) fn begin_mesh(&mut self, point: &EntryPoint) -> Result<()> {
        if !matches!(self.model, ExecutionModel::TaskEXT | ExecutionModel::MeshEXT) {
            return Ok(());
        }
        let mut facts = MeshFacts::default();
        for &(id, pointer, class, _) in &self.module.variables {
            let is_used = point.interface.contains(&id) || self.usage.mentions(id);
            if class == StorageClass::TaskPayloadWorkgroupEXT && is_used {
                let (_, ty) = self.module.pointee(pointer)?;
                let target = self.declare_shared(id, ty)?;
                self.globals.insert(id, (pointer, Operand::Pointer(Rc::new(target))));
            }
        }
        facts.payload = self.shared_bytes;
        facts.counts = self.shared_bytes.next_multiple_of(4);
        self.shared_bytes = facts.counts + 4 * COUNTS;
        self.shared_start = self.shared_bytes.next_multiple_of(16);
        if self.model == ExecutionModel::MeshEXT {
            self.mesh_modes(point, &mut facts)?;
        }
        let invocation = self.inputs.len() as u32;
        self.inputs.push(undeclared_word(Builtin::LocalInvocationIndex, 0));
        self.mesh = Some(Mesh { facts, invocation, of_primitives: Vec::new() });
        Ok(())
    }

    fn mesh_modes(&self, point: &EntryPoint, facts: &mut MeshFacts) -> Result<()> {
        use ExecutionMode as M;
        let mode = |mode| self.module.mode(point.function, mode);
        let kinds = [(M::OutputPoints, 1), (M::OutputLinesEXT, 2), (M::OutputTrianglesEXT, 3)];
        let kind = kinds.into_iter().find(|&(kind, _)| mode(kind).is_some());
        let count = |kind| mode(kind).and_then(|words| words.first().copied());
        let (Some((_, corners)), Some(vertices), Some(primitives)) =
            (kind, count(M::OutputVertices), count(M::OutputPrimitivesEXT))
        else {
            return Err(Error::Malformed("a mesh program without numbers of vertices and primitives"));
        };
        (facts.corners, facts.vertices, facts.primitives) = (corners, vertices, primitives);
        Ok(())
    }

    /// Declares the outputs of a mesh program, after all other variables.
    pub(super) fn declare_mesh_outputs(&mut self, point: &EntryPoint) -> Result<()> {
        if self.model != ExecutionModel::MeshEXT {
            return Ok(());
        }
        for &(id, pointer, class, initializer) in &self.module.variables {
            if class != StorageClass::Output || !point.interface.contains(&id) {
                continue;
            }
            let (_, ty) = self.module.pointee(pointer)?;
            let target = self.declare_mesh_output(id, ty)?;
            if let Some(initializer) = initializer {
                self.store_operand(&target, initializer)?;
            }
            self.globals.insert(id, (pointer, Operand::Pointer(Rc::new(target))));
        }
        let Some(mesh) = &mut self.mesh else { return Ok(()) };
        mesh.facts.of_vertices = self.outputs.len();
        for (word, place) in std::mem::take(&mut mesh.of_primitives) {
            match word.slot {
                Slot::Builtin(Builtin::CullPrimitive, _) => mesh.facts.culls = Some(place),
                _ => {
                    self.outputs.push(word);
                    mesh.facts.words.push(place);
                }
            }
        }
        match mesh.facts.is_possible(self.outputs.len(), self.shared_bytes) {
            true => Ok(()),
            false => Err(Error::Unsupported("this many vertices of a mesh program".into())),
        }
    }

    fn declare_mesh_output(&mut self, id: u32, ty: u32) -> Result<Pointer> {
        let Ty::Array(element, _) = *self.module.ty(ty)? else {
            return Err(Error::Malformed("an output of a mesh program that is no array"));
        };
        let target = self.declare_shared(id, ty)?;
        let (first, unit) = (target.constant, target.unit);
        let builtin = self.module.decoration_word((id, None), Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let is_indices = |builtin| {
            use BuiltIn as B;
            matches!(builtin, B::PrimitivePointIndicesEXT | B::PrimitiveLineIndicesEXT | B::PrimitiveTriangleIndicesEXT)
        };
        if builtin.is_some_and(is_indices) {
            if let Some(mesh) = &mut self.mesh {
                mesh.facts.indices = Some(first);
            }
            return Ok(target);
        }
        let words = interface::words(self.module, &self.constants, self.model, id, element)?;
        let used = self.used_words(id, element, words.len(), true)?;
        let (stride, is_of_primitives) = (words.len() as u32 * unit, self.is_per_primitive(id, element)?);
        for (number, (word, _)) in words.into_iter().zip(used).enumerate().filter(|(_, (_, used))| *used) {
            let place = MeshWord { first: first + number as u32 * unit, stride };
            let high =
                word.ty.is_wide().then(|| (interface::high_word(&word), MeshWord { first: place.first + 4, ..place }));
            let Some(mesh) = &mut self.mesh else { continue };
            for (word, place) in [(word, place)].into_iter().chain(high) {
                if is_of_primitives {
                    mesh.of_primitives.push((word, place));
                } else {
                    self.outputs.push(word);
                    mesh.facts.words.push(place);
                }
            }
        }
        Ok(target)
    }

    /// Returns true if a variable has an element per primitive instead of one per vertex.
    fn is_per_primitive(&self, id: u32, element: u32) -> Result<bool> {
        let has = |target| self.module.has(target, Decoration::PerPrimitiveEXT);
        let members = match self.module.ty(element)? {
            Ty::Struct(members) => members.len() as u32,
            _ => 0,
        };
        Ok(has((id, None)) || members > 0 && has((element, Some(0))))
    }

    /// Translates `OpSetMeshOutputsEXT`, and the counts of `OpEmitMeshTasksEXT`. The first
    /// invocation stores the counts.
    pub(super) fn leave_counts(&mut self, inst: &Instruction) -> Result<()> {
        let Some((counts, invocation)) = self.mesh.as_ref().map(|mesh| (mesh.facts.counts, mesh.invocation)) else {
            return Err(Error::Malformed("a mesh of another stage"));
        };
        let (invocation, first) = (self.builder.input(invocation, Type::I32), self.builder.int(0));
        let condition = self.builder.binary(B::IEq, invocation, first);
        self.builder.push(Inst::If { condition });
        let words = if inst.op == Op::SetMeshOutputsEXT { 2 } else { COUNTS };
        for word in 0..words {
            let value = self.word(inst.word(word as usize)?)?;
            let offset = self.builder.int(counts + 4 * word);
            self.builder.push(Inst::Store { space: Space::Shared, offset, value });
        }
        self.builder.push(Inst::EndIf);
        Ok(())
    }
}

impl Mesh {
    /// Returns the facts of the program.
    pub(super) fn into_facts(self) -> MeshFacts {
        self.facts
    }
}
