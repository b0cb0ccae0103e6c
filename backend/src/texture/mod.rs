//! Sampling: addressing, filtering, depth comparison, and texel fetch.
