//! The gallery: a folder with one PNG a scene and one self-contained HTML page.
//!
//! The page embeds its pictures (base64), so it can be sent as one file.

use crate::error::{Error, Result};
use crate::{Options, SceneInfo, Shot, render};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Progress of the gallery.
pub enum Progress<'a> {
    /// Scene number `index` of `count` begins.
    Begin {
        /// The scene.
        scene: &'static SceneInfo,
        /// Position, from 0.
        index: usize,
        /// Number of scenes.
        count: usize,
    },
    /// A scene is rendered and its PNG written.
    Done {
        /// The rendered scene.
        shot: &'a Shot,
        /// Path of its picture.
        file: &'a Path,
    },
}

/// Renders `scenes` into `out` and writes the page. Returns the page's path and the shots.
pub fn make(
    entry: &ash::Entry,
    scenes: &[&'static SceneInfo],
    options: &Options,
    out: &Path,
    mut tell: impl FnMut(Progress<'_>),
) -> Result<(PathBuf, Vec<Shot>)> {
    let file = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::File { path, source }
    };
    std::fs::create_dir_all(out).map_err(file(out))?;
    let mut shots = Vec::with_capacity(scenes.len());
    for (index, &scene) in scenes.iter().enumerate() {
        tell(Progress::Begin { scene, index, count: scenes.len() });
        let shot = render(entry, scene, options)?;
        let path = out.join(format!("{}.png", scene.name));
        shot.picture.save(&path)?;
        tell(Progress::Done { shot: &shot, file: &path });
        shots.push(shot);
    }
    let page = out.join("index.html");
    std::fs::write(&page, html(&shots)?).map_err(file(&page))?;
    Ok((page, shots))
}

/// Returns the page.
pub fn html(shots: &[Shot]) -> Result<String> {
    let device = shots.first().map_or("no device", |s| s.device.as_str());
    let mut figures = String::new();
    for shot in shots {
        figures.push_str(&figure(shot)?);
    }
    Ok(PAGE.replace("{device}", &escape(device)).replace("{figures}", &figures))
}

fn figure(shot: &Shot) -> Result<String> {
    let (name, title, about) = (shot.scene.name, escape(shot.scene.title), escape(shot.scene.about));
    let (width, height) = (shot.picture.width, shot.picture.height);
    let data = base64(&shot.picture.to_png()?);
    let mut figure = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        figure,
        r#"<figure id="{name}"><a href="{name}.png"><img src="data:image/png;base64,{data}" alt="{title}" width="{width}" height="{height}" loading="lazy"></a>
<figcaption><h2>{title}</h2><p>{about}</p><p class="facts"><span>{:.1} ms a frame</span><span>{:.0} ms set-up</span><span>{width}&#8239;&times;&#8239;{height}</span></p></figcaption></figure>
"#,
        shot.frame_ms(),
        shot.setup_ms
    );
    Ok(figure)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |g, &b| g << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit as char } else { '=' });
        }
    }
    text
}

const PAGE: &str = include_str!("gallery.html");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_as_rfc_4648_says() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn the_page_names_no_outside_resource() {
        let page = html(&[]).unwrap();
        assert!(page.contains("<main>") && !page.contains("{figures}") && !page.contains("{device}"));
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
    }
}
