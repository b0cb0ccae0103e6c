//! The only table of knobs. Environment parsing, documentation and `vitric info` all derive from
//! it.
//!
//! The environment is read once, when the first instance is created. An invalid value is reported,
//! and the knob keeps its default.

use std::fmt::{self, Display, Formatter};
use std::sync::OnceLock;
use std::time::Duration;

/// A row of the table: a setting that the user can change in the environment.
#[derive(Debug, Clone, Copy)]
pub struct Knob {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Value if the variable is not set.
    pub default: &'static str,
    /// Description of the effect, with the range of values.
    pub doc: &'static str,
    /// Value that disables a technique of the emulated GPU (DESIGN 3), or reduces it to its
    /// minimum. `None` if the knob has no such value.
    pub off: Option<&'static str>,
    allowed: Allowed,
}

/// Values that a knob allows.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    /// Any text.
    Any,
    /// The words of a list.
    Words(&'static [&'static str]),
    /// Values that a function accepts, and their description.
    Tested(fn(&str) -> bool, &'static str),
}

impl Allowed {
    fn contains(self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Words(words) => words.contains(&value),
            Self::Tested(accepts, _) => accepts(value),
        }
    }
}

impl Display for Allowed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any text"),
            Self::Words(words) => write!(f, "one of {}", words.join(", ")),
            Self::Tested(_, description) => f.write_str(description),
        }
    }
}

const POSITIVE: Allowed =
    Allowed::Tested(|value| value.parse::<u64>().is_ok_and(|value| value > 0), "a whole number of at least 1");
const WHOLE: Allowed = Allowed::Tested(|value| value.parse::<u64>().is_ok(), "a whole number of at least 0");
const SWITCH: Allowed = Allowed::Words(&["on", "off"]);
const CHOICE: Allowed = Allowed::Words(&["off", "auto", "always"]);

/// Most worker threads. Further threads would only cost memory.
const MAX_THREADS: u64 = 256;

/// Parses a value of `VITRIC_NEARMEM` and returns the mode, and the size of near memory in bytes.
///
/// The mode is off, on or always. The size is `None` if the value does not specify it.
pub fn near(value: &str) -> Option<(&str, Option<u64>)> {
    let (mode, size) = match value.split_once(',') {
        Some((mode, size)) => (mode, Some(size)),
        None if value.starts_with(|c: char| c.is_ascii_digit()) => ("on", Some(value)),
        None => (value, None),
    };
    let size = size.map(|size| bytes(size).filter(|bytes| *bytes > 0).ok_or(())).transpose().ok()?;
    matches!(mode, "off" | "on" | "always").then_some((mode, size))
}

/// Parses a size in MiB, or in KiB with the suffix K, and returns it in bytes.
fn bytes(size: &str) -> Option<u64> {
    match size.strip_suffix('K') {
        Some(kib) => kib.parse::<u64>().ok()?.checked_mul(1 << 10),
        None => size.parse::<u64>().ok()?.checked_mul(1 << 20),
    }
}

/// Parses a value of `VITRIC_DECODED` and returns the most bytes for decoded texels.
///
/// `heap` is the size of the memory heap in bytes.
pub fn decoded_bytes(value: &str, heap: u64) -> Option<u64> {
    if value == "auto" { Some(heap / 4) } else { bytes(value) }
}

/// Bound of the primitives that are sorted into tiles and processed together, as set by
/// `VITRIC_WINDOW`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchLimit {
    /// Maximum number of visible primitives.
    Primitives(usize),
    /// Number of bytes of visible primitives and their vertices from which on a batch is full.
    Bytes(usize),
}

impl Default for BatchLimit {
    fn default() -> Self {
        Self::Bytes(16 << 20)
    }
}

/// Parses a value of `VITRIC_WINDOW`: a number of primitives, or a size with the suffix K or M.
pub fn batch_limit(value: &str) -> Option<BatchLimit> {
    let positive = |number: &str| number.parse::<usize>().ok().filter(|number| *number > 0);
    let sized = |number: &str, unit: usize| positive(number)?.checked_mul(unit).map(BatchLimit::Bytes);
    match (value.strip_suffix('K'), value.strip_suffix('M')) {
        (Some(kib), _) => sized(kib, 1 << 10),
        (_, Some(mib)) => sized(mib, 1 << 20),
        _ => positive(value).map(BatchLimit::Primitives),
    }
}

