//! Tables of a module: types, constants, decorations, entry points, variables and functions.

use foldhash::{HashMap, HashSet};
use spirv::{BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};

use super::encoding::Encoding;
use super::parse::Instruction;
use super::{Error, Result};

/// Maximum number of scalars of one value.
pub(super) const MAX_WORDS: u32 = 1 << 26;
/// Maximum number of scalars of a flattened value. Each becomes a value of the IR.
pub(super) const MAX_FLAT_WORDS: u32 = 1 << 16;
/// Maximum number of decorations that decoration groups add to targets.
const MAX_GROUPED: usize = 1 << 18;

/// Instruction sets of debug information that predate non-semantic sets. DirectXShaderCompiler
/// still uses the first one.
const DEBUG_SETS: [&str; 2] = ["OpenCL.DebugInfo.100", "DebugInfo"];

/// Type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ty {
    Void,
    Bool,
    /// An integer, by its number of bits.
    Int(u32),
    /// A float of IEEE 754, by its number of bits.
    Float(u32),
    /// A float of another encoding.
    Encoded(Encoding),
    Vector(u32, u32),
    Matrix(u32, u32),
    /// An array: element type and the id of the length.
    Array(u32, u32),
    RuntimeArray(u32),
    Struct(Vec<u32>),
    /// A cooperative matrix.
    Cooperative(MatrixIds),
    Pointer(StorageClass, u32),
    /// A pointer that does not declare the type of its pointee.
    UntypedPointer(StorageClass),
    Image(ImageType),
    Sampler,
    SampledImage(u32),
    Function,
    /// A type of an extension that is not advertised, by name. Any use of it is an error.
    Unsupported(String),
}

/// Ids that a type of cooperative matrices names: the type of components, and constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatrixIds {
    pub(super) component: u32,
    pub(super) scope: u32,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) usage: u32,
}

/// Shape of cooperative matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatrixType {
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) usage: MatrixUse,
}

/// Operand of a product that a cooperative matrix can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixUse {
    /// The left factor.
    Left,
    /// The right factor.
    Right,
    /// The addend and the result.
    Sum,
}

/// Image type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ImageType {
    pub(super) dim: Dim,
    pub(super) arrayed: bool,
    pub(super) multisampled: bool,
    pub(super) float: bool,
    /// True if texels are 64-bit integers.
    pub(super) wide: bool,
}

/// Entry point.
#[derive(Debug, Clone)]
pub(super) struct EntryPoint {
    pub(super) model: ExecutionModel,
    pub(super) function: u32,
    pub(super) name: String,
    pub(super) interface: Vec<u32>,
}

/// Basic block: label, instructions, and the merge information of its branches.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    pub(super) label: u32,
    pub(super) insts: Vec<Instruction>,
    /// Merge block of a selection or loop that starts here.
    pub(super) merge: Option<u32>,
    /// Continue target of a loop that starts here.
    pub(super) continues: Option<u32>,
}

/// Function.
#[derive(Debug, Clone, Default)]
pub(super) struct Function {
    pub(super) parameters: Vec<u32>,
    pub(super) blocks: Vec<Block>,
    pub(super) by_label: HashMap<u32, usize>,
    /// True if branches join in a block that no merge instruction and no switch names. GLSL
    /// compilers never emit such functions.
    pub(super) has_joins: bool,
}

impl Block {
    /// Returns true if the block has its terminator.
    fn has_ended(&self) -> bool {
        self.insts.last().is_some_and(|inst| is_terminator(inst.op))
    }

