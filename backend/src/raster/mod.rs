//! The universal grid, edge equations, and coverage at any resolution.
