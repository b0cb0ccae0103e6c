//! Uniformity analysis: finds values that are equal in all lanes of a wave, and stores to locals
//! that need no mask.
//!
//! A value is uniform if every lane computes the same word, active or not. A word of a local is
//! uniform if every store to it stores a uniform value to all lanes.
//!
//! A store may go to all lanes if no lane that is inactive at the store can become active again
//! and load the word. Lanes are inactive in the other part of a divergent `If`. They are also
//! inactive after a divergent `Break` or `Continue`, until the target region ends or continues.
//! Such stores are marked `all`, and every executor obeys the mark. Inactive lanes, which
//! derivatives may read, therefore hold identical words in every executor.
//!
//! The analysis assumes at first that everything is uniform. It then removes assumptions that do
//! not hold until nothing changes.

use crate::{Function, Inst, RegionKind, Regions, Space, Value};

/// Results of the uniformity analysis.
#[derive(Debug, Clone, Default)]
pub struct Uniformity {
    /// Uniformity of each value.
    pub values: Vec<bool>,
    /// Difference of each value from lane to lane, if it is constant.
    pub strides: Vec<Option<u32>>,
    /// Uniformity of each word of each local (see [`Words`]).
    pub words: Vec<bool>,
    /// For each region, true if the condition of its `If` or a `Break` to its end is divergent.
    pub splits: Vec<bool>,
    /// For each region, true if a `Continue` to it is divergent.
    pub continues: Vec<bool>,
    /// For each region, true if some of its lanes may jump out of it or end, while others stay.
    pub loses_lanes: Vec<bool>,
    /// True if the program may execute instructions without any active lane.
    pub may_be_empty: bool,
    accesses: Vec<Accesses>,
}

impl Uniformity {
    /// Returns true if a later load may read the value that a word has at the middle or the end of
    /// a region.
    pub fn is_live(&self, regions: &Regions, word: u32, at: u32, region: u32) -> bool {
        let accesses = &self.accesses[word as usize];
        let at_end = at == regions.get(region).end;
        let home_within = regions.chain(accesses.home).any(|around| around == region);
        if home_within && (at_end || accesses.home != region) {
            return false;
        }
        let mut around = regions.chain(region).skip(usize::from(at_end)).take_while(|&number| number != accesses.home);
        accesses.loaded_after(at)
            || around.any(|number| {
                let loop_ = regions.get(number);
                loop_.kind == RegionKind::Loop && accesses.loaded_within(loop_.start, loop_.end)
            })
    }

    /// Returns true if a word that is stored in a loop may be read in a later iteration or after
    /// the loop.
    pub fn is_carried(&self, regions: &Regions, word: u32, region: u32) -> bool {
        let accesses = &self.accesses[word as usize];
        let (start, end) = (regions.get(region).start, regions.get(region).end);
        let home_within = regions.chain(accesses.home).any(|around| around == region);
        !home_within && (accesses.loaded_within(start, end) || self.is_live(regions, word, end, region))
    }

    /// Returns true if a `Break` or `Continue` in `region` is taken by all lanes that are in the
    /// target region.
    pub fn is_taken_by_all(&self, regions: &Regions, region: u32, target: u32, continues: bool) -> bool {
        let splits = |region: u32| self.splits[region as usize] || self.continues[region as usize];
        let mut between = regions.chain(region).take_while(|&region| region != target);
        !(between.any(splits) || (!continues && self.continues[target as usize]))
    }
}

/// Numbers of the words of all locals that are never indexed dynamically.
#[derive(Debug, Clone)]
pub struct Words {
    first: Vec<Option<u32>>,
    /// Number of words.
    pub count: u32,
}

impl Words {
    /// Numbers the words of a function's locals.
    pub fn new(function: &Function) -> Self {
        let mut indexed = vec![false; function.locals.len()];
        for inst in &function.insts {
            match inst {
                Inst::LocalLoad { local, index: Some(_), .. } | Inst::LocalStore { local, index: Some(_), .. } => {
                    indexed[local.0 as usize] = true;
                }
                Inst::LocalLoad { local, base, .. } | Inst::LocalStore { local, base, .. } => {
                    // The path for indexed locals also handles words outside of their local.
                    indexed[local.0 as usize] |= *base >= function.locals[local.0 as usize];
                }
                _ => {}
            }
        }
        let mut count = 0;
        let number = |(&words, indexed): (&u32, bool)| {
            let first = (!indexed).then_some(count);
            count += if indexed { 0 } else { words };
            first
        };
        let first = function.locals.iter().zip(indexed).map(number).collect();
        Self { first, count }
    }

    /// Returns the number of the word that an instruction accesses. Returns `None` if the local is
    /// indexed.
    pub fn of(&self, inst: &Inst) -> Option<u32> {
        match inst {
            Inst::LocalLoad { local, base, .. } | Inst::LocalStore { local, base, .. } => {
                self.first[local.0 as usize].map(|first| first + base)
            }
            _ => None,
        }
    }

