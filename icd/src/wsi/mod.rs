//! Window systems: surfaces and swapchains. Source: `VK_KHR_surface`, `VK_KHR_swapchain`, `VK_EXT_headless_surface`,
//! `VK_KHR_get_surface_capabilities2`, `VK_KHR_surface_maintenance1`, `VK_KHR_swapchain_maintenance1`, `VK_GOOGLE_surfaceless_query`,
//! `VK_KHR_present_id`, `VK_KHR_present_wait`.

mod shared;
mod wayland;
mod xcb;
mod xlib;

use std::sync::{Arc, Weak};

use ash::vk::{self, Handle};
use parking_lot::Mutex;
use vitric_api::physical::MAX_EXTENT_2D;
use vitric_api::swapchain::{self, FORMATS, PRESENT_MODES, PresentTarget, Swapchain, SwapchainDesc};
use vitric_api::{Error, Result, families};

use crate::objects::{self, InstanceObject, Marked, destroy, device, need};
use crate::{check, raw};

pub use wayland::{create as create_wayland, support as wayland_support};
pub use xcb::{create_xcb, xcb_support};
pub use xlib::{create as create_xlib, support as xlib_support};

/// A surface that nobody sees.
struct Headless;

impl PresentTarget for Headless {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    fn present(&self, _: vk::Extent2D, _: &dyn Fn(&mut [u8])) -> Result<()> {
        Ok(())
    }
}

pub extern "system" fn create_headless(
    instance: vk::Instance,
    info: *const vk::HeadlessSurfaceCreateInfoEXT<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    raw::create(out, || {
        raw::input(info).ok_or(Error::Unknown)?;
        insert(instance, Arc::new(Headless))
    })
}

/// Surfaces are kept behind a pointer that carries its own mark, since queries name them without their instance.
pub struct SurfaceObject {
    target: Arc<dyn PresentTarget>,
    /// The swapchain that was last made for it.
    chain: Mutex<Weak<Swapchain>>,
}

/// Its window may be gone afterwards, also where a program forgot to destroy the swapchain first.
impl Drop for SurfaceObject {
    fn drop(&mut self) {
        if let Some(chain) = self.chain.get_mut().upgrade() {
            chain.close();
        }
    }
}

fn insert(instance: vk::Instance, target: Arc<dyn PresentTarget>) -> Result<u64> {
    let instance = InstanceObject::from_handle(instance).ok_or(Error::Unknown)?;
    Ok(SurfaceObject { target, chain: Mutex::default() }.into_handle(instance.number))
}

fn surface_object<'a>(surface: vk::SurfaceKHR) -> Result<&'a SurfaceObject> {
    SurfaceObject::from_handle(surface).ok_or(Error::SurfaceLost)
}

fn target(surface: vk::SurfaceKHR) -> Result<Arc<dyn PresentTarget>> {
    surface_object(surface).map(|object| object.target.clone())
}

pub extern "system" fn destroy_surface(
    _: vk::Instance,
    surface: vk::SurfaceKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
    raw::guard_void(|| SurfaceObject::destroy(surface));
}

