//! Real programs, unmodified, on this driver through the system's loader: `vulkaninfo`, and
//! `vkcube` in an X server and under Wayland.
//!
//! vkcube's last frame is read after the program ends, because the Composite extension keeps a
//! named pixmap of a window. The reference is the frame of Mesa's lavapipe. The tests need the
//! Debian packages vulkan-tools, xvfb, weston and mesa-vulkan-drivers, and fail without them.

use std::fs::DirBuilder;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, ImageFormat, Window};
use x11rb::rust_connection::RustConnection;

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
const FRAMES: &str = "120";
/// Lock that runs one presenting test at a time. Pending frames of a slow program are dropped at
/// its end, so the tests must not slow each other down.
static ALONE: Mutex<()> = Mutex::new(());
const LIMIT: Duration = Duration::from_secs(120);

/// An X server for one test, stopped on drop.
struct Server {
    child: Child,
    display: String,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut number = String::new();
        let output = child.stdout.as_mut().expect("Xvfb's output is piped");
        BufReader::new(output).read_line(&mut number).expect("Xvfb says its display's number");
        Server { child, display: format!(":{}", number.trim()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a program. A program that hangs is killed and fails the test.
fn finish(mut child: Child) {
    let start = Instant::now();
    loop {
        match child.try_wait().expect("the program can be waited for") {
            Some(status) => return assert!(status.success(), "the program ended with {status}"),
            None if start.elapsed() > LIMIT => {
                let _ = child.kill();
                panic!("the program did not end in {LIMIT:?}");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Returns the first window that a program maps.
fn mapped(connection: &RustConnection, child: &mut Child) -> Window {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(Event::MapNotify(event)) = connection.poll_for_event().expect("the X server answers") {
            return event.window;
        }
        assert!(child.try_wait().expect("the program can be waited for").is_none(), "no window before the end");
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no window in {LIMIT:?}");
}

/// Returns the last frame that vkcube presents, as width, height and BGRX pixels.
fn last_frame(mut vkcube: Command) -> (u16, u16, Vec<u8>) {
    let server = Server::start();
    let (connection, screen) = RustConnection::connect(Some(&server.display)).expect("the X server can be reached");
    let root = connection.setup().roots[screen].root;
    connection.composite_query_version(0, 4).unwrap().reply().expect("the Composite extension");
    connection.composite_redirect_subwindows(root, Redirect::AUTOMATIC).unwrap().check().unwrap();
    let events = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
    connection.change_window_attributes(root, &events).unwrap().check().unwrap();
    let mut child = vkcube.env("DISPLAY", &server.display).stdout(Stdio::null()).spawn().expect("vkcube starts");
    let window = mapped(&connection, &mut child);
    let pixmap = connection.generate_id().unwrap();
    connection.composite_name_window_pixmap(window, pixmap).unwrap().check().expect("the window's pixmap");
    finish(child);
    let size = connection.get_geometry(pixmap).unwrap().reply().unwrap();
    let image = connection.get_image(ImageFormat::Z_PIXMAP, pixmap, 0, 0, size.width, size.height, !0);
    (size.width, size.height, image.unwrap().reply().unwrap().data)
}

/// Returns the mean absolute difference over three channels, in steps of 1/255.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
    let sum: u64 = pixels.flat_map(|(a, b)| (0..3).map(move |i| u64::from(a[i].abs_diff(b[i])))).sum();
    sum as f64 / (a.len() as f64 * 0.75)
}

#[test]
fn vkcube_shows_what_lavapipe_shows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ours = Command::new(env!("CARGO_BIN_EXE_vitric"));
    // The frame rate is limited, so that the window is found before it is closed.
    ours.args(["run", "--set", "VITRIC_VSYNC=60", "vkcube", "--c", FRAMES]);
    assert!(std::path::Path::new(LAVAPIPE).is_file(), "{LAVAPIPE} is missing (mesa-vulkan-drivers)");
    let ours = last_frame(ours);
    // The window must not be empty: many different colours are required.
    let colors: std::collections::HashSet<_> = ours.2.chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect();
    assert!(colors.len() > 50, "only {} colours", colors.len());
    // On a busy machine, lavapipe's window may close before its last frame arrives, so there are
    // three attempts. Vitric's driver shows pending frames first.
    let mut means = (0..3).map(|_| {
        let mut vkcube = Command::new("vkcube");
        vkcube.args(["--c", FRAMES]).env("VK_DRIVER_FILES", LAVAPIPE).env("VK_ICD_FILENAMES", LAVAPIPE);
        let theirs = last_frame(vkcube);
        assert_eq!((ours.0, ours.1), (theirs.0, theirs.1));
        difference(&ours.2, &theirs.2)
    });
    assert!(means.any(|mean| mean < 1.0), "none of three windows of lavapipe's shows the same");
}

/// A Wayland compositor in a window of an X server, which shows one program. Stopped on drop.
struct Compositor {
    child: Child,
    folder: PathBuf,
}

impl Compositor {
    const SOCKET: &str = "vitric-test";
    const SIDE: u16 = 500;

    fn start(server: &Server) -> Compositor {
        let folder = std::env::temp_dir().join(format!("vitric-wayland-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).expect("a folder for the socket");
        let size = [format!("--width={}", Self::SIDE), format!("--height={}", Self::SIDE)];
        let child = Command::new("weston")
            .args(["--backend=x11-backend.so", "--shell=kiosk-shell.so", "--no-config", "--use-pixman"])
            .args(size)
            .arg(format!("--socket={}", Self::SOCKET))
            .env("DISPLAY", &server.display)
            .env("XDG_RUNTIME_DIR", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("weston starts");
        let (compositor, start) = (Compositor { child, folder }, Instant::now());
        while !compositor.folder.join(Self::SOCKET).exists() {
            assert!(start.elapsed() < LIMIT, "weston does not listen in {LIMIT:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        compositor
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The compositor shows the program's output: a cube in many colours on a grey background.
#[test]
fn vkcube_shows_a_cube_under_wayland() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start();
    let compositor = Compositor::start(&server);
    let (connection, screen) = RustConnection::connect(Some(&server.display)).expect("the X server can be reached");
    let root = connection.setup().roots[screen].root;
    let child = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .args(["run", "vkcube-wayland", "--c", "2000"])
        .env("XDG_RUNTIME_DIR", &compositor.folder)
        .env("WAYLAND_DISPLAY", Compositor::SOCKET)
        .env_remove("DISPLAY")
        .stdout(Stdio::null())
        .spawn()
        .expect("vkcube starts");
    let (start, mut colors) = (Instant::now(), std::collections::HashSet::new());
    while colors.len() <= 50 && start.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(20));
        let side = Compositor::SIDE;
        let image = connection.get_image(ImageFormat::Z_PIXMAP, root, 0, 0, side, side, !0).unwrap().reply().unwrap();
        colors = image.data.chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect();
    }
    assert!(colors.len() > 50, "only {} colours", colors.len());
    finish(child);
}

#[test]
fn vulkaninfo_ends_well_and_names_the_device() {
    let output = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .args(["run", "vulkaninfo"])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("vitric starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert!(!err.contains("ERROR"), "{err}");
    for line in ["PHYSICAL_DEVICE_TYPE_CPU", "Vitric", "VK_KHR_swapchain", "VkPhysicalDeviceLimits"] {
        assert!(out.contains(line), "vulkaninfo does not mention {line}");
    }
}
