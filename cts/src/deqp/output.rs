//! Output of Khronos' runner.
//!
//! A case begins with `Test case 'NAME'..` and ends with two spaces, the status and a description
//! in parentheses, which may span several lines. Source:
//! `framework/common/tcuTestSessionExecutor.cpp` and the statuses of
//! `framework/qphelper/qpTestLog.c` in KhronosGroup/VK-GL-CTS.

use crate::outcome::{Record, Status};
use crate::process::Said;

/// Khronos' statuses.
const STATUSES: &[(&str, Status)] = &[
    ("Pass", Status::Pass),
    ("Fail", Status::Fail),
    ("QualityWarning", Status::Warning),
    ("CompatibilityWarning", Status::Warning),
    ("CapabilityWarning", Status::Warning),
    ("Pending", Status::Fail),
    ("NotSupported", Status::Unsupported),
    ("ResourceError", Status::Fail),
    ("InternalError", Status::Fail),
    ("Crash", Status::Crash),
    ("Timeout", Status::Timeout),
    ("Waiver", Status::Pass),
    ("DeviceLost", Status::Fail),
];

/// Interprets a line.
pub fn hear(line: &str) -> Said {
    let line = line.trim_end_matches('\r');
    if let Some(name) = line.strip_prefix("Test case '").and_then(|rest| rest.strip_suffix("'..")) {
        return Said::Begins(name.to_owned());
    }
    if line == "DONE!" || line == "ABORTED!" {
        return Said::Done;
    }
    line.strip_prefix("  ").and_then(result).unwrap_or(Said::Nothing)
}

/// Parses `STATUS (DESCRIPTION)`, whose end may be on another line.
fn result(text: &str) -> Option<Said> {
    let (word, description) = text.split_once(" (")?;
    let description = description.strip_suffix(')').unwrap_or(description);
    if let Some(&(_, status)) = STATUSES.iter().find(|(name, _)| *name == word) {
        return Some(Said::Ends(Record::new(status, told(word, status, description))));
    }
    let is_word = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(|c| c.is_ascii_alphanumeric());
    is_word.then(|| Said::Unknown(text.to_owned()))
}

/// Returns the description, with Khronos' status before it where ours says less.
fn told(word: &str, status: Status, description: &str) -> String {
    match (word, status) {
        ("Pass", _) => String::new(),
        ("Fail", _) | (_, Status::Unsupported) => description.to_owned(),
        _ => format!("{word}: {description}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: Status, message: &str) -> Said {
        Said::Ends(Record::new(status, message))
    }

    #[test]
    fn cases_begin_and_end() {
        assert_eq!(hear("Test case 'dEQP-VK.info.build'.."), Said::Begins("dEQP-VK.info.build".into()));
        assert_eq!(hear("  Pass (Not validated)"), end(Status::Pass, ""));
        assert_eq!(hear("  Fail (image (0) differs)\r"), end(Status::Fail, "image (0) differs"));
        assert_eq!(hear("  Fail (first of two lines"), end(Status::Fail, "first of two lines"));
        assert_eq!(hear("  NotSupported (no at vkt.cpp:1)"), end(Status::Unsupported, "no at vkt.cpp:1"));
        assert_eq!(hear("  DeviceLost (VK)"), end(Status::Fail, "DeviceLost: VK"));
        assert_eq!(hear("  InternalError ()"), end(Status::Fail, "InternalError:"));
        assert_eq!((hear("DONE!"), hear("ABORTED!")), (Said::Done, Said::Done));
    }

    #[test]
    fn every_status_is_one_of_ours() {
        for (word, status) in STATUSES {
            assert!(matches!(hear(&format!("  {word} (x)")), Said::Ends(record) if record.status == *status), "{word}");
        }
    }

    #[test]
    fn other_lines_say_nothing() {
        for line in
            ["", "  target implementation = 'Default'", "  Passed:        1/1 (100.0%)", "Pass (x)", "Test case 'x"]
        {
            assert_eq!(hear(line), Said::Nothing, "{line}");
        }
        assert_eq!(hear("  Strange (x)"), Said::Unknown("Strange (x)".into()));
    }
}
