//! Pipelines that are created from binaries instead of shader modules. Source:
//! `VK_KHR_pipeline_binary`.

use std::ffi::c_void;

use ash::{khr, vk};
use vitric_vulkan::names::KHR_PIPELINE_BINARY_NAME;
use vitric_vulkan::sys::Handle as _;
use vitric_vulkan::{Newer, PhysicalDevicePipelineBinaryPropertiesKHR, Vocabulary, sys};

use crate::cases::support::fills::Fills;
use crate::cases::support::pipelines::{PipelineDesc, RGBA, pipeline_of, whole};
use crate::harness::{Case, Gpu, ImageDesc, Outcome, STORAGE, Transition, check};
use crate::render::SIZE;

const SECTION: &str = "Pipeline Binaries";

/// Flag of pipelines whose binaries are captured.
const CAPTURE: u64 = 1 << 31;

type Own<P> = <P as Vocabulary>::Own;
type Create = Own<sys::PFN_vkCreatePipelineBinariesKHR>;
type GetData = Own<sys::PFN_vkGetPipelineBinaryDataKHR>;
type GetKey = Own<sys::PFN_vkGetPipelineKeyKHR>;

/// A key: its used bytes.
type Key = Vec<u8>;

/// Commands of the extension on a device.
struct Binaries<'g> {
    gpu: &'g Gpu,
    create: Create,
    get_data: GetData,
    get_key: GetKey,
}

/// Sources of binaries.
#[derive(Clone, Copy)]
enum From<'a> {
    Pipeline(vk::Pipeline),
    Saved(&'a [(Key, Vec<u8>)]),
    /// Create info of a pipeline.
    Info(*const c_void),
}

/// Result of a call that creates binaries.
struct Created {
    code: vk::Result,
    count: u32,
    handles: Vec<sys::PipelineBinaryKHR>,
}

impl<'g> Binaries<'g> {
    fn new(gpu: &'g Gpu) -> Result<Self, Outcome> {
        gpu.need(KHR_PIPELINE_BINARY_NAME)?;
        Ok(Self {
            gpu,
            create: gpu.command::<sys::PFN_vkCreatePipelineBinariesKHR>(c"vkCreatePipelineBinariesKHR")?,
            get_data: gpu.command::<sys::PFN_vkGetPipelineBinaryDataKHR>(c"vkGetPipelineBinaryDataKHR")?,
            get_key: gpu.command::<sys::PFN_vkGetPipelineKeyKHR>(c"vkGetPipelineKeyKHR")?,
        })
    }

    /// Creates binaries with room for `room` of them. Without a number, the call asks for the
    /// count.
    fn create(&self, from: From<'_>, room: Option<usize>) -> Created {
        let saved = if let From::Saved(saved) = from { saved } else { &[] };
        let keys: Vec<_> = saved.iter().map(|(key, _)| raw_key(key)).collect();
        let data: Vec<_> = saved
            .iter()
            .map(|(_, data)| sys::PipelineBinaryDataKHR {
                data_size: data.len(),
                data: data.as_ptr().cast_mut().cast(),
            })
            .collect();
        let saved = sys::PipelineBinaryKeysAndDataKHR {
            binary_count: keys.len() as u32,
            pipeline_binary_keys: keys.as_ptr(),
            pipeline_binary_data: data.as_ptr(),
        };
        let mut described = sys::PipelineCreateInfoKHR::default();
        let mut info = sys::PipelineBinaryCreateInfoKHR::default();
        match from {
            From::Pipeline(pipeline) => info.pipeline = sys::Pipeline::from_raw(vk::Handle::as_raw(pipeline)),
            From::Saved(_) => info.keys_and_data_info = &raw const saved,
            From::Info(next) => {
                described.next = next.cast_mut();
                info.pipeline_create_info = &raw const described;
            }
        }
        let mut handles = vec![sys::PipelineBinaryKHR::default(); room.unwrap_or(0)];
        let mut out = Newer(sys::PipelineBinaryHandlesInfoKHR {
            pipeline_binary_count: handles.len() as u32,
            pipeline_binaries: if room.is_some() { handles.as_mut_ptr() } else { std::ptr::null_mut() },
            ..Default::default()
        });
        let info = Newer(info);
        // SAFETY: the structures are valid, and as many handles are written as there is room for.
        let code = unsafe { (self.create)(self.gpu.device.handle(), &raw const info, std::ptr::null(), &raw mut out) };
        Created { code, count: out.pipeline_binary_count, handles }
    }

