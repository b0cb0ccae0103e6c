//! Descriptor set layouts, pools, sets and updates; pipeline layouts. Source: "Resource
//! Descriptors".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, DescriptorType as T, Handle};
use parking_lot::Mutex;
use vitric_api::descriptor::{self, DescriptorCounts, DescriptorPool, DescriptorRange, Shortage};
use vitric_api::physical::{MAX_INLINE_BYTES, MAX_SET_DESCRIPTORS};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_exec::bindings::{DescriptorName, DescriptorSet};
use vitric_exec::runtime::{SetBinding, SetLayout};

use super::{
    DeviceObject, PipelineLayout, PoolSet, SetHandles, SetPool, UpdateTemplate, bad_handle, check, destroy, good, need,
    need_with, optional,
};
use crate::call::{Array, Call, In, New, Out, room_for};
use crate::handles::Retired;
use crate::process;

#[entry(vkCreateDescriptorSetLayout)]
fn create_descriptor_set_layout(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::DescriptorSetLayoutCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DescriptorSetLayout>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    if count_of(call, info) > MAX_SET_DESCRIPTORS {
        return Err(Error::OutOfHostMemory);
    }
    let bindings = call.slice(info.p_bindings, info.binding_count).iter().map(|entry| binding(call, object, entry));
    let pushed = info.flags.contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let layout =
        SetLayout { variable: is_variable(call, info), pushed, ..SetLayout::new(bindings.collect::<Result<_>>()?) };
    Ok(out.put(object.set_layouts.insert(Arc::new(layout))))
}

/// Counts the descriptors of a set. An inline uniform block, whose count is in bytes, is one
/// descriptor.
fn count_of(call: Call<'_>, info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> u32 {
    let bindings = call.slice(info.p_bindings, info.binding_count).iter();
    bindings.fold(0, |sum, binding| match binding.descriptor_type {
        T::INLINE_UNIFORM_BLOCK => sum.saturating_add(1),
        _ => sum.saturating_add(binding.descriptor_count),
    })
}

/// Returns true if the last binding has a variable descriptor count. Other bindings must not.
fn is_variable(call: Call<'_>, info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> bool {
    let flags: Option<&vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>> = call.find(info.p_next);
    let flags = flags.map_or(&[][..], |flags| call.slice(flags.p_binding_flags, flags.binding_count));
    flags.iter().any(|flags| flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT))
}

