//! Mutations of SPIR-V modules. Instructions are dropped, duplicated, swapped, or copied from
//! other modules. Operands are replaced by other ids of the module, or by words that often reveal
//! errors.

/// Number of words in a module's header.
const HEADER: usize = 5;
/// Maximum number of modules in the pool. The first ones are the corpus.
const MAX_KEPT: usize = 600;
/// Maximum length of a module in the pool, in words.
const MAX_WORDS: usize = 6_000;
/// Words that often reveal errors.
const EDGES: [u32; 10] = [0, 1, 2, 3, 16, 64, 0x7fff_ffff, 0x8000_0000, 0xffff, u32::MAX];

/// Generator of mutated modules, deterministic for a seed.
pub(crate) struct Mutator {
    pool: Vec<Vec<u32>>,
    corpus: usize,
    state: u64,
}

impl Mutator {
    /// Creates a mutator from a corpus.
    ///
    /// # Panics
    /// Panics if the corpus has no module below [`MAX_WORDS`].
    pub(crate) fn new(corpus: Vec<Vec<u32>>, seed: u64) -> Self {
        let pool: Vec<_> = corpus.into_iter().filter(|words| words.len() < MAX_WORDS).collect();
        assert!(!pool.is_empty(), "there is nothing to mutate");
        Self { corpus: pool.len(), pool, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Adds a module that compiled to the pool.
    pub(crate) fn keep(&mut self, words: Vec<u32>) {
        if words.len() >= MAX_WORDS {
            return;
        }
        if self.pool.len() < MAX_KEPT {
            self.pool.push(words);
        } else {
            let place = self.corpus + self.below(MAX_KEPT - self.corpus);
            self.pool[place] = words;
        }
    }

    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random() % limit.max(1) as u64) as usize
    }

    /// Returns the next module.
    pub(crate) fn next(&mut self) -> Vec<u32> {
        let chosen = self.below(self.pool.len());
        let words = self.pool[chosen].clone();
        let bound = words.get(3).copied().unwrap_or(1);
        let mut instructions = split(&words);
        for _ in 0..=self.below(3) {
            self.mutate(&mut instructions, bound);
        }
        let mut out = words[..HEADER.min(words.len())].to_vec();
        out.extend(instructions.concat());
        out
    }

    fn mutate(&mut self, instructions: &mut Vec<Vec<u32>>, bound: u32) {
        let at = self.below(instructions.len());
        match self.below(10) {
            0 => drop((!instructions.is_empty()).then(|| instructions.remove(at))),
            1 => {
                let copy = instructions.get(at).cloned();
                let place = self.near(at, instructions.len());
                instructions.splice(place..place, copy);
            }
            2 => {
                let other = self.near(at, instructions.len());
                if other < instructions.len() {
                    instructions.swap(at, other);
                }
            }
            3 => {
                let from = self.below(self.pool.len());
                let others = split(&self.pool[from]);
                let taken = others.get(self.below(others.len())).cloned();
                instructions.splice(at..at, taken);
            }
            4 => {
                // Nearby opcodes mostly have operands of equal shape.
                let step = self.below(7) as u32;
                if let Some(first) = instructions.get_mut(at).and_then(|words| words.first_mut()) {
                    *first = (*first & 0xffff_0000) | (*first & 0xffff).wrapping_add(step).wrapping_sub(3) & 0xffff;
                }
            }
            _ => self.change_operand(instructions, at, bound),
        }
    }

    /// Returns a random index near `at`.
    fn near(&mut self, at: usize, length: usize) -> usize {
        (at + self.below(9)).saturating_sub(4).min(length)
    }

    fn change_operand(&mut self, instructions: &mut [Vec<u32>], at: usize, bound: u32) {
        let (kind, edge, id) = (self.below(4), self.below(EDGES.len()), self.below(bound.min(1 << 20) as usize) as u32);
        let near = self.near(at, instructions.len());
        let word = self.below(16);
        let neighbour = instructions.get(near).and_then(|words| words.get(1 + word % words.len().max(1))).copied();
        let Some(words) = instructions.get_mut(at).filter(|words| words.len() > 1) else { return };
        let place = 1 + word % (words.len() - 1);
        words[place] = match (kind, neighbour) {
            (0, _) => EDGES[edge],
            (1, _) => id,
            (2, _) => words[place] ^ 1 << (edge * 3 % 32),
            (_, Some(neighbour)) => neighbour,
            (_, None) => id,
        };
    }
}

/// Splits a module into its instructions. A remainder that is no valid instruction becomes one.
fn split(words: &[u32]) -> Vec<Vec<u32>> {
    let mut out = Vec::new();
    let mut rest = words.get(HEADER..).unwrap_or(&[]);
    while let Some(&first) = rest.first() {
        let count = ((first >> 16) as usize).clamp(1, rest.len());
        out.push(rest[..count].to_vec());
        rest = &rest[count..];
    }
    out
}
