//! Chapters "Clear Commands" and "Copy Commands": clears, copies, blits, resolves, and copies by
//! the host.

mod buffers;
mod copy_commands2;
mod host_image_copy;
mod indirect;
mod maintenance8;
mod transfers;