    /// Creates all binaries.
    fn all(&self, from: From<'_>) -> Result<Vec<sys::PipelineBinaryKHR>, Outcome> {
        let Created { code, count, .. } = self.create(from, None);
        code.result()?;
        let Created { code, count: written, handles } = self.create(from, Some(count as usize));
        code.result()?;
        check(written == count, || format!("{written} of {count} binaries"))?;
        Ok(handles)
    }

    /// Returns the key and the data of a binary.
    fn data(&self, pipeline_binary: sys::PipelineBinaryKHR) -> Result<(Key, Vec<u8>), Outcome> {
        let info = Newer(sys::PipelineBinaryDataInfoKHR { pipeline_binary, ..Default::default() });
        let [mut first, mut key] = [Newer(sys::PipelineBinaryKeyKHR::default()); 2];
        let (mut size, device) = (0, self.gpu.device.handle());
        // SAFETY: the structures are valid, and the data have the size that they are said to have.
        unsafe {
            (self.get_data)(device, &raw const info, &raw mut first, &raw mut size, std::ptr::null_mut()).result()?;
            let mut data = vec![0u8; size];
            let (mut less, out) = (size - 1, data.as_mut_ptr().cast());
            let code = (self.get_data)(device, &raw const info, &raw mut key, &raw mut less, out);
            let expected = vk::Result::from_raw(sys::Result::ERROR_NOT_ENOUGH_SPACE_KHR.as_raw());
            check(code == expected && less == size, || format!("{code:?} and a size of {less} instead of {size}"))?;
            check(data.iter().all(|&byte| byte == 0), || "bytes are written though the room is too small".into())?;
            (self.get_data)(device, &raw const info, &raw mut key, &raw mut size, out).result()?;
            check(bytes(&key) == bytes(&first), || "the key changes".into())?;
            Ok((bytes(&key), data))
        }
    }

    /// Returns the data of all binaries of a pipeline.
    fn saved(&self, pipeline: vk::Pipeline) -> Result<Vec<(Key, Vec<u8>)>, Outcome> {
        self.all(From::Pipeline(pipeline))?.into_iter().map(|binary| self.data(binary)).collect()
    }

    /// Returns the key of a described pipeline, or the global key for a null pointer.
    fn key(&self, next: *const c_void) -> Result<Key, Outcome> {
        let described = Newer(sys::PipelineCreateInfoKHR { next: next.cast_mut(), ..Default::default() });
        let info = if next.is_null() { std::ptr::null() } else { &raw const described };
        let mut key = Newer(sys::PipelineBinaryKeyKHR::default());
        // SAFETY: the structures are valid.
        unsafe { (self.get_key)(self.gpu.device.handle(), info, &raw mut key) }.result()?;
        Ok(bytes(&key))
    }
}

fn raw_key(key: &[u8]) -> sys::PipelineBinaryKeyKHR {
    let mut raw = sys::PipelineBinaryKeyKHR { key_size: key.len() as u32, ..Default::default() };
    raw.key.0[..key.len()].copy_from_slice(key);
    raw
}

fn bytes(key: &sys::PipelineBinaryKeyKHR) -> Key {
    key.key.0[..key.key_size as usize].to_vec()
}

/// Returns the structure that names a pipeline's binaries.
fn named(handles: &[sys::PipelineBinaryKHR]) -> sys::PipelineBinaryInfoKHR {
    sys::PipelineBinaryInfoKHR {
        binary_count: handles.len() as u32,
        pipeline_binaries: handles.as_ptr(),
        ..Default::default()
    }
}

