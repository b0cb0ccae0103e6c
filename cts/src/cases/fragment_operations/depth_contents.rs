//! Depth contents from pass to pass: data that a device derives from a depth image must follow
//! clears, copies, blits and writes behind the image's back, in the same submission and in later
//! ones.
//!
//! A near wall hides everything. Then a change makes the depths of a rectangle far. A draw between
//! both depths is visible there and nowhere else. Other cases draw walls at random, so often in
//! front of each other that a device may stop looking for hidden primitives and start again. It
//! must know then which changes it did not follow. The model holds a depth and a colour for each
//! pixel.

use ash::vk;

use crate::cases::support::conditions::{need_samples, supports};
use crate::harness::{Buffer, Case, Gpu, Image, ImageDesc, Outcome, Transition, check, layers, range, whole};
use crate::random::Random;
use crate::render::{COLOR, Draw, Kind, PassDesc, Prepared, State, TRIANGLES, Target, depth_aspects};
use crate::{Entry, render};

const FILL: &[u8] = shader!("fill.comp");

/// Pixels of each axis: several tiles, and no multiple of a tile.
const SIZE: [u32; 2] = [200, 136];

/// The pixels that become far, where not all do: `[x0, y0, x1, y1]`.
const PART: [u32; 4] = [41, 24, 139, 107];

const ALL: [u32; 4] = [0, 0, SIZE[0], SIZE[1]];

/// Stencil value beside the depths. No change of depths affects it.
const STENCIL: u8 = 0xa5;

/// Operations that make depths far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// `vkCmdClearDepthStencilImage`.
    Clear,
    /// `vkCmdClearAttachments`.
    ClearRect,
    /// A pass that clears a render area.
    Load,
    CopyBuffer,
    CopyImage,
    Blit,
    /// A clear of another image in the same memory.
    Alias,
    /// A pass that clears such an image.
    AliasPass,
    /// A draw that always passes.
    Always,
    /// A draw with the opposite comparison.
    Reverse,
    /// A buffer in the same memory is filled by a transfer.
    Fill,
    Store,
    Host,
}

#[derive(Debug, Clone, Copy)]
struct Scene {
    change: Change,
    format: vk::Format,
    samples: u32,
    /// The image has two layers, and draws go to the second.
    layered: bool,
    greater: bool,
    /// Each step is a submission of its own.
    apart: bool,
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    use Change as C;
    let changes = [
        C::Clear,
        C::ClearRect,
        C::Load,
        C::CopyBuffer,
        C::CopyImage,
        C::Blit,
        C::Alias,
        C::AliasPass,
        C::Always,
        C::Reverse,
        C::Fill,
        C::Store,
        C::Host,
    ];
    let formats = [
        ("d16", vk::Format::D16_UNORM),
        ("d24", vk::Format::X8_D24_UNORM_PACK32),
        ("d32", vk::Format::D32_SFLOAT),
        ("d24s8", vk::Format::D24_UNORM_S8_UINT),
    ];
    for seed in 0..8 {
        let (name, format) = formats[seed as usize % 4];
        let scene =
            Scene { change: C::Always, format, samples: 1 + seed % 2 * 3, layered: false, greater: false, apart: true };
        let name = format!("visibility.walls.{name}_{seed}");
        cases.push(Entry::new(name, "Fragment Operations: Depth Test", move |gpu: &Gpu| walls(gpu, scene, seed)));
    }
    for change in changes {
        for (name, format) in formats {
            for number in 0..8 {
                let [several, greater, apart] = [0, 1, 2].map(|bit| number >> bit & 1 != 0);
                // Buffers hold no multisampled images, and blits read none.
                if several && matches!(change, C::CopyBuffer | C::Blit) || !apart && change == C::Host {
                    continue;
                }
                let samples = if several { 4 } else { 1 };
                let scene = Scene { change, format, samples, layered: greater != several, greater, apart };
                let kind = format!("{change:?}").to_lowercase();
                let name = format!(
                    "visibility.{kind}.{name}{}{}{}",
                    if several { "_samples" } else { "" },
                    if greater { "_greater" } else { "" },
                    if apart { "_apart" } else { "" }
                );
                cases.push(Entry::new(name, "Fragment Operations: Depth Test", move |gpu: &Gpu| run(gpu, scene)));
            }
        }
    }
}

