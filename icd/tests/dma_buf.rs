//! Memory that devices share by dma-bufs, and images in rows in such memory. Tests import sealed
//! memory files and, where the kernel makes them, dma-bufs of these files. The test starts itself
//! again as the other process.

mod common;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::process::Command;

use ash::{khr, vk};
use common::Driver;

/// Variable with the second process's file descriptor.
const DESCRIPTOR: &str = "VITRIC_TEST_DMA_BUF";
const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
/// Size of the files in bytes.
const BYTES: u64 = 16384;
/// Extent of the images in texels.
const EXTENT: vk::Extent3D = vk::Extent3D { width: 30, height: 20, depth: 1 };
/// Rows of the images: offset and distance in bytes.
const ROWS: vk::SubresourceLayout =
    vk::SubresourceLayout { offset: 64, row_pitch: 132, size: 0, array_pitch: 0, depth_pitch: 0 };
const INVALID: vk::Result = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;

fn open() -> Driver {
    Driver::open_for(
        vk::API_VERSION_1_3,
        &[
            vk::KHR_EXTERNAL_MEMORY_FD_NAME,
            vk::EXT_EXTERNAL_MEMORY_DMA_BUF_NAME,
            vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME,
            vk::EXT_QUEUE_FAMILY_FOREIGN_NAME,
            vk::EXT_EXTERNAL_MEMORY_ACQUIRE_UNMODIFIED_NAME,
            vk::EXT_PHYSICAL_DEVICE_DRM_NAME,
        ],
    )
}

fn files(driver: &Driver) -> khr::external_memory_fd::Device {
    khr::external_memory_fd::Device::new(&driver.instance, &driver.device)
}

/// Creates a memory file with seals.
fn memory_file(bytes: u64, seals: libc::c_int) -> File {
    // SAFETY: the name is a C string, and the descriptor is new and has no other owner. The second
    // command takes an integer argument.
    unsafe {
        let made = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        assert!(made >= 0);
        let file = File::from_raw_fd(made);
        file.set_len(bytes).unwrap();
        assert_eq!(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals), 0);
        file
    }
}

/// Makes a dma-buf of a file's pages, if the kernel makes dma-bufs.
fn dma_buf(file: &File) -> Option<File> {
    #[repr(C)]
    struct Create {
        file: u32,
        flags: u32,
        offset: u64,
        size: u64,
    }
    let maker = File::options().read(true).write(true).open("/dev/udmabuf").ok()?;
    let create = Create { file: file.as_raw_fd() as u32, flags: 1, offset: 0, size: BYTES };
    // SAFETY: the request reads the structure. The descriptor that it returns is new.
    unsafe {
        let made = libc::ioctl(maker.as_raw_fd(), 0x4018_7542, &raw const create);
        assert!(made >= 0, "{}", std::io::Error::last_os_error());
        Some(File::from_raw_fd(made))
    }
}

/// Returns sealed files with the descriptors by which they can be imported.
fn sources() -> Vec<(File, File)> {
    let file = || memory_file(BYTES, libc::F_SEAL_SHRINK);
    let mut all = vec![{
        let file = file();
        let same = file.try_clone().unwrap();
        (file, same)
    }];
    let second = file();
    if let Some(made) = dma_buf(&second) {
        all.push((second, made));
    } else {
        println!("no /dev/udmabuf: only sealed memory files are imported");
    }
    all
}

fn import(driver: &Driver, size: u64, fd: RawFd) -> Result<vk::DeviceMemory, vk::Result> {
    let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(KIND).fd(fd);
    let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(1).push_next(&mut from);
    // SAFETY: the info is valid, except for the descriptors that the driver must refuse.
    unsafe { driver.device.allocate_memory(&info, None) }
}

fn info() -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(EXTENT)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST)
}

fn placed(driver: &Driver, modifier: u64, planes: &[vk::SubresourceLayout]) -> Result<vk::Image, vk::Result> {
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(KIND);
    let mut placed =
        vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().drm_format_modifier(modifier).plane_layouts(planes);
    // SAFETY: the info is valid, except for the layouts that the driver must refuse.
    unsafe { driver.device.create_image(&info().push_next(&mut external).push_next(&mut placed), None) }
}

