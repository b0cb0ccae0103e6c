//! Messages about panics. Every panic of the driver is a bug, and its message says how to report
//! it.

use std::any::Any;

/// Returns the message of a panic, with how to report it.
pub fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!(
        "panic: {text}. This is a bug in Vitric: please report it as an issue of its repository, with this message, \
         the output of `vitric info` and the steps that lead to it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_every_type_say_how_to_report_them() {
        let panics: [Box<dyn Any + Send>; 3] = [Box::new("one"), Box::new("two".to_owned()), Box::new(3)];
        for (panic, text) in panics.iter().zip(["panic: one.", "panic: two.", "panic: no message."]) {
            let message = describe(&**panic);
            assert!(message.starts_with(text) && message.contains("please report it"), "{message}");
        }
    }
}
