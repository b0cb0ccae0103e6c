//! Reports of device memory: allocations, imports, their ends, and failed allocations. Source:
//! `VK_EXT_device_memory_report`.

use std::ffi::c_void;
use std::sync::Mutex;

use ash::vk::{self, DeviceMemoryReportEventTypeEXT as Event, ExternalMemoryHandleTypeFlags as Handles, Handle};
use ash::{ext, khr};

use crate::harness::{Case, Gpu, Outcome, check};

/// A reported event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Report {
    event: Event,
    id: u64,
    size: u64,
    object: (vk::ObjectType, u64),
    heap: u32,
}

type Reports = Mutex<Vec<Report>>;

unsafe extern "system" fn receive(data: *const vk::DeviceMemoryReportCallbackDataEXT<'_>, user: *mut c_void) {
    // SAFETY: the driver passes its data and the pointer of the create info, which outlives the
    // device.
    let (data, reports) = unsafe { (&*data, &*user.cast::<Reports>()) };
    reports.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(Report {
        event: data.ty,
        id: data.memory_object_id,
        size: data.size,
        object: (data.object_type, data.object_handle),
        heap: data.heap_index,
    });
}

fn info(reports: &Reports) -> vk::DeviceDeviceMemoryReportCreateInfoEXT<'static> {
    vk::DeviceDeviceMemoryReportCreateInfoEXT::default()
        .pfn_user_callback(Some(receive))
        .user_data(std::ptr::from_ref(reports).cast_mut().cast())
}

/// Runs `body` on a device with two callbacks, and returns the reports of its memory objects. Both
/// callbacks must receive equal reports.
fn reported(gpu: &Gpu, body: impl FnOnce(&Gpu) -> Case) -> Result<Vec<Report>, Outcome> {
    gpu.need(ext::device_memory_report::NAME)?;
    let [first, second] = [const { Reports::new(Vec::new()) }; 2];
    let mut last = info(&second);
    let mut both = info(&first);
    both.p_next = (&raw mut last).cast();
    let own = gpu.with_structure(&mut both)?;
    let run = body(&own);
    // SAFETY: nothing uses the device any more.
    unsafe {
        own.device.destroy_command_pool(own.pool, None);
        own.device.destroy_device(None);
    }
    run?;
    let memory = |reports: Reports| -> Vec<Report> {
        let all = reports.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.into_iter().filter(|report| report.object.0 == vk::ObjectType::DEVICE_MEMORY).collect()
    };
    let (first, second) = (memory(first), memory(second));
    check(first == second, || format!("{first:?} and {second:?}"))?;
    Ok(first)
}

case!("memory.reports.allocations", "VK_EXT_device_memory_report", allocations);

/// Allocates memory of each type, and frees it in another order.
fn allocations(gpu: &Gpu) -> Case {
    let mut made = Vec::new();
    let reports = reported(gpu, |own| {
        let is_protected = |index: u32| {
            own.memory.memory_types[index as usize].property_flags.contains(vk::MemoryPropertyFlags::PROTECTED)
        };
        // The device does not enable protected memory.
        for index in (0..own.memory.memory_type_count).filter(|index| !is_protected(*index)) {
            let size = 0x1_0000 * u64::from(index + 1);
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index);
            // Some types cannot be allocated without further structures.
            // SAFETY: the info is valid, and the memory in no use.
            if let Ok(memory) = unsafe { own.device.allocate_memory(&info, None) } {
                made.push((memory, size, own.memory.memory_types[index as usize].heap_index));
            }
        }
        // SAFETY: the memory is in no use.
        made.iter().rev().for_each(|(memory, ..)| unsafe { own.device.free_memory(*memory, None) });
        Ok(())
    })?;
    let of = |event, handle: vk::DeviceMemory| {
        let object = (vk::ObjectType::DEVICE_MEMORY, handle.as_raw());
        let mut found = reports.iter().filter(move |report| report.event == event && report.object == object);
        found.next().filter(|_| found.next().is_none())
    };
    for &(memory, size, heap) in &made {
        let (begin, end) = (of(Event::ALLOCATE, memory), of(Event::FREE, memory));
        let is_right = begin.zip(end).is_some_and(|(begin, end)| {
            begin.id == end.id && begin.size >= size && begin.size < size + 0x1_0000 && begin.heap == heap
        });
        check(is_right, || format!("{size} bytes of heap {heap}: {begin:?}, {end:?}"))?;
    }
    let mut ids: Vec<u64> =
        reports.iter().filter(|report| report.event == Event::ALLOCATE).map(|report| report.id).collect();
    ids.sort_unstable();
    ids.dedup();
    check(ids.len() == made.len() && reports.len() == 2 * made.len(), || format!("{reports:?}"))
}

case!("memory.reports.imports", "VK_EXT_device_memory_report", imports);

/// Exports memory and imports it into the same device, where its number is that of the export.
fn imports(gpu: &Gpu) -> Case {
    gpu.need(khr::external_memory_fd::NAME)?;
    let reports = reported(gpu, |own| {
        let size = 0x1_0000;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(Handles::OPAQUE_FD);
        let info = vk::MemoryAllocateInfo::default().allocation_size(size);
        let files = khr::external_memory_fd::Device::new(&own.instance, &own.device);
        // SAFETY: infos are valid, and handles alive.
        unsafe {
            let memory = own.device.allocate_memory(&info.push_next(&mut export), None)?;
            let from = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(Handles::OPAQUE_FD);
            let descriptor = files.get_memory_fd(&from)?;
            let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(Handles::OPAQUE_FD).fd(descriptor);
            let other = own.device.allocate_memory(&info.push_next(&mut import), None)?;
            own.device.free_memory(memory, None);
            own.device.free_memory(other, None);
        }
        Ok(())
    })?;
    let events: Vec<Event> = reports.iter().map(|report| report.event).collect();
    check(events == [Event::ALLOCATE, Event::IMPORT, Event::FREE, Event::UNIMPORT], || format!("{reports:?}"))?;
    let has_one_id = reports.iter().all(|report| report.id == reports[0].id);
    let objects = [0, 1].map(|number: usize| reports[number].object);
    let is_right = objects[0] != objects[1] && [2, 3].map(|number: usize| reports[number].object) == objects;
    check(has_one_id && is_right, || format!("{reports:?}"))
}

case!("memory.reports.failures", "VK_EXT_device_memory_report", failures);

/// Allocates more memory than the heap has.
fn failures(gpu: &Gpu) -> Case {
    let heap = gpu.memory.memory_types[0].heap_index;
    let size = gpu.memory.memory_heaps[heap as usize].size.saturating_mul(64);
    let reports = reported(gpu, |own| {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(0);
        // SAFETY: the info is valid apart from its size, which is too large for any heap.
        let made = unsafe { own.device.allocate_memory(&info, None) };
        check(made.is_err(), || "the heap has no end".into())
    })?;
    let is_right = reports
        .iter()
        .all(|report| (report.event, report.heap) == (Event::ALLOCATION_FAILED, heap) && report.size >= size);
    check(is_right && reports.len() == 1, || format!("{reports:?}"))
}
