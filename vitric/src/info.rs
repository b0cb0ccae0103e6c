//! `vitric info`: properties that the driver reports.

use crate::{Failure, driver};
use ash::vk;
use std::process::ExitCode;

/// Runs the command.
pub fn command(args: &[String]) -> Result<ExitCode, Failure> {
    if let Some(word) = args.first() {
        return Err(Failure::usage(format!("vitric info {word}: expected no argument")));
    }
    show_knobs();
    let entry = driver::entry()?;
    let failed = |step: &str, e: vk::Result| Failure::new(format!("{step} failed: {e:?}; VITRIC_LOG=debug shows more"));
    // SAFETY: the entry points are the driver's own.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) };
    show_extensions("instance", &extensions.map_err(|e| failed("vkEnumerateInstanceExtensionProperties", e))?);
    println!();
    // SAFETY: the create info is complete; the instance is destroyed once, after its last use.
    unsafe {
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None);
        let instance = instance.map_err(|e| failed("vkCreateInstance", e))?;
        let shown = show_all(&instance);
        instance.destroy_instance(None);
        shown.map_err(|e| failed("a query of the physical device", e))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show_knobs() {
    println!("knobs (environment variables, with their values now)");
    for knob in vitric_base::knobs::table() {
        println!("  {}={}", knob.name, vitric_base::knobs::values().text(knob.name));
        println!("      {} Default: {}.", knob.doc, knob.default);
    }
    println!();
}

fn show_all(instance: &ash::Instance) -> Result<(), vk::Result> {
    // SAFETY: the instance is live.
    let devices = unsafe { instance.enumerate_physical_devices() }?;
    devices.into_iter().try_for_each(|device| show(instance, device))
}

fn show(instance: &ash::Instance, device: vk::PhysicalDevice) -> Result<(), vk::Result> {
    // SAFETY: the physical device was enumerated from this live instance.
    let (properties, memory, families, extensions) = unsafe {
        (
            instance.get_physical_device_properties(device),
            instance.get_physical_device_memory_properties(device),
            instance.get_physical_device_queue_family_properties(device),
            instance.enumerate_device_extension_properties(device)?,
        )
    };
    show_device(&properties);
    show_limits(&properties.limits);
    println!("\nqueue families");
    families.iter().enumerate().for_each(|(i, f)| println!("  {i}: {} queues, {:?}", f.queue_count, f.queue_flags));
    show_memory(&memory);
    println!();
    show_extensions("device", &extensions);
    show_formats(instance, device);
    Ok(())
}

fn show_device(p: &vk::PhysicalDeviceProperties) {
    let version =
        |v: u32| format!("{}.{}.{}", vk::api_version_major(v), vk::api_version_minor(v), vk::api_version_patch(v));
    println!("device          {}", p.device_name_as_c_str().unwrap_or(c"unnamed").to_string_lossy());
    println!("type            {:?}", p.device_type);
    println!("Vulkan          {}", version(p.api_version));
    println!("driver version  {}", version(p.driver_version));
    println!("vendor, device  {:#06x}, {:#06x}", p.vendor_id, p.device_id);
}

fn show_extensions(whose: &str, extensions: &[vk::ExtensionProperties]) {
    println!("{whose} extensions, with their versions");
    let names = extensions.iter().filter_map(|e| Some((e.extension_name_as_c_str().ok()?, e.spec_version)));
    names.for_each(|(name, version)| println!("  {} {version}", name.to_string_lossy()));
}

/// Prints every limit on a line. `Debug` provides the names, so there is no list.
fn show_limits(limits: &vk::PhysicalDeviceLimits) {
    println!("\nlimits");
    let text = format!("{limits:#?}");
    // Fields are indented by four spaces. The values of an array are indented deeper, and joined
    // behind its name.
    let fields = text.split("\n    ").skip(1).fold(Vec::<String>::new(), |mut rows, line| {
        let line = line.trim_end_matches(['\n', '}']).trim_end_matches(',');
        match rows.last_mut() {
            Some(row) if line.starts_with([' ', ']']) => row.push_str(&format!("{} ", line.trim_matches([' ', ']']))),
            _ => rows.push(line.trim_end_matches('[').to_owned()),
        }
        rows
    });
    for (name, value) in fields.iter().filter_map(|row| row.split_once(": ")) {
        println!("  {name:<50} {}", value.trim_end());
    }
}

fn show_memory(memory: &vk::PhysicalDeviceMemoryProperties) {
    println!("\nmemory");
    for (i, heap) in memory.memory_heaps_as_slice().iter().enumerate() {
        println!("  heap {i}: {} MiB, {:?}", heap.size >> 20, heap.flags);
    }
    for (i, kind) in memory.memory_types_as_slice().iter().enumerate() {
        println!("  type {i}: heap {}, {:?}", kind.heap_index, kind.property_flags);
    }
}

/// Counts the core formats by their features with optimal tiling.
fn show_formats(instance: &ash::Instance, device: vk::PhysicalDevice) {
    use vk::FormatFeatureFlags as F;
    println!("\nformats (of the 184 of Vulkan 1.0, optimal tiling)");
    let features: Vec<_> = (1..=184)
        // SAFETY: the physical device belongs to this live instance, and the numbers are those of
        // core formats.
        .map(|raw| unsafe { instance.get_physical_device_format_properties(device, vk::Format::from_raw(raw)) })
        .collect();
    let uses = [
        ("sampled", F::SAMPLED_IMAGE),
        ("sampled, linear filter", F::SAMPLED_IMAGE_FILTER_LINEAR),
        ("storage", F::STORAGE_IMAGE),
        ("colour attachment", F::COLOR_ATTACHMENT),
        ("blended", F::COLOR_ATTACHMENT_BLEND),
        ("depth or stencil", F::DEPTH_STENCIL_ATTACHMENT),
        ("blit target", F::BLIT_DST),
    ];
    for (name, flag) in uses {
        let count = features.iter().filter(|f| f.optimal_tiling_features.contains(flag)).count();
        println!("  {name:<24} {count}");
    }
    let vertex = features.iter().filter(|f| f.buffer_features.contains(F::VERTEX_BUFFER)).count();
    println!("  {:<24} {vertex}", "vertex attribute");
}
