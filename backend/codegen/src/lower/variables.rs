//! What changes over time: words of locals, and masks of lanes that run, wait or left. Each is a variable; its value at a
//! place is a set of registers, or nothing, which is zero.

use super::WaveRegs;

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

/// What a value is that a variable has: none is zero.
pub type Content = Option<WaveRegs>;

/// All variables and their values where lowering is.
#[derive(Debug)]
pub struct Variables {
    words: u32,
    current: Vec<Content>,
    /// Every write: which variable, and what it held before.
    log: Vec<(Variable, Content)>,
}

impl Variables {
    /// Variables for that many words and regions, all zero.
    pub fn new(words: u32, regions: usize) -> Self {
        Self { words, current: vec![None; words as usize + 1 + 2 * regions], log: Vec::new() }
    }

    /// A word of a local.
    pub fn word(word: u32) -> Variable {
        Variable(word)
    }

    /// The lanes that run.
    pub fn active(&self) -> Variable {
        Variable(self.words)
    }

    /// The lanes that left for a region's end.
    pub fn away(&self, region: u32) -> Variable {
        Variable(self.words + 1 + 2 * region)
    }

    /// The lanes that wait for a loop's continuing part.
    pub fn waiting(&self, region: u32) -> Variable {
        Variable(self.words + 2 + 2 * region)
    }

    /// The word that a variable is.
    pub fn as_word(&self, variable: Variable) -> Option<u32> {
        (variable.0 < self.words).then_some(variable.0)
    }

    /// The region whose lanes a variable is about.
    pub fn as_region(&self, variable: Variable) -> Option<u32> {
        (variable.0 > self.words).then(|| (variable.0 - self.words - 1) / 2)
    }

    /// What a variable holds.
    pub fn get(&self, variable: Variable) -> Content {
        self.current[variable.0 as usize]
    }

    /// Writes a variable.
    pub fn set(&mut self, variable: Variable, content: Content) {
        let before = std::mem::replace(&mut self.current[variable.0 as usize], content);
        self.log.push((variable, before));
    }

    /// A mark of what was written so far.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// The variables written since a mark, and what they hold.
    pub fn written(&self, mark: usize) -> Vec<(Variable, Content)> {
        let mut written: Vec<Variable> = self.log[mark..].iter().map(|(variable, _)| *variable).collect();
        written.sort_unstable();
        written.dedup();
        written.into_iter().map(|variable| (variable, self.get(variable))).collect()
    }

    /// Back to a mark.
    pub fn undo(&mut self, mark: usize) {
        for (variable, before) in self.log.drain(mark..).rev() {
            self.current[variable.0 as usize] = before;
        }
    }
}
