//! The one table of knobs: environment parsing, documentation and `vitric info` all come from it.
//!
//! A knob is read once, when the first instance is created. A value that does not parse leaves the default and is reported.

use std::sync::OnceLock;
use std::time::Duration;

/// One knob.
#[derive(Debug, Clone, Copy)]
pub struct Knob {
    /// Environment variable.
    pub name: &'static str,
    /// Value when the variable is not set.
    pub default: &'static str,
    /// What it does, with its range.
    pub doc: &'static str,
    /// The value that switches a technique of the emulated GPU off (DESIGN 3), or makes as little of it as there can be.
    pub off: Option<&'static str>,
    check: fn(&str) -> bool,
}

fn positive(value: &str) -> bool {
    value.parse::<u64>().is_ok_and(|value| value > 0)
}

fn whole(value: &str) -> bool {
    value.parse::<u64>().is_ok()
}

/// More threads than this would only cost memory.
const MAX_THREADS: u64 = 256;

fn threads(value: &str) -> bool {
    value.parse::<u64>().is_ok_and(|value| value <= MAX_THREADS)
}

fn codegen(value: &str) -> bool {
    matches!(value, "auto" | "avx512" | "avx2" | "interp")
}

fn symbols(value: &str) -> bool {
    matches!(value, "off" | "perf" | "gdb" | "all")
}

fn switch(value: &str) -> bool {
    matches!(value, "on" | "off")
}

fn choice(value: &str) -> bool {
    matches!(value, "off" | "auto" | "always")
}

fn packing(value: &str) -> bool {
    matches!(value, "auto" | "always")
}

fn merged(value: &str) -> bool {
    matches!(value, "auto" | "plain" | "replicated")
}

/// When images rest, and bytes of near memory, where that was said.
pub fn near(value: &str) -> Option<(&str, Option<u64>)> {
    let (mode, size) = match value.split_once(',') {
        Some((mode, size)) => (mode, Some(size)),
        None if value.starts_with(|c: char| c.is_ascii_digit()) => ("on", Some(value)),
        None => (value, None),
    };
    let size = size.map(|size| bytes(size).filter(|bytes| *bytes > 0).ok_or(())).transpose().ok()?;
    matches!(mode, "off" | "on" | "always").then_some((mode, size))
}

fn nearmem(value: &str) -> bool {
    near(value).is_some()
}

/// Bytes of a size in MiB, or in KiB with a K.
fn bytes(size: &str) -> Option<u64> {
    match size.strip_suffix('K') {
        Some(kib) => kib.parse::<u64>().ok()?.checked_mul(1 << 10),
        None => size.parse::<u64>().ok()?.checked_mul(1 << 20),
    }
}

/// Bytes that decoded texels may take of a heap's size.
pub fn decoded_bytes(value: &str, heap: u64) -> Option<u64> {
    if value == "auto" { Some(heap / 4) } else { bytes(value) }
}

fn decoded(value: &str) -> bool {
    decoded_bytes(value, 0).is_some()
}

/// Pace of swapchains in FIFO mode, as `VITRIC_VSYNC` sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vsync {
    /// The display's refresh, where it has one.
    Auto,
    /// No pace: frames are shown as they come.
    Off,
    /// One frame in each period.
    Every(Duration),
}

/// Parses a value of `VITRIC_VSYNC`: auto, off, or 1 to 1000 Hz.
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

fn is_vsync(value: &str) -> bool {
    vsync(value).is_some()
}

fn any(_: &str) -> bool {
    true
}

