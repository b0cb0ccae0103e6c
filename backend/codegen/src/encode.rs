//! Encoder: turns machine IR and its register allocation into bytes.
//!
//! The result is the constant pool followed by the code. All addresses in it are relative, so it
//! may be placed anywhere and stored in a cache. The entry saves the host's registers that the
//! code uses and points r15 to the wave's frame. Spilled registers are in the frame too, so a
//! barrier can return to the host and continue later.

use iced_x86::{Code, Encoder, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Block, Edit, Inst, InstOrEdit, Output, PReg, RegClass};

use super::Target;
use super::allocate::{Allocatable, SLOT, implied, registers};
use super::machine::{Base, Function, MachineInst, Mem, Operand};
use super::operands::{self, OperandKind};
use crate::frame::{Frame, RoutineEntry, STOP_BARRIER, STOP_DONE};

/// Alignment of the code's first byte.
const ALIGN: usize = 64;

/// Position of a jump's 32-bit displacement and the jump's target.
struct Fixup {
    at: usize,
    to: JumpTarget,
}

/// Call site of a cold call, and the positions of its out-of-line part and of the next instruction.
struct ColdParts {
    site: u32,
    part: usize,
    behind: usize,
}

#[derive(Clone, Copy)]
enum JumpTarget {
    Block(Block),
    Epilogue,
    /// The out-of-line part of a back edge, by number.
    Expired(usize),
    /// The first instruction after a back edge, by number.
    Behind(usize),
    SaveAll,
    /// The out-of-line part of a cold call, by number.
    ColdCall(usize),
    /// The first instruction after a cold call, by number.
    BehindCold(usize),
    SaveAllForSite,
    /// A label within one instruction of the machine IR.
    Label(usize),
}

/// Encoded code.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// Constant pool and code.
    pub bytes: Vec<u8>,
    /// Offset of the entry in `bytes`.
    pub entry: usize,
    /// Size of the spill slots that a frame needs, in bytes.
    pub spill_bytes: usize,
}

struct Emitter<'a> {
    encoder: Encoder,
    target: Target,
    spills: usize,
    /// Registers of the host that the entry saves.
    saved: Vec<Register>,
    code: Vec<u8>,
    /// Number of bytes before the code.
    start: usize,
    fixups: Vec<Fixup>,
    blocks: Vec<usize>,
    behind: Vec<usize>,
    labels: Vec<usize>,
    expired: Vec<usize>,
    /// Call site of each cold call, and the positions of its parts.
    cold: Vec<ColdParts>,
    barriers: Vec<usize>,
    /// Positions of immediates that become a barrier's offset from the entry, each with the
    /// barrier's number.
    resumes: Vec<(usize, usize)>,
    input: &'a Allocatable<'a>,
    output: &'a Output,
}

type Result<T> = std::result::Result<T, String>;

/// Encodes an allocated function. `spills` is the offset of the spill slots in the frame, in
/// bytes.
///
/// # Errors
/// Returns an error if an instruction has no encoding, which is a defect of lowering.
pub fn encode(
    function: &Function,
    input: &Allocatable<'_>,
    output: &Output,
    target: Target,
    spills: usize,
) -> Result<Encoded> {
    let start = function.pool.len().next_multiple_of(ALIGN);
    let mut emitter = Emitter {
        encoder: Encoder::new(64),
        target,
        spills,
        saved: SAVED.into_iter().filter(|&register| register == Register::R15 || is_used(output, register)).collect(),
        code: Vec::new(),
        start,
        fixups: Vec::new(),
        blocks: vec![0; function.blocks.len()],
        behind: Vec::new(),
        labels: Vec::new(),
        expired: Vec::new(),
        cold: Vec::new(),
        barriers: Vec::new(),
        resumes: Vec::new(),
        input,
        output,
    };
    emitter.prologue(function)?;
    for block in 0..function.blocks.len() {
        emitter.block(Block::new(block))?;
    }
    let epilogue = emitter.epilogue()?;
    let save_all = [emitter.back_edges()?, emitter.cold_calls()?];
    emitter.apply_fixups(epilogue, save_all);
    let mut bytes = function.pool.clone();
    bytes.resize(start, 0);
    bytes.extend_from_slice(&emitter.code);
    Ok(Encoded { bytes, entry: start, spill_bytes: output.num_spillslots * SLOT })
}

