//! Window systems: surfaces and swapchains. Source: `VK_KHR_surface`, `VK_KHR_swapchain`,
//! `VK_EXT_headless_surface`, `VK_KHR_get_surface_capabilities2`, `VK_KHR_surface_maintenance1`,
//! `VK_KHR_swapchain_maintenance1`, `VK_GOOGLE_surfaceless_query`, `VK_KHR_present_id2`,
//! `VK_KHR_present_wait2`, `VK_EXT_multisampled_render_to_swapchain`, `VK_EXT_present_timing`.

pub mod display;
mod shared;
pub mod timing;
pub mod wayland;
pub mod xcb;
pub mod xlib;

use std::ffi::c_void;
use std::sync::{Arc, Weak};

use ash::vk::{self, Handle};
use parking_lot::Mutex;
use vitric_api::families;
use vitric_api::physical::MAX_EXTENT_2D;
use vitric_api::swapchain::timing::driver_stages;
use vitric_api::swapchain::{self, FORMATS, Frame, PresentTarget, Swapchain, SwapchainDesc};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_memory::Surface;
use vitric_vulkan::{
    Newer, PresentId2KHR, PresentTimingsInfoEXT, PresentWait2InfoKHR,
    SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT, SwapchainFlagsSurfaceCapabilitiesEXT, sys,
};

use crate::call::{Call, In, Listing, New, Out};
use crate::object::{
    DeviceObject, InstanceObject, PhysicalObject, Queue, SwapchainEntry, check, compression, destroy, need,
};
use crate::slots::{Marked, marked};

/// Supported flags of swapchains. Images of every swapchain can be rendered to with several
/// samples.
const SWAPCHAIN_FLAGS: vk::SwapchainCreateFlagsKHR = vk::SwapchainCreateFlagsKHR::from_raw(
    vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT.as_raw()
        | vk::SwapchainCreateFlagsKHR::DEFERRED_MEMORY_ALLOCATION_EXT.as_raw()
        | sys::SwapchainCreateFlagsKHR::PRESENT_ID_2.bits()
        | sys::SwapchainCreateFlagsKHR::PRESENT_WAIT_2.bits()
        | PRESENT_TIMING.as_raw()
        | SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT.as_raw(),
);

/// Flag of swapchains for the timing of presentations.
const PRESENT_TIMING: vk::SwapchainCreateFlagsKHR =
    vk::SwapchainCreateFlagsKHR::from_raw(sys::SwapchainCreateFlagsKHR::PRESENT_TIMING_EXT.bits());

/// A headless surface.
struct Headless;

impl PresentTarget for Headless {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    fn present(&self, _: Frame<'_>) -> Result<()> {
        Ok(())
    }
}

#[entry(vkCreateHeadlessSurfaceEXT)]
fn create_headless_surface(
    call: Call<'_>,
    instance: vk::Instance,
    info: Option<&vk::HeadlessSurfaceCreateInfoEXT<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SurfaceKHR>,
) -> Result<vk::Result> {
    info.ok_or(Error::Unknown)?;
    Ok(out.put(insert(call, instance, Arc::new(Headless))?))
}

marked!(SurfaceObject, Surface, 256);

/// A surface. Its handle points to a slot, because queries name a surface without its instance.
pub struct SurfaceObject {
    target: Arc<dyn PresentTarget>,
    /// The last swapchain that was created for the surface.
    chain: Mutex<Weak<Swapchain>>,
}

/// Closes the swapchain, because the window may be destroyed afterwards, even if the program did
/// not destroy the swapchain.
impl Drop for SurfaceObject {
    fn drop(&mut self) {
        if let Some(chain) = self.chain.get_mut().upgrade() {
            chain.close();
        }
    }
}

/// Creates the handle of a surface.
fn insert(call: Call<'_>, instance: vk::Instance, target: Arc<dyn PresentTarget>) -> Result<u64> {
    let instance = InstanceObject::from_handle(call, instance).ok_or(Error::Unknown)?;
    Ok(SurfaceObject { target, chain: Mutex::default() }.into_handle(instance.number))
}

fn surface_object<'c>(call: Call<'c>, surface: vk::SurfaceKHR) -> Result<&'c SurfaceObject> {
    SurfaceObject::from_handle(call, surface).ok_or(Error::SurfaceLost)
}

fn target(call: Call<'_>, surface: vk::SurfaceKHR) -> Result<Arc<dyn PresentTarget>> {
    surface_object(call, surface).map(|object| object.target.clone())
}

