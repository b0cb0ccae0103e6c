//! Translation of an entry point to IR, with all calls inlined.

mod attachments;
mod chosen;
mod composite;
mod contract;
mod cooperative;
mod denormals;
mod dot;
mod far;
mod flow;
mod geometry;
mod glsl;
mod image;
mod instruction;
mod large;
mod memory;
mod mesh;
mod nesting;
mod places;
mod scopes;
mod shared;
mod subgroup;
mod tessellation;
mod untyped;

use std::rc::Rc;

use ash::vk;
use foldhash::{HashMap, HashSet};
use spirv::{Decoration, ExecutionMode, ExecutionModel, StorageClass};
use vitric_base::host_memory;
use vitric_base::simd::{Lanes, WAVE};
use vitric_ir::interface::{
    Builtin, FragmentFacts, InputSlot, Interface, MAX_INTERFACE, MAX_INVOCATIONS, MAX_LOCAL_WORDS, MAX_SHARED,
    OutputSlot, PatchFacts, Resource, Shader, Slot,
};
use vitric_ir::{Builder, Inst, Local, Table, Type, Value, passes, verify};

use self::geometry::Geometry;
use self::memory::{Base, Pointer};
use self::mesh::Mesh;
use self::nesting::Nesting;
use self::scopes::{Scope, Scopes};
use self::tessellation::Tessellation;
use super::constants::Constants;
use super::interface::{self, Word};
use super::module::{EntryPoint, Function, Module, Ty};
use super::usage::{Extracts, Usage};
use super::{Error, Result, ShaderStage, Specialization};
use crate::number::Number;

/// Maximum number of instructions of a translated program.
const MAX_INSTRUCTIONS: usize = 1 << 19;
/// Memory that compilation uses per IR instruction, including passes and generated code, in bytes.
/// This is three times the measured value.
const COMPILED_BYTES: usize = 2 << 10;
/// Initial number of IR instructions that compile without a check of the host's free memory.
const ROOM: usize = 1 << 11;
/// Maximum number of blocks that are translated, including inlined calls.
const MAX_BLOCKS: usize = 1 << 17;
/// Maximum number of scalars that are moved during translation. It bounds time and memory.
const MAX_WORK: usize = 1 << 24;
/// Maximum size of the locals of all waves of a workgroup, in bytes.
const MAX_LOCAL_BYTES: u64 = 1 << 30;

/// First version of SPIR-V in which `HelperInvocation` must be volatile.
const VOLATILE_HELPERS: u32 = 0x0001_0600;

/// Number of members of a built-in block that are searched individually. It exceeds the number of
/// built-ins.
const MAX_BLOCK_BUILTINS: usize = 64;

/// Execution modes in which fragments of one pixel or sample exclude each other.
const INTERLOCKS: [ExecutionMode; 4] = [
    ExecutionMode::PixelInterlockOrderedEXT,
    ExecutionMode::PixelInterlockUnorderedEXT,
    ExecutionMode::SampleInterlockOrderedEXT,
    ExecutionMode::SampleInterlockUnorderedEXT,
];

/// Translation of an id.
#[derive(Debug, Clone)]
enum Operand {
    /// A flattened value.
    Words(Rc<[Value]>),
    /// A pointer, or an image, sampler or sampled image loaded from one.
    Pointer(Rc<Pointer>),
    /// An `OpSampledImage`: image and sampler.
    Pair(Rc<Pointer>, Rc<Pointer>),
    /// A value of many scalars in memory that does not change while the value is used.
    Large(Rc<Pointer>),
    /// A value of many scalars of which only some parts are used: the scalars of these parts, by
    /// number.
    Parts(Rc<HashMap<u32, Value>>),
}

/// Ids of the function that is being inlined, with their types.
type Frame = HashMap<u32, (u32, Operand)>;

