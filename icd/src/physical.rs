//! Queries of the physical device. Source: Vulkan specification, "Devices and Queues", "Features", "Limits", "Formats".

use std::ffi::{c_char, c_void};
use std::fmt::Debug;

use ash::vk::{self, TaggedStructure};
use vitric_api::extensions::Level;
use vitric_api::families::{self, FAMILIES, Family};
use vitric_api::physical::{self, ImageKind};
use vitric_api::structures::{self, Structures};
use vitric_api::{Error, heap};

use crate::external::memory_properties;
use crate::instance::extension_properties;
use crate::objects::{Marked, PhysicalObject};
use crate::{host, newer, raw};

pub extern "system" fn features(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures) {
    if let Some(out) = raw::output(out) {
        *out = physical::features();
    }
}

pub extern "system" fn features2(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures2<'_>) {
    if let Some(out) = raw::output(out) {
        out.features = physical::features();
        structures::features(&mut Writer(out.p_next));
        newer::features(&mut Writer(out.p_next));
    }
}

pub extern "system" fn properties(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
    if let Some(out) = raw::output(out) {
        *out = physical::properties();
    }
}

pub extern "system" fn properties2(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties2<'_>) {
    if let Some(out) = raw::output(out) {
        out.properties = physical::properties();
        structures::properties(&mut Writer(out.p_next));
        newer::properties(&mut Writer(out.p_next));
        newer::put_layered(out.p_next);
        host::put_properties(out.p_next);
    }
}

/// Writes what an application has in its chain.
struct Writer(*mut c_void);

impl Structures for Writer {
    fn put<T: TaggedStructure + Debug>(&mut self, value: T) {
        raw::put(self.0, value);
    }
}

pub extern "system" fn format_properties(_: vk::PhysicalDevice, format: vk::Format, out: *mut vk::FormatProperties) {
    if let Some(out) = raw::output(out) {
        *out = physical::format_properties(format);
    }
}

pub extern "system" fn format_properties2(
    _: vk::PhysicalDevice,
    format: vk::Format,
    out: *mut vk::FormatProperties2<'_>,
) {
    if let Some(out) = raw::output(out) {
        out.format_properties = physical::format_properties(format);
        raw::put(out.p_next, physical::format_properties3(format));
        // As quickly as to an attachment of several samples.
        raw::put(out.p_next, vk::SubpassResolvePerformanceQueryEXT::default().optimal(true));
    }
}

pub extern "system" fn image_format_properties(
    _: vk::PhysicalDevice,
    format: vk::Format,
    kind: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
    out: *mut vk::ImageFormatProperties,
) -> vk::Result {
    put_image_format(ImageKind { format, kind, tiling, usage, flags }, raw::output(out))
}

pub extern "system" fn image_format_properties2(
    _: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
    out: *mut vk::ImageFormatProperties2<'_>,
) -> vk::Result {
    let Some(info) = raw::input(info) else { return Error::Unknown.code() };
    let &vk::PhysicalDeviceImageFormatInfo2 { format, ty: kind, tiling, usage, flags, p_next, .. } = info;
    let stencil: Option<&vk::ImageStencilUsageCreateInfo<'_>> = raw::find(p_next);
    let usage = usage | stencil.map_or(vk::ImageUsageFlags::empty(), |stencil| stencil.stencil_usage);
    let external: Option<&vk::PhysicalDeviceExternalImageFormatInfo<'_>> = raw::find(p_next);
    let external = match external.filter(|external| !external.handle_type.is_empty()) {
        None => Some(vk::ExternalMemoryProperties::default()),
        Some(external) => memory_properties(external.handle_type),
    };
    let Some(external) = external else { return Error::FormatNotSupported.code() };
    let target = raw::output(out).map(|out| {
        raw::put(out.p_next, vk::ExternalImageFormatProperties::default().external_memory_properties(external));
        let performance = vk::HostImageCopyDevicePerformanceQueryEXT::default();
        raw::put(out.p_next, performance.optimal_device_access(true).identical_memory_layout(true));
        let conversion = vk::SamplerYcbcrConversionImageFormatProperties::default();
        raw::put(out.p_next, conversion.combined_image_sampler_descriptor_count(1));
        &mut out.image_format_properties
    });
    put_image_format(ImageKind { format, kind, tiling, usage, flags }, target)
}

