//! `VK_EXT_present_timing`: times of the stages of frames, and target times, on headless surfaces.

use std::time::{Duration, Instant};

use ash::vk;
use sys::{
    Handle, PastPresentationTimingFlagsEXT as PastFlags, PresentStageFlagsEXT as Stages,
    PresentTimingInfoFlagsEXT as Flags, TimeDomainKHR as Domain,
};
use vitric_vulkan::names::EXT_PRESENT_TIMING_NAME;
use vitric_vulkan::{Newer, PresentTimingSurfaceCapabilitiesEXT, SwapchainTimingPropertiesEXT, Vocabulary, sys};

use crate::harness::{Case, Gpu, Outcome, check};

/// Longest wait for a result that must come.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A distance of frames that is longer than a frame without a target takes.
const DISTANCE: u64 = 60_000_000;

/// A swapchain of a headless surface.
struct Chain<'g> {
    gpu: &'g Gpu,
    swapchains: ash::khr::swapchain::Device,
    handle: vk::SwapchainKHR,
    images: Vec<vk::Image>,
    fence: vk::Fence,
    /// Stages whose times the surface reports.
    stages: Stages,
    get_past: <sys::PFN_vkGetPastPresentationTimingEXT as Vocabulary>::Own,
}

/// Timing of a past frame.
#[derive(Debug)]
struct Past {
    id: u64,
    target: u64,
    domain: u64,
    is_complete: bool,
    times: Vec<(Stages, u64)>,
}

/// Answer to a query of past timings.
struct Answer {
    code: vk::Result,
    count: usize,
    timings: Vec<Past>,
}

impl Past {
    /// Returns the time of the last stage.
    fn last(&self) -> u64 {
        self.times.last().map_or(0, |(_, time)| *time)
    }
}