struct Translator<'a> {
    module: &'a Module,
    constants: Constants,
    model: ExecutionModel,
    builder: Builder,
    scopes: Scopes,
    /// Scope that a return of the entry point leaves, once it is open.
    entry_exit: Option<Scope>,
    globals: Frame,
    frames: Vec<Frame>,
    constant_operands: HashMap<u32, (u32, Operand)>,
    inputs: Vec<Word>,
    outputs: Vec<Word>,
    /// Local and index of each output component until the end of the program.
    output_words: Vec<(Local, u32)>,
    resources: Vec<Resource>,
    local_size: [u32; 3],
    /// True if the invocations of a quad form a square of the workgroup, not a part of a row.
    in_squares: bool,
    shared_bytes: u32,
    /// Offset in shared memory at which blocks with an explicit layout start, in bytes.
    shared_start: u32,
    /// True if shared memory has blocks with an explicit layout.
    shared_is_explicit: bool,
    /// Storage buffers: the resources that a pointer chosen at run time may point into.
    storage_buffers: Vec<u32>,
    /// True if the program asks for 64-bit indexing.
    is_far: bool,
    /// Resources that no program writes.
    uniform_buffers: Vec<u32>,
    facts: FragmentFacts,
    /// True if `HelperInvocation` returns the current state of a lane instead of the initial one.
    helpers_change: bool,
    /// True if the entry point requests maximal reconvergence. Helper invocations then count in
    /// all operations.
    is_maximal: bool,
    usage: Usage,
    /// Extractions from composites, collected on first use.
    extracts: Option<Extracts>,
    /// Locals of variables, phis and results. A function never calls itself, so all its calls
    /// share them.
    locals: HashMap<u32, (Local, u32)>,
    /// Tables of locals that never change: the low dwords, and the high dwords if the type has
    /// 64-bit scalars.
    tables: HashMap<u32, (Table, Option<Table>)>,
    /// Slots of the high dwords of 64-bit inputs and outputs, by the slots of the low dwords.
    high_inputs: HashMap<u32, u32>,
    high_outputs: HashMap<(Local, u32), u32>,
    /// Number of components of each input variable, by its first slot, and copies for dynamic
    /// indexing.
    input_sizes: HashMap<u32, u32>,
    input_copies: HashMap<u32, Local>,
    copied_at: Option<(Local, usize)>,
    /// Floating-point modes of the entry point that differ from the defaults.
    fast_math: Vec<(Number, u32)>,
    /// Types for which the entry point preserves NaN, infinity and the sign of zero.
    preserved: Vec<Number>,
    /// True if the current instruction flushes denormals of its operands and of its result.
    is_flushing: bool,
    /// Results of flushes, with their types.
    not_denormal: HashSet<(Value, Number)>,
    /// True if the current function distinguishes -0 from 0.
    signed_zeros: bool,
    /// True if quads have derivatives. This always holds for fragment programs.
    has_derivatives: bool,
    /// Factors of the products in this block that may be fused into a sum.
    products: HashMap<Value, (Value, Value)>,
    /// True if transform feedback captures outputs.
    is_captured: bool,
    /// Additional state of a geometry program.
    geometry: Option<Geometry>,
    /// Additional state of a task or mesh program.
    mesh: Option<Mesh>,
    /// Additional state of a tessellation program.
    tessellation: Option<Tessellation>,
    /// Components of the input vertices of geometry and control programs.
    vertex_inputs: Vec<Option<Slot>>,
    local_words: u32,
    blocks: usize,
    work: usize,
    depth: u32,
    nesting: Nesting,
    /// Number of instructions for which the host has enough memory.
    room: usize,
    /// Functions that are being inlined.
    calls: Vec<u32>,
    /// Pointer and object of the next instruction, if it is a store.
    next_store: Option<[u32; 2]>,
}

/// Translates an entry point of a module. A module that nests deeply is translated on a thread
/// with a larger stack.
pub(super) fn program(module: &Module, stage: ShaderStage<'_>, observe: passes::Observer<'_>) -> Result<Shader> {
    nesting::with_stack(|nesting| program_within(module, stage, nesting, observe))
}

