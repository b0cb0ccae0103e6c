//! Compute pipelines that add or copy pairs of buffers, and secondary command buffers.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::compute::{pipeline, range};
use crate::harness::{Buffer, Gpu, Outcome};

/// The shader of a pair.
pub(in crate::cases) const PAIR: &[u8] = shader!("pair.comp");
pub(in crate::cases) const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// The shader that adds words of three buffers of set 0 to one of set 1.
pub(in crate::cases) struct Pair {
    pub(in crate::cases) layout: vk::PipelineLayout,
    pub(in crate::cases) pipeline: vk::Pipeline,
    pub(in crate::cases) set: vk::DescriptorSet,
    pub(in crate::cases) out: Buffer,
}

/// Types of the bindings of set 0.
pub(in crate::cases) const PAIR_KINDS: [T; 3] = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];

impl Pair {
    /// Creates the pipeline for a layout of set 0.
    pub(in crate::cases) fn new(gpu: &Gpu, first: vk::DescriptorSetLayout) -> Result<Self, Outcome> {
        let (second, set) = gpu.set(&[T::STORAGE_BUFFER])?;
        let out = gpu.buffer(64)?;
        let info = range(out.handle, vk::WHOLE_SIZE);
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(T::STORAGE_BUFFER);
        // SAFETY: the set is new.
        unsafe { gpu.device.update_descriptor_sets(&[write.buffer_info(&info)], &[]) };
        let layout = gpu.layout(&[first, second])?;
        Ok(Self { layout, pipeline: pipeline(gpu, PAIR, layout)?, set, out })
    }

    /// Dispatches the shader once. The sum goes to word `at`.
    ///
    /// # Safety
    /// The command buffer is recording, and the pipeline and set 1 are bound.
    pub(in crate::cases) unsafe fn dispatch(&self, gpu: &Gpu, commands: vk::CommandBuffer, at: u32) {
        // SAFETY: as this function demands.
        unsafe {
            gpu.device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::ALL, 0, &at.to_le_bytes());
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// Binds the pipeline and set 1.
    ///
    /// # Safety
    /// The command buffer is recording.
    pub(in crate::cases) unsafe fn bind(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        // SAFETY: as this function demands.
        unsafe {
            gpu.device.cmd_bind_pipeline(commands, COMPUTE, self.pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, self.layout, 1, &[self.set], &[]);
        }
    }
}

/// Returns a write of one of the pair's buffers.
pub(in crate::cases) fn write(binding: u32, info: &[vk::DescriptorBufferInfo; 1]) -> vk::WriteDescriptorSet<'_> {
    let write = vk::WriteDescriptorSet::default().dst_binding(binding);
    write.descriptor_type(PAIR_KINDS[binding as usize]).buffer_info(info)
}

/// Creates a pair, and a set 0 with its buffers.
pub(in crate::cases) fn bound_pair(gpu: &Gpu) -> Result<(Pair, vk::DescriptorSet), Outcome> {
    let (first, set) = gpu.set(&PAIR_KINDS)?;
    let pair = Pair::new(gpu, first)?;
    let infos = [1u32, 2, 3].map(|word| gpu.buffer_with(&[word; 4]).map(|buffer| range(buffer.handle, 16)));
    let [first, second, third] = infos;
    let infos = [first?, second?, third?];
    let writes: Vec<_> = (0..).zip(&infos).map(|(binding, info)| write(binding, info).dst_set(set)).collect();
    // SAFETY: the set is new.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    Ok((pair, set))
}

/// Allocates a secondary command buffer.
pub(in crate::cases) fn secondary(gpu: &Gpu) -> Result<vk::CommandBuffer, Outcome> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.allocate_command_buffers(&info) }?[0])
}
