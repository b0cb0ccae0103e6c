//! The driver library, and the manifest through which the Vulkan loader finds it.
//!
//! Source: the loader's LoaderDriverInterface document, "ICD Manifest File Format".

use crate::Failure;
use std::path::{Path, PathBuf};

/// File name of the driver library.
pub const LIBRARY: &str = "libvulkan_vitric.so";
/// File name of the manifest.
pub const MANIFEST: &str = "vitric_icd.json";
/// The Vulkan version in the manifest.
pub const API_VERSION: &str = "1.4.343";

/// Returns the path of the driver library beside this program or in its `deps` folder, whichever
/// is newer: a build of tests renews only the second one.
pub fn library() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::new(format!("the path of this program cannot be read: {e}: mount /proc")))?;
    let program = program.canonicalize().unwrap_or(program);
    let folder = program.parent().unwrap_or(Path::new("/"));
    find(folder).ok_or_else(|| {
        Failure::new(format!(
            "the driver library {LIBRARY} is neither in {} nor in its folder deps: build it with `cargo build`",
            folder.display()
        ))
    })
}

fn find(folder: &Path) -> Option<PathBuf> {
    let modified = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).ok();
    // The last one of equal times is taken.
    let places = [folder.join("deps").join(LIBRARY), folder.join(LIBRARY)];
    places.into_iter().filter(|path| path.is_file()).max_by_key(modified)
}

/// Returns the manifest's text for a library.
pub fn text(library: &Path) -> String {
    let manifest = serde_json::json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": library, "api_version": API_VERSION },
    });
    format!("{manifest:#}\n")
}

/// Writes the manifest into `folder`, which is created if necessary, in one step, so that no
/// reader sees half of it.
pub fn write(folder: &Path, library: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(MANIFEST);
    let draft = folder.join(format!("{MANIFEST}.{}", std::process::id()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&draft, text(library)))
        .and_then(|()| std::fs::rename(&draft, &path));
    written.map_err(|e| {
        Failure::new(format!("the manifest {} cannot be written: {e}: expected a writable folder", path.display()))
    })?;
    Ok(path)
}

/// Writes the manifest of the library beside this program to the user's cache, and returns the
/// variables that name it: `VK_DRIVER_FILES`, and `VK_ICD_FILENAMES` for loaders before 1.3.207.
pub fn variables() -> Result<[(&'static str, PathBuf); 2], Failure> {
    let library = library()?;
    let manifest = write(&cache_folder().join(key(&library)), &library)?;
    Ok([("VK_DRIVER_FILES", manifest.clone()), ("VK_ICD_FILENAMES", manifest)])
}

/// Returns a folder name for each library, so that two builds do not overwrite each other's
/// manifest.
fn key(library: &Path) -> String {
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = library.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("icd-{hash:016x}")
}

/// Returns $XDG_CACHE_HOME/vitric, ~/.cache/vitric, or a folder of this user among the temporary
/// files.
pub fn cache_folder() -> PathBuf {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("vitric")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_is_json_with_the_absolute_path() {
        let path = Path::new("/a \"quoted\"/libvulkan_vitric.so");
        let json: serde_json::Value = serde_json::from_str(&text(path)).unwrap();
        assert_eq!(json["ICD"]["library_path"], path.to_str().unwrap());
        let version = vitric_api::physical::API_VERSION;
        let (minor, patch) = (ash::vk::api_version_minor(version), ash::vk::api_version_patch(version));
        assert_eq!(json["ICD"]["api_version"], format!("1.{minor}.{patch}"));
    }

    #[test]
    fn a_written_manifest_reads_back_and_the_library_is_found_in_deps() {
        let folder = std::env::temp_dir().join(format!("vitric-manifest-{}", std::process::id()));
        assert!(find(&folder).is_none());
        std::fs::create_dir_all(folder.join("deps")).unwrap();
        let library = folder.join("deps").join(LIBRARY);
        std::fs::write(&library, "").unwrap();
        assert_eq!(find(&folder), Some(library.clone()));
        let beside = folder.join(LIBRARY);
        let file = std::fs::File::create(&beside).unwrap();
        let time = std::fs::metadata(&library).unwrap().modified().unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(find(&folder), Some(beside));
        file.set_modified(time - std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(find(&folder), Some(library.clone()));
        let path = write(&folder, &library).ok().unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), text(&library));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
