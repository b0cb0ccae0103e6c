//! Messages: what the driver has to say, to every messenger that wants it.
//!
//! Source: `VK_EXT_debug_utils`.

use ash::vk;
use parking_lot::RwLock;

/// Receives messages: severity (one bit) and text. Called on whichever thread has something to say.
pub type Receiver = Box<dyn Fn(vk::DebugUtilsMessageSeverityFlagsEXT, &str) + Send + Sync>;

/// One registered messenger.
struct Messenger {
    id: u64,
    severities: vk::DebugUtilsMessageSeverityFlagsEXT,
    receiver: Receiver,
}

/// The messengers of an instance.
#[derive(Default)]
pub struct Messages {
    messengers: RwLock<(u64, Vec<Messenger>)>,
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Messages({})", self.messengers.read().1.len())
    }
}

impl Messages {
    /// Registers a messenger for some severities; returns the number under which it is removed.
    pub fn add(&self, severities: vk::DebugUtilsMessageSeverityFlagsEXT, receiver: Receiver) -> u64 {
        let mut guard = self.messengers.write();
        guard.0 += 1;
        let id = guard.0;
        guard.1.push(Messenger { id, severities, receiver });
        id
    }

    /// Removes a messenger; a number that is not registered is ignored.
    pub fn remove(&self, id: u64) {
        self.messengers.write().1.retain(|messenger| messenger.id != id);
    }

    /// Sends a message to every messenger that wants its severity.
    pub fn send(&self, severity: vk::DebugUtilsMessageSeverityFlagsEXT, text: &str) {
        for messenger in self.messengers.read().1.iter().filter(|messenger| messenger.severities.contains(severity)) {
            (messenger.receiver)(severity, text);
        }
    }

    /// Sends an error, to the log as well.
    pub fn error(&self, text: &str) {
        log::error!(target: "vitric", "{text}");
        self.send(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR, text);
    }

    /// Sends a warning, to the log as well.
    pub fn warn(&self, text: &str) {
        log::warn!(target: "vitric", "{text}");
        self.send(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING, text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn messengers_hear_their_severities_only() {
        let messages = Messages::default();
        let heard = Arc::new(AtomicU32::new(0));
        let counter = heard.clone();
        let receiver: Receiver = Box::new(move |_, _| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let id = messages.add(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR, receiver);
        messages.warn("not heard");
        messages.error("heard");
        messages.remove(id);
        messages.error("not heard");
        assert_eq!(heard.load(Ordering::Relaxed), 1);
    }
}
