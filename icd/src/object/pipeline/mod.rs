//! Shader modules, pipelines and pipeline caches. Source: Vulkan specification, "Shaders",
//! "Pipelines".

pub mod binary;
pub mod graphics;

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use ash::vk::{self, Handle};
use vitric_api::physical::SUBGROUP_SIZE;
use vitric_api::pipeline::{
    Identifier, PipelineBinary, PipelineCache, ShaderModule, StageDesc, StageFlags, StageKey, identify, with_binary,
};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_exec::Program;
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_gpu::raster::{Combiner, Criterion, Rate, RateState, SampleLocations};
use vitric_gpu::state::MAX_VIEWPORTS;
use vitric_gpu::state::{
    AdvancedBlend, BlendState, ComputePipeline, DepthBias, DepthBiasUnit, DepthLimits, DepthStencilState, LineMode,
    LineStipple, MultisampleState, RasterState, StencilState, VertexAttribute, VertexBinding,
};
use vitric_spirv::Specialization;
use vitric_vulkan::{CustomResolveCreateInfoEXT, sys};

use super::{DeviceObject, Pipeline, check, destroy, need};
use crate::call::{Array, ArrayMut, Call, In, New, Out, room_for};

#[entry(vkCreateShaderModule)]
fn create_shader_module(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::ShaderModuleCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::ShaderModule>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    Ok(out.put(object.shaders.insert(ShaderModule::new(object.messages(), words(call, info))?)))
}

#[entry(vkDestroyShaderModule)]
fn destroy_shader_module(object: &DeviceObject, module: vk::ShaderModule, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.shaders, module);
}

/// Writes an identifier.
fn put_identifier(identifier: Identifier, mut out: Out<'_, vk::ShaderModuleIdentifierEXT<'_>>) {
    out.identifier_size = identifier.len() as u32;
    out.identifier[..identifier.len()].copy_from_slice(&identifier);
}

#[entry(vkGetShaderModuleIdentifierEXT)]
fn get_shader_module_identifier(
    object: &DeviceObject,
    module: vk::ShaderModule,
    out: Out<'_, vk::ShaderModuleIdentifierEXT<'_>>,
) -> Result<()> {
    put_identifier(need(object, &object.shaders, module)?.identifier(), out);
    Ok(())
}

#[entry(vkGetShaderModuleCreateInfoIdentifierEXT)]
fn get_shader_module_create_info_identifier(
    call: Call<'_>,
    _: vk::Device,
    info: In<'_, vk::ShaderModuleCreateInfo<'_>>,
    out: Out<'_, vk::ShaderModuleIdentifierEXT<'_>>,
) {
    put_identifier(identify(words(call, &info)), out);
}

#[entry(vkCreatePipelineCache)]
fn create_pipeline_cache(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::PipelineCacheCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::PipelineCache>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let data = call.bytes(info.p_initial_data, info.initial_data_size);
    Ok(out.put(object.caches.insert(Arc::new(PipelineCache::new(data)))))
}

#[entry(vkDestroyPipelineCache)]
fn destroy_pipeline_cache(object: &DeviceObject, cache: vk::PipelineCache, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.caches, cache);
}

#[entry(vkGetPipelineCacheData)]
fn get_pipeline_cache_data(
    call: Call<'_>,
    object: &DeviceObject,
    cache: vk::PipelineCache,
    mut size: Out<'_, usize>,
    out: *mut c_void,
) -> Result<vk::Result> {
    let cache = need(object, &object.caches, cache)?;
    if out.is_null() {
        *size = cache.size();
        return Ok(vk::Result::SUCCESS);
    }
    let (data, complete) = cache.data(*size);
    *size = data.len();
    call.outputs(out.cast::<u8>(), data.len()).copy_from_slice(&data);
    Ok(if complete { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE })
}

#[entry(vkMergePipelineCaches)]
fn merge_pipeline_caches(
    object: &DeviceObject,
    target: vk::PipelineCache,
    #[len] count: u32,
    sources: Array<'_, vk::PipelineCache>,
) -> Result<vk::Result> {
    let target = need(object, &object.caches, target)?;
    for &source in check::array(object, "pSrcCaches", sources)? {
        target.merge(&*need(object, &object.caches, source)?);
    }
    Ok(vk::Result::SUCCESS)
}

