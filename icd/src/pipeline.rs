//! Shader modules, pipelines and pipeline caches. Source: Vulkan specification, "Shaders", "Pipelines".

pub mod graphics;

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use ash::vk::{self, Handle};
use vitric_api::physical::SUBGROUP_SIZE;
use vitric_api::pipeline::{Identifier, PipelineCache, ShaderModule, StageDesc, identify};
use vitric_api::{Error, Result};
use vitric_exec::Program;
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_gpu::raster::{Combiner, Criterion, Rate, RateState, SampleLocations};
use vitric_gpu::state::MAX_VIEWPORTS;
use vitric_gpu::state::{
    BlendState, ComputePipeline, DepthBias, DepthBiasUnit, DepthLimits, DepthStencilState, DynamicState, LineMode,
    LineStipple, MultisampleState, RasterState, StencilState, VertexAttribute, VertexBinding,
};
use vitric_spirv::Specialization;

use crate::objects::{DeviceObject, Pipeline, destroy as destroy_handle, device, need};
use crate::{check, raw};

pub extern "system" fn create_module(
    handle: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::ShaderModule,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        Ok(object.shaders.insert(ShaderModule::new(object.messages(), words(info))?))
    })
}

pub extern "system" fn destroy_module(
    handle: vk::Device,
    module: vk::ShaderModule,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy_handle(handle, |object| &object.shaders, module);
}

/// Tells an identifier.
fn put_identifier(identifier: Identifier, out: *mut vk::ShaderModuleIdentifierEXT<'_>) {
    let Some(out) = raw::output(out) else { return };
    out.identifier_size = identifier.len() as u32;
    out.identifier[..identifier.len()].copy_from_slice(&identifier);
}

pub extern "system" fn module_identifier(
    handle: vk::Device,
    module: vk::ShaderModule,
    out: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    raw::guard_void(|| {
        if let Ok(module) = device(handle).and_then(|object| need(object, &object.shaders, module)) {
            put_identifier(module.identifier(), out);
        }
    });
}

pub extern "system" fn module_info_identifier(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    out: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    raw::guard_void(|| {
        if let Some(info) = raw::input(info) {
            put_identifier(identify(words(info)), out);
        }
    });
}

pub extern "system" fn create_cache(
    handle: vk::Device,
    info: *const vk::PipelineCacheCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::PipelineCache,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let data = raw::bytes(info.p_initial_data, info.initial_data_size);
        Ok(object.caches.insert(Arc::new(PipelineCache::new(data))))
    })
}

pub extern "system" fn destroy_cache(
    handle: vk::Device,
    cache: vk::PipelineCache,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy_handle(handle, |object| &object.caches, cache);
}

pub extern "system" fn get_cache_data(
    handle: vk::Device,
    cache: vk::PipelineCache,
    size: *mut usize,
    out: *mut c_void,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let cache = need(object, &object.caches, cache)?;
        let size = raw::output(size).ok_or(Error::Unknown)?;
        if out.is_null() {
            *size = cache.size();
            return Ok(vk::Result::SUCCESS);
        }
        let (data, complete) = cache.data(*size);
        *size = data.len();
        raw::slice_mut(out.cast::<u8>(), data.len()).copy_from_slice(&data);
        Ok(if complete { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE })
    })
}

pub extern "system" fn merge_caches(
    handle: vk::Device,
    target: vk::PipelineCache,
    count: u32,
    sources: *const vk::PipelineCache,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let target = need(object, &object.caches, target)?;
        for &source in check::array(object, "pSrcCaches", sources, count)? {
            target.merge(&*need(object, &object.caches, source)?);
        }
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn destroy(handle: vk::Device, pipeline: vk::Pipeline, _: *const vk::AllocationCallbacks<'_>) {
    destroy_handle(handle, |object| &object.pipelines, pipeline);
}

fn stage_desc(
    object: &DeviceObject,
    info: &vk::PipelineShaderStageCreateInfo<'_>,
    views_are_devices: bool,
) -> Result<StageDesc> {
    check_subgroup_size(object, info)?;
    let of_module = |module: Arc<ShaderModule>| (module.identifier(), Some(module));
    let (identifier, module) = if !info.module.is_null() {
        of_module(need(object, &object.shaders, info.module)?)
    } else if let Some(code) = raw::find::<vk::ShaderModuleCreateInfo<'_>>(info.p_next) {
        of_module(ShaderModule::new(object.messages(), words(code))?)
    } else {
        (named_module(info).ok_or(Error::Unknown)?, None)
    };
    Ok(StageDesc {
        stage: info.stage,
        identifier,
        module,
        entry: raw::string(info.p_name),
        specialization: specialization(raw::input(info.p_specialization_info)),
        views_are_devices,
    })
}

