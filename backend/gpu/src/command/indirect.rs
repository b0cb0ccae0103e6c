//! Parameters of commands that the GPU reads from buffers.

use std::sync::Arc;

use vitric_memory::Buffer;

/// Returns `N` dwords of a buffer. Dwords outside the buffer are 0.
pub(super) fn read_dwords<const N: usize>(buffer: &Buffer, offset: u64) -> [u32; N] {
    std::array::from_fn(|index| {
        let mut bytes = [0; 4];
        buffer.read(offset.saturating_add(4 * index as u64), &mut bytes);
        u32::from_le_bytes(bytes)
    })
}

/// Returns the number of draws of an indirect command. `counted` is the buffer with the number and
/// the offset in it, if a buffer holds the number. `max` limits the number.
pub(super) fn read_draw_count(max: u32, counted: Option<&(Arc<Buffer>, u64)>) -> u32 {
    counted.map_or(max, |(buffer, offset)| read_dwords::<1>(buffer, *offset)[0].min(max))
}
