//! The log sink: standard error, filtered by `VITRIC_LOG`. A logger that the host program has set
//! is kept.

use env_filter::{Builder, Filter};
use log::LevelFilter;
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

/// Returns the filter that the value of `VITRIC_LOG` describes. For a value that is no filter,
/// returns the default one and a message.
fn parse(value: &str) -> (Filter, Option<String>) {
    let mut builder = Builder::new();
    let problem = builder.try_parse(value).err();
    if problem.is_some() {
        builder.filter_level(LevelFilter::Warn);
    }
    let message = |problem| {
        format!("VITRIC_LOG={value}: {problem}: expected off, error, warn, info or debug; using the default, warn")
    };
    (builder.build(), problem.map(message))
}

/// Sets the log sink and reports problems of the environment. The driver's library has a separate
/// copy of the log crate's state, so the host's logger is not changed. If the driver is linked
/// statically, a logger that is already set is kept.
pub fn start() {
    let values = knobs::values();
    let (filter, problem) = parse(values.text("VITRIC_LOG"));
    let level = filter.filter();
    if log::set_boxed_logger(Box::new(Sink(filter))).is_ok() {
        log::set_max_level(level);
        log::debug!(target: "vitric", "the driver is built from sources with the digest {}", crate::SOURCES);
        for problem in values.problems.iter().chain(&problem) {
            log::warn!(target: "vitric", "{problem}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_filters_are_reported() {
        for (value, level) in
            [("off", LevelFilter::Off), ("info", LevelFilter::Info), ("vitric=debug", LevelFilter::Debug)]
        {
            let (filter, problem) = parse(value);
            assert_eq!((filter.filter(), problem), (level, None), "{value}");
        }
        let (filter, problem) = parse("warn,vitric=loud");
        assert_eq!(filter.filter(), LevelFilter::Warn);
        assert!(problem.is_some_and(|problem| problem.starts_with("VITRIC_LOG=warn,vitric=loud: ")));
    }
}
