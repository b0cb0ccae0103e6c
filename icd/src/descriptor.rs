//! Descriptor set layouts, pools, sets and updates; pipeline layouts. Source: "Resource Descriptors".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, DescriptorType as T, Handle};
use parking_lot::Mutex;
use smallvec::SmallVec;
use vitric_api::descriptor::{self, DescriptorPool};
use vitric_api::physical::{MAX_INLINE_BYTES, MAX_SET_DESCRIPTORS};
use vitric_api::{Error, Result};
use vitric_backend::memory::{Buffer, BufferRange, SurfaceView, SurfaceViewDesc};
use vitric_backend::shader::runtime::{Descriptor, DescriptorSet, SetBinding, SetLayout};
use vitric_backend::texture::Sampler;

use crate::handles::Table;
use crate::objects::{
    DeviceObject, PipelineLayout, Places, PoolSet, SetPool, UpdateTemplate, destroy, device, need, need_with, optional,
};
use crate::raw;

pub extern "system" fn create_layout(
    handle: vk::Device,
    info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        if count_of(info) > MAX_SET_DESCRIPTORS {
            return Err(Error::OutOfHostMemory);
        }
        let bindings = raw::slice(info.p_bindings, info.binding_count).iter().map(|entry| binding(object, entry));
        let pushed = info.flags.contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
        let layout =
            SetLayout { variable: is_variable(info), pushed, ..SetLayout::new(bindings.collect::<Result<_>>()?) };
        Ok(object.set_layouts.insert(Arc::new(layout)))
    })
}

/// Descriptors in a set. A block of uniforms, whose count is one of bytes, is one.
fn count_of(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> u32 {
    let bindings = raw::slice(info.p_bindings, info.binding_count).iter();
    bindings.fold(0, |sum, binding| match binding.descriptor_type {
        T::INLINE_UNIFORM_BLOCK => sum.saturating_add(1),
        _ => sum.saturating_add(binding.descriptor_count),
    })
}

/// Whether sets have their own count of the last binding: no other may.
fn is_variable(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> bool {
    let flags: Option<&vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>> = raw::find(info.p_next);
    let flags = flags.map_or(&[][..], |flags| raw::slice(flags.p_binding_flags, flags.binding_count));
    flags.iter().any(|flags| flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT))
}

fn binding(object: &DeviceObject, entry: &vk::DescriptorSetLayoutBinding<'_>) -> Result<SetBinding> {
    let kind = entry.descriptor_type;
    let takes_samplers = matches!(kind, T::SAMPLER | T::COMBINED_IMAGE_SAMPLER);
    let samplers = match takes_samplers {
        true => raw::slice(entry.p_immutable_samplers, entry.descriptor_count),
        false => &[],
    };
    let immutable_samplers =
        samplers.iter().map(|&sampler| need(object, &object.samplers, sampler)).collect::<Result<_>>()?;
    Ok(SetBinding {
        binding: entry.binding,
        kind,
        count: entry.descriptor_count,
        stages: entry.stage_flags,
        immutable_samplers,
        first: 0,
    })
}

pub extern "system" fn destroy_layout(
    handle: vk::Device,
    layout: vk::DescriptorSetLayout,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.set_layouts, layout);
}

pub extern "system" fn create_pipeline_layout(
    handle: vk::Device,
    info: *const vk::PipelineLayoutCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::PipelineLayout,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        // Programs find their descriptors by set and binding: only descriptors that are pushed need their layouts.
        let sets = raw::slice(info.p_set_layouts, info.set_layout_count).iter();
        let sets = sets.map(|&layout| optional(object, &object.set_layouts, layout)).collect::<Result<_>>()?;
        Ok(object.pipeline_layouts.insert(Arc::new(PipelineLayout { sets })))
    })
}

pub extern "system" fn destroy_pipeline_layout(
    handle: vk::Device,
    layout: vk::PipelineLayout,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.pipeline_layouts, layout);
}