impl Scene {
    /// Returns the equivalent depth where smaller depths are nearer, or its mirror image.
    fn depth(self, depth: f32) -> f32 {
        if self.greater { 1.0 - depth } else { depth }
    }

    fn layer(self) -> u32 {
        u32::from(self.layered)
    }

    fn subresource(self, aspects: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange { base_array_layer: self.layer(), ..range(aspects, 0, 1) }
    }

    fn layers(self, aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers { base_array_layer: self.layer(), ..layers(aspect_mask) }
    }

    fn aspects(self) -> vk::ImageAspectFlags {
        depth_aspects(self.format)
    }

    /// Returns the pixels that the change makes far.
    fn region(self) -> [u32; 4] {
        match self.change {
            Change::Clear
            | Change::Alias
            | Change::AliasPass
            | Change::Fill
            | Change::Store
            | Change::Host
            | Change::Always
            | Change::Reverse => ALL,
            _ => PART,
        }
    }

    /// Returns a word that holds the far depth for as many texels as fit.
    fn word(self) -> u32 {
        let depth = f64::from(self.depth(0.75));
        match self.format {
            vk::Format::D16_UNORM => (depth * 65535.0 + 0.5) as u32 * 0x1_0001,
            vk::Format::D32_SFLOAT => (depth as f32).to_bits(),
            _ => (depth * 16_777_215.0 + 0.5) as u32 | u32::from(STENCIL) << 24,
        }
    }

    fn supported(self, gpu: &Gpu) -> Case {
        use vk::FormatFeatureFlags as F;
        need_samples(gpu, self.samples)?;
        let wanted = match self.change {
            Change::Blit => F::DEPTH_STENCIL_ATTACHMENT | F::BLIT_SRC | F::BLIT_DST,
            _ => F::DEPTH_STENCIL_ATTACHMENT,
        };
        // Other devices may store images in layouts that the words do not match.
        let knows_words = !matches!(self.change, Change::Fill | Change::Store | Change::Host)
            || gpu.name().to_lowercase().contains("vitric");
        match supports(gpu, self.format, wanted)? && knows_words {
            true => Ok(()),
            false => Err(Outcome::NotSupported(format!("{:?} of {:?}", self.change, self.format))),
        }
    }
}

/// A depth image, its memory, and a view of the layer that draws go to.
struct Depth {
    image: Image,
    memory: vk::DeviceMemory,
    bytes: u64,
}

fn depth_info(scene: Scene) -> vk::ImageCreateInfo<'static> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_DST
        | vk::ImageUsageFlags::TRANSFER_SRC;
    vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::ALIAS)
        .image_type(vk::ImageType::TYPE_2D)
        .format(scene.format)
        .extent(vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 })
        .mip_levels(1)
        .array_layers(1 + scene.layer())
        .samples(vk::SampleCountFlags::from_raw(scene.samples))
        .usage(usage)
}

/// Creates a depth image in the given memory or in its own.
fn depth_image(gpu: &Gpu, scene: Scene, memory: Option<vk::DeviceMemory>) -> Result<Depth, Outcome> {
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let handle = gpu.device.create_image(&depth_info(scene), None)?;
        let needs = gpu.device.get_image_memory_requirements(handle);
        let memory = memory.map_or_else(|| gpu.allocate(needs, scene.change == Change::Host), Ok)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(scene.format)
            .subresource_range(scene.subresource(scene.aspects()));
        let view = gpu.device.create_image_view(&info, None)?;
        let extent = vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 };
        let image = Image { handle, view, extent, aspects: scene.aspects(), levels: 1 };
        Ok(Depth { image, memory, bytes: needs.size })
    }
}

/// A rectangle of pixels that a step draws.
#[derive(Clone, Copy)]
struct Rect {
    pixels: [u32; 4],
    depth: f32,
    color: [u8; 4],
    op: vk::CompareOp,
    /// Its triangles cover two pixels each.
    fine: bool,
}

