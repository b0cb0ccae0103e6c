//! Timing of presentations: `VK_EXT_present_timing`.

use ash::vk;
use vitric_api::Result;
use vitric_api::swapchain::Swapchain;
use vitric_api::swapchain::timing::{PRESENT_STAGE_LOCAL, PastTiming, TIME_DOMAINS, TimingRequest};
use vitric_entry::entry;
use vitric_vulkan::{
    PastPresentationTimingInfoEXT, PastPresentationTimingPropertiesEXT, SwapchainTimeDomainPropertiesEXT,
    SwapchainTimingPropertiesEXT, sys,
};

use crate::call::{Call, In, Out};
use crate::object::time_domain::{domain, id_of, swapchain};
use crate::object::{DeviceObject, check, need};

/// Counter of time domains, which never change.
const TIME_DOMAINS_COUNTER: u64 = 1;

#[entry(vkSetSwapchainPresentTimingQueueSizeEXT)]
fn set_swapchain_present_timing_queue_size(
    call: Call<'_>,
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    size: u32,
) -> Result<vk::Result> {
    let entry = need(object, &object.swapchains, swapchain)?;
    check_flag(call, object, &entry.chain)?;
    Ok(if entry.chain.resize_timings(size as usize) { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
}

/// Checks that a swapchain was created for timing.
fn check_flag(call: Call<'_>, object: &DeviceObject, chain: &Swapchain) -> Result<()> {
    check::value(call, object, "VkSwapchainCreateInfoKHR", |check| {
        let allowed = "VK_SWAPCHAIN_CREATE_PRESENT_TIMING_BIT_EXT for the timing of presentations";
        check.holds("flags", "a value without the bit", allowed, chain.has_timing())
    })
}

#[entry(vkGetSwapchainTimingPropertiesEXT)]
fn get_swapchain_timing_properties(
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    mut out: Out<'_, SwapchainTimingPropertiesEXT>,
    counter: Option<Out<'_, u64>>,
) -> Result<vk::Result> {
    let cycle = need(object, &object.swapchains, swapchain)?.chain.refresh_cycle()?;
    if let Some(mut counter) = counter {
        *counter = cycle.counter;
    }
    let Some(period) = cycle.period else { return Ok(vk::Result::NOT_READY) };
    // The refresh of all displays is fixed.
    let period = period.as_nanos() as u64;
    (out.refresh_duration, out.refresh_interval) = (period, period);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetSwapchainTimeDomainPropertiesEXT)]
fn get_swapchain_time_domain_properties(
    call: Call<'_>,
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    mut out: Out<'_, SwapchainTimeDomainPropertiesEXT>,
    counter: Option<Out<'_, u64>>,
) -> Result<vk::Result> {
    need(object, &object.swapchains, swapchain)?;
    if let Some(mut counter) = counter {
        *counter = TIME_DOMAINS_COUNTER;
    }
    check::value(call, object, "VkSwapchainTimeDomainPropertiesEXT", |check| {
        let are_alike = out.time_domains.is_null() == out.time_domain_ids.is_null();
        check.holds("pTimeDomainIds", "only one null pointer", "two null pointers, or none", are_alike)
    })?;
    let (domains, ids) = (out.time_domains, out.time_domain_ids);
    let mut count = out.time_domain_count;
    let _ = call.list(&mut count, ids).put(&TIME_DOMAINS.map(id_of));
    let domains = call.list(&mut out.time_domain_count, domains);
    domains.put_with(TIME_DOMAINS.into_iter(), |out, domain| *out = sys::TimeDomainKHR::from_raw(domain.as_raw()))
}

#[entry(vkGetPastPresentationTimingEXT)]
fn get_past_presentation_timing(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, PastPresentationTimingInfoEXT>,
    mut out: Out<'_, PastPresentationTimingPropertiesEXT>,
) -> Result<vk::Result> {
    object.device.health().check()?;
    let entry = need(object, &object.swapchains, swapchain(info.swapchain))?;
    out.timing_properties_counter = entry.chain.refresh_cycle()?.counter;
    out.time_domains_counter = TIME_DOMAINS_COUNTER;
    let results = call.outputs(out.presentation_timings, out.presentation_timing_count as usize);
    let room = results.len();
    let write = |place: usize, timing: &PastTiming| write_timing(call, object, timing, &mut results[place]);
    let available = entry.chain.read_timings(info.flags, room, write)?;
    if out.presentation_timings.is_null() {
        out.presentation_timing_count = available as u32;
        return Ok(vk::Result::SUCCESS);
    }
    let written = available.min(room);
    out.presentation_timing_count = written as u32;
    Ok(if written < available { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS })
}

/// Writes the timing of a past presentation.
fn write_timing(
    call: Call<'_>,
    object: &DeviceObject,
    timing: &PastTiming,
    out: &mut sys::PastPresentationTimingEXT,
) -> Result<()> {
    let count = timing.results().count();
    let room = call.outputs(out.present_stages, out.present_stage_count as usize);
    check::value(call, object, "VkPastPresentationTimingEXT", |check| {
        check.within("presentStageCount", room.len() as u64, count as u64..=u64::from(u32::MAX))
    })?;
    let results = timing.results().map(|(stage, time)| sys::PresentStageTimeEXT { stage, time });
    room.iter_mut().zip(results).for_each(|(out, result)| *out = result);
    out.present_stage_count = count as u32;
    (out.present_id, out.target_time) = (timing.id, timing.request.target);
    out.time_domain = sys::TimeDomainKHR::from_raw(timing.request.domain.as_raw());
    out.time_domain_id = id_of(timing.request.domain);
    out.report_complete = vk::Bool32::from(timing.is_complete());
    Ok(())
}

/// Checks and returns the timing that is requested for a frame of a swapchain. It is `None` if the
/// structure requests nothing.
pub fn request(
    call: Call<'_>,
    object: &DeviceObject,
    chain: &Swapchain,
    info: &sys::PresentTimingInfoEXT,
) -> Result<Option<TimingRequest>> {
    let (target, stages) = (info.target_time, info.present_stage_queries);
    if target == 0 && stages.is_empty() {
        return Ok(None);
    }
    check_flag(call, object, chain)?;
    let domain = domain(call, object, "VkPresentTimingInfoEXT", info.time_domain_id)?;
    check::value(call, object, "VkPresentTimingInfoEXT", |check| {
        let known = sys::PresentStageFlagsEXT::all().bits().into();
        check.bits("presentStageQueries", stages.bits().into(), known)?;
        let stage = info.target_time_domain_present_stage.bits().into();
        match domain == PRESENT_STAGE_LOCAL && target > 0 {
            true => check.one_bit("targetTimeDomainPresentStage", stage, known),
            false => Ok(()),
        }
    })?;
    Ok(Some(TimingRequest { target, flags: info.flags, stages, domain }))
}