/// Pace of swapchains in FIFO mode, as set by `VITRIC_VSYNC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vsync {
    /// The display's refresh rate, if the display has one.
    Auto,
    /// No pace: each frame is shown at once.
    Off,
    /// One frame in each period.
    Every(Duration),
}

/// Parses a value of `VITRIC_VSYNC`: auto, off, or a rate of 1 to 1000 Hz.
pub fn vsync(value: &str) -> Option<Vsync> {
    match value {
        "auto" => Some(Vsync::Auto),
        "off" => Some(Vsync::Off),
        hertz => {
            let hertz = hertz.parse::<f64>().ok().filter(|hertz| (1.0..=1000.0).contains(hertz))?;
            Some(Vsync::Every(Duration::from_secs_f64(hertz.recip())))
        }
    }
}

const TABLE: &[Knob] = &[
    Knob {
        name: "VITRIC_THREADS",
        default: "0",
        doc: "Number of worker threads, at most 256. 0: the processors that the process may use, by affinity and control groups.",
        off: None,
        allowed: Allowed::Tested(
            |value| value.parse::<u64>().is_ok_and(|value| value <= MAX_THREADS),
            "a whole number of 0 to 256",
        ),
    },
    Knob {
        name: "VITRIC_HEAP_MIB",
        default: "0",
        doc: "Size of the memory heap in MiB. 0: half of the memory that the process may use.",
        off: None,
        allowed: WHOLE,
    },
    Knob {
        name: "VITRIC_TIMEOUT_MS",
        default: "10000",
        doc: "Maximum wall time of one command in milliseconds, after which the device is lost. An indirect or multi draw is one command. Draws whose tiles are processed together have the sum of their times.",
        off: None,
        allowed: POSITIVE,
    },
    Knob {
        name: "VITRIC_TBIMR",
        default: "on",
        doc: "Processing of the tiles of several draws together: on, off (draw by draw, like an immediate renderer).",
        off: Some("off"),
        allowed: SWITCH,
    },
    Knob {
        name: "VITRIC_WINDOW",
        default: "16M",
        doc: "Limit of a batch of primitives whose tiles are processed together. With the suffix K or M: KiB or MiB of visible primitives and their vertices, from which on the batch is full. Without: maximum number of visible primitives, at least 1.",
        off: None,
        allowed: Allowed::Tested(
            |value| batch_limit(value).is_some(),
            "a whole number of at least 1, or one with the suffix K or M",
        ),
    },
    Knob {
        name: "VITRIC_CHUNK",
        default: "8192",
        doc: "Maximum number of primitives of a chunk of a draw, which one thread assembles, shades and culls together, at least 1. Numbers above 16384 mean 16384.",
        off: None,
        allowed: POSITIVE,
    },
    Knob {
        name: "VITRIC_HIZ",
        default: "auto",
        doc: "Tests of primitives against Hi-Z: off, auto (where they pay), always.",
        off: Some("off"),
        allowed: CHOICE,
    },
    Knob {
        name: "VITRIC_COVERAGE",
        default: "hierarchical",
        doc: "Evaluation of coverage: hierarchical (tiles, groups and blocks of pixels first, samples inside of touched ones), flat (every sample in the bounds of a primitive).",
        off: Some("flat"),
        allowed: Allowed::Words(&["hierarchical", "flat"]),
    },
    Knob {
        name: "VITRIC_SCOREBOARD",
        default: "on",
        doc: "Dropping of fragments that newer fragments cover, before they are shaded: on, off.",
        off: Some("off"),
        allowed: SWITCH,
    },
    Knob {
        name: "VITRIC_POSH",
        default: "auto",
        doc: "Position-only shading, which finds invisible primitives before their vertices are shaded in full: off, auto (where it pays), always.",
        off: Some("off"),
        allowed: CHOICE,
    },
    Knob {
        name: "VITRIC_LOOKAHEAD",
        default: "1048576",
        doc: "Maximum number of primitives of deferred draws, on which the cull pipe runs ahead, so that later draws hide earlier ones. 0: no draw is deferred.",
        off: Some("0"),
        allowed: WHOLE,
    },
    Knob {
        name: "VITRIC_PACKING",
        default: "auto",
        doc: "Packing of fragments of several primitives into waves: auto (where it pays), always.",
        off: None,
        allowed: Allowed::Words(&["auto", "always"]),
    },
    Knob {
        name: "VITRIC_INLINE",
        default: "auto",
        doc: "Inlining of image routines into fragment and compute programs: off, auto (programs that run often and stay short), always.",
        off: Some("off"),
        allowed: CHOICE,
    },
    Knob {
        name: "VITRIC_MERGED",
        default: "auto",
        doc: "Merging of vertex and geometry programs: off (two stages with memory between them), or by lanes of an invocation: plain (one), replicated (one for each vertex, where possible), auto (plain).",
        off: Some("off"),
        allowed: Allowed::Words(&["auto", "off", "plain", "replicated"]),
    },
    Knob {
        name: "VITRIC_NEARMEM",
        default: "on",
        doc: "Compaction of images that no submission uses, whose pages can be allocated again: off, on (when memory is short), always (after every submission). A size of near memory in MiB, or in KiB with a K, may follow after a comma or stand alone.",
        off: Some("off"),
        allowed: Allowed::Tested(
            |value| near(value).is_some(),
            "off, on or always, a size of at least 1 in MiB or with a K in KiB, or both with a comma between",
        ),
    },
    Knob {
        name: "VITRIC_DECODED",
        default: "auto",
        doc: "Maximum memory for decoded texels of compressed images, beside the heap, in MiB, or in KiB with a K. auto: a quarter of the heap's size.",
        off: None,
        allowed: Allowed::Tested(
            |value| decoded_bytes(value, 0).is_some(),
            "auto, or a size in MiB or with a K in KiB",
        ),
    },
    Knob {
        name: "VITRIC_FARMEM",
        default: "",
        doc: "Folder of the unnamed file that holds data for which near memory has no room. Its disk must have room when memory is allocated. Empty: memory is used instead.",
        off: None,
        allowed: Allowed::Any,
    },
    Knob {
        name: "VITRIC_CODEGEN",
        default: "auto",
        doc: "Executor of programs: auto (the best that the machine has), avx512, avx2, interp.",
        off: None,
        allowed: Allowed::Words(&["auto", "avx512", "avx2", "interp"]),
    },
    Knob {
        name: "VITRIC_VSYNC",
        default: "auto",
        doc: "Refresh that FIFO presentation follows: auto (that of the display; none under Xvfb, headless surfaces and compositors without one), off, or a rate of 1 to 1000 Hz.",
        off: None,
        allowed: Allowed::Tested(|value| vsync(value).is_some(), "auto, off, or a rate of 1 to 1000 Hz"),
    },
    Knob {
        name: "VITRIC_SYMBOLS",
        default: "off",
        doc: "Tools that get the names of generated code: off, perf (by /tmp/perf-PID.map), gdb (by its JIT interface), all.",
        off: None,
        allowed: Allowed::Words(&["off", "perf", "gdb", "all"]),
    },
    Knob {
        name: "VITRIC_COUNTERS",
        default: "",
        doc: "Folder in which each device leaves a file of its counters when it is destroyed. Empty: nothing is counted.",
        off: None,
        allowed: Allowed::Any,
    },
    Knob {
        name: "VITRIC_LOG",
        default: "warn",
        doc: "Filter of the log: off, error, warn, info, debug.",
        off: None,
        allowed: Allowed::Any,
    },
];