/// Subgroups have one size: another one cannot be required.
fn check_subgroup_size(object: &DeviceObject, info: &vk::PipelineShaderStageCreateInfo<'_>) -> Result<()> {
    match raw::find::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'_>>(info.p_next) {
        Some(size) if size.required_subgroup_size != SUBGROUP_SIZE => {
            let size = size.required_subgroup_size;
            object.messages().error(&format!("subgroups have {SUBGROUP_SIZE} invocations, not {size}"));
            Err(Error::Unknown)
        }
        _ => Ok(()),
    }
}

/// What identifies the module of a stage that has none.
fn named_module(info: &vk::PipelineShaderStageCreateInfo<'_>) -> Option<Identifier> {
    let named: &vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_> = raw::find(info.p_next)?;
    let bytes = raw::slice(named.p_identifier, named.identifier_size);
    // No module has another size of identifier: such a stage is never found.
    Some(bytes.try_into().unwrap_or_default())
}

/// The words of a module.
fn words<'a>(info: &'a vk::ShaderModuleCreateInfo<'_>) -> &'a [u32] {
    raw::slice(info.p_code, (info.code_size / 4) as u32)
}

/// What one pipeline is made with.
pub struct Maker<'a> {
    object: &'a DeviceObject,
    cache: Option<Arc<PipelineCache>>,
    /// Its stages, which need not all be good: what is not needed may be anything.
    stages: Vec<(vk::ShaderStageFlags, Result<StageDesc>)>,
    /// Why its description is refused, if it is.
    refused: Option<Error>,
}

impl Maker<'_> {
    /// The program of a stage, if there is one.
    fn program(&self, stage: vk::ShaderStageFlags) -> Result<Option<Arc<Program>>> {
        let Some((_, desc)) = self.stages.iter().find(|(of, _)| *of == stage) else { return Ok(None) };
        let desc = desc.as_ref().map_err(|error| *error)?;
        self.object.programs.get(self.object.messages(), desc, self.cache.as_deref()).map(Some)
    }

    /// Whether there is a program of a stage.
    fn has(&self, stage: vk::ShaderStageFlags) -> bool {
        self.stages.iter().any(|(of, _)| *of == stage)
    }

    /// Stages that are good.
    fn good(&self) -> impl Iterator<Item = &StageDesc> {
        self.stages.iter().filter_map(|(_, desc)| desc.as_ref().ok())
    }

    /// Makes a pipeline, and tells the application what it has asked for about that.
    fn one<I: PipelineInfo>(&self, info: &I, make: impl Fn(&Self, &I) -> Result<Pipeline>) -> Result<Pipeline> {
        self.refused.map_or(Ok(()), Err)?;
        let start = Instant::now();
        tell(info, vk::PipelineCreationFeedback::default());
        let cache = self.cache.as_deref();
        if only_found(info) && !self.good().all(|desc| self.object.programs.has(desc, cache)) {
            return Err(Error::CompileRequired);
        }
        let was_cached = cache.is_some_and(|cache| self.good().all(|desc| cache.has(desc)));
        let made = make(self, info)?;
        let mut flags = vk::PipelineCreationFeedbackFlags::VALID;
        if was_cached {
            flags |= vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        }
        tell(info, vk::PipelineCreationFeedback { flags, duration: start.elapsed().as_nanos() as u64 });
        Ok(made)
    }
}

/// Tells what an application asks about the making of a pipeline; nothing of its stages, which are not told apart.
fn tell(info: &impl PipelineInfo, feedback: vk::PipelineCreationFeedback) {
    let Some(asked) = raw::find::<vk::PipelineCreationFeedbackCreateInfo<'_>>(info.next()) else { return };
    if let Some(whole) = raw::output(asked.p_pipeline_creation_feedback) {
        *whole = feedback;
    }
    let count = asked.pipeline_stage_creation_feedback_count as usize;
    raw::slice_mut(asked.p_pipeline_stage_creation_feedbacks, count).fill(vk::PipelineCreationFeedback::default());
}

