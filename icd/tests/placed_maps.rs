//! Placed maps of memory that the driver must refuse.

mod common;

use ash::vk;
use common::Driver;

/// Maps memory at an address, and returns the code.
fn map_at(driver: &Driver, memory: vk::DeviceMemory, range: [u64; 2], address: usize) -> vk::Result {
    let maps = ash::khr::map_memory2::Device::new(&driver.instance, &driver.device);
    let placed = std::ptr::without_provenance_mut(address);
    let mut placed = vk::MemoryMapPlacedInfoEXT { p_placed_address: placed, ..Default::default() };
    let info = vk::MemoryMapInfoKHR::default()
        .flags(vk::MemoryMapFlags::PLACED_EXT)
        .memory(memory)
        .offset(range[0])
        .size(range[1])
        .push_next(&mut placed);
    // SAFETY: the driver must refuse maps of other addresses than those that the test owns.
    unsafe {
        (maps.fp().map_memory2_khr)(
            driver.device.handle(),
            &raw const info,
            &mut std::ptr::null_mut::<std::ffi::c_void>(),
        )
    }
}

#[test]
fn wrong_placed_maps_are_refused() {
    let failed = vk::Result::ERROR_MEMORY_MAP_FAILED;
    let names = [ash::khr::map_memory2::NAME, ash::ext::map_memory_placed::NAME];
    let driver = Driver::open_with(&names);
    let memory = driver.allocate(65536).unwrap();
    assert_eq!(map_at(&driver, memory, [0, vk::WHOLE_SIZE], 1 << 40), failed);
    assert!(driver.last_message().ends_with("enable the feature memoryMapPlaced"), "{}", driver.last_message());
    driver.close();
    let mut features = vk::PhysicalDeviceMapMemoryPlacedFeaturesEXT::default().memory_map_placed(true);
    let p_next = (&raw mut features).cast();
    let mut none = vk::PhysicalDeviceMeshShaderFeaturesEXT { p_next, ..Default::default() };
    let driver = Driver::open_by(vk::API_VERSION_1_1, &names, &mut none);
    let own = vec![0u8; 1 << 20];
    let address = own.as_ptr().expose_provenance().next_multiple_of(4096);
    let memory = driver.allocate(65536).unwrap();
    let odd = driver.allocate(65537).unwrap();
    for (memory, range, address, message) in [
        (memory, [0, vk::WHOLE_SIZE], 0, "expected a multiple of 4096 above 0"),
        (memory, [0, vk::WHOLE_SIZE], address + 64, "expected a multiple of 4096 above 0"),
        (memory, [0, 65536 + 4096], address, "expected bytes of the memory"),
        (memory, [0, 0], address, "expected bytes of the memory"),
        (memory, [4096, u64::MAX - 4096], address, "expected bytes of the memory"),
        (memory, [64, 4096], address, "expected multiples of 4096"),
        (memory, [4096, 4096], address, "or the feature memoryMapRangePlaced"),
        (odd, [0, vk::WHOLE_SIZE], address, "expected multiples of 4096"),
    ] {
        assert_eq!(map_at(&driver, memory, range, address), failed, "{message}");
        assert!(driver.last_message().ends_with(message), "{}", driver.last_message());
    }
    let flags = vk::MemoryMapFlags::PLACED_EXT;
    // SAFETY: the driver must refuse the flag.
    let refused = unsafe { driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) };
    assert_eq!(refused.err(), Some(failed));
    let maps = ash::khr::map_memory2::Device::new(&driver.instance, &driver.device);
    let info = vk::MemoryUnmapInfoKHR::default().flags(vk::MemoryUnmapFlagsKHR::RESERVE_EXT).memory(memory);
    assert_eq!(map_at(&driver, memory, [0, vk::WHOLE_SIZE], address), vk::Result::SUCCESS);
    assert_eq!(map_at(&driver, memory, [0, vk::WHOLE_SIZE], address + 65536), failed, "it is mapped");
    // SAFETY: the memory is mapped; the feature of the flag is not enabled.
    unsafe { assert_eq!((maps.fp().unmap_memory2_khr)(driver.device.handle(), &raw const info), failed) };
    // SAFETY: the driver owns the addresses of the map until the memory is freed.
    unsafe {
        std::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(1);
        driver.device.free_memory(memory, None);
    }
    // A part of the vector's pages is gone.
    std::mem::forget(own);
    driver.close();
}
