//! Counters of every unit: name, unit and description in one table.
