//! The one format table, and everything derived from it.
