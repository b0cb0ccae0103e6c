//! Structured control flow: translates merge instructions to nested regions of the IR.
//!
//! A *chain* is a sequence of blocks that ends with a branch to its *fall-through* label. Branches
//! to the merge block or continue target of an enclosing construct leave regions. Phis become
//! locals, to which every predecessor stores.

use std::rc::Rc;

use foldhash::{HashMap, HashSet};
use spirv::{ExecutionModel, Op};
use vitric_ir::interface::abort::{ABORT_ADDRESS, ABORT_MESSAGE_OFFSET, ABORT_SIZE_OFFSET, MAX_ABORT_BYTES};
use vitric_ir::{AtomicOp, BinaryOp, Inst, Local, Space, Type, UnaryOp, Value};

use super::memory::{Base, Pointer};
use super::scopes::{Exit, Target};
use super::{Operand, Translator};
use crate::module::{Block, Function, is_terminator};
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

/// Maximum number of a phi's predecessors that are searched linearly.
const MANY_PREDECESSORS: usize = 16;

/// State for the translation of one function.
struct Body<'a> {
    function: &'a Function,
    /// Local of the result, and its type.
    result: (Local, Option<u32>),
    /// Scope that a return leaves.
    exit: u32,
    phis: HashMap<u32, Local>,
    /// Objects of phis with many predecessors, by phi and predecessor.
    incoming: HashMap<(u32, u32), u32>,
    depth: u32,
}

/// Branch to one of two blocks.
struct ConditionalBranch {
    condition: Value,
    /// Label of the block for a true condition.
    yes: u32,
    /// Label of the block for a false condition.
    no: u32,
}

/// Case of a switch with the lanes that enter it.
struct CaseEntry {
    label: u32,
    /// True in lanes whose selector matches the case.
    matched: Value,
    /// Local that is not 0 in lanes that fall into the case.
    fell: Local,
    /// Label of the next case, or `None` in the last case, which all lanes that are left enter.
    next: FallThrough,
}

/// Label to which a chain falls through, or `None` at the end of the function.
type FallThrough = Option<u32>;

impl<'a> Translator<'a> {
    /// Translates the blocks of a function. The result is stored to the local in `result`.
    pub(super) fn body(&mut self, function: &'a Function, result: (Local, Option<u32>)) -> Result<()> {
        let entry = function.blocks.first().ok_or(Error::Malformed("a function without blocks"))?;
        let exit = self.scopes.open(&mut self.builder, Inst::Block);
        self.entry_exit.get_or_insert(exit);
        let targets = std::mem::take(&mut self.scopes.targets);
        let mut body =
            Body { function, result, exit, phis: HashMap::default(), incoming: HashMap::default(), depth: 0 };
        self.declare_phis(&mut body)?;
        self.chain(&mut body, entry.label, None)?;
        self.scopes.targets = targets;
        self.builder.push(Inst::EndBlock);
        Ok(())
    }

    fn declare_phis(&mut self, body: &mut Body<'_>) -> Result<()> {
        // Each call of a function walks it once, so the walk counts as work for small and large
        // functions.
        self.charge_work(body.function.blocks.iter().map(|block| 1 + block.insts.len()).sum())?;
        for inst in body.function.blocks.iter().flat_map(|block| &block.insts) {
            if inst.op == Op::Phi {
                let (words, id) = (self.words_of(inst.word(0)?)?, inst.word(1)?);
                body.phis.insert(id, self.local_for(id, words)?);
                let pairs = inst.rest(2).as_chunks::<2>().0;
                if pairs.len() > MANY_PREDECESSORS {
                    self.charge_work(pairs.len())?;
                    body.incoming.extend(pairs.iter().map(|&[object, from]| ((id, from), object)));
                }
            }
        }
        Ok(())
    }

    /// Translates blocks from `label` on until one branches to `end`.
    fn chain(&mut self, body: &mut Body<'a>, label: u32, end: FallThrough) -> Result<()> {
        body.depth += 1;
        self.depth += 1;
        if self.depth > self.nesting.constructs {
            return Err(Error::Deep("control flow"));
        }
        let mut next = Some(label);
        while let Some(label) = next {
            self.check_size()?;
            let block = block(body.function, label)?;
            next = match block.continues {
                Some(continues) => self.loop_construct(body, block, continues, end)?,
                None => {
                    self.instructions(body, block)?;
                    self.terminator(body, block, block.merge, end)?
                }
            };
        }
        body.depth -= 1;
        self.depth -= 1;
        Ok(())
    }

