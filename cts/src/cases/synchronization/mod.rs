//! Chapter "Synchronization and Cache Control": fences, semaphores, events, queue family ownership
//! transfers and calibrated timestamps.

mod calibrated_timestamps;
mod fences_semaphores_events;
mod markers;
mod synchronization2;
mod timeline_semaphores;
