//! Rectangles that one pipeline fills, without any other state.

use ash::vk;

use crate::harness::Gpu;

/// A command buffer in a pass, and the pipeline that fills rectangles in it.
#[derive(Clone, Copy)]
pub(in crate::cases) struct Fills {
    pub(in crate::cases) commands: vk::CommandBuffer,
    pub(in crate::cases) pipeline: vk::Pipeline,
    pub(in crate::cases) layout: vk::PipelineLayout,
}

impl Fills {
    /// Records a draw of a rectangle in clip coordinates. `numbers` follow the colour in the push
    /// constants: the depth, and two numbers whose meaning the shaders decide.
    pub(in crate::cases) fn fill(self, gpu: &Gpu, rect: [f32; 4], color: [f32; 4], numbers: [f32; 3]) {
        let Self { commands, pipeline, layout } = self;
        let [depth, second, third] = numbers;
        let push: Vec<f32> = [rect, color, [depth, second, third, 0.0]].concat();
        let bytes: &[u8] = bytemuck::cast_slice(&push);
        // SAFETY: the command buffer is recording in a pass that the pipeline is made for.
        unsafe {
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            gpu.device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL, 0, bytes);
            gpu.device.cmd_draw(commands, 6, 1, 0, 0);
        }
    }
}
