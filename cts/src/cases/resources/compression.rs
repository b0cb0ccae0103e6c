//! Control of the compression of images: properties of formats and images, and contents of images
//! of each control. Source: `VK_EXT_image_compression_control`.

use std::ffi::c_void;

use ash::vk::{self, Format as F, ImageCompressionFlagsEXT as C};
use ash::{ext, khr};

use crate::Entry;
use crate::harness::{Case, Gpu, Image, Outcome, check};

const CONTROLS: [(&str, C); 4] = [
    ("default", C::DEFAULT),
    ("fixed_default", C::FIXED_RATE_DEFAULT),
    ("fixed_explicit", C::FIXED_RATE_EXPLICIT),
    ("disabled", C::DISABLED),
];

/// All rates.
const RATES: vk::ImageCompressionFixedRateFlagsEXT = vk::ImageCompressionFixedRateFlagsEXT::from_raw(0xff_ffff);

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (control, flags) in CONTROLS {
        for (name, format, planes) in [
            ("rgba8", F::R8G8B8A8_UNORM, 1),
            ("rgba16", F::R16G16B16A16_SFLOAT, 1),
            ("d32", F::D32_SFLOAT, 1),
            ("bc7", F::BC7_UNORM_BLOCK, 1),
            ("nv12", F::G8_B8R8_2PLANE_420_UNORM, 2),
        ] {
            let run = move |gpu: &Gpu| properties(gpu, format, planes, flags);
            let section = "VkImageCompressionPropertiesEXT";
            cases.push(Entry::new(format!("images.compression_{control}.{name}"), section, run));
        }
        let run = move |gpu: &Gpu| contents(gpu, flags);
        cases.push(Entry::new(format!("images.compression_{control}.contents"), "VkImageCompressionControlEXT", run));
    }
}

/// Returns true if flags and rates of an image that was created with a control are allowed.
fn is_allowed(control: C, found: (C, vk::ImageCompressionFixedRateFlagsEXT)) -> bool {
    let (flags, rates) = found;
    match flags {
        C::DISABLED => rates.is_empty(),
        C::DEFAULT => rates.is_empty() && control != C::DISABLED,
        C::FIXED_RATE_EXPLICIT => {
            let is_asked = control == C::FIXED_RATE_DEFAULT || control == C::FIXED_RATE_EXPLICIT;
            is_asked && rates.as_raw().is_power_of_two()
        }
        _ => false,
    }
}

/// Returns the compression of an image.
fn of_image(
    gpu: &Gpu,
    image: vk::Image,
    aspect: vk::ImageAspectFlags,
) -> Result<vk::ImageCompressionPropertiesEXT<'static>, Outcome> {
    type Command = unsafe extern "system" fn(
        vk::Device,
        vk::Image,
        *const vk::ImageSubresource2KHR<'_>,
        *mut vk::SubresourceLayout2KHR<'_>,
    );
    // SAFETY: both names belong to commands of this type.
    let command = unsafe {
        let find = |name: &std::ffi::CStr| gpu.instance.get_device_proc_addr(gpu.device.handle(), name.as_ptr());
        let found = find(c"vkGetImageSubresourceLayout2EXT").ok_or(Outcome::Fail("there is no command".into()))?;
        std::mem::transmute::<unsafe extern "system" fn(), Command>(found)
    };
    let mut found = vk::ImageCompressionPropertiesEXT::default()
        .image_compression_flags(C::from_raw(77))
        .image_compression_fixed_rate_flags(RATES);
    let subresource = vk::ImageSubresource { aspect_mask: aspect, ..Default::default() };
    let part = vk::ImageSubresource2KHR::default().image_subresource(subresource);
    let mut out = vk::SubresourceLayout2KHR { p_next: (&raw mut found).cast::<c_void>(), ..Default::default() };
    // SAFETY: the structures live as long as the call, and the image is alive.
    unsafe { command(gpu.device.handle(), image, &raw const part, &raw mut out) };
    found.p_next = std::ptr::null_mut();
    Ok(found)
}

fn info(format: F, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 512, height: 256, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage)
}