    /// Returns the labels to which the block may branch.
    pub(super) fn successors(&self, function: &Function) -> Vec<u32> {
        let Some(last) = self.insts.last() else { return Vec::new() };
        match last.op {
            Op::Branch => last.rest(0).to_vec(),
            Op::BranchConditional => last.rest(1).iter().take(2).copied().collect(),
            Op::Switch => {
                let choices = last.rest(2);
                // A literal has as many words as the selector, one or two.
                let fits = |words: usize| {
                    let mut labels = choices.chunks(words).map(|choice| choice.last());
                    choices.len().is_multiple_of(words)
                        && labels.all(|label| label.is_some_and(|label| function.by_label.contains_key(label)))
                };
                let words = if fits(2) { 2 } else { 3 };
                let labels = choices.chunks_exact(words).map(|choice| choice[words - 1]);
                last.rest(1).iter().take(1).copied().chain(labels).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Function {
    fn find_joins(&mut self) {
        let mut ways: HashMap<u32, usize> = HashMap::default();
        let mut named: HashSet<u32> = HashSet::default();
        for block in &self.blocks {
            named.extend(block.merge.iter().chain(&block.continues));
            let successors = block.successors(self);
            if block.insts.last().is_some_and(|inst| inst.op == Op::Switch) {
                named.extend(successors);
            } else {
                successors.into_iter().for_each(|label| *ways.entry(label).or_default() += 1);
            }
        }
        // A loop branches back to its header once.
        let usual = |block: &Block| if block.continues.is_some() { 2 } else { 1 };
        let is_join = |block: &Block| ways.get(&block.label).is_some_and(|&ways| ways > usual(block));
        self.has_joins = self.blocks.iter().any(|block| is_join(block) && !named.contains(&block.label));
    }
}

/// Decorations of one target, with their operands.
type Decorations = Vec<(Decoration, Vec<u32>)>;

/// Parsed module.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// Version of SPIR-V: major number in bits 16 to 23, minor number in bits 8 to 15.
    pub(super) version: u32,
    /// Capabilities that the module declares, by number.
    capabilities: HashSet<u32>,
    pub(super) types: HashMap<u32, Ty>,
    /// Constant instructions in order. The second word of each is its id.
    pub(super) constants: Vec<Instruction>,
    /// Global variables: id, pointer type, storage class and initializer.
    pub(super) variables: Vec<(u32, u32, StorageClass, Option<u32>)>,
    /// Types that are signed integers.
    signed: HashSet<u32>,
    /// Data types of variables whose pointer type is untyped.
    data_types: HashMap<u32, u32>,
    pub(super) entry_points: Vec<EntryPoint>,
    pub(super) modes: Vec<(u32, ExecutionMode, Vec<u32>)>,
    pub(super) functions: HashMap<u32, Function>,
    decorations: HashMap<(u32, Option<u32>), Decorations>,
    /// Imports of GLSL.std.450. Modules that were linked may have several.
    pub(super) glsl: HashSet<u32>,
    /// Number of decorations from groups. It is bounded, because groups multiply decorations.
    grouped: usize,
    /// Extended instruction sets without semantics.
    non_semantic: HashSet<u32>,
}

impl Module {
    pub(super) fn new(version: u32, instructions: Vec<Instruction>) -> Result<Self> {
        let mut module = Self { version, ..Self::default() };
        let mut function: Option<(u32, Function)> = None;
        for inst in instructions {
            if module.is_without_meaning(&inst) {
                continue;
            }
            match function.take() {
                Some(open) => function = module.in_function(open, inst)?,
                None if inst.op == Op::Function => function = Some((inst.word(1)?, Function::default())),
                None => module.global(inst)?,
            }
        }
        if function.is_some() {
            return Err(Error::Malformed("a function does not end"));
        }
        Ok(module)
    }

    /// Returns the module with every `ViewIndex` decoration replaced by `DeviceIndex`. Source:
    /// Vulkan specification, `VK_PIPELINE_CREATE_VIEW_INDEX_FROM_DEVICE_INDEX_BIT`.
    pub fn with_devices_for_views(&self) -> Self {
        const VIEW: u32 = BuiltIn::ViewIndex as u32;
        let mut module = self.clone();
        for (decoration, operands) in module.decorations.values_mut().flatten() {
            if *decoration == Decoration::BuiltIn && operands.first() == Some(&VIEW) {
                operands[0] = BuiltIn::DeviceIndex as u32;
            }
        }
        module
    }

    /// Returns this module with 64-bit indexing in all entry points.
    pub fn with_64_bit_indexing(&self) -> Self {
        let mut module = self.clone();
        let modes =
            self.entry_points.iter().map(|point| (point.function, ExecutionMode::Shader64BitIndexingEXT, vec![]));
        module.modes.extend(modes);
        module
    }

    /// Returns true for non-semantic instructions, which are dropped anywhere in the module.
    ///
    /// The specification allows them from the types on. Compilers also emit them between phis,
    /// between a merge instruction and its branch, and in front of a function's first block. They
    /// also appear between a terminator and the next label or the function's end. Only other
    /// non-semantic instructions may use their results. Source: SPIR-V specification, 2.4 and
    /// `SPV_KHR_non_semantic_info`.
    fn is_without_meaning(&self, inst: &Instruction) -> bool {
        matches!(inst.op, Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
            && inst.words.get(2).is_some_and(|set| self.non_semantic.contains(set))
    }

    fn global(&mut self, inst: Instruction) -> Result<()> {
        match inst.op {
            Op::ExtInstImport => {
                let (name, _) = inst.string(1)?;
                if name == "GLSL.std.450" {
                    self.glsl.insert(inst.word(0)?);
                } else if name.starts_with("NonSemantic.") || DEBUG_SETS.contains(&name.as_str()) {
                    self.non_semantic.insert(inst.word(0)?);
                }
            }
            Op::EntryPoint => self.entry_point(&inst)?,
            Op::ExecutionMode | Op::ExecutionModeId => {
                let mode = ExecutionMode::from_u32(inst.word(1)?);
                let mode = mode.ok_or(Error::Malformed("unknown execution mode"))?;
                self.modes.push((inst.word(0)?, mode, inst.rest(2).to_vec()));
            }
            Op::Capability => {
                check_capability(inst.word(0)?)?;
                self.capabilities.insert(inst.word(0)?);
            }
            Op::Decorate => self.decorate((inst.word(0)?, None), &inst, 1)?,
            Op::MemberDecorate => self.decorate((inst.word(0)?, Some(inst.word(1)?)), &inst, 2)?,
            Op::GroupDecorate => self.decorate_group(&inst, 1)?,
            Op::GroupMemberDecorate => self.decorate_group(&inst, 2)?,
            Op::Variable => {
                let class = storage_class(inst.word(2)?)?;
                self.variables.push((inst.word(1)?, inst.word(0)?, class, inst.words.get(3).copied()));
            }
            Op::UntypedVariableKHR => {
                let (pointer, id, class) = (inst.word(0)?, inst.word(1)?, storage_class(inst.word(2)?)?);
                self.data_types.insert(id, inst.word(3)?);
                self.variables.push((id, pointer, class, inst.words.get(4).copied()));
            }
            Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantCompositeReplicateEXT
            | Op::SpecConstantCompositeReplicateEXT
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef => self.constants.push(inst),
            _ => self.declare_type(&inst)?,
        }
        Ok(())
    }

    fn entry_point(&mut self, inst: &Instruction) -> Result<()> {
        let model = ExecutionModel::from_u32(inst.word(0)?).ok_or(Error::Malformed("unknown execution model"))?;
        let (name, next) = inst.string(2)?;
        self.entry_points.push(EntryPoint {
            model,
            function: inst.word(1)?,
            name,
            interface: inst.rest(next).to_vec(),
        });
        Ok(())
    }

    fn decorate(&mut self, target: (u32, Option<u32>), inst: &Instruction, at: usize) -> Result<()> {
        if let Some(decoration) = Decoration::from_u32(inst.word(at)?) {
            self.decorations.entry(target).or_default().push((decoration, inst.rest(at + 1).to_vec()));
        }
        Ok(())
    }

    /// Adds a group's decorations to its targets. These are ids, or with `width` 2 pairs of a
    /// structure and a member.
    fn decorate_group(&mut self, inst: &Instruction, width: usize) -> Result<()> {
        let group = self.decorations.get(&(inst.word(0)?, None)).cloned().unwrap_or_default();
        self.grouped += group.len().saturating_mul(inst.words.len());
        if self.grouped > MAX_GROUPED {
            return Err(Error::Unsupported("this many decorations".into()));
        }
        for target in inst.rest(1).chunks_exact(width) {
            let target = (target[0], target.get(1).copied());
            self.decorations.entry(target).or_default().extend(group.iter().cloned());
        }
        Ok(())
    }

    fn declare_type(&mut self, inst: &Instruction) -> Result<()> {
        let ty = match inst.op {
            Op::TypeVoid => Ty::Void,
            Op::TypeBool => Ty::Bool,
            Op::TypeInt | Op::TypeFloat => {
                let width = inst.word(1)?;
                if inst.op == Op::TypeInt && inst.word(2)? != 0 {
                    self.signed.insert(inst.word(0)?);
                }
                match (inst.op, width, inst.words.get(2)) {
                    (Op::TypeInt, 8 | 16 | 32 | 64, _) => Ty::Int(width),
                    (Op::TypeFloat, 16 | 32 | 64, None) => Ty::Float(width),
                    (Op::TypeFloat, 8 | 16, Some(&encoding)) => match Encoding::of_type(width, encoding) {
                        Some(encoding) => Ty::Encoded(encoding),
                        None => Ty::Unsupported(format!("{width}-bit floats of encoding {encoding}")),
                    },
                    _ => return Err(Error::Unsupported(format!("{width}-bit numbers"))),
                }
            }
            Op::TypeVector => Ty::Vector(inst.word(1)?, component_count(inst.word(2)?)?),
            Op::TypeMatrix => Ty::Matrix(inst.word(1)?, component_count(inst.word(2)?)?),
            Op::TypeCooperativeMatrixKHR => Ty::Cooperative(MatrixIds {
                component: inst.word(1)?,
                scope: inst.word(2)?,
                rows: inst.word(3)?,
                columns: inst.word(4)?,
                usage: inst.word(5)?,
            }),
            Op::TypeArray => Ty::Array(inst.word(1)?, inst.word(2)?),
            Op::TypeRuntimeArray => Ty::RuntimeArray(inst.word(1)?),
            Op::TypeStruct => Ty::Struct(inst.rest(1).to_vec()),
            Op::TypePointer => Ty::Pointer(storage_class(inst.word(1)?)?, inst.word(2)?),
            Op::TypeUntypedPointerKHR => Ty::UntypedPointer(storage_class(inst.word(1)?)?),
            Op::TypeImage => self.image_type(inst)?,
            Op::TypeSampler => Ty::Sampler,
            Op::TypeSampledImage => Ty::SampledImage(inst.word(1)?),
            Op::TypeFunction => Ty::Function,
            // Announces a pointer type that follows.
            Op::TypeForwardPointer => return Ok(()),
            op => match format!("{op:?}") {
                name if name.starts_with("Type") => Ty::Unsupported(name),
                _ => return Ok(()),
            },
        };
        // Valid modules only name earlier types, so that no type contains itself. This is not
        // checked here: code that walks types bounds the nesting, and does not follow pointers.
        self.types.insert(inst.word(0)?, ty);
        Ok(())
    }

    fn image_type(&self, inst: &Instruction) -> Result<Ty> {
        let dim = Dim::from_u32(inst.word(2)?).ok_or(Error::Malformed("unknown image dimension"))?;
        let texel = self.types.get(&inst.word(1)?);
        let (float, wide) = (matches!(texel, Some(Ty::Float(_))), matches!(texel, Some(Ty::Int(64))));
        Ok(Ty::Image(ImageType { dim, arrayed: inst.word(4)? != 0, multisampled: inst.word(5)? != 0, float, wide }))
    }

    fn in_function(&mut self, open: (u32, Function), inst: Instruction) -> Result<Option<(u32, Function)>> {
        let (id, mut function) = open;
        match inst.op {
            Op::FunctionEnd => {
                function.find_joins();
                self.functions.insert(id, function);
                return Ok(None);
            }
            Op::FunctionParameter => function.parameters.push(inst.word(1)?),
            Op::Label => {
                let label = inst.word(0)?;
                function.by_label.insert(label, function.blocks.len());
                function.blocks.push(Block { label, ..Block::default() });
            }
            // `OpNop` has no effect, so it may also appear outside of blocks.
            Op::Nop if function.blocks.last().is_none_or(Block::has_ended) => {}
            _ => {
                let block = function.blocks.last_mut().ok_or(Error::Malformed("an instruction outside of blocks"))?;
                match inst.op {
                    Op::SelectionMerge => block.merge = Some(inst.word(0)?),
                    Op::LoopMerge => (block.merge, block.continues) = (Some(inst.word(0)?), Some(inst.word(1)?)),
                    _ => block.insts.push(inst),
                }
            }
        }
        Ok(Some((id, function)))
    }

    pub(super) fn ty(&self, id: u32) -> Result<&Ty> {
        match self.types.get(&id) {
            Some(Ty::Unsupported(name)) => Err(Error::Unsupported(name.clone())),
            Some(ty) => Ok(ty),
            None => Err(Error::Malformed("an id is not a type")),
        }
    }

    /// Returns the operands of a decoration of `target`.
    pub(super) fn decoration(&self, target: (u32, Option<u32>), decoration: Decoration) -> Option<&[u32]> {
        let all = self.decorations.get(&target)?;
        all.iter().find(|(kind, _)| *kind == decoration).map(|(_, operands)| operands.as_slice())
    }

    /// Returns the first operand of a decoration.
    pub(super) fn decoration_word(&self, target: (u32, Option<u32>), decoration: Decoration) -> Option<u32> {
        self.decoration(target, decoration)?.first().copied()
    }

    pub(super) fn has(&self, target: (u32, Option<u32>), decoration: Decoration) -> bool {
        self.decoration(target, decoration).is_some()
    }

    /// Returns the literals or ids of an execution mode of an entry point's function.
    pub(super) fn mode(&self, function: u32, mode: ExecutionMode) -> Option<&[u32]> {
        self.modes.iter().find(|(f, m, _)| *f == function && *m == mode).map(|(_, _, literals)| literals.as_slice())
    }

    /// Returns true if the module declares a capability.
    pub(super) fn declares(&self, capability: Capability) -> bool {
        self.capabilities.contains(&(capability as u32))
    }

    /// Returns true for a type that is a signed integer.
    pub(super) fn is_signed(&self, ty: u32) -> bool {
        self.signed.contains(&ty)
    }

    /// Returns the type of a variable's data.
    pub(super) fn data_type(&self, variable: u32, pointer: u32) -> Result<u32> {
        match self.data_types.get(&variable) {
            Some(&ty) => Ok(ty),
            None => self.pointee(pointer).map(|(_, ty)| ty),
        }
    }

    /// Returns the storage class and the pointee of a pointer type.
    pub(super) fn pointee(&self, pointer: u32) -> Result<(StorageClass, u32)> {
        match self.ty(pointer)? {
            Ty::Pointer(class, pointee) => Ok((*class, *pointee)),
            _ => Err(Error::Malformed("not a pointer type")),
        }
    }
}

/// Returns true for instructions that end a block.
pub(super) fn is_terminator(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::Branch
            | O::BranchConditional
            | O::Switch
            | O::Return
            | O::ReturnValue
            | O::Kill
            | O::TerminateInvocation
            | O::EmitMeshTasksEXT
            | O::Unreachable
    )
}

fn component_count(count: u32) -> Result<u32> {
    if (2..=4).contains(&count) { Ok(count) } else { Err(Error::Malformed("a vector of more than 4 components")) }
}

fn storage_class(word: u32) -> Result<StorageClass> {
    StorageClass::from_u32(word).ok_or(Error::Malformed("unknown storage class"))
}

/// Numbers of supported capabilities that the crate `spirv` does not name: `AbortKHR` and
/// `ConstantDataKHR`.
const NEWEST_CAPABILITIES: [u32; 2] = [5120, 5146];

/// Refuses capabilities that are not supported, or whose absence would change results.
fn check_capability(word: u32) -> Result<()> {
    use Capability as C;
    if NEWEST_CAPABILITIES.contains(&word) {
        return Ok(());
    }
    let capability = C::from_u32(word).ok_or_else(|| Error::Unsupported(format!("capability {word}")))?;
    let refused = [
        C::Kernel,
        C::RoundingModeRTZ,
        C::Addresses,
        C::SparseResidency,
        C::MinLod,
        C::Float16Buffer,
        C::FragmentShaderShadingRateInterlockEXT,
        C::RayTracingKHR,
        C::RayQueryKHR,
    ];
    if refused.contains(&capability) {
        return Err(Error::Unsupported(format!("capability {capability:?}")));
    }
    Ok(())
}
