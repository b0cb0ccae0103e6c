//! Commands of extensions: descriptors that are pushed, conditions of commands, several draws by one, lists within lists, modules that
//! are named or described where they are used, descriptors of several types.

use ash::vk::{self, DescriptorType as T};

use super::robust::{pipeline, range};
use crate::Entry;
use crate::harness::{Buffer, Case, Gpu, ImageDesc, Outcome, check};
use crate::render::{Draw, FULL, Kind, Prepared, SIZE, State, Target, clear_values, prepare, render, render_pass};

const PAIR: &[u8] = include_bytes!("../../shaders/pair.comp.spv");
const PARAMETERS: &[u8] = include_bytes!("../../shaders/parameters.vert.spv");
const WORD: &[u8] = include_bytes!("../../shaders/word.frag.spv");
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add =
        |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(format!("commands.{name}"), section, run));
    add("push.writes", "VK_KHR_push_descriptor", |gpu| pushes(gpu, false));
    add("push.template", "VK_KHR_push_descriptor", |gpu| pushes(gpu, true));
    add("conditional.dispatches", "VK_EXT_conditional_rendering", conditional_dispatches);
    add("conditional.draws", "VK_EXT_conditional_rendering", conditional_draws);
    add("draws.states", "Descriptor Sets, Push Constant Updates", states);
    add("draws.multi", "VK_EXT_multi_draw", multi);
    add("draws.multi_indexed", "VK_EXT_multi_draw", multi_indexed);
    add("lists.nested", "VK_EXT_nested_command_buffer", nested);
    add("modules.identifiers", "VK_EXT_shader_module_identifier", identifiers);
    add("modules.inline", "VK_EXT_graphics_pipeline_library", inline_module);
    add("descriptors.mutable", "VK_EXT_mutable_descriptor_type", mutable);
    add("device.fault", "VK_EXT_device_fault", fault);
    add("attachments.none", "VK_EXT_load_store_op_none", none_operations);
}

/// The shader that adds words of three buffers of set 0 to one of set 1.
struct Pair {
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    set: vk::DescriptorSet,
    out: Buffer,
}

const PAIR_KINDS: [T; 3] = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];

impl Pair {
    /// With this layout of set 0.
    fn new(gpu: &Gpu, first: vk::DescriptorSetLayout) -> Result<Self, Outcome> {
        let (second, set) = gpu.set(&[T::STORAGE_BUFFER])?;
        let out = gpu.buffer(64)?;
        let info = range(out.handle, vk::WHOLE_SIZE);
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(T::STORAGE_BUFFER);
        // SAFETY: the set is new.
        unsafe { gpu.device.update_descriptor_sets(&[write.buffer_info(&info)], &[]) };
        let layout = gpu.layout(&[first, second])?;
        Ok(Self { layout, pipeline: pipeline(gpu, PAIR, layout)?, set, out })
    }

    /// Runs it once: the sum goes to word `at`.
    ///
    /// # Safety
    /// The command buffer is recording, and the pipeline and set 1 are bound.
    unsafe fn dispatch(&self, gpu: &Gpu, commands: vk::CommandBuffer, at: u32) {
        // SAFETY: as this function demands.
        unsafe {
            gpu.device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::ALL, 0, &at.to_le_bytes());
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn bind(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        // SAFETY: as this function demands.
        unsafe {
            gpu.device.cmd_bind_pipeline(commands, COMPUTE, self.pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, self.layout, 1, &[self.set], &[]);
        }
    }
}

/// A write of one of the pair's buffers.
fn write(binding: u32, info: &[vk::DescriptorBufferInfo; 1]) -> vk::WriteDescriptorSet<'_> {
    let write = vk::WriteDescriptorSet::default().dst_binding(binding);
    write.descriptor_type(PAIR_KINDS[binding as usize]).buffer_info(info)
}

