//! Commands of extensions for draws: mesh draws, multiple draws, transform feedback, conditional
//! rendering.

use ash::vk;

use super::address_commands;
use super::draw::{Capture, CaptureQuery, Draw, Kind, SIZE};
use crate::harness::{Buffer, Gpu};

/// Records a mesh draw.
///
/// # Safety
/// The command buffer is recording in a pass, and the extension is enabled.
pub unsafe fn draw_meshes(gpu: &Gpu, commands: vk::CommandBuffer, kind: Kind) {
    let meshes = ash::ext::mesh_shader::Device::new(&gpu.instance, &gpu.device);
    // There are two words between the arguments of draws, and one before them.
    let (offset, stride) = (4, 20);
    // SAFETY: as this function demands.
    unsafe {
        match kind {
            Kind::Meshes([x, y, z]) => meshes.cmd_draw_mesh_tasks(commands, x, y, z),
            Kind::MeshesIndirect { buffer, counts: None, count } => {
                meshes.cmd_draw_mesh_tasks_indirect(commands, buffer.handle, offset, count, stride);
            }
            Kind::MeshesIndirect { buffer, counts: Some(counts), count } => {
                let (arguments, counts) = (buffer.handle, counts.handle);
                meshes.cmd_draw_mesh_tasks_indirect_count(commands, arguments, offset, counts, 4, count, stride);
            }
            _ => {}
        }
    }
}

/// Records draws whose number is in a buffer.
///
/// # Safety
/// The command buffer is recording in a pass.
pub unsafe fn draw_counted(gpu: &Gpu, commands: vk::CommandBuffer, draw: &Draw) {
    let Kind::Counted { buffer, counts, offset, most, indices } = draw.kind else { return };
    let second = ash::khr::draw_indirect_count::Device::new(&gpu.instance, &gpu.device);
    let (arguments, counts) = (buffer.handle, counts.handle);
    // SAFETY: as this function demands.
    unsafe {
        if let Some(indices) = indices {
            gpu.device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
        }
        if draw.by_address {
            address_commands::draw_indirect(gpu, commands, draw.kind);
        } else if indices.is_some() {
            second.cmd_draw_indexed_indirect_count(commands, arguments, 0, counts, offset, most, 20);
        } else {
            second.cmd_draw_indirect_count(commands, arguments, 0, counts, offset, most, 16);
        }
    }
}

/// Records several draws as one command with a stride between their infos.
///
/// # Safety
/// The command buffer is recording in a pass.
pub unsafe fn draw_multi(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    (draws, instances): (&[[u32; 2]], u32),
    indices: Option<(Buffer, Option<i32>)>,
) {
    // Sixteen bytes each: first, count, vertex offset, and an unused word.
    let infos: Vec<[u32; 4]> = draws.iter().map(|[first, count]| [*first, *count, 1, 77]).collect();
    let multi = ash::ext::multi_draw::Device::new(&gpu.instance, &gpu.device);
    let (count, start) = (infos.len() as u32, infos.as_ptr());
    // SAFETY: as this function demands.
    unsafe {
        if let Some((buffer, offset)) = indices {
            gpu.device.cmd_bind_index_buffer(commands, buffer.handle, 0, vk::IndexType::UINT32);
            let offset = offset.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            (multi.fp().cmd_draw_multi_indexed_ext)(commands, count, start.cast(), instances, 2, 16, offset);
        } else {
            (multi.fp().cmd_draw_multi_ext)(commands, count, start.cast(), instances, 2, 16);
        }
    }
}

/// Sets the index that restarts primitives, if the command exists.
///
/// # Safety
/// The command buffer is recording, indices are bound, and the extension is enabled.
pub unsafe fn restart_index(gpu: &Gpu, commands: vk::CommandBuffer, index: u32) {
    type Set = unsafe extern "system" fn(vk::CommandBuffer, u32);
    // SAFETY: as this function demands; the name's function has this type.
    unsafe {
        let name = c"vkCmdSetPrimitiveRestartIndexEXT".as_ptr();
        let found = gpu.instance.get_device_proc_addr(gpu.device.handle(), name);
        if let Some(function) = found {
            std::mem::transmute::<unsafe extern "system" fn(), Set>(function)(commands, index);
        }
    }
}