#[entry(vkDestroySurfaceKHR)]
fn destroy_surface(call: Call<'_>, _: vk::Instance, surface: vk::SurfaceKHR, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: this call keeps no reference to the object, and by valid usage no other call uses
    // it.
    unsafe { SurfaceObject::destroy(call, surface) };
}

#[entry(vkGetPhysicalDeviceSurfaceSupportKHR)]
fn get_physical_device_surface_support(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    family: u32,
    surface: vk::SurfaceKHR,
    mut out: Out<'_, vk::Bool32>,
) -> Result<vk::Result> {
    let supported = families::find(family).is_some() && target(call, surface).is_ok();
    out.write(vk::Bool32::from(supported));
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetPhysicalDeviceSurfaceCapabilitiesKHR)]
fn get_physical_device_surface_capabilities(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    mut out: Out<'_, vk::SurfaceCapabilitiesKHR>,
) -> Result<vk::Result> {
    out.write(swapchain::capabilities(&*target(call, surface)?)?);
    Ok(vk::Result::SUCCESS)
}

// Scaling is not supported. All present modes are compatible with each other.

#[entry(vkGetPhysicalDeviceSurfaceCapabilities2KHR)]
fn get_physical_device_surface_capabilities2(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    info: In<'_, vk::PhysicalDeviceSurfaceInfo2KHR<'_>>,
    mut out: Out<'_, vk::SurfaceCapabilities2KHR<'_>>,
) -> Result<vk::Result> {
    let (found, stages) = match info.surface.is_null() {
        true => (swapchain::capabilities_of_any(), driver_stages()),
        false => {
            let target = target(call, info.surface)?;
            (swapchain::capabilities(&*target)?, target.stages())
        }
    };
    out.surface_capabilities = found;
    // Window systems get pixels through memory of the host.
    call.put(out.p_next, vk::SurfaceProtectedCapabilitiesKHR::default());
    let scaling = vk::SurfacePresentScalingCapabilitiesEXT::default()
        .min_scaled_image_extent(found.min_image_extent)
        .max_scaled_image_extent(found.max_image_extent);
    call.put(out.p_next, scaling);
    let ids = sys::SurfaceCapabilitiesPresentId2KHR { present_id2_supported: vk::TRUE, ..Default::default() };
    call.put(out.p_next, Newer(ids));
    let waits = sys::SurfaceCapabilitiesPresentWait2KHR { present_wait2_supported: vk::TRUE, ..Default::default() };
    call.put(out.p_next, Newer(waits));
    let timing = sys::PresentTimingSurfaceCapabilitiesEXT {
        present_timing_supported: vk::TRUE,
        present_at_absolute_time_supported: vk::TRUE,
        present_at_relative_time_supported: vk::TRUE,
        present_stage_queries: stages,
        ..Default::default()
    };
    call.put(out.p_next, Newer(timing));
    let flags =
        SwapchainFlagsSurfaceCapabilitiesEXT { swapchain_supported_flags: SWAPCHAIN_FLAGS, ..Default::default() };
    call.put(out.p_next, flags);
    if let Some(mut modes) = call.find_output::<vk::SurfacePresentModeCompatibilityEXT<'_>>(out.p_next) {
        let asked: Option<&vk::SurfacePresentModeEXT<'_>> = call.find(info.p_next);
        let all = modes_with(supported_modes(call, info.surface)?, asked.map(|asked| asked.present_mode));
        // `VK_INCOMPLETE` is not returned if the array is shorter than the list.
        let pointer = modes.p_present_modes;
        let _ = call.list(&mut modes.present_mode_count, pointer).put(&all);
    }
    Ok(vk::Result::SUCCESS)
}

/// Returns the present modes that a swapchain may switch to from the mode `asked`, which comes
/// first. All supported modes are compatible with each other, and an unsupported mode with none.
fn modes_with(supported: &[vk::PresentModeKHR], asked: Option<vk::PresentModeKHR>) -> Vec<vk::PresentModeKHR> {
    let mut all = supported.to_vec();
    match asked.map(|asked| supported.iter().position(|mode| *mode == asked)) {
        Some(Some(place)) => all.swap(0, place),
        Some(None) => all.clear(),
        None => {}
    }
    all
}