pub extern "system" fn create_pool(
    handle: vk::Device,
    info: *const vk::DescriptorPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DescriptorPool,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let sizes = raw::slice(info.p_pool_sizes, info.pool_size_count);
        let sizes: Vec<(T, u32)> = sizes.iter().map(|size| (size.ty, size.descriptor_count)).collect();
        let pool = DescriptorPool::new(info.max_sets, &sizes);
        Ok(object.pools.insert(Arc::new(Mutex::new(SetPool { pool, sets: Places::default() }))))
    })
}

fn drop_sets(object: &DeviceObject, pool: &Mutex<SetPool>) {
    let SetPool { pool, sets } = &mut *pool.lock();
    object.remove_all(&object.sets, vk::ObjectType::DESCRIPTOR_SET, sets.drain());
    pool.reset();
}

pub extern "system" fn destroy_pool(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        if let Some(pool) = object.pools.get(pool.as_raw()) {
            drop_sets(object, &pool);
        }
    });
    destroy(handle, |object| &object.pools, pool);
}

pub extern "system" fn reset_pool(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    _: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        drop_sets(object, &*need(object, &object.pools, pool)?);
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn allocate(
    handle: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    out: *mut vk::DescriptorSet,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let layouts = raw::slice(info.p_set_layouts, info.descriptor_set_count);
        let out = raw::slice_mut(out, layouts.len());
        out.fill(vk::DescriptorSet::null());
        let pool = need(object, &object.pools, info.descriptor_pool)?;
        let pool = &mut *pool.lock();
        let counts: Option<&vk::DescriptorSetVariableDescriptorCountAllocateInfo<'_>> = raw::find(info.p_next);
        let counts =
            counts.map_or(&[][..], |counts| raw::slice(counts.p_descriptor_counts, counts.descriptor_set_count));
        let mut made: SmallVec<[u64; 8]> = SmallVec::new();
        for (number, &layout) in layouts.iter().enumerate() {
            let layout = need(object, &object.set_layouts, layout);
            let allocated = layout.and_then(|layout| {
                let count = counts.get(number).copied().unwrap_or(0);
                let layout = if layout.variable { Arc::new(layout.with_count(count)) } else { layout };
                pool.pool.allocate(layout)
            });
            match allocated {
                Ok(set) => made.push(insert_set(object, pool, set)),
                Err(error) => {
                    // All or none.
                    made.iter().for_each(|&set| free_set(object, pool, set));
                    return Err(error);
                }
            }
        }
        for (slot, set) in out.iter_mut().zip(made) {
            *slot = vk::DescriptorSet::from_raw(set);
        }
        Ok(vk::Result::SUCCESS)
    })
}

/// The handle of a new set of a pool.
fn insert_set(object: &DeviceObject, pool: &mut SetPool, set: Arc<DescriptorSet>) -> u64 {
    let place = pool.sets.take();
    let handle = object.sets.insert(PoolSet { set, place });
    pool.sets.put(place, handle);
    handle
}

fn free_set(object: &DeviceObject, pool: &mut SetPool, set: u64) {
    if let Some(freed) = object.remove(&object.sets, vk::DescriptorSet::from_raw(set)) {
        pool.pool.free(freed.set.layout());
        pool.sets.give_back(freed.place, set);
    }
}

pub extern "system" fn free(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    count: u32,
    sets: *const vk::DescriptorSet,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let pool = need(object, &object.pools, pool)?;
        let pool = &mut *pool.lock();
        raw::slice(sets, count).iter().for_each(|set| free_set(object, pool, set.as_raw()));
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn update(
    handle: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        let mut known = Known::default();
        // Mostly several are of one set.
        for of_set in raw::slice(writes, write_count).chunk_by(|a, b| a.dst_set == b.dst_set) {
            let _ = need_with(object, &object.sets, of_set[0].dst_set, |set| {
                set.set.update(|slots| {
                    for write in of_set {
                        let _ = perform(object, (set.set.layout(), slots), write, &mut known);
                    }
                });
            });
        }
        for copy in raw::slice(copies, copy_count) {
            let sets = (need(object, &object.sets, copy.src_set), need(object, &object.sets, copy.dst_set));
            if let (Ok(source), Ok(target)) = sets {
                let from = (&*source.set, copy.src_binding, copy.src_array_element);
                let to = (&*target.set, copy.dst_binding, copy.dst_array_element);
                descriptor::copy(from, to, copy.descriptor_count);
            }
        }
    });
}

