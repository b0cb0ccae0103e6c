//! What an entry point really uses: variables, members of output blocks, and arrays that never change.
//!
//! Resources and block members that no reachable function names need no binding and no output slot. A local that is only
//! ever stored one constant, whole, is a constant table: that is how GLSL's constant arrays arrive. Literals are taken for
//! ids too, so the answers err towards "used" and "changes".

use foldhash::{HashMap, HashSet};
use spirv::Op;

use super::module::Module;
use super::parse::Instruction;

/// The words of an instruction that may be ids, without literals that often look like one.
fn operands(inst: &Instruction) -> (&[u32], &[u32]) {
    let words = inst.words.as_slice();
    let first = |count: usize| (&words[..count.min(words.len())], &[][..]);
    match inst.op {
        Op::SelectionMerge => first(1),
        Op::LoopMerge | Op::Store => first(2),
        Op::CompositeExtract | Op::Load => first(3),
        Op::CompositeInsert | Op::VectorShuffle => first(4),
        // What is done stands behind the set of instructions.
        Op::ExtInst => (&words[..3.min(words.len())], words.get(4..).unwrap_or_default()),
        _ => (words, &[]),
    }
}

/// How the functions reachable from an entry point use ids.
#[derive(Debug, Default)]
pub(super) struct Usage {
    mentioned: HashSet<u32>,
    /// Base and first index of access chains (both ids).
    first_indices: HashSet<(u32, u32)>,
    /// Base and second index of access chains, where there are so many.
    second_indices: HashSet<(u32, u32)>,
    /// Ids used otherwise than as the base of an access chain, or of one of several indices.
    elements: HashSet<u32>,
    /// Ids used otherwise than as the base of an access chain.
    whole: HashSet<u32>,
    /// The variable each access chain leads into.
    roots: HashMap<u32, u32>,
    /// Objects stored to a variable, whole.
    stores: HashMap<u32, Vec<u32>>,
    /// Variables used otherwise than by loads, chains and whole stores.
    changing: HashSet<u32>,
}

/// How the functions reachable from an entry point take composites apart.
#[derive(Debug, Default)]
pub(super) struct Extracts {
    /// Indices of the `OpCompositeExtract`s of a value.
    paths: HashMap<u32, Vec<Vec<u32>>>,
    /// How often other instructions name an id.
    others: HashMap<u32, u32>,
}

impl Extracts {
    /// Walks everything reachable from `function`.
    pub(super) fn new(module: &Module, function: u32) -> Self {
        let mut extracts = Self::default();
        each_reachable(module, function, |inst| extracts.note(inst));
        extracts
    }

    fn note(&mut self, inst: &Instruction) {
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

    /// The indices of all extractions from a value.
    pub(super) fn paths(&self, id: u32) -> &[Vec<u32>] {
        self.paths.get(&id).map_or(&[], Vec::as_slice)
    }

    /// How often other instructions may use a value that is loaded.
    pub(super) fn uses_besides(&self, id: u32) -> u32 {
        self.others.get(&id).copied().unwrap_or(0)
    }
}

/// Calls `visit` with the instructions of every function that is reachable from one.
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
    /// Walks everything reachable from `function`.
    pub(super) fn new(module: &Module, function: u32) -> Self {
        let mut usage = Self::default();
        each_reachable(module, function, |inst| usage.note(inst));
        usage
    }

    fn note(&mut self, inst: &Instruction) {
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
            (Op::Store, &[pointer, object, ..]) => self.note_store(pointer, object),
            (_, words) => words.iter().for_each(|&word| self.note_other(word)),
        }
    }

    fn note_store(&mut self, pointer: u32, object: u32) {
        self.whole.insert(pointer);
        match self.roots.get(&pointer) {
            Some(&root) => drop(self.changing.insert(root)),
            None => self.stores.entry(pointer).or_default().push(object),
        }
        self.note_other(object);
    }

    fn note_other(&mut self, id: u32) {
        let root = self.root(id);
        self.whole.insert(id);
        self.changing.insert(root);
    }

    fn root(&self, id: u32) -> u32 {
        self.roots.get(&id).copied().unwrap_or(id)
    }

    /// Whether a reachable instruction names `id`.
    pub(super) fn mentions(&self, id: u32) -> bool {
        self.mentioned.contains(&id)
    }

    /// Whether member `index` of a block variable may be used. `scalar` gives the word of a constant id.
    pub(super) fn uses_member(&self, variable: u32, index: u32, scalar: impl Fn(u32) -> Option<u32>) -> bool {
        let names = |&(base, first): &(u32, u32)| base == variable && scalar(first).is_none_or(|word| word == index);
        self.whole.contains(&variable) || self.first_indices.iter().any(names)
    }

    /// Whether member `index` of the elements of an array of blocks may be used.
    pub(super) fn uses_member_of_elements(&self, array: u32, index: u32, scalar: impl Fn(u32) -> Option<u32>) -> bool {
        let names = |&(base, second): &(u32, u32)| base == array && scalar(second).is_none_or(|word| word == index);
        let whole = self.whole.contains(&array) || self.elements.contains(&array);
        whole || self.second_indices.iter().any(names)
    }

    /// The only object ever stored to a local, when it is stored whole and nothing else changes the local.
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
