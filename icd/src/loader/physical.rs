//! Queries of the physical device. Source: Vulkan specification, "Devices and Queues", "Features",
//! "Limits", "Formats".

use std::ffi::{c_char, c_void};
use std::fmt::Debug;

use ash::vk::{self, TaggedStructure};
use vitric_api::extensions::Level;
use vitric_api::families::{self, FAMILIES, Family};
use vitric_api::physical::{self, ImageKind};
use vitric_api::structures::{self, Structures};
use vitric_api::{Error, Result, heap};
use vitric_entry::entry;
use vitric_vulkan::{Newer, PhysicalDeviceLayeredApiPropertiesListKHR, sys};

use super::instance::extension_properties;
use crate::call::{Call, In, Listing, Out};
use crate::object::external::memory_properties;
use crate::object::{PhysicalObject, compression, host, modifier};
use crate::slots::Marked;

#[entry(vkGetPhysicalDeviceFeatures)]
fn get_physical_device_features(_: vk::PhysicalDevice, mut out: Out<'_, vk::PhysicalDeviceFeatures>) {
    *out = physical::features();
}

#[entry(vkGetPhysicalDeviceFeatures2)]
fn get_physical_device_features2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    mut out: Out<'_, vk::PhysicalDeviceFeatures2<'_>>,
) {
    out.features = physical::features();
    structures::features(&mut Writer(call, out.p_next));
}

#[entry(vkGetPhysicalDeviceProperties)]
fn get_physical_device_properties(_: vk::PhysicalDevice, mut out: Out<'_, vk::PhysicalDeviceProperties>) {
    *out = physical::properties();
}

#[entry(vkGetPhysicalDeviceProperties2)]
fn get_physical_device_properties2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    mut out: Out<'_, vk::PhysicalDeviceProperties2<'_>>,
) {
    out.properties = physical::properties();
    structures::properties(&mut Writer(call, out.p_next));
    put_layered(call, out.p_next);
    host::put_properties(call, out.p_next);
}

/// Writes 0 as the number of implementations below this one.
fn put_layered(call: Call<'_>, next: *mut c_void) {
    if let Some(mut list) = call.find_output::<PhysicalDeviceLayeredApiPropertiesListKHR>(next) {
        list.layered_api_count = 0;
    }
}

/// Writes the families that images can move to from a family's queues without a transfer of
/// ownership: all families, because they share one GPU.
fn put_ownership(call: Call<'_>, next: *mut c_void) {
    let optimal_image_transfer_to_queue_families = (1 << FAMILIES.len()) - 1;
    let ownership = sys::QueueFamilyOwnershipTransferPropertiesKHR {
        optimal_image_transfer_to_queue_families,
        ..Default::default()
    };
    call.put(next, Newer(ownership));
}

/// Writes structures to an application's chain.
struct Writer<'c>(Call<'c>, *mut c_void);

impl Structures for Writer<'_> {
    fn put<T: TaggedStructure + Debug>(&mut self, value: T) {
        self.0.put(self.1, value);
    }
}

#[entry(vkGetPhysicalDeviceFormatProperties)]
fn get_physical_device_format_properties(
    _: vk::PhysicalDevice,
    format: vk::Format,
    mut out: Out<'_, vk::FormatProperties>,
) {
    *out = physical::format_properties(format);
}

#[entry(vkGetPhysicalDeviceFormatProperties2)]
fn get_physical_device_format_properties2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    format: vk::Format,
    mut out: Out<'_, vk::FormatProperties2<'_>>,
) {
    out.format_properties = physical::format_properties(format);
    call.put(out.p_next, physical::format_properties3(format));
    modifier::put_modifiers(call, format, out.p_next);
    // Resolving rendering with more samples than the attachment has is as fast as rendering to a
    // multisampled attachment.
    call.put(out.p_next, vk::SubpassResolvePerformanceQueryEXT::default().optimal(true));
}

#[entry(vkGetPhysicalDeviceImageFormatProperties)]
fn get_physical_device_image_format_properties(
    _: vk::PhysicalDevice,
    format: vk::Format,
    kind: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
    mut out: Out<'_, vk::ImageFormatProperties>,
) -> Result<vk::Result> {
    let kind = ImageKind { format, kind, tiling, usage, flags };
    put_image_format(kind, tiling != vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT, &mut out)
}

#[entry(vkGetPhysicalDeviceImageFormatProperties2)]
fn get_physical_device_image_format_properties2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    info: In<'_, vk::PhysicalDeviceImageFormatInfo2<'_>>,
    mut out: Out<'_, vk::ImageFormatProperties2<'_>>,
) -> Result<vk::Result> {
    let &vk::PhysicalDeviceImageFormatInfo2 { format, ty: kind, tiling, usage, flags, p_next, .. } = info.get();
    let stencil: Option<&vk::ImageStencilUsageCreateInfo<'_>> = call.find(p_next);
    let usage = usage | stencil.map_or(vk::ImageUsageFlags::empty(), |stencil| stencil.stencil_usage);
    let external: Option<&vk::PhysicalDeviceExternalImageFormatInfo<'_>> = call.find(p_next);
    let external = match external.filter(|external| !external.handle_type.is_empty()) {
        None => Some(vk::ExternalMemoryProperties::default()),
        Some(external) => memory_properties(external.handle_type),
    };
    // Protected images are not shared.
    let is_shared = external.is_some_and(|external| !external.external_memory_features.is_empty());
    let is_supported = !(is_shared && flags.contains(vk::ImageCreateFlags::PROTECTED));
    let external = external.filter(|_| is_supported).ok_or(Error::FormatNotSupported)?;
    call.put(out.p_next, vk::ExternalImageFormatProperties::default().external_memory_properties(external));
    let performance = vk::HostImageCopyDevicePerformanceQueryEXT::default();
    call.put(out.p_next, performance.optimal_device_access(true).identical_memory_layout(true));
    let conversion = vk::SamplerYcbcrConversionImageFormatProperties::default();
    call.put(out.p_next, conversion.combined_image_sampler_descriptor_count(1));
    let kind = ImageKind { format, kind, tiling, usage, flags };
    compression::put(call, kind.is_in_rows() || compression::is_disabled(call, p_next), out.p_next);
    put_image_format(kind, modifier::is_supported(call, kind, p_next), &mut out.image_format_properties)
}

