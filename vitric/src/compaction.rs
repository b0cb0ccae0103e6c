//! Compression ratios of near memory for the images of scenes, by type, counted while all images
//! are compacted after every submission.

use serde_json::Value;
use vitric_samples::{GpuOptions, Options, SceneInfo};

use crate::{Failure, heatmaps};

/// Types of images by the names of their counters, with a description.
const KINDS: [(&str, &str); 4] = [
    ("color", "colour"),
    ("hdr", "colour, floating-point"),
    ("samples", "colour, several samples"),
    ("depth", "depth, stencil"),
];

/// Raw bytes, raw bytes in spans that repeat one line, and compressed bytes of the others.
type Bytes = [f64; 3];

/// Returns a table of scenes and types: compacted MiB, the share of it that needs no near memory,
/// and the compression ratios of the remainder and of all. Images that are not written between two
/// submissions count each time. Passes store all attachments, because multisampled ones would be
/// discarded otherwise.
pub fn table(scenes: &[&SceneInfo], options: &Options) -> Result<Vec<String>, Failure> {
    let row = |scene: &str, kind: &str, columns: [String; 4]| {
        let [raw, uniform, coded, all] = columns;
        format!("{scene:<12} {kind:<24} {raw:>9} {uniform:>7} {coded:>9} {all:>9}")
    };
    let head = ["MiB", "uniform", "others", "all"].map(str::to_owned);
    let mut lines = vec![row("scene", "kind", head)];
    let mut sums = [[0.0; 3]; KINDS.len()];
    let options = Options { gpu: GpuOptions { stores_all: true, ..options.gpu }, ..*options };
    for scene in scenes {
        let (_, report) = heatmaps::counted(scene, &options, &[("VITRIC_NEARMEM", "always")])?;
        for ((name, kind), sum) in KINDS.iter().zip(&mut sums) {
            let bytes = ["raw", "uniform", "coded"].map(|what| value(&report, &format!("{what}_{name}")));
            sum.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
            lines.extend(columns(bytes).map(|columns| row(scene.name, kind, columns)));
        }
    }
    lines.extend(KINDS.iter().zip(sums).filter_map(|((_, kind), sum)| Some(row("all", kind, columns(sum)?))));
    Ok(lines)
}

fn value(report: &Value, name: &str) -> f64 {
    let counters = report["counters"].as_array().into_iter().flatten();
    counters.filter(|counter| counter["name"] == *name).filter_map(|counter| counter["value"].as_f64()).sum()
}

/// Returns the columns of a row, if there are counts.
fn columns([raw, uniform, coded]: Bytes) -> Option<[String; 4]> {
    let ratio = |bytes: f64| if coded > 0.0 { format!("{:.2} : 1", bytes / coded) } else { "-".into() };
    let columns = [
        format!("{:.1}", raw / 1_048_576.0),
        format!("{:.0} %", 100.0 * uniform / raw),
        ratio(raw - uniform),
        ratio(raw),
    ];
    (raw > 0.0).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_ratios() {
        let mib = 1_048_576.0;
        assert_eq!(columns([4.0 * mib, mib, mib]).unwrap(), ["4.0", "25 %", "3.00 : 1", "4.00 : 1"]);
        assert_eq!(columns([mib, mib, 0.0]).unwrap(), ["1.0", "100 %", "-", "-"]);
        assert!(columns([0.0; 3]).is_none());
        let report =
            serde_json::json!({"counters": [{"name": "raw_hdr", "value": 7}, {"name": "coded_hdr", "value": 3}]});
        assert_eq!((value(&report, "raw_hdr"), value(&report, "uniform_hdr")), (7.0, 0.0));
    }
}