impl<'g> Chain<'g> {
    /// Creates a swapchain with a queue of `slots` timings. Without a number, the queue has no
    /// size.
    fn new(gpu: &'g Gpu, slots: Option<u32>) -> Result<Self, Outcome> {
        gpu.need(EXT_PRESENT_TIMING_NAME)?;
        // SAFETY: infos are valid and outlive the calls, and handles come from the calls before.
        unsafe {
            let known = gpu.entry.enumerate_instance_extension_properties(None)?;
            let is_headless =
                |known: &vk::ExtensionProperties| known.extension_name_as_c_str() == Ok(vk::EXT_HEADLESS_SURFACE_NAME);
            if !known.iter().any(is_headless) {
                return Err(Outcome::NotSupported("VK_EXT_headless_surface".into()));
            }
            let headless = ash::ext::headless_surface::Instance::new(&gpu.entry, &gpu.instance);
            let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None)?;
            let mut timing = PresentTimingSurfaceCapabilitiesEXT::default();
            let mut all = vk::SurfaceCapabilities2KHR { p_next: (&raw mut timing).cast(), ..Default::default() };
            let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
            let query = ash::khr::get_surface_capabilities2::Instance::new(&gpu.entry, &gpu.instance);
            query.get_physical_device_surface_capabilities2(gpu.physical, &info, &mut all)?;
            if timing.present_timing_supported == vk::FALSE {
                return Err(Outcome::NotSupported("the timing of headless surfaces".into()));
            }
            let stages = timing.present_stage_queries;
            check(stages.contains(Stages::QUEUE_OPERATIONS_END), || format!("{stages:?}"))?;
            let flags = sys::SwapchainCreateFlagsKHR::PRESENT_TIMING_EXT | sys::SwapchainCreateFlagsKHR::PRESENT_ID_2;
            let info = vk::SwapchainCreateInfoKHR::default()
                .flags(vk::SwapchainCreateFlagsKHR::from_raw(flags.bits()))
                .surface(surface)
                .min_image_count(all.surface_capabilities.min_image_count.max(2))
                .image_format(vk::Format::B8G8R8A8_UNORM)
                .image_extent(vk::Extent2D { width: 16, height: 16 })
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(vk::PresentModeKHR::FIFO);
            let swapchains = ash::khr::swapchain::Device::new(&gpu.instance, &gpu.device);
            let handle = swapchains.create_swapchain(&info, None)?;
            let name = c"vkGetPastPresentationTimingEXT";
            let get_past = gpu.command::<sys::PFN_vkGetPastPresentationTimingEXT>(name)?;
            let images = swapchains.get_swapchain_images(handle)?;
            let fence = gpu.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let chain = Self { gpu, swapchains, handle, images, fence, stages, get_past };
            slots.map_or(Ok(()), |slots| chain.resize(slots)?.result().map_err(Outcome::from))?;
            Ok(chain)
        }
    }

    fn raw(&self) -> sys::SwapchainKHR {
        sys::SwapchainKHR::from_raw(vk::Handle::as_raw(self.handle))
    }

    /// Changes the number of slots for timings.
    fn resize(&self, slots: u32) -> Result<vk::Result, Outcome> {
        let name = c"vkSetSwapchainPresentTimingQueueSizeEXT";
        let resize = self.gpu.command::<sys::PFN_vkSetSwapchainPresentTimingQueueSizeEXT>(name)?;
        // SAFETY: the swapchain is alive.
        Ok(unsafe { resize(self.gpu.device.handle(), self.handle, slots) })
    }

    /// Returns the result of a query of time domains with room for some, and the domains with
    /// their identifiers.
    fn domains(&self, room: usize) -> Result<(vk::Result, Vec<(Domain, u64)>), Outcome> {
        let name = c"vkGetSwapchainTimeDomainPropertiesEXT";
        let get = self.gpu.command::<sys::PFN_vkGetSwapchainTimeDomainPropertiesEXT>(name)?;
        let (mut domains, mut ids) = (vec![Domain::default(); room], vec![0; room]);
        let mut all = Newer(sys::SwapchainTimeDomainPropertiesEXT {
            time_domain_count: room as u32,
            time_domains: if room > 0 { domains.as_mut_ptr() } else { std::ptr::null_mut() },
            time_domain_ids: if room > 0 { ids.as_mut_ptr() } else { std::ptr::null_mut() },
            ..Default::default()
        });
        // SAFETY: the swapchain is alive, and the arrays have as many elements as the count says.
        let code = unsafe { get(self.gpu.device.handle(), self.handle, &raw mut all, std::ptr::null_mut()) };
        domains.resize(all.time_domain_count as usize, Domain::default());
        Ok((code, domains.into_iter().zip(ids.into_iter().chain(std::iter::repeat(0))).collect()))
    }

    /// Returns all time domains with their identifiers.
    fn all_domains(&self) -> Result<Vec<(Domain, u64)>, Outcome> {
        let count = self.domains(0)?.1.len();
        let (code, domains) = self.domains(count)?;
        check(code == vk::Result::SUCCESS && domains.len() == count, || format!("{code:?}: {domains:?}"))?;
        Ok(domains)
    }

    /// Returns the identifier of the domain that every swapchain has.
    fn stage_local(&self) -> Result<u64, Outcome> {
        let domains = self.all_domains()?;
        let found = domains.iter().find(|(domain, _)| *domain == Domain::PRESENT_STAGE_LOCAL_EXT);
        found.map(|(_, id)| *id).ok_or_else(|| Outcome::Fail(format!("{domains:?}")))
    }

    /// Returns the current time in a domain of the swapchain. `stage` is that of a local domain.
    fn now(&self, (domain, id): (Domain, u64), stage: Stages) -> Result<u64, Outcome> {
        let local = domain == Domain::PRESENT_STAGE_LOCAL_EXT;
        let own = Newer(sys::SwapchainCalibratedTimestampInfoEXT {
            swapchain: self.raw(),
            present_stage: if local { stage } else { Stages::empty() },
            time_domain_id: id,
            ..Default::default()
        });
        let mut info =
            vk::CalibratedTimestampInfoKHR::default().time_domain(vk::TimeDomainKHR::from_raw(domain.as_raw()));
        info.p_next = (&raw const own).cast();
        let timestamps = ash::khr::calibrated_timestamps::Device::new(&self.gpu.instance, &self.gpu.device);
        // SAFETY: the swapchain is alive, and the chain is valid.
        Ok(unsafe { timestamps.get_calibrated_timestamps(&[info]) }?.0[0])
    }

    /// Presents an acquired image with a present id.
    fn present(&self, id: u64, timing: sys::PresentTimingInfoEXT) -> Result<Result<bool, vk::Result>, Outcome> {
        // SAFETY: infos are valid, handles alive, and the fence is waited for.
        unsafe {
            let timeout = TIMEOUT.as_nanos() as u64;
            let (index, _) =
                self.swapchains.acquire_next_image(self.handle, timeout, vk::Semaphore::null(), self.fence)?;
            self.gpu.device.wait_for_fences(&[self.fence], true, timeout)?;
            self.gpu.device.reset_fences(&[self.fence])?;
            let to_present = [vk::ImageMemoryBarrier::default()
                .new_layout(vk::ImageLayout::PRESENT_SRC_KHR)
                .image(self.images[index as usize])
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                })];
            let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
            self.gpu.run(|list| self.gpu.device.cmd_pipeline_barrier(list, all, all, none, &[], &[], &to_present))?;
            let (handles, indices, ids, timings) = ([self.handle], [index], [id], [timing]);
            let timings =
                sys::PresentTimingsInfoEXT { swapchain_count: 1, timing_infos: timings.as_ptr(), ..Default::default() };
            let ids = sys::PresentId2KHR {
                next: (&raw const timings).cast(),
                swapchain_count: 1,
                present_ids: ids.as_ptr(),
                ..Default::default()
            };
            let mut info = vk::PresentInfoKHR::default().swapchains(&handles).image_indices(&indices);
            info.p_next = (&raw const ids).cast();
            Ok(self.swapchains.queue_present(self.gpu.queue, &info))
        }
    }

    /// Returns the answer to a query with room for some timings. Without a number, the query asks
    /// for the count.
    fn past(&self, flags: PastFlags, room: Option<usize>) -> Answer {
        let size = room.unwrap_or(0);
        let mut times = vec![[sys::PresentStageTimeEXT::default(); 4]; size];
        let timing = |times: &mut [sys::PresentStageTimeEXT; 4]| sys::PastPresentationTimingEXT {
            present_stage_count: 4,
            present_stages: times.as_mut_ptr(),
            ..Default::default()
        };
        let mut timings: Vec<_> = times.iter_mut().map(timing).collect();
        let mut all = Newer(sys::PastPresentationTimingPropertiesEXT {
            presentation_timing_count: size as u32,
            presentation_timings: if room.is_some() { timings.as_mut_ptr() } else { std::ptr::null_mut() },
            ..Default::default()
        });
        let info = Newer(sys::PastPresentationTimingInfoEXT { flags, swapchain: self.raw(), ..Default::default() });
        // SAFETY: the swapchain is alive, and the arrays have as many elements as the counts say.
        let code = unsafe { (self.get_past)(self.gpu.device.handle(), &raw const info, &raw mut all) };
        let past = |(timing, times): (&sys::PastPresentationTimingEXT, &[sys::PresentStageTimeEXT; 4])| Past {
            id: timing.present_id,
            target: timing.target_time,
            domain: timing.time_domain_id,
            is_complete: timing.report_complete == vk::TRUE,
            times: times[..timing.present_stage_count as usize].iter().map(|time| (time.stage, time.time)).collect(),
        };
        let count = all.presentation_timing_count as usize;
        let timings = timings.iter().zip(&times).take(count).map(past).collect();
        Answer { code, count, timings }
    }

    /// Waits for the timings of some frames.
    fn wait(&self, count: usize) -> Result<Vec<Past>, Outcome> {
        let (mut found, begin) = (Vec::new(), Instant::now());
        while found.len() < count {
            let Answer { code, timings, .. } = self.past(PastFlags::empty(), Some(count - found.len()));
            code.result()?;
            found.extend(timings);
            check(begin.elapsed() < TIMEOUT, || format!("{} of {count} frames have timings", found.len()))?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(found)
    }

    /// Returns a request for all stages.
    fn all_stages(&self) -> Result<sys::PresentTimingInfoEXT, Outcome> {
        let time_domain_id = self.stage_local()?;
        Ok(sys::PresentTimingInfoEXT { time_domain_id, present_stage_queries: self.stages, ..Default::default() })
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        // SAFETY: all frames have been presented when the device is idle.
        unsafe {
            let _ = self.gpu.device.device_wait_idle();
            self.swapchains.destroy_swapchain(self.handle, None);
        }
    }
}