/// The attachments, and the model of them.
struct World<'a> {
    gpu: &'a Gpu,
    scene: Scene,
    target: Target,
    color: Image,
    /// The image that colour is resolved to.
    resolved: Option<Image>,
    depth: Depth,
    /// Passes that load nothing, that load the attachments, and that load them and clear.
    passes: [vk::RenderPass; 3],
    framebuffer: vk::Framebuffer,
    /// Steps that were not submitted yet.
    waiting: Vec<Step<'a>>,
    model: Vec<(f32, [u8; 4])>,
}

type Step<'a> = Box<dyn FnOnce(vk::CommandBuffer) + 'a>;

/// The layout of the depth image between steps.
const REST: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;

impl<'a> World<'a> {
    fn new(gpu: &'a Gpu, scene: Scene) -> Result<Self, Outcome> {
        let target = Target {
            size: SIZE,
            samples: vk::SampleCountFlags::from_raw(scene.samples),
            depth: scene.format,
            clear_depth: vk::ClearDepthStencilValue { depth: scene.depth(1.0), stencil: STENCIL.into() },
            ..Target::default()
        };
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let desc = ImageDesc { samples: target.samples, ..ImageDesc::color(target.format, SIZE, usage) };
        let color = gpu.image(&desc)?;
        let one = ImageDesc { samples: vk::SampleCountFlags::TYPE_1, ..desc };
        let resolved = (scene.samples > 1).then(|| gpu.image(&one)).transpose()?;
        let depth = depth_image(gpu, scene, None)?;
        let pass = |load, keeps| {
            render::render_pass(
                gpu,
                &target,
                PassDesc { load, keeps, multisampled: scene.samples > 1, has_depth: true },
            )
        };
        let (clear, load) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD);
        let passes = [pass(clear, false)?, pass(load, true)?, pass(clear, true)?];
        let views: Vec<vk::ImageView> =
            [Some(color), resolved, Some(depth.image)].into_iter().flatten().map(|image| image.view).collect();
        let framebuffer = framebuffer(gpu, passes[0], &views)?;
        let model = vec![(scene.depth(1.0), [0; 4]); (SIZE[0] * SIZE[1]) as usize];
        let waiting = Vec::new();
        Ok(Self { gpu, scene, target, color, resolved, depth, passes, framebuffer, waiting, model })
    }

    /// Adds a step of commands.
    fn step(&mut self, step: impl FnOnce(vk::CommandBuffer) + 'a) -> Case {
        self.waiting.push(Box::new(step));
        if self.scene.apart { self.submit() } else { Ok(()) }
    }

    fn submit(&mut self) -> Case {
        let steps = std::mem::take(&mut self.waiting);
        self.gpu.run(|commands| steps.into_iter().for_each(|step| step(commands)))
    }

    fn model(&mut self, [x0, y0, x1, y1]: [u32; 4], mut change: impl FnMut(&mut (f32, [u8; 4]))) {
        for y in y0..y1 {
            let row = &mut self.model[(y * SIZE[0]) as usize..][..SIZE[0] as usize];
            row[x0 as usize..x1 as usize].iter_mut().for_each(&mut change);
        }
    }

    fn prepare(&self, rect: &Rect) -> Result<(Draw, Prepared), Outcome> {
        let mut state = State { vertex: TRIANGLES, ..State::default() };
        state.fragment = COLOR;
        state.depth_stencil.depth_test_enable = vk::TRUE;
        state.depth_stencil.depth_write_enable = vk::TRUE;
        state.depth_stencil.depth_compare_op = rect.op;
        let [width, height] = SIZE.map(|side| side as f32);
        state.viewport = vk::Viewport { width, height, max_depth: 1.0, ..Default::default() };
        state.scissor.extent = vk::Extent2D { width: SIZE[0], height: SIZE[1] };
        let buffer = vertices(self.gpu, rect)?;
        let kind = Kind::VertexBuffer { buffer, count: (buffer.size / 32) as u32 };
        let draw = Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) };
        let prepared = render::prepare(self.gpu, &self.target, (self.passes[0], &[]), &draw)?;
        Ok((draw, prepared))
    }

    /// Adds a pass that loads its attachments, or clears some pixels of them.
    fn pass(&mut self, clears: Option<[u32; 4]>, inside: Option<Step<'a>>, rects: &[Rect]) -> Case {
        let draws = rects.iter().map(|rect| self.prepare(rect)).collect::<Result<Vec<_>, _>>()?;
        let number = match clears {
            Some(ALL) => 0,
            Some(_) => 2,
            None => 1,
        };
        let (gpu, pass) = (self.gpu, self.passes[number]);
        let (framebuffer, clear_depth) = (self.framebuffer, self.target.clear_depth.depth);
        let values = render::clear_values(&self.target, self.scene.samples > 1);
        let area = area(clears.unwrap_or(ALL));
        self.step(move |commands| {
            let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
            let begin = begin.render_area(area).clear_values(&values);
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                inside.into_iter().for_each(|inside| inside(commands));
                draws.iter().for_each(|(draw, prepared)| render::record(gpu, commands, draw, prepared));
                gpu.device.cmd_end_render_pass(commands);
            }
            gpu.barrier(commands, None);
        })?;
        if let Some(cleared) = clears {
            self.model(cleared, |pixel| *pixel = (clear_depth, [0; 4]));
        }
        rects.iter().for_each(|rect| self.see(rect));
        Ok(())
    }

    /// Applies a draw to the model.
    fn see(&mut self, rect: &Rect) {
        let &Rect { pixels, depth, color, op, .. } = rect;
        self.model(pixels, |pixel| {
            let passes = match op {
                vk::CompareOp::LESS => depth < pixel.0,
                vk::CompareOp::GREATER => depth > pixel.0,
                _ => true,
            };
            if passes {
                *pixel = (depth, color);
            }
        });
    }

    /// Compares the colours with the model.
    fn compare(&self) -> Case {
        let image = self.resolved.unwrap_or(self.color);
        let bytes = self.gpu.read_image(&image, vk::ImageAspectFlags::COLOR, 4)?;
        for (index, (got, (_, expected))) in bytes.chunks_exact(4).zip(&self.model).enumerate() {
            let place = (index as u32 % SIZE[0], index as u32 / SIZE[0]);
            check(got == expected, || format!("{place:?}: {got:?}, not {expected:?}"))?;
        }
        self.compare_stencil()
    }

    /// Compares the stencil, where it can be read, with the cleared value.
    fn compare_stencil(&self) -> Case {
        // Another image in the same memory begins with an undefined stencil.
        let is_known = self.scene.change != Change::Alias && self.scene.samples == 1;
        let aspect = vk::ImageAspectFlags::STENCIL;
        if !is_known || !self.scene.aspects().contains(aspect) {
            return Ok(());
        }
        let (gpu, image, buffer) = (self.gpu, self.depth.image, self.gpu.buffer(u64::from(SIZE[0] * SIZE[1]))?);
        let region = vk::BufferImageCopy { image_subresource: self.scene.layers(aspect), ..whole(&image, aspect) };
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: &image, from: REST, to: source }));
            // SAFETY: the image is in the source layout, and the buffer holds all of the region.
            unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, source, buffer.handle, &[region]) };
            gpu.barrier(commands, None);
        })?;
        let stencils = buffer.read(0, buffer.size as usize);
        let wrong = stencils.iter().position(|&stencil| stencil != STENCIL);
        check(wrong.is_none(), || format!("stencil {:#x} of texel {wrong:?}", stencils[wrong.unwrap_or(0)]))
    }

    /// Adds commands on the depth image in the transfer destination layout.
    fn transfer(&mut self, image: Image, step: impl FnOnce(&Gpu, vk::CommandBuffer) + 'a) -> Case {
        let (gpu, target) = (self.gpu, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        self.step(move |commands| {
            gpu.barrier(commands, Some(Transition { image: &image, from: REST, to: target }));
            step(gpu, commands);
            gpu.barrier(commands, Some(Transition { image: &image, from: target, to: REST }));
        })
    }

    fn clear(&mut self, image: Image) -> Case {
        let value = vk::ClearDepthStencilValue { depth: self.scene.depth(0.75), stencil: 0 };
        let range = self.scene.subresource(vk::ImageAspectFlags::DEPTH);
        self.transfer(image, move |gpu, commands| {
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the command buffer is recording outside of a pass, and the image is in the
            // layout.
            unsafe { gpu.device.cmd_clear_depth_stencil_image(commands, image.handle, layout, &value, &[range]) };
        })
    }

    /// Copies or blits from another image whose depths are far.
    fn copy_image(&mut self, blits: bool) -> Case {
        let source = depth_image(self.gpu, self.scene, None)?.image;
        let (gpu, scene) = (self.gpu, self.scene);
        self.step(move |commands| {
            gpu.barrier(commands, Some(Transition { image: &source, from: vk::ImageLayout::UNDEFINED, to: REST }))
        })?;
        self.clear(source)?;
        let (target, [x0, y0, x1, y1]) = (self.depth.image, PART.map(|pixel| pixel as i32));
        self.transfer(target, move |gpu, commands| {
            let (from, to) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            gpu.barrier(commands, Some(Transition { image: &source, from: REST, to: from }));
            let at = |x, y, z| vk::Offset3D { x, y, z };
            let [src_subresource, dst_subresource] = [scene.layers(vk::ImageAspectFlags::DEPTH); 2];
            let offsets = [at(x0, y0, 0), at(x1, y1, 1)];
            // SAFETY: the command buffer is recording outside of a pass, and images are in the
            // layouts.
            unsafe {
                if blits {
                    let src_offsets = [at(0, 0, 0), at(SIZE[0] as i32, SIZE[1] as i32, 1)];
                    let blit = vk::ImageBlit { src_subresource, src_offsets, dst_subresource, dst_offsets: offsets };
                    let filter = vk::Filter::NEAREST;
                    gpu.device.cmd_blit_image(commands, source.handle, from, target.handle, to, &[blit], filter);
                } else {
                    let extent = vk::Extent3D { width: (x1 - x0) as u32, height: (y1 - y0) as u32, depth: 1 };
                    let (src_offset, dst_offset) = (offsets[0], offsets[0]);
                    let copy = vk::ImageCopy { src_subresource, src_offset, dst_subresource, dst_offset, extent };
                    gpu.device.cmd_copy_image(commands, source.handle, from, target.handle, to, &[copy]);
                }
            }
        })
    }

    fn copy_buffer(&mut self) -> Case {
        let [x0, y0, x1, y1] = PART;
        let buffer = self.gpu.buffer_with(&vec![self.scene.word(); ((x1 - x0) * (y1 - y0)) as usize])?;
        let (image, layers) = (self.depth.image, self.scene.layers(vk::ImageAspectFlags::DEPTH));
        self.transfer(image, move |gpu, commands| {
            let region = vk::BufferImageCopy {
                image_subresource: layers,
                image_offset: vk::Offset3D { x: x0 as i32, y: y0 as i32, z: 0 },
                image_extent: vk::Extent3D { width: x1 - x0, height: y1 - y0, depth: 1 },
                ..Default::default()
            };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the command buffer is recording outside of a pass, and the image is in the
            // layout.
            unsafe {
                gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, layout, &[region]);
            }
        })
    }

    /// Clears another image of the same type in the same memory.
    fn alias(&mut self, by_pass: bool) -> Case {
        let alias = depth_image(self.gpu, self.scene, Some(self.depth.memory))?.image;
        let gpu = self.gpu;
        self.step(move |commands| {
            gpu.barrier(commands, Some(Transition { image: &alias, from: vk::ImageLayout::UNDEFINED, to: REST }))
        })?;
        if !by_pass {
            return self.clear(alias);
        }
        let views: Vec<vk::ImageView> =
            [Some(self.color), self.resolved, Some(alias)].into_iter().flatten().map(|image| image.view).collect();
        let depth = self.scene.depth(0.75);
        let own = (self.framebuffer, self.target.clear_depth.depth);
        self.framebuffer = framebuffer(self.gpu, self.passes[0], &views)?;
        self.target.clear_depth.depth = depth;
        self.pass(Some(ALL), None, &[])?;
        (self.framebuffer, self.target.clear_depth.depth) = own;
        Ok(())
    }

    /// Writes words that hold the depth to the memory itself.
    fn write_words(&mut self) -> Case {
        let (gpu, bytes, word) = (self.gpu, self.depth.bytes, self.scene.word());
        if self.scene.change == Change::Host {
            // SAFETY: the memory is host-visible, as large as it says, and nothing uses it now.
            unsafe {
                let memory = self.depth.memory;
                let pointer = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
                let words = std::slice::from_raw_parts_mut(pointer.cast::<u32>(), bytes as usize / 4);
                words.fill(word);
                gpu.device.unmap_memory(memory);
            }
            return Ok(());
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the info is valid; the buffer is bound once, to memory that is large enough.
        let buffer = unsafe {
            let buffer = gpu.device.create_buffer(&info, None)?;
            gpu.device.bind_buffer_memory(buffer, self.depth.memory, 0)?;
            buffer
        };
        if self.scene.change == Change::Fill {
            return self.step(move |commands| {
                // SAFETY: the command buffer is recording outside of a pass.
                unsafe { gpu.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, word) };
                gpu.barrier(commands, None);
            });
        }
        let bound = [(vk::DescriptorType::STORAGE_BUFFER, Buffer::of(buffer, bytes))];
        let compute = self.gpu.compute_pipeline(FILL, word as i32, &bound)?;
        self.step(move |commands| {
            gpu.bind_compute(commands, &compute, &[]);
            // SAFETY: the command buffer is recording outside of a pass.
            unsafe { gpu.device.cmd_dispatch(commands, (bytes / 256) as u32, 1, 1) };
            gpu.barrier(commands, None);
        })
    }

    /// Makes depths far.
    fn change(&mut self) -> Case {
        let (scene, far) = (self.scene, self.scene.depth(0.75));
        let over = |op| Rect { pixels: ALL, depth: far, color: [9, 9, 9, 255], op, fine: false };
        match scene.change {
            Change::Clear => self.clear(self.depth.image)?,
            Change::CopyBuffer => self.copy_buffer()?,
            Change::CopyImage => self.copy_image(false)?,
            Change::Blit => self.copy_image(true)?,
            Change::Alias => self.alias(false)?,
            Change::AliasPass => self.alias(true)?,
            Change::Fill | Change::Store | Change::Host => self.write_words()?,
            Change::Always => return self.pass(None, None, &[over(vk::CompareOp::ALWAYS)]),
            Change::Reverse => {
                let reversed = if scene.greater { vk::CompareOp::LESS } else { vk::CompareOp::GREATER };
                return self.pass(None, None, &[over(reversed)]);
            }
            Change::Load => {
                let before = std::mem::replace(&mut self.target.clear_depth.depth, far);
                self.pass(Some(PART), None, &[])?;
                self.target.clear_depth.depth = before;
                return Ok(());
            }
            Change::ClearRect => {
                let (gpu, depth) = (self.gpu, vk::ClearDepthStencilValue { depth: far, stencil: 0 });
                let inside = move |commands: vk::CommandBuffer| {
                    let clear = vk::ClearAttachment {
                        aspect_mask: vk::ImageAspectFlags::DEPTH,
                        clear_value: vk::ClearValue { depth_stencil: depth },
                        ..Default::default()
                    };
                    let rect = vk::ClearRect { rect: area(PART), base_array_layer: 0, layer_count: 1 };
                    // SAFETY: the command buffer is recording inside of a pass.
                    unsafe { gpu.device.cmd_clear_attachments(commands, &[clear], &[rect]) };
                };
                self.pass(None, Some(Box::new(inside)), &[])?;
            }
        }
        self.model(scene.region(), |pixel| pixel.0 = far);
        Ok(())
    }
}

