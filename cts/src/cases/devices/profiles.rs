//! Profiles: sets of extensions, features, limits and formats that Khronos, LunarG and Android
//! define for programs to rely on.
//!
//! The tables in `cts/profiles/` have a requirement a line:
//! - `version 1.4.328`, the version of Vulkan;
//! - `includes roadmap_2022`, another table;
//! - `extension VK_KHR_swapchain`;
//! - `feature Vulkan12Features.timelineSemaphore`, a structure without `VkPhysicalDevice` and a
//!   field;
//! - `limit Properties.limits.maxBoundDescriptorSets >= 7`, also with `<=`, `==`, `has` for names
//!   of flags, and `spans` for a range;
//! - `format R8_UNORM optimal SAMPLED_IMAGE BLIT_SRC`;
//! - `any feature A.b | extension C`, one of several.
//!
//! Fields are found by the names that structures print, without underscores and in lower case.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Debug;

use ash::vk;
use vitric_vulkan::*;

use crate::harness::{Case, Gpu, check};

macro_rules! profiles {
    ($($file:literal => $case:literal;)*) => {
        /// Returns the table of a name.
        fn table(name: &str) -> &'static str {
            match name {
                $($file => include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/", $file, ".txt")),)*
                _ => "",
            }
        }

        $(case!($case, "Vulkan Profiles", |gpu: &Gpu| meets(gpu, $file));)*
    };
}

profiles! {
    "roadmap_2022" => "profiles.roadmap.year_2022";
    "roadmap_2024" => "profiles.roadmap.year_2024";
    "roadmap_2026" => "profiles.roadmap.year_2026";
    "desktop_2026" => "profiles.desktop.year_2026";
    "android_2022" => "profiles.android.year_2022";
    "android_2025" => "profiles.android.year_2025";
    "android_15" => "profiles.android.version_15";
    "android_16" => "profiles.android.version_16";
    "android_17" => "profiles.android.version_17";
}

/// Requirements that only an implementation on Android can meet.
const OF_ANDROID: [&str; 3] = ["VK_ANDROID_", "VK_KHR_android_surface", "VK_GOOGLE_display_timing"];

/// Checks all requirements of a table. The outcome names each that is not met.
fn meets(gpu: &Gpu, name: &str) -> Case {
    let device = Device::of(gpu);
    let missing = missing(&device, name);
    check(missing.is_empty(), || format!("{} requirements are not met: {}", missing.len(), missing.join("; ")))
}

fn missing(device: &Device, name: &str) -> Vec<String> {
    let lines = table(name).lines().filter(|line| !line.starts_with('#'));
    let mut missing = Vec::new();
    for line in lines {
        match line.strip_prefix("includes ") {
            Some(other) => missing.extend(self::missing(device, other)),
            None if OF_ANDROID.iter().any(|part| line.contains(part)) => {}
            None if !device.meets(line) => missing.push(line.to_owned()),
            None => {}
        }
    }
    missing
}

/// Capabilities of a device, by name.
struct Device {
    version: u32,
    extensions: Vec<String>,
    /// Printed values of the fields of structures. Arrays have several.
    fields: HashMap<String, Vec<String>>,
    formats: HashMap<String, vk::FormatProperties>,
}

/// Returns the form of a name that fields are found by. Structures lose their author's suffix.
fn key(path: &str) -> String {
    let (structure, field) = path.split_once('.').unwrap_or((path, ""));
    let structure = structure.trim_start_matches("PhysicalDevice");
    let structure = ["KHR", "EXT", "NV"].iter().fold(structure, |name, suffix| name.trim_end_matches(suffix));
    format!("{structure}.{field}").replace('_', "").to_lowercase()
}

/// A structure of a chain, which is printed after a query.
trait Link {
    fn chain(&mut self, next: *mut c_void) -> *mut c_void;
    fn print(&self) -> String;
}

macro_rules! links {
    ($next:ident: $($ty:ty),* $(,)?) => { $(impl Link for $ty {
        fn chain(&mut self, next: *mut c_void) -> *mut c_void {
            self.$next = next;
            (&raw mut *self).cast()
        }

        fn print(&self) -> String {
            format!("{self:#?}")
        }
    })* };
}