#[entry(vkDestroyPipeline)]
fn destroy_pipeline(object: &DeviceObject, pipeline: vk::Pipeline, _: *const vk::AllocationCallbacks<'_>) {
    object.captured.lock().remove(&pipeline.as_raw());
    destroy(object, &object.pipelines, pipeline);
}

/// Returns the description of a stage. If the pipeline has binaries, the stage has no module.
fn stage_desc(
    call: Call<'_>,
    object: &DeviceObject,
    info: &vk::PipelineShaderStageCreateInfo<'_>,
    flags: StageFlags,
    binaries: &[Arc<PipelineBinary>],
) -> Result<StageDesc> {
    check_subgroup_size(call, object, info)?;
    let key = |identifier| StageKey {
        identifier,
        entry: call.string(info.p_name),
        stage: info.stage,
        specialization: specialization(call, call.get(info.p_specialization_info)),
        flags,
    };
    if !binaries.is_empty() {
        let key = key(Identifier::default());
        return with_binary(key, binaries).ok_or_else(|| binary::refuse(object, info.stage));
    }
    let of_module = |module: Arc<ShaderModule>| (module.identifier(), Some(module));
    let (identifier, module) = if !info.module.is_null() {
        of_module(need(object, &object.shaders, info.module)?)
    } else if let Some(code) = call.find::<vk::ShaderModuleCreateInfo<'_>>(info.p_next) {
        of_module(ShaderModule::new(object.messages(), words(call, code))?)
    } else {
        (named_module(call, info).ok_or(Error::Unknown)?, None)
    };
    Ok(StageDesc { key: key(identifier), module, program: None })
}

/// Checks the subgroup size. There is one size, so no other can be required.
fn check_subgroup_size(
    call: Call<'_>,
    object: &DeviceObject,
    info: &vk::PipelineShaderStageCreateInfo<'_>,
) -> Result<()> {
    match call.find::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'_>>(info.p_next) {
        Some(size) if size.required_subgroup_size != SUBGROUP_SIZE => {
            let size = size.required_subgroup_size;
            object
                .messages()
                .error(&format!("requiredSubgroupSize = {size}: expected {SUBGROUP_SIZE}, the only size of subgroups"));
            Err(Error::Unknown)
        }
        _ => Ok(()),
    }
}

/// Returns the identifier of a stage without a module.
fn named_module(call: Call<'_>, info: &vk::PipelineShaderStageCreateInfo<'_>) -> Option<Identifier> {
    let named: &vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_> = call.find(info.p_next)?;
    let bytes = call.slice(named.p_identifier, named.identifier_size);
    // All modules have identifiers of this size, so a stage with another size is never found.
    Some(bytes.try_into().unwrap_or_default())
}

/// Returns the code of a module.
fn words<'c>(call: Call<'c>, info: &vk::ShaderModuleCreateInfo<'_>) -> &'c [u32] {
    call.slice(info.p_code, (info.code_size / 4) as u32)
}

/// Objects and stages from which a pipeline is created.
pub struct PipelineBuilder<'a> {
    call: Call<'a>,
    object: &'a DeviceObject,
    cache: Option<Arc<PipelineCache>>,
    /// Stages of the pipeline. Stages that are not needed may be invalid.
    stages: Vec<(vk::ShaderStageFlags, Result<StageDesc>)>,
    /// Error of an invalid create info.
    refused: Option<Error>,
    /// Binaries of the pipeline's programs, if the application captures them.
    captured: Option<RefCell<Vec<Arc<PipelineBinary>>>>,
}