fn put_image_format(kind: ImageKind, out: Option<&mut vk::ImageFormatProperties>) -> vk::Result {
    raw::guard(|| {
        let out = out.ok_or(Error::Unknown)?;
        let found = physical::image_format_properties(kind);
        *out = found.unwrap_or_default();
        found.map(|_| vk::Result::SUCCESS).ok_or(Error::FormatNotSupported)
    })
}

pub extern "system" fn multisample_properties(
    _: vk::PhysicalDevice,
    samples: vk::SampleCountFlags,
    out: *mut vk::MultisamplePropertiesEXT<'_>,
) {
    if let Some(out) = raw::output(out) {
        out.max_sample_location_grid_size = physical::sample_location_grid(samples);
    }
}

pub extern "system" fn queue_families(_: vk::PhysicalDevice, count: *mut u32, out: *mut vk::QueueFamilyProperties) {
    let _ = raw::enumerate(&FAMILIES.map(Family::properties), count, out);
}

pub extern "system" fn queue_families2(
    _: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::QueueFamilyProperties2<'_>,
) {
    if out.is_null() {
        let _ = raw::enumerate(&FAMILIES, count, std::ptr::null_mut());
    } else if let Some(count) = raw::output(count) {
        *count = (*count).min(FAMILIES.len() as u32);
        for (out, family) in raw::slice_mut(out, *count as usize).iter_mut().zip(FAMILIES) {
            out.queue_family_properties = family.properties();
            raw::put(out.p_next, families::global_priorities());
            newer::put_ownership(out.p_next);
        }
    }
}

pub extern "system" fn memory(handle: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceMemoryProperties) {
    if let (Some(object), Some(out)) = (PhysicalObject::from_handle(handle), raw::output(out)) {
        *out = physical::memory(object.heap.size());
    }
}

pub extern "system" fn memory2(handle: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceMemoryProperties2<'_>) {
    if let (Some(object), Some(out)) = (PhysicalObject::from_handle(handle), raw::output(out)) {
        out.memory_properties = physical::memory(object.heap.size());
        raw::put(out.p_next, heap::memory_budget(&object.heap));
    }
}

pub extern "system" fn sparse_formats(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    count: *mut u32,
    _: *mut vk::SparseImageFormatProperties,
) {
    // There are no sparse resources.
    if let Some(count) = raw::output(count) {
        *count = 0;
    }
}

pub extern "system" fn sparse_formats2(
    _: vk::PhysicalDevice,
    _: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: *mut u32,
    _: *mut vk::SparseImageFormatProperties2<'_>,
) {
    if let Some(count) = raw::output(count) {
        *count = 0;
    }
}

pub extern "system" fn extensions(
    _: vk::PhysicalDevice,
    _layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    raw::guard(|| Ok(raw::enumerate(&extension_properties(Level::Device), count, out)))
}

pub extern "system" fn layers(_: vk::PhysicalDevice, count: *mut u32, out: *mut vk::LayerProperties) -> vk::Result {
    raw::enumerate(&[], count, out)
}

pub extern "system" fn fragment_shading_rates(
    _: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceFragmentShadingRateKHR<'_>,
) -> vk::Result {
    let Some(count) = raw::output(count) else { return Error::Unknown.code() };
    let rates = physical::fragment_shading_rates();
    if out.is_null() {
        *count = rates.len() as u32;
        return vk::Result::SUCCESS;
    }
    let room = (*count as usize).min(rates.len());
    for (out, (samples, size)) in raw::slice_mut(out, room).iter_mut().zip(rates) {
        (out.sample_counts, out.fragment_size) = (samples, size);
    }
    *count = room as u32;
    if room < rates.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

/// There are no tools in the driver.
pub extern "system" fn tools(
    _: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceToolProperties<'_>,
) -> vk::Result {
    raw::enumerate(&[], count, out)
}
