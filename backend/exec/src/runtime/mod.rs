//! Parts that programs run with and that know no program: lanes, atomics, shared memory,
//! deadlines, descriptors, and generated code with its frames.

mod atomics;
mod bound;
mod deadline;
mod descriptor;
pub use vitric_codegen::frame;
pub mod kernels;
mod masks;
pub mod math;
pub mod native;
pub mod rows;
mod sampler;
pub(crate) mod session;
mod shared;
pub mod symbols;

pub(crate) use atomics::Atomics;
pub use atomics::{perform, perform_wide};
pub use bound::{Bound, BoundBuffer, Ranges};
pub use deadline::{Deadline, WorkerGuard};
pub use descriptor::{Descriptor, SetBinding, SetLayout, is_dynamic};
pub use masks::{Masks, lanes_of};
pub(crate) use sampler::model_weights;
pub use sampler::{Conversion, MAX_ANISOTROPY, MAX_LOD_BIAS, Sampler, border};
pub use session::Stop;
pub use shared::SharedMemory;