impl<'a> PipelineBuilder<'a> {
    /// Checks a create info and resolves its stages.
    fn new<I: PipelineInfo>(
        call: Call<'a>,
        object: &'a DeviceObject,
        cache: Option<Arc<PipelineCache>>,
        info: &I,
    ) -> Self {
        let binaries = match info.check(call, object).and_then(|()| binary::named(call, object, info.next())) {
            Ok(binaries) => binaries,
            // A refused pipeline has no stage to compile.
            Err(error) => {
                return Self { call, object, cache: None, stages: Vec::new(), refused: Some(error), captured: None };
            }
        };
        let flags = StageFlags {
            views_are_devices: info.has(call, vk::PipelineCreateFlags::VIEW_INDEX_FROM_DEVICE_INDEX),
            is_far: info.has_newer(call, sys::PipelineCreateFlags2::_64_BIT_INDEXING_EXT.bits()),
        };
        let desc = |stage: &vk::PipelineShaderStageCreateInfo<'_>| {
            (stage.stage, stage_desc(call, object, stage, flags, &binaries))
        };
        let stages = info.stages(call).into_iter().map(desc).collect();
        let captured = info.has(call, binary::CAPTURE_DATA).then(RefCell::default);
        Self { call, object, cache, stages, refused: None, captured }
    }

    /// Returns the program of a stage, if the pipeline has the stage.
    fn program(&self, stage: vk::ShaderStageFlags) -> Result<Option<Arc<Program>>> {
        let Some((_, desc)) = self.stages.iter().find(|(of, _)| *of == stage) else { return Ok(None) };
        let desc = desc.as_ref().map_err(|error| *error)?;
        let program = self.object.programs.get(self.object.messages(), desc, self.cache.as_deref())?;
        if let Some(captured) = &self.captured {
            captured.borrow_mut().push(Arc::new(PipelineBinary::new(&desc.key, program.clone())));
        }
        Ok(Some(program))
    }

    /// Returns the keys of all stages.
    fn keys(&self) -> Result<Vec<StageKey>> {
        self.refused.map_or(Ok(()), Err)?;
        self.stages.iter().map(|(_, desc)| desc.as_ref().map(|desc| desc.key.clone()).map_err(|error| *error)).collect()
    }

    /// Returns true if the pipeline has a stage.
    fn has_stage(&self, stage: vk::ShaderStageFlags) -> bool {
        self.stages.iter().any(|(of, _)| *of == stage)
    }

    /// Returns the valid stages.
    fn good(&self) -> impl Iterator<Item = &StageDesc> {
        self.stages.iter().filter_map(|(_, desc)| desc.as_ref().ok())
    }

    /// Creates a pipeline, and writes the feedback that the application requests.
    fn one<I: PipelineInfo>(&self, info: &I, make: impl Fn(&Self, &I) -> Result<Pipeline>) -> Result<Pipeline> {
        self.refused.map_or(Ok(()), Err)?;
        let start = Instant::now();
        put_feedback(self.call, info, vk::PipelineCreationFeedback::default());
        let cache = self.cache.as_deref();
        if is_compilation_forbidden(self.call, info) && !self.good().all(|desc| self.object.programs.has(desc, cache)) {
            return Err(Error::CompileRequired);
        }
        let was_cached = cache.is_some_and(|cache| self.good().all(|desc| cache.has(&desc.key)));
        let made = make(self, info)?;
        let mut flags = vk::PipelineCreationFeedbackFlags::VALID;
        if was_cached {
            flags |= vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        }
        put_feedback(
            self.call,
            info,
            vk::PipelineCreationFeedback { flags, duration: start.elapsed().as_nanos() as u64 },
        );
        Ok(made)
    }
}

/// Writes the requested feedback about the creation of a pipeline. Feedback of its stages is not
/// available.
fn put_feedback(call: Call<'_>, info: &impl PipelineInfo, feedback: vk::PipelineCreationFeedback) {
    let Some(asked) = call.find::<vk::PipelineCreationFeedbackCreateInfo<'_>>(info.next()) else { return };
    if let Some(mut whole) = call.output(asked.p_pipeline_creation_feedback) {
        *whole = feedback;
    }
    let count = asked.pipeline_stage_creation_feedback_count as usize;
    call.outputs(asked.p_pipeline_stage_creation_feedbacks, count).fill(vk::PipelineCreationFeedback::default());
}

/// Maximum size of the data of a specialization constant, in bytes: the words of the longest
/// instruction.
const MAX_SPECIALIZED_BYTES: usize = 4 * 65_532;

