//! Time domains of swapchains. Source: `VK_EXT_present_timing`.

use ash::vk;
use vitric_api::swapchain::timing::{PRESENT_STAGE_LOCAL, TIME_DOMAINS};
use vitric_api::{Error, Result};
use vitric_base::clock;
use vitric_vulkan::{Newer, SwapchainCalibratedTimestampInfoEXT, sys};

use super::{DeviceObject, check, need};
use crate::call::Call;

/// Returns the identifier of a time domain.
pub fn id_of(domain: vk::TimeDomainKHR) -> u64 {
    domain.as_raw() as u64
}

/// Returns the handle of a swapchain in a structure that is newer than `ash`.
pub fn swapchain(handle: sys::SwapchainKHR) -> vk::SwapchainKHR {
    vk::Handle::from_raw(sys::Handle::as_raw(handle))
}

/// Returns the time domain of an identifier.
pub fn domain(call: Call<'_>, object: &DeviceObject, structure: &'static str, id: u64) -> Result<vk::TimeDomainKHR> {
    let ids = TIME_DOMAINS.map(id_of);
    check::value(call, object, structure, |check| check.any_of("timeDomainId", id, &ids))?;
    TIME_DOMAINS.into_iter().find(|&domain| id_of(domain) == id).ok_or(Error::Unknown)
}

/// Returns the current time in a time domain of a swapchain.
pub fn calibrated(call: Call<'_>, object: &DeviceObject, info: &vk::CalibratedTimestampInfoKHR<'_>) -> Result<u64> {
    const STRUCTURE: &str = "VkSwapchainCalibratedTimestampInfoEXT";
    let found: Option<&SwapchainCalibratedTimestampInfoEXT> = call.find(info.p_next);
    let &Newer(found) = found.ok_or_else(|| {
        object.messages().error(&format!("VkCalibratedTimestampInfoKHR::pNext: expected {STRUCTURE}"));
        Error::Unknown
    })?;
    need(object, &object.swapchains, swapchain(found.swapchain))?;
    let domain = domain(call, object, STRUCTURE, found.time_domain_id)?;
    check::value(call, object, STRUCTURE, |check| {
        check.any_of("timeDomainId", domain, &[info.time_domain])?;
        let stages = sys::PresentStageFlagsEXT::all().bits().into();
        match domain {
            PRESENT_STAGE_LOCAL => check.one_bit("presentStage", found.present_stage.bits().into(), stages),
            _ => Ok(()),
        }
    })?;
    Ok(clock::monotonic())
}
