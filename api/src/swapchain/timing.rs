//! Timing of presentations: the times that applications request, and the results that they read.
//!
//! Every time domain of a swapchain is the host's monotonic clock in nanoseconds. Source:
//! `VK_EXT_present_timing`.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ash::vk;
use vitric_base::clock;
use vitric_vulkan::sys::{
    PastPresentationTimingFlagsEXT as PastFlags, PresentStageFlagsEXT as Stages, PresentTimingInfoFlagsEXT as Flags,
    TimeDomainKHR as RawDomain,
};

use super::Swapchain;
use crate::{Error, Result};

/// Time domain of one stage of a swapchain.
pub const PRESENT_STAGE_LOCAL: vk::TimeDomainKHR =
    vk::TimeDomainKHR::from_raw(RawDomain::PRESENT_STAGE_LOCAL_EXT.as_raw());

/// Time domain of all stages of a swapchain.
pub const SWAPCHAIN_LOCAL: vk::TimeDomainKHR = vk::TimeDomainKHR::from_raw(RawDomain::SWAPCHAIN_LOCAL_EXT.as_raw());

/// Time domains of a swapchain. The identifier of a domain is its number.
pub const TIME_DOMAINS: [vk::TimeDomainKHR; 3] =
    [PRESENT_STAGE_LOCAL, SWAPCHAIN_LOCAL, vk::TimeDomainKHR::CLOCK_MONOTONIC];

/// Number of stages that Vulkan defines. A stage is a bit below this one.
const STAGES: usize = 4;

/// Longest time in nanoseconds from the end of a frame's presentation to the display's report.
/// Later reports are ignored, because a hidden window may never be shown.
const MAX_REPORT_WAIT: u64 = 1_000_000_000;

/// Returns the stages of a frame that the driver itself performs, on every surface.
pub fn driver_stages() -> Stages {
    Stages::QUEUE_OPERATIONS_END | Stages::REQUEST_DEQUEUED | Stages::IMAGE_FIRST_PIXEL_OUT
}

/// Refresh of a display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// The display has no refresh: it shows frames at once.
    None,
    /// The display shows one frame in each period.
    Period(Duration),
    /// The display reports when it has shown a frame
    /// ([`wait_until_shown`](super::PresentTarget::wait_until_shown)). The period is `None` until
    /// it is known, and 0 if the display has none.
    Reported(Option<Duration>),
}

/// Timing that an application requests for a frame.
#[derive(Debug, Clone, Copy)]
pub struct TimingRequest {
    /// Time at which the frame is to be shown, or its distance from the previous frame, in
    /// nanoseconds; 0 for no target.
    pub target: u64,
    /// Meaning of the target.
    pub flags: Flags,
    /// Stages whose times are requested.
    pub stages: Stages,
    /// Time domain of the results.
    pub domain: vk::TimeDomainKHR,
}

impl TimingRequest {
    /// Returns true if the target is a distance from the previous frame.
    pub(super) fn is_relative(&self) -> bool {
        self.flags.contains(Flags::PRESENT_AT_RELATIVE_TIME)
    }

    /// Returns the earliest time at which the frame may be shown: `None` for no target, and for a
    /// distance from a previous frame that does not exist. `previous` is the time at which that
    /// frame was shown.
    pub(super) fn due(&self, previous: Option<u64>, refresh: Refresh) -> Option<u64> {
        let target = match (self.target, self.is_relative()) {
            (0, _) => return None,
            (target, false) => target,
            (distance, true) => previous?.saturating_add(distance),
        };
        if !self.flags.contains(Flags::PRESENT_AT_NEAREST_REFRESH_CYCLE) {
            return Some(target);
        }
        let nanoseconds = |period: Duration| period.as_nanos() as u64;
        Some(match (refresh, previous) {
            // The driver paces the frames: a cycle begins with the previous frame.
            (Refresh::Period(period), Some(previous)) if !period.is_zero() => {
                let after_begin = target.saturating_sub(previous) % nanoseconds(period);
                if after_begin < nanoseconds(period) / 2 { target - after_begin } else { target }
            }
            // The display shows a frame in the first cycle that begins after it has the frame.
            (Refresh::Reported(Some(period)), _) => target.saturating_sub(nanoseconds(period) / 2),
            _ => target,
        })
    }
}

/// Timing of a past presentation.
#[derive(Debug, Clone)]
pub struct PastTiming {
    /// Slot of the queue, which no other presentation had.
    slot: u64,
    /// Present id of the frame; 0 for none.
    pub id: u64,
    /// Request of the application.
    pub request: TimingRequest,
    /// Times of the stages; 0 for a stage that the frame did not reach or that is not known.
    times: [Option<u64>; STAGES],
}

impl PastTiming {
    fn requested(&self) -> impl Iterator<Item = (Stages, Option<u64>)> {
        let stages = (0..STAGES).map(|bit| Stages::from_bits_truncate(1 << bit));
        stages.zip(self.times).filter(|(stage, _)| self.request.stages.contains(*stage))
    }

