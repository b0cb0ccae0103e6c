//! The IR: scalar-per-lane SSA with structured control flow; types, builder, text form, verifier.