fn program_within(
    module: &Module,
    ShaderStage { entry, stage, specialization }: ShaderStage<'_>,
    nesting: Nesting,
    observe: passes::Observer<'_>,
) -> Result<Shader> {
    let model = match stage {
        vk::ShaderStageFlags::VERTEX => ExecutionModel::Vertex,
        vk::ShaderStageFlags::FRAGMENT => ExecutionModel::Fragment,
        vk::ShaderStageFlags::TESSELLATION_CONTROL => ExecutionModel::TessellationControl,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION => ExecutionModel::TessellationEvaluation,
        vk::ShaderStageFlags::GEOMETRY => ExecutionModel::Geometry,
        vk::ShaderStageFlags::COMPUTE => ExecutionModel::GLCompute,
        vk::ShaderStageFlags::TASK_EXT => ExecutionModel::TaskEXT,
        vk::ShaderStageFlags::MESH_EXT => ExecutionModel::MeshEXT,
        _ => return Err(Error::Unsupported("this stage".into())),
    };
    let found = module.entry_points.iter().find(|point| point.name == entry && point.model == model);
    let point = found.ok_or(Error::Malformed("there is no such entry point"))?;
    let mut translator = Translator::new(module, model, (specialization, nesting), point)?;
    translator.local_size = local_size(module, &translator.constants, point)?;
    translator.fast_math = translator.fast_math_defaults(point)?;
    let groups = [ExecutionMode::DerivativeGroupLinearKHR, ExecutionMode::DerivativeGroupQuadsKHR];
    let in_groups = groups.map(|mode| module.mode(point.function, mode).is_some());
    translator.has_derivatives |= in_groups.contains(&true);
    // A workgroup without whole squares has no order of squares.
    let is_even = translator.local_size[..2].iter().all(|size| size.is_multiple_of(2));
    translator.in_squares = in_groups[1] && is_even;
    translator.begin_geometry(point)?;
    translator.begin_mesh(point)?;
    translator.begin_tessellation(point)?;
    translator.declare_variables(point)?;
    translator.declare_mesh_outputs(point)?;
    translator.entry(point)?;
    translator.add_facts_of_attachments();
    translator.finish(point, stage, observe)
}

impl<'a> Translator<'a> {
    fn new(
        module: &'a Module,
        model: ExecutionModel,
        (specialization, nesting): (&Specialization, Nesting),
        point: &EntryPoint,
    ) -> Result<Self> {
        let usage = Usage::new(module, point.function);
        let flushed = denormals::numbers_of_mode(module, point, ExecutionMode::DenormFlushToZero);
        Ok(Self {
            module,
            constants: Constants::new(module, specialization, &usage, (nesting.types, flushed))?,
            model,
            builder: Builder::new(),
            scopes: Scopes::default(),
            entry_exit: None,
            globals: Frame::default(),
            frames: Vec::new(),
            constant_operands: HashMap::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            output_words: Vec::new(),
            resources: Vec::new(),
            local_size: [1; 3],
            in_squares: false,
            shared_bytes: 0,
            shared_start: 0,
            shared_is_explicit: false,
            is_far: module.mode(point.function, ExecutionMode::Shader64BitIndexingEXT).is_some(),
            storage_buffers: Vec::new(),
            uniform_buffers: Vec::new(),
            facts: FragmentFacts::default(),
            helpers_change: module.version >= VOLATILE_HELPERS,
            is_maximal: module.mode(point.function, ExecutionMode::MaximallyReconvergesKHR).is_some(),
            usage,
            extracts: None,
            locals: HashMap::default(),
            tables: HashMap::default(),
            high_inputs: HashMap::default(),
            high_outputs: HashMap::default(),
            input_sizes: HashMap::default(),
            input_copies: HashMap::default(),
            copied_at: None,
            fast_math: Vec::new(),
            preserved: denormals::numbers_of_mode(module, point, ExecutionMode::SignedZeroInfNanPreserve),
            is_flushing: false,
            not_denormal: HashSet::default(),
            signed_zeros: false,
            has_derivatives: model == ExecutionModel::Fragment,
            products: HashMap::default(),
            is_captured: module.mode(point.function, ExecutionMode::Xfb).is_some(),
            geometry: None,
            mesh: None,
            tessellation: None,
            vertex_inputs: Vec::new(),
            local_words: 0,
            blocks: 0,
            work: 0,
            depth: 0,
            nesting,
            room: ROOM,
            calls: Vec::new(),
            next_store: None,
        })
    }

