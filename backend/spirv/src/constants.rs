//! Constants, specialization constants, and constant folding of `OpSpecConstantOp`. A constant is
//! a list of flattened scalars. Each one is in the representation of the IR, extended to 64 bits.

use std::cell::RefCell;

use foldhash::{HashMap, HashSet};
use spirv::{Decoration, Op, Scope, StorageClass};
use vitric_base::host_memory;
use vitric_base::simd::WAVE;
use vitric_ir::{BLOCK, Builder, Type, Value, elementary};

use super::module::{MAX_FLAT_WORDS, MAX_WORDS, MatrixIds, MatrixType, MatrixUse, Module, Ty};
use super::number::{self, Number, NumberTypes};
use super::parse::Instruction;
use super::usage::Usage;
use super::{Error, Result, Specialization};

/// Maximum number of scalars of all constants of a program: 128 MiB.
const MAX_TOTAL: usize = 1 << 24;

/// Maximum number of rows and of columns of a cooperative matrix.
const MAX_MATRIX: u32 = 64;

/// Scalars of each constant, with its type.
#[derive(Debug, Default)]
pub(super) struct Constants {
    values: HashMap<u32, (u32, Vec<u64>)>,
    /// Number of scalars of queried types. Each is computed once, even if types share parts.
    sizes: RefCell<HashMap<u32, u32>>,
    /// For each queried type, true if it has 64-bit scalars.
    wide: RefCell<HashMap<u32, bool>>,
    /// Maximum nesting of types.
    max_nesting: u32,
    /// Types of floats whose denormals operations flush.
    flushed: Vec<Number>,
}

impl Constants {
    /// Evaluates the constants of a module. Constants that may be large are evaluated only if the
    /// program uses them. Operations flush denormals of the types in `flushed`.
    pub(super) fn new(
        module: &Module,
        specialization: &Specialization,
        usage: &Usage,
        (max_nesting, flushed): (u32, Vec<Number>),
    ) -> Result<Self> {
        let mut constants = Self { max_nesting, flushed, ..Self::default() };
        let mut total = 0;
        let used = used_composites(module, usage);
        for inst in &module.constants {
            let (ty, id) = (inst.word(0)?, inst.word(1)?);
            if may_be_large(module, inst) && !used.contains(&id) {
                continue;
            }
            let size = constants.words(module, ty)? as usize;
            if total + size > MAX_TOTAL {
                return Err(Error::Unsupported("this many constants".into()));
            }
            // The memory of the constant and of the table that it becomes.
            if size > 1 << 16 && !host_memory::has_room(size * (size_of::<u64>() + size_of::<u32>())) {
                return Err(Error::OutOfMemory);
            }
            let words = constants.evaluate(module, inst, ty, id, specialization)?;
            if words.len() != size {
                return Err(Error::Malformed("a constant of another type"));
            }
            total += size;
            constants.values.insert(id, (ty, words));
        }
        Ok(constants)
    }

    /// Returns the type and the scalars of a constant.
    pub(super) fn get(&self, id: u32) -> Option<(u32, &[u64])> {
        self.values.get(&id).map(|(ty, words)| (*ty, words.as_slice()))
    }

    /// Returns true if operations flush denormals of a type.
    pub(super) fn flushes(&self, number: Number) -> bool {
        self.flushed.contains(&number)
    }

    /// Returns true if operations flush denormals of any type.
    pub(super) fn has_flushes(&self) -> bool {
        !self.flushed.is_empty()
    }

    /// Returns the low dword of a scalar constant.
    pub(super) fn scalar(&self, id: u32) -> Option<u32> {
        self.get(id)?.1.first().map(|&word| word as u32)
    }

