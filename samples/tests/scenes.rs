//! Every scene on this driver: against its reviewed reference picture, twice the same, and under the validation
//! layer through the system's loader.
//!
//! References are `samples/reference/NAME.png` at 320x180. They come from this driver, were looked at and compared
//! with another driver's pictures before they were committed; `VITRIC_BLESS=1` writes them anew. Thresholds: the
//! driver itself is bit-exact, but meshes and textures are made with the host's `sin` and `cos`, which may differ in
//! the last bit and so move a silhouette by a sample: mean at most 0.25 of 255, at most 0.5 % of pixels far off.

use std::path::{Path, PathBuf};
use std::process::Command;
use vitric_samples::{Options, Picture, SceneInfo, render, scenes};

const MEAN: f64 = 0.25;
const FAR: f64 = 0.005;

fn options() -> Options {
    Options { width: 320, height: 180, ..Options::default() }
}

fn picture(scene: &'static SceneInfo) -> Picture {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own and follows vkGetInstanceProcAddr's contract.
    let entry = unsafe { ash::Entry::from_static_fn(functions) };
    render(&entry, scene, &options()).unwrap_or_else(|e| panic!("{}: {e}", scene.name)).picture
}

fn reference(scene: &SceneInfo) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference").join(format!("{}.png", scene.name))
}

fn compare(scene: &'static SceneInfo) -> Result<(), String> {
    let (path, new) = (reference(scene), picture(scene));
    if std::env::var_os("VITRIC_BLESS").is_some() {
        return new.save(&path).map_err(|e| e.to_string());
    }
    let old = Picture::load(&path).map_err(|e| e.to_string())?;
    let difference = old.difference(&new).map_err(|e| e.to_string())?;
    if difference.mean <= MEAN && difference.far <= FAR {
        return Ok(());
    }
    let kept = std::env::temp_dir().join(format!("vitric-{}.png", scene.name));
    new.save(&kept).map_err(|e| e.to_string())?;
    Err(format!("{}: {difference:?}; the new picture is {}", scene.name, kept.display()))
}

#[test]
fn scenes_match_their_reference_pictures() {
    let wrong: Vec<_> = scenes().iter().filter_map(|scene| compare(scene).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_scene_is_the_same_twice() {
    for name in ["triangle", "cube"] {
        let scene = vitric_samples::find(name).expect("the scene exists");
        assert_eq!(picture(scene), picture(scene), "{name}");
    }
}

/// The driver library that was built for this test, which lies among its dependencies.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let library = test.with_file_name("libvulkan_vitric.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

#[test]
fn scenes_pass_the_validation_layer_through_the_loader_without_a_message() {
    let folder = std::env::temp_dir().join(format!("vitric-validate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let manifest = folder.join("icd.json");
    let icd = serde_json::json!({ "library_path": library(), "api_version": "1.0.0" });
    let text = serde_json::json!({ "file_format_version": "1.0.1", "ICD": icd }).to_string();
    std::fs::write(&manifest, text).expect("the manifest can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_gallery-loader"))
        .args(["--validate", "--size", "320x180", "--out"])
        .arg(&folder)
        .env("VK_DRIVER_FILES", &manifest)
        .env("VK_ICD_FILENAMES", &manifest)
        .output()
        .expect("gallery-loader starts");
    let _ = std::fs::remove_dir_all(&folder);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    for scene in scenes() {
        assert!(out.contains(scene.name), "{} was not rendered:\n{out}", scene.name);
    }
}