case!("presentation.timing.domains", "VkSwapchainTimeDomainPropertiesEXT", domains);

/// Checks that time domains have different identifiers, that the application can calibrate them,
/// and that their clocks advance.
fn domains(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, None)?;
    let domains = chain.all_domains()?;
    let is_unique = |&(_, id): &(Domain, u64)| domains.iter().filter(|(_, other)| *other == id).count() == 1;
    check(domains.iter().all(is_unique), || format!("{domains:?}"))?;
    chain.stage_local()?;
    if domains.len() > 1 {
        let (code, first) = chain.domains(1)?;
        check(code == vk::Result::INCOMPLETE && first == domains[..1], || format!("{code:?}: {first:?}"))?;
    }
    let instance = ash::khr::calibrated_timestamps::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the physical device has the extension.
    let known = unsafe { instance.get_physical_device_calibrateable_time_domains(gpu.physical) }?;
    for domain in domains {
        check(known.iter().any(|known| known.as_raw() == domain.0.as_raw()), || format!("{domain:?}: {known:?}"))?;
        let from = chain.now(domain, Stages::QUEUE_OPERATIONS_END)?;
        std::thread::sleep(Duration::from_millis(20));
        let passed = chain.now(domain, Stages::QUEUE_OPERATIONS_END)?.wrapping_sub(from);
        check((15_000_000..60_000_000_000).contains(&passed), || format!("{domain:?}: {passed} ns in 20 ms"))?;
    }
    Ok(())
}

