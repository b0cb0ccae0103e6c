//! Chapter "Render Pass": render pass objects, dynamic rendering, attachments, load, store and
//! resolve operations, multiview.

mod custom_resolve;
mod depth_stencil_resolve;
pub(super) mod dynamic_rendering;
mod feedback_loops;
mod granularity;
mod imageless;
mod load_store_none;
mod local_read;
mod maintenance10;
mod mixed_contents;
pub(super) mod multiview;
mod single_sampled;
mod subpasses;
mod unused_attachments;