/// What was named last: many descriptors are of the same buffer, or have the same sampler.
#[derive(Default)]
struct Known {
    buffer: Last<vk::Buffer, Arc<Buffer>>,
    sampler: Last<vk::Sampler, Arc<Sampler>>,
}

/// The handle that was named last, and its object, if it was named more than once: keeping one that is not asked for again would cost as
/// much as finding it.
struct Last<H, T> {
    handle: Option<H>,
    object: Option<T>,
}

impl<H, T> Default for Last<H, T> {
    fn default() -> Self {
        Self { handle: None, object: None }
    }
}

impl<H: Handle + Copy + PartialEq, T: Clone> Last<H, T> {
    /// The object of a handle, which may be the one that was named last.
    fn find(&mut self, object: &DeviceObject, table: &Table<T>, handle: H) -> Result<T> {
        if self.handle != Some(handle) {
            *self = Self { handle: Some(handle), object: None };
            return need(object, table, handle);
        }
        match &self.object {
            Some(found) => Ok(found.clone()),
            None => Ok(self.object.insert(need(object, table, handle)?).clone()),
        }
    }
}

/// Performs a write to a set of a layout, whose descriptors are given.
fn perform(
    object: &DeviceObject,
    (layout, slots): (&SetLayout, &mut [Descriptor]),
    write: &vk::WriteDescriptorSet<'_>,
    known: &mut Known,
) -> Result<()> {
    let range = (write.dst_binding, write.dst_array_element, write.descriptor_count);
    if write.descriptor_type == T::INLINE_UNIFORM_BLOCK {
        let bytes: &vk::WriteDescriptorSetInlineUniformBlock<'_> = raw::find(write.p_next).ok_or(Error::Unknown)?;
        write_inline((layout, slots), range, bytes.p_data);
        return Ok(());
    }
    let (infos, size) = infos(write);
    let info = |number| infos.wrapping_byte_add(number * size);
    describe(object, (layout, put_into(slots)), range, (write.descriptor_type, known), info)
}

/// Puts descriptors in their places.
fn put_into(slots: &mut [Descriptor]) -> impl FnMut(u32, Descriptor) {
    |index, descriptor| {
        if let Some(slot) = slots.get_mut(index as usize) {
            *slot = descriptor;
        }
    }
}

/// Writes bytes of an inline uniform block: from `offset` on, so many.
fn write_inline(
    (layout, slots): (&SetLayout, &[Descriptor]),
    (binding, offset, count): (u32, u32, u32),
    data: *const c_void,
) {
    if let Some(block) = layout.inline_block(slots, binding) {
        block.write(offset.into(), raw::bytes(data, count as usize));
    }
}

/// The array of a write, and the bytes of an element: which one it is depends on the type.
fn infos(write: &vk::WriteDescriptorSet<'_>) -> (*const c_void, usize) {
    match write.descriptor_type {
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
            (write.p_texel_buffer_view.cast(), size_of::<vk::BufferView>())
        }
        T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => {
            (write.p_buffer_info.cast(), size_of::<vk::DescriptorBufferInfo>())
        }
        _ => (write.p_image_info.cast(), size_of::<vk::DescriptorImageInfo>()),
    }
}