/// Callee-saved registers of the System V calling convention.
const SAVED: [Register; 6] = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// Returns true if the allocated code uses a general register.
fn is_used(output: &Output, register: Register) -> bool {
    let is_it = |place: &Allocation| {
        let of = place.as_reg().filter(|of| of.class() == RegClass::Int);
        of.is_some_and(|of| Register::RAX + of.hw_enc() as u32 == register)
    };
    let moves = |(_, Edit::Move { from, to }): &(_, Edit)| is_it(from) || is_it(to);
    output.allocs.iter().any(is_it) || output.edits.iter().any(moves)
}

/// General registers that a call may overwrite.
const CALLER_SAVED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

fn frame_memory(offset: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::R15, offset as i64)
}

impl Emitter<'_> {
    fn emit(&mut self, inst: &Instruction) -> Result<()> {
        let at = (self.start + self.code.len()) as u64;
        self.encoder.encode(inst, at).map_err(|error| format!("{:?}: {error}", inst.code()))?;
        self.code.extend_from_slice(&self.encoder.take_buffer());
        Ok(())
    }

    fn with(&mut self, inst: std::result::Result<Instruction, iced_x86::IcedError>) -> Result<()> {
        self.emit(&inst.map_err(|error| error.to_string())?)
    }

    fn jump(&mut self, code: Code, to: JumpTarget) -> Result<()> {
        // `apply_fixups` sets the displacement when all positions are known. Until then the target
        // is this position.
        let position = (self.start + self.code.len()) as u64;
        self.with(Instruction::with_branch(code, position))?;
        self.fixups.push(Fixup { at: self.code.len() - 4, to });
        Ok(())
    }

    fn prologue(&mut self, function: &Function) -> Result<()> {
        for register in self.saved.clone() {
            self.with(Instruction::with1(Code::Push_r64, register))?;
        }
        if self.is_padded() {
            self.with(Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 8))?;
        }
        self.with(Instruction::with2(Code::Mov_r64_rm64, Register::R15, Register::RDI))?;
        let resumes = function.blocks.iter().flat_map(|block| &block.insts).any(|kind| *kind == MachineInst::Barrier);
        if resumes {
            // `resume` is the offset from the entry; 0 starts the program.
            self.with(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, frame_memory(Frame::RESUME)))?;
            self.with(Instruction::with2(Code::Test_rm64_r64, Register::RAX, Register::RAX))?;
            self.jump(Code::Je_rel32_64, JumpTarget::Block(Block::new(0)))?;
            let entry = MemoryOperand::with_base_displ(Register::RIP, self.start as i64);
            self.with(Instruction::with2(Code::Lea_r64_m, Register::RCX, entry))?;
            self.with(Instruction::with2(Code::Add_r64_rm64, Register::RAX, Register::RCX))?;
            self.with(Instruction::with1(Code::Jmp_rm64, Register::RAX))?;
        }
        Ok(())
    }

    /// Returns true if the stack needs 8 bytes of padding to be 16-byte aligned at calls. The
    /// return address counts as one more pushed register.
    fn is_padded(&self) -> bool {
        self.saved.len().is_multiple_of(2)
    }

    fn epilogue(&mut self) -> Result<usize> {
        let at = self.code.len();
        self.with(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        if self.is_padded() {
            self.with(Instruction::with2(Code::Add_rm64_imm8, Register::RSP, 8))?;
        }
        for register in self.saved.clone().into_iter().rev() {
            self.with(Instruction::with1(Code::Pop_r64, register))?;
        }
        self.with(Ok(Instruction::with(Code::Retnq)))?;
        Ok(at)
    }

    fn block(&mut self, block: Block) -> Result<()> {
        self.blocks[block.index()] = self.code.len();
        if self.is_skipped(block) {
            return Ok(());
        }
        let items: Vec<InstOrEdit<'_>> = self.output.block_insts_and_edits(self.input, block).collect();
        for item in items {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.r#move(*from, *to)?,
                InstOrEdit::Inst(inst) => self.inst(block, inst)?,
            }
        }
        Ok(())
    }

    fn inst(&mut self, block: Block, inst: Inst) -> Result<()> {
        match self.input.inst(inst) {
            plain @ MachineInst::Plain { .. } => self.plain(plain, self.output.inst_allocs(inst)),
            MachineInst::Call { site, routine } => self.call(*site, *routine),
            MachineInst::BackEdge { work } => self.back_edge(*work),
            MachineInst::ColdCall { site } => self.cold_call(*site),
            MachineInst::Barrier => self.barrier(),
            MachineInst::Jump { to, .. } => self.emit_jump(block, *to),
            MachineInst::Branch { code, then, otherwise } => {
                let then = self.final_target(*then);
                self.jump(*code, JumpTarget::Block(then))?;
                self.emit_jump(block, *otherwise)
            }
            MachineInst::Return => {
                self.stop(STOP_DONE)?;
                self.jump(Code::Jmp_rel32_64, JumpTarget::Epilogue)
            }
        }
    }

    /// Returns the target of a block that consists of a single jump.
    fn single_jump_target(&self, block: Block) -> Option<Block> {
        let Some(InstOrEdit::Inst(inst)) = self.output.block_insts_and_edits(self.input, block).next() else {
            return None;
        };
        if let MachineInst::Jump { to, .. } = self.input.inst(inst) { Some(*to) } else { None }
    }

    /// Returns the final target of a jump to `to`, following blocks that consist of a single jump.
    fn final_target(&self, mut to: Block) -> Block {
        for _ in 0..self.blocks.len() {
            match self.single_jump_target(to) {
                Some(next) => to = next,
                None => break,
            }
        }
        to
    }

    /// Returns true if no code reaches the block and it can be omitted. It must be a single jump
    /// that is not part of a cycle. The first block is never omitted, because the prologue falls
    /// through to it.
    fn is_skipped(&self, block: Block) -> bool {
        block.index() > 0
            && self.single_jump_target(block).is_some()
            && self.single_jump_target(self.final_target(block)).is_none()
    }

    /// Emits a jump from `from` to `to`, unless the code falls through to the target.
    fn emit_jump(&mut self, from: Block, to: Block) -> Result<()> {
        let to = self.final_target(to);
        let follows = to.index() > from.index()
            && (from.index() + 1..to.index()).all(|between| self.is_skipped(Block::new(between)));
        if follows { Ok(()) } else { self.jump(Code::Jmp_rel32_64, JumpTarget::Block(to)) }
    }

    fn stop(&mut self, how: u32) -> Result<()> {
        self.with(Instruction::with2(Code::Mov_rm32_imm32, frame_memory(Frame::STOPPED), how))
    }

    fn call(&mut self, site: u32, routine: Option<u32>) -> Result<()> {
        let [by_runtime, end] = [0, 1].map(|label| JumpTarget::Label(self.labels.len() + label));
        self.labels.extend([0; 2]);
        if let Some(routine) = routine {
            self.enter_routine(routine, by_runtime)?;
            self.jump(Code::Jmp_rel32_64, end)?;
            self.bind_label(by_runtime);
        }
        self.with(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        self.with(Instruction::with2(Code::Mov_r64_rm64, Register::RDI, Register::R15))?;
        self.with(Instruction::with2(Code::Mov_r32_imm32, Register::ESI, site))?;
        self.with(Instruction::with1(Code::Call_rm64, frame_memory(Frame::CALL)))?;
        self.bind_label(end);
        Ok(())
    }

    /// Enters the routine of an image instruction, or jumps to `otherwise` if it has not been
    /// found yet. The routine's frame already holds its active lanes.
    fn enter_routine(&mut self, number: u32, otherwise: JumpTarget) -> Result<()> {
        use Register::{R15, RAX, RCX, RDI, XMM0};
        let at = |base, offset: usize| MemoryOperand::with_base_displ(base, offset as i64);
        let entry = |field: usize| at(RAX, number as usize * RoutineEntry::BYTES + field);
        for (register, memory) in [(RAX, at(R15, Frame::ROUTINES)), (RCX, entry(RoutineEntry::CODE))] {
            self.with(Instruction::with2(Code::Mov_r64_rm64, register, memory))?;
            self.with(Instruction::with2(Code::Test_rm64_r64, register, register))?;
            self.jump(Code::Je_rel32_64, otherwise)?;
        }
        self.with(Instruction::with2(Code::Mov_r64_rm64, RDI, at(R15, Frame::NESTED)))?;
        self.with(Instruction::with2(Code::VEX_Vmovups_xmm_xmmm128, XMM0, entry(RoutineEntry::PUSH)))?;
        self.with(Instruction::with2(Code::VEX_Vmovups_xmmm128_xmm, at(RDI, Frame::PUSH), XMM0))?;
        self.with(Instruction::with2(Code::Mov_r64_rm64, RAX, entry(RoutineEntry::RESOURCES)))?;
        self.with(Instruction::with2(Code::Mov_rm64_r64, at(RDI, Frame::RESOURCES), RAX))?;
        self.with(Instruction::with1(Code::Call_rm64, RCX))
    }

    /// Binds a label to the current position.
    fn bind_label(&mut self, label: JumpTarget) {
        if let JumpTarget::Label(number) = label {
            self.labels[number] = self.code.len();
        }
    }

    fn back_edge(&mut self, work: u32) -> Result<()> {
        let code = if work < 128 { Code::Sub_rm32_imm8 } else { Code::Sub_rm32_imm32 };
        self.with(Instruction::with2(code, frame_memory(Frame::EDGES), work as i32))?;
        self.jump(Code::Js_rel32_64, JumpTarget::Expired(self.behind.len()))?;
        self.behind.push(self.code.len());
        Ok(())
    }

    fn cold_call(&mut self, site: u32) -> Result<()> {
        self.jump(Code::Jae_rel32_64, JumpTarget::ColdCall(self.cold.len()))?;
        self.cold.push(ColdParts { site, part: 0, behind: self.code.len() });
        Ok(())
    }

    /// Emits the out-of-line parts of cold calls and the stub that calls the runtime and preserves
    /// all registers. Returns the position of the stub.
    fn cold_calls(&mut self) -> Result<usize> {
        for number in 0..self.cold.len() {
            self.cold[number].part = self.code.len();
            let site = self.cold[number].site;
            self.with(Instruction::with2(Code::Mov_rm32_imm32, frame_memory(Frame::COLD_SITE), site))?;
            self.jump(Code::Call_rel32_64, JumpTarget::SaveAllForSite)?;
            // The carry flag stays clear for the instructions that follow.
            self.with(Ok(Instruction::with(Code::Clc)))?;
            self.jump(Code::Jmp_rel32_64, JumpTarget::BehindCold(number))?;
        }
        let stub = self.code.len();
        if !self.cold.is_empty() {
            self.save_all(Frame::CALL)?;
        }
        Ok(stub)
    }

    fn barrier(&mut self) -> Result<()> {
        self.with(Instruction::with2(Code::Mov_rm64_imm32, frame_memory(Frame::RESUME), 0))?;
        self.resumes.push((self.code.len() - 4, self.barriers.len()));
        self.stop(STOP_BARRIER)?;
        self.jump(Code::Jmp_rel32_64, JumpTarget::Epilogue)?;
        self.barriers.push(self.code.len());
        Ok(())
    }

    /// Emits the out-of-line parts of back edges and the stub that calls the runtime and preserves
    /// all registers. Returns the position of the stub.
    fn back_edges(&mut self) -> Result<usize> {
        for number in 0..self.behind.len() {
            self.expired.push(self.code.len());
            self.jump(Code::Call_rel32_64, JumpTarget::SaveAll)?;
            self.with(Instruction::with2(Code::Cmp_rm32_imm8, frame_memory(Frame::EXPIRED), 0))?;
            self.jump(Code::Je_rel32_64, JumpTarget::Behind(number))?;
            self.jump(Code::Jmp_rel32_64, JumpTarget::Epilogue)?;
        }
        let stub = self.code.len();
        if !self.behind.is_empty() {
            self.save_all(Frame::CHECK)?;
        }
        Ok(stub)
    }

    /// Emits a stub that saves all registers, calls the runtime's function in a field of the frame,
    /// and restores the registers.
    fn save_all(&mut self, function: usize) -> Result<()> {
        let vectors = self.target.vector_count();
        let bytes = self.target.vector_bytes();
        let masks = if self.target == Target::Avx512 { 8 } else { 0 };
        let area = (vectors * bytes + masks * SLOT).next_multiple_of(16) as i32;
        let vector = |index: usize| self.target.vector(index);
        let slot = |index: usize| MemoryOperand::with_base_displ(Register::RSP, (index * bytes) as i64);
        let mask_slot =
            |index: usize| MemoryOperand::with_base_displ(Register::RSP, (vectors * bytes + index * SLOT) as i64);
        let (load, store) = (self.target.load(), self.target.store());
        let mut insts = Vec::new();
        insts.extend(CALLER_SAVED.map(|register| Instruction::with1(Code::Push_r64, register)));
        insts.push(Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, area));
        insts.extend((0..vectors).map(|index| Instruction::with2(store, slot(index), vector(index))));
        insts
            .extend((0..masks).map(|index| {
                Instruction::with2(Code::VEX_Kmovw_m16_kr, mask_slot(index), Register::K0 + index as u32)
            }));
        insts.push(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        insts.push(Instruction::with2(Code::Mov_r64_rm64, Register::RDI, Register::R15));
        insts.push(Instruction::with2(Code::Mov_r32_rm32, Register::ESI, frame_memory(Frame::COLD_SITE)));
        insts.push(Instruction::with1(Code::Call_rm64, frame_memory(function)));
        insts.extend((0..vectors).map(|index| Instruction::with2(load, vector(index), slot(index))));
        insts.extend(
            (0..masks).map(|index| {
                Instruction::with2(Code::VEX_Kmovw_kr_km16, Register::K0 + index as u32, mask_slot(index))
            }),
        );
        insts.push(Instruction::with2(Code::Add_rm64_imm32, Register::RSP, area));
        insts.extend(CALLER_SAVED.into_iter().rev().map(|register| Instruction::with1(Code::Pop_r64, register)));
        insts.push(Ok(Instruction::with(Code::Retnq)));
        insts.into_iter().try_for_each(|inst| self.with(inst))
    }

    fn apply_fixups(&mut self, epilogue: usize, [save_all, save_all_for_site]: [usize; 2]) {
        for fixup in &self.fixups {
            let to = match fixup.to {
                JumpTarget::Block(block) => self.blocks[block.index()],
                JumpTarget::Epilogue => epilogue,
                JumpTarget::Expired(number) => self.expired[number],
                JumpTarget::Behind(number) => self.behind[number],
                JumpTarget::SaveAll => save_all,
                JumpTarget::ColdCall(number) => self.cold[number].part,
                JumpTarget::BehindCold(number) => self.cold[number].behind,
                JumpTarget::SaveAllForSite => save_all_for_site,
                JumpTarget::Label(number) => self.labels[number],
            };
            let distance = to as i64 - (fixup.at as i64 + 4);
            self.code[fixup.at..fixup.at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        for &(at, barrier) in &self.resumes {
            let offset = self.barriers[barrier] as u32;
            self.code[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        }
    }

    fn slot(&self, allocation: Allocation) -> Option<MemoryOperand> {
        allocation.as_stack().map(|slot| frame_memory(self.spills + slot.index() * SLOT))
    }

    fn r#move(&mut self, from: Allocation, to: Allocation) -> Result<()> {
        let inst = match (from.as_reg(), to.as_reg()) {
            (Some(source), Some(target)) => {
                let code = match source.class() {
                    RegClass::Int => Code::Mov_r64_rm64,
                    RegClass::Float => Code::VEX_Kmovw_kr_km16,
                    RegClass::Vector => self.target.r#move(),
                };
                Instruction::with2(code, self.whole(target), self.whole(source))
            }
            (Some(source), None) => {
                let code = match source.class() {
                    RegClass::Int => Code::Mov_rm64_r64,
                    RegClass::Float => Code::VEX_Kmovw_m16_kr,
                    RegClass::Vector => self.target.store(),
                };
                let slot = self.slot(to).ok_or("a move to nowhere")?;
                Instruction::with2(code, slot, self.whole(source))
            }
            (None, Some(target)) => {
                let code = match target.class() {
                    RegClass::Int => Code::Mov_r64_rm64,
                    RegClass::Float => Code::VEX_Kmovw_kr_km16,
                    RegClass::Vector => self.target.load(),
                };
                let slot = self.slot(from).ok_or("a move from nowhere")?;
                Instruction::with2(code, self.whole(target), slot)
            }
            (None, None) => return Err("a move from memory to memory".into()),
        };
        self.with(inst)
    }

    /// Returns the full-width register of an allocation.
    fn whole(&self, register: PReg) -> Register {
        let number = register.hw_enc() as u32;
        match register.class() {
            RegClass::Int => Register::RAX + number,
            RegClass::Float => Register::K0 + number,
            RegClass::Vector => self.target.vector(number as usize),
        }
    }

    fn plain(&mut self, plain: &MachineInst, allocations: &[Allocation]) -> Result<()> {
        let MachineInst::Plain { code, operands, mask } = plain else { return Ok(()) };
        let mut assigned = Vec::with_capacity(allocations.len());
        let mut next = allocations.iter();
        registers(plain, |operand| {
            let allocation = next.next();
            // Both virtual registers of a change share one physical register.
            if matches!(operand, Operand::Change { .. }) {
                next.next();
            }
            assigned.push(allocation.and_then(|allocation| allocation.as_reg()));
        });
        let mut assigned = assigned.into_iter().map(|register| register.ok_or("an operand without a register"));
        let mut inst = Instruction::default();
        inst.set_code(*code);
        // These instructions occur only as atomic operations.
        inst.set_has_lock_prefix(matches!(code, Code::Xadd_rm32_r32 | Code::Cmpxchg_rm32_r32));
        let kinds = operands::kinds(*code);
        for (index, operand) in operands.iter().enumerate() {
            if implied(*code) == Some(index) {
                assigned.next();
                continue;
            }
            let kind = *kinds.get(index).ok_or("an operand too many")?;
            let index = index as u32;
            match operand {
                Operand::Imm(value) => set_immediate(&mut inst, index, kind, *value),
                Operand::Mem(memory) => self.set_memory(&mut inst, index, (memory, kind), &mut assigned)?,
                _ => {
                    let register = assigned.next().ok_or("too few registers")??;
                    set_register(&mut inst, index, kind.register(register.hw_enc() as u32));
                }
            }
        }
        if let Some(mask) = mask {
            let register = assigned.next().ok_or("too few registers")??;
            inst.set_op_mask(Register::K0 + register.hw_enc() as u32);
            inst.set_zeroing_masking(mask.zeroing);
        }
        self.emit(&inst)
    }

    fn set_memory(
        &self,
        inst: &mut Instruction,
        index: u32,
        (memory, kind): (&Mem, OperandKind),
        assigned: &mut impl Iterator<Item = std::result::Result<PReg, &'static str>>,
    ) -> Result<()> {
        inst.set_op_kind(index, OpKind::Memory);
        inst.set_memory_displ_size(1);
        inst.set_memory_displacement64(i64::from(memory.displacement) as u64);
        match memory.base {
            Base::Frame => inst.set_memory_base(Register::R15),
            Base::Pool => {
                inst.set_memory_base(Register::RIP);
                inst.set_memory_displ_size(8);
            }
            Base::Register(_) => {
                let base = assigned.next().ok_or("too few registers")??;
                inst.set_memory_base(Register::RAX + base.hw_enc() as u32);
            }
        }
        if let Some((_, scale)) = memory.index {
            let register = assigned.next().ok_or("too few registers")??.hw_enc() as u32;
            inst.set_memory_index(kind.index() + register);
            inst.set_memory_index_scale(scale);
        }
        inst.set_is_broadcast(memory.broadcast);
        Ok(())
    }
}

fn set_register(inst: &mut Instruction, index: u32, register: Register) {
    inst.set_op_kind(index, OpKind::Register);
    inst.set_op_register(index, register);
}

fn set_immediate(inst: &mut Instruction, index: u32, kind: OperandKind, value: i32) {
    let OperandKind::Immediate(op_kind) = kind else { return };
    inst.set_op_kind(index, op_kind);
    inst.set_immediate_i32(index, value);
}
