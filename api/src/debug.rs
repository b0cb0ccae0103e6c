//! Messages of the driver to the registered messengers, and the names that an application sets for
//! objects in messages.
//!
//! Source: `VK_EXT_debug_utils`.

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use parking_lot::{Mutex, RwLock};

/// Severity (one bit) and types of a message, or the severities and types that a messenger accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageKind {
    /// Severity or severities.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// Types.
    pub types: vk::DebugUtilsMessageTypeFlagsEXT,
}

impl MessageKind {
    /// Returns the kind of messages about valid usage.
    fn validation(severity: vk::DebugUtilsMessageSeverityFlagsEXT) -> Self {
        Self { severity, types: vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION }
    }

    /// Returns true if a messenger of this kind accepts a message.
    fn accepts(self, message: Self) -> bool {
        self.severity.contains(message.severity) && self.types.intersects(message.types)
    }
}

/// Callback that receives messages, on the thread that sends them.
pub type Receiver = Box<dyn Fn(MessageKind, &vk::DebugUtilsMessengerCallbackDataEXT<'_>) + Send + Sync>;

/// Callback that receives reports of address ranges.
pub type Reporter = Box<dyn Fn(&AddressReport) + Send + Sync>;

/// Report that an object was bound to a range of addresses, or no longer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressReport {
    /// Type and handle of the object.
    pub object: (vk::ObjectType, u64),
    /// First address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// True if the object is bound to the addresses now.
    pub is_bound: bool,
}

/// A registered messenger, for messages, for reports, or for both.
struct Messenger {
    id: u64,
    accepted: MessageKind,
    receiver: Receiver,
    reporter: Option<Reporter>,
}

/// The registered messengers.
#[derive(Default)]
struct Messengers {
    /// Number of the last registered messenger.
    last: u64,
    all: Vec<Messenger>,
}

/// The messengers of an instance.
#[derive(Default)]
pub struct Messages {
    messengers: RwLock<Messengers>,
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Messages({})", self.messengers.read().all.len())
    }
}

impl Messages {
    /// Registers a messenger for some severities and types, and returns the number for
    /// [`Self::remove`]. `reporter` receives reports of address ranges.
    pub fn add(&self, accepted: MessageKind, receiver: Receiver, reporter: Option<Reporter>) -> u64 {
        let mut messengers = self.messengers.write();
        messengers.last += 1;
        let id = messengers.last;
        messengers.all.push(Messenger { id, accepted, receiver, reporter });
        id
    }

    /// Sends a report to every messenger with a reporter.
    pub fn report(&self, report: &AddressReport) {
        self.messengers.read().all.iter().filter_map(|messenger| messenger.reporter.as_ref()).for_each(|to| to(report));
    }

    /// Removes a messenger. An unknown number is ignored.
    pub fn remove(&self, id: u64) {
        self.messengers.write().all.retain(|messenger| messenger.id != id);
    }

    /// Sends a message to every messenger that accepts its severity and one of its types.
    pub fn send(&self, kind: MessageKind, data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>) {
        for messenger in self.messengers.read().all.iter().filter(|messenger| messenger.accepted.accepts(kind)) {
            (messenger.receiver)(kind, data);
        }
    }

    /// Sends a validation message about an error of the application or a limit of the driver.
    fn send_text(&self, severity: vk::DebugUtilsMessageSeverityFlagsEXT, text: &str) {
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(&text);
        self.send(MessageKind::validation(severity), &data);
    }

    /// Sends an error to the messengers and to the log.
    pub fn error(&self, text: &str) {
        log::error!(target: "vitric", "{text}");
        self.send_text(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR, text);
    }

    /// Sends a warning to the messengers and to the log.
    pub fn warn(&self, text: &str) {
        log::warn!(target: "vitric", "{text}");
        self.send_text(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING, text);
    }
}

/// Number of destroyed objects whose names are kept for messages about stale handles.
const MAX_DESTROYED: usize = 256;

/// Type and handle of an object.
type Key = (vk::ObjectType, u64);

