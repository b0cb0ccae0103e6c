//! Typed pipeline state: everything a graphics or compute pipeline fixes, as plain owned data.
