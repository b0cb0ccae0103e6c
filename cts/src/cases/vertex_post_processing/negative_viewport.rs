//! Viewports of negative height.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, SIZE, State, Target, render};

case!("core11.maintenance.negative_viewport", "VK_KHR_maintenance1", negative_viewport);

/// Checks that a viewport of negative height mirrors the picture, and that front faces become back
/// faces.
fn negative_viewport(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let (side, up) = (SIZE as f32, State::default());
    let flipped = vk::Viewport { y: side, height: -side, ..up.viewport };
    for cull_mode in [vk::CullModeFlags::NONE, vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT] {
        let picture = |viewport, front_face| {
            let mut state = State { viewport, ..State::default() };
            (state.raster.cull_mode, state.raster.front_face) = (cull_mode, front_face);
            let draws = [
                Draw::rect(state.clone(), [-1.0, -1.0, 0.3, 0.1], [1.0, 0.0, 0.0, 1.0]),
                Draw::rect(state, [-0.45, -0.7, 0.8, 0.0], [0.0, 1.0, 0.0, 1.0]),
            ];
            render(gpu, &Target::default(), &draws)
        };
        let expected = picture(up.viewport, vk::FrontFace::CLOCKWISE)?;
        let found = picture(flipped, vk::FrontFace::COUNTER_CLOCKWISE)?;
        let rows = expected.chunks(SIZE as usize).rev().flatten();
        check(rows.eq(&found), || format!("{cull_mode:?}: the picture is not upside down"))?;
    }
    Ok(())
}
