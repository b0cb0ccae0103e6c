//! Chapter "Queries": occlusion, timestamps, pipeline statistics, results and resets.

mod host_reset;
mod occlusion;
pub(super) mod pipeline_statistics;
mod results;
mod timestamps;
mod wide_results;
