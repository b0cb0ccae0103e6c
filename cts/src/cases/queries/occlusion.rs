//! Precise occlusion queries.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, State, Target, render};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

case!("queries.occlusion.exact", "Occlusion Queries", occlusion);

fn occlusion(gpu: &Gpu) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let rect = [-1.0, -1.0, 0.0, 0.5];
    render(gpu, &Target::default(), &[Draw { query: Some(pool), ..Draw::rect(State::default(), rect, RED) }])?;
    let mut samples = [0u32];
    // SAFETY: the query was ended.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut samples, vk::QueryResultFlags::WAIT)? };
    check(samples[0] == 8 * 12, || format!("{} samples", samples[0]))
}