case!("presentation.timing.refresh", "VkSwapchainTimingPropertiesEXT", refresh);

/// Checks that the interval between refresh cycles divides their duration, and that the counter of
/// the properties is the one that past timings have.
fn refresh(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, Some(1))?;
    let name = c"vkGetSwapchainTimingPropertiesEXT";
    let get = gpu.command::<sys::PFN_vkGetSwapchainTimingPropertiesEXT>(name)?;
    chain.present(1, chain.all_stages()?)??;
    chain.wait(1)?;
    let (mut properties, mut counter) = (SwapchainTimingPropertiesEXT::default(), u64::MAX);
    // SAFETY: the swapchain is alive.
    let code = unsafe { get(gpu.device.handle(), chain.handle, &raw mut properties, &raw mut counter) };
    if code == vk::Result::NOT_READY {
        return Ok(());
    }
    code.result()?;
    let (duration, interval) = (properties.refresh_duration, properties.refresh_interval);
    let is_right = interval == 0 || interval == u64::MAX || duration % interval == 0;
    check(is_right && counter != u64::MAX, || format!("{duration} ns, {interval} ns, counter {counter}"))
}

case!("presentation.timing.stages", "VkPastPresentationTimingEXT", stages);

/// Checks that the stages of a frame have ascending times between two times of the host, and that
/// frames have them in order.
fn stages(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, Some(3))?;
    let request = chain.all_stages()?;
    let domain = (Domain::PRESENT_STAGE_LOCAL_EXT, request.time_domain_id);
    let each: Vec<Stages> = (0..4).map(|bit| Stages::from_bits_truncate(1 << bit)).collect();
    let each = each.into_iter().filter(|stage| chain.stages.contains(*stage));
    let before: Vec<u64> = each.clone().map(|stage| chain.now(domain, stage)).collect::<Result<_, _>>()?;
    for id in [5, 7, 9] {
        chain.present(id, request)??;
    }
    let found = chain.wait(3)?;
    let after: Vec<u64> = each.clone().map(|stage| chain.now(domain, stage)).collect::<Result<_, _>>()?;
    for (frame, id) in found.iter().zip([5, 7, 9]) {
        let is_right = frame.id == id && frame.is_complete && (frame.target, frame.domain) == (0, domain.1);
        check(is_right && frame.times.iter().map(|(stage, _)| *stage).eq(each.clone()), || format!("{frame:?}"))?;
        let mut bounds = frame.times.iter().zip(before.iter().zip(&after));
        let is_between = bounds.all(|((_, time), (before, after))| (before..=after).contains(&time));
        check(is_between, || format!("{frame:?} is not between {before:?} and {after:?}"))?;
    }
    let is_sorted = found.windows(2).all(|pair| pair[0].times.iter().zip(&pair[1].times).all(|(a, b)| a.1 <= b.1));
    check(is_sorted, || format!("{found:?}"))?;
    let Answer { code, count, .. } = chain.past(PastFlags::ALLOW_PARTIAL_RESULTS, None);
    check((code, count) == (vk::Result::SUCCESS, 0), || format!("{count} timings are returned again: {code:?}"))
}