fn area([x0, y0, x1, y1]: [u32; 4]) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x: x0 as i32, y: y0 as i32 },
        extent: vk::Extent2D { width: x1 - x0, height: y1 - y0 },
    }
}

fn framebuffer(gpu: &Gpu, pass: vk::RenderPass, views: &[vk::ImageView]) -> Result<vk::Framebuffer, Outcome> {
    let info = vk::FramebufferCreateInfo::default()
        .render_pass(pass)
        .attachments(views)
        .width(SIZE[0])
        .height(SIZE[1])
        .layers(1);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_framebuffer(&info, None) }?)
}

/// Returns the vertices of a rectangle.
fn vertices(gpu: &Gpu, rect: &Rect) -> Result<Buffer, Outcome> {
    let [x0, y0, x1, y1] = rect.pixels;
    let step = if rect.fine { 2 } else { u32::MAX };
    let color = rect.color.map(|code| f32::from(code) / 255.0);
    let mut all: Vec<[[f32; 4]; 2]> = Vec::new();
    let mut y = y0;
    while y < y1 {
        let (mut x, bottom) = (x0, y.saturating_add(step).min(y1));
        while x < x1 {
            let right = x.saturating_add(step).min(x1);
            for (x, y) in [(x, y), (right, y), (x, bottom), (x, bottom), (right, y), (right, bottom)] {
                let place = [(x, 0), (y, 1)].map(|(at, axis): (u32, usize)| at as f32 * 2.0 / SIZE[axis] as f32 - 1.0);
                all.push([[place[0], place[1], rect.depth, 1.0], color]);
            }
            x = right;
        }
        y = bottom;
    }
    gpu.buffer_with(&all)
}

