//! The wave interpreter: the oracle every code generator is checked against.
