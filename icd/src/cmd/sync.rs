//! Events and barriers, with their layout transitions.
//!
//! Every dependency orders all later commands after all earlier ones, so the stages and accesses
//! of a barrier have no effect. Layouts do not change an image's bytes: a transition only informs
//! near memory about the contents. Source: Vulkan specification, "Synchronization and Cache
//! Control", "Image Layout Transitions"; `VK_KHR_synchronization2`.

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_format as format;
use vitric_gpu::command::Command;
use vitric_memory::{Hint, Surface};

use super::Recorder;
use crate::call::{Array, Call};
use crate::object::need;

#[entry(vkCmdSetEvent)]
fn set_event(recorder: Recorder<'_>, event: vk::Event, _: vk::PipelineStageFlags) -> Result<()> {
    set_event2(recorder, event)
}

#[entry(vkCmdSetEvent2)]
fn set_event2(recorder: Recorder<'_>, event: vk::Event, _: *const vk::DependencyInfo<'_>) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::SetEvent(need(object, &object.events, event)?))
}

#[entry(vkCmdResetEvent)]
fn reset_event(recorder: Recorder<'_>, event: vk::Event, _: vk::PipelineStageFlags) -> Result<()> {
    reset_event2(recorder, event)
}

#[entry(vkCmdResetEvent2)]
fn reset_event2(recorder: Recorder<'_>, event: vk::Event, _: vk::PipelineStageFlags2) -> Result<()> {
    let object = recorder.device;
    recorder.record(Command::ResetEvent(need(object, &object.events, event)?))
}

#[entry(vkCmdWaitEvents)]
fn wait_events(
    recorder: Recorder<'_>,
    #[len] count: u32,
    events: Array<'_, vk::Event>,
    _: vk::PipelineStageFlags,
    _: vk::PipelineStageFlags,
    _: u32,
    _: *const vk::MemoryBarrier<'_>,
    _: u32,
    _: *const vk::BufferMemoryBarrier<'_>,
    #[len] image_count: u32,
    images: Array<'_, vk::ImageMemoryBarrier<'_>>,
) {
    // Transitions are recorded even if an event is invalid.
    let _ = wait(recorder, events.get());
    transition(recorder, images.get());
}

#[entry(vkCmdWaitEvents2)]
fn wait_events2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    #[len] count: u32,
    events: Array<'_, vk::Event>,
    infos: Array<'_, vk::DependencyInfo<'_>>,
) {
    let _ = wait(recorder, events.get());
    infos.get().iter().for_each(|info| transition_all(call, recorder, info));
}

/// Records a wait for events.
fn wait(recorder: Recorder<'_>, events: &[vk::Event]) -> Result<()> {
    let object = recorder.device;
    let events = events.iter().map(|&event| need(object, &object.events, event));
    recorder.record(Command::WaitEvents(events.collect::<Result<_>>()?))
}

#[entry(vkCmdPipelineBarrier)]
fn pipeline_barrier(
    recorder: Recorder<'_>,
    _: vk::PipelineStageFlags,
    _: vk::PipelineStageFlags,
    _: vk::DependencyFlags,
    _: u32,
    _: *const vk::MemoryBarrier<'_>,
    _: u32,
    _: *const vk::BufferMemoryBarrier<'_>,
    #[len] image_count: u32,
    images: Array<'_, vk::ImageMemoryBarrier<'_>>,
) -> Result<()> {
    recorder.record(Command::PipelineBarrier)?;
    transition(recorder, images.get());
    Ok(())
}

#[entry(vkCmdPipelineBarrier2)]
fn pipeline_barrier2(call: Call<'_>, recorder: Recorder<'_>, info: Option<&vk::DependencyInfo<'_>>) -> Result<()> {
    recorder.record(Command::PipelineBarrier)?;
    info.into_iter().for_each(|info| transition_all(call, recorder, info));
    Ok(())
}