/// Returns the formats of surfaces, each in the colour space of sRGB, and with
/// `VK_EXT_swapchain_colorspace` also with values that pass through. Displays get the same values.
fn surface_formats(call: Call<'_>, physical: vk::PhysicalDevice) -> Vec<vk::SurfaceFormatKHR> {
    let object = PhysicalObject::from_handle(call, physical);
    let more = object.is_some_and(|object| object.extensions.iter().any(|name| name == "VK_EXT_swapchain_colorspace"));
    let spaces = [vk::ColorSpaceKHR::SRGB_NONLINEAR, vk::ColorSpaceKHR::PASS_THROUGH_EXT];
    let spaces = &spaces[..if more { 2 } else { 1 }];
    let format = |&color_space| FORMATS.map(|format| vk::SurfaceFormatKHR { format, color_space });
    spaces.iter().flat_map(format).collect()
}

#[entry(vkGetPhysicalDeviceSurfaceFormats2KHR)]
fn get_physical_device_surface_formats2(
    call: Call<'_>,
    physical: vk::PhysicalDevice,
    _: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    #[len] count: *mut u32,
    out: Listing<'_, vk::SurfaceFormat2KHR<'_>>,
) -> Result<vk::Result> {
    out.put_with(surface_formats(call, physical).into_iter(), |out, format| {
        out.surface_format = format;
        // Images of swapchains stay resident.
        compression::put(call, true, out.p_next);
    })
}

#[entry(vkGetPhysicalDeviceSurfaceFormatsKHR)]
fn get_physical_device_surface_formats(
    call: Call<'_>,
    physical: vk::PhysicalDevice,
    _: vk::SurfaceKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::SurfaceFormatKHR>,
) -> Result<vk::Result> {
    out.put(&surface_formats(call, physical))
}

/// Returns the present modes of a surface; without a surface, the mode that all surfaces support
/// (`VK_GOOGLE_surfaceless_query`).
fn supported_modes(call: Call<'_>, surface: vk::SurfaceKHR) -> Result<&'static [vk::PresentModeKHR]> {
    if surface.is_null() { Ok(&[vk::PresentModeKHR::FIFO]) } else { Ok(target(call, surface)?.present_modes()) }
}

#[entry(vkGetPhysicalDeviceSurfacePresentModesKHR)]
fn get_physical_device_surface_present_modes(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::PresentModeKHR>,
) -> Result<vk::Result> {
    out.put(supported_modes(call, surface)?)
}

#[entry(vkCreateSwapchainKHR)]
fn create_swapchain(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::SwapchainCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SwapchainKHR>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    if info.flags.contains(vk::SwapchainCreateFlagsKHR::PROTECTED) {
        object.messages().error("a swapchain is protected: expected what VkSurfaceProtectedCapabilitiesKHR reports");
        return Err(Error::InitializationFailed);
    }
    let desc = SwapchainDesc {
        images: info.min_image_count,
        format: info.image_format,
        extent: info.image_extent,
        usage: info.image_usage,
        mode: info.present_mode,
        alpha: info.composite_alpha,
        is_mutable: info.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT),
        has_timing: info.flags.contains(PRESENT_TIMING),
    };
    let old = object.swapchains.get(info.old_swapchain.as_raw());
    let surface = surface_object(call, info.surface)?;
    let made = {
        let mut last = surface.chain.lock();
        let is_old = |chain: &Arc<Swapchain>| old.as_ref().is_some_and(|old| Arc::ptr_eq(&old.chain, chain));
        if last.upgrade().is_some_and(|chain| chain.is_in_use() && !is_old(&chain)) {
            return Err(Error::WindowInUse);
        }
        surface.target.claim()?;
        let old = old.as_ref().map(|entry| &*entry.chain);
        let made = Swapchain::new(&object.device, surface.target.clone(), desc, old);
        made.inspect(|made| *last = Arc::downgrade(made))
    };
    let made = made.inspect_err(|error| {
        if *error == Error::OutOfDeviceMemory {
            object.memory_reports.failed::<vk::Image>(swapchain::image_bytes(&desc));
        }
    })?;
    let insert = |image: &Arc<Surface>| {
        let handle = object.images.insert(image.clone());
        object.memory_reports.allocated_for_image(vk::Image::from_raw(handle), image.layout().size());
        handle
    };
    let images = made.images().iter().map(insert).collect();
    Ok(out.put(object.swapchains.insert(Arc::new(SwapchainEntry { chain: made, images }))))
}