    fn instructions(&mut self, body: &Body<'a>, block: &'a Block) -> Result<()> {
        self.products.clear();
        for (index, inst) in block.insts.iter().enumerate() {
            let next = block.insts.get(index + 1).filter(|next| next.op == Op::Store);
            self.next_store = next.and_then(|next| next.words.first_chunk().copied());
            match inst.op {
                Op::Phi => self.load_phi(body, inst)?,
                op if is_terminator(op) => return Ok(()),
                _ => self.instruction(inst)?,
            }
            self.charge_work(1)?;
        }
        Ok(())
    }

    fn load_phi(&mut self, body: &Body<'a>, inst: &Instruction) -> Result<()> {
        let local = *body.phis.get(&inst.word(1)?).ok_or(Error::Malformed("an unknown phi"))?;
        self.define_from_local(inst, local)
    }

    /// Stores the objects of the phis in `to` for the predecessor `from`.
    fn store_phis(&mut self, body: &Body<'a>, from: &Block, to: u32) -> Result<()> {
        for inst in block(body.function, to)?.insts.iter().take_while(|inst| inst.op == Op::Phi) {
            self.charge_work(1)?;
            let (pairs, id) = (inst.rest(2).as_chunks::<2>().0, inst.word(1)?);
            let object = match pairs.len() > MANY_PREDECESSORS {
                true => body.incoming.get(&(id, from.label)).copied(),
                false => pairs.iter().find(|[_, label]| *label == from.label).map(|[object, _]| *object),
            };
            let Some(object) = object else { continue };
            let local = *body.phis.get(&id).ok_or(Error::Malformed("an unknown phi"))?;
            self.store_local((local, Some(inst.word(0)?)), object)?;
        }
        Ok(())
    }

    /// Translates a block's terminator. Returns the block with which the chain continues.
    ///
    /// `merge` is the selection's merge block. A loop header's merge instruction does not belong
    /// to its branch.
    fn terminator(
        &mut self,
        body: &mut Body<'a>,
        block: &'a Block,
        merge: Option<u32>,
        end: FallThrough,
    ) -> Result<FallThrough> {
        let inst = block.insts.last().ok_or(Error::Malformed("an empty block"))?;
        match inst.op {
            Op::Branch => self.branch(body, block, inst.word(0)?, end),
            Op::BranchConditional => self.conditional(body, block, merge, end),
            Op::Switch => self.switch(body, block, inst, end),
            Op::Return => Ok(self.leave_function(body, end)),
            Op::ReturnValue => {
                self.store_local(body.result, inst.word(0)?)?;
                Ok(self.leave_function(body, end))
            }
            Op::Kill | Op::TerminateInvocation => {
                self.facts.may_discard = true;
                self.builder.push(Inst::Kill);
                Ok(None)
            }
            Op::EmitMeshTasksEXT => {
                self.leave_counts(inst)?;
                match self.frames.len() {
                    1 => return Ok(self.leave_function(body, end)),
                    _ => self.builder.push(Inst::Kill),
                }
                Ok(None)
            }
            Op::Unreachable if !inst.words.is_empty() => self.abort(body, [inst.word(0)?, inst.word(1)?]),
            Op::Unreachable => Ok(None),
            _ => Err(Error::Malformed("a block does not end")),
        }
    }

