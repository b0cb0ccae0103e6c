//! Invalid input to the commands of pipeline binaries: null pointers, stale handles, several
//! sources, damaged data, and stages that no binary is of.

mod common;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use ash::vk::{self, Handle};
use common::Driver;
use vitric_vulkan::names::KHR_PIPELINE_BINARY_NAME;
use vitric_vulkan::sys::Handle as _;
use vitric_vulkan::{
    Newer, PipelineBinaryCreateInfoKHR, PipelineBinaryDataInfoKHR, PipelineBinaryHandlesInfoKHR, PipelineBinaryInfoKHR,
    PipelineBinaryKHR, PipelineBinaryKeyKHR, PipelineCreateInfoKHR, ReleaseCapturedPipelineDataInfoKHR, Vocabulary,
    sys,
};

type Own<P> = <P as Vocabulary>::Own;

const FILL: &[u8] = include_bytes!("shaders/endless.comp.spv");
const STALE: u64 = 0x1900_0000_1000_0007;
const UNKNOWN: vk::Result = vk::Result::ERROR_UNKNOWN;
const REFUSED: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;

fn heard(driver: &Driver) -> usize {
    std::mem::take(&mut *driver.messages.lock().unwrap()).len()
}

/// Commands of the extension.
struct Commands {
    device: vk::Device,
    create: Own<sys::PFN_vkCreatePipelineBinariesKHR>,
    destroy: Own<sys::PFN_vkDestroyPipelineBinaryKHR>,
    data: Own<sys::PFN_vkGetPipelineBinaryDataKHR>,
    key: Own<sys::PFN_vkGetPipelineKeyKHR>,
    release: Own<sys::PFN_vkReleaseCapturedPipelineDataKHR>,
}

/// Returns a command by its name and raw type.
fn command<P: Vocabulary>(driver: &Driver, name: &CStr) -> P::Own {
    // SAFETY: the name is a C string, and function pointers have one size. Callers name the type
    // that belongs to the name.
    unsafe {
        let found = driver.instance.get_device_proc_addr(driver.device.handle(), name.as_ptr());
        std::mem::transmute_copy(&found.unwrap())
    }
}

impl Commands {
    fn new(driver: &Driver) -> Self {
        let device = driver.device.handle();
        Self {
            device,
            create: command::<sys::PFN_vkCreatePipelineBinariesKHR>(driver, c"vkCreatePipelineBinariesKHR"),
            destroy: command::<sys::PFN_vkDestroyPipelineBinaryKHR>(driver, c"vkDestroyPipelineBinaryKHR"),
            data: command::<sys::PFN_vkGetPipelineBinaryDataKHR>(driver, c"vkGetPipelineBinaryDataKHR"),
            key: command::<sys::PFN_vkGetPipelineKeyKHR>(driver, c"vkGetPipelineKeyKHR"),
            release: command::<sys::PFN_vkReleaseCapturedPipelineDataKHR>(driver, c"vkReleaseCapturedPipelineDataKHR"),
        }
    }

    /// Creates one binary. Returns its handle with the code.
    fn create(&self, info: &PipelineBinaryCreateInfoKHR) -> (vk::Result, sys::PipelineBinaryKHR) {
        let mut handle = sys::PipelineBinaryKHR::from_raw(STALE);
        let mut out = PipelineBinaryHandlesInfoKHR::default();
        (out.pipeline_binary_count, out.pipeline_binaries) = (1, &raw mut handle);
        // SAFETY: usage is valid except for values that the driver checks.
        let code = unsafe { (self.create)(self.device, info, null(), &raw mut out) };
        (code, handle)
    }

    /// Creates a binary from data.
    fn read(&self, key: &sys::PipelineBinaryKeyKHR, bytes: &[u8]) -> vk::Result {
        let data = sys::PipelineBinaryDataKHR { data_size: bytes.len(), data: bytes.as_ptr().cast_mut().cast() };
        self.create(&of_data(&saved(1, key, &data))).0
    }
}

fn saved(
    binary_count: u32,
    pipeline_binary_keys: *const sys::PipelineBinaryKeyKHR,
    pipeline_binary_data: *const sys::PipelineBinaryDataKHR,
) -> sys::PipelineBinaryKeysAndDataKHR {
    sys::PipelineBinaryKeysAndDataKHR { binary_count, pipeline_binary_keys, pipeline_binary_data }
}

fn of_data(data: &sys::PipelineBinaryKeysAndDataKHR) -> PipelineBinaryCreateInfoKHR {
    Newer(sys::PipelineBinaryCreateInfoKHR { keys_and_data_info: data, ..Default::default() })
}