/// Puts descriptors of one type where a layout has them: those from a binding's array element on, so many. `info` says where the info
/// of each lies.
fn describe(
    object: &DeviceObject,
    (layout, mut put): (&SetLayout, impl FnMut(u32, Descriptor)),
    (binding, element, count): (u32, u32, u32),
    (kind, known): (T, &mut Known),
    info: impl Fn(usize) -> *const c_void,
) -> Result<()> {
    for (number, (index, entry)) in descriptor::targets(layout, binding, element, count).enumerate() {
        put(index, descriptor_of(object, (kind, info(number)), entry.immutable_sampler(index), known)?);
    }
    Ok(())
}

/// The descriptors that a command pushes, by their places in the set.
pub fn pushed(
    object: &DeviceObject,
    layout: &SetLayout,
    writes: &[vk::WriteDescriptorSet<'_>],
) -> Result<Vec<(u32, Descriptor)>> {
    let (mut all, mut known) = (Vec::new(), Known::default());
    for write in writes {
        let range = (write.dst_binding, write.dst_array_element, write.descriptor_count);
        let (infos, size) = infos(write);
        let put = |index, descriptor| all.push((index, descriptor));
        let info = |number| infos.wrapping_byte_add(number * size);
        describe(object, (layout, put), range, (write.descriptor_type, &mut known), info)?;
    }
    Ok(all)
}

/// The same by a template.
pub fn pushed_with(
    object: &DeviceObject,
    layout: &SetLayout,
    template: &UpdateTemplate,
    data: *const c_void,
) -> Result<Vec<(u32, Descriptor)>> {
    let (mut all, mut known) = (Vec::new(), Known::default());
    for entry in template.entries.iter().filter(|_| !data.is_null()) {
        let put = |index, descriptor| all.push((index, descriptor));
        let kind = (entry.descriptor_type, &mut known);
        describe(object, (layout, put), range_of(entry), kind, place_of(entry, data))?;
    }
    Ok(all)
}

/// Binding, array element and count of a template's entry.
fn range_of(entry: &vk::DescriptorUpdateTemplateEntry) -> (u32, u32, u32) {
    (entry.dst_binding, entry.dst_array_element, entry.descriptor_count)
}

/// Where the infos of a template's entry lie.
fn place_of(entry: &vk::DescriptorUpdateTemplateEntry, data: *const c_void) -> impl Fn(usize) -> *const c_void + use<> {
    let (offset, stride) = (entry.offset, entry.stride);
    move |number| data.wrapping_byte_add(offset + number * stride)
}

/// A descriptor of a type, whose info is at `info`; what it names may be null, but for samplers.
fn descriptor_of(
    object: &DeviceObject,
    (kind, info): (T, *const c_void),
    immutable: Option<&Arc<Sampler>>,
    last: &mut Known,
) -> Result<Descriptor> {
    let image = || raw::input(info.cast::<vk::DescriptorImageInfo>()).ok_or(Error::Unknown);
    let view = || optional(object, &object.image_views, image()?.image_view);
    let sampler = |last: &mut Known| match immutable {
        Some(sampler) => Ok(sampler.clone()),
        None => last.sampler.find(object, &object.samplers, image()?.sampler),
    };
    let range = |last: &mut Known| -> Result<Option<BufferRange>> {
        let info = raw::input(info.cast::<vk::DescriptorBufferInfo>()).ok_or(Error::Unknown)?;
        if info.buffer.is_null() {
            return Ok(None);
        }
        let buffer = last.buffer.find(object, &object.buffers, info.buffer)?;
        Ok(Some(BufferRange::new(buffer, info.offset, info.range)))
    };
    let texels = || {
        let view = raw::input(info.cast::<vk::BufferView>()).ok_or(Error::Unknown)?;
        optional(object, &object.buffer_views, *view)
    };
    let found = match kind {
        T::SAMPLER => Some(Descriptor::Sampler(sampler(last)?)),
        T::COMBINED_IMAGE_SAMPLER => {
            let sampler = sampler(last)?;
            view()?.map(|view| Descriptor::CombinedImageSampler(of_all_slices(view), sampler))
        }
        T::SAMPLED_IMAGE => view()?.map(|view| Descriptor::SampledImage(of_all_slices(view))),
        T::STORAGE_IMAGE => view()?.map(Descriptor::StorageImage),
        T::INPUT_ATTACHMENT => view()?.map(Descriptor::InputAttachment),
        T::UNIFORM_TEXEL_BUFFER => texels()?.map(Descriptor::UniformTexelBuffer),
        T::STORAGE_TEXEL_BUFFER => texels()?.map(Descriptor::StorageTexelBuffer),
        T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC => range(last)?.map(Descriptor::UniformBuffer),
        T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => range(last)?.map(Descriptor::StorageBuffer),
        _ => None,
    };
    Ok(found.unwrap_or_default())
}

/// A view as it is sampled: what shows some slices of a volume does so as a storage image only.
fn of_all_slices(view: Arc<SurfaceView>) -> Arc<SurfaceView> {
    match view.desc.slices {
        None => view,
        Some(_) => {
            let desc = SurfaceViewDesc { slices: None, ..view.desc };
            Arc::new(SurfaceView { surface: view.surface.clone(), desc })
        }
    }
}

pub extern "system" fn create_template(
    handle: vk::Device,
    info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let entries = raw::slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count).to_vec();
        Ok(object.templates.insert(Arc::new(UpdateTemplate { entries, point: info.pipeline_bind_point })))
    })
}

