//! Memory through which programs report why they abort. Source: `SPV_KHR_abort`.
//!
//! An aborting invocation exchanges the first dword for 1. The first one to do so finds 0, and
//! writes its message. The device reads the message when the submission has ended.

/// Device address of the memory. No application's memory has an address this low.
pub const ABORT_ADDRESS: u64 = 1 << 31;
/// Offset of the message's size in bytes, a dword.
pub const ABORT_SIZE_OFFSET: u32 = 8;
/// Offset of the message in bytes.
pub const ABORT_MESSAGE_OFFSET: u32 = 16;
/// Maximum size of a message in bytes.
pub const MAX_ABORT_BYTES: u32 = 1 << 16;
/// Size of the memory in bytes.
pub const ABORT_AREA_BYTES: u64 = (ABORT_MESSAGE_OFFSET + MAX_ABORT_BYTES) as u64;
