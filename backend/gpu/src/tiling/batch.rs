//! Batches: consecutive primitives of windows whose tiles are processed together.

use std::ops::Range;

use vitric_base::knobs::BatchLimit;

use super::Window;

/// Consecutive primitives of a list of windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Numbers of the windows.
    pub windows: Range<u32>,
    /// Number of the first primitive in the first window.
    start: u32,
    /// End of the primitives in the last window, `u32::MAX` for all.
    end: u32,
}

impl Batch {
    /// Returns the batch of all primitives of windows.
    pub fn all(windows: &[Window]) -> Self {
        Self { windows: 0..windows.len() as u32, start: 0, end: u32::MAX }
    }

    /// Divides windows into batches, at least one.
    ///
    /// A limit of primitives is the maximum for each batch. A limit of bytes does not divide
    /// windows, because the windows were collected up to that limit.
    pub fn divide(windows: &[Window], limit: BatchLimit) -> Vec<Self> {
        Self::divide_lengths(windows.iter().map(|window| window.triangles.len()), limit)
    }

    fn divide_lengths(lengths: impl ExactSizeIterator<Item = usize>, limit: BatchLimit) -> Vec<Self> {
        let limit = match limit {
            BatchLimit::Primitives(limit) => limit,
            BatchLimit::Bytes(_) => usize::MAX,
        };
        let (mut batches, mut batch, mut room) = (Vec::new(), Self { windows: 0..0, start: 0, end: 0 }, limit);
        for (number, length) in (0..).zip(lengths) {
            let mut done = 0;
            while done < length {
                if room == 0 {
                    let next = Self { windows: number..number, start: done as u32, end: 0 };
                    batches.push(std::mem::replace(&mut batch, next));
                    room = limit;
                }
                let count = room.min(length - done);
                (done, room) = (done + count, room - count);
                let end = if done < length { done as u32 } else { u32::MAX };
                (batch.windows.end, batch.end) = (number + 1, end);
            }
        }
        batches.push(batch);
        batches
    }

    /// Returns the range of a window's primitives that belong to the batch.
    pub(super) fn primitives(&self, window: u32) -> Range<u32> {
        let start = if window == self.windows.start { self.start } else { 0 };
        let end = if window + 1 == self.windows.end { self.end } else { u32::MAX };
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(lengths: &[usize], limit: BatchLimit) -> Vec<(Range<u32>, u32, u32)> {
        let batches = Batch::divide_lengths(lengths.iter().copied(), limit);
        batches.into_iter().map(|Batch { windows, start, end }| (windows, start, end)).collect()
    }

    #[test]
    fn batches_have_at_most_their_limit_of_primitives() {
        let limit = BatchLimit::Primitives;
        assert_eq!(divided(&[], limit(3)), [(0..0, 0, 0)]);
        let all = u32::MAX;
        assert_eq!(divided(&[3], limit(3)), [(0..1, 0, all)]);
        assert_eq!(divided(&[2, 5, 1], limit(3)), [(0..2, 0, 1), (1..2, 1, 4), (1..3, 4, all)]);
        assert_eq!(divided(&[1, 2], limit(1)), [(0..1, 0, all), (1..2, 0, 1), (1..2, 1, all)]);
        assert_eq!(divided(&[2, 5, 1], BatchLimit::Bytes(1)), [(0..3, 0, all)]);
    }

    #[test]
    fn a_batch_names_primitives_of_its_windows() {
        let batches = Batch::divide_lengths([2, 5, 1].into_iter(), BatchLimit::Primitives(3));
        assert_eq!([0, 1].map(|window| batches[0].primitives(window)), [0..u32::MAX, 0..1]);
        assert_eq!([1, 2].map(|window| batches[2].primitives(window)), [4..u32::MAX, 0..u32::MAX]);
        assert_eq!(batches[1].primitives(1), 1..4);
    }
}
