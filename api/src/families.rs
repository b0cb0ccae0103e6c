//! Queue families: their properties, the commands that they support, and checks of requested
//! queues.
//!
//! Every family uses the whole GPU. The compute family and the transfer family exist because
//! programs look for asynchronous queues. Source: Vulkan specification, "Queues" (families,
//! priorities), and the supported queue types of each command.

use ash::vk::{self, QueueFlags as Q};
use vitric_gpu::command::Command;
use vitric_vulkan::QueueFamilyOptimalImageTransferGranularityPropertiesKHR;

use crate::debug::Messages;
use crate::{Error, Result};

/// A queue family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Capabilities of its queues.
    pub flags: Q,
    /// Maximum number of its queues in a device.
    pub queues: u32,
}

const ASYNCHRONOUS: Q = Q::from_raw(Q::COMPUTE.as_raw() | Q::TRANSFER.as_raw());

/// The families, in the order of their indices. Queues of every family can be protected.
pub const FAMILIES: [Family; 3] = [
    Family { flags: protected(Q::from_raw(Q::GRAPHICS.as_raw() | ASYNCHRONOUS.as_raw())), queues: 4 },
    Family { flags: protected(ASYNCHRONOUS), queues: 4 },
    Family { flags: protected(Q::TRANSFER), queues: 2 },
];

const fn protected(flags: Q) -> Q {
    Q::from_raw(flags.as_raw() | Q::PROTECTED.as_raw())
}

/// Number of distinct queue priorities (`discreteQueuePriorities`).
pub const PRIORITIES: u32 = 2;

impl Family {
    /// Returns the family's properties. Copies may have any offset and extent. Timestamps of all
    /// families have one clock.
    pub fn properties(self) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties {
            queue_flags: self.flags,
            queue_count: self.queues,
            timestamp_valid_bits: 64,
            min_image_transfer_granularity: vk::Extent3D { width: 1, height: 1, depth: 1 },
        }
    }
}

/// Supported global priorities (`VkQueueGlobalPriorityKHR`). All have an equal effect, because the
/// operating system assigns processor time to processes.
const GLOBAL_PRIORITIES: [vk::QueueGlobalPriorityKHR; 2] =
    [vk::QueueGlobalPriorityKHR::LOW, vk::QueueGlobalPriorityKHR::MEDIUM];

/// Returns the global priorities of any family.
pub fn global_priorities() -> vk::QueueFamilyGlobalPriorityPropertiesKHR<'static> {
    let priority_count = GLOBAL_PRIORITIES.len() as u32;
    let mut all = vk::QueueFamilyGlobalPriorityPropertiesKHR { priority_count, ..Default::default() };
    all.priorities[..GLOBAL_PRIORITIES.len()].copy_from_slice(&GLOBAL_PRIORITIES);
    all
}

/// Returns the granularity of copies of images that take the fewest steps: single texels, because
/// a copy of part of a line of texels needs no other path.
pub fn optimal_granularity() -> QueueFamilyOptimalImageTransferGranularityPropertiesKHR {
    let one = vk::Extent3D { width: 1, height: 1, depth: 1 };
    QueueFamilyOptimalImageTransferGranularityPropertiesKHR {
        optimal_image_transfer_granularity: one,
        ..Default::default()
    }
}

/// Fails if queues cannot have a global priority.
///
/// # Errors
/// [`Error::NotPermitted`] for priorities above the default.
pub fn check_global_priority(wanted: vk::QueueGlobalPriorityKHR) -> Result<()> {
    if GLOBAL_PRIORITIES.contains(&wanted) { Ok(()) } else { Err(Error::NotPermitted) }
}

/// Returns the family with an index.
pub fn find(index: u32) -> Option<Family> {
    FAMILIES.get(index as usize).copied()
}

/// Queues of a family that an application requests.
#[derive(Debug, Clone)]
pub struct QueueRequest {
    /// Index of the family.
    pub family: u32,
    /// Flags of the queues.
    pub flags: vk::DeviceQueueCreateFlags,
    /// Priority of each queue, from 0 to 1.
    pub priorities: Vec<f32>,
}

impl QueueRequest {
    /// Returns a request for one queue of the first family.
    pub fn one() -> Vec<Self> {
        vec![Self { family: 0, flags: vk::DeviceQueueCreateFlags::empty(), priorities: vec![1.0] }]
    }
}

/// Fails if a device cannot have the requested queues.
///
/// # Errors
/// [`Error::InitializationFailed`], with a message, for an unknown family, a family that is
/// repeated with equal flags, more queues than the family has, or a priority outside 0 to 1.
pub fn check(messages: &Messages, wanted: &[QueueRequest]) -> Result<()> {
    let problem = wanted.iter().enumerate().find_map(|(number, one)| {
        let (family, count) = (one.family, one.priorities.len());
        let others = || wanted[..number].iter().filter(|other| other.family == family);
        let is_twice = others().any(|other| other.flags == one.flags);
        let total = count + others().map(|other| other.priorities.len()).sum::<usize>();
        match find(family) {
            None => Some(format!("queueFamilyIndex = {family}: expected 0 to {}", FAMILIES.len() - 1)),
            Some(_) if is_twice => {
                Some(format!("queueFamilyIndex = {family} twice: expected each family once with equal flags"))
            }
            Some(found) if count == 0 || total > found.queues as usize => {
                Some(format!("queueCount = {total} in queue family {family}: expected 1 to {}", found.queues))
            }
            Some(_) => {
                let wrong = one.priorities.iter().find(|priority| !(0.0..=1.0).contains(*priority));
                wrong.map(|wrong| format!("a queue priority of {wrong} in queue family {family}: expected 0 to 1"))
            }
        }
    });
    problem.map_or(Ok(()), |problem| {
        messages.error(&problem);
        Err(Error::InitializationFailed)
    })
}

