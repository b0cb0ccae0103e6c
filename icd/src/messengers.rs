//! Messengers of `VK_EXT_debug_utils`, callbacks of `VK_EXT_debug_report`, and the list of all
//! instances, whose messengers receive messages about invalid handles.

use std::ffi::c_void;
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::Mutex;
use vitric_api::debug::{MessageKind, Messages, Receiver, Reporter};

use crate::call::Call;

/// The application's pointer, which its callback receives.
struct UserData(*mut c_void);

// SAFETY: this code never dereferences the pointer. The extension requires that the callback can
// use it in any thread.
unsafe impl Send for UserData {}
// SAFETY: this code never dereferences the pointer. The extension requires that the callback can
// use it in any thread.
unsafe impl Sync for UserData {}

/// Last assigned number, and the numbers and messengers of live instances.
type Instances = (u32, Vec<(u32, Weak<Messages>)>);

/// All instances. The list is global because stale handles have no live instance.
static INSTANCES: Mutex<Instances> = Mutex::new((0, Vec::new()));

/// Adds the messengers of a new instance to the list, and returns its number.
pub fn enlist(messages: &Arc<Messages>) -> u32 {
    let mut instances = INSTANCES.lock();
    instances.1.retain(|(_, of)| of.strong_count() > 0);
    instances.0 += 1;
    let number = instances.0;
    instances.1.push((number, Arc::downgrade(messages)));
    number
}

/// Returns the messengers of an instance; none if it is destroyed or unknown.
pub fn messages_of(number: Option<u32>) -> Arc<Messages> {
    let instances = INSTANCES.lock();
    let found = instances.1.iter().find(|(of, _)| Some(*of) == number);
    found.and_then(|(_, messages)| messages.upgrade()).unwrap_or_default()
}

/// Registers a messenger and returns its number.
///
/// # Safety
/// The callback may be called from any thread, with the user data, until the messenger is removed.
pub unsafe fn add(messages: &Messages, info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Option<u64> {
    let callback = info.pfn_user_callback?;
    let data = UserData(info.p_user_data);
    let receiver: Receiver = Box::new(move |kind, message| {
        let data: &UserData = &data;
        // SAFETY: the callback is valid while its messenger is registered, and the data live
        // during the call.
        unsafe { callback(kind.severity, kind.types, std::ptr::from_ref(message), data.0) };
    });
    let kind = vk::DebugUtilsMessageTypeFlagsEXT::DEVICE_ADDRESS_BINDING;
    let wants_reports =
        info.message_type.contains(kind) && info.message_severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::INFO);
    let data = UserData(info.p_user_data);
    let reporter: Reporter = Box::new(move |report| {
        let data: &UserData = &data;
        let mut binding = vk::DeviceAddressBindingCallbackDataEXT::default()
            .base_address(report.address)
            .size(report.size)
            .binding_type(match report.is_bound {
                true => vk::DeviceAddressBindingTypeEXT::BIND,
                false => vk::DeviceAddressBindingTypeEXT::UNBIND,
            });
        let (object_type, object_handle) = report.object;
        let objects = [vk::DebugUtilsObjectNameInfoEXT { object_type, object_handle, ..Default::default() }];
        let message = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message(c"an object was bound to an address range, or unbound from it")
            .objects(&objects)
            .push_next(&mut binding);
        // SAFETY: the callback is valid while its messenger is registered, and the message lives
        // during the call.
        unsafe { callback(vk::DebugUtilsMessageSeverityFlagsEXT::INFO, kind, &raw const message, data.0) };
    });
    let accepted = MessageKind { severity: info.message_severity, types: info.message_type };
    Some(messages.add(accepted, receiver, wants_reports.then_some(reporter)))
}

/// Returns the flags of a report for a message, or the message's kind for flags.
const REPORT_KINDS: [(vk::DebugReportFlagsEXT, vk::DebugUtilsMessageSeverityFlagsEXT); 4] = [
    (vk::DebugReportFlagsEXT::ERROR, vk::DebugUtilsMessageSeverityFlagsEXT::ERROR),
    (vk::DebugReportFlagsEXT::WARNING, vk::DebugUtilsMessageSeverityFlagsEXT::WARNING),
    (vk::DebugReportFlagsEXT::INFORMATION, vk::DebugUtilsMessageSeverityFlagsEXT::INFO),
    (vk::DebugReportFlagsEXT::DEBUG, vk::DebugUtilsMessageSeverityFlagsEXT::VERBOSE),
];

/// Returns the kind of messages that flags of reports stand for. Warnings about performance are
/// warnings of a type of their own.
pub fn kind_of_report(flags: vk::DebugReportFlagsEXT) -> MessageKind {
    use vk::{DebugReportFlagsEXT as F, DebugUtilsMessageSeverityFlagsEXT as S, DebugUtilsMessageTypeFlagsEXT as T};
    let severities = REPORT_KINDS.iter().filter(|(flag, _)| flags.contains(*flag));
    let mut kind = MessageKind { severity: severities.fold(S::empty(), |all, (_, one)| all | *one), types: T::empty() };
    if !kind.severity.is_empty() {
        kind.types = T::GENERAL | T::VALIDATION;
    }
    if flags.contains(F::PERFORMANCE_WARNING) {
        kind.severity |= S::WARNING;
        kind.types |= T::PERFORMANCE;
    }
    kind
}