pub extern "system" fn destroy_template(
    handle: vk::Device,
    template: vk::DescriptorUpdateTemplate,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.templates, template);
}

pub extern "system" fn update_with_template(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    raw::guard_void(|| {
        let Ok(object) = device(handle) else { return };
        let found = need_with(object, &object.sets, set, |set| {
            need_with(object, &object.templates, template, |template| {
                set.set.update(|slots| perform_all(object, (set.set.layout(), slots), template, data));
            })
        });
        if found.is_err() {
            // Without a set the template may be stale as well: that is said, too.
            let _ = need_with(object, &object.templates, template, |_| ());
        }
    });
}

/// Performs the writes of a template to a set of a layout, whose descriptors are given.
fn perform_all(
    object: &DeviceObject,
    (layout, slots): (&SetLayout, &mut [Descriptor]),
    template: &UpdateTemplate,
    data: *const c_void,
) {
    let mut known = Known::default();
    for entry in template.entries.iter().filter(|_| !data.is_null()) {
        let (range, kind) = (range_of(entry), entry.descriptor_type);
        if kind == T::INLINE_UNIFORM_BLOCK {
            write_inline((layout, slots), range, data.wrapping_byte_add(entry.offset));
            continue;
        }
        let place = place_of(entry, data);
        let _ = describe(object, (layout, put_into(slots)), range, (kind, &mut known), place);
    }
}

pub extern "system" fn layout_support(
    _: vk::Device,
    info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    out: *mut vk::DescriptorSetLayoutSupport<'_>,
) {
    raw::guard_void(|| {
        let (Some(info), Some(out)) = (raw::input(info), raw::output(out)) else { return };
        let count = count_of(info);
        out.supported = (count <= MAX_SET_DESCRIPTORS).into();
        let bindings = raw::slice(info.p_bindings, info.binding_count);
        let last = bindings.iter().max_by_key(|binding| binding.binding).filter(|_| is_variable(info));
        // A count of 0 asks like any other.
        let max_variable_descriptor_count = last.map_or(0, |last| match last.descriptor_type {
            T::INLINE_UNIFORM_BLOCK => MAX_INLINE_BYTES,
            _ => MAX_SET_DESCRIPTORS.saturating_sub(count.saturating_sub(last.descriptor_count)),
        });
        let counts = vk::DescriptorSetVariableDescriptorCountLayoutSupport {
            max_variable_descriptor_count,
            ..Default::default()
        };
        raw::put(out.p_next, counts);
    });
}
