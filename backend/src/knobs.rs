//! The one table of knobs: environment parsing, documentation and `vitric info` all come from it.
