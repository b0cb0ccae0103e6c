//! Commands of draws that name memory by addresses. Source: `VK_KHR_device_address_commands`.
//!
//! A missing command records nothing, so that its case fails.

use std::ffi::CStr;

use ash::{khr, vk};
use vitric_vulkan::{commands as types, sys};

use super::draw::{Capture, Kind};
use crate::harness::{Buffer, Gpu};

/// Returns the device address of a buffer.
pub fn address(gpu: &Gpu, buffer: &Buffer) -> u64 {
    let second = khr::buffer_device_address::Device::new(&gpu.instance, &gpu.device);
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    // SAFETY: the buffer is bound to memory that has addresses.
    unsafe { second.get_buffer_device_address(&info) }
}

/// Returns the range of the bytes of a buffer from an offset on.
pub fn range(gpu: &Gpu, buffer: &Buffer, offset: u64, size: u64) -> types::DeviceAddressRangeKHR {
    types::DeviceAddressRangeKHR { address: address(gpu, buffer) + offset, size }
}

/// Returns the range of elements of a buffer from an offset on, up to its end.
pub fn strided(gpu: &Gpu, buffer: &Buffer, offset: u64, stride: u64) -> sys::StridedDeviceAddressRangeKHR {
    sys::StridedDeviceAddressRangeKHR { address: address(gpu, buffer) + offset, size: buffer.size - offset, stride }
}

/// Parameters of draws in a buffer, and the place of their number.
struct Parameters {
    buffer: Buffer,
    offset: u64,
    stride: u64,
    counts: Option<(Buffer, u64)>,
    /// Number of draws, or the largest one.
    count: u32,
}

/// Records draws with parameters in memory. The second name is that of the command whose number of
/// draws is in memory, too.
///
/// # Safety
/// The command buffer is recording in a pass.
unsafe fn draw(gpu: &Gpu, commands: vk::CommandBuffer, names: [&CStr; 2], parameters: &Parameters) {
    let &Parameters { buffer, offset, stride, counts, count } = parameters;
    let address_range = strided(gpu, &buffer, offset, stride);
    // SAFETY: as this function demands. All commands of a kind have the same parameters.
    unsafe {
        if let Some((counts, place)) = counts {
            let count_address_range = range(gpu, &counts, place, 4);
            let info = types::DrawIndirectCount2InfoKHR {
                address_range,
                count_address_range,
                max_draw_count: count,
                ..Default::default()
            };
            if let Ok(draw) = gpu.command::<types::PFN_vkCmdDrawIndirectCount2KHR>(names[1]) {
                draw(commands, &raw const info);
            }
        } else if let Ok(draw) = gpu.command::<types::PFN_vkCmdDrawIndirect2KHR>(names[0]) {
            let info = types::DrawIndirect2InfoKHR { address_range, draw_count: count, ..Default::default() };
            draw(commands, &raw const info);
        }
    }
}

/// Records a draw whose parameters are in memory, with the layouts that the commands of buffers
/// use for the same draw. Indices are bound.
///
/// # Safety
/// The command buffer is recording in a pass.
pub unsafe fn draw_indirect(gpu: &Gpu, commands: vk::CommandBuffer, kind: Kind) {
    let plain = [c"vkCmdDrawIndirect2KHR", c"vkCmdDrawIndirectCount2KHR"];
    let indexed = [c"vkCmdDrawIndexedIndirect2KHR", c"vkCmdDrawIndexedIndirectCount2KHR"];
    let meshes = [c"vkCmdDrawMeshTasksIndirect2EXT", c"vkCmdDrawMeshTasksIndirectCount2EXT"];
    // SAFETY: as this function demands.
    unsafe {
        match kind {
            Kind::Indirect { buffer, count } => {
                draw(gpu, commands, plain, &Parameters { buffer, offset: 0, stride: 16, counts: None, count });
            }
            Kind::Counted { buffer, counts, offset, most, indices } => {
                let (names, stride) = if indices.is_some() { (indexed, 20) } else { (plain, 16) };
                let counts = Some((counts, offset));
                draw(gpu, commands, names, &Parameters { buffer, offset: 0, stride, counts, count: most });
            }
            Kind::MeshesIndirect { buffer, counts, count } => {
                let counts = counts.map(|counts| (counts, 4));
                draw(gpu, commands, meshes, &Parameters { buffer, offset: 4, stride: 20, counts, count });
            }
            Kind::ByteCount { counter: (counter, place), offset, stride, .. } => {
                let info = feedback(gpu, &counter, place, 4);
                let name = c"vkCmdDrawIndirectByteCount2EXT";
                if let Ok(draw) = gpu.command::<types::PFN_vkCmdDrawIndirectByteCount2EXT>(name) {
                    draw(commands, 1, 0, &raw const info, offset, stride);
                }
            }
            _ => {}
        }
    }
}

fn feedback(gpu: &Gpu, buffer: &Buffer, offset: u64, size: u64) -> types::BindTransformFeedbackBuffer2InfoEXT {
    types::BindTransformFeedbackBuffer2InfoEXT { address_range: range(gpu, buffer, offset, size), ..Default::default() }
}

/// Returns the counters of transform feedback. A buffer without a counter has no bytes.
fn counters(gpu: &Gpu, capture: &Capture) -> Vec<types::BindTransformFeedbackBuffer2InfoEXT> {
    let counter = |counter: &Option<(Buffer, u64)>| {
        counter.map_or_else(Default::default, |(buffer, place)| feedback(gpu, &buffer, place, 4))
    };
    capture.counters.iter().map(counter).collect()
}

/// Binds memory and begins transform feedback.
///
/// # Safety
/// The command buffer is recording in a pass, and the extension is enabled.
pub unsafe fn begin_feedback(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture) {
    let bound: Vec<_> = capture
        .buffers
        .iter()
        .map(|captured| feedback(gpu, &captured.buffer, captured.offset, captured.size))
        .collect();
    let counters = if capture.resumes { counters(gpu, capture) } else { Vec::new() };
    let bind = c"vkCmdBindTransformFeedbackBuffers2EXT";
    let begin = c"vkCmdBeginTransformFeedback2EXT";
    // SAFETY: as this function demands.
    unsafe {
        if let Ok(bind) = gpu.command::<types::PFN_vkCmdBindTransformFeedbackBuffers2EXT>(bind) {
            bind(commands, 0, bound.len() as u32, bound.as_ptr());
        }
        if let Ok(begin) = gpu.command::<types::PFN_vkCmdBeginTransformFeedback2EXT>(begin) {
            begin(commands, 0, counters.len() as u32, counters.as_ptr());
        }
    }
}

/// Ends transform feedback.
///
/// # Safety
/// The command buffer is recording after [`begin_feedback`].
pub unsafe fn end_feedback(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture) {
    let counters = counters(gpu, capture);
    let end = c"vkCmdEndTransformFeedback2EXT";
    if let Ok(end) = gpu.command::<types::PFN_vkCmdEndTransformFeedback2EXT>(end) {
        // SAFETY: as this function demands.
        unsafe { end(commands, 0, counters.len() as u32, counters.as_ptr()) };
    }
}
