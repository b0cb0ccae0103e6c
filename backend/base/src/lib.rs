//! Foundation of the emulated GPU's crates: waves of lanes and kernels over them, worker threads,
//! pools of reusable objects, counters, clocks, knobs and messages about panics.
//!
//! Nothing in this crate depends on Vulkan.
//!
//! A kernel is a function over waves that is compiled for several instruction sets:
//!
//! ```
//! use vitric_base::kernel;
//! use vitric_base::simd::{Lanes, WAVE, each, highest_bits, spread};
//!
//! #[inline(always)]
//! fn squared_lanes(lanes: &Lanes) -> Lanes {
//!     each(|lane| lanes[lane] * lanes[lane])
//! }
//! kernel!(squared, squared_lanes, (lanes: &Lanes) -> Lanes);
//!
//! let lanes: Lanes = std::array::from_fn(|lane| lane as u32);
//! assert_eq!(squared(&lanes)[WAVE - 1], 225);
//! // A mask has a bit for each lane, and a vector mask a dword of ones.
//! assert_eq!(highest_bits(&spread(0b1010)), 0b1010);
//! ```

pub mod clock;
pub mod counters;
pub mod host_memory;
pub mod host_thread;
pub mod knobs;
pub mod object_pool;
pub mod panics;
pub mod simd;
pub mod sync;
pub mod workers;
