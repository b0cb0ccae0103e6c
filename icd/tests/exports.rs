//! The driver library exports the loader's three entry points, the entry point for programs
//! without a loader, and nothing else. The test needs nm (from binutils, on which gcc depends).

use std::process::Command;

#[test]
fn the_library_exports_the_loader_interface_only() {
    let test = std::env::current_exe().expect("the test's own path");
    let library = test.with_file_name("libvulkan_vitric.so");
    let listed = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output().expect("nm starts");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8_lossy(&listed.stdout);
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).collect();
    names.sort_unstable();
    let expected = [
        "vkGetInstanceProcAddr",
        "vk_icdGetInstanceProcAddr",
        "vk_icdGetPhysicalDeviceProcAddr",
        "vk_icdNegotiateLoaderICDInterfaceVersion",
    ];
    assert_eq!(names, expected);
}