fn run(gpu: &Gpu, scene: Scene) -> Case {
    scene.supported(gpu)?;
    let mut world = World::new(gpu, scene)?;
    let op = if scene.greater { vk::CompareOp::GREATER } else { vk::CompareOp::LESS };
    let rect = |pixels, depth, color: [u8; 3], fine| {
        let [red, green, blue] = color;
        Rect { pixels, depth: scene.depth(depth), color: [red, green, blue, 255], op, fine }
    };
    let [width, height] = SIZE;
    let wall = rect(ALL, 0.25, [255, 0, 0], false);
    world.pass(Some(ALL), None, &[rect(ALL, 0.875, [0, 0, 64], false), wall])?;
    world.pass(None, None, &[rect(ALL, 0.5, [0, 255, 0], false), rect(ALL, 0.4375, [0, 64, 0], true)])?;
    world.change()?;
    let right = rect([width / 2 + 3, 0, width, height], 0.4375, [255, 0, 255], true);
    world.pass(None, None, &[rect(ALL, 0.5, [0, 0, 255], false), right])?;
    world.pass(None, None, &[rect([0, 0, width, height / 2 - 5], 0.375, [255, 255, 0], true)])?;
    world.pass(None, None, &[rect(ALL, 0.46875, [0, 255, 255], true)])?;
    if !scene.apart {
        world.submit()?;
    }
    world.compare()
}

