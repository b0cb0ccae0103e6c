//! Variables of lowering: dwords of locals, and masks of the lanes that run, wait or have left.
//!
//! The content of a variable at a position is a set of registers, or `None`, which means zero.

use super::WaveRegs;

/// Variable, identified by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

/// Content of a variable; `None` is zero.
pub type Content = Option<WaveRegs>;

/// All variables with their content at the current position of lowering.
#[derive(Debug)]
pub struct Variables {
    words: u32,
    current: Vec<Content>,
    /// Log of writes: each variable and its content before the write.
    log: Vec<(Variable, Content)>,
}

impl Variables {
    /// Creates the variables of `words` dwords of locals and `regions` regions, all zero.
    pub fn new(words: u32, regions: usize) -> Self {
        Self { words, current: vec![None; words as usize + 1 + 2 * regions], log: Vec::new() }
    }

    /// Returns the variable of a dword of a local.
    pub fn word(word: u32) -> Variable {
        Variable(word)
    }

    /// Returns the variable of the active lanes.
    pub fn active(&self) -> Variable {
        Variable(self.words)
    }

    /// Returns the variable of the lanes that have left for a region's end.
    pub fn left_lanes(&self, region: u32) -> Variable {
        Variable(self.words + 1 + 2 * region)
    }

    /// Returns the variable of the lanes that wait for a loop's continue block.
    pub fn continued_lanes(&self, region: u32) -> Variable {
        Variable(self.words + 2 + 2 * region)
    }

    /// Returns the dword of a local that a variable represents, if it does.
    pub fn as_word(&self, variable: Variable) -> Option<u32> {
        (variable.0 < self.words).then_some(variable.0)
    }

    /// Returns the region of a variable that represents a region's lanes.
    pub fn as_region(&self, variable: Variable) -> Option<u32> {
        (variable.0 > self.words).then(|| (variable.0 - self.words - 1) / 2)
    }

    /// Returns the content of a variable.
    pub fn get(&self, variable: Variable) -> Content {
        self.current[variable.0 as usize]
    }

    /// Writes a variable.
    pub fn set(&mut self, variable: Variable, content: Content) {
        let before = std::mem::replace(&mut self.current[variable.0 as usize], content);
        self.log.push((variable, before));
    }

    /// Returns a mark of the current position in the log of writes.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Returns the variables that were written since a mark, with their current content.
    pub fn written(&self, mark: usize) -> Vec<(Variable, Content)> {
        let mut written: Vec<Variable> = self.log[mark..].iter().map(|(variable, _)| *variable).collect();
        written.sort_unstable();
        written.dedup();
        written.into_iter().map(|variable| (variable, self.get(variable))).collect()
    }

    /// Undoes all writes since a mark.
    pub fn undo(&mut self, mark: usize) {
        for (variable, before) in self.log.drain(mark..).rev() {
            self.current[variable.0 as usize] = before;
        }
    }
}
