//! Wrong controls of the compression of images.

mod common;

use ash::vk::{self, ImageCompressionFlagsEXT as F};
use common::Driver;

/// Creates an image of a format with a control.
fn create(driver: &Driver, format: vk::Format, control: &mut vk::ImageCompressionControlEXT<'_>) -> vk::Result {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::SAMPLED)
        .push_next(control);
    // SAFETY: the driver must refuse the parts that are not valid.
    match unsafe { driver.device.create_image(&info, None) } {
        Ok(image) => {
            // SAFETY: the image is in no use.
            unsafe { driver.device.destroy_image(image, None) };
            vk::Result::SUCCESS
        }
        Err(code) => code,
    }
}

#[test]
fn wrong_controls_of_compression_are_refused() {
    let driver = Driver::open_with(&[ash::ext::image_compression_control::NAME]);
    let rgba = vk::Format::R8G8B8A8_UNORM;
    let mut none = [vk::ImageCompressionFixedRateFlagsEXT::NONE];
    let control = vk::ImageCompressionControlEXT::default;
    let refused = [
        (rgba, control().flags(F::from_raw(3)), "VkImageCompressionControlEXT::flags = "),
        (
            rgba,
            control().flags(F::FIXED_RATE_EXPLICIT),
            "VkImageCompressionControlEXT::pFixedRateFlags = null: expected a pointer to 1 values",
        ),
        (
            vk::Format::G8_B8R8_2PLANE_420_UNORM,
            control().flags(F::FIXED_RATE_EXPLICIT).fixed_rate_flags(&mut none),
            "VkImageCreateInfo::compressionControlPlaneCount = 1: expected the number of planes of the format",
        ),
    ];
    for (format, mut control, message) in refused {
        assert_eq!(create(&driver, format, &mut control), vk::Result::ERROR_UNKNOWN);
        assert!(driver.last_message().starts_with(message), "{}", driver.last_message());
    }
    for flags in [F::DEFAULT, F::FIXED_RATE_DEFAULT, F::DISABLED] {
        // The pointer is ignored.
        let mut control = control().flags(flags);
        control.compression_control_plane_count = 9;
        assert_eq!(create(&driver, rgba, &mut control), vk::Result::SUCCESS);
    }
    driver.close();
}
