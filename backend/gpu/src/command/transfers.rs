//! Transfer commands: copies, blits, resolves and clears outside of passes.

use std::time::{Duration, Instant};

use ash::vk;
use vitric_base::workers::Workers;
use vitric_exec::interp::Deadline;
use vitric_memory::{Addresses, InUse};

use super::Command;
use crate::gpu::{DeviceLost, PipelineStage};
use crate::transfer::{self, BufferImageTransfer, CopyAccess, CopyDirection, IndirectRegion};

/// Maximum number of regions transferred as one batch.
const MAX_BATCH_REGIONS: usize = 64;
/// Duration of a batch from which on regions are transferred one by one.
const LONG_BATCH: Duration = Duration::from_millis(1);

/// Threads, time limit and inline data of a transfer command.
pub(super) struct TransferContext<'p> {
    pub(super) workers: &'p Workers,
    /// Keeps images resident, if images may be compacted.
    pub(super) in_use: Option<&'p InUse<'p>>,
    pub(super) deadline: &'p Deadline,
    /// Inline data of the command's list.
    pub(super) bytes: &'p [u8],
    /// Memory by device address.
    pub(super) addresses: &'p Addresses,
}

/// Executes a transfer command, one region after the other. All other commands are ignored.
///
/// # Errors
/// [`DeviceLost::TimedOut`] when the command's time is up.
pub(super) fn execute(context: &TransferContext<'_>, command: &Command) -> Result<(), DeviceLost> {
    let &TransferContext { workers, in_use, deadline, bytes, addresses } = context;
    match command {
        Command::CopyBuffer { source, target, regions } => {
            for_each_batch(deadline, regions, |regions| transfer::copy_buffer(source, target, regions))
        }
        Command::CopyImage { source, target, regions } => {
            let mut access = CopyAccess::of_images(workers, in_use, (source, target), regions);
            for_each_batch(deadline, regions, |regions| transfer::copy_image(&mut access, (source, target), regions))
        }
        Command::BlitImage { source, target, regions, filter } => {
            for_each_batch(deadline, regions, |regions| transfer::blit(workers, (source, target), regions, *filter))
        }
        Command::CopyBufferToImage { source, target, regions } => {
            let copy = BufferImageTransfer { buffer: source, image: target, direction: CopyDirection::ToImage };
            copy_buffer_image(context, copy, regions)
        }
        Command::CopyImageToBuffer { source, target, regions } => {
            let copy = BufferImageTransfer { buffer: target, image: source, direction: CopyDirection::ToBuffer };
            copy_buffer_image(context, copy, regions)
        }
        Command::CopyMemoryIndirect(regions) => for_each_indirect(deadline, command, regions.count, |number| {
            transfer::copy_memory(IndirectRegion { addresses, regions: *regions, number })
        }),
        Command::CopyMemoryToImageIndirect { regions, target, layers } => {
            for_each_indirect(deadline, command, regions.count, |number| {
                let Some(layers) = layers.get(number as usize) else { return false };
                let source = IndirectRegion { addresses, regions: *regions, number };
                transfer::copy_memory_to_image(workers, in_use, source, (target, *layers))
            })
        }
        Command::UpdateBuffer { target, offset, data } => {
            target.write(*offset, data.of(bytes));
            Ok(())
        }
        Command::FillBuffer { target, offset, size, word } => {
            transfer::fill_buffer(target, *offset, *size, *word);
            Ok(())
        }
        Command::ClearColorImage { target, value, ranges }
        | Command::ClearDepthStencilImage { target, value, ranges } => {
            for_each_batch(deadline, ranges, |ranges| transfer::clear_image(in_use, target, *value, ranges))
        }
        Command::ResolveImage { source, target, regions, modes } => {
            for_each_batch(deadline, regions, |regions| transfer::resolve(workers, (source, target), regions, *modes))
        }
        _ => Ok(()),
    }
}

/// Calls `copy` with the number of each region until the command's time is up. Logs a warning if it
/// returned false for a region, which is dropped.
fn for_each_indirect(
    deadline: &Deadline,
    command: &Command,
    count: u32,
    copy: impl Fn(u32) -> bool,
) -> Result<(), DeviceLost> {
    let mut dropped = 0;
    for number in 0..count {
        dropped += u32::from(!copy(number));
        if deadline.expired() {
            return Err(DeviceLost::TimedOut(PipelineStage::Transfer));
        }
    }
    if dropped > 0 {
        log::warn!(
            "{}: {dropped} of {count} regions are dropped: expected addresses and sizes inside of buffers with device \
             addresses",
            command.name()
        );
    }
    Ok(())
}

fn copy_buffer_image(
    &TransferContext { workers, in_use, deadline, .. }: &TransferContext<'_>,
    copy: BufferImageTransfer<'_>,
    regions: &[vk::BufferImageCopy],
) -> Result<(), DeviceLost> {
    let mut access = CopyAccess::of_buffer_image(workers, in_use, copy, regions);
    for_each_batch(deadline, regions, |regions| transfer::copy_buffer_image(&mut access, copy, regions))
}

/// Calls `work` with all regions in batches until the command's time is up. A time check between
/// batches is needed because the number and the size of regions are only limited by memory.
fn for_each_batch<R>(deadline: &Deadline, mut regions: &[R], mut work: impl FnMut(&[R])) -> Result<(), DeviceLost> {
    let mut batch_size = 1;
    while let Some((batch, remaining)) =
        regions.split_at_checked(batch_size.min(regions.len())).filter(|(batch, _)| !batch.is_empty())
    {
        let begin = Instant::now();
        work(batch);
        regions = remaining;
        if !remaining.is_empty() && deadline.expired() {
            return Err(DeviceLost::TimedOut(PipelineStage::Transfer));
        }
        batch_size = if begin.elapsed() < LONG_BATCH { MAX_BATCH_REGIONS.min(2 * batch_size) } else { 1 };
    }
    Ok(())
}
