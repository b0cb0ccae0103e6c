//! Groups of a translation table, allocated on first access. A table may cover the whole memory of
//! a device, of which little may be in use.

use std::ops::Index;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::table::Group;

/// Number of groups that are allocated together.
const CHUNK_GROUPS: usize = 1 << 12;

/// Group, and the tick of the last write to it.
#[derive(Debug, Default)]
struct Entry {
    group: Group,
    written: AtomicU64,
}

/// Groups by number.
#[derive(Debug)]
pub struct Groups {
    chunks: Box<[OnceLock<Box<[Entry]>>]>,
    count: usize,
    /// Upper bound of the numbers of allocated groups.
    end: AtomicUsize,
}

impl Groups {
    /// Creates a table of `count` groups, none of them allocated.
    pub fn new(count: usize) -> Self {
        let chunks = (0..count.div_ceil(CHUNK_GROUPS)).map(|_| OnceLock::new()).collect();
        Self { chunks, count, end: AtomicUsize::new(0) }
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns a number above the numbers of all accessed groups.
    pub fn end(&self) -> usize {
        self.end.load(Ordering::Relaxed).min(self.count)
    }

    /// Returns the allocated groups with their numbers. They include all accessed groups.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Group)> {
        let allocated = self.chunks.iter().enumerate().filter_map(|(chunk, entries)| Some((chunk, entries.get()?)));
        allocated.flat_map(|(chunk, entries)| (chunk * CHUNK_GROUPS..).zip(entries.iter().map(|entry| &entry.group)))
    }

    /// Returns the tick of the last write to a group.
    pub fn written(&self, number: usize) -> &AtomicU64 {
        &self.entry(number).written
    }

    fn entry(&self, number: usize) -> &Entry {
        let chunk = number / CHUNK_GROUPS;
        let entries = self.chunks[chunk].get_or_init(|| {
            let chunk_end = self.count.min((chunk + 1) * CHUNK_GROUPS);
            self.end.fetch_max(chunk_end, Ordering::Relaxed);
            (chunk * CHUNK_GROUPS..chunk_end).map(|_| Entry::default()).collect()
        });
        &entries[number % CHUNK_GROUPS]
    }
}

impl Index<usize> for Groups {
    type Output = Group;

    fn index(&self, number: usize) -> &Group {
        &self.entry(number).group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_allocated_on_first_access() {
        let groups = Groups::new(3 * CHUNK_GROUPS + 5);
        assert_eq!((groups.len(), groups.end(), groups.iter().count()), (3 * CHUNK_GROUPS + 5, 0, 0));
        groups.written(CHUNK_GROUPS + 1).store(7, Ordering::Relaxed);
        assert_eq!((groups.end(), groups.iter().next().unwrap().0), (2 * CHUNK_GROUPS, CHUNK_GROUPS));
        drop(groups[3 * CHUNK_GROUPS + 4].try_lock().unwrap());
        assert_eq!((groups.end(), groups.iter().count()), (3 * CHUNK_GROUPS + 5, CHUNK_GROUPS + 5));
        assert_eq!(groups.written(CHUNK_GROUPS + 1).load(Ordering::Relaxed), 7);
    }
}