    /// Ends an invocation with a message (an id), which has the layout of a type. The first
    /// invocation of the device that does so writes its message.
    fn abort(&mut self, body: &mut Body<'a>, [ty, message]: [u32; 2]) -> Result<FallThrough> {
        let size = self.explicit_size(ty, 0)?;
        if size > MAX_ABORT_BYTES {
            return Err(Error::Unsupported(format!("a message of {size} bytes")));
        }
        let area = self.builder.wide_constant(ABORT_ADDRESS, Type::I64);
        let [low, high] = self.builder.split(area);
        let (space, one, zero) = (Space::Address { high }, self.builder.int(1), self.builder.int(0));
        let before = self.builder.atomic(space, low, AtomicOp::Exchange, one, None);
        let condition = self.builder.binary(BinaryOp::IEq, before, zero);
        self.facts.side_effects = true;
        self.builder.push(Inst::If { condition });
        let place = self.builder.int(ABORT_SIZE_OFFSET);
        let place = self.builder.binary(BinaryOp::IAdd, low, place);
        let bytes = self.builder.int(size);
        self.store_scalar(space, place, bytes, Number::Int(32), false);
        let mut pointer = Pointer::new(Base::Address(area), ty);
        pointer.constant = ABORT_MESSAGE_OFFSET;
        self.store_operand(&pointer, message)?;
        self.builder.push(Inst::EndIf);
        if self.model == ExecutionModel::Fragment {
            self.facts.may_discard = true;
            self.builder.push(Inst::Kill);
        } else {
            self.builder.push(Inst::Break { depth: self.entry_exit.unwrap_or(body.exit) });
        }
        Ok(None)
    }

    fn leave_function(&mut self, body: &Body<'_>, end: FallThrough) -> FallThrough {
        // In tail position the function ends here anyway.
        if end.is_some() || body.depth > 1 {
            self.builder.push(Inst::Break { depth: body.exit });
        }
        None
    }

    /// Translates a branch from `from` to `label`. It leaves regions, or returns the block with
    /// which the chain continues.
    fn branch(&mut self, body: &Body<'a>, from: &Block, label: u32, end: FallThrough) -> Result<FallThrough> {
        self.store_phis(body, from, label)?;
        let target = self.scopes.targets.iter().rev().find(|target| target.label == label).copied();
        if let Some(flag) = target.and_then(|target| target.flag) {
            let one = self.builder.int(1);
            self.builder.local_store(flag, 0, None, one);
        }
        if end == Some(label) {
            return Ok(None);
        }
        match target.map(|target| target.exit) {
            Some(Exit::Break(scope)) => self.builder.push(Inst::Break { depth: scope }),
            Some(Exit::Continue(scope)) => self.builder.push(Inst::Continue { depth: scope }),
            None => return Ok(Some(label)),
        }
        Ok(None)
    }

    fn is_exit(&self, label: u32, end: FallThrough) -> bool {
        end == Some(label) || self.scopes.targets.iter().any(|target| target.label == label)
    }

    fn conditional(
        &mut self,
        body: &mut Body<'a>,
        block: &'a Block,
        merge: Option<u32>,
        end: FallThrough,
    ) -> Result<FallThrough> {
        let inst = block.insts.last().ok_or(Error::Malformed("an empty block"))?;
        let condition = self.word(inst.word(0)?)?;
        let (yes, no) = (inst.word(1)?, inst.word(2)?);
        if let Some(merge) = merge {
            let scope = self.scopes.open(&mut self.builder, Inst::Block);
            self.scopes.targets.push(Target { label: merge, exit: Exit::Break(scope), flag: None });
            self.arms(body, block, ConditionalBranch { condition, yes, no }, Some(merge))?;
            self.scopes.targets.pop();
            self.builder.push(Inst::EndBlock);
            return Ok(self.after(merge, end));
        }
        // Without a merge block, one side is a conditional exit and the chain continues with the
        // other side.
        match (self.is_exit(yes, end), self.is_exit(no, end)) {
            (true, false) => self.exit_if(body, block, condition, yes).map(|()| Some(no)).and_then(|next| {
                self.store_phis(body, block, no)?;
                Ok(next)
            }),
            (false, true) => {
                let inverted = self.builder.unary(UnaryOp::LogicalNot, condition);
                self.exit_if(body, block, inverted, no)?;
                self.store_phis(body, block, yes)?;
                Ok(Some(yes))
            }
            _ => {
                self.arms(body, block, ConditionalBranch { condition, yes, no }, end)?;
                Ok(None)
            }
        }
    }

    /// Returns the merge block as the next block of the chain, unless the chain ends there.
    fn after(&self, merge: u32, end: FallThrough) -> FallThrough {
        if end == Some(merge) { None } else { Some(merge) }
    }

    fn exit_if(&mut self, body: &mut Body<'a>, block: &'a Block, condition: Value, label: u32) -> Result<()> {
        self.builder.push(Inst::If { condition });
        // There is no fall-through here, because the branch must leave the region.
        self.branch(body, block, label, None)?;
        self.builder.push(Inst::EndIf);
        Ok(())
    }

