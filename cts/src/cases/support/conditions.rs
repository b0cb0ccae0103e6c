//! Conditions of cases: versions, format features, maintenance extensions; and comparisons.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome};

/// Returns the commands of `VK_KHR_maintenance5`, or ends the case without them.
pub(in crate::cases) fn need5(gpu: &Gpu) -> Result<ash::khr::maintenance5::Device, Outcome> {
    match gpu.extension_features.maintenance5.maintenance5 {
        vk::TRUE => Ok(ash::khr::maintenance5::Device::new(&gpu.instance, &gpu.device)),
        _ => Err(Outcome::NotSupported("VK_KHR_maintenance5".into())),
    }
}

/// Returns the commands of `VK_KHR_maintenance6`, or ends the case without them.
pub(in crate::cases) fn need6(gpu: &Gpu) -> Result<ash::khr::maintenance6::Device, Outcome> {
    match gpu.extension_features.maintenance6.maintenance6 {
        vk::TRUE => Ok(ash::khr::maintenance6::Device::new(&gpu.instance, &gpu.device)),
        _ => Err(Outcome::NotSupported("VK_KHR_maintenance6".into())),
    }
}

/// Ends a case unless the device has a version.
pub(in crate::cases) fn need_version(gpu: &Gpu, version: u32) -> Case {
    let found = gpu.properties.api_version;
    let text = || Outcome::NotSupported(format!("version 1.{}", vk::api_version_minor(version)));
    if found >= version { Ok(()) } else { Err(text()) }
}

/// Ends the case unless the last vertex of primitives can be the provoking one.
pub(in crate::cases) fn need_last_provoking(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PROVOKING_VERTEX_NAME)?;
    match gpu.extension_features.provoking.provoking_vertex_last {
        0 => Err(Outcome::NotSupported("provokingVertexLast".into())),
        _ => Ok(()),
    }
}

/// Returns true if a format has features for optimal tiling.
pub(in crate::cases) fn supports(
    gpu: &Gpu,
    format: vk::Format,
    wanted: vk::FormatFeatureFlags,
) -> Result<bool, Outcome> {
    // SAFETY: the physical device is valid.
    let properties = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
    Ok(properties.optimal_tiling_features.contains(wanted))
}

/// Returns the result of a comparison operation.
pub(in crate::cases) fn holds<T: PartialOrd>(op: vk::CompareOp, a: T, b: T) -> bool {
    match op {
        vk::CompareOp::NEVER => false,
        vk::CompareOp::LESS => a < b,
        vk::CompareOp::EQUAL => a == b,
        vk::CompareOp::LESS_OR_EQUAL => a <= b,
        vk::CompareOp::GREATER => a > b,
        vk::CompareOp::NOT_EQUAL => a != b,
        vk::CompareOp::GREATER_OR_EQUAL => a >= b,
        _ => true,
    }
}

/// Ends a case unless colour and depth attachments may have this number of samples.
pub(in crate::cases) fn need_samples(gpu: &Gpu, samples: u32) -> Case {
    let limits = &gpu.properties.limits;
    let counts = limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts;
    match counts.contains(vk::SampleCountFlags::from_raw(samples)) {
        true => Ok(()),
        false => Err(Outcome::NotSupported(format!("{samples} samples"))),
    }
}

/// Ends a case unless the device has the features of `VK_EXT_extended_dynamic_state3` that the
/// cases use.
pub(in crate::cases) fn need_dynamic3(gpu: &Gpu) -> Case {
    let features = &gpu.extension_features.dynamic_state3;
    let all = [
        features.extended_dynamic_state3_polygon_mode,
        features.extended_dynamic_state3_color_blend_equation,
        features.extended_dynamic_state3_depth_clip_enable,
        features.extended_dynamic_state3_conservative_rasterization_mode,
        gpu.extension_features.vertex_input.vertex_input_dynamic_state,
        gpu.extension_features.color_write.color_write_enable,
    ];
    if all.contains(&vk::FALSE) { Err(Outcome::NotSupported("dynamic state".into())) } else { Ok(()) }
}