fn specialization(info: Option<&vk::SpecializationInfo<'_>>) -> Specialization {
    let Some(info) = info else { return Vec::new() };
    let data = raw::bytes(info.p_data, info.data_size);
    let value = |entry: &vk::SpecializationMapEntry| {
        let bytes = data.get(entry.offset as usize..)?;
        let mut word = [0; 8];
        let count = entry.size.min(8).min(bytes.len());
        word[..count].copy_from_slice(&bytes[..count]);
        Some((entry.constant_id, u64::from_le_bytes(word)))
    };
    raw::slice(info.p_map_entries, info.map_entry_count).iter().filter_map(value).collect()
}

/// What both kinds of pipelines are described by.
trait PipelineInfo {
    /// The stages that count.
    fn stages(&self) -> Vec<&vk::PipelineShaderStageCreateInfo<'_>>;
    fn own_flags(&self) -> vk::PipelineCreateFlags;
    fn next(&self) -> *const c_void;
    /// Checks all values that count.
    fn check(&self, object: &DeviceObject) -> Result<()>;

    /// Whether any of some flags is set, in the longer flags where there are such.
    fn has(&self, wanted: vk::PipelineCreateFlags) -> bool {
        let long: Option<&vk::PipelineCreateFlags2CreateInfoKHR<'_>> = raw::find(self.next());
        let flags = long.map_or(u64::from(self.own_flags().as_raw()), |long| long.flags.as_raw());
        flags & u64::from(wanted.as_raw()) != 0
    }
}

impl PipelineInfo for vk::ComputePipelineCreateInfo<'_> {
    fn check(&self, object: &DeviceObject) -> Result<()> {
        check::pipelines::compute(object, self)
    }

    fn stages(&self) -> Vec<&vk::PipelineShaderStageCreateInfo<'_>> {
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
    fn check(&self, object: &DeviceObject) -> Result<()> {
        check::pipelines::graphics(object, self, graphics::own_parts(self))
    }

    fn stages(&self) -> Vec<&vk::PipelineShaderStageCreateInfo<'_>> {
        use vk::GraphicsPipelineLibraryFlagsEXT as Subsets;
        let own = graphics::own_parts(self);
        if !own.intersects(Subsets::PRE_RASTERIZATION_SHADERS | Subsets::FRAGMENT_SHADER) {
            return Vec::new();
        }
        let counts = |stage: &&vk::PipelineShaderStageCreateInfo<'_>| match stage.stage {
            vk::ShaderStageFlags::FRAGMENT => own.contains(Subsets::FRAGMENT_SHADER),
            _ => own.contains(Subsets::PRE_RASTERIZATION_SHADERS),
        };
        raw::slice(self.p_stages, self.stage_count).iter().filter(counts).collect()
    }

    fn own_flags(&self) -> vk::PipelineCreateFlags {
        self.flags
    }

    fn next(&self) -> *const c_void {
        self.p_next
    }
}

/// Whether a pipeline must not be made when a program of it would have to be compiled.
fn only_found(info: &impl PipelineInfo) -> bool {
    info.has(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
}

/// Creates pipelines; those that fail are null, and the first failure is returned. Their programs are compiled in parallel.
fn create_all<I: PipelineInfo>(
    (handle, cache): (vk::Device, vk::PipelineCache),
    (infos, count): (*const I, u32),
    out: *mut vk::Pipeline,
    make: impl Fn(&Maker<'_>, &I) -> Result<Pipeline>,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let infos = check::array(object, "pCreateInfos", infos, count)?;
        let out = check::output(object, "pPipelines", out, count)?;
        out.fill(vk::Pipeline::null());
        let cache = object.caches.get(cache.as_raw());
        let maker = |info: &I| {
            // A refused pipeline has no stage to compile.
            if let Err(error) = info.check(object) {
                return Maker { object, cache: None, stages: Vec::new(), refused: Some(error) };
            }
            let of_device = info.has(vk::PipelineCreateFlags::VIEW_INDEX_FROM_DEVICE_INDEX);
            let desc =
                |stage: &vk::PipelineShaderStageCreateInfo<'_>| (stage.stage, stage_desc(object, stage, of_device));
            let stages = info.stages().into_iter().map(desc).collect();
            Maker { object, cache: cache.clone(), stages, refused: None }
        };
        let makers: Vec<Maker<'_>> = infos.iter().map(maker).collect();
        let compiled = makers.iter().zip(infos).filter(|(_, info)| !only_found(*info));
        let compiled: Vec<StageDesc> = compiled.flat_map(|(maker, _)| maker.good().cloned()).collect();
        let _kept = object.programs.prepare(&compiled, cache.as_deref());
        let mut failure = None;
        for (slot, (maker, info)) in out.iter_mut().zip(makers.iter().zip(infos)) {
            match raw::room_for(0).and_then(|()| maker.one(info, &make)) {
                Ok(pipeline) => *slot = vk::Handle::from_raw(object.pipelines.insert(pipeline)),
                Err(error) => failure = failure.or(Some(error)),
            }
            if failure.is_some() && info.has(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE) {
                break;
            }
        }
        failure.map_or(Ok(vk::Result::SUCCESS), Err)
    })
}

