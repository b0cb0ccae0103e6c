//! Translation of an entry point, with every call inlined.

mod composite;
mod flow;
mod glsl;
mod image;
mod instruction;
mod memory;
pub(super) mod scalar;
mod scopes;

use std::collections::HashMap;
use std::rc::Rc;

use ash::vk;
use spirv::{Decoration, ExecutionMode, ExecutionModel, StorageClass};

use self::memory::{Base, Pointer};
use self::scopes::Scopes;
use super::constants::Constants;
use super::interface::{self, Word, scalar_type};
use super::module::{EntryPoint, Function, MAX_NESTING, Module, Ty};
use super::{Error, Result, Specialization};
use crate::shader::interp::Executable;
use crate::shader::ir::{Builder, Type, Value, verify};
use crate::shader::{Builtin, FragmentFacts, InputSlot, OutputSlot, Program, Resource, Slot};

/// Most instructions of a translated program.
const MAX_INSTRUCTIONS: usize = 1 << 19;
/// Most blocks that are translated, calls inlined.
const MAX_BLOCKS: usize = 1 << 15;

/// What an id stands for while translating.
#[derive(Debug, Clone)]
enum Operand {
    /// A flattened value.
    Words(Rc<[Value]>),
    /// A pointer, or an image, sampler or their combination loaded from one.
    Pointer(Rc<Pointer>),
    /// `OpSampledImage`: image and sampler.
    Pair(Rc<Pointer>, Rc<Pointer>),
}

/// Ids of the function that is being inlined, with their types.
type Frame = HashMap<u32, (u32, Operand)>;

struct Translator<'a> {
    module: &'a Module,
    constants: Constants,
    model: ExecutionModel,
    builder: Builder,
    scopes: Scopes,
    globals: Frame,
    frames: Vec<Frame>,
    constant_operands: HashMap<u32, (u32, Operand)>,
    inputs: Vec<Word>,
    outputs: Vec<Word>,
    output_locals: Vec<(crate::shader::ir::Local, usize, usize)>,
    resources: Vec<Resource>,
    shared_bytes: u32,
    facts: FragmentFacts,
    blocks: usize,
}

/// Translates an entry point of a module.
pub(super) fn program(
    module: &Module,
    entry: &str,
    stage: vk::ShaderStageFlags,
    specialization: &Specialization,
) -> Result<Program> {
    let model = match stage {
        vk::ShaderStageFlags::VERTEX => ExecutionModel::Vertex,
        vk::ShaderStageFlags::FRAGMENT => ExecutionModel::Fragment,
        vk::ShaderStageFlags::COMPUTE => ExecutionModel::GLCompute,
        _ => return Err(Error::Unsupported("this stage".into())),
    };
    let found = module.entry_points.iter().find(|point| point.name == entry && point.model == model);
    let point = found.ok_or(Error::Malformed("there is no such entry point"))?;
    let mut translator = Translator::new(module, model, specialization)?;
    translator.declare_variables(point)?;
    translator.entry(point)?;
    translator.finish(point, stage)
}

impl<'a> Translator<'a> {
    fn new(module: &'a Module, model: ExecutionModel, specialization: &Specialization) -> Result<Self> {
        Ok(Self {
            module,
            constants: Constants::new(module, specialization)?,
            model,
            builder: Builder::new(),
            scopes: Scopes::default(),
            globals: Frame::new(),
            frames: Vec::new(),
            constant_operands: HashMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            output_locals: Vec::new(),
            resources: Vec::new(),
            shared_bytes: 0,
            facts: FragmentFacts::default(),
            blocks: 0,
        })
    }

    fn words_of(&self, ty: u32) -> Result<u32> {
        self.constants.words(self.module, ty)
    }

    /// The scalar types of a flattened value.
    fn scalars(&self, ty: u32) -> Result<Vec<Type>> {
        let mut out = Vec::new();
        self.append_scalars(ty, &mut out)?;
        Ok(out)
    }

    fn append_scalars(&self, ty: u32, out: &mut Vec<Type>) -> Result<()> {
        let (part, count) = match self.module.ty(ty)? {
            Ty::Vector(part, count) | Ty::Matrix(part, count) => (*part, *count),
            Ty::Array(part, length) => (*part, self.constants.length(*length)?),
            Ty::Struct(parts) => return parts.iter().try_for_each(|&part| self.append_scalars(part, out)),
            _ => {
                out.push(scalar_type(self.module, ty)?);
                return Ok(());
            }
        };
        // Sized first, so that a hostile length is refused before anything is appended.
        self.words_of(ty)?;
        (0..count).try_for_each(|_| self.append_scalars(part, out))
    }