fn binding(call: Call<'_>, object: &DeviceObject, entry: &vk::DescriptorSetLayoutBinding<'_>) -> Result<SetBinding> {
    let kind = entry.descriptor_type;
    let takes_samplers = matches!(kind, T::SAMPLER | T::COMBINED_IMAGE_SAMPLER);
    let samplers = match takes_samplers {
        true => call.slice(entry.p_immutable_samplers, entry.descriptor_count),
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

#[entry(vkDestroyDescriptorSetLayout)]
fn destroy_descriptor_set_layout(
    object: &DeviceObject,
    layout: vk::DescriptorSetLayout,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(object, &object.set_layouts, layout);
}

#[entry(vkCreatePipelineLayout)]
fn create_pipeline_layout(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::PipelineLayoutCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::PipelineLayout>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    // Shaders find their descriptors by set and binding. Only push descriptors need their layouts.
    let sets = call.slice(info.p_set_layouts, info.set_layout_count).iter();
    let sets = sets.map(|&layout| optional(object, &object.set_layouts, layout)).collect::<Result<_>>()?;
    Ok(out.put(object.pipeline_layouts.insert(Arc::new(PipelineLayout { sets }))))
}

#[entry(vkDestroyPipelineLayout)]
fn destroy_pipeline_layout(object: &DeviceObject, layout: vk::PipelineLayout, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.pipeline_layouts, layout);
}

#[entry(vkCreateDescriptorPool)]
fn create_descriptor_pool(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::DescriptorPoolCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DescriptorPool>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let sizes = call.slice(info.p_pool_sizes, info.pool_size_count);
    let sizes: Vec<(T, u32)> = sizes.iter().map(|size| (size.ty, size.descriptor_count)).collect();
    let pool = DescriptorPool::new(info.max_sets, &sizes);
    let (sets, retired, last) = Default::default();
    Ok(out.put(object.pools.insert(Arc::new(Mutex::new(SetPool { pool, sets, retired, last })))))
}

/// Retires all sets of a pool.
fn retire_sets(object: &DeviceObject, pool: &mut SetPool) {
    let SetPool { pool, sets, retired, .. } = pool;
    let forget = object.has_notes();
    for set in sets.drain() {
        retired.extend(object.sets.retire(set, |found| found.set.drop_resolved()));
        if forget {
            object.forget(vk::ObjectType::DESCRIPTOR_SET, set);
        }
    }
    pool.reset();
}

#[entry(vkDestroyDescriptorPool)]
fn destroy_descriptor_pool(object: &DeviceObject, pool: vk::DescriptorPool, _: *const vk::AllocationCallbacks<'_>) {
    if let Some(pool) = object.pools.get(pool.as_raw()) {
        let pool = &mut *pool.lock();
        retire_sets(object, pool);
        object.sets.drop_retired(pool.retired.drain(..));
    }
    destroy(object, &object.pools, pool);
    if object.sets.take_fallen() {
        process::give_memory_back();
    }
}

#[entry(vkResetDescriptorPool)]
fn reset_descriptor_pool(
    object: &DeviceObject,
    pool: vk::DescriptorPool,
    _: vk::DescriptorPoolResetFlags,
) -> Result<vk::Result> {
    need_with(object, &object.pools, pool, |pool| retire_sets(object, &mut pool.lock()))?;
    Ok(vk::Result::SUCCESS)
}

#[entry(vkAllocateDescriptorSets)]
fn allocate_descriptor_sets(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::DescriptorSetAllocateInfo<'_>>,
    out: *mut vk::DescriptorSet,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let layouts = call.slice(info.p_set_layouts, info.descriptor_set_count);
    let out = check::output(object, "pDescriptorSets", call.array_mut(out, info.descriptor_set_count))?;
    out.fill(vk::DescriptorSet::null());
    let counts: Option<&vk::DescriptorSetVariableDescriptorCountAllocateInfo<'_>> = call.find(info.p_next);
    let counts = counts.map_or(&[][..], |counts| call.slice(counts.p_descriptor_counts, counts.descriptor_set_count));
    need_with(object, &object.pools, info.descriptor_pool, |pool| {
        let pool = &mut *pool.lock();
        for (number, &layout) in layouts.iter().enumerate() {
            match allocate_one(object, pool, layout, counts.get(number).copied()) {
                Ok((set, shortage)) => {
                    out[number] = vk::DescriptorSet::from_raw(set);
                    shortage.into_iter().for_each(|shortage| report_shortage(object, info.descriptor_pool, shortage));
                }
                Err(error) => {
                    // If one allocation fails, all are freed.
                    out[..number].iter().for_each(|&set| free_set(object, pool, set));
                    out.fill(vk::DescriptorSet::null());
                    return Err(error);
                }
            }
        }
        Ok(vk::Result::SUCCESS)
    })?
}

/// Returns the handle of a new set of a pool, and the type whose size in the pool it exceeds.
fn allocate_one(
    object: &DeviceObject,
    pool: &mut SetPool,
    layout: vk::DescriptorSetLayout,
    count: Option<u32>,
) -> Result<(u64, Option<Shortage>)> {
    let is_last = |(last, ..): &&mut (vk::DescriptorSetLayout, Arc<SetLayout>, DescriptorCounts)| {
        *last == layout && object.set_layouts.is_good(layout.as_raw())
    };
    // Most allocations have the layout of the previous one.
    if pool.last.as_mut().filter(is_last).is_none() {
        let found = need(object, &object.set_layouts, layout)?;
        let counts = pool.pool.counts(&found);
        pool.last = Some((layout, found, counts));
    }
    let Some((_, layout, counts)) = &pool.last else { return Err(Error::Unknown) };
    room_for(DescriptorSet::bytes(layout))?;
    if layout.variable {
        let layout = Arc::new(layout.with_count(count.unwrap_or(0)));
        let counts = pool.pool.counts(&layout);
        let shortage = pool.pool.take(&counts)?;
        return Ok((insert_set(object, (&mut pool.sets, &mut pool.retired), &layout), shortage));
    }
    let shortage = pool.pool.take(counts)?;
    Ok((insert_set(object, (&mut pool.sets, &mut pool.retired), layout), shortage))
}

/// Sends the message that a set exceeds a pool's size for a descriptor type.
#[cold]
fn report_shortage(object: &DeviceObject, pool: vk::DescriptorPool, shortage: Shortage) {
    let Shortage { kind, size, used } = shortage;
    let pool = object.describe(pool);
    object.messages().warn(&format!(
        "{pool} has {used} descriptors of type {kind:?} in use, but was created for {size}: raise the count in pPoolSizes, \
         because other drivers may return VK_ERROR_OUT_OF_POOL_MEMORY"
    ));
}

/// Creates a set in a place of its pool and returns its handle.
fn insert_set(
    object: &DeviceObject,
    (sets, retired): (&mut SetHandles, &mut Vec<Retired>),
    layout: &Arc<SetLayout>,
) -> u64 {
    let place = sets.take();
    let handle = match retired.pop() {
        Some(slot) => object.sets.revive(slot, |found| {
            found.place = place;
            DescriptorSet::reset(&mut found.set, layout);
        }),
        None => object.sets.insert(PoolSet { set: DescriptorSet::new(layout.clone()), place }),
    };
    sets.put(place, handle);
    handle
}

fn free_set(object: &DeviceObject, pool: &mut SetPool, set: vk::DescriptorSet) {
    let SetPool { pool, sets, retired, last } = pool;
    let slot = object.sets.retire(set.as_raw(), |found| {
        let layout = found.set.layout();
        match last.as_ref().filter(|(_, last, _)| Arc::ptr_eq(last, layout)) {
            Some((.., counts)) => pool.give_back(counts),
            None => {
                let counts = pool.counts(layout);
                pool.give_back(&counts);
            }
        }
        sets.give_back(found.place, set.as_raw());
        found.set.drop_resolved();
    });
    if let Some(slot) = slot {
        retired.push(slot);
        object.forget(vk::ObjectType::DESCRIPTOR_SET, set.as_raw());
    }
}

#[entry(vkFreeDescriptorSets)]
fn free_descriptor_sets(
    object: &DeviceObject,
    pool: vk::DescriptorPool,
    #[len] count: u32,
    sets: Array<'_, vk::DescriptorSet>,
) -> Result<vk::Result> {
    let sets = check::array(object, "pDescriptorSets", sets)?;
    need_with(object, &object.pools, pool, |pool| {
        let pool = &mut *pool.lock();
        sets.iter().for_each(|&set| free_set(object, pool, set));
    })?;
    Ok(vk::Result::SUCCESS)
}

#[entry(vkUpdateDescriptorSets)]
fn update_descriptor_sets(
    call: Call<'_>,
    object: &DeviceObject,
    #[len] write_count: u32,
    writes: Array<'_, vk::WriteDescriptorSet<'_>>,
    #[len] copy_count: u32,
    copies: Array<'_, vk::CopyDescriptorSet<'_>>,
) {
    // Most calls have several writes to one set.
    for of_set in writes.get().chunk_by(|a, b| a.dst_set == b.dst_set) {
        let _ = need_with(object, &object.sets, of_set[0].dst_set, |found| {
            for write in of_set {
                let _ = perform(call, object, &found.set, write);
            }
            found
                .set
                .mark_written(of_set.iter().map(|write| end_of(&found.set, range_of_write(write))).max().unwrap_or(0));
        });
    }
    let pair = |copy: &vk::CopyDescriptorSet<'_>| (copy.src_set, copy.dst_set);
    for of_sets in copies.get().chunk_by(|a, b| pair(a) == pair(b)) {
        let (source, target) = pair(&of_sets[0]);
        let _ = need_with(object, &object.sets, source, |source| {
            need_with(object, &object.sets, target, |target| {
                for copy in of_sets {
                    let range = |binding, element| DescriptorRange { binding, element, count: copy.descriptor_count };
                    let from = range(copy.src_binding, copy.src_array_element);
                    let to = range(copy.dst_binding, copy.dst_array_element);
                    descriptor::copy(&source.set, from, &target.set, to);
                }
            })
        });
    }
}

/// Performs a write to a set.
fn perform(
    call: Call<'_>,
    object: &DeviceObject,
    set: &DescriptorSet,
    write: &vk::WriteDescriptorSet<'_>,
) -> Result<()> {
    if write.descriptor_type == T::INLINE_UNIFORM_BLOCK {
        let bytes: &vk::WriteDescriptorSetInlineUniformBlock<'_> = call.find(write.p_next).ok_or(Error::Unknown)?;
        write_inline(call, set, range_of_write(write), bytes.p_data);
        return Ok(());
    }
    let slots = set.slots();
    describe(call, object, set.layout(), DescriptorWrite::new(write), |place, named| slots[place].put(named))
}

/// Returns the descriptors of a write.
fn range_of_write(write: &vk::WriteDescriptorSet<'_>) -> DescriptorRange {
    DescriptorRange { binding: write.dst_binding, element: write.dst_array_element, count: write.descriptor_count }
}

/// Returns the end of the descriptors that a write of a range may reach.
fn end_of(set: &DescriptorSet, range: DescriptorRange) -> usize {
    range.places(set.layout()).end
}

/// Writes bytes of an inline uniform block.
fn write_inline(call: Call<'_>, set: &DescriptorSet, range: DescriptorRange, data: *const c_void) {
    if let Some(block) = set.inline_block(range.binding) {
        block.write(range.element.into(), call.bytes(data, range.count as usize));
    }
}

/// Write of consecutive descriptors of one type, from the application's memory.
#[derive(Clone, Copy)]
struct DescriptorWrite {
    kind: T,
    range: DescriptorRange,
    /// Address of the first descriptor's data.
    data: *const c_void,
    /// Distance between the data of two descriptors in bytes.
    stride: usize,
}

impl DescriptorWrite {
    /// Returns a write, whose array depends on the descriptor type.
    #[inline]
    fn new(write: &vk::WriteDescriptorSet<'_>) -> Self {
        let (kind, range) = (write.descriptor_type, range_of_write(write));
        let (data, stride) = match kind {
            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
                (write.p_texel_buffer_view.cast(), size_of::<vk::BufferView>())
            }
            T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => {
                (write.p_buffer_info.cast(), size_of::<vk::DescriptorBufferInfo>())
            }
            _ => (write.p_image_info.cast(), size_of::<vk::DescriptorImageInfo>()),
        };
        Self { kind, range, data, stride }
    }

    /// Returns the write of a template's entry.
    #[inline]
    fn of_entry(entry: &vk::DescriptorUpdateTemplateEntry, data: *const c_void) -> Self {
        let data = data.wrapping_byte_add(entry.offset);
        Self { kind: entry.descriptor_type, range: range_of_entry(entry), data, stride: entry.stride }
    }
}