    fn arms(
        &mut self,
        body: &mut Body<'a>,
        block: &'a Block,
        branch: ConditionalBranch,
        end: FallThrough,
    ) -> Result<()> {
        let ConditionalBranch { condition, yes, no } = branch;
        if yes == no {
            return self.arm(body, block, yes, end);
        }
        let joins = self.joins(body.function, [yes, no], end)?;
        for &label in joins.iter().rev() {
            let scope = self.scopes.open(&mut self.builder, Inst::Block);
            self.scopes.targets.push(Target { label, exit: Exit::Break(scope), flag: None });
        }
        let arms_end = joins.first().copied().or(end);
        self.builder.push(Inst::If { condition });
        self.arm(body, block, yes, arms_end)?;
        self.builder.push(Inst::Else);
        self.arm(body, block, no, arms_end)?;
        self.builder.push(Inst::EndIf);
        for (index, &label) in joins.iter().enumerate() {
            self.scopes.targets.pop();
            self.builder.push(Inst::EndBlock);
            body.depth += 1;
            self.chain(body, label, joins.get(index + 1).copied().or(end))?;
            body.depth -= 1;
        }
        Ok(())
    }

    /// Returns the join blocks: blocks where paths from two arms meet inside the construct. Each
    /// one precedes the join blocks that it leads to.
    fn joins(&mut self, function: &Function, [yes, no]: [u32; 2], end: FallThrough) -> Result<Vec<u32>> {
        if !function.has_joins {
            return Ok(Vec::new());
        }
        let (one, other) = (self.reach(function, yes, end)?, self.reach(function, no, end)?);
        let mut entered: HashSet<u32> = HashSet::from_iter([yes, no]);
        for &label in one.symmetric_difference(&other) {
            entered.extend(block(function, label)?.successors(function));
        }
        let mut joins = Vec::new();
        for &label in one.intersection(&other).filter(|label| entered.contains(label)) {
            joins.push((self.reach(function, label, end)?.len(), label));
        }
        // A block reaches fewer blocks than any block before it.
        joins.sort_unstable_by(|a, b| b.cmp(a));
        Ok(joins.into_iter().map(|(_, label)| label).collect())
    }

    /// Returns the blocks that are reachable from `start` inside the open constructs.
    fn reach(&mut self, function: &Function, start: u32, end: FallThrough) -> Result<HashSet<u32>> {
        let mut seen = HashSet::default();
        let mut open = vec![start];
        while let Some(label) = open.pop() {
            if self.is_exit(label, end) || !seen.insert(label) {
                continue;
            }
            let next = block(function, label)?.successors(function);
            self.charge_work(1 + next.len())?;
            open.extend(next);
        }
        Ok(seen)
    }

    fn arm(&mut self, body: &mut Body<'a>, block: &'a Block, label: u32, end: FallThrough) -> Result<()> {
        // An arm is inside a region, so a return must leave the region.
        body.depth += 1;
        if let Some(label) = self.branch(body, block, label, end)? {
            self.chain(body, label, end)?;
        }
        body.depth -= 1;
        Ok(())
    }

    fn loop_construct(
        &mut self,
        body: &mut Body<'a>,
        header: &'a Block,
        continues: u32,
        end: FallThrough,
    ) -> Result<FallThrough> {
        let merge = header.merge.ok_or(Error::Malformed("a loop without a merge block"))?;
        let scope = self.scopes.open(&mut self.builder, Inst::Loop);
        self.scopes.targets.push(Target { label: merge, exit: Exit::Break(scope), flag: None });
        self.scopes.targets.push(Target { label: continues, exit: Exit::Continue(scope), flag: None });
        body.depth += 1;
        self.instructions(body, header)?;
        let body_end = Some(continues);
        if let Some(next) = self.terminator(body, header, None, body_end)? {
            self.chain(body, next, body_end)?;
        }
        self.scopes.targets.pop();
        self.builder.push(Inst::Continuing);
        if continues != header.label {
            self.chain(body, continues, Some(header.label))?;
        }
        body.depth -= 1;
        self.scopes.targets.pop();
        self.builder.push(Inst::EndLoop);
        Ok(self.after(merge, end))
    }

