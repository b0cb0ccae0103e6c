//! Real programs, unmodified, on this driver through the system's loader: `vulkaninfo`, and
//! `vkcube` in an X server and under Wayland.
//!
//! vkcube's last frame is read after the program ends, because the Composite extension keeps a
//! named pixmap of a window. The reference is a frame of Mesa's lavapipe. The tests need the
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
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, ImageFormat, Pixmap, Window};
use x11rb::rust_connection::RustConnection;

const LAVAPIPE: &str = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
/// Lock that runs one presenting test at a time: a window must be found while its program runs.
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
fn finish(child: &mut Child) {
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

/// vkcube in an X server of its own. It is stopped on drop.
struct Cube {
    child: Child,
    window: Window,
    pixmap: Pixmap,
    connection: RustConnection,
    _server: Server,
}

impl Cube {
    fn start(mut vkcube: Command) -> Cube {
        let server = Server::start();
        let (connection, screen) = RustConnection::connect(Some(&server.display)).expect("the X server can be reached");
        let root = connection.setup().roots[screen].root;
        connection.composite_query_version(0, 4).unwrap().reply().expect("the Composite extension");
        connection.composite_redirect_subwindows(root, Redirect::AUTOMATIC).unwrap().check().unwrap();
        let events = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &events).unwrap().check().unwrap();
        let child = vkcube.env("DISPLAY", &server.display).stdout(Stdio::null()).spawn().expect("vkcube starts");
        let pixmap = connection.generate_id().unwrap();
        let mut cube = Cube { child, window: 0, pixmap, connection, _server: server };
        cube.window = cube.wait_for("window", |event| match event {
            Event::MapNotify(event) => Some(event.window),
            _ => None,
        });
        cube.connection
            .composite_name_window_pixmap(cube.window, pixmap)
            .unwrap()
            .check()
            .expect("the window's pixmap");
        cube
    }

    /// Waits for an event that `pick` accepts and returns its result. `name` is for the message.
    fn wait_for<T>(&self, name: &str, pick: impl Fn(Event) -> Option<T>) -> T {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            match self.connection.poll_for_event().expect("the X server answers").map(&pick) {
                Some(Some(picked)) => return picked,
                Some(None) => {}
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        panic!("no {name} in {LIMIT:?}");
    }

    /// Returns the frame that the window shows, as width, height and BGRX pixels.
    fn frame(&self) -> (u16, u16, Vec<u8>) {
        let size = self.connection.get_geometry(self.pixmap).unwrap().reply().unwrap();
        let (width, height) = (size.width, size.height);
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.pixmap, 0, 0, width, height, !0);
        (width, height, image.unwrap().reply().unwrap().data)
    }

    /// Waits for the program's end and returns its last frame.
    fn last_frame(mut self) -> (u16, u16, Vec<u8>) {
        finish(&mut self.child);
        // The server may read the last frame after the program's end. It destroys the window
        // afterwards.
        self.wait_for("end of the window", |event| {
            matches!(event, Event::DestroyNotify(event) if event.window == self.window).then_some(())
        });
        self.frame()
    }
}

impl Drop for Cube {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
    ours.args(["run", "--set", "VITRIC_VSYNC=60", "vkcube", "--c", "120"]);
    assert!(std::path::Path::new(LAVAPIPE).is_file(), "{LAVAPIPE} is missing (mesa-vulkan-drivers)");
    let ours = Cube::start(ours).last_frame();
    // The window must not be empty: many different colours are required.
    let colors: std::collections::HashSet<_> = ours.2.chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect();
    assert!(colors.len() > 50, "only {} colours", colors.len());
    // lavapipe does not always show the last frame before a program ends. The cube turns by 4
    // degrees each frame, so the same picture comes back every 90 frames.
    let mut theirs = Command::new("vkcube");
    theirs.args(["--c", "3000"]).env("VK_DRIVER_FILES", LAVAPIPE).env("VK_ICD_FILENAMES", LAVAPIPE);
    let (mut theirs, mut least) = (Cube::start(theirs), f64::INFINITY);
    while least >= 1.0 && theirs.child.try_wait().expect("the program can be waited for").is_none() {
        let theirs = theirs.frame();
        assert_eq!((ours.0, ours.1), (theirs.0, theirs.1));
        least = least.min(difference(&ours.2, &theirs.2));
    }
    assert!(least < 1.0, "no frame of lavapipe's differs by less than {least} steps of 255");
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
    let mut child = Command::new(env!("CARGO_BIN_EXE_vitric"))
        // Generated code draws hundreds of frames a second, which must be seen before they end. The
        // interpreter draws about fifteen beside another pass of the tests.
        .args(["run", "vkcube-wayland", "--c", "500"])
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
    finish(&mut child);
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