/// Calls `put` with each descriptor of a write, and its place in a set of a layout.
#[inline]
fn describe(
    call: Call<'_>,
    object: &DeviceObject,
    layout: &SetLayout,
    write: DescriptorWrite,
    mut put: impl FnMut(usize, DescriptorName),
) -> Result<()> {
    let DescriptorWrite { kind, range, data, stride } = write;
    let places = range.places(layout);
    let start = places.start;
    let places = places.map(|place| (place, data.wrapping_byte_add((place - start) * stride)));
    match kind {
        T::UNIFORM_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER | T::STORAGE_BUFFER_DYNAMIC => {
            for (place, info) in places {
                let info = call.get(info.cast::<vk::DescriptorBufferInfo>()).ok_or(Error::Unknown)?;
                let object = good(object, &object.buffers, info.buffer)?;
                put(place, DescriptorName { kind, object, other: info.offset, size: info.range });
            }
        }
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
            for (place, info) in places {
                let view = *call.get(info.cast::<vk::BufferView>()).ok_or(Error::Unknown)?;
                put(
                    place,
                    DescriptorName { kind, object: good(object, &object.buffer_views, view)?, other: 0, size: 0 },
                );
            }
        }
        T::SAMPLER => {
            for (place, info) in places {
                // For an immutable sampler alone, the descriptor data are ignored.
                let object =
                    if is_fixed(layout, place) { 0 } else { sampler(object, image_info(call, info)?.sampler)? };
                put(place, DescriptorName { kind, object, other: 0, size: 0 });
            }
        }
        T::COMBINED_IMAGE_SAMPLER => {
            for (place, info) in places {
                let info = image_info(call, info)?;
                let other = if is_fixed(layout, place) { 0 } else { sampler(object, info.sampler)? };
                put(
                    place,
                    DescriptorName {
                        kind,
                        object: good(object, &object.image_views, info.image_view)?,
                        other,
                        size: 0,
                    },
                );
            }
        }
        _ => {
            for (place, info) in places {
                let view = image_info(call, info)?.image_view;
                put(
                    place,
                    DescriptorName { kind, object: good(object, &object.image_views, view)?, other: 0, size: 0 },
                );
            }
        }
    }
    Ok(())
}

