//! Clear, copy, blit and resolve.
