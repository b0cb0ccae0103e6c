//! Chapter "Command Buffers": their life cycle, and secondary and nested command buffers.

mod life_cycle;
mod nested;