fn of_pipeline(pipeline: vk::Pipeline) -> PipelineBinaryCreateInfoKHR {
    let pipeline = sys::Pipeline::from_raw(pipeline.as_raw());
    Newer(sys::PipelineBinaryCreateInfoKHR { pipeline, ..Default::default() })
}

/// Creates a compute pipeline with a chain.
fn compute(driver: &Driver, code: &[u8], next: *const c_void) -> Result<vk::Pipeline, vk::Result> {
    // SAFETY: usage is valid except for values of the chain, which the driver checks.
    unsafe {
        let layout = driver.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let module = if code.is_empty() { vk::ShaderModule::null() } else { driver.module(code)? };
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo { p_next: next, ..Default::default() }.stage(stage).layout(layout);
        let made = driver.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        made.map(|pipelines| pipelines[0]).map_err(|(_, code)| code)
    }
}

fn captured(driver: &Driver) -> vk::Pipeline {
    let flags = vk::PipelineCreateFlags2KHR::from_raw(1 << 31);
    let flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(flags);
    compute(driver, FILL, (&raw const flags).cast()).unwrap()
}

#[test]
fn null_pointers_and_stale_handles_are_errors() {
    let driver = Driver::open_for(vitric_vulkan::API_VERSION_1_4, &[KHR_PIPELINE_BINARY_NAME]);
    let commands = Commands::new(&driver);
    heard(&driver);
    let device = commands.device;
    let (mut key, mut size) = (PipelineBinaryKeyKHR::default(), 0);
    let info = Newer(sys::PipelineBinaryDataInfoKHR {
        pipeline_binary: sys::PipelineBinaryKHR::from_raw(STALE),
        ..Default::default()
    });
    let release: ReleaseCapturedPipelineDataInfoKHR = Newer(sys::ReleaseCapturedPipelineDataInfoKHR {
        pipeline: sys::Pipeline::from_raw(STALE),
        ..Default::default()
    });
    let without: *const PipelineBinaryDataInfoKHR = null();
    let empty = PipelineCreateInfoKHR::default();
    let mut handles = PipelineBinaryHandlesInfoKHR::default();
    // SAFETY: usage is valid except for null pointers and handles that the driver checks.
    let codes = unsafe {
        (commands.destroy)(device, PipelineBinaryKHR::default(), null());
        assert_eq!(heard(&driver), 0);
        (commands.destroy)(device, PipelineBinaryKHR::from_raw(STALE), null());
        assert_eq!(heard(&driver), 1);
        [
            (commands.create)(device, null(), null(), &raw mut handles),
            (commands.create)(device, &of_pipeline(vk::Pipeline::from_raw(STALE)), null(), null_mut()),
            (commands.data)(device, without, &raw mut key, &raw mut size, null_mut()),
            (commands.data)(device, &raw const info, &raw mut key, &raw mut size, null_mut()),
            (commands.data)(device, &raw const info, null_mut(), &raw mut size, null_mut()),
            (commands.data)(device, &raw const info, &raw mut key, null_mut(), null_mut()),
            (commands.key)(device, null(), null_mut()),
            (commands.key)(device, &raw const empty, &raw mut key),
            (commands.release)(device, null(), null()),
            (commands.release)(device, &raw const release, null()),
        ]
    };
    assert_eq!(codes, [UNKNOWN; 10]);
    let none = PipelineBinaryCreateInfoKHR::default();
    let both = Newer(sys::PipelineBinaryCreateInfoKHR {
        pipeline: sys::Pipeline::from_raw(STALE),
        pipeline_create_info: &raw const *empty,
        ..Default::default()
    });
    let missing = saved(u32::MAX, null(), null());
    for info in [none, both, of_pipeline(vk::Pipeline::from_raw(STALE)), of_data(&missing)] {
        heard(&driver);
        assert_eq!(commands.create(&info), (UNKNOWN, sys::PipelineBinaryKHR::default()));
        assert_eq!(heard(&driver), 1);
    }
    driver.close();
}

