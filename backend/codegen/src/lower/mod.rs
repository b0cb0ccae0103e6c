//! Lowering: IR to machine IR.
//!
//! A value is held where its uses want it: constants nowhere (they are memory operands from the pool, or made anew), what
//! is uniform and an integer in a general register, booleans in masks, the rest in vectors. `classify` decides; `convert`
//! moves between the forms on demand. Words of locals become SSA variables, merged at the labels of `flow`.

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
mod memory;
mod narrow;
mod quads;
mod scalar;
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

use super::machine::{self, Kind, Mem};
use super::table::Compare;
use super::{CodegenOptions, Site, Target};
use crate::frame::{Frame, LANES_BYTES};

/// Instructions of IR beyond which a function is interpreted.
const MAX_INSTRUCTIONS: usize = 400_000;

/// The vector registers (or masks) that hold a wave: one, or two halves. What is uniform may be one for both halves.
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

    /// The register of a half.
    fn at(&self, part: usize) -> VReg {
        self.registers[part & 1]
    }
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueLocation {
    /// Not defined yet.
    Nowhere,
    /// A constant word.
    Constant(u32),
    /// The same word for all lanes, in a general register.
    Scalar(VReg),
    /// The same word for all lanes, in memory that nobody writes.
    Memory(Mem),
    /// A word per lane.
    Vector(WaveRegs),
    /// A bit per lane.
    Mask(WaveRegs),
    /// The low or the high word per lane of 64-bit numbers that registers hold whole, by their number.
    Half { of: u32, high: bool },
    /// A comparison of uniform values that only a branch wants: it is made there.
    Flags(Compare, Value, Value),
}

/// A lowered function.
pub struct Lowered {
    /// The machine IR.
    pub function: machine::Function,
    /// Call sites, by number.
    pub sites: Vec<Site>,
    /// Bytes of indexed locals.
    pub local_bytes: usize,
    /// Bytes of push constants that it reads without asking whether they are there.
    pub pushed_bytes: usize,
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
    /// Whether lanes become helpers on the way.
    demotes: bool,
    /// Position of the instruction that is being lowered.
    at: usize,
    out: machine::Function,
    /// The mask of all lanes, where they all run.
    all_lanes: Option<WaveRegs>,
    /// The block that is being filled; none where no lane comes.
    block: Option<Block>,
    values: Vec<ValueLocation>,
    wholes: Vec<wide::Whole>,
    variables: Variables,
    open: Vec<Open>,
    pool: HashMap<Vec<u8>, u32>,
    converted: convert::Cache,
    sites: Vec<Site>,
    /// Accesses of memory by address so far.
    reaches: u32,
    /// Bytes from the frame's start at which indexed locals lie.
    locals: Vec<usize>,
    local_bytes: usize,
    pushed_bytes: usize,
}

/// Lowers a function that `passes::prepare` made ready.
///
/// # Errors
/// When the function is beyond the generator.
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
        reaches: 0,
        locals: Vec::new(),
        local_bytes: 0,
        pushed_bytes: 0,
    };
    lower.start();
    for (at, inst) in ir.insts.iter().enumerate() {
        lower.at = at;
        lower.inst(inst)?;
    }
    if lower.block.is_some() {
        lower.push(Kind::Return);
    }
    let Lower { out: function, sites, local_bytes, pushed_bytes, .. } = lower;
    Ok(Lowered { function, sites, local_bytes, pushed_bytes })
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
        let active = self.start_mask(Frame::ACTIVE, Frame::ACTIVE_LANES);
        self.all_lanes = self.options.with_all_lanes.then_some(active);
        self.set_active(Some(active));
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        if self.marker(inst)? || self.block.is_none() {
            return Ok(());
        }
        match inst {
            Inst::Const { result, word } => self.hold(*result, ValueLocation::Constant(*word)),
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
            Inst::Demote => self.demote(),
            Inst::Barrier => self.push(Kind::Barrier),
            _ => self.access(inst)?,
        }
        Ok(())
    }

    fn hold(&mut self, value: Value, held: ValueLocation) {
        self.values[value.0 as usize] = held;
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.facts.values[value.0 as usize]
    }
}