const TABLE: &[Knob] = &[
    Knob {
        name: "VITRIC_THREADS",
        default: "0",
        doc: "Worker threads, at most 256; 0: as many as the process has processors, by affinity and control groups.",
        off: None,
        check: threads,
    },
    Knob {
        name: "VITRIC_HEAP_MIB",
        default: "0",
        doc: "Size of the memory heap in MiB; 0: half of the memory that the process may use.",
        off: None,
        check: whole,
    },
    Knob {
        name: "VITRIC_TIMEOUT_MS",
        default: "10000",
        doc: "Longest wall time in milliseconds of one command before the device is lost; draws whose tiles are walked together have the sum of theirs.",
        off: None,
        check: positive,
    },
    Knob {
        name: "VITRIC_WINDOW",
        default: "8192",
        doc: "Primitives of a window, which are set up and sorted into tiles together, at least 1.",
        off: Some("1"),
        check: positive,
    },
    Knob {
        name: "VITRIC_HIZ",
        default: "auto",
        doc: "Whether primitives are tested against the hierarchical visibility structure: off, auto (where that pays), always.",
        off: Some("off"),
        check: choice,
    },
    Knob {
        name: "VITRIC_SCOREBOARD",
        default: "on",
        doc: "Whether fragments that newer ones cover are dropped before they are shaded: on, off.",
        off: Some("off"),
        check: switch,
    },
    Knob {
        name: "VITRIC_POSH",
        default: "auto",
        doc: "Whether primitives that cannot be seen are found before their vertices are shaded in full: off, auto (where that pays), always.",
        off: Some("off"),
        check: choice,
    },
    Knob {
        name: "VITRIC_LOOKAHEAD",
        default: "1048576",
        doc: "Primitives of draws that wait, at most, while the cull pipe runs ahead on them, so that later ones hide earlier ones; 0: none.",
        off: Some("0"),
        check: whole,
    },
    Knob {
        name: "VITRIC_PACKING",
        default: "auto",
        doc: "Whether fragments of several primitives share waves: auto (where that pays), always.",
        off: None,
        check: packing,
    },
    Knob {
        name: "VITRIC_INLINE",
        default: "auto",
        doc: "Whether look-ups in images become a part of the fragment and compute programs that make them: off, auto (where these run \
              often and stay short), always.",
        off: Some("off"),
        check: choice,
    },
    Knob {
        name: "VITRIC_MERGED",
        default: "auto",
        doc: "Lanes of a geometry program's invocation: auto (by what it emits), plain (one), replicated (one for each vertex, where \
              that leaves images as they are).",
        off: Some("plain"),
        check: merged,
    },
    Knob {
        name: "VITRIC_NEARMEM",
        default: "on",
        doc: "Whether images that no submission uses rest compacted in near memory, and their pages go back to the system: off, on (what was \
              idle for a time), always (after every submission: for tests). With a comma behind it, the size of near memory in MiB, or in \
              KiB with a K; it is as large as the heap else.",
        off: Some("off"),
        check: nearmem,
    },
    Knob {
        name: "VITRIC_DECODED",
        default: "auto",
        doc: "Most memory for decoded texels of compressed images, beside the heap, in MiB, or in KiB with a K; auto: a quarter of the heap's \
              size. What finds no room there is decoded as it is sampled.",
        off: None,
        check: decoded,
    },
    Knob {
        name: "VITRIC_FARMEM",
        default: "",
        doc: "Folder of the file without a name to which goes what near memory has no room for, and whose disk must have room for that when memory \
              is allocated; empty: it is memory.",
        off: None,
        check: any,
    },
    Knob {
        name: "VITRIC_CODEGEN",
        default: "auto",
        doc: "What runs programs: auto (the best the machine has), avx512, avx2, interp.",
        off: None,
        check: codegen,
    },
    Knob {
        name: "VITRIC_VSYNC",
        default: "auto",
        doc: "Refresh that FIFO presentation follows: auto (the display's; none under Xvfb, headless surfaces and compositors without one), \
              off (none), or a rate of 1 to 1000 Hz.",
        off: None,
        check: is_vsync,
    },
    Knob {
        name: "VITRIC_SYMBOLS",
        default: "off",
        doc: "Who is told the names of generated code: off, perf (by /tmp/perf-PID.map), gdb (by its JIT interface), all.",
        off: None,
        check: symbols,
    },
    Knob {
        name: "VITRIC_COUNTERS",
        default: "",
        doc: "Folder in which each device leaves a file of what it counted when it goes; empty: nothing is counted.",
        off: None,
        check: any,
    },
    Knob {
        name: "VITRIC_LOG",
        default: "warn",
        doc: "Log filter: off, error, warn, info, debug.",
        off: None,
        check: any,
    },
];

/// All knobs.
pub fn table() -> &'static [Knob] {
    TABLE
}

/// The values in force: one per row of the table.
#[derive(Debug)]
pub struct Values {
    values: Vec<String>,
    /// What was wrong with the environment, a sentence each.
    pub problems: Vec<String>,
}

impl Values {
    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut problems = Vec::new();
        let mut value = |knob: &Knob| match variable(knob.name) {
            Some(value) if (knob.check)(value.trim()) => value.trim().to_owned(),
            Some(value) => {
                problems.push(format!("{}={value} is not valid: {} Using {}.", knob.name, knob.doc, knob.default));
                knob.default.to_owned()
            }
            None => knob.default.to_owned(),
        };
        let values = TABLE.iter().map(&mut value).collect();
        Self { values, problems }
    }

    /// The value of a knob; empty for a name that is not in the table.
    pub fn text(&self, name: &str) -> &str {
        let index = TABLE.iter().position(|knob| knob.name == name);
        index.map_or("", |index| &self.values[index])
    }

    /// The value of a numeric knob.
    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }
}

/// The values, parsed from the environment at the first call.
pub fn values() -> &'static Values {
    static VALUES: OnceLock<Values> = OnceLock::new();
    VALUES.get_or_init(|| Values::read(|name| std::env::var(name).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_bad_values_are_reported() {
        assert!(TABLE.iter().all(|knob| (knob.check)(knob.default) && knob.off.is_none_or(knob.check)));
        let values = Values::read(|name| match name {
            "VITRIC_THREADS" => Some(" 3 ".into()),
            "VITRIC_HEAP_MIB" => Some("lots".into()),
            _ => None,
        });
        assert_eq!(values.number("VITRIC_THREADS"), 3);
        assert_eq!(values.number("VITRIC_HEAP_MIB"), 0);
        assert_eq!(values.problems.len(), 1);
        let many = Values::read(|name| (name == "VITRIC_THREADS").then(|| "257".into()));
        assert_eq!((many.number("VITRIC_THREADS"), many.problems.len()), (0, 1));
        assert_eq!(values.text("VITRIC_NOTHING"), "");
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
