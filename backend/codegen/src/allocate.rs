//! Register allocation: the machine IR in the form that regalloc2 requires.

use iced_x86::Code;
use regalloc2::{
    Algorithm, Block, Inst, InstRange, MachineEnv, Operand as AllocOperand, Output, PReg, PRegSet, RegClass,
    RegallocOptions, VReg,
};

use super::Target;
use super::machine::{Base, Function, MASK, MachineInst, Mem, Operand, SCALAR, VECTOR};

/// Size of a spill slot in bytes.
pub const SLOT: usize = 8;

/// Numbers of the registers that are not allocated: r15, which points to the wave's frame, and
/// rsp.
const FRAME: usize = 15;
const STACK: usize = 4;

/// The general register rax.
const RAX: PReg = PReg::new(0, SCALAR);

/// Numbers of the allocatable general registers that a call preserves: rbx, rbp, r12, r13 and r14.
const CALLEE_SAVED: [usize; 5] = [3, 5, 12, 13, 14];

/// Machine IR with the tables that regalloc2 queries.
pub struct Allocatable<'a> {
    function: &'a Function,
    target: Target,
    insts: Vec<&'a MachineInst>,
    ranges: Vec<InstRange>,
    operands: Vec<Vec<AllocOperand>>,
    successors: Vec<Vec<Block>>,
    predecessors: Vec<Vec<Block>>,
    all: PRegSet,
    call: PRegSet,
}

/// Calls `visit` with the registers of an instruction, in the order of their allocations.
pub fn registers(inst: &MachineInst, mut visit: impl FnMut(Operand)) {
    let MachineInst::Plain { operands, mask, .. } = inst else { return };
    for operand in operands.iter().copied().chain(mask.map(|mask| mask.register)) {
        match operand {
            Operand::Imm(_) => {}
            Operand::Mem(Mem { base, index, .. }) => {
                if let Base::Register(register) = base {
                    visit(Operand::Use(register));
                }
                if let Some((register, _)) = index {
                    visit(Operand::Use(register));
                }
            }
            register => visit(register),
        }
    }
}

/// Returns the index of the operand that is implicitly rax and is not part of the encoding.
pub fn implied(code: Code) -> Option<usize> {
    (code == Code::Cmpxchg_rm32_r32).then_some(2)
}

fn alloc_operands(inst: &MachineInst) -> Vec<AllocOperand> {
    let mut out = Vec::new();
    let is_implied = matches!(inst, MachineInst::Plain { code, .. } if implied(*code).is_some());
    registers(inst, |operand| match operand {
        // Only the implicit operand is of this kind in such an instruction.
        Operand::Change { from, to } if is_implied => {
            out.push(AllocOperand::reg_fixed_use(from, RAX));
            out.push(AllocOperand::reg_fixed_def(to, RAX));
        }
        Operand::Use(register) => out.push(AllocOperand::reg_use(register)),
        Operand::Def(register) => out.push(AllocOperand::reg_def(register)),
        Operand::Change { from, to } => {
            out.push(AllocOperand::reg_use(from));
            out.push(AllocOperand::reg_reuse_def(to, out.len() - 1));
        }
        Operand::Imm(_) | Operand::Mem(_) => {}
    });
    out
}

fn successors(inst: Option<&&MachineInst>) -> Vec<Block> {
    match inst {
        Some(MachineInst::Jump { to, .. }) => vec![*to],
        Some(MachineInst::Branch { then, otherwise, .. }) => vec![*then, *otherwise],
        _ => Vec::new(),
    }
}

