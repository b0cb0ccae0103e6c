//! Dead code elimination: removes instructions and loops that no effect needs. It then renumbers
//! values, so that the registers of a wave lie close together.
//!
//! An effect needs its operands, the regions around it, and all jumps to the ends of these
//! regions. A load of a local needs all stores that it may read.
//!
//! A loop without effects is assumed to terminate, and is removed. It stays if nothing leaves it
//! or nothing changes in it. It also stays if it reads memory or images, which other threads may
//! change.

use foldhash::{HashMap, HashSet};

use crate::{AtomicOp, Effect, Function, Inst, Local, Region, RegionKind, Regions, Value};

/// Maximum number of a local's stores that are scanned for each word. Locals with more stores get
/// an index.
const MANY_STORES: usize = 64;

/// Removes dead code and renumbers values.
pub fn run(function: &mut Function) {
    let regions = Regions::new(function);
    let loops = required_loops(function, &regions);
    let mut needed = needed(function, &regions, &loops).into_iter();
    function.insts.retain(|_| needed.next() == Some(true));
    drop_empty(function);
    renumber(function);
}

/// Returns the loops that must stay even if no effect needs them.
fn required_loops(function: &Function, regions: &Regions) -> Vec<u32> {
    let numbers = 1..regions.list.len() as u32;
    let mut loops: Vec<u32> = numbers.filter(|&region| regions.get(region).kind == RegionKind::Loop).collect();
    if loops.is_empty() {
        return loops;
    }
    let [mut has_exit, mut changes, mut reads_memory] = [(); 3].map(|()| vec![false; regions.list.len()]);
    let needed = needed(function, regions, &loops);
    for (at, inst) in function.insts.iter().enumerate().filter(|&(at, _)| needed[at]) {
        let around = regions.chain(regions.of[at]);
        match inst {
            Inst::Break { depth } => {
                // A region's number is greater than those of the regions around it.
                let target = regions.target(regions.of[at], *depth).unwrap_or(0);
                around.filter(|&region| region >= target).for_each(|region| has_exit[region as usize] = true);
            }
            Inst::LocalStore { .. } => around.for_each(|region| changes[region as usize] = true),
            Inst::Load { .. } | Inst::MatrixLoad(_) | Inst::Atomic { .. } | Inst::Atomic64(_) | Inst::Image(_) => {
                around.for_each(|region| reads_memory[region as usize] = true);
            }
            _ => {}
        }
    }
    let is_required = |region: usize| reads_memory[region] || !has_exit[region] || !changes[region];
    loops.retain(|&region| is_required(region as usize));
    loops
}

/// Returns, for each instruction, whether effects or one of `loops` need it.
fn needed(function: &Function, regions: &Regions, loops: &[u32]) -> Vec<bool> {
    let mut needs = Needs::new(function, regions);
    for (at, inst) in function.insts.iter().enumerate() {
        if has_effect(inst) {
            needs.instruction(at);
        }
    }
    loops.iter().for_each(|&region| needs.region(region));
    needs.follow();
    needs.needed
}

/// State of the search for needed instructions.
struct Needs<'f> {
    function: &'f Function,
    regions: &'f Regions,
    /// Position of the definition of each value.
    definitions: Vec<usize>,
    /// Stores of each local.
    stores: Vec<Vec<usize>>,
    /// Stores of each local with many stores, by word. The key `None` holds the indexed stores,
    /// which may write any word.
    stores_by_word: HashMap<Local, HashMap<Option<u32>, Vec<usize>>>,
    /// Jumps to the end or the continuing part of each region.
    jumps: Vec<Vec<usize>>,
    /// True for each needed instruction.
    needed: Vec<bool>,
    /// True for each region that contains a needed instruction.
    is_around: Vec<bool>,
    /// Loaded words of locals. `None` stands for a load of an unknown word of the local.
    loaded: HashSet<(Local, Option<u32>)>,
    /// Needed instructions that are not processed yet.
    found: Vec<usize>,
}

impl<'f> Needs<'f> {
    fn new(function: &'f Function, regions: &'f Regions) -> Self {
        let mut definitions = vec![0; function.types.len()];
        let mut stores = vec![Vec::new(); function.locals.len()];
        let mut jumps = vec![Vec::new(); regions.list.len()];
        for (at, inst) in function.insts.iter().enumerate() {
            inst.results().for_each(|value| definitions[value.0 as usize] = at);
            match inst {
                Inst::LocalStore { local, .. } => stores[local.0 as usize].push(at),
                Inst::Break { depth } | Inst::Continue { depth } => {
                    regions.target(regions.of[at], *depth).iter().for_each(|&region| jumps[region as usize].push(at));
                }
                _ => {}
            }
        }
        let (needed, is_around) = (vec![false; function.insts.len()], vec![false; regions.list.len()]);
        let (loaded, found, stores_by_word) = Default::default();
        Self { function, regions, definitions, stores, stores_by_word, jumps, needed, is_around, loaded, found }
    }