/// Writes the limits of images of a kind, if their modifier is supported.
fn put_image_format(kind: ImageKind, has_modifier: bool, out: &mut vk::ImageFormatProperties) -> Result<vk::Result> {
    let found = physical::image_format_properties(kind).filter(|_| has_modifier);
    *out = found.unwrap_or_default();
    found.map(|_| vk::Result::SUCCESS).ok_or(Error::FormatNotSupported)
}

#[entry(vkGetPhysicalDeviceMultisamplePropertiesEXT)]
fn get_physical_device_multisample_properties(
    _: vk::PhysicalDevice,
    samples: vk::SampleCountFlags,
    mut out: Out<'_, vk::MultisamplePropertiesEXT<'_>>,
) {
    out.max_sample_location_grid_size = physical::sample_location_grid(samples);
}

#[entry(vkGetPhysicalDeviceQueueFamilyProperties)]
fn get_physical_device_queue_family_properties(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::QueueFamilyProperties>,
) {
    let _ = out.put(&FAMILIES.map(Family::properties));
}

#[entry(vkGetPhysicalDeviceQueueFamilyProperties2)]
fn get_physical_device_queue_family_properties2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::QueueFamilyProperties2<'_>>,
) {
    let _ = out.put_with(FAMILIES.into_iter(), |out, family| {
        out.queue_family_properties = family.properties();
        call.put(out.p_next, families::global_priorities());
        put_ownership(call, out.p_next);
        call.put(out.p_next, families::optimal_granularity());
    });
}

#[entry(vkGetPhysicalDeviceMemoryProperties)]
fn get_physical_device_memory_properties(
    call: Call<'_>,
    handle: vk::PhysicalDevice,
    mut out: Out<'_, vk::PhysicalDeviceMemoryProperties>,
) {
    let Some(object) = PhysicalObject::from_handle(call, handle) else { return };
    *out = physical::memory(object.heap.size());
}

#[entry(vkGetPhysicalDeviceMemoryProperties2)]
fn get_physical_device_memory_properties2(
    call: Call<'_>,
    handle: vk::PhysicalDevice,
    mut out: Out<'_, vk::PhysicalDeviceMemoryProperties2<'_>>,
) {
    let Some(object) = PhysicalObject::from_handle(call, handle) else { return };
    out.memory_properties = physical::memory(object.heap.size());
    call.put(out.p_next, heap::memory_budget(&object.heap));
}

#[entry(vkGetPhysicalDeviceSparseImageFormatProperties)]
fn get_physical_device_sparse_image_format_properties(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    mut count: Out<'_, u32>,
    _: *mut vk::SparseImageFormatProperties,
) {
    // Sparse resources are not supported.
    *count = 0;
}

#[entry(vkGetPhysicalDeviceSparseImageFormatProperties2)]
fn get_physical_device_sparse_image_format_properties2(
    _: vk::PhysicalDevice,
    _: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    mut count: Out<'_, u32>,
    _: *mut vk::SparseImageFormatProperties2<'_>,
) {
    *count = 0;
}

#[entry(vkEnumerateDeviceExtensionProperties)]
fn enumerate_device_extension_properties(
    _: vk::PhysicalDevice,
    _: *const c_char,
    #[len] count: *mut u32,
    out: Listing<'_, vk::ExtensionProperties>,
) -> Result<vk::Result> {
    out.put(&extension_properties(Level::Device))
}

#[entry(vkEnumerateDeviceLayerProperties)]
fn enumerate_device_layer_properties(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::LayerProperties>,
) -> Result<vk::Result> {
    out.put(&[])
}

#[entry(vkGetPhysicalDeviceFragmentShadingRatesKHR)]
fn get_physical_device_fragment_shading_rates(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::PhysicalDeviceFragmentShadingRateKHR<'_>>,
) -> Result<vk::Result> {
    out.put_with(physical::fragment_shading_rates().into_iter(), |out, (samples, size)| {
        (out.sample_counts, out.fragment_size) = (samples, size);
    })
}

#[entry(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)]
fn get_physical_device_cooperative_matrix_properties(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::CooperativeMatrixPropertiesKHR<'_>>,
) -> Result<vk::Result> {
    out.put_with(physical::cooperative_matrices().into_iter(), |out, product| {
        let (s_type, next) = (out.s_type, out.p_next);
        *out = product;
        (out.s_type, out.p_next) = (s_type, next);
    })
}

/// Returns no tools: the driver has none.
#[entry(vkGetPhysicalDeviceToolProperties)]
fn get_physical_device_tool_properties(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::PhysicalDeviceToolProperties<'_>>,
) -> Result<vk::Result> {
    out.put(&[])
}
