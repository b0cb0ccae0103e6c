//! Memory of words that threads read while others write: near memory's pages, and far memory that is anonymous.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

use super::PAGE;
use super::codec::SUB_BLOCK;

/// Words of a sub-block.
pub const WORDS: usize = SUB_BLOCK / 8;
/// Sub-blocks of a page.
pub const SUB_BLOCKS: usize = PAGE / SUB_BLOCK;

/// Zeros at first, whose pages come when they are written.
#[derive(Debug)]
pub struct Words {
    map: MmapRaw,
    count: usize,
}

impl Words {
    /// So many words, at least 1.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize) -> io::Result<Self> {
        let bytes = count.max(1).checked_mul(8).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { map: MmapRaw::from(MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?), count })
    }

    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has as many words, is aligned to pages, lives as long as `self`, and is reached as atomic words only.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), self.count) }
    }

    /// Reads from a word on; zeros behind the end.
    pub fn read(&self, start: usize, out: &mut [u64]) {
        out.fill(0);
        for (out, word) in out.iter_mut().zip(self.all().get(start..).unwrap_or_default()) {
            *out = word.load(Ordering::Relaxed);
        }
    }

    /// Writes from a word on; dropped behind the end.
    pub fn write(&self, start: usize, words: &[u64]) {
        // What made these words free happens before they change, for whoever sees the change.
        fence(Ordering::Release);
        for (word, &value) in self.all().get(start..).unwrap_or_default().iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Gives whole pages of the system between two words back; they read as zeros.
    pub fn discard(&self, start: usize, end: usize) {
        let page = 4096 / 8;
        let (first, last) = (start.div_ceil(page) * page, end.min(self.count) / page * page);
        if first < last {
            // SAFETY: the range lies inside the mapping. Who reads it meanwhile sees zeros or what was there, as with any write.
            unsafe {
                let start = self.map.as_mut_ptr().add(first * 8);
                libc::madvise(start.cast(), (last - first) * 8, libc::MADV_DONTNEED);
            }
        }
    }
}

/// Pages of near memory in one of the system's.
const OF_SYSTEM: u32 = (4096 / PAGE) as u32;

/// The pages of near memory.
#[derive(Debug)]
pub struct Pages {
    words: Words,
    free: Mutex<Free>,
    count: usize,
    free_count: AtomicUsize,
}

/// Pages that are free.
#[derive(Debug, Default)]
struct Free {
    /// Those that somebody had.
    returned: Vec<u32>,
    /// Whether there were any since memory was last given back to the system.
    untrimmed: bool,
    /// All from here on were never taken.
    fresh: u32,
}

impl Pages {
    /// So many pages, all free.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize) -> io::Result<Self> {
        u32::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let words = Words::new(count * WORDS * SUB_BLOCKS)?;
        Ok(Self { words, free: Mutex::default(), count, free_count: AtomicUsize::new(count) })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many are free.
    pub fn free_count(&self) -> usize {
        self.free_count.load(Ordering::Relaxed)
    }

    /// Takes as many pages as `pages` is long and leaves some; false, and none taken, when there are too few.
    pub fn take(&self, pages: &mut [u32], leave: usize) -> bool {
        let mut free = self.free.lock();
        let all = free.returned.len() + self.count - free.fresh as usize;
        let Some(left) = all.checked_sub(pages.len()).filter(|&left| left >= leave) else { return false };
        for page in pages {
            *page = free.returned.pop().unwrap_or_else(|| {
                free.fresh += 1;
                free.fresh - 1
            });
        }
        self.free_count.store(left, Ordering::Relaxed);
        true
    }

    /// Gives pages back.
    pub fn give(&self, pages: &[u32]) {
        if pages.is_empty() {
            return;
        }
        let mut free = self.free.lock();
        free.returned.extend_from_slice(pages);
        free.untrimmed = true;
        self.free_count.store(free.returned.len() + self.count - free.fresh as usize, Ordering::Relaxed);
    }

    /// Gives pages of the system that are free as a whole back to it. The first pages are taken first from then on, so that those
    /// which are taken lie together.
    pub fn trim(&self) {
        let mut free = self.free.lock();
        if !std::mem::take(&mut free.untrimmed) {
            return;
        }
        free.returned.sort_unstable_by(|a, b| b.cmp(a));
        let (end, mut last) = (free.fresh, 0);
        while free.returned.get(last).is_some_and(|&page| page + 1 == free.fresh) {
            free.fresh -= 1;
            last += 1;
        }
        free.returned.drain(..last);
        let words = |page: u32| page as usize * WORDS * SUB_BLOCKS;
        // What lies behind those that were ever taken is nobody's.
        let mut run = free.fresh..end.next_multiple_of(OF_SYSTEM);
        for &page in free.returned.iter().chain(&[u32::MAX]) {
            if page.checked_add(1) == Some(run.start) {
                run.start = page;
                continue;
            }
            self.words.discard(words(run.start), words(run.end));
            run = page..page.saturating_add(1);
        }
    }

    fn word(pages: &[u32], sub_block: usize) -> usize {
        let page = pages.get(sub_block / SUB_BLOCKS).copied().unwrap_or(u32::MAX) as usize;
        page.saturating_mul(WORDS * SUB_BLOCKS).saturating_add(sub_block % SUB_BLOCKS * WORDS)
    }

    /// Reads sub-blocks of a group in these pages, from one on.
    pub fn read(&self, pages: &[u32], start: usize, out: &mut [u64]) {
        for (number, out) in out.chunks_mut(WORDS).enumerate() {
            self.words.read(Self::word(pages, start + number), out);
        }
    }

    /// Writes sub-blocks of a group in these pages, from one on.
    pub fn write(&self, pages: &[u32], start: usize, words: &[u64]) {
        for (number, words) in words.chunks(WORDS).enumerate() {
            self.words.write(Self::word(pages, start + number), words);
        }
    }
}