/// Draws a rectangle with the pipeline of a description, and returns the pixels.
fn picture(gpu: &Gpu, pipeline: vk::Pipeline, layout: vk::PipelineLayout) -> Result<Vec<u8>, Outcome> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc::color(RGBA, [SIZE; 2], usage))?;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let color = [vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&color);
    let [to_draw, to_read] = [vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL];
    gpu.run(|commands| {
        let image = &image;
        gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: to_draw }));
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_begin_rendering(commands, &info) };
        Fills { commands, pipeline, layout }.fill(gpu, [-0.5, -1.0, 0.75, 0.5], [1.0, 0.5, 0.25, 1.0], [0.5, 1.0, 0.0]);
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_end_rendering(commands) };
        gpu.barrier(commands, Some(Transition { image, from: to_draw, to: to_read }));
    })?;
    gpu.read_image(&image, vk::ImageAspectFlags::COLOR, 4)
}

case!("pipelines.binaries.graphics", SECTION, graphics);

/// Captures a pipeline, and creates one without modules on another device from the data. Both must
/// draw equal pictures.
fn graphics(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let layout = gpu.layout(&[])?;
    let flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(vk::PipelineCreateFlags2KHR::from_raw(CAPTURE));
    let desc = PipelineDesc { next: (&raw const flags).cast(), ..PipelineDesc::plain(layout) };
    let pipeline = pipeline_of(gpu, &desc)?;
    let expected = picture(gpu, pipeline, layout)?;
    let saved = binaries.saved(pipeline)?;
    let others = gpu.with_queues(&[(0, &[1.0])])?;
    for other in [gpu, &others[0]] {
        let restored = Binaries::new(other)?;
        check(restored.key(std::ptr::null())? == binaries.key(std::ptr::null())?, || "the global key differs".into())?;
        let handles = restored.all(From::Saved(&saved))?;
        let (layout, named) = (other.layout(&[])?, named(&handles));
        let next = (&raw const named).cast();
        let desc = PipelineDesc { shaders: [&[], &[]], next, ..PipelineDesc::plain(layout) };
        let pipeline = pipeline_of(other, &desc)?;
        // A pipeline does not need its binaries any more.
        let destroy = other.command::<sys::PFN_vkDestroyPipelineBinaryKHR>(c"vkDestroyPipelineBinaryKHR")?;
        for handle in handles {
            // SAFETY: the binary is not used afterwards.
            unsafe { destroy(other.device.handle(), Newer(handle), std::ptr::null()) };
        }
        let found = picture(other, pipeline, layout)?;
        check(found == expected, || "the picture differs".into())?;
    }
    Ok(())
}

/// A description of a compute pipeline with a value of specialization constant 0.
struct Described {
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
}

impl Described {
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        let (set, _) = gpu.set(&[STORAGE; 2])?;
        Ok(Self { layout: gpu.layout(&[set])?, module: gpu.module(shader!("unary.comp"))? })
    }

    /// Calls a function with the create info of a pipeline.
    fn with<R>(
        &self,
        module: Option<vk::ShaderModule>,
        constant: i32,
        next: *const c_void,
        use_info: impl FnOnce(&vk::ComputePipelineCreateInfo<'_>) -> R,
    ) -> R {
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let data = constant.to_le_bytes();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.unwrap_or_default())
            .name(c"main")
            .specialization_info(&specialization);
        use_info(&vk::ComputePipelineCreateInfo { p_next: next, ..Default::default() }.stage(stage).layout(self.layout))
    }

    /// Creates a pipeline that captures its data.
    fn captured(&self, gpu: &Gpu, constant: i32) -> Result<vk::Pipeline, Outcome> {
        let flags = vk::PipelineCreateFlags2KHR::from_raw(CAPTURE);
        let flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(flags);
        self.create(gpu, Some(self.module), constant, (&raw const flags).cast())
    }

    fn create(
        &self,
        gpu: &Gpu,
        module: Option<vk::ShaderModule>,
        constant: i32,
        next: *const c_void,
    ) -> Result<vk::Pipeline, Outcome> {
        self.with(module, constant, next, |info| {
            // SAFETY: the info is valid.
            let made = unsafe {
                gpu.device.create_compute_pipelines(vk::PipelineCache::null(), std::slice::from_ref(info), None)
            };
            Ok(made.map_err(|(_, code)| code)?[0])
        })
    }

    fn key(&self, binaries: &Binaries<'_>, constant: i32) -> Result<Key, Outcome> {
        self.with(Some(self.module), constant, std::ptr::null(), |info| binaries.key((&raw const *info).cast()))
    }
}

