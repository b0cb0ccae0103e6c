//! Store-to-load forwarding: replaces loads of a local's word by the value that was last stored or
//! loaded there. The value must be the same on every path.
//!
//! Facts (`word of a local` holds `value`) follow the regions. Both branches of an `If` start with
//! the facts from before it. After a region, a fact remains if it held before the region and
//! nothing in the region stores to its word. A loop discards facts about words that it stores to
//! before it starts. A forwarded value therefore always comes from an enclosing region and from
//! the current iteration.

use foldhash::{HashMap, HashSet};

use crate::{Function, Inst, Local, Value};

type Word = (u32, u32);
type Facts = HashMap<Word, Value>;

/// Maximum number of facts, and of stored words of a region. Above the limit, all facts are
/// discarded.
const LIMIT: usize = 4096;

/// Maximum nesting depth of regions up to which facts are kept. At greater depth, all facts are
/// discarded.
const MAX_OPEN: usize = 256;

/// Words that a region stores to.
#[derive(Debug, Default, Clone)]
struct Stored {
    words: HashSet<Word>,
    /// Locals stored to by a dynamic index.
    whole: HashSet<u32>,
    /// True if the words are too many to list.
    everything: bool,
}

impl Stored {
    fn add(&mut self, local: u32, base: u32, is_dynamic: bool) {
        if is_dynamic {
            self.whole.insert(local);
        } else {
            self.words.insert((local, base));
        }
        self.limit();
    }

    fn merge(&mut self, other: &Self) {
        self.words.extend(&other.words);
        self.whole.extend(&other.whole);
        self.everything |= other.everything;
        self.limit();
    }

    fn limit(&mut self) {
        if self.everything || self.words.len() + self.whole.len() > LIMIT {
            *self = Self { everything: true, ..Self::default() };
        }
    }
}

struct Region {
    /// Facts from before the region.
    before: Facts,
    stored: Stored,
}

struct Pass {
    facts: Facts,
    open: Vec<Region>,
    /// Replacement of each removed load.
    replaced: HashMap<Value, Value>,
}

/// Forwards stores to loads.
pub fn run(function: &mut Function) {
    let mut stores = loop_stores(&function.insts);
    let mut pass = Pass { facts: Facts::default(), open: Vec::new(), replaced: HashMap::default() };
    let mut insts = std::mem::take(&mut function.insts);
    for (at, inst) in insts.iter_mut().enumerate() {
        inst.map_operands(|value| pass.replaced.get(&value).copied().unwrap_or(value));
        pass.step(function, inst, stores.remove(&at));
    }
    insts.retain(|inst| !matches!(inst, Inst::LocalLoad { result, .. } if pass.replaced.contains_key(result)));
    function.insts = insts;
}

impl Pass {
    fn step(&mut self, function: &Function, inst: &Inst, stored: Option<Stored>) {
        match inst {
            Inst::LocalLoad { result, local: Local(local), base, index: None } => {
                self.load(function, (*local, *base), *result);
            }
            Inst::LocalStore { local: Local(local), base, index: None, value, .. } => {
                self.record(|stored| stored.add(*local, *base, false));
                self.set_fact((*local, *base), *value);
            }
            Inst::LocalStore { local: Local(local), .. } => {
                self.record(|stored| stored.add(*local, 0, true));
                self.facts.retain(|(of, _), _| of != local);
            }
            Inst::If { .. } | Inst::Block => self.enter(),
            Inst::Loop => {
                remove_stored(&mut self.facts, &stored.unwrap_or_default());
                self.enter();
            }
            Inst::Else => self.facts = self.open.last().map(|region| region.before.clone()).unwrap_or_default(),
            Inst::Continuing => self.join(),
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => self.leave(),
            _ => {}
        }
    }

    fn load(&mut self, function: &Function, word: Word, result: Value) {
        let type_of = |value: Value| function.types[value.0 as usize];
        match self.facts.get(&word) {
            Some(&value) if type_of(value) == type_of(result) => drop(self.replaced.insert(result, value)),
            Some(_) => {}
            None => self.set_fact(word, result),
        }
    }

    fn set_fact(&mut self, word: Word, value: Value) {
        if self.facts.len() >= LIMIT {
            self.facts.clear();
        }
        self.facts.insert(word, value);
    }

    fn record(&mut self, record: impl Fn(&mut Stored)) {
        if let Some(region) = self.open.last_mut() {
            record(&mut region.stored);
        }
    }

    fn enter(&mut self) {
        // Each open region stores a copy of the facts, so their number is limited.
        if self.open.len() >= MAX_OPEN {
            self.facts.clear();
        }
        self.open.push(Region { before: self.facts.clone(), stored: Stored::default() });
    }

    /// Keeps only facts that held before the region and whose words were not stored since, because
    /// lanes may arrive on other paths.
    fn join(&mut self) {
        let Some(region) = self.open.last() else { return };
        self.facts = region.before.clone();
        remove_stored(&mut self.facts, &region.stored);
    }

    fn leave(&mut self) {
        self.join();
        let Some(region) = self.open.pop() else { return };
        self.record(|stored| stored.merge(&region.stored));
    }
}

fn remove_stored(facts: &mut Facts, stored: &Stored) {
    if stored.everything {
        facts.clear();
    }
    for word in &stored.words {
        facts.remove(word);
    }
    if !stored.whole.is_empty() {
        facts.retain(|(local, _), _| !stored.whole.contains(local));
    }
}

/// Returns the words that each loop stores to, by the index of its `Loop`.
fn loop_stores(insts: &[Inst]) -> HashMap<usize, Stored> {
    let mut open: Vec<(usize, Stored)> = Vec::new();
    let mut out = HashMap::default();
    for (at, inst) in insts.iter().enumerate() {
        match inst {
            Inst::Loop => open.push((at, Stored::default())),
            Inst::EndLoop => {
                let Some((start, stored)) = open.pop() else { continue };
                if let Some((_, outer)) = open.last_mut() {
                    outer.merge(&stored);
                }
                out.insert(start, stored);
            }
            Inst::LocalStore { local, base, index, .. } => {
                let Some((_, stored)) = open.last_mut() else { continue };
                stored.add(local.0, *base, index.is_some());
            }
            _ => {}
        }
    }
    out
}