    fn switch(
        &mut self,
        body: &mut Body<'a>,
        block: &'a Block,
        inst: &'a Instruction,
        end: FallThrough,
    ) -> Result<FallThrough> {
        let merge = block.merge.ok_or(Error::Malformed("a switch without a merge block"))?;
        let (selector_type, words) = self.typed_words(inst.word(0)?)?;
        let selector = *words.first().ok_or(Error::Malformed("an empty value"))?;
        let cases = cases(body.function, inst, Number::of(self.module, selector_type)?)?;
        self.charge_work(cases.len())?;
        let scope = self.scopes.open(&mut self.builder, Inst::Block);
        self.scopes.targets.push(Target { label: merge, exit: Exit::Break(scope), flag: None });
        let fell = self.builder.local(1);
        let zero = self.builder.int(0);
        self.builder.local_store(fell, 0, None, zero);
        let listed: Vec<u64> =
            cases.iter().filter(|case| !case.is_default).flat_map(|case| &case.literals).copied().collect();
        // Lanes that leave the switch immediately go first, so that all lanes that are left enter a
        // case.
        let (exits, cases): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(|case| self.is_exit(case.label, None));
        for case in &exits {
            let matched = self.matches(selector, case, &listed);
            self.exit_if(body, block, matched, case.label)?;
        }
        let cases = self.in_order_of_falling(body.function, cases)?;
        let matches: Vec<Value> = cases.iter().map(|case| self.matches(selector, case, &listed)).collect();
        for (index, (case, &matched)) in cases.iter().zip(&matches).enumerate() {
            let next = cases.get(index + 1).map(|case| case.label);
            self.case(body, block, CaseEntry { label: case.label, matched, fell, next })?;
        }
        self.scopes.targets.pop();
        self.builder.push(Inst::EndBlock);
        Ok(self.after(merge, end))
    }

    /// Orders cases so that the case that another one falls into follows it directly.
    fn in_order_of_falling(&mut self, function: &Function, cases: Vec<Case>) -> Result<Vec<Case>> {
        let labels: HashMap<u32, usize> = cases.iter().enumerate().map(|(index, case)| (case.label, index)).collect();
        let mut falls = vec![None; cases.len()];
        let mut is_fallen_into = vec![false; cases.len()];
        for (&label, &index) in &labels {
            falls[index] = self.falls_into(function, label, &labels)?;
            if let Some(next) = falls[index] {
                is_fallen_into[next] = true;
            }
        }
        let mut cases: Vec<Option<Case>> = cases.into_iter().map(Some).collect();
        let mut order = Vec::with_capacity(cases.len());
        let first = (0..cases.len()).filter(|&index| !is_fallen_into[index]);
        // Cases in a cycle, which no valid module has, come last.
        for start in first.chain(0..cases.len()) {
            let mut next = Some(start);
            while let Some(case) = next.and_then(|index| cases[index].take()) {
                order.push(case);
                next = next.and_then(|index| falls[index]);
            }
        }
        Ok(order)
    }