    fn words_of(&self, ty: u32) -> Result<u32> {
        self.constants.words(self.module, ty)
    }

    /// Returns true for a value that is kept in memory instead of being flattened.
    fn is_large(&self, ty: u32) -> Result<bool> {
        Ok(self.words_of(ty)? > large::FLAT_WORDS)
    }

    /// Returns the scalar types of a flattened value.
    fn scalars(&self, ty: u32) -> Result<Vec<Type>> {
        Ok(self.numbers(ty)?.into_iter().map(Number::ir).collect())
    }

    fn append_numbers(&self, ty: u32, out: &mut Vec<Number>) -> Result<()> {
        // Check the size first. Otherwise a malicious length or endless empty structures could be
        // walked.
        if self.words_of(ty)? == 0 {
            return Ok(());
        }
        let (part, count) = match self.module.ty(ty)? {
            Ty::Cooperative(matrix) => (matrix.component, self.words_of(ty)?),
            Ty::Vector(part, count) | Ty::Matrix(part, count) => (*part, *count),
            Ty::Array(part, length) => (*part, self.constants.length(*length)?),
            Ty::Struct(parts) => return parts.iter().try_for_each(|&part| self.append_numbers(part, out)),
            _ => {
                out.push(Number::of(self.module, ty)?);
                return Ok(());
            }
        };
        (0..count).try_for_each(|_| self.append_numbers(part, out))
    }

    fn declare_variables(&mut self, point: &EntryPoint) -> Result<()> {
        for &(id, pointer, class, initializer) in &self.module.variables {
            let ty = self.module.data_type(id, pointer)?;
            // From SPIR-V 1.4 on, interfaces list variables of all storage classes. Variables
            // other than inputs and outputs are used only if a reachable function names them.
            let used = point.interface.contains(&id);
            let is_interface = matches!(class, StorageClass::Input | StorageClass::Output);
            if !(self.usage.mentions(id) || used && is_interface) {
                continue;
            }
            let base = match class {
                StorageClass::Input | StorageClass::Output if used && self.is_of_patch(id, class) => {
                    self.declare_patch((id, ty), initializer)?
                }
                StorageClass::Input if used && self.is_per_vertex(id) => self.declare_vertices(id, ty)?,
                StorageClass::Input if used => self.declare_input(id, ty)?,
                // Outputs of mesh programs are declared after all other variables.
                StorageClass::Output if self.model == ExecutionModel::MeshEXT => continue,
                StorageClass::Output if used => self.declare_output(id, ty, initializer)?,
                StorageClass::Input | StorageClass::Output | StorageClass::TaskPayloadWorkgroupEXT => continue,
                StorageClass::Private | StorageClass::Function => {
                    if let Some(table) = self.constant_table(id, ty, initializer)? {
                        table
                    } else {
                        let local = self.new_local(self.words_of(ty)?)?;
                        self.initialize(Base::Local(local), ty, initializer)?;
                        Base::Local(local)
                    }
                }
                StorageClass::Workgroup => {
                    let target = self.declare_shared(id, ty)?;
                    self.globals.insert(id, (pointer, Operand::Pointer(Rc::new(target))));
                    continue;
                }
                StorageClass::PushConstant => Base::Push,
                StorageClass::TileImageEXT => Base::Resource(self.declare_tile_image(id, ty)?),
                StorageClass::Uniform | StorageClass::UniformConstant | StorageClass::StorageBuffer => {
                    let resource = self.declare_resource(id)?;
                    match class {
                        StorageClass::UniformConstant => {}
                        StorageClass::Uniform if !self.is_buffer_block(ty)? => self.uniform_buffers.push(resource),
                        _ => self.storage_buffers.push(resource),
                    }
                    Base::Resource(resource)
                }
                other => return Err(Error::Unsupported(format!("storage class {other:?}"))),
            };
            self.globals.insert(id, (pointer, Operand::Pointer(Rc::new(Pointer::new(base, ty)))));
        }
        self.end_declarations();
        Ok(())
    }