/// Records the transitions of a dependency.
fn transition_all(call: Call<'_>, recorder: Recorder<'_>, info: &vk::DependencyInfo<'_>) {
    transition(recorder, call.slice(info.p_image_memory_barriers, info.image_memory_barrier_count));
}

/// Layout transition of an image in a barrier.
struct Transition {
    image: vk::Image,
    layouts: [vk::ImageLayout; 2],
    range: vk::ImageSubresourceRange,
}

macro_rules! is_transition {
    ($($ty:ty),*) => {
        $(impl From<&$ty> for Transition {
            fn from(barrier: &$ty) -> Self {
                let layouts = [barrier.old_layout, barrier.new_layout];
                Self { image: barrier.image, layouts, range: barrier.subresource_range }
            }
        })*
    };
}
is_transition!(vk::ImageMemoryBarrier<'_>, vk::ImageMemoryBarrier2<'_>);

impl Transition {
    /// Records the hints of a transition.
    fn record(&self, recorder: Recorder<'_>) -> Result<()> {
        let object = recorder.device;
        let image = need(object, &object.images, self.image)?;
        let mut hints = self.hints(&image, object.slices_are_layers).into_iter().flatten();
        hints.try_for_each(|hint| recorder.record(Command::HintImage { image: image.clone(), hint }))
    }

    /// Returns the hints of a transition of a whole image: discarded contents, which must come
    /// first, and read-only use. `slices_are_layers` is the device's setting.
    fn hints(&self, image: &Surface, slices_are_layers: bool) -> [Option<Hint>; 2] {
        let ([old, new], range, desc) = (self.layouts, self.range, image.desc());
        let layers = if slices_are_layers { desc.layers.max(desc.extent.depth) } else { desc.layers };
        let is_all = |first: u32, count: u32, all: u32, rest: u32| first == 0 && (count == rest || count >= all);
        let is_whole = is_all(range.base_mip_level, range.level_count, desc.levels, vk::REMAINING_MIP_LEVELS)
            && is_all(range.base_array_layer, range.layer_count, layers, vk::REMAINING_ARRAY_LAYERS)
            && format::info(desc.format).is_some_and(|info| {
                let all = if info.is_planar() { vk::ImageAspectFlags::COLOR } else { info.aspects() };
                range.aspect_mask.contains(all)
            });
        let is_lost = is_whole && old == vk::ImageLayout::UNDEFINED;
        let is_other = old != new && is_whole;
        [is_lost.then_some(Hint::Lost), Hint::of_layout(new).filter(|_| is_other)]
    }
}

/// Records the transitions of barriers, for images that may be compacted in near memory.
fn transition<'b, B>(recorder: Recorder<'_>, barriers: &'b [B])
where
    Transition: From<&'b B>,
{
    if recorder.device.device.gpu().near().is_some() {
        for transition in barriers.iter().map(Transition::from) {
            // Transitions of the other images are recorded even if a handle is invalid.
            let _ = transition.record(recorder);
        }
    }
}

#[cfg(test)]
mod tests {
    use vitric_memory::SurfaceDesc;

    use super::*;

    /// A range of one layer contains a whole 3D image, unless layers are its slices. In that case
    /// the other slices keep their contents.
    #[test]
    fn one_slice_is_not_all_of_a_volume() {
        let extent = vk::Extent3D { width: 8, height: 8, depth: 4 };
        let (kind, format) = (vk::ImageType::TYPE_3D, vk::Format::R8G8B8A8_UNORM);
        let desc =
            SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false };
        let image = Surface::new(desc).unwrap();
        let lost = |layer_count: u32, slices_are_layers: bool| {
            let aspect_mask = vk::ImageAspectFlags::COLOR;
            let range = vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count, ..Default::default() };
            let layouts = [vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL];
            let transition = Transition { image: vk::Image::null(), layouts, range };
            transition.hints(&image, slices_are_layers)[0] == Some(Hint::Lost)
        };
        assert!(lost(1, false) && !lost(1, true) && !lost(3, true));
        assert!(lost(4, true) && lost(vk::REMAINING_ARRAY_LAYERS, true));
    }
}