/// Returns the data of an image or sampler descriptor.
#[inline]
fn image_info<'c>(call: Call<'c>, info: *const c_void) -> Result<&'c vk::DescriptorImageInfo> {
    call.get(info.cast()).ok_or(Error::Unknown)
}

/// Returns true if the layout has an immutable sampler for a place.
#[inline]
fn is_fixed(layout: &SetLayout, place: usize) -> bool {
    layout.has_immutable_samplers && layout.bindings.iter().any(|entry| entry.immutable_sampler(place as u32).is_some())
}

/// Returns the number of a sampler, which must not be null.
#[inline]
fn sampler(object: &DeviceObject, handle: vk::Sampler) -> Result<u64> {
    match object.samplers.is_good(handle.as_raw()) {
        true => Ok(handle.as_raw()),
        false => Err(bad_handle(object, handle)),
    }
}

/// Returns the descriptors that a command pushes, by their places in the set.
pub fn pushed(
    call: Call<'_>,
    object: &DeviceObject,
    layout: &SetLayout,
    writes: &[vk::WriteDescriptorSet<'_>],
) -> Result<Vec<(u32, DescriptorName)>> {
    let mut all = Vec::with_capacity(writes.len());
    for write in writes {
        let put = |place: usize, named| all.push((place as u32, named));
        describe(call, object, layout, DescriptorWrite::new(write), put)?;
    }
    Ok(all)
}

/// Returns the descriptors that a command pushes with a template, by their places in the set.
pub fn pushed_with(
    call: Call<'_>,
    object: &DeviceObject,
    layout: &SetLayout,
    template: &UpdateTemplate,
    data: *const c_void,
) -> Result<Vec<(u32, DescriptorName)>> {
    let mut all = Vec::with_capacity(template.entries.len());
    for entry in template.entries.iter().filter(|_| !data.is_null()) {
        let put = |place: usize, named| all.push((place as u32, named));
        describe(call, object, layout, DescriptorWrite::of_entry(entry, data), put)?;
    }
    Ok(all)
}

/// Returns the descriptors of a template's entry.
fn range_of_entry(entry: &vk::DescriptorUpdateTemplateEntry) -> DescriptorRange {
    DescriptorRange { binding: entry.dst_binding, element: entry.dst_array_element, count: entry.descriptor_count }
}

#[entry(vkCreateDescriptorUpdateTemplate)]
fn create_descriptor_update_template(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::DescriptorUpdateTemplateCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::DescriptorUpdateTemplate>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let entries = call.slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count).to_vec();
    Ok(out.put(object.templates.insert(Arc::new(UpdateTemplate { entries, point: info.pipeline_bind_point }))))
}