case!("pipelines.binaries.keys", SECTION, keys);

/// Checks that keys are equal exactly where pipelines are.
fn keys(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let (first, again) = (Described::new(gpu)?, Described::new(gpu)?);
    let key = first.key(&binaries, 1)?;
    check((1..=32).contains(&key.len()), || format!("a key of {} bytes", key.len()))?;
    check(key == again.key(&binaries, 1)?, || "keys of equal pipelines differ".into())?;
    check(key != first.key(&binaries, 2)?, || "keys of different constants are equal".into())?;
    let identifiers = ash::ext::shader_module_identifier::Device::new(&gpu.instance, &gpu.device);
    if gpu.has(vk::EXT_SHADER_MODULE_IDENTIFIER_NAME) {
        let mut identifier = vk::ShaderModuleIdentifierEXT::default();
        let get = identifiers.fp().get_shader_module_identifier_ext;
        // SAFETY: the module is alive.
        unsafe { get(gpu.device.handle(), first.module, &raw mut identifier) };
        let bytes = &identifier.identifier[..identifier.identifier_size as usize];
        let mut named = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(bytes);
        let by_name = first.with(None, 1, std::ptr::null(), |info| {
            let mut info = *info;
            info.stage = info.stage.push_next(&mut named);
            binaries.key((&raw const info).cast())
        })?;
        check(by_name == key, || "the key of a module's identifier differs".into())?;
    }
    let [one, two] = [first.captured(gpu, 1)?, first.captured(gpu, 2)?].map(|pipeline| binaries.saved(pipeline));
    let (one, two) = (one?, two?);
    check(!one.is_empty() && one == binaries.saved(again.captured(gpu, 1)?)?, || "equal binaries differ".into())?;
    check(one[0].0 != two[0].0 && one[0].1 != two[0].1, || "different binaries are equal".into())
}

case!("pipelines.binaries.counts", SECTION, counts);

/// Checks the codes and counts of calls with too little and with too much room.
fn counts(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let pipeline = Described::new(gpu)?.captured(gpu, 3)?;
    let from = From::Pipeline(pipeline);
    let Created { code, count, .. } = binaries.create(from, None);
    check(code == vk::Result::SUCCESS && count > 0, || format!("{code:?} and {count} binaries"))?;
    let Created { code, count: written, .. } = binaries.create(from, Some(count as usize - 1));
    check(code == vk::Result::INCOMPLETE && written == count - 1, || format!("{code:?} and {written} binaries"))?;
    let Created { code, count: written, handles } = binaries.create(from, Some(count as usize + 2));
    check(code == vk::Result::SUCCESS && written == count, || format!("{code:?} and {written} binaries"))?;
    let made = handles.iter().filter(|&&handle| handle != sys::PipelineBinaryKHR::default()).count();
    check(made == count as usize, || format!("{made} handles"))
}

case!("pipelines.binaries.release", SECTION, release);

