//! The table of allowed values in create infos. Every entry point that creates an object reads its
//! info through [`info`]. It refuses null pointers, unknown enums, unknown flags and counts beyond
//! the limits, with a message that names the value.
//!
//! Values that Vulkan ignores in some cases (values of dynamic state, or of disabled tests) are
//! only checked where they are used. The checks come before any allocation or compilation. Source:
//! Vulkan specification, "Valid Usage" of each structure.

pub mod pipelines;

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use ash::vk::{self, DescriptorType as T, SamplerAddressMode as Address};
use vitric_api::debug::Messages;
use vitric_api::physical::{self, PROTECTED, sample_counts};
use vitric_api::{Error, Result};
use vitric_format as format;
use vitric_gpu::command::MAX_SETS;
use vitric_vulkan::sys;

use super::DeviceObject;
use crate::call::{Array, ArrayMut, BytesMut, Call};

/// A create info whose values are checked.
pub trait Checked {
    /// Vulkan's name of the structure.
    const NAME: &'static str;

    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::Unknown`] if one is not allowed: a message was sent.
    fn check(&self, check: Check<'_>) -> Result<()>;
}

/// Reads and checks an info.
///
/// # Errors
/// [`Error::Unknown`] if it is null or has a value that is not allowed: a message was sent.
pub fn info<'c, I: Checked>(call: Call<'_>, object: &DeviceObject, info: Option<&'c I>) -> Result<&'c I> {
    checked(call, object.messages(), info)
}

/// Reads and checks an info without a device.
///
/// # Errors
/// [`Error::Unknown`] if it is null or has a value that is not allowed: a message was sent.
pub fn checked<'c, I: Checked>(call: Call<'_>, messages: &Messages, info: Option<&'c I>) -> Result<&'c I> {
    let check = Check { call, messages, structure: I::NAME };
    let found = info.ok_or_else(|| check.null())?;
    found.check(check)?;
    Ok(found)
}

/// Returns an input array.
///
/// # Errors
/// [`Error::Unknown`] if the pointer is null and the count is not 0: a message was sent.
pub fn array<'c, I>(object: &DeviceObject, name: &'static str, array: Array<'c, I>) -> Result<&'c [I]> {
    present(object, name, array.is_missing(), array.count())?;
    Ok(array.get())
}

/// Returns an output array.
///
/// # Errors
/// [`Error::Unknown`] if the pointer is null and the count is not 0: a message was sent.
pub fn output<'c, O>(object: &DeviceObject, name: &'static str, array: ArrayMut<'c, O>) -> Result<&'c mut [O]> {
    present(object, name, array.is_missing(), array.count())?;
    Ok(array.get_mut())
}

/// Returns output bytes.
///
/// # Errors
/// [`Error::Unknown`] if the pointer is null although bytes are needed: a message was sent.
pub fn output_bytes<'c>(
    object: &DeviceObject,
    name: &'static str,
    bytes: BytesMut<'c>,
    is_needed: bool,
) -> Result<&'c mut [u8]> {
    present(object, name, is_needed && bytes.is_null(), 1)?;
    Ok(bytes.get_mut())
}

fn present(object: &DeviceObject, name: &str, is_missing: bool, count: u32) -> Result<()> {
    if is_missing { Err(refuse(object.messages(), name, "array", "null", pointer_to(count))) } else { Ok(()) }
}

/// Returns the text for allowed values of a null pointer.
fn pointer_to(count: u32) -> String {
    format!("a pointer to {count} values")
}

/// Sends the message that a value is not allowed.
#[cold]
fn refuse(messages: &Messages, structure: &str, field: &str, value: impl Display, allowed: impl Display) -> Error {
    let field = camel_case(field);
    messages.error(&format!("{structure}::{field} = {value}: expected {allowed}"));
    Error::Unknown
}

/// Checks a value that a command sets.
///
/// # Errors
/// [`Error::Unknown`] if it is not allowed: a message was sent.
pub fn value(
    call: Call<'_>,
    object: &DeviceObject,
    name: &'static str,
    check: impl FnOnce(Check<'_>) -> Result<()>,
) -> Result<()> {
    check(Check { call, messages: object.messages(), structure: name })
}

/// Checker of one structure's values.
#[derive(Clone, Copy)]
pub struct Check<'a> {
    call: Call<'a>,
    messages: &'a Messages,
    structure: &'static str,
}

impl Check<'_> {
    #[cold]
    fn null(self) -> Error {
        self.messages.error(&format!("{} = null: expected a pointer to the structure", self.structure));
        Error::Unknown
    }

    #[cold]
    fn fail(self, field: &str, value: impl Display, allowed: impl Display) -> Error {
        refuse(self.messages, self.structure, field, value, allowed)
    }

    /// Checks a value by the caller's test.
    pub fn holds(self, field: &str, value: impl Display, allowed: &str, holds: bool) -> Result<()> {
        if holds { Ok(()) } else { Err(self.fail(field, value, allowed)) }
    }

    /// Checks that a value is in a list.
    pub fn any_of<V: PartialEq + Debug>(self, field: &str, value: V, allowed: &[V]) -> Result<()> {
        match allowed.contains(&value) {
            true => Ok(()),
            false => Err(self.fail(field, format_args!("{value:?}"), format_args!("one of {allowed:?}"))),
        }
    }

    /// Checks that a number is in a range.
    pub fn within(self, field: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<()> {
        match allowed.contains(&value) {
            true => Ok(()),
            false => Err(self.fail(field, value, format_args!("{} to {}", allowed.start(), allowed.end()))),
        }
    }

    /// Checks that all flags are allowed.
    pub fn bits(self, field: &str, value: u64, allowed: u64) -> Result<()> {
        match value & !allowed {
            0 => Ok(()),
            _ => Err(self.fail(field, format_args!("{value:#x}"), format_args!("no bits but {allowed:#x}"))),
        }
    }

    /// Checks that a value is exactly one of the allowed flags.
    pub fn one_bit(self, field: &str, value: u64, allowed: u64) -> Result<()> {
        match value.count_ones() == 1 && value & allowed != 0 {
            true => Ok(()),
            false => Err(self.fail(field, format_args!("{value:#x}"), format_args!("one bit of {allowed:#x}"))),
        }
    }

    /// Checks that a pointer is not null if its count is not 0.
    pub fn points<V>(self, field: &str, pointer: *const V, count: u32) -> Result<()> {
        match count > 0 && pointer.is_null() {
            true => Err(self.fail(field, "null", pointer_to(count))),
            false => Ok(()),
        }
    }

    /// Checks an array and its elements.
    pub fn each<V: Checked>(self, field: &str, array: Array<'_, V>) -> Result<()> {
        match array.is_missing() {
            true => Err(self.fail(field, "null", pointer_to(array.count()))),
            false => array.get().iter().try_for_each(|value| self.nested(value)),
        }
    }

    /// Checks a nested structure.
    pub fn nested<V: Checked>(self, value: &V) -> Result<()> {
        value.check(Check { structure: V::NAME, ..self })
    }

    /// Checks that the driver knows a format.
    pub fn format(self, field: &str, value: vk::Format) -> Result<()> {
        match format::info(value) {
            Some(_) => Ok(()),
            None => Err(self.fail(field, format_args!("{value:?}"), "a format with format features")),
        }
    }

    /// Checks a structure of a chain, if it is present.
    pub fn chained<V: Checked + vk::TaggedStructure>(self, next: *const std::ffi::c_void) -> Result<()> {
        match self.call.find::<V>(next) {
            Some(found) => self.nested(found),
            None => Ok(()),
        }
    }
}

/// Returns the name of a field as Vulkan writes it.
fn camel_case(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

/// Expands to the check of one field.
macro_rules! rule {
    ($self:ident, $check:ident, $field:ident, any_of($allowed:expr)) => {
        $check.any_of(stringify!($field), $self.$field, $allowed)
    };
    ($self:ident, $check:ident, $field:ident, within($allowed:expr)) => {
        $check.within(stringify!($field), u64::from($self.$field), $allowed)
    };
    ($self:ident, $check:ident, $field:ident, bits($allowed:expr)) => {
        $check.bits(stringify!($field), u64::from($self.$field.as_raw()), u64::from($allowed.as_raw()))
    };
    ($self:ident, $check:ident, $field:ident, one_bit($allowed:expr)) => {
        $check.one_bit(stringify!($field), u64::from($self.$field.as_raw()), u64::from($allowed.as_raw()))
    };
    ($self:ident, $check:ident, $field:ident, points($count:ident)) => {
        $check.points(stringify!($field), $self.$field, $self.$count)
    };
    ($self:ident, $check:ident, $field:ident, each($count:ident)) => {
        $check.each(stringify!($field), $check.call.array($self.$field, $self.$count))
    };
    ($self:ident, $check:ident, $field:ident, format()) => {
        $check.format(stringify!($field), $self.$field)
    };
}
pub(crate) use rule;

/// A row has a structure, its fields with their rules, and a check of several fields.
macro_rules! table {
    ($($ty:ty = $name:literal { $($field:ident: $rule:ident($($argument:tt)*),)* } $(then $more:expr)?;)*) => { $(
        impl $crate::object::check::Checked for $ty {
            const NAME: &'static str = $name;

            fn check(&self, check: $crate::object::check::Check<'_>) -> vitric_api::Result<()> {
                let _ = check;
                $($crate::object::check::rule!(self, check, $field, $rule($($argument)*))?;)*
                $(
                    let more: fn(&Self, $crate::object::check::Check<'_>) -> vitric_api::Result<()> = $more;
                    more(self, check)?;
                )?
                Ok(())
            }
        }
    )* };
}
pub(crate) use table;

const SHARING: &[vk::SharingMode] = &[vk::SharingMode::EXCLUSIVE, vk::SharingMode::CONCURRENT];
const FILTERS: &[vk::Filter] = &[vk::Filter::NEAREST, vk::Filter::LINEAR];
const MIP_MODES: &[vk::SamplerMipmapMode] = &[vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR];
const ADDRESSES: &[Address] = &[
    Address::REPEAT,
    Address::MIRRORED_REPEAT,
    Address::CLAMP_TO_EDGE,
    Address::CLAMP_TO_BORDER,
    Address::MIRROR_CLAMP_TO_EDGE,
];
const BORDERS: &[vk::BorderColor] = &[
    vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    vk::BorderColor::INT_TRANSPARENT_BLACK,
    vk::BorderColor::FLOAT_OPAQUE_BLACK,
    vk::BorderColor::INT_OPAQUE_BLACK,
    vk::BorderColor::FLOAT_OPAQUE_WHITE,
    vk::BorderColor::INT_OPAQUE_WHITE,
    vk::BorderColor::FLOAT_CUSTOM_EXT,
    vk::BorderColor::INT_CUSTOM_EXT,
];
const REDUCTIONS: &[vk::SamplerReductionMode] =
    &[vk::SamplerReductionMode::WEIGHTED_AVERAGE, vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX];
const MODELS: &[vk::SamplerYcbcrModelConversion] = &[
    vk::SamplerYcbcrModelConversion::RGB_IDENTITY,
    vk::SamplerYcbcrModelConversion::YCBCR_IDENTITY,
    vk::SamplerYcbcrModelConversion::YCBCR_709,
    vk::SamplerYcbcrModelConversion::YCBCR_601,
    vk::SamplerYcbcrModelConversion::YCBCR_2020,
];
const RANGES: &[vk::SamplerYcbcrRange] = &[vk::SamplerYcbcrRange::ITU_FULL, vk::SamplerYcbcrRange::ITU_NARROW];
const CHROMA: &[vk::ChromaLocation] = &[vk::ChromaLocation::COSITED_EVEN, vk::ChromaLocation::MIDPOINT];
const SWIZZLES: &[vk::ComponentSwizzle] = &[
    vk::ComponentSwizzle::IDENTITY,
    vk::ComponentSwizzle::ZERO,
    vk::ComponentSwizzle::ONE,
    vk::ComponentSwizzle::R,
    vk::ComponentSwizzle::G,
    vk::ComponentSwizzle::B,
    vk::ComponentSwizzle::A,
];
pub const COMPARES: &[vk::CompareOp] = &[
    vk::CompareOp::NEVER,
    vk::CompareOp::LESS,
    vk::CompareOp::EQUAL,
    vk::CompareOp::LESS_OR_EQUAL,
    vk::CompareOp::GREATER,
    vk::CompareOp::NOT_EQUAL,
    vk::CompareOp::GREATER_OR_EQUAL,
    vk::CompareOp::ALWAYS,
];
const QUERIES: &[vk::QueryType] = &[
    vk::QueryType::OCCLUSION,
    vk::QueryType::PIPELINE_STATISTICS,
    vk::QueryType::TIMESTAMP,
    vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT,
    vk::QueryType::PRIMITIVES_GENERATED_EXT,
    vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT,
];
const IMAGE_TYPES: &[vk::ImageType] = &[vk::ImageType::TYPE_1D, vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D];
const COMPRESSIONS: &[vk::ImageCompressionFlagsEXT] = &[
    vk::ImageCompressionFlagsEXT::DEFAULT,
    vk::ImageCompressionFlagsEXT::FIXED_RATE_DEFAULT,
    vk::ImageCompressionFlagsEXT::FIXED_RATE_EXPLICIT,
    vk::ImageCompressionFlagsEXT::DISABLED,
];
/// Formats of decoded ASTC blocks. Shared exponents are not supported.
const DECODE_MODES: &[vk::Format] = &[vk::Format::R16G16B16A16_SFLOAT, vk::Format::R8G8B8A8_UNORM];
const TILINGS: &[vk::ImageTiling] =
    &[vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR, vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT];
const FIRST_LAYOUTS: &[vk::ImageLayout] = &[
    vk::ImageLayout::UNDEFINED,
    vk::ImageLayout::PREINITIALIZED,
    vk::ImageLayout::from_raw(sys::ImageLayout::ZERO_INITIALIZED_EXT.as_raw()),
];
const LEVELS: &[vk::CommandBufferLevel] = &[vk::CommandBufferLevel::PRIMARY, vk::CommandBufferLevel::SECONDARY];
const SEMAPHORES: &[vk::SemaphoreType] = &[vk::SemaphoreType::BINARY, vk::SemaphoreType::TIMELINE];
const TEMPLATES: &[vk::DescriptorUpdateTemplateType] =
    &[vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET, vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR];
const DESCRIPTORS: &[T] = &[
    T::SAMPLER,
    T::COMBINED_IMAGE_SAMPLER,
    T::SAMPLED_IMAGE,
    T::STORAGE_IMAGE,
    T::UNIFORM_TEXEL_BUFFER,
    T::STORAGE_TEXEL_BUFFER,
    T::UNIFORM_BUFFER,
    T::STORAGE_BUFFER,
    T::UNIFORM_BUFFER_DYNAMIC,
    T::STORAGE_BUFFER_DYNAMIC,
    T::INPUT_ATTACHMENT,
    T::INLINE_UNIFORM_BLOCK,
    T::MUTABLE_EXT,
];
const LOADS: &[vk::AttachmentLoadOp] = &[
    vk::AttachmentLoadOp::LOAD,
    vk::AttachmentLoadOp::CLEAR,
    vk::AttachmentLoadOp::DONT_CARE,
    vk::AttachmentLoadOp::NONE_KHR,
];
const STORES: &[vk::AttachmentStoreOp] =
    &[vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE, vk::AttachmentStoreOp::NONE];

/// Returns the limits of the device, which are computed once.
fn limits() -> &'static vk::PhysicalDeviceLimits {
    static LIMITS: LazyLock<vk::PhysicalDeviceLimits> = LazyLock::new(physical::limits);
    &LIMITS
}

/// Returns the maximum number of colour attachments of a subpass or a pipeline.
fn max_colors() -> u32 {
    limits().max_color_attachments
}

fn swizzles(map: &vk::ComponentMapping, check: Check<'_>) -> Result<()> {
    [map.r, map.g, map.b, map.a].into_iter().try_for_each(|of| check.any_of("components", of, SWIZZLES))
}

table! {
    vk::InstanceCreateInfo<'_> = "VkInstanceCreateInfo" {
        pp_enabled_extension_names: points(enabled_extension_count),
    };
    vk::DeviceCreateInfo<'_> = "VkDeviceCreateInfo" {
        p_queue_create_infos: each(queue_create_info_count),
        pp_enabled_extension_names: points(enabled_extension_count),
    };
    vk::DeviceQueueCreateInfo<'_> = "VkDeviceQueueCreateInfo" { p_queue_priorities: points(queue_count), };
    vk::BufferCreateInfo<'_> = "VkBufferCreateInfo" { sharing_mode: any_of(SHARING), };
    vk::BufferViewCreateInfo<'_> = "VkBufferViewCreateInfo" { format: format(), };
    vk::ImageCreateInfo<'_> = "VkImageCreateInfo" {
        image_type: any_of(IMAGE_TYPES),
        tiling: any_of(TILINGS),
        sharing_mode: any_of(SHARING),
        samples: one_bit(sample_counts()),
        initial_layout: any_of(FIRST_LAYOUTS),
    } then |info, check| {
        levels_and_layers(info, check)?;
        compression(info, check)
    };
    vk::ImageCompressionControlEXT<'_> = "VkImageCompressionControlEXT" { flags: any_of(COMPRESSIONS), }
        then |info, check| {
            let is_explicit = info.flags == vk::ImageCompressionFlagsEXT::FIXED_RATE_EXPLICIT;
            check.points("p_fixed_rate_flags", info.p_fixed_rate_flags, u32::from(is_explicit))
        };
    vk::ImageViewCreateInfo<'_> = "VkImageViewCreateInfo" { format: format(), } then |info, check| {
        swizzles(&info.components, check)?;
        decode_mode(info, check)?;
        density_map(info, check)
    };
    vk::ImageViewASTCDecodeModeEXT<'_> = "VkImageViewASTCDecodeModeEXT" { decode_mode: any_of(DECODE_MODES), };
    vk::SamplerCreateInfo<'_> = "VkSamplerCreateInfo" {
        mag_filter: any_of(FILTERS),
        min_filter: any_of(FILTERS),
        mipmap_mode: any_of(MIP_MODES),
        address_mode_u: any_of(ADDRESSES),
        address_mode_v: any_of(ADDRESSES),
        address_mode_w: any_of(ADDRESSES),
    } then sampler;
    vk::SamplerReductionModeCreateInfo<'_> = "VkSamplerReductionModeCreateInfo" { reduction_mode: any_of(REDUCTIONS), };
    vk::SamplerYcbcrConversionCreateInfo<'_> = "VkSamplerYcbcrConversionCreateInfo" {
        format: format(),
        ycbcr_model: any_of(MODELS),
        ycbcr_range: any_of(RANGES),
        x_chroma_offset: any_of(CHROMA),
        y_chroma_offset: any_of(CHROMA),
        chroma_filter: any_of(FILTERS),
    } then |info, check| swizzles(&info.components, check);
    vk::QueryPoolCreateInfo<'_> = "VkQueryPoolCreateInfo" {
        query_type: any_of(QUERIES),
        query_count: within(1..=u64::from(u32::MAX)),
    };
    vk::FenceCreateInfo<'_> = "VkFenceCreateInfo" { flags: bits(vk::FenceCreateFlags::SIGNALED), };
    vk::SemaphoreCreateInfo<'_> = "VkSemaphoreCreateInfo" { flags: bits(vk::SemaphoreCreateFlags::empty()), }
        then |info, check| check.chained::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
    vk::SemaphoreTypeCreateInfo<'_> = "VkSemaphoreTypeCreateInfo" { semaphore_type: any_of(SEMAPHORES), };
    vk::EventCreateInfo<'_> = "VkEventCreateInfo" { flags: bits(vk::EventCreateFlags::DEVICE_ONLY), };
    vk::PrivateDataSlotCreateInfo<'_> = "VkPrivateDataSlotCreateInfo" {};
    vk::CommandPoolCreateInfo<'_> = "VkCommandPoolCreateInfo" {};
    vk::CommandBufferAllocateInfo<'_> = "VkCommandBufferAllocateInfo" { level: any_of(LEVELS), };
    vk::MemoryAllocateInfo<'_> = "VkMemoryAllocateInfo" { memory_type_index: within(0..=u64::from(PROTECTED)), };
    vk::ShaderModuleCreateInfo<'_> = "VkShaderModuleCreateInfo" {} then |info, check| {
        let is_whole = info.code_size > 0 && info.code_size.is_multiple_of(4);
        check.holds("code_size", info.code_size, "a multiple of 4 above 0", is_whole)?;
        check.points("p_code", info.p_code, 1)
    };
    vk::PipelineCacheCreateInfo<'_> = "VkPipelineCacheCreateInfo" {}
        then |info, check| check.points("p_initial_data", info.p_initial_data, u32::from(info.initial_data_size > 0));
    vk::DescriptorSetLayoutCreateInfo<'_> = "VkDescriptorSetLayoutCreateInfo" { p_bindings: each(binding_count), };
    vk::DescriptorSetLayoutBinding<'_> = "VkDescriptorSetLayoutBinding" {} then |binding, check| {
        // The type of a binding without descriptors is ignored.
        match binding.descriptor_count {
            0 => Ok(()),
            _ => check.any_of("descriptor_type", binding.descriptor_type, DESCRIPTORS),
        }
    };
    vk::DescriptorPoolCreateInfo<'_> = "VkDescriptorPoolCreateInfo" { p_pool_sizes: points(pool_size_count), };
    vk::DescriptorSetAllocateInfo<'_> = "VkDescriptorSetAllocateInfo" { p_set_layouts: points(descriptor_set_count), };
    vk::DescriptorUpdateTemplateCreateInfo<'_> = "VkDescriptorUpdateTemplateCreateInfo" {
        template_type: any_of(TEMPLATES),
        p_descriptor_update_entries: each(descriptor_update_entry_count),
    };
    vk::DescriptorUpdateTemplateEntry = "VkDescriptorUpdateTemplateEntry" { descriptor_type: any_of(DESCRIPTORS), };
    vk::PipelineLayoutCreateInfo<'_> = "VkPipelineLayoutCreateInfo" {
        set_layout_count: within(0..=MAX_SETS as u64),
        p_set_layouts: points(set_layout_count),
        p_push_constant_ranges: each(push_constant_range_count),
    };
    vk::PushConstantRange = "VkPushConstantRange" {} then |range, check| {
        let (end, most) = (u64::from(range.offset) + u64::from(range.size), vitric_ir::interface::PUSH_CONSTANT_BYTES);
        check.within("size", end, 0..=most as u64)
    };
    vk::FramebufferCreateInfo<'_> = "VkFramebufferCreateInfo" {} then framebuffer;
    vk::AttachmentDescription = "VkAttachmentDescription" {
        samples: one_bit(sample_counts()),
        load_op: any_of(LOADS),
        store_op: any_of(STORES),
        stencil_load_op: any_of(LOADS),
        stencil_store_op: any_of(STORES),
    };
    vk::AttachmentDescription2<'_> = "VkAttachmentDescription2" {
        samples: one_bit(sample_counts()),
        load_op: any_of(LOADS),
        store_op: any_of(STORES),
        stencil_load_op: any_of(LOADS),
        stencil_store_op: any_of(STORES),
    };
    vk::SubpassDescription<'_> = "VkSubpassDescription" {
        color_attachment_count: within(0..=u64::from(max_colors())),
        p_color_attachments: points(color_attachment_count),
        p_input_attachments: points(input_attachment_count),
        p_preserve_attachments: points(preserve_attachment_count),
    };
    vk::SubpassDescription2<'_> = "VkSubpassDescription2" {
        color_attachment_count: within(0..=u64::from(max_colors())),
        p_color_attachments: points(color_attachment_count),
        p_input_attachments: points(input_attachment_count),
        p_preserve_attachments: points(preserve_attachment_count),
    } then |info, check| check.chained::<vk::MultisampledRenderToSingleSampledInfoEXT<'_>>(info.p_next);
    vk::MultisampledRenderToSingleSampledInfoEXT<'_> = "VkMultisampledRenderToSingleSampledInfoEXT" {} then
        |info, check| match info.multisampled_render_to_single_sampled_enable {
            vk::FALSE => Ok(()),
            _ => rule!(info, check, rasterization_samples, one_bit(sample_counts())),
        };
    vk::RenderPassCreateInfo<'_> = "VkRenderPassCreateInfo" {
        p_attachments: each(attachment_count),
        subpass_count: within(1..=u64::from(u32::MAX)),
        p_subpasses: each(subpass_count),
        p_dependencies: points(dependency_count),
    };
    vk::RenderPassCreateInfo2<'_> = "VkRenderPassCreateInfo2" {
        p_attachments: each(attachment_count),
        subpass_count: within(1..=u64::from(u32::MAX)),
        p_subpasses: each(subpass_count),
        p_dependencies: points(dependency_count),
    };
    vk::RenderingInfo<'_> = "VkRenderingInfo" {
        color_attachment_count: within(0..=u64::from(max_colors())),
        p_color_attachments: points(color_attachment_count),
    } then |info, check| check.chained::<vk::MultisampledRenderToSingleSampledInfoEXT<'_>>(info.p_next);
    vk::SwapchainCreateInfoKHR<'_> = "VkSwapchainCreateInfoKHR" { image_sharing_mode: any_of(SHARING), }
        then |info, check| check.chained::<vk::ImageCompressionControlEXT<'_>>(info.p_next);
}

/// Checks that an image has no more levels than its extent allows, and that a cube has its faces.
fn levels_and_layers(info: &vk::ImageCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    let vk::Extent3D { width, height, depth } = info.extent;
    let most = 32 - width.max(height).max(depth).leading_zeros();
    check.within("mip_levels", info.mip_levels.into(), 1..=most.max(1).into())?;
    match info.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) {
        false => Ok(()),
        true => {
            check.holds("extent", format_args!("{width}x{height}"), "a square for cubes", width == height)?;
            check.within("array_layers", info.array_layers.into(), 6..=u32::MAX.into())
        }
    }
}

/// Checks the control of compression: explicit rates are one for each plane of the format, and need
/// planes that the driver places.
fn compression(info: &vk::ImageCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    use vk::ImageCompressionFlagsEXT as F;
    let Some(control) = check.call.find::<vk::ImageCompressionControlEXT<'_>>(info.p_next) else { return Ok(()) };
    check.nested(control)?;
    let placed: Option<&vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'_>> = check.call.find(info.p_next);
    let allowed = "it without VkImageDrmFormatModifierExplicitCreateInfoEXT";
    check.holds("p_next", "VkImageCompressionControlEXT", allowed, placed.is_none())?;
    let planar = format::info(info.format).filter(|info| info.is_planar());
    let planes = planar.map_or(1, |info| info.planes().count() as u32);
    let count = control.compression_control_plane_count;
    let is_right = control.flags != F::FIXED_RATE_EXPLICIT || count == planes;
    check.holds("compression_control_plane_count", count, "the number of planes of the format", is_right)
}

/// Checks that only views of ASTC blocks have a decode mode.
fn decode_mode(info: &vk::ImageViewCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    let Some(mode) = check.call.find::<vk::ImageViewASTCDecodeModeEXT<'_>>(info.p_next) else { return Ok(()) };
    check.nested(mode)?;
    let compression = format::info(info.format).and_then(|info| info.compression);
    let is_astc = matches!(compression, Some(format::Compression::Astc(..)));
    check.holds(
        "format",
        format_args!("{:?}", info.format),
        "a format of ASTC blocks, which have decode modes",
        is_astc,
    )
}

/// Checks that the host and the device do not both read a density map.
fn density_map(info: &vk::ImageViewCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    use vk::ImageViewCreateFlags as F;
    let both = F::FRAGMENT_DENSITY_MAP_DYNAMIC_EXT | F::FRAGMENT_DENSITY_MAP_DEFERRED_EXT;
    let allowed = "at most one of FRAGMENT_DENSITY_MAP_DYNAMIC and FRAGMENT_DENSITY_MAP_DEFERRED";
    check.holds("flags", format_args!("{:?}", info.flags), allowed, !info.flags.contains(both))
}

/// Checks that a sampler reads subsampled images as it may: without levels, comparison and
/// anisotropy, with one filter, and not beyond the edges.
fn subsampled(info: &vk::SamplerCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    if !info.flags.contains(vk::SamplerCreateFlags::SUBSAMPLED_EXT) {
        return Ok(());
    }
    let clamps = [Address::CLAMP_TO_EDGE, Address::CLAMP_TO_BORDER];
    check.any_of("min_filter", info.min_filter, &[info.mag_filter])?;
    check.any_of("mipmap_mode", info.mipmap_mode, &[vk::SamplerMipmapMode::NEAREST])?;
    check.holds("min_lod", info.min_lod, "0", info.min_lod == 0.0)?;
    check.holds("max_lod", info.max_lod, "0", info.max_lod == 0.0)?;
    check.any_of("address_mode_u", info.address_mode_u, &clamps)?;
    check.any_of("address_mode_v", info.address_mode_v, &clamps)?;
    check.within("anisotropy_enable", info.anisotropy_enable.into(), 0..=0)?;
    check.within("compare_enable", info.compare_enable.into(), 0..=0)?;
    check.within("unnormalized_coordinates", info.unnormalized_coordinates.into(), 0..=0)
}

fn sampler(info: &vk::SamplerCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    subsampled(info, check)?;
    if info.compare_enable != 0 {
        check.any_of("compare_op", info.compare_op, COMPARES)?;
    }
    // The border colour is only used with an address mode that clamps to the border.
    if [info.address_mode_u, info.address_mode_v, info.address_mode_w].contains(&Address::CLAMP_TO_BORDER) {
        check.any_of("border_color", info.border_color, BORDERS)?;
    }
    check.chained::<vk::SamplerReductionModeCreateInfo<'_>>(info.p_next)
}

fn framebuffer(info: &vk::FramebufferCreateInfo<'_>, check: Check<'_>) -> Result<()> {
    let limits = limits();
    check.within("width", info.width.into(), 1..=limits.max_framebuffer_width.into())?;
    check.within("height", info.height.into(), 1..=limits.max_framebuffer_height.into())?;
    check.within("layers", info.layers.into(), 1..=limits.max_framebuffer_layers.into())?;
    match info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS) {
        true => Ok(()),
        false => check.points("p_attachments", info.p_attachments, info.attachment_count),
    }
}

/// Checks that a view's range of levels and layers is inside its image.
///
/// # Errors
/// [`Error::Unknown`] if it is not: a message was sent.
pub fn view_range(
    call: Call<'_>,
    object: &DeviceObject,
    range: &vk::ImageSubresourceRange,
    [levels, layers]: [u32; 2],
) -> Result<()> {
    let check = Check { call, messages: object.messages(), structure: "VkImageSubresourceRange" };
    let parts = [
        (["base_mip_level", "level_count"], [range.base_mip_level, range.level_count], levels),
        (["base_array_layer", "layer_count"], [range.base_array_layer, range.layer_count], layers),
    ];
    for ([base_name, count_name], [base, count], all) in parts {
        check.within(base_name, base.into(), 0..=u64::from(all.max(1) - 1))?;
        if count != vk::REMAINING_ARRAY_LAYERS {
            check.within(count_name, count.into(), 1..=u64::from(all.saturating_sub(base)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use vitric_api::debug::MessageKind;

    use super::*;

    #[test]
    fn values_are_refused_by_name() {
        // SAFETY: all pointers are null, or point to values of this function.
        let call = unsafe { Call::new() };
        let (messages, heard) = (Messages::default(), std::sync::Arc::new(parking_lot::Mutex::new(Vec::new())));
        let said = heard.clone();
        let all = MessageKind {
            severity: vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            types: vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
        };
        let hear = move |_, data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>| {
            said.lock().push(call.string(data.p_message));
        };
        messages.add(all, Box::new(hear), None);
        assert!(checked(call, &messages, Some(&vk::SamplerCreateInfo::default())).is_ok());
        let wrong = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::from_raw(77));
        assert_eq!(checked(call, &messages, Some(&wrong)).err(), Some(Error::Unknown));
        assert!(checked::<vk::SamplerCreateInfo<'_>>(call, &messages, None).is_err());
        let wrong = vk::SubpassDescription { color_attachment_count: 9, ..Default::default() };
        assert!(checked(call, &messages, Some(&wrong)).is_err());
        let wrong = vk::RenderPassCreateInfo { attachment_count: 2, subpass_count: 1, ..Default::default() };
        assert!(checked(call, &messages, Some(&wrong)).is_err());
        let samples = [0, 3, 32, 64, 1 << 20, 1 << 30];
        for samples in samples {
            let wrong =
                vk::AttachmentDescription { samples: vk::SampleCountFlags::from_raw(samples), ..Default::default() };
            assert!(checked(call, &messages, Some(&wrong)).is_err(), "{samples}");
        }
        let heard = heard.lock();
        assert_eq!(heard[0], "VkSamplerCreateInfo::magFilter = 77: expected one of [NEAREST, LINEAR]");
        assert_eq!(heard[1], "VkSamplerCreateInfo = null: expected a pointer to the structure");
        assert_eq!(heard[2], "VkSubpassDescription::colorAttachmentCount = 9: expected 0 to 8");
        assert_eq!(heard[3], "VkRenderPassCreateInfo::pAttachments = null: expected a pointer to 2 values");
        assert_eq!(heard[4], "VkAttachmentDescription::samples = 0x0: expected one bit of 0x1f");
        assert_eq!(heard.len(), 4 + samples.len());
    }
}