/// A set layout of buffers at bindings 0 and up, with flags.
fn set_layout(
    gpu: &Gpu,
    kinds: &[T],
    flags: vk::DescriptorSetLayoutCreateFlags,
) -> Result<vk::DescriptorSetLayout, Outcome> {
    let binding = |(number, &kind): (usize, &T)| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings: Vec<_> = kinds.iter().enumerate().map(binding).collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_descriptor_set_layout(&info, None) }?)
}

/// Three dispatches, between which one descriptor is pushed, and two: the others stay as they were.
fn pushes(gpu: &Gpu, by_template: bool) -> Case {
    gpu.need(vk::KHR_PUSH_DESCRIPTOR_NAME)?;
    let first = set_layout(gpu, &PAIR_KINDS, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)?;
    let pair = Pair::new(gpu, first)?;
    let buffers: Vec<Buffer> = (1..8u32).map(|word| gpu.buffer_with(&[word; 16])).collect::<Result<_, _>>()?;
    let steps: [&[(u32, usize)]; 3] = [&[(0, 0), (1, 1), (2, 2)], &[(1, 3)], &[(0, 4), (2, 5)]];
    let extension = ash::khr::push_descriptor::Device::new(&gpu.instance, &gpu.device);
    let templates = match by_template {
        true => steps.iter().map(|step| template(gpu, pair.layout, step)).collect::<Result<Vec<_>, Outcome>>()?,
        false => Vec::new(),
    };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            for (number, step) in steps.into_iter().enumerate() {
                let infos: Vec<_> = step.iter().map(|(_, of)| range(buffers[*of].handle, vk::WHOLE_SIZE)).collect();
                if by_template {
                    let push = extension.fp().cmd_push_descriptor_set_with_template_khr;
                    push(commands, templates[number], pair.layout, 0, infos.as_ptr().cast());
                } else {
                    let pairs = step.iter().zip(&infos);
                    let writes: Vec<_> = pairs.map(|((binding, _), info)| write(*binding, info)).collect();
                    extension.cmd_push_descriptor_set(commands, COMPUTE, pair.layout, 0, &writes);
                }
                pair.dispatch(gpu, commands, number as u32);
            }
        }
        gpu.barrier(commands, None);
    })?;
    let expected = [1 + 2 * 16 + 3 * 256, 1 + 4 * 16 + 3 * 256, 5 + 4 * 16 + 6 * 256, 0];
    check(pair.out.words()[..4] == expected, || format!("{:?}, not {expected:?}", &pair.out.words()[..4]))
}

/// A template that pushes the descriptors of a step, whose infos lie one behind the other.
fn template(
    gpu: &Gpu,
    layout: vk::PipelineLayout,
    step: &[(u32, usize)],
) -> Result<vk::DescriptorUpdateTemplate, Outcome> {
    let templates = ash::khr::descriptor_update_template::Device::new(&gpu.instance, &gpu.device);
    let mut made = vk::DescriptorUpdateTemplate::null();
    let bytes = size_of::<vk::DescriptorBufferInfo>();
    let entry = |(number, (binding, _)): (usize, &(u32, usize))| vk::DescriptorUpdateTemplateEntry {
        dst_binding: *binding,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: PAIR_KINDS[*binding as usize],
        offset: number * bytes,
        stride: bytes,
    };
    let entries: Vec<_> = step.iter().enumerate().map(entry).collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(COMPUTE)
        .pipeline_layout(layout)
        .set(0);
    // SAFETY: the info is valid.
    unsafe {
        let create = templates.fp().create_descriptor_update_template_khr;
        create(gpu.device.handle(), &raw const info, std::ptr::null(), &raw mut made).result()?;
    }
    Ok(made)
}

/// A set of the pair's buffers, bound as usual.
fn bound_pair(gpu: &Gpu) -> Result<(Pair, vk::DescriptorSet), Outcome> {
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

/// What every sum of the bound buffers is.
const SUM: u32 = 1 + 2 * 16 + 3 * 256;

fn secondary(gpu: &Gpu) -> Result<vk::CommandBuffer, Outcome> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.allocate_command_buffers(&info) }?[0])
}