pub extern "system" fn create_compute(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    create_all((handle, cache), (infos, count), out, |maker, _: &vk::ComputePipelineCreateInfo<'_>| {
        let program = maker.program(vk::ShaderStageFlags::COMPUTE)?.ok_or(Error::Unknown)?;
        Ok(Pipeline::Compute(Arc::new(ComputePipeline { program })))
    })
}

pub extern "system" fn create_graphics(
    handle: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Pipeline,
) -> vk::Result {
    create_all((handle, cache), (infos, count), out, graphics::make)
}

/// As many viewports or scissors as there are to be. Where their values are dynamic, the pointer may be anything.
fn counted<T: Copy + Default>(values: *const T, count: u32, is_dynamic: bool) -> Vec<T> {
    let count = count.min(MAX_VIEWPORTS as u32);
    let mut all = if is_dynamic { Vec::new() } else { raw::slice(values, count).to_vec() };
    all.resize(count as usize, T::default());
    all
}

/// Formats of the colour attachments, of the render pass or, without one, of what says what is rendered to.
fn color_formats(maker: &Maker<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Vec<Option<&'static FormatInfo>> {
    if let Some(pass) = maker.object.passes.get(info.render_pass.as_raw()) {
        return pass.color_formats(info.subpass);
    }
    let rendering: Option<&vk::PipelineRenderingCreateInfo<'_>> = raw::find(info.p_next);
    let formats = rendering.map_or(&[][..], |rendering| {
        raw::slice(rendering.p_color_attachment_formats, rendering.color_attachment_count)
    });
    formats.iter().map(|&format| format::info(format)).collect()
}