    fn declare_input(&mut self, id: u32, ty: u32) -> Result<Base> {
        let words = interface::words(self.module, &self.constants, self.model, id, ty)?;
        let sample = |word: &Word| {
            word.place == vitric_ir::interface::Place::Sample
                || matches!(word.slot, Slot::Builtin(Builtin::SampleId | Builtin::SamplePosition, _))
        };
        self.facts.per_sample |= words.iter().any(sample);
        self.helpers_change |= self.module.has((id, None), Decoration::Volatile);
        let coverage = |word: &Word| matches!(word.slot, Slot::Builtin(Builtin::SampleMask, _));
        self.facts.sees_coverage |= words.iter().any(coverage);
        let first = self.inputs.len() as u32;
        self.input_sizes.insert(first, words.len() as u32);
        self.inputs.extend(words);
        is_interface(self.inputs.len())?;
        for slot in first as usize..self.inputs.len() {
            if self.inputs[slot].ty.is_wide() {
                self.high_inputs.insert(slot as u32, self.inputs.len() as u32);
                self.inputs.push(interface::high_word(&self.inputs[slot]));
            }
        }
        Ok(Base::Input(first))
    }

    fn declare_output(&mut self, id: u32, ty: u32, initializer: Option<u32>) -> Result<Base> {
        let mut words = interface::words(self.module, &self.constants, self.model, id, ty)?;
        if !self.is_captured {
            words.iter_mut().for_each(|word| word.feedback = None);
        }
        let has = |builtin| words.iter().any(|word| matches!(word.slot, Slot::Builtin(b, _) if b == builtin));
        self.facts.writes_depth |= has(Builtin::FragDepth);
        self.facts.writes_stencil |= has(Builtin::FragStencilRef);
        self.facts.writes_sample_mask |= has(Builtin::SampleMask);
        is_interface(self.outputs.len() + words.len())?;
        let local = self.new_local(words.len() as u32)?;
        let written = self.used_words(id, ty, words.len(), false)?;
        let is_output = |(index, word): &(usize, Word)| written[*index] || word.feedback.is_some();
        for (index, word) in words.into_iter().enumerate().filter(is_output) {
            self.output_words.push((local, index as u32));
            self.outputs.push(word);
            if word.ty.is_wide() {
                self.high_outputs.insert((local, index as u32), self.outputs.len() as u32);
                self.output_words.push((local, index as u32));
                self.outputs.push(interface::high_word(&word));
            }
        }
        self.initialize(Base::Local(local), ty, initializer)?;
        Ok(Base::Local(local))
    }

    /// Returns which components of an interface variable are used. Built-in blocks are declared as
    /// a whole, even if only some members are written, or are read of each element of an array.
    fn used_words(&self, id: u32, ty: u32, words: usize, of_elements: bool) -> Result<Vec<bool>> {
        let Ty::Struct(members) = self.module.ty(ty)? else { return Ok(vec![true; words]) };
        let mut out = Vec::with_capacity(words);
        for (index, &member) in members.iter().enumerate() {
            let builtin = self.module.has((ty, Some(index as u32)), Decoration::BuiltIn);
            let scalar = |id| self.constants.scalar(id);
            let named = || match of_elements {
                true => self.usage.uses_member_of_elements(id, index as u32, scalar),
                false => self.usage.uses_member(id, index as u32, scalar),
            };
            let used = !builtin || index >= MAX_BLOCK_BUILTINS || named();
            out.resize(out.len() + self.words_of(member)? as usize, used);
        }
        out.resize(words, true);
        Ok(out)
    }

    /// Returns true for blocks, and arrays of blocks, that are storage buffers in the form of
    /// SPIR-V 1.0 (`BufferBlock`).
    fn is_buffer_block(&self, ty: u32) -> Result<bool> {
        let mut block = ty;
        // Bounded, because a malicious type may be an array of itself.
        for _ in 0..self.nesting.types {
            match *self.module.ty(block)? {
                Ty::Array(element, _) | Ty::RuntimeArray(element) => block = element,
                _ => break,
            }
        }
        Ok(self.module.has((block, None), Decoration::BufferBlock))
    }