/// Checks that binaries and pipelines work after the captured data are released.
fn release(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let described = Described::new(gpu)?;
    let pipeline = described.captured(gpu, 4)?;
    let handles = binaries.all(From::Pipeline(pipeline))?;
    let release = gpu.command::<sys::PFN_vkReleaseCapturedPipelineDataKHR>(c"vkReleaseCapturedPipelineDataKHR")?;
    let raw = sys::Pipeline::from_raw(vk::Handle::as_raw(pipeline));
    let info = Newer(sys::ReleaseCapturedPipelineDataInfoKHR { pipeline: raw, ..Default::default() });
    // SAFETY: the pipeline has captured data, and is not used afterwards.
    unsafe {
        release(gpu.device.handle(), &raw const info, std::ptr::null()).result()?;
        gpu.device.destroy_pipeline(pipeline, None);
    }
    let named = named(&handles);
    described.create(gpu, None, 4, (&raw const named).cast())?;
    binaries.data(handles[0]).map(drop)
}

case!("pipelines.binaries.internal_cache", SECTION, internal_cache);

/// Creates binaries from a description alone. The cache need not have them, but those that it has
/// must be the ones of a pipeline.
fn internal_cache(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let mut properties = PhysicalDevicePipelineBinaryPropertiesKHR::default();
    gpu.properties2(&mut properties);
    if properties.pipeline_binary_internal_cache == 0 {
        return Err(Outcome::NotSupported("pipelineBinaryInternalCache".into()));
    }
    let described = Described::new(gpu)?;
    let missing = vk::Result::from_raw(sys::Result::PIPELINE_BINARY_MISSING_KHR.as_raw());
    let probe = |constant| {
        described.with(Some(described.module), constant, std::ptr::null(), |info| {
            binaries.create(From::Info((&raw const *info).cast()), Some(1))
        })
    };
    let Created { code, handles, .. } = probe(5);
    check(code == missing && handles[0] == sys::PipelineBinaryKHR::default(), || format!("{code:?} before creation"))?;
    let pipeline = described.captured(gpu, 5)?;
    let Created { code, handles, .. } = probe(5);
    if code == missing {
        return Ok(());
    }
    code.result()?;
    let found = binaries.data(handles[0])?;
    check(binaries.saved(pipeline)? == [found], || "the internal cache has another binary".into())
}

case!("pipelines.binaries.control", SECTION, control);

/// Creates pipelines and binaries on a device without an internal cache.
fn control(gpu: &Gpu) -> Case {
    gpu.need(KHR_PIPELINE_BINARY_NAME)?;
    let mut properties = PhysicalDevicePipelineBinaryPropertiesKHR::default();
    gpu.properties2(&mut properties);
    if properties.pipeline_binary_internal_cache_control == 0 {
        return Err(Outcome::NotSupported("pipelineBinaryInternalCacheControl".into()));
    }
    let disabled =
        sys::DevicePipelineBinaryInternalCacheControlKHR { disable_internal_cache: vk::TRUE, ..Default::default() };
    let other = &gpu.with_structure(&mut Newer(disabled))?;
    let (binaries, described) = (Binaries::new(other)?, Described::new(other)?);
    let saved = binaries.saved(described.captured(other, 6)?)?;
    let handles = binaries.all(From::Saved(&saved))?;
    let named = named(&handles);
    described.create(other, None, 6, (&raw const named).cast()).map(drop)
}

case!("pipelines.binaries.results", SECTION, results);

/// Runs a program that was created from binaries.
fn results(gpu: &Gpu) -> Case {
    let binaries = Binaries::new(gpu)?;
    let inputs: Vec<f32> = (0..64).map(|number| number as f32 * 0.25).collect();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(256)?];
    let described = [(STORAGE, buffers[0]), (STORAGE, buffers[1])];
    let compute = gpu.compute_pipeline(shader!("unary.comp"), 1, &described)?;
    gpu.dispatch(&compute, &[], [1, 1, 1])?;
    let expected = buffers[1].words();
    buffers[1].write(&[0; 256]);
    let made = Described::new(gpu)?;
    let handles = binaries.all(From::Saved(&binaries.saved(made.captured(gpu, 1)?)?))?;
    let named = named(&handles);
    let pipeline = made.create(gpu, None, 1, (&raw const named).cast())?;
    gpu.dispatch(&crate::harness::Compute { pipeline, ..compute }, &[], [1, 1, 1])?;
    check(buffers[1].words() == expected, || "the results differ".into())
}