    fn instruction(&mut self, at: usize) {
        if !std::mem::replace(&mut self.needed[at], true) {
            self.found.push(at);
        }
    }

    /// Marks the markers of a region and of the regions around it, and the jumps to them.
    fn region(&mut self, region: u32) {
        for region in self.regions.chain(region) {
            if std::mem::replace(&mut self.is_around[region as usize], true) {
                return;
            }
            let &Region { start, middle, end, .. } = self.regions.get(region);
            [start, middle, end].into_iter().for_each(|at| self.instruction(at as usize));
            std::mem::take(&mut self.jumps[region as usize]).into_iter().for_each(|at| self.instruction(at));
        }
    }

    /// Marks everything that the found instructions need, transitively.
    fn follow(&mut self) {
        while let Some(at) = self.found.pop() {
            let inst = &self.function.insts[at];
            inst.operands(|value| self.instruction(self.definitions[value.0 as usize]));
            self.region(self.regions.of[at]);
            if let Inst::LocalLoad { local, base, index, .. } = *inst {
                self.load(local, index.is_none().then_some(base));
            }
        }
    }

    /// Marks the stores that a load of a word, or of an unknown word, may read.
    fn load(&mut self, from: Local, word: Option<u32>) {
        if !self.loaded.insert((from, word)) {
            return;
        }
        let stores = std::mem::take(&mut self.stores[from.0 as usize]);
        if word.is_some() && stores.len() > MANY_STORES {
            let by_word = self.stores_by_word.entry(from).or_insert_with(|| by_word(self.function, &stores));
            let seen = [word, None].map(|word| by_word.remove(&word).unwrap_or_default());
            seen.into_iter().flatten().for_each(|at| self.instruction(at));
        } else {
            let sees =
                |at: usize| word.is_none() || stored_word(&self.function.insts[at]).is_none_or(|at| Some(at) == word);
            let seen: Vec<usize> = stores.iter().copied().filter(|&at| sees(at)).collect();
            seen.into_iter().for_each(|at| self.instruction(at));
        }
        self.stores[from.0 as usize] = stores;
    }
}

/// Returns the word that a store writes, or `None` if the store is indexed.
fn stored_word(inst: &Inst) -> Option<u32> {
    if let Inst::LocalStore { base, index: None, .. } = inst { Some(*base) } else { None }
}

/// Groups stores by the word that they write.
fn by_word(function: &Function, stores: &[usize]) -> HashMap<Option<u32>, Vec<usize>> {
    let mut out: HashMap<Option<u32>, Vec<usize>> = HashMap::default();
    stores.iter().for_each(|&at| out.entry(stored_word(&function.insts[at])).or_default().push(at));
    out
}

fn has_effect(inst: &Inst) -> bool {
    match (inst, inst.effect()) {
        (Inst::Atomic { op, .. }, _) => *op != AtomicOp::Load,
        (Inst::Atomic64(atomic), _) => atomic.op != AtomicOp::Load,
        (_, Effect::None | Effect::Local | Effect::Flow) => false,
        (_, Effect::Output | Effect::Memory | Effect::Lane | Effect::Barrier) => true,
    }
}

/// Removes `Else` markers of empty branches.
fn drop_empty(function: &mut Function) {
    let is_empty = |pair: &[Inst]| pair[0] == Inst::Else && pair[1] == Inst::EndIf;
    let mut empty = function.insts.windows(2).map(is_empty).collect::<Vec<_>>().into_iter();
    function.insts.retain(|_| empty.next() != Some(true));
}

/// Renumbers values in order of their definition.
pub(super) fn renumber(function: &mut Function) {
    let mut numbers: Vec<Option<Value>> = vec![None; function.types.len()];
    let mut types = Vec::new();
    for inst in &function.insts {
        for value in inst.results() {
            numbers[value.0 as usize] = Some(Value(types.len() as u32));
            types.push(function.types[value.0 as usize]);
        }
    }
    let number = |value: Value| numbers[value.0 as usize].unwrap_or(value);
    for inst in &mut function.insts {
        inst.map_operands(number);
        inst.map_results(number);
    }
    function.types = types;
}
