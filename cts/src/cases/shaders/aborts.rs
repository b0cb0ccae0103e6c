//! Shaders that abort with a message, and constant data. Source: `VK_KHR_shader_abort`,
//! `VK_KHR_shader_constant_data`.

use ash::vk;
use vitric_vulkan::names::{KHR_SHADER_ABORT_NAME, KHR_SHADER_CONSTANT_DATA_NAME};
use vitric_vulkan::{
    DEVICE_FAULT_FLAG_DEVICE_LOST_KHR, DeviceFaultDebugInfoKHR, DeviceFaultInfoKHR,
    DeviceFaultShaderAbortMessageInfoKHR, PhysicalDeviceShaderAbortPropertiesKHR, commands,
};

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Compute, Gpu, Outcome, STORAGE, Transition, check};
use crate::render::{COLOR, FULL, RECT};

/// Returns a device of its own, which the case loses.
fn device(gpu: &Gpu) -> Result<Gpu, Outcome> {
    gpu.need(KHR_SHADER_ABORT_NAME)?;
    let mut properties = PhysicalDeviceShaderAbortPropertiesKHR::default();
    gpu.properties2(&mut properties);
    let most = properties.max_shader_abort_message_size;
    check(most >= 65_536, || format!("messages have at most {most} bytes"))?;
    gpu.with_queues(&[(0, &[1.0])])?.pop().ok_or(Outcome::Fail("there is no queue".into()))
}

/// Checks that a device is lost, that the one report says so, and the message.
fn check_message(gpu: &Gpu, run: Case, message: &[u8]) -> Case {
    check(run.is_err(), || "the device is not lost".into())?;
    let reports = gpu.command::<commands::PFN_vkGetDeviceFaultReportsKHR>(c"vkGetDeviceFaultReportsKHR")?;
    let debug = gpu.command::<commands::PFN_vkGetDeviceFaultDebugInfoKHR>(c"vkGetDeviceFaultDebugInfoKHR")?;
    let device = gpu.device.handle();
    let (mut count, mut report) = (1, DeviceFaultInfoKHR::default());
    // SAFETY: the pointers are valid.
    let code = unsafe { reports(device, 0, &raw mut count, &raw mut report) };
    let good = code == vk::Result::SUCCESS && report.flags == DEVICE_FAULT_FLAG_DEVICE_LOST_KHR;
    check(good, || format!("{code:?} with flags {:#x}", report.flags))?;
    let ask = |bytes: &mut [u8], has_room: bool| {
        let mut info = DeviceFaultShaderAbortMessageInfoKHR {
            message_data_size: bytes.len() as u64,
            message_data: if has_room { bytes.as_mut_ptr().cast() } else { std::ptr::null_mut() },
            ..Default::default()
        };
        let mut all = DeviceFaultDebugInfoKHR { next: (&raw mut info).cast(), ..Default::default() };
        // SAFETY: the structures and the bytes are valid.
        let code = unsafe { debug(device, &raw mut all) };
        (code, info.message_data_size, all.vendor_binary_size)
    };
    let expected = [&(message.len() as u64).to_le_bytes()[..], message].concat();
    let found = ask(&mut [], false);
    let size = expected.len() as u64;
    check(found == (vk::Result::SUCCESS, size, 0), || format!("{found:?}, not {size} bytes"))?;
    let mut bytes = vec![0xee; expected.len() + 8];
    let found = ask(&mut bytes, true);
    check(found == (vk::Result::SUCCESS, size, 0), || format!("{found:?}, not {size} bytes"))?;
    check(bytes[..expected.len()] == expected, || format!("{bytes:x?}, not {expected:x?}"))?;
    check(bytes[expected.len()..] == [0xee; 8], || "bytes behind the message are written".into())
}

case!("aborts.compute.message", "VK_KHR_shader_abort", |gpu| {
    let gpu = device(gpu)?;
    let out = gpu.buffer(256)?;
    let compute = gpu.compute_pipeline(shader!("abort.comp"), 0, &[(STORAGE, out)])?;
    let run = gpu.dispatch(&compute, &[], [1; 3]);
    // A text of seven bytes, padding, and the number of the lane. Bytes of padding are not written.
    check_message(&gpu, run, b"lane: \0\0\x1e\0\0\0")
});

