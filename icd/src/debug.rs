//! `VK_EXT_debug_utils`: messengers, names and labels.

use std::ffi::c_void;
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::Mutex;
use vitric_api::Error;
use vitric_api::debug::{Messages, Receiver, Reporter};

use crate::objects::{InstanceObject, Marked, device};
use crate::raw;

/// The application's pointer, to be given back to its callback.
struct UserData(*mut c_void);

// SAFETY: the pointer is never followed here; the callback's owner has it usable from any thread, as the extension demands.
unsafe impl Send for UserData {}
// SAFETY: the pointer is never followed here; the callback's owner has it usable from any
// thread, as the extension demands.
unsafe impl Sync for UserData {}

/// The last number that an instance has got, and numbers and messengers of those that are alive.
type Instances = (u32, Vec<(u32, Weak<Messages>)>);

/// All instances. It is global because stale handles of dead objects are, which misuse names.
static INSTANCES: Mutex<Instances> = Mutex::new((0, Vec::new()));

/// Gives the messengers of a new instance a number.
pub fn enlist(messages: &Arc<Messages>) -> u32 {
    let mut instances = INSTANCES.lock();
    instances.1.retain(|(_, of)| of.strong_count() > 0);
    instances.0 += 1;
    let number = instances.0;
    instances.1.push((number, Arc::downgrade(messages)));
    number
}

/// The messengers of an instance; none when it is gone, or unknown.
pub fn messages_of(number: Option<u32>) -> Arc<Messages> {
    let instances = INSTANCES.lock();
    let found = instances.1.iter().find(|(of, _)| Some(*of) == number);
    found.and_then(|(_, messages)| messages.upgrade()).unwrap_or_default()
}

/// Registers a messenger; its number.
fn add(messages: &Messages, info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Option<u64> {
    let callback = info.pfn_user_callback?;
    let data = UserData(info.p_user_data);
    let receiver: Receiver = Box::new(move |(severity, kind), message| {
        let data: &UserData = &data;
        // SAFETY: the callback is valid as long as its messenger is registered; the data live for the call.
        unsafe { callback(severity, kind, std::ptr::from_ref(message), data.0) };
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
            .message(c"an object got or lost its addresses")
            .objects(&objects)
            .push_next(&mut binding);
        // SAFETY: the callback is valid as long as its messenger is registered; the
        // message lives for the call.
        unsafe { callback(vk::DebugUtilsMessageSeverityFlagsEXT::INFO, kind, &raw const message, data.0) };
    });
    let wanted = (info.message_severity, info.message_type);
    Some(messages.add(wanted, receiver, wants_reports.then_some(reporter)))
}

/// The messenger of an instance's create info: it hears what is said while the instance is created and destroyed, and nothing else.
pub struct Witness(Option<vk::DebugUtilsMessengerCreateInfoEXT<'static>>);

impl Witness {
    /// The messenger in a chain, if there is one.
    pub fn new(next: *const c_void) -> Self {
        let kept = |info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>| vk::DebugUtilsMessengerCreateInfoEXT {
            flags: info.flags,
            message_severity: info.message_severity,
            message_type: info.message_type,
            pfn_user_callback: info.pfn_user_callback,
            p_user_data: info.p_user_data,
            ..Default::default()
        };
        Self(raw::find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(next).map(kept))
    }

    /// Has it hear what is said meanwhile.
    pub fn hear<R>(&self, messages: &Messages, work: impl FnOnce() -> R) -> R {
        let id = self.0.as_ref().and_then(|info| add(messages, info));
        let result = work();
        id.into_iter().for_each(|id| messages.remove(id));
        result
    }
}

pub extern "system" fn create(
    instance: vk::Instance,
    info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    raw::create(out, || {
        let object = InstanceObject::from_handle(instance).ok_or(Error::Unknown)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let id = add(&object.messages, info).ok_or(Error::Unknown)?;
        Ok(object.messengers.insert(Arc::new(id)))
    })
}

pub extern "system" fn destroy(
    instance: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    _: *const vk::AllocationCallbacks<'_>,
) {
    raw::guard_void(|| {
        if let Some(object) = InstanceObject::from_handle(instance)
            && let Some(id) = object.messengers.remove(vk::Handle::as_raw(messenger))
        {
            object.messages.remove(*id);
        }
    });
}

pub extern "system" fn submit(
    instance: vk::Instance,
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    raw::guard_void(|| {
        if let (Some(object), Some(data)) = (InstanceObject::from_handle(instance), raw::input(data)) {
            object.messages.send((severity, types), data);
        }
    });
}

/// Whether messages are about objects of a type: those in the device's tables.
fn is_told_of(kind: vk::ObjectType) -> bool {
    !matches!(
        kind,
        vk::ObjectType::UNKNOWN
            | vk::ObjectType::INSTANCE
            | vk::ObjectType::PHYSICAL_DEVICE
            | vk::ObjectType::DEVICE
            | vk::ObjectType::QUEUE
            | vk::ObjectType::COMMAND_BUFFER
            | vk::ObjectType::SURFACE_KHR
            | vk::ObjectType::DEBUG_UTILS_MESSENGER_EXT
    )
}

pub extern "system" fn set_name(handle: vk::Device, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let name = raw::string(info.p_object_name);
        if is_told_of(info.object_type) {
            object.names.set(info.object_type, info.object_handle, &name);
        }
        if info.object_type == vk::ObjectType::SHADER_MODULE
            && let Some(module) = object.shaders.get(info.object_handle)
        {
            module.set_name(&name);
        }
        Ok(vk::Result::SUCCESS)
    })
}

// Tags and labels are for tools that look in from outside: accepted, and not kept.

pub extern "system" fn set_tag(_: vk::Device, _: *const vk::DebugUtilsObjectTagInfoEXT<'_>) -> vk::Result {
    vk::Result::SUCCESS
}

pub extern "system" fn queue_label(_: vk::Queue, _: *const vk::DebugUtilsLabelEXT<'_>) {}

pub extern "system" fn queue_end_label(_: vk::Queue) {}

pub extern "system" fn command_label(_: vk::CommandBuffer, _: *const vk::DebugUtilsLabelEXT<'_>) {}

pub extern "system" fn command_end_label(_: vk::CommandBuffer) {}