/// Returns the weight of a queue's work relative to the other queues.
pub fn weight(priority: f32) -> usize {
    if priority < 0.5 { 1 } else { 3 }
}

/// Fails if the queues of these families cannot share a resource without transfers of ownership.
///
/// # Errors
/// [`Error::Unknown`], with a message, without families, for an unknown family or a repeated
/// family. One family suffices, as with `VK_KHR_maintenance11`.
pub fn check_sharing(messages: &Messages, mode: vk::SharingMode, families: &[u32]) -> Result<()> {
    let is_unique = |(number, family): (usize, &u32)| !families[..number].contains(family) && find(*family).is_some();
    if mode == vk::SharingMode::EXCLUSIVE || (!families.is_empty() && families.iter().enumerate().all(is_unique)) {
        return Ok(());
    }
    messages.error(&format!(
        "pQueueFamilyIndices = {families:?}: expected at least one family below {}, and each once, for a shared resource",
        FAMILIES.len()
    ));
    Err(Error::Unknown)
}

/// Returns the capabilities of which a queue needs at least one to execute a command.
pub fn needs(command: &Command) -> Q {
    use Command as C;
    const COMPUTES: Q = Q::from_raw(Q::GRAPHICS.as_raw() | Q::COMPUTE.as_raw());
    match command {
        C::BindDescriptorSets { point: vk::PipelineBindPoint::COMPUTE, .. }
        | C::PushDescriptors { point: vk::PipelineBindPoint::COMPUTE, .. }
        | C::BindComputePipeline(_)
        | C::Dispatch { .. }
        | C::DispatchIndirect { .. } => Q::COMPUTE,
        C::PushConstants { .. }
        | C::BeginConditional { .. }
        | C::EndConditional
        | C::ClearColorImage { .. }
        | C::SetEvent(_)
        | C::ResetEvent(_)
        | C::WaitEvents(_)
        | C::BeginQuery { .. }
        | C::EndQuery { .. }
        | C::ResetQueryPool { .. }
        | C::CopyQueryPoolResults { .. } => COMPUTES,
        C::CopyBuffer { .. }
        | C::CopyImage { .. }
        | C::CopyBufferToImage { .. }
        | C::CopyImageToBuffer { .. }
        | C::CopyMemoryIndirect(_)
        | C::CopyMemoryToImageIndirect { .. }
        | C::UpdateBuffer { .. }
        | C::FillBuffer { .. }
        | C::PipelineBarrier
        | C::HintImage { .. }
        | C::WriteTimestamp { .. }
        | C::Execute(_) => COMPUTES | Q::TRANSFER,
        _ => Q::GRAPHICS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_that_cannot_be_are_refused() {
        let messages = Messages::default();
        let of = |wanted: &[(u32, &[f32])]| {
            let flags = vk::DeviceQueueCreateFlags::empty();
            let wanted = wanted.iter().map(|&(family, list)| QueueRequest { family, flags, priorities: list.to_vec() });
            check(&messages, &wanted.collect::<Vec<_>>())
        };
        assert!(of(&[(0, &[1.0; 4]), (2, &[0.0, 0.5]), (1, &[0.25])]).is_ok());
        assert!(of(&[]).is_ok(), "a device may have none since maintenance 9");
        let bad: [&[(u32, &[f32])]; 6] = [
            &[(0, &[])],
            &[(3, &[1.0])],
            &[(2, &[1.0; 3])],
            &[(0, &[1.0]), (0, &[1.0])],
            &[(0, &[1.5])],
            &[(0, &[f32::NAN])],
        ];
        for wanted in bad {
            assert_eq!(of(wanted), Err(Error::InitializationFailed), "{wanted:?}");
        }
        // With other flags, a family has further queues.
        let of = |count| QueueRequest {
            flags: vk::DeviceQueueCreateFlags::from_raw(count as u32),
            priorities: vec![1.0; count],
            family: 0,
        };
        assert!(check(&messages, &[of(1), of(2)]).is_ok());
        assert!(check(&messages, &[of(2), of(3)]).is_err());
    }

    #[test]
    fn families_that_share_are_different() {
        let messages = Messages::default();
        let (shared, exclusive) = (vk::SharingMode::CONCURRENT, vk::SharingMode::EXCLUSIVE);
        assert!([&[1][..], &[0, 2]].iter().all(|good| check_sharing(&messages, shared, good).is_ok()));
        assert!(check_sharing(&messages, exclusive, &[]).is_ok());
        for bad in [&[][..], &[1, 1], &[0, 3]] {
            assert!(check_sharing(&messages, shared, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn families_take_what_the_specification_says() {
        let [all, computes, copies] = FAMILIES.map(|family| family.flags);
        let takes = |command: &Command| [all, computes, copies].map(|flags| flags.intersects(needs(command)));
        assert_eq!(takes(&Command::EndPass), [true, false, false]);
        assert_eq!(takes(&Command::Dispatch { base: [0; 3], groups: [1; 3] }), [true, true, false]);
        assert_eq!(takes(&Command::PipelineBarrier), [true; 3]);
        let sets = |point| {
            let (sets, dynamic_offsets) = Default::default();
            Command::BindDescriptorSets { point, first: 0, sets, dynamic_offsets }
        };
        assert_eq!(takes(&sets(vk::PipelineBindPoint::COMPUTE)), [true, true, false]);
        assert_eq!(takes(&sets(vk::PipelineBindPoint::GRAPHICS)), [true, false, false]);
    }
}