#[entry(vkDestroySwapchainKHR)]
fn destroy_swapchain(object: &DeviceObject, swapchain: vk::SwapchainKHR, _: *const vk::AllocationCallbacks<'_>) {
    if let Some(entry) = object.swapchains.get(swapchain.as_raw()) {
        entry.chain.close();
        for &image in &entry.images {
            object.remove(&object.images, vk::Image::from_raw(image));
            object.memory_reports.freed(vk::Image::from_raw(image));
        }
    }
    destroy(object, &object.swapchains, swapchain);
}

#[entry(vkGetSwapchainImagesKHR)]
fn get_swapchain_images(
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::Image>,
) -> Result<vk::Result> {
    let entry = need(object, &object.swapchains, swapchain)?;
    let images: Vec<vk::Image> = entry.images.iter().map(|&image| vk::Image::from_raw(image)).collect();
    out.put(&images)
}

#[entry(vkAcquireNextImageKHR)]
fn acquire_next_image(
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    mut out: Out<'_, u32>,
) -> Result<vk::Result> {
    object.device.health().check()?;
    let entry = need(object, &object.swapchains, swapchain)?;
    let semaphore = object.semaphores.get(semaphore.as_raw()).map(|semaphore| semaphore.payload());
    let fence = object.fences.get(fence.as_raw()).map(|fence| fence.payload());
    match entry.chain.acquire(timeout, semaphore.as_ref(), fence.as_ref())? {
        Some(image) => {
            *out = image;
            Ok(vk::Result::SUCCESS)
        }
        None if timeout == 0 => Ok(vk::Result::NOT_READY),
        None => Ok(vk::Result::TIMEOUT),
    }
}

