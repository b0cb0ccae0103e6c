//! Heat maps of scenes, drawn from the driver's counters.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use vitric_samples::{Options, Picture, SceneInfo};

use crate::Failure;

/// A picture's name, and the function that derives a value for each group of 8x8 pixels from the
/// maps.
type Kind = (&'static str, fn(&Value) -> Vec<f64>);

const KINDS: [Kind; 4] = [
    ("overdraw", |values| numbers(&values["overdraw"]).into_iter().map(|samples| samples / PIXELS).collect()),
    ("hiz_kills", |values| numbers(&values["hiz_kills"])),
    ("dropped", |values| numbers(&values["dropped"]).into_iter().map(|fragments| fragments / PIXELS).collect()),
    ("occupancy", |values| {
        let (waves, lanes) = (numbers(&values["waves"]), numbers(&values["lanes"]));
        waves.iter().zip(lanes).map(|(&waves, lanes)| if waves > 0.0 { lanes / (waves * LANES) } else { 0.0 }).collect()
    }),
];

/// Pixels of a group.
const PIXELS: f64 = 64.0;
/// Lanes of a wave.
const LANES: f64 = 16.0;
/// Pixels of a group's side, and groups of a tile's side.
const SIDE: usize = 8;

/// Renders a scene in a counting process, and writes `SCENE-KIND.png` for each type of map and
/// `SCENE-counters.json` beside the scene's picture. Returns a line of text about each.
pub fn make(scene: &SceneInfo, options: &Options, out: &Path) -> Result<Vec<String>, Failure> {
    let failed = |what: &str| Failure::new(format!("{}: {what}", scene.name));
    let (text, report) = counted(scene, options, &[])?;
    let counters = out.join(format!("{}-counters.json", scene.name));
    std::fs::write(&counters, &text).map_err(|e| failed(&format!("{} cannot be written: {e}", counters.display())))?;
    let mut lines = Vec::new();
    let Some(maps) = of_size(&report["maps"], options) else { return Ok(lines) };
    for (name, values) in KINDS {
        let (values, columns) = (values(&maps["values"]), maps["columns"].as_u64().unwrap_or(1) as usize);
        let most = values.iter().fold(0.0f64, |most, &value| most.max(value));
        let file = out.join(format!("{}-{name}.png", scene.name));
        let scale = if name == "occupancy" { 1.0 } else { most };
        draw(&values, columns, options, scale).save(&file).map_err(|e| failed(&e.to_string()))?;
        lines.push(format!("{:<12} {name:<10} at most {most:>8.2}   {}", scene.name, file.display()));
    }
    Ok(lines)
}

/// Renders a scene in a counting process with these variables. Returns the counters, as text and
/// parsed.
pub fn counted(scene: &SceneInfo, options: &Options, variables: &[(&str, &str)]) -> Result<(String, Value), Failure> {
    let failed = |what: &str| Failure::new(format!("{}: {what}", scene.name));
    let folder = std::env::temp_dir().join(format!("vitric-counted-{}-{}", std::process::id(), scene.name));
    let size = format!("{}x{}", options.width, options.height);
    let program =
        std::env::current_exe().map_err(|e| failed(&format!("the path of this program cannot be read: {e}")))?;
    let done = Command::new(program)
        .args(["gallery", scene.name, "--size", &size, "--frames", &options.frames.to_string(), "--out"])
        .arg(folder.join("pictures"))
        .args(options.gpu.stores_all.then_some("--store-all"))
        .env("VITRIC_COUNTERS", folder.join("counters"))
        .envs(variables.iter().copied())
        .output()
        .map_err(|e| failed(&format!("the counting process cannot be started: {e}")))?;
    if !done.status.success() {
        return Err(failed(&String::from_utf8_lossy(&done.stderr)));
    }
    let text = read(&folder.join("counters")).ok_or_else(|| failed("the counting process wrote no counters"))?;
    let _ = std::fs::remove_dir_all(&folder);
    let report = serde_json::from_str(&text).map_err(|e| failed(&format!("the counters are not JSON: {e}")))?;
    Ok((text, report))
}

/// Returns the only file of a folder.
fn read(folder: &Path) -> Option<String> {
    let file = std::fs::read_dir(folder).ok()?.next()?.ok()?;
    std::fs::read_to_string(file.path()).ok()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().map_or(Vec::new(), |values| values.iter().filter_map(Value::as_f64).collect())
}

/// Returns the maps of targets that have the size of the pictures.
fn of_size<'v>(maps: &'v Value, options: &Options) -> Option<&'v Value> {
    let groups = |pixels: u32| u64::from(pixels).div_ceil(64) * SIDE as u64;
    let (columns, rows) = (groups(options.width), groups(options.height));
    maps.as_array()?.iter().find(|maps| maps["columns"] == columns && maps["rows"] == rows)
}

/// Returns a picture of values, from black for 0 over blue, red and yellow to white for `scale`.
fn draw(values: &[f64], columns: usize, options: &Options, scale: f64) -> Picture {
    let (width, height) = (options.width, options.height);
    let mut rgba = Vec::with_capacity((width * height * 4) as usize);
    for y in 0..height as usize {
        for x in 0..width as usize {
            let value = values.get(y / SIDE * columns + x / SIDE).copied().unwrap_or(0.0);
            let [red, green, blue] = color(if scale > 0.0 { value / scale } else { 0.0 });
            rgba.extend([red, green, blue, 255]);
        }
    }
    Picture { width, height, rgba }
}

fn color(share: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 5] =
        [[0.0, 0.0, 0.0], [0.1, 0.2, 0.8], [0.85, 0.1, 0.2], [1.0, 0.85, 0.1], [1.0, 1.0, 1.0]];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let between = place - below as f64;
    [0, 1, 2].map(|channel: usize| {
        let [low, high] = [STOPS[below][channel], STOPS[below + 1][channel]];
        ((low + (high - low) * between) * 255.0).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_go_from_black_to_white() {
        assert_eq!((color(0.0), color(1.0), color(7.0)), ([0; 3], [255; 3], [255; 3]));
        assert_eq!(color(0.5), [217, 26, 51]);
    }

    #[test]
    fn maps_of_the_pictures_size_are_drawn() {
        let values: Vec<u32> = (0..64).collect();
        let maps =
            |columns: u32| serde_json::json!({ "columns": columns, "rows": 8, "values": { "overdraw": values } });
        let all = serde_json::json!([maps(16), maps(8)]);
        let options = Options { width: 33, height: 20, ..Options::default() };
        let found = of_size(&all, &options).unwrap();
        assert_eq!(found["columns"], 8);
        let values = KINDS[0].1(&found["values"]);
        let picture = draw(&values, 8, &options, values[20]);
        let at = |x: usize, y: usize| &picture.rgba[(y * 33 + x) * 4..][..3];
        assert_eq!((at(0, 0), at(32, 19)), (&[0, 0, 0][..], &[255, 255, 255][..]));
    }
}
