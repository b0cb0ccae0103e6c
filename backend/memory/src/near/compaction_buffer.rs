//! Compaction buffer: coded lines between the codec and near memory that wait for the other lines
//! of their page group.
//!
//! A full buffer evicts a group: complete groups first, then the oldest, then the group with the
//! most lines. Age is counted in *ticks* (tiles, submissions), so all groups of one tile have the
//! same age.

use std::ops::Range;

use super::codec::{Control, Line};
use super::table::LINES;

/// Lines of a group in the compaction buffer.
#[derive(Debug, Clone)]
pub struct BufferedGroup {
    /// Number of the group.
    pub group: usize,
    /// Coded lines.
    pub lines: [Option<(Control, Line)>; LINES],
    since: u64,
}

impl BufferedGroup {
    /// Creates a group with one line.
    pub fn one(group: usize, line: usize, control: Control, coded: &Line) -> Self {
        let mut lines = [None; LINES];
        lines[line] = Some((control, *coded));
        Self { group, lines, since: 0 }
    }

    fn count(&self) -> usize {
        self.lines.iter().flatten().count()
    }
}

/// Compaction buffer.
#[derive(Debug)]
pub struct CompactionBuffer {
    groups: Vec<BufferedGroup>,
    capacity: usize,
    tick: u64,
}

impl CompactionBuffer {
    /// Creates a buffer of `capacity` groups; 0 disables it, and lines are written immediately.
    pub fn new(capacity: usize) -> Self {
        Self { groups: Vec::with_capacity(capacity), capacity, tick: 0 }
    }

    /// Returns true if the buffer has room for at least one group.
    pub fn is_enabled(&self) -> bool {
        self.capacity > 0
    }

    /// Advances the age counter: later lines are younger than the present ones.
    pub fn tick(&mut self) {
        self.tick += 1;
    }

    /// Stores a line if its group is present or there is room for a new group. Returns false
    /// otherwise.
    pub fn put(&mut self, group: usize, line: usize, control: Control, coded: &Line) -> bool {
        if let Some(buffered) = self.groups.iter_mut().find(|buffered| buffered.group == group) {
            buffered.lines[line] = Some((control, *coded));
            return true;
        }
        let has_room = self.groups.len() < self.capacity;
        if has_room {
            self.groups.push(BufferedGroup { since: self.tick, ..BufferedGroup::one(group, line, control, coded) });
        }
        has_room
    }

    /// Returns a line, if it is in the buffer.
    pub fn find(&self, group: usize, line: usize) -> Option<&(Control, Line)> {
        self.groups.iter().find(|buffered| buffered.group == group)?.lines[line].as_ref()
    }

    /// Removes and returns the group to evict next.
    pub fn take_next(&mut self) -> Option<BufferedGroup> {
        let key = |buffered: &BufferedGroup| {
            let count = buffered.count();
            (count < LINES, buffered.since, std::cmp::Reverse(count))
        };
        let first = (0..self.groups.len()).min_by_key(|&number| key(&self.groups[number]))?;
        Some(self.groups.remove(first))
    }

    /// Puts a group back that could not be evicted.
    pub fn restore(&mut self, buffered: BufferedGroup) {
        self.groups.push(buffered);
    }

    /// Discards the lines of groups.
    pub fn discard(&mut self, groups: &Range<usize>) {
        self.groups.retain(|buffered| !groups.contains(&buffered.group));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(buffer: &mut CompactionBuffer, group: usize, lines: usize) {
        assert!((0..lines).all(|line| buffer.put(group, line, Control::One, &Line::ZERO)));
    }

    #[test]
    fn full_groups_are_evicted_first_then_old_ones_then_those_with_most_lines() {
        let mut buffer = CompactionBuffer::new(5);
        fill(&mut buffer, 10, 2);
        buffer.tick();
        fill(&mut buffer, 11, 3);
        fill(&mut buffer, 12, 6);
        buffer.tick();
        fill(&mut buffer, 13, 7);
        fill(&mut buffer, 14, 8);
        assert!(!buffer.put(15, 0, Control::One, &Line::ZERO), "there is no room");
        assert!(buffer.put(13, 2, Control::Raw, &Line::ZERO), "but for lines of groups that are there");
        let order: Vec<usize> = std::iter::from_fn(|| buffer.take_next()).map(|buffered| buffered.group).collect();
        assert_eq!(order, [14, 10, 12, 11, 13]);
    }

    #[test]
    fn the_newest_line_is_kept() {
        let mut buffer = CompactionBuffer::new(2);
        let newer = Line([7; 64]);
        assert!(buffer.put(3, 1, Control::One, &Line::ZERO) && buffer.put(3, 1, Control::Raw, &newer));
        assert_eq!(buffer.find(3, 1), Some(&(Control::Raw, newer)));
        assert_eq!((buffer.find(3, 2), buffer.find(4, 1)), (None, None));
        buffer.discard(&(3..4));
        assert!(buffer.take_next().is_none());
    }
}