case!("aborts.compute.none", "VK_KHR_shader_abort", |gpu| {
    let gpu = device(gpu)?;
    let out = gpu.buffer(256)?;
    // The shader aborts only in lane 30, and no lane has this number.
    let compute = gpu.compute_pipeline(shader!("abort_none.comp"), 0, &[(STORAGE, out)])?;
    gpu.dispatch(&compute, &[], [1; 3])?;
    let words = out.words();
    check(words[..16] == [1; 16] && words[16..] == [0; 48], || format!("{words:?}"))
});

case!("aborts.vertex.message", "VK_KHR_shader_abort", |gpu| draw(gpu, [shader!("abort.vert"), COLOR], 2));
case!("aborts.fragment.message", "VK_KHR_shader_abort", |gpu| draw(gpu, [RECT, shader!("abort.frag")], 705));

/// Aborts in one vertex or one fragment of a draw, with its number.
fn draw(gpu: &Gpu, shaders: [&'static [u8]; 2], number: u32) -> Case {
    let gpu = device(gpu)?;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let rendering = ash::khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (target, layout) = (image(&gpu, vk::SampleCountFlags::TYPE_1)?, gpu.layout(&[])?);
    let pipeline = pipeline_of(&gpu, &PipelineDesc { shaders, ..PipelineDesc::plain(layout) })?;
    let colors = [attachment(&target, CLEAR, clear_color([0.0; 4]))];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    let run = gpu.run(|list| {
        gpu.barrier(list, Some(Transition { image: &target, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_begin_rendering(list, &info) };
        Fills { commands: list, pipeline, layout }.fill(&gpu, FULL, [1.0; 4], [0.0, 1.0, 0.0]);
        // SAFETY: the command buffer is recording in an instance.
        unsafe { rendering.cmd_end_rendering(list) };
    });
    check_message(&gpu, run, &number.to_le_bytes())
}

case!("constant_data.arrays.plain", "VK_KHR_shader_constant_data", |gpu| data(gpu, &[]));
case!("constant_data.arrays.specialized", "VK_KHR_shader_constant_data", |gpu| data(gpu, &[70, 80, 90, 100, 110]));

/// Reads constant arrays of bytes, of signed 16-bit integers, and of words that may be specialized
/// together with their number.
fn data(gpu: &Gpu, given: &[u32]) -> Case {
    gpu.need(KHR_SHADER_CONSTANT_DATA_NAME)?;
    if gpu.extension_features.float16_int8.shader_int8 == 0 {
        return Err(Outcome::NotSupported("shaderInt8".into()));
    }
    let out = gpu.buffer(60)?;
    let made = gpu.compute_pipeline(shader!("counted_groups.comp"), 0, &[(STORAGE, out)])?;
    let values: Vec<u32> = [given.len() as u32].iter().chain(given).copied().collect();
    let entry = |constant_id, offset, size| vk::SpecializationMapEntry { constant_id, offset, size };
    let entries = [entry(1, 0, 4), entry(2, 4, 4 * given.len())];
    let specialization = vk::SpecializationInfo::default()
        .map_entries(if given.is_empty() { &[] } else { &entries[..] })
        .data(bytemuck::cast_slice(&values));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(shader!("constant_data.comp"))?)
        .name(c"main")
        .specialization_info(&specialization);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(made.layout)];
    // SAFETY: the info is valid.
    let pipelines = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipelines.map_err(|(_, code)| code)?[0];
    gpu.dispatch(&Compute { pipeline, ..made }, &[], [1; 3])?;
    let words = if given.is_empty() { &[7, 9][..] } else { given };
    let bytes = [0x61, 0x62, 0x63, 0xff, 0x65];
    let numbers = [-1, 2, -3, 4, -5].map(|number: i32| number as u32);
    let third: Vec<u32> = (0..5).map(|lane| words[lane % words.len()]).collect();
    let expected = [&bytes[..], &numbers, &third].concat();
    check(out.words() == expected, || format!("{:x?}, not {expected:x?}", out.words()))
}
