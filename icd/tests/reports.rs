//! Counters of devices whose process ends without destroying them. The test runs itself again as
//! that process.

mod common;

use std::process::Command;

use ash::vk;
use common::Driver;

/// Variable that is set in the process that ends.
const ENDS: &str = "VITRIC_TEST_ENDS";

/// Creates two devices, destroys one of them, and exits.
fn end() -> ! {
    Driver::open().close();
    let left = Driver::open();
    // SAFETY: valid usage.
    let filled = left.run(|device, commands| unsafe {
        let (buffer, _) = left.buffer(256).unwrap();
        device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 7);
    });
    assert_eq!(filled, Ok(()));
    std::process::exit(3);
}

#[test]
fn devices_leave_what_they_counted_when_the_process_exits() {
    if std::env::var_os(ENDS).is_some() {
        end();
    }
    let folder = std::env::temp_dir().join(format!("vitric-reports-{}", std::process::id()));
    let child = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "devices_leave_what_they_counted_when_the_process_exits"]).env(ENDS, "1");
        child
    };
    let status = child().env("VITRIC_COUNTERS", &folder).status().unwrap();
    assert_eq!(status.code(), Some(3));
    let files = std::fs::read_dir(&folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let files: Vec<String> = files.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(files.len(), 2, "one each");
    assert!(files.iter().all(|text| text.starts_with('{') && text.ends_with("]}\n")), "complete");
    // The file of the device that was not destroyed contains its submission.
    assert_eq!(files.iter().filter(|text| text.contains(r#""kind":"submission""#)).count(), 1);
    // A folder that cannot be created does not change the exit code.
    assert_eq!(child().env("VITRIC_COUNTERS", "/proc/nowhere/at/all").status().unwrap().code(), Some(3));
}