pub extern "system" fn surface_support(
    _: vk::PhysicalDevice,
    family: u32,
    surface: vk::SurfaceKHR,
    out: *mut vk::Bool32,
) -> vk::Result {
    raw::guard(|| {
        let supported = families::find(family).is_some() && target(surface).is_ok();
        *raw::output(out).ok_or(Error::Unknown)? = vk::Bool32::from(supported);
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn surface_capabilities(
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    raw::guard(|| {
        *raw::output(out).ok_or(Error::Unknown)? = swapchain::capabilities(&*target(surface)?)?;
        Ok(vk::Result::SUCCESS)
    })
}

/// What a surface can do, with what a chain asks for. Nothing is scaled; each way to present goes with each other.
pub extern "system" fn surface_capabilities2(
    _: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    out: *mut vk::SurfaceCapabilities2KHR<'_>,
) -> vk::Result {
    raw::guard(|| {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let out = raw::output(out).ok_or(Error::Unknown)?;
        let found = match info.surface.is_null() {
            true => swapchain::capabilities_of_any(),
            false => swapchain::capabilities(&*target(info.surface)?)?,
        };
        out.surface_capabilities = found;
        raw::put(out.p_next, vk::SurfaceProtectedCapabilitiesKHR::default());
        let scaling = vk::SurfacePresentScalingCapabilitiesEXT::default()
            .min_scaled_image_extent(found.min_image_extent)
            .max_scaled_image_extent(found.max_image_extent);
        raw::put(out.p_next, scaling);
        let modes: Option<&mut vk::SurfacePresentModeCompatibilityEXT<'_>> = raw::find_out(out.p_next);
        if let Some(modes) = modes {
            let asked: Option<&vk::SurfacePresentModeEXT<'_>> = raw::find(info.p_next);
            let all = modes_with(asked.map(|asked| asked.present_mode));
            // That there are more than there is room for is no reason to say so.
            let _ = raw::enumerate(&all, &raw mut modes.present_mode_count, modes.p_present_modes);
        }
        Ok(vk::Result::SUCCESS)
    })
}

/// Ways to present that a swapchain may change to from one of them, which is the first: each goes with all, one that there is not with
/// none.
fn modes_with(asked: Option<vk::PresentModeKHR>) -> Vec<vk::PresentModeKHR> {
    let mut all = PRESENT_MODES.to_vec();
    match asked.map(|asked| PRESENT_MODES.iter().position(|mode| *mode == asked)) {
        Some(Some(place)) => all.swap(0, place),
        Some(None) => all.clear(),
        None => {}
    }
    all
}

pub extern "system" fn surface_formats2(
    _: vk::PhysicalDevice,
    _: *const vk::PhysicalDeviceSurfaceInfo2KHR<'_>,
    count: *mut u32,
    out: *mut vk::SurfaceFormat2KHR<'_>,
) -> vk::Result {
    let Some(count) = raw::output(count) else { return Error::Unknown.code() };
    if out.is_null() {
        *count = FORMATS.len() as u32;
        return vk::Result::SUCCESS;
    }
    *count = (*count).min(FORMATS.len() as u32);
    for (out, format) in raw::slice_mut(out, *count as usize).iter_mut().zip(FORMATS) {
        out.surface_format = vk::SurfaceFormatKHR { format, color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR };
    }
    if (*count as usize) < FORMATS.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

pub extern "system" fn surface_formats(
    _: vk::PhysicalDevice,
    _: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    let color_space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
    raw::enumerate(&FORMATS.map(|format| vk::SurfaceFormatKHR { format, color_space }), count, out)
}

pub extern "system" fn surface_modes(
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::PresentModeKHR,
) -> vk::Result {
    // Without a surface nothing but what all have may be told (`VK_GOOGLE_surfaceless_query`).
    let modes = if surface.is_null() { &[vk::PresentModeKHR::FIFO][..] } else { &PRESENT_MODES };
    raw::enumerate(modes, count, out)
}

pub extern "system" fn create_swapchain(
    handle: vk::Device,
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SwapchainKHR,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let desc = SwapchainDesc {
            images: info.min_image_count,
            format: info.image_format,
            extent: info.image_extent,
            usage: info.image_usage,
            mode: info.present_mode,
            alpha: info.composite_alpha,
            is_mutable: info.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT),
        };
        let old = object.swapchains.get(info.old_swapchain.as_raw());
        let surface = surface_object(info.surface)?;
        let mut last = surface.chain.lock();
        let is_old = |chain: &Arc<Swapchain>| old.as_ref().is_some_and(|old| Arc::ptr_eq(&old.chain, chain));
        if last.upgrade().is_some_and(|chain| chain.is_in_use() && !is_old(&chain)) {
            return Err(Error::WindowInUse);
        }
        let old = old.as_ref().map(|entry| &*entry.chain);
        let made = Swapchain::new(&object.device, surface.target.clone(), desc, old)?;
        *last = Arc::downgrade(&made);
        let images = made.images().iter().map(|image| object.images.insert(image.clone())).collect();
        Ok(object.swapchains.insert(Arc::new(SwapchainEntry { chain: made, images })))
    })
}

/// A swapchain with its images' handles.
pub struct SwapchainEntry {
    /// The swapchain.
    pub chain: Arc<Swapchain>,
    /// Its images, as handles.
    pub images: Vec<u64>,
}

pub extern "system" fn destroy_swapchain(
    handle: vk::Device,
    swapchain: vk::SwapchainKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        if let Some(entry) = object.swapchains.get(swapchain.as_raw()) {
            entry.chain.close();
            for &image in &entry.images {
                object.remove(&object.images, vk::Image::from_raw(image));
            }
        }
        destroy(handle, |object| &object.swapchains, swapchain);
    });
}

pub extern "system" fn swapchain_images(
    handle: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    out: *mut vk::Image,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let entry = need(object, &object.swapchains, swapchain)?;
        let images: Vec<vk::Image> = entry.images.iter().map(|&image| vk::Image::from_raw(image)).collect();
        Ok(raw::enumerate(&images, count, out))
    })
}

pub extern "system" fn acquire(
    handle: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        object.device.health().check()?;
        let entry = need(object, &object.swapchains, swapchain)?;
        let out = raw::output(out).ok_or(Error::Unknown)?;
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
    })
}

/// Waits until the image of a number was presented, or one of a greater number.
pub extern "system" fn wait_for_present(
    handle: vk::Device,
    swapchain: vk::SwapchainKHR,
    number: u64,
    timeout: u64,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        object.device.health().check()?;
        let entry = need(object, &object.swapchains, swapchain)?;
        Ok(if entry.chain.wait_for(number, timeout)? { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
    })
}