    /// Returns the requested stages and their times. Stages without a result have the time 0.
    ///
    /// A list of fewer stages would make an application that uses its structures again, without
    /// setting the number of stages, have too little room for the complete list.
    pub fn results(&self) -> impl Iterator<Item = (Stages, u64)> {
        self.requested().map(|(stage, time)| (stage, time.unwrap_or(0)))
    }

    /// Returns true if every requested stage has a result.
    pub fn is_complete(&self) -> bool {
        self.requested().all(|(_, time)| time.is_some())
    }

    fn has_any_result(&self) -> bool {
        self.requested().any(|(_, time)| time.is_some())
    }

    /// Returns the time at which the frame was given to the display, if it was.
    fn shown(&self) -> Option<u64> {
        self.times[Stages::IMAGE_FIRST_PIXEL_OUT.bits().trailing_zeros() as usize]
    }

    fn record(&mut self, stages: Stages, time: u64) {
        let is_recorded = |bit: usize| stages.bits() >> bit & 1 != 0;
        let times = self.times.iter_mut().enumerate().filter(|(bit, _)| is_recorded(*bit));
        times.for_each(|(_, result)| _ = result.get_or_insert(time));
    }
}

/// Timings of presentations that the application has not read.
#[derive(Debug, Default)]
pub(super) struct TimingQueue {
    size: usize,
    /// Slot of the next presentation.
    next: u64,
    /// Timings in the order of the presentations.
    timings: VecDeque<PastTiming>,
}

impl TimingQueue {
    /// Changes the number of slots, unless more are in use. Returns true if it was changed.
    pub fn resize(&mut self, size: usize) -> bool {
        let fits = size >= self.timings.len();
        if fits {
            self.size = size;
        }
        fits
    }

    /// Reserves a slot.
    ///
    /// # Errors
    /// [`Error::PresentTimingQueueFull`]
    pub fn reserve(&mut self, id: u64, request: TimingRequest) -> Result<u64> {
        if self.timings.len() >= self.size {
            return Err(Error::PresentTimingQueueFull);
        }
        let slot = self.next;
        self.next += 1;
        self.timings.push_back(PastTiming { slot, id, request, times: [None; STAGES] });
        Ok(slot)
    }

    /// Records the time of stages that have none.
    pub fn record(&mut self, slot: u64, stages: Stages, time: u64) {
        if let Some(timing) = self.timings.iter_mut().find(|timing| timing.slot == slot) {
            timing.record(stages, time);
        }
    }

    /// Ends the presentation of a slot. A frame that was not shown reaches no more stages.
    pub fn end(&mut self, slot: u64) {
        let timing = self.timings.iter_mut().find(|timing| timing.slot == slot);
        timing.filter(|timing| timing.shown().is_none()).into_iter().for_each(|timing| timing.record(Stages::all(), 0));
    }

    /// Returns the number of timings that the application can read now.
    pub fn available(&mut self, flags: PastFlags) -> usize {
        self.end_report_waits();
        self.find(flags).count()
    }

    /// Calls a function with up to `room` timings that the application can read now, in the order
    /// of the presentations. Complete ones are removed, unless the function fails.
    ///
    /// # Errors
    /// The first error of the function.
    pub fn read(
        &mut self,
        flags: PastFlags,
        room: usize,
        mut write: impl FnMut(usize, &PastTiming) -> Result<()>,
    ) -> Result<()> {
        self.find(flags).take(room).enumerate().try_for_each(|(place, timing)| write(place, timing))?;
        let read = self.find(flags).take(room).filter(|timing| timing.is_complete());
        let read: Vec<u64> = read.map(|timing| timing.slot).collect();
        self.timings.retain(|timing| !read.contains(&timing.slot));
        Ok(())
    }

    fn find(&self, flags: PastFlags) -> impl Iterator<Item = &PastTiming> {
        let allows_parts = flags.contains(PastFlags::ALLOW_PARTIAL_RESULTS);
        let allows_gaps = flags.contains(PastFlags::ALLOW_OUT_OF_ORDER_RESULTS);
        let can_read = move |timing: &&PastTiming| match allows_parts {
            true => timing.has_any_result(),
            false => timing.is_complete(),
        };
        let in_order = self.timings.iter().take_while(move |timing| allows_gaps || can_read(timing));
        in_order.filter(can_read)
    }

    /// Ends the wait for reports of displays that are late.
    fn end_report_waits(&mut self) {
        let latest = clock::monotonic().saturating_sub(MAX_REPORT_WAIT);
        for timing in &mut self.timings {
            if timing.shown().is_some_and(|shown| shown < latest) {
                timing.record(Stages::IMAGE_FIRST_PIXEL_VISIBLE, 0);
            }
        }
    }
}