/// Renders to an imported image: clears an area of it as an attachment. Acquires it from another
/// device before, and releases it afterwards.
fn render(driver: &Driver, memory: vk::DeviceMemory, color: [f32; 4]) {
    let image = placed(driver, 0, &[ROWS]).unwrap();
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let view = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D);
    let view = view.format(vk::Format::R8G8B8A8_UNORM).subresource_range(range);
    let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let barrier = vk::ImageMemoryBarrier::default().src_access_mask(access).dst_access_mask(access).image(image);
    let barrier = barrier.old_layout(layout).new_layout(layout).subresource_range(range);
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        driver.device.bind_image_memory(image, memory, 0).unwrap();
        let view = driver.device.create_image_view(&view, None).unwrap();
        driver
            .run(|device, commands| {
                let move_between = |from, to| {
                    let mut unmodified =
                        vk::ExternalMemoryAcquireUnmodifiedEXT::default().acquire_unmodified_memory(true);
                    let barrier = barrier.src_queue_family_index(from).dst_queue_family_index(to);
                    let barrier = barrier.push_next(&mut unmodified);
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
                };
                move_between(vk::QUEUE_FAMILY_FOREIGN_EXT, 0);
                let attachments = [vk::RenderingAttachmentInfo::default()
                    .image_view(view)
                    .image_layout(layout)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .clear_value(vk::ClearValue { color: vk::ClearColorValue { float32: color } })];
                let area =
                    vk::Rect2D { offset: vk::Offset2D { x: 3, y: 5 }, extent: vk::Extent2D { width: 20, height: 10 } };
                let info = vk::RenderingInfo::default().render_area(area).layer_count(1);
                device.cmd_begin_rendering(commands, &info.color_attachments(&attachments));
                device.cmd_end_rendering(commands);
                move_between(0, vk::QUEUE_FAMILY_FOREIGN_EXT);
            })
            .unwrap();
        driver.device.destroy_image_view(view, None);
        driver.device.destroy_image(image, None);
    }
}

/// Checks all bytes of a file: the area that [`render`] clears, and zeros around it.
fn check(file: &File, texel: [u8; 4]) {
    let mut bytes = vec![1; BYTES as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    for (at, &byte) in bytes.iter().enumerate() {
        let (y, x) = match at.checked_sub(ROWS.offset as usize) {
            Some(at) => (at / ROWS.row_pitch as usize, at % ROWS.row_pitch as usize),
            None => (usize::MAX, 0),
        };
        let is_inside = (5..15).contains(&y) && (12..92).contains(&x);
        assert_eq!(byte, if is_inside { texel[x % 4] } else { 0 }, "byte {at}");
    }
}

#[test]
fn imported_images_are_rendered_in_the_memory_of_the_file() {
    for (file, shared) in sources() {
        let driver = open();
        let mut found = vk::MemoryFdPropertiesKHR::default();
        // SAFETY: the descriptor is open. The driver owns a descriptor after an import.
        unsafe { files(&driver).get_memory_fd_properties(KIND, shared.as_raw_fd(), &mut found).unwrap() };
        assert!(found.memory_type_bits & 2 != 0);
        let memory = import(&driver, BYTES, shared.into_raw_fd()).unwrap();
        render(&driver, memory, [1.0, 0.0, 0.6, 0.2]);
        check(&file, [255, 0, 153, 51]);
        // Writes to the file are visible in mapped memory.
        file.write_all_at(&[9, 8, 7], 1000).unwrap();
        // SAFETY: the memory is host-visible, and the bytes are inside.
        unsafe {
            let pointer = driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            assert_eq!(pointer.cast::<[u8; 3]>().byte_add(1000).read_unaligned(), [9, 8, 7]);
            driver.device.unmap_memory(memory);
            driver.device.free_memory(memory, None);
        }
        driver.close();
    }
}

#[test]
fn another_process_renders_to_the_image() {
    if let Ok(descriptor) = std::env::var(DESCRIPTOR) {
        let driver = open();
        let memory = import(&driver, BYTES, descriptor.parse().unwrap()).unwrap();
        render(&driver, memory, [0.0, 1.0, 0.4, 0.8]);
        return driver.close();
    }
    for (file, shared) in sources() {
        // SAFETY: the descriptor is open. Without `FD_CLOEXEC` it stays open in the other process.
        assert_eq!(unsafe { libc::fcntl(shared.as_raw_fd(), libc::F_SETFD, 0) }, 0);
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "another_process_renders_to_the_image", "--nocapture"])
            .env(DESCRIPTOR, shared.as_raw_fd().to_string())
            .status()
            .unwrap();
        assert!(status.success());
        check(&file, [0, 255, 102, 204]);
    }
}

