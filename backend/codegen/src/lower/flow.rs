//! Control flow: lowers regions to blocks and lane masks, and merges variables where edges join.
//!
//! A uniform `If` is a branch. A divergent `If` runs each half under its mask, and branches over a
//! half without active lanes unless the half is short. A `Break` or `Continue` of all present
//! lanes is a jump. One that splits the wave moves its lanes to a mask, which joins the active
//! lanes again at the region's end or continue block. A loop runs while a lane is active.
//!
//! Every edge to a label records the variables that it has written since the region began. If the
//! edges differ in a variable, the label's block gets parameters.

use iced_x86::Code;
use regalloc2::{Block, VReg};
use vitric_ir::{Inst, Region, Value};

use super::super::machine::{MASK, MachineInst, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{self, V};
use super::classify::Form;
use super::variables::{Content, Variable, Variables};
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::{Frame, MIN_ITERATION_WORK};

/// Approximate work of an image access, in instructions.
const IMAGE_WORK: u32 = 64;

/// Maximum work that one loop iteration counts for, in instructions.
const MAX_ITERATION_WORK: u32 = 1 << 24;

/// Maximum number of instructions of a divergent half that runs without a branch over it.
const MAX_BRANCHLESS: u32 = 10;

/// Edge to a label.
#[derive(Debug)]
struct Edge {
    /// Block whose last instruction is the jump to the label.
    from: Block,
    /// Variables that were written since the region began, with their content.
    written: Vec<(Variable, Content)>,
}

/// Join point of several edges.
#[derive(Debug, Default)]
pub struct Label {
    edges: Vec<Edge>,
}

/// Region that is being lowered.
#[derive(Debug)]
pub struct Open {
    region: u32,
    /// Marks of variables and conversions at the region's start.
    written: usize,
    converted: usize,
    /// Lanes that were active at the region's start.
    entered: Content,
    /// Lanes of the other half, in a divergent `If`.
    other: Content,
    /// Label of the other half or of the continue block.
    middle: Label,
    end: Label,
    /// Header of a loop with its carried variables, and the marks after the header.
    header: Option<(Block, Vec<Variable>)>,
    header_written: usize,
    header_converted: usize,
    /// True after the `Else` or `Continuing`.
    in_second: bool,
}

impl Lower<'_> {
    /// Lowers a region marker or jump. Returns false for every other instruction.
    pub(super) fn marker(&mut self, inst: &Inst) -> Result<bool> {
        match inst {
            Inst::If { condition } => self.begin_if(*condition),
            Inst::Block => self.begin_block(),
            Inst::Loop => self.begin_loop(),
            Inst::Else => self.middle_of_if(),
            Inst::Continuing => self.continuing(),
            Inst::EndIf => self.end_if(),
            Inst::EndBlock => self.end_block(),
            Inst::EndLoop => self.end_loop(),
            Inst::Break { depth } => self.leave(*depth, false),
            Inst::Continue { depth } => self.leave(*depth, true),
            Inst::Kill => self.kill(),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the active lanes.
    pub(super) fn active(&self) -> Content {
        self.variables.get(self.variables.active())
    }

    pub(super) fn set_active(&mut self, lanes: Content) {
        self.variables.set(self.variables.active(), lanes);
    }

    fn open(&mut self) -> usize {
        let region = self.regions.of[self.at];
        self.open.push(Open {
            region,
            written: self.variables.mark(),
            converted: self.converted.mark(),
            entered: self.active(),
            other: None,
            middle: Label::default(),
            end: Label::default(),
            header: None,
            header_written: 0,
            header_converted: 0,
            in_second: false,
        });
        self.open.len() - 1
    }

    fn innermost(&mut self) -> &mut Open {
        // The verifier has checked that markers nest.
        self.open.last_mut().expect("an open region")
    }

    /// Returns true if some lanes of a region may leave for a target outside of it while others
    /// stay.
    fn loses_lanes(&self, region: u32) -> bool {
        self.facts.loses_lanes[region as usize]
    }

    fn splits(&self, region: u32) -> bool {
        self.facts.splits[region as usize]
    }

    // ---- labels --------------------------------------------------------------------------------

    /// Jumps to a label of the open region `open`.
    fn jump_label(&mut self, open: usize, to_middle: bool) {
        let Some(from) = self.block.take() else { return };
        self.out.blocks[from.index()].insts.push(MachineInst::Jump { to: Block::new(0), arguments: Vec::new() });
        let is_continue = to_middle && self.open[open].header.is_some();
        let mark = if is_continue { self.open[open].header_written } else { self.open[open].written };
        let written = self.variables.written(mark);
        let label = if to_middle { &mut self.open[open].middle } else { &mut self.open[open].end };
        label.edges.push(Edge { from, written });
    }

    /// Branches to a new block if `code` jumps, and lowering continues there. Otherwise the branch
    /// goes to a label.
    fn branch_or_label(&mut self, code: Code, open: usize, to_middle: bool) {
        let (then, otherwise) = (self.out.block(), self.out.block());
        self.push(MachineInst::Branch { code, then, otherwise });
        self.block = Some(otherwise);
        self.jump_label(open, to_middle);
        self.block = Some(then);
    }

    /// Binds a label and continues where its edges join. Restores variables to their content at
    /// the marks. Then sets each changed variable to the common content of the edges or to a
    /// parameter.
    fn bind(&mut self, label: Label, region: u32, (written, converted): (usize, usize)) {
        self.variables.undo(written);
        self.converted.forget(converted);
        if label.edges.is_empty() {
            self.block = None;
            return;
        }
        let block = self.out.block();
        let mut changed: Vec<Variable> =
            label.edges.iter().flat_map(|edge| edge.written.iter().map(|(variable, _)| *variable)).collect();
        changed.sort_unstable();
        changed.dedup();
        let mut arguments: Vec<Vec<VReg>> = vec![Vec::new(); label.edges.len()];
        for variable in changed {
            if self.is_dead(variable, region) {
                continue;
            }
            let before = self.variables.get(variable);
            let contents: Vec<Content> = label.edges.iter().map(|edge| content_on(edge, variable, before)).collect();
            let merged = if contents.iter().all(|content| *content == contents[0]) {
                contents[0]
            } else {
                Some(self.merge(block, variable, &contents, (&label, &mut arguments)))
            };
            self.variables.set(variable, merged);
        }
        for (edge, arguments) in label.edges.iter().zip(arguments) {
            self.finish_jump(edge.from, block, arguments);
        }
        self.block = Some(block);
    }

    /// Adds the parameters of a block for a variable, with an argument on each edge.
    fn merge(
        &mut self,
        block: Block,
        variable: Variable,
        contents: &[Content],
        (label, arguments): (&Label, &mut [Vec<VReg>]),
    ) -> WaveRegs {
        for ((content, edge), arguments) in contents.iter().zip(&label.edges).zip(arguments) {
            let parts = self.materialise(edge.from, variable, *content);
            arguments.extend((0..self.width(variable)).map(|part| parts.at(part)));
        }
        self.block_parameter(block, variable)
    }

    /// Adds new parameters to a block for a variable.
    fn block_parameter(&mut self, block: Block, variable: Variable) -> WaveRegs {
        let class = match self.form(variable) {
            Form::Scalar => SCALAR,
            Form::Vector => VECTOR,
            Form::Mask => self.mask_class(),
        };
        let registers: Vec<VReg> = (0..self.width(variable)).map(|_| self.out.register(class)).collect();
        self.out.blocks[block.index()].parameters.extend(&registers);
        WaveRegs::new(&registers)
    }

    /// Returns the number of registers of a variable.
    fn width(&self, variable: Variable) -> usize {
        let uniform = self.variables.as_word(variable).is_some_and(|word| self.facts.words[word as usize]);
        if uniform || self.form(variable) == Form::Scalar { 1 } else { self.target.parts() }
    }

    fn form(&self, variable: Variable) -> Form {
        self.variables.as_word(variable).map_or(Form::Mask, |word| self.forms.words[word as usize])
    }

    /// Returns the content of a variable in registers. A zero is materialized at the end of
    /// `block`, in front of its jump.
    fn materialise(&mut self, block: Block, variable: Variable, content: Content) -> WaveRegs {
        if let Some(parts) = content {
            return parts;
        }
        let last = self.out.blocks[block.index()].insts.pop();
        let here = self.block.replace(block);
        let zero = match self.form(variable) {
            Form::Scalar => WaveRegs::one(self.scalar_constant(0)),
            Form::Vector => self.zero_vector(),
            Form::Mask => self.constant_mask(false),
        };
        self.block = here;
        self.out.blocks[block.index()].insts.extend(last);
        zero
    }

    fn finish_jump(&mut self, from: Block, block: Block, with: Vec<VReg>) {
        if let Some(MachineInst::Jump { to, arguments }) = self.out.blocks[from.index()].insts.last_mut() {
            *to = block;
            *arguments = with;
        }
    }

    /// Returns true if no code after a region needs a variable.
    fn is_dead(&self, variable: Variable, region: u32) -> bool {
        if let Some(word) = self.variables.as_word(variable) {
            return !self.facts.is_live(&self.regions, word, self.at as u32, region);
        }
        let Some(about) = self.variables.as_region(variable) else { return false };
        let whole = self.regions.get(region);
        if about == region { whole.is_target() && self.at as u32 == whole.end } else { self.is_within(about, region) }
    }

    // ---- masks ---------------------------------------------------------------------------------

    /// Loads a mask from the frame: from offset `bits` with AVX-512, from offset `lanes` with
    /// AVX2.
    pub(super) fn start_mask(&mut self, bits: usize, lanes: usize) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let class = self.mask_class();
                WaveRegs::one(self.define(class, Code::VEX_Kmovw_kr_km16, &[Operand::Mem(Mem::frame(bits))]))
            }
            Target::Avx2 => self.parts(2, |lower, part| {
                let memory = Operand::Mem(Mem::frame(lanes + part * 32));
                lower.define(VECTOR, Code::VEX_Vmovups_ymm_ymmm256, &[memory])
            }),
        }
    }

    fn mask2(&mut self, code: Code, wide: V, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let class = self.mask_class();
                WaveRegs::one(self.define(class, code, &[Operand::Use(a.at(0)), Operand::Use(b.at(0))]))
            }
            Target::Avx2 => self.vector2(wide, a, b),
        }
    }

    pub(super) fn mask_and(&mut self, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        self.mask2(Code::VEX_Kandw_kr_kr_kr, V::And, a, b)
    }

    /// Returns the lanes of `b` that are not in `a`.
    pub(super) fn mask_and_not(&mut self, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        self.mask2(Code::VEX_Kandnw_kr_kr_kr, V::AndNot, a, b)
    }

    pub(super) fn mask_or(&mut self, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        self.mask2(Code::VEX_Korw_kr_kr_kr, V::Or, a, b)
    }

    pub(super) fn mask_xor(&mut self, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        self.mask2(Code::VEX_Kxorw_kr_kr_kr, V::Xor, a, b)
    }

    /// Returns the lanes that are not in a mask.
    pub(super) fn mask_not(&mut self, mask: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => WaveRegs::one(self.define(MASK, Code::VEX_Knotw_kr_kr, &[Operand::Use(mask.at(0))])),
            Target::Avx2 => {
                let all = self.constant_mask(true);
                self.mask_xor(mask, all)
            }
        }
    }

    /// Sets the flags so that `jne` jumps if the mask has any lane.
    pub(super) fn test_mask(&mut self, mask: WaveRegs) {
        match self.target {
            Target::Avx512 => {
                let register = Operand::Use(mask.at(0));
                self.plain(Code::VEX_Kortestw_kr_kr, &[register, register]);
            }
            Target::Avx2 => {
                let any = if mask.count == 2 {
                    self.define(VECTOR, V::Or.code(self.target), &[Operand::Use(mask.at(0)), Operand::Use(mask.at(1))])
                } else {
                    mask.at(0)
                };
                self.plain(Code::VEX_Vptest_ymm_ymmm256, &[Operand::Use(any), Operand::Use(any)]);
            }
        }
    }

    /// Returns the union of two sets of lanes, each of which may be empty.
    fn union(&mut self, a: Content, b: Content) -> Content {
        match (a, b) {
            (Some(a), Some(b)) if a == b => Some(a),
            (Some(a), Some(b)) => Some(self.mask_or(a, b)),
            (some, None) | (None, some) => some,
        }
    }

    /// Returns the active lanes in registers.
    pub(super) fn active_mask(&mut self) -> WaveRegs {
        match self.active() {
            Some(parts) => parts,
            None => self.constant_mask(false),
        }
    }

    /// Returns a mask as bits in a general register.
    pub(super) fn mask_bits(&mut self, mask: WaveRegs) -> VReg {
        match self.target {
            Target::Avx512 => self.define(SCALAR, Code::VEX_Kmovw_r32_kr, &[Operand::Use(mask.at(0))]),
            Target::Avx2 => {
                let low = self.define(SCALAR, Code::VEX_Vmovmskps_r32_ymm, &[Operand::Use(mask.at(0))]);
                let high = self.define(SCALAR, Code::VEX_Vmovmskps_r32_ymm, &[Operand::Use(mask.at(1))]);
                let high = self.change(Code::Shl_rm32_imm8, high, &[Operand::Imm(8)]);
                self.change(Code::Or_r32_rm32, low, &[Operand::Use(high)])
            }
        }
    }

    // ---- regions -------------------------------------------------------------------------------

    fn begin_if(&mut self, condition: Value) {
        let open = self.open();
        if self.block.is_none() {
            return;
        }
        let region = self.open[open].region;
        if !self.splits(region) {
            let code = self.test_uniform(condition);
            self.branch_or_label(code, open, true);
            return;
        }
        let condition = self.mask(condition);
        let active = self.active_mask();
        let taken = if self.all_lanes == Some(active) { condition } else { self.mask_and(active, condition) };
        let &Region { start, middle, end, .. } = self.regions.get(region);
        // The lanes of the second half matter only if the `If` has one, or if lanes can leave the
        // first half.
        let is_asked = middle != end || self.loses_lanes(region);
        self.open[open].other = Some(if is_asked { self.mask_and_not(condition, active) } else { active });
        if self.loses_lanes(region) {
            self.variables.set(self.variables.left_lanes(region), Some(taken));
        }
        if !self.is_short(start, middle) {
            self.test_mask(taken);
            self.branch_or_label(Code::Jne_rel32_64, open, true);
        }
        self.set_active(Some(taken));
    }

    /// Sets the flags by a uniform condition. Returns the conditional jump that is taken
    /// if the condition holds.
    fn test_uniform(&mut self, condition: Value) -> Code {
        match self.values[condition.0 as usize] {
            ValueLocation::Flags(compare, a, b) => {
                self.set_flags(a, b);
                return table::jump(compare);
            }
            ValueLocation::Mask(mask) => self.test_mask(mask),
            _ => {
                let register = Operand::Use(self.scalar(condition));
                self.plain(Code::Test_rm32_r32, &[register, register]);
            }
        }
        Code::Jne_rel32_64
    }

    /// Returns true if the instructions between two markers cost less than a branch.
    fn is_short(&self, start: u32, end: u32) -> bool {
        let cheap = |inst: &Inst| {
            matches!(
                inst,
                Inst::Const { .. }
                    | Inst::Unary { .. }
                    | Inst::Binary { .. }
                    | Inst::Ternary { .. }
                    | Inst::LocalLoad { index: None, .. }
                    | Inst::LocalStore { index: None, .. }
                    | Inst::Input { .. }
                    | Inst::Parameter { of: None, .. }
                    | Inst::Break { .. }
                    | Inst::Continue { .. }
            )
        };
        end - start <= MAX_BRANCHLESS && self.ir.insts[start as usize + 1..end as usize].iter().all(cheap)
    }

    /// Ends the first half of an `If`.
    fn middle_of_if(&mut self) {
        let open = self.open.len() - 1;
        let (region, other, entered) = (self.open[open].region, self.open[open].other, self.open[open].entered);
        let divergent = other.is_some();
        if self.block.is_some() && divergent {
            if self.loses_lanes(region) {
                // The lanes that remain in the first half wait for the end of the region.
                self.variables.set(self.variables.left_lanes(region), self.active());
            }
            self.set_active(entered);
        }
        let (middle, end) = (self.regions.get(region).middle, self.regions.get(region).end);
        // After a divergent first half, control continues with the second half. After a uniform
        // one, it continues at the end.
        self.jump_label(open, divergent || middle == end);
        let open = self.innermost();
        open.in_second = true;
        let (label, marks) = (std::mem::take(&mut open.middle), (open.written, open.converted));
        self.bind(label, region, marks);
        if !divergent || self.block.is_none() {
            return;
        }
        self.set_active(other);
        if middle == end {
            self.rejoin(region, entered);
        } else if !self.is_short(middle, end) {
            let other = self.active_mask();
            self.test_mask(other);
            let open = self.open.len() - 1;
            self.branch_or_label(Code::Jne_rel32_64, open, false);
        }
    }

    /// Activates the lanes of both halves.
    fn rejoin(&mut self, region: u32, entered: Content) {
        let lanes = if self.loses_lanes(region) {
            let left_lanes = self.variables.get(self.variables.left_lanes(region));
            self.union(left_lanes, self.active())
        } else {
            entered
        };
        self.set_active(lanes);
    }

    fn end_if(&mut self) {
        let number = self.open.len() - 1;
        if !self.innermost().in_second {
            self.middle_of_if();
            self.open.pop();
            return;
        }
        self.jump_label(number, false);
        let Some(open) = self.open.pop() else { return };
        self.bind(open.end, open.region, (open.written, open.converted));
        if open.other.is_some() && self.block.is_some() {
            self.rejoin(open.region, open.entered);
        }
    }

    fn begin_block(&mut self) {
        let open = self.open();
        let left_lanes = self.variables.left_lanes(self.open[open].region);
        self.variables.set(left_lanes, None);
    }

    fn end_block(&mut self) {
        let number = self.open.len() - 1;
        self.activate_left_lanes(number);
        self.jump_label(number, false);
        let Some(open) = self.open.pop() else { return };
        self.close(open);
    }

    /// Activates the lanes that left for a region's end, in addition to the active lanes.
    fn activate_left_lanes(&mut self, open: usize) {
        let region = self.open[open].region;
        if self.block.is_some() && self.splits(region) {
            let left_lanes = self.variables.get(self.variables.left_lanes(region));
            let lanes = self.union(left_lanes, self.active());
            self.set_active(lanes);
        }
    }

    /// Binds a region's end. Unless lanes may have left for outer regions, all entered lanes
    /// continue.
    fn close(&mut self, open: Open) {
        self.bind(open.end, open.region, (open.written, open.converted));
        if self.block.is_some() && !self.loses_lanes(open.region) {
            self.set_active(open.entered);
        }
    }

    fn begin_loop(&mut self) {
        let open = self.open();
        let region = self.open[open].region;
        self.variables.set(self.variables.left_lanes(region), None);
        if self.block.is_none() {
            return;
        }
        if self.facts.may_be_empty {
            let active = self.active_mask();
            self.test_mask(active);
            self.branch_or_label(Code::Jne_rel32_64, open, false);
        }
        let carried = self.carried(region);
        let header = self.out.block();
        let Some(before) = self.block else { return };
        self.push(MachineInst::Jump { to: header, arguments: Vec::new() });
        let arguments = self.arguments(before, &carried);
        self.finish_jump(before, header, arguments);
        for &variable in &carried {
            let parts = self.block_parameter(header, variable);
            self.variables.set(variable, Some(parts));
        }
        self.block = Some(header);
        self.variables.set(self.variables.continued_lanes(region), None);
        let (written, converted) = (self.variables.mark(), self.converted.mark());
        let open = &mut self.open[open];
        open.header = Some((header, carried));
        (open.header_written, open.header_converted) = (written, converted);
    }

    /// Returns the contents of variables in registers at the end of a block, in front of its jump.
    fn arguments(&mut self, block: Block, variables: &[Variable]) -> Vec<VReg> {
        let mut arguments = Vec::new();
        for &variable in variables {
            let parts = self.materialise(block, variable, self.variables.get(variable));
            arguments.extend((0..self.width(variable)).map(|part| parts.at(part)));
        }
        arguments
    }

    /// Returns the work that one iteration of a loop counts for, in instructions. Inner loops also
    /// count their own iterations.
    fn iteration_work(&self, region: u32) -> u32 {
        let (start, end) = (self.regions.get(region).start, self.regions.get(region).end);
        let of = |inst: &Inst| if matches!(inst, Inst::Image(_)) { IMAGE_WORK } else { 1 };
        let work = self.ir.insts[start as usize..end as usize].iter().map(of).sum::<u32>();
        work.clamp(MIN_ITERATION_WORK, MAX_ITERATION_WORK)
    }

    /// Returns the variables that a loop carries from one iteration to the next.
    fn carried(&self, region: u32) -> Vec<Variable> {
        let (start, end) = (self.regions.get(region).start, self.regions.get(region).end);
        let mut carried: Vec<Variable> = Vec::new();
        for (at, inst) in self.ir.insts[start as usize..end as usize].iter().enumerate() {
            let inner = self.regions.of[start as usize + at];
            match inst {
                Inst::LocalStore { .. } => {
                    let word = self.words.of(inst).filter(|&word| self.facts.is_carried(&self.regions, word, region));
                    carried.extend(word.map(Variables::word));
                }
                Inst::Break { depth } => {
                    let target = self.regions.target(inner, *depth).filter(|&target| self.splits(target));
                    let outside = target.filter(|&target| target == region || !self.is_within(target, region));
                    carried.extend(outside.map(|target| self.variables.left_lanes(target)));
                }
                Inst::Continue { depth } => {
                    let target = self.regions.target(inner, *depth);
                    let outside = target.filter(|&target| {
                        self.facts.continues[target as usize] && target != region && !self.is_within(target, region)
                    });
                    carried.extend(outside.map(|target| self.variables.continued_lanes(target)));
                }
                _ => {}
            }
        }
        if self.changes_active(region) {
            carried.push(self.variables.active());
        }
        carried.sort_unstable();
        carried.dedup();
        carried
    }

    fn is_within(&self, inner: u32, outer: u32) -> bool {
        self.regions.chain(inner).any(|around| around == outer)
    }

    /// Returns true if lanes may leave a loop between iterations.
    fn changes_active(&self, region: u32) -> bool {
        self.splits(region) || self.facts.continues[region as usize] || self.loses_lanes(region)
    }

    fn continuing(&mut self) {
        let number = self.open.len() - 1;
        if self.open[number].header.is_none() {
            return;
        }
        self.jump_label(number, true);
        let open = self.innermost();
        let (label, marks) = (std::mem::take(&mut open.middle), (open.header_written, open.header_converted));
        let region = open.region;
        self.bind(label, region, marks);
        if self.block.is_some() && self.facts.continues[region as usize] {
            let continued_lanes = self.variables.get(self.variables.continued_lanes(region));
            let lanes = self.union(continued_lanes, self.active());
            self.set_active(lanes);
        }
    }

    fn end_loop(&mut self) {
        let number = self.open.len() - 1;
        let region = self.innermost().region;
        if let (Some(_), Some((header, carried))) = (self.block, self.innermost().header.clone()) {
            let work = self.iteration_work(region);
            self.push(MachineInst::BackEdge { work });
            let leaves = self.changes_active(region).then(|| {
                let active = self.active_mask();
                self.test_mask(active);
                let (again, out) = (self.out.block(), self.out.block());
                self.push(MachineInst::Branch { code: Code::Jne_rel32_64, then: again, otherwise: out });
                self.block = Some(again);
                out
            });
            if let Some(latch) = self.block {
                self.push(MachineInst::Jump { to: header, arguments: Vec::new() });
                let arguments = self.arguments(latch, &carried);
                self.finish_jump(latch, header, arguments);
            }
            self.block = leaves;
            if leaves.is_some() {
                let left_lanes = self.variables.get(self.variables.left_lanes(region));
                self.set_active(left_lanes);
                self.jump_label(number, false);
            }
        }
        let Some(open) = self.open.pop() else { return };
        self.close(open);
    }

    /// Lowers a `Break` or `Continue`.
    fn leave(&mut self, depth: u32, continues: bool) {
        if self.block.is_none() {
            return;
        }
        let Some(target) = self.regions.target(self.regions.of[self.at], depth) else { return };
        let Some(open) = self.open.iter().position(|open| open.region == target) else { return };
        if self.facts.is_taken_by_all(&self.regions, self.regions.of[self.at], target, continues) {
            if !continues {
                self.activate_left_lanes(open);
            }
            self.jump_label(open, continues);
            return;
        }
        let variable =
            if continues { self.variables.continued_lanes(target) } else { self.variables.left_lanes(target) };
        let lanes = self.union(self.variables.get(variable), self.active());
        self.variables.set(variable, lanes);
        self.set_active(None);
    }

    fn kill(&mut self) {
        let Some(active) = self.active() else { return };
        if self.block.is_none() {
            return;
        }
        let bits = self.mask_bits(active);
        self.plain(Code::Or_rm16_r16, &[Operand::Mem(Mem::frame(Frame::KILLED)), Operand::Use(bits)]);
        self.set_active(None);
    }
}

fn content_on(edge: &Edge, variable: Variable, before: Content) -> Content {
    let found = edge.written.binary_search_by_key(&variable, |(written, _)| *written);
    found.map_or(before, |index| edge.written[index].1)
}