macro_rules! structures {
    ($function:ident: $($ash:ident),*; $($newer:ident),*) => {
        links! { p_next: $(vk::$ash<'static>),* }
        links! { next: $($newer),* }

        fn $function() -> Vec<Box<dyn Link>> {
            vec![$(Box::new(vk::$ash::default()),)* $(Box::new($newer::default()),)*]
        }
    };
}

structures! {
    features:
    PhysicalDevice16BitStorageFeatures, PhysicalDevice4444FormatsFeaturesEXT, PhysicalDevice8BitStorageFeatures,
    PhysicalDeviceComputeShaderDerivativesFeaturesNV, PhysicalDeviceCooperativeMatrixFeaturesKHR,
    PhysicalDeviceCustomBorderColorFeaturesEXT, PhysicalDeviceDepthClampZeroOneFeaturesEXT,
    PhysicalDeviceDescriptorIndexingFeatures, PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR,
    PhysicalDeviceExtendedDynamicState2FeaturesEXT, PhysicalDeviceExtendedDynamicStateFeaturesEXT,
    PhysicalDeviceFragmentShadingRateFeaturesKHR, PhysicalDeviceGlobalPriorityQueryFeaturesKHR,
    PhysicalDeviceImage2DViewOf3DFeaturesEXT, PhysicalDeviceIndexTypeUint8FeaturesKHR,
    PhysicalDeviceLineRasterizationFeaturesKHR, PhysicalDeviceMaintenance5FeaturesKHR,
    PhysicalDeviceMultiviewFeatures, PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT,
    PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT, PhysicalDeviceProtectedMemoryFeatures,
    PhysicalDeviceProvokingVertexFeaturesEXT, PhysicalDeviceRobustness2FeaturesEXT,
    PhysicalDeviceSamplerYcbcrConversionFeatures, PhysicalDeviceShaderAtomicFloatFeaturesEXT,
    PhysicalDeviceShaderAtomicInt64Features, PhysicalDeviceShaderClockFeaturesKHR,
    PhysicalDeviceShaderDrawParametersFeatures, PhysicalDeviceShaderExpectAssumeFeaturesKHR,
    PhysicalDeviceShaderFloat16Int8Features, PhysicalDeviceShaderFloatControls2FeaturesKHR,
    PhysicalDeviceShaderIntegerDotProductFeatures, PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR,
    PhysicalDeviceShaderQuadControlFeaturesKHR, PhysicalDeviceShaderSubgroupExtendedTypesFeatures,
    PhysicalDeviceShaderSubgroupRotateFeaturesKHR, PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR,
    PhysicalDeviceSwapchainMaintenance1FeaturesEXT, PhysicalDeviceTexelBufferAlignmentFeaturesEXT,
    PhysicalDeviceTransformFeedbackFeaturesEXT, PhysicalDeviceVariablePointersFeatures,
    PhysicalDeviceVertexAttributeDivisorFeaturesKHR, PhysicalDeviceVulkan11Features, PhysicalDeviceVulkan12Features,
    PhysicalDeviceVulkan13Features, PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR;
    PhysicalDeviceCopyMemoryIndirectFeaturesKHR, PhysicalDeviceMaintenance7FeaturesKHR,
    PhysicalDeviceMaintenance8FeaturesKHR, PhysicalDeviceMaintenance9FeaturesKHR,
    PhysicalDevicePipelineBinaryFeaturesKHR, PhysicalDevicePresentId2FeaturesKHR,
    PhysicalDevicePresentModeFifoLatestReadyFeaturesKHR, PhysicalDevicePresentWait2FeaturesKHR,
    PhysicalDeviceShaderUntypedPointersFeaturesKHR, PhysicalDeviceVulkan14Features
}

structures! {
    properties:
    PhysicalDeviceFloatControlsProperties, PhysicalDeviceMaintenance4Properties, PhysicalDeviceMultiviewProperties,
    PhysicalDevicePushDescriptorPropertiesKHR, PhysicalDeviceShaderIntegerDotProductProperties,
    PhysicalDeviceTexelBufferAlignmentProperties, PhysicalDeviceVertexAttributeDivisorPropertiesEXT,
    PhysicalDeviceVulkan11Properties, PhysicalDeviceVulkan12Properties, PhysicalDeviceVulkan13Properties;
    PhysicalDeviceMaintenance7PropertiesKHR
}

/// Links structures, and returns the first one.
fn linked(links: &mut [Box<dyn Link>]) -> *mut c_void {
    links.iter_mut().fold(std::ptr::null_mut(), |next, link| link.chain(next))
}

impl Device {
    fn of(gpu: &Gpu) -> Self {
        let (mut features, mut properties) = (features(), properties());
        let mut all = vk::PhysicalDeviceFeatures2 { p_next: linked(&mut features), ..Default::default() };
        let mut whole = vk::PhysicalDeviceProperties2 { p_next: linked(&mut properties), ..Default::default() };
        // SAFETY: the chains are valid and alive.
        let known = unsafe {
            gpu.instance.get_physical_device_features2(gpu.physical, &mut all);
            gpu.instance.get_physical_device_properties2(gpu.physical, &mut whole);
            let of_instance = gpu.entry.enumerate_instance_extension_properties(None).unwrap_or_default();
            let of_device = gpu.instance.enumerate_device_extension_properties(gpu.physical).unwrap_or_default();
            [of_instance, of_device].concat()
        };
        let mut fields = HashMap::new();
        read(&all.features, &mut fields);
        read(&whole.properties, &mut fields);
        features.iter().chain(&properties).for_each(|link| read_text(&link.print(), &mut fields));
        let name = |known: &vk::ExtensionProperties| {
            known.extension_name_as_c_str().map(|name| name.to_string_lossy().into_owned())
        };
        let format = |format: vk::Format| {
            // SAFETY: the physical device is valid.
            let found = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
            (format!("{format:?}").to_uppercase(), found)
        };
        Self {
            version: whole.properties.api_version,
            extensions: known.iter().filter_map(|known| name(known).ok()).collect(),
            fields,
            formats: formats().map(format).collect(),
        }
    }

    /// Returns true if the device meets a requirement.
    fn meets(&self, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["version", version] => self.version >= number_of_version(version),
            ["extension", name] => self.extensions.iter().any(|known| known == name),
            ["feature", path] => self.fields.get(&key(path)).is_some_and(|values| values == &["1"]),
            ["limit", path, operator, ref wanted @ ..] => {
                self.fields.get(&key(path)).is_some_and(|found| compare(found, operator, wanted))
            }
            ["format", name, tiling, ref flags @ ..] => self.format_has(name, tiling, flags),
            ["any", ..] => line["any ".len()..].split(" | ").any(|part| self.meets(part)),
            _ => false,
        }
    }

    fn format_has(&self, name: &str, tiling: &str, flags: &[&str]) -> bool {
        let Some(found) = self.formats.get(&name.to_uppercase()) else { return false };
        let found = match tiling {
            "linear" => found.linear_tiling_features,
            "optimal" => found.optimal_tiling_features,
            _ => found.buffer_features,
        };
        let found = format!("{found:?}");
        flags.iter().all(|flag| found.split(" | ").any(|found| found == *flag))
    }
}

/// Returns a version of the form `1.4.328`.
fn number_of_version(text: &str) -> u32 {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    let [major, minor, patch] = std::array::from_fn(|_| parts.next().unwrap_or(0));
    vk::make_api_version(0, major, minor, patch)
}

/// Compares the values of a limit with required ones.
fn compare(found: &[String], operator: &str, wanted: &[&str]) -> bool {
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let pairs = || found.iter().zip(wanted).map(|(found, wanted)| (number(found), number(wanted)));
    match operator {
        "has" => wanted.iter().all(|flag| found.iter().any(|text| text.split(" | ").any(|found| found == *flag))),
        _ if found.len() != wanted.len() => false,
        ">=" => pairs().all(|(found, wanted)| found >= wanted),
        "<=" => pairs().all(|(found, wanted)| found <= wanted),
        "==" => pairs().all(|(found, wanted)| found == wanted),
        "spans" => {
            let ends: Vec<_> = pairs().collect();
            ends[0].0 <= ends[0].1 && ends[1].0 >= ends[1].1
        }
        _ => false,
    }
}

fn read(value: &impl Debug, fields: &mut HashMap<String, Vec<String>>) {
    read_text(&format!("{value:#?}"), fields);
}

/// Reads a printed structure with a field or an element of an array in each line.
fn read_text(text: &str, fields: &mut HashMap<String, Vec<String>>) {
    let mut path: Vec<&str> = Vec::new();
    for line in text.lines().map(|line| line.trim().trim_end_matches(',')) {
        let (name, value) = line.split_once(": ").unwrap_or(("", line));
        match value.chars().last() {
            Some('{' | '[') => path.push(if path.is_empty() { value.trim_end_matches([' ', '{']) } else { name }),
            Some('}' | ']') => drop(path.pop()),
            _ => {
                let place = [&path[..], &[name]].concat();
                let place = place.join(".");
                fields.entry(key(place.trim_end_matches('.'))).or_default().push(value.to_owned());
            }
        }
    }
}

/// Returns all formats with a number that any version or extension could have given.
fn formats() -> impl Iterator<Item = vk::Format> {
    let ranges = [1..185, 1_000_054_000..1_000_054_008, 1_000_066_000..1_000_066_014, 1_000_156_000..1_000_156_034];
    let more = [1_000_288_000..1_000_288_030, 1_000_330_000..1_000_330_004, 1_000_340_000..1_000_340_002];
    ranges.into_iter().chain(more).flatten().chain([1_000_470_000, 1_000_470_001]).map(vk::Format::from_raw)
}
