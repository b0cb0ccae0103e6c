//! Store-to-load forwarding: a load of a local's word gives the value last stored or loaded there, where that is one
//! value on every way.
//!
//! Facts (`word of a local` holds `value`) flow with the regions: both sides of an `If` start from its facts; after a
//! region only those facts stay that held before it and whose words nothing in it stores to. A loop drops what it stores
//! before it starts. So a forwarded value always comes from an enclosing region, and from the same iteration.

use foldhash::{HashMap, HashSet};

use crate::{Function, Inst, Local, Value, map_operands};

type Word = (u32, u32);
type Facts = HashMap<Word, Value>;

/// Most facts, and most words of a region, that are kept track of: past it nothing is known.
const LIMIT: usize = 4096;

/// Most regions, one in the other, that facts are kept for: within more of them nothing is known.
const MAX_OPEN: usize = 256;

/// What a region stores to.
#[derive(Debug, Default, Clone)]
struct Stored {
    words: HashSet<Word>,
    /// Locals stored to by a dynamic index.
    whole: HashSet<u32>,
    /// Too much to tell.
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
    /// What held before the region.
    before: Facts,
    stored: Stored,
}

struct Pass {
    facts: Facts,
    open: Vec<Region>,
    /// What stands for a value.
    replaced: HashMap<Value, Value>,
}

/// Forwards stores to loads.
pub fn run(function: &mut Function) {
    let mut stores = loop_stores(&function.insts);
    let mut pass = Pass { facts: Facts::default(), open: Vec::new(), replaced: HashMap::default() };
    let mut insts = std::mem::take(&mut function.insts);
    for (at, inst) in insts.iter_mut().enumerate() {
        map_operands(inst, |value| pass.replaced.get(&value).copied().unwrap_or(value));
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
                self.note(|stored| stored.add(*local, *base, false));
                self.learn((*local, *base), *value);
            }
            Inst::LocalStore { local: Local(local), .. } => {
                self.note(|stored| stored.add(*local, 0, true));
                self.facts.retain(|(of, _), _| of != local);
            }
            Inst::If { .. } | Inst::Block => self.enter(),
            Inst::Loop => {
                drop_stored(&mut self.facts, &stored.unwrap_or_default());
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
            None => self.learn(word, result),
        }
    }

    fn learn(&mut self, word: Word, value: Value) {
        if self.facts.len() >= LIMIT {
            self.facts.clear();
        }
        self.facts.insert(word, value);
    }

    fn note(&mut self, note: impl Fn(&mut Stored)) {
        if let Some(region) = self.open.last_mut() {
            note(&mut region.stored);
        }
    }

    fn enter(&mut self) {
        // Each open region keeps the facts from before it.
        if self.open.len() >= MAX_OPEN {
            self.facts.clear();
        }
        self.open.push(Region { before: self.facts.clone(), stored: Stored::default() });
    }

    /// Lanes come from elsewhere: only what held before the region and was not stored since is sure.
    fn join(&mut self) {
        let Some(region) = self.open.last() else { return };
        self.facts = region.before.clone();
        drop_stored(&mut self.facts, &region.stored);
    }

    fn leave(&mut self) {
        self.join();
        let Some(region) = self.open.pop() else { return };
        self.note(|stored| stored.merge(&region.stored));
    }
}

fn drop_stored(facts: &mut Facts, stored: &Stored) {
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

/// What each loop stores to, by the index of its `Loop`.
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