    fn declare_variables(&mut self, point: &EntryPoint) -> Result<()> {
        for &(id, pointer, class, initializer) in &self.module.variables {
            let (_, ty) = self.module.pointee(pointer)?;
            let used = point.interface.contains(&id);
            let base = match class {
                StorageClass::Input if used => self.declare_input(id, ty)?,
                StorageClass::Output if used => self.declare_output(id, ty, initializer)?,
                StorageClass::Input | StorageClass::Output => continue,
                StorageClass::Private | StorageClass::Function => {
                    let local = self.builder.local(self.words_of(ty)?);
                    self.initialize(Base::Local(local), ty, initializer)?;
                    Base::Local(local)
                }
                StorageClass::Workgroup => self.declare_shared(ty)?,
                StorageClass::PushConstant => Base::Push,
                StorageClass::Uniform | StorageClass::UniformConstant | StorageClass::StorageBuffer => {
                    self.declare_resource(id)
                }
                other => return Err(Error::Unsupported(format!("storage class {other:?}"))),
            };
            self.globals.insert(id, (pointer, Operand::Pointer(Rc::new(Pointer::new(base, ty)))));
        }
        Ok(())
    }

    fn declare_input(&mut self, id: u32, ty: u32) -> Result<Base> {
        let words = interface::words(self.module, &self.constants, self.model, id, ty)?;
        let sample = |word: &Word| {
            word.place == crate::shader::Place::Sample
                || matches!(word.slot, Slot::Builtin(Builtin::SampleId | Builtin::SamplePosition, _))
        };
        self.facts.per_sample |= words.iter().any(sample);
        let first = self.inputs.len() as u32;
        self.inputs.extend(words);
        Ok(Base::Input(first))
    }

    fn declare_output(&mut self, id: u32, ty: u32, initializer: Option<u32>) -> Result<Base> {
        let words = interface::words(self.module, &self.constants, self.model, id, ty)?;
        let has = |builtin| words.iter().any(|word| matches!(word.slot, Slot::Builtin(b, _) if b == builtin));
        self.facts.writes_depth |= has(Builtin::FragDepth);
        self.facts.writes_sample_mask |= has(Builtin::SampleMask);
        let local = self.builder.local(words.len() as u32);
        self.output_locals.push((local, self.outputs.len(), words.len()));
        self.outputs.extend(words);
        self.initialize(Base::Local(local), ty, initializer)?;
        Ok(Base::Local(local))
    }

    fn declare_shared(&mut self, ty: u32) -> Result<Base> {
        let offset = self.shared_bytes;
        self.shared_bytes += self.words_of(ty)? * 4;
        Ok(Base::Shared(offset))
    }

    fn declare_resource(&mut self, id: u32) -> Base {
        let word = |decoration| self.module.decoration_word((id, None), decoration).unwrap_or(0);
        let resource = Resource { set: word(Decoration::DescriptorSet), binding: word(Decoration::Binding) };
        self.resources.push(resource);
        Base::Resource(self.resources.len() as u32 - 1)
    }

    fn initialize(&mut self, base: Base, ty: u32, initializer: Option<u32>) -> Result<()> {
        let Some(initializer) = initializer else { return Ok(()) };
        let words = self.words(initializer)?;
        self.store(&Pointer::new(base, ty), &words)
    }

    fn entry(&mut self, point: &EntryPoint) -> Result<()> {
        self.call(point.function, &[], None)?;
        for (local, first, count) in self.output_locals.clone() {
            for word in 0..count {
                let ty = self.outputs[first + word].ty;
                let value = self.builder.local_load(local, word as u32, None, ty);
                self.builder.push(crate::shader::ir::Inst::Output { slot: (first + word) as u32, value });
            }
        }
        Ok(())
    }

    /// Inlines a function; the words of its result, when it has one.
    fn call(&mut self, id: u32, arguments: &[(u32, Operand)], result: Option<u32>) -> Result<Vec<Value>> {
        if self.frames.len() as u32 >= MAX_NESTING {
            return Err(Error::Malformed("calls recurse"));
        }
        let function: &'a Function = self.module.functions.get(&id).ok_or(Error::Malformed("no such function"))?;
        if function.parameters.len() != arguments.len() {
            return Err(Error::Malformed("a call with the wrong number of arguments"));
        }
        self.frames.push(function.parameters.iter().copied().zip(arguments.iter().cloned()).collect());
        let scalars = result.map_or(Ok(Vec::new()), |ty| self.scalars(ty))?;
        let local = self.builder.local(scalars.len() as u32);
        self.body(function, local)?;
        self.frames.pop();
        let load = |(word, &ty): (usize, &Type)| self.builder.local_load(local, word as u32, None, ty);
        Ok(scalars.iter().enumerate().map(load).collect())
    }