    fn evaluate(
        &self,
        module: &Module,
        inst: &Instruction,
        ty: u32,
        id: u32,
        specialization: &Specialization,
    ) -> Result<Vec<u64>> {
        let special = module.decoration_word((id, None), Decoration::SpecId);
        let given = special.and_then(|special| specialization.iter().find(|(id, _)| *id == special));
        let given = given.map(|(_, word)| *word);
        match inst.op {
            Op::ConstantTrue => Ok(vec![1]),
            Op::ConstantFalse => Ok(vec![0]),
            Op::SpecConstantTrue => Ok(vec![given.map_or(1, |word| u64::from(word != 0))]),
            Op::SpecConstantFalse => Ok(vec![given.map_or(0, |word| u64::from(word != 0))]),
            Op::Constant | Op::SpecConstant if matches!(module.ty(ty)?, Ty::Array(..)) => {
                self.data(module, ty, inst.rest(2), special.map(|special| (special, specialization)))
            }
            Op::Constant | Op::SpecConstant => {
                let literal = u64::from(inst.word(2)?) | u64::from(inst.words.get(3).copied().unwrap_or(0)) << 32;
                Ok(vec![Number::of(module, ty)?.canonical(given.unwrap_or(literal))])
            }
            Op::ConstantComposite | Op::SpecConstantComposite if matches!(module.ty(ty)?, Ty::Cooperative(_)) => {
                Ok(self.composite(&[inst.word(2)?])?.repeat(self.words(module, ty)? as usize))
            }
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite(inst.rest(2)),
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let part = self.composite(&[inst.word(2)?])?;
                let count = self.words(module, ty)? as usize / part.len().max(1);
                // An empty part is not repeated, so a type without scalars has bounded work too.
                Ok(part.repeat(if part.is_empty() { 0 } else { count }))
            }
            Op::SpecConstantOp => self.operation(module, inst, ty),
            _ => Ok(vec![0; self.words(module, ty)? as usize]),
        }
    }

    /// Returns the elements of an array of integers that are packed in words, or in the values of a
    /// specialization.
    fn data(
        &self,
        module: &Module,
        ty: u32,
        words: &[u32],
        special: Option<(u32, &Specialization)>,
    ) -> Result<Vec<u64>> {
        let &Ty::Array(element, length) = module.ty(ty)? else { return Err(Error::Malformed("data of no array")) };
        let &Ty::Int(bits) = module.ty(element)? else { return Err(Error::Malformed("data that are not integers")) };
        let number = Number::of(module, element)?;
        let own = || words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let given = special.map_or_else(Vec::new, |(special, values)| {
            let values = values.iter().filter(|(id, _)| *id == special);
            values.flat_map(|(_, value)| value.to_le_bytes()).collect()
        });
        let bytes = if given.is_empty() { own() } else { given };
        let (width, count) = (bits as usize / 8, self.length(length)? as usize);
        if bytes.len() / width < count {
            return Err(Error::Malformed("fewer data than elements"));
        }
        let value = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        Ok(bytes.chunks_exact(width).take(count).map(|bytes| number.canonical(value(bytes))).collect())
    }

    fn composite(&self, parts: &[u32]) -> Result<Vec<u64>> {
        let mut out = Vec::new();
        for &part in parts {
            out.extend_from_slice(self.get(part).ok_or(Error::Malformed("a constant of something else"))?.1);
            if out.len() > MAX_TOTAL {
                return Err(Error::Unsupported("a constant this large".into()));
            }
        }
        Ok(out)
    }

    fn operation(&self, module: &Module, inst: &Instruction, ty: u32) -> Result<Vec<u64>> {
        let op = Op::from_u32(inst.word(2)?).ok_or(Error::Malformed("unknown operation"))?;
        let operand = |index: usize| {
            let id = inst.word(index)?;
            self.get(id).map(|(_, words)| words).ok_or(Error::Malformed("an operand is not constant"))
        };
        match op {
            Op::CooperativeMatrixLengthKHR => Ok(vec![self.words(module, inst.word(3)?)?.into()]),
            Op::CompositeExtract => {
                let (ty, words) = self.get(inst.word(3)?).ok_or(Error::Malformed("an operand is not constant"))?;
                let (first, part) = self.part(module, ty, inst.rest(4))?;
                let count = self.words(module, part)?;
                slice(words, first, count).map(<[u64]>::to_vec)
            }
            Op::CompositeInsert => {
                let (ty, words) = self.get(inst.word(4)?).ok_or(Error::Malformed("an operand is not constant"))?;
                let (first, object) = (self.part(module, ty, inst.rest(5))?.0, operand(3)?);
                slice(words, first, object.len() as u32)?;
                let mut out = words.to_vec();
                out[first as usize..first as usize + object.len()].copy_from_slice(object);
                Ok(out)
            }
            Op::VectorShuffle => {
                let both = [operand(3)?, operand(4)?].concat();
                inst.rest(5).iter().map(|&index| Ok(both.get(index as usize).copied().unwrap_or(0))).collect()
            }
            Op::Select => {
                let (conditions, yes, no) = (operand(3)?, operand(4)?, operand(5)?);
                let choose = |(at, (&yes, &no)): (usize, (&u64, &u64))| {
                    let condition = conditions.get(if conditions.len() > 1 { at } else { 0 }).copied();
                    if condition.unwrap_or(0) != 0 { yes } else { no }
                };
                Ok(yes.iter().zip(no).enumerate().map(choose).collect())
            }
            _ => {
                let count = self.words(module, ty)? as usize;
                let typed = |index| {
                    let (ty, words) =
                        self.get(inst.word(index)?).ok_or(Error::Malformed("an operand is not constant"))?;
                    Ok((Number::of(module, ty)?, words))
                };
                let operands: Vec<(Number, &[u64])> = (3..inst.words.len()).map(typed).collect::<Result<_>>()?;
                let to = Number::of(module, ty)?;
                let is_flushed = |number| number::is_flushing(op) && self.flushes(number);
                (0..count).map(|index| fold(op, &operands, index, (to, &is_flushed))).collect()
            }
        }
    }

    /// Returns the number of scalars of a type.
    pub(super) fn words(&self, module: &Module, ty: u32) -> Result<u32> {
        self.words_nested(module, ty, 0)
    }

    fn words_nested(&self, module: &Module, ty: u32, nesting: u32) -> Result<u32> {
        if nesting > self.max_nesting {
            return Err(Error::Deep("types"));
        }
        if let Some(&words) = self.sizes.borrow().get(&ty) {
            return Ok(words);
        }
        let inner = |ty: u32| self.words_nested(module, ty, nesting + 1);
        let words = match module.ty(ty)? {
            Ty::Bool | Ty::Int(_) | Ty::Float(_) | Ty::Encoded(_) => 1,
            Ty::Pointer(class, _) | Ty::UntypedPointer(class) if is_value(*class) => 1,
            Ty::Vector(part, count) | Ty::Matrix(part, count) => u64::from(inner(*part)?) * u64::from(*count),
            Ty::Cooperative(matrix) => {
                let MatrixType { rows, columns, .. } = self.matrix(module, *matrix)?;
                u64::from(rows * columns / WAVE as u32)
            }
            Ty::Array(part, length) => u64::from(inner(*part)?) * u64::from(self.length(*length)?),
            Ty::Struct(parts) => parts.iter().map(|&part| inner(part).map(u64::from)).sum::<Result<u64>>()?,
            _ => 0,
        };
        if words > u64::from(MAX_WORDS) {
            return Err(Error::Unsupported("a value this large".into()));
        }
        self.sizes.borrow_mut().insert(ty, words as u32);
        Ok(words as u32)
    }

    /// Returns the number of scalars of a type whose values are flattened, and checks its limit.
    pub(super) fn flat_words(&self, module: &Module, ty: u32) -> Result<u32> {
        match self.words(module, ty)? {
            words if words > MAX_FLAT_WORDS => Err(Error::Unsupported(format!("{words} words as one value"))),
            words => Ok(words),
        }
    }

    /// Returns true if a type has 64-bit scalars.
    pub(super) fn has_wide(&self, module: &Module, ty: u32) -> Result<bool> {
        // Check the size first. It bounds the nesting and skips empty structures.
        if self.words(module, ty)? == 0 {
            return Ok(false);
        }
        if let Some(&wide) = self.wide.borrow().get(&ty) {
            return Ok(wide);
        }
        let wide = match module.ty(ty)? {
            Ty::Cooperative(_) => false,
            Ty::Vector(part, _) | Ty::Matrix(part, _) | Ty::Array(part, _) => self.has_wide(module, *part)?,
            Ty::Struct(parts) => {
                parts.iter().try_fold(false, |wide, &part| Ok::<_, Error>(wide || self.has_wide(module, part)?))?
            }
            _ => Number::of(module, ty)?.bytes() == 8,
        };
        self.wide.borrow_mut().insert(ty, wide);
        Ok(wide)
    }

    /// Returns the shape of a type of cooperative matrices, and checks that it is supported.
    pub(super) fn matrix(&self, module: &Module, ids: MatrixIds) -> Result<MatrixType> {
        let constant = |id| self.scalar(id).ok_or(Error::Malformed("a matrix whose shape is not constant"));
        let (rows, columns) = (constant(ids.rows)?, constant(ids.columns)?);
        let fits = |size: u32| size.is_multiple_of(BLOCK as u32) && (1..=MAX_MATRIX).contains(&size);
        if !fits(rows) || !fits(columns) {
            return Err(Error::Unsupported(format!("cooperative matrices of {rows} rows and {columns} columns")));
        }
        let scope = Scope::from_u32(constant(ids.scope)?);
        if scope != Some(Scope::Subgroup) {
            return Err(Error::Unsupported(format!("cooperative matrices of scope {scope:?}")));
        }
        match module.ty(ids.component)? {
            Ty::Int(8 | 32) | Ty::Float(16 | 32) | Ty::Encoded(_) => {}
            other => return Err(Error::Unsupported(format!("cooperative matrices of {other:?}"))),
        }
        let usage = match constant(ids.usage)? {
            0 => MatrixUse::Left,
            1 => MatrixUse::Right,
            2 => MatrixUse::Sum,
            _ => return Err(Error::Malformed("an unknown use of a matrix")),
        };
        Ok(MatrixType { rows, columns, usage })
    }

    /// Returns the length of an array from the id of its length.
    pub(super) fn length(&self, id: u32) -> Result<u32> {
        self.scalar(id).ok_or(Error::Malformed("an array's length is not constant"))
    }

    /// Returns the first scalar and the type of the part of a composite that literal indices name.
    pub(super) fn part(&self, module: &Module, ty: u32, indices: &[u32]) -> Result<(u32, u32)> {
        let (mut first, mut ty) = (0, ty);
        for &index in indices {
            let (offset, part) = self.member(module, ty, index)?;
            first += offset;
            ty = part;
        }
        Ok((first, ty))
    }

    /// Returns the first scalar and the type of member `index` of a composite.
    pub(super) fn member(&self, module: &Module, ty: u32, index: u32) -> Result<(u32, u32)> {
        let out_of_range = Error::Malformed("an index is out of range");
        match module.ty(ty)? {
            Ty::Vector(part, count) | Ty::Matrix(part, count) if index < *count => {
                Ok((index * self.words(module, *part)?, *part))
            }
            Ty::Cooperative(matrix) if index < self.words(module, ty)? => Ok((index, matrix.component)),
            Ty::Array(part, length) if index < self.length(*length)? => Ok((index * self.words(module, *part)?, *part)),
            Ty::Struct(parts) => {
                let part = *parts.get(index as usize).ok_or(out_of_range)?;
                let before = parts[..index as usize].iter().map(|&part| self.words(module, part));
                Ok((before.sum::<Result<u32>>()?, part))
            }
            _ => Err(out_of_range),
        }
    }
}