/// Dispatches under conditions that hold and that do not, one of them written by a command before, and in a secondary list that
/// inherits its condition.
fn conditional_dispatches(gpu: &Gpu) -> Case {
    if gpu.more.conditional.inherited_conditional_rendering == vk::FALSE {
        return Err(Outcome::NotSupported("conditions".into()));
    }
    let (pair, set) = bound_pair(gpu)?;
    let conditions = gpu.buffer_with(&[0u32, 1, 0, 0x8000_0000])?;
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let (begin_condition, end_condition) =
        (extension.fp().cmd_begin_conditional_rendering_ext, extension.fp().cmd_end_conditional_rendering_ext);
    let inner = secondary(gpu)?;
    // SAFETY: valid usage.
    unsafe {
        let mut inherits = vk::CommandBufferInheritanceConditionalRenderingInfoEXT {
            conditional_rendering_enable: vk::TRUE,
            ..Default::default()
        };
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut inherits);
        let flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance).flags(flags);
        gpu.device.begin_command_buffer(inner, &begin)?;
        pair.bind(gpu, inner);
        gpu.device.cmd_bind_descriptor_sets(inner, COMPUTE, pair.layout, 0, &[set], &[]);
        pair.dispatch(gpu, inner, 8);
        gpu.device.end_command_buffer(inner)?;
    }
    let inverted = vk::ConditionalRenderingFlagsEXT::INVERTED;
    let (plain, words) = (vk::ConditionalRenderingFlagsEXT::empty(), [0u64, 4, 8, 12]);
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_fill_buffer(commands, conditions.handle, 8, 4, 5);
            gpu.barrier(commands, None);
            pair.bind(gpu, commands);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
            let mut at = 0;
            for flags in [plain, inverted] {
                for offset in words {
                    let info = vk::ConditionalRenderingBeginInfoEXT::default();
                    let info = info.buffer(conditions.handle).offset(offset).flags(flags);
                    begin_condition(commands, &raw const info);
                    pair.dispatch(gpu, commands, at);
                    if flags == inverted && offset == 4 {
                        gpu.device.cmd_execute_commands(commands, &[inner]);
                        pair.bind(gpu, commands);
                        gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
                    }
                    end_condition(commands);
                    at += 1;
                }
            }
            pair.dispatch(gpu, commands, 9);
            let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(conditions.handle);
            begin_condition(commands, &raw const info);
            // Not what conditions are of.
            gpu.device.cmd_fill_buffer(commands, pair.out.handle, 40, 4, 11);
            end_condition(commands);
        }
        gpu.barrier(commands, None);
    })?;
    let expected = [0, SUM, SUM, SUM, SUM, 0, 0, 0, 0, SUM, 11];
    check(pair.out.words()[..11] == expected, || format!("{:?}", pair.out.words()))?;
    // And where it holds.
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(conditions.handle).offset(4);
            begin_condition(commands, &raw const info);
            gpu.device.cmd_execute_commands(commands, &[inner]);
            end_condition(commands);
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[8] == SUM, || format!("{:?}", pair.out.words()))
}

