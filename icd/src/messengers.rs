//! Messengers of `VK_EXT_debug_utils`, and the list of all instances, whose messengers receive
//! messages about invalid handles.

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

/// The messenger in an instance's create info. It only receives messages during the creation and
/// destruction of the instance.
pub struct CreationMessenger(Option<vk::DebugUtilsMessengerCreateInfoEXT<'static>>);

impl CreationMessenger {
    /// Returns the messenger of a chain, if there is one.
    ///
    /// # Safety
    /// Its callback must be callable from any thread, with the user data, while the messenger
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
        Self(call.find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(next).map(kept))
    }

    /// Registers the messenger while `work` runs.
    pub fn register_during<R>(&self, messages: &Messages, work: impl FnOnce() -> R) -> R {
        let id = self.0.as_ref().and_then(|info| {
            // SAFETY: the contract of `new`.
            unsafe { add(messages, info) }
        });
        let result = work();
        id.into_iter().for_each(|id| messages.remove(id));
        result
    }
}