    fn declare_resource(&mut self, id: u32) -> Result<u32> {
        let word = |decoration| self.module.decoration_word((id, None), decoration).unwrap_or(0);
        let resource = Resource { set: word(Decoration::DescriptorSet), binding: word(Decoration::Binding) };
        if resource.is_attachment() {
            return Err(Error::Unsupported(format!("descriptor set {}", resource.set)));
        }
        self.resources.push(resource);
        Ok(self.resources.len() as u32 - 1)
    }

    fn initialize(&mut self, base: Base, ty: u32, initializer: Option<u32>) -> Result<()> {
        let Some(initializer) = initializer else { return Ok(()) };
        self.store_operand(&Pointer::new(base, ty), initializer)
    }

    fn entry(&mut self, point: &EntryPoint) -> Result<()> {
        self.call(point.function, &[], None)?;
        if self.geometry.is_some() {
            return self.end_geometry();
        }
        // The outputs of a mesh program are in shared memory.
        if self.mesh.is_some() {
            return Ok(());
        }
        for (slot, value) in (0..).zip(self.output_values()) {
            self.builder.push(Inst::Output { slot, value });
        }
        Ok(())
    }

    /// Returns the current values of all output components.
    fn output_values(&mut self) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.outputs.len());
        for slot in 0..self.outputs.len() {
            let (local, word) = self.output_words[slot];
            // The slot of a high dword follows that of the low one, and both have been added.
            if self.high_outputs.get(&(local, word)) == Some(&(slot as u32)) {
                continue;
            }
            let mut value = self.builder.local_load(local, word, None, self.outputs[slot].ty);
            if let (ExecutionModel::Fragment, Some(number)) = (self.model, self.outputs[slot].narrow_signed) {
                value = crate::number::signed(&mut self.builder, value, number);
            }
            let [low, high] = self.builder.split(value);
            values.push(low);
            if self.builder.is_wide(value) {
                values.push(high);
            }
        }
        values
    }

    /// Inlines a function. Returns the local that has its result of type `result`.
    fn call(&mut self, id: u32, arguments: &[(u32, Operand)], result: Option<u32>) -> Result<Local> {
        if self.calls.contains(&id) {
            return Err(Error::Malformed("calls recurse"));
        }
        self.depth += 1;
        let function: &'a Function = self.module.functions.get(&id).ok_or(Error::Malformed("no such function"))?;
        if function.parameters.len() != arguments.len() {
            return Err(Error::Malformed("a call with the wrong number of arguments"));
        }
        self.charge_work(arguments.len() + self.calls.len() / 64)?;
        self.calls.push(id);
        self.frames.push(function.parameters.iter().copied().zip(arguments.iter().cloned()).collect());
        let words = result.map_or(Ok(0), |ty| self.words_of(ty))?;
        let local = self.local_for(id, words)?;
        self.body(function, (local, result))?;
        self.frames.pop();
        self.calls.pop();
        self.depth -= 1;
        Ok(local)
    }

    /// Bounds the work that a malicious module can cause. Called for every block that is
    /// translated.
    fn check_size(&mut self) -> Result<()> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err(Error::Unsupported("a program this long".into()));
        }
        self.charge_work(1)
    }

    /// Returns the local of variable, phi or function `id`.
    fn local_for(&mut self, id: u32, words: u32) -> Result<Local> {
        match self.locals.get(&id) {
            Some(&(local, known)) if known == words => Ok(local),
            _ => {
                let local = self.new_local(words)?;
                self.locals.insert(id, (local, words));
                Ok(local)
            }
        }
    }

    fn new_local(&mut self, words: u32) -> Result<Local> {
        self.local_words = self.local_words.saturating_add(words);
        if self.local_words > MAX_LOCAL_WORDS {
            return Err(Error::Unsupported("this many local variables".into()));
        }
        Ok(self.builder.local(words))
    }

    /// Bounds the work for every instruction and every value of `work` scalars. Each check of the
    /// host's free memory doubles the number of instructions until the next check.
    fn charge_work(&mut self, work: usize) -> Result<()> {
        self.work += work;
        if self.builder.len() > self.room {
            self.room = self.builder.len() * 2;
            if !host_memory::has_room(self.room * COMPILED_BYTES) {
                return Err(Error::OutOfMemory);
            }
        }
        if self.builder.len() > MAX_INSTRUCTIONS || self.work > MAX_WORK {
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
        if words.len() != self.words_of(ty)? as usize {
            return Err(Error::Malformed("a result of another type"));
        }
        self.charge_work(words.len())?;
        let words = if self.is_flushing { self.flushed_words(ty, words.into())? } else { words.into() };
        self.define(id, ty, Operand::Words(words))
    }

    /// Returns the translation of an id and its type.
    fn operand(&mut self, id: u32) -> Result<(u32, Operand)> {
        let local = self.frames.last().and_then(|frame| frame.get(&id));
        if let Some(found) = local.or_else(|| self.globals.get(&id)).or_else(|| self.constant_operands.get(&id)) {
            return Ok(found.clone());
        }
        let (ty, words) = self.constants.get(id).ok_or(Error::Malformed("an id is used before its definition"))?;
        if words.len() > large::FLAT_WORDS as usize {
            let base = self.table_of(id, ty)?;
            let found = (ty, Operand::Large(Rc::new(Pointer::new(base, ty))));
            self.constant_operands.insert(id, found.clone());
            return Ok(found);
        }
        let words = words.to_vec();
        let scalars = self.scalars(ty)?;
        let constant = |(&bits, ty): (&u64, Type)| match ty {
            Type::I64 | Type::F64 => self.builder.wide_constant(bits, ty),
            _ => self.builder.constant(bits as u32, ty),
        };
        let values: Vec<Value> = words.iter().zip(scalars).map(constant).collect();
        let found = (ty, Operand::Words(values.into()));
        self.constant_operands.insert(id, found.clone());
        Ok(found)
    }

    fn words(&mut self, id: u32) -> Result<Rc<[Value]>> {
        let (ty, operand) = self.operand(id)?;
        match operand {
            Operand::Words(words) if self.is_flushing => self.flushed_words(ty, words),
            Operand::Words(words) => Ok(words),
            Operand::Pointer(pointer) => Ok(Rc::from([self.pointer_value(&pointer)?])),
            Operand::Large(pointer) => Ok(self.load(&pointer)?.into()),
            Operand::Pair(..) | Operand::Parts(_) => Err(Error::Malformed("a pointer or image is used as a value")),
        }
    }

    fn typed_words(&mut self, id: u32) -> Result<(u32, Rc<[Value]>)> {
        let (ty, _) = self.operand(id)?;
        Ok((ty, self.words(id)?))
    }

    fn word(&mut self, id: u32) -> Result<Value> {
        self.words(id)?.first().copied().ok_or(Error::Malformed("an empty value"))
    }

    /// Returns an index as a dword. Indices may have any width; for 64-bit ones the low dword
    /// suffices, because no array has more elements.
    fn index(&mut self, id: u32) -> Result<Value> {
        let index = self.word(id)?;
        Ok(if self.builder.is_wide(index) { self.builder.split(index)[0] } else { index })
    }

    fn pointer(&mut self, id: u32) -> Result<Rc<Pointer>> {
        match self.operand(id)? {
            (_, Operand::Pointer(pointer)) => Ok(pointer),
            (ty, Operand::Words(words)) if words.len() == 1 => self.pointer_of_value(ty, words[0]).map(Rc::new),
            _ => Err(Error::Malformed("not a pointer")),
        }
    }

    fn finish(self, point: &EntryPoint, stage: vk::ShaderStageFlags, observe: passes::Observer<'_>) -> Result<Shader> {
        let mut function = self.builder.finish();
        function.insts = self.scopes.resolve(function.insts);
        verify(&function).map_err(|error| Error::Unsupported(format!("this control flow ({error})")))?;
        passes::optimize(&mut function, observe);
        passes::trim_images(&mut function);
        debug_assert_eq!(verify(&function), Ok(()));
        let waves = self.local_size.iter().map(|&size| u64::from(size)).product::<u64>().div_ceil(WAVE as u64);
        let locals: u64 = function.locals.iter().map(|&words| u64::from(words)).sum();
        if waves * locals * size_of::<Lanes>() as u64 > MAX_LOCAL_BYTES {
            return Err(Error::Unsupported("workgroups with this many local variables".into()));
        }
        if !host_memory::has_room((waves * locals) as usize * size_of::<Lanes>()) {
            return Err(Error::OutOfMemory);
        }
        let mut facts = self.facts;
        let has_mode = |mode| self.module.mode(point.function, mode).is_some();
        facts.post_depth = has_mode(ExecutionMode::PostDepthCoverage);
        facts.early_tests = has_mode(ExecutionMode::EarlyFragmentTests) || facts.post_depth;
        facts.interlock |= INTERLOCKS.into_iter().any(has_mode);
        let input = |word: &super::interface::Word| InputSlot {
            slot: word.slot,
            ty: low_type(word.ty),
            interpolation: word.interpolation,
            place: word.place,
        };
        let output = |word: &Word| OutputSlot { slot: word.slot, ty: low_type(word.ty), feedback: word.feedback };
        let patch = self.tessellation.map(|patch| Box::new(patch.into_facts(self.vertex_inputs.clone())));
        if !patch.as_deref().is_none_or(PatchFacts::is_possible) {
            return Err(Error::Unsupported("patches of this many vertices, or words".into()));
        }
        let images = function.number_images();
        let interface = Interface {
            stage,
            inputs: self.inputs.iter().map(input).collect(),
            outputs: self.outputs.iter().map(output).collect(),
            resources: self.resources,
            images,
            shared_bytes: self.shared_bytes,
            local_size: self.local_size,
            in_squares: self.in_squares,
            fragment: facts,
            geometry: self.geometry.map(|geometry| Box::new(geometry.into_facts(self.vertex_inputs))),
            mesh: self.mesh.map(|mesh| Box::new(mesh.into_facts())),
            patch,
        };
        Ok(Shader { interface, function })
    }
}