    /// Returns true if a local has no numbered words because it is indexed.
    pub fn is_indexed(&self, local: u32) -> bool {
        self.first[local as usize].is_none()
    }
}

/// Accesses of one word, in ascending order of position.
#[derive(Debug, Clone, Default)]
struct Accesses {
    loads: Vec<u32>,
    /// Innermost region that contains all accesses, if each of its executions starts with a store.
    /// Otherwise the function.
    home: u32,
}

impl Accesses {
    fn loaded_after(&self, at: u32) -> bool {
        self.loads.last().is_some_and(|&last| last > at)
    }

    fn loaded_within(&self, start: u32, end: u32) -> bool {
        let next = self.loads.partition_point(|&load| load < start);
        self.loads.get(next).is_some_and(|&load| load <= end)
    }
}

struct Analysis<'a> {
    function: &'a Function,
    regions: &'a Regions,
    words: &'a Words,
    facts: Uniformity,
    changed: bool,
}

/// Analyses a function and marks its stores. `uniform_input` returns whether an input slot is
/// uniform.
pub fn run(function: &mut Function, uniform_input: impl Fn(u32) -> bool) -> Uniformity {
    let regions = Regions::new(function);
    let words = Words::new(function);
    let facts = Uniformity {
        values: vec![true; function.types.len()],
        strides: vec![None; function.types.len()],
        words: vec![true; words.count as usize],
        splits: vec![false; regions.list.len()],
        continues: vec![false; regions.list.len()],
        loses_lanes: vec![false; regions.list.len()],
        may_be_empty: false,
        accesses: accesses(function, &regions, &words),
    };
    let mut analysis = Analysis { function, regions: &regions, words: &words, facts, changed: true };
    while std::mem::take(&mut analysis.changed) {
        for at in 0..analysis.function.insts.len() {
            analysis.step(at, &uniform_input);
        }
    }
    let marks = analysis.marks();
    analysis.find_lost_lanes();
    let facts = analysis.facts;
    for (inst, mark) in function.insts.iter_mut().zip(marks) {
        if let Inst::LocalStore { all, .. } = inst {
            *all = mark;
        }
    }
    facts
}

impl Analysis<'_> {
    fn step(&mut self, at: usize, uniform_input: &impl Fn(u32) -> bool) {
        let inst = &self.function.insts[at];
        match inst {
            Inst::If { condition } if !self.is_uniform(*condition) => self.split(self.regions.of[at]),
            Inst::Break { depth } | Inst::Continue { depth } => self.leave(at, *depth),
            Inst::LocalStore { value, .. } => {
                let Some(word) = self.words.of(inst) else { return };
                if !self.is_uniform(*value) || self.is_partial(at, word) {
                    self.changed |= std::mem::replace(&mut self.facts.words[word as usize], false);
                }
            }
            _ if !self.is_result_uniform(inst, uniform_input) => {
                for value in inst.results() {
                    self.changed |= std::mem::replace(&mut self.facts.values[value.0 as usize], false);
                }
            }
            _ => {}
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.facts.values[value.0 as usize]
    }

    fn is_result_uniform(&self, inst: &Inst, uniform_input: &impl Fn(u32) -> bool) -> bool {
        let mut uniform = match inst {
            Inst::Input { slot, .. } => uniform_input(*slot),
            Inst::LocalLoad { .. } => self.words.of(inst).is_some_and(|word| self.facts.words[word as usize]),
            Inst::Interpolate { .. } | Inst::Atomic { .. } | Inst::IsHelper { .. } => false,
            Inst::Image(image) => image.op.is_query(),
            Inst::Lane { .. } | Inst::IsActive { .. } | Inst::Atomic64(_) => false,
            Inst::Load { space: Space::Block(_), .. } => false,
            Inst::MatrixLoad(_) | Inst::MatrixMultiply(_) => false,
            Inst::Ballot { .. } => return true,
            Inst::Shuffle { a, index, .. } => return self.is_uniform(*a) || self.is_uniform(*index),
            _ => true,
        };
        inst.operands(|value| uniform &= self.is_uniform(value));
        uniform
    }

    fn split(&mut self, region: u32) {
        self.changed |= !std::mem::replace(&mut self.facts.splits[region as usize], true);
    }

    /// Marks the target region of a `Break` or `Continue` that some lanes of that region do not
    /// take.
    fn leave(&mut self, at: usize, depth: u32) {
        let Some(target) = self.regions.target(self.regions.of[at], depth) else { return };
        let is_continue = matches!(self.function.insts[at], Inst::Continue { .. });
        let divergent = !self.facts.is_taken_by_all(self.regions, self.regions.of[at], target, is_continue);
        if divergent {
            let flags = if is_continue { &mut self.facts.continues } else { &mut self.facts.splits };
            self.changed |= !std::mem::replace(&mut flags[target as usize], true);
        }
    }

    /// Returns true if a lane that is inactive at a store may become active again and load the
    /// word's earlier value.
    fn is_partial(&self, at: usize, word: u32) -> bool {
        let accesses = &self.facts.accesses[word as usize];
        let at = at as u32;
        let inside = self.regions.chain(self.regions.of[at as usize]).take_while(|&region| region != accesses.home);
        inside.into_iter().any(|number| {
            let region = self.regions.get(number);
            let back = if region.kind == RegionKind::If && at < region.middle { region.middle } else { region.end };
            let comes_back = self.facts.splits[number as usize] && self.may_load(accesses, number, back, false);
            let continues = self.facts.continues[number as usize]
                && at < region.middle
                && self.may_load(accesses, number, region.middle, true);
            comes_back || continues
        }) || self.home_continues(at, accesses)
    }

    /// Returns true if the home region is a loop whose continuing part loads the word after a
    /// divergent `Continue`.
    fn home_continues(&self, at: u32, accesses: &Accesses) -> bool {
        let region = self.regions.get(accesses.home);
        self.facts.continues[accesses.home as usize]
            && at < region.middle
            && accesses.loaded_within(region.middle, region.end)
    }

    /// Returns true if lanes that become active again at `back` may load the word before the home
    /// region restarts. `back` is the end or the middle of `region`. The load may come later, or
    /// earlier in an enclosing loop that iterates again.
    fn may_load(&self, accesses: &Accesses, region: u32, back: u32, stays: bool) -> bool {
        if accesses.loaded_after(back) {
            return true;
        }
        let mut around = self.regions.chain(region).take_while(|&number| number != accesses.home);
        around.any(|number| {
            let loop_ = self.regions.get(number);
            loop_.kind == RegionKind::Loop
                && (number != region || stays)
                && accesses.loaded_within(loop_.start, loop_.end)
        })
    }

    fn find_lost_lanes(&mut self) {
        for (at, inst) in self.function.insts.iter().enumerate() {
            let region = self.regions.of[at];
            let target = match inst {
                Inst::Kill => None,
                Inst::Break { depth } | Inst::Continue { depth } => {
                    let Some(target) = self.regions.target(region, *depth) else { continue };
                    let continues = matches!(inst, Inst::Continue { .. });
                    if self.facts.is_taken_by_all(self.regions, region, target, continues) {
                        continue;
                    }
                    Some(target)
                }
                _ => continue,
            };
            self.facts.may_be_empty = true;
            for around in self.regions.chain(region).take_while(|&around| Some(around) != target) {
                self.facts.loses_lanes[around as usize] = true;
            }
        }
    }

    /// Returns, for each instruction, whether it is a store to all lanes.
    fn marks(&self) -> Vec<bool> {
        let mark = |(at, inst): (usize, &Inst)| match inst {
            Inst::LocalStore { .. } => self.words.of(inst).is_some_and(|word| !self.is_partial(at, word)),
            _ => false,
        };
        self.function.insts.iter().enumerate().map(mark).collect()
    }
}

