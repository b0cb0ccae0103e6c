//! Queries of one type that are active concurrently. Vulkan allows one active query, but layers
//! begin several (vkd3d-proton one for each query of Direct3D). All GPUs count for each query, so
//! a wait for its result must end.

mod common;

use ash::vk;
use common::{Drawing, Driver, Layout};

const VERTEX: &[u8] = include_bytes!("shaders/large.vert.spv");
const FRAGMENT: &[u8] = include_bytes!("shaders/count.frag.spv");

/// Begins query 0, then query 1, and ends them in this order, with a draw after each step. Returns
/// both results.
fn run(driver: &Driver, kind: vk::QueryType, named: vk::QueryPipelineStatisticFlags) -> [u64; 2] {
    let layout = Layout::new(driver, driver.buffer(256).unwrap().0).unwrap();
    let stages = [(vk::ShaderStageFlags::VERTEX, VERTEX), (vk::ShaderStageFlags::FRAGMENT, FRAGMENT)];
    let drawing = Drawing::new(driver, &layout, &stages, vk::PrimitiveTopology::TRIANGLE_LIST, false).unwrap();
    let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(2).pipeline_statistics(named);
    // SAFETY: the info is valid.
    let pool = unsafe { driver.device.create_query_pool(&info, None) }.unwrap();
    let (target, _) = driver.buffer(256).unwrap();
    let done = driver.run(|device, commands| {
        // SAFETY: usage is valid except for the concurrent queries, which the driver supports.
        unsafe {
            device.cmd_reset_query_pool(commands, pool, 0, 2);
            drawing.begin(device, commands, &layout);
            for query in [0, 1] {
                device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::empty());
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
            for query in [0, 1] {
                device.cmd_end_query(commands, pool, query);
                device.cmd_draw(commands, 3, 2, 0, 0);
            }
            device.cmd_end_render_pass(commands);
            let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::TYPE_64;
            device.cmd_copy_query_pool_results(commands, pool, 0, 2, target, 0, 8, flags);
        }
    });
    assert_eq!(done, Ok(()), "{:?}", driver.messages.lock().unwrap());
    let mut results = [0u64; 2];
    // SAFETY: both queries have ended.
    unsafe { driver.device.get_query_pool_results(pool, 0, &mut results, vk::QueryResultFlags::TYPE_64) }.unwrap();
    results
}

#[test]
fn queries_of_one_kind_count_side_by_side() {
    let driver = Driver::open();
    let none = vk::QueryPipelineStatisticFlags::empty();
    // Triangles cover 64x64 pixels. One is drawn before the second query begins, one while both
    // are active, and two in total during the second query.
    assert_eq!(run(&driver, vk::QueryType::OCCLUSION, none), [2 * 4096, 3 * 4096]);
    let vertices = vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES;
    assert_eq!(run(&driver, vk::QueryType::PIPELINE_STATISTICS, vertices), [6, 9]);
    driver.close();
}
