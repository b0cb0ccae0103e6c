//! Tests of translated shaders on every executor.

mod behaviour;
mod edges;
mod images;
mod large;
mod newer;
mod scene;
mod subgroups;
mod widths;

/// Small deterministic generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