impl<'a> Allocatable<'a> {
    /// Builds the tables for a function.
    pub fn new(function: &'a Function, target: Target) -> Self {
        let mut insts: Vec<&MachineInst> = Vec::new();
        let mut ranges = Vec::new();
        for block in &function.blocks {
            let first = Inst::new(insts.len());
            insts.extend(&block.insts);
            ranges.push(InstRange::new(first, Inst::new(insts.len())));
        }
        let successors: Vec<Vec<Block>> =
            ranges.iter().map(|range| successors(insts.get(range.last().index()))).collect();
        let mut predecessors = vec![Vec::new(); function.blocks.len()];
        for (block, successors) in successors.iter().enumerate() {
            successors.iter().for_each(|to| predecessors[to.index()].push(Block::new(block)));
        }
        let operands = insts.iter().map(|kind| alloc_operands(kind)).collect();
        let all = allocatable(target);
        let mut call = all;
        CALLEE_SAVED.iter().for_each(|&kept| call.remove(PReg::new(kept, SCALAR)));
        Self { function, target, insts, ranges, operands, successors, predecessors, all, call }
    }

    /// Allocates registers.
    ///
    /// # Errors
    /// Returns an error if the function violates a rule of the machine IR, which is a defect of
    /// lowering.
    pub fn run(&self, algorithm: Algorithm) -> Result<Output, String> {
        let options = RegallocOptions { algorithm, validate_ssa: cfg!(debug_assertions), ..RegallocOptions::default() };
        regalloc2::run(self, &self.environment(), &options).map_err(|error| format!("{error:?}"))
    }

    /// Returns the registers of the target and the order of preference.
    ///
    /// The entry saves each callee-saved register that the code uses. Code without calls therefore
    /// prefers the other registers. Code with calls treats all registers alike, so the allocator
    /// keeps values in callee-saved registers across calls.
    pub fn environment(&self) -> MachineEnv {
        let mut preferred = [SCALAR, MASK, VECTOR].map(|class| class_registers(self.target, class));
        let mut others = [PRegSet::empty(); 3];
        if !self.insts.iter().any(|kind| matches!(kind, MachineInst::Call { .. })) {
            for kept in CALLEE_SAVED.map(|kept| PReg::new(kept, SCALAR)) {
                preferred[0].remove(kept);
                others[0].add(kept);
            }
        }
        MachineEnv {
            preferred_regs_by_class: preferred,
            non_preferred_regs_by_class: others,
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        }
    }

    /// Returns the instruction with a number.
    pub fn inst(&self, inst: Inst) -> &'a MachineInst {
        self.insts[inst.index()]
    }
}

fn class_registers(target: Target, class: RegClass) -> PRegSet {
    let numbers: Vec<usize> = match (class, target) {
        (RegClass::Int, _) => (0..16).filter(|&number| number != FRAME && number != STACK).collect(),
        (RegClass::Float, Target::Avx512) => (1..8).collect(),
        (RegClass::Float, Target::Avx2) => Vec::new(),
        (RegClass::Vector, Target::Avx512) => (0..32).collect(),
        (RegClass::Vector, Target::Avx2) => (0..16).collect(),
    };
    numbers.into_iter().fold(PRegSet::empty(), |set, number| set.with(PReg::new(number, class)))
}

fn allocatable(target: Target) -> PRegSet {
    let mut all = PRegSet::empty();
    [SCALAR, MASK, VECTOR].into_iter().for_each(|class| all.union_from(class_registers(target, class)));
    all
}

impl regalloc2::Function for Allocatable<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.successors[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.predecessors[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.function.blocks[block.index()].parameters
    }

    fn is_ret(&self, inst: Inst) -> bool {
        matches!(self.inst(inst), MachineInst::Return)
    }

    fn is_branch(&self, inst: Inst) -> bool {
        matches!(self.inst(inst), MachineInst::Jump { .. } | MachineInst::Branch { .. })
    }

    fn branch_blockparams(&self, _block: Block, inst: Inst, _successor: usize) -> &[VReg] {
        match self.inst(inst) {
            MachineInst::Jump { arguments, .. } => arguments,
            _ => &[],
        }
    }

    fn inst_operands(&self, inst: Inst) -> &[AllocOperand] {
        &self.operands[inst.index()]
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        match self.inst(inst) {
            MachineInst::Call { .. } => self.call,
            // After a barrier the host restores only the frame.
            MachineInst::Barrier => self.all,
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.function.registers
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Int | RegClass::Float => 1,
            RegClass::Vector => self.target.vector_bytes() / SLOT,
        }
    }
}
