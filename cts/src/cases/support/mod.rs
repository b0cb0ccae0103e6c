//! Helpers that cases of several chapters use. No cases are here.

pub(super) mod compute;
pub(super) mod conditions;
pub(super) mod fills;
pub(super) mod images;
pub(super) mod pairs;
pub(super) mod pipelines;
pub(super) mod sampling;
pub(super) mod stages;
pub(super) mod transfer_images;
pub(super) mod vertices;