/// Draws and clears of attachments under a condition that does not hold.
fn conditional_draws(gpu: &Gpu) -> Case {
    if gpu.more.conditional.conditional_rendering == vk::FALSE {
        return Err(Outcome::NotSupported("conditions".into()));
    }
    let condition = gpu.buffer_with(&[0u32, 1])?;
    for (offset, skips) in [(0, true), (4, false)] {
        let mut draw = Draw::rect(State::default(), FULL, [1.0, 0.0, 0.0, 1.0]);
        draw.condition = Some((condition, offset));
        let second = Draw::rect(State::default(), [0.0, -1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
        let pixels = render(gpu, &Target::default(), &[draw, second])?;
        let left = if skips { [0; 4] } else { [255, 0, 0, 255] };
        let (first, last) = (pixels[0], pixels[SIZE as usize - 1]);
        check(first == left && last == [0, 255, 0, 255], || format!("{first:?}, {last:?}"))?;
        // The draw was followed by a clear of the lower half of the left.
        let lower = pixels[(SIZE * SIZE - SIZE) as usize];
        let expected = if skips { [0; 4] } else { [0, 0, 255, 255] };
        check(lower == expected, || format!("{lower:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// Each of several draws says its numbers.
fn multi(gpu: &Gpu) -> Case {
    if gpu.more.multi_draw.multi_draw == vk::FALSE {
        return Err(Outcome::NotSupported("several draws".into()));
    }
    let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
    draw.kind = Kind::Multi { draws: &[[12, 6], [60, 6], [0, 6]], instances: 2, indices: None };
    let target = Target { clear: [1.0; 4], ..Target::default() };
    let pixels = render(gpu, &target, &[draw.clone()])?;
    let expected = [[12, 18, 0, 255], [60, 18, 1, 255], [0, 18, 2, 255], [255; 4]];
    numbers(&pixels, expected)?;
    draw.kind = Kind::Multi { draws: &[], instances: 2, indices: None };
    check(render(gpu, &target, &[draw])?.iter().all(|pixel| *pixel == [255; 4]), || "no draw drew".into())
}

/// Pixels along each axis of what [`states`] draws to: several tiles.
const STATES_SIDE: u32 = 160;

/// A small draw of [`states`].
#[derive(Clone, Copy)]
struct Small {
    /// Whether the pipeline, one of two, the set and the push constants are others than before.
    changes: [bool; 3],
    /// Whether it adds to what is there.
    adds: bool,
    /// First pixel, and pixels along each axis.
    place: [u32; 2],
    side: u32,
    set: usize,
    color: [u8; 4],
}

impl Small {
    fn new(random: &mut impl FnMut(u32) -> u32, before: &Self) -> Self {
        let mut next = *before;
        next.changes = [random(3) == 0, random(2) == 0, random(2) == 0];
        next.adds ^= next.changes[0];
        if next.changes[1] {
            next.set = random(8) as usize;
        }
        if next.changes[2] {
            next.side = 1 + random(24);
            next.place = [random(STATES_SIDE - next.side), random(STATES_SIDE - next.side)];
            next.color = [0; 4].map(|_| random(256) as u8);
        }
        next
    }

    /// Its push constants.
    fn push(&self) -> [f32; 12] {
        let clip = |pixel: u32| pixel as f32 * 2.0 / STATES_SIDE as f32 - 1.0;
        let [x, y] = self.place;
        let [_, g, b, a] = self.color.map(|channel| f32::from(channel) / 255.0);
        [clip(x), clip(y), clip(x + self.side), clip(y + self.side), 0.0, g, b, a, 0.5, 1.0, 0.0, 0.0]
    }

    /// Draws it to the model.
    fn model(&self, word: u8, pixels: &mut [[u8; 4]]) {
        let [_, g, b, a] = self.color;
        for y in self.place[1]..self.place[1] + self.side {
            for x in self.place[0]..self.place[0] + self.side {
                let pixel = &mut pixels[(y * STATES_SIDE + x) as usize];
                let old = if self.adds { *pixel } else { [0; 4] };
                let channel = |number: usize| old[number].saturating_add([word, g, b, a][number]);
                *pixel = [0, 1, 2, 3].map(channel);
            }
        }
    }
}

/// Small draws over each other, of which some change the pipeline, some the set, some the push constants: each sees its own.
fn states(gpu: &Gpu) -> Case {
    let target = Target { size: [STATES_SIDE; 2], ..Target::default() };
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc::color(target.format, target.size, usage))?;
    let pass = render_pass(gpu, &target, (vk::AttachmentLoadOp::CLEAR, false), false, false)?;
    let views = [image.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).layers(1);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.width(STATES_SIDE).height(STATES_SIDE), None) }?;
    let words = [3u8, 40, 77, 114, 151, 188, 225, 255];
    let opaque = {
        let side = STATES_SIDE as f32;
        let viewport = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
        let extent = vk::Extent2D { width: STATES_SIDE, height: STATES_SIDE };
        State { fragment: WORD, viewport, scissor: extent.into(), ..State::default() }
    };
    let mut adding = opaque.clone();
    adding.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        src_alpha_blend_factor: vk::BlendFactor::ONE,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        ..opaque.blend
    };
    let prepare = |(state, word): (&State, u8)| {
        let mut draw = Draw::rect(state.clone(), FULL, [0.0; 4]);
        draw.storage = Some(gpu.buffer_with(&[u32::from(word)])?);
        prepare(gpu, &target, (pass, &[image.view]), &draw)
    };
    let made: Vec<Prepared> = words
        .iter()
        .zip([&opaque, &adding].into_iter().cycle())
        .map(|(&word, state)| prepare((state, word)))
        .collect::<Result<_, _>>()?;
    let sets: Vec<vk::DescriptorSet> = made.iter().filter_map(|prepared| prepared.set).collect();
    let mut seed = 7u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let mut last =
        Small { changes: [true; 3], adds: false, place: [9, 9], side: 5, set: 2, color: [200, 100, 50, 255] };
    let mut draws = vec![last];
    for _ in 0..1500 {
        last = Small::new(&mut random, &last);
        draws.push(last);
    }
    gpu.run(|commands| {
        let clears = clear_values(&target, false);
        let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
        let begin = begin.render_area(opaque.scissor).clear_values(&clears);
        let (device, point) = (&gpu.device, vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            for draw in &draws {
                let Prepared { pipeline, layout, .. } = made[usize::from(draw.adds)];
                if draw.changes[0] {
                    device.cmd_bind_pipeline(commands, point, pipeline);
                }
                if draw.changes[1] {
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[sets[draw.set]], &[]);
                }
                if draw.changes[2] {
                    let push = draw.push();
                    let stages = vk::ShaderStageFlags::ALL;
                    device.cmd_push_constants(commands, layout, stages, 0, bytemuck::cast_slice(&push));
                }
                device.cmd_draw(commands, 6, 1, 0, 0);
            }
            device.cmd_end_render_pass(commands);
            gpu.barrier(commands, None);
        }
    })?;
    let mut model = vec![[0; 4]; (STATES_SIDE * STATES_SIDE) as usize];
    draws.iter().for_each(|draw| draw.model(words[draw.set], &mut model));
    let bytes = gpu.read_image(&image, vk::ImageAspectFlags::COLOR, 4)?;
    for (at, (pixel, expected)) in bytes.chunks_exact(4).zip(&model).enumerate() {
        check(pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// Columns of pixels, a quarter each.
fn numbers(pixels: &[[u8; 4]], expected: [[u8; 4]; 4]) -> Case {
    for (at, pixel) in pixels.iter().enumerate() {
        let expected = expected[at % SIZE as usize / 4];
        check(*pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

/// The same by indices, with what is added to them of each, or of all.
fn multi_indexed(gpu: &Gpu) -> Case {
    if gpu.more.multi_draw.multi_draw == vk::FALSE {
        return Err(Outcome::NotSupported("several draws".into()));
    }
    let indices = gpu.buffer_with(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])?;
    let target = Target { clear: [1.0; 4], ..Target::default() };
    for (offset, base) in [(None, 1), (Some(30), 30)] {
        let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
        draw.kind = Kind::Multi { draws: &[[0, 6], [6, 6]], instances: 1, indices: Some((indices, offset)) };
        let pixels = render(gpu, &target, &[draw])?;
        numbers(&pixels, [[base, 2, 0, 255], [base, 2, 1, 255], [255; 4], [255; 4]])?;
    }
    Ok(())
}

/// Lists that execute lists, as deep as the device says, or ten.
fn nested(gpu: &Gpu) -> Case {
    if gpu.more.nested.nested_command_buffer == vk::FALSE {
        return Err(Outcome::NotSupported("nested lists".into()));
    }
    let mut limits = vk::PhysicalDeviceNestedCommandBufferPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the structure is alive.
    unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
    let depth = limits.max_command_buffer_nesting_level.min(10);
    check(depth >= 1, || "no level".into())?;
    let out = gpu.buffer(64)?;
    let mut inner: Option<vk::CommandBuffer> = None;
    for level in 0..depth {
        let list = secondary(gpu)?;
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: valid usage: each list is executed by one.
        unsafe {
            gpu.device.begin_command_buffer(list, &begin)?;
            gpu.device.cmd_fill_buffer(list, out.handle, u64::from(level) * 4, 4, level + 1);
            inner.into_iter().for_each(|inner| gpu.device.cmd_execute_commands(list, &[inner]));
            gpu.device.end_command_buffer(list)?;
        }
        inner = Some(list);
    }
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording.
        unsafe { inner.into_iter().for_each(|inner| gpu.device.cmd_execute_commands(commands, &[inner])) };
        gpu.barrier(commands, None);
    })?;
    let expected: Vec<u32> = (0..16).map(|level| if level < depth { level + 1 } else { 0 }).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

fn words(code: &[u8]) -> Vec<u32> {
    code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A module's identifier is that of its words; a pipeline is made by it while the program is known, and not made otherwise.
fn identifiers(gpu: &Gpu) -> Case {
    if gpu.more.identifiers.shader_module_identifier == vk::FALSE {
        return Err(Outcome::NotSupported("identifiers".into()));
    }
    let extension = ash::ext::shader_module_identifier::Device::new(&gpu.instance, &gpu.device);
    let code = words(PAIR);
    let info = vk::ShaderModuleCreateInfo::default().code(&code);
    let mut of_info = vk::ShaderModuleIdentifierEXT::default();
    let mut of_module = vk::ShaderModuleIdentifierEXT::default();
    let module = gpu.module(PAIR)?;
    // SAFETY: the structures are alive.
    unsafe {
        let (functions, device) = (extension.fp(), gpu.device.handle());
        (functions.get_shader_module_create_info_identifier_ext)(device, &raw const info, &raw mut of_info);
        (functions.get_shader_module_identifier_ext)(device, module, &raw mut of_module);
    }
    let size = of_info.identifier_size as usize;
    check((1..=32).contains(&size), || format!("{size} bytes"))?;
    check(of_info.identifier[..size] == of_module.identifier[..size], || "identifiers differ".into())?;
    let (first, _) = gpu.set(&PAIR_KINDS)?;
    let pair = Pair::new(gpu, first)?;
    let make = |identifier: &[u8]| {
        let mut named = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(identifier);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .name(c"main")
            .push_next(&mut named);
        let info = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(pair.layout)
            .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED_EXT)];
        // SAFETY: the info is valid.
        unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
    };
    let known = make(&of_info.identifier[..size]);
    // SAFETY: the pipeline is not in use.
    known.iter().flatten().for_each(|&made| unsafe { gpu.device.destroy_pipeline(made, None) });
    let known = known.map_err(|(_, code)| code);
    let is_known = known.is_ok() || known == Err(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT);
    check(is_known, || format!("{known:?}"))?;
    let mut other = of_info.identifier;
    other[0] ^= 1;
    let unknown = make(&other[..size]).map_err(|(_, code)| code);
    let expected = Err(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT);
    check(unknown == expected, || format!("an unknown identifier gave {unknown:?}"))
}

/// A stage whose module is described where it is used.
fn inline_module(gpu: &Gpu) -> Case {
    if gpu.more.libraries.graphics_pipeline_library == vk::FALSE {
        return Err(Outcome::NotSupported("modules in stages".into()));
    }
    let (pair, set) = bound_pair(gpu)?;
    let code = words(PAIR);
    let mut module = vk::ShaderModuleCreateInfo::default().code(&code);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut module);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(pair.layout)];
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pair = Pair { pipeline: made.map_err(|(_, code)| code)?[0], ..pair };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[set], &[]);
            pair.dispatch(gpu, commands, 3);
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[3] == SUM, || format!("{:?}", pair.out.words()))
}