/// Waits until a frame with a present id, or a greater one, was presented.
#[entry(vkWaitForPresentKHR)]
fn wait_for_present(
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    number: u64,
    timeout: u64,
) -> Result<vk::Result> {
    object.device.health().check()?;
    let entry = need(object, &object.swapchains, swapchain)?;
    Ok(if entry.chain.wait_for(number, timeout)? { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
}

/// Waits as `vkWaitForPresentKHR` does.
#[entry(vkWaitForPresent2KHR)]
fn wait_for_present2(
    object: &DeviceObject,
    swapchain: vk::SwapchainKHR,
    info: In<'_, PresentWait2InfoKHR>,
) -> Result<vk::Result> {
    wait_for_present(object, swapchain, info.present_id, info.timeout)
}

/// Does nothing: no surface has a high dynamic range.
#[entry(vkSetHdrMetadataEXT)]
fn set_hdr_metadata(_: vk::Device, _: u32, _: *const vk::SwapchainKHR, _: *const vk::HdrMetadataEXT<'_>) {}

/// Releases acquired images without presenting them.
#[entry(vkReleaseSwapchainImagesKHR)]
fn release_swapchain_images(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::ReleaseSwapchainImagesInfoEXT<'_>>,
) -> Result<vk::Result> {
    let entry = need(object, &object.swapchains, info.swapchain)?;
    entry.chain.release(check::array(
        object,
        "pImageIndices",
        call.array(info.p_image_indices, info.image_index_count),
    )?);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkAcquireNextImage2KHR)]
fn acquire_next_image2(
    object: &DeviceObject,
    info: In<'_, vk::AcquireNextImageInfoKHR<'_>>,
    out: Out<'_, u32>,
) -> Result<vk::Result> {
    acquire_next_image(object, info.swapchain, info.timeout, info.semaphore, info.fence, out)
}

// A device group has one device, which only presents images that it has rendered.

#[entry(vkGetDeviceGroupPresentCapabilitiesKHR)]
fn get_device_group_present_capabilities(
    _: vk::Device,
    out: Out<'_, vk::DeviceGroupPresentCapabilitiesKHR<'_>>,
) -> vk::Result {
    let modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
    let mut capabilities = vk::DeviceGroupPresentCapabilitiesKHR { modes, ..Default::default() };
    capabilities.present_mask[0] = 1;
    out.fill(capabilities);
    vk::Result::SUCCESS
}

#[entry(vkGetDeviceGroupSurfacePresentModesKHR)]
fn get_device_group_surface_present_modes(
    call: Call<'_>,
    _: vk::Device,
    surface: vk::SurfaceKHR,
    mut out: Out<'_, vk::DeviceGroupPresentModeFlagsKHR>,
) -> Result<vk::Result> {
    target(call, surface)?;
    out.write(vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
    Ok(vk::Result::SUCCESS)
}

/// Returns the only rectangle that the device presents: the surface, or the largest extent.
#[entry(vkGetPhysicalDevicePresentRectanglesKHR)]
fn get_physical_device_present_rectangles(
    call: Call<'_>,
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    #[len] count: *mut u32,
    out: Listing<'_, vk::Rect2D>,
) -> Result<vk::Result> {
    let most = vk::Extent2D { width: MAX_EXTENT_2D, height: MAX_EXTENT_2D };
    let extent = target(call, surface)?.extent()?.unwrap_or(most);
    out.put(&[vk::Rect2D { extent, ..Default::default() }])
}

/// Returns the present ids of the swapchains of a presentation. None is 0 or missing.
fn present_ids<'c>(call: Call<'c>, next: *const c_void) -> &'c [u64] {
    let ids: Option<&PresentId2KHR> = call.find(next);
    let older: Option<&vk::PresentIdKHR<'_>> = call.find(next);
    match (ids, older) {
        (Some(ids), _) => call.slice(ids.present_ids, ids.swapchain_count),
        (None, Some(ids)) => call.slice(ids.p_present_ids, ids.swapchain_count),
        (None, None) => &[],
    }
}

#[entry(vkQueuePresentKHR)]
fn queue_present(call: Call<'_>, queue: Queue<'_>, info: In<'_, vk::PresentInfoKHR<'_>>) -> Result<vk::Result> {
    let (object, queue) = (queue.device, queue.queue);
    let waits = call.array(info.p_wait_semaphores, info.wait_semaphore_count);
    let waits = check::array(object, "pWaitSemaphores", waits)?.iter();
    let waits = waits.map(|&semaphore| Ok((need(object, &object.semaphores, semaphore)?.take_payload(), 0)));
    let waits = waits.collect::<Result<Vec<_>>>()?;
    queue.submit(vec![vitric_api::queue::Batch { waits, ..Default::default() }], None)?;
    let mut worst = Ok(vk::Result::SUCCESS);
    let ids = present_ids(call, info.p_next);
    let chains = check::array(object, "pSwapchains", call.array(info.p_swapchains, info.swapchain_count))?;
    let images = check::array(object, "pImageIndices", call.array(info.p_image_indices, info.swapchain_count))?;
    let modes: Option<&vk::SwapchainPresentModeInfoEXT<'_>> = call.find(info.p_next);
    let modes = modes.map_or(&[][..], |info| call.slice(info.p_present_modes, info.swapchain_count));
    let fences: Option<&vk::SwapchainPresentFenceInfoEXT<'_>> = call.find(info.p_next);
    let fences = fences.map_or(&[][..], |info| call.slice(info.p_fences, info.swapchain_count));
    let timings: Option<&PresentTimingsInfoEXT> = call.find(info.p_next);
    let timings = timings.map_or(&[][..], |info| call.slice(info.timing_infos, info.swapchain_count));
    let results = call.outputs(info.p_results, info.swapchain_count as usize);
    for (number, (&chain, &image)) in chains.iter().zip(images).enumerate() {
        let result = need(object, &object.swapchains, chain).and_then(|entry| {
            let (mode, id) = (modes.get(number).copied(), ids.get(number).copied().unwrap_or(0));
            let timing = timings.get(number).map(|info| timing::request(call, object, &entry.chain, info));
            let mut frame = entry.chain.send(image);
            let timed = match timing.transpose() {
                Ok(timing) => timing.flatten().map_or(Ok(()), |timing| frame.set_timing(timing, id)),
                Err(error) => Err(error),
            };
            let checked = entry.chain.check().and(timed);
            let fence = fences.get(number).and_then(|fence| object.fences.get(fence.as_raw()));
            let fence = fence.map(|fence| fence.payload());
            queue.present(move || {
                // A frame that the swapchain refuses only makes its image free.
                let show = timed.ok().map(|()| frame.rendered(mode, id));
                Box::new(move || {
                    show.into_iter().for_each(|show| show());
                    // No object of the application is in use any more.
                    fence.into_iter().for_each(|fence| fence.signal(1));
                })
            })?;
            checked
        });
        if let Some(slot) = results.get_mut(number) {
            *slot = result.map_or_else(Error::code, |()| vk::Result::SUCCESS);
        }
        if let (Err(error), Ok(_) | Err(Error::PresentTimingQueueFull)) = (result, worst) {
            worst = Err(error);
        }
    }
    worst
}