/// Memory is exported where the kernel makes dma-bufs, and an import can be exported again.
#[test]
fn exports_are_there_where_the_kernel_makes_dma_bufs() {
    let driver = open();
    let mut external = vk::PhysicalDeviceExternalBufferInfo::default().handle_type(KIND);
    external.usage = vk::BufferUsageFlags::TRANSFER_DST;
    let mut found = vk::ExternalBufferProperties::default();
    let mut drm = vk::PhysicalDeviceDrmPropertiesEXT { has_primary: 1, has_render: 1, ..Default::default() };
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut drm);
    // SAFETY: the structures live as long as the calls.
    unsafe {
        driver.instance.get_physical_device_external_buffer_properties(driver.physical, &external, &mut found);
        driver.instance.get_physical_device_properties2(driver.physical, &mut properties);
    }
    assert_eq!((drm.has_primary, drm.has_render), (0, 0));
    let features = found.external_memory_properties.external_memory_features;
    let exports = File::options().read(true).write(true).open("/dev/udmabuf").is_ok();
    assert!(features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE));
    assert_eq!(features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE), exports);
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(KIND);
    let info = vk::MemoryAllocateInfo::default().allocation_size(BYTES).memory_type_index(1).push_next(&mut export);
    // SAFETY: the info is valid where exports are supported. Elsewhere the driver allocates memory
    // that it does not export.
    let made = unsafe { driver.device.allocate_memory(&info, None) }.unwrap();
    let get = |memory| {
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(KIND);
        // SAFETY: the memory is alive.
        unsafe { files(&driver).get_memory_fd(&info) }
    };
    let own = driver.allocate(BYTES).unwrap();
    assert!(get(own).is_err(), "memory that was not made to be exported");
    let memory = match exports {
        true => made,
        false => {
            assert_eq!(get(made), Err(vk::Result::ERROR_UNKNOWN));
            assert!(driver.last_message().contains("/dev/udmabuf"), "{}", driver.last_message());
            render(&driver, made, [1.0; 4]);
            import(&driver, BYTES, memory_file(BYTES, libc::F_SEAL_SHRINK).into_raw_fd()).unwrap()
        }
    };
    let second = open();
    let imported = import(&second, BYTES, get(memory).unwrap()).unwrap();
    render(&driver, memory, [1.0, 1.0, 0.0, 0.0]);
    // SAFETY: the memory is host-visible and mapped as a whole.
    unsafe {
        let pointer = second.device.map_memory(imported, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
        let texel = pointer.cast::<[u8; 4]>().byte_add((ROWS.offset + 5 * ROWS.row_pitch + 12) as usize);
        assert_eq!(texel.read(), [255, 255, 0, 0]);
    }
    second.close();
    driver.close();
}

/// Returns a descriptor of an unnamed regular file.
fn regular_file() -> File {
    let path = std::env::temp_dir().join(format!("vitric-dma-buf-{}", std::process::id()));
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file.write_all(&vec![0; BYTES as usize]).unwrap();
    file
}

