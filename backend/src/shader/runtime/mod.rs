//! What running programs may call: descriptors, buffer and image access, atomics.