    /// Bounds the work a hostile module can cause: called for every block that is translated.
    fn check_size(&mut self) -> Result<()> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err(Error::Unsupported("a program this long".into()));
        }
        self.check_length()
    }

    /// The same, for every instruction.
    fn check_length(&self) -> Result<()> {
        if self.builder.len() > MAX_INSTRUCTIONS {
            return Err(Error::Unsupported("a program this long".into()));
        }
        Ok(())
    }

    fn define(&mut self, id: u32, ty: u32, operand: Operand) -> Result<()> {
        match self.frames.last_mut() {
            Some(frame) => frame.insert(id, (ty, operand)),
            None => self.globals.insert(id, (ty, operand)),
        };
        Ok(())
    }

    fn define_words(&mut self, id: u32, ty: u32, words: Vec<Value>) -> Result<()> {
        self.define(id, ty, Operand::Words(words.into()))
    }

    /// What an id stands for, and its type.
    fn operand(&mut self, id: u32) -> Result<(u32, Operand)> {
        let local = self.frames.last().and_then(|frame| frame.get(&id));
        if let Some(found) = local.or_else(|| self.globals.get(&id)).or_else(|| self.constant_operands.get(&id)) {
            return Ok(found.clone());
        }
        let (ty, words) = self.constants.get(id).ok_or(Error::Malformed("an id is used before its definition"))?;
        let words = words.to_vec();
        let scalars = self.scalars(ty)?;
        let values: Vec<Value> = words.iter().zip(scalars).map(|(&word, ty)| self.builder.constant(word, ty)).collect();
        let found = (ty, Operand::Words(values.into()));
        self.constant_operands.insert(id, found.clone());
        Ok(found)
    }

    fn words(&mut self, id: u32) -> Result<Rc<[Value]>> {
        match self.operand(id)?.1 {
            Operand::Words(words) => Ok(words),
            _ => Err(Error::Malformed("a pointer or image is used as a value")),
        }
    }

    fn typed_words(&mut self, id: u32) -> Result<(u32, Rc<[Value]>)> {
        let (ty, _) = self.operand(id)?;
        Ok((ty, self.words(id)?))
    }

    fn word(&mut self, id: u32) -> Result<Value> {
        self.words(id)?.first().copied().ok_or(Error::Malformed("an empty value"))
    }

    fn pointer(&mut self, id: u32) -> Result<Rc<Pointer>> {
        match self.operand(id)?.1 {
            Operand::Pointer(pointer) => Ok(pointer),
            _ => Err(Error::Malformed("not a pointer")),
        }
    }

    fn finish(self, point: &EntryPoint, stage: vk::ShaderStageFlags) -> Result<Program> {
        let mut function = self.builder.finish();
        function.insts = self.scopes.resolve(function.insts);
        verify(&function).map_err(|error| Error::Unsupported(format!("this control flow ({error})")))?;
        let mut facts = self.facts;
        facts.early_tests = self.module.mode(point.function, ExecutionMode::EarlyFragmentTests).is_some();
        let inputs = self.inputs.iter().map(|word| InputSlot {
            slot: word.slot,
            ty: word.ty,
            interpolation: word.interpolation,
            place: word.place,
        });
        Ok(Program {
            stage,
            inputs: inputs.collect(),
            outputs: self.outputs.iter().map(|word| OutputSlot { slot: word.slot, ty: word.ty }).collect(),
            resources: self.resources,
            shared_bytes: self.shared_bytes,
            local_size: local_size(self.module, &self.constants, point),
            fragment: facts,
            code: Executable::new(function),
        })
    }
}

/// Workgroup size: the built-in constant when there is one, else the execution mode.
fn local_size(module: &Module, constants: &Constants, point: &EntryPoint) -> [u32; 3] {
    let workgroup_size = spirv::BuiltIn::WorkgroupSize as u32;
    for inst in &module.constants {
        let Some(&id) = inst.words.get(1) else { continue };
        if module.decoration_word((id, None), Decoration::BuiltIn) == Some(workgroup_size)
            && let Some((_, &[x, y, z])) = constants.get(id)
        {
            return [x, y, z];
        }
    }
    match module.mode(point.function, ExecutionMode::LocalSize) {
        Some(&[x, y, z]) => [x, y, z],
        _ => [1; 3],
    }
}