/// Checks the number of components of a stage's inputs or outputs.
///
/// # Errors
/// Returns an error if it exceeds [`MAX_INTERFACE`], which is far more than any limit allows.
fn is_interface(words: usize) -> Result<()> {
    if words > MAX_INTERFACE { Err(Error::Unsupported("interfaces this large".into())) } else { Ok(()) }
}

/// Returns the type of an interface component. 64-bit scalars are two integers.
fn low_type(ty: Type) -> Type {
    if ty.is_wide() { Type::I32 } else { ty }
}

/// Returns the workgroup size from the built-in constant, or from the execution mode if there is
/// none.
fn local_size(module: &Module, constants: &Constants, point: &EntryPoint) -> Result<[u32; 3]> {
    let size = declared_size(module, constants, point);
    let product = size.iter().try_fold(1u32, |product, &count| product.checked_mul(count));
    match product {
        Some(1..=MAX_INVOCATIONS) => Ok(size),
        _ => Err(Error::Unsupported(format!("workgroups of {size:?}"))),
    }
}

fn declared_size(module: &Module, constants: &Constants, point: &EntryPoint) -> [u32; 3] {
    let workgroup_size = spirv::BuiltIn::WorkgroupSize as u32;
    for inst in &module.constants {
        let Some(&id) = inst.words.get(1) else { continue };
        if module.decoration_word((id, None), Decoration::BuiltIn) == Some(workgroup_size)
            && let Some((_, &[x, y, z])) = constants.get(id)
        {
            return [x, y, z].map(|size| size as u32);
        }
    }
    let mode = |mode| module.mode(point.function, mode);
    match (mode(ExecutionMode::LocalSize), mode(ExecutionMode::LocalSizeId)) {
        (Some(&[x, y, z]), _) => [x, y, z],
        (_, Some(&[x, y, z])) => [x, y, z].map(|id| constants.scalar(id).unwrap_or(1)),
        _ => [1; 3],
    }
}
