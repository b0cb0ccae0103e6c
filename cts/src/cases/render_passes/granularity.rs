//! Render area granularity of dynamic rendering.

use ash::vk;

use crate::cases::support::conditions::need5;
use crate::harness::{Case, Gpu, check};

case!("maintenance.five.granularity", "VK_KHR_maintenance5", granularity);

fn granularity(gpu: &Gpu) -> Case {
    let commands = need5(gpu)?;
    let formats = [vk::Format::R8G8B8A8_UNORM];
    let info = vk::RenderingAreaInfoKHR::default().color_attachment_formats(&formats);
    // SAFETY: the structure is alive.
    let area = unsafe { commands.get_rendering_area_granularity(&info) };
    check(area.width >= 1 && area.height >= 1, || format!("{area:?}"))
}