/// Bindings that are uniform or storage buffers, as they are written or copied.
fn mutable(gpu: &Gpu) -> Case {
    if gpu.more.mutable.mutable_descriptor_type == vk::FALSE {
        return Err(Outcome::NotSupported("descriptors of several types".into()));
    }
    let either = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::COMBINED_IMAGE_SAMPLER];
    let lists = [vk::MutableDescriptorTypeListEXT::default().descriptor_types(&either); 3];
    let mut types = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
    let binding = |number| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(T::MUTABLE_EXT)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [0, 1, 2].map(binding);
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut types);
    let sizes = [vk::DescriptorPoolSize { ty: T::MUTABLE_EXT, descriptor_count: 6 }];
    let pool = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
    // SAFETY: valid infos.
    let (layout, sets) = unsafe {
        let layout = gpu.device.create_descriptor_set_layout(&info, None)?;
        let pool = gpu.device.create_descriptor_pool(&pool, None)?;
        let layouts = [layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        (layout, gpu.device.allocate_descriptor_sets(&info)?)
    };
    let pair = Pair::new(gpu, layout)?;
    let buffers: Vec<Buffer> = (1..4u32).map(|word| gpu.buffer_with(&[word; 4])).collect::<Result<_, _>>()?;
    let infos: Vec<_> = buffers.iter().map(|buffer| range(buffer.handle, 16)).collect();
    // Other types first: the last write counts.
    for kinds in [[T::STORAGE_BUFFER, T::UNIFORM_BUFFER, T::UNIFORM_BUFFER], PAIR_KINDS] {
        let writes: Vec<_> = (0..).zip(&infos).map(|(binding, info)| write(binding, info).dst_set(sets[0])).collect();
        let writes: Vec<_> = writes.iter().zip(kinds).map(|(write, kind)| write.descriptor_type(kind)).collect();
        // SAFETY: nothing uses the set.
        unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    }
    let copy = |binding| {
        let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).dst_set(sets[1]).descriptor_count(1);
        copy.src_binding(binding).dst_binding(binding)
    };
    // SAFETY: nothing uses the sets.
    unsafe { gpu.device.update_descriptor_sets(&[], &[0, 1, 2].map(copy)) };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            for (at, set) in (0..).zip(&sets) {
                gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[*set], &[]);
                pair.dispatch(gpu, commands, at);
            }
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[..2] == [SUM; 2], || format!("{:?}", pair.out.words()))
}

