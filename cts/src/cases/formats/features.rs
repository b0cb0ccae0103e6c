//! Format features in 64 bits.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

case!("core13.device.format_features", "VK_KHR_format_feature_flags2", format_features);

/// Checks that the 64-bit features of every format of Vulkan 1.0 include the 32-bit features.
fn format_features(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_FORMAT_FEATURE_FLAGS2_NAME)?;
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    for format in (1..=184).map(vk::Format::from_raw) {
        let mut wide = vk::FormatProperties3::default();
        let mut all = vk::FormatProperties2::default().push_next(&mut wide);
        // SAFETY: the chain is valid.
        unsafe { query.get_physical_device_format_properties2(gpu.physical, format, &mut all) };
        let narrow = all.format_properties;
        let pairs = [
            (narrow.linear_tiling_features, wide.linear_tiling_features),
            (narrow.optimal_tiling_features, wide.optimal_tiling_features),
            (narrow.buffer_features, wide.buffer_features),
        ];
        for (narrow, wide) in pairs {
            let same = u64::from(narrow.as_raw()) == wide.as_raw() & 0x7fff_ffff;
            check(same, || format!("{format:?}: {narrow:?} and {wide:?}"))?;
            let without = vk::FormatFeatureFlags2::STORAGE_READ_WITHOUT_FORMAT;
            let stores = narrow.contains(vk::FormatFeatureFlags::STORAGE_IMAGE);
            let promised = gpu.features.shader_storage_image_read_without_format == vk::TRUE;
            check(!(stores && promised) || wide.contains(without), || format!("{format:?}: {wide:?}"))?;
        }
    }
    Ok(())
}