#[derive(Debug, Default)]
struct Known {
    alive: HashMap<Key, Box<str>>,
    /// Destroyed objects, the latest last.
    destroyed: VecDeque<(Key, Box<str>)>,
}

/// Names that an application set for a device's objects.
#[derive(Debug, Default)]
pub struct Names {
    known: Mutex<Known>,
    is_used: AtomicBool,
}

impl Names {
    /// Sets an object's name. An empty name removes it.
    pub fn set(&self, kind: vk::ObjectType, handle: u64, name: &str) {
        self.is_used.store(true, Ordering::Release);
        let mut known = self.known.lock();
        if name.is_empty() {
            known.alive.remove(&(kind, handle));
        } else {
            known.alive.insert((kind, handle), name.into());
        }
    }

    /// Returns true if any object was ever named.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Moves a destroyed object's name to the names of the last destroyed objects.
    pub fn retire(&self, kind: vk::ObjectType, handle: u64) {
        let mut known = self.known.lock();
        if let Some(name) = known.alive.remove(&(kind, handle)) {
            if known.destroyed.len() == MAX_DESTROYED {
                known.destroyed.pop_front();
            }
            known.destroyed.push_back(((kind, handle), name));
        }
    }

    /// Returns an object's description for messages: its type and handle, and its current or last
    /// name in quotes, if it has one.
    pub fn describe(&self, kind: vk::ObjectType, handle: u64) -> String {
        let known = self.known.lock();
        let destroyed = || known.destroyed.iter().rev().find(|(key, _)| *key == (kind, handle)).map(|(_, name)| name);
        match known.alive.get(&(kind, handle)).or_else(destroyed) {
            Some(name) => format!("{kind:?} handle {handle:#x} {name:?}"),
            None => format!("{kind:?} handle {handle:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn messengers_hear_their_severities_and_types_only() {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
        let messages = Messages::default();
        let heard = Arc::new(AtomicU32::new(0));
        let receiver = |amount: u32| -> Receiver {
            let counter = heard.clone();
            Box::new(move |_, _| {
                counter.fetch_add(amount, Ordering::Relaxed);
            })
        };
        let kind = |severity, types| MessageKind { severity, types };
        let id = messages.add(kind(Severity::ERROR, Type::VALIDATION), receiver(1), None);
        messages.add(kind(Severity::ERROR | Severity::INFO, Type::GENERAL), receiver(100), None);
        messages.warn("not heard");
        messages.error("heard");
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default();
        messages.send(kind(Severity::INFO, Type::GENERAL | Type::PERFORMANCE), &data);
        messages.send(kind(Severity::INFO, Type::PERFORMANCE), &data);
        messages.remove(id);
        messages.error("not heard");
        assert_eq!(heard.load(Ordering::Relaxed), 101);
    }

    #[test]
    fn names_are_given_taken_away_and_outlive_their_objects_for_a_while() {
        let (names, buffer) = (Names::default(), vk::ObjectType::BUFFER);
        names.set(buffer, 0x10, "vertices");
        names.set(buffer, 0x11, "indices");
        assert_eq!(names.describe(buffer, 0x10), "BUFFER handle 0x10 \"vertices\"");
        assert_eq!(names.describe(vk::ObjectType::IMAGE, 0x10), "IMAGE handle 0x10");
        names.set(buffer, 0x11, "");
        assert_eq!(names.describe(buffer, 0x11), "BUFFER handle 0x11");
        names.retire(buffer, 0x10);
        assert_eq!(names.describe(buffer, 0x10), "BUFFER handle 0x10 \"vertices\"");
        for handle in 0x100..0x100 + MAX_DESTROYED as u64 {
            names.set(buffer, handle, "one of many");
            names.retire(buffer, handle);
        }
        assert_eq!(names.describe(buffer, 0x10), "BUFFER handle 0x10", "forgotten");
        let known = names.known.lock();
        assert_eq!((known.alive.len(), known.destroyed.len()), (0, MAX_DESTROYED));
    }
}
