//! Commands that set what pipelines leave open, beyond those of Vulkan 1.0.
//! Source: `VK_EXT_extended_dynamic_state`, `VK_EXT_extended_dynamic_state2`.

use ash::vk;
use vitric_backend::command::Command;
use vitric_backend::state::{SetState, StencilOps};

use crate::command::{self, plain};
use crate::raw;

/// Entry points that set one value.
macro_rules! setters {
    ($($name:ident: $parameter:ty => $value:expr;)*) => {
        $(
        pub extern "system" fn $name(handle: vk::CommandBuffer, value: $parameter) {
            let set: fn($parameter) -> SetState = $value;
            plain(handle, Command::SetState(set(value)));
        }
        )*
    };
}

setters! {
    cull_mode: vk::CullModeFlags => SetState::CullMode;
    front_face: vk::FrontFace => SetState::FrontFace;
    topology: vk::PrimitiveTopology => SetState::Topology;
    depth_test: vk::Bool32 => |value| SetState::DepthTest(value != 0);
    depth_write: vk::Bool32 => |value| SetState::DepthWrite(value != 0);
    depth_compare: vk::CompareOp => SetState::DepthCompare;
    depth_bounds_test: vk::Bool32 => |value| SetState::DepthBoundsTest(value != 0);
    stencil_test: vk::Bool32 => |value| SetState::StencilTest(value != 0);
    discard: vk::Bool32 => |value| SetState::Discard(value != 0);
    depth_bias: vk::Bool32 => |value| SetState::DepthBias(value != 0);
    restart: vk::Bool32 => |value| SetState::Restart(value != 0);
    logic_op: vk::LogicOp => SetState::LogicOp;
}

// There is no tessellation.

pub extern "system" fn patch_control_points(_: vk::CommandBuffer, _: u32) {}

pub extern "system" fn stencil_op(
    handle: vk::CommandBuffer,
    faces: vk::StencilFaceFlags,
    fail: vk::StencilOp,
    pass: vk::StencilOp,
    depth_fail: vk::StencilOp,
    compare: vk::CompareOp,
) {
    let ops = StencilOps { fail, pass, depth_fail, compare };
    plain(handle, Command::SetState(SetState::Stencil { faces, ops }));
}

pub extern "system" fn viewports(handle: vk::CommandBuffer, count: u32, viewports: *const vk::Viewport) {
    command::set_viewport(handle, 0, count, viewports);
    plain(handle, Command::SetState(SetState::ViewportCount(count)));
}

pub extern "system" fn scissors(handle: vk::CommandBuffer, count: u32, scissors: *const vk::Rect2D) {
    command::set_scissor(handle, 0, count, scissors);
}

pub extern "system" fn bind_vertex_buffers(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
    _sizes: *const vk::DeviceSize,
    strides: *const vk::DeviceSize,
) {
    // What lies behind a size may be read: accesses are robust in the buffer as a whole.
    command::bind_vertex_buffers(handle, first, count, buffers, offsets);
    let strides = raw::slice(strides, count);
    if !strides.is_empty() {
        let strides = strides.iter().map(|&stride| stride as u32).collect();
        plain(handle, Command::SetVertexStrides { first, strides });
    }
}
