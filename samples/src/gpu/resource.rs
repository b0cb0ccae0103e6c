//! Buffers, images and samplers, with their memory, and uploads of their data.
//!
//! Each resource has a separate allocation. The samples make a few dozen, far below the minimum
//! limit of 4096 allocations. Static data are copied through a staging buffer to device-local
//! memory, and uniforms stay in host-visible memory. Source: Vulkan 1.0 chapters 10 to 12 and 18.

use super::{Gpu, Owned, Use};
use crate::error::{Error, Named, Result};
use ash::vk;
use vk::{BufferUsageFlags as BufferUse, ImageUsageFlags as ImageUse, MemoryPropertyFlags as Property};

/// A buffer; its memory belongs to the [`Gpu`].
#[derive(Clone, Copy)]
pub struct Buffer {
    /// The Vulkan handle.
    pub handle: vk::Buffer,
    /// Size in bytes.
    pub size: u64,
    memory: vk::DeviceMemory,
}

/// An image with a view of all of it; its memory belongs to the [`Gpu`].
#[derive(Clone, Copy)]
pub struct Image {
    /// The Vulkan handle.
    pub handle: vk::Image,
    /// A view of every level and layer.
    pub view: vk::ImageView,
    /// The description of the image.
    pub desc: ImageDesc,
}

/// Description of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageDesc {
    /// Texel format.
    pub format: vk::Format,
    /// Width in texels of the base level.
    pub width: u32,
    /// Height in texels of the base level.
    pub height: u32,
    /// Number of mip levels.
    pub mips: u32,
    /// The image is a cube of six layers.
    pub cube: bool,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
    /// Usage of the image.
    pub usage: ImageUse,
}

impl ImageDesc {
    /// Returns the description of a 2D image with one level, one layer and one sample.
    pub fn new(format: vk::Format, width: u32, height: u32, usage: ImageUse) -> ImageDesc {
        ImageDesc { format, width, height, mips: 1, cube: false, samples: vk::SampleCountFlags::TYPE_1, usage }
    }

    /// Returns the description with a full chain of mip levels.
    pub fn with_mips(self) -> ImageDesc {
        ImageDesc { mips: self.width.max(self.height).max(1).ilog2() + 1, ..self }
    }

    /// Returns the description with several samples for each texel.
    pub fn with_samples(self, samples: vk::SampleCountFlags) -> ImageDesc {
        ImageDesc { samples, ..self }
    }

    /// Returns the description of a cube map.
    pub fn as_cube(self) -> ImageDesc {
        ImageDesc { cube: true, ..self }
    }

    /// Returns the number of array layers.
    pub fn layers(&self) -> u32 {
        if self.cube { 6 } else { 1 }
    }

    /// Returns the width and height of mip level `level`.
    pub fn level_extent(&self, level: u32) -> vk::Extent2D {
        vk::Extent2D { width: (self.width >> level).max(1), height: (self.height >> level).max(1) }
    }

    /// Returns the aspects of the format.
    pub fn aspect(&self) -> vk::ImageAspectFlags {
        use vk::{Format as F, ImageAspectFlags as A};
        match self.format {
            F::D16_UNORM | F::D32_SFLOAT | F::X8_D24_UNORM_PACK32 => A::DEPTH,
            F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT | F::D16_UNORM_S8_UINT => A::DEPTH | A::STENCIL,
            F::S8_UINT => A::STENCIL,
            _ => A::COLOR,
        }
    }

    fn create_info(&self) -> vk::ImageCreateInfo<'static> {
        let flags = if self.cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
        vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(vk::ImageType::TYPE_2D)
            .format(self.format)
            .extent(vk::Extent3D { width: self.width, height: self.height, depth: 1 })
            .mip_levels(self.mips)
            .array_layers(self.layers())
            .samples(self.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(self.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED)
    }
}

/// Filters and address modes of a sampler.
#[derive(Clone, Copy, Debug)]
pub struct SamplerDesc {
    /// Filter for magnification, minification and between levels.
    pub filter: vk::Filter,
    /// Wrapping in every direction.
    pub wrap: vk::SamplerAddressMode,
    /// Depth comparison, for shadow maps.
    pub compare: Option<vk::CompareOp>,
    /// Colour beyond the edge, when `wrap` is to the border.
    pub border: vk::BorderColor,
}

impl SamplerDesc {
    /// Linear filtering, repeating.
    pub const REPEAT: SamplerDesc = SamplerDesc {
        filter: vk::Filter::LINEAR,
        wrap: vk::SamplerAddressMode::REPEAT,
        compare: None,
        border: vk::BorderColor::FLOAT_OPAQUE_BLACK,
    };
    /// Linear filtering, clamped to the edge.
    pub const CLAMP: SamplerDesc = SamplerDesc { wrap: vk::SamplerAddressMode::CLAMP_TO_EDGE, ..Self::REPEAT };
    /// Linear filtering of depth comparisons; everything beyond the edge is lit.
    pub const SHADOW: SamplerDesc = SamplerDesc {
        wrap: vk::SamplerAddressMode::CLAMP_TO_BORDER,
        compare: Some(vk::CompareOp::LESS_OR_EQUAL),
        border: vk::BorderColor::FLOAT_OPAQUE_WHITE,
        ..Self::REPEAT
    };
}