/// Receiver of a display's report about a frame. Dropping it tells that there is none.
#[derive(Debug)]
pub struct FrameReport {
    chain: Weak<Swapchain>,
    /// Slot of the timing queue, if the application requests times of the frame.
    slot: Option<u64>,
}

impl FrameReport {
    /// Returns the receiver for a frame.
    pub(super) fn new(chain: &Arc<Swapchain>, slot: Option<u64>) -> Self {
        chain.state.lock().reports += 1;
        Self { chain: Arc::downgrade(chain), slot }
    }

    /// Records the time at which the frame became visible.
    pub fn visible(&self, time: u64) {
        let Some(chain) = self.chain.upgrade() else { return };
        let mut state = chain.state.lock();
        state.previous = state.previous.max(Some(time));
        self.record(&mut state.timings, time);
    }

    fn record(&self, timings: &mut TimingQueue, time: u64) {
        self.slot.into_iter().for_each(|slot| timings.record(slot, Stages::IMAGE_FIRST_PIXEL_VISIBLE, time));
    }
}

impl Drop for FrameReport {
    fn drop(&mut self) {
        if let Some(chain) = self.chain.upgrade() {
            let mut state = chain.state.lock();
            state.reports -= 1;
            self.record(&mut state.timings, 0);
            drop(state);
            chain.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: u64, flags: Flags) -> TimingRequest {
        TimingRequest { target, flags, stages: Stages::IMAGE_FIRST_PIXEL_OUT, domain: SWAPCHAIN_LOCAL }
    }

    #[test]
    fn frames_are_due_at_their_target_or_in_the_nearest_cycle() {
        let due = |flags, target, previous| request(target, flags).due(previous, Refresh::None);
        assert_eq!(due(Flags::empty(), 0, Some(5)), None);
        assert_eq!(due(Flags::empty(), 70, Some(5)), Some(70));
        let relative = Flags::PRESENT_AT_RELATIVE_TIME;
        assert_eq!([None, Some(5)].map(|previous| due(relative, 70, previous)), [None, Some(75)]);
        let nearest = Flags::PRESENT_AT_NEAREST_REFRESH_CYCLE;
        assert_eq!(due(nearest, 70, Some(5)), Some(70), "without cycles");
        let paced = |target| request(target, nearest).due(Some(100), Refresh::Period(Duration::from_nanos(20)));
        assert_eq!([129, 130, 131, 140, 149, 99].map(paced), [120, 130, 131, 140, 140, 99].map(Some));
        let both = request(29, relative | nearest).due(Some(100), Refresh::Period(Duration::from_nanos(20)));
        assert_eq!(both, Some(120));
        let reported = |period| request(129, nearest).due(Some(100), Refresh::Reported(period));
        let periods = [Some(20), Some(0), None].map(|period| period.map(Duration::from_nanos));
        assert_eq!(periods.map(reported), [119, 129, 129].map(Some));
    }

    #[test]
    fn timings_are_read_in_order_unless_the_application_allows_gaps() {
        let mut queue = TimingQueue::default();
        assert_eq!(queue.reserve(1, request(0, Flags::empty())), Err(Error::PresentTimingQueueFull));
        assert!(queue.resize(3));
        let [first, second, third] = [1, 2, 3].map(|id| queue.reserve(id, request(0, Flags::empty())).unwrap());
        assert_eq!(queue.reserve(4, request(0, Flags::empty())), Err(Error::PresentTimingQueueFull));
        assert!(!queue.resize(2));
        let now = clock::monotonic();
        queue.record(second, Stages::IMAGE_FIRST_PIXEL_OUT, now);
        queue.end(second);
        assert_eq!(
            (queue.available(PastFlags::empty()), queue.available(PastFlags::ALLOW_OUT_OF_ORDER_RESULTS)),
            (0, 1)
        );
        queue.end(third);
        let mut read = Vec::new();
        let mut write = |_: usize, timing: &PastTiming| {
            read.push((timing.id, timing.results().map(|(_, time)| time).collect::<Vec<_>>()));
            Ok(())
        };
        queue.read(PastFlags::ALLOW_OUT_OF_ORDER_RESULTS, 1, &mut write).unwrap();
        queue.record(first, Stages::QUEUE_OPERATIONS_END, now);
        assert_eq!(queue.available(PastFlags::ALLOW_PARTIAL_RESULTS), 0, "no requested stage has a result");
        queue.end(first);
        let failed = queue.read(PastFlags::empty(), 9, |_, _| Err(Error::Unknown));
        assert_eq!((failed, queue.available(PastFlags::empty())), (Err(Error::Unknown), 2));
        queue.read(PastFlags::empty(), 9, &mut write).unwrap();
        assert_eq!((read, queue.available(PastFlags::empty())), (vec![(2, vec![now]), (1, vec![0]), (3, vec![0])], 0));
    }
}