#[test]
fn files_of_other_kinds_are_refused_and_stay_open() {
    let driver = open();
    let mut ends = [-1; 2];
    // SAFETY: the array has room for both descriptors, which are new and have no other owner.
    let pipe = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        ends.map(|end| File::from(OwnedFd::from_raw_fd(end)))
    };
    let [reader, _writer] = pipe;
    let shrinking = memory_file(BYTES, 0);
    let fixed = memory_file(BYTES, libc::F_SEAL_SHRINK | libc::F_SEAL_WRITE);
    let others = [
        reader,
        regular_file(),
        File::open("/").unwrap(),
        File::open("/dev/zero").unwrap(),
        shrinking.try_clone().unwrap(),
        fixed,
    ];
    for file in &others {
        assert_eq!(import(&driver, 4096, file.as_raw_fd()).unwrap_err(), INVALID, "{file:?}");
        assert!(file.metadata().is_ok(), "{file:?} was closed");
    }
    let sealed = memory_file(BYTES, libc::F_SEAL_SHRINK);
    for size in [BYTES + 1, BYTES + 4096, 1 << 30] {
        assert_eq!(import(&driver, size, sealed.as_raw_fd()).unwrap_err(), INVALID, "{size} bytes");
    }
    for fd in [-1, 0x7fff_fff0] {
        assert_eq!(import(&driver, BYTES, fd).unwrap_err(), INVALID, "{fd}");
    }
    let query = |kind, fd| {
        let mut found = vk::MemoryFdPropertiesKHR::default();
        // SAFETY: the structure lives as long as the call.
        unsafe { files(&driver).get_memory_fd_properties(kind, fd, &mut found) }
    };
    for fd in [-1, 0x7fff_fff0, shrinking.as_raw_fd(), others[0].as_raw_fd()] {
        assert_eq!(query(KIND, fd), Err(INVALID));
    }
    assert_eq!(query(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD, sealed.as_raw_fd()), Err(INVALID));
    query(KIND, sealed.as_raw_fd()).unwrap();
    // An exporter that tries to shrink a file that was imported fails, and the process lives on.
    let memory = import(&driver, BYTES, sealed.try_clone().unwrap().into_raw_fd()).unwrap();
    assert!(sealed.set_len(0).is_err());
    render(&driver, memory, [0.0; 4]);
    driver.close();
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    let driver = open();
    let refused = vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
    let layout = |offset, row_pitch| vk::SubresourceLayout { offset, row_pitch, ..Default::default() };
    for (planes, code) in [
        (vec![layout(0, 0)], refused),
        (vec![layout(0, 116)], refused),
        (vec![layout(0, 122)], refused),
        (vec![layout(2, 120)], refused),
        (vec![layout(0, u64::from(u32::MAX))], refused),
        (vec![layout(0, u64::MAX - 3)], refused),
        (vec![layout(u64::MAX - 3, 120)], refused),
        (vec![layout(0, 1 << 50)], vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
        (vec![], refused),
        (vec![ROWS; 2], refused),
        (vec![ROWS; 5], refused),
    ] {
        assert_eq!(placed(&driver, 0, &planes).unwrap_err(), code, "{planes:?}");
    }
    assert!(driver.last_message().contains("a layout for each plane"), "{}", driver.last_message());
    assert_eq!(placed(&driver, 1, &[ROWS]).unwrap_err(), vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    assert!(driver.last_message().contains("modifier 0 (linear)"), "{}", driver.last_message());
    let listed = |modifiers: &[u64]| {
        let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(modifiers);
        // SAFETY: the info is valid, except for the modifiers that the driver must refuse.
        unsafe { driver.device.create_image(&info().push_next(&mut list), None) }
    };
    assert!(listed(&[7, 0]).is_ok());
    for modifiers in [&[7, 1 << 56][..], &[]] {
        assert_eq!(listed(modifiers).unwrap_err(), vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    }
    // SAFETY: the driver must refuse an image without a modifier.
    assert_eq!(unsafe { driver.device.create_image(&info(), None) }.unwrap_err(), vk::Result::ERROR_UNKNOWN);
    // Memory that ends before the image: accesses to the missing rows do nothing.
    let image = placed(&driver, 0, &[ROWS]).unwrap();
    let memory = import(&driver, 600, memory_file(600, libc::F_SEAL_SHRINK).into_raw_fd()).unwrap();
    // SAFETY: the driver ignores accesses outside of the memory.
    unsafe {
        driver.device.bind_image_memory(image, memory, 0).unwrap();
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let (general, color) = (vk::ImageLayout::GENERAL, vk::ClearColorValue { float32: [1.0; 4] });
        driver
            .run(|device, commands| device.cmd_clear_color_image(commands, image, general, &color, &[range]))
            .unwrap();
    }
    driver.close();
}