/// Returns the flags of the report of a message.
fn report_of_kind(kind: MessageKind) -> vk::DebugReportFlagsEXT {
    if kind.types == vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE
        && kind.severity == vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
    {
        return vk::DebugReportFlagsEXT::PERFORMANCE_WARNING;
    }
    let found = REPORT_KINDS.iter().find(|(_, severity)| *severity == kind.severity);
    found.map_or(vk::DebugReportFlagsEXT::INFORMATION, |(flag, _)| *flag)
}

/// Registers a callback of `VK_EXT_debug_report` and returns its number. Its messages have no
/// location.
///
/// # Safety
/// The callback may be called from any thread, with the user data, until it is removed.
pub unsafe fn add_report(messages: &Messages, info: &vk::DebugReportCallbackCreateInfoEXT<'_>) -> Option<u64> {
    let (callback, wanted) = (info.pfn_callback?, info.flags);
    let data = UserData(info.p_user_data);
    let receiver: Receiver = Box::new(move |kind, message| {
        let (data, flags): (&UserData, _) = (&data, report_of_kind(kind));
        if !wanted.contains(flags) {
            return;
        }
        let prefix = if message.p_message_id_name.is_null() { c"vitric".as_ptr() } else { message.p_message_id_name };
        // SAFETY: a message has as many objects as it says. The callback is valid while it is
        // registered, and the strings live during the call.
        unsafe {
            let object = (message.object_count > 0).then_some(message.p_objects).and_then(|first| first.as_ref());
            let (of, handle) = object.map_or((vk::ObjectType::UNKNOWN, 0), |o| (o.object_type, o.object_handle));
            let number = message.message_id_number;
            callback(flags, report_type(of), handle, 0, number, prefix, message.p_message, data.0);
        }
    });
    Some(messages.add(kind_of_report(wanted), receiver, None))
}

/// Types of objects whose numbers differ between the extensions.
const REPORT_TYPES: [(vk::DebugReportObjectTypeEXT, vk::ObjectType); 4] = [
    (vk::DebugReportObjectTypeEXT::SURFACE_KHR, vk::ObjectType::SURFACE_KHR),
    (vk::DebugReportObjectTypeEXT::SWAPCHAIN_KHR, vk::ObjectType::SWAPCHAIN_KHR),
    (vk::DebugReportObjectTypeEXT::DEBUG_REPORT_CALLBACK_EXT, vk::ObjectType::DEBUG_REPORT_CALLBACK_EXT),
    (vk::DebugReportObjectTypeEXT::DISPLAY_KHR, vk::ObjectType::DISPLAY_KHR),
];

fn report_type(of: vk::ObjectType) -> vk::DebugReportObjectTypeEXT {
    let found = REPORT_TYPES.iter().find(|(_, object)| *object == of);
    found.map_or(vk::DebugReportObjectTypeEXT::from_raw(of.as_raw()), |(report, _)| *report)
}

/// Returns the type of an object of `VK_EXT_debug_report`.
pub fn type_of_report(of: vk::DebugReportObjectTypeEXT) -> vk::ObjectType {
    let found = REPORT_TYPES.iter().find(|(report, _)| *report == of);
    found.map_or(vk::ObjectType::from_raw(of.as_raw()), |(_, object)| *object)
}

/// The messenger and the report callback in an instance's create info. They only receive messages
/// during the creation and destruction of the instance.
pub struct CreationMessenger {
    messenger: Option<vk::DebugUtilsMessengerCreateInfoEXT<'static>>,
    report: Option<vk::DebugReportCallbackCreateInfoEXT<'static>>,
}

impl CreationMessenger {
    /// Returns the messenger and the callback of a chain, if there are any.
    ///
    /// # Safety
    /// Their callbacks must be callable from any thread, with the user data, while this value
    /// lives.
    pub unsafe fn new(call: Call<'_>, next: *const c_void) -> Self {
        let kept = |info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>| vk::DebugUtilsMessengerCreateInfoEXT {
            flags: info.flags,
            message_severity: info.message_severity,
            message_type: info.message_type,
            pfn_user_callback: info.pfn_user_callback,
            p_user_data: info.p_user_data,
            ..Default::default()
        };
        let report = |info: &vk::DebugReportCallbackCreateInfoEXT<'_>| vk::DebugReportCallbackCreateInfoEXT {
            flags: info.flags,
            pfn_callback: info.pfn_callback,
            p_user_data: info.p_user_data,
            ..Default::default()
        };
        let messenger = call.find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(next).map(kept);
        Self { messenger, report: call.find::<vk::DebugReportCallbackCreateInfoEXT<'_>>(next).map(report) }
    }

    /// Registers both while `work` runs.
    pub fn register_during<R>(&self, messages: &Messages, work: impl FnOnce() -> R) -> R {
        let messenger = self.messenger.as_ref().and_then(|info| {
            // SAFETY: the contract of `new`.
            unsafe { add(messages, info) }
        });
        let report = self.report.as_ref().and_then(|info| {
            // SAFETY: the contract of `new`.
            unsafe { add_report(messages, info) }
        });
        let result = work();
        messenger.into_iter().chain(report).for_each(|id| messages.remove(id));
        result
    }
}