/// Binds buffers, and begins queries and transform feedback.
///
/// # Safety
/// The command buffer is recording in a pass, and the extension is enabled.
pub unsafe fn begin_capture(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture, by_address: bool) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    let handles: Vec<vk::Buffer> = capture.buffers.iter().map(|range| range.buffer.handle).collect();
    let offsets: Vec<u64> = capture.buffers.iter().map(|range| range.offset).collect();
    let sizes: Vec<u64> = capture.buffers.iter().map(|range| range.size).collect();
    // SAFETY: as this function demands.
    unsafe {
        let fp = extension.fp();
        let (count, offsets, sizes) = (handles.len() as u32, offsets.as_ptr(), sizes.as_ptr());
        for &CaptureQuery { pool, query, stream } in &capture.queries {
            (fp.cmd_begin_query_indexed_ext)(commands, pool, query, vk::QueryControlFlags::empty(), stream);
        }
        if capture.only_queries {
            return;
        }
        if by_address {
            address_commands::begin_feedback(gpu, commands, capture);
            return;
        }
        (fp.cmd_bind_transform_feedback_buffers_ext)(commands, 0, count, handles.as_ptr(), offsets, sizes);
        let (counters, places) = counters(capture);
        let count = if capture.resumes { counters.len() as u32 } else { 0 };
        (fp.cmd_begin_transform_feedback_ext)(commands, 0, count, counters.as_ptr(), places.as_ptr());
    }
}

/// Ends transform feedback and queries.
///
/// # Safety
/// The command buffer is recording after `begin_capture`.
pub unsafe fn end_capture(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture, by_address: bool) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe {
        let (counters, places) = counters(capture);
        let (fp, count) = (extension.fp(), counters.len() as u32);
        if by_address {
            address_commands::end_feedback(gpu, commands, capture);
        } else if !capture.only_queries {
            (fp.cmd_end_transform_feedback_ext)(commands, 0, count, counters.as_ptr(), places.as_ptr());
        }
        for &CaptureQuery { pool, query, stream } in &capture.queries {
            (fp.cmd_end_query_indexed_ext)(commands, pool, query, stream);
        }
    }
}

/// Returns the counter buffers and the offsets in them.
fn counters(capture: &Capture) -> (Vec<vk::Buffer>, Vec<u64>) {
    capture
        .counters
        .iter()
        .map(|counter| counter.map(|(buffer, place)| (buffer.handle, place)).unwrap_or_default())
        .unzip()
}

/// Draws captured vertices by their byte count.
///
/// # Safety
/// The command buffer is recording in a pass, and the extension is enabled.
pub unsafe fn draw_byte_count(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    (counter, place): (Buffer, u64),
    [offset, stride]: [u32; 2],
) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe { (extension.fp().cmd_draw_indirect_byte_count_ext)(commands, 1, 0, counter.handle, place, offset, stride) };
}

/// Begins conditional rendering.
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn begin_condition(gpu: &Gpu, commands: vk::CommandBuffer, (buffer, offset): (Buffer, u64)) {
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(buffer.handle).offset(offset);
    // SAFETY: as this function demands.
    unsafe { (extension.fp().cmd_begin_conditional_rendering_ext)(commands, &raw const info) };
}

/// Clears the lower half to blue, and ends conditional rendering.
///
/// # Safety
/// The command buffer is recording in a pass.
pub unsafe fn end_condition(gpu: &Gpu, commands: vk::CommandBuffer) {
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let color = vk::ClearColorValue { float32: [0.0, 0.0, 1.0, 1.0] };
    let clear = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue { color },
    };
    let rect = vk::Rect2D {
        offset: vk::Offset2D { x: 0, y: SIZE as i32 / 2 },
        extent: vk::Extent2D { width: SIZE, height: SIZE / 2 },
    };
    let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    // SAFETY: as this function demands.
    unsafe {
        gpu.device.cmd_clear_attachments(commands, &[clear], &[rect]);
        (extension.fp().cmd_end_conditional_rendering_ext)(commands);
    }
}
