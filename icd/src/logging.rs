//! The log sink: standard error, filtered by `VITRIC_LOG`. A logger that the host program has set
//! is kept.

use env_filter::{Builder, Filter};
use vitric_base::knobs;

struct Sink(Filter);

impl log::Log for Sink {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        self.0.enabled(metadata)
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.0.matches(record) {
            eprintln!("vitric: {}: {}", record.level(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Sets the log sink and reports problems of the environment. The driver's library has a separate
/// copy of the log crate's state, so the host's logger is not changed. If the driver is linked
/// statically, a logger that is already set is kept.
pub fn start() {
    let values = knobs::values();
    let filter = Builder::new().parse(values.text("VITRIC_LOG")).build();
    let level = filter.filter();
    if log::set_boxed_logger(Box::new(Sink(filter))).is_ok() {
        log::set_max_level(level);
        log::debug!(target: "vitric", "the driver is built from sources with the digest {}", crate::SOURCES);
        for problem in &values.problems {
            log::warn!(target: "vitric", "{problem}");
        }
    }
}