/// Images that were acquired go back without being shown.
pub extern "system" fn release_images(
    handle: vk::Device,
    info: *const vk::ReleaseSwapchainImagesInfoEXT<'_>,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let entry = need(object, &object.swapchains, info.swapchain)?;
        entry.chain.release(check::array(object, "pImageIndices", info.p_image_indices, info.image_index_count)?);
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn acquire2(
    handle: vk::Device,
    info: *const vk::AcquireNextImageInfoKHR<'_>,
    out: *mut u32,
) -> vk::Result {
    let Some(info) = raw::input(info) else { return Error::Unknown.code() };
    acquire(handle, info.swapchain, info.timeout, info.semaphore, info.fence, out)
}

// A device is a group of its own, and shows what it has rendered itself.

pub extern "system" fn group_capabilities(
    _: vk::Device,
    out: *mut vk::DeviceGroupPresentCapabilitiesKHR<'_>,
) -> vk::Result {
    let modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
    let mut capabilities = vk::DeviceGroupPresentCapabilitiesKHR { modes, ..Default::default() };
    capabilities.present_mask[0] = 1;
    raw::fill(out, capabilities);
    vk::Result::SUCCESS
}

pub extern "system" fn group_modes(
    _: vk::Device,
    surface: vk::SurfaceKHR,
    out: *mut vk::DeviceGroupPresentModeFlagsKHR,
) -> vk::Result {
    raw::guard(|| {
        target(surface)?;
        *raw::output(out).ok_or(Error::Unknown)? = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
        Ok(vk::Result::SUCCESS)
    })
}

/// The one rectangle that the device presents: all of the surface, or all that it could have.
pub extern "system" fn present_rectangles(
    _: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    out: *mut vk::Rect2D,
) -> vk::Result {
    raw::guard(|| {
        let most = vk::Extent2D { width: MAX_EXTENT_2D, height: MAX_EXTENT_2D };
        let extent = target(surface)?.extent()?.unwrap_or(most);
        Ok(raw::enumerate(&[vk::Rect2D { extent, ..Default::default() }], count, out))
    })
}

pub extern "system" fn present(queue: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
    raw::guard(|| {
        let (object, queue) = objects::queue(queue)?;
        let queue = &queue.queue;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let waits = check::array(object, "pWaitSemaphores", info.p_wait_semaphores, info.wait_semaphore_count)?.iter();
        let waits = waits.map(|&semaphore| Ok((need(object, &object.semaphores, semaphore)?.take_payload(), 0)));
        let waits = waits.collect::<Result<Vec<_>>>()?;
        queue.submit(vec![vitric_api::queue::Batch { waits, ..Default::default() }], None)?;
        let mut worst = Ok(vk::Result::SUCCESS);
        let ids: Option<&vk::PresentIdKHR<'_>> = raw::find(info.p_next);
        let ids = ids.map_or(&[][..], |ids| raw::slice(ids.p_present_ids, ids.swapchain_count));
        let chains = check::array(object, "pSwapchains", info.p_swapchains, info.swapchain_count)?;
        let images = check::array(object, "pImageIndices", info.p_image_indices, info.swapchain_count)?;
        let modes: Option<&vk::SwapchainPresentModeInfoEXT<'_>> = raw::find(info.p_next);
        let modes = modes.map_or(&[][..], |info| raw::slice(info.p_present_modes, info.swapchain_count));
        let fences: Option<&vk::SwapchainPresentFenceInfoEXT<'_>> = raw::find(info.p_next);
        let fences = fences.map_or(&[][..], |info| raw::slice(info.p_fences, info.swapchain_count));
        for (number, (&chain, &image)) in chains.iter().zip(images).enumerate() {
            let result = need(object, &object.swapchains, chain).and_then(|entry| {
                let checked = entry.chain.check();
                let frame = entry.chain.send(image);
                let (mode, id) = (modes.get(number).copied(), ids.get(number).copied().unwrap_or(0));
                let fence = fences.get(number).and_then(|fence| object.fences.get(fence.as_raw()));
                let fence = fence.map(|fence| fence.payload());
                queue.present(move || {
                    frame.show(mode, id);
                    // Nothing of the application's is in use any more.
                    fence.into_iter().for_each(|fence| fence.signal(1));
                })?;
                checked
            });
            if let Some(slot) = raw::slice_mut(info.p_results, info.swapchain_count as usize).get_mut(number) {
                *slot = result.map_or_else(Error::code, |()| vk::Result::SUCCESS);
            }
            if let (Err(error), Ok(_)) = (result, worst) {
                worst = Err(error);
            }
        }
        worst
    })
}