/// Returns true for a constant that may have many scalars.
fn may_be_large(module: &Module, inst: &Instruction) -> bool {
    inst.words.first().is_some_and(|ty| matches!(module.ty(*ty), Ok(Ty::Array(..) | Ty::Struct(_))))
}

/// Returns the constants that a program names, uses as initializers, or uses as parts of other
/// constants.
fn used_composites(module: &Module, usage: &Usage) -> HashSet<u32> {
    let is_used = |id: u32, class: StorageClass| usage.mentions(id) || class == StorageClass::Output;
    let variables = module.variables.iter().filter(|(id, _, class, _)| is_used(*id, *class));
    let mut used: HashSet<u32> = variables.filter_map(|(_, _, _, initializer)| *initializer).collect();
    // Constants follow their parts, so the reverse order visits a constant before its parts.
    for inst in module.constants.iter().rev() {
        let Some(&id) = inst.words.get(1) else { continue };
        if !may_be_large(module, inst) || used.contains(&id) || usage.mentions(id) {
            used.insert(id);
            used.extend(inst.rest(2));
        }
    }
    used
}

/// Returns true if pointers of a storage class are values.
pub(super) fn is_value(class: StorageClass) -> bool {
    use StorageClass as S;
    matches!(class, S::PhysicalStorageBuffer | S::StorageBuffer | S::Workgroup)
}