fn bindings(state: &vk::PipelineVertexInputStateCreateInfo<'_>) -> Vec<VertexBinding> {
    let all = raw::slice(state.p_vertex_binding_descriptions, state.vertex_binding_description_count);
    let info: Option<&vk::PipelineVertexInputDivisorStateCreateInfoKHR<'_>> = raw::find(state.p_next);
    let divisors = info.map(|info| raw::slice(info.p_vertex_binding_divisors, info.vertex_binding_divisor_count));
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

fn attributes(state: &vk::PipelineVertexInputStateCreateInfo<'_>) -> Vec<VertexAttribute> {
    let all = raw::slice(state.p_vertex_attribute_descriptions, state.vertex_attribute_description_count);
    let attribute = |entry: &vk::VertexInputAttributeDescription| VertexAttribute {
        location: entry.location,
        binding: entry.binding,
        format: entry.format,
        offset: entry.offset,
    };
    all.iter().map(attribute).collect()
}

/// How filled polygons cover pixels, where it is not by samples.
fn conservative(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> Option<Criterion> {
    let info: &vk::PipelineRasterizationConservativeStateCreateInfoEXT<'_> = raw::find(state.p_next)?;
    criterion(info.conservative_rasterization_mode)
}

/// The criterion of a mode.
pub fn criterion(mode: vk::ConservativeRasterizationModeEXT) -> Option<Criterion> {
    use vk::ConservativeRasterizationModeEXT as Mode;
    match mode {
        Mode::OVERESTIMATE => Some(Criterion::Conservative),
        Mode::UNDERESTIMATE => Some(Criterion::Interior),
        _ => None,
    }
}

/// How lines cover pixels, and their stipple.
fn lines(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> (LineMode, Option<LineStipple>) {
    let info: Option<&vk::PipelineRasterizationLineStateCreateInfoKHR<'_>> = raw::find(state.p_next);
    let Some(info) = info else { return (LineMode::Rectangular, None) };
    (line_mode(info.line_rasterization_mode), (info.stippled_line_enable != 0).then(|| stipple(state)))
}

/// How lines cover pixels.
pub fn line_mode(mode: vk::LineRasterizationModeKHR) -> LineMode {
    use vk::LineRasterizationModeKHR as Mode;
    match mode {
        Mode::BRESENHAM => LineMode::Bresenham,
        Mode::RECTANGULAR_SMOOTH => LineMode::Smooth,
        // Lines are strict: that is the default, too.
        _ => LineMode::Rectangular,
    }
}

/// The stipple of lines, also where it is not enabled.
fn stipple(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> LineStipple {
    let info: Option<&vk::PipelineRasterizationLineStateCreateInfoKHR<'_>> = raw::find(state.p_next);
    info.map_or_else(LineStipple::default, |info| LineStipple {
        factor: info.line_stipple_factor,
        pattern: info.line_stipple_pattern,
    })
}

/// Whether depth is clipped: unless it is clamped, when nothing is said.
fn depth_clip(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'_>> = raw::find(state.p_next);
    info.map_or(state.depth_clamp_enable == 0, |info| info.depth_clip_enable != 0)
}

/// Whether depth goes from -1 on.
fn negative_one_to_one(state: &vk::PipelineViewportStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineViewportDepthClipControlCreateInfoEXT<'_>> = raw::find(state.p_next);
    info.is_some_and(|info| info.negative_one_to_one != 0)
}

fn provoking_last(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> bool {
    let info: Option<&vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_>> = raw::find(state.p_next);
    info.is_some_and(|info| info.provoking_vertex_mode == vk::ProvokingVertexModeEXT::LAST_VERTEX)
}

/// What depth bias is counted in, by a chain.
pub fn depth_bias_unit(next: *const c_void) -> DepthBiasUnit {
    use vk::DepthBiasRepresentationEXT as R;
    let info: Option<&vk::DepthBiasRepresentationInfoEXT<'_>> = raw::find(next);
    // All units are exact.
    match info.map(|info| info.depth_bias_representation) {
        Some(R::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM) => DepthBiasUnit::Constant,
        Some(R::FLOAT) => DepthBiasUnit::One,
        _ => DepthBiasUnit::Resolvable,
    }
}

/// The stream of vertices that is rasterized.
fn stream(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> u32 {
    let info: Option<&vk::PipelineRasterizationStateStreamCreateInfoEXT<'_>> = raw::find(state.p_next);
    info.map_or(0, |info| info.rasterization_stream)
}

fn raster(state: &vk::PipelineRasterizationStateCreateInfo<'_>) -> RasterState {
    let (line_mode, line_stipple) = lines(state);
    RasterState {
        conservative: conservative(state),
        stream: stream(state),
        depth_clip: depth_clip(state),
        depth_limits: DepthLimits::Viewport,
        negative_one_to_one: false,
        provoking_last: provoking_last(state),
        discard: state.rasterizer_discard_enable != 0,
        polygon_mode: state.polygon_mode,
        cull_mode: state.cull_mode,
        front_face: state.front_face,
        depth_bias_enable: state.depth_bias_enable != 0,
        depth_bias: DepthBias {
            constant: state.depth_bias_constant_factor,
            clamp: state.depth_bias_clamp,
            slope: state.depth_bias_slope_factor,
            unit: depth_bias_unit(state.p_next),
        },
        line_width: state.line_width,
        line_mode,
        line_stipple,
    }
}

fn multisample_state(state: Option<&vk::PipelineMultisampleStateCreateInfo<'_>>) -> MultisampleState {
    let samples = state.map_or(1, |state| state.rasterization_samples.as_raw());
    let flag = |value: fn(&vk::PipelineMultisampleStateCreateInfo<'_>) -> vk::Bool32| {
        state.is_some_and(|state| value(state) != 0)
    };
    MultisampleState {
        samples,
        min_sample_shading: state
            .filter(|state| state.sample_shading_enable != 0)
            .map(|state| state.min_sample_shading),
        sample_mask: state.and_then(|state| raw::input(state.p_sample_mask)).copied().unwrap_or(u32::MAX),
        alpha_to_coverage: flag(|state| state.alpha_to_coverage_enable),
        alpha_to_one: flag(|state| state.alpha_to_one_enable),
        custom: state.and_then(|state| custom_locations(state).and_then(|(is_on, custom)| custom.filter(|_| is_on))),
    }
}

/// Whether custom sample locations are enabled, and what they are.
fn custom_locations(state: &vk::PipelineMultisampleStateCreateInfo<'_>) -> Option<(bool, Option<SampleLocations>)> {
    let info: &vk::PipelineSampleLocationsStateCreateInfoEXT<'_> = raw::find(state.p_next)?;
    Some((info.sample_locations_enable != 0, sample_locations(&info.sample_locations_info)))
}

/// Sample locations of a pixel: the grid has one.
pub fn sample_locations(info: &vk::SampleLocationsInfoEXT<'_>) -> Option<SampleLocations> {
    let samples = info.sample_locations_per_pixel.as_raw();
    let locations = raw::slice(info.p_sample_locations, info.sample_locations_count);
    let places: Vec<[f32; 2]> = locations.iter().take(samples as usize).map(|place| [place.x, place.y]).collect();
    SampleLocations::new(&places).filter(|_| places.len() == samples as usize)
}

/// Sizes of fragments, by a chain.
fn rate_state(next: *const c_void) -> RateState {
    let info: Option<&vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>> = raw::find(next);
    info.map_or_else(RateState::default, |info| rate_of(info.fragment_size, info.combiner_ops))
}

/// A size of fragments, and how it is combined with others.
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

fn blend_states(state: &vk::PipelineColorBlendStateCreateInfo<'_>) -> Vec<BlendState> {
    let blend = |entry: &vk::PipelineColorBlendAttachmentState| BlendState {
        enable: entry.blend_enable != 0,
        src_color: entry.src_color_blend_factor,
        dst_color: entry.dst_color_blend_factor,
        color_op: entry.color_blend_op,
        src_alpha: entry.src_alpha_blend_factor,
        dst_alpha: entry.dst_alpha_blend_factor,
        alpha_op: entry.alpha_blend_op,
        write_mask: entry.color_write_mask,
    };
    raw::slice(state.p_attachments, state.attachment_count).iter().map(blend).collect()
}

/// Whether colour attachments are written at all.
fn color_writes(state: &vk::PipelineColorBlendStateCreateInfo<'_>) -> Vec<bool> {
    let info: Option<&vk::PipelineColorWriteCreateInfoEXT<'_>> = raw::find(state.p_next);
    let writes = info.map_or(&[][..], |info| raw::slice(info.p_color_write_enables, info.attachment_count));
    writes.iter().map(|&writes| writes != 0).collect()
}

/// Dynamic states of Vulkan, and what they are here.
pub const DYNAMIC_STATES: &[(vk::DynamicState, DynamicState)] = {
    use vk::DynamicState as D;
    &[
        (D::VIEWPORT, DynamicState::VIEWPORT),
        (D::SCISSOR, DynamicState::SCISSOR),
        (D::LINE_WIDTH, DynamicState::LINE_WIDTH),
        (D::DEPTH_BIAS, DynamicState::DEPTH_BIAS),
        (D::BLEND_CONSTANTS, DynamicState::BLEND_CONSTANTS),
        (D::DEPTH_BOUNDS, DynamicState::DEPTH_BOUNDS),
        (D::STENCIL_COMPARE_MASK, DynamicState::STENCIL_COMPARE_MASK),
        (D::STENCIL_WRITE_MASK, DynamicState::STENCIL_WRITE_MASK),
        (D::STENCIL_REFERENCE, DynamicState::STENCIL_REFERENCE),
        (D::CULL_MODE, DynamicState::CULL_MODE),
        (D::FRONT_FACE, DynamicState::FRONT_FACE),
        (D::PRIMITIVE_TOPOLOGY, DynamicState::TOPOLOGY),
        (D::VIEWPORT_WITH_COUNT, DynamicState::VIEWPORT.union(DynamicState::VIEWPORT_COUNT)),
        (D::SCISSOR_WITH_COUNT, DynamicState::SCISSOR),
        (D::VERTEX_INPUT_BINDING_STRIDE, DynamicState::STRIDES),
        (D::DEPTH_TEST_ENABLE, DynamicState::DEPTH_TEST),
        (D::DEPTH_WRITE_ENABLE, DynamicState::DEPTH_WRITE),
        (D::DEPTH_COMPARE_OP, DynamicState::DEPTH_COMPARE),
        (D::DEPTH_BOUNDS_TEST_ENABLE, DynamicState::DEPTH_BOUNDS_TEST),
        (D::STENCIL_TEST_ENABLE, DynamicState::STENCIL_TEST),
        (D::STENCIL_OP, DynamicState::STENCIL_OP),
        (D::RASTERIZER_DISCARD_ENABLE, DynamicState::DISCARD),
        (D::DEPTH_BIAS_ENABLE, DynamicState::DEPTH_BIAS_ENABLE),
        (D::PRIMITIVE_RESTART_ENABLE, DynamicState::RESTART),
        (D::LOGIC_OP_EXT, DynamicState::LOGIC_OP),
        (D::LINE_STIPPLE_KHR, DynamicState::LINE_STIPPLE),
        (D::FRAGMENT_SHADING_RATE_KHR, DynamicState::FRAGMENT_RATE),
        (D::VERTEX_INPUT_EXT, DynamicState::VERTEX_INPUT),
        (D::POLYGON_MODE_EXT, DynamicState::POLYGON_MODE),
        (D::RASTERIZATION_SAMPLES_EXT, DynamicState::SAMPLES),
        (D::SAMPLE_MASK_EXT, DynamicState::SAMPLE_MASK),
        (D::ALPHA_TO_COVERAGE_ENABLE_EXT, DynamicState::ALPHA_TO_COVERAGE),
        (D::ALPHA_TO_ONE_ENABLE_EXT, DynamicState::ALPHA_TO_ONE),
        (D::LOGIC_OP_ENABLE_EXT, DynamicState::LOGIC_OP_ENABLE),
        (D::DEPTH_CLAMP_ENABLE_EXT, DynamicState::DEPTH_CLAMP),
        (D::DEPTH_CLIP_ENABLE_EXT, DynamicState::DEPTH_CLIP),
        (D::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT, DynamicState::NEGATIVE_ONE_TO_ONE),
        (D::PROVOKING_VERTEX_MODE_EXT, DynamicState::PROVOKING),
        (D::LINE_RASTERIZATION_MODE_EXT, DynamicState::LINE_MODE),
        (D::LINE_STIPPLE_ENABLE_EXT, DynamicState::LINE_STIPPLE_ENABLE),
        (D::CONSERVATIVE_RASTERIZATION_MODE_EXT, DynamicState::CONSERVATIVE),
        (D::COLOR_BLEND_ENABLE_EXT, DynamicState::BLEND_ENABLE),
        (D::COLOR_BLEND_EQUATION_EXT, DynamicState::BLEND_EQUATION),
        (D::COLOR_WRITE_MASK_EXT, DynamicState::WRITE_MASK),
        (D::COLOR_WRITE_ENABLE_EXT, DynamicState::COLOR_WRITE),
        (D::SAMPLE_LOCATIONS_EXT, DynamicState::SAMPLE_LOCATIONS),
        (D::SAMPLE_LOCATIONS_ENABLE_EXT, DynamicState::SAMPLE_LOCATIONS_ENABLE),
        (D::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT, DynamicState::FEEDBACK_LOOP),
        (D::PATCH_CONTROL_POINTS_EXT, DynamicState::PATCH_VERTICES),
        (D::TESSELLATION_DOMAIN_ORIGIN_EXT, DynamicState::DOMAIN_ORIGIN),
        (D::RASTERIZATION_STREAM_EXT, DynamicState::STREAM),
    ]
};

/// State of a pipeline that commands set.
pub fn dynamic_state(state: &vk::PipelineDynamicStateCreateInfo<'_>) -> DynamicState {
    let named = raw::slice(state.p_dynamic_states, state.dynamic_state_count);
    let flags = named.iter().filter_map(|name| DYNAMIC_STATES.iter().find(|(known, _)| known == name));
    flags.fold(DynamicState::empty(), |all, (_, flag)| all | *flag)
}
