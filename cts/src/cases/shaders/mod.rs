//! Chapters "Shaders" and "SPIR-V Environment": the shading language, operations and their
//! precision, helper invocations, subgroups.

mod aborts;
mod barycentric;
mod clocks_and_atomics;
mod cooperative_matrices;
mod denormals;
mod extended_programs;
mod functions;
mod helper_invocations;
mod integer_dots;
mod language;
mod narrow_floats;
mod narrow_types;
mod partitioned;
mod special_operands;
mod spirv_assembly;
mod storage_buffers;
mod termination;
mod untyped;
