//! Amplification of a geometry program: the number of primitives that it emits for one input
//! primitive. Draws are divided into chunks by the expected amplification, which follows the
//! observed numbers of emitted vertices.

use std::sync::atomic::{AtomicU64, Ordering};

use vitric_ir::interface::GeometryFacts;

use crate::state::corners;

/// Maximum ratio of the declared amplification to the expected one. It bounds the memory of a chunk
/// if the program suddenly emits as many vertices as it declares.
const MAX_RATIO: usize = 16;

/// Number of observed input primitives. From twice this number on, the sums are halved, so that
/// older observations lose weight.
const HALF_LIFE: u64 = 1 << 14;

/// Declared and observed amplification of a geometry program. The declared amplification may be a
/// hundred times the observed one.
#[derive(Debug)]
pub struct Amplification {
    /// Declared amplification, over all invocations.
    max: usize,
    /// Number of input primitives that were observed.
    inputs: AtomicU64,
    /// Number of vertices that the program emitted for these input primitives.
    vertices: AtomicU64,
}

impl Amplification {
    /// Creates the amplification of a program that has not run yet.
    pub fn new(facts: &GeometryFacts) -> Self {
        let of_each = corners(facts.output) as u32;
        let primitives = facts.max_vertices.saturating_sub(of_each - 1).max(1);
        let max = facts.invocations as usize * primitives as usize;
        Self { max, inputs: AtomicU64::new(0), vertices: AtomicU64::new(0) }
    }

    /// Returns the declared maximum number of primitives for one input primitive.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Returns the expected number of primitives for one input primitive, at least 1. Each emitted
    /// vertex counts as a primitive. Before the first observation this is the maximum.
    pub fn expected(&self) -> usize {
        match self.inputs.load(Ordering::Relaxed) {
            0 => self.max,
            inputs => {
                let vertices = self.vertices.load(Ordering::Relaxed);
                (vertices.div_ceil(inputs) as usize).clamp(self.max.div_ceil(MAX_RATIO), self.max)
            }
        }
    }

    /// Records the number of vertices that the program emitted for a number of input primitives.
    pub fn record(&self, inputs: usize, vertices: usize) {
        let inputs = self.inputs.fetch_add(inputs as u64, Ordering::Relaxed) + inputs as u64;
        let vertices = self.vertices.fetch_add(vertices as u64, Ordering::Relaxed) + vertices as u64;
        if inputs > 2 * HALF_LIFE {
            // Threads that record at the same time may lose numbers, which only affects chunks.
            self.inputs.store(inputs / 2, Ordering::Relaxed);
            self.vertices.store(vertices / 2, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;

    #[test]
    fn observed_primitives_are_expected_within_bounds() {
        let output = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let facts = GeometryFacts { output, max_vertices: 1026, invocations: 2, ..GeometryFacts::default() };
        let amplification = Amplification::new(&facts);
        assert_eq!((amplification.max(), amplification.expected()), (2048, 2048));
        amplification.record(100, 30_000);
        assert_eq!(amplification.expected(), 300);
        amplification.record(9_900, 0);
        assert_eq!(amplification.expected(), 128, "a sixteenth of the maximum");
        amplification.record(40_000, 120_000_000);
        assert_eq!(amplification.expected(), 2048);
        for _ in 0..10 {
            amplification.record(HALF_LIFE as usize, 200 * HALF_LIFE as usize);
        }
        let expected = amplification.expected();
        assert!((200..300).contains(&expected), "{expected}");
    }
}