/// A device that was not lost has nothing to tell.
fn fault(gpu: &Gpu) -> Case {
    if gpu.more.faults.device_fault == vk::FALSE {
        return Err(Outcome::NotSupported("faults".into()));
    }
    let extension = ash::ext::device_fault::Device::new(&gpu.instance, &gpu.device);
    let mut counts = vk::DeviceFaultCountsEXT { address_info_count: 7, ..Default::default() };
    // SAFETY: the structures are alive.
    let code = unsafe {
        (extension.fp().get_device_fault_info_ext)(gpu.device.handle(), &raw mut counts, std::ptr::null_mut())
    };
    check(code == vk::Result::SUCCESS, || format!("{code:?}"))?;
    check(counts.address_info_count == 0, || format!("{} addresses", counts.address_info_count))
}

/// Attachments that are neither loaded nor stored keep what they hold where nothing is drawn.
fn none_operations(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_LOAD_STORE_OP_NONE_NAME)?;
    let usage =
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE; 2], usage))?;
    let (aspect, layout) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
    let bytes = [10, 20, 30, 40].repeat((SIZE * SIZE) as usize);
    gpu.write_image(&image, aspect, &bytes, layout)?;
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R8G8B8A8_UNORM)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::NONE_EXT)
        .store_op(vk::AttachmentStoreOp::NONE)
        .initial_layout(layout)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let pass = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let views = [image.view];
    // SAFETY: valid infos; everything that is named is alive.
    unsafe {
        let pass = gpu.device.create_render_pass(&pass, None)?;
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let framebuffer = gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None)?;
        gpu.run(|commands| {
            let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
            let extent = vk::Extent2D { width: SIZE, height: SIZE };
            let begin = begin.render_area(vk::Rect2D { extent, ..Default::default() });
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_end_render_pass(commands);
            gpu.barrier(commands, None);
        })?;
    }
    check(gpu.read_image(&image, aspect, 4)? == bytes, || "something was written".into())
}