fn specialization(call: Call<'_>, info: Option<&vk::SpecializationInfo<'_>>) -> Specialization {
    let Some(info) = info else { return Vec::new() };
    let data = call.bytes(info.p_data, info.data_size);
    let values = |entry: &vk::SpecializationMapEntry| {
        let bytes = data.get(entry.offset as usize..).unwrap_or_default();
        let bytes = &bytes[..entry.size.min(bytes.len()).min(MAX_SPECIALIZED_BYTES)];
        // An entry without bytes is a zero.
        let (first, rest) = bytes.split_at(bytes.len().min(8));
        let id = entry.constant_id;
        let value = move |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            (id, u64::from_le_bytes(word))
        };
        std::iter::once(value(first)).chain(rest.chunks(8).map(value))
    };
    let entries = call.slice(info.p_map_entries, info.map_entry_count);
    entries.iter().filter(|entry| entry.offset as usize <= data.len()).flat_map(values).collect()
}

/// Create infos of graphics and compute pipelines.
trait PipelineInfo {
    /// Returns the stages that are not ignored.
    fn stages<'c>(&'c self, call: Call<'c>) -> Vec<&'c vk::PipelineShaderStageCreateInfo<'c>>;
    fn own_flags(&self) -> vk::PipelineCreateFlags;
    fn next(&self) -> *const c_void;
    /// Checks all values that are not ignored.
    fn check(&self, call: Call<'_>, object: &DeviceObject) -> Result<()>;

    /// Returns true if any of some flags is set. `VkPipelineCreateFlags2CreateInfoKHR` has
    /// precedence.
    fn has(&self, call: Call<'_>, wanted: vk::PipelineCreateFlags) -> bool {
        self.has_newer(call, wanted.as_raw().into())
    }

    /// Returns true if any of some flags is set, which may be among those of 64 bits only.
    fn has_newer(&self, call: Call<'_>, wanted: u64) -> bool {
        let long: Option<&vk::PipelineCreateFlags2CreateInfoKHR<'_>> = call.find(self.next());
        let flags = long.map_or(u64::from(self.own_flags().as_raw()), |long| long.flags.as_raw());
        flags & wanted != 0
    }
}

impl PipelineInfo for vk::ComputePipelineCreateInfo<'_> {
    fn check(&self, call: Call<'_>, object: &DeviceObject) -> Result<()> {
        check::pipelines::compute(call, object, self)
    }

    fn stages<'c>(&'c self, _: Call<'c>) -> Vec<&'c vk::PipelineShaderStageCreateInfo<'c>> {
        vec![&self.stage]
    }

    fn own_flags(&self) -> vk::PipelineCreateFlags {
        self.flags
    }

    fn next(&self) -> *const c_void {
        self.p_next
    }
}

impl PipelineInfo for vk::GraphicsPipelineCreateInfo<'_> {
    fn check(&self, call: Call<'_>, object: &DeviceObject) -> Result<()> {
        check::pipelines::graphics(call, object, self, graphics::own_parts(call, self))
    }

    fn stages<'c>(&'c self, call: Call<'c>) -> Vec<&'c vk::PipelineShaderStageCreateInfo<'c>> {
        use vk::GraphicsPipelineLibraryFlagsEXT as Subsets;
        let own = graphics::own_parts(call, self);
        if !own.intersects(Subsets::PRE_RASTERIZATION_SHADERS | Subsets::FRAGMENT_SHADER) {
            return Vec::new();
        }
        let discards = own.contains(Subsets::PRE_RASTERIZATION_SHADERS) && graphics::discards(call, self);
        let counts = |stage: &&vk::PipelineShaderStageCreateInfo<'_>| match stage.stage {
            vk::ShaderStageFlags::FRAGMENT => own.contains(Subsets::FRAGMENT_SHADER) && !discards,
            _ => own.contains(Subsets::PRE_RASTERIZATION_SHADERS),
        };
        call.slice(self.p_stages, self.stage_count).iter().filter(counts).collect()
    }

    fn own_flags(&self) -> vk::PipelineCreateFlags {
        self.flags
    }

    fn next(&self) -> *const c_void {
        self.p_next
    }
}

/// Returns true if the creation of a pipeline must fail when a program would have to be compiled.
fn is_compilation_forbidden(call: Call<'_>, info: &impl PipelineInfo) -> bool {
    info.has(call, vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
}

/// Pipelines that one call creates.
struct PipelineBatch<'c, I> {
    cache: vk::PipelineCache,
    infos: Array<'c, I>,
    out: ArrayMut<'c, vk::Pipeline>,
}

