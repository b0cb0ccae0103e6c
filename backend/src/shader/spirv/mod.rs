//! SPIR-V binaries to IR: an own bounded walker and the translation.