/// Compares the compression that the format has with a control with that of an image.
fn properties(gpu: &Gpu, format: F, planes: usize, flags: C) -> Case {
    gpu.need(ext::image_compression_control::NAME)?;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let mut rates = vec![RATES; planes];
    let mut control = vk::ImageCompressionControlEXT::default().flags(flags).fixed_rate_flags(&mut rates);
    let mut found = vk::ImageCompressionPropertiesEXT::default().image_compression_flags(C::from_raw(77));
    let of_kind = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(format)
        .ty(vk::ImageType::TYPE_2D)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage)
        .push_next(&mut control);
    let mut out = vk::ImageFormatProperties2::default().push_next(&mut found);
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the structures live as long as the call.
    unsafe { query.get_physical_device_image_format_properties2(gpu.physical, &of_kind, &mut out) }
        .map_err(|_| Outcome::NotSupported(format!("{format:?}")))?;
    let of_format = (found.image_compression_flags, found.image_compression_fixed_rate_flags);
    // A format may have several rates, of which an image has one.
    let is_right = match of_format.0 {
        C::FIXED_RATE_EXPLICIT => !of_format.1.is_empty() && is_allowed(flags, (of_format.0, lowest(of_format.1))),
        _ => is_allowed(flags, of_format),
    };
    check(is_right, || format!("of the format: {of_format:?}"))?;
    let mut control = vk::ImageCompressionControlEXT::default().flags(flags).fixed_rate_flags(&mut rates);
    // SAFETY: the info is valid.
    let image = unsafe { gpu.device.create_image(&info(format, usage).push_next(&mut control), None)? };
    let aspects = match planes {
        1 if format == F::D32_SFLOAT => vec![vk::ImageAspectFlags::DEPTH],
        1 => vec![vk::ImageAspectFlags::COLOR],
        _ => vec![vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1],
    };
    for aspect in aspects {
        let found = of_image(gpu, image, aspect)?;
        let found = (found.image_compression_flags, found.image_compression_fixed_rate_flags);
        check(is_allowed(flags, found), || format!("of {aspect:?}: {found:?}"))?;
        let is_same = found.0 == of_format.0 || of_format.0 == C::FIXED_RATE_EXPLICIT;
        check(is_same, || format!("of {aspect:?}: {found:?}, of the format: {of_format:?}"))?;
    }
    // SAFETY: the image is in no use.
    unsafe { gpu.device.destroy_image(image, None) };
    Ok(())
}

fn lowest(rates: vk::ImageCompressionFixedRateFlagsEXT) -> vk::ImageCompressionFixedRateFlagsEXT {
    vk::ImageCompressionFixedRateFlagsEXT::from_raw(1 << rates.as_raw().trailing_zeros())
}

/// Writes an image, lets submissions without it pass, and reads it.
fn contents(gpu: &Gpu, flags: C) -> Case {
    gpu.need(ext::image_compression_control::NAME)?;
    // Fixed rates change texels, so they are excluded.
    let mut rates = [vk::ImageCompressionFixedRateFlagsEXT::NONE];
    let flags = if flags == C::FIXED_RATE_DEFAULT { C::DEFAULT } else { flags };
    let mut control = vk::ImageCompressionControlEXT::default().flags(flags).fixed_rate_flags(&mut rates);
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let info = info(F::R8G8B8A8_UNORM, usage).push_next(&mut control);
    let image = Image {
        handle: gpu.bound_image(&info)?,
        view: vk::ImageView::null(),
        extent: info.extent,
        aspects: vk::ImageAspectFlags::COLOR,
        levels: 1,
    };
    let texels: Vec<u32> = (0..512 * 256).map(|texel: u32| (texel / 64).wrapping_mul(0x9e37_79b9)).collect();
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    gpu.write_image(&image, image.aspects, bytemuck::cast_slice(&texels), layout)?;
    for _ in 0..3 {
        gpu.run(|commands| gpu.barrier(commands, None))?;
    }
    let read = gpu.read_image(&image, image.aspects, 4)?;
    check(read == bytemuck::cast_slice::<u32, u8>(&texels), || "other texels".into())
}