impl Gpu {
    fn memory_type(&self, bits: u32, wanted: Property) -> Result<u32> {
        let memory = &self.setup.memory;
        (0..memory.memory_type_count)
            .find(|&i| bits >> i & 1 != 0 && memory.memory_types[i as usize].property_flags.contains(wanted))
            .ok_or(Error::NoMemoryType(wanted))
    }

    fn allocate(&self, needs: vk::MemoryRequirements, wanted: Property) -> Result<vk::DeviceMemory> {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(self.memory_type(needs.memory_type_bits, wanted)?);
        // SAFETY: the size is the resource's own requirement and the type index is below the type
        // count.
        let memory = unsafe { self.device.allocate_memory(&info, None) }.named("vkAllocateMemory")?;
        self.own(Owned::Memory(memory));
        Ok(memory)
    }

    /// Allocates device memory in parts of `part` bytes until the driver has no more, frees all of
    /// it, and returns the number of bytes.
    ///
    /// # Errors
    /// The device has no memory that only the device accesses.
    pub fn allocatable(&self, part: u64) -> Result<u64> {
        let kind = self.memory_type(u32::MAX, Property::DEVICE_LOCAL)?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(part).memory_type_index(kind);
        // SAFETY: the type index is below the type count. The memory has no users.
        unsafe {
            let all: Vec<_> = std::iter::from_fn(|| self.device.allocate_memory(&info, None).ok()).collect();
            all.iter().for_each(|&memory| self.device.free_memory(memory, None));
            Ok(all.len() as u64 * part)
        }
    }

