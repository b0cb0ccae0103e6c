//! Word memory that threads read while others write: the pages of near memory and of anonymous far
//! memory.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

use super::PAGE;
use super::codec::SUB_BLOCK;

/// Words of a sub-block.
pub const SUB_BLOCK_WORDS: usize = SUB_BLOCK / 8;
/// Sub-blocks of a page.
const PAGE_SUB_BLOCKS: usize = PAGE / SUB_BLOCK;
/// Words of a page.
const PAGE_WORDS: usize = PAGE / 8;

/// Zero-initialized memory whose pages are allocated on the first write.
#[derive(Debug)]
struct WordMemory {
    map: MmapRaw,
    count: usize,
}

impl WordMemory {
    /// Creates a memory of `count` words (at least 1).
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize) -> io::Result<Self> {
        let bytes = count.max(1).checked_mul(8).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { map: MmapRaw::from(MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?), count })
    }

    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has at least this many words, is aligned to pages, and lives as long
        // as `self`. It is accessed as atomic words only.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), self.count) }
    }

    /// Reads words from `start` on. Words behind the end are 0.
    pub fn read(&self, start: usize, out: &mut [u64]) {
        let words = self.all().get(start..).unwrap_or_default();
        let (inside, outside) = out.split_at_mut(out.len().min(words.len()));
        for (out, word) in inside.iter_mut().zip(words) {
            *out = word.load(Ordering::Relaxed);
        }
        outside.fill(0);
    }

    /// Writes words from `start` on. Words behind the end are dropped.
    pub fn write(&self, start: usize, words: &[u64]) {
        // A thread that sees one of these stores must also see the change that freed the words.
        fence(Ordering::Release);
        for (word, &value) in self.all().get(start..).unwrap_or_default().iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Returns whole pages of the system between two words to the system. The words then read as
    /// zeros.
    pub fn discard(&self, start: usize, end: usize) {
        let page = 4096 / 8;
        let (first, last) = (start.div_ceil(page) * page, end.min(self.count) / page * page);
        if first < last {
            // SAFETY: the range lies inside the mapping. Concurrent readers see zeros or the old
            // values, as with any write.
            unsafe {
                let start = self.map.as_mut_ptr().add(first * 8);
                libc::madvise(start.cast(), (last - first) * 8, libc::MADV_DONTNEED);
            }
        }
    }
}

/// Pages of near memory per page of the system (4096 bytes).
const SYSTEM_PAGE_PAGES: u32 = (4096 / PAGE) as u32;

/// Pages of near memory, or of anonymous far memory.
#[derive(Debug)]
pub struct Pages {
    words: WordMemory,
    free: Mutex<Free>,
    count: usize,
    free_count: AtomicUsize,
}

/// Free pages.
#[derive(Debug, Default)]
struct Free {
    /// Free pages that were allocated before.
    returned: Vec<u32>,
    /// True if pages were freed since the last trim.
    untrimmed: bool,
    /// First page that was never allocated. All later pages are free, too.
    fresh: u32,
}

impl Pages {
    /// Creates a memory of `count` pages, all free.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(count: usize) -> io::Result<Self> {
        u32::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let words = WordMemory::new(count * PAGE_WORDS)?;
        Ok(Self { words, free: Mutex::default(), count, free_count: AtomicUsize::new(count) })
    }

    /// Returns the number of pages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of free pages.
    pub fn free_count(&self) -> usize {
        self.free_count.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the allocated pages.
    pub fn used_bytes(&self) -> usize {
        (self.count - self.free_count()) * PAGE
    }

    /// Allocates `pages.len()` pages. Returns false and allocates nothing if fewer than `leave`
    /// pages would stay free.
    pub fn allocate(&self, pages: &mut [u32], leave: usize) -> bool {
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

    /// Frees pages.
    pub fn free(&self, pages: &[u32]) {
        if pages.is_empty() {
            return;
        }
        let mut free = self.free.lock();
        free.returned.extend_from_slice(pages);
        free.untrimmed = true;
        self.free_count.store(free.returned.len() + self.count - free.fresh as usize, Ordering::Relaxed);
    }

    /// Returns pages of the system that contain only free pages to the system. Later allocations
    /// use the lowest free pages first, so that allocated pages lie together.
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
        let words = |page: u32| page as usize * PAGE_WORDS;
        // Pages behind the last one that was ever allocated have no owner.
        let mut run = free.fresh..end.next_multiple_of(SYSTEM_PAGE_PAGES);
        for &page in free.returned.iter().chain(&[u32::MAX]) {
            if page.checked_add(1) == Some(run.start) {
                run.start = page;
                continue;
            }
            self.words.discard(words(run.start), words(run.end));
            run = page..page.saturating_add(1);
        }
    }

    /// Returns the first word of a sub-block, and the number of words up to the end of its page.
    fn place(pages: &[u32], sub_block: usize) -> (usize, usize) {
        let page = pages.get(sub_block / PAGE_SUB_BLOCKS).copied().unwrap_or(u32::MAX) as usize;
        let first = sub_block % PAGE_SUB_BLOCKS * SUB_BLOCK_WORDS;
        (page.saturating_mul(PAGE_WORDS).saturating_add(first), PAGE_WORDS - first)
    }

    /// Reads sub-blocks of a group in these pages, from sub-block `start` on.
    pub fn read(&self, pages: &[u32], mut start: usize, mut out: &mut [u64]) {
        while !out.is_empty() {
            let (word, left) = Self::place(pages, start);
            let (part, others) = out.split_at_mut(left.min(out.len()));
            self.words.read(word, part);
            start += left / SUB_BLOCK_WORDS;
            out = others;
        }
    }

    /// Writes sub-blocks of a group in these pages, from sub-block `start` on.
    pub fn write(&self, pages: &[u32], mut start: usize, mut words: &[u64]) {
        while !words.is_empty() {
            let (word, left) = Self::place(pages, start);
            let (part, others) = words.split_at(left.min(words.len()));
            self.words.write(word, part);
            start += left / SUB_BLOCK_WORDS;
            words = others;
        }
    }
}