/// Returns all knobs.
pub fn table() -> &'static [Knob] {
    TABLE
}

/// The current values: one for each row of the table.
#[derive(Debug)]
pub struct Values {
    values: Vec<String>,
    /// Problems with values in the environment, one sentence each.
    pub problems: Vec<String>,
}

impl Values {
    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut problems = Vec::new();
        let mut value = |knob: &Knob| match variable(knob.name) {
            Some(value) if knob.allowed.contains(value.trim()) => value.trim().to_owned(),
            Some(value) => {
                let Knob { name, allowed, default, .. } = knob;
                problems.push(format!("{name}={value}: expected {allowed}; using the default, {default}"));
                knob.default.to_owned()
            }
            None => knob.default.to_owned(),
        };
        let values = TABLE.iter().map(&mut value).collect();
        Self { values, problems }
    }

    /// Returns the value of a knob, or an empty string if the table has no knob of this name.
    pub fn text(&self, name: &str) -> &str {
        let index = TABLE.iter().position(|knob| knob.name == name);
        index.map_or("", |index| &self.values[index])
    }

    /// Returns the value of a numeric knob.
    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }
}

/// Returns the values, which the first call parses from the environment.
pub fn values() -> &'static Values {
    static VALUES: OnceLock<Values> = OnceLock::new();
    VALUES.get_or_init(|| Values::read(|name| std::env::var(name).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_bad_values_are_reported() {
        assert!(TABLE.iter().all(|knob| {
            [Some(knob.default), knob.off].into_iter().flatten().all(|value| knob.allowed.contains(value))
        }));
        let values = Values::read(|name| match name {
            "VITRIC_THREADS" => Some(" 3 ".into()),
            "VITRIC_HEAP_MIB" => Some("lots".into()),
            _ => None,
        });
        assert_eq!(values.number("VITRIC_THREADS"), 3);
        assert_eq!(values.number("VITRIC_HEAP_MIB"), 0);
        assert_eq!(
            values.problems,
            ["VITRIC_HEAP_MIB=lots: expected a whole number of at least 0; using the default, 0"]
        );
        let many = Values::read(|name| (name == "VITRIC_THREADS").then(|| "257".into()));
        assert_eq!((many.number("VITRIC_THREADS"), many.problems.len()), (0, 1));
        assert_eq!(values.text("VITRIC_NOTHING"), "");
    }

    #[test]
    fn batches_have_a_number_of_primitives_or_a_size() {
        let values = ["1", "1000", "64K", "16M"].map(batch_limit);
        let sizes = [64 << 10, 16 << 20].map(BatchLimit::Bytes);
        let expected = [BatchLimit::Primitives(1), BatchLimit::Primitives(1000), sizes[0], sizes[1]];
        assert_eq!(values, expected.map(Some));
        for wrong in ["", "0", "0K", "M", "-1", "1.5M", "16MiB", "all", "18446744073709551615K"] {
            assert_eq!(batch_limit(wrong), None, "{wrong}");
        }
        let defaults = Values::read(|_| None);
        assert_eq!(batch_limit(defaults.text("VITRIC_WINDOW")), Some(BatchLimit::default()));
    }

    #[test]
    fn vsync_is_automatic_off_or_a_rate() {
        assert_eq!([vsync("auto"), vsync("off")], [Some(Vsync::Auto), Some(Vsync::Off)]);
        let rates = [("1", 1_000_000_000), ("59.94", 16_683_350), ("1000", 1_000_000)];
        for (rate, nanoseconds) in rates {
            assert_eq!(vsync(rate), Some(Vsync::Every(Duration::from_nanos(nanoseconds))), "{rate}");
        }
        for wrong in ["", "on", "0", "0.5", "1001", "-60", "60Hz", "nan", "inf"] {
            assert_eq!(vsync(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn near_memory_has_a_mode_and_a_size() {
        assert_eq!(near("always"), Some(("always", None)));
        assert_eq!([near("64"), near("on,64")], [Some(("on", Some(64 << 20))); 2]);
        assert_eq!(near("always,64K"), Some(("always", Some(64 << 10))));
        for wrong in
            ["", "maybe", "on,", "on,0", "64M", "-1", "on,64K,3", "99999999999999999999", "18446744073709551615"]
        {
            assert_eq!(near(wrong), None, "{wrong}");
        }
    }
}