/// Collects the accesses and the home region of every word.
fn accesses(function: &Function, regions: &Regions, words: &Words) -> Vec<Accesses> {
    let mut all = vec![Accesses::default(); words.count as usize];
    let mut first: Vec<Option<(u32, bool)>> = vec![None; words.count as usize];
    let mut last = vec![0; words.count as usize];
    for (at, inst) in function.insts.iter().enumerate() {
        let Some(word) = words.of(inst).map(|word| word as usize) else { continue };
        let is_load = matches!(inst, Inst::LocalLoad { .. });
        let region = regions.of[at];
        all[word].home = if first[word].is_none() { region } else { common(regions, all[word].home, region) };
        first[word].get_or_insert((at as u32, is_load));
        last[word] = at as u32;
        if is_load {
            all[word].loads.push(at as u32);
        }
    }
    let continues = first_continues(function, regions);
    for ((accesses, first), last) in all.iter_mut().zip(first).zip(last) {
        let Some((first, starts_with_load)) = first else { continue };
        if starts_with_load || !is_fresh(regions, accesses.home, (first, last), &continues) {
            accesses.home = 0;
        }
    }
    all
}

/// Returns true if the first of the accesses between two positions precedes all others in each
/// execution of the home region.
fn is_fresh(regions: &Regions, home: u32, (first, last): (u32, u32), continues: &[u32]) -> bool {
    let region = regions.get(home);
    let one_half = last < region.middle || first > region.middle;
    let whole_loop = region.kind == RegionKind::Loop && continues[home as usize] > first;
    regions.of[first as usize] == home && (one_half || whole_loop)
}

/// Returns, for each loop, the position of the first `Continue` that targets it.
fn first_continues(function: &Function, regions: &Regions) -> Vec<u32> {
    let mut out = vec![u32::MAX; regions.list.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        if let Inst::Continue { depth } = inst
            && let Some(target) = regions.target(regions.of[at], *depth)
        {
            out[target as usize] = out[target as usize].min(at as u32);
        }
    }
    out
}

/// Returns the innermost region that contains both regions.
fn common(regions: &Regions, a: u32, b: u32) -> u32 {
    let around: Vec<u32> = regions.chain(a).collect();
    regions.chain(b).find(|region| around.contains(region)).unwrap_or(0)
}