case!("presentation.timing.queue", "vkSetSwapchainPresentTimingQueueSizeEXT", queue);

/// Checks that frames whose times have no slot are refused, that read timings free their slots,
/// and that the queue keeps room for timings that are not read.
fn queue(gpu: &Gpu) -> Case {
    let full = Err(vk::Result::from_raw(sys::Result::ERROR_PRESENT_TIMING_QUEUE_FULL_EXT.as_raw()));
    let chain = Chain::new(gpu, None)?;
    let request = chain.all_stages()?;
    let expect = |id, timing, expected: Result<bool, vk::Result>| {
        let code = chain.present(id, timing)?;
        check(code == expected, || format!("frame {id}: {code:?} is not {expected:?}"))
    };
    let untimed = sys::PresentTimingInfoEXT { present_stage_queries: Stages::empty(), ..request };
    let size = |slots, expected| {
        let code = chain.resize(slots)?;
        check(code == expected, || format!("{slots} slots: {code:?}"))
    };
    expect(1, request, full)?;
    expect(2, untimed, Ok(false))?;
    size(2, vk::Result::SUCCESS)?;
    expect(3, request, Ok(false))?;
    expect(4, request, Ok(false))?;
    // Images of refused frames can be acquired again.
    (5..15).try_for_each(|id| expect(id, request, full))?;
    expect(15, untimed, Ok(false))?;
    size(1, vk::Result::NOT_READY)?;
    let (begin, mut count) = (Instant::now(), 0);
    while count < 2 {
        count = chain.past(PastFlags::empty(), None).count;
        check(begin.elapsed() < TIMEOUT, || format!("{count} of 2 frames have timings"))?;
    }
    let Answer { code, count, timings: read } = chain.past(PastFlags::empty(), Some(1));
    let is_first = code == vk::Result::INCOMPLETE && count == 1 && read[0].id == 3;
    check(is_first, || format!("{code:?}: {read:?}"))?;
    size(1, vk::Result::SUCCESS)?;
    expect(16, request, full)?;
    let Answer { code, count, timings: read } = chain.past(PastFlags::empty(), Some(4));
    check(code == vk::Result::SUCCESS && count == 1 && read[0].id == 4, || format!("{code:?}: {read:?}"))?;
    expect(17, request, Ok(false))?;
    chain.wait(1).map(drop)
}

case!("presentation.timing.absolute", "VkPresentTimingInfoEXT", absolute);

