//! `VK_KHR_calibrated_timestamps`: clocks that are read at the same time.

use ash::vk;
use ash::vk::TimeDomainKHR as Domain;

use crate::harness::{Case, Gpu, Outcome, check};

/// Returns the domains of the device and the host.
fn known(gpu: &Gpu) -> Result<Vec<Domain>, Outcome> {
    gpu.need(vk::KHR_CALIBRATED_TIMESTAMPS_NAME)?;
    let extension = ash::khr::calibrated_timestamps::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the physical device has the extension.
    let domains = unsafe { extension.get_physical_device_calibrateable_time_domains(gpu.physical) }?;
    // The other domains belong to swapchains.
    Ok(domains.into_iter().filter(|domain| domain.as_raw() < 1_000_000_000).collect())
}

/// Returns the clocks of some domains, and the maximum deviation between them, in nanoseconds.
fn read(gpu: &Gpu, domains: &[Domain]) -> Result<(Vec<u64>, u64), Outcome> {
    let extension = ash::khr::calibrated_timestamps::Device::new(&gpu.instance, &gpu.device);
    let info = |&domain: &Domain| vk::CalibratedTimestampInfoKHR::default().time_domain(domain);
    let infos: Vec<_> = domains.iter().map(info).collect();
    // SAFETY: the device has the extension.
    Ok(unsafe { extension.get_calibrated_timestamps(&infos) }?)
}

case!("times.calibrated.domains", "Calibrated Timestamps", domains);

/// Checks that the device's clock is supported, and that all clocks advance by about the same
/// time.
fn domains(gpu: &Gpu) -> Case {
    let domains = known(gpu)?;
    check(domains.contains(&Domain::DEVICE), || format!("{domains:?}"))?;
    let (first, apart) = read(gpu, &domains)?;
    std::thread::sleep(std::time::Duration::from_millis(20));
    let (second, later_apart) = read(gpu, &domains)?;
    check(apart > 0 && later_apart > 0, || "clocks that are read without taking time".into())?;
    for ((domain, from), to) in domains.iter().zip(first).zip(second) {
        // Ticks of the device, or nanoseconds of the host.
        let tick = if *domain == Domain::DEVICE { f64::from(gpu.properties.limits.timestamp_period) } else { 1.0 };
        let passed = (to as f64 - from as f64) * tick;
        check((15e6..60e9).contains(&passed), || format!("{domain:?}: {passed} ns in 20 ms"))?;
    }
    Ok(())
}

case!("times.calibrated.device", "Calibrated Timestamps", device);

/// Checks that a timestamp of a queue lies between two that the host reads.
fn device(gpu: &Gpu) -> Case {
    known(gpu)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let (before, _) = read(gpu, &[Domain::DEVICE])?;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and the pool alive.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
            gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
        }
    })?;
    let (after, _) = read(gpu, &[Domain::DEVICE])?;
    let mut written = [0u64];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the query was written, and nothing uses the pool behind.
    unsafe {
        gpu.device.get_query_pool_results(pool, 0, &mut written, flags)?;
        gpu.device.destroy_query_pool(pool, None);
    }
    let is_between = before[0] <= written[0] && written[0] <= after[0];
    check(is_between, || format!("{} is not between {} and {}", written[0], before[0], after[0]))
}