    /// Returns the other case that is reachable from the case `start` inside the switch.
    fn falls_into(&mut self, function: &Function, start: u32, labels: &HashMap<u32, usize>) -> Result<Option<usize>> {
        let mut seen = HashSet::from_iter([start]);
        let mut open = vec![start];
        while let Some(label) = open.pop() {
            let successors = block(function, label)?.successors(function);
            self.charge_work(1 + successors.len())?;
            for next in successors {
                if let Some(&case) = labels.get(&next).filter(|_| next != start) {
                    return Ok(Some(case));
                }
                if !self.is_exit(next, None) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        Ok(None)
    }

    fn case(&mut self, body: &mut Body<'a>, block: &'a Block, entry: CaseEntry) -> Result<()> {
        let CaseEntry { label, matched, fell, next } = entry;
        self.store_matched_phis(body, block, label, matched)?;
        body.depth += 1;
        match next {
            // All lanes that are left enter the last case. So its values are defined after it.
            None => self.chain(body, label, None)?,
            Some(next) => {
                let word = self.builder.local_load(fell, 0, None, Type::I32);
                let through = self.builder.unary(UnaryOp::AsBool, word);
                let condition = self.builder.binary(BinaryOp::LogicalOr, matched, through);
                self.builder.push(Inst::If { condition });
                let scope = self.scopes.open(&mut self.builder, Inst::Block);
                let zero = self.builder.int(0);
                self.builder.local_store(fell, 0, None, zero);
                self.scopes.targets.push(Target { label: next, exit: Exit::Break(scope), flag: Some(fell) });
                self.chain(body, label, Some(next))?;
                self.scopes.targets.pop();
                self.builder.push(Inst::EndBlock);
                self.builder.push(Inst::EndIf);
            }
        }
        body.depth -= 1;
        Ok(())
    }

    /// Stores the phis of a case for the lanes that come from the switch. Lanes that fall through
    /// have stored their phis at their branch.
    fn store_matched_phis(&mut self, body: &Body<'a>, block: &Block, label: u32, matched: Value) -> Result<()> {
        let has_phis = self::block(body.function, label)?.insts.first().is_some_and(|inst| inst.op == Op::Phi);
        if has_phis {
            self.builder.push(Inst::If { condition: matched });
            self.store_phis(body, block, label)?;
            self.builder.push(Inst::EndIf);
        }
        Ok(())
    }

    /// Returns true for lanes whose selector selects `case`: one of its literals, or for the
    /// default case no literal that another case lists.
    fn matches(&mut self, selector: Value, case: &Case, listed: &[u64]) -> Value {
        let any = self.equals_any(selector, &case.literals);
        match case.is_default {
            true => {
                let other = self.equals_any(selector, listed);
                let none = self.builder.unary(UnaryOp::LogicalNot, other);
                self.builder.binary(BinaryOp::LogicalOr, any, none)
            }
            false => any,
        }
    }

    fn equals_any(&mut self, selector: Value, literals: &[u64]) -> Value {
        let mut any = self.builder.constant(0, Type::Bool);
        for &literal in literals {
            let literal = match self.builder.is_wide(selector) {
                true => self.builder.wide_constant(literal, Type::I64),
                false => self.builder.int(literal as u32),
            };
            let equal = self.builder.binary(BinaryOp::IEq, selector, literal);
            any = self.builder.binary(BinaryOp::LogicalOr, any, equal);
        }
        any
    }

    pub(super) fn function_call(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id, callee) = (inst.word(0)?, inst.word(1)?, inst.word(2)?);
        let arguments: Vec<(u32, Operand)> = inst.rest(3).iter().map(|&id| self.operand(id)).collect::<Result<_>>()?;
        let is_void = matches!(self.module.ty(ty)?, crate::module::Ty::Void);
        let local = self.call(callee, &arguments, (!is_void).then_some(ty))?;
        match is_void {
            true => self.define(id, ty, Operand::Words(Rc::from([]))),
            false => self.define_from_local(inst, local),
        }
    }
}

fn block(function: &Function, label: u32) -> Result<&Block> {
    let index = function.by_label.get(&label).ok_or(Error::Malformed("a branch to no block"))?;
    Ok(&function.blocks[*index])
}

/// Block that a switch may enter.
struct Case {
    label: u32,
    literals: Vec<u64>,
    is_default: bool,
}

/// Returns the blocks that a switch may enter, in the order of the function's blocks.
fn cases(function: &Function, inst: &Instruction, selector: Number) -> Result<Vec<Case>> {
    let default = inst.word(1)?;
    let mut cases = vec![Case { label: default, literals: Vec::new(), is_default: true }];
    let mut numbers: HashMap<u32, usize> = HashMap::from_iter([(default, 0)]);
    // A literal has as many words as the selector.
    let words = if selector == Number::Int(64) { 2 } else { 1 };
    for choice in inst.rest(2).chunks_exact(words + 1) {
        let bits = choice[..words].iter().rev().fold(0, |bits, &word| bits << 32 | u64::from(word));
        let (literal, label) = (selector.canonical(bits), choice[words]);
        let number = *numbers.entry(label).or_insert(cases.len());
        match cases.get_mut(number) {
            Some(case) => case.literals.push(literal),
            None => cases.push(Case { label, literals: vec![literal], is_default: false }),
        }
    }
    for case in &cases {
        block(function, case.label)?;
    }
    cases.sort_by_key(|case| function.by_label.get(&case.label).copied());
    Ok(cases)
}
