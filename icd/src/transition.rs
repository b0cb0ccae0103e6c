//! Layout transitions: nothing to do, since images lie the same in all layouts, but near memory hears what they say of contents.
//! Source: Vulkan specification, "Image Layout Transitions".

use ash::vk;
use vitric_format as format;
use vitric_gpu::command::Command;
use vitric_memory::{Hint, Surface};

use crate::command::recorded;
use crate::objects::need;

/// What a barrier says of an image.
pub struct Transition {
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
    /// What it says of all of an image, if it does: that its contents are lost, which must come first, and whether it is only read.
    /// `slices_are_layers`: as the device has it.
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

/// Records what barriers say of images that may rest in near memory.
pub fn record<'b, B>(handle: vk::CommandBuffer, barriers: &'b [B])
where
    Transition: From<&'b B>,
{
    for transition in barriers.iter().map(Transition::from) {
        recorded(handle, |owner, buffer| {
            if owner.device.gpu().near().is_none() {
                return Ok(true);
            }
            let image = need(owner, &owner.images, transition.image)?;
            let mut hints = transition.hints(&image, owner.slices_are_layers).into_iter().flatten();
            Ok(hints.all(|hint| buffer.record(Command::HintImage { image: image.clone(), hint })))
        });
    }
}

#[cfg(test)]
mod tests {
    use vitric_memory::SurfaceDesc;

    use super::*;

    /// A range of one layer is all of a volume, unless layers are its slices: then others keep what they have.
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