/// Draws walls of many triangles, most of them in front of all others, some in front or behind all
/// in the opposite direction.
fn walls(gpu: &Gpu, scene: Scene, seed: u32) -> Case {
    scene.supported(gpu)?;
    let mut world = World::new(gpu, scene)?;
    let mut numbers = Random::new(seed.into());
    let mut wall = |near: u32| {
        // In the opposite direction a wall lies behind the last one, and often behind the one
        // before.
        let (op, step) = match numbers.below(8) {
            0 => (vk::CompareOp::LESS, numbers.below(30)),
            1 | 2 => (vk::CompareOp::GREATER, 11 + numbers.below(9)),
            _ => (vk::CompareOp::LESS, 0),
        };
        let color = [near as u8, step as u8 * 8, numbers.below(256) as u8, 255];
        let left = if numbers.one_in(3) { numbers.below(90) } else { 0 };
        let fine = !numbers.one_in(4);
        Rect { pixels: [left, 0, SIZE[0], SIZE[1]], depth: (near + step) as f32 / 512.0, color, op, fine }
    };
    for number in (1..49).rev() {
        let cleared = (number == 48).then_some(ALL);
        let walls = [wall(number * 10), wall(number * 10)];
        world.pass(cleared, None, if number % 4 == 0 { &walls } else { &walls[..1] })?;
    }
    world.compare()
}
