//! Sampling: addressing, filtering, depth comparison, and texel fetch.

mod sampler;

pub use sampler::Sampler;
