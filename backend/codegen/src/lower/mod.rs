//! Lowering of IR to machine IR.
//!
//! `classify` chooses the location of each value by its uses. Constants have no register: they are
//! memory operands in the pool or are materialized per use. Uniform integers are in general
//! registers, booleans in masks, other values in vectors. `convert` moves values between these
//! forms on demand. Dwords of locals become SSA variables, which are merged at the labels of
//! `flow`.

mod across;
mod address;
mod arithmetic;
mod atomics;
mod calls;
mod classify;
mod convert;
mod division;
mod emit;
mod flow;
mod flush;
mod matrix;
mod memory;
mod narrow;
mod quads;
mod scalar;
mod strips;
mod tables;
mod texels;
mod variables;
mod wide;
mod wide_division;

use classify::Forms;
use flow::Open;
use foldhash::HashMap;
use regalloc2::{Block, VReg};
use variables::Variables;
use vitric_ir::passes::uniformity::{Uniformity, Words};
use vitric_ir::{Function, Inst, Regions, Value};

use super::machine::{self, MachineInst, Mem};
use super::table::Compare;
use super::{CodegenOptions, ScatteredLoads, Site, Target};
use crate::frame::{Frame, LANES_BYTES};

/// Maximum number of IR instructions; larger functions are interpreted.
const MAX_INSTRUCTIONS: usize = 400_000;

/// Vector or mask registers of a wave: one, or one per half. A uniform value may use one register
/// for both halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveRegs {
    registers: [VReg; 2],
    count: usize,
}

impl WaveRegs {
    fn one(register: VReg) -> Self {
        Self { registers: [register; 2], count: 1 }
    }

    fn new(registers: &[VReg]) -> Self {
        match registers {
            [low, high] => Self { registers: [*low, *high], count: 2 },
            rest => Self::one(rest[0]),
        }
    }

    /// Returns the register of a half.
    fn at(&self, part: usize) -> VReg {
        self.registers[part & 1]
    }
}

/// Location of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueLocation {
    /// Not defined yet.
    Nowhere,
    /// A constant dword.
    Constant(u32),
    /// A uniform dword in a general register.
    Scalar(VReg),
    /// A uniform dword in read-only memory.
    Memory(Mem),
    /// A dword per lane.
    Vector(WaveRegs),
    /// A bit per lane.
    Mask(WaveRegs),
    /// The low or high dwords of 64-bit numbers that are in registers as a whole. `of` indexes
    /// `Lower::wholes`.
    Half { of: u32, high: bool },
    /// A comparison of uniform values that only a branch uses. The branch emits it.
    Flags(Compare, Value, Value),
}

/// Lowered function.
pub struct Lowered {
    /// Machine IR.
    pub function: machine::Function,
    /// Call sites, by number.
    pub sites: Vec<Site>,
    /// Size of the indexed locals in bytes.
    pub local_bytes: usize,
    /// Number of bytes of push constants that the code reads without a bounds check.
    pub pushed_bytes: usize,
    /// True if the code accesses far resources.
    pub is_far: bool,
}

type Result<T> = std::result::Result<T, String>;

struct Lower<'a> {
    ir: &'a Function,
    facts: &'a Uniformity,
    options: CodegenOptions,
    target: Target,
    regions: Regions,
    words: Words,
    forms: Forms,
    /// True if the program can turn lanes into helpers.
    demotes: bool,
    /// Index of the current instruction.
    at: usize,
    out: machine::Function,
    /// Mask of all lanes, if all of them run from the start.
    all_lanes: Option<WaveRegs>,
    /// Current block; `None` in unreachable code.
    block: Option<Block>,
    values: Vec<ValueLocation>,
    wholes: Vec<wide::WideRegs>,
    variables: Variables,
    open: Vec<Open>,
    pool: HashMap<Vec<u8>, u32>,
    converted: convert::Cache,
    sites: Vec<Site>,
    /// Number of memory accesses by address so far.
    cached_ranges: u32,
    /// Far resources in the order of their first access.
    far_resources: Vec<u32>,
    /// Offsets of the indexed locals from the start of the frame, in bytes.
    locals: Vec<usize>,
    local_bytes: usize,
    pushed_bytes: usize,
    /// Offset from the start of the frame of the memory for factors of products of matrices, in
    /// bytes.
    scratch: usize,
    /// Left and right factor in this memory.
    stored_factors: [matrix::StoredFactor; 2],
}