/// Returns `count` scalars of a value from scalar `first` on.
pub(super) fn slice<T>(words: &[T], first: u32, count: u32) -> Result<&[T]> {
    let range = first as usize..first as usize + count as usize;
    words.get(range).ok_or(Error::Malformed("a composite is smaller than its type"))
}

/// Evaluates component `index` of an operation on constants. Denormals of the types for which
/// `is_flushed` returns true become zeros.
fn fold(
    op: Op,
    operands: &[(Number, &[u64])],
    index: usize,
    (to, is_flushed): (Number, &dyn Fn(Number) -> bool),
) -> Result<u64> {
    let flush = |word, number| if is_flushed(number) { number::flushed_constant(word, number) } else { word };
    let component = |&(number, words): &(Number, &[u64])| {
        let word = words.get(index).or(words.first()).copied();
        word.map(|word| (flush(word, number), number.ir())).ok_or(Error::Malformed("an empty constant"))
    };
    let from = operands.first().map_or(to, |(number, _)| *number);
    let operands: Vec<(u64, Type)> = operands.iter().map(component).collect::<Result<_>>()?;
    let types = NumberTypes { from, to };
    let known = |builder: &mut Builder, values: &[Value]| match op {
        Op::Bitcast => Ok(number::bitcast(builder, &values[..1], types, 1)[0]),
        _ => number::component(builder, op, values, types, false),
    };
    elementary::evaluate(&operands, known).map(|word| flush(word, to))
}