#[entry(vkDestroyDescriptorUpdateTemplate)]
fn destroy_descriptor_update_template(
    object: &DeviceObject,
    template: vk::DescriptorUpdateTemplate,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(object, &object.templates, template);
}

#[entry(vkUpdateDescriptorSetWithTemplate)]
fn update_descriptor_set_with_template(
    call: Call<'_>,
    object: &DeviceObject,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let found = need_with(object, &object.sets, set, |found| {
        need_with(object, &object.templates, template, |template| perform_all(call, object, &found.set, template, data))
    });
    if found.is_err() {
        // If the set is invalid, a stale template is also reported.
        let _ = need_with(object, &object.templates, template, |_| ());
    }
}

/// Performs the writes of a template to a set.
fn perform_all(
    call: Call<'_>,
    object: &DeviceObject,
    set: &DescriptorSet,
    template: &UpdateTemplate,
    data: *const c_void,
) {
    let slots = set.slots();
    for entry in template.entries.iter().filter(|_| !data.is_null()) {
        let write = DescriptorWrite::of_entry(entry, data);
        if write.kind == T::INLINE_UNIFORM_BLOCK {
            write_inline(call, set, write.range, write.data);
            continue;
        }
        let _ = describe(call, object, set.layout(), write, |place, named| slots[place].put(named));
    }
    set.mark_written(template.entries.iter().map(|entry| end_of(set, range_of_entry(entry))).max().unwrap_or(0));
}

#[entry(vkGetDescriptorSetLayoutSupport)]
fn get_descriptor_set_layout_support(
    call: Call<'_>,
    _: vk::Device,
    info: In<'_, vk::DescriptorSetLayoutCreateInfo<'_>>,
    mut out: Out<'_, vk::DescriptorSetLayoutSupport<'_>>,
) {
    let count = count_of(call, &info);
    out.supported = (count <= MAX_SET_DESCRIPTORS).into();
    let bindings = call.slice(info.p_bindings, info.binding_count);
    let last = bindings.iter().max_by_key(|binding| binding.binding).filter(|_| is_variable(call, &info));
    // A count of 0 is treated like any other.
    let max_variable_descriptor_count = last.map_or(0, |last| match last.descriptor_type {
        T::INLINE_UNIFORM_BLOCK => MAX_INLINE_BYTES,
        _ => MAX_SET_DESCRIPTORS.saturating_sub(count.saturating_sub(last.descriptor_count)),
    });
    let counts =
        vk::DescriptorSetVariableDescriptorCountLayoutSupport { max_variable_descriptor_count, ..Default::default() };
    call.put(out.p_next, counts);
}
