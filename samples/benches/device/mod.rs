//! The linked driver's device for benchmarks, without a loader.

use vitric_samples::GpuOptions;
use vitric_samples::gpu::Gpu;

/// Opens the device.
pub fn open() -> Gpu {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function belongs to the driver, which is linked into this program and follows
    // the loader's interface.
    let entry = unsafe { ash::Entry::from_static_fn(functions) };
    Gpu::new(&entry, &GpuOptions::default()).expect("the driver has a device")
}