/// Lowers a function that `passes::prepare` prepared.
///
/// # Errors
/// Returns an error if the generator does not support the function.
pub fn lower(ir: &Function, facts: &Uniformity, options: CodegenOptions, target: Target) -> Result<Lowered> {
    if ir.insts.len() > MAX_INSTRUCTIONS {
        return Err(format!("{} instructions", ir.insts.len()));
    }
    let (regions, words) = (Regions::new(ir), Words::new(ir));
    let forms = classify::run(ir, facts, &words);
    let variables = Variables::new(words.count, regions.list.len());
    let mut lower = Lower {
        ir,
        facts,
        options,
        target,
        regions,
        words,
        forms,
        demotes: ir.insts.contains(&Inst::Demote),
        at: 0,
        out: machine::Function::default(),
        all_lanes: None,
        block: None,
        values: vec![ValueLocation::Nowhere; ir.types.len()],
        wholes: Vec::new(),
        variables,
        open: Vec::new(),
        pool: HashMap::default(),
        converted: convert::Cache::default(),
        sites: Vec::new(),
        cached_ranges: 0,
        far_resources: Vec::new(),
        locals: Vec::new(),
        local_bytes: 0,
        pushed_bytes: 0,
        scratch: 0,
        stored_factors: Default::default(),
    };
    lower.start();
    for (at, inst) in ir.insts.iter().enumerate() {
        lower.at = at;
        lower.inst(inst)?;
    }
    if lower.block.is_some() {
        lower.push(MachineInst::Return);
    }
    let is_far = !lower.far_resources.is_empty();
    let Lower { out: function, sites, local_bytes, pushed_bytes, .. } = lower;
    Ok(Lowered { function, sites, local_bytes, pushed_bytes, is_far })
}

impl Lower<'_> {
    fn start(&mut self) {
        let entry = self.out.block();
        self.block = Some(entry);
        for (local, &words) in self.ir.locals.iter().enumerate() {
            self.locals.push(Frame::BYTES + self.local_bytes);
            if self.words.is_indexed(local as u32) {
                self.local_bytes += words as usize * LANES_BYTES;
            }
        }
        self.scratch = Frame::BYTES + self.local_bytes;
        if self.ir.insts.iter().any(|inst| matches!(inst, Inst::MatrixMultiply(_))) {
            self.local_bytes += matrix::SCRATCH_BYTES;
        }
        let active = self.start_mask(Frame::ACTIVE, Frame::ACTIVE_LANES);
        self.all_lanes = self.options.with_all_lanes.then_some(active);
        self.set_active(Some(active));
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        if self.marker(inst)? {
            // Another path may have stored other factors.
            self.stored_factors = Default::default();
            return Ok(());
        }
        if self.block.is_none() {
            return Ok(());
        }
        match inst {
            Inst::Const { result, word } => self.set_location(*result, ValueLocation::Constant(*word)),
            Inst::Unary { result, op, a } => self.unary(*result, *op, *a)?,
            Inst::Binary { result, op, a, b } => self.binary(*result, *op, *a, *b)?,
            Inst::Ternary { result, op, a, b, c } => self.ternary(*result, *op, [*a, *b, *c]),
            Inst::LocalLoad { .. } | Inst::LocalStore { .. } | Inst::TableLoad { .. } => self.local(inst)?,
            Inst::Input { result, slot } | Inst::Interpolate { result, slot, .. } => self.input(*result, *slot),
            Inst::Parameter { result, word, of } => self.parameter(*result, *word, *of),
            Inst::Output { slot, value } => self.output(*slot, *value),
            Inst::IsHelper { result } => self.is_helper(*result),
            Inst::Lane { .. } | Inst::IsActive { .. } | Inst::Ballot { .. } | Inst::Shuffle { .. } => {
                self.cross_lane(inst)
            }
            Inst::Wide(wide) if self.wide(wide) => {}
            Inst::MatrixLoad(load) => self.load_matrix(inst, load)?,
            Inst::MatrixStore(store) => self.store_matrix(inst, store)?,
            Inst::MatrixMultiply(product) => self.multiply_matrices(product)?,
            Inst::Demote => self.demote(),
            Inst::Barrier => self.push(MachineInst::Barrier),
            _ => self.access(inst)?,
        }
        Ok(())
    }

    fn set_location(&mut self, value: Value, location: ValueLocation) {
        self.values[value.0 as usize] = location;
    }

    /// Returns true if scattered dwords are loaded one by one instead of with a gather instruction.
    fn loads_by_lane(&self) -> bool {
        match self.options.scattered {
            ScatteredLoads::OfMachine => self.target.loads_by_lane(),
            ScatteredLoads::Gather => self.target == Target::Avx2,
            ScatteredLoads::ByLane => true,
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.facts.values[value.0 as usize]
    }
}
