//! Memory of idle render targets, on any driver: resident memory of this process and the driver's
//! `VK_EXT_memory_budget` while targets are drawn, idle and used again, the memory that can be
//! allocated beside them, and the times of first uses.
//!
//! `near-memory [--size WxH] [--count N] [--samples N] [--near LIST]`: 16 targets of 3840x2160 with
//! 4 samples by default. `--near off,on` measures once with each value of `VITRIC_NEARMEM`, in
//! processes of their own. `VITRIC_HEAP_MIB` makes memory short.

use ash::vk;
use std::process::{Command, ExitCode};
use vitric_samples::GpuOptions;
use vitric_samples::gpu::Gpu;
use vitric_samples::scenes::idle::{Footprint, IdleOptions, IdleReport, measure};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "--near") {
        return measure_each(&words[..at], &words[at + 1..]);
    }
    match parse().and_then(|options| run(&options).map(|report| (options, report))) {
        Ok((options, report)) => {
            show(&options, &report);
            if report.is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("near-memory: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures once with each setting of near memory. The settings are the first of the `after` words,
/// between commas. All other words are passed on.
fn measure_each(before: &[String], after: &[String]) -> ExitCode {
    let Some((settings, after)) = after.split_first() else {
        eprintln!("near-memory: --near: expected settings of VITRIC_NEARMEM after it, such as off,on");
        return ExitCode::FAILURE;
    };
    let run = |setting: &str| {
        println!("VITRIC_NEARMEM={setting}");
        let mut command = Command::new(std::env::current_exe()?);
        command.args(before).args(after).env("VITRIC_NEARMEM", setting).status()
    };
    match settings.split(',').all(|setting| run(setting).is_ok_and(|status| status.success())) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn parse() -> Result<IdleOptions, String> {
    let size = vk::Extent2D { width: 3840, height: 2160 };
    let mut options = IdleOptions { size, count: 16, samples: vk::SampleCountFlags::TYPE_4 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word}: expected a value after it"))?;
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let wrong = || format!("{word} {value}: expected whole numbers of at least 1; samples are 1, 2, 4 or 8");
        match word.as_str() {
            "--size" => {
                let sides = value.split_once('x').and_then(|(w, h)| Some((number(w)?, number(h)?)));
                (options.size.width, options.size.height) = sides.ok_or_else(wrong)?;
            }
            "--count" => options.count = number(&value).ok_or_else(wrong)?,
            "--samples" => {
                let samples = number(&value).filter(|samples| [1, 2, 4, 8].contains(samples)).ok_or_else(wrong)?;
                options.samples = vk::SampleCountFlags::from_raw(samples);
            }
            _ => return Err(format!("'{word}': expected --size, --count, --samples or --near")),
        }
    }
    Ok(options)
}

fn run(options: &IdleOptions) -> Result<IdleReport, String> {
    // SAFETY: the system's loader is a well-behaved library; it stays loaded as long as the entry.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|e| format!("the Vulkan loader cannot be opened: {e}: install it (libvulkan.so.1)"))?;
    let gpu = Gpu::new(&entry, &GpuOptions::default()).map_err(|e| e.to_string())?;
    let budget = Budget::new(&entry).map_err(|e| {
        format!("the memory budget cannot be queried: {e}: expected a device with VK_EXT_memory_budget")
    })?;
    measure(&gpu, options, || budget.usage()).map_err(|e| e.to_string())
}

/// An instance for queries of the first device's memory budget, which is that of the process.
struct Budget {
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
}

impl Budget {
    fn new(entry: &ash::Entry) -> Result<Self, vk::Result> {
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the info is complete; the instance lives until the process ends.
        unsafe {
            let instance = entry.create_instance(&info, None)?;
            let found = instance.enumerate_physical_devices()?;
            let physical = *found.first().ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
            Ok(Self { instance, physical })
        }
    }

    /// Returns the used bytes of all heaps, or 0 where the driver does not report them.
    fn usage(&self) -> u64 {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the device is of this live instance, which is one of version 1.1.
        unsafe { self.instance.get_physical_device_memory_properties2(self.physical, &mut memory) };
        budget.heap_usage.iter().sum()
    }
}

fn show(options: &IdleOptions, report: &IdleReport) {
    let vk::Extent2D { width, height } = options.size;
    println!("{} targets of {width}x{height}, {} samples", options.count, options.samples.as_raw());
    let mib = |bytes: u64| bytes >> 20;
    let rows = [
        ("start", report.start),
        ("drawn", report.drawn),
        ("idle", report.idle),
        ("filled", report.filled),
        ("used again", report.used),
    ];
    for (name, Footprint { resident, reported }) in rows {
        println!("{name:<12} {:>8} MiB resident {:>8} MiB in use by the driver", mib(resident), mib(reported));
    }
    println!("allocatable  {:>8} MiB beside the idle targets", mib(report.allocatable));
    let [before, after, filled, again] = report.use_ms;
    println!("use of one   {before:>8.1} ms before it was idle, {after:>8.1} ms after");
    println!("             {filled:>8.1} ms after memory was full, {again:.1} ms once more");
    println!("{}", if report.is_same { "it shows the same each time" } else { "IT DOES NOT SHOW THE SAME" });
}
