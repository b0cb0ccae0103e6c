//! Usage of ids by an entry point: accessed variables, accessed members of blocks, and constant
//! arrays.
//!
//! Resources and block members that no reachable function names need no binding and no output
//! slot. A local that is only ever stored one constant, as a whole, is a constant table. Compilers
//! emit GLSL's constant arrays in this form. Literals are treated as ids too, so the results err
//! towards "used" and "changes".

use foldhash::{HashMap, HashSet};
use spirv::Op;

use super::module::Module;
use super::parse::Instruction;

/// Returns the operands of an instruction that may be ids, in two parts. Literals that often equal
/// an id are omitted.
fn operands(inst: &Instruction) -> (&[u32], &[u32]) {
    let words = inst.words.as_slice();
    let first = |count: usize| (&words[..count.min(words.len())], &[][..]);
    match inst.op {
        Op::SelectionMerge => first(1),
        Op::LoopMerge | Op::Store => first(2),
        Op::CompositeExtract | Op::Load => first(3),
        Op::CompositeInsert | Op::VectorShuffle => first(4),
        // The extended instruction's number follows the id of the instruction set.
        Op::ExtInst => (&words[..3.min(words.len())], words.get(4..).unwrap_or_default()),
        _ => (words, &[]),
    }
}

/// Uses of ids by the functions reachable from an entry point.
#[derive(Debug, Default)]
pub(super) struct Usage {
    mentioned: HashSet<u32>,
    /// Base and first index of access chains, both as ids.
    first_indices: HashSet<(u32, u32)>,
    /// Base and second index of access chains with at least two indices.
    second_indices: HashSet<(u32, u32)>,
    /// Ids used other than as the base of an access chain with at least two indices.
    elements: HashSet<u32>,
    /// Ids used other than as the base of an access chain.
    whole: HashSet<u32>,
    /// Root variable of each access chain.
    roots: HashMap<u32, u32>,
    /// Objects that are stored to a variable as a whole.
    stores: HashMap<u32, Vec<u32>>,
    /// Variables used other than by loads, access chains and whole stores.
    changing: HashSet<u32>,
}

/// Extractions from composites by the functions reachable from an entry point.
#[derive(Debug, Default)]
pub(super) struct Extracts {
    /// Index paths of the `OpCompositeExtract`s of a value.
    paths: HashMap<u32, Vec<Vec<u32>>>,
    /// Number of uses of an id by other instructions.
    others: HashMap<u32, u32>,
}

impl Extracts {
    /// Collects the extractions in all functions reachable from `function`.
    pub(super) fn new(module: &Module, function: u32) -> Self {
        let mut extracts = Self::default();
        each_reachable(module, function, |inst| extracts.record(inst));
        extracts
    }

    fn record(&mut self, inst: &Instruction) {
        let others = match (inst.op, inst.words.as_slice()) {
            (Op::CompositeExtract, [_, _, composite, path @ ..]) => {
                self.paths.entry(*composite).or_default().push(path.to_vec());
                &[]
            }
            (Op::Load, [_, _, pointer, ..]) => std::slice::from_ref(pointer),
            (_, words) => words,
        };
        others.iter().for_each(|&id| *self.others.entry(id).or_default() += 1);
    }

    /// Returns the index paths of all extractions from a value.
    pub(super) fn paths(&self, id: u32) -> &[Vec<u32>] {
        self.paths.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns an upper bound of the other uses of a loaded value.
    pub(super) fn uses_besides(&self, id: u32) -> u32 {
        self.others.get(&id).copied().unwrap_or(0)
    }
}

/// Calls `visit` for the instructions of `function` and of every function reachable from it.
fn each_reachable(module: &Module, function: u32, mut visit: impl FnMut(&Instruction)) {
    let mut seen = HashSet::from_iter([function]);
    let mut open = vec![function];
    while let Some(id) = open.pop() {
        let Some(function) = module.functions.get(&id) else { continue };
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            visit(inst);
            if let (Op::FunctionCall, Some(&callee)) = (inst.op, inst.words.get(2))
                && seen.insert(callee)
            {
                open.push(callee);
            }
        }
    }
}

impl Usage {
    /// Collects the uses in all functions reachable from `function`.
    pub(super) fn new(module: &Module, function: u32) -> Self {
        let mut usage = Self::default();
        each_reachable(module, function, |inst| usage.record(inst));
        usage
    }

    fn record(&mut self, inst: &Instruction) {
        let (ids, more) = operands(inst);
        self.mentioned.extend(ids.iter().chain(more));
        match (inst.op, inst.words.as_slice()) {
            (Op::AccessChain | Op::InBoundsAccessChain, &[_, id, base, first, ref rest @ ..]) => {
                let root = self.root(base);
                self.roots.insert(id, root);
                self.first_indices.insert((base, first));
                match rest.first() {
                    Some(&second) => drop(self.second_indices.insert((base, second))),
                    None => drop(self.elements.insert(base)),
                }
            }
            (Op::Load, &[_, _, pointer, ..]) => {
                self.whole.insert(pointer);
            }
            (Op::Variable, _) => {}
            (Op::Store, &[pointer, object, ..]) => self.record_store(pointer, object),
            (_, words) => words.iter().for_each(|&word| self.record_other(word)),
        }
    }

    fn record_store(&mut self, pointer: u32, object: u32) {
        self.whole.insert(pointer);
        match self.roots.get(&pointer) {
            Some(&root) => drop(self.changing.insert(root)),
            None => self.stores.entry(pointer).or_default().push(object),
        }
        self.record_other(object);
    }

    fn record_other(&mut self, id: u32) {
        let root = self.root(id);
        self.whole.insert(id);
        self.changing.insert(root);
    }

    fn root(&self, id: u32) -> u32 {
        self.roots.get(&id).copied().unwrap_or(id)
    }

    /// Returns true if a reachable instruction names `id`.
    pub(super) fn mentions(&self, id: u32) -> bool {
        self.mentioned.contains(&id)
    }

    /// Returns true if member `index` of a block variable may be used. `scalar` returns the value
    /// of a constant id.
    pub(super) fn uses_member(&self, variable: u32, index: u32, scalar: impl Fn(u32) -> Option<u32>) -> bool {
        let names = |&(base, first): &(u32, u32)| base == variable && scalar(first).is_none_or(|word| word == index);
        self.whole.contains(&variable) || self.first_indices.iter().any(names)
    }

    /// Returns true if member `index` of the elements of an array of blocks may be used. `scalar`
    /// returns the value of a constant id.
    pub(super) fn uses_member_of_elements(&self, array: u32, index: u32, scalar: impl Fn(u32) -> Option<u32>) -> bool {
        let names = |&(base, second): &(u32, u32)| base == array && scalar(second).is_none_or(|word| word == index);
        let whole = self.whole.contains(&array) || self.elements.contains(&array);
        whole || self.second_indices.iter().any(names)
    }

    /// Returns the only object that is ever stored to a local, if it is stored as a whole and
    /// nothing else changes the local.
    pub(super) fn only_object(&self, variable: u32, initializer: Option<u32>) -> Option<u32> {
        if self.changing.contains(&variable) {
            return None;
        }
        match (self.stores.get(&variable).map(Vec::as_slice), initializer) {
            (None, Some(object)) => Some(object),
            (Some([first, rest @ ..]), None) if rest.iter().all(|object| object == first) => Some(*first),
            _ => None,
        }
    }
}
