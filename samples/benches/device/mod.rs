//! The linked driver's device for benchmarks, without a loader.

use vitric_samples::GpuOptions;
use vitric_samples::gpu::Gpu;

/// Returns the driver's functions.
pub fn entry() -> ash::Entry {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function belongs to the driver, which is linked into this program and follows
    // the loader's interface.
    unsafe { ash::Entry::from_static_fn(functions) }
}

/// Opens the device.
#[allow(dead_code, reason = "one benchmark opens a device of its own")]
pub fn open() -> Gpu {
    Gpu::new(&entry(), &GpuOptions::default()).expect("the driver has a device")
}
