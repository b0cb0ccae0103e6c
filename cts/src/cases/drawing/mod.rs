//! Chapters "Drawing Commands" and "Fixed-Function Vertex Processing": topologies, restarts,
//! indices, instances, indirect, conditional and multiple draws.

mod conditional;
mod counted;
mod draw_parameters;
mod index_ranges;
mod instances_and_state;
mod legacy_attributes;
mod many_draws;
mod missing_attributes;
mod primitives;
mod restart_index;
mod vertex_input;