#[test]
fn damaged_and_foreign_data_are_refused() {
    let driver = Driver::open_for(vitric_vulkan::API_VERSION_1_4, &[KHR_PIPELINE_BINARY_NAME]);
    let commands = Commands::new(&driver);
    let (code, pipeline_binary) = commands.create(&of_pipeline(captured(&driver)));
    assert_eq!(code, vk::Result::SUCCESS);
    let info = Newer(sys::PipelineBinaryDataInfoKHR { pipeline_binary, ..Default::default() });
    let (mut key, mut size) = (PipelineBinaryKeyKHR::default(), usize::MAX);
    let mut data = vec![0u8; 1 << 16];
    // SAFETY: the data fit.
    let code = unsafe {
        (commands.data)(commands.device, &raw const info, &raw mut key, &raw mut size, data.as_mut_ptr().cast())
    };
    assert_eq!(code, vk::Result::SUCCESS);
    data.truncate(size);
    heard(&driver);
    assert_eq!(commands.read(&key, &data), vk::Result::SUCCESS);
    for length in [0, 1, 31, 32, 40, 64, size - 1] {
        assert_eq!(commands.read(&key, &data[..length]), REFUSED, "{length} bytes");
    }
    for at in [0, 4, 20, 33, 45, 50, 70, size - 1] {
        let mut damaged = data.clone();
        damaged[at] ^= 0x10;
        assert_eq!(commands.read(&key, &damaged), REFUSED, "byte {at}");
    }
    for key_size in [0, 31, 33, u32::MAX] {
        let wrong = sys::PipelineBinaryKeyKHR { key_size, ..*key };
        assert_eq!(commands.read(&wrong, &data), REFUSED, "a key of {key_size} bytes");
    }
    let null_data = sys::PipelineBinaryDataKHR { data_size: usize::MAX, data: null_mut() };
    assert_ne!(commands.create(&of_data(&saved(1, &raw const *key, &raw const null_data))).0, vk::Result::SUCCESS);
    assert_eq!(heard(&driver), 7 + 8 + 4);
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

#[test]
fn pipelines_of_wrong_binaries_are_errors() {
    let driver = Driver::open_for(vitric_vulkan::API_VERSION_1_4, &[KHR_PIPELINE_BINARY_NAME]);
    let commands = Commands::new(&driver);
    let pipeline = captured(&driver);
    let plain = compute(&driver, FILL, null()).unwrap();
    heard(&driver);
    assert_eq!(commands.create(&of_pipeline(plain)).0, UNKNOWN, "nothing was captured");
    let handle = commands.create(&of_pipeline(pipeline)).1;
    let stale = sys::PipelineBinaryKHR::from_raw(STALE);
    let named = |handles: &[sys::PipelineBinaryKHR]| -> PipelineBinaryInfoKHR {
        let (binary_count, pipeline_binaries) = (handles.len() as u32, handles.as_ptr());
        Newer(sys::PipelineBinaryInfoKHR { binary_count, pipeline_binaries, ..Default::default() })
    };
    let missing =
        Newer(sys::PipelineBinaryInfoKHR { binary_count: u32::MAX, pipeline_binaries: null(), ..Default::default() });
    for info in [named(&[stale]), named(&[handle, stale]), missing] {
        assert_eq!(compute(&driver, FILL, (&raw const info).cast()), Err(UNKNOWN));
    }
    assert_eq!(heard(&driver), 4);
    // SAFETY: the info is valid.
    let of_other = unsafe {
        let entries = [vk::SpecializationMapEntry { constant_id: 7, offset: 0, size: 4 }];
        let other = vk::SpecializationInfo::default().map_entries(&entries).data(&[1, 0, 0, 0]);
        let layout = driver.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).name(c"main");
        let handles = [handle];
        let info = named(&handles);
        let info = vk::ComputePipelineCreateInfo { p_next: (&raw const info).cast(), ..Default::default() }
            .stage(stage.specialization_info(&other))
            .layout(layout);
        driver.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
    };
    assert_eq!(of_other.map_err(|(_, code)| code), Err(UNKNOWN));
    assert_eq!(heard(&driver), 1);
    let handles = [handle];
    let info = named(&handles);
    assert!(compute(&driver, &[], (&raw const info).cast()).is_ok());
    let raw = sys::Pipeline::from_raw(pipeline.as_raw());
    let release = Newer(sys::ReleaseCapturedPipelineDataInfoKHR { pipeline: raw, ..Default::default() });
    // SAFETY: the driver checks that the pipeline has captured data.
    let codes = unsafe {
        let again = || (commands.release)(commands.device, &raw const release, null());
        [again(), again()]
    };
    assert_eq!(codes, [vk::Result::SUCCESS, UNKNOWN]);
    assert_eq!(commands.create(&of_pipeline(pipeline)).0, UNKNOWN);
    assert_eq!(heard(&driver), 2);
    driver.close();
}