    fn buffer(&self, size: u64, usage: BufferUse, wanted: Property) -> Result<Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is live. The bound memory is new and fits the buffer's requirements.
        unsafe {
            let handle = self.device.create_buffer(&info, None).named("vkCreateBuffer")?;
            self.own(Owned::Buffer(handle));
            let memory = self.allocate(self.device.get_buffer_memory_requirements(handle), wanted)?;
            self.device.bind_buffer_memory(handle, memory, 0).named("vkBindBufferMemory")?;
            Ok(Buffer { handle, size, memory })
        }
    }

    /// Creates a buffer that the host writes and reads directly.
    pub fn host_buffer(&self, size: u64, usage: BufferUse) -> Result<Buffer> {
        self.buffer(size, usage, Property::HOST_VISIBLE | Property::HOST_COHERENT)
    }

    /// Creates an uninitialised buffer that only the device accesses.
    pub fn scratch_buffer(&self, size: u64, usage: BufferUse) -> Result<Buffer> {
        self.buffer(size, usage, Property::DEVICE_LOCAL)
    }

    /// Creates a device-local buffer with `data`, copied through a staging buffer.
    pub fn static_buffer<T: bytemuck::Pod>(&self, data: &[T], usage: BufferUse) -> Result<Buffer> {
        let staging = self.staging(bytemuck::cast_slice(data))?;
        let buffer = self.scratch_buffer(staging.size, usage | BufferUse::TRANSFER_DST)?;
        self.submit(|cmd| {
            cmd.copy_buffer(&staging, &buffer);
            Ok(())
        })?;
        Ok(buffer)
    }

    fn staging(&self, bytes: &[u8]) -> Result<Buffer> {
        let staging = self.host_buffer(bytes.len() as u64, BufferUse::TRANSFER_SRC)?;
        self.write(&staging, 0, bytes)?;
        Ok(staging)
    }

    /// Writes into a host buffer at byte `offset`.
    pub fn write<T: bytemuck::Pod>(&self, buffer: &Buffer, offset: u64, data: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let end = offset.saturating_add(bytes.len() as u64);
        assert!(end <= buffer.size, "a write up to byte {end} of a buffer of {} bytes", buffer.size);
        // SAFETY: the range lies inside the allocation (asserted); the device is idle between
        // submissions, so nothing else touches the memory, which is coherent.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at = self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            at.cast::<u8>().add(offset as usize).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.device.unmap_memory(buffer.memory);
        }
        Ok(())
    }

    /// Reads a whole host buffer.
    pub fn read(&self, buffer: &Buffer) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer.size as usize];
        // SAFETY: the allocation is at least the buffer's size, and the device is idle between
        // submissions.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at = self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            at.cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len());
            self.device.unmap_memory(buffer.memory);
        }
        Ok(bytes)
    }

    /// Creates an image in device-local memory with undefined contents.
    pub fn image(&self, desc: ImageDesc) -> Result<Image> {
        // SAFETY: the device is live; the memory bound is fresh and fits the image's requirements.
        let handle = unsafe {
            let handle = self.device.create_image(&desc.create_info(), None).named("vkCreateImage")?;
            self.own(Owned::Image(handle));
            let memory = self.allocate(self.device.get_image_memory_requirements(handle), Property::DEVICE_LOCAL)?;
            self.device.bind_image_memory(handle, memory, 0).named("vkBindImageMemory")?;
            handle
        };
        let kind = if desc.cube { vk::ImageViewType::CUBE } else { vk::ImageViewType::TYPE_2D };
        let view = self.view(handle, &desc, kind, whole(&desc))?;
        Ok(Image { handle, view, desc })
    }

    /// Creates a view of one level of one layer of `image`.
    pub fn layer_view(&self, image: &Image, level: u32, layer: u32) -> Result<vk::ImageView> {
        let range = vk::ImageSubresourceRange {
            base_mip_level: level,
            level_count: 1,
            base_array_layer: layer,
            layer_count: 1,
            ..whole(&image.desc)
        };
        self.view(image.handle, &image.desc, vk::ImageViewType::TYPE_2D, range)
    }

    fn view(
        &self,
        handle: vk::Image,
        desc: &ImageDesc,
        kind: vk::ImageViewType,
        range: vk::ImageSubresourceRange,
    ) -> Result<vk::ImageView> {
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(kind)
            .format(desc.format)
            .subresource_range(range);
        // SAFETY: the image is live and bound to memory, and the range lies inside it.
        let view = unsafe { self.device.create_image_view(&info, None) }.named("vkCreateImageView")?;
        self.own(Owned::View(view));
        Ok(view)
    }

    /// Creates a sampled texture from tightly packed base-level texels. With `mips`, blits fill
    /// the chain.
    pub fn texture(&self, format: vk::Format, width: u32, height: u32, texels: &[u8], mips: bool) -> Result<Image> {
        let usage = ImageUse::SAMPLED | ImageUse::TRANSFER_SRC | ImageUse::TRANSFER_DST;
        let desc = ImageDesc::new(format, width, height, usage);
        let image = self.image(if mips { desc.with_mips() } else { desc })?;
        let staging = self.staging(texels)?;
        self.submit(|cmd| {
            cmd.image_barrier(&image, Use::Undefined, Use::TransferWrite);
            cmd.copy_to_image(&staging, &image);
            cmd.make_mips(&image);
            Ok(())
        })?;
        Ok(image)
    }

    /// Creates a sampler.
    pub fn sampler(&self, desc: &SamplerDesc) -> Result<vk::Sampler> {
        let mip = if desc.filter == vk::Filter::LINEAR {
            vk::SamplerMipmapMode::LINEAR
        } else {
            vk::SamplerMipmapMode::NEAREST
        };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(desc.filter)
            .min_filter(desc.filter)
            .mipmap_mode(mip)
            .address_mode_u(desc.wrap)
            .address_mode_v(desc.wrap)
            .address_mode_w(desc.wrap)
            .compare_enable(desc.compare.is_some())
            .compare_op(desc.compare.unwrap_or(vk::CompareOp::ALWAYS))
            .border_color(desc.border)
            .max_lod(vk::LOD_CLAMP_NONE);
        // SAFETY: the device is live, and the info asks for core features only.
        let sampler = unsafe { self.device.create_sampler(&info, None) }.named("vkCreateSampler")?;
        self.own(Owned::Sampler(sampler));
        Ok(sampler)
    }

    /// Returns the first of `formats` that supports all of `features` with optimal tiling.
    pub fn first_format(&self, formats: &[vk::Format], features: vk::FormatFeatureFlags) -> Result<vk::Format> {
        let fits = |&f: &vk::Format| self.setup.format_features(f).contains(features);
        formats.iter().copied().find(fits).ok_or_else(|| Error::NoFormat(formats.to_vec(), features))
    }

    /// Returns a depth format. The specification guarantees one of these two as an attachment.
    pub fn depth_format(&self) -> Result<vk::Format> {
        let formats = [vk::Format::D32_SFLOAT, vk::Format::X8_D24_UNORM_PACK32];
        self.first_format(&formats, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT)
    }

    /// Returns a depth and stencil format. The specification guarantees one of these two as an
    /// attachment.
    pub fn stencil_format(&self) -> Result<vk::Format> {
        let formats = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];
        self.first_format(&formats, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT)
    }
}

/// Returns the range of all levels and layers.
pub(super) fn whole(desc: &ImageDesc) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: desc.aspect(),
        base_mip_level: 0,
        level_count: desc.mips,
        base_array_layer: 0,
        layer_count: desc.layers(),
    }
}
