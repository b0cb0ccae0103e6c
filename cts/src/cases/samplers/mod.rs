//! Chapter "Samplers": addressing, filters, level selection, reduction, borders.

mod extended_filtering;
mod filtering;
mod mirror_clamp;