/// Creates pipelines and compiles their programs in parallel. Failed pipelines are null, and the
/// first error is returned.
fn create_all<I: PipelineInfo>(
    call: Call<'_>,
    object: &DeviceObject,
    batch: PipelineBatch<'_, I>,
    make: impl Fn(&PipelineBuilder<'_>, &I) -> Result<Pipeline>,
) -> Result<vk::Result> {
    let infos = check::array(object, "pCreateInfos", batch.infos)?;
    let out = check::output(object, "pPipelines", batch.out)?;
    out.fill(vk::Pipeline::null());
    let cache = object.caches.get(batch.cache.as_raw());
    let builders: Vec<PipelineBuilder<'_>> =
        infos.iter().map(|info| PipelineBuilder::new(call, object, cache.clone(), info)).collect();
    let compiled = builders.iter().zip(infos).filter(|(_, info)| !is_compilation_forbidden(call, *info));
    let compiled: Vec<StageDesc> = compiled.flat_map(|(builder, _)| builder.good().cloned()).collect();
    let _kept = object.programs.prepare(&compiled, cache.as_deref());
    let mut failure = None;
    for (slot, (builder, info)) in out.iter_mut().zip(builders.iter().zip(infos)) {
        match room_for(0).and_then(|()| builder.one(info, &make)) {
            Ok(pipeline) => {
                let handle = object.pipelines.insert(pipeline);
                if let Some(captured) = &builder.captured {
                    object.captured.lock().insert(handle, captured.take());
                }
                *slot = vk::Handle::from_raw(handle);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
        if failure.is_some() && info.has(call, vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE) {
            break;
        }
    }
    failure.map_or(Ok(vk::Result::SUCCESS), Err)
}

#[entry(vkCreateComputePipelines)]
fn create_compute_pipelines(
    call: Call<'_>,
    object: &DeviceObject,
    cache: vk::PipelineCache,
    #[len] count: u32,
    infos: Array<'_, vk::ComputePipelineCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: ArrayMut<'_, vk::Pipeline>,
) -> Result<vk::Result> {
    create_all(call, object, PipelineBatch { cache, infos, out }, |builder, _: &vk::ComputePipelineCreateInfo<'_>| {
        let program = builder.program(vk::ShaderStageFlags::COMPUTE)?.ok_or(Error::Unknown)?;
        Ok(Pipeline::Compute(Arc::new(ComputePipeline { program })))
    })
}

#[entry(vkCreateGraphicsPipelines)]
fn create_graphics_pipelines(
    call: Call<'_>,
    object: &DeviceObject,
    cache: vk::PipelineCache,
    #[len] count: u32,
    infos: Array<'_, vk::GraphicsPipelineCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: ArrayMut<'_, vk::Pipeline>,
) -> Result<vk::Result> {
    create_all(call, object, PipelineBatch { cache, infos, out }, graphics::make)
}

/// Returns `count` viewports or scissors. If their values are dynamic, the pointer may be invalid.
fn counted<T: Copy + Default>(call: Call<'_>, values: *const T, count: u32, is_dynamic: bool) -> Vec<T> {
    let count = count.min(MAX_VIEWPORTS as u32);
    let mut all = if is_dynamic { Vec::new() } else { call.slice(values, count).to_vec() };
    all.resize(count as usize, T::default());
    all
}

/// Returns the formats of the colour attachments, from the render pass or, without one, from the
/// chain.
fn color_formats(
    builder: &PipelineBuilder<'_>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
) -> Vec<Option<&'static FormatInfo>> {
    if let Some(pass) = builder.object.passes.get(info.render_pass.as_raw()) {
        return pass.color_formats(info.subpass);
    }
    attachment_formats(builder.call, info).colors.iter().map(|&format| format::info(format)).collect()
}

/// Formats of attachments of a pipeline for dynamic rendering.
struct AttachmentFormats {
    colors: Vec<vk::Format>,
    depth: vk::Format,
    stencil: vk::Format,
}

/// Returns the formats of the attachments that a pipeline without a render pass writes. A pipeline
/// of a custom resolve writes the resolve attachments.
fn attachment_formats(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> AttachmentFormats {
    let resolve: Option<&CustomResolveCreateInfoEXT> = call.find(info.p_next);
    if let Some(resolve) = resolve.filter(|resolve| resolve.custom_resolve != vk::FALSE) {
        let raw = |format: sys::Format| vk::Format::from_raw(format.as_raw());
        let colors = call.slice(resolve.color_attachment_formats, resolve.color_attachment_count);
        return AttachmentFormats {
            colors: colors.iter().copied().map(raw).collect(),
            depth: raw(resolve.depth_attachment_format),
            stencil: raw(resolve.stencil_attachment_format),
        };
    }
    let rendering: Option<&vk::PipelineRenderingCreateInfo<'_>> = call.find(info.p_next);
    let default = vk::PipelineRenderingCreateInfo::default();
    let rendering = rendering.unwrap_or(&default);
    AttachmentFormats {
        colors: call.slice(rendering.p_color_attachment_formats, rendering.color_attachment_count).to_vec(),
        depth: rendering.depth_attachment_format,
        stencil: rendering.stencil_attachment_format,
    }
}

fn bindings(call: Call<'_>, state: &vk::PipelineVertexInputStateCreateInfo<'_>) -> Vec<VertexBinding> {
    let all = call.slice(state.p_vertex_binding_descriptions, state.vertex_binding_description_count);
    let info: Option<&vk::PipelineVertexInputDivisorStateCreateInfoKHR<'_>> = call.find(state.p_next);
    let divisors = info.map(|info| call.slice(info.p_vertex_binding_divisors, info.vertex_binding_divisor_count));
    let divisor = |binding: u32| {
        let named = divisors.unwrap_or_default().iter().find(|entry| entry.binding == binding);
        named.map_or(1, |entry| entry.divisor)
    };
    let binding = |entry: &vk::VertexInputBindingDescription| VertexBinding {
        binding: entry.binding,
        stride: entry.stride,
        rate: entry.input_rate,
        divisor: divisor(entry.binding),
    };
    all.iter().map(binding).collect()
}

fn attributes(call: Call<'_>, state: &vk::PipelineVertexInputStateCreateInfo<'_>) -> Vec<VertexAttribute> {
    let all = call.slice(state.p_vertex_attribute_descriptions, state.vertex_attribute_description_count);
    let attribute = |entry: &vk::VertexInputAttributeDescription| VertexAttribute {
        location: entry.location,
        binding: entry.binding,
        format: entry.format,
        offset: entry.offset,
    };
    all.iter().map(attribute).collect()
}

/// Returns the criterion by which filled polygons cover pixels; `None` for coverage by samples.
fn conservative(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> Option<Criterion> {
    let info: &vk::PipelineRasterizationConservativeStateCreateInfoEXT<'_> = call.find(state.p_next)?;
    criterion(info.conservative_rasterization_mode)
}

/// Returns the criterion of a mode.
pub fn criterion(mode: vk::ConservativeRasterizationModeEXT) -> Option<Criterion> {
    use vk::ConservativeRasterizationModeEXT as Mode;
    match mode {
        Mode::OVERESTIMATE => Some(Criterion::Touching),
        Mode::UNDERESTIMATE => Some(Criterion::Interior),
        _ => None,
    }
}

/// Returns the rasterization mode of lines, and their stipple.
fn lines(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> (LineMode, Option<LineStipple>) {
    let info: Option<&vk::PipelineRasterizationLineStateCreateInfoKHR<'_>> = call.find(state.p_next);
    let Some(info) = info else { return (LineMode::Rectangular, None) };
    (line_mode(info.line_rasterization_mode), (info.stippled_line_enable != 0).then(|| stipple(call, state)))
}

/// Returns the rasterization mode of lines.
pub fn line_mode(mode: vk::LineRasterizationModeKHR) -> LineMode {
    use vk::LineRasterizationModeKHR as Mode;
    match mode {
        Mode::BRESENHAM => LineMode::Bresenham,
        Mode::RECTANGULAR_SMOOTH => LineMode::Smooth,
        // The default mode is rectangular, because lines are strict.
        _ => LineMode::Rectangular,
    }
}

/// Returns the stipple of lines, even if it is disabled.
fn stipple(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> LineStipple {
    let info: Option<&vk::PipelineRasterizationLineStateCreateInfoKHR<'_>> = call.find(state.p_next);
    info.map_or_else(LineStipple::default, |info| LineStipple {
        factor: info.line_stipple_factor,
        pattern: info.line_stipple_pattern,
    })
}

/// Returns true if depth is clipped. The default is the opposite of depth clamping.
fn depth_clip(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'_>> = call.find(state.p_next);
    info.map_or(state.depth_clamp_enable == 0, |info| info.depth_clip_enable != 0)
}

/// Returns true if clip-space depth is from -1 to 1.
fn negative_one_to_one(call: Call<'_>, state: &vk::PipelineViewportStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineViewportDepthClipControlCreateInfoEXT<'_>> = call.find(state.p_next);
    info.is_some_and(|info| info.negative_one_to_one != 0)
}

fn provoking_last(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_>> = call.find(state.p_next);
    info.is_some_and(|info| info.provoking_vertex_mode == vk::ProvokingVertexModeEXT::LAST_VERTEX)
}

/// Returns the unit of depth bias, from a chain.
pub fn depth_bias_unit(call: Call<'_>, next: *const c_void) -> DepthBiasUnit {
    use vk::DepthBiasRepresentationEXT as R;
    let info: Option<&vk::DepthBiasRepresentationInfoEXT<'_>> = call.find(next);
    // All units are exact.
    match info.map(|info| info.depth_bias_representation) {
        Some(R::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM) => DepthBiasUnit::Constant,
        Some(R::FLOAT) => DepthBiasUnit::One,
        _ => DepthBiasUnit::Resolvable,
    }
}

/// Returns the vertex stream that is rasterized.
fn stream(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> u32 {
    let info: Option<&vk::PipelineRasterizationStateStreamCreateInfoEXT<'_>> = call.find(state.p_next);
    info.map_or(0, |info| info.rasterization_stream)
}

fn raster(call: Call<'_>, state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> RasterState {
    let (line_mode, line_stipple) = lines(call, state);
    RasterState {
        conservative: conservative(call, state),
        stream: stream(call, state),
        depth_clip: depth_clip(call, state),
        depth_limits: DepthLimits::Viewport,
        negative_one_to_one: false,
        provoking_last: provoking_last(call, state),
        discard: state.rasterizer_discard_enable != 0,
        polygon_mode: state.polygon_mode,
        cull_mode: state.cull_mode,
        front_face: state.front_face,
        depth_bias_enable: state.depth_bias_enable != 0,
        depth_bias: DepthBias {
            constant: state.depth_bias_constant_factor,
            clamp: state.depth_bias_clamp,
            slope: state.depth_bias_slope_factor,
            unit: depth_bias_unit(call, state.p_next),
        },
        line_width: state.line_width,
        line_mode,
        line_stipple,
    }
}

fn multisample_state(call: Call<'_>, state: Option<&vk::PipelineMultisampleStateCreateInfo<'_>>) -> MultisampleState {
    let samples = state.map_or(1, |state| state.rasterization_samples.as_raw());
    let flag = |value: fn(&vk::PipelineMultisampleStateCreateInfo<'_>) -> vk::Bool32| {
        state.is_some_and(|state| value(state) != 0)
    };
    MultisampleState {
        samples,
        min_sample_shading: state
            .filter(|state| state.sample_shading_enable != 0)
            .map(|state| state.min_sample_shading),
        sample_mask: state.and_then(|state| call.get(state.p_sample_mask)).copied().unwrap_or(u32::MAX),
        alpha_to_coverage: flag(|state| state.alpha_to_coverage_enable),
        alpha_to_one: flag(|state| state.alpha_to_one_enable),
        custom: state
            .and_then(|state| custom_locations(call, state).and_then(|(is_on, custom)| custom.filter(|_| is_on))),
    }
}

/// Returns true if custom sample locations are enabled, and the locations.
fn custom_locations(
    call: Call<'_>,
    state: &vk::PipelineMultisampleStateCreateInfo<'_>,
) -> Option<(bool, Option<SampleLocations>)> {
    let info: &vk::PipelineSampleLocationsStateCreateInfoEXT<'_> = call.find(state.p_next)?;
    Some((info.sample_locations_enable != 0, sample_locations(call, &info.sample_locations_info)))
}

/// Returns the sample locations of the grid's only pixel.
pub fn sample_locations(call: Call<'_>, info: &vk::SampleLocationsInfoEXT<'_>) -> Option<SampleLocations> {
    let samples = info.sample_locations_per_pixel.as_raw();
    let locations = call.slice(info.p_sample_locations, info.sample_locations_count);
    let places: Vec<[f32; 2]> = locations.iter().take(samples as usize).map(|place| [place.x, place.y]).collect();
    SampleLocations::new(&places).filter(|_| places.len() == samples as usize)
}

/// Returns the fragment shading rate, from a chain.
fn rate_state(call: Call<'_>, next: *const c_void) -> RateState {
    let info: Option<&vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>> = call.find(next);
    info.map_or_else(RateState::default, |info| rate_of(info.fragment_size, info.combiner_ops))
}

/// Returns the state of a fragment shading rate and its combiners.
pub fn rate_of(size: vk::Extent2D, ops: [vk::FragmentShadingRateCombinerOpKHR; 2]) -> RateState {
    use vk::FragmentShadingRateCombinerOpKHR as Op;
    let combiner = |op| match op {
        Op::REPLACE => Combiner::Replace,
        Op::MIN => Combiner::Min,
        Op::MAX => Combiner::Max,
        Op::MUL => Combiner::Multiply,
        _ => Combiner::Keep,
    };
    RateState { size: Rate::of_size([size.width, size.height]), combiners: ops.map(combiner) }
}

fn depth_stencil_state(state: &vk::PipelineDepthStencilStateCreateInfo<'_>) -> DepthStencilState {
    DepthStencilState {
        depth_test: state.depth_test_enable != 0,
        depth_write: state.depth_write_enable != 0,
        depth_compare: state.depth_compare_op,
        depth_bounds_test: state.depth_bounds_test_enable != 0,
        depth_bounds: [state.min_depth_bounds, state.max_depth_bounds],
        stencil_test: state.stencil_test_enable != 0,
        front: stencil_state(&state.front),
        back: stencil_state(&state.back),
    }
}

fn stencil_state(state: &vk::StencilOpState) -> StencilState {
    StencilState {
        fail: state.fail_op,
        pass: state.pass_op,
        depth_fail: state.depth_fail_op,
        compare: state.compare_op,
        compare_mask: state.compare_mask,
        write_mask: state.write_mask,
        reference: state.reference,
    }
}

fn blend_states(call: Call<'_>, state: &vk::PipelineColorBlendStateCreateInfo<'_>) -> Vec<BlendState> {
    let parameters: Option<&vk::PipelineColorBlendAdvancedStateCreateInfoEXT<'_>> = call.find(state.p_next);
    let advanced = parameters.map_or_else(AdvancedBlend::default, |parameters| AdvancedBlend {
        src_premultiplied: parameters.src_premultiplied != 0,
        dst_premultiplied: parameters.dst_premultiplied != 0,
        overlap: parameters.blend_overlap,
        clamps: false,
    });
    let blend = |entry: &vk::PipelineColorBlendAttachmentState| BlendState {
        enable: entry.blend_enable != 0,
        src_color: entry.src_color_blend_factor,
        dst_color: entry.dst_color_blend_factor,
        color_op: entry.color_blend_op,
        src_alpha: entry.src_alpha_blend_factor,
        dst_alpha: entry.dst_alpha_blend_factor,
        alpha_op: entry.alpha_blend_op,
        advanced,
        write_mask: entry.color_write_mask,
    };
    call.slice(state.p_attachments, state.attachment_count).iter().map(blend).collect()
}

/// Returns, for each colour attachment, true if colour writes are enabled.
fn color_writes(call: Call<'_>, state: &vk::PipelineColorBlendStateCreateInfo<'_>) -> Vec<bool> {
    let info: Option<&vk::PipelineColorWriteCreateInfoEXT<'_>> = call.find(state.p_next);
    let writes = info.map_or(&[][..], |info| call.slice(info.p_color_write_enables, info.attachment_count));
    writes.iter().map(|&writes| writes != 0).collect()
}