/// Checks that a frame is not shown before its target time, in any time domain.
fn absolute(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, Some(1))?;
    if gpu.extension_features.present_timing.present_at_absolute_time == vk::FALSE {
        return Err(Outcome::NotSupported("presentAtAbsoluteTime".into()));
    }
    let request = chain.all_stages()?;
    let last = Stages::from_bits_truncate(1 << chain.stages.bits().ilog2());
    for (number, domain) in chain.all_domains()?.into_iter().enumerate() {
        let target = chain.now(domain, last)? + DISTANCE;
        let timing = sys::PresentTimingInfoEXT {
            target_time: target,
            time_domain_id: domain.1,
            target_time_domain_present_stage: last,
            ..request
        };
        chain.present(number as u64 + 1, timing)??;
        let frame = &chain.wait(1)?[0];
        let is_right = (frame.target, frame.domain) == (target, domain.1) && frame.last() >= target;
        check(is_right, || format!("{domain:?}: {frame:?} has the target {target}"))?;
    }
    Ok(())
}

case!("presentation.timing.relative", "VkPresentTimingInfoEXT", relative);

/// Checks that frames keep their distance from the previous ones, apart from a first frame.
fn relative(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, Some(3))?;
    if gpu.extension_features.present_timing.present_at_relative_time == vk::FALSE {
        return Err(Outcome::NotSupported("presentAtRelativeTime".into()));
    }
    let timing = |target_time| {
        Ok::<_, Outcome>(sys::PresentTimingInfoEXT {
            flags: Flags::PRESENT_AT_RELATIVE_TIME,
            target_time,
            target_time_domain_present_stage: Stages::QUEUE_OPERATIONS_END,
            ..chain.all_stages()?
        })
    };
    // A whole day: the first frame ignores it.
    chain.present(1, timing(86_400_000_000_000)?)??;
    chain.present(2, timing(DISTANCE)?)??;
    chain.present(3, timing(DISTANCE)?)??;
    let found = chain.wait(3)?;
    let keeps = |pair: &[Past]| pair[1].last().saturating_sub(pair[0].last()) >= DISTANCE;
    check(found.windows(2).all(keeps), || format!("{found:?}"))
}

case!("presentation.timing.partial", "vkGetPastPresentationTimingEXT", partial);

/// Checks that the timing of a frame that waits for its target time has the first stage alone, for
/// applications that ask for parts, and that it is returned until it is complete.
fn partial(gpu: &Gpu) -> Case {
    let chain = Chain::new(gpu, Some(2))?;
    let features = &gpu.extension_features.present_timing;
    if features.present_at_absolute_time == vk::FALSE || chain.stages == Stages::QUEUE_OPERATIONS_END {
        return Err(Outcome::NotSupported("presentAtAbsoluteTime and a second stage".into()));
    }
    let request = chain.all_stages()?;
    let domain = (Domain::PRESENT_STAGE_LOCAL_EXT, request.time_domain_id);
    let last = Stages::from_bits_truncate(1 << chain.stages.bits().ilog2());
    let target = chain.now(domain, last)? + 10 * DISTANCE;
    let timing = sys::PresentTimingInfoEXT { target_time: target, target_time_domain_present_stage: last, ..request };
    chain.present(1, timing)??;
    let (flags, begin) = (PastFlags::ALLOW_PARTIAL_RESULTS, Instant::now());
    let mut parts = 0;
    loop {
        let complete = chain.past(PastFlags::empty(), None).count;
        let Answer { code, count, timings: found } = chain.past(flags, Some(2));
        code.result()?;
        check(begin.elapsed() < TIMEOUT && count < 2, || format!("{found:?}"))?;
        std::thread::sleep(Duration::from_millis(1));
        let Some(frame) = found.first() else { continue };
        let is_shown = frame.times.iter().any(|(stage, time)| *stage == last && *time >= target);
        check(frame.is_complete == is_shown && frame.times[0].1 < target, || format!("{frame:?}"))?;
        if frame.is_complete {
            break;
        }
        check(complete == 0, || format!("{complete} timings are complete, and then {frame:?}"))?;
        parts += 1;
    }
    check(parts > 1, || format!("a frame that waited for 0.6 s was {parts} times incomplete"))?;
    let Answer { code, count, .. } = chain.past(flags, Some(2));
    check((code, count) == (vk::Result::SUCCESS, 0), || format!("{count} timings are returned again: {code:?}"))
}
